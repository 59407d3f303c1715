"""N-gram counts shared by many metrics, computed once per tokenizer and case."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from truebleu._kernel import Table
from truebleu.metrics.base import Metric, Score, summarize_reference_count
from truebleu.metrics.bleu import BLEU, BLEUScore
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.program_tokenizers import KERNEL_EQUIVALENTS
from truebleu.text.tokenizers import Tokenize

# All reference length rules of the kernel; the statistics have one column per rule.
LENGTH_RULES = (
    *("closest", "closest-first", "closest-longer", "shortest"),
    *("longest", "average", "average-truncated"),
)


class SharedCorpus:
    """Hypotheses and references with cached n-gram counts and scores."""

    def __init__(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        workers: int = 1,
    ) -> None:
        # Read the fields now, because copies of the texts do not have them.
        self._data_fields = getattr(hypotheses, "signature_fields", None)
        self.hypotheses = segments.make_rereadable(hypotheses, copy_all=True)
        self.references = segments.make_rereadable(references, copy_all=True)
        self.workers = argument_checks.check_workers(workers)
        self._counts: dict[Any, SharedCounts] = {}
        self._max_order = 4
        self._absent_patterns: dict[str, bool] = {}
        self._scores: dict[Metric, Score] = {}

    def get_counts(
        self, tokenize: Tokenize, lowercase: bool | str, max_order: int = 4
    ) -> SharedCounts:
        """Return the n-gram counts for a tokenizer and case, up to at least order `max_order`."""
        max_order = self._max_order = max(max_order, self._max_order)
        tokenize, lowercase = self.find_equivalent_tokenizer(tokenize, lowercase)
        shared_counts = self._counts.get((tokenize, lowercase))
        if shared_counts is None or shared_counts.max_order < max_order:
            shared_counts = self._counts[tokenize, lowercase] = SharedCounts(
                self, tokenize, lowercase, max_order
            )
        return shared_counts

    def find_equivalent_tokenizer(
        self, tokenize: Tokenize, lowercase: bool | str
    ) -> tuple[Tokenize, bool | str]:
        """Return an equivalent kernel tokenizer and case, or the arguments if there is none."""
        if tokenize in KERNEL_EQUIVALENTS:
            name, case, excluded_pattern = KERNEL_EQUIVALENTS[tokenize]
            # The kernel can lower-case a text only once, before tokenizing it.
            is_lowercased_once = not lowercase or (not case and lowercase != "after")
            if is_lowercased_once and excluded_pattern not in self._absent_patterns:
                search, texts = re.compile(excluded_pattern).search, self._texts
                is_absent = texts is not None and not any(map(search, texts))
                self._absent_patterns[excluded_pattern] = is_absent
            if is_lowercased_once and self._absent_patterns[excluded_pattern]:
                return name, case or lowercase
        return tokenize, lowercase

    @property
    def has_several_references(self) -> bool:
        """True if any segment has more than one reference."""
        return self.get_counts("none" if self.is_pretokenized else "13a", False).references != 1

    def score(self, metric: Metric) -> Score:
        """Return the same score as `metric.score`, computed from shared counts."""
        if metric not in self._scores:
            score = self._compute_score(metric)
            if self._data_fields:
                score = score.with_data_fields(self._data_fields)
            self._scores[metric] = score
        return self._scores[metric]

    def _compute_score(self, metric: Metric) -> Score:
        if isinstance(metric, BLEU):
            counts = self.get_counts(metric.tokenize, metric.lowercase, metric.max_order)
            return counts.score(metric)
        with warnings.catch_warnings():
            # The member's quirks already describe the problems that the metric would warn about.
            warnings.simplefilter("ignore")
            return metric.score(self.hypotheses, self.references, check_text=False)

    @property
    def is_pretokenized(self) -> bool:
        """True if the segments are lists of tokens instead of strings."""
        hypotheses = self.hypotheses
        return isinstance(hypotheses, list | tuple) and corpus_inputs.has_token_segments(
            tuple(hypotheses)
        )

    @cached_property
    def _texts(self) -> list[str] | None:
        """All hypotheses and references, or None if they are not strings."""
        pairs = segments.iter_segments(self.hypotheses, self.references)
        texts = [text for hypothesis, references in pairs for text in (hypothesis, *references)]
        if not all(text is None or isinstance(text, str) for text in texts):
            return None
        return [text for text in texts if isinstance(text, str)]


class SharedCounts:
    """N-gram counts of segments for one tokenizer and case, with a reference length per rule."""

    def __init__(
        self, corpus: SharedCorpus, tokenize: Tokenize, lowercase: bool | str, max_order: int
    ) -> None:
        self.max_order = max_order
        metric = BLEU(tokenize, lowercase=lowercase, max_order=max_order)
        scan = corpus_inputs.scan_corpus(
            metric.build_kernel_metric(reference_lengths=list(LENGTH_RULES)),
            corpus.hypotheses,
            corpus.references,
            tokenize=tokenize,
            lowercase=lowercase,
            workers=corpus.workers,
        )
        self.table, self.summary = scan.table()
        self.total_counts: list[int] = self.table.total().tolist()[0]
        self.references = summarize_reference_count(self.summary["references"])

    @cached_property
    def segments_without_ngrams(self) -> list[int]:
        """The number of segments without n-grams of each order."""
        first = 1 + len(LENGTH_RULES) + self.max_order
        return [self.table.values_of(first + i).count(0) for i in range(self.max_order)]

    def _get_column_indices(self, metric: BLEU) -> list[int]:
        first, orders = 1 + len(LENGTH_RULES), range(metric.max_order)
        rule = LENGTH_RULES.index(metric.length_rule)
        matches = [first + order for order in orders]
        return [0, 1 + rule, *matches, *(column + self.max_order for column in matches)]

    def score(self, metric: BLEU) -> BLEUScore:
        """Return the same score as `metric.score` for this text."""
        metric.check_summary(self.summary, ())
        row = [self.total_counts[column] for column in self._get_column_indices(metric)]
        if metric.counts_at_least_one_ngram:
            for order in range(metric.max_order):
                row[2 + metric.max_order + order] += self.segments_without_ngrams[order]
        if metric.aggregate == "corpus":
            return BLEUScore(metric, row, self.references)
        values = self.compute_segment_values(metric)
        mean = sum(values) / len(values)
        return BLEUScore(metric, row, self.references, segment=True, value=mean)

    def compute_segment_values(self, metric: BLEU) -> Sequence[float]:
        """Return the score of each segment on the metric's internal scale."""
        table = self.table.columns_of(self._get_column_indices(metric))
        if metric.counts_at_least_one_ngram:
            first = 2 + metric.max_order
            rows = [[*row[:first], *(n or 1 for n in row[first:])] for row in table.tolist()]
            table = Table.from_rows(rows, table.width)
        return metric.compute_values(table, segment=True)
