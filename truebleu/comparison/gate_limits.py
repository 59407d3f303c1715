"""Limits of a check: the minimum score and the allowed drop of each metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.text import argument_checks
from truebleu.text.argument_checks import ParameterError

# Drops larger than this on the 0-1 scale are probably meant for the 0-100 scale.
MAX_FRACTIONAL_DROP = 0.1


def resolve_limits(
    role: str, limits: Any, names: Mapping[Metric[Any], str], scale: int
) -> dict[Metric[Any], float]:
    """Return the limit of each metric that has one, on the scale of the metric.

    role: "minimum" or "max_drop". names: the names of the checked metrics, by metric.
    scale: the scale of limits for percentages, 100 or 1.

    Raises ParameterError for a limit that is on the wrong scale or that no output can fail.
    """
    resolved_limits = {}
    for metric, limit in _match_limits_to_metrics(role, limits, names).items():
        if metric.is_percentage:
            _check_scale_of_limit(role, limit, metric, names[metric], scale)
            # Rounding prevents limits such as 28.999999999999996.
            limit = round(100 * limit, 10) if scale == 1 else limit  # noqa: PLW2901
        best, worst = 0.0 if metric.lower_is_better else metric.bound, metric.WORST
        has_no_effect = worst is not None and (
            best is not None and limit >= abs(best - worst)
            if role == "max_drop"
            else (limit >= worst if metric.lower_is_better else limit <= worst)
        )
        if role == "max_drop" and limit < 0:
            raise ParameterError(
                f"[[max_drop]]: invalid drop for {names[metric]} (expected 0 or more, found "
                f"{limit:g})"
            )
        if has_no_effect:
            facts, remedy = (
                (f"the worst score is {worst:g}", "Use a stricter limit.")
                if role == "minimum"
                else (f"scores are from {worst:g} to {best:g}", "Allow a smaller drop.")
            )
            raise ParameterError(
                f"[[{role}]]: no output can fail a limit of {limit:g} for {names[metric]} "
                f"({facts}). {remedy}"
            )
        resolved_limits[metric] = limit
    return resolved_limits


def _check_scale_of_limit(
    role: str, limit: float, metric: Metric[Any], name: str, scale: int
) -> None:
    """Raise ParameterError if the limit for a percentage is probably on the other scale."""
    if scale == 100 and role == "minimum" and 0 < limit < 1 and not metric.lower_is_better:
        raise ParameterError(
            f"[[minimum]]: {limit:g} is too low for {name} on the 0-100 scale. Use "
            f"{100 * limit:g}, or add [[scale]] 1 to use the 0-1 scale"
        )
    max_minimum = 10 if metric.lower_is_better else 1  # error rates may exceed 1
    if scale == 1 and (limit >= MAX_FRACTIONAL_DROP if role == "max_drop" else limit > max_minimum):
        raise ParameterError(
            f"[[{role}]]: {limit:g} is too large for {name} on the 0-1 scale of [[scale]] 1 (it is "
            f"{100 * limit:g} on the 0-100 scale). Use {limit / 100:g}, or omit [[scale]] 1"
        )


def _match_limits_to_metrics(
    role: str, limits: Any, names: Mapping[Metric[Any], str]
) -> dict[Metric[Any], float]:
    """Return the user's limit for each metric that has one."""
    if limits is None:
        return {}
    if hasattr(limits, "items") and not limits:
        raise ParameterError(f"[[{role}]]: expected a number for at least one metric")
    if not hasattr(limits, "items"):
        if len(names) > 1:
            hint = ", ".join(f"{name}=…" for name in names.values())
            raise ParameterError(f"[[{role}]]: expected one number per metric, such as {hint}")
        return {metric: _parse_limit(role, limits) for metric in names}
    resolved_limits = {}
    for metric_name, value in limits.items():
        key = str(metric_name).casefold()
        matching_metrics = [metric for metric, name in names.items() if key == name.casefold()]
        if not matching_metrics:
            try:
                named_metrics = registry.resolve_metrics([metric_name])
            except ValueError:
                named_metrics = {}
            matching_metrics = [metric for metric in names if metric in named_metrics]
        if not matching_metrics:
            hint = argument_checks.suggest_names(metric_name, list(names.values()))
            raise ParameterError(
                f"[[{role}]]: metric '{metric_name}' is not among the metrics{hint}"
            )
        if len(matching_metrics) > 1:
            raise ParameterError(
                f"[[{role}]]: '{metric_name}' is ambiguous ({len(matching_metrics)} metrics). "
                "Use longer names."
            )
        if matching_metrics[0] in resolved_limits:
            raise ParameterError(
                f"[[{role}]]: two numbers for {names[matching_metrics[0]]}. Pass only one"
            )
        resolved_limits[matching_metrics[0]] = _parse_limit(role, value)
    return resolved_limits


def _parse_limit(role: str, value: Any) -> float:
    """Convert a limit to a float. Raises ValueError if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e100:
        raise ParameterError(f"[[{role}]]: expected a number, found {value!r:.40}")
    return float(value)
