"""NLTK's BLEU in every version, with the smoothing methods that `BLEU` lacks.

Boxing Chen and Colin Cherry (2014): A systematic comparison of smoothing techniques for
sentence-level BLEU. WMT. Scores match NLTK's `translate.bleu_score`, including its bugs.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY
from fractions import Fraction
from itertools import accumulate, takewhile
from math import exp, fsum, log
from typing import Any

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows, make_ngram_column_limits
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.python_metric import PythonMetric, PythonScore
from truebleu.text import argument_checks, tokenizers

Precision = Fraction | float
# The oldest supported release.
OLDEST_RELEASE = (3, 2, 5)
RELEASE_PATTERN = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4})+")


class Weights(p.Parameter["Any"]):
    """Weights per order: one sequence, or several, which signatures separate by semicolons."""

    metavar = "X"

    def __get__(self, metric: Any, _: type | None = None) -> Any:
        """Return the weight sequences, one per score, or (for a class) the declaration."""
        return self if metric is None else _as_sequences(metric.parameters["weights"])

    def validate(self, value: Any) -> tuple[Any, ...]:
        """Convert the sequence, or the sequences, to tuples."""
        items = argument_checks.check_sequence(self.name, value, "numbers, or sequences of numbers")
        has_sequences = items and hasattr(items[0], "__len__")
        sequences = [
            p.validate_weights(self.name, one) for one in (items if has_sequences else [items])
        ]
        return tuple(sequences) if len(sequences) > 1 else sequences[0]

    def to_field(self, value: Any) -> str:
        """Return the weights as text, separated by commas."""
        return ";".join(",".join(map(repr, one)) for one in _as_sequences(value))

    def from_field(self, text: str) -> Any:
        """Return the weights that a signature field contains."""
        return [list(map(argument_checks.parse_number, one.split(","))) for one in text.split(";")]


def _as_sequences(weights: tuple[Any, ...]) -> tuple[tuple[float, ...], ...]:
    return weights if isinstance(weights[0], tuple) else (weights,)


class Release(p.Parameter[str]):
    """Release number of NLTK."""

    def validate(self, value: Any) -> str:
        """Return a valid release unchanged."""
        if not isinstance(value, str) or not RELEASE_PATTERN.fullmatch(value):
            raise ValueError(
                f"version={argument_checks.format_value(value)}: expected a release of NLTK, "
                "such as '3.10.4'"
            )
        if _parse_release(value) < OLDEST_RELEASE:
            raise ValueError(f"version={value!r}: expected 3.2.5 or later")
        return value

    def from_field(self, text: str) -> str:
        """Return the release that a signature field contains."""
        return text


class NLTKScore(PythonScore):
    """NLTK's score, or its scores for several sequences of weights."""

    __slots__ = ()

    @property
    def values(self) -> tuple[float, ...]:
        """NLTK's score for each weight sequence, 0-1."""
        return tuple(self._details["values"])


class NLTKBLEU(PythonMetric):
    """BLEU as computed by NLTK's sentence_bleu and corpus_bleu.

    NLTK expects tokens, so text is split at white space by default. (NLTK treats a str as a list of
    characters, as `tokenize=list` does.) Method 0, no smoothing, replaces a precision of 0 with the
    smallest positive number.

    >>> metric = NLTKBLEU(method=4)
    >>> print(metric.sentence("the cat sat on the mat", ["the cat is on the mat"]))
    NLTK-BLEU = 29.39
    """

    __slots__ = ()

    NAME = "NLTK-BLEU"
    CITATIONS = ("papineni-etal-2002-bleu", "chen-cherry-2014-systematic", "bird-etal-2009-natural")
    SCORE = NLTKScore
    PREFIX = "nltk-"
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    method: p.Parameter[int] = p.WholeNumber(
        0,
        "NLTK's SmoothingFunction().method0 to method7, as a number",
        minimum=0,
        maximum=7,
        short="m",
        hints=("smoothing_function", "smoothing"),
    )
    weights: Weights = Weights(
        (0.25, 0.25, 0.25, 0.25),
        "one weight per order; several sequences of weights give several scores "
        "(score.values; score.value is the first)",
        short="wt",
    )
    auto_reweigh: p.Parameter[bool] = p.Flag(
        "for n < 4 hypothesis tokens, replace default weights with 1/n for orders 1 to n",
        key="reweigh",
        short="rw",
    )
    epsilon: p.Parameter[float] = p.Number(0.1, "ε of method 1", maximum=1e9, key="eps", short="ep")
    alpha: p.Parameter[float] = p.Number(5.0, "α of method 6", maximum=1e9, short="al")
    k: p.Parameter[float] = p.Number(5.0, "k of method 4", minimum=1e-9, maximum=1e9)
    version: p.Parameter[str] = Release(
        "3.10.4",
        "the release of NLTK: method 0 changed in 3.3, the corpus length of method 4 in 3.4, "
        "method 4 in 3.5, methods 2 and 4 in 3.6; since 3.6.6 a precision of 0 after smoothing "
        "counts as 1",
        key="nltk",
        short="nv",
    )
    context: p.Parameter[str] = p.Choice(
        "corpus",
        "the segments that provide 5-grams and the number of n-grams in methods 5 to 7",
        {
            "corpus": "all segments",
            "last-segment": "the last segment, as in NLTK's corpus_bleu, so that the score "
            "depends on the order of segments and can be far above 1",
        },
        short="cx",
    )
    aggregate: p.Parameter[str] = p.Choice(
        "corpus",
        "the score of a corpus",
        {"corpus": "corpus_bleu", "segments": "the mean of sentence_bleu"},
        key="agg",
        short="ag",
    )

    def _prepare(self) -> None:
        if _parse_release(self.version) < (3, 6, 6) and len(self.weights) > 1:
            raise ValueError(
                f"weights: NLTK {self.version} takes one sequence of weights (several since 3.6.6)"
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about weight sequences that do not add up to 1."""
        return tuple(message for weights in self.weights for message in p.check_weight_sum(weights))

    @property
    def max_order(self) -> int:
        """The largest n-gram order that has a weight."""
        return max(map(len, self.weights))

    @property
    def _max_counted_order(self) -> int:
        """The largest n-gram order to count, which is at least 5 for methods 5 and 7."""
        return max(self.max_order, 5)

    @property
    def bound(self) -> float | None:
        """The score of a perfect match, or None for methods 5 to 7, which can exceed 1."""
        return None if self.method >= 5 else self.BOUND

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics.

        They are BLEU's columns, with totals of at least 1, and the actual number of n-grams.
        """
        ngrams = (f"ngrams_{order}" for order in range(1, self._max_counted_order + 1))
        return (*BLEU(max_order=self._max_counted_order).columns, *ngrams)

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        ngrams = ((f"ngrams_{i}", 1, f"totals_{i}") for i in range(1, self._max_counted_order + 1))
        return (*make_ngram_column_limits(self._max_counted_order), *ngrams)

    @property
    def _is_sum_based(self) -> bool:
        return self.aggregate == "corpus" and self.order_dependence_reason is None

    @property
    def order_dependence_reason(self) -> str | None:
        """The reason why segment order matters and segments cannot be resampled, or None."""
        if self.aggregate != "corpus":
            return None
        if self.context == "last-segment" and self.method >= 5:
            return f"method {self.method} of NLTK's corpus_bleu uses counts of the last segment"
        if self.method in (4, 7) and _parse_release(self.version) < (3, 4):
            return f"method {self.method} of NLTK {self.version} uses the last segment's length"
        return None

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        rows, numbers = self._count_bleu_rows(
            corpus, max_order=self._max_counted_order, missing_order="at-least-one"
        )
        orders = range(self._max_counted_order)
        return [[*row, *(max(0, row[0] - n) for n in orders)] for row in rows], numbers

    def _average_rows(self, table: Table, references: int | str | None) -> PythonScore:
        segment = self.aggregate == "segments"
        totals = table.total().tolist()[0]
        if segment:
            segment_values = [
                made["values"] for _, made in self._apply_formula_to_rows(table, segment=True)
            ]
            values = [sum(column) / len(table) for column in zip(*segment_values, strict=True)]
        else:
            if self.context == "last-segment":
                warnings.warn(
                    f"{self.order_dependence_reason}; context='corpus' does not", stacklevel=4
                )
            values = self._compute_values(totals, table.tolist()[-1])
        details = self._make_details(totals, values)
        return NLTKScore(self, totals, references, segment, values[0], details)

    def _compute_scores(self, table: Table, *, segment: bool) -> Scores:
        return super()._compute_scores(table, segment=segment or self.aggregate == "segments")

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return the reason why the score of a row is almost 0, and what to use instead."""
        return (
            f"at least one order up to {self.max_order} has no matching n-grams; "
            "--nltk-method 1 (method=1 in Python) smooths, and --nltk-auto-reweigh yes "
            "(auto_reweigh=True in Python) leaves out orders for which the text is too short"
        )

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        values = self._compute_values(row)
        return values[0], self._make_details(row, values)

    def _make_details(self, row: Sequence[int], values: Sequence[float]) -> dict[str, Any]:
        order, order_count = self.max_order, self._max_counted_order
        return {
            "hypothesis_length": row[0],
            "reference_length": row[1],
            "matches": list(row[2 : 2 + order]),
            "totals": list(row[2 + order_count : 2 + order_count + order]),
            "values": list(values),
        }

    def _compute_values(
        self, row: Sequence[int], last_segment: Sequence[int] | None = None
    ) -> list[float]:
        """Return the score of a segment or corpus row for each weight sequence.

        last_segment: the last segment of a corpus, which some of NLTK's methods use.
        """
        last_segment = row if last_segment is None else last_segment
        release, order_count = _parse_release(self.version), self._max_counted_order
        # The row that provides the 5-grams for method 5, and the number of n-grams for method 6.
        context = last_segment if self.context == "last-segment" else row
        length, reference_length = row[0], row[1]
        matches, totals = row[2 : 2 + order_count], row[2 + order_count : 2 + 2 * order_count]
        if not matches[0]:
            return [0.0] * len(self.weights)
        weights = self.weights
        orders = self.max_order
        if self._values["auto_reweigh"]:
            # NLTK only changes default weights.
            default = (0.25, 0.25, 0.25, 0.25)
            is_short = length < len(default)
            weights = tuple(
                (1 / length,) * length if is_short and one == default else one for one in weights
            )
            if release < (3, 6, 6):  # these releases also drop higher orders
                orders = len(weights[0])
        smoothed = self._smooth_precisions(
            list(zip(matches[:orders], totals[:orders], strict=True)),
            Fraction(context[6], context[6 + order_count]),
            context[2 + 2 * order_count :],
            length if release >= (3, 4) else last_segment[0],
        )
        brevity = 1.0 if length > reference_length else exp(1 - reference_length / length)
        values = []
        for sequence_weights in weights:
            pairs = list(zip(sequence_weights, smoothed, strict=False))
            if release < (3, 6, 6) and not all(p > 0 for _, p in pairs):
                raise InputError(
                    f"NLTK {self.version} fails on the logarithm of 0 here (fixed in 3.6.6)"
                )
            values.append(brevity * exp(fsum(weight * log(p) for weight, p in pairs if p > 0)))
        return values

    def _smooth_precisions(
        self,
        fractions: list[tuple[int, int]],
        five_gram_precision: Fraction,
        ngram_counts: Sequence[int],
        hypothesis_length: int,
    ) -> Sequence[Precision]:
        """Return the smoothed precisions, as exact fractions where NLTK uses fractions."""
        method, release = self.method, _parse_release(self.version)
        if method == 0:
            if release < (3, 3):
                # These releases leave out the first order without a match and all higher orders.
                fractions = list(takewhile(lambda pair: pair[0], fractions))
            return [m / t if m else sys.float_info.min for m, t in fractions]
        if method == 1:
            return [(m or self._values["epsilon"]) / t for m, t in fractions]
        if method == 2:
            first = 1 if release >= (3, 6) else 0
            return [(m + (i >= first)) / (t + (i >= first)) for i, (m, t) in enumerate(fractions)]
        if method == 3:  # counts 1/2, 1/4, ... of a match, as in mteval-v13a
            zeros = accumulate(not match for match, _ in fractions)
            pairs = zip(zeros, fractions, strict=True)
            return [m / t if m else 1 / (2**n * t) for n, (m, t) in pairs]
        if method == 4:
            return self._smooth_by_length(fractions, hypothesis_length)
        if method == 5:
            return _average_neighbours([Fraction(*pair) for pair in fractions], five_gram_precision)
        if method == 6:
            return self._smooth_by_interpolation(fractions, ngram_counts)
        return _average_neighbours(
            self._smooth_by_length(fractions, hypothesis_length), five_gram_precision
        )

    def _smooth_by_length(
        self, fractions: list[tuple[int, int]], hypothesis_length: int
    ) -> list[Precision]:
        """Apply method 4: replace 0 matches with a value that depends on the text length."""
        release, k = _parse_release(self.version), self._values["k"]
        precisions: list[Precision] = []
        zeros = 0
        for i, (match, total) in enumerate(fractions):
            if match or hypothesis_length <= (1 if release >= (3, 6) else 0):
                precisions.append(Fraction(match, total))
                continue
            if hypothesis_length <= 1:
                raise InputError(
                    f"NLTK {self.version} divides by ln(1) for hypotheses of one token"
                )
            if release >= (3, 6):
                zeros += 1
                precisions.append(1 / (2**zeros * k / log(hypothesis_length)) / total)
            elif release >= (3, 5):
                precisions.append((i + k / log(hypothesis_length)) / total)
            else:
                precisions.append(1 / (i + k / log(hypothesis_length)))
        return precisions

    def _smooth_by_interpolation(
        self, fractions: list[tuple[int, int]], ngram_counts: Sequence[int]
    ) -> list[Precision]:
        """Apply method 6: mix each order with a prior from two lower orders (Gao and He 2013)."""
        precisions: list[Precision] = [Fraction(*pair) for pair in fractions]
        if len(precisions) < 3 or not precisions[2]:
            raise InputError(
                "method 6 needs a matching 3-gram; NLTK raises an AssertionError about bigrams"
            )
        alpha = self._values["alpha"]
        alpha = int(alpha) if alpha == int(alpha) else alpha
        for i in range(2, len(precisions)):
            previous, second_previous = precisions[i - 1], precisions[i - 2]
            prior = previous**2 / second_previous if second_previous else 0
            precisions[i] = (fractions[i][0] + alpha * prior) / (ngram_counts[i] + alpha)
        return precisions


def _average_neighbours(
    precisions: list[Precision], five_gram_precision: Fraction
) -> list[Precision]:
    """Apply method 5: average each order with the smoothed order below and the order above."""
    mean: Precision = precisions[0] + 1
    means: list[Precision] = []
    for precision, following in zip(
        precisions, [*precisions[1:], five_gram_precision], strict=True
    ):
        mean = (mean + precision + following) / 3
        means.append(mean)
    return means


def _parse_release(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
