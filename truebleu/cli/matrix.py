"""`truebleu matrix`: every pair of lines, the nearest ones, or the best of candidates."""

from __future__ import annotations

from array import array
from itertools import islice, repeat
from sys import maxsize

from truebleu._kernel import InputError
from truebleu.cli import inputs as files
from truebleu.cli import metric_options
from truebleu.cli import options as shared
from truebleu.cli.numpy_file import Numpy
from truebleu.cli.output import Output
from truebleu.cli.parser import Command, Group, UsageError, whole_number
from truebleu.cli.progress import Progress
from truebleu.cli.row_formats import FORMATS as ROWS
from truebleu.cli.rows import Rows, Table
from truebleu.cli.style import Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from typing import Any

    from truebleu.metrics.matrix import Matrix
    from truebleu.metrics.table_metric import TableMetric
    from truebleu.text.files import File

EXAMPLES = """\
examples:
  truebleu matrix reference.en -i system.en -o scores.npy
      a row per line of system.en, a column per line of reference.en

  truebleu matrix lines.en --top-k 3 --text -f tsv
      the three other lines that are nearest to each line, as near-duplicates are found

  truebleu matrix candidates.en --mbr --nbest-size 24 -o best.en
      each 24 lines are candidates of one source: the line that agrees most with all 24

  truebleu matrix nbest.txt --mbr --moses -m chrf -f tsv
      the same for n-best lists as Moses writes them: 0 ||| text ||| ...
"""

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
    """,
    about="Which candidate has the highest expected score (minimum Bayes risk).",
    nbest_size={"type": whole_number(1, maxsize)},
)


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The options of `truebleu matrix`."""
    yield from (INPUT, PAIRS, CANDIDATES)
    yield from metric_options.groups(words)
    digits = "1 for a person; all of them for a program"
    yield shared.output(list(FORMATS), "json", shared.SCORE_ONLY, digits=digits)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Scores the pairs and writes them."""
    metric = metric_options.one(options)
    style = Style(options)
    _check_options(options, style.form)
    hypotheses, references = _files(options)
    work = Work(options, metric, style)
    with Output(options.output) as output, Progress(quiet=options.quiet) as work.progress:
        if style.form == "npy" and output.is_terminal:
            raise UsageError("-f/--format: a terminal cannot show npy; name a file with -o")
        if options.mbr:
            work.mbr(output, references)
        elif options.top_k is not None:
            work.nearest(output, hypotheses, references)
        elif options.triangle:
            work.triangle(output, references)
        else:
            work.matrix(output, hypotheses, references)


def _check_options(options: argparse.Namespace, form: str) -> None:
    """Refuses options that do not go together."""
    wrong = {
        "--text is for --top-k": options.text and (options.top_k is None or options.mbr),
        "--nbest-size and --moses are for --mbr": not options.mbr
        and (options.nbest_size is not None or options.moses),
        "give either --nbest-size or --moses; both say where sources end": options.moses
        and options.nbest_size is not None,
        "--triangle is of one file; leave out -i": options.triangle and options.input is not None,
        "--mbr scores candidates against each other; leave out -i": options.mbr
        and options.input is not None,
        "give one of --triangle, --top-k and --mbr": options.triangle
        and (options.top_k is not None or options.mbr),
        "--float32 is for npy and parquet": options.float32
        and (form not in ("npy", "parquet") or options.mbr or options.top_k is not None),
        "-f/--format: npy holds numbers alone, and cannot hold --top-k or --mbr": form == "npy"
        and (options.mbr or options.top_k is not None),
        "-b/--score-only: parquet and npy have columns": options.score_only
        and form in ("parquet", "npy"),
        "-w/--width: parquet and npy have all digits": options.width is not None
        and form in ("parquet", "npy"),
    }
    for message, is_wrong in wrong.items():
        if is_wrong:
            raise UsageError(message)


def _files(options: argparse.Namespace) -> tuple[File | None, File]:
    """The hypotheses, if they are others, and the references."""
    if len(options.references) != 1:
        count = len(options.references)
        raise UsageError(f"{count or 'no'} REF: expected one file of references")
    references = files.file_of(options.references[0], options.encoding)
    hypotheses = None
    if options.input is not None:
        if len(options.input) != 1:
            raise UsageError(f"-i/--input: expected one file, not {len(options.input)}")
        hypotheses = files.file_of(options.input[0], options.encoding)
    files.check(options, [references, hypotheses])
    return hypotheses, references


def _lines(file: File, role: str) -> list[str]:
    lines = list(file.lines())
    if not lines:
        raise InputError(f"{file.label(role)}: no lines at all; there is nothing to score")
    return lines


class Work:
    """The work on the lines, block by block."""

    def __init__(self, options: argparse.Namespace, metric: TableMetric[Any], style: Style) -> None:
        self.options = options
        self.metric = metric
        self.style = style
        self.threads = shared.threads(options)
        self.progress = Progress(quiet=True)

        self.code = "f" if options.float32 else "d"
        """The type of numbers, as a type code of `array`."""

    def height(self, references: list[str]) -> int:
        """The number of hypotheses that are scored at a time."""
        return min(SCORES, SLOW.get(self.metric.NAME, SCORES)) // len(references)

    def scores(self, hypotheses: list[str], references: list[str]) -> Matrix:
        """Every score of some lines."""
        kind = "float32" if self.options.float32 else "float64"
        return self.metric.matrix(hypotheses, references, workers=self.threads, dtype=kind)

    def rows(
        self,
        output: Output,
        names: Sequence[str],
        *,
        texts: Sequence[str] = (),
        flat: Sequence[str] = (),
        shape: tuple[int, ...] = (),
        **about: Any,
    ) -> Rows:
        """The writer of rows with such columns; `shape` is that of the scores alone."""
        if shape and output.is_terminal and self.style.form == "text":
            _check_size(shape[0], *shape[1:])
        signature = self.metric.signature(1, segment=True)
        table = Table(
            "matrix",
            names,
            scores=["scores" if flat else self.metric.name],
            texts=texts,
            flat=flat,
            about={"signatures": {self.metric.name: self.style.signature(signature)}, **about},
            shape=shape,
            code=self.code,
        )
        return FORMATS[self.style.form](output, self.style, table)

    def matrix(self, output: Output, hypotheses: File | None, references: File) -> None:
        """Every hypothesis against every reference."""
        others = _lines(references, "references")
        own = others if hypotheses is None else _lines(hypotheses, "hypotheses")
        rows = self.rows(
            output,
            ["hypothesis", "scores"],
            flat=list(map(str, range(1, len(others) + 1))),
            shape=(len(own), len(others)),
            hypotheses=len(own),
            references=len(others),
        )
        for first, some in blocks(own, self.height(others)):
            stop = first + len(some)
            rows.write([range(first + 1, stop + 1), self.scores(some, others)])
            self.progress("scoring hypotheses", stop, len(own))
        rows.finish()

    def triangle(self, output: Output, file: File) -> None:
        """Each pair of one file once."""
        lines = _lines(file, "references")
        last = len(lines)
        if last < 2:
            raise InputError(f"{file.label('references')}: one line; a pair needs two")
        names = ["hypothesis", "reference", self.metric.name]
        rows = self.rows(output, names, shape=(last * (last - 1) // 2,))
        for first, some in blocks(lines[:-1], self.height(lines)):
            scores = memoryview(self.scores(some, lines[first + 1 :])).cast("B")
            width = scores.nbytes // len(some)
            size = array(self.code).itemsize
            for i in range(len(some)):
                row = array(self.code, scores[i * (width + size) : (i + 1) * width].tobytes())
                number = first + i + 1
                rows.write([repeat(number, len(row)), range(number + 1, last + 1), row])
            self.progress("scoring hypotheses", first + len(some), last - 1)
        rows.finish()

    def nearest(self, output: Output, hypotheses: File | None, references: File) -> None:
        """The nearest references of each hypothesis."""
        others = _lines(references, "references")
        own = others if hypotheses is None else _lines(hypotheses, "hypotheses")
        wanted = self.options.top_k
        texts = ["hypothesis_text", "reference_text"] if self.options.text else []
        names = ["hypothesis", "rank", "reference", self.metric.name, *texts]
        writer = self.rows(output, names, texts=texts)
        # A line is no neighbour of itself.
        more = wanted + (hypotheses is None)
        for first, some in blocks(own, min(4096, NEAREST // more)):
            found = self.metric.top_k(some, others, more, workers=self.threads)
            rows: list[tuple[Any, ...]] = []
            for i, (text, nearest) in enumerate(zip(some, found, strict=True), first):
                if hypotheses is None:
                    nearest = [pair for pair in nearest if pair[0] != i]  # noqa: PLW2901
                for rank, (j, score) in enumerate(nearest[:wanted], 1):
                    shown = (text, others[j]) if self.options.text else ()
                    rows.append((i + 1, rank, j + 1, score, *shown))
            writer.write(self._columns(rows, len(names)))
            self.progress("scoring hypotheses", first + len(some), len(own))
        writer.finish()

    def mbr(self, output: Output, file: File) -> None:
        """The best candidates of each source."""
        from truebleu.pairs.mbr import mbr

        names = ["source", "rank", "candidate", self.metric.name, "text"]
        texts = ["source", "text"] if self.options.moses else ["text"]
        writer = None if self.style.form == "text" else self.rows(output, names, texts=texts)
        sources = self._sources(file)
        count, expected = 0, files.expected(file)
        while batch := list(islice(sources, SOURCES)):
            labels, candidates = zip(*batch, strict=True)
            found = mbr(candidates, metric=self.metric, workers=self.threads)
            rows = [
                (name, rank, index + 1, one.expected[index], one.candidates[index])
                for name, one in zip(labels, found, strict=True)
                for rank, index in enumerate(one.ranking[: self.options.top_k or 1], 1)
            ]
            if writer is not None:
                writer.write(self._columns(rows, len(names)))
            elif self.style.score_only:
                output.write("".join(f"{self.style.rounded(row[3])}\n" for row in rows))
            else:  # a file of hypotheses, as others read it
                output.write("".join(f"{row[4]}\n" for row in rows))
            count += sum(map(len, candidates))
            self.progress("scoring candidates", count, expected)
        if not count:
            raise InputError(f"{file.label('candidates')}: no lines at all")
        if writer is not None:
            writer.finish()

    def _columns(self, rows: Sequence[tuple[Any, ...]], count: int) -> list[Any]:
        """Rows as columns: numbers as numbers, so that an empty piece has their types, too."""
        columns = list(zip(*rows, strict=True)) or [()] * count
        return [
            list(column)
            if column and isinstance(column[0], str)
            else array("d" if i == 3 else "q", column)
            for i, column in enumerate(columns)
        ]

    def _sources(self, file: File) -> Iterator[tuple[str | int, list[str]]]:
        """The candidates of each source, with its number or name."""
        lines, size = file.lines(), self.options.nbest_size
        if self.options.moses:
            yield from _moses(lines, file.label("candidates"))
            return
        number = 0
        while group := list(islice(lines, size)):
            number += 1
            if size is not None and len(group) < size:
                raise InputError(
                    f"{file.label('candidates')}: source {number} has {len(group)} of {size} lines;"
                    f" {(number - 1) * size + len(group):,} lines are no multiple of {size}"
                )
            yield number, group


def _moses(lines: Iterator[str], name: str) -> Iterator[tuple[str, list[str]]]:
    """The candidates of each source of an n-best list, with the source's name."""
    current: str | None = None
    seen: set[str] = set()
    group: list[str] = []
    for number, line in enumerate(lines, 1):
        source, separator, rest = line.partition("|||")
        source = source.strip()
        if not separator or not source:
            raise InputError(
                f"{name}, line {number}: expected SOURCE ||| TEXT ||| ..., not '{line:.40}'"
            )
        if source != current:
            if source in seen:
                raise InputError(
                    f"{name}, line {number}: source {source} once more; all candidates of a source "
                    "must stand together"
                )
            if current is not None:
                yield current, group
            seen.add(source)
            current, group = source, []
        group.append(rest.partition("|||")[0].strip())
    if current is not None:
        yield current, group


def _check_size(rows: int, columns: int = 1) -> None:
    """Refuses what would flood a terminal."""
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        raise UsageError(
            f"{rows:,} × {columns:,} scores are too many for a terminal; write them to a file "
            "(-o scores.npy, .tsv, .csv, .jsonl, .parquet), or look at the nearest (--top-k 3)"
        )


def blocks(texts: list[str], height: int) -> Iterator[tuple[int, list[str]]]:
    """Some texts at a time, and the place of their first one."""
    height = max(LEAST, height)
    for first in range(0, len(texts), height):
        yield first, texts[first : first + height]


COMMAND = Command(
    "truebleu matrix REF [-i HYP] [options]\n"
    "       truebleu matrix CANDIDATES --mbr [--nbest-size N | --moses] [options]",
    EXAMPLES,
    groups,
    run,
    formats=list(FORMATS),
    piped="json",
)
