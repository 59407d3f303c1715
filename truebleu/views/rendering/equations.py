"""Formulas with the numbers put in, as plain text, LaTeX and MathML.

A formula is a tree: text, or a node of a kind and its parts: ("row", a, b, ...), ("frac", above,
below), ("sub", name, index), ("sup", base, exponent), ("exp", x), ("paren", x), ("ln", x),
("sum", index).
"""

from __future__ import annotations

from html import escape

from truebleu.views.rendering.numbers import MINUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    # Text, or a node: its kind and its parts.
    Node = str | tuple[Any, ...]
    # A left side, which may be empty, and a right side.
    Equation = tuple[Node, Node]

# Names of several letters, which are set upright.
NAMES = ("BP", "BLEU", "chrF", "TER", "NIST", "GLEU", "P", "R", "F")
SUBSCRIPTS = str.maketrans("0123456789n", "₀₁₂₃₄₅₆₇₈₉ₙ")
SUPERSCRIPTS = str.maketrans("0123456789n", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ")
SIGNS = {"·": r"\cdot", "≥": r"\ge", MINUS: "-", "=": "=", "+": "+"}


def between(nodes: Sequence[Node], separator: str) -> Node:
    """Nodes in a row, with a sign between each two."""
    return ("row", *[part for node in nodes for part in (separator, node)][1:])


def as_text(equations: Sequence[Equation]) -> list[str]:
    """Lines of text, aligned at their equals signs."""
    sides = [(_text(left), _text(right)) for left, right in equations]
    width = max(len(left) for left, _ in sides)
    return [f"{left:>{width}} = {right}" for left, right in sides]


def _text(node: Node) -> str:
    if isinstance(node, str):
        return node
    kind, *parts = node
    texts = [_text(part) for part in parts]
    match kind:
        case "frac":
            above, below = (f"({text})" if " " in text else text for text in texts)
            return f"{above}/{below}"
        case "exp" | "paren":
            return f"{'exp' if kind == 'exp' else ''}({texts[0]})"
        case "ln":
            return f"ln {texts[0]}"
        case "sub":
            return f"{texts[0]}{texts[1].translate(SUBSCRIPTS)}"
        case "sup":
            return f"{texts[0]}{texts[1].translate(SUPERSCRIPTS)}"
        case "sum":
            return "Σ "
    return "".join(texts)


def as_latex(equations: Sequence[Equation]) -> str:
    """An `align*` environment of amsmath."""
    lines = [rf"{_latex(left)} &= {_latex(right)} \\" for left, right in equations]
    return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])


def _latex(node: Node) -> str:
    if isinstance(node, str):
        return " ".join(map(_latex_word, node.split(" ")))
    kind, *parts = node
    texts = [_latex(part) for part in parts]
    match kind:
        case "frac":
            return rf"\frac{{{texts[0]}}}{{{texts[1]}}}"
        case "exp":
            return rf"\exp\left({texts[0]}\right)"
        case "paren":
            return rf"\left({texts[0]}\right)"
        case "ln":
            return rf"\ln {texts[0]}"
        case "sub":
            return f"{texts[0]}_{{{texts[1]}}}"
        case "sup":
            return f"{texts[0]}^{{{texts[1]}}}"
        case "sum":
            return rf"\sum_{{{texts[0]}}} "
    return "".join(texts)


def _latex_word(word: str) -> str:
    if word in SIGNS:
        return SIGNS[word]
    if word in NAMES:
        return rf"\mathrm{{{word}}}"
    if word == "β":
        return r"\beta"
    if len(word) > 1 and word.isascii() and not any(c.isdecimal() for c in word):
        return rf"\text{{ {word} }}"
    return word.replace(MINUS, "-")


def as_mathml(equations: Sequence[Equation]) -> str:
    """A MathML table, which browsers show without a script."""
    rows = "".join(
        f"<mtr><mtd>{_mathml(left)}</mtd><mtd><mo>=</mo></mtd><mtd>{_mathml(right)}</mtd></mtr>"
        for left, right in equations
    )
    return f'<math display="block"><mtable displaystyle="true">{rows}</mtable></math>'


def _mathml(node: Node) -> str:
    if isinstance(node, str):
        words = [word for word in node.replace(",", " , ").split(" ") if word]
        return "".join(map(_mathml_word, words))
    kind, *parts = node
    texts = [f"<mrow>{_mathml(part)}</mrow>" for part in parts]
    match kind:
        case "frac":
            return f"<mfrac>{texts[0]}{texts[1]}</mfrac>"
        case "exp" | "paren":
            name = "<mi>exp</mi>" if kind == "exp" else ""
            return f"<mrow>{name}<mo>(</mo>{texts[0]}<mo>)</mo></mrow>"
        case "ln":
            space = '<mspace width="0.17em"/>'
            return f"<mrow>{space}<mi>ln</mi>{space}{texts[0]}</mrow>"
        case "sub":
            return f"<msub>{texts[0]}{texts[1]}</msub>"
        case "sup":
            return f"<msup>{texts[0]}{texts[1]}</msup>"
        case "sum":
            return f"<munder><mo>∑</mo>{texts[0]}</munder>"
    return "".join(texts)


def _mathml_word(word: str) -> str:
    if word[0].isdecimal() or (word[0] == MINUS and len(word) > 1):
        return f"<mn>{escape(word)}</mn>"
    if word in SIGNS:
        return f"<mo>{word}</mo>"
    if word in NAMES:
        return f'<mi mathvariant="normal">{word}</mi>'
    if len(word) == 1 and word.isalpha():
        return f"<mi>{word}</mi>"
    return f"<mtext>&nbsp;{escape(word)}&nbsp;</mtext>" if word != "," else "<mtext>,</mtext>"
