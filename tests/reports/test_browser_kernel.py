"""The browser kernel gives the same numbers as the kernel in Python."""

import base64
import json

import pytest
import strategies
from browser_report import FURTHER_SETTINGS
from closeness import is_close
from encoded_texts import build_corpus, encode_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright_or_skip import expect

import truebleu as tb
from truebleu import BLEU, CER, CHRF, MER, TER, WER, WIL, WIP
from truebleu.reports import browser_kernel, distinctive_ngrams, payload
from truebleu.significance import Measure, bootstrap_intervals, run_paired_tests
from truebleu.text.tokenizers import tokenize

METRICS = [
    *FURTHER_SETTINGS,
    BLEU(),
    BLEU(tokenize="char", lowercase=True),
    BLEU(lowercase="ascii"),
    BLEU(max_order=1),
    BLEU(reference_length="shortest"),
    CHRF(),
    TER(),
    CER(lowercase=True),
    BLEU(aggregate="segments"),
    BLEU(reference_length="average", smoothing="add-k-all", brevity_penalty="plus-one"),
    BLEU(arithmetic="nltk", smoothing="floor", missing_order="at-least-one"),
    BLEU(arithmetic="coco", smoothing="epsilon", brevity_penalty="coco", no_match="smoothed"),
    BLEU(arithmetic="float32", aggregate="segments", no_match="any-zero"),
    BLEU(arithmetic="ignite", smoothing="none", no_match="any-zero", aggregate="segments"),
    BLEU(arithmetic="nltk", smoothing="offset", no_match="smoothed", tie="first"),
    BLEU(arithmetic="t2t", missing_order="one", no_match="smoothed"),
    BLEU(arithmetic="xnmt", smoothing="none", max_order=3, no_match="any-zero"),
]
SUBSET = (0, 2)
SAMPLES = 40
UNUSUAL_TEXTS = [
    "",
    " ",
    "ΑΣ ΣΑΣ",
    "İstanbul IŞIK",
    "straße ǅ",
    "&quot;a&amp;b&quot;",
    "1,000.5-x",
    "犬が好き",
]


def encode_base64(texts):
    return base64.b64encode(payload.encode_texts(encode_texts(texts))).decode()


def make_case(metric, hypotheses, references, texts=()):
    columns = list(zip(*references, strict=True))
    return {
        "recipe": browser_kernel.get_kernel_settings(metric),
        "n": len(hypotheses),
        "hypotheses": encode_base64(hypotheses),
        "references": [encode_base64(column) for column in columns],
        "subset": SUBSET,
        "texts": list(texts),
        "samples": SAMPLES,
        "documents": [i % 3 == 1 for i in range(len(hypotheses))],
    }


@pytest.fixture(scope="session")
def run_kernel(run_modules):
    lowercase = browser_kernel.list_lowercase_pairs()
    return lambda **request: run_modules("kernel.mjs", {"lowercase": lowercase, **request})


def compute_interval_ends(metric, tables, documents=None):
    """Return the interval ends of scores and differences, as in `compare`."""
    measure = Measure(metric, tables)
    options = {"documents": documents, "resamples": SAMPLES, "level": 0.9}
    all_intervals = list(bootstrap_intervals([measure], **options)[0].values())
    if len(tables) > 1:
        first, second = tables
        [result] = run_paired_tests([measure], baseline=first, test="bs", **options)
        all_intervals.append(result.differences[second].interval)
    return [[interval.low, interval.high] for interval in all_intervals]


def compute_python_numbers(metric, hypotheses, references):
    table = metric.statistics(hypotheses, references)
    rows = table.tolist()
    subset_rows = [rows[i] for i in SUBSET]
    subset_texts = [[texts[i] for i in SUBSET] for texts in (hypotheses, references)]
    groups = [i % 3 == 1 for i in range(len(rows))]
    numbers = {
        "columns": [list(column) for column in zip(*rows, strict=True)],
        "segments": list(metric.segments(hypotheses, references)),
        "corpus": metric.score(hypotheses, references).value,
        "subset": metric.score(*subset_texts).value,
        "sums": [sum(column) for column in zip(*subset_rows, strict=True)],
        "rows": [number for row in subset_rows for number in row],
        "single": compute_interval_ends(metric, {"one": table}),
        "paired": compute_interval_ends(metric, {"one": table, "two": table}),
        "few": compute_interval_ends(metric, {"one": metric.statistics(*subset_texts)}),
        "documents": compute_interval_ends(metric, {"one": table}, groups),
    }
    if not metric.is_mean:
        totals = [sum(column) for column in zip(*rows, strict=True)]
        remaining_rows = [[a - b for a, b in zip(totals, row, strict=True)] for row in rows]
        numbers["without"] = [metric.from_statistics(row).value for row in remaining_rows]
    return numbers


def check_numbers(run_kernel, hypotheses, references):
    cases = [make_case(metric, hypotheses, references) for metric in METRICS]
    page_numbers = run_kernel(cases=cases)
    for metric, numbers in zip(METRICS, page_numbers, strict=True):
        expected = compute_python_numbers(metric, hypotheses, references)
        assert is_close({name: numbers[name] for name in expected}, expected), metric


def test_unusual_texts_equal_python(run_kernel):
    hypotheses = [*UNUSUAL_TEXTS, "the cat sat on the mat", "a \ud800 b"]
    references = [
        (text.lower(), None if i % 3 else f"{text} and more") for i, text in enumerate(hypotheses)
    ]
    check_numbers(run_kernel, hypotheses, references)


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_texts_equal_python(run_kernel, data):
    count = data.draw(st.integers(3, 8))
    texts = st.lists(strategies.texts(), min_size=count, max_size=count)
    references = data.draw(st.integers(1, 3))
    columns = [data.draw(texts) for _ in range(references)]
    check_numbers(run_kernel, data.draw(texts), list(zip(*columns, strict=True)))


LISTED_FIELDS = ("order", "tokens", "matched", "produced", "reference", "log_odds", "z")


def select_listed_fields(page):
    """Return the n-grams in the lists of a page, without their examples."""
    return {
        kind: [{key: gram[key] for key in LISTED_FIELDS} for gram in grams]
        for kind, grams in page["lists"].items()
    }


def check_lists(run_kernel, systems, references, metric, limit):
    """Check that the n-gram lists of a page equal those of a report."""
    columns = list(zip(*references, strict=True))
    pairs = [(0, 1), (1, None)] if len(systems) > 1 else [(0, None)]
    corpus = build_corpus(systems, references, metric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinctive_ngrams, "MAX_LIST_LENGTH", limit)
        patch.setattr(distinctive_ngrams, "MAX_EXAMPLE_SEGMENTS", 1)
        expected_lists = distinctive_ngrams.list_distinctive_ngrams(corpus, metric, pairs)["pairs"]
    request = {
        "recipe": browser_kernel.get_kernel_settings(metric),
        "n": len(references),
        "systems": [encode_base64(page_list) for page_list in systems],
        "references": [encode_base64(column) for column in columns],
        "orders": min(4, metric.max_order),
        "limit": limit,
    }
    page_lists = run_kernel(lists=[request | {"pair": pair} for pair in pairs])
    for page_list, expected_list in zip(page_lists, expected_lists, strict=True):
        assert page_list["segments"] == len(references)
        assert is_close(*map(select_listed_fields, (page_list, expected_list)))


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_ngram_lists_equal_python(run_kernel, data):
    count = data.draw(st.integers(1, 8))
    words = st.lists(st.sampled_from(["a", "b", "c", "d", ".", "É"]), max_size=9).map(" ".join)
    texts = st.lists(words | strategies.texts(), min_size=count, max_size=count)
    systems = data.draw(st.lists(texts, min_size=1, max_size=3))
    columns = data.draw(st.lists(texts, min_size=1, max_size=2))
    metric = data.draw(st.sampled_from([BLEU(), BLEU("char", lowercase=True), BLEU(max_order=2)]))
    references = list(zip(*columns, strict=True))
    check_lists(run_kernel, systems, references, metric, data.draw(st.integers(1, 20)))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_alignments_equal_python(run_kernel, data):
    words = st.lists(st.sampled_from(["a", "b", "c", "d.", "É", "5,0"]), max_size=9).map(" ".join)
    texts = words | strategies.texts()
    rows = st.tuples(texts, st.lists(texts | st.none(), min_size=1, max_size=3))
    rows_with_reference = rows.filter(lambda row: any(text is not None for text in row[1]))
    segments = data.draw(st.lists(rows_with_reference, min_size=1, max_size=6))
    metrics = [TER(), TER(normalized=True, case_sensitive=True), WER(), MER(), WIP(), WIL()]
    alignments_by_metric = run_kernel(
        alignments=[
            {
                "recipe": browser_kernel.get_kernel_settings(metric),
                "segments": [
                    {"block": encode_base64([text, *references]), "n": 1 + len(references)}
                    for text, references in segments
                ],
            }
            for metric in metrics
        ]
    )
    for metric, alignments in zip(metrics, alignments_by_metric, strict=True):
        for (text, references), alignment in zip(segments, alignments, strict=True):
            expected = metric.alignment(text, references)._asdict()
            del expected["reference_length"]
            assert is_close(alignment, json.loads(json.dumps(expected))), metric


def test_tokens_equal_python(run_kernel):
    names = [("13a", False), ("intl", True), ("zh", False), ("char", True), ("none", True)]
    metrics = [BLEU(tokenize=name, lowercase=lower) for name, lower in names]
    cases = [make_case(m, ["a"] * 3, [("a",)] * 3, UNUSUAL_TEXTS) for m in metrics]
    for (name, lower), result in zip(names, run_kernel(cases=cases), strict=True):
        assert result["tokens"] == [tokenize(text, name, lowercase=lower) for text in UNUSUAL_TEXTS]


def test_invalid_recipe_is_reported(run_kernel):
    default_recipe = browser_kernel.get_kernel_settings(BLEU())
    invalid_recipes = [
        (default_recipe | {"metric": "meteor"}, "metric meteor is not available in the browser"),
        (
            default_recipe | {"tokenizer": "ja-mecab"},
            "tokenizer ja-mecab is not available in the browser",
        ),
        (default_recipe | {"max_order": 17}, "max_order=17: expected 1 to 16"),
        (default_recipe | {"smoothing": "more"}, "invalid smoothing: more"),
        (default_recipe | {"max_order": "four"}, "max_order=four: expected a number"),
        (default_recipe | {"weights": [1, 2]}, "2 weights for 4 orders"),
        (default_recipe | {"lowercase": "yes"}, "lowercase=yes: expected no, python or ascii"),
        ({"metric": "bleu"}, "missing setting: max_order"),
    ]
    default_case = make_case(BLEU(), ["a"] * 3, [("a",)] * 3)
    results = run_kernel(cases=[default_case | {"recipe": recipe} for recipe, _ in invalid_recipes])
    assert [result["error"] for result in results] == [message for _, message in invalid_recipes]


def test_browser_kernel_knows_what_it_can_count():
    assert browser_kernel.can_compute_statistics(BLEU())
    assert browser_kernel.can_compute_statistics(TER())
    assert browser_kernel.can_compute_statistics(BLEU(arithmetic="nltk", smoothing="none"))
    assert not browser_kernel.can_compute_statistics(tb.metric("bleu", tokenize=str.split))
    assert not browser_kernel.can_compute_statistics(BLEU(tokenize="ja-mecab"))
    assert browser_kernel.get_kernel_settings(BLEU(tokenize="ja-mecab"))["tokenizer"] == "none"
    assert browser_kernel.can_compute_on_load(BLEU(), 100_000)
    assert not browser_kernel.can_compute_on_load(TER(), 100_000)


# ---- in the page ----

CHANGES = [
    (0, {"tokenize": "char"}, BLEU(tokenize="char")),
    (0, {"tokenize": "intl", "lowercase": "yes"}, BLEU(tokenize="intl", lowercase=True)),
    (0, {"tokenize": "none", "max_order": 2}, BLEU(tokenize="none", max_order=2)),
    (1, {"whitespace": "yes", "lowercase": "yes"}, CHRF(whitespace=True, lowercase=True)),
    (2, {"normalized": "yes", "case_sensitive": "yes"}, TER(normalized=True, case_sensitive=True)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("setting", "changes", "metric"), CHANGES, ids=lambda x: str(x)[:40])
def test_recount_in_page_equals_python(example, open_report, setting, changes, metric):
    state = "&".join(f"{key}={value}" for key, value in changes.items())
    tab = open_report(example.path, f"#summary?setting={setting}&{state}").page
    expect(tab.locator(".notice")).to_contain_text(str(metric.signature(2)))
    rows = tab.locator("main .overview tbody tr")
    expect(rows).to_have_count(3)
    for k in range(3):
        name = rows.nth(k).locator("bdi").inner_text()
        value = metric.score(example.hypotheses[name], example.references).value
        value_text = (
            rows.nth(k).locator(f"[data-measure='{setting}'] data").first.get_attribute("value")
        )
        assert is_close(float(value_text), value), name


def test_tokenizer_can_be_changed_and_reset(example, open_report):
    tab = open_report(example.path, "#why").page
    tab.get_by_label("Tokenizer").select_option("char")
    expect(tab.locator(".notice")).to_contain_text("tok:char")
    tab.get_by_role("button", name="Reset").first.click()
    expect(tab.locator(".notice")).to_be_hidden()


def test_missing_kernel_keeps_static_summary(monkeypatch, example, open_report, tmp_path):
    """A page of a package without the kernel explains what is missing."""
    monkeypatch.setattr(browser_kernel, "load_kernel_blocks", dict)
    path = tmp_path / "report.html"
    tb.report(example.hypotheses, example.references, path=path, samples=50, confidence=50)
    tab = open_report(path, "#why", wait=False).page
    expect(tab.locator(".failed")).to_contain_text("without the browser kernel")
    expect(tab.locator("#static")).to_contain_text("birch")


def test_missing_webassembly_keeps_static_summary(example, open_report):
    tab = open_report(example.path, wait=False, script="delete window.WebAssembly;").page
    expect(tab.locator(".failed")).to_contain_text("does not support WebAssembly")
    expect(tab.locator("#static")).to_contain_text("birch")
