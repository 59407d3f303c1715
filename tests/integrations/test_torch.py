"""all_reduce_: the totals of all processes, on all processes, or an error on all of them."""

import pytest
import ranks
from conftest import host

import truebleu as tb
from truebleu.integrations.torch import all_reduce_

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
    with pytest.raises(TypeError, match="expected an Accumulator or Statistics, not list"):
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


def test_processes_that_count_different_things_are_all_told(text, tmp_path):
    host("torch")
    first, second = ranks.run("different", text, tmp_path)
    assert first == second
    assert first["error"].startswith("these processes count different things")
    assert f"process 0 {tb.BLEU().fingerprint}" in first["error"]
    assert f"process 1 {tb.BLEU('intl').fingerprint}" in first["error"]
    assert first["afterwards"] == 2  # the group still works
