"""The page docs/at-scale.md: what billions of rows cost, and how certain their scores are."""

from __future__ import annotations

import json
from math import sqrt

import billion
from blocks import RESULT, TESTS
from parts import BUILT, table


def page() -> str:
    """The page."""
    return f"""{BUILT}
# At scale

[Data where they are](engines.md) says how each engine counts its rows. This page says what that costs for
billions of rows, and how to get intervals and tests without keeping a row per segment.

{billion.section()}

{_significance()}
"""


def _significance() -> str:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
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
                    for test in TESTS
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
        *(f"`{test}` at {100 * level:.0f} %" for test in TESTS for level in result["levels"]),
    ]
    return f"""## Significance at scale

Intervals and tests need more than one total per system, and a row per segment is too much for a
billion segments. Buckets are a middle way: a segment's id is hashed, and with `bucket=("id",
1000)` a system has the totals of a thousand random groups of its segments. Here `frame` is
[a table of three systems](engines.md#the-tables-of-this-page). Any table of Arrow will do, and sums of any engine.

```python
from truebleu.engines import Sums, compare, intervals

sums = Sums("bleu", by="system", bucket=("id", 1000)).update(frame)
intervals(sums)  # system -> score and interval
compare(sums, baseline="birch").differences  # system -> difference, interval and p
```

The hash is fixed: FNV-1a of 64 bits over the id's bytes (a string's UTF-8; an integer's 8, little
end first), finished as splitmix64 does, modulo the number of buckets; `bucket_of` has it in ten
lines of Python. The same segment falls into the same bucket, whichever system, file or machine it comes from.
Systems whose buckets have different numbers of segments are refused.

This is block resampling. Ids say nothing about the text, so a bucket is a random group, and the
sums of B buckets vary as those of the segments do. The score stays exact; the *standard error* loses
precision, because it is estimated from B units: its own uncertainty is about 1 / √(2B). A
difference of z standard errors is tested with a variance larger by the factor 1 + z² / B, because
all segments of a bucket change places together. That makes large differences slightly less
significant.

Measured on {result["pool"]:,} segments of WMT22 ({", ".join(result["pairs"])}), translated by
{" and ".join(result["systems"])}, with BLEU. The first columns are the ratio of what buckets give
to what segments give, over
{result["width_trials"]} ways to put the same segments into buckets. The last are false positives:
how often a test calls equal systems different, in {trials:,} test sets of {result["segments"]:,}
segments, in each of which the systems change places by the toss of a coin (a share near
{100 * level:.0f} % has a standard error of {100 * sqrt(level * (1 - level) / trials):.2f} %):

{table(header, rows, left=0)}

Use a thousand buckets. An uncertainty of 3 % in the width of an interval does not matter, and a
thousand rows per system cost almost nothing. In a checkout `docs/blocks.py` makes the table."""
