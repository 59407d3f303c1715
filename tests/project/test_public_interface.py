"""The Python interface: what the prompt shows for each result, and the order of arguments."""

import inspect
from importlib import import_module

import pytest

import truebleu as tb
from truebleu import cli
from truebleu.metrics import registry

HYPOTHESES = ["the cat is on a mat", "nobody were here"] * 10
REFERENCES = ["the cat is on the mat", "nobody was there"] * 10
GRADES = {"a": 1, "b": 2}
SYSTEMS = {"good": REFERENCES[:1] + HYPOTHESES[1:], "poor": HYPOTHESES}


def make_accumulator():
    total = tb.Accumulator()
    total.update(HYPOTHESES, REFERENCES)
    return total


# Calls, each with a text that their results show at the prompt.
RESULTS = {
    "bleu": (lambda: tb.bleu(HYPOTHESES, REFERENCES), "BLEU = 44.18 "),
    "sentence": (lambda: tb.CHRF().sentence("a b", "a c"), "chrF2 = "),
    "segments": (lambda: tb.BLEU().segments(HYPOTHESES, REFERENCES), "53.73"),
    "matrix": (lambda: tb.BLEU().matrix(HYPOTHESES[:2], REFERENCES[:2]), "53.73"),
    "triangle": (lambda: tb.CHRF().triangle(REFERENCES[:2]), "Triangle(2 texts, 1 pair,"),
    "statistics": (lambda: tb.BLEU().statistics(["a"], ["a"]), "Statistics(1 segment x 10 columns"),
    "compare": (lambda: tb.compare(SYSTEMS, REFERENCES, samples=20), "\nB  poor "),
    "report": (lambda: tb.report(SYSTEMS, REFERENCES, samples=20), "\nB  poor "),
    "check": (lambda: tb.check(HYPOTHESES, REFERENCES, minimum=90), "below the minimum of 90"),
    "explain": (lambda: tb.explain("a cat", "a cat sat"), "Hypothesis, 2 tokens"),
    "meta_evaluate": (lambda: tb.meta_evaluate(GRADES, {"BLEU": GRADES}), "BLEU "),
    "mbr": (lambda: tb.mbr(["a cat sat", "a cat", "a dog sat"]), "'a cat"),
    "which": (lambda: tb.which(53.73, HYPOTHESES[:1], REFERENCES[:1]), "sacrebleu"),
    "family": (lambda: tb.family, "mteval-v13a"),
    "family.score": (lambda: tb.family.score(HYPOTHESES, REFERENCES), "\nsacrebleu "),
    "distinct_n": (lambda: tb.distinct_n(HYPOTHESES), "distinct-2 = "),
    "language": (lambda: tb.language("ja"), "<Japanese (ja, jpn): tokenizer ja-mecab, "),
    "Accumulator": (make_accumulator, "20 segments"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_prompt_shows_the_answer_in_80_columns(name):
    call, answer = RESULTS[name]
    text = repr(call())
    assert answer in text
    assert " object at 0x" not in text
    assert "\x1b" not in text
    # Signatures and the details of BLEU cannot be broken.
    lines = [line for line in text.splitlines() if "|" not in line and "hyp_len" not in line]
    assert [line for line in lines if len(line) > 80] == []
    assert text == text.strip("\n")


def test_history_shows_scores_at_the_prompt(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text("")
    assert repr(tb.history(path)) == tb.history(path).text(80).rstrip("\n")


# ---- order of arguments ----

# Parameters that name hypotheses, or systems with their hypotheses.
HYPOTHESIS_NAMES = ("hypothesis", "hypotheses", "systems", "candidates", "texts", "predictions")
REFERENCE_NAMES = ("reference", "references")
# Modules with public functions in addition to the names of `truebleu`.
FUNCTION_MODULES = ("engines.duckdb", "engines.polars", "engines.spark", "engines.ray")


def list_public_functions():
    """Yield the public functions and methods with their qualified names."""
    modules = [import_module(f"truebleu.{name}") for name in FUNCTION_MODULES]
    objects = {f"tb.{name}": getattr(tb, name) for name in tb.PUBLIC}
    objects |= {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", "").startswith("truebleu")
    }
    for name, value in objects.items():
        if inspect.isfunction(value):
            yield name, value
        if inspect.isclass(value):
            for member, function in inspect.getmembers(value, inspect.isfunction):
                if member[0] != "_" or member == "__init__":
                    yield f"{name}.{member}", function


def test_hypotheses_precede_references_in_every_public_signature():
    checked = 0
    for name, function in list_public_functions():
        parameters = list(inspect.signature(function).parameters)
        hypotheses = [parameters.index(one) for one in HYPOTHESIS_NAMES if one in parameters]
        references = [parameters.index(one) for one in REFERENCE_NAMES if one in parameters]
        if hypotheses and references:
            checked += 1
            assert max(hypotheses) < min(references), name
    assert checked > 40


def test_metrics_of_every_class_take_the_hypotheses_first():
    for metric_class in registry.iterate_metric_classes():
        for name in ("score", "segments", "statistics", "sentence", "matrix", "expected", "top_k"):
            parameters = list(inspect.signature(getattr(metric_class, name)).parameters)
            assert parameters[1:3] in (["hypotheses", "references"], ["hypothesis", "references"])


# Positional arguments of commands that are not files of texts.
OTHER_POSITIONAL = {
    "family": {"action"},
    "testset": {"action", "names"},
    "history": {"log"},
    "cite": {"results"},
    "completion": {"shell"},
}


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_references_are_the_only_positional_files_of_commands(command):
    groups = import_module(f"truebleu.cli.{command}").COMMAND.groups([command])
    flags = [option.flags for group in groups for option in group.options]
    positional = {names[0] for names in flags if names[0][0] != "-"}
    assert positional <= {"references"} | OTHER_POSITIONAL.get(command, set())
    if "references" in positional:
        assert ["-i", "--input"] in map(list, flags)
