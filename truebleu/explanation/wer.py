"""Explanation of WER, MER, WIL, WIP and CER: hits and edits of the best alignment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from truebleu.explanation import edit_layout
from truebleu.metrics.wer import EDIT_COLUMNS, EditScore
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content

if TYPE_CHECKING:
    from truebleu.explanation.naive_bleu import ExplanationCase
    from truebleu.rendering.equations import Equation, Node

TOKEN = "token"
BEST_REFERENCE_SENTENCE = "Reference {} is used because it has the best score."
LENGTH_KEYS = ("reference_length", "hypothesis_length")

SCALE_DESCRIPTIONS = {
    "WER": "edits per {count}word{s} of the references. Lower is better: 0 is the best score, and "
    "scores may exceed {maximum}.",
    "CER": "edits per {count}character{s} of the references. Lower is better: 0 is the best score, "
    "and scores may exceed {maximum}.",
    "MER": "edits divided by hits plus edits{unit}. Lower is better: 0 is the best score.",
    "WIL": "word information lost. Lower is better: 0 is the best score.",
    "WIP": "word information preserved. Higher is better: {maximum} is the best score.",
}


def split_text(metric: Any, text: str) -> list[str]:
    """Split a text into the words or characters that the metric counts."""
    words: list[str] = metric.tokenize_text(text)
    return words


def explain_segment(case: ExplanationCase[Any, EditScore]) -> dict[str, Any]:
    """Return the explanation of a segment with the reference that gives the best score."""
    hypothesis, *references = case.texts
    alignment = case.metric.alignment(hypothesis, references)
    return {
        **_describe_system(case),
        "reference": case.references[alignment.reference_index][0],
        "tokens": list(alignment.hypothesis),
        "alignment": edit_layout.describe_alignment(alignment),
    }


def explain_corpus(case: ExplanationCase[Any, EditScore]) -> dict[str, Any]:
    """Return the explanation of a corpus."""
    return _describe_system(case)


def _describe_system(case: ExplanationCase[Any, EditScore]) -> dict[str, Any]:
    names = (*EDIT_COLUMNS, "edits", *LENGTH_KEYS)
    counts = {name: getattr(case.score, name) for name in names}
    return {"measure": case.score.name, "fraction": case.score.fraction, **counts}


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {name: system[name] for name in ("edits", *EDIT_COLUMNS)}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the computation of the score from its counts."""
    name, hits, edits = (system[key] for key in ("measure", "hits", "edits"))
    reference, hypothesis = (system[key] for key in LENGTH_KEYS)
    factor, digits = ("", 4) if system.get("scale") == 1 else ("100 · ", 2)
    score = format_number(system["score"], digits)
    if not reference:
        return [(name, f"{score}, because the references have no tokens")]
    if name in ("WIL", "WIP"):
        if not hypothesis:
            return [(name, f"{score}, because the hypotheses have no tokens")]
        labels = ("hits", "reference tokens", "hypothesis tokens")
        steps: list[Node] = [
            ("row", ("frac", over, one), " · ", ("frac", over, other))
            for over, one, other in (labels, (str(hits), str(reference), str(hypothesis)))
        ]
        if name == "WIL":
            steps = [("row", "1 − ", step) for step in steps]
            steps = [("paren", step) for step in steps]
    else:
        denominator = "hits + edits" if name == "MER" else "reference tokens"
        denominator_count = reference + system["insertions"] if name == "MER" else reference
        steps = [("frac", "edits", denominator), ("frac", str(edits), str(denominator_count))]
    left = (name, "")
    lines = [(one, ("row", factor, step)) for one, step in zip(left, steps, strict=True)]
    return [*lines, ("", score)]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield the edit operations, and the number of edits of each kind."""
    if "alignment" in system:
        yield from edit_layout.build_edit_layout(
            system["alignment"], level, TOKEN, ("reference", "hypothesis")
        )
    yield Heading(level, f"Edits: {system['edits']:,}")
    rows = [[name, f"{system[name]:,}"] for name in EDIT_COLUMNS]
    rows += [[f"{name.partition('_')[0]} tokens", f"{system[name]:,}"] for name in LENGTH_KEYS]
    yield Table.from_text_rows(["kind", "number"], rows)
    if content["kind"] == "corpus" or len(content["references"]) > 1:
        yield Paragraph("With several references, the reference with the best score is used.")


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return a sentence about the scale."""
    wording = {"count": "100 ", "s": "s", "maximum": "100", "unit": ", in per cent"}
    if system.get("scale") == 1:
        wording = {"count": "", "s": "", "maximum": "1", "unit": ""}
    return f": {SCALE_DESCRIPTIONS[system['measure']].format(**wording)}"
