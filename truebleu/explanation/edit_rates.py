"""Explanation of TER and of error rates (WER, MER, WIL, WIP, CER): the edits of an alignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from truebleu.explanation.naive_bleu import ExplanationCase
from truebleu.explanation.ngram_layout import describe_examined_part
from truebleu.metrics.ter_alignment import EDIT_MARKS, Alignment
from truebleu.metrics.wer import EDIT_COLUMNS
from truebleu.rendering.elements import Block, Cell, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.equations import Equation, Node
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments
from truebleu.text.terminal_layout import format_count

# Kinds of TER's edits. Error rates have no shifts.
EDIT_KINDS = ("shift", "substitution", "deletion", "insertion")
LENGTH_KEYS = ("reference_length", "hypothesis_length")

# Maximum number of segments that are aligned to count TER's edits by kind.
MAX_ALIGNED_SEGMENTS = 2000

_RATE_DESCRIPTION = (
    "edits per {{count}}{}{{s}} of the references. Lower is better: 0 is the best score, and "
    "scores may exceed {{maximum}}."
)
SCALE_DESCRIPTIONS = {
    "TER": _RATE_DESCRIPTION.format("word"),
    "WER": _RATE_DESCRIPTION.format("word"),
    "CER": _RATE_DESCRIPTION.format("character"),
    "MER": "edits divided by (hits + edits){unit}. Lower is better: 0 is the best score.",
    "WIL": "word information lost. Lower is better: 0 is the best score.",
    "WIP": "word information preserved. Higher is better: {maximum} is the best score.",
}


def split_text(metric: Any, text: str) -> list[str]:
    """Split a text into the words or characters that the metric counts."""
    if metric.NAME == "TER":
        return list(metric.alignment("", [text]).reference)
    return metric.tokenize_text(text)  # type: ignore[no-any-return]


def explain_segment(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    """Return the explanation of a segment with the reference that gives the best score."""
    hypothesis, *references = case.texts
    alignment = case.metric.alignment(hypothesis, references)
    return {
        **_describe_system(case, [alignment]),
        "reference": case.references[alignment.reference_index][0],
        "tokens": list(alignment.hypothesis),
        "alignment": {
            "hypothesis": list(alignment.hypothesis),
            "reference": list(alignment.reference),
            "shifts": [
                {**shift._asdict(), "words": list(block)} for shift, block in alignment.list_moves()
            ],
            "operations": [one._asdict() for one in alignment.operations],
        },
    }


def explain_corpus(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    """Return the explanation of a corpus. For TER, count the first segments' edits by kind."""
    if case.metric.NAME != "TER":
        return _describe_system(case, ())
    segments = list(islice(iter_segments(case.hypothesis, case.references), MAX_ALIGNED_SEGMENTS))
    alignments = (case.metric.alignment(*segment) for segment in segments)
    return {**_describe_system(case, alignments), "looked_into": len(segments)}


def _describe_system(
    case: ExplanationCase[Any, Any], alignments: Iterable[Alignment]
) -> dict[str, Any]:
    """Return the counts of a score. TER counts each kind of edit in the alignments."""
    score = case.score
    if case.metric.NAME != "TER":
        counts = {name: getattr(score, name) for name in (*EDIT_COLUMNS, "edits", *LENGTH_KEYS)}
        return {"measure": score.name, "fraction": score.fraction, **counts}
    kinds: Counter[str] = Counter()
    for alignment in alignments:
        kinds.update(operation.kind for operation in alignment.operations)
        kinds["shift"] += len(alignment.shifts)
    return {
        "edits": score.edits,
        "reference_length": score.reference_length,
        "kinds": {kind: kinds[kind] for kind in EDIT_KINDS},
    }


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    if "kinds" in system:
        return {"edits": system["edits"]} | {f"{kind}s": n for kind, n in system["kinds"].items()}
    return {name: system[name] for name in ("edits", *EDIT_COLUMNS)}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the formula that computes the score from its counts."""
    name, edits, reference = system.get("measure", "TER"), system["edits"], system[LENGTH_KEYS[0]]
    token = "words" if name == "TER" else "tokens"
    factor, digits = ("", 4) if system.get("scale") == 1 else ("100 · ", 2)
    score = format_number(system["score"], digits)
    if not reference:
        return [(name, f"{score}, because the references have no {token}")]
    if name in ("WIL", "WIP"):
        hits, hypothesis = system["hits"], system[LENGTH_KEYS[1]]
        if not hypothesis:
            return [(name, f"{score}, because the hypotheses have no tokens")]
        labels = ("hits", "reference tokens", "hypothesis tokens")
        steps: list[Node] = [
            ("row", ("frac", over, one), " · ", ("frac", over, other))
            for over, one, other in (labels, (str(hits), str(reference), str(hypothesis)))
        ]
        if name == "WIL":
            steps = [("paren", ("row", "1 − ", step)) for step in steps]
    else:
        denominator = "hits + edits" if name == "MER" else f"reference {token}"
        denominator_count = reference + system["insertions"] if name == "MER" else reference
        steps = [
            ("frac", "edits", denominator),
            ("frac", str(edits), format_number(denominator_count, 2)),
        ]
    lines = [(one, ("row", factor, step)) for one, step in zip((name, ""), steps, strict=True)]
    return [*lines, ("", score)]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield the edit operations and the number of edits of each kind."""
    is_ter = "kinds" in system
    if "alignment" in system:
        yield from _build_edit_layout(system["alignment"], level, is_ter=is_ter)
    yield Heading(level, f"Edits: {system['edits']:,}")
    if is_ter:
        yield from describe_examined_part(system, "Kinds of edits in")
        counts, header, reference_rule = system["kinds"], "edits", "mean reference length"
    else:
        names = {name: name for name in EDIT_COLUMNS}
        names |= {name: f"{name.partition('_')[0]} tokens" for name in LENGTH_KEYS}
        counts, header = {title: system[name] for name, title in names.items()}, "number"
        reference_rule = "reference with the best score"
    rows = [[title, f"{n:,}"] for title, n in counts.items()]
    yield Table.from_text_rows(["kind", header], rows)
    if content["kind"] == "corpus" or len(content["references"]) > 1:
        yield Paragraph(f"With several references, the {reference_rule} is used.")


def _build_edit_layout(alignment: Content, level: int, *, is_ter: bool) -> Iterator[Block]:
    """Yield the hypothesis, the hypothesis after any shifts, and the list of edits.

    TER edits the hypothesis; error rates edit the reference.
    """
    hypothesis, operations = alignment["hypothesis"], alignment["operations"]
    sides = ("hypothesis", "reference") if is_ter else ("reference", "hypothesis")
    # The first kind of edit is shown at hypothesis tokens; the second kind is shown only at
    # reference tokens.
    own_edits, other_edits = "I (inserted)", "deletions"
    if is_ter:
        own_edits, other_edits = "D (deleted)", "insertions"
    shown_operations = [one for one in operations if one["hypothesis"] is not None]
    label = f"Hypothesis, {format_count(len(hypothesis), 'word' if is_ter else 'token')}"
    if alignment["shifts"]:
        yield MarkedTokens(label, hypothesis)
        label = "After the shifts"
    yield MarkedTokens(
        label,
        [hypothesis[one["hypothesis"]] for one in shown_operations],
        [EDIT_MARKS[one["kind"]] for one in shown_operations],
        [4 if one["kind"] == "match" else 0 for one in shown_operations],
        {i for i, one in enumerate(shown_operations) if one["kind"] != "match"},
        [one["kind"] for one in shown_operations],
        f"Below each token: S (substituted), {own_edits}. The table also lists {other_edits}."
        if shown_operations
        else "",
    )
    rows: list[list[str | Cell]] = []
    for shift in alignment["shifts"]:
        direction = "left" if shift["target"] < shift["start"] else "right"
        distance = abs(shift["target"] - shift["start"])
        words = Cell(" ".join(shift["words"]), code=True)
        rows.append(["shift", words, f"by {distance} to the {direction}"])
    for operation in operations:
        if operation["kind"] != "match":
            side_words = (
                "" if operation[side] is None else alignment[side][operation[side]]
                for side in sides
            )
            rows.append([operation["kind"], *(Cell(word, code=True) for word in side_words)])
    yield Heading(level, "Edit operations")
    if rows:
        yield Table.from_text_rows(["edit", sides[0], "becomes"], rows, (0, 1, 2))
    else:
        yield Paragraph("None: the hypothesis equals the reference.")


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return a sentence that describes the scale of the score."""
    wording = {"count": "100 ", "s": "s", "maximum": "100", "unit": ", as a percentage"}
    if system.get("scale") == 1:
        wording = {"count": "", "s": "", "maximum": "1", "unit": ""}
    return f": {SCALE_DESCRIPTIONS[system.get('measure', 'TER')].format(**wording)}"
