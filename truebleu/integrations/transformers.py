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
evaluation. Run with transformers 5.23.0: Seq2SeqTrainer.evaluate, both ways. transformers itself is
not imported here.
"""

from __future__ import annotations

from truebleu._kernel import InputError
from truebleu.accumulator import Accumulator
from truebleu.integrations import metric_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.counted import Counted

# What Trainer pads labels, and predictions of different lengths, with.
IGNORED = -100


class ComputeMetrics:
    """What `compute_metrics` makes: called with each batch, or once with all of them."""

    def __init__(self, tokenizer: Any, metrics: Sequence[Counted[Any]], ignored: int) -> None:
        self._tokenizer = tokenizer
        self._ignored = ignored
        self._totals = {metric.NAME.lower(): Accumulator(metric) for metric in metrics}
        if len(self._totals) != len(metrics):
            raise ValueError("two metrics of one name, whose scores would have the same key")

    def __call__(self, prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Counts the text of these ids; the scores of all since the last result, if wanted.

        prediction: an EvalPrediction: `predictions` and `label_ids`, n × length.
        """
        predictions, labels = prediction.predictions, prediction.label_ids
        # Models that give more than the ids give them first.
        hypotheses = self._texts(predictions[0] if isinstance(predictions, tuple) else predictions)
        references = self._texts(labels[0] if isinstance(labels, tuple) else labels)
        for total in self._totals.values():
            total.update(hypotheses, references)
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

    def _texts(self, ids: Any) -> list[str]:
        shape = getattr(ids, "shape", None)
        if shape is not None and len(shape) != 2:
            raise InputError(
                f"predictions: an array of shape {tuple(shape)} where the ids of n texts, n × "
                "length, are meant. These look like logits: use Seq2SeqTrainer with "
                "predict_with_generate=True, or give Trainer a preprocess_logits_for_metrics"
            )
        rows = ids.tolist() if hasattr(ids, "tolist") else ids
        kept = [[number for number in row if number != self._ignored] for row in rows]
        texts: list[str] = self._tokenizer.batch_decode(kept, skip_special_tokens=True)
        return texts


def compute_metrics(
    tokenizer: Any,
    metric: Counted[Any] | str | Sequence[Counted[Any] | str] | None = None,
    *,
    ignored: int = IGNORED,
    **parameters: Any,
) -> ComputeMetrics:
    """For Trainer's `compute_metrics`: ids are decoded, counted and scored.

    tokenizer: what the ids are decoded with: anything with `batch_decode`.
    metric: a metric or a name ("bleu", "chrf", "ter"), or several; BLEU by default. The keys of
        the result are the names.
    ignored: the id that is no token; others that are not text are the tokenizer's special tokens.
    parameters: of the metric, if it is given by name.

    With `batch_eval_metrics` it is called with each batch, and `compute_result=True` at the last.
    """
    several: Any = metric if isinstance(metric, list | tuple) else [metric]
    return ComputeMetrics(tokenizer, [metric_of(one, parameters) for one in several], ignored)
