"""The laboratory: an empty page, and sentences that are scored in it as Python scores them."""

import json
import re
import shlex

import pytest

import truebleu as tb
from truebleu.cli import main
from truebleu.views.report import live
from truebleu.views.report.lab import METRICS, Laboratory, lab

# What the page makes of a link to it, with all digits: the score, and every other number.
SHOWN = """() => {
  const number = node => node ? Number(node.value || node.textContent) : null;
  const below = (node, selector, each) => [...node.querySelectorAll(selector)].map(each);
  const all = (selector, each) => below(document, selector, each);
  return {
    score: number(document.querySelector(".big data")),
    formula: all(".formula data", number),
    terms: all(".formula .term .value data", number),
    fractions: all(".formula .term .fraction", node => node.textContent),
    tokens: all(".tokens", line => below(line, ".token", node => node.textContent)),
    counted: all(".orders > section", section => below(section, "tbody tr", row =>
      [JSON.parse(row.dataset.gram), ...below(row, "td", cell => cell.firstChild.textContent)])),
    orders: all(".orders h3 .soft", node => node.textContent.trim()),
    given: all(".again .given", node => node.textContent),
    problem: document.querySelector(".failed:not([hidden])")?.textContent ?? null,
  };
}"""

needs_kernel = pytest.mark.skipif(not live.blocks(), reason="built without the kernel for pages")


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
    monkeypatch.setattr(live, "blocks", dict)
    with pytest.raises(ImportError, match="rustup target add wasm32-unknown-unknown"):
        Laboratory()
    assert main(["lab", "-o", "lab.html"]) == 1
    assert "built without the kernel for pages" in capsys.readouterr().err


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
    if not live.blocks():
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
        page.evaluate(
            "where => { location.hash = where; location.reload(); }",
            link(name, chosen, hypothesis, references),
        )
        page.wait_for_load_state()
        page.locator("html[data-ready]").wait_for(state="attached")
        shown = page.evaluate(SHOWN)
        if score is None:
            assert shown["problem"]
            continue
        checked += 1
        assert shown["problem"] is None
        assert shown["score"] == score.value
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
    assert brevity == again == score.brevity_penalty
    assert value == score.value
    assert mean * brevity == score.value
    used = [p for p, total in zip(score.precisions, score.totals, strict=True) if total]
    if shown["terms"]:
        assert shown["terms"][: len(used)] == used
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
    assert [tb.metric(name).NAME for name in METRICS] == [
        "BLEU", "chrF", "TER", "WER", "MER", "WIL", "WIP", "CER",
    ]  # fmt: skip
