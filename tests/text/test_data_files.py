"""Files of data from elsewhere: hostile content is one error with file and line."""

import json

import pytest

import truebleu as tb
from truebleu.comparison import external_scores as given_scores
from truebleu.comparison import score_log as log
from truebleu.meta_evaluation import agreement_statistics
from truebleu.meta_evaluation import score_files as files
from truebleu.testsets import catalogue, file_readers

DEEP, HUGE = "[" * 100_000, "9" * 400
HEADER = "system,item,score\n"
ROWS = "".join(f"{system},{item},1\n" for system in "ab" for item in range(9))
FILE = {"file": "x", "sha256": "0" * 64}
ENTRY = {"time": "2026-11-20T09:30:00Z", "system": "x", "metric": "BLEU", "score": 1.0}
ENTRY |= {"signature": "-", "segments": 1, "version": "1", "hypothesis": FILE, "references": [FILE]}


def external(path):
    return given_scores.read_metric_scores("X", path, ["x"])


def wmt24pp(path):
    return list(file_readers.FIELD_READERS["JSONL"]("made", ["data"], str(path.parent)))


def esa(**row):
    return "\n" + json.dumps({"system": "a", "segment_id": 1, "esa_score": 1, **row}) + "\n"


def entry(**changed):
    return json.dumps(ENTRY) + "\n" + json.dumps({**ENTRY, **changed}) + "\n"


@pytest.mark.parametrize(
    ("read", "text", "place"),
    [
        *(
            (files.read_score_file, f"a 1\na {value}\n", 2)
            for value in ("inf", "-Infinity", "1e999", HUGE)
        ),
        *((files.read_score_file, f"{HEADER}a,1,{value}\n", 2) for value in ("inf", "1e101", HUGE)),
        *(
            (files.read_score_file, esa(esa_score=value), 2)
            for value in (float("inf"), 10**400, [1], {})
        ),
        *((files.read_score_file, esa(segment_id=value), 2) for value in ([1], {}, float("inf"))),
        *((files.read_score_file, esa(system=value), 2) for value in ([1], {}, float("nan"))),
        (files.read_score_file, esa(doc_id=["x"]), 2),
        (files.read_score_file, esa() + '{"system": ' + DEEP + "\n", 3),
        (files.read_score_file, esa() + '{"esa_score": ' + "9" * 5000 + "}\n", 3),
        (files.read_score_file, f"{HEADER}{ROWS}a,{'x' * 131_073},1\n", 20),
        (files.read_score_file, f'{HEADER}a,"1,1\n{ROWS}', 2),
        (files.read_score_file, f'{HEADER}{ROWS}a,"1,1\nb,1,1\nb,2",1\n', 20),
        (files.read_score_file, f'{HEADER}a,"1" x,1\n{ROWS}', 2),
        *((external, f"1\n{value}\n", 2) for value in ("inf", "nan", "1e999", HUGE)),
        *((external, f'{{"score": 1}}\n{{"score": {x}}}\n', 2) for x in ("Infinity", HUGE, DEEP)),
        (external, f"[\n{DEEP}", 1),
        (external, "x\tSegment 0\tscore: 1\nx\tSegment " + "9" * 5000 + "\tscore: 1\n", 2),
        *(
            (log.read_log_entries, entry(score=value), 2)
            for value in (float("inf"), float("nan"), 10**400)
        ),
        (log.read_log_entries, entry(time="0001-01-01T00:00:00+14:00"), 2),
        (log.read_log_entries, entry() + DEEP + "\n", 3),
        (catalogue.read_registry, DEEP, 1),
        (wmt24pp, '{"source": "a", "target": "b"}\n' + DEEP + "\n", 2),
    ],
)
def test_hostile_content_is_an_error_with_its_line(tmp_path, read, text, place):
    path = tmp_path / "data"
    path.write_text(text)
    with pytest.raises(tb.InputError) as refused:
        read(path if read is not catalogue.read_registry else str(path))
    message = str(refused.value).removeprefix("scores: ").replace(f"scores ({path})", str(path))
    assert message.startswith(f"{path}, line {place}")
    assert len(message) < 350
    assert "\n" not in message


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 1e101, 10**400, "x", [1]])
def test_score_that_is_no_finite_number_is_refused(value):
    with pytest.raises(tb.InputError, match=r"score 2 is .*; expected a number"):
        tb.meta_evaluate({"a": [1, value], "b": [1, 2]}, {"X": {"a": [1, 2], "b": [2, 1]}})
    for statistic in (agreement_statistics.acc_eq_opt, agreement_statistics.pearson):
        with pytest.raises(tb.InputError, match=r"score 2 is .*; expected a number"):
            statistic([1, value], [1, 2])


@pytest.mark.parametrize("read", [tb.Comparison.from_json, tb.History.from_json])
def test_view_of_deep_json_is_refused(read):
    with pytest.raises(tb.InputError, match="nested too deeply"):
        read(DEEP)


@pytest.mark.parametrize("weight", ["inf", "nan", HUGE])
def test_weight_that_is_not_finite_is_refused(weight):
    with pytest.raises(ValueError, match="expected ERROR:WEIGHT"):
        files.parse_mqm_weights(f"major:{weight}")
