"""Tests of chrF, chrF+ and chrF++, compared exactly with sacreBLEU on random text."""

import hypothesis.strategies as st
import pytest
import sacrebleu
from hypothesis import example, given
from strategies import corpora, streams

import truebleu
from truebleu import CHRF, InputError, _kernel

HYPOTHESES = ["The cat sat on the mat.", "A dog (brown) barks.", ""]
REFERENCES = ["The cat is on the mat.", "The brown dog barks!", "Nothing."]


@st.composite
def draw_parameters(draw: st.DrawFn) -> dict:
    """Draw parameters of `CHRF`: orders, β, case, white space and smoothing."""
    char_order = draw(st.sampled_from([6, 6, 1, 0, 3, 8, 9, 12]))
    return {
        "char_order": char_order,
        "word_order": draw(st.sampled_from([0, 1, 2, 5] if char_order else [1, 2])),
        "beta": draw(st.sampled_from([2, 1, 3, 0, 0.5, 2.0])),
        "lowercase": draw(st.booleans()),
        "whitespace": draw(st.booleans()),
        "eps_smoothing": draw(st.booleans()),
    }


def convert_to_tuples(references: list) -> list[tuple]:
    return [tuple(refs) for refs in references]


@given(corpora(), draw_parameters())
@example((["ab"], [["ab", "ab c"]]), {"char_order": 6, "word_order": 2})
def test_statistics_and_scores_equal_sacrebleu(corpus, parameters):
    hypotheses, references = corpus
    metric, oracle = CHRF(**parameters), sacrebleu.CHRF(**parameters)
    expected = oracle._extract_corpus_statistics(hypotheses, streams(references))
    table = metric.statistics(hypotheses, convert_to_tuples(references))
    assert table.tolist() == expected
    its = oracle.corpus_score(hypotheses, streams(references))
    score = metric.score(hypotheses, convert_to_tuples(references))
    assert score.value == its.score
    assert str(score) == its.format()
    assert str(score.signature).rpartition("|by")[0].replace(
        f"beta:{parameters.get('beta', 2)}|", ""
    ) == oracle.get_signature().format().replace("nrefs:None", "nrefs:var")
    segment_scores = metric.segments(hypotheses, convert_to_tuples(references)).tolist()
    for hypothesis, refs, value in zip(hypotheses, references, segment_scores, strict=True):
        present = [ref for ref in refs if ref is not None]
        its = oracle.sentence_score(hypothesis, present)
        segment_score = metric.sentence(hypothesis, refs)
        assert segment_score.value == value == its.score
        for name in ("name", "char_order", "word_order", "beta"):
            assert getattr(segment_score, name) == getattr(its, name)
    assert metric.scores(table).tolist() == [
        oracle._compute_score_from_stats(row).score for row in expected
    ]


@given(corpora(), draw_parameters())
def test_instruction_sets_give_equal_counts(corpus, parameters):
    hypotheses, references = corpus
    metric = CHRF(**parameters)
    before = _kernel.instructions()
    try:
        tables = []
        for name in _kernel.available_instructions():
            _kernel.use_instructions(name)
            tables.append(metric.statistics(hypotheses, convert_to_tuples(references)))
    finally:
        _kernel.use_instructions(before)
    assert all(table == tables[0] for table in tables)


LENGTHS = [0, 1, 63, 64, 65, 128, 511, 512, 513, 768, 769, 1024, 1025, 2047, 2048, 2049, 2100]


@pytest.mark.parametrize("characters", ["ab", "aé日😀", "0123456789"])
def test_lengths_near_bitset_sizes_equal_sacrebleu(characters):
    """Texts of up to 2,048 characters use bitsets; one or both texts are long and repetitive."""

    def repeat_characters(length: int, step: int) -> str:
        return "".join(characters[i * i * step % 7 % len(characters)] for i in range(length))

    oracle = sacrebleu.CHRF()
    pairs = [(one, other) for one in LENGTHS for other in (one, 2100, 70)]
    hypotheses = [repeat_characters(one, 1) for one, _ in pairs]
    references = [repeat_characters(other, 3) for _, other in pairs]
    table = CHRF().statistics(hypotheses, references)
    assert table.tolist() == oracle._extract_corpus_statistics(hypotheses, [references])


def test_many_distinct_characters_equal_sacrebleu():
    """The text has more characters than the initial size of the character table."""
    hypothesis = "".join(map(chr, range(0x4E00, 0x9000)))
    reference = "".join(map(chr, range(0x5000, 0xA000)))
    expected = sacrebleu.CHRF()._extract_corpus_statistics([hypothesis] * 2, [[reference] * 2])
    assert CHRF().statistics([hypothesis] * 2, [reference] * 2).tolist() == expected


def test_first_of_equally_good_references_counts():
    """Both references have equal F-scores and different counts, so their order matters."""
    hypothesis, first, second = "abab", "ab", "abababab"
    metric = CHRF(char_order=1, beta=1)
    for references in ([first, second], [second, first], [first, first + "c"], ["", ""]):
        expected = sacrebleu.CHRF(char_order=1, beta=1)._extract_corpus_statistics(
            [hypothesis], [[ref] for ref in references]
        )
        assert metric.statistics([hypothesis], [tuple(references)]).tolist() == expected


def test_one_punctuation_mark_is_split_from_words():
    """`(hi)` becomes `(hi` and `)`, `...` becomes `..` and `.`; only ASCII punctuation is split."""
    metric = CHRF(char_order=0, word_order=1)
    for text, words in {"(hi)": 2, "...": 2, "(hi": 2, "“hi”": 1, ".": 1, "é!": 2, "日": 1}.items():
        assert metric.statistics([text], [text]).tolist() == [[words] * 3], text


def test_score_has_components():
    score = CHRF(char_order=2, word_order=1).sentence("ab c", "ab d")
    assert score.hypothesis_totals == (3, 2, 2)
    assert score.reference_totals == (3, 2, 2)
    assert score.matches == (2, 1, 1)
    assert score.precisions == score.recalls == (200 / 3, 50.0, 50.0)
    content = score.to_dict()
    assert content["name"] == "chrF2+"
    assert content["score"] == score.value
    assert content["matches"] == [2, 1, 1]


def test_signature_of_sacrebleu_is_parsed():
    sacre = sacrebleu.CHRF(word_order=1)
    sacre.corpus_score(["a"], [["a"]])
    assert truebleu.metric(f"chrF2+|{sacre.get_signature()}") == CHRF(word_order=1)


def test_statistics_with_different_parameters_cannot_be_merged():
    plain = CHRF().statistics(HYPOTHESES, REFERENCES)
    with pytest.raises(InputError, match="chrF2 and chrF3"):
        plain + CHRF(beta=3).statistics(HYPOTHESES, REFERENCES)
    with pytest.raises(InputError, match="computed with chrF2"):
        CHRF(word_order=2).from_statistics(plain)
    with pytest.raises(InputError, match="expected 18 columns, not 3"):
        CHRF().scores(_kernel.Table.from_rows([[1, 2, 3]], 3))
    with pytest.raises(InputError, match="totals: expected 18 integers"):
        CHRF().from_statistics([1, 2])
    assert CHRF().from_statistics(plain) == CHRF().score(HYPOTHESES, REFERENCES)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"char_order": -1}, "char_order=-1"),
        ({"char_order": True}, "char_order=True"),
        ({"word_order": 17}, "word_order=17"),
        ({"char_order": 0}, "at least one must be 1 or more"),
        ({"beta": -1}, "beta=-1"),
        ({"beta": float("nan")}, "beta=nan"),
        ({"beta": "2"}, "beta='2'"),
    ],
)
def test_invalid_parameters_raise_error(parameters, message):
    with pytest.raises(ValueError, match=message):
        CHRF(**parameters)


def test_metrics_counted_together_equal_separate_counts(tmp_path):
    from truebleu.metrics.base import Corpus
    from truebleu.metrics.joint_counting import compute_joint_statistics

    metrics = [truebleu.BLEU(), CHRF(word_order=2), truebleu.BLEU("zh", max_order=2)]
    hypotheses = HYPOTHESES * 5000
    path = tmp_path / "hypotheses.txt"
    path.write_text("\n".join(hypotheses) + "\n", encoding="utf-8")
    for text in (hypotheses, path):
        tables, seen = compute_joint_statistics(metrics, Corpus(text, REFERENCES * 5000, workers=3))
        assert seen["segments"] == len(hypotheses)
        for metric, table in zip(metrics, tables, strict=True):
            assert table == metric.statistics(hypotheses, REFERENCES * 5000)
    sums, _ = compute_joint_statistics(metrics, Corpus(path, REFERENCES * 5000, totals=True))
    assert [table.tolist() for table in sums] == [table.sum().tolist() for table in tables]


@pytest.mark.parametrize("parameters", [{}, {"word_order": 2}, {"beta": 1}, {"lowercase": True}])
def test_score_is_f_score_of_precision_and_recall(parameters):
    metric = CHRF(**parameters)
    for score in (
        metric.score(["the cat sat", "no"], ["a cat sat down", "yes"]),
        metric.sentence("a", "ab"),  # leaves out orders
        metric.sentence("a", "b"),
    ):
        p, r, factor = score.precision, score.recall, metric.beta**2
        expected = (1 + factor) * p * r / (factor * p + r) if p + r else 0.0
        assert score.value == pytest.approx(expected)
