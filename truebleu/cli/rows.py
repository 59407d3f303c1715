"""Rows of segments as text, TSV, CSV, JSON lines or Parquet, a piece at a time."""

from __future__ import annotations

from itertools import repeat
from math import isfinite

from truebleu.cli.output import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from truebleu._kernel import Scores
    from truebleu.cli.output import Output
    from truebleu.cli.tables import Style
    from truebleu.counted import Counted
    from truebleu.statistics import Statistics


class Piece:
    """Some segments of one system: their numbers, scores and statistics."""

    __slots__ = ("carried", "metric", "numbers", "scores", "statistics", "system")

    def __init__(
        self,
        metric: Counted[Any],
        system: str | None,
        first: int,
        scores: Scores,
        statistics: Statistics,
        *,
        numbers: Sequence[int] | None = None,
        carried: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        self.metric = metric
        # None if there is only one.
        self.system = system
        # The number of each segment, counted from 1.
        self.numbers = range(first, first + len(scores)) if numbers is None else numbers
        self.scores = scores
        self.statistics = statistics
        # What stands beside each segment in the table that it is from.
        self.carried = carried

    def numbered(self) -> Iterator[tuple[int, float]]:
        """The number and the score of each segment."""
        return zip(self.numbers, self.scores.tolist(), strict=True)

    def beside(self) -> Iterator[Sequence[Any]]:
        """What stands beside each segment."""
        return repeat((), len(self.scores)) if self.carried is None else iter(self.carried)


def columns(
    metric: Counted[Any], style: Style, *, several: bool, carried: Sequence[str] = ()
) -> list[str]:
    """The names of the columns of a table of segments."""
    system = ["system"] if several else []
    statistics = [] if style.score_only else metric.columns
    return ["segment", *system, *carried, metric.name, *statistics]


class Carried:
    """Columns that stand beside segments: their names, and an empty Arrow stream of their types."""

    __slots__ = ("names", "types")

    def __init__(self, names: Sequence[str], types: Any) -> None:
        self.names = names
        self.types = types


class Rows:
    """Writes the segments of pieces to an output."""

    # How many segments a piece should have.
    AT_ONCE = 8192

    def __init__(
        self, output: Output, style: Style, columns: Sequence[str], carried: Carried | None = None
    ) -> None:
        self.output = output
        self.style = style
        self.columns = columns
        # The columns that are carried along, and their types as an Arrow stream of no rows.
        self.carried = carried or Carried((), None)

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        raise NotImplementedError

    def finish(self) -> None:
        """Writes what comes last."""


class Text(Rows):
    """A line for each segment, as sacreBLEU's --sentence-level prints it."""

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        rounded = self.style.rounded
        before = "" if piece.system is None else f"{printable(piece.system)}\t"
        cells = ["".join(f"{shown(cell)}\t" for cell in cells) for cells in piece.beside()]
        if self.style.score_only:
            lines = [
                f"{before}{cell}{rounded(value)}\n"
                for cell, (_, value) in zip(cells, piece.numbered(), strict=True)
            ]
        else:
            metric, references = piece.metric, piece.statistics.references
            signature = metric.signature(references, segment=True)
            head = f"{metric.name}|{signature.short() if self.style.short else signature} ="
            lines = []
            rows = piece.statistics.tolist()
            for cell, (_, value), row in zip(cells, piece.numbered(), rows, strict=True):
                score = metric.score_of(row, references, segment=True, value=value)
                line = f"{before}{cell}{head} {rounded(value)} {score.verbose}"
                lines.append(line.rstrip() + "\n")
        self.output.write("".join(lines))


class _Filled(Rows):
    """Lines that are a template filled with the columns of each segment."""

    def cell(self, value: Any) -> str:
        """What is carried along, as it stands in a line."""
        return shown(value)

    def template(self, system: str | None) -> str:
        """The template, with a % for the number, the score, and each column of statistics."""
        raise NotImplementedError

    @property
    def score(self) -> str:
        """The place of a score in a template."""
        return "%r" if self.style.width is None else f"%.{self.style.width}f"

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        if self.style.score_only:
            lines = [f"{self.style.exact(value)}\n" for _, value in piece.numbered()]
        else:
            template = self.template(piece.system)
            rows = piece.statistics.tolist()
            if piece.carried is None:
                lines = [
                    template % (number, value, *row)
                    for (number, value), row in zip(piece.numbered(), rows, strict=True)
                ]
            else:
                lines = [
                    template % (number, *map(self.cell, cells), value, *row)
                    for (number, value), cells, row in zip(
                        piece.numbered(), piece.carried, rows, strict=True
                    )
                ]
        self.output.write("".join(lines))


class TabSeparated(_Filled):
    """A header, and a line of tab-separated values for each segment."""

    SEPARATOR = "\t"

    def __init__(
        self, output: Output, style: Style, columns: Sequence[str], carried: Carried | None = None
    ) -> None:
        super().__init__(output, style, columns, carried)
        names = map(self.cell, columns)
        self._header = "" if style.score_only else self.SEPARATOR.join(names) + "\n"

    def template(self, system: str | None) -> str:
        """Values with separators between them."""
        names = [] if system is None else [self.cell(printable(system)).replace("%", "%%")]
        names += ["%s"] * len(self.carried.names)
        integers = len(self.columns) - 2 - len(names)
        return self.SEPARATOR.join(["%d", *names, self.score, *["%d"] * integers]) + "\n"

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        self.output.write(self._header)
        self._header = ""
        super().write(piece)


class CommaSeparated(TabSeparated):
    """A header, and a line of comma-separated values for each segment, as RFC 4180 has it."""

    SEPARATOR = ","

    def cell(self, value: Any) -> str:
        """What is carried along, in quotes where it needs them."""
        text = "" if value is None else str(value)
        if any(mark in text for mark in ',"\r\n'):
            return '"' + text.replace('"', '""') + '"'
        return text


class JSONLines(_Filled):
    """A JSON object on a line for each segment."""

    def cell(self, value: Any) -> str:
        """What is carried along, as JSON."""
        import json

        return json.dumps(plain(value), ensure_ascii=False, default=str)

    def template(self, system: str | None) -> str:
        """An object."""
        names = [self.cell(name).replace("%", "%%") for name in self.columns]
        places = ["%d"] * len(names)
        score = 1
        if system is not None:
            places[1] = self.cell(system).replace("%", "%%")
            score = 2
        for _ in self.carried.names:
            places[score] = "%s"
            score += 1
        places[score] = self.score
        pairs = (f"{name}: {place}" for name, place in zip(names, places, strict=True))
        return f"{{{', '.join(pairs)}}}\n"


def plain(value: Any) -> Any:
    """A value for JSON, which has no word for what is no finite number: that is a string."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def shown(value: Any) -> str:
    """A value of a table, on one line."""
    return "" if value is None else printable(str(value))


def _parquet(
    output: Output, style: Style, columns: Sequence[str], carried: Carried | None = None
) -> Rows:
    from truebleu.cli.parquet import parquet

    return parquet(output, style, columns, carried)


FORMATS: dict[str, Callable[..., Rows]] = {
    "text": Text,
    "tsv": TabSeparated,
    "csv": CommaSeparated,
    "json": JSONLines,
    "parquet": _parquet,
}
