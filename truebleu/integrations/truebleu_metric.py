"""Metric module for Hugging Face: `evaluate.load(truebleu.integrations.evaluate.path())`.

evaluate copies this file and parses its imports line by line: put one import on each line, and do
not import neighbouring files.
"""

import datasets
import evaluate

from truebleu.integrations import resolve_metric, score_corpus
from truebleu.metrics.base import Metric
from truebleu.text.citations import format_bibtex

DESCRIPTION = """\
BLEU, chrF, TER and other corpus scores; BLEU, chrF and TER are identical to sacreBLEU 2.6.0.
"""

INPUTS = """\
Args:
    predictions: n strings.
    references: a string or a list of strings for each prediction; lists may differ in length.
    sources: n strings, only for metrics that read the source.
    **parameters: parameters of the metric. The configuration name is the metric name, as for
        truebleu.metric: "bleu" (the default), "chrf++", "rouge-l" ...
Returns:
    score: the score, 0-100.
    signature: the metric settings, to reproduce the score.
    and the components of the score.
"""


class TrueBLEU(evaluate.Metric):  # type: ignore[misc]
    """Corpus score."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        # All alternatives must have the same feature names, and every feature is required.
        source_feature = {"sources": text} if self._get_metric({}).NEEDS_SOURCE else {}
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=format_bibtex(self._get_metric({}).citations),
            inputs_description=INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": references, **source_feature})
                for references in (datasets.Sequence(text), text)
            ],
            reference_urls=["https://aclanthology.org/W18-6319"],
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[str] | list[list[str]],
        sources: list[str] | None = None,
        **parameters: object,
    ) -> dict[str, object]:
        return score_corpus(
            self._get_metric(parameters), predictions, references, sources
        ).to_dict()

    def _get_metric(self, parameters: dict[str, object]) -> Metric:
        name = None if self.config_name == "default" else self.config_name
        return resolve_metric(name, parameters)
