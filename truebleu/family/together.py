"""One text scored by every member of the family: a table, and how it is written."""

from __future__ import annotations

from truebleu.family.counts import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from truebleu.family.member import Member
    from truebleu.inputs import Hypotheses, References
    from truebleu.metric import Score


class Row:
    """A member and its score, or why it has none."""

    __slots__ = ("member", "problem", "score")

    def __init__(self, member: Member, score: Score | None, problem: str | None = None) -> None:
        self.member = member
        self.score = score
        self.problem = problem

    def __repr__(self) -> str:
        return f"<{self.member.name}: {self.problem or self.member.printed(self._known)}>"

    @property
    def _known(self) -> Score:
        assert self.score is not None
        return self.score

    @property
    def value(self) -> float | None:
        """The score, 0-100."""
        return None if self.score is None else self.score.value

    @property
    def printed(self) -> str:
        """The number as the member prints it; nothing without one."""
        return "" if self.score is None else self.member.printed(self.score)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in words and numbers."""
        member = self.member
        known: dict[str, Any] = {"member": member.name, "title": member.title}
        if self.score is None:
            return {**known, "score": None, "problem": self.problem}
        return {
            **known,
            "score": self.score.value,
            "printed": self.printed,
            "scale": member.scale,
            "differences": member.differences,
            "signature": str(self.score.signature),
        }


class Together:
    """Rows of members and scores, the highest score first, those without one last."""

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: (row.value is None, -(row.value or 0.0)))

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
        return self.text()

    def cells(self) -> list[list[str]]:
        """A header and a row a member: name, score 0-100, what it prints, what differs."""
        table = [["member", "0-100", "it prints", "differs in"]]
        for row in self.rows:
            number = "-" if row.value is None else f"{row.value:.4f}"
            shown = row.printed if len(row.printed) < 12 else f"{row.printed[:9]}..."
            notes = row.problem or ", ".join(row.member.differences) or "the default"
            table.append([row.member.name, number, shown, notes])
        return table

    def text(self) -> str:
        """A table for a terminal."""
        return aligned(self.cells(), right=(1, 2))

    def markdown(self) -> str:
        """A table in Markdown."""
        return markdown(self.cells(), right=(1, 2))

    def to_dict(self) -> list[dict[str, Any]]:
        """A dictionary a row."""
        return [row.to_dict() for row in self.rows]


def score(
    members: Iterable[Member],
    hypotheses: Hypotheses,
    references: References,
    *,
    workers: int = 1,
) -> Together:
    """The scores of some members. Raises InputError for text that no member can score."""
    text = Text(hypotheses, references, workers)
    # What is wrong with the text itself is not wrong with a member.
    text.counts("none" if text.is_tokens else "13a", False)
    return Together([_row(member, text) for member in members])


def _row(member: Member, text: Text) -> Row:
    try:
        return Row(member, text.score(member.metric))
    except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError) as error:
        return Row(member, None, str(error).partition("\n")[0])


def aligned(table: list[list[str]], right: tuple[int, ...] = ()) -> str:
    """Lines of a table with a rule under its header; some columns to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    lines.insert(1, "-" * max(map(len, lines)))
    return "".join(f"{line}\n" for line in lines)


def markdown(table: list[list[str]], right: tuple[int, ...] = ()) -> str:
    """The same in Markdown."""
    cells = [[cell.replace("|", r"\|") for cell in row] for row in table]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * (w - 1) + ":" if i in right else "-" * w for i, w in enumerate(widths)]
    lines = [
        [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in cells
    ]
    lines.insert(1, rule)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
