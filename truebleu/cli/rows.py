"""Rows of segments as text, tab-separated values, JSON lines or Parquet, a piece at a time."""

from __future__ import annotations

from truebleu.cli.output import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from truebleu._kernel import Scores
    from truebleu.cli.output import Output
    from truebleu.cli.tables import Style
    from truebleu.counted import Counted
    from truebleu.statistics import Statistics


class Piece:
    """Some segments of one system: their numbers, scores and statistics."""

    __slots__ = ("first", "metric", "scores", "statistics", "system")

    def __init__(
        self,
        metric: Counted[Any],
        system: str | None,
        first: int,
        scores: Scores,
        statistics: Statistics,
    ) -> None:
        self.metric = metric
        # None if there is only one.
        self.system = system
        # The number of the first segment, counted from 1.
        self.first = first
        self.scores = scores
        self.statistics = statistics

    def numbered(self) -> Iterator[tuple[int, float]]:
        """The number and the score of each segment."""
        return enumerate(self.scores.tolist(), self.first)


def columns(metric: Counted[Any], style: Style, *, several: bool) -> list[str]:
    """The names of the columns of a table of segments."""
    system = ["system"] if several else []
    statistics = [] if style.score_only else metric.columns
    return ["segment", *system, metric.name, *statistics]


class Rows:
    """Writes the segments of pieces to an output."""

    # How many segments a piece should have.
    AT_ONCE = 8192

    def __init__(self, output: Output, style: Style, columns: Sequence[str]) -> None:
        self.output = output
        self.style = style
        self.columns = columns

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
        if self.style.score_only:
            lines = [f"{before}{rounded(value)}\n" for _, value in piece.numbered()]
        else:
            metric, references = piece.metric, piece.statistics.references
            signature = metric.signature(references, segment=True)
            before += f"{metric.name}|{signature.short() if self.style.short else signature} ="
            lines = []
            rows = piece.statistics.tolist()
            for (_, value), row in zip(piece.numbered(), rows, strict=True):
                score = metric.score_of(row, references, segment=True, value=value)
                lines.append(f"{before} {rounded(value)} {score.verbose}".rstrip() + "\n")
        self.output.write("".join(lines))


class _Filled(Rows):
    """Lines that are a template filled with the columns of each segment."""

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
            lines = [
                template % (number, value, *row)
                for (number, value), row in zip(piece.numbered(), rows, strict=True)
            ]
        self.output.write("".join(lines))


class TabSeparated(_Filled):
    """A header, and a line of tab-separated values for each segment."""

    def __init__(self, output: Output, style: Style, columns: Sequence[str]) -> None:
        super().__init__(output, style, columns)
        self._header = "" if style.score_only else "\t".join(columns) + "\n"

    def template(self, system: str | None) -> str:
        """Values with tabs between them."""
        names = [] if system is None else [printable(system).replace("%", "%%")]
        integers = len(self.columns) - 2 - len(names)
        return "\t".join(["%d", *names, self.score, *["%d"] * integers]) + "\n"

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        self.output.write(self._header)
        self._header = ""
        super().write(piece)


class JSONLines(_Filled):
    """A JSON object on a line for each segment."""

    def template(self, system: str | None) -> str:
        """An object."""
        import json

        places = dict.fromkeys(self.columns, "%d")
        places[self.columns[1 if system is None else 2]] = self.score
        if system is not None:
            places["system"] = json.dumps(system).replace("%", "%%")
        return "{" + ", ".join(f'"{name}": {place}' for name, place in places.items()) + "}\n"


def _parquet(output: Output, style: Style, columns: Sequence[str]) -> Rows:
    from truebleu.cli.parquet import parquet

    return parquet(output, style, columns)


FORMATS = {"text": Text, "tsv": TabSeparated, "json": JSONLines, "parquet": _parquet}
