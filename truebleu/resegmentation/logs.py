"""Readers for logs of simultaneous translation and for segmentations of recordings.

SimulEval, OmniSTEval and simulstream write JSON lines; `read_log` recognizes them by their fields.
A segmentation is a YAML or JSON list of `wav`, `offset` and `duration` (seconds), as in MuST-C and
IWSLT, with one segment per line of the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isfinite
from pathlib import PurePath
from typing import Any

from truebleu._kernel import InputError
from truebleu.resegmentation.units import SPACE_MARK
from truebleu.text.argument_checks import format_value, load_json, parse_json, suggest_names
from truebleu.text.segments import as_file
from truebleu.text.system_names import format_path
from truebleu.text.terminal_layout import format_count

UNITS = ("word", "char")
# Ways to join the tokens of a simulstream log, as its detokenizer "simuleval" does.
TOKEN_KINDS = ("word", "char", "spm")
UNIT_NAMES = {"word": "word", "char": "character"}
FIELDS_BY_PROGRAM = {
    "SimulEval": ("delays", "elapsed"),
    "OmniSTEval": ("emission_cu", "emission_ca"),
}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of a log, or the lines of one recording in a simulstream log.

    place: the file and the line, for messages.
    name: the name of the recording; empty if the log has none.
    spans: the position of each unit in the text, as (start, end) in characters.
    reference: None if the log has none.
    delays, elapsed, recording_end: as in `TimedSegment`.
    source_length: the duration of the source; None if the log has none.
    """

    place: str
    name: str
    text: str
    spans: list[tuple[int, int]]
    reference: str | None
    delays: list[float]
    elapsed: list[float] | None
    source_length: float | None = None
    recording_end: float | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a simultaneous translation system.

    program: "SimulEval", "OmniSTEval" or "simulstream".
    unit: "word" or "char", the unit that has a delay.
    """

    path: str
    program: str
    unit: str
    entries: list[LogEntry]

    @property
    def has_seconds(self) -> bool:
        """True if times are in seconds, false if they are in milliseconds."""
        return self.program == "simulstream"

    @property
    def is_long(self) -> bool:
        """True if the segments were cut from recordings, as OmniSTEval does."""
        return any(entry.recording_end is not None for entry in self.entries)


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """A segment of a recording; `offset` and `duration` are in seconds."""

    recording: str
    offset: float
    duration: float


# ---- logs ----


def read_log(
    path: Any, unit: str = "word", *, tokens: str | None = None, fix_elapsed: bool = False
) -> Log:
    """Read a log that SimulEval, OmniSTEval or simulstream wrote.

    unit: "word" or "char", the unit that has a delay.
    tokens: how the tokens of a simulstream log become text: "word" (join by spaces), "char" (join)
        or "spm" (join, with U+2581 as space). None means "spm" if any token contains U+2581,
        otherwise `unit`.
    fix_elapsed: count only the computation time since the previous unit, as OmniSTEval does with
        --fix_simuleval_emission_ca; SimulEval accumulates it.

    Raises InputError, with the file and line, for invalid logs.
    """
    file = as_file(path)
    name = format_path(file)
    records = []
    for number, line in enumerate(file.read_lines(), 1):
        if line.strip():
            record = parse_json(line, name, number)
            if not isinstance(record, dict):
                raise InputError(
                    f"{name}, line {number}: expected a JSON object, found {format_value(record)}"
                )
            records.append((f"{name}, line {number}", record))
    if not records:
        raise InputError(f"{name}: the log is empty")
    if any("total_audio_processed" in record for _, record in records):
        program, entries = "simulstream", list(_read_simulstream(records, unit, tokens))
    else:
        is_resegmented = any("emission_cu" in r or "docid" in r for _, r in records)
        program = "OmniSTEval" if is_resegmented else "SimulEval"
        entries = [_read_entry(place, record, program, unit) for place, record in records]
    timed = [entry for entry in entries if entry.delays]
    without = [entry for entry in timed if entry.elapsed is None]
    if without and len(without) < len(timed):
        field = FIELDS_BY_PROGRAM[program][1]
        raise InputError(
            f"{without[0].place}: missing field '{field}', which other lines have. Add it, or "
            "remove it from all lines."
        )
    if tokens is not None and program != "simulstream":
        raise InputError(
            f"{name}: {program} logs have no tokens to join (expected a simulstream log). "
            "Omit tokens (--tokens)."
        )
    if fix_elapsed:
        if program != "SimulEval" or not any(entry.elapsed for entry in entries):
            raise InputError(
                f"{name}: only SimulEval logs with 'elapsed' accumulate computation time. Omit "
                "fix_elapsed (--fix-elapsed)."
            )
        entries = [replace(entry, elapsed=_subtract_backlog(entry)) for entry in entries]
    return Log(name, program, unit, entries)


def read_log_of_any_unit(path: Any) -> Log:
    """Read a log with one time per word or, if that does not fit, per character."""
    file = as_file(path)
    try:
        return read_log(file, "word")
    except InputError:
        with suppress(InputError):
            return read_log(file, "char")
        raise


def _read_entry(place: str, record: Mapping[str, Any], program: str, unit: str) -> LogEntry:
    """Return the entry of a line in a SimulEval or OmniSTEval log."""
    delays_field, elapsed_field = FIELDS_BY_PROGRAM[program]
    text = _get_field(place, record, "prediction", str)
    if record.get("durations"):
        raise InputError(f"{place}: speech output is not supported, only text")
    # OmniSTEval leaves out the times of empty segments.
    is_optional = program == "OmniSTEval" and not text.strip()
    delays = [] if is_optional else _get_times(place, record, delays_field)
    spans = _find_units(text, unit, len(delays))
    if len(spans) != len(delays):
        other_unit = "char" if unit == "word" else "word"
        fits = len(_find_units(text, other_unit, len(delays))) == len(delays)
        hint = (
            f" The log has one time per {UNIT_NAMES[other_unit]}. Use --unit {other_unit}."
            if fits
            else ""
        )
        raise InputError(
            f"{place}: 'prediction' has {format_count(len(spans), UNIT_NAMES[unit])}, but "
            f"'{delays_field}' has {format_count(len(delays), 'time')}.{hint}"
        )
    elapsed = None
    if record.get(elapsed_field):
        elapsed = _get_times(place, record, elapsed_field)
        if len(elapsed) != len(delays):
            raise InputError(
                f"{place}: '{delays_field}' has {format_count(len(delays), 'time')}, but "
                f"'{elapsed_field}' has {format_count(len(elapsed), 'time')}."
            )
    # SimulEval writes zeros if the source is text.
    if elapsed is not None and not any(elapsed) and any(delays):
        elapsed = None
    # OmniSTEval leaves out the length of segments without a duration.
    source_length = None if program == "SimulEval" else 0.0
    if "source_length" in record:
        source_length = _get_number(place, record, "source_length")
        if source_length < 0:
            raise InputError(f"{place}: 'source_length' is negative: {source_length:g}")
    reference = None
    if record.get("reference") is not None:
        reference = _get_field(place, record, "reference", str)
    end = None
    if record.get("time_to_recording_end") is not None:
        end = _get_number(place, record, "time_to_recording_end")
    elif program == "OmniSTEval":
        # The line has no output, but it shows that the segments were cut from recordings.
        end = inf
    # The first item of `source` names the audio file. SimulEval writes the description of an audio
    # file, whose first line is the path.
    source = record.get("source")
    if isinstance(source, list):
        source = source[0] if source else None
    name = source.partition("\n")[0] if isinstance(source, str) else ""
    return LogEntry(place, name, text, spans, reference, delays, elapsed, source_length, end)


def _get_field(place: str, record: Mapping[str, Any], name: str, kind: Any) -> Any:
    if name not in record:
        raise InputError(
            f"{place}: missing field '{name}' (expected a log of SimulEval, OmniSTEval or "
            "simulstream)"
        )
    if not isinstance(record[name], kind):
        expected = {str: "text", list: "a list", dict: "an object"}[kind]
        raise InputError(
            f"{place}: '{name}': expected {expected}, found {format_value(record[name])}"
        )
    return record[name]


def _get_number(place: str, record: Mapping[str, Any], name: str) -> float:
    """Return a number from a record, as an integer or a float."""
    value = record.get(name)
    if name not in record:
        raise InputError(f"{place}: missing field '{name}'")
    if not _is_finite_number(value):
        raise InputError(f"{place}: '{name}': expected a number, found {format_value(value)}")
    return value  # type: ignore[return-value]


def _is_finite_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:  # an integer with hundreds of digits
        return False


def _get_times(place: str, record: Mapping[str, Any], name: str) -> list[float]:
    """Return a list of times from a record. Raises InputError if the times decrease."""
    times: list[float] = _get_field(place, record, name, list)
    previous = -inf
    for number, time in enumerate(times, 1):
        if not _is_finite_number(time):
            raise InputError(
                f"{place}: '{name}', item {number}: expected a number, found {format_value(time)}"
            )
        # In simulstream, a step may need less computation than the step before.
        if time < previous and name != "emission_ca":
            raise InputError(
                f"{place}: '{name}' decreases from {previous:g} to {time:g} at item {number} "
                "(expected times that never decrease)"
            )
        previous = time
    return times


def _find_units(text: str, unit: str, time_count: int) -> list[tuple[int, int]]:
    """Return the start and end of each word or character of a text.

    Spaces are characters in OmniSTEval and simulstream, but not in SimulEval. They are included if
    the number of times then equals the number of characters.
    """
    if unit == "char":
        spans = [(i, i + 1) for i in range(len(text))]
        if len(spans) != time_count:
            spans = [(i, i + 1) for i, character in enumerate(text) if character != " "]
        return spans
    return [match.span() for match in re.finditer(r"\S+", text)]


def _subtract_backlog(entry: LogEntry) -> list[float] | None:
    """Return the times of units, counting only the computation time since the previous unit."""
    if entry.elapsed is None:
        return None
    fixed = entry.elapsed[:1]
    pairs = zip(entry.elapsed, entry.elapsed[1:], entry.delays, strict=False)
    for previous, current, delay in pairs:
        fixed.append(max(current - previous + delay, fixed[-1]))
    return fixed


# ---- simulstream ----


def _read_simulstream(
    records: Sequence[tuple[str, Mapping[str, Any]]], unit: str, tokens: str | None
) -> Iterator[LogEntry]:
    """Yield one entry per recording of a simulstream log."""
    names: dict[Any, str] = {}
    steps: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for place, record in records:
        if "metadata" in record:
            metadata = _get_field(place, record, "metadata", dict)
            name = PurePath(_get_field(place, metadata, "wav_name", str)).stem
            names[_get_id(place, record)] = name
        elif "id" in record:
            if _get_id(place, record) not in names:
                raise InputError(
                    f"{place}: no earlier line names the recording with id {record['id']!r}"
                )
            for field in ("generated_tokens", "deleted_tokens"):
                items = _get_field(place, record, field, list)
                if not all(isinstance(item, str) for item in items):
                    raise InputError(f"{place}: '{field}': expected a list of strings")
            steps.setdefault(names[record["id"]], []).append((place, record))
    if tokens is None:
        pieces = (t for rows in steps.values() for _, r in rows for t in r["generated_tokens"])
        tokens = "spm" if any(SPACE_MARK in piece for piece in pieces) else unit
    for name, rows in steps.items():
        yield _replay_recording(name, rows, unit, _DETOKENIZERS[tokens])


def _get_id(place: str, record: Mapping[str, Any]) -> Any:
    identifier = record.get("id")
    if not isinstance(identifier, str | int):
        raise InputError(f"{place}: 'id': expected a number or text, found {identifier!r:.40}")
    return identifier


_DETOKENIZERS: dict[str, Callable[[Sequence[str]], str]] = {
    "word": " ".join,
    "char": "".join,
    "spm": lambda tokens: "".join(tokens).replace(SPACE_MARK, " ").strip(),
}


def split_like_simulstream(text: str, unit: str) -> list[str]:
    """Return the words or characters of a text, as simulstream counts them."""
    return list(text) if unit == "char" else [word for word in text.split(" ") if word]


def _replay_recording(
    name: str,
    rows: Sequence[tuple[str, Mapping[str, Any]]],
    unit: str,
    detokenize: Callable[[Sequence[str]], str],
) -> LogEntry:
    """Return the final output of a recording, with the time of the last change of each unit."""
    tokens: list[str] = []
    units: list[str] = []
    delays: list[float] = []
    elapsed: list[float] = []
    previous = 0.0
    for place, record in rows:
        now = _get_number(place, record, "total_audio_processed")
        if now < previous:
            raise InputError(
                f"{place}: 'total_audio_processed' decreases from {previous:g} to {now:g} "
                "(expected times that never decrease)"
            )
        previous = now
        done = now + _get_number(place, record, "computation_time")
        deleted = record["deleted_tokens"]
        if deleted:
            if tokens[-len(deleted) :] != deleted:
                raise InputError(
                    f"{place}: 'deleted_tokens' are not the last tokens of the output (expected "
                    f"{format_value(tokens[-len(deleted) :])}, found {format_value(deleted)})"
                )
            tokens = tokens[: -len(deleted)]
        for added in (deleted, record["generated_tokens"]):
            tokens = tokens if added is deleted else [*tokens, *added]
            changed = split_like_simulstream(detokenize(tokens), unit)
            shared = min(len(units), len(changed))
            for times, time in ((delays, now), (elapsed, done)):
                times[shared:] = [time] * (len(changed) - shared)
                # The system has replaced the last word that it wrote earlier.
                if unit == "word" and shared and units[shared - 1] != changed[shared - 1]:
                    times[shared - 1] = time
            units = changed
    text = detokenize(tokens)
    spans = [match.span() for match in re.finditer("(?s:.)" if unit == "char" else "[^ ]+", text)]
    return LogEntry(rows[0][0], name, text, spans, None, delays, elapsed)


# ---- segmentations of recordings ----


def read_segmentation(path: Any) -> list[SourceSegment]:
    """Read the segments of recordings from YAML or JSON. Raises InputError for invalid files."""
    file = as_file(path)
    name = format_path(file)
    text = "\n".join(file.read_lines())
    segments = []
    last_offsets: dict[str, float] = {}
    for place, item in _parse_items(name, text):
        if not isinstance(item, dict):
            raise InputError(f"{place}: expected an item with wav, offset and duration")
        recording = item.get("wav")
        if not isinstance(recording, str):
            raise InputError(f"{place}: 'wav': expected a name, found {format_value(recording)}")
        offset = _get_number(place, item, "offset")
        duration = _get_number(place, item, "duration")
        if duration < 0:
            raise InputError(f"{place}: 'duration' is negative: {duration:g}")
        # Text is divided in order. Segments may overlap, because speakers do.
        if offset < last_offsets.get(recording, offset):
            raise InputError(
                f"{place}: 'offset' goes back from {last_offsets[recording]:g} to {offset:g} "
                f"(expected the segments of {recording} in order)"
            )
        last_offsets[recording] = offset
        segments.append(SourceSegment(recording, offset, duration))
    if not segments:
        raise InputError(f"{name}: no segments (expected a list of wav, offset and duration)")
    return segments


def _parse_items(name: str, text: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of a JSON or YAML list, each with its place for messages."""
    try:
        items = load_json(text)
    except ValueError as error:
        if name.lower().endswith(".json"):
            parse_json(text, name)
        try:
            import yaml
        except ImportError:
            raise InputError(
                f"{name} is not JSON ({error}), and YAML requires PyYAML. Install it (pip "
                "install pyyaml), or convert the file to JSON."
            ) from None
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        try:
            node = loader.get_single_node()
            if not isinstance(node, yaml.SequenceNode):
                raise InputError(f"{name}: expected a list of wav, offset and duration") from None
            for item in node.value:
                place = f"{name}, line {item.start_mark.line + 1}"
                yield place, loader.construct_document(item)
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            place = name if mark is None else f"{name}, line {mark.line + 1}"
            reason = getattr(problem, "problem", None) or getattr(problem, "reason", problem)
            raise InputError(f"{place}: not YAML: {reason}") from None
        return
    if not isinstance(items, list):
        raise InputError(f"{name}: expected a list of wav, offset and duration")
    for number, item in enumerate(items, 1):
        yield f"{name}, segment {number}", item


def match_recordings(
    entries: Iterable[LogEntry], recordings: Iterable[str], segmentation_path: str
) -> dict[str, LogEntry]:
    """Return the log entry of each recording.

    Names match by full name, base name, stem, and stem of the base name. Raises InputError for
    names that match no recording or several, and for recordings without an entry.
    """
    known_names = list(dict.fromkeys(recordings))
    forms = [{recording: form(recording) for recording in known_names} for form in _NAME_FORMS]
    matched: dict[str, LogEntry] = {}
    for entry in entries:
        for variant in dict.fromkeys(form(entry.name) for form in _NAME_FORMS):
            candidates: list[str] = next(
                (
                    matches
                    for names in forms
                    if (matches := [key for key, name in names.items() if name == variant])
                ),
                [],
            )
            if candidates:
                break
        if len(candidates) != 1:
            if not entry.name:
                problem = "the line does not name a recording ('source')"
            elif candidates:
                problem = f"several recordings match '{entry.name}': {', '.join(candidates)}"
            else:
                hint = suggest_names(entry.name, known_names)
                problem = f"no recording '{entry.name}' in {segmentation_path}{hint}"
            raise InputError(f"{entry.place}: {problem}")
        if candidates[0] in matched:
            raise InputError(
                f"{entry.place}: duplicate output for recording '{candidates[0]}' (first: "
                f"{matched[candidates[0]].place})"
            )
        matched[candidates[0]] = entry
    missing = [recording for recording in known_names if recording not in matched]
    if missing:
        raise InputError(
            f"{segmentation_path}: the log has no output for recording '{missing[0]}'. Add it, or "
            "leave the recording out of segmentation and reference."
        )
    return matched


def divide_times(
    log: Log,
    entries: Mapping[str, LogEntry],
    source_segments: Sequence[SourceSegment],
    places: Sequence[tuple[int, int]],
    *,
    in_seconds: bool,
) -> list[tuple[list[float], list[float] | None]]:
    """Return the delays of each segment's units, from the start of its source, and `elapsed`.

    entries: the log entry of each recording.
    places: the start and the end of each segment in the text of its recording, without white space
        at the beginning, as re-segmentation returns them.
    in_seconds: return times in seconds, else in milliseconds.
    """

    def convert_time(time: float) -> float:
        if log.has_seconds == in_seconds:
            return time
        return time * 1000 if log.has_seconds else time / 1000

    scale = 1 if in_seconds else 1000
    next_units = dict.fromkeys(entries, 0)
    divided_times = []
    for source_segment, (start, end) in zip(source_segments, places, strict=True):
        entry = entries[source_segment.recording]
        margin = len(entry.text) - len(entry.text.lstrip())
        first = next_units[source_segment.recording]
        while first < len(entry.spans) and entry.spans[first][0] - margin < start:
            first += 1
        last = first
        while last < len(entry.spans) and entry.spans[last][0] - margin < end:
            last += 1
        next_units[source_segment.recording] = last
        offset = source_segment.offset * scale
        delays, elapsed = (
            times and [convert_time(time) - offset for time in times[first:last]]
            for times in (entry.delays, entry.elapsed)
        )
        divided_times.append((delays or [], elapsed))
    return divided_times


def match_segments(
    log: Log, source_segments: Sequence[SourceSegment], reference_count: int, segmentation_path: str
) -> dict[str, LogEntry]:
    """Return the log entry of each recording. Raise InputError unless all numbers are equal."""
    if len(source_segments) != reference_count:
        raise InputError(
            f"{segmentation_path}: {format_count(len(source_segments), 'segment')} for "
            f"{format_count(reference_count, 'reference')} (expected one segment per line of REF)"
        )
    recordings = [segment.recording for segment in source_segments]
    return match_recordings(log.entries, recordings, segmentation_path)


_NAME_FORMS: tuple[Callable[[str], str], ...] = (
    str,
    lambda name: PurePath(name).name,
    lambda name: PurePath(name).stem,
)
