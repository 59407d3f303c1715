"""Tests that values can be copied and pickled, and that sums are independent of grouping."""

import copy
import pickle

import pytest

import truebleu as tb
from truebleu.engines.aggregates import Sums
from truebleu.metrics import registry

HYPOTHESES = ["def f ( x ) : return x", "a b", "return a + b if c else d", "for x in y : pass"]
REFERENCES = ["def g ( x ) : return x", "a c", "return a + x if c else d", "for z in y : z"]
BLEU = tb.BLEU()
SCORE = BLEU.score(HYPOTHESES, REFERENCES)
ACCUMULATOR = tb.Accumulator("chrf")
ACCUMULATOR.update(HYPOTHESES, REFERENCES)

VALUES = {
    **{name: registry.metric(name) for name in registry.METRICS},
    "command": registry.metric("command:words=wc {hyp}"),
    "score": SCORE,
    "sentence score": tb.CHRF().sentence("a b", "a c"),
    "error rates": tb.WER().score(HYPOTHESES, REFERENCES),
    "Python's score": tb.NLTKBLEU().score(HYPOTHESES, REFERENCES),
    "composed score": tb.mean_document_bleu(HYPOTHESES, REFERENCES, [*"aabb"]),
    "diversity": tb.self_bleu(HYPOTHESES),
    "signature": SCORE.signature,
    "scores": BLEU.segments(HYPOTHESES, REFERENCES),
    "statistics": BLEU.statistics(HYPOTHESES, REFERENCES),
    "accumulator": ACCUMULATOR,
    "matrix": BLEU.matrix(HYPOTHESES),
    "triangle": BLEU.triangle(HYPOTHESES),
    "edits": tb.TER().alignment("a b", "b a"),
    "sums": Sums("bleu"),
    "file": tb.File("x", 2, "latin-1"),
    "member": tb.family["mteval-v13a"],
    "comparison": tb.compare({"a": HYPOTHESES, "b": REFERENCES}, REFERENCES),
    "explanation": tb.explain("a b", "a c"),
}
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"protocol {number}": lambda value, number=number: pickle.loads(pickle.dumps(value, number))
        for number in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", VALUES)
def test_copied_value_is_equal(name, make_copy):
    value = VALUES[name]
    copied = make_copy(value)
    assert type(copied) is type(value)
    assert copied == value
    assert repr(copied) == repr(value)


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES)
def test_copied_family_table_has_equal_rows(make_copy):
    table = tb.family.score(HYPOTHESES, REFERENCES, members=["nmt", "sacrebleu"])
    assert list(make_copy(table)) == list(table)
    assert str(make_copy(table)) == str(table)


ADDED = [
    tb.CodeBLEU(language="python"),
    tb.CodeBLEU(part="ngram"),
    tb.NIST("none", variant="nltk"),
    tb.NIST(),
    tb.GLEU(),
    tb.NLTKBLEU(method=1),
]


@pytest.mark.parametrize("metric", ADDED, ids=repr)
def test_sums_in_any_grouping_give_identical_score(metric):
    hypotheses, references = HYPOTHESES * 25, REFERENCES[::-1] * 24 + REFERENCES
    value = metric.score(hypotheses, references).value
    assert metric.score(hypotheses[::-1], references[::-1]).value == value
    table = metric.statistics(hypotheses, references)
    assert metric.from_statistics(table).value == value
    halves = [table[start::2].sum() for start in (0, 1)]
    assert metric.from_statistics(halves[1] + halves[0]).value == value
    if metric.non_additive_reason:
        return
    total = tb.Accumulator(metric)
    for start in (66, 33, 0):
        total.update(hypotheses[start : start + 33], references[start : start + 33])
    total.update(hypotheses[99:], references[99:])
    assert total.compute().value == value
    polars = pytest.importorskip("polars")
    sums = Sums(metric)
    frames = polars.DataFrame({"hyp": hypotheses, "ref": references}).iter_slices(7)
    for frame in frames:
        sums.update(frame)
    assert sums.score().value == value
