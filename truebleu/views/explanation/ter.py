"""The parts of a TER score: the edits that make the hypothesis a reference."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from truebleu.metrics.ter_alignment import MARKS
from truebleu.text.layout import count
from truebleu.text.segments import pairs
from truebleu.views.explanation.ngram_blocks import first_segments
from truebleu.views.rendering.blocks import Cell, Heading, Paragraph, Table, Words
from truebleu.views.rendering.numbers import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from truebleu.metrics.ter import TER, TERScore
    from truebleu.metrics.ter_alignment import Alignment
    from truebleu.views.explanation.counting import Case
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.equations import Equation
    from truebleu.views.rendering.view import Content

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
        "reference": case.references[alignment.chosen][0],
        "tokens": list(alignment.hypothesis),
        "alignment": {
            "hypothesis": list(alignment.hypothesis),
            "reference": list(alignment.reference),
            "shifts": [
                {**shift._asdict(), "words": list(block)} for shift, block in alignment.moves()
            ],
            "operations": [one._asdict() for one in alignment.operations],
        },
    }


def of_corpus(case: Case[TER, TERScore]) -> dict[str, Any]:
    """The explanation of a corpus; the kinds of edits are those of the first segments."""
    kinds: Counter[str] = Counter()
    looked_into = 0
    for hypothesis, others in islice(pairs(case.hypothesis, case.references), ALIGNED):
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
        return [("TER", f"{number(system['score'])}, because there is no word in any reference")]
    return [
        ("TER", ("row", "100 · ", ("frac", "edits", "reference words"))),
        ("", ("row", "100 · ", ("frac", str(system["edits"]), number(length, 2)))),
        ("", number(system["score"], 2)),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its edits word by word, and how many of each kind there are."""
    if "alignment" in system:
        yield from _alignment(system["alignment"], level)
    yield Heading(level, f"Edits: {system['edits']:,}")
    yield from first_segments(system, "Kinds of")
    yield Table.of(["kind", "edits"], [[kind, f"{n:,}"] for kind, n in system["kinds"].items()])
    if content["kind"] == "corpus" or len(content["references"]) > 1:
        yield Paragraph("Of several references, their mean length counts.")


def _alignment(alignment: Content, level: int) -> Iterator[Block]:
    """The hypothesis as it was and, if words moved, after the shifts; then each edit."""
    mine, theirs = alignment["hypothesis"], alignment["reference"]
    operations = alignment["operations"]
    legend = "Below each token: S is substituted, D deleted; insertions are in the table."
    told = [one for one in operations if one["hypothesis"] is not None]
    label = f"Hypothesis, {count(len(mine), TOKEN)}"
    if alignment["shifts"]:
        yield Words(label, mine)
        label = "After the shifts"
    yield Words(
        label,
        [mine[one["hypothesis"]] for one in told],
        [MARKS[one["kind"]] for one in told],
        [4 if one["kind"] == "match" else 0 for one in told],
        {i for i, one in enumerate(told) if one["kind"] != "match"},
        [one["kind"] for one in told],
        legend if told else "",
    )
    rows: list[list[str | Cell]] = []
    for shift in alignment["shifts"]:
        way = "left" if shift["target"] < shift["start"] else "right"
        far = abs(shift["target"] - shift["start"])
        words = Cell(" ".join(shift["words"]), code=True)
        rows.append(["shift", words, f"by {far} to the {way}"])
    for one in operations:
        if one["kind"] != "match":
            ours = "" if one["hypothesis"] is None else mine[one["hypothesis"]]
            other = "" if one["reference"] is None else theirs[one["reference"]]
            rows.append([one["kind"], Cell(ours, code=True), Cell(other, code=True)])
    yield Heading(level, "Each edit")
    if rows:
        yield Table.of(["edit", "hypothesis", "becomes"], rows, (0, 1, 2))
    else:
        yield Paragraph("None: the hypothesis is the reference.")


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The meaning of such a score."""
    return (
        ": edits per 100 words of the references. 0 is best, lower is better, and it may exceed "
        "100."
    )
