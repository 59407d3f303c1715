"""Render blocks as LaTeX, either as the text of a document or as tables for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from truebleu.rendering import elements
from truebleu.rendering.elements import (
    Block,
    Cell,
    MarkedTokens,
    PaperBlock,
    PaperTable,
    Section,
    Table,
)
from truebleu.rendering.equations import as_latex
from truebleu.text.citations import CODE_POINT, encode_tex
from truebleu.text.terminal_layout import pad_columns

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
        # \textquotedbl needs another font encoding, and curly quotes would hide a difference.
        '"': r"{\ttfamily\char34}",
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        # After a line break, LaTeX would interpret a bracket as the start of an optional argument.
        "[": "{[}",
        "]": "{]}",
        # ... and a star as a part of the command for the line end.
        "*": "{*}",
    }
)


# A possible line break in typewriter text, whose spaces cannot stretch. It leaves the rest of the
# line empty; without the break, the two spaces cancel out.
BREAK = r"\hfil\allowbreak\hfilneg{}"
# Signature fields longer than this get additional possible breaks.
MAX_FIELD_LENGTH = 20


def render_latex(blocks: Iterable[Block]) -> str:
    """Return the LaTeX text of a document, to include with `input`."""
    needs = (
        r"% Needs \usepackage{amsmath,booktabs,longtable}. Texts that are not in Latin script also "
        "need XeLaTeX or LuaLaTeX and a suitable font."
    )
    parts = [needs, *map(_render_latex_block, blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_latex_tables(blocks: Iterable[PaperBlock]) -> str:
    """Return only the tables, in ASCII, for a paper. Other blocks become comments.

    Consecutive tables with equal alignment become one `tabular`.
    """
    text = encode_tex("\n\n".join([r"% Needs \usepackage{booktabs}.", *_render_tables(blocks)]))
    if CODE_POINT in text:
        code_point = text.partition(CODE_POINT)[2].partition("}")[0]
        text = (
            f"% Note: code points such as U+{code_point} replace characters that pdfLaTeX cannot "
            f"print. Rename systems or groups to avoid them.\n{text}"
        )
    return f"{text}\n"


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
            # A longtable may span several pages.
            alignment, header, *body = _build_latex_rows(block)
            if block.has_total_row:
                body.insert(len(body) - 1, r"\midrule")
            start = [rf"\begin{{longtable}}[l]{{{alignment}}}", r"\toprule", header, r"\midrule"]
            return "\n".join([*start, *body, r"\bottomrule", r"\end{longtable}"])
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


def _build_latex_rows(block: Table, *, aligned: bool = False) -> list[str]:
    """Return the column alignment, the header and the rows; `aligned` pads the source."""
    alignment = _get_column_alignment(block)
    header = [_render_header(column.header) for column in block.columns]
    cells = [header, *(list(map(_render_latex_cell, row)) for row in block.rows)]
    if aligned:
        cells = pad_columns(cells, {i for i, side in enumerate(alignment) if side == "r"})
    return [alignment, *(" & ".join(row) + r" \\" for row in cells)]


def _render_latex_tokens(block: MarkedTokens) -> str:
    tokens = []
    for i, token in enumerate(block.tokens):
        token_text = escape_latex(token)
        if i in block.underlined:
            token_text = rf"\underline{{{token_text}}}"
        if block.marks:
            token_text += rf"\textsuperscript{{{escape_latex(block.marks[i])}}}"
        tokens.append(token_text)
    text = rf"\noindent\textbf{{{escape_latex(block.label)}.}} {' '.join(tokens)}"
    legend = block.legend.replace("Below each token", "Superscript after each token")
    return text + (f"\n\n\\noindent{{\\small {escape_latex(legend)}}}" if legend else "")


# ---- tables for a paper ----


def _render_tables(blocks: Iterable[PaperBlock]) -> Iterator[str]:
    was_table = False
    for alignment, group in groupby(blocks, _get_column_alignment):
        comment_lines: list[str] = []
        if alignment:
            yield from [r"\par\bigskip"] if was_table else []
            yield _render_tabular([block for block in group if isinstance(block, elements.Table)])
        else:
            for block in group:
                if isinstance(block, PaperTable):
                    yield from ["\n".join(comment_lines)] if comment_lines else []
                    yield from _render_paper_tables(block)
                    comment_lines = []
                elif isinstance(block, elements.Facts):
                    comment_lines += [f"% {name}: {cell.text}" for name, cell in block.pairs]
                elif isinstance(block, elements.Heading | elements.Paragraph):
                    comment_lines.append(f"% {block.text}")
        yield from ["\n".join(comment_lines)] if comment_lines else []
        was_table = bool(alignment)


def _get_column_alignment(block: PaperBlock) -> str:
    """Return the alignment of each column, or an empty string if the block is not a table."""
    columns = block.columns if isinstance(block, elements.Table) else ()
    return "".join("l" if column.is_left_aligned else "r" for column in columns)


def _render_tabular(tables: Sequence[Table]) -> str:
    captions = ", ".join(table.caption for table in tables if table.caption)
    lines = [f"% {captions}"] if captions else []
    for i, table in enumerate(tables):
        alignment, header, *body = _build_latex_rows(table, aligned=True)
        lines += [r"\midrule"] if i else [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
        lines += [header, r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


# Widths in points: a character at 11 pt, the space between columns, a text column, and a page.
CHARACTER_WIDTH, COLUMN_SPACE, COLUMN_WIDTH, PAGE_WIDTH = 5.75, 12, 219, 345


# Maximum number of rows and of lines of the caption and the footnotes on a page of a paper.
MAX_PAGE_ROWS = 35
CAPTION_WIDTH = 120


def _render_paper_tables(block: PaperTable) -> Iterator[str]:
    """Yield a table, or the parts of a table that is too long for one page."""
    paragraphs = [*block.caption, *block.footnotes]
    used = sum(1 + len(one.text) // CAPTION_WIDTH for one in paragraphs)
    pages = list(_split_into_pages(block.sections, max(MAX_PAGE_ROWS - used, 10)))
    if len(pages) == 1:
        yield _render_paper_table(block)
        return
    row_count = sum(len(rows) for _, rows in block.sections)
    yield f"% Note: the table has {row_count} rows and is split into {len(pages)} tables."
    yield _render_paper_table(block.replace(sections=pages[0]))
    caption = rf"Table~\ref{{{block.label}}}, continued."
    for number, page in enumerate(pages[1:], 2):
        label = f"{block.label}-{number}"
        part = block.replace(sections=page, footnotes=(), label=label)
        yield _render_paper_table(part, caption)


def _split_into_pages(sections: Sequence[Section], max_rows: int) -> Iterator[list[Section]]:
    """Yield the sections of each page. Only sections longer than a page are divided."""
    page: list[Section] = []
    free_rows = max_rows
    for title, rows in sections:
        for start in range(0, len(rows), max_rows - 1):
            part = rows[start : start + max_rows - 1]
            if page and len(part) + bool(title) > free_rows:
                yield page
                page, free_rows = [], max_rows
            page.append((f"{title} (continued)" if title and start else title, part))
            free_rows -= len(part) + bool(title)
    yield page


def _render_paper_table(block: PaperTable, caption: str = "") -> str:
    """Return a `table` environment, or a `table*` if the table is wider than a text column.

    caption: LaTeX to use instead of the caption of the block.
    """
    rows = [row for _, section_rows in block.sections for row in section_rows]
    headers = [_render_header(column.header) for column in block.columns]
    cells = pad_columns(
        [headers, *([_render_latex_cell(cell, overlap=True) for cell in row] for row in rows)],
        {i for i, column in enumerate(block.columns) if not column.is_left_aligned},
    )
    header, *lines = [" & ".join(row) + r" \\" for row in cells]
    width = sum(
        CHARACTER_WIDTH * max(len(text) for text in (column.header, *(row[i].text for row in rows)))
        + COLUMN_SPACE
        for i, column in enumerate(block.columns)
    )
    size = (
        "" if width <= PAGE_WIDTH else r"\small" if width <= PAGE_WIDTH / 0.9 else r"\footnotesize"
    )
    environment = "table" if width <= COLUMN_WIDTH else "table*"
    alignment = "".join("l" if column.is_left_aligned else "r" for column in block.columns)
    output = [
        rf"\begin{{{environment}}}[t]",
        r"\centering" + size,
        *([r"\setlength{\tabcolsep}{4pt}"] if size == r"\footnotesize" else []),
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_render_group_headers(block.columns),
        header,
    ]
    start = 0
    for title, section_rows in block.sections:
        output.append(r"\midrule")
        if title:
            span = rf"\multicolumn{{{len(block.columns)}}}{{l}}"
            output.append(rf"{span}{{\emph{{{escape_latex(title)}}}}} \\")
        output += lines[start : start + len(section_rows)]
        start += len(section_rows)
    output += [r"\bottomrule", r"\end{tabular}"]
    if block.footnotes:
        notes = [f"{_render_note(note)}\\par" for note in block.footnotes]
        output += [r"\par\smallskip", "{\\footnotesize\\raggedright", *notes, "}"]
    caption = caption or " ".join(map(_render_note, block.caption))
    return "\n".join(
        [*output, rf"\caption{{{caption}}}", rf"\label{{{block.label}}}", rf"\end{{{environment}}}"]
    )


def _render_group_headers(columns: Sequence[elements.Column]) -> Iterator[str]:
    """Yield the row of headers above groups of columns and the rules below these headers."""
    if not any(column.group_header for column in columns):
        return
    cells, rules, end = [], [], 0
    for header, group in groupby(columns, lambda column: column.group_header):
        count = len(list(group))
        cells.append(
            rf"\multicolumn{{{count}}}{{c}}{{{escape_latex(header)}}}"
            if header
            else " & ".join([""] * count)
        )
        rules += [rf"\cmidrule(lr){{{end + 1}-{end + count}}}"] if header else []
        end += count
    yield " & ".join(cells) + r" \\"
    yield " ".join(rules)


def _render_note(note: elements.Paragraph) -> str:
    is_signature = note.kind == "signature"
    return render_latex_signature(note.text) if is_signature else render_latex_text(note.text)


def _render_header(header: str) -> str:
    """Return a column header, with the p of p-values in italics."""
    return re.sub(r"(?<!\S)p(?!\S)", "$p$", escape_latex(header))


def render_latex_signature(signature: str) -> str:
    """Return a signature in typewriter type, with possible line breaks."""
    return rf"\texttt{{{_format_breakable_signature(signature)}}}"


def render_latex_text(text: str) -> str:
    """Return prose with LaTeX commands escaped and p-values typeset as formulas."""
    text = escape_latex(text).replace(r"\textquotesingle{}", "'")
    return re.sub(r"\bp \\textless\{\} ([0-9.]+)", r"$p < \1$", text)


def _render_latex_cell(cell: Cell, *, overlap: bool = False) -> str:
    """Render a cell. `overlap`: superscripts take no space, so that numbers stay aligned."""
    text = _format_breakable_signature(cell.text) if cell.code else escape_latex(cell.text)
    if cell.code and text:
        text = rf"\texttt{{{text}}}"
    if cell.mark == "best" and text:
        text = rf"\textbf{{{text}}}"
    raised = rf"\textsuperscript{{{escape_latex(cell.raised)}}}" if cell.raised else ""
    return text + (rf"\rlap{{{raised}}}" if raised and overlap else raised)


def escape_latex(text: str) -> str:
    """Return text with LaTeX commands escaped, and accented letters and symbols as commands."""
    # Two hyphens would become a dash.
    escaped = re.sub("-(?=-)", "-{}", text.translate(SPECIAL))
    return encode_tex(escaped, ascii_only=False)


def unescape_latex(text: str) -> str:
    r"""Return LaTeX without the commands that escape characters or typeset signatures.

    >>> unescape_latex(r"\texttt{M\_1|\allowbreak{}nrefs:1}\par: 50\%")
    ' M_1|nrefs:1 \\par: 50%'
    """
    text = text.replace(BREAK, "").replace(r"\allowbreak{}", "").replace("-{}", "-")
    text = re.sub(r"\\texttt\{((?:\\.|[^\\{}]|\{[^{}]*\})*)\}", r" \1 ", text)
    characters = {command: chr(code) for code, command in SPECIAL.items()}
    commands = "|".join(map(re.escape, characters))
    return re.sub(commands, lambda match: characters[match[0]], text)


def _format_breakable_signature(text: str) -> str:
    """Return a signature that LaTeX may break after its vertical bars.

    Long fields, such as names of models, may also break after colons and slashes.
    """
    fields = []
    for field in text.split("|"):
        # The typewriter font of the default encoding has these characters.
        parts = re.split('([<>"])', field)
        escaped = "".join(part if i % 2 else escape_latex(part) for i, part in enumerate(parts))
        if len(field) > MAX_FIELD_LENGTH:
            escaped = escaped.replace(":", f":{BREAK}").replace("/", f"/{BREAK}")
        fields.append(escaped)
    return f"|{BREAK}".join(fields)
