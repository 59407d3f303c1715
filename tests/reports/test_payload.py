"""What a page carries as bytes comes back as it was."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parser import decoded_rows, decoded_texts, texts_apart
from strategies import HOSTILE

from truebleu._kernel import Table
from truebleu.reports import payload

# Any str: lone surrogates, NUL, line ends and all.
ANY_TEXT = st.text(st.characters(), max_size=20)


def encoded(texts):
    return [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]


@given(st.lists(st.none() | ANY_TEXT))
def test_texts_come_back(texts):
    assert decoded_texts(payload.encode_texts(encoded(texts)), len(texts)) == texts


@pytest.mark.parametrize("text", [*HOSTILE, "", "a" * 70_000, "e\u0301\U0001f469\u200d\U0001f52c"])
def test_a_text_of_any_kind_comes_back(text):
    texts = ["before", text, None, text, ""]
    assert decoded_texts(payload.encode_texts(encoded(texts)), 5) == texts


@given(st.lists(ANY_TEXT, min_size=1, max_size=9), st.sets(st.integers(0, 8)))
def test_texts_that_are_not_carried_are_missing(texts, embedded):
    block = payload.encode_side_by_side([encoded(texts), encoded(texts[::-1])], embedded)
    expected = [
        [text if i in embedded else None for i, text in enumerate(column)]
        for column in (texts, texts[::-1])
    ]
    assert texts_apart(block, 2) == expected


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[st.none() | ANY_TEXT] * n), min_size=1)
    )
)
def test_texts_of_several_roles_come_back(rows):
    columns = [list(column) for column in zip(*rows, strict=True)]
    block = payload.encode_side_by_side([encoded(column) for column in columns])
    assert texts_apart(block, len(columns)) == columns


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
def test_tables_come_back(rows):
    table = Table.from_rows(rows, len(rows[0]))
    assert decoded_rows(payload.encode_table(table), len(rows), len(rows[0])) == rows


@pytest.mark.parametrize(
    ("largest", "width"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32, 8)]
)
def test_numbers_are_as_narrow_as_the_largest_allows(largest, width):
    block = payload.encode_table(Table.from_rows([[0], [largest], [1]], 1))
    assert block[0] == width
    assert len(block) == 1 + 3 * width


def test_indices_have_four_bytes_each_the_lowest_first():
    assert payload.encode_indices([1, 258]) == b"\x01\x00\x00\x00\x02\x01\x00\x00"


@given(st.binary(max_size=2000), st.sampled_from([payload.QUICK_LEVEL, payload.THOROUGH_LEVEL]))
def test_gzip_comes_back(data, level):
    assert gzip.decompress(payload.compress(data, level)) == data


def test_gzip_tells_nothing_of_when_and_where():
    assert payload.compress(b"text", 6)[:10] == bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 255])


def test_threads_change_nothing():
    blocks = {f"b{i}": bytes(range(256)) * i for i in range(7)}
    assert list(payload.encode_blocks(blocks, 3)) == list(payload.encode_blocks(blocks))


# ---- what may stand in HTML ----


@pytest.mark.parametrize("text", HOSTILE)
def test_json_ends_no_script_and_comes_back(text):
    written = payload.to_script_json({text: [text]})
    assert not set(written) & set("<>&\u2028\u2029\x00")
    assert json.loads(written) == {text: [text]}
    assert written.encode()  # no surrogates are left


@given(ANY_TEXT)
def test_any_json_can_be_written_as_utf_8_and_comes_back(text):
    assert json.loads(payload.to_script_json(text).encode()) == text


def test_no_number_that_json_has_not():
    with pytest.raises(ValueError, match="not JSON compliant"):
        payload.to_script_json(float("nan"))
