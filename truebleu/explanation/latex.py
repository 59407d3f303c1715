"""An explanation as LaTeX, for a document that uses amsmath and booktabs."""

from __future__ import annotations

from truebleu.explanation import document, equations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from truebleu.explanation.document import Block, Ngram, Table, Words

PREAMBLE = (
    "% Needs \\usepackage{amsmath,booktabs,longtable}; "
    "text beyond Latin also needs XeLaTeX or LuaLaTeX and a font that has it."
)
HEADINGS = ("section", "subsection", "subsubsection")


def render(content: Mapping[str, Any]) -> str:
    """The whole explanation, to be put into a document with `input`."""
    blocks = [_block(block) for block in document.of_content(content)]
    return "\n\n".join([PREAMBLE, *blocks]) + "\n"


def _block(block: Block) -> str:
    match block:
        case document.Heading():
            return rf"\{HEADINGS[block.level - 1]}*{{{escaped(block.text)}}}"
        case document.Paragraph():
            if block.kind == "code":
                return rf"\noindent{{\small\texttt{{{broken(block.text)}}}}}"
            style = r"\emph" if block.kind == "caution" else ""
            return rf"\noindent{style}{{{escaped(block.text)}}}"
        case document.Table():
            return table(block)
        case document.Words():
            return words(block)
        case _:
            return equations.as_latex(block.equations)


def table(block: Table) -> str:
    """A table that may run over pages. A last row without an n-gram is the sum."""
    columns = "".join("r" if i in block.numbers else "l" for i in range(len(block.header)))
    rows = [" & ".join(_cell(cell) for cell in row) + r" \\" for row in block.rows]
    if block.rows and not block.rows[-1][0]:
        rows.insert(len(rows) - 1, r"\midrule")
    return "\n".join(
        [
            rf"\begin{{longtable}}[l]{{{columns}}}",
            r"\toprule",
            " & ".join(_cell(cell) for cell in block.header) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{longtable}",
        ]
    )


def _cell(cell: str | Ngram) -> str:
    if isinstance(cell, tuple):
        return rf"\texttt{{{escaped(' '.join(cell))}}}"
    return escaped(cell)


def words(block: Words) -> str:
    """Tokens, each with the order of its longest match raised; clipped ones are underlined."""
    tokens = []
    for i, token in enumerate(block.tokens):
        made = escaped(token)
        if block.clipped is not None and block.clipped[i]:
            made = rf"\underline{{{made}}}"
        if block.longest is not None:
            made += rf"\textsuperscript{{{block.longest[i] or '--'}}}"
        tokens.append(made)
    text = rf"\noindent\textbf{{{escaped(block.label)}.}} {' '.join(tokens)}"
    if block.longest is not None and block.tokens:
        text += (
            "\n\n\\noindent{\\small The raised number is the length of the longest matching n-gram "
            "that a token is in (-- for none); underlined tokens are in an n-gram that occurs "
            "more often than it may count.}"
        )
    return text


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
        "∞": r"$\infty$",
        "Δ": r"$\Delta$",
        "×": r"$\times$",
        "≥": r"$\ge$",
        "·": r"$\cdot$",
        "“": "``",
        "”": "''",
        # A bracket right behind a line end would be read as its argument.
        "[": "{[}",
        "]": "{]}",
    }
)


def escaped(text: str) -> str:
    """Text in which nothing is a command."""
    return text.translate(SPECIAL)


def broken(text: str) -> str:
    """A signature, which lines may break behind its bars."""
    return escaped(text).replace(r"\textbar{}", r"\textbar{}\allowbreak{}")
