"""Tests of ROUGE, compared with rouge-score for both packages, with and without stemmer."""

import sys

import hypothesis.strategies as st
import pyarrow as pa
import pytest
import rouge_score.rouge_scorer
import rouge_score_rs.rouge_scorer
from hypothesis import example, given
from metric_examples import GOLDEN

import truebleu as tb
from truebleu import InputError
from truebleu.cli import main
from truebleu.engines.aggregates import Sums
from truebleu.metrics import registry
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.rouge import ROUGE

TYPES = [*map(str, range(1, 10)), "l", "lsum"]
PACKAGES = {"rs": rouge_score_rs.rouge_scorer, "google": rouge_score.rouge_scorer}


def make_original_scorer(package, metric):
    """Return the package's scorer for a metric, and its name of the type."""
    kind = "rouge" + {"l": "L", "lsum": "Lsum"}.get(metric.type, metric.type)
    return package.RougeScorer([kind], use_stemmer=metric.stemmer), kind


LATIN = st.text("abcdefgh ABC .,'0129éß\n\t", max_size=40)
ENGLISH = "running,runs,ran,the,cats,cat,sat,nationality,national,\n,.,-".split(",")  # noqa: SIM905
WORDS = st.lists(st.sampled_from(ENGLISH), max_size=14).map(" ".join)
TEXT = LATIN | WORDS


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
@given(
    pairs=st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=3),
    kind=st.sampled_from(TYPES),
    stem=st.booleans(),
)
@example(pairs=[("a\nb c", ["b c\na"])], kind="lsum", stem=False)
@example(pairs=[("", [""])], kind="l", stem=True)
def test_scores_equal_packages(package, pairs, kind, stem):
    """The packages also choose the first reference with the best F-score."""
    metric = ROUGE(kind, stemmer=stem)
    scorer, key = make_original_scorer(package, metric)
    hypotheses = [text for text, _ in pairs]
    references = [tuple(others) for _, others in pairs]
    best_scores = [scorer.score_multi(others, text)[key] for text, others in pairs]
    scores = metric.segments(hypotheses, references)
    assert list(scores) == [100 * one.fmeasure for one in best_scores]
    for (text, segment_references), best_score in zip(pairs, best_scores, strict=True):
        score = metric.sentence(text, segment_references)
        assert score.precision == 100 * best_score.precision
        assert score.recall == 100 * best_score.recall


def test_corpus_score_is_exact_mean():
    from fractions import Fraction

    texts, references = map(list, zip(*GOLDEN, strict=True))
    scorer, _ = make_original_scorer(rouge_score.rouge_scorer, ROUGE("1"))
    segment_scores = [
        Fraction(scorer.score(r, h)["rouge1"].fmeasure)
        for h, r in zip(texts, references, strict=True)
    ]
    assert ROUGE("1").score(texts, references).published == float(
        sum(segment_scores) / len(segment_scores)
    )


@pytest.mark.parametrize(
    "text", ["Кошка сидела на коврике.", "猫坐在垫子上。", "Η γάτα κάθισε στο χαλί."]
)
def test_other_scripts_raise_error_with_remedy(text):
    message = r"% of the letters are not Latin.*--rouge-tokenize intl"
    with pytest.raises(MetricFailedError, match=message):
        tb.metric("rouge-l").sentence(text, text)
    assert tb.metric("rouge-l", tokenize="char").sentence(text, text).value == 100


def test_non_latin_batch_of_latin_corpus_is_accepted():
    texts = ["the cat sat", "Кошка сидела.", "on the mat"]
    references = ["a cat", "Кошка", "the mat"]
    metric = tb.metric("rouge-1")
    score = metric.score(texts, references)
    total = tb.Accumulator(metric)
    for batch in zip(texts, references, strict=True):
        total.update(*([text] for text in batch))
    assert total.compute() == score == metric.from_statistics(metric.statistics(texts, references))
    assert score.warnings == ()
    assert metric.matrix(texts, references)[1, 1] == 0
    sums = Sums(metric)
    for batch in zip(texts, references, strict=True):
        sums.update(pa.table([[text] for text in batch], ["hyp", "ref"]))
    assert sums.score().value == score.value


def test_accumulated_corpus_in_other_script_raises_error():
    total = tb.Accumulator("rouge-1")
    total.update(["Кошка сидела.", "a"], ["Кошка", "b"])
    with pytest.raises(MetricFailedError, match="not Latin"):
        total.compute()
    score = total.metric.from_statistics(total.totals)
    assert "not Latin" in score.warnings[0]


def test_accented_latin_letters_are_latin():
    assert tb.metric("rouge-1").sentence("Żółć Ưu ȩ", "a").value == 0


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
@given(text=WORDS, other=WORDS)
def test_scores_with_truebleu_tokenizers(package, text, other):
    class WhiteSpaceTokenizer:
        def tokenize(self, text):
            return tb.tokenize(text, "13a")

    scorer = package.RougeScorer(["rougeL"], tokenizer=WhiteSpaceTokenizer())
    expected = 100 * scorer.score(other, text)["rougeL"].fmeasure
    assert tb.metric("rouge-l", tokenize="13a").sentence(text, other).value == expected


def test_rouge_tokenizer_works_for_other_metrics():
    tokens = tb.tokenize("It's a TEST: naïve 3.5", "rouge")
    assert tokens == ["it", "s", "a", "test", "na", "ve", "3", "5"]


def test_language_selects_tokenizer(capsys):
    files = ("examples/en-zh/reference.zh", "-i", "examples/en-zh/birch.zh")
    assert main(["score", *files, "-m", "rouge-l", "-l", "zh", "-f", "text"]) == 0
    assert "|tok:zh|" in capsys.readouterr().out
    german = ("examples/de-en/reference.a.en", "-i", "examples/de-en/aspen.en")
    assert main(["score", *german, "-m", "rouge-l", "-l", "en", "-f", "text"]) == 0
    assert "|tok:rouge|" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("rouge-7", ROUGE("7")),
        ("ROUGE-L", ROUGE()),
        ("rouge-l+stem", ROUGE(stemmer=True)),
        ("rougeLsum", ROUGE("lsum")),
        ("ROUGE-2|nrefs:1|type:2|stem:yes|tok:rouge|agg:mean", ROUGE("2", stemmer=True)),
    ],
)
def test_names_give_metrics(name, metric):
    assert tb.metric(name) == metric
    assert tb.metric(str(metric)) == metric


def test_group_name_gives_several_metrics():
    labels = registry.resolve_metrics(["rouge", "rouge-l"])
    assert list(labels) == [ROUGE("1"), ROUGE("2"), ROUGE("l")]


@pytest.mark.parametrize("name", ["rouge-0", "rouge-10", "rouge-x"])
def test_unknown_names_raise_error(name):
    with pytest.raises(ValueError, match="unknown metric"):
        tb.metric(name)


def test_stemmer_needs_rouge_tokenizer():
    with pytest.raises(ValueError, match="stemmer=True is only for English"):
        ROUGE("l", stemmer=True, tokenize="char")


def test_fastest_package_is_used_or_error_names_install_command(monkeypatch):
    signature = str(tb.metric("rouge-l").signature(1))
    assert signature.startswith(
        "nrefs:1|type:l|stem:no|tok:rouge|agg:mean|version:0.1.2|by:rouge-s"
    )
    for name in ("rouge_score_rs.rouge_scorer", "rouge_score.rouge_scorer"):
        assert tb.metric("rouge-l").sentence("a b", "a c").value == 50
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"rouge is not installed: pip install 'truebleu\[ro"):
        tb.metric("rouge-l").sentence("a b", "a c")
    with pytest.raises(InputError):
        tb.metric("rouge-l").sentence("a b", "a c")


def test_scores_have_precision_recall_and_f_score():
    metric = tb.metric("rouge-l")
    for score in (
        metric.score(["the cat sat on the mat", "a"], ["the cat sat", "b"]),
        metric.sentence("the cat sat on the mat", ["the cat sat"]),
    ):
        details = score.details()
        assert (score.precision, score.recall) == (details["precision"], details["recall"])
        assert score.fmeasure == score.value
        assert {"precision", "recall", "fmeasure"} <= set(dir(score))
    assert (score.precision, score.recall, score.value) == pytest.approx((50, 100, 200 / 3))
