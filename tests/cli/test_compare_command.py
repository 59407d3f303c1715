"""The command that compares systems, and intervals in the one that scores them."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys

import pytest
from paths import ROOT

import truebleu
from truebleu import compare
from truebleu.text.terminal_layout import shorten_names

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCES = [EXAMPLES / "reference.a.en", EXAMPLES / "reference.b.en"]
FILES = [EXAMPLES / f"{name}.en" for name in ("birch", "cedar", "aspen")]
SYSTEMS = {path.stem: path for path in FILES}

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def run(truebleu_command):
    """Compares the example systems."""

    def run(*options, **named):
        return truebleu_command("compare", *REFERENCES, "-i", *FILES, *options, **named)

    return run


def told(result) -> dict:
    """The dict that the command gives as JSON."""
    assert result.status == 0, result
    return json.loads(result.output)


def test_text_in_a_pipe(run):
    assert run("-parn", "9").output == compare(SYSTEMS, REFERENCES, samples=9).text()


def test_json_is_the_dict(run):
    own = run("-m", "bleu", "chrf", "chrf++", "-f", "json")
    assert (own.status, own.error) == (0, "")
    expected = compare(SYSTEMS, REFERENCES, metrics=["bleu", "chrf", "chrf++"])
    assert json.loads(own.output) == expected.to_dict()


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "csv", "tsv"])
def test_formats(run, form, tmp_path):
    expected = getattr(compare(SYSTEMS, REFERENCES), form)()
    assert run("-f", form).output == expected
    suffix = {"text": "txt", "markdown": "md", "latex": "tex"}.get(form, form)
    own = run("-o", tmp_path / f"out.{suffix}")
    assert (own.status, own.output, own.error) == (0, "", "")
    assert (tmp_path / f"out.{suffix}").read_text("utf-8") == expected


def test_options_reach_the_comparison(run):
    own = run(
        *("--baseline", "aspen", "--test", "bs", "-pbsn", "77", "--level", "0.9", "--seed", "0"),
        *("--correction", "bh", "-tok", "intl", "-lc", "--threads", "2", "-f", "json"),
    )
    expected = compare(
        SYSTEMS,
        REFERENCES,
        metrics=[truebleu.BLEU("intl", lowercase=True)],
        baseline="aspen",
        test="bs",
        samples=77,
        level=0.9,
        seed=0,
        correction="bh",
    )
    assert json.loads(own.output) == expected.to_dict()


@pytest.mark.parametrize(
    ("options", "test", "samples", "confidence"),
    [
        ([], "ar", 10_000, 1000),
        (["-par", "-parn", "50"], "ar", 50, 1000),
        (["--paired-ar", "--paired-ar-n", "50", "--confidence", "20"], "ar", 50, 20),
        (["-pbs", "-pbsn", "50"], "bs", 50, 50),
        (["--paired-bs", "-ci", "60"], "bs", 60, 60),
        (["--test", "koehn", "-cin", "60"], "koehn", 60, 60),
        (["-ci", "-par"], "ar", 10_000, 1000),
        (["-ci", "-cin", "30"], "ar", 10_000, 30),
    ],
)
def test_sacrebleus_spellings(run, options, test, samples, confidence):
    content = told(run(*options, "-f", "json"))
    assert (content["test"]["name"], content["test"]["samples"]) == (test, samples)
    assert content["intervals"]["samples"] == confidence


def test_confidence_leaves_the_next_word_alone(truebleu_command):
    own = truebleu_command("compare", "-ci", *REFERENCES, "-i", *FILES, "-parn", "9", "-f", "json")
    assert json.loads(own.output)["references"] == 2


def test_no_test(run):
    assert told(run("--test", "none", "-f", "json"))["test"] is None


def test_the_first_file_is_the_baseline(run):
    assert told(run("-parn", "9", "-f", "json"))["baseline"] == "birch"


@pytest.mark.parametrize("name", ["cedar", "cedar.en", str(EXAMPLES / "cedar.en")])
def test_the_baseline_by_its_name_or_file(run, name):
    own = run("-parn", "9", "--baseline", name, "-f", "json")
    assert told(own)["baseline"] == "cedar"


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["birch.en", "cedar.en"], ["birch", "cedar"]),
        (["wmt.en-de.hyp.Online-A.de", "wmt.en-de.hyp.M2.1.de"], ["Online-A", "M2.1"]),
        (["a/out.en", "b/out.en"], ["a", "b"]),
        (["runs/1/a/out", "runs/1/b/out", "runs/1/out"], ["a/out", "b/out", "out"]),
        (["run1.txt", "run2.txt"], ["run1", "run2"]),
        (["x.en", "x.en.gz"], ["x.en", "x.en.gz"]),
        (["t.tsv#2", "t.tsv#3"], ["t.tsv#2", "t.tsv#3"]),
        (["only.en"], ["only.en"]),
        (["same", "same"], ["same", "same (2)"]),
        (["a.en", "standard input"], ["a.en", "standard input"]),
    ],
)
def test_short_names(paths, names):
    assert shorten_names(paths) == names


def test_names(run):
    own = run("-parn", "9", "--names", "B, C ,A", "--baseline", "C", "-f", "json")
    assert [system["name"] for system in json.loads(own.output)["systems"]] == ["C", "B", "A"]


def test_references_side_by_side(run, truebleu_command, tmp_path):
    columns = [path.read_text("utf-8").splitlines() for path in REFERENCES]
    path = tmp_path / "both.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(*columns, strict=True)), "utf-8")
    options = ["-m", "bleu", "chrf", "-parn", "9", "-f", "json"]
    own = truebleu_command("compare", path, "-nr", 2, "-i", *FILES, *options)
    assert own.status == 0, own
    content, expected = json.loads(own.output), json.loads(run(*options).output)
    names = [[one.pop("name") for one in made["by_reference"]] for made in (content, expected)]
    assert names == [["ref 1", "ref 2"], ["ref a", "ref b"]]
    assert content == expected


def test_one_system_has_intervals(truebleu_command):
    own = truebleu_command("compare", *REFERENCES, "-i", FILES[0], "-f", "text")
    assert own.status == 0
    assert re.search(r"birch.en +33.9 +\[30.2, 38.1\]", own.output)


def test_standard_input(truebleu_command):
    own = truebleu_command(
        "compare", *REFERENCES, "-m", "bleu", "chrf", "-f", "json", input=FILES[0].read_bytes()
    )
    assert json.loads(own.output)["systems"][0]["name"] == "standard input"


# ---- scores from elsewhere ----


def test_scores_in_columns_and_in_files(run, write):
    columns = [[0.5 + i / 1000 for i in range(128)], [0.5] * 128, [0.25] * 128]
    table = write("comet.tsv", ["\t".join(map(repr, row)) for row in zip(*columns, strict=True)])
    files = [write(f"{i}.txt", map(repr, column)) for i, column in enumerate(columns)]
    first = run("--scores", f"COMET={table}", "-parn", "99", "-f", "json")
    assert first.status == 0, first
    second = run("--scores", f"COMET={files[0]}", *files[1:], "-parn", "99", "-f", "json")
    assert json.loads(first.output) == json.loads(second.output)
    expected = compare(
        SYSTEMS,
        REFERENCES,
        samples=99,
        scores={"COMET": dict(zip(SYSTEMS, columns, strict=True))},
    )
    assert json.loads(first.output) == expected.to_dict()


def test_scores_alone(truebleu_command, write):
    table = write("m.tsv", ["good\tbad", *["1\t2"] * 30])
    own = truebleu_command(
        *("compare", "--scores", f"MetricX={table}", "--lower-is-better", "MetricX"),
        *("-f", "tsv", "-parn", "99"),
    )
    assert own.status == 0, own
    rows = list(csv.DictReader(own.output.splitlines(), delimiter="\t"))
    assert [(row["system"], row["score"]) for row in rows] == [("good", "1.0"), ("bad", "2.0")]


# ---- terminals ----


@posix
@pytest.mark.parametrize("width", [60, 140])
def test_on_a_terminal(width):
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "truebleu", "compare", *map(str, REFERENCES)]
    command += ["-i", *map(str, FILES), "-parn", "99", "-ci", "99"]
    environment = os.environ | {"COLUMNS": str(width), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    subprocess.run(command, stdout=follower, check=True, env=environment)
    os.close(follower)
    shown = os.read(leader, 100_000).decode().replace("\r\n", "\n")
    os.close(leader)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    expected = compare(SYSTEMS, REFERENCES, samples=99, confidence=99).text(width)
    table = expected.partition("BLEU|")[0]
    assert [
        line.rstrip() for line in plain.partition("BLEU|")[0].splitlines()
    ] == table.splitlines()
    assert "\x1b[" in shown


# ---- what is wrong ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "brch"], r"--baseline: no system 'brch'; did you mean 'birch'"),
        (["--names", "A,B"], r"--names: 2 names for 3 systems"),
        (["--names", "A,B,A"], r"--names: 'A' is there twice"),
        (["--names", "A,,B"], r"--names: a name is empty"),
        (["-par", "-pbs"], r"not allowed with"),
        (["-pbsn", "9"], r"-pbsn/--paired-bs-n: the test is ar"),
        (["--test", "bs", "-parn", "9"], r"-parn/--paired-ar-n: the test is bs"),
        (["-parn", "0"], r"expected a whole number from 1 to 10,000,000, not '0'"),
        (["-ci", "0"], r"-ci/--confidence: expected a whole number .*, not '0'"),
        (["-pbs", "-pbsn", "9", "-ci", "8"], r"leave out --confidence"),
        (["-ci", "8", "-cin", "9"], r"name different numbers"),
        (["--level", "95"], r"expected a number between 0 and 1, such as 0.95, not '95'"),
        (["--seed", "abc"], r"--seed: expected a whole number of 0 or more, not 'abc'"),
        (["--test", "none", "--correction", "holm"], r"--correction: .*there is no test"),
        (["--correction", "bonferroni"], r"unknown 'bonferroni'"),
        (["-w", "2", "-f", "json"], r"-w/--width: json has every number"),
        (["-f", "csv", "-sh"], r"-sh/--short: csv has every number"),
        (["--scores", "x.tsv"], r"expected NAME=FILE, as COMET=comet.tsv, not 'x.tsv'"),
        (["--scores", "M=a", "b"], r"M has 2 files for 3 systems"),
        (["--scores", "M=a", "M=b"], r"M is there twice"),
        (["--lower-is-better", "M"], r"--lower-is-better: no given scores are called 'M'"),
        (["-j", "4"], r"no option -j here: it is --threads"),
        (["-b"], r"unknown option -b"),
        (["--threads", "5000"], r"expected a whole number from 0 to 1,024, not '5000'"),
        (["--max-order", "99"], r"max_order=99: expected a whole number from 1 to 16"),
        (["--weights", "x"], r"expected numbers separated by commas, not 'x'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_command_lines(run, options, message):
    own = run(*options)
    assert (own.status, own.output) == (2, ""), own
    assert re.search(message, own.error)
    assert own.error.count("\n") == 1


def test_wrong_data(run, truebleu_command, write):
    short = write("short.en", ["one line"])
    own = truebleu_command("compare", *REFERENCES, "-i", *FILES, short)
    assert (own.status, own.output) == (1, "")
    assert re.search(r"short: .*different numbers of segments: .*short.en.* 1\b", own.error), own
    bad = write("bad.tsv", ["1\t2\t3"] * 16 + ["1\tx\t3"])
    own = run("--scores", f"M={bad}")
    assert (own.status, own.output) == (1, "")
    assert re.search(r"bad.tsv\), line 17: expected a number, found 'x'", own.error), own
    few = write("few.tsv", ["1\t2\t3"] * 16)
    own = run("--scores", f"M={few}")
    assert (own.status, own.output) == (1, "")
    assert "has 16 numbers for 128 segments" in own.error
    own = run("--scores", f"M={few}.gone")
    assert own.status == 1
    assert "few.tsv.gone" in own.error


def test_nothing_is_written_when_something_is_wrong(run, write, tmp_path):
    out = write("out.json", ["as it was"])
    assert run("--scores", f"M={tmp_path / 'gone'}", "-o", out).status == 1
    assert out.read_text() == "as it was\n"


def test_warnings(truebleu_command, write):
    lines = [f"{i} looks tokenized ." for i in range(120)]
    tokenized, other = write("t.en", lines), write("o.en", lines[::-1])
    options = ["-parn", "9", "-ci", "9"]
    own = truebleu_command("compare", tokenized, "-i", tokenized, other, *options)
    assert own.output.index("look tokenized") < own.output.index("BLEU ↑")
    assert truebleu_command("compare", tokenized, "-i", other, "-q", *options).error == ""


# ---- intervals of scores ----


def test_an_interval_of_a_score(truebleu_command):
    score = ["score", *REFERENCES, "-i", FILES[0]]
    own = truebleu_command(*score, "-ci", "-f", "text")
    assert own.status == 0, own
    signature = "nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    by = f"by:truebleu-{truebleu.__version__}"
    assert own.output.startswith(f"BLEU|{signature}|{by} = 33.9 [30.2, 38.1] 73.3/43.7/26.8/16.5 (")
    (content,) = told(truebleu_command(*score, "--confidence"))["scores"]
    interval = compare({"birch": FILES[0]}, REFERENCES)["birch"]["scores"]["BLEU"]["interval"]
    assert content["confidence_mean"] == interval["mean"]
    assert content["confidence_var"] == interval["half_width"]
    assert content["confidence"] == f"μ = {interval['mean']:.2f} ± {interval['half_width']:.2f}"
    assert (content["low"], content["high"]) == (interval["low"], interval["high"])
    assert content["signature"] == f"{signature}|{by}"
    assert (content["bs"], content["seed"]) == ("1000", "12345")


def test_the_interval_is_sacrebleus(truebleu_command):
    arguments = [*map(str, REFERENCES), "-i", str(FILES[0]), "-m", "bleu", "chrf", "-ci"]
    theirs = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *arguments, "-w", "4"],
        capture_output=True,
        text=True,
        check=True,
    )
    own = told(truebleu_command("score", *arguments))["scores"]
    for ours, original in zip(own, json.loads(theirs.stdout), strict=True):
        assert ours["confidence_mean"] == pytest.approx(original["confidence_mean"], abs=2e-4)
        assert ours["confidence_var"] == pytest.approx(original["confidence_var"], abs=2e-4)
        by = f"|by:truebleu-{truebleu.__version__}"
        assert ours["signature"].removesuffix(by) == original["signature"]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "tsv"])
def test_intervals_of_several_scores(truebleu_command, form):
    own = truebleu_command(
        *("score", *REFERENCES, "-i", *FILES, "-m", "bleu", "chrf", "-cin", "50", "-f", form)
    )
    assert own.status == 0, own
    assert "truebleu compare tests it" in own.error
    if form == "tsv":
        rows = list(csv.DictReader(own.output.splitlines(), delimiter="\t"))
        assert float(rows[0]["BLEU_low"]) < float(rows[0]["BLEU"]) < float(rows[0]["BLEU_high"])
    else:
        shown = own.output.replace("{[}", "[").replace("{]}", "]").replace("\\", "")
        assert re.search(r"33\.9 \[\d+\.\d, \d+\.\d\]", shown)


def test_an_interval_of_one_segment(truebleu_command, write):
    reference, system = write("ref", ["a b c d e"]), write("sys", ["a b c d f"])
    own = truebleu_command("score", reference, "-i", system, "-ci", "-f", "text")
    assert "[" not in own.output
    own = truebleu_command("score", reference, "-i", system, "-ci")
    (content,) = told(own)["scores"]
    assert content["low"] is None
    assert "confidence" not in content


# ---- documents ----


@pytest.mark.parametrize("name", ["score", "compare"])
def test_whole_documents_are_drawn_where_they_are_asked_for(truebleu_command, name):
    systems = FILES[:2] if name == "compare" else FILES[:1]
    words = [name, REFERENCES[0], "-i", *systems, "-ci", "99", "-f", "json"]
    documents = ("--docs", EXAMPLES / "documents.txt")
    plain = told(truebleu_command(*words, *documents))
    whole = told(truebleu_command(*words, *documents, "--resample", "documents"))
    assert "resample:documents" in json.dumps(whole)
    assert "resample:documents" not in json.dumps(plain)
    if name == "compare":
        expected = compare(
            {path.stem: path for path in systems},
            REFERENCES[0],
            documents=documents[1],
            resample="documents",
            confidence=99,
        )
        assert whole == expected.to_dict()
    else:
        assert whole["scores"][0]["low"] != plain["scores"][0]["low"]


@pytest.mark.parametrize("name", ["score", "compare", "report"])
def test_documents_to_draw_must_be_there(truebleu_command, tmp_path, name):
    more = ["-o", tmp_path / "page.html"] if name == "report" else []
    words = (name, REFERENCES[0], "-i", FILES[0], "--resample", "documents", *more)
    result = truebleu_command(*words, "-ci")
    assert (result.status, result.output) == (2, "")
    assert "--resample: 'documents' needs the document of each segment; name" in result.error
    assert not list(tmp_path.iterdir())
    if name == "score":
        result = truebleu_command(*words, "--docs", EXAMPLES / "documents.txt")
        assert "it is for intervals; ask for them with --confidence" in result.error


# ---- runs ----


@pytest.fixture
def runs(tmp_path):
    """Three runs of one system and two of another, as the example systems with lines left out."""
    made = {}
    for number, path in enumerate([*FILES, *FILES[:2]]):
        lines = path.read_text("utf-8").splitlines()
        lines[number] = "Nothing."
        made[number] = tmp_path / f"run{number}.en"
        made[number].write_text("\n".join(lines) + "\n", "utf-8")
    return {"old": [made[0], made[1], made[2]], "new": [made[3], made[4]]}


def words_of(runs):
    """As they are written on a command line."""
    return [f"{name}={','.join(map(str, files))}" for name, files in runs.items()]


def test_several_runs_of_a_system(truebleu_command, runs):
    found = told(
        truebleu_command("compare", *REFERENCES, "-i", *words_of(runs), "-parn", "99", "-f", "json")
    )
    assert found == compare(runs, REFERENCES, samples=99).to_dict()
    assert [system["runs"] for system in found["systems"]] in ([3, 2], [2, 3])


def test_runs_beside_systems_of_one_file(truebleu_command, runs):
    words = ["-i", words_of(runs)[0], f"other={FILES[1]}", FILES[2]]
    found = told(truebleu_command("compare", *REFERENCES, *words, "-parn", "9", "-f", "json"))
    names = {system["name"]: system["runs"] for system in found["systems"]}
    assert names == {"old": 3, "other": 1, "aspen.en": 1}
    based = told(
        truebleu_command(
            *("compare", *REFERENCES, *words, "-parn", "9", "-f", "json", "--baseline", "aspen.en")
        )
    )
    assert based["baseline"] == "aspen.en"


def test_a_file_with_a_comma_or_an_equals_sign_is_that_file(truebleu_command, tmp_path):
    for name in ("a=b,c.en", "d,e.en"):
        (tmp_path / name).write_bytes(FILES[0].read_bytes())
    words = ["a=b,c.en", "named=d,e.en"]
    result = truebleu_command(
        *("compare", *REFERENCES, "-i", *words, "-f", "json", "-parn", "9"), cwd=tmp_path
    )
    assert {system["name"] for system in told(result)["systems"]} == {"a=b,c.en", "named"}


def test_a_score_from_elsewhere_of_each_run(truebleu_command, runs, tmp_path):
    files = []
    for number in range(5):
        files.append(tmp_path / f"scores{number}.txt")
        files[-1].write_text("".join(f"{(i * 7 + number) % 11}\n" for i in range(128)))
    found = told(
        truebleu_command(
            *("compare", *REFERENCES, "-i", *words_of(runs), "-parn", "9", "-f", "json"),
            *("--scores", f"X={files[0]}", *files[1:]),
        )
    )
    [old] = [system for system in found["systems"] if system["name"] == "old"]
    assert len(old["scores"]["X"]["runs"]["scores"]) == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a=x,,y"], "'a=x,,y': the name of a file is empty"),
        (["a=x", "a=y"], "the name 'a' is there twice"),
        (["a=x", "y", "--names", "b,c"], "--names: -i names a already"),
        (
            ["a=x,y", "b=z", "--test", "koehn"],
            "--test: koehn does not support multiple runs; ar and bs do",
        ),
    ],
)
def test_wrong_runs(truebleu_command, tmp_path, words, told):
    for name in "xyz":
        (tmp_path / name).write_bytes(FILES[0].read_bytes())
    result = truebleu_command("compare", *REFERENCES, "-i", *words, cwd=tmp_path)
    assert (result.status, result.output) == (2, "")
    assert told in result.error


def test_a_page_is_of_one_run(truebleu_command, runs, tmp_path):
    page = tmp_path / "page.html"
    result = truebleu_command("report", *REFERENCES, "-i", *words_of(runs), "-o", page)
    assert result.status == 2
    assert "does not support multiple runs per system; compare knows runs" in result.error
    assert not page.exists()
