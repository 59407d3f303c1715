"""Tests of the gate: minimum scores, allowed drops and significant falls."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from paths import ROOT

import truebleu as tb
from truebleu.comparison import gate
from truebleu.comparison.history import IncomparableError

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCE, OTHER_REFERENCE, CEDAR, BIRCH = (
    tb.File(str(EXAMPLES / f"{name}.en"))
    for name in ("reference.a", "reference.b", "cedar", "birch")
)
DOCUMENTS = (EXAMPLES / "documents.txt").read_text("utf-8").splitlines()
BLEU = {name: tb.bleu(file, REFERENCE).value for name, file in (("cedar", CEDAR), ("birch", BIRCH))}


NAN, INF = float("nan"), float("inf")
SIGNIFICANT = {"against": CEDAR, "significant": True}
FEW_SEGMENTS = {"hypotheses": ["a b"] * 5, "references": ["a c"] * 5, "against": ["a c"] * 5}
BLANK = {"hypotheses": ["", " "], "references": [" ", ""]}


def kinds(check: tb.Check) -> dict[str, bool]:
    return {
        one["kind"]: one["passed"]
        for metric in check.to_dict()["metrics"]
        for one in metric["conditions"]
    }


# ---- unsuitable text ----


@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
@pytest.mark.parametrize("options", [{"minimum": 1}, {"max_drop": 99, "against": CEDAR}])
@pytest.mark.parametrize("template", ["{} .", "▁{}", "&quot;{}", "a\u0301 {}", "shifted"])
def test_condition_on_unsuitable_text_fails(options, template):
    lines = list(BIRCH.read_lines())
    is_shifted = template == "shifted"
    text = lines[1:] + lines[:1] if is_shifted else [template.format(line) for line in lines]
    check = tb.check(text, REFERENCE, **options)
    (failure,) = check.failures
    assert failure.endswith("because the text is unsuitable; see the warning.")
    reason = check.to_dict()["warnings"][0]["text"]
    assert reason.endswith("are unreliable.")
    (failed_case,) = ET.fromstring(check.junit()).iter("failure")
    assert reason in failed_case.text


@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
def test_only_metrics_that_the_text_affects_fail():
    text = [f"{line} ." for line in BIRCH.read_lines()]
    check = tb.check(text, REFERENCE, metrics=["bleu", "chrf"], minimum={"bleu": 1, "chrf": 1})
    assert [one["conditions"][0]["passed"] for one in check.to_dict()["metrics"]] == [False, True]


def test_earlier_unsuitable_output_does_not_fail_a_minimum_score():
    earlier = [f"▁{line}" for line in CEDAR.read_lines()]
    limits = {"minimum": 1, "max_drop": 99}
    with pytest.warns(tb.TextWarning, match="subword marks"):
        check = tb.check(BIRCH, REFERENCE, against=earlier, **limits)
    assert kinds(check) == {"minimum": True, "max_drop": False}


# ---- minimum scores ----


def test_score_below_minimum_fails():
    score = BLEU["birch"]
    assert tb.check(BIRCH, REFERENCE, minimum=score).passed
    result = tb.check(BIRCH, REFERENCE, minimum=30)
    assert not result
    assert result.failures == ["BLEU 29.96 is below the minimum of 30."]
    assert result.to_dict()["metrics"][0]["score"] == score
    assert repr(result) == result.text(80).rstrip()


def test_failure_has_enough_digits_to_differ_from_minimum():
    minimum = round(BLEU["birch"] + 0.0004, 3)
    (failure,) = tb.check(BIRCH, REFERENCE, minimum=minimum).failures
    score_text = failure.split()[1]
    assert float(score_text) < minimum


def test_minimum_is_maximum_for_error_rates():
    ter = tb.ter(BIRCH, REFERENCE).value
    assert tb.check(BIRCH, REFERENCE, metrics=["ter"], minimum=ter).passed
    (failure,) = tb.check(BIRCH, REFERENCE, metrics=["ter"], minimum=10).failures
    assert "is above the maximum of 10" in failure


def test_several_metrics_need_one_minimum_each():
    limits = {"minimum": {"bleu": 10, "chrf": 99}}
    result = tb.check(BIRCH, REFERENCE, metrics=["bleu", "chrf"], **limits)
    assert [one.split()[0] for one in result.failures] == ["chrF2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no condition given"),
        ({"minimum": 1, "metrics": ["bleu", "chrf"]}, "one number per metric, such as BLEU=…, chr"),
        ({"max_drop": 1}, "max_drop: no earlier score given"),
        ({"significant": True}, "significant: no earlier output given"),
        ({"log": "log", "minimum": 1}, "log has no effect without max_drop or keep"),
        ({"against": CEDAR, "minimum": 1}, "against has no effect without max_drop or significant"),
        ({"name": "x", "minimum": 1}, "name has no effect without log"),
        ({"keep": True, "minimum": 1}, "keep has no effect without log"),
        ({"minimum": "30"}, "minimum: expected a number"),
        *(({"minimum": x}, "minimum: expected a number") for x in (NAN, INF, -INF, 10**400, True)),
        ({"max_drop": INF, "against": CEDAR}, "max_drop: expected a number"),
        ({"max_drop": NAN, "against": CEDAR}, "max_drop: expected a number"),
        ({"max_drop": -1, "against": CEDAR}, "max_drop: invalid drop for BLEU"),
        (
            {"max_drop": 100, "against": CEDAR},
            r"can fail a limit of 100 for BLEU \(scores",
        ),
        ({"minimum": {}}, "minimum: expected a number for at least one metric"),
        ({"max_drop": {}, "against": CEDAR}, "max_drop: expected a number for at least one metric"),
        ({"minimum": {"bleu": 99, "BLEU": 5}}, "minimum: two numbers for BLEU"),
        ({"minimum": {"sacrebleu": 99, "bleu": 5}}, "minimum: two numbers for BLEU"),
        ({"minimum": {"chrf": 1}}, "metric 'chrf' is not among the metrics; available: BLEU"),
        ({"minimum": {"blue": 1}}, "metric 'blue' is not among the metrics; available: BLEU"),
        ({"minimum": 0}, "minimum: no output can fail a limit of 0 for BLEU"),
        ({"minimum": -1}, "minimum: no output can fail a limit of -1 for BLEU"),
        (
            {"minimum": 100, "metrics": ["wil"]},
            "no output can fail a limit of 100 for WIL",
        ),
        ({"minimum": 1, "metrics": []}, "metrics: expected at least one metric"),
        ({"minimum": 1, "samples": 9}, "samples has no effect without significant"),
        ({"minimum": 1, "level": 0.9}, "level has no effect without significant"),
        (SIGNIFICANT | {"samples": 10}, r"samples: 10 cannot give a p-value below 0\.05"),
        (SIGNIFICANT | {"samples": 19}, r"samples: 19 cannot give a p-value below 0\.05"),
        (SIGNIFICANT | {"level": 0.99999}, "samples: 10,000 cannot give a p-value below 1e-05"),
        (SIGNIFICANT | {"level": 1.0}, "level"),
        (
            SIGNIFICANT | FEW_SEGMENTS,
            r"significant: 5 segments cannot show a significant difference .* p-value is 0\.062",
        ),
        ({"max_drop": 1, "against": BIRCH}, "against: birch is also the output to check"),
        ({"minimum": 1, "references": tb.File(BIRCH.path)}, "references: birch is also the output"),
        ({"minimum": 1, "references": [REFERENCE, BIRCH]}, "references: birch is also the output"),
        ({"minimum": 1, "hypotheses": [], "references": []}, "no segments"),
        (BLANK | {"minimum": 50, "metrics": ["ter"]}, "invalid TER .*found no text"),
        (BLANK | {"max_drop": 1, "against": ["", ""]}, "invalid BLEU .*found no text"),
    ],
)
def test_condition_that_cannot_fail_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        tb.check(**{"hypotheses": BIRCH, "references": REFERENCE, **arguments})


def test_infinite_score_is_an_error(monkeypatch):
    monkeypatch.setattr(gate, "isfinite", lambda _: False)
    for conditions in ({"minimum": 1}, {"max_drop": 1, "against": CEDAR}):
        with pytest.raises(tb.InputError, match="expected a finite score, found"):
            tb.check(BIRCH, REFERENCE, **conditions)


def test_failing_metric_is_an_error():
    metrics = ["bleu", "command:x=false {hyp} {ref}"]
    with pytest.raises(tb.InputError, match="x: false ended with status 1"):
        tb.check(BIRCH, REFERENCE, metrics=metrics, minimum={"bleu": 1})


def test_check_without_conditions_does_not_pass():
    assert not tb.Check.from_json('{"truebleu_check": 1, "system": "x", "metrics": []}')


# ---- against a log ----


@pytest.fixture
def log(tmp_path, truebleu_command) -> Path:
    """Return a log with the score of cedar, tracked as `main`."""
    path = tmp_path / "scores.jsonl"
    words = ("score", REFERENCE.path, "-i", CEDAR.path, "--log", path, "--log-name", "main")
    assert truebleu_command(*words).status == 0
    return path


def test_drop_from_last_logged_score_fails(log):
    log_options = {"log": log, "name": "main"}
    drop = BLEU["cedar"] - BLEU["birch"]
    assert tb.check(BIRCH, REFERENCE, max_drop=drop, **log_options).passed
    result = tb.check(BIRCH, REFERENCE, max_drop=1, **log_options)
    (condition,) = result.to_dict()["metrics"][0]["conditions"]
    assert condition["measured"] == drop
    assert "BLEU fell 16.99, from 46.95" in condition["message"]
    assert "the allowed drop is 1" in condition["message"]
    assert tb.check(CEDAR, REFERENCE, max_drop=0, **log_options).passed


def test_lists_are_comparable_with_equal_files(log):
    hypotheses, references = ([*file.read_lines()] for file in (BIRCH, REFERENCE))
    assert not tb.check(hypotheses, references, max_drop=1, log=log, name="main")


def test_last_comparable_score_is_used(log, truebleu_command):
    for hypotheses, options in ((BIRCH, ["-lc"]), (CEDAR, [])):
        words = ["score", REFERENCE.path, "-i", hypotheses.path, *options]
        assert truebleu_command(*words, "--log", log, "--log-name", "main").status == 0
    result = tb.check(BIRCH, REFERENCE, max_drop=0, log=log, name="main")
    assert result.to_dict()["metrics"][0]["earlier"]["log"]["score"] == BLEU["cedar"]


def test_only_passing_scores_are_kept(log):
    log_options = {"log": log, "name": "main", "max_drop": 1, "keep": True}
    assert not tb.check(BIRCH, REFERENCE, **log_options)
    assert len(tb.history(log)) == 1
    assert tb.check(CEDAR, REFERENCE, **log_options)
    series = tb.history(log).series
    assert [one.scores for one in series] == [[BLEU["cedar"]] * 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "other"}, "no score of other, only of main"),
        ({"references": OTHER_REFERENCE}, "the last score has reference reference.a.en"),
        ({"metrics": ["chrf"]}, "no chrF2 of main, only BLEU"),
        ({"metrics": [tb.BLEU(lowercase=True)]}, "last score has case:mixed, the new .* case:lc"),
    ],
)
def test_incomparable_score_is_an_error(log, arguments, message):
    defaults = {"hypotheses": BIRCH, "references": REFERENCE, "name": "main"}
    with pytest.raises(IncomparableError, match=message):
        tb.check(max_drop=99, log=log, **{**defaults, **arguments})


def test_missing_log_is_an_error(tmp_path):
    options = {"max_drop": 99, "log": tmp_path / "log.jsonl", "name": "main"}
    with pytest.raises(IncomparableError, match="log not found"):
        tb.check(BIRCH, REFERENCE, **options)
    options["log"].touch()
    with pytest.raises(IncomparableError, match="the log has no scores"):
        tb.check(BIRCH, REFERENCE, **options)


# ---- against an output ----


def test_significant_fall_lists_worse_items():
    options = {"significant": True, "documents": DOCUMENTS, "samples": 999}
    result = tb.check(BIRCH, REFERENCE, against=CEDAR, **options)
    content = result.to_dict()
    systems = {"cedar.en": CEDAR, "birch.en": BIRCH}
    compared = tb.compare(systems, REFERENCE, samples=999, confidence=None)
    (condition,) = content["metrics"][0]["conditions"]
    difference = compared["birch.en"]["scores"]["BLEU"]["difference"]
    assert condition["measured"] == difference["p"]
    assert kinds(result) == {"significant": False}
    falls = [one["score"] - one["earlier"] for one in content["worse_documents"]]
    assert falls == sorted(falls)
    assert all(fall < 0 for fall in falls)
    hypotheses, references = ([*file.read_lines()] for file in (BIRCH, REFERENCE))
    for segment in content["worse_segments"]:
        i = segment["number"] - 1
        assert (segment["hypothesis"], segment["references"]) == (hypotheses[i], [references[i]])
        assert segment["score"] == tb.BLEU().sentence(hypotheses[i], [references[i]]).value
    assert len(content["worse_segments"]) == 5


def test_insignificant_fall_and_rise_pass():
    hypotheses = [*CEDAR.read_lines()]
    worse = [*hypotheses[:-1], " ".join(reversed(hypotheses[-1].split()))]
    options = {"against": CEDAR, "significant": True, "samples": 999}
    result = tb.check(worse, REFERENCE, **options)
    assert result.passed
    assert "which is not significant" in result.to_dict()["metrics"][0]["conditions"][0]["message"]
    better = tb.check(CEDAR, REFERENCE, **options | {"against": BIRCH})
    assert better.passed
    assert (better.to_dict()["worse_documents"], better.to_dict()["worse_segments"]) == ([], [])


def test_rising_ter_fails():
    options = {"metrics": ["ter"], "max_drop": 0, "significant": True, "samples": 999}
    result = tb.check(BIRCH, REFERENCE, against=CEDAR, **options)
    assert kinds(result) == {"max_drop": False, "significant": False}
    assert all("TER rose" in message for message in result.failures)
    assert tb.check(CEDAR, REFERENCE, against=BIRCH, **options).passed


def test_equal_file_names_are_distinguished(tmp_path):
    earlier = tmp_path / "birch.en"
    earlier.write_bytes(Path(CEDAR.path).read_bytes())
    result = tb.check(BIRCH, REFERENCE, against=earlier, max_drop=1)
    assert result.to_dict()["earlier"]["output"] == "birch (earlier)"


# ---- formats ----


@pytest.fixture(scope="module")
def failed() -> tb.Check:
    options = {"metrics": ["bleu", "ter"], "minimum": {"bleu": 29, "ter": 10}, "samples": 99}
    return tb.check(BIRCH, REFERENCE, against=CEDAR, significant=True, **options)


def test_json_round_trip_is_lossless(failed):
    assert tb.Check.from_json(failed.to_json()) == failed
    assert failed.to_dict()["truebleu_check"] == 1


def test_junit_has_one_case_per_condition(failed):
    (suite,) = ET.fromstring(failed.junit())
    conditions = [one for m in failed.to_dict()["metrics"] for one in m["conditions"]]
    cases = suite.findall("testcase")
    assert suite.get("tests") == str(len(cases)) == str(len(conditions))
    assert suite.get("failures") == str(len(failed.failures))
    messages = [case.find("failure") for case in cases]
    assert [one is None for one in messages] == [one["passed"] for one in conditions]
    assert [one.get("message") for one in messages if one is not None] == failed.failures


def test_junit_lists_worse_items():
    result = tb.check(BIRCH, REFERENCE, against=CEDAR, max_drop=1, minimum=99, documents=DOCUMENTS)
    minimum, drop = (case.find("failure").text for case in ET.fromstring(result.junit())[0])
    assert "\n" not in minimum
    lines = drop.splitlines()
    assert "document sports-report got worse, from 42.83 to 14.94" in lines
    assert "segment 43 got worse, from 100.00 to 8.12" in lines
    assert len(lines) == 1 + 5 + 5


def test_invalid_xml_characters_are_escaped(tmp_path):
    odd = tmp_path / "a\x01<b>&.en"
    odd.write_bytes(Path(BIRCH.path).read_bytes())
    result = tb.check(odd, REFERENCE, minimum=99)
    (suite,) = ET.fromstring(result.junit())
    assert "<b>&" in suite[0].get("classname")
    assert "<b>&" not in result.html()


def test_all_formats_show_failures_and_scores(failed):
    for rendering in (str(failed), failed.markdown(), failed.html()):
        assert "29.96" in rendering
        assert all(message.split(" (")[0] in rendering for message in failed.failures)


# ---- the command ----


@pytest.fixture
def command(truebleu_command):
    def run(*words, **options):
        return truebleu_command("check", REFERENCE.path, "-i", BIRCH.path, *words, **options)

    return run


def test_exit_status_reflects_result(command, log):
    assert command("--min", 29).status == 0
    low = command("--min", 30)
    assert (low.status, low.error) == (3, "")
    assert command("--max-drop", 1, "--log", log, "--log-name", "main").status == 3
    for words in (
        ("--min", "x"),
        ("--min", "1", "2"),
        ("--min", "bleu=1", "bleu=2"),
        ("--min", "bleu=99", "--min=sacrebleu=5"),
        ("--min", ","),
        ("--max-drop", "1", "--against", BIRCH.path, "--against", CEDAR.path),
        ("--max-drop", "1", "--against", CEDAR.path, f"--against={CEDAR.path}"),
        ("--max-drop", "1", "--log", log),
    ):
        done = command(*words)
        assert (done.status, done.output) == (2, ""), words
        assert done.error.count("\n") == 1
        assert "Traceback" not in done.error


def test_command_json_equals_python_dict(command):
    done = command("--max-drop", 1, "--against", CEDAR.path, "-f", "json")
    assert done.status == 3
    expected = tb.check(BIRCH, REFERENCE, max_drop=1, against=CEDAR)
    assert json.loads(done.output) == expected.to_dict()


def test_kept_entry_equals_score_log_entry(command, log, tmp_path, truebleu_command):
    words = ("--log", log, "--log-name", "main")
    assert command("--max-drop", 50, *words, "--keep").status == 0
    other_log = tmp_path / "other.jsonl"
    words = ("score", REFERENCE.path, "-i", BIRCH.path, "--log", other_log, "--log-name", "main")
    assert truebleu_command(*words).status == 0
    kept_entry, logged_entry = (
        json.loads(path.read_text().splitlines()[-1]) | {"time": ""} for path in (log, other_log)
    )
    assert kept_entry == logged_entry


def test_summary_and_junit_files_are_written(command, tmp_path):
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    summary.write_text("# Build\n")
    assert command("--min", 30, "--summary", summary, "--junit", junit).status == 3
    expected = tb.check(BIRCH, REFERENCE, minimum=30)
    assert summary.read_text("utf-8") == f"# Build\n{expected.markdown()}\n"
    assert junit.read_text("utf-8") == expected.junit()
    assert command("--min", 30, "--summary", "-").output.endswith(f"{expected.markdown()}\n")
    assert f"{tmp_path}: " in command("--min", 30, "--summary", tmp_path).error


@pytest.mark.parametrize(
    ("options", "stream"), [([], "output"), (["-f", "json"], "error"), (["-o", "OUT"], "error")]
)
def test_failure_is_printed_once_as_sentence(command, tmp_path, log, options, stream):
    words = [str(tmp_path / "out.txt") if word == "OUT" else word for word in options]
    result = command("--max-drop", 0.5, "--log", log, "--log-name", "main", *words)
    scores = f"from 46.95 ({datetime.now(UTC):%Y-%m-%d}) to 29.96"
    sentence = f"BLEU fell 16.99, {scores}; the allowed drop is 0.5."
    assert result.status == 3
    texts = {"output": " ".join(result.output.split()), "error": result.error}
    assert texts[stream].count(sentence) == 1
    if stream == "output":
        assert texts["output"].startswith(f"birch failed: {sentence}")
        assert result.error == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no condition given; use --min, --max-drop or --significant"),
        (("--against", CEDAR.path), "no condition given; use --min, --max-drop or --significant"),
        (("--max-drop", 1), "--max-drop: no earlier score given; use --log or --against"),
        (("--significant",), "--significant: no earlier output given; use --against"),
        (("--min", 1, "--log", "x"), "--log has no effect without --max-drop or --keep"),
        (("--min", 1, "--log-name", "x"), "--log-name has no effect without --log"),
        (("--min", 1, "--samples", 9), "--samples has no effect without --significant"),
        (("--max-drop", 1, "--log", "logs/x"), "log not found: 'logs/x'"),
    ],
)
def test_errors_name_options(command, options, message):
    result = command(*options)
    assert (result.status, result.output) == (2, "")
    assert result.error.startswith(f"truebleu: error: {message}")


def test_standard_input_is_compared_with_file(truebleu_command):
    text = Path(BIRCH.path).read_bytes()
    words = ("--against", CEDAR.path, "--max-drop", 1)
    done = truebleu_command("check", REFERENCE.path, "-i", "-", *words, input=text)
    assert done.status == 3
    assert "BLEU fell 16.99" in done.output


def test_invalid_input_writes_no_file(command, tmp_path):
    junit = tmp_path / "junit.xml"
    done = command("--min", 1, "--against", tmp_path / "none", "--max-drop", 1, "--junit", junit)
    assert done.status == 1
    assert not junit.exists()


# ---- the action ----

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PAGE = (ROOT / "docs" / "gate.md").read_text("utf-8")


def action_steps(version: str) -> list[dict]:
    """Return the steps of the action that run with this version of truebleu."""
    assert ACTION["runs"]["using"] == "composite"
    conditions = {None: True, "inputs.version != 'none'": version != "none"}
    return [step for step in ACTION["runs"]["steps"] if conditions[step.get("if")]]


def run_in_bash(
    script: str, folder: Path, summary: Path, variables: dict[str, str]
) -> subprocess.CompletedProcess:
    """Run a script of the action as GitHub runs it."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def run_action(step: dict, folder: Path, summary: Path) -> subprocess.CompletedProcess:
    """Run a workflow step that uses the action, with its inputs."""
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
    assert set(step["with"]) <= set(inputs)
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert required <= set(step["with"])
    inputs |= step["with"]

    def fill_inputs(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)

    for action_step in action_steps(inputs["version"]):
        assert action_step["shell"] == "bash"
        variables = {name: fill_inputs(text) for name, text in action_step.get("env", {}).items()}
        done = run_in_bash(action_step["run"], folder, summary, variables)
        if done.returncode:
            break
    return done


@pytest.mark.skipif(os.name != "posix", reason="the action runs in bash")
def test_documented_action_example_runs(tmp_path, truebleu_command):
    """The step in docs/gate.md runs in a project with these files, without installing truebleu."""
    ((step,),) = (
        yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    )
    step["with"]["version"] = "none"
    files = {"data/reference.en": REFERENCE, "out/system.en": CEDAR}
    for name, file in files.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_bytes(Path(file.path).read_bytes())
    summary = tmp_path / "summary.md"
    missing = run_action(step, tmp_path, summary)
    assert (missing.returncode, summary.exists()) == (2, False)
    assert "log not found: 'scores.jsonl'" in missing.stderr
    words = "score data/reference.en -i out/system.en --log scores.jsonl --log-name nightly"
    assert truebleu_command(*words.split(), cwd=tmp_path).status == 0
    assert run_action(step, tmp_path, summary).returncode == 0
    assert "**system passed 2 conditions.**" in summary.read_text("utf-8")
    (tmp_path / "out/system.en").write_bytes(Path(BIRCH.path).read_bytes())
    fell = run_action(step, tmp_path, summary)
    assert fell.returncode == 3
    assert re.search(r"is below the minimum of 30.\nBLEU fell 16.99", fell.stdout)
    assert "**system failed 2 of 2 conditions.**" in summary.read_text("utf-8")


def test_action_installs_requested_version():
    first, _ = action_steps("==0.1.0")
    assert first["run"] == 'python -m pip install --quiet "truebleu$VERSION"'
    assert first["env"] == {"VERSION": "${{ inputs.version }}"}


@pytest.mark.skipif(os.name != "posix", reason="the action runs in bash")
def test_action_does_not_execute_its_inputs(tmp_path):
    script = action_steps("none")[0]["run"]
    summary = tmp_path / "summary.md"
    spoilt = tmp_path / "spoilt"

    def run(arguments: str) -> subprocess.CompletedProcess:
        inputs = {"REFERENCES": REFERENCE.path, "HYPOTHESES": BIRCH.path, "ARGUMENTS": arguments}
        return run_in_bash(script, ROOT, summary, inputs)

    assert run("--min 29").returncode == 0
    assert "passed 1 condition" in summary.read_text("utf-8")
    assert run("--min 30").returncode == 3
    assert run(f"--min 29; touch {spoilt}").returncode == 2
    assert run(f"--min $(touch {spoilt})").returncode == 2
    assert not spoilt.exists()
