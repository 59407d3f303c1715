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
    VisibleText = str
else:

    def dataclass_transform() -> object:  # noqa: D103
        return lambda cls: cls


# What is made of a field, by the kind that it is declared as.
FIELD_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "VisibleText": escape_invisible,
    "Sequence[VisibleText]": lambda texts: list(map(escape_invisible, texts)),
}


@dataclass_transform()
class ElementRecord(Record):
    """A record of what is drawn. What is declared as `Shown` is made so."""

    def __init__(self, *values: Any, **keyword_values: Any) -> None:
        super().__init__(*values, **keyword_values)
        fields = vars(self)
        for name in fields:
            convert = FIELD_CONVERTERS.get(self.__annotations__[name])
            if convert is not None:
                fields[name] = convert(fields[name])


class Heading(ElementRecord):
    """A heading; level 1 is the title."""

    level: int
    text: VisibleText


class Paragraph(ElementRecord):
    """A paragraph: "plain", a "lead" or "caution"; one line of a list, a "note"; or a "signature".

    Notes and signatures that follow each other stay together.
    """

    text: VisibleText
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
    __slots__ = ("code", "href", "mark", "raised", "second_line", "suffix", "text")

    def __init__(
        self,
        text: str,
        raised: str = "",
        mark: str = "",
        *,
        code: bool = False,
        suffix: str = "",
        second_line: str = "",
        href: str = "",
    ) -> None:
        self.text = escape_invisible(text)
        self.raised = raised
        self.mark = mark
        self.code = code
        self.suffix = suffix
        self.second_line = second_line
        self.href = href


class Range(ElementRecord):
    """An interval to be drawn beside others, on a line from `least` to `most` that has 0 on it.

    Without an interval (the low end, the value, the high end) it is an empty line: the baseline's.
    """

    minimum: float
    maximum: float
    interval: tuple[float, float, float] | None = None
    mark: str = ""

    def locate(self, value: float, width: float) -> float:
        """Where a value lies, from 0 to `width`."""
        return (value - self.minimum) / (self.maximum - self.minimum) * width


class Column(ElementRecord):
    """A column of a table: its header, which side its cells are set to, and its group.

    Columns of the group "" name the rows; the others may be set below each other, a group together.
    about: what it means, for whoever points at it. drawn: its cells are ranges, which say once more
    what is written. over: a header above it and its neighbours of the same; full: the header where
    there is room for more words. Both are of HTML alone.
    """

    header: VisibleText
    group: str = ""
    is_left_aligned: bool = False
    tooltip: str = ""
    is_drawing: bool = False
    group_header: VisibleText = ""
    long_header: VisibleText = ""


class Table(ElementRecord):
    """A table; `sums` says that its last row is the sum of the others.

    caption: what it is called, where it stands alone. fold: what a long one is hidden behind.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell | Range]]
    caption: VisibleText = ""
    fold: str = ""
    has_total_row: bool = False

    @classmethod
    def from_text_rows(
        cls,
        header: Sequence[str],
        rows: Iterable[Sequence[str | Cell]],
        text_columns: Iterable[int] = (0,),
        *,
        fold: str = "",
        has_total_row: bool = False,
    ) -> Table:
        """A table of a header and rows of text; `left` are the columns of words."""
        words = frozenset(text_columns)
        columns = [
            Column(name, "" if i == 0 else "more", is_left_aligned=i in words)
            for i, name in enumerate(header)
        ]
        cell_rows = [
            [cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows
        ]
        return cls(columns, cell_rows, fold=fold, has_total_row=has_total_row)

    def get_text_cells(self) -> tuple[list[Column], list[list[Cell]]]:
        """The columns and rows of what can be written, without drawings."""
        text_indices = [i for i, column in enumerate(self.columns) if not column.is_drawing]
        rows = [[cell for cell in row if isinstance(cell, Cell)] for row in self.rows]
        return [self.columns[i] for i in text_indices], rows


class MarkedTokens(ElementRecord):
    """Tokens in a line, each with a mark of its own; `legend` says what the marks mean.

    A mark is a short text below the token, and how strong its colour is, 0 to 4, from none to full;
    `cut` are the tokens that are underlined. `tips` say what a mark means, token by token.
    """

    label: VisibleText
    tokens: Sequence[VisibleText]
    marks: Sequence[str] = ()
    strengths: Sequence[int] = ()
    underlined: Collection[int] = ()
    tips: Sequence[str] = ()
    legend: str = ""


class Equations(ElementRecord):
    """A formula, line by line, with its numbers."""

    equations: Sequence[Equation]


class Point(ElementRecord):
    """A value in a chart, perhaps with an interval; `about` says what it is.

    seconds: its time, from whenever. href: where it leads to, in HTML.
    """

    value: float
    when: str
    tooltip: VisibleText = ""
    low: float | None = None
    high: float | None = None
    seconds: float = 0.0
    href: str = ""


class Chart(ElementRecord):
    """Values over time, with `digits` after the point; `name` is what they are of.

    In HTML the axis is of time itself; in text each value is as far from the next.
    """

    points: Sequence[Point]
    digits: int
    name: VisibleText = ""


class Facts(ElementRecord):
    """Names and what they stand for."""

    pairs: Sequence[tuple[str, Cell]]


def build_warnings(content: Mapping[str, Any]) -> list[Paragraph]:
    """Return a paragraph per warning of a result, to stand above its tables."""
    return [Paragraph(f"Warning: {one['text']}", "caution") for one in content.get("warnings", ())]


Block = Heading | Paragraph | Table | MarkedTokens | Equations | Chart | Facts


# ---- of HTML alone ----


class Panel(ElementRecord):
    """Intervals of rows on an axis of their own: the low end, the value, the high end, or None.

    marks: "better" or "worse" for what is significant. backwards: the axis runs to the left. zero:
    it has 0 on it, which stands for a row without an interval: what the others are compared with.
    """

    title: VisibleText
    ranges: Sequence[tuple[float, float, float] | None]
    marks: Sequence[str]
    is_reversed: bool = False
    includes_zero: bool = True


class Forest(ElementRecord):
    """A forest plot: a row a name, and panels beside each other."""

    caption: VisibleText
    names: Sequence[VisibleText]
    panels: Sequence[Panel]


class Fold(ElementRecord):
    """What stands behind a line that is clicked."""

    text: VisibleText
    blocks: Sequence[HtmlBlock]


HtmlBlock = Block | Forest | Fold
