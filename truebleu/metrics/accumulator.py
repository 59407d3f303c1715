"""Accumulator of a metric's totals over batches, for training loops and streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from truebleu._kernel import InputError, Table
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score, adapt_to_ids, summarize_reference_count
from truebleu.text import corpus_inputs
from truebleu.text.terminal_layout import format_count

# Name and version of the `state_dict` format.
STATE_FORMAT = "truebleu accumulator 1"

# Methods of other packages' accumulators and their equivalents in truebleu, for messages.
_FOREIGN_METHODS = {
    **dict.fromkeys(("add", "add_batch", "append"), "update(hypotheses, references)"),
    **dict.fromkeys(("result", "score", "value"), "compute()"),
}

# Limit on totals, because other programs store them as 64-bit integers.
MAX_TOTAL = 2**63 - 1


class Accumulator:
    """Running totals of a metric. `compute` returns the score of all batches together.

    metric: a metric computed from sums, or its name: BLEU, chrF, TER, GLEU, ...

    Totals are integers, so the score is identical to the last bit. It does not depend on how the
    segments are divided into batches, or on the order in which accumulators are merged.

    >>> total = Accumulator()
    >>> total.update(["a cat on a mat"], ["a cat on the mat"])
    >>> total.update(["it is so"], [["it is so", "so it is"]])
    >>> print(total.compute())
    BLEU = 51.96 87.5/66.7/50.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 8 ref_len = 8)
    >>> total.segments
    2
    """

    __slots__ = ("_has_ids", "_metric", "_references", "_segments", "_totals")

    _references: tuple[int, int] | None

    def __init__(self, metric: str | Metric | None = None) -> None:
        self._metric = require_additive_metric("bleu" if metric is None else metric)
        self.reset()

    @property
    def metric(self) -> Metric[Any]:
        """The metric. Its tokenizer is "ids" if token ids were counted."""
        return adapt_to_ids(self._metric) if self._has_ids else self._metric

    @property
    def segments(self) -> int:
        """The number of segments counted so far."""
        return self._segments

    @property
    def totals(self) -> list[int]:
        """The sum of all rows of statistics, in the order of the metric's `columns`."""
        return list(self._totals)

    @property
    def references(self) -> int | str | None:
        """The number of references per segment, "var" if it varies, or None without segments."""
        return summarize_reference_count(self._references)

    def reset(self) -> None:
        """Reset all totals to 0."""
        self._segments, self._has_ids = 0, False
        self._totals = [0] * len(self._metric.columns)
        self._references = None

    def update(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        *,
        workers: int = 1,
    ) -> None:
        """Add the segments of a batch, or none of them if an error occurs.

        hypotheses, references, workers: see `Metric.score`. A batch may be empty.
        """
        if all(isinstance(one, list | tuple) and not one for one in (hypotheses, references)):
            return
        if isinstance(references, list | tuple):
            # Tuples are never mistaken for sacreBLEU's reference streams.
            references = [tuple(item) if isinstance(item, list) else item for item in references]
        metric = self._metric.adapt_to_inputs(hypotheses)
        totals, summary = metric.count(
            hypotheses, references, workers=workers, totals=True, is_part=True, examines_text=False
        )
        row = totals.tolist()[0]
        self._add_sums(metric, summary["segments"], row, summary["references"])

    def merge(self, other: Accumulator) -> Self:
        """Add the totals of another accumulator, such as one from another process.

        Raises InputError if the other accumulator has different statistics.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"expected an Accumulator, not {type(other).__name__}")
        self._add_sums(other.metric, other._segments, other._totals, other._references)
        return self

    def __iadd__(self, other: Accumulator) -> Self:
        return self.merge(other)

    def compute(self) -> Score:
        """Return the score of all segments so far. Raises InputError if there are none."""
        summary: Any = {"segments": self._segments, "references": self._references}
        self._metric.check_summary(summary, None)
        self._metric.check_corpus(Table.from_rows([self._totals], len(self._totals)))
        score: Score = self.metric.score_from_row(self.totals, self.references)
        return score

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            method = _FOREIGN_METHODS.get(name)
            hint = f"; use .{method}" if method else ""
            raise AttributeError(f"Accumulator has no attribute '{name}'{hint}")

    def state_dict(self) -> dict[str, Any]:
        """Return the state as a dictionary of numbers, strings and lists, for JSON or torch.save.

        "metric" recreates the metric. "references" is the range [min, max] of the number of
        references per segment. To merge states, add "segments" and "totals", and combine the
        ranges.
        """
        return {
            "format": STATE_FORMAT,
            "metric": str(self.metric),
            "fingerprint": self.metric.fingerprint,
            "segments": self._segments,
            "references": None if self._references is None else list(self._references),
            "totals": self.totals,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace the state. Raises InputError if the state belongs to another metric.

        Metrics that differ only in their formula (for example, smoothing) accept each other's
        state.
        """
        segments, totals, references = _validate_state(state)
        has_ids = self._recognize_ids(state["fingerprint"])
        columns = self._metric.columns
        if len(totals) != len(columns):
            raise InputError(f"state: expected {len(columns)} totals, not {len(totals)}")
        try:
            Table.from_rows([totals], len(totals)).check(*self._metric.constraints)
        except InputError as error:
            raise InputError(f"state: {error}") from None
        self._segments, self._totals, self._references = segments, totals, references
        self._has_ids = has_ids

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], metric: str | Metric | None = None
    ) -> Accumulator:
        """Return an accumulator that continues from a saved state.

        metric: required only for custom tokenizers, because the state identifies other metrics.
        """
        if metric is None:
            _validate_state(state)
            try:
                metric = registry.metric(str(state.get("metric")))
            except ValueError as error:
                raise InputError(
                    f"state: cannot read the metric's signature ({error}). Pass the metric."
                ) from None
        accumulator = cls(metric)
        accumulator.load_state_dict(state)
        return accumulator

    def _recognize_ids(self, fingerprint: str) -> bool:
        """Return whether totals are of token ids. Raise InputError if another metric counted."""
        metric = self._metric
        may_have_ids = fingerprint != metric.fingerprint and not metric.explain_id_conflict()
        if may_have_ids and fingerprint == adapt_to_ids(metric).fingerprint:
            return True
        metric.check_fingerprint("totals", fingerprint)
        return False

    def _add_sums(
        self,
        metric: Metric[Any],
        segments: int,
        totals: list[int],
        references: tuple[int, int] | None,
    ) -> None:
        has_ids = self._recognize_ids(metric.fingerprint)
        if segments and self._segments:
            self.metric.check_fingerprint("totals", metric.fingerprint)
        summed = [total + added for total, added in zip(self._totals, totals, strict=True)]
        if max(summed) > MAX_TOTAL or min(summed) < -MAX_TOTAL:
            raise InputError("totals exceed the 64-bit range, so they are invalid")
        if segments:
            self._has_ids = has_ids
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
        return self.metric == other.metric and self.state_dict() == other.state_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Accumulator of {self._metric!r}: {format_count(self._segments, 'segment')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_state_dict, (self.state_dict(), self._metric))


def require_additive_metric(metric: Any, *, has_sources: bool = False) -> Metric[Any]:
    """Return the metric if it is computed from sums; otherwise, raise ValueError with the reason.

    has_sources: whether the metric must read sources, or must not.

    >>> require_additive_metric("chrf")
    CHRF()
    """
    resolved = registry.metric(metric)
    if has_sources and not resolved.NEEDS_SOURCE:
        raise ValueError(f"source: {resolved.NAME} does not read sources. Score it separately.")
    if resolved.NEEDS_SOURCE and not has_sources:
        problem = (
            f"metric: {resolved.NAME} needs the source of each segment, which only score, sums, "
            f"stats and compare of an engine read (source=COLUMN). {resolved.NAMESAKE}"
        )
        raise ValueError(problem.removesuffix(". "))
    if resolved.non_additive_reason:
        raise ValueError(f"metric: {resolved.non_additive_reason}")
    return resolved


def _validate_state(state: Any) -> tuple[int, list[int], tuple[int, int] | None]:
    """Return the segments, totals and references of a state. Raises InputError if it is invalid."""
    if not hasattr(state, "get") or state.get("format") != STATE_FORMAT:
        raise InputError(f"state: expected a result of Accumulator.state_dict, not {state!r:.60}")
    segments, totals, references = (state.get(x) for x in ("segments", "totals", "references"))
    fingerprint = state.get("fingerprint")
    if not isinstance(fingerprint, str):
        raise InputError(f"state: fingerprint: expected a str, not {fingerprint!r:.60}")
    if not _is_integer(segments) or segments < 0:
        raise InputError(f"state: segments: expected a count, not {segments!r:.60}")
    if not isinstance(totals, list | tuple) or not all(map(_is_integer, totals)):
        raise InputError(f"state: totals: expected a list of 64-bit integers, not {totals!r:.60}")
    if references is None:
        if segments:
            raise InputError("state: references: expected [min, max], because segments is not 0")
        return segments, list(totals), None
    is_pair = isinstance(references, list | tuple) and len(references) == 2
    if (
        not is_pair
        or not all(map(_is_integer, references))
        or not 1 <= references[0] <= references[1]
    ):
        raise InputError(
            f"state: references: expected the range [min, max], not {references!r:.60}"
        )
    return segments, list(totals), (references[0], references[1])


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_TOTAL
