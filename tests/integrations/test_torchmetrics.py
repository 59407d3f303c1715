"""torchmetrics: the state stays integer, and several processes give the score of one."""

import pickle
from typing import NamedTuple

import pytest
import ranks
from integration_programs import import_or_skip

import truebleu as tb

pytestmark = pytest.mark.filterwarnings("ignore")


class Modules(NamedTuple):
    torch: object
    torchmetrics: object
    integration: object


@pytest.fixture(scope="module")
def modules():
    torch, torchmetrics = import_or_skip("torch"), import_or_skip("torchmetrics")
    import truebleu.integrations.torchmetrics as ours

    return Modules(torch, torchmetrics, ours)


def test_forward_returns_batch_score(modules, text):
    metric = modules.integration.CorpusBLEU()
    half = len(text.hypotheses) // 2
    first = metric(text.hypotheses[:half], text.first_references[:half])
    assert first.dtype == modules.torch.float64
    assert first.item() == tb.bleu(text.hypotheses[:half], text.first_references[:half]).value
    metric(text.hypotheses[half:], text.first_references[half:])
    assert metric.compute().item() == tb.bleu(text.hypotheses, text.first_references).value


def test_state_stays_integer_after_conversions(modules, text):
    torch = modules.torch
    metric = modules.integration.CorpusBLEU()
    metric.update(text.hypotheses, text.first_references)
    (name,) = metric.metric_state
    before, score = metric.metric_state[name].clone(), metric.compute().item()
    for convert in (
        lambda m: m.half(),
        lambda m: m.double(),
        lambda m: m.set_dtype(torch.float16),
        lambda m: m.to(torch.bfloat16),
        lambda m: m.to("cpu", torch.float16),
        lambda m: torch.nn.ModuleDict({"bleu": m}).half()["bleu"],
    ):
        metric = convert(metric)
        assert metric.metric_state[name].dtype == torch.int64
        assert metric._defaults[name].dtype == torch.int64
        assert torch.equal(metric.metric_state[name], before)
        assert metric.compute().item() == score
    metric.reset()
    assert metric.metric_state[name].dtype == torch.int64
    assert metric.metric_state[name].sum() == 0


def test_state_moves_with_metric(modules):
    metric = modules.integration.CorpusBLEU().to("meta")
    (state,) = metric.metric_state.values()
    assert state.device.type == "meta"


def test_counts_beyond_32_bit_float_precision(modules):
    torch = modules.torch
    assert torch.tensor(2.0**24, dtype=torch.float32) + 1 == 2**24
    metric = modules.integration.CorpusBLEU(max_order=1)
    (name,) = metric.metric_state
    segment = metric.metric_state[name].clone()
    metric.update(["a"], ["a"])
    segment = metric.metric_state[name] - segment
    setattr(metric, name, segment * (2**24 + 1))
    metric.update(["b"], ["a"])
    expected = tb.BLEU(max_order=1).from_statistics([2**24 + 2, 2**24 + 2, 2**24 + 1, 2**24 + 2])
    assert metric.compute().item() == expected.value
    assert metric.score().matches == (2**24 + 1,)


def test_state_dict_pickle_and_merge(modules, text):
    torch = modules.torch
    expected = tb.bleu(text.hypotheses, text.first_references).value
    first, second = modules.integration.CorpusBLEU(), modules.integration.CorpusBLEU()
    first.update(text.hypotheses[:9], text.first_references[:9])
    second.update(text.hypotheses[9:], text.first_references[9:])
    first.persistent(True)
    (saved,) = first.state_dict().values()
    assert saved.dtype == torch.int64
    restored = modules.integration.CorpusBLEU()
    restored.persistent(True)
    restored.load_state_dict(first.state_dict())
    restored.merge_state(second)
    assert restored.compute().item() == expected
    copy = pickle.loads(pickle.dumps(first))
    copy.update(text.hypotheses[9:], text.first_references[9:])
    assert copy.compute().item() == expected


def test_state_with_other_parameters_raises_error(modules, text):
    default_metric = modules.integration.CorpusBLEU()
    char_metric = modules.integration.CorpusBLEU(tokenize="char")
    with pytest.raises(ValueError, match="Expected state variable counts_"):
        default_metric.merge_state(char_metric)
    default_metric.persistent(True)
    char_metric.persistent(True)
    with pytest.raises(RuntimeError, match="counts_"):
        char_metric.load_state_dict(default_metric.state_dict())


def test_collection_separates_metrics_with_equal_first_states(modules):
    """Torchmetrics' compute groups share a state between metrics with equal first states."""
    collection = modules.torchmetrics.MetricCollection(
        {
            "13a": modules.integration.CorpusBLEU(),
            "intl": modules.integration.CorpusBLEU(tokenize="intl"),
            "floor": modules.integration.CorpusBLEU(smoothing="floor"),
        }
    )
    batches = [(["a b c d e"], ["a b c d e"]), (["“so” it’s 5€"], ["“so” it’s 5 €"])]
    for hypotheses, references in batches:
        collection.update(hypotheses, references)
    hypotheses, references = ([*first, *second] for first, second in zip(*batches, strict=True))
    scores = {name: value.item() for name, value in collection.compute().items()}
    assert scores["13a"] == tb.BLEU().score(hypotheses, references).value
    assert scores["intl"] == tb.BLEU("intl").score(hypotheses, references).value
    assert scores["floor"] == tb.BLEU(smoothing="floor").score(hypotheses, references).value
    assert scores["13a"] != scores["intl"]
    groups = sorted(sorted(group) for group in collection.compute_groups.values())
    assert groups == [["13a", "floor"], ["intl"]]


def test_signature_contains_number_of_references(modules):
    for batches, number in [
        ([(["a", "b"], [["a", "x"], ["b", "y"]]), (["c"], [["c", "d"]])], "2"),
        ([(["a"], [["a", "x"]]), (["b"], ["b"])], "var"),
        ([(["a", "b", "c"], [["a", "x", "y"], ["b"], ["c", "z"]])], "var"),
    ]:
        metric = modules.integration.CorpusBLEU()
        for hypotheses, references in batches:
            metric.update(hypotheses, references)
        assert metric.score().signature["nrefs"] == number


def test_empty_batch_adds_nothing_and_gives_nan(modules):
    metric = modules.integration.CorpusBLEU()
    assert modules.torch.isnan(metric([], []))
    with pytest.raises(tb.InputError, match="no segments"):
        metric.score()
    metric(["a b c d"], ["a b c d"])
    assert metric.compute() == tb.bleu(["a b c d"], ["a b c d"]).value


def test_invalid_input_raises_error(modules):
    metric = modules.integration.CorpusBLEU()
    with pytest.raises(tb.InputError, match="hypotheses 2, references 1"):
        metric.update(["a", "b"], ["a"])
    with pytest.raises(TypeError, match="expected one str per segment, found a single str"):
        metric.update("a", ["a"])
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `tokeniser`"):
        modules.integration.CorpusBLEU(tokeniser="13a")
    assert modules.torch.isnan(metric.compute())


def test_failed_forward_changes_nothing(modules, text):
    metric = modules.integration.CorpusBLEU()
    metric(text.hypotheses[:9], text.first_references[:9])
    before = {name: getattr(metric, name) for name in modules.integration.SAVED_ATTRIBUTES}
    score = metric.compute()
    for batch in ((["a", "b"], ["a"]), (["a"], [None]), ("a", ["a"])):
        with pytest.raises((tb.InputError, TypeError)):
            metric(*batch)
        assert metric.compute() == score
    metric(text.hypotheses[9:], text.first_references[9:])
    assert metric.compute().item() == tb.bleu(text.hypotheses, text.first_references).value
    after = {name: getattr(metric, name) for name in modules.integration.SAVED_ATTRIBUTES}
    assert after == before | {"_update_count": 2, "_computed": metric.compute()}


def test_plot_uses_torchmetrics(modules, monkeypatch):
    """Without Matplotlib, record the arguments of torchmetrics' plot function."""
    import torchmetrics.metric as module

    plotted = []

    def record_plot(value, **options):
        plotted.append((float(value), options["lower_bound"], options["upper_bound"]))
        return "figure", "axes"

    monkeypatch.setattr(module, "plot_single_or_multi_val", record_plot)
    for kind, is_higher_better, *bounds in (
        (modules.integration.CorpusBLEU, True, 0.0, 100.0),
        (modules.integration.CorpusTER, False, 0.0, None),
    ):
        metric = kind()
        assert metric.higher_is_better == is_higher_better
        score = metric(["a b c d e"], ["a b c d f"]).item()
        assert metric.plot() == ("figure", "axes")
        assert plotted.pop() == (score, *bounds)


def test_two_processes_equal_one(modules, text, tmp_path):
    for result in ranks.run_processes("metrics", text, tmp_path):
        for name, metric in (("CorpusBLEU", tb.BLEU()), ("CorpusCHRF", tb.CHRF())):
            score = metric.score(text.hypotheses, text.references)
            assert result[name] == {
                "compute": score.value,
                "score": score.to_dict(),
                "again": score.value,
            }
