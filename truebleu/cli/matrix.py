"""`truebleu matrix`: every pair of lines, the nearest ones, or the best of candidates."""

from __future__ import annotations

from itertools import islice
from sys import maxsize

from truebleu._kernel import InputError
from truebleu.cli import matrix_formats as formats
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.cli.progress import Progress
from truebleu.cli.tables import Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from truebleu.counted import Counted
    from truebleu.files import File
    from truebleu.matrix import Matrix

EXAMPLES = """\
examples:
  truebleu matrix reference.en -i system.en -o scores.npy
      a row for each line of system.en, a column for each line of reference.en

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

# What a terminal shows.
MOST_COLUMNS, MOST_ROWS = 20, 100


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu matrix` knows."""
    group = parser.add_argument_group(
        "input",
        "One text a line, in files that may end in .gz .bz2 .xz .zst. FILE#3 is the third\n"
        "tab-separated column of FILE; - is standard input. Lines are kept in memory.",
    )
    group.add_argument("references", metavar="REF", nargs="*", help="references: one file")
    group.add_argument(
        *("-i", "--input"),
        metavar="HYP",
        nargs="+",
        action="extend",
        help="hypotheses: one file; without it, REF is paired with itself",
    )
    group.add_argument(
        *("-e", "--encoding"),
        metavar="NAME",
        default="utf-8",
        help="the encoding of both files (utf-8); utf-8-sig drops byte-order marks",
    )
    group = parser.add_argument_group("pairs")
    group.add_argument(
        *("-k", "--top-k"),
        metavar="K",
        type=shared.whole_number(1, maxsize),
        help="only the K nearest references of each hypothesis; of one file, other lines only; "
        "with --mbr, the K best candidates (1)",
    )
    group.add_argument(
        "--text", action="store_true", help="with --top-k, the texts beside their numbers"
    )
    group.add_argument(
        "--triangle",
        action="store_true",
        help="of one file each pair once: the earlier line as the hypothesis",
    )
    group.add_argument(
        "--float32", action="store_true", help="numbers of 4 bytes instead of 8, in npy and parquet"
    )
    group = parser.add_argument_group(
        "candidates", "Which candidate has the highest expected score (minimum Bayes risk)."
    )
    group.add_argument(
        "--mbr",
        action="store_true",
        help="REF holds candidates; print the best of each source, scored against all of them",
    )
    group.add_argument(
        "--nbest-size",
        metavar="N",
        type=shared.whole_number(1, maxsize),
        help="each N lines are of one source (all lines are of one)",
    )
    group.add_argument(
        "--moses", action="store_true", help="lines are SOURCE ||| TEXT ||| ..., as Moses has them"
    )
    shared.add_metric(parser)
    shared.add_output(parser, formats.NAMES)


def run(options: argparse.Namespace) -> None:
    """Scores the pairs and writes them."""
    metric, *more = shared.metrics(options)
    if more:
        raise shared.UsageError("-m/--metrics: one metric at a time")
    form = shared.form(options, formats.NAMES)
    _check_options(options, form)
    hypotheses, references = _files(options)
    work = Work(options, metric, form)
    with Output(options.output) as output, Progress(quiet=options.quiet) as work.progress:
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
            raise shared.UsageError(message)


def _files(options: argparse.Namespace) -> tuple[File | None, File]:
    """The hypotheses, if they are others, and the references."""
    if len(options.references) != 1:
        count = len(options.references)
        raise shared.UsageError(f"{count or 'no'} REF: one file of references is meant")
    references = shared.file_of(options.references[0], options.encoding)
    hypotheses = None
    if options.input is not None:
        if len(options.input) != 1:
            raise shared.UsageError(f"-i/--input: {len(options.input)} files; one is meant")
        hypotheses = shared.file_of(options.input[0], options.encoding)
        if hypotheses.path == references.path == "-":
            raise shared.UsageError("standard input is named twice, and can be read once")
    files = [references] if hypotheses is None else [references, hypotheses]
    if options.output is not None:
        shared.check_output(options.output, files)
    return hypotheses, references


def _lines(file: File, role: str) -> list[str]:
    lines = list(file.lines())
    if not lines:
        raise InputError(f"{file.label(role)}: no lines at all; there is nothing to score")
    return lines


class Work:
    """What is done with the lines, block by block."""

    __slots__ = ("form", "metric", "options", "progress", "style", "threads")

    def __init__(self, options: argparse.Namespace, metric: Counted[Any], form: str) -> None:
        self.options = options
        self.metric = metric
        self.form = form
        self.style = Style(options.width, score_only=options.score_only, short=options.short)
        self.threads = shared.threads(options)
        self.progress = Progress(quiet=True)

    @property
    def signature(self) -> str:
        """The signature of a pair's score, with the metric's name."""
        signature = self.metric.signature(1, segment=True)
        return f"{self.metric.name}|{signature.short() if self.style.short else signature}"

    @property
    def code(self) -> str:
        """The type of numbers, as a type code of `array`."""
        return "f" if self.options.float32 else "d"

    def height(self, references: list[str]) -> int:
        """How many hypotheses are scored at a time."""
        return min(SCORES, SLOW.get(self.metric.NAME, SCORES)) // len(references)

    def scores(self, hypotheses: list[str], references: list[str]) -> Matrix:
        """Every score of some lines."""
        kind = "float32" if self.options.float32 else "float64"
        return self.metric.matrix(hypotheses, references, workers=self.threads, dtype=kind)

    def records(self, output: Output, columns: dict[str, type]) -> formats.Records:
        """The writer of rows with such columns."""
        return formats.records(self.form, output, self.style, columns, self.signature)

    def matrix(self, output: Output, hypotheses: File | None, references: File) -> None:
        """Every hypothesis against every reference."""
        others = _lines(references, "references")
        own = others if hypotheses is None else _lines(hypotheses, "hypotheses")
        shape = (len(own), len(others))
        if output.is_terminal and self.form == "text":
            _check_size(shape)
        writer = formats.matrix(self.form, output, self.style, shape, self.code, self.signature)
        for first, some in blocks(own, self.height(others)):
            writer.write(first, self.scores(some, others))
            self.progress(first + len(some))
        writer.finish()

    def triangle(self, output: Output, file: File) -> None:
        """Each pair of one file once."""
        lines = _lines(file, "references")
        if len(lines) < 2:
            raise InputError(f"{file.label('references')}: one line; a pair needs two")
        count = len(lines) * (len(lines) - 1) // 2
        if output.is_terminal and self.form == "text":
            _check_size((count, 1))
        writer = formats.triangle(
            self.form, output, self.style, self.metric.name, count, self.code, self.signature
        )
        for first, some in blocks(lines[:-1], self.height(lines)):
            writer.write(first, self.scores(some, lines[first + 1 :]))
            self.progress(first + len(some))
        writer.finish()

    def nearest(self, output: Output, hypotheses: File | None, references: File) -> None:
        """The nearest references of each hypothesis."""
        others = _lines(references, "references")
        own = others if hypotheses is None else _lines(hypotheses, "hypotheses")
        wanted = self.options.top_k
        columns = {"hypothesis": int, "rank": int, "reference": int, self.metric.name: float}
        if self.options.text:
            columns |= {"hypothesis_text": str, "reference_text": str}
        writer = self.records(output, columns)
        # A line is no neighbour of itself.
        more = wanted + (hypotheses is None)
        for first, some in blocks(own, min(4096, NEAREST // more)):
            found = self.metric.top_k(some, others, more, workers=self.threads)
            rows: list[tuple[Any, ...]] = []
            for i, (text, nearest) in enumerate(zip(some, found, strict=True), first):
                if hypotheses is None:
                    nearest = [pair for pair in nearest if pair[0] != i]  # noqa: PLW2901
                for rank, (j, score) in enumerate(nearest[:wanted], 1):
                    texts = (text, others[j]) if self.options.text else ()
                    rows.append((i + 1, rank, j + 1, score, *texts))
            writer.write(rows)
            self.progress(first + len(some))
        writer.finish()

    def mbr(self, output: Output, file: File) -> None:
        """The best candidates of each source."""
        from truebleu.mbr import mbr

        columns = {"source": str if self.options.moses else int, "rank": int, "candidate": int}
        writer = self.records(output, {**columns, self.metric.name: float, "text": str})
        sources = self._sources(file)
        count = 0
        while batch := list(islice(sources, SOURCES)):
            names, candidates = zip(*batch, strict=True)
            found = mbr(candidates, metric=self.metric, workers=self.threads)
            rows = [
                (name, rank, index + 1, one.expected[index], one.candidates[index])
                for name, one in zip(names, found, strict=True)
                for rank, index in enumerate(one.ranking[: self.options.top_k or 1], 1)
            ]
            writer.write(rows)
            count += sum(map(len, candidates))
            self.progress(count)
        if not count:
            raise InputError(f"{file.label('candidates')}: no lines at all")
        writer.finish()

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
                f"{name}, line {number}: '{line:.40}' where SOURCE ||| TEXT ||| ... is meant"
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


def _check_size(shape: tuple[int, int]) -> None:
    """Refuses what would flood a terminal."""
    rows, columns = shape
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        raise shared.UsageError(
            f"{rows:,} × {columns:,} scores are too many for a terminal; write them to a file "
            "(-o scores.npy, .tsv, .csv, .jsonl, .parquet), or look at the nearest (--top-k 3)"
        )


def blocks(texts: list[str], height: int) -> Iterator[tuple[int, list[str]]]:
    """Some texts at a time, and the place of their first one."""
    height = max(LEAST, height)
    for first in range(0, len(texts), height):
        yield first, texts[first : first + height]


COMMAND = shared.Command(
    "truebleu matrix REF [-i HYP] [options]\n"
    "       truebleu matrix CANDIDATES --mbr [--nbest-size N | --moses] [options]",
    EXAMPLES,
    add_options,
    run,
)
