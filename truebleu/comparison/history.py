"""Score history: the log that `truebleu score --log` writes, grouped into comparable series.

A series contains the scores of one system and metric with the same signature and references.
Scores with other signatures or references are not comparable and form separate series.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, Self

from truebleu._kernel import InputError
from truebleu.comparison.score_log import Entry, Input, read_log_entries
from truebleu.metrics import registry
from truebleu.metrics.base import Signature
from truebleu.rendering.elements import Block, Cell, Chart, Heading, Paragraph, Point, Table
from truebleu.rendering.number_format import (
    MORE_DIGITS,
    make_formatter,
    make_signed_formatter,
    rescale,
)
from truebleu.rendering.view import Content, RecordView
from truebleu.text.argument_checks import load_json
from truebleu.text.system_names import find_system
from truebleu.text.terminal_layout import format_count

__all__ = ["Entry", "Group", "History", "IncomparableError", "Input", "Series", "history"]

# Signature fields of intervals, which do not affect the score.
INTERVAL_FIELDS = ("bs", "seed")


class IncomparableError(ValueError):
    """Raised if the log has no comparable earlier score."""

    # A condition that cannot be checked is a configuration error, and never passes.
    exit_status = 2


class Series(NamedTuple):
    """Comparable scores in chronological order."""

    entries: Sequence[Entry]
    # How this series differs from other series of the same system and metric.
    differs: Sequence[str]

    @property
    def signature(self) -> str:
        """The signature of all scores in the series."""
        return "|".join(
            f"{key}:{value}" for key, value in _get_score_fields(self.entries[0]).items()
        )

    @property
    def short_signature(self) -> str:
        """The short form of the signature, or the full form if truebleu cannot parse it."""
        return Signature.shorten(self.entries[0].metric, self.signature)

    @property
    def scores(self) -> list[float]:
        """The scores, on a 0-100 scale for most metrics."""
        return [entry.score for entry in self.entries]

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values."""
        last = self.entries[-1]
        return {
            "signature": self.signature,
            "short_signature": self.short_signature,
            "segments": last.segments,
            "references": [text._asdict() for text in last.references],
            "differs": self.differs,
            "scores": [
                {**entry.to_dict(), **self._compute_changes(i)}
                for i, entry in enumerate(self.entries)
            ],
        }

    def _compute_changes(self, index: int) -> dict[str, Any]:
        """Return the changes since the previous and first scores (all None for the first)."""
        if not index:
            return dict.fromkeys(("since_previous", "since_first", "same_output"))
        before, entry = self.entries[index - 1 : index + 1]
        return {
            "since_previous": entry.score - before.score,
            "since_first": entry.score - self.entries[0].score,
            # True if the output is identical to the previous output.
            "same_output": before.hypothesis.sha256 == entry.hypothesis.sha256,
        }


class Group(NamedTuple):
    """The scores of one system by one metric, in one or more series."""

    tracked_name: str
    metric: str
    series: Sequence[Series]

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better."""
        return registry.lower_is_better(self.metric)

    @property
    def is_percentage(self) -> bool:
        """True if truebleu knows the metric and its scores are percentages."""
        return registry.is_percentage(self.metric)

    @property
    def warning(self) -> str | None:
        """The reason why there are several series, or None for a single series."""
        if len(self.series) == 1:
            return None
        signatures = len({series.signature for series in self.series}) > 1
        references = len({_get_reference_hashes(series.entries[0]) for series in self.series}) > 1
        difference_flags = {"signatures": signatures, "references": references}
        differ = " and ".join(name for name, several in difference_flags.items() if several)
        return (
            f"{len(self.series)} separate series: {differ} differ, so their scores are not "
            "comparable"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values."""
        return {
            "name": self.tracked_name,
            "metric": self.metric,
            "lower_is_better": self.lower_is_better,
            "percentage": self.is_percentage,
            "warning": self.warning,
            "series": [series.to_dict() for series in self.series],
        }


def group_entries(entries: Iterable[Entry]) -> Iterator[Group]:
    """Yield one group per system and metric, in order of first appearance."""
    groups: dict[tuple[str, str], dict[Any, list[Entry]]] = {}
    for entry in entries:
        series = groups.setdefault((entry.tracked_name, entry.metric), {})
        key = (*_get_score_fields(entry).items(), _get_reference_hashes(entry))
        series.setdefault(key, []).append(entry)
    for (followed, metric), by_key in groups.items():
        first_entries = [members[0] for members in by_key.values()]
        yield Group(
            followed,
            metric,
            [
                Series(members, list(_list_distinctions(members[0], first_entries)))
                for members in by_key.values()
            ],
        )


def read_earlier_entries(path: str | os.PathLike[str]) -> list[Entry]:
    """Return a log's scores in chronological order. Raises IncomparableError if there are none."""
    remedy = "Add a score with truebleu score --log."
    try:
        entries = read_log_entries(path)
    except FileNotFoundError:
        raise IncomparableError(f"log not found: '{os.fspath(path)}'. {remedy}") from None
    if not entries:
        raise IncomparableError(f"{os.fspath(path)}: the log has no scores. {remedy}")
    return sorted(entries, key=lambda entry: entry.time)


def find_last_comparable_entry(
    path: str | os.PathLike[str], entries: Sequence[Entry], entry: Entry
) -> Entry:
    """Return the last log entry that is comparable with the given entry.

    Raises IncomparableError, with the difference, if there is none.
    """
    log_path = os.fspath(path)
    tracked_entries = [one for one in entries if one.tracked_name == entry.tracked_name]
    if not tracked_entries:
        alternatives = ", ".join(dict.fromkeys(one.tracked_name for one in entries))
        raise IncomparableError(
            f"{log_path}: no score of {entry.tracked_name}, only of {alternatives}. Choose one "
            "with --log-name (name=... in Python)."
        )
    metric_entries = [one for one in tracked_entries if one.metric == entry.metric]
    if not metric_entries:
        alternatives = ", ".join(dict.fromkeys(one.metric for one in tracked_entries))
        raise IncomparableError(
            f"{log_path}: no {entry.metric} of {entry.tracked_name}, only {alternatives}"
        )
    entry_key = (_get_score_fields(entry), _get_reference_hashes(entry))
    for one in reversed(metric_entries):
        if (_get_score_fields(one), _get_reference_hashes(one)) == entry_key:
            return one
    last = metric_entries[-1]
    last_distinctions = ", ".join(_list_distinctions(last, [last, entry]))
    entry_distinctions = ", ".join(_list_distinctions(entry, [last, entry]))
    raise IncomparableError(
        f"{log_path}: no comparable {entry.metric} of {entry.tracked_name}: the last score "
        f"has {last_distinctions}, the new score has {entry_distinctions}"
    )


def _list_distinctions(entry: Entry, all_series: Sequence[Entry]) -> Iterator[str]:
    """Yield the signature fields and references that distinguish an entry from other series."""
    signatures = [_get_score_fields(other) for other in all_series]
    entry_fields = _get_score_fields(entry)
    for key in dict.fromkeys(key for fields in signatures for key in fields):
        if len({fields.get(key) for fields in signatures}) > 1:
            yield f"{key}:{entry_fields[key]}" if key in entry_fields else f"no {key}"
    if len({_get_reference_hashes(other) for other in all_series}) > 1:
        files = " + ".join(
            f"{os.path.basename(text.file)} ({text.sha256[:8]})" for text in entry.references
        )
        yield f"{'references' if len(entry.references) > 1 else 'reference'} {files}"


def _get_score_fields(entry: Entry) -> Mapping[str, str]:
    """Return the signature fields that affect the score."""
    pairs = (part.partition(":") for part in entry.signature.split("|"))
    return {key: value for key, _, value in pairs if key not in INTERVAL_FIELDS}


def _get_reference_hashes(entry: Entry) -> tuple[str, ...]:
    """Return the reference hashes, sorted because their order does not affect the score."""
    return tuple(sorted(text.sha256 for text in entry.references))


# Default number of decimals of scores.
DIGITS = 2


class History(RecordView):
    """Scores over time. `print` and notebooks show the trend as a chart and a table."""

    __slots__ = ("entries", "groups")

    KIND = "history"
    COLUMNS = (
        *("series", "time", "name", "system", "metric", "score", "low", "high", "since_previous"),
        *("since_first", "same_output", "segments", "hypothesis_file", "hypothesis_sha256"),
        *("reference_files", "reference_sha256", "signature", "version", "note", "report"),
    )

    entries: list[Entry]
    """The scores in chronological order."""
    groups: list[Group]
    """The scores grouped by system and metric."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        # A log may combine logs from several machines, so its entries are not necessarily sorted.
        self.entries = sorted(entries, key=lambda entry: entry.time)
        self.groups = list(group_entries(self.entries))
        groups = [group.to_dict() for group in self.groups]
        super().__init__({f"truebleu_{self.KIND}": self.VERSION, "groups": groups})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a history from the output of `to_json`.

        Raises InputError for other JSON.
        """
        try:
            groups = load_json(text)["groups"]
            scores = [one for group in groups for x in group["series"] for one in x["scores"]]
            return cls(map(Entry.from_dict, scores))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a truebleu history: {error}") from None

    @property
    def series(self) -> list[Series]:
        """The series of all groups. Only scores within a series are comparable."""
        return [series for group in self.groups for series in group.series]

    def _build_blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        yield Heading(1, "Score history")
        if not self._content["groups"]:
            yield Paragraph("No scores yet.")
        for group in self._content["groups"]:
            lower = ", lower is better" if group["lower_is_better"] else ""
            yield Heading(2, f"{group['name']}, {group['metric']}{lower}")
            if group["warning"] is not None:
                yield Paragraph(f"{group['warning']}.", "caution")
            for number, series in enumerate(group["series"], 1):
                if series["differs"]:
                    yield Heading(3, f"{number}. {', '.join(series['differs'])}")
                scores = series["scores"]
                score_digits = group.get("digits", DIGITS) if digits is None else digits
                if len(scores) > 1:
                    points = list(map(_build_chart_point, scores))
                    yield Chart(points, score_digits, group["metric"])
                yield _build_series_table(scores, score_digits)
                counts = format_count(len(scores), "score")
                counts += f" of {format_count(series['segments'], 'segment')}"
                yield Paragraph(f"{counts}; times are UTC.")
                yield Paragraph(series["short_signature" if short else "signature"], "signature")

    @classmethod
    def _rescale(cls, content: Content) -> Content:
        names = ("score", "low", "high", "since_previous", "since_first")
        groups = [
            {**rescale(group, names), "digits": DIGITS + MORE_DIGITS}
            if group["percentage"]
            else group
            for group in content["groups"]
        ]
        return {**content, "groups": groups}

    @classmethod
    def _list_systems(cls, content: Content) -> Iterable[str]:
        return [group["name"] for group in content["groups"]]

    def _format_title(self) -> str:
        names = ", ".join(dict.fromkeys(group["name"] for group in self._content["groups"]))
        return f"{names}: score history" if names else "Score history"

    def _build_records(self) -> Iterator[Mapping[str, Any]]:
        all_series = (series for group in self._content["groups"] for series in group["series"])
        for number, series in enumerate(all_series, 1):
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

    def __len__(self) -> int:
        return len(self.entries)


def history(
    path: str | os.PathLike[str],
    *,
    metric: str | Sequence[str] | None = None,
    system: str | Sequence[str] | None = None,
) -> History:
    """Return the scores in a log of `truebleu score --log`, grouped into comparable series.

    metric: metric names as in the log ("BLEU"), or as for `truebleu.metric` ("mteval-v13a", a
        signature); None for all.
    system: system names, or names given with --log-name; None for all.

    Scores with different signatures or references form separate series, labelled with the
    differences. Raises InputError with the line number for an invalid log, and for names that
    are not in the log.
    """
    entries = read_log_entries(path)
    if metric is not None:
        entries = _filter_by_metric(path, metric, entries)
    if system is not None:
        known = list(dict.fromkeys(s for one in entries for s in (one.tracked_name, one.system)))
        names = [system] if isinstance(system, str) else system
        try:
            selected = {find_system(name, known, os.fspath(path)) for name in names}
        except ValueError as error:
            raise InputError(str(error)) from None
        entries = [one for one in entries if {one.tracked_name, one.system} & selected]
    return History(entries)


def _filter_by_metric(
    path: str | os.PathLike[str], requested_names: str | Sequence[str], entries: Sequence[Entry]
) -> list[Entry]:
    """Return the entries with one of the requested metrics, ignoring case."""
    names = [requested_names] if isinstance(requested_names, str) else requested_names
    logged_metrics = {entry.metric.casefold() for entry in entries}
    metrics_by_name: dict[str, Mapping[Any, str | None]] = {}
    for name in names:
        if name.casefold() not in logged_metrics:
            with suppress(ValueError):
                metrics_by_name[name] = registry.resolve_metrics(name)
    names_of_entries = []
    for entry in entries:
        metric = None
        if metrics_by_name:
            with suppress(ValueError):  # written by another program or a later version
                metric = registry.metric(f"{entry.metric}|{entry.signature}")
        matching_names = [name for name, metrics in metrics_by_name.items() if metric in metrics]
        entry_names = sorted({entry.metric, *matching_names})
        names_of_entries.append({name.casefold(): name for name in entry_names})
    known_names = {folded: name for one in names_of_entries for folded, name in one.items()}
    folded_names = {name.casefold(): name for name in names}
    for folded, name in folded_names.items():
        if folded not in known_names:
            alternatives = ", ".join(known_names.values()) or "none"
            raise InputError(f"{os.fspath(path)}: no metric '{name}' (found: {alternatives})")
    pairs = zip(entries, names_of_entries, strict=True)
    return [entry for entry, known in pairs if not known.keys().isdisjoint(folded_names)]


# ---- formats ----


def _build_chart_point(score: Content) -> Point:
    tooltip = ", ".join(
        filter(None, (_format_time(score), repr(score["score"]), score.get("note")))
    )
    when = _format_time(score)[:10]
    seconds = datetime.fromisoformat(score["time"]).timestamp()
    ends = score.get("low"), score.get("high")
    return Point(score["score"], when, tooltip, *ends, seconds, score.get("report") or "")


def _build_series_table(scores: Sequence[Content], digits: int) -> Table:
    format_score = make_formatter(digits)
    format_change = make_signed_formatter(format_score)
    intervals, changes = [], []
    for score in scores:
        ends = [format_score(score[end]) for end in ("low", "high") if score.get(end) is not None]
        intervals.append(f"[{ends[0]}, {ends[1]}]" if len(ends) == 2 else "")
        pair = score["since_previous"], score["since_first"]
        changes.append(["" if value is None else format_change(value) for value in pair])
    same_output_texts = {None: "", True: "yes", False: "no"}
    columns = {
        "when": [_format_time(score) for score in scores],
        "score": [format_score(score["score"]) for score in scores],
        "interval": intervals,
        "Δ previous": [since_previous for since_previous, _ in changes],
        "Δ first": [since_first for _, since_first in changes],
        "same output": [same_output_texts[score["same_output"]] for score in scores],
        "system": [
            # The log may track a system under another name.
            score["system"] if score.get("name") not in (None, score["system"]) else ""
            for score in scores
        ],
        "note": [score.get("note") or "" for score in scores],
        "report": [score.get("report") or "" for score in scores],
    }
    # Optional columns are left out if they are empty.
    for name in ("interval", "system", "note", "report"):
        if not any(columns[name]):
            del columns[name]
    words = ("when", "same output", "system", "note", "report")
    left = [i for i, name in enumerate(columns) if name in words]
    rows = [[*map(Cell, row)] for row in zip(*columns.values(), strict=True)]
    if "report" in columns:
        for row, score in zip(rows, scores, strict=True):
            row[-1].href = score.get("report") or ""
    return Table.from_text_rows(list(columns), rows, left)


def _format_time(score: Content) -> str:
    return str(score["time"]).replace("T", " ").removesuffix("Z")
