"""Automatic findings: each kind is found, with the right numbers."""

import random

import pytest

import truebleu as tb
from truebleu.comparison.comparison_request import Request
from truebleu.reports import findings, report_builder

# The vocabulary is large enough to avoid accidental repetitions.
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se")
WORDS = [first + second + last for first in SYLLABLES for second in SYLLABLES for last in "nrst"]


def make_sentence(dice: random.Random, length: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(length))


def degrade(dice: random.Random, text: str) -> str:
    return " ".join(word if dice.random() < 0.6 else dice.choice(WORDS) for word in text.split())


@pytest.fixture(scope="module")
def texts() -> list[str]:
    dice = random.Random(4)
    return [make_sentence(dice, dice.choice((6, 14, 25))) for _ in range(400)]


def find_by_kind(systems, references, metric="bleu", **options):
    """Return the findings by kind."""
    names = ("documents", "source", "test", "resample")
    chosen = {name: options[name] for name in names if name in options}
    if references in systems.values():
        # A copy of the references would not be ranked.
        references = [f"{references[0]} lekas", *references[1:]]
    request = Request.from_options(systems, references, {"metrics": [metric], **chosen})
    request.labels = options.get("labels")
    all_findings = report_builder.ReportData(request, languages=options.get("languages")).findings
    order = [finding["kind"] for finding in all_findings]
    assert order == sorted(order, key=list(findings.MAX_FINDINGS).index)
    assert all(order.count(kind) <= limit for kind, limit in findings.MAX_FINDINGS.items())
    return {
        kind: [finding for finding in all_findings if finding["kind"] == kind]
        for kind in findings.MAX_FINDINGS
    }


def test_concentrated_difference_names_document_and_length(texts):
    """Degrade a system in a single document, then only in long segments."""
    dice = random.Random(5)
    documents = [f"d{i // 100}" for i in range(400)]
    degraded = [degrade(dice, text) if i // 100 == 2 else text for i, text in enumerate(texts)]
    systems = {"plain": degraded, "good": texts}
    concentrated = find_by_kind(systems, texts, documents=documents)["concentrated"]
    start = "Most of the difference between good and plain comes from document d2"
    assert concentrated[0]["text"].startswith(start)
    assert concentrated[0]["state"] == {"systems": ["plain", "good"], "setting": "0", "doc": 2}
    lengths = [degrade(dice, text) if len(text.split()) == 25 else text for text in texts]
    (concentrated,) = find_by_kind({"plain": lengths, "good": texts}, texts)["concentrated"]
    assert "segments of 20 to 29 tokens" in concentrated["text"]
    assert concentrated["state"]["range"] == "length:20:29"


def test_remaining_delta_equals_metric(texts):
    dice = random.Random(6)
    documents = ["a" if i % 3 else "b" for i in range(400)]
    degraded = [
        text if name == "a" else degrade(dice, text)
        for text, name in zip(texts, documents, strict=True)
    ]
    found = find_by_kind({"x": degraded, "y": texts}, texts, documents=documents)["concentrated"]
    (concentrated,) = (finding for finding in found if "doc" in finding["state"])
    rest = [i for i, name in enumerate(documents) if name == "a"]

    def score_remaining(lines):
        return tb.bleu([lines[i] for i in rest], [texts[i] for i in rest]).value

    delta = f"{score_remaining(texts) - score_remaining(degraded):+.2f}".replace("+0.00", "0.00")
    assert f", {delta} without them" in concentrated["text"]


DIRECTIONS = pytest.mark.parametrize(
    ("metric", "is_lower_better"), [("bleu", False), ("chrf", False), ("ter", True), ("wer", True)]
)


def swap_quality(texts, first_count):
    """Return two systems: y is correct in the first segments, and x in the other segments."""
    dice = random.Random(7)
    x = [degrade(dice, text) if i < first_count else text for i, text in enumerate(texts)]
    y = [text if i < first_count else degrade(dice, text) for i, text in enumerate(texts)]
    return {"x": x, "y": y}


@DIRECTIONS
def test_significant_reversal_is_signed_from_view_of_better_system(texts, metric, is_lower_better):
    systems = swap_quality(texts, 250)
    kinds = ["news"] * 250 + ["chat"] * 150
    (finding,) = find_by_kind(systems, texts, metric, labels={"domain": kinds})["reversed"]
    scores = {
        (name, start): tb.metric(metric).score(lines[start:], texts[start:]).value
        for name, lines in systems.items()
        for start in (0, 250)
    }
    deltas = [scores["x", start] - scores["y", start] for start in (250, 0)]
    assert [delta > 0 for delta in deltas] == [not is_lower_better, is_lower_better]
    in_group, in_all = (f"{delta:+.2f}".replace("-", "−") for delta in deltas)
    label = tb.metric(metric).name
    assert finding["text"] == (
        f"In domain chat, x is better than y: {label} {in_group} in 150 segments "
        f"(p = 0.0005, corrected for 5 groups), {in_all} in all segments"
    )
    assert finding["state"]["label"] == "0:1"


@DIRECTIONS
def test_reversal_that_is_not_significant_is_not_reported(texts, metric, is_lower_better):
    dice = random.Random(11)
    x = [degrade(dice, text) for text in texts]
    y = list(x)
    # In each half, one system is correct in a few more segments than the other.
    long_segments = [i for i, text in enumerate(texts) if len(text.split()) == 25]
    for i in [i for i in long_segments if i < 200][:3]:
        x[i] = texts[i]
    for i in [i for i in long_segments if i >= 200][:4]:
        y[i] = texts[i]
    systems = {"x": x, "y": y}
    score = tb.metric(metric)
    deltas = [
        score.score(x[start:end], texts[start:end]).value
        - score.score(y[start:end], texts[start:end]).value
        for start, end in ((0, 200), (200, 400), (0, 400))
    ]
    assert [(delta > 0) == is_lower_better for delta in deltas] == [False, True, True]
    assert abs(deltas[0]) > abs(deltas[2])
    halves = {"half": ["a"] * 200 + ["b"] * 200}
    kinds = find_by_kind(systems, texts, metric, labels=halves)
    assert not kinds["reversed"]
    # A delta that is not significant is not attributed to segments.
    assert not kinds["concentrated"]
    assert not any("better than" in one["text"] for found in kinds.values() for one in found)


def test_reversal_without_test_is_not_reported(texts):
    kinds = {"domain": ["news"] * 250 + ["chat"] * 150}
    systems = swap_quality(texts, 250)
    assert not find_by_kind(systems, texts, labels=kinds, test=None)["reversed"]


def test_reversal_is_tested_by_document_if_documents_are_resampled(texts):
    """Two documents per label are too few for a significant reversal."""
    kinds = {"domain": ["news"] * 250 + ["chat"] * 150}
    documents = [f"d{i // 75}" for i in range(400)]
    systems = swap_quality(texts, 250)
    found = find_by_kind(systems, texts, labels=kinds, documents=documents)["reversed"]
    assert any("domain chat" in one["text"] for one in found)
    assert not find_by_kind(
        systems, texts, labels=kinds, documents=documents, resample="documents"
    )["reversed"]


@DIRECTIONS
def test_decisive_segments_reverse_difference(texts, metric, is_lower_better):
    dice = random.Random(8)
    x = [degrade(dice, text) for text in texts]
    y = list(x)
    # Three segments are correct only in y; in ten others, x is better by a word.
    y[3:6] = texts[3:6]
    for i in range(10, 20):
        x[i] = " ".join([*x[i].split()[:-1], texts[i].split()[-1]])
    (decisive,) = find_by_kind({"x": x, "y": y}, texts, metric)["decisive"]
    removed = [int(i) - 1 for i in decisive["state"]["only"].split(",")]
    remaining = [i for i in range(400) if i not in removed]
    score = tb.metric(metric)
    x_remaining, y_remaining = (
        score.score([lines[i] for i in remaining], [texts[i] for i in remaining]).value
        for lines in (x, y)
    )
    assert x_remaining < y_remaining if is_lower_better else x_remaining > y_remaining
    direction = "lower" if is_lower_better else "higher"
    remark = " (lower is better)" if is_lower_better else ""
    assert decisive["text"] == (
        f"Without {len(removed)} of 400 segments, x would have a {direction} {score.name} "
        f"than y{remark}"
    )


@DIRECTIONS
def test_concentrated_delta_is_signed_from_best_to_other_system(texts, metric, is_lower_better):
    dice = random.Random(5)
    documents = [f"d{i // 100}" for i in range(400)]
    degraded = [degrade(dice, text) if i // 100 == 2 else text for i, text in enumerate(texts)]
    systems = {"plain": degraded, "good": texts}
    concentrated = find_by_kind(systems, texts, metric, documents=documents)["concentrated"]
    sign = "−" if is_lower_better else "+"
    assert f"): {tb.metric(metric).name} {sign}" in concentrated[0]["text"]
    assert concentrated[0]["text"].endswith(" 0.00 without them")


def test_deviating_marks_are_found(texts):
    quoted = [f'"{text}"' for text in texts]
    curly = [f"“{text}”" for text in texts]
    style_findings = find_by_kind({"machine": quoted, "other": curly}, curly)["style"]
    sentences = [finding["text"] for finding in style_findings]
    assert "machine overuses straight quotes: 800, compared with 0 in the reference" in sentences
    assert "machine underuses curly quotes: none, compared with 800 in the reference" in sentences
    assert {"find": '"', "in": "system1"} in [finding["state"] for finding in style_findings]
    assert not find_by_kind({"other": curly}, curly)["style"]


def test_counts_of_many_systems_are_summarized(texts):
    quoted = [f'"{text}"' for text in texts]
    curly = [f"“{text}”" for text in texts]
    machines = {f"machine {i}": quoted[: 400 - i] + texts[400 - i :] for i in range(5)}
    sentences = [one["text"] for one in find_by_kind(machines, curly)["style"]]
    assert {
        "All systems overuse straight quotes: 792 to 800, compared with 0 in the reference",
        "All systems underuse curly quotes: none, compared with 800 in the reference",
    } <= set(sentences)
    sentences = [one["text"] for one in find_by_kind({**machines, "other": curly}, curly)["style"]]
    assert sentences[0].startswith("5 of 6 systems ")


def test_flag_counts_of_many_systems_are_summarized(texts):
    cut = [text[: len(text) // 4] for text in texts]
    systems = {"short": cut, **{f"machine {i}": cut[:i] + texts[i:] for i in range(2, 7)}}
    sentences = [one["text"] for one in find_by_kind(systems, texts)["flags"]]
    assert any(text.endswith(" (2 to 6 in the other 5 systems)") for text in sentences)


def test_frequent_flag_is_found(texts):
    numbered = [f"{text} in {1900 + i}" for i, text in enumerate(texts)]
    wrong = [
        f"{text} in {2100 + i}" if i % 10 == 0 else f"{text} in {1900 + i}"
        for i, text in enumerate(texts)
    ]
    systems = {"right": numbered, "wrong": wrong}
    finding = find_by_kind(systems, numbered, source=numbered)["flags"][0]
    flagged = "40 segments have numbers that differ from the source and the references"
    assert finding["text"] == f"wrong: {flagged} (0 in right)"
    assert finding["state"] == {"flag": "numbers-differ@system1", "b": "wrong"}


def test_identical_outputs_are_found(texts):
    partly_changed = [f"{text} too" if i % 2 else text for i, text in enumerate(texts)]
    identical = find_by_kind({"x": partly_changed, "y": texts}, texts)["same"]
    assert "have the same output in 200 segments (50%)" in identical[0]["text"]


def test_uniform_difference_gives_no_findings(texts):
    dice = random.Random(9)
    assert not any(find_by_kind({"x": [degrade(dice, text) for text in texts]}, texts).values())
    assert not any(find_by_kind({"x": texts, "y": texts}, texts).values())


def test_static_summary_contains_findings(texts):
    example_report = tb.report(
        {"m<b>": [f'"{text}"' for text in texts], "other": texts}, texts, confidence=20, samples=20
    )
    page = example_report.html()
    assert "<h2>Findings</h2>" in page
    assert "m&lt;b&gt; overuses straight quotes: 800, compared with 0 in the reference." in page
    assert "m<b>" not in page.split("</article>")[0]
