"""WMT22 from a mirror to its published scores, on the command line."""

import csv
import json
import math
import shutil
import sys
from collections import defaultdict
from dataclasses import replace

import pytest
from test_readers import make_wmt22_xml

from truebleu.cli import main
from truebleu.testsets import catalogue

METRICS = {"BLEU": "bleu", "chrF2": "chrf"}
# Pairs for which WMT22 used another tokenizer than truebleu's default.
TOKENIZERS = {"en-ja": ("-tok", "char")}
QUICK_PAIRS = ("ja-en", "en-hr", "en-zh")


@pytest.fixture
def mirror(archives, monkeypatch):
    """Return a function that serves language pairs of WMT22 like a mirror."""

    def serve(*pairs: str) -> str:
        entry = catalogue.get_entry("wmt22")
        _, md5 = archives.make(
            "made.tar.gz", {entry.list_files(pair)[0]: make_wmt22_xml(pair)[0] for pair in pairs}
        )
        (archive,) = entry.archives
        target = archives.folder / archive.address.partition("://")[2]
        target.parent.mkdir(parents=True)
        shutil.move(archives.folder / "made.tar.gz", target)
        served_entry = replace(entry, archives=(catalogue.Archive(archive.address, md5),))
        monkeypatch.setitem(catalogue._load_published_entries(), "wmt22", served_entry)
        return f"http://127.0.0.1:{archives.server.server_port}"

    return serve


@pytest.fixture
def score_test_set(capfd):
    """Return a function that runs `truebleu score` and returns scores by system and metric."""

    def run(*words: str) -> dict[tuple[str, str], float]:
        status = main(["score", *words, "-f", "json", "-q"])
        output = capfd.readouterr()
        assert (status, output.err) == (0, "")
        compute_scores = json.loads(output.out)["scores"]
        return {(score["system"], score["name"]): score["score"] for score in compute_scores}

    return run


@pytest.mark.parametrize("all_pairs", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_published_scores_are_reproduced(shared, mirror, score_test_set, all_pairs):
    published = defaultdict(dict)
    path = shared / "data" / "wmt22" / "published_scores.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["reproducible"] == "yes" and row["metric"] in METRICS:
                key = row["pair"], row["reference_order"]
                published[key][row["system"], row["metric"]] = float(row["published_score"])
    pairs = sorted({pair for pair, _ in published}) if all_pairs else QUICK_PAIRS
    address = mirror(*pairs)
    # Sums of floats are more exact since Python 3.12 than when WMT22 was scored.
    tolerance = 0 if sys.version_info < (3, 12) else 1e-14
    compared_count = 0
    for (pair, references), expected_scores in published.items():
        if pair not in pairs:
            continue
        systems = dict.fromkeys(system for system, _ in expected_scores)
        system_scores = score_test_set(
            *("-t", "wmt22", "-l", pair, "--mirror", address, "-m", *METRICS.values()),
            *("--ref", *references.split(","), *TOKENIZERS.get(pair, ())),
            *("-i", *(f"@{system}" for system in systems)),
        )
        for (system, metric), value in expected_scores.items():
            assert math.isclose(system_scores[system, metric], value, rel_tol=tolerance), (
                pair,
                references,
                system,
                metric,
            )
            compared_count += 1
    assert compared_count == (672 if all_pairs else 2 * (14 + 27 + 39))
