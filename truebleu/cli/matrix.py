"""`truebleu matrix`: every pair of lines, the nearest ones, or the best of candidates.

examples:
  truebleu matrix reference.en -i system.en -o scores.npy
      a row per line of system.en, a column per line of reference.en

  truebleu matrix lines.en --top-k 3 --text -f tsv
      the three other lines that are nearest to each line, as near-duplicates are found

  truebleu matrix candidates.en --mbr --nbest-size 24 -o best.txt
      each 24 lines are candidates of one source: the line that agrees most with all 24

  truebleu matrix nbest.txt --mbr --moses -m chrf -f tsv
      the same for n-best lists as Moses writes them: 0 ||| text ||| ...

  truebleu matrix samples.en --mbr --nbest-size 1024 -m chrf --method aggregate
      of many samples in linear time: each against the sum of the n-grams of all
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
from truebleu.cli.binary_writers import Numpy
from truebleu.cli.common_options import Command, Group, whole_number
from truebleu.cli.output import Results, UsageError
from truebleu.cli.progress import Progress
from truebleu.cli.row_formats import FORMATS as ROWS
from truebleu.cli.row_writers import Rows, Table
from truebleu.metrics.base import Metric
from truebleu.metrics.pairwise_scores import Matrix
from truebleu.text.record import Record
from truebleu.text.segments import File

# How many scores are computed at a time, about, but those of some hypotheses at least. References
# are read anew each time, which takes BLEU and chrF as long as some hundred hypotheses; TER takes
# so long for a pair that progress is shown more often. How many of the nearest, and the candidates
# of how many sources.
SCORES, LEAST = 1 << 23, 16
SLOW = {"TER": 1 << 20}
NEAREST, SOURCES = 1 << 16, 64

# Scores alone are numpy's, too.
FORMATS = {**ROWS, "npy": Numpy}

# The most that a terminal shows.
MOST_COLUMNS, MOST_ROWS = 20, 100


INPUT = Group(
    "input",
    """
    references REF    references: one file
    -i --input HYP...  hypotheses: one file; without it, REF is paired with itself
    """,
    files.ENCODING,
    about=f"{files.FILES} Lines are kept in memory.",
    references={"nargs": "*", "default": ()},
)
PAIRS = Group(
    "pairs",
    """
    -k --top-k K  only the K nearest references of each hypothesis; of one file, other lines only;
                  with --mbr, the K best candidates (1)
    --text        with --top-k, the texts beside their numbers
    --triangle    of one file each pair once: the earlier line as the hypothesis
    --float32     numbers of 4 bytes instead of 8, in npy and parquet
    """,
    top_k={"type": whole_number(1, maxsize)},
)
CANDIDATES = Group(
    "candidates",
    """
    --mbr           REF holds candidates; print the best of each source, scored against all of them
    --nbest-size N  each N lines are of one source (all lines are of one)
    --moses         lines are SOURCE ||| TEXT ||| ..., as Moses has them
    --method METHOD  exact: score every candidate against every one; aggregate: against the sum of
                    all, in linear time, for BLEU and chrF; pruned: stop scoring a candidate once
                    some of the others show that it is worse, for slow metrics (exact)
    """,
    about="Which candidate has the highest expected score (minimum Bayes risk).",
    nbest_size={"type": whole_number(1, maxsize)},
    method={"choices": ("exact", "aggregate", "pruned"), "default": "exact"},
)


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The options of `truebleu matrix`."""
    yield from (INPUT, PAIRS, CANDIDATES)
    yield from metric_options.groups(words)
    yield shared.output(list(FORMATS), "json", shared.SCORE_ONLY, digits=shared.DIGITS)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Scores the pairs and writes them."""
    metric = metric_options.one(options)
    output = Results(options)
    _check_options(options, output.form)
    hypotheses, references = _files(options)
    with output, Progress(quiet=options.quiet) as progress:
        if output.form == "npy" and output.is_terminal:
            raise UsageError("-f/--format: a terminal cannot show npy; name a file with -o")
        work = Work(options, metric, output, progress, "f" if options.float32 else "d")
        if options.mbr:
            work.mbr(references)
            return
        others = _lines(references, "references")
        own = others if hypotheses is None else _lines(hypotheses, "hypotheses")
        if options.top_k is not None:
            work.nearest(own, others)
        elif not options.triangle:
            work.matrix(own, others)
        elif len(own) < 2:
            raise InputError(f"{references.format_label('references')}: one line; a pair needs two")
        else:
            work.triangle(own)


def _check_options(options: argparse.Namespace, form: str) -> None:
    """Refuses options that do not go together."""
    chosen = options.mbr or options.top_k is not None
    binary = form in ("npy", "parquet")
    sized = options.nbest_size is not None
    others = options.input is not None
    wrong = {
        "--text is for --top-k": options.text and (options.top_k is None or options.mbr),
        "--nbest-size and --moses are for --mbr": not options.mbr and (sized or options.moses),
        "--method is for --mbr": not options.mbr and options.method != "exact",
        "give either --nbest-size or --moses; both say where sources end": options.moses and sized,
        "--triangle is of one file; leave out -i": options.triangle and others,
        "--mbr scores candidates against each other; leave out -i": options.mbr and others,
        "give one of --triangle, --top-k and --mbr": options.triangle and chosen,
        "--float32 is for npy and parquet": options.float32 and (chosen or not binary),
        "-f/--format: npy holds numbers alone, and cannot hold --top-k or --mbr": chosen
        and form == "npy",
        "-b/--score-only: parquet and npy have columns": options.score_only and binary,
        "-w/--width: parquet and npy have all digits": options.width is not None and binary,
    }
    for message, is_wrong in wrong.items():
        if is_wrong:
            raise UsageError(message)


def _files(options: argparse.Namespace) -> tuple[File | None, File]:
    """The hypotheses, if they are others, and the references."""
    if len(options.references) != 1:
        count = len(options.references)
        raise UsageError(f"{count or 'no'} REF: expected one file of references")
    if options.input is not None and len(options.input) != 1:
        raise UsageError(f"-i/--input: expected one file, not {len(options.input)}")
    named = [*options.references, *(options.input or ())]
    references, *given = [files.file_of(name, options.encoding) for name in named]
    files.check(options, [references, *given])
    return given[0] if given else None, references


def _lines(file: File, role: str) -> list[str]:
    lines = list(file.read_lines())
    if not lines:
        raise InputError(f"{file.format_label(role)}: no lines at all; there is nothing to score")
    return lines


class Work(Record):
    """The work on the lines, block by block."""

    options: argparse.Namespace
    metric: Metric[Any]
    output: Results
    progress: Progress
    code: str
    """The type of numbers, as a type code of `array`."""

    def height(self, references: list[str]) -> int:
        """The number of hypotheses that are scored at a time."""
        return min(SCORES, SLOW.get(self.metric.NAME, SCORES)) // len(references)

    def blocks(self, texts: list[str], height: int) -> Iterator[tuple[int, list[str]]]:
        """Some texts at a time, and the place of their first one."""
        height = max(LEAST, height)
        for first in range(0, len(texts), height):
            some = texts[first : first + height]
            yield first, some
            self.progress("scoring hypotheses", first + len(some), len(texts))

    def scores(self, hypotheses: list[str], references: list[str]) -> Matrix:
        """Every score of some lines."""
        kind = "float32" if self.options.float32 else "float64"
        return self.metric.matrix(hypotheses, references, workers=self.options.threads, dtype=kind)

    def rows(
        self, *names: str, shape: tuple[int, ...] = (), flat: Sequence[str] = (), **more: Any
    ) -> Rows:
        """The writer of rows with such columns; `shape` is that of the scores alone."""
        if shape and self.output.is_terminal and self.output.form == "text":
            _check_size(*shape)
        signature = self.output.signature(self.metric.signature(1, segment=True))
        about = {"signatures": {self.metric.name: signature}, **more.pop("about", {})}
        scores = ["scores" if flat else self.metric.name]
        table = Table(
            "matrix", names, scores, flat=flat, about=about, shape=shape, code=self.code, **more
        )
        return FORMATS[self.output.form](self.output, table)

    def matrix(self, own: list[str], others: list[str]) -> None:
        """Every hypothesis against every reference."""
        rows = self.rows(
            "hypothesis",
            "scores",
            flat=list(map(str, range(1, len(others) + 1))),
            shape=(len(own), len(others)),
            about={"hypotheses": len(own), "references": len(others)},
        )
        for first, some in self.blocks(own, self.height(others)):
            numbers = range(first + 1, first + len(some) + 1)
            rows.write([numbers, self.scores(some, others)])
        rows.finish()

    def triangle(self, lines: list[str]) -> None:
        """Each pair of one file once."""
        last = len(lines)
        shape = (last * (last - 1) // 2,)
        rows = self.rows("hypothesis", "reference", self.metric.name, shape=shape)
        for first, some in self.blocks(lines[:-1], self.height(lines)):
            scores = memoryview(self.scores(some, lines[first + 1 :])).cast("B")
            width = scores.nbytes // len(some)
            size = array(self.code).itemsize
            for i in range(len(some)):
                row = array(self.code, scores[i * (width + size) : (i + 1) * width].tobytes())
                number = first + i + 1
                rows.write([repeat(number, len(row)), range(number + 1, last + 1), row])
        rows.finish()

    def nearest(self, own: list[str], others: list[str]) -> None:
        """The nearest references of each hypothesis."""
        wanted = self.options.top_k
        texts = ["hypothesis_text", "reference_text"] if self.options.text else []
        names = ["hypothesis", "rank", "reference", self.metric.name, *texts]
        writer = self.rows(*names, texts=texts)
        # A line is no neighbour of itself.
        more = wanted + (own is others)
        for first, some in self.blocks(own, min(4096, NEAREST // more)):
            found = self.metric.top_k(some, others, more, workers=self.options.threads)
            rows: list[tuple[Any, ...]] = []
            for i, (text, nearest) in enumerate(zip(some, found, strict=True), first):
                pairs = [pair for pair in nearest if own is not others or pair[0] != i]
                for rank, (j, score) in enumerate(pairs[:wanted], 1):
                    shown = (text, others[j]) if texts else ()
                    rows.append((i + 1, rank, j + 1, score, *shown))
            writer.write(_columns(rows, len(names)))
        writer.finish()

    def mbr(self, file: File) -> None:
        """The best candidates of each source."""
        from truebleu.pairwise.mbr import mbr

        output = self.output
        names = ["source", "rank", "candidate", self.metric.name, "text"]
        texts = ["source", "text"] if self.options.moses else ["text"]
        writer = None if output.form == "text" else self.rows(*names, texts=texts)
        sources = self._sources(file)
        count, expected = 0, files.expected(file)
        while batch := list(islice(sources, SOURCES)):
            labels, candidates = zip(*batch, strict=True)
            named = {"method": self.options.method, "workers": self.options.threads}
            try:
                found = mbr(candidates, utility=self.metric, **named)
            except InputError:
                raise
            except ValueError as error:  # the metric has no such method
                raise UsageError(str(error)) from None
            rows = [
                (name, rank, index + 1, one.expected[index], one.candidates[index])
                for name, one in zip(labels, found, strict=True)
                for rank, index in enumerate(one.ranking[: self.options.top_k or 1], 1)
            ]
            if writer is not None:
                writer.write(_columns(rows, len(names)))
            elif output.score_only:
                output.write("".join(f"{output.rounded(row[3])}\n" for row in rows))
            else:  # a file of hypotheses, as others read it
                output.write("".join(f"{row[4]}\n" for row in rows))
            count += sum(map(len, candidates))
            self.progress("scoring candidates", count, expected)
        if not count:
            raise InputError(f"{file.format_label('candidates')}: no lines at all")
        if writer is not None:
            writer.finish()

    def _sources(self, file: File) -> Iterator[tuple[str | int, list[str]]]:
        """The candidates of each source, with its number or name."""
        lines, size = file.read_lines(), self.options.nbest_size
        name = file.format_label("candidates")
        if self.options.moses:
            yield from _moses(lines, name)
            return
        number = 0
        while group := list(islice(lines, size)):
            number += 1
            if size is not None and len(group) < size:
                raise InputError(
                    f"{name}: source {number} has {len(group)} of {size} lines;"
                    f" {(number - 1) * size + len(group):,} lines are no multiple of {size}"
                )
            yield number, group


def _columns(rows: Sequence[tuple[Any, ...]], count: int) -> list[Any]:
    """Rows as columns: numbers as numbers, so that an empty piece has their types, too."""
    return [
        list(column)
        if column and isinstance(column[0], str)
        else array("d" if i == 3 else "q", column)
        for i, column in enumerate(list(zip(*rows, strict=True)) or [()] * count)
    ]


def _moses(lines: Iterator[str], name: str) -> Iterator[tuple[str, list[str]]]:
    """The candidates of each source of an n-best list, with the source's name."""

    def candidates() -> Iterator[tuple[str, int, str]]:
        for number, line in enumerate(lines, 1):
            source, separator, rest = line.partition("|||")
            if not separator or not source.strip():
                raise InputError(
                    f"{name}, line {number}: expected SOURCE ||| TEXT ||| ..., not '{line:.40}'"
                )
            yield source.strip(), number, rest.partition("|||")[0].strip()

    seen: set[str] = set()
    for source, group in groupby(candidates(), key=itemgetter(0)):
        places, texts = zip(*(rest for _, *rest in group), strict=True)
        if source in seen:
            raise InputError(
                f"{name}, line {places[0]}: source {source} once more; all candidates of a source "
                "must stand together"
            )
        seen.add(source)
        yield source, list(texts)


def _check_size(rows: int, columns: int = 1) -> None:
    """Refuses what would flood a terminal."""
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        raise UsageError(
            f"{rows:,} × {columns:,} scores are too many for a terminal; write them to a file "
            "(-o scores.npy, .tsv, .csv, .jsonl, .parquet), or look at the nearest (--top-k 3)"
        )


COMMAND = Command(
    "truebleu matrix REF [-i HYP] [options]\n"
    "       truebleu matrix CANDIDATES --mbr [--nbest-size N | --moses] [options]",
    __doc__,
    groups,
    run,
)
