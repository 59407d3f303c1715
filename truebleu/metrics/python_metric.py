"""Base classes of metrics whose rows and scores are computed in Python.

A `SegmentMeanMetric` averages numbers that a library or program computes for each segment. Its
statistics contain these numbers as integers that add up exactly, so documents, groups, engines and
resampling work as for other metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from math import floor, isfinite, ldexp
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics.base import (
    Corpus,
    CountedRows,
    Metric,
    MetricFailedError,
    MetricMissingError,
    accept_ids,
)
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import DetailedScore, Signature, Statistics, TableScore
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.terminal_layout import format_count

# The hypothesis and the references of each segment.
SegmentTexts = Sequence[tuple[str, list[str]]]
# One number per segment, or one per name in `NUMBER_NAMES`.
SegmentNumbers = Sequence[float] | Sequence[Sequence[float]]
T = TypeVar("T")

if TYPE_CHECKING:
    import subprocess

    from truebleu._kernel import Summary

# A number is stored in units of 2^-20, 2^-50 and 2^-80, which preserves all bits of numbers of at
# least 2^-28. Sums of 2^30 segments fit into 64 bits.
HIGH_BITS, STEP_BITS = 20, 30
FIXED_POINT_SCALE, STEP_SCALE = 1 << (HIGH_BITS + 2 * STEP_BITS), float(1 << STEP_BITS)
NUMBER_LIMIT = 1 << 13


# The summary of a text that the kernel does not read.
_NO_SCRIPTS = {"segments": 0, "characters": 0, "words": 0, "accented": 0, "scripts": {}}
EMPTY_SUMMARY: Any = {
    **{name: [] for name in ("marked", "empty", "decomposed", "tabs", "han")},
    "tokenized": (0, []),
    "identical": 0,
    "characters": (0, 0),
    "scripts": {},
    "reference_text": _NO_SCRIPTS,
}


class PythonScore(DetailedScore, TableScore):
    """Score that is computed in Python, with its components."""

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
        """Store a score. `value` (on the original program's scale) is ignored without `details`."""
        if details is None:
            value, details = metric._apply_formula(row, segment=segment)  # noqa: SLF001
        super().__init__(metric, row, references, segment, value)
        self._details = details

    @property
    def published(self) -> float:
        """The score on the original program's scale, identical to its score where possible."""
        return self._value

    @property
    def value(self) -> float:
        """The printed score: 0-100 for most metrics, unscaled for NIST."""
        return self._metric.SCALE * self._value  # type: ignore[no-any-return]

    @property
    def fraction(self) -> float:
        """The score as defined in papers: percentages as fractions."""
        is_percentage = self._metric.SCALE == 1.0 and self._metric.is_percentage
        return self._value / 100 if is_percentage else self._value


class PythonMetric(Metric[PythonScore]):
    """Metric with a row of integers per segment (`_count_rows`) and a formula (`_apply_formula`).

    The formula returns the score on the original program's scale, and its components. Printed
    scores are multiplied by `SCALE`.
    """

    __slots__ = ()

    FIELDS: ClassVar[tuple[str, ...]] = ("case", "tok")
    SCALE: ClassVar[float] = 100.0
    SCORE: ClassVar[type[PythonScore]] = PythonScore
    _has_kernel_formula = False
    reads_text = False

    @property
    def is_percentage(self) -> bool:
        """True if the formula's scores are multiplied by 100."""
        return self.SCALE == 100.0

    def _scan_text(self, _: Corpus) -> None:
        return None

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> PythonScore:
        """Return the score of one segment."""
        return self._score_sentence(hypothesis, references)

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        raise NotImplementedError

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:
        """Return the score of a row, which belongs to a segment or a corpus, and its components."""
        raise NotImplementedError

    def _tokenize_segments(
        self, hypotheses: corpus_inputs.Hypotheses, references: corpus_inputs.References
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        return corpus_inputs.tokenize_segments(hypotheses, references, **self._tokenizer_settings)

    def _count_bleu_rows(self, corpus: Corpus, **parameters: Any) -> CountedRows:
        """Return BLEU's rows for this metric's tokenizer and the given BLEU parameters."""
        metric = BLEU(**self._tokenizer_settings, **parameters)
        statistics, summary = metric.count(
            corpus.hypotheses, corpus.references, workers=corpus.workers
        )
        return statistics.tolist(), summary["references"] or (1, 1)

    def _count_text(self, corpus: Corpus) -> tuple[Table, Summary]:
        rows, counts = self._count_rows(corpus)
        reference_range = min(counts, default=1), max(counts, default=1)
        table = Table.from_rows(rows, len(self.columns))
        summary = EMPTY_SUMMARY | {"segments": len(rows), "references": reference_range}
        return table.total() if corpus.totals else table, summary

    def _apply_formula_to_rows(
        self, table: Table, *, segment: bool
    ) -> Iterator[tuple[float, dict[str, Any]]]:
        for number, row in enumerate(table.tolist(), 1):
            try:
                yield self._apply_formula(row, segment=segment)
            except InputError as error:
                raise InputError(f"segment {number}: {error}" if segment else str(error)) from None

    def _compute_scores(self, table: Table, *, segment: bool) -> Scores:
        return Scores(
            [self.SCALE * value for value, _ in self._apply_formula_to_rows(table, segment=segment)]
        )


class SourceMetric(PythonMetric):
    """Metric that may read a source for each segment. All its methods accept sources."""

    __slots__ = ()

    NEEDS_SOURCE = True

    def _count_sources(self, corpus: Corpus, count: Callable[[Any, Any], T]) -> T:
        """Return `count(hypotheses, sources)`, whose errors name references instead of sources."""
        self._require_sources(corpus)
        sources = corpus_inputs.recognize_sources(corpus.sources)
        try:
            return count(corpus.hypotheses, sources)
        except (InputError, TypeError) as error:
            raise type(error)(str(error).replace("references", "sources", 1)) from None

    @accept_ids
    @argument_checks.explain_keywords
    def score(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
        check_text: bool = True,
    ) -> PythonScore:
        """Return the score of a corpus. Takes the arguments of `BLEU.score`, and the sources."""
        if check_text:
            return self._score_with_warnings(hypotheses, references, workers, sources)
        return self._score_corpus(
            self.make_corpus(hypotheses, references, workers, sources, totals=True)
        )

    @accept_ids
    @argument_checks.explain_keywords
    def statistics(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Statistics:
        """Return the sufficient statistics per segment. See `score` for the arguments."""
        return self.count_corpus(Corpus(hypotheses, references, workers, sources))[0]

    @accept_ids
    @argument_checks.explain_keywords
    def segments(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        sources: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Scores:
        """Return the score of each segment, 0-100. See `score` for the arguments."""
        return self._score_segments(self.make_corpus(hypotheses, references, workers, sources))

    def sentence(
        self, hypothesis: str, references: str | Sequence[str | None], source: str | None = None
    ) -> PythonScore:
        """Return the score of one segment."""
        return self._score_sentence(hypothesis, references, None if source is None else (source,))


class SegmentMeanScore(PythonScore):
    """Mean of segment scores. Its details are means of other numbers, such as precision."""

    __slots__ = ()

    def format(
        self, width: int | None = None, *, score_only: bool = False, signature: bool | str = False
    ) -> str:
        """Return the score on one line, with more decimals for scores from 0 to 1."""
        width = max(2, self._metric.DIGITS) if width is None else width
        return super().format(width, score_only=score_only, signature=signature)


class SegmentMeanMetric(SourceMetric):
    """Metric whose corpus score is the mean of one number per segment (`_compute_numbers`).

    Its methods accept `sources`, for metrics that read them (`NEEDS_SOURCE`).
    """

    __slots__ = ()

    NEEDS_SOURCE = False
    TAKES_TOKENS = False
    FALLIBLE = True
    SCORE = SegmentMeanScore
    # Names of the numbers per segment: the score, then its details.
    NUMBER_NAMES: ClassVar[tuple[str, ...]] = ("score",)
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {"agg": ("mean", "agg")}
    # Columns of additional integers per segment (`_count_extra_columns`).
    EXTRA_COLUMNS: ClassVar[tuple[str, ...]] = ()
    # Number of references per segment: "several", "one", or "none" if they are not read.
    REFERENCES: ClassVar[str] = "several"
    # True if scores of the same text are always identical.
    DETERMINISTIC: ClassVar[bool] = True
    # True if numbers that are slow to compute are cached (see `score_cache`).
    IS_CACHED: ClassVar[bool] = False
    is_mean = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names: the number of segments and three parts of each number."""
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
        """The names of numbers that accompany the score, such as precision and recall."""
        return self.NUMBER_NAMES[1:]

    def compute_segment_details(self, table: Table) -> list[Scores]:
        """Return the details of each segment of a table, one sequence per name."""
        rows = table.tolist()
        details = [self._apply_formula(row, segment=True)[1] for row in rows]
        return [Scores([one[name] for one in details]) for name in self.segment_detail_names]

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> SegmentNumbers:
        """Return the numbers for each segment, on the original program's scale."""
        raise NotImplementedError

    def _find_versions(self) -> tuple[str, str]:
        """Return the version that defines the scores and the program that computes them."""
        return "", ""

    def _describe_environment(self) -> str:
        """Return other data that determines the numbers, such as files, for the cache key."""
        return ""

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """Return a complete description of the computation and its program."""
        signature = super().signature(references, segment=segment)
        release, program = self._find_versions()
        version_field = {"version": release} if release else {}
        return signature.with_last_fields(version_field | {"by": program or signature["by"]})

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        texts = list(corpus_inputs.read_segments(corpus.hypotheses, corpus.references))
        reference_counts = [len(others) for _, others in texts]
        most = max(reference_counts, default=1)
        if self.REFERENCES == "one" and most > 1:
            raise MetricFailedError(
                f"references: {self.name} accepts one reference per segment, but segment "
                f"{1 + reference_counts.index(most)} has {most}"
            )
        width = len(self.NUMBER_NAMES)
        flat_numbers: Sequence[float]
        if self.IS_CACHED:
            from truebleu.metrics import score_cache

            flat_numbers = score_cache.load_or_compute_numbers(
                self._list_cache_key_parts(corpus, texts),
                len(texts),
                width,
                lambda: self._compute_checked_numbers(corpus, texts),
            )
        else:
            flat_numbers = self._compute_checked_numbers(corpus, texts)
        segment_numbers = (flat_numbers[i : i + width] for i in range(0, len(flat_numbers), width))
        extra_integers = self._count_extra_columns(texts)
        rows = []
        for numbers, extra in zip(segment_numbers, extra_integers, strict=False):
            row = [1]
            for number in numbers:
                # Each number becomes three integers. Only the last one is rounded.
                scaled = ldexp(number, HIGH_BITS)
                high = floor(scaled)
                rest = (scaled - high) * STEP_SCALE
                middle = floor(rest)
                row += (high, middle, round((rest - middle) * STEP_SCALE))
            rows.append([*row, *extra])
        return rows, reference_counts

    def _count_extra_columns(self, texts: SegmentTexts) -> Iterable[Sequence[int]]:  # noqa: ARG002
        """Yield each segment's integers for the columns `EXTRA_COLUMNS`."""
        return repeat(())

    def _list_cache_key_parts(self, corpus: Corpus, texts: SegmentTexts) -> Iterator[str]:
        """Yield all data that determines the numbers, for the cache key."""
        yield f"{self.name}|{self.signature(segment=None)}"
        yield self._describe_environment()
        for text, references in texts:
            yield text
            yield str(len(references))
            yield from references
        if self.NEEDS_SOURCE:
            yield from corpus_inputs.read_text_list("sources", corpus.sources)

    def _compute_checked_numbers(self, corpus: Corpus, texts: SegmentTexts) -> Sequence[float]:
        """Compute and check the numbers of all segments, and return them as one sequence."""
        numbers = self._compute_numbers(corpus, texts) if texts else ()
        if len(numbers) != len(texts):
            missing = f"; segment {len(numbers) + 1} has none" if len(numbers) < len(texts) else ""
            raise MetricFailedError(
                f"{self.name}: {format_count(len(numbers), 'number')} for "
                f"{format_count(len(texts), 'segment')}{missing}"
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
        segments, values = row[0], []
        for i in range(1, 1 + 3 * len(self.NUMBER_NAMES), 3):
            high, middle, low = row[i : i + 3]
            # The sum is exact, and the mean is rounded once.
            total = (high << 2 * STEP_BITS) + (middle << STEP_BITS) + low
            values.append(total / (segments * FIXED_POINT_SCALE) if segments else 0.0)
        other_numbers = zip(self.NUMBER_NAMES[1:], values[1:], strict=True)
        details = {name: self.SCALE * value for name, value in other_numbers}
        return values[0], {"segments": segments, **details}


def find_installed_version(package: str) -> str:
    """Return the version of a package, or an empty string if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def format_package_version(package: str) -> str:
    """Return a package and its version for signatures, or an empty string if it is missing."""
    version = find_installed_version(package)
    return f"{package}-{version}" if version else ""


def make_missing_package_error(name: str, installation: str) -> MetricMissingError:
    """Return the error for a missing package, with the command or steps that install it."""
    return MetricMissingError(f"the metric {name} is not installed: {installation}")


def start_program(name: str, command: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a metric's program, or raise MetricFailedError.

    A new session does not receive Ctrl-C; Python handles it and ends the program.
    """
    import subprocess

    try:
        return subprocess.Popen(command, start_new_session=True, **streams)
    except OSError as error:
        reason = error.strerror or error
        raise MetricFailedError(f"{name}: cannot run {command[0]}: {reason}") from None


def describe_exit(status: int) -> str:
    """Return the exit status of a program, or the signal that ended it."""
    return f"status {status}" if status >= 0 else f"signal {-status}"
