"""sacreBLEU with the accelerator: identical results, counted by the kernel."""

import copy
import logging
import multiprocessing
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sacrebleu
from fork_server import ForkServer
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import base, bleu, chrf, ter
from sacrebleu.significance import PairedTest

import truebleu
import truebleu.compat
from truebleu.compat import sacrebleu_kernel as counting

WORDS = "the cat sat on a mat . , Über 3.5 &amp; 中文 x-y don't".split()  # noqa: SIM905
PATCHED = (
    (base.Metric, "_extract_corpus_statistics"),
    (base.Metric, "_cache_references"),
    *((sys.modules["sacrebleu.significance"], f"_{name}") for name in
      ("bootstrap_resample", "paired_bs_test", "paired_ar_test")),
)  # fmt: skip
BEFORE = [getattr(*place) for place in PATCHED]


@pytest.fixture(autouse=True)
def restore():
    truebleu.compat.uninstall("sacrebleu")
    yield
    truebleu.compat.uninstall("sacrebleu")
    assert [getattr(*place) for place in PATCHED] == BEFORE


@pytest.fixture
def kernel_calls(monkeypatch):
    """Return the number of corpora that the kernel counted."""
    calls = []
    original = counting.compute_statistics

    def compute_statistics(*args):
        rows = original(*args)
        calls.append(rows is not None)
        return rows

    monkeypatch.setattr(counting, "compute_statistics", compute_statistics)
    return calls


def make_corpus(size, references=1, systems=3, seed=0):
    dice = random.Random(seed)

    def line():
        return " ".join(dice.choices(WORDS, k=dice.randrange(12)))

    refs = [[line() for _ in range(size)] for _ in range(references)]
    hyps = [[dice.choice([ref, line()]) for ref in refs[0]] for _ in range(systems)]
    return hyps, refs


def describe(call):
    """Return a result or an error as text that shows values and types."""
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - errors must be equal, too
        return repr(error)
    return repr((result, vars(result) if hasattr(result, "__dict__") else None))


def check_equal_results(call, kernel_calls=None, *, expected_calls=None):
    """Assert that a call gives equal results before and after the installation."""
    expected = describe(call)
    truebleu.compat.install("sacrebleu")
    before = len(kernel_calls or ())
    assert describe(call) == expected
    if expected_calls is not None:
        assert (len(kernel_calls) > before and all(kernel_calls)) is expected_calls
    return expected


METRICS = [
    *((sacrebleu.BLEU, {"tokenize": name, "smooth_method": smoothing, "lowercase": lower})
      for name in ("13a", "intl", "zh", "char", "none")
      for smoothing, lower in (("exp", False), ("floor", True), ("add-k", False), ("none", True))),
    *((sacrebleu.CHRF, options) for options in
      ({}, {"word_order": 2, "lowercase": True}, {"whitespace": True, "eps_smoothing": True})),
    *((sacrebleu.TER, options) for options in
      ({}, {"normalized": True, "asian_support": True}, {"no_punct": True, "case_sensitive": 1})),
]  # fmt: skip


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("size", [1, 40])
@pytest.mark.parametrize(("cls", "options"), METRICS)
def test_kernel_counts_every_metric_with_equal_scores(kernel_calls, cls, options, size, references):
    hyps, refs = make_corpus(size, references)

    def scores():
        cached_metric = cls(**options, references=refs)
        metric = cls(**options)
        results = [metric.corpus_score(hyps[0], refs), cached_metric.corpus_score(hyps[1], None)]
        results.append(metric.sentence_score(hyps[0][0], [ref[0] for ref in refs]))
        results += [metric._extract_corpus_statistics(hyps[2], refs), cached_metric._ref_cache[:2]]
        return *map(describe, [lambda each=each: each for each in results]), metric.get_signature()

    check_equal_results(scores, kernel_calls, expected_calls=True)
    assert len(kernel_calls) == 4


@pytest.mark.parametrize("test", ["bs", "ar"])
@pytest.mark.parametrize(("cls", "options"), METRICS[::3])
def test_kernel_resamples_with_equal_results(monkeypatch, cls, options, test):
    hyps, refs = make_corpus(30, 2)
    names = ("_bootstrap_resample", "_paired_bs_test", "_paired_ar_test")

    def results():
        metric = cls(**options)
        arguments = {"test_type": test, "n_samples": 60, "n_ar_confidence": 40}
        signatures, scores = PairedTest(
            list(zip("abc", hyps, strict=True)), {"m": metric}, refs, **arguments
        )()
        results_list = [describe(lambda: metric.corpus_score(hyps[0], refs, n_bootstrap=30))]
        results_list += [[vars(each) for each in rows if not isinstance(each, str)]
                  for rows in scores.values()]  # fmt: skip
        return results_list, signatures

    expected = describe(results)
    truebleu.compat.install("sacrebleu")
    module = sys.modules["sacrebleu.significance"]
    for name in names:
        for cell in getattr(module, name).__closure__:
            if cell.cell_contents in BEFORE:  # the original
                cell.cell_contents = None
    assert describe(results) == expected


class Shouting(sacrebleu.BLEU):
    def _preprocess_segment(self, sent):
        return super()._preprocess_segment(sent).upper()


class Twice(sacrebleu.CHRF):
    def _preprocess_segment(self, sent):
        return sent + sent


class Cut(sacrebleu.TER):
    def _preprocess_segment(self, sent):
        return sent[1:]


def with_own_tokenizer(metric):
    metric.tokenizer = lambda line: line.replace("a", " a\u3000")
    return metric


@pytest.mark.parametrize(
    "make",
    [Shouting, Twice, Cut, lambda: with_own_tokenizer(sacrebleu.BLEU()),
     lambda: with_own_tokenizer(sacrebleu.TER())],
)  # fmt: skip
def test_own_tokenizer_is_called_and_kernel_counts(kernel_calls, make):
    hyps, refs = make_corpus(30, 2)
    check_equal_results(
        lambda: make()._extract_corpus_statistics(hyps[0], refs), kernel_calls, expected_calls=True
    )


COUNTING = [
    *((cls, name) for cls in (sacrebleu.BLEU, sacrebleu.CHRF, sacrebleu.TER)
      for name in ("_extract_reference_info", "_compute_segment_statistics")),
    (sacrebleu.BLEU, "_get_closest_ref_len"),
    *((sacrebleu.CHRF, name) for name in
      ("_get_match_statistics", "_remove_punctuation", "_compute_f_score")),
]  # fmt: skip


@pytest.mark.parametrize("how", ["subclass", "object", "class"])
@pytest.mark.parametrize(("cls", "name"), COUNTING)
def test_replaced_method_is_called_and_kernel_is_not(kernel_calls, monkeypatch, cls, name, how):
    hyps, refs = make_corpus(10, 2)
    original = vars(cls)[name]
    function = getattr(original, "__func__", original)
    calls = []

    def replaced(*args):
        calls.append(args)
        return function(*args)

    replacement = staticmethod(replaced) if isinstance(original, staticmethod) else replaced
    truebleu.compat.install("sacrebleu")
    options = {"word_order": 1} if cls is sacrebleu.CHRF else {}
    metric = type("Own", (cls,), {name: replacement} if how == "subclass" else {})(**options)
    expected = cls(**options)._extract_corpus_statistics(hyps[0], refs)
    if how == "object":
        setattr(metric, name, replacement.__get__(metric))
    elif how == "class":
        monkeypatch.setattr(cls, name, replacement)
    kernel_calls.clear()
    assert metric._extract_corpus_statistics(hyps[0], refs) == expected
    assert calls
    assert not kernel_calls


@pytest.mark.parametrize(
    ("module", "name", "make"),
    [
        (bleu, "extract_all_word_ngrams", sacrebleu.BLEU),
        (chrf, "extract_all_char_ngrams", sacrebleu.CHRF),
        (chrf, "extract_word_ngrams", lambda: sacrebleu.CHRF(word_order=2)),
        (ter, "translation_edit_rate", sacrebleu.TER),
    ],
)
def test_replaced_helper_is_called_and_kernel_is_not(kernel_calls, monkeypatch, module, name, make):
    hyps, refs = make_corpus(10)
    original, calls = getattr(module, name), []
    truebleu.compat.install("sacrebleu")
    monkeypatch.setattr(module, name, lambda *args: calls.append(args) or original(*args))
    make()._extract_corpus_statistics(hyps[0], refs)
    assert calls
    assert not kernel_calls


def test_changed_attributes_change_the_count(kernel_calls):
    hyps, refs = make_corpus(20)

    def scores():
        metric = sacrebleu.BLEU(references=refs)
        metric.max_ngram_order = 2
        changed = describe(lambda: metric._extract_corpus_statistics(hyps[0], None))
        punctuation = sacrebleu.CHRF(word_order=1)
        punctuation._PUNCTS = set()
        return changed, describe(lambda: punctuation.corpus_score(hyps[0], refs))

    check_equal_results(scores, kernel_calls, expected_calls=False)


UNUSUAL = {
    "none": lambda m: m.corpus_score(["a"], [[None]]),
    "no line": lambda m: m.corpus_score([], []),
    "none hypothesis": lambda m: m.corpus_score(["a", None], [["a", "b"]]),
    "number": lambda m: m.corpus_score(["a", 3], [["a", "b"]]),
    "bytes": lambda m: m.corpus_score(["a", "b"], [["a", b"b"]]),
    "tokens": lambda m: m.corpus_score(["a", ["b"]], [["a", ["b"]]]),
    "one string": lambda m: m.corpus_score("abc", ["abd"]),
    "unequal": lambda m: m.corpus_score(["a b", "c"], [["a b", "c", "d"], ["a"]]),
    "iterators": lambda m: m._extract_corpus_statistics(iter(["a b"]), iter([iter(["a b"])])),
    "arrays": lambda m: m._extract_corpus_statistics(np.array(["a b"]), np.array([["a c"]])),
    "array strings": lambda m: m.corpus_score(list(np.array(["a b"])), [list(np.array(["a c"]))]),
    "surrogate": lambda m: m.corpus_score(["a \ud800", "b"], [["a \udfff", "b"]]),
    "no references": lambda m: m.corpus_score(["a"], None),
    "17 references": lambda m: m._extract_corpus_statistics(["a b c"], [["a b"]] * 17),
    "tokenized": lambda m: m.corpus_score(["a ."] * 100, [["a ."] * 120]),
}  # fmt: skip


@pytest.mark.parametrize("unusual", UNUSUAL)
@pytest.mark.parametrize(
    "make",
    [sacrebleu.BLEU, sacrebleu.CHRF, sacrebleu.TER, lambda: sacrebleu.BLEU(max_ngram_order=17),
     lambda: sacrebleu.BLEU(max_ngram_order=2.0), lambda: sacrebleu.CHRF(0),
     lambda: sacrebleu.CHRF(beta="x")],
)  # fmt: skip
def test_unusual_input_gives_original_result_and_messages(caplog, monkeypatch, make, unusual):
    monkeypatch.setattr(logging.getLogger("sacrebleu"), "propagate", True)

    def results():
        caplog.clear()
        return describe(lambda: UNUSUAL[unusual](make())), caplog.messages

    check_equal_results(results)


@pytest.mark.parametrize("error", counting.REFUSALS)
@pytest.mark.parametrize("place", ["compute_statistics", "_resample_sums", "_to_exact_table"])
def test_kernel_error_gives_original_result(monkeypatch, place, error):
    hyps, refs = make_corpus(20)

    def results():
        pair_results = []
        for test in ("bs", "ar"):
            systems = list(zip("abc", hyps, strict=True))
            _, scores = PairedTest(systems, {"m": sacrebleu.TER()}, refs, test, 20)()
            pair_results.append([vars(each) for each in scores["TER"]])
        return pair_results, describe(lambda: sacrebleu.BLEU().corpus_score(hyps[0], refs, 20))

    def fail(*_):
        raise error("refused")

    expected = describe(results)
    truebleu.compat.install("sacrebleu")
    monkeypatch.setattr(counting, place, fail)
    assert describe(results) == expected


def test_metric_is_copied_and_pickled_with_its_references(tmp_path):
    hyps, refs = make_corpus(20)
    truebleu.compat.install("sacrebleu")
    metric = sacrebleu.BLEU(references=refs)
    expected = describe(lambda: metric.corpus_score(hyps[0], None))
    for metric_copy in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert describe(lambda other=metric_copy: other.corpus_score(hyps[0], None)) == expected
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # not installed there
        assert repr(pool.apply(metric.corpus_score, (hyps[0], None))) in expected
    with ThreadPoolExecutor(4) as threads:
        scores = threads.map(
            lambda _: describe(lambda: metric.corpus_score(hyps[0], None)), [0] * 8
        )
        assert set(scores) == {expected}


def test_installing_twice_and_uninstalling_restores_all_functions():
    score = sacrebleu.corpus_bleu
    truebleu.compat.install("sacrebleu")
    truebleu.compat.install("sacrebleu")
    assert all(getattr(*place) is not value for place, value in zip(PATCHED, BEFORE, strict=True))
    assert sacrebleu.corpus_bleu is score
    truebleu.compat.uninstall("sacrebleu")
    assert all(getattr(*place) is value for place, value in zip(PATCHED, BEFORE, strict=True))


def test_unknown_release_warns_once_and_patches_nothing(monkeypatch, recwarn):
    monkeypatch.setattr(sacrebleu, "__version__", "2.7.0")
    monkeypatch.setattr(truebleu.compat, "_warned", set())
    with pytest.warns(UserWarning, match=r"sacreBLEU 2\.7\.0 .* it runs without acceleration"):
        truebleu.compat.install("sacrebleu")
    truebleu.compat.install("sacrebleu")
    assert not recwarn.list
    assert [getattr(*place) for place in PATCHED] == BEFORE


def test_unknown_package_is_a_value_error():
    with pytest.raises(ValueError, match="unknown package 'sacrebleau'; did you mean 'sacrebleu'"):
        truebleu.compat.install("sacrebleau")


def run_interpreter(code):
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, check=False)


def test_missing_sacrebleu_names_the_extra():
    hide = "import sys; sys.modules['sacrebleu'] = None\n"
    done = run_interpreter(["-c", f"{hide}import truebleu.compat as c; c.install('sacrebleu')"])
    assert "ImportError: sacreBLEU is not installed" in done.stderr
    assert "pip install 'truebleu[sacrebleu]'" in done.stderr
    run = f"{hide}import runpy; runpy.run_module('truebleu.compat.sacrebleu', run_name='__main__')"
    done = run_interpreter(["-c", run])
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_module_hands_out_names_without_numpy_or_submodules():
    done = run_interpreter(["-c", """
import sys
import truebleu.compat.sacrebleu as module
assert "numpy" not in sys.modules
import sacrebleu
assert module.corpus_bleu is sacrebleu.corpus_bleu and module.__version__ == sacrebleu.__version__
assert module.corpus_bleu(["a b c d"], [["a b c d"]]).score > 99
assert "numpy" not in sys.modules and not hasattr(module, "__path__")
import sacrebleu.significance as significance
assert hasattr(significance._paired_ar_test, "__wrapped__")
from truebleu.compat.sacrebleu import *
assert BLEU is sacrebleu.BLEU
"""])  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_sacrebleu_imports_portalocker_and_tabulate_at_first_use():
    done = run_interpreter(["-c", """
import sys
import truebleu.compat.sacrebleu
import sacrebleu.utils
assert not {"portalocker", "tabulate"} & sys.modules.keys()
assert sacrebleu.utils.tabulate([["a", 1]], headers=["b", "c"]).startswith("b      c\\n")
assert "tabulate" in sys.modules
assert sacrebleu.utils.portalocker.Lock.__module__ == "portalocker.utils"
import portalocker
assert sacrebleu.utils.portalocker.Lock is portalocker.Lock
"""])  # fmt: skip
    assert done.returncode == 0, done.stderr


# Modules that sacreBLEU imports lazily.
LAZY_MODULES = (
    "sacrebleu.significance",
    *(f"sacrebleu.tokenizers.tokenizer_{name}" for name in ("13a", "zh", "intl", "char", "none")),
)


@pytest.fixture(scope="module")
def commands():
    modules = ("sacrebleu.sacrebleu", "truebleu.compat.sacrebleu")
    servers = [ForkServer(name, (name, *LAZY_MODULES)) for name in modules]
    yield servers
    for server in servers:
        server.close()


OPTIONS = st.lists(
    st.sampled_from([
        ("-m", "bleu", "chrf", "ter"), ("-m", "chrf"), ("-m", "ter"), ("--tokenize", "intl"),
        ("--tokenize", "zh"), ("--tokenize", "char"), ("-lc",), ("-f", "text"), ("-f", "latex"),
        ("--smooth-method", "floor"), ("-sl",), ("--confidence", "--confidence-n", "20"),
        ("--paired-bs", "--paired-bs-n", "30"), ("--paired-ar", "--paired-ar-n", "30"),
        ("--chrf-word-order", "2"), ("--chrf-char-order", "0"), ("--ter-normalized",), ("-b",),
        ("-w", "5"), ("-sh",), ("--force",), ("--paired-jobs", "2"), ("--frobnicate",), ("-d",),
    ]),
    max_size=4,
)  # fmt: skip


@settings(max_examples=max(40, settings().max_examples))
@given(
    size=st.sampled_from([1, 2, 10, 120]),
    references=st.integers(1, 3),
    systems=st.integers(1, 3),
    options=OPTIONS,
    seed=st.integers(0, 9),
)
def test_command_prints_the_same_bytes(
    commands, tmp_path_factory, size, references, systems, options, seed
):
    folder = tmp_path_factory.mktemp("command")
    hyps, refs = make_corpus(size, references, systems, seed)
    names = {f"ref{i}": lines for i, lines in enumerate(refs)}
    outputs = {f"hyp{i}": lines for i, lines in enumerate(hyps)}
    for name, lines in (names | outputs).items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    words = [*names, "-i", *outputs, *(word for option in options for word in option)]
    expected, actual = (command.run(words, b"", folder) for command in commands)
    assert (actual.returncode, actual.stdout) == (expected.returncode, expected.stdout)
    assert without_frames(actual.stderr) == without_frames(expected.stderr)


def without_frames(error):
    """Return the lines without traceback locations, sorted because workers log in any order."""
    return sorted(line for line in error.splitlines() if not line.startswith((b"  ", b"Traceback")))
