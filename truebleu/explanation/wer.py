"""The parts of WER, MER, WIL, WIP and CER: hits and edits of the cheapest alignment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from truebleu.explanation import edit_layout
from truebleu.metrics.wer import EDIT_COLUMNS, EditScore
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content

if TYPE_CHECKING:
    from truebleu.explanation.naive_bleu import Case
    from truebleu.rendering.equations import Equation, Node

TOKEN = "token"
CHOSEN = "Of the references, number {} has the best score."
LENGTHS = ("reference_length", "hypothesis_length")

READINGS = {
    "WER": "edits per 100 words of the references. 0 is best, lower is better, and it may exceed "
    "100.",
    "CER": "edits per 100 characters of the references. 0 is best, lower is better, and it may "
    "exceed 100.",
    "MER": "the share of edits among hits and edits. 0 is best, lower is better.",
    "WIL": "the information of the words that is lost. 0 is best, lower is better.",
    "WIP": "the information of the words that is preserved. 100 is best.",
}


def tokens(metric: Any, text: str) -> list[str]:
    """The words, or characters, that are counted."""
    found: list[str] = metric.tokenize_text(text)
    return found


def of_pair(case: Case[Any, EditScore]) -> dict[str, Any]:
    """The explanation of one hypothesis and the reference with the best score."""
    hypothesis, *references = case.texts
    alignment = case.metric.alignment(hypothesis, references)
    return {
        **_system(case),
        "reference": case.references[alignment.reference_index][0],
        "tokens": list(alignment.hypothesis),
        "alignment": edit_layout.content(alignment),
    }


def of_corpus(case: Case[Any, EditScore]) -> dict[str, Any]:
    """The explanation of a corpus."""
    return _system(case)


def _system(case: Case[Any, EditScore]) -> dict[str, Any]:
    names = (*EDIT_COLUMNS, "edits", *LENGTHS)
    counts = {name: getattr(case.score, name) for name in names}
    return {"measure": case.score.name, "fraction": case.score.fraction, **counts}


def parts(system: Content) -> dict[str, float]:
    """The numbers by which systems are compared, beside the score."""
    return {name: system[name] for name in ("edits", *EDIT_COLUMNS)}


# ---- blocks ----


def formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """The measure from its counts."""
    name, hits, edits = (system[key] for key in ("measure", "hits", "edits"))
    reference, hypothesis = (system[key] for key in LENGTHS)
    score = format_number(system["score"], 2)
    if not reference:
        return [(name, f"{score}, because there is no token in any reference")]
    if name in ("WIL", "WIP"):
        if not hypothesis:
            return [(name, f"{score}, because there is no token in any hypothesis")]
        worded = ("hits", "reference tokens", "hypothesis tokens")
        steps: list[Node] = [
            ("row", ("frac", over, one), " · ", ("frac", over, other))
            for over, one, other in (worded, (str(hits), str(reference), str(hypothesis)))
        ]
        if name == "WIL":
            steps = [("row", "1 − ", step) for step in steps]
            steps = [("paren", step) for step in steps]
    else:
        below = "hits + edits" if name == "MER" else "reference tokens"
        whole = reference + system["insertions"] if name == "MER" else reference
        steps = [("frac", "edits", below), ("frac", str(edits), str(whole))]
    left = (name, "")
    lines = [(one, ("row", "100 · ", step)) for one, step in zip(left, steps, strict=True)]
    return [*lines, ("", score)]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its edits token by token, and how many of each kind there are."""
    if "alignment" in system:
        yield from edit_layout.blocks(
            system["alignment"], level, TOKEN, ("reference", "hypothesis")
        )
    yield Heading(level, f"Edits: {system['edits']:,}")
    rows = [[name, f"{system[name]:,}"] for name in EDIT_COLUMNS]
    rows += [[f"tokens of the {name.partition('_')[0]}", f"{system[name]:,}"] for name in LENGTHS]
    yield Table.from_text_rows(["kind", "number"], rows)
    if content["kind"] == "corpus" or len(content["references"]) > 1:
        yield Paragraph("Of several references, the one with the best score counts.")


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The meaning of such a score."""
    return f": {READINGS[system['measure']]}"
