"""torchmetrics: the state is integers and stays integers, and processes add up to one."""

import pickle
from typing import NamedTuple

import pytest
import ranks
from integration_programs import host

import truebleu as tb

pytestmark = pytest.mark.filterwarnings("ignore")


class Hosts(NamedTuple):
    torch: object
    torchmetrics: object
    ours: object


@pytest.fixture(scope="module")
def hosts():
    torch, torchmetrics = host("torch"), host("torchmetrics")
    import truebleu.integrations.torchmetrics as ours

    return Hosts(torch, torchmetrics, ours)


def test_the_score_of_a_corpus_batch_by_batch(hosts, text):
    made = [
        (hosts.ours.CorpusBLEU(tokenize="intl"), tb.BLEU("intl")),
        (hosts.ours.CorpusCHRF(word_order=2), tb.CHRF(word_order=2)),
        (hosts.ours.CorpusTER(), tb.TER()),
    ]
    for metric, own in made:
        for start in range(0, len(text.hypotheses), 7):
            metric.update(text.hypotheses[start : start + 7], text.references[start : start + 7])
        score = own.score(text.hypotheses, text.references)
        assert metric.compute().dtype == hosts.torch.float64
        assert metric.compute().item() == score.value
        assert metric.score().to_dict() == score.to_dict()
    assert [metric.higher_is_better for metric, _ in made] == [True, True, False]


def test_forward_gives_the_score_of_the_batch(hosts, text):
    metric = hosts.ours.CorpusBLEU()
    half = len(text.hypotheses) // 2
    first = metric(text.hypotheses[:half], text.first[:half])
    assert first.item() == tb.bleu(text.hypotheses[:half], text.first[:half]).value
    metric(text.hypotheses[half:], text.first[half:])
    assert metric.compute().item() == tb.bleu(text.hypotheses, text.first).value


def test_the_state_is_one_tensor_of_integers_that_conversions_leave_alone(hosts, text):
    torch = hosts.torch
    metric = hosts.ours.CorpusBLEU()
    metric.update(text.hypotheses, text.first)
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


def test_the_state_moves_with_the_metric(hosts):
    metric = hosts.ours.CorpusBLEU().to("meta")
    (state,) = metric.metric_state.values()
    assert state.device.type == "meta"


def test_more_counts_than_a_32_bit_float_can_tell_apart(hosts):
    torch = hosts.torch
    assert torch.tensor(2.0**24, dtype=torch.float32) + 1 == 2**24
    metric = hosts.ours.CorpusBLEU(max_order=1)
    (name,) = metric.metric_state
    segment = metric.metric_state[name].clone()
    metric.update(["a"], ["a"])
    segment = metric.metric_state[name] - segment
    setattr(metric, name, segment * (2**24 + 1))
    metric.update(["b"], ["a"])
    expected = tb.BLEU(max_order=1).from_statistics([2**24 + 2, 2**24 + 2, 2**24 + 1, 2**24 + 2])
    assert metric.compute().item() == expected.value
    assert metric.score().matches == (2**24 + 1,)


def test_state_dict_pickle_and_merge(hosts, text):
    torch = hosts.torch
    whole = tb.bleu(text.hypotheses, text.first).value
    first, second = hosts.ours.CorpusBLEU(), hosts.ours.CorpusBLEU()
    first.update(text.hypotheses[:9], text.first[:9])
    second.update(text.hypotheses[9:], text.first[9:])
    first.persistent(True)
    (saved,) = first.state_dict().values()
    assert saved.dtype == torch.int64
    again = hosts.ours.CorpusBLEU()
    again.persistent(True)
    again.load_state_dict(first.state_dict())
    again.merge_state(second)
    assert again.compute().item() == whole
    copy = pickle.loads(pickle.dumps(first))
    copy.update(text.hypotheses[9:], text.first[9:])
    assert copy.compute().item() == whole


def test_states_of_other_parameters_are_refused(hosts, text):
    plain, other = hosts.ours.CorpusBLEU(), hosts.ours.CorpusBLEU(tokenize="char")
    with pytest.raises(ValueError, match="Expected state variable counts_"):
        plain.merge_state(other)
    plain.persistent(True)
    other.persistent(True)
    with pytest.raises(RuntimeError, match="counts_"):
        other.load_state_dict(plain.state_dict())


def test_a_collection_keeps_metrics_apart_that_begin_alike(hosts):
    """Metrics whose first states are equal share one, in torchmetrics' compute groups."""
    collection = hosts.torchmetrics.MetricCollection(
        {
            "13a": hosts.ours.CorpusBLEU(),
            "intl": hosts.ours.CorpusBLEU(tokenize="intl"),
            "floor": hosts.ours.CorpusBLEU(smoothing="floor"),
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


def test_the_signature_knows_how_many_references_there_were(hosts):
    for batches, number in [
        ([(["a", "b"], [["a", "x"], ["b", "y"]]), (["c"], [["c", "d"]])], "2"),
        ([(["a"], [["a", "x"]]), (["b"], ["b"])], "var"),
        ([(["a", "b", "c"], [["a", "x", "y"], ["b"], ["c", "z"]])], "var"),
    ]:
        metric = hosts.ours.CorpusBLEU()
        for hypotheses, references in batches:
            metric.update(hypotheses, references)
        assert metric.score().signature["nrefs"] == number


def test_an_empty_batch_adds_nothing_and_no_text_is_not_a_number(hosts):
    metric = hosts.ours.CorpusBLEU()
    assert hosts.torch.isnan(metric([], []))
    with pytest.raises(tb.InputError, match="no segments"):
        metric.score()
    metric(["a b c d"], ["a b c d"])
    assert metric.compute() == tb.bleu(["a b c d"], ["a b c d"]).value


def test_mistakes(hosts):
    metric = hosts.ours.CorpusBLEU()
    with pytest.raises(tb.InputError, match="hypotheses 2, references 1"):
        metric.update(["a", "b"], ["a"])
    with pytest.raises(TypeError, match="expected one str per segment, found a single str"):
        metric.update("a", ["a"])
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `tokeniser`"):
        hosts.ours.CorpusBLEU(tokeniser="13a")
    assert hosts.torch.isnan(metric.compute())


def test_a_forward_that_fails_changes_nothing(hosts, text):
    metric = hosts.ours.CorpusBLEU()
    metric(text.hypotheses[:9], text.first[:9])
    before = {name: getattr(metric, name) for name in hosts.ours.SAVED_ATTRIBUTES}
    score = metric.compute()
    for batch in ((["a", "b"], ["a"]), (["a"], [None]), ("a", ["a"])):
        with pytest.raises((tb.InputError, TypeError)):
            metric(*batch)
        assert metric.compute() == score
    metric(text.hypotheses[9:], text.first[9:])
    assert metric.compute().item() == tb.bleu(text.hypotheses, text.first).value
    after = {name: getattr(metric, name) for name in hosts.ours.SAVED_ATTRIBUTES}
    assert after == before | {"_update_count": 2, "_computed": metric.compute()}


def test_it_plots_as_others_do(hosts, monkeypatch):
    """Matplotlib is not installed; torchmetrics' own function says what it would draw."""
    import torchmetrics.metric as module

    drawn = []

    def draw(value, **options):
        drawn.append((float(value), options["lower_bound"], options["upper_bound"]))
        return "figure", "axes"

    monkeypatch.setattr(module, "plot_single_or_multi_val", draw)
    for kind, *bounds in ((hosts.ours.CorpusBLEU, 0.0, 100.0), (hosts.ours.CorpusTER, 0.0, None)):
        metric = kind()
        score = metric(["a b c d e"], ["a b c d f"]).item()
        assert metric.plot() == ("figure", "axes")
        assert drawn.pop() == (score, *bounds)


def test_two_processes_give_the_score_of_one(hosts, text, tmp_path):
    for told in ranks.run("metrics", text, tmp_path):
        for name, own in (("CorpusBLEU", tb.BLEU()), ("CorpusCHRF", tb.CHRF())):
            score = own.score(text.hypotheses, text.references)
            assert told[name] == {
                "compute": score.value,
                "score": score.to_dict(),
                "again": score.value,
            }
