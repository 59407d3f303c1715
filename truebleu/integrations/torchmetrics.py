"""torchmetrics: corpus scores by any metric that adds up; the state is a tensor of integers.

    from truebleu.integrations.torchmetrics import Corpus, CorpusBLEU

    bleu = CorpusBLEU(tokenize="intl")
    for preds, target in loader:       # strings; each target a string or a list of references
        bleu.update(preds, target)
    bleu.compute()                     # a tensor, 0-100; summed over all processes first
    bleu.score()                       # the same with everything it was made of, and a signature

    Corpus("rouge-l")                  # CorpusBLEU, CorpusCHRF and CorpusTER are this with theirs
    Corpus("ibleu").update(preds, target, sources)     # metrics that read the source

Integers add up exactly: any number of processes, batches and merges gives the score of one
process to the last bit. A 32-bit float, as other text metrics have it, stops counting at 2**24.

Run with torchmetrics 1.9.0 and torch 2.15; 1.2.0 was tried, which has no `merge_state`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

from truebleu._kernel import InputError
from truebleu.integrations import metric_of, needed, of_segments
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score

with needed("torch", "truebleu.integrations.torchmetrics"):
    import torch
with needed("torchmetrics", "truebleu.integrations.torchmetrics"):
    import torchmetrics

# Before the metric's columns, the state has: segments, the sum of their numbers of references, and
# the sum of the squares. They tell whether the number was always the same, and which.
EXTRA = 3

# What `forward` of torchmetrics changes while it has a batch alone, and leaves so at an error.
ASIDE = (
    "_computed",
    "_enable_grad",
    "_is_synced",
    "_should_unsync",
    "_to_sync",
    "_update_count",
    "compute_on_cpu",
)


class Corpus(torchmetrics.Metric):  # type: ignore[misc]
    """The score of a corpus. `update` adds a batch, `compute` gives the score, 0-100.

    metric: a metric or a name, as `truebleu.metric` takes it; ValueError if its totals do not add
        up. BLEU by default.
    options: parameters of the metric, and torchmetrics' own (`process_group` …).

    The score is a tensor of float64 (float32 where a device has no other); NaN, with torchmetrics'
    warning, if there was no text at all.
    """

    # The metric if none is given.
    METRIC = "bleu"

    is_differentiable = False
    full_state_update = False
    plot_lower_bound = 0.0

    def __init__(self, metric: Metric | str | None = None, **options: Any) -> None:
        metric = self.METRIC if metric is None else metric
        known = registry.metric(metric).parameters
        own = {name: options.pop(name) for name in known if name in options}
        super().__init__(**options)
        self.metric = metric_of(metric, own)
        if self.metric.not_additive:
            raise ValueError(f"metric: {self.metric.not_additive}")
        # The state is called after what it counts: neither a checkpoint of other parameters nor
        # another metric can be taken for it. (A MetricCollection lets metrics whose states have
        # the same names and, after one batch, the same values share one state from then on.)
        self.counts = f"counts_{crc32(self.metric.fingerprint.encode()):08x}"
        start = torch.zeros(EXTRA + len(self.metric.columns), dtype=torch.int64)
        self.add_state(self.counts, default=start, dist_reduce_fx="sum")

    @property
    def higher_is_better(self) -> bool:
        """True if higher scores are better."""
        return not self.metric.lower_is_better

    @property
    def plot_upper_bound(self) -> float | None:
        """The highest score that can be; None if there is none, as of error rates."""
        return self.metric.bound

    def update(
        self,
        preds: Sequence[str],
        target: Sequence[str | Sequence[str | None]],
        sources: Sequence[str] | None = None,
    ) -> None:
        """Adds a batch.

        preds: n strings.
        target: for each of them a reference or a sequence of references. None is a missing one.
        sources: n strings, for metrics that read the source; others are not given them.

        Raises InputError, and adds nothing, for lengths that differ and missing text.
        """
        counts = _counted(self.metric, preds, target, sources)
        if counts is None:
            return
        state = getattr(self, self.counts)
        more = torch.tensor(counts, dtype=torch.int64, device=state.device)
        setattr(self, self.counts, state + more)

    @torch.jit.unused  # type: ignore[untyped-decorator]
    def forward(self, *batch: Any, **named: Any) -> Any:
        """Adds a batch, as `update`, and gives its score alone.

        torchmetrics puts the state aside meanwhile; at an error it is put back here.
        """
        before = {name: getattr(self, name) for name in (self.counts, *ASIDE)}
        try:
            return super().forward(*batch, **named)
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def compute(self) -> Any:
        """The score of all batches, of all processes: a tensor of one number."""
        score = self._score()
        value = float("nan") if score is None else score.value
        narrow = self.device.type == "mps"
        return torch.tensor(
            value, dtype=torch.float32 if narrow else torch.float64, device=self.device
        )

    def score(self) -> Score:
        """The score of all batches, of all processes, with everything it was made of.

        Raises InputError if there was no text.
        """
        with self.sync_context(distributed_available=self.distributed_available_fn):
            score = self._score()
        if score is None:
            raise InputError("no segments at all; there is nothing to score")
        return score

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draws a score or several, by default `compute`'s, as all of torchmetrics' metrics do."""
        return self._plot(val, ax)

    def _score(self) -> Score | None:
        segments, references, squares, *totals = getattr(self, self.counts).tolist()
        if not segments:
            return None
        same = segments * squares == references**2  # Cauchy and Schwarz: equal if all are
        score: Score = self.metric.score_from_row(totals, references // segments if same else "var")
        return score

    def _apply(self, fn: Callable[..., Any], exclude_state: Sequence[str] = ()) -> Any:
        """As torchmetrics', except that counts move to other devices and stay integers."""
        made = super()._apply(fn, (*exclude_state, self.counts))
        setattr(self, self.counts, getattr(self, self.counts).to(self.device))
        self._defaults[self.counts] = self._defaults[self.counts].to(self.device)
        self._computed = None
        return made


class CorpusBLEU(Corpus):
    """Corpus BLEU, 0-100; options are parameters of `truebleu.BLEU`, and torchmetrics' own."""


class CorpusCHRF(Corpus):
    """Corpus chrF, 0-100; options are parameters of `truebleu.CHRF`, and torchmetrics' own."""

    METRIC = "chrf"


class CorpusTER(Corpus):
    """Corpus TER, from 0 up; options are parameters of `truebleu.TER`, and torchmetrics' own."""

    METRIC = "ter"


def _counted(metric: Metric[Any], preds: Any, target: Any, sources: Any) -> list[int] | None:
    """Segments, the sum of their numbers of references and of the squares, and the totals.

    Of numbers that vary only the fewest and the most are known. One of the fewest and the rest of
    the most is as good: all that is asked of the sums is whether it varied.
    """
    if not (len(preds) or len(target)):
        return None
    given: Any = {"sources": sources} if metric.NEEDS_SOURCE else {}
    totals, seen = metric.count(preds, of_segments(target), totals=True, is_part=True, **given)
    (fewest, most), rest = seen["references"] or (0, 0), seen["segments"] - 1
    squares = fewest**2 + rest * most**2
    return [rest + 1, fewest + rest * most, squares, *totals.tolist()[0]]
