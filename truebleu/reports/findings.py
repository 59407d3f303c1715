"""What the data say by themselves: sentences with a number, each with a way to its segments.

A finding is worth its line if a person can do something with it. So each kind has a threshold, and
its reason stands here:

where   more than half of a difference comes from less than half of the segments (a range of
        lengths, a document, a label): whoever reads "better" should know where
turned  in a document or label of 100 segments or more the order is the other way round, by more
        than the whole difference; below that many the interval is too wide to say so
few     without so few segments (1 % at most) the difference would have the other sign
kept    what a translation should keep, and does not (health.py): in 1 % of the segments, or in
        many more of one system than of another (z of 3: one in 400 is chance)
style   a mark that a system writes and the references do not, or the other way round: 20 times or
        more, and ten times as often
same    the same text by both systems in a quarter of the segments: the difference is made in the
        others
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from truebleu import _kernel
from truebleu.metrics.base import Metric
from truebleu.metrics.statistics import Statistics
from truebleu.rendering.number_format import fixed, signed
from truebleu.reports.data_checks import FLAGS, STYLE, Written
from truebleu.reports.influence import changes
from truebleu.text.segments import Texts, to_kernel_texts
from truebleu.text.terminal_layout import format_count, join_words

if TYPE_CHECKING:
    from truebleu.comparison.segment_labels import Names

# The kinds, in the order in which they are told, and how many of each at most.
KINDS = {"few": 1, "turned": 3, "where": 3, "kept": 6, "style": 4, "same": 1}

# Groups of fewer segments say nothing.
LEAST = 20
LEAST_TURNED = 100
# Labels of so many values name each segment, or nearly.
MOST_GROUPS = 2000

# The tokens from which on a reference is in the next range of lengths.
LENGTHS = (10, 20, 30, 40, 60)

# Flags that are told of, with what is said of so many segments.
KEPT = {
    "empty": "no text",
    "copied-source": "the source as the hypothesis",
    "partly-untranslated": "words of the source in a row",
    "other-script": "another script than the references",
    "loop": "the same words again and again",
    "much-shorter": "less than half of the references' characters",
    "much-longer": "more than twice the references' characters",
    "numbers-differ": "other numbers than source and references",
    "name-missing": "a name of source and references missing",
    "negation-differs": "a negation that references have not, or none where they have one",
}


class Contents(NamedTuple):
    """What findings are made of: a part of what was read and counted for a report."""

    segments: int
    systems: Mapping[str, Texts]
    references: Sequence[Texts]
    baseline: str | None
    # The first metric that the page has the formula of: its id and label there, and tables.
    setting: str
    label: str
    metric: Metric[Any] | None
    tables: Mapping[str, Statistics]
    # The tokens of each reference.
    lengths: bytes
    documents: Names | None
    labels: Mapping[str, Names]
    # What the manifest says of flags.
    health: Mapping[str, Any]
    # Of each role.
    written: Mapping[str, Written]
    redacted: bool


class Finding(dict[str, Any]):
    """A sentence, its kind, and what a page shows for it: systems, setting, and filters."""

    def __init__(self, kind: str, weight: float, told: str, **state: Any) -> None:
        super().__init__(kind=kind, told=told, state=state)
        # Within its kind.
        self.weight = weight


def of_contents(contents: Contents) -> list[Finding]:
    """The findings of a report, the weightiest kind first."""
    made = [*_of_pair(contents), *_kept(contents), *_style(contents)]
    found = []
    for kind, most in KINDS.items():
        own = sorted((one for one in made if one["kind"] == kind), key=lambda one: -one.weight)
        found += own[:most]
    return found


# ---- the difference of two systems ----


def _of_pair(contents: Contents) -> Iterator[Finding]:
    """Where a difference lies, by the first metric: the best system, and the one it is compared to.

    That is the baseline, or the second if the baseline is the best.
    """
    names, metric = list(contents.systems), contents.metric
    if len(names) < 2 or metric is None or getattr(metric, "aggregate", "corpus") != "corpus":
        return
    score = {name: metric.from_statistics(table).value for name, table in contents.tables.items()}
    order = sorted(names, key=lambda name: score[name] if metric.lower_is_better else -score[name])
    best, baseline = order[0], contents.baseline
    other = order[1] if baseline in (None, best) else baseline
    whole = score[best] - score[other]
    if not whole:
        return
    state = {"systems": [other, best], "setting": contents.setting}
    title = f"{contents.label} {signed(fixed(2))(whole)}"
    yield from _few(contents, metric, best, other, whole, state)
    yield from _same(contents, best, other, state)
    for what, filters, keys, labels in _groupings(contents):
        # A group that no segment is of has no row.
        there = sorted(set(keys))
        if not 1 < len(there) <= MOST_GROUPS:
            continue
        places = {key: place for place, key in enumerate(there)}
        rows = [places[key] for key in keys]
        sums = [contents.tables[name].group_totals(rows, len(there)) for name in (best, other)]
        without = [changes(metric, own) for own in sums]
        inside = [metric.scores(own) for own in sums]
        for place, key in enumerate(there):
            size = rows.count(place)
            if size < LEAST:
                continue
            rest = whole + without[0][place] - without[1][place]
            of, at = f"{what} {labels[key]}".lstrip(), {**state, **filters(key)}
            if 2 * size < contents.segments and rest / whole < 0.5:
                part = f"{format_count(size, 'segment')}, {size / contents.segments:.0%}"
                told = (
                    f"Most of the difference between {best} and {other} comes from {of} ({part}): "
                    f"{title} in all, and {signed(fixed(2))(rest)} without them"
                )
                yield Finding("where", 1 - rest / whole, told, **at)
            own = inside[0][place] - inside[1][place]
            if size >= LEAST_TURNED and own / whole < -1:
                told = (
                    f"In {of} {other} is better than {best}: {contents.label} "
                    f"{signed(fixed(2))(own)} in {format_count(size, 'segment')}, and "
                    f"{title} in all"
                )
                yield Finding("turned", abs(own), told, **at)


def _groupings(contents: Contents) -> Iterator[tuple[str, Any, Sequence[int], list[str]]]:
    """What segments are grouped by: a name, the filters of a group, each segment's, all labels."""
    lengths = array("I")
    lengths.frombytes(contents.lengths)
    if sys.byteorder == "big":
        lengths.byteswap()
    ranges = list(zip((0, *LENGTHS), (*(end - 1 for end in LENGTHS), ""), strict=True))
    labels = [f"segments of {x} {f'to {y} tokens' if y else 'tokens or more'}" for x, y in ranges]
    places = [bisect_right(LENGTHS, length) for length in lengths]
    yield "", lambda i: {"range": "length:{}:{}".format(*ranges[i])}, places, labels
    if contents.documents is not None:
        known = contents.documents
        yield "document", lambda i: {"doc": i}, known.indices, known.names
    for place, (name, column) in enumerate(contents.labels.items()):
        yield name, lambda i, j=place: {"label": f"{j}:{i}"}, column.indices, column.names


def _few(
    contents: Contents,
    metric: Metric[Any],
    best: str,
    other: str,
    whole: float,
    state: Mapping[str, Any],
) -> Iterator[Finding]:
    """The few segments without which the difference has the other sign."""
    both = [changes(metric, contents.tables[name]) for name in (best, other)]
    sign = 1 if whole > 0 else -1
    lost = [sign * (one - two) for one, two in zip(*both, strict=True)]
    order = nsmallest(contents.segments // 100, range(len(lost)), key=lost.__getitem__)
    chosen: list[int] = []
    # What segments change does not quite add up, so it is only where to look.
    near = 0.0
    for i in order:
        chosen.append(i)
        near += lost[i]
        if near + sign * whole < 0:
            break
    kept = [True] * contents.segments
    for i in chosen:
        kept[i] = False
    rest = [metric.from_statistics(contents.tables[name][kept]).value for name in (best, other)]
    if chosen and sign * (rest[0] - rest[1]) < 0:
        told = (
            f"Without {format_count(len(chosen), 'segment')} of {contents.segments:,} "
            f"{other} would be "
            f"ahead of {best}: the difference hangs on them"
        )
        only = ",".join(str(i + 1) for i in sorted(chosen))
        yield Finding("few", 1.0, told, **{**state, "only": only, "about": "on which it hangs"})


def _same(contents: Contents, best: str, other: str, state: Mapping[str, Any]) -> Iterator[Finding]:
    """Segments to which both systems wrote the same."""
    same = _kernel.count_same(
        to_kernel_texts(contents.systems[best]), to_kernel_texts(contents.systems[other])
    )
    share = same / contents.segments
    if 0.25 <= share < 1:
        told = (
            f"{best} and {other} wrote the same text in {format_count(same, 'segment')} "
            f"({share:.0%}): "
            "what tells them apart is in the others"
        )
        yield Finding("same", share, told, **{**state, "outcome": "same"})


# ---- texts ----


def _kept(contents: Contents) -> Iterator[Finding]:
    """Flags of hypotheses that are frequent, or much more frequent in one system than in others."""
    told = contents.health
    known = {flag["id"] for flag in told["flags"]}
    names = list(contents.systems)
    looked = told["segments"]
    for flag, what in KEPT.items():
        if flag not in known:
            continue
        counts = [told["counts"].get(f"system{i}", {}).get(flag, 0) for i in range(len(names))]
        most, least = max(counts), min(counts)
        apart = (most - least) / sqrt(most + least) if most else 0.0
        warns = FLAGS[flag].severity == "warning"
        if not (apart >= 3 or (warns and most >= max(1, looked / 100))):
            continue
        place = counts.index(most)
        others = [
            f"{n:,} in {name}"
            for name, n in zip(names, counts, strict=True)
            if name != names[place]
        ]
        than = f" ({join_words(others)})" if others else ""
        where = "segment has" if most == 1 else "segments have"
        said = f"{most:,} {where} {what} in {names[place]}{than}"
        yield Finding("kept", apart + most / looked, said, flag=f"{flag}@system{place}")


def _style(contents: Contents) -> Iterator[Finding]:
    """Marks that systems write and references do not, or the other way round."""
    if contents.redacted:
        return
    names = list(contents.systems)
    written, references = contents.written, len(contents.references)
    for title, marks in STYLE.items():
        own = [written[f"system{i}"].marks[title] for i in range(len(names))]
        theirs = sum(written[f"reference{i}"].marks[title] for i in range(references)) / references
        more = [i for i, n in enumerate(own) if n >= 20 and n >= 10 * theirs]
        less = [i for i, n in enumerate(own) if theirs >= 20 and theirs >= 10 * n]
        for verb, some in (("write", more), ("do not write", less)):
            if not some:
                continue
            several = len(some) > 1
            alone = {"write": "writes", "do not write": "does not write"}[verb]
            who = (
                join_words([names[i] for i in some])
                if len(some) < len(names) or not several
                else "All systems"
            )
            # Of none at all one word is enough.
            numbers = (
                join_words([f"{own[i]:,}" for i in some]) if any(own[i] for i in some) else "none"
            )
            per = " a reference" if references > 1 else " in the reference"
            said = (
                f"{who} {verb if several else alone} {title}: {numbers} against {theirs:,.0f}{per}"
            )
            role = f"system{some[0]}" if verb == "write" else "reference0"
            weight = abs(own[some[0]] - theirs) / sqrt(own[some[0]] + theirs)
            # What is searched for is one mark.
            yield Finding("style", weight, said, find=marks[0], **{"in": role})
