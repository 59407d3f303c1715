"""The page docs/at-scale.md: what billions of rows cost, and how certain their scores are."""

from __future__ import annotations

import json
from math import sqrt

import billion
from calibration import BUCKET_TESTS, RESULTS
from page_helpers import filled, format_table


def page() -> str:
    """Return the page."""
    return filled("at-scale", billion=billion.build_section(), significance=_significance())


def _significance() -> str:
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
                    f"{100 * counts[test][i] / trials:.1f} %"
                    for test in BUCKET_TESTS
                    for i in range(len(result["levels"]))
                ),
            )
        )
    level = result["levels"][0]
    header = [
        "buckets",
        "standard error of a difference",
        "width of an interval",
        "1 / √(2B)",
        *(
            f"`{test}` at {100 * level:.0f} %"
            for test in BUCKET_TESTS
            for level in result["levels"]
        ),
    ]
    return filled(
        "at-scale-significance",
        pool=result["pool"],
        result=", ".join(result["pairs"]),
        result_2=" and ".join(result["systems"]),
        width_trials=result["width_trials"],
        trials=trials,
        segments=result["segments"],
        level=100 * level,
        sqrt_trials_level=100 * sqrt(level * (1 - level) / trials),
        table=format_table(header, rows, left=0),
    )
