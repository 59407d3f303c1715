"""What a billion segments cost: calculated from measurements on fewer."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from parts import table

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
    "a billion rows, hours (multiplied)",
    "and cents (multiplied)",
)
CENTS_AN_HOUR = 5
"""A price of a processor's hour, to be replaced by one's own."""
PARTITION = 128 << 20
"""Bytes of text in a partition: what Spark makes of files that are not compressed."""


def section() -> str:
    """The part of the page that works it out."""
    found = Results()
    measured: list[tuple[str, str, int, float | None]] = [
        ("lines of text, `truebleu score`", "BLEU", 10**6, found.files("bleu")),
        ("lines of text, `truebleu score`", "chrF2", 10**6, found.files("chrf")),
        ("Parquet, DuckDB", "BLEU", 10**6, found.parquet("duckdb")),
        ("Parquet, Polars", "BLEU", 10**6, found.parquet("polars")),
        ("Parquet, Spark, warm, all its processes", "BLEU", found.spark_rows, found.spark()),
        ("Parquet, Ray Data, warm, all its processes", "BLEU", found.ray_rows, found.ray()),
        ("lists of strings, sacreBLEU", "BLEU", 20_000, found.sacrebleu()),
    ]
    rows = [
        (read, metric, f"{count:,}", *(_hours(ns) if ns is not None else ("not measured", "", "")))
        for read, metric, count, ns in measured
    ]
    text = found.bytes_a_segment * SEGMENTS
    partitions = -(-text // PARTITION)
    states = partitions * SYSTEMS
    row = _state_bytes((BLEU(),))
    both = _state_bytes((BLEU(), CHRF()))
    buckets = SYSTEMS * BUCKETS * row
    return f"""## A billion segments

Take {SYSTEMS} systems with {SEGMENTS // SYSTEMS:,} segments each: {SEGMENTS:,} hypotheses and as
many references, {text / 1e9:.0f} GB of text at {found.bytes_a_segment:.0f} bytes per pair, as in the
text of the benchmarks. Nobody ran that: `make bench` measured the cost per row
({found.machine}; the figures are in `benchmarks/results.json`), and the hours are that times a
billion. The cents are for the processors alone, at {CENTS_AN_HOUR} cents per hour and processor; put in your own
price. Starting the engine, and reading the text from where it is stored, cost extra.

{table(HEADER, rows, left=2)}

Time grows with the number of rows only: no step looks at more than a row and its group. With twice
the rows, two workers of one core each processed {found.scaling("Spark, 2 executors")} as many rows
per second as one on Spark, {found.scaling(f"{RAY_SCALING}, blocks")} on Ray with blocks in memory and
{found.scaling(f"{RAY_SCALING}, Parquet")} with Parquet files (measured on the two cores of one
machine). The effect of a
network and of hundreds of machines was not measured.

**What is shuffled.** A partition passes on one row per group and metric. Partitions of
{PARTITION >> 20} MiB make {partitions:,.0f} partitions and at most {states:,.0f} rows (if every
system is in every partition). A row of BLEU has {row:.0f} bytes in Arrow's layout (computed here,
without compression), so {states * row / 1e6:.0f} MB of sums travel in place of
{text / 1e9:.0f} GB of text, 1/{text / (states * row):,.0f} of it. BLEU and chrF together are
{states * both / 1e6:.0f} MB. Data sorted by system send a hundredth of that.

**Memory.** One process keeps a row for each group: {SYSTEMS * row / 1e3:.0f} kB for {SYSTEMS}
systems, {buckets / 1e6:.0f} MB with {BUCKETS:,} buckets for significance. The rest is the engine's.
The peak of the whole process was
{found.peaks("DuckDB")} with DuckDB, {found.peaks("Polars, file by file")} with Polars
file by file, and {found.peaks("Polars")} with one scan of Polars, which reads ahead in several
files (measured). A Spark worker passes its groups on when it has 100,000 of them, so any number of
groups costs shuffled rows, not memory.

**Exactness.** The sums are 64-bit integers. The largest are the numbers of n-grams, about
{found.tokens_a_segment * SEGMENTS:.1e} for a billion segments at six bytes per token; the limit is
2⁶³ = 9.2e+18, and a total
beyond it is an error. The score is that of one machine, to the last bit."""


def _hours(ns: float) -> tuple[str, str, str]:
    hours = ns * SEGMENTS / 1e9 / 3600
    cents = f"{hours * CENTS_AN_HOUR:.1f}"
    return f"{ns:,.0f}", f"{hours:.2f}" if hours < 10 else f"{hours:.0f}", cents


def _state_bytes(metrics: tuple[Any, ...]) -> float:
    """The size of the rows of a group in the state table, in Arrow's layout."""
    import pyarrow as pa

    sums = Sums(metrics, by="system")
    names = [f"system {number:03}" for number in range(SYSTEMS)]
    text = ["a b c d"] * SYSTEMS
    sums.update(pa.table({"system": names, "hyp": text, "ref": text}))
    return pa.table(sums).nbytes / SYSTEMS


class Results:
    """The figures of benchmarks/results.json."""

    def __init__(self) -> None:
        found = json.loads(RESULTS.read_text(encoding="utf-8"))
        self._rows = found["rows"]
        about = found["machine"]
        self.machine = f"{about['processor']}, {about['python']}"
        memory = self._figures("1 M pairs, two files, private memory")
        self.bytes_a_segment = memory.get("input_bytes", 0) / 1e6
        # A token and the space behind it have some six bytes, and a pair has two texts.
        self.tokens_a_segment = self.bytes_a_segment / 2 / 6

    def _row(self, start: str) -> Any:
        return next((row for row in self._rows if row["work"].startswith(start)), None)

    def _figures(self, start: str) -> Any:
        """The figures of a row; none if it was not measured."""
        return (self._row(start) or {"figures": {}})["figures"]

    def files(self, metric: str) -> float | None:
        """Nanoseconds per pair of lines of two files, the whole process."""
        starts = {
            "bleu": "1 M pairs, two files, whole",
            "chrf": "chrF, 1 M pairs, two files, whole",
        }
        return _nanoseconds(self._figures(starts[metric]).get("truebleu"), 10**6)

    def sacrebleu(self) -> float | None:
        """The same for sacreBLEU, of the sample."""
        costs = self._figures("1 M pairs, two files, whole").get("sacrebleu, sample")
        return _nanoseconds(costs, 20_000)

    def parquet(self, engine: str) -> float | None:
        """Nanoseconds per row of Parquet files, the whole call."""
        return _nanoseconds(self._figures("Parquet, 1 M rows").get(engine), 10**6)

    def peaks(self, title: str) -> str:
        """The peak resident memory on 8 M rows, and on 1 M."""
        figures = self._figures(f"Parquet, 8 M rows, {title}")
        if not figures:
            return "not measured"
        eight, one = figures["peak_bytes"], figures["peak_bytes_of_1_M"]
        return f"{eight / 2**20:.0f} MiB on 8 million rows and {one / 2**20:.0f} MiB on one"

    def spark(self) -> float | None:
        """Nanoseconds per row, of all processes."""
        figures = self._figures("Spark, ")
        return median(figures["ns"]["stats"]) if figures else None

    @property
    def spark_rows(self) -> int:
        """The number of rows that Spark was measured on."""
        row = self._row("Spark, ")
        return int(row["work"].split()[1]) * 10**6 if row else 0

    def ray(self) -> float | None:
        """Nanoseconds per row, of all processes."""
        figures = self._figures(RAY)
        return figures["2 workers"]["parquet, stats"]["nanoseconds_a_row"] if figures else None

    @property
    def ray_rows(self) -> int:
        """The number of rows that Ray was measured on."""
        figures = self._figures(RAY)
        return int(figures["2 workers"]["rows"]) if figures else 0

    def scaling(self, start: str) -> str:
        """The rows per second of two workers, over those of one."""
        row = self._row(start)
        ratio = row["ratio"].split()[0] if row and row["ratio"] else "?"
        return f"{ratio} times"


RAY = "BLEU on Ray Data, warm"
RAY_SCALING = "BLEU on Ray Data, 2 workers with twice the rows, against 1"


def _nanoseconds(costs: Any, rows: int) -> float | None:
    return median(costs["processor_seconds"]) * 1e9 / rows if costs else None
