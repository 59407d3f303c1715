"""Utilities for minimum Bayes risk: any metric, a function, or numbers."""

import array
import pickle

import numpy as np
import pytest

import truebleu as tb
from truebleu import BLEU, CHRF, InputError

CANDIDATES = ["the cat sat", "the cat sat down", "a dog sat down", "the cat sat", "cats"]


def chrf(candidates, references):
    return CHRF().segments(candidates, references)


def test_a_function_is_as_its_metric(sources):
    exact, by_function = (tb.mbr(sources, utility=utility) for utility in ("chrf", chrf))
    for exact_choice, choice in zip(exact, by_function, strict=True):
        assert choice.expected == exact_choice.expected
        assert choice.ranking == exact_choice.ranking
        assert (choice.metric, choice.signature, choice.utility) == (None, None, "chrf")
    weights = [[i + 1 for i in range(len(one))] for one in sources]
    exact, by_function = (tb.mbr(sources, utility=u, weights=weights) for u in ("chrf", chrf))
    assert [one.expected for one in exact] == [one.expected for one in by_function]


def test_a_function_sees_each_pair_of_different_texts_once():
    seen = []

    def utility(candidates, references):
        seen.extend(zip(candidates, references, strict=True))
        return [1.0] * len(candidates)

    choice = tb.mbr(CANDIDATES, utility=utility)
    different = list(dict.fromkeys(CANDIDATES))
    assert seen == [(one, other) for one in different for other in different]
    assert choice.ranking == (0, 1, 2, 3, 4)
    assert choice.seen == (5,) * 5


def test_a_function_gets_the_sources():
    calls = []

    def utility(candidates, references, sources):
        calls.append((candidates, references, sources))
        return [len(text) for text in sources]

    choices = tb.mbr([["a", "b"], ["c"]], utility=utility, sources=["one", "three"])
    assert calls == [
        (["a", "a", "b", "b", "c"], ["a", "b", "a", "b", "c"], ["one"] * 4 + ["three"])
    ]
    assert [one.value for one in choices] == [3.0, 5.0]
    assert tb.mbr(["a"], utility=utility, sources="text").value == 4.0


def test_calls_are_not_longer_than_need_be():
    sizes = []

    def utility(candidates, references):
        sizes.append(len(candidates))
        return [0.0] * len(candidates)

    texts = [str(i) for i in range(300)]
    tb.mbr([texts, texts[:2]], utility=utility)
    assert sum(sizes) == 300 * 300 + 4
    assert max(sizes) <= 1 << 16
    assert len(sizes) == 2


@pytest.mark.parametrize("kind", [list, tuple, lambda rows: array.array("d", rows), np.array])
def test_a_function_may_give_any_numbers(kind):
    choice = tb.mbr(["a", "bb"], utility=lambda candidates, _: kind([len(c) for c in candidates]))
    assert choice.expected == [1.0, 2.0]


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([1.0], InputError, "utility: f returned 1 numbers for 4 pairs of texts; expected one"),
        (None, TypeError, "utility: f returned None; expected a list of numbers, one per pair"),
        (["x"] * 4, TypeError, "utility: f returned .*; expected a list of numbers"),
        ([0.0, 1.0, float("nan"), 1.0], InputError, "f returned nan for 'b' against 'a'; expected"),
    ],
)
def test_wrong_results_of_functions(result, error, message):
    def f(_candidates, _references):
        return result

    with pytest.raises(error, match=message):
        tb.mbr(["a", "b"], utility=f)


def test_wrong_results_name_the_source():
    def f(candidates, _references):
        return [float("inf") if c == "z" else 0.0 for c in candidates]

    with pytest.raises(InputError, match="f returned inf for 'z' against 'y' of source 2"):
        tb.mbr([["a"], ["y", "z"]], utility=f)


def test_errors_of_functions_are_theirs():
    def f(_candidates, _references):
        raise LookupError("no model")

    with pytest.raises(LookupError, match="no model"):
        tb.mbr(["a"], utility=f)


def test_numbers_that_are_there(sources):
    matrices = [CHRF().matrix(one) for one in sources]
    choices = tb.mbr(sources, utility=matrices)
    exact = tb.mbr(sources, utility="chrf")
    assert [one.expected for one in choices] == [one.expected for one in exact]
    assert [one.ranking for one in choices] == [one.ranking for one in exact]
    assert tb.mbr(sources[0], utility=matrices[0]).expected == exact[0].expected
    assert tb.mbr(sources[0], utility=matrices[0].tolist()).expected == exact[0].expected
    assert choices[0].utility == "precomputed scores"
    assert pickle.loads(pickle.dumps(choices[0])) == choices[0]


def test_numbers_of_numpy():
    choice = tb.mbr(["a", "b"], utility=np.array([[0.1, 0.2, 0.9], [0.5, 0.5, 0.5]], np.float32))
    assert (choice.index, choice.references) == (1, 3)
    cube = np.arange(8.0).reshape(2, 2, 2)
    choices = tb.mbr([["a", "b"], ["c", "d"]], utility=cube)
    assert [one.expected.tolist() for one in choices] == [[0.5, 2.5], [4.5, 6.5]]
    weighted = tb.mbr(["a", "b"], utility=[[1, 0], [0, 1]], weights=[1, 3])
    assert weighted.expected == [0.25, 0.75]
    # Numbers are of candidates, not of texts: the same text may have others.
    assert tb.mbr(["a", "a"], utility=[[1.0], [2.0]]).expected == [1.0, 2.0]


@pytest.mark.parametrize(
    ("candidates", "options", "message"),
    [
        (["a"], {"utility": [[1.0], [2.0]]}, r"expected one row per candidate \(1\), found 2"),
        (["a", "b"], {"utility": [[1.0], []]}, "utility: row 2 has 0 numbers, but row 1 has 1"),
        (["a"], {"utility": [[1.0, float("nan")]]}, "utility: candidate 1, reference 2: nan"),
        (["a"], {"utility": [[1.0]], "references": ["a", "b"]}, r"one column per reference \(2\)"),
        ([["a"]], {"utility": [[[1.0]], [[1.0]]]}, r"one matrix per source \(1\), found 2"),
        ([["a"], ["b"]], {"utility": [[[1.0]], [[]]]}, "utility of source 2: row 1 has 0 numbers"),
    ],
)
def test_wrong_numbers(candidates, options, message):
    with pytest.raises(InputError, match=message):
        tb.mbr(candidates, **options)


def test_what_is_no_utility():
    with pytest.raises(TypeError, match="expected a metric, its name, a function, or a matrix"):
        tb.mbr(["a"], utility=[1.0])
    with pytest.raises(TypeError, match="expected a metric such as"):
        tb.mbr(["a"], utility=7)


def test_metrics_that_read_sources():
    candidates, sources = [["a b c", "a b"], ["c d"]], ["a x", "d"]
    metric = tb.metric("ibleu")
    choices = tb.mbr(candidates, utility="ibleu", sources=sources)
    for choice, texts, source in zip(choices, candidates, sources, strict=True):
        assert choice.expected == [
            sum(metric.sentence(h, r, source).value for r in texts) / len(texts) for h in texts
        ]
    with pytest.raises(InputError, match="sources: iBLEU needs a source text"):
        tb.mbr(candidates, utility="ibleu")
    with pytest.raises(InputError, match=r"one text per list of candidates \(2\), found 1"):
        tb.mbr(candidates, utility="ibleu", sources=["a"])
    with pytest.raises(InputError, match="sources: expected one text per list of candidates"):
        tb.mbr(candidates, utility="ibleu", sources="a")


@pytest.mark.parametrize("metric", [BLEU(), CHRF(word_order=2), BLEU("multi-bleu")], ids=repr)
def test_many_references_and_few_are_scored_alike(sources, metric):
    """A source with many candidates goes another way, between others with few."""
    many_references = [text for one in sources for text in one][:90]
    work = [sources[0], many_references, sources[1], sources[2], many_references[:50]]
    choices = tb.mbr(work, utility=metric)
    for choice, texts in zip(choices, work, strict=True):
        matrix = metric.matrix(texts)
        assert choice.expected == [sum(row) / len(texts) for row in matrix.tolist()]
