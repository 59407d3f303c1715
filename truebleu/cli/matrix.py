"""`truebleu matrix`: scores of all pairs of lines, nearest lines, or best candidates (MBR).

examples:
  truebleu matrix reference.en -i system.en -o scores.npy
      write a matrix with a row per line of system.en and a column per line of reference.en

  truebleu matrix lines.en --top-k 3 --text -f tsv
      find the three lines nearest to each line, for example to detect near-duplicates

  truebleu matrix candidates.en --mbr --nbest-size 24 -f lines -o best.en
      read 24 candidates per source, and write the best one (minimum Bayes risk); -f text shows
      the expected score of each selection

  truebleu matrix nbest.txt --mbr --moses -m chrf -f tsv
      select from n-best lists in Moses format: 0 ||| text ||| ...

  truebleu matrix samples.en --mbr --nbest-size 1024 -m chrf --method aggregate
      select from many samples in linear time, using the summed n-gram counts of all samples
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, repeat
from operator import itemgetter
from sys import maxsize
from typing import Any

from truebleu._kernel import InputError
from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup, make_integer_type
from truebleu.cli.output import Progress, Results, UsageError
from truebleu.metrics.base import Metric
from truebleu.metrics.pairwise_scores import Matrix
from truebleu.rendering.table_writers import ROW_FORMATS, RowWriter, TableSpec
from truebleu.text.argument_checks import Record
from truebleu.text.segments import File

# Approximate number of scores and minimum number of hypotheses per batch. Each batch processes the
# references again, which takes BLEU and chrF as long as scoring several hundred hypotheses.
# TER is slow, so it uses smaller batches to update the progress line more often.
BATCH_SCORES, MIN_BATCH_HYPOTHESES = 1 << 23, 16
SLOW_BATCH_SCORES = {"TER": 1 << 20}  # by metric
BATCH_NEIGHBOURS, BATCH_SOURCES = 1 << 16, 64

# The format that contains only the texts selected with --mbr.
LINES = "lines"

# Matrices larger than this would flood a terminal.
MAX_TERMINAL_COLUMNS, MAX_TERMINAL_ROWS = 20, 100


INPUT = OptionGroup(
    "input",
    """
    references REF    read references from this file
    -i --input HYP...  read hypotheses from this file; NAME=FILE names the system (default: the
                       lines of REF)
    """,
    files.ENCODING,
    description=f"{files.FILE_SYNTAX} All lines are kept in memory.",
    references={"nargs": "*", "default": ()},
)
PAIRS = OptionGroup(
    "pairs",
    """
    -k --top-k K  list only the K nearest references of each hypothesis, excluding the same line of
                  REF; with --mbr, list the K best candidates (default: 1 with --mbr)
    --text        with --top-k, also print the texts
    --triangle    score each pair of lines of REF once, with the earlier line as hypothesis
    --float32     write 4-byte numbers instead of 8-byte numbers to npy and parquet
    """,
    top_k={"type": make_integer_type(1, maxsize)},
)
CANDIDATES = OptionGroup(
    "candidates",
    """
    --mbr           read candidates from REF, and print the candidate of each source with the
                    highest expected utility; -f lines prints only its text
    --nbest-size N  read N consecutive lines per source (default: all lines belong to one source)
    --moses         read lines in Moses format, SOURCE ||| TEXT ||| ...
    --method METHOD  use the method exact (score all pairs of candidates), aggregate (score against
                    the summed statistics of all candidates, in linear time, for BLEU and chrF), or
                    pruned (skip candidates that cannot win, for slow metrics) (default: exact)
    """,
    description="Select the candidates with the highest expected utility (minimum Bayes risk).",
    nbest_size={"type": make_integer_type(1, maxsize)},
    method={"choices": ("exact", "aggregate", "pruned"), "default": "exact"},
)


def list_matrix_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu matrix`."""
    yield from (INPUT, PAIRS, CANDIDATES)
    yield from metric_options.list_metric_groups(words)
    yield shared.make_output_group([*ROW_FORMATS, LINES], "json", shared.SCORE_ONLY, digits=1)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Score pairs of lines and write the scores."""
    metric = metric_options.select_single_metric(options)
    output = Results(options)
    _check_options(options, output.form)
    output.check_scale()
    output.check_short(("tsv", "csv", "jsonl", "npy", LINES))
    system, hypotheses, references = _parse_files(options)
    with output, Progress(quiet=options.quiet) as progress:
        type_code = "f" if options.float32 else "d"
        writer = MatrixWriter(options, metric, output, progress, type_code, system)
        if options.mbr:
            writer.write_best_candidates(references)
            return
        reference_lines = _read_matrix_texts(references, "references")
        hypothesis_lines = (
            reference_lines if hypotheses is None else _read_matrix_texts(hypotheses, "hypotheses")
        )
        if options.top_k is not None:
            writer.write_nearest_references(hypothesis_lines, reference_lines)
        elif not options.triangle:
            writer.write_matrix(hypothesis_lines, reference_lines)
        elif len(hypothesis_lines) < 2:
            raise InputError(
                f"{references.format_label('references')}: expected at least 2 lines, found 1"
            )
        else:
            writer.write_triangle(hypothesis_lines)


def _check_options(options: argparse.Namespace, output_format: str) -> None:
    selects_pairs = options.mbr or options.top_k is not None
    is_binary = output_format in ("npy", "parquet")
    has_no_digits = is_binary or output_format == LINES
    has_nbest_size = options.nbest_size is not None
    has_hypotheses = options.input is not None
    problems = {
        "--text needs --top-k": options.text and (options.top_k is None or options.mbr),
        "--nbest-size and --moses have no effect without --mbr": not options.mbr
        and (has_nbest_size or options.moses),
        "--method has no effect without --mbr": not options.mbr and options.method != "exact",
        "--nbest-size and --moses are mutually exclusive": options.moses and has_nbest_size,
        "--triangle and -i/--input are mutually exclusive": options.triangle and has_hypotheses,
        "--mbr and -i/--input are mutually exclusive": options.mbr and has_hypotheses,
        "--triangle cannot be combined with --top-k or --mbr": options.triangle and selects_pairs,
        "--float32 needs -f npy or -f parquet, without --top-k or --mbr": options.float32
        and (selects_pairs or not is_binary),
        "-f npy cannot be combined with --top-k or --mbr": selects_pairs and output_format == "npy",
        f"-f/--format: {LINES} needs --mbr": output_format == LINES and not options.mbr,
        f"-b/--score-only cannot be combined with -f {output_format}": options.score_only
        and has_no_digits,
        f"-w/--width cannot be combined with -f {output_format}": options.width is not None
        and has_no_digits,
    }
    for message, has_problem in problems.items():
        if has_problem:
            raise UsageError(message)


def _parse_files(options: argparse.Namespace) -> tuple[str | None, File | None, File]:
    """Return the system and its file (both None without -i), and the reference file."""
    if len(options.references) != 1:
        count = len(options.references)
        raise UsageError(f"REF: expected one file, found {count}")
    if options.input is not None and len(options.input) != 1:
        raise UsageError(f"-i/--input: expected one file, found {len(options.input)}")
    references = _parse_text_file(options, options.references[0])
    if options.input is None:
        return None, None, references
    name, path = files.split_system_name(options.input[0])
    hypotheses = _parse_text_file(options, path)
    (system,) = files.choose_system_names([(name, hypotheses)])
    return system, hypotheses, references


def _parse_text_file(options: argparse.Namespace, name: str) -> File:
    files.refuse_folders_and_tables(options, name)
    return files.parse_text_file(name, options.encoding)


def _read_matrix_texts(file: File, role: str) -> list[str]:
    lines = list(file.read_lines())
    if not lines:
        raise InputError(f"{file.format_label(role)}: the file is empty")
    return lines


class MatrixWriter(Record):
    """Writer that computes score matrices in batches."""

    options: argparse.Namespace
    metric: Metric[Any]
    output: Results
    progress: Progress
    type_code: str
    """The number type of the scores, as a type code of the `array` module."""
    system: str | None
    """The name of the system that wrote the hypotheses, or None without -i."""

    def iterate_batches(self, texts: list[str], size: int) -> Iterator[tuple[int, list[str]]]:
        """Yield batches of texts, each with the index of its first text."""
        size = max(MIN_BATCH_HYPOTHESES, size)
        for first in range(0, len(texts), size):
            batch = texts[first : first + size]
            yield first, batch
            self.progress("scoring hypotheses", first + len(batch), len(texts))

    def compute_scores(self, hypotheses: list[str], references: list[str]) -> Matrix:
        """Return the scores of all pairs of hypotheses and references."""
        kind = "float32" if self.options.float32 else "float64"
        return self.metric.matrix(hypotheses, references, workers=self.options.threads, dtype=kind)

    def make_writer(
        self,
        *names: str,
        shape: tuple[int, ...] = (),
        flat_names: Sequence[str] = (),
        **table_fields: Any,
    ) -> RowWriter:
        """Return a writer for columns with these names and scores of this shape."""
        if shape and self.output.is_terminal and self.output.form == "text":
            row_count, column_count = (*shape, 1)[:2]
            if row_count > MAX_TERMINAL_ROWS or column_count > MAX_TERMINAL_COLUMNS:
                raise UsageError(
                    f"{row_count:,} × {column_count:,} scores are too many for a terminal. Write "
                    "them to a file (-o scores.npy, .tsv, .csv, .jsonl, .parquet), or list the "
                    "nearest lines (--top-k 3)"
                )
        signature = self.output.format_signature(self.metric.signature(1, segment=True))
        score_name = next((name for name in names if name.endswith(self.metric.name)), "scores")
        metadata = {"signatures": {self.metric.name: signature}, **table_fields.pop("metadata", {})}
        if self.system is not None:
            metadata["system"] = self.system
        table = TableSpec(
            "matrix",
            names,
            [score_name],
            flat_names=flat_names,
            percentage_names=[score_name] if self.metric.is_percentage else (),
            metadata=metadata,
            shape=shape,
            type_code=self.type_code,
            **table_fields,
        )
        return self.output.make_row_writer(table)

    def write_matrix(self, hypotheses: list[str], references: list[str]) -> None:
        """Write the scores of all hypotheses against all references."""
        writer = self.make_writer(
            "hypothesis",
            "scores",
            flat_names=list(map(str, range(1, len(references) + 1))),
            shape=(len(hypotheses), len(references)),
            metadata={"hypotheses": len(hypotheses), "references": len(references)},
        )
        batch_size = SLOW_BATCH_SCORES.get(self.metric.NAME, BATCH_SCORES) // len(references)
        for first, batch in self.iterate_batches(hypotheses, batch_size):
            numbers = range(first + 1, first + len(batch) + 1)
            writer.write([numbers, self.compute_scores(batch, references)])
        writer.finish()

    def write_triangle(self, lines: list[str]) -> None:
        """Write the score of each pair of lines once."""
        last = len(lines)
        shape = (last * (last - 1) // 2,)
        writer = self.make_writer("hypothesis", "reference", self.metric.name, shape=shape)
        batch_size = SLOW_BATCH_SCORES.get(self.metric.NAME, BATCH_SCORES) // len(lines)
        for first, batch in self.iterate_batches(lines[:-1], batch_size):
            score_bytes = memoryview(self.compute_scores(batch, lines[first + 1 :])).cast("B")
            width = score_bytes.nbytes // len(batch)
            size = array(self.type_code).itemsize
            for i in range(len(batch)):
                row = array(
                    self.type_code, score_bytes[i * (width + size) : (i + 1) * width].tobytes()
                )
                number = first + i + 1
                writer.write([repeat(number, len(row)), range(number + 1, last + 1), row])
        writer.finish()

    def write_nearest_references(self, hypotheses: list[str], references: list[str]) -> None:
        """Write the nearest references of each hypothesis."""
        neighbour_count = self.options.top_k
        texts = ["hypothesis_text", "reference_text"] if self.options.text else []
        names = ["hypothesis", "rank", "reference", self.metric.name, *texts]
        writer = self.make_writer(*names, text_names=texts, shortened_names=texts)
        # A line is not a neighbour of itself.
        search_count = neighbour_count + (hypotheses is references)
        for first, batch in self.iterate_batches(
            hypotheses, min(4096, BATCH_NEIGHBOURS // search_count)
        ):
            all_neighbours = self.metric.top_k(
                batch, references, search_count, workers=self.options.threads
            )
            rows: list[tuple[Any, ...]] = []
            for i, (text, neighbours) in enumerate(zip(batch, all_neighbours, strict=True), first):
                pairs = [
                    pair for pair in neighbours if hypotheses is not references or pair[0] != i
                ]
                for rank, (j, score) in enumerate(pairs[:neighbour_count], 1):
                    pair_texts = (text, references[j]) if texts else ()
                    rows.append((i + 1, rank, j + 1, score, *pair_texts))
            writer.write(_transpose_rows(rows, len(names)))
        writer.finish()

    def write_best_candidates(self, file: File) -> None:
        """Write the best candidates of each source."""
        from truebleu.pairwise.mbr import mbr

        output = self.output
        score = f"expected {self.metric.name}" if output.form == "text" else self.metric.name
        names = ["source", "rank", "candidate", score, "text"]
        texts = ["source", "text"] if self.options.moses else ["text"]
        fields: dict[str, Any] = {"text_names": texts, "shortened_names": ["text"]}
        writer = None if output.form == LINES else self.make_writer(*names, **fields)
        sources = self._read_sources(file)
        count, expected = 0, files.estimate_line_count(file)
        while batch := list(islice(sources, BATCH_SOURCES)):
            labels, candidates = zip(*batch, strict=True)
            paths = {"method": self.options.method, "workers": self.options.threads}
            try:
                results = mbr(candidates, utility=self.metric, **paths)
            except InputError:
                raise
            except ValueError as error:  # raised if the metric does not support the method
                message = str(error).replace("method=", "--method ").replace("'", "")
                raise UsageError(message) from None
            rows = [
                (name, rank, index + 1, result.expected[index], result.candidates[index])
                for name, result in zip(labels, results, strict=True)
                for rank, index in enumerate(result.ranking[: self.options.top_k or 1], 1)
            ]
            if writer is None:
                output.write("".join(f"{row[4]}\n" for row in rows))
            else:
                writer.write(_transpose_rows(rows, len(names)))
            count += sum(map(len, candidates))
            self.progress("scoring candidates", count, expected)
        if not count:
            raise InputError(f"{file.format_label('candidates')}: the file is empty")
        if writer is not None:
            writer.finish()

    def _read_sources(self, file: File) -> Iterator[tuple[str | int, list[str]]]:
        """Yield the number or name of each source with its candidates."""
        lines, size = file.read_lines(), self.options.nbest_size
        name = file.format_label("candidates")
        if self.options.moses:
            yield from _read_moses_list(lines, name)
            return
        number = 0
        while group := list(islice(lines, size)):
            number += 1
            if size is not None and len(group) < size:
                raise InputError(
                    f"{name}: expected {size} lines for source {number}, found {len(group)}; the "
                    f"number of lines, {(number - 1) * size + len(group):,}, is not a multiple of "
                    f"{size}"
                )
            yield number, group


def _transpose_rows(rows: Sequence[tuple[Any, ...]], column_count: int) -> list[Any]:
    """Transpose rows to columns. Numbers become arrays, so that empty columns have a type."""
    return [
        list(column)
        if column and isinstance(column[0], str)
        else array("d" if i == 3 else "q", column)
        for i, column in enumerate(list(zip(*rows, strict=True)) or [()] * column_count)
    ]


def _read_moses_list(lines: Iterator[str], name: str) -> Iterator[tuple[str, list[str]]]:
    def parse_lines() -> Iterator[tuple[str, int, str]]:
        for number, line in enumerate(lines, 1):
            source, separator, rest = line.partition("|||")
            if not separator or not source.strip():
                raise InputError(
                    f"{name}, line {number}: expected SOURCE ||| TEXT ||| ..., found '{line:.40}'"
                )
            yield source.strip(), number, rest.partition("|||")[0].strip()

    seen: set[str] = set()
    for source, group in groupby(parse_lines(), key=itemgetter(0)):
        line_numbers, texts = zip(*(rest for _, *rest in group), strict=True)
        if source in seen:
            raise InputError(
                f"{name}, line {line_numbers[0]}: source {source} appears again; the "
                "candidates of a source must be consecutive"
            )
        seen.add(source)
        yield source, list(texts)


COMMAND = Command(
    "truebleu matrix REF [-i HYP] [options]\n"
    "       truebleu matrix CANDIDATES --mbr [--nbest-size N | --moses] [options]",
    __doc__,
    list_matrix_groups,
    run,
)
