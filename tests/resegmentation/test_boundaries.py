"""Explanations of the boundaries of re-segmented segments."""

import json
import random

import pytest

import truebleu as tb
from truebleu.resegmentation.methods import METHODS

REFERENCES = ["the ferry leaves at nine", "", "we take the first train", "it rains"]
AVAILABLE = [
    name for name, method in METHODS.items() if "spm" not in name and method.compares != "times"
]


def get_boundaries(text, references, segment, method="as-wer", **options):
    result = tb.resegment(text, references, method, **options)
    content = tb.explain(result, references, "wer", segment=segment).to_dict()
    return content["systems"][0]["location"]


def count_errors(reference, words):
    """Return the edit distance, by the definition."""
    row = list(range(len(words) + 1))
    for i, expected in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, word in enumerate(words, 1):
            diagonal, row[j] = (
                row[j],
                min(diagonal + (word != expected), row[j] + 1, row[j - 1] + 1),
            )
    return row[-1]


def test_move_by_one_word_costs_the_errors_of_the_moved_segments():
    random.seed(31)
    moves = 0
    for _ in range(300):
        references = [" ".join(random.choices("abc", k=random.randint(0, 5))) for _ in range(4)]
        text = " ".join(random.choices("abc", k=random.randint(1, 16)))
        result = tb.resegment(text, references, "as-wer")
        segments = [segment.split() for segment in result]
        split_references = [reference.split() for reference in references]

        def count_all(segments, references=split_references):
            return sum(map(count_errors, references, segments))

        assert count_all(segments) == result.errors or not any(split_references)
        for number in range(1, 5):
            for boundary in get_boundaries(text, references, number)["boundaries"]:
                for move in boundary["moves"]:
                    giver, receiver = (index - 1 for index in move["segments"])
                    moved = [list(words) for words in segments]
                    if move["direction"] == "left":
                        moved[receiver].insert(0, moved[giver].pop())
                    else:
                        moved[receiver].append(moved[giver].pop(0))
                    assert move["difference"] == count_all(moved) - result.errors >= 0
                    moves += 1
                differences = [move["difference"] for move in boundary["moves"]]
                assert boundary["next_best"] == min(differences, default=None)
                assert boundary["close"] == (0 in differences)
    assert moves > 500


def test_added_word_between_segments_is_a_tie():
    boundary = get_boundaries("a b x c d", ["a b", "c d"], 2)["boundaries"][0]
    assert [edit["kind"] for edit in boundary["before"]] == ["match", "match", "insertion"]
    assert boundary["close"] is True
    assert [(move["text"], move["difference"]) for move in boundary["moves"]] == [
        ("x", 0),
        ("c", 2),
    ]


@pytest.mark.parametrize(
    ("segment", "expected"),
    [(1, [("end", [1, 3])]), (3, [("start", [1, 3]), ("end", [3, 4])]), (4, [("start", [3, 4])])],
)
def test_document_ends_and_empty_references_have_no_boundary(segment, expected):
    boundaries = get_boundaries(" ".join(REFERENCES), REFERENCES, segment)["boundaries"]
    assert [(one["side"], one["segments"]) for one in boundaries] == expected


def test_boundary_of_own_method_moves_by_whole_words():
    texts = get_boundaries("So it is. Not so.", ["So it is.", "Not so."], 1)["boundaries"][0]
    assert [move["text"] for move in texts["moves"]] == ["is.", "Not"]


def test_documents_that_return_have_boundaries_within_the_document():
    references = ["one two", "red blue", "three four"]
    text = {"a": "one two three four", "b": "red blue"}
    found = get_boundaries(text, references, 3, documents=["a", "b", "a"])
    assert found["document"] == "a"
    assert [one["segments"] for one in found["boundaries"]] == [[1, 3]]
    assert {word["segment"] for word in found["stream"]} == {1, 3}


@pytest.mark.parametrize("method", AVAILABLE)
@pytest.mark.parametrize(
    "text", ["the ferry leaves at ten we take the train it pours", "", "rains"]
)
def test_every_method_and_segment_is_explained(method, text):
    for segment in range(1, len(REFERENCES) + 1):
        found = get_boundaries(text, REFERENCES, segment, method)
        own = [word["text"] for word in found["stream"] if word["segment"] == segment]
        assert bool(own) == (found["end"] > found["start"])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ref.txt").write_text("a b\nc d\n", encoding="utf-8")
    (tmp_path / "talk.txt").write_text("a b x c d\n", encoding="utf-8")
    return ["explain", str(tmp_path / "ref.txt"), "-i", str(tmp_path / "talk.txt")]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("text", "start     x     1 → 2          0  close"),
        ("markdown", "| start    | `x`  | 1 → 2    |      0 | close |"),
        ("html", "Start, between segments 1 and 2"),
    ],
)
def test_command_shows_close_boundary(truebleu_command, files, form, expected):
    result = truebleu_command(*files, "--resegment=as-wer", "--segment", "2", "-f", form)
    assert expected in result.output
    if form == "text":
        lines = [line for line in result.output.splitlines() if "|reseg:" not in line]
        assert max(map(len, lines)) <= 80


def test_command_writes_the_data_of_python(truebleu_command, files):
    result = truebleu_command(*files, "--resegment=as-wer", "--segment", "2", "-f", "json")
    expected = get_boundaries("a b x c d", ["a b", "c d"], 2)
    assert json.loads(result.output)["systems"][0]["location"] == expected
