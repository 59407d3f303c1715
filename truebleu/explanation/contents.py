"""From texts and a metric to the dict that is the explanation: JSON, and all that is rendered."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import islice
from math import exp, fsum, log

from truebleu.explanation import VERSION, counting, equations
from truebleu.explanation.equations import ngrams
from truebleu.explanation.reading import pairs
from truebleu.formula import SMALL, TINY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from truebleu.bleu import BLEU, BLEUScore
    from truebleu.explanation.counting import Ngram, Tokens
    from truebleu.explanation.reading import Pair

# The customary reading of a BLEU score between 0 and 1: each band starts where the last one ends.
BANDS = (
    (0.1, "almost useless"),
    (0.4, "quality varies"),
    (0.6, "high quality"),
    (float("inf"), "often better than human"),
)
CONVENTION = (
    "This is a convention for corpora and not a measurement: nobody has shown that these limits "
    "hold for your language, your text or a single sentence."
)
CAUTION = (
    "Scores compare only on the same test set, with the same references, language and settings "
    "(those in the signature)."
)

# The value of BLEU's parameter `aggregate` that makes a corpus' score a mean.
SEGMENTS = "segments"

# So many segments of a corpus are looked into for n-grams, and so many n-grams of each kind are
# listed: what is remembered must not grow with the corpus.
LOOKED_INTO = 20_000
LISTED = 10


def of_pair(
    metric: BLEU,
    split: Callable[[Any], list[str]],
    systems: Sequence[tuple[str, Any]],
    references: Sequence[Any],
    *,
    segment: int | None = None,
    recall: bool = False,
) -> dict[str, Any]:
    """The explanation of one hypothesis, or of two, and its references."""
    given = [(number, text) for number, text in enumerate(references, 1) if text is not None]
    tokens = [split(text) for _, text in given]
    numbers = [number for number, _ in given]
    explained = []
    for name, text in systems:
        score = _sentence(metric, text, references)
        system = _system(metric, score, name, segment=True)
        _add_words(system, metric, split(text), tokens, numbers, recall=recall)
        explained.append({**system, "text": _text(text)})
    content = _frame(metric, "pair" if segment is None else "segment", explained)
    return content | {
        "segment": segment,
        "references": [
            {"number": number, "text": _text(text), "tokens": words, "length": len(words)}
            for (number, text), words in zip(given, tokens, strict=True)
        ],
    }


def of_corpus(
    metric: BLEU,
    split: Callable[[Any], list[str]],
    systems: Sequence[tuple[str, Any]],
    references: Any,
    *,
    recall: bool = False,
    workers: int = 1,
) -> dict[str, Any]:
    """The explanation of the score of a corpus, or of two systems' scores."""
    explained = []
    for name, hypotheses in systems:
        score, seen = metric.observed(hypotheses, references, workers=workers)
        averaged = not _summed(metric)
        system = _system(metric, score, name, segment=averaged, averaged=averaged)
        _Digest(metric, split, recall=recall).read(hypotheses, references).add_to(system)
        explained.append({**system, "segments": seen["segments"]})
    return _frame(metric, "corpus", explained) | {"segments": explained[0]["segments"]}


def _sentence(metric: BLEU, text: Any, references: Sequence[Any]) -> BLEUScore:
    if isinstance(text, str):
        return metric.sentence(text, list(references))
    return metric.sentence(text, [one for one in references if one is not None])


def _text(text: Any) -> str | None:
    """The text as it was given; None if tokens were."""
    return text if isinstance(text, str) else None


def _frame(metric: BLEU, kind: str, systems: list[dict[str, Any]]) -> dict[str, Any]:
    comparison = None
    if len(systems) == 2:
        comparison = _comparison(metric, *systems, summed=kind != "corpus" or _summed(metric))
    return {
        "truebleu_explanation": VERSION,
        "kind": kind,
        "metric": {
            "name": metric.NAME,
            "parameters": {name: _plain(value) for name, value in metric.parameters.items()},
            "signature": systems[0]["signature"],
        },
        "systems": systems,
        "comparison": comparison,
        "caution": CAUTION,
    }


def _summed(metric: BLEU) -> bool:
    """Whether a corpus' score is that of its summed counts."""
    return metric.aggregate != SEGMENTS


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if callable(value):
        from truebleu.tokenizers import label

        return label(value)
    return list(value) if isinstance(value, tuple) else value


def _system(
    metric: BLEU, score: BLEUScore, name: str, *, segment: bool, averaged: bool = False
) -> dict[str, Any]:
    """A score and the steps to it, without the words."""
    orders = _orders(metric, score, segment=segment)
    zero = None if averaged else _why_zero(score, orders)
    logs = [order["weight"] * order["log"] for order in orders if order["log"] is not None]
    mean = None if zero or averaged else fsum([*logs, _units(metric, orders)])
    fraction = score.fraction
    system = {
        "name": name,
        "score": score.value,
        "fraction": fraction,
        "published": score.published,
        "signature": str(score.signature),
        "hypothesis_length": score.hypothesis_length,
        "reference_length": score.reference_length,
        "brevity_penalty": score.brevity_penalty,
        "orders": orders,
        "log_mean": mean,
        "geometric_mean": None if averaged else 0.0 if mean is None else exp(mean),
        "averaged": averaged,
        "zero": zero,
        "reading": {"band": _band(fraction), "convention": CONVENTION},
    }
    system["formula"] = equations.as_text(equations.of(system, metric.parameters))
    return system


def _units(metric: BLEU, orders: list[dict[str, Any]]) -> float:
    """What weights that do not sum to 1 add: sacreBLEU's arithmetic is in per cent."""
    if metric.arithmetic != "sacrebleu" or metric.weights is None:
        return 0.0
    whole = fsum(order["weight"] for order in orders)
    return 0.0 if abs(whole - 1) < 1e-9 else (whole - 1) * log(100)


def _band(fraction: float) -> dict[str, Any]:
    low = 0.0
    for high, words in BANDS:
        if fraction < high:
            return {"from": low, "to": None if high > 1 else high, "words": words}
        low = high
    raise AssertionError(fraction)


def _orders(metric: BLEU, score: BLEUScore, *, segment: bool) -> list[dict[str, Any]]:
    """What each order adds: counts, smoothing, precision, weight, logarithm."""
    given = metric.parameters
    hopeless = (given["no_match"] == "zero" and not any(score.matches)) or (
        given["no_match"] == "any-zero" and not all(score.matches)
    )
    orders = []
    zeros = 0
    counts = zip(score.matches, score.totals, score.precisions, strict=True)
    for number, (matches, total, precision) in enumerate(counts, 1):
        zeros += matches == 0 and total > 0
        smoothed = None if hopeless else _smoothed(metric, number, matches, total, zeros)
        state = "counts"
        if hopeless:
            state = "not used" if matches else "makes it 0"
        elif total == 0 and smoothed is None:
            missing = metric.missing(segment=segment)
            state = {"one": "counts as 1", "drop": "left out"}.get(missing, "makes it 0")
        elif precision == 0 and metric.arithmetic not in GUARDED:
            state = "skipped" if metric.arithmetic == "nltk" else "makes it 0"
        entering = precision / 100
        if metric.arithmetic in GUARDED and smoothed is not None:
            entering = smoothed["numerator"] / smoothed["denominator"]
        orders.append(
            {
                "order": number,
                "matches": matches,
                "total": total,
                "smoothed": smoothed,
                "precision": precision,
                "state": state,
                "weight": 0.0,
                "log": _log(entering, state),
            }
        )
    _weigh(metric, orders)
    return orders


# The arithmetics that guard each logarithm, so that no order is without one.
GUARDED = ("codenn", "allennlp")


def _log(precision: float, state: str) -> float | None:
    if state == "counts" and precision:
        return log(precision)
    return 0.0 if state == "counts as 1" else None


def _weigh(metric: BLEU, orders: list[dict[str, Any]]) -> None:
    """Gives each order its weight in the mean."""
    kept = sum(order["state"] != "left out" for order in orders)
    weights = metric.weights
    if weights is None:
        weights = (1 / max(kept, 1),) * kept
    elif metric.arithmetic != "sacrebleu":
        weights = weights[:kept]
    elif kept < len(weights) and sum(weights[:kept]):
        whole = sum(weights[:kept])
        weights = tuple(weight / whole for weight in weights[:kept])
    # Only orders at the end can be left out.
    for order, weight in zip(orders, weights, strict=False):
        order["weight"] = weight


def _smoothed(
    metric: BLEU, order: int, matches: int, total: int, zeros: int
) -> dict[str, Any] | None:
    """The numerator and denominator that smoothing makes of an order's counts, where it acts."""
    value = 0.0 if metric.smoothing_value is None else metric.smoothing_value
    kind = metric.smoothing
    if metric.arithmetic == "codenn":
        added = value if order > 1 else 0.0
        parts = (matches + added + TINIEST, total + added + TINIEST)
        how = f"{added:g} is added to matches and n-grams, and to both the smallest number there is"
        return None if matches and not added else _made(*parts, how)
    if metric.arithmetic == "allennlp":
        how = f"{value:g} is added to matches and n-grams, against division by 0"
        return _made(matches + value, total + value, how)
    if kind == "add-k-all" or (order > 1 and kind in ("add-k", "add-k-tiny")):
        how = f"{value:g} is added to matches and n-grams"
        return _made(matches + value, total + value, how) if total + value else None
    if kind == "epsilon":
        how = "1e-15 is added to the matches and 1e-9 to the n-grams, against division by 0"
        return _made(matches + TINY, total + SMALL, how)
    if matches or not total:
        return None
    match kind:
        case "exp":
            how = f"no match counts as 1/{2**zeros} of one, half as much for each such order"
            return _made(1, 2**zeros * total, how)
        case "floor":
            return _made(value, total, f"no match counts as {value:g} of one")
        case "tiny":
            return _made(TINIEST, 1, "the precision is the smallest positive number there is")
        case "add-k-tiny":
            return _made(TINIEST, total, "no match counts as the smallest positive number there is")
    return None


TINIEST = sys.float_info.min


def _made(numerator: float, denominator: float, how: str) -> dict[str, Any]:
    return {"numerator": numerator, "denominator": denominator, "how": how}


def _why_zero(score: BLEUScore, orders: list[dict[str, Any]]) -> str | None:
    """Why a score is 0; None if it is not."""
    if score.value:
        return None
    if not score.hypothesis_length:
        return "the hypothesis has no tokens"
    if not any(score.matches):
        return "not one word of the hypothesis is in a reference, and then no smoothing helps"
    zero = [order for order in orders if order["state"] == "makes it 0"]
    if not zero:
        return "the product is too small for a number"
    first = zero[0]
    name = ngrams(first["order"])
    if not first["total"]:
        return f"the hypothesis is too short to have any {name}, and a product with 0 is 0"
    return f"none of the {name} match, and a product with 0 is 0"


def _add_words(
    system: dict[str, Any],
    metric: BLEU,
    tokens: Tokens,
    references: Sequence[Tokens],
    numbers: Sequence[int],
    *,
    recall: bool,
) -> None:
    """Adds tokens, n-grams, lengths and what covers what to the explanation of one segment."""
    tables = []
    for order in system["orders"]:
        n = order["order"]
        table = counting.clipped(tokens, references, n)
        tables.append(table)
        order["ngrams"] = [
            {
                "ngram": list(row.ngram),
                "count": row.count,
                "reference_count": row.most,
                "reference": None if row.reference is None else numbers[row.reference],
                "clipped": row.clipped,
            }
            for row in table
        ]
        order["missing"] = [
            {"ngram": list(ngram), "count": count}
            for ngram, count in counting.missing(tokens, references, n)
        ]
        if recall:
            order["recall"] = [
                {"reference": number, **_recall(tokens, reference, n)}
                for number, reference in zip(numbers, references, strict=True)
            ]
    given = metric.parameters
    rule, tie = given["reference_length"], given["tie"]
    lengths = [len(reference) for reference in references]
    _, chosen = counting.reference_length(len(tokens), lengths, rule, tie)
    system["tokens"] = list(tokens)
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "references": [numbers[i] for i in chosen],
        "lengths": lengths,
    }
    system["cover"] = [
        {"longest": one.longest, "start": one.start, "clipped": one.clipped}
        for one in counting.cover(tokens, tables)
    ]


def _recall(tokens: Tokens, reference: Tokens, order: int) -> dict[str, Any]:
    """Clipped matches with one reference over its n-grams, and the F-measure of both."""
    mine, theirs = (max(0, len(words) - order + 1) for words in (tokens, reference))
    return _shares(counting.matches_of(tokens, reference, order), mine, theirs)


def _shares(matches: int, mine: int, theirs: int) -> dict[str, Any]:
    return {
        "matches": matches,
        "total": theirs,
        "recall": matches / theirs if theirs else 0.0,
        "f": 2 * matches / (mine + theirs) if mine + theirs else 0.0,
    }


class _Digest:
    """What the segments of a corpus have most of: clipped, unmatched and missing n-grams."""

    def __init__(
        self, metric: BLEU, split: Callable[[Any], list[str]], *, recall: bool = False
    ) -> None:
        self.split = split
        self.orders = range(1, metric.max_order + 1)
        given = metric.parameters
        self.rule, self.tie = given["reference_length"], given["tie"]
        self.counters: dict[str, list[Counter[Ngram]]] = {
            kind: [Counter() for _ in self.orders] for kind in ("clipped", "unmatched", "missing")
        }
        self.recall = [[0, 0, 0] for _ in self.orders] if recall else None
        self.lengths: Counter[int] = Counter()
        self.looked_into = 0

    def read(self, hypotheses: Any, references: Any) -> _Digest:
        """Looks into the first segments; into all of them for recall, which remembers nothing."""
        rows = pairs(hypotheses, references)
        for pair in islice(rows, LOOKED_INTO):
            self.looked_into += 1
            self._look(pair)
        if self.recall is not None:
            for pair in rows:
                tokens, references_of_it, _ = self._tokens(pair)
                self._count_recall(tokens, references_of_it)
        return self

    def _tokens(self, pair: Pair) -> tuple[list[str], list[list[str]], list[int]]:
        hypothesis, references = pair
        given = [(i, text) for i, text in enumerate(references, 1) if text is not None]
        return (
            self.split(hypothesis),
            [self.split(text) for _, text in given],
            [number for number, _ in given],
        )

    def _look(self, pair: Pair) -> None:
        tokens, references, numbers = self._tokens(pair)
        lengths = [len(reference) for reference in references]
        _, chosen = counting.reference_length(len(tokens), lengths, self.rule, self.tie)
        self.lengths[numbers[chosen[0]]] += 1
        for i, order in enumerate(self.orders):
            for row in counting.clipped(tokens, references, order):
                if row.count > row.clipped:
                    kind = "clipped" if row.clipped else "unmatched"
                    self.counters[kind][i][row.ngram] += row.count - row.clipped
            for ngram, count in counting.missing(tokens, references, order):
                self.counters["missing"][i][ngram] += count
        self._count_recall(tokens, references)

    def _count_recall(self, tokens: Tokens, references: list[list[str]]) -> None:
        if self.recall is None:
            return
        lengths = [len(reference) for reference in references]
        _, chosen = counting.reference_length(len(tokens), lengths, self.rule, self.tie)
        reference = references[chosen[0]]
        for sums, order in zip(self.recall, self.orders, strict=True):
            sums[0] += counting.matches_of(tokens, reference, order)
            sums[1] += max(0, len(tokens) - order + 1)
            sums[2] += max(0, len(reference) - order + 1)

    def add_to(self, system: dict[str, Any]) -> None:
        """Adds what was found to the explanation of a system."""
        for i, order in enumerate(system["orders"]):
            for kind, counters in self.counters.items():
                order[kind] = [
                    {"ngram": list(ngram), "count": count}
                    for ngram, count in counters[i].most_common(LISTED)
                ]
            if self.recall is not None:
                matches, mine, theirs = self.recall[i]
                order["recall"] = [{"reference": None, **_shares(matches, mine, theirs)}]
        system["looked_into"] = self.looked_into
        system["reference_choice"] = {
            "rule": self.rule,
            "tie": self.tie,
            "segments": {str(number): count for number, count in sorted(self.lengths.items())},
        }


def _comparison(
    metric: BLEU, first: dict[str, Any], second: dict[str, Any], *, summed: bool
) -> dict[str, Any]:
    """The difference of two scores' logarithms, split into brevity penalty and orders.

    ln BLEU is a sum, so its difference is one too, term by term. Each term's part of the
    difference in points is in the same proportion (the logarithmic mean makes them add up).
    """
    difference = second["score"] - first["score"]
    comparison: dict[str, Any] = {
        "first": first["name"],
        "second": second["name"],
        "difference": difference,
        "log_difference": None,
        "brevity": None,
        "orders": [],
        "weights": None,
        "zero": None,
    }
    if not summed:
        comparison["zero"] = (
            "the scores are means of the segments' scores, and have no split into orders"
        )
        return comparison
    zero = [system["name"] for system in (first, second) if not system["score"]]
    if zero:
        comparison["zero"] = (
            f"{' and '.join(zero)} {'score' if len(zero) > 1 else 'scores'} 0, and 0 has no "
            "logarithm that a difference could be split of"
        )
        return comparison
    whole = log(second["score"]) - log(first["score"])
    # Points for a unit of the logarithm; the limit where both scores are the same.
    points = difference / whole if whole else first["score"]

    def part(delta: float) -> dict[str, float]:
        return {"log": delta, "points": delta * points}

    def term(order: dict[str, Any]) -> float:
        return order["weight"] * order["log"] if order["log"] is not None else 0.0

    brevity = log(second["brevity_penalty"]) - log(first["brevity_penalty"])
    comparison["log_difference"] = whole
    comparison["brevity"] = part(brevity)
    comparison["orders"] = [
        {"order": one["order"], **part(term(other) - term(one))}
        for one, other in zip(first["orders"], second["orders"], strict=True)
    ]
    units = _units(metric, second["orders"]) - _units(metric, first["orders"])
    comparison["weights"] = part(units) if units else None
    return comparison
