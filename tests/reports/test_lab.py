"""The laboratory: an empty page, and sentences that are scored in it as Python scores them."""

import json
import re
import shlex

import pytest
from axe_core import LOOKS, found
from browser_report import typed
from closeness import is_close
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright_or_skip import expect

import truebleu as tb
from truebleu.cli import main
from truebleu.reports import browser_kernel
from truebleu.reports.lab import PLAYGROUND_METRICS, Laboratory, lab

pytestmark = pytest.mark.thorough

# What the page makes of a link to it, with all digits: the score, and every other number.
SHOWN = """() => {
  // What does not show has a mark, which says what it is.
  const plain = token => [...token.childNodes].map((node, i, all) => node.nodeType === 1
    ? String.fromCodePoint(parseInt(node.title.slice(2), 16))
    : all[i - 1]?.title === "U+2028" ? node.data.slice(1) : node.data).join("");
  const number = node => node ? Number(node.value || node.textContent) : null;
  const below = (node, selector, each) => [...node.querySelectorAll(selector)].map(each);
  const all = (selector, each) => below(document, selector, each);
  return {
    score: number(document.querySelector(".big data")),
    formula: all(".formula data", number),
    terms: all(".formula .term .value data", number),
    fractions: all(".formula .term .fraction", node => node.textContent),
    tokens: all(".tokens", line => below(line, ".token", plain)),
    counted: all(".orders > section", section => below(section, "tbody tr", row =>
      [JSON.parse(row.dataset.gram), ...below(row, "td", cell => cell.firstChild.textContent)])),
    orders: all(".orders h3 .soft", node => node.textContent.trim()),
    given: all(".again .given", node => node.textContent),
    problem: document.querySelector(".failed:not([hidden])")?.textContent ?? null,
  };
}"""

# Opens a link in the same tab.
FOLLOW = """where => new Promise(done => {
  addEventListener("hashchange", () => setTimeout(done), {once: true});
  location.hash = where;
})"""

# Types into the boxes of the translation and the references.
TYPE = """texts => document.querySelectorAll(".typed textarea").forEach((box, i) => {
  box.value = texts[i] ?? "";
  box.dispatchEvent(new Event("input", {bubbles: true}));
})"""

needs_kernel = pytest.mark.skipif(
    not browser_kernel.load_kernel_blocks(), reason="built without the kernel for pages"
)


# ---- the file ----


@needs_kernel
def test_the_page_is_the_same_each_time_and_needs_nothing_else(tmp_path):
    tb.lab(tmp_path / "lab.html")
    page = (tmp_path / "lab.html").read_bytes()
    assert page == lab().to_bytes() == lab().html().encode()
    assert b"connect-src 'none'" in page
    assert not re.search(rb"(?:src|href)=[\"']?http", page)
    assert repr(lab()) == f"<Laboratory of {len(page):,} bytes>"


def test_a_package_without_the_kernel_says_what_is_missing_and_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr(browser_kernel, "load_kernel_blocks", dict)
    with pytest.raises(ImportError, match="rustup target add wasm32-unknown-unknown"):
        Laboratory()
    assert main(["lab", "-o", "lab.html"]) == 1
    assert "built without the browser kernel" in capsys.readouterr().err


@needs_kernel
def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["lab", "--open"]) == 0
    address = (tmp_path / "lab.html").as_uri()
    assert (tmp_path / "lab.html").read_bytes() == lab().to_bytes()
    assert opened == [address]
    assert capsys.readouterr().err == f"truebleu: note: written: {address}\n"
    assert main(["lab", "-o", "other.html", "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lab.html", "other.html"]


def test_standard_output_cannot_be_opened(capsys):
    assert main(["lab", "-o", "-", "--open"]) == 2
    assert "standard output is no file that a browser could open" in capsys.readouterr().err


# ---- sentences ----


def link(name, chosen, hypothesis, references):
    from urllib.parse import urlencode

    chosen = [(f"p.{key}", json.dumps(value)) for key, value in chosen.items()]
    texts = [("h", hypothesis), *(("r", text) for text in references)]
    return f"#lab?{urlencode([('m', name), *chosen, *texts])}"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    if not browser_kernel.load_kernel_blocks():
        pytest.skip("built without the kernel for pages")
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    lab(path)
    return path


@pytest.fixture
def page(opened, written):
    return opened(written).page


CASES = [
    ("the ferry leaves the harbour at nine", ["the ferry leaves the old harbour at nine today"]),
    ("the the the the", ["the gull sits on the mast", "the mast, the gull, the sea"]),
    ("", ["nothing was written"]),
    ("A", [""]),
    ("“It's 3.50 euros”, she said; no more.", ['"It\'s 3.50 euros," she said: no more.', "x"]),
    ("ANNA met Paul in İstanbul ΟΔΟΣ", ["anna met paul in i̇stanbul οδος"]),
    ("船は九時に古い港を出ます。", ["船は朝九時に古い港を出る。"]),
    ("-a <b>&amp;</b> it's $5", ["-a <b>&</b> it's $6"]),
]

SETTINGS = [
    ("bleu", {}),
    ("bleu", {"tokenize": "char", "lowercase": True}),
    ("bleu", {"tokenize": "intl", "smoothing": "floor", "effective_order": False}),
    ("bleu", {"smoothing": "add-k", "smoothing_value": 0.5, "max_order": 6}),
    ("bleu", {"smoothing": "none", "tokenize": "none", "max_order": 2}),
    ("bleu", {"tokenize": "zh"}),
    ("chrf", {}),
    ("chrf", {"word_order": 2, "lowercase": True}),
    ("chrf", {"char_order": 3, "word_order": 1, "beta": 1, "whitespace": True}),
    ("ter", {}),
    ("ter", {"normalized": True, "no_punct": True, "case_sensitive": True}),
    ("wer", {"tokenize": "13a"}),
    ("mer", {}),
    ("wil", {"lowercase": True}),
    ("wip", {}),
    ("cer", {"lowercase": True}),
]


def scored(name, chosen, hypothesis, references):
    """Python's score; None where it refuses, as metrics of one reference do."""
    try:
        return tb.metric(name, **chosen).sentence(hypothesis, references)
    except (ValueError, tb.InputError):
        return None


@pytest.mark.parametrize(("name", "chosen"), SETTINGS)
def test_every_number_is_that_of_python(page, name, chosen):
    checked = 0
    for hypothesis, references in CASES:
        score = scored(name, chosen, hypothesis, references)
        page.evaluate(FOLLOW, link(name, chosen, hypothesis, references))
        shown = page.evaluate(SHOWN)
        if score is None:
            assert shown["problem"]
            continue
        checked += 1
        assert shown["problem"] is None
        assert is_close(shown["score"], score.value)
        signature, python, *command = shown["given"]
        assert signature == f"{score.name}|{score.signature}"
        assert eval(python, {"truebleu": tb}).value == score.value
        if command:
            assert shlex.split(command[0])[:2] == ["truebleu", "explain"]
        if name == "bleu":
            check_bleu(shown, score, tb.metric(name, **chosen), hypothesis, references)
        if name == "chrf":
            check_chrf(shown, score)
    assert checked >= 4


def check_bleu(shown, score, metric, hypothesis, references):
    brevity, *_, again, mean, value = shown["formula"]
    assert brevity == again
    assert is_close(brevity, score.brevity_penalty)
    assert is_close(value, score.value)
    assert is_close(mean * brevity, score.value)
    used = [p for p, total in zip(score.precisions, score.totals, strict=True) if total]
    if shown["terms"]:
        assert is_close(shown["terms"][: len(used)], used)
    assert shown["orders"] == [
        f"{m} of {t}" for m, t in zip(score.matches, score.totals, strict=True)
    ]
    tokens = tb.tokenize
    split = [
        tokens(text, metric.tokenize, lowercase=metric.lowercase)
        for text in (hypothesis, *references)
    ]
    assert shown["tokens"] == split
    for order, grams in enumerate(shown["counted"]):
        if score.totals[order] <= 16:
            assert sum(int(own) for _, own, _, _ in grams) == score.totals[order]
            assert sum(int(counted) for *_, counted in grams) == score.matches[order]


def check_chrf(shown, score):
    orders = [f"{m} of {t}" for m, t in zip(score.matches, score.hypothesis_totals, strict=True)]
    assert shown["orders"] == orders
    for order, grams in enumerate(shown["counted"]):
        if score.hypothesis_totals[order] <= 16:
            assert sum(int(counted) for *_, counted in grams) == score.matches[order]


def test_metrics_of_the_page_are_declared_once():
    assert [tb.metric(name).NAME for name in PLAYGROUND_METRICS] == [
        "BLEU", "chrF", "TER", "WER", "MER", "WIL", "WIP", "CER",
    ]  # fmt: skip


WORDS = ["the", "cat", "sat", "on", "a", "Mat", "mat", ".", ",", "3.5", "'s"]
FERRY = ["the", "ferry", "leaves", "the", "harbour", "at", "nine", "today"]


@pytest.mark.parametrize(("name", "chosen"), [SETTINGS[0], SETTINGS[2], SETTINGS[7], SETTINGS[10]])
def test_any_text_is_scored_as_in_python(page, name, chosen):
    page.evaluate(FOLLOW, link(name, chosen, "", ["", ""]))
    # What a box of text makes of line ends is the browser's; letters of every script are ours.
    text = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
    words = st.lists(st.sampled_from(WORDS), max_size=12)
    texts = st.one_of(text, words.map(" ".join))
    metric = tb.metric(name, **chosen)

    @settings(deadline=None, max_examples=60)
    @given(st.tuples(texts, texts, texts))
    def check(three):
        page.evaluate(TYPE, three)
        shown = page.evaluate(SHOWN)
        hypothesis, *references = three
        score = metric.sentence(hypothesis, references)
        assert is_close(shown["score"], score.value)
        if name == "bleu":
            check_bleu(shown, score, metric, hypothesis, references)
        if name == "chrf":
            check_chrf(shown, score)

    check()


def test_every_example_has_the_score_of_python(page):
    buttons = page.locator(".examples button")
    assert buttons.count() >= 7
    seen = set()
    for i in range(buttons.count()):
        buttons.nth(i).click()
        shown = page.evaluate(SHOWN)
        assert is_close(shown["score"], eval(shown["given"][1], {"truebleu": tb}).value)
        seen.add(shown["given"][0].partition("|")[0])
    assert seen == {"BLEU", "chrF2", "TER"}


def test_the_command_line_gives_the_same_number(page, capsys):
    for name, chosen in SETTINGS:
        hypothesis, references = "it's three boats", ["it's 'three' boats", "four boats"]
        if name in ("wer", "mer", "wil", "wip", "cer"):
            references = references[:1]
        page.evaluate(FOLLOW, link(name, chosen, hypothesis, references))
        shown = page.evaluate(SHOWN)
        program, *words = shlex.split(shown["given"][2])
        assert program == "truebleu"
        assert main([*words, "-f", "json"]) == 0
        explained = json.loads(capsys.readouterr().out)
        assert explained["systems"][0]["score"] == shown["score"]


def test_a_term_and_its_ngrams_point_at_each_other(page):
    page.get_by_role("button", name="One word short", exact=True).click()
    sought = page.locator(".tokens").nth(1).locator(".sought")
    page.locator(".term").nth(3).hover()
    # The two 4-grams that are in both are all of the text.
    assert sought.all_text_contents() == FERRY
    assert page.locator("tr.pointed").count() == 5
    gram = page.get_by_role("button", name="at nine", exact=True)
    gram.focus()
    page.mouse.move(0, 0)
    assert sought.all_text_contents() == ["at", "nine"]
    # What is clicked stays marked, until it is clicked again.
    page.keyboard.press("Enter")
    page.locator("textarea").first.focus()
    page.mouse.move(0, 0)
    assert sought.all_text_contents() == ["at", "nine"]
    assert gram.get_attribute("aria-pressed") == "true"
    gram.press("Space")
    page.locator("textarea").first.focus()
    assert sought.count() == 0


def test_smoothing_is_shown_where_it_changes_a_count(page):
    page.get_by_role("button", name="No four words in a row", exact=True).click()
    assert page.locator(".smoothing li").all_text_contents() == [
        "4-grams: 0 of 4 match; 1/2 of one instead."
    ]
    assert page.locator(".term.smoothed .fraction").text_content() == "0.5 / 4"
    page.get_by_label("Smoothing").select_option("floor")
    typed(page.get_by_label("Its value"), "0.25")
    assert page.locator(".term.smoothed .fraction").text_content() == "0.25 / 4"
    typed(page.get_by_label("Its value"), "-1")
    expect(page.get_by_label("Its value")).to_have_attribute("aria-invalid", "true")
    assert page.locator(".term.smoothed .fraction").text_content() == "0.25 / 4"


def test_references_come_and_go(page):
    page.get_by_role("button", name="Add a reference").click()
    expect(page.get_by_label("Reference 2", exact=True)).to_be_focused()
    page.keyboard.type("the ferry leaves the harbour at nine today")
    assert page.locator(".big").text_content() == "100.00"
    assert "nrefs:2" in page.locator(".given").first.text_content()
    page.get_by_role("button", name="Remove reference 2").click()
    assert page.locator(".big").text_content() != "100.00"
    assert "nrefs:1" in page.locator(".given").first.text_content()


def test_a_link_holds_the_text_and_nothing_else_does(opened, written):
    one = opened(written)
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = one.page
    page.get_by_label("Metric").select_option("chrf")
    typed(page.get_by_label("β"), "1")
    page.get_by_role("textbox", name="Translation").fill("<i>café</i> & 100 %")
    assert "caf" not in page.url
    page.get_by_role("button", name="Copy a link that holds the text").click()
    link = page.evaluate("() => navigator.clipboard.readText()")
    score = page.locator(".big data").get_attribute("value")
    other = opened(written, link[link.index("#") :])
    assert (
        other.page.get_by_role("textbox", name="Translation").input_value() == "<i>café</i> & 100 %"
    )
    assert other.page.get_by_label("β").input_value() == "1"
    assert other.page.locator(".big data").get_attribute("value") == score


@pytest.mark.parametrize(
    "where",
    ["#lab?m=nothing&p.tokenize=%22x%22&p.max_order=99&p.lowercase=7", "#lab?p.beta=", "#lab?%ZZ"],
)
def test_a_link_that_somebody_wrote_is_read_as_far_as_it_means_something(opened, written, where):
    page = opened(written, where).page
    assert page.evaluate(SHOWN)["problem"] is None
    assert "tok:13a" in page.locator(".given").first.text_content()


# ---- for everyone ----


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious(opened, written, axe, tmp_path, look):
    options = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"} | LOOKS[look]
    page = opened(written, script=axe, **options).page
    wrong = {}
    for name in (
        "One word short",
        "No four words in a row",
        "An ending, by chrF",
        "Nothing at all",
    ):
        page.get_by_role("button", name=name, exact=True).click()
        wrong |= {f"{name}: {rule}": nodes for rule, nodes in found(page).items()}
    page.get_by_label("Metric").select_option("wil")
    page.get_by_role("button", name="Add a reference").click()
    (tmp_path / "all.tsv").write_text("ref\tsystem\na b\ta c\n")
    (tmp_path / "bad.txt").write_bytes(b"\xff")
    page.locator("input[type=file]").set_input_files([tmp_path / "all.tsv", tmp_path / "bad.txt"])
    page.locator(".tray tbody").wait_for()
    wrong |= {f"files: {rule}": nodes for rule, nodes in found(page).items()}
    assert not wrong


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
def test_nothing_is_cut_off_at_the_side(opened, written, width):
    page = opened(written, viewport={"width": width, "height": 800}).page
    buttons = page.locator(".examples button")
    for i in range(buttons.count()):
        buttons.nth(i).click()
        wide = page.evaluate(
            "() => [document.documentElement, document.querySelector('main.view')]"
            ".map(e => e.scrollWidth - e.clientWidth)"
        )
        assert max(wide) <= 0, i
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0


def test_everything_is_reached_by_the_keyboard(page):
    page.locator("a.skip").focus()
    seen = set()
    for _ in range(90):
        page.keyboard.press("Tab")
        seen |= set(page.evaluate("() => [...document.activeElement.classList]"))
        if page.evaluate("() => !!document.activeElement.closest('.drop')"):
            break
    else:
        pytest.fail(f"the files were not reached: {seen}")
    assert {"chip", "term", "gram", "small"} <= seen


def test_a_long_text_is_scored_when_the_typing_pauses(page):
    words = [f"word{i % 700}" for i in range(1500)]
    hypothesis, reference = " ".join(words), " ".join(words[::-1] + words)
    page.evaluate(TYPE, [hypothesis, reference])
    value = tb.BLEU().sentence(hypothesis, [reference]).value
    expect(page.locator(".big data")).to_have_attribute("value", repr(value).removesuffix(".0"))
    expect(page.locator(".tokens .much").nth(1)).to_have_text("3,000 tokens")
    assert page.locator(".tokens").nth(1).locator(".token").count() == 1500
