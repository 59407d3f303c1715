"""A comparison as plain text: lines of pieces that a terminal may colour."""

from __future__ import annotations

from truebleu.comparison import document
from truebleu.comparison.document import Cell, Forest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.comparison.document import Grid

    # Text, and what it is: the mark of a cell, "head", "rule", "name", "raised", "note" or nothing.
    Piece = tuple[str, str]
    Line = list[Piece]

# How wide intervals are drawn at most, and at least.
DRAWING, SMALLEST = 31, 13
# Prose in longer lines is hard to read.
PROSE = 100
# Narrower than this, lines run over: the narrowest group of columns would not fit.
NARROWEST = 40
GAP = "  "

RAISED = str.maketrans(
    "abcdefghijklmnoprstuvwxyz0123456789–", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
)


def render(
    content: Mapping[str, Any],
    width: int = 100,
    *,
    digits: int | None = None,
    short: bool = False,
) -> str:
    """All of it, in lines of about so many characters."""
    made = lines(content, width, digits=digits, short=short)
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in made)


def lines(
    content: Mapping[str, Any], width: int, *, digits: int | None = None, short: bool = False
) -> Iterator[Line]:
    """The lines, as pieces."""
    width = max(width, NARROWEST)
    yield from ([(line, "title")] for line in wrapped(document.title(content), width))
    for grid in document.grids(content, digits):
        for part in _parts(grid, width):
            yield []
            yield from part
    yield []
    for sentence in document.sentences(content):
        yield from ([(line, "note")] for line in wrapped(sentence, min(width, PROSE)))
    signatures = document.signatures(content, short=short)
    if signatures:
        yield []
        yield from ([(document.visible(line), "signature")] for line in signatures)


def _parts(grid: Grid, width: int) -> Iterator[list[Line]]:
    """The grid, or parts of it below each other where all of it is too wide.

    Every part starts with the columns that name the rows. Nothing is left out but drawings, which
    say once more what is written.
    """
    columns = [
        _column(column.header, [row[i] for row in grid.rows], left=column.left)
        for i, column in enumerate(grid.columns)
        if column.group != "forest"
    ]
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(grid.columns):
        groups.setdefault(column.group, []).append(i)
    naming, forest = groups.pop(""), groups.pop("forest", [])
    parts = [list(naming)]
    for numbers in groups.values():
        # A group stays together unless it is too wide by itself.
        whole = _taken(columns, [*naming, *numbers]) <= width
        for some in [numbers] if whole else [[number] for number in numbers]:
            if len(parts[-1]) > len(naming) and _taken(columns, [*parts[-1], *some]) > width:
                parts.append(list(naming))
            parts[-1] += some
    for i, part in enumerate(parts):
        chosen = [columns[number] for number in part]
        if i:
            # Which metric's it is would be far away.
            chosen[len(naming) - 1] = columns[naming[-1]].headed(grid.metric)
        left = width - _taken(columns, part) - len(GAP)
        if forest and len(parts) == 1 and left >= SMALLEST:
            drawn = [row[forest[0]] for row in grid.rows]
            chosen.append(_drawn(drawn, min(left, DRAWING)))
        yield _lines(chosen)


def _taken(columns: Sequence[_Column], numbers: Sequence[int]) -> int:
    """How wide some columns are together."""
    return sum(columns[i].width + len(GAP) for i in numbers) - len(GAP)


class _Column:
    """A column as pieces of equal width: its header, and each of its cells."""

    __slots__ = ("cells", "header", "width")

    def __init__(self, header: Line, cells: list[Line], width: int) -> None:
        self.header = header
        self.cells = cells
        self.width = width

    def headed(self, header: str) -> _Column:
        """The same under another header, which is set to the left."""
        width = max(self.width, places(header))
        space = " " * (width - self.width)
        cells = [[*cell, (space, "")] for cell in self.cells]
        return _Column([(header, "head"), (" " * (width - places(header)), "")], cells, width)


def _drawn(cells: Sequence[Cell | Forest], width: int) -> _Column:
    """The column of drawings, with a 0 above its line."""
    forests = [cell for cell in cells if isinstance(cell, Forest)]
    head = " " * _at(forests[0], 0.0, width) + "0"
    lines = [drawing(forest, width) for forest in forests]
    return _Column([(f"{head:<{width}}", "head")], lines, width)


def _column(header: str, cells: Sequence[Cell | Forest], *, left: bool) -> _Column:
    header = document.visible(header)
    known = [cell for cell in cells if isinstance(cell, Cell)]
    texts = [document.visible(cell.text) for cell in known]
    raised = [cell.raised.translate(RAISED) for cell in known]
    behind = max(map(places, raised))
    body = max(map(places, texts))
    width = max(body + behind, places(header))
    if left:
        space = width - places(header)
        made = [
            [(text, cell.mark), (" " * (width - places(text)), "")]
            for text, cell in zip(texts, known, strict=True)
        ]
        return _Column([(header, "head"), (" " * space, "")], made, width)
    # Headers end where the numbers end, letters stand out to the right of both if there is room.
    head = places(header) + min(behind, max(0, width - places(header)))
    made = [
        [
            (" " * (width - behind - places(text)), ""),
            (text, cell.mark),
            (behind_text, "raised" if not cell.mark else cell.mark),
            (" " * (behind - places(behind_text)), ""),
        ]
        for text, behind_text, cell in zip(texts, raised, known, strict=True)
    ]
    header_line = [(" " * (width - head), ""), (header, "head")]
    header_line.append((" " * (head - places(header)), ""))
    return _Column(header_line, made, width)


def drawing(forest: Forest, width: int) -> Line:
    """An interval as characters, with 0 as a line through all rows.

    >>> line = drawing(Forest(-2.0, 10.0, (2.0, 5.0, 8.0)), 25)
    >>> "".join(text for text, _ in line)
    '    │   ├─────●─────┤    '
    """
    marks = [(" ", "")] * width
    zero = _at(forest, 0.0, width)
    marks[zero] = ("│", "rule")
    if forest.interval is not None:
        low, value, high = (_at(forest, value, width) for value in forest.interval)
        for i in range(low, high + 1):
            marks[i] = ("┼" if i == zero else "─", forest.mark)
        marks[low], marks[high] = ("├", forest.mark), ("┤", forest.mark)
        marks[value] = ("●", forest.mark)
    return marks


def _at(forest: Forest, value: float, width: int) -> int:
    return round(forest.place(value, width - 1))


def _lines(columns: Sequence[_Column]) -> list[Line]:
    """The header, a rule and the rows."""
    width = sum(column.width + len(GAP) for column in columns) - len(GAP)
    made = [_joined([column.header for column in columns]), [("─" * width, "rule")]]
    made += [_joined(row) for row in zip(*(column.cells for column in columns), strict=True)]
    return made


def _joined(cells: Sequence[Line]) -> Line:
    line: Line = []
    for i, cell in enumerate(cells):
        line += ([(GAP, "")] if i else []) + cell
    return line


def places(text: str) -> int:
    """How many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def wrapped(text: str, width: int) -> list[str]:
    """A paragraph in lines."""
    from textwrap import wrap

    return wrap(text, width, break_long_words=False, break_on_hyphens=False)
