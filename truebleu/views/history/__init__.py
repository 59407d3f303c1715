"""Scores over time: the log that `truebleu score --log` writes, read as series.

log.py      the file: entries, reading, adding
series.py   which scores may stand on one line, and why others may not
blocks.py   from the dict to what a reader sees
"""

from __future__ import annotations

import os
from contextlib import suppress

from truebleu._kernel import InputError
from truebleu.metrics import registry
from truebleu.views.history.log import Entry, Input, Log
from truebleu.views.history.series import Group, Series, grouped
from truebleu.views.rendering.view import Rows

__all__ = ["Entry", "Group", "History", "Input", "Log", "Series", "history"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Self

    from truebleu.views.rendering.blocks import Block


class History(Rows):
    """Scores over time. Printing it shows the trend, a notebook draws it."""

    __slots__ = ("entries", "groups")

    KIND = "history"
    COLUMNS = (
        *("series", "time", "name", "system", "metric", "score", "low", "high", "since_previous"),
        *("since_first", "same_output", "segments", "hypothesis_file", "hypothesis_sha256"),
        *("reference_files", "reference_sha256", "signature", "version", "note"),
    )

    entries: list[Entry]
    """The scores, in the order of time."""
    groups: list[Group]
    """The scores of one system by one metric each."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        # Logs of several machines may have been put one behind another.
        self.entries = sorted(entries, key=lambda entry: entry.time)
        self.groups = list(grouped(self.entries))
        groups = [group.to_dict() for group in self.groups]
        super().__init__({f"truebleu_{self.KIND}": self.VERSION, "groups": groups})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A history that `to_json` wrote. Raises InputError for anything else."""
        import json

        try:
            groups = json.loads(text)["groups"]
            scores = [one for group in groups for x in group["series"] for one in x["scores"]]
            return cls(map(Entry.of_dict, scores))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a truebleu history: {error}") from None

    @property
    def series(self) -> list[Series]:
        """All series of all groups: scores in one of them can be compared, others cannot."""
        return [series for group in self.groups for series in group.series]

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        from truebleu.views.history import blocks

        return blocks.of_content(self._content, 2 if digits is None else digits, short=short)

    def _title(self) -> str:
        names = ", ".join(dict.fromkeys(group.followed for group in self.groups))
        return f"{names}: score history" if names else "Score history"

    def _records(self) -> Iterator[Mapping[str, Any]]:
        from truebleu.views.history import blocks

        return blocks.records(self._content)

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

    metric: names of metrics as in the log ("BLEU"), or what `metric` takes ("mteval-v13a", a
        signature); all if not given.
    system: what is followed, or systems; all if not given.

    Scores whose signatures or references differ are never on one line: they become series of
    their own, and each says what differs. Raises InputError, which names the line, for a file that
    is not a log, and for names that are not in it.
    """
    entries = Log.read(path).entries
    if metric is not None:
        wanted = _metrics([metric] if isinstance(metric, str) else metric, entries)
        entries = _chosen(
            path, "metric", metric, entries, lambda entry: {entry.metric, *wanted(entry)}
        )
    if system is not None:
        entries = _chosen(
            path, "system", system, entries, lambda entry: {entry.followed, entry.system}
        )
    return History(entries)


def _metrics(wanted: Sequence[str], entries: Sequence[Entry]) -> Callable[[Entry], Iterator[str]]:
    """A function that gives the wanted names of an entry's metric."""
    called = {entry.metric.casefold() for entry in entries}
    further: dict[str, Mapping[Any, str | None]] = {}
    for name in wanted:
        if name.casefold() not in called:
            with suppress(ValueError):
                further[name] = registry.metrics(name)

    def names(entry: Entry) -> Iterator[str]:
        try:
            metric = registry.metric(f"{entry.metric}|{entry.signature}") if further else None
        except ValueError:
            return  # of another program, or a later version
        yield from (name for name, meant in further.items() if metric in meant)

    return names


def _chosen(
    path: str | os.PathLike[str],
    what: str,
    wanted: str | Sequence[str],
    entries: Sequence[Entry],
    names: Callable[[Entry], set[str]],
) -> list[Entry]:
    """The entries that have one of the wanted names, in whatever case they are written."""
    asked = {name.casefold(): name for name in ([wanted] if isinstance(wanted, str) else wanted)}
    known = {name.casefold(): name for entry in entries for name in sorted(names(entry))}
    for folded, name in asked.items():
        if folded not in known:
            there = ", ".join(known.values()) or "none at all"
            raise InputError(f"{os.fspath(path)}: no {what} '{name}'; there are {there}")
    return [e for e in entries if any(name.casefold() in asked for name in names(e))]
