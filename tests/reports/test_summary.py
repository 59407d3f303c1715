"""The static summary of a report: its text, and escaping of names."""

import re

import pytest
from page_parser import Page, parse_rows

import truebleu as tb
from truebleu.comparison import overview
from truebleu.reports import static_summary

REFERENCES = ["the cat is on the mat", "nobody was there at all", "it rains again today"] * 12
GOOD = ["the cat is on a mat", "nobody was there at all", "it rains again today"] * 12
POOR = ["a cat is at the mat", "nobody were here at all", "it rains again today"] * 12
WORST = ["cat mat", "no", "rain rain today"] * 12


def build_manifest(systems=None, references=REFERENCES, **options):
    return tb.report(systems or {"poor": POOR, "good": GOOD}, references, **options).to_dict()


def make_sentence(manifest) -> str:
    """Return the start of the summary, which describes the best system and the metrics."""
    return overview.format_headline(manifest["comparison"]).partition(" On WMT23, human ")[0]


def render(*arguments, **options) -> Page:
    return Page(static_summary.render_summary(build_manifest(*arguments, **options)))


# ---- the sentence ----


def test_sentence_has_winner_delta_and_significance():
    manifest = build_manifest()
    sentence = make_sentence(manifest)
    difference = manifest["comparison"]["pairs"][0]
    low, high = difference["interval"]["low"], difference["interval"]["high"]
    best = manifest["comparison"]["systems"][0]["scores"]["BLEU"]["score"]
    assert sentence == (
        f"A good is best: {best:.1f} BLEU, {difference['value']:.1f} above B poor "
        f"(95% interval {low:.1f} to {high:.1f}; p = 0.0001). "
        "The difference is significant at 0.05."
    )


def test_system_is_called_best_only_if_lead_is_significant():
    """Without a test, or with one segment of difference, the system only has the best score."""
    assert make_sentence(build_manifest()).startswith("A good is best: ")
    sentence = make_sentence(build_manifest(test=None))
    assert sentence.startswith("A good has the best BLEU: ")
    assert "95% interval" in sentence
    assert not re.search("p =|significant", sentence)
    almost_good = [*GOOD[:-1], "it rains again"]
    sentence = make_sentence(build_manifest({"x": almost_good, "good": GOOD}))
    assert sentence.startswith("A good has the best BLEU: ")


def test_sentence_names_winning_baseline():
    sentence = make_sentence(build_manifest({"good": GOOD, "poor": POOR}))
    assert sentence.startswith("A good, the baseline, is best: ")


def test_sentence_mentions_other_metrics():
    same = {"X": {"poor": [0.1] * 36, "good": [0.2] * 36}}
    opposite = {"Y": {"poor": [0.2] * 35 + [0.3], "good": [0.1] * 36}}
    errors = {"TER": {"poor": [10.0] * 36, "good": [12.0] * 36}}
    opposite_end = " X ranks the same system first. But Y ranks B poor first: 0.2028, 0.1028 above"
    for metrics, scores, end in (
        (["bleu", "ter"], same, " TER and X rank the same system first."),
        (["bleu"], same | opposite, f"{opposite_end} A good (significant)."),
        (["bleu"], errors, " But TER ranks B poor first: 10.00, 2.00 below A good (significant)."),
    ):
        manifest = build_manifest(metrics=metrics, scores=scores, samples=99, confidence=99)
        assert make_sentence(manifest).endswith(end)


@pytest.mark.parametrize(
    ("name", "good", "poor", "end"),
    [
        ("Z", 0.2, 0.1, " Z (p = 1) puts the same system first, but not significantly."),
        ("TER", 0.1, 0.2, " TER (p = 1) puts the same system first, but not significantly."),
        ("Z", 0.1, 0.2, ", 0.0028 above A good (p = 1)."),
        ("TER", 0.2, 0.1, ", 0.0028 below A good (p = 1)."),
    ],
)
def test_rank_that_is_not_significant_is_called_so(name, good, poor, end):
    """The systems differ in one of 36 segments, so both orders are equally likely."""
    equal = [0.3, 0.4] * 17 + [0.3]
    scores = {name: {"poor": [poor, *equal], "good": [good, *equal]}}
    sentence = make_sentence(build_manifest(scores=scores, samples=99, confidence=99))
    assert sentence.endswith(end)
    assert f"{name} ranks" not in sentence
    assert f"But {name} puts B poor first, but not significantly: " in sentence or "same" in end
    untested = make_sentence(build_manifest(scores=scores, test=None, confidence=99))
    assert f"{name} ranks" in untested


def test_headline_pieces_form_sentence():
    manifest = build_manifest({"poor": POOR, "worst": WORST, "good": GOOD}, metrics=["bleu", "ter"])
    letters = {system["name"]: system["letter"] for system in manifest["systems"]}
    pieces = [
        one if isinstance(one, str) else f"{letters[one['system']]} {one['system']}"
        for one in manifest["headline"]
    ]
    assert "".join(pieces) == overview.format_headline(manifest["comparison"])


def test_equal_outputs_have_same_score():
    sentence = make_sentence(build_manifest({"a": GOOD, "b": list(GOOD)}))
    assert re.fullmatch(r"a and b have the same BLEU, \d+\.\d\.", sentence)


def test_insignificant_difference_is_explained():
    nearly_equal = ["the cat is on the mat", *GOOD[1:]]
    sentence = make_sentence(build_manifest({"a": GOOD, "b": nearly_equal}))
    end = "not significant at 0.05: a difference of this size can arise by chance."
    assert sentence.endswith(end)


def test_one_segment_gives_no_interval():
    page = render({"a": ["the cat sat on the mat"], "b": ["a cat is here on a mat"]}, ["the cat"])
    assert "n too small" in page.text
    assert "one segment cannot be resampled" in page.text


# ---- the tables ----


def test_table_has_all_systems_and_metrics():
    manifest = build_manifest(metrics=["bleu", "ter"])
    summary = static_summary.render_summary(manifest)
    over, head, good, poor = parse_rows(summary.partition("</table>")[0])
    assert over == ["", "system", "BLEU ↑", "TER ↓"]
    assert head == ["score", "Δ from B", "cluster"] * 2
    best, baseline = manifest["comparison"]["systems"]
    assert (best["name"], baseline["name"]) == ("good", "poor")
    assert good[:2] == ["A", "good"]
    assert poor[:2] == ["B", "poor"]
    for i, name in enumerate(["BLEU", "TER"]):
        scores = best["scores"][name]
        low, high = scores["interval"]["low"], scores["interval"]["high"]
        score, delta, cluster = good[2 + 3 * i : 5 + 3 * i]
        assert score == f"{scores['score']:.1f}[{low:.1f}, {high:.1f}]"
        value, ends = scores["difference"]["value"], scores["difference"]["interval"]
        written = f"{value:+.1f}* p 0.0001[{ends['low']:+.1f}, {ends['high']:+.1f}]"
        assert delta == written.replace("-", "−")
        assert cluster == "1"
        assert poor[3 + 3 * i : 5 + 3 * i] == ["baseline", "2"]


def test_details_fold_per_metric():
    manifest = build_manifest({"poor": POOR, "good": GOOD, "worst": WORST}, metrics=["bleu", "ter"])
    markup = static_summary.render_summary(manifest)
    folds = re.findall("(?s)<details><summary>(.*?)</summary>(.*?)</details>", markup)
    assert [title for title, _ in folds] == [
        "BLEU ↑ in detail: intervals, tests, components, lengths and all pairs",
        "TER ↓ in detail: intervals, tests and all pairs",
    ]
    for _, inner in folds:
        text = Page(inner).text
        assert "segments needed for 80% power" in text
        assert "segments won" in text
    assert "brevity penalty" in Page(folds[0][1]).text
    pair = manifest["comparison"]["pairs"][0]
    assert f"+{pair['value']:.1f}*" in Page(folds[0][1]).text


def test_legend_explains_terms():
    text = render(correction="holm").text
    for explanation in (
        "Bold: best score.",
        "Brackets: 95% intervals (percentile bootstrap, ",
        "Δ: difference from poor.",
        "*: p Holm < 0.05, paired approximate randomization.",  # a single test per metric
        "Systems in different clusters differ significantly.",
    ):
        assert explanation in text
    assert text.index("Systems in different clusters") < text.index("in detail:")


def test_legend_states_number_of_corrected_tests():
    systems = {"poor": POOR, "worst": WORST, "good": GOOD, "same": [*GOOD[:-1], "it rains"]}
    manifest = build_manifest(systems, metrics=["bleu", "ter"], correction="holm", baseline="worst")
    text = Page(static_summary.render_summary(manifest)).text
    assert "*: p Holm < 0.05, corrected for all 6 pairs per metric, paired" in text
    assert "; p Holm = " in text
    assert ", corrected for all 6 pairs per metric)." in make_sentence(manifest)
    assert "all 6 pairs per metric" in " ".join(manifest["legend"])
    one_metric = render(systems, correction="bh")
    assert "*: p BH < 0.05, corrected for all 6 pairs, paired" in one_metric.text


def test_forest_plot_has_panel_and_axis_per_metric():
    manifest = build_manifest({"poor": POOR, "good": GOOD, "worst": WORST}, metrics=["bleu", "ter"])
    markup = static_summary.render_summary(manifest)
    plot = markup[markup.index('<table class="forest-plot">') :]
    plot = plot[: plot.index("</table>")]
    assert re.findall('<th scope="col">(.*?)</th>', plot) == ["Δ BLEU from B", "Δ TER from B"]
    names = re.findall('<th scope="row">(.*?)</th>', plot)
    assert names == [f"{s['letter']} {s['name']}" for s in manifest["comparison"]["systems"]]
    drawings = re.findall("<svg.*?</svg>", plot)
    assert len(drawings) == 2 * 3 + 2
    # The baseline is at zero. TER's axis is reversed, so that better is to the right.
    places = {}
    for panel, metric in enumerate(["BLEU", "TER"]):
        for row, system in enumerate(manifest["comparison"]["systems"]):
            match = re.search(r'circle cx="([\d.]+)"|path d="M([\d.]+)', drawings[2 * row + panel])
            places[metric, system["name"]] = float(match[1] or match[2])
        assert re.search(rf'class="zero" x1="{places[metric, "poor"]}', drawings[panel])
        assert places[metric, "worst"] < places[metric, "poor"] < places[metric, "good"]
        ticks = [
            float(t.replace("−", "-"))
            for t in re.findall(">([−0-9.]+)</text>", drawings[6 + panel])
        ]
        assert 0 in ticks
        assert len(ticks) > 2
    assert "better is to the right (TER: axis reversed)" in plot


def test_untrusted_notebook_keeps_plain_table():
    """An untrusted notebook removes styles and images."""
    markup = tb.report({"poor": POOR, "good": GOOD}, REFERENCES, title="Cats")._repr_html_()
    assert not re.search("<d[ltd]>", markup)
    plain = re.sub("(?s)<style>.*?</style>|<svg.*?</svg>", "", markup)
    for needed in ("<table>", "<th", "<br><small>["):
        assert needed in plain
    # The axis labels stay separated if the image's elements are removed but not its text.
    axis = re.search("(?s)<tfoot>.*?</tfoot>", markup)[0]
    assert re.search(r"(^|\s)0\s+\d", re.sub("<[^>]*>", "", axis))


def test_intervals_are_drawn_if_computed():
    assert "svg" in render().tags
    assert "svg" not in render(confidence=None).tags


def test_bleu_components_are_listed():
    text = render().text
    for head in ("p1", "p4", "brevity penalty", "reference tokens", "ratio"):
        assert head in text
    assert "p1" not in render(metrics=["chrf"]).text


# ---- the facts ----


def test_settings_and_hashes_are_listed():
    manifest = build_manifest(seed=7, confidence=200, title="Cats")
    page = Page(static_summary.render_summary(manifest))
    signature = manifest["comparison"]["metrics"][0]["signature"]
    for fact in (f"BLEU|{signature}", "200 resamples", "7", f"truebleu {tb.__version__}"):
        assert fact in page.text
    assert "36 segments" in page.text
    for digits in manifest["data_hash"].values():
        assert digits in page.text


def test_omitted_texts_are_reported():
    assert "not in this report" in render(redact_text=True).text
    assert "4 of 36 segments: the most influential" in render(embed_text=4).text


def test_date_needs_source_date_epoch(monkeypatch):
    assert "Created on" not in render().text
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert "2023-11-14" in render().text


# ---- names ----


def test_elements_have_no_style_or_handler():
    systems = {"poor": POOR, "good": GOOD, "worst": WORST}
    attributes = render(systems, metrics=["bleu", "chrf"], correction="bh").attributes
    assert "style" not in attributes
    assert not [name for name in attributes if name.startswith("on")]


def test_notebook_style_is_scoped():
    markup = tb.report({"poor": POOR, "good": GOOD}, REFERENCES)._repr_html_()
    page = Page(markup)
    assert page.tags.isdisjoint({"script", "iframe", "link"})
    assert "A good is " in page.text
    rules = re.sub(r"@media[^{]*\{|/\*.*?\*/", "", page.scripts[0][1])
    for selector in re.findall(r"([^{}]+)\{", rules):
        plain = selector.replace(":is(.truebleu, #truebleu)", "@")
        while "(" in plain:
            plain = re.sub(r"\([^()]*\)", "", plain)
        assert all("@" in part for part in plain.split(",")), selector


# ---- several metrics ----


def build_opposed_manifest(**options):
    """Return a manifest in which BLEU and external scores rank the systems in opposite orders."""
    order = {"good": 0.5, "poor": 0.7, "worst": 0.9}
    scores = {"X": {name: [x, x + 0.05, x + 0.1] * 12 for name, x in order.items()}}
    systems = {"good": GOOD, "poor": POOR, "worst": WORST}
    return build_manifest(systems, scores=scores, samples=999, confidence=99, **options)


def test_opposite_winners_precede_tables():
    manifest = build_opposed_manifest()
    text = Page(static_summary.render_summary(manifest)).text
    notes = [
        one["text"] for one in manifest["comparison"]["notes"] if one["kind"] == "disagreement"
    ]
    assert len(notes) == 3
    for note in notes:
        assert text.count(note) == 1
        assert text.index(note) < text.index("Won, tied and lost")
    assert "BLEU prefers good to worst (+" in text
    assert "), X prefers worst (+0.4000, p = 0.0010)." in text
