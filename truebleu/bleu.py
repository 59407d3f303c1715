"""BLEU: its parameters, its columns, its formula.

Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002): BLEU, a method for automatic
evaluation of machine translation. ACL. Counting and arithmetic are sacreBLEU 2.6.0's (Matt Post,
2018: A call for clarity in reporting BLEU scores. WMT), operation by operation.
"""

from __future__ import annotations

from truebleu import _kernel, bleu_signature, inputs, tokenizers
from truebleu._kernel import InputError, Scores, Table
from truebleu.bleu_score import BLEUScore
from truebleu.counted import COMPENSATED, Counted, count_references
from truebleu.formula import SMOOTHING, Formula
from truebleu.statistics import Statistics

__all__ = ["BLEU", "SMOOTHING", "BLEUScore", "bleu"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from truebleu.counted import Pairs
    from truebleu.metric import Signature, Summary

# The other parameters that are one of a few words; sacreBLEU's is the first.
CHOICES: dict[str, tuple[object, ...]] = {
    "lowercase": (False, True, "ascii", "after"),
    "reference_length": (
        "closest",
        "shortest",
        "longest",
        "average",
        "average-truncated",
        "single",
    ),
    "tie": ("shorter", "first", "longer"),
    "brevity_penalty": ("standard", "plus-one", "coco", "none"),
    "missing_order": (None, "zero", "one", "drop", "at-least-one"),
    "no_match": ("zero", "any-zero", "smoothed"),
    "aggregate": ("corpus", "segments"),
    "arithmetic": ("sacrebleu", "nltk", "nmt", "coco", "codenn", "allennlp", "float32"),
}

# What the kernel calls the cases; "after" is done in Python.
LOWERCASE: dict[object, str] = {False: "no", True: "python", "ascii": "ascii", "after": "no"}

# A mean reference length is counted in parts of a token, so that it is an integer.
PARTS = 720720


class BLEU(Counted[BLEUScore]):
    """BLEU with its parameters. The defaults are sacreBLEU's.

    tokenize: a name ("13a", "intl", "zh", "char", "none") or a callable from str to a list of
        str, or to a str that is split at white space.
    lowercase: lower-case the text first, as `str.lower()`.
    smoothing: what to do about orders without a match: "exp" (1/2, 1/4, ... of a match, as
        mteval-v13a), "floor" (`smoothing_value` matches), "add-k" (`smoothing_value` more matches
        and n-grams above order 1), "none" (the score is 0).
    smoothing_value: default 0.1 for "floor", 1 for "add-k".
    effective_order: leave out orders that the hypothesis is too short for. None is off for a
        corpus and on for single segments, as in sacreBLEU's corpus_bleu, sentence_bleu and
        command line; True and False are for both.
    max_order: the longest n-grams, 1 to 16.
    weights: one an order; None for the mean. With effective order, those of the orders left are
        scaled to the sum 1.

    The parameters below are where published implementations differ; `truebleu.family` has a row
    of them for each.

    lowercase: also "ascii" (A to Z only) and "after" (each token, after tokenizing).
    smoothing: also "add-k-all" (order 1 too), "epsilon" (pycocoevalcap's guards), "tiny" (the
        smallest positive number for an order without a match), "add-k-tiny" (add-k, and that
        number of matches for order 1).
    reference_length: of several references the "closest" to the hypothesis in length, the
        "shortest", the "longest", their "average", "average-truncated" to an integer in each
        segment, or "single": more than one is refused.
    tie: which of two equally close lengths: "shorter", "first", "longer".
    brevity_penalty: exp(1 - r/c) if c < r is "standard"; "plus-one" adds 1 to both lengths; "coco"
        is pycocoevalcap's; "none" is always 1.
    empty_brevity: the brevity penalty of hypotheses without tokens: 0 or 1.
    missing_order: an order that the hypotheses are too short for: makes the score 0 ("zero"),
        counts as precision 1 ("one"), is left out ("drop", which is effective order), or cannot
        happen because every segment counts at least one n-gram ("at-least-one"). None is "drop"
        or "zero" by effective order.
    no_match: without any match the score is 0 ("zero"); it is 0 without a match in any one order
        ("any-zero"); smoothing may make it positive ("smoothed").
    aggregate: `score` is of the summed counts ("corpus") or the mean of all segments' scores
        ("segments").
    scale: 100 or 1: in which scale the score is published (`Score.published`).
    arithmetic: whose order of floating-point operations: "sacrebleu", "nltk", "nmt", "coco",
        "codenn", "allennlp", or "float32" (in single precision). It decides the last bit.

    >>> metric = BLEU(lowercase=True)
    >>> print(metric.score(["The cat sat on the mat."], ["the cat sat on a mat."]))
    BLEU = 48.89 85.7/66.7/40.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 7 ref_len = 7)
    """

    __slots__ = ("_in_kernel", "_plain")

    NAME = "BLEU"
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "13a",
        "lowercase": False,
        "smoothing": "exp",
        "smoothing_value": None,
        "effective_order": None,
        "max_order": 4,
        "weights": None,
        "reference_length": "closest",
        "tie": "shorter",
        "brevity_penalty": "standard",
        "empty_brevity": 0.0,
        "missing_order": None,
        "no_match": "zero",
        "aggregate": "corpus",
        "scale": 100.0,
        "arithmetic": "sacrebleu",
    }
    # After the first four, they are not sacreBLEU's: it has no name for these parameters.
    SHORT_NAMES = {  # noqa: RUF012
        "case": "c",
        "eff": "e",
        "tok": "tok",
        "smooth": "s",
        "order": "ord",
        "weights": "wt",
        "value": "val",
        "reflen": "rl",
        "tie": "ti",
        "bp": "bp",
        "bp0": "b0",
        "miss": "mi",
        "zero": "z",
        "agg": "ag",
        "scale": "sc",
        "arith": "fp",
    }

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "13a",
        *,
        lowercase: bool | str = False,
        smoothing: str = "exp",
        smoothing_value: float | None = None,
        effective_order: bool | None = None,
        max_order: int = 4,
        weights: Sequence[float] | None = None,
        reference_length: str = "closest",
        tie: str = "shorter",
        brevity_penalty: str = "standard",
        empty_brevity: float = 0.0,
        missing_order: str | None = None,
        no_match: str = "zero",
        aggregate: str = "corpus",
        scale: float = 100.0,
        arithmetic: str = "sacrebleu",
    ) -> None:
        tokenizers.check(tokenize)
        if smoothing not in SMOOTHING:
            raise ValueError(
                f"unknown smoothing {smoothing!r}{tokenizers.nearest(str(smoothing), SMOOTHING)}"
            )
        if smoothing_value is not None:
            if SMOOTHING[smoothing] is None:
                raise ValueError(f"smoothing '{smoothing}' takes no value; {_valued()} do")
            smoothing_value = bleu_signature.number("smoothing_value", smoothing_value)
        if type(max_order) is not int or not 1 <= max_order <= 16:
            raise ValueError(f"max_order={max_order!r}: n-grams can be 1 to 16 tokens long")
        if missing_order is not None and effective_order is not None:
            raise ValueError("give either effective_order or missing_order; both say the same")
        super().__init__(
            tokenize=tokenize,
            lowercase=lowercase if isinstance(lowercase, str) else bool(lowercase),
            smoothing=smoothing,
            smoothing_value=smoothing_value,
            effective_order=None if effective_order is None else bool(effective_order),
            max_order=max_order,
            weights=_weights(weights, max_order),
            reference_length=reference_length,
            tie=tie,
            brevity_penalty=brevity_penalty,
            empty_brevity=bleu_signature.number("empty_brevity", empty_brevity),
            missing_order=missing_order,
            no_match=no_match,
            aggregate=aggregate,
            scale=bleu_signature.number("scale", scale),
            arithmetic=arithmetic,
        )
        for name, choices in CHOICES.items():
            if self._values[name] not in choices:
                known = [choice for choice in choices if isinstance(choice, str)]
                nearest = tokenizers.nearest(str(self._values[name]), known)
                raise ValueError(f"unknown {name} {self._values[name]!r}{nearest}")
        # Whether the kernel splits the text itself.
        self._in_kernel = tokenize in tokenizers.NAMES and lowercase != "after"
        # Whether the kernel's formula, which is sacreBLEU's, is this metric's.
        self._plain = (
            smoothing in ("exp", "floor", "add-k", "none")
            and (brevity_penalty, empty_brevity, no_match) == ("standard", 0.0, "zero")
            and missing_order in (None, "zero", "drop")
            and arithmetic == "sacrebleu"
            and reference_length != "average"
        )
        value = self.smoothing_value
        self._kernel = _kernel.Metric.bleu(
            # What Python splits arrives as tokens, which no tokenizer touches.
            tokenizer=str(tokenize) if self._in_kernel else "none",
            lowercase=LOWERCASE[self._values["lowercase"]],
            max_order=max_order,
            reference_lengths=[self.length_rule],
            at_least_one=missing_order == "at-least-one",
            smoothing=smoothing if self._plain else "none",
            smoothing_value=0.0 if value is None else value,
            effective_order=(
                self.missing(segment=True) == "drop",
                self.missing(segment=False) == "drop",
            ),
            weights=self.weights,
            compensated=COMPENSATED,
        )

    @property
    def tokenize(self) -> tokenizers.Tokenize:
        """The tokenizer's name, or the callable."""
        return self._values["tokenize"]  # type: ignore[no-any-return]

    @property
    def lowercase(self) -> bool | str:
        """Whether text is lower-cased, and how."""
        return self._values["lowercase"]  # type: ignore[no-any-return]

    @property
    def smoothing(self) -> str:
        """The smoothing method."""
        return self._values["smoothing"]  # type: ignore[no-any-return]

    @property
    def smoothing_value(self) -> float | None:
        """The value that smoothing uses, given or default; None if it uses none."""
        given: float | None = self._values["smoothing_value"]
        return SMOOTHING[self.smoothing] if given is None else given

    @property
    def effective_order(self) -> bool | None:
        """Whether orders that a hypothesis is too short for are left out; None: for segments."""
        return self._values["effective_order"]  # type: ignore[no-any-return]

    @property
    def max_order(self) -> int:
        """The length of the longest n-grams."""
        return self._values["max_order"]  # type: ignore[no-any-return]

    @property
    def weights(self) -> tuple[float, ...] | None:
        """The weight of each order; None for the mean."""
        return self._values["weights"]  # type: ignore[no-any-return]

    @property
    def aggregate(self) -> str:
        """Whether `score` is of summed counts, or the mean of segments."""
        return self._values["aggregate"]  # type: ignore[no-any-return]

    @property
    def scale(self) -> float:
        """The scale in which the score is published: 100 or 1."""
        return self._values["scale"]  # type: ignore[no-any-return]

    @property
    def arithmetic(self) -> str:
        """Whose order of floating-point operations is followed."""
        return self._values["arithmetic"]  # type: ignore[no-any-return]

    @property
    def length_rule(self) -> str:
        """The rule for the reference length, as the kernel calls it."""
        rule, tie = self._values["reference_length"], self._values["tie"]
        if rule == "single" or (rule == "closest" and tie == "shorter"):
            return "closest"
        return f"closest-{tie}" if rule == "closest" else str(rule)

    @property
    def at_least_one(self) -> bool:
        """Whether every segment counts at least one n-gram of each order."""
        return bool(self._values["missing_order"] == "at-least-one")

    def missing(self, *, segment: bool) -> str:
        """What happens to an order that the hypotheses are too short for."""
        if self._values["missing_order"] is not None:
            return str(self._values["missing_order"])
        effective = segment if self.effective_order is None else self.effective_order
        return "drop" if effective else "zero"

    def formula(self, *, segment: bool = False) -> Formula:
        """What is done with the counts, of a corpus or of one segment."""
        values = self._values
        return Formula(
            smoothing=self.smoothing,
            smoothing_value=0.0 if self.smoothing_value is None else self.smoothing_value,
            missing_order=self.missing(segment=segment),
            no_match=values["no_match"],
            brevity_penalty=values["brevity_penalty"],
            empty_brevity=values["empty_brevity"],
            weights=self.weights,
            arithmetic=self.arithmetic,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics."""
        orders = range(1, self.max_order + 1)
        return (
            "hypothesis_length",
            "reference_length" if self.length_rule != "average" else "reference_length_parts",
            *(f"matches_{order}" for order in orders),
            *(f"totals_{order}" for order in orders),
        )

    @property
    def fingerprint(self) -> str:
        """The parameters that decide the statistics, as `Statistics.fingerprint` has them."""
        tokenizer = tokenizers.label(self.tokenize)
        least = "|least:1" if self._values["missing_order"] == "at-least-one" else ""
        return (
            f"BLEU|tok:{tokenizer}|case:{bleu_signature.CASE[self.lowercase]}|order:{self.max_order}"
            f"|reflen:{self.length_rule}{least}"
        )

    def observed(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        *,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[BLEUScore, Summary]:
        """`score`, and what was noticed of the text while it was read.

        `progress` is called about twenty times a second with the number of segments so far.
        """
        run = self._scan(hypotheses, references, workers)
        if self.aggregate == "corpus":
            totals, seen = run.totals(progress)
            self.check(seen, hypotheses)
            return self.score_of(totals.tolist()[0], count_references(seen["references"])), seen
        table, seen = run.table()
        self.check(seen, hypotheses)
        return self._mean_score(table, count_references(seen["references"])), seen

    def score_of(
        self,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> BLEUScore:
        """The score of a row of statistics; `value` if it is known."""
        return BLEUScore(self, row, references, segment=segment, value=value)

    def _mean_score(self, table: Table, references: int | str | None) -> BLEUScore:
        """The mean of the segments' scores, and the counts of all of them."""
        scores = self.segment_values(table)
        mean = sum(scores) / len(scores)
        return BLEUScore(self, table.total().tolist()[0], references, segment=True, value=mean)

    def segment_values(self, table: Table) -> Sequence[float]:
        """The score of each row, in the scale of the arithmetic."""
        if self._plain:
            return self._kernel.scores(table, corpus=False).tolist()
        value, orders = self.formula(segment=True).value, self.max_order
        part = PARTS if self.length_rule == "average" else 1
        return [
            value(row[2 : 2 + orders], row[2 + orders :], row[0], row[1] / part)
            for row in table.tolist()
        ]

    def reference_length_of(self, row: Sequence[int]) -> float:
        """The reference length that a row of statistics says."""
        return row[1] / PARTS if self.length_rule == "average" else row[1]

    @property
    def reads_text(self) -> bool:
        """Whether the kernel reads the text itself, so that others can read along."""
        return self._in_kernel

    @property
    def natural_scale(self) -> float:
        """The scale that the arithmetic works in."""
        return 100.0 if self.arithmetic == "sacrebleu" else 1.0

    def check(self, seen: Summary, hypotheses: object) -> None:
        """Raises InputError if this metric is not defined for what was seen."""
        super().check(seen, hypotheses)
        if self._values["reference_length"] == "single" and seen["references"] != (1, 1):
            raise InputError(
                "references: more than one for a segment, and this metric is defined for one only"
            )

    def _scan(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> _kernel.Scan:
        return inputs.scan(
            self._kernel,
            hypotheses,
            references,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            workers=workers,
        )

    def _pairs(
        self, hypotheses: inputs.Hypotheses, references: inputs.Hypotheses | None, workers: int
    ) -> Pairs:
        if not self._plain:
            return self._pairs_in_python(hypotheses, references, workers)
        return inputs.pairs(
            self._kernel,
            hypotheses,
            references,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            workers=workers,
        )

    def _pairs_in_python(
        self, hypotheses: inputs.Hypotheses, references: inputs.Hypotheses | None, workers: int
    ) -> Pairs:
        """All pairs by the formula that is in Python."""
        from truebleu.matrix import PairsInPython

        workers = inputs.threads(workers)
        metric, first = self, inputs.one_each("hypotheses", hypotheses, tokens=True)
        second = first
        if references is not None:
            tokens = inputs.is_tokens(first)
            second = inputs.one_each("references", references, tokens=tokens)
        if not self._in_kernel:
            # Each text is split once, and not once for each pair.
            metric = BLEU(**{**self._values, "tokenize": "none", "lowercase": False})
            first = inputs.split(first, self.tokenize, self.lowercase)
            second = inputs.split(second, self.tokenize, self.lowercase)
        return PairsInPython(
            lambda texts, others: metric.segments(texts, others, workers=workers), first, second
        )

    def _segment_scores(self, table: Table) -> Scores:
        if self._plain:
            return self._kernel.scores(table, corpus=False)
        factor = 100.0 / self.natural_scale
        return Scores([factor * value for value in self.segment_values(table)])

    def scores(self, totals: Statistics | Table) -> Scores:
        """The score of each row of a table, each taken for the totals of a corpus.

        This is what resampling needs: many sums of one table, many scores. With
        `aggregate="segments"` the rows are segments: a mean is of scores, not of counts.
        """
        self._check_table(totals)
        if self.aggregate == "segments":
            return self._segment_scores(totals)
        if self._plain:
            return self._kernel.scores(totals, corpus=True)
        value, orders = self.formula().value, self.max_order
        factor = 100.0 / self.natural_scale
        return Scores(
            [
                factor * value(row[2 : 2 + orders], row[2 + orders :], row[0], length)
                for row in totals.tolist()
                for length in (self.reference_length_of(row),)
            ]
        )

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> BLEUScore:
        """The score of one segment.

        >>> BLEU().sentence("a cat on a mat", ["a cat on the mat", "the cat"]).precisions
        (80.0, 50.0, 33.333333333333336, 25.0)
        """
        try:
            value, row, count = self._kernel.sentence(hypothesis, references)
        except TypeError:
            return self._sentence_slowly(hypothesis, references)
        if not self._in_kernel or (count > 1 and self._values["reference_length"] == "single"):
            return self._sentence_slowly(hypothesis, references)
        return BLEUScore(self, row, count, segment=True, value=value if self._plain else None)

    def segments(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Scores:
        """The score of each segment: n numbers, 0–100. Arguments as for `score`.

        >>> BLEU().segments(["a b c d e", "a b"], ["a b c d f", "a c"])
        Scores(2 segments: [66.87, 50.00])
        """
        run = self._scan(hypotheses, references, workers)
        if self._plain:
            scores, seen = self._kernel.segments(run)
            self.check(seen, hypotheses)
            return scores
        table, seen = run.table()
        self.check(seen, hypotheses)
        return self._segment_scores(table)

    def from_statistics(
        self, totals: Statistics | Sequence[int], *, references: int | str | None = None
    ) -> BLEUScore:
        """The formula alone: the score of statistics.

        totals: a table of this metric's statistics (its sum counts, or with `aggregate="segments"`
            the mean over its rows), or the k integers of one row in the order of `columns`.
        references: how many references there were, for the signature; a table knows it.
        """
        if not isinstance(totals, Statistics):
            return self.score_of(self._checked_row(totals), references)
        self._check_statistics(totals)
        references = totals.references if references is None else references
        if self.aggregate == "segments" and len(totals):
            return self._mean_score(totals, references)
        return self.score_of(totals.total().tolist()[0], references)

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:
        """What is computed, in sacreBLEU's words; with `segment`, for the score of one segment.

        Parameters that sacreBLEU has no words for are named only when they are not its own: order
        (`max_order`), weights, value (the smoothing value where two digits lose some of it),
        reflen, tie, bp, bp0 (`empty_brevity`), miss, zero (`no_match`), agg, scale, arith.
        """
        return bleu_signature.write(self, references, segment=segment)

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> BLEU:
        """The metric that a signature's fields name."""
        return cls(**bleu_signature.read(fields))


def _valued() -> str:
    """The smoothing methods that take a value."""
    return ", ".join(name for name, value in SMOOTHING.items() if value is not None)


def _weights(weights: Sequence[float] | None, orders: int) -> tuple[float, ...] | None:
    if weights is None:
        return None
    numbers = tuple(bleu_signature.number("weights", weight) for weight in weights)
    if len(numbers) != orders:
        raise ValueError(f"{len(numbers)} weights for {orders} orders")
    if not sum(numbers):
        raise ValueError(f"weights={numbers}: at least one must not be 0")
    return numbers


def bleu(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    *,
    workers: int = 1,
    **parameters: Any,
) -> BLEUScore:
    """The BLEU score of a corpus: `BLEU(**parameters).score(hypotheses, references)`.

    >>> score = bleu(["the cat is on the mat"], [["the cat sat on the mat", "a cat is on it"]])
    >>> round(float(score), 2)
    53.73
    """
    return BLEU(**parameters).score(hypotheses, references, workers=workers)
