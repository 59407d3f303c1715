"""inspect-ai: scorers whose samples have sentence scores, and whose result is the corpus score.

    from inspect_ai import Task
    from truebleu.integrations.inspect_ai import bleu

    Task(dataset=…, solver=…, scorer=bleu(tokenize="intl"))   # the log: bleu/corpus 27.3

A sample's target is its reference, or its list of references. Its score is the sentence's, 0-100;
what was counted is in the score's metadata, and the corpus score is made of the sums. One epoch
only: of several, inspect-ai would keep the first one's counts with the mean of the scores.

Run with inspect-ai 0.3.285.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence  # inspect-ai reads the annotations
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.integrations import metric_of, needed
from truebleu.metrics.accumulator import Accumulator

if TYPE_CHECKING:
    from truebleu.metrics.table_metric import TableMetric

Scorer = Callable[[Any, Any], Awaitable[Any]]

scoring: Any = needed("inspect_ai.scorer", "inspect-ai", "truebleu.integrations.inspect_ai")

# Where a score's metadata has what was counted.
KEY = "truebleu"


@scoring.metric  # type: ignore[untyped-decorator]
def corpus() -> Callable[[Sequence[Any]], float]:
    """The score of all samples together."""

    def compute(scores: Sequence[Any]) -> float:
        total: Accumulator | None = None
        for sample in scores:
            state = (sample.score.metadata or {}).get(KEY)
            if state is None:
                raise InputError(
                    f"sample {sample.sample_id}: its score has no counts; this metric is for the "
                    "scorers of truebleu.integrations.inspect_ai"
                )
            one = Accumulator.from_state_dict(state)
            total = one if total is None else total.merge(one)
        return float("nan") if total is None else float(total.compute())

    return compute


@scoring.scorer(metrics=[corpus()])  # type: ignore[untyped-decorator]
def bleu(**parameters: Any) -> Scorer:
    """BLEU. parameters: those of `truebleu.BLEU`."""
    return _scorer(metric_of("bleu", parameters))


@scoring.scorer(metrics=[corpus()])  # type: ignore[untyped-decorator]
def chrf(**parameters: Any) -> Scorer:
    """ChrF. parameters: those of `truebleu.CHRF`."""
    return _scorer(metric_of("chrf", parameters))


@scoring.scorer(metrics=[corpus()])  # type: ignore[untyped-decorator]
def ter(**parameters: Any) -> Scorer:
    """TER. parameters: those of `truebleu.TER`."""
    return _scorer(metric_of("ter", parameters))


def _scorer(metric: TableMetric[Any]) -> Scorer:
    try:
        Accumulator.from_state_dict(Accumulator(metric).state_dict())
    except InputError as error:  # rather now than after all samples
        raise ValueError(
            f"{metric!r}: the log keeps a metric by its signature, which cannot name this one "
            f"({error}); inspect-ai needs a tokenizer that has a name"
        ) from None

    async def score(state: Any, target: Any) -> Any:
        if state.epoch != 1:
            raise InputError(
                f"sample {state.sample_id}: epoch {state.epoch}, and a corpus score is of one "
                "output a sample; run with epochs=1"
            )
        text, references = state.output.completion, tuple(target)
        counted = Accumulator(metric)
        counted.update([text], [references])
        return scoring.Score(
            value=metric.sentence(text, references).value,
            answer=text,
            metadata={KEY: counted.state_dict()},
        )

    return score
