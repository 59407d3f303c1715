"""The blocks of a view: headings, paragraphs, tables, marked tokens, equations, charts.

Each output format renders these few kinds of block. Invisible characters are escaped here, for all
formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, dataclass_transform

from truebleu.text.argument_checks import Record
from truebleu.text.terminal_layout import escape_invisible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from truebleu.rendering.equations import Equation

    # Text with invisible characters escaped.
    VisibleText = str


# Conversion functions of fields, keyed by declared type.
FIELD_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "VisibleText": escape_invisible,
    "Sequence[VisibleText]": lambda texts: list(map(escape_invisible, texts)),
}


@dataclass_transform()
class ElementRecord(Record):
    """A record that escapes the invisible characters in fields declared as `VisibleText`."""

    def __init__(self, *values: Any, **keyword_values: Any) -> None:
        super().__init__(*values, **keyword_values)
        fields = vars(self)
        for name in fields:
            convert = FIELD_CONVERTERS.get(self.__annotations__[name])
            if convert is not None:
                fields[name] = convert(fields[name])


class Heading(ElementRecord):
    """A heading. Level 1 is the title."""

    level: int
    text: VisibleText


class Paragraph(ElementRecord):
    """A paragraph of kind plain, lead, caution, note (an item of a list), legend or signature.

    Consecutive notes or signatures, and a legend and signatures, are not separated by empty lines.
    """

    text: VisibleText
    kind: str = "plain"


class Cell:
    """A table cell: text, a superscript, and a mark.

    mark: "better" or "worse" for a significant difference, "best" for the best system, "baseline"
        for the system that others are compared with, or an empty string.
    code: whether the text is an n-gram or a signature, shown in a monospaced font.
    suffix, second_line: small text after the text, or below it; only in HTML.
    href: target of a link in HTML.
    """

    # Slots save memory: tables may have many cells.
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
    """An interval drawn on an axis from `minimum` to `maximum`, which includes 0.

    interval: low end, value and high end; None for the baseline, which has an empty axis.
    """

    minimum: float
    maximum: float
    interval: tuple[float, float, float] | None = None
    mark: str = ""


class Column(ElementRecord):
    """A column of a table.

    Columns in the group "" name the rows. Other columns of a group stay together if a wide table is
    split.
    tooltip: explanation of the column. is_drawing: the cells are ranges, which repeat the numbers.
    group_header: a header above adjacent columns, in HTML and LaTeX. long_header: a header that is
        complete without the group header, in wide tables of HTML and in tables for papers.
    """

    header: VisibleText
    group: str = ""
    is_left_aligned: bool = False
    tooltip: str = ""
    is_drawing: bool = False
    group_header: VisibleText = ""
    long_header: VisibleText = ""


class Table(ElementRecord):
    """A table. `has_total_row` means that the last row is the sum of the others.

    caption: title of a separate table. fold: label that the reader clicks to show a long table.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
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
        name_count: int = 1,
    ) -> Table:
        """Return a table from a header and rows of text.

        text_columns: numbers of the columns that are aligned to the left.
        name_count: number of columns that name the rows.
        """
        words = frozenset(text_columns)
        columns = [
            Column(name, "" if i < name_count else "more", is_left_aligned=i in words)
            for i, name in enumerate(header)
        ]
        cell_rows = [
            [cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows
        ]
        return cls(columns, cell_rows, fold=fold, has_total_row=has_total_row)


# A title, which may be empty, and the rows below it.
Section = tuple[str, "Sequence[Sequence[Cell]]"]


class PaperTable(ElementRecord):
    """A table for a paper, with its caption and footnotes. Only Markdown and LaTeX render it.

    sections: rows below a common title; the title may be empty.
    caption, footnotes: paragraphs of kind "plain" or "signature".
    label: name of the table in LaTeX.
    """

    columns: Sequence[Column]
    sections: Sequence[Section]
    caption: Sequence[Paragraph]
    footnotes: Sequence[Paragraph] = ()
    label: str = "tab:truebleu"


class MarkedTokens(ElementRecord):
    """A line of tokens with one mark each. `legend` explains the marks.

    A mark is a short text below the token. Its strength, from 0 to 4, sets the colour. `underlined`
    contains the indices of underlined tokens, and `tips` explain the mark of each token.
    """

    label: VisibleText
    tokens: Sequence[VisibleText]
    marks: Sequence[str] = ()
    strengths: Sequence[int] = ()
    underlined: Collection[int] = ()
    tips: Sequence[str] = ()
    legend: str = ""


class Equations(ElementRecord):
    """A formula with its numbers, as one or more equations."""

    equations: Sequence[Equation]


class Point(ElementRecord):
    """A value in a chart, optionally with an interval. `tooltip` describes it.

    seconds: time of the value, in seconds from an arbitrary origin. href: target of a link in HTML.
    """

    value: float
    when: str
    tooltip: VisibleText = ""
    low: float | None = None
    high: float | None = None
    seconds: float = 0.0
    href: str = ""


class Chart(ElementRecord):
    """Values over time, with `digits` decimals. `name` labels the value axis.

    In HTML, the horizontal axis shows time; in text, values are equally spaced.
    """

    points: Sequence[Point]
    digits: int
    name: VisibleText = ""


class Facts(ElementRecord):
    """A list of names with their values."""

    pairs: Sequence[tuple[str, Cell]]


def build_warnings(content: Mapping[str, Any]) -> list[Paragraph]:
    """Return a paragraph per warning of a result, for display above its tables."""
    return [Paragraph(f"Warning: {one['text']}", "caution") for one in content.get("warnings", ())]


Block = Heading | Paragraph | Table | MarkedTokens | Equations | Chart | Facts
# Blocks that Markdown and LaTeX can render.
PaperBlock = Block | PaperTable


# ---- only for HTML ----


class Panel(ElementRecord):
    """Intervals of several rows on a common axis: low end, value and high end, or None.

    marks: "better" or "worse" for significant differences. is_reversed: values rise to the left.
    includes_zero: the axis includes 0, and a row without an interval, the baseline, is drawn at 0.
    """

    title: VisibleText
    ranges: Sequence[tuple[float, float, float] | None]
    marks: Sequence[str]
    is_reversed: bool = False
    includes_zero: bool = True


class Forest(ElementRecord):
    """A forest plot: one row per name, and panels next to each other."""

    caption: VisibleText
    names: Sequence[VisibleText]
    panels: Sequence[Panel]


class Fold(ElementRecord):
    """Blocks that are hidden until a line is clicked."""

    text: VisibleText
    blocks: Sequence[HtmlBlock]


class Scatter(ElementRecord):
    """Named points on two axes: name, value across and value up of each.

    line: indices of the points that a line joins, from left to right.
    """

    caption: VisibleText
    across: VisibleText
    up: VisibleText
    points: Sequence[tuple[str, float, float]]
    line: Sequence[int] = ()


HtmlBlock = Block | Forest | Fold | Scatter
