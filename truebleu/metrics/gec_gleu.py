"""GLEU for grammatical error correction: BLEU with a penalty for uncorrected source n-grams.

Courtney Napoles, Keisuke Sakaguchi, Matt Post and Joel Tetreault (2015): Ground truth for
grammatical error correction metrics. ACL; and (2016): GLEU without tuning. arXiv:1605.02592.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from math import exp, log
from random import Random
from typing import Any

from truebleu._kernel import InputError, Scores
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.python_metric import PythonScore, SourceMetric
from truebleu.text import tokenizers

ORDERS = (1, 2, 3, 4)


class GECGLEU(SourceMetric):
    """GLEU for grammatical error correction. It needs the source of each segment.

    Hypothesis n-grams that are in the source but not in the reference reduce the score: the
    numerator is Σ min(h, r) - Σ min(h, s without r's n-grams), at least 0. The denominator and the
    brevity penalty are BLEU's.

    With several references, the original samples a reference per segment, 500 times with fixed
    seeds, and averages the 500 corpus scores. All segments of a corpus therefore need the same
    number of references. A segment score is the mean over the segment's references, with counts of
    0 replaced by 1. The original splits text at white space.

    >>> metric = GECGLEU()
    >>> source, reference = "He go to school every day .", "He goes to school every day ."
    >>> print(metric.sentence("He goes to school every day .", reference, source))
    GEC-GLEU = 100.00
    >>> print(metric.sentence(source, reference, source))
    GEC-GLEU = 33.03
    """

    __slots__ = ()

    NAME = "GEC-GLEU"
    CITATIONS = ("napoles-etal-2015-ground", "napoles-etal-2016-gleu")
    ZERO_REASON = f"at least one order up to {len(ORDERS)} has no matching n-grams"
    PREFIX = "gec-gleu-"
    columns = (
        *("hypothesis_length", "reference_length"),
        *(name for n in ORDERS for name in (f"matches_{n}", f"totals_{n}")),
    )
    _column_limits = tuple((f"matches_{n}", 1, f"totals_{n}") for n in ORDERS)
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    draw: p.Parameter[str] = p.Choice(
        "random",
        "how to choose between several references",
        {
            "random": "sample one reference per segment, as in the original, with Python 2's "
            "random numbers",
            "each": "the mean of the corpus scores against the first references, the second "
            "references and so on, without random numbers",
        },
        short="dr",
    )
    iterations: p.Parameter[int] = p.WholeNumber(
        500, "the number of random samples", maximum=1_000_000, key="iter", short="it"
    )

    def _score_corpus(self, corpus: Corpus) -> PythonScore:
        rows = self._count_ngrams_with_sources(corpus)
        reference_counts = {len(row) for row in rows}
        if len(reference_counts) > 1:
            raise InputError(
                "references: all segments need the same number of references, because GEC-GLEU "
                "samples them"
            )
        (count,) = reference_counts
        values = []
        for drawn_references in self._sample_references(len(rows), count):
            drawn_rows = [row[i] for row, i in zip(rows, drawn_references, strict=True)]
            values.append(_compute_score(list(map(sum, zip(*drawn_rows, strict=True)))))
        mean = sum(values) / len(values)
        return PythonScore(self, (), count, False, mean, {"draws": len(values)})

    def _sample_references(self, segments: int, references: int) -> Iterator[Sequence[int]]:
        """Yield, for each corpus score, the index of the reference that each segment uses."""
        if references == 1 or self._values["draw"] == "each":
            for reference in range(references):
                yield [reference] * segments
            return
        for iteration in range(self._values["iterations"]):
            # Python 2's randint(0, references - 1), with the original's seeds.
            random = Random(iteration * 101)
            yield [int(random.random() * references) for _ in range(segments)]

    def sentence(  # type: ignore[override]
        self, hypothesis: str, references: str | Sequence[str | None], source: str
    ) -> PythonScore:
        """Return the score of one segment: the smoothed mean over its references."""
        reference_texts = tuple(references) if isinstance(references, list) else references
        (row,) = self._count_ngrams_with_sources(
            self.make_corpus((hypothesis,), (reference_texts,), sources=(source,))
        )
        return PythonScore(self, (), len(row), True, _average_smoothed_scores(row), {})

    def _score_segments(self, corpus: Corpus) -> Scores:
        return Scores(
            [
                self.SCALE * _average_smoothed_scores(row)
                for row in self._count_ngrams_with_sources(corpus)
            ]
        )

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        rows = self._count_ngrams_with_sources(corpus)
        if any(len(row) > 1 for row in rows):
            raise InputError(
                "references: GEC-GLEU samples one of several references, so it has no sufficient "
                "statistics. Pass one reference per segment."
            )
        return [list(row[0]) for row in rows], (1, 1)

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:
        return _compute_score([count or 1 for count in row] if segment else row), {}

    def _count_ngrams_with_sources(self, corpus: Corpus) -> list[list[tuple[int, ...]]]:
        """Return lengths and n-gram counts for each reference of each segment."""
        rows = []
        with_references = self._tokenize_segments(corpus.hypotheses, corpus.references)
        with_sources = self._count_sources(
            corpus, lambda *texts: list(self._tokenize_segments(*texts))
        )
        for (tokens, references), (_, (source, *extra_sources)) in zip(
            with_references, with_sources, strict=True
        ):
            if extra_sources:
                raise InputError("sources: expected one source per segment, not several")
            rows.append([_count_ngrams(tokens, other, source) for other in references])
        return rows


def _count_ngrams(
    hypothesis: list[Any], reference: list[Any], source: list[Any]
) -> tuple[int, ...]:
    row = [len(hypothesis), len(reference)]
    for order in ORDERS:
        hypothesis_counts, reference_counts, source_counts = (
            tokenizers.count_ngrams(tokens, order) for tokens in (hypothesis, reference, source)
        )
        penalty = sum(
            min(count, source_counts[ngram])
            for ngram, count in hypothesis_counts.items()
            if ngram not in reference_counts
        )
        row.append(max(0, (hypothesis_counts & reference_counts).total() - penalty))
        row.append(max(0, len(hypothesis) + 1 - order))
    return tuple(row)


def _average_smoothed_scores(row: Sequence[Sequence[int]]) -> float:
    values = [_compute_score([count or 1 for count in counts]) for counts in row]
    return sum(values) / len(values)


def _compute_score(counts: Sequence[int]) -> float:
    """Return the score for a row of counts: the lengths, then each order's matches and totals."""
    if not all(counts):
        return 0.0
    hypothesis_length, reference_length, *fractions = counts
    pairs = zip(fractions[::2], fractions[1::2], strict=True)
    mean = sum(log(matched / total) for matched, total in pairs) / len(ORDERS)
    return exp(min(0, 1 - reference_length / hypothesis_length) + mean)
