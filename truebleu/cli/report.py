"""`truebleu report`: the interactive page, one file that needs nothing else.

examples:
  truebleu report reference.en -i baseline.en new.en -src source.de -o report.html
      two systems: who wins, is it real, why, and where

  truebleu report ref.a.en ref.b.en -i *.en -m bleu chrf --docs documents.txt -o report.html
      several systems by two metrics, document by document

  truebleu report ref.zh -i system.zh -tok zh --also tokenize=char lowercase -o report.html
      one system, to be looked at with other settings, too

  truebleu report reference.en -i baseline.en new.en -src source.de --terms terms.tsv -o report.html
      with a glossary: how often each system used the wanted term

  truebleu report reference.en -i baseline.en new.en --serve --open
      millions of segments: the page on this machine, with texts read as they are looked at
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
from truebleu.cli import compare, metric_options, score, table_options, tabular_comparison
from truebleu.cli import input_files as files
from truebleu.cli.common_options import Command, Group, whole_number
from truebleu.cli.output import (
    Output,
    UsageError,
    complain,
    is_terminal,
    print_text,
    raise_if_failed,
)
from truebleu.cli.progress import Progress
from truebleu.reports import Report, browser_kernel
from truebleu.reports.report_builder import (
    MAX_EMBEDDED,
    VIEWER_METRICS,
    ReportData,
    check_metrics,
    parse_further_settings,
)
from truebleu.text.segments import File

if TYPE_CHECKING:
    from truebleu.reports.serve import Server

# Most reports are about fewer; a number with more digits would be a slip of the finger.
MOST_SEGMENTS = 10**12

# Options whose values are files: the page names them without their folders.
FILES = (
    *("references", "input", "source", "docs", "labels", "word_counts", "terms", "scores"),
    "registry",
)
# What does not change the numbers.
UNSAID = (
    *("output", "threads", "quiet", "help", "serve", "open", "format", "color"),
    *("mirror", "offline"),
)

PAGE = Group(
    "page",
    files.SOURCE,
    files.DOCUMENTS,
    """
    --labels FILE...    labels of segments: a tab-separated file with a header, or NAME=FILE for
                        each kind
    --also SETTING...   further settings to look at: tokenize=intl,char (two), lowercase,
                        tokenize=intl+lowercase (both at once), or a metric
    --word-counts FILE  frequencies of words in other text, as WORD<tab>NUMBER, for buckets by
                        frequency (frequencies in the references)
    --terms FILE        a glossary, SOURCE TERM<tab>TARGET TERM: how often each system used the
                        wanted term (needs -src)
    --title TEXT        the title (the systems' names)
    --embed-text N      texts of N segments (100000), those that matter most and random ones;
                        numbers of all
    --human FILE        people's scores of these systems, as truebleu meta takes them: the page
                        shows how far the metrics agree with them
    --redact-text       no text at all; names of systems, documents and labels stay
    """,
    also={"default": []},
    embed_text={"type": whole_number(0, MOST_SEGMENTS)},
)
OUTPUT = Group(
    "output",
    shared.OUTPUT,
    """
    --serve [PORT]  write nothing, and show the page on this machine until Ctrl-C; texts stay in
                    their files, which may be larger than a page (any free port)
    --open          with --serve: open the page in the browser
    """,
    serve={"type": whole_number(0, 65535), "const": 0},
)


def run(options: argparse.Namespace) -> None:
    """Read, count, compare, and write or serve the page."""
    _check_output(options)
    labels = _labels(options)
    request, inputs, metrics = compare.request_of(options, labels)
    test_set = None if inputs is None else inputs.test_set
    if inputs is None and not table_options.are_meant(options):
        raise UsageError("no REF: name at least one file of references")
    if inputs is not None and any(len(files) > 1 for files in inputs.runs.values()):
        raise UsageError("-i/--input: a page shows one output a system; compare knows runs")
    if test_set is not None:
        test_set.label(request)
    # Further settings are checked before anything is read.
    with shared.as_usage("--also", compare.OPTIONS):
        shown = [metric for metric in metrics if metric.NAME in VIEWER_METRICS]
        further = list(parse_further_settings(options.also, shown))
        check_metrics(list(metrics), further)
    words, terms = files.beside(options, "word_counts"), files.beside(options, "terms")
    if terms and options.source is None and test_set is None:
        raise UsageError("--terms: they are looked for in the source; name it with -src")
    read = [] if inputs is None else inputs.every_file()
    kinds = labels.values() if isinstance(labels, dict) else [labels]
    files.check(options, [*read, *kinds, words, terms])
    # The file is opened before anything is read, and there only when the page is whole.
    with (
        Progress(quiet=options.quiet) as progress,
        Output(options.output) if options.serve is None else nullcontext() as output,
    ):
        request.progress = progress.callback
        contents = ReportData(
            request,
            further,
            title=options.title,
            word_counts=words,
            commands=list(commands(options)),
            is_redacted=options.redact_text,
            human=options.human,
            terms=terms,
            on_disk=options.serve is not None,
        )
        if output is not None:
            page = Report(contents, embed_text=options.embed_text, workers=options.threads)
            output.write_bytes(page.to_bytes())
        else:
            from truebleu.reports.serve import Server

            server = Server(contents, options.serve, workers=options.threads)
    if not options.quiet:
        _complain(contents, options)
    if options.serve is not None:
        _serve(server, options)
    raise_if_failed(request.failure_messages.values())


def _check_output(options: argparse.Namespace) -> None:
    """Refuse options of a file for a page that is served, and the other way round."""
    if options.serve is None:
        if options.open:
            raise UsageError("--open: it is for --serve; a file is opened as any other")
        if options.output is None and is_terminal():
            raise UsageError("-o/--output: name the file to write, as -o report.html")
    elif options.output is not None or options.embed_text is not None:
        name = "--embed-text" if options.output is None else "-o/--output"
        raise UsageError(f"{name}: --serve writes no file; leave one of them out")


def _complain(contents: ReportData, options: argparse.Namespace) -> None:
    """Write warnings about the text, and about what the page lacks."""
    for one in contents.comparison.get("warnings", ()):
        complain("warning", one["text"])
    if not browser_kernel.load_kernel_blocks():
        complain("warning", browser_kernel.MISSING_KERNEL)
    is_cut = contents.segment_count > MAX_EMBEDDED and not contents.is_redacted
    if options.serve is None and options.embed_text is None and is_cut:
        complain(
            "note",
            f"the page has the numbers of all {contents.segment_count:,} segments, and the texts "
            f"of {MAX_EMBEDDED:,}; --embed-text N changes that",
        )


def _serve(server: Server, options: argparse.Namespace) -> None:
    """Show the page until somebody ends it."""
    # A command that ends at once does without both (cli/__init__.py).
    gc.enable()
    with server, suppress(KeyboardInterrupt):
        print_text(f"{server.url}\n")
        if not options.quiet:
            complain("note", "whoever has this address can read the texts; Ctrl-C ends it")
        if options.open:
            import webbrowser

            webbrowser.open(server.url)
        server.serve_forever()


# ---- files ----


def _labels(options: argparse.Namespace) -> dict[str, File] | File | None:
    """A table of labels, or a file for each kind."""
    found: dict[str, File] = {}
    for word in options.labels or ():
        name, mark, path = word.partition("=")
        if mark and name and path and not os.path.exists(word):
            if name in found:
                raise UsageError(f"--labels: {name} is there twice")
            found[name] = files.file_of(path, options.encoding)
        elif len(options.labels) > 1:
            raise UsageError(
                f"--labels: '{word}': with several, expected NAME=FILE, as domain=domains.txt"
            )
        else:
            return files.file_of(word, options.encoding)
    return found or None


# ---- how to do it again ----


def commands(options: argparse.Namespace) -> Iterator[str]:
    """The command lines that make these numbers again, with files as if they lay in one folder."""
    several = table_options.are_meant(options) or len(options.input or ()) > 1
    name, command = ("compare", compare.COMMAND) if several else ("score", score.COMMAND)
    yield join(["truebleu", "report", *_words(COMMAND, options), "-o", "report.html"])
    yield join(["truebleu", name, *_words(command, options)])


def _words(command: Command, options: argparse.Namespace) -> Iterator[str]:
    """The words that say what differs from the defaults of a command."""
    # The options of a command depend on its metrics, and on whether it takes a test set.
    chosen = ["-m", *(options.metrics or [metric_options.DEFAULT])]
    if getattr(options, "test_set", None) is not None:
        chosen.append("-t")
    parser = shared.Parser("truebleu", groups=command.groups(chosen))
    said: set[str] = set()
    for action in parser.actions:
        value = getattr(options, action.dest, None)
        usual = value is None or value == action.default
        if usual or action.dest in said or action.dest in UNSAID:
            continue
        words = [str(word) for word in _flat(value)]
        if action.dest in FILES:
            words = [_base(word) for word in words]
        if action.nargs != 0:
            said.add(action.dest)
            yield from (*action.option_strings[:1], *words)
        elif action.const == value:
            said.add(action.dest)
            yield action.option_strings[0]


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)
    elif isinstance(value, bool):
        yield "yes" if value else "no"
    else:
        yield value


def _base(word: str) -> str:
    """A file's name without its folder, behind NAME= if that is there."""
    name, mark, path = word.rpartition("=")
    return f"{name}{mark}{os.path.basename(path)}"


COMMAND = Command(
    "truebleu report REF... -i HYP... [options]",
    __doc__,
    lambda words: [
        *files.groups(words),
        *metric_options.groups(words),
        table_options.group(tabular_comparison.BY),
        PAGE,
        compare.SYSTEMS,
        compare.TESTING,
        OUTPUT,
        shared.RUNNING,
    ],
    run,
)
