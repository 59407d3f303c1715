"""Explanation of chrF: precision and recall of each order, and the F-score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from truebleu.explanation import naive_bleu
from truebleu.explanation.naive_bleu import ExplanationCase
from truebleu.explanation.ngram_layout import describe_examined_part, format_fraction, format_ngrams
from truebleu.metrics.chrf import CHRF, CHRFScore
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation, Node, add_nodes
from truebleu.rendering.number_format import format_compact, format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments
from truebleu.text.terminal_layout import format_count
from truebleu.text.tokenizers import count_ngrams

# Punctuation that is split off words, as in sacreBLEU and chrF++.py.
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def split_text(metric: CHRF, text: str) -> list[str]:
    """Split a text into the characters that chrF counts."""
    text = text.lower() if metric.lowercase else text
    return list(text if metric.whitespace else "".join(text.split()))


def split_into_words(metric: CHRF, text: str) -> list[str]:
    """Split a text into words, and split one punctuation mark off the end or start of each word."""
    words = []
    for word in (text.lower() if metric.lowercase else text).split():
        if len(word) > 1 and word[-1] in PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


def explain_segment(case: ExplanationCase[CHRF, CHRFScore]) -> dict[str, Any]:
    """Return the explanation of a segment with the reference that gives the best score."""
    metric, hypothesis = case.metric, case.hypothesis
    best_number, reference = naive_bleu.find_best_reference(metric, hypothesis, case.references)
    system = {**_describe_system(case), "reference": best_number}
    _add_ngram_differences(metric, system, [(hypothesis, reference)])
    characters, *references = (split_text(metric, text) for text in (hypothesis, reference))
    orders = range(1, metric.char_order + 1)
    tables = [naive_bleu.clip_ngrams(characters, references, order) for order in orders]
    cover = naive_bleu.find_covering_ngrams(characters, tables)
    return {**system, "tokens": characters, "cover": cover}


def explain_corpus(case: ExplanationCase[CHRF, CHRFScore]) -> dict[str, Any]:
    """Return the explanation of a corpus."""
    metric, system = case.metric, _describe_system(case)
    # Examine fewer segments, because a text has many more character n-grams than word n-grams.
    first_pairs = islice(
        iter_segments(case.hypothesis, case.references), naive_bleu.MAX_EXAMINED_SEGMENTS // 10
    )
    scored_pairs = (
        (text, naive_bleu.find_best_reference(metric, text, references)[1])
        for text, others in first_pairs
        for references in [naive_bleu.enumerate_references(others)]
    )
    system["looked_into"] = _add_ngram_differences(metric, system, scored_pairs)
    return system


def _add_ngram_differences(
    metric: CHRF, system: dict[str, Any], segments: Iterable[tuple[str, str]]
) -> int:
    """Add to each order the n-grams whose counts in the hypotheses and references differ.

    Returns the number of examined segments.
    """
    counters: list[dict[str, Counter[Any]]] = [
        {"extra": Counter(), "missing": Counter()} for _ in system["orders"]
    ]
    seen = 0
    for texts in segments:
        seen += 1
        tokens_by_unit = {
            "character": [split_text(metric, text) for text in texts],
            "word": [split_into_words(metric, text) for text in texts],
        }
        for order, counter in zip(system["orders"], counters, strict=True):
            hypothesis_ngrams, reference_ngrams = (
                count_ngrams(tokens, order["order"]) for tokens in tokens_by_unit[order["unit"]]
            )
            counter["extra"].update(hypothesis_ngrams - reference_ngrams)
            counter["missing"].update(reference_ngrams - hypothesis_ngrams)
    for order, counter in zip(system["orders"], counters, strict=True):
        for kind, ngrams in counter.items():
            order[kind] = naive_bleu.list_top_ngrams(ngrams, naive_bleu.MAX_LISTED_NGRAMS)
    return seen


def _describe_system(case: ExplanationCase[CHRF, CHRFScore]) -> dict[str, Any]:
    metric, score = case.metric, case.score
    units = ["character"] * metric.char_order + ["word"] * metric.word_order
    order_numbers = [*range(1, metric.char_order + 1), *range(1, metric.word_order + 1)]
    counts = zip(score.matches, score.hypothesis_totals, score.reference_totals, strict=True)
    orders: list[dict[str, Any]] = []
    for unit, order, (matches, hypothesis_total, reference_total) in zip(
        units, order_numbers, counts, strict=True
    ):
        ratios: dict[str, float | None] = dict.fromkeys(("precision", "recall", "f"))
        if metric.eps_smoothing or (hypothesis_total and reference_total):
            # chrF++.py uses 1e-16 instead of 0/0.
            precision = matches / hypothesis_total if hypothesis_total else 1e-16
            recall = matches / reference_total if reference_total else 1e-16
            factor = metric.beta**2
            denominator = factor * precision + recall
            f = (1 + factor) * precision * recall / denominator if denominator else 1e-16
            ratios = {"precision": precision, "recall": recall, "f": f}
        totals = {"hypothesis": hypothesis_total, "reference": reference_total}
        orders.append({"unit": unit, "order": order, "matches": matches, **totals, **ratios})
    return {
        "fraction": score.value / 100,
        "orders": orders,
        "precision": _compute_mean([one["precision"] for one in orders]),
        "recall": _compute_mean([one["recall"] for one in orders]),
    }


def _compute_mean(values: Sequence[float | None]) -> float:
    used_values = [share for share in values if share is not None]
    return sum(used_values) / len(used_values) if used_values else 0.0


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {f"mean {name}": system[name] for name in ("precision", "recall")}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:
    """Return the formula: the F-score of mean precision and recall, or the mean of F-scores."""
    used_orders = [order for order in system["orders"] if order["precision"] is not None]
    if not used_orders:
        return [("chrF", "0, because the text is too short for n-grams")]
    square: Node = ("sup", "β", "2")
    result = format_number(system["fraction"])
    general: Node = (
        "frac",
        ("row", ("paren", ("row", "1 + ", square)), " · P · R"),
        ("row", square, " · P + R"),
    )

    def build_mean(key: str) -> tuple[Node, ...]:
        terms = add_nodes([format_number(order[key]) for order in used_orders])
        return ("row", ("frac", "1", str(len(used_orders))), " ", ("paren", terms))

    if parameters["eps_smoothing"]:
        return [(("sub", "F", "n"), general), ("chrF", build_mean("f")), ("", result)]
    p, r = format_number(system["precision"]), format_number(system["recall"])
    lines: list[Equation] = [
        ("P", (*build_mean("precision"), f" = {p}")),
        ("R", (*build_mean("recall"), f" = {r}")),
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


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:  # noqa: ARG001
    """Yield the counts of each order and the n-grams that differ."""
    yield Heading(level, "Precision and recall")
    rows = [
        [
            f"{order['unit']} {order['order']}-grams",
            *(str(order[key]) for key in ("hypothesis", "reference", "matches")),
            *(
                "skipped" if order[key] is None else format_number(order[key])
                for key in ("precision", "recall")
            ),
        ]
        for order in system["orders"]
    ]
    header = ["order", "hypothesis", "reference", "matches", "precision", "recall"]
    yield Table.from_text_rows(header, rows)
    skipped_orders = [order for order in system["orders"] if order["precision"] is None]
    if skipped_orders:
        order_count = format_count(len(skipped_orders), "order")
        yield Paragraph(f"Skipped {order_count}, because a text is too short.")
    yield from describe_examined_part(system, "In")
    for kind, title in (("extra", "Only in the hypothesis"), ("missing", "Only in the reference")):
        yield Heading(level, title)
        for order in system["orders"]:
            name = f"{order['unit'].capitalize()} {order['order']}-grams"
            space = " " if order["unit"] == "word" else ""
            ngram_list = format_ngrams(order[kind], naive_bleu.MAX_LISTED_NGRAMS, space)
            yield Paragraph(f"{name}: {ngram_list or 'none'}.")


def describe_score(content: Content, system: Content) -> str:
    """Return the score on a 0-1 scale, with a sentence that explains β."""
    beta = format_compact(content["metric"]["parameters"]["beta"])
    return f"{format_fraction(system)}. β = {beta} is the weight of recall relative to precision."
