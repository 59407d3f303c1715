"""Arrow arrays that a program has made wrongly are refused, with the column's name."""

import array
import ctypes
import struct

import pytest

from truebleu import BLEU, InputError
from truebleu.engines import Sums

pa = pytest.importorskip("pyarrow")

WRONG = "malformed Arrow array"


def buffer(code: str, *values: int):
    return pa.py_buffer(struct.pack(f"<{len(values)}{code}", *values))


def changed_to(code: str, values: tuple[int, ...], make):
    """Return the array that `make` builds, with its offsets replaced afterwards."""
    memory = bytearray(struct.calcsize(code) * len(values))
    array = make(pa.py_buffer(memory))
    memory[:] = struct.pack(f"<{len(values)}{code}", *values)
    return array


DATA = pa.py_buffer(b"abcdef")


def strings(*offsets: int, code: str = "i", offset: int = 0):
    kind = pa.string() if code == "i" else pa.large_string()
    length = len(offsets) - 1 - offset

    def make(position):
        return pa.Array.from_buffers(kind, length, [None, position, DATA], offset=offset)

    return changed_to(code, offsets, make)


@pytest.mark.parametrize("code", "iq")
@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ((0, 3, 1, 6), "entry 1 has descending offsets 3 and 1"),
        ((0, 2, 6, 5), "entry 2 has descending offsets 6 and 5"),
        ((-1, 2, 3, 6), "invalid offsets from -1 to 6"),
        ((0, -(2**31), 3, 6), "entry 0 has descending offsets 0 and -2147483648"),
    ],
)
def test_offsets(offsets, message, code):
    good, bad = strings(0, 2, 3, 6, code=code), strings(*offsets, code=code)
    assert float(BLEU().score(good, ["ab", "c", "def"])) >= 0
    for hypotheses, references, name in ((bad, good, "hypotheses"), (good, bad, "references")):
        with pytest.raises(InputError, match=rf"{name}: {WRONG}: {message}"):
            BLEU().score(hypotheses, references)
    if offsets[0] < 0:
        return  # pyarrow makes no table of it
    for table in ({"hyp": bad, "ref": good}, {"hyp": good, "ref": bad}):
        with pytest.raises(InputError, match=rf"{WRONG}: {message}"):
            Sums().update(pa.table(table))
    keyed = pa.table({"hyp": good, "ref": good, "key": bad})
    with pytest.raises(InputError, match=rf"key: {WRONG}: {message}"):
        Sums(by="key").update(keyed)
    assert Sums().update(keyed).segments == 3  # what is not read is not looked at


def test_offsets_around_a_slice_do_not_count():
    column, texts = strings(9, 0, 2, 6, offset=1), ["ab", "cdef"]
    assert BLEU().score(column, texts).value == BLEU().score(texts, texts).value
    sliced = strings(0, 2, 3, 1)
    assert BLEU().statistics(sliced.slice(0, 2), ["ab", "c"]).shape == (2, 10)
    with pytest.raises(InputError, match=rf"{WRONG}: entry 0 has descending offsets 3 and 1"):
        BLEU().statistics(sliced.slice(2), ["ab"])


def test_a_chunk_behind_others():
    column = pa.chunked_array([strings(0, 2, 3), strings(0, 3, 1)])
    with pytest.raises(InputError, match=rf"hypotheses: {WRONG}: entry 1"):
        BLEU().score(column, ["a"] * 4)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("offsets", [(0, 4), (2, 1), (-1, 1), (0, 2**31 - 1)])
def test_lists(offsets, large):
    code, kind = ("q", pa.large_list) if large else ("i", pa.list_)
    items = strings(0, 2, 3, 6)

    def make(position):
        lists = pa.Array.from_buffers(kind(pa.string()), 1, [None, position], children=[items])
        return lists, pa.table({"hyp": ["a"], "ref": lists})

    lists, table = changed_to(code, offsets, make)
    with pytest.raises(InputError, match=f"references: {WRONG}"):
        BLEU().score(["a"], lists)
    with pytest.raises(InputError, match=f"ref: {WRONG}"):
        Sums().update(table)


@pytest.mark.parametrize("index", [3, -1, 127, -128])
def test_indices_of_dictionaries(index):
    indices = pa.Array.from_buffers(pa.int8(), 2, [None, buffer("b", 0, index)])
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b", "c"]), safe=False)
    with pytest.raises(InputError, match=f"hypotheses: {WRONG}: values"):
        BLEU().score(column, ["a", "b"])
    with pytest.raises(InputError, match=f"key: {WRONG}: values"):
        Sums(by="key").update(pa.table({"hyp": ["a"] * 2, "ref": ["a"] * 2, "key": column}))


@pytest.mark.parametrize(
    "view", [(30, 0, 0, 3), (30, 0, 1, 0), (-1, 0, 0, 0), (30, 0, 0, -1), (13, 0, -1, 0)]
)
def test_views(view):
    if not hasattr(pa, "string_view"):
        pytest.skip("this pyarrow has no views")
    data = pa.py_buffer(b"a text of more than twelve bytes")
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, buffer("i", *view), data])
    with pytest.raises(InputError, match=f"hypotheses: {WRONG}: view 0 refers to"):
        BLEU().score(column, ["a"])


# ---- structures by hand ----


class CArray(ctypes.Structure):
    """`struct ArrowArray`."""


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CArray._fields_ = (
    *((name, ctypes.c_int64) for name in ("length", "nulls", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", RELEASE),
    ("private", ctypes.c_void_p),
)


class ByHand:
    """A column of strings whose C array has given values."""

    def __init__(self, **changed: object) -> None:
        self.data = ctypes.create_string_buffer(b"abcdef")
        self.offsets = array.array("i", [0, 2, 3, 6])
        pointers = [None, self.offsets.buffer_info()[0], ctypes.addressof(self.data)]
        self.pointers = (ctypes.c_void_p * 3)(*pointers)
        self.release = RELEASE(lambda at: setattr(CArray.from_address(at), "release", RELEASE()))
        self.array = CArray(3, 0, 0, 3, 0, self.pointers, None, None, self.release, None)
        for name, value in changed.items():
            if name == "hole":
                self.pointers[value] = None
            else:
                setattr(self.array, name, value)

    def __arrow_c_array__(self, requested_schema=None):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        schema = pa.string().__arrow_c_schema__()
        return schema, make(ctypes.addressof(self.array), b"arrow_array", None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"length": -1}, "invalid length -1 or offset 0"),
        ({"length": 2**63 - 1}, "invalid length 9223372036854775807"),
        ({"offset": -1}, "invalid length 3 or offset -1"),
        ({"offset": 2**62}, "invalid length 3 or offset 4611686018427387904"),
        ({"n_buffers": 2}, "expected 3 buffers, found 2"),
        ({"n_buffers": 0}, "expected 3 buffers, found 0"),
        ({"n_buffers": -1}, "expected 3 buffers, found -1"),
        ({"buffers": None}, "expected 3 buffers, found 0"),
        ({"hole": 1}, "missing buffer"),
        ({"hole": 2}, "missing buffer"),
    ],
    ids=str,
)
def test_structures(changed, message):
    assert BLEU().statistics(ByHand(), ["ab", "c", "def"]).shape == (3, 10)
    array = ByHand(**changed)
    with pytest.raises(InputError, match=f"hypotheses: {WRONG}: {message}"):
        BLEU().statistics(array, ["ab", "c", "def"])
    assert not array.array.release  # it was released all the same
