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


def bleuscore_corpus(hypotheses: str, reference: str) -> dict[str, Any]:
    import bleuscore

    hyps, refs = lines(hypotheses), [[ref] for ref in lines(reference)]
    return timed(lambda: 100 * bleuscore.compute(refs, hyps, ref_len_method="closest")["bleu"])


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
