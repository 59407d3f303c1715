"""Text output of `score` and `segments`: scores in words, and one row per segment."""

import re

import pytest
from paths import ROOT

EXAMPLES = ROOT / "examples" / "de-en"
CEDAR = [EXAMPLES / "reference.a.en", "-i", EXAMPLES / "cedar.en"]
BLEU_SIGNATURE = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def test_single_system_gives_sentence_parts_and_signature(truebleu_command):
    output = truebleu_command("score", *CEDAR, "-f", "text").output
    sentence, _, *facts, _, signature = output.splitlines()
    assert sentence == "cedar has BLEU 47.0 on 128 segments."
    assert [re.sub(r"  +", ": ", fact) for fact in facts] == [
        "n-gram precisions: 72.8/53.3/40.5/31.0 (1- to 4-grams)",
        "brevity penalty: 1.000 (none: the output is not shorter than the reference)",
        "length: 2,075 tokens; reference 1,956 (ratio 1.061)",
    ]
    assert signature.startswith(BLEU_SIGNATURE)
    short = truebleu_command("score", *CEDAR, "-f", "text", "-sh").output
    assert "\nBLEU|#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0" in short


@pytest.mark.parametrize(
    ("metric", "sentence", "fact"),
    [
        ("ter", "cedar has TER 44.5 (lower is better)", "708 edits"),
        ("chrf", "cedar has chrF2 66.9", "character recalls     89.2/75.5"),
        ("wer", "cedar has WER 48.4 (lower is better)", "458 substituted"),
        ("nist", "cedar has NIST 7.3", "6.05/1.16/0.09/0.01/0.01"),
        ("gleu", "cedar has GLEU 49.8", "3,807 of 7,644 n-grams"),
        ("cer", "cedar has CER 34.3 (lower is better)", "9,251 characters; reference 8,815"),
    ],
)
def test_each_metric_shows_its_parts(truebleu_command, metric, sentence, fact):
    output = truebleu_command("score", *CEDAR, "-m", metric, "-f", "text").output
    assert output.startswith(sentence)
    assert fact in output


def test_several_metrics_share_sentence_and_list_signatures_once(truebleu_command):
    words = ["-m", "bleu", "ter", "-ci", "9", "-f", "text"]
    output = truebleu_command("score", *CEDAR, *words).output
    sentence = " ".join(output.partition("\n\n")[0].split())
    assert re.fullmatch(
        r"cedar has BLEU 47.0 \(95% interval [\d.]+ to [\d.]+\) and TER 44.5 \(lower is better; "
        r"95% interval [\d.]+ to [\d.]+\) on 128 segments.",
        sentence,
    )
    assert output.count("BLEU|") == output.count("TER|") == 1


def test_warnings_give_verdict(truebleu_command):
    chinese = ROOT / "examples" / "en-zh"
    files = [chinese / "reference.zh", "-i", chinese / "cedar.zh"]
    output = truebleu_command("score", *files, "-f", "text").output
    assert "Do not report this score yet. Resolve the warning below first." in output
    assert output.index("Do not report") < output.index("Warning: BLEU does not split")
    assert "Do not report" not in truebleu_command("score", *CEDAR, "-f", "text").output


def test_document_scores_follow_score_of_system(truebleu_command):
    words = [*CEDAR, "--docs", EXAMPLES / "documents.txt", "--by", "document", "-f", "text"]
    output = truebleu_command("score", *words).output
    assert output.startswith("cedar has BLEU 47.0")
    assert re.search(r"cedar +news +14 +40.3", output)


def test_sacrebleu_lines_name_several_systems(truebleu_command):
    lines = truebleu_command("score", *CEDAR, EXAMPLES / "birch.en", "-f", "sacrebleu").output
    assert [line.partition("\t")[0] for line in lines.splitlines()] == ["cedar", "birch"]
    assert "\t" not in truebleu_command("score", *CEDAR, "-f", "sacrebleu").output


@pytest.mark.parametrize("command", ["score", "segments"])
def test_score_only_refuses_sacrebleu_lines(read_error, command):
    error = read_error(2, command, *CEDAR, "-f", "sacrebleu", "-b")
    assert "-b/--score-only cannot be combined with -f sacrebleu" in error


def test_segments_show_number_score_and_cut_text(truebleu_command):
    header, *rows, _, signature = truebleu_command(
        "segments", *CEDAR, "-f", "text"
    ).output.splitlines()
    assert header.split() == ["segment", "BLEU", "text"]
    assert len(rows) == 128
    assert rows[0].split(maxsplit=2) == ["1", "17.0", "Lindental bridge to stay shut until autumn"]
    assert rows[117].endswith("…")
    assert max(map(len, rows)) <= 100
    assert signature.startswith(f"{BLEU_SIGNATURE.replace('eff:no', 'eff:yes')}")


def test_segments_of_several_systems_and_pipes_show_texts(truebleu_command):
    text = (EXAMPLES / "birch.en").read_bytes()
    words = [*CEDAR, "-", "-m", "bleu", "ter", "-f", "text"]
    output = truebleu_command("segments", *words, input=text).output
    header, *rows = output.partition("\n\n")[0].splitlines()
    assert header.split() == ["segment", "system", "BLEU", "TER", "text"]
    assert len(rows) == 256
    assert rows[128].split()[:3] == ["1", "standard", "input"]


@pytest.mark.parametrize(("form", "separator"), [("tsv", "\t"), ("csv", ",")])
def test_segment_tables_contain_statistics_only_on_request(truebleu_command, form, separator):
    words = ("segments", *CEDAR, "-m", "bleu", "chrf", "-f", form)
    lines = truebleu_command(*words).output.splitlines()
    assert lines[0].split(separator) == ["segment", "system", "BLEU", "chrF2"]
    assert lines[1].startswith(separator.join(["1", "cedar", "17.0"]))
    detailed_lines = truebleu_command(*words, "--statistics").output.splitlines()
    assert detailed_lines[0].startswith(f"{lines[0]}{separator}BLEU_hypothesis_length")
    assert "BLEU_hypothesis_length" in truebleu_command(*words[:-1], "jsonl").output


@pytest.mark.parametrize("options", ["-f json", "-f text", "-f tsv -b"])
def test_statistics_without_effect_are_refused(read_error, options):
    error = read_error(2, "segments", *CEDAR, "--statistics", *options.split())
    assert "--statistics has no effect with -" in error


@pytest.mark.parametrize(
    ("signature", "references", "message"),
    [
        ("BLEU|nrefs:2|case:lc", CEDAR[:1], "nrefs:2, but there is 1 reference"),
        ("#:1|c:lc", [*CEDAR[:1], EXAMPLES / "reference.b.en"], "nrefs:1, but there are 2 refer"),
        ("BLEU+case.lc+numrefs.2+version.1.4.14", CEDAR[:1], "nrefs:2, but there is 1 reference"),
        ("BLEU|nrefs:1|case:lc", CEDAR[:1], ""),
        ("BLEU|nrefs:var|case:lc", CEDAR[:1], ""),
        ("BLEU|case:lc", CEDAR[:1], ""),
    ],
)
@pytest.mark.parametrize("command", ["score", "segments", "explain"])
def test_signature_for_other_references_has_a_warning(
    truebleu_command, command, signature, references, message
):
    result = truebleu_command(command, *references, *CEDAR[1:], "-m", signature)
    assert result.status == 0
    assert message in result.error
    assert ("signature" in result.error) == bool(message)
    assert truebleu_command(command, *references, *CEDAR[1:], "-m", signature, "-q").error == ""


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--tok", "did you mean '-tok/--tokenize'?"),
        ("--lc", "did you mean '-lc/--lowercase'?"),
        ("--smooth", "did you mean '-s/--smooth-method/--smoothing'?"),
        ("-tokenize", "did you mean '-tok/--tokenize'?"),
        ("--language-pair", "did you mean '--language'?"),
        ("--detail", "use truebleu score -f json, which shows the details"),
        ("-nc", "use --color never"),
        ("--echo", "use truebleu testset show"),
        ("--list", "use truebleu testset list"),
        ("--download", "use truebleu testset get"),
        ("--cite", "use truebleu cite"),
        ("-ol", "use --origlang"),
        ("-sl", "use truebleu segments"),
        ("--paired-bs", "use truebleu compare"),
        ("-j", "use --threads"),
        ("--force", "use -q"),
    ],
)
def test_options_of_sacrebleu_have_a_hint(read_error, option, message):
    assert message in read_error(2, "score", *CEDAR, option)


@pytest.mark.parametrize(
    ("word", "command"), [("comapre", "compare"), ("scor", "score"), ("raport", "report")]
)
def test_misspelt_command_with_arguments_suggests_the_command(read_error, word, command):
    error = read_error(2, word, *CEDAR)
    assert f"unknown command '{word}'; did you mean '{command}'? (see" in error


def test_file_named_like_a_command_is_a_file(truebleu_command, tmp_path, monkeypatch):
    (tmp_path / "scor").write_text("a\n")
    monkeypatch.chdir(tmp_path)
    assert "Use truebleu score scor -i x" in truebleu_command("scor", "-i", "x").error


@pytest.mark.parametrize("words", [CEDAR, ["-t", "wmt22", "-l", "en-de", "-i", "x"]])
def test_missing_command_suggests_score(read_error, words):
    assert f"Use truebleu score {' '.join(map(str, words))} (see" in read_error(2, *words)
