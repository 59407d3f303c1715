"""Tests of `Statistics`: sums, groups, merging, selection and files."""

import json
import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import truebleu
from truebleu import BLEU, InputError, Statistics, _kernel

HYPOTHESES = ["the cat sat on the mat", "a dog", "", "it is what it is"]
REFERENCES = ["the cat sat on a mat", "the dog barked", "nothing", "it is what it was"]
# Counted by hand: lengths, matches of orders 1-4 and totals of orders 1-4.
ROWS = [
    [6, 6, 5, 3, 2, 1, 6, 5, 4, 3],
    [2, 3, 1, 0, 0, 0, 2, 1, 0, 0],
    [0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    [5, 5, 4, 3, 2, 1, 5, 4, 3, 2],
]
COLUMNS = (
    *("hypothesis_length", "reference_length"),
    *("matches_1", "matches_2", "matches_3", "matches_4"),
    *("totals_1", "totals_2", "totals_3", "totals_4"),
)


@pytest.fixture
def table() -> Statistics:
    return BLEU().statistics(HYPOTHESES, REFERENCES)


def test_rows_and_columns(table):
    assert table.tolist() == ROWS
    assert table.columns == BLEU().columns == COLUMNS
    assert (len(table), table.shape) == (4, (4, 10))
    columns = map(list, zip(*ROWS, strict=True))
    assert [table.column(name) for name in COLUMNS] == list(columns)


def test_sum_adds_rows(table):
    total = table.sum()
    assert isinstance(total, Statistics)
    assert total.tolist() == [[sum(column) for column in zip(*ROWS, strict=True)]]
    assert total.sum() == total
    assert (total.columns, total.fingerprint) == (table.columns, table.fingerprint)


def test_groups_add_rows_per_key(table):
    """Groups have one row per key, here per document, in order of first appearance."""
    groups = table.groups(["news", "chat", "news", "chat"])
    assert list(groups) == ["news", "chat"]
    assert groups["news"] == table[[0, 2]].sum()
    assert groups["chat"] == table[[1, 3]].sum()
    assert truebleu.BLEU().from_statistics(groups["news"]).hypothesis_length == 6


def test_wrong_number_of_group_keys_raises_error(table):
    with pytest.raises(InputError, match=r"3.*4|4.*3"):
        table.groups(["news", "chat", "news"])


@pytest.mark.parametrize(
    ("selection", "rows"),
    [
        (3, [3]),
        (-1, [3]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -2), [3, 1]),
        ([True, False, False, True], [0, 3]),
        ([2, 0, 2], [2, 0, 2]),
        ([-1], [3]),
        ([], []),
        (slice(4, None), []),
    ],
    ids=str,
)
def test_index_selects_rows(table, selection, rows):
    assert table[selection].tolist() == [ROWS[row] for row in rows]


def test_numpy_array_selects_rows(table):
    assert table[np.array([True, False, False, True])] == table[[0, 3]]
    assert table[np.array([2, 0])] == table[[2, 0]]
    assert table[np.int64(2)] == table[2]


@pytest.mark.parametrize("selection", [4, -5, [0, 4], [-5], [True], [True, False] * 3], ids=str)
def test_index_out_of_range_or_mask_of_other_length_raises_error(table, selection):
    with pytest.raises((IndexError, InputError), match=r"4|5"):
        table[selection]


def test_addition_concatenates_tables(table):
    assert table[:1] + table[1:3] + table[3:] == table
    assert (table + table).sum().tolist() == [[2 * n for n in table.sum().tolist()[0]]]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_sum_is_independent_of_segment_order(rows):
    table = BLEU().statistics(HYPOTHESES, REFERENCES)
    assert table[rows].sum() == table[sorted(rows)].sum()
    parts = [table[[row]] for row in reversed(rows)]
    assert sum(parts, table[:0]).sum() == table[rows].sum()


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (BLEU(tokenize="intl"), "intl"),
        (BLEU(lowercase=True), "case|lower"),
        (BLEU(max_order=3), "order|columns"),
    ],
    ids=repr,
)
def test_tables_of_different_metrics_cannot_be_merged(table, other, difference):
    stranger = other.statistics(HYPOTHESES, REFERENCES)
    assert stranger.fingerprint != table.fingerprint
    assert stranger != table
    with pytest.raises(InputError, match=difference):
        table + stranger
    with pytest.raises(InputError, match=difference):
        BLEU().from_statistics(stranger)


def test_tables_of_different_callables_cannot_be_merged():
    def words(text):
        return text.split()

    def letters(text):
        return list(text)

    tables = [BLEU(tokenize=own).statistics(["a b"], ["a b"]) for own in (words, letters, words)]
    assert len(tables[0] + tables[2]) == 2
    with pytest.raises(InputError, match="letters"):
        tables[0] + tables[1]
    with pytest.raises(InputError, match="letters"):
        BLEU(tokenize=letters).from_statistics(tables[0])


@pytest.mark.parametrize(
    "other", [BLEU(smoothing="none"), BLEU(effective_order=True), BLEU(weights=(1, 0, 0, 0))]
)
def test_formula_parameters_share_statistics(table, other):
    """All smoothing methods share a table, because they do not affect counts."""
    assert other.statistics(HYPOTHESES, REFERENCES) == table
    assert other.from_statistics(table) == other.score(HYPOTHESES, REFERENCES)


@pytest.mark.parametrize(
    ("references", "count"),
    [
        (REFERENCES, 1),
        ([(text, text) for text in REFERENCES], 2),
        ([(text, None) for text in REFERENCES], 1),
        ([("a", "b"), "a", ("a", None, ""), ("a",)], "var"),
    ],
    ids=["one", "two", "one missing", "varying"],
)
def test_table_has_number_of_references(references, count):
    assert BLEU().statistics(HYPOTHESES, references).references == count


def test_merged_tables_with_different_references_vary(table):
    two = BLEU().statistics(HYPOTHESES, [(text, text) for text in REFERENCES])
    assert (table + two).references == "var"
    assert (two + two).references == 2


def test_tables_compare_by_value(table):
    assert table == BLEU().statistics(HYPOTHESES, REFERENCES)
    assert table != table[:3]
    assert table != ROWS


def test_numpy_reads_without_a_copy(table):
    array = np.asarray(table)
    assert array.dtype == np.int64
    assert array.tolist() == ROWS
    assert np.shares_memory(array, np.asarray(table))


def test_array_outlives_table():
    arrays = [np.asarray(BLEU().statistics(HYPOTHESES, REFERENCES)) for _ in range(50)]
    assert all(array.tolist() == ROWS for array in arrays)


def test_pyarrow_and_polars_read_table(table):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    columns = dict(zip(COLUMNS, map(list, zip(*ROWS, strict=True)), strict=True))
    assert pa.table(table).to_pydict() == columns
    assert pa.record_batch(table).to_pydict() == columns
    assert pl.DataFrame(table).to_dict(as_series=False) == columns
    assert pa.table(table[1:3]).to_pydict() == {name: c[1:3] for name, c in columns.items()}


def test_loaded_table_equals_saved_table(table, tmp_path):
    for name, part in {"all": table, "some": table[1:3], "none": table[:0]}.items():
        path = tmp_path / name
        part.save(path)
        loaded = Statistics.load(path)
        assert loaded == part
        assert (loaded.columns, loaded.references) == (part.columns, part.references)
        assert loaded.fingerprint == part.fingerprint
        assert BLEU().from_statistics(loaded) == BLEU().from_statistics(part)


def test_save_replaces_file_atomically(table, tmp_path):
    path = tmp_path / "table"
    (table + table).save(path)
    table.save(path)
    assert Statistics.load(path) == table
    assert list(tmp_path.iterdir()) == [path]


HEADER = {"columns": ["a"], "fingerprint": "x", "references": 1, "segments": 1}


@pytest.mark.parametrize(
    "header",
    [
        *([], None, "text", {}, {**HEADER, "columns": [], "segments": 0}),
        *({key: value for key, value in HEADER.items() if key != missing} for missing in HEADER),
        *({**HEADER, "columns": columns} for columns in ("a", [1], ["a", "b"], {"a": 1}, None)),
        *({**HEADER, "segments": segments} for segments in (-1, 2, 0, "1", None, 10**30)),
        *({**HEADER, "references": references} for references in ([1], "many", -1, 1.5)),
        {**HEADER, "fingerprint": None},
    ],
    ids=str,
)
def test_loading_invalid_header_raises_error(tmp_path, header):
    path = tmp_path / "table"
    path.write_bytes(_kernel.sealed("statistics", json.dumps(header), bytes(8)))
    with pytest.raises(InputError, match=r"table: (invalid table header|expected \d+ bytes)"):
        Statistics.load(path)


def test_loading_missing_file_raises_error(tmp_path):
    with pytest.raises((InputError, OSError), match="nowhere"):
        Statistics.load(tmp_path / "nowhere")


def test_saving_to_unwritable_path_raises_error(table, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        table.save(tmp_path / "nowhere" / "table")


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX's")
def test_failed_save_keeps_old_file(table, tmp_path):
    path = tmp_path / "table"
    table.save(path)
    script = (
        "import resource, signal, sys, truebleu\n"
        "table = truebleu.Statistics.load(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sys.dont_write_bytecode = True  # or .pyc files would be cut at the limit\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n"
        "    (table + table).save(sys.argv[1])\n"
        "except OSError:\n"
        "    sys.exit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], check=False, capture_output=True)
    assert done.returncode == 3, done.stderr
    assert Statistics.load(path) == table
    assert list(tmp_path.iterdir()) == [path]
