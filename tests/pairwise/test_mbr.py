"""Minimum Bayes risk: the candidate that agrees most with all of them."""

import json
import pickle

import pytest
import sacrebleu

import truebleu as tb
from truebleu import BLEU, CHRF, MBR, TER, InputError
from truebleu.metrics.gleu import GLEU

CANDIDATES = ["the cat sat", "the cat sat down", "a dog sat down", "the cat sat", "cats"]


def sentence_bleu(hypothesis, reference):
    return sacrebleu.sentence_bleu(hypothesis, [reference]).score


def sentence_chrf(hypothesis, reference):
    return sacrebleu.sentence_chrf(hypothesis, [reference]).score


def sentence_ter(hypothesis, reference):
    return sacrebleu.sentence_ter(hypothesis, [reference]).score


def naive(score, candidates, references, weights=None):
    """Return the expected score of each candidate, pair by pair."""
    if weights is None:
        return [sum(score(h, r) for r in references) / len(references) for h in candidates]
    return [
        sum(w * score(h, r) for w, r in zip(weights, references, strict=True)) / sum(weights)
        for h in candidates
    ]


@pytest.mark.parametrize(
    ("metric", "score"), [(BLEU(), sentence_bleu), (CHRF(), sentence_chrf)], ids=["BLEU", "chrF"]
)
def test_it_is_the_loop_over_sacrebleu_on_real_candidates(sources, metric, score):
    choices = tb.mbr(sources, utility=metric)
    for candidates, choice in zip(sources, choices, strict=True):
        expected = naive(score, candidates, candidates)
        assert choice.expected == expected
        assert choice.index == max(range(len(expected)), key=expected.__getitem__)
        assert choice.best == candidates[choice.index]


def test_the_same_for_any_number_of_workers(sources):
    single_worker = tb.mbr(sources, utility=CHRF())
    for workers in (2, 5):
        assert tb.mbr(sources, utility=CHRF(), workers=workers) == single_worker
    assert tb.mbr(sources[0], workers=2) == tb.mbr(sources[0])


def test_lower_is_better(sources):
    candidates = sources[0][:6]
    choice = tb.mbr(candidates, utility=TER())
    expected = naive(sentence_ter, candidates, candidates)
    assert choice.expected == expected
    assert choice.index == min(range(6), key=expected.__getitem__)
    assert choice.ranking == tuple(sorted(range(6), key=expected.__getitem__))


def test_weights(sources):
    for candidates in sources[:3]:
        weights = [1 / (i + 1) for i in range(len(candidates))]
        choice = tb.mbr(candidates, weights=weights)
        assert choice.expected == naive(sentence_bleu, candidates, candidates, weights)
    choices = tb.mbr(sources[:3], weights=[[1] * len(one) for one in sources[:3]])
    assert [one.index for one in choices] == [one.index for one in tb.mbr(sources[:3])]


def test_references_of_their_own(sources):
    candidates, references = sources[0][:4], sources[0][4:]
    choice = tb.mbr(candidates, references=references)
    assert choice.expected == naive(sentence_bleu, candidates, references)
    weights = list(range(len(references)))
    choice = tb.mbr(candidates, references=references, weights=weights)
    assert choice.expected == naive(sentence_bleu, candidates, references, weights)
    (nested_choice,) = tb.mbr([candidates], references=[references], weights=[weights])
    assert nested_choice == choice


def test_candidates_that_repeat_count_as_often_as_they_are_there():
    choice = tb.mbr(CANDIDATES)
    assert choice.expected == naive(sentence_bleu, CANDIDATES, CANDIDATES)
    assert choice.expected[0] == choice.expected[3]
    assert choice.ranking.index(0) + 1 == choice.ranking.index(3)


def test_a_metric_that_counts_in_python():
    metric = GLEU("none")
    choices = tb.mbr([CANDIDATES, CANDIDATES[:1]], utility=metric, workers=2)
    score = lambda h, r: metric.sentence(h, [r]).value  # noqa: E731
    assert choices[0].expected == naive(score, CANDIDATES, CANDIDATES)
    assert choices[1].expected == [100.0]


def test_one_candidate_is_the_best():
    choice = tb.mbr(["a b"])
    assert (choice.index, choice.best, choice.ranking, len(choice)) == (0, "a b", (0,), 1)
    assert [one.best for one in tb.mbr([["a"], ["b", "c"], ["d"]])] == ["a", "b", "d"]


def test_equals_keep_their_order():
    choice = tb.mbr(["a a", "b b", "a a", "b b"])
    assert choice.ranking == (0, 1, 2, 3)
    assert tb.mbr(["a a", "b b"], utility=TER()).ranking == (0, 1)


def test_columns_and_files(write):
    pa = pytest.importorskip("pyarrow")
    expected = tb.mbr(CANDIDATES)
    assert tb.mbr(pa.array(CANDIDATES)) == expected
    assert tb.mbr(pa.array([CANDIDATES, CANDIDATES[:2]]))[0] == expected
    assert tb.mbr(write("candidates", CANDIDATES)) == expected
    assert tb.mbr(tuple(CANDIDATES)) == expected


def test_it_prints():
    choice = tb.mbr([*CANDIDATES, "the cat " * 30])
    assert str(choice) == (
        "MBR by BLEU: candidate 0 of 6 is best, expected score 48.56 over 6 references\n"
        "rank  candidate  expected  text\n"
        "   1          0     48.56  the cat sat\n"
        "   2          3     48.56  the cat sat\n"
        "   3          1     41.81  the cat sat down\n"
        "   4          2     27.32  a dog sat down\n"
        "   5          5     17.27  the cat the cat the cat the cat the cat the cat the cat the…\n"
        "... and 1 more"
    )
    assert repr(choice) == ("<MBR: candidate 0 of 6 is best, expected BLEU 48.56: 'the cat sat'>")
    assert float(choice) == choice.value == choice.expected[0]


def test_it_serializes():
    choice = tb.mbr(CANDIDATES, utility=CHRF(word_order=2))
    content = json.loads(choice.to_json())
    assert content["metric"] == "chrF2++"
    assert content["best"] == choice.best
    assert content["ranking"] == list(choice.ranking)
    assert content["expected"] == choice.expected.tolist()
    assert tb.metric(content["signature"]) == choice.metric
    assert pickle.loads(pickle.dumps(choice)) == choice
    assert isinstance(choice, MBR)
    assert choice.candidates == tuple(CANDIDATES)
    assert hash(choice) == hash(tb.mbr(CANDIDATES, utility=CHRF(word_order=2)))
    assert choice != tb.mbr(CANDIDATES)


@pytest.mark.parametrize(
    ("candidates", "options", "error", "message"),
    [
        ([], {}, InputError, "candidates: no texts"),
        ([["a"], []], {}, InputError, r"source 2 has no candidates\. Leave it out\."),
        (["a", None], {}, InputError, "candidates: text 2 is missing"),
        ([["a"], [None, "b"]], {}, InputError, "candidates: source 2: text 1 is missing"),
        ([["a"], None], {}, TypeError, "candidates: source 2 is None, a missing value"),
        ([["a"], "b"], {}, TypeError, "candidates: source 2 is of type str"),
        ([1, 2], {}, TypeError, "candidates: text 1 is of type int"),
        ("a b", {}, TypeError, "a single str"),
        (["a"], {"utility": "blue"}, ValueError, "unknown metric 'blue'; did you mean 'bleu'"),
        (["a"], {"utility": CHRF}, TypeError, r"CHRF is a class\. Use CHRF\(\)"),
        (["a"], {"utility": 7}, TypeError, r"expected a metric such as truebleu.CHRF\(\), or a na"),
    ],
)
def test_wrong_candidates(candidates, options, error, message):
    with pytest.raises(error, match=message):
        tb.mbr(candidates, **options)


def test_a_metric_by_any_of_its_names():
    expected_choice = tb.mbr(CANDIDATES, utility=tb.BLEU("zh"))
    for metric in ("sacrebleu-zh", tb.family["sacrebleu-zh"], str(tb.BLEU("zh"))):
        assert tb.mbr(CANDIDATES, utility=metric).best == expected_choice.best


@pytest.mark.parametrize("candidates", [["a"], [["a"], ["b"]]])
def test_wrong_numbers_of_workers(candidates):
    for workers in (0, -1, 1.5, "2"):
        with pytest.raises(ValueError, match="expected a whole number of 1 or more"):
            tb.mbr(candidates, workers=workers)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a", "b"], [["a"], ["b"]], "expected a list of strings for a single source"),
        ([["a"], ["b"]], ["a", "b"], "expected one list of strings per source, found strings"),
        ([["a"], ["b"]], [["a"]], r"expected one list per source \(2\), found 1"),
        ([["a"], ["b"]], [["a"], []], "references: source 2 has no references"),
        (["a"], [], "references: no texts"),
    ],
)
def test_wrong_references(candidates, references, message):
    with pytest.raises(InputError, match=message):
        tb.mbr(candidates, references=references)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"weights: expected one per reference \(2\), found 1"),
        ([1, 2, 3], r"weights: expected one per reference \(2\), found 3"),
        ([1, -1], r"weights: weight 2 is -1.0 \(expected a finite number"),
        ([float("nan"), 1], "weights: weight 1 is nan"),
        ([float("inf"), 1], "weights: weight 1 is inf"),
        ([0, 0], "weights: the sum must be positive"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(InputError, match=message):
        tb.mbr(["a", "b"], weights=weights)
    with pytest.raises(InputError, match=message.replace("weights:", "weights of source 2:")):
        tb.mbr([["a"], ["a", "b"]], weights=[[1], weights])


@pytest.mark.parametrize(
    ("candidates", "weights", "error", "message"),
    [
        (["a", "b"], ["x", "y"], TypeError, "weights: expected a list of numbers"),
        (["a", "b"], 0.5, TypeError, "weights: expected a list of numbers"),
        ([["a"], ["b"]], [[1]], InputError, r"expected one list per source \(2\), found 1"),
        ([["a", "b"]], [1, 1], InputError, r"expected one list per source \(1\), found 2"),
        ([["a"], ["b"]], [1, 1], TypeError, "weights of source 1: expected a list of numbers"),
    ],
)
def test_weights_of_the_wrong_type(candidates, weights, error, message):
    with pytest.raises(error, match=message):
        tb.mbr(candidates, weights=weights)
