"""Latency of simultaneous translation: AL, LAAL, AP, DAL, YAAL, LongYAAL and StreamLAAL.

A *unit* is a word or a character of the output. Its *delay* is the amount of source that the
system had received when it wrote the unit. The scores are identical, bit for bit, to those of
SimulEval 1.1.4, OmniSTEval 0.1.10 and simulstream 1.0.0, so sums are computed in the same order as
in these programs.

References:
    AL: Ma et al. 2019, STACL (aclanthology.org/P19-1289)
    LAAL: Polák et al. 2022 (arxiv.org/abs/2204.06028); Papi et al. 2022 (arxiv.org/abs/2206.05807)
    AP: Cho and Esipova 2016 (arxiv.org/abs/1606.02012)
    DAL: Arivazhagan et al. 2019 (arxiv.org/abs/1906.05218)
    YAAL, LongYAAL, SWF, EFSW: Polák et al. 2025 (arxiv.org/abs/2509.17349)
    StreamLAAL: Papi et al. 2024, StreamAtt (aclanthology.org/2024.acl-long.202)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import mean

from truebleu._kernel import InputError
from truebleu.resegmentation.logs import (
    Log,
    SourceSegment,
    divide_times,
    match_segments,
    split_like_simulstream,
)
from truebleu.resegmentation.resegment import Resegmentation, resegment
from truebleu.text.terminal_layout import format_count

# The names of the metrics for logs with one segment per line, and of the metrics for recordings.
SHORT_METRICS = ("LAAL", "YAAL", "AL", "DAL", "AP")
LONG_METRICS = ("LongYAAL", "StreamLAAL", "LAAL", "AL", "DAL", "AP")
METRICS = tuple(dict.fromkeys((*SHORT_METRICS, *LONG_METRICS)))
# Suffix of metrics that use times with computation, as in SimulEval.
COMPUTATION_AWARE = "_CA"
# OmniSTEval reports a likely degenerate policy if DSPTV is further from 0 than this.
MAX_DSPTV = 20


@dataclass(frozen=True, slots=True)
class TimedSegment:
    """A segment of the output, with the time at which each unit was written.

    text: the output. delays: the source received before each unit, from the start of the segment.
    elapsed: the delays including computation time; None if it was not measured.
    source_length: the duration of the segment's source; 0 if it is unknown.
    reference_length: the number of units of the reference.
    recording_end: the end of the recording, from the start of the segment; None in short form.
    """

    text: str
    delays: Sequence[float]
    elapsed: Sequence[float] | None
    source_length: float
    reference_length: int
    recording_end: float | None = None


@dataclass(frozen=True, slots=True)
class LatencyScore:
    """The score of a log for one metric.

    value: the mean of the segment scores; None if no segment has a score.
    segment_scores: the score of each segment; None for skipped segments.
    """

    value: float | None
    segment_scores: list[float | None]

    @property
    def skipped(self) -> int:
        """The number of segments without a score."""
        return self.segment_scores.count(None)


def count_reference_units(reference: str, unit: str) -> int:
    """Return the length of a reference as SimulEval and OmniSTEval count it.

    Words are separated by single spaces, so a double space or an empty reference adds a word.

    >>> count_reference_units("the  ferry", "word"), count_reference_units(" 天气 ", "char")
    (3, 2)
    """
    return len(reference.strip()) if unit == "char" else len(reference.split(" "))


def score_latency(
    metric: str, segments: Iterable[TimedSegment], *, computation_aware: bool = False
) -> LatencyScore:
    """Return a metric's mean score over the segments, and the score of each segment.

    metric: a name in `METRICS`. StreamLAAL is LAAL, computed on other segments.
    """
    scores: list[float | None] = []
    for segment in segments:
        delays = segment.elapsed if computation_aware else segment.delays
        if not delays or segment.source_length <= 0:
            scores.append(None)
        elif metric in ("YAAL", "LongYAAL"):
            scores.append(_compute_yaal(segment, delays, is_long=metric == "LongYAAL"))
        else:
            scores.append(_compute_score(metric, segment, delays))
    valid_scores = [score for score in scores if score is not None]
    return LatencyScore(mean(valid_scores) if valid_scores else None, scores)


def measure_simultaneity(segments: Iterable[TimedSegment]) -> dict[str, float | None]:
    """Return percentages that show whether a system waits for the end of the segments.

    SWF: simultaneous words fraction, the share of units written before the end of the source.
    EFSW: expected fraction of simultaneous words, the share of the source before the mean delay.
    DSPTV: EFSW minus SWF. The policy is probably degenerate if this is below -20 or above 20.
    """
    early_units = units = 0
    expected, sources = 0.0, 0.0
    for segment in segments:
        early_units += sum(delay < segment.source_length for delay in segment.delays)
        units += len(segment.delays)
        if segment.delays and segment.source_length > 0:
            yaal = _compute_yaal(segment, segment.delays, is_long=False)
            if yaal is not None:
                expected += max(0.0, segment.source_length - yaal)
                sources += segment.source_length
    swf = 100.0 * early_units / units if units else None
    efsw = 100.0 * expected / sources if sources > 0 else None
    dsptv = None if swf is None or efsw is None else efsw - swf
    return {"SWF": swf, "EFSW": efsw, "DSPTV": dsptv}


def _compute_score(metric: str, segment: TimedSegment, delays: Sequence[float]) -> float | None:
    """Return the AL, LAAL, AP or DAL of a segment, or None if it is undefined (empty reference)."""
    source_length, length = segment.source_length, segment.reference_length
    if metric == "DAL":
        return _compute_dal(delays, source_length)
    if metric in ("LAAL", "StreamLAAL"):
        length = max(len(delays), length)
    if metric == "AP":
        return sum(delays) / (source_length * length) if length else None
    if delays[0] > source_length:
        return delays[0]
    if not length:
        return None
    rate = length / source_length
    total, count = 0.0, 0
    for count, delay in enumerate(delays, 1):
        total += delay - (count - 1) / rate
        if delay >= source_length:
            break
    return total / count


def _compute_dal(delays: Sequence[float], source_length: float) -> float:
    rate = len(delays) / source_length
    total, previous = 0.0, -inf
    for index, delay in enumerate(delays):
        # Each unit is written at least 1 / rate after the previous one.
        previous = max(delay, previous + 1 / rate)
        total += previous - index / rate
    return total / len(delays)


def _compute_yaal(segment: TimedSegment, delays: Sequence[float], *, is_long: bool) -> float | None:
    """Return the mean lag of the units before the end of the source, or None if there are none."""
    recording_end = inf if segment.recording_end is None else segment.recording_end
    limit = recording_end if is_long else min(segment.source_length, recording_end)
    rate = max(len(delays), segment.reference_length) / segment.source_length
    total, count = 0.0, 0
    for index, delay in enumerate(delays):
        if delay >= limit:
            break
        total += delay - index / rate
        count = index + 1
    return total / count if count else None


# ---- segments of logs ----


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
    segments = []
    rows = zip(result, times, source_segments, references, strict=True)
    for text, (delays, elapsed), source_segment, (reference, *_) in rows:
        reference = reference.strip()  # noqa: PLW2901
        if in_seconds:
            length = len(split_like_simulstream(reference, log.unit))
        else:
            # OmniSTEval removes spaces if it compares characters.
            compared = reference.replace(" ", "") if log.unit == "char" else reference
            length = count_reference_units(compared, log.unit)
        duration = source_segment.duration * scale
        rest = ends[source_segment.recording] - source_segment.offset * scale
        segments.append(TimedSegment(text, delays, elapsed, duration, length, rest))
    return segments, result
