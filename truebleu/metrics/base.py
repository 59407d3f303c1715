"""Base class of all metrics, which count integers per segment, sum them and apply a formula.

The kernel counts the integers and applies the formula, unless a subclass does so in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from sys import maxsize
from typing import TYPE_CHECKING, Any

from truebleu import _kernel
from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics import checked_scores
from truebleu.metrics import parameters as p
from truebleu.metrics.id_inputs import accept_ids, adapt_to_ids, takes_ids
from truebleu.metrics.pairwise_scores import PairwiseScoring
from truebleu.metrics.scores import CONTEXT_FIELDS, Score, Signature, Statistics, unpack_row
from truebleu.metrics.table_metric import S, TableMetric, as_input_error
from truebleu.text import argument_checks, corpus_inputs, tokenizers
from truebleu.text.token_ids import read_token_ids

__all__ = ["CONTEXT_FIELDS", "Metric", "MetricFailedError", "Score", "Signature"]

# Table with one row per segment, and the numbers of references: of each segment, or their range.
CountedRows = tuple[list[list[int]], Sequence[int]]

if TYPE_CHECKING:
    from truebleu._kernel import Scan, Summary

# Mean lengths are integers in units of 1/720,720 token: 720,720 is divisible by 1, 2, ..., 16.
PARTS_PER_TOKEN = 720720

_allocate = object.__new__


class MetricFailedError(InputError):
    """Raised if a metric cannot score a text, or if the metric's own program fails.

    Other metrics are not affected.
    """


class MetricMissingError(MetricFailedError, ImportError):
    """Raised for a metric whose package is not installed. The message says how to install it."""


@dataclass(slots=True)
class Corpus:
    """Text to score (hypotheses, references and possibly sources), with options for counting.

    workers: number of threads.
    progress: function called about 20 times per second with the number of segments counted so far.
    totals: whether to return only the sum of all rows.
    is_part: whether more text follows, so that `check_corpus` must wait for the sum of all parts.
    unicode_form: Unicode form to which the text was converted.
    data_fields: signature fields about the text (default: those of re-segmented hypotheses).
    """

    hypotheses: corpus_inputs.Hypotheses
    references: corpus_inputs.References
    workers: int = 1
    sources: corpus_inputs.Hypotheses | None = None
    progress: Callable[[int], None] | None = None
    _: KW_ONLY
    totals: bool = False
    is_part: bool = False
    unicode_form: str | None = None
    data_fields: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.data_fields is None:
            self.data_fields = getattr(self.hypotheses, "signature_fields", None)
        if type(self.workers) is not int or self.workers != 1:
            self.workers = argument_checks.check_workers(self.workers)

    def with_unicode_form(self, form: str | None) -> Corpus:
        """Return the corpus with its text in a Unicode form, or unchanged if the form is None."""
        if form == self.unicode_form:
            return self
        hypotheses, references, sources = (
            corpus_inputs.normalize_input(form, value)
            for value in (self.hypotheses, self.references, self.sources)
        )
        return replace(
            self, hypotheses=hypotheses, references=references, sources=sources, unicode_form=form
        )


class Metric(TableMetric[S], PairwiseScoring):
    """Metric with its parameters: frozen, hashable, and equal to metrics with equal parameters.

    A metric counts a row of integers per segment, sums the rows and computes a score of class `S`.
    A subclass declares its parameters, their order in signatures (`FIELDS`), its `columns` and the
    class of its scores (`SCORE`). `build_kernel_settings` returns the kernel's settings.
    """

    __slots__ = ("_kernel", "_reads_text", "_tokenizes_in_kernel")

    # True if the kernel also computes the formula.
    _has_kernel_formula = True
    # Largest number of references per segment that the metric accepts.
    _max_references = maxsize

    _: KW_ONLY
    unicode_form: p.Parameter[str | None] = p.declare_unicode_form()

    # ---- counting in the kernel ----

    @property
    def _tokenizer_settings(self) -> dict[str, Any]:
        """The tokenizer and lower-casing of metrics that accept tokens or custom tokenizers."""
        values = self._values
        if "tokenize" not in values:
            return {}
        return {"tokenize": values["tokenize"], "lowercase": values["lowercase"]}

    def build_kernel_settings(self) -> dict[str, Any] | None:
        """Return the kernel's metric settings: the metric's name in the kernel and its options.

        The result is None for metrics whose statistics are computed in Python.
        """
        return None

    def _prepare(self) -> None:
        """Create the kernel's counter after checking the parameters."""
        values = self._values
        # Text that Python tokenizes reaches the kernel as tokens.
        self._tokenizes_in_kernel = "lowercase" not in values or tokenizers.uses_kernel_tokenizer(
            values.get("tokenize", "none"), values["lowercase"]
        )
        self._reads_text = self._tokenizes_in_kernel and self.unicode_form is None
        self._kernel: _kernel.Metric = self.build_kernel_metric()

    def build_kernel_metric(self, **changes: Any) -> Any:
        """Return the kernel's metric, with some settings changed."""
        settings = self.build_kernel_settings()
        if settings is None:
            return None
        settings |= changes
        return getattr(_kernel.Metric, settings.pop("metric"))(**settings)

    def _build_lexer_settings(self) -> dict[str, str]:
        """Return the tokenizer and lower-casing settings of the kernel."""
        tokenizer = str(self._values["tokenize"]) if self._tokenizes_in_kernel else "none"
        lowercase = tokenizers.LOWERCASE_MODES[self._values["lowercase"]]
        return {"tokenizer": tokenizer, "lowercase": lowercase}

    @property
    def reads_text(self) -> bool:
        """True if the kernel reads the text, which lets several metrics share one pass."""
        return self._reads_text

    def _scan_text(self, corpus: Corpus) -> Scan | None:
        """Return the kernel's scan of the corpus, or None if Python reads the text."""
        return corpus_inputs.scan_corpus(
            self._kernel,
            corpus.hypotheses,
            corpus.references,
            workers=corpus.workers,
            **self._tokenizer_settings,
        )

    def _count_text(self, corpus: Corpus) -> tuple[Table, Summary]:
        """Return one row per segment, or their sum, and a summary of the text."""
        run: Any = self._scan_text(corpus)
        result: tuple[Table, Summary]
        result = run.totals(corpus.progress) if corpus.totals else run.table()
        return result

    def _compute_scores(self, table: Table, *, segment: bool) -> Scores:
        """Return the score (0-100) of each row, which holds the counts of a segment or corpus."""
        return self._kernel.scores(table, corpus=not segment)

    def _compute_score(self, row: Sequence[int], *, segment: bool) -> float:
        """Return the score of one row."""
        return self._compute_scores(Table.from_rows([row], len(row)), segment=segment)[0]

    # ---- one corpus ----

    def count(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        **options: Any,
    ) -> tuple[Statistics, Summary]:
        """Return the statistics of a corpus and a text summary. See `Corpus` for the options."""
        return self.count_corpus(Corpus(hypotheses, references, **options))

    def count_corpus(self, corpus: Corpus) -> tuple[Statistics, Summary]:
        """Return the statistics of a corpus, or their sum, and a summary of the text."""
        table, summary = self._count_and_check_corpus(corpus.with_unicode_form(self.unicode_form))
        return self.make_statistics(
            table, summarize_reference_count(summary["references"])
        ), summary

    def make_corpus(self, *arguments: Any, totals: bool = False, **options: Any) -> Corpus:
        """Return `Corpus(*arguments, **options)` in the metric's Unicode form.

        totals: count only totals if the metric computes scores from them.
        """
        totals = totals and self._is_sum_based
        corpus = Corpus(*arguments, totals=totals, **options)
        return corpus.with_unicode_form(self._values["unicode_form"])

    def _normalize_texts(self, *texts: Any) -> tuple[Any, ...]:
        """Convert texts of any supported type to the metric's Unicode form."""
        return tuple(corpus_inputs.normalize_input(self.unicode_form, text) for text in texts)

    def _count_and_check_corpus(self, corpus: Corpus) -> tuple[Table, Summary]:
        if self.NEEDS_SOURCE and corpus.sources is None:
            raise InputError(
                f"{self.name} needs the source of each segment. {self.NAMESAKE}".removesuffix(". ")
            )
        table, summary = self._count_text(corpus)
        self.check_summary(summary, corpus.hypotheses)
        if not corpus.is_part:
            self.check_corpus(table)
        return table, summary

    def check_corpus(self, table: Table) -> None:
        """Raise MetricFailedError if the metric cannot score a corpus with these statistics."""

    def check_summary(self, summary: Summary, hypotheses: object) -> None:
        """Raise InputError if this metric is not defined for text with this summary."""
        if not summary["segments"]:
            name = corpus_inputs.label_input("hypotheses", hypotheses)
            raise InputError(f"{name}: no segments (expected at least one)")

    @accept_ids
    @argument_checks.explain_keywords
    def score(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
        check_text: bool = True,
    ) -> S:
        """Return the score of a corpus.

        hypotheses: n strings (any sequence or an Arrow column), or a path or `File` with n lines.
        references: for each segment a string or a sequence of strings and None; or an Arrow
            column of strings or lists of strings; or a path or `File`; or a list of such columns
            or files, one per reference.
        workers: number of threads.
        check_text: issue `TextWarning` for suspicious text; False suits training loops.

        Memory use does not depend on the size of files. Raises InputError for unequal lengths,
        missing text and invalid UTF-8; the message names the input and the segment.
        """
        if check_text:
            return self._score_with_warnings(hypotheses, references, workers)
        return self._score_corpus(self.make_corpus(hypotheses, references, workers, totals=True))

    def _score_with_warnings(self, *inputs: Any) -> S:
        score: S = checked_scores.score_with_warnings(self, *inputs)
        return score

    def score_and_summarize(self, corpus: Corpus) -> tuple[S, Summary]:
        """Return a corpus score and a summary of the text."""
        table, summary = self._count_and_check_corpus(corpus)
        references = summarize_reference_count(summary["references"])
        if corpus.totals:
            score = self.score_from_row(table.tolist()[0], references)
        else:
            score = self._average_rows(table, references)
        if corpus.data_fields:
            score = score.with_data_fields(corpus.data_fields)
        return score, summary

    def _score_corpus(self, corpus: Corpus) -> S:
        return self.score_and_summarize(corpus)[0]

    @property
    def _is_sum_based(self) -> bool:
        """True if the corpus score is computed from sums, False if it is a mean."""
        return True

    def score_from_row(
        self,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> S:
        """Return the score of a row of statistics. Pass `value` if it is already computed."""
        try:
            return self.SCORE(self, row, references, segment, value)  # type: ignore[return-value]
        except (ArithmeticError, ValueError) as error:
            raise as_input_error(self, error) from None

    @accept_ids
    @argument_checks.explain_keywords
    def statistics(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> Statistics:
        """Return the sufficient statistics per segment. See `score` for the arguments."""
        return self.count(hypotheses, references, workers=workers)[0]

    @accept_ids
    @argument_checks.explain_keywords
    def segments(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> Scores:
        """Return the score of each segment: n numbers, 0-100. See `score` for the arguments.

        >>> from truebleu import BLEU
        >>> BLEU().segments(["a b c d e", "a b"], ["a b c d f", "a c"])
        Scores(2 segments: [66.87, 50.00])
        """
        return self._score_segments(self.make_corpus(hypotheses, references, workers))

    def _score_segments(self, corpus: Corpus) -> Scores:
        if not self._has_kernel_formula:
            return self._compute_scores(self._count_and_check_corpus(corpus)[0], segment=True)
        scores, summary = self._kernel.segments(self._scan_text(corpus))  # type: ignore[arg-type]
        self.check_summary(summary, corpus.hypotheses)
        return scores

    # ---- one segment ----

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> S:
        """Return the score of one segment.

        >>> from truebleu import BLEU
        >>> BLEU().sentence("a cat on a mat", ["a cat on the mat", "the cat"]).precisions
        (80.0, 50.0, 33.333333333333336, 25.0)
        """
        if not self._reads_text:
            return self._score_sentence(hypothesis, references)
        try:
            value, row, count = self._kernel.sentence(hypothesis, references)
        except TypeError:
            return self._score_sentence(hypothesis, references)
        if count > self._max_references:
            return self._score_sentence(hypothesis, references)
        if not self._has_kernel_formula:
            value = self._compute_score(unpack_row(row), segment=True)
        # Set the attributes directly: the constructor would take as long as reading the text.
        score: Any = _allocate(self.SCORE)
        score._metric = self  # noqa: SLF001
        score._packed_row = row  # noqa: SLF001
        score._references = count  # noqa: SLF001
        score._segment = True  # noqa: SLF001
        score._value = value  # noqa: SLF001
        return score  # type: ignore[no-any-return]

    def _score_sentence(self, hypothesis: Any, references: Any, sources: Any = None) -> S:
        """Return a segment's score, or raise an error that explains the fault in the input."""
        if isinstance(hypothesis, bytes) or not hasattr(hypothesis, "__len__"):
            raise TypeError(
                f"hypothesis: expected a str, not {argument_checks.describe_type(hypothesis, '')}"
            )
        reference_texts = tuple(references) if isinstance(references, list) else references
        metric: Any = self
        hypotheses: Any = (hypothesis,)
        all_references: Any = (reference_texts,)
        if takes_ids(self, hypotheses):
            metric = adapt_to_ids(self)
            hypotheses = read_token_ids("hypothesis", hypotheses)
            all_references = read_token_ids("references", all_references)
        table, summary = metric._count_and_check_corpus(  # noqa: SLF001
            metric.make_corpus(hypotheses, all_references, sources=sources)
        )
        row = table.tolist()[0]
        score: S = metric.score_from_row(
            row, summarize_reference_count(summary["references"]), segment=True
        )
        return score

    def _make_pair_scorer(self, workers: int) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        """Return a function that scores n pairs of a text and a reference, as `sentence` does."""
        if self.NEEDS_SOURCE:
            raise ValueError(f"{self.NAME} needs a source for each pair")
        return lambda texts, others: self._score_segments(
            Corpus(texts, others, workers, is_part=True)
        )


def summarize_reference_count(reference_range: tuple[int, int] | None) -> int | str | None:
    """Return the number of references per segment from its range (min, max), or "var"."""
    if reference_range is None:
        return None
    minimum, maximum = reference_range
    return maximum if minimum == maximum else "var"
