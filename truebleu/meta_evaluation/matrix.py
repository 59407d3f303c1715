"""Scores of systems on items, with holes: what people gave, and what a metric gives."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, isnan, nan
from typing import Any

from truebleu._kernel import InputError, holes
from truebleu.text.checks import nearest, to_score
from truebleu.text.layout import count

# Names that a message lists before it says how many more there are.
LISTED = 6


class Matrix:
    """Scores of systems on items, system after system; NaN where there is none.

    systems: their names, in the order of the rows. values: the rows, one behind the other.
    Scores of whole systems are a matrix with one item.
    """

    __slots__ = ("items", "systems", "values")

    def __init__(self, systems: Sequence[str], values: array[float]) -> None:
        self.systems = tuple(systems)
        self.items = len(values) // max(1, len(self.systems))
        self.values = values
        if len(set(self.systems)) != len(self.systems) or not self.systems:
            raise InputError("scores: every system needs a name of its own, and there must be one")

    @classmethod
    def of(cls, scores: Any, what: str = "scores") -> Matrix:
        """From a mapping of names to a score or scores, from rows of scores, or from one row.

        None and NaN are holes. Raises InputError, which begins with `what`, for rows of different
        lengths and for what is no number.
        """
        if isinstance(scores, Matrix):
            return scores
        if hasattr(scores, "items") and hasattr(scores, "keys"):
            rows = {str(name): _row(row, f"{what}: {name}") for name, row in scores.items()}
        else:
            found = list(scores)
            if not found or not hasattr(found[0], "__len__"):
                found = [found]
            rows = {f"row {i}": _row(row, f"{what}: row {i}") for i, row in enumerate(found, 1)}
        values: array[float] = array("d")
        lengths = {name: len(row) for name, row in rows.items()}
        if len(set(lengths.values())) > 1:
            most = max(lengths.values())
            short = next(name for name, length in lengths.items() if length != most)
            raise InputError(
                f"{what}: {short} has {count(lengths[short], 'score')}, others have {most:,}; give "
                "each system a score of every item, None where there is none"
            )
        for row in rows.values():
            values.extend(row)
        return cls(list(rows), values)

    def row(self, system: str) -> array[float]:
        """The scores of a system."""
        start = self.systems.index(system) * self.items
        return self.values[start : start + self.items]

    def only(self, systems: Sequence[str]) -> Matrix:
        """The rows of some systems, in that order."""
        if tuple(systems) == self.systems:
            return self
        values: array[float] = array("d")
        for system in systems:
            values.extend(self.row(system))
        return Matrix(systems, values)

    def taken(self, items: Sequence[int]) -> Matrix:
        """Some items, in that order."""
        values: array[float] = array("d")
        for start in range(0, len(self.values), max(1, self.items)):
            row = self.values[start : start + self.items]
            values.extend(map(row.__getitem__, items))
        return Matrix(self.systems, values)

    def rated(self) -> list[int]:
        """The items that some system has a score of."""
        rows = [self.row(system) for system in self.systems]
        return [i for i in range(self.items) if any(not isnan(row[i]) for row in rows)]

    def complete(self) -> list[int]:
        """The items that every system has a score of."""
        rows = [self.row(system) for system in self.systems]
        return [i for i in range(self.items) if not any(isnan(row[i]) for row in rows)]

    def means(self, groups: Sequence[Hashable] | None = None) -> Matrix:
        """The mean of each system's scores, without holes; of each group of items, if given."""
        numbers = dict.fromkeys(groups or ())
        places = {group: i for i, group in enumerate(numbers)}
        values: array[float] = array("d")
        for system in self.systems:
            parts: list[list[float]] = [[] for _ in numbers] if groups else [[]]
            for i, value in enumerate(self.row(system)):
                if not isnan(value):
                    parts[places[groups[i]] if groups else 0].append(value)
            values.extend(fsum(part) / len(part) if part else nan for part in parts)
        return Matrix(self.systems, values)

    def to_bytes(self) -> bytes:
        """The values as the kernel reads them."""
        return self.values.tobytes()

    def __repr__(self) -> str:
        return f"<Matrix of {len(self.systems)} systems and {count(self.items, 'item')}>"


def _row(row: Any, what: str) -> array[float]:
    if isinstance(row, int | float) or row is None:
        row = [row]
    values: array[float] = array("d")
    for i, value in enumerate(row, 1):
        try:
            values.append(nan if value is None else to_score(value))
        except ValueError:
            raise InputError(
                f"{what}: score {i} is {value!r:.40}; expected a number, or None for a hole"
            ) from None
    return values


def some(names: Iterable[str]) -> str:
    """Names in a message: the first ones, and how many more there are.

    >>> some("abcdefgh")
    'a, b, c, d, e, f and 2 more'
    """
    known = list(names)
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"{', '.join(known[:LISTED])}{more}"


def aligned(gold: Matrix, metric: Matrix, what: str) -> Matrix:
    """A metric's scores of the systems that people judged, in their order.

    Raises InputError for systems that are missing, another number of items, and holes where people
    gave a score; `what` names the metric.
    """
    known = set(metric.systems)
    missing = [system for system in gold.systems if system not in known]
    if missing:
        hint = nearest(missing[0], metric.systems) if len(missing) == 1 else ""
        raise InputError(
            f"{what}: no scores of {count(len(missing), 'system')} that people judged: "
            f"{some(missing)}{hint}; give their scores, or leave the systems out (--outliers)"
        )
    if metric.items != gold.items:
        raise InputError(
            f"{what}: {count(metric.items, 'item')} for each system, and people's scores have "
            f"{gold.items:,}; both must list the same items in the same order"
        )
    chosen = metric.only(gold.systems)
    missing_cells = holes(gold.to_bytes(), chosen.to_bytes())
    if missing_cells:
        system, item = divmod(missing_cells[0], gold.items)
        where = f" (the first: {gold.systems[system]}, item {item + 1})" if gold.items > 1 else ""
        raise InputError(
            f"{what}: None in {count(len(missing_cells), 'cell')} that people scored{where}; a "
            "metric needs a score wherever people gave one"
        )
    return chosen
