"""Ctrl-C stops any work of the kernel from inside, and what others wrote cannot hold it up."""

import signal
import subprocess
import sys
import textwrap
import threading

import pytest
import slow_calls

import truebleu as tb
from truebleu import _kernel

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.mark.thorough
@posix
@pytest.mark.parametrize("case", slow_calls.CASES)
def test_ctrl_c_interrupts_kernel(case):
    if "pyarrow" in slow_calls.CASES[case][0]:
        pytest.importorskip("pyarrow")
    for _ in range(10):
        process = slow_calls.child(case)
        try:
            assert process.stdout.readline() == "started\n", process.stderr.read()
            process.send_signal(signal.SIGINT)
            reports, error = process.communicate(timeout=600)
        finally:
            process.kill()
            process.wait()
        # A signal may come before the work begins; none may wait until it is done.
        kind = reports.partition(" ")[0]
        if kind == "c_exception":
            return
        assert kind in ("c_call", "early"), (reports, error)
    pytest.fail(f"{case}: no interrupt came out of the kernel")


def run_child(code: str) -> None:
    """Run a script that must succeed in ten minutes."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


@posix
@pytest.mark.parametrize(
    "read",
    [
        "_kernel.Table.from_bytes(bytes(8), 1).group_totals(numbers, 1)",
        "_kernel.Table.from_bytes(bytes(8), 1).pick(numbers)",
        "_kernel.Table.from_bytes(bytes(8), 1).filter(numbers)",
        "_kernel.Scores(numbers)",
        "_kernel.edits(numbers, [])",
    ],
)
def test_ctrl_c_interrupts_reading_of_long_sequence(read):
    run_child(
        f"""
        import ctypes, itertools, signal
        from truebleu import _kernel

        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Of C, so that no byte-code hears the signal, which comes with the first item.
        raised = map(getattr(ctypes.CDLL(None), "raise"), [signal.SIGINT])
        counter = itertools.count()
        numbers = itertools.chain(raised, map(float, itertools.islice(counter, 10**6)))
        if "Scores" not in {read!r}:
            numbers = map(bool if "filter" in {read!r} else int, numbers)
        try:
            {read}
        except KeyboardInterrupt:
            assert next(counter) < 10**6
        else:
            raise SystemExit("nobody heard")
        """
    )


def test_long_text_is_equal_when_scored_in_chunks():
    # Four million characters are encoded at a time; a surrogate and an emoji stand where two meet.
    text = "é" * ((1 << 22) - 1) + "\ud800 \U0001f642" + "ü" * (1 << 22) + " a"
    assert _kernel.tokenize(text, "none", "no") == text.split()
    statistics = tb.BLEU("none").statistics([text], [text]).tolist()
    assert statistics == tb.BLEU("none").statistics(["a b c"], ["a b c"]).tolist()


@posix
def test_metric_is_usable_after_interrupt():
    run_child(
        """
        import signal, threading, truebleu as tb

        signal.signal(signal.SIGINT, signal.default_int_handler)
        text = "".join(chr(0x4E00 + i * 7919 % 20_000) for i in range(300_000))
        short = "猫がマットの上に座った。"
        metrics = tb.CHRF(), tb.TER(), tb.BLEU("char"), tb.CER()
        before = [metric.sentence(short, [short + "。"]) for metric in metrics]
        for metric in metrics:
            for _ in range(3):
                timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
                try:
                    timer.start()
                    while True:
                        metric.sentence(text, [text[::-1]] * 10)
                except KeyboardInterrupt:
                    pass
                timer.join()
        assert [metric.sentence(short, [short + "。"]) for metric in metrics] == before
        """
    )


@posix
def test_calls_in_other_threads_go_on():
    run_child(
        """
        import signal, threading, truebleu as tb

        signal.signal(signal.SIGINT, signal.default_int_handler)
        text = " ".join(map(str, range(100_000)))
        expected, found = tb.BLEU().sentence(text, [text] * 20), []
        def other():
            found.append(tb.BLEU().sentence(text, [text] * 20))
        threads = [threading.Thread(target=other) for _ in range(3)]
        try:
            for thread in threads:
                thread.start()
            threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
            while True:
                tb.BLEU().sentence(text, [text] * 20)
        except KeyboardInterrupt:
            pass
        for thread in threads:
            thread.join()
        assert len(found) == 3 and all(score == expected for score in found)
        """
    )


def test_other_threads_run_while_a_long_segment_is_scored():
    run_child(
        """
        import sys, threading, time, truebleu as tb
        from truebleu import _kernel

        # From here on a thread runs until it waits for something.
        sys.setswitchinterval(1000)
        ticks, ended = 0, False
        def tick():
            global ticks
            while not ended:
                ticks += 1
                time.sleep(0)
        thread = threading.Thread(target=tick)
        thread.start()
        text = "the cat sat on the mat " * 20_000
        calls = [
            lambda: tb.BLEU().sentence(text, [text]),
            lambda: tb.CHRF().sentence(text, [text]),
            lambda: tb.TER().sentence(text, [text]),
            lambda: _kernel.tokenize(text, "13a", "python"),
        ]
        for call in calls:
            for _ in range(1000):
                before = ticks
                call()
                if ticks > before:
                    break
            else:
                sys.exit("no other thread ran")
        ended = True
        """
    )


# ---- what others wrote, called while a run is being read ----


@pytest.mark.parametrize("method", ["scan.table()", "scan.totals()", "metric.segments(scan)"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_read_that_reads_its_own_run_is_refused(method, workers):
    run_child(
        f"""
        import truebleu as tb
        from truebleu import _kernel

        def read(size):
            {method}
            return b""

        metric = tb.BLEU()._kernel
        texts = _kernel.strings(("a b c",), "references")
        scan = metric.scan(_kernel.stream(read, "hypotheses"), [texts], {workers})
        try:
            scan.totals()
        except RuntimeError as error:
            assert "the run is already being read" in str(error), error
        else:
            raise SystemExit("it was read")
        """
    )


def test_tokenizer_and_progress_cannot_read_same_run():
    run_child(
        """
        import truebleu as tb
        from truebleu import _kernel

        metric = tb.BLEU("none")._kernel
        def rows():
            yield ["a", "b"]
            scan.table()
            yield ["c"]
        def refused(call):
            try:
                call()
            except RuntimeError as error:
                assert "the run is already being read" in str(error), error
            else:
                raise SystemExit("it was read")
        ours, theirs = (_kernel.tokens(rows(), role, False) for role in ("ours", "theirs"))
        scan = metric.scan(ours, [theirs], 2)
        refused(scan.totals)
        # A progress callback is told of a run that is long enough.
        texts = ("the cat sat on the mat " * 20,) * 100_000
        ours, theirs = _kernel.strings(texts, "hypotheses"), _kernel.references(texts)
        scan = metric.scan(ours, [theirs], 2)
        told = []
        def progress(segments):
            told.append(segments)
            scan.table()
        try:
            scan.totals(progress)
        except RuntimeError as error:
            assert told and "the run is already being read" in str(error), error
        else:
            assert not told
        """
    )


def test_refused_or_stopped_run_yields_nothing():
    def read(size):
        raise KeyError("no more")

    metric = tb.BLEU()._kernel
    texts = _kernel.strings(("a b c",), "references")
    scan = metric.scan(_kernel.stream(read, "hypotheses"), [texts], 2)
    with pytest.raises(KeyError, match="no more"):
        scan.totals()
    table, summary = scan.table()
    assert not len(table)
    assert summary["segments"] == 0


@pytest.mark.parametrize("workers", [1, 4])
def test_tokenizer_runs_in_calling_thread(workers):
    seen = set()

    class Row:
        def __len__(self):
            return 200

        def __getitem__(self, i):
            seen.add(threading.get_ident())
            if i < 200:
                return str(i)
            raise IndexError

    def tokens(text):
        seen.add(threading.get_ident())
        return text.split()

    texts = ["the cat sat on the mat"] * 20_000
    tb.BLEU(tokens).score(texts, texts, workers=workers)
    tb.BLEU("none").score([Row()] * 500, [[Row()]] * 500, workers=workers)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("workers", [1, 4])
def test_references_are_read_in_calling_thread(workers):
    seen = set()

    class References:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            seen.add(threading.get_ident())
            return ["the cat sat on a mat", None][i]

    class Text(str):
        __slots__ = ()

        def encode(self, *arguments):
            seen.add(threading.get_ident())
            return str.encode(self, *arguments)

    texts = [Text("the cat sat on the mat \ud800")] * 20_000
    column = [References()] * 10_000 + [["the cat sat on a mat"]] * 10_000
    threads = tb.bleu(texts, column, workers=workers)
    assert seen == {threading.get_ident()}
    assert threads == tb.bleu(list(map(str, texts)), ["the cat sat on a mat"] * 20_000)
