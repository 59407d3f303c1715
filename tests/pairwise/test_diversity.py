"""Diversity of texts: self-BLEU, pairwise diversity, distinct n-grams."""

import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations

import hypothesis.strategies as st
import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from oracle_self_bleu import ngrams, plain_self_bleu

from truebleu import BLEU, CHRF, TER, InputError
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.nist import NIST
from truebleu.pairwise.diversity import Distinct, distinct_n, pairwise_diversity, self_bleu
from truebleu.text.tokenizers import make_tokenizer

WORDS = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)
SETS = st.lists(WORDS, min_size=2, max_size=7)


@pytest.fixture(scope="module")
def outputs(wmt22):
    """Return the outputs of all systems of WMT22's English to German, segment by segment."""
    paths = sorted((wmt22 / "system-outputs").glob("generaltest2022.en-de.hyp.*.de"))
    columns = [path.read_text(encoding="utf-8").splitlines() for path in paths]
    return list(zip(*columns, strict=True))


# ---- self-BLEU ----


def texygen(sentences, order):
    """SelfBleu.get_bleu_parallel of Texygen's utils/metrics/SelfBleu.py, on white space, in %."""
    tokens = [sentence.split() for sentence in sentences]
    smoothing = SmoothingFunction().method1
    return [
        100 * sentence_bleu(tokens[:i] + tokens[i + 1 :], one, (1 / order,) * order, smoothing)
        for i, one in enumerate(tokens)
    ]


@given(SETS, st.integers(2, 5))
def test_self_bleu_is_texygens(sentences, order):
    scores = texygen(sentences, order)
    result = self_bleu(sentences, max_order=order)
    assert result.details()["segments"] == scores
    assert result.value == sum(scores) / len(scores)


RULES = [
    *(("closest", tie) for tie in ("shorter", "first", "longer")),
    *((rule, "shorter") for rule in ("shortest", "longest", "average", "average-truncated")),
]


def score_with_all_others(metric, texts):
    """Return the definition of self-BLEU: each text's score with all others as references."""
    return [metric.sentence(text, texts[:i] + texts[i + 1 :]).value for i, text in enumerate(texts)]


@pytest.mark.parametrize(("rule", "tie"), RULES)
@given(sentences=SETS, smoothing=st.sampled_from(["exp", "floor", "add-k", "none"]))
def test_one_pass_gives_what_all_pairs_give(rule, tie, sentences, smoothing):
    metric = BLEU("none", reference_length=rule, tie=tie, smoothing=smoothing)
    expected = score_with_all_others(metric, sentences)
    assert self_bleu(sentences, metric=metric).details()["segments"] == expected


METRICS = [
    BLEU(),
    BLEU("intl", lowercase=True),
    BLEU("none", lowercase="after", max_order=2),
    BLEU("none", lowercase="ascii", weights=(0.5, 0.3, 0.1, 0.1)),
    BLEU(str.split, smoothing="tiny"),
    BLEU("char", smoothing="none", max_order=6),
    BLEU(reference_length="average", smoothing="add-k-all"),
    BLEU(reference_length="average-truncated", brevity_penalty="plus-one"),
    BLEU(missing_order="at-least-one", arithmetic="nltk", smoothing="floor"),
    BLEU(missing_order="one", arithmetic="float32"),
    BLEU(arithmetic="codenn", smoothing="add-k-all", no_match="smoothed"),
    BLEU(arithmetic="coco", smoothing="epsilon", brevity_penalty="coco", no_match="smoothed"),
]


@pytest.mark.thorough
@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("workers", [1, 3])
def test_real_text_has_the_bits_of_the_definition(corpus, metric, workers):
    texts = [*corpus[0][40:80], *corpus[1][60:80], "", "a"]
    split = make_tokenizer(metric.tokenize, metric.lowercase)
    expected = plain_self_bleu(metric, [split(text) for text in texts])
    result = self_bleu(texts, metric=metric, workers=workers)
    assert result.details()["segments"] == expected
    assert result.value == sum(expected) / len(expected)


@pytest.mark.parametrize("metric", [CHRF(), TER(), GLEU("none")], ids=repr)
def test_self_bleu_with_any_metric(metric):
    sentences = ["the cat sat", "the cat sat down", "a dog", ""] * 10
    score = self_bleu(sentences, metric=metric, workers=2)
    expected = score_with_all_others(metric, sentences)
    assert score.details()["segments"] == expected
    assert score.value == sum(expected) / len(expected)
    assert str(score.signature).startswith(f"texts:40|metric:{metric.name}|")


def test_self_bleu_of_a_sample():
    sentences = ["a b c d", "a b c e", "x y z w"]
    assert self_bleu(sentences, sample=2).value == self_bleu(sentences[:2]).value
    assert self_bleu(sentences, sample=9).value == self_bleu(sentences).value


def test_self_bleu_of_tokens_files_and_columns(write):
    pa = pytest.importorskip("pyarrow")
    sentences = ["a b c d", "a b c e", "x y z w a b"]
    expected = self_bleu(sentences)
    assert self_bleu([text.split() for text in sentences]) == expected
    assert self_bleu(pa.array(sentences)) == expected
    path = write("texts", sentences)
    assert self_bleu(path) == expected
    assert self_bleu(path, sample=2) == self_bleu(sentences[:2])
    assert self_bleu(path, metric=CHRF()) == self_bleu(sentences, metric=CHRF())


@pytest.mark.parametrize(
    ("texts", "options", "error", "message"),
    [
        (["alone"], {}, InputError, "expected at least 2"),
        ([], {}, InputError, "expected at least 2"),
        (["alone"], {"metric": CHRF()}, InputError, "expected at least 2"),
        ("alone", {}, TypeError, "one str per segment"),
        (["a", None], {}, InputError, r"texts: segment 2 is missing .*Every text is required"),
        (["a", None], {"metric": CHRF()}, InputError, "texts: text 2 is missing"),
        (["a", 2], {}, TypeError, "texts: segment 2 is of type int"),
        ([["a"], ["b"]], {"metric": BLEU()}, InputError, "texts: segment 1 is a list"),
        (["a", "b"], {"metric": 7}, TypeError, r"truebleu.CHRF\(\), or a name, not 7"),
        (["a", "b"], {"metric": BLEU(), "max_order": 3}, ValueError, "only to the default metric"),
        (["a"] * 3, {"metric": BLEU(reference_length="single")}, InputError, "supports only one"),
        (["a", "b"], {"workers": 0}, ValueError, "workers=0: expected a whole number of 1 or more"),
        (["a", "b"], {"workers": "2"}, ValueError, "expected a whole number of 1 or more"),
    ],
)
def test_self_bleu_refuses_unsuitable_arguments(texts, options, error, message):
    with pytest.raises(error, match=message):
        self_bleu(texts, **options)


def test_self_bleu_refuses_missing_text_in_arrow_columns():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match=r"texts: segment 2 is missing .*Every text is required"):
        self_bleu(pa.array(["a", None]))


@pytest.mark.parametrize("sample", [-1, 0, 1, 2.5, "2", True])
def test_self_bleu_refuses_samples_that_are_too_small(sample):
    with pytest.raises(ValueError, match=f"sample={sample!r}: expected a whole number of 2 or"):
        self_bleu(["a", "b"], sample=sample)


FEW_THREADS = """
import resource
from pathlib import Path
from truebleu import self_bleu
texts = [f"the cat {i} sat with {i * i} dogs" for i in range(2000)]
expected = self_bleu(texts)
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (256 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
assert self_bleu(texts, workers=1000) == expected
"""


@pytest.mark.skipif(sys.platform != "linux", reason="where memory can be limited so")
def test_threads_that_the_system_does_not_grant_are_done_without():
    # Stacks so large that only five fit, plus the memory that threads need in addition.
    limits = {"RUST_MIN_STACK": str(48 << 20), "MALLOC_ARENA_MAX": "1"}
    subprocess.run([sys.executable, "-c", FEW_THREADS], check=True, env=os.environ | limits)


def test_texts_without_tokens():
    assert self_bleu(["", ""]).value == 0
    assert self_bleu(["", "a b c d", "a b c d"], metric=BLEU()).details()["segments"][0] == 0


# ---- pairwise diversity ----


def mean_of_pairs(metric, texts):
    """Return the definition, pair by pair."""
    means = []
    for i, text in enumerate(texts):
        other_texts = [other for j, other in enumerate(texts) if j != i]
        scores = [metric.sentence(text, [other]).value for other in other_texts]
        means.append(math.fsum(scores) / len(scores))
    return math.fsum(means) / len(means)


@pytest.mark.parametrize("metric", [BLEU(), CHRF(), TER(), GLEU("none")], ids=repr)
def test_pairwise_diversity_is_its_definition(metric):
    texts = ["the cat sat on the mat", "the cat sat down", "a dog sat on the mat"]
    texts.append(texts[1])
    score = pairwise_diversity(texts, metric=metric)
    assert score.pairwise == mean_of_pairs(metric, texts)
    assert score.value == (score.pairwise if metric.LOWER_IS_BETTER else 100 - score.pairwise)
    assert score.sources == [score.pairwise]
    assert score.details()["pairs"] == 12


def test_pairwise_diversity_of_many_sources(outputs):
    sources = [list(segment) for segment in outputs[:20]]
    sources[3] = sources[3][:2]
    score = pairwise_diversity(sources, workers=2)
    means = [mean_of_pairs(BLEU(), texts) for texts in sources]
    assert score.sources == means
    assert score.pairwise == math.fsum(means) / 20
    assert str(score.signature).startswith("sources:20|pairs:pairs|metric:BLEU|case:mixed|eff:yes|")
    assert score.verbose == f"(pairwise BLEU = {score.pairwise:.2f}, 1,370 pairs)"


def test_pairwise_bleu_of_shen_et_al(outputs):
    """`pairwise` of fairseq's examples/translation_moe/score.py."""
    sources = [list(segment) for segment in outputs[:20]]
    pairs = [pair for texts in sources for pair in permutations(texts, 2)]
    references, hypotheses = zip(*pairs, strict=True)
    expected = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none").score
    score = pairwise_diversity(sources, metric=BLEU("none"), aggregate="corpus")
    assert score.pairwise == expected
    assert score.value == 100 - expected
    assert score.sources is None
    metric = BLEU("none", aggregate="segments")
    mean = pairwise_diversity(sources, metric=metric, aggregate="corpus")
    scores = [BLEU("none").sentence(hyp, ref).value for ref, hyp in pairs]
    assert mean.pairwise == pytest.approx(sum(scores) / len(scores))


def test_order_does_not_matter():
    texts = [f"{a} b c d e {b}" for a in "xyz" for b in "uvw"]
    shuffled = random.Random(1).sample(texts, 9)
    assert pairwise_diversity(texts).value == pairwise_diversity(shuffled).value


@pytest.mark.parametrize(
    ("texts", "options", "error", "message"),
    [
        (["alone"], {}, InputError, "texts: expected at least 2 texts, found 1"),
        ([["a", "b"], ["c"]], {}, InputError, "texts, source 2: expected at least 2 texts"),
        ([], {}, InputError, "texts: no texts"),
        ([["a", "b"], [None, "c"]], {}, InputError, "texts: source 2: text 1 is missing"),
        (["a", None], {}, InputError, "texts: text 2 is missing"),
        ([["a", "b"], "c"], {}, TypeError, "texts: source 2 is of type str"),
        ([[1, 2]], {}, TypeError, "text 1 is of type int"),
        ("alone", {}, TypeError, "single str"),
        (["a", "b"], {"aggregate": "mean"}, ValueError, "unknown aggregate 'mean'; available: pa"),
        (["a", "b"], {"metric": BLEU}, TypeError, "BLEU is a class"),
        (["a", "b"], {"metric": NIST()}, ValueError, "NIST has no upper bound"),
    ],
)
def test_pairwise_diversity_of_wrong_sets(texts, options, error, message):
    with pytest.raises(error, match=message):
        pairwise_diversity(texts, **options)


# ---- distinct n-grams ----


def plain_distinct(tokens, n):
    ngram_counts = [ngrams(text, n) for text in tokens]
    everything = sum(ngram_counts, Counter())
    ratios = [len(one) / one.total() if one else 0.0 for one in ngram_counts]
    return len(everything), everything.total(), math.fsum(ratios) / len(ratios)


@given(st.lists(WORDS, min_size=1, max_size=7), st.integers(1, 5))
def test_distinct_is_what_a_counter_says(texts, n):
    tokens = [text.split() for text in texts]
    distinct, total, mean = plain_distinct(tokens, n)
    if not total:
        with pytest.raises(InputError, match=f"no text has a {n}-gram"):
            distinct_n(texts, n)
        return
    result = distinct_n(texts, n)
    assert (result.distinct, result.ngrams, result.mean) == (distinct, total, mean)
    assert float(result) == result.value == distinct / total
    assert result.per_token == distinct / sum(map(len, tokens))
    assert result.texts == len(texts)
    assert result.shorter == sum(len(text) < n for text in tokens)


@pytest.mark.parametrize("tokenize", ["13a", "char", "zh", str.split])
def test_distinct_with_any_tokenizer(corpus, tokenize):
    texts = corpus[0]
    split = make_tokenizer(tokenize, lowercase=True)
    distinct, total, mean = plain_distinct([split(text) for text in texts], 3)
    result = distinct_n(texts, 3, tokenize=tokenize, lowercase=True)
    assert (result.distinct, result.ngrams, result.mean) == (distinct, total, mean)


def test_expectation_adjusted_distinct():
    """N / (V (1 - ((V - 1) / V)^C)) of Liu et al. (2022)."""
    for vocabulary in (2, 10, 50_000, 250_000**3, 10**400):
        result = distinct_n(["a b a", "b c"], 1, vocabulary=vocabulary)
        size = Fraction(vocabulary)
        exact = float(3 / (size * (1 - ((size - 1) / size) ** 5)))
        assert result.expectation_adjusted == pytest.approx(exact, rel=1e-15)
    assert distinct_n(["a b a"], 1).expectation_adjusted is None
    assert distinct_n(["a a"], 1, vocabulary=1).expectation_adjusted == 1


def test_distinct_prints_and_serializes():
    result = distinct_n(["a b a b", "b"], 2)
    assert str(result) == "distinct-2 = 0.6667 (2 of 3; mean of texts 0.3333)"
    assert json.loads(result.to_json()) == result.to_dict()
    assert result == distinct_n([["a", "b", "a", "b"], ["b"]], 2)
    assert result != distinct_n(["a b a b", "b"], 1)
    assert isinstance(result, Distinct)
    assert hash(result) == hash(distinct_n(["a b a b", "b"], 2))


@pytest.mark.parametrize(
    ("texts", "n", "options", "error", "message"),
    [
        *(
            (["a b"], n, {}, ValueError, "expected a whole number of 1 or more")
            for n in (0, -1, 1.5, True)
        ),
        (["a b"], 2, {"vocabulary": 0}, ValueError, "vocabulary=0"),
        ([], 2, {}, InputError, "texts: no texts"),
        (["a b", ""], 3, {}, InputError, "no text has a 3-gram; the longest has 2 tokens"),
        ([None], 2, {}, InputError, "texts: segment 1 is missing"),
        ("a b", 2, {}, TypeError, "single str"),
        (["a b"], 2, {"tokenize": "14a"}, ValueError, "unknown tokenizer '14a'; did you mean '13a"),
        (["a b"], 2, {"lowercase": "yes"}, ValueError, "unknown lowercase 'yes'"),
    ],
)
def test_distinct_of_wrong_input(texts, n, options, error, message):
    with pytest.raises(error, match=message):
        distinct_n(texts, n, **options)


def test_distinct_accepts_integers_of_numpy():
    assert distinct_n(["a b a"], np.int64(2)) == distinct_n(["a b a"], 2)
