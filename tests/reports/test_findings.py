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


def find_by_kind(systems, references, **options) -> dict[str, list[findings.Finding]]:
    """Return the findings by kind."""
    names = ("documents", "source")
    request = Request(
        systems, references, ["bleu"], **{name: options[name] for name in names if name in options}
    )
    request.labels = options.get("labels")
    all_findings = report_builder.ReportData(request, languages=options.get("languages")).findings
    order = [finding["kind"] for finding in all_findings]
    assert order == sorted(order, key=list(findings.MAX_FINDINGS).index)
    kinds = {
        kind: [finding for finding in all_findings if finding["kind"] == kind]
        for kind in findings.MAX_FINDINGS
    }
    assert all(
        len(findings_of_kind) <= findings.MAX_FINDINGS[kind]
        for kind, findings_of_kind in kinds.items()
    )
    return kinds


def test_concentrated_difference_names_document_and_length(texts):
    """Degrade a system in a single document, then only in long segments."""
    dice = random.Random(5)
    documents = [f"d{i // 100}" for i in range(400)]
    degraded = [degrade(dice, text) if i // 100 == 2 else text for i, text in enumerate(texts)]
    concentrated = find_by_kind({"plain": degraded, "good": texts}, texts, documents=documents)[
        "concentrated"
    ]
    assert concentrated[0]["text"].startswith(
        "Most of the difference between good and plain comes from document d2"
    )
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
    (concentrated,) = (
        finding
        for finding in find_by_kind({"x": degraded, "y": texts}, texts, documents=documents)[
            "concentrated"
        ]
        if "doc" in finding["state"]
    )
    rest = [i for i, name in enumerate(documents) if name == "a"]

    def score_remaining(lines):
        return tb.bleu([lines[i] for i in rest], [texts[i] for i in rest]).value

    assert (
        f", {score_remaining(texts) - score_remaining(degraded):+.2f} without them".replace(
            "+0.00", "0.00"
        )
        in concentrated["text"]
    )


def test_reversed_order_names_label(texts):
    dice = random.Random(7)
    kinds = ["news" if i < 250 else "chat" for i in range(400)]
    x = [
        text if name == "chat" else degrade(dice, text)
        for text, name in zip(texts, kinds, strict=True)
    ]
    y = [
        text if name == "news" else degrade(dice, text)
        for text, name in zip(texts, kinds, strict=True)
    ]
    (reversed_order,) = find_by_kind({"x": x, "y": y}, texts, labels={"domain": kinds})["reversed"]
    assert reversed_order["text"].startswith("In domain chat, x is better than y: BLEU −")
    assert reversed_order["state"]["label"] == "0:1"


def test_decisive_segments_reverse_difference(texts):
    dice = random.Random(8)
    x = [degrade(dice, text) for text in texts]
    y = list(x)
    # Three segments are correct only in y; in ten others, x is better by a word.
    y[3:6] = texts[3:6]
    for i in range(10, 20):
        x[i] = " ".join([*x[i].split()[:-1], texts[i].split()[-1]])
    decisive = find_by_kind({"x": x, "y": y}, texts)["decisive"]
    assert len(decisive) == 1
    rest = [int(i) - 1 for i in decisive[0]["state"]["only"].split(",")]
    remaining = [i for i in range(400) if i not in rest]
    remaining_scores = [
        tb.bleu([lines[i] for i in remaining], [texts[i] for i in remaining]).value
        for lines in (x, y)
    ]
    assert remaining_scores[1] < remaining_scores[0]
    assert tb.bleu(y, texts).value > tb.bleu(x, texts).value


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
    assert "All systems overuse straight quotes: 792 to 800, compared with 0 in the reference" in (
        sentences
    )
    assert "All systems underuse curly quotes: none, compared with 800 in the reference" in (
        sentences
    )
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
    flag_findings = find_by_kind({"right": numbered, "wrong": wrong}, numbered, source=numbered)[
        "flags"
    ]
    assert (
        flag_findings[0]["text"]
        == "wrong: 40 segments have numbers that differ from the source and the references "
        "(0 in right)"
    )
    assert flag_findings[0]["state"] == {"flag": "numbers-differ@system1"}


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
