"""Formulas with their numbers, as plain text, LaTeX and MathML.

A formula is a tree of text and nodes. A node is a tuple of its kind and parts: ("row", a, b, ...),
("frac", numerator, denominator), ("sub", name, index), ("sup", base, exponent), ("exp", x),
("paren", x), ("ln", x), ("sum", index).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truebleu.rendering.number_format import MINUS

# A formula: text, or a tuple that contains the kind of node and its parts.
Node = str | tuple[Any, ...]
# An equation: its left side, which may be empty, and its right side.
Equation = tuple[Node, Node]
# Multi-letter names, which are printed upright.
NAMES = (
    *("BP", "BLEU", "chrF", "TER", "NIST", "GLEU", "P", "R", "F"),
    *("WER", "MER", "WIL", "WIP", "CER"),
)
SUBSCRIPTS = str.maketrans("0123456789n", "₀₁₂₃₄₅₆₇₈₉ₙ")
SUPERSCRIPTS = str.maketrans("0123456789n", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ")
SIGNS = {"·": r"\cdot", "≥": r"\ge", MINUS: "-", "=": "=", "+": "+"}


def add_nodes(nodes: Sequence[Node]) -> Node:
    """Return a row of nodes with plus signs between them."""
    return ("row", *[part for node in nodes for part in (" + ", node)][1:])


def _format_node(
    node: Node,
    forms: Mapping[str, str | Callable[..., str]],
    leaf: Callable[[str], str],
    template: str = "{}",
) -> str:
    """Format a formula, using `forms` for the kinds of node and `leaf` for plain text.

    template: format string that is applied to each part of a node.
    """
    if isinstance(node, str):
        return leaf(node)
    kind, *parts = node
    texts = [template.format(_format_node(one, forms, leaf, template)) for one in parts]
    form = forms.get(kind)
    if form is None:
        return "".join(texts)
    return form.format(*texts) if isinstance(form, str) else form(*texts)


# ---- text ----


TEXT: Mapping[str, str | Callable[..., str]] = {
    "frac": lambda *sides: "/".join(f"({side})" if " " in side else side for side in sides),
    "exp": "exp({})",
    "paren": "({})",
    "ln": "ln {}",
    "sub": lambda name, index: f"{name}{index.translate(SUBSCRIPTS)}",
    "sup": lambda base, exponent: f"{base}{exponent.translate(SUPERSCRIPTS)}",
    "sum": "Σ ",
}


def as_text(equations: Sequence[Equation]) -> list[str]:
    """Format equations as lines of text, aligned at their equals signs."""
    sides = [[_format_node(side, TEXT, str) for side in equation] for equation in equations]
    width = max(len(left) for left, _ in sides)
    return [f"{left:>{width}} = {right}" for left, right in sides]


# ---- LaTeX ----

LATEX = {
    "frac": r"\frac{{{}}}{{{}}}",
    "exp": r"\exp\left({}\right)",
    "paren": r"\left({}\right)",
    "ln": r"\ln {}",
    "sub": "{}_{{{}}}",
    "sup": "{}^{{{}}}",
    "sum": r"\sum_{{{}}} ",
}


def as_latex(equations: Sequence[Equation]) -> str:
    """Format equations as an `align*` environment of amsmath."""
    sides = [
        [_format_node(side, LATEX, _format_latex_text) for side in equation]
        for equation in equations
    ]
    lines = [rf"{left} &= {right} \\" for left, right in sides]
    return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])


def _format_latex_text(text: str) -> str:
    words = []
    for word in text.split(" "):
        if word in SIGNS:
            words.append(SIGNS[word])
        elif word in NAMES:
            words.append(rf"\mathrm{{{word}}}")
        elif word == "β":
            words.append(r"\beta")
        elif len(word) > 1 and word.isascii() and not any(c.isdecimal() for c in word):
            words.append(rf"\text{{ {word} }}")
        else:
            words.append(word.replace(MINUS, "-"))
    return " ".join(words)


# ---- MathML ----

SPACE = '<mspace width="0.17em"/>'
MATHML = {
    "frac": "<mfrac>{}{}</mfrac>",
    "exp": "<mrow><mi>exp</mi><mo>(</mo>{}<mo>)</mo></mrow>",
    "paren": "<mrow><mo>(</mo>{}<mo>)</mo></mrow>",
    "ln": f"<mrow>{SPACE}<mi>ln</mi>{SPACE}{{}}</mrow>",
    "sub": "<msub>{}{}</msub>",
    "sup": "<msup>{}{}</msup>",
    "sum": "<munder><mo>∑</mo>{}</munder>",
}


def as_mathml(equations: Sequence[Equation]) -> str:
    """Format equations as a MathML table, which browsers show without a script."""
    row = "<mtr><mtd>{}</mtd><mtd><mo>=</mo></mtd><mtd>{}</mtd></mtr>"
    rows = "".join(
        row.format(
            *(
                _format_node(side, MATHML, _format_mathml_text, "<mrow>{}</mrow>")
                for side in equation
            )
        )
        for equation in equations
    )
    return f'<math display="block"><mtable displaystyle="true">{rows}</mtable></math>'


def _format_mathml_text(text: str) -> str:
    from html import escape  # imported here because its table of entities loads slowly

    words = []
    for word in filter(None, text.replace(",", " , ").split(" ")):
        if word[0].isdecimal() or (word[0] == MINUS and len(word) > 1):
            words.append(f"<mn>{escape(word)}</mn>")
        elif word in SIGNS:
            words.append(f"<mo>{word}</mo>")
        elif word in NAMES:
            words.append(f'<mi mathvariant="normal">{word}</mi>')
        elif len(word) == 1 and word.isalpha():
            words.append(f"<mi>{word}</mi>")
        elif word == ",":
            words.append("<mtext>,</mtext>")
        else:
            words.append(f"<mtext>&nbsp;{escape(word)}&nbsp;</mtext>")
    return "".join(words)
