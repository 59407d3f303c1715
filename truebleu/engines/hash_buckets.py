"""Intervals and tests of corpora too large to keep a row a segment: buckets of segments instead.

The segments of a corpus come into buckets by a hash of their ids, the same for all systems, and
what is resampled is the bucket and not the segment. This is block resampling. Ids say nothing of
the text, so buckets are random groups of about n / B segments, and the sums of B buckets vary as
those of n segments do; but there are only B units to draw from, so intervals of few buckets are
themselves uncertain (their width by about 1 / √(2B)). docs/at-scale.md has what was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.comparison.comparison_request import Buckets, MetricStatistics
from truebleu.engines.aggregates import Columns, Sums
from truebleu.significance import Measure, resampling

# How many buckets an error names.
EXAMPLES = 3


def measures(sums: Sums) -> list[Measure]:
    """The tables to resample: for each metric, each system's totals of each bucket.

    sums: with `bucket`, by the column of systems (or several); without, of one system.

    Raises InputError for sums without buckets, for nulls, and for systems that have not the same
    number of segments in each bucket, because tests are of the same segments.
    """
    if sums.bucket is None:
        raise InputError(
            "these sums have no buckets; make them with bucket=('id', 1000), where 'id' is the "
            "column that says which segment a row is"
        )
    sums.check()
    named: dict[str, Sums] = {}
    keys: dict[str, str] = {}
    for key, part in sums.split(sums.by).items():
        system = _system(key)
        # Null and "null", "a/b" beside "c" and "a" beside "b/c" are not to be mixed up.
        if keys.setdefault(system, repr(key)) != repr(key):
            raise InputError(
                f"two systems would be called {system}: {keys[system]} and {key!r}; "
                "rename one of them"
            )
        if part.segments:
            named[system] = part
    return [Measure(metric, counts.tables) for metric, counts in counted(named).statistics.items()]


def counted(named: Mapping[str, Sums]) -> Buckets:
    """What was counted of each system's buckets, for a comparison.

    Raises InputError for systems that have not the same number of segments in each bucket.
    """
    sizes = {}
    for system, sums in named.items():
        pairs = zip(sums.keys, sums.group_segments(), strict=True)
        sizes[system] = {key[-1]: size for key, size in pairs if size}
    (first, expected), *others = sizes.items()
    for system, found in others:
        odd = [b for b in sorted({*expected, *found}) if expected.get(b) != found.get(b)]
        if odd:
            told = "; ".join(
                f"bucket {bucket}: {first} {expected.get(bucket, 0)} segments, "
                f"{system} {found.get(bucket, 0)}"
                for bucket in odd[:EXAMPLES]
            )
            raise InputError(
                f"{first} and {system} are not of the same segments: {len(odd)} buckets differ "
                f"({told}{'; …' if len(odd) > EXAMPLES else ''}); every system needs one row for "
                "each id, and the same ids"
            )
    counts = {}
    for label, metric in zip(named[first].labels, named[first].metrics, strict=True):
        tables = {}
        for system, sums in named.items():
            tables[system] = sums.statistics(label)[list(map(bool, sums.group_segments()))]
        scores: dict[str, Sequence[float]] = {
            system: metric.scores(table).tolist() for system, table in tables.items()
        }
        counts[metric] = MetricStatistics(tables, scores)
    return Buckets(counts, named[first].segments)


def intervals(sums: Sums, *, within: Columns = None, **options: Any) -> Any:
    """The confidence interval of each system's score, by resampling buckets.

    Gives a dict from system to interval; with several metrics a dict of such dicts; with `within`
    a dict of all that from the key of each group of these columns. Options as for
    `truebleu.significance.bootstrap_intervals`; raises what `measures` raises.
    """
    return _resampled(
        sums, within, lambda part: resampling.bootstrap_intervals(measures(part), **options)
    )


def compare(
    sums: Sums,
    *,
    baseline: Any = None,
    test: str = "ar",
    within: Columns = None,
    **options: Any,
) -> Any:
    """Tests of the differences between systems, by resampling or exchanging buckets.

    Gives a `Paired`; with several metrics a dict of them. `within` are columns of keys inside of
    whose groups systems are compared: the result is then a dict from the key of each.

    Systems are called by their key as text, with strokes between the columns of several; `baseline`
    may be either. Other options as for `truebleu.significance.run_paired_tests`; raises what
    `measures` raises. `segments` in the results is the number of buckets.
    """
    if test == "bs-sacrebleu":
        raise ValueError("test 'bs-sacrebleu' is of segments, as sacreBLEU's; 'ar' and 'bs' fit")
    if not (baseline is None or isinstance(baseline, str)):
        baseline = _system(baseline if isinstance(baseline, tuple) else (baseline,))
    options |= {"baseline": baseline, "test": test}
    return _resampled(
        sums, within, lambda part: resampling.run_paired_tests(measures(part), **options)
    )


def _resampled(sums: Sums, within: Columns, function: Callable[[Sums], list[Any]]) -> Any:
    """A function's results by group and metric; without several of them the result itself."""
    if within is None:
        found = function(sums)
        return found[0] if len(found) == 1 else dict(zip(sums.labels, found, strict=True))
    by_group = {}
    for key, part in sums.split(within).items():
        try:
            by_group[key] = _resampled(part, None, function)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
    return by_group


def _system(key: tuple[Any, ...]) -> str:
    """The name of a system: its key, or several with a stroke between."""
    return "/".join("null" if part is None else str(part) for part in key) or "all"
