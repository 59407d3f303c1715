"""Tests of COMET, compared with unbabel-comet for several kinds of models with random weights."""

import json

import pytest
import yaml
from comet import load_from_checkpoint
from comet.models import str2model
from small_text import HYPOTHESES, REFERENCES, SECOND_REFERENCES, SOURCES

import truebleu as tb
from truebleu import InputError
from truebleu.cli import main
from truebleu.metrics.base import MetricFailedError

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages warn of each other

# Kinds of models, with changed settings and inputs in addition to the hypothesis.
KINDS = {
    "regression_metric": ({}, ("src", "ref")),
    "referenceless_regression_metric": ({}, ("src",)),
    "unified_metric": ({"input_segments": ["mt", "src", "ref"]}, ("src", "ref")),
    "unified_metric-ref": ({"input_segments": ["mt", "ref"]}, ("ref",)),
    "unified_metric-src": ({"input_segments": ["mt", "src"]}, ("src",)),
}


@pytest.fixture(scope="module")
def checkpoint(encoder, tmp_path_factory, torch):
    """Return a function that creates a model of a kind and returns its folder."""
    words = encoder("encoder")

    def make(kind):
        import pytorch_lightning

        kind_settings, _ = KINDS[kind]
        name = kind.partition("-")[0]
        kind_settings = kind_settings | (
            {"layer_transformation": "softmax"} if name == "unified_metric" else {}
        )
        settings = {
            "encoder_model": "BERT",
            "pretrained_model": str(words),
            "hidden_sizes": [8],
            "nr_frozen_epochs": 0,
            **kind_settings,
        }
        folder = tmp_path_factory.mktemp("comet") / kind
        (folder / "checkpoints").mkdir(parents=True)
        torch.manual_seed(11)
        model = str2model[name](**settings)
        model_settings = {"class_identifier": name, **settings}
        (folder / "hparams.yaml").write_text(yaml.safe_dump(model_settings), encoding="utf-8")
        state = {
            "state_dict": model.state_dict(),
            "hyper_parameters": dict(model.hparams),
            "pytorch-lightning_version": pytorch_lightning.__version__,
        }
        torch.save(state, folder / "checkpoints" / "model.ckpt")
        return str(folder)

    folders_by_kind = {}
    return lambda kind: (
        folders_by_kind[kind]
        if kind in folders_by_kind
        else folders_by_kind.setdefault(kind, make(kind))
    )


@pytest.fixture
def comet_metric(checkpoint):
    return tb.metric(f"comet:{checkpoint('regression_metric')}")


def score_with_package(folder, reads):
    model = load_from_checkpoint(f"{folder}/checkpoints/model.ckpt", local_files_only=True)
    texts_by_input = {"src": SOURCES, "ref": REFERENCES}
    samples = [
        {"mt": text, **{name: texts_by_input[name][i] for name in reads}}
        for i, text in enumerate(HYPOTHESES)
    ]
    return model.predict(samples, batch_size=16, gpus=0, progress_bar=False)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_equal_package(checkpoint, kind):
    folder, reads = checkpoint(kind), KINDS[kind][1]
    comet_metric = tb.metric(f"comet:{folder}")
    assert comet_metric.NEEDS_SOURCE is ("src" in reads)
    assert ("one" if "ref" in reads else "none") == comet_metric.REFERENCES
    expected = score_with_package(folder, reads)
    sources = SOURCES if "src" in reads else None
    assert list(comet_metric.segments(HYPOTHESES, REFERENCES, sources)) == expected.scores
    assert len(set(expected.scores)) > 1
    score = comet_metric.score(HYPOTHESES, REFERENCES, sources)
    assert score.value == pytest.approx(expected.system_score, abs=1e-12)


def test_reference_free_model_accepts_any_references(checkpoint):
    comet_metric = tb.metric(f"comet:{checkpoint('referenceless_regression_metric')}")
    expected = comet_metric.score(HYPOTHESES, REFERENCES, SOURCES)
    reference_pairs = [list(pair) for pair in zip(SECOND_REFERENCES, REFERENCES, strict=True)]
    assert comet_metric.score(HYPOTHESES, reference_pairs, SOURCES).value == expected.value
    assert "nrefs" not in expected.signature


def test_signature_has_model_and_precision(comet_metric):
    signature = comet_metric.signature(1)
    assert signature["model"].startswith("regression_metric@")
    assert (signature["precision"], signature["version"]) == ("fp32", "2.2.7")
    assert tb.metric(str(comet_metric)) == comet_metric
    assert tb.metric(f"COMET|{signature}") == comet_metric


def test_missing_sources_and_several_references_raise_error(comet_metric):
    with pytest.raises(InputError, match="COMET needs the source of each segment"):
        comet_metric.score(HYPOTHESES, REFERENCES)
    with pytest.raises(InputError, match="accepts one reference per segment, but segment 1 has 2"):
        comet_metric.score(["a"], [["b", "c"]], ["d"])


def test_comet_as_mbr_utility(comet_metric):
    candidates = [
        [HYPOTHESES[0], SECOND_REFERENCES[0], HYPOTHESES[1]],
        [HYPOTHESES[1], SECOND_REFERENCES[1]],
    ]
    selected = tb.mbr(candidates, utility=comet_metric, sources=SOURCES[:2])
    for selection, texts, source in zip(selected, candidates, SOURCES, strict=False):
        rows = [
            comet_metric.segments([text] * len(texts), texts, [source] * len(texts))
            for text in texts
        ]
        assert list(selection.expected) == pytest.approx(
            [sum(row) / len(row) for row in rows], abs=1e-4
        )
    with pytest.raises(InputError, match=r"sources: COMET needs a source text per list"):
        tb.mbr(candidates, utility=comet_metric)


def test_compare_with_bleu_uses_cached_scores(comet_metric, tmp_path, monkeypatch, capsys):
    """The second run on the command line does not run the model."""
    files = {"ref": REFERENCES, "src": SOURCES, "a": HYPOTHESES, "b": SECOND_REFERENCES}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    words = ["compare", "ref", "-i", "a", "b", "-src", "src", "-m", "bleu"]
    words.append(f"comet:{comet_metric.model}")
    assert main([*words, "-f", "json"]) == 0
    first = capsys.readouterr()
    assert first.err == ""
    value = comet_metric.score(HYPOTHESES, REFERENCES, SOURCES).value
    assert repr(value) in json.dumps(json.loads(first.out))
    from comet.models.base import CometModel

    monkeypatch.setattr(CometModel, "predict", None)
    assert main([*words, "-f", "json"]) == 0
    assert capsys.readouterr().out == first.out


def test_folder_without_model_raises_error(encoder):
    with pytest.raises(
        MetricFailedError, match=r"plain does not contain a COMET model \(expected hparams"
    ):
        tb.metric(f"comet:{encoder('plain')}").score(HYPOTHESES, REFERENCES, SOURCES)


def test_missing_encoder_raises_error(checkpoint, tmp_path):
    import shutil

    folder = tmp_path / "far"
    shutil.copytree(checkpoint("regression_metric"), folder)
    model_settings = yaml.safe_load((folder / "hparams.yaml").read_text())
    (folder / "hparams.yaml").write_text(
        yaml.safe_dump(model_settings | {"pretrained_model": "some/bert"})
    )
    with pytest.raises(
        MetricFailedError, match=r"built on some/bert, .* Run: hf download some/bert "
    ):
        tb.metric(f"comet:{folder}").score(HYPOTHESES, REFERENCES, SOURCES)


@pytest.mark.parametrize("device", ["cuda:99", "nothing"])
@pytest.mark.parametrize("name", ["comet", "bertscore"])
def test_missing_device_raises_error(comet_metric, encoder, name, device):
    other_metric = comet_metric if name == "comet" else tb.metric(f"bertscore:{encoder('plain')}")
    with pytest.raises(MetricFailedError, match=r"cannot be loaded: \w+: ") as caught:
        other_metric.with_parameters(device=device).score(HYPOTHESES, REFERENCES, SOURCES)
    assert "segment" not in str(caught.value)
