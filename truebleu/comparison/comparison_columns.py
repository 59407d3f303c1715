"""Columns of a comparison's tables: their names in `--columns`, and their cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

from truebleu.rendering.elements import Cell, Column, Range, Table
from truebleu.rendering.number_format import (
    MORE_DIGITS,
    NumberFormatter,
    format_p_value,
    format_percent,
    format_segments_needed,
    make_formatter,
    make_signed_formatter,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

# A column and its cells, one per row.
ColumnCells = tuple[Column, Iterable[Any]]

# Names of all columns in the order of a complete table, with their meanings.
COLUMNS = {
    "letter": "letter of the system, which sentences refer to",
    "system": "name of the system",
    "score": "score of the system",
    "interval": "confidence interval of the score",
    "mean": "mean of the bootstrap resamples' scores",
    "half-width": "half the width of the score's interval, which sacreBLEU prints after ±",
    "runs": "standard deviation between training runs (number of runs)",
    "cluster": "group of systems; systems in different clusters differ significantly, and systems "
    "in the same cluster may differ significantly, too",
    "delta": "score minus the score of the baseline",
    "delta-interval": "confidence interval of the delta",
    "std-error": "standard error of the delta",
    "p-uncorrected": "p-value of the delta before the correction",
    "p": "p-value of the delta, corrected if --correction is used",
    "won": "segments with a better score than the baseline",
    "tied": "segments with the same score as the baseline",
    "lost": "segments with a worse score than the baseline",
    "needed": "similar segments required to detect the delta with 80% power",
}
# Names that users may expect, for suggestions only.
_COLUMN_ALIASES = {
    **dict.fromkeys(("diff", "difference", "δ"), "delta"),
    **dict.fromkeys(("p-value", "pvalue", "sig", "significance"), "p"),
    **dict.fromkeys(("ci", "conf", "confidence", "confidence-interval"), "interval"),
    **dict.fromkeys(("se", "stderr", "standard-error"), "std-error"),
    **dict.fromkeys(("metric", "value", "bleu"), "score"),
    "n": "needed",
    "name": "system",
    "rank": "cluster",
    "±": "half-width",
    "wins": "won",
    "ties": "tied",
    "losses": "lost",
}
# Columns of a complete table. The intervals make standard errors unnecessary.
DEFAULT_COLUMNS = tuple(name for name in COLUMNS if name not in ("mean", "half-width", "std-error"))
# Columns whose cells are the same for all metrics.
SYSTEM_COLUMNS = ("letter", "system")
# Columns about the scores; the others are about differences from the baseline.
SCORE_COLUMNS = ("score", "interval", "mean", "half-width", "runs", "cluster")
_COUNT_KEYS = {"won": "wins", "tied": "ties", "lost": "losses"}


def check_column_names(names: Iterable[str]) -> None:
    """Raise ValueError for a column name that is not in `COLUMNS` or occurs twice."""
    from truebleu.text.argument_checks import suggest_names

    seen = set()
    for name in names:
        if name not in COLUMNS:
            likely_name = _COLUMN_ALIASES.get(name.lower().replace("_", "-"), name)
            hint = suggest_names(likely_name, COLUMNS)
            raise ValueError(f"columns: unknown column '{name}'{hint}")
        if name in seen:
            raise ValueError(f"columns: duplicate column '{name}'")
        seen.add(name)


def require_columns(content: Content, names: Iterable[str]) -> None:
    """Raise ValueError for a column that no metric of the comparison has."""
    available = {name for one in content["metrics"] for name in list_columns(content, one)}
    for name in names:
        if name not in available:
            expected = ", ".join(name for name in COLUMNS if name in available)
            raise ValueError(
                f"columns: this comparison has no column '{name}' (expected {expected})"
            )


def list_columns(content: Content, metric: Content) -> list[str]:
    """Return the names of the columns that the table of a metric can have."""
    scores = [system["scores"][metric["name"]] for system in content["systems"]]
    has_several_systems = len(scores) > 1
    is_tested = has_several_systems and bool(content["test"])
    conditions = {
        "letter": has_several_systems,
        **dict.fromkeys(("interval", "mean", "half-width"), bool(content["intervals"])),
        "runs": any(score["runs"] for score in scores),
        "cluster": has_several_systems and metric["clusters"] is not None,
        "delta-interval": has_several_systems and bool(content["intervals"]),
        "p-uncorrected": is_tested and bool(content["correction"]),
        **dict.fromkeys(("p", "needed"), is_tested),
        **dict.fromkeys(("delta", "std-error", *_COUNT_KEYS), has_several_systems),
    }
    return [name for name in COLUMNS if conditions.get(name, True)]


def build_metric_columns(
    content: Content, metric: Content, names: Iterable[str], digits: int
) -> list[ColumnCells]:
    """Return the named columns that the table of a metric can have."""
    scores = [system["scores"][metric["name"]] for system in content["systems"]]
    available = list_columns(content, metric)
    columns: list[ColumnCells] = []
    for name in names:
        if name not in available:
            continue
        if name == "letter":
            columns.append((Column(""), [Cell(system["letter"]) for system in content["systems"]]))
        elif name == "system":
            columns.append(list(build_system_columns(content, scores))[-1])
        elif name in SCORE_COLUMNS:
            columns.append(_build_score_column(content, metric, name, digits))
        else:
            columns.append(_build_difference_column(content, metric, name, digits))
    return columns


def _build_score_column(content: Content, metric: Content, name: str, digits: int) -> ColumnCells:
    format_score = make_formatter(digits)
    scores = [system["scores"][metric["name"]] for system in content["systems"]]
    if name == "score":
        cells = build_score_cells(content, scores, format_score)
        return Column(format_metric_header(metric), "score"), cells
    tooltip, group = "", "score"
    if name == "interval":
        header = f"{format_percent(content['level'])} interval"
        texts = [format_interval(one["interval"], format_score) for one in scores]
    elif name == "runs":
        header, tooltip = "± runs", COLUMNS["runs"]
        texts = [
            f"{format_score(runs['deviation'])} ({len(runs['scores'])})" if runs else ""
            for runs in (one["runs"] for one in scores)
        ]
    elif name == "cluster":
        header, group, tooltip = "cluster", "cluster", COLUMNS["cluster"]
        # Unreliable scores have no cluster.
        texts = [str(one["cluster"] or "–") for one in scores]
    else:
        header, key = {"mean": ("mean", "mean"), "half-width": ("±", "half_width")}[name]
        intervals = [one["interval"] for one in scores]
        texts = [format_score(one[key]) if one else "" for one in intervals]
    return Column(header, group, tooltip=tooltip), list(map(Cell, texts))


def _build_difference_column(
    content: Content, metric: Content, name: str, digits: int
) -> ColumnCells:
    format_delta = make_signed_formatter(make_formatter(digits))
    unit = get_unit_name(content)
    header, group, tooltip, long_header = name, "difference", "", ""
    baseline_cell = Cell("")
    if name == "delta":
        header, tooltip = "Δ", f"score minus the score of {content['baseline']}"
        baseline_cell = Cell("baseline", mark="baseline")
    elif name == "delta-interval":
        header, tooltip = f"{format_percent(content['level'])} interval", COLUMNS[name]
    elif name == "std-error":
        header, tooltip = "std. error", COLUMNS[name]
    elif name == "p-uncorrected":
        header = "p"
    elif name == "p":
        header, tooltip = format_p_header(content), content["test"]["title"]
    elif name == "needed":
        group, tooltip, long_header = unit, COLUMNS[name], "segments needed for 80% power"
    else:
        group, long_header = unit, f"{unit} {name}"
        tooltip = f"{unit} that the system {name} against the baseline"

    def build_cell(one: Content) -> Cell:
        mark = get_difference_mark(one, metric) if name in ("delta", "p") else ""
        star = "*" if name == "p" and one["significant"] else ""
        texts: dict[str, Callable[[], str]] = {
            "delta": lambda: format_delta(one["value"]),
            "delta-interval": lambda: format_interval(one["interval"], format_delta),
            "std-error": lambda: make_formatter(digits + 1)(one["standard_error"]),
            "p-uncorrected": lambda: format_p_value(one["p"]),
            "p": lambda: _format_decisive_p(content, one),
            "needed": lambda: format_segments_needed(one["segments_needed"]),
        }
        return Cell(texts[name]() if name in texts else f"{one[_COUNT_KEYS[name]]:,}", star, mark)

    differences = [system["scores"][metric["name"]]["difference"] for system in content["systems"]]
    column = Column(header, group, tooltip=tooltip, long_header=long_header)
    return column, [baseline_cell if one is None else build_cell(one) for one in differences]


def list_ranges(
    content: Content, metric: Content
) -> tuple[list[tuple[float, float, float] | None], list[str]]:
    """Return the lower limit, value and upper limit of each difference, and its mark.

    For a single system, its score replaces the difference. Without an interval, None replaces the
    three numbers.
    """
    ranges, marks = [], []
    for system in content["systems"]:
        score = system["scores"][metric["name"]]
        entry = score["difference"] or {"interval": None}
        if len(content["systems"]) == 1:
            entry = {"interval": score["interval"], "value": score["score"], "significant": False}
        interval = entry["interval"]
        ranges.append(interval and (interval["low"], entry["value"], interval["high"]))
        marks.append(get_difference_mark(entry, metric) if "value" in entry else "")
    return ranges, marks


def build_interval_drawings(content: Content, metric: Content) -> Iterator[ColumnCells]:
    """Yield a column that draws the intervals of the differences on an axis that includes 0."""
    ranges, marks = list_ranges(content, metric)
    ends = [0.0, *(end for one in ranges if one is not None for end in one)]
    if min(ends) < max(ends):
        pairs = zip(ranges, marks, strict=True)
        cells = [Range(min(ends), max(ends), one, mark) for one, mark in pairs]
        yield Column("Δ plot", "drawings", is_drawing=True), cells


def build_score_cells(
    content: Content, scores: Iterable[Content], format_score: NumberFormatter
) -> list[Cell]:
    """Return cells with the scores, and with a mark on the best of several systems."""
    return [Cell(format_score(one["score"]), mark=get_best_mark(content, one)) for one in scores]


def get_baseline_letter(content: Content) -> str:
    """Return the letter of the baseline."""
    systems = content["systems"]
    return next((one["letter"] for one in systems if one["name"] == content["baseline"]), "")


def get_unit_name(content: Content) -> str:
    """Return the unit in which wins, ties and losses are counted."""
    return "buckets" if content["buckets"] else "segments"


def format_segments(segment_count: int, document_count: int | None) -> str:
    """Return the number of segments and, if documents are resampled, of documents.

    >>> format_segments(2037, 170)
    '2,037 segments in 170 documents'
    """
    documents = "" if document_count is None else f" in {format_count(document_count, 'document')}"
    return f"{format_count(segment_count, 'segment')}{documents}"


def format_p_header(content: Content) -> str:
    """Return the header of the p-value that determines significance."""
    correction = content["correction"]
    return f"p {correction['title']}" if correction else "p"


def build_table(column_cells: Sequence[ColumnCells], caption: str = "", fold: str = "") -> Table:
    """Return a table built from columns and their cells."""
    columns, cells = zip(*column_cells, strict=True)
    return Table(columns, list(zip(*cells, strict=True)), caption=caption, fold=fold)


def can_rank(content: Content, metric: str) -> bool:
    """Return whether a metric ranks any system. Systems with unreliable scores have no rank."""
    return any(system["scores"][metric]["rank"] is not None for system in content["systems"])


def build_system_columns(
    content: Content, scores: Sequence[Content | None] = ()
) -> Iterator[ColumnCells]:
    """Yield the column of system names, preceded by a column of letters for several systems."""
    systems = content["systems"]
    best_marks = [get_best_mark(content, score) for score in scores] or [""] * len(systems)
    if len(systems) > 1:
        yield Column(""), [Cell(system["letter"]) for system in systems]
    names = [Cell(one["name"], mark=mark) for one, mark in zip(systems, best_marks, strict=True)]
    yield Column("system", is_left_aligned=True), names


def get_best_mark(content: Content, score: Content | None) -> str:
    """Return the mark "best" for the best of several systems, otherwise an empty string."""
    return "best" if score and len(content["systems"]) > 1 and score["rank"] == 1 else ""


def format_metric_header(metric: Content) -> str:
    """Return a metric's name with an arrow that points in the better direction."""
    return f"{metric['name']} {'↑' if metric['higher_is_better'] else '↓'}"


def format_interval(
    interval: Mapping[str, float] | None,
    format_score: NumberFormatter,
    missing: str = "n too small",
) -> str:
    """Return the interval limits in brackets, or `missing` if there is no interval."""
    if interval is None:
        return missing
    return f"[{format_score(interval['low'])}, {format_score(interval['high'])}]"


def get_decisive_p(difference: Content) -> float | None:
    """Return the p-value that determines significance: the corrected p-value if there is one."""
    corrected: float | None = difference["corrected_p"]
    p: float | None = difference["p"]
    return p if corrected is None else corrected


def _format_decisive_p(content: Content, difference: Content) -> str:
    """Format the p-value that determines significance, consistently with the significance mark."""
    text = format_p_value(get_decisive_p(difference))
    alpha = content["test"]["alpha"]
    rounds_to_alpha = (
        difference["significant"] and not text.startswith("<") and float(text) >= alpha
    )
    return f"<{alpha:g}" if rounds_to_alpha else text


def format_p_equation(content: Content, difference: Content) -> str:
    """Return the p-value that determines significance as text, such as "p Holm < 0.001"."""
    p_text = _format_decisive_p(content, difference)
    equation = f"< {p_text[1:]}" if p_text.startswith("<") else f"= {p_text}"
    return f"{format_p_header(content)} {equation}"


def get_difference_mark(difference: Content, metric: Content) -> str:
    """Return "better" or "worse" for a significant difference, otherwise an empty string."""
    if not difference["significant"]:
        return ""
    return "better" if (difference["value"] > 0) == metric["higher_is_better"] else "worse"


def get_score_digits(content: Content, metric: Content, digits: int | None) -> int:
    """Return the number of decimals to show for a metric's scores; small scores get more.

    digits: number of decimals on a 0-100 scale; None for the default, 1.
    """
    suitable: int | None = metric["digits"]
    if digits is None and content.get("scale") == 1 and metric.get("percentage"):
        digits = 1 + MORE_DIGITS
    if suitable is None:
        scores = [abs(system["scores"][metric["name"]]["score"]) for system in content["systems"]]
        largest = max(scores)
        suitable = max(0, min(3 - floor(log10(largest)), 17)) if largest else 3
    return suitable + (0 if digits is None else digits - 1)
