"""Tests that invalid statistics raise errors, and that sums are exact or raise errors."""

import contextlib
import ctypes
import itertools
import json
import math

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from truebleu import BLEU, CHRF, TER, Accumulator, InputError, Statistics, _kernel
from truebleu.metrics import registry
from truebleu.metrics.base import Corpus, Metric, MetricMissingError
from truebleu.metrics.nist import NIST
from truebleu.metrics.python_metric import SegmentMeanMetric

HYPOTHESES = ["the cat sat on the mat", "a dog", "it is what it is"]
REFERENCES = ["the cat sat on a mat", "the dog barked", "it is what it was"]
MIN_INT64, MAX_INT64 = -(2**63), 2**63 - 1


class Difference(SegmentMeanMetric):
    """Metric that returns the difference of lengths, which may be negative."""

    NAME = "Difference"
    BOUND = None
    NUMBER_NAMES = ("difference", "half")

    def _compute_numbers(self, corpus, texts):
        return [(n := len(text) - len(others[0]), n / 2 - 0.1) for text, others in texts]


FOUR = [BLEU(), CHRF(word_order=2), TER(), Difference()]


def count_example(metric: Metric) -> Statistics:
    corpus = Corpus(HYPOTHESES, REFERENCES, sources=HYPOTHESES)
    return metric.count_corpus(corpus)[0]


def seal_table(table: Statistics, **changed) -> bytes:
    """Return a changed saved table with a correct checksum."""
    header = {key: changed.get(key, value) for key, value in table._make_header().items()}
    return _kernel.sealed("statistics", json.dumps(header), changed.get("data", table.to_bytes()))


@pytest.fixture
def load_bytes(tmp_path):
    """Return a function that loads a table from bytes."""
    path = tmp_path / "saved.table"

    def load(content: bytes) -> Statistics:
        path.write_bytes(content)
        return Statistics.load(path)

    return load


# ---- files ----


@pytest.mark.parametrize("metric", FOUR, ids=str)
def test_truncated_or_extended_table_raises_error(metric, tmp_path, load_bytes):
    count_example(metric).save(tmp_path / "whole")
    saved_bytes = (tmp_path / "whole").read_bytes()
    for content in [saved_bytes[:length] for length in range(len(saved_bytes))]:
        with pytest.raises(InputError, match=r"saved\.table"):
            load_bytes(content)
    for extra_bytes in (b"\0", b"\n", bytes(8), bytes(80), saved_bytes[-8:], saved_bytes):
        for content in (saved_bytes + extra_bytes, extra_bytes + saved_bytes):
            with pytest.raises(InputError, match=r"saved\.table"):
                load_bytes(content)


NAMES = (
    *("bleu", "chrf", "chrf++", "ter", "wer", "cer", "nist", "gleu", "ngram-f", "gec-gleu"),
    *("ibleu", "nltk-bleu", "codebleu", "cdec-bleu", "mteval-v13a", "rouge-l"),
)


@pytest.mark.parametrize("name", NAMES)
def test_example_statistics_satisfy_constraints(name, tmp_path):
    metric = registry.metric(name)
    try:
        table = count_example(metric)
    except MetricMissingError as error:
        pytest.skip(str(error))
    table.check(*metric.constraints)
    table.sum().check(*metric.constraints)
    path = tmp_path / "saved.table"
    table.save(path)
    assert Statistics.load(path) == table
    assert metric.from_statistics(Statistics.load(path)) == metric.from_statistics(table)
    saved_bytes = path.read_bytes()
    for bit in range(8 * len(saved_bytes)):
        changed = bytearray(saved_bytes)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InputError, match=r"saved\.table"):
            _kernel.unsealed("statistics", "saved.table", bytes(changed))


FAST_NAMES = "bleu chrf chrf++ ter nist gleu wer cdec-bleu ibleu mteval-v13a".split()  # noqa: SIM905
FAST_METRICS = [*map(registry.metric, FAST_NAMES), BLEU(missing_order="at-least-one")]


@given(
    st.sampled_from(FAST_METRICS),
    st.lists(st.tuples(*[st.text("abc .é", max_size=12)] * 3), min_size=1, max_size=6),
)
def test_counted_statistics_satisfy_constraints(metric, rows):
    hypotheses, references, sources = map(list, zip(*rows, strict=True))
    table, _ = metric.count_corpus(Corpus(hypotheses, references, sources=sources))
    table.check(*metric.constraints)
    table.sum().check(*metric.constraints)


def test_invalid_header_raises_error(load_bytes):
    table = count_example(BLEU())
    deep = "[" * 100_000 + "]" * 100_000
    for header in (deep, '{"columns": ' + deep + "}", "", "{", "\x00", "[1]", "9" * 5000):
        with pytest.raises(InputError, match="header"):
            load_bytes(_kernel.sealed("statistics", header, table.to_bytes()))
    for rows in (table.to_bytes()[:-1], table.to_bytes() + bytes(8), b""):
        with pytest.raises(InputError, match="expected 240 bytes of rows"):
            load_bytes(seal_table(table, data=rows))
    old = b"truebleu statistics 1\n" + json.dumps(table._make_header()).encode() + b"\n"
    with pytest.raises(InputError, match=r"unsupported version 1 .* \(expected 2\)"):
        load_bytes(old + bytes(-len(old) % 64) + table.to_bytes())
    with pytest.raises(InputError, match=r"not written by Statistics\.save"):
        load_bytes(_kernel.sealed("sums", "{}", b""))


@pytest.mark.parametrize("columns", [("a", "b"), BLEU().columns[::-1], (*BLEU().columns, "more")])
def test_wrong_columns_raise_error(columns, load_bytes):
    table = count_example(BLEU())
    data = bytes(8 * len(columns) * len(table))
    changed_table = load_bytes(seal_table(table, columns=list(columns), data=data))
    for verb in (BLEU().from_statistics, BLEU().scores, BLEU().segment_scores):
        with pytest.raises(InputError, match=r"do not match BLEU .expected hypothesis_length, ref"):
            verb(changed_table)


def change_value(table: Statistics, row: int, column: str, value: int) -> bytes:
    rows = table.tolist()
    rows[row][table.columns.index(column)] = value
    return seal_table(table, data=_kernel.Table.from_rows(rows, table.width).to_bytes())


@pytest.mark.parametrize(
    ("metric", "column", "value", "message"),
    [
        (BLEU(), "matches_1", -5, r"row 2: matches_1 is -5 \(expected at least 0\)"),
        (BLEU(), "reference_length", -1, r"row 2: reference_length is -1 \(expected at least 0\)"),
        (BLEU(), "matches_1", 3, "row 2: matches_1 is 3, which is too large because totals_1 is 2"),
        (BLEU(), "totals_2", 2**40, "totals_2 is 1099511627776, which is too large"),
        (BLEU(), "hypothesis_length", 1, "totals_1 is 2, .* because hypothesis_length is 1"),
        (CHRF(), "matches_c1", 2**62, "matches_c1 is .* because hypothesis_c1 is"),
        (TER(), "edits", MIN_INT64, r"row 2: edits is -9223372036854775808 \(expected at least"),
        (NIST(), "information_1", 2**62, "because totals_1 is 2"),
        (Difference(), "segments", -1, r"segments is -1 \(expected at least 0\)"),
        (Difference(), "difference_high", -(2**40), "too large because segments is 1"),
        (Difference(), "half_low", 2**31, "too large because segments is 1"),
    ],
    ids=str,
)
def test_impossible_integers_raise_error(metric, column, value, message, load_bytes):
    table = load_bytes(change_value(count_example(metric), 1, column, value))
    for verb in (metric.from_statistics, metric.scores, metric.segment_scores):
        with pytest.raises(InputError, match=message):
            verb(table)


def test_negative_integers_in_signed_columns(load_bytes):
    table = count_example(Difference())
    assert any(value < 0 for row in table.tolist() for value in row)
    score = Difference().from_statistics(table)
    assert Difference().from_statistics(load_bytes(seal_table(table))) == score
    assert Difference().from_statistics(table.sum().tolist()[0]).value == score.value
    with pytest.raises(InputError, match="non-negative"):
        Difference().from_statistics([-1, *table.sum().tolist()[0][1:]])
    with pytest.raises(InputError, match="non-negative"):
        BLEU().from_statistics([-5] * 10)
    with pytest.raises(InputError, match="64-bit integers"):
        BLEU().from_statistics([2**63] * 10)


INTEGERS = (
    st.integers(0, 9)
    | st.integers(MIN_INT64, MAX_INT64)
    | st.sampled_from([MIN_INT64, -1, 0, 1, MAX_INT64])
)


@given(st.data())
def test_arbitrary_integers_give_score_or_input_error(data):
    """Scoring gives a number or InputError, never another exception."""
    metric = registry.metric(data.draw(st.sampled_from(FAST_NAMES)))
    row = st.lists(INTEGERS, min_size=len(metric.columns), max_size=len(metric.columns))
    rows = data.draw(st.lists(row, min_size=1, max_size=3))
    if data.draw(st.booleans()):
        rows = [[abs(value) % 7 for value in row] for row in rows]
    table = metric.make_statistics(_kernel.Table.from_rows(rows, len(rows[0])), 1)
    for verb in (metric.scores, metric.segment_scores, lambda t: [metric.from_statistics(t)]):
        with contextlib.suppress(InputError):
            assert not any(map(math.isnan, map(float, verb(table)))), rows


# ---- sums ----


def test_overflowing_sums_raise_error():
    metric = BLEU()
    table = metric.make_statistics(_kernel.Table.from_rows([[2**62] * 10] * 3, 10), 1)
    for verb in (table.sum, table.total, lambda: table.groups([1, 1, 1])):
        with pytest.raises(InputError, match="overflow 64-bit integers"):
            verb()
    with pytest.raises(InputError, match="overflow 64-bit integers"):
        metric.from_statistics(table)
    assert table[:1].sum() == table[:1]
    assert [one.tolist() for one in table.groups([*"abc"]).values()] == [[[2**62] * 10]] * 3


@example([[2**62], [2**62], [-(2**62)]])
@example([[MAX_INT64], [1], [MIN_INT64]])
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(INTEGERS, min_size=n, max_size=n))))
def test_sum_is_exact_or_raises_error(rows):
    width = len(rows[0]) if rows else 1
    table = _kernel.Table.from_rows(rows, width)
    sums = [sum(column) for column in zip(*rows, strict=True)] or [0]
    if all(MIN_INT64 <= value <= MAX_INT64 for value in sums):
        assert table.total().tolist() == [sums]
    else:
        with pytest.raises(InputError, match="64-bit"):
            table.total()


def test_accumulator_rejects_impossible_integers():
    state = Accumulator().state_dict()
    for totals in ([-1] * 10, [2**63] * 10, [1.0] * 10, [0] * 9, [5, 5, 9, 0, 0, 0, 5, 4, 3, 2]):
        with pytest.raises(InputError):
            Accumulator.from_state_dict(
                {**state, "totals": totals, "segments": 1, "references": [1, 1]}
            ).compute()


# ---- arguments ----

HUGE = [2**31, 2**32 + 1, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -1]
REFUSED = (ValueError, IndexError, OverflowError)


@pytest.mark.parametrize("huge", HUGE)
def test_arguments_out_of_range_raise_error(huge):
    table = _kernel.Table.from_rows([[1, 2], [3, 4]], 2)
    calls = [
        lambda: table.group_totals([huge, 0], 1),
        lambda: table.group_totals([0, huge], 2),
        lambda: table.group_totals([0, 0], huge),
        lambda: table.pick([huge]),
        lambda: table.range(0, huge),
        lambda: table.range(huge, huge),
        lambda: table.values_of(huge),
        lambda: table.columns_of([huge]),
        lambda: table.check(["a", "b"], [huge], []),
        lambda: table.check(["a", "b"], [], [(huge, 1, 0)]),
        lambda: table.check(["a", "b"], [], [(0, 1, huge)]),
        lambda: _kernel.Table.from_bytes(bytes(32), huge),
        lambda: _kernel.Table.from_rows([[1, 2]], huge),
        lambda: count_example(BLEU())[[abs(huge) + 2]],
    ]
    for call in calls:
        with pytest.raises(REFUSED):
            call()
    assert table.group_totals([1, 0], 2).tolist() == [[3, 4], [1, 2]]


@pytest.mark.parametrize("width", [0, 2**60, 2**61, 2**62, 2**63, 2**64 - 1])
def test_invalid_width_raises_error(width):
    with pytest.raises(REFUSED):
        _kernel.Table.from_bytes(b"", width)
    with pytest.raises(REFUSED):
        _kernel.Table.from_rows([], width)


def test_mismatched_shapes_raise_error():
    table = _kernel.Table.from_rows([[1, 2], [3, 4]], 2)
    for call in (
        lambda: table.group_totals([0], 1),
        lambda: table.group_totals([0, 0, 0], 1),
        lambda: table.filter([True]),
        lambda: table.range(2, 1),
        lambda: table.columns_of([]),
        lambda: table.concatenated(_kernel.Table.from_rows([[1]], 1)),
        lambda: table.arrow_array(["a"]),
        lambda: table.arrow_stream(["a"]),
        lambda: table.check(["a"], [], []),
        lambda: _kernel.Table.from_rows([[1, 2**63]], 2),
        lambda: _kernel.sealed("nothing", "", b""),
        lambda: _kernel.sealed("sums", "a\nb", b""),
        lambda: _kernel.unsealed("nothing", "", b""),
    ):
        with pytest.raises(REFUSED):
            call()


# ---- buffers ----


class View(ctypes.Structure):
    """Structure `Py_buffer` of the C API."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    )


WRITABLE, FORMAT, ND, STRIDES = 0x1, 0x4, 0x8, 0x10 | 0x8
C, FORTRAN, ANY, INDIRECT = 0x20 | STRIDES, 0x40 | STRIDES, 0x80 | STRIDES, 0x100 | STRIDES
REQUESTS = [
    a | b | c
    for a, b, c in itertools.product(
        (0, WRITABLE), (0, FORMAT), (0, ND, STRIDES, C, FORTRAN, ANY, INDIRECT, C | FORTRAN)
    )
]


def buffers():
    table = _kernel.Table.from_rows([[1, 2, 3], [4, 5, 6]], 3)
    yield table, (2, 3), b"q"
    yield table.range(1, 2), (1, 3), b"q"
    yield table.columns_of([1]), (2, 1), b"q"
    yield table.range(0, 0), (0, 3), b"q"
    yield _kernel.Scores([1.5, 2.5, 3.5]), (3,), b"d"
    yield _kernel.Scores([]), (0,), b"d"
    yield BLEU().matrix(["a b", "c"], ["a b", "c", "d"]), (2, 3), b"d"


@pytest.mark.parametrize("flags", REQUESTS, ids=hex)
def test_buffer_requests_follow_protocol(flags):
    api = ctypes.pythonapi
    api.PyObject_GetBuffer.argtypes = (ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
    api.PyBuffer_Release.argtypes = (ctypes.POINTER(View),)
    for numbers, shape, letter in buffers():
        in_line = 0 in shape or sum(length > 1 for length in shape) <= 1
        view = View()
        refused = (
            flags & WRITABLE
            or (flags & FORTRAN == FORTRAN and not in_line)
            or (flags & FORMAT and flags & ND != ND)
        )
        if refused:
            with pytest.raises(BufferError):
                api.PyObject_GetBuffer(numbers, view, flags)
            assert view.obj is None
            continue
        api.PyObject_GetBuffer(numbers, view, flags)
        try:
            shaped, strided = flags & ND == ND, flags & STRIDES == STRIDES
            assert view.readonly == 1
            assert view.len == 8 * math.prod(shape)
            assert view.itemsize == (8 if shaped else 1)
            assert view.format == (letter if flags & FORMAT else None)
            assert view.ndim == (len(shape) if shaped else 1)
            assert bool(view.shape) == shaped
            assert bool(view.strides) == strided
            assert not view.suboffsets
            if shaped:
                assert tuple(view.shape[: len(shape)]) == shape
            if strided:
                strides = tuple(8 * math.prod(shape[i + 1 :]) for i in range(len(shape)))
                assert tuple(view.strides[: len(shape)]) == strides
            assert ctypes.string_at(view.buf, view.len) == memoryview(numbers).tobytes()
        finally:
            api.PyBuffer_Release(view)
