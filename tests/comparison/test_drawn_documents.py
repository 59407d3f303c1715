"""Comparisons that draw whole documents say so, and those that do not say when they should."""

from __future__ import annotations

import pytest
from paths import ROOT

import truebleu
from truebleu import BLEU, Comparison, compare
from truebleu.significance import Measure, estimate_document_errors, run_paired_tests

EXAMPLES = ROOT / "examples" / "de-en"
SYSTEMS = {name: EXAMPLES / f"{name}.en" for name in ("birch", "cedar")}
REFERENCE = EXAMPLES / "reference.a.en"
DOCUMENTS = EXAMPLES / "documents.txt"
FEW = {"samples": 99, "confidence": 99}


def given(columns, documents, **options) -> Comparison:
    """A comparison of scores from elsewhere."""
    settings = {**FEW, "metrics": (), "scores": {"X": columns}, "documents": documents}
    return compare(None, None, **{**settings, **options})


def kinds(comparison) -> set[str]:
    return {note["kind"] for note in comparison.to_dict()["notes"]}


@pytest.fixture(scope="module")
def by_documents() -> Comparison:
    """The example systems, with documents drawn."""
    return compare(SYSTEMS, REFERENCE, documents=DOCUMENTS, resample="documents", **FEW)


def test_the_numbers_are_those_of_drawn_documents(by_documents):
    metric = BLEU()
    tables = {name: metric.statistics(path, REFERENCE) for name, path in SYSTEMS.items()}
    documents = DOCUMENTS.read_text("utf-8").splitlines()
    [result] = run_paired_tests(
        [Measure(metric, tables)], documents=documents, randomizations=99, resamples=99
    )
    found = by_documents["cedar"]["scores"]["BLEU"]
    assert found["difference"]["p"] == result.differences["cedar"].p
    assert found["interval"]["low"] == result.intervals["cedar"].low


def test_what_was_drawn_is_said(by_documents):
    content = by_documents.to_dict()
    assert content["test"]["resampled"] == content["intervals"]["resampled"] == "documents"
    assert content["test"]["title"] == "paired approximate randomization of documents"
    assert "wrote each document" in content["reading"]
    assert "|resample:documents|" in content["metrics"][0]["signature"]
    metric = truebleu.metric(content["metrics"][0]["signature"])
    assert metric == BLEU(effective_order=False)
    assert "10 documents are few" in str(by_documents)
    assert kinds(by_documents) == {"few documents"}
    one = compare({"cedar": SYSTEMS["cedar"]}, REFERENCE, documents=DOCUMENTS, resample="documents")
    assert "resamples of the documents" in one.to_dict()["reading"]


def test_segments_are_drawn_unless_documents_are_asked_for():
    plain = compare(SYSTEMS, REFERENCE, **FEW).to_dict()
    beside = compare(SYSTEMS, REFERENCE, documents=DOCUMENTS, **FEW).to_dict()
    assert beside["test"]["resampled"] == "segments"
    assert "resample" not in beside["metrics"][0]["signature"]
    assert plain["systems"] == beside["systems"]


def test_segments_that_are_alike_are_noticed():
    documents = [i // 5 for i in range(200)]
    one = [0.5] * 200
    alike = {"one": one, "other": [0.5 + (d * 7 % 11 - 5) / 100 for d in documents]}
    apart = {"one": one, "other": [0.5 + (i * 7 % 11 - 5) / 100 for i in range(200)]}
    [note] = [n for n in given(alike, documents).to_dict()["notes"] if n["kind"] == "alike"]
    assert note["text"].startswith("segments of one document are similar: across documents, the ")
    # With equal segments in each document of five, errors are √5 times as large.
    assert "varies 2." in note["text"]
    assert "--resample documents" in note["text"]
    assert not kinds(given(apart, documents))
    assert not kinds(given(alike, documents, resample="documents"))
    assert not kinds(given(alike, None))


def test_the_jackknife_says_what_drawing_documents_says():
    metric = BLEU()
    tables = {name: metric.statistics(path, REFERENCE) for name, path in SYSTEMS.items()}
    documents = [i // 3 for i in range(128)]
    measure = Measure(metric, tables)
    error = estimate_document_errors(measure, documents)["birch", "cedar"]
    [result] = run_paired_tests([measure], documents=documents, test="bs")
    assert error == pytest.approx(result.differences["cedar"].deviation, rel=0.1)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "there is only one document"),
        (5, "no p can be below 0.062, so no difference is significant"),
        (8, "8 documents are few: intervals and p-values are rough."),
    ],
)
def test_few_documents_are_noted(count, told):
    columns = {"one": list(range(40)), "other": [i + 1 for i in range(40)]}
    found = given(columns, [i % count for i in range(40)], resample="documents")
    [note] = found.to_dict()["notes"]
    assert told in note["text"]
    difference = found["other"]["scores"]["X"]["difference"]
    assert difference["significant"] == (count == 8)
    assert (difference["interval"] is None) == (count == 1)


def test_the_report_has_the_same_numbers(by_documents):
    page = truebleu.report(SYSTEMS, REFERENCE, documents=DOCUMENTS, resample="documents", **FEW)
    for made in (page, truebleu.report(by_documents)):
        assert made.to_dict()["comparison"] == by_documents.to_dict()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"resample": "documents"}, "resample: 'documents' needs the document of each segment"),
        ({"resample": "words"}, "unknown resample 'words'"),
        (
            {"resample": "documents", "documents": DOCUMENTS, "test": "bs-sacrebleu"},
            "resample: test 'bs-sacrebleu' supports only 'segments'",
        ),
    ],
)
def test_what_is_refused(options, told):
    with pytest.raises(ValueError, match=told):
        compare(SYSTEMS, REFERENCE, **options)
