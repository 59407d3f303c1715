"""chrF (Popović, 2015) and chrF++ (Popović, 2017) as sacreBLEU has them."""

from __future__ import annotations

from operator import attrgetter

from .base import Score, Signature, SummedMetric
from .engine import Served
from .helpers import extract_all_char_ngrams, extract_word_ngrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

# The value of a precision or a recall that does not exist.
_EPS = 1e-16


class CHRFSignature(Signature):
    """chrF's signature: case, effective order, orders of characters and words, white space."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        self._add(
            case=("c", "lc" if args["lowercase"] else "mixed"),
            eff=("e", "no" if args["eps_smoothing"] else "yes"),
            nc=("nc", args["char_order"]),
            nw=("nw", args["word_order"]),
            space=("s", "yes" if args["whitespace"] else "no"),
        )


class CHRFScore(Score):
    """A chrF score; a plus sign in its name for each order of words."""

    def __init__(self, score: float, char_order: int, word_order: int, beta: int) -> None:
        self.beta = beta
        self.char_order = char_order
        self.word_order = word_order
        super().__init__(f"chrF{beta}" + "+" * word_order, score)


class CHRF(SummedMetric[CHRFScore]):
    """chrF with its parameters.

    char_order: the longest n-grams of characters.
    word_order: the longest n-grams of words; 2 for chrF++.
    beta: the weight of recall relative to precision.
    lowercase: lower-case the text first.
    whitespace: count white space as characters.
    eps_smoothing: a tiny F-score for orders without n-grams, as in NLTK and Moses, where
        otherwise they are left out.
    references: streams for all corpora to come; `corpus_score` then takes None for them.
    """

    CHAR_ORDER = 6
    WORD_ORDER = 0
    BETA = 2
    _PUNCTS: ClassVar[set[str]] = set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    _SIGNATURE_TYPE = CHRFSignature

    def __init__(
        self,
        char_order: int = CHAR_ORDER,
        word_order: int = WORD_ORDER,
        beta: int = BETA,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        references: Sequence[Sequence[str]] | None = None,
    ) -> None:
        super().__init__()
        self.beta = beta
        self.char_order = char_order
        self.word_order = word_order
        self.order = char_order + word_order
        self.lowercase = lowercase
        self.whitespace = whitespace
        self.eps_smoothing = eps_smoothing
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _kernel_values(self) -> tuple[Any, ...] | None:
        """The values of the parameters in `_SERVED`; None where only Python can count."""
        replaced = (
            (extract_all_char_ngrams, extract_word_ngrams) != _HELPERS
            or self._PUNCTS is not CHRF._PUNCTS
            or self.order != self.char_order + self.word_order
        )
        return None if replaced else _OPTIONS(self)

    @staticmethod
    def _get_match_statistics(hyp_ngrams: Counter[str], ref_ngrams: Counter[str]) -> list[int]:
        """N-grams of one order in the hypothesis, in the reference, and in both."""
        matches = (hyp_ngrams & ref_ngrams).total()
        # Without n-grams in the reference, those of the hypothesis do not count.
        return [hyp_ngrams.total() if ref_ngrams else 0, ref_ngrams.total(), matches]

    def _remove_punctuation(self, sent: str) -> list[str]:
        """The words of a line; one mark at the end of a word, or else at its start, is its own."""
        words = []
        for word in sent.split():
            if len(word) == 1:
                words.append(word)
            elif word[-1] in self._PUNCTS:
                words += [word[:-1], word[-1]]
            elif word[0] in self._PUNCTS:
                words += [word[0], word[1:]]
            else:
                words.append(word)
        return words

    def _preprocess_segment(self, sent: str) -> str:
        """A line lower-cased, if that is asked for."""
        return sent.lower() if self.lowercase else sent

    def _compute_f_score(self, statistics: Any) -> Any:
        """F-beta, 0-100, of the three numbers of each order."""
        factor = self.beta**2
        score, precision, recall, orders = 0.0, 0.0, 0.0, 0
        for at in range(0, 3 * self.order, 3):
            hypothesis, reference, matches = statistics[at : at + 3]
            p = matches / hypothesis if hypothesis > 0 else _EPS
            r = matches / reference if reference > 0 else _EPS
            denominator = factor * p + r
            score += (1 + factor) * p * r / denominator if denominator > 0 else _EPS
            if hypothesis > 0 and reference > 0:
                precision += p
                recall += r
                orders += 1
        if self.eps_smoothing:
            # The mean of the orders' F-scores.
            return 100 * score / self.order
        # The F-score of the means of precision and recall, over the orders that there are.
        if orders:
            precision /= orders
            recall /= orders
        if not precision + recall:
            return 0.0
        score = (1 + factor) * precision * recall
        score /= factor * precision + recall
        return 100 * score

    def _compute_score_from_stats(self, stats: Any) -> CHRFScore:
        """The score from the three numbers of each order."""
        return CHRFScore(self._compute_f_score(stats), self.char_order, self.word_order, self.beta)

    def _ngrams(self, line: str) -> list[Counter[str]]:
        """The n-grams of a line, order by order, those of words behind those of characters."""
        ngrams = extract_all_char_ngrams(line, self.char_order, self.whitespace)
        if self.word_order > 0:
            words = self._remove_punctuation(line)
            ngrams += [extract_word_ngrams(words, n) for n in range(1, self.word_order + 1)]
        return ngrams

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        """The n-grams of each reference, order by order."""
        return {"ref_ngrams": [self._ngrams(ref) for ref in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[int]:
        """The three numbers of each order, with the first of the references with the best score."""
        hypothesis_ngrams = self._ngrams(hypothesis)
        best: list[int] = []
        best_score = -1.0
        for ngrams in ref_kwargs["ref_ngrams"]:
            statistics: list[int] = []
            for of_hypothesis, of_reference in zip(hypothesis_ngrams, ngrams, strict=False):
                statistics += self._get_match_statistics(of_hypothesis, of_reference)
            score = self._compute_f_score(statistics)
            if score > best_score:
                best, best_score = statistics, score
        if not ref_kwargs["ref_ngrams"]:
            raise ValueError("chrF: all references of a segment are None")
        return best


_HELPERS = (extract_all_char_ngrams, extract_word_ngrams)
_NAMES = ("char_order", "word_order", "beta", "lowercase", "whitespace", "eps_smoothing")
_OPTIONS = attrgetter(*_NAMES)
# The F-score chooses among the references of a segment.
_METHODS = ("_get_match_statistics", "_remove_punctuation", "_compute_f_score", "_ngrams")
CHRF._SERVED = Served(CHRF, "chrf", _NAMES, _METHODS)
