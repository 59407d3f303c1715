"""`truebleu compare`: comparison of systems with confidence intervals and paired tests.

examples:
  truebleu compare reference.en -i baseline.en new.en
      test if the difference is significant, with 10,000 randomizations

  truebleu compare ref.a.en ref.b.en -i *.en -m bleu chrf ter --baseline birch --correction holm
      compare several systems on several metrics, with corrected p-values

  truebleu compare reference.en -i old=old.1.en,old.2.en,old.3.en new=new.1.en,new.2.en,new.3.en
      compare three training runs per system: mean scores, and the variance of runs and segments

  truebleu compare reference.en -i a.en b.en --scores COMET=comet.tsv -f latex -o table.tex
      compare by BLEU and by COMET scores from a file; write a table for a paper

  truebleu compare reference.en -i a.en b.en -m bleu ter -f latex --columns system score p
      write a table for a paper with the p-value of each difference
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, tabular_inputs
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Progress, Results, UsageError, print_message, raise_if_failed
from truebleu.comparison import Comparison, Comparisons
from truebleu.comparison.comparison_columns import COLUMNS, check_column_names
from truebleu.comparison.comparison_request import (
    SYSTEM_ORDERS,
    TEST_SET_PARTS,
    TESTS,
    ExternalScores,
    Request,
    Significance,
)
from truebleu.metrics.base import Metric
from truebleu.significance import CORRECTIONS
from truebleu.text.segments import File
from truebleu.text.system_names import name_systems
from truebleu.text.terminal_layout import join_words

# Options, keyed by the beginning of the error messages that concern them.
COMPARE_OPTIONS = {
    name: f"--{name}" for name in ("baseline", "also", "resample", "test", "columns")
} | {
    "lower_is_better": "--lower-is-better",
    "higher_is_better": "--higher-is-better",
    "metrics": "-m/--metrics",
    "scores": "--scores",
    "correction": "--correction",
}


SYSTEMS = OptionGroup(
    "systems",
    """
    --baseline NAME             compare the other systems with this one (default: the first of -i)
    --order NAME                list the systems and assign their letters in this order: rank (best
                                first by the first metric) or given (default: rank)
    --scores NAME=FILE...       read segment scores of metric NAME: one file with a tab-separated
                                column per system, one file per system (NAME=FILE FILE ...), or
                                output of comet-score, comet-compare or MetricX; LAAL and other
                                latency metrics read one log per system (see truebleu latency); the
                                system score is the mean
    --lower-is-better NAME...   treat lower scores as better for these metrics of --scores (implied
                                for TER, WER, CER, MER, WIL, CharacTER, MetricX and latency)
    --higher-is-better NAME...  treat higher scores as better for these metrics of --scores, despite
                                their names
    """,
    order={"choices": SYSTEM_ORDERS, "default": "rank"},
    lower_is_better={"default": []},
    higher_is_better={"default": []},
)
TESTING = OptionGroup(
    "tests and intervals",
    """
    --test NAME            test differences by ar (approximate randomization), bs (centred
                           bootstrap), koehn (fraction of resamples where the system loses),
                           bs-sacrebleu (sacreBLEU's bootstrap; finds too many differences),
                           or none (default: ar)
    -par --paired-ar       same as --test ar, for compatibility with sacreBLEU
    -pbs --paired-bs       same as --test bs, for compatibility with sacreBLEU
    -parn --paired-ar-n N  use N randomizations (default: 10000)
    -pbsn --paired-bs-n N  use N resamples for bootstrap tests and their intervals (default: 1000)
    """,
    shared.CORRECTION,
    *shared.INTERVALS,
    *shared.RESAMPLE,
    test={"choices": [*TESTS, "none"]},
    paired_ar_n={"type": shared.parse_samples},
    paired_bs_n={"type": shared.parse_samples},
    correction={"choices": CORRECTIONS},
)


COLUMN_SELECTION = OptionGroup(
    "columns",
    f"""
    --columns NAME...  show these columns: {", ".join(COLUMNS)} (default: letter, system, score,
                       interval, delta, p and cluster in text; system and score in latex and
                       markdown)
    --explain          in text, explain the columns and the test, list all notes, and print complete
                       signatures
    """,
    columns={"completes": lambda: list(COLUMNS)},
)


def run(options: argparse.Namespace) -> None:
    """Compare systems and write the results."""
    output = Results(options)
    output.check_display_options()
    choice = _get_display_options(options, output.form)
    hides_documents = options.docs is not None and not files.uses_documents(options)
    # JSON contains the scores of documents; text and HTML warn if segments depend on each other.
    if hides_documents and output.form not in ("json", "text", "html"):
        raise UsageError(files.UNUSED_DOCUMENTS)
    failed: list[str] = []
    with output:
        with Progress(quiet=options.quiet) as progress:
            comparisons = []
            for key, request in _build_requests(options, progress):
                comparisons.append((key, Comparison.from_request(request)))
                failed += request.failure_messages.values()
        first = comparisons[0][1]
        if "reference" in choice.get("by", ()) and not first.by_reference:
            raise UsageError("--by reference needs several references")
        contents = [each.to_dict() for _, each in comparisons]
        output.print_warnings([one for content in contents for one in list_warnings(content)])
        view = Comparisons.from_groups(options.within, comparisons) if options.within else first
        with shared.reraise_as_usage_error(options_by_prefix=COMPARE_OPTIONS):
            output.write_view(view, **choice)
    is_noted = any(note["kind"] == "similar segments" for note in contents[0]["notes"])
    if hides_documents and output.form != "json" and not is_noted and not options.quiet:
        print_message(
            "note",
            "--docs did not change these results; use it with --by document (a score per "
            "document) or --resample documents",
        )
    raise_if_failed(failed)


def list_warnings(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the warnings of a comparison, and notes that concern the options of the test."""
    notes = [note for note in content["notes"] if note["kind"] == "few samples"]
    return [*content.get("warnings", ()), *notes]


def _get_display_options(options: argparse.Namespace, output_format: str) -> dict[str, Any]:
    choice: dict[str, Any] = dict(shared.get_paper_options(options, output_format))
    parts = [] if files.uses_tables(options) else options.by or []
    for name in parts:
        if name not in TEST_SET_PARTS:
            expected = " or ".join(TEST_SET_PARTS)
            raise UsageError(f"--by: expected {expected} for text files, found '{name}'")
    with shared.reraise_as_usage_error(options_by_prefix=COMPARE_OPTIONS):
        columns = metric_options.parse_names(options.columns)
        check_column_names(columns or ())
    for name, value, formats in (
        ("columns", columns, ("text", "latex", "markdown")),
        ("explain", options.explain, ("text",)),
        ("by", parts, ("text", "html", "json", "markdown", "latex")),
    ):
        if not value:
            continue
        if output_format not in formats:
            raise UsageError(f"--{name} has no effect with -f {output_format}")
        if output_format != "json":
            choice[name] = value
    if output_format == "text":
        choice["hint"] = "More: --explain"
    return choice


def _build_requests(
    options: argparse.Namespace, progress: Progress
) -> Iterator[tuple[dict[str, Any], Request]]:
    """Yield the requested comparison, or one per group of the tables' rows with its key."""
    if files.uses_tables(options):
        yield from _build_table_requests(options, progress)
        return
    request, _, _ = build_request(options)
    request.progress = progress.callback
    yield {}, request


def _build_table_requests(
    options: argparse.Namespace, progress: Progress
) -> Iterator[tuple[dict[str, Any], Request]]:
    metrics = metric_options.select_metrics(options)
    testing = _build_significance(options)
    within = list(dict.fromkeys(getattr(options, "within", None) or ()))
    groups: Mapping[Any, tuple[Mapping[str, Any], Any]]
    if getattr(options, "bucket", None):
        groups = tabular_inputs.aggregate_buckets(options, list(metrics), progress)
    else:
        groups = tabular_inputs.read_systems(options, progress)
    for key, (systems, references) in groups.items():
        with shared.reraise_as_usage_error(options_by_prefix=COMPARE_OPTIONS):
            request = Request(
                systems,
                references,
                metrics,
                testing=testing,
                baseline=options.baseline,
                order=options.order,
                workers=options.threads,
            )
        _refuse_unused_tests(options, request)
        request.progress = progress.callback
        request.language = metric_options.get_language_tag(options)
        yield dict(zip(within, key, strict=True)), request


def build_request(
    options: argparse.Namespace, labels: Any = None
) -> tuple[Request, files.Inputs | None, Mapping[Metric[Any], str | None]]:
    """Return the requested comparison, its input files and its metrics.

    The input files are None for tables, which must form a single group, and for comparisons of
    external scores only.
    """
    if files.uses_tables(options):
        with Progress(quiet=options.quiet) as progress:
            ((_, request),) = _build_table_requests(options, progress)
        return request, None, metric_options.select_metrics(options)
    testing = _build_significance(options)
    inputs, metrics = None, {}
    outputs: Mapping[str, Any] | None = None
    systems: Mapping[str, Any] | None = None
    names_texts = options.references or options.input or getattr(options, "test_set", None)
    if names_texts or not options.scores:
        metrics = metric_options.select_metrics(options)
        inputs = files.Inputs(options)
        outputs = inputs.systems
        systems = {name: runs[0] if len(runs) == 1 else runs for name, runs in inputs.runs.items()}
    documents = files.get_documents(options, inputs)
    with shared.reraise_as_usage_error(options_by_prefix=COMPARE_OPTIONS):
        request = Request(
            systems,
            None if inputs is None else inputs.read_references(),
            metrics,
            testing=testing,
            baseline=files.find_system(options.baseline, inputs),
            order=options.order,
            external=ExternalScores(
                _collect_external_scores(options, outputs),
                options.lower_is_better,
                options.higher_is_better,
            ),
            source=None if inputs is None else inputs.source,
            documents=documents,
            workers=options.threads,
        )
    _refuse_unused_tests(options, request)
    request.labels = labels
    request.language = metric_options.get_language_tag(options)
    if inputs is not None:
        request.original_references = inputs.reference_columns
        request.test_set = inputs.signature
    return request, inputs, metrics


def _build_significance(options: argparse.Namespace) -> Significance:
    tests_by_option = {
        f"--test {options.test}": options.test,
        "-par/--paired-ar": "ar" if options.paired_ar else None,
        "-pbs/--paired-bs": "bs" if options.paired_bs else None,
    }
    selected = {option: test for option, test in tests_by_option.items() if test is not None}
    if len(set(selected.values())) > 1:
        raise UsageError(f"{join_words(list(selected))} select different tests. Use only one")
    test = next(iter(selected.values()), "ar")
    for flags, is_used, number in (
        ("-parn/--paired-ar-n", test == "ar", options.paired_ar_n),
        ("-pbsn/--paired-bs-n", test not in ("ar", "none"), options.paired_bs_n),
    ):
        if number is not None and not is_used:
            raise UsageError(f"{flags} has no effect with --test {test}")
    samples = options.paired_ar_n or options.paired_bs_n
    confidence = shared.get_resample_count(options)
    if options.paired_bs_n and confidence and samples != confidence:
        raise UsageError(
            "-pbsn/--paired-bs-n already sets the number of resamples. Remove --confidence"
        )
    with shared.reraise_as_usage_error(options_by_prefix=COMPARE_OPTIONS):
        return Significance(
            test=None if test == "none" else test,
            samples=samples,
            confidence=confidence or shared.DEFAULT_RESAMPLES,
            level=options.level,
            seed=options.seed,
            correction=options.correction,
            resample="buckets" if getattr(options, "bucket", None) else options.resample,
        )


def _refuse_unused_tests(options: argparse.Namespace, request: Request) -> None:
    """Raise UsageError for options of significance tests if there is only one system."""
    names = ["paired_ar", "paired_ar_n", "correction", "baseline"]
    # The number of bootstrap resamples is also for intervals.
    if options.paired_bs_n is None and options.test != "none":
        names += ["test", "paired_bs"]
    if len(request.runs) == 1:
        shared.refuse_options(options, names, "has no effect with one system")


def _collect_external_scores(
    options: argparse.Namespace, systems: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the external scores by metric name: one file, or a dictionary of files by system."""
    files_by_metric: dict[str, list[File]] = {}
    last = ""
    for word in options.scores or ():
        name, separator, path = word.partition("=")
        if separator and name and path:
            if name in files_by_metric:
                raise UsageError(f"--scores: duplicate name '{name}'")
            last = name
        elif separator or not last:
            raise UsageError(
                f"--scores: expected NAME=FILE such as COMET=comet.tsv, found '{word}'"
            )
        else:
            path = word
        files_by_metric.setdefault(last, []).append(
            files.parse_file_argument(path, options.encoding)
        )
    scores: dict[str, Any] = {}
    for name, metric_files in files_by_metric.items():
        if len(metric_files) == 1 and (systems is None or len(systems) > 1):
            scores[name] = metric_files[0]
        elif systems is None:
            names = name_systems(metric_files)
            scores[name] = dict(zip(names, metric_files, strict=True))
        elif len(metric_files) != len(systems):
            raise UsageError(
                f"--scores: {name} has {len(metric_files)} files for {len(systems)} systems "
                "(expected one file, or one per system in the order of -i)"
            )
        else:
            scores[name] = dict(zip(systems, metric_files, strict=True))
    return scores


COMMAND = Command(
    "truebleu compare REF... -i HYP... [options]",
    __doc__,
    lambda words: [
        *files.list_input_groups(words),
        SYSTEMS,
        OptionGroup("more", files.SOURCE, files.DOCUMENTS),
        TESTING,
        tabular_inputs.make_comparison_table_group(),
        *metric_options.list_metric_groups(words),
        COLUMN_SELECTION,
        shared.PAPER,
        shared.make_output_group(shared.TABLE_FORMATS, "text", shared.COLOR, digits=1),
        shared.RUNNING,
    ],
    run,
)
