"""A history for a terminal, as Markdown, and as comma-separated values."""

from __future__ import annotations

from truebleu.comparison.text import places, wrapped
from truebleu.explanation import markdown as marked
from truebleu.explanation.document import Table, signed, visible
from truebleu.history.log import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from truebleu.history import History
    from truebleu.history.series import Group, Point, Series

BARS = "▁▂▃▄▅▆▇█"
# Narrower than this, lines run over.
NARROWEST = 40
GAP = "  "

NOTHING = "No scores yet."


def title(group: Group) -> str:
    """What heads a group."""
    lower = ", lower is better" if group.lower_is_better else ""
    return visible(f"{group.followed}, {group.metric}{lower}")


def said(series: Series) -> str:
    """What is said of a series beside its numbers."""
    scores = "1 score" if len(series.entries) == 1 else f"{len(series.entries):,} scores"
    segments = (
        "1 segment"
        if series.entries[0].segments == 1
        else (f"{series.entries[0].segments:,} segments")
    )
    return f"{scores} of {segments}"


def table(series: Series, digits: int) -> Table:
    """A row for each score."""
    points = series.points
    columns: list[tuple[str, bool, list[str]]] = [
        ("when", False, [when(point) for point in points]),
        ("score", True, [f"{point.entry.score:.{digits}f}" for point in points]),
        ("Δ previous", True, [_change(point.previous, digits) for point in points]),
        ("Δ first", True, [_change(point.first, digits) for point in points]),
        ("same output", False, [_yes(point.same_output) for point in points]),
    ]
    if any(point.entry.low is not None for point in points):
        columns.insert(2, ("interval", True, [_interval(point, digits) for point in points]))
    if any(point.entry.system != point.entry.followed for point in points):
        columns.append(("system", False, [visible(point.entry.system) for point in points]))
    if any(point.entry.note for point in points):
        columns.append(("note", False, [visible(point.entry.note or "") for point in points]))
    return Table(
        [header for header, _, _ in columns],
        list(zip(*(cells for _, _, cells in columns), strict=True)),
        [i for i, (_, is_number, _) in enumerate(columns) if is_number],
    )


def when(point: Point) -> str:
    """The time of a score, for a person. It is UTC."""
    return stamp(point.entry.time).replace("T", " ").removesuffix("Z")


def _change(value: float | None, digits: int) -> str:
    return "" if value is None else signed(value, digits)


def _interval(point: Point, digits: int) -> str:
    low, high = point.entry.low, point.entry.high
    return "" if low is None or high is None else f"[{low:.{digits}f}, {high:.{digits}f}]"


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


# ---- terminal ----


def plain(history: History, width: int, digits: int) -> str:
    """All of it, in lines of about so many characters."""
    lines = list(_lines(history, max(width, NARROWEST), digits))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _lines(history: History, width: int, digits: int) -> Iterator[str]:
    if not history.groups:
        yield NOTHING
    for i, group in enumerate(history.groups):
        if i:
            yield ""
        yield title(group)
        if group.warning is not None:
            yield from wrapped(group.warning, width)
        for number, series in enumerate(group.series, 1):
            yield ""
            if series.differs:
                yield from wrapped(visible(f"{number}. {series.label}"), width)
            yield from _drawing(series, width, digits)
            yield from _aligned(table(series, digits))
            yield from wrapped(f"{said(series)}; times are UTC", width)
            yield visible(series.signature)


def _drawing(series: Series, width: int, digits: int) -> Iterator[str]:
    """The scores as bars, from the least to the greatest; as many lines as it takes."""
    if len(series.entries) < 2:
        return
    low, high = (f"{end:.{digits}f}" for end in (min(series.scores), max(series.scores)))
    room = width - len(low) - len(high) - 2
    drawn = bars(series.scores)
    for start in range(0, len(drawn), room):
        first, last = start == 0, start + room >= len(drawn)
        before = low if first else " " * len(low)
        yield f"{before} {drawn[start : start + room]} {high if last else ''}"


def bars(values: Sequence[float]) -> str:
    """Numbers as bars, the least the lowest and the greatest the highest.

    >>> bars([20, 24, 22, 27])
    '▁▅▃█'
    """
    low, high = min(values), max(values)
    if low == high:
        return BARS[3] * len(values)
    top = len(BARS) - 1
    return "".join(BARS[round((value - low) / (high - low) * top)] for value in values)


def _aligned(made: Table) -> Iterator[str]:
    """A table with a rule under its header."""
    columns = list(zip(made.header, *made.rows, strict=True))
    widths = [max(places(str(cell)) for cell in column) for column in columns]
    for number, row in enumerate((made.header, *made.rows)):
        cells = [
            space + str(cell) if i in made.numbers else str(cell) + space
            for i, cell in enumerate(row)
            for space in [" " * (widths[i] - places(str(cell)))]
        ]
        yield GAP.join(cells)
        if not number:
            yield "─" * (sum(widths) + len(GAP) * (len(widths) - 1))


# ---- Markdown ----


def markdown(history: History, digits: int) -> str:
    """A table of each series."""
    return "\n\n".join(_blocks(history, digits)) + "\n"


def _blocks(history: History, digits: int) -> Iterator[str]:
    if not history.groups:
        yield NOTHING
    for group in history.groups:
        yield f"## {marked.escaped(title(group))}"
        if group.warning is not None:
            yield f"> {marked.escaped(group.warning)}"
        for series in group.series:
            if series.differs:
                yield f"### {marked.escaped(visible(series.label))}"
            yield "\n".join(marked.table(table(series, digits)))
            signature = marked.code(visible(series.signature))
            yield f"{marked.escaped(said(series))}; times are UTC; {signature}"


# ---- comma-separated values ----

COLUMNS = (
    *("series", "time", "name", "system", "metric", "score", "low", "high", "since_previous"),
    *("since_first", "same_output", "segments", "hypothesis_file", "hypothesis_sha256"),
    *("reference_files", "reference_sha256", "signature", "version", "note"),
)


def csv(history: History) -> str:
    """A header, and a line for each score; series are numbered from 1."""
    import csv
    import io

    from truebleu.comparison.separated import written

    made = io.StringIO()
    lines = csv.writer(made, lineterminator="\n")
    lines.writerow(COLUMNS)
    for number, series in enumerate(history.series, 1):
        for point in series.points:
            entry = point.entry
            known = {
                **entry.to_dict(),
                "series": number,
                "name": entry.followed,
                "since_previous": point.previous,
                "since_first": point.first,
                "same_output": point.same_output,
                "hypothesis_file": entry.hypothesis.file,
                "hypothesis_sha256": entry.hypothesis.sha256,
                "reference_files": " ".join(text.file for text in entry.references),
                "reference_sha256": " ".join(text.sha256 for text in entry.references),
            }
            lines.writerow([written(known.get(column)) for column in COLUMNS])
    return made.getvalue()
