"""The formula with the numbers put in, as plain text, LaTeX and MathML."""

from __future__ import annotations

from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    # Text, or a node: its kind and its parts.
    Node = str | tuple[Any, ...]
    # A left side, which may be empty, and a right side.
    Equation = tuple[Node, Node]

MINUS = "−"


def number(value: float, digits: int = 4) -> str:
    """A number for a person: so many digits after the point, more if that would show nothing.

    >>> number(0.7420905), number(1), number(-1e-9), number(1.0)
    ('0.7421', '1', '−1e-09', '1')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        text = f"{value:.0f}"
    elif abs(value) < 0.5 * 10**-digits:
        text = f"{value:.2g}"
    else:
        text = f"{value:.{digits}f}"
    return text.replace("-", MINUS, 1) if value < 0 else text


def short(value: float) -> str:
    """A number without zeros at its end, for what enters a formula.

    >>> short(0.25), short(10)
    ('0.25', '10')
    """
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def ngrams(order: int, count: int = 2) -> str:
    """What n-grams of an order are called.

    >>> ngrams(2), ngrams(5, 1)
    ('bigrams', '5-gram')
    """
    name = {1: "unigram", 2: "bigram", 3: "trigram"}.get(order, f"{order}-gram")
    return name if count == 1 else f"{name}s"


def precision(order: Mapping[str, Any]) -> Node:
    """The precision of an order as it enters the formula."""
    if order["state"] == "counts as 1":
        return "1"
    smoothed = order["smoothed"]
    if smoothed is None:
        return ("frac", str(order["matches"]), str(order["total"]))
    if smoothed["denominator"] == 1 and smoothed["numerator"] < 1e-300:
        return f"{smoothed['numerator']:.3g}"
    # pycocoevalcap's guards do not show among four digits.
    return ("frac", *(short(smoothed[part]) for part in ("numerator", "denominator")))


def of(system: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[Equation]:
    """The formula of a system's score, line by line."""
    brevity = _brevity(system, parameters)
    result = number(system["fraction"])
    if system["averaged"]:
        return [*brevity, ("BLEU", f"mean of the segments' scores = {result}")]
    summand: Node = ("row", ("sum", "n"), ("w", "n"), " ", ("ln", ("p", "n")))
    general: Node = ("row", "BP · ", ("exp", summand))
    lines: list[Equation] = [*brevity, ("BLEU", general)]
    if system["zero"] is not None:
        lines += _zero(system)
        return [*lines, ("", "0")]
    bp = number(system["brevity_penalty"])
    sums = number(system["log_mean"])
    lines += [
        ("", ("row", f"{bp} · ", ("exp", _terms(system["orders"])))),
        ("", ("row", f"{bp} · ", ("exp", sums))),
        ("", f"{bp} · {number(system['geometric_mean'])}"),
        ("", result),
    ]
    return lines


def _brevity(system: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[Equation]:
    c, r = system["hypothesis_length"], system["reference_length"]
    value = number(system["brevity_penalty"])
    form = parameters["brevity_penalty"]
    if form == "none":
        return [("BP", "1, for this metric has none")]
    if system["brevity_penalty"] == 1:
        return [("BP", f"1, because {c} ≥ {number(r)}")]
    if not c and form == "standard":
        return [("BP", f"{value}, because there are no tokens")]
    more = 1 if form == "plus-one" else 0
    lengths = ("frac", number(r + more), number(c + more))
    return [("BP", ("row", ("exp", ("row", f"1 {MINUS} ", lengths)), f" = {value}"))]


def _zero(system: Mapping[str, Any]) -> list[Equation]:
    used = [order for order in system["orders"] if order["state"] == "makes it 0"]
    if not used:
        return []
    # Of an order without n-grams 0/0 is taken for 0.
    order = used[0]
    counts: Node = ("frac", str(order["matches"]), str(order["total"]))
    return [(("p", str(order["order"])), ("row", counts, " = 0"))]


def _terms(orders: Sequence[Mapping[str, Any]]) -> Node:
    """Σ wₙ ln pₙ with the numbers; one weight for all stands before the bracket."""
    used = [order for order in orders if order["state"] in ("counts", "counts as 1")]
    weights = [order["weight"] for order in used]
    logs: list[Node] = [("ln", precision(order)) for order in used]
    if len(set(weights)) != 1:
        parts = [("row", f"{short(w)} ", node) for w, node in zip(weights, logs, strict=True)]
        return ("row", *_between(parts, " + "))
    summed: Node = ("row", *_between(logs, " + "))
    if weights[0] == 1:
        return summed
    whole = round(1 / weights[0]) if weights[0] else 0
    equal = whole and abs(1 / whole - weights[0]) < 1e-12
    weight: Node = ("frac", "1", str(whole)) if equal else short(weights[0])
    return ("row", weight, " ", ("paren", summed))


def _between(nodes: Sequence[Node], separator: str) -> list[Node]:
    return [part for node in nodes for part in (separator, node)][1:]


def as_text(equations: Sequence[Equation]) -> list[str]:
    """Lines of text, aligned at their equals signs."""
    sides = [(_text(left), _text(right)) for left, right in equations]
    width = max(len(left) for left, _ in sides)
    return [f"{left:>{width}} = {right}" for left, right in sides]


SUBSCRIPTS = str.maketrans("0123456789n", "₀₁₂₃₄₅₆₇₈₉ₙ")


def _text(node: Node) -> str:
    if isinstance(node, str):
        return node
    kind, *parts = node
    texts = [_text(part) for part in parts]
    match kind:
        case "frac":
            return "/".join(texts)
        case "exp" | "paren":
            return f"{'exp' if kind == 'exp' else ''}({texts[0]})"
        case "ln":
            return f"ln {texts[0]}"
        case "p" | "w":
            return f"{kind}{texts[0].translate(SUBSCRIPTS)}"
        case "sum":
            return "Σ "
    return "".join(texts)


def as_latex(equations: Sequence[Equation]) -> str:
    """An `align*` environment of amsmath."""
    lines = [rf"{_latex(left)} &= {_latex(right)} \\" for left, right in equations]
    return "\n".join([r"\begin{align*}", *lines, r"\end{align*}"])


def _latex(node: Node) -> str:
    if isinstance(node, str):
        return _latex_text(node)
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
        case "p" | "w":
            return f"{kind}_{{{texts[0]}}}"
        case "sum":
            return rf"\sum_{{{texts[0]}}} "
    return "".join(texts)


def _latex_text(text: str) -> str:
    signs = {"·": r"\cdot", "≥": r"\ge", MINUS: "-", "=": "=", "+": "+"}
    words = []
    for word in text.split(" "):
        if word in ("BP", "BLEU"):
            words.append(rf"\mathrm{{{word}}}")
        elif word in signs:
            words.append(signs[word])
        elif len(word) > 1 and word.isascii() and not any(c.isdecimal() for c in word):
            words.append(rf"\text{{ {word} }}")
        else:
            words.append(word.replace(MINUS, "-"))
    return " ".join(words)


def as_mathml(equations: Sequence[Equation]) -> str:
    """A MathML table, which browsers show without a script."""
    rows = "".join(
        f"<mtr><mtd>{_mathml(left)}</mtd><mtd><mo>=</mo></mtd><mtd>{_mathml(right)}</mtd></mtr>"
        for left, right in equations
    )
    return f'<math display="block"><mtable displaystyle="true">{rows}</mtable></math>'


def _mathml(node: Node) -> str:
    if isinstance(node, str):
        return "".join(map(_mathml_word, _words(node)))
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
        case "p" | "w":
            return f"<msub><mi>{kind}</mi>{texts[0]}</msub>"
        case "sum":
            return f"<munder><mo>∑</mo>{texts[0]}</munder>"
    return "".join(texts)


def _words(text: str) -> list[str]:
    return [word for word in text.replace(",", " , ").split(" ") if word]


def _mathml_word(word: str) -> str:
    if word[0].isdecimal() or (word[0] == MINUS and len(word) > 1):
        return f"<mn>{escape(word)}</mn>"
    if word in ("·", "=", "+", "≥", MINUS):
        return f"<mo>{word}</mo>"
    if word in ("BP", "BLEU"):
        return f'<mi mathvariant="normal">{word}</mi>'
    if word == "n":
        return "<mi>n</mi>"
    return f"<mtext>&nbsp;{escape(word)}&nbsp;</mtext>" if word != "," else "<mtext>,</mtext>"
