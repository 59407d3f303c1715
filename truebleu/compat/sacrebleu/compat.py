"""The functions of sacreBLEU: a metric's parameters and a text in one call.

Metrics with the same parameters are made once.
"""

from __future__ import annotations

from functools import lru_cache

from .metrics import BLEU, CHRF, TER
from .metrics import bleu as _bleu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from .metrics import BLEUScore, CHRFScore, TERScore

    M = TypeVar("M", BLEU, CHRF, TER)
    Lines = Sequence[str]
    References = Sequence[Sequence[str]]

# The number of metrics that are kept; a program has two or three.
_KEPT = 64


@lru_cache(_KEPT, typed=True)
def _kept(metric: Callable[..., Any], _tokenizers: object, *parameters: Any) -> Any:
    return metric(*parameters)


def _metric(metric: type[M], *parameters: Any) -> M:
    """A metric with these parameters, in the order of its class; made once.

    Programs replace `metrics.bleu._get_tokenizer`; from then on, other metrics are made.
    """
    try:
        made: M = _kept(metric, _bleu._get_tokenizer, *parameters)
    except TypeError:  # a parameter that cannot be hashed, or one that the metric refuses
        return metric(*parameters)
    return made


def corpus_bleu(
    hypotheses: Lines,
    references: References,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str | None = BLEU.TOKENIZER_DEFAULT,
    use_effective_order: bool = False,
) -> BLEUScore:
    """The BLEU of a corpus: n strings, and a stream of n for each reference."""
    smoothing = (smooth_method, smooth_value, _bleu.MAX_NGRAM_ORDER, use_effective_order)
    metric = _metric(BLEU, lowercase, force, tokenize, *smoothing)
    return metric.corpus_score(hypotheses, references)


def raw_corpus_bleu(
    hypotheses: Lines,
    references: References,
    smooth_value: float | None = BLEU.SMOOTH_DEFAULTS["floor"],
) -> BLEUScore:
    """The BLEU of text that is tokenized already, with smoothing "floor" and effective order."""
    return corpus_bleu(
        hypotheses,
        references,
        smooth_method="floor",
        smooth_value=smooth_value,
        force=True,
        tokenize="none",
        use_effective_order=True,
    )


def sentence_bleu(
    hypothesis: str,
    references: Lines,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str | None = BLEU.TOKENIZER_DEFAULT,
    use_effective_order: bool = True,
) -> BLEUScore:
    """The BLEU of one segment against its references."""
    smoothing = (smooth_method, smooth_value, _bleu.MAX_NGRAM_ORDER, use_effective_order)
    metric = _metric(BLEU, lowercase, False, tokenize, *smoothing)
    return metric.sentence_score(hypothesis, references)


def corpus_chrf(
    hypotheses: Lines,
    references: References,
    char_order: int = CHRF.CHAR_ORDER,
    word_order: int = CHRF.WORD_ORDER,
    beta: int = CHRF.BETA,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """The chrF of a corpus: n strings, and a stream of n for each reference."""
    orders = (char_order, word_order, beta)
    metric = _metric(CHRF, *orders, False, not remove_whitespace, eps_smoothing)
    return metric.corpus_score(hypotheses, references)


def sentence_chrf(
    hypothesis: str,
    references: Lines,
    char_order: int = CHRF.CHAR_ORDER,
    word_order: int = CHRF.WORD_ORDER,
    beta: int = CHRF.BETA,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """The chrF of one segment against its references."""
    orders = (char_order, word_order, beta)
    metric = _metric(CHRF, *orders, False, not remove_whitespace, eps_smoothing)
    return metric.sentence_score(hypothesis, references)


def corpus_ter(
    hypotheses: Lines,
    references: References,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """The TER of a corpus: n strings, and a stream of n for each reference."""
    metric = _metric(TER, normalized, no_punct, asian_support, case_sensitive)
    return metric.corpus_score(hypotheses, references)


def sentence_ter(
    hypothesis: str,
    references: Lines,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """The TER of one segment against its references."""
    metric = _metric(TER, normalized, no_punct, asian_support, case_sensitive)
    return metric.sentence_score(hypothesis, references)
