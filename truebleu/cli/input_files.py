"""The files of a command line: systems by name, references, and what stands beside them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truebleu.cli.common_options import Group, options, whole_number
from truebleu.cli.output import UsageError, complain
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.segments import BufferedLines, File, LineSubset, get_table_format, is_rereadable
from truebleu.text.terminal_layout import format_count, shorten_names

if TYPE_CHECKING:
    from truebleu.comparison.comparison_request import Request
    from truebleu.testsets.published_set import TestSet

    # Files of references, or for each segment its references.
    References = list[File] | list[tuple[str, ...]]


FILES = (
    "One segment per line, in files that may end in .gz .bz2 .xz .zst. FILE#3 is the third\n"
    "tab-separated column of FILE; - is standard input."
)
(ENCODING,) = options(
    "-e --encoding NAME  the encoding of all files (utf-8); utf-8-sig drops byte-order marks",
    encoding={"default": "utf-8"},
)
INPUT = Group(
    "input",
    """
    references REF     references, one per file
    -i --input HYP...  outputs of systems, one per file; without it, of one, on standard input;
                       for truebleu compare NAME=HYP,HYP... has several runs of a system
    --names A,B,...    names of the systems (those of their files, without what all have in common)
    -nr --num-refs N   the only REF has up to N references per segment, in tab-separated columns;
                       it is kept in memory
    """,
    ENCODING,
    about=FILES,
    references={"nargs": "*", "default": ()},
    num_refs={"type": whole_number(1, 10_000), "default": 1},
)


SOURCE = "-src --source FILE  the source of each segment"
DOCUMENTS = "--docs FILE  the name of each segment's document: adds their scores"


# The options that choose a part of a test set, as the parser calls them.
FILTERS = ("origlang", "subset", "domain", "documents")
DOWNLOADS = """
    --mirror URL           download from this address first, by the rest of the original one
    --offline              download nothing
    --registry FILE        further test sets, described in JSON
    """
PARTS = """
    --origlang CODE        only documents that were first written in this language; non-CODE: in any
                           other
    --subset REGEX         only documents whose domain, or country:XX, matches
    --domain NAME          only documents of this domain
    --documents ID...      only these documents
    """
_TEST_SET = f"""
    -t --test-set NAME     a published test set in the place of REF, such as wmt22 (truebleu
                           testset list); several with commas, one after the other
    --ref NAME...          its references to use, such as A (those that the test set prefers)
    {PARTS.strip()}
    {DOWNLOADS.strip()}
    """


TEST_SET = Group(
    "test set",
    _TEST_SET,
    about="-l names the pair of languages. An output that comes with it is -i @NAME.",
)


def groups(words: Sequence[str]) -> list[Group]:
    """Return the options for files, and those for test sets where the words ask for them."""
    beginnings = ("-t", "--test", "-h", "--help")
    asked = not words or any(word.startswith(beginnings) for word in words)
    return [INPUT, TEST_SET] if asked else [INPUT]


class Inputs:
    """The files of a command line: systems by name, and their references."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.test_set: Chosen | None = None
        if getattr(options, "test_set", None) is not None:
            self.test_set = Chosen(options)
        if not options.references and self.test_set is None:
            raise UsageError(
                "no REF: name at least one file of references, or a test set with -t and -l"
            )
        hypotheses = options.input or ["-"]
        self._columns: int = options.num_refs
        if self._columns > 1 and len(options.references) > 1:
            raise UsageError(
                "-nr/--num-refs: the references are side by side in one file; name only that"
            )
        references = drop_repeated(options, "REF", options.references)
        if getattr(options, "names", None) is None:
            hypotheses = drop_repeated(options, "-i/--input", hypotheses)
        named = [_runs(options, word) for word in hypotheses]
        for name in (*references, *(path for _, paths in named for path in paths)):
            if os.path.isdir(name):
                raise UsageError(f"{name} is a directory; name a file")
            if get_table_format(name) not in (None, "tsv"):
                raise UsageError(
                    f"{name} is a table, which truebleu score, segments, compare and report read; "
                    f"truebleu {options.command} reads lines of text"
                )
        self._references = [file_of(name, options.encoding) for name in references]
        # The files of each system: one, or one for each of its runs.
        files = [
            (name, [self._system(path, options.encoding) for path in paths])
            for name, paths in named
        ]
        self.runs = dict(zip(_called(options, files), (made for _, made in files), strict=True))
        # Each file by the name of its output.
        self.systems = _outputs(self.runs)
        self.source, self.documents = beside(options, "source"), beside(options, "docs")
        if self.test_set is not None:
            self._references = self.test_set.references
            select = self.test_set.select
            self.source = select(self.source) if self.source else self.test_set.source
            self.documents = select(self.documents) if self.documents else None
        check(options, self.every_file())
        if len(self.systems) > 1 and self._columns == 1:
            for file in self._references:
                if not is_rereadable(file.path):
                    raise UsageError(
                        f"references of several systems are read several times, and {file.path} "
                        "can be read once; save it as a file"
                    )
        if options.input is None:
            _check_piped(options.references)

    def _system(self, name: str, encoding: str) -> File:
        """The output that a word of the command line means."""
        if self.test_set is not None and name.startswith("@"):
            return self.test_set.system(name[1:])
        file = file_of(name, encoding)
        return file if self.test_set is None else self.test_set.select(file)

    @property
    def signature(self) -> Mapping[str, str]:
        """What signatures say of the test set; nothing without one."""
        return {} if self.test_set is None else self.test_set.part.signature

    def every_file(self) -> list[File]:
        """All files that are read."""
        more = [file for file in (self.source, self.documents) if file is not None]
        return [*self._references, *self.systems.values(), *more]

    def references(self) -> References:
        """The references."""
        if self._columns == 1:
            return list(self._references)
        # White space at the end of a line is no reference; further tabs are the last reference's.
        lines = self._references[0].read_lines()
        return [tuple(line.rstrip().split("\t", self._columns - 1)) for line in lines]

    @property
    def reference_columns(self) -> list[File]:
        """The files of the references, or the columns of the only one."""
        if self._columns == 1:
            return list(self._references)
        path = self._references[0].path
        return [File(path, column) for column in range(1, self._columns + 1)]


def expected(file: File) -> int | None:
    """The number of lines of a file, estimated from its size; None if that is unknown."""
    if not file.is_plain or file.path == "-" or not os.path.isfile(file.path):
        return None
    with open(file.path, "rb") as opened:
        some = opened.read(1 << 16)
    lines = some.count(b"\n")
    return os.path.getsize(file.path) * lines // len(some) if lines else None


def beside(options: argparse.Namespace, name: str) -> File | None:
    """A file beside systems and references, if the command line names one."""
    path = getattr(options, name, None)
    return None if path is None else file_of(path, options.encoding)


def documents_of(options: argparse.Namespace, inputs: Inputs | None) -> Any:
    """The documents of --docs; where they are to be drawn, those of the test set are, too."""
    if inputs is None:
        return beside(options, "docs")
    if inputs.documents is None and inputs.test_set is not None and options.resample == "documents":
        return inputs.test_set.part.documents
    return inputs.documents


def check(options: argparse.Namespace, files: Iterable[File | None]) -> None:
    """Refuses standard input that is named twice, and an output that is an input as well."""
    given = [file for file in files if file is not None]
    if sum(file.path == "-" for file in given) > 1:
        raise UsageError("standard input is named twice, and can be read once")
    check_output(options, [file.path for file in given])


def check_output(
    options: argparse.Namespace, paths: Iterable[str], what: str = "an input as well"
) -> None:
    """Refuses an output that is one of these files."""
    output = options.output
    for path in paths if output is not None and os.path.isfile(output) else ():
        if os.path.exists(path) and os.path.samefile(output, path):
            raise UsageError(f"-o/--output: {output} is {what}")


def _check_piped(references: Sequence[str]) -> None:
    """Refuses to wait for a system on standard input where none comes."""
    advice = "no HYP: name the outputs of systems with -i"
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(f"{advice}, or pipe one in")
    if not sys.stdin.buffer.peek(1):  # type: ignore[union-attr]
        taken = f"{' '.join(references)} {'was' if len(references) == 1 else 'were'} taken"
        raise UsageError(f"{advice} ({taken} for references, and nothing came on standard input)")


def file_of(name: str, encoding: str) -> File:
    """The file that a word of the command line means."""
    if name.startswith(" -#"):
        name = name[1:]
    path, mark, column = name.rpartition("#")
    try:
        if mark and path and is_whole_number(column) and not os.path.exists(name):
            return File(path, int(column), encoding)
        return File(name, None, encoding)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def drop_repeated(options: argparse.Namespace, place: str, words: Sequence[str]) -> list[str]:
    """Return the words without those of a file that an earlier word names, with one note of all.

    Words that name a system stay: the user asked for that system.
    """
    kept: dict[object, str] = {}
    repeated = []
    for position, word in enumerate(words):
        named = word == "-" or _runs(options, word)[0] is not None
        key: object = position
        if not named:
            # Two names of the same file, and column, have the same key.
            key = file = file_of(word, options.encoding)
            if os.path.isfile(file.path):
                stat = os.stat(file.path)
                key = stat.st_dev, stat.st_ino, file.column
        if key not in kept:
            kept[key] = word
        else:
            repeated.append(f"{word} is the same file as {kept[key]}, and counts once")
    if repeated and not options.quiet:
        first, *others = repeated
        more = f"; {format_count(len(others), 'other file')} likewise" if others else ""
        complain("note", f"{place}: {first}{more}")
    return list(kept.values())


# ---- runs ----


def _runs(options: argparse.Namespace, word: str) -> tuple[str | None, list[str]]:
    """The name of a system, if a word says it, and its files."""
    name, mark, rest = word.partition("=")
    has_runs = options.command in ("compare", "report")
    if not (has_runs and name and mark) or word.startswith("@") or _is_there(word):
        return None, [word]
    paths = [rest] if _is_there(rest) else rest.split(",")
    if not all(paths):
        raise UsageError(f"-i/--input: '{word}': the name of a file is empty")
    return name, paths


def _is_there(word: str) -> bool:
    path, mark, column = word.rpartition("#")
    return os.path.exists(word) or bool(mark and is_whole_number(column) and os.path.exists(path))


def _outputs(by_system: Mapping[str, Sequence[File]]) -> dict[str, File]:
    """The file of each output by its name: of a system, or of one of its runs."""
    if all(len(files) == 1 for files in by_system.values()):
        return {name: file for name, (file,) in by_system.items()}
    from truebleu.comparison import system_runs

    return {
        name: file
        for system, files in by_system.items()
        for name, file in zip(system_runs.name_outputs(system, len(files)), files, strict=True)
    }


# ---- names ----


def path_of(file: File) -> str:
    """The name of a file in messages: its path, and its column."""
    path = "standard input" if file.path == "-" else file.path
    return path if file.column is None else f"{path}#{file.column}"


def _called(
    options: argparse.Namespace, files: Sequence[tuple[str | None, Sequence[File]]]
) -> list[str]:
    """Return the names of systems: from the command line, or from their files, shortened."""
    names = names_of(options)
    named = [name for name, _ in files if name is not None]
    if names is None:
        short = iter(shorten_names([path_of(own[0]) for name, own in files if name is None]))
        names = [next(short) if name is None else name for name, _ in files]
        for name in named:
            if names.count(name) > 1:
                raise UsageError(f"-i/--input: the name '{name}' is there twice")
    elif named:
        raise UsageError(f"--names: -i names {named[0]} already")
    elif len(names) != len(files):
        counts = f"{format_count(len(names), 'name')} for {format_count(len(files), 'system')}"
        raise UsageError(f"--names: {counts}; give one for each")
    return names


def names_of(options: argparse.Namespace) -> list[str] | None:
    """The names of systems that the command line gives."""
    given = getattr(options, "names", None)
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if not name:
            raise UsageError("--names: a name is empty")
        if names.count(name) > 1:
            raise UsageError(f"--names: '{name}' is there twice")
    return names


def system_of(name: str | None, inputs: Inputs | None) -> str | None:
    """Return the system that a name, or that of its file, stands for; any other name as it is."""
    if inputs is not None and name not in inputs.runs:
        for system, files in inputs.runs.items():
            for file in files:
                if name in (file.path, os.path.basename(file.path), path_of(file)):
                    return system
    return name


# ---- published test sets ----


class Chosen:
    """The part of a test set that a command line chooses, as files of lines."""

    def __init__(self, options: argparse.Namespace) -> None:
        from truebleu.testsets.published_set import testset

        if options.references:
            raise UsageError("-t/--test-set has its own references; leave out REF")
        if options.num_refs != 1:
            raise UsageError("-nr/--num-refs is for a file of references, and -t has its own")
        if options.language is None:
            raise UsageError("-t/--test-set needs the pair of languages: -l en-de")
        set_up_downloads(options)
        self.whole: TestSet = testset(
            options.test_set, options.language, references=options.ref, registry=options.registry
        )
        given = {name: getattr(options, name) for name in FILTERS}
        self.part = self.whole.where(**given) if any(given.values()) else self.whole
        self.references: list[File] = [
            BufferedLines.from_strings(f"{self.name} {name}", self.part.references[name])
            for name in self.part.preferred
        ]

    def to_dict(self) -> dict[str, Any]:
        """What was scored, for JSON: names, filters, and the sums of the references."""
        part = self.part
        return {**part.signature, "segments": len(part), "sha256": part.sha256}

    @property
    def source(self) -> File | None:
        """The source; None if the test set has none."""
        lines = self.part.source
        return None if lines is None else BufferedLines.from_strings(f"{self.name} source", lines)

    def labels(self) -> dict[str, list[str]]:
        """What is known of each segment: its document, its first language, its domain."""
        part = self.part
        known = {"document": part.documents, "origlang": part.origlangs, "domain": part.domains}
        return {name: values for name, values in known.items() if values is not None}

    def label(self, request: Request) -> None:
        """Add the documents, and their domains and languages, to what is to be shown."""
        labels = self.labels()
        documents = labels.pop("document", None)
        request.documents = request.documents or documents
        request.labels = request.labels or labels or None

    def groups(self, by: Sequence[str] | None) -> list[dict[str, str]]:
        """For each segment what --by asks of it; nothing if it asks for nothing."""
        labels = self.labels()
        for name in by or ():
            if name not in labels:
                raise UsageError(f"--by {name}: of {self.name} are known {', '.join(labels)}")
        names = list(dict.fromkeys(by or ()))
        together = zip(*(labels[name] for name in names), strict=True)
        return [dict(zip(names, values, strict=True)) for values in together]

    def system(self, name: str) -> File:
        """An output that comes with the test set."""
        if name not in self.whole.systems:
            from truebleu.text.argument_checks import suggest_names

            there = suggest_names(name, list(self.whole.systems))
            raise UsageError(f"@{name}: {self.name} has no such output{there}")
        return BufferedLines.from_strings(name, self.part.systems[name])

    def select(self, file: File) -> File:
        """Return the chosen lines of a file that has a line per segment of the whole test set."""
        if file.path != "-":
            self._check(file)
        if self.part.segment_mask is None:
            return file
        return LineSubset(file, self.part.segment_mask, self.name)

    @property
    def name(self) -> str:
        """The test set and its pair, for messages."""
        return f"{self.whole.name} {self.whole.langpair}"

    def _check(self, file: File) -> None:
        """Refuses an output with another number of lines, and says which test set has so many."""
        from truebleu._kernel import InputError
        from truebleu.testsets.testset_operations import find_fitting_set

        count, last = 0, ""
        for count, last in enumerate(file.read_lines(), 1):  # noqa: B007 (what is left of the loop)
            pass
        if count != len(self.whole):
            alike = find_fitting_set(count, self.part)
            hint = f"; so many has {alike}" if alike else ""
            raise InputError(
                f"{file.path} has {count:,} lines, and {self.name} {len(self.whole):,}{hint}; its "
                f"last line is {last[:60]!r}"
            )


def set_up_downloads(options: argparse.Namespace) -> None:
    """Heeds --offline, --mirror and --quiet."""
    from truebleu.text import download

    download.settings = download.Settings(options.offline or None, options.mirror, options.quiet)
