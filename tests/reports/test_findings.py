"""What the data say by themselves: each finding where it should be, with its number."""

import random

import pytest

import truebleu as tb
from truebleu.comparison.comparison_request import Request
from truebleu.reports import findings, report_builder

# Enough of them that nothing is repeated by chance.
PARTS = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se")
WORDS = [first + second + last for first in PARTS for second in PARTS for last in "nrst"]


def sentence(dice: random.Random, length: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(length))


def worse(dice: random.Random, text: str) -> str:
    return " ".join(word if dice.random() < 0.6 else dice.choice(WORDS) for word in text.split())


@pytest.fixture(scope="module")
def texts() -> list[str]:
    dice = random.Random(4)
    return [sentence(dice, dice.choice((6, 14, 25))) for _ in range(400)]


def found(systems, references, **given) -> dict[str, list[findings.Finding]]:
    """The findings by kind."""
    names = ("documents", "source")
    request = Request(
        systems, references, ["bleu"], **{name: given[name] for name in names if name in given}
    )
    request.labels = given.get("labels")
    made = report_builder.ReportData(request, languages=given.get("languages")).findings
    order = [one["kind"] for one in made]
    assert order == sorted(order, key=list(findings.MAX_FINDINGS).index)
    kinds = {kind: [one for one in made if one["kind"] == kind] for kind in findings.MAX_FINDINGS}
    assert all(len(own) <= findings.MAX_FINDINGS[kind] for kind, own in kinds.items())
    return kinds


def test_where_a_difference_lies(texts):
    """The worse system is worse in one document alone, and in long segments alone."""
    dice = random.Random(5)
    documents = [f"d{i // 100}" for i in range(400)]
    one = [worse(dice, text) if i // 100 == 2 else text for i, text in enumerate(texts)]
    made = found({"plain": one, "good": texts}, texts, documents=documents)["concentrated"]
    assert made[0]["text"].startswith(
        "Most of the difference between good and plain comes from document d2"
    )
    assert made[0]["state"] == {"systems": ["plain", "good"], "setting": "0", "doc": 2}
    lengths = [worse(dice, text) if len(text.split()) == 25 else text for text in texts]
    (made,) = found({"plain": lengths, "good": texts}, texts)["concentrated"]
    assert "segments of 20 to 29 tokens" in made["text"]
    assert made["state"]["range"] == "length:20:29"


def test_numbers_are_those_of_the_metric(texts):
    dice = random.Random(6)
    documents = ["a" if i % 3 else "b" for i in range(400)]
    one = [
        text if name == "a" else worse(dice, text)
        for text, name in zip(texts, documents, strict=True)
    ]
    (made,) = (
        one
        for one in found({"x": one, "y": texts}, texts, documents=documents)["concentrated"]
        if "doc" in one["state"]
    )
    rest = [i for i, name in enumerate(documents) if name == "a"]

    def score(lines):
        return tb.bleu([lines[i] for i in rest], [texts[i] for i in rest]).value

    assert (
        f", {score(texts) - score(one):+.2f} without them".replace("+0.00", "0.00") in made["text"]
    )


def test_an_order_that_is_turned(texts):
    dice = random.Random(7)
    kinds = ["news" if i < 250 else "chat" for i in range(400)]
    x = [
        text if name == "chat" else worse(dice, text)
        for text, name in zip(texts, kinds, strict=True)
    ]
    y = [
        text if name == "news" else worse(dice, text)
        for text, name in zip(texts, kinds, strict=True)
    ]
    (made,) = found({"x": x, "y": y}, texts, labels={"domain": kinds})["reversed"]
    assert made["text"].startswith("In domain chat, x is better than y: BLEU −")
    assert made["state"]["label"] == "0:1"


def test_a_difference_that_hangs_on_few_segments(texts):
    dice = random.Random(8)
    x = [worse(dice, text) for text in texts]
    y = list(x)
    # Three segments are right in y alone; in others x is better by a word.
    y[3:6] = texts[3:6]
    for i in range(10, 20):
        x[i] = " ".join([*x[i].split()[:-1], texts[i].split()[-1]])
    made = found({"x": x, "y": y}, texts)["decisive"]
    assert len(made) == 1
    rest = [int(i) - 1 for i in made[0]["state"]["only"].split(",")]
    kept = [i for i in range(400) if i not in rest]
    both = [tb.bleu([lines[i] for i in kept], [texts[i] for i in kept]).value for lines in (x, y)]
    assert both[1] < both[0]
    assert tb.bleu(y, texts).value > tb.bleu(x, texts).value


def test_marks_that_references_do_not_write(texts):
    quoted = [f'"{text}"' for text in texts]
    curly = [f"“{text}”" for text in texts]
    made = found({"machine": quoted, "other": curly}, curly)["style"]
    told = [one["text"] for one in made]
    assert "machine writes straight quotes: 800, compared with 0 in the reference" in told
    assert "machine does not write curly quotes: none, compared with 800 in the reference" in told
    assert {"find": '"', "in": "system0"} in [one["state"] for one in made]
    assert not found({"other": curly}, curly)["style"]


def test_what_was_not_kept(texts):
    numbered = [f"{text} in {1900 + i}" for i, text in enumerate(texts)]
    wrong = [
        f"{text} in {2100 + i}" if i % 10 == 0 else f"{text} in {1900 + i}"
        for i, text in enumerate(texts)
    ]
    made = found({"right": numbered, "wrong": wrong}, numbered, source=numbered)["flags"]
    assert (
        made[0]["text"]
        == "wrong: 40 segments have numbers that differ from source and references (0 in right)"
    )
    assert made[0]["state"] == {"flag": "numbers-differ@system1"}


def test_the_same_text(texts):
    other = [f"{text} too" if i % 2 else text for i, text in enumerate(texts)]
    made = found({"x": other, "y": texts}, texts)["same"]
    assert "have the same output in 200 segments (50%)" in made[0]["text"]


def test_nothing_is_said_of_nothing(texts):
    dice = random.Random(9)
    assert not any(found({"x": [worse(dice, text) for text in texts]}, texts).values())
    assert not any(found({"x": texts, "y": texts}, texts).values())


def test_they_stand_in_the_page_and_its_static_summary(texts):
    made = tb.report(
        {"m<b>": [f'"{text}"' for text in texts], "other": texts}, texts, confidence=20, samples=20
    )
    page = made.html()
    assert "<h2>Findings</h2>" in page
    assert "m&lt;b&gt; writes straight quotes: 800, compared with 0 in the reference." in page
    assert "m<b>" not in page.split("</article>")[0]
