"""Training loops and evaluation programs that truebleu plugs into: one file a host, each thin.

Nothing here is imported before it is asked for, and no host is needed for another. `docs/
integrations.md` has an example of each; `truebleu.Accumulator` does the same work with no host.

| host | module | gives |
|---|---|---|
| torch.distributed | `truebleu.integrations.torch` | `all_reduce_` |
| torchmetrics | `truebleu.integrations.torchmetrics` | `CorpusBLEU`, `CorpusCHRF`, `CorpusTER` |
| TRL | `truebleu.integrations.trl` | `bleu_reward`, `chrf_reward` |
| transformers | `truebleu.integrations.transformers` | `compute_metrics` |
| evaluate | `truebleu.integrations.evaluate` | `path`, `load` |
| lm-evaluation-harness | `truebleu.integrations.lm_eval` | `register` |
| lighteval | `truebleu.integrations.lighteval` | `corpus_metric` |
| inspect-ai | `truebleu.integrations.inspect_ai` | `bleu`, `chrf`, `ter` |
"""

from __future__ import annotations

from truebleu.metrics import registry
from truebleu.metrics.accumulator import Accumulator, checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from truebleu.metrics.base import Metric, Score
    from truebleu.metrics.table_metric import TableMetric


def needed(module: str, package: str, user: str) -> ModuleType:
    """The module of a host; if it is not installed, ImportError says what `user` needs.

    >>> needed("no_such_host.metrics", "no-such-host", "this example")
    Traceback (most recent call last):
    ImportError: this example needs no-such-host, which is not installed: pip install no-such-host
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # What the host itself lacks is the host's to say.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ImportError(
            f"{user} needs {package}, which is not installed: pip install {package}",
            name=error.name,
        ) from None


def metric_of(metric: Metric | str | None, parameters: dict[str, Any]) -> TableMetric[Any]:
    """A metric that adds up, as `truebleu.metric` takes it with parameters; BLEU by default.

    >>> metric_of("chrf", {"word_order": 2})
    CHRF(word_order=2)
    """
    return checked(registry.metric("bleu" if metric is None else metric, **parameters))


def score(metric: Metric, hypotheses: Any, references: Any) -> Score:
    """The score of a host's texts: lists of references are a segment's, and never streams.

    >>> float(score(metric_of("chrf", {}), ["a b", "b"], [["a b", "a"], ["b", "c"]]))
    100.0
    """
    total = Accumulator(metric)
    total.update(hypotheses, references)
    return total.compute()
