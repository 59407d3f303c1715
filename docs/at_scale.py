"""The page docs/at-scale.md: what very many rows cost, and how sure their scores are."""

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

[engines.md](engines.md) says how each engine sums where the data is. Here is what that costs when
there are very many rows, and how sure scores are without a row a segment.

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
        "error of a difference",
        "width of an interval",
        "1 / √(2B)",
        *(f"`{test}` at {100 * level:.0f} %" for test in TESTS for level in result["levels"]),
    ]
    return f"""## Significance at scale

Intervals and tests need more than one total of a system, and a row a segment is too much for a
billion of them. Between the two are buckets: a segment's id is hashed, and with `bucket=("id",
1000)` a system has the totals of a thousand random groups of its segments.

```python
from truebleu.engines import Sums, compare, intervals

sums = Sums("bleu", by="system", bucket=("id", 1000)).update(frame)
intervals(sums)  # system -> score and interval
compare(sums, baseline="last year's")  # the tests of `truebleu.significance`, on buckets
```

The hash is fixed: FNV-1a of 64 bits over the id's bytes (a string's UTF-8; an integer's 8, little
end first), finished as splitmix64 does, modulo the number of buckets; `bucket_of` has it in ten
lines of Python. The same segment comes into the same bucket whichever system, file or machine it is
from, and systems whose buckets have different numbers of segments are refused.

This is block resampling. Ids say nothing of the text, so a bucket is a random group, and the sums
of B buckets vary as those of the segments do. What is lost is precision of the *error*, not of the
score: it is estimated from B units, and so itself uncertain by about 1 / √(2B). Differences of z
errors are tested with a variance greater by 1 + z² / B, because in a bucket all segments change
places together, which makes large differences a little less significant.

Measured on {result["pool"]:,} segments of WMT22 ({", ".join(result["pairs"])}), translated by
{" and ".join(result["systems"])}, with BLEU. First what buckets find over what segments find, in
{result["width_trials"]} ways to put the same segments into buckets; then how often a test calls
equal systems different: of {trials:,} test sets of {result["segments"]:,} segments in each of which
the systems change places by the toss of a coin (a share near {100 * level:.0f} % has a standard
error of {100 * sqrt(level * (1 - level) / trials):.2f} %):

{table(header, rows, left=0)}

Use a thousand buckets: 3 % of an interval's width is less than anybody reads off it, and a
thousand rows a system are nothing. `docs/blocks.py` makes the table."""
