"""transformers: `compute_metrics` for Trainer, for a complete evaluation or batch by batch.

With `batch_eval_metrics` only the ids of one batch are in memory at a time; the text is stored only
for metrics without additive statistics. Metrics that read sources use the model's input:
`include_for_metrics=["inputs"]`. Tested with transformers 5.23.0 (Seq2SeqTrainer.evaluate, both
modes). This module does not import transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import RunningScore, get_metric_name, resolve_metric
from truebleu.metrics.base import Metric

# Token id with which Trainer pads labels and predictions.
IGNORED_ID = -100


class ComputeMetrics:
    """Callable, created by `compute_metrics`, that scores a batch or a complete evaluation."""

    def __init__(
        self, tokenizer: Any, metrics: Sequence[tuple[str, Metric[Any]]], ignored_id: int
    ) -> None:
        if not hasattr(tokenizer, "batch_decode"):
            raise TypeError(
                f"tokenizer: {tokenizer!r:.60} has no batch_decode (expected the tokenizer that "
                "encoded the labels)"
            )
        if not metrics:
            raise ValueError("metric: expected at least one metric. Omit the argument for BLEU.")
        self._tokenizer = tokenizer
        self._ignored_id = ignored_id
        self._running_scores = {name: RunningScore(metric) for name, metric in metrics}
        if len(self._running_scores) != len(metrics):
            raise ValueError("metric: duplicate metric names. Each score needs a unique key.")

    def __call__(self, prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Add the decoded text and, if requested, score all text added since the last result.

        prediction: an EvalPrediction: `predictions`, `label_ids` and, for metrics that read
            sources, `inputs`, each n × length.
        """
        predictions, labels = prediction.predictions, prediction.label_ids
        hypotheses = self._decode_texts("predictions", predictions)
        references = self._decode_texts("label_ids", labels)
        inputs, sources = getattr(prediction, "inputs", None), None
        totals = self._running_scores.values()
        if inputs is not None and any(total.metric.NEEDS_SOURCE for total in totals):
            sources = self._decode_texts("inputs", inputs)
        for total in totals:
            total.update(hypotheses, references, sources)
        if not compute_result:
            return {}
        try:
            return {name: float(total.compute()) for name, total in self._running_scores.items()}
        finally:
            self.reset()

    def reset(self) -> None:
        """Discard the text since the last result, for example after an interrupted evaluation."""
        for total in self._running_scores.values():
            total.reset()

    def _decode_texts(self, role: str, ids: Any) -> list[str]:
        # Models may return further values after the ids; the inputs of a batch are a mapping.
        if isinstance(ids, tuple):
            ids = ids[0]
        elif hasattr(ids, "keys"):
            ids = ids["input_ids"]
        shape = tuple(getattr(ids, "shape", (0, 0)))
        if ids is None or len(shape) != 2:
            description = "None" if ids is None else f"an array of shape {shape}"
            hint = (
                ". These look like logits: use Seq2SeqTrainer with predict_with_generate=True, or "
                "pass preprocess_logits_for_metrics to Trainer"
            )
            raise InputError(
                f"{role}: expected an array of token ids, n × length, found {description}"
                f"{hint if len(shape) == 3 else ''}"
            )
        rows = ids.tolist() if hasattr(ids, "tolist") else ids
        token_ids = [[number for number in row if number != self._ignored_id] for row in rows]
        texts: list[str] = self._tokenizer.batch_decode(token_ids, skip_special_tokens=True)
        return texts


def compute_metrics(
    tokenizer: Any,
    metric: Metric | str | Sequence[Metric | str] | None = None,
    *,
    ignored_id: int = IGNORED_ID,
    **parameters: Any,
) -> ComputeMetrics:
    """Create a callable for Trainer's `compute_metrics` that decodes and scores token ids.

    tokenizer: the tokenizer of the ids, any object with `batch_decode`.
    metric: one or more metrics, or names that `truebleu.metric` accepts (default: BLEU). The keys
        of the result are the names as passed.
    ignored_id: the padding id. The tokenizer's special tokens are also skipped.
    parameters: parameters of every metric.

    With `batch_eval_metrics`, Trainer calls it for each batch, with `compute_result=True` for the
    last.
    """
    metric_specs: Any = metric if isinstance(metric, list | tuple) else [metric]
    pairs = [(spec, resolve_metric(spec, parameters)) for spec in metric_specs]
    metrics = [(get_metric_name(*pair), pair[1]) for pair in pairs]
    return ComputeMetrics(tokenizer, metrics, ignored_id)
