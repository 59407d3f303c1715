"""No number stands in README.md without the command that shows it."""

import json
import os
import re

import pytest
import readme_claims
from paths import ROOT

README = readme_claims.readme()


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


def test_every_table_figure_is_checked():
    for start, _, *figures in readme_claims.TABLE:
        cells = " ".join(readme_claims.table_row(start, README)[1:])
        table_figures = re.findall(r"[\d.]+ (?:ns|µs|ms|s|MiB|MB)\b", cells)
        assert table_figures == list(dict.fromkeys(figure.figure_text for figure in figures))


def test_site_index_has_the_readme_figures():
    """Rows of README.md, which the other tests look at, and no other number of speed."""
    page = (ROOT / "docs" / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| .*\|$", page, re.MULTILINE)
    assert len(rows) > 3
    assert set(rows) <= set(README.splitlines())
    assert not re.search(
        r"\d (?:ns|µs|ms|s|MiB|MB)\b", re.sub(r"^\|.*", "", page, flags=re.MULTILINE)
    )


def test_every_claimed_benchmark_exists():
    benchmark_code = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py")
    )
    for _, name, *_ in readme_claims.TABLE:
        assert re.search(rf"^@benchmark\ndef {name}_?\(", benchmark_code, re.MULTILINE), name


def test_readme_figures_equal_recorded_results():
    assert [one for one in readme_claims.measured(bench=False) if not one.holds] == []
    rows = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))["rows"]
    figure_value, seen, tolerance = readme_claims.recorded(
        readme_claims.Figure("0.42 s", readme_claims.FILES), rows
    )
    assert abs(figure_value - seen) > tolerance
    with pytest.raises(LookupError):
        readme_claims.recorded(readme_claims.Figure("0.42 h", readme_claims.FILES), rows)


@pytest.mark.skipif(os.name != "posix", reason="commands are run by bash")
@pytest.mark.parametrize("claim", readme_claims.PROSE, ids=lambda claim: claim.text[:40])
def test_claim_holds(claim):
    if claim.command.startswith(readme_claims.PYTEST):
        pytest.skip("a test of its own, which make claims runs")
    checked = readme_claims.replayed(claim)
    assert checked.holds, checked


def test_false_claim_is_reported():
    low, fails = readme_claims.PROSE[2], readme_claims.PROSE[5]
    assert not readme_claims.replayed(low._replace(pattern="no such words")).holds
    assert not readme_claims.replayed(fails._replace(status=0)).holds
    (command, output), *_ = readme_claims.console(README)
    assert not readme_claims.printed(command, output.replace("54.0", "54.1")).holds
