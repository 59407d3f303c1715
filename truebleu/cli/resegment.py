"""`truebleu resegment`: the text of a system, divided into the segments of the reference.

examples:
  truebleu resegment reference.de -i talk.de -o talk.segments.de
      write as many lines as the reference has; score them with any program

  truebleu resegment reference.de -i talks.de --docs documents.txt -f jsonl
      text does not cross documents; write the place and the agreement of each segment

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
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Results, UsageError
from truebleu.cli.row_writers import ROW_FORMATS, TableSpec
from truebleu.resegmentation.resegment import texts_belong_together

FORMAT_NAMES = ["text", *(name for name in ROW_FORMATS if name not in ("text", "parquet"))]
# Enough to see whether two texts belong together.
SAMPLE_LINES = 2000
COLUMNS = (
    *("segment", "document", "start", "end", "equal", "substituted", "added", "missing"),
    *("similarity", "flags", "text"),
)


def list_resegment_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu resegment`."""
    yield from files.list_input_groups(words)
    yield OptionGroup(
        "language pair",
        "-l --language TAG  select this language pair of the test set, such as en-de",
    )
    yield OptionGroup("documents", files.DOCUMENTS)
    yield shared.make_output_group(FORMAT_NAMES, "text")
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Divide the text of a system and write its segments."""
    if len(options.input or ()) > 1:
        raise UsageError("-i/--input: expected one system output")
    if options.language is not None and getattr(options, "test_set", None) is None:
        raise UsageError("-l/--language has no effect without -t/--test-set")
    method = options.resegment or "soft"
    options.resegment = method if method.endswith("always") else f"{method},always"
    output = Results(options)
    inputs = files.Inputs(options)
    ((system, result),) = inputs.resegmentations.items()
    with output:
        if output.form == "text":
            output.write("".join(f"{text}\n" for text in result))
            return
        facts = result.facts
        table = TableSpec(
            "resegment",
            COLUMNS,
            ["similarity"],
            text_names=["document", "flags", "text"],
            metadata={"resegmentation": {system: result.to_dict()}},
        )
        writer = ROW_FORMATS[output.form](output, table)
        counts = [
            [getattr(fact, name) for fact in facts]
            for name in ("start", "end", "equal", "substituted", "added", "missing", "similarity")
        ]
        flags = [",".join(fact.flags) for fact in facts]
        documents = [fact.document for fact in facts]
        numbers = range(1, len(result) + 1)
        writer.write([numbers, documents, *counts, flags, result.segments])
        writer.finish()


def suggest_resegmentation(options: argparse.Namespace) -> str:
    """Return advice if outputs are probably segmented differently from the reference, or ""."""
    if options.resegment is not None or not options.references or not options.input:
        return ""
    names = [options.references[0], *(files.split_system_name(word)[1] for word in options.input)]
    if not all(map(os.path.isfile, names)):
        return ""

    def read_beginning(name: str) -> str:
        file = files.parse_text_file(name, options.encoding)
        return " ".join(islice(file.read_lines(), SAMPLE_LINES))

    reference, *texts = map(read_beginning, names)
    if not all(texts_belong_together(text, reference) for text in texts):
        return ""
    return ". If the texts are only segmented differently, add --resegment"


COMMAND = Command("truebleu resegment REF... -i HYP [options]", __doc__, list_resegment_groups, run)
