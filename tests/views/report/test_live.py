"""The kernel in a page gives the numbers of the kernel in Python, to the last bit."""

import base64
import json
import shutil
import subprocess

import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import ALSO
from playwright_or_skip import expect

import truebleu as tb
from truebleu import BLEU, CER, CHRF, TER
from truebleu.metrics.ngram_f import NGramF
from truebleu.text.tokenizers import tokenize
from truebleu.views.report import live, page, payload

METRICS = [
    *(metric for metric in ALSO if metric.recipe),
    BLEU(),
    BLEU(tokenize="char", lowercase=True),
    BLEU(lowercase="ascii"),
    BLEU(max_order=1),
    BLEU(reference_length="shortest"),
    CHRF(),
    TER(),
    CER(lowercase=True),
    NGramF((1, 2)),
]
SUBSET = (0, 2)
ODD = [
    "",
    " ",
    "ΑΣ ΣΑΣ",
    "İstanbul IŞIK",
    "straße ǅ",
    "&quot;a&amp;b&quot;",
    "1,000.5-x",
    "犬が好き",
]

needs_kernel = pytest.mark.skipif(
    not live.blocks(), reason="the package was built without the kernel for pages"
)
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="WebAssembly runs in Node here")


def block(texts):
    made = payload.of_texts([t if t is None else t.encode("utf-8", "surrogatepass") for t in texts])
    return base64.b64encode(made).decode()


def case(metric, hypotheses, references, texts=()):
    columns = list(zip(*references, strict=True))
    return {
        "recipe": metric.recipe,
        "n": len(hypotheses),
        "hypotheses": block(hypotheses),
        "references": [block(column) for column in columns],
        "subset": SUBSET,
        "texts": list(texts),
    }


def in_node(cases):
    given = {"lowercase": live._lowercase(), "cases": cases}
    words = ["node", __file__.replace("test_live.py", "kernel.mjs"), page.FOLDER / "viewer"]
    done = subprocess.run(
        [*words, live.PLACE],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def expected(metric, hypotheses, references):
    table = metric.statistics(hypotheses, references)
    rows = table.tolist()
    of = metric.from_statistics
    total = [sum(column) for column in zip(*rows, strict=True)]
    return {
        "columns": [list(column) for column in zip(*rows, strict=True)],
        "segments": list(metric.segments(hypotheses, references)),
        "corpus": of(total).value,
        "subset": of([sum(c) for c in zip(*(rows[i] for i in SUBSET), strict=True)]).value,
        "without": [of([a - b for a, b in zip(total, row, strict=True)]).value for row in rows],
    }


def check(hypotheses, references):
    found = in_node([case(metric, hypotheses, references) for metric in METRICS])
    for metric, own in zip(METRICS, found, strict=True):
        own.pop("tokens", None)
        assert own == expected(metric, hypotheses, references), metric


@needs_kernel
@needs_node
def test_the_tricky_inputs_have_the_same_bits():
    hypotheses = [*ODD, "the cat sat on the mat", "a \ud800 b"]
    references = [
        (text.lower(), None if i % 3 else f"{text} and more") for i, text in enumerate(hypotheses)
    ]
    check(hypotheses, references)


@needs_kernel
@needs_node
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_text_has_the_same_bits(data):
    count = data.draw(st.integers(3, 8))
    texts = st.lists(strategies.texts(), min_size=count, max_size=count)
    references = data.draw(st.integers(1, 3))
    columns = [data.draw(texts) for _ in range(references)]
    check(data.draw(texts), list(zip(*columns, strict=True)))


@needs_kernel
@needs_node
def test_tokens_are_those_of_python():
    names = [("13a", False), ("intl", True), ("zh", False), ("char", True), ("none", True)]
    metrics = [BLEU(tokenize=name, lowercase=lower) for name, lower in names]
    for (name, lower), found in zip(
        names, in_node([case(m, ["a"] * 3, [("a",)] * 3, ODD) for m in metrics]), strict=True
    ):
        assert found["tokens"] == [tokenize(text, name, lowercase=lower) for text in ODD]


@needs_kernel
@needs_node
def test_what_the_kernel_cannot_do_is_said():
    usual = BLEU().recipe
    wrong = [
        (usual | {"metric": "meteor"}, "the page has no metric meteor"),
        (usual | {"tokenizer": "ja-mecab"}, "the page has no tokenizer ja-mecab"),
        (usual | {"max_order": 17}, "max_order=17: expected 1 to 16"),
        (usual | {"max_order": "four"}, "max_order=four: expected a number"),
        (usual | {"weights": [1, 2]}, "2 weights for 4 orders"),
        (usual | {"lowercase": "yes"}, "lowercase=yes: expected no, python or ascii"),
        ({"metric": "bleu"}, "the recipe has no max_order"),
    ]
    usual_case = case(BLEU(), ["a"] * 3, [("a",)] * 3)
    found = in_node([usual_case | {"recipe": recipe} for recipe, _ in wrong])
    assert [one["error"] for one in found] == [told for _, told in wrong]


def test_metrics_that_a_page_cannot_count_have_no_recipe():
    assert tb.metric("bleu", tokenize=str.split).recipe is None
    assert BLEU(arithmetic="nltk", smoothing="none").recipe is None
    assert BLEU(reference_length="single").recipe is None
    assert tb.metric("nist").recipe is None


# ---- in the page ----

CHANGES = [
    (0, {"tokenize": "char"}, BLEU(tokenize="char")),
    (0, {"tokenize": "intl", "lowercase": "yes"}, BLEU(tokenize="intl", lowercase=True)),
    (0, {"tokenize": "none", "max_order": 2}, BLEU(tokenize="none", max_order=2)),
    (1, {"whitespace": "yes", "lowercase": "yes"}, CHRF(whitespace=True, lowercase=True)),
    (2, {"normalized": "yes", "case_sensitive": "yes"}, TER(normalized=True, case_sensitive=True)),
]


@needs_kernel
@pytest.mark.parametrize(("setting", "changes", "metric"), CHANGES, ids=lambda x: str(x)[:40])
def test_the_page_counts_anew_what_python_counts(example, opened, setting, changes, metric):
    state = "&".join(f"{key}={value}" for key, value in changes.items())
    tab = opened(example.path, f"#summary?setting={setting}&{state}").page
    expect(tab.locator(".notice")).to_contain_text(str(metric.signature(2)))
    systems = tab.locator("main section", has=tab.locator("th", has_text="System"))
    rows = systems.first.locator("table").first.locator("tbody tr")
    for k in range(3):
        name = rows.nth(k).locator("bdi").inner_text()
        value = metric.score(example.hypotheses[name], example.references).value
        told = rows.nth(k).locator("data").first.get_attribute("value")
        assert float(told) == value, name


@needs_kernel
def test_a_tokenizer_is_chosen_and_given_back(example, opened):
    tab = opened(example.path, "#why").page
    tab.get_by_label("Tokenizer").select_option("char")
    expect(tab.locator(".notice")).to_contain_text("tok:char")
    tab.get_by_role("button", name="Reset").first.click()
    expect(tab.locator(".notice")).to_be_hidden()


def test_without_the_kernel_a_page_is_as_it_was_written(monkeypatch, example, opened, tmp_path):
    """The package may be built without it: the page says what it cannot do."""
    monkeypatch.setattr(live, "blocks", dict)
    path = tmp_path / "report.html"
    tb.report(example.hypotheses, example.references, path=path, samples=50, confidence=50)
    tab = opened(path, "#why").page
    expect(tab.locator("#view")).to_contain_text("the page cannot count without WebAssembly")
    expect(tab.get_by_label("Tokenizer")).to_have_count(0)
