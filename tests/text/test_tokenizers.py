"""Custom tokenizers: their labels in signatures."""

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
