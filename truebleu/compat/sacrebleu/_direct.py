"""The fast path for the common case: files of text, or standard input, straight to the kernel.

Its numbers are those of sacreBLEU's classes; only speed is different. Everything special, and every
mistake, is left to the general path.
"""

from __future__ import annotations

import os
import stat

from truebleu._kernel import InputError
from truebleu.metrics.table_metric import Corpus, count_together
from truebleu.text.files import DECOMPRESSORS, UTF8, File

from ._messages import TOKENIZED_LINES, warn_of_tokenized
from ._options import args_to_dict
from ._parameters import kernel_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.metrics.base import Score

    from ._options import Options

# Fields of truebleu's signatures, long and short, that sacreBLEU's do not have.
OWN_FIELDS = ("by", "beta", "b", "value", "val")

# The tokenizers of the kernel, and the target languages that have others.
TOKENIZERS = (None, "13a", "intl", "zh", "char", "none")
OTHER_TOKENIZERS = ("zh", "ja", "ko")

# The numbers of references whose mean lengths are exact, whatever the order of adding them.
EXACT_MEANS = (1, 2, 4, 8, 16)

# Options that need the general path.
SPECIAL = (
    *("test_set", "origlang", "subset", "sentence_level"),
    *("confidence", "paired_ar", "paired_bs", "detail"),
)


def is_for(options: Options) -> bool:
    """True for the scores of one system, of plain text, and nothing else."""
    return (
        all(getattr(options, name) in (None, False) for name in SPECIAL)
        and options.num_refs == 1
        and (options.input is None or len(options.input) == 1)
        and options.encoding.lower() in UTF8
        and all(map(_is_plain, (*options.refs, *(options.input or ()))))
        and ("bleu" not in options.metrics or _has_kernel_tokenizer(options))
        # White space at the ends of lines is removed before anything is counted.
        and ("chrf" not in options.metrics or not options.chrf_whitespace)
        and ("ter" not in options.metrics or len(options.refs) in EXACT_MEANS)
    )


def _has_kernel_tokenizer(options: Options) -> bool:
    language = (options.langpair or "-").split("-")[1]
    return options.bleu_tokenize in TOKENIZERS and language not in OTHER_TOKENIZERS


def _is_plain(path: str) -> bool:
    """True if a file is not compressed, and can be read twice."""
    if path == "-" or path.endswith(tuple(DECOMPRESSORS)):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def results(options: Options, system: list[str] | None) -> list[str] | None:
    """The lines or JSON objects to print, one per metric; None if the general path is needed.

    system: the segments from standard input; None if the system is in a file.
    """
    names = sorted(set(options.metrics))
    hypotheses = system or File(options.input[0])
    references = list(map(File, options.refs))
    try:
        metrics = [kernel_metric(name, args_to_dict(options, name, True)) for name in names]
        totals, seen = count_together(metrics, Corpus(hypotheses, references, totals=True))
    except (InputError, OSError, ValueError):
        return None
    if "bleu" in names and not options.bleu_force:
        _warn_of_tokenized(seen["tokenized"][0], None if system else options.input[0])
    pairs = zip(metrics, totals, strict=True)
    return [_written(metric.from_statistics(sums), options) for metric, sums in pairs]


def _warn_of_tokenized(count: int, path: str | None) -> None:
    """Warns if many hypotheses end in a full stop with a space before it.

    count: the kernel's number, which takes white space behind a full stop as part of the line.
    path: the file with the hypotheses, if they are in one and may have such lines.
    """
    if count < TOKENIZED_LINES and path is not None and _has_full_stops(path):
        with open(path, encoding="utf-8", newline="\n") as lines:
            count = sum(line.rstrip().endswith(" .") for line in lines)
    warn_of_tokenized(count)


def _has_full_stops(path: str) -> bool:
    """True if a file has as many separate full stops, anywhere, as a suspicious text."""
    count = 0
    end = b""
    with open(path, "rb", buffering=0) as file:
        while count < TOKENIZED_LINES and (piece := file.read(1 << 20)):
            count += (end + piece).count(b" .")
            end = piece[-1:]
    return count >= TOKENIZED_LINES


def _written(score: Score, options: Options) -> str:
    """A line or an object as sacreBLEU writes it. No text in it needs escapes in JSON."""
    number = f"{score.value:.{options.width}f}"
    if options.score_only:
        return number
    is_json = options.format == "json"
    printed = score.signature.short() if options.short and not is_json else str(score.signature)
    fields = dict(field.split(":", 1) for field in printed.split("|"))
    fields = {name: value for name, value in fields.items() if name not in OWN_FIELDS}
    signature = "|".join(map(":".join, fields.items()))
    if not is_json:
        return f"{score.name}|{signature} = {number} {score.verbose}".rstrip()
    verbose = {"verbose_score": score.verbose} if score.verbose else {}
    lines = [f' "name": "{score.name}"', f' "score": {float(number)}']
    texts = {"signature": signature, **verbose, **fields}
    lines += [f' "{name}": "{text}"' for name, text in texts.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
