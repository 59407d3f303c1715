"""Build the page docs/other-metrics.md, which lists the registered metrics other than BLEU."""

from __future__ import annotations

from page_helpers import HYPOTHESES, REFERENCES, fill_template

import truebleu as tb
from truebleu.metrics import registry
from truebleu.metrics.python_metric import SegmentMeanMetric

# Installation commands for metrics that need extra packages.
NEEDS = {
    "ROUGE": "`pip install 'truebleu[rouge]'`",
    "METEOR": "Java, and the jar of `pycocoevalcap`: `pip install 'truebleu[meteor]'`",
    "METEOR-nltk": "`pip install 'truebleu[meteor]'`, and WordNet: NLTK's, or Debian's `wordnet-base`",
    "BERTScore": "`pip install 'truebleu[neural]'`, and a model",
    "COMET": "`unbabel-comet` in an environment with numpy 1, and a model",
    "BLEURT": "`pip install 'truebleu[neural]'`, and a model",
    "command": "the program",
}


def build_page() -> str:
    """Return the page docs/other-metrics.md."""
    systems = {name: HYPOTHESES[name] for name in ("birch", "cedar")}
    comparison = tb.compare(systems, REFERENCES["A"], metrics=["bleu", "wer"]).to_dict()
    names: dict[type, list[str]] = {}
    for name in registry.METRICS:
        names.setdefault(registry.get_metric_class(name), []).append(name)
    for name, text in zip(registry.PREFIXED_METRICS, registry.list_prefixed_names(), strict=True):
        names.setdefault(registry.get_metric_class(name), []).append(text)
    return fill_template(
        "other-metrics",
        pairs={one["metric"]: one for one in comparison["pairs"]},
        metrics=[(cls, known, issubclass(cls, SegmentMeanMetric)) for cls, known in names.items()],
        NEEDS=NEEDS,
    )
