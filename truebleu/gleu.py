"""The two metrics named GLEU: Google's for sentences, and the one for correcting grammar.

Yonghui Wu et al. (2016): Google's neural machine translation system, section 4.3. arXiv:1609.08144.
Courtney Napoles, Keisuke Sakaguchi, Matt Post and Joel Tetreault (2015): Ground truth for
grammatical error correction metrics. ACL; and (2016): GLEU without tuning. arXiv:1605.02592.
"""

from __future__ import annotations

from collections import Counter
from math import exp, log
from random import Random

from truebleu._kernel import InputError
from truebleu.bleu import BLEU
from truebleu.hook import Hook, HookScore, count_references, whole
from truebleu.tokenizers import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from truebleu import inputs, tokenizers
    from truebleu._kernel import Scores


class GLEU(Hook):
    """Google's GLEU: the smaller of precision and recall over n-grams of all orders together.

    Of several references the one with the best ratio counts. A corpus adds up matches and n-grams
    of its segments; there is no brevity penalty. It is NLTK's `gleu_score` and Hugging Face's
    `google_bleu`.

    tokenize, lowercase: as for `BLEU`.
    min_order, max_order: the shortest and the longest n-grams.

    >>> metric = GLEU(tokenize="none")
    >>> print(metric.sentence("the cat sat on the mat", ["the cat is on the mat", "a cat sat"]))
    GLEU = 50.00
    """

    __slots__ = ()

    NAME = "GLEU"
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "13a",
        "lowercase": False,
        "min_order": 1,
        "max_order": 4,
    }
    FIELDS = {"least": "min_order", "order": "max_order"}  # noqa: RUF012
    SHORT_NAMES = {"case": "c", "tok": "tok", "least": "mn", "order": "ord"}  # noqa: RUF012

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "13a",
        *,
        lowercase: bool | str = False,
        min_order: int = 1,
        max_order: int = 4,
    ) -> None:
        super().__init__(
            tokenize=tokenize,
            lowercase=lowercase,
            min_order=whole("min_order", min_order, 1, whole("max_order", max_order, 1, 16)),
            max_order=max_order,
        )

    def _rows(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> tuple[list[tuple[int, int]], int | str | None]:
        least, most = self._values["min_order"], self._values["max_order"]
        numbers: list[int] = []
        tokens: list[list[Any]] = []
        against: list[list[Any]] = []
        for hypothesis, others in self._tokens(hypotheses, references):
            numbers.append(len(others))
            tokens += [hypothesis] * len(others)
            against += others
        # Each reference alone: what matches in it is what BLEU counts with a single reference.
        metric = BLEU("none", max_order=most)
        table = iter(metric.statistics(tokens, against, workers=workers).tolist())
        rows = []
        for number in numbers:
            best = (0, 0)
            for _ in range(number):
                row = next(table)
                matched = sum(row[1 + least : 2 + most])
                found = sum(row[1 + least + most :])
                meant = sum(max(0, row[1] - order) for order in range(least - 1, most))
                total = max(found, meant)
                # Of equally good references the first counts; one that is empty as the hypothesis
                # is does not.
                if total and (not best[1] or matched / total > best[0] / best[1]):
                    best = (matched, total)
            rows.append(best)
        return rows, count_references(set(numbers))

    def _value(self, rows: Sequence[tuple[int, int]]) -> tuple[float, dict[str, Any]]:
        matched = sum(row[0] for row in rows)
        total = sum(row[1] for row in rows)
        return (matched / total if total else 0.0), {"matches": matched, "totals": total}


DRAWS = ("random", "each")


class GECGLEU(Hook):
    """GLEU for grammatical error correction: BLEU that takes off what should have been changed.

    An n-gram of the hypothesis that the source has and the reference has not counts against it:
    numerator Σ min(h, r) - Σ min(h, s without r's n-grams), at least 0; denominator and brevity
    penalty are BLEU's. It needs the sources, `score(hypotheses, references, sources)`.

    With several references, the original draws one for each segment, 500 times with seeds of its
    own, and gives the mean of the 500 corpus scores. A segment's score is the mean over its
    references, with each count of 0 taken for 1.

    tokenize, lowercase: as for `BLEU`; the original splits at white space.
    draw: "random" draws as the original does, the same numbers as its Python 2 gave; "each" gives
        the mean of the corpus scores against the first references, the second, and so on, which
        involves no chance.
    iterations: how often "random" draws.

    >>> metric = GECGLEU()
    >>> source, reference = "He go to school every day .", "He goes to school every day ."
    >>> print(metric.sentence("He goes to school every day .", reference, source))
    GEC-GLEU = 100.00
    >>> print(metric.sentence(source, reference, source))
    GEC-GLEU = 33.03
    """

    __slots__ = ()

    NAME = "GEC-GLEU"
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "none",
        "lowercase": False,
        "draw": "random",
        "iterations": 500,
    }
    FIELDS = {"draw": "draw", "iter": "iterations"}  # noqa: RUF012
    SHORT_NAMES = {"case": "c", "tok": "tok", "draw": "dr", "iter": "it"}  # noqa: RUF012
    ORDERS = (1, 2, 3, 4)

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "none",
        *,
        lowercase: bool | str = False,
        draw: str = "random",
        iterations: int = 500,
    ) -> None:
        if draw not in DRAWS:
            raise ValueError(f"unknown draw {draw!r}{nearest(str(draw), DRAWS)}")
        super().__init__(
            tokenize=tokenize,
            lowercase=lowercase,
            draw=draw,
            iterations=whole("iterations", iterations, 1, 1_000_000),
        )

    def score(  # type: ignore[override]
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses,
        *,
        workers: int = 1,  # noqa: ARG002
    ) -> HookScore:
        """The score of a corpus. Arguments as for `BLEU.score`, and a source for each segment.

        Every segment needs the same number of references.
        """
        rows, count = self._with_sources(hypotheses, references, sources)
        if not isinstance(count, int):
            raise InputError("references: GEC-GLEU draws one of them, so all segments need as many")
        draws = list(self._draws(len(rows), count))
        values = []
        for choice in draws:
            chosen = [row[i] for row, i in zip(rows, choice, strict=True)]
            values.append(_gec(list(map(sum, zip(*chosen, strict=True)))))
        return HookScore(self, sum(values) / len(values), {"draws": len(draws)}, count)

    def _draws(self, segments: int, references: int) -> Iterator[Sequence[int]]:
        """For each corpus score, which reference each segment is compared with."""
        if references == 1 or self._values["draw"] == "each":
            for reference in range(references):
                yield [reference] * segments
            return
        for iteration in range(self._values["iterations"]):
            # Python 2's randint(0, references - 1), seeded as the original seeds it.
            dice = Random(iteration * 101)
            yield [int(dice.random() * references) for _ in range(segments)]

    def sentence(  # type: ignore[override]
        self, hypothesis: str, references: str | Sequence[str | None], source: str
    ) -> HookScore:
        """The score of one segment: the mean over its references, smoothed."""
        one = references if isinstance(references, str) else tuple(references)
        rows, count = self._with_sources((hypothesis,), (one,), (source,))
        return HookScore(self, _gec_mean(rows[0]), {}, count, segment=True)

    def segments(  # type: ignore[override]
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses,
        *,
        workers: int = 1,  # noqa: ARG002
    ) -> Scores:
        """The score of each segment, 0-100."""
        from truebleu._kernel import Scores

        rows, _ = self._with_sources(hypotheses, references, sources)
        return Scores([self.SCALE * _gec_mean(row) for row in rows])

    def _with_sources(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses,
    ) -> tuple[list[list[tuple[int, ...]]], int | str | None]:
        """For each segment and each of its references, both lengths and BLEU-like counts."""
        rows = []
        with_references = self._tokens(hypotheses, references)
        with_sources = self._tokens(hypotheses, sources)
        for (tokens, others), (_, (source, *more)) in zip(
            with_references, with_sources, strict=True
        ):
            if more:
                raise InputError("sources: a segment has several; one is meant")
            rows.append([self._count(tokens, other, source) for other in others])
        return rows, count_references({len(row) for row in rows})

    def _count(
        self, hypothesis: list[Any], reference: list[Any], source: list[Any]
    ) -> tuple[int, ...]:
        row = [len(hypothesis), len(reference)]
        for order in self.ORDERS:
            found, meant, given = (
                Counter(zip(*(tokens[i:] for i in range(order)), strict=False))
                for tokens in (hypothesis, reference, source)
            )
            kept = sum(
                min(count, given[ngram]) for ngram, count in found.items() if ngram not in meant
            )
            row.append(max(0, (found & meant).total() - kept))
            row.append(max(0, len(hypothesis) + 1 - order))
        return tuple(row)


def _gec_mean(row: Sequence[Sequence[int]]) -> float:
    values = [_gec([count or 1 for count in counts]) for counts in row]
    return sum(values) / len(values)


def _gec(counts: Sequence[int]) -> float:
    """The score of counts: lengths, then matches and totals of each order."""
    if not all(counts):
        return 0.0
    hypothesis_length, reference_length, *fractions = counts
    pairs = zip(fractions[::2], fractions[1::2], strict=True)
    mean = sum(log(matched / total) for matched, total in pairs) / len(GECGLEU.ORDERS)
    return exp(min(0, 1 - reference_length / hypothesis_length) + mean)
