"""Build the page docs/at-scale.md about the cost and the statistics of billions of rows."""

from __future__ import annotations

import json
from math import sqrt

import billion
from calibration import BUCKET_TESTS, RESULTS
from page_helpers import fill_template, format_table


def build_page() -> str:
    """Return the page docs/at-scale.md."""
    return fill_template(
        "at-scale", billion=billion.build_section(), significance=_build_significance_section()
    )


def _build_significance_section() -> str:
    result = json.loads(RESULTS["buckets"].read_text(encoding="utf-8"))
    trials = result["null_trials"]
    rows = []
    for buckets in map(str, result["buckets"]):
        width, counts = result["widths"][buckets], result["rejections"][buckets]
        rows.append(
            (
                f"{int(buckets):,}",
                *(f"{mean:.3f} ± {deviation:.3f}" for mean, deviation in width.values()),
                f"{1 / sqrt(2 * int(buckets)):.3f}",
                *(
                    f"{100 * counts[test][i] / trials:.1f}%"
                    for test in BUCKET_TESTS
                    for i in range(len(result["levels"]))
                ),
            )
        )
    level = result["levels"][0]
    header = [
        "buckets",
        "standard error of a difference (ratio)",
        "interval width (ratio)",
        "1 / √(2B)",
        *(f"`{test}` at {100 * level:.0f}%" for test in BUCKET_TESTS for level in result["levels"]),
    ]
    return fill_template(
        "at-scale-significance",
        pool=result["pool"],
        result=", ".join(result["pairs"]),
        result_2=" and ".join(result["systems"]),
        width_trials=result["width_trials"],
        trials=trials,
        segments=result["segments"],
        level=100 * level,
        sqrt_trials_level=100 * sqrt(level * (1 - level) / trials),
        table=format_table(header, rows, left_aligned=0),
    )
