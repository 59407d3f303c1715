"""BLEURT: scores of a model that compares hypothesis and reference, run with bleurt-pytorch.

Thibault Sellam, Dipanjan Das, Ankur Parikh (2020): BLEURT: Learning robust metrics for text
generation. ACL. Amy Pu et al. (2021), EMNLP, for BLEURT-20.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Any, Self

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.neural_metric import MODEL_HELP, NeuralMetric, resolve_device
from truebleu.metrics.python_metric import SegmentTexts

# The model that bleurt-pytorch recommends.
DEFAULT_MODEL = "lucadiliello/BLEURT-20"


class BLEURT(NeuralMetric):
    """BLEURT: mean segment score of a model that reads the hypothesis and one reference.

    Most scores are between 0 and 1. Text is truncated to the model's maximum length.
    """

    __slots__ = ()

    NAME = "BLEURT"
    CITATIONS = ("sellam-etal-2020-bleurt",)
    PREFIX = "bleurt-"
    REFERENCES = "one"
    FIELDS = ("model", "agg")
    PACKAGE = ("bleurt-pytorch", "bleurt_pytorch")
    EXAMPLE = DEFAULT_MODEL
    model: p.Parameter[str] = p.Text(DEFAULT_MODEL, MODEL_HELP)
    _: KW_ONLY

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the metric for a model. An empty name stands for the default model."""
        return cls(model=text if text.strip() else DEFAULT_MODEL)

    @property
    def citations(self) -> tuple[str, ...]:
        """The keys of the papers on BLEURT and, for BLEURT-20, on this model."""
        is_recent = "bleurt-20" in self.model.lower()
        return (*self.CITATIONS, *(["pu-etal-2021-learning"] if is_recent else []))

    def _compute_numbers(self, _: Corpus, texts: SegmentTexts) -> list[float]:
        tokenizer, model = self._load_with_clear_errors(
            _load_model, self._find_folder(), self.device, self._describe_environment()
        )

        def predict(indices: range) -> list[float]:
            numbers: list[float] = []
            for i in range(0, len(indices), self.batch):
                batch = [texts[one] for one in indices[i : i + self.batch]]
                pairs = [(text, others[0]) for text, others in batch]
                numbers += _predict_scores(tokenizer, model, pairs)
            return numbers

        return self._run_model(len(texts), predict)


@lru_cache(maxsize=2)
def _load_model(folder: str, device_name: str, _identity: str) -> tuple[Any, Any]:
    try:
        from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
    except ImportError as error:
        raise MetricFailedError(
            f"BLEURT: bleurt-pytorch cannot be imported ({error.msg.split(' (')[0]}). Run "
            "pip install 'transformers<5'"
        ) from None
    model = BleurtForSequenceClassification.from_pretrained(folder, local_files_only=True)
    tokenizer = BleurtTokenizer.from_pretrained(folder, local_files_only=True)
    return tokenizer, model.to(resolve_device(device_name)).eval()


def _predict_scores(tokenizer: Any, model: Any, pairs: list[tuple[str, str]]) -> list[float]:
    import torch

    with torch.no_grad():
        tokens = tokenizer(
            [reference for _, reference in pairs],
            [text for text, _ in pairs],
            padding="longest",
            truncation=True,
            max_length=model.config.max_position_embeddings,
            return_tensors="pt",
        )
        scores: list[float] = model(**tokens.to(model.device)).logits.flatten().tolist()
    return scores
