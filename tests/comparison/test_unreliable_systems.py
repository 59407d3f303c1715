"""Systems whose text makes scores unreliable: no marks, ranks or verdicts depend on them."""

import json

import pytest
from paths import ROOT

import truebleu as tb
from truebleu.comparison import overview

REFERENCES = (ROOT / "examples" / "de-en" / "reference.a.en").read_text("utf-8").splitlines()
SYSTEMS = {
    name: (ROOT / "examples" / "de-en" / f"{name}.en").read_text("utf-8").splitlines()
    for name in ("birch", "cedar")
}
# Text of a third system, and the words of its warning.
UNRELIABLE = {
    "script": (
        ["猫坐在垫子上，今天天气很好。"] * len(REFERENCES),
        "is mostly Han, but the references are",
    ),
    "tokenized": (
        [line.replace(".", " .").replace(",", " ,") for line in SYSTEMS["birch"]],
        "look tokenized",
    ),
}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    """Run each test in an empty folder, where `write` writes."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=UNRELIABLE)
def unreliable(request):
    return UNRELIABLE[request.param]


@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
def test_unreliable_system_is_not_ranked_and_others_are(unreliable):
    text, warning = unreliable
    content = tb.compare({"odd": text, **SYSTEMS}, REFERENCES, samples=99).to_dict()
    assert any(warning in one["text"] and one["systems"] == ["odd"] for one in content["warnings"])
    *reliable, odd = content["systems"]
    assert (odd["name"], odd["scores"]["BLEU"]["rank"]) == ("odd", None)
    assert (odd["scores"]["BLEU"]["cluster"], odd["scores"]["BLEU"]["better_than"]) == (None, [])
    assert [one["scores"]["BLEU"]["rank"] for one in reliable] == [1, 2]
    for pair in content["pairs"]:
        assert (pair["significant"] is None) == ("odd" in (pair["first"], pair["second"]))
    assert not any("odd" in one["scores"]["BLEU"]["better_than"] for one in reliable)
    headline = overview.format_headline(content)
    assert "is best of 3 systems" in headline or "has the best BLEU of 3 systems" in headline
    assert headline.endswith("Scores of odd are unreliable and not ranked.")


def test_tokenized_text_is_still_ranked_by_character_metrics():
    text, _ = UNRELIABLE["tokenized"]
    with pytest.warns(tb.TextWarning, match="Differences in BLEU to odd are unreliable"):
        comparison = tb.compare(
            {"odd": text, **SYSTEMS}, REFERENCES, metrics=["bleu", "chrf"], samples=99
        )
    scores = next(one for one in comparison.to_dict()["systems"] if one["name"] == "odd")["scores"]
    assert scores["BLEU"]["rank"] is None
    assert scores["chrF2"]["rank"] is not None


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "json"])
def test_verdict_on_an_unreliable_pair_names_no_best_system(
    unreliable, form, truebleu_command, write
):
    text, warning = unreliable
    write("ref", REFERENCES)
    write("odd", text)
    write("birch", SYSTEMS["birch"])
    result = truebleu_command("compare", "ref", "-i", "birch", "odd", "-f", form, "--test", "bs")
    output = " ".join(result.output.split())
    assert warning in output
    assert "human judges" not in output
    if form == "json":
        assert [one["significant"] for one in json.loads(result.output)["pairs"]] == [None]
    if form in ("text", "html"):
        assert "No system is ranked best: scores of odd are unreliable." in output
    assert form == "html" or not any(mark in output for mark in ("textbf", "dagger", "**", "0*"))


def test_score_warns_about_another_script(truebleu_command, write):
    write("ref", REFERENCES)
    write("odd", UNRELIABLE["script"][0])
    result = truebleu_command("score", "ref", "-i", "odd")
    assert "odd is mostly Han, but the references are mostly Latin. Is this the wrong file?" in (
        result.error
    )


@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
@pytest.mark.parametrize(
    "systems",
    [
        {**SYSTEMS, "copy": REFERENCES},
        {name: SYSTEMS[name][1:] + SYSTEMS[name][:1] for name in SYSTEMS},
    ],
    ids=["copy of the reference", "BLEU below 10"],
)
def test_unusual_scores_have_no_human_judgement(systems):
    comparison = tb.compare(systems, REFERENCES, samples=99)
    assert comparison.to_dict()["human_agreement"] is None
    assert tb.compare(SYSTEMS, REFERENCES, samples=99).to_dict()["human_agreement"] is not None
