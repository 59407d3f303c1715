"""BLEU's formula, step by step: smoothing, missing orders, brevity penalty and mean.

BLEU = BP · exp(Σ wₙ ln pₙ) in all published implementations. They differ in their treatment of
orders without n-grams or matches, in edge cases of the brevity penalty, and in the order of
floating-point operations, which affects the last bit. Each difference is a parameter.
kernel/src/bleu.rs computes sacreBLEU's case for many rows at once; tests compare the two.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from math import exp, fsum, inf, log
from typing import Any

from truebleu.metrics import parameters as p

# sacreBLEU's substitute for the logarithm of 0; its exponential is 0.
LOG_OF_ZERO = -9999999999

# pycocoevalcap's guards against division by 0.
TINY, SMALL = 1e-15, 1e-9
# MultiWOZ's offset of counts and precisions.
OFFSET = 1e-7

# Smoothing methods, with the numerator that they use for an order without a match.
SMOOTHING = {
    "exp": "counts 1/2, 1/4, ... of a match, as in mteval-v13a",
    "floor": "counts smoothing_value matches",
    "add-k": "adds smoothing_value to the match and n-gram counts above order 1",
    "none": "the score is 0",
    "add-k-all": "add-k, also at order 1",
    "add-k-tiny": "add-k, with the smallest positive number as matches at order 1",
    "epsilon": "pycocoevalcap's guards",
    "offset": "adds 1e-7 to the n-gram counts and to the precisions, as in MultiWOZ",
    "tiny": "the smallest positive number",
}
# Values of `arithmetic` that have a fixed smoothing method and ignore the parameter `smoothing`.
FIXED_SMOOTHING = {
    "cdec": "floor",
    "allennlp": "add-k-all",
    "coco": "epsilon",
    "codenn": "add-k-tiny",
}
# Default smoothing values, for the methods that use one.
SMOOTHING_VALUES = {"floor": 0.1, "add-k": 1.0, "add-k-all": 1.0, "add-k-tiny": 1.0}


class SmoothingValue(p.Number["float | None"]):
    """The user's or the default smoothing value, or None for methods without a value."""

    def __get__(self, metric: Any, _: type | None = None) -> float | None:
        """Return the user's value, or the default of the smoothing method."""
        if metric is None:
            return self  # type: ignore[return-value]
        values = metric._values  # noqa: SLF001
        value: float | None = values["smoothing_value"]
        return SMOOTHING_VALUES.get(values["smoothing"]) if value is None else value


class Formula:
    """BLEU's formula with the parameters that apply after counting. See `bleu.BLEU`."""

    smoothing: str
    smoothing_value: float
    missing_order: str
    no_match: str
    brevity_penalty: str
    empty_brevity: float
    weights: Sequence[float] | None
    arithmetic: str

    def __init__(
        self, parameters: Mapping[str, Any], smoothing_value: float, missing_order: str
    ) -> None:
        """Store the parameters. The arguments replace `smoothing_value` and `missing_order`."""
        vars(self).update(parameters)
        self.smoothing_value = smoothing_value
        self.missing_order = missing_order

    def list_percentages(self, matches: Sequence[int], totals: Sequence[int]) -> tuple[float, ...]:
        """Return the precision of each order (0-100), with 0 for missing orders."""
        zeros = (0.0,) * len(matches)
        if self._is_zero_before_smoothing(matches):
            return zeros
        unit = 1.0 if self.arithmetic == "sacrebleu" else 100.0
        percentages = (unit * p for p in self.compute_precisions(matches, totals) if p is not None)
        return (*percentages, *zeros)[: len(matches)]

    def _is_zero_before_smoothing(self, matches: Sequence[int]) -> bool:
        """Return whether the score is 0 before smoothing, usually because nothing matches."""
        if self.no_match == "zero":
            return not any(matches)
        return self.no_match == "any-zero" and not all(matches)

    def compute_score(
        self,
        matches: Sequence[int],
        totals: Sequence[int],
        hypothesis_length: int,
        reference_length: float,
    ) -> float:
        """Return the score for counts: 0-100 in sacreBLEU's arithmetic, otherwise 0-1."""
        if self._is_zero_before_smoothing(matches):
            return 0.0
        if self.arithmetic == "codenn":
            # CodeNN adds a tiny number to avoid logarithms of 0.
            added, mean = 0.0, 0.0
            for match, total in zip(matches, totals, strict=True):
                numerator, denominator = match + added, total + added
                mean += log(numerator + sys.float_info.min) - log(denominator + sys.float_info.min)
                added = self.smoothing_value
            ratio = (reference_length + 1) / (hypothesis_length + 1)
            return exp(mean / len(matches) + min(0.0, 1 - ratio))
        if self.arithmetic == "cdec":
            return self._compute_cdec_score(matches, totals, hypothesis_length, reference_length)
        brevity = self.compute_brevity_penalty(hypothesis_length, reference_length)
        if self.arithmetic == "coco":
            product = 1.0
            for match, total in zip(matches, totals, strict=True):
                product *= (match + TINY) / (total + SMALL)
            return float(product ** (1.0 / len(matches))) * brevity
        if self.arithmetic == "allennlp":
            guard = self.smoothing_value
            weights = self.weights or [1.0 / len(matches)] * len(matches)
            # The precision of an order without n-grams is 1, even if the guard is 0.
            logs = (
                w * (_compute_log(match + guard) - log(total + guard))
                for w, match, total in zip(weights, matches, totals, strict=True)
                if w and total + guard
            )
            return brevity * exp(sum(logs))
        mean = self._compute_mean(self.compute_precisions(matches, totals))
        if self.arithmetic == "float32":
            return round_to_single(round_to_single(brevity) * mean)
        return round_to_single(mean * brevity) if self.arithmetic == "t2t" else mean * brevity

    def compute_brevity_penalty(self, hypothesis_length: int, reference_length: float) -> float:
        """Return the brevity penalty."""
        c, r = hypothesis_length, reference_length
        if self.brevity_penalty == "none":
            return 1.0
        if self.brevity_penalty == "coco":
            ratio = (c + TINY) / (r + SMALL)
            return exp(1 - 1 / ratio) if ratio < 1 else 1.0
        if self.brevity_penalty == "plus-one":
            return exp(min(0.0, 1 - (r + 1) / (c + 1)))
        # If scores without matches may be positive, two empty texts are not a perfect match.
        if c == 0 and (r > 0 or self.no_match == "smoothed"):
            return self.empty_brevity
        if c >= r:
            return 1.0
        if self.arithmetic in ("nmt", "t2t"):
            return exp(1 - 1.0 / (c / r))
        if self.arithmetic == "float32":
            return round_to_single(exp(round_to_single(1 - round_to_single(r / c))))
        return exp(1 - r / c)

    def compute_precisions(
        self, matches: Sequence[int], totals: Sequence[int]
    ) -> list[float | None]:
        """Return the precision of each order after smoothing. None stands for a precision of 1.

        Precisions are percentages in sacreBLEU's arithmetic, and fractions otherwise.
        The list is shorter if the highest orders are left out.
        """
        unit = 100.0 if self.arithmetic == "sacrebleu" else 1.0
        smoothing, value = self.smoothing, self.smoothing_value
        precisions: list[float | None] = []
        divisor = 1.0
        for order, (match, total) in enumerate(zip(matches, totals, strict=True), 1):
            numerator: float = match
            denominator: float = total
            if smoothing == "add-k-all" or (order > 1 and smoothing in ("add-k", "add-k-tiny")):
                numerator += value
                denominator += value
            elif smoothing == "epsilon":
                precisions.append(unit * ((match + TINY) / (total + SMALL)))
                continue
            elif smoothing == "offset":
                precisions.append(unit * (match / (total + OFFSET) + OFFSET))
                continue
            if denominator == 0:
                if self.missing_order == "one":
                    precisions.append(None)
                    continue
                if self.missing_order != "drop":
                    precisions += [0.0] * (len(matches) - len(precisions))
                break
            if numerator != 0:
                precisions.append(unit * numerator / denominator)
            elif smoothing == "exp":
                divisor *= 2
                precisions.append(unit / (divisor * denominator))
            elif smoothing == "floor":
                precisions.append(unit * value / denominator)
            elif smoothing == "tiny":
                precisions.append(sys.float_info.min)
            elif smoothing == "add-k-tiny":
                precisions.append(sys.float_info.min / denominator)
            else:
                precisions.append(0.0)
        return precisions

    def _compute_mean(self, precisions: Sequence[float | None]) -> float:
        """Return the weighted geometric mean of the precisions."""
        if not precisions:
            # All orders are left out, because the hypotheses have no tokens.
            return 0.0
        if self.arithmetic == "sacrebleu":
            logs = [log(100.0 if p is None else p) if p != 0.0 else LOG_OF_ZERO for p in precisions]
            if self.weights is None:
                return exp(sum(logs) / len(logs))
            mean = sum(log * weight for log, weight in zip(logs, self.weights, strict=False))
            if len(logs) < len(self.weights):
                used_weight = sum(self.weights[: len(logs)])
                mean = mean / used_weight if used_weight else LOG_OF_ZERO
            return exp(mean)
        fractions = [1.0 if p is None else p for p in precisions]
        weights = self.weights or [1.0 / len(precisions)] * len(precisions)
        if self.arithmetic == "ignite" and self.smoothing == "none":
            fractions = list(map(round_to_single, fractions))
        pairs = zip(weights, fractions, strict=False)
        if self.arithmetic in ("nltk", "ignite"):
            # NLTK skips orders without matches after smoothing.
            return exp(fsum(weight * log(p) for weight, p in pairs if p > 0))
        if min(fractions) <= 0:
            return 0.0
        if self.arithmetic == "float32":
            logs = [
                round_to_single(
                    round_to_single(weight) * round_to_single(_compute_log(round_to_single(p)))
                )
                for weight, p in zip(weights, fractions, strict=False)
                if weight
            ]
            return round_to_single(exp(round_to_single(sum(logs))))
        if self.arithmetic == "xnmt":
            log_mean = 0.0
            for weight, p in pairs:
                product = round_to_single(weight) * round_to_single(log(p))
                log_mean = round_to_single(log_mean + round_to_single(product))
            return exp(log_mean)
        return exp(sum(weight * log(p) for weight, p in pairs))

    def _compute_cdec_score(
        self, matches: Sequence[int], totals: Sequence[int], c: int, r: float
    ) -> float:
        """Return cdec's score, computed in single precision, including the brevity penalty."""
        zero_match_value = round_to_single(self.smoothing_value)
        mean, orders = 0.0, 0
        for match, total in zip(matches, totals, strict=True):
            if total:
                log_match = round_to_single(_compute_log(match or zero_match_value))
                mean = round_to_single(
                    mean + round_to_single(log_match - round_to_single(log(total)))
                )
                orders += 1
        if not orders:
            return 0.0
        brevity = 0.0
        if c < r:
            brevity = round_to_single(round_to_single(c - r) / c) if c else -inf
        return round_to_single(exp(round_to_single(round_to_single(mean / orders) + brevity)))


def _compute_log(number: float) -> float:
    """Return the logarithm of a number, or negative infinity for 0."""
    return log(number) if number else -inf


def round_to_single(number: float) -> float:
    """Return a number rounded to single precision."""
    from struct import pack, unpack  # imported late, because most scores do not need it

    return float(unpack("f", pack("f", number))[0])
