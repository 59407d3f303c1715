"""Explanation of SARI: the n-grams that are added, kept and deleted, rightly or wrongly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import ExplanationCase, split_text
from truebleu.metrics.python_metric import PythonScore
from truebleu.metrics.sari import OPERATIONS, ORDERS, SARI
from truebleu.rendering.elements import Block, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.equations import Equation
from truebleu.rendering.number_format import format_number, name_ngrams
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments, iterate_items
from truebleu.text.terminal_layout import format_count
from truebleu.text.tokenizers import count_ngrams

# Components that have the scale of the score.
PERCENTAGES = OPERATIONS
PARTICIPLES = {"add": "Added", "keep": "Kept", "delete": "Deleted"}
COUNT_KEYS = ("good", "hypothesis", "reference")
JUDGEMENTS = ("right", "wrong", "missed")


def explain_segment(case: ExplanationCase[SARI, PythonScore]) -> dict[str, Any]:
    """Return all n-grams of a segment by order, operation and judgement."""
    hypothesis, *references = case.texts
    return {
        **_build_system(case, [(hypothesis, references, case.source)]),
        "tokens": split_text(case.metric, case.hypothesis),
        "source_tokens": _split_source(case.metric, case.source),
    }


def explain_corpus(case: ExplanationCase[SARI, PythonScore]) -> dict[str, Any]:
    """Return the most frequent n-grams in the first segments of a corpus."""
    texts = iter_segments(case.hypothesis, case.references)
    pairs = zip(texts, iterate_items("sources", case.source), strict=True)
    segments = [(*text, source) for text, source in islice(pairs, naive_bleu.MAX_EXAMINED_SEGMENTS)]
    system = _build_system(case, segments, ngram_layout.MAX_LISTED_NGRAMS)
    return {**system, "looked_into": len(segments)}


def _build_system(
    case: ExplanationCase[SARI, PythonScore], segments: Iterable[Any], limit: int | None = None
) -> dict[str, Any]:
    """Return the parts of the score, and the counts and n-grams of each order and operation."""
    ngrams: dict[tuple[int, str, str], Counter[Any]] = defaultdict(Counter)
    for hypothesis, references, source in segments:
        for key, counts in _judge_ngrams(case.metric, hypothesis, references, source):
            ngrams[key].update(counts)
    row = iter(case.score.row)
    orders = []
    for n in ORDERS:
        operations = {}
        for operation in OPERATIONS:
            part: dict[str, Any] = {key: next(row) for key in COUNT_KEYS}
            for judgement in JUDGEMENTS:
                counts = ngrams[n, operation, judgement]
                part[judgement] = naive_bleu.list_top_ngrams(counts, limit)
            operations[operation] = part
        orders.append({"order": n, "operations": operations})
    return {"fraction": case.score.fraction, **case.score.details(), "orders": orders}


def _split_source(metric: SARI, source: Any) -> list[str]:
    is_split = metric.split_sources and isinstance(source, str)
    return source.split() if is_split else split_text(metric, source)


def _judge_ngrams(
    metric: SARI, hypothesis: Any, references: Iterable[Any], source: Any
) -> Iterator[tuple[tuple[int, str, str], Counter[Any]]]:
    """Yield the n-grams of a segment that the operations change rightly or wrongly, or miss."""
    present = [split_text(metric, text) for text in references if text is not None]
    texts = (split_text(metric, hypothesis), _split_source(metric, source))
    for n in ORDERS:
        # The counts are multiplied by the number of references.
        output, original = (
            Counter({ngram: len(present) * k for ngram, k in count_ngrams(tokens, n).items()})
            for tokens in texts
        )
        others: Counter[Any] = Counter()
        for tokens in present:
            others.update(count_ngrams(tokens, n))
        added, needed = (
            Counter(dict.fromkeys((ngram for ngram in counts if ngram not in original), 1))
            for counts in (output, others)
        )
        changes = (
            (added, needed),
            (original & output, original & others),
            (original - output, original - others),
        )
        for operation, (by_output, by_references) in zip(OPERATIONS, changes, strict=True):
            right = by_output & by_references
            judged = (right, by_output - right, by_references - right)
            for judgement, counts in zip(JUDGEMENTS, judged, strict=True):
                yield (n, operation, judgement), counts


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {operation: system[operation] for operation in OPERATIONS}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the formula: the mean of the three parts."""
    digits = 4 if system.get("scale") == 1 else 2
    parts = " + ".join(format_number(system[operation], digits) for operation in OPERATIONS)
    return [
        ("SARI", ("frac", " + ".join(OPERATIONS), "3")),
        ("", ("frac", parts, "3")),
        ("", format_number(system["score"], digits)),
    ]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield a table of counts, and the n-grams of each order."""
    for key, title in (("source_tokens", "Source"), ("tokens", "Hypothesis")):
        if key in system:
            count = format_count(len(system[key]), "token")
            yield MarkedTokens(f"{title}, {count}", system[key])
    rows = []
    for order in system["orders"]:
        for operation, part in order["operations"].items():
            counts = [part[key] for key in COUNT_KEYS]
            ratios = (format_number(counts[0] / n if n else 0.0) for n in counts[1:])
            rows.append(
                [name_ngrams(order["order"]), operation, *(f"{n:,}" for n in counts), *ratios]
            )
    yield Heading(level, "Counts")
    header = ("", "", "right", "in output", "in references", "precision", "recall")
    yield Table.from_text_rows(header, rows)
    if len(content.get("references", "12")) > 1:
        yield Paragraph("Kept and deleted n-grams count once per reference.")
    if "looked_into" in system:
        yield Paragraph(
            f"Most frequent n-grams in {format_count(system['looked_into'], 'segment')}:"
        )
    format_ngrams = partial(ngram_layout.format_ngrams, limit=ngram_layout.MAX_LISTED_NGRAMS)
    for order in system["orders"]:
        yield Heading(level, name_ngrams(order["order"]).capitalize())
        for operation, part in order["operations"].items():
            lists = (f"{name}: {format_ngrams(part[name]) or 'none'}" for name in JUDGEMENTS)
            yield Paragraph(f"{PARTICIPLES[operation]}. {'; '.join(lists)}.")


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return the definition of the score."""
    return ": the mean of the scores for added, kept and deleted n-grams."
