"""The n-grams of one segment, and those that the segments of a corpus have most of."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from truebleu.text.segments import pairs
from truebleu.views.explanation import counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from truebleu.views.explanation.counting import Ngram, Tokens

# So many segments of a corpus are looked into for n-grams, and so many n-grams of each kind are
# listed: what is remembered must not grow with the corpus.
LOOKED_INTO = 20_000
LISTED = 10


def add_to_segment(
    system: dict[str, Any],
    tokens: Tokens,
    references: Sequence[Tokens],
    numbers: Sequence[int],
) -> None:
    """Adds the n-grams of each order, and which of them covers which token, to an explanation.

    numbers: what the references are called, from 1 as they were given.
    """
    tables = []
    for order in system["orders"]:
        table = counting.clipped(tokens, references, order["order"])
        tables.append(table)
        order["ngrams"] = [
            {
                "ngram": list(row.ngram),
                "count": row.count,
                "reference_count": row.most,
                "reference": None if row.reference is None else numbers[row.reference],
                "clipped": row.clipped,
            }
            for row in table
        ]
        order["missing"] = [
            {"ngram": list(ngram), "count": count}
            for ngram, count in counting.missing(tokens, references, order["order"])
        ]
    system["tokens"] = list(tokens)
    system["cover"] = counting.cover(tokens, tables, system["orders"][0]["order"])


class Digest:
    """The most frequent clipped, unmatched and missing n-grams of a corpus."""

    def __init__(
        self,
        split: Callable[[Any], list[str]],
        orders: range,
        rule: str = "closest",
        tie: str = "shorter",
        *,
        recall: bool = False,
    ) -> None:
        self.split = split
        self.orders = orders
        self.rule, self.tie = rule, tie
        self.counters: dict[str, list[Counter[Ngram]]] = {
            kind: [Counter() for _ in self.orders] for kind in ("clipped", "unmatched", "missing")
        }
        self.recall = [[0, 0, 0] for _ in self.orders] if recall else None
        self.lengths: Counter[int] = Counter()
        self.looked_into = 0

    def read(self, hypotheses: Any, references: Any) -> Digest:
        """Looks into the first segments; into all of them for recall, which remembers nothing."""
        most = LOOKED_INTO if self.recall is None else None
        for hypothesis, others in islice(pairs(hypotheses, references), most):
            numbers, texts = zip(*counting.present(others), strict=True)
            tokens, split = self.split(hypothesis), list(map(self.split, texts))
            _, (chosen, *_) = counting.reference_length(
                len(tokens), list(map(len, split)), self.rule, self.tie
            )
            if self.looked_into < LOOKED_INTO:
                self.looked_into += 1
                self.lengths[numbers[chosen]] += 1
                self._look(tokens, split)
            for sums, order in zip(self.recall or (), self.orders, strict=False):
                sums[0] += counting.matches_of(tokens, split[chosen], order)
                sums[1] += max(0, len(tokens) - order + 1)
                sums[2] += max(0, len(split[chosen]) - order + 1)
        return self

    def _look(self, tokens: Tokens, references: Sequence[Tokens]) -> None:
        for i, order in enumerate(self.orders):
            for row in counting.clipped(tokens, references, order):
                if row.count > row.clipped:
                    kind = "clipped" if row.clipped else "unmatched"
                    self.counters[kind][i][row.ngram] += row.count - row.clipped
            for ngram, count in counting.missing(tokens, references, order):
                self.counters["missing"][i][ngram] += count

    def add_to(self, system: dict[str, Any]) -> None:
        """Adds what was found to the explanation of a system."""
        for i, order in enumerate(system["orders"]):
            for kind, counters in self.counters.items():
                order[kind] = counting.most_common(counters[i], LISTED)
            if self.recall is not None:
                matches, mine, theirs = self.recall[i]
                order["recall"] = [{"reference": None, **shares(matches, mine, theirs)}]
        system["looked_into"] = self.looked_into
        system["reference_choice"] = {
            "rule": self.rule,
            "tie": self.tie,
            "segments": {str(number): count for number, count in sorted(self.lengths.items())},
        }


def recall(tokens: Tokens, reference: Tokens, order: int) -> dict[str, Any]:
    """Clipped matches with one reference over its n-grams, and the F-measure of both."""
    mine, theirs = (max(0, len(words) - order + 1) for words in (tokens, reference))
    return shares(counting.matches_of(tokens, reference, order), mine, theirs)


def shares(matches: int, mine: int, theirs: int) -> dict[str, Any]:
    """Recall and F-measure of matches between n-grams of a hypothesis and of a reference."""
    return {
        "matches": matches,
        "total": theirs,
        "recall": matches / theirs if theirs else 0.0,
        "f": 2 * matches / (mine + theirs) if mine + theirs else 0.0,
    }
