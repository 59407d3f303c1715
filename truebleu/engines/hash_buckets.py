"""Confidence intervals and tests for corpora too large to keep one row per segment.

The segments of a corpus are assigned to hash buckets by their ids, identically for all systems, and
buckets are resampled instead of segments. This is block resampling. Ids do not depend on the text,
so buckets are random groups of about n / B segments, and the sums of B buckets vary like sums of n
segments. With only B units, the width of an interval has a relative standard error of about
1 / √(2B). docs/at-scale.md reports measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.comparison.comparison_request import Buckets, MetricStatistics
from truebleu.engines.aggregates import ColumnNames, Sums
from truebleu.significance import Measure, resampling
from truebleu.text.terminal_layout import format_count

MAX_LISTED_BUCKETS = 3


def make_measures(sums: Sums) -> list[Measure]:
    """Return the tables to resample: for each metric, the statistics of each system's buckets.

    sums: sums with `bucket`, grouped by the system columns. Without groups, there is one system.

    Raises InputError for sums without buckets, for nulls, and for systems with different numbers of
    segments in a bucket, because paired tests require the same segments.
    """
    if sums.bucket is None:
        raise InputError(
            "these sums have no buckets. Create them with bucket=('id', 1000), where 'id' is the "
            "column of segment ids."
        )
    sums.check()
    sums_by_system: dict[str, Sums] = {}
    key_by_system: dict[str, str] = {}
    for key, part in sums.split(sums.by).items():
        system = _format_system(key)
        # Distinct keys may have the same name: null and "null", ("a/b", "c") and ("a", "b/c").
        if key_by_system.setdefault(system, repr(key)) != repr(key):
            raise InputError(
                f"duplicate system name '{system}' for {key_by_system[system]} and {key!r}. Rename "
                "one of them."
            )
        if part.segments:
            sums_by_system[system] = part
    return [
        Measure(metric, counts.tables)
        for metric, counts in collect_buckets(sums_by_system).statistics.items()
    ]


def collect_buckets(sums_by_system: Mapping[str, Sums]) -> Buckets:
    """Return the statistics and scores of each system's buckets, for a comparison.

    Raises InputError for systems with different numbers of segments in a bucket.
    """
    bucket_sizes = {}
    for system, sums in sums_by_system.items():
        pairs = zip(sums.keys, sums.group_segments(), strict=True)
        bucket_sizes[system] = {key[-1]: size for key, size in pairs if size}
    (first, expected), *remaining = bucket_sizes.items()
    for system, actual in remaining:
        differing_buckets = [
            b for b in sorted({*expected, *actual}) if expected.get(b) != actual.get(b)
        ]
        if differing_buckets:
            examples = "; ".join(
                f"bucket {b}: {first} {format_count(expected.get(b, 0), 'segment')}, "
                f"{system} {actual.get(b, 0)}"
                for b in differing_buckets[:MAX_LISTED_BUCKETS]
            )
            if len(differing_buckets) > MAX_LISTED_BUCKETS:
                examples += "; …"
            raise InputError(
                f"{first} and {system} have different segments in "
                f"{format_count(len(differing_buckets), 'bucket')} ({examples}); every system "
                "needs the same ids, with one row per id"
            )
    counts = {}
    first_sums = sums_by_system[first]
    for label, metric in zip(first_sums.labels, first_sums.metrics, strict=True):
        tables = {}
        scores: dict[str, Sequence[float]] = {}
        for system, sums in sums_by_system.items():
            tables[system] = sums.statistics(label)[list(map(bool, sums.group_segments()))]
            scores[system] = metric.scores(tables[system]).tolist()
        counts[metric] = MetricStatistics(tables, scores)
    return Buckets(counts, first_sums.segments)


def intervals(sums: Sums, *, within: ColumnNames = None, **options: Any) -> Any:
    """Return the confidence interval of each system's score, computed by resampling buckets.

    The result is a dict from system to interval; for several metrics, it is a dict from metric to
    such a dict. With `within`, groups have separate results, in a dict by group key. See
    `truebleu.significance.bootstrap_intervals` for other options. Raises the errors of
    `make_measures`.
    """
    return _call_for_groups(
        sums, within, lambda part: resampling.bootstrap_intervals(make_measures(part), **options)
    )


def compare(
    sums: Sums,
    *,
    baseline: Any = None,
    test: str = "ar",
    within: ColumnNames = None,
    **options: Any,
) -> Any:
    """Test the differences between systems by resampling or swapping buckets.

    The result is a `Paired` object, or a dict of them for several metrics. `within` names key
    columns to group by; groups are compared separately, and the result is a dict by group key.

    System names are the keys as text, joined with slashes if there are several columns. `baseline`
    may be a key or a name. See `truebleu.significance.run_paired_tests` for other options. Raises
    the errors of `make_measures`. In the results, `segments` is the number of buckets.
    """
    if test == "bs-sacrebleu":
        raise ValueError("test 'bs-sacrebleu' does not support buckets; use 'ar' or 'bs'")
    if not (baseline is None or isinstance(baseline, str)):
        baseline = _format_system(baseline if isinstance(baseline, tuple) else (baseline,))
    options |= {"baseline": baseline, "test": test}
    return _call_for_groups(
        sums, within, lambda part: resampling.run_paired_tests(make_measures(part), **options)
    )


def _call_for_groups(sums: Sums, within: ColumnNames, function: Callable[[Sums], list[Any]]) -> Any:
    """Call a function for each group and metric, and return one result or a dict of results."""
    if within is None:
        results = function(sums)
        return results[0] if len(results) == 1 else dict(zip(sums.labels, results, strict=True))
    by_group = {}
    for key, part in sums.split(within).items():
        try:
            by_group[key] = _call_for_groups(part, None, function)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
    return by_group


def _format_system(key: tuple[Any, ...]) -> str:
    """Return the name of a system: the components of its key joined with slashes."""
    return "/".join("null" if component is None else str(component) for component in key) or "all"
