"""Scores in the forms in which COMET and MetricX write them, and what is wrong with others."""

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


def of_metric(name, columns, systems):
    found = given_scores.read_metric_scores(name, columns, systems)
    return {system: list(numbers) for system, numbers in found.items()}


@pytest.fixture
def write(tmp_path):
    def made(text, name="scores"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


def segment(number, **more):
    return {"src": "ein Satz", "mt": "a sentence", "ref": "the sentence", "COMET": number, **more}


def comet_json():
    """As `comet-score --to_json` writes it."""
    content = {FILES[name]: list(map(segment, column)) for name, column in NUMBERS.items()}
    return json.dumps(content, ensure_ascii=False, indent=4)


def comet_printed():
    """As `comet-score` prints it: segment by segment, the files in turn."""
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
    content = {
        FILES[name]: [segment(number, errors=[span]) for number in column]
        for name, column in NUMBERS.items()
    }
    return json.dumps(content, indent=4)


def plain_json():
    return json.dumps(NUMBERS)


FORMS = [comet_json, comet_printed, comet_compare, xcomet_json, plain_json]


def metricx(system):
    """As MetricX writes it: JSON lines, a file a system."""
    rows = [
        {"hypothesis": "a", "reference": "b", "source": "c", "prediction": number}
        for number in NUMBERS[system]
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("form", FORMS)
def test_files_of_all_systems(form, write):
    assert of_metric("COMET", write(form()), SYSTEMS) == NUMBERS
    assert of_metric("COMET", write(form()), None) == NUMBERS


@pytest.mark.parametrize("form", FORMS)
def test_of_one_system(form, write):
    """A file of many may be given for one system, or for each."""
    path = write(form())
    assert of_metric("COMET", path, ["birch"]) == {"birch": NUMBERS["birch"]}
    assert of_metric("COMET", dict.fromkeys(SYSTEMS, path), SYSTEMS) == NUMBERS


def test_a_file_for_each_system(write):
    files = {name: write(metricx(name), f"{name}.jsonl") for name in SYSTEMS}
    assert of_metric("MetricX-24", files, SYSTEMS) == NUMBERS
    one = json.dumps({"out.txt": list(map(segment, NUMBERS["aspen"]))})
    assert of_metric("COMET", write(one), ["mine"]) == {"mine": NUMBERS["aspen"]}


def test_one_line_of_json_lines(write):
    path = write('{"prediction": 2.5}\n')
    assert of_metric("MetricX", {"a": path}, ["a"]) == {"a": [2.5]}


def test_names_without_what_files_have_in_common(write):
    names = {"test.de-en.Online-A.en": "Online-A", "test.de-en.Online-B.en": "Online-B"}
    content = {f"out/{name}": [segment(i)] for i, name in enumerate(names)}
    assert of_metric("COMET", write(json.dumps(content)), list(names.values())) == {
        "Online-A": [0.0],
        "Online-B": [1.0],
    }


WRONG = {
    "cut off": (comet_json()[:-40], r"line \d+: incomplete or invalid JSON"),
    "a line cut off": (metricx("aspen")[:-9], r"line 3: incomplete or invalid JSON"),
    "no score": (json.dumps({"aspen": [{"mt": "a"}], "birch": [{"mt": "a"}]}), "no score among mt"),
    "text": (
        json.dumps({"aspen": [1, "x"], "birch": [1, 2]}),
        "aspen, segment 2: expected a number, found 'x'",
    ),
    "NaN": (
        '{"aspen": [1, NaN], "birch": [1, 2]}',
        "aspen, segment 2: expected a number, found nan",
    ),
    "null": (
        '{"aspen": [1, null], "birch": [1, 2]}',
        "aspen, segment 2: expected a number, found None",
    ),
    "a bool": ('{"aspen": [1, true], "birch": [1, 2]}', "segment 2: expected a number, found True"),
    "no list": ('{"aspen": 1, "birch": 2}', "expected a list of segments for 'aspen'"),
    "an empty object": ("{}", "expected the JSON output of COMET or MetricX"),
    "other systems": (
        json.dumps({"cedar.en": [1], "aspen.en": [1]}),
        "none of cedar.en and aspen.en match system 'birch'",
    ),
    "twice": (
        json.dumps({"a/aspen.en": [1], "b/aspen.en": [1], "birch.en": [2]}),
        "several of .* match system 'aspen'",
    ),
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
def test_what_is_wrong(kind, write):
    text, said = WRONG[kind]
    with pytest.raises(InputError, match=said) as caught:
        of_metric("COMET", write(text), SYSTEMS)
    assert "\n" not in str(caught.value)


def test_too_few_segments(write):
    content = json.dumps({"aspen": [1, 2], "birch": [1, 2, 3]})
    with pytest.raises(
        InputError, match=r"COMET, aspen: expected one number per segment \(3\), found 2"
    ):
        tb.compare(None, None, metrics=(), scores={"COMET": write(content)})


GERMAN = Path("examples/de-en")


def test_on_the_command_line(tmp_path, capsys):
    """Beside BLEU, with direction by name; the user's word is the last."""
    text = {name: (GERMAN / f"{name}.en").read_text("utf-8").splitlines() for name in SYSTEMS}
    content = {
        str(GERMAN / f"{name}.en"): [segment(len(one)) for one in lines]
        for name, lines in text.items()
    }
    path = tmp_path / "out.json"
    path.write_text(json.dumps(content))
    words = ["compare", str(GERMAN / "reference.a.en"), "-i", *content, "-f", "json", "-ci", "20"]
    words += ["-parn", "20", "-m", "bleu"]
    for name, more, higher in (
        ("COMET", [], True),
        ("MetricX-24-Hybrid", [], False),
        ("CharacTER", [], False),
        ("TER", [], False),
        ("WER", ["--higher-is-better", "WER"], True),
        ("Fluency", ["--lower-is-better", "Fluency"], False),
    ):
        assert main([*words, "--scores", f"{name}={path}", *more]) == 0
        made = json.loads(capsys.readouterr().out)["metrics"][1]
        assert (made["name"], made["higher_is_better"]) == (name, higher)
    assert main([*words, "--scores", f"X={path}", "--higher-is-better", "Y"]) == 2
    assert "--higher-is-better: no scores are named 'Y'" in capsys.readouterr().err
    both = ["--higher-is-better", "X", "--lower-is-better", "X"]
    assert main([*words, "--scores", f"X={path}", *both]) == 2
    assert "--lower-is-better: X is in higher_is_better, too" in capsys.readouterr().err
