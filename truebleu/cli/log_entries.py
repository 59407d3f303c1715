"""`truebleu score --log`: what was scored, hashed while it is read, and an entry for each score."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from truebleu.cli.input_files import Inputs
from truebleu.cli.output import UsageError
from truebleu.cli.score_writers import Scored
from truebleu.comparison import score_log
from truebleu.text.segments import BufferedLines, File, HashingFile, hash_texts


class Logging:
    """Hashes the text that is read for scores, and adds the scores to a log."""

    def __init__(self, options: argparse.Namespace, inputs: Inputs) -> None:
        systems = len(inputs.systems)
        names: list[str | None] = options.log_name or [None] * systems
        if len(names) != systems:
            raise UsageError(f"--log-name: {len(names)} for {systems} systems; give each one")
        if options.output is not None and _is_same_file(options.log, options.output):
            raise UsageError(f"--log: {options.log} is what -o/--output writes as well")
        score_log.check_log_is_appendable(options.log)
        self._options = options
        self._names = dict(zip(inputs.systems, names, strict=True))
        # Files that are hashed as they are read, and inputs that are hashed already.
        self._read: dict[str, tuple[list[Any], list[score_log.Input]]] = {}

    def reading(
        self, system: str, hypotheses: File, columns: Sequence[File], references: Any, *, once: bool
    ) -> tuple[Any, Any]:
        """Return hypotheses and references whose text is hashed: as it is read, if that is `once`.

        columns: the files of references; where these are rows of several, they were columns.
        """
        kind = HashingFile if once else BufferedLines
        read = [kind(hypotheses)]
        rest = []
        if isinstance(references[0], File):
            read += [kind(file) for file in columns]
            references = read[1:]
        else:
            texts = zip_longest(*references)
            rest = [
                _input(file, hash_texts([None if t is None else t.encode() for t in column]))
                for file, column in zip(columns, texts, strict=False)
            ]
        self._read[system] = read, rest
        return read[0], references

    def add(self, results: Sequence[Scored], seen: Mapping[str, Mapping[str, Any]]) -> None:
        """Add all scores of systems, or none."""
        time = score_log.get_log_time()
        inputs = {
            system: [
                _input(
                    file, file.sha256 if isinstance(file, HashingFile) else hash_texts(file.texts)
                )
                for file in read
            ]
            + rest
            for system, (read, rest) in self._read.items()
        }
        entries = (
            score_log.Entry(
                time=time,
                system=one.system,
                metric=one.score.name,
                score=one.score.value,
                signature=str(one.signature),
                segments=seen[one.system]["segments"],
                hypothesis=inputs[one.system][0],
                references=tuple(inputs[one.system][1:]),
                name=self._names[one.system],
                note=self._options.log_note,
                report=self._options.log_report,
                low=one.ends.get("low"),
                high=one.ends.get("high"),
            )
            for one in results
            if one.is_whole
        )
        score_log.append_log_entries(self._options.log, entries)


def _is_same_file(one: str, other: str) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def _input(file: File, digest: str) -> score_log.Input:
    return score_log.Input("standard input" if file.path == "-" else file.path, digest)
