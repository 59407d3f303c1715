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
def run_on_examples(read_json):
    """Return a function that runs a command on example systems and returns its JSON output."""

    def run(name, *options, systems=SYSTEMS):
        return read_json(name, REFERENCE, "-i", *systems, "-q", *options, "-f", "json")

    return run


def compute_score(name, system=SYSTEMS[0]):
    """Return the score by a metric, computed in Python."""
    return tb.metric(name).score(system, REFERENCE).value


# ---- metrics ----


@pytest.mark.parametrize("name", ["mteval-v13a", SIGNATURE])
def test_log_and_history_accept_metrics_members_and_signatures(
    run_on_examples, read_json, tmp_path, name
):
    log = tmp_path / "scores.jsonl"
    run_on_examples("score", "-m", "ter", name, "--log", log)
    groups = read_json("history", log, "-m", name, "-f", "json")["groups"]
    assert [group["name"] for group in groups] == ["cedar", "birch"]
    scores = [entry["score"] for group in groups for x in group["series"] for entry in x["scores"]]
    assert scores == [compute_score(name, system) for system in SYSTEMS]


def test_history_error_lists_metrics_of_log(run_on_examples, read_error, tmp_path):
    log = tmp_path / "scores.jsonl"
    run_on_examples("score", "--log", log)
    assert "no metric 'ter' (found: BLEU)" in read_error(1, "history", log, "-m", "ter")


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


def test_family_score_accepts_several_systems(read_json):
    words = (REFERENCE, "-i", *SYSTEMS, "-m", "mteval-v13a,multi-bleu", "-f", "json")
    rows = read_json("family", "score", *words)["scores"]
    members = ("mteval-v13a", "multi-bleu")
    expected = {(system, member) for system in ("cedar", "birch") for member in members}
    assert {(row["system"], row["member"]) for row in rows} == expected


# ---- inputs ----


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("score -ci", "--docs has no effect without --by document"),
        ("compare -f latex", "--docs has no effect without --by document"),
        ("compare -f csv", "--docs has no effect without --by document"),
        ("check --min 1", "--docs has no effect without --against"),
    ],
)
def test_docs_without_effect_is_refused(read_error, command, message):
    name, *options = command.split()
    words = (REFERENCE, "-i", SYSTEMS[0], "--docs", EXAMPLES / "documents.txt")
    assert message in read_error(2, name, *words, *options)


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
    form = ["-o", "-"] if command == "report" else ["-f", "json", "-q"]
    result = truebleu_command(*command.split(), *words, *form)
    assert result.status == 0, result
    assert expected.replace(" ", "") in result.output.replace(" ", "")


@pytest.mark.parametrize("command", ["score", "segments", "explain", "check --min 1", "matrix"])
def test_runs_outside_compare_give_error(read_error, command):
    name, *options = command.split()
    words = [REFERENCE, "-i", f"new={SYSTEMS[0]},{SYSTEMS[1]}", *options]
    message = read_error(1 if name == "matrix" else 2, name, *words)
    assert re.search("expected one file for new, found 2|No such file", message)


def test_tsv_is_table_only_with_table_options(read_json, write):
    pytest.importorskip("duckdb")
    rows = ["hyp\tref\tdomain", 'he said "yes\the said "no\tnews', "a b c d\ta b c e\tchat"]
    table = write("both.tsv", rows)
    entries = read_json("score", table, "--by", "domain", "-f", "json")["scores"]
    assert {entry["group"]["domain"]: entry["score"] for entry in entries} == {
        "chat": tb.bleu(["a b c d"], ["a b c e"]).value,
        "news": tb.bleu(['he said "yes'], ['he said "no']).value,
    }
    # Without table options it is a text file, with columns selected by number.
    by_column = read_json("score", f"{table}#2", "-i", f"{table}#1", "-f", "json")
    assert by_column["scores"][0]["score"] > 0


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
    "arguments", [["list"], ["show", "nist"], ["which", "46.95", REFERENCE, "-i", SYSTEMS[0]]]
)
def test_family_json_has_version_but_no_memory_addresses(truebleu_command, arguments):
    output = truebleu_command("family", *arguments, "-f", "json").output
    assert json.loads(output)["truebleu_family"] == 1
    assert " at 0x" not in output


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain"])
def test_unknown_suffix_is_refused(read_error, tmp_path, name):
    out = tmp_path / "x.xlsx"
    error = read_error(2, name, REFERENCE, "-i", SYSTEMS[0], "-o", out)
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


def test_unknown_member_gives_usage_error(read_error):
    error = read_error(2, "family", "show", "mteval-13a")
    assert "did you mean 'mteval-v13a'" in error
    assert "truebleu family list" in error
    assert "iterate" not in error


# ---- error messages ----


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain"])
def test_utf16_text_gives_encoding_hint(read_error, tmp_path, name):
    text = SYSTEMS[0].read_text("utf-8").encode("utf-16")
    plain, packed = tmp_path / "out.en", tmp_path / "out.en.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    for path in (plain, packed, f"{plain}#1"):
        error = read_error(1, name, REFERENCE, "-i", path)
        assert re.search(r"out.en(.gz)?: expected UTF-8, found UTF-16. .*-e utf-16", error), error
    if name == "score":
        error = read_error(1, "score", REFERENCE, input=text)
        assert "standard input: expected UTF-8, found UTF-16" in error


def test_invalid_utf16_text_is_named(read_error):
    error = read_error(1, "score", REFERENCE, "-i", SYSTEMS[0], "-e", "utf-16")
    assert re.search(r"reference.a.en.* not utf-16|cedar.en.* not utf-16", error), error


def test_directory_gives_specific_error(read_error, tmp_path):
    error = read_error(2, "explain", REFERENCE, "-i", tmp_path)
    assert f"{tmp_path}: expected a file, found a folder" in error


@pytest.mark.parametrize("name", ["score", "segments", "compare", "report"])
def test_directory_of_tables_with_text_file_gives_specific_error(read_error, tmp_path, name):
    (tmp_path / "part.csv").write_text("hyp\na\n")
    error = read_error(2, name, REFERENCE, "-i", tmp_path)
    assert f"{REFERENCE} is a text file and {tmp_path} is a folder of tables" in error


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain", "report"])
def test_missing_input_option_explains_references(read_error, name, tmp_path):
    output = ["-o", tmp_path / "page.html"] if name == "report" else []
    error = read_error(2, name, REFERENCE, SYSTEMS[0], *output)
    expected = r"missing HYP: name the system outputs with -i .*were read as references"
    assert re.search(expected, error)


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


def test_unknown_help_topic_suggests_topics(read_error):
    error = read_error(2, "help", "scor")
    assert "unknown help topic 'scor'; did you mean 'score'?" in error


@pytest.mark.parametrize(
    "line", ["0    success", "1    invalid data", "2    invalid command line", "130  interrupted"]
)
def test_help_lists_exit_statuses(truebleu_command, line):
    assert line in truebleu_command("--help").output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion_script_has_all_words(truebleu_command, shell):
    script = truebleu_command("completion", shell)
    assert script.status == 0, script
    # Commands; an option; a metric; a member; a tokenizer; a value.
    for word in ("segments", "help", "num-refs", "chrf++", "mteval-v13a", "ja-mecab", "latex"):
        assert re.search(rf"\b{re.escape(word)}", script.output), word
    if shell == "bash" and shutil.which("bash"):
        code = script.output.encode()
        result = subprocess.run(["bash", "-n"], input=code, capture_output=True, check=False)
        assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["score", "compare", "explain"])
def test_color_option_controls_colours(truebleu_command, name):
    pytest.importorskip("rich")
    options = FAST_OPTIONS if name == "compare" else []
    words = (name, REFERENCE, "-i", *SYSTEMS, "-q", "-f", "text", *options, "--color")
    coloured, plain = (truebleu_command(*words, color).output for color in ("always", "never"))
    assert ("\x1b[" in coloured, "\x1b[" in plain) == (True, False)
    assert re.sub(r"\x1b\[[\d;]*m| +$", "", coloured, flags=re.MULTILINE) == plain


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
    count = len(REFERENCE.read_text("utf-8").splitlines())
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
