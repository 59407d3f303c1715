"""`truebleu report`: interactive report as a self-contained HTML file.

examples:
  truebleu report reference.en -i baseline.en new.en
      write report.html, and print its name and the main result

  truebleu report reference.en -i baseline.en new.en -src source.de -o report.html
      compare two systems and show the source texts

  truebleu report ref.a.en ref.b.en -i *.en -m bleu chrf --docs documents.txt -o report.html
      compare several systems on two metrics, with document scores

  truebleu report ref.zh -i system.zh -tok zh --also tokenize=char lowercase -o report.html
      report on one system; offer additional metric settings in the report

  truebleu report reference.en -i baseline.en new.en -src source.de --terms terms.tsv -o report.html
      show how often each system used the terms of a glossary

  truebleu report reference.en -i baseline.en new.en --serve --open
      serve a report on millions of segments locally, reading texts on demand
"""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from shlex import join
from typing import TYPE_CHECKING, Any

from truebleu.cli import common_options as shared
from truebleu.cli import compare, metric_options, score, tabular_inputs
from truebleu.cli import input_files as files
from truebleu.cli.common_options import Command, OptionGroup, make_integer_type
from truebleu.cli.output import (
    STANDARD_OUTPUT_NAMES,
    Output,
    Progress,
    UsageError,
    announce_file,
    choose_page_path,
    is_terminal,
    open_page,
    print_message,
    print_text,
    raise_if_failed,
)
from truebleu.comparison import display_scale, overview
from truebleu.meta_evaluation.error_spans import read_spans
from truebleu.reports import Report, browser_kernel
from truebleu.reports.report_builder import MAX_EMBEDDED, OptionalInputs, ReportData
from truebleu.reports.report_settings import select_further_metrics
from truebleu.text.segments import File
from truebleu.text.terminal_layout import format_count, get_terminal_width, wrap_text

if TYPE_CHECKING:
    from truebleu.reports.serve import Server

# Numbers larger than this are probably typos.
MAX_SEGMENTS = 10**12

# Options with file names; the report shows these names without the folder that contains them all.
FILE_OPTIONS = (
    *("references", "input", "source", "docs", "labels", "word_counts", "terms", "scores"),
    *("registry", "spans", "human", "hyp_docs"),
)
# Options that do not affect the scores.
OMITTED_OPTIONS = (
    *("output", "threads", "quiet", "help", "serve", "open", "format", "color"),
    *("mirror", "offline"),
)

PAGE = OptionGroup(
    "report",
    files.SOURCE,
    files.DOCUMENTS,
    """
    --labels FILE...    read segment labels from a tab-separated file with a header, or one label
                        per line from each NAME=FILE
    --also SETTING...   add metric settings: tokenize=intl,char (two settings), lowercase,
                        tokenize=intl+lowercase (a combination), or a metric
    --word-counts FILE  read word frequencies as WORD<tab>COUNT, to group words by frequency
                        (default: frequencies in the references)
    --terms FILE        read a glossary as SOURCE TERM<tab>TARGET TERM, and show how often each
                        system used the target terms; needs -src
    --title TEXT        use this title (default: the system names)
    --embed-text N      embed the texts of N segments: the most influential ones and a random
                        sample; the scores cover all segments (default: 100000)
    --human FILE        read human scores in any format that truebleu meta accepts, and show how
                        well the metrics agree with them
    --spans FILE        read error spans of WMT25, WMT24, Appraise, Pearmut, mt-metrics-eval or MQM,
                        and show them in the texts
    --first-segment N   number of the first segment in a --spans file of Appraise: 0 or 1
    --redact-text       omit all text; keep the names of systems, documents and labels
    """,
    also={"default": []},
    embed_text={"type": make_integer_type(0, MAX_SEGMENTS)},
    first_segment={"type": make_integer_type(0, 1)},
)
OUTPUT = OptionGroup(
    "output",
    """
    -o --output FILE  write the report to FILE, replacing it; - is standard output (default:
                      report.html, which is never replaced; its name and the result are printed)
    """,
    shared.REPORT_SCALE,
    """
    --serve [PORT]  serve the report locally until Ctrl-C instead of writing a file; texts are read
                    from the input files on demand (default: any free port)
    --open          open the report in the browser
    """,
    serve={"type": make_integer_type(0, 65535), "const": 0},
)


def run(options: argparse.Namespace) -> None:
    """Compare the systems, and write or serve the report."""
    path = _choose_output(options)
    labels = _parse_labels(options)
    request, inputs, metrics = compare.build_request(options, labels)
    test_set = None if inputs is None else inputs.test_set
    if inputs is None and not files.uses_tables(options):
        expected = "at least one reference file"
        raise UsageError(files.describe_missing_references(options, expected))
    if inputs is not None and any(len(files) > 1 for files in inputs.runs.values()):
        raise UsageError(
            "-i/--input: reports support one output per system; for runs, use truebleu compare"
        )
    if test_set is not None:
        test_set.add_labels(request)
    # Check the settings before reading files, so that errors appear early.
    with shared.reraise_as_usage_error("--also", compare.COMPARE_OPTIONS):
        further_metrics = select_further_metrics(options.also, list(metrics))
    word_counts, terms, spans = (
        files.get_option_file(options, name) for name in ("word_counts", "terms", "spans")
    )
    if options.first_segment is not None and spans is None:
        raise UsageError("--first-segment has no effect without --spans")
    if terms and options.source is None and test_set is None:
        raise UsageError("--terms needs the source; name it with -src/--source")
    # Open the output before reading files. The file appears only when the report is complete.
    with (
        Progress(quiet=options.quiet) as progress,
        nullcontext() if path is None else Output(path) as output,
    ):
        request.progress = progress.callback
        contents = ReportData(
            request,
            further_metrics,
            OptionalInputs(
                word_counts=word_counts,
                human=options.human,
                terms=terms,
                spans=spans and read_spans(spans, first=options.first_segment),
            ),
            title=options.title,
            commands=list(build_commands(options)),
            is_redacted=options.redact_text,
            scale=options.scale,
            on_disk=options.serve is not None,
        )
        if output is not None:
            page = Report(contents, embed_text=options.embed_text, workers=options.threads)
            output.write_bytes(page.to_bytes())
        else:
            from truebleu.reports.serve import Server

            server = Server(contents, options.serve, workers=options.threads)
    if not options.quiet:
        _print_warnings(contents, options)
    if path is not None and path not in STANDARD_OUTPUT_NAMES:
        if options.output is None or (is_terminal() and not options.quiet):
            _print_result(contents, path)
        elif not options.quiet:
            announce_file(path)
    if path is not None and options.open:
        open_page(path)
    if options.serve is not None:
        _serve_report(server, options)
    raise_if_failed(request.failure_messages.values())


def _choose_output(options: argparse.Namespace) -> str | None:
    if options.serve is None:
        return choose_page_path(options.output, "report.html", opens_page=options.open)
    if options.output is not None or options.embed_text is not None:
        name = "--embed-text" if options.output is None else "-o/--output"
        raise UsageError(f"{name} and --serve are mutually exclusive")
    return None


def _print_result(contents: ReportData, path: str) -> None:
    content = display_scale.convert_to_scale(contents.comparison, contents.scale)
    sentences = [overview.format_headline(content), content.get("name_note", "")]
    paragraph = wrap_text(" ".join(filter(None, sentences)), min(get_terminal_width(80), 80))
    print_text("\n".join([*paragraph, "", f"Report: {path}", ""]))


def _print_warnings(contents: ReportData, options: argparse.Namespace) -> None:
    for warning in compare.list_warnings(contents.comparison):
        print_message("warning", warning["text"])
    if not browser_kernel.load_kernel_blocks():
        print_message("warning", browser_kernel.MISSING_KERNEL)
    unmatched = (contents.extra_entries["spans"] or {}).get("unmatched")
    if unmatched:
        print_message("note", f"--spans: {format_count(unmatched, 'annotation')} of other texts")
    omits_texts = contents.segment_count > MAX_EMBEDDED and not contents.is_redacted
    if options.serve is None and options.embed_text is None and omits_texts:
        print_message(
            "note",
            f"the report contains the scores of all {contents.segment_count:,} segments, but the "
            f"texts of only {MAX_EMBEDDED:,}. Use --embed-text N to embed more",
        )


def _serve_report(server: Server, options: argparse.Namespace) -> None:
    """Serve the report until the user presses Ctrl-C."""
    # cli/__init__.py disables garbage collection for short commands.
    gc.enable()
    with server, suppress(KeyboardInterrupt):
        print_text(f"{server.url}\n")
        if not options.quiet:
            print_message("note", "anyone with this URL can read the texts; press Ctrl-C to stop")
        if options.open:
            open_page(server.url)
        server.serve_forever()


# ---- files ----


def _parse_labels(options: argparse.Namespace) -> dict[str, File] | File | None:
    """Return the file with a table of labels, or a dictionary of files by label name."""
    label_files: dict[str, File] = {}
    for word in options.labels or ():
        name, separator, path = word.partition("=")
        if separator and name and path and not os.path.exists(word):
            if name in label_files:
                raise UsageError(f"--labels: duplicate name '{name}'")
            label_files[name] = files.parse_file_argument(path, options.encoding)
        elif len(options.labels) > 1:
            raise UsageError(
                "--labels: several files need names (expected NAME=FILE such as "
                f"domain=domains.txt, found '{word}')"
            )
        else:
            return files.parse_file_argument(word, options.encoding)
    return label_files or None


# ---- commands that reproduce the report ----


def build_commands(options: argparse.Namespace) -> Iterator[str]:
    """Yield command lines that reproduce the scores in the folder that contains all files."""
    words = [
        word for name in FILE_OPTIONS for word in _flatten_values(getattr(options, name, None))
    ]
    paths = [str(word).rpartition("=")[2] for word in words if word not in (None, "-")]
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(one)) for one in paths] or ["/"])
    compares_systems = files.uses_tables(options) or len(options.input or ()) > 1
    name, command = ("compare", compare.COMMAND) if compares_systems else ("score", score.COMMAND)
    yield join(
        ["truebleu", "report", *_list_option_words(COMMAND, options, folder), "-o", "report.html"]
    )
    yield join(["truebleu", name, *_list_option_words(command, options, folder)])


def _list_option_words(command: Command, options: argparse.Namespace, folder: str) -> Iterator[str]:
    """Yield the words of a command line for the options that differ from the defaults.

    folder: the folder from which file names start.
    """
    # The available options depend on the metrics and on the test set.
    selection_words = ["-m", *(options.metrics or [metric_options.DEFAULT_METRIC])]
    if getattr(options, "test_set", None) is not None:
        selection_words.append("-t")
    parser = shared.Parser("truebleu", groups=command.groups(selection_words))
    seen_options: set[str] = set()
    for action in parser.actions:
        value = getattr(options, action.dest, None)
        is_default = value is None or value == action.default
        # Several flags may set one destination.
        is_other_flag = action.nargs == 0 and action.const != value
        if is_default or is_other_flag or action.dest in (*seen_options, *OMITTED_OPTIONS):
            continue
        words = [] if action.nargs == 0 else [str(word) for word in _flatten_values(value)]
        if action.dest in FILE_OPTIONS:
            # Keep a prefix such as NAME=.
            parts = (word.rpartition("=") for word in words)
            words = [
                f"{name}{sign}{path if path == '-' else os.path.relpath(path, folder)}"
                for name, sign, path in parts
            ]
        seen_options.add(action.dest)
        yield from (*action.option_strings[:1], *words)


def _flatten_values(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flatten_values(item)
    elif isinstance(value, bool):
        yield "yes" if value else "no"
    else:
        yield value


COMMAND = Command(
    "truebleu report REF... -i HYP... [options]",
    __doc__,
    lambda words: [
        *files.list_input_groups(words),
        *metric_options.list_metric_groups(words),
        files.make_table_group(tabular_inputs.BY_HELP),
        PAGE,
        compare.SYSTEMS,
        compare.TESTING,
        OUTPUT,
        shared.RUNNING,
    ],
    run,
)
