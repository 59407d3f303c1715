"""Metrics whose rows are counted in Python, or by an inner metric, and whose formula is Python.

A `ColumnMetric` says a number of each segment, whose mean is the score: a library, or a program.
The numbers stand in the table as integers that add up exactly, so documents, groups, engines and
resampling are those of any other metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from math import floor, isfinite, ldexp
from typing import TYPE_CHECKING, Any, ClassVar

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics.base import Corpus, Metric, MetricFailedError, MetricMissingError, Rows
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import Signature, TableScore
from truebleu.metrics.statistics import Statistics
from truebleu.text import corpus_inputs
from truebleu.text.terminal_layout import format_count

# The text of each segment, and the texts of its references.
Texts = Sequence[tuple[str, list[str]]]
# What is said of each segment: a number, or as many as `NUMBERS` names.
Numbers = Sequence[float] | Sequence[Sequence[float]]

if TYPE_CHECKING:
    from truebleu._kernel import ScriptSummary, Summary

# A number is kept in parts of 2^-20, 2^-50 and 2^-80: all bits of numbers from 2^-28 on, and sums
# of 2^30 segments fit into 64 bits.
HIGH, STEP = 20, 30
WHOLE, STEPS = 1 << (HIGH + 2 * STEP), float(1 << STEP)
LARGEST = 1 << 13


class PythonScore(TableScore):
    """The score of such a metric, and its components."""

    __slots__ = ("_details",)

    def __init__(
        self,
        metric: PythonMetric,
        row: Sequence[int],
        references: int | str | None,
        segment: bool = False,
        value: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        """value: in the scale of the original program; it counts with the details alone."""
        if details is None:
            value, details = metric._formula(row, segment=segment)  # noqa: SLF001
        super().__init__(metric, row, references, segment, value)
        self._details = details

    @property
    def published(self) -> float:
        """The score as the original program gives it, to the last bit where that can be."""
        return self._value

    @property
    def value(self) -> float:
        """The score as it is printed: 0-100 for most, NIST as it is."""
        return self._metric.SCALE * self._value  # type: ignore[no-any-return]

    @property
    def fraction(self) -> float:
        """The score as papers define it, which is what the original program gives."""
        return self._value

    def details(self) -> dict[str, Any]:
        """The components of the score."""
        return dict(self._details)


class PythonMetric(Metric[PythonScore]):
    """A metric with a row of integers per segment (`_rows`), and a formula of sums (`_formula`).

    The formula gives the score as the original program does, and its components; `SCALE` times
    that number is printed.
    """

    __slots__ = ()

    FIELDS: ClassVar[tuple[str, ...]] = ("case", "tok")
    SCALE: ClassVar[float] = 100.0
    SCORE: ClassVar[type[PythonScore]] = PythonScore
    _plain = False

    def _prepare(self) -> None:
        """Prepare nothing: no kernel counts this."""

    @property
    def reads_text(self) -> bool:
        """False: the text is read in Python."""
        return False

    def _scan(self, _: Corpus) -> None:
        return None

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> PythonScore:
        """The score of one segment."""
        return self._sentence_of(hypothesis, references)

    def _rows(self, corpus: Corpus) -> Rows:
        raise NotImplementedError

    def _formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:
        """The score of a row, of a segment or of a corpus, and its components."""
        raise NotImplementedError

    def _tokens(
        self, hypotheses: corpus_inputs.Hypotheses, references: corpus_inputs.References
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """The tokens of each segment and of its references."""
        return corpus_inputs.tokenize_segments(hypotheses, references, **self._splitting)

    def _counted(self, corpus: Corpus, **parameters: Any) -> Rows:
        """The rows that a BLEU with this metric's tokens, and these parameters, counts."""
        metric = BLEU(**self._splitting, **parameters)
        statistics, seen = metric.count(
            corpus.hypotheses, corpus.references, workers=corpus.workers
        )
        return statistics.tolist(), seen["references"] or (1, 1)

    def _count(self, corpus: Corpus) -> tuple[Table, Summary]:
        rows, numbers = self._rows(corpus)
        table = Table.from_rows(rows, len(self.columns))
        return table.total() if corpus.totals else table, {
            "segments": len(rows),
            "references": numbers,
            "tokenized": (0, []),
            "identical": 0,
            "marked": [],
            "empty": [],
            "decomposed": [],
            "tabs": [],
            "characters": (0, 0),
            "scripts": {},
            "han": [],
            "reference_text": {
                "segments": 0,
                "characters": 0,
                "words": 0,
                "accented": 0,
                "scripts": {},
            },
        }

    def reference_text(self, corpus: Corpus, seen: Summary) -> ScriptSummary:  # noqa: ARG002
        """Return what the kernel notices in the references, which this metric reads in Python."""
        return BLEU("none").count(corpus.hypotheses, corpus.references)[1]["reference_text"]

    def _formulas(self, table: Table, *, segment: bool) -> Iterator[tuple[float, dict[str, Any]]]:
        for number, row in enumerate(table.tolist(), 1):
            try:
                yield self._formula(row, segment=segment)
            except InputError as error:
                raise InputError(f"segment {number}: {error}" if segment else str(error)) from None

    def _scores(self, table: Table, *, segment: bool) -> Scores:
        return Scores([self.SCALE * value for value, _ in self._formulas(table, segment=segment)])


class SourceMetric(PythonMetric):
    """A metric that may read a source beside each segment: every verb takes it."""

    __slots__ = ()

    NEEDS_SOURCE = True

    def score(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> PythonScore:
        """The score of a corpus. Arguments as for `BLEU.score`, and a source for each segment."""
        return self._score(self._corpus(hypotheses, references, workers, sources, totals=True))

    def statistics(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Statistics:
        """The table of what was counted, a row per segment. Arguments as for `score`."""
        return self.counted(Corpus(hypotheses, references, workers, sources))[0]

    def segments(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Scores:
        """The score of each segment, 0-100. Arguments as for `score`."""
        return self._segments(self._corpus(hypotheses, references, workers, sources))

    def sentence(
        self, hypothesis: str, references: str | Sequence[str | None], source: str | None = None
    ) -> PythonScore:
        """The score of one segment."""
        return self._sentence_of(hypothesis, references, None if source is None else (source,))


def ngrams(tokens: Sequence[Any], order: int) -> Counter[tuple[Any, ...]]:
    """The counts of the n-grams of this order, in the order of their first appearance."""
    return Counter(zip(*(tokens[i:] for i in range(order)), strict=False))


class ColumnScore(PythonScore):
    """The mean of numbers, and of those beside them."""

    __slots__ = ()

    def format(
        self, width: int | None = None, *, score_only: bool = False, signature: bool | str = False
    ) -> str:
        """One line; numbers near 1 have more digits than those of up to 100."""
        width = max(2, self._metric.DIGITS) if width is None else width
        return super().format(width, score_only=score_only, signature=signature)


class ColumnMetric(SourceMetric):
    """A metric whose score is the mean of the numbers that are said of each segment (`_numbers`).

    Verbs take `sources` for those that read them (`NEEDS_SOURCE`).
    """

    __slots__ = ()

    NEEDS_SOURCE = False
    TAKES_TOKENS = False
    FALLIBLE = True
    SCORE = ColumnScore
    # What is said of a segment; the first is the score, the others are its details.
    NUMBERS: ClassVar[tuple[str, ...]] = ("score",)
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {"agg": ("mean", "agg")}
    # Columns of further integers of each segment (`_further_integers`).
    FURTHER: ClassVar[tuple[str, ...]] = ()
    # "several", "one" or "none": the references that a segment can have, or that are read at all.
    REFERENCES: ClassVar[str] = "several"
    # False if the same text may get another number the next time.
    DETERMINISTIC: ClassVar[bool] = True
    # True if numbers may be dear: those that took long are kept (see `kept_columns`).
    KEPT: ClassVar[bool] = False

    @property
    def is_mean(self) -> bool:
        """True: a test of the mean is one of the segments' numbers."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: the number of segments, and each number in three parts."""
        parts = (f"{name}_{part}" for name in self.NUMBERS for part in ("high", "middle", "low"))
        return ("segments", *parts, *self.FURTHER)

    @property
    def _signed(self) -> tuple[str, ...]:
        return tuple(f"{name}_high" for name in self.NUMBERS)

    @property
    def _limits(self) -> tuple[tuple[str, int, str], ...]:
        parts = {"high": LARGEST << HIGH, "middle": 1 << STEP, "low": 1 << STEP}
        return tuple(
            (f"{name}_{part}", most, "segments")
            for name in self.NUMBERS
            for part, most in parts.items()
        )

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of the numbers beside the score, as precision and recall."""
        return self.NUMBERS[1:]

    def beside_of(self, table: Table) -> list[Scores]:
        """These numbers, of a table."""
        rows = table.tolist()
        starts = range(4, 1 + 3 * len(self.NUMBERS), 3)
        return [
            Scores([self.SCALE * _mean(row[i : i + 3], row[0]) for row in rows]) for i in starts
        ]

    def _numbers(self, corpus: Corpus, texts: Texts) -> Numbers:
        """What is said of each segment, in the original's scale."""
        raise NotImplementedError

    def _programs(self) -> tuple[str, str]:
        """The version that defines the numbers, and the program that gives them."""
        return "", ""

    def _identity(self) -> str:
        """What else decides the numbers, beside parameters and programs: kept ones depend on it."""
        return ""

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """A complete description of the computation, and the program that it was made with."""
        made = super().signature(references, segment=segment)
        release, program = self._programs()
        more = {"version": release} if release else {}
        return made.ending(more | {"by": program or made["by"]})

    def _rows(self, corpus: Corpus) -> Rows:
        texts = list(corpus_inputs.read_segments(corpus.hypotheses, corpus.references))
        counts = [len(others) for _, others in texts]
        numbers = (min(counts), max(counts)) if counts else (1, 1)
        if self.REFERENCES == "one" and numbers[1] > 1:
            raise MetricFailedError(
                f"references: {self.name} takes one of each segment, and segment "
                f"{1 + counts.index(numbers[1])} has {numbers[1]}"
            )
        found = self._said(corpus, texts)
        width = len(self.NUMBERS)
        each = (found[i : i + width] for i in range(0, len(found), width))
        further = self._further_integers(texts)
        return [
            [1, *chain.from_iterable(map(_parts, row)), *more]
            for row, more in zip(each, further, strict=False)
        ], numbers

    def _further_integers(self, texts: Texts) -> Iterable[Sequence[int]]:  # noqa: ARG002
        """Yield the integers of each segment in the columns `FURTHER`."""
        return repeat(())

    def _said(self, corpus: Corpus, texts: Texts) -> Sequence[float]:
        """The numbers of all segments, one after the other; dear ones may be known already."""
        if not self.KEPT:
            return self._flat(corpus, texts)
        from truebleu.metrics import score_cache

        parts, width = self._parts(corpus, texts), len(self.NUMBERS)
        return score_cache.of(parts, len(texts), width, lambda: self._flat(corpus, texts))

    def _parts(self, corpus: Corpus, texts: Texts) -> Iterator[str]:
        """What decides the numbers."""
        yield f"{self.name}|{self.signature(segment=None)}"
        yield self._identity()
        for text, others in texts:
            yield text
            yield str(len(others))
            yield from others
        if self.NEEDS_SOURCE:
            yield from corpus_inputs.read_text_list("sources", corpus.sources)

    def _flat(self, corpus: Corpus, texts: Texts) -> Sequence[float]:
        """The numbers of all segments, one after the other, checked."""
        found = self._numbers(corpus, texts) if texts else ()
        if len(found) != len(texts):
            missing = f"; none for segment {len(found) + 1}" if len(found) < len(texts) else ""
            raise MetricFailedError(
                f"{self.name}: {format_count(len(found), 'number')} for "
                f"{format_count(len(texts), 'segment')}"
                f"{missing}"
            )
        rows: Any = found if len(self.NUMBERS) > 1 else ((number,) for number in found)
        flat = []
        for segment, row in enumerate(rows, 1):
            for number in row:
                if not isfinite(number) or abs(number) >= LARGEST:
                    raise MetricFailedError(
                        f"{self.name}: segment {segment} is {number!r}; expected a finite number "
                        f"below {LARGEST:,}"
                    )
                flat.append(float(number))
        return flat

    def _formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        segments = row[0]
        starts = range(1, 1 + 3 * len(self.NUMBERS), 3)
        values = [_mean(row[i : i + 3], segments) for i in starts]
        further = zip(self.NUMBERS[1:], values[1:], strict=True)
        details = {name: self.SCALE * value for name, value in further}
        return values[0], {"segments": segments, **details}


def _parts(number: float) -> tuple[int, int, int]:
    """A number as whole parts; all but the last are exact."""
    scaled = ldexp(number, HIGH)
    high = floor(scaled)
    rest = (scaled - high) * STEPS
    middle = floor(rest)
    return high, middle, round((rest - middle) * STEPS)


def _mean(parts: Sequence[int], segments: int) -> float:
    """The mean of as many numbers, of the sums of their parts, rounded once."""
    high, middle, low = parts
    total = (high << 2 * STEP) + (middle << STEP) + low
    return total / (segments * WHOLE) if segments else 0.0


def installed(package: str) -> str:
    """The version of an installed package; nothing if it is not there."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def named(package: str) -> str:
    """A package and its version, as signatures have it."""
    found = installed(package)
    return f"{package}-{found}" if found else ""


def lacking(name: str, what: str) -> MetricMissingError:
    """The error for a metric whose package is not there; `what` installs it."""
    return MetricMissingError(f"the metric {name} is not installed: {what}")
