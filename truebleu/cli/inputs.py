"""The files of a command line: systems by name, references, and what stands beside them."""

from __future__ import annotations

import os
import sys

from truebleu.cli.parser import Parser, UsageError, whole_number
from truebleu.text.files import File, table_format
from truebleu.text.segments import is_lasting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    # Files of references, or for each segment its references.
    References = list[File] | list[tuple[str, ...]]


def add_options(parser: Parser, *, several: bool = True) -> None:
    """Adds references, hypotheses and how they are read; `several` systems, or one."""
    group = parser.add_argument_group(
        "input",
        "One segment per line, in files that may end in .gz .bz2 .xz .zst. FILE#3 is the third\n"
        "tab-separated column of FILE; - is standard input.",
    )
    group.add_argument("references", metavar="REF", nargs="*", help="references, one per file")
    group.add_argument(
        *("-i", "--input"),
        metavar="HYP",
        nargs="+",
        action="extend",
        help="outputs of systems, one per file; without it, of one system, on standard input",
    )
    if several:
        group.add_argument(
            "--names",
            metavar="A,B,...",
            help="what to call the systems (as their files are called, without what all have)",
        )
    group.add_argument(
        *("-nr", "--num-refs"),
        metavar="N",
        type=whole_number(1, 10_000),
        default=1,
        help="the only REF has up to N references per segment, in tab-separated columns; it is "
        "kept in memory",
    )
    group.add_argument(
        *("-e", "--encoding"),
        metavar="NAME",
        default="utf-8",
        help="the encoding of all files (utf-8); utf-8-sig drops byte-order marks",
    )


def add_source(group: argparse._ArgumentGroup, what: str) -> None:
    """Adds the sources of segments."""
    group.add_argument(*("-src", "--source"), metavar="FILE", help=what)


def add_documents(group: argparse._ArgumentGroup, what: str) -> None:
    """Adds the documents of segments."""
    group.add_argument("--docs", metavar="FILE", help=what)


class Inputs:
    """The files of a command line: systems by name, and the references they are scored against."""

    __slots__ = ("_columns", "_options", "_references", "documents", "source", "systems")

    systems: dict[str, File]
    source: File | None
    documents: File | None

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        if not options.references:
            raise UsageError("no REF: name at least one file of references")
        if options.input is None and sys.stdin is not None and sys.stdin.isatty():
            raise UsageError("no HYP: name the outputs of systems with -i, or pipe one in")
        hypotheses = options.input or ["-"]
        self._columns: int = options.num_refs
        if self._columns > 1 and len(options.references) > 1:
            raise UsageError(
                "-nr/--num-refs: the references are side by side in one file; name only that"
            )
        for name in (*options.references, *hypotheses):
            if os.path.isdir(name):
                raise UsageError(f"{name} is a folder; name a file")
            if table_format(name) not in (None, "tsv"):
                raise UsageError(
                    f"{name} is a table, which truebleu score and truebleu segments read; "
                    f"truebleu {options.command} reads lines of text"
                )
        self._references = [file_of(name, options.encoding) for name in options.references]
        files = [file_of(name, options.encoding) for name in hypotheses]
        self.systems = dict(zip(_called(options, files), files, strict=True))
        self.source = beside(options, "source")
        self.documents = beside(options, "docs")
        self._check_standard_input()
        if options.output is not None:
            check_output(options.output, self.every_file())

    def every_file(self) -> list[File]:
        """All files that are read."""
        more = [file for file in (self.source, self.documents) if file is not None]
        return [*self._references, *self.systems.values(), *more]

    def references(self) -> References:
        """The references."""
        if self._columns == 1:
            return list(self._references)
        return list(_side_by_side(self._references[0], self._columns))

    @property
    def reference_names(self) -> list[str]:
        """What messages call each of the references."""
        return list(map(path_of, self.reference_columns))

    @property
    def reference_columns(self) -> list[File]:
        """The files of the references, or the columns of the only one."""
        if self._columns == 1:
            return list(self._references)
        path = self._references[0].path
        return [File(path, column) for column in range(1, self._columns + 1)]

    def expected(self) -> int | None:
        """About how many segments each system has, as the sizes of files tell; None if unknown."""
        file = next(iter(self.systems.values()))
        if not file.is_plain or file.path == "-" or not os.path.isfile(file.path):
            return None
        with open(file.path, "rb") as opened:
            some = opened.read(1 << 16)
        lines = some.count(b"\n")
        return os.path.getsize(file.path) * lines // len(some) if lines else None

    def nothing_came(self, error: Exception) -> Exception:
        """What to say of standard input that was empty because nobody meant it."""
        if self._options.input is None and "no segments at all" in str(error):
            references = " ".join(self._options.references)
            return UsageError(
                f"no HYP: name the outputs of systems with -i ({references} was taken for "
                "references, and nothing came on standard input)"
            )
        return error

    def _check_standard_input(self) -> None:
        if sum(file.path == "-" for file in self.every_file()) > 1:
            raise UsageError("standard input is named twice, and can be read once")
        if len(self.systems) > 1 and self._columns == 1:
            for file in self._references:
                if not is_lasting(file.path):
                    raise UsageError(
                        f"references of several systems are read several times, and {file.path} "
                        "can be read once; save it as a file"
                    )


def _side_by_side(file: File, columns: int) -> Iterator[tuple[str, ...]]:
    """The references of each segment, from tab-separated columns; a line may have fewer.

    White space at the end of a line is no reference, and further tabs are the last reference's.
    """
    for line in file.lines():
        yield tuple(line.rstrip().split("\t", columns - 1))


def beside(options: argparse.Namespace, name: str) -> File | None:
    """A file beside systems and references, if the command line names one."""
    path = getattr(options, name, None)
    return None if path is None else file_of(path, options.encoding)


def check_output(output: str, files: Iterable[File | None]) -> None:
    """Refuses an output that is an input as well."""
    if not os.path.isfile(output):
        return
    for file in files:
        if file is not None and os.path.exists(file.path) and os.path.samefile(output, file.path):
            raise UsageError(f"-o/--output: {output} is an input as well")


def file_of(name: str, encoding: str) -> File:
    """The file that a word of the command line means."""
    if name.startswith(" -#"):
        name = name[1:]
    path, mark, column = name.rpartition("#")
    try:
        if mark and path and column.isdecimal() and not os.path.exists(name):
            return File(path, int(column), encoding)
        return File(name, None, encoding)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


# ---- names ----


def path_of(file: File) -> str:
    """What messages call a file: its path, and the column of it."""
    path = "standard input" if file.path == "-" else file.path
    return path if file.column is None else f"{path}#{file.column}"


def _called(options: argparse.Namespace, files: Sequence[File]) -> list[str]:
    """What to call the systems: as the command line says, or as their files are called."""
    names = names_of(options)
    if names is None:
        return short_names([path_of(file) for file in files])
    if len(names) != len(files):
        raise UsageError(f"--names: {len(names)} names for {len(files)} systems; give one for each")
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


def short_names(paths: Sequence[str]) -> list[str]:
    """What to call systems by their files: what differs, in whole words between dots and folders.

    >>> short_names(["runs/newstest.en-de.Online-A.de", "runs/newstest.en-de.Online-B.de"])
    ['Online-A', 'Online-B']
    >>> short_names(["a/out.txt", "b/out.txt"]), short_names(["x.txt", "x.txt"])
    (['a', 'b'], ['x.txt', 'x.txt (2)'])
    """
    names = [os.path.basename(path) for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) == len(names) > 1 and not any("#" in name for name in names):
        names = _without_common(names)
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names


def _without_common(names: Sequence[str]) -> list[str]:
    """Different names without the parts that all begin with, and all end with."""
    import re

    # Parts and what is between them, in turn.
    split = [re.split(r"([./\\])", name) for name in names]
    shortest = min(map(len, split))
    start = 0
    while start + 2 < shortest and len({tuple(parts[: start + 2]) for parts in split}) == 1:
        start += 2
    if len({parts[start] for parts in split}) == 1:  # one is the beginning of another
        return list(names)
    end = 0
    while start + end + 2 < shortest and len({tuple(p[len(p) - end - 2 :]) for p in split}) == 1:
        end += 2
    made = ["".join(parts[start : len(parts) - end]) for parts in split]
    return made if all(made) and len(set(made)) == len(made) else list(names)


def baseline_of(name: str | None, systems: dict[str, Any], inputs: Inputs | None) -> str | None:
    """The baseline by its name, or by that of its file."""
    if name is None or name in systems:
        return name
    for system, file in inputs.systems.items() if inputs is not None else ():
        if name in (file.path, os.path.basename(file.path), path_of(file)):
            return system
    from truebleu.text.checks import nearest

    raise UsageError(f"--baseline: no system '{name}'{nearest(name, systems)}")
