"""`truebleu score --log`: what was scored, hashed while it is read, and an entry for each score."""

from __future__ import annotations

import os

from truebleu import _kernel
from truebleu.cli import options as shared
from truebleu.files import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from truebleu.cli.tables import OfSystems
    from truebleu.history import Text
    from truebleu.metric import Summary


def add_options(parser: shared.Parser) -> None:
    """Adds the log of scores."""
    group = parser.add_argument_group("log", "truebleu history shows how scores changed.")
    group.add_argument(
        "--log",
        metavar="FILE",
        help="add a line of JSON for each score to FILE: when, what, how, hashes of the text",
    )
    group.add_argument(
        "--log-name",
        metavar="NAME",
        nargs="+",
        action="extend",
        help="what to follow a system as, where its file's name changes; a name for each system",
    )
    group.add_argument("--log-note", metavar="TEXT", help="what to remember of these scores")


def log_of(options: argparse.Namespace, inputs: shared.Inputs) -> Logging | None:
    """The log that was asked for. What is wrong with it is said before anything is scored."""
    if options.log is None:
        for name in ("log_name", "log_note"):
            if getattr(options, name) is not None:
                flag = name.replace("_", "-")
                raise shared.UsageError(f"--{flag}: there is no log; name one with --log FILE")
        return None
    if options.log_name is not None and len(options.log_name) != len(inputs.systems):
        raise shared.UsageError(
            f"--log-name: {len(options.log_name)} for {len(inputs.systems)} systems; give each one"
        )
    if options.output is not None and _same(options.log, options.output):
        raise shared.UsageError(f"--log: {options.log} is what -o/--output writes as well")
    names = options.log_name or [None] * len(inputs.systems)
    return Logging(
        options.log, dict(zip(inputs.systems, names, strict=True)), note=options.log_note
    )


def _same(one: str, other: str) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


class Logging:
    """Hashes what is read for scores, and adds the scores to a log."""

    __slots__ = ("_log", "_names", "_note", "_read")

    def __init__(self, path: str, names: Mapping[str, str | None], note: str | None) -> None:
        from truebleu.history import Log

        self._log = Log(path)
        self._log.check()
        self._names = names
        self._note = note
        self._read: dict[str, tuple[Hashed, list[Hashed]]] = {}

    def reading(
        self, system: str, hypotheses: File, references: Sequence[File]
    ) -> tuple[File, list[File]]:
        """The same files, whose text is hashed as it is read."""
        self._read[system] = Hashed(hypotheses), [Hashed(file) for file in references]
        return self._read[system][0], list(self._read[system][1])

    def add(self, results: OfSystems, seen: Mapping[str, Summary]) -> None:
        """Adds all scores, or none."""
        from truebleu.history import Entry
        from truebleu.history.log import now

        time = now()
        self._log.append(
            Entry.of_score(
                score,
                system,
                seen[system]["segments"],
                self._read[system][0].text(),
                [file.text() for file in self._read[system][1]],
                name=self._names[system],
                note=self._note,
                time=time,
            )
            for system, scores in results
            for score in scores
        )


class Hashed(File):
    """A file whose text is hashed while it is read: once, whatever it is."""

    __slots__ = ("_file", "_sum")

    def __init__(self, file: File) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._file = file
        self._sum: str | None = None

    def source(self, role: str) -> _kernel.Source:
        """The text, for the kernel."""
        from hashlib import sha256

        made = sha256()
        pieces = self._file.pieces()
        end = b"\n"

        def read(_: int) -> bytes:
            nonlocal end
            piece = next(pieces, b"")
            made.update(piece)
            if piece:
                end = piece[-1:]
            elif self._sum is None:
                # As if every line had an end.
                made.update(b"" if end == b"\n" else b"\n")
                self._sum = made.hexdigest()
            return piece

        return _kernel.stream(read, self._file.label(role))

    def text(self) -> Text:
        """What was read, when all of it was."""
        from truebleu.history import Text

        assert self._sum is not None
        return Text("standard input" if self.path == "-" else self.path, self._sum)
