"""Tests of comparisons that resample documents, and of notes that recommend it."""

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
FEW_SAMPLES = {"samples": 99, "confidence": 99}
BY_DOCUMENTS = {"documents": DOCUMENTS, "resample": "documents"}


def compare_columns(columns, documents, **options) -> Comparison:
    """Return a comparison of external scores."""
    settings = {**FEW_SAMPLES, "metrics": (), "scores": {"X": columns}, "documents": documents}
    return compare(None, None, **{**settings, **options})


def kinds(comparison) -> set[str]:
    return {note["kind"] for note in comparison.to_dict()["notes"]}


@pytest.fixture(scope="module")
def by_documents() -> Comparison:
    """Return the example systems, with documents as resampling unit."""
    return compare(SYSTEMS, REFERENCE, **BY_DOCUMENTS, **FEW_SAMPLES)


def test_document_resampling_equals_paired_tests(by_documents):
    metric = BLEU()
    tables = {name: metric.statistics(path, REFERENCE) for name, path in SYSTEMS.items()}
    documents = DOCUMENTS.read_text("utf-8").splitlines()
    [result] = run_paired_tests(
        [Measure(metric, tables)], documents=documents, randomizations=99, resamples=99
    )
    score = by_documents["cedar"]["scores"]["BLEU"]
    assert score["difference"]["p"] == result.differences["cedar"].p
    assert score["interval"]["low"] == result.intervals["cedar"].low


def test_resampling_unit_is_reported(by_documents):
    content = by_documents.to_dict()
    assert content["test"]["resampled"] == content["intervals"]["resampled"] == "documents"
    assert content["test"]["title"] == "paired approximate randomization of documents"
    assert "wrote each document" in content["reading"]
    assert "|resample:documents|" in content["metrics"][0]["signature"]
    metric = truebleu.metric(content["metrics"][0]["signature"])
    assert metric == BLEU(effective_order=False)
    assert "10 documents are too few" in str(by_documents)
    assert kinds(by_documents) == {"few documents"}
    single_system = compare({"cedar": SYSTEMS["cedar"]}, REFERENCE, **BY_DOCUMENTS)
    assert "resamples of the documents" in single_system.to_dict()["reading"]


def test_number_of_resampled_documents_is_reported(by_documents):
    content = by_documents.to_dict()
    size = f"{content['segments']} segments in 10 documents"
    assert content["resampled_documents"] == 10
    for text in (by_documents.text(), by_documents.latex(), by_documents.markdown()):
        assert size in " ".join(text.split())
    by_segments = compare(SYSTEMS, REFERENCE, documents=DOCUMENTS, **FEW_SAMPLES)
    assert by_segments.to_dict()["resampled_documents"] is None
    assert "in 10 documents" not in " ".join(by_segments.latex().split())
    # Saved comparisons of earlier versions have no such field.
    del content["resampled_documents"]
    older = Comparison(content).latex()
    assert f"{content['segments']} segments with 1 reference" in older


def test_document_per_segment_has_a_note():
    names = [f"line {i}" for i in range(len(REFERENCE.read_text("utf-8").splitlines()))]
    comparison = compare(SYSTEMS, REFERENCE, documents=names, resample="documents", **FEW_SAMPLES)
    assert kinds(comparison) == {"single segments"}
    sentence = "has another document name, so resampling documents is the same"
    assert sentence in " ".join(comparison.text().split())


def test_segments_are_resampled_by_default():
    plain = compare(SYSTEMS, REFERENCE, **FEW_SAMPLES).to_dict()
    with_documents = compare(SYSTEMS, REFERENCE, documents=DOCUMENTS, **FEW_SAMPLES).to_dict()
    assert with_documents["test"]["resampled"] == "segments"
    assert "resample" not in with_documents["metrics"][0]["signature"]
    assert plain["systems"] == with_documents["systems"]


def test_similar_segments_of_documents_give_note():
    documents = [i // 5 for i in range(200)]
    constant_scores = [0.5] * 200
    similar = {"one": constant_scores, "other": [0.5 + (d * 7 % 11 - 5) / 100 for d in documents]}
    unrelated = {**similar, "other": [0.5 + (i * 7 % 11 - 5) / 100 for i in range(200)]}
    notes = compare_columns(similar, documents).to_dict()["notes"]
    [note] = [note for note in notes if note["kind"] == "similar segments"]
    assert note["text"].startswith("segments of one document are similar: across documents, the ")
    # With five equal segments per document, errors are √5 times as large.
    assert "varies 2." in note["text"]
    assert "--resample documents" in note["text"]
    assert not kinds(compare_columns(unrelated, documents))
    assert not kinds(compare_columns(similar, documents, resample="documents"))
    assert not kinds(compare_columns(similar, None))


def test_jackknife_error_equals_document_bootstrap():
    metric = BLEU()
    tables = {name: metric.statistics(path, REFERENCE) for name, path in SYSTEMS.items()}
    documents = [i // 3 for i in range(128)]
    measure = Measure(metric, tables)
    error = estimate_document_errors(measure, documents)["birch", "cedar"]
    [result] = run_paired_tests([measure], documents=documents, test="bs")
    assert error == pytest.approx(result.differences["cedar"].deviation, rel=0.1)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (1, "one document cannot be resampled"),
        (5, "p cannot be below 0.062, so no difference is significant"),
        (8, "8 documents are too few for precise intervals and p-values."),
    ],
)
def test_few_documents_give_note(count, message):
    columns = {"one": list(range(40)), "other": [i + 1 for i in range(40)]}
    comparison = compare_columns(columns, [i % count for i in range(40)], resample="documents")
    [note] = comparison.to_dict()["notes"]
    assert message in note["text"]
    difference = comparison["other"]["scores"]["X"]["difference"]
    assert difference["significant"] == (count == 8)
    assert (difference["interval"] is None) == (count == 1)


def test_report_contains_same_comparison(by_documents):
    page = truebleu.report(SYSTEMS, REFERENCE, **BY_DOCUMENTS, **FEW_SAMPLES)
    for view in (page, truebleu.report(by_documents)):
        assert view.to_dict()["comparison"] == by_documents.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resample": "documents"}, "resample: 'documents' needs the document of each segment"),
        ({"resample": "words"}, "unknown resample 'words'"),
        (BY_DOCUMENTS | {"test": "bs-sacrebleu"}, "test 'bs-sacrebleu' supports only 'segments'"),
    ],
)
def test_invalid_resampling_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compare(SYSTEMS, REFERENCE, **options)
