"""Blocks as LaTeX: the text of a document, or tables for a paper with the rest as comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from truebleu.rendering import elements
from truebleu.rendering.elements import Block, Cell, Table, Words
from truebleu.rendering.equations import as_latex
from truebleu.text.terminal_layout import pad_columns

# What a paper gets; charts and the like have no place in it.
Written = elements.Table | elements.Heading | elements.Paragraph | elements.Facts

FONTS = "text beyond Latin also needs XeLaTeX or LuaLaTeX and a font that has it."
HEADINGS = ("section", "subsection", "subsubsection")

SPECIAL = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        # Two hyphens in a row would become a dash.
        "-": r"-{}",
        "−": r"$-$",
        "–": "--",
        "∞": r"$\infty$",
        "Δ": r"$\Delta$",
        "β": r"$\beta$",
        "×": r"$\times$",
        "≥": r"$\ge$",
        "≤": r"$\le$",
        "·": r"$\cdot$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "“": "``",
        "”": "''",
        # A bracket right behind a line end would be read as its argument.
        "[": "{[}",
        "]": "{]}",
    }
)


def render(made: Iterable[Block], *, paper: bool = False) -> str:
    """All of it, to be put into a document with `input`.

    paper: tables alone, those of the same columns as one; everything else in comments.
    """
    packages = "booktabs" if paper else "amsmath,booktabs,longtable"
    parts = [f"% Needs \\usepackage{{{packages}}}; {FONTS}"]
    parts += _paper(made) if paper else map(_block, made)
    return "\n\n".join(part for part in parts if part) + "\n"


# ---- a document ----


def _block(block: Block) -> str:
    match block:
        case elements.Heading():
            return rf"\{HEADINGS[block.level - 1]}*{{{escaped(block.text)}}}"
        case elements.Paragraph():
            if block.kind == "signature":
                return rf"\noindent{{\small\texttt{{{_broken(block.text)}}}}}"
            style = {"caution": r"\emph", "lead": r"\textbf"}.get(block.kind, "")
            return rf"\noindent{style}{{{escaped(block.text)}}}"
        case elements.Table():
            return _long_table(block)
        case elements.Words():
            return _words(block)
        case elements.Chart():
            return ""
        case elements.Facts():
            return "\n\n".join(
                rf"\noindent{{\small {escaped(name)}: {_cell(cell)}}}" for name, cell in block.pairs
            )
        case _:
            return as_latex(block.equations)


def _long_table(block: Table) -> str:
    """A table that may run over pages."""
    sides, header, *body = _rows(block)
    if block.sums:
        body.insert(len(body) - 1, r"\midrule")
    start = [rf"\begin{{longtable}}[l]{{{sides}}}", r"\toprule", header, r"\midrule"]
    return "\n".join([*start, *body, r"\bottomrule", r"\end{longtable}"])


def _rows(block: Table, *, aligned: bool = False) -> list[str]:
    """The sides of the columns, the header and the rows; `aligned` in the source as well."""
    heads, rows = block.written()
    sides = _sides(block)
    header = [escaped(column.header) for column in heads]
    cells = [header, *([_cell(cell) for cell in row] for row in rows)]
    if aligned:
        cells = pad_columns(cells, {i for i, side in enumerate(sides) if side == "r"})
    return [sides, *(" & ".join(row) + r" \\" for row in cells)]


def _words(block: Words) -> str:
    """Tokens, each with its mark raised; cut ones are underlined."""
    tokens = []
    for i, token in enumerate(block.tokens):
        made = escaped(token)
        if i in block.cut:
            made = rf"\underline{{{made}}}"
        if block.marks:
            made += rf"\textsuperscript{{{escaped(block.marks[i])}}}"
        tokens.append(made)
    text = rf"\noindent\textbf{{{escaped(block.label)}.}} {' '.join(tokens)}"
    legend = block.legend.replace("Below each token", "Raised behind each token")
    return text + (f"\n\n\\noindent{{\\small {escaped(legend)}}}" if legend else "")


# ---- tables for a paper ----


def _paper(made: Iterable[Block]) -> Iterator[str]:
    kept = (one for one in made if isinstance(one, Written))
    before = ""
    # Tables whose columns are set to the same sides become one.
    for sides, group in groupby(kept, _sides):
        if sides:
            yield from [r"\par\bigskip"] if before else []
            yield _tabular([block for block in group if isinstance(block, elements.Table)])
        else:
            yield "\n".join(f"% {line}" for block in group for line in _told(block))
        before = sides


def _sides(block: Block) -> str:
    """The side that each column of a table is set to; nothing for what is no table."""
    heads = block.written()[0] if isinstance(block, elements.Table) else ()
    return "".join("l" if column.left else "r" for column in heads)


def _told(block: Block) -> Sequence[str]:
    if isinstance(block, elements.Facts):
        return [f"{name}: {cell.text}" for name, cell in block.pairs]
    return [block.text] if isinstance(block, elements.Heading | elements.Paragraph) else []


def _tabular(tables: Sequence[Table]) -> str:
    """Tables below each other in one."""
    captions = ", ".join(table.caption for table in tables if table.caption)
    lines = [f"% {captions}"] if captions else []
    for i, table in enumerate(tables):
        sides, header, *body = _rows(table, aligned=True)
        lines += [r"\midrule"] if i else [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
        lines += [header, r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _cell(cell: Cell) -> str:
    text = _broken(cell.text) if cell.code else escaped(cell.text)
    if cell.code and text:
        text = rf"\texttt{{{text}}}"
    if cell.mark == "best" and text:
        text = rf"\textbf{{{text}}}"
    return text + (rf"\textsuperscript{{{escaped(cell.raised)}}}" if cell.raised else "")


def escaped(text: str) -> str:
    """Text in which nothing is a command."""
    return text.translate(SPECIAL)


def _broken(text: str) -> str:
    """A signature, which lines may break behind its bars."""
    return escaped(text).replace(r"\textbar{}", r"\textbar{}\allowbreak{}")
