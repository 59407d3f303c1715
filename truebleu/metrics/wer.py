"""The word error rate and its relatives: WER, MER, WIL, WIP, and the character error rate CER.

Andrew Morris, Viktoria Maier and Phil Green (2004): From WER and RIL to MER and WIL: improved
evaluation measures for connected speech recognition. Interspeech. The words, the alignment and the
arithmetic are those of jiwer 4.0.0, whose alignment is rapidfuzz's, operation by operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Metric, S
from truebleu.metrics.scores import TableScore
from truebleu.text import tokenizers

__all__ = ["CER", "MER", "WER", "WIL", "WIP", "CERScore", "WERScore"]

if TYPE_CHECKING:
    from truebleu.metrics.edit_alignment import EditAlignment

EDIT_COLUMNS = ("hits", "substitutions", "deletions", "insertions")


class EditScore(TableScore):
    """An error rate, or what is preserved, and the numbers of edits that it is made of."""

    __slots__ = ()

    DETAILS: ClassVar[tuple[str, ...]] = (*EDIT_COLUMNS, "reference_length", "hypothesis_length")

    @property
    def hits(self) -> int:
        """The tokens that are the same on both sides."""
        return self._row[0]

    @property
    def substitutions(self) -> int:
        """The tokens of the references that stand as others in the hypotheses."""
        return self._row[1]

    @property
    def deletions(self) -> int:
        """The tokens of the references that the hypotheses do not have."""
        return self._row[2]

    @property
    def insertions(self) -> int:
        """The tokens of the hypotheses that the references do not have."""
        return self._row[3]

    @property
    def edits(self) -> int:
        """Substitutions, deletions and insertions."""
        return sum(self._row[1:])

    @property
    def reference_length(self) -> int:
        """The tokens of the references: of several for a segment, of the one that counts."""
        return sum(self._row[:3])

    @property
    def hypothesis_length(self) -> int:
        """The tokens of the hypotheses."""
        return self.hits + self.substitutions + self.insertions

    @property
    def fraction(self) -> float:
        """The score as jiwer gives it, between 0 and 1 or above, to the last bit."""
        number: float = getattr(self, self._metric.name.lower())
        return number

    def _error_rate(self) -> float:
        length = self.reference_length
        return self.edits / length if length else float(self.insertions)


class WERScore(EditScore):
    """The score of WER, MER, WIL or WIP; it has all four, as jiwer gives them."""

    __slots__ = ()

    DETAILS = (*EditScore.DETAILS, "wer", "mer", "wil", "wip")

    @property
    def wer(self) -> float:
        """The word error rate: edits over the words of the references."""
        return self._error_rate()

    @property
    def mer(self) -> float:
        """The match error rate: edits over all that the alignment has, hits and edits."""
        if not self.reference_length:
            return float(self.hypothesis_length > 0)
        return self.edits / (self.reference_length + self.insertions)

    @property
    def wil(self) -> float:
        """Word information lost: 1 less `wip`."""
        return 1.0 - self.wip

    @property
    def wip(self) -> float:
        """Word information preserved: the share of hits in either side, multiplied."""
        if not self.reference_length:
            return float(self.hypothesis_length == 0)
        if not self.hypothesis_length:
            return 0.0
        return (self.hits / self.reference_length) * (self.hits / self.hypothesis_length)


class CERScore(EditScore):
    """The score of CER."""

    __slots__ = ()

    DETAILS = (*EditScore.DETAILS, "cer")

    @property
    def cer(self) -> float:
        """The character error rate: edits over the characters of the references."""
        return self._error_rate()


class _EditMetric(Metric[S]):
    """What the five measures share: their columns and their alignments."""

    __slots__ = ()

    MATCHES_SACREBLEU = False
    FIELDS: ClassVar[tuple[str, ...]] = ("case", "tok", "measure")
    LOWER_IS_BETTER = True
    BOUND: ClassVar[float | None] = None
    WORST: ClassVar[float | None] = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics."""
        return EDIT_COLUMNS

    def tokenize_text(self, text: str) -> list[str]:
        """The tokens of a text that are aligned."""
        raise NotImplementedError

    def alignment(self, hypothesis: str, references: str | Sequence[str | None]) -> EditAlignment:
        """The edits of one segment, token by token, as jiwer aligns it.

        Raises InputError if there is no reference, TypeError for what is no str.
        """
        from truebleu.metrics.edit_alignment import align_edits

        return align_edits(self, *self._normalized(hypothesis, references))

    PUBLIC = (*Metric.PUBLIC, "alignment")


class WER(_EditMetric[WERScore]):
    """WER, the word error rate, 0 and more: edits per 100 words of the references.

    An edit is a word that is substituted, deleted (the reference has it, the hypothesis does not)
    or inserted, in an alignment with as few edits as can be. The score of a corpus is that of the
    sums of its segments. The number is jiwer's, times 100; jiwer's own is `score.fraction`.

    As in jiwer, words are what spaces and runs of white space separate, and case and punctuation
    count; a corpus without a word in any reference scores 100 times its insertions. A segment with
    an empty reference adds its words as insertions. jiwer has one reference for each segment; here,
    of several, the one with the lowest rate counts, of equally good ones the first.

    >>> score = WER().score(["a dog sat on the old mat"], ["the dog sat on the mat"])
    >>> print(score, score.hits, score.substitutions, score.deletions, score.insertions)
    WER = 33.33 5 1 0 1
    >>> print(WER().alignment("a dog sat on the old mat", "the dog sat on the mat"))
    33.33: 1 substitution, 0 deletions, 1 insertion; 6 tokens in the reference
    reference  the dog sat on the     mat
    hypothesis a   dog sat on the old mat
               S                  I
    """

    __slots__ = ()

    NAME = "WER"
    SCORE = WERScore
    PREFIX = "wer-"
    CONSTANTS = {"measure": ("wer", "m")}  # noqa: RUF012
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("jiwer")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()

    def build_kernel_settings(self) -> dict[str, Any]:
        """What the kernel is asked for."""
        measure = self.NAME.lower()
        return {
            "metric": "edits",
            **self._build_lexer_settings(),
            "measure": measure,
            "characters": False,
        }

    def tokenize_text(self, text: str) -> list[str]:
        """The words of a text."""
        from truebleu.text.tokenizers import make_tokenizer

        return make_tokenizer(**self._tokenizer_settings)(text)


class MER(WER):
    """MER, the match error rate, 0 to 100: the share of edits among hits and edits.

    Of several references the one with the lowest rate counts. All else is as for `WER`.

    >>> print(MER().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    MER = 28.57
    """

    __slots__ = ()

    NAME = "MER"
    WORST = 100.0
    PREFIX = "mer-"
    CONSTANTS = {"measure": ("mer", "m")}  # noqa: RUF012


class WIL(WER):
    """WIL, word information lost, 0 to 100: what `WIP` leaves of 100.

    Of several references the one with the lowest score counts. All else is as for `WER`.

    >>> print(WIL().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    WIL = 40.48
    """

    __slots__ = ()

    NAME = "WIL"
    WORST = 100.0
    PREFIX = "wil-"
    CONSTANTS = {"measure": ("wil", "m")}  # noqa: RUF012


class WIP(WER):
    """WIP, word information preserved, 0 to 100, 100 is best.

    It is the share of hits in the references times that in the hypotheses. Of several references
    the one with the highest score counts. All else is as for `WER`.

    >>> print(WIP().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    WIP = 59.52
    """

    __slots__ = ()

    NAME = "WIP"
    PREFIX = "wip-"
    CONSTANTS = {"measure": ("wip", "m")}  # noqa: RUF012
    LOWER_IS_BETTER = False
    BOUND = 100.0
    WORST = 0.0


class CER(_EditMetric[CERScore]):
    """CER, the character error rate, 0 and more: edits per 100 characters of the references.

    As in jiwer, a character is a code point, white space within a segment counts and that at its
    ends does not. Of several references the one with the lowest rate counts; of an empty one, all
    is as for `WER`.

    >>> print(CER().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    CER = 31.82
    """

    __slots__ = ()

    NAME = "CER"
    SCORE = CERScore
    PREFIX = "cer-"
    CONSTANTS = {"measure": ("cer", "m")}  # noqa: RUF012
    lowercase: p.Parameter[bool | str] = p.declare_lowercase(has_variants=False)

    def build_kernel_settings(self) -> dict[str, Any]:
        """What the kernel is asked for."""
        lowercase = "python" if self.lowercase else "no"
        lexing = {"tokenizer": "whole", "lowercase": lowercase}
        return {"metric": "edits", **lexing, "measure": "wer", "characters": True}

    def tokenize_text(self, text: str) -> list[str]:
        """The characters of a text."""
        return list((text.lower() if self.lowercase else text).strip())
