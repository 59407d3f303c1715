"""Tests of NLTK's METEOR, compared exactly with NLTK, and of the search for WordNet."""

import os
import shutil
import subprocess
import sys

import hypothesis.strategies as st
import pytest
from hypothesis import given
from metric_examples import GOLDEN
from nltk.stem import SnowballStemmer
from nltk.translate.meteor_score import meteor_score
from optional_tools import lacking

from truebleu.metrics import nltk_wordnet
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.nltk_meteor import NLTKMETEOR

pytestmark = pytest.mark.thorough

with_wordnet = pytest.mark.usefixtures("require_wordnet")
HYPOTHESES, REFERENCES = map(list, zip(*GOLDEN, strict=True))
SEGMENTS = [0.806667, 0.694444, 0.196078, 0.806667, 0]
WORDS = (
    "the a dog dogs cat house home houses Big LARGE quick fast rapidly walk walked walking goes "
    "went child children kid better well naïve , . don't United_States 20th"
)
texts = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def require_wordnet():
    """Skip the test without WordNet."""
    if reason := lacking("meteor-nltk"):
        pytest.skip(reason)


class EmptyWordNet:
    """WordNet without words."""

    def synsets(self, word):
        return []


def score_with_nltk(hypothesis: str, references, **parameters) -> float:
    """Return NLTK's score with NLTK's reader of WordNet."""
    parameters.setdefault(
        "wordnet", EmptyWordNet() if lacking("meteor-nltk") else nltk_wordnet.load_wordnet().reader
    )
    return meteor_score([other.split() for other in references], hypothesis.split(), **parameters)


@with_wordnet
def test_wmt22_scores_equal_nltk(wmt22):
    """The mean and all scores of Online-G's 1,984 segments with reference A equal NLTK's."""
    hypotheses, references = (
        (wmt22 / name).read_text(encoding="utf-8").split("\n")[:-1]
        for name in (
            "system-outputs/generaltest2022.de-en.hyp.Online-G.en",
            "references/generaltest2022.de-en.ref.A.en",
        )
    )
    metric = NLTKMETEOR()
    assert round(metric.score(hypotheses, references).published, 10) == 0.5636106447
    expected = [
        100 * score_with_nltk(*pair) for pair in zip(hypotheses, zip(references), strict=True)
    ]
    assert list(metric.segments(hypotheses, references)) == expected


@with_wordnet
@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_any_text_equals_nltk(hypothesis, references):
    """The score of the best reference is identical."""
    score = NLTKMETEOR().sentence(hypothesis, references)
    assert score.published == score_with_nltk(hypothesis, references)


@with_wordnet
@given(texts, texts, st.floats(0.1, 0.9), st.floats(0, 4), st.floats(0, 1))
def test_other_parameters_equal_nltk(hypothesis, reference, alpha, beta, gamma):
    numbers = {"alpha": alpha, "beta": beta, "gamma": gamma}
    metric = NLTKMETEOR(stemmer="snowball", **numbers)
    stemmer = SnowballStemmer("english")
    expected = score_with_nltk(hypothesis, [reference], stemmer=stemmer, **numbers)
    assert metric.sentence(hypothesis, reference).published == expected


@given(texts, texts)
def test_scores_without_synonyms(hypothesis, reference):
    score = NLTKMETEOR(synonyms=False).sentence(hypothesis, reference)
    assert score.published == score_with_nltk(hypothesis, [reference], wordnet=EmptyWordNet())


def test_tokenizer_is_in_signature():
    """NLTK takes tokens, and the signature names the tokenizer."""
    metric = NLTKMETEOR("13a", synonyms=False)
    score = metric.score(["A cat, asleep."], ["A cat was asleep."])
    assert score.published == score_with_nltk(
        "A cat , asleep .", ["A cat was asleep ."], wordnet=EmptyWordNet()
    )
    assert "tok:13a" in str(score.signature)


# ---- WordNet ----


@pytest.fixture
def no_wordnet(monkeypatch, tmp_path):
    """Hide NLTK's data and Debian's package."""
    nltk_wordnet.load_wordnet.cache_clear()
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    monkeypatch.setattr(nltk_wordnet, "DEBIAN_FOLDER", str(tmp_path / "none"))
    yield tmp_path
    nltk_wordnet.load_wordnet.cache_clear()


def test_missing_wordnet_raises_error(no_wordnet):
    with pytest.raises(ImportError, match=r"apt-get install wordnet-base.*synonyms=False"):
        NLTKMETEOR().score(["a"], ["a"])
    assert NLTKMETEOR(synonyms=False).score(["a b"], ["a b"]).value > 90


def test_missing_nltk_raises_error():
    code = """if True:
        import sys
        sys.modules["nltk"] = None
        import truebleu as tb
        try:
            tb.metric("meteor-nltk").score(["a"], ["a"])
        except ImportError as error:
            assert isinstance(error, tb.InputError)
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == (
        "the metric METEOR-nltk is not installed: pip install 'truebleu[meteor]'\n"
    )


@with_wordnet
@pytest.mark.skipif(
    not os.path.isdir(nltk_wordnet.DEBIAN_FOLDER), reason=f"no {nltk_wordnet.DEBIAN_FOLDER}"
)
@pytest.mark.parametrize("packed", [False, True])
def test_wordnet_from_nltk_data(packed, no_wordnet):
    """NLTK's downloader creates a folder or an archive, and both work."""
    folder = no_wordnet / "corpora" / "wordnet"
    shutil.copytree("/usr/share/wordnet", folder)
    (folder / "lexnames").write_text("".join(nltk_wordnet._list_lexnames()), encoding="utf-8")
    if packed:
        shutil.make_archive(str(folder), "zip", folder.parent, "wordnet")
        shutil.rmtree(folder)
    scores = NLTKMETEOR().segments(HYPOTHESES, REFERENCES)
    assert [round(value / 100, 6) for value in scores] == SEGMENTS
    assert str(no_wordnet) in str(nltk_wordnet.load_wordnet().reader.root)


@with_wordnet
@pytest.mark.skipif(
    not os.path.isdir(nltk_wordnet.DEBIAN_FOLDER), reason=f"no {nltk_wordnet.DEBIAN_FOLDER}"
)
def test_other_wordnet_version_raises_error(no_wordnet, monkeypatch):
    folder = no_wordnet / "other"
    shutil.copytree("/usr/share/wordnet", folder)
    adjectives = folder / "data.adj"
    text = adjectives.read_text(encoding="utf-8")
    adjectives.write_text(text.replace("WordNet 3.0 Copyright", "WordNet 3.1 Copyright"))
    monkeypatch.setattr(nltk_wordnet, "DEBIAN_FOLDER", str(folder))
    with pytest.raises(MetricFailedError, match=r"expected WordNet 3\.0, found 3\.1"):
        NLTKMETEOR().score(["a"], ["a"])
