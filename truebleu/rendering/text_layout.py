"""Lay out blocks as lines of plain text, in pieces with a style for colouring.

In tables that are too wide, texts continue on further lines, names of rows are shortened, or the
table is split into parts that are placed below each other. Only drawings, which repeat the numbers,
may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from truebleu.rendering import elements
from truebleu.rendering.elements import (
    Block,
    Cell,
    Chart,
    Column,
    ElementRecord,
    MarkedTokens,
    Range,
    Table,
)
from truebleu.rendering.equations import as_text
from truebleu.text.terminal_layout import measure_width, pad_text, shorten_text, wrap_text

# Text and its style: the mark of a cell, the kind of a paragraph, "title", "head", "rule", …
Piece = tuple[str, str]
Line = list[Piece]
# Maximum and minimum width of a drawn interval, in characters.
MAX_DRAWING_WIDTH, MIN_DRAWING_WIDTH = 31, 13
# Lines of prose longer than this are hard to read.
MAX_PROSE_WIDTH = 100
# Below this width, the narrowest group of columns would not fit.
MIN_WIDTH = 40
GAP = "  "
# Names shortened to fewer columns than this are hard to recognize.
MIN_NAME_WIDTH = 12
# Columns of text with more than one line per cell are at least this wide.
MIN_TEXT_WIDTH = 25

BARS = "▁▂▃▄▅▆▇█"


def render_text(blocks: Iterable[Block], width: int) -> str:
    """Render blocks as text, in lines of about `width` characters."""
    text_lines = (
        "".join(text for text, _ in line).rstrip() for line in lay_out_lines(blocks, width)
    )
    return "".join(f"{line}\n" for line in text_lines)


def lay_out_lines(blocks: Iterable[Block], width: int) -> Iterator[Line]:
    """Yield the lines of blocks, with empty lines between unrelated blocks."""
    width = max(width, MIN_WIDTH)
    previous_kind = ""
    for block in blocks:
        kind = block.kind if isinstance(block, elements.Paragraph) else ""
        is_continued = kind == previous_kind and kind in ("note", "signature")
        if previous_kind and not is_continued and (previous_kind, kind) != ("legend", "signature"):
            yield []
        previous_kind = kind or type(block).__name__
        yield from _lay_out_block(block, width)


def _lay_out_block(block: Block, width: int) -> Iterator[Line]:
    match block:
        case elements.Heading():
            style = "title" if block.level == 1 else "heading"
            text_lines = wrap_text(block.text, width)
            yield from ([(line, style)] for line in text_lines)
            rule = "═" if block.level == 1 else "─"
            yield [(rule * max(map(measure_width, text_lines), default=0), "rule")]
        case elements.Paragraph() if block.kind == "signature":
            # Do not wrap signatures, so that users can copy them.
            yield [(block.text, "signature")]
        case elements.Paragraph():
            yield from (
                [(line, block.kind)] for line in wrap_text(block.text, min(width, MAX_PROSE_WIDTH))
            )
        case elements.Table():
            for i, part in enumerate(_split_table(block, width)):
                yield from [[]] if i else []
                yield from part
        case elements.MarkedTokens():
            yield [(f"{block.label}:", "head")]
            yield from lay_out_tokens(block, width)
            if block.legend:
                yield []
                yield from (
                    [(line, "note")]
                    for line in wrap_text(block.legend, min(width, MAX_PROSE_WIDTH))
                )
        case elements.Chart():
            yield from ([(line, "")] for line in lay_out_chart(block, width))
        case elements.Facts():
            name_width = max((measure_width(name) for name, _ in block.pairs), default=0)
            for name, cell in block.pairs:
                value_width = max(MIN_TEXT_WIDTH, width - name_width - len(GAP))
                for i, line in enumerate(wrap_text(cell.text, value_width) or [""]):
                    head = pad_text("" if i else name, name_width) + GAP
                    yield [(head, "head"), (line, cell.mark)]
        case _:
            for line in as_text(block.equations):
                left, sign, right = line.partition(" = ")
                start = f"  {left}{sign}"
                for text in wrap_text(right, width - measure_width(start)):
                    yield [(start + text, "formula")]
                    start = " " * measure_width(start)


# ---- tables ----


def _split_table(table: Table, width: int) -> Iterator[list[Line]]:
    """Yield the table, or its parts if it is too wide.

    Every part starts with the columns that name the rows. Names are shortened if this keeps the
    table in one part. Texts in other columns continue on further lines.
    """
    table = _shorten_names(table, width)
    column_layouts = _lay_out_columns(table)
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(table.columns):
        groups.setdefault("drawn" if column.is_drawing else column.group, []).append(i)
    name_columns, drawing_columns = groups.pop("", []), groups.pop("drawn", [])
    parts = [list(name_columns)]
    for numbers in groups.values():
        # A group stays together unless it alone is too wide.
        is_narrow_enough = _measure_width(column_layouts, [*name_columns, *numbers]) <= width
        for added_columns in [numbers] if is_narrow_enough else [[number] for number in numbers]:
            if (
                len(parts[-1]) > len(name_columns)
                and _measure_width(column_layouts, [*parts[-1], *added_columns]) > width
            ):
                parts.append(list(name_columns))
            parts[-1] += added_columns
    for i, part in enumerate(parts):
        part_layouts = {number: column_layouts[number] for number in part}
        free_width = width - _measure_width(column_layouts, part)
        for number in part:
            # Let narrow columns of text use the free width first.
            layout = part_layouts[number].with_text_width(free_width)
            free_width -= layout.width - part_layouts[number].width
            part_layouts[number] = layout
        shown_layouts = list(part_layouts.values())
        if i and name_columns and table.caption:
            # A later part starts with the caption as a header, which identifies its metric.
            shown_layouts[len(name_columns) - 1] = column_layouts[name_columns[-1]].with_header(
                table.caption
            )
        free_width -= len(GAP)
        if drawing_columns and len(parts) == 1 and free_width >= MIN_DRAWING_WIDTH:
            ranges = [row[drawing_columns[0]] for row in table.rows]
            # The header has a 0 above the line at 0.
            drawing_width = min(free_width, MAX_DRAWING_WIDTH)
            drawn = [cell for cell in ranges if isinstance(cell, Range)]
            head = " " * _locate_value(drawn[0], 0.0, drawing_width) + "0"
            drawings = [[draw_range_text(one, drawing_width)] for one in drawn]
            header = [(f"{head:<{drawing_width}}", "head")]
            shown_layouts.append(_ColumnLayout(header, drawings, drawing_width))
        yield _lay_out_rows(shown_layouts, width, has_total_row=table.has_total_row)


def _lay_out_columns(table: Table) -> dict[int, _ColumnLayout]:
    return {
        i: _lay_out_column(column, [row[i] for row in table.rows])
        for i, column in enumerate(table.columns)
        if not column.is_drawing
    }


def _shorten_names(table: Table, width: int) -> Table:
    """Return the table, with names shortened in the middle if this makes it fit into the width.

    If the table does not fit, names take at most half of the width, and headers a quarter.
    """
    layouts = _lay_out_columns(table)
    if _measure_width(layouts, list(layouts)) > width:
        columns = [
            one.replace(header=shorten_text(one.header, width // 4)) for one in table.columns
        ]
        table = table.replace(columns=columns)
        layouts = _lay_out_columns(table)
    excess = _measure_width(layouts, list(layouts)) - width
    names = [i for i in layouts if not table.columns[i].group and table.columns[i].is_left_aligned]
    widest = max(names, key=lambda i: layouts[i].width, default=None)
    if excess <= 0 or widest is None:
        return table
    name_width = layouts[widest].width - excess
    if name_width < MIN_NAME_WIDTH:
        name_width = width // 2
    if name_width >= layouts[widest].width:
        return table
    cells = [cell for row in table.rows if isinstance(cell := row[widest], Cell)]
    texts = [shorten_text(cell.text, name_width) for cell in cells]
    rows = [
        [*row[:widest], Cell(text, cell.raised, cell.mark, code=cell.code), *row[widest + 1 :]]
        for row, cell, text in zip(table.rows, cells, texts, strict=True)
    ]
    return table.replace(rows=rows)


def _measure_width(columns: Mapping[int, _ColumnLayout], indices: Sequence[int]) -> int:
    return sum(columns[i].width + len(GAP) for i in indices) - len(GAP)


class _ColumnLayout(ElementRecord):
    """A column as pieces of text of equal width: its header and the lines of its cells.

    texts: the text and style of each cell if the text may continue on further lines.
    """

    header: Line
    cells: list[list[Line]]
    width: int
    texts: Sequence[Piece] = ()

    def with_header(self, header: str) -> _ColumnLayout:
        """Return the column with another header, aligned to the left."""
        width = max(self.width, measure_width(header))
        space = " " * (width - self.width)
        cells = [[[*line, (space, "")] for line in lines] for lines in self.cells]
        return _ColumnLayout([(pad_text(header, width), "head")], cells, width)

    def with_text_width(self, free_width: int) -> _ColumnLayout:
        """Return the column, widened by up to `free_width` characters for its texts."""
        if not self.texts:
            return self
        natural_width = max(measure_width(text) for text, _ in self.texts)
        width = max(self.width, min(natural_width, self.width + free_width))
        cells = [
            [[(pad_text(line, width), style)] for line in wrap_text(text, width) or [""]]
            for text, style in self.texts
        ]
        ((header, style),) = self.header
        return _ColumnLayout([(pad_text(header, width), style)], cells, width)


def _lay_out_column(column: Column, cells: Sequence[Cell | Range]) -> _ColumnLayout:
    """Lay out a column as pieces of equal width. Long texts get at least `MIN_TEXT_WIDTH`."""
    text_cells = [cell for cell in cells if isinstance(cell, Cell)]
    header = column.header
    raised = [cell.raised for cell in text_cells]
    raised_width = max(map(measure_width, raised), default=0)
    text_width = max((measure_width(cell.text) for cell in text_cells), default=0)
    width = max(text_width + raised_width, measure_width(header))
    styles = [cell.mark or ("code" if cell.code else "") for cell in text_cells]
    if column.is_left_aligned:
        texts: list[Piece] = [
            (cell.text, style) for cell, style in zip(text_cells, styles, strict=True)
        ]
        if column.group and width > MIN_TEXT_WIDTH:
            width = max(MIN_TEXT_WIDTH, measure_width(header))
            return _ColumnLayout([(pad_text(header, width), "head")], [], width, texts)
        aligned_cells = [[[(pad_text(text, width), style)]] for text, style in texts]
        return _ColumnLayout([(pad_text(header, width), "head")], aligned_cells, width)
    # Align headers with the ends of the numbers; put letters to the right if there is space.
    end = measure_width(header) + min(raised_width, max(0, width - measure_width(header)))
    cell_pieces = [
        [
            [
                (" " * (width - raised_width - measure_width(cell.text)), ""),
                (cell.text, style),
                (letters, style or "raised"),
                (" " * (raised_width - measure_width(letters)), ""),
            ]
        ]
        for cell, style, letters in zip(text_cells, styles, raised, strict=True)
    ]
    space = [(" " * (width - end), "")]
    return _ColumnLayout([*space, (pad_text(header, end), "head")], cell_pieces, width)


def draw_range_text(range_cell: Range, width: int) -> Line:
    """Return an interval drawn with characters, including a line at 0.

    >>> line = draw_range_text(Range(-2.0, 10.0, (2.0, 5.0, 8.0)), 25)
    >>> "".join(text for text, _ in line)
    '    │   ├─────●─────┤    '
    """
    marks = [(" ", "")] * width
    zero = _locate_value(range_cell, 0.0, width)
    marks[zero] = ("│", "rule")
    if range_cell.interval is not None:
        low, value, high = (_locate_value(range_cell, end, width) for end in range_cell.interval)
        for i in range(low, high + 1):
            marks[i] = ("┼" if i == zero else "─", range_cell.mark)
        marks[low], marks[high] = ("├", range_cell.mark), ("┤", range_cell.mark)
        marks[value] = ("●", range_cell.mark)
    return marks


def _locate_value(range_cell: Range, value: float, width: int) -> int:
    low, high = range_cell.minimum, range_cell.maximum
    return round((value - low) / (high - low) * (width - 1))


def _lay_out_rows(
    columns: Sequence[_ColumnLayout], max_rule_width: int, *, has_total_row: bool
) -> list[Line]:
    width = sum(column.width + len(GAP) for column in columns) - len(GAP)
    rule: Line = [("─" * min(width, max_rule_width), "rule")]
    row_lines: list[list[Line]] = []
    for row in zip(*(column.cells for column in columns), strict=True):
        padded_cells = zip(row, columns, strict=True)
        height = max(map(len, row))
        filled = [
            [*lines, *[[(" " * column.width, "")]] * (height - len(lines))]
            for lines, column in padded_cells
        ]
        row_lines.append([_join_cells(line) for line in zip(*filled, strict=True)])
    if has_total_row:
        row_lines.insert(len(row_lines) - 1, [rule])
    lines = [line for lines in row_lines for line in lines]
    return [_join_cells([column.header for column in columns]), rule, *lines]


def _join_cells(cells: Sequence[Line]) -> Line:
    return [piece for cell in cells for piece in ((GAP, ""), *cell)][1:]


# ---- marked tokens and charts ----


def lay_out_tokens(block: MarkedTokens, width: int) -> Iterator[Line]:
    """Yield lines of tokens, with the mark of each token below it."""
    lines: list[tuple[Line, Line]] = [([], [])]
    used_width = 1
    for i, token in enumerate(block.tokens):
        mark = block.marks[i] if block.marks else ""
        token_width = max(measure_width(token), measure_width(mark))
        if lines[-1][0] and used_width + token_width + 1 > width:
            lines.append(([], []))
            used_width = 1
        above, below = lines[-1]
        style = f"match {block.strengths[i]}" if block.strengths else ""
        if i in block.underlined:
            style += " cut"
        above += [(" ", ""), (token, style), (" " * (token_width - measure_width(token)), "")]
        below += [(" ", ""), (mark, "rule"), (" " * (token_width - measure_width(mark)), "")]
        used_width += token_width + 1
    for above, below in lines:
        yield [(" ", ""), *(above or [(" (none)", "")])]
        if block.marks:
            yield [(" ", ""), *below]


def lay_out_chart(block: Chart, width: int) -> Iterator[str]:
    """Yield the lines of a bar chart of the values, scaled to the range from minimum to maximum."""
    values = [point.value for point in block.points]
    low, high = (f"{end:.{block.digits}f}" for end in (min(values), max(values)))
    bar_width = width - len(low) - len(high) - 2
    bar_text = draw_bars(values)
    for start in range(0, len(bar_text), bar_width):
        first, last = start == 0, start + bar_width >= len(bar_text)
        before = low if first else " " * len(low)
        yield f"{before} {bar_text[start : start + bar_width]} {high if last else ''}"


def draw_bars(values: Sequence[float]) -> str:
    """Draw numbers as a row of bars, scaled from the lowest to the highest number.

    >>> draw_bars([20, 24, 22, 27])
    '▁▅▃█'
    """
    low, high = min(values), max(values)
    if low == high:
        return BARS[3] * len(values)
    top = len(BARS) - 1
    return "".join(BARS[round((value - low) / (high - low) * top)] for value in values)
