"""TRL: rewards for GRPOTrainer and the trainers that call rewards as it does.

    from trl import GRPOTrainer
    from truebleu.integrations.trl import bleu_reward, metric_reward

    trainer = GRPOTrainer(
        model="…",
        train_dataset=dataset,         # with a column "reference": strings, or lists of strings
        reward_funcs=[bleu_reward("reference"), metric_reward("ter", scale=-0.01)],
    )

Any metric has rewards; those that read the source take it from a column "source". A reward is the
sentence score of a completion times `scale`. All completions of a step are scored by one call of
the kernel. Run with TRL 1.16.0: GRPOTrainer's own method that computes rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import compress
from math import isfinite
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import metric_of, name_of
from truebleu.metrics.base import Metric
from truebleu.text.argument_checks import suggest_names

Reward = Callable[..., list[float | None]]


def metric_reward(
    metric: Metric | str = "bleu",
    reference_column: str = "reference",
    scale: float = 0.01,
    *,
    source_column: str = "source",
    name: str | None = None,
    **parameters: Any,
) -> Reward:
    """A reward function: a metric's sentence score times `scale`, so 0-1 by default.

    metric: a metric, or a name, as `truebleu.metric` takes it; parameters: of the metric.
    reference_column: the column of the data set with a reference, or a list of references, for
        each completion; None where there is none, for which the reward is None too, and TRL
        leaves that completion to its other rewards.
    scale: what scores are multiplied by; below 0 for a metric of which lower is better.
    source_column: the column with the sources, for metrics that read them; "prompts" has what the
        model was asked.
    name: what logs call it ("bleu_reward"); give several of them different names.

    `bleu_reward` and `chrf_reward` are this with their metric. Of BLEU, orders that a completion is
    too short for are left out (effective order) and orders without a match are smoothed (exp), as
    sacreBLEU's sentence_bleu does.

    >>> reward = metric_reward("bleu")
    >>> reward(completions=["it is", "it rains"], reference=[["that was", "they are"], None])
    [0.0, None]
    """
    made = metric_of(metric, parameters)
    name = name or f"{name_of(metric, made)}_reward"
    if not isfinite(scale):
        raise ValueError(f"{name}: scale={scale}; expected a finite number")

    def column(role: str, wanted: str, columns: dict[str, Any], number: int) -> Sequence[Any]:
        if wanted not in columns:
            there = suggest_names(wanted, columns) if columns else "; there are none"
            raise InputError(
                f"{name}: the data set has no column {wanted!r}{there}. Name "
                f"the one with the {role}s: {name}({role}_column=…)"
            )
        found = columns[wanted]
        several = ", or a list of references," if role == "reference" else ""
        if isinstance(found, str) or not hasattr(found, "__len__"):
            raise InputError(
                f"{name}: {wanted!r} is {found!r:.80}; expected a list with a {role}{several} for "
                "each completion"
            )
        if len(found) != number:
            raise InputError(
                f"{name}: {number} completions and {len(found)} of {wanted!r}; expected one {role}"
                f"{several} per completion"
            )
        return found  # type: ignore[no-any-return]

    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The score of each completion times the scale; None where there is no reference."""
        references = column("reference", reference_column, columns, len(completions))
        known = [
            one if type(one) is str else _references(one, number, name, reference_column)
            for number, one in enumerate(references, 1)
        ]
        texts: dict[str, list[Any]] = {
            "hypotheses": _texts(completions, name, "completion"),
            "references": known,
        }
        if made.NEEDS_SOURCE:
            sources = column("source", source_column, columns, len(completions))
            texts["sources"] = _texts(sources, name, f"{source_column!r} of completion")
        scored = [one is not None for one in known]
        if not any(scored):
            return [None] * len(scored)
        given = {role: list(compress(every, scored)) for role, every in texts.items()}
        scores = iter(_scores(made, **given))
        return [next(scores) * scale if is_scored else None for is_scored in scored]

    reward.__name__ = reward.__qualname__ = name
    return reward


bleu_reward = partial(metric_reward, "bleu")
chrf_reward = partial(metric_reward, "chrf")


def _scores(
    metric: Metric[Any], hypotheses: list[str], references: list[Any], **sources: Any
) -> Iterable[float]:
    """Sentence scores: in one call, unless a segment's score may depend on those beside it."""
    if not metric.not_additive:
        return metric.segments(hypotheses, references, **sources)
    # Of all of these, none reads a source.
    pairs = zip(hypotheses, references, strict=True)
    return [metric.sentence(*pair).value for pair in pairs]


def _texts(given: Sequence[Any], name: str, role: str) -> list[str]:
    return [
        one if type(one) is str else _text(one, f"{name}: {role} {number}")
        for number, one in enumerate(given, 1)
    ]


def _text(completion: Any, place: str) -> str:
    """The text of a completion or a prompt: itself, or what the last of its messages says.

    A message with no text, such as a call of a tool alone, says "".
    """
    found = completion
    if isinstance(completion, list | tuple) and completion and isinstance(completion[-1], dict):
        found = completion[-1].get("content", 0)  # there, though it may be None
        if found is None:
            return ""
        if isinstance(found, list) and all(isinstance(part, dict) for part in found):
            return "".join(part.get("text") or "" for part in found)
    if not isinstance(found, str):
        raise InputError(
            f"{place} is {completion!r:.80}; expected a string, or a list of "
            'messages like {"role": "assistant", "content": "…"}'
        )
    return found


def _references(given: Any, number: int, name: str, column: str) -> tuple[str | None, ...] | None:
    """The references of a completion; None if all are missing."""
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(
        one is None or isinstance(one, str) for one in given
    ):
        raise InputError(
            f"{name}: {column!r} of completion {number} is {given!r:.80}; expected a string, a "
            "list of strings, or None"
        )
    return tuple(given) if any(one is not None for one in given) else None
