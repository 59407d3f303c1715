"""Error messages: one place per message, the user's options, and the option that serves instead."""

import gzip

import pytest

# Wrong command lines whose messages no other test knows: the fixture checks their form.
WRONG_COMMANDS = """
score ref -i hyp -m comet:
score ref -i hyp -m bertscore
score ref -i hyp -m command
score ref -i hyp -m bleu|nope:3
score ref -i hyp -m chrF2|nrefs:1|case:weird
score ref -i hyp -tok icu:
score ref -i hyp -tok spm:
score ref -i hyp -tok spm:missing
score ref -i hyp -sv -1
score ref -i hyp -m chrf --chrf-beta -1
score ref -i hyp#0
score ref -i table#3
score ref -i hyp --docs one
score ref -i hyp --log hyp
score ref -i hyp -m ibleu
score ref -i a=hyp a=ref
score x.csv
segments ref -i hyp -f npy
compare ref -i hyp one
compare ref -i hyp ref --scores X=table
compare ref -i hyp ref --scores X=hyp
compare ref -i hyp ref --scores X=numbers numbers numbers
compare --scores X=table
compare --scores X=empty
compare --scores X=hyp
compare --scores X=one hyp
compare ref -i hyp ref --docs one
report ref -i hyp -o x.html --word-counts hyp
report ref -i hyp -o x.html --human hyp
report ref -i hyp -o x.html --terms table -src one
history hyp
check ref -i hyp
check ref -i hyp --min x
check ref -i hyp --min foo=1
check ref -i hyp --max-drop -1 --against ref
check ref -i hyp --max-drop 1 --log missing
check ref -i hyp --against hyp --max-drop 1
check ref -i hyp --against ref --significant
matrix ref -m ibleu
explain ref -i hyp -m rouge-1 --recall
explain ref -i hyp -n 9
family show
family which x ref -i hyp
meta --human hyp --scores X=numbers
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "1")
    texts = {
        "ref": "the cat sat on the mat\na dog barked\n",
        "hyp": "the cat sat on a mat\na dog barks\n",
        "one": "a\n",
        "empty": "",
        "table": "a\tb\nx\ty\n",
        "numbers": "1\n2\n",
        "x.csv": "a,b\n1,2\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "latin").write_bytes(b"caf\xe9\nx\n")


@pytest.mark.parametrize("line", WRONG_COMMANDS.strip().splitlines())
def test_message_names_each_place_once(folder, read_error, line):
    assert read_error((1, 2), *line.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("score ref -i hyp --level 0.9", "--level has no effect without --confidence"),
        ("score ref -i hyp --seed 3", "--seed has no effect without --confidence"),
        ("score x.csv --log-note x", "--log-note has no effect without --log"),
        ("score x.csv -ci", "-ci/--confidence does not support tables"),
        ("score x.csv --log scores.jsonl", "--log does not support tables"),
        ("score ref -i hyp -f json -sh", "-sh/--short has no effect with -f json"),
        ("segments ref -i hyp -f tsv -sh", "-sh/--short has no effect with -f tsv"),
        ("matrix ref -f csv -sh", "-sh/--short has no effect with -f csv"),
        ("matrix ref --mbr -f lines -w 1", "-w/--width cannot be combined with -f lines"),
        ("meta --human hyp -f svg -w 1", "-w/--width has no effect with -f svg"),
        ("compare x.csv --lower-is-better X", "--lower-is-better does not support tables"),
        ("check ref -i hyp --min 1 --seed 3", "--seed has no effect without --significant"),
        ("family list --relatives", "--relatives has no effect with list"),
        ("family show mteval-v13a --docs one", "--docs has no effect with show"),
        ("family list -t wmt22 -l en-de", "-t/--test-set has no effect with list"),
        ("family which 9 ref -i hyp --relatives", "--relatives has no effect with which"),
        ("testset remove wmt22 -l en-de", "-l/--language has no effect with remove"),
        ("testset add x --registry y", "--registry has no effect with add"),
        ("cite --registry x", "--registry has no effect without -t/--test-set"),
        ("explain --hypothesis a --reference b -t x", "-t/--test-set and --hypothesis TEXT are"),
        (
            "explain x.csv -i x.csv",
            "x.csv: truebleu explain does not read tables; use truebleu sco",
        ),
        ("segments ref -i hyp --docs hyp", "--docs has no effect without --resegment"),
        ("segments ref -i hyp --resegment always --hyp-docs hyp", "--hyp-docs needs the documents"),
        ("check ref -i one --resegment --hyp-docs hyp --min 1", "--hyp-docs needs the documents"),
        ("testset get --all-since x", "--all-since: expected a whole number from 1 to 9,999"),
        ("latency hyp -ci 0 --level 0.9", "--level has no effect with --confidence 0"),
        ("meta --human hyp --resample documents", "--resample has no effect without --confidence"),
        ("compare ref -i hyp --scores BLEU=hyp", "--scores: duplicate metric name 'BLEU'"),
        ("compare ref -i hyp -par", "-par/--paired-ar has no effect with one system"),
        ("compare ref -i hyp --test bs", "--test has no effect with one system"),
        ("compare ref -i hyp --correction bh", "--correction has no effect with one system"),
        ("report ref -i hyp -o x --baseline hyp", "--baseline has no effect with one system"),
        ("compare ref -i hyp=hyp,ref -parn 9", "-parn/--paired-ar-n has no effect with one"),
        ("family", "missing ACTION"),
        ("matrix x.csv", "x.csv: truebleu matrix does not read tables"),
        ("matrix .", ".: expected a file, found a folder"),
    ],
)
def test_option_without_effect_is_refused(folder, read_error, words, message):
    assert read_error(2, *words.split()).startswith(message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check ref -i hyp --min 1 --junit hyp", "--junit: hyp is also an input file"),
        ("check ref -i hyp --min 1 --summary ./ref", "--summary: ref is also an input file"),
        ("check ref -i hyp --min 1 --junit new -o new", "-o/--output: new is also the file of --j"),
        ("score ref -i hyp --log new -o new -f text", "-o/--output: new is also the file of --log"),
        ("score ref -i X=hyp -o hyp", "-o/--output: hyp is also an input file"),
        ("score ref#1 -i hyp -o ref", "-o/--output: ref is also an input file"),
        ("meta --human numbers --scores X=table -o numbers", "-o/--output: numbers is also an"),
        ("report ref -i hyp --human numbers -o numbers", "-o/--output: numbers is also an input"),
        ("history numbers -o numbers", "-o/--output: numbers is also an input file"),
        ("compare ref -i hyp - --scores X=-", "standard input can be read only once"),
        ("score -", "standard input can be read only once"),
    ],
)
def test_files_are_not_used_twice(folder, read_error, tmp_path, words, message):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert read_error(2, *words.split(), input=b"a\n").startswith(message)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-m ter -tok zh", "-tok has no effect with -m ter: TER has its own tokenizer. Use --ter-"),
        ("-m ter -lc", "-lc has no effect with -m ter: TER ignores case. Use --ter-case-sensitive"),
        ("-m chrf --tokenize zh", "--tokenize has no effect with -m chrf: chrF compares character"),
        ("-m chrf -lc", "-lc has no effect with -m chrf: for chrF, use --chrf-lowercase"),
        ("-m chrf -s exp", "-s has no effect with -m chrf: chrF has only one smoothing method. Us"),
        ("-m nist --max-order 3", "--max-order has no effect with -m nist: for NIST, use --nist-m"),
        ("-m meteor -tok zh", "-tok has no effect with -m meteor: METEOR has its own tokenizer"),
        ("--ter-no-punct", "--ter-no-punct has no effect with -m bleu: it is an option of TER"),
        ("--wer-tokenize char", "--wer-tokenize has no effect with -m bleu"),
        ("-m ter --no-punct", "unknown option --no-punct; did you mean '--ter-no-punct'?"),
        ("--no-punct", "unknown option --no-punct; did you mean '--ter-no-punct' of TER?"),
        ("--word-order 2", "unknown option --word-order; did you mean '--chrf-word-order' of chrF"),
        ("--tokenise zh", "unknown option --tokenise; did you mean '--tokenize'?"),
        ("--outpt x", "unknown option --outpt; did you mean '--output'?"),
        ("--baseline x", "option --baseline is not available here: use truebleu compare or report"),
        ("--significant", "option --significant is not available here: use truebleu check"),
        ("-m comet", "-m/--metrics: comet needs a model (expected comet:MODEL, where MODEL is"),
    ],
)
def test_unfit_option_names_the_option_that_serves(folder, read_error, options, message):
    assert read_error(2, "score", "ref", "-i", "hyp", *options.split()).startswith(message)


@pytest.mark.parametrize(
    ("command", "status"),
    [("score ref -i hyp -m ibleu", 2), ("family show ibleu", 2), ("help metrics", 0),
     ("family show ibleu-viewer", 0)],
)  # fmt: skip
def test_both_metrics_called_ibleu_are_distinguished(folder, truebleu_command, command, status):
    result = truebleu_command(*command.split())
    assert result.status == status
    text = " ".join((result.output + result.error).split())
    assert "viewer iBLEU (Madnani 2011)" in text
    assert "Sun and Zhou 2012" in text or "ibleu-viewer" in text


@pytest.mark.parametrize(
    "words",
    [
        *("score", "score -m bleu chrf", "score -m sari", "compare -m chrf ter", "compare -m sari"),
        *("segments", "segments -m bleu chrf", "segments -o x", "segments -o x -m bleu chrf"),
        *("explain", "explain -m sari", "explain -n 1", "check --min 1", "report -o x.html"),
    ],
)
def test_source_of_another_length_is_refused(folder, read_error, words):
    command, *options = words.split()
    message = read_error(1, command, "ref", "-i", "hyp", "-src", "one", *options)
    assert "different numbers of segments: sources (one) 1, hypotheses (hyp) 2" in message


@pytest.mark.parametrize("form", ["jsonl", "tsv", "text", "sacrebleu"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("long -i longer", "hypotheses (longer) 9001, reference 1 (long) 9000; segment 9001"),
        ("long -i long longer", "hypotheses (longer) 9001, reference 1 (long) 9000; segment 9001"),
        ("long -i long -src longer", "sources (longer) 9001, hypotheses (long) 9000, reference 1"),
        ("longer long -i longer", "reference 1 (longer) 9001, reference 2 (long) 9000; segment"),
        ("table -nr 2 -i long", "hypotheses (long) 9000, reference"),
        ("short.gz -i hyp", "hypotheses (hyp) 2, reference 1 (short.gz) 1; segment 2"),
        ("ref -i empty", "hypotheses (empty): no segments"),
    ],
)
def test_segments_writes_nothing_if_lengths_differ(
    folder, tmp_path, read_error, words, message, form
):
    (tmp_path / "long").write_text("a b\n" * 9000, "utf-8")
    (tmp_path / "longer").write_text("a b\n" * 9000 + "no newline", "utf-8")
    (tmp_path / "short.gz").write_bytes(gzip.compress(b"a\n"))
    assert message in read_error(1, "segments", *words.split(), "-f", form)


def test_several_systems_share_a_source_from_standard_input(folder, truebleu_command):
    words = ("segments", "ref", "-i", "hyp", "ref", "-m", "sari", "-src")
    expected = truebleu_command(*words, "numbers")
    assert (expected.status, expected.output.count("\n")) == (0, 4)
    assert truebleu_command(*words, "-", input=b"1\n2\n").output == expected.output


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["score", "", "-i", "hyp"], "REF"),
        (["score", "ref", "-i", ""], "-i/--input"),
        (["compare", "ref", "-i", "hyp", ""], "-i/--input"),
        (["report", "ref", "-i", "hyp", "-o", ""], "-o/--output"),
        (["segments", "ref", "-i", "hyp", "--source="], "-src/--source"),
        (["check", "ref", "-i", "hyp", "--min", "1", "--junit="], "--junit"),
        (["history", ""], "FILE"),
        (["latency", ""], "FILE"),
        (["matrix", ""], "REF"),
    ],
)
def test_empty_file_name_is_refused(folder, read_error, words, place):
    assert read_error(2, *words).startswith(f"{place}: empty file name")
