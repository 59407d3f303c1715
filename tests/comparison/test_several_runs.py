"""Systems with several runs: however they are passed, the mean over runs and what is said of it."""

from __future__ import annotations

import random
import statistics

import pytest
from paths import ROOT

import truebleu
from truebleu import BLEU, InputError, compare

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCE = EXAMPLES / "reference.a.en"
LINES = REFERENCE.read_text("utf-8").splitlines()
FEW = {"samples": 99, "confidence": 99}


def run(share, seed):
    """An output that misses some words: a run of a system."""
    dice = random.Random(seed)
    return [" ".join(w for w in line.split() if dice.random() > share) for line in LINES]


RUNS = {"old": [run(0.2, i) for i in range(3)], "new": [run(0.1, i) for i in range(3, 5)]}


@pytest.fixture(scope="module")
def found():
    """Three runs of one system and two of another."""
    return compare(RUNS, LINES, metrics=["bleu", "chrf"], documents=["d", "e"] * 64, **FEW)


def test_the_score_is_the_mean_over_runs(found):
    for name, runs in RUNS.items():
        scores = [float(truebleu.bleu(one, LINES)) for one in runs]
        own = found[name]["scores"]["BLEU"]
        assert found[name]["runs"] == len(runs)
        assert own["score"] == pytest.approx(statistics.fmean(scores))
        assert own["runs"]["scores"] == scores
        assert own["runs"]["deviation"] == pytest.approx(statistics.stdev(scores))
        assert own["interval"]["low"] < own["score"] < own["interval"]["high"]
    difference = found["new"]["scores"]["BLEU"]["difference"]
    assert difference["significant"]
    assert difference["errors"]["runs"] > 0 < difference["errors"]["test_set"]
    assert difference["wins"] + difference["ties"] + difference["losses"] == 128


def test_documents_and_segments_are_means_over_runs(found):
    [first, _] = found.to_dict()["documents"]
    scores = [float(truebleu.bleu(one[::2], LINES[::2])) for one in RUNS["old"]]
    assert first["scores"]["BLEU"]["old"] == pytest.approx(statistics.fmean(scores))


def test_what_is_said_of_runs(found):
    text = str(found)
    assert "± runs" in text
    notes = [note["text"] for note in found.to_dict()["notes"] if note["kind"] == "runs"]
    assert len(notes) == 2
    assert notes[0].startswith("BLEU, new against old: the variation from runs, ")
    assert "than the variation from the test set" in notes[0]
    assert "and runs differed as much as they do here" in text
    assert "|runs:var|" in text
    signature = found.to_dict()["metrics"][0]["signature"]
    assert truebleu.metric(signature) == BLEU(effective_order=False)


def test_one_system_with_runs_is_told_of_as_well():
    found = compare({"old": RUNS["old"]}, LINES, **FEW)
    [note] = [one for one in found.to_dict()["notes"] if one["kind"] == "runs"]
    assert "(standard deviation of 3 runs, standard error of the mean)" in note["text"]
    assert "|runs:3|" in str(found)


def test_the_ways_to_pass_runs_say_the_same(tmp_path, found):
    paths = {}
    for name, runs in RUNS.items():
        paths[name] = []
        for i, lines in enumerate(runs):
            paths[name].append(tmp_path / f"{name}.{i}.en")
            paths[name][-1].write_text("\n".join(lines) + "\n", "utf-8")
    named = {name: {f"seed {i}": one for i, one in enumerate(runs)} for name, runs in RUNS.items()}
    options = {**FEW, "metrics": ["bleu", "chrf"], "documents": ["d", "e"] * 64}
    for systems in (paths, named, {name: tuple(runs) for name, runs in RUNS.items()}):
        assert compare(systems, LINES, **options).to_dict() == found.to_dict()


def test_a_list_of_lists_is_tokens_for_metrics_of_tokens():
    tokens = [line.split() for line in LINES]
    references = [[one] for one in tokens]
    metric = BLEU(tokenize="none")
    found = compare({"a": tokens, "b": tokens}, references, metrics=[metric], **FEW)
    assert found["a"]["runs"] == 1
    runs = {"a": {"1": tokens, "2": tokens}, "b": tokens}
    assert compare(runs, references, metrics=[metric], **FEW)["a"]["runs"] == 2
    # As before: what is wrong with tokens is said.
    with pytest.raises(InputError, match="tokens already needs tokenize='none'"):
        compare({"a": tokens}, LINES, **FEW)


def test_scores_from_elsewhere_have_runs_too():
    dice = random.Random(1)
    columns = {"old": [[dice.random() for _ in range(128)] for _ in range(3)]}
    columns["new"] = [[dice.random() for _ in range(128)] for _ in range(2)]
    both = compare(RUNS, LINES, scores={"X": columns}, **FEW)
    alone = compare(None, None, metrics=(), scores={"X": columns}, **FEW)
    assert alone["old"]["scores"]["X"] == both["old"]["scores"]["X"]
    expected = statistics.fmean(map(statistics.fmean, columns["old"]))
    assert both["old"]["scores"]["X"]["score"] == pytest.approx(expected)
    with pytest.raises(ValueError, match="scores: X: expected 3 runs of old, found 1"):
        compare(RUNS, LINES, scores={"X": {**columns, "old": columns["old"][0]}})


def test_a_system_with_one_run_is_named():
    found = compare({**RUNS, "new": RUNS["new"][0]}, LINES, **FEW)
    [note] = [one for one in found.to_dict()["notes"] if one["kind"] == "one run"]
    assert note["text"].startswith("new has one run: the variance between runs is estimated")
    assert found["new"]["scores"]["BLEU"]["details"]


def test_one_run_each_changes_nothing():
    plain = {name: runs[0] for name, runs in RUNS.items()}
    wrapped = {name: {"only": one} for name, one in plain.items()}
    found = compare(plain, LINES, **FEW).to_dict()
    assert compare(wrapped, LINES, **FEW).to_dict() == found
    assert found["systems"][0]["scores"]["BLEU"]["runs"] is None
    assert "runs" not in found["metrics"][0]["signature"]


@pytest.mark.parametrize("test", ["koehn", "bs-sacrebleu"])
def test_tests_that_know_no_runs_are_refused(test):
    with pytest.raises(ValueError, match=f"test: '{test}' does not support multiple runs"):
        compare(RUNS, LINES, test=test)


def test_wrong_runs_are_refused():
    with pytest.raises(InputError, match=r"new \(run 2\): .*127"):
        compare({**RUNS, "new": {"1": LINES, "2": LINES[:-1]}}, LINES)
    with pytest.raises(ValueError, match="systems: new has no runs"):
        compare({**RUNS, "new": {}}, LINES)
    with pytest.raises(ValueError, match="does not support multiple runs per system"):
        truebleu.report(RUNS, LINES)
