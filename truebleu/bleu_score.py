"""A BLEU score, with everything it was made of."""

from __future__ import annotations

from truebleu.metric import Score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.bleu import BLEU
    from truebleu.formula import Worked
    from truebleu.metric import Signature


class BLEUScore(Score):
    """A BLEU score, with everything it was made of."""

    __slots__ = ("_formula", "_metric", "_references", "_row", "_segment", "_value")

    def __init__(
        self,
        metric: BLEU,
        row: Sequence[int],
        references: int | str | None,
        *,
        segment: bool = False,
        value: float | None = None,
    ) -> None:
        self._metric = metric
        self._row = row
        self._references = references
        self._segment = segment
        # The kernel gives the value of a single segment; the formula is worked out if asked for.
        self._formula: Worked | None = None
        self._value = self._worked_out().value if value is None else value

    def _worked_out(self) -> Worked:
        if self._formula is None:
            formula = self._metric.formula(segment=self._segment)
            length = self._metric.reference_length_of(self._row)
            self._formula = formula.work_out(self.matches, self.totals, self._row[0], length)
        return self._formula

    @property
    def name(self) -> str:
        """The name of the metric, "BLEU"."""
        return self._metric.NAME

    @property
    def value(self) -> float:
        """The score, 0–100, to sacreBLEU's last bit."""
        scale = self._metric.natural_scale
        return self._value if scale == 100.0 else 100.0 * self._value

    @property
    def fraction(self) -> float:
        """The score, 0–1, to the last bit of the programs that work in this scale."""
        return self._value / self._metric.natural_scale

    @property
    def published(self) -> float:
        """The score in the scale that the metric is published in."""
        return self.value if self._metric.scale == 100.0 else self.fraction * self._metric.scale

    @property
    def precisions(self) -> tuple[float, ...]:
        """The precision of each order in per cent, smoothed, as sacreBLEU gives it."""
        return self._worked_out().precisions

    @property
    def brevity_penalty(self) -> float:
        """1, or less if the hypotheses are shorter than the references."""
        return self._worked_out().brevity_penalty

    @property
    def matches(self) -> tuple[int, ...]:
        """The clipped matches of each order, before smoothing."""
        return tuple(self._row[2 : 2 + self._metric.max_order])

    @property
    def totals(self) -> tuple[int, ...]:
        """The number of n-grams of each order in the hypotheses, before smoothing."""
        return tuple(self._row[2 + self._metric.max_order :])

    @property
    def hypothesis_length(self) -> int:
        """The tokens of the hypotheses."""
        return self._row[0]

    @property
    def reference_length(self) -> float:
        """The effective reference length, an integer unless it is a mean."""
        return self._metric.reference_length_of(self._row)

    @property
    def ratio(self) -> float:
        """Hypothesis length over reference length; 0 if there is no reference token."""
        return self._row[0] / self.reference_length if self._row[1] else 0.0

    @property
    def signature(self) -> Signature:
        """What was computed, so that anyone can compute it again."""
        return self._metric.signature(self._references, segment=self._segment)

    @property
    def verbose(self) -> str:
        """Precisions, brevity penalty and lengths, as sacreBLEU prints them."""
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"{precisions} (BP = {self.brevity_penalty:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {self.hypothesis_length} ref_len = {self.reference_length})"
        )

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return {
            "precisions": list(self.precisions),
            "matches": list(self.matches),
            "totals": list(self.totals),
            "brevity_penalty": self.brevity_penalty,
            "hypothesis_length": self.hypothesis_length,
            "reference_length": self.reference_length,
            "ratio": self.ratio,
        }
