"""BLEURT: a model's judgement of a text beside a reference, as the package bleurt-pytorch runs it.

Thibault Sellam, Dipanjan Das, Ankur Parikh (2020): BLEURT: Learning robust metrics for text
generation. ACL. Amy Pu et al. (2021), EMNLP, for BLEURT-20.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Any, Self

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.neural_metric import NeuralMetric, device
from truebleu.metrics.python_metric import Texts

# The model that bleurt-pytorch recommends.
USUAL = "lucadiliello/BLEURT-20"


class BLEURT(NeuralMetric):
    """BLEURT: a model's judgement of a segment beside one reference, and the mean.

    Most scores are between 0 and 1, and some beyond. What is longer than the model reads is cut.
    """

    __slots__ = ()

    NAME = "BLEURT"
    PREFIX = "bleurt-"
    REFERENCES = "one"
    FIELDS = ("model", "agg")
    PACKAGE = ("bleurt-pytorch", "bleurt_pytorch")
    EXAMPLE = USUAL
    model: p.Parameter[str] = p.Text(USUAL, "the model: a folder, or a name in the hub's cache")
    _: KW_ONLY
    device: p.Parameter[str] = p.Text(
        "auto", "the device by torch's name: auto, cpu, cuda:1", silent=True
    )
    batch: p.Parameter[int] = p.WholeNumber(
        16, "the segments in a batch", most=1 << 20, silent=True
    )

    @classmethod
    def named(cls, text: str) -> Self:
        """The metric of a model; of none named, that of the usual one."""
        return cls(model=text if text.strip() else USUAL)

    def _numbers(self, _: Corpus, texts: Texts) -> list[float]:
        tokenizer, model = self._loaded(_loaded, self._folder(), self.device, self._identity())

        def said(some: range) -> list[float]:
            numbers: list[float] = []
            for i in range(0, len(some), self.batch):
                chosen = [texts[one] for one in some[i : i + self.batch]]
                pairs = [(text, others[0]) for text, others in chosen]
                numbers += _scores(tokenizer, model, pairs)
            return numbers

        return self._said_of(len(texts), said)


@lru_cache(maxsize=2)
def _loaded(folder: str, wanted: str, _identity: str) -> tuple[Any, Any]:
    """The tokenizer and the model."""
    try:
        from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
    except ImportError as error:
        raise MetricFailedError(
            f"BLEURT: bleurt-pytorch cannot be imported ({error.msg.split(' (')[0]}); it needs "
            "pip install 'transformers<5'"
        ) from None
    model = BleurtForSequenceClassification.from_pretrained(folder, local_files_only=True)
    tokenizer = BleurtTokenizer.from_pretrained(folder, local_files_only=True)
    return tokenizer, model.to(device(wanted)).eval()


def _scores(tokenizer: Any, model: Any, pairs: list[tuple[str, str]]) -> list[float]:
    """What the model says of hypotheses and references."""
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
        found: list[float] = model(**tokens.to(model.device)).logits.flatten().tolist()
    return found
