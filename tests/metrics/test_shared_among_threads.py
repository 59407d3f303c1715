"""One metric, one table, one source and one run, each used by eight threads at once.

Under a free-threaded Python they run side by side; under any other, the threads take turns.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

import truebleu as tb
from truebleu import _kernel, significance
from truebleu.text import corpus_inputs, tokenizers

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 8
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

WORDS = ["the", "cat", "sat", "on", "a", "mat", ",", "die", "Katze", "saß", ".", "über", "3.14"]
WORDS += ["don't", "日本", "Ünïcode", "İstanbul"]


def texts(seed: int, count: int = 400) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(1, 60))) for _ in range(count)]


HYPOTHESES, REFERENCES, OTHERS = texts(1), texts(2), texts(3)
BOTH = list(zip(REFERENCES, OTHERS, strict=True))

METRICS = [
    tb.BLEU(),
    tb.BLEU(tokenize="intl", lowercase=True),
    tb.BLEU(tokenize="zh", max_order=5),
    tb.CHRF(word_order=2, lowercase=True),
    tb.TER(),
]


@pytest.fixture(autouse=True)
def hasty():
    """Where threads take turns, they do so often."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What `work` gives in each of the threads, which start together."""
    start = threading.Barrier(THREADS)

    def one(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


@pytest.mark.skipif(not FREE_THREADED, reason="this Python has the lock, always")
def test_the_kernel_does_not_bring_the_lock_back():
    code = "import sys, truebleu; truebleu.BLEU(); print(sys._is_gil_enabled())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_one_metric(metric):
    pairs = list(zip(HYPOTHESES, REFERENCES, OTHERS, strict=True))[:120]

    def scores(number: int) -> list[float]:
        # Each thread begins somewhere else, so that they do not all read the same text.
        turned = pairs[number * 15 :] + pairs[: number * 15]
        return [metric.sentence(one, [two, three]).value for one, two, three in turned]

    alone = scores(0)
    for number, found in enumerate(at_once(scores)):
        assert found == alone[number * 15 :] + alone[: number * 15]


def test_one_metric_whose_tokenizer_is_loaded_at_the_first_segment():
    pytest.importorskip("ipadic")
    waiting = threading.Barrier(2)

    def load(name: str) -> _kernel.LoadedTokenizer:
        # Until another thread wants it, too, or none of them comes.
        with suppress(threading.BrokenBarrierError):
            waiting.wait(0.5)
        return tokenizers.load_tokenizer(name)

    metric = tb.BLEU("ja-mecab")
    _kernel.load_tokenizers_with(load)
    try:
        found = at_once(lambda _: metric.sentence("猫が座る", "猫が座った").value)
    finally:
        _kernel.load_tokenizers_with(tokenizers.load_tokenizer)
    assert set(found) == {tb.BLEU("ja-mecab").sentence("猫が座る", "猫が座った").value}


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_one_metric_on_one_corpus_with_threads_of_its_own(metric):
    def count(number: int) -> Any:
        return metric.statistics(HYPOTHESES, BOTH, workers=1 + number % 3)

    alone = count(0)
    assert all(found == alone for found in at_once(count))


def test_one_table():
    metric = tb.BLEU()
    table = metric.statistics(HYPOTHESES, REFERENCES)
    other = metric.statistics(OTHERS, REFERENCES)

    def use(number: int) -> Any:
        rows = memoryview(table).tolist()
        if number == 0:
            gc.collect()
        groups = table.groups([row % 7 for row in range(len(table))])
        stacked = _kernel.Stack([table, other])
        replicates = stacked.bootstrap(_kernel.Stream(5), 50, 1 + number % 3)
        return (
            rows,
            bytes(memoryview(table[10:90])),
            (table + other).sum().column("reference_length"),
            {key: part.sum() for key, part in groups.items()},
            [memoryview(part).tolist() for part in replicates],
            metric.from_statistics(table).value,
        )

    alone = use(1)
    assert all(found == alone for found in at_once(use))


def test_one_measure():
    metric = tb.BLEU()
    systems = {"one": HYPOTHESES, "other": OTHERS}
    tables = {name: metric.statistics(texts, REFERENCES) for name, texts in systems.items()}
    measure = significance.Measure(metric, tables)

    def test(number: int) -> str:
        workers = 1 + number % 3
        sure = significance.bootstrap_intervals([measure], resamples=100, workers=workers)
        tested = significance.run_paired_tests([measure], randomizations=200, workers=workers)
        return repr((sure, tested))

    alone = test(0)
    assert all(found == alone for found in at_once(test))


def test_one_source_is_read_by_one_of_them():
    kernel = tb.BLEU()._kernel
    source = _kernel.strings(tuple(HYPOTHESES), "hypotheses")
    references = [_kernel.references(tuple(REFERENCES)) for _ in range(THREADS)]

    def take(number: int) -> _kernel.Table | str:
        try:
            return kernel.scan(source, [references[number]], 1).totals()[0]
        except RuntimeError as error:
            return str(error)

    found = at_once(take)
    tables = [one for one in found if not isinstance(one, str)]
    assert len(tables) == 1
    assert tables[0].tolist() == tb.BLEU().statistics(HYPOTHESES, REFERENCES).sum().tolist()
    assert found.count("this source has been read already") == THREADS - 1


@pytest.mark.parametrize("workers", [1, 3])
def test_one_run_is_shared_without_loss(workers):
    metric = tb.BLEU()
    run = corpus_inputs.scan_corpus(
        metric._kernel, HYPOTHESES * 25, REFERENCES * 25, workers=workers
    )

    refused = []

    def rows(_: int) -> list[list[int]]:
        found = []
        while True:
            try:
                part = run.table(300)[0].tolist()
            except RuntimeError as error:
                # Another thread reads: a run is one thread's at a time.
                refused.append(str(error))
                continue
            if not part:
                return found
            found += part

    shared = [row for part in at_once(rows) for row in part]
    alone = metric.statistics(HYPOTHESES, REFERENCES).tolist() * 25
    assert sorted(shared) == sorted(alone)
    assert all(told.startswith("the run is being read already") for told in refused)


def test_objects_of_others_that_change_meanwhile():
    """Lists that another thread changes give some scores or a clear error, never a crash."""
    metric = tb.CHRF()
    references = [list(both) for both in BOTH]
    stop = threading.Event()

    def change() -> None:
        draw = random.Random(0)
        while not stop.is_set():
            several = draw.choice(references)
            several.append(draw.choice(OTHERS))
            del several[2:]

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(5):
            at_once(lambda _: [metric.sentence(HYPOTHESES[i], references[i]) for i in range(50)])
    finally:
        stop.set()
        changing.join()
