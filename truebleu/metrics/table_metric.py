"""A metric with a table of integers: the verbs that all such metrics share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Metric, MetricFailedError, Score, html_table
from truebleu.metrics.statistics import SHOWN, Statistics
from truebleu.text import checks, inputs, tokenizers
from truebleu.text.segments import lasting

if TYPE_CHECKING:
    from truebleu._kernel import Pairs as CompiledPairs
    from truebleu._kernel import Scan, ScriptSummary, Summary
    from truebleu.metrics.base import Signature
    from truebleu.metrics.matrix import Matrix, PairsInPython, Triangle

    Pairs = CompiledPairs | PairsInPython
    # Metrics that could not score something, and why.
    Failed = dict["TableMetric[Any]", MetricFailedError]
    # The names of columns, the numbers of those that may be below 0, and what limits others.
    Rules = tuple[Sequence[str], list[int], list[tuple[int, int, int]]]
    # A row per segment, and the fewest and the most references of a segment.
    Rows = tuple[list[list[int]], tuple[int, int]]
    # Of `means_of_sets`: the sizes, the order of references, their weights, and the divisor.
    Set = tuple[int, int, Sequence[int], Sequence[float] | None, float]

S = TypeVar("S", bound=Score)

# sacreBLEU's sum of logarithms, and a mean of scores, is Python's sum(), which adds with
# compensation since 3.12: the last bit depends on the Python that computes it. The kernel does as
# this Python does.
COMPENSATED = sys.version_info >= (3, 12)

# A mean of lengths is counted in parts of a token, so that it is an integer: 1 to 16 all divide it.
PARTS = 720720

# NLTK's BLEU is not 0 but a tiny positive number where a precision is 0.
PRINTED_AS_ZERO = 1e-9

# Integers of 64 bits are below this, and not below its negative.
LARGEST = 1 << 63

# The column of metrics that count the tokens of hypotheses.
LENGTH = "hypothesis_length"


def _html_of_scores(scores: Scores) -> str:
    rows = [*enumerate(scores[:SHOWN]), *([("…",)] if len(scores) > SHOWN else [])]
    return html_table(f"Scores: {len(scores):,} segments", rows)


# The kernel, which makes them, knows no HTML.
Scores._repr_html_ = _html_of_scores  # type: ignore[attr-defined]


def unpacked(row: bytes) -> list[int]:
    """The row of one segment, of which the kernel gives the bytes."""
    return memoryview(row).cast("q").tolist()


class TableScore(Score):
    """A score: a row of statistics, and the result of the metric's formula."""

    __slots__ = ("_given", "_metric", "_references", "_segment", "_value")

    # The attributes to show.
    DETAILS: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        metric: Any,
        row: Sequence[int],
        references: int | str | None,
        segment: bool = False,
        value: float | None = None,
    ) -> None:
        self._metric = metric
        # The row; or its bytes, as the kernel gives that of one segment: few are ever looked at.
        self._given = row
        self._references = references
        self._segment = segment
        self._value: float = metric._value(row, segment=segment) if value is None else value  # noqa: SLF001

    @property
    def name(self) -> str:
        """The metric's name, with the parameters that are part of it: "chrF2++", "TER"."""
        return self._metric.name  # type: ignore[no-any-return]

    @property
    def value(self) -> float:
        """The score, to sacreBLEU's last bit."""
        return self._value

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is unusual about the score, in a sentence each; most scores have none."""
        return self._metric.warnings  # type: ignore[no-any-return]

    def details(self) -> dict[str, Any]:
        """The components of the score."""
        values = ((name, getattr(self, name)) for name in self.DETAILS)
        return {name: list(own) if isinstance(own, tuple) else own for name, own in values}

    @property
    def zero_reason(self) -> str:
        """The reason why the score is 0, and what to use instead; empty for other scores.

        >>> from truebleu import BLEU
        >>> BLEU(max_order=2).score(["yes"], ["yes"]).zero_reason
        'no hypothesis has 2 tokens, and BLEU needs n-grams of each order up to 2; ...'
        """
        if abs(self.value) >= PRINTED_AS_ZERO:
            return ""
        return self._metric.zero_reason(self._row, segment=self._segment)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self._metric, self.row, self._references, self._segment, self._value)
        return type(self), given

    @property
    def _row(self) -> Sequence[int]:
        given = self._given
        if isinstance(given, bytes):
            given = self._given = unpacked(given)
        return given

    @property
    def row(self) -> tuple[int, ...]:
        """The statistics that it is made of, in the order of the metric's columns."""
        return tuple(self._row)

    @property
    def signature(self) -> Signature:
        """A complete description of the computation, enough to reproduce it."""
        return self._metric.signature(self._references, segment=self._segment)  # type: ignore[no-any-return]


class Corpus:
    """The text to count: hypotheses, references, for some metrics the sources; and how.

    progress: called about twenty times a second with the number of segments so far.
    totals: True if the sum of all rows is wanted, and not the rows.
    is_part: True if more text follows, so that `check_corpus` must wait for the sum of all.
    """

    __slots__ = (
        *("hypotheses", "is_part", "normalize", "progress", "references", "sources", "totals"),
        "workers",
    )

    def __init__(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        workers: int = 1,
        sources: inputs.Hypotheses | None = None,
        progress: Callable[[int], None] | None = None,
        *,
        totals: bool = False,
        is_part: bool = False,
    ) -> None:
        self.hypotheses = hypotheses
        self.references = references
        self.workers = checks.threads(workers)
        self.sources = sources
        self.progress = progress
        self.totals = totals
        self.is_part = is_part
        # The Unicode form that the text was converted to.
        self.normalize: str | None = None

    def normalized(self, form: str | None) -> Corpus:
        """Return the corpus with its text in a Unicode form; itself without one."""
        if form == self.normalize:
            return self
        from truebleu.text.inputs import normalize_input

        hypotheses, references, sources = (
            normalize_input(form, value)
            for value in (self.hypotheses, self.references, self.sources)
        )
        made = Corpus(
            *(hypotheses, references, self.workers, sources, self.progress),
            totals=self.totals,
            is_part=self.is_part,
        )
        made.normalize = form
        return made


class TableMetric(Metric, Generic[S]):
    """A metric that is a row of integers per segment, a sum, and a formula; its scores are an `S`.

    A subclass names its `columns`, and the class of its scores (`SCORE`), counts the rows
    (`_count`), and has the formula (`_scores`).
    """

    __slots__ = ()

    normalize = p.normalization()

    SCORE: ClassVar[type[TableScore]]
    # The reason why statistics of parts do not add up to those of the whole, or None.
    NOT_ADDITIVE: str | None = None
    # True if it needs the source of each segment.
    NEEDS_SOURCE = False
    # True if it may fail on text that others can score.
    FALLIBLE = False
    # False if it reads text alone, and no lists of tokens.
    TAKES_TOKENS = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics."""
        raise NotImplementedError

    @property
    def _signed(self) -> tuple[str, ...]:
        """The columns whose integers may be below 0."""
        return ()

    @property
    def _limits(self) -> tuple[tuple[str, int, str], ...]:
        """What limits columns, in every row and so in every sum of rows.

        The size of the first column is at most so many times that of the last.
        """
        return ()

    @property
    def rules(self) -> Rules:
        """What holds of its rows, as the kernel checks it: columns are numbers there."""
        columns = self.columns
        places = {name: place for place, name in enumerate(columns)}
        limits = [(places[column], most, places[by]) for column, most, by in self._limits]
        return columns, [places[name] for name in self._signed], limits

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of what stands beside the scores of segments in a list: the columns."""
        return self.columns

    def beside_of(self, table: Table) -> list[Any]:
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
        if self._sums:
            return self.NOT_ADDITIVE
        mean = f"{self.NAME} by segments is a mean of segments' scores, which do not add up exactly"
        return self.order_matters or mean

    @property
    def order_matters(self) -> str | None:
        """The reason why the order of segments matters, which rules out resampling, or None."""
        return None

    @property
    def _splitting(self) -> dict[str, Any]:
        """The tokenizer and lower-casing, of metrics that take tokens or custom tokenizers."""
        values = self._values
        if "tokenize" not in values:
            return {}
        return {"tokenize": values["tokenize"], "lowercase": values["lowercase"]}

    @property
    def recipe(self) -> dict[str, Any] | None:
        """The parameters that the kernel takes; None for a metric that it does not count."""
        return None

    @property
    def reads_text(self) -> bool:
        """True if the kernel reads the text itself; other metrics can then share the reading."""
        return False

    def score_of(
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
            raise _told_failure(self, error) from None

    def zero_reason(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return why the score of a row is 0, and what to use instead; empty if that is plain."""
        return ""

    def _count(self, corpus: Corpus) -> tuple[Table, Summary]:
        """A row per segment, or their sum, and what was noticed of the text."""
        raise NotImplementedError

    def _scan(self, corpus: Corpus) -> Scan | None:  # noqa: ARG002
        """The kernel's run over the text, if it is the kernel that counts."""
        return None

    def _scores(self, table: Table, *, segment: bool) -> Scores:
        """The score of each row, 0-100: taken for a segment, or for the totals of a corpus."""
        raise NotImplementedError

    # ---- one corpus ----

    def count(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        *,
        workers: int = 1,
        sources: inputs.Hypotheses | None = None,
        progress: Callable[[int], None] | None = None,
        totals: bool = False,
        is_part: bool = False,
    ) -> tuple[Statistics, Summary]:
        """The table of statistics, or with `totals` its sum, and what was noticed of the text.

        Memory does not grow with the size of files if `totals` are asked for. Arguments are as
        for `Corpus`.
        """
        return self.counted(
            Corpus(
                *(hypotheses, references, workers, sources, progress),
                totals=totals,
                is_part=is_part,
            )
        )

    def counted(self, corpus: Corpus) -> tuple[Statistics, Summary]:
        """The same, of a corpus."""
        table, seen = self._checked_count(corpus.normalized(self.unicode_form))
        return self.table_of(table, count_references(seen["references"])), seen

    @property
    def unicode_form(self) -> str | None:
        """The Unicode form that text is converted to first: the parameter `normalize`."""
        return self._values["normalize"]  # type: ignore[no-any-return]

    def _corpus(self, *given: Any, **named: Any) -> Corpus:
        """Return the corpus of these arguments of `Corpus`, in the metric's Unicode form."""
        return Corpus(*given, **named).normalized(self.unicode_form)

    def _normalized(self, *texts: Any) -> tuple[Any, ...]:
        """Return texts of any kind in the metric's Unicode form."""
        form = self.unicode_form
        if form is None:
            return texts
        from truebleu.text.inputs import normalize_input

        return tuple(normalize_input(form, text) for text in texts)

    def _checked_count(self, corpus: Corpus) -> tuple[Table, Summary]:
        if self.NEEDS_SOURCE and corpus.sources is None:
            raise InputError(f"{self.NAME} needs the source of each segment")
        table, seen = self._count(corpus)
        self.check(seen, corpus.hypotheses)
        if not corpus.is_part:
            self.check_corpus(table)
        return table, seen

    def check_corpus(self, table: Table) -> None:
        """Raise MetricFailedError if the table is of a corpus that the metric cannot score."""

    def table_of(self, table: Table, references: int | str | None) -> Statistics:
        """Rows as statistics of this metric."""
        return Statistics(
            table, columns=self.columns, fingerprint=self.fingerprint, references=references
        )

    def reference_text(self, corpus: Corpus, seen: Summary) -> ScriptSummary:  # noqa: ARG002
        """Return what was noticed in the references of a corpus that this metric has counted."""
        return seen["reference_text"]

    def check(self, seen: Summary, hypotheses: object) -> None:
        """Raises InputError if this metric is not defined for what was seen."""
        if not seen["segments"]:
            name = inputs.label("hypotheses", hypotheses)
            raise InputError(f"{name}: no segments at all; there is nothing to score")

    def score(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
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
        return self._score(self._corpus(hypotheses, references, workers, totals=self._sums))

    def _score(self, corpus: Corpus) -> S:
        table, seen = self._checked_count(corpus)
        references = count_references(seen["references"])
        if corpus.totals:
            return self.score_of(table.tolist()[0], references)
        return self._score_of_rows(table, references)

    @property
    def _sums(self) -> bool:
        """True if the score of a corpus is a formula of sums, not a mean of segment scores."""
        return True

    @property
    def is_mean(self) -> bool:
        """True if the score of a corpus is the mean of its segments' scores, which is resampled."""
        return not self._sums

    def statistics(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Statistics:
        """The table of what was counted, a row per segment. Arguments as for `score`."""
        return self.count(hypotheses, references, workers=workers)[0]

    def segments(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Scores:
        """The score of each segment: n numbers, 0-100. Arguments as for `score`.

        >>> from truebleu import BLEU
        >>> BLEU().segments(["a b c d e", "a b"], ["a b c d f", "a c"])
        Scores(2 segments: [66.87, 50.00])
        """
        return self._segments(self._corpus(hypotheses, references, workers))

    def _segments(self, corpus: Corpus) -> Scores:
        return self._scores(self._checked_count(corpus)[0], segment=True)

    # ---- one segment ----

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> S:
        """The score of one segment."""
        return self._sentence_of(hypothesis, references)

    def _sentence_of(self, hypothesis: Any, references: Any, sources: Any = None) -> S:
        """The general path, which takes all kinds of input and explains errors."""
        if isinstance(hypothesis, bytes) or not hasattr(hypothesis, "__len__"):
            raise TypeError(f"hypothesis: expected a str, not {checks.described(hypothesis, '')}")
        one = tuple(references) if isinstance(references, list) else references
        table, seen = self._checked_count(self._corpus((hypothesis,), (one,), sources=sources))
        row = table.tolist()[0]
        return self.score_of(row, count_references(seen["references"]), segment=True)

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
            return self.score_of(self._checked_row(totals), references)
        self._check_table(totals)
        references = totals.references if references is None else references
        if self._sums or not len(totals):
            return self.score_of(totals.total().tolist()[0], references)
        return self._score_of_rows(totals, references)

    def _score_of_rows(self, table: Table, references: int | str | None) -> S:
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
            raise _told_failure(self, error) from None

    # ---- every pair ----

    @property
    def splits_text(self) -> bool:
        """True if its text is split into tokens in Python, so that once a text saves time."""
        plain = self.unicode_form is None and not self.reads_text
        return plain and "tokenize" in self._values and self.TAKES_TOKENS

    def _pairs(
        self, hypotheses: inputs.Hypotheses, references: inputs.Hypotheses | None, workers: int
    ) -> Pairs:
        """All pairs, by the formula that is in Python."""
        from truebleu.metrics.matrix import PairsInPython

        workers = checks.threads(workers)
        hypotheses, references = self._normalized(hypotheses, references)
        first = inputs.one_each("hypotheses", hypotheses, tokens=True)
        second = first
        if references is not None:
            tokens = inputs.is_tokens(first)
            second = inputs.one_each("references", references, tokens=tokens)
        metric = self
        if self.splits_text and not inputs.is_tokens(first):
            # Each text is split once, and not once for each pair.
            split = tokenizers.tokenizer(**self._splitting)
            first, second = (tuple(map(split, texts)) for texts in (first, second))
            metric = self.with_parameters(tokenize="none", lowercase=False)
        return PairsInPython(metric._scores_of_pairs(workers), first, second)  # noqa: SLF001

    def _scores_of_pairs(self, workers: int) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        """A function from texts and as many references to scores, as `sentence` gives them."""
        if self.NEEDS_SOURCE:
            raise ValueError(f"{self.NAME} needs a source beside each pair")

        def scores(texts: Sequence[Any], others: Sequence[Any]) -> Scores:
            return self._segments(Corpus(texts, others, workers, is_part=True))

        return scores

    def matrix(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
        dtype: object = "float64",
    ) -> Matrix:
        """The score of each hypothesis against each reference, each as `sentence` gives it.

        hypotheses, references: n and m strings (any sequence, an Arrow column, a file). Without
            references, the hypotheses against each other, each against itself too.
        workers: threads. The scores are the same for any number.
        dtype: "float64", or "float32" for half the memory.

        Gives a `Matrix` of n × m scores, 0-100. Memory beside them is that of the texts. Raises
        InputError for no texts or a missing one, MemoryError, before anything is scored, if the
        scores do not fit into memory.

        >>> from truebleu import BLEU
        >>> print(BLEU().matrix(["a b c d", "a b"], ["a b c d", "a b c e", "f"]))
        Matrix(2 x 3, float64)
        [100.00  59.46   0.00]
        [ 36.79  36.79   0.00]
        """
        from truebleu.metrics.matrix import Matrix, is_single

        single = is_single(dtype)
        return Matrix(self._pairs(hypotheses, references, workers).matrix(single, False))

    def triangle(
        self, texts: inputs.Hypotheses, *, workers: int = 1, dtype: object = "float64"
    ) -> Triangle:
        """The score of each text against each later one: n(n-1)/2, half of `matrix(texts)`.

        Arguments and errors as for `matrix`.

        >>> from truebleu import BLEU
        >>> BLEU().triangle(["a b c d", "a b c e", "f"])[0, 1]
        59.46...
        """
        from truebleu.metrics.matrix import Triangle, is_single

        single = is_single(dtype)
        return Triangle(self._pairs(texts, None, workers).matrix(single, True))

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
        wanted = checks.whole("k", k, 1)
        pairs = self._pairs(hypotheses, references, workers)
        return pairs.top_k(min(wanted, pairs.shape[1]), self.lower_is_better)

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

        weights: a number per reference, none negative; their sum is made 1.
        workers: threads. The scores are added from left to right, so they are the same for any
            number: sum(w * s) / sum(w), or sum(s) / m.

        Memory grows with the texts, not with n · m. Other arguments and errors as for `matrix`.

        >>> from truebleu import BLEU
        >>> BLEU().expected(["a b c d", "a b c e", "f"])
        Scores(3 segments: [53.15, 53.15, 33.33])
        """
        from truebleu.metrics.matrix import checked_weights

        pairs = self._pairs(hypotheses, references, workers)
        count = pairs.shape[1]
        if weights is None:
            return pairs.expected(None, float(count), COMPENSATED)
        numbers = checked_weights(weights, count)
        return pairs.expected(numbers, sum(numbers), COMPENSATED)

    def means_of_sets(
        self,
        hypotheses: Sequence[str],  # noqa: ARG002
        references: Sequence[str] | None,  # noqa: ARG002
        sets: Sequence[Set],  # noqa: ARG002
        *,
        workers: int = 1,  # noqa: ARG002
    ) -> Scores | None:
        """`expected` of many small sets in one call; None where that is no faster than one by one.

        hypotheses, references: the texts of all sets, one after the other; without references, the
            hypotheses of a set against each other.
        sets: of each the number of hypotheses; the number of different references; the places of
            references in the order in which their scores are added, some perhaps several times; a
            weight for each of these, or None; and what the sum is divided by. A set has at most
            4,096 texts of a side.
        workers: threads.
        """
        return None

    def against_sums(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.Hypotheses,
        sets: Sequence[tuple[int, int]],
        *,
        weights: Sequence[int] | None = None,
        workers: int = 1,
    ) -> Scores | None:
        """The score of each hypothesis against the sum of its set's references: linear time.

        The counts of a set's m references are added up, and those of a hypothesis multiplied by m:
        of an n-gram that it has c times, and they t times together, min(m · c, t) match. The
        formula is that of `sentence`.

        sets: how many of the hypotheses, and how many of the references, are of the first set, of
            the second, ...
        weights: for each reference how often it counts; those of a set are below 2³¹ together.

        None if n-grams are not what this metric counts. Other arguments and errors as for `matrix`.

        >>> from truebleu import CHRF, TER
        >>> CHRF().against_sums(["the cat", "a dog"], ["the cat sat", "the cats"], [(2, 2)])
        Scores(2 segments: [64.65, 3.47])
        >>> TER().against_sums(["the cat"], ["the cats"], [(1, 1)]) is None
        True
        """
        pairs = self._pairs(hypotheses, references, workers)
        return pairs.against_sums(sets, weights)

    # ---- checks ----

    def _check_table(self, table: Table) -> None:
        if isinstance(table, Statistics):
            self.check_fingerprint("statistics", table.fingerprint)
            if table.columns != self.columns:
                theirs, own = (", ".join(columns) for columns in (table.columns, self.columns))
                raise InputError(
                    f"these statistics have other columns than those of {self.name}: {theirs}; "
                    f"expected {own}"
                )
            table.check(*self.rules)
        elif table.width != len(self.columns):
            raise InputError(f"expected {len(self.columns)} columns, not {table.width}")

    def check_fingerprint(self, what: str, fingerprint: str) -> None:
        """Raises InputError for statistics or totals that another metric has counted."""
        if fingerprint != self.fingerprint:
            raise InputError(
                f"these {what} were made with {fingerprint}, and this metric is {self.fingerprint}"
            )

    def check_totals(self, what: str, totals: Sequence[int]) -> None:
        """Raises InputError for the integers of a row that this metric cannot have counted."""
        if len(totals) != len(self.columns):
            raise InputError(f"{what}: expected {len(self.columns)} totals, not {len(totals)}")
        try:
            Table.from_rows([totals], len(totals)).check(*self.rules)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None

    def _checked_row(self, totals: Sequence[int]) -> list[int]:
        try:
            row = [value.__index__() for value in totals]
        except (AttributeError, TypeError):
            row = None
        if row is None or any(value < 0 for value in self._unsigned(row)):
            raise InputError(
                "totals: expected a table of statistics or a row of integers, none negative, "
                f"not {totals!r:.80}"
            )
        if len(row) != len(self.columns):
            columns = ", ".join(self.columns)
            raise InputError(f"totals: expected {len(self.columns)}, not {len(row)}: {columns}")
        if any(not -LARGEST <= value < LARGEST for value in row):
            raise InputError(f"totals: expected integers of 64 bits, not {totals!r:.80}")
        return row

    def _unsigned(self, row: Sequence[int]) -> Iterator[int]:
        """Those integers of a row, or of what should be one, that cannot be below 0."""
        signed = self._signed
        names = (*self.columns, *[""] * len(row))
        return (value for value, name in zip(row, names, strict=False) if name not in signed)


def _told_failure(metric: TableMetric[Any], error: Exception) -> InputError:
    """The error for integers that the formula cannot take; other reasons stay what they are."""
    if isinstance(error, InputError):
        return error
    return InputError(
        f"these statistics have no score of {metric.name} ({error}); they are not those of text"
    )


def count_references(seen: tuple[int, int] | None) -> int | str | None:
    """The number of references per segment, given the fewest and the most; or "var"."""
    if seen is None:
        return None
    fewest, most = seen
    return most if fewest == most else "var"


def count_together(
    metrics: Sequence[TableMetric[Any]], corpus: Corpus
) -> tuple[list[Statistics], Summary]:
    """The statistics of several metrics, and what was noticed; those that can read text together.

    If totals are wanted, one row each, the sum. The corpus is of no use afterwards.
    """
    failed: Failed = {}
    tables, seen = count_those_that_can(metrics, corpus, failed)
    for error in failed.values():
        raise error
    return tables, seen


def count_those_that_can(
    metrics: Sequence[TableMetric[Any]], corpus: Corpus, failed: Failed, system: str = ""
) -> tuple[list[Statistics], Summary]:
    """The same, of the metrics that can score this; what others say is put into `failed`.

    system: whose text it is, if that is to be said. Raises the first error if no metric is left.
    """
    forms = {metric.unicode_form for metric in metrics}
    if len(forms) == 1:  # so that text is converted once
        corpus = corpus.normalized(*forms)
    readers, totals = _readers(metrics, corpus), corpus.totals
    if not readers or len(metrics) > len(readers):
        corpus.hypotheses = lasting(corpus.hypotheses)
        corpus.references = lasting(corpus.references)
    found: dict[TableMetric[Any], Statistics] = {}
    seen: Summary | None = None
    if len(readers) > 1:
        run = _scan_together(readers, corpus)
        whole = totals and all(metric._sums for metric in readers)  # noqa: SLF001
        table, seen = run.totals(corpus.progress) if whole else run.table()
        found = _split(readers, table, seen, corpus)
    for metric in metrics:
        if metric not in found:
            corpus.totals = totals and metric._sums  # noqa: SLF001
            try:
                found[metric], noticed = metric.counted(corpus)
            except MetricFailedError as error:
                failed[metric] = type(error)(f"{system}: {error}") if system else error
                continue
            seen = noticed if seen is None or metric.reads_text else seen
    if seen is None:
        raise next(failed[metric] for metric in metrics)
    left = [metric for metric in metrics if metric in found]
    if not readers:
        seen = {**seen, "reference_text": left[0].reference_text(corpus, seen)}
    tables = [found[metric] for metric in left]
    return tables, _with_tokens(seen, left, tables)


def pieces_together(
    metrics: Sequence[TableMetric[Any]], corpus: Corpus, segments: int
) -> Iterator[tuple[list[tuple[Statistics, Scores]], Summary]]:
    """By each metric the statistics and scores of about so many segments at a time.

    Where the kernel reads the text for all of them, memory does not grow with the size of files.
    """
    if len(metrics) == 1:
        corpus = corpus.normalized(metrics[0].unicode_form)
        run = metrics[0]._scan(corpus)  # noqa: SLF001
    else:
        together = len(_readers(metrics, corpus)) == len(metrics)
        run = _scan_together(metrics, corpus) if together else None
    if run is None:
        tables, seen = count_together(metrics, corpus)
        pairs = zip(metrics, tables, strict=True)
        yield [(table, metric.segment_scores(table)) for metric, table in pairs], seen
        return
    table, seen = run.table(segments)
    # Nothing at all is an error; nothing more is the end.
    TableMetric.check(metrics[0], seen, corpus.hypotheses)
    while seen["segments"]:
        found = _split(metrics, table, seen, corpus)
        tables = [found[metric] for metric in metrics]
        pairs = zip(metrics, tables, strict=True)
        seen = _with_tokens(seen, metrics, tables)
        yield [(table, metric.segment_scores(table)) for metric, table in pairs], seen
        table, seen = run.table(segments)


def _with_tokens(
    seen: Summary, metrics: Sequence[TableMetric[Any]], tables: Sequence[Statistics]
) -> Summary:
    """What was noticed, and the number of tokens if a metric with a tokenizer counts them."""
    for metric, table in zip(metrics, tables, strict=True):
        if "tokenize" in metric.parameters and LENGTH in metric.columns:
            return {**seen, "tokens": table.sum().column(LENGTH)[0]}
    return seen


def _readers(metrics: Sequence[TableMetric[Any]], corpus: Corpus) -> list[TableMetric[Any]]:
    """The metrics for which the kernel reads the text."""
    hypotheses = corpus.hypotheses
    tokens = isinstance(hypotheses, list | tuple) and inputs.is_tokens(tuple(hypotheses[:1]))
    return [] if tokens else [metric for metric in metrics if metric.reads_text]


def _scan_together(metrics: Sequence[Any], corpus: Corpus) -> Scan:
    first, *others = (metric._kernel for metric in metrics)  # noqa: SLF001
    return inputs.scan(
        first, corpus.hypotheses, corpus.references, workers=corpus.workers, others=others
    )


def _split(
    metrics: Sequence[TableMetric[Any]], table: Table, seen: Summary, corpus: Corpus
) -> dict[TableMetric[Any], Statistics]:
    """The columns of each metric, of a table that has those of all beside each other."""
    found: dict[TableMetric[Any], Statistics] = {}
    number, start = count_references(seen["references"]), 0
    for metric in metrics:
        metric.check(seen, corpus.hypotheses)
        stop = start + len(metric.columns)
        own = table if len(metrics) == 1 else table.columns_of(range(start, stop))
        found[metric] = metric.table_of(own, number)
        start = stop
    return found
