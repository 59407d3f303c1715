"""The definitions of the statistics, word for word, for tests to compare with: slow, and exact.

Matrices are lists of rows, a system each; None is a hole.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations


def rows(gold, metric, average):
    """Return the rated cells of each row."""
    systems, items = len(gold), len(gold[0])
    cells = {
        "none": [[(s, i) for s in range(systems) for i in range(items)]],
        "item": [[(s, i) for s in range(systems)] for i in range(items)],
        "sys": [[(s, i) for i in range(items)] for s in range(systems)],
    }[average]
    grouped_rows = []
    for row in cells:
        rated = [(gold[s][i], metric[s][i]) for s, i in row if gold[s][i] is not None]
        grouped_rows.append(([g for g, _ in rated], [m for _, m in rated]))
    return grouped_rows


def counts(gold, metric, epsilon=0.0, min_gap=0.0):
    """C, D, Tg, Tm, Tgm of one row."""
    c = d = tg = tm = tgm = 0
    for i, j in combinations(range(len(gold)), 2):
        if abs(gold[i] - gold[j]) < min_gap:
            continue
        gold_tied = gold[i] == gold[j]
        metric_tied = abs(metric[i] - metric[j]) <= epsilon
        if gold_tied and metric_tied:
            tgm += 1
        elif gold_tied:
            tg += 1
        elif metric_tied:
            tm += 1
        elif (gold[i] < gold[j]) == (metric[i] < metric[j]):
            c += 1
        else:
            d += 1
    return c, d, tg, tm, tgm


def mean(values):
    present_values = [value for value in values if value is not None]
    return math.fsum(present_values) / len(present_values) if present_values else None


def tau_b(gold, metric):
    c, d, tg, tm, _ = counts(gold, metric)
    below = (c + d + tm) * (c + d + tg)
    return (c - d) / math.sqrt(below) if below else None


def tau_c(gold, metric):
    c, d, *_ = counts(gold, metric)
    m = min(len(set(gold)), len(set(metric)))
    return 2 * (c - d) / (len(gold) ** 2 * (m - 1) / m) if m > 1 else None


def acc_eq(gold, metric, epsilon=0.0):
    pair_counts = counts(gold, metric, epsilon)
    return Fraction(pair_counts[0] + pair_counts[4], sum(pair_counts)) if sum(pair_counts) else None


def pearson(gold, metric):
    if len(set(gold)) < 2 or len(set(metric)) < 2:
        return None
    n = len(gold)
    g = [Fraction(value) for value in gold]
    m = [Fraction(value) for value in metric]
    gm, mm = sum(g) / n, sum(m) / n
    product = sum((a - gm) * (b - mm) for a, b in zip(g, m, strict=True))
    squares = sum((a - gm) ** 2 for a in g) * sum((b - mm) ** 2 for b in m)
    return float(product) / math.sqrt(squares)


def ranks(values):
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def spearman(gold, metric):
    return pearson(ranks(gold), ranks(metric)) if gold else None


def averaged(statistic, gold, metric, average, **options):
    return mean([statistic(g, m, **options) for g, m in rows(gold, metric, average) if g])


def best_epsilon(gold, metric, average):
    """Return the threshold and the value, from all candidates in order, by fractions."""
    parts = [(g, m) for g, m in rows(gold, metric, average) if len(g) > 1]
    candidates = {0.0} | {abs(a - b) for _, m in parts for a, b in combinations(m, 2)}
    best = None
    for epsilon in sorted(candidates):
        value = sum(acc_eq(g, m, epsilon) for g, m in parts) / len(parts)
        if best is None or value > best[1]:
            best = epsilon, value
    return best


def leads(scores, signs):
    """For every two systems, in how many exchanges the first leads by as much: by fractions."""
    exact = [[Fraction(str(value)) for value in row] for row in scores]
    lead_counts = []
    for a, b in combinations(exact, 2):
        lead = sum(a) - sum(b)
        lead_counts.append(
            sum(
                sum(s * (x - y) for s, x, y in zip(row, a, b, strict=True)) >= lead for row in signs
            )
        )
    return lead_counts
