"""Published test sets in the place of REF: -t, its filters, and @SYSTEM for -i."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from truebleu.cli.options import Group
from truebleu.cli.output import UsageError
from truebleu.text.segments import File, Lines, Part

if TYPE_CHECKING:
    from truebleu.comparison.request import Request
    from truebleu.testsets.sets import TestSet

# The options that choose a part of a test set, as the parser calls them.
FILTERS = ("origlang", "subset", "domain", "documents")
GETTING = """
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
OPTIONS = f"""
    -t --test-set NAME     a published test set in the place of REF, such as wmt22 (truebleu
                           testset list); several with commas, one after the other
    --ref NAME...          its references to use, such as A (those that the test set prefers)
    {PARTS.strip()}
    {GETTING.strip()}
    """


GROUP = Group(
    "test set",
    OPTIONS,
    about="-l names the pair of languages. An output that comes with it is -i @NAME.",
)


class Chosen:
    """The part of a test set that a command line chooses, as files of lines."""

    def __init__(self, options: argparse.Namespace) -> None:
        from truebleu.testsets.sets import testset

        if options.references:
            raise UsageError("-t/--test-set has its own references; leave out REF")
        if options.num_refs != 1:
            raise UsageError("-nr/--num-refs is for a file of references, and -t has its own")
        if options.language is None:
            raise UsageError("-t/--test-set needs the pair of languages: -l en-de")
        set_up(options)
        self.whole: TestSet = testset(
            options.test_set, options.language, references=options.ref, registry=options.registry
        )
        given = {name: getattr(options, name) for name in FILTERS}
        self.part = self.whole.where(**given) if any(given.values()) else self.whole
        self.references: list[File] = [
            Lines.given(f"{self.name} {name}", self.part.references[name])
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
        return None if lines is None else Lines.given(f"{self.name} source", lines)

    def labels(self) -> dict[str, list[str]]:
        """What is known of each segment: its document, its first language, its domain."""
        part = self.part
        known = {"document": part.documents, "origlang": part.origlangs, "domain": part.domains}
        return {name: values for name, values in known.items() if values is not None}

    def label(self, request: Request) -> None:
        """Adds the documents, and their domains and languages, to what is to be shown."""
        labels = self.labels()
        documents = labels.pop("document", None)
        if request.documents is None:
            request.documents = documents
        if request.labels is None and labels:
            request.labels = labels

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
            from truebleu.text.checks import nearest

            there = nearest(name, list(self.whole.systems))
            raise UsageError(f"@{name}: {self.name} has no such output{there}")
        return Lines.given(name, self.part.systems[name])

    @overload
    def of(self, file: File) -> File: ...
    @overload
    def of(self, file: None) -> None: ...
    def of(self, file: File | None) -> File | None:
        """A file of the user's, with a line per segment of the whole test set: the chosen lines."""
        if file is None:
            return None
        if file.path != "-":
            self._check(file)
        if self.part.kept is None:
            return file
        return Part(file, self.part.kept, self.name)

    @property
    def name(self) -> str:
        """The test set and its pair, for messages."""
        return f"{self.whole.name} {self.whole.langpair}"

    def _check(self, file: File) -> None:
        """Refuses an output with another number of lines, and says which test set has so many."""
        from truebleu._kernel import InputError
        from truebleu.testsets.manage import fits

        count, last = 0, ""
        for count, last in enumerate(file.lines(), 1):  # noqa: B007 (what is left of the loop)
            pass
        if count != len(self.whole):
            alike = fits(count, self.part)
            hint = f"; so many has {alike}" if alike else ""
            raise InputError(
                f"{file.path} has {count:,} lines, and {self.name} {len(self.whole):,}{hint}; its "
                f"last line is {last[:60]!r}"
            )


def set_up(options: argparse.Namespace) -> None:
    """Heeds --offline, --mirror and --quiet."""
    from truebleu.text import download

    download.settings = download.Settings(options.offline or None, options.mirror, options.quiet)
