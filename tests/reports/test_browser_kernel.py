"""The kernel in a page gives the numbers of the kernel in Python, to the last bit."""

import base64
import json
import shutil
import subprocess

import pytest
import strategies
from browser_report import ALSO
from closeness import is_close
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright_or_skip import expect

import truebleu as tb
from truebleu import BLEU, CER, CHRF, MER, TER, WER, WIL, WIP
from truebleu.metrics.ngram_f_score import NGramF
from truebleu.reports import browser_kernel, distinctive_ngrams, html_page, payload
from truebleu.significance import Measure, bootstrap_intervals, run_paired_tests
from truebleu.text.tokenizers import tokenize

METRICS = [
    *ALSO,
    BLEU(),
    BLEU(tokenize="char", lowercase=True),
    BLEU(lowercase="ascii"),
    BLEU(max_order=1),
    BLEU(reference_length="shortest"),
    CHRF(),
    TER(),
    CER(lowercase=True),
    NGramF((1, 2)),
    BLEU(aggregate="segments"),
    BLEU(reference_length="average", smoothing="add-k-all", brevity_penalty="plus-one"),
    BLEU(arithmetic="nltk", smoothing="floor", missing_order="at-least-one"),
    BLEU(arithmetic="coco", smoothing="epsilon", brevity_penalty="coco", no_match="smoothed"),
    BLEU(arithmetic="float32", aggregate="segments", no_match="any-zero"),
]
SUBSET = (0, 2)
SAMPLES = 40
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
    not browser_kernel.load_kernel_blocks(),
    reason="the package was built without the kernel for pages",
)
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="WebAssembly runs in Node here")


def block(texts):
    made = payload.encode_texts(
        [t if t is None else t.encode("utf-8", "surrogatepass") for t in texts]
    )
    return base64.b64encode(made).decode()


def case(metric, hypotheses, references, texts=()):
    columns = list(zip(*references, strict=True))
    return {
        "recipe": browser_kernel.kernel_settings(metric),
        "n": len(hypotheses),
        "hypotheses": block(hypotheses),
        "references": [block(column) for column in columns],
        "subset": SUBSET,
        "texts": list(texts),
        "samples": SAMPLES,
        "documents": [i % 3 == 1 for i in range(len(hypotheses))],
    }


def in_node(cases=(), lists=(), alignments=()):
    given = {"cases": list(cases), "lists": list(lists), "alignments": list(alignments)}
    given["lowercase"] = browser_kernel.lowercase_pairs()
    words = [
        "node",
        __file__.replace("test_browser_kernel.py", "kernel.mjs"),
        html_page.PACKAGE_FOLDER / "viewer",
    ]
    done = subprocess.run(
        [*words, browser_kernel.KERNEL_PATH],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ends(metric, tables, documents=None):
    """The ends of the intervals as `compare` has them, and of the differences."""
    measure = Measure(metric, tables)
    many = {"documents": documents, "resamples": SAMPLES, "level": 0.9}
    made = list(bootstrap_intervals([measure], **many)[0].values())
    if len(tables) > 1:
        first, second = tables
        [result] = run_paired_tests([measure], baseline=first, test="bs", **many)
        made.append(result.differences[second].interval)
    return [[one.low, one.high] for one in made]


def expected(metric, hypotheses, references):
    table = metric.statistics(hypotheses, references)
    rows = table.tolist()
    some = [rows[i] for i in SUBSET]
    few = [texts[i] for texts in (hypotheses, references) for i in SUBSET]
    found = {
        "columns": [list(column) for column in zip(*rows, strict=True)],
        "segments": list(metric.segments(hypotheses, references)),
        "corpus": metric.score(hypotheses, references).value,
        "subset": metric.score(few[: len(SUBSET)], few[len(SUBSET) :]).value,
        "sums": [sum(column) for column in zip(*some, strict=True)],
        "rows": [number for row in some for number in row],
        "single": ends(metric, {"one": table}),
        "paired": ends(metric, {"one": table, "two": table}),
        "few": ends(metric, {"one": metric.statistics(few[: len(SUBSET)], few[len(SUBSET) :])}),
        "documents": ends(metric, {"one": table}, [i % 3 == 1 for i in range(len(rows))]),
    }
    if not metric.is_mean:
        of, total = metric.from_statistics, [sum(column) for column in zip(*rows, strict=True)]
        rest = [[a - b for a, b in zip(total, row, strict=True)] for row in rows]
        found["without"] = [of(row).value for row in rest]
    return found


def check(hypotheses, references):
    found = in_node([case(metric, hypotheses, references) for metric in METRICS])
    for metric, own in zip(METRICS, found, strict=True):
        wanted = expected(metric, hypotheses, references)
        assert is_close({name: own[name] for name in wanted}, wanted), metric


@needs_kernel
@needs_node
def test_the_tricky_inputs_have_pythons_numbers():
    hypotheses = [*ODD, "the cat sat on the mat", "a \ud800 b"]
    references = [
        (text.lower(), None if i % 3 else f"{text} and more") for i, text in enumerate(hypotheses)
    ]
    check(hypotheses, references)


@pytest.mark.thorough
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


LISTED = ("order", "tokens", "matched", "produced", "reference", "log_odds", "z")


def listed(page):
    """Return the n-grams in the lists of a page, without their examples."""
    return {
        kind: [{key: gram[key] for key in LISTED} for gram in grams]
        for kind, grams in page["lists"].items()
    }


def check_lists(systems, references, metric, limit):
    """The lists of n-grams that a page makes are those that a report would have."""
    columns = list(zip(*references, strict=True))
    pairs = [(0, 1), (1, None)] if len(systems) > 1 else [(0, None)]
    encoded = [
        [None if t is None else t.encode("utf-8", "surrogatepass") for t in column]
        for column in (*systems, *columns)
    ]
    corpus = distinctive_ngrams.build_corpus(
        encoded[: len(systems)], encoded[len(systems) :], metric
    )
    usual = distinctive_ngrams.MAX_LIST_LENGTH, distinctive_ngrams.MAX_EXAMPLE_SEGMENTS
    distinctive_ngrams.MAX_LIST_LENGTH, distinctive_ngrams.MAX_EXAMPLE_SEGMENTS = limit, 1
    try:
        wanted = distinctive_ngrams.list_distinctive_ngrams(corpus, metric, pairs)["pairs"]
    finally:
        distinctive_ngrams.MAX_LIST_LENGTH, distinctive_ngrams.MAX_EXAMPLE_SEGMENTS = usual
    given = {
        "recipe": browser_kernel.kernel_settings(metric),
        "n": len(references),
        "systems": [block(one) for one in systems],
        "references": [block(column) for column in columns],
        "orders": min(4, metric.max_order),
        "limit": limit,
    }
    found = in_node(lists=[given | {"pair": pair} for pair in pairs])
    for one, told in zip(found, wanted, strict=True):
        assert one["segments"] == len(references)
        assert is_close(*map(listed, (one, told)))


@pytest.mark.thorough
@needs_kernel
@needs_node
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_lists_of_ngrams_are_those_of_python(data):
    count = data.draw(st.integers(1, 8))
    words = st.lists(st.sampled_from(["a", "b", "c", "d", ".", "É"]), max_size=9).map(" ".join)
    texts = st.lists(words | strategies.texts(), min_size=count, max_size=count)
    systems = data.draw(st.lists(texts, min_size=1, max_size=3))
    columns = data.draw(st.lists(texts, min_size=1, max_size=2))
    metric = data.draw(st.sampled_from([BLEU(), BLEU("char", lowercase=True), BLEU(max_order=2)]))
    check_lists(systems, list(zip(*columns, strict=True)), metric, data.draw(st.integers(1, 20)))


@needs_kernel
@needs_node
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_alignments_are_those_of_python(data):
    words = st.lists(st.sampled_from(["a", "b", "c", "d.", "É", "5,0"]), max_size=9).map(" ".join)
    texts = words | strategies.texts()
    rows = st.tuples(texts, st.lists(texts | st.none(), min_size=1, max_size=3))
    several = rows.filter(lambda row: any(text is not None for text in row[1]))
    segments = data.draw(st.lists(several, min_size=1, max_size=6))
    metrics = [TER(), TER(normalized=True, case_sensitive=True), WER(), MER(), WIP(), WIL()]
    found = in_node(
        alignments=[
            {
                "recipe": browser_kernel.kernel_settings(metric),
                "segments": [
                    {"block": block([text, *others]), "n": 1 + len(others)}
                    for text, others in segments
                ],
            }
            for metric in metrics
        ]
    )
    for metric, made in zip(metrics, found, strict=True):
        for (text, others), told in zip(segments, made, strict=True):
            wanted = metric.alignment(text, others)._asdict()
            del wanted["reference_length"]
            assert is_close(told, json.loads(json.dumps(wanted))), metric


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
        (usual | {"smoothing": "more"}, "no smoothing more"),
        (usual | {"max_order": "four"}, "max_order=four: expected a number"),
        (usual | {"weights": [1, 2]}, "2 weights for 4 orders"),
        (usual | {"lowercase": "yes"}, "lowercase=yes: expected no, python or ascii"),
        ({"metric": "bleu"}, "the recipe has no max_order"),
    ]
    usual_case = case(BLEU(), ["a"] * 3, [("a",)] * 3)
    found = in_node([usual_case | {"recipe": recipe} for recipe, _ in wrong])
    assert [one["error"] for one in found] == [told for _, told in wrong]


def test_what_a_page_can_count_is_said():
    assert browser_kernel.can_count(BLEU())
    assert browser_kernel.can_count(TER())
    assert browser_kernel.can_count(BLEU(arithmetic="nltk", smoothing="none"))
    assert not browser_kernel.can_count(tb.metric("bleu", tokenize=str.split))
    assert not browser_kernel.can_count(BLEU(tokenize="ja-mecab"))
    assert browser_kernel.kernel_settings(BLEU(tokenize="ja-mecab"))["tokenizer"] == "none"
    assert browser_kernel.can_count_on_open(BLEU(), 100_000)
    assert not browser_kernel.can_count_on_open(TER(), 100_000)


# ---- in the page ----

CHANGES = [
    (0, {"tokenize": "char"}, BLEU(tokenize="char")),
    (0, {"tokenize": "intl", "lowercase": "yes"}, BLEU(tokenize="intl", lowercase=True)),
    (0, {"tokenize": "none", "max_order": 2}, BLEU(tokenize="none", max_order=2)),
    (1, {"whitespace": "yes", "lowercase": "yes"}, CHRF(whitespace=True, lowercase=True)),
    (2, {"normalized": "yes", "case_sensitive": "yes"}, TER(normalized=True, case_sensitive=True)),
]


@pytest.mark.thorough
@needs_kernel
@pytest.mark.parametrize(("setting", "changes", "metric"), CHANGES, ids=lambda x: str(x)[:40])
def test_the_page_counts_anew_what_python_counts(example, opened, setting, changes, metric):
    state = "&".join(f"{key}={value}" for key, value in changes.items())
    tab = opened(example.path, f"#summary?setting={setting}&{state}").page
    expect(tab.locator(".notice")).to_contain_text(str(metric.signature(2)))
    rows = tab.locator("main .overview tbody tr")
    expect(rows).to_have_count(3)
    for k in range(3):
        name = rows.nth(k).locator("bdi").inner_text()
        value = metric.score(example.hypotheses[name], example.references).value
        told = rows.nth(k).locator(f"[data-measure='{setting}'] data").first.get_attribute("value")
        assert is_close(float(told), value), name


@needs_kernel
def test_a_tokenizer_is_chosen_and_given_back(example, opened):
    tab = opened(example.path, "#why").page
    tab.get_by_label("Tokenizer").select_option("char")
    expect(tab.locator(".notice")).to_contain_text("tok:char")
    tab.get_by_role("button", name="Reset").first.click()
    expect(tab.locator(".notice")).to_be_hidden()


def test_without_the_kernel_the_summary_stays(monkeypatch, example, opened, tmp_path):
    """The package may be built without it: the page says what it lacks."""
    monkeypatch.setattr(browser_kernel, "load_kernel_blocks", dict)
    path = tmp_path / "report.html"
    tb.report(example.hypotheses, example.references, path=path, samples=50, confidence=50)
    tab = opened(path, "#why", wait=False).page
    expect(tab.locator(".failed")).to_contain_text("built without the kernel for pages")
    expect(tab.locator("#static")).to_contain_text("birch")


def test_without_webassembly_the_summary_stays(example, opened):
    tab = opened(example.path, wait=False, script="delete window.WebAssembly;").page
    expect(tab.locator(".failed")).to_contain_text("has no WebAssembly")
    expect(tab.locator("#static")).to_contain_text("birch")
