"""COMET is unbabel-comet's, number by number, with models of random weights of several kinds."""

import json

import pytest
import yaml
from comet import load_from_checkpoint
from comet.models import str2model
from small_text import HYPOTHESES, OTHERS, REFERENCES, SOURCES

import truebleu as tb
from truebleu import InputError
from truebleu.cli import main
from truebleu.metrics.base import MetricFailedError

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages warn of each other

# Each kind, what of its settings is not the usual, and what it reads beside the hypothesis.
KINDS = {
    "regression_metric": ({}, ("src", "ref")),
    "referenceless_regression_metric": ({}, ("src",)),
    "unified_metric": ({"input_segments": ["mt", "src", "ref"]}, ("src", "ref")),
    "unified_metric-ref": ({"input_segments": ["mt", "ref"]}, ("ref",)),
    "unified_metric-src": ({"input_segments": ["mt", "src"]}, ("src",)),
}


@pytest.fixture(scope="module")
def checkpoint(encoder, tmp_path_factory, torch):
    """A function that makes a model of a kind, and gives its folder."""
    words = encoder("encoder")

    def make(kind):
        import pytorch_lightning

        more, _ = KINDS[kind]
        name = kind.partition("-")[0]
        more = more | ({"layer_transformation": "softmax"} if name == "unified_metric" else {})
        settings = {
            "encoder_model": "BERT",
            "pretrained_model": str(words),
            "hidden_sizes": [8],
            "nr_frozen_epochs": 0,
            **more,
        }
        folder = tmp_path_factory.mktemp("comet") / kind
        (folder / "checkpoints").mkdir(parents=True)
        torch.manual_seed(11)
        model = str2model[name](**settings)
        told = {"class_identifier": name, **settings}
        (folder / "hparams.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
        state = {
            "state_dict": model.state_dict(),
            "hyper_parameters": dict(model.hparams),
            "pytorch-lightning_version": pytorch_lightning.__version__,
        }
        torch.save(state, folder / "checkpoints" / "model.ckpt")
        return str(folder)

    made = {}
    return lambda kind: made[kind] if kind in made else made.setdefault(kind, make(kind))


@pytest.fixture
def metric(checkpoint):
    return tb.metric(f"comet:{checkpoint('regression_metric')}")


def theirs(folder, reads):
    model = load_from_checkpoint(f"{folder}/checkpoints/model.ckpt", local_files_only=True)
    given = {"src": SOURCES, "ref": REFERENCES}
    samples = [
        {"mt": text, **{name: given[name][i] for name in reads}}
        for i, text in enumerate(HYPOTHESES)
    ]
    return model.predict(samples, batch_size=16, gpus=0, progress_bar=False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_the_package(checkpoint, kind):
    folder, reads = checkpoint(kind), KINDS[kind][1]
    metric = tb.metric(f"comet:{folder}")
    assert metric.NEEDS_SOURCE is ("src" in reads)
    assert ("one" if "ref" in reads else "none") == metric.REFERENCES
    expected = theirs(folder, reads)
    sources = SOURCES if "src" in reads else None
    assert list(metric.segments(HYPOTHESES, REFERENCES, sources)) == expected.scores
    assert len(set(expected.scores)) > 1
    score = metric.score(HYPOTHESES, REFERENCES, sources)
    assert score.value == pytest.approx(expected.system_score, abs=1e-12)


def test_a_model_that_reads_no_references_takes_any(checkpoint):
    metric = tb.metric(f"comet:{checkpoint('referenceless_regression_metric')}")
    one = metric.score(HYPOTHESES, REFERENCES, SOURCES)
    both = [list(pair) for pair in zip(OTHERS, REFERENCES, strict=True)]
    assert metric.score(HYPOTHESES, both, SOURCES).value == one.value
    assert "nrefs" not in one.signature


def test_the_signature(metric):
    signature = metric.signature(1)
    assert signature["model"].startswith("regression_metric@")
    assert (signature["precision"], signature["version"]) == ("fp32", "2.2.7")
    assert tb.metric(str(metric)) == metric
    assert tb.metric(f"COMET|{signature}") == metric


def test_what_it_needs(metric):
    with pytest.raises(InputError, match="COMET needs the source of each segment"):
        metric.score(HYPOTHESES, REFERENCES)
    with pytest.raises(InputError, match="takes one of each segment, and segment 1 has 2"):
        metric.score(["a"], [["b", "c"]], ["d"])


def test_it_chooses_among_candidates(metric):
    candidates = [[HYPOTHESES[0], OTHERS[0], HYPOTHESES[1]], [HYPOTHESES[1], OTHERS[1]]]
    found = tb.mbr(candidates, utility=metric, sources=SOURCES[:2])
    for one, texts, source in zip(found, candidates, SOURCES, strict=False):
        rows = [
            metric.segments([text] * len(texts), texts, [source] * len(texts)) for text in texts
        ]
        assert list(one.expected) == pytest.approx([sum(row) / len(row) for row in rows], abs=1e-4)
    with pytest.raises(InputError, match=r"sources: COMET.* reads them"):
        tb.mbr(candidates, utility=metric)


def test_beside_bleu_and_kept(metric, tmp_path, monkeypatch, capsys):
    """On the command line; the second time no model runs."""
    files = {"ref": REFERENCES, "src": SOURCES, "a": HYPOTHESES, "b": OTHERS}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    words = ["compare", "ref", "-i", "a", "b", "-src", "src", "-m", "bleu", f"comet:{metric.model}"]
    assert main([*words, "-f", "json"]) == 0
    first = capsys.readouterr()
    assert first.err == ""
    value = metric.score(HYPOTHESES, REFERENCES, SOURCES).value
    assert repr(value) in json.dumps(json.loads(first.out))
    from comet.models.base import CometModel

    monkeypatch.setattr(CometModel, "predict", None)
    assert main([*words, "-f", "json"]) == 0
    assert capsys.readouterr().out == first.out


def test_the_segment_that_fails_is_named(metric, monkeypatch):
    from comet.models.base import CometModel

    usual = CometModel.predict

    def predict(self, samples, **more):
        if any("dogs" in sample["mt"] for sample in samples):
            raise RuntimeError("the size of tensor a\nmust match")
        return usual(self, samples, **more)

    monkeypatch.setattr(CometModel, "predict", predict)
    with pytest.raises(MetricFailedError) as caught:
        metric.score(HYPOTHESES, REFERENCES, SOURCES)
    assert str(caught.value) == "COMET: segment 3: RuntimeError: the size of tensor a"


def test_too_little_memory_names_the_option(metric, monkeypatch, torch):
    from comet.models.base import CometModel

    def predict(self, samples, **more):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(CometModel, "predict", predict)
    with pytest.raises(MetricFailedError, match="a batch of 16; --comet-batch 4 "):
        metric.score(HYPOTHESES, REFERENCES, SOURCES)


def test_a_folder_that_is_no_model(encoder):
    with pytest.raises(
        MetricFailedError, match=r"plain does not contain a COMET model \(expected hparams"
    ):
        tb.metric(f"comet:{encoder('plain')}").score(HYPOTHESES, REFERENCES, SOURCES)


def test_a_model_whose_encoder_is_not_here(checkpoint, tmp_path):
    import shutil

    folder = tmp_path / "far"
    shutil.copytree(checkpoint("regression_metric"), folder)
    told = yaml.safe_load((folder / "hparams.yaml").read_text())
    (folder / "hparams.yaml").write_text(yaml.safe_dump(told | {"pretrained_model": "some/bert"}))
    with pytest.raises(MetricFailedError, match=r"built on some/bert, .* hf download some/bert "):
        tb.metric(f"comet:{folder}").score(HYPOTHESES, REFERENCES, SOURCES)


@pytest.mark.parametrize("device", ["cuda:99", "nothing"])
@pytest.mark.parametrize("name", ["comet", "bertscore"])
def test_a_device_that_is_not_there(metric, encoder, name, device):
    made = metric if name == "comet" else tb.metric(f"bertscore:{encoder('plain')}")
    with pytest.raises(MetricFailedError, match=r"cannot be loaded: \w+: ") as caught:
        made.with_parameters(device=device).score(HYPOTHESES, REFERENCES, SOURCES)
    assert "segment" not in str(caught.value)
