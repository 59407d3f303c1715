"""CIDEr, ROUGE-L and BLEU of image captions, compared with pycocoevalcap 1.2."""

import json
import pickle

import pytest

import truebleu as tb
from truebleu.metrics.captions import DocumentFrequencies
from truebleu.metrics.pairwise_scores import sum_like_numpy

HYPOTHESES = ["A man riding a brown horse.", "two dogs playing in the grass", ""]
REFERENCES = [
    ["A man rides a horse.", "a person on a brown horse"],
    ["Two dogs play in the grass."],
    ["A cat.", "The cat is black"],
]
FREQUENCIES = {"images": 100, "counts": {"a": 90, "horse": 5, "a man": 30, "dogs": 4}}


@pytest.fixture(scope="module")
def golden(shared):
    path = shared / "reference/captions-sari/coco_scores.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def split_corpus(row):
    images = row["captions"].values()
    return [one["hypothesis"] for one in images], [one["references"] for one in images]


@pytest.mark.parametrize(
    ("name", "key"),
    [("cider-d", "cider_d"), ("cider", "cider_ruotianluo"), ("rouge-l-coco", "rouge_l")],
)
def test_golden_corpus_scores_are_equal(golden, name, key):
    scores = [tb.metric(name).score(*split_corpus(row)).published for row in golden]
    assert scores == [row[key] for row in golden]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_golden_bleu_is_equal(golden, order):
    for row in golden:
        score = tb.metric(f"coco-bleu-{order}").score(*split_corpus(row))
        assert score.published == row["bleu"][order - 1]


def test_repeated_images_have_repeated_document_frequencies(golden):
    for row in golden:
        hypotheses, references = split_corpus(row)
        score = tb.CIDEr().score(hypotheses * 2, references * 2, check_text=False)
        assert score.published == row["cider_d_ruotianluo_each_image_twice"]


@pytest.mark.parametrize("parameters", [{}, {"clip": False, "length_penalty": False}])
def test_fitted_frequencies_equal_those_of_the_corpus(parameters):
    fitted = tb.CIDEr(df=tb.document_frequencies(REFERENCES), **parameters)
    expected = tb.CIDEr(**parameters)
    assert fitted.segments(HYPOTHESES, REFERENCES) == expected.segments(HYPOTHESES, REFERENCES)
    assert fitted.sentence(HYPOTHESES[0], REFERENCES[0]).value > 0
    assert expected.sentence(HYPOTHESES[0], REFERENCES[0]).value == 0
    assert fitted.non_additive_reason is None
    assert "document_frequencies" in expected.non_additive_reason


def test_frequencies_are_equal_after_saving_and_pickling(tmp_path):
    frequencies = tb.document_frequencies(REFERENCES)
    frequencies.save(tmp_path / "df.json")
    metric = tb.CIDEr(df=tmp_path / "df.json")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert metric == tb.CIDEr(df=frequencies) == pickle.loads(pickle.dumps(metric, protocol))
    assert metric.signature().fields["df"] == f"3-images-{frequencies.checksum}"
    assert dict(frequencies) == json.loads((tmp_path / "df.json").read_text())


def test_names_select_the_two_metrics():
    assert tb.metric("cider-d") == tb.CIDEr()
    assert tb.metric("cider") == tb.CIDEr(clip=False, length_penalty=False)
    for name in ("cider", "cider-d", "rouge-l-coco"):
        metric = tb.metric(name)
        assert tb.metric(str(metric.score(HYPOTHESES, REFERENCES).signature)) == metric
    assert str(tb.CIDEr().signature()).startswith("df:corpus|n:4|sigma:6|tok:ptb-coco|")


def test_bootstrap_of_fitted_metric_has_interval():
    metric = tb.CIDEr(df=FREQUENCIES)
    comparison = tb.compare(
        {"a": HYPOTHESES * 4, "b": HYPOTHESES[::-1] * 4},
        REFERENCES * 4,
        metrics=[metric, tb.CIDEr()],
    )
    assert "CIDEr-D" in str(comparison)


def test_hidden_line_breaks_are_reported_once():
    with pytest.warns(tb.TextWarning, match="2 segments contain line breaks") as caught:
        score = tb.CIDEr().score(["a\u2028dog", "a cat"], [["a dog"], ["the\rcat", "a\vcat"]])
    assert len(caught) == 1
    same = tb.CIDEr().score(["a dog", "a cat"], [["a dog"], ["the cat", "a cat"]])
    assert score.value == same.value


def test_empty_caption_is_one_empty_token_for_rouge():
    assert tb.metric("rouge-l-coco").sentence("...", ["!", "a dog ."]).published == 1
    assert tb.metric("rouge-l-coco").sentence("1 1/2", ["1 1/2"]).published == 1


@pytest.mark.parametrize(
    ("df", "problem"),
    [
        ({"images": 0, "counts": {}}, "'images': expected a count of 1 or more, found 0"),
        ({"images": 2, "counts": {"a": 1.5}}, "'a': expected a count of 1 or more, found 1.5"),
        ({"document_frequency": {}}, 'expected {"images": N'),
        ({"images": 2, "counts": {("a", "dog"): 1}}, 'expected {"images": N'),
        (3, 'expected {"images": N'),
    ],
)
def test_invalid_frequencies_raise(df, problem):
    with pytest.raises(ValueError, match=problem):
        tb.CIDEr(df=df)


def test_invalid_frequency_files_raise(tmp_path):
    (tmp_path / "df.p").write_bytes(b"\x80\x04]")
    with pytest.raises(tb.InputError, match="does not read pickle files"):
        tb.CIDEr(df=tmp_path / "df.p")
    with pytest.raises(tb.InputError, match="No such file"):
        tb.CIDEr(df="none.json")
    with pytest.raises(ValueError, match="identifies frequencies"):
        tb.metric("CIDEr-D|df:3-images-01234567|n:4|sigma:6|tok:ptb-coco")


def test_pairs_need_fitted_frequencies():
    with pytest.raises(ValueError, match="Pass df=document_frequencies"):
        tb.CIDEr().matrix(["a dog"], ["a dog"])
    with pytest.raises(ValueError, match="Pass df=document_frequencies"):
        tb.mbr(["a dog", "a cat"], utility="cider-d")
    with pytest.raises(ValueError, match=r"cider-d_reward: .*Pass df=document_frequencies"):
        tb.reward({"chrf": 0.5, "cider-d": 0.5}, name="cider-d_reward")
    assert tb.CIDEr(df=FREQUENCIES).matrix(["a horse"], ["a horse"])[0, 0] > 0


def test_invalid_references_raise():
    with pytest.raises(tb.InputError, match="image 2: expected at least one str"):
        tb.document_frequencies([["a dog"], []])
    with pytest.raises(tb.InputError, match="no images"):
        tb.document_frequencies([])
    assert isinstance(tb.document_frequencies(["a dog"]), DocumentFrequencies)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 127, 128, 129, 1000, 4099])
def test_sum_equals_numpy(count):
    numpy = pytest.importorskip("numpy")
    values = [1 / (7 + i * i % 97) for i in range(count)]
    assert sum_like_numpy(values) == numpy.sum(numpy.array(values))


@pytest.mark.thorough
def test_scores_equal_pycocoevalcap():
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("pycocoevalcap.cider.cider_scorer")
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    dice = numpy.random.default_rng(5)
    words = [f"w{i}" for i in range(40)]
    captions = [" ".join(dice.choice(words, dice.integers(0, 14))) for _ in range(1200)]
    hypotheses, references = captions[:300], [captions[300 + 3 * i :][:3] for i in range(300)]
    results = {i: [text] for i, text in enumerate(hypotheses)}
    for name, scorer in (("cider-d", Cider()), ("rouge-l-coco", Rouge())):
        expected, items = scorer.compute_score(dict(enumerate(references)), results)
        metric = tb.metric(name)
        assert metric.score(hypotheses, references, check_text=False).published == expected
        segments = metric.segments(hypotheses, references)
        assert list(segments) == [metric.SCALE * item for item in items]
