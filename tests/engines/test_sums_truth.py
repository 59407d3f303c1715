"""Serialized sums: damaged, modified and impossible data raise errors."""

import contextlib
import json
import math
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


def make_sums(**options) -> Sums:
    options = {"by": ("key", "number"), "nulls": "skip", **options}
    return Sums(METRICS, **options).update(TABLE)


def read_header(source: Sums) -> tuple[dict, bytes]:
    header, content = _kernel.unsealed("sums", "sums", source.to_bytes())
    return json.loads(header), content


def rebuild_bytes(source: Sums, content: bytes | None = None, **header_changes: object) -> bytes:
    """Return serialized sums with modified content and a valid checksum."""
    header, original_content = read_header(source)
    header_text = json.dumps({**header, **header_changes})
    return _kernel.sealed("sums", header_text, original_content if content is None else content)


def test_any_flipped_bit_raises_error():
    original = make_sums()
    data = original.to_bytes()
    assert original.spawn().merge_bytes(data) == original
    target = original.spawn()
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InputError):
            target.merge_bytes(bytes(changed))
    assert target == original.spawn()


def test_truncated_and_extended_bytes_raise_error():
    original = make_sums()
    data = original.to_bytes()
    pieces = [data[:length] for length in range(len(data))]
    pieces += [data + suffix for suffix in (b"\0", bytes(8), data[-8:], data)]
    for piece in (*pieces, data[1:], b"\n" + data):
        with pytest.raises(InputError, match=r"Sums\.to_bytes"):
            original.spawn().merge_bytes(piece)


@given(st.data())
def test_random_changes_with_valid_checksum_raise_error_or_give_valid_sums(data):
    """Deliberate changes raise an error, or give sums that can be scored and serialized."""
    original = make_sums()
    content = bytearray(read_header(original)[1])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    read_sums = original.spawn()
    with contextlib.suppress(InputError):
        read_sums.merge_bytes(rebuild_bytes(original, bytes(content)))
        assert len(read_sums.keys) == len(read_sums)
        read_sums.scores()
        assert read_sums.spawn().merge_bytes(read_sums.to_bytes()) == read_sums
        assert read_sums.spawn().merge_state(pa.table(read_sums)) == read_sums


@pytest.mark.thorough
@pytest.mark.parametrize("original", [make_sums(), make_sums(by=None)], ids=["keys", "none"])
def test_flipped_bits_with_valid_checksum(original):
    content = read_header(original)[1]
    for bit in random.Random(5).sample(range(8 * len(content)), min(2000, 8 * len(content))):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        read_sums = original.spawn()
        with contextlib.suppress(InputError):
            read_sums.merge_bytes(rebuild_bytes(original, bytes(changed)))
            # Accepted sums have valid scores.
            for scores in read_sums.scores().values():
                assert not any(math.isnan(float(score)) for score in scores.values())


def pack_group(key=b"\1\1\0\0\0x", counts=(1, 0, 0), references=(1, 1), row=(1, 720720)) -> bytes:
    head = struct.pack("<I", len(key)) + key
    return head + struct.pack("<3q2i", *counts, *references) + struct.pack(f"<{len(row)}q", *row)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pack_group()[:-1], "truncated"),
        (pack_group() + b"\0", "truncated"),
        (pack_group() * 2, "two groups have the same key"),
        (pack_group(key=b""), "a key does not match its type"),
        (pack_group(key=b"\1\1\0\0\0x\0"), "a key does not match its type"),
        (pack_group(key=b"\2\1\0\0\0x"), "a key does not match its type"),
        (pack_group(key=b"\1\1\0\0\0\xff"), "a key does not match its type"),
        (pack_group(key=b"\1\xff\xff\xff\xffx"), "a key does not match its type"),
        (pack_group(counts=(-1, 0, 0)), "invalid counts"),
        (pack_group(counts=(0, 0, 0)), "invalid counts"),
        (pack_group(counts=(1, -1, 0)), "invalid counts"),
        (pack_group(references=(0, 1)), "invalid counts"),
        (pack_group(references=(2, 1)), "invalid counts"),
        (pack_group(row=(-1, 1)), "sums of TER.*edits is -1 .expected at least 0"),
        (struct.pack("<I", 2**32 - 1), "a key is truncated"),
    ],
)
def test_invalid_groups_raise_error(content, message):
    ter_sums = Sums("ter", by="key").update(TABLE.slice(0, 1))
    assert ter_sums.spawn().merge_bytes(rebuild_bytes(ter_sums, pack_group())).keys == ["x"]
    with pytest.raises(InputError, match=message):
        ter_sums.spawn().merge_bytes(rebuild_bytes(ter_sums, content))


@pytest.mark.parametrize(
    ("key_format", "key", "is_valid"),
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
def test_keys_of_every_type(key_format, key, is_valid):
    ter_sums = Sums("ter", by="key").update(TABLE.slice(0, 1))
    data = rebuild_bytes(ter_sums, pack_group(key=key), formats=[key_format])
    if is_valid:
        read_sums = ter_sums.spawn().merge_bytes(data)
        assert read_sums.spawn().merge_bytes(read_sums.to_bytes()) == read_sums
    else:
        with pytest.raises(InputError):
            ter_sums.spawn().merge_bytes(data)


def test_invalid_headers_raise_error():
    original = make_sums()
    content = read_header(original)[1]
    deep = "[" * 100_000 + "]" * 100_000
    wrong_types = ["{", "[]", "1", "null", '"x"', "[[1]]", '{"formats": {}}', '{"formats": [1]}']
    for header in (deep, *wrong_types):
        with pytest.raises(InputError):
            original.spawn().merge_bytes(_kernel.sealed("sums", header, content))
    for formats in (["u"], ["u", "l", "l"], [], None, ["x", "l"], "ul"):
        with pytest.raises(InputError):
            original.spawn().merge_bytes(rebuild_bytes(original, formats=formats))
    with pytest.raises(InputError, match="sums with different metrics"):
        original.spawn().merge_bytes(rebuild_bytes(original, metrics=["x"]))
    with pytest.raises(InputError, match=r"unsupported version 1 .*expected 2"):
        original.spawn().merge_bytes(b"truebleu sums 1\n{}\n" + content)


def test_merging_beyond_64_bits_raises_error():
    ter_sums = Sums("ter", by="key").update(TABLE.slice(0, 1))
    data = rebuild_bytes(ter_sums, pack_group(row=(2**62, 2**62)))
    large_sums = ter_sums.spawn().merge_bytes(data)
    before = large_sums.to_bytes()
    many_segments = rebuild_bytes(ter_sums, pack_group(counts=(2**62, 0, 0)))
    for merge, other in (
        (large_sums.merge_bytes, data),
        (large_sums.merge, large_sums),
        (ter_sums.spawn().merge_state, pa.concat_tables([pa.table(large_sums)] * 2)),
        (ter_sums.spawn().merge_bytes(many_segments).merge_bytes, many_segments),
    ):
        with pytest.raises(InputError, match="overflow 64-bit integers"):
            merge(other)
    assert large_sums.to_bytes() == before


def test_impossible_statistics_raise_error():
    original = make_sums(by=None)
    state = pa.table(original).to_pylist()
    for row, column, value in ((0, 0, -1), (0, 2, 10**6), (1, 0, -1), (2, 2, 10**6)):
        rows = [{**state_row, "statistics": list(state_row["statistics"])} for state_row in state]
        rows[row]["statistics"][column] = value
        table = pa.Table.from_pylist(rows, schema=pa.table(original).schema)
        with pytest.raises(InputError, match=r"Compute these statistics again"):
            original.spawn().merge_state(table)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 2**127, 10**40])
def test_ids_beyond_64_bits_raise_error(number):
    with pytest.raises((ValueError, OverflowError)):
        _kernel.bucket(number, 7)
    with pytest.raises((ValueError, OverflowError)):
        _kernel.bucket("a", 2**64)
    with pytest.raises(ValueError, match="buckets must be at least 1"):
        _kernel.bucket("a", 0)


def test_kernel_arguments_out_of_range_raise_error():
    def make_groups(metrics, bucket=None):
        return _kernel.Groups(metrics, "hyp", ["ref"], [], bucket)

    rules = (["a", "b"], [], [])
    for metrics in ([], [("x", (["a"], [1], []), print)], [("x", (["a"], [], [(0, 1, 5)]), print)]):
        with pytest.raises(ValueError):  # noqa: PT011
            make_groups(metrics)
    for buckets in (0, 2**63, 2**64, -1):
        with pytest.raises((ValueError, OverflowError)):
            make_groups([("x", rules, print)], ("id", buckets))
    groups = make_groups([("x", rules, print)])
    for metric in (1, 2**63, 2**64, -1):
        with pytest.raises((IndexError, OverflowError)):
            groups.statistics(metric)
