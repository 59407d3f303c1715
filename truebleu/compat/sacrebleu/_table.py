"""Tables of scores, with lines of box-drawing characters or for LaTeX's booktabs.

They are those that tabulate 0.9 and 0.10 draw for sacreBLEU, to the character: cells that look like
numbers are reformatted, the names of systems included.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# Terminals' colours; and links, whose text stays.
ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\]8;(?:\w+=\w+:?)*;[^\x1b]+\x1b\\([^\x1b]+)\x1b\]8;;\x1b\\"
)

# 1,234 and 1,234.5
THOUSANDS = re.compile(r"(?:[+-]?[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]*)?|\.[0-9]+)\n?")

# The least difference between the width of a header and that of its text.
ROOM = 2

LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "^": r"\^{}",
        "~": r"\textasciitilde{}",
        "\\": r"\textbackslash{}",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
    }
)


def fancy_grid(columns: Mapping[str, Sequence[str]], width: int) -> str:
    """A table for a terminal. Cells may have several lines.

    width: digits after the point in columns where all cells are numbers.
    """
    several_lines = any(mark in text for text in _texts(columns) for mark in "\n\r")
    split = str.splitlines if several_lines else _one_line
    header, rows, widths = _laid_out(columns, width, split)
    lines = [_rule("╒═╤╕", widths), *_boxed(header, widths)]
    for number, row in enumerate(rows):
        lines += [_rule("├─┼┤" if number else "╞═╪╡", widths), *_boxed(row, widths)]
    if not rows:
        lines.append(_rule("╞═╪╡", widths))
    return "\n".join([*lines, _rule("╘═╧╛", widths)])


def latex_booktabs(columns: Mapping[str, Sequence[str]], width: int) -> str:
    """A table for LaTeX's package booktabs."""
    header, rows, _ = _laid_out(columns, width, _one_line)
    first, *others = (
        " " + " & ".join(cell[0].translate(LATEX) for cell in row) + r" \\"
        for row in (header, *rows)
    )
    top = f"\\begin{{tabular}}{{r{'c' * (len(columns) - 1)}}}"
    lines = [top, r"\toprule", first, r"\midrule", *others, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines)


# A cell is its lines.
if TYPE_CHECKING:
    Cell = list[str]


def _one_line(text: str) -> list[str]:
    return [text]


def _texts(columns: Mapping[str, Sequence[str]]) -> Iterable[str]:
    for name, cells in columns.items():
        yield from (name, *cells)


def _laid_out(
    columns: Mapping[str, Sequence[str]], digits: int, split: Callable[[str], list[str]]
) -> tuple[list[Cell], list[tuple[Cell, ...]], list[int]]:
    """Header, rows and widths: the first column aligned to the right, the others centred."""
    coloured = any(ANSI.search(text) for text in _texts(columns))
    seen = _without_colours if coloured else str
    header, body, widths = [], [], []
    for number, (name, cells) in enumerate(columns.items()):
        texts = [text.strip() for text in _formatted(cells, f".{digits}f", coloured=coloured)]
        column = [split(text) for text in texts]
        lengths = (len(seen(line)) for cell in column for line in cell)
        widths.append(max([len(seen(name)) + ROOM, *lengths]))
        sign = "^" if number else ">"
        header.append(_padded([name], sign, widths[-1], seen))
        body.append([_padded(cell, sign, widths[-1], seen) for cell in column])
    return header, list(zip(*body, strict=True)), widths


def _padded(cell: Cell, sign: str, width: int, seen: Callable[[str], str]) -> Cell:
    """The lines of a cell, as wide as its column. Colours take no room."""
    return [f"{line:{sign}{width + len(line) - len(seen(line))}}" for line in cell]


def _without_colours(text: str) -> str:
    return ANSI.sub(lambda found: found[1] or "", text)


def _formatted(cells: Sequence[str], form: str, *, coloured: bool) -> list[str]:
    """The cells; reformatted if all are numbers and one has a point."""
    kinds = {_kind(_without_colours(cell)) for cell in cells}
    if max(kinds, default=TEXT) != NUMBER:
        return list(cells)
    return [_number(cell, form, coloured=coloured) for cell in cells]


# Integers, truth values and nothing; other numbers; everything else.
INTEGER, NUMBER, TEXT = range(3)


def _kind(text: str) -> int:
    """The kind of a cell, by its looks. The largest of a column's is the column's."""
    thousands = THOUSANDS.fullmatch(text) is not None
    if text in ("", "True", "False") or _reads(int, text) or (thousands and "." not in text):
        return INTEGER
    return NUMBER if thousands or (_reads(float, text) and _is_said(text)) else TEXT


def _is_said(text: str) -> bool:
    """False for an infinity that is just a number too large."""
    finite = abs(float(text)) < float("inf")
    return finite or text.lower() in ("inf", "-inf", "nan")


def _reads(kind: Callable[[str], object], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _number(cell: str, form: str, *, coloured: bool) -> str:
    """A number reformatted; as it is if it cannot be read."""
    if not cell:
        return cell
    raw = _without_colours(cell) if coloured else cell.replace(",", "")
    try:
        written = format(float(raw), form)
    except ValueError:
        return cell
    return cell.replace(raw, written) if coloured else written


def _rule(characters: str, widths: Sequence[int]) -> str:
    """A line between rows, from the characters for its start, filling, crossings and end."""
    start, fill, cross, end = tuple(characters)
    return start + cross.join(fill * (width + 2) for width in widths) + end


def _boxed(row: Sequence[Cell], widths: Sequence[int]) -> list[str]:
    """The lines of a row. Cells with fewer lines than others are empty below."""
    height = max(map(len, row))
    filled = [
        [*cell, *[" " * width] * (height - len(cell))]
        for cell, width in zip(row, widths, strict=True)
    ]
    return [f"│ {' │ '.join(line)} │" for line in zip(*filled, strict=True)]
