"""Tests that draws equal NumPy's, and that sacreBLEU's results are reproduced bit for bit."""

import math
import random
import subprocess
import sys

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import significance as original

from truebleu import BLEU
from truebleu._kernel import (
    InputError,
    Scores,
    SingleFormula,
    SingleStack,
    Stack,
    Stream,
    Table,
    count_higher,
    exchanged,
    summarize_differences,
)
from truebleu.significance import sacrebleu_compat as significance_sacrebleu
from truebleu.significance.resampled_metric import check_memory
from truebleu.significance.resampling import _count_near
from truebleu.significance.results import compute_variance

seeds = st.sampled_from([0, 1, 4, 12345, 2**32 - 1, 2**32, 2**40 + 7, 2**130 + 7]) | st.integers(
    0, 2**300
)


@given(seeds, st.integers(1, 2**32 - 1) | st.integers(1, 50), st.integers(0, 300))
def test_indices_equal_numpy(seed, bound, count):
    assert (
        Stream(seed).indices(bound, count)
        == np.random.default_rng(seed).choice(bound, count).tolist()
    )


@given(seeds, st.integers(0, 200), st.integers(1, 60))
def test_booleans_and_following_indices_equal_numpy(seed, count, bound):
    generator, stream = np.random.default_rng(seed), Stream(seed)
    # After an odd number of draws, the stream holds a half-used value, which comes first.
    assert stream.indices(bound, 3) == generator.choice(bound, 3).tolist()
    half = count // 2
    values = stream.bools(half) + stream.bools(count - half)
    assert values == generator.integers(2, size=count, dtype=bool).tolist()
    assert stream.indices(bound, 9) == generator.choice(bound, 9).tolist()


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_seed_must_be_non_negative_integer(seed):
    with pytest.raises((ValueError, TypeError)):
        Stream(seed)


@given(
    st.integers(1, 200),
    st.integers(0, 2**12) | st.integers(0, 2**40),
    st.integers(1, 30),
    st.integers(1, 3),
)
def test_resampled_sums_equal_numpy(rows, largest, replicates, workers):
    dice = random.Random(rows * largest)
    tables = [
        [[dice.randint(-largest, largest) for _ in range(width)] for _ in range(rows)]
        for width in (2, 11)
    ]
    for row in tables[1]:
        row[3] = 0
    stack = Stack([Table.from_rows(table, len(table[0])) for table in tables])
    generator, stream = np.random.default_rng(7), Stream(7)
    mask = generator.integers(2, size=(replicates, rows), dtype=bool)
    selected_sums = stack.choose(stream, replicates, workers)
    draws = generator.choice(rows, (replicates, rows))
    sums = stack.bootstrap(stream, replicates, workers)
    for number, table in enumerate(tables):
        values = np.array(table)
        assert (np.asarray(selected_sums[number]) == mask.astype(np.int64) @ values).all()
        assert (np.asarray(sums[number]) == values[draws].sum(1)).all()


def test_swapped_sums_equal_numpy():
    first_rows = np.array([[1, 2], [3, 4], [5, 6]])
    second_rows = np.array([[10, 0], [0, 10], [7, 7]])
    tables = [Table.from_rows(rows.tolist(), 2) for rows in (first_rows, second_rows)]
    selected_sums = Stack(tables).choose(Stream(3), 20, 1)
    mask = np.random.default_rng(3).integers(2, size=(20, 3), dtype=bool)
    a, b = exchanged((selected_sums[0], selected_sums[1]), (tables[0].total(), tables[1].total()))
    assert a.tolist() == (mask @ first_rows + ~mask @ second_rows).tolist()
    assert b.tolist() == (~mask @ first_rows + mask @ second_rows).tolist()
    # Differences between the tables suffice.
    first_sums, second_sums = Stack.of_differences([tables]).choose(Stream(3), 20, 1)
    swapped = exchanged((first_sums, second_sums), (tables[0].total(), tables[1].total()))
    assert [table.tolist() for table in swapped] == [a.tolist(), b.tolist()]
    with pytest.raises(ValueError, match="the two tables have different shapes"):
        exchanged((selected_sums[0], selected_sums[1]), (tables[0], tables[1].total()))


def test_overflow_and_shape_mismatch_are_refused():
    narrow, wide = Table.from_rows([[-(2**63)]], 1), Table.from_rows([[1, 2]], 2)
    with pytest.raises(InputError, match="overflow 64-bit integers"):
        Stack.of_differences([[narrow, Table.from_rows([[1]], 1)]])
    with pytest.raises(ValueError, match="different shapes"):
        Stack.of_differences([[narrow, wide]])
    with pytest.raises(ValueError, match="at least one table"):
        Stack.of_differences([])


@pytest.mark.parametrize(
    ("first", "second"), [(2**63 - 1, -1), (-(2**63), 1), (-(2**63), 2**63 - 1)]
)
def test_swapped_sums_beyond_64_bits_are_refused(first, second):
    rows = [Table.from_rows([[value, 0]], 2) for value in (first, second)]
    zero = Table.from_rows([[0, 0]], 2)
    with pytest.raises(InputError, match="overflow 64-bit integers"):
        exchanged((rows[0], rows[1]), (zero, zero))
    # Sums that fit are exact, even if intermediate values overflow.
    largest = Table.from_rows([[2**63 - 1, 0]], 2)
    exact = [table.tolist() for table in exchanged((zero, zero), (rows[0], largest))]
    assert exact == [largest.tolist(), rows[0].tolist()]


scores = st.floats(0, 100) | st.integers(0, 3).map(float)


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=40))
def test_summary_of_differences_equals_definition(pairs):
    first, second = zip(*pairs, strict=True)
    columns = Scores(first), Scores(second)
    differences = [a - b for a, b in pairs]
    mean = math.fsum(differences) / len(pairs)
    ordered, *moments = summarize_differences(*columns)
    assert ordered == sorted(differences)
    assert moments == [mean, compute_variance(differences, 1)]
    wins = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    assert count_higher(*columns) == wins
    for distance in (0.0, 0.5, abs(differences[0] - mean)):
        near = sum(abs(difference - mean) < distance for difference in differences)
        assert _count_near(ordered, mean, distance) == near


# ---- sacreBLEU's formulas in single precision ----


counts = st.integers(0, 30) | st.integers(0, 2**23)


@given(st.lists(st.tuples(counts, counts), min_size=2, max_size=40), st.integers(1, 4))
def test_single_precision_ter_equals_sacrebleu(rows, references):
    """Lengths are means over references, stored as exact multiples."""
    sacrebleu_rows = [[edits, length / references] for edits, length in rows]
    table = Table.from_rows([[edits, length * 720720 // references] for edits, length in rows], 2)
    [(scores, single)] = SingleStack([(table, SingleFormula.ter())]).bootstrap(Stream(12345), 30, 1)
    _, expected = original._bootstrap_resample(sacrebleu_rows, sacrebleu.TER(), 30)
    expected = [one.score for one in expected]
    assert scores == list(map(float, expected))
    assert single == all(isinstance(one, np.float32) for one in expected)


@given(st.lists(st.lists(counts, min_size=18, max_size=18), min_size=2, max_size=9), st.booleans())
def test_single_precision_chrf_equals_sacrebleu(rows, eps_smoothing):
    stack = SingleStack([(Table.from_rows(rows, 18), SingleFormula.chrf(4.0, eps_smoothing))])
    [(scores, single)] = stack.bootstrap(Stream(12345), 30, 1)
    metric = sacrebleu.CHRF(eps_smoothing=eps_smoothing)
    expected = [one.score for one in original._bootstrap_resample(rows, metric, 30)[1]]
    assert scores == list(map(float, expected))
    assert single == all(isinstance(one, np.float32) for one in expected)


def test_metrics_unknown_to_sacrebleu_are_refused():
    metric = BLEU(weights=(1, 1, 0, 0))
    table = metric.statistics(["a b c d e"] * 2, ["a b c d f"] * 2)
    with pytest.raises(ValueError, match="sacreBLEU does not support BLEU"):
        significance_sacrebleu.bootstrap_scores([(metric, [table])], Stream(12345), 5)


def test_memory_is_checked_before_resampling():
    message = r"resampling 10,000,000,000,000 segments needs about [0-9,]+ MB of memory"
    for kind in ("integer", "single"):
        with pytest.raises(MemoryError, match=message):
            check_memory(10**13, 10, kind=kind)
        check_memory(100, 10, kind=kind)


SCRIPT = """
import resource, sys
from truebleu import BLEU
from truebleu._kernel import Stream
from truebleu.significance import Measure, bootstrap_intervals, sacrebleu_compat
metric = BLEU()
table = metric.statistics(["a b c d e"] * 300_000, ["a b c d f"] * 300_000)
measure = Measure(metric, {"one": table})
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 20_000_000, size + 20_000_000))
for work in (
    lambda: sacrebleu_compat.bootstrap_scores([(metric, [table])], Stream(1), 20),
    lambda: list(sacrebleu_compat.randomize_scores(metric, (table, table), 20, Stream(1))),
    lambda: bootstrap_intervals([measure], resamples=20),
):
    try:
        work()
    except MemoryError as error:
        print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits address space")
def test_insufficient_memory_raises_memory_error():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("resampling 300,000 segments needs about") == 3
