"""From tables of statistics to the dict that a comparison is."""

from __future__ import annotations

from operator import gt, lt

from truebleu._kernel import __version__
from truebleu.comparison import VERSION
from truebleu.significance import RANDOMIZATIONS, RESAMPLES, Measure, intervals, paired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.comparison.reading import Counts, Measured, Task
    from truebleu.metric import Signature
    from truebleu.significance import Difference, Interval, Paired

# What the tests are called in print.
TITLES = {
    "ar": "paired approximate randomization",
    "bs": "paired bootstrap, centred",
    "bs-sacrebleu": "sacreBLEU's paired bootstrap",
    "koehn": "paired bootstrap, win ratio",
}
CORRECTIONS = {"holm": "Holm", "bh": "BH"}


class Settings:
    """How things are tested, checked."""

    __slots__ = ("confidence", "correction", "level", "randomizations", "resamples", "seed", "test")

    def __init__(
        self,
        *,
        test: str | None,
        samples: int | None,
        confidence: int | None,
        level: float,
        seed: int | None,
        correction: str | None,
    ) -> None:
        if test is not None and test not in TITLES:
            from truebleu.tokenizers import nearest

            raise ValueError(f"unknown test {test!r}{nearest(str(test), TITLES)}")
        if test is None and samples is not None:
            raise ValueError("samples are those of a test, and there is none")
        if test is None and correction is not None:
            raise ValueError("a correction is of p-values, and there is no test")
        if correction is not None and correction not in CORRECTIONS:
            from truebleu.tokenizers import nearest

            raise ValueError(f"unknown correction {correction!r}{nearest(correction, CORRECTIONS)}")
        if not isinstance(level, float) or not 0 < level < 1:
            raise ValueError(f"level={level!r}: a number between 0 and 1 is meant")
        if seed is not None and (type(seed) is not int or seed < 0):
            raise ValueError(f"seed={seed!r}: a whole number is meant, 0 or more, or None")
        for name, number in (("samples", samples), ("confidence", confidence)):
            if number is not None and (type(number) is not int or number < 1):
                raise ValueError(f"{name}={number!r}: a number of samples is meant, 1 or more")
        if test not in (None, "ar") and samples is not None:
            if confidence not in (None, RESAMPLES, samples):
                raise ValueError(
                    f"samples={samples} and confidence={confidence}: a bootstrap test's resamples "
                    "are those of the intervals, too; give one number"
                )
            confidence = None if confidence is None else samples
        self.test = test
        self.randomizations = samples if test == "ar" and samples else RANDOMIZATIONS
        self.resamples = samples if test not in (None, "ar") and samples else RESAMPLES
        if confidence is not None and (samples is None or test == "ar"):
            self.resamples = confidence
        self.confidence = None if confidence is None else self.resamples
        self.level = level
        self.seed = seed
        self.correction = correction

    @property
    def alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - self.level, 12)

    def signed(self, signature: Signature, *, tested: bool) -> Signature:
        """A signature that also says how often and from which seed was resampled."""
        test = self.test if tested else None
        bootstrap = self.confidence is not None or test not in (None, "ar")
        if not bootstrap and test is None:
            return signature
        return signature.resampled(
            bs=self.resamples if bootstrap else None,
            ar=self.randomizations if test == "ar" else None,
            seed=self.seed,
        )


def of_task(task: Task, chosen: Settings, *, workers: int) -> dict[str, Any]:
    """The whole dict."""
    columns = [_Column(one, counts, chosen) for one, counts in task.tables]
    columns += [_Given(name, scores, lower=name in task.lower) for name, scores in task.given]
    _name(columns)
    results: list[Paired] | None = None
    ranges: Sequence[Mapping[str, Interval]]
    measures = [column.measure for column in columns]
    if task.baseline is None:
        ranges = intervals(
            measures,
            resamples=chosen.resamples,
            seed=chosen.seed,
            level=chosen.level,
            workers=workers,
        )
    else:
        results = paired(
            measures,
            baseline=task.baseline,
            test=chosen.test or "bs",
            pairs="all",
            randomizations=chosen.randomizations,
            resamples=chosen.resamples,
            seed=chosen.seed,
            level=chosen.level,
            correction=chosen.correction,
            workers=workers,
        )
        ranges = [result.intervals for result in results]
    first = columns[0]
    order = sorted(task.systems, key=first.placing)
    rows: list[dict[str, Any]] = [
        {"name": system, "letter": letter, "scores": {}}
        for system, letter in zip(order, _letters(), strict=False)
    ]
    pairs: list[dict[str, Any]] = []
    for i, column in enumerate(columns):
        result = None if results is None else results[i]
        block = _Block(column, ranges[i], result, chosen, order, task.baseline)
        for row in rows:
            row["scores"][column.name] = block.score(row["name"])
        pairs += block.pairs()
    tested = results is not None and chosen.test is not None
    return {
        "truebleu_comparison": VERSION,
        "by": f"truebleu-{__version__}",
        "segments": task.segments,
        "references": task.references,
        "baseline": task.baseline,
        "level": chosen.level,
        "seed": chosen.seed,
        "test": _test(chosen) if tested else None,
        "intervals": None
        if chosen.confidence is None
        else {"name": "bootstrap", "title": "percentile bootstrap", "samples": chosen.confidence},
        "correction": None
        if chosen.correction is None or not tested
        else {"name": chosen.correction, "title": CORRECTIONS[chosen.correction]},
        "reading": _reading(chosen, task.segments, results if tested else None),
        "metrics": [column.described() for column in columns],
        "systems": rows,
        "pairs": pairs,
        "notes": list(_notes(task, chosen, results)),
    }


def _test(settings: Settings) -> dict[str, Any]:
    ar = settings.test == "ar"
    return {
        "name": settings.test,
        "title": TITLES[settings.test or ""],
        "samples": settings.randomizations if ar else settings.resamples,
        "alpha": settings.alpha,
    }


# ---- metrics ----


class _Column:
    """A metric that truebleu computes, and its tables."""

    source = "truebleu"

    def __init__(
        self, measured: Measured, counts: Mapping[str, Counts], settings: Settings
    ) -> None:
        metric = self.metric = measured.metric
        self.counts = counts
        tables = {system: one.statistics for system, one in counts.items()}
        self.measure = Measure(metric, tables)
        self.label = self.measure.name
        # What it was asked for as, if that says more than the name of the score.
        self.name = measured.name or self.label
        references = next(iter(tables.values())).references
        self.signature: Signature | None = settings.signed(
            metric.signature(references), tested=len(counts) > 1
        )

    def placing(self, system: str) -> float:
        """What systems are sorted by, the best first."""
        value = self.measure.value(system)
        return value if self.measure.lower_is_better else -value

    def segments(self, system: str) -> Sequence[float]:
        """The score of each segment."""
        return self.counts[system].scores

    def details(self, system: str) -> dict[str, Any]:
        """What the score was made of."""
        statistics = self.counts[system].statistics
        return dict(self.metric.from_statistics(statistics).details())  # type: ignore[attr-defined]

    def described(self) -> dict[str, Any]:
        """What is known of the metric itself."""
        return {
            "name": self.name,
            "label": self.label,
            "higher_is_better": not self.measure.lower_is_better,
            "source": self.source,
            "signature": None if self.signature is None else str(self.signature),
            "short_signature": None if self.signature is None else self.signature.short(),
        }


class _Given(_Column):
    """A metric whose scores were given, a number a segment."""

    source = "given"

    def __init__(self, name: str, scores: Mapping[str, Sequence[float]], *, lower: bool) -> None:
        self.scores = scores
        self.measure = Measure.of_scores(name, scores, lower_is_better=lower)
        self.name = self.label = name
        self.signature = None

    def segments(self, system: str) -> Sequence[float]:
        """The score of each segment."""
        return self.scores[system]

    def details(self, system: str) -> dict[str, Any]:  # noqa: ARG002
        """Nothing is known of what the score was made of."""
        return {}


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


def _letters() -> Iterator[str]:
    """a, b, …, z, aa, ab, …: without q, which has no raised form."""
    from itertools import count, product

    for length in count(1):
        for letters in product("abcdefghijklmnoprstuvwxyz", repeat=length):
            yield "".join(letters)


# ---- what is known by one metric ----


class _Block:
    """The systems by one metric."""

    def __init__(
        self,
        column: _Column,
        ranges: Mapping[str, Interval],
        result: Paired | None,
        settings: Settings,
        order: Sequence[str],
        baseline: str | None,
    ) -> None:
        self.column = column
        self.ranges = ranges
        self.result = result
        self.settings = settings
        # Best first by the first metric, and by this one.
        self.order = order
        self.own_order = sorted(order, key=column.placing)
        self.baseline = baseline
        self.clusters: dict[str, int] = {}
        self.better: Mapping[str, Sequence[str]] = {}
        self.scores: dict[str, Sequence[float]] = {}
        if result is not None and settings.test is not None:
            clusters = result.clusters(settings.alpha)
            self.clusters = {name: i for i, names in enumerate(clusters, 1) for name in names}
            self.better = result.better_than(settings.alpha)
        if result is not None:
            self.scores = {system: column.segments(system) for system in order}

    def score(self, system: str) -> dict[str, Any]:
        """What is known of one system."""
        value = self.column.measure.value(system)
        # Systems with the same score have the same rank.
        rank = next(
            i
            for i, other in enumerate(self.own_order, 1)
            if self.column.measure.value(other) == value
        )
        better = set(self.better.get(system, ()))
        result = self.result
        return {
            "score": value,
            "interval": self._interval(self.ranges[system]),
            "rank": rank,
            "cluster": self.clusters.get(system),
            "better_than": [other for other in self.order if other in better],
            "difference": None
            if result is None or self.baseline is None or system == self.baseline
            else self._difference(result.differences[system], system, self.baseline),
            "details": self.column.details(system),
        }

    def pairs(self) -> Iterator[dict[str, Any]]:
        """Every two systems, the better placed one first."""
        if self.result is None:
            return
        for i, first in enumerate(self.own_order):
            for second in self.own_order[i + 1 :]:
                yield {
                    "metric": self.column.name,
                    "first": first,
                    "second": second,
                    **self._difference(self.result.between(first, second), first, second),
                }

    def _interval(self, interval: Interval) -> dict[str, float] | None:
        if self.settings.confidence is None or self.column.measure.segments == 1:
            return None
        return {
            "low": interval.low,
            "high": interval.high,
            "mean": interval.mean,
            "half_width": interval.half_width,
        }

    def _difference(self, difference: Difference, system: str, other: str) -> dict[str, Any]:
        tested = self.settings.test is not None
        p = difference.adjusted_p if self.settings.correction else difference.p
        wins, ties, losses = self._segments(system, other)
        return {
            "value": difference.value,
            "interval": self._interval(difference.interval),
            "p": difference.p if tested else None,
            "corrected_p": difference.adjusted_p if self.settings.correction else None,
            "significant": p < self.settings.alpha if tested else None,
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "segments_needed": difference.segments_needed,
            "identical": difference.identical,
        }

    def _segments(self, system: str, other: str) -> tuple[int, int, int]:
        """In how many segments a system is better than, equal to and worse than another."""
        own, others = self.scores[system], self.scores[other]
        more, less = sum(map(gt, own, others)), sum(map(lt, own, others))
        if self.column.measure.lower_is_better:
            more, less = less, more
        return more, len(own) - more - less, less


# ---- in words ----


def _reading(settings: Settings, segments: int, results: Sequence[Paired] | None) -> str:
    """What the test, or the intervals, can and cannot say."""
    if results is not None:
        return results[0].caution
    if settings.confidence is None or segments == 1:
        return ""
    return (
        f"Intervals are of {settings.confidence:,} bootstrap resamples of the segments: how much "
        "the score depends on which segments happen to be in the test set, and nothing else."
    )


def _notes(
    task: Task,
    settings: Settings,
    results: Sequence[Paired] | None,
) -> Iterator[dict[str, Any]]:
    """What a reader should know of these data."""
    if task.segments == 1:
        yield {
            "kind": "one segment",
            "text": "there is only one segment: nothing can be resampled, so there are no "
            "intervals, and no difference is significant.",
        }
    elif task.segments < FEW:
        yield {
            "kind": "few segments",
            "text": f"{task.segments} segments are few: intervals and p-values are rough.",
        }
    elif settings.confidence is not None and settings.confidence * (1 - settings.level) < 2:
        yield {
            "kind": "few resamples",
            "text": f"{settings.confidence} resamples are too few for intervals of "
            f"{settings.level:.4g}: they span all of them.",
        }
    for first, second in _identical(results):
        p = "p = 1, and " if settings.test else ""
        yield {
            "kind": "identical",
            "systems": [first, second],
            "text": f"{first} and {second} are counted the same in every segment: {p}"
            "most likely they are the same output.",
        }
    systems = len(task.systems)
    if results is not None and settings.test and not settings.correction and systems > 2:
        tests = systems * (systems - 1) // 2
        yield {
            "kind": "many tests",
            "text": f"{tests} pairs were tested by each metric, each at {settings.alpha:g}, with "
            "no correction for their number (holm and bh are there).",
        }


# Intervals from fewer segments are rough.
FEW = 30


def _identical(results: Sequence[Paired] | None) -> Iterator[tuple[str, str]]:
    """The systems that no metric tells apart in any segment."""
    if not results:
        return
    for pair, difference in results[0].pairs.items():
        if difference.identical and all(r.between(*pair).identical for r in results[1:]):
            yield pair
