"""COMET: scores of a model that reads source, hypothesis and reference, run with unbabel-comet.

Ricardo Rei et al. (2020): COMET: A neural framework for MT evaluation. EMNLP. Rei et al. (2022):
COMET-22, CometKiwi. WMT. Nuno Guerreiro et al. (2024): xCOMET. TACL.
"""

from __future__ import annotations

import os
import re
from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.neural_metric import MODEL_HELP, NeuralMetric, find_model, resolve_device
from truebleu.metrics.python_metric import SegmentTexts

DEFAULT_MODEL = "Unbabel/wmt22-comet-da"
CHECKPOINT = os.path.join("checkpoints", "model.ckpt")
SETTINGS_FILE = "hparams.yaml"
# Inputs in addition to the hypothesis, per kind of model; unified models list their own inputs.
INPUTS_BY_KIND = {
    "regression_metric": ("src", "ref"),
    "ranking_metric": ("src", "ref"),
    "referenceless_regression_metric": ("src",),
    "xcomet_metric": ("src", "ref"),
}
# Citation keys of papers about models, keyed by a lower-case part of the model's name.
MODEL_CITATIONS = {
    "wmt22-comet-": "rei-etal-2022-comet",
    "wmt22-cometkiwi": "rei-etal-2022-cometkiwi",
    "wmt23-cometkiwi": "rei-etal-2023-scaling",
    "xcomet": "guerreiro-etal-2024-xcomet",
}
INPUT_SEGMENTS = re.compile(r"^input_segments:[ ]*(\[.*?\]|(?:\n[ ]*-[ ]*\w+)+)", re.MULTILINE)


class COMET(NeuralMetric):
    """COMET: mean segment score of a model that reads the source, hypothesis and one reference.

    The model's settings list its inputs; for example, CometKiwi reads no references. Scores match
    `predict` in full precision; the command `comet-score` computes in half precision, which changes
    the last digits.
    """

    __slots__ = ()

    NAME = "COMET"
    CITATIONS = ("rei-etal-2020-comet",)
    PREFIX = "comet-"
    CONSTANTS = {**NeuralMetric.CONSTANTS, "precision": ("fp32", "precision")}  # noqa: RUF012
    FIELDS = ("model", "precision", "agg")
    PACKAGE = ("unbabel-comet", "comet")
    INSTALL = (
        "pip install unbabel-comet 'setuptools<81', in a separate environment, because it needs "
        "numpy below 2. Run it there with -m command:COMET='…', or read its scores with "
        "truebleu compare --scores"
    )
    EXAMPLE = DEFAULT_MODEL
    model: p.Parameter[str] = p.Text(DEFAULT_MODEL, MODEL_HELP)
    _: KW_ONLY

    @property
    def NEEDS_SOURCE(self) -> bool:  # type: ignore[override]  # noqa: N802
        """True if the model reads the sources, as most models do."""
        return "src" in self._list_inputs()

    @property
    def REFERENCES(self) -> str:  # type: ignore[override]  # noqa: N802
        """The number of references that the model reads: "one" or "none"."""
        return "one" if "ref" in self._list_inputs() else "none"

    @property
    def bound(self) -> float | None:
        """The best score: 1 for xCOMET, or None for models without an upper bound."""
        return 1.0 if _read_settings(self.model)[0] == "xcomet_metric" else None

    @property
    def citations(self) -> tuple[str, ...]:
        """The keys of the papers on COMET and on the model."""
        name = self.model.lower()
        return (*self.CITATIONS, *(key for part, key in MODEL_CITATIONS.items() if part in name))

    def _list_inputs(self) -> tuple[str, ...]:
        """Return the model's inputs in addition to the hypothesis."""
        kind, segments, _ = _read_settings(self.model)
        return INPUTS_BY_KIND.get(kind) or segments or INPUTS_BY_KIND["regression_metric"]

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[float]:
        from truebleu.text import corpus_inputs

        inputs = self._list_inputs()
        samples = [{"mt": text} for text, _ in texts]
        if "src" in inputs:
            sources = corpus_inputs.read_sources(corpus.sources, len(texts))
            for sample, source in zip(samples, sources, strict=True):
                sample["src"] = source
        if "ref" in inputs:
            for sample, (_, references) in zip(samples, texts, strict=True):
                sample["ref"] = references[0]
        folder = self._find_folder()
        path = os.path.join(folder, CHECKPOINT)
        if not (os.path.isfile(path) and os.path.isfile(os.path.join(folder, SETTINGS_FILE))):
            raise MetricFailedError(
                f"{self.name}: {folder} does not contain a COMET model (expected "
                f"{SETTINGS_FILE} and {CHECKPOINT})"
            )
        encoder = _read_settings(self.model)[2]
        if encoder and find_model(encoder) is None:
            raise MetricFailedError(
                f"{self.name}: {self.model} is built on {encoder}, whose settings and vocabulary "
                f'are missing. Run: hf download {encoder} --exclude "*.bin" "*.safetensors" '
                '"*.h5" "*.msgpack" "onnx/*"'
            )
        model = self._load_with_clear_errors(_load_model, path, self._describe_environment())
        device_name = self._load_with_clear_errors(resolve_device, self.device)

        def predict(indices: range) -> list[float]:
            predicted = model.predict(
                [samples[i] for i in indices],
                batch_size=self.batch,
                gpus=0 if device_name == "cpu" else 1,
                devices=[int(device_name.partition(":")[2])]
                if device_name[-1].isdecimal()
                else None,
                accelerator=device_name.partition(":")[0],
                progress_bar=False,
            )
            scores: list[float] = predicted.scores
            return scores

        return self._run_model(len(texts), predict)


def _read_settings(model: str) -> tuple[str, tuple[str, ...], str]:
    """Return a model's kind, its inputs in addition to the hypothesis, and its encoder."""
    try:
        folder = find_model(model)
        with open(os.path.join(folder or "", SETTINGS_FILE), encoding="utf-8") as file:
            text = file.read()
    except (OSError, MetricFailedError, UnicodeDecodeError):
        return "", (), ""
    kind = re.search(r"^class_identifier:\s*(\w+)", text, re.MULTILINE)
    segments = INPUT_SEGMENTS.search(text)
    encoder = re.search(r"^pretrained_model:\s*(.+?)\s*$", text, re.MULTILINE)
    inputs = [name for name in re.findall(r"\w+", segments[1]) if name != "mt"] if segments else []
    return kind[1] if kind else "", tuple(inputs), encoder[1].strip("'\"") if encoder else ""


@lru_cache(maxsize=2)
def _load_model(path: str, _identity: str) -> Any:
    from comet import load_from_checkpoint

    return load_from_checkpoint(path, local_files_only=True)
