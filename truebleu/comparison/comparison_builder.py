"""Conversion of a comparison request and its statistics to a dict."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any

from truebleu._kernel import Scores, __version__, count_higher
from truebleu.comparison import segment_labels, system_runs
from truebleu.comparison.comparison_notes import (
    FEW_SEGMENTS,
    build_data_limit_notes,
    build_disagreement_notes,
    build_run_variance_notes,
    describe_test_limits,
)
from truebleu.comparison.comparison_request import (
    CORRECTION_TITLES,
    TESTS,
    MetricStatistics,
    Request,
    StatisticsByMetric,
    assign_system_letters,
)
from truebleu.metrics import registry, text_warnings
from truebleu.metrics.base import Metric, Signature
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import Statistics
from truebleu.significance import (
    Difference,
    Interval,
    Measure,
    PairedTests,
    bootstrap_intervals,
    run_paired_tests,
)
from truebleu.text import segments
from truebleu.text.argument_checks import load_json


def build_comparison(request: Request, metric_statistics: StatisticsByMetric) -> dict[str, Any]:
    """Return a comparison as a dict."""
    segment_count = request.count_segments(metric_statistics)
    if request.documents is not None:
        # Cache the names, so that a report on the same request does not read them again.
        request.documents = segment_labels.read_document_names(request.documents, segment_count)
    columns = _build_metric_columns(request, metric_statistics)
    warnings = _warn_about_texts(request, metric_statistics, columns)
    _mark_unreliable_scores(request, columns, warnings)
    results, score_intervals = _resample_metric_columns(request, columns)
    # Sort by the first metric that can rank systems, best first; otherwise keep the input order.
    first = next((column for column in columns if column.can_rank), None)
    system_order = list(request.runs)
    if request.order == "rank" and first is not None:
        system_order.sort(key=first.get_sort_key)
    for i, column in enumerate(columns):
        column.add_results(score_intervals[i], results[i] if results else None, system_order)
    document_indices = request.get_document_indices()
    unit_count = segment_count if document_indices is None else len(set(document_indices))
    tested_results = None if request.testing.test is None else results
    content = {
        "by": f"truebleu-{__version__}",
        "segments": request.buckets.segments if request.buckets else segment_count,
        "buckets": segment_count if request.buckets else None,
        "resampled_documents": None if document_indices is None else unit_count,
        "references": next((one.references for one in columns if one.references is not None), None),
        "baseline": request.baseline,
        "order": request.order,
        **_describe_testing(request, is_tested=tested_results is not None),
        "reading": describe_test_limits(request.testing, unit_count, tested_results),
        "metrics": [column.describe_metric() for column in columns],
        "systems": [
            {
                "name": system,
                "letter": letter,
                "runs": len(request.runs[system]),
                "scores": {column.name: column.describe_system(system) for column in columns},
            }
            for system, letter in zip(
                system_order, assign_system_letters(system_order), strict=True
            )
        ],
        "pairs": [pair for column in columns for pair in column.describe_pairs()],
        "human_agreement": None
        if first is None or _has_unusual_scores(columns, warnings)
        else first.describe_human_agreement(),
        "documents": _score_documents(request, columns),
    }
    content["notes"] = [
        *build_disagreement_notes(content),
        *build_run_variance_notes(content),
        *build_data_limit_notes(request, segment_count, unit_count, results, warnings),
    ]
    warnings += _warn_about_zero_scores(request, metric_statistics, columns)
    return {**content, "warnings": warnings} if warnings else content


def _build_metric_columns(
    request: Request, metric_statistics: StatisticsByMetric
) -> list[_MetricColumn]:
    """Return one column per metric, with distinct names. Metrics of external scores come last."""
    columns = [
        _MetricColumn.from_statistics(request, metric, name, metric_statistics[metric])
        for metric, name in request.metrics.items()
    ]
    for name, scores in request.external_scores.items():
        measure = Measure.from_scores(name, scores, lower_is_better=name in request.lower_is_better)
        columns.append(_MetricColumn(request, name, measure, scores))
    return columns


def _warn_about_texts(
    request: Request, metric_statistics: StatisticsByMetric, columns: Sequence[_MetricColumn]
) -> list[dict[str, Any]]:
    computed = {one.metric: one.name for one in columns if one.metric is not None}
    warnings = text_warnings.warn_about_texts(
        request.text_summaries,
        segments.name_references(request.original_references),
        computed,
        request.language,
        tests_differences=request.testing.test is not None,
    )
    return warnings + text_warnings.warn_about_identical_outputs(
        {output: request.systems[output] for output in request.text_summaries},
        lambda output, earlier: all(
            counts.tables[output] == counts.tables[earlier] for counts in metric_statistics.values()
        ),
    )


def _warn_about_zero_scores(
    request: Request, metric_statistics: StatisticsByMetric, columns: Sequence[_MetricColumn]
) -> list[dict[str, Any]]:
    return text_warnings.warn_about_zero_scores(
        (output, column.name, metric.from_statistics(metric_statistics[metric].tables[output]))
        for column, metric in zip(columns, request.metrics, strict=False)
        for system, outputs in request.runs.items()
        if not column.get_system_score(system)
        for output in outputs
    )


def _mark_unreliable_scores(
    request: Request, columns: Sequence[_MetricColumn], warnings: list[dict[str, Any]]
) -> None:
    """Store which systems have unreliable scores, and which metrics cannot rank the systems."""
    unsplit = text_warnings.list_unsplit_metrics(warnings)
    for column in columns:
        outputs = text_warnings.list_unreliable_systems(warnings, column.name)
        column.unreliable_systems = {
            name for name, runs in request.runs.items() if not outputs.isdisjoint(runs)
        }
        has_reliable_pair = len(request.runs) - len(column.unreliable_systems) > 1
        column.can_rank = column.name not in unsplit and (
            has_reliable_pair or not column.unreliable_systems
        )


def _describe_testing(request: Request, *, is_tested: bool) -> dict[str, Any]:
    testing = request.testing
    unit = "" if testing.resample == "segments" else f" of {testing.resample}"
    content: dict[str, Any] = {"level": testing.level, "seed": testing.seed}
    content |= dict.fromkeys(("test", "intervals", "correction"))
    if is_tested:
        content["test"] = {
            "name": testing.test,
            "title": TESTS[testing.test or ""] + unit,
            "resampled": testing.resample,
            "samples": testing.randomizations if testing.test == "ar" else testing.resamples,
            "alpha": testing.alpha,
        }
    if testing.confidence is not None:
        content["intervals"] = {
            "name": "bootstrap",
            "title": f"percentile bootstrap{unit}",
            "resampled": testing.resample,
            "samples": testing.confidence,
        }
    if is_tested and testing.correction is not None:
        title = CORRECTION_TITLES[testing.correction]
        content["correction"] = {"name": testing.correction, "title": title}
    return content


# Range of BLEU scores of systems in human evaluations; copies of a reference score higher.
USUAL_BLEU = (10, 90)


def _has_unusual_scores(
    columns: Sequence[_MetricColumn], warnings: Sequence[Mapping[str, Any]]
) -> bool:
    best_scores = [
        max(map(column.get_system_score, column.runs))
        for column in columns
        if isinstance(column.metric, BLEU)
    ]
    has_unusual_texts = any(
        one["kind"] in (text_warnings.IDENTICAL_KIND, text_warnings.OUTPUT_REFERENCE_KIND)
        or (one["kind"] in text_warnings.UNRELIABLE_KINDS and "metrics" in one)
        for one in warnings
    )
    return has_unusual_texts or any(
        not USUAL_BLEU[0] <= score <= USUAL_BLEU[1] for score in best_scores
    )


def _resample_metric_columns(
    request: Request, columns: Sequence[_MetricColumn]
) -> tuple[list[PairedTests] | None, Sequence[Mapping[str, Interval]]]:
    """Return the tests (None for a single system) and the score intervals of each metric."""
    testing = request.testing
    measures = [column.measure for column in columns]
    options: dict[str, Any] = {
        "documents": request.get_document_indices(),
        "runs": request.runs,
        "resamples": testing.resamples,
        "seed": testing.seed,
        "level": testing.level,
        "workers": request.workers,
        "progress": request.progress and partial(request.progress, "resampling"),
    }
    if request.baseline is None:
        return None, bootstrap_intervals(measures, **options)
    results = run_paired_tests(
        measures,
        baseline=request.baseline,
        test=testing.test or "bs",
        pairs="all",
        randomizations=testing.randomizations,
        correction=testing.correction,
        **options,
    )
    return results, [result.intervals for result in results]


def resample_metrics(
    request: Request,
    system_order: Sequence[str],
    unreliable_systems: Mapping[Metric[Any], AbstractSet[str]],
) -> Iterator[tuple[Metric[Any], _MetricColumn]]:
    """Compute the metrics of a request, and resample their statistics.

    system_order: the systems in the order of the tables.
    unreliable_systems: the systems with unreliable scores, by metric.
    """
    if not request.metrics:
        return
    metric_statistics = request.compute_statistics()
    columns = {
        metric: _MetricColumn.from_statistics(request, metric, name, metric_statistics[metric])
        for metric, name in request.metrics.items()
    }
    results, score_intervals = _resample_metric_columns(request, list(columns.values()))
    for i, (metric, column) in enumerate(columns.items()):
        column.unreliable_systems = unreliable_systems[metric]
        column.add_results(score_intervals[i], results[i] if results else None, system_order)
        yield metric, column


def _score_documents(
    request: Request, columns: Sequence[_MetricColumn]
) -> list[dict[str, Any]] | None:
    if request.documents is None:
        return None
    documents = request.documents
    document_entries: list[dict[str, Any]] = [
        {"name": name, "segments": documents.indices.count(i), "scores": {}}
        for i, name in enumerate(documents.names)
    ]
    for column in columns:
        by_system = {name: column.score_groups(name, documents.indices) for name in request.runs}
        for i, entry in enumerate(document_entries):
            entry["scores"][column.name] = {
                name: document_scores[i] for name, document_scores in by_system.items()
            }
    return document_entries


# ---- metrics ----


class _MetricColumn:
    """Results of one metric for all systems."""

    metric: Metric[Any] | None = None
    """The metric, or None for external scores, which truebleu does not compute."""
    statistics: Mapping[str, Statistics] = {}
    signature: Signature | None = None
    can_rank: bool = True
    """True if the metric can rank the systems: at least two systems have reliable scores."""
    unreliable_systems: AbstractSet[str] = frozenset()
    """Systems with unreliable scores. They have no rank, and no difference is significant."""
    references: int | str | None = None
    """Number of references per segment, "var" if it varies, or None without references."""

    def __init__(
        self,
        request: Request,
        name: str | None,
        measure: Measure,
        segment_scores: Mapping[str, Sequence[float]],
    ) -> None:
        self.baseline, self.testing = request.baseline, request.testing
        buckets = request.buckets
        # A resampling unit is either one segment or a bucket of many segments.
        self.segments_per_unit = 1.0 if buckets is None else buckets.segments / measure.segments
        document_indices = request.get_document_indices()
        self.unit_count = (
            measure.segments if document_indices is None else len(set(document_indices))
        )
        self.measure = measure
        # The label names the scores. The requested name is used if it is more specific.
        self.label = measure.name
        self.name = name or self.label
        self.runs = request.runs
        # Segment scores of each output and, as means over runs, of each system.
        self.output_scores = segment_scores
        self.system_scores: dict[str, Scores] = {}
        for system, names in self.runs.items():
            columns = [segment_scores[run] for run in names]
            self.system_scores[system] = Scores(
                columns[0]
                if len(columns) == 1
                else [fsum(scores) / len(columns) for scores in zip(*columns, strict=True)]
            )

    @classmethod
    def from_statistics(
        cls,
        request: Request,
        metric: Metric[Any],
        name: str | None,
        metric_statistics: MetricStatistics,
    ) -> _MetricColumn:
        """Return the column of a metric that truebleu computes."""
        column = cls(
            request, name, Measure(metric, metric_statistics.tables), metric_statistics.scores
        )
        column.metric, column.statistics = metric, metric_statistics.tables
        column.references = next(iter(metric_statistics.tables.values())).references
        signature = metric.signature(column.references).with_test_set(request.test_set)
        if system_runs.has_several_runs(request.runs):
            run_counts = {len(outputs) for outputs in request.runs.values()}
            signature = signature.with_runs(
                str(run_counts.pop()) if len(run_counts) == 1 else "var"
            )
        column.signature = request.testing.extend_signature(
            signature, is_tested=len(request.runs) > 1
        )
        return column

    def add_results(
        self,
        score_intervals: Mapping[str, Interval],
        result: PairedTests | None,
        system_order: Sequence[str],
    ) -> None:
        """Add the results of resampling, for the systems in table order."""
        self.score_intervals, self.result = score_intervals, result
        # The systems in the order of the tables, and the systems sorted by this metric, best first.
        self.system_order = system_order
        self.metric_order = sorted(system_order, key=self.get_sort_key)
        self.clusters: list[list[str]] | None = None
        self.beaten_systems: Mapping[str, Sequence[str]] = {}
        if result is not None and self.testing.test is not None and self.can_rank:
            reliable = set(system_order) - self.unreliable_systems
            reliable_clusters = (
                [name for name in cluster if name in reliable]
                for cluster in result.clusters(self.testing.alpha)
            )
            self.clusters = [cluster for cluster in reliable_clusters if cluster]
            self.beaten_systems = {
                name: [other for other in losers if other in reliable]
                for name, losers in result.better_than(self.testing.alpha).items()
                if name in reliable
            }

    def get_system_score(self, system: str) -> float:
        """Return the score of a system: the mean over its runs."""
        values = [self.measure.get_score(run) for run in self.runs[system]]
        return fsum(values) / len(values)

    def get_sort_key(self, system: str) -> tuple[bool, float]:
        """Return the key that sorts systems best first, and unreliable scores last."""
        value = self.get_system_score(system)
        is_last = self.can_rank and system in self.unreliable_systems
        return is_last, value if self.measure.lower_is_better else -value

    def score_groups(self, system: str, groups: Sequence[int]) -> dict[int, float]:
        """Return a system's score for each group of segments, by group index."""
        if self.metric is not None:
            tables = [self.statistics[run].parts(groups) for run in self.runs[system]]
            return {
                i: fsum(self.metric.from_statistics(run_tables[i]).value for run_tables in tables)
                / len(tables)
                for i in tables[0]
            }
        group_scores: dict[int, list[float]] = {}
        for group, score in zip(groups, self.system_scores[system], strict=True):
            group_scores.setdefault(group, []).append(score)
        return {group: fsum(scores) / len(scores) for group, scores in group_scores.items()}

    def describe_metric(self) -> dict[str, Any]:
        if self.signature:
            signature, short_signature = str(self.signature), self.signature.short()
        else:
            from hashlib import sha256

            # External scores have a hash instead of a signature.
            digest = sha256()
            for numbers in self.output_scores.values():
                digest.update(array("d", numbers).tobytes())
            signature = short_signature = f"given|sha256:{digest.hexdigest()[:8]}"
        return {
            "name": self.name,
            "label": self.label,
            "higher_is_better": not self.measure.lower_is_better,
            "source": "given" if self.metric is None else "truebleu",
            "digits": None if self.metric is None else self.metric.DIGITS,
            "percentage": self.metric is not None and self.metric.is_percentage,
            # Clusters of systems without a significant difference, best first.
            "clusters": self.clusters,
            "signature": signature,
            "short_signature": short_signature,
        }

    def describe_system(self, system: str) -> dict[str, Any]:
        value = self.get_system_score(system)
        # Systems with the same score have the same rank.
        rank = 1 + next(
            i for i, other in enumerate(self.metric_order) if self.get_system_score(other) == value
        )
        beaten, result = set(self.beaten_systems.get(system, ())), self.result
        runs = self.score_intervals[system].runs
        return {
            "score": value,
            "interval": self._describe_interval(self.score_intervals[system]),
            "rank": rank if self.can_rank and system not in self.unreliable_systems else None,
            "cluster": next(
                (i for i, names in enumerate(self.clusters or (), 1) if system in names), None
            ),
            "better_than": [other for other in self.system_order if other in beaten],
            "difference": None
            if result is None or self.baseline is None or system == self.baseline
            else self._describe_difference(result.differences[system], system, self.baseline),
            "runs": runs
            and {
                "scores": list(runs.scores),
                "deviation": runs.deviation,
                "test_set_error": runs.error,
            },
            "details": dict(self.metric.from_statistics(self.statistics[system]).details())
            if self.metric is not None and len(self.runs[system]) == 1
            else {},
        }

    def describe_pairs(self) -> Iterator[dict[str, Any]]:
        """Yield an entry for every pair of systems, with the higher-ranked system first."""
        if self.result is None:
            return
        for i, first in enumerate(self.metric_order):
            for second in self.metric_order[i + 1 :]:
                yield {
                    "metric": self.name,
                    "first": first,
                    "second": second,
                    **self._describe_difference(
                        self.result.get_difference(first, second), first, second
                    ),
                }

    def describe_human_agreement(self) -> dict[str, Any] | None:
        """Return how often human judges confirmed a difference as large as the best system's lead.

        Return None if no data apply to this metric or to human translations, if the lead is not
        significant or comes from few segments, or if the two best scores are equal.
        """
        if self.result is None or system_runs.has_several_runs(self.runs):
            return None
        segment_count = self.measure.segments * self.segments_per_unit
        if segment_count < FEW_SEGMENTS or any(map(is_reference_name, self.runs)):
            return None
        best, second = self.metric_order[:2]
        difference = self.result.get_difference(best, second)
        if self._describe_difference(difference, best, second)["significant"] is False:
            return None
        lead = self.get_system_score(best) - self.get_system_score(second)
        # The data are about differences of corpus-level scores with one reference.
        if self.metric is None or self.references != 1 or lead == 0:
            return None
        content = load_json(HUMAN_AGREEMENT.read_text(encoding="utf-8"))
        for name, ranges in content["metrics"].items():
            if registry.metric(name) == self.metric:
                fields = next(
                    one for one in ranges if one["up_to"] is None or abs(lead) <= one["up_to"]
                )
                systems = [best, second]
                return {"metric": self.name, "systems": systems, "data": content["data"], **fields}
        return None

    def _describe_interval(self, interval: Interval) -> dict[str, float] | None:
        if self.testing.confidence is None or self.unit_count == 1:
            return None
        return {key: getattr(interval, key) for key in ("low", "high", "mean", "half_width")}

    def _describe_difference(
        self, difference: Difference, system: str, other: str
    ) -> dict[str, Any]:
        tested = self.testing.test is not None
        p = difference.adjusted_p if self.testing.correction else difference.p
        # Scores are of segments or buckets.
        system_scores, other_scores = self.system_scores[system], self.system_scores[other]
        wins, losses = count_higher(system_scores, other_scores)
        if self.measure.lower_is_better:
            wins, losses = losses, wins
        # The number of segments needed to detect the difference with power 0.8.
        segments_needed = difference.segments_needed
        if segments_needed is not None and self.segments_per_unit != 1:
            segments_needed = round(segments_needed * self.segments_per_unit)
        return {
            "value": difference.value,
            "interval": self._describe_interval(difference.interval),
            "standard_error": difference.deviation,
            "p": difference.p if tested else None,
            "corrected_p": difference.adjusted_p if self.testing.correction else None,
            "significant": p < self.testing.alpha
            if tested and self.can_rank and self.unreliable_systems.isdisjoint((system, other))
            else None,
            "wins": wins,
            "ties": len(system_scores) - wins - losses,
            "losses": losses,
            "segments_needed": segments_needed,
            "identical": difference.identical,
            "errors": {"runs": difference.run_error, "test_set": difference.test_set_error}
            if len(self.runs[system]) + len(self.runs[other]) > 2
            else None,
        }


# ---- human agreement ----

# Share of differences of similar size that human judges confirmed, from WMT23's human scores.
# docs/agreement.py computes the file; docs/agreement-with-people.md describes the data.
HUMAN_AGREEMENT = Path(__file__).with_name("human_agreement.json")

# Names of human translations, such as "ref.A", "refB", "human" and "reference.en".
_REFERENCE_NAME = re.compile(
    r"(?:^|[\W\d_])(?:ref|reference|human)s?[-_.]?(?:[A-Za-z]|\d+)?(?:[\W_]|$)", re.IGNORECASE
)


def is_reference_name(name: str) -> bool:
    """Return whether a system's name shows that its text is a human translation.

    >>> [is_reference_name(one) for one in ("wmt22.en-de.ref.A", "refB", "human", "refined")]
    [True, True, True, False]
    """
    return _REFERENCE_NAME.search(name) is not None
