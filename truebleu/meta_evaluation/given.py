"""People's scores and metrics as somebody gives them: numbers, files, metrics of truebleu."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.meta_evaluation import files, presets
from truebleu.meta_evaluation.files import Scored
from truebleu.meta_evaluation.judged import (
    SEGMENTS,
    SYSTEMS,
    Judged,
    Scores,
    chosen,
    counted,
    find_references,
    find_unscored_references,
)
from truebleu.meta_evaluation.matrix import Matrix, some
from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.text import segments
from truebleu.text.layout import count


def metric_of(one: Any) -> Any:
    """A metric of truebleu, by whatever names it: the names of a metrics task as well."""
    if isinstance(one, str) and one.casefold() in presets.COMPUTED:
        name, parameters = presets.COMPUTED[one.casefold()]
        return registry.metric(name, **parameters)
    return registry.metric(one)


def of_scores(
    human: Any,
    metrics: Mapping[str, Any] | Iterable[Any] | None,
    *,
    systems: Mapping[str, Any] | None = None,
    references: Any = None,
    source: Any = None,
    groups: Mapping[str, Sequence[str] | None],
    name: str,
    outliers: Sequence[str] | str = (),
    include_references: bool = False,
    workers: int = 1,
) -> Judged:
    """A set of scores that are given; arguments as for `meta_evaluate`."""
    people = scored(human, "human scores")
    if systems is not None:
        systems = {system: segments.lasting(texts) for system, texts in systems.items()}
    references = segments.lasting(references)
    read: dict[str, Scored] = {}
    computed: dict[str, Scores] = {}
    for called, one in _named(metrics):
        if isinstance(one, Scores):
            computed[called] = one
        elif is_metric(one):
            if systems is None or references is None:
                raise ValueError(
                    f"metrics: {called} is computed of systems and references; give both"
                )
            computed[called] = counted(
                metric_of(one), systems, references, source=source, workers=workers
            )
        else:
            read[called] = scored(one, called)
    sizes = {called: one.levels[SEGMENTS].items for called, one in computed.items()}
    sizes |= {
        called: one.matrix.items
        for called, one in read.items()
        if one.items is None and one.matrix.items > 1
    }
    sizes |= {key: len(names) for key, names in groups.items() if names is not None}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{called} {size:,}" for called, size in sizes.items())
        raise InputError(f"different numbers of segments: {told}; all must have the same")
    size = next(iter(sizes.values()), None)
    if people.matrix.items > 1 and people.items is not None and size is not None:
        people = Scored(people.placed(size, "human scores"), None, people.kind)
    scores: dict[str, Scores] = {}
    for called, _ in _named(metrics):
        if called in computed:
            scores[called] = computed[called]
        else:
            found = _as(people, read[called], called)
            scores[called] = Scores({SYSTEMS if found.items == 1 else SEGMENTS: found})
    level = SYSTEMS if people.matrix.items == 1 else SEGMENTS
    reasons: dict[str, str] = {}
    if not include_references:
        reasons = find_unscored_references(people.matrix, scores, references)
        if systems is not None and references is not None:
            reasons |= find_references(systems, references)
    kept, left_out = chosen({level: people.matrix}, outliers=outliers, references=reasons)
    known = {key: list(names) for key, names in groups.items() if names is not None}
    for key, names in known.items():
        if level == SEGMENTS and len(names) != people.matrix.items:
            raise InputError(
                f"{key}: {len(names):,} names for {people.matrix.items:,} segments; give one for "
                "each"
            )
    return Judged(name, name, kept, scores, left_out, known)


def _named(metrics: Mapping[str, Any] | Iterable[Any] | None) -> list[tuple[str, Any]]:
    """Metrics by name; metrics of truebleu know their own."""
    if hasattr(metrics, "items"):
        return list(metrics.items())  # type: ignore[union-attr]
    made = []
    for one in metrics or ():
        if not is_metric(one):
            raise ValueError(
                f"metrics: {one!r:.60} needs a name; give a mapping of names to scores"
            )
        made.append((metric_of(one).name, one))
    return made


def is_metric(one: Any) -> bool:
    """Whether this is a metric of truebleu, or its name, and not scores or a file of them."""
    if isinstance(one, Metric):
        return True
    if not isinstance(one, str) or os.path.isfile(one):
        return False
    try:
        metric_of(one)
    except ValueError:
        return False
    return True


def scored(given: Any, what: str) -> Scored:
    """Scores from a file, or as Python has them."""
    if isinstance(given, Scored):
        return given
    if isinstance(given, str | os.PathLike):
        return files.read(given)
    return Scored(Matrix.of(given, what), None, "numbers")


def _as(people: Scored, metric: Scored, what: str) -> Matrix:
    """A metric's scores of people's items, in their order."""
    size = people.matrix.items
    if metric.matrix.items == 1 or size == 1 or metric.items is None:
        return metric.matrix
    if people.items is None:
        return metric.placed(size, what)
    places = {item: i for i, item in enumerate(metric.items)}
    missing = [item for item in people.items if item not in places]
    if missing:
        raise InputError(
            f"{what}: no scores of {count(len(missing), 'item')} that people scored: "
            f"{some(map(str, missing))}"
        )
    return metric.matrix.taken([places[item] for item in people.items])
