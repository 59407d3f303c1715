"""Base class of all metrics, which count integers per segment, sum them and apply a formula.

The kernel counts the integers and applies the formula, unless a subclass does so in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cache, wraps
from sys import maxsize
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

from truebleu import _kernel
from truebleu._kernel import InputError, Scores, Table, TokenIds, __version__
from truebleu.metrics import parameters as p
from truebleu.metrics import text_warnings
from truebleu.metrics.pairwise_scores import PairwiseScoring
from truebleu.metrics.parameters import Parametrized
from truebleu.metrics.scores import (
    CONTEXT_FIELDS,
    ForeignNameFilter,
    Score,
    Signature,
    Statistics,
    TableScore,
    add_foreign_names,
    unpack_row,
)
from truebleu.text import argument_checks, corpus_inputs, tokenizers
from truebleu.text.corpus_inputs import has_ids, read_token_ids

__all__ = ["CONTEXT_FIELDS", "Metric", "MetricFailedError", "Score", "Signature"]

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

    from typing_extensions import TypeVar

    from truebleu._kernel import Scan, Summary
    from truebleu.text.languages import Language

    S = TypeVar("S", bound=Score, default=Score, covariant=True)  # noqa: PLC0105
else:
    from typing import TypeVar

    S = TypeVar("S", bound=Score, covariant=True)  # noqa: PLC0105

Method = TypeVar("Method", bound=Callable[..., Any])

# The sacreBLEU release whose scores the metrics reproduce; signatures name it.
SACREBLEU_VERSION = "2.6.0"

# Methods of metrics in other packages and their equivalents in truebleu, for messages.
_FOREIGN_METHODS = {
    "corpus_score": ".score(hypotheses, references) with one string or list of strings per segment "
    "as references; list(zip(*streams)) converts sacreBLEU's reference streams",
    "sentence_score": ".sentence(hypothesis, references)",
    "get_signature": ".signature(references=1)",
    **dict.fromkeys(("compute", "evaluate", "compute_score"), ".score(hypotheses, references)"),
    **dict.fromkeys(
        ("update", "add", "add_batch"), "tb.Accumulator(metric).update(hypotheses, references)"
    ),
}


# Column names, indices of columns that may be negative, and limits relative to other columns.
Constraints = tuple[Sequence[str], list[int], list[tuple[int, int, int]]]

# Signed 64-bit integers range from -INT64_LIMIT to INT64_LIMIT - 1.
INT64_LIMIT = 1 << 63

# Table with one row per segment, and the numbers of references: of each segment, or their range.
CountedRows = tuple[list[list[int]], Sequence[int]]

# Mean lengths are integers in units of 1/720,720 token: 720,720 is divisible by 1, 2, ..., 16.
PARTS_PER_TOKEN = 720720


class MetricFailedError(InputError):
    """Raised if a metric cannot score a text, or if the metric's own program fails.

    Other metrics are not affected.
    """


class MetricMissingError(MetricFailedError, ImportError):
    """Raised for a metric whose package is not installed. The message says how to install it."""


class Corpus:
    """Text to score (hypotheses, references and possibly sources), with options for counting.

    workers: number of threads.
    progress: function called about 20 times per second with the number of segments counted so far.
    totals: whether to return only the sum of all rows.
    is_part: whether more text follows, so that `check_corpus` must wait for the sum of all parts.
    unicode_form: Unicode form to which the text was converted.
    examines_text: whether the summary has the counts for warnings about the text.
    data_fields: signature fields about the text (default: those of re-segmented hypotheses).
    """

    __slots__ = (
        *("hypotheses", "references", "workers", "sources", "progress"),
        *("totals", "is_part", "unicode_form", "examines_text", "data_fields"),
    )

    def __init__(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        workers: int = 1,
        sources: corpus_inputs.Hypotheses | None = None,
        progress: Callable[[int], None] | None = None,
        *,
        totals: bool = False,
        is_part: bool = False,
        unicode_form: str | None = None,
        examines_text: bool = True,
        data_fields: Mapping[str, str] | None = None,
    ) -> None:
        self.hypotheses, self.references, self.sources = hypotheses, references, sources
        self.workers = argument_checks.check_workers(workers)
        self.progress, self.totals, self.is_part = progress, totals, is_part
        self.unicode_form, self.examines_text = unicode_form, examines_text
        if data_fields is None:
            data_fields = getattr(hypotheses, "signature_fields", None)
        self.data_fields = data_fields

    def with_unicode_form(self, form: str | None) -> Corpus:
        """Return the corpus with its text in a Unicode form, or unchanged if the form is None."""
        if form == self.unicode_form:
            return self
        hypotheses, references, sources = (
            corpus_inputs.normalize_input(form, value)
            for value in (self.hypotheses, self.references, self.sources)
        )
        corpus = copy(self)
        corpus.hypotheses, corpus.references, corpus.sources = hypotheses, references, sources
        corpus.unicode_form = form
        return corpus


def accept_ids(method: Method) -> Method:
    """Decorate a metric's method so that its hypotheses and references may be token ids."""
    function: Any = method

    @wraps(function)
    def call_method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        hypotheses = arguments[0] if arguments else keywords.get("hypotheses")
        if not takes_ids(self, hypotheses):
            return function(self, *arguments, **keywords)
        roles = ("hypotheses", "references", "sources")
        inputs = dict(zip(roles, arguments, strict=False)) | keywords
        for role in roles[:2]:
            if role in inputs:
                inputs[role] = read_token_ids(role, inputs[role])
        if function.__name__ == "score":
            inputs["check_text"] = False  # the checks are for text
        return function(adapt_to_ids(self), **inputs)

    return call_method  # type: ignore[return-value]


class Metric(Parametrized, PairwiseScoring, Generic[S], metaclass=ForeignNameFilter):
    """Metric with its parameters: frozen, hashable, and equal to metrics with equal parameters.

    A metric counts a row of integers per segment, sums the rows and computes a score of class `S`.
    A subclass declares its parameters, their order in signatures (`FIELDS`), its `columns` and the
    class of its scores (`SCORE`). `build_kernel_settings` returns the kernel's settings.
    """

    __slots__ = ("_kernel", "_reads_text", "_score_in_kernel", "_tokenizes_in_kernel")

    NAME: ClassVar[str]
    # Keys of the papers to cite, in truebleu.text.citations.
    CITATIONS: ClassVar[tuple[str, ...]] = ()
    # Signature fields in sacreBLEU's order; other fields follow.
    FIELDS: ClassVar[tuple[str, ...]] = ()
    # Signature fields with a constant value: the value and the short name of the field.
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {}
    # Reason for a score of 0 and a remedy (see `explain_zero_score`).
    ZERO_REASON: ClassVar[str] = ""
    # Other names of the score in lower case, with the signature fields that they imply.
    VARIANTS: ClassVar[dict[str, dict[str, str]]] = {}
    # Prefix of the metric's command-line options.
    PREFIX: ClassVar[str] = ""
    LOWER_IS_BETTER: ClassVar[bool] = False
    # Score of a perfect match, or None for metrics without an upper bound.
    BOUND: ClassVar[float | None] = 100.0
    # Worst possible score, or None for metrics without a worst score.
    WORST: ClassVar[float | None] = 0.0
    # The number of decimals to print.
    DIGITS: ClassVar[int] = 1
    # True if scores equal sacreBLEU's; signatures then name its version.
    MATCHES_SACREBLEU: ClassVar[bool] = False
    # A sentence that distinguishes the metric from another one with the same name, or "".
    NAMESAKE: ClassVar[str] = ""
    # True if the metric needs the source of each segment.
    NEEDS_SOURCE: ClassVar[bool] = False
    # True if the metric may fail on text that other metrics can score.
    FALLIBLE: ClassVar[bool] = False
    # True if the metric accepts lists of tokens as well as text.
    TAKES_TOKENS: ClassVar[bool] = True

    # Public names in addition to the parameters, in the order of `dir()`.
    PUBLIC: ClassVar[tuple[str, ...]] = (
        *("score", "sentence", "segments", "matrix", "triangle", "top_k"),
        "expected",
        *("statistics", "from_statistics", "scores", "columns", "fingerprint"),
        *("name", "parameters", "signature", "warnings"),
    )
    SCORE: ClassVar[type[TableScore]]
    # Reason why the statistics of parts of a corpus cannot be added, or None if they can.
    NON_ADDITIVE_REASON: ClassVar[str | None] = None
    # True if the kernel also computes the formula.
    _has_kernel_formula = True
    # Largest number of references per segment that the metric accepts.
    _max_references = maxsize

    _: KW_ONLY
    unicode_form: p.Parameter[str | None] = p.declare_unicode_form()

    # ---- signatures ----

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """Return the metric that a signature's fields (other than `CONTEXT_FIELDS`) describe."""
        for key, (value, _) in cls.CONSTANTS.items():
            if fields.get(key, value) != value:
                raise ValueError(f"{key}:{fields[key]}: {cls.NAME} only has {key}:{value}")
        values: dict[str, Any] = {}
        for parameter in cls.PARAMETERS:
            if parameter.key in fields:
                try:
                    values[parameter.name] = parameter.from_field(fields[parameter.key])
                except ValueError as error:
                    raise ValueError(f"{parameter.key}: {error}") from None
        return cls(**values)

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:
        """Return the fields that a score name implies, or None for names of other metrics."""
        return {cls.NAME.lower(): {}, **cls.VARIANTS}.get(name.lower())

    @classmethod
    def get_short_names(cls) -> dict[str, str]:
        """Return the short name of each signature field."""
        constants = {key: short for key, (_, short) in cls.CONSTANTS.items()}
        return {**CONTEXT_FIELDS, **constants, **{p.key: p.short for p in cls.PARAMETERS}}

    def _build_fields(self, *, segment: bool | None) -> dict[str, str]:  # noqa: ARG002
        """Return the signature's parameter fields. See `signature` for `segment`."""
        fields = {key: value for key, (value, _) in self.CONSTANTS.items()}
        for parameter in self.PARAMETERS:
            value = self._values[parameter.name]
            if parameter.is_hidden:
                continue
            if not parameter.optional or value != parameter.default:
                fields[parameter.key] = parameter.to_field(value)
        return fields

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """Return the signature: the settings that reproduce the computation.

        references: number of references per segment, or "var".
        segment: True for the score of a segment, False for a corpus, None for the metric itself.
        """
        parameter_fields = self._build_fields(segment=segment)
        fields = {} if references is None else {"nrefs": str(references)}
        fields |= {key: parameter_fields[key] for key in self.FIELDS if key in parameter_fields}
        fields |= parameter_fields
        if self.MATCHES_SACREBLEU:
            fields["version"] = SACREBLEU_VERSION
        return Signature(self, {**fields, "by": f"truebleu-{__version__}"})

    @property
    def name(self) -> str:
        """The name of the score, including parameters where that is customary, as in chrF2++."""
        return self.NAME

    @property
    def bound(self) -> float | None:
        """The score of a perfect match, or None for metrics without an upper bound."""
        return self.BOUND

    @property
    def is_percentage(self) -> bool:
        """True if scores are percentages, which can also be given on a 0-1 scale (unlike NIST)."""
        return True

    @property
    def citations(self) -> tuple[str, ...]:
        """The keys of the papers to cite for these parameters, in `truebleu.text.citations`."""
        return self.CITATIONS

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better, as for error rates."""
        return self.LOWER_IS_BETTER

    def adapt_to_inputs(self, *texts: object) -> Self:
        """Return the metric, with the tokenizer "ids" if the texts are token ids.

        Raises InputError if the metric cannot score token ids.
        """
        has_ids = any(isinstance(text, TokenIds) for text in texts)
        return adapt_to_ids(self) if has_ids else self

    def explain_id_conflict(self) -> str:
        """Return why the metric cannot score token ids, or "" if it can."""
        if "tokenize" not in self._values:
            return "it needs text, not tokens"
        return f"{self.NAME} needs sources" if self.NEEDS_SOURCE else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual parameters."""
        return ()

    # ---- languages ----

    def can_split(self, script: str) -> bool:
        """Return whether the metric splits text in `script`, one of the `UNSPLIT_SCRIPTS`.

        The result is True for metrics without a tokenizer, which count characters or use a model.
        """
        tokenize = self._values.get("tokenize")
        return tokenize is None or tokenizers.can_split(tokenize, script)

    def get_splitting_parameters(self, script: str) -> dict[str, Any]:
        """Return the parameters that make the metric split text in `script`, if there are any."""
        has_tokenizer = "tokenize" in self._values
        return (
            {"tokenize": tokenizers.UNSPLIT_SCRIPTS[script].recommended[0]} if has_tokenizer else {}
        )

    @property
    def expects_tokens(self) -> bool:
        """True if the metric expects pretokenized text, whose punctuation follows spaces."""
        return self._values.get("tokenize") in ("none", "ids")

    @property
    def depends_on_spaces(self) -> bool:
        """True if spaces around punctuation change scores. Metrics without a tokenizer override it.

        Models read text without these spaces, so their scores change, too.
        """
        tokenize = self._values.get("tokenize")
        return tokenize is None or tokenizers.depends_on_spaces(tokenize)

    def adapt_to_language(self, language: Language, user_parameters: Collection[str] = ()) -> Self:
        """Return the metric with the parameters that its original program uses for a language.

        user_parameters: names of parameters that the user has set and that must not change.
        """
        default_tokenizer = self._CHECKS.get("tokenize", (None,))[0]
        # "none" means tokenized input, and jiwer and ROUGE have no language-specific tokenizers.
        language_tokenizer = language.tokenizer
        fits = default_tokenizer in ("13a", "jiwer", "rouge") and (
            default_tokenizer == "13a" or language_tokenizer != "13a"
        )
        is_default = self._values.get("tokenize") == default_tokenizer
        if not (fits and is_default) or "tokenize" in user_parameters:
            return self
        return self.with_parameters(tokenize=language_tokenizer)

    def describe_language_mismatch(self, language: Language) -> str:  # noqa: ARG002
        """Return why the parameters do not suit a language, or "" if they do."""
        return ""

    @property
    def may_be_for_english(self) -> bool:
        """True if the metric depends on the language and was not given another than English.

        Metrics that do not split words with diacritics have their own warning.
        """
        depends = type(self).describe_language_mismatch is not Metric.describe_language_mismatch
        is_english = self._values.get("language", "en") == "en"
        return depends and is_english and self.can_split("diacritics")

    @property
    def fingerprint(self) -> str:
        """The parameters that determine the statistics, as in `Statistics.fingerprint`."""
        fields = self._build_fields(segment=False)
        return "|".join([self.name, *(f"{key}:{value}" for key, value in fields.items())])

    # ---- scores from statistics, without any text ----

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics."""
        raise NotImplementedError

    @property
    def _signed_columns(self) -> tuple[str, ...]:
        """The columns that may be negative."""
        return ()

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        """The upper limits of columns, which hold in every row and therefore in every sum of rows.

        In `(column, factor, other)`, the column is at most `factor` times the other column.
        """
        return ()

    @property
    def constraints(self) -> Constraints:
        """The row constraints for the kernel, with column indices instead of names."""
        columns = self.columns
        positions = {name: place for place, name in enumerate(columns)}
        limits = [
            (positions[column], limit, positions[by]) for column, limit, by in self._column_limits
        ]
        return columns, [positions[name] for name in self._signed_columns], limits

    @property
    def segment_detail_names(self) -> tuple[str, ...]:
        """The names of the details listed next to segment scores (default: the column names)."""
        return self.columns

    def compute_segment_details(self, table: Table) -> list[Any]:
        """Return the details of each segment of a table, one sequence per name."""
        return [table.columns_of([i]) for i in range(table.width)]

    @property
    def non_additive_reason(self) -> str | None:
        """The reason why statistics of parts of a corpus cannot be added, or None if they can."""
        if self._is_sum_based:
            return self.NON_ADDITIVE_REASON
        mean = f"{self.NAME} averages segment scores, which do not add up exactly"
        return self.order_dependence_reason or mean

    @property
    def order_dependence_reason(self) -> str | None:
        """The reason why segments cannot be resampled (their order matters), or None."""
        return None

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return the reason for a score of 0 and a remedy, or "" if the reason is unknown."""
        return self.ZERO_REASON

    def make_statistics(self, table: Table, references: int | str | None) -> Statistics:
        """Convert the rows of a table to statistics of this metric."""
        return Statistics(
            table, columns=self.columns, fingerprint=self.fingerprint, references=references
        )

    @property
    def is_mean(self) -> bool:
        """True if the corpus score is the mean of segment scores, even when resampling."""
        return not self._is_sum_based

    def from_statistics(
        self, totals: Statistics | Sequence[int], *, references: int | str | None = None
    ) -> S:
        """Return the score computed from statistics, without any text.

        totals: a table of this metric's statistics, or the k integers of one row in the order of
            `columns`. Rows are summed, or scored by metrics that average segment scores.
        references: number of references for the signature; not needed for tables, which contain it.
        """
        if not isinstance(totals, Statistics):
            return self.score_from_row(self._validate_totals(totals), references)
        self._check_statistics_table(totals)
        references = totals.references if references is None else references
        if self._is_sum_based or not len(totals):
            return self.score_from_row(totals.total().tolist()[0], references)
        return self._average_rows(totals, references)

    def _average_rows(self, table: Table, references: int | str | None) -> S:
        """Compute the corpus score of a metric that averages segment scores."""
        raise NotImplementedError

    def scores(self, totals: Statistics | Table) -> Scores:
        """Return one score per row of a table, treating each row as the totals of a corpus.

        Resampling passes one row per resample, which is the sum over the resampled segments.
        """
        return self._compute_checked_scores(totals, segment=False)

    def segment_scores(self, statistics: Statistics | Table) -> Scores:
        """Return one score per row of a table, treating each row as a segment."""
        return self._compute_checked_scores(statistics, segment=True)

    def _compute_checked_scores(self, table: Table, *, segment: bool) -> Scores:
        self._check_statistics_table(table)
        try:
            return self._compute_scores(table, segment=segment)
        except (ArithmeticError, ValueError) as error:
            raise as_input_error(self, error) from None

    def _check_statistics_table(self, table: Table) -> None:
        if isinstance(table, Statistics):
            self.check_fingerprint("statistics", table.fingerprint)
            if table.columns != self.columns:
                table_columns, metric_columns = (
                    ", ".join(columns) for columns in (table.columns, self.columns)
                )
                raise InputError(
                    f"columns of the statistics do not match {self.name} (expected "
                    f"{metric_columns}, found {table_columns})"
                )
            table.check(*self.constraints)
        elif table.width != len(self.columns):
            raise InputError(f"expected {len(self.columns)} columns, not {table.width}")

    def check_fingerprint(self, subject: str, fingerprint: str) -> None:
        """Raise InputError if statistics or totals belong to another metric."""
        if fingerprint != self.fingerprint:
            raise InputError(
                f"these {subject} were computed with {fingerprint}, but this metric is "
                f"{self.fingerprint}"
            )

    def _validate_totals(self, totals: Sequence[int]) -> list[int]:
        try:
            row = [value.__index__() for value in totals]
        except (AttributeError, TypeError):
            row = None
        if row is None or any(
            value < 0 and name not in self._signed_columns
            for value, name in zip(row, (*self.columns, *[""] * len(row)), strict=False)
        ):
            raise InputError(
                "totals: expected a table of statistics or a row of non-negative integers, "
                f"not {totals!r:.80}"
            )
        if len(row) != len(self.columns):
            columns = ", ".join(self.columns)
            raise InputError(
                f"totals: expected {len(self.columns)} integers ({columns}), not {len(row)}"
            )
        if any(not -INT64_LIMIT <= value < INT64_LIMIT for value in row):
            raise InputError(f"totals: expected 64-bit integers, not {totals!r:.80}")
        return row

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
        # The kernel's function that returns the score of a segment, or None if Python takes part.
        is_sufficient = self._reads_text and self._has_kernel_formula
        self._score_in_kernel = (
            self._kernel.sentence_score
            if is_sufficient and self._max_references == maxsize
            else None
        )

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
            examines_text=corpus.examines_text,
            **self._tokenizer_settings,
        )

    def _count_text(self, corpus: Corpus) -> tuple[Table, Summary]:
        """Return one row per segment, or their sum, and a summary of the text."""
        run = self._scan_text(corpus)
        assert run is not None
        return run.totals(corpus.progress) if corpus.totals else run.table()

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
        self.adapt_to_inputs(*texts)  # refuses unsuitable token ids
        return tuple(corpus_inputs.normalize_input(self.unicode_form, text) for text in texts)

    def _count_and_check_corpus(self, corpus: Corpus) -> tuple[Table, Summary]:
        self.adapt_to_inputs(corpus.hypotheses)  # refuses unsuitable token ids
        self._require_sources(corpus)
        table, summary = self._count_text(corpus)
        self.check_summary(summary, corpus.hypotheses)
        if not corpus.is_part:
            self.check_corpus(table)
        return table, summary

    def _require_sources(self, corpus: Corpus) -> None:
        if self.NEEDS_SOURCE and corpus.sources is None:
            raise InputError(
                f"{self.name} needs the source of each segment. {self.NAMESAKE}".removesuffix(". ")
            )

    def check_corpus(self, table: Table) -> None:
        """Raise MetricFailedError if the metric cannot score a corpus with these statistics."""

    def check_summary(self, summary: Summary, hypotheses: object) -> None:
        """Raise InputError if this metric is not defined for text with this summary."""
        if not summary["segments"]:
            name = corpus_inputs.label_hypotheses(hypotheses)
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
        options = {"totals": True, "examines_text": False}
        return self._score_corpus(self.make_corpus(hypotheses, references, workers, **options))

    def _score_with_warnings(self, *inputs: Any) -> S:
        score: S = text_warnings.score_with_warnings(self, *inputs)
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
        return self.count(hypotheses, references, workers=workers, examines_text=False)[0]

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
        return self._score_segments(
            self.make_corpus(hypotheses, references, workers, examines_text=False)
        )

    def _score_segments(self, corpus: Corpus) -> Scores:
        if not self._has_kernel_formula:
            return self._compute_scores(self._count_and_check_corpus(corpus)[0], segment=True)
        self.adapt_to_inputs(corpus.hypotheses)  # refuses unsuitable token ids
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
        try:
            # Few look-ups: this method takes as long as the kernel takes for a short text.
            score_in_kernel = self._score_in_kernel
            if score_in_kernel is not None:
                return score_in_kernel(self, hypothesis, references)  # type: ignore[no-any-return]
            if self._reads_text:
                value, row, count = self._kernel.sentence(hypothesis, references)
                if count <= self._max_references:
                    if not self._has_kernel_formula:
                        value = self._compute_score(unpack_row(row), segment=True)
                    return self.SCORE(self, row, count, True, value)  # type: ignore[return-value]
        except TypeError:
            pass
        return self._score_sentence(hypothesis, references)

    def _score_sentence(self, hypothesis: Any, references: Any, sources: Any = None) -> S:
        """Return a segment's score, or raise an error that explains the fault in the input."""
        if isinstance(hypothesis, bytes) or not hasattr(hypothesis, "__len__"):
            raise TypeError(
                f"hypothesis: expected a str, not {argument_checks.describe_type(hypothesis, '')}"
            )
        reference_texts = tuple(references) if isinstance(references, list) else references
        return self._score_segment((hypothesis,), (reference_texts,), sources=sources)

    @accept_ids
    def _score_segment(self, hypotheses: Any, references: Any, *, sources: Any) -> S:
        corpus = self.make_corpus(hypotheses, references, sources=sources, examines_text=False)
        table, summary = self._count_and_check_corpus(corpus)
        reference_count = summarize_reference_count(summary["references"])
        return self.score_from_row(table.tolist()[0], reference_count, segment=True)

    def _make_pair_scorer(self, workers: int) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        """Return a function that scores n pairs of a text and a reference, as `sentence` does."""
        if self.NEEDS_SOURCE:
            raise ValueError(f"{self.name} needs a source for each pair")
        return lambda texts, others: self._score_segments(
            Corpus(texts, others, workers, is_part=True, examines_text=False)
        )

    # ---- other ----

    def __str__(self) -> str:
        """Return the metric's name and signature, from which `metric` recreates the metric."""
        return f"{self.name}|{self.signature(segment=None)}"

    def __dir__(self) -> list[str]:
        return [*self.PUBLIC, *self._values]


add_foreign_names(Metric, _FOREIGN_METHODS)


def takes_ids(metric: Any, hypotheses: Any) -> bool:
    """Return whether a metric has to read hypotheses as token ids.

    With tokenize="none", lists of lists are tokens, which may be strings and negative numbers.
    """
    if not has_ids(hypotheses):
        return False
    is_list = isinstance(hypotheses, list | tuple) and any(
        isinstance(one, list | tuple) for one in hypotheses
    )
    return not (is_list and metric._values.get("tokenize") == "none")  # noqa: SLF001


@cache
def adapt_to_ids(metric: Any) -> Any:
    """Return the metric for token ids. Raise InputError if it cannot score them."""
    if problem := metric.explain_id_conflict():
        raise InputError(
            f"{metric.name} cannot score token ids: {problem}. Decode the ids to text, or use a "
            "metric of tokens such as BLEU"
        )
    changes = {"tokenize": "ids", "unicode_form": None}
    return metric.with_parameters(
        **{name: value for name, value in changes.items() if name in metric._values}  # noqa: SLF001
    )


def as_input_error(metric: Metric[Any], error: Exception) -> InputError:
    """Convert an error that the formula raised to an InputError. Return an InputError unchanged."""
    if isinstance(error, InputError):
        return error
    return InputError(
        f"{metric.name} is not defined for these statistics ({error}), so they are invalid"
    )


def make_ngram_column_limits(max_order: int) -> tuple[tuple[str, int, str], ...]:
    """Return column limits: matches are at most totals, and totals never grow with the order."""
    matches = ((f"matches_{order}", 1, f"totals_{order}") for order in range(1, max_order + 1))
    longer = ((f"totals_{order}", 1, f"totals_{order - 1}") for order in range(2, max_order + 1))
    return (*matches, *longer)


def summarize_reference_count(reference_range: tuple[int, int] | None) -> int | str | None:
    """Return the number of references per segment from its range (min, max), or "var"."""
    if reference_range is None:
        return None
    minimum, maximum = reference_range
    return maximum if minimum == maximum else "var"
