"""Render blocks as LaTeX, either as the text of a document or as tables for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from truebleu.rendering import elements
from truebleu.rendering.elements import Block, Cell, MarkedTokens, Table
from truebleu.rendering.equations import as_latex
from truebleu.text.terminal_layout import pad_columns

# Blocks that are rendered for a paper.
PaperBlock = elements.Table | elements.Heading | elements.Paragraph | elements.Facts

FONTS = "non-Latin text also needs XeLaTeX or LuaLaTeX and a suitable font."
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
        # Two hyphens would become a dash.
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
        # After a line end, LaTeX would interpret a bracket as an optional argument.
        "[": "{[}",
        "]": "{]}",
    }
)


def render_latex(blocks: Iterable[Block], *, paper: bool = False) -> str:
    """Return LaTeX to include in a document with `input`.

    paper: render only tables, and merge consecutive tables with equal alignment. Other blocks
        become comments.
    """
    packages = "booktabs" if paper else "amsmath,booktabs,longtable"
    parts = [f"% Needs \\usepackage{{{packages}}}; {FONTS}"]
    parts += _render_paper(blocks) if paper else map(_render_latex_block, blocks)
    return "\n\n".join(part for part in parts if part) + "\n"


# ---- a document ----


def _render_latex_block(block: Block) -> str:
    match block:
        case elements.Heading():
            return rf"\{HEADINGS[block.level - 1]}*{{{escape_latex(block.text)}}}"
        case elements.Paragraph():
            if block.kind == "signature":
                return rf"\noindent{{\small\texttt{{{_format_breakable_signature(block.text)}}}}}"
            style = {"caution": r"\emph", "lead": r"\textbf"}.get(block.kind, "")
            return rf"\noindent{style}{{{escape_latex(block.text)}}}"
        case elements.Table():
            return _render_long_table(block)
        case elements.MarkedTokens():
            return _render_latex_tokens(block)
        case elements.Chart():
            return ""
        case elements.Facts():
            return "\n\n".join(
                rf"\noindent{{\small {escape_latex(name)}: {_render_latex_cell(cell)}}}"
                for name, cell in block.pairs
            )
        case _:
            return as_latex(block.equations)


def _render_long_table(block: Table) -> str:
    """Return a table that may span several pages."""
    alignment, header, *body = _build_latex_rows(block)
    if block.has_total_row:
        body.insert(len(body) - 1, r"\midrule")
    start = [rf"\begin{{longtable}}[l]{{{alignment}}}", r"\toprule", header, r"\midrule"]
    return "\n".join([*start, *body, r"\bottomrule", r"\end{longtable}"])


def _build_latex_rows(block: Table, *, aligned: bool = False) -> list[str]:
    """Return the column alignment, the header and the rows.

    aligned: align the columns in the LaTeX source as well.
    """
    text_columns, rows = block.get_text_cells()
    alignment = _get_column_alignment(block)
    header = [escape_latex(column.header) for column in text_columns]
    cells = [header, *([_render_latex_cell(cell) for cell in row] for row in rows)]
    if aligned:
        cells = pad_columns(cells, {i for i, side in enumerate(alignment) if side == "r"})
    return [alignment, *(" & ".join(row) + r" \\" for row in cells)]


def _render_latex_tokens(block: MarkedTokens) -> str:
    """Return tokens with raised marks."""
    tokens = []
    for i, token in enumerate(block.tokens):
        token_text = escape_latex(token)
        if i in block.underlined:
            token_text = rf"\underline{{{token_text}}}"
        if block.marks:
            token_text += rf"\textsuperscript{{{escape_latex(block.marks[i])}}}"
        tokens.append(token_text)
    text = rf"\noindent\textbf{{{escape_latex(block.label)}.}} {' '.join(tokens)}"
    legend = block.legend.replace("Below each token", "Raised after each token")
    return text + (f"\n\n\\noindent{{\\small {escape_latex(legend)}}}" if legend else "")


# ---- tables for a paper ----


def _render_paper(blocks: Iterable[Block]) -> Iterator[str]:
    paper_blocks = (one for one in blocks if isinstance(one, PaperBlock))
    previous_alignment = ""
    for alignment, group in groupby(paper_blocks, _get_column_alignment):
        if alignment:
            yield from [r"\par\bigskip"] if previous_alignment else []
            yield _render_tabular([block for block in group if isinstance(block, elements.Table)])
        else:
            yield "\n".join(f"% {line}" for block in group for line in _list_comment_lines(block))
        previous_alignment = alignment


def _get_column_alignment(block: Block) -> str:
    """Return the alignment of each column, or an empty string if the block is not a table."""
    text_columns = block.get_text_cells()[0] if isinstance(block, elements.Table) else ()
    return "".join("l" if column.is_left_aligned else "r" for column in text_columns)


def _list_comment_lines(block: Block) -> Sequence[str]:
    if isinstance(block, elements.Facts):
        return [f"{name}: {cell.text}" for name, cell in block.pairs]
    return [block.text] if isinstance(block, elements.Heading | elements.Paragraph) else []


def _render_tabular(tables: Sequence[Table]) -> str:
    """Return several tables as one, below each other."""
    captions = ", ".join(table.caption for table in tables if table.caption)
    lines = [f"% {captions}"] if captions else []
    for i, table in enumerate(tables):
        alignment, header, *body = _build_latex_rows(table, aligned=True)
        lines += [r"\midrule"] if i else [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
        lines += [header, r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _render_latex_cell(cell: Cell) -> str:
    text = _format_breakable_signature(cell.text) if cell.code else escape_latex(cell.text)
    if cell.code and text:
        text = rf"\texttt{{{text}}}"
    if cell.mark == "best" and text:
        text = rf"\textbf{{{text}}}"
    return text + (rf"\textsuperscript{{{escape_latex(cell.raised)}}}" if cell.raised else "")


def escape_latex(text: str) -> str:
    """Return text with LaTeX commands escaped."""
    return text.translate(SPECIAL)


def _format_breakable_signature(text: str) -> str:
    """Return a signature that LaTeX may break after its vertical bars."""
    return escape_latex(text).replace(r"\textbar{}", r"\textbar{}\allowbreak{}")
