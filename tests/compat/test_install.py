"""truebleu.compat.install: other packages' names give truebleu's modules, in one process.

Each test is a process of its own, with warnings as errors.
"""

import subprocess
import sys
import textwrap
from importlib.util import find_spec

import pytest

MODULES = ("bleu_score", "gleu_score", "nist_score", "chrf_score")
needs_sacrebleu = pytest.mark.skipif(
    find_spec("truebleu.compat.sacrebleu") is None, reason="no truebleu.compat.sacrebleu here"
)


def run(script: str) -> str:
    """The output of a fresh Python."""
    start = "import sys, truebleu.compat as compat\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", start + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- NLTK: four of its modules ----


def test_nltk_after_an_installation():
    run("""
        compat.install("nltk")
        import nltk
        import nltk.translate
        import truebleu.compat.nltk as own
        for name in ("bleu_score", "gleu_score", "nist_score", "chrf_score"):
            module = sys.modules[f"nltk.translate.{name}"]
            assert module is getattr(own, name) is getattr(nltk.translate, name)
            assert module.__name__ == module.__spec__.name == f"truebleu.compat.nltk.{name}"
        # The names that NLTK itself imports from them are truebleu's too.
        assert nltk.translate.bleu is own.sentence_bleu is nltk.bleu
        assert nltk.translate.gleu is own.sentence_gleu
        assert nltk.translate.nist is own.sentence_nist
        assert nltk.translate.chrf is own.sentence_chrf
        # The rest is NLTK's.
        assert nltk.translate.meteor.__module__ == "nltk.translate.meteor_score"
        assert nltk.translate.__name__ == "nltk.translate"
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
        method = SmoothingFunction().method1
        assert 0 < sentence_bleu([["a", "b"]], ["a", "c"], smoothing_function=method) < 1
    """)


def test_an_original_that_is_there_already_is_an_error():
    run("""
        import nltk.translate.bleu_score
        try:
            compat.install("nltk")
        except RuntimeError as error:
            assert "nltk.translate.bleu_score is imported already" in str(error), error
            assert "replace=True" in str(error), error
        else:
            raise AssertionError("no error")
        assert nltk.translate.bleu_score.__name__ == "nltk.translate.bleu_score"
        assert not any(type(finder).__module__ == "truebleu.compat" for finder in sys.meta_path)
    """)


def test_an_original_is_replaced_on_request_and_comes_back():
    run("""
        import nltk
        from nltk.translate import bleu_score as original
        from nltk.translate.bleu_score import sentence_bleu as taken
        compat.install("nltk", replace=True)
        from nltk.translate import bleu_score
        import truebleu.compat.nltk as own
        assert bleu_score is own.bleu_score is sys.modules["nltk.translate.bleu_score"]
        assert nltk.translate.bleu is nltk.bleu is own.sentence_bleu
        assert nltk.bleu_score is own.bleu_score
        assert taken is original.sentence_bleu
        compat.uninstall("nltk")
        from nltk.translate import bleu_score
        assert bleu_score is original is nltk.bleu_score
        assert nltk.translate.bleu is nltk.bleu is taken
        assert not any(type(finder).__module__ == "truebleu.compat" for finder in sys.meta_path)
    """)


def test_uninstalling_gives_originals_that_were_never_imported():
    run("""
        compat.install("nltk")
        from nltk.translate import bleu
        assert bleu.__module__ == "truebleu.compat.nltk.bleu_score"
        compat.uninstall("nltk")
        import nltk
        from nltk.translate.bleu_score import sentence_bleu
        assert sentence_bleu.__module__ == "nltk.translate.bleu_score"
        assert nltk.translate.bleu is nltk.bleu is sentence_bleu
        assert nltk.translate.chrf.__module__ == "nltk.translate.chrf_score"
    """)


def test_installing_and_uninstalling_again_does_nothing():
    run("""
        before = list(sys.meta_path)
        compat.uninstall("nltk")
        compat.install("nltk")
        compat.install("nltk")
        import nltk.translate.gleu_score
        compat.install("nltk")
        assert len(sys.meta_path) == len(before) + 1
        compat.uninstall("nltk")
        compat.uninstall("nltk")
        assert sys.meta_path == before
    """)


def test_an_unknown_name():
    run("""
        for function in (compat.install, compat.uninstall):
            try:
                function("sacreblue")
            except ValueError as error:
                assert "did you mean 'sacrebleu'? There are sacrebleu, nltk" in str(error), error
            else:
                raise AssertionError("no error")
    """)


def test_installing_imports_nothing():
    assert (
        run("""
        before = set(sys.modules)
        compat.install("sacrebleu")
        compat.install("nltk")
        print(sorted(set(sys.modules) - before))
    """)
        == "[]\n"
    )


# ---- sacreBLEU: all of it ----


@needs_sacrebleu
def test_sacrebleu_with_all_its_modules():
    run("""
        compat.install("sacrebleu")
        import sacrebleu
        import sacrebleu.metrics.bleu
        from sacrebleu.metrics import BLEU
        import truebleu.compat.sacrebleu as own
        assert sacrebleu is own
        assert sacrebleu.metrics.bleu is sys.modules["truebleu.compat.sacrebleu.metrics.bleu"]
        assert sacrebleu.metrics.bleu is sys.modules["sacrebleu.metrics.bleu"]
        assert sacrebleu.metrics.bleu.BLEU is BLEU is own.BLEU
        assert own.__spec__.name == own.__name__ == "truebleu.compat.sacrebleu"
        assert sacrebleu.corpus_bleu(["a b c d"], [["a b c d"]]).score > 99.9
    """)


@needs_sacrebleu
def test_sacrebleus_modules_are_imported_when_they_are_asked_for():
    run("""
        import importlib, importlib.util
        compat.install("sacrebleu")
        assert importlib.util.find_spec("sacrebleu").name == "sacrebleu"
        assert "truebleu.compat.sacrebleu" not in sys.modules
        import sacrebleu
        for name in ("utils", "significance", "tokenizers.tokenizer_13a", "metrics.lib_ter"):
            module = importlib.import_module(f"sacrebleu.{name}")
            assert module.__name__ == f"truebleu.compat.sacrebleu.{name}"
        try:
            import sacrebleu.nothing
        except ModuleNotFoundError as error:
            assert "sacrebleu.nothing" in str(error)
        else:
            raise AssertionError("no error")
        assert importlib.reload(sacrebleu.utils) is sacrebleu.utils
    """)


@needs_sacrebleu
def test_an_original_sacrebleu_is_replaced_on_request_and_comes_back():
    run("""
        import sacrebleu as original
        from sacrebleu.metrics.bleu import BLEU
        try:
            compat.install("sacrebleu")
        except RuntimeError as error:
            assert "sacrebleu is imported already" in str(error), error
        else:
            raise AssertionError("no error")
        compat.install("sacrebleu", replace=True)
        import sacrebleu
        import sacrebleu.metrics.bleu
        assert sacrebleu is not original
        assert sacrebleu.metrics.bleu.BLEU is not BLEU
        compat.uninstall("sacrebleu")
        import sacrebleu
        import sacrebleu.metrics.bleu
        assert sacrebleu is original
        assert sacrebleu.metrics.bleu.BLEU is BLEU
    """)


@needs_sacrebleu
def test_the_command_runs_in_the_process():
    assert "2.6.0" in run("""
        import runpy
        compat.install("sacrebleu")
        sys.argv = ["sacrebleu", "--version"]
        runpy.run_module("sacrebleu", run_name="__main__", alter_sys=True)
    """)
