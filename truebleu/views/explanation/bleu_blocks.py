"""From what is explained of a BLEU score to what a reader sees."""

from __future__ import annotations

from truebleu.text.layout import count
from truebleu.views.explanation import ngram_blocks
from truebleu.views.rendering.blocks import Heading, Paragraph, Table
from truebleu.views.rendering.equations import between
from truebleu.views.rendering.numbers import MINUS, fixed, ngrams, number, short, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.equations import Equation, Node
    from truebleu.views.rendering.numbers import Write
    from truebleu.views.rendering.view import Content


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its n-grams, or those that a corpus has most of, precisions and length."""
    if "tokens" in system:
        several = len(content["references"]) > 1
        yield from ngram_blocks.tables(system, level, several=several)
    yield Heading(level, "Precisions")
    yield from _precisions(system)
    yield from _recall(system, level)
    if "tokens" not in system:
        yield from ngram_blocks.most_frequent(system, level)
    yield Heading(level, "Length")
    yield Paragraph(_length(content, system))


def _precisions(system: Content) -> Iterator[Block]:
    orders = system["orders"]
    header = ["order", "matches", "precision", "weight", "ln p"]
    smoothed = any(order["smoothed"] for order in orders)
    if smoothed:
        header.insert(2, "smoothed")
    rows = []
    for order in orders:
        row = [str(order["order"]), f"{order['matches']}/{order['total']}"]
        if smoothed:
            row.append(_fraction(order["smoothed"]))
        rows.append([*row, _precision(order), short(order["weight"]), _log(order)])
    yield Table.of(header, rows, left=())
    yield from (Paragraph(note) for note in map(_note, orders) if note)


def _recall(system: Content, level: int) -> Iterator[Block]:
    """Clipped recall and F-measure, if they were asked for."""
    orders = system["orders"]
    if "recall" not in orders[0]:
        return
    yield Heading(level, "Recall, which BLEU does not use")
    several = len(orders[0]["recall"]) > 1
    header = ["order", *(["reference"] if several else []), "matches", "recall", "F"]
    rows = []
    for order in orders:
        for one in order["recall"]:
            which = [str(one["reference"])] if several else []
            counts = f"{one['matches']}/{one['total']}"
            rows.append(
                [str(order["order"]), *which, counts, number(one["recall"]), number(one["f"])]
            )
    yield Table.of(header, rows, left=())
    yield Paragraph(
        "Recall is clipped like precision, reference by reference, and F is the harmonic mean of "
        "both. BLEU has its brevity penalty instead."
    )


def _fraction(smoothed: Content | None) -> str:
    if smoothed is None:
        return ""
    if smoothed["denominator"] == 1:
        return f"{smoothed['numerator']:.3g}"
    return f"{short(smoothed['numerator'])}/{short(smoothed['denominator'])}"


def _precision(order: Content) -> str:
    if order["state"] == "left out":
        return "left out"
    if order["state"] == "counts as 1":
        return "1"
    return number(order["precision"] / 100)


def _log(order: Content) -> str:
    if order["state"] == "makes it 0":
        return f"{MINUS}∞"
    return "" if order["log"] is None else number(order["log"])


def _note(order: Content) -> str:
    """A sentence on smoothing or leaving out of an order."""
    kind = ngrams(order["order"])
    name = f"Order {order['order']}"
    if order["smoothed"]:
        return f"{name} is smoothed: {order['smoothed']['how']}."
    match order["state"]:
        case "left out":
            return f"{name} is left out: there are no {kind} in the hypothesis."
        case "counts as 1":
            return f"{name} counts as precision 1: there are no {kind} in the hypothesis."
        case "skipped":
            return f"{name} is skipped, as NLTK skips a precision of 0 that smoothing left."
    return ""


RULES = {
    "closest": "the closest in length to the hypothesis",
    "shortest": "the shortest",
    "longest": "the longest",
    "average": "the mean of all",
    "average-truncated": "the mean of all, truncated",
    "single": "the only one",
}


def _length(content: Content, system: Content) -> str:
    c, r = system["hypothesis_length"], system["reference_length"]
    choice = system["reference_choice"]
    text = (
        f"The hypothesis has {count(c, 'token')}; the effective reference length is {number(r)}. "
    )
    if content["kind"] == "corpus":
        text = (
            f"All hypotheses have {count(c, 'token')}; the effective reference length, summed over "
            f"all segments, is {number(r)}. "
        )
        if len(choice["segments"]) > 1:
            first, *more = choice["segments"].items()
            text += f"Reference {first[0]} gave the length of {first[1]} segments"
            text += "".join(f", reference {i} of {n}" for i, n in more) + ". "
    elif len(choice["lengths"]) > 1:
        lengths = ", ".join(map(str, choice["lengths"]))
        rule = RULES[choice["rule"]]
        if choice["rule"].startswith("average"):
            text += f"It is {rule} ({lengths}). "
        else:
            which = " and ".join(map(str, choice["references"]))
            plural = "s" if len(choice["references"]) > 1 else ""
            text += f"It is that of reference{plural} {which}, {rule} ({lengths}). "
            near = {abs(length - c) for length in choice["lengths"] if length != r}
            if choice["rule"] == "closest" and abs(r - c) in near:
                text += f"Of lengths that are equally close, the {choice['tie']} counts. "
    penalty = number(system["brevity_penalty"])
    if system["brevity_penalty"] == 1:
        return f"{text}There is no brevity penalty: BP = 1."
    if c < r:
        return f"{text}What falls short of it is penalized: BP = {penalty}."
    return f"{text}The brevity penalty is {penalty}."


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The customary reading of scores of such a size."""
    band = system["reading"]["band"]
    low, high = number(band["from"], 1), band["to"]
    limits = f"between {low} and {number(high, 1)}" if high is not None else f"above {low}"
    if not band["from"]:
        limits = f"below {number(high, 1)}"
    told = f"By custom, scores {limits} are read as “{band['words']}”."
    return f"{ngram_blocks.share(system)}. {told}"


def compared(content: Content, write: Write) -> Iterator[Block]:
    """Two systems beside each other, and where the difference comes from."""
    one, systems = content["comparison"], content["systems"]
    rows = [
        [
            system["name"],
            write(system["score"]),
            *map(_precision, system["orders"]),
            number(system["brevity_penalty"]),
        ]
        for system in systems
    ]
    orders = [f"p{order['order']}" for order in systems[0]["orders"]]
    yield Table.of(["system", "BLEU", *orders, "BP"], rows)
    yield Heading(2, "Where the difference comes from")
    points, logs = signed(write), signed(fixed(4))
    names = f"from {one['first']} to {one['second']}"
    if one["zero"] is not None:
        difference = points(one["difference"])
        yield Paragraph(
            f"The difference {names} is {difference}, and it is not split: {one['zero']}."
        )
        return
    yield Paragraph(
        f"The difference {names} is {points(one['difference'])} points, or "
        f"{logs(one['log_difference'])} in the logarithm. The logarithm of BLEU is a sum, so its "
        "difference splits exactly; the points are shared out in the same proportion."
    )
    first, second = ([order["weight"] for order in system["orders"]] for system in systems)
    if first != second:
        yield Paragraph(
            "The two means are over different orders, so what an order adds is partly its weight."
        )
    parts = [("brevity penalty", one["brevity"])]
    parts += [(f"order {order['order']}", order) for order in one["orders"]]
    if one["weights"] is not None:
        parts.append(("weights that do not sum to 1", one["weights"]))
    split = [[name, logs(part["log"]), points(part["points"])] for name, part in parts]
    split.append(["together", logs(one["log_difference"]), points(one["difference"])])
    yield Table.of(["part", "Δ ln BLEU", "points"], split, sums=True)


# ---- the formula ----


def _entering(order: Content) -> Node:
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


def formula(system: Content, parameters: Content) -> list[Equation]:
    """The formula of a system's score, line by line."""
    brevity = _brevity(system, parameters)
    result = number(system["fraction"])
    if system["averaged"]:
        return [*brevity, ("BLEU", f"mean of the segments' scores = {result}")]
    summand: Node = ("row", ("sum", "n"), ("sub", "w", "n"), " ", ("ln", ("sub", "p", "n")))
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


def _brevity(system: Content, parameters: Content) -> list[Equation]:
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


def _zero(system: Content) -> list[Equation]:
    used = [order for order in system["orders"] if order["state"] == "makes it 0"]
    if not used:
        return []
    # Of an order without n-grams 0/0 is taken for 0.
    order = used[0]
    counts: Node = ("frac", str(order["matches"]), str(order["total"]))
    return [(("sub", "p", str(order["order"])), ("row", counts, " = 0"))]


def _terms(orders: Sequence[Content]) -> Node:
    """Σ wₙ ln pₙ with the numbers; one weight for all stands before the bracket."""
    used = [order for order in orders if order["state"] in ("counts", "counts as 1")]
    weights = [order["weight"] for order in used]
    logs: list[Node] = [("ln", _entering(order)) for order in used]
    if len(set(weights)) != 1:
        parts = [("row", f"{short(w)} ", node) for w, node in zip(weights, logs, strict=True)]
        return between(parts, " + ")
    summed = between(logs, " + ")
    if weights[0] == 1:
        return summed
    whole = round(1 / weights[0]) if weights[0] else 0
    equal = whole and abs(1 / whole - weights[0]) < 1e-12
    weight: Node = ("frac", "1", str(whole)) if equal else short(weights[0])
    return ("row", weight, " ", ("paren", summed))
