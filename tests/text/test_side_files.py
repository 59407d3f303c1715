"""Additional files with one entry per segment: labels, tables, term lists."""

import pytest

from truebleu._kernel import InputError
from truebleu.text.segments import read_named_columns, read_numbered_rows, read_segment_labels


@pytest.fixture
def write(tmp_path):
    def write_file(text):
        path = tmp_path / "side.tsv"
        path.write_bytes(text.encode())
        return path

    return write_file


def test_labels_are_read_from_file_or_values(write):
    assert list(read_segment_labels("labels: x", write("a\r\nb\n"), 2)) == ["a", "b"]
    assert list(read_segment_labels("labels: x", ["a", None, 3], 3)) == ["a", "", "3"]
    with pytest.raises(InputError, match=r"documents: segment 2 has no label"):
        list(read_segment_labels("documents", ["a", None], 2, is_required=True))


@pytest.mark.parametrize("as_file", [True, False])
def test_wrong_number_of_labels_is_refused(write, as_file):
    column = write("a\n") if as_file else ["a"]
    message = "has 1 segment, but the systems have 2. Provide one entry"
    with pytest.raises(InputError, match=message):
        list(read_segment_labels("documents", column, 2))


def test_rows_and_columns_of_a_table(write):
    path = write("x\ty\r\n1\t2\r\n\n")
    assert list(read_numbered_rows(path)) == [(1, ["x", "y"]), (2, ["1", "2"]), (3, [""])]
    assert read_named_columns("labels", write("x\t y\r\n1\t2\r\n")) == {"x": ["1"], "y": ["2"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: a column has no name"),
        ("a\ta\n", "line 1: duplicate column 'a'"),
        ("a\tb\n1\n", "line 2: expected 2 columns, as in line 1, found 1"),
    ],
)
def test_invalid_table_is_refused(write, text, problem):
    with pytest.raises(InputError, match=rf"labels \(side\.tsv\), {problem}"):
        read_named_columns("labels", write(text))
