"""What Hugging Face evaluate loads: `evaluate.load(truebleu.integrations.evaluate.path())`.

evaluate copies this file and finds its imports by reading its text line by line: one import a
line, and nothing imported from beside it.
"""

import datasets
import evaluate

from truebleu.integrations import metric_of, score
from truebleu.metrics.base import Metric

DESCRIPTION = """\
BLEU, chrF, TER and others of a corpus, with the numbers of sacreBLEU 2.6.0 to the last bit.
"""

CITATION = """\
Matt Post (2018): A Call for Clarity in Reporting BLEU Scores. WMT. https://aclanthology.org/W18-6319
"""

INPUTS = """\
Args:
    predictions: n strings.
    references: for each of them a string, or a list of strings, which may vary in number.
    sources: n strings, for metrics that read the source, and no others.
    **parameters: those of the metric that the module's configuration names, as truebleu.metric
        takes it: "bleu" (the default), "chrf++", "rouge-l" ...
Returns:
    score: the score, 0-100.
    signature: what was computed, so that anyone can compute it again.
    and all else that the score was made of.
"""


class TrueBLEU(evaluate.Metric):  # type: ignore[misc]
    """The score of a corpus."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        # Every option has the same names, and each is then required.
        more = {"sources": text} if self._metric({}).NEEDS_SOURCE else {}
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": references, **more})
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
        return score(self._metric(parameters), predictions, references, sources).to_dict()

    def _metric(self, parameters: dict[str, object]) -> Metric:
        name = None if self.config_name == "default" else self.config_name
        return metric_of(name, parameters)
