"""Reports with `scale=1`: percentages from 0 to 1 in the static summary and in the viewer."""

import pytest
from browser_report import type_text
from page_parser import Page
from paths import read_example_lines
from playwright_or_skip import expect

import truebleu as tb
from truebleu.cli import main
from truebleu.reports import report, static_summary

SYSTEMS = ("cedar", "birch")
REFERENCE, CEDAR = (read_example_lines(f"de-en/{name}.en") for name in ("reference.a", "cedar"))


def make_report(scale):
    systems = {name: read_example_lines(f"de-en/{name}.en") for name in SYSTEMS}
    options = {"documents": read_example_lines("de-en/documents.txt"), "scale": scale}
    options |= {"metrics": ["bleu", "nist"], "samples": 100, "confidence": 100}
    return report(systems, REFERENCE, **options)


@pytest.fixture(scope="module")
def scaled():
    return make_report(1)


def test_manifest_keeps_the_numbers(scaled):
    manifest, default = scaled.to_dict(), make_report(100).to_dict()
    assert (manifest["scale"], default["scale"]) == (1, 100)
    for key in ("settings", "columns"):
        assert manifest[key] == default[key]
    for key in ("systems", "pairs", "documents"):
        assert manifest["comparison"][key] == default["comparison"][key]


def test_sentences_and_tables_are_scaled(scaled):
    manifest = scaled.to_dict()
    lead = "".join(part for part in manifest["headline"] if isinstance(part, str))
    assert "0.470 BLEU, 0.170 above" in lead
    assert "0.470" in manifest["tables"]["latex"]
    assert "7.308" in manifest["tables"]["markdown"]


def test_static_summary_is_scaled(scaled):
    page = static_summary.render_summary(scaled.to_dict())
    assert "0.470" in page
    assert ">47.0" not in page
    assert "7.308" in page


def test_other_scales_are_rejected():
    with pytest.raises(ValueError, match="scale: expected 100 or 1, found 10"):
        make_report(10)


def test_command_stores_the_option(tmp_path):
    examples = [f"examples/de-en/{name}.en" for name in ("reference.a", *SYSTEMS)]
    path = tmp_path / "report.html"
    reference, *systems = examples
    assert main(["report", reference, "-i", *systems, "--scale", "1", "-o", str(path), "-q"]) == 0
    manifest = Page(path.read_bytes()).manifest
    assert manifest["scale"] == 1
    assert all("--scale 1" in command for command in manifest["commands"])


@pytest.mark.thorough
def test_viewer_shows_scaled_scores(scaled, open_report):
    tab = open_report(scaled).page
    table = tab.locator(".overview")
    expect(table).to_contain_text("0.4695")
    expect(table).to_contain_text("−0.1699")
    # NIST is not a percentage.
    expect(table).to_contain_text("7.3079")
    score = tb.BLEU().sentence(*(texts[16] for texts in (CEDAR, REFERENCE))).value
    tab.evaluate("location.hash = '#segments?seg=17'")
    expect(tab.locator("span.score").first).to_contain_text(f"{score / 100:.4f}")


@pytest.mark.thorough
def test_ranges_are_typed_on_the_displayed_scale(scaled, open_report):
    tab = open_report(scaled, "#segments?panel=true").page
    field = tab.get_by_label("A, from").first
    type_text(field, "0.5")
    field.press("Enter")
    expect(tab.locator(".chips")).to_contain_text("≥ 0.5")
    assert "range=scoreA:50:" in tab.url
