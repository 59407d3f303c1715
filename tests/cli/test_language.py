"""-l/--language, and warnings about the language of a text."""

import json
import subprocess
import sys

import pytest

import truebleu as tb
from truebleu.cli import metric_options
from truebleu.cli.common_options import Parser
from truebleu.metrics import text_warnings

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
# Syllables of the Vai script, which has no language table.
UNKNOWN = ["ꔀꔁꔂꔃꔄꔅꔆꔇꔈꔉꔊꔋꔌꔍꔎꔏꔐꔑꔒꔓꔔꔕꔖꔗ"] * 3


@pytest.fixture
def language_folder(write, monkeypatch, tmp_path):
    """Return the working directory, with texts in several languages."""
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


def list_messages(result) -> list[str]:
    """Return the lines on standard error, except warnings about identical texts and zeros."""
    ignored_texts = ("identical", "BLEU is 0")
    return [line for line in result.error.splitlines() if not any(map(line.count, ignored_texts))]


@pytest.mark.parametrize("pair", ["en-ja", "en-zh", "en-ko", "en-de"])
def test_score_with_language_equals_sacrebleu(language_folder, read_json, pair):
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", "hyp", "-l", pair, "-w", "9"]
    expected = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    for tag in (pair, pair.partition("-")[2]):
        (score,) = read_json("score", "ref", "-i", "hyp", "-l", tag)["scores"]
        assert (round(score["score"], 9), score["tok"]) == (expected["score"], expected["tok"])


COMMANDS = [
    "score ref -i hyp -f json",
    "segments ref -i hyp -f json",
    "compare ref -i a=hyp b=hyp -f json",
    "explain ref -i hyp -n 2 -f json",
    "matrix ref -i hyp -f json",
    "family score ref -i hyp -m sacrebleu -f json",
    "report ref -i hyp -o -",
]


@pytest.mark.parametrize("line", COMMANDS)
def test_all_tokenizing_commands_accept_language(language_folder, truebleu_command, line):
    result = truebleu_command(*line.split(), "-l", "jpn_Jpan")
    assert result.status == 0, result
    assert "tok:ja-mecab-0.996-IPA" in result.output
    assert "tok:13a" not in result.output


def test_tokenizer_option_overrides_language(language_folder, truebleu_command):
    words = ("score", "ref", "-i", "hyp", "-l", "ja", "-tok")
    result = truebleu_command(*words, "char")
    assert json.loads(result.output)["scores"][0]["tok"] == "char"
    (message,) = list_messages(result)
    expected = "truebleu: warning: -l/--language: sacreBLEU tokenizes Japanese with ja-"
    assert message.startswith(expected)
    assert list_messages(truebleu_command(*words, "ja-mecab")) == []


def test_language_does_not_change_signatures_and_members(language_folder, read_json):
    signature = "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0"
    metrics = ["-m", signature, "mteval-v13a", "chrf", "bleu"]
    scores = read_json("score", "ref", "-i", "hyp", "-l", "ja", *metrics)["scores"]
    tokenizers = [score.get("tok") for score in scores]
    assert tokenizers == ["13a", "mteval-v13a-lower", None, "ja-mecab-0.996-IPA"]


def test_recommended_tokenizer_gives_one_note(language_folder, truebleu_command):
    result = truebleu_command("score", "en", "-i", "en", "-l", "hi")
    assert result.status == 0
    assert "-tok intl" in list_messages(result)[0]
    assert truebleu_command("score", "en", "-i", "en", "-l", "hi", "-q").error == ""


def test_unknown_language_is_refused(language_folder, read_error):
    error = read_error(2, "score", "ref", "-i", "hyp", "-l", "japanese")
    assert "-l/--language: unknown language 'japanese'; did you mean 'ja' (Japanese)?" in error
    read_error(2, "family", "list", "-l", "ja")


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("-l de", "language:de|task:rank"),
        ("-l en-de_DE", "language:de|task:rank"),
        ("-l cs", "language:cz|task:rank"),
        ("-l en", "language:en|task:rank"),
        ("-l de --meteor-language ru", "language:ru|task:rank"),
        ("-l ja --meteor-language other --meteor-normalize lower", "language:other|task:li"),
        ("-l sv --meteor-normalize lower", "language:se|task:li"),
        ("-l nb --meteor-normalize no", "language:no|task:li"),
    ],
)
def test_language_selects_the_language_of_meteor(words, fields):
    groups = list(metric_options.list_metric_groups(["-m", "meteor"]))
    parsed = Parser("truebleu", groups=groups).parse_args(["-m", "meteor", *words.split()])
    parsed.command = "score"
    (metric,) = metric_options.select_metrics(parsed)
    assert str(metric.signature(1)).startswith(f"nrefs:1|{fields}")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("-l ja", "METEOR does not support Japanese (expected Czech, English, French, German, "),
        ("-l se", "METEOR does not support Northern Sami"),
        ("-l sv", "METEOR cannot tokenize Swedish"),
    ],
)
def test_language_without_meteor_is_an_error(language_folder, read_error, words, problem):
    error = read_error(2, "score", "en", "-i", "en", "-m", "meteor", *words.split())
    assert f"-l/--language: {problem}" in error
    assert "--meteor-normalize to 'lower'" in error


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("meteor-nltk", "METEOR-nltk: -l selects German, but it matches English stems"),
        ("rouge-l+stem", "rouge-l+stem: -l selects German, but its stemmer is for English"),
    ],
)
def test_metric_for_english_warns_about_another_language(name, problem):
    labels = {tb.metric(name): problem.partition(":")[0]}
    (warning,) = text_warnings.warn_about_texts({}, [], labels, "en-de")
    assert warning["text"].startswith(problem)
    assert text_warnings.warn_about_texts({}, [], labels, "de-en") == []


# ---- warnings about the script ----


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        ("ref hyp", "", ["Use -tok ja-mecab (tokenize='ja-mecab' in Python)"]),
        ("ko ko", "", ["Use -tok ko-mecab"]),
        ("hans hans", "", ["Use -tok zh"]),
        ("bo bo", "", ["Use -tok intl"]),
        ("en en", "-l ja", ["-l selects Japanese, which is written in kana"]),
        # The tokenizer zh does not split kana either.
        ("ref hyp", "-l zh", ["-l selects Chinese, but the text contains kana", "does not split"]),
        ("hans hant", "-tok zh", ["traditional Chinese, but the references are simplified"]),
        ("hant hans", "-tok zh", ["simplified Chinese, but the references are traditional"]),
        ("hant hant", "-l zh-CN", ["this is traditional Chinese, but -l zh-CN means simplified"]),
        ("unknown unknown", "", ["finds 1.0 tokens per segment of 24 characters"]),
        ("hyp hyp", "-tok none", ["Use -tok ja-mecab"]),
        ("hyp hyp", "-m chrf cer", []),
        ("ref ref", "-l ja", []),
        ("ko ko", "-l ko", []),
        ("hans hans", "-l zh", []),
        ("hant hant", "-l zh-TW", []),
        ("bo bo", "-tok intl", []),
        ("en en", "", []),
        ("unknown unknown", "-tok char", []),
    ],
)
def test_only_unsuitable_tokenizer_gives_warning(
    language_folder, truebleu_command, files, options, expected
):
    reference, hypothesis = files.split()
    result = truebleu_command("score", reference, "-i", hypothesis, *options.split())
    assert result.status == 0
    messages = list_messages(result)
    assert len(messages) == len(expected), messages
    assert all(any(words in message for message in messages) for words in expected), messages


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("-m bleu rouge-l", "--rouge-tokenize intl"),
        ("-m rouge-l", "-tok intl"),
        ("-m bleu rouge-l --rouge-stemmer", "--rouge-stemmer no --rouge-tokenize intl"),
        ("-m bleu rouge-l --rouge-tokenize intl", None),
        ("-m bleu rouge-l -tok intl", None),
        ("-m bleu rouge-l -tok intl --rouge-tokenize rouge", "--rouge-tokenize intl"),
    ],
)
def test_option_changes_only_the_metrics_that_do_not_split(read_json, write, words, option):
    reference = write("ref.fr", ["Où est le café été ici ?", "Le garçon a été très gentil là."])
    system = write("sys.fr", ["Où est ce café été ici ?", "Le garçon est très gentil là hélas."])
    score = ("score", reference, "-i", system, "-f", "json")
    warnings = read_json(*score, *words.split()).get("warnings", ())
    found = [(one["option"], one["metrics"]) for one in warnings if one["kind"] == "unsplit"]
    assert found == ([(option, ["ROUGE-L"])] if option else [])
    if option:
        repaired = json.dumps(read_json(*score, *words.split()[:3], *option.split()))
        assert "unsplit" not in repaired
        assert "tok:intl" in repaired


@pytest.mark.parametrize(
    ("options", "tokenizers"),
    [
        ("-m bleu wer nist -tok char --wer-tokenize 13a -l ja", ["char", "13a", "char"]),
        ("-l ja --bleu-tokenize char", ["char"]),
    ],
)
def test_own_option_overrides_the_shared_tokenizer(language_folder, read_json, options, tokenizers):
    scores = read_json("score", "ref", "-i", "hyp", *options.split(), "-f", "json")["scores"]
    assert [one["tok"] for one in scores] == tokenizers


def test_mixed_chinese_references_give_warning(language_folder, truebleu_command):
    result = truebleu_command("score", "hans", "hant", "-i", "hant", "-tok", "zh")
    assert list_messages(result) == []


def test_json_has_fraction_of_each_script(language_folder, read_json):
    for score in read_json("score", "ref", "-i", "hyp", "-m", "bleu", "chrf")["scores"]:
        assert set(score["scripts"]) == {"kana", "han"}
        # There are 50 characters; the others are punctuation and digits.
        assert 0.5 < score["scripts"]["kana"] < 0.7


def test_latin_text_does_not_import_language_tables(language_folder):
    code = (
        "import sys; from truebleu.cli import main\n"
        "try: main(['score', 'en', '-i', 'en'])\n"
        "except SystemExit: pass\n"
        "assert 'truebleu.text.languages' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# ---- text that the tokenizer does not split ----


@pytest.fixture
def unsplit_files(language_folder, write):
    """Write Japanese references and two systems: one matches half of them, the other none."""
    lines = [f"第{i}日は朝から雨が降っていました。" for i in range(40)]
    poor = [line.replace("雨", "雪") for line in lines]
    write("refs", lines)
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
        ("json", '"systems": [\n  {'),
    ],
)
def test_unsplit_text_warns_in_every_format(unsplit_files, truebleu_command, form, table):
    result = truebleu_command("compare", *unsplit_files, "-f", form)
    text = result.output.replace("&#x27;", "'").replace("\n", " " if form == "text" else "\n")
    assert ADVICE in text
    # The warning is above the table, except in JSON.
    assert form == "json" or text.index(ADVICE) < text.index(table)
    assert (form == "text") == (result.error == "")
    if form == "latex":
        assert result.output.splitlines()[2].startswith("% Warning: WER ")
    if form == "text":
        wer, chrf = result.output.split("WER ↓", 1)[1].split("chrF2 ↑", 1)
        assert ("*" in wer, "*" in chrf) == (False, True)


@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_unsplit_text_warns_outside_of_data(unsplit_files, truebleu_command, form):
    assert ADVICE in truebleu_command("compare", *unsplit_files, "-f", form).error


def test_unsplit_text_has_no_significant_difference(unsplit_files, truebleu_command, read_json):
    content = read_json("compare", *unsplit_files, "-f", "json")
    (warning,) = content["warnings"]
    assert (warning["kind"], warning["metrics"]) == ("unsplit", ["WER"])
    assert (warning["systems"], warning["option"]) == (["good", "poor"], "-tok ja-mecab")
    for system in content["systems"]:
        wer, chrf = (system["scores"][name] for name in ("WER", "chrF2"))
        assert (wer["rank"], wer["cluster"], wer["better_than"]) == (None, None, [])
        assert chrf["rank"] is not None
    by_metric = {pair["metric"]: pair for pair in content["pairs"]}
    assert by_metric["WER"]["p"] < 0.05
    assert by_metric["WER"]["significant"] is None
    assert by_metric["chrF2"]["significant"] is True
    page = truebleu_command("compare", *unsplit_files[:-1], "-f", "html").output
    assert "No system is ranked best: WER cannot split this text into words." in page
    assert "<strong>" not in page


def test_unsplit_text_warns_in_other_commands(unsplit_files, truebleu_command):
    base = ["refs", "-i", "poor", "-m", "wer"]
    for command in (["score", *base], ["check", *base, "--min", "500"], ["segments", *base]):
        result = truebleu_command(*command, "-f", "json")
        assert [entry["metrics"] for entry in json.loads(result.output)["warnings"]] == [["WER"]]
        assert ADVICE in result.error
    result = truebleu_command("check", *base, "--against", "good", "--significant", "-f", "json")
    assert result.status == 3
    assert "cannot compare the outputs" in result.output
    page = truebleu_command("report", *unsplit_files, "-o", "-").output
    assert page.index("Warning: WER does not split") < page.index("<table")


@pytest.mark.parametrize(
    ("words", "signature"),
    [
        ("-m ter", "norm:yes|punct:yes|asian:yes"),
        ("-m ter --ter-asian-support no", "norm:no|punct:yes|asian:no"),
        ("-m wer", "tok:ja-mecab-0.996-IPA"),
        ("-m cer", "measure:cer"),
        ("-m nltk-bleu", "tok:none"),
    ],
)
def test_language_adapts_each_metric(language_folder, read_json, words, signature):
    (score,) = read_json("score", "ref", "-i", "hyp", "-l", "ja", *words.split())["scores"]
    assert signature in score["signature"]
