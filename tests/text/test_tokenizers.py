"""Custom tokenizers and their labels in signatures; n-grams of tokens."""

import subprocess
import sys
from importlib import metadata

import pytest

import truebleu as tb
from truebleu.text import tokenizers


def split_words(text):
    return text.split()


def test_package_function_has_version():
    nltk = pytest.importorskip("nltk")
    version = metadata.version("nltk")
    name = tokenizers.format_signature_label(nltk.word_tokenize)
    assert name == f"nltk.tokenize.word_tokenize@{version}"
    assert f"|tok:{name}|" in str(tb.BLEU(tokenize=nltk.word_tokenize).signature(1))


def test_package_with_other_distribution_name_has_version():
    pytest.importorskip("_pytest")
    from _pytest.pathlib import fnmatch_ex

    version = metadata.version("pytest")
    assert tokenizers.format_signature_label(fnmatch_ex) == f"_pytest.pathlib.fnmatch_ex@{version}"


def test_standard_library_and_user_files_have_no_version():
    import shlex

    assert tokenizers.format_signature_label(shlex.split) == "shlex.split"
    assert tokenizers.format_signature_label(str.split) == "builtins.str.split"
    assert tokenizers.format_signature_label(split_words) == f"{__name__}.split_words"


def test_script_function_reads_no_metadata():
    code = (
        "import sys, truebleu as tb\n"
        "def split(text): return text.split()\n"
        "print(tb.BLEU(tokenize=split).signature(1))\n"
        "assert 'importlib.metadata' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "|tok:__main__.split|" in done.stdout


def test_ngrams_are_counted_with_the_default_tokenizer_of_bleu():
    counts = tb.ngrams("A cat, a cat.", 2)
    assert counts == {("A", "cat"): 1, ("cat", ","): 1, (",", "a"): 1, ("a", "cat"): 1} | {
        ("cat", "."): 1
    }
    assert tb.ngrams("A cat, a cat.", 2, tokenize="none", lowercase=True)["a", "cat."] == 1


def test_ngrams_of_tokens_and_characters_are_counted_unchanged():
    assert tb.ngrams(["a b", "c,"], 1) == {("a b",): 1, ("c,",): 1}
    assert tb.ngrams(list("aba"), 1) == {("a",): 2, ("b",): 1}


def test_text_shorter_than_order_has_no_ngrams():
    assert tb.ngrams("one two", 3).total() == tb.ngrams("", 1).total() == 0


def test_intersection_of_ngrams_contains_the_matches_of_bleu():
    hypothesis, reference = "the the the cat sat.", "the cat, the cat sat"
    score = tb.BLEU().sentence(hypothesis, reference)
    for order, (matches, total) in enumerate(zip(score.matches, score.totals, strict=True), 1):
        counts = tb.ngrams(hypothesis, order)
        assert (counts & tb.ngrams(reference, order)).total() == matches
        assert counts.total() == total


@pytest.mark.parametrize("text", [b"bytes", 1, None, ["a", 1], {"a"}])
def test_ngrams_of_other_types_are_an_error(text):
    with pytest.raises(TypeError, match=r"^text: expected a str or a list of tokens, found "):
        tb.ngrams(text, 1)


@pytest.mark.parametrize(("text", "n", "option"), [("a", 0, "n=0"), (["A"], 1, "lowercase")])
def test_ngrams_reject_ineffective_parameters(text, n, option):
    with pytest.raises(ValueError, match=f"^{option}"):
        tb.ngrams(text, n, lowercase=True)
