"""What a reader sees: headings, paragraphs, tables, marked words, equations, charts.

Each format writes these few kinds of block its own way, and decides nothing else. Characters that
do not show are written out here, once for all formats.
"""

from __future__ import annotations

from truebleu.text.layout import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from truebleu.views.rendering.equations import Equation


class Heading:
    """A heading; level 1 is the title."""

    __slots__ = ("level", "text")

    def __init__(self, level: int, text: str) -> None:
        self.level = level
        self.text = visible(text)


class Paragraph:
    """A paragraph: "plain", a "lead" or "caution"; one line of a list of "notes"; or a "signature".

    Notes and signatures that follow each other stay together.
    """

    __slots__ = ("kind", "text")

    def __init__(self, text: str, kind: str = "plain") -> None:
        self.text = visible(text)
        self.kind = kind


class Cell:
    """What stands in a table: text, letters raised behind it, and what it means.

    mark: "better" or "worse" for a significant difference, "best" for the first system, "baseline"
        for what the others are compared with, or nothing.
    code: for n-grams and signatures.
    """

    __slots__ = ("code", "mark", "raised", "text")

    def __init__(self, text: str, raised: str = "", mark: str = "", *, code: bool = False) -> None:
        self.text = visible(text)
        self.raised = raised
        self.mark = mark
        self.code = code


class Range:
    """An interval to be drawn beside others, on a line from `least` to `most` that has 0 on it.

    Without an interval it is an empty line: the baseline's.
    """

    __slots__ = ("interval", "least", "mark", "most")

    def __init__(
        self,
        least: float,
        most: float,
        interval: tuple[float, float, float] | None = None,
        mark: str = "",
    ) -> None:
        self.least = least
        self.most = most
        # The low end, the value, the high end.
        self.interval = interval
        self.mark = mark

    def place(self, value: float, width: float) -> float:
        """Where a value lies, from 0 to `width`."""
        return (value - self.least) / (self.most - self.least) * width


class Column:
    """A column of a table: its header, which side its cells are set to, and its group.

    Columns of the group "" name the rows; the others may be set below each other, a group together.
    about: what it means, for whoever points at it.
    """

    __slots__ = ("about", "drawn", "group", "header", "left")

    def __init__(
        self,
        header: str,
        group: str = "",
        *,
        left: bool = False,
        about: str = "",
        drawn: bool = False,
    ) -> None:
        self.header = visible(header)
        self.group = group
        self.left = left
        self.about = about
        # Its cells are ranges, which say once more what is written.
        self.drawn = drawn


class Table:
    """A table; `sums` says that its last row is the sum of the others.

    caption: what it is called, where it stands alone. fold: what a long one is hidden behind.
    """

    __slots__ = ("caption", "columns", "fold", "rows", "sums")

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell | Range]],
        *,
        caption: str = "",
        fold: str = "",
        sums: bool = False,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.caption = visible(caption)
        self.fold = fold
        self.sums = sums

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


class Words:
    """Tokens in a line, each with a mark of its own; `legend` says what the marks mean.

    A mark is a short text below the token, and how strong its colour is, 0 to 4, from none to full;
    `cut` are the tokens that are underlined. `tips` say what a mark means, token by token.
    """

    __slots__ = ("cut", "label", "legend", "marks", "strengths", "tips", "tokens")

    def __init__(
        self,
        label: str,
        tokens: Sequence[str],
        marks: Sequence[str] = (),
        strengths: Sequence[int] = (),
        cut: Iterable[int] = (),
        tips: Sequence[str] = (),
        legend: str = "",
    ) -> None:
        self.label = visible(label)
        self.tokens = [visible(token) for token in tokens]
        self.marks = marks
        self.strengths = strengths
        self.cut = frozenset(cut)
        self.tips = tips
        self.legend = legend if tokens else ""


class Equations:
    """A formula, line by line, with its numbers."""

    __slots__ = ("equations",)

    def __init__(self, equations: Sequence[Equation]) -> None:
        self.equations = equations


class Point:
    """A value in a chart, perhaps with an interval; `about` says what it is."""

    __slots__ = ("about", "high", "low", "value", "when")

    def __init__(
        self,
        value: float,
        when: str,
        about: str = "",
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        self.value = value
        self.when = when
        self.about = visible(about)
        self.low = low
        self.high = high


class Chart:
    """Values over time, each as far from the next; `digits` after the point."""

    __slots__ = ("digits", "points")

    def __init__(self, points: Sequence[Point], digits: int) -> None:
        self.points = points
        self.digits = digits


class Facts:
    """Names and what they stand for; a value that is a sequence of pairs has a code behind each."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Cell]]) -> None:
        self.pairs = list(pairs)


Block = Heading | Paragraph | Table | Words | Equations | Chart | Facts
