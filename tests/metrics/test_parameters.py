"""Tests of parameters: constructors check them, signatures have them, all settings score."""

import json
import math
from itertools import product

import pytest

import truebleu as tb
from truebleu import BLEU, CHRF, InputError
from truebleu.metrics import registry
from truebleu.metrics.bleu import ARITHMETICS, SMOOTHING
from truebleu.metrics.codebleu import CodeBLEU
from truebleu.metrics.command_metric import Command
from truebleu.metrics.meteor import METEOR
from truebleu.metrics.nltk_bleu import NLTKBLEU
from truebleu.metrics.python_metric import SegmentMeanMetric

# Arguments that a class needs in addition to the tested parameter.
NEEDED = {Command: {"program": "p {hyp}"}, CodeBLEU: {"language": "java"}}
PARAMETERS = [(cls, p.name) for cls in registry.iterate_metric_classes() for p in cls.PARAMETERS]
VALUES = [
    *(None, True, 0, 1, 2, -1, 3.5, math.nan, math.inf, -math.inf, 1e308, 5e-324),
    *(10**400, 10**22 + 1, object(), int, list),
    *("", " ", "x", "1", "1_0", "٣", "3.10", "a|b", "a:b", "a,b", "a = b", "a%7Cb", "a\nb", b"1"),
    *((), (1,), (1, 2), [math.nan], [1e308, 1e308], [0.25] * 17, [(0.5, 0.5)], [(0.5,), 3]),
    *(["a"], ["a|b", "c:d", "e,f", "g = h", "%2C"], [""], [None], {}, {"a": 1}),
    *("zero", "none", 1 + 0j, range(3)),
]
TEXTS = [("a b", "a c"), ("", ""), ("", "a"), ("a", ""), ("a", "a"), ("a", "b"), ("a b c", "d e f")]


def assert_scores(metric):
    """Assert that a metric has finite scores for text of any length, or raises NLTK's error."""
    for hypothesis, reference in TEXTS:
        sources = ([hypothesis],) if metric.NEEDS_SOURCE else ()
        try:
            score = metric.score([hypothesis], [reference], *sources)
            values = [score.value, *metric.segments([hypothesis], [reference], *sources)]
        except InputError as error:
            if not str(error).removeprefix("segment 1: ").startswith(("NLTK ", "method 6 needs")):
                raise
            continue
        assert all(map(math.isfinite, values)), (metric, hypothesis, reference)
        json.loads(score.to_json())


def create_metric(cls, **parameters):
    """Return the metric, or the error for an invalid parameter."""
    try:
        return cls(**parameters)
    except (ValueError, TypeError) as error:
        return error


def assert_signature_names(metric):
    signature = metric.signature(segment=None)
    for text in (str(metric), f"{metric.name}|{signature.short()}"):
        parsed_metric = tb.metric(text)
        assert (parsed_metric, hash(parsed_metric)) == (metric, hash(metric))


@pytest.mark.parametrize(
    ("cls", "name"), PARAMETERS, ids=lambda value: getattr(value, "NAME", value)
)
def test_any_value_raises_error_or_survives_signature(cls, name):
    scored = not issubclass(cls, SegmentMeanMetric | METEOR)  # these call other programs
    for value in VALUES:
        if callable(value) and name == "tokenize":
            continue  # signatures cannot recreate custom tokenizers
        needed = NEEDED.get(cls, {}) if name != "keywords" else {}
        metric = create_metric(cls, **{**needed, name: value})
        if isinstance(metric, Exception):
            # The document frequencies may be in a file, which does not exist.
            types = (ValueError, TypeError, *([InputError] if name == "df" else []))
            assert type(metric) in types
            assert name in str(metric), (value, metric)
            continue
        assert_signature_names(metric)
        if scored:
            assert_scores(metric)


@pytest.mark.thorough
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_degenerate_text_has_score_in_every_bleu_variant(arithmetic):
    parameters = {p.name: p for p in BLEU.PARAMETERS}
    names = ("missing_order", "no_match", "brevity_penalty")
    for smoothing, *values in product(SMOOTHING, *(parameters[name].meanings for name in names)):
        variant = dict(zip(names, values, strict=True))
        metric = BLEU(arithmetic=arithmetic, smoothing=smoothing, **variant)
        assert_signature_names(metric)
        assert_scores(metric)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:method")
@pytest.mark.parametrize("method", range(8))
def test_degenerate_text_has_score_or_error_in_every_nltk_release(method):
    versions = ("3.2.5", "3.3", "3.4", "3.5", "3.6", "3.6.6", "3.10.4")
    settings = product(versions, (False, True), ("corpus", "segments"), ("corpus", "last-segment"))
    names = ("version", "auto_reweigh", "aggregate", "context")
    for values in settings:
        metric = NLTKBLEU(method=method, **dict(zip(names, values, strict=True)))
        assert_signature_names(metric)
        assert_scores(metric)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:method")
def test_degenerate_text_has_score_for_every_family_member():
    for member in tb.family.values():
        assert member.metric.warnings == ()
        assert_signature_names(member.metric)
        assert_scores(member.metric)


@pytest.mark.parametrize(
    ("metric", "warning"),
    [
        (BLEU(weights=(1, 2)), "the sum of weights is 3, not 1"),
        (NLTKBLEU(weights=[(0.5, 0.5), (1, 1)]), "the sum of weights is 2, not 1"),
        (BLEU(arithmetic="cdec"), "arithmetic cdec ignores smoothing exp"),
        (BLEU(arithmetic="coco", smoothing="none"), "it applies smoothing epsilon"),
        (BLEU(arithmetic="cdec", smoothing="none"), ""),
        (BLEU(weights=(1 / 3,) * 3), ""),
        (CHRF(), ""),
    ],
    ids=str,
)
def test_unusual_parameters_give_score_warning(metric, warning):
    for score in (metric.score(["a b"], ["a c"]), metric.sentence("a b", "a c")):
        assert len(score.warnings) == bool(warning)
        assert warning in "".join(score.warnings)
        assert score.to_dict().get("warnings") == (list(score.warnings) or None)


def test_warning_of_a_score_is_printed_once_unless_quiet(truebleu_command, write, tmp_path):
    texts = write("ref", ["a c"]), "-i", write("one", ["a b"]), write("two", ["a b"])
    words = ("score", *texts, "-m", "bleu", "--weights", "1", "2", "-f", "json")
    done = truebleu_command(*words)
    assert done.error.count("warning: BLEU: the sum of weights is 3, not 1") == 1
    assert all(one["warnings"] for one in json.loads(done.output)["scores"])
    assert truebleu_command(*words, "--quiet").error == ""


def test_name_of_another_metric_does_not_hide_a_command():
    for name in ("BLEU", "chrF2", "WER", "a %7C+b"):
        assert_signature_names(Command(name, "program = {hyp} | a:b"))
