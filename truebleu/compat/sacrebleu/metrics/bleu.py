"""BLEU (Papineni et al., 2002) as sacreBLEU has it."""

from __future__ import annotations

import math
from operator import attrgetter

from truebleu.metrics.bleu_formula import LOG_OF_ZERO

from .._messages import logger
from .._parameters import SMOOTHING
from .._parameters import TOKENIZERS as _TOKENIZERS
from ..tokenizers.tokenizer_13a import Tokenizer13a
from ..tokenizers.tokenizer_char import TokenizerChar
from ..tokenizers.tokenizer_intl import TokenizerV14International
from ..tokenizers.tokenizer_ja_mecab import TokenizerJaMecab
from ..tokenizers.tokenizer_ko_mecab import TokenizerKoMecab
from ..tokenizers.tokenizer_none import NoneTokenizer
from ..tokenizers.tokenizer_spm import (
    Flores101Tokenizer,
    Flores200Tokenizer,
    TokenizerSPM,
    spBLEU1KTokenizer,
)
from ..tokenizers.tokenizer_zh import TokenizerZh
from .base import Score, Signature, SummedMetric
from .engine import Served
from .helpers import extract_all_word_ngrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from ..tokenizers import BaseTokenizer

MAX_NGRAM_ORDER = 4

# The kernel's tokenizers, by the classes that stand for them here and these classes' calls. Which
# model an SPM tokenizer has is its own to say.
_IN_KERNEL: dict[Any, str | None] = {
    (cls, cls.__call__): getattr(cls, "NAME", None)
    for cls in (
        NoneTokenizer,
        TokenizerZh,
        Tokenizer13a,
        TokenizerV14International,
        TokenizerChar,
        TokenizerJaMecab,
        TokenizerKoMecab,
        TokenizerSPM,
        Flores101Tokenizer,
        Flores200Tokenizer,
        spBLEU1KTokenizer,
    )
}

_LANGUAGES = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean"}


def _get_tokenizer(name: str) -> type[BaseTokenizer]:
    """The class of the tokenizer with that name. Programs replace this function."""
    from importlib import import_module

    module, cls = _TOKENIZERS[name].rsplit(".", 1)
    found = import_module(f"..tokenizers.{module}", __package__)
    return getattr(found, cls)  # type: ignore[no-any-return]


class BLEUSignature(Signature):
    """BLEU's signature: case, effective order, tokenizer, smoothing."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        smoothing = args["smooth_method"]
        default = BLEU.SMOOTH_DEFAULTS[smoothing]
        if default is not None:
            value = default if args["smooth_value"] is None else args["smooth_value"]
            smoothing += f"[{value:.2f}]"
        self._add(
            case=("c", "lc" if args["lowercase"] else "mixed"),
            eff=("e", "yes" if args["effective_order"] else "no"),
            tok=("tok", args["tokenizer_signature"]),
            smooth=("s", smoothing),
        )


class BLEUScore(Score):
    """A BLEU score, with the counts and totals of each order, smoothed if smoothing changes them.

    Precisions are in per cent; `ratio` is hypothesis length over reference length.
    """

    def __init__(
        self,
        score: float,
        counts: list[int],
        totals: list[int],
        precisions: list[float],
        bp: float,
        sys_len: int,
        ref_len: int,
    ) -> None:
        super().__init__("BLEU", score)
        self.bp = bp
        self.counts = counts
        self.totals = totals
        self.sys_len = sys_len
        self.ref_len = ref_len
        self.precisions = precisions
        self.prec_str = "/".join([f"{precision:.1f}" for precision in precisions])
        self.ratio = sys_len / ref_len if ref_len else 0
        self._verbose = (
            f"{self.prec_str} (BP = {bp:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {sys_len:d} ref_len = {ref_len:d})"
        )


class BLEU(SummedMetric[BLEUScore]):
    """BLEU with its parameters.

    lowercase: lower-case the text first.
    force: no warning when the text looks tokenized.
    tokenize: a name; None for 13a, or the tokenizer for `trg_lang`.
    smooth_method: "exp", "floor", "add-k" or "none".
    smooth_value: of "floor" (default 0.1) and "add-k" (1).
    max_ngram_order: the longest n-grams.
    effective_order: leave out orders that the hypotheses are too short for.
    trg_lang: the language of the text.
    references: streams for all corpora to come; `corpus_score` then takes None for them.
    """

    SMOOTH_DEFAULTS = SMOOTHING
    TOKENIZERS = _TOKENIZERS.keys()
    TOKENIZER_DEFAULT = "13a"
    _TOKENIZER_MAP: ClassVar[dict[str, str]] = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
    _SIGNATURE_TYPE = BLEUSignature

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: str | None = None,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = MAX_NGRAM_ORDER,
        effective_order: bool = False,
        trg_lang: str = "",
        references: Sequence[Sequence[str]] | None = None,
    ) -> None:
        super().__init__()
        self._force = force
        self.trg_lang = trg_lang
        self.lowercase = lowercase
        self.smooth_value = smooth_value
        self.smooth_method = smooth_method
        self.max_ngram_order = max_ngram_order
        self.effective_order = effective_order
        # The braces are sacreBLEU's, and in the message that programs see.
        if smooth_method not in self.SMOOTH_DEFAULTS:
            # Raised and not asserted: pytest rewrites the assertions of a package with a plugin.
            raise AssertionError("Unknown smooth_method {self.smooth_method!r}")
        suited = self._TOKENIZER_MAP.get(trg_lang, self.TOKENIZER_DEFAULT)
        if tokenize is not None and trg_lang in _LANGUAGES and tokenize != suited:
            logger().warning(
                "Consider using the '%s' or 'spm' tokenizer for %s.", suited, _LANGUAGES[trg_lang]
            )
        self.tokenizer = _get_tokenizer(suited if tokenize is None else tokenize)()
        self.tokenizer_signature = self.tokenizer.signature()
        if references is not None:
            self._ref_cache = self._cache_references(references)

    @staticmethod
    def compute_bleu(
        correct: Any,
        total: Any,
        sys_len: int,
        ref_len: int,
        smooth_method: str = "none",
        smooth_value: Any = None,
        effective_order: bool = False,
        max_ngram_order: int = MAX_NGRAM_ORDER,
    ) -> BLEUScore:
        """The score of n-gram matches and totals of each order, and two lengths.

        Matches and totals may be lists or arrays; "add-k" adds to them in place. Smoothing is Chen
        and Cherry's (2014) methods 1 ("floor"), 2 ("add-k") and 3 ("exp").
        """
        if smooth_method not in BLEU.SMOOTH_DEFAULTS:
            raise AssertionError("Unknown smooth_method {smooth_method!r}")
        if smooth_value is None:
            smooth_value = BLEU.SMOOTH_DEFAULTS[smooth_method]
        bp = 1.0
        if sys_len < ref_len:
            bp = math.exp(1 - ref_len / sys_len) if sys_len > 0 else 0.0
        precisions = [0.0] * max_ngram_order
        if not any(correct):
            return BLEUScore(0.0, correct, total, precisions, bp, sys_len, ref_len)
        orders, divisor = max_ngram_order, 1.0
        for at in range(max_ngram_order):
            if smooth_method == "add-k" and at:
                correct[at] += smooth_value
                total[at] += smooth_value
            if total[at] == 0:
                break
            if effective_order:
                orders = at + 1
            if correct[at] != 0:
                precisions[at] = 100.0 * correct[at] / total[at]
            elif smooth_method == "exp":
                divisor *= 2
                precisions[at] = 100.0 / (divisor * total[at])
            elif smooth_method == "floor":
                precisions[at] = 100.0 * smooth_value / total[at]
        logs = [math.log(p) if p != 0.0 else LOG_OF_ZERO for p in precisions[:orders]]
        score = bp * math.exp(sum(logs) / orders)
        return BLEUScore(score, correct, total, precisions, bp, sys_len, ref_len)

    def _kernel_values(self) -> tuple[Any, ...] | None:
        """The values of the parameters in `_SERVED`; None where only Python can count."""
        tokenizer = type(self.tokenizer)
        served = (tokenizer, tokenizer.__call__)
        name = _IN_KERNEL.get(served)
        if name is None and served in _IN_KERNEL:
            name = getattr(self.tokenizer, "name", None)
        if name is None or extract_all_word_ngrams is not _EXTRACT:
            return None
        return name, *_OPTIONS(self)

    def _preprocess_segment(self, sent: str) -> str:
        """A line lower-cased, if that is asked for, and tokenized."""
        if self.lowercase:
            sent = sent.lower()
        return self.tokenizer(sent.rstrip())

    def _compute_score_from_stats(self, stats: Any) -> BLEUScore:
        """The score from two lengths, the matches of each order and the totals of each order."""
        return self.compute_bleu(
            correct=stats[2 : 2 + self.max_ngram_order],
            total=stats[2 + self.max_ngram_order :],
            sys_len=int(stats[0]),
            ref_len=int(stats[1]),
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            effective_order=self.effective_order,
            max_ngram_order=self.max_ngram_order,
        )

    def _get_closest_ref_len(self, hyp_len: int, ref_lens: Sequence[int]) -> int:
        """The reference length that is closest, the shorter of two; -1 if there is none."""
        return min(ref_lens, key=lambda length: (abs(hyp_len - length), length), default=-1)

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        """The highest count of each n-gram in any reference, and the references' lengths."""
        ngrams, lengths = None, []
        for ref in refs:
            counts, length = extract_all_word_ngrams(ref, 1, self.max_ngram_order)
            lengths.append(length)
            ngrams = counts if ngrams is None else ngrams | counts
        return {"ref_ngrams": ngrams, "ref_lens": lengths}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[int]:
        """Two lengths, the clipped matches of each order, the n-grams of each order."""
        allowed, lengths = ref_kwargs["ref_ngrams"], ref_kwargs["ref_lens"]
        ngrams, length = extract_all_word_ngrams(hypothesis, 1, self.max_ngram_order)
        if allowed is None and ngrams:
            raise TypeError("BLEU: all references of a segment are None")
        correct, total = [0] * self.max_ngram_order, [0] * self.max_ngram_order
        for ngram, count in ngrams.items():
            total[len(ngram) - 1] += count
            if ngram in allowed:
                correct[len(ngram) - 1] += min(count, allowed[ngram])
        return [length, self._get_closest_ref_len(length, lengths), *correct, *total]

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> BLEUScore:
        """The score of one segment against its references."""
        if not self.effective_order:
            logger().warning(
                "It is recommended to enable `effective_order` for sentence-level BLEU."
            )
        return super().sentence_score(hypothesis, references)


_EXTRACT = extract_all_word_ngrams
_NAMES = ("lowercase", "smooth_method", "smooth_value", "effective_order", "max_ngram_order")
_OPTIONS = attrgetter(*_NAMES)
_PARAMETERS = ("tokenize", *_NAMES)
BLEU._SERVED = Served(BLEU, "bleu", _PARAMETERS, ("_get_closest_ref_len",), ("compute_bleu",))
