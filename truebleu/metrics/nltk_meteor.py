"""METEOR as NLTK computes it, which is not METEOR 1.5: another formula, and another alignment.

Alon Lavie and Abhaya Agarwal (2007): METEOR: an automatic metric for MT evaluation with high levels
of correlation with human judgments. Workshop on Statistical Machine Translation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus
from truebleu.metrics.python_metric import (
    SegmentMeanMetric,
    SegmentTexts,
    find_installed_version,
    missing_package_error,
)
from truebleu.text import tokenizers
from truebleu.text.record import Record


class NLTKMETEOR(SegmentMeanMetric):
    """METEOR as NLTK's `meteor_score`: 100 times its number of a segment, and their mean.

    Tokens in lower case match exactly, then by stem, then as synonyms of WordNet 3.0; the score is
    F · (1 - γ · (chunks / matches)^β), with F = PR / (αP + (1-α)R). Of several references the best
    counts. It is not METEOR 1.5 (`METEOR`), whose words, weights and scores differ. NLTK takes
    tokens: the default splits at white space.

    It needs NLTK (`pip install 'truebleu[meteor]'`) and, for synonyms, WordNet 3.0: in NLTK's data,
    or as Debian's package wordnet-base.
    """

    __slots__ = ()

    NAME = "METEOR-nltk"
    PREFIX = "meteor-nltk-"
    DIGITS = 2
    FIELDS = ("alpha", "beta", "gamma", "stem", "syn", "tok", "agg")
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    alpha: p.Parameter[float] = p.Number(0.9, "α, the weight of recall in F", maximum=1, short="a")
    beta: p.Parameter[float] = p.Number(
        3.0, "β, the power of the share of chunks in matches", maximum=1000, short="b"
    )
    gamma: p.Parameter[float] = p.Number(
        0.5, "γ, the most that the order of matches can cost", maximum=1, short="g"
    )
    stemmer: p.Parameter[str] = p.Choice(
        "porter",
        "whose stems match",
        {"porter": "NLTK's variant of Porter's", "snowball": "Snowball's for English"},
        key="stem",
        short="st",
    )
    synonyms: p.Parameter[bool] = p.Choice(
        True,
        "whether synonyms of WordNet match",
        {True: "", False: "a number of its own: NLTK has them always"},
        words={True: "wordnet-3.0", False: "no"},
        key="syn",
    )

    def _find_versions(self) -> tuple[str, str]:
        return find_installed_version("nltk"), ""

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[float]:
        from truebleu.text.tokenizers import make_tokenizer

        split = make_tokenizer(self.tokenize)
        score = self._make_scorer()
        scores = []
        for number, (hypothesis, references) in enumerate(texts, 1):
            scores.append(score(list(map(split, references)), split(hypothesis)))
            if corpus.progress is not None and number % 100 == 0:
                corpus.progress(number)
        return scores

    def _make_scorer(self) -> Callable[[Any, Any], float]:
        """NLTK's function, from references and hypothesis."""
        try:
            from nltk.stem import PorterStemmer, SnowballStemmer
            from nltk.translate.meteor_score import meteor_score
        except ImportError:
            raise missing_package_error(self.NAME, "pip install 'truebleu[meteor]'") from None
        from truebleu.metrics import nltk_wordnet

        words = nltk_wordnet.load_wordnet() if self.synonyms else nltk_wordnet.WordNet()
        stemmer = PorterStemmer() if self.stemmer == "porter" else SnowballStemmer("english")
        cached_stemmer = _CachedStemmer(lru_cache(nltk_wordnet.CACHE_SIZE)(stemmer.stem))
        parameters = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma}
        return lambda references, tokens: float(
            meteor_score(references, tokens, stemmer=cached_stemmer, wordnet=words, **parameters)
        )


class _CachedStemmer(Record):
    """A stemmer as NLTK takes it, which remembers."""

    stem: Callable[[str], str]
