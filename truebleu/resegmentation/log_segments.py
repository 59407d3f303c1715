"""Segments with times: the lines of a log, or recordings divided like the reference."""

from __future__ import annotations

from collections.abc import Sequence

from truebleu._kernel import InputError
from truebleu.resegmentation.latency import TimedSegment, count_reference_units
from truebleu.resegmentation.logs import (
    Log,
    SourceSegment,
    divide_times,
    match_segments,
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
    entries = match_segments(log, source_segments, len(references), segmentation_path)
    recordings = [segment.recording for segment in source_segments]
    texts = {name: entry.text for name, entry in entries.items()}
    result = resegment(texts, references, method, documents=recordings, workers=workers)
    scale = 1 if in_seconds else 1000
    ends: dict[str, float] = {}
    for source_segment in source_segments:
        end = source_segment.offset * scale + source_segment.duration * scale
        ends[source_segment.recording] = max(ends.get(source_segment.recording, 0), end)
    places = [(facts.start, facts.end) for facts in result.facts]
    times = divide_times(log, entries, source_segments, places, in_seconds=in_seconds)
    segments = [
        TimedSegment(
            text,
            delays,
            elapsed,
            source_segment.duration * scale,
            _count_divided_reference(row[0], log.unit, in_seconds=in_seconds),
            ends[source_segment.recording] - source_segment.offset * scale,
        )
        for text, (delays, elapsed), source_segment, row in zip(
            result, times, source_segments, references, strict=True
        )
    ]
    return segments, result


def _count_divided_reference(reference: str, unit: str, *, in_seconds: bool) -> int:
    """Return the length of a reference as simulstream (`in_seconds`) or OmniSTEval counts it."""
    reference = reference.strip()
    if in_seconds:
        return len(split_like_simulstream(reference, unit))
    # OmniSTEval removes spaces if it compares characters.
    return count_reference_units(reference.replace(" ", "") if unit == "char" else reference, unit)
