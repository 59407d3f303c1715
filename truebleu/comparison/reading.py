"""What people pass as systems, metrics and given scores, turned into tables and columns."""

from __future__ import annotations

import os
import sys
from math import isfinite

from truebleu._kernel import InputError
from truebleu.counted import together
from truebleu.explanation.reading import Kept
from truebleu.files import DECOMPRESSORS, UTF8, File
from truebleu.inputs import is_tokens
from truebleu.metric import METRICS, Metric
from truebleu.metric import metric as metric_of
from truebleu.tokenizers import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.metric import Summary
    from truebleu.statistics import Statistics

    # Told of each system that was read, and of what was noticed.
    Observer = Callable[[str, Summary], None]


class Counts:
    """A system by one metric: its table, and the score of each segment."""

    __slots__ = ("scores", "statistics")

    def __init__(self, statistics: Statistics, scores: list[float]) -> None:
        self.statistics = statistics
        self.scores = scores


class Measured:
    """A metric that truebleu computes, and what it was asked for as, if that says more."""

    __slots__ = ("metric", "name")

    def __init__(self, metric: Metric, name: str | None = None) -> None:
        if not hasattr(metric, "pieces"):
            raise ValueError(
                f"metrics: {name or repr(metric)} has no table of integers that could be "
                "resampled; give what it says of each segment as scores"
            )
        self.metric = metric
        self.name = name


class Task:
    """What is compared: tables of the metrics that truebleu computes, columns of the others."""

    __slots__ = ("baseline", "given", "lower", "references", "segments", "systems", "tables")

    systems: list[str]
    """Their names, as they were given."""
    baseline: str | None
    """The system that others are compared with; None if there is only one."""
    segments: int
    references: int | str | None
    """How many references a segment has, or "var"; None if there are none."""
    tables: list[tuple[Measured, dict[str, Counts]]]
    given: list[tuple[str, dict[str, list[float]]]]
    lower: frozenset[str]
    """The given metrics for which lower is better."""

    def __init__(
        self,
        systems: Mapping[str, Any] | None,
        references: Any,
        metrics: Sequence[str | Metric],
        scores: Mapping[str, Any] | None,
        lower_is_better: Sequence[str],
        baseline: str | None,
        *,
        workers: int = 1,
        observer: Observer | None = None,
    ) -> None:
        chosen = measured(metrics)
        named = None if systems is None else _systems(systems)
        self.given = [
            (name, dict(given_scores(name, columns, None if named is None else list(named))))
            for name, columns in (scores or {}).items()
        ]
        self.lower = frozenset(_lower(lower_is_better, [name for name, _ in self.given]))
        if named is None:
            named = _only_given(self.given, chosen)
        self.systems = list(named)
        self.baseline = _baseline(baseline, self.systems)
        self.tables = _tables(named, references, chosen, workers, observer)
        self.references = self._references()
        self.segments = self._segments()

    def _references(self) -> int | str | None:
        for _, tables in self.tables:
            return next(iter(tables.values())).statistics.references
        return None

    def _segments(self) -> int:
        """How many segments all systems have."""
        counts = {
            **{f"{name}, {s}": len(c) for name, by in self.given for s, c in by.items()},
            **{
                f"{m.metric.NAME}, {s}": len(t.scores)
                for m, by in self.tables
                for s, t in by.items()
            },
        }
        if not counts:
            raise ValueError("metrics: none at all; name at least one, or give scores")
        expected = list(counts.values())[-1]
        for what, count in counts.items():
            if count != expected:
                raise InputError(
                    f"scores: {what} has {count:,} numbers, and there are {expected:,} segments; "
                    "one number a segment is meant"
                )
        if not expected:
            raise InputError("no segments at all; there is nothing to compare")
        return expected


def _systems(systems: Mapping[str, Any]) -> dict[str, Any]:
    if not hasattr(systems, "items"):
        raise TypeError(
            f"systems: a mapping from names to hypotheses is meant, not {type(systems).__name__}: "
            '{"A": hypotheses_of_a, "B": hypotheses_of_b}'
        )
    named = dict(systems.items())
    for name in named:
        if not isinstance(name, str) or not name:
            raise TypeError(f"systems: a system's name is a str, not {name!r}")
    if not named:
        raise ValueError("systems: none at all; there is nothing to compare")
    return named


def _only_given(
    given: list[tuple[str, dict[str, list[float]]]], metrics: Sequence[Measured]
) -> dict[str, Any]:
    """The systems that are known by given scores alone."""
    if metrics:
        raise ValueError("systems: none, and metrics need hypotheses; with metrics=() none need be")
    if not given:
        raise ValueError("systems: none at all; there is nothing to compare")
    first, columns = given[0]
    for name, others in given[1:]:
        if set(others) != set(columns):
            odd = next(iter(set(others) ^ set(columns)))
            raise InputError(f"scores: {odd} is in {name} or {first}, but not in both")
    return dict.fromkeys(columns)


def _baseline(baseline: str | None, systems: Sequence[str]) -> str | None:
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline: no system '{baseline}'{nearest(baseline, systems)}")
    if len(systems) == 1:
        return None
    return systems[0] if baseline is None else baseline


# ---- metrics ----


def measured(metrics: Sequence[str | Metric]) -> list[Measured]:
    """Each metric once, in the order in which they are named."""
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    found: dict[Metric, Measured] = {}
    for name in metrics:
        one = _measured(name)
        found.setdefault(one.metric, one)
    return list(found.values())


def _measured(name: str | Metric | Any) -> Measured:
    """A metric: itself, by its own name, by a member of the family's, or by a signature."""
    if isinstance(name, Metric):
        return Measured(name)
    if not isinstance(name, str):
        metric = getattr(name, "metric", None)  # a member of the family
        if not isinstance(metric, Metric):
            raise TypeError(f"metrics: a name or a metric is meant, not {name!r:.60}")
        return Measured(metric, str(getattr(name, "name", "")) or None)
    lower = name.lower()
    if lower in OWN:
        return Measured(_own(lower))
    if ":" in name:
        return Measured(metric_of(name))
    from truebleu import family

    if lower in family:
        return Measured(family[lower].metric, lower)
    from difflib import get_close_matches

    close = get_close_matches(lower, [*OWN, *family], n=1)
    near = f" (did you mean '{close[0]}'?)" if close else ""
    raise ValueError(
        f"unknown metric '{name}'{near}; there are {', '.join(OWN)} and the members of the family, "
        "which truebleu family list names"
    )


# The metrics that need no parameters, by the names that papers give them.
OWN = ("bleu", "chrf", "chrf+", "chrf++", "ter")


def _own(name: str) -> Metric:
    base = name.rstrip("+")
    if base not in METRICS:
        from importlib import import_module

        import_module(f"truebleu.{base}")
    return METRICS[base](word_order=name.count("+")) if "+" in name else METRICS[base]()


def _tables(
    systems: Mapping[str, Any],
    references: Any,
    metrics: Sequence[Measured],
    workers: int,
    observer: Observer | None,
) -> list[tuple[Measured, dict[str, Counts]]]:
    """Each metric's counts of each system."""
    if not metrics:
        return []
    if references is None:
        raise ValueError("references: none, and metrics need them")
    if len(systems) * len(metrics) > 1:
        references = kept(references)
    tables: list[tuple[Measured, dict[str, Counts]]] = [(one, {}) for one in metrics]
    for system, hypotheses in systems.items():
        texts = kept(hypotheses) if len(metrics) > 1 else hypotheses
        try:
            counted, seen = _counted([one.metric for one in metrics], texts, references, workers)
        except InputError as error:
            raise InputError(f"{system}: {error}") from None
        except TypeError as error:
            raise TypeError(f"{system}: {error}") from None
        for (one, by_system), statistics in zip(tables, counted, strict=True):
            by_system[system] = Counts(statistics, _of_segments(one.metric, statistics))
        if observer is not None:
            observer(system, seen)
    return tables


def _counted(
    metrics: Sequence[Any], hypotheses: Any, references: Any, workers: int
) -> tuple[list[Statistics], Summary]:
    """Each metric's statistics. Those that read text read it together."""
    tokens = isinstance(hypotheses, list | tuple) and is_tokens(tuple(hypotheses[:1]))
    readers = [] if tokens else [metric for metric in metrics if metric.reads_text]
    found: dict[Any, Statistics] = {}
    seen: Summary | None = None
    if len(readers) > 1:
        tables, seen = together(readers, hypotheses, references, workers=workers)
        found = dict(zip(readers, tables, strict=True))
    for metric in metrics:
        if metric not in found:
            pieces = metric.pieces(hypotheses, references, workers=workers, segments=sys.maxsize)
            # All segments are in the first piece.
            found[metric], _, seen = next(iter(pieces))
    assert seen is not None
    return [found[metric] for metric in metrics], seen


def _of_segments(metric: Any, statistics: Statistics) -> list[float]:
    """The score of each segment, in some scale: BLEU leaves out orders then that it has not."""
    scores = getattr(metric, "segment_values", metric.scores)(statistics)
    return list(scores)


def kept(value: Any) -> Any:
    """The same to be read more than once: what cannot be, or is dear to read, stays in memory."""
    if isinstance(value, list | tuple):
        if value and all(isinstance(item, File | os.PathLike) for item in value):
            return [kept(item) for item in value]
        return value
    if isinstance(value, os.PathLike):
        value = File(value)
    if not isinstance(value, File):
        return value
    plain = value.encoding.lower() in UTF8 and not value.path.endswith(tuple(DECOMPRESSORS))
    there = value.path != "-" and (os.path.isfile(value.path) or not os.path.exists(value.path))
    # Columns that are read in step, and what is kept already, are files of their own kinds.
    if isinstance(value, Kept) or (plain and there and type(value) is File):
        return value
    return Kept(value)


# ---- given scores ----


def given_scores(
    name: str, columns: Any, systems: Sequence[str] | None
) -> Iterator[tuple[str, list[float]]]:
    """Each system's scores of a metric that truebleu does not compute.

    columns: a file, or a mapping of systems to numbers or files.
    systems: the names that there should be; None for those that there are.
    """
    if isinstance(columns, str):
        raise TypeError(
            f"scores: {name} is a str; a mapping of systems to numbers is meant, or "
            "pathlib.Path(...) for the name of a file"
        )
    if isinstance(columns, os.PathLike):
        columns = File(columns)
    if isinstance(columns, File):
        columns = _from_file(columns, systems)
    if not hasattr(columns, "items"):
        raise TypeError(
            f"scores: for {name} a mapping of systems to numbers is meant, "
            f"not {type(columns).__name__}"
        )
    known = list(columns) if systems is None else list(systems)
    for system in columns:
        if system not in known:
            raise ValueError(f"scores: {name} has no system '{system}'{nearest(system, known)}")
    for system in known:
        if system not in columns:
            raise ValueError(f"scores: {name} has nothing for {system}")
        yield system, _numbers(f"{name}, {system}", columns[system])


def _numbers(what: str, column: Any) -> list[float]:
    if isinstance(column, os.PathLike):
        column = File(column)
    if isinstance(column, File):
        lines = enumerate(column.lines(), 1)
        return [_number(text, f"{column.label(what)}, line {number}") for number, text in lines]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    if isinstance(column, str) or not hasattr(column, "__iter__"):
        raise TypeError(f"scores: {what}: a sequence of numbers is meant, not {column!r:.40}")
    return [_number(value, f"{what}, segment {number}") for number, value in enumerate(column, 1)]


def _number(value: Any, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        found = f"'{value.strip()}'" if isinstance(value, str) else repr(value)
        raise InputError(f"scores: {where}: {found:.60} is not a number")
    return number


def _from_file(file: File, systems: Sequence[str] | None) -> dict[str, list[float]]:
    """The scores of all systems in one file.

    Either a tab-separated column a system, whose names the first line may have, or lines of a
    system's name and a score, as mt-metrics-eval has them.
    """
    name = file.label("scores")
    rows = [(number, line.split("\t")) for number, line in enumerate(file.lines(), 1)]
    if not rows:
        raise InputError(f"{name}: nothing in it")
    first = rows[0][1]
    long = [_named_score(fields) for _, fields in rows[:2]]
    if all(long):
        return _long(name, rows, systems)
    if not any(map(_is_number, first)):
        header: Sequence[str] = [field.strip() for field in first]
        rows = rows[1:]
    elif systems is None:
        raise InputError(f"{name}: the first line should name the systems, and is {first!r:.60}")
    else:
        header = systems
    columns: dict[str, list[float]] = {system: [] for system in header}
    if len(columns) != len(header):
        raise InputError(f"{name}, line 1: a system is named twice")
    for number, fields in rows:
        if len(fields) != len(header):
            raise InputError(
                f"{name}, line {number}: {len(fields)} tab-separated "
                f"column{'' if len(fields) == 1 else 's'} for {len(header)} systems"
            )
        for system, field in zip(header, fields, strict=True):
            columns[system].append(_number(field, f"{name}, line {number}"))
    return columns


def _long(
    name: str, rows: Sequence[tuple[int, list[str]]], systems: Sequence[str] | None
) -> dict[str, list[float]]:
    """From lines of a system's name and a score; only of the systems that are asked for."""
    columns: dict[str, list[float]] = {}
    for number, fields in rows:
        pair = _named_score(fields) or "\t".join(fields).rsplit(None, 1)
        if len(pair) != 2:
            raise InputError(f"{name}, line {number}: a system and a score are meant")
        system, score = pair
        if systems is None or system in systems:
            columns.setdefault(system, []).append(_number(score, f"{name}, line {number}"))
    return columns


def _named_score(fields: list[str]) -> tuple[str, str] | None:
    """A system's name and a score, if that is what a line has."""
    parts = "\t".join(fields).rsplit(None, 1)
    if len(parts) != 2 or _is_number(parts[0]) or not _is_number(parts[1]) or "\t" in parts[0]:
        return None
    return parts[0].strip(), parts[1]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _lower(names: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    for name in [names] if isinstance(names, str) else names:
        if name not in known:
            there = nearest(name, known) if known else "; there are none"
            raise ValueError(f"lower_is_better: no given scores are called '{name}'{there}")
        yield name
