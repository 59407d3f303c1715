"""WMT22 from a mirror to the scores that were published with it, on the command line."""

import csv
import json
import math
import shutil
import sys
from collections import defaultdict
from dataclasses import replace

import pytest
from test_readers import xml_of

from truebleu.cli import main
from truebleu.testsets import catalogue

METRICS = {"BLEU": "bleu", "chrF2": "chrf"}
# What WMT22 scored with another tokenizer than the pair picks.
TOKENIZERS = {"en-ja": ("-tok", "char")}
SOME = ("ja-en", "en-hr", "en-zh")


@pytest.fixture
def mirror(archives, monkeypatch):
    """Serves the pairs of WMT22 as a mirror does, in an archive with the catalogue's address."""

    def serve(*pairs: str) -> str:
        entry = catalogue.get_entry("wmt22")
        _, md5 = archives.make(
            "made.tar.gz", {entry.list_files(pair)[0]: xml_of(pair)[0] for pair in pairs}
        )
        (archive,) = entry.archives
        place = archives.folder / archive.address.partition("://")[2]
        place.parent.mkdir(parents=True)
        shutil.move(archives.folder / "made.tar.gz", place)
        known = replace(entry, archives=(catalogue.Archive(archive.address, md5),))
        monkeypatch.setitem(catalogue._load_published(), "wmt22", known)
        return f"http://127.0.0.1:{archives.server.server_port}"

    return serve


@pytest.fixture
def scores(capfd):
    """Runs `truebleu score` and gives its scores by system and metric."""

    def run(*words: str) -> dict[tuple[str, str], float]:
        status = main(["score", *words, "-f", "json", "-q"])
        told = capfd.readouterr()
        assert (status, told.err) == (0, "")
        found = json.loads(told.out)["scores"]
        return {(one["system"], one["name"]): one["score"] for one in found}

    return run


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_the_published_scores_come_out(shared, mirror, scores, several):
    published = defaultdict(dict)
    path = shared / "data" / "wmt22" / "published_scores.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["reproducible"] == "yes" and row["metric"] in METRICS:
                key = row["pair"], row["reference_order"]
                published[key][row["system"], row["metric"]] = float(row["published_score"])
    pairs = sorted({pair for pair, _ in published}) if several else SOME
    address = mirror(*pairs)
    # Since Python 3.12 sums of floats are more exact than they were when WMT22 was scored.
    room = 0 if sys.version_info < (3, 12) else 1e-14
    done = 0
    for (pair, references), wanted in published.items():
        if pair not in pairs:
            continue
        systems = dict.fromkeys(system for system, _ in wanted)
        found = scores(
            *("-t", "wmt22", "-l", pair, "--mirror", address, "-m", *METRICS.values()),
            *("--ref", *references.split(","), *TOKENIZERS.get(pair, ())),
            *("-i", *(f"@{system}" for system in systems)),
        )
        for (system, metric), value in wanted.items():
            assert math.isclose(found[system, metric], value, rel_tol=room), (
                pair,
                references,
                system,
                metric,
            )
            done += 1
    assert done == (672 if several else 2 * (14 + 27 + 39))
