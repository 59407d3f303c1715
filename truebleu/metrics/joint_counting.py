"""Joint computation of several metrics' statistics, in one pass over the text if possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from truebleu._kernel import Scan, Scores, Table
from truebleu.metrics.base import Corpus, Metric, MetricFailedError, summarize_reference_count
from truebleu.metrics.scores import Statistics
from truebleu.metrics.text_warnings import LENGTH_COLUMN, LOW_SCORES, summarize_text
from truebleu.text import corpus_inputs, sample_checks
from truebleu.text.segments import make_rereadable

if TYPE_CHECKING:
    from truebleu._kernel import Summary

    # Errors of the metrics that could not score the text.
    FailedMetrics = dict[Metric[Any], MetricFailedError]


def compute_joint_statistics(
    metrics: Sequence[Metric[Any]], corpus: Corpus
) -> tuple[list[Statistics], Summary]:
    """Return statistics of several metrics and a summary of the text, in one pass if possible.

    With `corpus.totals`, each table has one row, the sum. The corpus cannot be used again.
    """
    failed: FailedMetrics = {}
    tables, summary = compute_statistics_or_errors(metrics, corpus, failed)
    for error in failed.values():
        raise error
    return tables, summary


def compute_statistics_or_errors(
    metrics: Sequence[Metric[Any]], corpus: Corpus, failed: FailedMetrics, system: str = ""
) -> tuple[list[Statistics], Summary]:
    """Return statistics of the metrics that can score the text. `failed` receives all errors.

    system: name of the system in messages. Raises the first error if all metrics fail.
    """
    corpus.hypotheses = sample_checks.keep_start(corpus.hypotheses)
    forms = {metric.unicode_form for metric in metrics}
    if len(forms) == 1:  # convert the text only once
        corpus = corpus.with_unicode_form(*forms)
    kernel_readers, totals = _select_kernel_readers(metrics, corpus), corpus.totals
    if not kernel_readers or len(metrics) > len(kernel_readers):
        corpus.hypotheses = make_rereadable(corpus.hypotheses)
        corpus.references = make_rereadable(corpus.references)
    statistics: dict[Metric[Any], Statistics] = {}
    summary: Summary | None = None
    if len(kernel_readers) > 1:
        run = _scan_corpus_jointly(kernel_readers, corpus)
        only_totals = totals and all(metric._is_sum_based for metric in kernel_readers)  # noqa: SLF001
        table, summary = run.totals(corpus.progress) if only_totals else run.table()
        statistics = _split_table_by_metric(kernel_readers, table, summary, corpus)
    for metric in metrics:
        if metric not in statistics:
            corpus.totals = totals and metric._is_sum_based  # noqa: SLF001
            try:
                statistics[metric], metric_summary = metric.count_corpus(corpus)
            except MetricFailedError as error:
                failed[metric] = type(error)(f"{system}: {error}") if system else error
                continue
            summary = metric_summary if summary is None or metric.reads_text else summary
    if summary is None:
        raise next(failed[metric] for metric in metrics)
    scored_metrics = [metric for metric in metrics if metric in statistics]
    if not kernel_readers:
        summary = summarize_text(corpus)
    tables = [statistics[metric] for metric in scored_metrics]
    has_low_score = any(
        metric.from_statistics(table).value < LOW_SCORES[metric.NAME]
        for metric, table in zip(scored_metrics, tables, strict=True)
        if metric.NAME in LOW_SCORES
    )
    scan_sample(summary, corpus, has_low_score=has_low_score)
    _check_source_count(scored_metrics, corpus, summary["segments"])
    return tables, _add_token_count(summary, scored_metrics, tables)


def compute_batch_statistics(
    metrics: Sequence[Metric[Any]], corpus: Corpus, segments: int
) -> Iterator[tuple[list[tuple[Statistics, Scores]], Summary]]:
    """Yield each metric's statistics and scores for batches of about `segments` segments.

    Memory use does not depend on the size of files if the kernel reads the text for all metrics.
    """
    corpus.hypotheses = sample_checks.keep_start(corpus.hypotheses)
    if len(metrics) == 1:
        corpus = corpus.with_unicode_form(metrics[0].unicode_form)
        run = metrics[0]._scan_text(corpus)  # noqa: SLF001
    else:
        reads_all = len(_select_kernel_readers(metrics, corpus)) == len(metrics)
        run = _scan_corpus_jointly(metrics, corpus) if reads_all else None
    if run is None:
        tables, summary = compute_joint_statistics(metrics, corpus)
        pairs = zip(metrics, tables, strict=True)
        yield [(table, metric.segment_scores(table)) for metric, table in pairs], summary
        return
    table, summary = run.table(segments)
    # An empty first batch is an error; an empty later batch is the end of the text.
    Metric.check_summary(metrics[0], summary, corpus.hypotheses)
    scan_sample(summary, corpus)
    segment_count = 0
    while summary["segments"]:
        segment_count += summary["segments"]
        statistics = _split_table_by_metric(metrics, table, summary, corpus)
        tables = [statistics[metric] for metric in metrics]
        pairs = zip(metrics, tables, strict=True)
        summary = _add_token_count(summary, metrics, tables)
        yield [(table, metric.segment_scores(table)) for metric, table in pairs], summary
        table, summary = run.table(segments)
    _check_source_count(metrics, corpus, segment_count)


def _check_source_count(metrics: Sequence[Metric[Any]], corpus: Corpus, count: int) -> None:
    """Raise InputError unless there is one source per segment. Metrics check what they read."""
    if corpus.sources is not None and not any(metric.NEEDS_SOURCE for metric in metrics):
        corpus_inputs.check_source_count(corpus.sources, corpus.hypotheses, count)


def scan_sample(summary: Summary, corpus: Corpus, *, has_low_score: bool = False) -> None:
    """Check a sample for unclean text and mixed-up inputs, and extend the summary."""
    sample = sample_checks.Sample(corpus.hypotheses, corpus.references, corpus.sources)
    summary["text_marks"] = sample_checks.find_marks(sample)
    summary["mixup"] = sample_checks.find_mixup(sample, has_low_score=has_low_score)
    sample_checks.compare_samples(summary, sample)


def _add_token_count(
    summary: Summary, metrics: Sequence[Metric[Any]], tables: Sequence[Statistics]
) -> Summary:
    """Return the summary, with the number of tokens if a metric with a tokenizer counts them."""
    for metric, table in zip(metrics, tables, strict=True):
        if "tokenize" in metric.parameters and LENGTH_COLUMN in metric.columns:
            return {**summary, "tokens": table.sum().column(LENGTH_COLUMN)[0]}
    return summary


def _select_kernel_readers(metrics: Sequence[Metric[Any]], corpus: Corpus) -> list[Metric[Any]]:
    """Return the metrics for which the kernel reads the text."""
    hypotheses = corpus.hypotheses
    for metric in metrics:
        metric.adapt_to_inputs(hypotheses)  # refuses unsuitable token ids
    is_tokenized = isinstance(hypotheses, list | tuple) and corpus_inputs.has_token_segments(
        tuple(hypotheses[:1])
    )
    return [] if is_tokenized else [metric for metric in metrics if metric.reads_text]


def _scan_corpus_jointly(metrics: Sequence[Any], corpus: Corpus) -> Scan:
    first_kernel, *other_kernels = (metric._kernel for metric in metrics)  # noqa: SLF001
    return corpus_inputs.scan_corpus(
        first_kernel,
        corpus.hypotheses,
        corpus.references,
        workers=corpus.workers,
        extra_kernels=other_kernels,
    )


def _split_table_by_metric(
    metrics: Sequence[Metric[Any]], table: Table, summary: Summary, corpus: Corpus
) -> dict[Metric[Any], Statistics]:
    statistics: dict[Metric[Any], Statistics] = {}
    reference_count, start = summarize_reference_count(summary["references"]), 0
    for metric in metrics:
        metric.check_summary(summary, corpus.hypotheses)
        stop = start + len(metric.columns)
        metric_columns = table if len(metrics) == 1 else table.columns_of(range(start, stop))
        statistics[metric] = metric.make_statistics(metric_columns, reference_count)
        start = stop
    return statistics
