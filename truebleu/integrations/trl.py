"""TRL: reward functions for GRPOTrainer and trainers with the same interface.

    from trl import GRPOTrainer
    from truebleu.integrations.trl import bleu_reward, metric_reward

    trainer = GRPOTrainer(
        model="…",
        train_dataset=dataset,         # with a column "reference": strings, or lists of strings
        reward_funcs=[bleu_reward("reference"), metric_reward("ter", scale=-0.01)],
    )

Any metric can be a reward; metrics that read sources take them from a column "source". A reward is
the sentence-level score of a completion times `scale`. One kernel call scores all completions of a
step. Tested with the method of GRPOTrainer that computes rewards (TRL 1.16.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import compress
from math import isfinite
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import get_metric_name, resolve_metric
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
    """Create a reward function: a metric's sentence-level score times `scale` (0-1 by default).

    metric: a metric, or a name that `truebleu.metric` accepts. parameters: parameters of the
        metric.
    reference_column: the dataset column with one or more references for each completion. If it is
        None, the reward is None, and TRL uses only the other rewards for that completion.
    scale: the factor of the scores; negative for metrics where lower is better.
    source_column: the column of sources, for metrics that read sources; "prompts" contains the
        model's prompts.
    name: the name in logs ("bleu_reward"); different rewards need different names.

    `bleu_reward` and `chrf_reward` have a fixed metric. As in sacreBLEU's sentence_bleu, BLEU skips
    n-gram orders without n-grams (effective order), and smooths orders without a match (exp).

    >>> reward = metric_reward("bleu")
    >>> reward(completions=["it is", "it rains"], reference=[["that was", "they are"], None])
    [0.0, None]
    """
    resolved_metric = resolve_metric(metric, parameters)
    name = name or f"{get_metric_name(metric, resolved_metric)}_reward"
    if not isfinite(scale):
        raise ValueError(f"{name}: scale={scale} (expected a finite number)")

    def get_column(
        role: str, column_name: str, columns: dict[str, Any], completion_count: int
    ) -> Sequence[Any]:
        if column_name not in columns:
            suggestion = suggest_names(column_name, columns) if columns else "; it has no columns"
            raise InputError(
                f"{name}: the dataset has no column {column_name!r}{suggestion}. Pass the column "
                f"of {role}s: {name}({role}_column=…)"
            )
        values = columns[column_name]
        alternative = ", or a list of references," if role == "reference" else ""
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(
                f"{name}: {column_name!r} is {values!r:.80} (expected a list with a {role}"
                f"{alternative} per completion)"
            )
        if len(values) != completion_count:
            raise InputError(
                f"{name}: {column_name!r} has length {len(values)} (expected {completion_count}: "
                f"one {role}{alternative} per completion)"
            )
        return values  # type: ignore[no-any-return]

    def compute_rewards(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Return the scaled score of each completion, or None if it has no reference."""
        references = get_column("reference", reference_column, columns, len(completions))
        reference_sets = [
            one if type(one) is str else _parse_references(one, number, name, reference_column)
            for number, one in enumerate(references, 1)
        ]
        texts: dict[str, list[Any]] = {
            "hypotheses": _extract_texts(completions, name, "completion"),
            "references": reference_sets,
        }
        if resolved_metric.NEEDS_SOURCE:
            sources = get_column("source", source_column, columns, len(completions))
            texts["sources"] = _extract_texts(sources, name, f"{source_column!r} of completion")
        has_reference = [one is not None for one in reference_sets]
        if not any(has_reference):
            return [None] * len(has_reference)
        scored_texts = {
            role: list(compress(values, has_reference)) for role, values in texts.items()
        }
        scores = iter(_score_sentences(resolved_metric, **scored_texts))
        return [next(scores) * scale if is_scored else None for is_scored in has_reference]

    compute_rewards.__name__ = compute_rewards.__qualname__ = name
    return compute_rewards


bleu_reward = partial(metric_reward, "bleu")
chrf_reward = partial(metric_reward, "chrf")


def _score_sentences(
    metric: Metric[Any], hypotheses: list[str], references: list[Any], **sources: Any
) -> Iterable[float]:
    """Return the sentence-level scores, computed together unless segments affect each other."""
    if not metric.non_additive_reason:
        return metric.segments(hypotheses, references, **sources)
    # None of these metrics reads sources.
    pairs = zip(hypotheses, references, strict=True)
    return [metric.sentence(*pair).value for pair in pairs]


def _extract_texts(completions: Sequence[Any], name: str, role: str) -> list[str]:
    return [
        one if type(one) is str else _extract_text(one, f"{name}: {role} {number}")
        for number, one in enumerate(completions, 1)
    ]


def _extract_text(completion: Any, location: str) -> str:
    """Return the text of a completion or prompt: a string, or the content of its last message.

    The text of a message without text, such as a tool call, is "".
    """
    content = completion
    if isinstance(completion, list | tuple) and completion and isinstance(completion[-1], dict):
        content = completion[-1].get("content", 0)  # the value may be None
        if content is None:
            return ""
        if isinstance(content, list) and all(isinstance(part, dict) for part in content):
            return "".join(part.get("text") or "" for part in content)
    if not isinstance(content, str):
        raise InputError(
            f"{location} is {completion!r:.80} (expected a string, or a list of "
            'messages like {"role": "assistant", "content": "…"})'
        )
    return content


def _parse_references(
    references: Any, number: int, name: str, column: str
) -> tuple[str | None, ...] | None:
    """Return the references of a completion, or None if all are missing."""
    if references is None:
        return None
    if not isinstance(references, list | tuple) or not all(
        one is None or isinstance(one, str) for one in references
    ):
        raise InputError(
            f"{name}: {column!r} of completion {number} is {references!r:.80} (expected a string, "
            "a list of strings, or None)"
        )
    return tuple(references) if any(one is not None for one in references) else None
