"""What truebleu can do, it can do from every command, in the same words."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest
from paths import ROOT

import truebleu as tb
from truebleu.metrics import registry

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCE = EXAMPLES / "reference.a.en"
SYSTEMS = [EXAMPLES / f"{name}.en" for name in ("cedar", "birch")]
SIGNATURE = "nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0"
FEW = ["-parn", "9", "-ci", "9"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def command(truebleu_command):
    """A command on two systems and a reference; its result as JSON with `read`."""

    def run(name, *options, systems=SYSTEMS, read=True):
        form = ["-f", "json"] if read else []
        done = truebleu_command(name, REFERENCE, "-i", *systems, "-q", *options, *form)
        if not read:
            return done
        assert done.status == 0, done
        return json.loads(done.output)

    return run


@pytest.fixture
def fails(truebleu_command):
    """The message of a command line that is wrong (2), or whose data are (1)."""

    def run(*arguments, status, **options):
        done = truebleu_command(*arguments, **options)
        assert (done.status, done.output) == (status, ""), done
        assert done.error.count("\n") == 1
        return done.error

    return run


def lines(path):
    return path.read_text("utf-8").splitlines()


def value(name, system=SYSTEMS[0]):
    """The score of a metric of any name, from Python."""
    return tb.metric(name).score(lines(system), lines(REFERENCE)).value


# ---- one capability, one face: metrics ----


@pytest.mark.parametrize(
    ("name", "score_of"),
    [
        ("score", lambda found: found["scores"][0]["score"]),
        ("compare", lambda found: next(iter(found["systems"][0]["scores"].values()))["score"]),
        ("explain", lambda found: found["systems"][0]["score"]),
        ("segments", lambda found: found["rows"][0]["BLEU"]),
    ],
)
def test_signature_selects_the_metric(command, name, score_of):
    """tests/project/test_metric_support.py has every metric and member in every command."""
    options = FEW if name == "compare" else []
    found = command(name, "-m", SIGNATURE, *options, systems=SYSTEMS[:1])
    if name == "segments":
        metric = tb.metric(SIGNATURE)
        assert score_of(found) == metric.segments(lines(SYSTEMS[0]), lines(REFERENCE))[0]
    else:
        assert score_of(found) == value(SIGNATURE)


@pytest.mark.parametrize("name", ["mteval-v13a", SIGNATURE])
def test_logs_and_history_take_any_metric_member_or_signature(
    command, truebleu_command, tmp_path, name
):
    log = tmp_path / "scores.jsonl"
    command("score", "-m", "ter", name, "--log", log)
    done = truebleu_command("history", log, "-m", name, "-f", "json")
    assert done.status == 0, done
    groups = json.loads(done.output)["groups"]
    assert [group["name"] for group in groups] == ["cedar", "birch"]
    scores = [one["score"] for group in groups for x in group["series"] for one in x["scores"]]
    assert scores == [value(name, system) for system in SYSTEMS]


def test_history_names_the_metrics_of_the_log(command, fails, tmp_path):
    log = tmp_path / "scores.jsonl"
    command("score", "--log", log)
    assert "no metric 'ter'; there are BLEU" in fails("history", log, "-m", "ter", status=1)


def test_metrics_stand_between_commas(command):
    named = [one["name"] for one in command("score", "-m", "bleu,chrf", "ter")["scores"][:3]]
    assert named == ["BLEU", "chrF2", "TER"]


def test_all_metrics(command):
    told = json.dumps(command("score", "-m", "all", systems=SYSTEMS[:1]))
    metrics = [tb.metric(one).name for one in registry.METRIC_GROUPS["all"]]
    assert len(metrics) > 5
    assert all(f'"{metric}"' in told for metric in metrics)


def test_an_unknown_metric_is_refused_in_the_words_of_python(fails):
    error = fails("score", REFERENCE, "-i", SYSTEMS[0], "-m", "blue", status=2)
    with pytest.raises(ValueError, match="unknown metric 'blue'; did you mean 'bleu'") as told:
        tb.metric("blue")
    assert f"-m/--metrics: {told.value}" in error


def test_segments_by_several_metrics_are_one_row(command):
    row = command("segments", "-m", "bleu", "chrf", systems=SYSTEMS[:1])["rows"][0]
    assert {"BLEU", "chrF2", "BLEU_matches_1"} <= row.keys(), row.keys()


def test_family_scores_several_systems(truebleu_command):
    options = ["-m", "mteval-v13a,multi-bleu", "-f", "json"]
    done = truebleu_command("family", "score", REFERENCE, "-i", *SYSTEMS, *options)
    rows = json.loads(done.output)["scores"]
    assert {(row["system"], row["member"]) for row in rows} == {
        (system, member)
        for system in ("cedar", "birch")
        for member in ("mteval-v13a", "multi-bleu")
    }


# ---- one capability, one face: inputs ----


@pytest.mark.parametrize("name", ["score", "compare"])
def test_documents_have_scores_of_their_own(command, name):
    found = command(name, "--docs", EXAMPLES / "documents.txt", *(FEW[2:]))
    names = set(lines(EXAMPLES / "documents.txt"))
    assert all(document in json.dumps(found["documents"]) for document in names)


@pytest.mark.parametrize(
    ("name", "of_system"),
    [("score", lambda found: [one["system"] for one in found["scores"]]),
     ("segments", lambda found: list(dict.fromkeys(row["system"] for row in found["rows"]))),
     ("compare", lambda found: [one["name"] for one in found["systems"]])],
)  # fmt: skip
@pytest.mark.parametrize(
    ("options", "names"), [([], ["Online-A", "Online-B"]), (["--names", "new,old"], ["new", "old"])]
)
def test_names_of_systems_are_the_same_everywhere(
    command, tmp_path, name, of_system, options, names
):
    files = [tmp_path / f"generaltest2022.de-en.hyp.Online-{letter}.en" for letter in "AB"]
    for file, system in zip(files, SYSTEMS, strict=True):
        shutil.copyfile(system, file)
    more = [*options, *(FEW if name == "compare" else [])]
    assert of_system(command(name, *more, systems=files)) == names


def test_systems_have_the_letters_of_the_report_in_every_table(command, tmp_path):
    page = tmp_path / "page.html"
    command("report", "-o", page, *FEW, read=False)
    compared = command("compare", *FEW)
    letters = [system.get("letter") for system in compared["systems"]]
    assert letters == ["A", "B"]
    assert "A  cedar" in command("compare", *FEW, "-f", "text", read=False).output


def test_test_sets_are_found_where_they_are(fails):
    error = fails("matrix", "-t", "wmt22", status=2)
    assert "no option -t here: truebleu score, segments, compare, report" in error


def test_tsv_is_a_table_with_an_option_of_tables(truebleu_command, write):
    pytest.importorskip("duckdb")
    rows = ["hyp\tref\tdomain", 'he said "yes\the said "no\tnews', "a b c d\ta b c e\tchat"]
    table = write("both.tsv", rows)
    done = truebleu_command("score", table, "--by", "domain", "-f", "json")
    assert done.status == 0, done
    found = {one["group"]["domain"]: one["score"] for one in json.loads(done.output)["scores"]}
    assert found["chat"] == tb.bleu(["a b c d"], ["a b c e"]).value
    assert found["news"] == tb.bleu(['he said "yes'], ['he said "no']).value
    # Without one it is lines of text, of which columns are named.
    by_column = truebleu_command("score", f"{table}#2", "-i", f"{table}#1", "-f", "json")
    assert json.loads(by_column.output)["scores"][0]["score"] > 0


# ---- what goes into a pipe ----


@pytest.mark.parametrize(
    ("words", "is_json"),
    [
        (["explain", REFERENCE, "-i", SYSTEMS[0]], False),
        (["compare", REFERENCE, "-i", *SYSTEMS, *FEW], False),
        (["family", "list"], False),
        (["history", "scores.jsonl"], False),
        (["score", REFERENCE, "-i", SYSTEMS[0]], True),
        (["segments", REFERENCE, "-i", SYSTEMS[0]], True),
        (["matrix", REFERENCE, "-k", "1"], True),
    ],
)
def test_numbers_are_json_in_a_pipe_and_views_are_text(
    command, truebleu_command, tmp_path, words, is_json
):
    command("score", "--log", tmp_path / "scores.jsonl")
    done = truebleu_command(*words, cwd=tmp_path)
    assert done.status == 0
    assert done.output.startswith("{") == is_json


@pytest.mark.parametrize("name", ["score", "segments", "compare"])
def test_json_has_one_shape_and_a_version(command, name):
    several, one = (
        command(name, *(FEW if name == "compare" else []), systems=systems)
        for systems in (SYSTEMS, SYSTEMS[:1])
    )
    kind = "truebleu_comparison" if name == "compare" else f"truebleu_{name}"
    assert several[kind] == one[kind] == 1
    assert several.keys() == one.keys()


@pytest.mark.parametrize("arguments", [["list"], ["show", "nist"]])
def test_json_of_the_family_has_a_version(truebleu_command, arguments):
    content = json.loads(truebleu_command("family", *arguments, "-f", "json").output)
    assert content["truebleu_family"] == 1
    assert " at 0x" not in json.dumps(content)


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain"])
def test_a_suffix_without_a_format_is_refused(fails, tmp_path, name):
    out = tmp_path / "x.xlsx"
    error = fails(name, REFERENCE, "-i", SYSTEMS[0], "-o", out, status=2)
    assert re.search(r"x.xlsx: no format .xlsx; there are text, .*, and -f says which", error)
    assert not out.exists()


# ---- the family ----


def test_family_which_and_members_hold_no_addresses(truebleu_command):
    score = f"{value('bleu'):.2f}"
    pair = [REFERENCE, "-i", SYSTEMS[0]]
    done = truebleu_command("family", "which", score, *pair, "-f", "json")
    assert json.loads(done.output)["truebleu_family"] == 1
    assert " at 0x" not in done.output


def test_family_show_says_that_a_scale_has_no_end(truebleu_command):
    done = truebleu_command("family", "show", "nist")
    assert "0 or more, without an upper bound" in done.output
    assert "0 to 1" not in done.output


def test_scores_without_a_bound_stand_apart_and_defects_are_marked(truebleu_command):
    done = truebleu_command("family", "score", REFERENCE, "-i", SYSTEMS[0], "--relatives")
    bounded, _, others = done.output.partition("On scales of their own")
    assert "nist-nltk" in others
    assert "nist-nltk" not in bounded
    assert "has a known defect" in done.output
    assert "nltk-corpus-6 !" in done.output


def test_an_unknown_member_is_answered_in_words_of_the_command_line(fails):
    error = fails("family", "show", "mteval-13a", status=2)
    assert "did you mean 'mteval-v13a'" in error
    assert "truebleu family list" in error
    assert "iterate" not in error


# ---- compare ----


@pytest.mark.parametrize("width", ["60", "80"])
def test_compare_shows_the_whole_signature_with_rich(command, width, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", width)
    shown = command("compare", *FEW, "--color", "always", read=False).output
    plain = re.sub(r"\x1b\[[0-9;]*m|\s", "", shown)
    assert "|bs:9|ar:9|seed:12345|case:mixed" in plain
    assert f"version:2.6.0|by:truebleu-{tb.__version__}" in plain


def test_numbers_needed_are_rounded(command):
    shown = command("compare", *FEW, read=False).output
    assert not re.search(r"[Nn]eeded: \d,\d{3},\d{3}", shown)


# ---- words ----


def test_text_in_utf_16_is_recognized(fails, tmp_path):
    text = SYSTEMS[0].read_text("utf-8").encode("utf-16")
    plain, packed = tmp_path / "out.en", tmp_path / "out.en.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    for path in (plain, packed, f"{plain}#1"):
        for name in ("score", "segments", "compare", "explain"):
            error = fails(name, REFERENCE, "-i", path, status=1)
            assert re.search(r"out.en(.gz)? is UTF-16, .*-e utf-16", error), error
    assert "standard input is UTF-16" in fails("score", REFERENCE, status=1, input=text)


def test_text_that_is_not_utf_16_is_named(fails):
    error = fails("score", REFERENCE, "-i", SYSTEMS[0], "-e", "utf-16", status=1)
    assert re.search(r"reference.a.en.* not utf-16|cedar.en.* not utf-16", error), error


def test_utf_16_is_read_when_it_is_named(truebleu_command, write):
    both = [
        write(f"{path.name}.16", lines(path), encoding="utf-16") for path in (REFERENCE, SYSTEMS[0])
    ]
    for path in both:
        path.write_bytes(path.read_bytes().decode("utf-16").replace("\ufeff", "").encode("utf-16"))
    done = truebleu_command("score", both[0], "-i", both[1], "-e", "utf-16", "-f", "json")
    assert json.loads(done.output)["scores"][0]["score"] == value("bleu")


def test_a_directory_is_called_one(fails, tmp_path):
    error = fails("explain", REFERENCE, "-i", tmp_path, status=2)
    assert f"{tmp_path} is a directory; name a file" in error


@pytest.mark.parametrize("name", ["score", "segments", "compare", "report"])
def test_a_directory_of_tables_beside_lines_is_called_one(fails, tmp_path, name):
    (tmp_path / "part.csv").write_text("hyp\na\n")
    error = fails(name, REFERENCE, "-i", tmp_path, status=2)
    assert f"{REFERENCE} is a file of lines and {tmp_path} is a directory of tables" in error


@pytest.mark.parametrize("name", ["score", "segments", "compare", "explain", "report"])
def test_systems_without_i_are_said_to_be_taken_for_references(fails, name, tmp_path):
    output = ["-o", tmp_path / "page.html"] if name == "report" else []
    error = fails(name, REFERENCE, SYSTEMS[0], *output, status=2)
    assert re.search(
        r"no HYP: name the outputs of systems with -i .*were taken for references", error
    )


def test_an_option_of_another_metric_is_named(fails):
    error = fails("score", REFERENCE, "-i", SYSTEMS[0], "-m", "bleu", "-cw", "2", status=2)
    assert "no option -cw here: it is an option of chrF (-m chrf)" in error


def test_what_must_be_installed_is_said_in_one_line(truebleu_command):
    done = truebleu_command("score", REFERENCE, "-i", SYSTEMS[0], "-tok", "spm:")
    assert "SentencePiece model: no path" in done.error
    assert done.status == 1


def test_an_option_is_not_taken_for_one_that_is_only_as_long(fails):
    error = fails("score", REFERENCE, "-i", SYSTEMS[0], "--paired-bs", status=2)
    assert "no option --paired-bs here: truebleu compare tests differences" in error
    assert "--threads" not in error


# ---- help ----


def test_help_of_a_command(truebleu_command):
    for name in ("score", "compare", "family"):
        assert truebleu_command("help", name).output == truebleu_command(name, "--help").output


def test_help_of_the_metrics_lists_every_parameter(truebleu_command):
    shown = truebleu_command("help", "metrics").output
    for cls in registry.iterate_metric_classes():
        assert cls.NAME in shown
        for parameter in cls.PARAMETERS:
            assert parameter.option(cls.PREFIX) in shown


def test_help_for_what_there_is_not(fails):
    assert "no help for 'scor'; did you mean 'score'?" in fails("help", "scor", status=2)


def test_help_lists_the_exit_statuses(truebleu_command):
    shown = truebleu_command("--help").output
    for line in (
        "0    done",
        "1    invalid data",
        "2    the command line is",
        "130  interrupted",
    ):
        assert line in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_shells_complete_commands_options_metrics_members_and_tokenizers(truebleu_command, shell):
    script = truebleu_command("completion", shell)
    assert script.status == 0, script
    # Commands; an option; a metric; a member; a tokenizer; a value.
    for word in ("segments", "help", "num-refs", "chrf++", "mteval-v13a", "ja-mecab", "latex"):
        assert re.search(rf"\b{re.escape(word)}", script.output), word


@posix
def test_bash_takes_the_completion(truebleu_command):
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    script = truebleu_command("completion", "bash").output
    done = subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["score", "compare", "explain"])
def test_colour_is_a_choice(command, name):
    pytest.importorskip("rich")
    options = FEW if name == "compare" else []
    coloured = command(name, "-f", "text", "--color", "always", *options, read=False)
    plain = command(name, "-f", "text", "--color", "never", *options, read=False)
    assert ("\x1b[" in coloured.output, "\x1b[" in plain.output) == (True, False)


# ---- progress ----


def shown(tmp_path, *arguments):
    """What a terminal's standard error gets of a command in which every moment is long."""
    script = (
        "import sys\n"
        "from truebleu.cli import main, progress\n"
        "progress.PATIENCE = progress.EVERY = 0\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    pty = pytest.importorskip("pty")
    master, terminal = pty.openpty()
    with open(tmp_path / "out", "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=terminal,
        )
    os.close(terminal)
    told = b""
    with suppress(OSError):  # Linux's end of what a terminal is sent
        while piece := os.read(master, 1 << 16):
            told += piece
    os.close(master)
    assert process.wait(60) == 0, told
    return told.decode()


LONG = {
    "resampling": ["compare", REFERENCE, "-i", *SYSTEMS, "-parn", "2000"],
    "resampling of intervals": ["score", REFERENCE, "-i", SYSTEMS[0], "-ci"],
    "trying settings": ["family", "which", "46.95", REFERENCE, "-i", SYSTEMS[0]],
    "scoring cedar.en": ["family", "score", REFERENCE, "-i", SYSTEMS[0]],
    "scoring hypotheses": ["matrix", REFERENCE],
    "scoring segments": ["segments", REFERENCE, "-i", SYSTEMS[0]],
}


@posix
@pytest.mark.parametrize("doing", LONG)
def test_progress_has_a_share_and_the_time_left(tmp_path, doing):
    told = shown(tmp_path, *LONG[doing])
    word = doing.partition(" of ")[0]
    assert re.search(rf"{word}: \d+%.* left", told), told[-500:]
    # Nothing stays in front of the result.
    assert told.rstrip().endswith("\x1b[K")


def test_no_progress_where_no_terminal_is(command):
    done = command("compare", "-parn", "200000", "-f", "text", read=False)
    assert (done.status, done.error) == (0, "")
