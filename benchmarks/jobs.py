"""What runs in a fresh Python and times itself: `python jobs.py NAME ARGUMENT...` prints JSON.

Only the call is timed, after the library is imported and the text is in memory as the row says.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Call it once; seconds of processor time (all threads) and elapsed, and what it returned."""
    elapsed, processor = time.perf_counter(), time.process_time()
    result = work()
    processor, elapsed = time.process_time() - processor, time.perf_counter() - elapsed
    return {"processor": processor, "elapsed": elapsed, "result": result}


def lines(path: str) -> list[str]:
    return list(read_lines(Path(path)))


# ---- truebleu ----


def score_files(workers: str, parameters: str, hypotheses: str, *references: str) -> dict[str, Any]:
    import truebleu as tb

    metric = tb.BLEU(**json.loads(parameters))
    paths = [Path(path) for path in references]
    return timed(
        lambda: (
            metric.score(
                Path(hypotheses), paths if len(paths) > 1 else paths[0], workers=int(workers)
            ).value
        )
    )


def count_tokens(parameters: str, *paths: str) -> dict[str, Any]:
    """How many tokens there are in all files."""
    import truebleu as tb

    metric, files = tb.BLEU(**json.loads(parameters)), [Path(path) for path in paths]
    return timed(lambda: sum(metric.score(file, file).hypothesis_length for file in files))


def score_list(hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    metric, hyps, refs = tb.BLEU(), lines(hypotheses), lines(reference)
    return timed(lambda: metric.score(hyps, refs).value)


def score_arrow(hypotheses: str, reference: str) -> dict[str, Any]:
    import pyarrow as pa

    import truebleu as tb

    metric, hyps, refs = tb.BLEU(), pa.array(lines(hypotheses)), pa.array(lines(reference))
    return timed(lambda: metric.score(hyps, refs).value)


def segments(hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    metric, hyps, refs = tb.BLEU(), lines(hypotheses), lines(reference)
    report = timed(lambda: metric.segments(hyps, refs))
    report["result"] = report["result"].tolist()
    return report


def segments_again(hypotheses: str, reference: str) -> dict[str, Any]:
    """The second call on the same strings, when Python has the UTF-8 form of each."""
    import truebleu as tb

    metric, hyps, refs = tb.BLEU(), lines(hypotheses), lines(reference)
    metric.segments(hyps, refs)
    report = timed(lambda: metric.segments(hyps, refs))
    report["result"] = report["result"].tolist()
    return report


def sentences(hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    pairs, metric = list(zip(lines(hypotheses), lines(reference), strict=True)), tb.BLEU()
    return timed(lambda: [metric.sentence(hyp, ref).value for hyp, ref in pairs])


def score_chrf(words: str, hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    metric, hyps, refs = tb.CHRF(word_order=int(words)), lines(hypotheses), lines(reference)
    return timed(lambda: metric.score(hyps, refs).value)


def score_ter(hypotheses: str, reference: str) -> dict[str, Any]:
    import truebleu as tb

    metric, hyps, refs = tb.TER(), lines(hypotheses), lines(reference)
    return timed(lambda: metric.score(hyps, refs).value)


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
    """The tests of systems whose statistics are known."""
    import truebleu as tb
    from truebleu.significance import Measure, paired

    systems, refs = made_up_systems(count, hypotheses, reference), lines(reference)
    found: dict[str, Any] = {"bleu": tb.BLEU(), "chrf": tb.CHRF(), "ter": tb.TER()}
    measures = [
        Measure(metric, {name: metric.statistics(hyps, refs) for name, hyps in systems.items()})
        for metric in (found[name] for name in metrics.split())
    ]

    def work() -> list[float]:
        results = paired(measures, test=test)
        return [found.p for result in results for found in result.differences.values()]

    return timed(work)


def as_sacrebleu_tests(test: str, count: str, hypotheses: str, reference: str) -> Any:
    """SacreBLEU's tests, from text to p-values."""
    import truebleu as tb
    from truebleu import significance_sacrebleu

    systems, refs = made_up_systems(count, hypotheses, reference), lines(reference)
    metric = tb.BLEU(effective_order=False)
    run = getattr(significance_sacrebleu, f"paired_{test}")

    def work() -> list[float]:
        tables = [metric.statistics(hyps, refs) for hyps in systems.values()]
        return [result.p_value for result in run(metric, tables)[1:]]

    return timed(work)


# ---- peers ----


def sacrebleu_corpus(hypotheses: str, *references: str) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU

    metric, hyps, refs = BLEU(), lines(hypotheses), [lines(path) for path in references]
    return timed(lambda: metric.corpus_score(hyps, refs).score)


def sacrebleu_chrf(words: str, hypotheses: str, *references: str) -> dict[str, Any]:
    from sacrebleu.metrics.chrf import CHRF

    metric, hyps = CHRF(word_order=int(words)), lines(hypotheses)
    refs = [lines(path) for path in references]
    return timed(lambda: metric.corpus_score(hyps, refs).score)


def sacrebleu_ter(hypotheses: str, reference: str) -> dict[str, Any]:
    from sacrebleu.metrics.ter import TER

    metric, hyps, refs = TER(), lines(hypotheses), lines(reference)
    return timed(lambda: metric.corpus_score(hyps, [refs]).score)


def sacrebleu_segments(hypotheses: str, reference: str) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU

    pairs = list(zip(lines(hypotheses), lines(reference), strict=True))
    metric = BLEU(effective_order=True)
    return timed(lambda: [metric.sentence_score(hyp, [ref]).score for hyp, ref in pairs])


def sacrebleu_sentences(hypotheses: str, reference: str) -> dict[str, Any]:
    import sacrebleu

    pairs = list(zip(lines(hypotheses), lines(reference), strict=True))
    return timed(lambda: [sacrebleu.sentence_bleu(hyp, [ref]).score for hyp, ref in pairs])


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


# ---- NLTK, and what stands for it ----


def nltk_sentences(package: str, function: str, hypotheses: str, reference: str) -> dict[str, Any]:
    """One call a pair of `sentence_bleu` and the like, of tokens; chrF takes text."""
    call, hyps, refs = _nltk(package, f"sentence_{function}", hypotheses, reference)
    if function != "chrf":
        refs = [[ref] for ref in refs]
    pairs = list(zip(refs, hyps, strict=True))
    return timed(lambda: [call(*pair) for pair in pairs])


def nltk_corpus(package: str, function: str, hypotheses: str, reference: str) -> dict[str, Any]:
    call, hyps, refs = _nltk(package, f"corpus_{function}", hypotheses, reference)
    if function != "chrf":
        refs = [[ref] for ref in refs]
    return timed(lambda: call(refs, hyps))


def _nltk(package: str, function: str, hypotheses: str, reference: str) -> tuple[Any, ...]:
    """The function, and pairs of which the hypothesis is as long as NLTK's NIST needs it."""
    import warnings

    warnings.simplefilter("ignore")
    name = function.partition("_")[2]
    call = getattr(importlib.import_module(f"{package}.{name}_score"), function)
    pairs = zip(lines(hypotheses), lines(reference), strict=True)
    kept = [pair for pair in pairs if len(pair[0].split()) >= 5]
    sides: list[list[Any]] = [list(side) for side in zip(*kept, strict=True)]
    if name != "chrf":
        sides = [[text.split() for text in side] for side in sides]
    return call, *sides


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
