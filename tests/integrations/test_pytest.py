"""The pytest plugin: a test fails if a score is too low, in a separate pytest process."""

import os
import re
import subprocess
import sys
import tomllib
from xml.etree import ElementTree as ET

import pytest
from paths import ROOT

TESTS = """
HYPOTHESES = ["the cat is on a mat", "nobody was there"] * 5
REFERENCES = ["the cat is on the mat", "nobody was there"] * 5

def test_passes(truebleu_check):
    made = truebleu_check(HYPOTHESES, REFERENCES, minimum=50)
    assert made.passed

def test_fails(truebleu_check):
    truebleu_check(HYPOTHESES, REFERENCES, minimum=70)

def test_cannot_compare(truebleu_check):
    truebleu_check(HYPOTHESES, REFERENCES, max_drop=1, log="none.jsonl", name="x")
"""


def run_pytest(folder, text: str) -> subprocess.CompletedProcess:
    """Run a test file in a new pytest process."""
    (folder / "test_scores.py").write_text(text)
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "truebleu.integrations.pytest"),
            *("-p", "no:cacheprovider", "--junit-xml", "made.xml", "test_scores.py"),
        ],
        cwd=folder,
        # If truebleu is installed, pytest would load the plugin twice.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return the output of pytest, and its JUnit XML."""
    folder = tmp_path_factory.mktemp("project")
    done = run_pytest(folder, TESTS)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout, ET.fromstring((folder / "made.xml").read_text())


def test_outcomes_and_messages(ran):
    output, _ = ran
    assert "2 failed, 1 passed" in output
    assert "BLEU 59.69 is below the minimum of 70" in output
    assert "log not found" in output


def test_scores_are_recorded_as_properties(ran):
    cases = {case.get("name"): case for case in ran[1].iter("testcase")}
    properties = {
        element.get("name"): element.get("value")
        for element in cases["test_fails"].iter("property")
    }
    assert round(float(properties["BLEU"]), 2) == 59.69
    assert properties["BLEU signature"].startswith("nrefs:1|")


def test_documented_example_runs(tmp_path):
    """Run the test in docs/gate.md with a system that translates, and one that does not."""
    page = (ROOT / "docs" / "gate.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    project = (
        'SOURCES = ["die Katze liegt auf der Matte", "niemand war da"]\n'
        'REFERENCES = ["the cat is on the mat", "nobody was there"]\n'
        "def translate(sources):\n    return {}\n\n"
    )
    good = run_pytest(tmp_path, project.format("REFERENCES") + example)
    assert (good.returncode, "1 passed" in good.stdout) == (0, True), good.stdout + good.stderr
    bad = run_pytest(tmp_path, project.format("sources") + example)
    assert (bad.returncode, "1 failed" in bad.stdout) == (1, True), bad.stdout + bad.stderr
    assert "is below the minimum of 30" in bad.stdout


def test_plugin_is_an_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"truebleu": "truebleu.integrations.pytest"}
