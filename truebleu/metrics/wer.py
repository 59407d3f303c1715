"""Word error rate and related metrics: WER, MER, WIL, WIP, and the character error rate CER.

Andrew Morris, Viktoria Maier and Phil Green (2004): From WER and RIL to MER and WIL: improved
evaluation measures for connected speech recognition. Interspeech. Words, alignments and arithmetic
match jiwer 4.0.0, which aligns with rapidfuzz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Metric, S
from truebleu.metrics.scores import TableScore
from truebleu.metrics.ter_alignment import Alignment, Operation
from truebleu.text import argument_checks, tokenizers
from truebleu.text.terminal_layout import format_count

__all__ = ["CER", "MER", "WER", "WIL", "WIP", "CERScore", "WERScore"]

EDIT_KINDS = {"h": "match", "s": "substitution", "d": "deletion", "i": "insertion"}


class EditAlignment(Alignment):
    """Immutable edit operations of one segment. `print` draws their alignment.

    It has the fields of TER's `Alignment`, without shifts. Error rates describe edits from
    reference to hypothesis: a deletion is a token found only in the reference, and an insertion a
    token found only in the hypothesis.
    """

    __slots__ = ()

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The number of hits, substitutions, deletions and insertions."""
        kinds = [kind for kind, _, _ in self.operations]
        hits, substitutions, deletions, insertions = map(kinds.count, EDIT_KINDS.values())
        return hits, substitutions, deletions, insertions

    @property
    def value(self) -> float:
        """The segment's error rate."""
        _, _, _, insertions = self.counts
        length = len(self.reference)
        return 100.0 * (self.edits / length if length else insertions)

    def list_row_names(self) -> tuple[str, str]:
        """Return the row names of the drawing, from top to bottom."""
        return "reference", "hypothesis"

    def format_title(self) -> str:
        """Return a title with the error rate and the number of edits of each kind."""
        kinds = list(EDIT_KINDS.values())[1:]
        edits = ", ".join(
            format_count(n, kind) for n, kind in zip(self.counts[1:], kinds, strict=True)
        )
        length = format_count(len(self.reference), "token")
        return f"{self.value:.2f}: {edits}; {length} in the reference"


def align_edits(
    metric: Any, hypothesis: str, references: str | Sequence[str | None]
) -> EditAlignment:
    """Return the alignment of one segment with the reference that `metric` selects."""
    reference_texts = [references] if isinstance(references, str) else references
    texts = [hypothesis, *(text for text in reference_texts if text is not None)]
    for wrong in (text for text in texts if not isinstance(text, str)):
        raise TypeError(f"expected a str, not {argument_checks.describe_type(wrong, '')}")
    if len(texts) == 1:
        raise InputError("segment 1 has no reference")
    hypothesis_tokens = tuple(metric.tokenize_text(hypothesis))
    candidates: list[tuple[float, EditAlignment]] = []
    for number, text in enumerate(reference_texts):
        if text is not None:
            alignment = _align_tokens(hypothesis_tokens, tuple(metric.tokenize_text(text)), number)
            score = metric.from_statistics(alignment.counts).value
            candidates.append((score if metric.lower_is_better else -score, alignment))
    return min(candidates, key=lambda one: one[0])[1]


def _align_tokens(
    hypothesis: tuple[str, ...], reference: tuple[str, ...], number: int
) -> EditAlignment:
    token_ids: dict[str, int] = {}
    hypothesis_ids, reference_ids = (
        [token_ids.setdefault(token, len(token_ids)) for token in tokens]
        for tokens in (hypothesis, reference)
    )
    operations = []
    hypothesis_places, reference_places = iter(range(len(hypothesis))), iter(range(len(reference)))
    for letter in _kernel.edits(reference_ids, hypothesis_ids):
        i = None if letter == "d" else next(hypothesis_places)
        j = None if letter == "i" else next(reference_places)
        operations.append(Operation(EDIT_KINDS[letter], i, j))
    length = float(len(reference))
    return EditAlignment(hypothesis, reference, number, (), tuple(operations), length)


if TYPE_CHECKING:
    from dataclasses import KW_ONLY

EDIT_COLUMNS = ("hits", "substitutions", "deletions", "insertions")


class EditScore(TableScore):
    """Error rate or preserved information, with the counts of hits and edits."""

    __slots__ = ()

    DETAILS: ClassVar[tuple[str, ...]] = (*EDIT_COLUMNS, "reference_length", "hypothesis_length")

    @property
    def hits(self) -> int:
        """The number of matching tokens in the alignment."""
        return self._row[0]

    @property
    def substitutions(self) -> int:
        """The number of reference tokens that hypotheses replace with other tokens."""
        return self._row[1]

    @property
    def deletions(self) -> int:
        """The number of reference tokens that are missing from the hypotheses."""
        return self._row[2]

    @property
    def insertions(self) -> int:
        """The number of hypothesis tokens that are missing from the references."""
        return self._row[3]

    @property
    def edits(self) -> int:
        """The number of substitutions, deletions and insertions."""
        return sum(self._row[1:])

    @property
    def reference_length(self) -> int:
        """The effective reference length, in tokens."""
        return sum(self._row[:3])

    @property
    def hypothesis_length(self) -> int:
        """The number of tokens in the hypotheses."""
        return self.hits + self.substitutions + self.insertions

    @property
    def fraction(self) -> float:
        """The score on jiwer's scale, identical to jiwer's. Error rates may exceed 1."""
        number: float = getattr(self, self._metric.name.lower())
        return number

    def _compute_error_rate(self) -> float:
        length = self.reference_length
        return self.edits / length if length else float(self.insertions)


class WERScore(EditScore):
    """WER, MER, WIL or WIP score, with the values of all four metrics on jiwer's scale."""

    __slots__ = ()

    DETAILS = (*EditScore.DETAILS, "wer", "mer", "wil", "wip")

    @property
    def wer(self) -> float:
        """The word error rate: edits divided by reference words."""
        return self._compute_error_rate()

    @property
    def mer(self) -> float:
        """The match error rate: edits divided by hits and edits."""
        if not self.reference_length:
            return float(self.hypothesis_length > 0)
        return self.edits / (self.reference_length + self.insertions)

    @property
    def wil(self) -> float:
        """Word information lost: 1 - `wip`."""
        return 1.0 - self.wip

    @property
    def wip(self) -> float:
        """Word information preserved: hits per reference word times hits per hypothesis word."""
        if not self.reference_length:
            return float(self.hypothesis_length == 0)
        if not self.hypothesis_length:
            return 0.0
        return (self.hits / self.reference_length) * (self.hits / self.hypothesis_length)


class CERScore(EditScore):
    """Score of CER."""

    __slots__ = ()

    DETAILS = (*EditScore.DETAILS, "cer")

    @property
    def cer(self) -> float:
        """The character error rate: edits divided by reference characters."""
        return self._compute_error_rate()


class _EditMetric(Metric[S]):
    """Base class of WER, MER, WIL, WIP and CER, with their columns and alignments."""

    __slots__ = ()

    CITATIONS = ("morris-etal-2004-wer",)
    FIELDS: ClassVar[tuple[str, ...]] = ("case", "tok", "measure")
    LOWER_IS_BETTER = True
    BOUND: ClassVar[float | None] = None
    WORST: ClassVar[float | None] = None
    columns = EDIT_COLUMNS

    def tokenize_text(self, text: str) -> list[str]:
        """Return the tokens of a text for the alignment."""
        raise NotImplementedError

    def alignment(self, hypothesis: str, references: str | Sequence[str | None]) -> EditAlignment:
        """Return the alignment of one segment, which is identical to jiwer's.

        Raises InputError without a reference, and TypeError for arguments other than strings.
        """
        return align_edits(self, *self._normalize_texts(hypothesis, references))

    PUBLIC = (*Metric.PUBLIC, "alignment")


class WER(_EditMetric[WERScore]):
    """WER, the word error rate: edits per 100 reference words, at least 0.

    An edit is a word that is substituted, deleted (only the reference has it) or inserted, in an
    alignment with the fewest edits. Corpus scores are computed from sums over segments. The score
    is jiwer's times 100; `score.fraction` is jiwer's.

    As in jiwer, white space separates words, and case and punctuation matter. If all references of
    a corpus are empty, the score is 100 times the insertions. The words of a segment with an empty
    reference are insertions. jiwer accepts one reference per segment. With several references, the
    first reference with the lowest rate is used.

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
        """Return the metric settings for the kernel."""
        settings = {"measure": self.NAME.lower(), "characters": False}
        return {"metric": "edits", **self._build_lexer_settings(), **settings}

    def tokenize_text(self, text: str) -> list[str]:
        """Return the words of a text."""
        return tokenizers.make_tokenizer(**self._tokenizer_settings)(text)


class MER(WER):
    """MER, the match error rate, 0 to 100: the percentage of edits among hits and edits.

    With several references, the lowest rate is used. In other respects, it is like `WER`.

    >>> print(MER().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    MER = 28.57
    """

    __slots__ = ()

    NAME = "MER"
    WORST = 100.0
    PREFIX = "mer-"
    CONSTANTS = {"measure": ("mer", "m")}  # noqa: RUF012


class WIL(WER):
    """WIL, word information lost, 0 to 100: 100 - `WIP`.

    With several references, the lowest score is used. In other respects, it is like `WER`.

    >>> print(WIL().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    WIL = 40.48
    """

    __slots__ = ()

    NAME = "WIL"
    WORST = 100.0
    PREFIX = "wil-"
    CONSTANTS = {"measure": ("wil", "m")}  # noqa: RUF012


class WIP(WER):
    """WIP, word information preserved, 0 to 100 (100 is best).

    WIP is the percentage of reference words that are hits, times the share of hypothesis words that
    are hits. With several references, the highest score is used. In all other respects, it is like
    `WER`.

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
    """CER, the character error rate: edits per 100 reference characters, at least 0.

    As in jiwer, a character is a code point, and white space is included except at the ends of a
    segment. With several references, the lowest rate is used. For empty references, see `WER`.

    >>> print(CER().score(["a dog sat on the old mat"], ["the dog sat on the mat"]))
    CER = 31.82
    """

    __slots__ = ()

    NAME = "CER"
    SCORE = CERScore
    PREFIX = "cer-"
    ABSENT_PARAMETERS = {"tokenize": "CER compares characters"}  # noqa: RUF012
    CONSTANTS = {"measure": ("cer", "m")}  # noqa: RUF012
    lowercase: p.Parameter[bool | str] = p.declare_lowercase(has_variants=False)

    def build_kernel_settings(self) -> dict[str, Any]:
        """Return the metric settings for the kernel."""
        lowercase = "python" if self.lowercase else "no"
        lexing = {"tokenizer": "whole", "lowercase": lowercase}
        return {"metric": "edits", **lexing, "measure": "wer", "characters": True}

    def tokenize_text(self, text: str) -> list[str]:
        """Return the characters of a text."""
        return list((text.lower() if self.lowercase else text).strip())
