"""Flags and warnings about text that re-segmentation cannot place: loops and moved paragraphs."""

import pytest

import truebleu as tb

PARAGRAPHS = [
    ["the ferry to the island leaves at nine", "tickets are sold on the lower deck only"],
    ["nobody saw the old captain again that winter", "his dog waited at the pier every evening"],
]
REFERENCES = [sentence for paragraph in PARAGRAPHS for sentence in paragraph]


def divide_text(text, method="as-wer", references=None, **options):
    return tb.resegment(text, references or REFERENCES, method, **options)


@pytest.mark.parametrize("method", ["soft", "as-wer", "mweralign-none", "omnisteval", "suber"])
def test_moved_paragraph_is_flagged_and_warned_about(method):
    result = divide_text([*PARAGRAPHS[1], *PARAGRAPHS[0]], method)
    moved = [number for number, facts in enumerate(result.facts, 1) if "order" in facts.flags]
    # One of the two paragraphs may keep its place.
    assert {1, 2} <= set(moved) or {3, 4} <= set(moved)
    assert result.order == 1
    assert "match another place of the text better" in " ".join(result.problems)


@pytest.mark.parametrize(
    "text",
    [
        REFERENCES,
        # A paragraph is missing.
        PARAGRAPHS[0],
        ["quite other words stand here today", *REFERENCES[1:]],
        "",
    ],
)
def test_text_in_order_is_not_flagged(text):
    result = divide_text(text)
    assert result.order == 0
    assert not any("order" in facts.flags for facts in result.facts)
    assert "another place" not in " ".join(result.problems)


def test_repeated_reference_does_not_count_as_moved():
    """The text of the other place belongs there."""
    references = [REFERENCES[0], REFERENCES[2], REFERENCES[0]]
    assert divide_text([REFERENCES[2], REFERENCES[0]], references=references).order == 0


def test_order_is_a_share_per_document():
    documents = ["sea", "sea", "sea", "sea", "land"]
    text = {"sea": [*PARAGRAPHS[1], *PARAGRAPHS[0]], "land": "nothing of this was ever written"}
    references = [*REFERENCES, "the road ends behind the last house"]
    result = divide_text(text, "soft", references=references, documents=documents)
    by_document = {one["document"]: one["order"] for one in result.to_dict()["documents"]}
    assert by_document == {"sea": 1, "land": 0}
    assert result.order == pytest.approx(2 / 3)


LOOP = "and then we went on to the next house "


@pytest.mark.parametrize(
    ("count", "reference", "expected"),
    [
        (2, "and then we went on", False),
        (3, "and then we went on", True),
        (20, "and then we went on", True),
        # The reference repeats the words, too.
        (3, LOOP * 3, False),
    ],
)
def test_eight_units_three_times_are_a_loop(count, reference, expected):
    result = divide_text(f"{REFERENCES[0]} {LOOP * count}", references=[REFERENCES[0], reference])
    assert ("loop" in result.facts[1].flags) == expected
    assert ("segment 2 repeats the same words" in " ".join(result.problems)) == expected
    assert result.to_dict()["loops"] == expected


def test_overlapping_runs_are_no_loop():
    assert "loop" not in divide_text("ha " * 23, references=["ha"]).facts[0].flags
    assert "loop" in divide_text("ha " * 24, references=["ha"]).facts[0].flags


def test_command_warns_about_order_and_loop(truebleu_command, tmp_path):
    references = [*REFERENCES, "and then we went on"]
    (tmp_path / "ref.txt").write_text("\n".join(references) + "\n", encoding="utf-8")
    text = f"{REFERENCES[2]}\n{REFERENCES[3]}\n{REFERENCES[0]}\n{REFERENCES[1]}\n{LOOP * 4}\n"
    (tmp_path / "talk.txt").write_text(text, encoding="utf-8")
    result = truebleu_command("resegment", "ref.txt", "-i", "talk.txt", "-f", "json", cwd=tmp_path)
    message = " ".join(result.error.split())
    assert "match another place of the text better" in message
    assert "the same words three times or more" in message
