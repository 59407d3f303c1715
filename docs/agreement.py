"""Measures how far metrics agree with people on WMT23; writes agreement.json, and the page of it.

python docs/agreement.py TREE     TREE: the folder of mt-metrics-eval's wmt23

The page docs/agreement-with-people.md is made from the result. The data are no part of the project,
so the result is kept instead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from parts import BUILT, table

from truebleu.text.system import write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESULT = Path(__file__).with_name("agreement.json")
COMPUTED = ("bleu", "chrf", "ter")
STORED = (
    *("f200spBLEU", "BERTscore", "BLEURT-20", "COMET", "MetricX-23"),
    *("XCOMET-Ensemble", "GEMBA-MQM"),
)
STATISTICS = ("pearson", "pairwise", "spa", "acc-eq-opt")
PAIRS = {"en-de": "English-German", "he-en": "Hebrew-English", "zh-en": "Chinese-English"}
LEXICAL = ("BLEU", "chrF", "TER")


def measured(tree: str) -> dict[str, Any]:
    """What is kept of `truebleu meta`."""
    import truebleu as tb

    found = tb.meta_evaluate(
        tree=tree,
        test_set="wmt23",
        metrics=[*COMPUTED, *STORED],
        statistics=list(STATISTICS),
        workers=2,
    ).to_dict()
    return {
        "sets": [
            {
                "name": one["name"],
                "systems": len(one["systems"]),
                "items": one["items"],
                "rated": one["rated"],
            }
            for one in found["sets"]
        ],
        "metrics": [
            {
                "name": one["name"],
                "scores": {
                    task: {key: known.get(key) for key in ("value", "pairs", "hits", "epsilon")}
                    for task, known in one["scores"].items()
                },
            }
            for one in found["metrics"]
        ],
        "agreement": [one for one in found["agreement"] if one["metric"] in LEXICAL],
    }


def page() -> str:
    """The page."""
    kept = json.loads(RESULT.read_text(encoding="utf-8"))
    by_name = {one["name"]: one["scores"] for one in kept["metrics"]}
    bleu = by_name["BLEU"]
    pooled = bleu["all:sys:pairwise"]
    best = max(by_name, key=lambda name: by_name[name]["all:sys:pairwise"]["value"])
    ranges = [one for one in kept["agreement"] if one["metric"] == "BLEU"]
    rated = "; ".join(
        f"{PAIRS[one['name']]} {one['systems']} systems, {one['rated']:,} of {one['items']:,} segments"
        for one in kept["sets"]
    )
    neural = set(by_name) - {*LEXICAL, "f200spBLEU"}
    lowest = min(by_name[name][f"{pair}:sys:pearson"]["value"] for name in neural for pair in PAIRS)
    correlations = ", ".join(f"{bleu[f'{pair}:sys:pearson']['value']:.2f}" for pair in PAIRS)
    segment = ", ".join(f"{bleu[f'{pair}:seg:pearson']['value']:.2f}" for pair in PAIRS)
    return f"""{BUILT}
# How far metrics agree with people

A metric stands in for people's judgement. How well it does so can be measured on translations that
people have judged. `truebleu meta` does that with your own judgements, in [any of these
formats](command-line.md#metrics-against-people):

```
truebleu meta --human mqm.seg.score reference.de -i systems/*.de -m bleu chrf ter -o agreement.html
```

The numbers below are of WMT23's metrics task, whose translations were judged by MQM, with marked and weighted errors
({rated}). BLEU, chrF and TER were computed here from the text, the others are published values.
`TREE` is the folder `wmt23` of mt-metrics-eval's data, which are not part of truebleu: in a checkout `python
docs/agreement.py TREE` computes the numbers anew, and `truebleu meta --preset wmt23 --tree TREE` prints the official table, all
32 metrics and 10 tasks of it.

## Which of two systems is better?

{_systems(by_name)}

The first column is the share of all pairs of systems that the metric orders as people do; then
Pearson's correlation of
systems' scores, and SPA, which asks of each pair whether metric and people are equally sure. BLEU orders
{pooled["hits"]} of {pooled["pairs"]} pairs as people do, {best}
{by_name[best]["all:sys:pairwise"]["hits"]}. Over so few
systems a correlation is uncertain: `truebleu meta --confidence 1000` gives its interval, and a few systems far from
the others can decide it.

## What difference do people notice?

{_ranges(ranges)}

Below {ranges[0]["high"]:.1f} points of BLEU, people prefer the system with the higher BLEU in {ranges[0]["agree"]} of
{ranges[0]["pairs"]} pairs, which is no better than a coin. There a difference can be significant,
and still people do not see it. `truebleu meta` draws this for your own metric and judgements, and
`truebleu report --human FILE` puts it into a page.

## Which of two translations is better?

{_segments(by_name)}

For single segments, metrics of n-grams say little: BLEU's correlation is {segment}. acc\\*eq is the share of pairs of
translations of one source that the metric orders as people do, ties included; the value expected by
chance depends on how many ties people's judgements have.

## What the literature found

* Kishore Papineni et al. (2002), who proposed BLEU, found correlations of .99 with monolingual and .96 with bilingual
  judges, over five systems, two of them people.
* Chris Callison-Burch, Miles Osborne and Philipp Koehn (2006) showed when it fails: in NIST's evaluation of
  2005, the system that people ranked first was sixth by BLEU, and SYSTRAN, a rule-based system, did
  substantially worse by BLEU than by human judgement.
* On WMT23, over twelve to fifteen systems, BLEU's correlations are {correlations}; the lowest of the
  neural metrics in the first table is {lowest:.2f}.

## What to do

* Read BLEU together with a metric that sees other things: chrF, TER and, if there is a model for the
  language, a neural one ([metrics beside BLEU](companions.md)).
* Report a difference with its interval and its test ([is the difference real?](significance.md)), and know
  that a difference below a point or two says little about what people prefer.
* Do not use sentence scores of BLEU to choose between translations of one source.
"""


def _systems(by_name: dict[str, Any]) -> str:
    order = sorted(by_name, key=lambda name: -by_name[name]["all:sys:pairwise"]["value"])
    header = [
        "metric",
        "pairs",
        *(f"{pair} r" for pair in PAIRS),
        *(f"{pair} SPA" for pair in PAIRS),
    ]
    rows = [
        [
            name,
            f"{100 * by_name[name]['all:sys:pairwise']['value']:.1f} %",
            *(f"{by_name[name][f'{pair}:sys:pearson']['value']:.3f}" for pair in PAIRS),
            *(f"{by_name[name][f'{pair}:sys:spa']['value']:.3f}" for pair in PAIRS),
        ]
        for name in order
    ]
    return table(header, rows)


def _segments(by_name: dict[str, Any]) -> str:
    order = sorted(by_name, key=lambda name: -by_name[name]["en-de:seg:acc-eq-opt"]["value"])
    header = ["metric", *(f"{pair} r" for pair in PAIRS), *(f"{pair} acc\\*eq" for pair in PAIRS)]
    rows = [
        [
            name,
            *(f"{by_name[name][f'{pair}:seg:pearson']['value']:.3f}" for pair in PAIRS),
            *(f"{by_name[name][f'{pair}:seg:acc-eq-opt']['value']:.3f}" for pair in PAIRS),
        ]
        for name in order
    ]
    return table(header, rows)


def _ranges(ranges: list[dict[str, Any]]) -> str:
    rows = [
        [
            f"{one['low']:.1f} to {one['high']:.1f}",
            one["pairs"],
            one["agree"],
            f"{one['agree'] / one['pairs']:.0%}",
        ]
        for one in ranges
    ]
    return table(["difference in BLEU", "pairs of systems", "people agree", "share"], rows)


def main() -> None:
    """Measures, and keeps the result."""
    made = json.dumps(measured(sys.argv[1]), indent=1)
    write_whole(RESULT, (made + "\n").encode())
    print(RESULT)


if __name__ == "__main__":
    main()
