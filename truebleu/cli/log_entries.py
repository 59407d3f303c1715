"""Log entries of `truebleu score --log`, with hashes of the scored texts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from truebleu.cli.input_files import Inputs
from truebleu.cli.output import UsageError
from truebleu.cli.score_writers import ScoreResult
from truebleu.comparison import score_log
from truebleu.text.segments import File, hash_file, hash_texts, read_reference_streams


class ScoreLogger:
    """Logger that appends scores to a log, with hashes of the input texts."""

    def __init__(self, options: argparse.Namespace, inputs: Inputs) -> None:
        systems = len(inputs.systems)
        names: list[str | None] = options.log_name or [None] * systems
        if len(names) != systems:
            raise UsageError(
                f"--log-name: {len(names)} names for {systems} systems (expected one per system)"
            )
        if options.output and os.path.realpath(options.log) == os.path.realpath(options.output):
            raise UsageError(f"--log: {options.log} is also the output file (-o). Use two files")
        score_log.check_log_is_appendable(options.log)
        self._options = options
        self._names = dict(zip(inputs.systems, names, strict=True))
        # The output of each system, followed by the references.
        self._inputs: dict[str, list[score_log.Input]] = {}

    def add_inputs(
        self, system: str, hypotheses: File, columns: Sequence[File], references: Any
    ) -> None:
        """Store the hashes of a system's inputs, which must be rereadable.

        columns: the reference files or columns. With --num-refs, `references` contains a row
            per segment.
        """
        if isinstance(references[0], File):
            hashes = list(map(hash_file, references))
        else:
            hashes = list(map(hash_texts, read_reference_streams(references)))
        self._inputs[system] = [
            score_log.Input("standard input" if file.path == "-" else file.path, digest)
            for file, digest in zip(
                [hypotheses, *columns], [hash_file(hypotheses), *hashes], strict=False
            )
        ]

    def append_scores(
        self, results: Sequence[ScoreResult], summaries: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Append the corpus scores of all systems to the log, or leave it unchanged on failure."""
        time = score_log.get_log_time()
        entries = (
            score_log.Entry(
                time=time,
                system=result.system,
                metric=result.score.name,
                score=result.score.value,
                signature=str(result.signature),
                segments=summaries[result.system]["segments"],
                hypothesis=self._inputs[result.system][0],
                references=tuple(self._inputs[result.system][1:]),
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
