"""The parts of a chrF score: precision and recall of each order, and their F-score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from truebleu.explanation import naive_bleu
from truebleu.explanation.naive_bleu import Case
from truebleu.explanation.ngram_layout import first_segments, listed, share
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation, Node, join_nodes
from truebleu.rendering.number_format import format_compact, format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    from truebleu.metrics.chrf import CHRF, CHRFScore

TOKEN = "character"

# What stands alone at the end or the beginning of a word, as in sacreBLEU and chrF++.py.
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def tokens(metric: CHRF, text: str) -> list[str]:
    """The characters that are counted."""
    text = text.lower() if metric.lowercase else text
    return list(text if metric.whitespace else "".join(text.split()))


def word_tokens(metric: CHRF, text: str) -> list[str]:
    """The words that are counted: one sign is taken off the end of each, or else the beginning."""
    found = []
    for word in (text.lower() if metric.lowercase else text).split():
        if len(word) > 1 and word[-1] in PUNCTUATION:
            found += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in PUNCTUATION:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found


def of_pair(case: Case[CHRF, CHRFScore]) -> dict[str, Any]:
    """The explanation of one hypothesis and the reference that it is scored against."""
    metric, hypothesis = case.metric, case.hypothesis
    number, reference = _best(metric, hypothesis, case.references)
    system = {**_system(case), "reference": number}
    _add_differences(metric, system, [(hypothesis, reference)])
    mine, theirs = tokens(metric, hypothesis), tokens(metric, reference)
    orders = range(1, metric.char_order + 1)
    tables = [naive_bleu.clipped(mine, [theirs], order) for order in orders]
    return {**system, "tokens": mine, "cover": naive_bleu.cover(mine, tables)}


def of_corpus(case: Case[CHRF, CHRFScore]) -> dict[str, Any]:
    """The explanation of a corpus."""
    metric, system = case.metric, _system(case)
    # Characters have many more n-grams than words have.
    some = islice(iter_segments(case.hypothesis, case.references), naive_bleu.LOOKED_INTO // 10)
    chosen = ((text, _best(metric, text, naive_bleu.present(others))[1]) for text, others in some)
    system["looked_into"] = _add_differences(metric, system, chosen)
    return system


def _best(metric: CHRF, hypothesis: str, given: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """The number of the reference with the highest score, the first of equals, and its text."""
    if len(given) == 1:
        return given[0]
    return max(given, key=lambda one: (metric.sentence(hypothesis, one[1]).value, -one[0]))


def _add_differences(
    metric: CHRF, system: dict[str, Any], segments: Iterable[tuple[str, str]]
) -> int:
    """Adds to each order the n-grams that hypotheses have too often and too rarely.

    Returns how many segments there were.
    """
    counters: list[tuple[Counter[Any], Counter[Any]]]
    counters = [(Counter(), Counter()) for _ in system["orders"]]
    seen = 0
    for texts in segments:
        seen += 1
        split = {
            "character": [tokens(metric, text) for text in texts],
            "word": [word_tokens(metric, text) for text in texts],
        }
        for order, (extra, missing) in zip(system["orders"], counters, strict=True):
            mine, theirs = (
                naive_bleu.ngrams(some, order["order"]) for some in split[order["unit"]]
            )
            extra.update(mine - theirs)
            missing.update(theirs - mine)
    for order, found in zip(system["orders"], counters, strict=True):
        for kind, counter in zip(("extra", "missing"), found, strict=True):
            order[kind] = naive_bleu.most_common(counter, naive_bleu.LISTED)
    return seen


def _system(case: Case[CHRF, CHRFScore]) -> dict[str, Any]:
    metric, score = case.metric, case.score
    units = ["character"] * metric.char_order + ["word"] * metric.word_order
    places = [*range(1, metric.char_order + 1), *range(1, metric.word_order + 1)]
    counts = zip(score.matches, score.hypothesis_totals, score.reference_totals, strict=True)
    orders: list[dict[str, Any]] = []
    for unit, order, (matches, mine, theirs) in zip(units, places, counts, strict=True):
        counted = metric.eps_smoothing or bool(mine and theirs)
        # chrF++.py's stand-in for a share of nothing.
        precision = matches / mine if mine else 1e-16
        recall = matches / theirs if theirs else 1e-16
        factor = metric.beta**2
        below = factor * precision + recall
        f = (1 + factor) * precision * recall / below if below else 1e-16
        orders.append(
            {
                "unit": unit,
                "order": order,
                "matches": matches,
                "hypothesis": mine,
                "reference": theirs,
                "precision": precision if counted else None,
                "recall": recall if counted else None,
                "f": f if counted else None,
            }
        )
    return {
        "fraction": score.value / 100,
        "orders": orders,
        "precision": _mean([one["precision"] for one in orders]),
        "recall": _mean([one["recall"] for one in orders]),
    }


def _mean(shares: Sequence[float | None]) -> float:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else 0.0


def parts(system: Content) -> dict[str, float]:
    """The numbers by which systems are compared, beside the score."""
    return {f"mean {name}": system[name] for name in ("precision", "recall")}


# ---- blocks ----


def formula(system: Content, parameters: Content) -> list[Equation]:
    """The F-score of the mean precision and recall, or the mean of the orders' F-scores."""
    known = [order for order in system["orders"] if order["precision"] is not None]
    if not known:
        return [("chrF", "0, because the text is too short for n-grams of any order")]
    square: Node = ("sup", "β", "2")
    result = format_number(system["fraction"])
    general: Node = (
        "frac",
        ("row", ("paren", ("row", "1 + ", square)), " · P · R"),
        ("row", square, " · P + R"),
    )

    def mean(key: str) -> tuple[Node, ...]:
        terms = join_nodes([format_number(order[key]) for order in known], " + ")
        return ("row", ("frac", "1", str(len(known))), " ", ("paren", terms))

    if parameters["eps_smoothing"]:
        return [(("sub", "F", "n"), general), ("chrF", mean("f")), ("", result)]
    p, r = format_number(system["precision"]), format_number(system["recall"])
    lines: list[Equation] = [
        ("P", (*mean("precision"), f" = {p}")),
        ("R", (*mean("recall"), f" = {r}")),
    ]
    if not system["precision"] + system["recall"]:
        return [*lines, ("chrF", "0, because nothing matches")]
    factor = parameters["beta"] ** 2
    return [
        *lines,
        ("chrF", general),
        (
            "",
            (
                "frac",
                f"{format_compact(1 + factor)} · {p} · {r}",
                f"{format_compact(factor)} · {p} + {r}",
            ),
        ),
        ("", result),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:  # noqa: ARG001
    """One system: the counts of each order, and the n-grams that differ."""
    yield Heading(level, "Precision and recall")
    rows = [
        [
            f"{order['unit']} {order['order']}-grams",
            *(str(order[key]) for key in ("hypothesis", "reference", "matches")),
            *(
                "left out" if order[key] is None else format_number(order[key])
                for key in ("precision", "recall")
            ),
        ]
        for order in system["orders"]
    ]
    header = ["order", "hypothesis", "reference", "matches", "precision", "recall"]
    yield Table.from_text_rows(header, rows)
    left_out = [order for order in system["orders"] if order["precision"] is None]
    if left_out:
        told = format_count(len(left_out), "order")
        yield Paragraph(f"{told} left out: hypothesis or reference is too short for it.")
    yield from first_segments(system, "Of")
    for kind, told in (("extra", "Only in the hypothesis"), ("missing", "Missing from it")):
        yield Heading(level, told)
        for order in system["orders"]:
            name = f"{order['unit'].capitalize()} {order['order']}-grams"
            space = " " if order["unit"] == "word" else ""
            yield Paragraph(f"{name}: {listed(order[kind], naive_bleu.LISTED, space) or 'none'}.")


def reading(content: Content, system: Content) -> str:
    """The score between 0 and 1, and the meaning of β."""
    beta = format_compact(content["metric"]["parameters"]["beta"])
    return f"{share(system)}. β = {beta} is the weight of recall relative to precision."
