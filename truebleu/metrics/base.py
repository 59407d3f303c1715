"""The base of all metrics: text, a row of integers per segment, a sum, a formula, a score.

The kernel counts the rows and has the formula, or a subclass does either in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from sys import maxsize
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

from truebleu import _kernel
from truebleu._kernel import InputError, Scores, Table, __version__
from truebleu.metrics import parameters as p
from truebleu.metrics.pairwise_scores import PairsInPython, PairwiseScoring
from truebleu.metrics.scores import CONTEXT_FIELDS, Score, Signature, TableScore, unpack_row
from truebleu.metrics.statistics import Statistics
from truebleu.text import argument_checks, corpus_inputs, tokenizers

__all__ = ["CONTEXT_FIELDS", "Metric", "MetricFailedError", "Score", "Signature"]

# The names of columns, the numbers of those that may be below 0, and what limits others.
Constraints = tuple[Sequence[str], list[int], list[tuple[int, int, int]]]
# A row per segment, and the fewest and the most references of a segment.
CountedRows = tuple[list[list[int]], tuple[int, int]]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from truebleu._kernel import Pairs as CompiledPairs
    from truebleu._kernel import Scan, ScriptSummary, Summary
    from truebleu.text.languages import Language

    Pairs = CompiledPairs | PairsInPython
    S = TypeVar("S", bound=Score, default=Score, covariant=True)  # noqa: PLC0105
else:
    from typing import TypeVar

    S = TypeVar("S", bound=Score, covariant=True)  # noqa: PLC0105

# The definition that signatures name: the program whose numbers these are.
SACREBLEU_VERSION = "2.6.0"

# A mean of lengths is counted in parts of a token, so that it is an integer: 1 to 16 all divide it.
PARTS_PER_TOKEN = 720720

# Integers of 64 bits are below this, and not below its negative.
INT64_LIMIT = 1 << 63

_allocate = object.__new__


class MetricFailedError(InputError):
    """A metric cannot score this: its own program failed, or the text is not for it.

    Other metrics are none the worse.
    """


class MetricMissingError(MetricFailedError, ImportError):
    """A metric needs what is not installed; the message says what installs it."""


@dataclass(slots=True)
class Corpus:
    """The text to count: hypotheses, references, for some metrics the sources; and how.

    workers: threads.
    progress: called about twenty times a second with the number of segments so far.
    totals: True if the sum of all rows is wanted, and not the rows.
    is_part: True if more text follows, so that `check_corpus` must wait for the sum of all.
    normalize: the Unicode form that the text was converted to.
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

    def __post_init__(self) -> None:
        self.workers = argument_checks.check_workers(self.workers)

    def with_unicode_form(self, form: str | None) -> Corpus:
        """Return the corpus with its text in a Unicode form; itself without one."""
        if form == self.unicode_form:
            return self
        from truebleu.text.corpus_inputs import normalize_input

        hypotheses, references, sources = (
            normalize_input(form, value)
            for value in (self.hypotheses, self.references, self.sources)
        )
        return replace(
            self, hypotheses=hypotheses, references=references, sources=sources, unicode_form=form
        )


class Metric(p.Parametrized, PairwiseScoring, Generic[S]):
    """A metric with its parameters: frozen, hashable, equal if its parameters are.

    A metric is a row of integers per segment, a sum, and a formula; its scores are an `S`. A
    subclass declares its parameters, says in `FIELDS` in which order signatures have them, names
    the `columns` and the class of its scores (`SCORE`). If the kernel counts it, `asked` says how.
    """

    __slots__ = ("_kernel", "_reads_text", "_tokenizes_in_kernel")

    NAME: ClassVar[str]
    # The fields of signatures, in sacreBLEU's order; those that are not here follow.
    FIELDS: ClassVar[tuple[str, ...]] = ()
    # Fields with a constant value, and their short forms.
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {}
    # The prefix of its options on the command line.
    PREFIX: ClassVar[str] = ""
    LOWER_IS_BETTER: ClassVar[bool] = False
    # The score of a perfect match; None if there is no such bound.
    BOUND: ClassVar[float | None] = 100.0
    # The worst possible score; None if there is no such bound.
    WORST: ClassVar[float | None] = 0.0
    # The number of decimals to print.
    DIGITS: ClassVar[int] = 1
    # True if the numbers are those of sacreBLEU; signatures then name its version.
    MATCHES_SACREBLEU: ClassVar[bool] = False
    # Names that are public beside the parameters, in the order of `dir()`.
    PUBLIC: ClassVar[tuple[str, ...]] = (
        *("score", "sentence", "segments", "matrix", "triangle", "top_k"),
        "expected",
        *("statistics", "from_statistics", "scores", "columns", "fingerprint"),
        *("name", "parameters", "signature", "warnings"),
    )
    SCORE: ClassVar[type[TableScore]]
    # The reason why statistics of parts do not add up to those of the whole, or None.
    NOT_ADDITIVE: ClassVar[str | None] = None
    # True if it needs the source of each segment.
    NEEDS_SOURCE: ClassVar[bool] = False
    # True if it may fail on text that others can score.
    FALLIBLE: ClassVar[bool] = False
    # False if it reads text alone, and no lists of tokens.
    TAKES_TOKENS: ClassVar[bool] = True
    # True if the kernel has the formula, too.
    _has_kernel_formula = True
    # The most references that a segment may have.
    _max_references = maxsize

    _: KW_ONLY
    normalize: p.Parameter[str | None] = p.declare_normalization()

    # ---- signatures ----

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """The metric that a signature's fields name, without those of `CONTEXT_FIELDS`."""
        for key, (value, _) in cls.CONSTANTS.items():
            if fields.get(key, value) != value:
                raise ValueError(f"{key}:{fields[key]}: {cls.NAME} has {key}:{value} alone")
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
        """The fields that a score's name implies; None if it is no name of this metric."""
        return {} if name.lower() == cls.NAME.lower() else None

    @classmethod
    def map_short_names(cls) -> dict[str, str]:
        """The fields of its signatures, and their short forms."""
        constants = {key: short for key, (_, short) in cls.CONSTANTS.items()}
        return {**CONTEXT_FIELDS, **constants, **{p.key: p.short for p in cls.PARAMETERS}}

    def _fields(self, *, segment: bool | None) -> dict[str, str]:  # noqa: ARG002
        """The fields of the parameters: for a corpus, for one segment, or None for the metric."""
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
        """A complete description of the computation, enough to reproduce it.

        references: how many there are per segment, or "var".
        segment: True for the score of one; None for the metric, whatever it will score.
        """
        parameter_fields = self._fields(segment=segment)
        fields = {} if references is None else {"nrefs": str(references)}
        fields |= {key: parameter_fields[key] for key in self.FIELDS if key in parameter_fields}
        fields |= parameter_fields
        if self.MATCHES_SACREBLEU:
            fields["version"] = SACREBLEU_VERSION
        return Signature(self, {**fields, "by": f"truebleu-{__version__}"})

    @property
    def name(self) -> str:
        """The name of the score, with parameters where that is the convention, as in chrF2++."""
        return self.NAME

    @property
    def bound(self) -> float | None:
        """The score of a perfect match; None if there is no such bound."""
        return self.BOUND

    @property
    def lower_is_better(self) -> bool:
        """True if a better system has a lower score, as with error rates."""
        return self.LOWER_IS_BETTER

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is unusual about the parameters, in a sentence each; most metrics have none."""
        return ()

    # ---- languages ----

    def can_split(self, script: str) -> bool:
        """Return whether the metric's tokens divide text in a script of `UNSPLIT_SCRIPTS`.

        True for a metric without a tokenizer, which counts characters or has a model.
        """
        from truebleu.text import languages

        tokenize = self._values.get("tokenize")
        return tokenize is None or languages.can_split(tokenize, script)

    def parameters_to_split(self, script: str) -> dict[str, Any]:
        """Return the parameters that make the metric split a script; empty if none does."""
        from truebleu.text import languages

        has_tokenizer = "tokenize" in self._values
        return (
            {"tokenize": languages.UNSPLIT_SCRIPTS[script].recommended[0]} if has_tokenizer else {}
        )

    def adapt_to_language(self, language: Language, user_parameters: Collection[str] = ()) -> Self:
        """Return the metric with the parameters that its original has for a language.

        given: the parameters that the user has set, which stay as they are.
        """
        default_tokenizer = self._CHECKS.get("tokenize", (None,))[0]
        # Text for "none" comes with tokens; jiwer and ROUGE have no tokenizers of languages.
        language_tokenizer = language.tokenizer
        fits = default_tokenizer in ("13a", "jiwer", "rouge") and (
            default_tokenizer == "13a" or language_tokenizer != "13a"
        )
        is_default = self._values.get("tokenize") == default_tokenizer
        if not (fits and is_default) or "tokenize" in user_parameters:
            return self
        return self.with_parameters(tokenize=language_tokenizer)

    # ---- columns ----

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics."""
        raise NotImplementedError

    @property
    def _signed_columns(self) -> tuple[str, ...]:
        """The columns whose integers may be below 0."""
        return ()

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        """What limits columns, in every row and so in every sum of rows.

        The size of the first column is at most so many times that of the last.
        """
        return ()

    @property
    def constraints(self) -> Constraints:
        """What holds of its rows, as the kernel checks it: columns are numbers there."""
        columns = self.columns
        positions = {name: place for place, name in enumerate(columns)}
        limits = [
            (positions[column], limit, positions[by]) for column, limit, by in self._column_limits
        ]
        return columns, [positions[name] for name in self._signed_columns], limits

    @property
    def segment_detail_names(self) -> tuple[str, ...]:
        """The names of what stands beside the scores of segments in a list: the columns."""
        return self.columns

    def compute_segment_details(self, table: Table) -> list[Any]:
        """These columns, of a table."""
        return [table.columns_of([i]) for i in range(table.width)]

    @property
    def fingerprint(self) -> str:
        """The parameters that decide the statistics, as `Statistics.fingerprint` has them."""
        fields = self._fields(segment=False)
        return "|".join([self.name, *(f"{key}:{value}" for key, value in fields.items())])

    @property
    def not_additive(self) -> str | None:
        """The reason why statistics of parts do not add up to those of the whole, or None."""
        if self._is_sum_based:
            return self.NOT_ADDITIVE
        mean = f"{self.NAME} by segments is a mean of segments' scores, which do not add up exactly"
        return self.order_matters or mean

    @property
    def order_matters(self) -> str | None:
        """The reason why the order of segments matters, which rules out resampling, or None."""
        return None

    @property
    def _tokenizer_settings(self) -> dict[str, Any]:
        """The tokenizer and lower-casing, of metrics that take tokens or custom tokenizers."""
        values = self._values
        if "tokenize" not in values:
            return {}
        return {"tokenize": values["tokenize"], "lowercase": values["lowercase"]}

    def score_from_row(
        self,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> S:
        """The score of a row of statistics; `value` is its number, if it is known."""
        try:
            return self.SCORE(self, row, references, segment, value)  # type: ignore[return-value]
        except (ArithmeticError, ValueError) as error:
            raise _as_input_error(self, error) from None

    def zero_reason(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return why the score of a row is 0, and what to use instead; empty if that is plain."""
        return ""

    # ---- what the kernel counts ----

    def build_kernel_settings(self) -> dict[str, Any] | None:
        """What the kernel is asked for: its name of the metric, and the parameters it takes.

        None for a metric that is counted in Python.
        """
        return None

    @property
    def recipe(self) -> dict[str, Any] | None:
        """What a kernel elsewhere is asked for, as in a page; None if it does not count this.

        It counts what this one counts if the metric `reads_text`, with a tokenizer that it has.
        """
        return self.build_kernel_settings()

    def _prepare(self) -> None:
        """Make the kernel's counter, behind the check of parameters."""
        values = self._values
        # What Python tokenizes reaches the kernel as tokens.
        self._tokenizes_in_kernel = "lowercase" not in values or tokenizers.is_in_kernel(
            values.get("tokenize", "none"), values["lowercase"]
        )
        self._reads_text = self._tokenizes_in_kernel and self.unicode_form is None
        self._kernel: _kernel.Metric = self._build_kernel_metric()

    def _build_kernel_metric(self, **changes: Any) -> Any:
        settings = self.build_kernel_settings()
        if settings is None:
            return None
        settings |= changes
        return getattr(_kernel.Metric, settings.pop("metric"))(**settings)

    def _build_lexer_settings(self) -> dict[str, str]:
        """The kernel's tokenizer and lower-casing."""
        tokenizer = str(self._values["tokenize"]) if self._tokenizes_in_kernel else "none"
        lowercase = tokenizers.LOWERCASE_MODES[self._values["lowercase"]]
        return {"tokenizer": tokenizer, "lowercase": lowercase}

    @property
    def reads_text(self) -> bool:
        """True if the kernel reads the text itself; other metrics can then share the reading."""
        return self._reads_text

    def _scan(self, corpus: Corpus) -> Scan | None:
        """The kernel's run over the text, if it is the kernel that counts."""
        return corpus_inputs.scan_corpus(
            self._kernel,
            corpus.hypotheses,
            corpus.references,
            workers=corpus.workers,
            **self._tokenizer_settings,
        )

    def _count(self, corpus: Corpus) -> tuple[Table, Summary]:
        """A row per segment, or their sum, and what was noticed of the text."""
        run: Any = self._scan(corpus)
        result: tuple[Table, Summary]
        result = run.totals(corpus.progress) if corpus.totals else run.table()
        return result

    def _scores(self, table: Table, *, segment: bool) -> Scores:
        """The score of each row, 0-100: taken for a segment, or for the totals of a corpus."""
        return self._kernel.scores(table, corpus=not segment)

    def _value(self, row: Sequence[int], *, segment: bool) -> float:
        """The score of one row."""
        return self._scores(Table.from_rows([row], len(row)), segment=segment)[0]

    # ---- one corpus ----

    def count(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
        sources: corpus_inputs.Hypotheses | None = None,
        progress: Callable[[int], None] | None = None,
        totals: bool = False,
        is_part: bool = False,
    ) -> tuple[Statistics, Summary]:
        """The table of statistics, or with `totals` its sum, and what was noticed of the text.

        Memory does not grow with the size of files if `totals` are asked for. Arguments are as
        for `Corpus`.
        """
        return self.count_corpus(
            Corpus(
                *(hypotheses, references, workers, sources, progress),
                totals=totals,
                is_part=is_part,
            )
        )

    def count_corpus(self, corpus: Corpus) -> tuple[Statistics, Summary]:
        """The same, of a corpus."""
        table, summary = self._checked_count(corpus.with_unicode_form(self.unicode_form))
        return self.make_statistics(table, count_references(summary["references"])), summary

    @property
    def unicode_form(self) -> str | None:
        """The Unicode form that text is converted to first: the parameter `normalize`."""
        return self._values["normalize"]  # type: ignore[no-any-return]

    def _make_corpus(self, *arguments: Any, **options: Any) -> Corpus:
        """Return the corpus of these arguments of `Corpus`, in the metric's Unicode form."""
        return Corpus(*arguments, **options).with_unicode_form(self.unicode_form)

    def _normalized(self, *texts: Any) -> tuple[Any, ...]:
        """Return texts of any kind in the metric's Unicode form."""
        form = self.unicode_form
        if form is None:
            return texts
        from truebleu.text.corpus_inputs import normalize_input

        return tuple(normalize_input(form, text) for text in texts)

    def _checked_count(self, corpus: Corpus) -> tuple[Table, Summary]:
        if self.NEEDS_SOURCE and corpus.sources is None:
            raise InputError(f"{self.NAME} needs the source of each segment")
        table, summary = self._count(corpus)
        self.check_summary(summary, corpus.hypotheses)
        if not corpus.is_part:
            self.check_corpus(table)
        return table, summary

    def check_corpus(self, table: Table) -> None:
        """Raise MetricFailedError if the table is of a corpus that the metric cannot score."""

    def make_statistics(self, table: Table, references: int | str | None) -> Statistics:
        """Rows as statistics of this metric."""
        return Statistics(
            table, columns=self.columns, fingerprint=self.fingerprint, references=references
        )

    def reference_text(self, corpus: Corpus, summary: Summary) -> ScriptSummary:  # noqa: ARG002
        """Return what was noticed in the references of a corpus that this metric has counted."""
        return summary["reference_text"]

    def check_summary(self, summary: Summary, hypotheses: object) -> None:
        """Raises InputError if this metric is not defined for what was seen."""
        if not summary["segments"]:
            name = corpus_inputs.label_input("hypotheses", hypotheses)
            raise InputError(f"{name}: no segments at all; there is nothing to score")

    def score(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> S:
        """The score of a corpus.

        hypotheses: n strings (any sequence, an Arrow column), or a path or `File` of n lines.
        references: for each segment a string or a sequence of strings and None; or an Arrow
            column of strings or lists of strings; or a path or `File`; or a list of such columns
            or files, one per reference.
        workers: threads.

        Memory does not grow with the size of files. Raises InputError, which names the input and
        the segment, for lengths that differ, missing text, bytes that are not UTF-8.
        """
        return self._score(
            self._make_corpus(hypotheses, references, workers, totals=self._is_sum_based)
        )

    def _score(self, corpus: Corpus) -> S:
        table, summary = self._checked_count(corpus)
        references = count_references(summary["references"])
        if corpus.totals:
            return self.score_from_row(table.tolist()[0], references)
        return self._average_rows(table, references)

    @property
    def _is_sum_based(self) -> bool:
        """True if the score of a corpus is a formula of sums, not a mean of segment scores."""
        return True

    @property
    def is_mean(self) -> bool:
        """True if the score of a corpus is the mean of its segments' scores, which is resampled."""
        return not self._is_sum_based

    def statistics(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> Statistics:
        """The table of what was counted, a row per segment. Arguments as for `score`."""
        return self.count(hypotheses, references, workers=workers)[0]

    def segments(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> Scores:
        """The score of each segment: n numbers, 0-100. Arguments as for `score`.

        >>> from truebleu import BLEU
        >>> BLEU().segments(["a b c d e", "a b"], ["a b c d f", "a c"])
        Scores(2 segments: [66.87, 50.00])
        """
        return self._segments(self._make_corpus(hypotheses, references, workers))

    def _segments(self, corpus: Corpus) -> Scores:
        if not self._has_kernel_formula:
            return self._scores(self._checked_count(corpus)[0], segment=True)
        scores, summary = self._kernel.segments(self._scan(corpus))  # type: ignore[arg-type]
        self.check_summary(summary, corpus.hypotheses)
        return scores

    # ---- one segment ----

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> S:
        """The score of one segment.

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
            value = self._value(unpack_row(row), segment=True)
        # The constructor would take as long as reading the text.
        score: Any = _allocate(self.SCORE)
        score._metric = self  # noqa: SLF001
        score._packed_row = row  # noqa: SLF001
        score._references = count  # noqa: SLF001
        score._segment = True  # noqa: SLF001
        score._value = value  # noqa: SLF001
        return score  # type: ignore[no-any-return]

    def _score_sentence(self, hypothesis: Any, references: Any, sources: Any = None) -> S:
        """The general path, which takes all kinds of input and explains errors."""
        if isinstance(hypothesis, bytes) or not hasattr(hypothesis, "__len__"):
            raise TypeError(
                f"hypothesis: expected a str, not {argument_checks.describe_type(hypothesis, '')}"
            )
        reference_texts = tuple(references) if isinstance(references, list) else references
        table, summary = self._checked_count(
            self._make_corpus((hypothesis,), (reference_texts,), sources=sources)
        )
        row = table.tolist()[0]
        return self.score_from_row(row, count_references(summary["references"]), segment=True)

    # ---- the formula alone ----

    def from_statistics(
        self, totals: Statistics | Sequence[int], *, references: int | str | None = None
    ) -> S:
        """The formula alone: the score of statistics.

        totals: a table of this metric's statistics, whose sum counts, or of a metric that is a
            mean of segments' scores each row; or the k integers of one row in the order of
            `columns`.
        references: how many references there were, for the signature; a table knows it.
        """
        if not isinstance(totals, Statistics):
            return self.score_from_row(self._validate_row(totals), references)
        self._check_table(totals)
        references = totals.references if references is None else references
        if self._is_sum_based or not len(totals):
            return self.score_from_row(totals.total().tolist()[0], references)
        return self._average_rows(totals, references)

    def _average_rows(self, table: Table, references: int | str | None) -> S:
        """The score of a corpus that is no formula of sums."""
        raise NotImplementedError

    def scores(self, totals: Statistics | Table) -> Scores:
        """The score of each row of a table, each taken for the totals of a corpus.

        This is what resampling needs: many sums of one table, many scores.
        """
        return self._checked_scores(totals, segment=False)

    def segment_scores(self, statistics: Statistics | Table) -> Scores:
        """The score of each row of a table, each taken for a segment."""
        return self._checked_scores(statistics, segment=True)

    def _checked_scores(self, table: Table, *, segment: bool) -> Scores:
        self._check_table(table)
        try:
            return self._scores(table, segment=segment)
        except (ArithmeticError, ValueError) as error:
            raise _as_input_error(self, error) from None

    # ---- every pair ----

    @property
    def tokenizes_in_python(self) -> bool:
        """True if its text is split into tokens in Python, so that once a text saves time."""
        plain = self.unicode_form is None and not self.reads_text
        return plain and "tokenize" in self._values and self.TAKES_TOKENS

    def _pairs(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.Hypotheses | None,
        workers: int,
    ) -> Pairs:
        """All pairs, by the kernel or by the formula that is in Python."""
        hypotheses, references = self._normalized(hypotheses, references)
        if self._has_kernel_formula:
            return corpus_inputs.scan_pairs(
                self._kernel, hypotheses, references, workers=workers, **self._tokenizer_settings
            )
        workers = argument_checks.check_workers(workers)
        hypothesis_texts = corpus_inputs.read_single_texts(
            "hypotheses", hypotheses, allow_tokens=True
        )
        reference_texts = hypothesis_texts
        if references is not None:
            tokens = corpus_inputs.has_token_segments(hypothesis_texts)
            reference_texts = corpus_inputs.read_single_texts(
                "references", references, allow_tokens=tokens
            )
        metric = self
        if self.tokenizes_in_python and not corpus_inputs.has_token_segments(hypothesis_texts):
            # Each text is split once, and not once for each pair.
            split = tokenizers.make_tokenizer(**self._tokenizer_settings)
            hypothesis_texts, reference_texts = (
                tuple(map(split, texts)) for texts in (hypothesis_texts, reference_texts)
            )
            metric = self.with_parameters(tokenize="none", lowercase=False)
        return PairsInPython(metric._make_pair_scorer(workers), hypothesis_texts, reference_texts)  # noqa: SLF001

    def _make_pair_scorer(self, workers: int) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        """Return a function that scores texts against as many references, as `sentence` does."""
        if self.NEEDS_SOURCE:
            raise ValueError(f"{self.NAME} needs a source beside each pair")
        return lambda texts, others: self._segments(Corpus(texts, others, workers, is_part=True))

    # ---- checks ----

    def _check_table(self, table: Table) -> None:
        if isinstance(table, Statistics):
            self.check_fingerprint("statistics", table.fingerprint)
            if table.columns != self.columns:
                table_columns, metric_columns = (
                    ", ".join(columns) for columns in (table.columns, self.columns)
                )
                raise InputError(
                    f"these statistics have other columns than those of {self.name}: "
                    f"{table_columns}; expected {metric_columns}"
                )
            table.check(*self.constraints)
        elif table.width != len(self.columns):
            raise InputError(f"expected {len(self.columns)} columns, not {table.width}")

    def check_fingerprint(self, subject: str, fingerprint: str) -> None:
        """Raises InputError for statistics or totals that another metric has counted."""
        if fingerprint != self.fingerprint:
            raise InputError(
                f"these {subject} were made with {fingerprint}, and this metric is "
                f"{self.fingerprint}"
            )

    def check_totals(self, subject: str, totals: Sequence[int]) -> None:
        """Raises InputError for the integers of a row that this metric cannot have counted."""
        if len(totals) != len(self.columns):
            raise InputError(f"{subject}: expected {len(self.columns)} totals, not {len(totals)}")
        try:
            Table.from_rows([totals], len(totals)).check(*self.constraints)
        except InputError as error:
            raise InputError(f"{subject}: {error}") from None

    def _validate_row(self, totals: Sequence[int]) -> list[int]:
        try:
            row = [value.__index__() for value in totals]
        except (AttributeError, TypeError):
            row = None
        if row is None or any(
            value < 0 and name not in self._signed_columns
            for value, name in zip(row, (*self.columns, *[""] * len(row)), strict=False)
        ):
            raise InputError(
                "totals: expected a table of statistics or a row of integers, none negative, "
                f"not {totals!r:.80}"
            )
        if len(row) != len(self.columns):
            columns = ", ".join(self.columns)
            raise InputError(f"totals: expected {len(self.columns)}, not {len(row)}: {columns}")
        if any(not -INT64_LIMIT <= value < INT64_LIMIT for value in row):
            raise InputError(f"totals: expected integers of 64 bits, not {totals!r:.80}")
        return row

    # ---- a value ----

    def __dir__(self) -> list[str]:
        return [*self.PUBLIC, *self._values]

    def __str__(self) -> str:
        """The signature, with the metric's name: it makes the metric again."""
        return f"{self.name}|{self.signature(segment=None)}"


def _as_input_error(metric: Metric[Any], error: Exception) -> InputError:
    """The error for integers that the formula cannot take; other reasons stay what they are."""
    if isinstance(error, InputError):
        return error
    return InputError(
        f"these statistics have no score of {metric.name} ({error}); they are not those of text"
    )


def count_references(reference_range: tuple[int, int] | None) -> int | str | None:
    """The number of references per segment, given the fewest and the most; or "var"."""
    if reference_range is None:
        return None
    minimum, maximum = reference_range
    return maximum if minimum == maximum else "var"
