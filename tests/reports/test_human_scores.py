"""Human scores in the report, and their agreement with the metrics."""

import pytest
from page_parser import Page
from paths import EXAMPLES
from playwright_or_skip import expect

import truebleu as tb
from truebleu import InputError
from truebleu.cli import main

GERMAN = EXAMPLES / "de-en"
SYSTEMS = {name: GERMAN / f"{name}.en" for name in ("cedar", "birch", "aspen")}
SEGMENTS = 128


def make_human_scores(*further_systems):
    """Return human scores per system and segment, with missing values."""
    means = {"cedar": -1.0, "birch": -3.0, "aspen": -5.0, **dict.fromkeys(further_systems, -2.0)}
    return {
        name: [None if i % 7 == 0 else mean + (i * 37 % 11) / 10 for i in range(SEGMENTS)]
        for name, mean in means.items()
    }


def make_report(**options):
    options |= {"metrics": ["bleu", "ter"], "confidence": 20, "samples": 20}
    return tb.report(SYSTEMS, GERMAN / "reference.a.en", **options)


def test_page_equals_meta_evaluate():
    """The page's agreement equals `meta_evaluate` for the same scores."""
    scores = {"X": {name: list(range(SEGMENTS)) for name in SYSTEMS}}
    page = make_report(human=make_human_scores("oak"), scores=scores).html()
    content = Page(page).manifest["people"]
    meta_result = tb.meta_evaluate(
        make_human_scores(),
        {"BLEU": tb.BLEU(), "TER": tb.TER()},
        text=tb.EvaluatedText(SYSTEMS, GERMAN / "reference.a.en"),
    ).to_dict()
    assert content["sets"] == meta_result["sets"]
    scores = {row["name"]: row["scores"] for row in content["metrics"]}
    assert set(scores) == {"BLEU", "TER", "X"}
    for row in meta_result["metrics"]:
        assert scores[row["name"]] == row["scores"]
    assert content["reading"].startswith("BLEU orders 3 of 3 pairs of systems as people do")
    section = page.partition('<div id="people"')[2].partition('<div id="app"')[0]
    assert "Agreement with human scores" in section
    assert section.count("<svg") >= 2
    assert all(f">{name}</text>" in section for name in SYSTEMS)
    assert "oak" not in section


def test_page_without_human_scores_has_no_section():
    page = make_report().html()
    assert Page(page).manifest["people"] is None
    assert '<div id="people"' not in page


def test_system_names_are_escaped():
    names = {"<b>cedar": SYSTEMS["cedar"], 'b"&': SYSTEMS["birch"]}
    human = {name: [float(i % 5) for i in range(SEGMENTS)] for name in names}
    options = {"human": human, "confidence": 20, "samples": 20}
    page = tb.report(names, GERMAN / "reference.a.en", **options).html()
    section = page.partition('<div id="people"')[2].partition('<div id="app"')[0]
    assert "<b>" not in section
    assert "&lt;b&gt;cedar" in section


def test_rare_similar_name_is_a_warning():
    human = make_human_scores() | {"ceder": [None, *[1.0] * 9, *[None] * (SEGMENTS - 10)]}
    message = "human scores: left out 9 segments of 'ceder', .*'cedar'"
    with pytest.warns(tb.TextWarning, match=message):
        make_report(human=human)


def test_system_without_human_scores_is_refused():
    human = make_human_scores()
    del human["birch"]
    with pytest.raises(InputError, match="human scores: no scores for birch, only for cedar"):
        make_report(human=human)


def test_command_reads_human_scores(tmp_path, capsys):
    path, page = tmp_path / "people.score", tmp_path / "page.html"
    columns = make_human_scores().items()
    lines = [f"{name}\t{score}\n" for name, column in columns for score in column]
    path.write_text("".join(lines), encoding="utf-8")
    words = [str(GERMAN / "reference.a.en"), "-i", *map(str, SYSTEMS.values())]
    words += ["-parn", "20", "-ci", "20", "--human", str(path)]
    assert main(["report", *words, "-o", str(page)]) == 0
    assert "Agreement with human scores" in page.read_text(encoding="utf-8")
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    second_path = tmp_path / "other.html"
    assert main(["report", *words, "-o", str(second_path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("truebleu: error: ")
    assert error.count("\n") == 1
    assert not second_path.exists()


def test_viewer_shows_agreement(open_report, tmp_path):
    """The section is visible and fits a screen of 320 pixels."""
    path = tmp_path / "page.html"
    make_report(human=make_human_scores(), path=path)
    page = open_report(path, "#summary").page
    heading = page.locator("#app").get_by_role("heading", name="Agreement with human scores")
    expect(heading).to_be_visible()
    expect(page.locator("#app .people svg").first).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
