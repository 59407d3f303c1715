"""ROUGE: F-scores of n-grams or the longest common subsequence, as in Google's package.

Chin-Yew Lin (2004): ROUGE: a package for automatic evaluation of summaries. ACL workshop Text
Summarization Branches Out. Scores match `rouge-score` 0.1.2. If `rouge-score-rs` is installed, it
computes identical scores in less time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY
from string import ascii_letters
from types import SimpleNamespace
from typing import Any

from truebleu._kernel import Table
from truebleu.metrics import parameters as p
from truebleu.metrics import python_metric
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.python_metric import SegmentMeanMetric, SegmentMeanScore, SegmentTexts
from truebleu.text import tokenizers
from truebleu.text.languages import Language

# The release of rouge-score that defines the scores; tests compare rouge-score-rs with it.
REFERENCE_RELEASE = "0.1.2"
# Packages that compute the scores, fastest first.
PACKAGES = ("rouge-score-rs", "rouge-score")
ROUGE_TOKENIZER = "rouge"
TYPE_SUFFIXES = {"l": "L", "lsum": "Lsum"}
ASCII_LETTERS = ascii_letters.encode()
# Pattern of letters outside the Unicode blocks of Latin letters.
NON_LATIN_LETTER = re.compile(
    r"(?![\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\uff21-\uff5a])"
    r"[^\W\d_\0-\u024f]"
)


class ROUGEScore(SegmentMeanScore):
    """ROUGE score, which warns if most letters belong to scripts that ROUGE ignores."""

    __slots__ = ()

    @property
    def precision(self) -> float:
        """The mean segment precision: the percentage of hypothesis words or n-grams that match."""
        return float(self._details["precision"])

    @property
    def recall(self) -> float:
        """The mean segment recall: the percentage of reference words or n-grams that match."""
        return float(self._details["recall"])

    @property
    def fmeasure(self) -> float:
        """The score, 0-100: the mean F-score of segments, from their precision and recall."""
        return self.value

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual properties of the score."""
        problem = _describe_non_latin_text(*self._row[-2:]) if self._row else ""
        return (f"{self.name}: {problem}",) if problem else ()


class _TypeParameter(p.Choice[str]):
    """Kind of ROUGE, in upper or lower case."""

    def validate(self, value: Any) -> Any:
        return super().validate(str(value).lower())


class ROUGE(SegmentMeanMetric):
    """ROUGE-1 to 9, L and Lsum: F-score per segment, 0-100, averaged over segments.

    Words are lower-cased runs of a-z and 0-9. Text in other scripts would score 0, so it raises an
    error; set a tokenizer for it. With several references, the best F-score is used. Lsum treats
    the lines of a segment as sentences; for one line, it equals L. `NGramF` is the F-score of
    n-grams with BLEU's tokens. Intervals and tests are the same as for other metrics; rouge_score's
    intervals, which have no seed, are not used.

    >>> score = ROUGE("l").score(["the cat sat on the mat"], ["the cat is on the mat"])
    >>> print(score, round(score.precision, 2), round(score.recall, 2))
    ROUGE-L = 83.33 83.33 83.33
    """

    __slots__ = ()

    NAME = "ROUGE"
    CITATIONS = ("lin-2004-rouge",)
    SCORE = ROUGEScore
    EXTRA_COLUMNS = ("latin_letters", "other_letters")
    PREFIX = "rouge-"
    NUMBER_NAMES = ("fmeasure", "precision", "recall")
    DIGITS = 2
    FIELDS = ("type", "stem", "tok", "agg")
    ABSENT_PARAMETERS = {"lowercase": "ROUGE ignores case"}  # noqa: RUF012
    type: p.Parameter[str] = _TypeParameter(
        "l",
        "the kind of ROUGE",
        {**{str(n): "" for n in range(1, 10)}, "l": "", "lsum": ""},
        short="ty",
    )
    _: KW_ONLY
    stemmer: p.Parameter[bool] = p.Flag(
        "stem English words with the Porter stemmer", key="stem", short="st", hints=("use_stemmer",)
    )
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer(ROUGE_TOKENIZER)

    def _prepare(self) -> None:
        if self.stemmer and self.tokenize != ROUGE_TOKENIZER:
            raise ValueError("stemmer=True is only for English, and requires tokenize='rouge'")

    @property
    def name(self) -> str:
        """The name with the kind of ROUGE, such as "ROUGE-2" or "ROUGE-L"."""
        return f"ROUGE-{TYPE_SUFFIXES.get(self.type, self.type)}"

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:
        """Return the fields that a name such as "ROUGE-2" or "rouge-lsum+stem" implies."""
        lower = name.lower().removesuffix("+stem")
        kind = lower.removeprefix("rouge-").removeprefix("rouge")
        if not lower.startswith("rouge") or kind not in cls.PARAMETERS[0].choices:
            return None
        stem = {"stem": "yes"} if name.lower().endswith("+stem") else {}
        return {"type": kind, **stem}

    def get_splitting_parameters(self, script: str) -> dict[str, Any]:
        """Return the parameters that make the metric split a script, without the stemmer."""
        values = super().get_splitting_parameters(script)
        return {"stemmer": False, **values} if self.stemmer else values

    def describe_language_mismatch(self, language: Language) -> str:
        """Return why the stemmer does not suit a language, or "" if it does."""
        return "its stemmer is for English" if self.stemmer and language.code != "en" else ""

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return the reason why the score is 0, and what to use instead."""
        if self.type in ("1", "l", "lsum"):
            return "no hypothesis shares a word with its references"
        return (
            f"no sequence of {self.type} words matches; ROUGE-1 (-m rouge-1) and chrF (-m chrf) "
            "suit short text better"
        )

    def tokenize_text(self, text: str) -> list[str]:
        """Return the words of a text as ROUGE compares them. With `stemmer`, these are stems."""
        if not self.stemmer:
            return tokenizers.make_tokenizer(self.tokenize)(text)
        # The installed package provides the stemmer.
        _, tokenizer_module = _import_scoring_modules()
        stems: list[str] = tokenizer_module.DefaultTokenizer(use_stemmer=True).tokenize(text)
        return stems

    def _find_versions(self) -> tuple[str, str]:
        programs = map(python_metric.format_package_version, PACKAGES)
        return REFERENCE_RELEASE, next(filter(None, programs), "")

    def _compute_numbers(self, _: Corpus, texts: SegmentTexts) -> list[tuple[float, float, float]]:
        kind = f"rouge{TYPE_SUFFIXES.get(self.type, self.type)}"
        tokenizer = None
        if self.tokenize != ROUGE_TOKENIZER:
            tokenizer = SimpleNamespace(tokenize=tokenizers.make_tokenizer(self.tokenize))
        scorer_module, _ = _import_scoring_modules()
        scorer = scorer_module.RougeScorer([kind], use_stemmer=self.stemmer, tokenizer=tokenizer)
        numbers = []
        for hypothesis, references in texts:
            # The first of several equally good references is used, as in the original.
            scores = (scorer.score(other, hypothesis)[kind] for other in references)
            best = max(scores, key=lambda one: one.fmeasure)
            numbers.append((best.fmeasure, best.precision, best.recall))
        return numbers

    def _count_extra_columns(self, texts: SegmentTexts) -> Iterator[Sequence[int]]:
        """Yield each segment's counts of Latin and of other letters if ROUGE splits the text."""
        for hypothesis, references in texts:
            latin = non_latin = 0
            for text in (hypothesis, *references) if self.tokenize == ROUGE_TOKENIZER else ():
                if text.isascii():
                    latin += len(text) - len(text.encode().translate(None, ASCII_LETTERS))
                    continue
                non_latin_here = len(NON_LATIN_LETTER.findall(text))
                non_latin += non_latin_here
                latin += sum(map(str.isalpha, text)) - non_latin_here
            yield latin, non_latin

    def check_corpus(self, table: Table) -> None:
        """Raise MetricFailedError if most letters belong to scripts that ROUGE ignores."""
        if problem := _describe_non_latin_text(*table.total().tolist()[0][-2:]):
            raise MetricFailedError(f"{self.name}: {problem}")


def _import_scoring_modules() -> tuple[Any, Any]:
    """Return the modules `rouge_scorer` and `tokenizers` of the fastest installed package."""
    with suppress(ImportError):
        import rouge_score_rs.rouge_scorer
        import rouge_score_rs.tokenizers

        return rouge_score_rs.rouge_scorer, rouge_score_rs.tokenizers
    with suppress(ImportError):
        import rouge_score.rouge_scorer
        import rouge_score.tokenizers

        return rouge_score.rouge_scorer, rouge_score.tokenizers
    raise python_metric.make_missing_package_error("rouge", "pip install 'truebleu[rouge]'")


def _describe_non_latin_text(latin: int, non_latin: int) -> str:
    """Return the message for mostly non-Latin text, or an empty string for other text."""
    if non_latin <= latin:
        return ""
    return (
        f"{non_latin / (non_latin + latin):.0%} of the letters are not Latin, but ROUGE's words "
        "are runs of a-z and 0-9. Use a tokenizer such as --rouge-tokenize intl "
        "(tokenize='intl' in Python), zh or ja-mecab."
    )
