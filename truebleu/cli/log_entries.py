"""Entries of `truebleu score --log`, with hashes of the scored texts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from truebleu.cli.input_files import Inputs
from truebleu.cli.output import UsageError
from truebleu.cli.score_writers import ScoreResult
from truebleu.comparison import score_log
from truebleu.text.segments import BufferedLines, File, HashingFile, hash_texts


class ScoreLogger:
    """Logger that appends scores to a log, with hashes of the input texts."""

    def __init__(self, options: argparse.Namespace, inputs: Inputs) -> None:
        systems = len(inputs.systems)
        names: list[str | None] = options.log_name or [None] * systems
        if len(names) != systems:
            raise UsageError(
                f"--log-name: {len(names)} names for {systems} systems (expected one per system)"
            )
        if options.output is not None and _is_same_file(options.log, options.output):
            raise UsageError(f"--log: {options.log} is also the output file (-o). Use two files")
        score_log.check_log_is_appendable(options.log)
        self._options = options
        self._names = dict(zip(inputs.systems, names, strict=True))
        # For each system: files that are hashed while reading, and inputs that are already hashed.
        self._inputs_by_system: dict[str, tuple[list[Any], list[score_log.Input]]] = {}

    def hash_inputs(
        self,
        system: str,
        hypotheses: File,
        columns: Sequence[File],
        references: Any,
        *,
        while_reading: bool,
    ) -> tuple[Any, Any]:
        """Return hypotheses and references that hash their text for the log.

        columns: the reference files or columns. With --num-refs, `references` contains a row
            per segment.
        while_reading: whether to hash text while it is read; it must then be read only once.
        """
        file_class = HashingFile if while_reading else BufferedLines
        hashed_files = [file_class(hypotheses)]
        hashed_columns = []
        if isinstance(references[0], File):
            hashed_files += [file_class(file) for file in columns]
            references = hashed_files[1:]
        else:
            texts = zip_longest(*references)
            hashed_columns = [
                _make_log_input(
                    file, hash_texts([None if text is None else text.encode() for text in column])
                )
                for file, column in zip(columns, texts, strict=False)
            ]
        self._inputs_by_system[system] = hashed_files, hashed_columns
        return hashed_files[0], references

    def append_scores(
        self, results: Sequence[ScoreResult], summaries: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Append the corpus scores of all systems to the log, or leave it unchanged on failure."""
        time = score_log.get_log_time()
        inputs = {
            system: [
                _make_log_input(
                    file, file.sha256 if isinstance(file, HashingFile) else hash_texts(file.texts)
                )
                for file in hashed_files
            ]
            + hashed_columns
            for system, (hashed_files, hashed_columns) in self._inputs_by_system.items()
        }
        entries = (
            score_log.Entry(
                time=time,
                system=result.system,
                metric=result.score.name,
                score=result.score.value,
                signature=str(result.signature),
                segments=summaries[result.system]["segments"],
                hypothesis=inputs[result.system][0],
                references=tuple(inputs[result.system][1:]),
                name=self._names[result.system],
                note=self._options.log_note,
                report=self._options.log_report,
                low=result.interval_ends.get("low"),
                high=result.interval_ends.get("high"),
            )
            for result in results
            if result.is_corpus_score
        )
        score_log.append_log_entries(self._options.log, entries)


def _is_same_file(first: str, second: str) -> bool:
    if os.path.exists(first) and os.path.exists(second):
        return os.path.samefile(first, second)
    return os.path.realpath(first) == os.path.realpath(second)


def _make_log_input(file: File, digest: str) -> score_log.Input:
    return score_log.Input("standard input" if file.path == "-" else file.path, digest)
