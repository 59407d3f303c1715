"""Counts that many metrics share: text is tokenized once for each tokenizer, and counted once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from truebleu._kernel import Table
from truebleu.metrics.base import Metric, Score, count_references
from truebleu.metrics.bleu import BLEU, BLEUScore
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.program_tokenizers import KERNEL_EQUIVALENTS
from truebleu.text.tokenizers import Tokenize

# Every rule for the reference length that the kernel has, each with a column of its own.
RULES = (
    "closest",
    "closest-first",
    "closest-longer",
    "shortest",
    "longest",
    "average",
    "average-truncated",
)


class Text:
    """Hypotheses and references that are read once and counted in several ways."""

    def __init__(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        workers: int = 1,
    ) -> None:
        self.hypotheses = segments.make_rereadable(hypotheses, copy_all=True)
        self.references = segments.make_rereadable(references, copy_all=True)
        self.workers = argument_checks.check_workers(workers)
        self._counts: dict[Any, Counts] = {}
        self._orders = 4
        self._free: dict[str, bool] = {}
        self._scores: dict[Metric, Score] = {}

    def counts(self, tokenize: Tokenize, lowercase: bool | str, orders: int = 4) -> Counts:
        """The counts by a tokenizer and case, of n-grams up to a length of at least 4."""
        orders = self._orders = max(orders, self._orders)
        tokenize, lowercase = self.tokens_as(tokenize, lowercase)
        known = self._counts.get((tokenize, lowercase))
        if known is None or known.orders < orders:
            known = self._counts[tokenize, lowercase] = Counts(self, tokenize, lowercase, orders)
        return known

    def tokens_as(self, tokenize: Tokenize, lowercase: bool | str) -> tuple[Tokenize, bool | str]:
        """The tokenizer and case, or those of the kernel that give this text the same tokens."""
        if tokenize in KERNEL_EQUIVALENTS:
            name, case, unless = KERNEL_EQUIVALENTS[tokenize]
            # One lower-casing, before tokenizing, is the kernel's to do as well.
            once = not lowercase or (not case and lowercase != "after")
            if once and self._is_free_of(unless):
                return name, case or lowercase
        return tokenize, lowercase

    @property
    def has_several_references(self) -> bool:
        """True if some segment has more than one reference."""
        return self.counts("none" if self.is_tokens else "13a", False).references != 1

    def score(self, metric: Metric) -> Score:
        """The same as `metric.score`, from shared counts."""
        if metric not in self._scores:
            self._scores[metric] = self._score(metric)
        return self._scores[metric]

    def _score(self, metric: Metric) -> Score:
        if isinstance(metric, BLEU):
            counts = self.counts(metric.tokenize, metric.lowercase, metric.max_order)
            return counts.score(metric)
        with warnings.catch_warnings():
            # The member's row says what a metric warns of.
            warnings.simplefilter("ignore")
            return metric.score(self.hypotheses, self.references)

    @property
    def is_tokens(self) -> bool:
        """True if the segments are tokens, and not strings."""
        given = self.hypotheses
        return isinstance(given, list | tuple) and corpus_inputs.has_token_segments(tuple(given))

    def _is_free_of(self, pattern: str) -> bool:
        """True if a pattern matches nothing in any segment."""
        if pattern not in self._free:
            search = re.compile(pattern).search
            texts = self._texts
            self._free[pattern] = texts is not None and not any(map(search, texts))
        return self._free[pattern]

    @cached_property
    def _texts(self) -> list[str] | None:
        """All texts, or None if they are not strings."""
        pairs = segments.iter_segments(self.hypotheses, self.references)
        found = [one for text, others in pairs for one in (text, *others)]
        if not all(one is None or isinstance(one, str) for one in found):
            return None
        return [one for one in found if isinstance(one, str)]


class Counts:
    """The counts of a text by one tokenizer and case, per segment, with every reference length."""

    def __init__(self, text: Text, tokenize: Tokenize, lowercase: bool | str, orders: int) -> None:
        self.orders = orders
        run = corpus_inputs.scan_corpus(
            BLEU(tokenize, lowercase=lowercase, max_order=orders).counter(RULES),
            text.hypotheses,
            text.references,
            tokenize=tokenize,
            lowercase=lowercase,
            workers=text.workers,
        )
        self.table, self.seen = run.table()
        self.references = count_references(self.seen["references"])

    @cached_property
    def total(self) -> list[int]:
        """The sum of all rows."""
        return self.table.total().tolist()[0]

    @cached_property
    def rows(self) -> list[list[int]]:
        """The rows."""
        return self.table.tolist()

    @cached_property
    def without(self) -> list[int]:
        """For each length of n-grams, the number of segments without any."""
        first = 1 + len(RULES) + self.orders
        return [self.table.values_of(first + i).count(0) for i in range(self.orders)]

    def _columns(self, metric: BLEU) -> list[int]:
        first, orders = 1 + len(RULES), range(metric.max_order)
        rule = RULES.index(metric.length_rule)
        matches = [first + order for order in orders]
        return [0, 1 + rule, *matches, *(column + self.orders for column in matches)]

    def _row(self, metric: BLEU) -> list[int]:
        metric.check_summary(self.seen, ())
        row = [self.total[column] for column in self._columns(metric)]
        if metric.counts_at_least_one:
            for order in range(metric.max_order):
                row[2 + metric.max_order + order] += self.without[order]
        return row

    def score(self, metric: BLEU) -> BLEUScore:
        """The same as `metric.score` for this text."""
        row = self._row(metric)
        if metric.aggregate == "corpus":
            return BLEUScore(metric, row, self.references)
        values = self.segment_values(metric)
        mean = sum(values) / len(values)
        return BLEUScore(metric, row, self.references, segment=True, value=mean)

    def segment_values(self, metric: BLEU) -> Sequence[float]:
        """The score of each segment, in the scale of the metric's arithmetic."""
        table = self.table.columns_of(self._columns(metric))
        if metric.counts_at_least_one:
            first = 2 + metric.max_order
            rows = [[*row[:first], *(n or 1 for n in row[first:])] for row in table.tolist()]
            table = Table.from_rows(rows, table.width)
        return metric.compute_values(table, segment=True)
