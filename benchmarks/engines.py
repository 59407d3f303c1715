"""The rows of what runs where the data is: what engines cost beyond the counting itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import corpus
from measure import in_turn, job
from rows import Row, _agree, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the rows of a table are grouped by: layout of strings, columns, buckets, and what it is.
GROUPINGS = (
    ("string", "", 0, "no groups"),
    ("string", "system", 0, "8 groups"),
    ("large_string", "system", 0, "8 groups, large_string"),
    ("string_view", "system", 0, "8 groups, string_view"),
    ("dictionary", "system", 0, "8 groups, dictionary"),
    ("string", "system", 1000, "8 groups × 1,000 buckets"),
    ("string", "id", 0, "125,000 groups"),
)


@benchmark
def engine_core(runs: int) -> Iterator[Row]:
    """Sums over 1 M rows of a table in memory, beyond what metric.score takes for the same."""
    million = corpus.million()
    costs = in_turn(
        runs,
        {
            "score": lambda: job("score_arrow", *million.files),
            **{
                name: lambda layout=layout, by=by, buckets=buckets: job(  # type: ignore[misc]
                    "sums", layout, by, buckets, *million.files
                )
                for layout, by, buckets, name in GROUPINGS
            },
        },
    )
    base = costs.pop("score")
    for name, cost in costs.items():
        _agree(f"Sums ({name})", base, cost)
        beyond = 1e9 * (cost.processor - base.processor) / million.segments
        yield Row(
            f"Sums, 1 M rows in Arrow, {name}: beyond metric.score",
            "≤ 200 ns per row",
            f"{beyond:.0f} ns per row",
            f"metric.score {1e9 * base.processor / million.segments:.0f} ns per row",
            f"{cost.processor / base.processor:.2f} ×",
            beyond <= 200,
            {"sums": cost, "score": base},
        )
