"""An explanation as HTML: a page of its own, or a part of a notebook. No script."""

from __future__ import annotations

from html import escape

from truebleu.explanation import document, equations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from truebleu.explanation.document import Block, Ngram, Table, Words

# Tables of n-grams with more rows than this start folded.
SHOWN = 24

# Colours go with the order of a match, from pale to full; a number says the same.
STYLE = """
.truebleu { --ink: #1c2230; --soft: #596175; --line: #d5dae3; --paper: #ffffff; --tint: #f4f6f9;
  --match: 37 99 235; --cut: #b42318;
  color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { .truebleu { --ink: #e7eaf0; --soft: #a3abbd; --line: #39415a;
  --paper: #12161f; --tint: #1a2030; --match: 96 150 255; --cut: #ff9c8f; } }
.truebleu h1 { font-size: 1.75rem; margin: 0 0 .25rem; }
.truebleu h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
.truebleu h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
.truebleu p { margin: .5rem 0; max-width: 44rem; }
.truebleu .signature { font-family: ui-monospace, monospace; font-size: .8rem; color: var(--soft); }
.truebleu .caution { border-left: 4px solid var(--cut); padding: .25rem .75rem; }
.truebleu .scroll { overflow-x: auto; }
.truebleu table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums;
  background: none; color: inherit; font-size: .95rem; }
.truebleu th, .truebleu td { padding: .2rem .75rem; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: baseline; overflow-wrap: break-word; }
.truebleu th { color: var(--soft); font-weight: 600; }
.truebleu .number { text-align: right; white-space: nowrap; }
.truebleu tr.sum td { font-weight: 600; border-bottom: 0; }
.truebleu code { font-family: ui-monospace, monospace; font-size: .9em; white-space: pre-wrap; }
.truebleu summary { cursor: pointer; color: var(--soft); }
.truebleu .words { font-size: 1.1rem; line-height: 2.3; margin: .25rem 0 1rem; }
.truebleu .words .label { display: block; font-size: .85rem; color: var(--soft); line-height: 1.5; }
.truebleu .word { padding: .15rem .3rem; border-radius: .25rem; background: var(--tint);
  margin-right: .2rem; unicode-bidi: isolate; }
.truebleu .word sub { font-size: .65rem; color: var(--soft); margin-left: .15rem; }
.truebleu .m0 { background: none; outline: 1px dashed var(--line); outline-offset: -1px; }
.truebleu .m1 { background: rgb(var(--match) / .12); }
.truebleu .m2 { background: rgb(var(--match) / .22); }
.truebleu .m3 { background: rgb(var(--match) / .32); }
.truebleu .m4 { background: rgb(var(--match) / .44); }
.truebleu .m1 sub, .truebleu .m2 sub, .truebleu .m3 sub, .truebleu .m4 sub { color: var(--ink); }
.truebleu .cut { text-decoration: underline wavy var(--cut); text-underline-offset: .3em; }
.truebleu math { margin: .75rem 0; font-size: 1.1rem; }
.truebleu .math { overflow-x: auto; overflow-y: hidden; }
.truebleu mtd:first-child { text-align: right; padding-right: .2em; }
.truebleu mtd { text-align: left; padding: .25em .1em; }
.truebleu mtable { margin-left: 0; }
"""
PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: #ffffff; }
@media (prefers-color-scheme: dark) { body { background: #12161f; } }
"""


def page(content: Mapping[str, Any]) -> str:
    """A whole page."""
    title = escape(document.title(content))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n"
        f"{fragment(content)}</body>\n</html>\n"
    )


def fragment(content: Mapping[str, Any]) -> str:
    """A part of a page, with its own style."""
    blocks = "\n".join(_block(block) for block in document.of_content(content))
    return f'<style>{STYLE}</style>\n<main class="truebleu">\n{blocks}\n</main>\n'


def _block(block: Block) -> str:
    match block:
        case document.Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case document.Paragraph():
            name = {"code": ' class="signature"', "caution": ' class="caution"'}.get(block.kind, "")
            text = escape(block.text)
            if block.kind == "code":
                text = text.replace("|", "|<wbr>")
            return f"<p{name}>{text}</p>"
        case document.Table():
            return table(block)
        case document.Words():
            return words(block)
        case _:
            return f'<div class="math">{equations.as_mathml(block.equations)}</div>'


def table(block: Table) -> str:
    """A table; a long one is folded."""

    def number(i: int) -> str:
        return ' class="number"' if i in block.numbers else ""

    head = "".join(
        f'<th scope="col"{number(i)}>{escape(c)}</th>' for i, c in enumerate(block.header)
    )
    rows = []
    for row in block.rows:
        cells = "".join(f"<td{number(i)}>{_cell(cell)}</td>" for i, cell in enumerate(row))
        rows.append(f"<tr>{cells}</tr>" if row[0] else f'<tr class="sum">{cells}</tr>')
    body = "\n".join(rows)
    made = (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )
    if len(rows) <= SHOWN:
        return made
    return f"<details><summary>{escape(block.summary or 'Show')}</summary>\n{made}\n</details>"


def _cell(cell: str | Ngram) -> str:
    return f"<code>{escape(' '.join(cell))}</code>" if isinstance(cell, tuple) else escape(cell)


def words(block: Words) -> str:
    """Tokens, coloured and numbered by their longest match."""
    made = []
    for i, token in enumerate(block.tokens):
        if block.longest is None:
            made.append(f'<span class="word">{escape(token)}</span>')
            continue
        longest = block.longest[i]
        cut = block.clipped[i] if block.clipped else ()
        small = str(longest or "–")
        names = f"word m{min(longest, 4)}{' cut' if cut else ''}"
        title = f"longest match: {longest} token{'s' if longest != 1 else ''}"
        title = title if longest else "no match"
        if cut:
            title += f"; clipped in order {', '.join(map(str, cut))}"
        made.append(
            f'<span class="{names}" title="{title}">{escape(token)}<sub>{small}</sub></span>'
        )
    legend = ""
    if block.longest is not None and block.tokens:
        legend = (
            '<span class="label">The small number is the length of the longest matching n-gram '
            "that a token is in. A wavy line marks n-grams that occur more often than they may "
            "count.</span>"
        )
    text = "\n".join(made) or "(none)"
    return (
        f'<div class="words" dir="auto"><span class="label">{escape(block.label)}</span>\n{text}\n'
        f"{legend}</div>"
    )
