"""`truebleu check`: a gate for builds.

examples:
  truebleu check reference.en -i system.en --min 30
      exit status 3 if BLEU is below 30

  truebleu check reference.en -i system.en --max-drop 0.5 --log scores.jsonl --keep
      no more than 0.5 below the last score in the log, where a score that passes is added

  truebleu check reference.en -i new.en --against released.en --significant --docs documents.txt
      not worse than another output by more than chance makes; if it is, where

  truebleu check reference.en -i system.en -m bleu chrf --min bleu=30 chrf=55 --junit check.xml
      two floors, and a file for the build server
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, table_options
from truebleu.cli.common_options import Command, Group
from truebleu.cli.output import FellError, Output, Results, UsageError
from truebleu.cli.progress import Progress
from truebleu.text.argument_checks import DEFAULT_SEED, parse_number

# The options of the arguments of `truebleu.check`.
OPTIONS = {"minimum": "--min", "max_drop": "--max-drop", "name": "--log-name"}
_SAME = ("log", "keep", "against", "significant", "level", "samples")
OPTIONS |= {name: f"--{name}" for name in _SAME}

GATE = Group(
    "what must hold",
    """
    --min N...       the least score; of TER, WER and the like the most; NAME=N for each of several
                     metrics
    --max-drop N...  by how much a score may be worse than the earlier one, as for --min
    --log FILE       the earlier score is the last in this log (truebleu score --log) of the same
                     name, signature and references
    --log-name NAME  the name that is followed in the log, where the file's changes
    --keep           add the scores to the log if everything holds
    --against FILE   an earlier output for the same references: what fell is named, by document and
                     by segment
    --significant    not worse than that output by more than chance makes
    --level X        of that test: it fails if p < 1 - X (0.95)
    --samples N      randomizations of that test (10000)
    --seed N         of random numbers (12345); none for a different one each time
    """,
    level={"type": shared.level_of, "default": 0.95},
    samples={"type": shared.samples},
    seed={"type": shared.seed_of, "default": DEFAULT_SEED},
)
FILES = Group(
    "files for build servers",
    """
    --junit FILE    write JUnit's XML
    --summary FILE  add Markdown to FILE, as $GITHUB_STEP_SUMMARY takes it
    """,
)


def run(options: argparse.Namespace) -> None:
    """Scores a system, and fails if the score is not what it must be."""
    from truebleu.comparison.gate import Check, CheckJob, Conditions

    output = Results(options)
    output.check_exact()
    if table_options.are_meant(options):
        raise UsageError("truebleu check reads lines of text; score reads tables")
    metrics = metric_options.metrics(options)
    inputs = files.Inputs(options)
    if len(inputs.systems) != 1:
        raise UsageError(f"-i/--input: one output is checked, not {len(inputs.systems)}")
    ((system, hypotheses),) = inputs.systems.items()
    against = files.beside(options, "against")
    files.check(options, [against])
    with shared.as_usage(known=OPTIONS):
        scoring = CheckJob(
            Conditions(
                minimum=_numbers("--min", options.min),
                max_drop=_numbers("--max-drop", options.max_drop),
                log=options.log,
                name=options.log_name,
                keep=options.keep,
                against=against,
                significant=options.significant,
            ),
            hypotheses,
            inputs.references(),
            metrics,
            system=system,
            level=options.level,
            samples=options.samples,
            seed=options.seed,
            source=inputs.source,
            documents=files.documents_of(options, inputs),
            workers=options.threads,
        )
    request = scoring.request
    request.language = metric_options.known_tag(options)
    request.original_references = inputs.reference_columns
    request.test_set = inputs.signature
    with output:
        with Progress(quiet=options.quiet) as progress, shared.as_usage(known=OPTIONS):
            request.progress = progress.callback
            made = Check.from_job(scoring)
        output.warn(made.warnings)
        output.show(made)
    if options.junit is not None:
        with Output(options.junit) as junit:
            junit.write(made.junit())
    if options.summary is not None:
        with open(options.summary, "a", encoding="utf-8") as summary:
            summary.write(f"{made.markdown()}\n")
    if not made:
        raise FellError("; ".join(made.failures))


def _numbers(option: str, words: Sequence[str] | None) -> float | dict[str, float] | None:
    """Return a number, or one by the name of each metric."""

    def number(text: str) -> float:
        try:
            return parse_number(text)
        except ValueError:
            raise UsageError(f"{option}: expected a number, or NAME=NUMBER, not '{text}'") from None

    parts = [part for word in words or () for part in word.split(",")]
    if len(parts) == 1 and "=" not in parts[0]:
        return number(parts[0])
    numbers: dict[str, float] = {}
    for part in parts:
        name, mark, text = part.rpartition("=")
        if not mark:
            raise UsageError(
                f"{option}: of several numbers each has the name of its metric, as bleu=30, "
                f"not '{part}'"
            )
        if name in numbers:
            raise UsageError(f"{option}: {name} is there twice")
        numbers[name] = number(text)
    return numbers or None


COMMAND = Command(
    "truebleu check REF... -i HYP [options]",
    __doc__,
    lambda words: [
        *files.groups(words),
        GATE,
        Group("more", files.SOURCE, files.DOCUMENTS),
        *metric_options.groups(words),
        FILES,
        shared.view_output(2),
        shared.RUNNING,
    ],
    run,
)
