"""Filters: scores of the subset, progress and cancellation, and explanations."""

from __future__ import annotations

import re

import pytest
from playwright_or_skip import expect

from truebleu import BLEU, CHRF, tokenize
from truebleu.reports import payload, report

pytestmark = pytest.mark.thorough

# Backtracking doubles the work with each step, so this pattern never ends.
ENDLESS_PATTERN = "%28%28a%2B%29%2B%29%2B%24"


@pytest.fixture
def endless_report(tmp_path):
    """Return a report with a text on which `ENDLESS_PATTERN` does not end."""
    references = ["the cat is on the mat", "nobody was there at all", "a" * 200 + "!"] * 40
    systems = {"one": ["the cat sat on the mat", *references[1:]], "two": references[::-1]}
    path = tmp_path / "endless.html"
    report(systems, references, samples=50, confidence=50).save(path)
    return path


def locate_subset_line(tab):
    return tab.locator(".subset")


# ---- long searches ----


def test_running_filter_shows_no_numbers_and_can_be_cancelled(endless_report, open_report):
    sheet = open_report(endless_report)
    tab = sheet.navigate("#segments")
    expect(locate_subset_line(tab)).to_contain_text(re.compile("120 segments.*95%"))
    before = locate_subset_line(tab).inner_text()
    tab.evaluate(f"location.hash = '#segments?regex=true&find={ENDLESS_PATTERN}'")
    expect(tab.locator(".chips")).to_contain_text("((a+)+)+$")
    expect(locate_subset_line(tab)).to_have_text(re.compile(r"^Searching …( \d+%)?Cancel$"))
    expect(tab.locator(".grid")).to_have_attribute("aria-busy", "true")
    assert not re.search(r"\d\.\d", locate_subset_line(tab).inner_text())
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator(".chips button")).to_have_count(0)
    expect(locate_subset_line(tab)).to_contain_text("95%")
    assert locate_subset_line(tab).inner_text() == before
    expect(tab.locator(".grid")).to_have_attribute("aria-busy", "false")
    # The worker is available again.
    tab.evaluate("location.hash = '#segments?regex=true&find=nob.dy'")
    expect(locate_subset_line(tab)).to_contain_text("40 of 120 segments")


def test_cancel_restores_previous_filter(endless_report, open_report):
    tab = open_report(endless_report).navigate("#segments?find=nobody")
    expect(locate_subset_line(tab)).to_contain_text("40 of 120 segments")
    tab.evaluate(f"location.hash = '#segments?regex=true&find={ENDLESS_PATTERN}'")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator(".chips")).to_contain_text("nobody")
    expect(locate_subset_line(tab)).to_contain_text("40 of 120 segments")


def test_export_waits_for_running_filter(endless_report, open_report):
    tab = open_report(endless_report, f"#exports?regex=true&find={ENDLESS_PATTERN}").page
    expect(tab.get_by_role("button", name="Save as TSV")).to_be_disabled()
    expect(tab.locator("main.view")).to_contain_text("wait until the filter has finished")


def test_timed_out_pattern_is_reported(endless_report, open_report):
    # Shorten the page's timeout of 10 seconds, because the pattern never ends.
    short = (
        "const set = setTimeout; window.setTimeout = (f, t, ...a) => set(f, t > 5e3 ? 50 : t, ...a)"
    )
    fragment = f"#segments?regex=true&find={ENDLESS_PATTERN}"
    tab = open_report(endless_report, fragment, script=short).page
    expect(locate_subset_line(tab)).to_have_text("The search was stopped after 10 seconds.")
    expect(tab.locator(".list .empty")).to_contain_text("was stopped")
    assert "0 of" not in tab.locator("#app").inner_text()


def test_invalid_pattern_is_reported(example, open_report):
    tab = open_report(example.path, "#segments?regex=true&find=%28").page
    expect(locate_subset_line(tab)).to_contain_text("Invalid regular expression")
    assert "0 of" not in tab.locator("#app").inner_text()


def test_search_of_redacted_report_is_explained(open_report):
    example_report = report({"a": ["x y"] * 30}, ["x z"] * 30, redact_text=True, confidence=50)
    tab = open_report(example_report, "#segments?find=x").page
    expect(locate_subset_line(tab)).to_have_text("This report has no texts.")


# ---- recounting ----

# Counts the kernel's counts, which fail on request.
OBSERVED_KERNEL = """
const make = WebAssembly.instantiate;
window.counts = 0;
WebAssembly.instantiate = async (...given) => {
  const {instance} = await make(...given), own = {...instance.exports};
  own.page_count = (...all) => {
    window.counts++;
    if (window.failing) throw new Error("out of memory");
    return instance.exports.page_count(...all);
  };
  return {instance: {exports: own}};
};
"""


def test_count_error_restores_previous_setting(example, open_report):
    sheet = open_report(example.path, "#why?tokenize=intl", script=OBSERVED_KERNEL)
    tab = sheet.page
    expect(tab.locator(".notice code")).to_contain_text("tok:intl")
    tab.evaluate("window.failing = true")
    tab.get_by_label("Tokenizer").select_option("char")
    expect(tab.locator("#toast")).to_contain_text("Counting failed: out of memory")
    expect(tab.locator(".notice")).not_to_contain_text("Counting")
    expect(tab.locator(".notice code")).to_contain_text("tok:intl")
    expect(tab.get_by_label("Tokenizer")).to_have_value("intl")
    assert "tokenize=intl" in tab.url


PAUSED_TIMERS = """
const later = setTimeout;
window.setTimeout = (f, t, ...a) =>
  window.held && t === undefined ? (window.kept ??= []).push(f) : later(f, t, ...a);
// And each slice seems to take long.
const now = performance.now.bind(performance);
let more = 0;
performance.now = () => now() + (window.held ? more += 1000 : more);
"""


def test_cancelled_count_restores_previous_setting(example, open_report):
    tab = open_report(example.path, "#why?tokenize=intl&lowercase=yes", script=PAUSED_TIMERS).page
    expect(tab.locator(".notice code")).to_contain_text("tok:intl")
    # This pauses the count between two slices.
    tab.evaluate("window.held = true")
    tab.get_by_label("Tokenizer").select_option("char")
    notice = tab.locator(".notice")
    expect(notice).to_contain_text("Counting …")
    notice.get_by_role("button", name="Cancel").click()
    expect(notice.locator("code")).to_contain_text("case:lc|eff:no|tok:intl")
    assert "tokenize=intl" in tab.url
    assert "lowercase=yes" in tab.url
    tab.evaluate("window.held = false; window.kept.forEach(f => f())")
    expect(notice.locator("code")).to_contain_text("tok:intl")


def test_latest_counts_are_cached(example, open_report):
    tab = open_report(example.path, "#why", script=OBSERVED_KERNEL).page
    choices = tab.get_by_label("Tokenizer")

    def count_kernel_calls(name):
        """Select a tokenizer and return the number of kernel calls until its counts appear."""
        before = tab.evaluate("window.counts")
        choices.select_option(name)
        expect(tab.locator(".notice code")).to_contain_text(f"tok:{name}|")
        return tab.evaluate("window.counts") - before

    for name in ("char", "intl", "none", "zh"):
        assert count_kernel_calls(name) > 0
    for name in ("none", "intl", "char"):
        assert count_kernel_calls(name) == 0
    assert count_kernel_calls("jiwer") > 0
    # The least recently used count is no longer cached.
    assert count_kernel_calls("char") == 0
    assert count_kernel_calls("zh") > 0


# ---- segments that contain an n-gram ----


@pytest.mark.parametrize(("order", "position"), [(1, 0), (1, 1), (2, 0), (3, 0)])
def test_ngram_link_lists_all_matching_segments(example, open_report, order, position):
    tab = open_report(example.path, f"#ngrams?order={order}").page
    link = tab.locator("main.view tbody th a").nth(position)
    gram = link.inner_text()
    link.click()
    words = gram.split()

    def has_ngram(text):
        tokens = tokenize(text)
        return any(tokens[i : i + len(words)] == words for i in range(len(tokens)))

    columns = example.hypotheses["birch"], example.hypotheses["cedar"], example.references
    matching_segments = [
        i
        for i, (birch, cedar, row) in enumerate(zip(*columns, strict=True))
        if any(map(has_ngram, (birch, cedar, *row)))
    ]
    assert len(matching_segments) > 1
    line = locate_subset_line(tab)
    expect(line.locator("strong").first).to_have_text(str(len(matching_segments)))
    expect(tab.locator(".chips")).to_contain_text(f"contains “{gram}” in a reference, B or A")
    scores = line.locator("data").evaluate_all("all => all.map(one => Number(one.value))")
    for name, shown_score in zip(("birch", "cedar"), scores, strict=False):
        texts = [example.hypotheses[name][i] for i in matching_segments]
        expected_score = BLEU().score(texts, [example.references[i] for i in matching_segments])
        assert shown_score == pytest.approx(float(expected_score), abs=1e-9)


def test_partial_text_gives_examples_without_score(open_report):
    """If texts are missing, the matches are incomplete and have no score."""
    texts = [f"the cat number {i} sat on the mat , again" for i in range(60)]
    changed_texts = [text.replace("sat", "is") for text in texts]
    systems = {"a": changed_texts, "b": texts}
    example_report = report(systems, texts, embed_text=30, samples=50, confidence=50)
    tab = open_report(example_report, "#segments?holds=sat").page
    expect(locate_subset_line(tab)).to_contain_text(
        "30 of 60 segments (this report contains the texts of 30 segments)"
    )
    expect(locate_subset_line(tab)).to_contain_text(
        "no score: this report does not have the texts of all segments"
    )
    expect(locate_subset_line(tab).locator("data")).to_have_count(0)


def test_ngrams_of_custom_tokenizer_list_examples(open_report):
    texts = ["the cat sat on the mat", "nobody is here now"] * 40
    changed_texts = ["the cat is on a mat", "nobody was here now"] * 40
    metric = BLEU(tokenize=str.split)
    example_report = report(
        {"a": changed_texts, "b": texts}, texts, metrics=[metric], samples=50, confidence=50
    )
    tab = open_report(example_report, "#ngrams").page
    tab.locator("tbody th a").first.click()
    expect(tab.locator(".chips")).to_contain_text("examples with")
    expect(locate_subset_line(tab)).to_contain_text("no score: these segments are only examples")
    expect(locate_subset_line(tab).locator("data")).to_have_count(0)


def test_frequency_bin_links_to_all_its_segments(open_report):
    """Check a bin with more segments than a URL could list."""
    references = [f"word{i} and the cat sat on the mat" for i in range(600)]
    systems = {
        "one": [text.replace(f"word{i}", "it") for i, text in enumerate(references)],
        "two": references,
    }
    example_report = report(systems, references, samples=50, confidence=50)
    tab = open_report(example_report, "#buckets?bucket=frequency").page
    row = tab.locator("main.view figure tbody tr").first
    expect(row.locator("a")).to_have_text("600")
    tab.get_by_text("As a table").last.click()
    row.locator("a").click()
    expect(tab.locator(".chips")).to_contain_text("differ in words with frequency 1")
    expect(locate_subset_line(tab)).to_contain_text("600")
    # The filter does not depend on a system, so the scores cover all segments of the bin.
    expect(locate_subset_line(tab).locator("data").nth(1)).to_have_text("100.00")


def test_missed_words_of_single_system_link_to_segments(open_report):
    references = [f"word{i} and the cat sat on the mat" for i in range(40)]
    outputs = [text.replace("word", "it") if i % 2 else text for i, text in enumerate(references)]
    example_report = report({"one": outputs}, references, confidence=None)
    tab = open_report(example_report, "#segments?seen=0").page
    expect(tab.locator(".chips")).to_contain_text("miss words with frequency 1")
    expect(locate_subset_line(tab)).to_contain_text("20 of 40 segments")


# ---- intervals ----


def test_delta_has_same_interval_in_all_views(example, open_report):
    sheet = open_report(example.path)
    pairs = example.report.to_dict()["comparison"]["pairs"]
    for number, name in enumerate(["BLEU", "chrF2", "TER"]):
        (pair,) = (
            p for p in pairs if {p["metric"], p["first"], p["second"]} == {name, "birch", "cedar"}
        )
        ends = sorted([pair["interval"]["low"], pair["interval"]["high"]])
        if pair["first"] == "birch":
            ends = sorted(-end for end in ends)
        interval_text = f"[{ends[0]:+.2f}, {ends[1]:+.2f}]".replace("-", "−")
        # The list of all settings shows the interval whichever setting is selected.
        for setting in (0, 1):
            tab = sheet.navigate(f"#why?setting={setting}")
            row = tab.locator("section:has(h2:text-is('All settings')) tbody tr").nth(number)
            expect(row).to_contain_text(interval_text)
        tab = sheet.navigate(f"#segments?setting={number}")
        expect(locate_subset_line(tab)).to_contain_text(interval_text)


def test_untested_setting_has_same_interval_in_all_views(example, open_report):
    sheet = open_report(example.path)
    tab = sheet.navigate("#segments?tokenize=intl")
    expect(locate_subset_line(tab)).to_contain_text("bootstrap resamples")
    interval_text = re.search(r"\[[^]]*\]", locate_subset_line(tab).inner_text())[0]
    tab = sheet.navigate("#why?tokenize=intl")
    expect(tab.locator("tr.chosen")).to_contain_text(interval_text)
    expect(tab.locator(".chart figcaption").first).to_contain_text(interval_text)


# ---- small groups ----


def test_interval_depends_on_segment_count(example, open_report):
    sheet = open_report(example.path)
    cases = (19, "too few for an interval", 0), (20, "bootstrap", 1), (100, "bootstrap", 0)
    for segment_count, expected_text, faint in cases:
        tab = sheet.navigate(f"#segments?only={','.join(str(i + 1) for i in range(segment_count))}")
        expect(locate_subset_line(tab)).to_contain_text(f"{segment_count} of 128 segments")
        expect(locate_subset_line(tab)).to_contain_text(expected_text)
        expect(locate_subset_line(tab).locator(".faint")).to_have_count(faint)


@pytest.mark.parametrize("view", ["buckets", "documents", "buckets?bucket=label0"])
def test_small_groups_have_no_interval(example, open_report, view):
    tab = open_report(example.path, f"#{view}").page
    expect(tab.locator("main.view")).not_to_contain_text("interval …")
    seen = set()
    for row in tab.locator("main.view tbody tr").all():
        cells = row.locator("th, td").all_text_contents()
        is_small = int(cells[1].split()[0].replace(",", "")) < 20
        if "–" in cells or any("[" in cell for cell in cells):
            assert ("–" in cells) == is_small, cells
            assert any("[" in cell for cell in cells) != is_small, cells
            seen.add(is_small)
    assert seen
    expect(tab.get_by_text("omitted (–) for fewer than 20")).to_have_count(1)


# ---- lengths and ties ----


def test_length_unit_is_independent_of_metric(example, open_report):
    sheet = open_report(example.path)
    lengths = [len(tokenize(row[0])) for row in example.references]
    matching_count = sum(10 <= n <= 20 for n in lengths)
    for setting in range(3):
        tab = sheet.navigate(f"#segments?setting={setting}&range=length:10:20")
        expect(locate_subset_line(tab)).to_contain_text(f"{matching_count} of 128 segments")
        tab = sheet.navigate(f"#buckets?setting={setting}")
        title = "length of the first reference in tokens (13a)"
        expect(tab.locator("main.view")).to_contain_text(title)
        counts = tab.locator("figure").first.locator("tbody tr td:nth-child(2)").all_text_contents()
        assert sum(int(c.split()[0]) for c in counts) == 128


def test_lengths_are_independent_of_systems():
    references = [["a b c d", "a b"], [None, "x y z"], ["", "e"]]
    metrics = [CHRF(), BLEU()]
    for text in ("a", "a b c d e f"):
        made = report({"s": [text] * 3}, references, metrics=metrics, confidence=None)
        assert made._data.extra_blocks["lengths"] == payload.encode_indices([4, 3, 0])


def test_ties_have_a_separate_bar(example, open_report):
    tab = open_report(example.path, "#exports").page
    table = tab.locator("figure").last.locator("tbody tr").last
    bar = tab.locator("figure").last.locator("rect.ties title")
    a, b = (
        list(BLEU().segments(example.hypotheses[n], example.references)) for n in ("birch", "cedar")
    )
    ties = sum(x == y for x, y in zip(a, b, strict=True))
    assert ties > 0
    assert table.locator("td").text_content() == str(ties)
    assert bar.text_content() == f"0: {ties}"
    bins = tab.locator("figure").last.locator("rect.bin title").all_text_contents()
    assert sum(int(title.split(": ")[1]) for title in bins) + ties == 128
