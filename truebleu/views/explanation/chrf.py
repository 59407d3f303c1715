"""What is explained of a chrF score: precision and recall of each order, and their F-score."""

from __future__ import annotations

from collections import Counter

from truebleu.text.layout import count
from truebleu.text.segments import pairs
from truebleu.views.explanation import counting
from truebleu.views.explanation.ngram_blocks import listed, words
from truebleu.views.explanation.ngrams import LISTED, LOOKED_INTO
from truebleu.views.rendering.blocks import Equations, Heading, Paragraph, Table
from truebleu.views.rendering.equations import as_text, between
from truebleu.views.rendering.numbers import number, short, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.metrics.chrf import CHRF, CHRFScore
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.equations import Equation, Node
    from truebleu.views.rendering.numbers import Write

    Content = Mapping[str, Any]

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


def of_pair(
    metric: CHRF,
    score: CHRFScore,
    hypothesis: str,
    references: Sequence[str | None],
    *,
    recall: bool,
) -> dict[str, Any]:
    """What there is to say of one hypothesis and the reference that it is scored against."""
    del recall  # it is a part of chrF
    number, reference = _best(metric, hypothesis, references)
    system = _system(metric, score)
    system["reference"] = number
    characters = tokens(metric, hypothesis), tokens(metric, reference)
    parts = word_tokens(metric, hypothesis), word_tokens(metric, reference)
    tables = []
    for order in system["orders"]:
        mine, theirs = characters if order["unit"] == "character" else parts
        extra, missing = _differences(mine, theirs, order)
        order["extra"], order["missing"] = _most_common(extra), _most_common(missing)
        if order["unit"] == "character":
            tables.append(counting.clipped(mine, [theirs], order["order"]))
    system["tokens"] = characters[0]
    system["cover"] = [
        {"longest": one.longest, "start": one.start, "clipped": one.clipped}
        for one in counting.cover(characters[0], tables)
    ]
    return system


def of_corpus(
    metric: CHRF, score: CHRFScore, hypotheses: Any, references: Any, *, recall: bool
) -> dict[str, Any]:
    """What there is to say of a corpus."""
    del recall
    system = _system(metric, score)
    counters: list[tuple[Counter[Any], Counter[Any]]]
    counters = [(Counter(), Counter()) for _ in system["orders"]]
    looked_into = 0
    for looked_into, (hypothesis, others) in enumerate(pairs(hypotheses, references), 1):
        _, reference = _best(metric, hypothesis, others)
        characters = tokens(metric, hypothesis), tokens(metric, reference)
        parts = word_tokens(metric, hypothesis), word_tokens(metric, reference)
        for order, found in zip(system["orders"], counters, strict=True):
            chosen = characters if order["unit"] == "character" else parts
            for sums, some in zip(found, _differences(*chosen, order), strict=True):
                sums.update(some)
        if looked_into == LOOKED_INTO // 10:
            # Characters have many more n-grams than words have.
            break
    for order, (extra, missing) in zip(system["orders"], counters, strict=True):
        order["extra"], order["missing"] = _most_common(extra), _most_common(missing)
    system["looked_into"] = looked_into
    return system


def _best(metric: CHRF, hypothesis: str, references: Sequence[str | None]) -> tuple[int, str]:
    """The number of the reference with the highest score, the first of equals, and its text."""
    given = [(number, text) for number, text in enumerate(references, 1) if text is not None]
    if len(given) == 1:
        return given[0]
    return max(given, key=lambda one: (metric.sentence(hypothesis, one[1]).value, -one[0]))


def _differences(
    mine: Sequence[str], theirs: Sequence[str], order: Content
) -> tuple[Counter[Any], Counter[Any]]:
    """The n-grams that only the hypothesis has, or has more often, and those it lacks."""
    ours, others = (counting.ngrams(some, order["order"]) for some in (mine, theirs))
    return ours - others, others - ours


def _most_common(counter: Counter[Any]) -> list[dict[str, Any]]:
    return [{"ngram": list(ngram), "count": n} for ngram, n in counter.most_common(LISTED)]


def _system(metric: CHRF, score: CHRFScore) -> dict[str, Any]:
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
    system = {
        "fraction": score.value / 100,
        "orders": orders,
        "precision": _mean([one["precision"] for one in orders]),
        "recall": _mean([one["recall"] for one in orders]),
    }
    system["formula"] = as_text(_formula(system, metric.parameters))
    return system


def _mean(shares: Sequence[float | None]) -> float:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else 0.0


def difference(
    metric: CHRF,  # noqa: ARG001
    first: dict[str, Any],
    second: dict[str, Any],
    *,
    corpus: bool,  # noqa: ARG001
) -> dict[str, Any]:
    """The differences of mean precision and recall."""
    return {name: second[name] - first[name] for name in ("precision", "recall")}


# ---- blocks ----


def _formula(system: Content, parameters: Content) -> list[Equation]:
    """The F-score of the mean precision and recall, or the mean of the orders' F-scores."""
    known = [order for order in system["orders"] if order["precision"] is not None]
    if not known:
        return [("chrF", "0, because the text is too short for n-grams of any order")]
    share: Node = ("frac", "1", str(len(known)))
    square: Node = ("sup", "β", "2")
    result = number(system["fraction"])
    general: Node = (
        "frac",
        ("row", ("paren", ("row", "1 + ", square)), " · P · R"),
        ("row", square, " · P + R"),
    )
    if parameters["eps_smoothing"]:
        terms = between([number(order["f"]) for order in known], " + ")
        return [
            (("sub", "F", "n"), general),
            ("chrF", ("row", share, " ", ("paren", terms))),
            ("", result),
        ]
    lines: list[Equation] = []
    for name, key in (("P", "precision"), ("R", "recall")):
        terms = between([number(order[key]) for order in known], " + ")
        mean = number(system[key])
        lines.append((name, ("row", share, " ", ("paren", terms), f" = {mean}")))
    if not system["precision"] + system["recall"]:
        return [*lines, ("chrF", "0, because nothing matches")]
    factor = parameters["beta"] ** 2
    p, r = number(system["precision"]), number(system["recall"])
    lines += [
        ("chrF", general),
        (
            "",
            ("frac", f"{short(1 + factor)} · {p} · {r}", f"{short(factor)} · {p} + {r}"),
        ),
        ("", result),
    ]
    return lines


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its characters, the counts of each order, and the formula."""
    if "tokens" in system:
        if len(content["references"]) > 1:
            yield Paragraph(
                f"It is scored against reference {system['reference']}, which gives the best score."
            )
        yield words(system, TOKEN)
    yield Heading(level, "Precision and recall")
    rows = [
        [
            f"{order['unit']} {order['order']}-grams",
            *(str(order[key]) for key in ("hypothesis", "reference", "matches")),
            *(_share(order[key]) for key in ("precision", "recall")),
        ]
        for order in system["orders"]
    ]
    header = ["order", "hypothesis", "reference", "matches", "precision", "recall"]
    yield Table.of(header, rows)
    left_out = [order for order in system["orders"] if order["precision"] is None]
    if left_out:
        told = count(len(left_out), "order")
        yield Paragraph(f"{told} left out: hypothesis or reference is too short for it.")
    if "looked_into" in system and system["looked_into"] < system["segments"]:
        yield Paragraph(f"Of the first {system['looked_into']:,} segments:")
    for kind, told in (("extra", "Only in the hypothesis"), ("missing", "Missing from it")):
        yield Heading(level, told)
        for order in system["orders"]:
            name = f"{order['unit'].capitalize()} {order['order']}-grams"
            yield Paragraph(f"{name}: {listed(_joined(order, kind), LISTED) or 'none'}.")
    yield Heading(level, "The formula")
    yield Equations(_formula(system, content["metric"]["parameters"]))


def _joined(order: Content, kind: str) -> list[dict[str, Any]]:
    """Characters of an n-gram stand together, words apart."""
    if order["unit"] == "word":
        return list(order[kind])
    return [{**one, "ngram": ["".join(one["ngram"])]} for one in order[kind]]


def _share(share: float | None) -> str:
    return "left out" if share is None else number(share)


def compared(content: Content, write: Write) -> Iterator[Block]:
    """Two systems beside each other."""
    label = content["metric"]["label"]
    rows = [
        [
            system["name"],
            write(system["score"]),
            number(system["precision"]),
            number(system["recall"]),
        ]
        for system in content["systems"]
    ]
    one = content["comparison"]
    plus = signed(number)
    rows.append(
        [
            "difference",
            signed(write)(one["difference"]),
            plus(one["precision"]),
            plus(one["recall"]),
        ]
    )
    made = Table.of(["system", label, "mean precision", "mean recall"], rows)
    made.sums = True
    yield made


def reading(content: Content, write: Write) -> Iterator[Block]:
    """What β means, and what the score is between 0 and 1."""
    beta = short(content["metric"]["parameters"]["beta"])
    for system in content["systems"]:
        name = f"{system['name']}: " if len(content["systems"]) > 1 else ""
        label = content["metric"]["label"]
        yield Paragraph(
            f"{name}{label} = {write(system['score'])}, or {number(system['fraction'])} between 0 "
            f"and 1. β = {beta} is the weight of recall relative to precision."
        )
