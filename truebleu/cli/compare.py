"""`truebleu compare`: systems side by side, with intervals and paired tests.

examples:
  truebleu compare reference.en -i baseline.en new.en
      is the difference real? 10,000 randomizations say how likely chance makes one like it

  truebleu compare ref.a.en ref.b.en -i *.en -m bleu chrf ter --baseline birch --correction holm
      several systems by several metrics, with p-values corrected for their number

  truebleu compare reference.en -i old=old.1.en,old.2.en,old.3.en new=new.1.en,new.2.en,new.3.en
      three runs of each, as seeds make them: the mean, and whether runs or segments matter more

  truebleu compare reference.en -i a.en b.en --scores COMET=comet.tsv -f latex -o table.tex
      scores from elsewhere beside BLEU, a column per system, as a table for a paper
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, table_options, tabular_comparison
from truebleu.cli.common_options import Command, Group
from truebleu.cli.output import Results, UsageError, raise_if_failed
from truebleu.cli.progress import Progress
from truebleu.comparison import Comparison, Comparisons
from truebleu.comparison.comparison_request import TESTS, ExternalScores, Request, Significance
from truebleu.metrics.base import Metric
from truebleu.significance import CORRECTIONS
from truebleu.text.segments import File

# Options by the beginnings of errors about a request.
OPTIONS = {name: f"--{name}" for name in ("baseline", "also", "resample", "test")} | {
    "lower_is_better": "--lower-is-better",
    "higher_is_better": "--higher-is-better",
    "metrics": "-m/--metrics",
    "a correction": "--correction",
}


SYSTEMS = Group(
    "systems",
    """
    --baseline NAME             the system that the others are compared with (the first)
    --scores NAME=FILE...       a metric from elsewhere: a file with a tab-separated column per
                                system, or a file per system (NAME=FILE FILE ...), one number per
                                segment; or what comet-score, comet-compare or MetricX wrote; the
                                mean is the score
    --lower-is-better NAME...   metrics of --scores for which lower is better; so it is of TER,
                                WER, CER, MER, WIL, CharacTER and MetricX, by their names
    --higher-is-better NAME...  metrics of --scores for which higher is better all the same
    """,
    lower_is_better={"default": []},
    higher_is_better={"default": []},
)
TESTING = Group(
    "tests and intervals",
    """
    --test NAME            ar: approximate randomization (the default); bs: bootstrap, centred;
                           koehn: share of resamples lost; bs-sacrebleu: sacreBLEU's bootstrap,
                           which finds too many differences; none
    -par --paired-ar       --test ar
    -pbs --paired-bs       --test bs
    -parn --paired-ar-n N  randomizations (10000)
    -pbsn --paired-bs-n N  resamples of a bootstrap test, and of intervals (1000)
    --correction NAME      of p-values for the number of tests: holm, or bh (Benjamini and Hochberg)
    """,
    *shared.INTERVALS,
    *shared.RESAMPLE,
    test={"choices": [*TESTS, "none"], "exclusive": True},
    paired_ar={"dest": "test", "action": "store_const", "const": "ar", "exclusive": True},
    paired_bs={"dest": "test", "action": "store_const", "const": "bs", "exclusive": True},
    paired_ar_n={"type": shared.samples},
    paired_bs_n={"type": shared.samples},
    correction={"choices": CORRECTIONS},
)


def run(options: argparse.Namespace) -> None:
    """Compare systems and write the table."""
    output = Results(options)
    output.check_exact()
    if table_options.are_meant(options):
        _compare_tables(options, output)
        return
    request = request_of(options).request
    with output:
        with Progress(quiet=options.quiet) as progress:
            request.progress = progress.callback
            comparison = Comparison.from_request(request)
        output.warn(comparison.warnings)
        output.show(comparison)
    raise_if_failed(request.failure_messages.values())


def _compare_tables(options: argparse.Namespace, output: Results) -> None:
    """Compare systems that are in tables, inside each group of --within."""
    failed: list[str] = []
    with output:
        with Progress(quiet=options.quiet) as progress:
            comparisons = []
            for key, request in _table_requests(options, progress):
                comparisons.append((key, Comparison.from_request(request)))
                failed += request.failure_messages.values()
        output.warn([one for _, comparison in comparisons for one in comparison.warnings])
        output.show(
            Comparisons.from_groups(options.within, comparisons)
            if options.within
            else comparisons[0][1]
        )
    raise_if_failed(failed)


def _table_requests(
    options: argparse.Namespace, progress: Progress
) -> Iterator[tuple[dict[str, Any], Request]]:
    """Yield the requests of a command line that names tables, each with the key of its group."""
    metrics = metric_options.metrics(options)
    testing = _significance(options)

    def request(systems: Mapping[str, Any], references: Any, **more: Any) -> Request:
        with shared.as_usage(known=OPTIONS):
            request = Request(
                systems,
                references,
                metrics,
                testing=testing,
                baseline=options.baseline,
                workers=options.threads,
                **more,
            )
        request.progress = progress.callback
        request.language = metric_options.known_tag(options)
        return request

    yield from tabular_comparison.requests(options, metrics, progress, request)


class RequestedComparison(NamedTuple):
    """What a command line asks to compare."""

    request: Request
    inputs: files.Inputs | None
    """The files of lines; None for tables, and where only scores from elsewhere are compared."""
    metrics: Mapping[Metric[Any], str | None]


def request_of(options: argparse.Namespace, labels: Any = None) -> RequestedComparison:
    """Return the request of a command line. Of tables it must be one request."""
    if table_options.are_meant(options):
        with Progress(quiet=options.quiet) as progress:
            ((_, request),) = _table_requests(options, progress)
        return RequestedComparison(request, None, metric_options.metrics(options))
    testing = _significance(options)
    inputs, metrics = None, {}
    outputs: Mapping[str, Any] | None
    systems: Mapping[str, Any] | None
    if options.scores and not (
        options.references or options.input or getattr(options, "test_set", None)
    ):
        names = files.names_of(options)
        outputs = systems = None if names is None else dict.fromkeys(names)
    else:
        metrics = metric_options.metrics(options)
        inputs = files.Inputs(options)
        outputs = inputs.systems
        systems = {n: own[0] if len(own) == 1 else own for n, own in inputs.runs.items()}
    with shared.as_usage(known=OPTIONS):
        request = Request(
            systems,
            None if inputs is None else inputs.references(),
            metrics,
            testing=testing,
            baseline=files.system_of(options.baseline, inputs),
            external=ExternalScores(
                _scores_of(options, outputs), options.lower_is_better, options.higher_is_better
            ),
            source=None if inputs is None else inputs.source,
            documents=files.documents_of(options, inputs),
            workers=options.threads,
        )
    request.labels = labels
    request.language = metric_options.known_tag(options)
    if inputs is not None:
        request.original_references = inputs.reference_columns
        request.test_set = inputs.signature
    return RequestedComparison(request, inputs, metrics)


def _significance(options: argparse.Namespace) -> Significance:
    """Return the test, its samples and the intervals."""
    test = options.test or "ar"
    for flags, is_for, given in (
        ("-parn/--paired-ar-n", test == "ar", options.paired_ar_n),
        ("-pbsn/--paired-bs-n", test not in ("ar", "none"), options.paired_bs_n),
    ):
        if given is not None and not is_for:
            raise UsageError(f"{flags}: the test is {test}")
    samples = options.paired_ar_n or options.paired_bs_n
    confidence = shared.resamples(options)
    if options.paired_bs_n and confidence and samples != confidence:
        raise UsageError(
            "-pbsn/--paired-bs-n: the resamples of the test are those of the intervals, too; leave "
            "out --confidence"
        )
    with shared.as_usage(known=OPTIONS):
        return Significance(
            test=None if test == "none" else test,
            samples=samples,
            confidence=confidence or shared.RESAMPLES,
            level=options.level,
            seed=options.seed,
            correction=options.correction,
            resample="buckets" if getattr(options, "bucket", None) else options.resample,
        )


def _scores_of(options: argparse.Namespace, systems: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metrics from elsewhere by name, each with its file, or a file for each system."""
    found: dict[str, list[File]] = {}
    last = ""
    for word in options.scores or ():
        name, mark, path = word.partition("=")
        if mark and name and path:
            if name in found:
                raise UsageError(f"--scores: {name} is there twice")
            last = name
        elif mark or not last:
            raise UsageError(f"--scores: expected NAME=FILE, as COMET=comet.tsv, not '{word}'")
        else:
            path = word
        found.setdefault(last, []).append(files.file_of(path, options.encoding))
    scores: dict[str, Any] = {}
    for name, given in found.items():
        files.check(options, given)
        if len(given) == 1 and (systems is None or len(systems) > 1):
            scores[name] = given[0]
        elif systems is None:
            raise UsageError("--scores: with a file per system, say with --names whose it is")
        elif len(given) != len(systems):
            raise UsageError(
                f"--scores: {name} has {len(given)} files for {len(systems)} systems; give one for "
                "each, in the order of -i, or one for all"
            )
        else:
            scores[name] = dict(zip(systems, given, strict=True))
    return scores


COMMAND = Command(
    "truebleu compare REF... -i HYP... [options]",
    __doc__,
    lambda words: [
        *files.groups(words),
        SYSTEMS,
        Group("more", files.SOURCE, files.DOCUMENTS),
        TESTING,
        tabular_comparison.group(),
        *metric_options.groups(words),
        shared.view_output(1, shared.TABLE_FORMATS),
        shared.RUNNING,
    ],
    run,
)
