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
from truebleu.metrics.base import Corpus, CountedRows, Metric, MetricFailedError, MetricMissingError
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import Signature, TableScore
from truebleu.metrics.statistics import Statistics
from truebleu.text import corpus_inputs
from truebleu.text.terminal_layout import format_count

# The text of each segment, and the texts of its references.
SegmentTexts = Sequence[tuple[str, list[str]]]
# What is said of each segment: a number, or as many as `NUMBERS` names.
SegmentNumbers = Sequence[float] | Sequence[Sequence[float]]

if TYPE_CHECKING:
    from truebleu._kernel import ScriptSummary, Summary

# A number is kept in parts of 2^-20, 2^-50 and 2^-80: all bits of numbers from 2^-28 on, and sums
# of 2^30 segments fit into 64 bits.
HIGH_BITS, STEP_BITS = 20, 30
FIXED_POINT_SCALE, STEP_SCALE = 1 << (HIGH_BITS + 2 * STEP_BITS), float(1 << STEP_BITS)
NUMBER_LIMIT = 1 << 13


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
            value, details = metric._apply_formula(row, segment=segment)  # noqa: SLF001
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
    _has_kernel_formula = False

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
        return self._score_sentence(hypothesis, references)

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        raise NotImplementedError

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:
        """The score of a row, of a segment or of a corpus, and its components."""
        raise NotImplementedError

    def _tokenize_segments(
        self, hypotheses: corpus_inputs.Hypotheses, references: corpus_inputs.References
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """The tokens of each segment and of its references."""
        return corpus_inputs.tokenize_segments(hypotheses, references, **self._tokenizer_settings)

    def _count_bleu_rows(self, corpus: Corpus, **parameters: Any) -> CountedRows:
        """The rows that a BLEU with this metric's tokens, and these parameters, counts."""
        metric = BLEU(**self._tokenizer_settings, **parameters)
        statistics, summary = metric.count(
            corpus.hypotheses, corpus.references, workers=corpus.workers
        )
        return statistics.tolist(), summary["references"] or (1, 1)

    def _count(self, corpus: Corpus) -> tuple[Table, Summary]:
        rows, reference_range = self._count_rows(corpus)
        table = Table.from_rows(rows, len(self.columns))
        return table.total() if corpus.totals else table, {
            "segments": len(rows),
            "references": reference_range,
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

    def reference_text(self, corpus: Corpus, summary: Summary) -> ScriptSummary:  # noqa: ARG002
        """Return what the kernel notices in the references, which this metric reads in Python."""
        return BLEU("none").count(corpus.hypotheses, corpus.references)[1]["reference_text"]

    def _apply_formula_to_rows(
        self, table: Table, *, segment: bool
    ) -> Iterator[tuple[float, dict[str, Any]]]:
        for number, row in enumerate(table.tolist(), 1):
            try:
                yield self._apply_formula(row, segment=segment)
            except InputError as error:
                raise InputError(f"segment {number}: {error}" if segment else str(error)) from None

    def _scores(self, table: Table, *, segment: bool) -> Scores:
        return Scores(
            [self.SCALE * value for value, _ in self._apply_formula_to_rows(table, segment=segment)]
        )


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
        return self._score(self._make_corpus(hypotheses, references, workers, sources, totals=True))

    def statistics(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Statistics:
        """The table of what was counted, a row per segment. Arguments as for `score`."""
        return self.count_corpus(Corpus(hypotheses, references, workers, sources))[0]

    def segments(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Scores:
        """The score of each segment, 0-100. Arguments as for `score`."""
        return self._segments(self._make_corpus(hypotheses, references, workers, sources))

    def sentence(
        self, hypothesis: str, references: str | Sequence[str | None], source: str | None = None
    ) -> PythonScore:
        """The score of one segment."""
        return self._score_sentence(hypothesis, references, None if source is None else (source,))


def count_ngrams(tokens: Sequence[Any], order: int) -> Counter[tuple[Any, ...]]:
    """The counts of the n-grams of this order, in the order of their first appearance."""
    return Counter(zip(*(tokens[i:] for i in range(order)), strict=False))


class SegmentMeanScore(PythonScore):
    """The mean of numbers, and of those beside them."""

    __slots__ = ()

    def format(
        self, width: int | None = None, *, score_only: bool = False, signature: bool | str = False
    ) -> str:
        """One line; numbers near 1 have more digits than those of up to 100."""
        width = max(2, self._metric.DIGITS) if width is None else width
        return super().format(width, score_only=score_only, signature=signature)


class SegmentMeanMetric(SourceMetric):
    """A metric whose score is the mean of the numbers that are said of each segment (`_numbers`).

    Verbs take `sources` for those that read them (`NEEDS_SOURCE`).
    """

    __slots__ = ()

    NEEDS_SOURCE = False
    TAKES_TOKENS = False
    FALLIBLE = True
    SCORE = SegmentMeanScore
    # What is said of a segment; the first is the score, the others are its details.
    NUMBER_NAMES: ClassVar[tuple[str, ...]] = ("score",)
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {"agg": ("mean", "agg")}
    # Columns of further integers of each segment (`_further_integers`).
    EXTRA_COLUMNS: ClassVar[tuple[str, ...]] = ()
    # "several", "one" or "none": the references that a segment can have, or that are read at all.
    REFERENCES: ClassVar[str] = "several"
    # False if the same text may get another number the next time.
    DETERMINISTIC: ClassVar[bool] = True
    # True if numbers may be dear: those that took long are kept (see `kept_columns`).
    IS_CACHED: ClassVar[bool] = False

    @property
    def is_mean(self) -> bool:
        """True: a test of the mean is one of the segments' numbers."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: the number of segments, and each number in three parts."""
        parts = (
            f"{name}_{part}" for name in self.NUMBER_NAMES for part in ("high", "middle", "low")
        )
        return ("segments", *parts, *self.EXTRA_COLUMNS)

    @property
    def _signed_columns(self) -> tuple[str, ...]:
        return tuple(f"{name}_high" for name in self.NUMBER_NAMES)

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        limits = {
            "high": NUMBER_LIMIT << HIGH_BITS,
            "middle": 1 << STEP_BITS,
            "low": 1 << STEP_BITS,
        }
        return tuple(
            (f"{name}_{part}", limit, "segments")
            for name in self.NUMBER_NAMES
            for part, limit in limits.items()
        )

    @property
    def segment_detail_names(self) -> tuple[str, ...]:
        """The names of the numbers beside the score, as precision and recall."""
        return self.NUMBER_NAMES[1:]

    def compute_segment_details(self, table: Table) -> list[Scores]:
        """These numbers, of a table."""
        rows = table.tolist()
        starts = range(4, 1 + 3 * len(self.NUMBER_NAMES), 3)
        return [
            Scores([self.SCALE * _mean_from_parts(row[i : i + 3], row[0]) for row in rows])
            for i in starts
        ]

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> SegmentNumbers:
        """What is said of each segment, in the original's scale."""
        raise NotImplementedError

    def _find_versions(self) -> tuple[str, str]:
        """The version that defines the numbers, and the program that gives them."""
        return "", ""

    def _describe_environment(self) -> str:
        """What else decides the numbers, beside parameters and programs: kept ones depend on it."""
        return ""

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """A complete description of the computation, and the program that it was made with."""
        signature = super().signature(references, segment=segment)
        release, program = self._find_versions()
        version_field = {"version": release} if release else {}
        return signature.with_last_fields(version_field | {"by": program or signature["by"]})

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        texts = list(corpus_inputs.read_segments(corpus.hypotheses, corpus.references))
        reference_counts = [len(others) for _, others in texts]
        reference_range = (
            (min(reference_counts), max(reference_counts)) if reference_counts else (1, 1)
        )
        if self.REFERENCES == "one" and reference_range[1] > 1:
            raise MetricFailedError(
                f"references: {self.name} takes one of each segment, and segment "
                f"{1 + reference_counts.index(reference_range[1])} has {reference_range[1]}"
            )
        flat_numbers = self._load_or_compute_numbers(corpus, texts)
        width = len(self.NUMBER_NAMES)
        segment_numbers = (flat_numbers[i : i + width] for i in range(0, len(flat_numbers), width))
        extra_integers = self._count_extra_columns(texts)
        return [
            [1, *chain.from_iterable(map(_split_number, row)), *extra]
            for row, extra in zip(segment_numbers, extra_integers, strict=False)
        ], reference_range

    def _count_extra_columns(self, texts: SegmentTexts) -> Iterable[Sequence[int]]:  # noqa: ARG002
        """Yield the integers of each segment in the columns `FURTHER`."""
        return repeat(())

    def _load_or_compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> Sequence[float]:
        """The numbers of all segments, one after the other; dear ones may be known already."""
        if not self.IS_CACHED:
            return self._compute_checked_numbers(corpus, texts)
        from truebleu.metrics import score_cache

        parts, width = self._list_cache_key_parts(corpus, texts), len(self.NUMBER_NAMES)
        return score_cache.load_or_compute(
            parts, len(texts), width, lambda: self._compute_checked_numbers(corpus, texts)
        )

    def _list_cache_key_parts(self, corpus: Corpus, texts: SegmentTexts) -> Iterator[str]:
        """What decides the numbers."""
        yield f"{self.name}|{self.signature(segment=None)}"
        yield self._describe_environment()
        for text, references in texts:
            yield text
            yield str(len(references))
            yield from references
        if self.NEEDS_SOURCE:
            yield from corpus_inputs.read_text_list("sources", corpus.sources)

    def _compute_checked_numbers(self, corpus: Corpus, texts: SegmentTexts) -> Sequence[float]:
        """The numbers of all segments, one after the other, checked."""
        numbers = self._compute_numbers(corpus, texts) if texts else ()
        if len(numbers) != len(texts):
            missing = f"; none for segment {len(numbers) + 1}" if len(numbers) < len(texts) else ""
            raise MetricFailedError(
                f"{self.name}: {format_count(len(numbers), 'number')} for "
                f"{format_count(len(texts), 'segment')}"
                f"{missing}"
            )
        rows: Any = numbers if len(self.NUMBER_NAMES) > 1 else ((number,) for number in numbers)
        flat = []
        for segment, row in enumerate(rows, 1):
            for number in row:
                if not isfinite(number) or abs(number) >= NUMBER_LIMIT:
                    raise MetricFailedError(
                        f"{self.name}: segment {segment} is {number!r}; expected a finite number "
                        f"below {NUMBER_LIMIT:,}"
                    )
                flat.append(float(number))
        return flat

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        segments = row[0]
        starts = range(1, 1 + 3 * len(self.NUMBER_NAMES), 3)
        values = [_mean_from_parts(row[i : i + 3], segments) for i in starts]
        other_numbers = zip(self.NUMBER_NAMES[1:], values[1:], strict=True)
        details = {name: self.SCALE * value for name, value in other_numbers}
        return values[0], {"segments": segments, **details}


def _split_number(number: float) -> tuple[int, int, int]:
    """A number as whole parts; all but the last are exact."""
    scaled = ldexp(number, HIGH_BITS)
    high = floor(scaled)
    rest = (scaled - high) * STEP_SCALE
    middle = floor(rest)
    return high, middle, round((rest - middle) * STEP_SCALE)


def _mean_from_parts(parts: Sequence[int], segments: int) -> float:
    """The mean of as many numbers, of the sums of their parts, rounded once."""
    high, middle, low = parts
    total = (high << 2 * STEP_BITS) + (middle << STEP_BITS) + low
    return total / (segments * FIXED_POINT_SCALE) if segments else 0.0


def find_installed_version(package: str) -> str:
    """The version of an installed package; nothing if it is not there."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def format_package_version(package: str) -> str:
    """A package and its version, as signatures have it."""
    version = find_installed_version(package)
    return f"{package}-{version}" if version else ""


def missing_package_error(name: str, installation: str) -> MetricMissingError:
    """The error for a metric whose package is not there; `what` installs it."""
    return MetricMissingError(f"the metric {name} is not installed: {installation}")
