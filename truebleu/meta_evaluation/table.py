"""From what people judged and what is asked for to the results: a dict of JSON's types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from math import fsum, isnan
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError, __version__
from truebleu.meta_evaluation import statistics
from truebleu.meta_evaluation.judged import SEGMENTS, SYSTEMS
from truebleu.meta_evaluation.statistics import SIGNED, STATISTICS, Value
from truebleu.text.layout import count, listed

if TYPE_CHECKING:
    from truebleu.meta_evaluation.judged import Judged
    from truebleu.meta_evaluation.tasks import Asked, Task

# A threshold that ties more pairs than this says that everything is a tie.
ALL_TIED = 0.95
# Fewer systems than this cannot carry a correlation.
FEW_SYSTEMS = 16
# What scores of people are called that have no name.
GIVEN = "human"
# How many equal parts of the pairs the picture of differences has.
BINS = 8


def results(sets: Sequence[Judged], asked: Asked) -> dict[str, Any]:
    """All results, as `MetaEvaluation.to_dict` describes them."""
    by_name = {one.name: one for one in sets}
    metrics = list(dict.fromkeys(name for one in sets for name in one.metrics))
    if not metrics:
        raise InputError("no metric: name some, or give their scores")
    for one in sets:
        for name in metrics:
            if name not in one.metrics:
                raise InputError(
                    f"{name}: no scores of {one.name}; a table needs every metric in every set"
                )
    work = [(task, metric) for task in asked.tasks for metric in metrics]

    def value(one: tuple[Task, str]) -> Value:
        return value_of(by_name, one[0], one[1], asked)

    with ThreadPoolExecutor(asked.workers) as pool:
        found = dict(zip(work, pool.map(value, work), strict=True))
    content: dict[str, Any] = {
        "preset": asked.preset,
        "by": f"truebleu-{__version__}",
        "reading": "",
        "sets": [_set(one) for one in sets],
        "tasks": [_task(task, by_name, found, metrics, asked) for task in asked.tasks],
        "metrics": _metrics(sets, asked, metrics, found),
        "tests": None,
        "notes": [],
        "systems": list(_scatter(sets, metrics)),
        "agreement": list(_agreement(sets, metrics)),
    }
    told: list[str] = []
    if asked.significance or asked.confidence:
        from truebleu.meta_evaluation import tests

        told = tests.add(content, by_name, found, asked)
    content["reading"] = reading(content)
    content["notes"] = [*notes(content, sets, found), *told]
    return content


def value_of(sets: Mapping[str, Judged], task: Task, metric: str, asked: Asked) -> Value:
    """One cell of the table."""
    if task.pooled:
        of_sets = [
            value_of(sets, task.replaced(sets=(name,), pooled=False), metric, asked)
            for name in task.sets
        ]
        return statistics.pooled(of_sets)
    one = sets[task.sets[0]]
    if task.statistic == "spa":
        return statistics.spa(*one.at(SEGMENTS, metric), exchanges=asked.exchanges)
    both = one.at(task.level, metric)
    if task.statistic == "pairwise":
        return statistics.pairwise(*both)
    if task.statistic == "acc-eq":
        return statistics.acc_eq(*both, task.average, epsilon=asked.epsilon or 0.0)
    if task.statistic == "acc-eq-opt":
        return statistics.acc_eq_opt(*both, task.average)
    if task.statistic == "kendall-like":
        return statistics.kendall_like(*both, task.average)
    return STATISTICS[task.statistic](*both, task.average, nan_as_zero=asked.nan_as_zero)


# ---- the dict ----


def _set(one: Judged) -> dict[str, Any]:
    of_segments = one.gold.get(SEGMENTS)
    return {
        "name": one.name,
        "gold": one.gold_name,
        "systems": list(one.systems),
        "items": None if of_segments is None else of_segments.items,
        "rated": None if of_segments is None else len(of_segments.rated()),
        "left_out": [{"system": name, "why": why} for name, why in one.left_out.items()],
    }


def _task(
    task: Task,
    sets: Mapping[str, Judged],
    found: Mapping[tuple[Task, str], Value],
    metrics: Sequence[str],
    asked: Asked,
) -> dict[str, Any]:
    systems = sum(len(sets[name].systems) for name in task.sets)
    first = found[task, metrics[0]]
    gold = listed(list(dict.fromkeys(sets[name].gold_name for name in task.sets)))
    recipe = {
        "level": task.level,
        "gold": gold,
        "systems": systems,
        "cells": first.cells,
        "average": None if task.average == "none" else task.average,
        "pairs": first.pairs,
        "exchanges": asked.exchanges if task.statistic == "spa" else None,
        "seed": statistics.SPA_SEED if task.statistic == "spa" else None,
        "by": f"truebleu-{__version__}",
    }
    known = "|".join(f"{key}:{value}" for key, value in recipe.items() if value is not None)
    return {
        "name": task.name,
        "sets": list(task.sets),
        "level": task.level,
        "statistic": task.statistic,
        "average": task.average,
        "weight": task.weight,
        "recipe": f"{task.statistic}|{known}",
    }


def _metrics(
    sets: Sequence[Judged],
    asked: Asked,
    metrics: Sequence[str],
    found: Mapping[tuple[Task, str], Value],
) -> list[dict[str, Any]]:
    rows = []
    for name in metrics:
        scores = {task.name: found[task, name].to_dict() for task in asked.tasks}
        of_sets = [one.metrics[name] for one in sets]
        rows.append(
            {
                "name": name,
                "reference_free": all(one.free for one in of_sets),
                "lower_is_better": any(one.lower_is_better for one in of_sets),
                "signature": of_sets[0].signature,
                "average": average(asked.tasks, [found[task, name] for task in asked.tasks]),
                "rank": None,
                "cluster": None,
                "scores": scores,
            }
        )

    def place(row: Mapping[str, Any]) -> list[float]:
        """By the average, then by one task after the other."""
        values = [row["average"], *(score["value"] for score in row["scores"].values())]
        return [float("inf") if value is None else -value for value in values]

    rows.sort(key=place)
    for rank, row in enumerate(rows, 1):
        row["rank"] = rank
    return rows


def average(tasks: Sequence[Task], values: Sequence[Value]) -> float | None:
    """The weighted mean of tasks that have weights; correlations r as (1 + r) / 2."""
    weights = [task.weight for task in tasks]
    if any(weight is None for weight in weights) or any(one.value is None for one in values):
        return None
    parts = [
        weight * ((1 + float(one)) / 2 if task.statistic in SIGNED else float(one))
        for task, weight, one in zip(tasks, weights, values, strict=True)
        if weight is not None
    ]
    return fsum(parts) / fsum(weight for weight in weights if weight is not None)


# ---- what the pictures show ----


def _scatter(sets: Sequence[Judged], metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    """People's score and the metrics' of each system."""
    for one in sets:
        levels = [one.metrics[name].levels for name in metrics]
        if not all(SYSTEMS in known or SEGMENTS in known for known in levels):
            continue
        people = one.people(SYSTEMS)
        scores = {name: one.at(SYSTEMS, name)[1] for name in metrics}
        for i, system in enumerate(people.systems):
            yield {
                "set": one.name,
                "system": system,
                "human": people.values[i],
                "scores": {name: matrix.values[i] for name, matrix in scores.items()},
            }


def _agreement(sets: Sequence[Judged], metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    """How often people agree with a difference between two systems, by its size."""
    for name in metrics:
        pairs: list[tuple[float, bool]] = []
        for one in sets:
            levels = one.metrics[name].levels
            if SYSTEMS not in levels and SEGMENTS not in levels:
                return
            people, own = one.at(SYSTEMS, name)
            for i, j in combinations(range(len(people.systems)), 2):
                difference = own.values[i] - own.values[j]
                judged = people.values[i] - people.values[j]
                if not isnan(difference) and difference != 0:
                    pairs.append((abs(difference), difference * judged > 0))
        pairs.sort()
        bins = min(BINS, max(1, len(pairs) // 8))
        for part in range(bins):
            chosen = pairs[part * len(pairs) // bins : (part + 1) * len(pairs) // bins]
            if chosen:
                yield {
                    "metric": name,
                    "low": chosen[0][0],
                    "high": chosen[-1][0],
                    "pairs": len(chosen),
                    "agree": sum(agree for _, agree in chosen),
                }


# ---- sentences ----


def reading(content: Mapping[str, Any]) -> str:
    """One sentence that a person can act on, of the most telling task that is there."""
    tasks = content["tasks"]
    pairs = [task for task in tasks if task["statistic"] == "pairwise"]
    rows = content["metrics"]
    shown = rows[:3] if len(rows) <= 3 else _telling(rows)
    if pairs:
        task = pairs[0]
        gold = _gold(content, task)
        gold = "people do" if gold == GIVEN else f"{gold} does"
        told = []
        for row in shown:
            score = row["scores"][task["name"]]
            if score["value"] is None:
                continue
            told.append((row["name"], score["hits"], score["pairs"], score["value"]))
        if told:
            name, hits, every, value = told[0]
            first = (
                f"{name} orders {hits:,} of {every:,} pairs of systems as {gold} "
                f"({100 * value:.1f} %)"
            )
            others = [f"{name} {hits:,} ({100 * value:.1f} %)" for name, hits, _, value in told[1:]]
            return f"{'; '.join([first, *others])}."
    task = tasks[0]
    known = [
        (row["name"], row["scores"][task["name"]]["value"])
        for row in shown
        if row["scores"][task["name"]]["value"] is not None
    ]
    if not known:
        return f"No metric has a {task['statistic']} here: scores do not vary."
    words = ", ".join(f"{name} {value:.3f}" for name, value in known)
    return f"Agreement with {_gold(content, task)} ({task['name']}): {words}."


def _telling(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of many metrics: the best, and those that truebleu computes or that are called BLEU."""
    usual = [row for row in rows[1:] if row["signature"] or row["name"] in ("BLEU", "chrF")]
    return [rows[0], *(usual or rows[1:])[:2]]


def _gold(content: Mapping[str, Any], task: Mapping[str, Any]) -> str:
    golds = [one["gold"] for one in content["sets"] if one["name"] in task["sets"]]
    return listed(list(dict.fromkeys(golds)))


def notes(
    content: Mapping[str, Any],
    sets: Sequence[Judged],
    found: Mapping[tuple[Task, str], Value],
) -> Iterator[str]:
    """What a reader must know of the numbers, with names and counts."""
    yield from left_out(content["sets"])
    for one in sets:
        yield from one.notes
    few = {one.name: len(one.systems) for one in sets if len(one.systems) < FEW_SYSTEMS}
    correlated = [
        task
        for task in content["tasks"]
        if task["level"] == SYSTEMS and task["statistic"] in SIGNED
    ]
    if few and correlated:
        words = listed([f"{name} has {number}" for name, number in few.items()])
        yield (
            f"{words} systems: a correlation over so few moves by .1 to .3 with one system more or "
            "less; read pairs of systems and tests, not its second digit."
        )
    yield from _of_rows(found)
    yield from _of_epsilon(found)


def left_out(sets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Name the systems that are left out of each set, with the reasons."""
    for one in sets:
        by_reason: dict[str, list[str]] = {}
        for system in one["left_out"]:
            by_reason.setdefault(system["why"], []).append(system["system"])
        if by_reason:
            words = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
            yield f"{one['name']}: left out: {words}."


def _of_rows(found: Mapping[tuple[Task, str], Value]) -> Iterator[str]:
    """Which rows had no value."""
    by_task: dict[Task, list[tuple[str, Value]]] = {}
    for (task, metric), value in found.items():
        if value.left_out:
            by_task.setdefault(task, []).append((metric, value))
    for task, values in by_task.items():
        most = max(value.left_out for _, value in values)
        least = min(value.left_out for _, value in values)
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        if task.average == "none":
            names = [metric for metric, _ in values]
            yield (
                f"{task.name}: no value for {listed(names[:6])}: all of its scores, or people's, "
                "are the same."
            )
        else:
            every = values[0][1].rows + values[0][1].left_out
            yield (
                f"{task.name}: {span} of {every:,} rows left out, in which people's scores or the "
                "metric's are all the same."
            )


def _of_epsilon(found: Mapping[tuple[Task, str], Value]) -> Iterator[str]:
    """Thresholds that make everything a tie, or that are rounding noise."""
    everything: dict[Task, list[str]] = {}
    for (task, metric), value in found.items():
        if value.tied is not None and value.epsilon and value.tied > ALL_TIED:
            zero = "" if value.at_zero is None else f"; with ε = 0 it is {value.at_zero:.3f}"
            tied = f"{100 * value.tied:.0f} % of pairs"
            everything.setdefault(task, []).append(
                f"{metric}: ε = {value.epsilon:.4g} calls {tied} ties{zero}"
            )
    for task, words in everything.items():
        more = f"; and {count(len(words) - 4, 'metric')} more" if len(words) > 4 else ""
        yield f"{task.name} says nothing of the metric here: {'; '.join(words[:4])}{more}."
    noise = [
        f"{metric} ({task.name}, {value.epsilon:.3g})"
        for (task, metric), value in found.items()
        if value.epsilon and value.epsilon < 1e-12
    ]
    if noise:
        yield (
            f"ε of {listed(noise[:4])} is rounding: equal scores that were added up in different "
            "orders. It is shown as 0."
        )
