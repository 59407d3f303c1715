"""Tests of composite scores (iBLEU, documents) and of spBLEU, which is a tokenizer."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from strategies import texts

from truebleu import BLEU, InputError
from truebleu.metrics.composite_scores import document_bleu, mean_document_bleu
from truebleu.metrics.ibleu import IBLEU


def test_ibleu_scores():
    hypotheses, references, sources = ["the cat sat here"], [("a cat sat here",)], ["the cat sat"]
    good = BLEU().score(hypotheses, references).value
    copied = BLEU().score(hypotheses, sources).value
    score = IBLEU(alpha=0.7).score(hypotheses, references, sources)
    assert score.value == 0.7 * good - (1 - 0.7) * copied
    assert score.details() == {"references": good, "sources": copied}
    assert score.signature["alpha"] == "0.7"
    assert score.signature.metric() == IBLEU(alpha=0.7)
    segment_score = IBLEU(alpha=0.7).sentence(hypotheses[0], references[0], sources[0])
    assert IBLEU(alpha=0.7).segments(hypotheses, references, sources)[0] == segment_score.value
    with pytest.raises(ValueError, match="expected a number from 0 to 1"):
        IBLEU(alpha=80)


DOCUMENTS = ["one", "two", "one", "two"]
HYPOTHESES = ["The cat sat.", "It rained", "It sat on a mat.", "all day long."]
REFERENCES = [
    ("The cat sat.", "A cat sat."),
    ("It rained", "Rain"),
    ("It sat on the mat.", "There it sat."),
    ("all day.", "all day long."),
]


def test_document_bleu_joins_segments():
    joined = [" ".join(HYPOTHESES[::2]), " ".join(HYPOTHESES[1::2])]
    references = [
        ("The cat sat. It sat on the mat.", "A cat sat. There it sat."),
        ("It rained all day.", "Rain all day long."),
    ]
    expected = BLEU().score(joined, references)
    assert document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS) == expected
    assert expected.value != BLEU().score(HYPOTHESES, REFERENCES).value


def test_mean_document_bleu_averages_documents():
    scores = {
        "one": BLEU().score(HYPOTHESES[::2], REFERENCES[::2]).value,
        "two": BLEU().score(HYPOTHESES[1::2], REFERENCES[1::2]).value,
    }
    score = mean_document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS)
    assert score.details() == {"documents": scores}
    assert score.value == sum(scores.values()) / 2
    assert "|metric:BLEU|" in str(score.signature)


def test_document_bleu_reads_files(write):
    columns = list(zip(*REFERENCES, strict=True))
    paths = [write(f"r{i}", column) for i, column in enumerate(columns)]
    expected = document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS)
    assert document_bleu(write("h", HYPOTHESES), paths, DOCUMENTS) == expected


def test_invalid_documents_raise_error():
    with pytest.raises(InputError, match=r"one key per segment \(4\), found 3"):
        document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS[:3])
    with pytest.raises(InputError, match=r"one key per segment \(4\), found 3"):
        mean_document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS[:3])
    with pytest.raises(InputError, match="segment 3 has 1, but earlier segments of document 'one'"):
        document_bleu(HYPOTHESES, [*REFERENCES[:2], ("a",), REFERENCES[3]], DOCUMENTS)
    with pytest.raises(TypeError, match="expected a sequence of keys"):
        document_bleu(HYPOTHESES, REFERENCES, "1212")


@given(st.lists(st.tuples(texts(), texts(), st.integers(0, 2)), min_size=1, max_size=5))
def test_documents_of_one_segment_equal_bleu(rows):
    """Joining documents of one segment does not change scores."""
    hypotheses, references, _ = zip(*rows, strict=True)
    score = document_bleu(hypotheses, references, range(len(rows)))
    assert score == BLEU().score(hypotheses, references)
