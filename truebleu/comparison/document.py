"""From the dict to what a reader sees: a grid a metric, and the sentences around it.

Each rendering draws these its own way, and decides nothing else.
"""

from __future__ import annotations

from math import floor, log10

from truebleu.explanation.document import visible

__all__ = ["visible"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    # How a number of some metric is written.
    Number = Callable[[float], str]

MINUS = "−"


class Cell:
    """What stands in a grid: text, letters raised behind it, and what it means.

    `mark` is "better" or "worse" for a significant difference, "best" for the first system,
    "baseline" for what the others are compared with, or nothing.
    """

    __slots__ = ("mark", "raised", "text")

    def __init__(self, text: str, raised: str = "", mark: str = "") -> None:
        self.text = text
        self.raised = raised
        self.mark = mark


class Forest:
    """An interval to be drawn beside others: on a line from `least` to `most`, which has 0 on it.

    Without an interval it is an empty line: the baseline's.
    """

    __slots__ = ("interval", "least", "mark", "most")

    def __init__(
        self,
        least: float,
        most: float,
        interval: tuple[float, float, float] | None = None,
        mark: str = "",
    ) -> None:
        self.least = least
        self.most = most
        # The low end, the difference, the high end.
        self.interval = interval
        self.mark = mark

    def place(self, value: float, width: float) -> float:
        """Where a value lies, from 0 to `width`."""
        return (value - self.least) / (self.most - self.least) * width


class Column:
    """A column of a grid: its header, the side its cells are set to, and the columns it is with."""

    __slots__ = ("group", "header", "left")

    def __init__(self, header: str, group: str = "", *, left: bool = False) -> None:
        self.header = header
        self.group = group
        self.left = left


class Grid:
    """A table. Columns of the group "" name the rows; other groups may be set below each other."""

    __slots__ = ("columns", "metric", "rows")

    def __init__(
        self, metric: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell | Forest]]
    ) -> None:
        # None of the metrics, for the summary of all.
        self.metric = metric
        self.columns = columns
        self.rows = rows

    def without_drawings(self) -> Grid:
        """The grid where nothing can be drawn."""
        kept = [i for i, column in enumerate(self.columns) if column.group != "forest"]
        rows = [[row[i] for i in kept] for row in self.rows]
        return Grid(self.metric, [self.columns[i] for i in kept], rows)


def title(content: Mapping[str, Any]) -> str:
    """What was compared, in a line."""
    systems = _count(len(content["systems"]), "system")
    segments = _count(content["segments"], "segment")
    parts = [systems, segments]
    references = content["references"]
    if references == "var":
        parts.append("a varying number of references a segment")
    elif references is not None:
        parts.append(f"{_count(references, 'reference')} a segment")
    title = ", ".join(parts)
    return title if content["baseline"] is None else visible(f"{title}; Δ to {content['baseline']}")


def grids(content: Mapping[str, Any], width: int | None = None) -> Iterator[Grid]:
    """A grid for each metric; `width` digits after the point, or what suits it."""
    for metric in content["metrics"]:
        yield _grid(content, metric, digits(content, metric, width))


def has_summary(content: Mapping[str, Any]) -> bool:
    """Whether there is more than one column of scores to be set side by side."""
    return len(content["metrics"]) > 1 and len(content["systems"]) > 1


def summary(content: Mapping[str, Any], width: int | None = None) -> Grid:
    """The scores of all metrics, with what is significantly better raised: for a paper."""
    metrics = content["metrics"]
    columns = [Column(""), Column("system", left=True)]
    columns += [Column(headed(metric), "scores") for metric in metrics]
    writers = [number(digits(content, metric, width)) for metric in metrics]
    rows: list[list[Cell | Forest]] = []
    for system in content["systems"]:
        row: list[Cell | Forest] = [Cell(system["letter"]), Cell(system["name"])]
        for metric, write in zip(metrics, writers, strict=True):
            score = system["scores"][metric["name"]]
            mark = "best" if score["rank"] == 1 else ""
            row.append(Cell(write(score["score"]), letters(content, score["better_than"]), mark))
        rows.append(row)
    return Grid("", columns, rows)


def headed(metric: Mapping[str, Any]) -> str:
    """A metric's name at the head of a column."""
    return f"{metric['name']}{'' if metric['higher_is_better'] else ' ↓'}"


def _grid(content: Mapping[str, Any], metric: Mapping[str, Any], places: int) -> Grid:
    write = number(places)
    several = len(content["systems"]) > 1
    level = f"{percent(content['level'])} interval"
    columns = [Column(""), Column("system", left=True), Column(headed(metric), "score")]
    columns = columns if several else columns[1:]
    if content["intervals"]:
        columns.append(Column(level, "score"))
    if content["test"] and several:
        columns.append(Column("cluster", "score"))
    if several:
        columns.append(Column("Δ", "difference"))
        if content["intervals"]:
            columns.append(Column(level, "difference"))
        if content["test"]:
            columns.append(Column("p", "difference"))
            if content["correction"]:
                columns.append(Column(f"p {content['correction']['title']}", "difference"))
        columns += [Column(name, "segments") for name in ("won", "tied", "lost")]
        if content["test"]:
            columns.append(Column("needed", "segments"))
    ends = _ends(content, metric["name"]) if several and content["intervals"] else None
    if ends is not None:
        columns.append(Column("", "forest"))
    rows = [
        list(_row(content, system, metric, write, ends, several=several))
        for system in content["systems"]
    ]
    return Grid(metric["name"], columns, rows)


def _row(
    content: Mapping[str, Any],
    system: Mapping[str, Any],
    metric: Mapping[str, Any],
    write: Number,
    ends: tuple[float, float] | None,
    *,
    several: bool,
) -> Iterator[Cell | Forest]:
    score = system["scores"][metric["name"]]
    best = "best" if several and score["rank"] == 1 else ""
    if several:
        yield Cell(system["letter"])
    yield Cell(system["name"], mark=best)
    yield Cell(write(score["score"]), letters(content, score["better_than"]), best)
    if content["intervals"]:
        yield Cell(_interval(score["interval"], write))
    if not several:
        return
    if content["test"]:
        yield Cell("" if score["cluster"] is None else str(score["cluster"]))
    difference = score["difference"]
    if difference is None:
        yield from _baseline(content, ends)
        return
    signed = signing(write)
    mark = verdict(difference, metric)
    yield Cell(signed(difference["value"]), mark=mark)
    if content["intervals"]:
        yield Cell(_interval(difference["interval"], signed))
    if content["test"]:
        if content["correction"]:
            yield Cell(p_value(difference["p"]))
        star = "*" if difference["significant"] else ""
        yield Cell(p_value(decisive(difference)), star, mark)
    yield from (Cell(f"{difference[name]:,}") for name in ("wins", "ties", "losses"))
    if content["test"]:
        yield Cell(_needed(difference["segments_needed"]))
    if ends is not None:
        interval = difference["interval"]
        if interval is None:
            yield Forest(*ends)
        else:
            drawn = (interval["low"], difference["value"], interval["high"])
            yield Forest(*ends, drawn, mark)


def _baseline(
    content: Mapping[str, Any], ends: tuple[float, float] | None
) -> Iterator[Cell | Forest]:
    """The cells of the row that others are compared with."""
    yield Cell("baseline", mark="baseline")
    empty = 3 + bool(content["intervals"])
    empty += (2 + bool(content["correction"])) if content["test"] else 0
    yield from (Cell("") for _ in range(empty))
    if ends is not None:
        yield Forest(*ends)


def decisive(difference: Mapping[str, Any]) -> float | None:
    """The p that decides: the corrected one, if there is a correction."""
    corrected: float | None = difference["corrected_p"]
    p: float | None = difference["p"]
    return p if corrected is None else corrected


def verdict(difference: Mapping[str, Any], metric: Mapping[str, Any]) -> str:
    """Whether a difference is significant, and for better or worse."""
    if not difference["significant"]:
        return ""
    return "better" if (difference["value"] > 0) == metric["higher_is_better"] else "worse"


def _ends(content: Mapping[str, Any], metric: str) -> tuple[float, float] | None:
    """From where to where the differences reach, 0 included."""
    reached = [0.0]
    for system in content["systems"]:
        difference = system["scores"][metric]["difference"]
        if difference and difference["interval"]:
            reached += [difference["interval"]["low"], difference["interval"]["high"]]
            reached.append(difference["value"])
    least, most = min(reached), max(reached)
    return (least, most) if least < most else None


def letters(content: Mapping[str, Any], names: Sequence[str]) -> str:
    """The letters of some systems; three or more in a row are written as the first and last.

    >>> systems = [{"name": name, "letter": letter} for name, letter in zip("ABCDEF", "abcdef")]
    >>> letters({"systems": systems}, ["B", "C", "D", "F"])
    'b–d f'
    """
    chosen = set(names)
    runs: list[list[str]] = []
    before = False
    for system in content["systems"]:
        if system["name"] in chosen:
            runs = runs if before else [*runs, []]
            runs[-1].append(system["letter"])
        before = system["name"] in chosen
    parts = [part for run in runs for part in _ends_of(run)]
    # Single letters need no space between them.
    return ("" if all(len(part) == 1 for part in parts) else " ").join(parts)


def _ends_of(run: list[str]) -> list[str]:
    return run if len(run) < 3 else [f"{run[0]}–{run[-1]}"]


# ---- numbers ----


def digits(content: Mapping[str, Any], metric: Mapping[str, Any], width: int | None) -> int:
    """How many digits after the point suit a metric: 1 from 0 to 100, more where scores are small.

    `width` is what scores from 0 to 100 have.
    """
    if metric["source"] == "truebleu":
        return 1 if width is None else width
    largest = max(abs(s["scores"][metric["name"]]["score"]) for s in content["systems"])
    suitable = 3 - floor(log10(largest)) if largest else 3
    return max(0, min(suitable, 17)) + (0 if width is None else width - 1)


def number(places: int) -> Number:
    """Writes numbers with so many digits after the point, and a true minus sign.

    >>> number(1)(-0.04), number(1)(-0.06)
    ('0.0', '−0.1')
    """

    def write(value: float) -> str:
        text = f"{value:.{places}f}"
        return text.lstrip("-") if not float(text) else text.replace("-", MINUS)

    return write


def signing(write: Number) -> Number:
    """The same with a plus before what is above 0."""

    def signed(value: float) -> str:
        text = write(value)
        return f"+{text}" if value > 0 and text.strip("0.") else text

    return signed


def _interval(interval: Mapping[str, float] | None, write: Number) -> str:
    return "" if interval is None else f"[{write(interval['low'])}, {write(interval['high'])}]"


def p_value(p: float | None) -> str:
    """A p-value with four digits; nothing where nothing was tested.

    >>> p_value(0.11298870112988701), p_value(9.999e-7), p_value(1.0), p_value(0.00004)
    ('0.1130', '<0.0001', '1', '<0.0001')
    """
    if p is None:
        return ""
    if p == 1:
        return "1"
    return f"{p:.4f}" if p >= 0.00005 else "<0.0001"


def percent(share: float) -> str:
    """A share in per cent, with as many digits as it takes.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{round(100 * share, 10):g}%"


def _needed(segments: int | None) -> str:
    if segments is None:
        return ""
    return f"{segments:,}" if segments < 10**9 else ">10⁹"


def _count(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


# ---- sentences ----


def legend(content: Mapping[str, Any]) -> list[str]:
    """What the marks in the grids mean."""
    if len(content["systems"]) < 2:
        return []
    lines = []
    test, correction = content["test"], content["correction"]
    if test:
        p = f"p {correction['title']}" if correction else "p"
        lines.append(
            f"Raised letters: significantly better than those systems ({p} < {test['alpha']:g}, "
            "as *). Every system of a cluster is significantly better than all of the clusters "
            "below."
        )
        if correction and len(content["systems"]) > 2:
            pairs = len(content["pairs"]) // len(content["metrics"])
            lines.append(
                f"{p} is corrected for the tests of its column, letters and clusters for those of "
                f"all {pairs} pairs, metric by metric."
            )
    won = (
        f"Won, tied, lost: segments scored higher, equal or lower than {content['baseline']}'s"
        f"{_lower(content)}."
    )
    needed = (
        " Needed: about how many segments like these show a difference of this size 4 times in 5."
    )
    return [*lines, won + (needed if test else "")]


def _lower(content: Mapping[str, Any]) -> str:
    """What to say where lower scores are better."""
    names = [metric["name"] for metric in content["metrics"] if not metric["higher_is_better"]]
    return f" (for {' and '.join(names)}, lower wins)" if names else ""


def sentences(content: Mapping[str, Any]) -> list[str]:
    """What is to be read with the grids: their marks, the test, and what is remarkable."""
    told = [content["reading"]] if content["reading"] else []
    notes = [f"Note: {note['text']}" for note in content["notes"]]
    return [visible(sentence) for sentence in (*legend(content), *told, *notes)]


def signatures(content: Mapping[str, Any], *, short: bool = False) -> list[str]:
    """Each metric with its signature, for those that have one."""
    key = "short_signature" if short else "signature"
    return [
        f"{'' if metric['name'].startswith(metric['label']) else metric['name'] + ': '}"
        f"{metric['label']}|{metric[key]}"
        for metric in content["metrics"]
        if metric["signature"]
    ]
