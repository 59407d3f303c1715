"""Tests of `Accumulator`: the score does not depend on batches and merging."""

import copy
import json
import pickle

import hypothesis.strategies as st
import pytest
from hypothesis import given
from strategies import corpora

import truebleu
from truebleu import BLEU, CHRF, TER, Accumulator, InputError
from truebleu.metrics.nist import NIST

HYPOTHESES = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bitten him."],
    "No one was surprised.",
    [None, "x"],
]
METRICS = [
    BLEU(),
    BLEU("intl", smoothing="add-k", max_order=2, lowercase=True),
    BLEU(tokenize=str.split),
    BLEU(reference_length="shortest"),
    CHRF(word_order=2),
    CHRF(whitespace=True, eps_smoothing=True),
    TER(),
    truebleu.family["mteval-v13a"].metric,
]
NAMES = ["bleu", "parameters", "callable", "shortest", "chrf++", "chrf", "ter", "mteval-v13a"]


@pytest.mark.thorough
@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(corpora(max_segments=6), st.data())
def test_score_is_independent_of_batches_and_merge_order(metric, corpus, data):
    hypotheses, references = corpus
    references = list(map(tuple, references))
    if getattr(metric, "length_rule", "") == "single":
        references = [refs[:1] for refs in references]
    parts = data.draw(
        st.lists(st.integers(0, 2), min_size=len(hypotheses), max_size=len(hypotheses))
    )
    totals = [Accumulator(metric) for _ in range(3)]
    for part, hypothesis, reference in zip(parts, hypotheses, references, strict=True):
        totals[part].update([hypothesis], [reference])
    full_accumulator = Accumulator(metric)
    for total in data.draw(st.permutations(totals)):
        full_accumulator += total
    expected = metric.score(hypotheses, references)
    assert full_accumulator.compute() == expected
    assert str(full_accumulator.compute().signature) == str(expected.signature)
    assert full_accumulator.segments == len(hypotheses)
    assert full_accumulator.totals == metric.statistics(hypotheses, references).sum().tolist()[0]


def test_update_accepts_every_input_of_score(write):
    metric = CHRF()
    total = Accumulator(metric)
    total.update(HYPOTHESES, REFERENCES, workers=2)
    total.update([], [])
    total.update((), ())
    total.update(write("hyp", ["a b", "c"]), write("ref", ["a c", "c"]))
    expected_score = metric.score([*HYPOTHESES, "a b", "c"], [*REFERENCES, "a c", "c"])
    assert total.compute() == expected_score
    assert total.references == "var"
    assert repr(total) == "<Accumulator of CHRF(): 5 segments>"


def test_failed_update_leaves_state_unchanged():
    total = Accumulator()
    total.update(HYPOTHESES, REFERENCES)
    before = total.state_dict()
    for hypotheses, references in (
        (["a", None], ["b", "c"]),
        (["a"], ["a", "b"]),
        ([], ["a"]),
        (["a"], [None]),
    ):
        with pytest.raises(InputError):
            total.update(hypotheses, references)
    with pytest.raises(TypeError, match="one str per segment"):
        total.update("a", "b")
    assert total.state_dict() == before


def test_compute_without_text_raises_error():
    total = Accumulator()
    assert (total.segments, total.totals, total.references) == (0, [0] * 10, None)
    with pytest.raises(InputError, match="no segments"):
        total.compute()
    total.update(HYPOTHESES, REFERENCES)
    total.reset()
    assert total == Accumulator()


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
def test_state_is_json_and_pickle_restores_accumulator(metric):
    total = Accumulator(metric)
    references = [refs if isinstance(refs, str) else refs[-1] for refs in REFERENCES]
    total.update(HYPOTHESES, references)
    state = json.loads(json.dumps(total.state_dict()))
    assert state == total.state_dict()
    fresh = Accumulator(metric)
    fresh.load_state_dict(state)
    assert fresh == total
    assert Accumulator.from_state_dict(state, metric).compute() == total.compute()
    if metric != BLEU(tokenize=str.split):
        restored = Accumulator.from_state_dict(state)
        assert restored == total
        assert restored.metric == metric
        assert restored.compute() == total.compute()
        assert pickle.loads(pickle.dumps(total)) == total
    copied = copy.deepcopy(total)
    copied.update(["a"], ["b"])
    assert copied.segments == total.segments + 1 == 4


def test_state_of_another_metric_raises_error():
    state = Accumulator(BLEU("intl")).state_dict()
    with pytest.raises(InputError, match=r"computed with BLEU\|tok:intl.*metric is BLEU\|tok:13a"):
        Accumulator().load_state_dict(state)
    with pytest.raises(InputError, match="computed with"):
        Accumulator().merge(Accumulator(CHRF()))
    with pytest.raises(InputError, match="computed with"):
        Accumulator(CHRF()).load_state_dict(Accumulator().state_dict())
    with pytest.raises(TypeError, match="expected an Accumulator, not dict"):
        Accumulator().merge(state)
    with pytest.raises(InputError, match="Pass the metric"):
        Accumulator.from_state_dict(Accumulator(BLEU(tokenize=lambda text: [text])).state_dict())
    # Metrics that differ only in the formula accept each other's state.
    Accumulator(BLEU("intl", smoothing="none")).load_state_dict(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "torchmetrics"}, "expected a result of Accumulator.state_dict"),
        ({"segments": -1}, "segments: expected a count, not -1"),
        ({"segments": 1.0}, "segments: expected a count, not 1.0"),
        ({"totals": [1] * 9}, "expected 10 totals, not 9"),
        ({"totals": [1.0] * 10}, "expected a list of 64-bit integers"),
        ({"totals": [2**63] * 10}, "expected a list of 64-bit integers"),
        ({"totals": None}, "expected a list of 64-bit integers"),
        ({"references": [2, 1]}, "expected the range"),
        ({"references": "var"}, "expected the range"),
        ({"references": None}, r"expected \[min, max\], because segments is not 0"),
        ({"fingerprint": 5}, "fingerprint: expected a str, not 5"),
        ({"fingerprint": "x"}, "computed with x"),
    ],
)
def test_invalid_state_raises_error_and_changes_nothing(change, message):
    total = Accumulator()
    total.update(HYPOTHESES, REFERENCES)
    before = total.state_dict()
    with pytest.raises(InputError, match=message):
        total.load_state_dict({**before, **change})
    assert total.state_dict() == before
    with pytest.raises(InputError, match="expected a result of Accumulator"):
        total.load_state_dict([])


def test_metric_without_sums_raises_error():
    with pytest.raises(ValueError, match="NIST weights n-grams by all references of the corpus"):
        Accumulator(NIST())
    with pytest.raises(ValueError, match="averages segment scores"):
        Accumulator(BLEU(aggregate="segments"))
    with pytest.raises(ValueError, match="unknown metric 'blue'; did you mean 'bleu'"):
        Accumulator("blue")
    with pytest.raises(TypeError, match=r"BLEU is a class\. Use BLEU\(\)"):
        Accumulator(BLEU)


def test_totals_beyond_64_bits_raise_error():
    total = Accumulator(BLEU(max_order=1))
    total.update(["a"], ["a"])
    state = {**total.state_dict(), "totals": [2**63 - 1] * 4}
    large = Accumulator.from_state_dict(state)
    with pytest.raises(InputError, match="exceed the 64-bit range"):
        total += large
    assert total.totals == [1, 1, 1, 1]
