"""Rewards for GRPOTrainer: arguments, values, and errors for invalid columns."""

import math

import pytest

import truebleu as tb
from truebleu.integrations.trl import bleu_reward, chrf_reward, metric_reward


def test_rewards_are_sentence_scores_times_the_scale(text):
    metric = tb.BLEU("intl", lowercase=True)
    rewards = bleu_reward("answer", scale=0.5, tokenize="intl", lowercase=True)(
        completions=text.hypotheses, answer=text.first_references
    )
    pairs = zip(text.hypotheses, text.first_references, strict=True)
    assert rewards == [metric.sentence(*pair).value * 0.5 for pair in pairs]


# sacreBLEU's score of a text that equals its reference is not always exactly 100.
def score_identical(text):
    return tb.BLEU().sentence(text, [text]).value * 0.01


def test_short_completion_has_nonzero_reward():
    assert bleu_reward()(completions=["the cat"], reference=["the cat"]) == [
        score_identical("the cat")
    ]
    assert score_identical("the cat") == pytest.approx(1)


def test_completions_may_be_conversations():
    conversations = [
        [{"role": "assistant", "content": "it rains"}],
        [
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "wet"},
            {"role": "assistant", "content": "it rains"},
        ],
        [{"role": "assistant", "content": [{"type": "text", "text": "it rains"}]}],
        [{"role": "assistant", "content": None}],
    ]
    assert bleu_reward()(completions=conversations, reference=["it rains"] * 4) == [
        *[score_identical("it rains")] * 3,
        0.0,
    ]


def test_missing_reference_gives_no_reward():
    rewards = bleu_reward()(
        completions=["a b", "a b", "a b", "a b", "x"],
        reference=[None, "a b", [], [None, "a b"], [None]],
    )
    assert rewards == [None, score_identical("a b"), None, score_identical("a b"), None]
    assert bleu_reward()(completions=["a"], reference=[None]) == [None]
    assert bleu_reward()(completions=[], reference=[]) == []


def test_two_completions_with_two_references_each():
    rewards = bleu_reward()(completions=["a b", "c d"], reference=[["a b", "x"], ["x", "c d"]])
    assert rewards == [score_identical("a b"), score_identical("c d")]


def test_metric_that_reads_sources():
    columns = {"completions": ["a b c", "a b", "c"], "reference": ["a b d", None, "c"]}
    prompts = [[{"role": "user", "content": text}] for text in ("a b", "b", "d")]
    metric = tb.metric("ibleu", tokenize="none")
    expected = [metric.sentence("a b c", "a b d", "a b").value, None]
    expected += [metric.sentence("c", "c", "d").value]
    reward = metric_reward("ibleu", scale=1, source_column="prompts", tokenize="none")
    assert reward(prompts=prompts, **columns) == expected
    assert reward.__name__ == "ibleu_reward"
    error = "ibleu_reward: the dataset has no column 'source'; .* of sources: .*source_column=…"
    with pytest.raises(tb.InputError, match=error):
        metric_reward("ibleu")(prompts=prompts, **columns)
    with pytest.raises(tb.InputError, match="'prompts' of completion 2 is None"):
        reward(prompts=["a", None, "c"], **columns)
    nist = metric_reward("nist")(**columns)
    assert nist == [
        tb.metric("nist").sentence("a b c", "a b d").value * 0.01,
        None,
        nist[2],
    ]  # independent of other references


def test_reward_names():
    assert bleu_reward().__name__ == "bleu_reward"
    assert chrf_reward().__name__ == "chrf_reward"
    assert bleu_reward(name="bleu_zh", tokenize="zh").__name__ == "bleu_zh"


@pytest.mark.parametrize(
    ("completions", "columns", "message"),
    [
        (
            ["a"],
            {"references": ["a"], "prompts": ["b"]},
            "no column 'reference'; did you mean 'references'.* references, prompts. Pass",
        ),
        (["a"], {}, "no column 'reference'; it has no columns. Pass"),
        (["a"], {"reference": None}, r"'reference' is None \(expected a list with a reference"),
        (["a"], {"reference": "a"}, r"'reference' is 'a' \(expected a list with a reference"),
        (["a", "b"], {"reference": ["a"]}, r"'reference' has length 1 \(expected 2"),
        (["a", None], {"reference": ["a", "a"]}, r"completion 2 is None \(expected a string"),
        (
            [[{"role": "assistant"}]],
            {"reference": ["a"]},
            r"completion 1 is .*'role': 'assistant'}\] \(expected a string",
        ),
        ([[]], {"reference": ["a"]}, r"completion 1 is \[\]"),
        (
            ["a"],
            {"reference": [7]},
            r"'reference' of completion 1 is 7 \(expected a string, a list",
        ),
        (["a"], {"reference": [["a", 7]]}, "'reference' of completion 1 is"),
    ],
)
def test_invalid_columns_raise_error(completions, columns, message):
    with pytest.raises(tb.InputError, match=message):
        bleu_reward()(completions=completions, **columns)


@pytest.mark.parametrize("scale", [math.nan, math.inf])
def test_infinite_scale_raises_error(scale):
    with pytest.raises(ValueError, match=f"bleu_reward: scale={scale} .expected a finite number"):
        bleu_reward(scale=scale)
