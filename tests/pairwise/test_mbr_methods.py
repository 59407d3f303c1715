"""The methods of minimum Bayes risk that score less than every pair, and how they choose."""

import json
import random
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_mbr import against_sum, pruned

import truebleu as tb
from truebleu import BLEU, CHRF, NIST, TER, InputError

METRICS = [
    BLEU("none"),
    BLEU("none", smoothing="add-k", max_order=3),
    BLEU("none", effective_order=False),
    CHRF(),
    CHRF(word_order=2),
    CHRF(eps_smoothing=True),
]
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "ab", "the", "😀"]), max_size=7).map(" ".join)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@settings(max_examples=60)
@given(
    candidates=st.lists(TEXTS, min_size=1, max_size=5),
    references=st.lists(TEXTS, min_size=1, max_size=5),
    data=st.data(),
)
def test_the_aggregate_is_a_sum_of_n_grams(metric, candidates, references, data):
    choose = partial(tb.mbr, candidates, utility=metric, method="aggregate")
    choice = choose(references=references)
    assert choice.expected == [against_sum(metric, one, references) for one in candidates]
    assert choice.seen == (1,) * len(candidates)
    size = len(references)
    weights = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
    weighted = choose(references=references, weights=weights)
    sums = [against_sum(metric, one, references, weights) for one in candidates]
    assert weighted.expected == sums
    # A weight of 2 is a reference that is there twice.
    repeated = [one for one, times in zip(references, weights, strict=True) for _ in range(times)]
    assert choose(references=repeated).expected == sums


@pytest.mark.parametrize("metric", [BLEU(), BLEU("zh"), CHRF(), BLEU("multi-bleu")], ids=repr)
def test_of_one_reference_the_aggregate_is_its_score(metric):
    candidates = ["the cat sat on the mat", "a cat, sat", "", "cat"]
    reference = "the cat sat on a mat."
    choice = tb.mbr(candidates, references=[reference], utility=metric, method="aggregate")
    assert choice.expected == [metric.sentence(one, reference).value for one in candidates]


@pytest.mark.parametrize("method", ["aggregate", "pruned"])
def test_many_sources_are_as_one_each(sources, samples, method):
    for metric in (BLEU(), CHRF()):
        for sets in (sources, samples[:5]):
            choices = tb.mbr(sets, utility=metric, method=method, workers=2)
            assert choices == [tb.mbr(one, utility=metric, method=method) for one in sets]


def test_the_aggregate_of_chrf_is_that_of_fastchrf(sources):
    fastchrf = pytest.importorskip("fastchrf")
    fastchrf_scores = fastchrf.aggregate_chrf(sources, sources)
    own_scores = [tb.mbr(one, utility="chrf", method="aggregate").expected for one in sources]
    assert [list(one) for one in own_scores] == fastchrf_scores


@pytest.mark.parametrize(("metric", "min_share"), [("chrf", 0.6), ("bleu", 0.4)])
def test_the_aggregate_chooses_nearly_the_best(sources, metric, min_share):
    exact = tb.mbr(sources, utility=metric)
    fast = tb.mbr(sources, utility=metric, method="aggregate")
    same = [one.best == other.best for one, other in zip(exact, fast, strict=True)]
    assert sum(same) / len(same) > min_share
    # If the choice differs, it is hardly worse.
    lost = [one.value - one.expected[other.index] for one, other in zip(exact, fast, strict=True)]
    assert min(lost) >= 0
    assert sum(lost) / len(lost) < 1


@pytest.mark.parametrize("utility", [TER(), "gleu", "rouge-l", len, "nist"])
def test_what_cannot_be_added_up_is_refused(utility):
    with pytest.raises(ValueError, match="method='aggregate' sums the n-grams"):
        tb.mbr(["a", "b"], utility=utility, method="aggregate")


def test_the_aggregate_counts_in_whole_numbers():
    with pytest.raises(InputError, match=r"weights: weight 2 is 0\.5; method='aggregate' requires"):
        tb.mbr(["a", "b"], method="aggregate", weights=[1, 0.5])
    with pytest.raises(InputError, match=r"weights of source 1: the sum must be below 2\^31"):
        tb.mbr([["a", "b"]], method="aggregate", weights=[[1 << 31, 1]])


def test_sums_of_other_texts_than_there_are_are_refused():
    pairs = CHRF()._make_pairs(["a", "b"], ["a", "b"], 1)
    for sets in ([(1, 1)], [(2, 2), (1, 0)], [(2**63, 1), (2**63, 1)]):
        with pytest.raises(ValueError, match="sets: expected sizes with a total of 2 hypoth"):
            pairs.against_sums(sets, None)
    for weights in ([1], [2**31, 0], [2**30, 2**30]):
        with pytest.raises(ValueError, match="weights: expected one per reference"):
            pairs.against_sums([(2, 2)], weights)
    # Different sets have different sums.
    assert len(pairs.against_sums([(1, 1), (1, 1)], [2**30, 2**30])) == 2


@pytest.fixture(scope="module")
def samples(sources):
    """64 candidates of each of some segments: systems' outputs, of which words are left out."""
    generator = random.Random(20)

    def without(text):
        return " ".join(word for word in text.split() if generator.random() > 0.15)

    return [[without(one[i % len(one)]) for i in range(64)] for one in sources[::3]]


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
def test_pruning_is_its_papers_algorithm(samples, weighted):
    metric = CHRF()
    for candidates in samples[:6]:
        different = list(dict.fromkeys(candidates))
        weights = [1 + i % 3 for i in range(len(candidates))] if weighted else None
        choice = tb.mbr(candidates, utility=metric, method="pruned", weights=weights, seed=7)
        score = lambda h, r: metric.sentence(h, r).value  # noqa: E731
        seen, expected = pruned(score, different, candidates, 0.99, 7, weights)
        place = {text: i for i, text in enumerate(different)}
        assert list(choice.seen) == [seen[place[text]] for text in candidates]
        oracle_scores = [expected[place[text]] for text in candidates]
        assert list(choice.expected) == pytest.approx(oracle_scores)


def test_pruning_scores_less_and_chooses_the_same(samples):
    exact = tb.mbr(samples, utility="chrf")
    fast = tb.mbr(samples, utility="chrf", method="pruned")
    assert sum(a.best == b.best for a, b in zip(exact, fast, strict=True)) / len(exact) > 0.7
    lost = [one.value - one.expected[other.index] for one, other in zip(exact, fast, strict=True)]
    assert sum(lost) / len(lost) < 0.2
    for exact_choice, fast_choice in zip(exact, fast, strict=True):
        assert sum(fast_choice.seen) < sum(exact_choice.seen)
        for i, seen in enumerate(fast_choice.seen):
            if seen == len(fast_choice):
                assert fast_choice.expected[i] == exact_choice.expected[i]
        assert fast_choice.seen[fast_choice.index] == max(fast_choice.seen)


def test_pruning_calls_a_function_for_all_sources_together(samples):
    calls = []

    def utility(candidates, references):
        calls.append(len(candidates))
        return CHRF().segments(candidates, references)

    choices = tb.mbr(samples, utility=utility, method="pruned")
    assert [one.seen for one in choices] == [
        one.seen for one in tb.mbr(samples, utility="chrf", method="pruned")
    ]
    assert len(calls) == 4  # 8, 16, 32 and 64 references
    # A text that is there twice is scored once.
    assert sum(calls) < sum(sum(one.seen) for one in choices)


def test_pruning_where_low_is_good(samples):
    exact, fast = (tb.mbr(samples[0], utility=TER(), method=m) for m in ("exact", "pruned"))
    assert exact.value == min(exact.expected)
    assert exact.expected[fast.index] - exact.value < 1
    assert sum(fast.seen) < 0.75 * sum(exact.seen)


def test_pruning_scores_pairs_like_sentence():
    texts = ["the cat sat", "the cat sat down", "a dog sat down"]
    expected = [sum(NIST().sentence(one, other).value for other in texts) / 3 for one in texts]
    assert tb.mbr(texts, utility="nist", method="pruned").expected == expected


def test_the_seed_decides(samples):
    first_choice, same, *others = (
        tb.mbr(samples[0], method="pruned", seed=seed) for seed in (1, 1, 2, 3, 4)
    )
    assert first_choice == same
    assert any(first_choice.seen != other.seen for other in others)


def test_few_references_are_not_pruned():
    texts = ["the cat sat", "the cat sat down", "a dog sat down", "cats"]
    choice = tb.mbr(texts, method="pruned")
    assert choice.expected == tb.mbr(texts).expected
    assert choice.seen == (4,) * 4
    single_candidate = tb.mbr(["a"], references=["a"] * 100, method="pruned")
    assert (single_candidate.seen, single_candidate.value) == ((8,), pytest.approx(100))


@settings(max_examples=40)
@given(st.lists(TEXTS, min_size=1, max_size=30), st.sampled_from([0.5, 0.9, 0.999]))
def test_pruning_never_loses_the_order_of_what_it_saw(texts, level):
    choice = tb.mbr(texts, method="pruned", level=level)
    places = [(-choice.seen[i], -choice.expected[i], i) for i in choice.ranking]
    assert places == sorted(places)
    assert sorted(choice.ranking) == list(range(len(texts)))


def test_it_says_what_it_did(samples):
    choice = tb.mbr(samples[0], utility="chrf", method="pruned")
    head = str(choice).splitlines()[0]
    assert head.endswith(f"over 64 references (pruned, {sum(choice.seen):,} scores)")
    content = json.loads(choice.to_json())
    assert (content["method"], content["seen"]) == ("pruned", list(choice.seen))
    assert "scores)" not in str(tb.mbr(samples[0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fast"}, "unknown method 'fast'"),
        ({"method": "pruned", "level": 1.5}, "level"),
        ({"method": "pruned", "seed": -1}, "seed"),
        ({"method": "pruned", "utility": [[1.0]]}, "has no effect with precomputed scores"),
    ],
)
def test_wrong_methods(options, message):
    with pytest.raises(ValueError, match=message):
        tb.mbr(["a"], **options)
