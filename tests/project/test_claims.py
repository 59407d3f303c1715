"""No number stands in README.md without the command that shows it."""

import importlib
import json
import os
import re

import pytest
import readme_claims
from paths import ROOT
from readme_claims import report

README = readme_claims.readme()
RESULTS = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))


def test_every_number_in_readme_has_a_command():
    assert readme_claims.unclaimed(README) == []


@pytest.mark.parametrize(
    "line",
    [
        "It is 12 times as fast.",
        "It needs 0.5 GB.",
        "| one more row | 3 ms | |",
        "[link](docs/x.md) says 95%",
    ],
)
def test_unclaimed_number_is_reported(line):
    (sentence,) = readme_claims.unclaimed(f"{README}\n\n{line}\n")
    assert re.search(r"\d", line)[0] in sentence


@pytest.mark.parametrize("name", report.README_PAGES)
def test_speed_table_equals_recorded_results(name):
    """`python benchmarks/report.py` writes this table."""
    text = (ROOT / name).read_text("utf-8")
    assert readme_claims.speed_table(text) == report.format_readme_table(RESULTS)
    # There is no other number of speed.
    rest = text.replace(readme_claims.speed_table(text), "")
    assert not re.search(r"\d (?:ns|µs|ms|s|MiB|MB)\b", rest)


def test_missing_benchmark_row_is_named():
    rows = [row for row in RESULTS["rows"] if not row["work"].startswith("chrF, 1 M pairs")]
    with pytest.raises(LookupError, match="no figure for 'chrF, 1 M pairs, two files, whole"):
        report.format_readme_table({"rows": rows})


def test_readme_quotes_the_default_instruction_set():
    row = {"work": f"{report.FILES}, avx2", "measured": "9 s", "peer": "wc -w 0.873 s"}
    table = report.format_readme_table({"rows": [row, *RESULTS["rows"]]})
    assert "| 9 s |" not in table


def test_every_claimed_benchmark_exists():
    benchmarks = importlib.import_module("run").BENCHMARKS
    assert set(readme_claims.BENCHMARKS) <= set(benchmarks)


def test_results_page_is_built_from_recorded_results():
    """`python benchmarks/report.py` writes this page."""
    page = report.format_page("results.md.j2", RESULTS)
    assert page == (ROOT / "benchmarks" / "results.md").read_text("utf-8")


@pytest.mark.skipif(os.name != "posix", reason="commands are run by bash")
@pytest.mark.parametrize("claim", readme_claims.PROSE, ids=lambda claim: claim.text[:40])
def test_claim_holds(claim):
    if claim.command.startswith(readme_claims.PYTEST):
        pytest.skip("a test of its own, which make claims runs")
    checked = readme_claims.replayed(claim)
    assert checked.holds, checked


def test_false_claim_is_reported():
    claim = next(one for one in readme_claims.PROSE if one.command.startswith("grep"))
    assert not readme_claims.replayed(claim._replace(pattern="no such words")).holds
    assert not readme_claims.replayed(claim._replace(command=f"{claim.command}; false")).holds
    (command, output), *_ = readme_claims.console(README)
    assert not readme_claims.printed(command, output.replace("54.0", "54.1")).holds
