"""chrF, chrF+ and chrF++: F-scores of character n-grams, and of words.

Maja Popović (2015): chrF: character n-gram F-score for automatic MT evaluation. WMT.
Maja Popović (2017): chrF++: words helping character n-grams. WMT.
Counting and arithmetic are sacreBLEU 2.6.0's, operation by operation. It departs from the papers:
orders that a text is too short for are left out of the mean (`eps_smoothing` keeps them), the mean
is of precisions and recalls and not of F-scores, and a corpus is scored by its sums.
"""

from __future__ import annotations

from math import inf

from truebleu import _kernel
from truebleu.counted import Counted, CountedScore
from truebleu.metric import Signature, own_signature

__all__ = ["CHRF", "CHRFScore", "chrf"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from truebleu import inputs


class CHRFScore(CountedScore):
    """A chrF score, with everything it was made of."""

    __slots__ = ()

    _metric: CHRF

    @property
    def char_order(self) -> int:
        """The length of the longest character n-grams."""
        return self._metric.char_order

    @property
    def word_order(self) -> int:
        """The length of the longest word n-grams."""
        return self._metric.word_order

    @property
    def beta(self) -> float:
        """How many times as much recall counts as precision."""
        return self._metric.beta

    @property
    def hypothesis_totals(self) -> tuple[int, ...]:
        """The n-grams of each order in the hypotheses: of characters, then of words."""
        return tuple(self._row[0::3])

    @property
    def reference_totals(self) -> tuple[int, ...]:
        """The n-grams of each order in the references."""
        return tuple(self._row[1::3])

    @property
    def matches(self) -> tuple[int, ...]:
        """The clipped matches of each order."""
        return tuple(self._row[2::3])

    @property
    def precisions(self) -> tuple[float, ...]:
        """The share of the hypotheses' n-grams that match, of each order, in per cent."""
        return _shares(self.matches, self.hypothesis_totals)

    @property
    def recalls(self) -> tuple[float, ...]:
        """The share of the references' n-grams that are matched, of each order, in per cent."""
        return _shares(self.matches, self.reference_totals)

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return {
            "char_order": self.char_order,
            "word_order": self.word_order,
            "beta": self.beta,
            "precisions": list(self.precisions),
            "recalls": list(self.recalls),
            "matches": list(self.matches),
            "hypothesis_totals": list(self.hypothesis_totals),
            "reference_totals": list(self.reference_totals),
        }


class CHRF(Counted[CHRFScore]):
    """chrF with its parameters. The defaults are sacreBLEU's, which are chrF2 of 6 characters.

    char_order: the longest character n-grams, 0 to 100.
    word_order: the longest word n-grams, 0 to 16: 1 is chrF+, 2 is chrF++.
    beta: how many times as much recall counts as precision.
    lowercase: lower-case the text first, as `str.lower()`.
    whitespace: count white space as characters.
    eps_smoothing: give orders that the text is too short for a tiny precision and recall instead
        of leaving them out, as chrF++.py, Moses and NLTK do.

    Of several references the one with the best score of its segment counts, of equally good ones
    the first: their order can matter, as in sacreBLEU.

    >>> print(CHRF().score(["The cat sat on the mat."], ["The cat sat on a mat."]))
    chrF2 = 71.42
    >>> print(CHRF(word_order=2).score(["The cat sat on the mat."], ["The cat sat on a mat."]))
    chrF2++ = 72.66
    """

    __slots__ = ()

    NAME = "chrF"
    PARAMETERS = {  # noqa: RUF012
        "char_order": 6,
        "word_order": 0,
        "beta": 2,
        "lowercase": False,
        "whitespace": False,
        "eps_smoothing": False,
    }
    # The last is not sacreBLEU's, which says β in the name alone.
    SHORT_NAMES = {  # noqa: RUF012
        "case": "c",
        "eff": "e",
        "nc": "nc",
        "nw": "nw",
        "space": "s",
        "beta": "b",
    }

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2,
        *,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> None:
        _whole("char_order", char_order, 100)
        _whole("word_order", word_order, 16)
        if not char_order + word_order:
            raise ValueError("char_order and word_order are 0: there is nothing to count")
        if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 <= beta < inf:
            raise ValueError(f"beta={beta!r}: a number is meant, 0 or more")
        super().__init__(
            char_order=char_order,
            word_order=word_order,
            beta=beta,
            lowercase=bool(lowercase),
            whitespace=bool(whitespace),
            eps_smoothing=bool(eps_smoothing),
        )
        factor = beta**2
        self._kernel = _kernel.Metric.chrf(
            lowercase="python" if lowercase else "no",
            char_order=char_order,
            word_order=word_order,
            whitespace=self.whitespace,
            factor=float(factor),
            factor_and_one=float(1 + factor),
            eps_smoothing=self.eps_smoothing,
        )

    @property
    def name(self) -> str:
        """What a score is called: "chrF2", "chrF2++"."""
        return f"chrF{self.beta}" + "+" * self.word_order

    @property
    def char_order(self) -> int:
        """The length of the longest character n-grams."""
        return self._values["char_order"]  # type: ignore[no-any-return]

    @property
    def word_order(self) -> int:
        """The length of the longest word n-grams."""
        return self._values["word_order"]  # type: ignore[no-any-return]

    @property
    def beta(self) -> float:
        """How many times as much recall counts as precision."""
        return self._values["beta"]  # type: ignore[no-any-return]

    @property
    def lowercase(self) -> bool:
        """Whether text is lower-cased."""
        return self._values["lowercase"]  # type: ignore[no-any-return]

    @property
    def whitespace(self) -> bool:
        """Whether white space is counted."""
        return self._values["whitespace"]  # type: ignore[no-any-return]

    @property
    def eps_smoothing(self) -> bool:
        """Whether orders that the text is too short for stay."""
        return self._values["eps_smoothing"]  # type: ignore[no-any-return]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics: three an order.

        `hypothesis_c2` is the number of character bigrams in the hypothesis, `matches_w1` that of
        the words that match. An order that the reference is too short for has none in either.
        """
        orders = [f"c{order}" for order in range(1, self.char_order + 1)]
        orders += [f"w{order}" for order in range(1, self.word_order + 1)]
        return tuple(
            f"{what}_{order}" for order in orders for what in ("hypothesis", "reference", "matches")
        )

    @property
    def fingerprint(self) -> str:
        """The parameters that decide the statistics, as `Statistics.fingerprint` has them.

        β and the smoothing are among them because they choose the best of several references.
        """
        signature = self.signature()
        return "|".join(
            [
                self.name,
                *(
                    f"{field}:{signature[field]}"
                    for field in self.SHORT_NAMES
                    if field in signature
                ),
            ]
        )

    def score_of(
        self,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> CHRFScore:
        """The score of a row of statistics; `value` if it is known."""
        if value is None:
            table = _kernel.Table.from_rows([row], len(row))
            value = self._kernel.scores(table, corpus=not segment)[0]
        return CHRFScore(self, row, references, value)

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:  # noqa: ARG002
        """What is computed, in sacreBLEU's words; it says β in the name, and here only if not 2."""
        fields = {
            "nrefs": None if references is None else str(references),
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": str(self.char_order),
            "nw": str(self.word_order),
            "space": "yes" if self.whitespace else "no",
            "beta": None if self.beta == 2 else str(self.beta),
        }
        return own_signature(self.name, fields, self.SHORT_NAMES)

    @classmethod
    def implied(cls, name: str) -> dict[str, str] | None:
        """The fields that a name implies: "chrF3++" that β is 3."""
        lower = name.lower()
        beta = lower.removeprefix("chrf").rstrip("+")
        if not lower.startswith("chrf") or not (beta or "2").replace(".", "", 1).isdecimal():
            return None
        plus = len(lower) - len(lower.rstrip("+"))
        words = {"nw": str(plus)} if plus else {}
        return words if beta in ("", "2") else {**words, "beta": beta}

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> CHRF:
        """The metric that a signature's fields name."""

        def said(field: str, yes: str, no: str, default: bool) -> bool:
            word = fields.get(field, yes if default else no)
            if word not in (yes, no):
                raise ValueError(f"{field}:{word} is none of {yes}, {no}")
            return word == yes

        def number(field: str, default: int) -> int:
            text = fields.get(field, str(default))
            if not text.isdecimal():
                raise ValueError(f"{field}:{text}: a whole number is meant")
            return int(text)

        beta = fields.get("beta", "2")
        return cls(
            number("nc", 6),
            number("nw", 0),
            float(beta) if "." in beta else number("beta", 2),
            lowercase=said("case", "lc", "mixed", False),
            whitespace=said("space", "yes", "no", False),
            eps_smoothing=said("eff", "no", "yes", False),
        )


def _whole(name: str, value: object, most: int) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name}={value!r}: n-grams can be 0 to {most} long")


def _shares(parts: Sequence[int], wholes: Sequence[int]) -> tuple[float, ...]:
    return tuple(
        100.0 * part / whole if whole else 0.0 for part, whole in zip(parts, wholes, strict=True)
    )


def chrf(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    *,
    workers: int = 1,
    **parameters: Any,
) -> CHRFScore:
    """The chrF score of a corpus: `CHRF(**parameters).score(hypotheses, references)`.

    >>> score = chrf(["the cat is on the mat"], [["the cat sat on the mat", "a cat is on it"]])
    >>> round(float(score), 2)
    61.93
    """
    return CHRF(**parameters).score(hypotheses, references, workers=workers)
