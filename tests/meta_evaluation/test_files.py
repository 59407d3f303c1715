"""Files of human and metric scores: every kind of file, and messages for broken files."""

from __future__ import annotations

import json
from math import isnan

import pytest

from truebleu import InputError
from truebleu.meta_evaluation import score_files as files
from truebleu.meta_evaluation.human_scores import Tree, read_judged_systems


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="scores.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def rows(scored):
    matrix = scored.matrix
    return {
        name: [None if isnan(value) else value for value in matrix.get_row(name)]
        for name in matrix.systems
    }


def test_a_system_and_a_score_a_line(write):
    read = files.read_score_file(write("oak\t1.5\noak  None\nelm -2e-1\nelm\t0\n"))
    assert rows(read) == {"oak": [1.5, None], "elm": [-0.2, 0.0]}
    assert read.items is None


def test_googles_scores_of_segments(write):
    text = "system\tmqm_avg_score\tseg_id\noak\t-1.0\t2\noak\tNone\t1\nelm\t-5\t1\nelm\t-0.1\t2\n"
    read = files.read_score_file(write(text))
    assert rows(read) == {"oak": [None, -1.0], "elm": [-5.0, -0.1]}
    assert read.items == [1, 2]
    assert rows(files.read_score_file(write(text.replace("\t", " ")))) == rows(read)


def test_direct_assessments_of_segments_and_systems(write):
    read = files.read_score_file(
        write("SYS SID RAW.SCR Z.SCR N \noak 7 56 -0.3 4 \noak 3 50 0.1 1 \nelm 3 80 1 2 \n")
    )
    assert rows(read) == {"oak": [50.0, 56.0], "elm": [80.0, None]}
    path = write("RAW.SCR Z.SCR N SYS N.ALL \n75.2 0.05 13 oak 18 \n70 0 9 elm 17 \n")
    assert rows(files.read_score_file(path)) == {"oak": [75.2], "elm": [70.0]}
    standardized = files.read_score_file(path, {"score": "Z.SCR"})
    assert rows(standardized) == {"oak": [0.05], "elm": [0.0]}


def test_long_tables_of_named_columns(write):
    text = "who,where,what\noak,b,1\noak,a,3\noak,a,5\nelm,a,2\nelm,b,NA\n"
    columns = {"system": "who", "item": "where", "score": "what"}
    read = files.read_score_file(write(text, "t.csv"), columns)
    assert read.items == ["b", "a"]
    assert rows(read) == {"oak": [1.0, 4.0], "elm": [None, 2.0]}
    with pytest.raises(InputError, match="no column 'whom' for the system; did you mean 'who'"):
        files.read_score_file(write(text, "t.csv"), {**columns, "system": "whom"})


def test_a_parquet_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    table = {"system": ["oak", "elm"], "seg_id": [1, 1], "score": [0.5, None]}
    parquet.write_table(pa.table(table), path)
    assert rows(files.read_score_file(path)) == {"oak": [0.5], "elm": [None]}
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not Parquet"):
        files.read_score_file(path)


MQM = """\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
oak\td\t1\t1\tr1\ts\tt\tAccuracy/Mistranslation\tMajor
oak\td\t1\t1\tr1\ts\tt\tFluency/Punctuation\tMinor
oak\td\t1\t1\tr2\ts\tt\tno-error\tno-error
oak\td\t2\t2\tr1\ts\tt\tNon-translation!\tMajor
elm\td\t1\t1\tr1\ts\tt\tStyle/Awkward\tminor
elm\td\t2\t2\tr1\ts\tt\tno-error\tno-error
"""


def test_errors_of_mqm_weigh_and_are_averaged_over_raters(write):
    read = files.read_score_file(write(MQM, "mqm.tsv"))
    assert rows(read) == {"oak": [-2.55, -25.0], "elm": [-1.0, 0.0]}
    weights = files.parse_mqm_weights("Major:10 minor:1 Major/Non-translation!:30")
    reweighted = files.read_score_file(write(MQM, "mqm.tsv"), weights=weights)
    assert rows(reweighted)["oak"] == [-5.5, -30.0]
    with pytest.raises(ValueError, match="expected ERROR:WEIGHT"):
        files.parse_mqm_weights("major=5")


def test_esa_as_lines_of_json(write):
    lines = [
        {"system": "oak", "doc_id": "d", "segment_id": 0, "esa_score": 90},
        {"system": "oak", "doc_id": "d", "segment_id": 0, "esa_score": 70},
        {"system": "oak", "doc_id": "e", "segment_id": 0, "esa_score": 60},
        {"system": "elm", "doc_id": "d", "segment_id": 0, "esa_score": 10},
    ]
    read = files.read_score_file(
        write("".join(f"{json.dumps(line)}\n" for line in lines), "esa.jsonl")
    )
    assert rows(read) == {"oak": [80.0, 60.0], "elm": [10.0, None]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("oak 1\noak x\n", "line 2: expected a system and a score or None, found 'oak x'"),
        ("oak 1\n\noak 1\n", "line 2: expected a system and a score"),
        ("oak 1\nelm 1\noak 2\n", "line 3: system oak reappears after another"),
        ("oak 1\noak 2\nelm 1\nfir 1\nfir 2\n", "elm has 1 score, but other systems have 2"),
        ("system\tscore\noak\tfine\n", "line 2: column 'score' contains 'fine'; expected a score"),
        (
            "system\tscore\tseg_id\noak\t1\n",
            "line 2: expected 3 columns, as in the header, found 2",
        ),
        ('{"system": "oak"}\n', "no score column found"),
        ("{oak}\n", "line 1, column 2: not JSON"),
        ("system\tscore\n", "no rows"),
    ],
)
def test_broken_files_are_refused_with_the_place(write, text, message):
    with pytest.raises(InputError, match=message):
        files.read_score_file(write(text))


def test_numbered_items_are_put_in_their_places(write):
    read = files.read_score_file(write("system mqm_avg_score seg_id\noak 1 3\nelm 2 1\n"))
    placed = read.extend_matrix(4, "human scores")
    assert [None if isnan(v) else v for v in placed.get_row("oak")] == [None, None, 1.0, None]
    with pytest.raises(InputError, match="only if they are numbered"):
        files.read_score_file(
            write("system mqm_avg_score seg_id\noak 1 9\nelm 2 1\n")
        ).extend_matrix(5, "h")


# ---- a tree ----


@pytest.fixture
def tree(tmp_path):
    human, metrics = tmp_path / "human-scores", tmp_path / "metric-scores" / "en-de"
    human.mkdir()
    metrics.mkdir(parents=True)
    for level, lines in (
        ("sys", ["oak -1", "elm -2", "refA 0"]),
        ("seg", ["oak -1", "oak None", "elm -2", "elm -2", "refA 0", "refA 0"]),
    ):
        (human / f"en-de.mqm.{level}.score").write_text("\n".join(lines) + "\n")
        (metrics / f"BLEU-refA.{level}.score").write_text(
            "\n".join(line.replace("None", "3").replace("-", "") for line in lines[:4]) + "\n"
        )
    return tmp_path


def test_a_tree_says_what_it_has(tree):
    read_tree = Tree(tree)
    assert read_tree.list_language_pairs() == ["en-de"]
    assert read_tree.list_human_scores("en-de") == ["mqm"]
    assert read_tree.list_metrics("en-de") == ["BLEU"]
    assert read_tree.read_level_scores("en-de", "BLEU", "refA", "seg")[1] == "refA"
    assert read_tree.read_documents("en-de") is None
    with pytest.raises(InputError, match="no human scores for en-fr; did you mean 'en-de'"):
        read_judged_systems(read_tree, "en-fr", metrics=None, computed={}, levels=["sys"])
    with pytest.raises(InputError, match="Use an mt-metrics-eval folder"):
        Tree(tree / "human-scores")
    for metric, reference, message in (
        ("BLUE", "refA", "no metric 'BLUE' for en-de"),
        ("BLEU", "refB", "BLEU has no scores with refB"),
    ):
        error = read_tree.build_missing_scores_error("en-de", metric, reference)
        assert message in str(error)
