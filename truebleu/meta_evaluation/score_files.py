"""Scores of systems on items, and readers of score files.

The content of a file determines its format: lines with a system and a score, grouped by system
(mt-metrics-eval); columns `system`, `..score` and `seg_id` (Google's MQM); WMT's direct assessments
(`SYS SID RAW.SCR Z.SCR N`, and `RAW.SCR Z.SCR N SYS`); one MQM error with severity and category per
row; one JSON object per line (ESA); and long tables (TSV, CSV, Parquet) with named columns.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, isnan, nan
from typing import Any

from truebleu._kernel import InputError, holes, score_lines
from truebleu.text import argument_checks
from truebleu.text.argument_checks import (
    MAX_SCORE,
    check_sequence,
    parse_json,
    read_csv,
    suggest_names,
    to_score,
)
from truebleu.text.segments import File, check_text_start, get_table_format
from truebleu.text.terminal_layout import format_count

# Maximum number of names listed in a message.
MAX_LISTED_NAMES = 6
# Similarity of names, from 0 to 1, from which one may be a misspelling of the other.
MIN_SIMILARITY = 0.6
# Weights of MQM errors (Markus Freitag et al. 2021: Experts, errors, and context. TACL). The most
# specific name applies, ignoring case; other errors have weight 0.
MQM_WEIGHTS: Mapping[str, float] = {
    "major": 5.0,
    "minor": 1.0,
    "minor/fluency/punctuation": 0.1,
    "major/non-translation!": 25.0,
    "non-translation": 25.0,
}
# Default column names of long tables.
SYSTEM_COLUMNS = ("system", "sys", "system_id", "system_name", "model")
ITEM_COLUMNS = (
    *("seg_id", "segment", "item", "item_id", "line", "segid", "globalsegid", "segment_id", "sid"),
)
# Names of item columns whose numbers are unique across documents.
GLOBAL_ITEM_COLUMNS = ("seg_id", "sid", "globalsegid", "line")
DOCUMENT_COLUMNS = ("doc_id", "doc", "document", "document_id", "docid")
SCORE_COLUMNS = ("score", "mqm_avg_score", "esa_score", "raw.scr", "raw_score", "mqm", "da")
# The item name in tables of system scores.
WHOLE_SET_ITEM = ""


class Matrix:
    """Scores of systems on items, with one row per system. Missing scores are NaN.

    systems: the names, in row order. values: the concatenated rows.
    A matrix of system scores has one item.
    """

    __slots__ = ("items", "systems", "values")

    def __init__(self, systems: Sequence[str], values: array[float]) -> None:
        self.systems = tuple(systems)
        self.items = len(values) // max(1, len(self.systems))
        self.values = values
        if len(set(self.systems)) != len(self.systems) or not self.systems:
            raise InputError("scores: expected at least one system and no duplicate names")

    @classmethod
    def from_scores(cls, scores: Any, description: str = "scores") -> Matrix:
        """Build a matrix from a mapping of names to scores, from rows of scores, or from one row.

        None and NaN are missing scores. Raises InputError, with `description`, for rows of
        different lengths and for values that are not numbers.
        """
        if isinstance(scores, Matrix):
            return scores
        if hasattr(scores, "items") and hasattr(scores, "keys"):
            rows_by_system = {str(name): row for name, row in scores.items()}
        else:
            rows = check_sequence(description, scores, "scores")
            rows = rows if rows and hasattr(rows[0], "__len__") else [rows]
            rows_by_system = {f"row {i}": row for i, row in enumerate(rows, 1)}
        values: array[float] = array("d")
        lengths = {}
        for name, row in rows_by_system.items():
            cells = [row] if isinstance(row, int | float) or row is None else row
            before = len(values)
            for i, value in enumerate(cells, 1):
                try:
                    values.append(nan if value is None else to_score(value))
                except ValueError:
                    raise InputError(
                        f"{description}: {name}: score {i} is {value!r:.40}; expected a "
                        "number, or None for a missing score"
                    ) from None
            lengths[name] = len(values) - before
        longest = max(lengths.values(), default=0)
        for name, length in lengths.items():
            if length != longest:
                raise InputError(
                    f"{description}: {name} has {format_count(length, 'score')}, but others have "
                    f"{longest:,}. Use one score per item, or None for a missing score."
                )
        return cls(list(rows_by_system), values)

    def get_row(self, system: str) -> array[float]:
        """Return the scores of a system."""
        start = self.systems.index(system) * self.items
        return self.values[start : start + self.items]

    def select_systems(self, systems: Sequence[str]) -> Matrix:
        """Return a matrix of the given systems, in that order."""
        if tuple(systems) == self.systems:
            return self
        values: array[float] = array("d")
        for system in systems:
            values.extend(self.get_row(system))
        return Matrix(systems, values)

    def select_items(self, items: Sequence[int]) -> Matrix:
        """Return a matrix of the given items, in that order."""
        values: array[float] = array("d")
        for start in range(0, len(self.values), max(1, self.items)):
            row = self.values[start : start + self.items]
            values.extend(map(row.__getitem__, items))
        return Matrix(self.systems, values)

    def list_rated_items(self) -> list[int]:
        """Return the items with a score for at least one system."""
        rows = [self.get_row(system) for system in self.systems]
        return [i for i in range(self.items) if any(not isnan(row[i]) for row in rows)]

    def list_complete_items(self) -> list[int]:
        """Return the items with a score for every system."""
        rows = [self.get_row(system) for system in self.systems]
        return [i for i in range(self.items) if not any(isnan(row[i]) for row in rows)]

    def count_scores(self) -> dict[str, int]:
        """Return the number of items with a score, by system."""
        return {name: sum(not isnan(one) for one in self.get_row(name)) for name in self.systems}

    def compute_means(self, groups: Sequence[Hashable] | None = None) -> Matrix:
        """Return each system's mean score, or its mean per group of items."""
        keys = [None] * self.items if groups is None else groups
        values: array[float] = array("d")
        for system in self.systems:
            parts: dict[Hashable, list[float]] = {key: [] for key in keys}
            for key, value in zip(keys, self.get_row(system), strict=True):
                if not isnan(value):
                    parts[key].append(value)
            values.extend(fsum(part) / len(part) if part else nan for part in parts.values())
        return Matrix(self.systems, values)

    def to_bytes(self) -> bytes:
        """Return the values in the format of the kernel."""
        return self.values.tobytes()

    def __repr__(self) -> str:
        return f"<Matrix of {len(self.systems)} systems and {format_count(self.items, 'item')}>"


def format_names(names: Iterable[str]) -> str:
    """Return the first names and the number of other names, for a message.

    >>> format_names("abcdefgh")
    'a, b, c, d, e, f and 2 more'
    """
    name_list = list(names)
    unlisted = len(name_list) - MAX_LISTED_NAMES
    ending = f" and {unlisted} more" if unlisted > 0 else ""
    return f"{', '.join(name_list[:MAX_LISTED_NAMES])}{ending}"


def warn_about_misspelt_names(
    source: str, counts: Mapping[str, int], systems: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield a warning for each name that is probably a misspelt name of one of the systems.

    It is similar to the name of a system that has more than twice as many entries.
    counts: the number of entries in the source, by name.
    """
    names = {system.lower(): system for system in systems}
    for name, count in counts.items():
        system = names.get(argument_checks.find_closest(name, names, MIN_SIMILARITY), "")
        if name not in systems and 2 * count < counts.get(system, 0):
            text = (
                f"{source}: left out {format_count(count, 'segment')} of '{name}', which is not a "
                f"system; did you mean '{system}'?"
            )
            yield {"kind": "misspelt name", "systems": [system], "text": text}


def align_metric(gold: Matrix, metric: Matrix, metric_name: str) -> Matrix:
    """Return a metric's scores in the system order of the human scores.

    Raises InputError for missing systems, for different numbers of items, and for cells that
    have only a human score. `metric_name` is the name of the metric in messages.
    """
    metric_systems = set(metric.systems)
    missing = [system for system in gold.systems if system not in metric_systems]
    if missing:
        hint = suggest_names(missing[0], metric.systems) if len(missing) == 1 else ""
        raise InputError(
            f"{metric_name}: no scores for {format_count(len(missing), 'system')} with human "
            f"scores: {format_names(missing)}{hint}. Add their scores, or leave the systems out "
            "(--outliers)."
        )
    if metric.items != gold.items:
        raise InputError(
            f"{metric_name}: {format_count(metric.items, 'item')} per system, but human scores "
            f"have {gold.items:,}. Both must contain the same items in the same order."
        )
    selected = metric.select_systems(gold.systems)
    missing_cells = holes(gold.to_bytes(), selected.to_bytes())
    if missing_cells:
        system, item = divmod(missing_cells[0], gold.items)
        location = f" (first: {gold.systems[system]}, item {item + 1})" if gold.items > 1 else ""
        raise InputError(
            f"{metric_name}: no score in {format_count(len(missing_cells), 'cell')} with a human "
            f"score{location}. Each human score needs a metric score."
        )
    return selected


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores from a file: a matrix, and the names of its items, if any."""

    matrix: Matrix
    items: Sequence[Any] | None = None
    """The names of items, in order, or None for items without names."""

    def extend_matrix(self, item_count: int, description: str) -> Matrix:
        """Return the matrix extended to `item_count` items. Each item is placed by its number.

        Numbers start at 1, or at 0 if there is an item 0. Other cells are missing.
        """
        names = self.items
        if names is None or self.matrix.items == item_count:
            return self.matrix
        numbers = [number for number in map(_parse_item_name, names) if isinstance(number, int)]
        start = 0 if 0 in numbers else 1
        outside = any(not start <= number < item_count + start for number in numbers)
        if len(numbers) < len(names) or not numbers or outside:
            raise InputError(
                f"{description}: found {format_count(self.matrix.items, 'item')}, but "
                f"{item_count:,} are scored. Items may be missing only if they are numbered from 1."
            )
        rows: dict[str, list[float]] = {}
        for system in self.matrix.systems:
            row = rows[system] = [nan] * item_count
            for number, value in zip(numbers, self.matrix.get_row(system), strict=True):
                row[number - start] = value
        return Matrix.from_scores(rows, description)


# ---- files ----


def read_score_file(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> ScoreTable:
    """Read the scores in a file of any known format.

    columns: for long tables, the names of the columns `system`, `item` (or `document` and `item`)
        and `score`. weights: weights of MQM errors, by name (default: `MQM_WEIGHTS`).

    Raises InputError, with the file and line, for content in other formats.
    """
    name, columns = os.fspath(path), columns or {}
    if get_table_format(name) == "parquet":
        return _parse_long_table(name, _read_parquet(name), columns)
    content = File(name).read_bytes()
    check_text_start(content[: 1 << 16], name)
    start = content.lstrip()[:4096].split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    if not start:
        raise InputError(f"{name}: the file is empty; expected scores")
    # Columns are separated by a tab, a comma, or white space (None).
    separator = next((mark for mark in "\t," if mark in start), None)
    header = {word.strip().lower() for word in start.split(separator)}
    is_mqm = {"severity", "category", "system"} <= header
    has_scores = any("score" in word or "scr" in word for word in header)
    is_table = is_mqm or (has_scores and not header.isdisjoint(SYSTEM_COLUMNS))
    if not columns and not start.startswith("{") and not is_table:
        return _parse_score_lines(name, content)
    lines = [line.rstrip("\r") for line in File(name).read_lines()]
    if start.startswith("{"):
        return _parse_long_table(name, read_json_lines(name, lines), columns)
    rows = read_table_rows(name, lines, separator)
    if is_mqm and not columns:
        return _parse_mqm_errors(name, rows, weights or MQM_WEIGHTS)
    return _parse_long_table(name, rows, columns)


def _parse_score_lines(path: str, content: bytes) -> ScoreTable:
    """Parse lines with a system and a score (or None), grouped by system, with items in order."""
    try:
        blocks, scores = score_lines(content.rstrip() + b"\n")
    except ValueError as error:
        number = int(error.args[0])
        line = content.split(b"\n")[number - 1].decode("utf-8", "replace").strip()
        raise InputError(
            f"{path}, line {number}: expected a system and a score or None, found '{line:.60}'. "
            "For a table with other columns, name them: truebleu meta --columns system=NAME "
            "score=NAME."
        ) from None
    lengths: dict[str, int] = {}
    for system, length in blocks:
        if system in lengths:
            raise InputError(
                f"{path}, line {sum(lengths.values()) + 1}: system {system} reappears after "
                "another system. The lines of a system must be consecutive."
            )
        lengths[system] = length
    length_list = list(lengths.values())
    common_length = max(length_list, key=length_list.count)
    odd = [name for name, length in lengths.items() if length != common_length]
    if odd:
        raise InputError(
            f"{path}: {odd[0]} has {format_count(lengths[odd[0]], 'score')}, but other "
            f"systems have {common_length:,} (exceptions: {format_names(odd)}). Each system "
            "needs a line for every item."
        )
    values = array("d")
    values.frombytes(scores)
    is_large = list(map(MAX_SCORE.__lt__, map(abs, values)))
    if True in is_large:
        i = is_large.index(True)
        raise InputError(f"{path}, line {i + 1}: {values[i]:g} is not a finite score")
    return ScoreTable(Matrix(list(lengths), values))


def read_table_rows(
    path: str, lines: Sequence[str], separator: str | None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows below a table's header, with their line numbers."""
    if separator == ",":
        numbered = read_csv(path, lines)
    else:
        numbered = ((number, line.split(separator)) for number, line in enumerate(lines, 1))
    header: list[str] = []
    for number, cells in numbered:
        if not any(cells):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
        elif len(cells) < len(header):
            raise InputError(
                f"{path}, line {number}: expected {format_count(len(header), 'column')}, as in "
                f"the header, found {len(cells)}"
            )
        else:
            yield number, dict(zip(header, cells, strict=False))


def read_json_lines(path: str, lines: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield JSON objects, one per line, with their line numbers."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        parsed = parse_json(line, path, number)
        if not isinstance(parsed, dict):
            raise InputError(f"{path}, line {number}: expected a JSON object")
        yield number, parsed


def _read_parquet(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet requires pyarrow, which is missing: pip install pyarrow"
        ) from None
    try:
        yield from enumerate(parquet.read_table(path).to_pylist(), 1)
    except OSError:
        raise
    except ValueError as error:  # pyarrow's errors are subclasses of ValueError
        raise InputError(f"{path}: not Parquet: {error}") from None


def _parse_long_table(
    path: str, rows: Iterable[tuple[int, dict[str, Any]]], columns: Mapping[str, str]
) -> ScoreTable:
    """Return the scores by system and item, as means over annotators."""
    row_list = list(rows)
    if not row_list:
        raise InputError(f"{path}: no rows")
    header = list(row_list[0][1])
    written = {word.strip().lower(): word for word in header}

    def find_column(role: str, default_names: Sequence[str]) -> str | None:
        name = columns.get(role)
        if name is None:
            return next((written[one] for one in default_names if one in written), None)
        if name not in header:
            raise InputError(
                f"{path}: no column '{name}' for the {role}{suggest_names(name, header)}"
            )
        return name

    system, score = find_column("system", SYSTEM_COLUMNS), find_column("score", SCORE_COLUMNS)
    item = find_column("item", ITEM_COLUMNS)
    document = find_column("document", () if "item" in columns else DOCUMENT_COLUMNS)
    if system is None or score is None:
        missing_role = "system" if system is None else "score"
        raise InputError(
            f"{path}: no {missing_role} column found among {', '.join(header)}. Name it "
            f"(truebleu meta --columns {missing_role}=NAME)."
        )
    is_global = item is None or item.strip().lower() in GLOBAL_ITEM_COLUMNS
    in_document = None if is_global else document
    cells: list[tuple[str, Any, float]] = []
    for number, row in row_list:
        location = f"{path}, line {number}"
        value = _parse_score(location, row.get(score), score)
        name = row.get(system)
        if name in (None, ""):
            raise InputError(f"{location}: column '{system}' is empty (expected a system)")
        for key_column in filter(None, (system, item, document)):
            cell = row.get(key_column)
            if isinstance(cell, list | dict) or (isinstance(cell, float) and not isfinite(cell)):
                raise InputError(
                    f"{location}: column '{key_column}' contains {cell!r:.40}; expected a name or "
                    "a number"
                )
        item_key: Any = WHOLE_SET_ITEM if item is None else row.get(item)
        if in_document is not None:
            item_key = (row.get(in_document), item_key)
        cells.append((str(name).strip(), item_key, value))
    return _build_table_from_cells(path, cells)


def _parse_score(location: str, value: Any, column: str) -> float:
    """Return the score in a cell, or NaN if it is missing."""
    if isinstance(value, str) and value.strip() in ("", "None", "NaN", "nan", "NA"):
        return nan
    if value is None or value != value:  # JSON's NaN  # noqa: PLR0124
        return nan
    try:
        return to_score(value)
    except ValueError:
        raise InputError(
            f"{location}: column '{column}' contains {argument_checks.format_value(value)}; "
            "expected a score, or None"
        ) from None


def _build_table_from_cells(path: str, cells: Sequence[tuple[str, Any, float]]) -> ScoreTable:
    """Return a matrix of scores by system and item, averaged over repeated entries."""
    parts: dict[str, dict[Any, list[float]]] = {}
    items: dict[Any, None] = {}
    for system, item, value in cells:
        items[_parse_item_name(item)] = None
        cell_values = parts.setdefault(system, {}).setdefault(_parse_item_name(item), [])
        if not isnan(value):
            cell_values.append(value)
    names = list(items)
    if all(isinstance(name, int) for name in names):
        names.sort()
    rows = {
        system: [fsum(known[name]) / len(known[name]) if known.get(name) else nan for name in names]
        for system, known in parts.items()
    }
    return ScoreTable(Matrix.from_scores(rows, path), None if names == [WHOLE_SET_ITEM] else names)


def _parse_item_name(item: Any) -> Any:
    """Return the name of an item, as an integer if it is a number."""
    if isinstance(item, str) and argument_checks.is_whole_number(item.strip()):
        return int(item)
    return item


# ---- MQM with errors ----


def parse_mqm_weights(text: str) -> dict[str, float]:
    """Parse error weights, such as `major:5 minor:1 minor/Fluency/Punctuation:0.1`.

    Raises ValueError for invalid text.
    """
    weights = {}
    for word in text.split():
        name, _, number = word.rpartition(":")
        try:
            weights[name.lower()] = to_score(number) if name else nan
        except ValueError:
            weights[name.lower()] = nan
        if isnan(weights[name.lower()]):
            raise ValueError(f"mqm_weights: expected ERROR:WEIGHT, such as major:5, found '{word}'")
    return weights


def get_error_weight(
    severity: str, category: str, weights: Mapping[str, float] = MQM_WEIGHTS
) -> float:
    """Return the weight of an error's most specific name.

    >>> get_error_weight("Minor", "Fluency/Punctuation"), get_error_weight("Minor", "Style")
    (0.1, 1.0)
    """
    parts = [severity.strip().lower(), *(part.strip().lower() for part in category.split("/"))]
    names = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((weights[name] for name in names if name in weights), 0)


def _parse_mqm_errors(
    path: str, rows: Iterable[tuple[int, dict[str, str]]], weights: Mapping[str, float]
) -> ScoreTable:
    """Return negative error weights, summed per annotator and averaged over annotators."""
    raters: dict[str, dict[Any, dict[str, float]]] = {}
    for number, row in rows:
        lower = {name.lower(): value for name, value in row.items()}
        document = lower.get("doc") or lower.get("doc_id") or ""
        item = lower.get("globalsegid") or lower.get("seg_id")
        place: Any = _parse_item_name(item) if item else (document, lower.get("doc_id") or number)
        rater_sums = raters.setdefault(lower["system"], {}).setdefault(place, {})
        rater = lower.get("rater", "")
        error = get_error_weight(lower["severity"], lower["category"], weights)
        rater_sums[rater] = rater_sums.get(rater, 0.0) + error
    cells = [
        (system, item, 0.0 - fsum(sums.values()) / len(sums))
        for system, items in raters.items()
        for item, sums in items.items()
    ]
    return _build_table_from_cells(path, cells)
