"""all_reduce_: the totals of all processes, on all processes, or an error on all of them."""

import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import pytest
import ranks
from integration_programs import host

import truebleu as tb
from truebleu.integrations.torch import all_reduce_
from truebleu.metrics.python_metric import SegmentMeanMetric

pytestmark = pytest.mark.filterwarnings("ignore")


def test_one_process_has_the_sum_already(text):
    host("torch")
    total = tb.Accumulator()
    total.update(text.hypotheses, text.first)
    before = total.state_dict()
    assert all_reduce_(total) is total
    assert total.state_dict() == before
    table = tb.BLEU().statistics(text.hypotheses, text.first)
    assert all_reduce_(table) == table.sum()


def test_only_totals_can_be_added_up():
    with pytest.raises(TypeError, match="expected an Accumulator or Statistics, found list"):
        all_reduce_([1, 2])


def test_two_processes_have_the_totals_of_one(text, tmp_path):
    host("torch")
    whole = tb.Accumulator(tb.CHRF())
    whole.update(text.hypotheses, text.references)
    table = tb.BLEU().statistics(text.hypotheses, text.references)
    for told in ranks.run("totals", text, tmp_path):
        assert told["accumulator"] == whole.state_dict()
        assert told["statistics"] == table.sum().tolist()
        assert told["references"] == table.references == 2
        assert told["some without text"] == whole.state_dict()
        assert told["numbers that vary"] == "var"
        assert told["large"] == [2**40 + 1] * 4


class Processes:
    """What all_reduce_ asks of torch, with threads that stand for processes."""

    def __init__(self, count):
        self.barrier, self.given = threading.Barrier(count, timeout=60), {}
        self.distributed = types.SimpleNamespace(
            ReduceOp=types.SimpleNamespace(MAX=max, SUM=lambda numbers: wrapped(sum(numbers))),
            is_available=lambda: True,
            is_initialized=lambda: True,
            get_backend=lambda group: "gloo",
            all_reduce=self.all_reduce,
        )
        self.int64 = "int64"

    class Tensor(list):
        tolist = list.copy

    def tensor(self, numbers, dtype, device):
        assert all(-(2**63) <= number < 2**63 for number in numbers)
        return self.Tensor(numbers)

    def all_reduce(self, tensor, operation, group):
        self.given[threading.get_ident()] = list(tensor)
        self.barrier.wait()
        reduced = [operation(column) for column in zip(*self.given.values(), strict=True)]
        self.barrier.wait()
        tensor[:] = reduced


def wrapped(number):
    """What 64 bits keep of it."""
    return (number + 2**63) % 2**64 - 2**63


class Difference(SegmentMeanMetric):
    """The difference of lengths, which may be below 0."""

    NAME = "Difference"
    BOUND = None
    NUMBER_NAMES = ("difference",)

    def __init__(self):
        self._store_parameters({})

    def _compute_numbers(self, corpus, texts):
        return [len(text) - len(others[0]) for text, others in texts]


def reduced(monkeypatch, totals):
    """What each process has afterwards, or what it was told."""
    processes = Processes(len(totals))
    monkeypatch.setitem(sys.modules, "torch", processes)

    def one(total):
        try:
            return all_reduce_(total)
        except tb.InputError as error:
            return str(error)

    with ThreadPoolExecutor(len(totals)) as pool:
        return list(pool.map(one, totals))


def test_totals_below_zero_are_added_up(monkeypatch):
    texts = [["a", "bc"], ["def"]], [["abcd", "bcdef"], ["g"]]
    whole = tb.Accumulator(Difference())
    whole.update([*texts[0][0], *texts[0][1]], [*texts[1][0], *texts[1][1]])
    assert min(whole.totals) < 0
    shares = [tb.Accumulator(Difference()) for _ in range(2)]
    for share, own, references in zip(shares, *texts, strict=True):
        share.update(own, references)
    tables = [Difference().statistics(*pair) for pair in zip(*texts, strict=True)]
    assert reduced(monkeypatch, shares) == [whole, whole]
    for table in reduced(monkeypatch, tables):
        assert table.tolist() == [whole.totals]


def test_totals_beyond_64_bits_are_refused_by_all(monkeypatch):
    shares = [tb.Accumulator(tb.BLEU(max_order=1)) for _ in range(4)]
    for share in shares:
        share.update(["a"], ["a"])
        share.load_state_dict(share.state_dict() | {"totals": [2**62] * 4})
    told = reduced(monkeypatch, shares)
    assert all("totals exceed" in error for error in told), told
    assert len(told) == 4


def test_processes_that_count_different_things_are_all_told(text, tmp_path):
    host("torch")
    first, second = ranks.run("different", text, tmp_path)
    assert first == second
    assert first["error"].startswith("the processes have different metrics")
    assert f"process 0 {tb.BLEU().fingerprint}" in first["error"]
    assert f"process 1 {tb.BLEU('intl').fingerprint}" in first["error"]
    assert first["afterwards"] == 2  # the group still works
