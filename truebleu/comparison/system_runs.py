"""Runs of a system: outputs of several training seeds.

A system with several runs is a mapping from run names to hypotheses, or a list of files, columns,
or lists of equal length. For metrics of tokenized text, a list of lists is one tokenized output; a
mapping always means runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from truebleu.text.segments import is_column

# The names of each system's outputs; a single output has the name of the system.
Runs = dict[str, list[str]]


def name_outputs(system: str, run_count: int) -> list[str]:
    """Return the names of a system's outputs."""
    return [system] if run_count == 1 else [f"{system} (run {i})" for i in range(1, run_count + 1)]


def split_systems_into_runs(
    argument: str, systems: Mapping[str, Any], *, accepts_tokens: bool = False
) -> tuple[dict[str, Any], Runs]:
    """Return the outputs by name, and the output names of each system.

    accepts_tokens: whether a list of lists is one tokenized output.
    """
    outputs: dict[str, Any] = {}
    runs: Runs = {}
    for system, value in systems.items():
        run_outputs = list(_list_runs(value, accepts_tokens=accepts_tokens))
        if not run_outputs:
            raise ValueError(f"{argument}: {system} has no runs")
        runs[system] = name_outputs(system, len(run_outputs))
        for name, output in zip(runs[system], run_outputs, strict=True):
            if name in outputs or (name != system and name in systems):
                raise ValueError(f"{argument}: duplicate name '{name}'")
            outputs[name] = output
    return outputs, runs


def has_several_runs(runs: Mapping[str, Sequence[str]]) -> bool:
    """Return whether any system has more than one run."""
    return any(len(outputs) > 1 for outputs in runs.values())


def _list_runs(hypotheses: Any, *, accepts_tokens: bool) -> Iterable[Any]:
    """Return the runs of a system. Hypotheses that are a single output are one run."""
    if isinstance(hypotheses, Mapping):
        return hypotheses.values()
    if not isinstance(hypotheses, list | tuple) or not hypotheses:
        return [hypotheses]
    if all(map(is_column, hypotheses)):
        return hypotheses
    are_lists = all(isinstance(one, list | tuple) or is_column(one) for one in hypotheses)
    lengths = {len(one) for one in hypotheses if isinstance(one, list | tuple)}
    # Lists of different lengths are not runs; a later check reports the error.
    return hypotheses if are_lists and not accepts_tokens and len(lengths) == 1 else [hypotheses]
