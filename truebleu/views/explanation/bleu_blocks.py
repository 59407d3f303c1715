"""From what is explained of a BLEU score to what a reader sees."""

from __future__ import annotations

from truebleu.text.layout import count
from truebleu.views.explanation import formula, ngram_blocks
from truebleu.views.rendering.blocks import Equations, Heading, Paragraph, Table
from truebleu.views.rendering.numbers import MINUS, fixed, ngrams, number, short, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.numbers import Write

    Content = Mapping[str, Any]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its words and n-grams, or those that a corpus has most of, and its formula."""
    if "tokens" in system:
        yield ngram_blocks.words(system)
        several = len(content["references"]) > 1
        yield from ngram_blocks.tables(system, level, several=several)
    yield Heading(level, "Precisions")
    yield from _precisions(system)
    yield from _recall(system, level)
    if "tokens" not in system:
        yield from ngram_blocks.most_frequent(system, level)
    yield Heading(level, "Length")
    yield Paragraph(_length(content, system))
    yield Heading(level, "The formula")
    yield Equations(formula.of(system, content["metric"]["parameters"]))
    if system["zero"] is not None:
        yield Paragraph(f"The score is 0: {system['zero']}.")


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
    """What happened to an order beyond counting."""
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


def reading(content: Content, write: Write) -> Iterator[Block]:
    """How scores of such a size are customarily read."""
    several = len(content["systems"]) > 1
    for system in content["systems"]:
        band = system["reading"]["band"]
        low, high = number(band["from"], 1), band["to"]
        limits = f"between {low} and {number(high, 1)}" if high is not None else f"above {low}"
        if not band["from"]:
            limits = f"below {number(high, 1)}"
        name = f"{system['name']}: " if several else ""
        yield Paragraph(
            f"{name}BLEU = {write(system['score'])}, or {number(system['fraction'])} between 0 and "
            f"1. By custom, scores {limits} are read as “{band['words']}”."
        )
    yield Paragraph(content["systems"][0]["reading"]["convention"])


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
    made = Table.of(["part", "Δ ln BLEU", "points"], split)
    made.sums = True
    yield made
