"""The parts of a TER score: the edits that make the hypothesis a reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from truebleu.explanation import edit_layout
from truebleu.explanation.ngram_layout import first_segments
from truebleu.metrics.ter_alignment import Alignment
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments

if TYPE_CHECKING:
    from truebleu.explanation.naive_bleu import Case
    from truebleu.metrics.ter import TER, TERScore
    from truebleu.rendering.equations import Equation

TOKEN = "word"
CHOSEN = "Of the references, number {} takes the fewest edits."
KINDS = ("shift", "substitution", "deletion", "insertion")

# So many segments of a corpus are aligned to tell the kinds of edits.
ALIGNED = 2000


def tokens(metric: TER, text: str) -> list[str]:
    """The words that are counted."""
    return list(metric.alignment("", [text]).reference)


def of_pair(case: Case[TER, TERScore]) -> dict[str, Any]:
    """The explanation of one hypothesis and the reference that takes the fewest edits."""
    hypothesis, *references = case.texts
    alignment = case.metric.alignment(hypothesis, references)
    return {
        **_system(case.score, _kinds(alignment)),
        "reference": case.references[alignment.reference_index][0],
        "tokens": list(alignment.hypothesis),
        "alignment": edit_layout.content(alignment),
    }


def of_corpus(case: Case[TER, TERScore]) -> dict[str, Any]:
    """The explanation of a corpus; the kinds of edits are those of the first segments."""
    kinds: Counter[str] = Counter()
    looked_into = 0
    for hypothesis, others in islice(iter_segments(case.hypothesis, case.references), ALIGNED):
        kinds.update(_kinds(case.metric.alignment(hypothesis, others)))
        looked_into += 1
    return {**_system(case.score, kinds), "looked_into": looked_into}


def _kinds(alignment: Alignment) -> Counter[str]:
    kinds = Counter(kind for kind, _, _ in alignment.operations)
    kinds["shift"] = len(alignment.shifts)
    return kinds


def _system(score: TERScore, kinds: Counter[str]) -> dict[str, Any]:
    return {
        "edits": score.edits,
        "reference_length": score.reference_length,
        "kinds": {kind: kinds[kind] for kind in KINDS},
    }


def parts(system: Content) -> dict[str, float]:
    """The numbers by which systems are compared, beside the score."""
    return {"edits": system["edits"]} | {f"{kind}s": n for kind, n in system["kinds"].items()}


# ---- blocks ----


def formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Edits over the words of the references."""
    length = system["reference_length"]
    if not length:
        return [
            ("TER", f"{format_number(system['score'])}, because there is no word in any reference")
        ]
    return [
        ("TER", ("row", "100 · ", ("frac", "edits", "reference words"))),
        ("", ("row", "100 · ", ("frac", str(system["edits"]), format_number(length, 2)))),
        ("", format_number(system["score"], 2)),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its edits word by word, and how many of each kind there are."""
    if "alignment" in system:
        yield from edit_layout.blocks(
            system["alignment"], level, TOKEN, ("hypothesis", "reference")
        )
    yield Heading(level, f"Edits: {system['edits']:,}")
    yield from first_segments(system, "Kinds of")
    yield Table.from_text_rows(
        ["kind", "edits"], [[kind, f"{n:,}"] for kind, n in system["kinds"].items()]
    )
    if content["kind"] == "corpus" or len(content["references"]) > 1:
        yield Paragraph("Of several references, their mean length counts.")


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The meaning of such a score."""
    return (
        ": edits per 100 words of the references. 0 is best, lower is better, and it may exceed "
        "100."
    )
