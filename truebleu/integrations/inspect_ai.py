"""inspect-ai: scorers whose samples have sentence scores, and whose result is the corpus score.

    from inspect_ai import Task
    from truebleu.integrations.inspect_ai import bleu, metric_scorer

    Task(dataset=…, solver=…, scorer=bleu(tokenize="intl"))       # the log: bleu/corpus 27.3
    Task(dataset=…, solver=…, scorer=metric_scorer("rouge-l"))    # the log: rouge-l/corpus

A sample's target is its reference, or its list of references; its input is the source, for the
metrics that read it. Its score is the sentence's, 0-100; what was counted is in the score's
metadata (the texts, of metrics whose scores are no sums), and the corpus score is made of that. One
epoch only: of several, inspect-ai would keep the first one's counts with the mean of the scores.

Run with inspect-ai 0.3.285.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence  # inspect-ai reads the annotations
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import Total, metric_of, name_of, needed
from truebleu.metrics.base import Metric
from truebleu.metrics.registry import METRICS

Scorer = Callable[[Any, Any], Awaitable[Any]]

with needed("inspect-ai", "truebleu.integrations.inspect_ai"):
    from inspect_ai import scorer as scoring

# Where a score's metadata has what was counted.
KEY = "truebleu"


@scoring.metric  # type: ignore[untyped-decorator]
def corpus() -> Callable[[Sequence[Any]], float]:
    """The score of all samples together."""

    def compute(scores: Sequence[Any]) -> float:
        total: Total | None = None
        for sample in scores:
            state = (sample.score.metadata or {}).get(KEY)
            if state is None:
                raise InputError(
                    f"sample {sample.sample_id}: its score has no counts; this metric is for the "
                    "scorers of truebleu.integrations.inspect_ai"
                )
            total = total or Total(metric_of(state["metric"], {}))
            total.load(state)
        return float("nan") if total is None else float(total.compute())

    return compute


def metric_scorer(
    metric: Metric | str = "bleu", *, source: str | None = None, **parameters: Any
) -> Scorer:
    """A scorer by any metric; the log calls it by the metric's name.

    metric: a metric or a name, as `truebleu.metric` takes it; parameters: of the metric.
    source: where a sample's metadata has its source; the sample's input by default.
    """
    name = name_of(metric, metric_of(metric, parameters))
    told = {**parameters, **({"source": source} if source else {})}
    return _registered(name, metric)(**told)


def _registered(name: str, metric: Metric | str) -> Callable[..., Scorer]:
    """The scorers by a metric, which inspect-ai then knows by this name."""

    def scorer(*, source: str | None = None, **parameters: Any) -> Scorer:
        made = metric_of(metric, parameters)
        try:
            metric_of(str(made), {})
        except ValueError as error:  # rather now than after all samples
            raise ValueError(
                f"{made!r}: the log keeps a metric by its signature, which cannot name this one "
                f"({error}); inspect-ai needs a tokenizer that has a name"
            ) from None
        return _scorer(made, source)

    scorer.__doc__ = f"{name}. Arguments as for `metric_scorer`."
    return scoring.scorer(metrics=[corpus()], name=name)(scorer)  # type: ignore[no-any-return]


# All of them now, so that a log can be scored again by what it names.
SCORERS = {name: _registered(name, name) for name in METRICS}
bleu, chrf, ter = (SCORERS[name] for name in ("bleu", "chrf", "ter"))


def _scorer(metric: Metric[Any], place: str | None) -> Scorer:
    async def scored(state: Any, target: Any) -> Any:
        if state.epoch != 1:
            raise InputError(
                f"sample {state.sample_id}: epoch {state.epoch}, and a corpus score is of one "
                "output a sample; run with epochs=1"
            )
        text, references = state.output.completion, list(target)
        source = state.input_text if place is None else state.metadata.get(place)
        counted = Total(metric)
        counted.update([text], [references], [source])
        further = {"source": source} if metric.NEEDS_SOURCE else {}
        return scoring.Score(
            value=metric.sentence(text, references, **further).value,
            answer=text,
            metadata={KEY: counted.state_dict()},
        )

    return scored
