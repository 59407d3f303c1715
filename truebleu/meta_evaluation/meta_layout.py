"""Sentences and tables that present the results of a meta-evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truebleu.rendering.elements import (
    Block,
    Cell,
    Column,
    Heading,
    Paragraph,
    Table,
    build_warnings,
)
from truebleu.rendering.number_format import (
    NumberFormatter,
    format_p_value,
    format_percent,
    make_formatter,
    make_signed_formatter,
    rescale,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

DIGITS = 3
# Tie thresholds below this value are rounding noise.
NOISE = 1e-12
TITLES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "tau-b": "Kendall's τ-b",
    "tau-c": "Kendall's τ-c",
    "kendall-like": "Kendall-like τ of pairs whose human scores differ by at least 25",
    "acc-eq": "pairwise accuracy with ties",
    "acc-eq-opt": "pairwise accuracy with ties, with a calibrated tie threshold ε",
    "pairwise": "share of system pairs that the metric and the human scores order identically",
    "spa": "soft pairwise accuracy",
}
# Tables with more metrics than this show only tests between neighbouring metrics.
MAX_METRICS_WITH_ALL_TESTS = 6


def lay_out_meta_evaluation(
    content: Content, digits: int | None = None, *, short: bool = False
) -> Iterator[Block]:
    """Yield the blocks of a meta-evaluation, with `digits` decimals."""
    format_score = make_formatter(DIGITS if digits is None else digits)
    yield Heading(1, format_title(content))
    yield from build_warnings(content)
    yield Paragraph(content["reading"], "lead")
    yield build_agreement_table(content, format_score)
    yield from _build_threshold_table(content)
    yield from _build_test_tables(content, format_score)
    yield from _build_difference_tables(content)
    yield from (Paragraph(note, "note") for note in content["notes"])
    if not short:
        yield from (Paragraph(task["recipe"], "signature") for task in content["tasks"])
        for metric in content["metrics"]:
            if metric["signature"]:
                yield Paragraph(f"{metric['name']}|{metric['signature']}", "signature")


def lay_out_report_section(content: Content) -> Iterator[Block]:
    """Yield the blocks of a report's section on human scores, including its heading."""
    yield Heading(2, "Agreement with human scores")
    yield Paragraph(content["reading"])
    yield build_agreement_table(content, make_formatter(DIGITS))
    yield from _build_threshold_table(content)
    yield from _build_difference_tables(content)
    yield from (Paragraph(note, "note") for note in [format_title(content), *content["notes"]])


def rescale_thresholds(content: Content) -> Content:
    """Return the contents with percentages and their thresholds converted to fractions (0-1).

    Percentages are the scores that truebleu computes for metrics such as BLEU. Scores that were
    read from files keep their scale. Agreement, such as a correlation, has no scale.
    """
    percentages = {metric["name"] for metric in content["metrics"] if metric["percentage"]}
    return {
        **content,
        "metrics": [
            {**metric, "scores": rescale(metric["scores"], ("epsilon",))}
            if metric["name"] in percentages
            else metric
            for metric in content["metrics"]
        ],
        "systems": [
            {**system, "scores": rescale(system["scores"], percentages)}
            for system in content["systems"]
        ],
        "agreement": [
            rescale(one, ("low", "high")) if one["metric"] in percentages else one
            for one in content["agreement"]
        ],
    }


def format_title(content: Content) -> str:
    """Return a title that states the numbers of metrics, systems and rated segments."""
    sets = content["sets"]
    parts = [format_count(len(content["metrics"]), "metric")]
    if content["preset"]:
        parts.append(f"tasks of {content['preset'].upper()}")
    for set_content in sets:
        system_count = format_count(len(set_content["systems"]), "system")
        set_summary = f"{set_content['name']} ({set_content['gold']}): {system_count}"
        if set_content["rated"] is not None:
            set_summary += f", {set_content['rated']:,} of {set_content['items']:,} segments rated"
        parts.append(set_summary)
    return "; ".join(parts)


def build_agreement_table(content: Content, format_score: NumberFormatter) -> Table:
    """Return a table with one row per metric and one column per task."""
    metrics = content["metrics"]
    columns = [Column("metric", is_left_aligned=True)]
    rows = [
        [Cell(_format_metric_label(metric), mark="best" if metric["rank"] == 1 else "")]
        for metric in metrics
    ]
    if any(metric["average"] is not None for metric in metrics):
        tooltip = "weighted mean, with r converted to (1 + r) / 2"
        columns.append(Column("average", "average", tooltip=tooltip))
        for row, metric in zip(rows, metrics, strict=True):
            row.append(Cell(_format_value(metric["average"], format_score)))
    if any(metric["cluster"] is not None for metric in metrics):
        tooltip = "the first metric is significantly worse than a metric in the previous cluster"
        columns.append(Column("cluster", "average", tooltip=tooltip))
        for row, metric in zip(rows, metrics, strict=True):
            row.append(Cell("" if metric["cluster"] is None else str(metric["cluster"])))
    for task in content["tasks"]:
        group, name = task["name"].split(":")[0], task["name"].partition(":")[2]
        headed = name.replace(":", " ")
        columns.append(Column(f"{group} {headed}", group, tooltip=TITLES[task["statistic"]]))
        task_scores = [metric["scores"][task["name"]] for metric in metrics]
        defined_values = [one["value"] for one in task_scores if one["value"] is not None]
        for row, score in zip(rows, task_scores, strict=True):
            best = len(defined_values) > 1 and score["value"] == max(defined_values)
            cluster = "" if score.get("cluster") is None else str(score["cluster"])
            value = _format_value(score["value"], format_score)
            row.append(Cell(value, cluster, "best" if best else ""))
        if any("interval" in score for score in task_scores):
            level = format_percent(task_scores[0]["interval"]["level"])
            columns.append(Column(f"{level} interval", group))
            for row, score in zip(rows, task_scores, strict=True):
                ends = score.get("interval") or {}
                low_and_high = [format_score(ends[end]) for end in ("low", "high") if ends]
                row.append(Cell(f"[{', '.join(low_and_high)}]" if ends else ""))
    return Table(columns, rows)


def _format_metric_label(metric: Content) -> str:
    return f"{metric['name']}{' (no reference)' if metric['reference_free'] else ''}"


def _format_value(value: float | None, format_score: NumberFormatter) -> str:
    return "–" if value is None else format_score(value)


def format_threshold(value: float) -> str:
    """Format a tie threshold. Rounding noise becomes 0.

    >>> format_threshold(16.1175493774), format_threshold(3.55e-15)
    ('16.12', '0')
    """
    return "0" if value < NOISE else f"{value:.4g}"


def _build_threshold_table(content: Content) -> Iterator[Block]:
    tasks = [task for task in content["tasks"] if task["statistic"] == "acc-eq-opt"]
    if not tasks:
        return
    columns = [Column("metric", is_left_aligned=True)]
    for task in tasks:
        group = task["sets"][0]
        columns += [Column(f"{group} {name}", group) for name in ("ε", "tied", "at ε = 0")]
    rows = []
    for metric in content["metrics"]:
        row = [Cell(_format_metric_label(metric))]
        for task in tasks:
            score = metric["scores"][task["name"]]
            tied, zero = score.get("tied"), score.get("at_zero")
            row += [
                Cell(format_threshold(score["epsilon"])),
                Cell("" if tied is None else f"{100 * tied:.0f}%"),
                Cell("" if zero is None else f"{zero:.3f}"),
            ]
        rows.append(row)
    yield Heading(2, "Tie thresholds")
    yield Table(columns, rows, fold="all thresholds")


def _build_test_tables(content: Content, format_score: NumberFormatter) -> Iterator[Block]:
    """Yield tables of the tests between all metrics or, if there are many, between neighbours."""
    tests = content["tests"] or []
    rank = {metric["name"]: metric["rank"] for metric in content["metrics"]}
    only_neighbours = len(rank) > MAX_METRICS_WITH_ALL_TESTS
    if only_neighbours:
        tests = [test for test in tests if abs(rank[test["first"]] - rank[test["second"]]) == 1]
    for task in dict.fromkeys(test["task"] for test in tests):
        listed_tests = [test for test in tests if test["task"] == task]
        corrected = any(test["corrected_p"] is not None for test in listed_tests)
        header = ["better", "than", "Δ", "p", *(["corrected p"] if corrected else []), "test"]
        rows = [
            [
                test["first"],
                test["second"],
                make_signed_formatter(format_score)(test["difference"]),
                Cell(format_p_value(test["p"]), "*" if test["significant"] else ""),
                *([format_p_value(test["corrected_p"])] if corrected else []),
                f"{test['test']} ({'exact, ' if test['exact'] else ''}{test['samples']:,})",
            ]
            for test in listed_tests
        ]
        yield Heading(2, f"Tests of {task}{', between neighbours' if only_neighbours else ''}")
        yield Table.from_text_rows(header, rows, (0, 1, len(header) - 1), fold="all tests")


def _build_difference_tables(content: Content) -> Iterator[Block]:
    """Yield tables of how often human scores confirm score differences, for up to three metrics."""
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for bin_ in content["agreement"]:
        by_metric.setdefault(bin_["metric"], []).append(bin_)
    order = [metric["name"] for metric in content["metrics"] if metric["signature"]]
    order = order or [metric["name"] for metric in content["metrics"]][:1]
    for name in order[:3]:
        bins = by_metric.get(name, [])
        if len(bins) < 2:
            continue
        rows = [
            [
                f"{one['low']:.3g} to {one['high']:.3g}",
                f"{one['pairs']:,}",
                f"{one['agree']:,}",
                f"{100 * one['agree'] / one['pairs']:.0f}%",
            ]
            for one in bins
        ]
        yield Heading(2, f"What difference in {name} do people notice?")
        yield Table.from_text_rows(
            [f"difference in {name}", "pairs", "agreeing pairs", "share"], rows
        )


def build_meta_records(content: Content) -> Iterator[Mapping[str, Any]]:
    """Yield one record per metric and task."""
    for metric in content["metrics"]:
        shared = {
            "metric": metric["name"],
            **{key: metric[key] for key in ("reference_free", "rank", "cluster", "average")},
            "signature": metric["signature"],
        }
        for task in content["tasks"]:
            score = dict(metric["scores"][task["name"]])
            interval = score.pop("interval", None) or {}
            yield {
                **score,
                **shared,
                "task": task["name"],
                "task_cluster": score.get("cluster"),
                "low": interval.get("low"),
                "high": interval.get("high"),
                "recipe": task["recipe"],
            }
