"""chrF, chrF+ and chrF++: F-scores of character and word n-grams.

Maja Popović (2015): chrF: character n-gram F-score for automatic MT evaluation. WMT.
Maja Popović (2017): chrF++: words helping character n-grams. WMT.
Counts and floating-point operations match sacreBLEU 2.6.0, which departs from the papers: it leaves
out orders for which a text is too short (`eps_smoothing` keeps them), averages precisions and
recalls instead of F-scores, and scores a corpus from summed counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Metric
from truebleu.metrics.scores import OverlapScore
from truebleu.metrics.text_warnings import score_function
from truebleu.text import argument_checks, corpus_inputs

__all__ = ["CHRF", "CHRFScore", "chrf"]

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class CHRFScore(OverlapScore):
    """chrF score and its components."""

    __slots__ = ()

    DETAILS = (
        *("char_order", "word_order", "beta", "precisions", "recalls", "matches"),
        *("hypothesis_totals", "reference_totals"),
    )

    _metric: CHRF

    @property
    def char_order(self) -> int:
        """The largest order of character n-grams."""
        return self._metric.char_order

    @property
    def word_order(self) -> int:
        """The largest order of word n-grams."""
        return self._metric.word_order

    @property
    def beta(self) -> float:
        """β, the weight of recall relative to precision."""
        return self._metric.beta

    @property
    def precision(self) -> float:
        """The mean precision of the orders, 0-100."""
        return self._average_orders(self.precisions)

    @property
    def recall(self) -> float:
        """The mean recall of the orders, 0-100.

        The score is the F-score of the mean precision and recall; with `eps_smoothing`, it is the
        mean of the orders' F-scores. Orders for which a text is too short are left out.
        """
        return self._average_orders(self.recalls)

    def _average_orders(self, percentages: Sequence[float]) -> float:
        """Return the mean percentage of the orders that occur in both hypotheses and references."""
        totals = zip(self.hypothesis_totals, self.reference_totals, strict=True)
        used = [one for one, counts in zip(percentages, totals, strict=True) if all(counts)]
        return sum(used) / len(used) if used else 0.0


class CHRF(Metric[CHRFScore]):
    """chrF with its parameters. The defaults are sacreBLEU's: chrF2, character order 6.

    With several references, each segment uses the first reference with the best score. The order of
    references can therefore matter, as in sacreBLEU.

    >>> print(CHRF().score(["The cat sat on the mat."], ["The cat sat on a mat."]))
    chrF2 = 71.42
    >>> print(CHRF(word_order=2).score(["The cat sat on the mat."], ["The cat sat on a mat."]))
    chrF2++ = 72.66
    """

    __slots__ = ()

    NAME = "chrF"
    CITATIONS = ("popovic-2015-chrf",)
    MATCHES_SACREBLEU = True
    SCORE = CHRFScore
    PREFIX = "chrf-"
    FIELDS = ("case", "eff", "nc", "nw", "space", "beta")
    ABSENT_PARAMETERS = {  # noqa: RUF012
        "tokenize": "chrF compares characters and does not use a tokenizer",
        "smoothing": "chrF has only one smoothing method. Use [[eps_smoothing]]",
        **dict.fromkeys(
            ("max_order", "order", "n"), "chrF has two orders. Use [[char_order]] or [[word_order]]"
        ),
    }
    char_order: p.Parameter[int] = p.WholeNumber(
        6,
        "the largest order of character n-grams",
        minimum=0,
        maximum=100,
        key="nc",
        flags=("-cc",),
        common=True,
        hints=("n_char_order", "max_len", "char_ngram_order"),
    )
    word_order: p.Parameter[int] = p.WholeNumber(
        0,
        "the largest order of word n-grams; 1 is chrF+, 2 is chrF++",
        minimum=0,
        key="nw",
        flags=("-cw",),
        common=True,
        hints=("n_word_order", "word_ngram_order"),
    )
    beta: p.Parameter[float] = p.Number(
        2,
        "β, the weight of recall relative to precision",
        maximum=1e100,
        integers=True,
        short="b",
        common=True,
        optional=True,
    )
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase(has_variants=False, shared=False)
    whitespace: p.Parameter[bool] = p.Flag(
        "count white space as characters", key="space", short="s", common=True
    )
    eps_smoothing: p.Parameter[bool] = p.Flag(
        "keep orders for which the text is too short, with a tiny precision and recall, as "
        "chrF++.py, Moses and NLTK do",
        words=("yes", "no"),
        key="eff",
        short="e",
        common=True,
    )

    def _prepare(self) -> None:
        if not self.char_order + self.word_order:
            raise ValueError("char_order and word_order are both 0; at least one must be 1 or more")
        super()._prepare()

    @property
    def citations(self) -> tuple[str, ...]:
        """The keys of the papers on chrF and, if words are counted, on chrF++."""
        return (*self.CITATIONS, *(["popovic-2017-chrf"] if self.word_order else []))

    def build_kernel_settings(self) -> dict[str, Any]:
        """Return the metric settings for the kernel."""
        factor = self.beta**2
        return {
            "metric": "chrf",
            "lowercase": "python" if self.lowercase else "no",
            "char_order": self.char_order,
            "word_order": self.word_order,
            "whitespace": self.whitespace,
            "factor": float(factor),
            "factor_and_one": float(1 + factor),
            "eps_smoothing": self.eps_smoothing,
        }

    @property
    def depends_on_spaces(self) -> bool:
        """True if spaces around punctuation change scores because words or spaces are counted."""
        return self.word_order > 0 or self.whitespace

    @property
    def name(self) -> str:
        """The name of the score, such as "chrF2" or "chrF2++"."""
        return f"chrF{self.beta}" + "+" * self.word_order

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics: three per order.

        `hypothesis_c2` is the number of character bigrams in the hypothesis, `matches_w1` the
        number of matching words. Both are 0 for orders for which the reference is too short.
        """
        orders = [f"c{order}" for order in range(1, self.char_order + 1)]
        orders += [f"w{order}" for order in range(1, self.word_order + 1)]
        return tuple(
            f"{part}_{order}" for order in orders for part in ("hypothesis", "reference", "matches")
        )

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        columns = self.columns
        return tuple(
            (matches, 1, side)
            for start in range(0, len(columns), 3)
            for *sides, matches in [columns[start : start + 3]]
            for side in sides
        )

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:
        """Return the fields that a name implies: "chrF3++" implies β = 3 and two word orders."""
        lower = name.lower()
        beta = lower.removeprefix("chrf").rstrip("+") if lower.startswith("chrf") else "no"
        try:
            argument_checks.parse_number(beta or "2")
        except ValueError:
            return None
        plus = len(lower) - len(lower.rstrip("+"))
        words = {"nw": str(plus)} if plus else {}
        return words if beta in ("", "2") else {**words, "beta": beta}


@score_function(CHRF)
def chrf(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    *,
    workers: int = 1,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    unicode_form: str | None = None,
    check_text: bool = True,
) -> CHRFScore:
    """Return the chrF score of a corpus: `CHRF(...).score(hypotheses, references)`.

    Takes the text arguments of `CHRF.score` and the parameters of `CHRF`.

    check_text: issue `TextWarning` for suspicious text, such as text that looks tokenized.

    >>> score = chrf(["the cat is on the mat"], [["the cat sat on the mat", "a cat is on it"]])
    >>> round(float(score), 2)
    61.93
    """
    raise NotImplementedError  # `score_function` replaces the body
