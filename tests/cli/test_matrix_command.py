"""`truebleu matrix`: all pairs, nearest references, best candidates."""

import csv
import io
import json
import os
from functools import partial
from pathlib import Path

import pytest
from pseudo_terminal import run_on_terminal

import truebleu as tb

REFERENCES = ["The cat sat on the mat.", "A dog, it barked.", "The cat sat on a mat.", ""]
HYPOTHESES = ["The cat sat on the mat.", "A cat barked.", 'It said "no", twice.']
NBEST = ["a b c d", "a b c e", "a b c d e", "x y z", "x y z w", "v w"]


@pytest.fixture
def matrix_folder(write, monkeypatch, tmp_path):
    """Return the working directory, with hypotheses, references and candidate lists."""
    monkeypatch.chdir(tmp_path)
    write("ref", REFERENCES)
    write("hyp", HYPOTHESES)
    write("nbest", NBEST)
    scores = [f"{i // 3} ||| {text} ||| lm=-{i} ||| -{i}.5" for i, text in enumerate(NBEST)]
    write("moses", scores)
    return tmp_path


@pytest.fixture
def run_matrix(matrix_folder, truebleu_command):
    return partial(truebleu_command, "matrix")


@pytest.fixture
def read_rows(matrix_folder, read_json):
    """Return a function that returns the rows in JSON output."""
    return lambda *words, **options: read_json("matrix", *words, "-f", "json", **options)["rows"]


@pytest.fixture
def read_score_matrix(read_rows):
    return lambda *words, **options: [row["scores"] for row in read_rows(*words, **options)]


def read_json_lines(text: str) -> list[dict]:
    """Return the parsed JSON lines without their version fields."""
    rows = [json.loads(line) for line in text.splitlines()]
    assert all(row.pop("truebleu_matrix") == 1 for row in rows)
    return rows


def compute_expected_scores(metric=tb.BLEU(), hypotheses=HYPOTHESES, references=REFERENCES):  # noqa: B008
    return [[metric.sentence(h, [r]).value for r in references] for h in hypotheses]


# ---- all pairs ----


def test_pipe_gets_json(matrix_folder, read_json):
    content = read_json("matrix", "ref", "-i", "hyp")
    assert content.pop("rows") == [
        {"hypothesis": number, "scores": scores}
        for number, scores in enumerate(compute_expected_scores(), 1)
    ]
    assert content == {
        "truebleu_matrix": 1,
        "system": "hyp",
        "signatures": {"BLEU": str(tb.BLEU().signature(1, segment=True))},
        "hypotheses": 3,
        "references": 4,
    }


def test_single_file_is_paired_with_itself(read_score_matrix):
    for arguments in (["ref"], ["ref", "-i", "ref"]):
        expected = compute_expected_scores(hypotheses=REFERENCES)
        assert read_score_matrix(*arguments) == expected
    texts = REFERENCES[:3]
    expected = compute_expected_scores(hypotheses=texts, references=texts)
    assert read_score_matrix("-", input="\n".join(texts).encode()) == expected


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        ("-m chrf", tb.CHRF()),
        ("-m chrf++ --chrf-lowercase", tb.CHRF(word_order=2, lowercase=True)),
        ("-m ter", tb.TER()),
        ("-m nist", tb.metric("nist")),
        ("-m mteval-v13a", tb.family["mteval-v13a"].metric),
        ("-lc -tok intl -s floor", tb.BLEU("intl", lowercase=True, smoothing="floor")),
    ],
)
def test_matrix_accepts_any_metric(matrix_folder, read_json, options, metric):
    content = read_json("matrix", "ref", "-i", "hyp", *options.split(), "--threads", "2")
    assert [row["scores"] for row in content["rows"]] == compute_expected_scores(metric)
    assert content["signatures"] == {metric.name: str(metric.signature(1, segment=True))}


@pytest.mark.parametrize(("form", "mark"), [("tsv", "\t"), ("csv", ",")])
def test_tsv_and_csv_have_row_per_hypothesis(run_matrix, form, mark):
    result = run_matrix("ref", "-i", "hyp", "-f", form)
    header, *rows = csv.reader(io.StringIO(result.output), delimiter=mark)
    assert header == ["hypothesis", "1", "2", "3", "4"]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert [[float(cell) for cell in row[1:]] for row in rows] == compute_expected_scores()
    bare = run_matrix("ref", "-i", "hyp", "-f", form, "-b", "-w", "2").output.splitlines()
    assert bare[0] == mark.join(f"{score:.2f}" for score in compute_expected_scores()[0])


def test_json_lines_have_row_per_hypothesis(matrix_folder, run_matrix, read_json):
    result = run_matrix("ref", "-i", "hyp", "-o", "scores.jsonl")
    assert (result.status, result.output) == (0, "")
    assert read_json_lines((matrix_folder / "scores.jsonl").read_text()) == [
        {"hypothesis": number, "scores": scores}
        for number, scores in enumerate(compute_expected_scores(), 1)
    ]
    bare = run_matrix("ref", "-i", "hyp", "-f", "jsonl", "-b")
    assert [json.loads(line) for line in bare.output.splitlines()] == compute_expected_scores()
    assert read_json("matrix", "ref", "-i", "hyp", "-b") == compute_expected_scores()


@pytest.mark.parametrize("options", [[], ["--float32"]])
def test_npy_file_has_scores(run_matrix, options):
    np = pytest.importorskip("numpy")
    kind = np.float32 if options else np.float64
    assert run_matrix("ref", "-i", "hyp", "-o", "scores.npy", *options).status == 0
    assert np.load("scores.npy", mmap_mode="r").shape == (3, 4)
    expected_file = io.BytesIO()
    np.save(expected_file, np.array(compute_expected_scores(), kind))
    assert Path("scores.npy").read_bytes() == expected_file.getvalue()
    assert run_matrix("ref", "--triangle", "-o", "triangle.npy", *options).status == 0
    square = np.array(compute_expected_scores(hypotheses=REFERENCES), kind)
    assert np.array_equal(np.load("triangle.npy"), square[np.triu_indices(4, 1)])


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_parquet_file_has_scores_and_metadata(matrix_folder, run_matrix, library, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("polars")
    if library == "polars":
        (matrix_folder / "sitecustomize.py").write_text(
            "import importlib.util as u\nf = u.find_spec\n"
            "u.find_spec = lambda n, *a: None if n == 'pyarrow' else f(n, *a)\n"
        )
        paths = filter(None, [str(matrix_folder), os.environ.get("PYTHONPATH")])
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    assert run_matrix("ref", "-i", "hyp", "-o", "scores.parquet").status == 0
    assert pq.read_table("scores.parquet").to_pydict() == {
        "hypothesis": [1, 2, 3],
        "scores": compute_expected_scores(),
    }
    signature = tb.BLEU().signature(1, segment=True)
    metadata = pq.read_metadata("scores.parquet").metadata
    assert metadata[b"signature"].decode() == f"BLEU|{signature}"
    assert run_matrix("ref", "-k", "1", "--text", "-o", "top.parquet").status == 0
    rows = pq.read_table("top.parquet").to_pylist()
    assert rows[0]["reference_text"] == REFERENCES[2]
    assert rows[0]["BLEU"] == compute_expected_scores(hypotheses=REFERENCES)[0][2]
    assert run_matrix("ref", "--triangle", "--float32", "-o", "pairs.parquet").status == 0
    assert len(pq.read_table("pairs.parquet")) == 6


def test_text_output_is_aligned_table(run_matrix):
    result = run_matrix("ref", "-i", "hyp", "-f", "text")
    lines = result.output.splitlines()
    assert lines[0].split() == ["hypothesis", "1", "2", "3", "4"]
    assert lines[1].split() == ["1", *(f"{score:.1f}" for score in compute_expected_scores()[0])]
    assert len(set(map(len, lines[:4]))) == 1
    assert lines[-1].startswith("BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|")
    bare = run_matrix("ref", "-i", "hyp", "-f", "text", "-b", "-w", "3")
    assert bare.output.splitlines()[0].split() == [
        f"{score:.3f}" for score in compute_expected_scores()[0]
    ]


def test_large_matrix_is_refused_on_terminal(matrix_folder, write):
    write("many", map(str, range(30)))
    status, output, error = run_on_terminal("matrix", "many")
    assert (status, output) == (2, "")
    assert "30 × 30 scores are too many for a terminal. Write them to a file" in error
    assert run_on_terminal("matrix", "many", "--triangle")[0] == 2
    assert run_on_terminal("matrix", "many", "-f", "npy")[0] == 2
    status, output, error = run_on_terminal("matrix", "ref", "-i", "hyp")
    assert (status, error) == (0, "")
    assert output.splitlines()[0].split() == ["hypothesis", "1", "2", "3", "4"]
    assert run_on_terminal("matrix", "many", "--top-k", "1")[0] == 0


def test_batch_size_does_not_change_output(matrix_folder, write, monkeypatch):
    from truebleu.cli import main, matrix

    limits = {"BATCH_SCORES": 50, "MIN_BATCH_HYPOTHESES": 2}
    limits |= {"BATCH_NEIGHBOURS": 20, "BATCH_SOURCES": 4}
    write("lines", [f"a b c {i} {i // 2}" for i in range(23)])
    for name, options in {
        "scores.tsv": [],
        "triangle.tsv": ["--triangle"],
        "triangle.npy": ["--triangle", "--float32"],
        "top.tsv": ["-k", "3"],
        "best.tsv": ["--mbr", "--nbest-size", "1"],
    }.items():
        monkeypatch.undo()
        monkeypatch.chdir(matrix_folder)
        assert main(["matrix", "lines", *options, "-o", f"whole-{name}"]) == 0
        for limit, value in limits.items():
            monkeypatch.setattr(matrix, limit, value)
        assert main(["matrix", "lines", *options, "-o", name]) == 0
        assert (matrix_folder / name).read_bytes() == (matrix_folder / f"whole-{name}").read_bytes()


def test_triangle_scores_each_pair_once(run_matrix):
    square = compute_expected_scores(hypotheses=REFERENCES)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    result = run_matrix("ref", "--triangle", "-f", "jsonl")
    assert read_json_lines(result.output) == [
        {"hypothesis": i + 1, "reference": j + 1, "BLEU": square[i][j]} for i, j in pairs
    ]
    result = run_matrix("ref", "--triangle", "-f", "text", "-b")
    assert result.output.splitlines() == [f"{square[i][j]:.1f}" for i, j in pairs]
    result = run_matrix("ref", "--triangle", "-f", "text")
    assert result.output.splitlines()[0].split() == ["hypothesis", "reference", "BLEU"]


# ---- nearest references ----


@pytest.mark.parametrize(("name", "metric"), [("chrf", tb.CHRF()), ("ter", tb.TER())])
def test_top_k_lists_nearest_references(read_rows, name, metric):
    sign = 1 if metric.LOWER_IS_BETTER else -1
    expected_rows = []
    for i, row in enumerate(compute_expected_scores(metric), 1):
        order = sorted(range(4), key=lambda j, row=row: sign * row[j])
        expected_rows += [
            {"hypothesis": i, "rank": rank, "reference": j + 1, metric.name: row[j]}
            for rank, j in enumerate(order[:2], 1)
        ]
    assert read_rows("ref", "-i", "hyp", "-m", name, "--top-k", "2") == expected_rows


def test_line_is_not_its_own_neighbour(run_matrix):
    result = run_matrix("ref", "-k", "9", "-f", "tsv")
    rows = [line.split("\t") for line in result.output.splitlines()[1:]]
    assert len(rows) == 4 * 3
    assert all(row[0] != row[2] for row in rows)
    assert [row[1] for row in rows[:3]] == ["1", "2", "3"]


def test_text_option_adds_texts(read_rows, run_matrix):
    words = ("ref", "-i", "hyp", "-k", "1", "--text")
    rows = read_rows(*words)
    assert [row["hypothesis_text"] for row in rows] == HYPOTHESES
    expected = [REFERENCES[row["reference"] - 1] for row in rows]
    assert [row["reference_text"] for row in rows] == expected
    assert HYPOTHESES[1] in run_matrix(*words, "-f", "text").output


def test_special_characters_in_texts_are_kept_or_escaped(write, read_rows, run_matrix):
    """Only tabs and line endings are escaped, because they would end a cell."""
    lines = ["a\u00a0b\u3000c \U0001f600", "tab\there", 're\rturn, "quoted"', "\u2028"]
    write("odd", lines)
    words = ["odd", "-k", "1", "--text"]
    assert [row["hypothesis_text"] for row in read_rows(*words)] == lines
    output = run_matrix(*words, "-f", "csv").output
    rows = csv.DictReader(io.StringIO(output, newline=""))
    assert [row["hypothesis_text"] for row in rows] == lines
    cells = [line.split("\t") for line in run_matrix(*words, "-f", "tsv").output.split("\n")]
    escaped = [lines[0], r"tab\there", r're\rturn, "quoted"', lines[3]]
    assert [row[4] for row in cells[1:5]] == escaped
    best = run_matrix("odd", "--mbr", "--nbest-size", "1", "-f", "lines")
    assert best.output.split("\n") == [*lines, ""]


# ---- candidates ----


def test_mbr_prints_best_candidate_per_source(run_matrix, read_rows):
    results = tb.mbr([NBEST[:3], NBEST[3:]])
    words = ("nbest", "--mbr", "--nbest-size", "3")
    result = run_matrix(*words, "-f", "lines")
    assert (result.status, result.error) == (0, "")
    assert result.output.splitlines() == [one.best for one in results]
    assert read_rows(*words) == [
        {"source": i, "rank": 1, "candidate": one.index + 1, "BLEU": one.value, "text": one.best}
        for i, one in enumerate(results, 1)
    ]
    scores = run_matrix(*words, "-b", "-f", "tsv").output.splitlines()
    assert scores == [repr(one.value) for one in results]


@pytest.mark.parametrize("method", ["exact", "aggregate", "pruned"])
def test_method_option_equals_python(read_rows, method):
    results = tb.mbr([NBEST[:3], NBEST[3:]], utility="chrf", method=method)
    rows = read_rows("nbest", "--mbr", "--nbest-size", "3", "-m", "chrf", "--method", method)
    assert [row["chrF2"] for row in rows] == [one.value for one in results]


def test_moses_format_is_read(run_matrix):
    result = run_matrix("moses", "--mbr", "--moses", "-k", "2", "-f", "tsv")
    rows = [line.split("\t") for line in result.output.splitlines()]
    assert rows[0] == ["source", "rank", "candidate", "BLEU", "text"]
    assert rows[1:] == [
        [str(number), str(rank), str(i + 1), repr(one.expected[i]), one.candidates[i]]
        for number, one in enumerate(tb.mbr([NBEST[:3], NBEST[3:]]))
        for rank, i in enumerate(one.ranking[:2], 1)
    ]


def test_mbr_text_shows_expected_score_of_each_selection(run_matrix):
    output = run_matrix("nbest", "--mbr", "--nbest-size", "3", "-f", "text").output
    header, *rows, _, signature = output.splitlines()
    assert header.split() == ["source", "rank", "candidate", "expected", "BLEU", "text"]
    assert [row.split(maxsplit=4)[3:] for row in rows] == [
        [f"{result.expected[result.index]:.1f}", result.best]
        for result in tb.mbr([NBEST[:3], NBEST[3:]])
    ]
    assert signature.startswith("BLEU|")


def test_file_without_nbest_size_is_one_source(run_matrix):
    result = run_matrix("nbest", "--mbr", "-m", "ter", "-f", "lines", "--threads", "2")
    assert result.output == f"{tb.mbr(NBEST, utility=tb.TER()).best}\n"


# ---- errors ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "REF: expected one file, found 0"),
        ("ref hyp", "REF: expected one file, found 2"),
        ("ref -i hyp ref", "-i/--input: expected one file, found 2"),
        ("- -i -", "standard input can be read only once"),
        ("ref -m bleu chrf", "expected one metric, found 2"),
        ("ref -k 0", "expected a whole number of 1 or more, found '0'"),
        ("ref --text", "--text needs --top-k"),
        ("ref --moses", "--nbest-size and --moses have no effect without --mbr"),
        ("ref --mbr --moses --nbest-size 2", "--nbest-size and --moses are mutually exclusive"),
        ("ref --mbr -i hyp", "mutually exclusive"),
        ("ref --method pruned", "--method has no effect without --mbr"),
        ("ref --triangle -i hyp", "--triangle and -i/--input are mutually exclusive"),
        ("ref --triangle -k 2", "--triangle cannot be combined with"),
        ("ref --float32", "--float32 needs -f npy"),
        ("ref -k 1 -f npy", "-f npy cannot be combined with"),
        ("ref -b -f npy", "-b/--score-only"),
        ("ref -w 2 -f npy", "-w/--width"),
        ("ref -f xml", "unknown value 'xml'"),
        ("ref -f lines", "-f/--format: lines needs --mbr"),
        ("ref -f lines --mbr -b", "-b/--score-only cannot be combined with -f lines"),
        ("nbest --mbr -m ter --method aggregate", "--method aggregate sums the n-grams of the ref"),
        ("ref -o scores.html", "unknown format 'html'"),
        ("ref -o ref -f tsv", "ref is also an input file"),
        ("ref --topk 2", "unknown option --topk; did you mean '--top-k'?"),
    ],
)
def test_wrong_command_line_gives_usage_error(matrix_folder, read_error, arguments, message):
    assert message in read_error(2, "matrix", *arguments.split())
    assert sorted(path.name for path in matrix_folder.iterdir()) == ["hyp", "moses", "nbest", "ref"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("none", "none: No such file or directory"),
        ("empty", "empty): the file is empty"),
        ("ref -i empty", "empty): the file is empty"),
        ("empty --mbr -f tsv", "empty): the file is empty"),
        ("one --triangle", "expected at least 2 lines, found 1"),
        ("latin", "is not valid UTF-8"),
        ("nbest --mbr --nbest-size 4", "expected 4 lines for source 2, found 2; the number of lin"),
        ("nbest --mbr --moses", "line 1: expected SOURCE ||| TEXT ||| ..., found 'a b c d'"),
        ("mixed --mbr --moses", "line 3: source 0 appears again"),
    ],
)
def test_wrong_data_gives_status_1(matrix_folder, run_matrix, write, arguments, message):
    write("empty", [])
    write("one", ["a"])
    write("latin", ["naïve", "a"], "latin-1")
    write("mixed", ["0 ||| a ||| 1", "1 ||| b ||| 1", "0 ||| c ||| 1"])
    before = sorted(matrix_folder.iterdir())
    for place in ([], ["-o", "out.tsv"]):
        result = run_matrix(*arguments.split(), *place)
        assert result.status == 1
        assert result.output == "" or "empty" not in message
        assert message in result.error
        assert len(result.error.splitlines()) == 1
    assert sorted(matrix_folder.iterdir()) == before
