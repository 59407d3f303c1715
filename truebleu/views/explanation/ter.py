"""What is explained of a TER score: the edits that make the hypothesis a reference."""

from __future__ import annotations

from collections import Counter

from truebleu.metrics.ter_alignment import MARKS
from truebleu.text.layout import count
from truebleu.text.segments import pairs
from truebleu.views.rendering.blocks import Cell, Equations, Heading, Paragraph, Table, Words
from truebleu.views.rendering.equations import as_text
from truebleu.views.rendering.numbers import number, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.metrics.ter import TER, TERScore
    from truebleu.metrics.ter_alignment import Alignment
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.equations import Equation
    from truebleu.views.rendering.numbers import Write

    Content = Mapping[str, Any]

TOKEN = "word"
KINDS = ("shift", "substitution", "deletion", "insertion")

# So many segments of a corpus are aligned to tell the kinds of edits.
ALIGNED = 2000


def tokens(metric: TER, text: str) -> list[str]:
    """The words that are counted."""
    return list(metric.alignment("", [text]).reference)


def of_pair(
    metric: TER,
    score: TERScore,
    hypothesis: str,
    references: Sequence[str | None],
    *,
    recall: bool,
) -> dict[str, Any]:
    """What there is to say of one hypothesis and the reference that takes the fewest edits."""
    del recall
    alignment = metric.alignment(hypothesis, list(references))
    return {
        **_system(score, _kinds(alignment)),
        "reference": alignment.chosen + 1,
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


def of_corpus(
    metric: TER, score: TERScore, hypotheses: Any, references: Any, *, recall: bool
) -> dict[str, Any]:
    """What there is to say of a corpus; the kinds of edits are those of the first segments."""
    del recall
    kinds: Counter[str] = Counter()
    looked_into = 0
    for looked_into, (hypothesis, others) in enumerate(pairs(hypotheses, references), 1):
        kinds.update(_kinds(metric.alignment(hypothesis, others)))
        if looked_into == ALIGNED:
            break
    return {**_system(score, kinds), "looked_into": looked_into}


def _kinds(alignment: Alignment) -> Counter[str]:
    kinds = Counter(kind for kind, _, _ in alignment.operations)
    kinds["shift"] = len(alignment.shifts)
    return kinds


def _system(score: TERScore, kinds: Counter[str]) -> dict[str, Any]:
    system = {
        "edits": score.edits,
        "reference_length": score.reference_length,
        "kinds": {kind: kinds[kind] for kind in KINDS},
    }
    system["formula"] = as_text(_formula({**system, "score": score.value}))
    return system


def difference(
    metric: TER,  # noqa: ARG001
    first: dict[str, Any],
    second: dict[str, Any],
    *,
    corpus: bool,  # noqa: ARG001
) -> dict[str, Any]:
    """The differences of edits, kind by kind."""
    return {
        "edits": second["edits"] - first["edits"],
        "kinds": {kind: second["kinds"][kind] - first["kinds"][kind] for kind in KINDS},
    }


# ---- blocks ----


def _formula(system: Content) -> list[Equation]:
    if not system["reference_length"]:
        why = "no word in any reference"
        return [("TER", f"{number(system['score'])}, because there is {why}")]
    return [
        ("TER", ("row", "100 · ", ("frac", "edits", "reference words"))),
        (
            "",
            (
                "row",
                "100 · ",
                ("frac", str(system["edits"]), number(system["reference_length"], 2)),
            ),
        ),
        ("", number(system["score"], 2)),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its edits word by word, how many of each kind there are, and the formula."""
    if "alignment" in system:
        if len(content["references"]) > 1:
            yield Paragraph(
                f"Of the references, number {system['reference']} takes the fewest edits."
            )
        yield from _alignment(system["alignment"], level)
    yield Heading(level, f"Edits: {system['edits']:,}")
    if system.get("looked_into", system.get("segments")) != system.get("segments"):
        yield Paragraph(f"Kinds of the first {system['looked_into']:,} segments:")
    yield Table.of(["kind", "edits"], [[kind, f"{n:,}"] for kind, n in system["kinds"].items()])
    yield Heading(level, "The formula")
    yield Equations(_formula(system))
    mean = content["kind"] == "corpus" or len(content["references"]) > 1
    if mean:
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
        [i for i, one in enumerate(told) if one["kind"] != "match"],
        [one["kind"] for one in told],
        legend,
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


def compared(content: Content, write: Write) -> Iterator[Block]:
    """Two systems beside each other."""
    rows = [
        [system["name"], write(system["score"]), f"{system['edits']:,}"]
        + [f"{system['kinds'][kind]:,}" for kind in KINDS]
        for system in content["systems"]
    ]
    one = content["comparison"]
    rows.append(
        ["difference", signed(write)(one["difference"]), f"{one['edits']:+,}"]
        + [f"{one['kinds'][kind]:+,}" for kind in KINDS]
    )
    made = Table.of(["system", "TER", "edits", *(f"{kind}s" for kind in KINDS)], rows)
    made.sums = True
    yield made


def reading(content: Content, write: Write) -> Iterator[Block]:
    """What such a score says."""
    for system in content["systems"]:
        name = f"{system['name']}: " if len(content["systems"]) > 1 else ""
        yield Paragraph(
            f"{name}TER = {write(system['score'])}: edits per 100 words of the references. 0 is "
            "best, lower is better, and it may exceed 100."
        )
