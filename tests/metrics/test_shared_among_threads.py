"""Tests of metrics, tables, sources and runs that eight threads share.

The threads run in parallel in a free-threaded Python, and alternate in other Pythons.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

import truebleu as tb
from truebleu import _kernel, significance
from truebleu.text import corpus_inputs, tokenizers

THREADS = 8
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

WORDS = ["the", "cat", "sat", "on", "a", "mat", ",", "die", "Katze", "saß", ".", "über", "3.14"]
WORDS += ["don't", "日本", "Ünïcode", "İstanbul"]


def random_texts(seed: int, count: int = 400) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(1, 60))) for _ in range(count)]


HYPOTHESES, REFERENCES, SECOND_REFERENCES = random_texts(1), random_texts(2), random_texts(3)
REFERENCE_PAIRS = list(zip(REFERENCES, SECOND_REFERENCES, strict=True))

METRICS = [
    tb.BLEU(),
    tb.BLEU(tokenize="intl", lowercase=True),
    tb.BLEU(tokenize="zh", max_order=5),
    tb.CHRF(word_order=2, lowercase=True),
    tb.TER(),
]


@pytest.fixture(autouse=True)
def _frequent_thread_switches():
    """Make threads alternate frequently in Pythons with a global lock."""
    default_interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(default_interval)


def run_in_threads(work: Callable[[int], Any]) -> list[Any]:
    """Return the results of `work` in threads that start at the same time."""
    start = threading.Barrier(THREADS)

    def run_numbered(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run_numbered, range(THREADS)))


@pytest.mark.skipif(not FREE_THREADED, reason="this Python has the lock, always")
def test_kernel_keeps_global_lock_disabled():
    code = "import sys, truebleu; truebleu.BLEU(); print(sys._is_gil_enabled())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_shared_metric_gives_equal_scores(metric):
    pairs = list(zip(HYPOTHESES, REFERENCES, SECOND_REFERENCES, strict=True))[:120]

    def scores(number: int) -> list[float]:
        # Threads start at different segments, so that they read different text.
        turned = pairs[number * 15 :] + pairs[: number * 15]
        return [metric.sentence(one, [two, three]).value for one, two, three in turned]

    expected = scores(0)
    for number, result in enumerate(run_in_threads(scores)):
        assert result == expected[number * 15 :] + expected[: number * 15]


def test_tokenizer_is_loaded_once_for_all_threads():
    pytest.importorskip("ipadic")
    waiting = threading.Barrier(2)

    def load(name: str) -> _kernel.LoadedTokenizer:
        # Wait until another thread loads it, too, or until the timeout.
        with suppress(threading.BrokenBarrierError):
            waiting.wait(0.5)
        return tokenizers.load_tokenizer(name)

    metric = tb.BLEU("ja-mecab")
    _kernel.load_tokenizers_with(load)
    try:
        results = run_in_threads(lambda _: metric.sentence("猫が座る", "猫が座った").value)
    finally:
        _kernel.load_tokenizers_with(tokenizers.load_tokenizer)
    assert set(results) == {tb.BLEU("ja-mecab").sentence("猫が座る", "猫が座った").value}


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_shared_metric_with_workers_gives_equal_statistics(metric):
    def count(number: int) -> Any:
        return metric.statistics(HYPOTHESES, REFERENCE_PAIRS, workers=1 + number % 3)

    expected = count(0)
    assert all(found == expected for found in run_in_threads(count))


def test_shared_table_gives_equal_results():
    metric = tb.BLEU()
    table = metric.statistics(HYPOTHESES, REFERENCES)
    second_table = metric.statistics(SECOND_REFERENCES, REFERENCES)

    def use(number: int) -> Any:
        rows = memoryview(table).tolist()
        if number == 0:
            gc.collect()
        groups = table.groups([row % 7 for row in range(len(table))])
        stacked = _kernel.Stack([table, second_table])
        replicates = stacked.bootstrap(_kernel.Stream(5), 50, 1 + number % 3)
        return (
            rows,
            bytes(memoryview(table[10:90])),
            (table + second_table).sum().column("reference_length"),
            {key: part.sum() for key, part in groups.items()},
            [memoryview(part).tolist() for part in replicates],
            metric.from_statistics(table).value,
        )

    expected = use(1)
    assert all(found == expected for found in run_in_threads(use))


def test_shared_measure_gives_equal_tests():
    metric = tb.BLEU()
    systems = {"one": HYPOTHESES, "other": SECOND_REFERENCES}
    tables = {name: metric.statistics(texts, REFERENCES) for name, texts in systems.items()}
    measure = significance.Measure(metric, tables)

    def run_test(number: int) -> str:
        workers = 1 + number % 3
        sure = significance.bootstrap_intervals([measure], resamples=100, workers=workers)
        tested = significance.run_paired_tests([measure], randomizations=200, workers=workers)
        return repr((sure, tested))

    expected = run_test(0)
    assert all(found == expected for found in run_in_threads(run_test))


def test_shared_source_is_read_once():
    kernel = tb.BLEU()._kernel
    source = _kernel.strings(tuple(HYPOTHESES), "hypotheses")
    references = [_kernel.references(tuple(REFERENCES)) for _ in range(THREADS)]

    def take(number: int) -> _kernel.Table | str:
        try:
            return kernel.scan(source, [references[number]], 1).totals()[0]
        except RuntimeError as error:
            return str(error)

    results = run_in_threads(take)
    tables = [one for one in results if not isinstance(one, str)]
    assert len(tables) == 1
    assert tables[0].tolist() == tb.BLEU().statistics(HYPOTHESES, REFERENCES).sum().tolist()
    assert results.count("this source has already been read") == THREADS - 1


@pytest.mark.parametrize("workers", [1, 3])
def test_shared_run_loses_no_segments(workers):
    metric = tb.BLEU()
    texts = HYPOTHESES * 25, REFERENCES * 25
    run = corpus_inputs.scan_corpus(metric._kernel, *texts, workers=workers)
    refused = []

    def rows(_: int) -> list[list[int]]:
        read_tables = []
        while True:
            try:
                part = run.table(300)[0].tolist()
            except RuntimeError as error:
                # Another thread is reading; only one thread can use a run at a time.
                refused.append(str(error))
                continue
            if not part:
                return read_tables
            read_tables += part

    shared = [row for part in run_in_threads(rows) for row in part]
    expected = metric.statistics(HYPOTHESES, REFERENCES).tolist() * 25
    assert sorted(shared) == sorted(expected)
    assert all(told.startswith("the run is already being read") for told in refused)


def test_lists_changed_during_scoring_do_not_crash():
    """Scoring lists that another thread changes gives scores or an error, but never crashes."""
    metric = tb.CHRF()
    references = [list(both) for both in REFERENCE_PAIRS]
    stop = threading.Event()

    def change() -> None:
        draw = random.Random(0)
        while not stop.is_set():
            segment_references = draw.choice(references)
            segment_references.append(draw.choice(SECOND_REFERENCES))
            del segment_references[2:]

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(5):
            run_in_threads(
                lambda _: [metric.sentence(HYPOTHESES[i], references[i]) for i in range(50)]
            )
    finally:
        stop.set()
        changing.join()
