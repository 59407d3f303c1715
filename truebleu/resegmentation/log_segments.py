"""Segments with times: the lines of a log, or recordings divided like the reference."""

from __future__ import annotations

from collections.abc import Sequence

from truebleu._kernel import InputError
from truebleu.resegmentation.latency import TimedSegment, count_reference_units
from truebleu.resegmentation.logs import (
    Log,
    SourceSegment,
    match_recordings,
    split_like_simulstream,
)
from truebleu.resegmentation.resegment import Resegmentation, resegment
from truebleu.text.terminal_layout import format_count


def list_segments(log: Log, references: Sequence[str] | None = None) -> list[TimedSegment]:
    """Return the entries of a log as segments; `references` replace the references in the log."""
    if log.has_seconds:
        raise InputError(
            f"{log.path}: simulstream logs have no segments. Specify the segmentation of the "
            "recordings and the references (--segments FILE, REF)."
        )
    if references is not None and len(references) != len(log.entries):
        raise InputError(
            f"{log.path}: {format_count(len(log.entries), 'segment')} for "
            f"{format_count(len(references), 'reference')}. If the lines are recordings, "
            "specify their segmentation (--segments FILE)."
        )
    segments = []
    for index, entry in enumerate(log.entries):
        reference = entry.reference if references is None else references[index].strip()
        if reference is None:
            raise InputError(f"{entry.place}: missing field 'reference'. Specify a reference file")
        if entry.source_length is None:
            raise InputError(f"{entry.place}: missing field 'source_length'")
        segments.append(
            TimedSegment(
                entry.text,
                entry.delays,
                entry.elapsed,
                entry.source_length,
                count_reference_units(reference, log.unit),
                entry.recording_end,
            )
        )
    return segments


def divide_log(
    log: Log,
    source_segments: Sequence[SourceSegment],
    references: Sequence[tuple[str, ...]],
    method: str,
    *,
    in_seconds: bool = False,
    segmentation_path: str = "segmentation",
    workers: int = 1,
) -> tuple[list[TimedSegment], Resegmentation]:
    """Divide the recordings of a log into the segments of the reference.

    references: the references of each segment; latency uses the length of the first.
    in_seconds: return times in seconds and count reference units as simulstream does, for
        StreamLAAL. Otherwise, times are in milliseconds, as in OmniSTEval.
    """
    if len(source_segments) != len(references):
        raise InputError(
            f"{segmentation_path}: {format_count(len(source_segments), 'segment')} for "
            f"{format_count(len(references), 'reference')} (expected one segment per line of REF)"
        )
    recordings = [segment.recording for segment in source_segments]
    entries = match_recordings(log.entries, recordings, segmentation_path)
    texts = {name: entry.text for name, entry in entries.items()}
    result = resegment(texts, references, method, documents=recordings, workers=workers)
    scale = 1 if in_seconds else 1000
    ends: dict[str, float] = {}
    for source_segment in source_segments:
        end = source_segment.offset * scale + source_segment.duration * scale
        ends[source_segment.recording] = max(ends.get(source_segment.recording, 0), end)
    next_units = dict.fromkeys(entries, 0)
    segments = []
    for index, source_segment in enumerate(source_segments):
        entry, facts = entries[source_segment.recording], result.facts[index]
        # Re-segmentation drops white space at the beginning.
        margin = len(entry.text) - len(entry.text.lstrip())
        first = next_units[source_segment.recording]
        while first < len(entry.spans) and entry.spans[first][0] - margin < facts.start:
            first += 1
        last = first
        while last < len(entry.spans) and entry.spans[last][0] - margin < facts.end:
            last += 1
        next_units[source_segment.recording] = last
        offset = source_segment.offset * scale
        delays, elapsed = (
            times
            and [
                _convert_time(time, log, in_seconds=in_seconds) - offset
                for time in times[first:last]
            ]
            for times in (entry.delays, entry.elapsed)
        )
        segments.append(
            TimedSegment(
                result[index],
                delays or [],
                elapsed,
                source_segment.duration * scale,
                _count_divided_reference(references[index][0], log.unit, in_seconds=in_seconds),
                ends[source_segment.recording] - offset,
            )
        )
    return segments, result


def _convert_time(time: float, log: Log, *, in_seconds: bool) -> float:
    """Convert a time in a log to seconds or milliseconds."""
    if log.has_seconds:
        return time if in_seconds else time * 1000
    return time / 1000 if in_seconds else time


def _count_divided_reference(reference: str, unit: str, *, in_seconds: bool) -> int:
    """Return the length of a reference as simulstream (`in_seconds`) or OmniSTEval counts it."""
    reference = reference.strip()
    if in_seconds:
        return len(split_like_simulstream(reference, unit))
    # OmniSTEval removes spaces if it compares characters.
    return count_reference_units(reference.replace(" ", "") if unit == "char" else reference, unit)
