"""Hugging Face evaluate: where the module file is that `evaluate.load` reads.

    import evaluate
    from truebleu.integrations.evaluate import path

    bleu = evaluate.load(path())                 # or path(), "chrf++"; path(), "rouge-l" …
    bleu.add_batch(predictions=[…], references=[…])
    bleu.compute(tokenize="intl")                # {"score": 27.3, "signature": "nrefs:1|…", …}

Metrics that read the source take `sources=[…]` beside the other two. No network is needed. Run with
evaluate 0.4.6 and datasets 5.2.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from truebleu.integrations import metric_of, needed


def path() -> str:
    """The path of truebleu_metric.py, for `evaluate.load(path())`."""
    return str(Path(__file__).with_name("truebleu_metric.py"))


def load(metric: str = "bleu", **options: Any) -> Any:
    """The evaluation module of a metric, by a name that `truebleu.metric` takes.

    options: those of `evaluate.load`: `experiment_id`, `num_process` …
    """
    metric_of(metric, {})  # an unknown name is an error before anything is loaded
    with needed("evaluate", "truebleu.integrations.evaluate.load"):
        import evaluate
    return evaluate.load(path(), metric, **options)
