"""`truebleu matrix`: every pair, the nearest, the best of candidates."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest

import truebleu as tb

REFERENCES = ["The cat sat on the mat.", "A dog, it barked.", "The cat sat on a mat.", ""]
HYPOTHESES = ["The cat sat on the mat.", "A cat barked.", 'It said "no", twice.']
NBEST = ["a b c d", "a b c e", "a b c d e", "x y z", "x y z w", "v w"]


@pytest.fixture
def files(write, monkeypatch, tmp_path):
    """A folder, made the current one, with both sides and lists of candidates."""
    monkeypatch.chdir(tmp_path)
    write("ref", REFERENCES)
    write("hyp", HYPOTHESES)
    write("nbest", NBEST)
    scores = [f"{i // 3} ||| {text} ||| lm=-{i} ||| -{i}.5" for i, text in enumerate(NBEST)]
    write("moses", scores)
    return tmp_path


def rows_of(result) -> list[dict]:
    """The rows that JSON has, whatever was asked for."""
    content = json.loads(result.output)
    assert content["truebleu_matrix"] == 1
    return content["rows"]


def scores_of(result) -> list[list[float]]:
    return [row["scores"] for row in rows_of(result)]


def lines_of(text: str) -> list[dict]:
    """JSON lines, each of which says its version."""
    rows = [json.loads(line) for line in text.splitlines()]
    assert all(row.pop("truebleu_matrix") == 1 for row in rows)
    return rows


def expected(metric=tb.BLEU(), hypotheses=HYPOTHESES, references=REFERENCES):  # noqa: B008
    return [[metric.sentence(h, [r]).value for r in references] for h in hypotheses]


# ---- every pair ----


def test_json_in_a_pipe(files, truebleu_command):
    done = truebleu_command("matrix", "ref", "-i", "hyp")
    assert (done.status, done.error) == (0, "")
    assert scores_of(done) == expected()
    content = json.loads(done.output)
    assert [row["hypothesis"] for row in content.pop("rows")] == [1, 2, 3]
    assert content == {
        "truebleu_matrix": 1,
        "signatures": {"BLEU": str(tb.BLEU().signature(1, segment=True))},
        "hypotheses": 3,
        "references": 4,
    }


def test_one_file_with_itself(files, truebleu_command):
    for arguments in (["ref"], ["ref", "-i", "ref"]):
        done = truebleu_command("matrix", *arguments)
        assert scores_of(done) == expected(hypotheses=REFERENCES)
    done = truebleu_command("matrix", "-", input="\n".join(REFERENCES[:3]).encode())
    assert scores_of(done) == expected(hypotheses=REFERENCES[:3], references=REFERENCES[:3])


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        (["-m", "chrf"], tb.CHRF()),
        (["-m", "chrf++", "--chrf-lowercase"], tb.CHRF(word_order=2, lowercase=True)),
        (["-m", "ter"], tb.TER()),
        (["-m", "nist"], tb.metric("nist")),
        (["-m", "mteval-v13a"], tb.family["mteval-v13a"].metric),
        (
            ["-lc", "-tok", "intl", "-s", "floor"],
            tb.BLEU("intl", lowercase=True, smoothing="floor"),
        ),
    ],
)
def test_any_metric(files, truebleu_command, options, metric):
    done = truebleu_command("matrix", "ref", "-i", "hyp", *options, "--threads", "2")
    assert scores_of(done) == expected(metric)
    assert json.loads(done.output)["signatures"] == {
        metric.name: str(metric.signature(1, segment=True))
    }


@pytest.mark.parametrize(("form", "mark"), [("tsv", "\t"), ("csv", ",")])
def test_separated_values(files, truebleu_command, form, mark):
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-f", form)
    rows = list(csv.reader(io.StringIO(done.output), delimiter=mark))
    assert rows[0] == ["hypothesis", "1", "2", "3", "4"]
    assert [row[0] for row in rows[1:]] == ["1", "2", "3"]
    assert [[float(cell) for cell in row[1:]] for row in rows[1:]] == expected()
    bare = truebleu_command("matrix", "ref", "-i", "hyp", "-f", form, "-b", "-w", "2")
    assert bare.output.splitlines()[0] == mark.join(f"{score:.2f}" for score in expected()[0])


def test_json_lines(files, truebleu_command):
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-o", "scores.jsonl")
    assert (done.status, done.output) == (0, "")
    assert lines_of((files / "scores.jsonl").read_text()) == [
        {"hypothesis": number, "scores": scores} for number, scores in enumerate(expected(), 1)
    ]
    bare = truebleu_command("matrix", "ref", "-i", "hyp", "-f", "jsonl", "-b")
    assert [json.loads(line) for line in bare.output.splitlines()] == expected()
    bare = truebleu_command("matrix", "ref", "-i", "hyp", "-b")
    assert json.loads(bare.output) == expected()


@pytest.mark.parametrize("options", [[], ["--float32"]])
def test_numpys_format(files, truebleu_command, options):
    np = pytest.importorskip("numpy")
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-o", "scores.npy", *options)
    assert done.status == 0, done
    found = np.load(files / "scores.npy", mmap_mode="r")
    kind = np.float32 if options else np.float64
    assert found.dtype == kind
    assert found.shape == (3, 4)
    assert np.array_equal(found, np.array(expected(), kind))
    own = io.BytesIO()
    np.save(own, np.array(expected(), kind))
    assert (files / "scores.npy").read_bytes() == own.getvalue()
    triangle = truebleu_command("matrix", "ref", "--triangle", "-o", "triangle.npy", *options)
    assert triangle.status == 0, triangle
    square = np.array(expected(hypotheses=REFERENCES), kind)
    found = np.load(files / "triangle.npy")
    assert np.array_equal(found, square[np.triu_indices(4, 1)])


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_parquet(files, truebleu_command, library, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("polars")
    if library == "polars":
        (files / "hidden").mkdir()
        (files / "hidden" / "sitecustomize.py").write_text(
            "import importlib.util as u\nf = u.find_spec\n"
            "u.find_spec = lambda n, *a: None if n == 'pyarrow' else f(n, *a)\n"
        )
        path = os.pathsep.join(filter(None, [str(files / "hidden"), os.environ.get("PYTHONPATH")]))
        monkeypatch.setenv("PYTHONPATH", path)
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-o", "scores.parquet")
    assert done.status == 0, done
    table = pq.read_table("scores.parquet")
    assert table.column_names == ["hypothesis", "scores"]
    assert table["hypothesis"].to_pylist() == [1, 2, 3]
    assert table["scores"].to_pylist() == expected()
    signature = tb.BLEU().signature(1, segment=True)
    about = pq.read_metadata("scores.parquet").metadata
    assert about[b"signature"].decode() == f"BLEU|{signature}"
    done = truebleu_command("matrix", "ref", "-k", "1", "--text", "-o", "top.parquet")
    assert done.status == 0, done
    rows = pq.read_table("top.parquet").to_pylist()
    assert rows[0]["reference_text"] == REFERENCES[2]
    assert rows[0]["BLEU"] == expected(hypotheses=REFERENCES)[0][2]
    done = truebleu_command("matrix", "ref", "--triangle", "--float32", "-o", "pairs.parquet")
    assert done.status == 0, done
    assert len(pq.read_table("pairs.parquet")) == 6


def test_a_table_for_a_person(files, truebleu_command):
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-f", "text")
    lines = done.output.splitlines()
    assert lines[0].split() == ["hypothesis", "1", "2", "3", "4"]
    assert lines[1].split() == ["1", *(f"{score:.1f}" for score in expected()[0])]
    assert len(set(map(len, lines[:4]))) == 1
    assert lines[-1].startswith("BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|")
    bare = truebleu_command("matrix", "ref", "-i", "hyp", "-f", "text", "-b", "-w", "3")
    assert bare.output.splitlines()[0].split() == [f"{score:.3f}" for score in expected()[0]]


def test_what_would_flood_a_terminal_is_refused(files, write):
    pty = pytest.importorskip("pty")
    write("many", map(str, range(30)))

    def on_terminal(*arguments):
        leader, follower = pty.openpty()
        command = [sys.executable, "-m", "truebleu", "matrix", *arguments]
        with subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE) as child:
            os.close(follower)
            shown = b""
            while True:
                try:
                    piece = os.read(leader, 4096)
                except OSError:  # its other end is closed
                    break
                if not piece:
                    break
                shown += piece
            error = child.stderr.read().decode()
        os.close(leader)
        return child.returncode, shown.decode(), error

    status, shown, error = on_terminal("many")
    assert (status, shown) == (2, "")
    assert "30 × 30 scores are too many for a terminal; write them to a file" in error
    assert on_terminal("many", "--triangle")[0] == 2
    assert on_terminal("many", "-f", "npy")[0] == 2
    status, shown, error = on_terminal("ref", "-i", "hyp")
    assert (status, error) == (0, "")
    assert shown.splitlines()[0].split() == ["hypothesis", "1", "2", "3", "4"]
    assert on_terminal("many", "--top-k", "1")[0] == 0


def test_blocks_make_no_difference(files, write, monkeypatch):
    from truebleu.cli import main, matrix

    write("lines", [f"a b c {i} {i // 2}" for i in range(23)])
    for name, options in {
        "scores.tsv": [],
        "triangle.tsv": ["--triangle"],
        "triangle.npy": ["--triangle", "--float32"],
        "top.tsv": ["-k", "3"],
        "best.tsv": ["--mbr", "--nbest-size", "1"],
    }.items():
        monkeypatch.undo()
        monkeypatch.chdir(files)
        assert main(["matrix", "lines", *options, "-o", f"whole-{name}"]) == 0
        for limit, value in {"SCORES": 50, "LEAST": 2, "NEAREST": 20, "SOURCES": 4}.items():
            monkeypatch.setattr(matrix, limit, value)
        assert main(["matrix", "lines", *options, "-o", name]) == 0
        assert (files / name).read_bytes() == (files / f"whole-{name}").read_bytes()


def test_each_pair_once(files, truebleu_command):
    square = expected(hypotheses=REFERENCES)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    done = truebleu_command("matrix", "ref", "--triangle", "-f", "jsonl")
    assert lines_of(done.output) == [
        {"hypothesis": i + 1, "reference": j + 1, "BLEU": square[i][j]} for i, j in pairs
    ]
    done = truebleu_command("matrix", "ref", "--triangle", "-f", "text", "-b")
    assert done.output.splitlines() == [f"{square[i][j]:.1f}" for i, j in pairs]
    done = truebleu_command("matrix", "ref", "--triangle", "-f", "text")
    assert done.output.splitlines()[0].split() == ["hypothesis", "reference", "BLEU"]


# ---- the nearest ----


@pytest.mark.parametrize(("name", "metric"), [("chrf", tb.CHRF()), ("ter", tb.TER())])
def test_the_nearest(files, truebleu_command, name, metric):
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-m", name, "--top-k", "2", "-f", "json")
    sign = 1 if metric.LOWER_IS_BETTER else -1
    wanted = []
    for i, row in enumerate(expected(metric), 1):
        order = sorted(range(4), key=lambda j, row=row: sign * row[j])
        wanted += [
            {"hypothesis": i, "rank": rank, "reference": j + 1, metric.name: row[j]}
            for rank, j in enumerate(order[:2], 1)
        ]
    assert rows_of(done) == wanted


def test_no_line_is_its_own_neighbour(files, truebleu_command):
    done = truebleu_command("matrix", "ref", "-k", "9", "-f", "tsv")
    rows = [line.split("\t") for line in done.output.splitlines()[1:]]
    assert len(rows) == 4 * 3
    assert all(row[0] != row[2] for row in rows)
    assert [row[1] for row in rows[:3]] == ["1", "2", "3"]


def test_texts_beside_their_numbers(files, truebleu_command):
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-k", "1", "--text", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.output)))
    assert [row["hypothesis_text"] for row in rows] == HYPOTHESES
    assert [row["reference_text"] for row in rows] == [
        REFERENCES[int(row["reference"]) - 1] for row in rows
    ]
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-k", "1", "--text", "-f", "jsonl")
    assert json.loads(done.output.splitlines()[2])["hypothesis_text"] == HYPOTHESES[2]
    done = truebleu_command("matrix", "ref", "-i", "hyp", "-k", "1", "--text", "-f", "text")
    assert HYPOTHESES[1] in done.output


def test_text_stays_as_it_is(files, truebleu_command, write):
    """But for what would end a cell: tabs, and the line ends that files of lines may hold."""
    lines = ["a\u00a0b\u3000c \U0001f600", "tab\there", 're\rturn, "quoted"', "\u2028"]
    write("odd", lines)
    arguments = ["matrix", "odd", "-k", "1", "--text", "-f"]
    rows = rows_of(truebleu_command(*arguments, "json"))
    assert [row["hypothesis_text"] for row in rows] == lines
    rows = list(csv.DictReader(io.StringIO(truebleu_command(*arguments, "csv").output, newline="")))
    assert [row["hypothesis_text"] for row in rows] == lines
    cells = [line.split("\t") for line in truebleu_command(*arguments, "tsv").output.split("\n")]
    assert [row[4] for row in cells[1:5]] == [
        lines[0],
        r"tab\there",
        r're\rturn, "quoted"',
        lines[3],
    ]
    best = truebleu_command("matrix", "odd", "--mbr", "--nbest-size", "1", "-f", "text")
    assert best.output.split("\n") == [*lines, ""]


# ---- candidates ----


def test_the_best_of_each_source(files, truebleu_command):
    found = tb.mbr([NBEST[:3], NBEST[3:]])
    done = truebleu_command("matrix", "nbest", "--mbr", "--nbest-size", "3", "-f", "text")
    assert (done.status, done.error) == (0, "")
    assert done.output.splitlines() == [one.best for one in found]
    done = truebleu_command("matrix", "nbest", "--mbr", "--nbest-size", "3")
    assert rows_of(done) == [
        {"source": i, "rank": 1, "candidate": one.index + 1, "BLEU": one.value, "text": one.best}
        for i, one in enumerate(found, 1)
    ]
    done = truebleu_command("matrix", "nbest", "--mbr", "--nbest-size", "3", "-b", "-f", "tsv")
    assert done.output.splitlines() == [repr(one.value) for one in found]


@pytest.mark.parametrize("method", ["exact", "aggregate", "pruned"])
def test_methods_of_choosing(files, truebleu_command, method):
    found = tb.mbr([NBEST[:3], NBEST[3:]], utility="chrf", method=method)
    options = ("--mbr", "--nbest-size", "3", "-m", "chrf", "--method", method)
    rows = rows_of(truebleu_command("matrix", "nbest", *options))
    assert [row["chrF2"] for row in rows] == [one.value for one in found]


def test_a_method_that_a_metric_has_not(files, truebleu_command):
    done = truebleu_command("matrix", "nbest", "--mbr", "-m", "ter", "--method", "aggregate")
    assert done.status == 2
    assert "method='aggregate' adds up the n-grams of the references" in done.error


def test_lists_as_moses_writes_them(files, truebleu_command):
    done = truebleu_command("matrix", "moses", "--mbr", "--moses", "-k", "2", "-f", "tsv")
    rows = [line.split("\t") for line in done.output.splitlines()]
    assert rows[0] == ["source", "rank", "candidate", "BLEU", "text"]
    assert rows[1:] == [
        [str(number), str(rank), str(i + 1), repr(one.expected[i]), one.candidates[i]]
        for number, one in enumerate(tb.mbr([NBEST[:3], NBEST[3:]]))
        for rank, i in enumerate(one.ranking[:2], 1)
    ]


def test_candidates_from_a_pipe(files, truebleu_command):
    text = (files / "moses").read_bytes()
    done = truebleu_command("matrix", "-", "--mbr", "--moses", "-f", "text", input=text)
    assert done.output.splitlines() == [one.best for one in tb.mbr([NBEST[:3], NBEST[3:]])]


def test_a_file_of_one_source(files, truebleu_command):
    done = truebleu_command("matrix", "nbest", "--mbr", "-m", "ter", "-f", "text", "--threads", "2")
    assert done.output == f"{tb.mbr(NBEST, utility=tb.TER()).best}\n"


# ---- what is wrong ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no REF: expected one file"),
        (["ref", "hyp"], "2 REF: expected one file"),
        (["ref", "-i", "hyp", "ref"], "-i/--input: expected one file, not 2"),
        (["-", "-i", "-"], "standard input is named twice"),
        (["ref", "-m", "bleu", "chrf"], "one metric at a time"),
        (["ref", "-k", "0"], "expected a whole number of 1 or more, not '0'"),
        (["ref", "--text"], "--text is for --top-k"),
        (["ref", "--moses"], "--nbest-size and --moses are for --mbr"),
        (["ref", "--mbr", "--moses", "--nbest-size", "2"], "give either --nbest-size or --moses"),
        (["ref", "--mbr", "-i", "hyp"], "leave out -i"),
        (["ref", "--method", "pruned"], "--method is for --mbr"),
        (["ref", "--triangle", "-i", "hyp"], "--triangle is of one file"),
        (["ref", "--triangle", "-k", "2"], "give one of --triangle, --top-k and --mbr"),
        (["ref", "--float32"], "--float32 is for npy and parquet"),
        (["ref", "-k", "1", "-f", "npy"], "npy holds numbers alone"),
        (["ref", "-b", "-f", "npy"], "-b/--score-only"),
        (["ref", "-w", "2", "-f", "npy"], "-w/--width"),
        (["ref", "-f", "xml"], "unknown 'xml'"),
        (["ref", "-o", "scores.html"], "no format html"),
        (["ref", "-o", "ref", "-f", "tsv"], "ref is an input as well"),
        (["ref", "--topk", "2"], "unknown option --topk; did you mean '--top-k'?"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line(files, truebleu_command, arguments, message):
    done = truebleu_command("matrix", *arguments)
    assert (done.status, done.output) == (2, "")
    assert message in done.error
    assert len(done.error.splitlines()) == 1
    assert sorted(path.name for path in files.iterdir()) == ["hyp", "moses", "nbest", "ref"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "none: No such file or directory"),
        (["empty"], "empty): no lines at all"),
        (["ref", "-i", "empty"], "empty): no lines at all"),
        (["empty", "--mbr"], "empty): no lines at all"),
        (["one", "--triangle"], "one line; a pair needs two"),
        (["latin"], "is not UTF-8"),
        (["nbest", "--mbr", "--nbest-size", "4"], "source 2 has 2 of 4 lines; 6 lines are no"),
        (["nbest", "--mbr", "--moses"], "line 1: expected SOURCE ||| TEXT ||| ..., not 'a b c d'"),
        (["mixed", "--mbr", "--moses"], "line 3: source 0 once more"),
    ],
    ids=" ".join,
)
def test_wrong_data(files, truebleu_command, write, arguments, message):
    write("empty", [])
    write("one", ["a"])
    write("latin", ["naïve", "a"], "latin-1")
    write("mixed", ["0 ||| a ||| 1", "1 ||| b ||| 1", "0 ||| c ||| 1"])
    before = sorted(files.iterdir())
    for place in ([], ["-o", "out.tsv"]):
        done = truebleu_command("matrix", *arguments, *place)
        assert done.status == 1
        assert message in done.error
        assert len(done.error.splitlines()) == 1
    assert sorted(files.iterdir()) == before


def test_help_and_completion_know_it(truebleu_command):
    done = truebleu_command("matrix", "--help")
    assert done.status == 0
    assert "truebleu matrix lines.en --top-k 3 --text" in done.output
    assert "matrix" in truebleu_command("--help").output
    completion = truebleu_command("completion", "bash").output
    assert "--nbest-size" in completion
