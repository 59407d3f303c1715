"""Build the page docs/other-metrics.md, which lists the registered metrics other than BLEU."""

from __future__ import annotations

from page_helpers import HYPOTHESES, REFERENCES, fill_template, format_table, render_code

import truebleu as tb
from truebleu.metrics import registry
from truebleu.metrics.python_metric import SegmentMeanMetric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
EXAMPLE_METRICS = ["bleu", "chrf", "rouge-l", "wer"]


def build_page() -> str:
    """Return the page docs/other-metrics.md."""
    systems = {name: str(path) for name, path in HYPOTHESES.items()}
    comparison = tb.compare(
        {name: HYPOTHESES[name] for name in systems}, REFERENCES["A"], metrics=["bleu", "wer"]
    ).to_dict()
    pair = {
        one["metric"]: one for one in comparison["pairs"] if {one["first"], one["second"]} == PAIR
    }
    return fill_template(
        "other-metrics",
        told=_format_difference(pair["BLEU"]),
        told_2=_format_difference(pair["WER"]),
        metrics=_format_metric_table(),
    )


PAIR = {"cedar", "birch"}


def _format_difference(pair: Any) -> str:
    interval = pair["interval"]
    return (
        f"{pair['value']:+.1f} [{interval['low']:+.1f}, {interval['high']:+.1f}] "
        f"(p = {pair['p']:.4f})"
    ).replace("-", "−")


def _format_metric_table() -> str:
    names: dict[type, list[str]] = {}
    for name in registry.METRICS:
        names.setdefault(registry.get_metric_class(name), []).append(name)
    for name, text in zip(registry.PREFIXED_METRICS, registry.list_prefixed_names(), strict=True):
        names.setdefault(registry.get_metric_class(name), []).append(text)
    rows = [
        [
            ", ".join(map(render_code, known)),
            ((cls.__doc__ or "").partition("\n")[0] + f" {cls.NAMESAKE}").strip().rstrip("."),
            "mean" if issubclass(cls, SegmentMeanMetric) else "sum",
            "lower" if cls.LOWER_IS_BETTER else "higher",
            NEEDS.get(cls.NAME, ""),
        ]
        for cls, known in names.items()
    ]
    return format_table(
        ["name", "description", "corpus score", "better", "needs"], rows, left_aligned=5
    )
