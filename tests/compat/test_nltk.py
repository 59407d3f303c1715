"""truebleu.compat.nltk against NLTK: equal values, types, warnings and exceptions."""

import copy
import fractions
import inspect
import random
import sys
import warnings
from collections import UserString, deque

import hypothesis.strategies as st
import numpy as np
import pytest
from amounts import daily, some
from nltk.translate import bleu_score as nltk_bleu
from nltk.translate import chrf_score as nltk_chrf
from nltk.translate import gleu_score as nltk_gleu
from nltk.translate import nist_score as nltk_nist
from strategies import CHARACTERS, texts

from truebleu.compat import nltk
from truebleu.compat.nltk import bleu_score, chrf_score, gleu_score, nist_score

MODULES = {
    nltk_bleu: bleu_score,
    nltk_chrf: chrf_score,
    nltk_gleu: gleu_score,
    nltk_nist: nist_score,
}
FUNCTIONS = {
    "sentence_bleu": nltk_bleu,
    "corpus_bleu": nltk_bleu,
    "modified_precision": nltk_bleu,
    "closest_ref_length": nltk_bleu,
    "brevity_penalty": nltk_bleu,
    "sentence_gleu": nltk_gleu,
    "corpus_gleu": nltk_gleu,
    "sentence_nist": nltk_nist,
    "corpus_nist": nltk_nist,
    "nist_length_penalty": nltk_nist,
    "sentence_chrf": nltk_chrf,
    "corpus_chrf": nltk_chrf,
    "chrf_precision_recall_fscore_support": nltk_chrf,
}


def described(value):
    """A value with its type, exactly: `==` alone takes 1 for 1.0 and a half for 0.5."""
    if isinstance(value, list | tuple):
        return type(value), [described(one) for one in value]
    if isinstance(value, fractions.Fraction):
        # NLTK's own class, or that of the standard library.
        own = type(value) is not fractions.Fraction
        return own, value.numerator, value.denominator, float(value), repr(value)
    return type(value), repr(value)


def outcome(function, *arguments, **named):
    """The result of a call, its warnings, and its effect on its arguments."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = described(function(*arguments, **named))
        except Exception as error:  # noqa: BLE001
            result = type(error)
    return result, [warning.category for warning in caught]


def assert_same(name, *arguments, **named):
    own = outcome(getattr(nltk, name), *copy.deepcopy(arguments), **copy.deepcopy(named))
    original = outcome(getattr(FUNCTIONS[name], name), *arguments, **named)
    assert own == original


# ---- what tokens there are ----


class Caseless(str):
    """Text that is equal whatever its case."""

    __slots__ = ()

    def __eq__(self, other):
        return str(self).lower() == str(other).lower()

    def __hash__(self):
        return hash(str(self).lower())


WORDS = ["the", "cat", "sat", "on", "mat", "."]
KINDS = {
    "words": st.sampled_from(WORDS),
    "two words": st.sampled_from(WORDS[:2]),
    "text": st.sampled_from(["a", "b", "", " ", "a b", "b\u00a0", "\x1c", "\ud800", "ß", "\u3000"]),
    "integers": st.integers(0, 3),
    "anything": st.sampled_from(
        [0, 1, 1.0, True, "1", None, (), ("a",), b"a", frozenset("a"), 0.5, np.int64(1), "a"]
    ),
    "caseless": st.sampled_from(["a", "b", Caseless("A"), Caseless("B"), Caseless("a")]),
    "unhashable": st.sampled_from(["a", "b", ["a"]]),
}
CONTAINERS = [list, list, list, tuple, deque]


@st.composite
def sequences(draw, kind=None, max_size=9):
    """The tokens of a segment, mostly of one kind in a test."""
    tokens = draw(st.lists(KINDS[kind], max_size=max_size))
    if kind in ("words", "two words") and draw(st.integers(0, 9)) == 0:
        return " ".join(tokens)  # a str, whose characters are the tokens
    return draw(st.sampled_from(CONTAINERS))(tokens)


@st.composite
def corpora(draw, max_segments=4, least_references=1):
    kind = draw(st.sampled_from(["words", "words", "two words", *KINDS]))
    number = draw(st.integers(0 if max_segments > 1 else 1, max_segments))
    hypotheses = [draw(sequences(kind)) for _ in range(number)]
    references = []
    for hypothesis in hypotheses:
        others = draw(st.lists(sequences(kind), min_size=least_references, max_size=3))
        # Something that matches, in its first part or all of it.
        if others and not isinstance(hypothesis, deque) and draw(st.booleans()):
            others[-1] = hypothesis[draw(st.integers(0, 2)) :]
        references.append(tuple(others) if draw(st.booleans()) else others)
    return references, hypotheses


def segments(least_references=1):
    return corpora(1, least_references).map(lambda pair: (pair[0][0], pair[1][0]))


# ---- BLEU ----


weights = st.one_of(
    st.just((0.25, 0.25, 0.25, 0.25)),
    st.integers(1, 6).map(lambda order: (1 / order,) * order),
    st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 1, 2.5]), max_size=6),
    st.lists(st.floats(0, 2), min_size=1, max_size=4).map(tuple),
    st.lists(
        st.lists(st.sampled_from([0.1, 0.25, 0.5]), max_size=5).map(tuple),
        max_size=4,
    ),
    st.just(np.array([0.5, 0.5])),
    st.just((0.05,) * 20),
    st.just(((0.25,) * 4, (0.5, 0.5))),
)


def custom(p_n, references, hypothesis, hyp_len):
    """A smoothing of one's own, which uses all that it is given."""
    more = len(references) + len(hypothesis) + hyp_len
    return [(p.numerator + 0.5) / (p.denominator + more) for p in p_n]


def stretched(p_n, **context):
    return [p + fractions.Fraction(1, 3) for p in p_n]


def negated(p_n, **context):
    return [-p for p in p_n]


@st.composite
def smoothings(draw):
    """A function of NLTK and the one that is to be its equal."""
    if draw(st.booleans()):
        parameters = {}
        if draw(st.booleans()):
            parameters = {
                "epsilon": draw(st.sampled_from([0.1, 1, 0, 1e-9, -0.1, 0.05])),
                "alpha": draw(st.sampled_from([5, 1.5, 0])),
                "k": draw(st.sampled_from([5, 0.5, 0])),
            }
        name = f"method{draw(st.integers(0, 7))}"
        return tuple(
            getattr(module.SmoothingFunction(**parameters), name)
            for module in (nltk_bleu, bleu_score)
        )
    own = draw(st.sampled_from([None, 0, custom, stretched, negated]))
    return own, own


def assert_same_bleu(name, references, hypotheses, smoothing, **named):
    original, own = smoothing
    expected = outcome(
        getattr(nltk_bleu, name), references, hypotheses, smoothing_function=original, **named
    )
    found = outcome(getattr(nltk, name), references, hypotheses, smoothing_function=own, **named)
    assert found == expected


@some(40, segments(), weights, smoothings(), st.booleans())
def test_sentence_bleu(pair, weights, smoothing, auto_reweigh):
    assert_same_bleu("sentence_bleu", *pair, smoothing, weights=weights, auto_reweigh=auto_reweigh)


@some(40, corpora(), weights, smoothings(), st.booleans())
def test_corpus_bleu(corpus, weights, smoothing, auto_reweigh):
    assert_same_bleu("corpus_bleu", *corpus, smoothing, weights=weights, auto_reweigh=auto_reweigh)


@some(40, corpora(3, least_references=0), smoothings())
def test_segments_without_references(corpus, smoothing):
    assert_same_bleu("corpus_bleu", *corpus, smoothing)


@some(40, segments(least_references=0), st.integers(-2, 7))
def test_modified_precision(pair, n):
    assert_same("modified_precision", *pair, n)


@some(40, segments(least_references=0), st.integers(0, 12))
def test_closest_ref_length(pair, length):
    assert_same("closest_ref_length", pair[0], length)


@some(40, st.integers(-3, 60) | st.floats(0, 50), st.integers(-3, 60) | st.floats(0, 50))
def test_brevity_penalty(reference_length, length):
    assert_same("brevity_penalty", reference_length, length)


@some(
    40,
    segments(),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 7)), max_size=5),
    st.integers(0, 7),
    st.sampled_from([None, 0, 1, 2, 30]),
)
def test_smoothing_methods_called_alone(pair, counts, method, length):
    """They give what NLTK's give of the same precisions, and change their argument as NLTK's do."""
    references, hypothesis = pair
    results = []
    for module in (nltk_bleu, bleu_score):
        precisions = [module.Fraction(*one, _normalize=False) for one in counts]
        function = getattr(module.SmoothingFunction(), f"method{method}")
        result = outcome(
            function, precisions, references=references, hypothesis=hypothesis, hyp_len=length
        )
        results.append((result, described(precisions)))
    assert results[0] == results[1]


@some(40, st.integers(-9, 9), st.integers(-9, 9), st.booleans())
def test_fractions_remember_what_they_were_given(numerator, denominator, normalize):
    results = []
    for module in (nltk_bleu, bleu_score):
        result = outcome(module.Fraction, numerator, denominator, _normalize=normalize)
        if denominator:
            one = module.Fraction(numerator, denominator, _normalize=normalize)
            others = [one + 1, one * one, -one, one / 3, copy.deepcopy(one), abs(one), one**2]
            more = [one == fractions.Fraction(1, 2), one > 0, bool(one), hash(one), float(one)]
            result = result, described(others), more
        results.append(result)
    assert results[0] == results[1]


def test_subclasses_and_replaced_methods_are_called():
    class Doubled(bleu_score.SmoothingFunction):
        def method1(self, p_n, *args, **kwargs):
            return [min(1, 2 * p) for p in super().method1(p_n)]

    references, hypothesis = [["a", "b", "c", "d"]], ["a", "b", "x", "y"]
    expected = nltk.sentence_bleu(
        references, hypothesis, smoothing_function=lambda p_n, **_: Doubled().method1(p_n)
    )
    found = nltk.sentence_bleu(references, hypothesis, smoothing_function=Doubled().method1)
    plain = nltk.SmoothingFunction().method1
    assert found == expected != nltk.sentence_bleu(references, hypothesis, smoothing_function=plain)

    changed = nltk.SmoothingFunction()
    changed.epsilon = 0.9
    values = [
        nltk.sentence_bleu(references, hypothesis, smoothing_function=changed.method1),
        nltk.sentence_bleu(
            references, hypothesis, smoothing_function=nltk.SmoothingFunction(0.9).method1
        ),
    ]
    assert values[0] == values[1]


# ---- GLEU, NIST, chrF ----


orders = st.sampled_from([(1, 4)] * 4 + [(1, 2), (2, 3), (4, 2), (0, 2), (-1, 2), (1, 20), (2, -1)])
orders |= st.sampled_from([(1, -2), (1, 0), (16, 16), (1, True)])


@some(40, segments(least_references=0), orders)
def test_sentence_gleu(pair, orders):
    assert_same("sentence_gleu", *pair, *orders)


@some(40, corpora(least_references=0), orders)
def test_corpus_gleu(corpus, orders):
    assert_same("corpus_gleu", *corpus, *orders)


def test_gleu_refuses_every_order_of_long_segments():
    assert_same("sentence_gleu", [["a"] * 300], ["a"] * 300, 1, -1)
    assert_same("sentence_gleu", [["a"] * 20], ["a"] * 30, 1, -1)


@some(40, segments(least_references=0), st.sampled_from([5, 5, 5, 1, 2, 3, 0, -1, 17, 1.5]))
def test_sentence_nist(pair, n):
    assert_same("sentence_nist", *pair, n)


@some(40, corpora(least_references=0), st.sampled_from([5, 5, 5, 1, 2, 3, 0, -1]))
def test_corpus_nist(corpus, n):
    assert_same("corpus_nist", *corpus, n)


@some(40, st.integers(0, 60) | st.floats(0, 50), st.integers(-3, 60) | st.floats(0, 50))
def test_nist_length_penalty(reference_length, length):
    assert_same("nist_length_penalty", reference_length, length)


def readable():
    """Text that is hard, or words of it, or what is no text at all."""
    hard = texts(10)
    spaced = st.text(st.sampled_from("ab \t\u00a0\u3000\x1c\x1f\x85" + CHARACTERS), max_size=12)
    words = st.lists(st.sampled_from(["ab", "a b", "", "ba"]), max_size=5)
    strange = st.sampled_from([[1, 2], UserString("ab ba"), Caseless("AB ba"), b"ab"])
    return hard | spaced | words | words.map(tuple) | words.map(" ".join) | strange


betas = st.sampled_from([3.0, 3.0, 2, 0, 1, 0.5, -1.0, np.float64(3), 1e200])


@some(
    40,
    readable(),
    readable(),
    st.sampled_from([(1, 6)] * 4 + [(2, 3), (1, 1), (3, 2), (0, 2), (-1, 2), (1, 20), (16, 16)]),
    betas,
    st.booleans(),
)
def test_sentence_chrf(reference, hypothesis, orders, beta, ignore_whitespace):
    arguments = (*orders, beta, ignore_whitespace)
    assert_same("sentence_chrf", reference, hypothesis, *arguments)
    assert_same("sentence_chrf", hypothesis, hypothesis, *arguments)


@some(
    40,
    st.lists(st.tuples(readable(), readable()), max_size=4),
    st.sampled_from([(1, 6)] * 3 + [(2, 3), (3, 2)]),
    st.sampled_from([3.0, 2, 0, 0.5]),
    st.booleans(),
)
def test_corpus_chrf(pairs, orders, beta, ignore_whitespace):
    references, hypotheses = [one for one, _ in pairs], [one for _, one in pairs]
    assert_same("corpus_chrf", references, hypotheses, *orders, beta, ignore_whitespace)


@some(40, sequences("anything"), sequences("anything"), st.integers(-1, 4), betas)
def test_chrf_precision_recall_fscore_support(reference, hypothesis, n, beta):
    name = "chrf_precision_recall_fscore_support"
    assert_same(name, reference, hypothesis, n, beta)
    assert_same(name, reference, hypothesis, n, beta, 0.5)
    assert outcome(nltk_chrf.chrf_precision_recall_fscore_support, iter(reference), "ab", 1) == (
        outcome(nltk.chrf_precision_recall_fscore_support, iter(reference), "ab", 1)
    )


@pytest.mark.parametrize("codes", daily([range(0x3100), range(sys.maxunicode + 1)], 1))
def test_white_space_is_what_nltk_takes_for_it(codes):
    for character in map(chr, codes):
        if character.isspace() or not character.isprintable():
            text = f"a{character}b"
            assert chrf_score._text(text, True) == nltk_chrf._preprocess(text, True), repr(text)


# ---- the whole of it ----


def public(module):
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    }


@pytest.mark.parametrize("original", MODULES, ids=lambda module: module.__name__)
def test_signatures(original):
    """Every public name is there, with the same arguments in the same order and defaults."""

    def arguments(function):
        return [
            (parameter.name, parameter.kind, parameter.default)
            for parameter in inspect.signature(function).parameters.values()
        ]

    for name, value in public(original).items():
        own = getattr(MODULES[original], name)
        assert own.__name__ == value.__name__
        if name != "Fraction":
            assert arguments(own) == arguments(value)
        if isinstance(value, type):
            for method, function in vars(value).items():
                if inspect.isfunction(function):
                    assert arguments(getattr(own, method)) == arguments(function)


def test_all_names_are_in_one_place():
    for module in MODULES.values():
        for name in {*FUNCTIONS, "SmoothingFunction"} & {*vars(module)}:
            assert getattr(nltk, name) is getattr(module, name)
    assert all(hasattr(nltk, name) for name in {*FUNCTIONS, "SmoothingFunction"})


@pytest.mark.parametrize("name", ["corpus_bleu", "corpus_gleu", "corpus_nist", "corpus_chrf"])
def test_lengths_must_agree(name):
    assert_same(name, [[["a"]], [["b"]]], [["a"]])
    with pytest.raises(AssertionError, match="2 entries and hypotheses 1"):
        getattr(nltk, name)([[["a"]], [["b"]]], [["a"]])


def test_wrong_things():
    for name in ("corpus_bleu", "corpus_gleu", "corpus_nist", "corpus_chrf"):
        assert_same(name, [], [])
        assert_same(name, None, [])
        assert_same(name, [None], [None])
        assert_same(name, [[None]], [["a"]])
        assert_same(name, [[["a"]]], [5])
    for name in ("sentence_bleu", "sentence_nist"):
        for references, hypothesis in [
            ([["a", "b"]], (token for token in "ab")),
            ([(token for token in "ab")], ["a", "b"]),
        ]:
            own = outcome(getattr(nltk, name), references, hypothesis)
            assert own == outcome(getattr(FUNCTIONS[name], name), references, hypothesis)
            assert own[0] is TypeError


# NLTK's own examples (bleu_score.py, gleu_score.py, nist_score.py and chrf_score.py of 3.10).

EXAMPLES = """
It is a guide to action which ensures that the military always obeys the commands of the party
It is to insure the troops forever hearing the activity guidebook that party direct
he read the book because he was interested in world history
he was interested in world history because he read the book
It is a guide to action that ensures that the military will forever heed Party commands
It is the guiding principle which guarantees the military forces always being under the command of \
the Party
It is the practical guide for the army always to heed the directions of the party
"""
HYPOTHESIS, WORSE, BOOK, BOOK_REFERENCE, *REFERENCES = [
    line.split() for line in EXAMPLES.strip().split("\n")
]


def test_the_examples_of_nltk():
    corpus = [REFERENCES, [BOOK_REFERENCE]], [HYPOTHESIS, BOOK]
    smoothing = nltk.SmoothingFunction()
    several = [(0.5, 0.5), (1 / 3, 1 / 3, 1 / 3), (0.25,) * 4]
    assert nltk.sentence_bleu(REFERENCES, HYPOTHESIS) == pytest.approx(0.5045, abs=1e-4)
    with pytest.warns(UserWarning, match="-gram in common") as caught:
        assert nltk.sentence_bleu(REFERENCES, WORSE) == pytest.approx(0, abs=1e-60)
    assert [str(warning.message).split()[4] for warning in caught] == ["3-gram", "4-gram"]
    assert nltk.sentence_bleu(REFERENCES, WORSE, smoothing_function=smoothing.method1) == (
        pytest.approx(0.0370, abs=1e-4)
    )
    assert nltk.sentence_bleu(REFERENCES, HYPOTHESIS, (0.2,) * 5) == pytest.approx(0.3920, abs=1e-4)
    assert nltk.sentence_bleu(REFERENCES, HYPOTHESIS, several) == pytest.approx(
        [0.7453, 0.6240, 0.5045], abs=1e-4
    )
    assert nltk.corpus_bleu(*corpus) == pytest.approx(0.5920, abs=1e-4)
    assert nltk.corpus_bleu(*corpus, weights=(0.1, 0.3, 0.5, 0.1)) == pytest.approx(
        0.5818, abs=1e-4
    )
    methods = [0.4118, 0.4118, 0.4452, 0.4118, 0.4118, 0.4905, 0.4135, 0.4905]
    for number, expected in enumerate(methods):
        function = getattr(smoothing, f"method{number}")
        value = nltk.sentence_bleu(REFERENCES[:1], HYPOTHESIS, smoothing_function=function)
        assert value == pytest.approx(expected, abs=1e-4)
    cat = [
        ["the", "cat", "is", "on", "the", "mat"],
        ["there", "is", "a", "cat", "on", "the", "mat"],
    ]
    assert float(nltk.modified_precision(cat, ["the"] * 7, n=1)) == pytest.approx(2 / 7)
    assert float(nltk.modified_precision(REFERENCES, HYPOTHESIS, 2)) == 0.5882352941176471
    assert nltk.brevity_penalty(28, 12) == 0.2635971381157267
    assert nltk.closest_ref_length([["a"] * 13, ["a"] * 11], 12) == 11
    assert nltk.sentence_gleu([REFERENCES[0]], HYPOTHESIS) == pytest.approx(0.4393, abs=1e-4)
    assert nltk.sentence_gleu([REFERENCES[0]], WORSE) == pytest.approx(0.1206, abs=1e-4)
    assert nltk.corpus_gleu(*corpus) == pytest.approx(0.5673, abs=1e-4)
    assert nltk.sentence_nist(REFERENCES, HYPOTHESIS) == pytest.approx(3.3709, abs=1e-4)
    assert nltk.sentence_nist(REFERENCES, WORSE) == pytest.approx(1.4619, abs=1e-4)
    assert nltk.sentence_chrf(REFERENCES[0], HYPOTHESIS) == pytest.approx(0.6349, abs=1e-4)
    assert nltk.sentence_chrf(REFERENCES[0], HYPOTHESIS, min_len=2, max_len=3) == pytest.approx(
        0.6617, abs=1e-4
    )
    first, second = REFERENCES[:2]
    assert nltk.corpus_chrf(
        [first, second, first, second], [HYPOTHESIS, " ".join(WORSE), " ".join(WORSE), HYPOTHESIS]
    ) == pytest.approx(0.3910, abs=1e-4)


def test_the_warning_names_the_function_and_says_what_to_do():
    with pytest.warns(UserWarning, match="smoothing method of SmoothingFunction") as caught:
        nltk.sentence_bleu([["a", "b"]], ["a", "c"])
    assert [warning.filename for warning in caught] == [bleu_score.__file__] * 3


@pytest.mark.parametrize(
    ("languages", "size"),
    daily([("de-en:A,B", 30), ("en-zh:A,B", 15), ("de-en:A,B", 150), ("en-zh:A,B", 150)], 2),
)
def test_real_text(wmt22, languages, size):
    """Segments of WMT22 with two references, in words and in characters."""
    pair, names = languages.split(":")
    target = pair.split("-")[1]
    prefix = f"generaltest2022.{pair}"
    outputs = wmt22 / "system-outputs" / f"{prefix}.hyp.Online-B.{target}"
    split = list if target == "zh" else str.split
    columns = [
        [split(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        for path in [
            outputs,
            *(wmt22 / "references" / f"{prefix}.ref.{name}.{target}" for name in names.split(",")),
        ]
    ]
    chosen = random.Random(4).sample(list(zip(*columns, strict=True)), size)
    hypotheses = [one[0] for one in chosen]
    references = [list(one[1:]) for one in chosen]
    for name in ("corpus_bleu", "corpus_gleu", "corpus_nist"):
        assert_same(name, references, hypotheses)
        for pair in zip(references, hypotheses, strict=True):
            assert_same(name.replace("corpus", "sentence"), *pair)
    for method in range(8):
        smoothing = [
            getattr(module.SmoothingFunction(), f"method{method}")
            for module in (nltk_bleu, bleu_score)
        ]
        assert_same_bleu("corpus_bleu", references, hypotheses, smoothing)
        for pair in zip(references, hypotheses, strict=True):
            assert_same_bleu("sentence_bleu", *pair, smoothing)
    firsts = [one[0] for one in references]
    assert_same("corpus_chrf", firsts, hypotheses)
    assert_same("corpus_chrf", firsts, hypotheses, ignore_whitespace=False)
    for pair in zip(firsts, hypotheses, strict=True):
        assert_same("sentence_chrf", *pair)
