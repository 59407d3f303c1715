"""Tests of reading scores in the formats of COMET and MetricX, and of errors in other files."""

import json
from pathlib import Path

import pytest

import truebleu as tb
from truebleu import InputError
from truebleu.cli import main
from truebleu.comparison import external_scores as given_scores

NUMBERS = {"aspen": [0.5, 0.25, -0.125], "birch": [0.75, 1.0, 0.0]}
FILES = {"aspen": "outputs/aspen.en", "birch": "outputs/birch.en"}
SYSTEMS = list(NUMBERS)


def read_scores(name, columns, systems):
    columns_by_system = given_scores.read_metric_scores(name, columns, systems)
    return {system: list(numbers) for system, numbers in columns_by_system.items()}


@pytest.fixture
def write_scores(tmp_path):
    def write_file(text, name="scores"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def segment(number, **extra_fields):
    texts = {"src": "ein Satz", "mt": "a sentence", "ref": "the sentence"}
    return {**texts, "COMET": number, **extra_fields}


def comet_json(**extra_fields):
    """Return JSON as written by `comet-score --to_json`."""
    content = {
        FILES[name]: [segment(number, **extra_fields) for number in column]
        for name, column in NUMBERS.items()
    }
    return json.dumps(content, ensure_ascii=False, indent=4)


def comet_printed():
    """Return the printed output of `comet-score`: segment by segment, alternating between files."""
    lines = [
        f"{FILES[name]}\tSegment {i}\tscore: {NUMBERS[name][i]:.4f}"
        for i in range(3)
        for name in SYSTEMS
    ]
    lines += [f"{FILES[name]}\tscore: {sum(NUMBERS[name]) / 3:.4f}" for name in SYSTEMS]
    return "\n".join([*lines, "Predictions saved in: out.json."]) + "\n"


def comet_compare():
    content = {
        "model": "some/model",
        "statistical_results": [],
        "source": ["ein Satz"] * 3,
        "translations": [
            {"name": FILES[name], "mt": ["a"] * 3, "scores": column}
            for name, column in NUMBERS.items()
        ],
    }
    return json.dumps(content, indent=4)


def xcomet_json():
    span = {"text": "a", "confidence": 0.4, "severity": "minor", "start": 0, "end": 1}
    return comet_json(errors=[span])


def plain_json():
    return json.dumps(NUMBERS)


FORMS = [comet_json, comet_printed, comet_compare, xcomet_json, plain_json]


def metricx(system):
    """Return JSON lines as written by MetricX, one file per system."""
    rows = [
        {"hypothesis": "a", "reference": "b", "source": "c", "prediction": number}
        for number in NUMBERS[system]
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("form", FORMS)
def test_file_of_all_systems_gives_all_scores(form, write_scores):
    assert read_scores("COMET", write_scores(form()), SYSTEMS) == NUMBERS
    assert read_scores("COMET", write_scores(form()), None) == NUMBERS


@pytest.mark.parametrize("form", FORMS)
def test_file_of_all_systems_gives_one_system(form, write_scores):
    """A file of several systems can be passed for one system, or for each of them."""
    path = write_scores(form())
    assert read_scores("COMET", path, ["birch"]) == {"birch": NUMBERS["birch"]}
    assert read_scores("COMET", dict.fromkeys(SYSTEMS, path), SYSTEMS) == NUMBERS


def test_file_per_system_gives_all_scores(write_scores):
    files = {name: write_scores(metricx(name), f"{name}.jsonl") for name in SYSTEMS}
    assert read_scores("MetricX-24", files, SYSTEMS) == NUMBERS
    json_text = json.dumps({"out.txt": list(map(segment, NUMBERS["aspen"]))})
    assert read_scores("COMET", write_scores(json_text), ["mine"]) == {"mine": NUMBERS["aspen"]}


def test_single_json_line_gives_one_score(write_scores):
    path = write_scores('{"prediction": 2.5}\n')
    assert read_scores("MetricX", {"a": path}, ["a"]) == {"a": [2.5]}


def test_system_names_match_files_without_common_parts(write_scores):
    names = {"test.de-en.Online-A.en": "Online-A", "test.de-en.Online-B.en": "Online-B"}
    content = {f"out/{name}": [segment(i)] for i, name in enumerate(names)}
    assert read_scores("COMET", write_scores(json.dumps(content)), list(names.values())) == {
        "Online-A": [0.0],
        "Online-B": [1.0],
    }


WRONG = {
    "cut off": (comet_json()[:-40], r"line \d+: incomplete or invalid JSON"),
    "a line cut off": (metricx("aspen")[:-9], r"line 3: incomplete or invalid JSON"),
    "no score": ('{"aspen": [{"mt": 1}], "birch": [{"mt": 1}]}', r"missing score \(found mt\)"),
    "text": ('{"aspen": [1, "x"], "birch": [1, 2]}', "aspen, segment 2: .* a number, found 'x'"),
    "NaN": ('{"aspen": [1, NaN], "birch": [1, 2]}', "aspen, segment 2: .* a number, found nan"),
    "null": ('{"aspen": [1, null], "birch": [1, 2]}', "aspen, segment 2: .* a number, found None"),
    "a bool": ('{"aspen": [1, true], "birch": [1, 2]}', "segment 2: expected a number, found True"),
    "no list": ('{"aspen": 1, "birch": 2}', "expected a list of segments for 'aspen'"),
    "an empty object": ("{}", "expected the JSON output of COMET or MetricX"),
    "others": ('{"cedar": [1], "aspen": [1]}', "none of cedar and aspen match system 'birch'"),
    "twice": ('{"a/aspen": [1], "b/aspen": [1], "birch": [2]}', "several .* match system 'aspen'"),
    "a segment missing": (
        comet_printed().replace("outputs/aspen.en\tSegment 1\tscore: 0.2500\n", ""),
        r"line \d: expected segment 1 of outputs/aspen.en, found 2",
    ),
    "another line": (
        comet_printed() + "Traceback\n",
        "line 10: expected output of comet-score, found 'Traceback'",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_invalid_file_is_refused(kind, write_scores):
    text, message = WRONG[kind]
    with pytest.raises(InputError, match=message) as caught:
        read_scores("COMET", write_scores(text), SYSTEMS)
    assert "\n" not in str(caught.value)


def test_different_segment_counts_are_refused(write_scores):
    content = json.dumps({"aspen": [1, 2], "birch": [1, 2, 3]})
    message = r"COMET, aspen: expected one number per segment \(3\), found 2"
    with pytest.raises(InputError, match=message):
        tb.compare(None, None, metrics=(), scores={"COMET": write_scores(content)})


GERMAN = Path("examples/de-en")


def test_command_line_sets_metric_direction(tmp_path, capsys):
    """The metric name determines the direction, and command-line options override it."""
    text = {name: (GERMAN / f"{name}.en").read_text("utf-8").splitlines() for name in SYSTEMS}
    content = {
        str(GERMAN / f"{name}.en"): [segment(len(one)) for one in lines]
        for name, lines in text.items()
    }
    path = tmp_path / "out.json"
    path.write_text(json.dumps(content))
    words = ["compare", str(GERMAN / "reference.a.en"), "-i", *content, "-f", "json", "-ci", "20"]
    words += ["-parn", "20", "-m", "bleu"]
    for name, extra_words, higher in (
        ("COMET", [], True),
        ("MetricX-24-Hybrid", [], False),
        ("CharacTER", [], False),
        ("TER", [], False),
        ("WER", ["--higher-is-better", "WER"], True),
        ("Fluency", ["--lower-is-better", "Fluency"], False),
    ):
        assert main([*words, "--scores", f"{name}={path}", *extra_words]) == 0
        metric_entry = json.loads(capsys.readouterr().out)["metrics"][1]
        assert (metric_entry["name"], metric_entry["higher_is_better"]) == (name, higher)
    assert main([*words, "--scores", f"X={path}", "--higher-is-better", "Y"]) == 2
    assert "--higher-is-better: no scores are named 'Y'" in capsys.readouterr().err
    conflicting_words = ["--higher-is-better", "X", "--lower-is-better", "X"]
    assert main([*words, "--scores", f"X={path}", *conflicting_words]) == 2
    assert "--lower-is-better: X is also in higher_is_better" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[0.5, 0.25]", '{"score": 0.5}\n{"score": 0.25}\n'])
def test_list_without_system_names_is_described_for_two_systems(tmp_path, text):
    path = tmp_path / "comet.json"
    path.write_text(text)
    message = (
        r"comet.json\): found one list of 2 scores without a system name, expected the scores of "
        r"W and B\. Pass one file per system"
    )
    with pytest.raises(InputError, match=message):
        tb.compare({"W": ["a", "b"], "B": ["a", "c"]}, ["a", "b"], scores={"COMET": path})
