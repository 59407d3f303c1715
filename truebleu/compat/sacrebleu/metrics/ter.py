"""TER (Snover et al., 2006) as sacreBLEU has it."""

from __future__ import annotations

from truebleu.metrics.table_metric import PARTS

from ..tokenizers.tokenizer_ter import TercomTokenizer
from .base import Score, Signature, SummedMetric
from .engine import Engine, Served
from .helpers import sum_of_lists
from .lib_ter import translation_edit_rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from truebleu._kernel import Table


class TERSignature(Signature):
    """TER's signature: case, tokenizer, and the tokenizer's options."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        self._add(
            case=("c", "mixed" if args["case_sensitive"] else "lc"),
            tok=("t", args["tokenizer_signature"]),
            norm=("nr", args["normalized"]),
            punct=("pn", not args["no_punct"]),
            asian=("as", args["asian_support"]),
        )


class TERScore(Score):
    """A TER score, with the edits and the length of the references, which may be a mean."""

    def __init__(self, score: float, num_edits: float, ref_length: float) -> None:
        super().__init__("TER", score)
        self.num_edits = int(num_edits)
        self.ref_length = ref_length


class TER(SummedMetric[TERScore]):
    """TER with its parameters.

    normalized: join hyphenated line ends, decode four entities, separate punctuation.
    no_punct: delete . , ? : ; ! " ( and ).
    asian_support: with `normalized`, Chinese characters and Asian punctuation stand alone; with
        `no_punct`, Asian punctuation is deleted too.
    case_sensitive: do not lower-case.
    references: streams for all corpora to come; `corpus_score` then takes None for them.
    """

    _SIGNATURE_TYPE = TERSignature

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        references: Sequence[Sequence[str]] | None = None,
    ) -> None:
        super().__init__()
        self.no_punct = no_punct
        self.normalized = normalized
        self.asian_support = asian_support
        self.case_sensitive = case_sensitive
        self.tokenizer = TercomTokenizer(normalized, no_punct, asian_support, case_sensitive)
        self.tokenizer_signature = self.tokenizer.signature()
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _kernel_values(self) -> tuple[Any, ...] | None:
        """The values of the parameters in `_SERVED`; None where only Python can count."""
        replaced = (
            type(self.tokenizer) is not TercomTokenizer
            or TercomTokenizer.__call__ is not _TOKENIZE
            or translation_edit_rate is not _EDIT
        )
        return None if replaced else tuple(self.tokenizer.options.values())

    def _preprocess_segment(self, sent: str) -> str:
        """A line tokenized, and lower-cased unless case matters."""
        return self.tokenizer(sent.rstrip())

    def _compute_score_from_stats(self, stats: Any) -> TERScore:
        """The score from a number of edits and a reference length."""
        edits, length = stats[0], stats[1]
        # Against an empty reference, any edit is 100 %.
        score = edits / length if length > 0 else float(edits > 0)
        return TERScore(100 * score, edits, length)

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        """The words of each reference, which is tokenized a second time, as in every TER score."""
        return {"ref_words": [self._preprocess_segment(ref).split() for ref in refs]}

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, Any]
    ) -> list[float]:
        """The fewest edits to any reference, and the mean length of all."""
        words, references = hypothesis.split(), ref_kwargs["ref_words"]
        if not references:
            raise ZeroDivisionError("TER: all references of a segment are None")
        found = [translation_edit_rate(words, reference) for reference in references]
        edits = min(edits for edits, _ in found)
        return [edits, sum(length for _, length in found) / len(references)]


class TEREngine(Engine):
    """TER's engine: its reference lengths are means, which the kernel counts in parts of a word."""

    MOST_REFERENCES = 16  # all numbers up to it divide the parts

    def listed(self, row: list[int]) -> list[Any]:
        """A row of the kernel's as sacreBLEU's list."""
        return [row[0], row[1] / PARTS]

    def counted(self, row: Sequence[Any]) -> list[int]:
        """A list of sacreBLEU's as a row; ValueError or TypeError if the kernel has no such row."""
        edits, length = row
        parts = round(length * PARTS)
        if parts / PARTS != length:
            raise ValueError(f"{length!r}: not a mean of up to {self.MOST_REFERENCES} lengths")
        return super().counted([edits, parts])

    def total(self, table: Table) -> Sequence[Any]:
        """The sum of all rows, as sacreBLEU's list: floats, added in the order of segments."""
        return sum_of_lists(list(map(self.listed, table.tolist())))


_TOKENIZE, _EDIT = TercomTokenizer.__call__, translation_edit_rate
_NAMES = ("normalized", "no_punct", "asian_support", "case_sensitive")
TER._SERVED = Served(TER, "ter", _NAMES, engine=TEREngine)
