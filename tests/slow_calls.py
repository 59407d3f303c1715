"""Work that takes long in one call of the kernel, to be interrupted in the middle of it."""

import signal
import subprocess
import sys

SETUP = """
import random
import sys
import time
import truebleu as tb
from truebleu import _kernel

rng = random.Random(1)

def words(kinds, count):
    return " ".join(map(str, rng.choices(range(kinds), k=count)))

def characters(first, kinds, count):
    return "".join(map(chr, rng.choices(range(first, first + kinds), k=count)))

def table(rows, width):
    return _kernel.Table.from_bytes(rng.randbytes(2).ljust(8, b"\\0") * (rows * width), width)

def doubles(count):
    from array import array
    return array("d", (rng.random() for _ in range(count))).tobytes()

def source(text, count):
    return _kernel.strings((text,) * count, "texts")
"""

TABLE = """
import pyarrow as pa
from truebleu.engines import Sums

text = words(10**9, 100_000)
table = pa.table({"hyp": [text] * 100, "ref": [text] * 100})
"""

GROUPS = """
import itertools
import pyarrow as pa
from truebleu.engines import Sums

batch = pa.record_batch(
    {"hyp": ["a b c"] * 10_000, "ref": ["a b d"] * 10_000, "group": list(range(10_000))}
)
endless = itertools.repeat(batch)
sums = Sums(tb.BLEU(), by="group", workers=2)
"""

# Preparation, the slow kernel method, and the call.
CASES = {
    "BLEU, a segment": (
        "text = words(10**9, 200_000)",
        "sentence_score",
        "tb.BLEU(max_order=16).sentence(text, [text] * 100)",
    ),
    "BLEU, a segment against short references": (
        "text = words(100, 300_000)\nshort = words(100, 250)",
        "sentence_score",
        "tb.BLEU().sentence(text, [short] * 400)",
    ),
    "chrF, a segment": (
        "text = characters(0x4E00, 20_000, 300_000)",
        "sentence_score",
        "tb.CHRF().sentence(text, [text] * 40)",
    ),
    "chrF++, a segment of ASCII": (
        "text = words(10**9, 100_000)",
        "sentence_score",
        "tb.CHRF(word_order=2).sentence(text, [text] * 40)",
    ),
    "TER, a segment": (
        "text = words(3000, 100_000)",
        "sentence_score",
        "tb.TER().sentence(text, [words(3000, 100_000)] * 10)",
    ),
    "TER, a reference of another length": (
        "text = words(3000, 200)",
        "sentence_score",
        "tb.TER().sentence(text, [words(3000, 200_000)] * 10)",
    ),
    "TER's alignment": (
        "text = words(3000, 100_000)\nreferences = [words(3000, 100_000)] * 10",
        "ter_alignment",
        (
            "_kernel.ter_alignment(text, references, normalized=False, no_punct=False,"
            " asian_support=False, case_sensitive=False)"
        ),
    ),
    "WER, a segment": (
        "text = words(2, 500_000)",
        "sentence_score",
        "tb.WER().sentence(text, words(2, 500_000))",
    ),
    "CER, a segment": (
        "text = characters(97, 2, 500_000)",
        "sentence_score",
        "tb.CER().sentence(text, characters(97, 2, 500_000))",
    ),
    "the edits themselves": (
        "one, other = (rng.choices((1, 2), k=500_000) for _ in range(2))",
        "edits",
        "_kernel.edits(one, other)",
    ),
    "a corpus of long segments": (
        "text = words(10**9, 100_000)",
        "totals",
        "tb.bleu([text] * 400, [text] * 400, max_order=16)",
    ),
    "a corpus of long segments, in two threads": (
        "text = words(10**9, 100_000)",
        "totals",
        "tb.bleu([text] * 400, [text] * 400, max_order=16, workers=2)",
    ),
    "the sums of groups": (
        TABLE,
        "update",
        "Sums(tb.BLEU(max_order=16)).update(table)",
    ),
    "the sums of groups, in two threads": (
        TABLE,
        "update",
        "Sums(tb.BLEU(max_order=16), workers=2).update(table)",
    ),
    "the sums of groups of many small rows": (
        GROUPS,
        "update",
        "sums.update(pa.RecordBatchReader.from_batches(batch.schema, endless))",
    ),
    "all pairs of rows of scores": (
        "texts = [words(3000, 60) for _ in range(20_000)]\nmetric = tb.BLEU()",
        "matrix",
        "metric.matrix(texts, texts, dtype='float32', workers=2)",
    ),
    "the scores of segments": (
        "text = words(10**9, 100_000)",
        "segments",
        "tb.BLEU(max_order=16).segments([text] * 400, [text] * 400)",
    ),
    "all pairs by chrF": (
        "texts = [words(3000, 60) for _ in range(30_000)]",
        "expected",
        "tb.CHRF().expected(texts)",
    ),
    "all pairs by BLEU, in two threads": (
        "texts = [words(3000, 60) for _ in range(50_000)]",
        "expected",
        "tb.BLEU().expected(texts, workers=2)",
    ),
    "all pairs of long texts": (
        "texts = [words(10**9, 300_000) for _ in range(4)] * 8",
        "expected",
        "tb.BLEU(max_order=16).expected(texts)",
    ),
    "all pairs by TER": (
        "texts = [words(3000, 60) for _ in range(5000)]",
        "expected",
        "tb.TER().expected(texts)",
    ),
    "each with all others": (
        "texts = [words(10**9, 3000) for _ in range(100)] * 20",
        "left_out",
        "tb.self_bleu(texts, max_order=16)",
    ),
    "different n-grams": (
        "texts = [words(10**9, 3000) for _ in range(100)] * 20",
        "distinct",
        "tb.distinct_n(texts, n=30)",
    ),
    "the bootstrap": (
        "stack = _kernel.Stack([table(200_000, 10)])",
        "bootstrap",
        "stack.bootstrap(_kernel.Stream(1), 500_000, 1)",
    ),
    "the bootstrap, in two threads": (
        "stack = _kernel.Stack([table(200_000, 10)])",
        "bootstrap",
        "stack.bootstrap(_kernel.Stream(1), 500_000, 2)",
    ),
    "randomized halves": (
        "stack = _kernel.Stack([table(500_000, 10)])",
        "choose",
        "stack.choose(_kernel.Stream(1), 500_000, 2)",
    ),
    "exchanges between systems": (
        "scores = doubles(20 * 1000)",
        "leads",
        "_kernel.leads(scores, 20, _kernel.Stream(1), 10**7)",
    ),
    "pairs of cells": (
        "scores = doubles(300_000)",
        "pair_counts",
        "_kernel.pair_counts(scores, scores, 1, 'none', 0.001, 0.0)",
    ),
    "a tie threshold": (
        "scores = doubles(6000)",
        "best_epsilon",
        "_kernel.best_epsilon(scores, scores, 1, 'none')",
    ),
    "distinctive n-grams": (
        (
            "texts = [words(10**9, 3000) for _ in range(300)] * 5\n"
            "sources = [_kernel.strings(tuple(texts), 'texts') for _ in range(3)]\n"
            "corpus = _kernel.Corpus(sources[:2], sources[2:], 'none', 'no', 4, 10**9)"
        ),
        "contrasts",
        "corpus.contrasts(pairs=[(0, 1)], limit=100, examples=10, least=2)",
    ),
    "the health of texts": (
        (
            "text = ('(a) word & another, ' * 50_000).encode()\ncolumn = (text,) * 400\n"
            "none = {'tokenized': False, 'unsplit': [], 'negation': [], 'marks': []}"
        ),
        "health",
        "_kernel.health([column], [column], None, **none)",
    ),
    "texts of a page": (
        "column = ((b'a word, ' * 50_000),) * 400",
        "with_dictionary",
        "_kernel.with_dictionary([column])",
    ),
}

# A thread prints "started" once the kernel has released the interpreter.
WATCHED = """
import threading

events, begun = [], threading.Event()

def tell():
    begun.wait()
    print("started", flush=True)

threading.Thread(target=tell, daemon=True).start()
sys.setswitchinterval(1000)

def is_kernels(function):
    of = getattr(function, "__self__", None)
    return "truebleu._kernel" in (getattr(of, "__module__", ""), getattr(of, "__name__", ""))

def watch(frame, event, function):
    if getattr(function, "__name__", "") == METHOD and event[:2] == "c_" and is_kernels(function):
        events.append(event)
        begun.set()

sys.setprofile(watch)
try:
    CALL
except KeyboardInterrupt:
    sys.setprofile(None)
    print(events[-1] if events else "early", time.process_time_ns(), flush=True)
else:
    sys.setprofile(None)
    print("done", time.process_time_ns(), flush=True)
"""


def child(case: str) -> subprocess.Popen:
    """Return a process that says "started" when the kernel begins with a case.

    At its end it prints "c_exception" if the kernel itself raised the interrupt, and the total
    processor time in nanoseconds.
    """
    setup, method, call = CASES[case]
    watched = WATCHED.replace("METHOD", repr(method)).replace("CALL", call)
    code = f"{SETUP}\n{setup}\n{watched}"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
