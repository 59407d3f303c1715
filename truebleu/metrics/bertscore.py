"""BERTScore, which matches words by the similarity of embeddings, as in the package bert-score.

Tianyi Zhang et al. (2020): BERTScore: Evaluating text generation with BERT. ICLR. Scores match the
output of `bert-score`.
"""

from __future__ import annotations

import os
from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Any

from truebleu.metrics import neural_metric
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.neural_metric import MODEL_HELP, NeuralMetric, read_config, resolve_device
from truebleu.metrics.python_metric import SegmentTexts, find_installed_version

DEFAULT_MODEL = "roberta-large"
# Keys of model configurations that contain the number of layers.
LAYER_COUNT_KEYS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")


class BERTScore(NeuralMetric):
    """BERTScore: F-score from contextual embeddings, usually 0 to 1, averaged over segments.

    With several references, F, precision and recall are each the maximum, as in bert-score. Like
    bert-score's hash, the signature states model, layer, idf, rescaling and versions.
    """

    __slots__ = ()

    NAME = "BERTScore"
    CITATIONS = ("zhang-etal-2020-bertscore",)
    PREFIX = "bertscore-"
    NUMBER_NAMES = ("f1", "precision", "recall")
    BOUND = 1.0
    FIELDS = ("model", "layer", "idf", "rescale", "agg")
    PACKAGE = ("bert-score", "bert_score")
    EXAMPLE = DEFAULT_MODEL
    model: p.Parameter[str] = p.Text(DEFAULT_MODEL, MODEL_HELP)
    layer: p.Parameter[int] = p.WholeNumber(
        0,
        "the layer; 0 selects bert-score's layer for the model, or the last layer of other models",
        minimum=0,
        maximum=1000,
        optional=True,
    )
    _: KW_ONLY
    idf: p.Parameter[bool] = p.Flag(
        "weight words by their inverse document frequency in the references"
    )
    rescale: p.Parameter[str] = p.Text(
        "no", "the language of the rescaling baseline, such as en; 'no' disables rescaling"
    )
    batch: p.Parameter[int] = p.WholeNumber(
        64, "the number of texts per batch", maximum=1 << 20, is_hidden=True
    )

    @property
    def NON_ADDITIVE_REASON(self) -> str | None:  # type: ignore[override]  # noqa: N802
        """The reason why partial statistics cannot be added, or None if idf is not used."""
        reason = (
            "BERTScore with idf computes word weights from all references, so partial "
            "results cannot be combined"
        )
        return reason if self.idf else None

    def _build_fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._build_fields(segment=segment)
        layer = self.layer
        if not layer:
            # bert-score's layer for the model, or its last layer, or 0 if both are unknown
            name = self._strip_revision(fields["model"])
            folder = neural_metric.find_model_or_none(self.model)
            layers_by_model = _read_bert_score_package()[1]
            layer = layers_by_model.get(name) or layers_by_model.get(os.path.basename(name), 0)
            layer_count = _read_layer_count(read_config(folder)) if folder else 0
            if not layer or 0 < layer_count < layer:
                layer = layer_count
        return fields | ({"layer": str(layer)} if layer else {})

    @staticmethod
    def _strip_revision(model_name: str) -> str:
        return model_name.rpartition("@")[0] or model_name

    def _find_versions(self) -> tuple[str, str]:
        release, program = super()._find_versions()
        version = _read_bert_score_package()[0] or release
        transformers = find_installed_version("transformers")
        return f"{version}(hug_trans={transformers})" if version else "", program

    def _compute_numbers(self, _: Corpus, texts: SegmentTexts) -> list[Any]:
        folder = self._find_folder()
        fields = self._build_fields(segment=None)
        layer = int(fields.get("layer", 0))
        self._check_layer(folder, layer)
        baseline = self._find_baseline(self._strip_revision(fields["model"]))
        environment = self._describe_environment()
        scorer = self._load_with_clear_errors(
            _load_scorer, folder, layer, self.idf, baseline, self.device, environment
        )
        if self.idf:
            references = [other for _, others in texts for other in others]
            self._load_with_clear_errors(scorer.compute_idf, references)

        def predict(indices: range) -> list[Any]:
            batch = [texts[i] for i in indices]
            hypotheses, references = zip(*batch, strict=True)
            precision, recall, f1 = scorer.score(
                list(hypotheses), list(references), batch_size=self.batch
            )
            return list(zip(f1.tolist(), precision.tolist(), recall.tolist(), strict=True))

        return self._run_model(len(texts), predict)

    def _check_layer(self, folder: str, layer: int) -> None:
        """Raise MetricFailedError for models and layers that bert-score would misinterpret."""
        settings = read_config(folder)
        layer_count = _read_layer_count(settings)
        if not layer or (layer_count and layer > layer_count):
            detail = f"it has {layer_count}"
            if not layer_count:
                detail = "its config.json does not contain a layer count"
            raise MetricFailedError(f"{self.name}: layer {layer} of {self.model}: {detail}")
        if "t5" in folder and "t5" not in str(settings.get("model_type")):
            raise MetricFailedError(
                f"{self.name}: bert-score treats models with t5 in their path as T5, but {folder} "
                f"has the type {settings.get('model_type')}. Rename the folder."
            )

    def _find_baseline(self, name: str) -> str | None:
        """Return the path of the baseline, or None if scores are not rescaled."""
        if self.rescale == "no":
            return None
        name = name if name in _read_bert_score_package()[1] else os.path.basename(name)
        folder = os.path.join(_read_bert_score_package()[2], "rescale_baseline")
        path = os.path.join(folder, self.rescale, f"{name}.tsv")
        if not os.path.isfile(path):
            languages = (
                ", ".join(sorted(os.listdir(folder))) if os.path.isdir(folder) else "nothing"
            )
            raise MetricFailedError(
                f"{self.name}: bert-score has no baseline for {name} in {self.rescale!r} (expected "
                f"a published model and one of {languages})"
            )
        return path


def _read_layer_count(settings: dict[str, Any]) -> int:
    """Return the number of layers in a model configuration, or 0 if it is missing."""
    return next(
        (int(settings[key]) for key in LAYER_COUNT_KEYS if isinstance(settings.get(key), int)), 0
    )


@lru_cache(maxsize=1)
def _read_bert_score_package() -> tuple[str, dict[str, int], str]:
    """Return bert-score's version, layer per model and folder, without importing bert-score."""
    import ast
    from importlib.util import find_spec

    spec = find_spec("bert_score")
    if spec is None or spec.origin is None:
        return "", {}, ""
    folder = os.path.dirname(spec.origin)
    assignments: dict[str, Any] = {}
    for file in ("__init__.py", "utils.py"):
        with open(os.path.join(folder, file), encoding="utf-8") as source:
            for statement in ast.parse(source.read()).body:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    name = statement.targets[0].id
                    if name in ("__version__", "model2layers"):
                        assignments[name] = ast.literal_eval(statement.value)
    return assignments.get("__version__", ""), assignments.get("model2layers", {}), folder


@lru_cache(maxsize=2)
def _load_scorer(
    folder: str, layer: int, idf: bool, baseline: str | None, device_name: str, _identity: str
) -> Any:
    from bert_score import BERTScorer

    return BERTScorer(
        model_type=folder,
        num_layers=layer,
        idf=idf,
        device=resolve_device(device_name),
        nthreads=0,
        lang="en" if baseline else None,  # required but unused, because baseline_path is set
        rescale_with_baseline=baseline is not None,
        baseline_path=baseline,
    )
