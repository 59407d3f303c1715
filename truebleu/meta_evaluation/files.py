"""People's scores and metrics' scores from files; what a file is, its content says.

Known: lines of a system and a score, systems in blocks (mt-metrics-eval); columns `system`,
`..score` and `seg_id` (Google's MQM); WMT's direct assessments (`SYS SID RAW.SCR Z.SCR N`, and
`RAW.SCR Z.SCR N SYS`); MQM errors with severity and category, a row each; ESA, an object of JSON a
line; and long tables (TSV, CSV, Parquet) whose columns are named.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError, score_lines
from truebleu.meta_evaluation.matrix import Matrix, some
from truebleu.text import checks
from truebleu.text.checks import first_unbounded, nearest, parse_json, read_csv, to_score
from truebleu.text.layout import count
from truebleu.text.record import Record
from truebleu.text.segments import File, check_start, table_format

if TYPE_CHECKING:
    # A system, an item, a score.
    Cell = tuple[str, Any, float]

# Weights of MQM's errors (Markus Freitag et al. 2021: Experts, errors, and context. TACL): the most
# specific name counts, in any case; every other error weighs nothing.
MQM_WEIGHTS: Mapping[str, float] = {
    "major": 5.0,
    "minor": 1.0,
    "minor/fluency/punctuation": 0.1,
    "major/non-translation!": 25.0,
    "non-translation": 25.0,
}
# What the columns of long tables are called where nobody says it.
SYSTEMS = ("system", "sys", "system_id", "system_name", "model")
ITEMS = ("seg_id", "segment", "item", "item_id", "line", "segid", "globalsegid", "segment_id")
DOCUMENTS = ("doc_id", "doc", "document", "document_id", "docid")
SCORES = ("score", "mqm_avg_score", "esa_score", "raw.scr", "raw_score", "mqm", "da")
ONE_ITEM = ""


class Scored(Record):
    """Scores as a file has them: a matrix, and what its items are called, if anything."""

    matrix: Matrix
    items: Sequence[Any] | None
    """The names of items, in order; None where lines say no more than their order."""
    kind: str
    """What the file is, in words."""

    __hash__ = None  # type: ignore[assignment]

    def placed(self, items: int, what: str) -> Matrix:
        """The matrix with so many items, each where its number says; others are holes.

        Numbers are counted from 1, or from 0 where there is a 0.
        """
        names = self.items
        if names is None or self.matrix.items == items:
            return self.matrix
        numbers = list(map(_item, names))
        if not all(isinstance(number, int) for number in numbers):
            numbers = []
        start = 0 if 0 in numbers else 1
        if not numbers or max(numbers) - start >= items or min(numbers) < start:
            raise InputError(
                f"{what}: {count(self.matrix.items, 'item')} there, and {items:,} are scored; only "
                "items that are numbered from 1 can be put in their places"
            )
        rows: dict[str, list[float]] = {}
        for system in self.matrix.systems:
            row = rows[system] = [nan] * items
            for number, value in zip(numbers, self.matrix.row(system), strict=True):
                row[number - start] = value
        return Matrix.of(rows, what)


def read(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Scored:
    """Scores from a file of any known kind.

    columns: for long tables, the names of the columns `system`, `item` (or `document` and `item`)
        and `score`. weights: of errors of MQM, by name; the usual ones if not given.

    Raises InputError, which names the file and the line, for what is none.
    """
    name = os.fspath(path)
    if table_format(name) == "parquet":
        return _long(name, _parquet(name), columns or {})
    content = File(name).content()
    check_start(content[: 1 << 16], name)
    start = content.lstrip()[:4096].split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    if not start:
        raise InputError(f"{name}: the file is empty; expected scores")
    if not columns and not start.startswith("{") and _header(start) is None:
        return _blocks(name, content)
    lines = [line.rstrip("\r") for line in File(name).lines()]
    if start.startswith("{"):
        return _long(name, _objects(name, lines), columns or {})
    rows = _rows(name, lines, _separator(start))
    if not columns and _header(start) == MQM:
        return _mqm(name, rows, weights or MQM_WEIGHTS)
    return _long(name, rows, columns or {})


# What the header of a table says that it is.
MQM, LONG = "errors of MQM", "a table"


def _header(line: str) -> str | None:
    """What a first line is the header of; None if it is none."""
    separator = _separator(line)
    words = line.split(separator) if separator else line.split()
    header = [word.strip().lower() for word in words]
    if {"severity", "category", "system"} <= set(header):
        return MQM
    scored = any("score" in word or "scr" in word for word in header)
    return LONG if scored and _named(header, SYSTEMS) else None


# ---- lines of a system and a score ----


def _blocks(path: str, content: bytes) -> Scored:
    """Lines of a system and a score or None: the systems in blocks, the items in order."""
    try:
        blocks, scores = score_lines(content.rstrip() + b"\n")
    except ValueError as error:
        number = int(error.args[0])
        line = content.split(b"\n")[number - 1].decode("utf-8", "replace").strip()
        raise InputError(
            f"{path}, line {number}: expected a system and a score or None, not '{line:.60}'; a "
            f"table with other columns needs their names (--columns system=NAME score=NAME)"
        ) from None
    lengths: dict[str, int] = {}
    before = 0
    for system, length in blocks:
        if system in lengths:
            raise InputError(
                f"{path}, line {before + 1}: system {system} again after another one; the lines "
                "of a system must follow each other"
            )
        lengths[system] = length
        before += length
    known = list(lengths.values())
    usual = max(known, key=known.count)
    odd = [name for name, length in lengths.items() if length != usual]
    if odd:
        raise InputError(
            f"{path}: {count(lengths[odd[0]], 'score')} of {odd[0]}, and {usual:,} of other systems"
            f" ({count(len(odd), 'system')} differ: {some(odd)}); each needs a line for every item"
        )
    values = array("d")
    values.frombytes(scores)
    large = first_unbounded(values)
    if large is not None:
        raise InputError(f"{path}, line {large + 1}: {values[large]:g} is not a finite score")
    return Scored(Matrix(list(lengths), values), None, "a system and a score a line")


# ---- tables ----


def _separator(header: str) -> str | None:
    """What separates the columns: a tab, a comma, or white space (None)."""
    if "\t" in header:
        return "\t"
    return "," if "," in header else None


def _rows(
    path: str, lines: Sequence[str], separator: str | None
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a header, each with the number of its line."""
    if separator == ",":
        read = read_csv(path, lines)
    else:
        read = ((number, line.split(separator)) for number, line in enumerate(lines, 1))
    header: list[str] = []
    for number, cells in read:
        if not any(cells):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
        elif len(cells) < len(header):
            raise InputError(
                f"{path}, line {number}: {count(len(cells), 'column')}, and the header names "
                f"{len(header)}"
            )
        else:
            yield number, dict(zip(header, cells, strict=False))


def _objects(path: str, lines: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of JSON, one a line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = parse_json(line, path, number)
        if not isinstance(found, dict):
            raise InputError(f"{path}, line {number}: expected an object of JSON")
        yield number, found


def _parquet(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{path}: Parquet is read with pyarrow, which is not installed: pip install pyarrow"
        ) from None
    try:
        yield from enumerate(parquet.read_table(path).to_pylist(), 1)
    except OSError:
        raise
    except ValueError as error:  # pyarrow's errors are of that kind
        raise InputError(f"{path}: not Parquet: {error}") from None


def _named(header: Iterable[str], names: Sequence[str]) -> str | None:
    """The first of these names that a header has, as it is written there."""
    written = {word.strip().lower(): word for word in header}
    return next((written[name] for name in names if name in written), None)


def _column(
    path: str, header: Sequence[str], what: str, columns: Mapping[str, str], usual: Sequence[str]
) -> str | None:
    given = columns.get(what)
    if given is None:
        return _named(header, usual)
    if given not in header:
        raise InputError(f"{path}: no column '{given}' for the {what}{nearest(given, header)}")
    return given


def _long(
    path: str, rows: Iterable[tuple[int, dict[str, Any]]], columns: Mapping[str, str]
) -> Scored:
    """A row per system and item, perhaps of several raters: their mean."""
    known = list(rows)
    if not known:
        raise InputError(f"{path}: no rows")
    header = list(known[0][1])
    system = _column(path, header, "system", columns, SYSTEMS)
    score = _column(path, header, "score", columns, SCORES)
    item = _column(path, header, "item", columns, (*ITEMS, "sid"))
    document = _column(path, header, "document", columns, () if "item" in columns else DOCUMENTS)
    for what, found in (("system", system), ("score", score)):
        if found is None:
            raise InputError(
                f"{path}: which column is the {what}? There are {', '.join(header)}; name it "
                f"(--columns {what}=NAME)"
            )
    by_number = item is not None and item.strip().lower() in (
        "seg_id",
        "sid",
        "globalsegid",
        "line",
    )
    cells: list[Cell] = []
    for number, row in known:
        where = f"{path}, line {number}"
        value = _score(where, row.get(score or ""), score or "")
        name = row.get(system or "")
        if name in (None, ""):
            raise InputError(f"{where}: no system in column '{system}'")
        for column in filter(None, (system, item, document)):
            _check_name(where, column, row.get(column))
        at: Any = ONE_ITEM
        if item is not None:
            at = row.get(item)
            if document is not None and not by_number:
                at = (row.get(document), at)
        cells.append((str(name).strip(), at, value))
    return _of_cells(path, cells, LONG)


def _score(where: str, text: Any, column: str) -> float:
    if text is None or (isinstance(text, str) and text.strip() in ("", "None", "NaN", "nan", "NA")):
        return nan
    if text != text:  # JSON's NaN  # noqa: PLR0124
        return nan
    try:
        return to_score(text)
    except ValueError:
        raise InputError(
            f"{where}: column '{column}' has {checks.shown(text)}; expected a score, or None"
        ) from None


def _check_name(where: str, column: str, value: Any) -> None:
    """Refuse a name of a system, an item or a document that is neither text nor a number."""
    if isinstance(value, list | dict) or (isinstance(value, float) and not isfinite(value)):
        raise InputError(
            f"{where}: column '{column}' has {value!r:.40}; expected a name or a number"
        )


def _of_cells(path: str, cells: Sequence[Cell], kind: str) -> Scored:
    """A matrix of scores by system and item, each the mean of what was given for it."""
    parts: dict[str, dict[Any, list[float]]] = {}
    items: dict[Any, None] = {}
    for system, item, value in cells:
        items[_item(item)] = None
        found = parts.setdefault(system, {}).setdefault(_item(item), [])
        if not isnan(value):
            found.append(value)
    names = list(items)
    if all(isinstance(name, int) for name in names):
        names.sort()
    rows = {
        system: [fsum(known[name]) / len(known[name]) if known.get(name) else nan for name in names]
        for system, known in parts.items()
    }
    whole = names == [ONE_ITEM]
    return Scored(Matrix.of(rows, path), None if whole else names, kind)


def _item(item: Any) -> Any:
    """The name of an item: a number where it is one."""
    if isinstance(item, str) and checks.is_whole_number(item.strip()):
        return int(item)
    return item


# ---- MQM with errors ----


def mqm_weights(text: str) -> dict[str, float]:
    """Weights as they are written: `major:5 minor:1 minor/Fluency/Punctuation:0.1`.

    Raises ValueError for what is not of that form.
    """
    made = {}
    for word in text.split():
        name, mark, weight = word.rpartition(":")
        try:
            made[name.lower()] = to_score(weight)
        except ValueError:
            mark = ""
        if not mark or not name or isnan(made[name.lower()]):
            raise ValueError(f"weights of MQM: expected ERROR:WEIGHT, as major:5, not '{word}'")
    return made


def weight(severity: str, category: str, weights: Mapping[str, float] = MQM_WEIGHTS) -> float:
    """The weight of an error: that of its most specific name.

    >>> weight("Minor", "Fluency/Punctuation"), weight("Minor", "Style"), weight("no-error", "")
    (0.1, 1.0, 0)
    """
    parts = [severity.strip().lower(), *(part.strip().lower() for part in category.split("/"))]
    while parts:
        known = weights.get("/".join(parts))
        if known is not None:
            return known
        parts.pop()
    return 0


def _mqm(
    path: str, rows: Iterable[tuple[int, dict[str, str]]], weights: Mapping[str, float]
) -> Scored:
    """A row per error: the sum of a rater's weights, their mean over raters, less than 0."""
    raters: dict[str, dict[Any, dict[str, float]]] = {}
    for number, row in rows:
        lower = {name.lower(): value for name, value in row.items()}
        document = lower.get("doc") or lower.get("doc_id") or ""
        item = lower.get("globalsegid") or lower.get("seg_id")
        place: Any = _item(item) if item else (document, lower.get("doc_id") or number)
        found = raters.setdefault(lower["system"], {}).setdefault(place, {})
        rater = lower.get("rater", "")
        error = weight(lower["severity"], lower["category"], weights)
        found[rater] = found.get(rater, 0.0) + error
    cells = [
        (system, item, 0.0 - fsum(sums.values()) / len(sums))
        for system, items in raters.items()
        for item, sums in items.items()
    ]
    return _of_cells(path, cells, MQM)
