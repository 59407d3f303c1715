"""Scores over time: the log that `truebleu score --log` writes, read as series.

Scores that may stand on one line are those of one system and metric, made the same way. A change of
a signature, or of the references, changes what a score means: scores before and after are series of
their own, and each says what is special about it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, Self

from truebleu._kernel import InputError
from truebleu.comparison.score_log import Entry, Input, read
from truebleu.metrics import registry
from truebleu.metrics.base import Signature
from truebleu.rendering.elements import Block, Cell, Chart, Heading, Paragraph, Point, Table
from truebleu.rendering.number_format import fixed, signed
from truebleu.rendering.view import Content, Rows
from truebleu.text.argument_checks import load_json
from truebleu.text.terminal_layout import format_count

__all__ = ["Entry", "Group", "History", "IncomparableError", "Input", "Series", "history"]

# What a signature says of an interval, which does not change the score.
OF_INTERVALS = ("bs", "seed")


class IncomparableError(ValueError):
    """There is no earlier score that a score can be compared with."""

    # A gate that cannot be asked is a mistake in how it was set up, and never a pass.
    exit_status = 2


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
        return Signature.shorten(self.entries[0].metric, self.signature)

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


def earlier_entries(path: str | os.PathLike[str]) -> list[Entry]:
    """The scores in a log, in the order of time. Raises IncomparableError if there are none."""
    told = "add the first score with truebleu score ... --log"
    try:
        entries = read(path)
    except FileNotFoundError:
        raise IncomparableError(f"{os.fspath(path)}: there is no such log; {told}") from None
    if not entries:
        raise IncomparableError(f"{os.fspath(path)}: a log of no scores; {told}")
    return sorted(entries, key=lambda entry: entry.time)


def last_like(path: str | os.PathLike[str], entries: Sequence[Entry], entry: Entry) -> Entry:
    """The last of the entries of a log that this one can be compared with.

    Raises IncomparableError, which says what differs, if there is none.
    """
    where = os.fspath(path)
    followed = [one for one in entries if one.followed == entry.followed]
    if not followed:
        known = ", ".join(dict.fromkeys(one.followed for one in entries))
        raise IncomparableError(
            f"{where}: no score of {entry.followed}; there are those of {known}, and a name "
            "(--log-name) says which one is followed"
        )
    measured = [one for one in followed if one.metric == entry.metric]
    if not measured:
        known = ", ".join(dict.fromkeys(one.metric for one in followed))
        raise IncomparableError(f"{where}: no {entry.metric} of {entry.followed}; there is {known}")
    own = (_fields(entry), _references(entry))
    alike = [one for one in measured if (_fields(one), _references(one)) == own]
    if not alike:
        last = measured[-1]
        told = ", ".join(_special(last, [last, entry]))
        ours = ", ".join(_special(entry, [last, entry]))
        raise IncomparableError(
            f"{where}: no {entry.metric} of {entry.followed} that was made in the same way: the "
            f"last has {told}, and this one {ours}"
        )
    return alike[-1]


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


class History(Rows):
    """Scores over time. Printing it shows the trend, a notebook draws it."""

    __slots__ = ("entries", "groups")

    KIND = "history"
    COLUMNS = (
        *("series", "time", "name", "system", "metric", "score", "low", "high", "since_previous"),
        *("since_first", "same_output", "segments", "hypothesis_file", "hypothesis_sha256"),
        *("reference_files", "reference_sha256", "signature", "version", "note", "report"),
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
        try:
            groups = load_json(text)["groups"]
            scores = [one for group in groups for x in group["series"] for one in x["scores"]]
            return cls(map(Entry.of_dict, scores))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a truebleu history: {error}") from None

    @property
    def series(self) -> list[Series]:
        """All series of all groups: scores in one of them can be compared, others cannot."""
        return [series for group in self.groups for series in group.series]

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        return _blocks(self._content, 2 if digits is None else digits, short=short)

    def _title(self) -> str:
        names = ", ".join(dict.fromkeys(group.followed for group in self.groups))
        return f"{names}: score history" if names else "Score history"

    def _records(self) -> Iterator[Mapping[str, Any]]:
        return _records(self._content)

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
    entries = read(path)
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
                further[name] = registry.resolve_metrics(name)

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


# ---- formats ----


def _blocks(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks: for each series a chart, a table and what is to be said of it."""
    yield Heading(1, "Score history")
    if not content["groups"]:
        yield Paragraph("No scores yet.")
    for group in content["groups"]:
        lower = ", lower is better" if group["lower_is_better"] else ""
        yield Heading(2, f"{group['name']}, {group['metric']}{lower}")
        if group["warning"] is not None:
            yield Paragraph(f"{group['warning']}.", "caution")
        for number, series in enumerate(group["series"], 1):
            if series["differs"]:
                yield Heading(3, f"{number}. {', '.join(series['differs'])}")
            yield from _series_blocks(series, group["metric"], digits, short=short)


def _series_blocks(series: Content, metric: str, digits: int, *, short: bool) -> Iterator[Block]:
    scores = series["scores"]
    if len(scores) > 1:
        yield Chart([_point(score) for score in scores], digits, metric)
    yield _table(scores, digits)
    known = f"{format_count(len(scores), 'score')} of {format_count(series['segments'], 'segment')}"
    yield Paragraph(f"{known}; times are UTC.")
    yield Paragraph(series["short_signature" if short else "signature"], "signature")


def _point(score: Content) -> Point:
    about = ", ".join(filter(None, (_when(score), repr(score["score"]), score.get("note"))))
    when = _when(score)[:10]
    seconds = datetime.fromisoformat(score["time"]).timestamp()
    ends = score.get("low"), score.get("high")
    return Point(score["score"], when, about, *ends, seconds, score.get("report") or "")


def _table(scores: Sequence[Content], digits: int) -> Table:
    """A row per score."""
    write = fixed(digits)

    def change(value: float | None) -> str:
        return "" if value is None else signed(write)(value)

    def interval(score: Content) -> str:
        ends = [write(score[end]) for end in ("low", "high") if score.get(end) is not None]
        return f"[{ends[0]}, {ends[1]}]" if len(ends) == 2 else ""

    same = {None: "", True: "yes", False: "no"}
    columns = {
        "when": [_when(score) for score in scores],
        "score": [write(score["score"]) for score in scores],
        "interval": [interval(score) for score in scores],
        "Δ previous": [change(score["since_previous"]) for score in scores],
        "Δ first": [change(score["since_first"]) for score in scores],
        "same output": [same[score["same_output"]] for score in scores],
        "system": [_other_name(score) for score in scores],
        "note": [score.get("note") or "" for score in scores],
        "report": [score.get("report") or "" for score in scores],
    }
    # Columns that say nothing are left out, unless they belong to every history.
    for name in ("interval", "system", "note", "report"):
        if not any(columns[name]):
            del columns[name]
    words = ("when", "same output", "system", "note", "report")
    left = [i for i, name in enumerate(columns) if name in words]
    rows = [[*map(Cell, row)] for row in zip(*columns.values(), strict=True)]
    if "report" in columns:
        for row, score in zip(rows, scores, strict=True):
            row[-1].href = score.get("report") or ""
    return Table.of(list(columns), rows, left)


def _other_name(score: Content) -> str:
    """The name of the system, where something else is followed."""
    return score["system"] if score.get("name") not in (None, score["system"]) else ""


def _when(score: Content) -> str:
    """The time of a score, for a person. It is UTC."""
    return str(score["time"]).replace("T", " ").removesuffix("Z")


def _records(content: Content) -> Iterator[dict[str, Any]]:
    """A record per score; series are numbered from 1."""
    numbered = enumerate((s for group in content["groups"] for s in group["series"]), 1)
    for number, series in numbered:
        for score in series["scores"]:
            yield {
                **score,
                "series": number,
                "name": score.get("name", score["system"]),
                "hypothesis_file": score["hypothesis"]["file"],
                "hypothesis_sha256": score["hypothesis"]["sha256"],
                "reference_files": " ".join(text["file"] for text in score["references"]),
                "reference_sha256": " ".join(text["sha256"] for text in score["references"]),
            }
