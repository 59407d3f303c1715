"""Blocks and JSON survive encoding and decoding."""

import gzip
import json

import pytest
from encoded_texts import encode_texts
from hypothesis import given
from hypothesis import strategies as st
from page_parser import decode_interleaved_texts, decode_rows, decode_texts
from strategies import HOSTILE

from truebleu._kernel import Table
from truebleu.reports import payload

# Any str, including lone surrogates, NUL and line endings.
ANY_TEXT = st.text(st.characters(), max_size=20)


@given(st.lists(st.none() | ANY_TEXT))
def test_texts_survive_round_trip(texts):
    assert decode_texts(payload.encode_texts(encode_texts(texts)), len(texts)) == texts


def test_unusual_and_long_texts_survive_round_trip():
    texts = [*HOSTILE, "", None, "a" * 70_000, "e\u0301\U0001f469\u200d\U0001f52c"]
    assert decode_texts(payload.encode_texts(encode_texts(texts)), len(texts)) == texts


@given(st.lists(ANY_TEXT, min_size=1, max_size=9), st.sets(st.integers(0, 8)))
def test_omitted_texts_are_missing(texts, embedded):
    columns = texts, texts[::-1]
    block = payload.encode_embedded_texts([*map(encode_texts, columns)], embedded)
    expected = [
        [text if i in embedded else None for i, text in enumerate(column)] for column in columns
    ]
    assert decode_interleaved_texts(block, 2) == expected


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[st.none() | ANY_TEXT] * n), min_size=1)
    )
)
def test_interleaved_texts_survive_round_trip(rows):
    columns = [list(column) for column in zip(*rows, strict=True)]
    block = payload.encode_embedded_texts([encode_texts(column) for column in columns])
    assert decode_interleaved_texts(block, len(columns)) == columns


EDGES = [0, 1, 255, 256, 65_535, 65_536, 2**24, 2**32 - 1, 2**32, 2**40 + 1, 2**53 - 1]


@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from(EDGES) | st.integers(0, 300), min_size=width, max_size=width),
            min_size=1,
            max_size=12,
        )
    )
)
def test_tables_survive_round_trip(rows):
    table = Table.from_rows(rows, len(rows[0]))
    assert decode_rows(payload.encode_table(table), len(rows), len(rows[0])) == rows


@pytest.mark.parametrize(
    ("largest", "width"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32, 8)]
)
def test_largest_number_determines_width(largest, width):
    block = payload.encode_table(Table.from_rows([[0], [largest], [1]], 1))
    assert block[0] == width
    assert len(block) == 1 + 3 * width


def test_indices_are_little_endian_four_byte_numbers():
    assert payload.encode_indices([1, 258]) == b"\x01\x00\x00\x00\x02\x01\x00\x00"


@given(st.binary(max_size=2000), st.sampled_from([payload.QUICK_LEVEL, payload.THOROUGH_LEVEL]))
def test_gzip_survives_round_trip(data, level):
    assert gzip.decompress(payload.compress(data, level)) == data


def test_gzip_header_has_no_time_or_system():
    assert payload.compress(b"text", 6)[:10] == bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 255])


def test_thread_count_does_not_change_blocks():
    blocks = {f"b{i}": bytes(range(256)) * i for i in range(7)}
    assert list(payload.encode_blocks(blocks, 3)) == list(payload.encode_blocks(blocks))


# ---- JSON in HTML ----


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_json_is_safe_in_script(text):
    encoded = payload.to_script_json({text: [text]})
    assert not set(encoded) & set("<>&\u2028\u2029\x00")
    assert json.loads(encoded) == {text: [text]}
    assert encoded.encode()  # no surrogates are left


@given(ANY_TEXT)
def test_json_survives_utf8_round_trip(text):
    assert json.loads(payload.to_script_json(text).encode()) == text


def test_nan_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        payload.to_script_json(float("nan"))
