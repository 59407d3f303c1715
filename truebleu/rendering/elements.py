"""The blocks of a view: headings, paragraphs, tables, marked words, equations, charts.

Each format writes these few kinds of block its own way, and decides nothing else. Characters that
do not show are written out here, once for all formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truebleu.text.record import Record
from truebleu.text.terminal_layout import escape_invisible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, dataclass_transform

    from truebleu.rendering.equations import Equation

    # Text in which everything shows.
    Shown = str
else:

    def dataclass_transform() -> object:  # noqa: D103
        return lambda cls: cls


# What is made of a field, by the kind that it is declared as.
SHOWN: Mapping[str, Callable[[Any], Any]] = {
    "Shown": escape_invisible,
    "Sequence[Shown]": lambda texts: list(map(escape_invisible, texts)),
}


@dataclass_transform()
class Fields(Record):
    """A record of what is drawn. What is declared as `Shown` is made so."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        fields = vars(self)
        for name in fields:
            shown = SHOWN.get(self.__annotations__[name])
            if shown is not None:
                fields[name] = shown(fields[name])


class Heading(Fields):
    """A heading; level 1 is the title."""

    level: int
    text: Shown


class Paragraph(Fields):
    """A paragraph: "plain", a "lead" or "caution"; one line of a list, a "note"; or a "signature".

    Notes and signatures that follow each other stay together.
    """

    text: Shown
    kind: str = "plain"


class Cell:
    """A cell of a table: text, letters raised behind it, and its meaning.

    mark: "better" or "worse" for a significant difference, "best" for the first system, "baseline"
        for what the others are compared with, or nothing.
    code: for n-grams and signatures.
    beside, below: small text behind it, and on a line of its own; in HTML alone.
    href: where the text leads to, in HTML; elsewhere the text is all.
    """

    # There are many.
    __slots__ = ("below", "beside", "code", "href", "mark", "raised", "text")

    def __init__(
        self,
        text: str,
        raised: str = "",
        mark: str = "",
        *,
        code: bool = False,
        beside: str = "",
        below: str = "",
        href: str = "",
    ) -> None:
        self.text = escape_invisible(text)
        self.raised = raised
        self.mark = mark
        self.code = code
        self.beside = beside
        self.below = below
        self.href = href


class Range(Fields):
    """An interval to be drawn beside others, on a line from `least` to `most` that has 0 on it.

    Without an interval (the low end, the value, the high end) it is an empty line: the baseline's.
    """

    least: float
    most: float
    interval: tuple[float, float, float] | None = None
    mark: str = ""

    def place(self, value: float, width: float) -> float:
        """Where a value lies, from 0 to `width`."""
        return (value - self.least) / (self.most - self.least) * width


class Column(Fields):
    """A column of a table: its header, which side its cells are set to, and its group.

    Columns of the group "" name the rows; the others may be set below each other, a group together.
    about: what it means, for whoever points at it. drawn: its cells are ranges, which say once more
    what is written. over: a header above it and its neighbours of the same; full: the header where
    there is room for more words. Both are of HTML alone.
    """

    header: Shown
    group: str = ""
    left: bool = False
    about: str = ""
    drawn: bool = False
    over: Shown = ""
    full: Shown = ""


class Table(Fields):
    """A table; `sums` says that its last row is the sum of the others.

    caption: what it is called, where it stands alone. fold: what a long one is hidden behind.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell | Range]]
    caption: Shown = ""
    fold: str = ""
    sums: bool = False

    @classmethod
    def of(
        cls,
        header: Sequence[str],
        rows: Iterable[Sequence[str | Cell]],
        left: Iterable[int] = (0,),
        *,
        fold: str = "",
        sums: bool = False,
    ) -> Table:
        """A table of a header and rows of text; `left` are the columns of words."""
        words = frozenset(left)
        columns = [
            Column(name, "" if i == 0 else "more", left=i in words) for i, name in enumerate(header)
        ]
        made = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
        return cls(columns, made, fold=fold, sums=sums)

    def written(self) -> tuple[list[Column], list[list[Cell]]]:
        """The columns and rows of what can be written, without drawings."""
        kept = [i for i, column in enumerate(self.columns) if not column.drawn]
        rows = [[cell for cell in row if isinstance(cell, Cell)] for row in self.rows]
        return [self.columns[i] for i in kept], rows


class Words(Fields):
    """Tokens in a line, each with a mark of its own; `legend` says what the marks mean.

    A mark is a short text below the token, and how strong its colour is, 0 to 4, from none to full;
    `cut` are the tokens that are underlined. `tips` say what a mark means, token by token.
    """

    label: Shown
    tokens: Sequence[Shown]
    marks: Sequence[str] = ()
    strengths: Sequence[int] = ()
    cut: Collection[int] = ()
    tips: Sequence[str] = ()
    legend: str = ""


class Equations(Fields):
    """A formula, line by line, with its numbers."""

    equations: Sequence[Equation]


class Point(Fields):
    """A value in a chart, perhaps with an interval; `about` says what it is.

    seconds: its time, from whenever. href: where it leads to, in HTML.
    """

    value: float
    when: str
    about: Shown = ""
    low: float | None = None
    high: float | None = None
    seconds: float = 0.0
    href: str = ""


class Chart(Fields):
    """Values over time, with `digits` after the point; `name` is what they are of.

    In HTML the axis is of time itself; in text each value is as far from the next.
    """

    points: Sequence[Point]
    digits: int
    name: Shown = ""


class Facts(Fields):
    """Names and what they stand for."""

    pairs: Sequence[tuple[str, Cell]]


def warnings_of(content: Mapping[str, Any]) -> list[Paragraph]:
    """Return a paragraph per warning of a result, to stand above its tables."""
    return [Paragraph(f"Warning: {one['text']}", "caution") for one in content.get("warnings", ())]


Block = Heading | Paragraph | Table | Words | Equations | Chart | Facts


# ---- of HTML alone ----


class Panel(Fields):
    """Intervals of rows on an axis of their own: the low end, the value, the high end, or None.

    marks: "better" or "worse" for what is significant. backwards: the axis runs to the left. zero:
    it has 0 on it, which stands for a row without an interval: what the others are compared with.
    """

    title: Shown
    ranges: Sequence[tuple[float, float, float] | None]
    marks: Sequence[str]
    backwards: bool = False
    zero: bool = True


class Forest(Fields):
    """A forest plot: a row a name, and panels beside each other."""

    caption: Shown
    names: Sequence[Shown]
    panels: Sequence[Panel]


class Fold(Fields):
    """What stands behind a line that is clicked."""

    text: Shown
    blocks: Sequence[Drawn]


Drawn = Block | Forest | Fold
