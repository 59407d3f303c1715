"""Tests of signatures: printing, parsing, and compatibility with sacreBLEU."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given
from strategies import corpora, oracle, parameters, streams

import truebleu
from truebleu import BLEU, Signature

DEFAULT = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
VERSION_FIELD = f"|by:truebleu-{truebleu.__version__}"


# Printing.


@pytest.mark.parametrize(
    ("metric", "text", "short"),
    [
        (
            BLEU(),
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
            "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0",
        ),
        (
            BLEU("intl", lowercase=True, smoothing="floor", effective_order=True),
            "nrefs:1|case:lc|eff:yes|tok:intl|smooth:floor[0.10]|version:2.6.0",
            "#:1|c:lc|e:yes|tok:intl|s:floor[0.10]|v:2.6.0",
        ),
        (
            BLEU("zh", smoothing="add-k", smoothing_value=0.125, max_order=6),
            "nrefs:1|case:mixed|eff:no|tok:zh|smooth:add-k[0.12]|order:6|value:0.125|version:2.6.0",
            "#:1|c:mixed|e:no|tok:zh|s:add-k[0.12]|ord:6|val:0.125|v:2.6.0",
        ),
        (
            BLEU("char", smoothing="none", max_order=2, weights=(0.5, 0.5)),
            "nrefs:1|case:mixed|eff:no|tok:char|smooth:none|order:2|weights:0.5,0.5|version:2.6.0",
            "#:1|c:mixed|e:no|tok:char|s:none|ord:2|wt:0.5,0.5|v:2.6.0",
        ),
    ],
    ids=["default", "renamed", "more", "weights"],
)
def test_printed_signature(metric, text, short):
    signature = metric.signature(1)
    assert str(signature) == text + VERSION_FIELD
    assert signature.short().startswith(short)


def test_fields_by_name():
    signature = BLEU("intl").signature(2)
    assert (signature["tok"], signature["nrefs"], signature["version"]) == ("intl", "2", "2.6.0")
    assert "case" in signature
    assert next(iter(signature)) == "nrefs"
    with pytest.raises(KeyError):
        signature["bs"]


@given(corpora(max_segments=2), parameters())
def test_signature_equals_sacrebleu(corpus, parameters):
    """Signatures are equal except for fields of settings that only truebleu has."""
    sacrebleu = oracle(**parameters)
    sacrebleu.corpus_score(corpus[0], streams(corpus[1]))
    expected = sacrebleu.get_signature()
    score = BLEU(**parameters).score(corpus[0], [tuple(refs) for refs in corpus[1]])
    truebleu_fields = [f for f in ("order", "weights", "value", "by") if f in score.signature]
    fields = str(score.signature).split("|")
    assert [f for f in fields if f.split(":")[0] not in truebleu_fields] == expected.format().split(
        "|"
    )
    fields = score.signature.short().split("|")
    assert [f for f in fields if f.split(":")[0] not in ("ord", "wt", "val", "by", "b")] == (
        expected.format(short=True).split("|")
    )


# Parsing.


@given(parameters(), st.none() | st.just("var") | st.integers(1, 9), st.booleans())
def test_parsed_signature_recreates_metric(parameters, references, segment):
    metric = BLEU(**parameters)
    signature = metric.signature(references, segment=segment)
    assert Signature.parse(str(signature)) == signature
    effective = parameters["effective_order"]
    expected_metric = BLEU(
        **parameters | {"effective_order": segment if effective is None else effective}
    )
    for text in (str(signature), signature.short(), f"BLEU|{signature} = 27.3"):
        parsed = truebleu.metric(text)
        assert parsed.signature(references, segment=segment) == signature
        assert parsed.signature(references) == expected_metric.signature(references)
        assert Signature.parse(text).metric() == parsed


@given(parameters())
def test_sacrebleu_output_is_parsed(parameters):
    """SacreBLEU's long and short output is parsed with and without the score."""
    parameters = parameters | {"max_order": 4}
    if (value := parameters["smoothing_value"]) is not None:
        # sacreBLEU prints two digits of the value.
        parameters["smoothing_value"] = float(f"{value:.2f}")
    sacrebleu = oracle(**parameters)
    score = sacrebleu.corpus_score(["a b c d e"], [["a b c e d"]])
    signature = sacrebleu.get_signature()
    for text in (signature.format(), signature.format(short=True)):
        for printed in (text, f"BLEU|{text}", score.format(signature=text), f" {text}\n"):
            parsed_score = truebleu.metric(printed).score(["a b c d e"], ["a b c e d"])
            assert parsed_score.value == score.score
            assert str(parsed_score.signature).startswith(signature.format().split("|version")[0])


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("BLEU", BLEU()),
        (f"{DEFAULT}|by:truebleu-0.1.0", BLEU()),
        (f"Signature: {DEFAULT}", BLEU()),
        (f"sacreBLEU signature: {DEFAULT}", BLEU()),
        (f"BLEU|{DEFAULT} = 35.3 (μ = 35.5 ± 6.3) 71.7/46.7/27.8/16.8 (BP = 1.000)", BLEU()),
        ("nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.0.0", BLEU()),
        (
            "nrefs:2|test:wmt20|lang:en-zh|case:lc|eff:yes|tok:zh|smooth:add-k[0.50]|version:2.3.1",
            BLEU(
                "zh", lowercase=True, smoothing="add-k", smoothing_value=0.5, effective_order=True
            ),
        ),
        ("BLEU+case.mixed+numrefs.1+smooth.exp+tok.13a+version.1.4.14", BLEU()),
        ("BLEU+c.mixed+#.1+s.exp+tok.13a+v.1.4.14", BLEU()),
        (
            "BLEU+case.lc+lang.en-de+numrefs.1+smooth.exp+test.wmt18+tok.intl+version.1.2.20",
            BLEU("intl", lowercase=True),
        ),
        (
            "BLEU+case.mixed+lang.en-zh+numrefs.2+smooth.none+test.wmt20+tok.zh+version.1.4.13",
            BLEU("zh", smoothing="none"),
        ),
        (
            "BLEU+case.mixed+numrefs.1+smooth.floor+tok.char+version.1.3.6 = 32.1 60.1/40.2",
            BLEU("char", smoothing="floor"),
        ),
    ],
)
def test_pasted_text_is_parsed(text, metric):
    assert truebleu.metric(text).signature(1) == metric.signature(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "signature"),
        ("27.3", r"27\.3"),
        (DEFAULT.replace("13a", "13b"), "13b.*13a"),
        (DEFAULT.replace("mixed", "upper"), "upper"),
        (DEFAULT.replace("eff:no", "eff:maybe"), "maybe"),
        (DEFAULT.replace("exp", "exq"), "exq.*exp"),
        (DEFAULT.replace("exp", "floor[x]"), r"floor\[x\]"),
        (DEFAULT.replace("13a", "mine.split"), "custom tokenizer"),
        (DEFAULT.replace("13a", "some.split@5.4.0"), r"tok:some.split@5.4.0 is a custom tokenizer"),
        (DEFAULT.replace("eff:no", "colour:red"), "colour"),
    ],
)
def test_invalid_signature_raises_error(text, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        truebleu.metric(text)


@given(st.text("nrefs:1|case+.tok13a#= []BLEU", max_size=40))
def test_arbitrary_text_raises_value_error(text):
    try:
        metric = truebleu.metric(text)
    except ValueError:
        return
    assert truebleu.metric(str(metric.signature(1))).signature(1) == metric.signature(1)


def test_signature_with_callable_tokenizer_cannot_be_parsed():
    def shout(text):
        return text.upper().split()

    signature = BLEU(tokenize=shout).signature(1)
    assert "shout" in signature["tok"]
    with pytest.raises(ValueError, match="shout"):
        truebleu.metric(str(signature))


def test_signatures_compare_by_value():
    assert BLEU().signature(1) == BLEU().signature(1) != BLEU().signature(2)
    assert hash(BLEU().signature(1)) == hash(BLEU().signature(1))


def test_version_equals_tested_sacrebleu():
    """The field `version` has the sacreBLEU release that these tests compare with."""
    sacrebleu = oracle()
    sacrebleu.corpus_score(["a"], [["a"]])
    assert BLEU().signature(1)["version"] == sacrebleu.get_signature().info["version"]


def test_more_than_two_plus_signs_need_a_signature():
    with pytest.raises(ValueError, match=r"unknown metric 'chrf\+\+\+'; did you mean 'chrf\+\+'\?"):
        truebleu.metric("chrf+++")
    metric = truebleu.CHRF(word_order=3)
    assert truebleu.metric(str(metric)) == metric


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        *((name, "flores200") for name in ("spBLEU", "sp-bleu", "f200spBLEU", "flores200")),
        *(("spbleu101", "flores101"), ("spBLEU-1K", "spBLEU-1K"), ("13a", "13a")),
    ],
)
def test_bleu_with_tokenizer_is_suggested_for_names_of_spbleu_and_tokenizers(name, tokenizer):
    remedy = f"-m bleu -tok {tokenizer} (in Python, metric('bleu', tokenize='{tokenizer}'))"
    for lookup in (truebleu.metric, truebleu.family.__getitem__):
        with pytest.raises(ValueError, match=re.escape(remedy)):
            lookup(name)


def test_spbleu_as_tokenizer_names_its_tokenizer():
    with pytest.raises(ValueError, match="tokenizer of spBLEU is called 'flores200'"):
        truebleu.BLEU("spBLEU")
