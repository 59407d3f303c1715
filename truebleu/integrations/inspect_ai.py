"""inspect-ai: scorers that log a sentence-level score per sample, and the corpus score.

A sample's target is its reference or list of references; its input is the source, for metrics that
read sources. The score's metadata stores the statistics (or texts, if statistics cannot be summed),
from which the corpus score is computed. Only one epoch is supported: with several, inspect-ai would
keep only the statistics of the first epoch, and the mean of the scores.

Tested with inspect-ai 0.3.285.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence  # inspect-ai reads the annotations
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import RunningScore, get_metric_name, require_package, resolve_metric
from truebleu.metrics.base import Metric
from truebleu.metrics.registry import METRICS

Scorer = Callable[[Any, Any], Awaitable[Any]]

with require_package("inspect-ai", "truebleu.integrations.inspect_ai"):
    from inspect_ai import scorer as scoring

# Metadata key of the statistics of a score.
METADATA_KEY = "truebleu"


@scoring.metric  # type: ignore[untyped-decorator]
def corpus() -> Callable[[Sequence[Any]], float]:
    """Return inspect-ai's metric that computes the corpus score of all samples."""

    def compute_score(scores: Sequence[Any]) -> float:
        running_score: RunningScore | None = None
        for sample in scores:
            state = (sample.score.metadata or {}).get(METADATA_KEY)
            if state is None:
                raise InputError(
                    f"sample {sample.sample_id}: the score has no statistics. Use a scorer from "
                    "truebleu.integrations.inspect_ai."
                )
            running_score = running_score or RunningScore(resolve_metric(state["metric"], {}))
            running_score.load(state)
        return float("nan") if running_score is None else float(running_score.compute())

    return compute_score


def metric_scorer(
    metric: Metric | str = "bleu", *, source: str | None = None, **parameters: Any
) -> Scorer:
    """Return a scorer for any metric. The log uses the metric's name.

    metric: a metric, or a name that `truebleu.metric` accepts. parameters: parameters of the
        metric.
    source: the metadata key of a sample's source (default: the sample's input).
    """
    name = get_metric_name(metric, resolve_metric(metric, parameters))
    options = {**parameters, **({"source": source} if source else {})}
    return _register_scorer(name, metric)(**options)


def _register_scorer(name: str, metric: Metric | str) -> Callable[..., Scorer]:
    """Register a metric's scorer with inspect-ai, and return the function that creates it."""

    def make_scorer(*, source: str | None = None, **parameters: Any) -> Scorer:
        resolved_metric = resolve_metric(metric, parameters)
        try:
            resolve_metric(str(resolved_metric), {})
        except ValueError as error:  # raised before any sample is scored
            raise ValueError(
                f"{resolved_metric!r}: the log stores the metric's signature, which does not "
                f"describe this metric ({error}). Use a named tokenizer instead of a function."
            ) from None
        return _make_scorer(resolved_metric, source)

    make_scorer.__doc__ = f"{name}. See `metric_scorer` for the arguments."
    return scoring.scorer(metrics=[corpus()], name=name)(make_scorer)  # type: ignore[no-any-return]


# Register all scorers on import, so that inspect-ai can rescore logs that name them.
SCORERS = {name: _register_scorer(name, name) for name in METRICS}
bleu, chrf, ter = (SCORERS[name] for name in ("bleu", "chrf", "ter"))


def _make_scorer(metric: Metric[Any], source_key: str | None) -> Scorer:
    async def score_sample(state: Any, target: Any) -> Any:
        if state.epoch != 1:
            raise InputError(
                f"sample {state.sample_id}: found epoch {state.epoch}. A corpus score requires one "
                "output per sample. Run with epochs=1."
            )
        text, references = state.output.completion, list(target)
        source = state.input_text if source_key is None else state.metadata.get(source_key)
        sample_score = RunningScore(metric)
        sample_score.update([text], [references], [source])
        options = {"source": source} if metric.NEEDS_SOURCE else {}
        return scoring.Score(
            value=metric.sentence(text, references, **options).value,
            answer=text,
            metadata={METADATA_KEY: sample_score.state_dict()},
        )

    return score_sample
