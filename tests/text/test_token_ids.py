"""Token ids: scores equal the scores of decimal strings with tokenize="none", to the bit."""

from __future__ import annotations

import copy
import pickle
import sys
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truebleu as tb

np = pytest.importorskip("numpy")

METRICS = ["bleu", "gleu", "nist", "wer", "mer", "wil", "wip", "ter", "ngram-f", "nltk-bleu"]
HYPOTHESES = [[5, 17, 42, 8, 99, 3], [7, 7, 12, 4, 0, 1]]
REFERENCES = [[5, 17, 42, 8, 11, 3], [7, 12, 4, 4, 0, 1]]


def write_decimals(rows):
    return [" ".join(map(str, row)) for row in rows]


def score_both(metric, hypotheses, references):
    """Return the corpus score and the segment scores."""
    score = metric.score(hypotheses, references, check_text=False)
    return score.value, list(metric.segments(hypotheses, references))


def score_decimals(name, hypotheses, references):
    """Return the corpus score and the segment scores of decimal strings."""
    metric = tb.metric(name) if name == "ter" else tb.metric(name, tokenize="none")
    texts = [tuple(write_decimals(rows)) for rows in references]
    return score_both(metric, write_decimals(hypotheses), texts)


ids = st.one_of(st.integers(0, 6), st.integers(0, 2**16), st.integers(2**24 - 2, 2**64 - 1))
rows = st.lists(ids, max_size=12)


@st.composite
def corpora(draw):
    """Return hypotheses, and one to three references for each."""
    hypotheses = draw(st.lists(rows, min_size=1, max_size=4).filter(any))
    references = [draw(st.lists(rows, min_size=1, max_size=3)) for _ in hypotheses]
    return hypotheses, references


@settings(max_examples=60, deadline=None)
@given(corpora(), st.sampled_from(METRICS))
def test_scores_equal_scores_of_decimal_strings(corpus, name):
    hypotheses, references = corpus
    expected = score_decimals(name, hypotheses, references)
    assert score_both(tb.metric(name), tb.token_ids(hypotheses), references) == expected


@pytest.mark.parametrize("length", [70, 300, 700, 2100])
def test_long_segments_equal_decimal_strings(length):
    random = np.random.default_rng(length)
    references = random.zipf(1.3, (6, length)) % (1 << 30)
    hypotheses = np.where(random.random((6, length)) < 0.3, references[:, ::-1], references)
    expected = score_decimals("bleu", hypotheses, references[:, None])
    assert score_both(tb.BLEU(), hypotheses, references) == expected


@pytest.mark.parametrize("largest", [2**15, 2**20 - 1, 2**20, 2**24 - 1, 2**24, 2**32, 2**40])
def test_long_segments_with_large_ids_equal_decimal_strings(largest):
    random = np.random.default_rng(1)
    references = random.integers(0, 200, (8, 2, 90), np.uint64)
    references[3:6, 1, ::7] = largest
    hypotheses = references[:, 1].copy()
    hypotheses[:, ::3] = largest
    assert score_both(tb.BLEU(), hypotheses, references) == score_decimals(
        "bleu", hypotheses, references
    )


@pytest.mark.parametrize("name", ["rouge-1", "rouge-2", "rouge-l"])
def test_rouge_of_ids_equals_decimal_strings(name):
    pytest.importorskip("rouge_score")
    expected = score_decimals(name, HYPOTHESES, [[row] for row in REFERENCES])
    assert score_both(tb.metric(name), HYPOTHESES, REFERENCES) == expected


# ---- kinds of input ----


class Interface:
    """Array that has only `__array_interface__`."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape
        self.__array_interface__ = values.__array_interface__


class Exchanged:
    """Array that has only DLPack's methods."""

    def __init__(self, values, device=(1, 0)):
        self.values, self.shape, self.device = values, values.shape, device

    def __dlpack__(self):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.device


LAYOUTS = {
    "contiguous": lambda values: values,
    "columns": np.asfortranarray,
    "reversed": lambda values: np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1],
    "steps": lambda values: np.repeat(np.repeat(values, 2, 0), 3, 1)[::2, ::3],
}


@pytest.mark.parametrize("wrap", [np.asarray, memoryview, Interface, Exchanged])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_array_of_any_width_and_strides_is_read(wrap, layout, width):
    values = LAYOUTS[layout](np.array(HYPOTHESES, width))
    assert list(tb.token_ids(wrap(values))) == write_decimals(HYPOTHESES)


@pytest.mark.parametrize(
    "values",
    [
        HYPOTHESES,
        [tuple(row) for row in HYPOTHESES],
        [array("H", row) for row in HYPOTHESES],
        [np.array(HYPOTHESES[0], "u8"), array("b", HYPOTHESES[1])],
    ],
)
def test_list_of_rows_is_read(values):
    assert list(tb.token_ids(values)) == write_decimals(HYPOTHESES)


def test_arrow_lists_are_read():
    pa = pytest.importorskip("pyarrow")
    score = tb.BLEU().score(HYPOTHESES, REFERENCES).value
    for kind in (pa.list_(pa.int16()), pa.large_list(pa.uint64()), pa.list_(pa.int32(), 6)):
        columns = (pa.array(HYPOTHESES, kind), pa.chunked_array([REFERENCES], kind))
        assert tb.BLEU().score(*columns).value == score
    pl = pytest.importorskip("polars")
    assert tb.BLEU().score(pl.Series(HYPOTHESES), pl.Series(REFERENCES)).value == score


def test_three_dimensions_are_several_references():
    references = [
        [first, second] for first, second in zip(REFERENCES, HYPOTHESES[::-1], strict=True)
    ]
    expected = score_decimals("bleu", HYPOTHESES, references)[0]
    arrays = [np.array(rows) for rows in references]
    for value in (np.array(references), references, arrays, [list(rows) for rows in arrays]):
        score = tb.BLEU().score(np.array(HYPOTHESES), value)
        assert (score.value, score.signature["nrefs"]) == (expected, "2")


def test_missing_references_are_left_out():
    references = [[None, None, REFERENCES[0]], [REFERENCES[1], HYPOTHESES[0], None]]
    expected = [[REFERENCES[0]], [REFERENCES[1], HYPOTHESES[0]]]
    assert tb.BLEU().score(HYPOTHESES, references) == tb.BLEU().score(HYPOTHESES, expected)


def test_integers_select_the_tokenizer_ids():
    assert tb.BLEU().score(HYPOTHESES, REFERENCES).signature["tok"] == "ids"
    assert tb.BLEU().sentence(HYPOTHESES[0], REFERENCES[0]).signature["tok"] == "ids"
    assert tb.BLEU("none").score(HYPOTHESES, REFERENCES).signature["tok"] == "none"
    text = tb.BLEU("ids").score(*map(write_decimals, (HYPOTHESES, REFERENCES)), check_text=False)
    assert text.value == tb.BLEU().score(HYPOTHESES, REFERENCES).value


# ---- options ----


@pytest.mark.parametrize(
    ("row", "options", "text"),
    [
        ([0, 0, 5, 6, 0], {"pad": 0}, "5 6"),
        ([-100, 5, -100], {"pad": -100}, "5"),
        ([0, 0], {"pad": 0}, ""),
        ([5, 6, 0, 0], {"lengths": [3]}, "5 6 0"),
        ([5, 2, 6, 2], {"eos": 2}, "5"),
        ([5, 2, 2, 2], {"eos": 2, "pad": 2}, "5"),
        ([2, 2, 5], {"eos": 2, "pad": 2}, ""),
        ([0, 1, 5, 0, 2, 0], {"eos": 2, "pad": 9, "skip": [1]}, "0 5 0"),
        ([1, 5, 1, 6], {"skip": {1, 9}}, "5 6"),
    ],
)
def test_options_select_ids(row, options, text):
    assert list(tb.token_ids([row], **options)) == [text]
    assert list(tb.token_ids(np.array([row], "i2"), **options)) == [text]


# ---- errors ----


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[5], [5, 0, 6]], {"pad": 0}, "row 2: the padding 0 is between other ids"),
        ([[[5, 0, 6]]], {"pad": 0}, "segment 1, reference 1: the padding 0 is between"),
        ([[5, -1]], {}, r"row 1: negative id -1 \(expected 0 or more\).*pad="),
        ([np.array([2**63], "u8"), [-1]], {}, r"row 2: negative id -1 \(expected 0 .*pad="),
        ([[5, 2**64]], {}, "row 1: an id has more than 64 bits"),
        ([[5, 1.5]], {}, "row 1: 1.5 is not an integer"),
        ([[5], [True, False]], {}, "row 2: True is not an integer"),
        ([["5", "6"]], {}, "row 1: '5' is not an integer"),
        ([[5, 6]], {"pad": True}, "pad: expected an id, found bool"),
        ([[5], None], {}, r"segment 2 is missing \(None\)"),
        ([5, 6], {}, r"segment 1 is int \(expected integers\)"),
        (np.zeros((2, 2)), {}, r"values of type float64 \(expected integers of 8 to 64 bits\)"),
        (np.zeros((2, 2), bool), {}, "values of type bool"),
        (Exchanged(np.zeros((2, 2), "f4")), {}, "values of type float32"),
        (np.zeros(3, int), {}, r"1 dimension \(expected \[segments, length\]"),
        (np.zeros((2, 2), ">i4"), {}, "foreign byte order"),
        (np.ma.array([[5, 6]], mask=[[False, True]]), {}, "the array is masked"),
        (Exchanged(np.zeros((2, 2), int), (2, 0)), {}, r"memory of a GPU. Copy it with \.cpu\(\)"),
        ([[5, 6]], {"pad": 0, "lengths": [1]}, "mutually exclusive"),
        ([[5, 6]], {"lengths": [3]}, r"lengths: row 1 has length 3 \(expected 0 to 2\)"),
        ([[5, 6]], {"lengths": [1, 1]}, "expected 1 number, one per row, found 2"),
        ([[5, 6]], {"lengths": 1}, "lengths: expected integers, found"),
        ([[5, 6]], {"eos": [1]}, "eos: expected an id, found"),
        ("5 6", {}, "expected an integer array.*found str"),
        (5, {}, "expected an integer array.*found int"),
    ],
)
def test_invalid_values_are_refused(values, options, message):
    with pytest.raises((tb.InputError, TypeError, ValueError), match=message):
        tb.token_ids(values, **options)


class BrainFloats(Exchanged):
    """Numbers that NumPy cannot represent."""

    dtype = "torch.bfloat16"

    def __dlpack__(self):
        raise BufferError("Unsupported dtype in DLTensor.")


def test_bfloat16_is_refused():
    with pytest.raises(TypeError, match="values of type bfloat16"):
        tb.token_ids(BrainFloats(np.zeros((1, 2), "i2")))


def test_tensor_is_read_without_numpy(monkeypatch):
    tensor = Exchanged(np.array(HYPOTHESES))
    tensor.tolist = tensor.values.tolist
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert list(tb.token_ids(tensor)) == write_decimals(HYPOTHESES)


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (tb.CHRF(), "chrF2 cannot score token ids: it needs text"),
        (tb.CER(), "CER cannot score token ids"),
        (tb.TER(normalized=True), "TER cannot score token ids: normalized changes characters"),
    ],
)
def test_metric_of_characters_refuses_ids(metric, problem):
    hypotheses, references = tb.token_ids(HYPOTHESES), tb.token_ids(REFERENCES)
    for function in (
        lambda *_: metric.score(HYPOTHESES, REFERENCES),
        lambda *_: metric.segments(HYPOTHESES, REFERENCES),
        lambda *_: metric.sentence(HYPOTHESES[0], REFERENCES[0]),
        tb.Accumulator(metric).update,
        tb.reward(metric),
        metric.matrix,
        lambda *texts: tb.compare({"A": texts[0]}, texts[1], metrics=["bleu", metric]),
        lambda *texts: tb.explain(*texts, metric=metric),
        lambda texts, _: tb.mbr(texts, utility=metric),
        lambda texts, _: tb.pairwise_diversity(texts, metric=metric),
    ):
        with pytest.raises(tb.InputError, match=problem):
            function(hypotheses, references)


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (HYPOTHESES, ["5 6", "7"], "references: segment 1 is str"),
        (np.array(HYPOTHESES), np.array(REFERENCES[:1]), "hypotheses 2, references 1"),
        (np.array([HYPOTHESES]), REFERENCES, "several texts per segment"),
        (-np.array(HYPOTHESES), REFERENCES, "hypotheses: row 1: negative id"),
    ],
)
def test_unsuitable_inputs_name_their_role(hypotheses, references, message):
    with pytest.raises((tb.InputError, TypeError), match=message):
        tb.BLEU().score(hypotheses, references)


@pytest.mark.skipif(sys.byteorder == "big", reason="the array has native order there")
def test_empty_arrays_are_read():
    assert list(tb.token_ids(np.zeros((2, 0), int))) == ["", ""]
    assert len(tb.token_ids(np.zeros((0, 4), int))) == 0
    assert list(tb.BLEU().segments([[], []], REFERENCES)) == [0, 0]


# ---- results that name the metric ----


def accumulate(metric, *texts):
    total = tb.Accumulator(metric)
    total.update(*texts)
    return total


def compute_with_accumulator(metric, *texts):
    merged = tb.Accumulator(metric).merge(accumulate(metric, *texts)).merge(tb.Accumulator(metric))
    restored = tb.Accumulator.from_state_dict(merged.state_dict())
    loaded = tb.Accumulator(metric)
    loaded.load_state_dict(merged.state_dict())
    assert restored == loaded == merged == pickle.loads(pickle.dumps(merged))
    score = merged.compute()
    return score.value, str(score.signature)


def compute_with_compare(metric, *texts):
    content = tb.compare({"A": texts[0]}, texts[1], metrics=[metric], seed=1).to_dict()
    (column,), (system,) = content["metrics"], content["systems"]
    signature = column["signature"].replace("|bs:1000|seed:1", "")
    return system["scores"][column["name"]]["score"], signature


def compute_with_explain(metric, *texts):
    content = tb.explain(*texts, metric).to_dict()
    assert content["metric"]["signature"] == content["systems"][0]["signature"]
    return content["systems"][0]["score"], content["systems"][0]["signature"]


ID_METRICS = [tb.BLEU(), tb.BLEU("char", lowercase=True), tb.GLEU(), tb.TER()]


@pytest.mark.parametrize("metric", ID_METRICS, ids=str)
@pytest.mark.parametrize(
    "compute", [compute_with_accumulator, compute_with_compare, compute_with_explain]
)
def test_score_and_signature_of_ids_equal_those_of_the_metric(compute, metric):
    texts = tb.token_ids(HYPOTHESES), tb.token_ids(REFERENCES)
    score = metric.score(*texts)
    assert compute(metric, *texts) == (score.value, str(score.signature))


@pytest.mark.parametrize("metric", ID_METRICS, ids=str)
def test_segment_scores_of_ids_equal_those_of_the_metric(metric):
    texts = tb.token_ids(HYPOTHESES), tb.token_ids(REFERENCES)
    expected = metric.segments(*texts).tolist()
    assert tb.reward(metric, scale=1)(*texts) == expected
    matrix = metric.matrix(*texts)
    assert [matrix[i, i] for i in range(2)] == expected
    explanation = tb.explain(*texts, metric, segment=2).to_dict()
    assert explanation["systems"][0]["score"] == expected[1]
    signature = metric.sentence(HYPOTHESES[1], REFERENCES[1]).signature
    assert explanation["metric"]["signature"] == str(signature)


def test_accumulator_refuses_a_mixture_of_text_and_ids():
    total = accumulate("bleu", tb.token_ids(HYPOTHESES), tb.token_ids(REFERENCES))
    before = total.state_dict()
    for add in (
        lambda: total.update(["a"], ["a"]),
        lambda: total.merge(accumulate("bleu", ["a"], ["a"])),
    ):
        with pytest.raises(tb.InputError, match=r"with BLEU\|tok:13a.* metric is BLEU\|tok:ids"):
            add()
    assert total.state_dict() == before
    total.reset()
    total.update(["a b"], ["a b"])
    assert total.compute().signature["tok"] == "13a"


@pytest.mark.parametrize("copy", [copy.deepcopy, lambda ids: pickle.loads(pickle.dumps(ids))])
@pytest.mark.parametrize(
    "rows", [HYPOTHESES, [[[1, 2], [3]], [[2**40]]], [[], []], [[2**64 - 1, 0]]]
)
def test_copies_of_ids_are_equal(copy, rows):
    ids = tb.token_ids(rows)
    copied = copy(ids)
    assert (type(copied), list(copied)) == (type(ids), list(ids))
