"""Tests of the Python interface: names, arguments, messages, numbers and signatures."""

import ast
import inspect
import json
import pydoc
import re
import subprocess
import sys

import pytest

import truebleu as tb
from truebleu.metrics import registry

HYPOTHESES, REFERENCES = ["the cat sat on the mat"], [["the cat is on the mat", "a cat sat here"]]
METRICS = [registry.metric(name) for name in registry.METRICS]
CLASSES = list(registry.iterate_metric_classes())
SHORTCUTS = [(tb.bleu, tb.BLEU), (tb.chrf, tb.CHRF), (tb.ter, tb.TER)]

each_metric = pytest.mark.parametrize("metric", METRICS, ids=list(registry.METRICS))
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.NAME)


def run_in_new_process(code: str) -> str:
    """Run code in a new process and return its output."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


# ---- signatures ----


def test_every_signature_can_be_parsed_in_new_process():
    printed = [str(metric) for metric in METRICS]
    code = f"import truebleu\nfor text in {printed!r}: print(truebleu.metric(text))"
    assert run_in_new_process(code).splitlines() == printed


@each_metric
def test_printed_metric_recreates_metric(metric):
    assert str(metric) == f"{metric.name}|{metric.signature(segment=None)}"
    assert registry.metric(str(metric)) == metric


def test_score_signature_has_effective_order():
    """The default differs for corpora and segments, so a metric's own signature omits it."""
    assert str(tb.BLEU()).startswith("BLEU|case:mixed|tok:13a|")
    for metric in (tb.BLEU(), tb.BLEU(effective_order=True), tb.BLEU(effective_order=False)):
        assert tb.metric(str(metric)) == metric
        for segment in (False, True):
            text = str(metric.signature(1, segment=segment))
            effective = segment if metric.effective_order is None else metric.effective_order
            assert f"|eff:{'yes' if effective else 'no'}|" in text
            assert tb.metric(text).effective_order is effective


def test_minus_zero_beta_equals_zero():
    assert str(tb.CHRF(beta=-0.0)) == str(tb.CHRF(beta=0.0))


def test_explicit_default_equals_default():
    assert tb.BLEU(smoothing="floor", smoothing_value=0.1) == tb.BLEU(smoothing="floor")
    assert tb.BLEU(smoothing="floor").smoothing_value == 0.1
    assert tb.BLEU(max_order=4) == tb.BLEU()


# ---- the public names ----


def test_dir_lists_the_public_names():
    printed_names = run_in_new_process("import truebleu; print(*dir(truebleu))").split()
    assert printed_names == sorted(tb.__all__)
    names = "compare explain report mbr Accumulator which family IBLEU NIST GLEU document_bleu"
    assert {*names.split(), "mean_document_bleu", "ngrams"} <= {*printed_names}


def test_type_checkers_see_public_names():
    (block,) = (node for node in ast.parse(inspect.getsource(tb)).body if isinstance(node, ast.If))
    imported = [(node.module, name) for node in block.body for name in node.names]
    assert all(name.name == name.asname for _, name in imported)
    assert {name.name: module for module, name in imported} == {
        name: f"truebleu.{module}" for name, module in tb.PUBLIC.items()
    }


@pytest.mark.parametrize("name", tb.PUBLIC)
def test_help_shows_arguments(name):
    """No public name is a module, and `help` shows the arguments of each."""
    public = getattr(tb, name)
    assert not inspect.ismodule(public)
    help_text = pydoc.plain(pydoc.render_doc(public))
    assert inspect.getdoc(public)
    if inspect.isfunction(public):
        parameters = list(inspect.signature(public).parameters)
        assert parameters
        assert all(parameter in help_text for parameter in parameters)
        assert help_text.splitlines()[0].endswith(f"{name} in module {public.__module__}")


# ---- explicit parameters ----


# Names of metrics that continue after a colon, by class.
WITH_TEXT = {
    "BERTScore": "bertscore:models/small",
    "BLEURT": "bleurt:models/small",
    "COMET": "comet:models/small",
    "Command": "command:words=count {hyp}",
}


@each_class
def test_constructor_signature_equals_declarations(cls):
    """The constructor's signature, for editors and type checkers, equals the declarations."""
    signature_parameters = dict(inspect.signature(cls).parameters)
    assert list(signature_parameters) == [parameter.name for parameter in cls.PARAMETERS]
    for parameter in cls.PARAMETERS:
        assert signature_parameters[parameter.name].default == parameter.default
    name = next((name for name in registry.METRICS if registry.get_metric_class(name) is cls), None)
    metric = registry.metric(name or WITH_TEXT[cls.__name__])
    assert metric.parameters.keys() == signature_parameters.keys()


@each_class
def test_docstring_names_every_parameter(cls):
    for parameter in cls.PARAMETERS:
        assert f"\n    {parameter.name}: {parameter.python_help}." in cls.__doc__


@pytest.mark.parametrize(("function", "cls"), SHORTCUTS, ids=["bleu", "chrf", "ter"])
def test_function_parameters_equal_metric_parameters(function, cls):
    function_parameters = dict(inspect.signature(function).parameters)
    for name in ("hypotheses", "references", "workers", "check_text"):
        del function_parameters[name]
    declared = inspect.signature(cls).parameters
    assert list(function_parameters) == list(declared)
    for name, parameter in function_parameters.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        # The default is the number of weights.
        expected = None if name == "max_order" else declared[name].default
        assert parameter.default == expected


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (tb.BLEU, "smooth_method", "it is called 'smoothing' here"),
        (tb.BLEU, "smooth_value", "it is called 'smoothing_value' here"),
        (tb.BLEU, "max_ngram_order", "it is called 'max_order' here"),
        (tb.BLEU, "use_effective_order", "it is called 'effective_order' here"),
        (tb.BLEU, "smoothing_function", "it is called 'smoothing' here"),
        (tb.BLEU, "auto_reweigh", "it is called 'effective_order' here"),
        (tb.BLEU, "smoothin", "did you mean 'smoothing'?"),
        (tb.BLEU, "lower_case", "it is called 'lowercase' here"),
        (tb.CHRF, "n_char_order", "it is called 'char_order' here"),
        (tb.CHRF, "max_len", "it is called 'char_order' here"),
        (tb.CHRF, "word_orders", "did you mean 'word_order'?"),
        (tb.BLEU, "order", "it is called 'max_order' here"),
        (tb.BLEU, "n", "it is called 'max_order' here"),
        (tb.BLEU, "lc", "it is called 'lowercase' here"),
        (tb.BLEU, "trg_lang", "use tokenize=tb.language('zh').tokenizer"),
        (tb.BLEU, "n_jobs", "use the argument `workers` of tb.bleu and of methods"),
        (tb.BLEU, "force", "use check_text=False in tb.bleu"),
        (tb.BLEU, "references", "use a method: .score(hypotheses, references)"),
        (tb.NLTKBLEU, "smoothing_function", "it is called 'method' here"),
        (tb.GLEU, "min_len", "it is called 'min_order' here"),
        (tb.CodeBLEU, "lang", "it is called 'language' here"),
        (tb.CHRF, "tokenize", "chrF compares characters and does not use a tokenizer"),
        (tb.CHRF, "max_order", "Use char_order or word_order"),
        (tb.CHRF, "normalize", "it is called 'unicode_form' here"),
        (tb.TER, "lowercase", "TER ignores case. Use case_sensitive"),
        (tb.TER, "tokenize", "Use normalized, no_punct or asian_support"),
        (tb.TER, "normalize", "use normalized (split off punctuation) or unicode_form (convert"),
        (tb.TER, "ignore_punct", "it is called 'no_punct' here"),
        (tb.TER, "support_zh_ja_chars", "it is called 'asian_support' here"),
        (tb.NIST, "max_orders", "did you mean 'max_order'?"),
    ],
)
def test_unknown_keyword_suggests_similar_name(make, arguments, message):
    """Keywords are names in sacreBLEU, NLTK and other programs, and typing errors."""
    with pytest.raises(TypeError, match=f"no parameter '{arguments}'.*{re.escape(message)}"):
        make(**{arguments: 1})


@pytest.mark.parametrize(
    ("call", "error", "advice"),
    [
        (lambda: tb.bleu(predictions=["a"], references=["a"]), TypeError, "called 'hypotheses' he"),
        (
            lambda: tb.BLEU().score(predictions=["a"]),
            TypeError,
            r"BLEU.score\(\) has no parameter ",
        ),
        (lambda: tb.GLEU().segments(["a"], refs=["a"]), TypeError, "called 'references' here"),
        (lambda: tb.metric("wer").score(["a"], target=["a"]), TypeError, "called 'references' he"),
        (lambda: tb.family["nmt"].score(hyps=["a"]), TypeError, "called 'hypotheses' here"),
        (lambda: tb.bleu(["a"], refs=["a"]), TypeError, "called 'references' here"),
        (lambda: tb.bleu(["a"]), TypeError, "takes hypotheses and references"),
        (lambda: tb.bleu(["a"], ["a"], "intl"), TypeError, "Pass other arguments by name"),
        (lambda: tb.bleu("a", "a"), TypeError, r"Pass a list of strings \(\[text\] for"),
        (lambda: tb.bleu({"A": ["a"]}, ["a"]), TypeError, r"compare\(systems, references\)"),
        (lambda: tb.BLEU(["a"], ["a"]), TypeError, r"BLEU\(\).score\(hypotheses, references\)"),
        (lambda: tb.CHRF(["a"], ["a"]), TypeError, r"CHRF\(\).score\(hypotheses, references\)"),
        (lambda: tb.BLEU(smoothing="method1"), ValueError, r"tb.NLTKBLEU\(method=1\)"),
        (lambda: tb.BLEU(lowercase=None), ValueError, "available: False, True, ascii, after"),
        (lambda: tb.bleu([[["a"]]], [["a"]]), tb.InputError, "Hypotheses come first"),
        (lambda: tb.bleu([["a"], ["b"]], ["a", "b"]), tb.InputError, "Hypotheses come first"),
        (lambda: tb.chrf(["a", "b"], [["a", "b"]] * 3), tb.InputError, "3 streams of 2"),
        (lambda: tb.compare(["a"], {"A": ["a"]}), TypeError, "The systems come first"),
        (lambda: tb.report(["a"], {"A": ["a"]}), TypeError, "The systems come first"),
        (lambda: tb.which(["a"], ["a"], 27.3), TypeError, "The score comes first"),
        (lambda: tb.meta_evaluate({"B": tb.BLEU()}, {"a": 1}), TypeError, "Human scores come fi"),
        (lambda: tb.bleu([["a"]], [[["a"]]]), tb.InputError, "require tokenize='none'"),
        (lambda: tb.bleu(["a", "b"], [["a", "b"]]), tb.InputError, r"list\(zip\(\*streams\)\)"),
        (lambda: tb.ngrams("a b", "a c"), TypeError, r"& ngrams\(other_text, n\)"),
        (lambda: tb.tokenize(["a b"]), TypeError, "one at a time"),
        (lambda: tb.document_bleu(["a"], ["a"], 1), TypeError, "expected a sequence of keys"),
        (lambda: tb.compare([["a"]], ["a"]), TypeError, r'\{"A": hypotheses_of_a'),
        (lambda: tb.compare({"A": ["a"]}, ["a"], metric="ter"), TypeError, "called 'metrics' here"),
        (lambda: tb.check(["a"], ["a"], threshold=9), TypeError, "called 'minimum' here"),
        (lambda: tb.BLEU().compute(), AttributeError, r"use \.score\(hypotheses, references\)"),
        (lambda: tb.BLEU().add_batch(), AttributeError, r"tb.Accumulator\(metric\).update\("),
        (lambda: tb.Accumulator().add_batch(), AttributeError, r"use \.update\(hypotheses, ref"),
        (lambda: tb.bleu(["a"], ["a"])["score"], TypeError, r"Use \.value or \.to_dict\(\)"),
    ],
)
@pytest.mark.filterwarnings("ignore::truebleu.TextWarning")
def test_habit_from_other_package_raises_error_with_remedy(call, error, advice):
    with pytest.raises(error, match=advice):
        call()


@pytest.mark.parametrize(("function", "cls"), SHORTCUTS, ids=["bleu", "chrf", "ter"])
def test_unknown_keyword_of_function_suggests_similar_name(function, cls):
    hint = ": TER ignores case" if cls is tb.TER else "; it is called 'lowercase' here"
    with pytest.raises(TypeError, match=f"{cls.__name__} has no parameter 'lower_case'{hint}"):
        function(HYPOTHESES, REFERENCES, lower_case=True)
    with pytest.raises(TypeError, match="no parameter 'unicode_from'; did you mean 'unicode_form'"):
        function(HYPOTHESES, REFERENCES, unicode_from="nfc")


def test_weights_determine_max_order():
    assert tb.BLEU(weights=(1,)).max_order == 1
    assert round(float(tb.bleu(["a b"], ["a c"], weights=(1,))), 6) == 50
    assert tb.BLEU(weights=[0.5, 0.5]) == tb.BLEU(weights=(0.5, 0.5), max_order=2)
    with pytest.raises(ValueError, match="1 weights for 4 orders"):
        tb.BLEU(weights=(1,), max_order=4)


@pytest.mark.parametrize("weights", [5, "1", 0.25])
def test_weights_must_be_sequence(weights):
    with pytest.raises(TypeError, match=r"weights=.*: expected a sequence of numbers"):
        tb.BLEU(weights=weights)


# ---- scores as numbers ----


@pytest.fixture
def score():
    return tb.bleu(HYPOTHESES, REFERENCES)


def test_score_converts_to_number(score):
    value = score.value
    assert float(score) == value
    assert round(score, 2) == round(value, 2)
    assert f"{score:.2f}" == f"{value:.2f}"
    assert f"{score}" == str(score) == score.format()
    assert json.loads(json.dumps(score.to_dict()))["score"] == value


def test_score_compares_with_numbers(score):
    value = score.value
    assert value - 1 < score < value + 1
    assert value <= score <= value
    assert score == value
    assert score != value + 1


def test_scores_with_equal_signature_compare(score):
    worse = tb.bleu(["the cat"], REFERENCES)
    assert max([worse, score]) is score
    assert sorted([score, worse]) == [worse, score]


def test_scores_with_different_signatures_raise_error(score):
    international_score = tb.bleu(HYPOTHESES, REFERENCES, tokenize="intl")
    for compare in (score.__lt__, score.__le__, score.__gt__, score.__ge__):
        with pytest.raises(TypeError, match=r"different signatures.*tok:13a.*tok:intl"):
            compare(international_score)
    assert score != international_score
    with pytest.raises(TypeError, match="not supported between"):
        score < "27.3"  # noqa: B015


@pytest.mark.parametrize(
    ("function", "sacrebleu_name", "truebleu_name"),
    [
        (tb.bleu, "score", "value"),
        (tb.bleu, "bp", "brevity_penalty"),
        (tb.bleu, "sys_len", "hypothesis_length"),
        (tb.bleu, "ref_len", "reference_length"),
        (tb.bleu, "counts", "matches"),
        (tb.chrf, "score", "value"),
        (tb.ter, "score", "value"),
        (tb.ter, "num_edits", "edits"),
        (tb.ter, "ref_length", "reference_length"),
    ],
)
def test_sacrebleu_attribute_suggests_truebleu_attribute(function, sacrebleu_name, truebleu_name):
    score = function(HYPOTHESES, REFERENCES)
    message = f"no attribute '{sacrebleu_name}'; use .{truebleu_name}"
    with pytest.raises(AttributeError, match=message):
        getattr(score, sacrebleu_name)
    getattr(score, truebleu_name)


def test_unknown_attribute_has_no_hint():
    with pytest.raises(AttributeError, match=r"CHRFScore has no attribute 'bp'$"):
        tb.chrf(HYPOTHESES, REFERENCES).bp  # noqa: B018


# ---- tables and metrics ----


def test_statistics_columns_by_name():
    table = tb.BLEU().statistics(["a b", "c"], ["a c", "c"])
    assert table["matches_1"] == table.column("matches_1") == [1, 1]
    with pytest.raises(KeyError, match=r"no column 'matches_5' .expected one of hypothesis_length"):
        table["matches_5"]


@each_metric
def test_dir_of_metric_lists_methods_and_parameters(metric):
    names = dir(metric)
    assert {"score", "sentence", "segments", "matrix", "statistics", "signature"} <= {*names}
    assert {*metric.parameters} <= {*names}
    assert not [name for name in names if name.startswith("_")]
    for name in names:
        getattr(metric, name)


@pytest.mark.parametrize("cls", [tb.BLEU, tb.Score, tb.BLEU.SCORE])
def test_help_and_completion_hide_names_of_other_packages(cls):
    assert [name for name in dir(cls) if not hasattr(cls, name)] == []
    assert "_ForeignName" not in pydoc.render_doc(cls)


@pytest.mark.parametrize(
    ("function", "keyword", "message"),
    [
        (tb.BLEU().matrix, "refs", "BLEU.matrix() has no parameter 'refs'; it is called 'ref"),
        (tb.BLEU().top_k, "n", "BLEU.top_k() has no parameter 'n'; available: hypotheses, "),
        (tb.BLEU().triangle, "text", "BLEU.triangle() has no parameter 'text'; did you mean 'te"),
        (tb.BLEU().expected, "weight", "BLEU.expected() has no parameter 'weight'; did you me"),
        (tb.mbr, "metric", "mbr() has no parameter 'metric'; available: candidates, "),
        (tb.explain, "metrics", "explain() has no parameter 'metrics'; did you mean 'metric'?"),
        (tb.which, "num_workers", "which() has no parameter 'num_workers'; it is called 'workers'"),
        (tb.tokenize, "lower", "tokenize() has no parameter 'lower'; did you mean 'lowercase'?"),
        (tb.token_ids, "padding", "token_ids() has no parameter 'padding'; available: values"),
        (tb.self_bleu, "samples", "self_bleu() has no parameter 'samples'; did you mean 'sample'"),
        (tb.resegment, "documnts", "resegment() has no parameter 'documnts'; did you mean 'docu"),
    ],
)
def test_unknown_keyword_of_a_function_names_the_known_ones(function, keyword, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        function(HYPOTHESES, **{keyword: 1})


def test_counts_of_one_are_singular():
    accumulator = tb.Accumulator()
    accumulator.update(["a"], ["b"])
    table = tb.BLEU().statistics(["a"], ["b"])
    assert str(accumulator).endswith(": 1 segment>")
    assert "1 segment ×" in table._repr_html_()
    assert str(tb.BLEU().triangle(["a", "b"])).startswith("Triangle(2 texts, 1 pair,")


def test_dir_of_a_score_lists_each_name_once():
    names = dir(tb.metric("rouge-l").score(HYPOTHESES, REFERENCES))
    assert len(names) == len({*names})
    assert "recall" in names


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("p", r"use \.best_p or"),
        ("p_value", r"use \.best_p or"),
        ("systems", r"use list\(comparison\)"),
        ("scores", r"use comparison\[SYSTEM\]"),
        ("zzz", "'zzz'$"),
    ],
)
def test_guessed_attribute_of_comparison_names_its_equivalent(name, hint):
    systems = {"a": ["x y"] * 4, "b": ["x z"] * 4}
    comparison = tb.compare(systems, ["x y"] * 4, samples=9, confidence=None, check_text=False)
    with pytest.raises(AttributeError, match=rf"Comparison has no attribute .*{hint}|{hint}"):
        getattr(comparison, name)


@pytest.mark.parametrize(("function", "cls"), SHORTCUTS, ids=["bleu", "chrf", "ter"])
def test_help_of_function_describes_all_parameters(function, cls):
    described = re.findall(r"^    (\w+): ", function.__doc__, re.MULTILINE)
    assert {*inspect.signature(function).parameters} == {*described}
    assert "a string or a sequence of strings" in function.__doc__
    # Before the example, also in Python 3.13 and later, where docstrings have no indentation.
    for docstring in (function.__doc__, cls.__doc__):
        assert docstring.index("    unicode_form: ") < docstring.index(">>> ")
        assert not re.search(r"^ +$", docstring.rstrip(), re.MULTILINE)
