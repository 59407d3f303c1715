"""Training loops and evaluation programs that truebleu plugs into: one file a host, each thin.

Nothing here is imported before it is asked for, and no host is needed for another. `docs/
integrations.md` has an example of each; `truebleu.Accumulator` does the same work with no host.

| host | module | gives |
|---|---|---|
| torch.distributed | `truebleu.integrations.torch` | `all_reduce_` |
| torchmetrics | `truebleu.integrations.torchmetrics` | `Corpus`, `CorpusBLEU` … |
| TRL | `truebleu.integrations.trl` | `metric_reward`, `bleu_reward` … |
| transformers | `truebleu.integrations.transformers` | `compute_metrics` |
| evaluate | `truebleu.integrations.evaluate` | `path`, `load` |
| lm-evaluation-harness | `truebleu.integrations.lm_eval` | `register` |
| lighteval | `truebleu.integrations.lighteval` | `corpus_metric` |
| inspect-ai | `truebleu.integrations.inspect_ai` | `metric_scorer`, `bleu` … |
| MLflow | `truebleu.integrations.mlflow` | `log_result`, `log_segments` |
| Weights & Biases | `truebleu.integrations.wandb` | the same |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from truebleu._kernel import InputError
from truebleu.metrics import registry
from truebleu.metrics.accumulator import Accumulator
from truebleu.metrics.base import Metric, Score


@contextmanager
def needed(package: str, user: str, install: str | None = None) -> Iterator[None]:
    """Imports of a host; if it is not installed, ImportError says what `user` needs.

    install: what pip installs, if that is not the package.

    >>> with needed("no-such-host", "this example"):
    ...     import no_such_host
    Traceback (most recent call last):
    ImportError: this example needs no-such-host, which is not installed: pip install no-such-host
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # What the host itself lacks is the host's to say.
        if (error.name or "").partition(".")[0] != package.replace("-", "_").lower():
            raise
        raise ImportError(
            f"{user} needs {package}, which is not installed: pip install {install or package}",
            name=error.name,
        ) from None


def metric_of(metric: Metric | str | None, parameters: Mapping[str, Any]) -> Metric[Any]:
    """A metric, as `truebleu.metric` takes it with parameters; BLEU by default.

    >>> metric_of("chrf", {"word_order": 2})
    CHRF(word_order=2)
    """
    return registry.metric("bleu" if metric is None else metric, **parameters)


def name_of(metric: Metric | str | None, made: Metric[Any]) -> str:
    """What hosts call a metric: as it was asked for, else as the registry does.

    >>> name_of("mteval-v13a", metric_of("mteval-v13a", {}))
    'mteval-v13a'
    >>> name_of(None, metric_of("chrf", {"word_order": 2}))
    'chrf++'
    """
    if isinstance(metric, str) and not set(metric) & set(":| "):
        return metric.lower()
    for name, (place, parameters) in registry.METRICS.items():
        own = place.endswith(f":{type(made).__name__}")
        if own and type(made)(**parameters) == made:
            return name
    return made.name.lower()


def of_segments(references: Sequence[Any]) -> list[Any]:
    """A reference or several for each segment: lists of two are never taken for two streams."""
    return [tuple(one) if isinstance(one, list) else one for one in references]


def score(
    metric: Metric[Any],
    hypotheses: Sequence[str],
    references: Sequence[Any],
    sources: Sequence[str | None] | None = None,
) -> Score:
    """The score of a host's texts; references as `of_segments` has them.

    sources: n strings, which metrics that read none are not given; of None alone, as if left out.

    >>> float(score(metric_of("chrf", {}), ["a b", "b"], [["a b", "a"], ["b", "c"]]))
    100.0
    """
    known = sources if sources and any(one is not None for one in sources) else None
    further: Any = {"sources": known} if metric.NEEDS_SOURCE else {}
    made: Score = metric.score(hypotheses, of_segments(references), **further)
    return made


class Total:
    """The score of text that comes in batches: of sums where those do, else of the text, kept.

    An `Accumulator` refuses metrics whose score is no formula of sums, and those that read sources.
    """

    def __init__(self, metric: Metric[Any]) -> None:
        self.metric = metric
        self.reset()

    def reset(self) -> None:
        """Forgets all text."""
        additive = not (self.metric.NEEDS_SOURCE or self.metric.not_additive)
        self._sums = Accumulator(self.metric) if additive else None
        self._texts: list[list[Any]] = []

    def update(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Any],
        sources: Sequence[str] | None = None,
    ) -> None:
        """Adds a batch: n strings, a reference or several for each, and n sources if it has them.

        Raises InputError, and adds nothing, for lengths that differ.
        """
        if self._sums is not None:
            self._sums.update(hypotheses, references)
            return
        numbers = {"hypotheses": len(hypotheses), "references": len(references)}
        numbers |= {} if sources is None else {"sources": len(sources)}
        if len(set(numbers.values())) > 1:
            found = ", ".join(f"{name} {number}" for name, number in numbers.items())
            raise InputError(f"a batch has texts of different numbers: {found}")
        known = [None] * len(hypotheses) if sources is None else sources
        self._texts += map(list, zip(hypotheses, references, known, strict=True))

    def compute(self) -> Score:
        """The score of all text so far. Raises InputError if there was none."""
        if self._sums is not None:
            return self._sums.compute()
        hypotheses, references, sources = (
            zip(*self._texts, strict=True) if self._texts else [()] * 3
        )
        return score(self.metric, hypotheses, references, sources)

    def state_dict(self) -> dict[str, Any]:
        """The state as plain values; the metric can be made again from it."""
        if self._sums is not None:
            return self._sums.state_dict()
        return {"metric": str(self.metric), "texts": self._texts}

    def load(self, state: Mapping[str, Any]) -> Self:
        """Adds what another counted, whose `state_dict` this is."""
        if self._sums is not None:
            self._sums.merge(Accumulator.from_state_dict(state))
        else:
            self._texts += state["texts"]
        return self
