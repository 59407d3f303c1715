"""Tests of scores by each of several references, and of the warnings about them."""

import json

import pytest
from paths import EXAMPLES, read_example_lines

import truebleu as tb
from truebleu.cli import main
from truebleu.comparison.references import _describe_copies

GERMAN = EXAMPLES / "de-en"
SYSTEMS = {name: GERMAN / f"{name}.en" for name in ("cedar", "birch", "aspen")}
FIRST, SECOND = (read_example_lines(f"de-en/reference.{name}.en") for name in "ab")
PAIRS = list(zip(FIRST, SECOND, strict=True))
SEGMENTS = len(FIRST)


@pytest.fixture(scope="module")
def english_chinese(wmt22):
    """Command-line words for systems on which the references of WMT22 en-zh disagree."""

    def path(kind, name):
        return str(wmt22 / kind / f"generaltest2022.en-zh.{name}.zh")

    references = [path("references", f"ref.{name}") for name in "AB"]
    systems = ("HuaweiTSC", "JDExploreAcademy", "Online-B")
    outputs = [f"{name}={path('system-outputs', f'hyp.{name}')}" for name in systems]
    return [*references, "-i", *outputs, "-l", "en-zh"]


WINNER = (
    "BLEU: the best system depends on the reference: with all references Online-B is best "
    "(+6.7 vs. HuaweiTSC, p = 0.0001), with ref A alone HuaweiTSC is best (+0.6 vs. Online-B, "
    "p = 0.0129) and with ref B alone Online-B is best (+9.3 vs. HuaweiTSC, p = 0.0001)."
)
COPY = (
    "Online-B is identical to ref B in 373 of 2,037 segments (18.3%; median of the other "
    "systems: 116)."
)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "report"])
def test_disagreeing_references_warn_above_the_tables(form, english_chinese, tmp_path):
    out = tmp_path / "page.html"
    if form == "report":
        words = ["report", *english_chinese, "-q"]
    else:
        words = ["compare", *english_chinese, "--by", "reference", "-f", form]
    assert main([*words, "-o", str(out)]) == 0
    page = " ".join(out.read_text("utf-8").replace(r"\%", "%").split())
    starts = {"latex": r"\toprule", "text": "BLEU ↑", "markdown": "BLEU ↑"}
    table = page.index(starts.get(form, "<td"))
    for warning in (WINNER, COPY):
        assert 0 < page.index(warning) < table
    # Tables for papers have sections per reference, and name the copies in the warning alone.
    copies = () if form in ("markdown", "latex") else ("equal to ref A", "equal to ref B")
    for column in ("ref A alone", "ref B alone", *copies):
        assert page.index(column, table) > table
    if form == "text":
        assert max(map(len, out.read_text("utf-8").split("all refs")[1].split("\n")[:12])) <= 80


def test_disagreeing_references_are_in_json(english_chinese, tmp_path):
    out = tmp_path / "out.json"
    assert main(["compare", *english_chinese, "-o", str(out)]) == 0
    content = json.loads(out.read_text("utf-8"))
    assert [one["kind"] for one in content["warnings"]] == [
        "winner depends on the reference",
        "copied reference",
    ]
    first, second = content["by_reference"]
    assert (first["name"], second["name"]) == ("ref A", "ref B")
    (pair,) = (one for one in first["pairs"] if "HuaweiTSC" in (one["first"], one["second"]))
    assert (pair["first"], pair["second"], pair["significant"]) == ("HuaweiTSC", "Online-B", True)
    copied = second["identical"]["Online-B"]
    assert (copied["segments"], copied["others_median"], copied["is_copy"]) == (373, 116, True)
    assert not any(one["is_copy"] for one in first["identical"].values())


def _arrow_column():
    return pytest.importorskip("pyarrow").array([list(pair) for pair in PAIRS])


# Every fourth segment has no second reference.
WITH_SECOND = [i for i in range(SEGMENTS) if i % 4]


@pytest.mark.parametrize(
    ("references", "segments"),
    [
        (lambda: [GERMAN / f"reference.{name}.en" for name in "ab"], range(SEGMENTS)),
        (lambda: PAIRS, range(SEGMENTS)),
        (_arrow_column, range(SEGMENTS)),
        (lambda: [pair if i % 4 else pair[:1] for i, pair in enumerate(PAIRS)], WITH_SECOND),
        (lambda: [(a, b if i % 4 else None) for i, (a, b) in enumerate(PAIRS)], WITH_SECOND),
    ],
    ids=["files", "lists", "arrow", "fewer", "none"],
)
def test_scores_by_reference_equal_single_reference_scores(references, segments):
    texts = {name: path.read_text("utf-8").splitlines() for name, path in SYSTEMS.items()}
    options = {"metrics": ["bleu", "ter"], "confidence": 50, "samples": 50}
    comparison = tb.compare(texts, references(), **options)
    by_second_reference = comparison.by_reference[1]
    expected = tb.compare(
        {name: [lines[i] for i in segments] for name, lines in texts.items()},
        [SECOND[i] for i in segments],
        **options,
    )
    assert by_second_reference["segments"] == len(segments)
    for system in SYSTEMS:
        for metric, score in expected[system]["scores"].items():
            del score["details"], score["runs"]
            assert by_second_reference["scores"][metric][system] == score
        equal = sum(texts[system][i].strip() == SECOND[i].strip() for i in segments)
        assert by_second_reference["identical"][system]["segments"] == equal
    is_shown = f"n = {len(WITH_SECOND)}" in comparison.text(by=["reference"])
    assert is_shown == (segments is WITH_SECOND)
    assert comparison.from_json(comparison.to_json()).by_reference == comparison.by_reference


def test_tokens_runs_and_external_scores_work_by_reference():
    tokens = {"x": {"1": [FIRST[0].split()] * 40, "2": [SECOND[0].split()] * 40}}
    references = [[FIRST[0].split(), SECOND[0].split()]] * 40
    comparison = tb.compare(
        {**tokens, "y": [["another"]] * 40},
        references,
        metrics=[tb.BLEU(tokenize="none")],
        scores={"given": {"x": [[1.0] * 40, [2.0] * 40], "y": [1.0] * 40}},
        test=None,
    )
    for reference_entry in comparison.by_reference:
        assert list(reference_entry["scores"]) == ["BLEU"]
        assert reference_entry["scores"]["BLEU"]["x"]["score"] > 50
        expected = {"segments": 40, "share": 1.0, "others_median": 0, "is_copy": True}
        assert reference_entry["identical"]["x"] == expected


@pytest.mark.parametrize(
    ("counts", "size", "copies"),
    [
        ({"a": 25, "b": 10, "c": 10}, 500, {"a"}),
        ({"a": 24, "b": 10, "c": 10}, 400, set()),  # less than 2.5 times the median
        ({"a": 25, "b": 10, "c": 10}, 501, set()),  # less than 5%
        ({"a": 9, "b": 0}, 20, set()),  # fewer than 10
        ({"a": 300, "b": 290, "c": 310}, 400, set()),  # easy segments
        ({"a": 400}, 400, set()),  # nothing to compare with
    ],
)
def test_copy_needs_many_segments_and_more_than_others(counts, size, copies):
    assert {name for name, one in _describe_copies(counts, size) if one["is_copy"]} == copies


@pytest.mark.parametrize("references", [FIRST, [GERMAN / "reference.a.en"]])
def test_single_reference_is_scored_once_without_section(references, monkeypatch):
    calls = []
    count = tb.BLEU.count_corpus
    monkeypatch.setattr(tb.BLEU, "count_corpus", lambda *words: calls.append(1) or count(*words))
    comparison = tb.compare(SYSTEMS, references, confidence=50, samples=50)
    assert len(calls) == len(SYSTEMS)
    assert (comparison.by_reference, comparison.warnings) == ([], [])
    assert "by_reference" not in comparison.to_dict()
    assert "alone" not in comparison.text()


def test_more_than_20_references_are_not_scored_separately():
    comparison = tb.compare(SYSTEMS, [[text] * 21 for text in FIRST], confidence=50, samples=50)
    assert comparison.by_reference == []
    note = "21 references per segment: per-reference scores support at most 20"
    assert note in comparison.text(1000)
