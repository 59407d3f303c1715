"""Naive minimum Bayes risk decoding, as in the papers: the oracle for the package."""

from __future__ import annotations

from collections import Counter

import numpy as np

from truebleu._kernel import Table


def units(metric, text):
    """Return the sequences that n-grams are taken from, and how long n-grams are."""
    if metric.NAME == "BLEU":
        return [(text.split(), metric.max_order)]
    words = text.split()
    return [("".join(words), metric.char_order), (words, metric.word_order)]


def counts(metric, text):
    """Return a Counter of n-grams for each order of each kind."""
    return [
        Counter(tuple(sequence[i : i + n]) for i in range(len(sequence) - n + 1))
        for sequence, orders in units(metric, text)
        for n in range(1, orders + 1)
    ]


def against_sum(metric, hypothesis, references, weights=None):
    """Return the score of a text against the sum of others, by untokenized BLEU or chrF."""
    weights = weights or [1] * len(references)
    times = sum(weights)
    sums = [Counter() for _ in counts(metric, "")]
    for reference, weight in zip(references, weights, strict=True):
        for total, reference_counts in zip(sums, counts(metric, reference), strict=True):
            for ngram, count in reference_counts.items():
                total[ngram] += weight * count
    orders = []
    for reference_counts, total in zip(counts(metric, hypothesis), sums, strict=True):
        matches = sum(min(times * count, total[ngram]) for ngram, count in reference_counts.items())
        orders.append((times * reference_counts.total(), total.total(), matches))
    if metric.NAME == "BLEU":
        lengths = [orders[0][0], orders[0][1]]
        row = [*lengths, *(m for _, _, m in orders), *(ours for ours, _, _ in orders)]
    else:
        row = [
            number
            for ours, theirs, matches in orders
            for number in (ours if theirs else 0, theirs, matches)
        ]
    return metric.segment_scores(Table.from_rows([row], len(row)))[0]


def pruned(score, candidates, references, level, seed, weights=None, first=8, samples=500):
    """Cheng and Vlachos' algorithm: how many references each candidate saw, and its mean score."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.choice(1 << 31, len(references)), kind="stable")
    weights = np.ones(len(references)) if weights is None else np.array(weights)
    table = np.array([[score(one, other) for other in references] for one in candidates])
    alive, seen, reference_count = list(range(len(candidates))), [0] * len(candidates), first
    while True:
        scored_references = order[:reference_count]
        for i in alive:
            seen[i] = len(scored_references)
        if len(alive) == 1 or reference_count >= len(references):
            break
        utilities = table[alive][:, scored_references] * weights[scored_references]
        best = utilities.sum(axis=1).argmax()
        wins = np.zeros(len(alive), int)
        for _ in range(samples):
            resampled = utilities[:, rng.choice(len(scored_references), len(scored_references))]
            wins += (resampled - resampled[best]).sum(axis=1) >= -1e-6
        alive = [i for i, won in zip(alive, wins, strict=True) if won > (1 - level) * samples]
        if len(alive) == 1:
            break
        reference_count *= 2
    expected = [
        np.average(table[i][order[:count]], weights=weights[order[:count]])
        for i, count in enumerate(seen)
    ]
    return seen, expected
