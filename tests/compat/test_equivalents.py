"""Names of other packages: an error names truebleu's equivalent, which exists."""

import re
import subprocess
import sys

import pytest

import truebleu as tb
from truebleu.compat.equivalents import EQUIVALENTS

# Attributes without a dot before them, such as the functions of tb.
CALL = re.compile(r"\btb\.(\w+)")


@pytest.mark.parametrize("name", EQUIVALENTS)
def test_foreign_name_raises_error_with_equivalent(name):
    assert not hasattr(tb, name)
    with pytest.raises(AttributeError, match=f"^truebleu has no '{name}'; use "):
        getattr(tb, name)


def test_import_of_foreign_or_unknown_name_raises_error():
    with pytest.raises(ImportError, match=r"^truebleu has no 'corpus_bleu'; use tb\.bleu\("):
        from truebleu import corpus_bleu  # noqa: F401
    with pytest.raises(ImportError, match=r"^truebleu has no 'hello'$"):
        from truebleu import hello  # noqa: F401
    with pytest.raises(AttributeError, match=r"^truebleu has no 'hello'$"):
        tb.hello  # noqa: B018


@pytest.mark.parametrize("name", EQUIVALENTS)
def test_equivalents_exist(name):
    assert name not in tb.__all__
    assert all(public_name in tb.__all__ for public_name in CALL.findall(str(EQUIVALENTS[name])))


@pytest.mark.parametrize("name", ["corpus_bleu", "corpus_chrf", "corpus_ter", "raw_corpus_bleu"])
def test_error_for_corpus_functions_describes_the_shape_of_references(name):
    with pytest.raises(AttributeError, match=r"one list of strings per segment.*list\(zip\(\*"):
        getattr(tb, name)


def test_every_public_name_of_sacrebleu_has_an_equivalent_or_exists():
    sacrebleu = pytest.importorskip("sacrebleu")
    assert [name for name in sacrebleu.__all__ if name not in {*tb.__all__, *EQUIVALENTS}] == []


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("blue", "did you mean 'bleu'?"),
        ("Bleu", "did you mean 'BLEU'?"),
        ("nist", "did you mean 'NIST'?"),
        ("rougeL", "use tb.metric('rouge-l').score(hypotheses, references)."),
        ("rouge_l", "use tb.metric('rouge-l').score(hypotheses, references)."),
        ("METEOR", "use tb.metric('meteor').score(hypotheses, references)."),
        ("comet", "use tb.metric('comet:MODEL').score(hypotheses, references)."),
        ("google_bleu", "use tb.metric('google-bleu').score(hypotheses, references)."),
    ],
)
def test_name_of_a_metric_or_similar_name_has_a_suggestion(name, advice):
    with pytest.raises(AttributeError, match=re.escape(f"truebleu has no '{name}'; {advice}")):
        getattr(tb, name)
    with pytest.raises(ImportError, match=re.escape(f"truebleu has no '{name}'; {advice}")):
        exec(f"from truebleu import {name}")


def test_import_of_a_submodule_works_before_its_first_use():
    code = "from truebleu import compat, engines; print(compat.__name__, engines.__name__)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert printed.stdout.split() == [b"truebleu.compat", b"truebleu.engines"]


@pytest.mark.parametrize(
    ("name", "equivalent"),
    [
        ("corpus_score", r"\.score\(hypotheses, references\) with one string or list"),
        ("sentence_score", r"\.sentence\(hypothesis, references\)"),
        ("get_signature", r"\.signature\(references=1\)"),
    ],
)
def test_methods_of_sacrebleus_metrics_raise_error_with_equivalent(name, equivalent):
    assert not hasattr(tb.BLEU(), name)
    with pytest.raises(AttributeError, match=f"^BLEU has no attribute '{name}'; use {equivalent}"):
        getattr(tb.BLEU(), name)


def test_error_for_unknown_attribute_of_a_metric_has_no_hint():
    with pytest.raises(AttributeError, match=r"^'CHRF' object has no attribute 'hello'$"):
        tb.CHRF().hello  # noqa: B018
