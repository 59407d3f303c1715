"""From the dict to what a reader sees: headings, paragraphs, tables, marked words, equations.

Each rendering draws these few kinds of block its own way, and decides nothing else.
"""

from __future__ import annotations

from truebleu.explanation.equations import MINUS, ngrams, number, of, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.explanation.equations import Equation


class Ngram(tuple[str, ...]):
    """The tokens of an n-gram, for a cell of a table."""

    __slots__ = ()


class Heading:
    """A heading; level 1 is the title."""

    __slots__ = ("level", "text")

    def __init__(self, level: int, text: str) -> None:
        self.level = level
        self.text = text


class Paragraph:
    """A paragraph; `kind` is "plain", "caution" or "code" (a signature)."""

    __slots__ = ("kind", "text")

    def __init__(self, text: str, kind: str = "plain") -> None:
        self.text = text
        self.kind = kind


class Table:
    """A table: a header, rows of text or n-grams; `numbers` are the columns set to the right."""

    __slots__ = ("header", "numbers", "rows", "summary")

    def __init__(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str | Ngram]],
        numbers: Sequence[int],
        summary: str = "",
    ) -> None:
        self.header = header
        self.rows = rows
        self.numbers = frozenset(numbers)
        self.summary = summary


class Words:
    """Tokens, and for each the order of the longest match it is in; None if it is not about that.

    `clipped` has for each token the orders in which clipping cut it off.
    """

    __slots__ = ("clipped", "label", "longest", "tokens")

    def __init__(
        self,
        label: str,
        tokens: Sequence[str],
        longest: Sequence[int] | None = None,
        clipped: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.label = label
        self.tokens = [visible(token) for token in tokens]
        self.longest = longest
        self.clipped = clipped


class Equations:
    """The formula with its numbers."""

    __slots__ = ("equations",)

    def __init__(self, equations: Sequence[Equation]) -> None:
        self.equations = equations


Block = Heading | Paragraph | Table | Words | Equations

# Joiners are parts of words and of emoji; everything else that does not show is shown.
JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""Text in which characters that do not show, or would command a terminal, are written out.

    >>> print(visible("caf\u00e9\u200b\x1b[31m"))
    café\u200b\x1b[31m
    """
    from unicodedata import category

    def shown(character: str) -> str:
        hidden = category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co")
        if hidden and character not in JOINERS:
            return character.encode("ascii", "backslashreplace").decode()
        return character

    # A control character has no escape of its own in ASCII, which it is part of.
    return "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else shown(c) for c in text)


def points(value: float) -> str:
    """A score on the scale to 100."""
    return number(value, 2) if not float(value).is_integer() else f"{value:.2f}"


def signed(value: float, digits: int) -> str:
    """A difference with its sign."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", MINUS)


def of_content(content: Mapping[str, Any]) -> Iterator[Block]:
    """The blocks of an explanation."""
    systems = content["systems"]
    yield Heading(1, title(content))
    yield Paragraph(content["metric"]["signature"], "code")
    if content["comparison"] is not None:
        yield from _comparison(content)
    for reference in content.get("references", ()):
        label = f"Reference {reference['number']}, {_tokens(reference['length'])}"
        yield Words(label, reference["tokens"])
    for system in systems:
        if len(systems) > 1:
            yield Heading(2, f"{system['name']}: BLEU = {points(system['score'])}")
        yield from _system(content, system, 3 if len(systems) > 1 else 2)
    yield Heading(2, "Reading the score")
    for system in systems:
        yield Paragraph(_reading(system, named=len(systems) > 1))
    yield Paragraph(systems[0]["reading"]["convention"])
    yield Paragraph(content["caution"], "caution")


def title(content: Mapping[str, Any]) -> str:
    """What heads the explanation: the score, or both, and of what."""
    scores = [f"{points(system['score'])}" for system in content["systems"]]
    what = f", segment {content['segment']}" if content["kind"] == "segment" else ""
    if content["kind"] == "corpus":
        what = f", {content['segments']} segment{'s' if content['segments'] != 1 else ''}"
    return f"BLEU = {' and '.join(scores)}{what}"


def _tokens(count: int) -> str:
    return f"{count} token{'s' if count != 1 else ''}"


def _system(content: Mapping[str, Any], system: Mapping[str, Any], level: int) -> Iterator[Block]:
    if "tokens" in system:
        cover = system["cover"]
        yield Words(
            f"Hypothesis, {_tokens(system['hypothesis_length'])}",
            system["tokens"],
            [one["longest"] for one in cover],
            [one["clipped"] for one in cover],
        )
        for order in system["orders"]:
            yield from _ngram_table(content, order, level)
    yield Heading(level, "Precisions")
    yield from _precisions(system)
    yield from _recall(system, level)
    if "tokens" not in system:
        yield from _most_frequent(system, level)
    yield Heading(level, "Length")
    yield Paragraph(_length(content, system))
    yield Heading(level, "The formula")
    yield Equations(of(system, content["metric"]["parameters"]))
    if system["zero"] is not None:
        yield Paragraph(f"The score is 0: {system['zero']}.")


def _ngram_table(
    content: Mapping[str, Any], order: Mapping[str, Any], level: int
) -> Iterator[Block]:
    kind = ngrams(order["order"])
    yield Heading(
        level, f"{kind[0].upper()}{kind[1:]}: {order['matches']} of {order['total']} match"
    )
    if not order["ngrams"]:
        yield Paragraph(f"The hypothesis is too short to have {kind}.")
        return
    several = len(content["references"]) > 1
    header = [ngrams(order["order"], 1), "hypothesis", "reference", "clipped"]
    if several:
        header.insert(3, "which")
    rows: list[list[str | Ngram]] = []
    for row in order["ngrams"]:
        line: list[str | Ngram] = [Ngram(map(visible, row["ngram"])), str(row["count"])]
        line.append(str(row["reference_count"]))
        if several:
            line.append("" if row["reference"] is None else str(row["reference"]))
        rows.append([*line, str(row["clipped"])])
    total = ["", str(order["total"]), "", *([""] if several else []), str(order["matches"])]
    summary = f"Show all {len(rows)} {kind}"
    yield Table(header, [*rows, total], range(1, len(header)), summary)
    if order["missing"]:
        where = "every reference" if several else "the reference"
        lacking = _listed(order["missing"], 12)
        yield Paragraph(f"In {where}, and not or too rarely in the hypothesis: {lacking}.")


def _listed(entries: Sequence[Mapping[str, Any]], most: int) -> str:
    """N-grams in a row, with how often if more than once."""
    parts = [
        f"“{' '.join(map(visible, entry['ngram']))}”"
        + (f" ×{entry['count']}" if entry["count"] > 1 else "")
        for entry in entries[:most]
    ]
    more = len(entries) - most
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def _precisions(system: Mapping[str, Any]) -> Iterator[Block]:
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
    yield Table(header, rows, range(len(header)))
    for order in orders:
        note = _note(order)
        if note:
            yield Paragraph(note)


def _recall(system: Mapping[str, Any], level: int) -> Iterator[Block]:
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
    yield Table(header, rows, range(len(header)))
    yield Paragraph(
        "Recall is clipped like precision, reference by reference, and F is the harmonic mean of "
        "both. BLEU has its brevity penalty instead."
    )


def _fraction(smoothed: Mapping[str, Any] | None) -> str:
    if smoothed is None:
        return ""
    if smoothed["denominator"] == 1:
        return f"{smoothed['numerator']:.3g}"
    return f"{short(smoothed['numerator'])}/{short(smoothed['denominator'])}"


def _precision(order: Mapping[str, Any]) -> str:
    if order["state"] == "left out":
        return "left out"
    if order["state"] == "counts as 1":
        return "1"
    return number(order["precision"] / 100)


def _log(order: Mapping[str, Any]) -> str:
    if order["state"] == "makes it 0":
        return f"{MINUS}∞"
    return "" if order["log"] is None else number(order["log"])


def _note(order: Mapping[str, Any]) -> str:
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


def _most_frequent(system: Mapping[str, Any], level: int) -> Iterator[Block]:
    kinds = (
        ("clipped", "more often than in a reference"),
        ("unmatched", "in no reference"),
        ("missing", "in every reference, but not or too rarely in the hypothesis"),
    )
    looked = f"Of {system['looked_into']} segments looked into"
    if system["looked_into"] < system["segments"]:
        looked = f"Of the first {system['looked_into']} segments"
    for kind, meaning in kinds:
        yield Heading(level, f"Most frequent {kind} n-grams")
        yield Paragraph(f"{looked}: {meaning}.")
        for order in system["orders"]:
            name = ngrams(order["order"])
            listed = _listed(order[kind], len(order[kind])) or "none"
            yield Paragraph(f"{name[0].upper()}{name[1:]}: {listed}.")


RULES = {
    "closest": "the closest in length to the hypothesis",
    "shortest": "the shortest",
    "longest": "the longest",
    "average": "the mean of all",
    "average-truncated": "the mean of all, truncated",
    "single": "the only one",
}


def _length(content: Mapping[str, Any], system: Mapping[str, Any]) -> str:
    c, r = system["hypothesis_length"], system["reference_length"]
    choice = system["reference_choice"]
    text = f"The hypothesis has {_tokens(c)}; the effective reference length is {number(r)}. "
    if content["kind"] == "corpus":
        text = (
            f"All hypotheses have {_tokens(c)}; the effective reference length, summed over all "
            f"segments, is {number(r)}. "
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


def _reading(system: Mapping[str, Any], *, named: bool) -> str:
    band = system["reading"]["band"]
    low, high = number(band["from"], 1), band["to"]
    limits = f"between {low} and {number(high, 1)}" if high is not None else f"above {low}"
    if not band["from"]:
        limits = f"below {number(high, 1)}"
    name = f"{system['name']}: " if named else ""
    return (
        f"{name}BLEU = {points(system['score'])}, or {number(system['fraction'])} between 0 and 1. "
        f"By custom, scores {limits} are read as “{band['words']}”."
    )


def _comparison(content: Mapping[str, Any]) -> Iterator[Block]:
    one = content["comparison"]
    rows: list[list[str | Ngram]] = [
        [
            system["name"],
            points(system["score"]),
            *map(_precision, system["orders"]),
            number(system["brevity_penalty"]),
        ]
        for system in content["systems"]
    ]
    orders = [f"p{order['order']}" for order in content["systems"][0]["orders"]]
    yield Heading(2, "Both systems")
    header = ["system", "BLEU", *orders, "BP"]
    yield Table(header, rows, range(1, len(header)))
    yield Heading(2, "Where the difference comes from")
    difference = signed(one["difference"], 2)
    names = f"from {one['first']} to {one['second']}"
    if one["zero"] is not None:
        yield Paragraph(
            f"The difference {names} is {difference}, and it is not split: {one['zero']}."
        )
        return
    yield Paragraph(
        f"The difference {names} is {difference} points, or {signed(one['log_difference'], 4)} in "
        "the logarithm. The logarithm of BLEU is a sum, so its difference splits exactly; the "
        "points are shared out in the same proportion."
    )
    first, second = ([o["weight"] for o in system["orders"]] for system in content["systems"])
    if first != second:
        yield Paragraph(
            "The two means are over different orders, so what an order adds is partly its weight."
        )
    parts = [("brevity penalty", one["brevity"])]
    parts += [(f"order {order['order']}", order) for order in one["orders"]]
    if one["weights"] is not None:
        parts.append(("weights that do not sum to 1", one["weights"]))
    split = [[name, signed(part["log"], 4), signed(part["points"], 2)] for name, part in parts]
    split.append(["together", signed(one["log_difference"], 4), difference])
    yield Table(["part", "Δ ln BLEU", "points"], split, (1, 2))
