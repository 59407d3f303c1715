"""compute_metrics for Trainer: ids are decoded, batches accumulate, and results reset the state."""

from types import SimpleNamespace

import pytest

import truebleu as tb
from truebleu.integrations.transformers import compute_metrics


class Words:
    """A tokenizer whose ids are list indices; 0 is special."""

    words = ("<pad>", "a", "b", "c", "d", "e")

    def batch_decode(self, rows, skip_special_tokens):
        assert skip_special_tokens
        return [" ".join(self.words[number] for number in row if number) for row in rows]


def prediction(predictions, label_ids):
    return SimpleNamespace(predictions=predictions, label_ids=label_ids)


BATCHES = [
    prediction(
        [[1, 2, 3, 4, 0], [1, 2, -100, -100, -100]], [[1, 2, 3, 5, -100], [1, 2, -100, -100, -100]]
    ),
    prediction([[5, 4, 3, 2, 1]], [[5, 4, 3, 2, -100]]),
]
HYPOTHESES = ["a b c d", "a b", "e d c b a"]
REFERENCES = ["a b c e", "a b", "e d c b"]


def test_complete_evaluation_in_one_call():
    first, second = BATCHES
    all_batches = prediction(
        first.predictions + second.predictions, first.label_ids + second.label_ids
    )
    compute = compute_metrics(Words(), ["bleu", tb.CHRF(word_order=2), "ter"])
    assert compute(all_batches) == {
        "bleu": tb.bleu(HYPOTHESES, REFERENCES).value,
        "chrf++": tb.CHRF(word_order=2).score(HYPOTHESES, REFERENCES).value,
        "ter": tb.ter(HYPOTHESES, REFERENCES).value,
    }


def test_batches_then_reset():
    compute = compute_metrics(Words(), tokenize="none")
    expected = {"bleu": tb.BLEU("none").score(HYPOTHESES, REFERENCES).value}
    for _ in range(2):
        assert compute(BATCHES[0], compute_result=False) == {}
        assert compute(BATCHES[1], compute_result=True) == expected
    compute(BATCHES[0], compute_result=False)
    compute.reset()
    compute(BATCHES[0], compute_result=False)
    assert compute(BATCHES[1]) == expected


def test_metric_that_reads_sources_uses_inputs():
    sources = [[5, 5, 3, 4, 0], [1, 2, -100, -100, -100]]
    ibleu = tb.metric("ibleu")
    expected = ibleu.score(HYPOTHESES[:2], REFERENCES[:2], ["e e c d", "a b"]).value
    for inputs in (sources, {"input_ids": sources}):
        batch = SimpleNamespace(**vars(BATCHES[0]), inputs=inputs)
        assert compute_metrics(Words(), "ibleu")(batch) == {"ibleu": expected}
    with pytest.raises(tb.InputError, match="iBLEU needs the source of each segment"):
        compute_metrics(Words(), "ibleu")(BATCHES[0])


def test_logits_raise_error_with_advice():
    numpy = pytest.importorskip("numpy")
    logits = prediction(numpy.zeros((2, 5, 6)), numpy.zeros((2, 5), int))
    with pytest.raises(tb.InputError, match=r"shape \(2, 5, 6\).*predict_with_generate=True"):
        compute_metrics(Words())(logits)


def test_wrong_shape_raises_error():
    numpy = pytest.importorskip("numpy")
    ids = numpy.ones((2, 5), int)
    for labels, problem in ((ids[0], r"an array of shape \(5,\)"), (None, "None")):
        message = f"^label_ids: expected an array of token ids.*found {problem}$"
        with pytest.raises(tb.InputError, match=message):
            compute_metrics(Words())(prediction(ids, labels))


@pytest.mark.parametrize(
    ("tokenizer", "metric", "message"),
    [
        ("bleu", "bleu", "tokenizer: 'bleu' has no batch_decode"),
        (Words(), [], "metric: expected at least one metric"),
        (Words(), ["bleu", "bleu"], "duplicate metric names"),
    ],
    ids=["tokenizer", "no metric", "duplicate metric"],
)
def test_invalid_arguments_raise_error(tokenizer, metric, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compute_metrics(tokenizer, metric)
