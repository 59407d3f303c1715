"""Measure how well metrics agree with human scores on WMT23, and build the page with the results.

python docs/agreement.py TREE   writes agreement.json and truebleu/comparison/human_agreement.json
python docs/agreement.py        rebuilds human_agreement.json from agreement.json

TREE is mt-metrics-eval's folder wmt23. `build_page` builds docs/agreement-with-people.md from
agreement.json. The data are not part of the project, so only the result is stored.
`truebleu compare` and reports quote human_agreement.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from page_helpers import fill_template, format_table

from truebleu.comparison import human_agreement
from truebleu.text.operating_system import write_atomically

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
POOLED = "all:sys:pairwise"
DATA_NAME = "WMT23"


def measure_metric_agreement(wmt23_folder: str) -> dict[str, Any]:
    """Return the parts of `truebleu meta`'s result that the page shows."""
    import truebleu as tb

    meta_evaluation = tb.meta_evaluate(
        tree=tb.TaskFolder(wmt23_folder, "wmt23"),
        metrics=[*COMPUTED, *STORED],
        statistics=tb.StatisticOptions(list(STATISTICS)),
        workers=2,
    ).to_dict()
    measures = ("value", "pairs", "hits", "epsilon")
    sets = [{**one, "systems": len(one["systems"])} for one in meta_evaluation["sets"]]
    return {
        "sets": [{key: one[key] for key in ("name", "systems", "items", "rated")} for one in sets],
        "metrics": [
            {
                "name": one["name"],
                "scores": {
                    task: {key: known.get(key) for key in measures}
                    for task, known in one["scores"].items()
                },
            }
            for one in meta_evaluation["metrics"]
        ],
        "agreement": [one for one in meta_evaluation["agreement"] if one["metric"] in LEXICAL],
    }


def build_package_data() -> dict[str, Any]:
    """Return the agreement by size of the score difference, for metrics with default settings.

    A range starts where the previous one ends, so that there are no gaps.
    """
    metrics: dict[str, list[dict[str, Any]]] = {}
    for name in LEXICAL:
        ranges = [one for one in read_measurements()["agreement"] if one["metric"] == name]
        ends = [None, *(one["high"] for one in ranges[:-1]), None]
        metrics[name.lower()] = [
            {"above": above, "up_to": up_to, "pairs": one["pairs"], "agree": one["agree"]}
            for one, above, up_to in zip(ranges, ends[:-1], ends[1:], strict=True)
        ]
    return {"data": DATA_NAME, "metrics": metrics}


def read_measurements() -> dict[str, Any]:
    """Return the recorded measurements."""
    return dict(json.loads(RESULT.read_text(encoding="utf-8")))


def build_page() -> str:
    """Return the page docs/agreement-with-people.md."""
    recorded_results = read_measurements()
    scores_by_metric = {one["name"]: one["scores"] for one in recorded_results["metrics"]}
    bleu = scores_by_metric["BLEU"]
    pooled = bleu[POOLED]
    best = max(scores_by_metric, key=lambda name: scores_by_metric[name][POOLED]["value"])
    ranges = [one for one in recorded_results["agreement"] if one["metric"] == "BLEU"]
    rated = "; ".join(
        f"{PAIRS[one['name']]} with {one['systems']} systems and scores for "
        f"{one['rated']:,} of {one['items']:,} segments"
        for one in recorded_results["sets"]
    )
    neural = set(scores_by_metric) - {*LEXICAL, "f200spBLEU"}
    lowest = min(
        scores_by_metric[name][f"{pair}:sys:pearson"]["value"] for name in neural for pair in PAIRS
    )
    correlations = ", ".join(f"{bleu[f'{pair}:sys:pearson']['value']:.2f}" for pair in PAIRS)
    segment = ", ".join(f"{bleu[f'{pair}:seg:pearson']['value']:.2f}" for pair in PAIRS)
    return fill_template(
        "agreement-with-people",
        rated=rated,
        systems=_format_score_table(
            scores_by_metric,
            {"pairs": POOLED} | _name_tasks("r", "sys:pearson") | _name_tasks("SPA", "sys:spa"),
            POOLED,
        ),
        hits=pooled["hits"],
        pairs=pooled["pairs"],
        best=best,
        hits_2=scores_by_metric[best][POOLED]["hits"],
        ranges=_format_agreement_table(ranges),
        high=ranges[0]["high"],
        agree=ranges[0]["agree"],
        pairs_2=ranges[0]["pairs"],
        segments=_format_score_table(
            scores_by_metric,
            _name_tasks("r", "seg:pearson") | _name_tasks("acc\\*eq", "seg:acc-eq-opt"),
            "en-de:seg:acc-eq-opt",
        ),
        segment=segment,
        correlations=correlations,
        lowest=lowest,
    )


def _name_tasks(title: str, task: str) -> dict[str, str]:
    """Return a task of each language pair, by the column's title."""
    return {f"{pair} {title}": f"{pair}:{task}" for pair in PAIRS}


def _format_score_table(scores_by_metric: dict[str, Any], tasks: dict[str, str], order: str) -> str:
    """Return a table with a row per metric and a column per task, sorted by one task."""
    rows = [
        [
            name,
            *(
                format(scores[task]["value"], ".1%" if title == "pairs" else ".3f")
                for title, task in tasks.items()
            ),
        ]
        for name, scores in sorted(
            scores_by_metric.items(), key=lambda item: -item[1][order]["value"]
        )
    ]
    return format_table(["metric", *tasks], rows)


def _format_agreement_table(ranges: list[dict[str, Any]]) -> str:
    rows = [
        [
            f"{one['low']:.1f} to {one['high']:.1f}",
            one["pairs"],
            one["agree"],
            f"{one['agree'] / one['pairs']:.0%}",
        ]
        for one in ranges
    ]
    return format_table(
        ["difference in BLEU", "pairs of systems", "pairs on which human scores agree", "share"],
        rows,
    )


def main() -> None:
    """Measure the agreement if TREE is given, and write the data for the package."""
    if len(sys.argv) > 1:
        _write_json(RESULT, measure_metric_agreement(sys.argv[1]))
    _write_json(human_agreement.DATA, build_package_data())


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
    print(path)


if __name__ == "__main__":
    main()
