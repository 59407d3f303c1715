"""Scores that may stand on one line: those of one system and metric, made the same way.

A change of a signature, or of the references, changes what a score means. Scores before and after
are series of their own, and each says what is special about it.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from truebleu.metrics import registry
from truebleu.metrics.base import Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from truebleu.views.history.log import Entry

# What a signature says of an interval, which does not change the score.
OF_INTERVALS = ("bs", "seed")


class Series(NamedTuple):
    """Scores that can be compared, in the order of time."""

    entries: Sequence[Entry]
    # What other series of the same system and metric have not, in a few words each.
    differs: Sequence[str]

    @property
    def signature(self) -> str:
        """The signature of all scores."""
        return "|".join(f"{key}:{value}" for key, value in _fields(self.entries[0]).items())

    @property
    def short_signature(self) -> str:
        """The same in its short form, where it is a signature that truebleu knows."""
        try:
            return Signature.parse(f"{self.entries[0].metric}|{self.signature}").short()
        except ValueError:
            return self.signature

    @property
    def label(self) -> str:
        """The differences from other series; empty for the only series of a group."""
        return ", ".join(self.differs)

    @property
    def scores(self) -> list[float]:
        """The scores, 0-100 for most metrics."""
        return [entry.score for entry in self.entries]

    def to_dict(self) -> dict[str, Any]:
        """Everything in the types of JSON."""
        last = self.entries[-1]
        return {
            "signature": self.signature,
            "short_signature": self.short_signature,
            "segments": last.segments,
            "references": [text._asdict() for text in last.references],
            "differs": self.differs,
            "scores": [
                {**entry.to_dict(), **self._changes(i)} for i, entry in enumerate(self.entries)
            ],
        }

    def _changes(self, i: int) -> dict[str, Any]:
        """Changes since the score before, and since the first; None for the first itself."""
        if not i:
            return dict.fromkeys(("since_previous", "since_first", "same_output"))
        before, entry = self.entries[i - 1 : i + 1]
        return {
            "since_previous": entry.score - before.score,
            "since_first": entry.score - self.entries[0].score,
            # Whether the system wrote what it had written the time before.
            "same_output": before.hypothesis.sha256 == entry.hypothesis.sha256,
        }


class Group(NamedTuple):
    """The scores of one system by one metric: one series, or several that must not be mixed."""

    followed: str
    metric: str
    series: Sequence[Series]

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better."""
        return registry.lower_is_better(self.metric)

    @property
    def warning(self) -> str | None:
        """The reason for more than one line."""
        if len(self.series) == 1:
            return None
        signatures = len({series.signature for series in self.series}) > 1
        references = len({_references(series.entries[0]) for series in self.series}) > 1
        known = {"signatures": signatures, "references": references}
        differ = " and ".join(name for name, several in known.items() if several)
        return (
            f"{len(self.series)} series, not one line: {differ} differ, so the "
            "scores of one cannot be compared with those of another"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything in the types of JSON."""
        return {
            "name": self.followed,
            "metric": self.metric,
            "lower_is_better": self.lower_is_better,
            "warning": self.warning,
            "series": [series.to_dict() for series in self.series],
        }


def grouped(entries: Iterable[Entry]) -> Iterator[Group]:
    """A group for each system and metric, in the order in which they first came."""
    groups: dict[tuple[str, str], dict[Any, list[Entry]]] = {}
    for entry in entries:
        series = groups.setdefault((entry.followed, entry.metric), {})
        key = (*_fields(entry).items(), _references(entry))
        series.setdefault(key, []).append(entry)
    for (followed, metric), by_key in groups.items():
        first = [members[0] for members in by_key.values()]
        yield Group(
            followed,
            metric,
            [Series(members, list(_special(members[0], first))) for members in by_key.values()],
        )


def _special(entry: Entry, all_series: Sequence[Entry]) -> Iterator[str]:
    """The fields and references of an entry's series that not all series share."""
    signatures = [_fields(other) for other in all_series]
    own = _fields(entry)
    for key in dict.fromkeys(key for fields in signatures for key in fields):
        if len({fields.get(key) for fields in signatures}) > 1:
            yield f"{key}:{own[key]}" if key in own else f"no {key}"
    if len({_references(other) for other in all_series}) > 1:
        files = " + ".join(
            f"{os.path.basename(text.file)} ({text.sha256[:8]})" for text in entry.references
        )
        yield f"{'references' if len(entry.references) > 1 else 'reference'} {files}"


def _fields(entry: Entry) -> Mapping[str, str]:
    """The fields of a signature that say how the score was computed."""
    pairs = (part.partition(":") for part in entry.signature.split("|"))
    return {key: value for key, _, value in pairs if key not in OF_INTERVALS}


def _references(entry: Entry) -> tuple[str, ...]:
    """The hashes of the references, sorted: their order changes no score."""
    return tuple(sorted(text.sha256 for text in entry.references))
