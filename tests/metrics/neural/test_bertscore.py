"""Tests of BERTScore, compared with bert-score for a model with random weights."""

import json
import subprocess
import sys

import pytest
from bert_score import BERTScorer
from small_text import HYPOTHESES, REFERENCES, SECOND_REFERENCES

import truebleu as tb
from truebleu.cli import main
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.bertscore import BERTScore

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages warn of each other

REFERENCE_PAIRS = [list(pair) for pair in zip(REFERENCES, SECOND_REFERENCES, strict=True)]


@pytest.fixture(scope="module")
def model_folder(encoder):
    return str(encoder("small-bert"))


@pytest.fixture
def metric(model_folder):
    return tb.metric(f"bertscore:{model_folder}")


def score_with_package(model_folder, hypotheses, references, **parameters):
    """Return the package's F, precision and recall of each segment."""
    layer = parameters.pop("layer", 2)
    scorer = BERTScorer(model_folder, num_layers=layer, device="cpu", nthreads=0, **parameters)
    if scorer.idf:
        reference_lists = ([other] if isinstance(other, str) else other for other in references)
        scorer.compute_idf([other for others in reference_lists for other in others])
    precision, recall, f1 = scorer.score(hypotheses, references)
    return list(zip(f1.tolist(), precision.tolist(), recall.tolist(), strict=True)), scorer.hash


def read_numbers(metric, hypotheses, references):
    """Return each number of each segment from the statistics."""
    table = metric.statistics(hypotheses, references)
    scores = [metric.from_statistics(row) for row in table.tolist()]
    assert list(metric.segments(hypotheses, references)) == [s.value for s in scores]
    return [(s.value, s.details()["precision"], s.details()["recall"]) for s in scores]


@pytest.mark.parametrize(
    "parameters", [{}, {"layer": 1}, {"idf": True}, {"layer": 1, "idf": True}], ids=str
)
@pytest.mark.parametrize("references", [REFERENCES, REFERENCE_PAIRS], ids=["one", "two"])
def test_numbers_equal_package(model_folder, metric, parameters, references):
    expected, _ = score_with_package(model_folder, HYPOTHESES, references, **parameters)
    assert read_numbers(metric.with_parameters(**parameters), HYPOTHESES, references) == expected


def test_score_is_mean_of_segments(model_folder, metric):
    expected, _ = score_with_package(model_folder, HYPOTHESES, REFERENCES)
    score = metric.score(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(sum(f1 for f1, _, _ in expected) / 4, abs=1e-15)
    assert score.details()["segments"] == 4


def test_empty_hypothesis_scores_0(model_folder, metric):
    hypotheses = ["", *HYPOTHESES[1:]]
    expected, _ = score_with_package(model_folder, hypotheses, REFERENCES)
    assert expected[0] == (0.0, 0.0, 0.0)
    assert read_numbers(metric, hypotheses, REFERENCES) == expected


def test_baseline_rescales_scores(model_folder, metric, tmp_path, monkeypatch):
    """bert-score only has baselines for published models, so the test adds a baseline."""
    from truebleu.metrics import bertscore

    package = tmp_path / "package" / "rescale_baseline" / "en"
    package.mkdir(parents=True)
    baseline = package / "small-bert.tsv"
    baseline.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n2,0.3,0.31,0.32\n")
    version, layers, _ = bertscore._read_bert_score_package()
    monkeypatch.setattr(
        bertscore, "_read_bert_score_package", lambda: (version, layers, str(tmp_path / "package"))
    )
    words = {"lang": "en", "rescale_with_baseline": True, "baseline_path": str(baseline)}
    expected, _ = score_with_package(model_folder, HYPOTHESES, REFERENCES, **words)
    assert read_numbers(metric.with_parameters(rescale="en"), HYPOTHESES, REFERENCES) == expected
    with pytest.raises(MetricFailedError, match="no baseline for small-bert in 'de'"):
        metric.with_parameters(rescale="de").score(HYPOTHESES, REFERENCES)


def test_signature_has_contents_of_bert_score_hash(model_folder, metric):
    _, package_hash = score_with_package(model_folder, HYPOTHESES, REFERENCES)
    signature = metric.signature(1)
    model = signature["model"].partition("@")[0]
    assert model == "small-bert"
    expected = f"{model_folder}_L{signature['layer']}_no-idf_version={signature['version']}"
    assert package_hash == expected
    assert signature["by"] == "bert-score-0.3.13"


def test_signature_is_parsed_and_independent_of_machine(model_folder, metric):
    text = str(metric)
    assert "/" not in text.partition("|by:")[0]
    assert tb.metric(text) == metric
    parsed_metric = tb.metric(text)
    assert hash(parsed_metric) == hash(metric)
    assert parsed_metric.score(HYPOTHESES, REFERENCES) == metric.score(HYPOTHESES, REFERENCES)
    assert metric.with_parameters(device="cpu", batch=2) == metric
    assert metric.with_parameters(layer=1) != metric
    assert metric.with_parameters(layer=2) == metric


def test_signature_is_parsed_in_process_with_model_folder(model_folder, metric, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_MODELS", model_folder.rpartition("/")[0])
    code = f"import truebleu; print(truebleu.metric({str(metric)!r}).signature(1)['model'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == metric.signature(1)["model"]


def test_other_weights_change_revision(encoder, metric, monkeypatch, tmp_path):
    other_folder = encoder("small-bert", seed=2)
    assert tb.metric(f"bertscore:{other_folder}") != metric
    revision = metric.signature(1)["model"].partition("@")[2]
    monkeypatch.chdir(other_folder.parent)
    with pytest.raises(MetricFailedError, match="found the model small-bert@"):
        BERTScore(f"small-bert@{revision[::-1]}").score(HYPOTHESES, REFERENCES)


def test_cached_scores_need_no_model(metric, monkeypatch):
    first = metric.score(HYPOTHESES, REFERENCE_PAIRS)
    monkeypatch.setattr(BERTScorer, "score", None)
    assert metric.score(HYPOTHESES, REFERENCE_PAIRS) == first
    with pytest.raises(MetricFailedError):
        metric.score(HYPOTHESES[::-1], REFERENCE_PAIRS)


def test_compare_with_bleu(metric):
    systems = {"a": HYPOTHESES, "b": SECOND_REFERENCES}
    comparison = tb.compare(systems, REFERENCES, metrics=["bleu", metric], samples=50)
    values = [float(metric.score(texts, REFERENCES)) for texts in systems.values()]
    result = json.loads(comparison.to_json())
    assert "BERTScore" in json.dumps(result)
    assert all(repr(value) in json.dumps(result) for value in values)


def test_command_line_hides_library_output(model_folder, tmp_path, capsys):
    """Warnings and progress bars of the libraries are hidden."""
    for name, lines in {"ref": REFERENCES, "hyp": ["", *HYPOTHESES[1:]]}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    words = [str(tmp_path / "ref"), "-i", str(tmp_path / "hyp"), "-m", f"bertscore:{model_folder}"]
    assert main(["score", *words, "-f", "json", "--bertscore-layer", "1"]) == 0
    out, err = capsys.readouterr()
    metric = BERTScore(model_folder, layer=1)
    expected = metric.score(["", *HYPOTHESES[1:]], REFERENCES)
    assert repr(expected.value) in out
    assert "layer:1" in out
    assert err.startswith("truebleu: warning: hyp: 1 of 4 hypotheses is empty (line 1)")
    assert err.count("\n") == 1


# ---- failures ----


class FailingScorer:
    """Scorer that fails on a word, or returns too few numbers."""

    def __init__(self, word, error=None, cut=0):
        self.word, self.cut = word, cut
        self.error = error or ValueError("too hard\nfor me")

    def score(self, hypotheses, references, batch_size):
        import torch

        if any(self.word in text for text in hypotheses):
            raise self.error
        numbers = torch.ones(len(hypotheses) - self.cut)
        return numbers, numbers, numbers


@pytest.mark.parametrize("number", range(4))
def test_failing_segment_is_named_in_error(metric, monkeypatch, number):
    from truebleu.metrics import bertscore

    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: FailingScorer("BAD"))
    hypotheses = [*HYPOTHESES]
    hypotheses[number] = "a BAD one"
    with pytest.raises(MetricFailedError) as caught:
        metric.score(hypotheses, REFERENCES)
    assert str(caught.value) == f"BERTScore: segment {number + 1}: ValueError: too hard"


def test_too_few_numbers_raise_error(metric, monkeypatch):
    from truebleu.metrics import bertscore

    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: FailingScorer("BAD", cut=1))
    with pytest.raises(MetricFailedError, match="3 numbers for 4 segments; segment 4 has none"):
        metric.score(HYPOTHESES, REFERENCES)


def test_nan_raises_error(metric, monkeypatch):
    from truebleu.metrics import bertscore

    class NanScorer(FailingScorer):
        def score(self, *words, **options):
            tensors = [one.clone() for one in super().score(*words, **options)]
            tensors[2][1] = float("nan")
            return tensors

    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: NanScorer("BAD"))
    with pytest.raises(MetricFailedError, match="segment 2 is nan; expected a finite number"):
        metric.score(HYPOTHESES, REFERENCES)


def test_out_of_memory_error_names_batch_option(metric, monkeypatch):
    from truebleu.metrics import bertscore

    full = RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: FailingScorer("cat", full))
    with pytest.raises(
        MetricFailedError, match=r"a batch size of 64. Use --bertscore-batch 16 .batch="
    ):
        metric.score(HYPOTHESES, REFERENCES)


def test_missing_layer_raises_error(metric):
    with pytest.raises(MetricFailedError, match=r"layer 3 of .*small-bert: it has 2$"):
        metric.with_parameters(layer=3).score(HYPOTHESES, REFERENCES)


def test_path_with_t5_raises_error(encoder):
    model_folder = encoder("not-t5")
    with pytest.raises(MetricFailedError, match=r"has the type bert\. Rename the folder"):
        BERTScore(str(model_folder)).score(HYPOTHESES, REFERENCES)


def test_unreadable_weights_raise_error(encoder):
    model_folder = encoder("broken", seed=3)
    (model_folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(MetricFailedError, match=r"broken: cannot be loaded: \w+: .+") as caught:
        BERTScore(str(model_folder)).score(HYPOTHESES, REFERENCES)
    assert "\n" not in str(caught.value)


# ---- the hub's cache ----


def test_model_name_in_hub_cache(model_folder, metric, tmp_path):
    import shutil

    home = tmp_path / "hub" / "models--owner--small-bert"
    for commit in ("0123456789abcdef", "fedcba9876543210"):
        shutil.copytree(model_folder, home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("fedcba9876543210")
    metric_by_name = tb.metric("bertscore:owner/small-bert")
    assert metric_by_name.signature(1)["model"] == "owner/small-bert@fedcba98"
    assert tb.metric(str(metric_by_name)) == metric_by_name
    older = tb.metric("bertscore:owner/small-bert@0123")
    assert older.signature(1)["model"] == "owner/small-bert@01234567"
    assert list(metric_by_name.segments(HYPOTHESES, REFERENCES)) == list(
        metric.segments(HYPOTHESES, REFERENCES)
    )
