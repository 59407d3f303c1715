"""BERTScore is bert-score's, number by number, with a model of random weights."""

import json
import subprocess
import sys

import pytest
from bert_score import BERTScorer
from small_text import HYPOTHESES, OTHERS, REFERENCES

import truebleu as tb
from truebleu.cli import main
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.bertscore import BERTScore

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages warn of each other

BOTH = [list(pair) for pair in zip(REFERENCES, OTHERS, strict=True)]


@pytest.fixture(scope="module")
def folder(encoder):
    return str(encoder("small-bert"))


@pytest.fixture
def metric(folder):
    return tb.metric(f"bertscore:{folder}")


def theirs(folder, hypotheses, references, **parameters):
    """What the package says of each segment: F, precision, recall."""
    layer = parameters.pop("layer", 2)
    scorer = BERTScorer(folder, num_layers=layer, device="cpu", nthreads=0, **parameters)
    if scorer.idf:
        each = ([other] if isinstance(other, str) else other for other in references)
        scorer.compute_idf([other for others in each for other in others])
    precision, recall, f1 = scorer.score(hypotheses, references)
    return list(zip(f1.tolist(), precision.tolist(), recall.tolist(), strict=True)), scorer.hash


def ours(metric, hypotheses, references):
    """Each number of each segment, out of the table."""
    table = metric.statistics(hypotheses, references)
    scores = [metric.from_statistics(row) for row in table.tolist()]
    assert list(metric.segments(hypotheses, references)) == [s.value for s in scores]
    return [(s.value, s.details()["precision"], s.details()["recall"]) for s in scores]


@pytest.mark.parametrize(
    "given", [{}, {"layer": 1}, {"idf": True}, {"layer": 1, "idf": True}], ids=str
)
@pytest.mark.parametrize("references", [REFERENCES, BOTH], ids=["one", "two"])
def test_the_numbers_are_those_of_the_package(folder, metric, given, references):
    expected, _ = theirs(folder, HYPOTHESES, references, **given)
    assert ours(metric.with_parameters(**given), HYPOTHESES, references) == expected


def test_the_score_is_the_mean(folder, metric):
    expected, _ = theirs(folder, HYPOTHESES, REFERENCES)
    score = metric.score(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(sum(f1 for f1, _, _ in expected) / 4, abs=1e-15)
    assert score.details()["segments"] == 4


def test_an_empty_hypothesis_scores_nothing(folder, metric):
    hypotheses = ["", *HYPOTHESES[1:]]
    expected, _ = theirs(folder, hypotheses, REFERENCES)
    assert expected[0] == (0.0, 0.0, 0.0)
    assert ours(metric, hypotheses, REFERENCES) == expected


def test_a_baseline_rescales(folder, metric, tmp_path, monkeypatch):
    """bert-score has baselines of its own models; this has one for the model of the test."""
    from truebleu.metrics import bertscore

    package = tmp_path / "package" / "rescale_baseline" / "en"
    package.mkdir(parents=True)
    baseline = package / "small-bert.tsv"
    baseline.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n2,0.3,0.31,0.32\n")
    version, layers, _ = bertscore._read_package()
    monkeypatch.setattr(
        bertscore, "_read_package", lambda: (version, layers, str(tmp_path / "package"))
    )
    words = {"lang": "en", "rescale_with_baseline": True, "baseline_path": str(baseline)}
    expected, _ = theirs(folder, HYPOTHESES, REFERENCES, **words)
    assert ours(metric.with_parameters(rescale="en"), HYPOTHESES, REFERENCES) == expected
    with pytest.raises(MetricFailedError, match="no baseline of small-bert for 'de'; it has"):
        metric.with_parameters(rescale="de").score(HYPOTHESES, REFERENCES)


def test_the_signature_says_what_bert_scores_hash_says(folder, metric):
    _, told = theirs(folder, HYPOTHESES, REFERENCES)
    signature = metric.signature(1)
    model = signature["model"].partition("@")[0]
    assert model == "small-bert"
    assert told == f"{folder}_L{signature['layer']}_no-idf_version={signature['version']}"
    assert signature["by"] == "bert-score-0.3.13"


def test_the_signature_reads_back_and_says_nothing_of_this_machine(folder, metric):
    text = str(metric)
    assert "/" not in text.partition("|by:")[0]
    assert tb.metric(text) == metric
    again = tb.metric(text)
    assert hash(again) == hash(metric)
    assert again.score(HYPOTHESES, REFERENCES) == metric.score(HYPOTHESES, REFERENCES)
    assert metric.with_parameters(device="cpu", batch=2) == metric
    assert metric.with_parameters(layer=1) != metric
    assert metric.with_parameters(layer=2) == metric


def test_it_reads_back_in_another_process_that_knows_the_folder(folder, metric, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_MODELS", folder.rpartition("/")[0])
    code = f"import truebleu; print(truebleu.metric({str(metric)!r}).signature(1)['model'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == metric.signature(1)["model"]


def test_other_weights_are_another_model(encoder, metric, monkeypatch, tmp_path):
    other = encoder("small-bert", seed=2)
    assert tb.metric(f"bertscore:{other}") != metric
    revision = metric.signature(1)["model"].partition("@")[2]
    monkeypatch.chdir(other.parent)
    with pytest.raises(MetricFailedError, match="the model small-bert here is small-bert@"):
        BERTScore(f"small-bert@{revision[::-1]}").score(HYPOTHESES, REFERENCES)


def test_the_second_time_no_model_runs(metric, monkeypatch):
    first = metric.score(HYPOTHESES, BOTH)
    monkeypatch.setattr(BERTScorer, "score", None)
    assert metric.score(HYPOTHESES, BOTH) == first
    with pytest.raises(MetricFailedError):
        metric.score(HYPOTHESES[::-1], BOTH)


def test_beside_bleu(metric):
    systems = {"a": HYPOTHESES, "b": OTHERS}
    made = tb.compare(systems, REFERENCES, metrics=["bleu", metric], samples=50)
    values = [float(metric.score(texts, REFERENCES)) for texts in systems.values()]
    shown = json.loads(made.to_json())
    assert "BERTScore" in json.dumps(shown)
    assert all(repr(value) in json.dumps(shown) for value in values)


def test_on_the_command_line(folder, tmp_path, capsys):
    """The libraries' own warnings and bars are not seen."""
    for name, lines in {"ref": REFERENCES, "hyp": ["", *HYPOTHESES[1:]]}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    words = [str(tmp_path / "ref"), "-i", str(tmp_path / "hyp"), "-m", f"bertscore:{folder}"]
    assert main(["score", *words, "-f", "json", "--bertscore-layer", "1"]) == 0
    out, err = capsys.readouterr()
    metric = BERTScore(folder, layer=1)
    expected = metric.score(["", *HYPOTHESES[1:]], REFERENCES)
    assert repr(expected.value) in out
    assert "layer:1" in out
    assert err == ""


# ---- failures ----


class Failing:
    """A scorer that fails on a word, or says too little."""

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
def test_the_segment_that_fails_is_named(metric, monkeypatch, number):
    from truebleu.metrics import bertscore

    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: Failing("BAD"))
    hypotheses = [*HYPOTHESES]
    hypotheses[number] = "a BAD one"
    with pytest.raises(MetricFailedError) as caught:
        metric.score(hypotheses, REFERENCES)
    assert str(caught.value) == f"BERTScore: segment {number + 1}: ValueError: too hard"


def test_too_few_numbers(metric, monkeypatch):
    from truebleu.metrics import bertscore

    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: Failing("BAD", cut=1))
    with pytest.raises(MetricFailedError, match="3 numbers for 4 segments; none for segment 4"):
        metric.score(HYPOTHESES, REFERENCES)


def test_no_number(metric, monkeypatch):
    from truebleu.metrics import bertscore

    class Blind(Failing):
        def score(self, *words, **more):
            found = [one.clone() for one in super().score(*words, **more)]
            found[2][1] = float("nan")
            return found

    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: Blind("BAD"))
    with pytest.raises(MetricFailedError, match="segment 2 is nan; expected a finite number"):
        metric.score(HYPOTHESES, REFERENCES)


def test_too_little_memory_names_the_option(metric, monkeypatch):
    from truebleu.metrics import bertscore

    full = RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
    monkeypatch.setattr(bertscore, "_load_scorer", lambda *_: Failing("cat", full))
    with pytest.raises(MetricFailedError, match=r"a batch of 64; --bertscore-batch 16 .batch="):
        metric.score(HYPOTHESES, REFERENCES)


def test_a_layer_that_is_not_there(metric):
    with pytest.raises(MetricFailedError, match=r"layer 3 of .*small-bert: it has 2$"):
        metric.with_parameters(layer=3).score(HYPOTHESES, REFERENCES)


def test_a_path_that_bert_score_takes_for_t5(encoder):
    folder = encoder("not-t5")
    with pytest.raises(MetricFailedError, match=r"is of the type bert; call the folder something"):
        BERTScore(str(folder)).score(HYPOTHESES, REFERENCES)


def test_weights_that_cannot_be_read(encoder):
    folder = encoder("broken", seed=3)
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(MetricFailedError, match=r"broken: cannot be loaded: \w+: .+") as caught:
        BERTScore(str(folder)).score(HYPOTHESES, REFERENCES)
    assert "\n" not in str(caught.value)


# ---- the hub's cache ----


def test_a_name_in_the_hubs_cache(folder, metric, tmp_path):
    import shutil

    home = tmp_path / "hub" / "models--owner--small-bert"
    for commit in ("0123456789abcdef", "fedcba9876543210"):
        shutil.copytree(folder, home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("fedcba9876543210")
    named = tb.metric("bertscore:owner/small-bert")
    assert named.signature(1)["model"] == "owner/small-bert@fedcba98"
    assert tb.metric(str(named)) == named
    older = tb.metric("bertscore:owner/small-bert@0123")
    assert older.signature(1)["model"] == "owner/small-bert@01234567"
    assert list(named.segments(HYPOTHESES, REFERENCES)) == list(
        metric.segments(HYPOTHESES, REFERENCES)
    )
