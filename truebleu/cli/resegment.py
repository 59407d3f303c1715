"""`truebleu resegment`: the text of a system, divided into the segments of the reference.

examples:
  truebleu resegment reference.de -i talk.de -o talk.segments.de
      write as many lines as the reference has; score them with any program

  truebleu resegment reference.de -i talks.de --docs documents.txt -f jsonl
      assign no text to another document; write the position and agreement of each segment

  truebleu resegment reference.de -i talks.log --segments talks.yaml -f jsonl
      divide the recordings of a simultaneous system; write the delays of each segment

  truebleu score reference.de -i talk.de --resegment
      score in one step; the signature names the method

  truebleu resegment reference.srt -i system.srt --resegment time -f tsv
      .srt and .vtt files have a segment for each subtitle; words are assigned by time

methods:
  soft (default), as-wer
      truebleu's own: similar words and characters; smallest edit distance
  as-wer-13a, as-wer-char, ...
      the smallest edit distance of the tokens of any tokenizer (see truebleu score --help)
  mweralign, mweralign-none, mweralign-cj
      as mweralign 1.4.1: pieces, words (also RWTH's mwerSegmenter), characters
  omnisteval, omnisteval-char, omnisteval-moses-de
      as OmniSTEval 0.1.10 (SoftSegmenter): words, characters, with --lang de; the last needs
      Perl and the package mosestokenizer
  suber, suber-seg, suber-br
      as SubER 0.4.0 for AS-BLEU, AS-BLEU-seg, AS-TER-br: edit distance of words
  time, time-seg, time-br
      as SubER 0.4.0 for t-BLEU, t-BLEU-seg, t-TER-br: times of subtitles
  suber-zh, suber-seg-ja, time-ko, ...
      the same with SubER's --language zh, ja or ko, which divides words; in commands with metrics,
      -l zh selects them
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import islice

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli.common_options import Command, OptionGroup, reraise_as_usage_error
from truebleu.cli.output import SUFFIXES, Results, UsageError
from truebleu.cli.resegmented_outputs import print_agreement
from truebleu.rendering.table_writers import ROW_FORMATS, TableSpec
from truebleu.resegmentation.logs import TOKEN_KINDS, UNITS, read_log, read_log_of_any_unit
from truebleu.resegmentation.resegment import Resegmentation, resegment, texts_belong_together
from truebleu.text.sample_checks import Sample, find_shifted_lines
from truebleu.text.segments import COMPRESSED_SUFFIXES, make_rereadable

FORMAT_NAMES = ["text", *(name for name in ROW_FORMATS if name not in ("text", "parquet", "npy"))]
# Number of lines that suffices to see whether two texts belong together.
SAMPLE_LINES = 2000
COLUMNS = (
    *("segment", "document", "start", "end", "equal", "substituted", "added", "missing"),
    *("similarity", "flags", "text"),
)


RESEGMENTATION_METHOD = OptionGroup(
    "re-segmentation",
    "--resegment [METHOD]  use this method, listed below (default: soft)",
    files.HYPOTHESIS_DOCUMENTS,
    resegment={"const": "soft", "type": files.parse_method},
)


def list_resegment_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu resegment`."""
    yield from files.list_input_groups(words, RESEGMENTATION_METHOD)
    yield OptionGroup(
        "language pair",
        "-l --language TAG  select this language pair of the test set, such as en-de",
    )
    yield OptionGroup("documents", files.DOCUMENTS)
    yield OptionGroup(
        "recordings",
        """
        --segments FILE  read -i as the log of a simultaneous system (SimulEval, OmniSTEval or
                         simulstream), and divide its recordings into these segments: YAML or JSON
                         with wav, offset and duration (s). Tables contain the delays of each
                         segment in ms, from the start of its source
        --unit NAME      read one delay per word or char (default: as in the log)
        --tokens NAME    join the tokens of simulstream as word (by spaces), char (by nothing) or
                         spm (pieces) (default: spm if a token has U+2581, else --unit)
        """,
        unit={"choices": UNITS},
        tokens={"choices": TOKEN_KINDS},
    )
    yield shared.make_output_group(FORMAT_NAMES, "text")
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Divide the text of a system and write its segments."""
    if len(options.input or ()) > 1:
        raise UsageError("-i/--input: expected one system output")
    if options.language is not None and getattr(options, "test_set", None) is None:
        raise UsageError("-l/--language has no effect without -t/--test-set")
    if options.format is None and _has_suffix_of_input(options):
        options.format = "text"
    output = Results(options)
    if options.segments is not None:
        system, result = _divide_log(options)
    else:
        if options.unit is not None or options.tokens is not None:
            raise UsageError("--unit and --tokens have no effect without --segments")
        method = options.resegment or "soft"
        options.resegment = method if method.endswith("always") else f"{method},always"
        ((system, result),) = files.Inputs(options).resegmentations.items()
    with output:
        if output.form == "text":
            output.write("".join(f"{text}\n" for text in result))
            return
        facts = result.facts
        times = [(name, getattr(result, name)) for name in ("delays", "elapsed")]
        times = [(name, column) for name, column in times if column is not None]
        if output.form in ("tsv", "csv"):
            times = [(name, [" ".join(map(str, row)) for row in rows]) for name, rows in times]
        time_names = [name for name, _ in times]
        table = TableSpec(
            "resegment",
            (*COLUMNS, *time_names),
            ["similarity"],
            text_names=["document", "flags", "text", *time_names],
            metadata={"resegmentation": {system: result.to_dict()}},
        )
        writer = output.make_row_writer(table)
        counts = [
            [getattr(fact, name) for fact in facts]
            for name in ("start", "end", "equal", "substituted", "added", "missing", "similarity")
        ]
        flags = [",".join(fact.flags) for fact in facts]
        documents = [fact.document for fact in facts]
        numbers = range(1, len(result) + 1)
        time_columns = [column for _, column in times]
        writer.write([numbers, documents, *counts, flags, result.segments, *time_columns])
        writer.finish()


def _has_suffix_of_input(options: argparse.Namespace) -> bool:
    """Return whether the output file has the suffix of a text, such as the language of talk.de."""
    suffixes = {
        os.path.splitext(str(name))[1].lower()
        for name in (*(options.references or ()), *(options.input or ()))
    }
    suffix = os.path.splitext(options.output or "")[1].lower()
    return suffix in suffixes - {"", *SUFFIXES, *COMPRESSED_SUFFIXES}


def _divide_log(options: argparse.Namespace) -> tuple[str, Resegmentation]:
    """Return the name of the system, and its recordings divided into the segments of REF."""
    problem = "and --segments are mutually exclusive, because each recording is a document"
    shared.refuse_options(options, ("docs", "hyp_docs"), problem)
    method, _, _ = (options.resegment or "soft").partition(",")
    # Reset the option, because `Inputs` would otherwise re-segment the lines of the log.
    options.resegment = None
    inputs = files.Inputs(options)
    ((system, file),) = inputs.systems.items()
    file = make_rereadable(file)
    segmentation = files.get_option_file(options, "segments")
    if options.unit is None and options.tokens is None:
        log = read_log_of_any_unit(file)
    else:
        log = read_log(file, options.unit or "word", tokens=options.tokens)
    with reraise_as_usage_error("--resegment"):
        result = resegment(
            log, inputs.read_references(), method, times=segmentation, workers=options.threads
        )
    print_agreement({system: result}, options)
    return system, result


def suggest_resegmentation(options: argparse.Namespace) -> str:
    """Return advice after an error about different numbers of segments, or "".

    It names the line from which an output is shifted, or suggests to re-segment the output.
    """
    if options.resegment is not None or not options.references or not options.input:
        return ""
    names = [options.references[0], *(files.split_system_name(word)[1] for word in options.input)]
    if not all(map(os.path.isfile, names)):
        return ""

    references = [files.parse_text_file(name, options.encoding) for name in options.references]
    outputs = [files.parse_text_file(name, options.encoding) for name in names[1:]]
    for output in outputs:
        if shift := find_shifted_lines(Sample(output, references)):
            return (
                f". {os.path.basename(output.path)}: lines look shifted ({shift} of the "
                "references). Is a line missing or superfluous? --resegment divides the text again"
            )
    first = references[0]
    counts = {sum(1 for _ in file.read_lines()) for file in (first, *outputs)}
    reference, *texts = (
        " ".join(islice(file.read_lines(), SAMPLE_LINES)) for file in (first, *outputs)
    )
    # With equal counts, another file has the wrong number of segments.
    if len(counts) == 1 or not all(texts_belong_together(text, reference) for text in texts):
        return ""
    return ". If the texts are only segmented differently, add --resegment"


COMMAND = Command("truebleu resegment REF... -i HYP [options]", __doc__, list_resegment_groups, run)
