"""Build the page "Is the difference real?"."""

from __future__ import annotations

import json
from statistics import fmean as mean_of
from textwrap import fill

from calibration import RESULTS
from page_helpers import HYPOTHESES, REFERENCES, fill_template, format_table

from truebleu import BLEU, CHRF, TER
from truebleu._kernel import Stream, count_apart
from truebleu.metrics.bleu import round_to_single
from truebleu.rendering.number_format import format_segments_needed
from truebleu.significance import TESTS, Measure, bootstrap_intervals, run_paired_tests
from truebleu.significance.sacrebleu_compat import bootstrap_scores, randomize_scores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

REFERENCE = REFERENCES["A"]
METRICS = (BLEU(effective_order=False), CHRF(), TER())


def build_page() -> str:
    """Return the page docs/significance.md."""
    reference = _read_lines(REFERENCE)
    measures = [
        Measure(
            metric, {k: metric.statistics(v, reference) for k, v in _load_example_systems().items()}
        )
        for metric in METRICS
    ]
    segments = measures[0].segments
    return fill_template(
        "significance",
        segments=segments,
        example=_format_example_table(measures),
        calibration=_format_calibration_table(),
        documents=_format_document_table(),
        runs=_format_run_table(),
        clusters=_format_clusters(measures),
        power=_format_power_table(measures),
        precision=_describe_precision(measures),
        ties=_describe_ties(),
    )


def _read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _load_example_systems() -> dict[str, list[str]]:
    """Return the example systems, and "birch 2", which differs little from "birch"."""
    texts = {name: _read_lines(path) for name, path in HYPOTHESES.items()}
    texts["birch 2"] = [
        texts["cedar"][i] if i % 5 == 3 else texts["aspen"][i] if i % 10 == 2 else text
        for i, text in enumerate(texts["birch"])
    ]
    return texts


def _format_example_table(measures: list[Measure]) -> str:
    rows = []
    for result in run_paired_tests(measures, baseline="birch"):
        base = result.intervals["birch"]
        rows.append((result.measure.name, "birch", _format_interval(base), "", "", "", ""))
        for name, difference in result.differences.items():
            rows.append(
                (
                    "",
                    name,
                    _format_interval(result.intervals[name]),
                    f"{difference.value:+.2f} [{difference.interval.low:+.2f}, {difference.interval.high:+.2f}]",
                    f"{difference.p:.4f}",
                    f"{100 * difference.won:.1f}%",
                    format_segments_needed(difference.segments_needed),
                )
            )
    header = ["", "system", "score", "Δ from birch", "p (ar)", "resamples won", "segments needed"]
    return format_table(header, rows, left_aligned=2)


def _format_interval(interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _format_calibration_table() -> str:
    result = json.loads(RESULTS["tests"].read_text(encoding="utf-8"))
    trials, levels = result["trials"], result["levels"]
    pairs = ", ".join(result["pairs"])
    rows = [
        (
            name if i == j == 0 else "",
            f"{int(segments):,}" if not j else "",
            f"{100 * level:.0f}%",
            *(f"{100 * counts[test][j] / trials:.1f}%" for test in TESTS),
        )
        for name, of_metric in result["metrics"].items()
        for i, (segments, counts) in enumerate(of_metric.items())
        for j, level in enumerate(levels)
    ]
    error = 100 * (levels[0] * (1 - levels[0]) / trials) ** 0.5
    return fill_template(
        "significance-calibration",
        pool=result["pool"],
        pairs=pairs,
        result=" and ".join(result["systems"]),
        trials=trials,
        error=error,
        table=format_table(
            ["", "segments", "at", *(f"`{test}`" for test in TESTS)], rows, left_aligned=1
        ),
    )


def _format_document_table() -> str:
    result = json.loads(RESULTS["documents"].read_text(encoding="utf-8"))
    trials, results = result["trials"], result["found"]
    counts = list(results[0]["intervals"])

    def format_shares(pool_result, statistic, document_count):
        counts_by_unit = pool_result[statistic][document_count]
        return [f"{100 * counts_by_unit[unit] / trials:.1f}%" for unit in ("segments", "documents")]

    rows = [
        (
            one["metric"] if not i % (len(results) // 2) else "",
            one["pair"],
            f"{one['segments'] / one['documents']:.1f}",
            f"{one['errors'][1]:.2f}",
            count,
            *format_shares(one, "intervals", count),
            *format_shares(one, "tests", count),
        )
        for i, one in enumerate(results)
        for count in counts
    ]
    header = ["", "", "segments per document", "error", "documents"]
    header += ["missed, segments", "missed, documents", "found, segments", "found, documents"]
    error = 100 * (0.05 * 0.95 / trials) ** 0.5
    rows = [
        row if not i % len(counts) else ("", "", "", "", *row[4:]) for i, row in enumerate(rows)
    ]
    return fill_template(
        "significance-documents",
        near=result["near"],
        trials=trials,
        error=error,
        table=format_table(header, rows, left_aligned=2),
    )


def _format_run_table() -> str:
    result = json.loads(RESULTS["runs"].read_text(encoding="utf-8"))
    trials = result["trials"]
    rows = []
    for i, scenario in enumerate(result["made"]):
        first = not i or result["made"][i - 1]["cause"] != scenario["cause"]
        cells = [
            f"{100 * scenario['found'][name] / trials:.1f}%" if name in scenario["found"] else ""
            for name in ("one", "stacked", "runs")
        ]
        runs = " and ".join(map(str, scenario["runs"]))
        rows.append((scenario["cause"] if first else "", runs, *cells))
    header = ["source of variation", "runs", "one run per system", "runs stacked", "with runs"]
    return fill_template(
        "significance-runs", trials=trials, table=format_table(header, rows, left_aligned=2)
    )


def _format_clusters(measures: list[Measure]) -> str:
    sentences = []
    for result in run_paired_tests(measures, pairs="all"):
        ranks = " > ".join(" = ".join(f"*{name}*" for name in one) for one in result.clusters())
        sentences.append(f"* {result.measure.name}: {ranks}")
    return "\n".join(sentences)


def _format_power_table(measures: list[Measure]) -> str:
    rows = []
    for result in run_paired_tests(measures, test="bs", pairs="all"):
        for (system, second_system), difference in result.pairs.items():
            rows.append(
                (
                    f"{result.measure.name}, {system} − {second_system}",
                    f"{difference.value:+.2f}",
                    f"{difference.deviation:.2f}",
                    f"{difference.detectable_difference:.2f}",
                    format_segments_needed(difference.segments_needed),
                )
            )
    header = ["", "Δ", "s", f"detectable with {measures[0].segments}", "segments needed"]
    return format_table(header, rows)


def _describe_precision(measures: list[Measure]) -> str:
    cells = []
    for measure in measures:
        mean = bootstrap_intervals([measure])[0]["birch"].mean
        birch = measure.tables[measure.systems.index("birch")]
        [[scores]] = bootstrap_scores([(measure.metric, [birch])], Stream(12345), 1000)
        statistic = mean_of(scores.values)
        statistic = round_to_single(statistic) if scores.is_single_precision else statistic
        cells.append(f"{measure.name} {mean:.10f} and {statistic:.10f}")
    return _format_list_item(
        "**Precision.** sacreBLEU's bootstrap adds statistics in single precision. With NumPy 2, it also "
        "computes most of each score in single precision, so NumPy 1 gives different digits. "
        "truebleu's sums are exact integers, and its scores have double precision. Means of 1,000 "
        f"resamples of *birch*, by truebleu and by sacreBLEU: {'; '.join(cells)}."
    )


def _describe_ties() -> str:
    reference, birch, metric = _read_lines(REFERENCE), _read_lines(HYPOTHESES["birch"]), METRICS[0]
    tables = {
        "birch": metric.statistics(birch, reference),
        "with a different last segment": metric.statistics([*birch[:-1], "Nothing."], reference),
    }
    [difference_result] = run_paired_tests([Measure(metric, tables)])
    a, b = tables.values()
    difference = abs(metric.scores(a.total())[0] - metric.scores(b.total())[0])
    blocks = randomize_scores(metric, (a, b), 10_000, Stream(12345))
    p = (sum(count_apart(*each, difference, strictly=True) for each in blocks) + 1) / 10_001
    return _format_list_item(
        "**Ties.** sacreBLEU's randomization counts trials with a *larger* difference. truebleu, "
        "like Noreen, also counts trials with an equal difference. This matters if few segments "
        "differ: if only one segment differs, every trial gives the same difference. For *birch* "
        "and *birch* with a different "
        f"last segment, sacreBLEU's p is {p:.4f} and truebleu's is "
        f"{difference_result.differences['with a different last segment'].p:.4f}."
    )


def _format_list_item(text: str) -> str:
    return fill(text, 100, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
