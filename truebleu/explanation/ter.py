"""Explanation of TER: the edits that turn the hypothesis into a reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from truebleu.explanation import edit_layout
from truebleu.explanation.ngram_layout import describe_examined_part
from truebleu.metrics.ter_alignment import Alignment
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments

if TYPE_CHECKING:
    from truebleu.explanation.naive_bleu import ExplanationCase
    from truebleu.metrics.ter import TER, TERScore
    from truebleu.rendering.equations import Equation

TOKEN = "word"
BEST_REFERENCE_SENTENCE = "Reference {} is used because it needs the fewest edits."
EDIT_KINDS = ("shift", "substitution", "deletion", "insertion")

# Maximum number of segments that are aligned to count edits by kind.
MAX_ALIGNED_SEGMENTS = 2000


def split_text(metric: TER, text: str) -> list[str]:
    """Split a text into the words that TER counts."""
    return list(metric.alignment("", [text]).reference)


def explain_segment(case: ExplanationCase[TER, TERScore]) -> dict[str, Any]:
    """Return the explanation of a segment with the reference that needs the fewest edits."""
    hypothesis, *references = case.texts
    alignment = case.metric.alignment(hypothesis, references)
    return {
        **_describe_system(case.score, _count_edit_kinds(alignment)),
        "reference": case.references[alignment.reference_index][0],
        "tokens": list(alignment.hypothesis),
        "alignment": edit_layout.describe_alignment(alignment),
    }


def explain_corpus(case: ExplanationCase[TER, TERScore]) -> dict[str, Any]:
    """Return the explanation of a corpus, with the kinds of edits in the first segments."""
    kinds: Counter[str] = Counter()
    examined_count = 0
    for hypothesis, segment_references in islice(
        iter_segments(case.hypothesis, case.references), MAX_ALIGNED_SEGMENTS
    ):
        kinds.update(_count_edit_kinds(case.metric.alignment(hypothesis, segment_references)))
        examined_count += 1
    return {**_describe_system(case.score, kinds), "looked_into": examined_count}


def _count_edit_kinds(alignment: Alignment) -> Counter[str]:
    kinds = Counter(kind for kind, _, _ in alignment.operations)
    kinds["shift"] = len(alignment.shifts)
    return kinds


def _describe_system(score: TERScore, kinds: Counter[str]) -> dict[str, Any]:
    return {
        "edits": score.edits,
        "reference_length": score.reference_length,
        "kinds": {kind: kinds[kind] for kind in EDIT_KINDS},
    }


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {"edits": system["edits"]} | {f"{kind}s": n for kind, n in system["kinds"].items()}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the formula: edits divided by reference words."""
    length = system["reference_length"]
    if not length:
        return [("TER", f"{format_number(system['score'])}, because the references have no words")]
    factor, digits = ("", 4) if system.get("scale") == 1 else ("100 · ", 2)
    return [
        ("TER", ("row", factor, ("frac", "edits", "reference words"))),
        ("", ("row", factor, ("frac", str(system["edits"]), format_number(length, 2)))),
        ("", format_number(system["score"], digits)),
    ]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield the edit operations, and the number of edits of each kind."""
    if "alignment" in system:
        yield from edit_layout.build_edit_layout(
            system["alignment"], level, TOKEN, ("hypothesis", "reference")
        )
    yield Heading(level, f"Edits: {system['edits']:,}")
    yield from describe_examined_part(system, "Kinds of edits in")
    yield Table.from_text_rows(
        ["kind", "edits"], [[kind, f"{n:,}"] for kind, n in system["kinds"].items()]
    )
    if content["kind"] == "corpus" or len(content["references"]) > 1:
        yield Paragraph("With several references, the mean reference length is used.")


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return a sentence about the scale."""
    unit = "word" if system.get("scale") == 1 else "100 words"
    return (
        f": edits per {unit} of the references. Lower is better: 0 is the best score, and scores "
        f"may exceed {system.get('scale', 100)}."
    )
