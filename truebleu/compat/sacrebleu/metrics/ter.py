"""TER (Snover et al., 2006) as sacreBLEU has it."""

from __future__ import annotations

from ..tokenizers.tokenizer_ter import TercomTokenizer
from ..utils import sum_of_lists
from . import engine
from .base import Metric, Score, Signature
from .lib_ter import translation_edit_rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar


class TERSignature(Signature):
    """TER's signature: case, tokenizer, and what the tokenizer does."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        self._abbr.update({"case": "c", "tok": "t", "norm": "nr", "punct": "pn", "asian": "as"})
        self.info.update(
            {
                "case": "mixed" if args["case_sensitive"] else "lc",
                "tok": args["tokenizer_signature"],
                "norm": args["normalized"],
                "punct": not args["no_punct"],
                "asian": args["asian_support"],
            }
        )


class TERScore(Score):
    """A TER score, with the edits and the length of the references, which may be a mean."""

    def __init__(self, score: float, num_edits: float, ref_length: float) -> None:
        super().__init__("TER", score)
        self.num_edits = int(num_edits)
        self.ref_length = ref_length


class TER(Metric):
    """TER with its parameters.

    normalized: join hyphenated line ends, decode four entities, separate punctuation.
    no_punct: delete . , ? : ; ! " ( and ).
    asian_support: with `normalized`, Chinese characters and Asian punctuation stand alone; with
        `no_punct`, Asian punctuation is deleted too.
    case_sensitive: do not lower-case.
    references: streams for all corpora to come; `corpus_score` then takes None for them.
    """

    _SIGNATURE_TYPE = TERSignature
    _COUNTING: ClassVar[dict[str, object]]
    _SCORING: ClassVar[dict[str, object]]
    _AGGREGATING: ClassVar[dict[str, object]]

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
        self.tokenizer = TercomTokenizer(
            normalized=normalized,
            no_punct=no_punct,
            asian_support=asian_support,
            case_sensitive=case_sensitive,
        )
        self.tokenizer_signature = self.tokenizer.signature()
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _engine(self) -> engine.Engine | None:
        tokenizer = self.tokenizer
        if (
            type(tokenizer) is not TercomTokenizer
            or TercomTokenizer.__call__ is not _TOKENIZE
            or translation_edit_rate is not _EDIT
            or not engine.leaves(self, self._COUNTING)
        ):
            return None
        return engine.ter(
            bool(tokenizer._normalized),
            bool(tokenizer._no_punct),
            bool(tokenizer._asian_support),
            bool(tokenizer._case_sensitive),
        )

    def _scorer(self) -> engine.Engine | None:
        return self._engine() if engine.leaves(self, self._SCORING) else None

    def _aggregates_itself(self) -> bool:
        return not engine.leaves(self, self._AGGREGATING)

    def _preprocess_segment(self, sent: str) -> str:
        """A line tokenized, and lower-cased unless case counts."""
        return self.tokenizer(sent.rstrip())

    def _compute_score_from_stats(self, stats: Any) -> TERScore:
        """The score from a number of edits and a reference length."""
        edits, length = stats[0], stats[1]
        # Against nothing, anything is all wrong, and nothing is all right.
        score = edits / length if length > 0 else float(edits > 0)
        return TERScore(100 * score, edits, length)

    def _aggregate_and_compute(self, stats: list[list[float]]) -> TERScore:
        """The score of a corpus from the statistics of its segments."""
        return self._compute_score_from_stats(sum_of_lists(stats))

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        """The words of each reference, which is tokenized a second time, as in every TER score."""
        return {"ref_words": [self._preprocess_segment(ref).split() for ref in refs]}

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, Any]
    ) -> list[float]:
        """The fewest edits to any reference, and the mean length of all."""
        words, references = hypothesis.split(), ref_kwargs["ref_words"]
        if not references:
            raise ZeroDivisionError("TER: a segment has no reference, all are None")
        found = [translation_edit_rate(words, reference) for reference in references]
        edits = min(edits for edits, _ in found)
        return [edits, sum(length for _, length in found) / len(references)]


_TOKENIZE, _EDIT = TercomTokenizer.__call__, translation_edit_rate
TER._COUNTING = engine.defined(
    TER, "_extract_reference_info", "_compute_segment_statistics", *engine.COUNTING
)
TER._SCORING = engine.defined(TER, *engine.SCORING)
TER._AGGREGATING = engine.defined(TER, "_aggregate_and_compute")
