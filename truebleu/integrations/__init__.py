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

from truebleu.metrics import accumulator
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.chrf import CHRF
from truebleu.metrics.ter import TER
from truebleu.text.checks import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from truebleu.metrics.kernel_metric import KernelMetric

METRICS: dict[str, type[KernelMetric[Any]]] = {"bleu": BLEU, "chrf": CHRF, "ter": TER}


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


def metric_of(
    metric: KernelMetric[Any] | str | None, parameters: dict[str, Any]
) -> KernelMetric[Any]:
    """A metric that adds up: given as one, or by name with its parameters; BLEU by default.

    >>> metric_of("chrf", {"word_order": 2})
    CHRF(word_order=2)
    """
    if metric is None or isinstance(metric, str):
        name = "bleu" if metric is None else metric
        if name.lower() not in METRICS:
            raise ValueError(f"no metric is called {name!r}{nearest(name, METRICS)}")
        metric = METRICS[name.lower()](**parameters)
    elif parameters:
        raise TypeError(
            f"parameters ({', '.join(parameters)}) go with a metric's name; {metric!r} has its own"
        )
    return accumulator.checked(metric)


def per_segment(references: Any) -> Any:
    """References that a host gives for each segment, said so that they cannot be mistaken.

    Two lists of two references could be two segments or two streams, and `Metric.score` refuses
    them; tuples are always a segment's.

    >>> per_segment([["a", "b"], "c"])
    [('a', 'b'), 'c']
    """
    if not isinstance(references, list | tuple):
        return references
    return [tuple(one) if isinstance(one, list) else one for one in references]
