"""Rewards: values, text extraction, baselines, errors, and the calls of each trainer.

The calls are the keyword arguments of the trainers' sources: TRL f2cd57710, verl 1dda039b9, NeMo RL
7ea279abf, NeMo Gym 07d6b0d07, OpenRLHF 3c3be623, verifiers a60a606ec and ms-swift 3602360a5.
"""

import asyncio
import inspect
import math
import pickle
import re
import sys
import unicodedata
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import truebleu as tb

THINKING = "<think>The rain… it rains?</think>\n\nit rains today"


def score(completion, references, metric="chrf"):
    """Return the reward by the metric itself."""
    return tb.metric(metric).sentence(completion, references).value * 0.01


# ---- values ----


def test_rewards_are_sentence_scores_times_the_scale(text):
    metric = tb.BLEU("intl", lowercase=True)
    rewards = tb.reward(metric, scale=0.5)(text.hypotheses, text.references)
    pairs = list(zip(text.hypotheses, map(tuple, text.references), strict=True))
    assert rewards == [metric.sentence(*pair).value * 0.5 for pair in pairs]
    assert rewards == [tb.reward(metric, scale=0.5).one(*pair) for pair in pairs]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "wer", "gleu", "ibleu"])
def test_small_and_large_batches_have_the_score_of_the_metric(metric, text):
    """The texts of small batches are passed to the kernel one by one."""
    for size in (6, 60):
        texts, references = text.hypotheses[:size], text.first_references[:size]
        sources = {"sources": references} if tb.metric(metric).NEEDS_SOURCE else {}
        scores = tb.metric(metric).segments(texts, references, **sources)
        assert tb.reward(metric)(texts, references, **sources) == [one * 0.01 for one in scores]


def test_mixture_is_a_weighted_sum(text):
    reward = tb.reward({"chrf": 0.7, tb.BLEU("intl"): 0.3})
    hypotheses, references = text.hypotheses[:9], text.first_references[:9]
    expected = [
        (tb.CHRF().sentence(*pair).value * 0.7 + tb.BLEU("intl").sentence(*pair).value * 0.3) * 0.01
        for pair in zip(hypotheses, references, strict=True)
    ]
    assert reward(hypotheses, references) == expected
    assert reward.one(hypotheses[0], references[0]) == expected[0]
    assert reward.name == "chrf+bleu_reward"


def test_completions_may_be_conversations():
    blocks = [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": "it rains"}]
    conversations = [
        [{"role": "assistant", "content": "it rains"}],
        [
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "wet"},
            SimpleNamespace(role="assistant", content="it rains"),
        ],
        [{"role": "assistant", "content": blocks}],
        [{"role": "assistant", "content": None}],
    ]
    rewards = tb.reward("bleu")(conversations, ["it rains"] * 4)
    assert rewards == [score("it rains", "it rains", "bleu")] * 3 + [0.0]


def test_missing_reference_gives_no_reward():
    reward = tb.reward("chrf")
    references = [None, "a b", [], [None, "a b"], [None]]
    assert reward(["a b"] * 5, references) == [None, 1, None, 1, None]
    assert reward(["a"], [None]) == [None]
    assert reward([], []) == []
    assert reward.statistics["scored"] == 2


def test_equal_rows_are_scored_once(monkeypatch):
    scored = []
    sentence = tb.CHRF.sentence

    def record_sentence(metric, hypothesis, references):
        scored.append(hypothesis)
        return sentence(metric, hypothesis, references)

    monkeypatch.setattr(tb.CHRF, "sentence", record_sentence)
    reward = tb.reward("chrf", baseline="source")
    rewards = reward(["a b", "a c", "a b"] * 8, ["a b"] * 24, sources=["b a"] * 24)
    assert scored == ["a b", "a c", "b a"]
    copied = score("b a", "a b")
    assert rewards == [1 - copied, score("a c", "a b") - copied, 1 - copied] * 8


def test_metric_that_depends_on_other_segments_scores_each_alone():
    rewards = tb.reward("nist")(["a b c", "c"], ["a b d", "c"])
    assert rewards == [score("a b c", "a b d", "nist"), score("c", "c", "nist")]


def test_metric_that_reads_sources():
    reward = tb.reward("ibleu")
    rewards = reward(["a b c", "a b"], ["a b d", None], sources=["a b", "b"])
    expected = tb.metric("ibleu").sentence("a b c", "a b d", "a b").value * 0.01
    assert rewards == [expected, None]
    assert reward.one("a b c", "a b d", source="a b") == expected


# ---- extraction of the answer ----


def strip_like_nemo_gym(text):
    """Return the text that resources_servers/wmt_translation/app.py scores."""
    if "</think>" in text:
        text = text.rsplit("</think>", 1)[1].lstrip("\n")
    elif "<think>" in text:
        text = ""
    return text.strip()


@pytest.mark.parametrize(
    "text",
    [
        THINKING,
        "it rains",
        " it rains \n",
        "The rain… </think>it rains",
        "<think>one</think>x<think>two</think>\n\n it rains",
        "<think>never ends",
        "</think><think>it rains",
        "x > y, a <thing>",
        "<think></think>",
        "",
    ],
)
def test_thinking_is_stripped_as_in_nemo_gym(text):
    assert tb.reward("chrf", strip_thinking=True).extract_answer(text) == strip_like_nemo_gym(text)
    assert tb.reward("chrf").extract_answer(text) == text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("```\nit rains\n```", "it rains"),
        ("\n```c++\nit\nrains\n```\n", "it\nrains"),
        ("~~~ text\nit rains\n~~~", "it rains"),
        ("````\n```\nit\n```\n````", "```\nit\n```"),
        ("```\n```", ""),
        ("```it rains```", None),
        ("Here:\n```\nit rains\n```", None),
        ("```\nit rains\n```\nDone.", None),
        ("```\nit\n```\n```\nrains\n```", None),
        ("```\nit rains", None),
        ("```\nit rains\n~~~", None),
        ("it rains", None),
    ],
)
def test_fences_are_stripped_if_they_enclose_the_whole_answer(text, answer):
    expected = text if answer is None else answer
    assert tb.reward("bleu", strip_fences=True).extract_answer(text) == expected


@pytest.mark.parametrize(
    ("after", "text", "answer"),
    [
        ("<answer>", "Sure. <answer>it rains</answer> Bye.", "it rains"),
        ("<answer>", "<answer>x</answer><answer>it rains", "it rains"),
        ("<answer>", "it rains", "it rains"),
        ("Answer:", "x Answer: it rains", " it rains"),
    ],
)
def test_text_after_a_tag_is_scored(after, text, answer):
    assert tb.reward("bleu", after=after).extract_answer(text) == answer


def test_steps_run_from_the_outside_to_the_inside():
    text = "<think><answer>no</answer></think><answer>```text\nit rains\n```</answer>"
    reward = tb.reward("bleu", strip_thinking=True, strip_fences=True, after="<answer>")
    assert reward.extract_answer(text) == "it rains"


def test_normalize_converts_both_sides():
    composed, decomposed = "Caf\u00e9 f\u00fcr", unicodedata.normalize("NFD", "Café für")
    assert tb.reward("chrf").one(decomposed, composed) < 1
    reward = tb.reward("chrf", normalize="NFC")
    assert [reward.one(decomposed, composed), reward.one(composed, [None, decomposed])] == [1, 1]
    assert reward([composed], [decomposed]) == [1]


def test_blank_completion_has_the_empty_value():
    reward = tb.reward("ter", scale=-0.01, strip_thinking=True, empty=-1.5)
    assert reward(["<think>", " ", "a"], ["a", "a", "a"]) == [-1.5, -1.5, 0]
    assert [reward.one("<think>x", "a"), reward.statistics["blank"]] == [-1.5, 3]
    assert tb.reward("ter", scale=-0.01)(["", "a"], ["a", "a"]) == [-1, 0]


# ---- baselines and length ----


def test_group_baselines():
    texts, references = ["a b", "a c", "a b", "b", "c"], ["a b", "a b", "a b", "b c", "b c"]
    first, second, third, fourth, fifth = map(score, texts, references)
    leave_one_out = tb.reward("chrf", baseline="leave-one-out")
    rewards = leave_one_out(texts, references, groups=[*"xxxyy"])
    expected = [first - (second + third) / 2, second - (first + third) / 2]
    assert rewards[:2] == pytest.approx(expected)
    assert rewards[3] == fourth - fifth
    means = tb.reward("chrf", baseline="mean")(texts, references, groups=[*"xxxyy"])
    assert means[0] == pytest.approx(first - (first + second + third) / 3)
    references[2] = None
    rewards = leave_one_out(texts, references, groups=[*"xxxyy"])
    assert rewards[:3] == [first - second, second - first, None]


def test_number_is_subtracted():
    assert tb.reward("chrf", baseline=0.25)(["a b"], ["a b"]) == [0.75]
    assert tb.reward("chrf", baseline=0.25).one("a b", "a b") == 0.75


def test_source_baseline_punishes_copies():
    reward = tb.reward("chrf", baseline="source")
    rewards = reward(["a b", "c"], ["a c", "a c"], sources=["a b", "a b"])
    assert rewards == [0.0, score("c", "a c") - score("a b", "a c")]


def test_mirrored_length_penalty_applies_to_longer_text_only():
    reward = tb.reward("chrf", length_penalty="mirror")
    reference = "the cat sat down"
    plain = tb.reward("chrf")
    texts = ["the cat", reference, f"{reference} {reference}", f"{reference} now"]
    factors = [1, 1, math.exp(1 - 8 / 4), math.exp(1 - 5 / 4)]
    scores = plain(texts, [reference] * 4)
    penalized = [value * factor for value, factor in zip(scores, factors, strict=True)]
    assert reward(texts, [reference] * 4) == penalized
    # The closest reference has five words.
    pair = texts[3], [reference, "the cat sat down then"]
    assert reward.one(*pair) == plain.one(*pair)
    assert tb.reward("bleu", length_penalty="mirror").one("a", "") == 0
    chinese, pair = tb.BLEU("zh"), ("下雨了下雨了", "下雨了")
    penalized = tb.reward(chinese, length_penalty="mirror").one(*pair)
    assert penalized == score(*pair, chinese) * math.exp(-1)


# ---- errors, warnings and statistics ----


@pytest.mark.parametrize(
    ("completions", "references", "message"),
    [
        (["a", None], ["a", "a"], "chrf_reward, row 2: the completion is None .expected a string"),
        ([[{"role": "assistant"}]], ["a"], r"row 1: the completion is \[.*'role': 'assistant'}\]"),
        ([[]], ["a"], r"row 1: the completion is \[\]"),
        (["a"], [7], "row 1: the reference is 7 .expected a string, a list"),
        (["a"], [["a", 7]], r"row 1: the reference is \['a', 7\]"),
        (["a", "b"], ["a"], "'references' has length 1 .expected 2: one value per"),
        (["a"], "a", "'references' is 'a' .expected a list with one value per completion"),
        ("a", ["a"], "'completions' is 'a'"),
        (iter("a"), ["a"], "'completions' is <str_.*iterator .* .expected a list"),
        (["a"], None, "'references' is None"),
    ],
)
def test_errors_name_the_row(completions, references, message):
    reward = tb.reward("chrf")
    with pytest.raises(tb.InputError, match=message):
        reward(completions, references)
    assert reward.statistics["errors"] == 1


def test_metric_errors_name_the_row_of_the_batch():
    """Rows without references and equal rows are not passed to the metric."""
    reward = tb.reward("fairseq")
    message = "fairseq_reward, row 4: references: a segment has several references"
    with pytest.raises(tb.InputError, match=message):
        reward(["a", "b", "b", "c"], [None, "b", "b", ["c", "d"]])
    with pytest.raises(tb.InputError, match="fairseq_reward, row 1: references: a segment"):
        reward.one("c", ["c", "d"])
    assert reward.statistics["errors"] == 2


def test_missing_package_is_not_an_invalid_row(monkeypatch):
    for name in ("rouge_score_rs.rouge_scorer", "rouge_score.rouge_scorer"):
        monkeypatch.setitem(sys.modules, name, None)
    reward = tb.reward({"chrf": 0.7, "rouge-l+stem": 0.3}, on_error=0.0)
    with pytest.raises(ImportError, match=r"truebleu\[rouge\]"):
        reward(["a cat sat"], ["a cat sat"])


def test_mixture_of_text_and_token_ids_is_refused():
    with pytest.raises(tb.InputError, match="token ids never match text"):
        tb.reward("bleu")(["a cat"], tb.token_ids([[5, 6]]))


def test_on_error_is_the_reward_of_invalid_rows():
    reward = tb.reward("chrf", on_error=-1, baseline="leave-one-out")
    rewards = reward(["a", None, "b", 3], ["a", "a", "a", "a"], groups=["x"] * 4)
    assert rewards == [1, -1, -1, -1]
    assert reward.statistics["errors"] == 2
    assert tb.reward("chrf", on_error=0).one("a", None) == 0
    assert reward(["a", None], ["a", "a"], groups=["x"] * 2) == [-1, -1]  # a group of one
    with pytest.raises(tb.InputError, match="row 1: no reference"):
        tb.reward("chrf").one("a", None)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "baseline='mean' compares the completions of one prompt"),
        (["x", "y"], "row 1: the only completion of its prompt .*expects at least two"),
    ],
)
def test_group_baseline_without_group_raises_error(groups, message):
    with pytest.raises(tb.InputError, match=message):
        tb.reward("chrf", baseline="mean")(["a", "b"], ["a", "b"], groups=groups)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": math.nan}, r"chrf_reward: scale=nan .expected a finite number"),
        ({"scale": "1"}, "scale='1'"),
        ({"empty": True}, "empty=True .expected a finite number, None"),
        ({"baseline": "median"}, "baseline='median' .*None, leave-one-out, mean, source"),
        ({"on_error": None}, "on_error=None .*a finite number, raise"),
        ({"length_penalty": "bp"}, "unknown length_penalty 'bp'"),
        ({"normalize": "nfx"}, "unknown normalize 'nfx'"),
        ({"after": ""}, "after='' .expected a non-empty string"),
        ({"references": 3}, "references=3"),
        ({"strip_thinking": "no"}, "strip_thinking='no' .expected True or False"),
        ({"length_penalty": "mirror", "scale": -1}, "length_penalty would raise negative rewards"),
        ({"length_penalty": "mirror", "metric": "ter"}, "length_penalty would raise negative rew"),
        ({"strip_think": True}, r"reward\(\) has no parameter 'strip_think'; did you mean 'strip_"),
        ({"metric": {}}, r"^metric=\{\}"),
        ({"metric": {"chrf": None}}, "chrf_reward: the weight of chrF2=None"),
        ({"metric": "chrff"}, "unknown metric 'chrff'"),
    ],
    ids=str,
)
def test_invalid_options_raise_error(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tb.reward(**{"metric": "chrf", **options})


def test_think_tags_in_more_than_5_percent_warn_once():
    message = re.escape("chrf_reward: 2 of 20 completions contain <think> tags")
    reward = tb.reward("chrf")
    with pytest.warns(tb.TextWarning, match=message) as recorded:
        reward([THINKING, "x</think>"] + ["a"] * 18, ["a"] * 20)
    with warnings.catch_warnings(action="error"):
        reward.one(THINKING, "a")
    assert [one.filename for one in recorded] == [__file__]
    assert reward.statistics["thinking"] == 3


@pytest.mark.parametrize("options", [{"strip_thinking": True}, {"after": "</think>"}])
def test_stripped_think_tags_do_not_warn(options, recwarn):
    tb.reward("chrf", **options)([THINKING] * 2, ["a"] * 2)
    tb.reward("chrf")([THINKING] + ["a"] * 19, ["a"] * 20)
    assert not recwarn.list


def test_statistics_count_texts():
    reward = tb.reward("chrf", strip_thinking=True)
    reward(["a", "a", "<think>", "b"], ["a", "a", "a", None])
    reward.one("a", "b")
    text_counts = {"completions": 5, "scored": 3, "blank": 1, "thinking": 0, "errors": 0}
    assert reward.statistics == {"calls": 2, **text_counts}


# ---- the object ----


def test_repr_is_the_recipe():
    chrf = "chrF2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"
    assert repr(tb.reward("chrf")) == f"{chrf}|scale:0.01|baseline:none"
    weighted = repr(tb.reward({"chrf": 1, "bleu": 1 / 3}))
    assert weighted.startswith(f"1*({chrf})+0.3333333333333333*(BLEU|")
    options = {"strip_thinking": True, "strip_fences": True, "after": "<a>", "normalize": "NFC"}
    options |= {"empty": 0, "length_penalty": "mirror", "baseline": "mean", "on_error": 0.0}
    assert repr(tb.reward({"chrf": 0.7, "bleu": 0.3}, **options)) == (
        f"0.7*({chrf})+0.3*(BLEU|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0)"
        "|strip:think+fences|after:<a>|norm:NFC|empty:0|length:mirror|scale:0.01|baseline:mean|error:0.0"
    )


HOSTS = "trl swift verl verl_batch nemo_rl nemo_verify openrlhf verifiers verifiers_group"


@pytest.mark.parametrize("host", [*HOSTS.split(), "verifiers_v1"])
def test_host_functions_have_the_name_of_the_reward_and_can_be_pickled(host):
    reward = tb.reward("chrf", name="chrf_zh", strip_thinking=True)
    function = pickle.loads(pickle.dumps(getattr(reward, host)))
    assert function.__name__ == reward.__name__ == "chrf_zh"
    assert not isinstance(function, partial)  # TRL would log the name of the inner function
    assert inspect.signature(function) == inspect.signature(getattr(reward, host))
    assert getattr(type(reward), host).__doc__


def test_pickled_reward_gives_the_same_rewards():
    reward = tb.reward({"chrf": 0.5, tb.BLEU("zh"): 0.5}, strip_thinking=True)
    copy = pickle.loads(pickle.dumps(reward))
    assert copy == reward
    assert hash(copy) == hash(reward)
    assert copy([THINKING], ["it rains"]) == reward([THINKING], ["it rains"])


def test_frozen_reward_rejects_assignment():
    with pytest.raises(AttributeError):
        tb.reward("chrf").scale = 2


def run_coroutine(coroutine):
    """Run a coroutine in a thread, because browser tests leave a running loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def test_rewards_are_equal_in_threads_and_coroutines(text):
    reward = tb.reward("chrf", strip_thinking=True)
    pairs = list(zip(text.hypotheses, text.first_references, strict=True))
    expected = reward(text.hypotheses, text.first_references)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(reward.one, *zip(*pairs, strict=True))) == expected

    async def compute_rewards():
        direct = [reward.one(*pair) for pair in pairs]
        threads = await asyncio.gather(*(asyncio.to_thread(reward.one, *pair) for pair in pairs))
        return direct, threads

    assert run_coroutine(compute_rewards()) == (expected, expected)
    assert reward.statistics["completions"] == 4 * len(pairs)


# ---- calls of the trainers ----

SCORE = score("it rains today", "it rains")


def test_trl_call():
    call = {
        "prompts": ["Regnet es?", [{"role": "user", "content": "Regnet es?"}]],
        "completions": [THINKING, [{"role": "assistant", "content": THINKING}]],
        "completion_ids": [[1], [2]],
        "reference": ["it rains", None],
        "trainer_state": SimpleNamespace(global_step=1),
        "log_extra": lambda *_: None,
        "log_metric": lambda *_: None,
        "environments": None,
    }
    assert tb.reward("chrf", strip_thinking=True).trl(**call) == [SCORE, None]
    prompted = tb.reward("ibleu", sources="prompts", strip_thinking=True).trl(**call)
    expected = tb.metric("ibleu").sentence("it rains today", "it rains", "Regnet es?").value * 0.01
    assert prompted == [expected, None]
    grouped = {**call, "reference": ["it rains"] * 2, "prompts": ["x", "x"]}
    assert tb.reward("chrf", baseline="leave-one-out", strip_thinking=True).trl(**grouped) == [0, 0]
    ids = {**grouped, "prompts": ["x", "y"], "id": [4, 4]}
    assert tb.reward("chrf", baseline="mean", group="id", strip_thinking=True).trl(**ids) == [0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "the dataset has no column or key 'reference'; did you mean 'references'"),
        (
            {"references": "x"},
            "the dataset has no column or key 'x'.* Pass its name: reward.references",
        ),
        ({"references": "short"}, "'references' has length 1 .expected 2"),
        (
            {"references": "prompts", "baseline": "source"},
            "key 'source'.*Pass its name: reward.sources",
        ),
        ({"references": "prompts", "baseline": "mean", "group": "x"}, "key 'x'.*reward.group=…"),
    ],
)
def test_missing_column_raises_error(options, message):
    reward = tb.reward("chrf", **options)
    columns = {"references": ["a", "a"], "prompts": ["b", "b"], "short": ["a"]}
    with pytest.raises(tb.InputError, match=message):
        reward.trl(completions=["a", "b"], **columns)
    assert reward.statistics["errors"] == 1


def test_swift_call_is_positional():
    reward = tb.reward("chrf", references="solution", strip_thinking=True)
    assert reward.swift([THINKING], solution=["it rains"], trainer_state=None) == [SCORE]


def test_verl_calls():
    reward = tb.reward("chrf", strip_thinking=True)
    call = {"data_source": "wmt24", "solution_str": THINKING, "extra_info": {"index": 3}}
    assert reward.verl(**call, ground_truth="it rains") == SCORE
    assert reward.verl(**call, ground_truth=["it rains", "x"], reward_router_address=None) == SCORE
    assert reward.verl(**{**call, "extra_info": None}, ground_truth="it rains") == SCORE
    named = tb.reward("chrf", references="refs", strip_thinking=True)
    extra_info = {"refs": ["it rains"]}
    assert named.verl(**{**call, "extra_info": extra_info}, ground_truth="") == SCORE
    batch = {
        "data_sources": ["wmt24"] * 2,
        "solution_strs": [THINKING, "it rains"],
        "ground_truths": ["it rains"] * 2,
        "extra_infos": [{"index": 3}] * 2,
    }
    assert reward.verl_batch(**batch) == [SCORE, 1]
    grouped = tb.reward("chrf", strip_thinking=True, baseline="leave-one-out", group="index")
    assert grouped.verl_batch(**batch) == [SCORE - 1, 1 - SCORE]
    for missing in (
        lambda: reward.verl(**call, ground_truth=None),
        lambda: reward.verl_batch(**{**batch, "ground_truths": [None, "a"]}),
    ):
        with pytest.raises(tb.InputError, match="chrf_reward, row 1: no reference"):
            missing()
    with pytest.raises(tb.InputError, match=r"row 1 has no column or key 'source'; .*index"):
        tb.reward("ibleu").verl(**call, ground_truth="a")
    with pytest.raises(tb.InputError, match="compares the completions of one prompt"):
        tb.reward("chrf", baseline="mean").verl(**call, ground_truth="a")


def test_verl_batch_reads_arrays():
    numpy = pytest.importorskip("numpy")
    references = numpy.array([None, None], dtype=object)
    references[:] = [numpy.array(["it rains", "x"], dtype=object), "it rains"]
    infos = numpy.array([{"refs": one} for one in references], dtype=object)
    texts = {"data_sources": infos, "solution_strs": ["it rains"] * 2, "ground_truths": references}
    for reward in (tb.reward("chrf"), tb.reward("chrf", references="refs")):
        assert reward.verl_batch(**texts, extra_infos=infos) == [1, 1]


def test_nemo_rl_step():
    logs = [
        [
            {"role": "user", "content": "Regnet es?", "token_ids": [1]},
            {"role": "assistant", "content": "x"},
            {"role": "environment", "content": "again"},
            {"role": "assistant", "content": THINKING},
        ],
        [{"role": "user", "content": "Regnet es?"}, {"role": "assistant", "content": "it rains"}],
    ]
    metadata = [{"ground_truth": "it rains", "extracted_answer": None}] * 2
    reward = tb.reward("chrf", strip_thinking=True)
    assert reward.nemo_rl(logs, metadata) == [SCORE, 1]
    assert reward.nemo_rl(message_log_batch=logs, metadata=metadata) == [SCORE, 1]
    grouped = tb.reward("chrf", strip_thinking=True, baseline="leave-one-out")
    assert grouped.nemo_rl(logs, metadata) == [SCORE - 1, 1 - SCORE]
    with pytest.raises(tb.InputError, match="row 1: the completion is None"):
        reward.nemo_rl([logs[0][:1]], metadata[:1])


@pytest.mark.parametrize(
    "output", [THINKING, "<think>it rains", "  \n", None, "Cafe\u0301", "it rains"]
)
def test_nemo_gym_verify_is_the_servers_reward(output):
    """As resources_servers/wmt_translation/app.py computes it, with sacreBLEU."""
    sacrebleu = pytest.importorskip("sacrebleu")
    body = SimpleNamespace(
        text="Es regnet",
        translation="it rains caf\u00e9",
        source_language="de",
        target_language="en",
        response=SimpleNamespace(output_text=output),
    )
    generation = unicodedata.normalize("NFC", strip_like_nemo_gym(output or ""))
    reference = unicodedata.normalize("NFC", body.translation)
    expected = sacrebleu.sentence_chrf(generation, [reference]).score / 100 if generation else 0.0
    reward = tb.reward("chrf", strip_thinking=True, normalize="NFC", empty=0.0)
    assert reward.nemo_verify(body) == pytest.approx(expected, rel=1e-15)
    mapping = {"translation": body.translation, "response": {"output_text": output}}
    assert reward.nemo_verify(mapping) == reward.nemo_verify(body)
    with pytest.raises(tb.InputError, match="row 1 has no column or key 'translation'"):
        reward.nemo_verify({"response": {"output_text": "a"}})


def test_openrlhf_call():
    torch = pytest.importorskip("torch")
    prompt = "<|im_start|>user\nRegnet es?<|im_end|>\n<|im_start|>assistant\n"
    reward = tb.reward("chrf", strip_thinking=True)
    result = run_coroutine(
        asyncio.to_thread(
            reward.openrlhf, [prompt + THINKING + "<|im_end|>"], [prompt], ["it rains"]
        )
    )
    assert result["rewards"].tolist() == pytest.approx([SCORE])
    assert result["extra_logs"]["chrf_reward"] is result["rewards"]
    # The executor of OpenRLHF makes tensors of the values.
    assert torch.tensor([result["rewards"]]).shape == (1,)
    result = tb.reward("ter", scale=-0.01).openrlhf(["ab", "ab</s> <eos>"], ["a", "a"], ["c", "b"])
    assert result["rewards"].tolist() == [-1, 0]
    assert result["scores"].tolist() == [0, 0]
    message = "row 1: the query 'ab' does not contain its prompt 'c'"
    with pytest.raises(tb.InputError, match=message):
        reward.openrlhf(["ab"], ["c"], ["b"])
    assert reward.statistics["errors"] == 1


def call_rubric(function, fields):
    """Pass the parameters by name, as Rubric._call_individual_reward_func does."""
    parameters = inspect.signature(function).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return function(**fields)
    return function(**{name: value for name, value in fields.items() if name in parameters})


def test_verifiers_calls():
    reward = tb.reward("chrf", strip_thinking=True)
    prompt = [{"role": "user", "content": "Regnet es?"}]
    completion = [{"role": "assistant", "content": THINKING}]
    fields = {"prompt": prompt, "completion": completion, "answer": "it rains", "state": {}}
    fields |= {"info": {"refs": ["x", "it rains"]}, "task": None, "parser": None}
    # A group function is recognized by a plural parameter name, or by the annotation of a list.
    plural = {"states", "prompts", "completions", "answers", "tasks", "infos"}
    signature = inspect.signature(reward.verifiers)
    assert not plural & {*signature.parameters}
    assert signature.return_annotation in (float, "float")
    assert plural & {*inspect.signature(reward.verifiers_group).parameters}
    assert call_rubric(reward.verifiers, fields) == SCORE
    named = tb.reward("chrf", references="refs", strip_thinking=True)
    assert call_rubric(named.verifiers, fields) == SCORE
    ibleu = tb.reward("ibleu")
    assert ibleu.verifiers(**fields) == ibleu.one(THINKING, "it rains", source="Regnet es?")
    group = {f"{name}s": [value] * 2 for name, value in fields.items() if name != "parser"}
    assert call_rubric(reward.verifiers_group, group) == [SCORE] * 2
    grouped = tb.reward("chrf", baseline="leave-one-out", strip_thinking=True)
    assert call_rubric(grouped.verifiers_group, group) == [0, 0]
    with pytest.raises(tb.InputError, match="row 1: no reference"):
        reward.verifiers(**{**fields, "answer": ""})


def test_verifiers_v1_task():
    """A task's rewards are called by name, after `vf.reward` sets attributes."""

    class Task:
        def __init__(self, data):
            self.data = data

        chrf = tb.reward("chrf", strip_thinking=True).verifiers_v1

        async def in_method(self, trace) -> float:
            return await tb.reward("chrf", strip_thinking=True).verifiers_v1(self, trace)

    Task.chrf.reward = True
    task = Task(SimpleNamespace(answer="it rains", prompt="Regnet es?"))
    trace = SimpleNamespace(last_reply=THINKING)
    fields = {"task": task.data, "trace": trace}
    assert run_coroutine(call_rubric(task.chrf, fields)) == SCORE
    assert run_coroutine(task.in_method(trace)) == SCORE


# ---- examples of docs/how-to/rewards.md ----

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "rewards.md"


def stub(name, **attributes):
    """Return a module with these attributes, in place of a trainer's module."""
    module = ModuleType(name)
    vars(module).update(attributes)
    return module


def test_examples_of_the_page_define_rewards(tmp_path, monkeypatch):
    """Run the code for each trainer, in an empty folder, and call the results."""
    monkeypatch.chdir(tmp_path)
    swift = stub("swift.rewards", ORM=object, orms={})
    monkeypatch.setitem(sys.modules, "swift", stub("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", swift)
    response = SimpleNamespace(output_text=THINKING)
    body = SimpleNamespace(translation="it rains", response=response, model_dump=dict)
    verifiers = {"Rubric": SimpleNamespace, "Task": object, "Trace": object}
    names = {
        "reward": tb.reward("chrf", strip_thinking=True),
        "GRPOTrainer": SimpleNamespace,
        "torch": stub("torch", tensor=list, ones_like=len),
        "EnvironmentReturn": lambda *parts: parts,
        "BaseVerifyRequest": object,
        "BaseVerifyResponse": dict,
        "vf": stub("vf", **verifiers, reward=lambda **_: lambda function: function),
        **dict.fromkeys(("model", "dataset", "args")),
    }
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    results = {}
    for block in blocks:
        scope = dict(names)
        exec(compile(block, PAGE.name, "exec"), scope)
        results |= {name: value for name, value in scope.items() if name not in names}
    assert len(blocks) == 9
    (function, *_) = results["trainer"].reward_funcs
    assert function(completions=[THINKING], reference=["it rains"]) == [SCORE]
    coroutine = results["score_in_coroutine"](solution_str=THINKING, ground_truth="it rains")
    assert run_coroutine(coroutine) == SCORE
    assert list(inspect.signature(results["reward_func"]).parameters)[:2] == ["queries", "prompts"]
    assert swift.orms["chrf"]()([THINKING], solution=["it rains"], trainer_state=None) == [SCORE]
    log = [{"role": "assistant", "content": THINKING}]
    assert results["step"](None, [log], [{"ground_truth": "it rains"}])[3] == [SCORE]
    assert run_coroutine(results["verify"](None, body)) == {"reward": SCORE}
    assert results["rubric"].funcs[0](completion=THINKING, answer="it rains") == SCORE
    task = results["Translation"]()
    task.data = SimpleNamespace(answer="it rains")
    assert run_coroutine(task.chrf(SimpleNamespace(last_reply=THINKING))) == SCORE
