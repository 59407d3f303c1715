"""Parts of files, and lines of no file."""

import gzip

import pytest

import truebleu as tb
from truebleu._kernel import InputError
from truebleu.text.segments import BufferedLines, File, LineSubset

TEXT = "a cat sat\nno end\n\tof tabs\na dog\u2028ran\nlast"
LINE_MASK = [True, False, True, True, False]


@pytest.fixture(params=["text", "text.gz"])
def file(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(TEXT.encode()) if path.suffix else TEXT.encode())
    return File(path)


def test_selected_lines_are_read(file):
    part = LineSubset(file, LINE_MASK, "the set")
    assert list(part.read_lines()) == ["a cat sat", "\tof tabs", "a dog\u2028ran"]
    assert part.read_bytes() == "a cat sat\n\tof tabs\na dog\u2028ran\n".encode()
    assert list(BufferedLines(part).read_lines()) == list(part.read_lines())
    assert list(LineSubset(file, [False] * 4 + [True], "the set").read_lines()) == ["last"]


def test_scores_equal_scores_of_selected_lines(file):
    expected = ["a cat sat", "\tof tabs", "a dog\u2028ran"]
    metric, part = tb.BLEU(max_order=2), LineSubset(file, LINE_MASK, "the set")
    score = metric.score(part, expected)
    assert score.value == pytest.approx(100.0)
    assert len(metric.segments(part, part)) == 3
    assert metric.score(BufferedLines.from_strings("no file", expected), expected) == score


def test_columns_and_encodings(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_bytes("a\tä\nb\tö\n".encode("latin-1"))
    part = LineSubset(File(path, 2, "latin-1"), [False, True], "the set")
    assert list(part.read_lines()) == ["ö"]


@pytest.mark.parametrize("count", [4, 6, 0])
def test_wrong_number_of_lines_is_refused(file, count):
    part = LineSubset(file, [True] * count, "wmt22 en-de")
    with pytest.raises(InputError, match=f"expected {count} lines, as in wmt22 en-de, found 5"):
        list(part.read_lines())
    with pytest.raises(InputError, match="found 5"):
        tb.BLEU().score(part, part)


def test_subsets_with_same_lines_are_equal(file):
    assert LineSubset(file, LINE_MASK, "x") != file
    assert LineSubset(file, LINE_MASK, "x") == LineSubset(file, LINE_MASK, "y")
    assert LineSubset(file, LINE_MASK, "x") != LineSubset(file, [True] * 5, "x")
