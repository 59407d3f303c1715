"""Lay out blocks as lines of plain text, in pieces with a style for colouring.

In tables that are too wide, row names are shortened, or the table is split into parts that are
placed below each other. Only drawings, which repeat the numbers, may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from truebleu.rendering import elements
from truebleu.rendering.elements import (
    Block,
    Cell,
    Chart,
    Column,
    ElementRecord,
    Facts,
    MarkedTokens,
    Range,
    Table,
)
from truebleu.rendering.equations import as_text
from truebleu.text.terminal_layout import measure_width, pad_text, shorten_column, wrap_text

# Text and its style: the mark of a cell, the kind of a paragraph, "title", "head", "rule", …
Piece = tuple[str, str]
Line = list[Piece]
# Maximum and minimum width of a drawn interval, in characters.
MAX_DRAWING_WIDTH, MIN_DRAWING_WIDTH = 31, 13
# Longer lines of prose are hard to read.
MAX_PROSE_WIDTH = 100
# Below this width, the narrowest group of columns would not fit.
MIN_WIDTH = 40
GAP = "  "
# Shorter names are hard to recognize.
MIN_NAME_WIDTH = 12

BARS = "▁▂▃▄▅▆▇█"


def render_text(blocks: Iterable[Block], width: int) -> str:
    """Render blocks as text, in lines of about `width` characters."""
    text_lines = (
        "".join(text for text, _ in line).rstrip() for line in layout_lines(blocks, width)
    )
    return "".join(f"{line}\n" for line in text_lines)


def layout_lines(blocks: Iterable[Block], width: int) -> Iterator[Line]:
    """Yield the lines of blocks, with empty lines between unrelated blocks."""
    width = max(width, MIN_WIDTH)
    previous_kind = ""
    for block in blocks:
        kind = block.kind if isinstance(block, elements.Paragraph) else ""
        is_continued = kind == previous_kind and kind in ("note", "signature")
        if previous_kind and not is_continued and (previous_kind, kind) != ("legend", "signature"):
            yield []
        previous_kind = kind or type(block).__name__
        yield from _layout_block(block, width)


def _layout_block(block: Block, width: int) -> Iterator[Line]:
    """Yield the lines of one block."""
    match block:
        case elements.Heading():
            style = "title" if block.level == 1 else "heading"
            text_lines = wrap_text(block.text, width)
            yield from ([(line, style)] for line in text_lines)
            rule = "═" if block.level == 1 else "─"
            yield [(rule * max(map(measure_width, text_lines), default=0), "rule")]
        case elements.Paragraph() if block.kind == "signature":
            # Signatures are not wrapped so that they can be copied.
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
            yield from layout_tokens(block, width)
            if block.legend:
                yield []
                yield from (
                    [(line, "note")]
                    for line in wrap_text(block.legend, min(width, MAX_PROSE_WIDTH))
                )
        case elements.Chart():
            yield from ([(line, "")] for line in layout_chart(block, width))
        case elements.Facts():
            yield from _layout_facts(block)
        case _:
            yield from ([(f"  {line}", "formula")] for line in as_text(block.equations))


def _layout_facts(block: Facts) -> Iterator[Line]:
    width = max((measure_width(name) for name, _ in block.pairs), default=0)
    for name, cell in block.pairs:
        yield [(pad_text(name, width) + GAP, "head"), (cell.text, cell.mark)]


# ---- tables ----


def _split_table(table: Table, width: int) -> Iterator[list[Line]]:
    """Yield the table, or its parts if it is too wide.

    Every part starts with the columns that name the rows. Names are shortened if this keeps the
    table in one part.
    """
    table = _shorten_names(table, width)
    column_layouts = {
        i: _layout_column(column, [row[i] for row in table.rows])
        for i, column in enumerate(table.columns)
        if not column.is_drawing
    }
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
        part_layouts = [column_layouts[number] for number in part]
        if i and name_columns and table.caption:
            # The caption identifies the metric of a separate part.
            part_layouts[len(name_columns) - 1] = column_layouts[name_columns[-1]].with_header(
                table.caption
            )
        remaining_width = width - _measure_width(column_layouts, part) - len(GAP)
        if drawing_columns and len(parts) == 1 and remaining_width >= MIN_DRAWING_WIDTH:
            ranges = [row[drawing_columns[0]] for row in table.rows]
            part_layouts.append(_layout_drawings(ranges, min(remaining_width, MAX_DRAWING_WIDTH)))
        yield _layout_rows(part_layouts, width, has_total_row=table.has_total_row)


def _shorten_names(table: Table, width: int) -> Table:
    """Return the table, with names shortened in the middle if this makes it fit into the width."""
    shown = [i for i, column in enumerate(table.columns) if not column.is_drawing]
    layouts = {i: _layout_column(table.columns[i], [row[i] for row in table.rows]) for i in shown}
    excess = _measure_width(layouts, shown) - width
    names = [i for i in shown if not table.columns[i].group and table.columns[i].is_left_aligned]
    widest = max(names, key=lambda i: layouts[i].width, default=None)
    if excess <= 0 or widest is None or layouts[widest].width - excess < MIN_NAME_WIDTH:
        return table
    cells = [cell for row in table.rows if isinstance(cell := row[widest], Cell)]
    texts = shorten_column([cell.text for cell in cells], layouts[widest].width - excess)
    rows = [
        [
            *row[:widest],
            Cell(text, cell.raised, cell.mark, code=cell.code),
            *row[widest + 1 :],
        ]
        for row, cell, text in zip(table.rows, cells, texts, strict=True)
    ]
    return table.replace(rows=rows)


def _measure_width(columns: dict[int, _ColumnLayout], indices: Sequence[int]) -> int:
    """Return the total width of some columns; text in the last column may overflow."""
    *leading_columns, last = indices
    width = sum(columns[i].width + len(GAP) for i in leading_columns)
    return width + (0 if columns[last].runs_over else columns[last].width)


class _ColumnLayout(ElementRecord):
    """A column as pieces of equal width: its header and its cells."""

    header: Line
    cells: list[Line]
    width: int
    runs_over: bool = False

    def with_header(self, header: str) -> _ColumnLayout:
        """Return the column with another header, aligned to the left."""
        width = max(self.width, measure_width(header))
        space = " " * (width - self.width)
        cells = [[*cell, (space, "")] for cell in self.cells]
        return _ColumnLayout([(pad_text(header, width), "head")], cells, width)


def _layout_column(column: Column, cells: Sequence[Cell | Range]) -> _ColumnLayout:
    """Lay out a column as pieces of equal width."""
    text_cells = [cell for cell in cells if isinstance(cell, Cell)]
    header = column.header
    # Letters are not superscripts, because some capitals have no superscript form in Unicode.
    raised = [
        f" {cell.raised}" if cell.raised[:1].isalpha() else cell.raised for cell in text_cells
    ]
    raised_width = max(map(measure_width, raised), default=0)
    text_width = max((measure_width(cell.text) for cell in text_cells), default=0)
    width = max(text_width + raised_width, measure_width(header))
    styles = [cell.mark or ("code" if cell.code else "") for cell in text_cells]
    if column.is_left_aligned:
        cell_pieces = [
            [(pad_text(cell.text, width), style)]
            for cell, style in zip(text_cells, styles, strict=True)
        ]
        return _ColumnLayout(
            [(pad_text(header, width), "head")], cell_pieces, width, runs_over=bool(column.group)
        )
    # Align headers with the ends of the numbers; put letters to the right if there is space.
    end = measure_width(header) + min(raised_width, max(0, width - measure_width(header)))
    cell_pieces = [
        [
            (" " * (width - raised_width - measure_width(cell.text)), ""),
            (cell.text, style),
            (letters, style or "raised"),
            (" " * (raised_width - measure_width(letters)), ""),
        ]
        for cell, style, letters in zip(text_cells, styles, raised, strict=True)
    ]
    space = [(" " * (width - end), "")]
    return _ColumnLayout([*space, (pad_text(header, end), "head")], cell_pieces, width)


def _layout_drawings(cells: Sequence[Cell | Range], width: int) -> _ColumnLayout:
    """Return the column of drawings, with a 0 in the header above the line at 0."""
    ranges = [cell for cell in cells if isinstance(cell, Range)]
    head = " " * _locate_value(ranges[0], 0.0, width) + "0"
    return _ColumnLayout(
        [(f"{head:<{width}}", "head")], [draw_range_text(one, width) for one in ranges], width
    )


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
    return round(range_cell.get_axis_position(value, width - 1))


def _layout_rows(
    columns: Sequence[_ColumnLayout], max_rule_width: int, *, has_total_row: bool
) -> list[Line]:
    """Return the header, a rule and the rows, with another rule above a total row."""
    width = sum(column.width + len(GAP) for column in columns) - len(GAP)
    rule: Line = [("─" * min(width, max_rule_width), "rule")]
    rows = [_join_cells(row) for row in zip(*(column.cells for column in columns), strict=True)]
    if has_total_row:
        rows.insert(len(rows) - 1, rule)
    return [_join_cells([column.header for column in columns]), rule, *rows]


def _join_cells(cells: Sequence[Line]) -> Line:
    return [piece for cell in cells for piece in ((GAP, ""), *cell)][1:]


# ---- marked tokens and charts ----


def layout_tokens(block: MarkedTokens, width: int) -> Iterator[Line]:
    """Yield lines of tokens, with the mark of each token below it."""
    above: Line = []
    below: Line = []
    used_width = 1
    for i, token in enumerate(block.tokens):
        mark = block.marks[i] if block.marks else ""
        token_width = max(measure_width(token), measure_width(mark))
        if above and used_width + token_width + 1 > width:
            yield from _build_token_lines(above, below, has_marks=bool(block.marks))
            above, below, used_width = [], [], 1
        style = f"match {block.strengths[i]}" if block.strengths else ""
        if i in block.underlined:
            style += " cut"
        above += [(" ", ""), (token, style), (" " * (token_width - measure_width(token)), "")]
        below += [(" ", ""), (mark, "rule"), (" " * (token_width - measure_width(mark)), "")]
        used_width += token_width + 1
    yield from _build_token_lines(above or [(" (none)", "")], below, has_marks=bool(block.marks))


def _build_token_lines(above: Line, below: Line, *, has_marks: bool) -> Iterator[Line]:
    yield [(" ", ""), *above]
    if has_marks:
        yield [(" ", ""), *below]


def layout_chart(block: Chart, width: int) -> Iterator[str]:
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
