"""Accumulator: a score of text that comes a batch at a time, in training loops and streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from truebleu._kernel import InputError, Table
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score, count_references
from truebleu.text import corpus_inputs

# The format of `state_dict`.
STATE_FORMAT = "truebleu accumulator 1"

# 64-bit integers are what others keep totals in.
MAX_TOTAL = 2**63 - 1


class Accumulator:
    """The totals of a metric over batches of text: the same score as of all batches at once.

    metric: a metric that is a formula of sums, or its name: BLEU, chrF, TER, GLEU, ...

    Totals are integers, so the score is the same to the last bit however the text is split, and in
    whichever order parts are merged.

    >>> total = Accumulator()
    >>> total.update(["a cat on a mat"], ["a cat on the mat"])
    >>> total.update(["it is so"], [["it is so", "so it is"]])
    >>> print(total.compute())
    BLEU = 51.96 87.5/66.7/50.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 8 ref_len = 8)
    >>> total.segments
    2
    """

    __slots__ = ("_metric", "_references", "_segments", "_totals")

    _references: tuple[int, int] | None

    def __init__(self, metric: str | Metric | None = None) -> None:
        self._metric = require_additive("bleu" if metric is None else metric)
        self.reset()

    @property
    def metric(self) -> Metric[Any]:
        """The metric."""
        return self._metric

    @property
    def segments(self) -> int:
        """The number of segments so far."""
        return self._segments

    @property
    def totals(self) -> list[int]:
        """The sum of all rows of statistics, in the order of the metric's `columns`."""
        return list(self._totals)

    @property
    def references(self) -> int | str | None:
        """The number of references per segment; "var" if it varies, None before any text."""
        return count_references(self._references)

    def reset(self) -> None:
        """Forgets all text."""
        self._segments = 0
        self._totals = [0] * len(self._metric.columns)
        self._references = None

    def update(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> None:
        """Adds the segments of a batch; all or, if an error is raised, none.

        hypotheses, references, workers: as for `Metric.score`. A batch may be empty.
        """
        if _is_empty(hypotheses) and _is_empty(references):
            return
        if isinstance(references, list | tuple):
            # A batch may have as many segments as references; tuples are never taken for streams.
            references = [tuple(one) if isinstance(one, list) else one for one in references]
        totals, summary = self._metric.count(
            hypotheses, references, workers=workers, totals=True, is_part=True
        )
        self._add(summary["segments"], totals.tolist()[0], summary["references"])

    def merge(self, other: Accumulator) -> Self:
        """Adds the text of another: of another process, or another part of the data.

        Raises InputError if it counts something else.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"expected an Accumulator, not {type(other).__name__}")
        self._metric.check_fingerprint("totals", other._metric.fingerprint)
        self._add(other._segments, other._totals, other._references)
        return self

    def __iadd__(self, other: Accumulator) -> Self:
        return self.merge(other)

    def compute(self) -> Score:
        """The score of all text so far. Raises InputError if there was none."""
        summary: Any = {"segments": self._segments, "references": self._references}
        self._metric.check_summary(summary, None)
        self._metric.check_corpus(Table.from_rows([self._totals], len(self._totals)))
        score: Score = self._metric.score_from_row(self.totals, self.references)
        return score

    def state_dict(self) -> dict[str, Any]:
        """The state as plain values: numbers, strings and lists, for JSON or torch.save.

        The metric can be made again from "metric". "segments", "references" (the fewest and the
        most of a segment) and "totals" add up as `merge` does: by sum, by min and max, by sum.
        """
        return {
            "format": STATE_FORMAT,
            "metric": str(self._metric),
            "fingerprint": self._metric.fingerprint,
            "segments": self._segments,
            "references": None if self._references is None else list(self._references),
            "totals": self.totals,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replaces the state. Raises InputError for a state that is not of this metric.

        Metrics that differ in their formula alone, such as BLEU's smoothing, have the same states.
        """
        segments, totals, references = _validate_state(state)
        self._metric.check_fingerprint("totals", state["fingerprint"])
        self._metric.check_totals("state", totals)
        self._segments, self._totals, self._references = segments, totals, references

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], metric: str | Metric | None = None
    ) -> Accumulator:
        """An accumulator of a state.

        metric: the metric; needed only for custom tokenizers, otherwise the state names it.
        """
        if metric is None:
            _validate_state(state)
            try:
                metric = registry.metric(str(state.get("metric")))
            except ValueError as error:
                raise InputError(f"state: its metric has to be given: {error}") from None
        accumulator = cls(metric)
        accumulator.load_state_dict(state)
        return accumulator

    def _add(self, segments: int, totals: list[int], references: tuple[int, int] | None) -> None:
        summed = [total + added for total, added in zip(self._totals, totals, strict=True)]
        if max(summed) > MAX_TOTAL or min(summed) < -MAX_TOTAL:
            raise InputError("totals beyond 64-bit integers: these are no statistics of text")
        self._totals = summed
        self._segments += segments
        if self._references is None or references is None:
            self._references = self._references or references
        else:
            (a, b), (c, d) = self._references, references
            self._references = (min(a, c), max(b, d))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Accumulator):
            return NotImplemented
        return self._metric == other._metric and self.state_dict() == other.state_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Accumulator of {self._metric!r}: {self._segments} segments>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_state_dict, (self.state_dict(), self._metric))


def require_additive(metric: Any) -> Metric[Any]:
    """The metric, if its score is a formula of sums of integers; otherwise an error says why not.

    >>> checked("chrf")
    CHRF()
    """
    resolved = registry.metric(metric)
    if resolved.NEEDS_SOURCE:
        raise ValueError(f"metric: {resolved.NAME} needs the source of each segment")
    if resolved.not_additive:
        raise ValueError(f"metric: {resolved.not_additive}")
    return resolved


def _is_empty(texts: object) -> bool:
    """True for an empty sequence. Files and columns are not looked into."""
    return isinstance(texts, list | tuple) and not texts


def _validate_state(state: Any) -> tuple[int, list[int], tuple[int, int] | None]:
    """The numbers of a state; InputError for what is none."""
    if not hasattr(state, "get") or state.get("format") != STATE_FORMAT:
        raise InputError(f"state: not what Accumulator.state_dict gives: {state!r:.60}")
    segments, totals, references = (state.get(x) for x in ("segments", "totals", "references"))
    if not isinstance(state.get("fingerprint"), str):
        raise InputError(f"state: the fingerprint is {state.get('fingerprint')!r:.60}")
    if not _is_count(segments):
        raise InputError(f"state: segments are {segments!r:.60}")
    if not isinstance(totals, list | tuple) or not all(map(_is_integer, totals)):
        raise InputError(f"state: totals are {totals!r:.60}, no list of integers of 64 bits")
    if references is None:
        if segments:
            raise InputError("state: segments without references")
        return segments, list(totals), None
    is_pair = isinstance(references, list | tuple) and len(references) == 2
    if (
        not is_pair
        or not all(map(_is_count, references))
        or not 1 <= references[0] <= references[1]
    ):
        raise InputError(
            f"state: references are {references!r:.60}, not the fewest and the most of a segment"
        )
    return segments, list(totals), (references[0], references[1])


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_TOTAL


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value >= 0
