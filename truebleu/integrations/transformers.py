"""transformers: `compute_metrics` for Trainer, for a whole evaluation or batch by batch.

    from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments
    from truebleu.integrations.transformers import compute_metrics

    trainer = Seq2SeqTrainer(
        model,
        Seq2SeqTrainingArguments("out", predict_with_generate=True, batch_eval_metrics=True),
        eval_dataset=…,
        compute_metrics=compute_metrics(tokenizer),   # {"bleu": 27.3}, logged as "eval_bleu"
    )

With `batch_eval_metrics` the ids of one batch are held at a time instead of those of the whole
evaluation; the text of metrics whose scores are no sums is kept all the same. Those that read the
source take the model's input: `include_for_metrics=["inputs"]`. Run with transformers 5.23.0:
Seq2SeqTrainer.evaluate, both ways. transformers itself is not imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import Total, metric_of, name_of
from truebleu.metrics.base import Metric

# What Trainer pads labels, and predictions of different lengths, with.
IGNORED = -100


class ComputeMetrics:
    """Made by `compute_metrics`: called with each batch, or once with all of them."""

    def __init__(
        self, tokenizer: Any, metrics: Sequence[tuple[str, Metric[Any]]], ignored: int
    ) -> None:
        if not hasattr(tokenizer, "batch_decode"):
            raise TypeError(
                f"tokenizer: {tokenizer!r:.60} has no batch_decode; expected the tokenizer that "
                "made the labels"
            )
        if not metrics:
            raise ValueError("metric: none at all; leave it out for BLEU")
        self._tokenizer = tokenizer
        self._ignored = ignored
        self._totals = {name: Total(metric) for name, metric in metrics}
        if len(self._totals) != len(metrics):
            raise ValueError("two metrics of one name, whose scores would have the same key")

    def __call__(self, prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Counts the text of these ids; the scores of all since the last result, if wanted.

        prediction: an EvalPrediction: `predictions`, `label_ids` and, for metrics that read the
            source, `inputs`, n × length.
        """
        predictions, labels = prediction.predictions, prediction.label_ids
        hypotheses = self._texts("predictions", predictions)
        references = self._texts("label_ids", labels)
        inputs, sources = getattr(prediction, "inputs", None), None
        if inputs is not None and any(total.metric.NEEDS_SOURCE for total in self._totals.values()):
            sources = self._texts("inputs", inputs)
        for total in self._totals.values():
            total.update(hypotheses, references, sources)
        if not compute_result:
            return {}
        try:
            return {name: float(total.compute()) for name, total in self._totals.items()}
        finally:
            self.reset()

    def reset(self) -> None:
        """Forgets what was counted since the last result, if an evaluation was broken off."""
        for total in self._totals.values():
            total.reset()

    def _texts(self, role: str, ids: Any) -> list[str]:
        # Models that give more than the ids give them first; of a batch, there are all inputs.
        if isinstance(ids, tuple):
            ids = ids[0]
        elif hasattr(ids, "keys"):
            ids = ids["input_ids"]
        shape = tuple(getattr(ids, "shape", (0, 0)))
        if ids is None or len(shape) != 2:
            found = "None" if ids is None else f"an array of shape {shape}"
            hint = (
                ". These look like logits: use Seq2SeqTrainer with predict_with_generate=True, or "
                "give Trainer a preprocess_logits_for_metrics"
            )
            raise InputError(
                f"{role}: expected the ids of n texts, n × length, not {found}"
                f"{hint if len(shape) == 3 else ''}"
            )
        rows = ids.tolist() if hasattr(ids, "tolist") else ids
        kept = [[number for number in row if number != self._ignored] for row in rows]
        texts: list[str] = self._tokenizer.batch_decode(kept, skip_special_tokens=True)
        return texts


def compute_metrics(
    tokenizer: Any,
    metric: Metric | str | Sequence[Metric | str] | None = None,
    *,
    ignored: int = IGNORED,
    **parameters: Any,
) -> ComputeMetrics:
    """For Trainer's `compute_metrics`: ids are decoded, counted and scored.

    tokenizer: what the ids are decoded with: anything with `batch_decode`.
    metric: a metric or a name, as `truebleu.metric` takes it, or several; BLEU by default. The
        keys of the result are the names that were asked for.
    ignored: the id that is no token; others that are not text are the tokenizer's special tokens.
    parameters: of each metric.

    With `batch_eval_metrics` it is called with each batch, and `compute_result=True` at the last.
    """
    several: Any = metric if isinstance(metric, list | tuple) else [metric]
    made = [(one, metric_of(one, parameters)) for one in several]
    return ComputeMetrics(tokenizer, [(name_of(*pair), pair[1]) for pair in made], ignored)
