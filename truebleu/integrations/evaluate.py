"""Hugging Face evaluate: path of the metric module for `evaluate.load`.

Metrics that read sources take a third argument, `sources=[…]`. No network access is required.
Tested with evaluate 0.4.6 and datasets 5.2.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from truebleu.integrations import require_package, resolve_metric


def path() -> str:
    """Return the path of truebleu_metric.py, for `evaluate.load(path())`."""
    return str(Path(__file__).with_name("truebleu_metric.py"))


def load(metric: str = "bleu", **options: Any) -> Any:
    """Load the evaluation module of a metric. metric: a name that `truebleu.metric` accepts.

    options: options of `evaluate.load`, such as `experiment_id` and `num_process`.
    """
    resolve_metric(metric, {})  # reject unknown names before loading
    with require_package("evaluate", "truebleu.integrations.evaluate.load"):
        import evaluate
    return evaluate.load(path(), metric, **options)
