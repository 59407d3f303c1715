"""Metrics of a report: metrics that the viewer computes, further settings, and score columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from truebleu.comparison.comparison_request import MetricStatistics, Request
from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.metrics.scores import Statistics
from truebleu.reports import browser_kernel
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import join_words

# Metrics that the viewer can compute. Others appear in tables, but not in the segment browser.
VIEWER_METRICS = ("BLEU", "chrF", "TER", "WER", "MER", "WIL", "WIP", "CER")


class MetricSetting(NamedTuple):
    """Metric with its parameters, and its statistics for each system."""

    id: str
    metric: Metric[Any]
    tables: Mapping[str, Statistics]
    # Label, which is unique among all settings.
    label: str
    # Name of the metric in the comparison, or None for settings that are not in the comparison.
    comparison_name: str | None


class ScoreColumn(NamedTuple):
    """Segment scores of a metric that the viewer shows but cannot compute."""

    id: str
    comparison_entry: Mapping[str, Any]
    # Segment scores by system.
    scores: Mapping[str, Sequence[float]]


def describe_metric(metric: Metric[Any], signature: Any) -> dict[str, Any]:
    """Return the manifest entry of a metric, without scores."""
    return {
        "metric": metric.NAME,
        "signature": str(signature),
        "short": signature.short(),
        "higher_is_better": not metric.lower_is_better,
        "parameters": {name: _to_json_value(value) for name, value in metric.parameters.items()},
        "recipe": describe_recipe(metric),
        "countable": browser_kernel.can_compute_statistics(metric),
        "columns": list(metric.columns),
    }


def describe_recipe(metric: Metric[Any]) -> dict[str, Any]:
    """Return the metric settings for the browser kernel as JSON-compatible values."""
    kernel_settings = browser_kernel.get_kernel_settings(metric)
    return {name: _to_json_value(value) for name, value in kernel_settings.items()}


def name_blocks(part: MetricSetting | ScoreColumn) -> dict[str, str]:
    """Return the name of each system's block for a setting or a column."""
    if isinstance(part, MetricSetting):
        return {system: f"s{part.id}.{i}" for i, system in enumerate(part.tables)}
    return {system: f"{part.id}.{i}" for i, system in enumerate(part.scores)}


def label_settings(
    tables: Mapping[Metric[Any], dict[str, Statistics]],
    compared_metrics: Sequence[Metric],
    comparison: Mapping[str, Any],
) -> Iterator[MetricSetting]:
    """Yield each metric as a setting, with a unique label that names its distinctive parameters."""
    metric_names = [
        metric["name"] for metric in comparison["metrics"] if metric["source"] == "truebleu"
    ]
    comparison_names = dict(zip(compared_metrics, metric_names, strict=True))
    label_counts = dict.fromkeys(metric_names, 1)
    first_fields: dict[str, dict[str, str]] = {}
    for i, (metric, statistics) in enumerate(tables.items()):
        references = next(iter(statistics.values())).references
        fields = metric.signature(references).fields
        default_fields = first_fields.setdefault(metric.NAME, fields)
        label = comparison_name = comparison_names.get(metric)
        if label is None:
            differing_fields = [
                f"{key}:{value}"
                for key, value in fields.items()
                if default_fields.get(key) != value
            ]
            label = " ".join([metric.name, *differing_fields])
            label_counts[label] = label_counts.get(label, 0) + 1
            label = label if label_counts[label] == 1 else f"{label} ({label_counts[label]})"
        yield MetricSetting(str(i), metric, statistics, label, comparison_name)


def collect_score_columns(
    request: Request,
    counts: Mapping[Metric[Any], MetricStatistics],
    comparison: Mapping[str, Any],
    settings: Sequence[MetricSetting],
) -> Iterator[ScoreColumn]:
    """Yield the compared metrics that the viewer cannot compute, with their segment scores."""
    setting_names = {setting.comparison_name for setting in settings}
    scores: list[Mapping[str, Sequence[float]]] = [
        counts[metric].scores for metric in request.metrics
    ]
    scores += request.external_scores.values()
    for i, (entry, column_scores) in enumerate(zip(comparison["metrics"], scores, strict=True)):
        if entry["name"] not in setting_names:
            yield ScoreColumn(
                f"c{i}", entry, {system: column_scores[system] for system in request.systems}
            )


# ---- settings as text ----


def select_further_metrics(also: Any, metrics: Sequence[Metric]) -> list[Any]:
    """Return the metrics that a page offers in addition to the compared metrics.

    also: metrics, or changed parameters of `metrics`: "tokenize=intl,char" yields two variants of a
        metric, "lowercase" yields one, and "tokenize=intl+lowercase" yields one with both changes.

    Raises ValueError unless the viewer supports all further metrics and one of `metrics`.
    """
    unicode_form = find_unicode_form(metrics)
    viewer_metrics = [metric for metric in metrics if metric.NAME in VIEWER_METRICS]
    further_metrics: list[Any] = []
    is_single = isinstance(also, str) or not hasattr(also, "__iter__")
    names_of_parameters = {name for metric in viewer_metrics for name in metric.parameters}
    for item in [also] if is_single else also:
        if isinstance(item, str) and ("=" in item or item.partition("+")[0] in names_of_parameters):
            further_metrics += _apply_parameter_changes(item, viewer_metrics)
        else:
            further_metrics += registry.resolve_metrics([item])
    names = join_words(VIEWER_METRICS)
    for metric in further_metrics:
        if metric.NAME not in VIEWER_METRICS:
            raise ValueError(f"also: expected {names}, found {metric.NAME}")
    if not viewer_metrics:
        found = join_words([metric.name for metric in metrics]) if metrics else "no metric"
        raise ValueError(
            f"metrics: expected at least one of {names}, found {found}. Add one of these. The "
            "report shows other metrics only in its tables."
        )
    if unicode_form is not None:
        further_metrics = [
            metric.with_parameters(unicode_form=unicode_form)
            if metric.unicode_form is None
            else metric
            for metric in further_metrics
        ]
    return [metric for metric in further_metrics if metric not in metrics]


def find_unicode_form(metrics: Sequence[Any]) -> str | None:
    """Return the Unicode normalization form that all metrics use."""
    forms = {metric.unicode_form: metric for metric in metrics}
    if len(forms) > 1:
        raise ValueError(
            "metrics: unicode_form differs between the metrics "
            f"({', '.join(map(repr, forms))}). Use the same form for all metrics of a report."
        )
    return next(iter(forms), None)


def _apply_parameter_changes(changes: str, compared_metrics: Sequence[Metric]) -> Iterator[Metric]:
    choices: list[list[tuple[str, str]]] = []
    for change in changes.split("+"):
        name, has_value, values = change.partition("=")
        if not any(name in metric.parameters for metric in compared_metrics):
            names = dict.fromkeys(name for metric in compared_metrics for name in metric.parameters)
            raise ValueError(
                f"also: unknown parameter '{name}'{argument_checks.suggest_names(name, names)}"
            )
        alternatives = values.split(",") if has_value else ["yes"]
        choices.append([(name, value) for value in alternatives])
    for combination in product(*choices):
        for metric in compared_metrics:
            parameters = {parameter.name: parameter for parameter in metric.PARAMETERS}
            if all(name in parameters for name, _ in combination):
                try:
                    yield metric.with_parameters(
                        **{name: parameters[name].from_option(value) for name, value in combination}
                    )
                except (TypeError, ValueError) as error:
                    raise ValueError(f"also: {changes}: {error}") from None


def _to_json_value(value: Any) -> Any:
    """Convert a parameter to a JSON-compatible value, or to None if JSON cannot represent it."""
    if isinstance(value, tuple | list):
        return [_to_json_value(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else None
