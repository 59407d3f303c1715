"""Parts of files, and lines of no file."""

import gzip

import pytest

import truebleu as tb
from truebleu._kernel import InputError
from truebleu.text.segments import File, Lines, Part

TEXT = "a cat sat\nno end\n\tof tabs\na dog\u2028ran\nlast"
KEPT = [True, False, True, True, False]


@pytest.fixture(params=["text", "text.gz"])
def file(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(TEXT.encode()) if path.suffix else TEXT.encode())
    return File(path)


def test_the_lines_that_are_kept(file):
    part = Part(file, KEPT, "the set")
    assert list(part.lines()) == ["a cat sat", "\tof tabs", "a dog\u2028ran"]
    assert part.content() == "a cat sat\n\tof tabs\na dog\u2028ran\n".encode()
    assert list(Lines(part).lines()) == list(part.lines())
    assert list(Part(file, [False] * 4 + [True], "the set").lines()) == ["last"]


def test_scores_are_those_of_the_lines(file):
    expected = ["a cat sat", "\tof tabs", "a dog\u2028ran"]
    score = tb.BLEU(max_order=2).score(Part(file, KEPT, "the set"), expected)
    assert score.value == pytest.approx(100.0)
    assert len(tb.BLEU().segments(Part(file, KEPT, "x"), Part(file, KEPT, "x"))) == 3
    assert tb.BLEU(max_order=2).score(Lines.given("no file", expected), expected) == score


def test_columns_and_encodings(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_bytes("a\tä\nb\tö\n".encode("latin-1"))
    part = Part(File(path, 2, "latin-1"), [False, True], "the set")
    assert list(part.lines()) == ["ö"]


@pytest.mark.parametrize("count", [4, 6, 0])
def test_another_number_of_lines(file, count):
    part = Part(file, [True] * count, "wmt22 en-de")
    with pytest.raises(InputError, match=f"has 5 lines, and wmt22 en-de {count}"):
        list(part.lines())
    with pytest.raises(InputError, match="has 5 lines"):
        tb.BLEU().score(part, part)


def test_parts_are_the_same_if_their_lines_are(file):
    assert Part(file, KEPT, "x") != file
    assert Part(file, KEPT, "x") == Part(file, KEPT, "y")
    assert Part(file, KEPT, "x") != Part(file, [True] * 5, "x")
