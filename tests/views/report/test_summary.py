"""What a report says without script: read as text, and safe whatever the names are."""

import re

import pytest
from reading_back import Page

import truebleu as tb
from truebleu.views.report import summary

REFERENCES = ["the cat is on the mat", "nobody was there at all", "it rains again today"] * 12
GOOD = ["the cat is on a mat", "nobody was there at all", "it rains again today"] * 12
POOR = ["a cat is at the mat", "nobody were here at all", "it rains again today"] * 12
WORST = ["cat mat", "no", "rain rain today"] * 12

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</article></main><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;b&gt;",
    "\u202eevil\u2028\x00\ud800",
    "{{script}}",
]


def manifest(systems=None, references=REFERENCES, **options):
    return tb.report(systems or {"poor": POOR, "good": GOOD}, references, **options).to_dict()


def rendered(*arguments, **options) -> Page:
    return Page(summary.render(manifest(*arguments, **options)))


# ---- the sentence ----


def test_the_sentence_says_who_wins_by_how_much_and_whether_it_is_real():
    told = manifest()
    sentence = summary.sentence(told)
    difference = told["comparison"]["pairs"][0]
    low, high = (difference["interval"][end] for end in ("low", "high"))
    assert sentence == (
        f"B good is {difference['value']:.1f} BLEU above A poor "
        f"(95% interval {low:.1f} to {high:.1f}; p = 0.0001; paired approximate randomization, "
        "10,000 samples). The difference is significant at 0.05."
    )


def test_of_many_systems_it_compares_the_first_two():
    sentence = summary.sentence(manifest({"poor": POOR, "worst": WORST, "good": GOOD}))
    assert sentence.startswith("C good is best of 3 systems, ")
    assert " BLEU above A poor (95% interval " in sentence


def test_of_one_system_it_has_the_interval():
    told = manifest({"good": GOOD})
    assert re.fullmatch(
        r"good scores \d+\.\d BLEU \(95% interval \d+\.\d to \d+\.\d\)\.", summary.sentence(told)
    )


def test_where_lower_is_better_it_is_below():
    sentence = summary.sentence(manifest(metrics=["ter"]))
    assert re.match(r"B good is \d+\.\d TER below A poor \(95% interval \d.* to \d", sentence)


def test_the_same_output_is_the_same():
    sentence = summary.sentence(manifest({"a": GOOD, "b": list(GOOD)}))
    assert re.fullmatch(r"A a and B b have the same BLEU, \d+\.\d\.", sentence)


def test_what_chance_makes_is_said_to_be_so():
    other = ["the cat is on the mat", *GOOD[1:]]
    sentence = summary.sentence(manifest({"a": GOOD, "b": other}))
    assert sentence.endswith(
        "not significant at 0.05: a difference of this size can arise by chance."
    )


def test_without_a_test_there_is_no_verdict():
    sentence = summary.sentence(manifest(test=None))
    assert "p =" not in sentence
    assert "significant" not in sentence
    assert "95% interval" in sentence


def test_one_segment_is_too_few_for_an_interval():
    page = rendered({"a": ["the cat sat on the mat"], "b": ["a cat is here on a mat"]}, ["the cat"])
    assert "n too small" in page.text
    assert "there is only one segment" in page.text


# ---- the tables ----


def cells(told):
    """The text of the first table, row by row."""
    markup = summary.render(told)
    table = markup[markup.index("<table>") : markup.index("</table>")]
    rows = re.findall("<tr>(.*?)</tr>", table)
    return [
        [Page(cell).text.strip() for cell in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows
    ]


def test_the_table_has_what_the_comparison_has():
    told = manifest()
    head, good, poor = cells(told)
    assert head == [
        *("", "system", "BLEU ↑", "95% interval", "cluster", "Δ", "95% interval", "p"),
        *("won", "tied", "lost", "needed", "Δ, drawn"),
    ]
    best, baseline = told["comparison"]["systems"]
    assert (best["name"], baseline["name"]) == ("good", "poor")
    scores = best["scores"]["BLEU"]
    low, high = scores["interval"]["low"], scores["interval"]["high"]
    assert good[:6] == [
        *("B", "good", f"{scores['score']:.1f}A", f"[{low:.1f}, {high:.1f}]", "1"),
        f"+{scores['difference']['value']:.1f}",
    ]
    assert good[7:11] == ["0.0001*", "24", "12", "0"]
    assert poor[:2] == ["A", "poor"]
    assert poor[4:] == ["2", "baseline", *[""] * 7]


def test_letters_are_those_of_the_order_in_which_systems_were_given():
    told = manifest({"x": WORST, "y": GOOD, "z": POOR})
    assert [s["letter"] for s in told["systems"]] == ["A", "B", "C"]
    assert {s["name"]: s["letter"] for s in told["comparison"]["systems"]} == {
        "x": "A",
        "y": "B",
        "z": "C",
    }


def test_letters_go_on_behind_z_and_leave_out_q():
    told = manifest({str(i): GOOD for i in range(27)}, test=None, confidence=None)
    letters = [s["letter"] for s in told["systems"]]
    assert letters[-3:] == ["Z", "AA", "AB"]
    assert letters[15:17] == ["P", "R"]


def test_intervals_are_drawn_where_there_is_something_to_draw():
    assert "Δ, drawn" in rendered().text
    assert "svg" in rendered().tags
    same = rendered({"a": GOOD, "b": list(GOOD)})
    assert "svg" not in same.tags


def test_what_bleu_was_made_of():
    text = rendered().text
    for head in ("p1", "p4", "BP", "tokens", "reference tokens", "ratio"):
        assert head in text
    assert "p1" not in rendered(metrics=["chrf"]).text


def test_a_correction_is_named():
    systems = {"poor": POOR, "good": GOOD, "worst": WORST}
    assert "p Holm" in rendered(systems, correction="holm").text


def test_given_scores_have_a_table():
    scores = {"COMET": {"poor": [0.5] * 36, "good": [0.75] * 18 + [0.5] * 18}}
    assert "COMET; Δ is to A poor" in rendered(scores=scores).text


# ---- the facts ----


def test_what_was_computed_can_be_computed_again():
    told = manifest(seed=7, confidence=200, title="Cats")
    page = Page(summary.render(told))
    signature = told["comparison"]["metrics"][0]["signature"]
    for fact in (f"BLEU|{signature}", "200 resamples", "7", f"truebleu {tb.__version__}"):
        assert fact in page.text
    assert "36 segments" in page.text
    for digits in told["data_hash"].values():
        assert digits in page.text


def test_texts_that_are_not_there_are_said_not_to_be():
    assert "left out of this page" in rendered(redact_text=True).text
    assert "of 4 of 36 segments is in this page" in rendered(embed_text=4).text


def test_the_day_is_there_if_it_is_given(monkeypatch):
    assert "Made" not in rendered().text
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert "2023-11-14" in rendered().text


# ---- names ----


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name):
    plain = rendered(
        {"poor": POOR, "good": GOOD},
        title="t",
        scores={"S": {"poor": [1.0] * 36, "good": [2.0] * 36}},
        documents=["d"] * 36,
        labels={"l": ["v"] * 36},
    )
    hostile = rendered(
        {"poor": POOR, name: GOOD},
        title=name,
        scores={name: {"poor": [1.0] * 36, name: [2.0] * 36}},
        documents=[name] * 36,
        labels={name: [name] * 36},
    )
    assert hostile.elements[0] == ("article", {"class": "truebleu"})
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert hostile.attributes == plain.attributes
    if name.isprintable():
        assert f"B {name} is " in hostile.text


def test_no_style_and_no_handler_stands_at_an_element():
    systems = {"poor": POOR, "good": GOOD, "worst": WORST}
    attributes = rendered(systems, metrics=["bleu", "chrf"], correction="bh").attributes
    assert "style" not in attributes
    assert not [name for name in attributes if name.startswith("on")]


def test_a_notebook_gets_the_summary_and_a_style_of_its_own_class():
    shown = tb.report({"poor": POOR, "good": GOOD}, REFERENCES)._repr_html_()
    page = Page(shown)
    assert page.tags.isdisjoint({"script", "iframe", "link"})
    assert "B good is " in page.text
    rules = re.sub(r"@media[^{]*\{", "", page.scripts[0][1])
    for selector in re.findall(r"([^{}]+)\{", rules):
        assert all(part.strip().startswith(".truebleu") for part in selector.split(",")), selector


# ---- several metrics ----


def opposed(**options):
    """Systems that BLEU and given scores place in opposite orders."""
    order = {"good": 0.5, "poor": 0.7, "worst": 0.9}
    scores = {"X": {name: [x, x + 0.05, x + 0.1] * 12 for name, x in order.items()}}
    systems = {"good": GOOD, "poor": POOR, "worst": WORST}
    return manifest(systems, scores=scores, samples=999, confidence=99, **options)


def test_metrics_that_call_opposite_winners_are_told_of_first():
    told = opposed()
    text = Page(summary.render(told)).text
    notes = [one["text"] for one in told["comparison"]["notes"] if one["kind"] == "disagreement"]
    assert len(notes) == 3
    for note in notes:
        assert text.count(note) == 1
        assert text.index(note) < text.index("Won, tied, lost")
    assert "BLEU calls good better than worst (+" in text
    assert "), X calls worst better (+0.4000, p = 0.0010)." in text


def test_clusters_of_several_metrics_are_beside_each_other():
    text = " ".join(Page(summary.render(opposed())).text.split())
    assert "Clusters by metric cluster123 BLEU ↑ABC X ↑CBA" in text.replace("\n", "")
    assert "Clusters by metric" not in Page(summary.render(manifest())).text
