"""CodeBLEU's two n-gram components. Its other two components need a parser for each language.

Shuo Ren et al. (2020): CodeBLEU, a method for automatic evaluation of code synthesis.
arXiv:2009.10297. Scores match CodeXGLUE's evaluator and its package `codebleu` 0.7.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from math import exp, fsum, log
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers

# By mistake, the original uses the length of a (tokens, weights) pair as the reference length.
ORIGINAL_REFERENCE_LENGTH = 2
MAX_ORDER = 4
# Token weights are 1 or 0.2, so their sums are whole numbers of fifths.
WEIGHT_UNITS = 5

# Reserved words per language, as in CodeBLEU. For other languages or words, use `keywords`.
KEYWORDS = {
    "c": """auto break case char const continue default do double else enum extern float for goto
        if int long register return short signed sizeof static struct switch typedef union unsigned
        void volatile while _Packed""",
    "c_sharp": """abstract add alias as ascending async await base bool break by byte case catch
        char checked class const continue decimal default delegate descending do double dynamic
        else enum equals event explicit extern false finally fixed float for foreach from get global
        goto group if implicit in int interface internal into is join let lock long nameof namespace
        new notnull null object on operator orderby out override params partial private protected
        public readonly ref remove return sbyte sealed select set short sizeof stackalloc static
        string struct switch this throw true try typeof uint ulong unchecked unmanaged unsafe ushort
        using value var virtual void volatile when where while yield""",
    "go": """break case chan const continue default defer else fallthrough false for func go goto
        if import interface map package range return select struct switch true type var""",
    "java": """abstract assert boolean break byte case catch char class const continue default do
        double else enum extends final finally float for goto if implements import instanceof int
        interface long native new package private protected public return short static strictfp
        super switch synchronized this throw throws transient try void volatile while""",
    "python": """False None True and as assert async await break case class continue def del elif
        else except finally for from global if import in is lambda match nonlocal not or pass raise
        return try type while with yield""",
}


class CodeBLEU(PythonMetric):
    """One of CodeBLEU's two n-gram components.

    CodeBLEU is the weighted mean of four components, each with weight 0.25 by default; a data-flow
    match of 0 counts as 1. CodeBLEU strips the code and splits it at white space.

    >>> hypothesis, reference = "return a + b ;", "return x + b ;"
    >>> print(CodeBLEU(language="java").sentence(hypothesis, reference))
    CodeBLEU = 29.34
    >>> print(CodeBLEU(part="ngram").sentence(hypothesis, reference))
    CodeBLEU = 28.57
    """

    __slots__ = ("_reserved",)

    NAME = "CodeBLEU"
    CITATIONS = ("ren-etal-2020-codebleu",)
    PREFIX = "codebleu-"
    # Matches and totals of the weighted component are in fifths of an n-gram.
    columns = BLEU().columns
    _column_limits = tuple((f"matches_{order}", 1, f"totals_{order}") for order in range(1, 5))
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    part: p.Parameter[str] = p.Choice(
        "weighted",
        "the component",
        {
            "ngram": "NLTK's corpus_bleu with method1",
            "weighted": "a recall, despite its name: numerators and denominators are summed over "
            "all references of a segment; among unigrams, reserved words have weight 1 and other "
            "tokens 0.2. By mistake, its brevity penalty assumes references of 2 tokens. Both "
            "components count 0.1 matches for orders without matches",
        },
        short="pt",
    )
    language: p.Parameter[str | None] = p.Choice(
        None,
        "the programming language whose reserved words the weighted component uses",
        {None: "", **dict.fromkeys(KEYWORDS, "")},
        short="lg",
        hints=("lang",),
        optional=True,
    )
    keywords: p.Words = p.Words(
        None, "the reserved words, as an alternative to language", short="kw", optional=True
    )

    def _prepare(self) -> None:
        if self.language is not None and self.keywords is not None:
            raise ValueError("language and keywords are mutually exclusive")
        if self.part == "weighted" and self.language is None and self.keywords is None:
            raise ValueError("the weighted component needs language or keywords")
        words = KEYWORDS[self.language].split() if self.language else self.keywords or ()
        self._reserved: frozenset[str] = frozenset(words)

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        if self.part == "ngram":
            return self._count_bleu_rows(corpus, missing_order="at-least-one")
        pairs = list(self._tokenize_segments(corpus.hypotheses, corpus.references))
        rows = [_count_weighted_ngrams(*pair, self._reserved) for pair in pairs]
        return rows, [len(others) for _, others in pairs]

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        # The original adds rounded numbers, so the last bits of its scores depend on the order of
        # segments; these sums are exact integers.
        unit = 1 if self.part == "ngram" else WEIGHT_UNITS
        length, reference_length = row[:2]
        counts = [count / unit for count in row[2:]]
        matches, totals = counts[:MAX_ORDER], counts[MAX_ORDER:]
        details = {
            "matches": list(matches),
            "totals": list(totals),
            "hypothesis_length": length,
            "reference_length": reference_length,
        }
        if not matches[0]:
            return 0.0, details
        precisions = [(m or 0.1) / t for m, t in zip(matches, totals, strict=True)]
        brevity = 1 if length > reference_length else exp(1 - reference_length / length)
        return brevity * exp(fsum(log(p) / MAX_ORDER for p in precisions)), details


def _count_weighted_ngrams(
    hypothesis: list[Any], references: list[list[Any]], reserved_words: frozenset[str]
) -> list[int]:
    """Return lengths, matches and totals of weighted n-grams in the references of a segment."""
    matches = [0] * MAX_ORDER
    totals = [0] * MAX_ORDER
    for order in range(MAX_ORDER):
        hypothesis_counts = tokenizers.count_ngrams(hypothesis, order + 1)
        for reference in references:
            total = 0
            for ngram, count in tokenizers.count_ngrams(reference, order + 1).items():
                weight = 1 if not order and ngram[0] not in reserved_words else WEIGHT_UNITS
                matches[order] += min(count, hypothesis_counts[ngram]) * weight
                total += count * weight
            totals[order] += max(WEIGHT_UNITS, total)
    return [len(hypothesis), ORIGINAL_REFERENCE_LENGTH, *matches, *totals]
