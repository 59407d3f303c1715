"""`truebleu score --log`: what was scored, hashed while it is read, and an entry for each score."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from truebleu.cli.output import UsageError
from truebleu.text.segments import File, Hashed, Lines, hashed

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.cli.inputs import Inputs
    from truebleu.cli.scores import Scored
    from truebleu.comparison.history import Input


def _same(one: str, other: str) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


class Logging:
    """Hashes what is read for scores, and adds the scores to a log."""

    def __init__(self, options: argparse.Namespace, inputs: Inputs) -> None:
        from truebleu.comparison import score_log as log

        systems = len(inputs.systems)
        names: list[str | None] = options.log_name or [None] * systems
        if len(names) != systems:
            raise UsageError(f"--log-name: {len(names)} for {systems} systems; give each one")
        if options.output is not None and _same(options.log, options.output):
            raise UsageError(f"--log: {options.log} is what -o/--output writes as well")
        self._log: str = options.log
        log.check(self._log)
        self._names = dict(zip(inputs.systems, names, strict=True))
        self._note: str | None = options.log_note
        self._report: str | None = options.log_report
        # Files that are hashed as they are read, and what was hashed already.
        self._read: dict[str, tuple[list[Any], list[Input]]] = {}

    def reading(
        self, system: str, hypotheses: File, columns: Sequence[File], references: Any, *, once: bool
    ) -> tuple[Any, Any]:
        """The same to be scored, with all text hashed: as it is read, if that is `once`.

        columns: the files of references; where these are rows of several, they were columns.
        """
        kind = Hashed if once else Lines
        read = [kind(hypotheses)]
        if isinstance(references[0], File):
            read += [kind(file) for file in columns]
            references = read[1:]
            more = []
        else:
            texts = zip_longest(*references)
            more = [
                _input(file, hashed([None if t is None else t.encode() for t in column]))
                for file, column in zip(columns, texts, strict=False)
            ]
        self._read[system] = read, more
        return read[0], references

    def add(self, results: Sequence[Scored], seen: Mapping[str, Summary]) -> None:
        """Adds all scores of systems, or none."""
        from truebleu.comparison import score_log as log

        time = log.now()
        inputs = {
            system: [_input(file, _digest(file)) for file in read] + more
            for system, (read, more) in self._read.items()
        }
        entries = (
            log.Entry(
                time=time,
                system=one.system,
                metric=one.score.name,
                score=one.score.value,
                signature=str(one.signature),
                segments=seen[one.system]["segments"],
                hypothesis=inputs[one.system][0],
                references=tuple(inputs[one.system][1:]),
                name=self._names[one.system],
                note=self._note,
                report=self._report,
                low=one.ends.get("low"),
                high=one.ends.get("high"),
            )
            for one in results
            if one.is_whole
        )
        log.append(self._log, entries)


def _digest(file: Hashed | Lines) -> str:
    """The hash of what was read, when all of it was."""
    return file.sha256 if isinstance(file, Hashed) else hashed(file.texts)


def _input(file: File, digest: str) -> Input:
    from truebleu.comparison.history import Input

    return Input("standard input" if file.path == "-" else file.path, digest)
