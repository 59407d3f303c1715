"""One text scored by every member of the family: a table, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from truebleu.bleu_family.shared_statistics import Text
from truebleu.metrics.base import Score
from truebleu.text.corpus_inputs import Hypotheses, References
from truebleu.text.record import Picklable, Record
from truebleu.text.terminal_layout import format_table

if TYPE_CHECKING:
    from truebleu.bleu_family.family_member import Member


class Row(Record):
    """A member and its score, or why it has none."""

    member: Member
    score: Score | None
    problem: str | None = None

    def __repr__(self) -> str:
        return f"<{self.member.name}: {self.problem or self.printed}>"

    @property
    def value(self) -> float | None:
        """The score, 0-100."""
        return None if self.score is None else self.score.value

    @property
    def printed(self) -> str:
        """The number as the member prints it; nothing without one."""
        return "" if self.score is None else self.member.printed(self.score)

    @property
    def printed_short(self) -> str:
        """The same in few places."""
        return self.printed if len(self.printed) < 12 else f"{self.printed[:9]}..."

    @property
    def label(self) -> str:
        """The member's name, marked if it has a known defect."""
        return f"{self.member.name} !" if self.member.defect else self.member.name

    @property
    def shown(self) -> str:
        """The score with four digits; a dash without one."""
        return "-" if self.value is None else f"{self.value:.4f}"

    @property
    def bounded(self) -> bool:
        """True if the score has an upper bound, as BLEU's."""
        return self.member.metric.bound is not None

    @property
    def notes(self) -> str:
        """Why there is no score, or what differs from sacreBLEU's default."""
        return self.problem or ", ".join(self.member.differences) or "the default"

    def to_dict(self) -> dict[str, Any]:
        """Everything, in words and numbers."""
        member = self.member
        known: dict[str, Any] = {"member": member.name, "title": member.title, "score": self.value}
        if self.score is None:
            return {**known, "problem": self.problem}
        return {
            **known,
            "printed": self.printed,
            "scale": member.scale,
            "bounded": self.bounded,
            "defect": member.defect,
            "differences": member.differences,
            "signature": str(self.score.signature),
        }


class FamilyScores(Picklable):
    """Rows of members and scores, the highest score first.

    Scores without an upper bound come behind those with one, and members without a score last.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(
            rows, key=lambda row: (row.value is None, not row.bounded, -(row.value or 0.0))
        )

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.member.name == name:
                return row
        raise KeyError(f"'{name}' was not asked for")

    def __repr__(self) -> str:
        return f"<{len(self.rows)} members of the family>"

    def __str__(self) -> str:
        told = [format_table(self.cells(bounded=True), right=(1, 2))]
        if not all(row.bounded for row in self.rows):
            told += [
                "\nWithout an upper bound:",
                format_table(self.cells(bounded=False), right=(1, 2)),
            ]
        return "\n".join([*told, *self.defects()])

    def cells(self, *, bounded: bool) -> list[list[str]]:
        """A header and a row per member: name, score, what it prints, what differs.

        bounded: members whose scores have an upper bound, or the others. A known defect is marked.
        """
        rows = [row for row in self.rows if row.bounded == bounded]
        return [
            ["member", "0-100" if bounded else "score", "it prints", "differs in"],
            *([row.label, row.shown, row.printed_short, row.notes] for row in rows),
        ]

    def defects(self) -> list[str]:
        """The known defects of members, a line each."""
        return [f"! {row.member.name}: {row.member.defect}" for row in self if row.member.defect]

    def to_dict(self) -> list[dict[str, Any]]:
        """A dictionary per row."""
        return [row.to_dict() for row in self.rows]


def score(
    members: Iterable[Member],
    hypotheses: Hypotheses,
    references: References,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> FamilyScores:
    """The scores of some members. Raises InputError for text that no member can score."""
    text = Text(hypotheses, references, workers)
    # A fault of the text itself is no fault of a member.
    text.counts("none" if text.is_tokens else "13a", False)
    rows = []
    for member in (chosen := list(members)):
        rows.append(_row(member, text))
        if progress is not None:
            progress(len(rows), len(chosen))
    return FamilyScores(rows)


def _row(member: Member, text: Text) -> Row:
    try:
        return Row(member, text.score(member.metric))
    except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError) as error:
        return Row(member, None, str(error).partition("\n")[0])
