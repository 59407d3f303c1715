"""The playground: scores of typed sentences equal Python's."""

import json
import re
import shlex
import warnings
from urllib.parse import urlencode

import pytest
from axe_core import APPEARANCES, find_violations
from browser_report import measure_box, type_text
from closeness import is_close
from playwright_or_skip import expect

import truebleu as tb
from truebleu.cli import main
from truebleu.reports import browser_kernel
from truebleu.reports.lab import PLAYGROUND_METRICS, Playground, create_playground

pytestmark = pytest.mark.thorough

# Reads the exact score and all other numbers from the page.
READ_PAGE_STATE = """() => {
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
OPEN_LINK = """where => new Promise(done => {
  addEventListener("hashchange", () => setTimeout(done), {once: true});
  location.hash = where;
})"""

# Types into the boxes for the hypothesis and the references, which are on separate lines.
TYPE_TEXTS = """([hypothesis, ...references]) =>
  document.querySelectorAll(".typed textarea").forEach((box, i) => {
    box.value = [hypothesis, references.join("\\n"), ""][i];
    box.dispatchEvent(new Event("input", {bubbles: true}));
  })"""

needs_kernel = pytest.mark.skipif(
    not browser_kernel.load_kernel_blocks(), reason="built without the browser kernel"
)


# ---- the file ----


@needs_kernel
def test_page_is_reproducible_and_self_contained(tmp_path):
    tb.create_playground(tmp_path / "lab.html")
    page = (tmp_path / "lab.html").read_bytes()
    assert page == create_playground().to_bytes() == create_playground().html().encode()
    assert b"connect-src 'none'" in page
    assert not re.search(rb"(?:src|href)=[\"']?http", page)
    text = f"<Playground of {len(page):,} bytes; save(path) writes the page>"
    assert repr(create_playground()) == text


def test_missing_kernel_is_explained(monkeypatch, capsys):
    monkeypatch.setattr(browser_kernel, "load_kernel_blocks", dict)
    with pytest.raises(ImportError, match="rustup target add wasm32-unknown-unknown"):
        Playground()
    assert main(["lab", "-o", "lab.html"]) == 1
    assert "built without the browser kernel" in capsys.readouterr().err


@needs_kernel
def test_command_writes_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opened_urls = []
    monkeypatch.setattr("webbrowser.open", opened_urls.append)
    assert main(["lab", "--open"]) == 0
    address = (tmp_path / "lab.html").as_uri()
    assert (tmp_path / "lab.html").read_bytes() == create_playground().to_bytes()
    assert opened_urls == [address]
    assert main(["lab", "-o", "other.html"]) == 0
    assert capsys.readouterr() == ("", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lab.html", "other.html"]


def test_open_is_refused_for_standard_output(capsys):
    assert main(["lab", "-o", "-", "--open"]) == 2
    assert "a browser cannot open standard output" in capsys.readouterr().err


# ---- sentences ----


def make_link(name, parameters, hypothesis, references):
    parameters = [(f"p.{key}", json.dumps(value)) for key, value in parameters.items()]
    texts = [("h", hypothesis), *(("r", text) for text in references)]
    return f"#lab?{urlencode([('m', name), *parameters, *texts])}"


@pytest.fixture
def page(open_report, lab_path):
    return open_report(lab_path).page


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
    ("bleu", {"weights": [0.5, 0.3, 0.2], "max_order": 3}),
    ("bleu", {"weights": [1, 0, 0, 2], "smoothing": "none"}),
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


def score_sentence(name, parameters, hypothesis, references):
    """Return Python's score, or None if the metric refuses the input."""
    try:
        return tb.metric(name, **parameters).sentence(hypothesis, references)
    except (ValueError, tb.InputError):
        return None


@pytest.mark.parametrize(("name", "parameters"), SETTINGS)
def test_numbers_equal_python(page, name, parameters):
    checked = 0
    for hypothesis, references in CASES:
        score = score_sentence(name, parameters, hypothesis, references)
        page.evaluate(OPEN_LINK, make_link(name, parameters, hypothesis, references))
        state = page.evaluate(READ_PAGE_STATE)
        if score is None:
            assert state["problem"]
            continue
        checked += 1
        assert state["problem"] is None
        assert is_close(state["score"], score.value)
        signature, python, *command = state["given"]
        assert signature == f"{score.name}|{score.signature}"
        assert eval(python, {"truebleu": tb}).value == score.value
        if command:
            assert shlex.split(command[0])[:2] == ["truebleu", "explain"]
        if name == "bleu":
            check_bleu(state, score, tb.metric(name, **parameters), hypothesis, references)
        if name == "chrf":
            check_chrf(state, score)
    assert checked >= 4


def check_bleu(state, score, metric, hypothesis, references):
    brevity, *_, repeated_brevity, mean, value = state["formula"]
    assert brevity == repeated_brevity
    expected = [score.brevity_penalty, score.value, score.value]
    assert is_close([brevity, value, mean * brevity], expected)
    used = [p for p, total in zip(score.precisions, score.totals, strict=True) if total]
    if state["terms"]:
        assert is_close(state["terms"][: len(used)], used)
    counts = zip(score.matches, score.totals, strict=True)
    assert state["orders"] == [f"{matches} of {total}" for matches, total in counts]
    assert state["tokens"] == [
        tb.tokenize(text, metric.tokenize, lowercase=metric.lowercase)
        for text in (hypothesis, *references)
    ]
    for order, grams in enumerate(state["counted"]):
        if score.totals[order] <= 16:
            assert sum(int(count) for _, count, _, _ in grams) == score.totals[order]
            assert sum(int(clipped_count) for *_, clipped_count in grams) == score.matches[order]


def check_chrf(state, score):
    orders = [f"{m} of {t}" for m, t in zip(score.matches, score.hypothesis_totals, strict=True)]
    assert state["orders"] == orders
    for order, grams in enumerate(state["counted"]):
        if score.hypothesis_totals[order] <= 16:
            assert sum(int(clipped_count) for *_, clipped_count in grams) == score.matches[order]


def test_page_offers_supported_metrics():
    assert [tb.metric(name).NAME for name in PLAYGROUND_METRICS] == [
        "BLEU", "chrF", "TER", "WER", "MER", "WIL", "WIP", "CER",
    ]  # fmt: skip


FERRY = ["the", "ferry", "leaves", "the", "harbour", "at", "nine", "today"]


def test_displayed_command_gives_same_score(page, capsys):
    for name, parameters in SETTINGS:
        hypothesis, references = "it's three boats", ["it's 'three' boats", "four boats"]
        if name in ("wer", "mer", "wil", "wip", "cer"):
            references = references[:1]
        page.evaluate(OPEN_LINK, make_link(name, parameters, hypothesis, references))
        state = page.evaluate(READ_PAGE_STATE)
        program, *words = shlex.split(state["given"][2])
        assert program == "truebleu"
        assert main([*words, "-f", "json"]) == 0
        explained = json.loads(capsys.readouterr().out)
        assert explained["systems"][0]["score"] == state["score"]


def test_formula_terms_and_ngrams_highlight_each_other(page):
    page.get_by_role("button", name="One word missing", exact=True).click()
    highlighted_tokens = page.locator(".tokens").nth(1).locator(".sought")
    page.locator(".term").nth(3).hover()
    # The matching 4-grams cover the whole text.
    assert highlighted_tokens.all_text_contents() == FERRY
    assert page.locator("tr.pointed").count() == 5
    gram = page.get_by_role("button", name="at nine", exact=True)
    gram.focus()
    page.mouse.move(0, 0)
    assert highlighted_tokens.all_text_contents() == ["at", "nine"]
    # A clicked n-gram stays highlighted until the next click.
    page.keyboard.press("Enter")
    page.locator("textarea").first.focus()
    page.mouse.move(0, 0)
    assert highlighted_tokens.all_text_contents() == ["at", "nine"]
    assert gram.get_attribute("aria-pressed") == "true"
    gram.press("Space")
    page.locator("textarea").first.focus()
    assert highlighted_tokens.count() == 0


def test_smoothing_is_shown_for_smoothed_orders(page):
    page.get_by_role("button", name="No matching 4-gram", exact=True).click()
    [sentence] = page.locator(".smoothing li").all_text_contents()
    assert sentence == "4-grams: 0 of 4 match; counted as 1/2."
    assert page.locator(".term.smoothed .fraction").text_content() == "0.5 / 4"
    page.get_by_label("Smoothing").select_option("floor")
    type_text(page.get_by_label("Smoothing value"), "0.25")
    assert page.locator(".term.smoothed .fraction").text_content() == "0.25 / 4"
    type_text(page.get_by_label("Smoothing value"), "-1")
    expect(page.get_by_label("Smoothing value")).to_have_attribute("aria-invalid", "true")
    assert page.locator(".term.smoothed .fraction").text_content() == "0.25 / 4"


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("bleu", "那天天气很好，我们去了公园。", "Chinese, {}. Choose the tokenizer zh or char."),
        (
            "wer",
            "船は九時に古い港を出ます。",
            "Japanese, {}. Choose the tokenizer char, or use ja-mecab",
        ),
        ("bleu", "เช้าวันนั้นฝนตกหนัก", "Thai, {}. Choose the tokenizer char, or use flores200"),
        ("bleu", "그날은 날씨가 아주 좋았습니다.", "Choose the tokenizer char, or use ko-mecab"),
        ("ter", "那天天气很好", "Choose split off punctuation and split Chinese and Japanese."),
        ("ter", "เช้าวันนั้นฝนตกหนัก", "Use chrF or CER, which do not need words."),
        ("ter", "그날은 날씨가 아주 좋았습니다.", None),
        ("chrf", "那天天气很好，我们去了公园。", None),
        ("cer", "那天天气很好，我们去了公园。", None),
        ("bleu", "那天 天气 很好 ， 我们 去 了 公园 。", None),
        ("bleu", "the word 天 means day", None),
    ],
)
def test_script_that_the_metric_does_not_split_is_explained(
    open_report, lab_path, name, text, advice
):
    tab = open_report(lab_path, make_link(name, {}, text, [text])).page
    note = tab.locator(".score-box .opposed")
    # The commands warn about the same texts.
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        tb.metric(name).score([text], [text])
    assert any("not split the references" in str(one.message) for one in issued) is bool(advice)
    if advice is None:
        expect(tab.locator(".score-box .big")).to_be_visible()
        expect(note).to_have_count(0)
        return
    expect(note).to_contain_text(advice.format("which has no spaces between words"))
    # The buttons solve the problem.
    for _ in range(2 if "punctuation" in advice else "Choose" in advice):
        note.get_by_role("button").first.click()
    expect(note).to_have_count(int("Choose" not in advice))


def test_number_of_one_token_is_singular(open_report, lab_path):
    tab = open_report(lab_path, make_link("bleu", {}, "word", ["word"])).page
    expect(tab.locator(".brevity")).to_contain_text("c = 1 token; the effective")


def test_each_line_is_a_reference(page):
    box = page.get_by_role("textbox", name="References")
    first = box.input_value()
    box.fill(f"{first}\nthe ferry leaves the harbour at nine today\n\n")
    assert page.locator(".big").text_content() == "100.00"
    assert "nrefs:2" in page.locator(".given").first.text_content()
    assert page.locator(".which").all_text_contents() == ["1", "2"]
    box.fill(first)
    assert page.locator(".big").text_content() != "100.00"
    assert "nrefs:1" in page.locator(".given").first.text_content()
    expect(box).to_have_accessible_description("Several references? Write one per line.")


def test_textbook_option_computes_bleu_of_textbooks(page):
    page.get_by_role("button", name="Repeated word", exact=True).click()
    page.get_by_label("as in textbooks").check()
    hypothesis, reference = (
        page.get_by_role("textbox", name=name).input_value()
        for name in ("Hypothesis", "References")
    )
    system = tb.explain(hypothesis, [reference], textbook=True).to_dict()["systems"][0]
    state = page.evaluate(READ_PAGE_STATE)
    assert state["score"] == system["score"] == 0
    assert page.get_by_label("Smoothing").input_value() == "none"
    assert page.get_by_label("Tokenizer").input_value() == "none"
    cumulative = page.locator(".lower-orders data").evaluate_all("all => all.map(e => +e.value)")
    expected = [order["cumulative"] for order in system["orders"]]
    assert is_close(cumulative, [100 * value for value in expected])
    page.get_by_label("as in textbooks").uncheck()
    assert "tok:13a|smooth:exp" in page.locator(".given").first.text_content()
    assert page.locator(".lower-orders").count() == 0


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "wer", "wil"])
def test_scale_of_1_shows_fractions(page, name):
    page.get_by_label("Metric").select_option(name)
    score = page.evaluate(READ_PAGE_STATE)["score"]
    page.get_by_label("0-1 scale").check()
    state = page.evaluate(READ_PAGE_STATE)
    assert is_close(state["score"], score / 100)
    assert page.locator(".big").text_content() == f"{score / 100:.4f}"
    assert "%" not in page.locator(".formula").text_content()
    assert "100 ×" not in page.locator(".formula").text_content()
    assert page.locator(".given").nth(2).text_content().endswith(" --scale 1")
    # The scale is part of the link, and stays the same for the next example.
    page.get_by_role("button", name="Two references", exact=True).click()
    assert page.locator(".big").text_content().startswith("0.")


def test_ngrams_break_only_between_words(open_report, lab_path):
    page = open_report(lab_path, viewport={"width": 1440, "height": 900}).page
    page.get_by_role("button", name="Two references", exact=True).click()
    # Each word is on one line, and all columns are visible.
    heights = page.locator(".orders section").first.locator("button.gram bdi")
    assert set(heights.evaluate_all("all => all.map(e => e.getClientRects().length)")) == {1}
    wide = page.locator(".orders .table").evaluate_all(
        "all => all.map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(wide) <= 0


def test_phone_shows_texts_before_score_and_options(open_report, lab_path):
    page = open_report(lab_path, viewport={"width": 390, "height": 844}).page
    places = ["textarea >> nth=0", "textarea >> nth=1", ".score-box", ".settings"]
    tops = [measure_box(page.locator(place))["y"] for place in places]
    assert tops == sorted(tops)


def test_weights_set_the_longest_ngram(page):
    weights, longest = page.get_by_label("N-gram weights"), page.get_by_label("Longest n-gram")
    hypothesis = page.get_by_role("textbox", name="Hypothesis").input_value()
    references = page.get_by_role("textbox", name="References").input_value().split("\n")
    type_text(weights, "0.7, 0.3")
    metric = tb.BLEU(weights=[0.7, 0.3])
    expected = metric.sentence(hypothesis, references)
    state = page.evaluate(READ_PAGE_STATE)
    assert is_close(state["score"], expected.value)
    assert state["given"][0] == f"BLEU|{expected.signature}"
    expect(longest).to_have_value("2")
    assert page.locator(".formula sup").all_text_contents() == ["0.7", "0.3"]
    type_text(longest, "3")
    expect(weights).to_have_value("")
    assert "weights" not in page.evaluate(READ_PAGE_STATE)["given"][0]


@pytest.mark.parametrize("text", ["0.5 x", "-1, 2", "0, 0", "99, 2"])
def test_invalid_weights_are_marked_and_not_used(page, text):
    before = page.evaluate(READ_PAGE_STATE)["given"]
    weights = page.get_by_label("N-gram weights")
    weights.evaluate(
        "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')); }", text
    )
    expect(weights).to_have_attribute("aria-invalid", "true")
    assert page.evaluate(READ_PAGE_STATE)["given"] == before


def test_copied_link_contains_text(open_report, lab_path):
    first = open_report(lab_path)
    first.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = first.page
    page.get_by_label("Metric").select_option("chrf")
    type_text(page.get_by_label("β"), "1")
    page.get_by_role("textbox", name="Hypothesis").fill("<i>café</i> & 100%")
    assert "caf" not in page.url
    page.get_by_role("button", name="Copy a link with the texts").click()
    url = page.evaluate("() => navigator.clipboard.readText()")
    score = page.locator(".big data").get_attribute("value")
    second = open_report(lab_path, url[url.index("#") :])
    hypothesis = second.page.get_by_role("textbox", name="Hypothesis")
    assert hypothesis.input_value() == "<i>café</i> & 100%"
    assert second.page.get_by_label("β").input_value() == "1"
    assert second.page.locator(".big data").get_attribute("value") == score


@pytest.mark.parametrize(
    "fragment",
    ["#lab?m=nothing&p.tokenize=%22x%22&p.max_order=99&p.lowercase=7", "#lab?p.beta=", "#lab?%ZZ"],
)
def test_invalid_link_parameters_are_ignored(open_report, lab_path, fragment):
    page = open_report(lab_path, fragment).page
    assert page.evaluate(READ_PAGE_STATE)["problem"] is None
    assert "tok:13a" in page.locator(".given").first.text_content()


# ---- accessibility ----


@pytest.mark.parametrize("appearance", APPEARANCES)
def test_axe_finds_no_serious_violation(open_report, lab_path, axe, tmp_path, appearance):
    page = open_report(lab_path, script=axe, **APPEARANCES[appearance]).page
    violations = {}
    examples = ["One word missing", "No matching 4-gram", "Different endings, with chrF"]
    for name in [*examples, "Empty hypothesis"]:
        page.get_by_role("button", name=name, exact=True).click()
        violations |= {f"{name}: {rule}": nodes for rule, nodes in find_violations(page).items()}
    page.get_by_label("Metric").select_option("wil")
    page.get_by_role("textbox", name="References").fill("a b\na c")
    (tmp_path / "all.tsv").write_text("ref\tsystem\na b\ta c\n")
    (tmp_path / "bad.txt").write_bytes(b"\xff")
    page.locator("input[type=file]").set_input_files([tmp_path / "all.tsv", tmp_path / "bad.txt"])
    page.locator(".tray tbody").wait_for()
    violations |= {f"files: {rule}": nodes for rule, nodes in find_violations(page).items()}
    assert not violations


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
def test_page_does_not_scroll_sideways(open_report, lab_path, width):
    page = open_report(lab_path, viewport={"width": width, "height": 800}).page
    buttons = page.locator(".examples button")
    for i in range(buttons.count()):
        buttons.nth(i).click()
        wide = page.evaluate(
            "() => [document.documentElement, document.querySelector('main.view')]"
            ".map(e => e.scrollWidth - e.clientWidth)"
        )
        assert max(wide) <= 0, i
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0


def test_keyboard_reaches_all_controls(page):
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


def test_long_text_is_scored_after_typing(page):
    words = [f"word{i % 700}" for i in range(1500)]
    hypothesis, reference = " ".join(words), " ".join(words[::-1] + words)
    page.evaluate(TYPE_TEXTS, [hypothesis, reference])
    value = tb.BLEU().sentence(hypothesis, [reference]).value
    expect(page.locator(".big data")).to_have_attribute("value", repr(value).removesuffix(".0"))
    expect(page.locator(".tokens .much").nth(1)).to_have_text("3,000 tokens")
    assert page.locator(".tokens").nth(1).locator(".token").count() == 1500
