"""Sums that travel are whole and true: whatever was changed on the way is refused."""

import contextlib
import json
import random
import struct

import hypothesis.strategies as st
import pytest
from hypothesis import given

from truebleu import InputError, _kernel
from truebleu.engines import Sums

pa = pytest.importorskip("pyarrow")

TABLE = pa.table(
    {
        "hyp": ["a b c", "a b", None, "c d e f"],
        "ref": ["a b d", "a c", "x", "c d e g"],
        "key": ["x", "y", "y", None],
        "number": [1, -2, -2, 300],
    }
)
METRICS = ("bleu", "chrf", "ter")


def sums(**options) -> Sums:
    options = {"by": ("key", "number"), "nulls": "skip", **options}
    return Sums(METRICS, **options).update(TABLE)


def opened(of: Sums) -> tuple[dict, bytes]:
    header, content = _kernel.unsealed("sums", "sums", of.to_bytes())
    return json.loads(header), content


def remade(of: Sums, content: bytes | None = None, **changed: object) -> bytes:
    """The bytes of sums that say something else, with a checksum that is right."""
    header, own = opened(of)
    return _kernel.sealed(
        "sums", json.dumps({**header, **changed}), own if content is None else content
    )


def test_no_bit_of_sums_can_change():
    whole = sums()
    data = whole.to_bytes()
    assert whole.spawn().merge_bytes(data) == whole
    target = whole.spawn()
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InputError):
            target.merge_bytes(bytes(changed))
    assert target == whole.spawn()


def test_sums_that_were_cut_or_grew_are_refused():
    whole = sums()
    data = whole.to_bytes()
    pieces = [data[:length] for length in range(len(data))]
    pieces += [data + more for more in (b"\0", bytes(8), data[-8:], data)]
    for piece in (*pieces, data[1:], b"\n" + data):
        with pytest.raises(InputError, match=r"Sums\.to_bytes"):
            whole.spawn().merge_bytes(piece)


@given(st.data())
def test_changes_with_a_right_checksum_are_refused_or_are_sums(data):
    """What somebody makes on purpose is refused, or is sums that can be scored and sent on."""
    whole = sums()
    content = bytearray(opened(whole)[1])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    other = whole.spawn()
    with contextlib.suppress(InputError):
        other.merge_bytes(remade(whole, bytes(content)))
        assert len(other.keys) == len(other)
        other.scores()
        assert other.spawn().merge_bytes(other.to_bytes()) == other
        assert other.spawn().merge_state(pa.table(other)) == other


@pytest.mark.thorough
@pytest.mark.parametrize("of", [sums(), sums(by=None)], ids=["keys", "none"])
def test_every_bit_with_a_right_checksum(of):
    content = opened(of)[1]
    for bit in random.Random(5).sample(range(8 * len(content)), min(2000, 8 * len(content))):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        other = of.spawn()
        with contextlib.suppress(InputError):
            other.merge_bytes(remade(of, bytes(changed)))
            # What is left are sums that some text could have.
            for scores in other.scores().values():
                assert all(map(_is_number, scores.values()))


def _is_number(score: object) -> bool:
    return float(score) == float(score)


# One group of a metric of two columns: its key, counts, references, integers.
def group(key=b"\1\1\0\0\0x", counts=(1, 0, 0), references=(1, 1), row=(1, 720720)) -> bytes:
    head = struct.pack("<I", len(key)) + key
    return head + struct.pack("<3q2i", *counts, *references) + struct.pack(f"<{len(row)}q", *row)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (group()[:-1], "cut"),
        (group() + b"\0", "cut"),
        (group() * 2, "two groups have one key"),
        (group(key=b""), "a key is none of its type"),
        (group(key=b"\1\1\0\0\0x\0"), "a key is none of its type"),
        (group(key=b"\2\1\0\0\0x"), "a key is none of its type"),
        (group(key=b"\1\1\0\0\0\xff"), "a key is none of its type"),
        (group(key=b"\1\xff\xff\xff\xffx"), "a key is none of its type"),
        (group(counts=(-1, 0, 0)), "counts that no rows have"),
        (group(counts=(0, 0, 0)), "counts that no rows have"),
        (group(counts=(1, -1, 0)), "counts that no rows have"),
        (group(references=(0, 1)), "counts that no rows have"),
        (group(references=(2, 1)), "counts that no rows have"),
        (group(row=(-1, 1)), "sums of TER.*edits is -1, below 0"),
        (struct.pack("<I", 2**32 - 1), "a key is cut"),
    ],
)
def test_groups_that_no_table_has(content, told):
    own = Sums("ter", by="key").update(TABLE.slice(0, 1))
    assert own.spawn().merge_bytes(remade(own, group())).keys == ["x"]
    with pytest.raises(InputError, match=told):
        own.spawn().merge_bytes(remade(own, content))


@pytest.mark.parametrize(
    ("form", "key", "taken"),
    [
        ("l", b"\1\1" + struct.pack("<q", 7), True),
        ("l", b"\1\0" + struct.pack("<q", -7), True),
        ("l", b"\1\0" + struct.pack("<q", 7), False),
        ("l", b"\1\2" + struct.pack("<q", 7), False),
        ("l", b"\1\1" + struct.pack("<q", -1), False),
        ("L", b"\1\1" + struct.pack("<q", -1), True),
        ("C", b"\1\1" + struct.pack("<q", 256), False),
        ("c", b"\1\0" + struct.pack("<q", -129), False),
        ("c", b"\1\0" + struct.pack("<q", -128), True),
        ("b", b"\1\1", True),
        ("b", b"\1\2", False),
        ("n", b"\0", True),
        ("n", b"\1", False),
        ("g", b"\1" + struct.pack("<d", 0.5), True),
        ("g", b"\1" + struct.pack("<d", -0.0), False),
        ("f", b"\1" + struct.pack("<d", 0.1), False),
        ("w:3", b"\1abc", True),
        ("w:3", b"\1abcd", False),
        ("tdD", b"\1" + struct.pack("<i", -1), True),
        ("tsu:UTC", b"\1" + struct.pack("<q", -1), True),
        ("d:38,0", b"\1" + bytes(17), True),
        ("d:38,0", b"\1\1" + struct.pack("<qq", 15, 0), True),
        ("d:38,0", b"\1\1" + struct.pack("<qq", 10, 0), False),
        ("d:38,0", b"\1\47" + struct.pack("<qq", 1, 0), False),
        ("w:18446744073709551615", b"", False),
        ("w:-1", b"", False),
        ("d:38,0,18446744073709551615", b"", False),
        ("+l", b"", False),
        ("", b"", False),
    ],
)
def test_keys_of_every_type(form, key, taken):
    own = Sums("ter", by="key").update(TABLE.slice(0, 1))
    data = remade(own, group(key=key), formats=[form])
    if taken:
        other = own.spawn().merge_bytes(data)
        assert other.spawn().merge_bytes(other.to_bytes()) == other
    else:
        with pytest.raises(InputError):
            own.spawn().merge_bytes(data)


def test_headers_that_sums_do_not_have():
    own = sums()
    content = opened(own)[1]
    deep = "[" * 100_000 + "]" * 100_000
    for header in (
        deep,
        "{",
        "[]",
        "1",
        "null",
        '"x"',
        "[[1]]",
        '{"formats": {}}',
        '{"formats": [1]}',
    ):
        with pytest.raises(InputError):
            own.spawn().merge_bytes(_kernel.sealed("sums", header, content))
    for formats in (["u"], ["u", "l", "l"], [], None, ["x", "l"], "ul"):
        with pytest.raises(InputError):
            own.spawn().merge_bytes(remade(own, formats=formats))
    with pytest.raises(InputError, match="sums with different metrics"):
        own.spawn().merge_bytes(remade(own, metrics=["x"]))
    with pytest.raises(InputError, match=r"version 1 .* reads version 2"):
        own.spawn().merge_bytes(b"truebleu sums 1\n{}\n" + content)


def test_merging_does_not_wrap():
    own = Sums("ter", by="key").update(TABLE.slice(0, 1))
    data = remade(own, group(row=(2**62, 2**62)))
    once = own.spawn().merge_bytes(data)
    before = once.to_bytes()
    with pytest.raises(InputError, match="beyond 64-bit integers"):
        once.merge_bytes(data)
    with pytest.raises(InputError, match="beyond 64-bit integers"):
        once.merge(once)
    two = pa.concat_tables([pa.table(once)] * 2)
    with pytest.raises(InputError, match="beyond 64-bit integers"):
        own.spawn().merge_state(two)
    assert once.to_bytes() == before
    many = remade(own, group(counts=(2**62, 0, 0)))
    with pytest.raises(InputError, match="beyond 64-bit integers"):
        own.spawn().merge_bytes(many).merge_bytes(many)


def test_a_table_of_sums_with_integers_that_no_text_has():
    own = sums(by=None)
    state = pa.table(own).to_pylist()
    for row, at, value in ((0, 0, -1), (0, 2, 10**6), (1, 0, -1), (2, 2, 10**6)):
        rows = [{**one, "statistics": list(one["statistics"])} for one in state]
        rows[row]["statistics"][at] = value
        table = pa.Table.from_pylist(rows, schema=pa.table(own).schema)
        with pytest.raises(InputError, match="cannot come from text"):
            own.spawn().merge_state(table)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 2**127, 10**40])
def test_ids_beyond_64_bits_have_no_bucket(number):
    with pytest.raises((ValueError, OverflowError)):
        _kernel.bucket(number, 7)
    with pytest.raises((ValueError, OverflowError)):
        _kernel.bucket("a", 2**64)
    with pytest.raises(ValueError, match="no buckets"):
        _kernel.bucket("a", 0)


def test_groups_of_arguments_that_are_out_of_range():
    def made(metrics, bucket=None):
        return _kernel.Groups(metrics, "hyp", ["ref"], [], bucket)

    rules = (["a", "b"], [], [])
    for metrics in ([], [("x", (["a"], [1], []), print)], [("x", (["a"], [], [(0, 1, 5)]), print)]):
        with pytest.raises(ValueError):  # noqa: PT011
            made(metrics)
    for buckets in (0, 2**63, 2**64, -1):
        with pytest.raises((ValueError, OverflowError)):
            made([("x", rules, print)], ("id", buckets))
    groups = made([("x", rules, print)])
    for metric in (1, 2**63, 2**64, -1):
        with pytest.raises((IndexError, OverflowError)):
            groups.statistics(metric)
