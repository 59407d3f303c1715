"""A metric whose rows the kernel counts: the verbs that BLEU, chrF and TER share."""

from __future__ import annotations

import sys

from truebleu import inputs
from truebleu._kernel import InputError, Scores, Table
from truebleu.metric import Metric, Score
from truebleu.statistics import Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Generic, Literal, TypeVar, overload

    from truebleu._kernel import Metric as KernelMetric
    from truebleu._kernel import Pairs as KernelPairs
    from truebleu._kernel import Scan
    from truebleu.matrix import Matrix, PairsInPython, Triangle
    from truebleu.metric import Signature, Summary

    Pairs = KernelPairs | PairsInPython

    S = TypeVar("S", bound=Score)
else:
    # What importing typing would cost, for what only type checkers read.
    S = None

    class Generic:  # noqa: D101
        __slots__ = ()

        def __class_getitem__(cls, _: object) -> type:
            return cls

    def overload(function: object) -> object:  # noqa: D103
        return function


# sacreBLEU's sum of logarithms, and a mean of scores, is Python's sum(), which adds with
# compensation since 3.12: the last bit depends on the Python that computes it. The kernel does as
# this Python does.
COMPENSATED = sys.version_info >= (3, 12)


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
        row, seen = self.totals(hypotheses, references, workers=workers, progress=progress)
        return self.score_of(row, count_references(seen["references"])), seen

    def totals(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        *,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[list[int], Summary]:
        """The sum of `statistics` as a list of integers, and what was noticed of the text.

        Memory does not grow with the size of files.
        """
        totals, seen = self._scan(hypotheses, references, workers).totals(progress)
        self.check(seen, hypotheses)
        return totals.tolist()[0], seen

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

    def _pairs(
        self, hypotheses: inputs.Hypotheses, references: inputs.Hypotheses | None, workers: int
    ) -> Pairs:
        return inputs.pairs(self._kernel, hypotheses, references, workers=workers)

    @overload
    def matrix(  # noqa: D102
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
        dtype: object = "float64",
        triangle: Literal[False] = False,
    ) -> Matrix: ...

    @overload
    def matrix(  # noqa: D102, F811
        self,
        hypotheses: inputs.Hypotheses,
        references: None = None,
        *,
        workers: int = 1,
        dtype: object = "float64",
        triangle: Literal[True],
    ) -> Triangle: ...

    def matrix(  # noqa: F811
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
        dtype: object = "float64",
        triangle: bool = False,
    ) -> Matrix | Triangle:
        """The score of each hypothesis against each reference, each as `sentence` gives it.

        hypotheses, references: n and m strings (any sequence, an Arrow column, a file). Without
            references, the hypotheses against each other, each against itself too.
        workers: threads. The scores are the same for any number.
        dtype: "float64", or "float32" for half the memory.
        triangle: without references, only the pairs of a hypothesis and a later one: n(n-1)/2.

        Gives a `Matrix` of n × m scores, 0-100, or a `Triangle`. Memory beside them is that of the
        texts. Raises InputError for no texts or a missing one, MemoryError, before anything is
        scored, if the scores do not fit into memory.

        >>> from truebleu import BLEU
        >>> metric = BLEU()
        >>> print(metric.matrix(["a b c d", "a b"], ["a b c d", "a b c e", "f"]))
        Matrix(2 x 3, float64)
        [100.00  59.46   0.00]
        [ 36.79  36.79   0.00]
        >>> metric.matrix(["a b c d", "a b c e", "f"], triangle=True)[0, 1]
        59.46...
        """
        from truebleu.matrix import Matrix, Triangle, is_single

        single = is_single(dtype)
        if not triangle:
            pairs = self._pairs(hypotheses, references, workers)
            return Matrix(pairs.matrix(single, False))
        if references is not None:
            raise ValueError(
                "triangle=True is for hypotheses against each other; leave references out"
            )
        return Triangle(self._pairs(hypotheses, None, workers).matrix(single, True))

    def top_k(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.Hypotheses,
        k: int,
        *,
        workers: int = 1,
    ) -> list[list[tuple[int, float]]]:
        """For each hypothesis the k references with the best scores: pairs of index and score.

        The best comes first; of equal scores the reference that comes first. Fewer than k
        references give as many as there are. Memory grows with n · k and the texts, not with n · m.
        Arguments and errors as for `matrix`.

        >>> from truebleu import CHRF
        >>> CHRF().top_k(["the cat"], ["a dog", "the cat sat", "the cats"], 2)
        [[(2, 77.57...), (1, 55.77...)]]
        """
        if isinstance(k, bool) or not hasattr(k, "__index__") or k.__index__() < 1:
            raise ValueError(f"k={k!r}: how many references is meant, 1 or more")
        pairs = self._pairs(hypotheses, references, workers)
        return pairs.top_k(min(k.__index__(), pairs.shape[1]), self.LOWER_IS_BETTER)

    def expected(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.Hypotheses | None = None,
        *,
        weights: Sequence[float] | None = None,
        workers: int = 1,
    ) -> Scores:
        """The mean score of each hypothesis against all references: n numbers.

        Without references, against all hypotheses, itself among them: what minimum Bayes risk
        decoding chooses by.

        weights: a number for each reference, none negative; their sum is made 1.
        workers: threads. The scores are added from left to right, so they are the same for any
            number: sum(w * s) / sum(w), or sum(s) / m.

        Memory grows with the texts, not with n · m. Other arguments and errors as for `matrix`.

        >>> from truebleu import BLEU
        >>> BLEU().expected(["a b c d", "a b c e", "f"])
        Scores(3 segments: [53.15, 53.15, 33.33])
        """
        from truebleu.matrix import checked_weights

        given = None if weights is None else checked_weights(weights)
        pairs = self._pairs(hypotheses, references, workers)
        count = pairs.shape[1]
        if given is None:
            return pairs.expected(None, float(count), COMPENSATED)
        if len(given) != count:
            raise InputError(f"weights: {len(given)} for {count} references; give one a reference")
        return pairs.expected(given, sum(given), COMPENSATED)

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
