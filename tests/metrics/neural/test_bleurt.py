"""BLEURT is bleurt-pytorch's, number by number, with a model of random weights."""

import pytest
from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification, BleurtTokenizer
from small_text import HYPOTHESES, OTHERS, REFERENCES, SIZES, WORDS

import truebleu as tb
from truebleu import InputError
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.bleurt import BLEURT

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages warn of each other


@pytest.fixture(scope="module")
def folder(encoder, torch):
    place = encoder("small-bleurt")
    for name in ("model.safetensors", "config.json"):
        (place / name).unlink()
    torch.manual_seed(7)
    config = BleurtConfig(vocab_size=len(WORDS.split()), num_hidden_layers=2, **SIZES)
    BleurtForSequenceClassification(config).save_pretrained(place)
    return str(place)


@pytest.fixture
def metric(folder):
    return tb.metric(f"bleurt:{folder}")


def theirs(folder, torch, hypotheses, references):
    """As the package's own page calls it."""
    model = BleurtForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = BleurtTokenizer.from_pretrained(folder)
    with torch.no_grad():
        tokens = tokenizer(references, hypotheses, padding="longest", return_tensors="pt")
        return model(**tokens).logits.flatten().tolist()


def test_the_numbers_are_those_of_the_package(folder, metric, torch):
    expected = theirs(folder, torch, HYPOTHESES, REFERENCES)
    assert list(metric.segments(HYPOTHESES, REFERENCES)) == expected
    assert len(set(expected)) == 4
    score = metric.score(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(sum(expected) / 4, abs=1e-15)


def test_batches(folder, metric, torch):
    halves = [theirs(folder, torch, HYPOTHESES[i : i + 2], REFERENCES[i : i + 2]) for i in (0, 2)]
    small = metric.with_parameters(batch=2)
    assert list(small.segments(HYPOTHESES, REFERENCES)) == [*halves[0], *halves[1]]


def test_what_is_longer_than_the_model_reads_is_cut(metric):
    assert len(metric.segments([" ".join(["cat"] * 100)], ["the cat"])) == 1


def test_the_signature(metric):
    signature = metric.signature(1)
    assert signature["model"].startswith("small-bleurt@")
    assert (signature["version"], signature["by"]) == ("0.0.1", "bleurt-pytorch-0.0.1")
    assert tb.metric(str(metric)) == metric


def test_beside_bleu_and_kept(metric, monkeypatch):
    systems = {"a": HYPOTHESES, "b": OTHERS}
    first = tb.compare(systems, REFERENCES, metrics=["bleu", metric], samples=50).to_json()
    monkeypatch.setattr(BleurtForSequenceClassification, "forward", None)
    again = tb.compare(systems, REFERENCES, metrics=["bleu", metric], samples=50).to_json()
    assert again == first


def test_it_takes_one_reference(metric):
    with pytest.raises(InputError, match="takes one of each segment, and segment 1 has 2"):
        metric.score(["the cat"], [["the cat", "a cat"]])


def test_the_segment_that_fails_is_named(metric, monkeypatch):
    from truebleu.metrics import bleurt

    def scores(tokenizer, model, pairs):
        if any("dog" in text for text, _ in pairs):
            raise IndexError("index out of range in self")
        return [0.5] * len(pairs)

    monkeypatch.setattr(bleurt, "_predict_scores", scores)
    with pytest.raises(MetricFailedError, match=r"^BLEURT: segment 2: IndexError: index out of"):
        metric.score(HYPOTHESES, REFERENCES)


def test_alone_it_is_the_usual_model():
    assert tb.metric("bleurt") == BLEURT()
