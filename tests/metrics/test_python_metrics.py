"""Tests of NIST, both GLEUs, NLTK, CodeBLEU and cdec, compared with their programs."""

import warnings
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from nltk.translate import bleu_score, gleu_score, nist_score
from textbook_examples import GUIDE, GUIDE_REFERENCES, TROOPS

import truebleu
from truebleu import InputError
from truebleu.metrics.cdec import CdecBLEU
from truebleu.metrics.codebleu import KEYWORDS, CodeBLEU
from truebleu.metrics.gec_gleu import GECGLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.nist import NIST
from truebleu.metrics.nltk_bleu import NLTKBLEU
from truebleu.metrics.pairwise_scores import round_to_single

BOOK = "he read the book because he was interested in world history"
BOOK_REFERENCE = "he was interested in world history because he read the book"


@pytest.fixture(scope="module")
def online_b(wmt22):
    """Return WMT22 de-en: Online-B, reference A, and references A and B."""

    def read_lines(name):
        return (wmt22 / name).read_text(encoding="utf-8").split("\n")[:-1]

    first, second = (read_lines(f"references/generaltest2022.de-en.ref.{name}.en") for name in "AB")
    system = read_lines("system-outputs/generaltest2022.de-en.hyp.Online-B.en")
    return system, first, list(zip(first, second, strict=True))


def split_tokens(corpus):
    hypotheses, references = corpus
    tokens = [hypothesis.split() for hypothesis in hypotheses]
    return tokens, [[reference.split() for reference in several] for several in references]


def draw_words(vocabulary: str = "a b c d e 0", longest: int = 9) -> st.SearchStrategy[str]:
    """Draw few distinct tokens, so that long n-grams match, repeat and are clipped."""
    return st.lists(st.sampled_from(vocabulary.split()), max_size=longest).map(" ".join)


def few_words(segment: st.SearchStrategy[str]) -> st.SearchStrategy:
    pairs = st.tuples(segment, st.lists(segment, min_size=1, max_size=3).map(tuple))
    return st.lists(pairs, min_size=1, max_size=4).map(
        lambda pairs: tuple(zip(*pairs, strict=True))
    )


CORPORA = few_words(draw_words())


# NIST


def test_mteval_treats_token_0_as_missing_history(online_b):
    """This is the only difference between mteval and NLTK with one reference."""
    hypotheses, first, _ = online_b
    nltk = NIST(variant="nltk").score(hypotheses, first).value
    assert NIST(variant="doddington").score(hypotheses, first).value == pytest.approx(
        nltk, rel=1e-12
    )
    assert NIST().score(hypotheses, first).value > nltk


# Printed by mteval-v13a.pl -c -d 2 on SGML files of these segments, one document.
ZEROS = ["a 0 b 0 c d", "0 a 0 b"], [("a 0 b 0 c", "0 0 a b"), ("0 a 0 c", "a 0 b 0 b")]
CATS = ["the cat sat on the mat .", " a dog"], ["the cat is on the mat .", "the dog ran ."]
NUMBERS = (
    ["5,000.50 &amp; more", "x y z"],
    [("5,000.50 &amp; less", "nothing &lt; more"), ("x y z w", "z y x")],
)
NIST_OF_MTEVAL = [
    ([GUIDE, TROOPS], [GUIDE_REFERENCES] * 2, "3.8618", []),
    ([GUIDE, TROOPS], list(GUIDE_REFERENCES[::2]), "2.4350", ["3.0832", "1.4812"]),
    (*ZEROS, "4.6962", ["4.4514", "4.2623"]),
    (*CATS, "2.2617", ["2.8978", "0.2282"]),
    (*NUMBERS, "3.6018", ["3.7004", "3.3477"]),
]


@pytest.mark.parametrize(("hypotheses", "references", "score", "segments"), NIST_OF_MTEVAL)
def test_nist_equals_mteval(hypotheses, references, score, segments):
    assert f"{NIST().score(hypotheses, references).value:.4f}" == score
    if segments:
        printed = [f"{one:.4f}" for one in NIST().segments(hypotheses, references)]
        assert printed == segments


def score_nist_with_nltk(references, hypotheses):
    try:
        return nist_score.corpus_nist(references, hypotheses)
    except ZeroDivisionError:  # no hypothesis of 5 tokens, or references without any token
        return None


@given(CORPORA)
def test_nist_equals_nltk(corpus):
    tokens, references = split_tokens(corpus)
    expected = score_nist_with_nltk(references, tokens)
    if expected is not None:
        published = NIST("none", variant="nltk").score(*corpus).published
        assert published == pytest.approx(expected, rel=1e-14)


@given(CORPORA)
def test_nist_is_independent_of_segment_order(corpus):
    hypotheses, references = corpus
    metric = NIST("none")
    turned = metric.score(hypotheses[::-1], references[::-1]).value
    assert metric.score(hypotheses, references).value == pytest.approx(turned, rel=1e-13)


# GLEU


def test_gleu_equals_nltk_documentation():
    metric = GLEU("none")
    assert round(metric.sentence(GUIDE, GUIDE_REFERENCES[0]).published, 4) == 0.4394
    corpus = [GUIDE, BOOK], [GUIDE_REFERENCES, (BOOK_REFERENCE,)]
    assert str(metric.score(*corpus).published).startswith("0.5673")


@given(CORPORA, st.integers(1, 3), st.integers(0, 3))
def test_gleu_equals_nltk(corpus, min_order, extra_orders):
    tokens, references = split_tokens(corpus)
    metric = GLEU("none", min_order=min_order, max_order=min_order + extra_orders)
    expected = gleu_score.corpus_gleu(references, tokens, min_order, min_order + extra_orders)
    assert metric.score(*corpus).published == expected
    sentences = [
        gleu_score.sentence_gleu(several, one, min_order, min_order + extra_orders)
        for several, one in zip(references, tokens, strict=True)
    ]
    assert metric.segments(*corpus).tolist() == [100 * value for value in sentences]
    assert metric.sentence(corpus[0][0], corpus[1][0]).published == sentences[0]


# cnap/gec-ranking, scripts/gleu.py and compute_gleu, with Python 2's ranges and random.randint.
GEC = (
    ["He goes to school every day .", "She like apples", "They was late yesterday ."],
    [
        ("He goes to school every day .", "He attends school daily ."),
        ("She likes apples .", "She likes apples"),
        ("They were late yesterday .", "Yesterday they were late ."),
    ],
    ["He go to school every day .", "She like apple", "They was late yesterday ."],
)


def test_gec_gleu_equals_original():
    hypotheses, references, sources = GEC
    metric = GECGLEU()
    assert metric.score(*GEC).published == pytest.approx(0.2735779999611736, rel=1e-13)
    assert metric.segments(*GEC).tolist() == pytest.approx(
        [59.2875289995668, 54.83829220569697, 34.988645205960106], rel=1e-14
    )
    first = [several[0] for several in references]
    assert metric.score(hypotheses, first, sources).published == pytest.approx(
        0.5679027230663378, rel=1e-14
    )


def test_gec_gleu_of_wmt22_equals_original(online_b, wmt22):
    """Online-B serves as a correction of Online-W; scores are from the original program."""
    hypotheses, first, reference_pairs = online_b
    path = wmt22 / "system-outputs/generaltest2022.de-en.hyp.Online-W.en"
    sources = path.read_text(encoding="utf-8").split("\n")[:-1]
    assert GECGLEU().score(hypotheses, first, sources).published == 0.11886443381043271
    random_score = GECGLEU().score(hypotheses, reference_pairs, sources).published
    assert random_score == pytest.approx(0.13202105091426602, rel=1e-13)
    mean_score = GECGLEU(draw="each").score(hypotheses, reference_pairs, sources).published
    assert mean_score == pytest.approx(random_score, rel=0.01)


def test_gec_gleu_needs_equal_number_of_references():
    with pytest.raises(InputError, match="all segments need the same number of references"):
        GECGLEU().score(["a", "b"], [("a", "b"), ("b",)], ["a", "c"])


# NLTK's BLEU


def score_with_nltk(scored, references, tokens, weights, method, reweigh):
    """Return NLTK's scores as a list, or None if NLTK fails."""
    smoothing = getattr(bleu_score.SmoothingFunction(), f"method{method}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = scored(references, tokens, weights, smoothing, reweigh)
    except AssertionError:
        return None
    return scores if isinstance(scores, list) else [scores]


WEIGHTS = [(0.25,) * 4, (0.5, 0.5), (1.0,), (0.2,) * 5, [(0.25,) * 4, (0.1, 0.9), (1 / 6,) * 6]]


@pytest.mark.filterwarnings("ignore:method")
@pytest.mark.parametrize("method", range(8))
@settings(max_examples=60)
@given(corpus=CORPORA, weights=st.sampled_from(WEIGHTS), reweigh=st.booleans())
def test_nltk_bleu_equals_nltk(method, corpus, weights, reweigh):
    weight_lists = weights if isinstance(weights, list) else [weights]
    if method == 6 and max(map(len, weight_lists)) < 3:
        return
    tokens, references = split_tokens(corpus)
    metric = NLTKBLEU(method=method, weights=weights, auto_reweigh=reweigh, context="last-segment")
    for original, arguments, score in (
        (bleu_score.corpus_bleu, (references, tokens), lambda: metric.score(*corpus)),
        (
            bleu_score.sentence_bleu,
            (references[0], tokens[0]),
            lambda: metric.sentence(corpus[0][0], corpus[1][0]),
        ),
    ):
        expected = score_with_nltk(original, *arguments, weights, method, reweigh)
        if expected is None:
            with pytest.raises(InputError, match="method 6 needs"):
                score()
        else:
            assert list(score().values) == expected


@given(CORPORA, st.permutations(range(4)))
def test_corpus_context_is_independent_of_segment_order(corpus, order):
    pairs = list(zip(*corpus, strict=True))
    shuffled = [pairs[i] for i in order if i < len(pairs)]
    for method in (5, 7):
        metric = NLTKBLEU(method=method)
        turned = metric.score(*zip(*shuffled, strict=True)).published
        assert metric.score(*corpus).published == turned


def test_last_segment_context_gives_warning(online_b):
    hypotheses, first, _ = online_b
    metric = NLTKBLEU("13a", method=6, context="last-segment")
    with pytest.warns(UserWarning, match="uses counts of the last segment"):
        assert round(metric.score(hypotheses, first).value, 2) == 5197.63
    assert round(NLTKBLEU("13a", method=6).score(hypotheses, first).value, 2) == 33.25


@pytest.mark.parametrize(
    ("method", "version", "expected"),
    [
        # Means of sentence_bleu, run with each release.
        *((0, "3.2.5", 41.8920), (0, "3.3", 26.8672), (2, "3.5", 37.2048), (4, "3.2.5", 34.5533)),
        *((4, "3.4.5", 34.5533), (4, "3.5", 42.8731), (7, "3.4.5", 42.4448), (7, "3.5", 53.1828)),
        (5, "3.5", 38.5692),
    ],
)
def test_nltk_versions_have_recorded_scores(method, version, expected, online_b):
    hypotheses, first, _ = online_b
    metric = NLTKBLEU("13a", method=method, version=version, aggregate="segments")
    assert round(metric.score(hypotheses, first).value, 4) == expected


@pytest.mark.parametrize(
    ("method", "version", "hypothesis", "published"),
    [
        # sentence_bleu of each release against "a b c d e", run from its source.
        (0, "3.2.5", "a b x", 0.39011264866539486),
        (2, "3.2.5", "a b c x", 0.5208154731870476),
        (4, "3.2.5", "a b x c", 0.2232220330388671),
        (7, "3.2.5", "a b x y c", 0.33525168181971143),
        (0, "3.4.5", "a b x", 5.819186114595022e-155),
        (2, "3.4.5", "a b c x", 0.5208154731870476),
        (4, "3.4.5", "a b x c", 0.2232220330388671),
        (7, "3.4.5", "a b x y c", 0.33525168181971143),
        (0, "3.5", "a b x", 5.819186114595022e-155),
        (2, "3.5", "a b c x", 0.5208154731870476),
        (4, "3.5", "a b x c", 1.1424263334368485),
        (7, "3.5", "a b x y c", 1.2384347356413785),
        (0, "3.6", "a b x", 5.819186114595022e-155),
        (2, "3.6", "a b c x", 0.5124797359336637),
        (4, "3.6", "a b x c", 0.14498534696702547),
        (7, "3.6", "a b x y c", 0.23603634562950465),
    ],
)
def test_nltk_releases_have_recorded_segment_scores(method, version, hypothesis, published):
    score = NLTKBLEU(method=method, version=version).sentence(hypothesis, "a b c d e")
    assert score.published == published


@pytest.mark.parametrize(
    ("version", "hypotheses", "message"),
    [
        ("3.5", ["a"], r"divides by ln\(1\)"),
        ("3.6", ["a"], "fails on the logarithm of 0"),
        ("3.6", ["a b", "a"], r"segment 2: .*logarithm of 0"),
    ],
)
def test_old_nltk_releases_raise_error(version, hypotheses, message):
    with pytest.raises(InputError, match=message):
        NLTKBLEU(method=4, version=version).segments(hypotheses, ["a b"] * len(hypotheses))


def test_old_nltk_release_takes_one_sequence_of_weights():
    with pytest.raises(ValueError, match="takes one sequence of weights"):
        NLTKBLEU(version="3.6", weights=[(1.0,), (0.5, 0.5)])


# CodeBLEU


def code(language):
    return draw_words(" ".join(KEYWORDS[language].split()[:3]) + " x ( ) ;", 12)


@pytest.mark.parametrize("language", KEYWORDS)
@settings(max_examples=40)
@given(data=st.data())
def test_codebleu_components_equal_original(language, data):
    ngram_match = pytest.importorskip("codebleu.bleu")
    weighted_match = pytest.importorskip("codebleu.weighted_ngram_match")
    corpus = data.draw(few_words(code(language)))
    tokens, references = split_tokens(corpus)
    reserved = KEYWORDS[language].split()
    weighted = [
        [[one, {token: 1 if token in reserved else 0.2 for token in one}] for one in several]
        for several in references
    ]
    metric = CodeBLEU(language=language)
    expected = weighted_match.corpus_bleu(weighted, tokens)
    assert metric.score(*corpus).published == pytest.approx(expected, rel=1e-14)
    assert CodeBLEU(keywords=reserved).score(*corpus).value == metric.score(*corpus).value
    ngram = CodeBLEU(part="ngram").score(*corpus).published
    assert ngram == ngram_match.corpus_bleu(references, tokens)
    assert ngram == NLTKBLEU(method=1).score(*corpus).published


@pytest.mark.parametrize("language", KEYWORDS)
def test_keywords_equal_codebleu(language):
    folder = Path(pytest.importorskip("codebleu").__file__).parent / "keywords"
    text = (folder / f"{language}.txt").read_text(encoding="utf-8")
    assert sorted(KEYWORDS[language].split()) == sorted(set(text.split()))


# cdec


# Hypotheses and references, and the scores of ComputeBreakdown of cdec's mteval/ns.cc, compiled
# alone and given these counts.
CDEC_TEXTS = [
    ("the cat sat on the mat", ("the cat is on the mat", "a cat sat on that mat there")),
    ("the cat", ("the cat sat", "the cat sat down here on it")),
]
CDEC = {
    "ibm": (0.2020515501499176, 0.6065306663513184),
    "koehn": (0.1858963817358017, 0.22313016653060913),
    "nist": (0.2020515501499176, 0.6065306663513184),
    "qcri": (0.45319247245788574, 0.2176932990550995),
}


@pytest.mark.parametrize("kind", CDEC)
def test_cdec_equals_original(kind):
    member = truebleu.family[f"cdec-{kind}"]
    # cdec returns a fraction in single precision, the family member a percentage.
    scores = [member.sentence(*texts).published / member.scale for texts in CDEC_TEXTS]
    assert tuple(map(round_to_single, scores)) == CDEC[kind]


# All metrics.

HOOKS = [
    NIST(),
    NIST("intl", lowercase=True, max_order=3, variant="nltk"),
    GLEU("none", min_order=2),
    NLTKBLEU(method=4, version="3.5", aggregate="segments"),
    NLTKBLEU(weights=[(0.5, 0.5), (0.25,) * 4], auto_reweigh=True, lowercase="ascii"),
    CodeBLEU(language="python"),
    CodeBLEU(keywords=["let", "in"]),
    CdecBLEU(),
]


@pytest.mark.parametrize("hook", HOOKS, ids=repr)
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        (["a", "b"], ["a"], InputError, r"different numbers of segments.*references 1.*segment 2"),
        (["a", "b"], ["a", None], InputError, "segment 2 has no reference"),
        ([None, "b"], ["a", "b"], InputError, "segment 1 is missing"),
        ([], [], InputError, "no segments"),
        (["a", "b", "c"], [["a", "b", "c"]] * 2, InputError, "expects one list of references per"),
        ("a", ["a"], TypeError, "one str per segment"),
    ],
)
def test_invalid_input_is_named_in_error(hook, hypotheses, references, error, message):
    with pytest.raises(error, match=message):
        hook.score(hypotheses, references)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NIST(variant="mtval"),
        lambda: NIST(max_order=0),
        lambda: GLEU(min_order=3, max_order=2),
        lambda: GECGLEU(draw="all"),
        lambda: NLTKBLEU(method=8),
        lambda: NLTKBLEU(version="latest"),
        lambda: NLTKBLEU(version="3.0"),
        lambda: NLTKBLEU(weights=()),
        CodeBLEU,
        lambda: CodeBLEU(language="cobol"),
        lambda: CdecBLEU("13b"),
        lambda: CdecBLEU(lowercase="upper"),
    ],
)
def test_invalid_parameters_raise_error(make):
    with pytest.raises(ValueError, match=r"unknown|expected|above|needs|known"):
        make()
