"""Naive BLEU, one step of the paper after the other, as an oracle for tests.

Papineni, Roukos, Ward and Zhu, "BLEU: a Method for Automatic Evaluation of Machine Translation",
ACL 2002. Tokens in, a score from 0 to 100 out.
"""

from collections import Counter
from dataclasses import dataclass
from math import exp, log

Tokens = list[str]


@dataclass
class PlainBLEU:
    """A score and what it is made of."""

    value: float
    matches: list[int]
    totals: list[int]
    precisions: list[float]
    brevity_penalty: float


def ngrams(tokens: Tokens, order: int) -> Counter:
    """Return the count of each n-gram of this order."""
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def clipped_matches(hypothesis: Tokens, references: list[Tokens], order: int) -> int:
    """N-grams of the hypothesis, each counted at most as often as in one of the references."""
    max_counts = Counter()
    for reference in references:
        max_counts |= ngrams(reference, order)
    return (ngrams(hypothesis, order) & max_counts).total()


def closest_length(hypothesis: Tokens, references: list[Tokens]) -> int:
    """Return the reference length nearest to the hypothesis length; of two as near, the shorter."""
    return min(map(len, references), key=lambda length: (abs(length - len(hypothesis)), length))


def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    """1 for a long hypothesis, less and less for a shorter and shorter one."""
    if hypothesis_length >= reference_length:
        return 1.0
    return exp(1 - reference_length / hypothesis_length) if hypothesis_length else 0.0


def smoothed_precisions(
    matches: list[int], totals: list[int], smoothing: str, value: float
) -> list[float]:
    """Precisions as percentages, up to the longest order that the text has n-grams of.

    Chen and Cherry, "A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU",
    WMT 2014: their methods 1 (`floor`), 2 (`add-k`) and 3 (`exp`).
    """
    precisions, divisor = [], 1
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), start=1):
        if smoothing == "add-k" and order > 1:
            match, total = match + value, total + value  # noqa: PLW2901
        if total == 0:
            break
        if match == 0 and smoothing == "exp":
            divisor *= 2
            precisions.append(100 / (divisor * total))
        elif match == 0 and smoothing == "floor":
            precisions.append(100 * value / total)
        else:
            precisions.append(100 * match / total)
    return precisions


def bleu(
    hypotheses: list[Tokens],
    references: list[list[Tokens]],
    *,
    smoothing: str = "exp",
    value: float = 0,
    effective_order: bool = False,
    max_order: int = 4,
    weights: list[float] | None = None,
) -> PlainBLEU:
    """Count are summed over all segments first; then one formula makes one score."""
    orders = range(1, max_order + 1)
    pairs = list(zip(hypotheses, references, strict=True))
    matches = [sum(clipped_matches(hyp, refs, n) for hyp, refs in pairs) for n in orders]
    totals = [sum(max(0, len(hyp) - n + 1) for hyp, _ in pairs) for n in orders]
    penalty = brevity_penalty(
        sum(len(hyp) for hyp, _ in pairs), sum(closest_length(hyp, refs) for hyp, refs in pairs)
    )
    if not any(matches):
        return PlainBLEU(0.0, matches, totals, [0.0] * max_order, penalty)

    precisions = smoothed_precisions(matches, totals, smoothing, value)
    usable = len(precisions)
    precisions += [0.0] * (max_order - usable)
    used_precisions = precisions[:usable] if effective_order else precisions
    if 0.0 in used_precisions:
        mean = 0.0
    elif weights is None:
        mean = exp(sum(map(log, used_precisions)) / len(used_precisions))
    else:
        mean = exp(sum(w * log(p) for w, p in zip(weights, used_precisions, strict=True)))
    return PlainBLEU(penalty * mean, matches, totals, precisions, penalty)
