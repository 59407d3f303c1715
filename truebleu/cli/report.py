"""`truebleu report`: the interactive page, one file that needs nothing else."""

from __future__ import annotations

import os
from contextlib import nullcontext

from truebleu.cli import compare, metric_options
from truebleu.cli import inputs as files
from truebleu.cli import options as shared
from truebleu.cli.output import Output, complain, is_terminal, print_text
from truebleu.cli.parser import Command, Parser, UsageError, whole_number
from truebleu.cli.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.text.files import File
    from truebleu.views.report.build import Contents
    from truebleu.views.report.serve import Server

EXAMPLES = """\
examples:
  truebleu report reference.en -i baseline.en new.en -s source.de -o report.html
      two systems: who wins, is it real, why, and where

  truebleu report ref.a.en ref.b.en -i *.en -m bleu chrf --docs documents.txt -o report.html
      several systems by two metrics, document by document

  truebleu report ref.zh -i system.zh -tok zh --also tokenize=char lowercase -o report.html
      one system, to be looked at with other settings, too

  truebleu report reference.en -i baseline.en new.en --serve --open
      millions of segments: the page on this machine, with texts read as they are looked at
"""

# Most reports are about fewer; a number with more digits would be a slip of the finger.
MOST_SEGMENTS = 10**12

# Options whose values are files: the page names them without their folders.
FILES = ("references", "input", "source", "docs", "labels", "word_counts", "scores")

# What does not change the numbers.
UNSAID = ("output", "threads", "quiet", "help", "serve", "open", "format", "color")


def add_options(parser: Parser, words: Sequence[str]) -> None:
    """Adds what `truebleu report` knows."""
    files.add_options(parser)
    metric_options.add(parser, words)
    add_page(parser)
    compare.add_systems(parser)
    compare.add_tests(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        *("-o", "--output"), metavar="FILE", help="write to FILE, whole or not at all"
    )
    group.add_argument(
        "--serve",
        metavar="PORT",
        nargs="?",
        type=whole_number(0, 65535),
        const=0,
        help="write nothing, and show the page on this machine until Ctrl-C; texts stay in their "
        "files, which may be larger than a page (any free port)",
    )
    group.add_argument(
        "--open", action="store_true", help="with --serve: open the page in the browser"
    )
    shared.add_running(parser)


def add_page(parser: Parser) -> None:
    """Adds what the page shows beside the systems."""
    group = parser.add_argument_group("page")
    files.add_source(group, "what was translated")
    files.add_documents(group, "the name of each segment's document")
    group.add_argument(
        "--labels",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="labels of segments: a tab-separated file with a header, or NAME=FILE for each kind",
    )
    group.add_argument(
        "--also",
        metavar="SETTING",
        nargs="+",
        action="extend",
        default=[],
        help="further settings to look at: tokenize=intl,char (two), lowercase, "
        "tokenize=intl+lowercase (both at once), or a metric",
    )
    group.add_argument(
        "--word-counts",
        metavar="FILE",
        help="how often words are in other text, as WORD<tab>NUMBER: buckets by that (by how often "
        "they are in the references)",
    )
    group.add_argument("--title", metavar="TEXT", help="what to call it (the systems' names)")
    group.add_argument(
        "--embed-text",
        metavar="N",
        type=whole_number(0, MOST_SEGMENTS),
        help="texts of N segments (100000), those that matter most and random ones; numbers of all",
    )
    group.add_argument(
        "--redact-text",
        action="store_true",
        help="no text at all; names of systems, documents and labels stay",
    )


def run(options: argparse.Namespace) -> None:
    """Reads, counts, compares, and writes the page."""
    _check_serving(options)
    if options.output is None and options.serve is None and is_terminal():
        raise UsageError("-o/--output: name the file to write, as -o report.html")
    if not options.references:
        raise UsageError("no REF: name at least one file of references")
    asked = compare.Asked(options, _labels(options))
    further = _also(options, asked.metrics)
    words = None
    if options.word_counts is not None:
        words = files.file_of(options.word_counts, options.encoding)
    _check_files(options, asked.inputs, words)
    from truebleu.views.report import Report
    from truebleu.views.report.build import Contents

    with Progress(quiet=options.quiet) as progress:
        # The file is opened before anything is read, and there only when the page is whole.
        with Output(options.output) if options.serve is None else nullcontext() as output:
            contents = Contents(
                asked.request,
                further,
                title=options.title,
                word_counts=words,
                commands=list(commands(options)),
                redacted=options.redact_text,
                on_disk=options.serve is not None,
                observer=asked.seen.__setitem__,
                progress=None if progress.silent else progress,
            )
            if output is not None:
                workers = shared.threads(options)
                page = Report(contents, embed_text=options.embed_text, workers=workers)
                output.write_bytes(page.to_bytes())
        server = None if options.serve is None else _server(contents, options)
    asked.warn()
    if server is not None:
        _serve(server, options)
    elif not options.quiet:
        _note_size(options, contents)


# ---- a server ----


def _check_serving(options: argparse.Namespace) -> None:
    if options.serve is None:
        if options.open:
            raise UsageError("--open: it is for --serve; a file is opened as any other")
        return
    for name, given in (
        ("-o/--output", options.output is not None),
        ("--embed-text", options.embed_text is not None),
    ):
        if given:
            raise UsageError(f"{name}: --serve writes no file; leave one of them out")


def _server(contents: Contents, options: argparse.Namespace) -> Server:
    from truebleu.views.report.serve import Server

    return Server(contents, options.serve, workers=shared.threads(options))


def _serve(server: Server, options: argparse.Namespace) -> None:
    """Shows the page until somebody ends it."""
    import gc
    import signal

    # A command that ends at once does without both (cli/__init__.py).
    gc.enable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with server:
        try:
            print_text(f"{server.url}\n")
            if not options.quiet:
                complain("note", "whoever has this address can read the texts; Ctrl-C ends it")
            if options.open:
                import webbrowser

                webbrowser.open(server.url)
            server.serve_forever()
        except KeyboardInterrupt:
            return


def _note_size(options: argparse.Namespace, contents: Contents) -> None:
    from truebleu.views.report.build import MOST_EMBEDDED

    if options.embed_text is None and contents.segments > MOST_EMBEDDED and not contents.redacted:
        complain(
            "note",
            f"the page has the numbers of all {contents.segments:,} segments, and the texts of "
            f"{MOST_EMBEDDED:,}; --embed-text N changes that",
        )


def _also(options: argparse.Namespace, metrics: Mapping[Any, object]) -> list[Any]:
    """Further settings, checked before anything is read."""
    from truebleu.views.report.build import METRICS, check, settings

    try:
        shown = [metric for metric in metrics if metric.NAME in METRICS]
        further = list(settings(options.also, shown))
        check(list(metrics), further)
    except ValueError as error:
        what, _, why = str(error).partition(": ")
        raise UsageError(f"{'--also' if what == 'also' else '-m/--metrics'}: {why}") from None
    return further


# ---- files ----


def _labels(options: argparse.Namespace) -> Any:
    """A table of labels, or a file for each kind."""
    if not options.labels:
        return None
    found: dict[str, File] = {}
    for word in options.labels:
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
    return found


def _check_files(
    options: argparse.Namespace, inputs: files.Inputs | None, words: File | None
) -> None:
    """Refuses what is to be read twice and cannot be, and what is both read and written."""
    labels = _labels(options)
    given: list[File] = [*(labels.values() if isinstance(labels, dict) else filter(None, [labels]))]
    given += [] if words is None else [words]
    read = [] if inputs is None else inputs.every_file()
    if sum(file.path == "-" for file in (*given, *read)) > 1:
        raise UsageError("standard input is named twice, and can be read once")
    if options.output is not None:
        files.check_output(options.output, given)


# ---- how to do it again ----


def commands(options: argparse.Namespace) -> Iterator[str]:
    """The command lines that make these numbers again, with files as if they lay in one folder."""
    from shlex import join

    yield join(["truebleu", "report", *_words(add_options, options), "-o", "report.html"])
    if options.input is not None and len(options.input) > 1:
        yield join(["truebleu", "compare", *_words(compare.COMMAND.add_options, options)])
        return
    from truebleu.cli import score

    yield join(["truebleu", "score", *_words(score.COMMAND.add_options, options)])


def _words(add: Any, options: argparse.Namespace) -> Iterator[str]:
    """The words that say what differs from the defaults of a command."""
    parser = Parser("truebleu")
    add(parser, ["-m", *(options.metrics or ())])
    said: set[str] = set()
    for action in parser.every_action():
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


COMMAND = Command("truebleu report REF... -i HYP... [options]", EXAMPLES, add_options, run)
