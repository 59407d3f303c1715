"""ROUGE: shared n-grams, or the longest common subsequence, as Google's package counts them.

Chin-Yew Lin (2004): ROUGE: a package for automatic evaluation of summaries. ACL workshop Text
Summarization Branches Out. The numbers are those of `rouge-score` 0.1.2; where it is installed
`rouge-score-rs` computes them, which gives the same bits in less time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY
from importlib import import_module
from string import ascii_letters
from typing import Any

from truebleu._kernel import Table
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.python_metric import (
    SegmentMeanMetric,
    SegmentMeanScore,
    SegmentTexts,
    format_package_version,
    missing_package_error,
)
from truebleu.text import tokenizers

# The release of rouge-score that defines the numbers; rouge-score-rs is held equal to it.
REFERENCE_RELEASE = "0.1.2"
# The packages that give them, the faster one first.
PACKAGES = ("rouge-score-rs", "rouge-score")
ROUGE_TOKENIZER = "rouge"
TYPE_SUFFIXES = {"l": "L", "lsum": "Lsum"}
ASCII_LETTERS = ascii_letters.encode()
# Letters that are not in the blocks of Latin ones.
NON_LATIN_LETTER = re.compile(
    r"(?![\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\uff21-\uff5a])"
    r"[^\W\d_\0-\u024f]"
)


class ROUGEScore(SegmentMeanScore):
    """A ROUGE score. It has a warning if most letters are of scripts that ROUGE ignores."""

    __slots__ = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is unusual about the score, in a sentence each."""
        problem = _describe_non_latin_text(*self._row[-2:]) if self._row else ""
        return (f"{self.name}: {problem}",) if problem else ()


class _TypeParameter(p.Choice[str]):
    """The kind of ROUGE, in whatever case."""

    def validate(self, value: Any) -> Any:
        return super().validate(str(value).lower())


class ROUGE(SegmentMeanMetric):
    """ROUGE-1 to 9, L and Lsum: the F-score of a segment, 0-100, and its mean.

    Words are runs of a-z and 0-9 in lower case, so text of other scripts would score 0 and is
    refused: give it a tokenizer. Of several references the one with the best F-score counts. Lsum
    takes the lines of a segment for sentences; in a segment of one line it is L. It is not the
    F-score of n-grams by BLEU's tokens, which is `NGramF`. rouge_score's interval, whose draws
    have no seed, is not used: intervals and tests are those of any metric here.

    >>> score = ROUGE("l").score(["the cat sat on the mat"], ["the cat is on the mat"])
    >>> print(score, score.details()["recall"])
    ROUGE-L = 83.33 83.33333333333334
    """

    __slots__ = ()

    NAME = "ROUGE"
    SCORE = ROUGEScore
    EXTRA_COLUMNS = ("latin_letters", "other_letters")
    PREFIX = "rouge-"
    NUMBER_NAMES = ("fmeasure", "precision", "recall")
    DIGITS = 2
    FIELDS = ("type", "stem", "tok", "agg")
    type: p.Parameter[str] = _TypeParameter(
        "l",
        "what is counted",
        {**{str(n): "" for n in range(1, 10)}, "l": "", "lsum": ""},
        short="ty",
    )
    _: KW_ONLY
    stemmer: p.Parameter[bool] = p.Flag(
        "English stems, by Porter's stemmer", key="stem", short="st"
    )
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer(ROUGE_TOKENIZER)

    def _prepare(self) -> None:
        """Check the parameters together."""
        if self.stemmer and self.tokenize != ROUGE_TOKENIZER:
            raise ValueError("the stemmer is for English, split by tokenize='rouge'")

    @property
    def name(self) -> str:
        """The name with the type: "ROUGE-2", "ROUGE-L" and so on."""
        return f"ROUGE-{TYPE_SUFFIXES.get(self.type, self.type)}"

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:
        """The fields of "ROUGE-2", "rouge-l", "rouge-lsum+stem" and so on."""
        lower = name.lower().removesuffix("+stem")
        kind = lower.removeprefix("rouge-").removeprefix("rouge")
        if not lower.startswith("rouge") or kind not in cls.list_types():
            return None
        stem = {"stem": "yes"} if name.lower().endswith("+stem") else {}
        return {"type": kind, **stem}

    @classmethod
    def list_types(cls) -> list[str]:
        """What there is: 1 to 9, l, lsum."""
        return cls.PARAMETERS[0].choices

    def zero_reason(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return why the score is 0, and what to use instead."""
        if self.type in ("1", "l", "lsum"):
            return "no word of a hypothesis is in its references"
        return (
            f"no {self.type} words in a row match, and text of fewer than {self.type} words has "
            "none; ROUGE-1 (-m rouge-1) and chrF (-m chrf) suit short text better"
        )

    def tokenize_text(self, text: str) -> list[str]:
        """The words of a text that are counted, stems with `stemmer`."""
        if not self.stemmer:
            return _TokenizerAdapter(self.tokenize).tokenize(text)
        # The stems are those of whichever package is there.
        stems: list[str] = (
            _import_scoring_module("tokenizers").DefaultTokenizer(use_stemmer=True).tokenize(text)
        )
        return stems

    def _find_versions(self) -> tuple[str, str]:
        return REFERENCE_RELEASE, next(filter(None, map(format_package_version, PACKAGES)), "")

    def _compute_numbers(self, _: Corpus, texts: SegmentTexts) -> list[tuple[float, float, float]]:
        return list(self._score_segments(texts))

    def _count_extra_columns(self, texts: SegmentTexts) -> Iterator[Sequence[int]]:
        """Yield the numbers of Latin and other letters, where ROUGE splits the text."""
        for hypothesis, references in texts:
            yield (
                _count_letters((hypothesis, *references))
                if self.tokenize == ROUGE_TOKENIZER
                else (0, 0)
            )

    def check_corpus(self, table: Table) -> None:
        """Raise MetricFailedError if most letters are of scripts whose words ROUGE ignores."""
        if problem := _describe_non_latin_text(*table.total().tolist()[0][-2:]):
            raise MetricFailedError(f"{self.name}: {problem}")

    def _score_segments(self, texts: SegmentTexts) -> Iterator[tuple[float, float, float]]:
        score, kind = self._make_scorer(), f"rouge{TYPE_SUFFIXES.get(self.type, self.type)}"
        for hypothesis, references in texts:
            # The first of equally good ones, as in the original.
            scores = (score(other, hypothesis)[kind] for other in references)
            best = max(scores, key=lambda one: one.fmeasure)
            yield best.fmeasure, best.precision, best.recall

    def _make_scorer(self) -> Callable[[str, str], Any]:
        """The function of the package that is there, from reference and hypothesis."""
        scorer = _import_scoring_module("rouge_scorer").RougeScorer
        tokenizer = None if self.tokenize == ROUGE_TOKENIZER else _TokenizerAdapter(self.tokenize)
        kinds = [f"rouge{TYPE_SUFFIXES.get(self.type, self.type)}"]
        scorer_object = scorer(kinds, use_stemmer=self.stemmer, tokenizer=tokenizer)
        score: Callable[[str, str], Any] = scorer_object.score
        return score


def _import_scoring_module(name: str) -> Any:
    """A module of the package that is there, the faster one if both are."""
    for package in PACKAGES:
        with suppress(ImportError):
            return import_module(f"{package.replace('-', '_')}.{name}")
    raise missing_package_error("rouge", "pip install 'truebleu[rouge]'")


class _TokenizerAdapter:
    """A tokenizer of truebleu as the packages take one."""

    def __init__(self, tokenize: tokenizers.Tokenize) -> None:
        from truebleu.text.tokenizers import make_tokenizer

        self.tokenize = make_tokenizer(tokenize)


def _describe_non_latin_text(latin: int, non_latin: int) -> str:
    """Return the message for text in which most letters are not Latin; nothing for other text."""
    if non_latin <= latin:
        return ""
    return (
        f"{non_latin / (non_latin + latin):.0%} of the letters are not Latin, and its words are "
        "runs of a-z and 0-9; give a tokenizer, as -tok intl, zh or ja-mecab (tokenize= in Python)"
    )


def _count_letters(texts: Iterable[str]) -> tuple[int, int]:
    """Return the number of Latin letters, and of letters of other scripts."""
    latin = non_latin = 0
    for text in texts:
        if text.isascii():
            latin += len(text) - len(text.encode().translate(None, ASCII_LETTERS))
            continue
        non_latin_here = len(NON_LATIN_LETTER.findall(text))
        non_latin += non_latin_here
        latin += sum(map(str.isalpha, text)) - non_latin_here
    return latin, non_latin
