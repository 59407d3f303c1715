"""How scores changed over time: the log that `truebleu score --log` writes, read as series.

log.py      the file: entries, reading, adding
series.py   which scores may stand on one line, and why others may not
text.py     for a terminal, as Markdown, as comma-separated values
html.py     as a page
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

from truebleu.history.log import Entry, Log, Text
from truebleu.history.series import Group, Series, grouped

__all__ = ["Entry", "Group", "History", "Log", "Series", "Text", "history"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


class History:
    """Scores over time. Printing it shows the trend, a notebook draws it."""

    __slots__ = ("entries", "groups")

    entries: list[Entry]
    groups: list[Group]

    def __init__(self, entries: Iterable[Entry]) -> None:
        # Logs of several machines may have been put one behind another.
        self.entries = sorted(entries, key=lambda entry: entry.time)
        self.groups = list(grouped(self.entries))

    @property
    def series(self) -> list[Series]:
        """All series of all groups: scores in one of them can be compared, others cannot."""
        return [series for group in self.groups for series in group.series]

    def to_dict(self) -> dict[str, Any]:
        """Everything in the types of JSON: groups, their series, and the scores of each."""
        return {"groups": [group.to_dict() for group in self.groups]}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        import json

        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def text(self, width: int = 100, *, digits: int = 2) -> str:
        """A drawing and a table of each series, in lines of about so many characters."""
        from truebleu.history import text

        return text.plain(self, width, digits)

    def markdown(self, *, digits: int = 2) -> str:
        """A table of each series, in Markdown."""
        from truebleu.history import text

        return text.markdown(self, digits)

    def csv(self) -> str:
        """A line for each score, with all digits, as comma-separated values."""
        from truebleu.history import text

        return text.csv(self)

    def html(self, *, digits: int = 2) -> str:
        """A page of its own, without script."""
        from truebleu.history import html

        return html.page(self, digits)

    def _repr_html_(self) -> str:
        from truebleu.history import html

        return html.fragment(self, 2)

    def __str__(self) -> str:
        return self.text()

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<History of {len(self.entries):,} scores in {len(self.series):,} series>"


def history(
    path: str | os.PathLike[str],
    *,
    metric: str | Sequence[str] | None = None,
    system: str | Sequence[str] | None = None,
) -> History:
    """The scores in a log of `truebleu score --log`, as series.

    metric: names of metrics, as "BLEU"; all if not given.
    system: what is followed, or systems; all if not given.

    Scores whose signatures or references differ are never on one line: they become series of
    their own, and each says what differs. Raises InputError, which names the line, for a file that
    is no log, and for names that are not in it.
    """
    entries = Log.read(path).entries
    if metric is not None:
        entries = _chosen(path, "metric", metric, entries, lambda entry: {entry.metric})
    if system is not None:
        entries = _chosen(
            path, "system", system, entries, lambda entry: {entry.followed, entry.system}
        )
    return History(entries)


def _chosen(
    path: str | os.PathLike[str],
    what: str,
    wanted: str | Sequence[str],
    entries: Sequence[Entry],
    names: Callable[[Entry], set[str]],
) -> list[Entry]:
    """The entries that have one of the wanted names; nobody means two that differ in their case."""
    from truebleu._kernel import InputError

    asked = {name.casefold(): name for name in ([wanted] if isinstance(wanted, str) else wanted)}
    known = {name.casefold(): name for entry in entries for name in sorted(names(entry))}
    for folded, name in asked.items():
        if folded not in known:
            there = ", ".join(known.values()) or "none at all"
            raise InputError(f"{os.fspath(path)}: no {what} '{name}'; there are {there}")
    return [e for e in entries if any(name.casefold() in asked for name in names(e))]


class _Module(ModuleType):
    """The module `truebleu.history`, which is called as the function that has its name.

    Whoever imports something out of it would otherwise find the module where `history` was.
    """

    __call__ = staticmethod(history)


sys.modules[__name__].__class__ = _Module
