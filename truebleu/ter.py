"""TER: the edits that make a hypothesis a reference, shifts of phrases among them.

Matthew Snover, Bonnie Dorr, Richard Schwartz, Linnea Micciulla and John Makhoul (2006): A study of
translation edit rate with targeted human annotation. AMTA. Which shifts are tried is the heuristic
of their program tercom, with the limits of sacreBLEU 2.6.0, and the arithmetic is sacreBLEU's.
"""

from __future__ import annotations

from truebleu import _kernel
from truebleu.counted import Counted, CountedScore
from truebleu.metric import Signature, own_signature

__all__ = ["TER", "TERScore", "ter"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from truebleu import inputs
    from truebleu.ter_alignment import Alignment

# A mean reference length is counted in parts of a token, so that it is an integer.
PARTS = 720720


class TERScore(CountedScore):
    """A TER score, with everything it was made of."""

    __slots__ = ()

    _metric: TER

    @property
    def value(self) -> float:
        """Edits for 100 words of reference, to sacreBLEU's last bit: 0 and more, 0 is best.

        It may exceed 100. With three or more references, sacreBLEU adds mean lengths up as
        rounded numbers, in the order of segments, and here the sum is exact: then the last bit of
        a corpus score can differ.
        """
        return self._value

    @property
    def edits(self) -> int:
        """Insertions, deletions, substitutions and shifts."""
        return self._row[0]

    @property
    def reference_length(self) -> float:
        """The words of the references: of several for a segment, their mean."""
        return self._row[1] / PARTS

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return {"edits": self.edits, "reference_length": self.reference_length}


class TER(Counted[TERScore]):
    """TER with its parameters. The defaults are sacreBLEU's.

    normalized: split off punctuation, resolve entities, join lines, as tercom does.
    no_punct: delete punctuation.
    asian_support: where either is done, do it to Chinese and Japanese characters too: `normalized`
        makes each ideograph a token. By itself it does nothing.
    case_sensitive: do not lower-case the text.

    Of several references the one that takes the fewest edits counts, over the mean length of all.
    An empty reference makes every word of the hypothesis an edit; without a word in any reference
    the score is 100 if there are edits, else 0.

    sacreBLEU tokenizes references twice, and `normalized` text can change again: "..1" becomes
    ". .1", and then ". . 1". So does truebleu, because it is part of the number.

    The search is bounded as sacreBLEU's: shifts of at most 10 words, over at most 50 places, within
    a beam of 25 words on either side; 1,000 candidates in all end it, and the segment's score is
    that of the shifts before. So a line of 100,000 words takes about a second, and 25 MiB.

    >>> metric = TER()
    >>> print(metric.score(["on the mat sat a cat"], ["A cat sat on the mat"]))
    TER = 33.33
    >>> print(metric.alignment("on the mat sat a cat", ["A cat sat on the mat"]))
    TER 33.33: 2 edits for 6 words
    shift      "on the mat" by 3 to the right
    shift      "sat" by 2 to the right
    hypothesis a cat sat on the mat
    reference  a cat sat on the mat
    """

    __slots__ = ()

    NAME = "TER"
    PARAMETERS = {  # noqa: RUF012
        "normalized": False,
        "no_punct": False,
        "asian_support": False,
        "case_sensitive": False,
    }
    SHORT_NAMES = {  # noqa: RUF012
        "case": "c",
        "tok": "t",
        "norm": "nr",
        "punct": "pn",
        "asian": "as",
    }
    LOWER_IS_BETTER = True

    def __init__(
        self,
        *,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        super().__init__(
            normalized=bool(normalized),
            no_punct=bool(no_punct),
            asian_support=bool(asian_support),
            case_sensitive=bool(case_sensitive),
        )
        self._kernel = _kernel.Metric.ter(**self._values)

    @property
    def normalized(self) -> bool:
        """Whether punctuation is split off."""
        return self._values["normalized"]  # type: ignore[no-any-return]

    @property
    def no_punct(self) -> bool:
        """Whether punctuation is deleted."""
        return self._values["no_punct"]  # type: ignore[no-any-return]

    @property
    def asian_support(self) -> bool:
        """Whether Chinese and Japanese characters are treated in a special way."""
        return self._values["asian_support"]  # type: ignore[no-any-return]

    @property
    def case_sensitive(self) -> bool:
        """Whether text is not lower-cased."""
        return self._values["case_sensitive"]  # type: ignore[no-any-return]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics.

        A mean reference length is counted in parts of a token: a token has 720,720 of them, which
        1 to 16 all divide, so it is exact for up to 16 references.
        """
        return ("edits", "reference_length_parts")

    @property
    def fingerprint(self) -> str:
        """The parameters that decide the statistics, as `Statistics.fingerprint` has them."""
        return "|".join(["TER", *(f"{field}:{value}" for field, value in self._fields().items())])

    def score_of(
        self,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> TERScore:
        """The score of a row of statistics; `value` if it is known."""
        if value is None:
            table = _kernel.Table.from_rows([row], len(row))
            value = self._kernel.scores(table, corpus=not segment)[0]
        return TERScore(self, row, references, value)

    def alignment(self, hypothesis: str, references: str | Sequence[str | None]) -> Alignment:
        """The edits of one segment, word by word, with the shifts that come before them.

        Raises InputError if there is no reference, TypeError for what is no str.
        """
        from truebleu.ter_alignment import align

        return align(hypothesis, references, self._values)

    def _fields(self) -> dict[str, str]:
        def said(yes: bool) -> str:
            return "yes" if yes else "no"

        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": said(self.normalized),
            "punct": said(not self.no_punct),
            "asian": said(self.asian_support),
        }

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:  # noqa: ARG002
        """What is computed, in sacreBLEU's words."""
        nrefs = None if references is None else str(references)
        return own_signature(self.NAME, {"nrefs": nrefs, **self._fields()}, self.SHORT_NAMES)

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> TER:
        """The metric that a signature's fields name."""

        def said(field: str, yes: str, no: str) -> bool:
            word = fields.get(field, no)
            if word not in (yes, no):
                raise ValueError(f"{field}:{word} is none of {yes}, {no}")
            return word == yes

        if fields.get("tok", "tercom") != "tercom":
            raise ValueError(f"tok:{fields['tok']}: TER has no tokenizer but tercom")
        return cls(
            normalized=said("norm", "yes", "no"),
            no_punct=said("punct", "no", "yes"),
            asian_support=said("asian", "yes", "no"),
            case_sensitive=said("case", "mixed", "lc"),
        )


def ter(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    *,
    workers: int = 1,
    **parameters: Any,
) -> TERScore:
    """The TER score of a corpus: `TER(**parameters).score(hypotheses, references)`.

    >>> score = ter(["the cat is on the mat"], [["the cat sat on the mat", "a cat is on it"]])
    >>> round(float(score), 2)
    18.18
    """
    return TER(**parameters).score(hypotheses, references, workers=workers)
