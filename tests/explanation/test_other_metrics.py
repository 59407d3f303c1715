"""Explanations of every kind of metric: equality with the metric, valid renderings."""

import json
import re
from collections import Counter
from xml.etree import ElementTree as ET

import hypothesis.strategies as st
import pytest
import strategies
from hypothesis import given, settings
from page_parser import Page

import truebleu as tb
from truebleu import BLEU, CER, CHRF, MER, TER, WER, WIL, WIP, Explanation, NGramF, explain
from truebleu.explanation import chrf
from truebleu.metrics.base import PARTS_PER_TOKEN
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.nist import NIST
from truebleu.metrics.rouge import ROUGE
from truebleu.text.tokenizers import count_ngrams

METRICS = [
    BLEU(),
    CHRF(),
    CHRF(word_order=2),
    CHRF(char_order=3, word_order=1, beta=1, lowercase=True, whitespace=True),
    CHRF(word_order=2, eps_smoothing=True),
    TER(),
    TER(normalized=True, no_punct=True, asian_support=True, case_sensitive=True),
    NIST(),
    NIST("none", max_order=3, variant="doddington"),
    NIST("char", lowercase=True),
    GLEU(),
    GLEU("none", min_order=2, max_order=3, lowercase=True),
    NGramF(),
    NGramF((1, 3), beta=2, tokenize="none"),
    ROUGE("1", tokenize="13a"),
    ROUGE("l", tokenize="13a"),
    ROUGE("lsum", tokenize="intl"),
    WER(),
    WER("13a", lowercase=True),
    MER(),
    WIL(),
    WIP(),
    CER(),
]

TRICKY = {
    "empty": ("", ["the cat is on the mat"]),
    "empty reference": ("the cat", [""]),
    "both empty": ("", [""]),
    "one word": ("cat", ["cat"]),
    "a missing reference": ("a b c d", [None, "a b c e", None, "a b d"]),
    "markup": (
        "<script>alert(1)</script> & $5 50% #1 a_b ^ ~ \\ {x} `tick` | [link](x) *b* --",
        ["<b>bold</b> & $5 50% #1 a_b ^ ~ \\ {y} ``tick`` | ![link](x) **b** ---"],
    ),
    "combining": ("e\u0301te\u0301 a\u0323\u0307", ["e\u0301te a\u0323\u0307", "\u0301 \u0323"]),
    "right to left": ("שלום עולם טוב", ["שלום עולם", "مرحبا بالعالم"]),
    "what does not show": ("a\u202eb \x1b[31m c\x00 d\u200b", ["a\u202eb \x1b[31m c\x00 e\u200b"]),
    "ends of lines": ("a b\nc\r\nd\u2028e", ["a b\nc d\u2028e", "a\tb"]),
    "lone surrogates": ("a \ud800 b", ["a \ud800 c"]),
    "emoji": ("\U0001f469\u200d\U0001f52c ok \U0001f1e9\U0001f1ea", ["\U0001f469\u200d\U0001f52c"]),
    "no spaces": ("日本語の文です。", ["日本語の本です。"]),
    "long": ("the cat sat on the mat " * 12, ["a cat sat on the mat and slept " * 10]),
}


def explain_system(*arguments, **options) -> dict:
    return explain(*arguments, **options).to_dict()["systems"][0]


def parametrize_metrics(name: str):
    return pytest.mark.parametrize("metric", [m for m in METRICS if name == m.NAME], ids=str)


TEXT = strategies.texts(12)
WORDS = st.lists(st.sampled_from(["a", "b", "A", "c,", "(d", "."]), max_size=9).map(" ".join)
SEGMENT = st.tuples(WORDS | TEXT, st.lists(WORDS | TEXT, min_size=1, max_size=3))
CORPUS = st.lists(SEGMENT, min_size=1, max_size=4)
few_examples = settings(max_examples=20)


# ---- equality with the metric ----


@pytest.mark.parametrize("metric", METRICS, ids=str)
@few_examples
@given(SEGMENT)
def test_segment_score_equals_metric(metric, segment):
    hypothesis, references = segment
    score = metric.sentence(hypothesis, references)
    explained = explain_system(hypothesis, references, metric)
    assert explained["score"] == score.value
    assert explained["signature"] == str(score.signature)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@few_examples
@given(CORPUS)
def test_corpus_score_equals_metric(metric, corpus):
    hypotheses, references = [one for one, _ in corpus], [tuple(many) for _, many in corpus]
    content = explain(hypotheses, references, metric).to_dict()
    assert content["kind"] == "corpus"
    assert content["segments"] == len(corpus)
    assert content["systems"][0]["score"] == metric.score(hypotheses, references).value
    explained = explain_system(hypotheses, references, metric, segment=len(corpus))
    assert explained["score"] == metric.sentence(hypotheses[-1], references[-1]).value


def get_statistics(metric, hypothesis, references) -> list[int]:
    """Return the statistics of a segment."""
    return metric.statistics([hypothesis], [tuple(references)]).tolist()[0]


@parametrize_metrics("chrF")
@few_examples
@given(SEGMENT)
def test_chrf_counts_equal_kernel(metric, segment):
    hypothesis, references = segment
    explained = explain_system(hypothesis, references, metric)
    keys = ("hypothesis", "reference", "matches")
    row = [order[key] for order in explained["orders"] for key in keys]
    assert row == get_statistics(metric, hypothesis, references)
    # The listed n-grams equal the counted ones.
    scored_reference = references[explained["reference"] - 1]
    for order in explained["orders"]:
        split = chrf.split_text if order["unit"] == "character" else chrf.split_into_words
        hypothesis_ngrams, reference_ngrams = (
            count_ngrams(split(metric, text), order["order"])
            for text in (hypothesis, scored_reference)
        )
        assert order["matches"] == sum((hypothesis_ngrams & reference_ngrams).values())
        assert order["reference"] == sum(reference_ngrams.values())
        if order["reference"]:
            assert order["hypothesis"] == sum(hypothesis_ngrams.values())
        for kind, counter in (
            ("extra", hypothesis_ngrams - reference_ngrams),
            ("missing", reference_ngrams - hypothesis_ngrams),
        ):
            listed_counts = {tuple(one["ngram"]): one["count"] for one in order[kind]}
            assert listed_counts == dict(counter.most_common(len(listed_counts)))
            assert len(listed_counts) == min(len(counter), 10)


@parametrize_metrics("chrF")
@few_examples
@given(SEGMENT)
def test_chrf_components_give_score(metric, segment):
    explained = explain_system(*segment, metric)
    used = [order for order in explained["orders"] if order["precision"] is not None]
    if metric.eps_smoothing:
        value = sum(order["f"] for order in used) / len(used)
    else:
        factor, p, r = metric.beta**2, explained["precision"], explained["recall"]
        value = (1 + factor) * p * r / (factor * p + r) if p + r else 0.0
    assert explained["fraction"] == pytest.approx(value, abs=1e-9)
    assert explained["score"] == pytest.approx(100 * explained["fraction"])


@parametrize_metrics("TER")
@few_examples
@given(SEGMENT)
def test_ter_edits_equal_kernel_and_give_reference(metric, segment):
    hypothesis, references = segment
    explained = explain_system(hypothesis, references, metric)
    assert [explained["edits"], explained["reference_length"] * PARTS_PER_TOKEN] == pytest.approx(
        get_statistics(metric, hypothesis, references)
    )
    assert sum(explained["kinds"].values()) == explained["edits"]
    alignment = explained["alignment"]
    kinds = Counter(one["kind"] for one in alignment["operations"])
    assert {kind: kinds[kind] for kind in ("substitution", "deletion", "insertion")} == {
        kind: n for kind, n in explained["kinds"].items() if kind != "shift"
    }
    edited_tokens = []
    for operation in alignment["operations"]:
        if operation["kind"] == "match":
            edited_tokens.append(alignment["hypothesis"][operation["hypothesis"]])
        elif operation["kind"] != "deletion":
            edited_tokens.append(alignment["reference"][operation["reference"]])
    assert edited_tokens == alignment["reference"]


@parametrize_metrics("NIST")
@few_examples
@given(SEGMENT)
def test_nist_information_equals_metric(metric, segment):
    hypothesis, references = segment
    explained = explain_system(hypothesis, references, metric)
    row = get_statistics(metric, hypothesis, references)
    orders, order_count = explained["orders"], metric.max_order
    assert explained["hypothesis_length"] == row[0] == len(explained["tokens"])
    assert explained["reference_length"] * PARTS_PER_TOKEN == pytest.approx(row[1])
    assert [order["total"] for order in orders] == row[2 + 2 * order_count :]
    for i, order in enumerate(orders):
        high, low = row[2 + i], row[2 + order_count + i]
        bits = ((high << 32) + low) / 2**52
        assert order["information"] == pytest.approx(bits, abs=1e-9)
        listed_bits = sum(
            one["clipped"] * one["information"] for one in order["ngrams"] if one["clipped"]
        )
        assert listed_bits == pytest.approx(bits, abs=1e-9)
        assert sum(one["count"] for one in order["ngrams"]) == order["total"]
    assert explained["information"] * explained["penalty"] == pytest.approx(explained["score"])


@pytest.mark.parametrize(("metric", "count"), [("gleu", 0), ("nist", 1), ("cider", 1)])
def test_segment_whose_score_depends_on_other_segments_causes_a_warning(metric, count):
    texts = ["a cat sat", "a dog ran"]
    warnings = explain(texts, texts, metric, segment=2).to_dict().get("warnings", [])
    messages = [one["text"] for one in warnings]
    expected = "segment 2, so its score differs from the score that truebleu segments prints"
    assert [expected in message for message in messages] == [True] * count


@parametrize_metrics("GLEU")
@few_examples
@given(SEGMENT)
def test_gleu_counts_equal_metric(metric, segment):
    hypothesis, references = segment
    explained = explain_system(hypothesis, references, metric)
    orders = explained["orders"]
    sums = {
        key: sum(order[key] for order in orders) for key in ("matches", "total", "reference_total")
    }
    larger = max(sums["total"], sums["reference_total"])
    # Empty texts have no n-grams.
    assert [sums["matches"], larger] == get_statistics(metric, hypothesis, references)
    assert [explained["matches"], explained["totals"]] == [sums["matches"], larger]
    for order in orders:
        assert sum(one["clipped"] for one in order["ngrams"]) == order["matches"]
        assert sum(one["count"] for one in order["ngrams"]) == order["total"]


@parametrize_metrics("GLEU")
@few_examples
@given(CORPUS)
def test_gleu_of_a_corpus_adds_up(metric, corpus):
    hypotheses, references = [one for one, _ in corpus], [tuple(many) for _, many in corpus]
    explained = explain_system(hypotheses, references, metric)
    totals = metric.statistics(hypotheses, references).sum().tolist()[0]
    assert [explained["matches"], explained["totals"]] == totals
    assert sum(order["matches"] for order in explained["orders"]) == totals[0]


# ---- worked examples ----


@pytest.mark.parametrize(
    ("hypothesis", "reference", "metric", "lines"),
    [
        # Unigrams: 2 of 3 match; bigrams: 1 of 2.
        (
            *("abc", "abd", CHRF(char_order=2)),
            [
                "P = 1/2 (0.6667 + 0.5000) = 0.5833",
                "(5 · 0.5833 · 0.5833)/(4 · 0.5833 + 0.5833)",
                "Only in the hypothesis",
                "Character 1-grams: “c”.",
                "Character 2-grams: “bd”.",
            ],
        ),
        (
            *("on the mat sat a cat", "a cat sat on the mat", TER()),
            ["TER = 33.33", "100 · 2/6", "shift  on the mat  by 3 to the right"],
        ),
        ("a cat", "a cat", TER(), ["None: the hypothesis equals the reference."]),
        # One match of two unigrams; the information of "a" is log2(2/1) = 1 bit.
        (
            *("a b", "a c", NIST("none", max_order=2)),
            ["penalty = 1, because 2 ≥ 2", "(1/2 + 0/1)", "NIST = 0.50"],
        ),
        # 5 unigrams, 3 bigrams and 1 trigram of 6 + 5 + 4 + 3 match.
        (
            *("the cat sat on the mat", "the cat is on the mat", GLEU("none")),
            ["9/18", "GLEU = 50.00"],
        ),
    ],
)
def test_worked_examples(hypothesis, reference, metric, lines):
    text = explain(hypothesis, [reference], metric).text()
    for line in lines:
        assert line in text


@pytest.mark.parametrize(
    ("metric", "reason"),
    [("chrf", "has the best score"), ("gleu", "has the best score"), ("ter", "needs the fewest")],
)
def test_used_reference_is_named(metric, reason):
    references = ["something else entirely", "the cat is on a mat"]
    sentence = f"Reference 2 is used because it {reason}"
    assert sentence in explain("the cat is on the mat", references, metric).text()
    assert sentence not in explain("the cat is on the mat", references[1:], metric).text()


# ---- renderings are valid for all texts ----


def parse_harmless_page(markup: str) -> Page:
    """Parse a page, and check that it has no scripts and no external resources."""
    page = Page(markup)
    assert not page.tags & {"script", "img", "b", "link", "iframe"}
    assert not [name for name in page.attributes if name in ("src", "href") or name[:2] == "on"]
    return page


def check_html(page: str, explanation: Explanation) -> None:
    assert explanation.to_dict()["caution"] in parse_harmless_page(page).text
    for math in re.findall(r"<math.*?</math>", page, re.DOTALL):
        ET.fromstring(math.replace("&nbsp;", " "))


def check_latex(source: str) -> None:
    begun, ended = (re.findall(rf"\\{end}\{{(\w+\*?)\}}", source) for end in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    bare = source.replace("\\\\", "").replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    for environment in re.findall(r"\\begin\{longtable\}.*?\\end\{longtable\}", source, re.DOTALL):
        body = [line for line in environment.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in body}) == 1


def check_markdown(source: str) -> None:
    fences = re.findall(r"^(```+)", source, re.MULTILINE)
    assert len(fences) % 2 == 0
    outside = re.sub(r"^(```+)text\n.*?^\1$", "", source, flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n?)+", outside, re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(columns) == 1


def check_renderings(explanation: Explanation) -> None:
    parsed_explanation = Explanation.from_json(explanation.to_json())
    assert parsed_explanation == explanation
    assert json.loads(explanation.to_json()) == explanation.to_dict()
    renderings = {
        form: getattr(explanation, form)() for form in ("text", "markdown", "latex", "html")
    }
    heading = explanation.text().splitlines()[0]
    assert re.match(r"[\w-]+[+\d]* = (\d|−)", heading)
    for form, text in renderings.items():
        assert text.encode("utf-8"), form
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2028\ud800-\udfff]", text), form
        assert text == getattr(parsed_explanation, form)()
    check_html(renderings["html"], explanation)
    check_latex(renderings["latex"])
    check_markdown(renderings["markdown"])
    parse_harmless_page(explanation._repr_html_())


@pytest.mark.parametrize("case", TRICKY)
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_tricky_text_is_rendered_whole(metric, case):
    hypothesis, references = TRICKY[case]
    explanation = explain(hypothesis, references, metric)
    given_score = metric.sentence(hypothesis, references).value
    assert explanation.to_dict()["systems"][0]["score"] == given_score
    check_renderings(explanation)


@pytest.mark.thorough
@pytest.mark.parametrize("metric", METRICS, ids=str)
@settings(max_examples=5)
@given(SEGMENT, st.text(max_size=20))
def test_any_text_is_rendered_whole(metric, segment, second):
    hypothesis, references = segment
    check_renderings(explain(hypothesis, references, metric))
    check_renderings(explain({"<b>": hypothesis, "$x_1$|": second}, references, metric))


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_two_systems_are_rendered_whole(metric):
    hypotheses = [hypothesis for hypothesis, _ in TRICKY.values()]
    references = [tuple(many) for _, many in TRICKY.values()]
    second_hypotheses = [many[-1] for many in references]
    systems = {"<b>": hypotheses, "$x_1$|": second_hypotheses}
    explanation = explain(systems, references, metric)
    check_renderings(explanation)
    content = explanation.to_dict()
    first, second = content["systems"]
    assert content["comparison"]["difference"] == second["score"] - first["score"]
    for explained, texts in ((first, hypotheses), (second, second_hypotheses)):
        assert explained["score"] == metric.score(texts, references).value


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_terminal_output_is_coloured(metric):
    console = pytest.importorskip("rich.console")
    terminal = console.Console(width=90, force_terminal=True, color_system="standard")
    for hypothesis, references in (TRICKY["markup"], TRICKY["right to left"], TRICKY["empty"]):
        explanation = explain(hypothesis, references, metric)
        with terminal.capture() as capture:
            terminal.print(explanation)
        plain = re.sub(r"\x1b\[[\d;]*m", "", capture.get())
        assert explanation.text().splitlines()[0] in plain
        assert "\x1b" not in plain


# ---- examined segments ----


def test_number_of_examined_segments_is_limited(monkeypatch):
    monkeypatch.setattr("truebleu.explanation.edit_rates.MAX_ALIGNED_SEGMENTS", 2)
    monkeypatch.setattr("truebleu.explanation.naive_bleu.MAX_EXAMINED_SEGMENTS", 20)
    texts = ["a b c d", "b c d e", "x y z w"]
    for metric in (TER(), CHRF()):
        explanation = explain(texts, texts[::-1], metric)
        assert explanation.to_dict()["systems"][0]["looked_into"] == 2
        assert "in the first 2 segments:" in explanation.text().lower()


# ---- the command ----


SOURCE = "The committee postponed the vote because members disagreed ."
SIMPLER = "The committee delayed the vote because members disagreed ."
SIMPLE_REFERENCES = [
    "The committee delayed the vote because its members did not agree .",
    None,
    "The committee waited to vote because members disagreed .",
]


@pytest.mark.parametrize("name", ["sari", "sari-paper", "sari-legacy"])
def test_sari_ngrams_sum_to_counts_of_score(name):
    metric = tb.metric(name)
    explained = explain_system(SIMPLER, SIMPLE_REFERENCES, metric, source=SOURCE)
    score = metric.sentence(SIMPLER, SIMPLE_REFERENCES, SOURCE)
    assert explained["score"] == score.value
    assert {key: explained[key] for key in score.details()} == score.details()
    row = []
    for order in explained["orders"]:
        for part in order["operations"].values():
            right, wrong, missed = (
                sum(entry["count"] for entry in part[key]) for key in ("right", "wrong", "missed")
            )
            counts = [part["good"], part["hypothesis"], part["reference"]]
            assert counts == [right, right + wrong, right + missed]
            row += counts
    assert tuple(row) == score.row


def test_sari_explanation_names_right_wrong_and_missed_ngrams():
    text = explain(SIMPLER, SIMPLE_REFERENCES, "sari", source=SOURCE).text()
    assert "Added. right: “delayed”; wrong: none; missed: “its”, “did”" in text
    assert "Deleted. right: “postponed” ×2; wrong: none; missed: “the”, “disagreed”." in text
    assert "SARI = (add + keep + delete)/3" in text


def test_sari_of_corpus_and_its_segment_are_explained():
    texts = [SIMPLER, SOURCE], [SIMPLE_REFERENCES, SIMPLE_REFERENCES[:1]]
    sources = [SOURCE, SOURCE]
    content = explain(*texts, "sari", source=sources).to_dict()
    score = tb.SARI().score(*texts, sources, check_text=False)
    assert content["systems"][0]["score"] == score.value
    assert content["systems"][0]["looked_into"] == content["segments"] == 2
    segment = explain(*texts, "sari", source=sources, segment=2, check_text=False).to_dict()
    assert segment["systems"][0]["score"] == tb.SARI().segments(*texts, sources)[1]
    assert segment["systems"][0]["source_tokens"] == SOURCE.lower().split()
    both = explain({"a": texts[0], "b": texts[0][::-1]}, texts[1], "sari", source=sources)
    assert {*both.to_dict()["comparison"]["differences"]} == {"add", "keep", "delete"}


@pytest.mark.parametrize("name", ["ibleu", "gec-gleu", "sari-hf"])
def test_other_metrics_with_sources_show_statistics(name):
    content = explain(SIMPLER, SIMPLE_REFERENCES[:1], name, source=SOURCE).to_dict()
    expected = tb.metric(name).sentence(SIMPLER, SIMPLE_REFERENCES[:1], SOURCE)
    assert content["systems"][0]["score"] == expected.value
    assert " ".join(content["systems"][0]["tokens"]) == SIMPLER


def test_metrics_without_lowercase_show_their_own_tokens():
    (system,) = explain("A man's dog (red).", ["A dog."], "cider").to_dict()["systems"]
    assert system["tokens"] == tb.tokenize("A man's dog (red).", "ptb-coco")


def test_explanation_without_source_raises_error():
    with pytest.raises(ValueError, match="SARI reads sources"):
        explain(SIMPLER, SIMPLE_REFERENCES, "sari")
    with pytest.raises(tb.InputError, match="sources 1, hypotheses 2"):
        explain([SIMPLER] * 2, [SOURCE] * 2, "sari", source=[SOURCE])
