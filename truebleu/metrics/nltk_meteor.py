"""METEOR as computed by NLTK, whose formula and alignment differ from those of METEOR 1.5.

Alon Lavie and Abhaya Agarwal (2007): METEOR: an automatic metric for MT evaluation with high levels
of correlation with human judgments. Workshop on Statistical Machine Translation.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import lru_cache
from types import SimpleNamespace

from truebleu.metrics import parameters as p
from truebleu.metrics import python_metric
from truebleu.metrics.base import Corpus
from truebleu.metrics.python_metric import SegmentMeanMetric, SegmentTexts
from truebleu.text import tokenizers
from truebleu.text.languages import Language


class NLTKMETEOR(SegmentMeanMetric):
    """NLTK's `meteor_score` times 100, averaged over segments.

    Lower-cased tokens match exactly, then by stem, then as synonyms in WordNet 3.0. The score is
    F · (1 - γ · (chunks / matches)^β), with F = PR / (αP + (1-α)R). With several references, the
    best score is used. METEOR 1.5 (`METEOR`) uses different tokens and weights, so its scores
    differ. NLTK expects tokens, so text is split at white space by default.

    The metric needs NLTK (`pip install 'truebleu[meteor]'`) and, for synonyms, WordNet 3.0, from
    NLTK's data or Debian's package wordnet-base.
    """

    __slots__ = ()

    NAME = "METEOR-nltk"
    CITATIONS = ("lavie-agarwal-2007-meteor", "bird-etal-2009-natural")
    PREFIX = "meteor-nltk-"
    DIGITS = 2
    FIELDS = ("alpha", "beta", "gamma", "stem", "syn", "tok", "agg")
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    alpha: p.Parameter[float] = p.Number(0.9, "α, the weight of recall in F", maximum=1, short="a")
    beta: p.Parameter[float] = p.Number(
        3.0, "β, the exponent of chunks / matches", maximum=1000, short="b"
    )
    gamma: p.Parameter[float] = p.Number(
        0.5, "γ, the largest penalty for the order of matches", maximum=1, short="g"
    )
    stemmer: p.Parameter[str] = p.Choice(
        "porter",
        "the stemmer",
        {"porter": "NLTK's Porter stemmer", "snowball": "English Snowball stemmer"},
        key="stem",
        short="st",
    )
    synonyms: p.Parameter[bool] = p.Choice(
        True,
        "match synonyms of WordNet",
        {True: "", False: "unlike NLTK, which always matches synonyms"},
        words={True: "wordnet-3.0", False: "no"},
        key="syn",
    )

    def describe_language_mismatch(self, language: Language) -> str:
        """Return why the metric does not suit a language, or "" for English."""
        words = "stems and synonyms" if self.synonyms else "stems"
        return "" if language.code == "en" else f"it matches English {words} only"

    def _find_versions(self) -> tuple[str, str]:
        return python_metric.find_installed_version("nltk"), ""

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[float]:
        try:
            from nltk.stem import PorterStemmer, SnowballStemmer
            from nltk.translate.meteor_score import meteor_score
        except ImportError:
            installation = "pip install 'truebleu[meteor]'"
            raise python_metric.make_missing_package_error(self.NAME, installation) from None
        from truebleu.metrics import nltk_wordnet

        words = nltk_wordnet.load_wordnet() if self.synonyms else nltk_wordnet.WordNet()
        stemmer = PorterStemmer() if self.stemmer == "porter" else SnowballStemmer("english")
        options = {
            "stemmer": SimpleNamespace(stem=lru_cache(nltk_wordnet.CACHE_SIZE)(stemmer.stem)),
            "wordnet": words,
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
        }
        split = tokenizers.make_tokenizer(self.tokenize)
        scores = []
        for number, (hypothesis, references) in enumerate(texts, 1):
            reference_tokens = list(map(split, references))
            scores.append(float(meteor_score(reference_tokens, split(hypothesis), **options)))
            if corpus.progress is not None and number % 100 == 0:
                corpus.progress(number)
        return scores
