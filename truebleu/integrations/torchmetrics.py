"""torchmetrics: corpus scores of any additive metric, with an integer state.

Integer sums are exact, so the number of processes, batches and merges does not affect the score. A
32-bit float state, as in other text metrics, cannot count beyond 2**24.

Tested with torchmetrics 1.9.0 and torch 2.15, and with 1.2.0, which does not have `merge_state`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

from truebleu._kernel import InputError
from truebleu.integrations import as_segment_references, require_package, resolve_metric
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score

with require_package("torch", "truebleu.integrations.torchmetrics"):
    import torch
with require_package("torchmetrics", "truebleu.integrations.torchmetrics"):
    import torchmetrics

# State columns that precede the metric's columns: segments, the sum of their reference counts, and
# the sum of the squared counts. They show whether the reference count is constant and, if so, its
# value.
SUMMARY_COLUMNS = 3

# Attributes that `forward` of torchmetrics changes temporarily, and does not restore after errors.
SAVED_ATTRIBUTES = (
    "_computed",
    "_enable_grad",
    "_is_synced",
    "_should_unsync",
    "_to_sync",
    "_update_count",
    "compute_on_cpu",
)


class Corpus(torchmetrics.Metric):  # type: ignore[misc]
    """torchmetrics Metric for a corpus score: `update` adds a batch, `compute` returns the score.

    metric: a metric, or a name that `truebleu.metric` accepts (default: BLEU). Raises ValueError if
        its statistics cannot be summed.
    options: parameters of the metric, and options of torchmetrics (`process_group` …).

    The score is a tensor of float64 (float32 on devices without float64). Without any text it is
    NaN, and torchmetrics warns.
    """

    # The default metric.
    METRIC = "bleu"

    is_differentiable = False
    full_state_update = False
    plot_lower_bound = 0.0

    def __init__(self, metric: Metric | str | None = None, **options: Any) -> None:
        metric = self.METRIC if metric is None else metric
        parameter_names = registry.metric(metric).parameters
        parameters = {name: options.pop(name) for name in parameter_names if name in options}
        super().__init__(**options)
        self.metric = resolve_metric(metric, parameters)
        if self.metric.non_additive_reason:
            raise ValueError(f"metric: {self.metric.non_additive_reason}")
        # The state's name depends on the metric's settings, so checkpoints of other settings do not
        # load. (A MetricCollection also shares one state between metrics whose states have equal
        # names and, after one batch, equal values.)
        self.state_name = f"counts_{crc32(self.metric.fingerprint.encode()):08x}"
        start = torch.zeros(SUMMARY_COLUMNS + len(self.metric.columns), dtype=torch.int64)
        self.add_state(self.state_name, default=start, dist_reduce_fx="sum")

    @property
    def higher_is_better(self) -> bool:
        """True if higher scores are better."""
        return not self.metric.lower_is_better

    @property
    def plot_upper_bound(self) -> float | None:
        """The largest possible score, or None if scores are unbounded, as for error rates."""
        return self.metric.bound

    def update(
        self,
        preds: Sequence[str],
        target: Sequence[str | Sequence[str | None]],
        sources: Sequence[str] | None = None,
    ) -> None:
        """Add a batch.

        preds: n strings.
        target: a reference or a sequence of references for each. None is a missing reference.
        sources: n strings, for metrics that read sources; other metrics ignore them.

        Raises InputError, and adds nothing, for different lengths and missing text.
        """
        if not (len(preds) or len(target)):
            return
        options: Any = {"sources": sources} if self.metric.NEEDS_SOURCE else {}
        references = as_segment_references(target)
        totals, seen = self.metric.count(preds, references, totals=True, is_part=True, **options)
        (low, high), segments = seen["references"] or (0, 0), seen["segments"]
        # If reference counts vary, only their range is known. Assuming the minimum once and the
        # maximum otherwise is sufficient, because the sums only show whether the count varies.
        sums = [low**power + (segments - 1) * high**power for power in (1, 2)]
        state = getattr(self, self.state_name)
        counts = [segments, *sums, *totals.tolist()[0]]
        increment = torch.tensor(counts, dtype=torch.int64, device=state.device)
        setattr(self, self.state_name, state + increment)

    @torch.jit.unused  # type: ignore[untyped-decorator]
    def forward(self, *batch: Any, **keywords: Any) -> Any:
        """Add a batch, as `update` does, and return the score of this batch.

        torchmetrics temporarily replaces the state; this method restores it after errors.
        """
        before = {name: getattr(self, name) for name in (self.state_name, *SAVED_ATTRIBUTES)}
        try:
            return super().forward(*batch, **keywords)
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def compute(self) -> Any:
        """Return the score of all batches and processes: a scalar tensor."""
        score = self._compute_score()
        value = float("nan") if score is None else score.value
        is_float32_only = self.device.type == "mps"
        return torch.tensor(
            value, dtype=torch.float32 if is_float32_only else torch.float64, device=self.device
        )

    def score(self) -> Score:
        """Return the Score of all batches and processes, with its components.

        Raises InputError if there is no text.
        """
        with self.sync_context(distributed_available=self.distributed_available_fn):
            score = self._compute_score()
        if score is None:
            raise InputError("no segments to score")
        return score

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one or more scores (default: the result of `compute`), as torchmetrics does."""
        return self._plot(val, ax)

    def _compute_score(self) -> Score | None:
        segments, references, squares, *totals = getattr(self, self.state_name).tolist()
        if not segments:
            return None
        is_constant = segments * squares == references**2  # equality in Cauchy-Schwarz
        count = references // segments if is_constant else "var"
        score: Score = self.metric.score_from_row(totals, count)
        return score

    def _apply(self, fn: Callable[..., Any], exclude_state: Sequence[str] = ()) -> Any:
        """Apply a function as torchmetrics does, but keep the counts as integers."""
        result = super()._apply(fn, (*exclude_state, self.state_name))
        setattr(self, self.state_name, getattr(self, self.state_name).to(self.device))
        self._defaults[self.state_name] = self._defaults[self.state_name].to(self.device)
        self._computed = None
        return result


class CorpusBLEU(Corpus):
    """Corpus BLEU (0-100). Accepts the parameters of `truebleu.BLEU` and torchmetrics' options."""


class CorpusCHRF(Corpus):
    """Corpus chrF (0-100). Accepts the parameters of `truebleu.CHRF` and torchmetrics' options."""

    METRIC = "chrf"


class CorpusTER(Corpus):
    """Corpus TER (>= 0). Accepts the parameters of `truebleu.TER` and torchmetrics' options."""

    METRIC = "ter"
