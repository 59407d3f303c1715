"""Tests of BLEURT, compared with bleurt-pytorch for a model with random weights."""

import pytest
from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification, BleurtTokenizer
from small_text import HYPOTHESES, REFERENCES, SIZES, WORDS

import truebleu as tb
from truebleu import InputError
from truebleu.metrics.bleurt import BLEURT

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages warn of each other


@pytest.fixture(scope="module")
def bleurt_folder(encoder, torch):
    place = encoder("small-bleurt")
    for name in ("model.safetensors", "config.json"):
        (place / name).unlink()
    torch.manual_seed(7)
    config = BleurtConfig(vocab_size=len(WORDS.split()), num_hidden_layers=2, **SIZES)
    BleurtForSequenceClassification(config).save_pretrained(place)
    return str(place)


@pytest.fixture
def metric(bleurt_folder):
    return tb.metric(f"bleurt:{bleurt_folder}")


def score_with_package(bleurt_folder, torch, hypotheses, references):
    """Return the package's scores, computed as in its documentation."""
    model = BleurtForSequenceClassification.from_pretrained(bleurt_folder).eval()
    tokenizer = BleurtTokenizer.from_pretrained(bleurt_folder)
    with torch.no_grad():
        tokens = tokenizer(references, hypotheses, padding="longest", return_tensors="pt")
        return model(**tokens).logits.flatten().tolist()


def test_numbers_equal_package(bleurt_folder, metric, torch):
    expected = score_with_package(bleurt_folder, torch, HYPOTHESES, REFERENCES)
    assert list(metric.segments(HYPOTHESES, REFERENCES)) == expected
    assert len(set(expected)) == 4
    score = metric.score(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(sum(expected) / 4, abs=1e-15)


def test_batch_size_does_not_change_scores(bleurt_folder, metric, torch):
    halves = [
        score_with_package(bleurt_folder, torch, HYPOTHESES[i : i + 2], REFERENCES[i : i + 2])
        for i in (0, 2)
    ]
    small = metric.with_parameters(batch=2)
    assert list(small.segments(HYPOTHESES, REFERENCES)) == [*halves[0], *halves[1]]


def test_long_text_is_truncated(metric):
    assert len(metric.segments([" ".join(["cat"] * 100)], ["the cat"])) == 1


def test_signature_has_model_and_package(metric):
    signature = metric.signature(1)
    assert signature["model"].startswith("small-bleurt@")
    assert (signature["version"], signature["by"]) == ("0.0.1", "bleurt-pytorch-0.0.1")
    assert tb.metric(str(metric)) == metric


def test_several_references_raise_error(metric):
    with pytest.raises(InputError, match="accepts one reference per segment, but segment 1 has 2"):
        metric.score(["the cat"], [["the cat", "a cat"]])


def test_name_without_model_uses_default():
    assert tb.metric("bleurt") == BLEURT()
