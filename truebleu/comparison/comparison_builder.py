"""From a request and what was counted for it to the dict that a comparison is."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import fsum, sqrt
from operator import gt, lt
from typing import Any

from truebleu._kernel import __version__
from truebleu.comparison import segment_labels, system_runs
from truebleu.comparison.comparison_layout import digits, equation_of_p
from truebleu.comparison.comparison_request import (
    TESTS,
    Counted,
    Counts,
    Request,
    Significance,
    letters,
)
from truebleu.comparison.segment_labels import Names
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Metric, Signature
from truebleu.metrics.statistics import Statistics
from truebleu.rendering.number_format import fixed, signed
from truebleu.rendering.view import Content
from truebleu.significance import (
    Difference,
    Interval,
    Measure,
    Paired,
    errors_by_documents,
    intervals,
    paired,
)
from truebleu.text.terminal_layout import join_words

CORRECTIONS = {"holm": "Holm", "bh": "BH"}


def of_counts(request: Request, counted: Counted) -> dict[str, Any]:
    """The whole dict."""
    testing = request.testing
    segments = request.segments(counted)
    if request.documents is not None:
        # A report of the same request has no need to read them again.
        request.documents = segment_labels.documents(request.documents, segments)
    columns = [
        _Column.computed(request, metric, name, counted[metric])
        for metric, name in request.metrics.items()
    ]
    for name, scores in request.given.items():
        measure = Measure.of_scores(name, scores, lower_is_better=name in request.lower)
        columns.append(_Column(request, name, measure, scores))
    _name(columns)
    computed = {one.metric: one.name for one in columns if one.metric is not None}
    warnings = text_warnings.warn_about_texts(
        request.seen, request.reference_names, computed, request.language
    )
    unsplit = text_warnings.list_unsplit_metrics(warnings)
    for column in columns:
        column.decides = column.name not in unsplit
    drawn = request.drawn()
    units = segments if drawn is None else len(set(drawn))
    results, ranges = _resampled(request, columns)
    # Best first by the first metric that can tell; by none, as they were given.
    first = next((column for column in columns if column.decides), None)
    order = sorted(request.runs, key=first.placing) if first else list(request.runs)
    for i, column in enumerate(columns):
        column.compare(ranges[i], None if results is None else results[i], order)
    by_name = dict(zip(request.runs, letters(), strict=False))
    rows = [
        {
            "name": system,
            "letter": by_name[system],
            "runs": len(request.runs[system]),
            "scores": {column.name: column.score(system) for column in columns},
        }
        for system in order
    ]
    tested = results is not None and testing.test is not None
    of_what = "" if testing.resample == "segments" else f" of {testing.resample}"
    buckets = request.buckets
    references = next((one.references for one in columns if one.references is not None), None)
    content = {
        "by": f"truebleu-{__version__}",
        "segments": segments if buckets is None else buckets.segments,
        "buckets": None if buckets is None else segments,
        "references": references,
        "baseline": request.baseline,
        "level": testing.level,
        "seed": testing.seed,
        "test": {
            "name": testing.test,
            "title": TESTS[testing.test or ""] + of_what,
            "resampled": testing.resample,
            "samples": testing.randomizations if testing.test == "ar" else testing.resamples,
            "alpha": testing.alpha,
        }
        if tested
        else None,
        "intervals": None
        if testing.confidence is None
        else {
            "name": "bootstrap",
            "title": f"percentile bootstrap{of_what}",
            "resampled": testing.resample,
            "samples": testing.confidence,
        },
        "correction": None
        if testing.correction is None or not tested
        else {"name": testing.correction, "title": CORRECTIONS[testing.correction]},
        "reading": _reading(testing, units, results if tested else None),
        "metrics": [column.described() for column in columns],
        "systems": rows,
        "pairs": [pair for column in columns for pair in column.pairs()],
        "documents": _documents(request, columns),
    }
    notes = [
        *disagreements(content),
        *_of_runs(content),
        *_notes(request, segments, units, results),
    ]
    content["notes"] = notes
    warnings += text_warnings.warn_about_zero_scores(
        (output, column.name, metric.from_statistics(counted[metric].tables[output]))
        for column, metric in zip(columns, request.metrics, strict=False)
        for system, outputs in request.runs.items()
        if not column.value(system)
        for output in outputs
    )
    return {**content, "warnings": warnings} if warnings else content


def _resampled(
    request: Request, columns: Sequence[_Column]
) -> tuple[list[Paired] | None, Sequence[Mapping[str, Interval]]]:
    """The tests, if there is more than one system, and the intervals of scores."""
    testing = request.testing
    measures = [column.measure for column in columns]
    options: dict[str, Any] = {
        "documents": request.drawn(),
        "runs": request.runs,
        "resamples": testing.resamples,
        "seed": testing.seed,
        "level": testing.level,
        "workers": request.workers,
        "progress": request.progress and partial(request.progress, "resampling"),
    }
    if request.baseline is None:
        return None, intervals(measures, **options)
    results = paired(
        measures,
        baseline=request.baseline,
        test=testing.test or "bs",
        pairs="all",
        randomizations=testing.randomizations,
        correction=testing.correction,
        **options,
    )
    return results, [result.intervals for result in results]


def resampled_columns(
    request: Request, order: Sequence[str]
) -> Iterator[tuple[Metric[Any], _Column]]:
    """Count and resample the metrics of a request; `order` has the systems, best first."""
    if not request.metrics:
        return
    counted = request.count()
    columns = {
        metric: _Column.computed(request, metric, name, counted[metric])
        for metric, name in request.metrics.items()
    }
    results, ranges = _resampled(request, list(columns.values()))
    for i, (metric, column) in enumerate(columns.items()):
        column.compare(ranges[i], None if results is None else results[i], order)
        yield metric, column


def _documents(request: Request, columns: Sequence[_Column]) -> list[dict[str, Any]] | None:
    """The scores of each document, of its segments' summed statistics."""
    if request.documents is None:
        return None
    known = request.documents
    made: list[dict[str, Any]] = [
        {"name": name, "segments": known.indices.count(i), "scores": {}}
        for i, name in enumerate(known.names)
    ]
    for column in columns:
        by_system = {name: column.of_groups(name, known.indices) for name in request.runs}
        for i, one in enumerate(made):
            one["scores"][column.name] = {name: found[i] for name, found in by_system.items()}
    return made


# ---- metrics ----


class _Column:
    """A metric of all systems: what it is called, and what is known of it by system."""

    metric: Metric[Any] | None = None
    """The metric that truebleu computes; None where the scores come from elsewhere."""
    statistics: Mapping[str, Statistics] = {}
    signature: Signature | None = None
    decides: bool = True
    """Whether the metric can tell systems apart: its tokenizer splits the text."""
    references: int | str | None = None
    """References per segment, or "var"; None where there are none."""

    def __init__(
        self,
        request: Request,
        name: str | None,
        measure: Measure,
        segments: Mapping[str, Sequence[float]],
    ) -> None:
        self.baseline, self.testing = request.baseline, request.testing
        buckets = request.buckets
        # Segments of a unit that is drawn: of a bucket they are many.
        self.size = 1.0 if buckets is None else buckets.segments / measure.segments
        drawn = request.drawn()
        self.units = measure.segments if drawn is None else len(set(drawn))
        self.measure = measure
        # The name of its scores, and what it was asked for as, if that says more.
        self.label = measure.name
        self.name = name or self.label
        self.runs = request.runs
        # The score of each segment, of each output and, as the mean over its runs, each system.
        self.columns = segments
        self.segments = {
            name: _means([segments[run] for run in names]) for name, names in self.runs.items()
        }

    @classmethod
    def computed(
        cls,
        request: Request,
        metric: Metric[Any],
        name: str | None,
        counts: Counts,
    ) -> _Column:
        """A metric that truebleu computes, of its tables."""
        made = cls(request, name, Measure(metric, counts.tables), counts.scores)
        made.metric, made.statistics = metric, counts.tables
        made.references = next(iter(counts.tables.values())).references
        own = metric.signature(made.references).with_test_set(request.test_set)
        if system_runs.several(request.runs):
            own = own.with_runs(system_runs.told(request.runs))
        made.signature = request.testing.signed(own, tested=len(request.runs) > 1)
        return made

    def compare(
        self, ranges: Mapping[str, Interval], result: Paired | None, order: Sequence[str]
    ) -> None:
        """Adds what resampling showed; `order` has the best by the first metric first."""
        self.ranges, self.result = ranges, result
        # Best first by the first metric, and by this one.
        self.order = order
        self.own_order = sorted(order, key=self.placing)
        self.clusters: list[list[str]] | None = None
        self.better: Mapping[str, Sequence[str]] = {}
        if result is not None and self.testing.test is not None and self.decides:
            self.clusters = result.clusters(self.testing.alpha)
            self.better = result.better_than(self.testing.alpha)

    def value(self, system: str) -> float:
        """The score of a system: the mean over its runs."""
        values = [self.measure.value(run) for run in self.runs[system]]
        return fsum(values) / len(values)

    def placing(self, system: str) -> float:
        """The sort key of a system, the best first."""
        value = self.value(system)
        return value if self.measure.lower_is_better else -value

    def of_groups(self, system: str, groups: Sequence[int]) -> dict[int, float]:
        """The score of each group of segments."""
        if self.metric is not None:
            tables = [self.statistics[run].parts(groups) for run in self.runs[system]]
            return {
                i: fsum(self.metric.from_statistics(of_run[i]).value for of_run in tables)
                / len(tables)
                for i in tables[0]
            }
        members: dict[int, list[float]] = {}
        for group, score in zip(groups, self.segments[system], strict=True):
            members.setdefault(group, []).append(score)
        return {group: fsum(scores) / len(scores) for group, scores in members.items()}

    def described(self) -> dict[str, Any]:
        """The entry of the metric itself."""
        return {
            "name": self.name,
            "label": self.label,
            "higher_is_better": not self.measure.lower_is_better,
            "source": "given" if self.metric is None else "truebleu",
            # After the point, those that suit its scores.
            "digits": None if self.metric is None else self.metric.DIGITS,
            # The systems that its test cannot tell apart, best first.
            "clusters": self.clusters,
            "signature": str(self.signature or self._given),
            "short_signature": self.signature.short() if self.signature else self._given,
        }

    @property
    def _given(self) -> str:
        """What there is in place of a signature for scores from elsewhere: which they were."""
        from hashlib import sha256

        digest = sha256()
        for numbers in self.columns.values():
            digest.update(array("d", numbers).tobytes())
        return f"given|sha256:{digest.hexdigest()[:8]}"

    def score(self, system: str) -> dict[str, Any]:
        """The entry of one system."""
        value = self.value(system)
        # Systems with the same score have the same rank.
        rank = 1 + next(i for i, other in enumerate(self.own_order) if self.value(other) == value)
        better, result = set(self.better.get(system, ())), self.result
        return {
            "score": value,
            "interval": self._interval(self.ranges[system]),
            "rank": rank if self.decides else None,
            "cluster": next(
                (i for i, names in enumerate(self.clusters or (), 1) if system in names), None
            ),
            "better_than": [other for other in self.order if other in better],
            "difference": None
            if result is None or self.baseline is None or system == self.baseline
            else self._difference(result.differences[system], system, self.baseline),
            "runs": self._runs(self.ranges[system]),
            "details": dict(self.metric.from_statistics(self.statistics[system]).details())
            if self.metric is not None and len(self.runs[system]) == 1
            else {},
        }

    def pairs(self) -> Iterator[dict[str, Any]]:
        """Every two systems, the better placed one first."""
        if self.result is None:
            return
        for i, first in enumerate(self.own_order):
            for second in self.own_order[i + 1 :]:
                yield {
                    "metric": self.name,
                    "first": first,
                    "second": second,
                    **self._difference(self.result.between(first, second), first, second),
                }

    def _interval(self, interval: Interval) -> dict[str, float] | None:
        if self.testing.confidence is None or self.units == 1:
            return None
        return {key: getattr(interval, key) for key in ("low", "high", "mean", "half_width")}

    def _runs(self, interval: Interval) -> dict[str, Any] | None:
        """The scores of a system's runs; None if it has one."""
        found = interval.runs
        if found is None:
            return None
        return {
            "scores": list(found.scores),
            "deviation": found.deviation,
            "test_set_error": found.error,
        }

    def _difference(self, difference: Difference, system: str, other: str) -> dict[str, Any]:
        tested = self.testing.test is not None
        p = difference.adjusted_p if self.testing.correction else difference.p
        wins, ties, losses = self._segments(system, other)
        return {
            "value": difference.value,
            "interval": self._interval(difference.interval),
            "p": difference.p if tested else None,
            "corrected_p": difference.adjusted_p if self.testing.correction else None,
            "significant": p < self.testing.alpha if tested and self.decides else None,
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "segments_needed": self._needed(difference),
            "identical": difference.identical,
            "errors": {"runs": difference.run_error, "test_set": difference.test_set_error}
            if len(self.runs[system]) + len(self.runs[other]) > 2
            else None,
        }

    def _needed(self, difference: Difference) -> Any:
        """How many segments would show the difference 4 times in 5; see `Difference`."""
        needed = difference.segments_needed
        return needed if needed is None or self.size == 1 else round(needed * self.size)

    def _segments(self, system: str, other: str) -> tuple[int, int, int]:
        """In how many segments or buckets a system is better, the same and worse than another."""
        own, others = self.segments[system], self.segments[other]
        more, less = sum(map(gt, own, others)), sum(map(lt, own, others))
        if self.measure.lower_is_better:
            more, less = less, more
        return more, len(own) - more - less, less


def _means(columns: Sequence[Sequence[float]]) -> Sequence[float]:
    """The mean of each segment's scores."""
    if len(columns) == 1:
        return columns[0]
    return [fsum(scores) / len(columns) for scores in zip(*columns, strict=True)]


def _name(columns: Sequence[_Column]) -> None:
    """Tells metrics of one name apart by the fields of their signatures that differ."""
    named: dict[str, list[_Column]] = {}
    for column in columns:
        named.setdefault(column.name, []).append(column)
    for name, same in named.items():
        if len(same) == 1:
            continue
        signatures = [column.signature.fields for column in same if column.signature is not None]
        if len(signatures) < len(same):
            raise ValueError(f"scores: {name} is the name of another metric as well")
        fields = dict.fromkeys(field for signature in signatures for field in signature)
        different = [
            field for field in fields if len({signature.get(field) for signature in signatures}) > 1
        ]
        for column, own in zip(same, signatures, strict=True):
            column.name = " ".join([name, *(f"{f}:{own[f]}" for f in different if f in own)])


# ---- in words ----


def _reading(testing: Significance, units: int, results: Sequence[Paired] | None) -> str:
    """The limits of the test, or of the intervals, in words."""
    if results is not None:
        of_runs = " Intervals of scores are of the test set alone; those of differences know runs."
        told = results[0].cautioned(testing.resample.removesuffix("s"))
        return told + of_runs if results[0].runs and testing.confidence else told
    if testing.confidence is None or units == 1:
        return ""
    what = testing.resample
    return (
        f"Intervals are of {testing.confidence:,} bootstrap resamples of the {what}: how much "
        f"the score depends on which {what} happen to be in the test set, and nothing else."
    )


def _of_runs(content: Content) -> Iterator[dict[str, Any]]:
    """Notes on whether runs or the test set matter more, by each metric."""
    systems = content["systems"]
    for metric in content["metrics"]:
        write = fixed(digits(content, metric, None) + 1)
        for system in systems:
            score = system["scores"][metric["name"]]
            found, difference = score["runs"], score["difference"]
            if difference is not None and difference["errors"] is not None:
                what = f"{system['name']} against {content['baseline']}"
                one, other = difference["errors"]["runs"], difference["errors"]["test_set"]
                errors = "standard errors of the difference"
            elif found is not None and len(systems) == 1:
                what, one, other = system["name"], found["deviation"], found["test_set_error"]
                errors = f"standard deviation of {system['runs']} runs, standard error of the mean"
            else:
                continue
            more = "larger" if one > other else "smaller"
            yield {
                "kind": "runs",
                "metric": metric["name"],
                "text": f"{metric['name']}, {what}: what comes from runs, {write(one)}, is {more} "
                f"than what comes from the test set, {write(other)} ({errors}).",
            }
    single = [system["name"] for system in systems if system["runs"] == 1]
    if single and len(single) < len(systems):
        yield {
            "kind": "one run",
            "systems": single,
            "text": f"{join_words(single)} {'have' if len(single) > 1 else 'has'} one run: how far "
            "another would be from it is taken from the runs of the other system.",
        }


def _notes(
    request: Request, segments: int, units: int, results: Sequence[Paired] | None
) -> Iterator[dict[str, Any]]:
    """Notes on these data for the reader."""
    testing = request.testing

    def note(kind: str, text: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, **more, "text": text}

    for name, said in request.failed.items():
        yield note("failed", f"{name} is left out: {said}", metric=name)
    if segments == 1:
        yield note(
            "one segment",
            "there is only one segment: nothing can be resampled, so there are no intervals, and "
            "no difference is significant.",
        )
    elif testing.resample == "documents" and units < FEW_DOCUMENTS:
        yield note("few documents", _few_documents(units, testing))
    elif segments < FEW:
        what = "buckets" if request.buckets else "segments"
        told = f"{segments} {what} are few: intervals and p-values are rough."
        yield note(f"few {what}", told)
    elif testing.confidence is not None and testing.confidence * (1 - testing.level) < 2:
        yield note(
            "few resamples",
            f"{testing.confidence} resamples are too few for intervals of {testing.level:.4g}: "
            "they span all of them.",
        )
    # With runs, what segments of a document have in common is not told from what runs have.
    alone = request.drawn() is None and not system_runs.several(request.runs)
    if results is not None and request.documents is not None and alone:
        alike = _alike(results, request.documents)
        if alike:
            yield note("alike", alike)
    for metric in request.metrics:
        if not getattr(metric, "DETERMINISTIC", True):
            yield note(
                "not repeatable",
                f"{metric.name} may give the same text another number the next time: intervals and "
                "p-values know nothing of that.",
                metric=metric.name,
            )
    for first, second in _identical(results):
        p = "p = 1, and " if testing.test else ""
        yield note(
            "identical",
            f"{first} and {second} are counted the same in every segment: {p}most likely they are "
            "the same output.",
            systems=[first, second],
        )
    systems = len(request.runs)
    if results is not None and testing.test and not testing.correction and systems > 2:
        tests = systems * (systems - 1) // 2
        yield note(
            "many tests",
            f"{tests} pairs were tested by each metric, each at {testing.alpha:g}, with no "
            "correction for their number; use --correction holm or bh.",
        )


def disagreements(content: Content) -> Iterator[dict[str, Any]]:
    """A note on every two systems of which metrics call one better and others the other.

    Each significantly, by the corrected p-value if there is a correction.
    """
    metrics = {metric["name"]: metric for metric in content["metrics"]}
    called: dict[frozenset[str], list[Content]] = {}
    for pair in content["pairs"]:
        if pair["significant"] and pair["value"]:
            called.setdefault(frozenset((pair["first"], pair["second"])), []).append(pair)
    for pairs in called.values():
        # The better placed one is the first of each.
        better, other = pairs[0]["first"], pairs[0]["second"]
        sides = {name: [one for one in pairs if one["first"] == name] for name in (better, other)}
        if not sides[other]:
            continue
        verdicts = [
            {
                "metric": one["metric"],
                "better": one["first"],
                "difference": one["value"] if one["first"] == better else -one["value"],
                "p": one["p"],
                "corrected_p": one["corrected_p"],
            }
            for one in pairs
        ]
        told = [
            _called(
                [(one["metric"], _size(content, metrics[one["metric"]], one)) for one in side],
                winner,
                f" than {other}" if winner == better else "",
            )
            for winner, side in sides.items()
        ]
        yield {
            "kind": "disagreement",
            "systems": [better, other],
            "metrics": verdicts,
            "text": f"{', '.join(told)}.",
        }


def _called(metrics: Sequence[tuple[str, str]], winner: str, than: str) -> str:
    """What some metrics, each with the size of its difference, say of two systems."""
    if len(metrics) == 1:
        ((name, size),) = metrics
        return f"{name} calls {winner} better{than} ({size})"
    return (
        f"{join_words([f'{name} ({size})' for name, size in metrics])} call {winner} better{than}"
    )


def _size(content: Content, metric: Content, pair: Content) -> str:
    """A difference and its p-value, as they are written in tables."""
    write = signed(fixed(digits(content, metric, None)))
    return f"{write(pair['value'])}, {equation_of_p(pair)}"


# Intervals from fewer segments are rough.
FEW = 30
FEW_DOCUMENTS = 20


def _few_documents(documents: int, testing: Significance) -> str:
    """What few documents cannot tell."""
    if documents == 1:
        return (
            "there is only one document: nothing can be resampled, so there are no intervals, and "
            "no difference is significant."
        )
    told = f"{documents} documents are few: intervals and p-values are rough"
    least = 2 / 2**documents
    if testing.test == "ar" and least > testing.alpha:
        return f"{told}, and no p can be below {least:.2g}, so no difference is significant."
    return f"{told}."


def _alike(results: Sequence[Paired], documents: Names) -> str:
    """A remark if segments of one document are so alike that drawing them one by one misleads."""
    if len(documents.names) < LEAST_DOCUMENTS:
        return ""
    worst, told = MATTERS, ""
    # Beyond what chance makes of so many documents.
    chance = sqrt(1 + 2 * sqrt(2 / (len(documents.names) - 1)))
    for result in results:
        errors = errors_by_documents(result.measure, documents.indices)
        for (first, second), difference in result.pairs.items():
            if result.baseline not in (first, second) or not difference.deviation:
                continue
            ratio = errors[first, second] / difference.deviation
            if ratio >= worst and ratio > chance:
                worst = ratio
                told = (
                    f"segments of one document are alike: between documents, the difference of "
                    f"{first} and {second} in {result.measure.name} varies {ratio:.1f} times as "
                    "much as these intervals and p-values know; --resample documents draws whole "
                    "documents."
                )
    return told


# From so many documents on it is said, and if errors are so many times as large.
LEAST_DOCUMENTS, MATTERS = 6, 1.2


def _identical(results: Sequence[Paired] | None) -> Iterator[tuple[str, str]]:
    """The systems that no metric tells apart in any segment."""
    if not results:
        return
    for pair, difference in results[0].pairs.items():
        if difference.identical and all(r.between(*pair).identical for r in results[1:]):
            yield pair
