"""Systems whose text makes scores unreliable: no marks, ranks or verdicts depend on them."""

import json

import pytest
from paths import read_example_lines

import truebleu as tb
from truebleu.comparison import overview

REFERENCES = read_example_lines("de-en/reference.a.en")
SYSTEMS = {name: read_example_lines(f"de-en/{name}.en") for name in ("birch", "cedar")}


def mark(template, count=128):
    """Return a system's lines, the first of which are inserted into a template."""
    lines = SYSTEMS["birch"]
    return [template.format(line) for line in lines[:count]] + lines[count:]


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
    "letter case": ([line.lower() for line in SYSTEMS["birch"]], "is in lower case"),
    "subword marks": (mark("▁{}"), "lines have subword marks such as"),
    "special tokens": (mark("<s> {} </s>"), "lines have special tokens such as"),
    "HTML entities": (mark("&quot;{}&quot;"), "lines have HTML entities such as"),
    "spaces between characters": (
        [" ".join(line) for line in SYSTEMS["birch"]],
        "have spaces between characters such as",
    ),
    "unicode form": (mark("a\u0301 {}"), "lines have letters with separate accents (NFD)"),
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


@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
@pytest.mark.parametrize("template", ["▁{}", "<s> {}", "&quot;{}", "a\u0301 {}"])
@pytest.mark.parametrize(("count", "is_reliable"), [(50, True), (64, False)])
def test_half_of_the_lines_with_marks_make_a_system_unreliable(
    template, count, is_reliable, truebleu_command, write
):
    assert len(REFERENCES) == 2 * 64
    text = mark(template, count)
    content = tb.compare({"odd": text, **SYSTEMS}, REFERENCES, samples=9).to_dict()
    (odd,) = (one["scores"]["BLEU"] for one in content["systems"] if one["name"] == "odd")
    assert (odd["rank"] is not None) == is_reliable
    write("ref", REFERENCES)
    write("odd", text)
    output = " ".join(truebleu_command("score", "ref", "-i", "odd", "-f", "text").output.split())
    assert ("Do not report this score yet. Resolve the warning below" in output) != is_reliable
    assert ("Read the warning below before you report this score." in output) == is_reliable


@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
@pytest.mark.parametrize("template", ["▁{}", "<s> {}", "&quot;{}", "a\u0301 {}", "{} ."])
def test_marks_in_the_only_reference_make_all_systems_unreliable(template):
    references = [template.format(line) for line in REFERENCES]
    content = tb.compare(SYSTEMS, references, samples=9).to_dict()
    assert [one["scores"]["BLEU"]["rank"] for one in content["systems"]] == [None, None]
    assert content["warnings"][0]["systems"] == [*SYSTEMS]
    two = list(zip(references, REFERENCES, strict=True))
    content = tb.compare(SYSTEMS, two, samples=9).to_dict()
    assert [one["scores"]["BLEU"]["rank"] for one in content["systems"]] == [1, 2]


def test_only_metrics_without_a_unicode_form_are_unreliable():
    metrics = ["bleu", tb.CHRF(unicode_form="nfc")]
    systems = {"odd": UNRELIABLE["unicode form"][0], **SYSTEMS}
    with pytest.warns(tb.TextWarning, match="Differences in BLEU to odd are unreliable"):
        tb.compare(systems, REFERENCES, metrics=metrics, samples=9)


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
