"""Blocks as lines of plain text, in pieces that say what they are, so that they may be coloured.

Tables that are too wide are set in parts below each other; nothing is left out but drawings, which
say once more what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from truebleu.rendering import elements
from truebleu.rendering.elements import (
    Block,
    Cell,
    Chart,
    Column,
    Facts,
    Fields,
    Range,
    Table,
    Words,
)
from truebleu.rendering.equations import as_text
from truebleu.text.terminal_layout import measure_width, pad_text, wrap_text

# Text, and what it is: the mark of a cell, the kind of a paragraph, "title", "head", "rule", …
Piece = tuple[str, str]
Line = list[Piece]
# How wide intervals are drawn at most, and at least.
DRAWING, SMALLEST = 31, 13
# Prose in longer lines is hard to read.
PROSE = 100
# Narrower than this, lines run over: the narrowest group of columns would not fit.
NARROWEST = 40
GAP = "  "

BARS = "▁▂▃▄▅▆▇█"


def plain(made: Iterable[Block], width: int) -> str:
    """Blocks as text, in lines of about so many characters."""
    drawn = ("".join(text for text, _ in line).rstrip() for line in lines(made, width))
    return "".join(f"{line}\n" for line in drawn)


def lines(made: Iterable[Block], width: int) -> Iterator[Line]:
    """The lines of blocks, with an empty one between each two that do not belong together."""
    width = max(width, NARROWEST)
    before = ""
    for block in made:
        kind = block.kind if isinstance(block, elements.Paragraph) else ""
        if before and not (kind == before and kind in ("note", "signature")):
            yield []
        before = kind or type(block).__name__
        yield from _lines(block, width)


def _lines(block: Block, width: int) -> Iterator[Line]:
    match block:
        case elements.Heading():
            style = "title" if block.level == 1 else "heading"
            told = wrap_text(block.text, width)
            yield from ([(line, style)] for line in told)
            rule = "═" if block.level == 1 else "─"
            yield [(rule * max(map(measure_width, told), default=0), "rule")]
        case elements.Paragraph() if block.kind == "signature":
            # It is copied whole.
            yield [(block.text, "signature")]
        case elements.Paragraph():
            yield from ([(line, block.kind)] for line in wrap_text(block.text, min(width, PROSE)))
        case elements.Table():
            for i, part in enumerate(_parts(block, width)):
                yield from [[]] if i else []
                yield from part
        case elements.Words():
            yield [(f"{block.label}:", "head")]
            yield from words(block, width)
            if block.legend:
                yield []
                yield from ([(line, "note")] for line in wrap_text(block.legend, min(width, PROSE)))
        case elements.Chart():
            yield from ([(line, "")] for line in chart(block, width))
        case elements.Facts():
            yield from _facts(block)
        case _:
            yield from ([(f"  {line}", "formula")] for line in as_text(block.equations))


def _facts(block: Facts) -> Iterator[Line]:
    width = max((measure_width(name) for name, _ in block.pairs), default=0)
    for name, cell in block.pairs:
        yield [(pad_text(name, width) + GAP, "head"), (cell.text, cell.mark)]


# ---- tables ----


def _parts(table: Table, width: int) -> Iterator[list[Line]]:
    """The table, or parts of it below each other where all of it is too wide.

    Every part starts with the columns that name the rows.
    """
    known = {
        i: _column(column, [row[i] for row in table.rows])
        for i, column in enumerate(table.columns)
        if not column.drawn
    }
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(table.columns):
        groups.setdefault("drawn" if column.drawn else column.group, []).append(i)
    naming, drawn = groups.pop("", []), groups.pop("drawn", [])
    parts = [list(naming)]
    for numbers in groups.values():
        # A group stays together unless it is too wide by itself.
        whole = _taken(known, [*naming, *numbers]) <= width
        for some in [numbers] if whole else [[number] for number in numbers]:
            if len(parts[-1]) > len(naming) and _taken(known, [*parts[-1], *some]) > width:
                parts.append(list(naming))
            parts[-1] += some
    for i, part in enumerate(parts):
        chosen = [known[number] for number in part]
        if i and naming and table.caption:
            # Which metric's it is would be far away.
            chosen[len(naming) - 1] = known[naming[-1]].headed(table.caption)
        left = width - _taken(known, part) - len(GAP)
        if drawn and len(parts) == 1 and left >= SMALLEST:
            ranges = [row[drawn[0]] for row in table.rows]
            chosen.append(_drawn(ranges, min(left, DRAWING)))
        yield _ruled(chosen, width, sums=table.sums)


def _taken(columns: dict[int, _Column], numbers: Sequence[int]) -> int:
    """The width of some columns together; text that comes last may run over."""
    *most, last = numbers
    width = sum(columns[i].width + len(GAP) for i in most)
    return width + (0 if columns[last].runs_over else columns[last].width)


class _Column(Fields):
    """A column as pieces of equal width: its header, and each of its cells."""

    header: Line
    cells: list[Line]
    width: int
    runs_over: bool = False

    def headed(self, header: str) -> _Column:
        """The same under another header, which is set to the left."""
        width = max(self.width, measure_width(header))
        space = " " * (width - self.width)
        cells = [[*cell, (space, "")] for cell in self.cells]
        return _Column([(pad_text(header, width), "head")], cells, width)


def _column(column: Column, cells: Sequence[Cell | Range]) -> _Column:
    known = [cell for cell in cells if isinstance(cell, Cell)]
    header = column.header
    # Letters as they are everywhere: not all capitals have a raised form.
    raised = [f" {cell.raised}" if cell.raised[:1].isalpha() else cell.raised for cell in known]
    behind = max(map(measure_width, raised), default=0)
    body = max((measure_width(cell.text) for cell in known), default=0)
    width = max(body + behind, measure_width(header))
    styles = [cell.mark or ("code" if cell.code else "") for cell in known]
    if column.left:
        made = [
            [(pad_text(cell.text, width), style)] for cell, style in zip(known, styles, strict=True)
        ]
        return _Column(
            [(pad_text(header, width), "head")], made, width, runs_over=bool(column.group)
        )
    # Headers end where the numbers end, letters stand out to the right of both if there is room.
    end = measure_width(header) + min(behind, max(0, width - measure_width(header)))
    made = [
        [
            (" " * (width - behind - measure_width(cell.text)), ""),
            (cell.text, style),
            (letters, style or "raised"),
            (" " * (behind - measure_width(letters)), ""),
        ]
        for cell, style, letters in zip(known, styles, raised, strict=True)
    ]
    space = [(" " * (width - end), "")]
    return _Column([*space, (pad_text(header, end), "head")], made, width)


def _drawn(cells: Sequence[Cell | Range], width: int) -> _Column:
    """The column of drawings, with a 0 above its line."""
    ranges = [cell for cell in cells if isinstance(cell, Range)]
    head = " " * _at(ranges[0], 0.0, width) + "0"
    return _Column([(f"{head:<{width}}", "head")], [drawing(one, width) for one in ranges], width)


def drawing(one: Range, width: int) -> Line:
    """An interval as characters, with 0 as a line through all rows.

    >>> line = drawing(Range(-2.0, 10.0, (2.0, 5.0, 8.0)), 25)
    >>> "".join(text for text, _ in line)
    '    │   ├─────●─────┤    '
    """
    marks = [(" ", "")] * width
    zero = _at(one, 0.0, width)
    marks[zero] = ("│", "rule")
    if one.interval is not None:
        low, value, high = (_at(one, end, width) for end in one.interval)
        for i in range(low, high + 1):
            marks[i] = ("┼" if i == zero else "─", one.mark)
        marks[low], marks[high] = ("├", one.mark), ("┤", one.mark)
        marks[value] = ("●", one.mark)
    return marks


def _at(one: Range, value: float, width: int) -> int:
    return round(one.place(value, width - 1))


def _ruled(columns: Sequence[_Column], most: int, *, sums: bool) -> list[Line]:
    """The header, a rule of at most this width and the rows, with another rule above their sum."""
    width = sum(column.width + len(GAP) for column in columns) - len(GAP)
    rule: Line = [("─" * min(width, most), "rule")]
    rows = [_joined(row) for row in zip(*(column.cells for column in columns), strict=True)]
    if sums:
        rows.insert(len(rows) - 1, rule)
    return [_joined([column.header for column in columns]), rule, *rows]


def _joined(cells: Sequence[Line]) -> Line:
    return [piece for cell in cells for piece in ((GAP, ""), *cell)][1:]


# ---- words and charts ----


def words(block: Words, width: int) -> Iterator[Line]:
    """Tokens in lines, with the mark of each below it."""
    above: Line = []
    below: Line = []
    taken = 1
    for i, token in enumerate(block.tokens):
        mark = block.marks[i] if block.marks else ""
        room = max(measure_width(token), measure_width(mark))
        if above and taken + room + 1 > width:
            yield from _both(above, below, marked=bool(block.marks))
            above, below, taken = [], [], 1
        style = f"match {block.strengths[i]}" if block.strengths else ""
        if i in block.cut:
            style += " cut"
        above += [(" ", ""), (token, style), (" " * (room - measure_width(token)), "")]
        below += [(" ", ""), (mark, "rule"), (" " * (room - measure_width(mark)), "")]
        taken += room + 1
    yield from _both(above or [(" (none)", "")], below, marked=bool(block.marks))


def _both(above: Line, below: Line, *, marked: bool) -> Iterator[Line]:
    yield [(" ", ""), *above]
    if marked:
        yield [(" ", ""), *below]


def chart(block: Chart, width: int) -> Iterator[str]:
    """The values as bars between the least and the greatest; as many lines as it takes."""
    values = [point.value for point in block.points]
    low, high = (f"{end:.{block.digits}f}" for end in (min(values), max(values)))
    room = width - len(low) - len(high) - 2
    drawn = bars(values)
    for start in range(0, len(drawn), room):
        first, last = start == 0, start + room >= len(drawn)
        before = low if first else " " * len(low)
        yield f"{before} {drawn[start : start + room]} {high if last else ''}"


def bars(values: Sequence[float]) -> str:
    """Numbers as bars, the least the lowest and the greatest the highest.

    >>> bars([20, 24, 22, 27])
    '▁▅▃█'
    """
    low, high = min(values), max(values)
    if low == high:
        return BARS[3] * len(values)
    top = len(BARS) - 1
    return "".join(BARS[round((value - low) / (high - low) * top)] for value in values)
