"""Estimate the cost of a billion segments from measurements on fewer segments."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from page_helpers import fill_template, format_table

from truebleu import BLEU, CHRF
from truebleu.engines import Sums

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results.json"

SEGMENTS = 1_000_000_000
SYSTEMS = 100
BUCKETS = 1000
HEADER = (
    "read by",
    "metric",
    "rows measured",
    "processor time per row, ns (measured)",
    "hours per billion rows (extrapolated)",
    "cents per billion rows (extrapolated)",
)
CENTS_PER_HOUR = 5
"""Example price of one processor for one hour, in cents."""
PARTITION = 128 << 20
"""Bytes of text per partition: Spark's default for uncompressed files."""


def build_section() -> str:
    """Return the section of docs/at-scale.md that estimates the cost of a billion segments."""
    results = Results()
    measured: list[tuple[str, str, int, float | None]] = [
        (
            "lines of text, `truebleu score`",
            "BLEU",
            10**6,
            results.get_nanoseconds_per_line_pair("bleu"),
        ),
        (
            "lines of text, `truebleu score`",
            "chrF2",
            10**6,
            results.get_nanoseconds_per_line_pair("chrf"),
        ),
        ("Parquet, DuckDB", "BLEU", 10**6, results.get_parquet_nanoseconds_per_row("duckdb")),
        ("Parquet, Polars", "BLEU", 10**6, results.get_parquet_nanoseconds_per_row("polars")),
        (
            "Parquet, Spark (all processes, after warm-up)",
            "BLEU",
            results.spark_rows,
            results.get_spark_nanoseconds_per_row(),
        ),
        (
            "Parquet, Ray Data (all processes, after warm-up)",
            "BLEU",
            results.ray_rows,
            results.get_ray_nanoseconds_per_row(),
        ),
        (
            "lists of strings, sacreBLEU",
            "BLEU",
            20_000,
            results.get_sacrebleu_nanoseconds_per_pair(),
        ),
    ]
    rows = [
        (
            read,
            metric,
            f"{count:,}",
            *(_format_costs(ns) if ns is not None else ("not measured", "", "")),
        )
        for read, metric, count, ns in measured
    ]
    text = results.bytes_a_segment * SEGMENTS
    partitions = -(-text // PARTITION)
    states = partitions * SYSTEMS
    row = _measure_state_bytes((BLEU(),))
    state_bytes = _measure_state_bytes((BLEU(), CHRF()))
    buckets = SYSTEMS * BUCKETS * row
    return fill_template(
        "at-scale-section",
        systems=SYSTEMS,
        segments_of_system=SEGMENTS // SYSTEMS,
        segments=SEGMENTS,
        text_gigabytes=text / 1e9,
        bytes_a_segment=results.bytes_a_segment,
        machine=results.machine,
        cents_an_hour=CENTS_PER_HOUR,
        table=format_table(HEADER, rows, left_aligned=2),
        spark_scaling=results.format_speedup("Spark, 2 executors"),
        ray_blocks_scaling=results.format_speedup(f"{RAY_SCALING}, blocks"),
        ray_parquet_scaling=results.format_speedup(f"{RAY_SCALING}, Parquet"),
        partition=PARTITION >> 20,
        partitions=partitions,
        states=states,
        row_bytes=row,
        sums_megabytes=states * row / 1e6,
        text_per_sums=text / (states * row),
        both_megabytes=states * state_bytes / 1e6,
        groups_kilobytes=SYSTEMS * row / 1e3,
        buckets_megabytes=buckets / 1e6,
        buckets=BUCKETS,
        duckdb_peak=results.format_peak_memory("DuckDB"),
        polars_peak=results.format_peak_memory("Polars, file by file"),
        polars_scan_peak=results.format_peak_memory("Polars"),
        largest=results.tokens_a_segment * SEGMENTS,
    )


def _format_costs(nanoseconds: float) -> tuple[str, str, str]:
    hours = nanoseconds * SEGMENTS / 1e9 / 3600
    cents = f"{hours * CENTS_PER_HOUR:.1f}"
    return f"{nanoseconds:,.0f}", f"{hours:.2f}" if hours < 10 else f"{hours:.0f}", cents


def _measure_state_bytes(metrics: tuple[Any, ...]) -> float:
    """Return the number of bytes that a state table needs per group in Arrow's layout."""
    import pyarrow as pa

    sums = Sums(metrics, by="system")
    names = [f"system {number:03}" for number in range(SYSTEMS)]
    text = ["a b c d"] * SYSTEMS
    sums.update(pa.table({"system": names, "hyp": text, "ref": text}))
    return pa.table(sums).nbytes / SYSTEMS


class Results:
    """Measurements in benchmarks/results.json."""

    def __init__(self) -> None:
        benchmark_results = json.loads(RESULTS.read_text(encoding="utf-8"))
        self._rows = benchmark_results["rows"]
        machine = benchmark_results["machine"]
        self.machine = f"{machine['processor']}, {machine['python']}"
        memory = self._get_benchmark_figures("1 M pairs, two files, private memory")
        self.bytes_a_segment = memory.get("input_bytes", 0) / 1e6
        # A token and the following space have about six bytes, and a pair has two texts.
        self.tokens_a_segment = self.bytes_a_segment / 2 / 6

    def _find_benchmark_row(self, title_prefix: str) -> Any:
        return next((row for row in self._rows if row["work"].startswith(title_prefix)), None)

    def _get_benchmark_figures(self, title_prefix: str) -> Any:
        """Return the figures of a benchmark, or an empty dict if the benchmark was not run."""
        return (self._find_benchmark_row(title_prefix) or {"figures": {}})["figures"]

    def get_nanoseconds_per_line_pair(self, metric: str) -> float | None:
        """Return the processor time of `truebleu score` in nanoseconds per pair of lines."""
        starts = {
            "bleu": "1 M pairs, two files, whole process",
            "chrf": "chrF, 1 M pairs, two files, whole process",
        }
        return _compute_nanoseconds_per_row(
            self._get_benchmark_figures(starts[metric]).get("truebleu"), 10**6
        )

    def get_sacrebleu_nanoseconds_per_pair(self) -> float | None:
        """Return the processor time of sacreBLEU on the sample in nanoseconds per pair."""
        costs = self._get_benchmark_figures("1 M pairs, two files, whole process").get(
            "sacrebleu, sample"
        )
        return _compute_nanoseconds_per_row(costs, 20_000)

    def get_parquet_nanoseconds_per_row(self, engine: str) -> float | None:
        """Return the processor time of an engine on Parquet files in nanoseconds per row."""
        return _compute_nanoseconds_per_row(
            self._get_benchmark_figures("Parquet, 1 M rows").get(engine), 10**6
        )

    def format_peak_memory(self, title: str) -> str:
        """Return a phrase that states the peak resident memory for 8 million and for 1 million rows."""
        figures = self._get_benchmark_figures(f"Parquet, 8 M rows, {title}")
        if not figures:
            return "not measured"
        eight, one_million = figures["peak_bytes"], figures["peak_bytes_of_1_M"]
        return f"{eight / 2**20:.0f} MiB for 8 million rows and {one_million / 2**20:.0f} MiB for 1 million"

    def get_spark_nanoseconds_per_row(self) -> float | None:
        """Return the total processor time of Spark's processes in nanoseconds per row."""
        figures = self._get_benchmark_figures("Spark, ")
        return median(figures["runs"]["stats"]) if figures else None

    @property
    def spark_rows(self) -> int:
        """Number of rows in the Spark benchmark."""
        row = self._find_benchmark_row("Spark, ")
        return int(row["work"].split()[1]) * 10**6 if row else 0

    def get_ray_nanoseconds_per_row(self) -> float | None:
        """Return the total processor time of Ray's processes in nanoseconds per row."""
        figures = self._get_benchmark_figures(RAY)
        return figures["2 workers"]["parquet, stats"]["nanoseconds_a_row"] if figures else None

    @property
    def ray_rows(self) -> int:
        """Number of rows in the Ray benchmark."""
        figures = self._get_benchmark_figures(RAY)
        return int(figures["2 workers"]["rows"]) if figures else 0

    def format_speedup(self, title_prefix: str) -> str:
        """Return the throughput of two workers relative to one worker, such as "1.87 times"."""
        row = self._find_benchmark_row(title_prefix)
        ratio = row["ratio"].split()[0] if row and row["ratio"] else "?"
        return f"{ratio} times"


RAY = "BLEU on Ray Data, warm"
RAY_SCALING = "BLEU on Ray Data, 2 workers with twice the rows, against 1"


def _compute_nanoseconds_per_row(costs: Any, row_count: int) -> float | None:
    return median(costs["processor_seconds"]) * 1e9 / row_count if costs else None
