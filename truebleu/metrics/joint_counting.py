"""Several metrics over the same text: those for which the kernel reads it read it together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from truebleu._kernel import Scan, Scores, Table
from truebleu.metrics.base import Corpus, Metric, MetricFailedError, count_references
from truebleu.metrics.statistics import Statistics
from truebleu.text import corpus_inputs
from truebleu.text.segments import make_rereadable

if TYPE_CHECKING:
    from truebleu._kernel import Summary

    # Metrics that could not score something, and why.
    Failed = dict[Metric[Any], MetricFailedError]

# The column of metrics that count the tokens of hypotheses.
LENGTH = "hypothesis_length"


def count_together(
    metrics: Sequence[Metric[Any]], corpus: Corpus
) -> tuple[list[Statistics], Summary]:
    """The statistics of several metrics, and what was noticed; those that can read text together.

    If totals are wanted, one row each, the sum. The corpus is of no use afterwards.
    """
    failed: Failed = {}
    tables, seen = count_those_that_can(metrics, corpus, failed)
    for error in failed.values():
        raise error
    return tables, seen


def count_those_that_can(
    metrics: Sequence[Metric[Any]], corpus: Corpus, failed: Failed, system: str = ""
) -> tuple[list[Statistics], Summary]:
    """The same, of the metrics that can score this; what others say is put into `failed`.

    system: whose text it is, if that is to be said. Raises the first error if no metric is left.
    """
    forms = {metric.unicode_form for metric in metrics}
    if len(forms) == 1:  # so that text is converted once
        corpus = corpus.normalized(*forms)
    readers, totals = _readers(metrics, corpus), corpus.totals
    if not readers or len(metrics) > len(readers):
        corpus.hypotheses = make_rereadable(corpus.hypotheses)
        corpus.references = make_rereadable(corpus.references)
    found: dict[Metric[Any], Statistics] = {}
    seen: Summary | None = None
    if len(readers) > 1:
        run = _scan_together(readers, corpus)
        whole = totals and all(metric._sums for metric in readers)  # noqa: SLF001
        table, seen = run.totals(corpus.progress) if whole else run.table()
        found = _split(readers, table, seen, corpus)
    for metric in metrics:
        if metric not in found:
            corpus.totals = totals and metric._sums  # noqa: SLF001
            try:
                found[metric], noticed = metric.counted(corpus)
            except MetricFailedError as error:
                failed[metric] = type(error)(f"{system}: {error}") if system else error
                continue
            seen = noticed if seen is None or metric.reads_text else seen
    if seen is None:
        raise next(failed[metric] for metric in metrics)
    left = [metric for metric in metrics if metric in found]
    if not readers:
        seen = {**seen, "reference_text": left[0].reference_text(corpus, seen)}
    tables = [found[metric] for metric in left]
    return tables, _with_tokens(seen, left, tables)


def pieces_together(
    metrics: Sequence[Metric[Any]], corpus: Corpus, segments: int
) -> Iterator[tuple[list[tuple[Statistics, Scores]], Summary]]:
    """By each metric the statistics and scores of about so many segments at a time.

    Where the kernel reads the text for all of them, memory does not grow with the size of files.
    """
    if len(metrics) == 1:
        corpus = corpus.normalized(metrics[0].unicode_form)
        run = metrics[0]._scan(corpus)  # noqa: SLF001
    else:
        together = len(_readers(metrics, corpus)) == len(metrics)
        run = _scan_together(metrics, corpus) if together else None
    if run is None:
        tables, seen = count_together(metrics, corpus)
        pairs = zip(metrics, tables, strict=True)
        yield [(table, metric.segment_scores(table)) for metric, table in pairs], seen
        return
    table, seen = run.table(segments)
    # Nothing at all is an error; nothing more is the end.
    Metric.check(metrics[0], seen, corpus.hypotheses)
    while seen["segments"]:
        found = _split(metrics, table, seen, corpus)
        tables = [found[metric] for metric in metrics]
        pairs = zip(metrics, tables, strict=True)
        seen = _with_tokens(seen, metrics, tables)
        yield [(table, metric.segment_scores(table)) for metric, table in pairs], seen
        table, seen = run.table(segments)


def _with_tokens(
    seen: Summary, metrics: Sequence[Metric[Any]], tables: Sequence[Statistics]
) -> Summary:
    """What was noticed, and the number of tokens if a metric with a tokenizer counts them."""
    for metric, table in zip(metrics, tables, strict=True):
        if "tokenize" in metric.parameters and LENGTH in metric.columns:
            return {**seen, "tokens": table.sum().column(LENGTH)[0]}
    return seen


def _readers(metrics: Sequence[Metric[Any]], corpus: Corpus) -> list[Metric[Any]]:
    """The metrics for which the kernel reads the text."""
    hypotheses = corpus.hypotheses
    tokens = isinstance(hypotheses, list | tuple) and corpus_inputs.has_token_segments(
        tuple(hypotheses[:1])
    )
    return [] if tokens else [metric for metric in metrics if metric.reads_text]


def _scan_together(metrics: Sequence[Any], corpus: Corpus) -> Scan:
    first, *others = (metric._kernel for metric in metrics)  # noqa: SLF001
    return corpus_inputs.scan_corpus(
        first, corpus.hypotheses, corpus.references, workers=corpus.workers, extra_kernels=others
    )


def _split(
    metrics: Sequence[Metric[Any]], table: Table, seen: Summary, corpus: Corpus
) -> dict[Metric[Any], Statistics]:
    """The columns of each metric, of a table that has those of all beside each other."""
    found: dict[Metric[Any], Statistics] = {}
    number, start = count_references(seen["references"]), 0
    for metric in metrics:
        metric.check(seen, corpus.hypotheses)
        stop = start + len(metric.columns)
        own = table if len(metrics) == 1 else table.columns_of(range(start, stop))
        found[metric] = metric.table_of(own, number)
        start = stop
    return found
