"""Trainer's compute_metrics: ids become text, batches add up, and the totals start again."""

from types import SimpleNamespace

import pytest

import truebleu as tb
from truebleu.integrations.transformers import compute_metrics


class Words:
    """A tokenizer whose ids are places in a list; 0 is special."""

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


def test_a_whole_evaluation_in_one_call():
    whole = prediction(
        [*BATCHES[0].predictions, *BATCHES[1].predictions],
        [*BATCHES[0].label_ids, *BATCHES[1].label_ids],
    )
    compute = compute_metrics(Words(), ["bleu", tb.CHRF(word_order=2), "ter"])
    assert compute(whole) == {
        "bleu": tb.bleu(HYPOTHESES, REFERENCES).value,
        "chrf++": tb.CHRF(word_order=2).score(HYPOTHESES, REFERENCES).value,
        "ter": tb.ter(HYPOTHESES, REFERENCES).value,
    }


def test_batch_by_batch_and_then_from_the_start():
    compute = compute_metrics(Words(), tokenize="none")
    expected = {"bleu": tb.BLEU("none").score(HYPOTHESES, REFERENCES).value}
    for _ in range(2):
        assert compute(BATCHES[0], compute_result=False) == {}
        assert compute(BATCHES[1], compute_result=True) == expected
    compute(BATCHES[0], compute_result=False)
    compute.reset()
    compute(BATCHES[0], compute_result=False)
    assert compute(BATCHES[1]) == expected


def test_metrics_that_read_the_source_take_the_input():
    sources = [[5, 5, 3, 4, 0], [1, 2, -100, -100, -100]]
    first = SimpleNamespace(**vars(BATCHES[0]), inputs=sources)
    of_batch = SimpleNamespace(**vars(BATCHES[0]), inputs={"input_ids": sources})
    ibleu = tb.metric("ibleu")
    expected = ibleu.score(HYPOTHESES[:2], REFERENCES[:2], ["e e c d", "a b"]).value
    assert compute_metrics(Words(), "ibleu")(first) == {"ibleu": expected}
    assert compute_metrics(Words(), "ibleu")(of_batch, compute_result=True) == {"ibleu": expected}
    with pytest.raises(tb.InputError, match="iBLEU needs the source of each segment"):
        compute_metrics(Words(), "ibleu")(BATCHES[0])


def test_logits_are_refused_with_what_to_do():
    numpy = pytest.importorskip("numpy")
    logits = prediction(numpy.zeros((2, 5, 6)), numpy.zeros((2, 5), int))
    with pytest.raises(tb.InputError, match=r"shape \(2, 5, 6\).*predict_with_generate=True"):
        compute_metrics(Words())(logits)


def test_ids_of_the_wrong_shape_are_named():
    numpy = pytest.importorskip("numpy")
    ids = numpy.ones((2, 5), int)
    told = r"^label_ids: expected an array of token ids.*found an array of shape \(5,\)$"
    with pytest.raises(tb.InputError, match=told):
        compute_metrics(Words())(prediction(ids, ids[0]))
    with pytest.raises(
        tb.InputError, match=r"^label_ids: expected an array of token ids.*found None$"
    ):
        compute_metrics(Words())(prediction(ids, None))


def test_what_is_no_tokenizer_and_no_metric_is_said_before_the_evaluation():
    with pytest.raises(TypeError, match="tokenizer: 'bleu' has no batch_decode"):
        compute_metrics("bleu")
    with pytest.raises(ValueError, match="metric: expected at least one metric"):
        compute_metrics(Words(), [])


def test_two_metrics_of_one_name():
    with pytest.raises(ValueError, match="duplicate metric names"):
        compute_metrics(Words(), ["bleu", "bleu"])
