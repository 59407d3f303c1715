"""Results of a meta-evaluation, as a dict of JSON-compatible values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from math import fsum, inf, isnan
from typing import Any

from truebleu._kernel import InputError, __version__
from truebleu.meta_evaluation import agreement_statistics, metric_comparison
from truebleu.meta_evaluation.agreement_statistics import (
    EXCHANGES,
    SIGNED,
    SPA_SEED,
    STATISTICS,
    Value,
)
from truebleu.meta_evaluation.human_scores import JudgedSystems
from truebleu.meta_evaluation.meta_layout import NOISE
from truebleu.meta_evaluation.tasks import SEGMENTS, SYSTEMS, AgreementTests, StatisticOptions, Task
from truebleu.text.terminal_layout import format_count, join_words

# A threshold that ties more than this share of pairs is not informative.
ALL_TIED = 0.95
# With fewer systems than this, a correlation is unreliable.
FEW_SYSTEMS = 16
# Default name of human scores.
UNNAMED = "human"
# Maximum number of bins in the chart of differences. Bins contain similar numbers of pairs.
BINS = 8


def build_results(
    sets: Sequence[JudgedSystems],
    tasks: Sequence[Task],
    options: StatisticOptions,
    tests: AgreementTests,
    preset: str | None = None,
    workers: int = 1,
) -> dict[str, Any]:
    """Return all results in the format of `MetaEvaluation.to_dict`."""
    by_name = {one.name: one for one in sets}
    metrics = list(dict.fromkeys(name for one in sets for name in one.metrics))
    if not metrics:
        raise InputError("no metrics to evaluate. Name at least one metric, or add its scores.")
    for judged in sets:
        for name in metrics:
            if name not in judged.metrics:
                raise InputError(
                    f"{name}: no scores for {judged.name}. Each metric needs scores for every set."
                )
    cells = [(task, metric) for task in tasks for metric in metrics]
    with ThreadPoolExecutor(workers) as pool:
        values = pool.map(lambda cell: compute_value(by_name, cell[0], cell[1], options), cells)
        values_by_cell = dict(zip(cells, values, strict=True))
    content: dict[str, Any] = {
        "preset": preset,
        "by": f"truebleu-{__version__}",
        "reading": "",
        "sets": [_describe_set(one) for one in sets],
        "tasks": [
            _describe_task(task, by_name, values_by_cell[task, metrics[0]]) for task in tasks
        ],
        "metrics": _build_metric_rows(sets, tasks, metrics, values_by_cell),
        "tests": None,
        "notes": [],
        "systems": list(_list_system_scores(sets, metrics)),
        "agreement": list(_count_agreement(sets, metrics)),
    }
    missing = metric_comparison.add_tests_and_intervals(
        content, by_name, values_by_cell, tasks, tests
    )
    content["reading"] = summarize_results(content)
    content["notes"] = [*_build_notes(content, values_by_cell), *missing]
    return content


def compute_value(
    sets: Mapping[str, JudgedSystems], task: Task, metric: str, options: StatisticOptions
) -> Value:
    """Return the value of a metric for a task."""
    if task.pooled:
        parts = [replace(task, sets=(name,), pooled=False) for name in task.sets]
        return agreement_statistics.pool_accuracies(
            [compute_value(sets, part, metric, options) for part in parts]
        )
    level = SEGMENTS if task.statistic == "spa" else task.level
    matrices = sets[task.sets[0]].get_scores(level, metric)
    if task.statistic in ("spa", "pairwise"):
        return STATISTICS[task.statistic](*matrices)
    options_of_statistic: dict[str, Any] = {}
    if task.statistic == "acc-eq":
        options_of_statistic = {"epsilon": options.epsilon or 0.0}
    elif task.statistic not in ("acc-eq-opt", "kendall-like"):
        options_of_statistic = {"nan_as_zero": options.nan_as_zero}
    return STATISTICS[task.statistic](*matrices, task.average, **options_of_statistic)


# ---- the dict ----


def _describe_set(judged: JudgedSystems) -> dict[str, Any]:
    segment_gold = judged.gold.get(SEGMENTS)
    return {
        "name": judged.name,
        "gold": judged.gold_name,
        "systems": list(judged.systems),
        "items": None if segment_gold is None else segment_gold.items,
        "rated": None if segment_gold is None else len(segment_gold.list_rated_items()),
        "left_out": [{"system": name, "why": why} for name, why in judged.left_out.items()],
    }


def _describe_task(
    task: Task, sets: Mapping[str, JudgedSystems], first_value: Value
) -> dict[str, Any]:
    is_spa = task.statistic == "spa"
    recipe = {
        "level": task.level,
        "gold": join_words(list(dict.fromkeys(sets[name].gold_name for name in task.sets))),
        "systems": sum(len(sets[name].systems) for name in task.sets),
        "cells": first_value.cells,
        "average": None if task.average == "none" else task.average,
        "pairs": first_value.pairs,
        "exchanges": EXCHANGES if is_spa else None,
        "seed": SPA_SEED if is_spa else None,
        "by": f"truebleu-{__version__}",
    }
    fields = "|".join(f"{key}:{value}" for key, value in recipe.items() if value is not None)
    return {
        "name": task.name,
        "sets": list(task.sets),
        "level": task.level,
        "statistic": task.statistic,
        "average": task.average,
        "weight": task.weight,
        "recipe": f"{task.statistic}|{fields}",
    }


def _build_metric_rows(
    sets: Sequence[JudgedSystems],
    tasks: Sequence[Task],
    metrics: Sequence[str],
    values_by_cell: Mapping[tuple[Task, str], Value],
) -> list[dict[str, Any]]:
    """Return one entry per metric, sorted by average, then by task scores."""
    rows = []
    for name in metrics:
        scores_of_sets = [one.metrics[name] for one in sets]
        rows.append(
            {
                "name": name,
                "reference_free": all(one.free for one in scores_of_sets),
                "lower_is_better": any(one.lower_is_better for one in scores_of_sets),
                "percentage": all(
                    one.metric is not None and one.metric.is_percentage for one in scores_of_sets
                ),
                "signature": scores_of_sets[0].signature,
                "average": average_tasks(tasks, [values_by_cell[task, name] for task in tasks]),
                "rank": None,
                "cluster": None,
                "scores": {task.name: values_by_cell[task, name].to_dict() for task in tasks},
            }
        )

    def get_sort_key(row: Mapping[str, Any]) -> list[float]:
        values = [row["average"], *(score["value"] for score in row["scores"].values())]
        return [inf if value is None else -value for value in values]

    rows.sort(key=get_sort_key)
    for rank, row in enumerate(rows, 1):
        row["rank"] = rank
    return rows


def average_tasks(tasks: Sequence[Task], values: Sequence[Value]) -> float | None:
    """Return the weighted task mean, with r converted to (1 + r) / 2, or None without weights."""
    parts, weights = [], []
    for task, value in zip(tasks, values, strict=True):
        if task.weight is None or value.value is None:
            return None
        weights.append(task.weight)
        signed = task.statistic in SIGNED
        parts.append(task.weight * ((1 + value.value) / 2 if signed else value.value))
    return fsum(parts) / fsum(weights)


# ---- data for the charts ----


def _list_system_scores(
    sets: Sequence[JudgedSystems], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for judged in sets:
        levels = [judged.metrics[name].levels for name in metrics]
        if not all(SYSTEMS in known or SEGMENTS in known for known in levels):
            continue
        people = judged.get_human_scores(SYSTEMS)
        scores = {name: judged.get_scores(SYSTEMS, name)[1] for name in metrics}
        for i, system in enumerate(people.systems):
            yield {
                "set": judged.name,
                "system": system,
                "human": people.values[i],
                "scores": {name: matrix.values[i] for name, matrix in scores.items()},
            }


def _count_agreement(
    sets: Sequence[JudgedSystems], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield how often human scores confirm metric differences in each range of sizes."""
    for name in metrics:
        pairs: list[tuple[float, bool]] = []
        for judged_set in sets:
            if judged_set.metrics[name].levels.keys().isdisjoint((SYSTEMS, SEGMENTS)):
                return
            people, metric_matrix = judged_set.get_scores(SYSTEMS, name)
            for i, j in combinations(range(len(people.systems)), 2):
                difference = metric_matrix.values[i] - metric_matrix.values[j]
                judged = people.values[i] - people.values[j]
                if not isnan(difference) and difference != 0:
                    pairs.append((abs(difference), difference * judged > 0))
        pairs.sort()
        bins = min(BINS, max(1, len(pairs) // 8))
        for part in range(bins):
            bin_pairs = pairs[part * len(pairs) // bins : (part + 1) * len(pairs) // bins]
            if bin_pairs:
                yield {
                    "metric": name,
                    "low": bin_pairs[0][0],
                    "high": bin_pairs[-1][0],
                    "pairs": len(bin_pairs),
                    "agree": sum(agree for _, agree in bin_pairs),
                }


# ---- sentences ----


def summarize_results(content: Mapping[str, Any]) -> str:
    """Return a sentence that summarizes the most informative task."""
    rows = content["metrics"]
    if len(rows) > 3:
        # The best metric, and metrics that truebleu computes or that are called BLEU or chrF.
        familiar_rows = [
            row for row in rows[1:] if row["signature"] or row["name"] in ("BLEU", "chrF")
        ]
        rows = [rows[0], *(familiar_rows or rows[1:])[:2]]
    pairwise_tasks = [task for task in content["tasks"] if task["statistic"] == "pairwise"]
    for task in (*pairwise_tasks[:1], content["tasks"][0]):
        scored_rows = [(row["name"], row["scores"][task["name"]]) for row in rows]
        scored_metrics = [pair for pair in scored_rows if pair[1]["value"] is not None]
        if scored_metrics:
            break
    else:
        return f"{task['statistic']} is undefined for all metrics, because scores do not vary."
    golds = [one["gold"] for one in content["sets"] if one["name"] in task["sets"]]
    gold = join_words(list(dict.fromkeys(golds)))
    if task["statistic"] == "pairwise":
        name, score = scored_metrics[0]
        first = (
            f"{name} orders {score['hits']:,} of {score['pairs']:,} pairs of systems as "
            f"{'people do' if gold == UNNAMED else f'{gold} does'} ({100 * score['value']:.1f}%)"
        )
        further_metrics = [
            f"{name} {score['hits']:,} ({100 * score['value']:.1f}%)"
            for name, score in scored_metrics[1:]
        ]
        return f"{'; '.join([first, *further_metrics])}."
    words = ", ".join(f"{name} {score['value']:.3f}" for name, score in scored_metrics)
    return f"Agreement with {gold} ({task['name']}): {words}."


def describe_left_out_systems(sets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line per set that names the omitted systems and the reasons."""
    for set_content in sets:
        by_reason: dict[str, list[str]] = {}
        for system in set_content["left_out"]:
            by_reason.setdefault(system["why"], []).append(system["system"])
        if by_reason:
            words = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
            yield f"{set_content['name']}: left out: {words}."


def _build_notes(
    content: Mapping[str, Any], values_by_cell: Mapping[tuple[Task, str], Value]
) -> Iterator[str]:
    """Yield notes on systems left out, small sets, undefined values and tie thresholds."""
    yield from describe_left_out_systems(content["sets"])
    sizes = {one["name"]: len(one["systems"]) for one in content["sets"]}
    small_sets = [f"{name} has {size}" for name, size in sizes.items() if size < FEW_SYSTEMS]
    at_systems = [task["statistic"] for task in content["tasks"] if task["level"] == SYSTEMS]
    if small_sets and not set(SIGNED).isdisjoint(at_systems):
        yield (
            f"{join_words(small_sets)} systems. With so few, adding or removing one system changes "
            "a correlation by .1 to .3. Rely on system pairs and tests, not on the second digit."
        )
    by_task: dict[Task, list[tuple[str, Value]]] = {}
    for (task, metric), value in values_by_cell.items():
        by_task.setdefault(task, []).append((metric, value))
    for task, values in by_task.items():
        numbers = [value.left_out for _, value in values if value.left_out]
        if not numbers:
            continue
        if task.average == "none":
            names = [metric for metric, value in values if value.left_out]
            yield (
                f"{task.name}: no value for {join_words(names[:6])}: all metric scores, or all "
                "human scores, are equal."
            )
            continue
        min_left_out, max_left_out = min(numbers), max(numbers)
        span = f"{min_left_out:,}"
        if min_left_out < max_left_out:
            span += f" to {max_left_out:,}"
        row_count = values[0][1].rows + values[0][1].left_out
        yield (
            f"{task.name}: {span} of {row_count:,} rows are left out, because their human scores "
            "or their metric scores are all equal."
        )
    yield from _build_threshold_notes(by_task)


def _build_threshold_notes(by_task: Mapping[Task, Sequence[tuple[str, Value]]]) -> Iterator[str]:
    """Yield notes on thresholds that tie nearly all pairs, or that are rounding noise."""
    noise = []
    for task, values in by_task.items():
        words = []
        for metric, value in values:
            if value.tied is not None and value.epsilon and value.tied > ALL_TIED:
                zero = "" if value.at_zero is None else f" (value with ε = 0: {value.at_zero:.3f})"
                tied = f"{100 * value.tied:.0f}% of pairs"
                words.append(f"{metric}: ε = {value.epsilon:.4g} ties {tied}{zero}")
            if value.epsilon and value.epsilon < NOISE:
                noise.append(f"{metric} ({task.name}, {value.epsilon:.3g})")
        if words:
            remainder = (
                f"; and {format_count(len(words) - 4, 'metric')} more" if len(words) > 4 else ""
            )
            yield f"{task.name} is not informative here: {'; '.join(words[:4])}{remainder}."
    if noise:
        yield (
            f"The ε of {join_words(noise[:4])} is a rounding error from summing equal scores in "
            "different orders. It is shown as 0."
        )
