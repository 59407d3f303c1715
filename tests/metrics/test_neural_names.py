"""Tests of neural metrics without their packages: names, parameters, signatures and errors."""

import importlib.util
import os
import sys

import pytest

import truebleu as tb
from truebleu.cli import main
from truebleu.metrics import neural_metric, registry
from truebleu.metrics.base import MetricFailedError, MetricMissingError
from truebleu.metrics.bertscore import BERTScore
from truebleu.metrics.bleurt import BLEURT
from truebleu.metrics.comet import COMET

NAMES = {"bertscore": BERTScore, "bleurt": BLEURT, "comet": COMET}
PACKAGES = {"bertscore": "bert_score", "bleurt": "bleurt_pytorch", "comet": "comet"}


@pytest.fixture(autouse=True)
def _without_packages_or_models(tmp_path, monkeypatch):
    """Hide the packages, and use an empty hub cache."""
    original_find_spec = importlib.util.find_spec

    def find_spec(name, *arguments):
        return None if name in PACKAGES.values() else original_find_spec(name, *arguments)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(neural_metric, "_USED_FOLDERS", {})


@pytest.fixture
def packages(monkeypatch):
    """Pretend that the packages are installed; tests must not import them."""
    original_find_spec = importlib.util.find_spec

    def find_spec(name, *arguments):
        return original_find_spec("json" if name in PACKAGES.values() else name, *arguments)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Return a folder that looks like a model."""
    place = tmp_path / "models" / "small"
    place.mkdir(parents=True)
    (place / "config.json").write_text('{"num_hidden_layers": 3}')
    (place / "model.safetensors").write_bytes(bytes(range(256)) * 20_000)
    (place / "README.md").write_text("a page")
    return place


@pytest.mark.parametrize("name", NAMES)
def test_name_continues_with_model(name):
    metric = tb.metric(f"{name}:models/small")
    assert type(metric) is NAMES[name]
    assert metric.model == "models/small"
    assert f"{name}:MODEL" in registry.list_metric_names()
    assert (metric.DETERMINISTIC, metric.lower_is_better) == (False, False)
    assert (metric.SCALE, metric.DIGITS, metric.IS_CACHED) == (1.0, 4, True)


def test_bleurt_without_model_uses_default():
    assert tb.metric("bleurt").model == "lucadiliello/BLEURT-20"


@pytest.mark.parametrize("name", ["comet", "bertscore", "comet:", "bertscore: "])
def test_missing_model_name_raises_error(name):
    message = r"expected (comet|bertscore):MODEL, where MODEL is a folder"
    with pytest.raises(ValueError, match=message):
        tb.metric(name)


COMET_ADVICE = (
    "pip install unbabel-comet 'setuptools<81', in a separate environment, because it needs numpy "
    "below 2. Run it there with -m command:COMET='…', or read its scores with truebleu compare "
    "--scores"
)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("BERTScore", "pip install 'truebleu[neural]'"),
        ("BLEURT", "pip install 'truebleu[neural]'"),
        ("COMET", COMET_ADVICE),
    ],
)
def test_missing_package_gives_one_line_error(name, advice):
    with pytest.raises(MetricMissingError) as caught:
        tb.metric(f"{name.lower()}:x").score(["a"], ["b"], ["c"])
    assert str(caught.value) == f"the metric {name} is not installed: {advice}"


def test_missing_package_on_command_line(tmp_path, capsys):
    (tmp_path / "ref").write_text("the cat is on the mat\n")
    (tmp_path / "hyp").write_text("the cat sat on the mat\n")
    words = [str(tmp_path / "ref"), "-i", str(tmp_path / "hyp"), "-m", "bleu", "bertscore:x"]
    assert main(["score", *words, "-f", "json"]) == 1
    out, err = capsys.readouterr()
    assert '"BLEU"' in out
    assert "pip install 'truebleu[neural]'" in err
    assert len(err.strip().splitlines()) == 1
    assert "torch" not in sys.modules


@pytest.mark.parametrize("name", NAMES)
def test_missing_model_raises_error(name, packages, tmp_path):
    def error_message(model):
        with pytest.raises(MetricFailedError) as caught:
            tb.metric(f"{name}:{model}").score(["a"], ["b"], ["c"])
        return str(caught.value)

    prefix = NAMES[name].NAME
    assert error_message("owner/model") == (
        f"{prefix}: model not found: owner/model. Download it with 'hf download owner/model', "
        "or use a folder that contains it."
    )
    assert "with 'hf download owner/model'" in error_message("owner/model@12345678")
    assert error_message(tmp_path / "gone") == f"{prefix}: folder not found: {tmp_path / 'gone'}"
    (tmp_path / "file").write_text("")
    assert error_message(tmp_path / "file").endswith("is a file (expected the folder of the model)")


# ---- signatures ----


def test_signatures_of_missing_models():
    printed = [str(tb.metric(f"{name}:owner/model@12345678")) for name in NAMES]
    assert [text.partition("|agg")[0] for text in printed] == [
        "BERTScore|model:owner/model@12345678|idf:no|rescale:no",
        "BLEURT|model:owner/model@12345678",
        "COMET|model:owner/model@12345678|precision:fp32",
    ]
    for text, cls in zip(printed, NAMES.values(), strict=True):
        assert type(tb.metric(text)) is cls
        assert str(tb.metric(text)) == text


def test_signature_omits_parameters_without_effect_on_scores():
    metric = BERTScore("owner/model", layer=5, idf=True, rescale="en", device="cpu", batch=3)
    assert "|layer:5|idf:yes|rescale:en|" in str(metric)
    assert tb.metric(str(metric)) == metric
    assert "cpu" not in str(metric)
    assert COMET("m", device="cuda:1", batch=2) == COMET("m")
    assert COMET("m") != COMET("n")
    assert COMET("m") != BLEURT("m")


def test_idf_prevents_adding_parts():
    with pytest.raises(ValueError, match="idf computes word weights from all references"):
        tb.Accumulator(BERTScore("m", idf=True))
    assert tb.Accumulator(BERTScore("m"))


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"layer": -1}, {"model": " "}, {"device": ""}])
def test_invalid_parameters_raise_error(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BERTScore(**wrong)


# ---- model revisions ----


def test_revision_depends_on_folder_content(empty_folder, monkeypatch):
    def revision():
        return BLEURT(str(empty_folder)).signature(1)["model"]

    first = revision()
    assert first.startswith("small@")
    assert len(first) == len("small@") + 8
    (empty_folder / "README.md").write_text("another page")
    (empty_folder / ".cache").mkdir()
    (empty_folder / ".cache" / "x.json").write_text("{}")
    assert revision() == first
    (empty_folder / "config.json").write_text('{"num_hidden_layers": 12}')
    second = revision()
    assert second != first
    # A change in a large file is detected in the hashed blocks; a change of size, always.
    weights = (empty_folder / "model.safetensors").read_bytes()
    assert len(weights) > neural_metric.MAX_FULLY_HASHED_BYTES
    (empty_folder / "model.safetensors").write_bytes(weights[:-1] + b"!")
    os.utime(empty_folder / "model.safetensors", ns=(1, 1))  # the test must not depend on the clock
    assert revision() not in (first, second)
    moved = empty_folder.parent / "elsewhere"
    moved.mkdir()
    empty_folder.rename(moved / "small")
    assert BLEURT(str(moved / "small")).signature(1)["model"] not in (first, second)


def test_signature_finds_model(empty_folder, tmp_path, monkeypatch):
    metric = BLEURT(str(empty_folder))
    text = str(metric)
    assert str(tmp_path) not in text
    assert tb.metric(text) == metric
    # As in another process, the folder is searched for, or missing.
    monkeypatch.setattr(neural_metric, "_USED_FOLDERS", {})
    model_name = tb.metric(text).model
    assert neural_metric.find_model(model_name) is None
    monkeypatch.setenv("TRUEBLEU_MODELS", str(empty_folder.parent))
    assert neural_metric.find_model(model_name) == str(empty_folder)
    assert tb.metric("bleurt:small") == metric
    monkeypatch.delenv("TRUEBLEU_MODELS")
    monkeypatch.chdir(empty_folder.parent)
    assert neural_metric.find_model(model_name) == str(empty_folder)
    (empty_folder / "config.json").write_text("{}")
    with pytest.raises(MetricFailedError, match=r"found the model small@\w{8} instead of"):
        neural_metric.find_model(model_name)


def test_models_in_hub_cache(tmp_path):
    snapshots = tmp_path / "hub" / "models--owner--model" / "snapshots"
    (snapshots / "abcdef0123456789").mkdir(parents=True)
    assert neural_metric.find_model("owner/model") is None  # no branch is known
    assert neural_metric.find_model("owner/model@abcd") == str(snapshots / "abcdef0123456789")
    refs = snapshots.parent / "refs"
    refs.mkdir()
    (refs / "main").write_text("abcdef0123456789\n")
    metric = COMET("owner/model")
    assert metric.signature(1)["model"] == "owner/model@abcdef01"
    assert COMET(str(snapshots / "abcdef0123456789")) == metric
    assert tb.metric(str(metric)) == metric


# ---- inputs of COMET models ----


UNIFIED = "class_identifier: unified_metric\ninput_segments:"


@pytest.mark.parametrize(
    ("settings", "source", "references", "bound"),
    [
        ("class_identifier: regression_metric\n", True, "one", None),
        ("class_identifier: referenceless_regression_metric\n", True, "none", None),
        ("class_identifier: xcomet_metric\n", True, "one", 1.0),
        (f"{UNIFIED}\n- mt\n- ref\n", False, "one", None),
        (f"{UNIFIED} [mt, src]\n", True, "none", None),
        (f"{UNIFIED}\n  - mt\n  - src\n  - ref\n", True, "one", None),
    ],
)
def test_comet_settings_determine_inputs(empty_folder, settings, source, references, bound):
    (empty_folder / "hparams.yaml").write_text(f"activations: Tanh\n{settings}loss: mse\n")
    metric = COMET(str(empty_folder))
    assert (metric.NEEDS_SOURCE, metric.REFERENCES, metric.bound) == (source, references, bound)


def test_missing_comet_model_is_assumed_to_read_all_inputs():
    assert (COMET("owner/model").NEEDS_SOURCE, COMET("owner/model").REFERENCES) == (True, "one")


# ---- failures ----


@pytest.mark.parametrize("wrong", range(1, 8))
def test_failing_segment_is_found_by_bisection(wrong):
    requested_ranges = []

    def predict(indices):
        requested_ranges.append(len(indices))
        if wrong - 1 in indices:
            raise ValueError("no\nmore")
        return [0.0] * len(indices)

    with pytest.raises(MetricFailedError, match=rf"^BLEURT: segment {wrong}: ValueError: no$"):
        BLEURT("m")._run_model(7, predict)
    assert sum(requested_ranges) <= 7 + 7 + 3


def test_batch_failure_names_no_segment():
    def predict(indices):
        if len(indices) > 1:
            raise RuntimeError
        return [0.0]

    with pytest.raises(MetricFailedError, match=r"^COMET: RuntimeError$"):
        COMET("m")._run_model(4, predict)
