"""BLEU: its parameters, its columns, its formula.

Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002): BLEU, a method for automatic
evaluation of machine translation. ACL. Counting and arithmetic are sacreBLEU 2.6.0's (Matt Post,
2018: A call for clarity in reporting BLEU scores. WMT), operation by operation.
"""

from __future__ import annotations

import sys
from math import exp, inf, log

from truebleu import _kernel, inputs, tokenizers
from truebleu._kernel import InputError, Scores, Table
from truebleu.metric import Metric, Score, Signature, own_signature
from truebleu.statistics import Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.metric import Summary

# Each smoothing method, and the value it takes if none is given; None if it takes none.
SMOOTHING: dict[str, float | None] = {"exp": None, "floor": 0.1, "add-k": 1.0, "none": None}

# sacreBLEU's sum of logarithms is Python's sum(), which adds with compensation since 3.12: the
# last bit of a score depends on the Python that computes it. The kernel does as this Python does.
COMPENSATED = sys.version_info >= (3, 12)

LOG_OF_ZERO = -9999999999


class BLEU(Metric):
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

    >>> metric = BLEU(lowercase=True)
    >>> print(metric.score(["The cat sat on the mat."], ["the cat sat on a mat."]))
    BLEU = 48.89 85.7/66.7/40.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 7 ref_len = 7)
    """

    __slots__ = ("_kernel",)

    NAME = "BLEU"
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "13a",
        "lowercase": False,
        "smoothing": "exp",
        "smoothing_value": None,
        "effective_order": None,
        "max_order": 4,
        "weights": None,
    }
    # The last three are not sacreBLEU's: it has no name for these parameters.
    SHORT_NAMES = {  # noqa: RUF012
        "case": "c",
        "eff": "e",
        "tok": "tok",
        "smooth": "s",
        "order": "ord",
        "weights": "wt",
        "value": "val",
    }

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "13a",
        *,
        lowercase: bool = False,
        smoothing: str = "exp",
        smoothing_value: float | None = None,
        effective_order: bool | None = None,
        max_order: int = 4,
        weights: Sequence[float] | None = None,
    ) -> None:
        tokenizers.check(tokenize)
        if smoothing not in SMOOTHING:
            raise ValueError(
                f"unknown smoothing {smoothing!r}{tokenizers.nearest(str(smoothing), SMOOTHING)}"
            )
        if smoothing_value is not None:
            if SMOOTHING[smoothing] is None:
                raise ValueError(f"smoothing '{smoothing}' takes no value; floor and add-k do")
            smoothing_value = _number("smoothing_value", smoothing_value)
        if type(max_order) is not int or not 1 <= max_order <= 16:
            raise ValueError(f"max_order={max_order!r}: n-grams can be 1 to 16 tokens long")
        if weights is not None:
            weights = tuple(_number("weights", weight) for weight in weights)
            if len(weights) != max_order:
                raise ValueError(f"{len(weights)} weights for {max_order} orders")
            if not sum(weights):
                raise ValueError(f"weights={weights}: at least one must not be 0")
        default = SMOOTHING[smoothing]
        super().__init__(
            tokenize=tokenize,
            lowercase=bool(lowercase),
            smoothing=smoothing,
            smoothing_value=smoothing_value,
            effective_order=None if effective_order is None else bool(effective_order),
            max_order=max_order,
            weights=weights,
        )
        self._kernel = _kernel.Bleu(
            # What a callable gives arrives as tokens, which no tokenizer touches.
            tokenizer=tokenize if isinstance(tokenize, str) else "none",
            lowercase=bool(lowercase),
            max_order=max_order,
            smoothing=smoothing,
            smoothing_value=smoothing_value if smoothing_value is not None else default or 0.0,
            effective_order=effective_order is not False,
            weights=weights,
            compensated=COMPENSATED,
        )

    @property
    def tokenize(self) -> tokenizers.Tokenize:
        """The tokenizer's name, or the callable."""
        return self._values["tokenize"]  # type: ignore[no-any-return]

    @property
    def lowercase(self) -> bool:
        """Whether text is lower-cased first."""
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
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics."""
        orders = range(1, self.max_order + 1)
        return (
            "hypothesis_length",
            "reference_length",
            *(f"matches_{order}" for order in orders),
            *(f"totals_{order}" for order in orders),
        )

    @property
    def fingerprint(self) -> str:
        """The parameters that decide the statistics, as `Statistics.fingerprint` has them."""
        tokenizer = tokenizers.label(self.tokenize)
        case = "lc" if self.lowercase else "mixed"
        return f"BLEU|tok:{tokenizer}|case:{case}|order:{self.max_order}|reflen:closest"

    def score(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> BLEUScore:
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
    ) -> tuple[BLEUScore, Summary]:
        """`score`, and what was noticed of the text while it was read.

        `progress` is called about twenty times a second with the number of segments so far.
        """
        totals, seen = self._scan(hypotheses, references, workers).totals(progress)
        _refuse_nothing(seen, hypotheses)
        return BLEUScore(self, totals.tolist()[0], count_references(seen["references"])), seen

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
        _refuse_nothing(seen, hypotheses)
        while seen["segments"]:
            statistics = self._statistics(table, count_references(seen["references"]))
            yield statistics, self._kernel.scores(table), seen
            table, seen = run.table(segments)

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

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> BLEUScore:
        """The score of one segment.

        >>> BLEU().sentence("a cat on a mat", ["a cat on the mat", "the cat"]).precisions
        (80.0, 50.0, 33.333333333333336, 25.0)
        """
        try:
            value, row, count = self._kernel.sentence(hypothesis, references)
        except TypeError:
            return self._sentence_slowly(hypothesis, references)
        if not isinstance(self._values["tokenize"], str):
            return self._sentence_slowly(hypothesis, references)
        return BLEUScore(self, row, count, segment=True, value=value)

    def _sentence_slowly(self, hypothesis: Any, references: Any) -> BLEUScore:
        """With a tokenizer of one's own, with tokens, or to say what is wrong."""
        if isinstance(hypothesis, str) and not callable(self.tokenize):
            # The only mistake left is among the references; the general path names it.
            references = references if isinstance(references, str) else (references,)
            references = (references,) if isinstance(references, str) else references
        elif isinstance(hypothesis, bytes) or not hasattr(hypothesis, "__len__"):
            raise TypeError(f"hypothesis: a str is meant, not {type(hypothesis).__name__}")
        else:
            references = (references,)
        table, seen = self._scan((hypothesis,), references, 1).table()
        return BLEUScore(
            self, table.tolist()[0], count_references(seen["references"]), segment=True
        )

    def segments(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Scores:
        """The score of each segment: n numbers, 0–100. Arguments as for `score`.

        >>> BLEU().segments(["a b c d e", "a b"], ["a b c d f", "a c"])
        Scores(2 segments: [66.87, 50.00])
        """
        scores, seen = self._kernel.segments(self._scan(hypotheses, references, workers))
        _refuse_nothing(seen, hypotheses)
        return scores

    def statistics(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Statistics:
        """The table of what was counted, a row a segment. Arguments as for `score`."""
        table, seen = self._scan(hypotheses, references, workers).table()
        _refuse_nothing(seen, hypotheses)
        return self._statistics(table, count_references(seen["references"]))

    def _statistics(self, table: Table, references: int | str | None) -> Statistics:
        return Statistics(
            table, columns=self.columns, fingerprint=self.fingerprint, references=references
        )

    def from_statistics(
        self, totals: Statistics | Sequence[int], *, references: int | str | None = None
    ) -> BLEUScore:
        """The formula alone: the score of summed statistics.

        totals: a table of this metric's statistics, which is summed, or the k integers of one row
            in the order of `columns`.
        references: how many references there were, for the signature; a table knows it.
        """
        if isinstance(totals, Statistics):
            if totals.fingerprint != self.fingerprint:
                raise InputError(
                    f"these statistics were made with {totals.fingerprint}, "
                    f"and this metric is {self.fingerprint}"
                )
            references = totals.references if references is None else references
            row = totals.total().tolist()[0]
        else:
            row = _integers(totals)
            if len(row) != len(self.columns):
                raise InputError(
                    f"{len(row)} totals where {len(self.columns)} are meant: "
                    f"{', '.join(self.columns)}"
                )
        return BLEUScore(self, row, references)

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:
        """What is computed, in sacreBLEU's words; with `segment`, for the score of one segment.

        Parameters that sacreBLEU has no words for are named only when they are not its own:
        `order` (maximum order), `weights`, and `value`, the smoothing value where two digits lose
        some of it.
        """
        effective = segment if self.effective_order is None else self.effective_order
        smooth, value = self.smoothing, self.smoothing_value
        exact = None
        if value is not None:
            smooth = f"{smooth}[{value:.2f}]"
            exact = repr(value) if float(f"{value:.2f}") != value else None
        weights = self.weights
        fields = {
            "nrefs": None if references is None else str(references),
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if effective else "no",
            "tok": tokenizers.label(self.tokenize),
            "smooth": smooth,
            "order": None if self.max_order == 4 else str(self.max_order),
            "weights": None if weights is None else ",".join(map(repr, weights)),
            "value": exact,
        }
        return own_signature(self.NAME, fields, self.SHORT_NAMES)

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> BLEU:
        """The metric that a signature's fields name."""
        case = _one_of(fields, "case", {"mixed": False, "lc": True}, False)
        effective = _one_of(fields, "eff", {"yes": True, "no": False}, None)
        smoothing, bracket, value = fields.get("smooth", "exp").partition("[")
        number = fields.get("value", value.rstrip("]") if bracket else None)
        weights = fields.get("weights")
        return cls(
            fields.get("tok", "13a"),
            lowercase=bool(case),
            smoothing=smoothing,
            smoothing_value=_unless_default(smoothing, number),
            effective_order=effective,
            max_order=_whole(fields, "order", 4),
            weights=None if weights is None else [float(w) for w in weights.split(",")],
        )

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "_kernel"):
            raise AttributeError(f"metrics are frozen; make another with {name}={value!r}")
        object.__setattr__(self, name, value)


def _number(name: str, value: object) -> float:
    """A parameter that must be a number, 0 or more."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < inf:
        raise ValueError(f"{name}={value!r}: a number is meant, 0 or more")
    return number


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


def _one_of(
    fields: Mapping[str, str], field: str, meanings: Mapping[str, bool], default: bool | None
) -> bool | None:
    if field not in fields:
        return default
    if fields[field] not in meanings:
        raise ValueError(f"{field}:{fields[field]} is none of {', '.join(meanings)}")
    return meanings[fields[field]]


def _whole(fields: Mapping[str, str], field: str, default: int) -> int:
    value = fields.get(field, str(default))
    if not value.isdecimal():
        raise ValueError(f"{field}:{value}: a whole number is meant")
    return int(value)


def _unless_default(smoothing: str, number: str | None) -> float | None:
    """A smoothing value from print; None if it is the default, which needs no saying."""
    if number is None:
        return None
    value = _number(f"smooth:{smoothing}[{number}], value", number)
    return None if value == SMOOTHING.get(smoothing) else value


def _refuse_nothing(seen: Summary, hypotheses: inputs.Hypotheses) -> None:
    if not seen["segments"]:
        name = inputs.label("hypotheses", hypotheses)
        raise InputError(f"{name}: no segments at all; there is nothing to score")


def count_references(seen: tuple[int, int] | None) -> int | str | None:
    """How many references the segments had, from the fewest and the most; "var" if it varied."""
    if seen is None:
        return None
    fewest, most = seen
    return most if fewest == most else "var"


class BLEUScore(Score):
    """A BLEU score, with everything it was made of."""

    __slots__ = ("_formula", "_metric", "_references", "_row", "_segment", "_value")

    def __init__(
        self,
        metric: BLEU,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> None:
        self._metric = metric
        self._row = row
        self._references = references
        self._segment = segment
        # The kernel gives the value of a single segment; the formula is worked out if asked for.
        self._formula: tuple[float, tuple[float, ...], float] | None = None
        self._value = self._worked_out()[0] if value is None else value

    def _worked_out(self) -> tuple[float, tuple[float, ...], float]:
        if self._formula is None:
            metric = self._metric
            effective = metric.effective_order
            self._formula = formula(
                self.matches,
                self.totals,
                self.hypothesis_length,
                self.reference_length,
                smoothing=metric.smoothing,
                smoothing_value=metric.smoothing_value,
                effective_order=self._segment if effective is None else effective,
                weights=metric.weights,
            )
        return self._formula

    @property
    def name(self) -> str:
        """The name of the metric, "BLEU"."""
        return self._metric.NAME

    @property
    def value(self) -> float:
        """The score, 0–100, to sacreBLEU's last bit."""
        return self._value

    @property
    def precisions(self) -> tuple[float, ...]:
        """The precision of each order in per cent, smoothed, as sacreBLEU gives it."""
        return self._worked_out()[1]

    @property
    def brevity_penalty(self) -> float:
        """1, or less if the hypotheses are shorter than the references."""
        return self._worked_out()[2]

    @property
    def matches(self) -> tuple[int, ...]:
        """The clipped matches of each order, before smoothing."""
        return tuple(self._row[2 : 2 + self._metric.max_order])

    @property
    def totals(self) -> tuple[int, ...]:
        """The number of n-grams of each order in the hypotheses, before smoothing."""
        return tuple(self._row[2 + self._metric.max_order :])

    @property
    def hypothesis_length(self) -> int:
        """The tokens of the hypotheses."""
        return self._row[0]

    @property
    def reference_length(self) -> int:
        """The effective reference length: for each segment, the closest reference's."""
        return self._row[1]

    @property
    def ratio(self) -> float:
        """Hypothesis length over reference length; 0 if there is no reference token."""
        return self._row[0] / self._row[1] if self._row[1] else 0.0

    @property
    def signature(self) -> Signature:
        """What was computed, so that anyone can compute it again."""
        return self._metric.signature(self._references, segment=self._segment)

    @property
    def verbose(self) -> str:
        """Precisions, brevity penalty and lengths, as sacreBLEU prints them."""
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"{precisions} (BP = {self.brevity_penalty:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {self.hypothesis_length} ref_len = {self.reference_length})"
        )

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return {
            "precisions": list(self.precisions),
            "matches": list(self.matches),
            "totals": list(self.totals),
            "brevity_penalty": self.brevity_penalty,
            "hypothesis_length": self.hypothesis_length,
            "reference_length": self.reference_length,
            "ratio": self.ratio,
        }


def formula(
    matches: Sequence[int],
    totals: Sequence[int],
    hypothesis_length: int,
    reference_length: int,
    *,
    smoothing: str,
    smoothing_value: float | None,
    effective_order: bool,
    weights: Sequence[float] | None,
) -> tuple[float, tuple[float, ...], float]:
    """BLEU from counts: the score (0–100), the precisions (per cent), the brevity penalty.

    BLEU = BP · exp(Σ wₙ ln pₙ), in the order of operations of sacreBLEU, to its last bit.
    kernel/src/bleu.rs has the same for many rows at once; the tests hold the two equal.
    """
    brevity_penalty = 1.0
    if hypothesis_length < reference_length:
        brevity_penalty = (
            exp(1 - reference_length / hypothesis_length) if hypothesis_length > 0 else 0.0
        )
    precisions = [0.0] * len(matches)
    # Without any match no smoothing helps: the score is 0, and so is every precision.
    if not any(matches):
        return 0.0, tuple(precisions), brevity_penalty

    counted = len(matches)
    divisor = 1.0
    for i, (match, total) in enumerate(zip(matches, totals, strict=True)):
        numerator: float = match
        denominator: float = total
        if smoothing == "add-k" and i > 0:
            assert smoothing_value is not None
            numerator += smoothing_value
            denominator += smoothing_value
        if denominator == 0:
            break
        if effective_order:
            counted = i + 1
        if numerator != 0:
            precisions[i] = 100.0 * numerator / denominator
        elif smoothing == "exp":
            divisor *= 2
            precisions[i] = 100.0 / (divisor * denominator)
        elif smoothing == "floor":
            assert smoothing_value is not None
            precisions[i] = 100.0 * smoothing_value / denominator

    logs = [log(p) if p != 0.0 else LOG_OF_ZERO for p in precisions[:counted]]
    if weights is None:
        mean = sum(logs) / counted
    else:
        mean = sum(log * weight for log, weight in zip(logs, weights, strict=False))
        if counted < len(weights):
            whole = sum(weights[:counted])
            # Only orders that the hypotheses are too short for may have a weight.
            mean = mean / whole if whole else LOG_OF_ZERO
    return brevity_penalty * exp(mean), tuple(precisions), brevity_penalty


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
