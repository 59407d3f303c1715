"""Options have the same names and effects in all commands."""

import gzip
import json
import re
import shutil
import subprocess
import sys

import pytest
from paths import ROOT
from pseudo_terminal import run_on_terminal

import truebleu as tb
from truebleu.cli import build_parsers
from truebleu.metrics import registry

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCE = EXAMPLES / "reference.a.en"
SYSTEMS = [EXAMPLES / f"{name}.en" for name in ("cedar", "birch")]
SIGNATURE = "nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0"
FAST_OPTIONS = ["--test", "none", "-ci", "9"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def run_on_examples(truebleu_command):
    """Return a function that runs a command on example systems and parses its JSON output."""

    def run(name, *options, systems=SYSTEMS, parse=True):
        form = ["-f", "json"] if parse else []
        result = truebleu_command(name, REFERENCE, "-i", *systems, "-q", *options, *form)
        if not parse:
            return result
        assert result.status == 0, result
        return json.loads(result.output)

    return run


@pytest.fixture
def expect_error(truebleu_command):
    """Return a function that runs a failing command and returns its message."""

    def run(*arguments, status, **options):
        result = truebleu_command(*arguments, **options)
        assert (result.status, result.output) == (status, ""), result
        assert result.error.count("\n") == 1
        return result.error

    return run


def read_output_lines(path):
    return path.read_text("utf-8").splitlines()


def compute_score(name, system=SYSTEMS[0]):
    """Return the score by a metric, computed in Python."""
    return tb.metric(name).score(read_output_lines(system), read_output_lines(REFERENCE)).value


# ---- metrics ----


@pytest.mark.parametrize("name", ["mteval-v13a", SIGNATURE])
def test_log_and_history_accept_metrics_members_and_signatures(
    run_on_examples, truebleu_command, tmp_path, name
):
    log = tmp_path / "scores.jsonl"
    run_on_examples("score", "-m", "ter", name, "--log", log)
    result = truebleu_command("history", log, "-m", name, "-f", "json")
    assert result.status == 0, result
    groups = json.loads(result.output)["groups"]
    assert [group["name"] for group in groups] == ["cedar", "birch"]
    scores = [entry["score"] for group in groups for x in group["series"] for entry in x["scores"]]
    assert scores == [compute_score(name, system) for system in SYSTEMS]


def test_history_error_lists_metrics_of_log(run_on_examples, expect_error, tmp_path):
    log = tmp_path / "scores.jsonl"
    run_on_examples("score", "--log", log)
    assert "no metric 'ter' (found: BLEU)" in expect_error("history", log, "-m", "ter", status=1)


def test_all_selects_all_metrics(run_on_examples):
    content = json.dumps(run_on_examples("score", "-m", "all", systems=SYSTEMS[:1]))
    metrics = [tb.metric(entry).name for entry in registry.METRIC_GROUPS["all"]]
    assert len(metrics) > 5
    assert all(f'"{metric}"' in content for metric in metrics)


@pytest.mark.parametrize(
    "words",
    [
        ("score", REFERENCE, "-f", "tsv"),
        ("segments", REFERENCE, "-f", "tsv"),
        ("segments", REFERENCE, "-f", "text"),
        ("check", REFERENCE, "--min", "tok:13a=1", "tok:intl=1"),
        ("meta", REFERENCE, "--human", "human.tsv"),
    ],
)
def test_metrics_with_equal_names_show_their_settings(
    truebleu_command, tmp_path, monkeypatch, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.tsv").write_text("cedar\t1\nbirch\t0\n", "utf-8")
    systems = SYSTEMS[:1] if words[0] == "check" else SYSTEMS
    result = truebleu_command(*words, "-i", *systems, "-m", "bleu", "BLEU|tok:intl")
    assert result.status == 0, result
    assert "BLEU tok:13a" in result.output
    assert "BLEU tok:intl" in result.output


def test_family_score_accepts_several_systems(truebleu_command):
    options = ["-m", "mteval-v13a,multi-bleu", "-f", "json"]
    result = truebleu_command("family", "score", REFERENCE, "-i", *SYSTEMS, *options)
    rows = json.loads(result.output)["scores"]
    assert {(row["system"], row["member"]) for row in rows} == {
        (system, member)
        for system in ("cedar", "birch")
        for member in ("mteval-v13a", "multi-bleu")
    }


# ---- inputs ----


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["score", "-ci"], "--docs has no effect without --by document"),
        (["compare", "-f", "latex"], "--docs has no effect without --by document"),
        (["compare", "-f", "csv"], "--docs has no effect without --by document"),
        (["check", "--min", "1"], "--docs has no effect without --against"),
    ],
)
def test_docs_without_effect_is_refused(truebleu_command, command, message):
    name, *options = command
    words = (REFERENCE, "-i", SYSTEMS[0], "--docs", EXAMPLES / "documents.txt")
    result = truebleu_command(name, *words, *options)
    assert (result.status, result.output) == (2, "")
    assert message in result.error


@pytest.mark.parametrize(
    ("options", "is_noted"), [([], True), (["-q"], False), (["--by", "document"], False)]
)
def test_comparison_notes_unused_docs(truebleu_command, options, is_noted):
    words = (REFERENCE, "-i", *SYSTEMS[:2], "--docs", EXAMPLES / "documents.txt", "-parn", "99")
    result = truebleu_command("compare", *words, *options)
    assert result.status == 0
    assert ("--docs did not change these results" in result.error) == is_noted


@pytest.mark.parametrize(
    ("name", "get_system_names"),
    [("score", lambda content: [entry["system"] for entry in content["scores"]]),
     ("segments", lambda content: list(dict.fromkeys(row["system"] for row in content["rows"]))),
     ("compare", lambda content: [entry["name"] for entry in content["systems"]])],
)  # fmt: skip
def test_all_commands_use_same_system_names(run_on_examples, tmp_path, name, get_system_names):
    files = [tmp_path / f"wmt22.de-en.hyp.Online-{letter}.en" for letter in "AB"]
    for file, system in zip(files, SYSTEMS, strict=True):
        shutil.copyfile(system, file)
    options = FAST_OPTIONS if name == "compare" else []
    for systems, names in (
        (files, ["wmt22.de-en.hyp.Online-A", "wmt22.de-en.hyp.Online-B"]),
        (files[:1], ["wmt22.de-en.hyp.Online-A"]),
        ([f"new={files[0]}", files[1]], ["new", "wmt22.de-en.hyp.Online-B"]),
    ):
        assert get_system_names(run_on_examples(name, *options, systems=systems)) == names


# Options that make a command fast, and the words that show the system's name.
NAMING_COMMANDS = {
    "score": ([], '"system": "new"'),
    "segments": ([], '"system":"new"'),
    "compare": ([], '"name": "new"'),
    "explain": (["-n", "1"], '"name": "new"'),
    "report": ([], '"name":"new"'),
    "check": (["--min", "1"], '"system": "new"'),
    "matrix": ([], '"system": "new"'),
    "family score": (["-m", "sacrebleu"], '"system": "new"'),
    "meta": (["--human", "HUMAN"], "new"),
}


@pytest.mark.parametrize("command", NAMING_COMMANDS)
def test_every_command_reads_named_file(truebleu_command, tmp_path, command):
    human = tmp_path / "human.score"
    human.write_text("".join(f"{name} {i % 7}\n" for name in ("new", "birch") for i in range(128)))
    options, expected = NAMING_COMMANDS[command]
    words = [REFERENCE, "-i", f"new={SYSTEMS[0]}", *([SYSTEMS[1]] if command == "meta" else [])]
    words += [human if option == "HUMAN" else option for option in options]
    form = ["-o", tmp_path / "page.html"] if command == "report" else ["-f", "json", "-q"]
    result = truebleu_command(*command.split(), *words, *form)
    assert result.status == 0, result
    output = (tmp_path / "page.html").read_text() if command == "report" else result.output
    assert expected.replace(" ", "") in output.replace(" ", "")


@pytest.mark.parametrize("command", ["score", "segments", "explain", "check --min 1", "matrix"])
def test_runs_outside_compare_give_error(expect_error, command):
    words = [REFERENCE, "-i", f"new={SYSTEMS[0]},{SYSTEMS[1]}"]
    name, *options = command.split()
    message = expect_error(name, *words, *options, status=1 if name == "matrix" else 2)
    assert "expected one file for new, found 2" in message or "No such file" in message


def test_tsv_is_table_only_with_table_options(truebleu_command, write):
    pytest.importorskip("duckdb")
    rows = ["hyp\tref\tdomain", 'he said "yes\the said "no\tnews', "a b c d\ta b c e\tchat"]
    table = write("both.tsv", rows)
    result = truebleu_command("score", table, "--by", "domain", "-f", "json")
    assert result.status == 0, result
    content = {
        entry["group"]["domain"]: entry["score"] for entry in json.loads(result.output)["scores"]
    }
    assert content["chat"] == tb.bleu(["a b c d"], ["a b c e"]).value
    assert content["news"] == tb.bleu(['he said "yes'], ['he said "no']).value
    # Without table options it is a text file, with columns selected by number.
    by_column = truebleu_command("score", f"{table}#2", "-i", f"{table}#1", "-f", "json")
    assert json.loads(by_column.output)["scores"][0]["score"] > 0


# ---- output in pipes ----


@pytest.mark.parametrize("name", ["score", "segments", "compare"])
def test_json_has_same_keys_for_any_number_of_systems(run_on_examples, name):
    several_systems, single_system = (
        run_on_examples(name, *(FAST_OPTIONS if name == "compare" else []), systems=systems)
        for systems in (SYSTEMS, SYSTEMS[:1])
    )
    kind = "truebleu_comparison" if name == "compare" else f"truebleu_{name}"
    assert several_systems[kind] == single_system[kind] == 1
    assert several_systems.keys() == single_system.keys()


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["show", "nist"], ["which", "46.95", REFERENCE, "-i", SYSTEMS[0]]],
)
def test_family_json_has_version_but_no_memory_addresses(truebleu_command, arguments):
    output = truebleu_command("family", *arguments, "-f", "json").output
    assert json.loads(output)["truebleu_family"] == 1
    assert " at 0x" not in output


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain"])
def test_unknown_suffix_is_refused(expect_error, tmp_path, name):
    out = tmp_path / "x.xlsx"
    error = expect_error(name, REFERENCE, "-i", SYSTEMS[0], "-o", out, status=2)
    assert re.search(
        r"x.xlsx: unknown format '.xlsx' \(expected text, .*\). Select one with -f", error
    )
    assert not out.exists()


# ---- BLEU family ----


def test_family_show_describes_unbounded_scale(truebleu_command):
    result = truebleu_command("family", "show", "nist")
    assert "0 or more, without an upper bound" in result.output
    assert "0 to 1" not in result.output


def test_family_table_separates_unbounded_scores_and_marks_defects(truebleu_command):
    result = truebleu_command("family", "score", REFERENCE, "-i", SYSTEMS[0], "--relatives")
    bounded, _, unbounded = result.output.partition("Scores without an upper bound")
    assert "nist-nltk" in unbounded
    assert "nist-nltk" not in bounded
    assert re.search(r"^! [\w-]+: ", result.output, re.MULTILINE)
    assert "nltk-corpus-6 !" in result.output


def test_unknown_member_gives_usage_error(expect_error):
    error = expect_error("family", "show", "mteval-13a", status=2)
    assert "did you mean 'mteval-v13a'" in error
    assert "truebleu family list" in error
    assert "iterate" not in error


# ---- compare ----


# ---- error messages ----


def test_utf16_text_gives_encoding_hint(expect_error, tmp_path):
    text = SYSTEMS[0].read_text("utf-8").encode("utf-16")
    plain, packed = tmp_path / "out.en", tmp_path / "out.en.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    for path in (plain, packed, f"{plain}#1"):
        for name in ("score", "segments", "compare", "explain"):
            error = expect_error(name, REFERENCE, "-i", path, status=1)
            assert re.search(r"out.en(.gz)?: expected UTF-8, found UTF-16. .*-e utf-16", error), (
                error
            )
    assert "standard input: expected UTF-8, found UTF-16" in expect_error(
        "score", REFERENCE, status=1, input=text
    )


def test_invalid_utf16_text_is_named(expect_error):
    error = expect_error("score", REFERENCE, "-i", SYSTEMS[0], "-e", "utf-16", status=1)
    assert re.search(r"reference.a.en.* not utf-16|cedar.en.* not utf-16", error), error


def test_directory_gives_specific_error(expect_error, tmp_path):
    error = expect_error("explain", REFERENCE, "-i", tmp_path, status=2)
    assert f"{tmp_path}: expected a file, found a folder" in error


@pytest.mark.parametrize("name", ["score", "segments", "compare", "report"])
def test_directory_of_tables_with_text_file_gives_specific_error(expect_error, tmp_path, name):
    (tmp_path / "part.csv").write_text("hyp\na\n")
    error = expect_error(name, REFERENCE, "-i", tmp_path, status=2)
    assert f"{REFERENCE} is a text file and {tmp_path} is a folder of tables" in error


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain", "report"])
def test_missing_input_option_explains_references(expect_error, name, tmp_path):
    output = ["-o", tmp_path / "page.html"] if name == "report" else []
    error = expect_error(name, REFERENCE, SYSTEMS[0], *output, status=2)
    assert re.search(
        r"missing HYP: name the system outputs with -i .*were read as references", error
    )


# ---- default formats ----


def test_default_formats_are_as_documented():
    """README.md and docs/command-line.md state which commands print JSON."""
    parsers = {parser.prog.split()[-1]: parser for parser in build_parsers()[1]}
    piped_formats = {name: parser.get_default("piped") for name, parser in parsers.items()}
    exact = {name: one for name, one in piped_formats.items() if one not in (None, "text")}
    assert exact == {"score": "json", "segments": "jsonl", "matrix": "json"}
    assert all(
        "json" in parser.get_default("formats")
        for name, parser in parsers.items()
        if piped_formats[name] is not None
    )


# ---- help ----


def test_help_of_command_equals_help_option(truebleu_command):
    for name in ("score", "compare", "family"):
        assert truebleu_command("help", name).output == truebleu_command(name, "--help").output


def test_help_of_metrics_lists_all_parameters(truebleu_command):
    output = truebleu_command("help", "metrics").output
    for cls in registry.iterate_metric_classes():
        assert cls.NAME in output
        for parameter in cls.PARAMETERS:
            assert parameter.format_option(cls.PREFIX) in output


def test_unknown_help_topic_suggests_topics(expect_error):
    assert "unknown help topic 'scor'; did you mean 'score'?" in expect_error(
        "help", "scor", status=2
    )


def test_help_lists_exit_statuses(truebleu_command):
    output = truebleu_command("--help").output
    for line in (
        "0    success",
        "1    invalid data",
        "2    invalid command line",
        "130  interrupted",
    ):
        assert line in output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion_script_has_all_words(truebleu_command, shell):
    script = truebleu_command("completion", shell)
    assert script.status == 0, script
    # Commands; an option; a metric; a member; a tokenizer; a value.
    for word in ("segments", "help", "num-refs", "chrf++", "mteval-v13a", "ja-mecab", "latex"):
        assert re.search(rf"\b{re.escape(word)}", script.output), word


@posix
def test_bash_accepts_completion_script(truebleu_command):
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    script = truebleu_command("completion", "bash").output
    result = subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["score", "compare", "explain"])
def test_color_option_controls_colours(run_on_examples, name):
    pytest.importorskip("rich")
    options = FAST_OPTIONS if name == "compare" else []
    coloured = run_on_examples(name, "-f", "text", "--color", "always", *options, parse=False)
    plain = run_on_examples(name, "-f", "text", "--color", "never", *options, parse=False)
    assert ("\x1b[" in coloured.output, "\x1b[" in plain.output) == (True, False)
    assert re.sub(r"\x1b\[[\d;]*m| +$", "", coloured.output, flags=re.MULTILINE) == plain.output


# ---- progress ----


PROGRESS_WITHOUT_DELAY = (
    "import sys\n"
    "from truebleu.cli import main\n"
    "from truebleu.text.terminal_layout import ProgressLine\n"
    "ProgressLine.FIRST_SECONDS = ProgressLine.INTERVAL_SECONDS = 0\n"
    "sys.exit(main(sys.argv[1:]))\n"
)
LONG = {
    "resampling": ["compare", REFERENCE, "-i", *SYSTEMS, "-parn", "2000"],
    "resampling of intervals": ["score", REFERENCE, "-i", SYSTEMS[0], "-ci"],
    "trying settings": ["family", "which", "46.95", REFERENCE, "-i", SYSTEMS[0]],
    "scoring cedar": ["family", "score", REFERENCE, "-i", SYSTEMS[0]],
    "scoring hypotheses": ["matrix", REFERENCE],
    "scoring segments": ["segments", REFERENCE, "-i", SYSTEMS[0]],
}


def test_score_reports_resampled_documents_and_notes_one_per_segment(truebleu_command, tmp_path):
    count = len(read_output_lines(REFERENCE))
    (tmp_path / "names").write_text("".join(f"{i}\n" for i in range(count)))
    sizes = {EXAMPLES / "documents.txt": 10, tmp_path / "names": count}
    for documents, number in sizes.items():
        words = ("-ci", "9", "--docs", documents, "--resample", "documents", "-f", "text")
        result = truebleu_command("score", REFERENCE, "-i", SYSTEMS[0], *words)
        assert f"{count} segments in {number} documents" in " ".join(result.output.split())
        assert ("has another document name" in result.error) == (number == count)
    result = truebleu_command("score", REFERENCE, "-i", *SYSTEMS, *words)
    assert result.error.count("has another document name") == 1


@posix
@pytest.mark.parametrize("doing", LONG)
def test_progress_shows_percentage_and_remaining_time(doing):
    status, terminal_output, _ = run_on_terminal(
        *LONG[doing], code=("-c", PROGRESS_WITHOUT_DELAY), stream="stderr"
    )
    assert status == 0, terminal_output
    word = doing.partition(" of ")[0]
    assert re.search(rf"{word}: \d+%.* left", terminal_output), terminal_output[-500:]
    # The progress line is removed before the result.
    assert terminal_output.rstrip().endswith("\x1b[K")
