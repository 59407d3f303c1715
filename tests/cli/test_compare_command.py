"""`truebleu compare`, and confidence intervals of `truebleu score`."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys

import pytest
from paths import ROOT
from pseudo_terminal import run_on_terminal

import truebleu
from truebleu import compare

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCES = [EXAMPLES / "reference.a.en", EXAMPLES / "reference.b.en"]
FILES = [EXAMPLES / f"{name}.en" for name in ("birch", "cedar", "aspen")]
SYSTEMS = {path.stem: path for path in FILES}

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def run_compare(truebleu_command):
    """Return a function that compares the example systems."""

    def run_compare(*options, **settings):
        return truebleu_command("compare", *REFERENCES, "-i", *FILES, *options, **settings)

    return run_compare


@pytest.fixture
def compare_files(read_json):
    """Return a function that returns the JSON comparison of systems, of the examples by default."""

    def run(*options, systems=FILES, **settings):
        words = ("compare", *REFERENCES, "-i", *systems, "-f", "json", *options)
        return read_json(*words, **settings)

    return run


def test_pipe_gets_text(run_compare):
    expected = compare(SYSTEMS, REFERENCES, samples=9).text(hint="More: --explain")
    assert run_compare("-parn", "9").output == expected


@pytest.mark.parametrize("form", ["text", "latex", "csv", "json"])
def test_too_few_samples_cause_one_warning(run_compare, form):
    result = run_compare("-parn", "10", "-f", form)
    printed = " ".join(result.error.split() if form != "text" else result.output.split())
    assert printed.count("with 10 randomizations, p cannot be below 0.091, so no difference") == 1
    assert (result.error == "") == (form == "text")
    assert run_compare("-parn", "10", "-f", form, "-q").error == ""
    assert run_compare("-parn", "20", "-f", form).error == ""


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "csv", "tsv"])
def test_every_format_equals_python_output(run_compare, form, tmp_path):
    options = {"hint": "More: --explain"} if form == "text" else {}
    expected = getattr(compare(SYSTEMS, REFERENCES), form)(**options)
    assert run_compare("-f", form).output == expected
    suffix = {"text": "txt", "markdown": "md", "latex": "tex"}.get(form, form)
    result = run_compare("-o", tmp_path / f"out.{suffix}")
    assert (result.status, result.output, result.error) == (0, "", "")
    assert (tmp_path / f"out.{suffix}").read_text("utf-8") == expected


def test_options_reach_comparison(compare_files):
    content = compare_files(
        *("--baseline", "aspen", "--test", "bs", "-pbsn", "77", "--level", "0.9", "--seed", "0"),
        *("--correction", "bh", "-tok", "intl", "-lc", "--threads", "2"),
    )
    options = {"baseline": "aspen", "test": "bs", "samples": 77, "level": 0.9, "seed": 0}
    metrics = [truebleu.BLEU("intl", lowercase=True)]
    expected = compare(SYSTEMS, REFERENCES, metrics=metrics, correction="bh", **options)
    assert content == expected.to_dict()


@pytest.mark.parametrize(
    ("options", "test", "samples", "confidence"),
    [
        ("", "ar", 10_000, 1000),
        ("-par -parn 50", "ar", 50, 1000),
        ("--paired-ar --paired-ar-n 50 --confidence 20", "ar", 50, 20),
        ("-pbs -pbsn 50", "bs", 50, 50),
        ("--paired-bs -ci 60", "bs", 60, 60),
        ("--test koehn -cin 60", "koehn", 60, 60),
        ("-ci -par", "ar", 10_000, 1000),
        ("--test bs --paired-bs -pbsn 50", "bs", 50, 50),
        ("-ci -cin 30", "ar", 10_000, 30),
    ],
)
def test_sacrebleu_spellings_select_test(compare_files, options, test, samples, confidence):
    content = compare_files(*options.split())
    assert (content["test"]["name"], content["test"]["samples"]) == (test, samples)
    assert content["intervals"]["samples"] == confidence


def test_confidence_does_not_consume_next_word(read_json):
    words = ("compare", "-ci", *REFERENCES, "-i", *FILES, "-parn", "9", "-f", "json")
    assert read_json(*words)["references"] == 2


@pytest.mark.parametrize("name", ["cedar", "cedar.en", str(EXAMPLES / "cedar.en")])
def test_baseline_can_be_name_or_file(compare_files, name):
    assert compare_files("-parn", "9", "--baseline", name)["baseline"] == "cedar"


def test_num_refs_reads_reference_columns(compare_files, read_json, write):
    columns = [path.read_text("utf-8").splitlines() for path in REFERENCES]
    path = write("both.tsv", map("\t".join, zip(*columns, strict=True)))
    options = ["-m", "bleu", "chrf", "-parn", "9"]
    content = read_json("compare", path, "-nr", 2, "-i", *FILES, *options, "-f", "json")
    expected = compare_files(*options)
    for comparison, names in ((content, ["ref 1", "ref 2"]), (expected, ["ref a", "ref b"])):
        assert [entry.pop("name") for entry in comparison["by_reference"]] == names
    assert content == expected


# ---- external scores ----


def test_scores_are_read_from_columns_or_files(compare_files, write):
    columns = [[0.5 + i / 1000 for i in range(128)], [0.5] * 128, [0.25] * 128]
    table = write("comet.tsv", ["\t".join(map(repr, row)) for row in zip(*columns, strict=True)])
    files = [write(f"{i}.txt", map(repr, column)) for i, column in enumerate(columns)]
    scores = {"COMET": dict(zip(SYSTEMS, columns, strict=True))}
    expected = compare(SYSTEMS, REFERENCES, samples=99, scores=scores).to_dict()
    for words in ([f"COMET={table}"], [f"COMET={files[0]}", *files[1:]]):
        assert compare_files("--scores", *words, "-parn", "99") == expected


def test_scores_without_texts_are_compared(read_json, write):
    table = write("m.tsv", ["good\tbad", *["1\t2"] * 30])
    words = ("--scores", f"MetricX={table}", "--lower-is-better", "MetricX", "-parn", "99")
    systems = read_json("compare", *words, "-f", "json")["systems"]
    scores = [(system["name"], system["scores"]["MetricX"]["score"]) for system in systems]
    assert scores == [("good", 1.0), ("bad", 2.0)]


# ---- terminals ----


@posix
@pytest.mark.parametrize("width", [60, 140])
def test_terminal_output_fits_width(width, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    words = ("compare", *REFERENCES, "-i", *FILES, "-parn", "99", "-ci", "99")
    environment = {"COLUMNS": str(width), "TERM": "xterm-256color"}
    _, output, _ = run_on_terminal(*words, environment=environment)
    assert "\x1b[" in output
    plain = re.sub(r"\x1b\[[\d;]*m", "", output)
    comparison = compare(SYSTEMS, REFERENCES, samples=99, confidence=99)
    expected = comparison.text(width, hint="More: --explain")
    lines, expected_lines = (
        [line.rstrip() for line in text.partition("BLEU|")[0].splitlines()]
        for text in (plain, expected)
    )
    assert lines == expected_lines


# ---- errors ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--baseline brch", r"--baseline: no system 'brch'; did you mean 'birch'"),
        ("-par -pbs", r"-par/--paired-ar and -pbs/--paired-bs select different tests"),
        ("--test koehn -pbs", r"--test koehn and -pbs/--paired-bs select different tests"),
        ("--order rnk", r"--order: unknown value 'rnk'; did you mean 'rank'"),
        ("--columns scor", r"--columns: unknown column 'scor'; did you mean 'score'"),
        ("--columns score,score", r"--columns: duplicate column 'score'"),
        ("--columns score -f json", r"--columns has no effect with -f json"),
        ("--explain -f csv", r"--explain has no effect with -f csv"),
        ("--by domain", r"--by: expected document or reference .*, found 'domain'"),
        ("--by document", r"--by document needs document names; use --docs"),
        ("--by document -f tsv", r"--by has no effect with -f tsv"),
        ("-par 9", r"option -par takes no number. Use -parn 9"),
        ("--paired-bs 9", r"option --paired-bs takes no number. Use --paired-bs-n 9"),
        ("-pbsn 9", r"-pbsn/--paired-bs-n has no effect with --test ar"),
        ("--test bs -parn 9", r"-parn/--paired-ar-n has no effect with --test bs"),
        ("-parn 0", r"expected a whole number from 1 to 10,000,000, found '0'"),
        ("-ci 0", r"-ci/--confidence: expected a whole number .*, found '0'"),
        ("-pbs -pbsn 9 -ci 8", r"Remove --confidence"),
        ("-ci 8 -cin 9", r"have different values"),
        ("--level 0.05", r"--level: 0.05 is below 0.5 .*For p < 0.05, use 0.95"),
        ("--level 95", r"expected a number between 0 and 1 such as 0.95, found '95'"),
        ("--seed abc", r"--seed: expected a whole number of 0 or more, found 'abc'"),
        ("--test none --correction holm", r"--correction has no effect without a test"),
        ("--correction bonferroni", r"unknown value 'bonferroni'"),
        ("-w 2 -f json", r"-w/--width has no effect with -f json"),
        ("-f csv -sh", r"-sh/--short has no effect with -f csv"),
        ("--scores x.tsv", r"expected NAME=FILE such as COMET=comet.tsv, found 'x.tsv'"),
        ("--scores M=a b", r"M has 2 files for 3 systems"),
        ("--scores M=a M=b", r"duplicate name 'M'"),
        ("--lower-is-better M", r"--lower-is-better: no scores are named 'M'"),
        ("-j 4", r"option -j is not available here: use --threads"),
        ("-b", r"option -b is not available here: use truebleu score, segments or matrix"),
        ("--threads 5000", r"expected a whole number from 0 to 1,024, found '5000'"),
        ("--max-order 99", r"--max-order: expected a whole number from 1 to 16, found 99"),
        ("--weights x", r"expected numbers separated by commas, not 'x'"),
    ],
)
def test_wrong_command_line_gives_usage_error(read_error, options, message):
    error = read_error(2, "compare", *REFERENCES, "-i", *FILES, *options.split())
    assert re.search(message, error), error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("short.en", r"short: .*different numbers of segments: .*short.en.* 1\b"),
        ("--scores M=bad.tsv", r"bad.tsv\), line 17: expected a number, found 'x'"),
        ("--scores M=bad.tsv.gone", "bad.tsv.gone"),
    ],
)
def test_wrong_data_gives_status_1_and_writes_no_file(read_error, write, words, message):
    write("short.en", ["one line"])
    write("bad.tsv", ["1\t2\t3"] * 16 + ["1\tx\t3"])
    out = write("out.json", ["as it was"])
    command = ("compare", *REFERENCES, "-i", *FILES, *words.split(), "-o", out)
    assert re.search(message, read_error(1, *command, cwd=out.parent))
    assert out.read_text() == "as it was\n"


# ---- intervals of scores ----


def test_score_has_interval_with_confidence(truebleu_command, read_json):
    score = ["score", *REFERENCES, "-i", FILES[0]]
    output = truebleu_command(*score, "-ci", "-f", "sacrebleu").output
    signature = (
        "nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
        f"|by:truebleu-{truebleu.__version__}"
    )
    assert output.startswith(f"BLEU|{signature} = 33.9 [30.2, 38.1] 73.3/43.7/26.8/16.5 (")
    (content,) = read_json(*score, "--confidence")["scores"]
    interval = compare({"birch": FILES[0]}, REFERENCES)["birch"]["scores"]["BLEU"]["interval"]
    assert content["confidence_mean"] == interval["mean"]
    assert content["confidence_var"] == interval["half_width"]
    assert content["confidence"] == f"μ = {interval['mean']:.2f} ± {interval['half_width']:.2f}"
    assert (content["low"], content["high"]) == (interval["low"], interval["high"])
    assert content["signature"] == signature
    assert (content["bs"], content["seed"]) == ("1000", "12345")


def test_interval_equals_sacrebleu(read_json):
    arguments = [*map(str, REFERENCES), "-i", str(FILES[0]), "-m", "bleu", "chrf", "-ci"]
    command = [sys.executable, "-m", "sacrebleu", *arguments, "-w", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    scores = read_json("score", *arguments)["scores"]
    for score, original in zip(scores, json.loads(done.stdout), strict=True):
        for name in ("confidence_mean", "confidence_var"):
            assert score[name] == pytest.approx(original[name], abs=2e-4)
        version_suffix = f"|by:truebleu-{truebleu.__version__}"
        assert score["signature"].removesuffix(version_suffix) == original["signature"]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "tsv"])
def test_every_format_shows_intervals(truebleu_command, form):
    result = truebleu_command(
        *("score", *REFERENCES, "-i", *FILES, "-m", "bleu", "chrf", "-cin", "50", "-f", form)
    )
    assert result.status == 0, result
    assert "test it with truebleu compare" in result.error
    if form == "tsv":
        rows = list(csv.DictReader(result.output.splitlines(), delimiter="\t"))
        assert float(rows[0]["BLEU_low"]) < float(rows[0]["BLEU"]) < float(rows[0]["BLEU_high"])
    else:
        output = result.output.replace("{[}", "[").replace("{]}", "]").replace("\\", "")
        assert re.search(r"33\.9 \[\d+\.\d, \d+\.\d\]", output)


def test_single_segment_has_no_interval(truebleu_command, read_json, write):
    score = ("score", write("ref", ["a b c d e"]), "-i", write("sys", ["a b c d f"]), "-ci")
    assert "[" not in truebleu_command(*score, "-f", "sacrebleu").output
    (content,) = read_json(*score)["scores"]
    assert content["low"] is None
    assert "confidence" not in content


# ---- documents ----


def test_resample_documents_resamples_documents_in_a_comparison(read_json):
    words = ("compare", REFERENCES[0], "-i", *FILES[:2], "-ci", "99", "-f", "json")
    documents = EXAMPLES / "documents.txt"
    content = read_json(*words, "--docs", documents, "--resample", "documents")
    systems = {path.stem: path for path in FILES[:2]}
    options = {"documents": documents, "resample": "documents", "confidence": 99}
    assert content == compare(systems, REFERENCES[0], **options).to_dict()


def test_resample_documents_resamples_documents_in_scores(read_json):
    words = ("score", REFERENCES[0], "-i", FILES[0], "-ci", "99", "-f", "json")
    documents = ("--docs", EXAMPLES / "documents.txt", "--resample", "documents")
    (by_segment,), (by_document,) = (
        read_json(*words, *options)["scores"] for options in ((), documents)
    )
    assert "resample:documents" in by_document["signature"]
    assert "resample:documents" not in by_segment["signature"]
    assert by_document["low"] != by_segment["low"]


@pytest.mark.parametrize("name", ["score", "compare", "report"])
def test_resample_documents_needs_documents(read_error, tmp_path, name):
    extra_options = ["-o", tmp_path / "page.html"] if name == "report" else []
    words = (name, REFERENCES[0], "-i", FILES[0], "--resample", "documents", *extra_options)
    error = read_error(2, *words, "-ci")
    assert "--resample documents needs document names; use --docs" in error
    assert not list(tmp_path.iterdir())
    if name == "score":
        error = read_error(2, *words, "--docs", EXAMPLES / "documents.txt")
        assert "has no effect without --confidence" in error


# ---- runs ----


@pytest.fixture
def run_files(write):
    """Write three runs of one system and two of another, derived from the example systems."""
    files = []
    for number, path in enumerate([*FILES, *FILES[:2]]):
        lines = path.read_text("utf-8").splitlines()
        lines[number] = "Nothing."
        files.append(write(f"run{number}.en", lines))
    return {"old": files[:3], "new": files[3:]}


def format_runs(run_files):
    """Return the runs as words of a command line."""
    return [f"{name}={','.join(map(str, files))}" for name, files in run_files.items()]


def test_system_can_have_several_runs(compare_files, run_files):
    comparison = compare_files("-parn", "99", systems=format_runs(run_files))
    assert comparison == compare(run_files, REFERENCES, samples=99).to_dict()
    assert [system["runs"] for system in comparison["systems"]] in ([3, 2], [2, 3])


def test_existing_file_with_special_characters_is_not_split(compare_files, tmp_path):
    for name in ("a=b,c.en", "d,e.en"):
        (tmp_path / name).write_bytes(FILES[0].read_bytes())
    systems = ["a=b,c.en", "named=d,e.en"]
    content = compare_files("-parn", "9", systems=systems, cwd=tmp_path)
    assert {system["name"] for system in content["systems"]} == {"a=b,c", "named"}


def test_external_scores_can_have_runs(compare_files, run_files, write):
    files = [write(f"{run}.txt", [(i * 7 + run) % 11 for i in range(128)]) for run in range(5)]
    scores = ("--scores", f"X={files[0]}", *files[1:])
    content = compare_files(*scores, "-parn", "9", systems=format_runs(run_files))
    [old] = [system for system in content["systems"] if system["name"] == "old"]
    assert len(old["scores"]["X"]["runs"]["scores"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a=x,,y", "empty file name in 'a=x,,y'"),
        ("a=x a=y", "duplicate system name 'a'"),
        ("y=x y", "duplicate system name 'y'"),
        ("a=x,y b=z --test koehn", "--test: 'koehn' does not support multiple runs; use 'ar' or"),
    ],
)
def test_wrong_runs_give_error(read_error, tmp_path, words, message):
    for name in "xyz":
        (tmp_path / name).write_bytes(FILES[0].read_bytes())
    error = read_error(2, "compare", *REFERENCES, "-i", *words.split(), cwd=tmp_path)
    assert message in error


def test_report_refuses_runs(read_error, run_files, tmp_path):
    page = tmp_path / "page.html"
    error = read_error(2, "report", *REFERENCES, "-i", *format_runs(run_files), "-o", page)
    assert "reports support one output per system; for runs, use truebleu compare" in error
    assert not page.exists()


# ---- long names, and files in the wrong place ----


@pytest.fixture
def long_names(tmp_path):
    """Return the references and two outputs in files with long names."""
    for name, source in (("Online-A", "birch"), ("M2", "cedar")):
        text = (EXAMPLES / f"{source}.en").read_text("utf-8")
        (tmp_path / f"newstest2022.de-en.hyp.{name}.en").write_text(text, "utf-8")
    return [EXAMPLES / "reference.a.en", "-i", *sorted(tmp_path.iterdir())]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_readers_see_short_names(truebleu_command, long_names, form):
    output = truebleu_command("compare", *long_names, "-f", form).output
    assert "Online-A" in output
    complete_names = output.count("newstest2022")
    assert complete_names == " ".join(output.split()).count(" is short for newstest2022") == 1


@pytest.mark.parametrize("command", ["score", "segments"])
def test_scores_have_short_names_in_text(truebleu_command, long_names, command):
    result = truebleu_command(command, *long_names, "-f", "text")
    text = result.output + result.error
    assert "M2" in text
    assert text.count("newstest2022") == text.count(" is short for newstest2022") == 1


def test_data_has_complete_names_and_options_accept_short_names(read_json, read_error, long_names):
    content = read_json("compare", *long_names, "-f", "json", "--baseline", "Online-A")
    assert content["baseline"] == "newstest2022.de-en.hyp.Online-A"
    assert "name_note" not in content
    error = read_error(2, "compare", *long_names, "--baseline", "hyp")
    assert "--baseline: 'hyp' is ambiguous (expected one of M2, Online-A)" in error


def test_check_has_short_names(truebleu_command, long_names):
    reference, _, first, second = long_names
    words = ("check", reference, "-i", second, "--against", first, "--significant", "-f", "text")
    output = " ".join(truebleu_command(*words).output.split())
    assert "Online-A failed: BLEU fell 16.99 from M2, which is significant" in output


def test_source_as_system_is_named(truebleu_command):
    source, reference = EXAMPLES / "source.de", EXAMPLES / "reference.a.en"
    words = ("compare", reference, "-i", EXAMPLES / "cedar.en", source, "-f", "json")
    error = truebleu_command(*words, "-src", source).error
    assert "source: 128 of the first 128 lines are identical to the source. Is this the" in error
    error = truebleu_command(*words).error
    assert "warning: source: this does not look like the language of the references (" in error


def test_reference_as_system_is_named(truebleu_command):
    for reference in REFERENCES:
        words = ("compare", *REFERENCES, "-i", EXAMPLES / "cedar.en", reference, "-f", "json")
        error = truebleu_command(*words).error
        assert error.count("Is this the reference instead of a system output?") == 1


def test_metrics_share_a_warning_about_the_best_system():
    first = [f"the cat number {i} sat on the mat" for i in range(40)]
    second = [f"the dog number {i} lay on the floor" for i in range(40)]
    systems = {"x": [*first[:36], *second[36:]], "y": [*first[:3], *second[3:]]}
    systems["x"][0] += " again"
    references = list(zip(first, second, strict=True))
    comparison = truebleu.compare(
        systems, references, metrics=["bleu", "chrf", "ter"], samples=99, check_text=False
    )
    kind = "winner depends on the reference"
    [warning] = [one for one in comparison.warnings if one["kind"] == kind]
    assert warning["metrics"] == ["BLEU", "chrF2", "TER"]
    assert warning["text"].startswith("BLEU, chrF2 and TER: the best system depends on the ref")
    assert "reference. By BLEU, with all references " in warning["text"]
