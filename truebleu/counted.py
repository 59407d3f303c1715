"""A metric whose rows the kernel counts: the verbs that BLEU, chrF and TER share."""

from __future__ import annotations

from truebleu import _kernel, inputs
from truebleu._kernel import InputError, Scores, Table
from truebleu.metric import Metric, Score
from truebleu.statistics import Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Generic, TypeVar

    from truebleu._kernel import Metric as KernelMetric
    from truebleu._kernel import Scan
    from truebleu.metric import Signature, Summary

    S = TypeVar("S", bound=Score)
else:
    # What importing typing would cost, for what only type checkers read.
    S = None

    class Generic:  # noqa: D101
        __slots__ = ()

        def __class_getitem__(cls, _: object) -> type:
            return cls


class Counted(Metric, Generic[S]):
    """A metric whose rows the kernel counts, and whose scores are an `S`.

    A subclass makes `_kernel`, names the `columns` and the `fingerprint` of its statistics, and
    makes a score of a row (`score_of`).
    """

    __slots__ = ("_kernel",)

    _kernel: KernelMetric

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics."""
        raise NotImplementedError

    @property
    def fingerprint(self) -> str:
        """The parameters that decide the statistics, as `Statistics.fingerprint` has them."""
        raise NotImplementedError

    def score_of(
        self,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> S:
        """The score of a row of statistics; `value` if it is known."""
        raise NotImplementedError

    @property
    def reads_text(self) -> bool:
        """Whether the kernel reads the text itself, so that others can read along."""
        return True

    def _scan(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> Scan:
        return inputs.scan(self._kernel, hypotheses, references, workers=workers)

    def score(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> S:
        """The score of a corpus.

        hypotheses: n strings (any sequence, an Arrow column), or a path or `File` of n lines.
        references: for each segment a string or a sequence of strings and None; or an Arrow
            column of strings or lists of strings; or a path or `File`; or a list of such columns
            or files, one a reference.
        workers: threads.

        Memory does not grow with the size of files. Raises InputError, which names the input and
        the segment, for lengths that differ, missing text, bytes that are not UTF-8.
        """
        return self.observed(hypotheses, references, workers=workers)[0]

    def observed(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        *,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[S, Summary]:
        """`score`, and what was noticed of the text while it was read.

        `progress` is called about twenty times a second with the number of segments so far.
        """
        totals, seen = self._scan(hypotheses, references, workers).totals(progress)
        self.check(seen, hypotheses)
        return self.score_of(totals.tolist()[0], count_references(seen["references"])), seen

    def check(self, seen: Summary, hypotheses: object) -> None:
        """Raises InputError if this metric is not defined for what was seen."""
        if not seen["segments"]:
            name = inputs.label("hypotheses", hypotheses)
            raise InputError(f"{name}: no segments at all; there is nothing to score")

    def pieces(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        *,
        workers: int = 1,
        segments: int = 8192,
    ) -> Iterator[tuple[Statistics, Scores, Summary]]:
        """`statistics` and `segments` of about so many segments at a time, and what was noticed.

        Memory does not grow with the size of files.
        """
        run = self._scan(hypotheses, references, workers)
        table, seen = run.table(segments)
        # Nothing at all is an error; nothing more is the end.
        Counted.check(self, seen, hypotheses)
        while seen["segments"]:
            self.check(seen, hypotheses)
            statistics = self._statistics(table, count_references(seen["references"]))
            yield statistics, self._segment_scores(table), seen
            table, seen = run.table(segments)

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> S:
        """The score of one segment."""
        try:
            value, row, count = self._kernel.sentence(hypothesis, references)
        except TypeError:
            return self._sentence_slowly(hypothesis, references)
        return self.score_of(row, count, segment=True, value=value)

    def _sentence_slowly(self, hypothesis: Any, references: Any) -> S:
        """By the general path, which takes what it can and says what is wrong."""
        if isinstance(hypothesis, bytes) or not hasattr(hypothesis, "__len__"):
            raise TypeError(f"hypothesis: a str is meant, not {type(hypothesis).__name__}")
        table, seen = self._scan((hypothesis,), (references,), 1).table()
        self.check(seen, hypothesis)
        return self.score_of(table.tolist()[0], count_references(seen["references"]), segment=True)

    def segments(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Scores:
        """The score of each segment: n numbers, 0-100. Arguments as for `score`."""
        scores, seen = self._kernel.segments(self._scan(hypotheses, references, workers))
        self.check(seen, hypotheses)
        return scores

    def _segment_scores(self, table: Table) -> Scores:
        return self._kernel.scores(table, corpus=False)

    def statistics(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Statistics:
        """The table of what was counted, a row a segment. Arguments as for `score`."""
        table, seen = self._scan(hypotheses, references, workers).table()
        self.check(seen, hypotheses)
        return self._statistics(table, count_references(seen["references"]))

    def _statistics(self, table: Table, references: int | str | None) -> Statistics:
        return Statistics(
            table, columns=self.columns, fingerprint=self.fingerprint, references=references
        )

    def from_statistics(
        self, totals: Statistics | Sequence[int], *, references: int | str | None = None
    ) -> S:
        """The formula alone: the score of statistics.

        totals: a table of this metric's statistics (its sum counts), or the k integers of one row
            in the order of `columns`.
        references: how many references there were, for the signature; a table knows it.
        """
        if isinstance(totals, Statistics):
            self._check_statistics(totals)
            references = totals.references if references is None else references
            return self.score_of(totals.total().tolist()[0], references)
        return self.score_of(self._checked_row(totals), references)

    def scores(self, totals: Statistics | Table) -> Scores:
        """The score of each row of a table, each taken for the totals of a corpus.

        This is what resampling needs: many sums of one table, many scores.
        """
        self._check_table(totals)
        return self._kernel.scores(totals, corpus=True)

    def matrix(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[list[float]]:
        """The score of each hypothesis against each reference, as `sentence` gives it.

        hypotheses, references: n and m strings. Gives n lists of m numbers, 0-100.
        """
        sources = [
            _kernel.strings(inputs.strings(role, texts), role)
            for role, texts in (("hypotheses", hypotheses), ("references", references))
        ]
        width = len(references)
        scores = self._kernel.matrix(*sources).tolist()
        return [scores[first : first + width] for first in range(0, len(scores), width)]

    def _check_table(self, table: Table) -> None:
        if isinstance(table, Statistics):
            self._check_statistics(table)
        elif table.width != len(self.columns):
            raise InputError(f"{table.width} columns where {len(self.columns)} are meant")

    def _check_statistics(self, statistics: Statistics) -> None:
        if statistics.fingerprint != self.fingerprint:
            raise InputError(
                f"these statistics were made with {statistics.fingerprint}, "
                f"and this metric is {self.fingerprint}"
            )

    def _checked_row(self, totals: Sequence[int]) -> list[int]:
        row = _integers(totals)
        if len(row) != len(self.columns):
            raise InputError(
                f"{len(row)} totals where {len(self.columns)} are meant: {', '.join(self.columns)}"
            )
        return row

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "_kernel"):  # set last
            raise AttributeError(f"metrics are frozen; make another with {name}={value!r}")
        object.__setattr__(self, name, value)


class CountedScore(Score):
    """A score that is a row of statistics and the number its metric's formula makes of it."""

    __slots__ = ("_metric", "_references", "_row", "_value")

    _metric: Counted[Any]

    def __init__(
        self,
        metric: Counted[Any],
        row: Sequence[int],
        references: int | str | None,
        value: float,
    ) -> None:
        self._metric = metric
        self._row = row
        self._references = references
        self._value = value

    @property
    def name(self) -> str:
        """The metric's name, with the parameters that are part of it: "chrF2++", "TER"."""
        return self._metric.name

    @property
    def value(self) -> float:
        """The score, to sacreBLEU's last bit."""
        return self._value

    @property
    def signature(self) -> Signature:
        """What was computed, so that anyone can compute it again."""
        return self._metric.signature(self._references)


def together(
    metrics: Sequence[Counted[Any]],
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    *,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
    totals: bool = False,
) -> tuple[list[Statistics], Summary]:
    """The statistics of several metrics, and what was noticed, from one reading of the text.

    All of `metrics` must read text (`reads_text`). With `totals`, one row each, the sum, in memory
    that does not grow with the text.
    """
    first, *others = metrics
    kernels = [metric._kernel for metric in others]  # noqa: SLF001
    run = inputs.scan(first._kernel, hypotheses, references, workers=workers, others=kernels)  # noqa: SLF001
    table, seen = run.totals(progress) if totals else run.table()
    number, parts = count_references(seen["references"]), []
    start = 0
    for metric in metrics:
        metric.check(seen, hypotheses)
        stop = start + len(metric.columns)
        part = table.columns_of(range(start, stop)) if others else table
        parts.append(metric._statistics(part, number))  # noqa: SLF001
        start = stop
    return parts, seen


def _integers(totals: Sequence[int]) -> list[int]:
    try:
        integers = [value.__index__() for value in totals]
    except (AttributeError, TypeError):
        integers = [-1]
    if any(value < 0 for value in integers):
        raise InputError(
            "totals: a table of statistics or a row of integers, none negative, is meant, "
            f"not {totals!r:.80}"
        )
    return integers


def count_references(seen: tuple[int, int] | None) -> int | str | None:
    """How many references the segments had, from the fewest and the most; "var" if it varied."""
    if seen is None:
        return None
    fewest, most = seen
    return most if fewest == most else "var"
