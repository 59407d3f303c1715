"""Calls of each trainer: their arguments and results, and the texts in their data.

Each `call_` function takes a `truebleu.integrations.rewards.Reward` and the trainer's arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import require_package
from truebleu.text.argument_checks import suggest_names

# Special tokens at the end of a text that a tokenizer decoded with them.
_END_TOKENS = re.compile(r"(?:\s*(?:<[|｜][^<>]*[|｜]>|</s>|<eos>|<pad>|<end_of_turn>))+\s*\Z")
_MISSING = object()


# ---- texts ----


def get_field(item: Any, key: str, default: Any = None) -> Any:
    """Return an entry of a mapping, or an attribute of an object."""
    return item.get(key, default) if isinstance(item, Mapping) else getattr(item, key, default)


def read_text(value: Any, role: str = "completion") -> str:
    """Return a string, or the text of the last message of a conversation.

    The text of a message without text, such as a tool call, is "".
    """
    content = value
    if isinstance(value, list | tuple) and value and not isinstance(value[-1], str):
        content = get_field(value[-1], "content", _MISSING)
        if content is None:
            return ""
        if isinstance(content, list) and not any(isinstance(part, str) for part in content):
            return "".join(get_field(part, "text") or "" for part in content)
    if not isinstance(content, str):
        raise InputError(
            f"the {role} is {value!r:.80} (expected a string, or a list of messages like "
            '{"role": "assistant", "content": "…"})'
        )
    return content


def read_references(references: Any) -> str | tuple[str | None, ...] | None:
    """Return one reference or several, or None if all are missing."""
    if hasattr(references, "tolist"):  # an array of a Parquet file
        references = references.tolist()
    if references is None or isinstance(references, str):
        return references
    if not isinstance(references, list | tuple) or not all(
        text is None or isinstance(text, str) for text in references
    ):
        raise InputError(
            f"the reference is {references!r:.80} (expected a string, a list of strings, or None)"
        )
    return tuple(references) if any(text is not None for text in references) else None


# ---- columns ----


def check_column(reward: Any, label: str, values: Any, completions: Any) -> None:
    """Raise InputError unless the values are a sequence with one value per completion."""
    if values is None and label == "groups":
        raise reward.count_error(
            f"{reward.name}: baseline={reward.baseline!r} compares the completions of one prompt "
            "(expected the prompt or group of each completion). Pass groups=… and all completions "
            "of a prompt in one call, or use another baseline."
        )
    if isinstance(values, str | Mapping) or not hasattr(values, "__len__"):
        found = f"is {values!r:.80} (expected a list with one value per completion)"
    elif len(values) != len(completions):
        found = f"has length {len(values)} (expected {len(completions)}: one value per completion)"
    else:
        return
    raise reward.count_error(f"{reward.name}: {label!r} {found}")


def _select(reward: Any, role: str, items: Any, default: Any) -> Sequence[Any]:
    """Return the values that the option `role` of the reward names.

    items: a mapping of columns, or a list of mappings or objects. default: the name that is used
        if the option is None, or the values themselves.
    """
    key = getattr(reward, role) or default
    if not isinstance(key, str):
        return key  # type: ignore[no-any-return]
    rows = [items] if isinstance(items, Mapping) else items
    values = [get_field(row, key, _MISSING) for row in rows]
    row = next((i for i, value in enumerate(values) if value is _MISSING), None)
    if row is not None:
        place = "the dataset" if rows is not items else f"row {row + 1}"
        names = rows[row] if isinstance(rows[row], Mapping) else getattr(rows[row], "__dict__", ())
        suggestion = suggest_names(key, map(str, names)) if names else "; it has none"
        raise reward.count_error(
            f"{reward.name}: {place} has no column or key {key!r}{suggestion}. "
            f"Pass its name: reward({role}=…)"
        )
    return values if rows is items else values[0]


def _score_batch(
    reward: Any, completions: Any, items: Any, references: Any, sources: Any, groups: Any
) -> list[float | None]:
    columns = {"references": _select(reward, "references", items, references)}
    if reward.needs_source:
        columns["sources"] = _select(reward, "sources", items, sources)
    if reward.has_group_baseline:
        columns["groups"] = _select(reward, "group", items, groups)
    return reward(completions, **columns)  # type: ignore[no-any-return]


def _score_one(reward: Any, completion: Any, item: Any, references: Any, sources: Any) -> float:
    (reference,) = _select(reward, "references", [item], references)
    source = _select(reward, "sources", [item], sources)[0] if reward.needs_source else None
    return reward.one(completion, reference, source=source)  # type: ignore[no-any-return]


def require_numbers(reward: Any, values: Sequence[float | None]) -> list[float]:
    """Return the rewards for trainers that accept only numbers; a missing reference is an error."""
    error = InputError("no reference (expected at least one)")
    return [
        reward.handle_error(i, error) if value is None else value for i, value in enumerate(values)
    ]


# ---- trainers ----


def call_trl(reward: Any, completions: Any, prompts: Any = None, **columns: Any) -> list[Any]:
    """Return a list of rewards, or None without references, as TRL and ms-swift expect."""
    if prompts is not None:
        columns["prompts"] = prompts
    return _score_batch(reward, completions, columns, "reference", "source", "prompts")


def call_verl(
    reward: Any, solution_str: Any, ground_truth: Any, extra_info: Any = None, **_: Any
) -> float:
    """Return the reward of one completion, for verl's reward manager "naive".

    Options name keys of extra_info (default: the ground truth and "source").
    """
    return _score_one(reward, solution_str, extra_info or {}, [ground_truth], "source")


def call_verl_batch(
    reward: Any, solution_strs: Any, ground_truths: Any, extra_infos: Any = None, **_: Any
) -> list[float]:
    """Return the rewards of a batch, for verl's reward manager "batch"."""
    infos = [info or {} for info in ([] if extra_infos is None else extra_infos)]
    values = _score_batch(reward, solution_strs, infos, ground_truths, "source", None)
    return require_numbers(reward, values)


def call_nemo_rl(reward: Any, message_log_batch: Any, metadata: Any) -> list[float]:
    """Return the rewards of message logs, for the method `step` of a NeMo RL environment.

    The last message of the assistant is scored; the messages before its first are the prompt.
    """
    completions: list[Any] = []
    prompts = []
    for log in message_log_batch:
        answers = [i for i in range(len(log)) if get_field(log[i], "role") == "assistant"]
        completions.append([log[answers[-1]]] if answers else None)
        prompts.append([get_field(message, "content") for message in log[: (*answers, None)[0]]])
    values = _score_batch(reward, completions, metadata, "ground_truth", "source", prompts)
    return require_numbers(reward, values)


def call_nemo_verify(reward: Any, body: Any) -> float:
    """Return the reward of a request of NeMo Gym, for the method `verify` of a resources server."""
    text = get_field(get_field(body, "response"), "output_text") or ""
    return _score_one(reward, text, body, "translation", "text")


def call_openrlhf(reward: Any, queries: Any, prompts: Any, labels: Any, **_: Any) -> dict[str, Any]:
    """Return a dict with tensors "rewards", "scores" (limited to 0-1) and "extra_logs".

    The completion is the text after the prompt, without special tokens at its end.
    """
    with require_package("torch", "reward.openrlhf"):
        import torch
    completions = []
    for row, (query, prompt) in enumerate(zip(queries, prompts, strict=True), 1):
        if prompt not in query:
            raise reward.count_error(
                f"{reward.name}, row {row}: the query {query!r:.80} does not contain its prompt "
                f"{prompt!r:.80}"
            )
        completions.append(_END_TOKENS.sub("", query[query.index(prompt) + len(prompt) :]))
    values = _score_batch(reward, completions, labels, labels, prompts, prompts)
    tensor = torch.tensor(require_numbers(reward, values), dtype=torch.float32)
    return {"rewards": tensor, "scores": tensor.clamp(0, 1), "extra_logs": {reward.name: tensor}}


def call_verifiers(
    reward: Any, completion: Any, answer: Any, prompt: Any = None, info: Any = None, **fields: Any
) -> float:
    """Return the reward of one rollout, for a legacy rubric of verifiers.

    Options name keys of info, or columns (default: answer and prompt).
    """
    # In verifiers, a missing answer is "".
    return _score_one(reward, completion, {**fields, **(info or {})}, [answer or None], [prompt])


def call_verifiers_group(
    reward: Any, completions: Any, answers: Any, prompts: Any = None, infos: Any = (), **_: Any
) -> list[float]:
    """Return the rewards of a group of rollouts, for a legacy rubric of verifiers."""
    references = [answer or None for answer in answers]
    values = _score_batch(reward, completions, infos, references, prompts, prompts)
    return require_numbers(reward, values)


async def call_verifiers_v1(reward: Any, task: Any, trace: Any) -> float:
    """Return the reward of a trace, for a task of verifiers v1: `@vf.reward()`."""
    data = get_field(task, "data", task)
    return _score_one(reward, trace.last_reply, data, "answer", "prompt")
