"""The common case without detours: files of text, or standard input, straight to the kernel.

Its numbers are those of sacreBLEU's classes; nothing but speed is different. What is not plain,
and what is wrong, is left to the general way, which knows what to do and what to say.
"""

from __future__ import annotations

import os
import stat

from truebleu import File, InputError
from truebleu.counted import together
from truebleu.files import DECOMPRESSORS, UTF8
from truebleu.metric import SHORT_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from truebleu.counted import Counted
    from truebleu.metric import Score

    from ._options import Options

# Fields of truebleu's signatures that sacreBLEU's have not.
OWN_FIELDS = ("by", "beta", "value")

# Tokenizers that are the kernel's, and the target languages that have others.
TOKENIZERS = (None, "13a", "intl", "zh", "char", "none")
OTHER_TOKENIZERS = ("zh", "ja", "ko")

# With so many references, mean reference lengths have no rounding that an order of adding decides.
EXACT_MEANS = (1, 2, 4, 8, 16)

# From so many lines on that end in " .", a text is suspected to be tokenized.
TOKENIZED_LINES = 100


def is_for(options: Options) -> bool:
    """Whether one system's scores are wanted, of plain text, and nothing else."""
    special = (
        options.test_set is not None
        or options.origlang is not None
        or options.subset is not None
        or options.sentence_level
        or options.confidence
        or options.paired_ar
        or options.paired_bs
        or options.detail
        or options.num_refs != 1
        or (options.input is not None and len(options.input) != 1)
    )
    return (
        not special
        and options.encoding.lower() in UTF8
        and all(map(_is_plain, (*options.refs, *(options.input or ()))))
        and ("bleu" not in options.metrics or _has_kernel_tokenizer(options))
        # Lines lose white space at their ends before it is counted.
        and ("chrf" not in options.metrics or not options.chrf_whitespace)
        and ("ter" not in options.metrics or len(options.refs) in EXACT_MEANS)
    )


def _has_kernel_tokenizer(options: Options) -> bool:
    language = (options.langpair or "-").split("-")[1]
    return options.bleu_tokenize in TOKENIZERS and language not in OTHER_TOKENIZERS


def _is_plain(path: str) -> bool:
    """Whether a file is not compressed, and can be read twice."""
    if path == "-" or path.endswith(tuple(DECOMPRESSORS)):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def results(options: Options, system: list[str] | None) -> list[str] | None:
    """What to print for each metric; None if that needs another look.

    system: what was read from standard input; None if the system is in a file.
    """
    names = sorted(set(options.metrics))
    hypotheses = system or File(options.input[0])
    references = list(map(File, options.refs))
    try:
        metrics = [_metric(name, options) for name in names]
        totals, seen = together(metrics, hypotheses, references, totals=True)
    except (InputError, OSError, ValueError):
        return None
    if "bleu" in names and not options.bleu_force:
        _warn_of_tokenized(seen["tokenized"][0], None if system else options.input[0])
    written = _as_json if options.format == "json" else _as_text
    return [
        written(metric, metric.from_statistics(sums), options)
        for metric, sums in zip(metrics, totals, strict=True)
    ]


def _warn_of_tokenized(count: int, path: str | None) -> None:
    """Warns if many hypotheses end in a full stop with a space before it.

    count: how many the kernel saw, which takes white space behind it for a part of the line.
    path: the file with the hypotheses, if they are in one and may have such lines.
    """
    if count < TOKENIZED_LINES and path is not None and _has_full_stops(path):
        with open(path, encoding="utf-8", newline="\n") as lines:
            count = sum(line.rstrip().endswith(" .") for line in lines)
    if count >= TOKENIZED_LINES:
        from .metrics.base import _warn_of_tokenized

        _warn_of_tokenized(count)


def _has_full_stops(path: str) -> bool:
    """Whether a file has as many separate full stops as a suspicious text, wherever they are."""
    count = 0
    end = b""
    with open(path, "rb", buffering=0) as file:
        while count < TOKENIZED_LINES and (piece := file.read(1 << 20)):
            count += (end + piece).count(b" .")
            end = piece[-1:]
    return count >= TOKENIZED_LINES


def _metric(name: str, options: Options) -> Counted[Any]:
    """A metric with the parameters that the options say."""
    if name == "bleu":
        from truebleu.bleu import BLEU

        smoothing = options.bleu_smooth_method
        return BLEU(
            options.bleu_tokenize or "13a",
            lowercase=options.bleu_lowercase,
            smoothing=smoothing,
            smoothing_value=options.bleu_smooth_value if smoothing in ("floor", "add-k") else None,
            effective_order=False,
        )
    if name == "chrf":
        from truebleu.chrf import CHRF

        return CHRF(
            options.chrf_char_order,
            options.chrf_word_order,
            options.chrf_beta,
            lowercase=options.chrf_lowercase,
            eps_smoothing=options.chrf_eps_smoothing,
        )
    from truebleu.ter import TER

    return TER(
        normalized=options.ter_normalized,
        no_punct=options.ter_no_punct,
        asian_support=options.ter_asian_support,
        case_sensitive=options.ter_case_sensitive,
    )


def _signature(score: Score) -> dict[str, str]:
    """The fields of the signature that sacreBLEU prints."""
    fields = score.signature.fields
    return {name: value for name, value in fields.items() if name not in OWN_FIELDS}


def _as_text(metric: Counted[Any], score: Score, options: Options) -> str:
    """A line as sacreBLEU writes it."""
    number = f"{score.value:.{options.width}f}"
    if options.score_only:
        return number
    short = {**SHORT_NAMES, **metric.SHORT_NAMES} if options.short else {}
    fields = _signature(score).items()
    signature = "|".join(f"{short.get(name, name)}:{value}" for name, value in fields)
    return f"{score.name}|{signature} = {number} {score.verbose}".rstrip()


def _as_json(_: Counted[Any], score: Score, options: Options) -> str:
    """An object as sacreBLEU writes it. No text in it needs escapes."""
    number = f"{score.value:.{options.width}f}"
    if options.score_only:
        return number
    fields = _signature(score)
    signature = "|".join(f"{name}:{value}" for name, value in fields.items())
    verbose = {"verbose_score": score.verbose} if score.verbose else {}
    texts = {"signature": signature, **verbose, **fields}
    lines = [f' "name": "{score.name}"', f' "score": {float(number)}']
    lines += [f' "{name}": "{text}"' for name, text in texts.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
