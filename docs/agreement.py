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

from page_helpers import fill_template

from truebleu.comparison import comparison_builder
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

    result = tb.meta_evaluate(
        tree=tb.TaskFolder(wmt23_folder, "wmt23"),
        metrics=[*COMPUTED, *STORED],
        statistics=tb.StatisticOptions(list(STATISTICS)),
        workers=2,
    ).to_dict()

    def select(record: dict[str, Any], *keys: str) -> dict[str, Any]:
        return {key: record.get(key) for key in keys}

    sets = [{**one, "systems": len(one["systems"])} for one in result["sets"]]
    metrics = [
        {
            "name": one["name"],
            "scores": {
                task: select(known, "value", "pairs", "hits", "epsilon")
                for task, known in one["scores"].items()
            },
        }
        for one in result["metrics"]
    ]
    return {
        "sets": [select(one, "name", "systems", "items", "rated") for one in sets],
        "metrics": metrics,
        "agreement": [one for one in result["agreement"] if one["metric"] in LEXICAL],
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
    results = read_measurements()
    metrics = {one["name"]: one["scores"] for one in results["metrics"]}
    values = {
        name: {task: score["value"] for task, score in tasks.items()}
        for name, tasks in metrics.items()
    }
    neural = [name for name in values if name not in (*LEXICAL, "f200spBLEU")]
    best = max(values, key=lambda name: values[name][POOLED])
    return fill_template(
        "agreement-with-people",
        PAIRS=PAIRS,
        POOLED=POOLED,
        sets=results["sets"],
        ranges=[one for one in results["agreement"] if one["metric"] == "BLEU"],
        values=values,
        ranked=lambda task: sorted(values, key=lambda name: -values[name][task]),
        pooled=metrics["BLEU"][POOLED],
        best=best,
        hits_of_best=metrics[best][POOLED]["hits"],
        lowest=min(values[name][f"{pair}:sys:pearson"] for name in neural for pair in PAIRS),
    )


def main() -> None:
    """Measure the agreement if TREE is given, and write the data for the package."""
    if len(sys.argv) > 1:
        _write_json(RESULT, measure_metric_agreement(sys.argv[1]))
    _write_json(comparison_builder.HUMAN_AGREEMENT, build_package_data())


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
    print(path)


if __name__ == "__main__":
    main()
