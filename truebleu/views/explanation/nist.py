"""What is explained of a NIST score: the information of matched n-grams, and the penalty."""

from __future__ import annotations

from collections import Counter
from math import log

from truebleu.text.layout import count
from truebleu.views.explanation import counting, ngram_blocks
from truebleu.views.rendering.blocks import Cell, Equations, Heading, Paragraph, Table
from truebleu.views.rendering.equations import as_text, between
from truebleu.views.rendering.numbers import ngrams as called
from truebleu.views.rendering.numbers import number, short, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.metrics.nist import NIST
    from truebleu.metrics.python_metric import PythonScore
    from truebleu.views.explanation.counting import Ngram, Tokens
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.equations import Equation
    from truebleu.views.rendering.numbers import Write

    Content = Mapping[str, Any]

TOKEN = "token"


def tokens(metric: NIST, text: Any) -> list[str]:
    """The tokens that are counted."""
    return counting.splitter(metric.tokenize, metric.lowercase)(text)


def information(references: Sequence[Tokens], max_order: int, *, zero: bool) -> dict[Ngram, float]:
    """What each n-gram of references tells, in bits: log₂ of its history's count over its own.

    zero: whether an n-gram behind the lone token 0 has no history, as in mteval.
    """
    counted: Counter[Ngram] = Counter()
    for reference in references:
        for order in range(1, max_order + 1):
            counted.update(counting.ngrams(reference, order))
    words = sum(map(len, references))
    lone = {("0",), ("",)} if zero else set()
    return {
        ngram: log((words if history in lone or not history else counted[history]) / own) / log(2)
        for ngram, own in counted.items()
        for history in [ngram[:-1]]
    }


def of_pair(
    metric: NIST, score: PythonScore, hypothesis: Any, references: Sequence[Any], *, recall: bool
) -> dict[str, Any]:
    """What there is to say of one hypothesis and its references."""
    del recall
    given = [(number, text) for number, text in enumerate(references, 1) if text is not None]
    mine = tokens(metric, hypothesis)
    others = [tokens(metric, text) for _, text in given]
    bits = information(others, metric.max_order, zero=metric.variant == "mteval")
    system = _system(metric, score)
    tables = []
    for order in system["orders"]:
        table = counting.clipped(mine, others, order["order"])
        tables.append(table)
        order["ngrams"] = [
            {
                "ngram": list(row.ngram),
                "count": row.count,
                "clipped": row.clipped,
                "information": bits.get(row.ngram),
            }
            for row in table
        ]
    system["tokens"] = mine
    system["cover"] = [
        {"longest": one.longest, "start": one.start, "clipped": one.clipped}
        for one in counting.cover(mine, tables)
    ]
    return system


def of_corpus(
    metric: NIST,
    score: PythonScore,
    hypotheses: Any,  # noqa: ARG001
    references: Any,  # noqa: ARG001
    *,
    recall: bool,
) -> dict[str, Any]:
    """What there is to say of a corpus."""
    del recall
    return _system(metric, score)


def _system(metric: NIST, score: PythonScore) -> dict[str, Any]:
    known = score.details()
    totals = score.row[2 + 2 * metric.max_order :]
    orders = [
        {"order": order, "information": part * max(1, total), "total": total, "part": part}
        for order, (part, total) in enumerate(zip(known["information"], totals, strict=True), 1)
    ]
    system = {
        "orders": orders,
        "information": sum(known["information"]),
        "penalty": known["penalty"],
        "hypothesis_length": known["hypothesis_length"],
        "reference_length": known["reference_length"],
        "fraction": score.fraction,
    }
    system["formula"] = as_text(_formula(system))
    return system


def difference(
    metric: NIST,  # noqa: ARG001
    first: dict[str, Any],
    second: dict[str, Any],
    *,
    corpus: bool,  # noqa: ARG001
) -> dict[str, Any]:
    """The differences of information and penalty."""
    return {name: second[name] - first[name] for name in ("information", "penalty")}


# ---- blocks ----


def _formula(system: Content) -> list[Equation]:
    c, r = short(system["hypothesis_length"]), short(system["reference_length"])
    penalty = number(system["penalty"])
    if system["penalty"] == 1:
        lines: list[Equation] = [("penalty", f"1, because {c} ≥ {r}")]
    elif not system["penalty"]:
        lines = [("penalty", "0, because there are no tokens")]
    else:
        # β is such that two thirds of the length give 1/2.
        beta = number(log(0.5) / log(1.5) ** 2)
        squared = ("row", f"{beta} · ", ("paren", ("ln", ("frac", c, r))), ("sup", "", "2"))
        lines = [("penalty", ("row", ("exp", squared), f" = {penalty}"))]
    terms = [
        ("frac", number(order["information"], 2), str(max(1, order["total"])))
        for order in system["orders"]
    ]
    return [
        *lines,
        ("NIST", ("row", "penalty · ", ("sum", "n"), ("frac", "information", "n-grams"))),
        ("", ("row", f"{penalty} · ", ("paren", between(terms, " + ")))),
        ("", f"{penalty} · {number(system['information'])}"),
        ("", number(system["fraction"])),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its words, what matched n-grams tell, and the formula."""
    several = len(content.get("references", ())) != 1
    if "tokens" in system:
        yield ngram_blocks.words(system)
        for order in system["orders"]:
            kind = called(order["order"])
            yield Heading(level, f"{kind[0].upper()}{kind[1:]}: {order['information']:.2f} bits")
            rows = [
                [
                    Cell(" ".join(row["ngram"]), code=True),
                    f"{row['count']}",
                    f"{row['clipped']}",
                    "" if row["information"] is None else number(row["information"], 2),
                ]
                for row in order["ngrams"]
            ]
            if not rows:
                yield Paragraph(f"The hypothesis is too short to have {kind}.")
                continue
            made = Table.of([called(order["order"], 1), "hypothesis", "clipped", "bits"], rows)
            made.fold = f"Show all {len(rows)} {kind}"
            yield made
    yield Heading(level, "Information of matched n-grams")
    rows = [
        [
            str(order["order"]),
            number(order["information"], 2),
            f"{order['total']:,}",
            number(order["part"]),
        ]
        for order in system["orders"]
    ]
    yield Table.of(["order", "bits", "n-grams", "bits per n-gram"], rows)
    yield Paragraph(
        "The information of an n-gram is log₂ of how often its first words occur in the references "
        "over how often all of them do: rare words, and words that are hard to foresee, count more."
    )
    yield Heading(level, "Length")
    told = count(system["hypothesis_length"], "token")
    yield Paragraph(
        f"The hypothesis has {told}, the reference {'on average ' if several else ''}"
        f"{short(system['reference_length'])}."
    )
    yield Heading(level, "The formula")
    yield Equations(_formula(system))


def compared(content: Content, write: Write) -> Iterator[Block]:
    """Two systems beside each other."""
    rows = [
        [
            system["name"],
            write(system["score"]),
            number(system["information"]),
            number(system["penalty"]),
        ]
        for system in content["systems"]
    ]
    one, plus = content["comparison"], signed(number)
    rows.append(
        [
            "difference",
            signed(write)(one["difference"]),
            plus(one["information"]),
            plus(one["penalty"]),
        ]
    )
    made = Table.of(["system", "NIST", "information", "penalty"], rows)
    made.sums = True
    yield made


def reading(content: Content, write: Write) -> Iterator[Block]:
    """What such a score says."""
    for system in content["systems"]:
        name = f"{system['name']}: " if len(content["systems"]) > 1 else ""
        yield Paragraph(
            f"{name}NIST = {write(system['score'])}. There is no upper bound, and longer texts get "
            "higher scores: what an n-gram tells is counted in the references of the text itself."
        )
