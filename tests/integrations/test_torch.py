"""all_reduce_: all processes receive the sum of all totals, or all raise an error."""

import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import pytest
import ranks
from integration_programs import import_or_skip

import truebleu as tb
from truebleu.integrations.torch import all_reduce_
from truebleu.metrics.python_metric import SegmentMeanMetric

pytestmark = pytest.mark.filterwarnings("ignore")


def test_single_process_is_unchanged(text):
    import_or_skip("torch")
    total = tb.Accumulator()
    total.update(text.hypotheses, text.first_references)
    before = total.state_dict()
    assert all_reduce_(total) is total
    assert total.state_dict() == before
    table = tb.BLEU().statistics(text.hypotheses, text.first_references)
    assert all_reduce_(table) == table.sum()


def test_other_objects_raise_error():
    with pytest.raises(TypeError, match="expected an Accumulator or Statistics, found list"):
        all_reduce_([1, 2])


def test_two_processes_equal_one(text, tmp_path):
    import_or_skip("torch")
    accumulator = tb.Accumulator(tb.CHRF())
    accumulator.update(text.hypotheses, text.references)
    table = tb.BLEU().statistics(text.hypotheses, text.references)
    for result in ranks.run_processes("totals", text, tmp_path):
        assert result["accumulator"] == accumulator.state_dict()
        assert result["statistics"] == table.sum().tolist()
        assert result["references"] == table.references == 2
        assert result["some without text"] == accumulator.state_dict()
        assert result["numbers that vary"] == "var"
        assert result["large"] == [2**40 + 1] * 4


class ThreadedTorch:
    """Replacement for torch in all_reduce_, with threads instead of processes."""

    def __init__(self, count):
        self.barrier, self.tensors = threading.Barrier(count, timeout=60), {}
        self.gathered = []
        self.distributed = types.SimpleNamespace(
            # Sums wrap to signed 64-bit integers.
            ReduceOp=types.SimpleNamespace(
                MAX=max, SUM=lambda numbers: (sum(numbers) + 2**63) % 2**64 - 2**63
            ),
            is_available=lambda: True,
            is_initialized=lambda: True,
            get_backend=lambda group: "gloo",
            all_reduce=self.all_reduce,
            get_world_size=lambda group: count,
            all_gather_object=self.all_gather_object,
        )
        self.int64 = "int64"

    class Tensor(list):
        tolist = list.copy

    def tensor(self, numbers, dtype, device):
        assert all(-(2**63) <= number < 2**63 for number in numbers)
        return self.Tensor(numbers)

    def all_gather_object(self, objects, item, group):
        gathered = self.gathered
        gathered.append(item)
        self.barrier.wait()
        objects[:] = sorted(gathered, reverse=True)

    def all_reduce(self, tensor, operation, group):
        self.tensors[threading.get_ident()] = list(tensor)
        self.barrier.wait()
        reduced = [operation(column) for column in zip(*self.tensors.values(), strict=True)]
        self.barrier.wait()
        tensor[:] = reduced


class LengthDifference(SegmentMeanMetric):
    """The difference of lengths, which may be negative."""

    NAME = "Difference"
    BOUND = None
    NUMBER_NAMES = ("difference",)

    def __init__(self):
        self._store_parameters({})

    def _compute_numbers(self, corpus, texts):
        return [len(text) - len(others[0]) for text, others in texts]


def reduce_in_threads(monkeypatch, totals):
    """Return the result or the error message of each process."""
    processes = ThreadedTorch(len(totals))
    monkeypatch.setitem(sys.modules, "torch", processes)

    def reduce_total(total):
        try:
            return all_reduce_(total)
        except tb.InputError as error:
            return str(error)

    with ThreadPoolExecutor(len(totals)) as pool:
        return list(pool.map(reduce_total, totals))


def test_negative_totals_are_summed(monkeypatch):
    texts = [["a", "bc"], ["def"]], [["abcd", "bcdef"], ["g"]]
    accumulator = tb.Accumulator(LengthDifference())
    accumulator.update([*texts[0][0], *texts[0][1]], [*texts[1][0], *texts[1][1]])
    assert min(accumulator.totals) < 0
    shares = [tb.Accumulator(LengthDifference()) for _ in range(2)]
    for share, hypotheses, references in zip(shares, *texts, strict=True):
        share.update(hypotheses, references)
    tables = [LengthDifference().statistics(*pair) for pair in zip(*texts, strict=True)]
    assert reduce_in_threads(monkeypatch, shares) == [accumulator, accumulator]
    for table in reduce_in_threads(monkeypatch, tables):
        assert table.tolist() == [accumulator.totals]


def test_token_ids_are_summed_with_a_process_without_data(monkeypatch):
    ids = tb.token_ids([[5, 6, 7, 8, 9]])
    shares = [tb.Accumulator() for _ in range(3)]
    for share in shares[:2]:
        share.update(ids, ids)
    assert {str(one.compute().signature) for one in reduce_in_threads(monkeypatch, shares)} == {
        str(tb.BLEU().score(ids, ids).signature)
    }
    shares = [tb.Accumulator() for _ in range(2)]
    shares[0].update(ids, ids)
    shares[1].update(["a"], ["a"])
    messages = reduce_in_threads(monkeypatch, shares)
    assert all("process 0 BLEU|tok:ids" in error for error in messages), messages


def test_totals_beyond_64_bits_raise_error_everywhere(monkeypatch):
    shares = [tb.Accumulator(tb.BLEU(max_order=1)) for _ in range(4)]
    for share in shares:
        share.update(["a"], ["a"])
        share.load_state_dict(share.state_dict() | {"totals": [2**62] * 4})
    messages = reduce_in_threads(monkeypatch, shares)
    assert all("totals exceed" in error for error in messages), messages
    assert len(messages) == 4


def test_different_metrics_raise_error_everywhere(text, tmp_path):
    import_or_skip("torch")
    first, second = ranks.run_processes("different", text, tmp_path)
    assert first == second
    assert first["error"].startswith("the processes have different metrics")
    assert f"process 0 {tb.BLEU().fingerprint}" in first["error"]
    assert f"process 1 {tb.BLEU('intl').fingerprint}" in first["error"]
    assert first["afterwards"] == 2  # the group still works
