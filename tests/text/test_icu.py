"""ICU's words, which depend on its release."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebleu as tb
from truebleu import InputError
from truebleu.text import icu, tokenizers

icu4py = pytest.importorskip("icu4py")
breakers = pytest.importorskip("icu4py.breakers")

THAI = "เช้าวันนั้นฝนตกหนัก 3.5 km!"
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:{}|smooth:exp|version:2.6.0"


def test_thai_is_split_into_words():
    assert tb.tokenize("เช้าวันนั้น 3.5 km!", "icu:th") == ["เช้า", "วัน", "นั้น", "3.5", "km", "!"]


def test_a_score_and_its_signature():
    metric = tb.BLEU(tokenize="icu:th")
    score = metric.score([THAI], [THAI.replace("นั้น", "นี้")])
    assert 0 < score.value < 100
    assert f"tok:icu-{icu4py.icu_version}-th|" in str(score.signature)
    assert tb.metric(str(score.signature)).tokenize == "icu:th"


@pytest.mark.parametrize(
    ("tok", "message"),
    [
        ("icu-1.2-th", r"requires ICU 1\.2, but ICU .* is installed.*tokenize='icu:th'"),
        ("icu-", "requires ICU"),
    ],
)
def test_label_of_other_icu_release_is_refused(tok, message):
    with pytest.raises(ValueError, match=message):
        tb.metric(SIGNATURE.format(tok))


@pytest.mark.parametrize("name", ["icu:", "icu:!", "icu:a b", "icu:th|x"])
def test_invalid_locale_is_refused(name):
    with pytest.raises(InputError, match="invalid locale"):
        tb.bleu(["a"], ["a"], tokenize=name)


def test_missing_icu_names_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py", None)
    message = r"icu:th is not installed: pip install 'truebleu\[icu\]'"
    with pytest.raises(ImportError, match=message):
        tb.tokenize(THAI, "icu:th")
    with pytest.raises(ValueError, match="pip install"):
        icu.parse_signature_label("icu-78.1-th")


@given(st.text())
def test_any_text_is_split(text):
    words = tokenizers.get_tokenizer_function("icu:km")(text)
    assert "".join("".join(words).split()) == "".join(
        "".join(breakers.WordBreaker(text, "km")).split()
    )


def test_lone_surrogates_are_accepted():
    assert tb.tokenize("\ud800 a", "icu:th") == ["\ufffd", "a"]
