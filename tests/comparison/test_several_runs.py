"""Tests of systems with several runs: input forms, means over runs, and notes."""

from __future__ import annotations

import random
import statistics

import pytest
from paths import read_example_lines

import truebleu
from truebleu import BLEU, InputError, compare

LINES = read_example_lines("de-en/reference.a.en")
FEW_SAMPLES = {"samples": 99, "confidence": 99}


def run(share, seed):
    """Return an output that misses some words, as one run of a system."""
    dice = random.Random(seed)
    return [" ".join(w for w in line.split() if dice.random() > share) for line in LINES]


RUNS = {"old": [run(0.2, i) for i in range(3)], "new": [run(0.1, i) for i in range(3, 5)]}


@pytest.fixture(scope="module")
def comparison():
    """Three runs of one system and two of another."""
    return compare(RUNS, LINES, metrics=["bleu", "chrf"], documents=["d", "e"] * 64, **FEW_SAMPLES)


def test_score_is_mean_over_runs(comparison):
    for name, runs in RUNS.items():
        scores = [float(truebleu.bleu(one, LINES)) for one in runs]
        score = comparison[name]["scores"]["BLEU"]
        assert comparison[name]["runs"] == len(runs)
        assert score["score"] == pytest.approx(statistics.fmean(scores))
        assert score["runs"]["scores"] == scores
        assert score["runs"]["deviation"] == pytest.approx(statistics.stdev(scores))
        assert score["interval"]["low"] < score["score"] < score["interval"]["high"]
    difference = comparison["new"]["scores"]["BLEU"]["difference"]
    assert difference["significant"]
    assert difference["errors"]["runs"] > 0 < difference["errors"]["test_set"]
    assert difference["wins"] + difference["ties"] + difference["losses"] == 128


def test_document_scores_are_means_over_runs(comparison):
    [first, _] = comparison.to_dict()["documents"]
    scores = [float(truebleu.bleu(one[::2], LINES[::2])) for one in RUNS["old"]]
    assert first["scores"]["BLEU"]["old"] == pytest.approx(statistics.fmean(scores))


def test_notes_and_signature_describe_runs(comparison):
    text = str(comparison)
    assert "± runs" in text
    notes = [note["text"] for note in comparison.to_dict()["notes"] if note["kind"] == "runs"]
    assert all(note.startswith("new against old: the variation between runs is ") for note in notes)
    sizes = " ".join(notes)
    assert "than the variation due to the test set (standard errors of the difference: " in sizes
    assert sizes.count("BLEU ") == sizes.count("chrF2 ") == 1
    assert "and runs differed as much as they do here" in comparison.text(100, explain=True)
    assert "|runs:var|" in text
    signature = comparison.to_dict()["metrics"][0]["signature"]
    assert truebleu.metric(signature) == BLEU(effective_order=False)


def test_single_system_with_runs_has_note():
    single_comparison = compare({"old": RUNS["old"]}, LINES, **FEW_SAMPLES)
    [note] = [one for one in single_comparison.to_dict()["notes"] if one["kind"] == "runs"]
    assert "(standard deviation of 3 runs, standard error of the mean: BLEU " in note["text"]
    assert "|runs:3|" in str(single_comparison)


def test_files_mappings_and_tuples_of_runs_give_equal_results(write, comparison):
    paths = {
        name: [write(f"{name}.{i}.en", lines) for i, lines in enumerate(runs)]
        for name, runs in RUNS.items()
    }
    named_runs = {
        name: {f"seed {i}": one for i, one in enumerate(runs)} for name, runs in RUNS.items()
    }
    options = {**FEW_SAMPLES, "metrics": ["bleu", "chrf"], "documents": ["d", "e"] * 64}
    for systems in (paths, named_runs, {name: tuple(runs) for name, runs in RUNS.items()}):
        assert compare(systems, LINES, **options).to_dict() == comparison.to_dict()


def test_list_of_lists_is_one_run_for_tokenized_metric():
    tokens = [line.split() for line in LINES]
    references = [[one] for one in tokens]
    metric = BLEU(tokenize="none")
    systems = {"a": tokens, "b": tokens}
    assert compare(systems, references, metrics=[metric], **FEW_SAMPLES)["a"]["runs"] == 1
    runs = {"a": {"1": tokens, "2": tokens}, "b": tokens}
    assert compare(runs, references, metrics=[metric], **FEW_SAMPLES)["a"]["runs"] == 2
    # Errors about tokens are still reported.
    with pytest.raises(InputError, match="tokens require tokenize='none'"):
        compare({"a": tokens}, LINES, **FEW_SAMPLES)


def test_external_scores_can_have_runs():
    dice = random.Random(1)
    columns = {
        name: [[dice.random() for _ in range(128)] for _ in runs] for name, runs in RUNS.items()
    }
    combined = compare(RUNS, LINES, scores={"X": columns}, **FEW_SAMPLES)
    external_only = compare(None, None, metrics=(), scores={"X": columns}, **FEW_SAMPLES)
    assert external_only["old"]["scores"]["X"] == combined["old"]["scores"]["X"]
    expected = statistics.fmean(map(statistics.fmean, columns["old"]))
    assert combined["old"]["scores"]["X"]["score"] == pytest.approx(expected)
    with pytest.raises(ValueError, match="scores: X: expected 3 runs of old, found 1"):
        compare(RUNS, LINES, scores={"X": {**columns, "old": columns["old"][0]}})


def test_system_with_single_run_has_note():
    mixed_comparison = compare({**RUNS, "new": RUNS["new"][0]}, LINES, **FEW_SAMPLES)
    [note] = [one for one in mixed_comparison.to_dict()["notes"] if one["kind"] == "one run"]
    assert note["text"].startswith("new has only one run, so the variance between runs is")
    assert mixed_comparison["new"]["scores"]["BLEU"]["details"]


def test_single_runs_equal_plain_systems():
    plain = {name: runs[0] for name, runs in RUNS.items()}
    wrapped = {name: {"only": one} for name, one in plain.items()}
    plain_content = compare(plain, LINES, **FEW_SAMPLES).to_dict()
    assert compare(wrapped, LINES, **FEW_SAMPLES).to_dict() == plain_content
    assert plain_content["systems"][0]["scores"]["BLEU"]["runs"] is None
    assert "runs" not in plain_content["metrics"][0]["signature"]


@pytest.mark.parametrize("test", ["koehn", "bs-sacrebleu"])
def test_tests_without_run_support_are_refused(test):
    with pytest.raises(ValueError, match=f"test: '{test}' does not support multiple runs"):
        compare(RUNS, LINES, test=test)


def test_invalid_runs_are_refused():
    with pytest.raises(InputError, match=r"new \(run 2\): .*127"):
        compare({**RUNS, "new": {"1": LINES, "2": LINES[:-1]}}, LINES)
    with pytest.raises(ValueError, match="systems: new has no runs"):
        compare({**RUNS, "new": {}}, LINES)
    with pytest.raises(ValueError, match="does not support multiple runs per system"):
        truebleu.report(RUNS, LINES)
    with pytest.raises(ValueError, match="hypotheses: expected one output, found several runs"):
        truebleu.check([LINES, LINES], LINES, minimum=30)


@pytest.mark.parametrize("ids", [[[5, 6, 7]] * 127, [[[5, 6, 7]] * 127] * 2])
def test_token_ids_in_lists_name_the_function_that_converts_them(ids):
    with pytest.raises((TypeError, InputError), match=r"[Cc]onvert.*with tb\.token_ids"):
        compare({"A": ids}, [[5, 6, 7]] * 127)
