"""Numbers of dear metrics, kept by content: the same text is not scored twice.

A file of the cache has the numbers of one system, eight bytes each; its name is a sum of what
decides them: the metric with its programs, and all text. Numbers that took less than a millisecond
a segment are not kept.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from contextlib import suppress
from time import perf_counter

from truebleu.text import download
from truebleu.text.files import write_whole
from truebleu.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from truebleu.metrics.column_metric import ColumnMetric, Numbers, Texts
    from truebleu.metrics.table_metric import Corpus

# Changes when files of an earlier release could no longer be read.
VERSION = "1"


class Settings(Record):
    """Whether numbers are kept, and above how many seconds a segment."""

    keep: bool = True
    above: float = 1e-3


# `--no-cache` of a command line changes them for the process.
settings = Settings()


def folder() -> str:
    """Where numbers are kept; it may not exist."""
    return os.path.join(download.cache_folder(), "companions")


def of(
    metric: ColumnMetric,
    corpus: Corpus,
    texts: Texts,
    compute: Callable[[Corpus, Texts], Numbers],
) -> Numbers:
    """The numbers of a corpus, from the cache or computed; those that took long are kept."""
    if not settings.keep or os.environ.get("TRUEBLEU_NO_CACHE"):
        return compute(corpus, texts)
    path = os.path.join(folder(), f"{_digest(metric, corpus, texts)}.f64")
    width = len(metric.NUMBERS)
    kept = _read(path, len(texts) * width)
    if kept is not None:
        return kept if width == 1 else list(zip(*[iter(kept)] * width, strict=True))
    start = perf_counter()
    found = compute(corpus, texts)
    if perf_counter() - start > settings.above * len(texts):
        numbers: Any = found if width == 1 else [one for row in found for one in row]  # type: ignore[union-attr]
        # A full disk is no reason to lose a score.
        with suppress(OSError):
            os.makedirs(folder(), exist_ok=True)
            write_whole(path, array("d", numbers).tobytes())
    return found


def _read(path: str, count: int) -> list[float] | None:
    """The numbers of a file; None if it is not there, or not of as many."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    return array("d", content).tolist() if len(content) == 8 * count else None


def _digest(metric: ColumnMetric, corpus: Corpus, texts: Texts) -> str:
    """The sum of all that decides the numbers."""
    digest = hashlib.sha256()
    for part in _parts(metric, corpus, texts):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _parts(metric: ColumnMetric, corpus: Corpus, texts: Texts) -> Iterable[str]:
    yield VERSION
    yield f"{metric.name}|{metric.signature(segment=None)}"
    yield metric._identity()  # noqa: SLF001
    for text, others in texts:
        yield text
        yield str(len(others))
        yield from others
    if metric.NEEDS_SOURCE:
        from truebleu.text import inputs

        yield from inputs.listed("sources", corpus.sources)
