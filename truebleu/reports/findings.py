"""Automatic findings: sentences with a number, linked to the segments that they describe.

A finding is useful if the reader can act on it, so each kind has a threshold:

concentrated  more than half of a delta comes from fewer than half of the segments (a range of
              lengths, a document, a label), so the reader should know these segments; a delta that
              is not significant is left out, because chance alone concentrates it
reversed      within a range of lengths, a document or a label, the order of the systems is reversed
              by more than the whole delta, and the reversal is significant by the test of the
              report, with Bonferroni's correction for the number of groups of at least 100 segments
decisive      removing a few segments (at most 1%) would reverse the sign of the delta
flags         a flag from data_checks.py is frequent: in 1% of the segments, or in many more
              segments of one system than of another (z = 3, a chance of one in 400)
style         a system uses a punctuation mark at least 20 times, and at least ten times as often as
              the references, or the reverse
same          both systems have the same output in a quarter of the segments, so the delta comes
              from the others
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import nsmallest
from itertools import compress
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from truebleu import _kernel
from truebleu._kernel import Table, exchanged
from truebleu.metrics.base import Metric
from truebleu.metrics.scores import Statistics
from truebleu.rendering.number_format import (
    MORE_DIGITS,
    NumberFormatter,
    format_p_value,
    make_formatter,
    make_signed_formatter,
)
from truebleu.reports.data_checks import FLAGS, STYLE_MARKS, RoleTotals
from truebleu.reports.report_settings import MetricSetting
from truebleu.significance import Measure, run_paired_tests
from truebleu.text.segments import Texts, to_kernel_texts
from truebleu.text.terminal_layout import format_count, join_words

if TYPE_CHECKING:
    from truebleu.comparison.comparison_request import Significance
    from truebleu.comparison.segment_labels import SegmentNames

# Kinds of findings in display order, with the maximum number of each.
MAX_FINDINGS = {"decisive": 1, "reversed": 3, "concentrated": 3, "flags": 6, "style": 4, "same": 1}

# Scores of groups smaller than this are too uncertain.
MIN_GROUP_SIZE = 20
MIN_REVERSED_GROUP_SIZE = 100
# Labels with more values than this are skipped, because nearly every segment has a different value.
MAX_GROUPS = 2000

# Longer lists of systems or of counts are summarized.
MAX_LISTED_SYSTEMS = 3

# Lower limits of the length ranges, in reference tokens.
LENGTH_EDGES = (10, 20, 30, 40, 60)

# Reported flags, with a phrase that completes "40 segments have …".
FLAG_DESCRIPTIONS = {
    "empty": "no text",
    "copied-source": "a hypothesis that equals the source",
    "partly-untranslated": "untranslated words",
    "other-script": "a script that the references do not use",
    "loop": "repeated words",
    "special-tokens": "special tokens, such as <unk>",
    "tokenized": "spaces around punctuation marks, or subword marks",
    "html-entities": "HTML entities",
    "much-shorter": "fewer than half as many characters as the references",
    "much-longer": "more than twice as many characters as the references",
    "numbers-differ": "numbers that differ from the source and the references",
    "name-missing": "a missing name",
    "negation-differs": "a negation that differs from the references",
}


class FindingInputs(NamedTuple):
    """The report data from which findings are computed."""

    segments: int
    systems: Mapping[str, Texts]
    references: Sequence[Texts]
    baseline: str | None
    # The first metric that can rank the systems.
    setting: MetricSetting | None
    # Number of tokens per reference, as an encoded block.
    reference_lengths: bytes
    documents: SegmentNames | None
    labels: Mapping[str, SegmentNames]
    # Manifest entry of the flags.
    health: Mapping[str, Any]
    totals_by_role: Mapping[str, RoleTotals]
    is_redacted: bool
    testing: Significance
    # Pairs that differ significantly by the metric of `setting`, or None without a test.
    significant_pairs: Sequence[AbstractSet[str]] | None
    # The document of each segment if documents are resampled, otherwise None.
    resampled_documents: Sequence[int] | None
    workers: int
    # Displayed scale of scores, 100 or 1.
    scale: int = 100


class Finding(dict[str, Any]):
    """A sentence, its kind, and the page state that shows its segments.

    The state contains systems, setting and filters. `weight` ranks findings of the same kind.
    """

    def __init__(self, kind: str, weight: float, text: str, **state: Any) -> None:
        super().__init__(kind=kind, text=text, state=state)
        self.weight = weight


def collect_findings(inputs: FindingInputs) -> list[Finding]:
    """Return the findings of a report, grouped by kind and sorted by decreasing weight."""
    candidates = [
        *_find_segments_behind_delta(inputs),
        *_find_frequent_flags(inputs),
        *_find_style_marks(inputs),
    ]
    findings = []
    for kind, max_findings in MAX_FINDINGS.items():
        findings_of_kind = sorted(
            (one for one in candidates if one["kind"] == kind), key=lambda one: -one.weight
        )
        findings += findings_of_kind[:max_findings]
    return findings


# ---- difference between two systems ----


class _ComparedPair(NamedTuple):
    """The best system and another system, for one metric."""

    setting: MetricSetting
    best: str
    compared: str
    # Score of the best system minus the other score; negative if lower scores are better.
    delta: float
    # Page state that selects both systems and the metric.
    state: Mapping[str, Any]
    format_delta: NumberFormatter

    @property
    def tables(self) -> list[Statistics]:
        """The statistics of the best system and of the other system."""
        return [self.setting.tables[name] for name in (self.best, self.compared)]


class _SegmentGroup(NamedTuple):
    """Segments of a length range, document or label, with the deltas inside and outside it."""

    title: str
    filters: Mapping[str, Any]
    segment_keys: Sequence[int]
    key: int
    size: int
    delta: float
    remaining_delta: float


def _find_segments_behind_delta(inputs: FindingInputs) -> Iterator[Finding]:
    """Find the segments that explain the delta between the best system and another system.

    The other system is the baseline, or the second-best system if the baseline is the best. The
    metric is the first metric of the report.
    """
    names, setting = list(inputs.systems), inputs.setting
    if len(names) < 2 or setting is None:
        return
    metric = setting.metric
    if getattr(metric, "aggregate", "corpus") != "corpus":
        return
    scores = {name: metric.from_statistics(table).value for name, table in setting.tables.items()}
    ranking = sorted(names, key=scores.__getitem__, reverse=not metric.lower_is_better)
    best, baseline = ranking[0], inputs.baseline
    compared = ranking[1] if baseline in (None, best) else baseline
    delta = scores[best] - scores[compared]
    if not delta:
        return

    def format_delta(value: float) -> str:
        digits = 2 if inputs.scale == 100 else 2 + MORE_DIGITS
        return make_signed_formatter(make_formatter(digits))(value * inputs.scale / 100)

    state = {"systems": [compared, best], "setting": setting.id}
    pair = _ComparedPair(setting, best, compared, delta, state, format_delta)
    yield from _find_decisive_segments(inputs, pair)
    yield from _find_identical_outputs(inputs, pair)
    groups = list(_score_groups(inputs, pair))
    if inputs.significant_pairs is None or {best, compared} in inputs.significant_pairs:
        for group in groups:
            remaining_share = group.remaining_delta / delta
            if 2 * group.size >= inputs.segments or remaining_share >= 0.5:
                continue
            size_text = f"{format_count(group.size, 'segment')}, {group.size / inputs.segments:.0%}"
            text = (
                f"Most of the difference between {best} and {compared} comes from {group.title} "
                f"({size_text}): {setting.label} {format_delta(delta)} in all segments, "
                f"{format_delta(group.remaining_delta)} without them"
            )
            yield Finding("concentrated", 1 - remaining_share, text, **state, **group.filters)
    yield from _find_reversed_orders(inputs, pair, groups)


def _score_groups(inputs: FindingInputs, pair: _ComparedPair) -> Iterator[_SegmentGroup]:
    """Yield each group of segments that is large enough for its scores to be meaningful."""
    metric = pair.setting.metric
    for group_kind, make_filters, segment_keys, labels in _group_segments(inputs):
        # Groups without segments get no row.
        group_keys = sorted(set(segment_keys))
        if not 1 < len(group_keys) <= MAX_GROUPS:
            continue
        positions = {key: position for position, key in enumerate(group_keys)}
        group_rows = [positions[key] for key in segment_keys]
        group_sums = [table.group_totals(group_rows, len(group_keys)) for table in pair.tables]
        score_changes = [compute_leave_one_out_changes(metric, sums) for sums in group_sums]
        group_scores = [metric.scores(sums) for sums in group_sums]
        for position, key in enumerate(group_keys):
            size = group_rows.count(position)
            if size >= MIN_GROUP_SIZE:
                yield _SegmentGroup(
                    f"{group_kind} {labels[key]}".lstrip(),
                    make_filters(key),
                    segment_keys,
                    key,
                    size,
                    group_scores[0][position] - group_scores[1][position],
                    pair.delta + score_changes[0][position] - score_changes[1][position],
                )


def _find_reversed_orders(
    inputs: FindingInputs, pair: _ComparedPair, groups: Sequence[_SegmentGroup]
) -> Iterator[Finding]:
    """Find groups in which the other system is significantly better than the best system."""
    testing, label = inputs.testing, pair.setting.label
    if testing.test is None:
        return
    tested_groups = [group for group in groups if group.size >= MIN_REVERSED_GROUP_SIZE]
    for group in tested_groups:
        if group.delta / pair.delta >= -1:
            continue
        is_member = [key == group.key for key in group.segment_keys]
        tables = {name: pair.setting.tables[name][is_member] for name in (pair.compared, pair.best)}
        documents = inputs.resampled_documents
        [result] = run_paired_tests(
            [Measure(pair.setting.metric, tables)],
            test=testing.test,
            randomizations=testing.randomizations,
            resamples=testing.resamples,
            seed=testing.seed,
            documents=None if documents is None else list(compress(documents, is_member)),
            workers=inputs.workers,
        )
        p = min(1.0, result.differences[pair.best].p * len(tested_groups))
        if p >= testing.alpha:
            continue
        # Both deltas are the score of the system that is better in the group minus the score of the
        # other system.
        p_text = format_p_value(p)
        p_equation = f"p {'' if p_text.startswith('<') else '= '}{p_text}".replace("<", "< ")
        correction = ""
        if len(tested_groups) > 1:
            correction = f", corrected for {len(tested_groups)} groups"
        text = (
            f"In {group.title}, {pair.compared} is better than {pair.best}: {label} "
            f"{pair.format_delta(-group.delta)} in {format_count(group.size, 'segment')} "
            f"({p_equation}{correction}), {pair.format_delta(-pair.delta)} in all segments"
        )
        yield Finding("reversed", abs(group.delta), text, **pair.state, **group.filters)


def _group_segments(inputs: FindingInputs) -> Iterator[tuple[str, Any, Sequence[int], list[str]]]:
    """Group the segments by length, by document and by label.

    Yield, for each grouping, its name, a function from a group's key to its filters, the key of
    each segment, and the titles of the groups by key.
    """
    lengths = array("I")
    lengths.frombytes(inputs.reference_lengths)
    if sys.byteorder == "big":
        lengths.byteswap()
    ranges = list(zip((0, *LENGTH_EDGES), (*(end - 1 for end in LENGTH_EDGES), ""), strict=True))
    labels = [f"segments of {x} {f'to {y} tokens' if y else 'tokens or more'}" for x, y in ranges]
    positions = [bisect_right(LENGTH_EDGES, length) for length in lengths]
    yield "", lambda i: {"range": "length:{}:{}".format(*ranges[i])}, positions, labels
    if inputs.documents is not None:
        documents = inputs.documents
        yield "document", lambda i: {"doc": i}, documents.indices, documents.names
    for position, (name, column) in enumerate(inputs.labels.items()):
        yield name, lambda i, j=position: {"label": f"{j}:{i}"}, column.indices, column.names


def _find_decisive_segments(inputs: FindingInputs, pair: _ComparedPair) -> Iterator[Finding]:
    """Find a few segments whose removal reverses the sign of the delta."""
    metric, tables, delta = pair.setting.metric, pair.tables, pair.delta
    score_changes = [compute_leave_one_out_changes(metric, table) for table in tables]
    sign = 1 if delta > 0 else -1
    delta_changes = [sign * (a - b) for a, b in zip(*score_changes, strict=True)]
    segment_numbers = range(len(delta_changes))
    order = nsmallest(inputs.segments // 100, segment_numbers, key=delta_changes.__getitem__)
    removed_segments: list[int] = []
    # Changes are not exactly additive, so the estimate only selects candidates to verify.
    estimated_change = 0.0
    for i in order:
        removed_segments.append(i)
        estimated_change += delta_changes[i]
        if estimated_change + sign * delta < 0:
            break
    keeps_segment = [True] * inputs.segments
    for i in removed_segments:
        keeps_segment[i] = False
    remaining = [metric.from_statistics(table[keeps_segment]).value for table in tables]
    if removed_segments and sign * (remaining[0] - remaining[1]) < 0:
        # The remaining difference is too small to call a system better.
        direction = "lower" if metric.lower_is_better else "higher"
        text = (
            f"Without {len(removed_segments):,} of {inputs.segments:,} segments, {pair.compared} "
            f"would have a {direction} {pair.setting.label} than {pair.best}"
            f"{' (lower is better)' if metric.lower_is_better else ''}"
        )
        removed_numbers = ",".join(str(i + 1) for i in sorted(removed_segments))
        yield Finding(
            "decisive",
            1.0,
            text,
            **{**pair.state, "only": removed_numbers, "about": "decisive segments"},
        )


def _find_identical_outputs(inputs: FindingInputs, pair: _ComparedPair) -> Iterator[Finding]:
    best, compared = pair.best, pair.compared
    identical_count = _kernel.count_same(
        to_kernel_texts(inputs.systems[best]), to_kernel_texts(inputs.systems[compared])
    )
    share = identical_count / inputs.segments
    if 0.25 <= share < 1:
        text = (
            f"{best} and {compared} have the same output in "
            f"{format_count(identical_count, 'segment')} ({share:.0%}), so "
            "the difference comes from the other segments"
        )
        yield Finding("same", share, text, **{**pair.state, "outcome": "same"})


# ---- texts ----


def _find_frequent_flags(inputs: FindingInputs) -> Iterator[Finding]:
    flag_entry = inputs.health
    available_flags = {flag["id"] for flag in flag_entry["flags"]}
    names = list(inputs.systems)
    checked = flag_entry["segments"]
    for flag, description in FLAG_DESCRIPTIONS.items():
        if flag not in available_flags:
            continue
        counts = [
            flag_entry["counts"].get(f"system{i}", {}).get(flag, 0) for i in range(len(names))
        ]
        high, low = max(counts), min(counts)
        z_score = (high - low) / sqrt(high + low) if high else 0.0
        is_warning = FLAGS[flag].severity == "warning"
        if not (z_score >= 3 or (is_warning and high >= max(1, checked / 100))):
            continue
        position = counts.index(high)
        other_counts = dict(zip(names, counts, strict=True))
        del other_counts[names[position]]
        comparison = ""
        if len(other_counts) > MAX_LISTED_SYSTEMS:
            ranges = _list_counts(list(other_counts.values()))
            comparison = f" ({ranges} in the other {len(other_counts)} systems)"
        elif other_counts:
            listed_counts = join_words([f"{n:,} in {name}" for name, n in other_counts.items()])
            comparison = f" ({listed_counts})"
        segments_have = "segment has" if high == 1 else "segments have"
        text = f"{names[position]}: {high:,} {segments_have} {description}{comparison}"
        state = {"flag": f"{flag}@system{position}"}
        if names[position] != inputs.baseline:
            state["b"] = names[position]
        yield Finding("flags", z_score + high / checked, text, **state)


def _list_counts(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    if not high:
        return "none"
    if len(counts) <= MAX_LISTED_SYSTEMS:
        return join_words([f"{n:,}" for n in counts])
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _find_style_marks(inputs: FindingInputs) -> Iterator[Finding]:
    if inputs.is_redacted:
        return
    names = list(inputs.systems)
    totals, reference_count = inputs.totals_by_role, len(inputs.references)
    for title, marks in STYLE_MARKS.items():
        counts = [totals[f"system{i}"].marks[title] for i in range(len(names))]
        references = [totals[f"reference{i}"] for i in range(reference_count)]
        mean = sum(reference.marks[title] for reference in references) / reference_count
        overusing = [i for i, n in enumerate(counts) if n >= 20 and n >= 10 * mean]
        underusing = [i for i, n in enumerate(counts) if mean >= 20 and mean >= 10 * n]
        for verb, systems in (("overuse", overusing), ("underuse", underusing)):
            if not systems:
                continue
            is_plural = len(systems) > 1
            subject = join_words([names[i] for i in systems])
            if is_plural and len(systems) > min(MAX_LISTED_SYSTEMS, len(names) - 1):
                share = f"{len(systems)} of {len(names)}"
                subject = f"{'All' if len(systems) == len(names) else share} systems"
            numbers = _list_counts([counts[i] for i in systems])
            per_reference = "per reference" if reference_count > 1 else "in the reference"
            text = (
                f"{subject} {verb if is_plural else verb + 's'} {title}: {numbers}, compared "
                f"with {mean:,.0f} {per_reference}"
            )
            role = f"system{systems[0]}" if verb == "overuse" else "reference0"
            weight = abs(counts[systems[0]] - mean) / sqrt(counts[systems[0]] + mean)
            # The text search accepts a single mark.
            yield Finding("style", weight, text, find=marks[0], **{"in": role})


# ---- influence of segments ----


def compute_influences(
    metric: Metric[Any], tables: Mapping[str, Statistics], systems: Sequence[str]
) -> list[float]:
    """Return, for each segment, the absolute change in the score or delta when it is removed.

    With one system, this is the change in its score. With more systems, it is the largest change in
    any delta relative to the first system.
    """
    changes_by_system = [
        compute_leave_one_out_changes(metric, tables[system]) for system in systems
    ]
    if len(changes_by_system) == 1:
        return list(map(abs, changes_by_system[0]))
    first, *other_systems = changes_by_system
    return [
        max(abs(change - baseline) for change in row)
        for baseline, *row in zip(first, *other_systems, strict=True)
    ]


def compute_leave_one_out_changes(metric: Metric[Any], table: Table) -> Sequence[float]:
    """Return, for each row, the score without the row minus the score of all rows.

    Rows are the statistics of segments, or the aggregated statistics of groups. If the corpus score
    is the mean of segment scores, the rows must be segments.
    """
    if getattr(metric, "aggregate", "corpus") == "segments":
        values = metric.segment_scores(table)
        mean = sum(values) / len(values)
        return [(mean - value) / max(1, len(values) - 1) for value in values]
    totals = table.total()
    zero_table = Table.from_bytes(bytes(8 * len(table) * table.width), table.width)
    leave_one_out, _ = exchanged((zero_table, table), (totals, totals))
    total_score = metric.scores(totals)[0]
    return [value - total_score for value in metric.scores(leave_one_out)]
