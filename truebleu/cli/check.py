"""`truebleu check`: quality gate for builds.

examples:
  truebleu check reference.en -i system.en --min 30
      exit with status 3 if BLEU is below 30

  truebleu check reference.en -i system.en --max-drop 0.5 --log scores.jsonl --keep
      allow a drop of 0.5 from the last score in the log; add the score to the log if it passes.
      Before the first check, create the log:
      truebleu score reference.en -i system.en --log scores.jsonl

  truebleu check reference.en -i new.en --against released.en --significant --docs documents.txt
      fail if the output is significantly worse than released.en; list segments that got worse

  truebleu check reference.en -i system.en -m bleu chrf --min bleu=30 chrf=55 --junit check.xml
      require minimum scores for two metrics, and write a result file for the build server
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import (
    STANDARD_OUTPUT_NAMES,
    Output,
    Progress,
    Results,
    ScoreTooLowError,
    UsageError,
)
from truebleu.text.argument_checks import parse_number

# Mapping from the parameters of `truebleu.check` to command-line options, for error messages.
CHECK_OPTIONS = {"minimum": "--min", "max_drop": "--max-drop", "name": "--log-name"}
_UNCHANGED_NAMES = ("log", "keep", "against", "significant", "level", "samples", "seed", "scale")
CHECK_OPTIONS |= {name: f"--{name}" for name in _UNCHANGED_NAMES}

GATE = OptionGroup(
    "conditions",
    """
    --min N...       require a score of at least N (at most N for TER, WER and similar metrics); for
                     several metrics, use NAME=N; BLEU is on the 0-100 scale, or on the 0-1 scale
                     with --scale 1
    --max-drop N...  allow a drop of up to N from the earlier score; for several metrics, use
                     NAME=N; BLEU is on the 0-100 scale, or on the 0-1 scale with --scale 1
    --log FILE       compare with the last score in this log that has the same name, signature and
                     references (see truebleu score --log)
    --log-name NAME  use NAME instead of the file name to find earlier scores in the log
    --keep           append the scores to the log if all checks pass
    --against FILE   compare with this earlier output; list the documents and segments that got
                     worse
    --significant    fail if the output is significantly worse than --against
    --level X        use this confidence level: fail if p < 1 - X (default: 0.95)
    --samples N      use N randomizations in the test (default: 10000)
    """,
    shared.SEED,
    level={"type": shared.parse_confidence_level, "default": 0.95},
    samples={"type": shared.parse_samples},
)
BUILD_FILES = OptionGroup(
    "files for build servers",
    """
    --junit FILE    write the results to FILE as JUnit XML
    --summary FILE  append the results to FILE as Markdown, for $GITHUB_STEP_SUMMARY
    """,
)


def run(options: argparse.Namespace) -> None:
    """Score a system and raise ScoreTooLowError if a check fails."""
    from truebleu.comparison.gate import Check, CheckJob, Conditions

    output = Results(options)
    output.check_display_options()
    if files.uses_tables(options):
        raise UsageError("truebleu check does not read tables; use truebleu score")
    metrics = metric_options.select_metrics(options)
    inputs = files.Inputs(options)
    if len(inputs.systems) != 1:
        raise UsageError(f"-i/--input: expected one output, found {len(inputs.systems)}")
    ((system, hypotheses),) = inputs.systems.items()
    against = inputs.earlier[0] if inputs.earlier else None
    if options.docs is not None and against is None and options.resegment is None:
        raise UsageError("--docs has no effect without --against or --resegment")
    with shared.reraise_as_usage_error(options_by_prefix=CHECK_OPTIONS):
        scoring = CheckJob(
            Conditions(
                minimum=_parse_limits("--min", options.min),
                max_drop=_parse_limits("--max-drop", options.max_drop),
                log=options.log,
                name=options.log_name,
                keep=options.keep,
                against=against,
                significant=options.significant,
            ),
            hypotheses,
            inputs.read_references(),
            metrics,
            system=system,
            level=options.level,
            samples=options.samples,
            seed=options.seed,
            source=inputs.source,
            documents=None if against is None else files.get_documents(options, inputs),
            workers=options.threads,
            scale=options.scale,
        )
    request = scoring.request
    request.language = metric_options.get_language_tag(options)
    request.original_references = inputs.reference_columns
    request.test_set = inputs.signature
    with output:
        with (
            Progress(quiet=options.quiet) as progress,
            shared.reraise_as_usage_error(options_by_prefix=CHECK_OPTIONS),
        ):
            request.progress = progress.callback
            result = Check.from_job(scoring)
        output.print_warnings(result.warnings)
        output.write_view(result)
    if options.junit is not None:
        with Output(options.junit, announces_file=not options.quiet) as junit:
            junit.write(result.junit())
    if options.summary is not None:
        is_standard_output = options.summary in STANDARD_OUTPUT_NAMES
        try:
            with (
                Output() if is_standard_output else open(options.summary, "a", encoding="utf-8")
            ) as summary:
                summary.write(f"{result.markdown()}\n")
        except OSError as error:
            error.filename = error.filename or options.summary
            raise
    if not result:
        # The result on standard output already lists the failures.
        raise ScoreTooLowError("" if output.is_read_directly else " ".join(result.failures))


def _parse_limits(option: str, words: Sequence[str] | None) -> float | dict[str, float] | None:
    """Return one limit for all metrics, or limits by metric name."""

    def parse_limit(text: str) -> float:
        try:
            return parse_number(text)
        except ValueError:
            raise UsageError(
                f"{option}: expected a number or NAME=NUMBER, found '{text}'"
            ) from None

    parts = [part for word in words or () for part in word.split(",")]
    if len(parts) == 1 and "=" not in parts[0]:
        return parse_limit(parts[0])
    limits: dict[str, float] = {}
    for part in parts:
        name, separator, text = part.rpartition("=")
        if not separator:
            raise UsageError(
                f"{option}: several limits need metric names (expected NAME=NUMBER such as "
                f"bleu=30, found '{part}')"
            )
        if name in limits:
            raise UsageError(f"{option}: duplicate name '{name}'")
        limits[name] = parse_limit(text)
    return limits or None


COMMAND = Command(
    "truebleu check REF... -i HYP [options]",
    __doc__,
    lambda words: [
        *files.list_input_groups(words),
        GATE,
        OptionGroup("more", files.SOURCE, files.DOCUMENTS),
        *metric_options.list_metric_groups(words),
        BUILD_FILES,
        shared.make_output_group(shared.VIEW_FORMATS, "text", shared.COLOR, digits=2),
        shared.RUNNING,
    ],
    run,
)
