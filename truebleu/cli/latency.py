"""`truebleu latency`: latency of simultaneous systems, from their logs.

examples:
  truebleu latency instances.log
      LAAL, YAAL, AL, DAL and AP of a log of SimulEval, with bootstrap intervals

  truebleu latency slow=a/instances.log fast=b/instances.log reference.de
      compare two logs; test the difference in LAAL, and show BLEU next to latency

  truebleu latency talks.log --segments talks.yaml reference.de
      evaluate recordings as IWSLT does: divide the output into the segments of the reference;
      LongYAAL, StreamLAAL and BLEU

  truebleu latency talks.log --segments talks.yaml reference.zh -l zh
      the same, with one delay per character

logs:
  SimulEval           instances.log
  OmniSTEval          instances.resegmented.jsonl
  simulstream         JSON lines with total_audio_processed; needs --segments
"""

from __future__ import annotations

import argparse

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup, reraise_as_usage_error
from truebleu.cli.output import Results, UsageError
from truebleu.text.segments import File, make_rereadable

INPUT = OptionGroup(
    "input",
    """
    references FILE    read these logs and references, one segment per line; files whose first line
                       begins with { are logs. NAME=FILE names a system (default: the file name
                       without its last suffix)
    -i --input LOG...  read these logs
    --segments FILE    divide recordings into these segments, one per line of the reference: YAML
                       or JSON with wav, offset and duration (s). Recordings are matched by full
                       name, base name or stem
    """,
    files.ENCODING,
    references={"nargs": "*", "default": ()},
)
MEASURING = OptionGroup(
    "measuring",
    """
    --unit NAME           measure one delay per word or char (default: char with -l zh and other
                          languages without spaces, else word)
    --resegment METHOD    divide recordings by this method, such as omnisteval for OmniSTEval's
                          segments (see truebleu resegment --help). StreamLAAL always uses
                          mweralign, as simulstream does (default: soft)
    --fix-elapsed         count only the computation since the previous unit, as OmniSTEval does
                          with --fix_simuleval_emission_ca; SimulEval accumulates computation time
    --tokens NAME         join simulstream's tokens with spaces (word), without spaces (char) or as
                          SentencePiece pieces (spm) (default: spm if a token has U+2581, else
                          --unit)
    """,
    metric_options.LANGUAGE,
    unit={"choices": ("word", "char")},
    resegment={"type": files.parse_method, "default": "soft"},
    tokens={"choices": ("word", "char", "spm")},
)
INTERVALS = OptionGroup(
    "intervals",
    """
    -ci --confidence N  use N bootstrap resamples of the segments; 0 computes neither intervals
                        nor tests (default: 1000)
    """,
    *shared.INTERVALS[2:],
    confidence={
        "type": shared.make_integer_type(0, 10_000_000),
        "default": shared.DEFAULT_RESAMPLES,
    },
)


def run(options: argparse.Namespace) -> None:
    """Read the logs and write the latency of the systems."""
    from truebleu.comparison.latency_view import latency

    output = Results(options)
    output.check_display_options()
    if options.confidence == 0:
        shared.refuse_options(options, ("level", "seed"), "has no effect with --confidence 0")
    logs, references = _sort_files(options)
    segmentation = files.get_option_file(options, "segments")
    if segmentation is not None and not references:
        raise UsageError("--segments: missing REF. Name the reference of the segments")
    language = metric_options.get_language_tag(options)
    if references:
        metric_options.pick_tokenizer(options)
    with (
        output,
        reraise_as_usage_error(
            "--resegment", {"tokens": "--tokens", "method": "--resegment", "segments": "--segments"}
        ),
    ):
        result = latency(
            logs,
            references or None,
            segments=segmentation,
            method=options.resegment.partition(",")[0],
            unit=options.unit,
            language=language,
            tokens=options.tokens,
            fix_elapsed=options.fix_elapsed,
            confidence=options.confidence or None,
            level=options.level,
            seed=options.seed,
            workers=options.threads,
        )
        output.write_view(result)


def _sort_files(options: argparse.Namespace) -> tuple[dict[str, File], list[File]]:
    logs: list[tuple[str | None, File]] = []
    references = []
    for word in options.input or ():
        name, path = files.split_system_name(word)
        logs.append((name, make_rereadable(files.parse_file_argument(path, options.encoding))))
    for word in options.references:
        name, path = files.split_system_name(word)
        file = make_rereadable(files.parse_file_argument(path, options.encoding))
        first_line = next(filter(str.strip, file.read_lines()), "") if name is None else ""
        if name is not None or first_line.lstrip().startswith("{"):  # a JSON object
            logs.append((name, file))
        else:
            references.append(file)
    if not logs and references:
        # Treat the first reference as a log: the error then states that its first line is not JSON.
        logs.append((None, references.pop(0)))
    if not logs:
        raise UsageError("missing LOG: name at least one log of a simultaneous system")
    names = files.choose_system_names(logs)
    return dict(zip(names, (file for _, file in logs), strict=True)), references


COMMAND = Command(
    "truebleu latency LOG... [REF...] [--segments FILE] [options]",
    __doc__,
    lambda _: [
        INPUT,
        MEASURING,
        INTERVALS,
        shared.make_output_group(shared.TABLE_FORMATS, "text", shared.COLOR, digits=0),
        shared.RUNNING,
    ],
    run,
)
