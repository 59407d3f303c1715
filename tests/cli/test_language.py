"""-l/--language, and what commands say of the language of a text."""

import json
import subprocess
import sys

import pytest

import truebleu as tb

HYPOTHESES = [
    "その日は朝から雨が降っていました。",
    "傘がなかったので、駅で待ちました。",
    "東京都の友人に３回電話をかけた。",
]
REFERENCES = [
    "あの日は朝から雨が降っていた。",
    "傘を持っていなかったので、駅で待っていました。",
    "東京都に住む友人に三回電話をかけました。",
]
KOREAN = ["그날은 아침부터 비가 내리고 있었습니다.", "우산이 없어서 역에서 기다렸습니다."]
SIMPLIFIED = ["那天从早上开始下雨，我们没有带伞，只好在车站里等着，过了两个小时才开车。"] * 4
TRADITIONAL = ["那天從早上開始下雨，我們沒有帶傘，只好在車站裡等著，過了兩個小時才開車。"] * 4
TIBETAN = ["ཉིན་དེར་ཆར་པ་ཆེན་པོ་བབས་ནས་ང་ཚོས་འབབ་ཚུགས་སུ་སྒུགས།"] * 3
# Syllables of the Vai script, of which no table knows.
UNKNOWN = ["ꔀꔁꔂꔃꔄꔅꔆꔇꔈꔉꔊꔋꔌꔍꔎꔏꔐꔑꔒꔓꔔꔕꔖꔗ"] * 3


@pytest.fixture
def files(write, monkeypatch, tmp_path):
    """A folder, made the current one, with text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path))
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    texts = {
        "hyp": HYPOTHESES,
        "ref": REFERENCES,
        "ko": KOREAN,
        "hans": SIMPLIFIED,
        "hant": TRADITIONAL,
        "bo": TIBETAN,
        "unknown": UNKNOWN,
        "en": ["The rain fell from morning on that day.", "We waited at the station."],
    }
    for name, lines in texts.items():
        write(name, lines)
    return tmp_path


def lines(result) -> list[str]:
    """Return the lines on standard error, without those about its own reference and zeros."""
    others = ("identical", "BLEU is 0")
    return [line for line in result.error.splitlines() if not any(map(line.count, others))]


@pytest.mark.parametrize("pair", ["en-ja", "en-zh", "en-ko", "en-de"])
def test_the_score_is_sacrebleus(files, truebleu_command, pair):
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", "hyp", "-l", pair, "-w", "9"]
    theirs = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    for tag in (pair, pair.partition("-")[2]):
        own = json.loads(truebleu_command("score", "ref", "-i", "hyp", "-l", tag).output)
        (score,) = own["scores"]
        assert (round(score["score"], 9), score["tok"]) == (theirs["score"], theirs["tok"])


COMMANDS = [
    "score ref -i hyp -f json",
    "segments ref -i hyp -f json",
    "compare ref -i hyp hyp --names a,b -f json",
    "explain ref -i hyp -n 2 -f json",
    "matrix ref -i hyp -f json",
    "family score ref -i hyp -m sacrebleu -f json",
    "report ref -i hyp -o -",
]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_that_tokenizes_takes_it(files, truebleu_command, line):
    own = truebleu_command(*line.split(), "-l", "jpn_Jpan")
    assert own.status == 0, own
    assert "tok:ja-mecab-0.996-IPA" in own.output
    assert "tok:13a" not in own.output


def test_a_tokenizer_that_is_given_wins(files, truebleu_command):
    own = truebleu_command("score", "ref", "-i", "hyp", "-l", "ja", "-tok", "char")
    assert json.loads(own.output)["scores"][0]["tok"] == "char"
    (told,) = lines(own)
    assert told.startswith("truebleu: warning: -l/--language: sacreBLEU splits Japanese by ja-")
    assert (
        lines(truebleu_command("score", "ref", "-i", "hyp", "-l", "ja", "-tok", "ja-mecab")) == []
    )


def test_signatures_and_members_keep_their_tokenizers(files, truebleu_command):
    signature = "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0"
    metrics = ["-m", signature, "mteval-v13a", "chrf", "bleu"]
    own = truebleu_command("score", "ref", "-i", "hyp", "-l", "ja", *metrics)
    found = [score.get("tok") for score in json.loads(own.output)["scores"]]
    assert found == ["13a", "mteval-v13a-lower", None, "ja-mecab-0.996-IPA"]


def test_a_metric_without_tokenizer_is_as_it_is(files, truebleu_command):
    plain = truebleu_command("score", "ref", "-i", "hyp", "-m", "chrf")
    own = truebleu_command("score", "ref", "-i", "hyp", "-m", "chrf", "-l", "th", "-q")
    (own_score,), (plain_score,) = (json.loads(one.output)["scores"] for one in (own, plain))
    assert (own_score, own.error) == (plain_score, "")


def test_one_line_of_advice(files, truebleu_command):
    own = truebleu_command("score", "en", "-i", "en", "-l", "hi")
    assert own.status == 0
    assert "-tok intl" in lines(own)[0]
    assert truebleu_command("score", "en", "-i", "en", "-l", "hi", "-q").error == ""


def test_unknown_tags(files, truebleu_command):
    own = truebleu_command("score", "ref", "-i", "hyp", "-l", "japanese")
    assert (own.status, own.output) == (2, "")
    assert "-l/--language: unknown language 'japanese'; did you mean 'ja' (Japanese)?" in own.error
    own = truebleu_command("family", "list", "-l", "ja")
    assert own.status == 2


# ---- what the text looks like ----


@pytest.mark.parametrize(
    ("texts", "options", "words"),
    [
        (["ref", "hyp"], [], "Use -tok ja-mecab (tokenize='ja-mecab' in Python)"),
        (["ko", "ko"], [], "Use -tok ko-mecab"),
        (["hans", "hans"], [], "Use -tok zh"),
        (["bo", "bo"], [], "Use -tok intl"),
        (["en", "en"], ["-l", "ja"], "-l says Japanese, which is written in kana"),
        (["ref", "hyp"], ["-l", "zh"], "-l selects Chinese, but the text has kana"),
        (
            ["hans", "hant"],
            ["-tok", "zh"],
            "traditional Chinese, and the references are simplified",
        ),
        (
            ["hant", "hans"],
            ["-tok", "zh"],
            "simplified Chinese, and the references are traditional",
        ),
        (
            ["hant", "hant"],
            ["-l", "zh-CN"],
            "this is traditional Chinese, but -l zh-CN is simplified",
        ),
        (["unknown", "unknown"], [], "leaves 1.0 tokens of a segment with 24 characters"),
        (["hyp", "hyp"], ["-tok", "none"], "Use -tok ja-mecab"),
        (["hyp", "hyp"], ["-m", "chrf", "cer"], ""),
    ],
)
def test_warnings(files, truebleu_command, texts, options, words):
    reference, hypothesis = texts
    own = truebleu_command("score", reference, "-i", hypothesis, *options)
    assert own.status == 0
    found = [line for line in lines(own) if words and words in line]
    more = 1 if options == ["-l", "zh"] else 0  # zh does not split kana either
    assert len(found) + more == len(lines(own)) == (1 + more if words else 0), own.error


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("ref", ["-l", "ja"]),
        ("ko", ["-l", "ko"]),
        ("hans", ["-l", "zh"]),
        ("hant", ["-l", "zh-TW"]),
        ("bo", ["-tok", "intl"]),
        ("en", []),
        ("unknown", ["-tok", "char"]),
    ],
)
def test_nothing_to_say(files, truebleu_command, text, options):
    assert lines(truebleu_command("score", text, "-i", text, *options)) == []


def test_references_of_both_kinds_of_chinese(files, truebleu_command):
    own = truebleu_command("score", "hans", "hant", "-i", "hant", "-tok", "zh")
    assert lines(own) == []


@pytest.mark.parametrize("command", ["segments", "compare"])
def test_other_commands_say_it_too(files, truebleu_command, command):
    own = truebleu_command(command, "unknown", "-i", "unknown", "unknown", "--names", "a,b")
    assert "1.0 tokens of a segment" in " ".join((own.error or own.output).split())


def test_scripts_in_json(files, truebleu_command):
    own = truebleu_command("score", "ref", "-i", "hyp", "-m", "bleu", "chrf")
    for score in json.loads(own.output)["scores"]:
        assert set(score["scripts"]) == {"kana", "han"}
        # Of 50 characters; the rest are punctuation and digits.
        assert 0.5 < score["scripts"]["kana"] < 0.7


def test_advice_needs_no_import_for_plain_text(files):
    code = (
        "import sys; from truebleu.cli import main\n"
        "try: main(['score', 'en', '-i', 'en'])\n"
        "except SystemExit: pass\n"
        "assert 'truebleu.text.languages' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# ---- text that a metric does not split ----


@pytest.fixture
def unsplit(files, write):
    """Two systems for Japanese references: one has half of them, the other none."""
    lines = [f"第{i}日は朝から雨が降っていました。" for i in range(40)]
    write("refs", lines)
    poor = [line.replace("雨", "雪") for line in lines]
    write("good", [*lines[:20], *poor[20:]])
    write("poor", poor)
    return ["refs", "-i", "good", "poor", "-m", "wer", "chrf"]


ADVICE = "Use -tok ja-mecab (tokenize='ja-mecab' in Python)"


@pytest.mark.parametrize(
    ("form", "table"),
    [
        ("text", "WER ↓"),
        ("markdown", "| "),
        ("latex", r"\begin{tabular}"),
        ("html", "<table"),
        ("tsv", ""),
        ("csv", ""),
        ("json", '"systems": [\n  {'),
    ],
)
def test_unsplit_text_warns_in_every_format(unsplit, truebleu_command, form, table):
    own = truebleu_command("compare", *unsplit, "-f", form)
    shown = own.output.replace("&#x27;", "'").replace("\n", " " if form == "text" else "\n")
    where = own.error if form in ("tsv", "csv") else shown
    assert ADVICE in where
    assert form == "json" or where.index(ADVICE) < shown.index(table) or form in ("tsv", "csv")
    assert (form == "text") == (own.error == "")
    if form == "latex":
        assert own.output.splitlines()[3].startswith("% Warning: WER ")
    if form == "text":
        wer, chrf = own.output.split("   system  ")[2:]
        assert ("*" in wer, "*" in chrf) == (False, True)


def test_unsplit_text_has_no_winner(unsplit, truebleu_command):
    found = json.loads(truebleu_command("compare", *unsplit, "-f", "json").output)
    (warning,) = found["warnings"]
    assert (warning["kind"], warning["metrics"]) == ("unsplit", ["WER"])
    assert (warning["systems"], warning["option"]) == (["good", "poor"], "-tok ja-mecab")
    for system in found["systems"]:
        wer, chrf = (system["scores"][name] for name in ("WER", "chrF2"))
        assert (wer["rank"], wer["cluster"], wer["better_than"]) == (None, None, [])
        assert chrf["rank"] is not None
    by_metric = {pair["metric"]: pair for pair in found["pairs"]}
    assert by_metric["WER"]["p"] < 0.05
    assert by_metric["WER"]["significant"] is None
    assert by_metric["chrF2"]["significant"] is True
    page = truebleu_command("compare", *unsplit[:-1], "-f", "html").output
    assert "No system is called best: WER cannot split this text into words." in page
    assert "<strong>" not in page


def test_unsplit_text_in_other_results(unsplit, truebleu_command):
    base = ["refs", "-i", "poor", "-m", "wer"]
    for command in (["score", *base], ["check", *base, "--min", "500"], ["segments", *base]):
        own = truebleu_command(*command, "-f", "json")
        assert [one["metrics"] for one in json.loads(own.output)["warnings"]] == [["WER"]]
        assert ADVICE in own.error
    own = truebleu_command("check", *base, "--against", "good", "--significant", "-f", "json")
    assert own.status == 3
    assert "cannot tell whether it is worse" in own.output
    page = truebleu_command("report", *unsplit, "-o", "-").output
    assert page.index("Warning: WER does not split") < page.index("<table")


def test_unsplit_text_warns_in_python():
    references = HYPOTHESES * 10
    systems = {"a": references, "b": references[::-1]}
    assert "ja-mecab" in tb.compare(systems, references).warnings[0]["text"]
    kinds = [one["kind"] for one in tb.compare(systems, references, metrics=["chrf"]).warnings]
    assert kinds == ["identical"]


@pytest.mark.parametrize(
    ("words", "signature"),
    [
        (["-m", "ter"], "norm:yes|punct:yes|asian:yes"),
        (["-m", "ter", "--ter-asian-support", "no"], "norm:no|punct:yes|asian:no"),
        (["-m", "wer"], "tok:ja-mecab-0.996-IPA"),
        (["-m", "cer"], "measure:cer"),
        (["-m", "nltk-bleu"], "tok:none"),
    ],
)
def test_language_sets_each_metric(files, truebleu_command, words, signature):
    own = truebleu_command("score", "ref", "-i", "hyp", "-l", "ja", *words)
    assert signature in json.loads(own.output)["scores"][0]["signature"]
