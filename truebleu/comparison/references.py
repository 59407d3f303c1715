"""Scores by each reference alone, where a comparison has several references.

A winner that depends on the reference is worth a warning, and so is an output that copies one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from statistics import median
from typing import Any

from truebleu._kernel import InputError
from truebleu.comparison import segment_labels
from truebleu.comparison.comparison_builder import resampled_columns
from truebleu.comparison.comparison_layout import digits, equation_of_p
from truebleu.comparison.comparison_request import Request
from truebleu.metrics.base import MetricFailedError
from truebleu.rendering.number_format import fixed, signed
from truebleu.rendering.view import Content
from truebleu.text import segments
from truebleu.text.terminal_layout import format_count, join_words, shorten_names

# More references are not scored alone: each takes another pass over all systems.
MAX_REFERENCES = 20
# An output is suspected of copying if it equals a reference in at least this share and number of
# segments, and this many times as often as the median of the other systems: short segments equal
# the reference in most outputs. Of the 125 outputs with two references of WMT22, these limits find
# Online-B (en-zh and en-cs), with reference B.
MIN_COPY_SHARE, MIN_COPIES, MIN_COPY_RATIO = 0.05, 10, 2.5


def add_scores(content: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the comparison with the scores by each reference alone, and warnings about them."""
    if request.buckets is not None:
        return content
    columns = segments.split_reference_columns(
        next(iter(request.systems.values())), request.references
    )
    if len(columns) < 2:
        return content
    if len(columns) > MAX_REFERENCES:
        text = (
            f"{len(columns)} references per segment: none of them is scored alone, which is done "
            f"for up to {MAX_REFERENCES}."
        )
        return {**content, "notes": [*content["notes"], {"kind": "many references", "text": text}]}
    copies = _count_copies(request, columns)
    names = _reference_names(request.given_references, len(columns))
    made = []
    for name, column, identical in zip(names, columns, copies, strict=True):
        chosen = _segments_with_text(column)
        alone = _request_for(request, column, chosen)
        size = content["segments"] if chosen is None else len(chosen)
        try:
            scores = _scores(content, request, alone)
        except InputError:  # for example, no segment has this reference
            return content
        made.append({"name": name, "segments": size, **scores})
        made[-1]["identical"] = dict(_judge_copies(identical, size))
    # A metric may fail with some reference.
    common = set.intersection(*(set(one["scores"]) for one in made))
    for one in made:
        one["scores"] = {name: found for name, found in one["scores"].items() if name in common}
    content = {**content, "by_reference": made}
    return {**content, "warnings": [*content.get("warnings", ()), *reference_notes(content)]}


def _reference_names(given: Any, number: int) -> list[str]:
    """Return short names of the references: of their files, or numbers (columns of one file)."""
    columns = given if isinstance(given, list | tuple) else [given]
    names = [str(i) for i in range(1, number + 1)]
    if len(columns) == number and all(map(segments.is_file, columns)):
        files = list(map(segments.as_file, columns))
        if len({file.path for file in files}) == 1:
            names = [str(file.column) for file in files]
        else:
            names = shorten_names([f.path + (f"#{f.column}" if f.column else "") for f in files])
    return [name if "ref" in name.lower() else f"ref {name}" for name in names]


# ---- scores ----


def _segments_with_text(column: Any) -> list[int] | None:
    """Return the indices of the segments that have this reference, or None for all."""
    if segments.is_file(column) or None not in column:
        return None
    return [i for i, text in enumerate(column) if text is not None]


def _request_for(request: Request, column: Any, chosen: list[int] | None) -> Request:
    """Return the request with one column as the only reference."""
    alone = copy(request)
    alone.failed, alone.given, alone.seen = {}, {}, {}
    alone.references = column
    alone.metrics = {
        metric: name
        for metric, name in request.metrics.items()
        if getattr(metric, "REFERENCES", None) != "none"
    }
    if chosen is not None:

        def select(values: Any) -> list[Any]:
            found = list(segments.iterate_items("segments", values))
            return [found[i] for i in chosen]

        alone.references = select(column)
        alone.systems = {name: select(one) for name, one in request.systems.items()}
        alone.source = None if request.source is None else select(request.source)
        if request.documents is not None:
            known = request.documents
            alone.documents = segment_labels.Names(known.names[known.indices[i]] for i in chosen)
    return alone


def _scores(content: Content, request: Request, alone: Request) -> dict[str, Any]:
    """Return the scores by metric and system, and the pairs of the best system by all references.

    The resamples and randomizations are those of the comparison, if the segments are.
    """
    named = [one["name"] for one in content["metrics"] if one["source"] == "truebleu"]
    names = dict(zip(request.metrics, named, strict=True))
    order = [system["name"] for system in content["systems"]]
    # A metric that does not split the text has no winner with any reference.
    alone.metrics = {
        metric: name for metric, name in alone.metrics.items() if _winners(content, names[metric])
    }
    if not alone.metrics:
        return {"scores": {}, "pairs": []}
    scores: dict[str, dict[str, Any]] = {}
    pairs = []
    try:
        columns = list(resampled_columns(alone, order))
    except MetricFailedError:
        # Every metric failed with this reference; `add_scores` leaves them out of the others, too.
        columns = []
    for metric, column in columns:
        column.name = names[metric]
        found = scores[column.name] = {system: column.score(system) for system in order}
        for score in found.values():
            del score["details"], score["runs"]
        (best, *_) = _winners(content, column.name)
        pairs += [pair for pair in column.pairs() if best in (pair["first"], pair["second"])]
    return {"scores": scores, "pairs": pairs}


# ---- copies ----


def _count_copies(request: Request, columns: Sequence[Any]) -> Iterator[dict[str, int]]:
    """Yield the number of segments that equal each reference, by system: the most of its runs."""
    counts = {
        name: segments.count_identical(output, columns) for name, output in request.systems.items()
    }
    for i in range(len(columns)):
        yield {name: max(counts[run][i] for run in names) for name, names in request.runs.items()}


def _judge_copies(identical: dict[str, int], size: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield for each system how often it equals a reference, and whether that is suspicious."""
    for name, number in identical.items():
        others = [identical[other] for other in identical if other != name]
        usual = median(others) if others else None
        is_copy = (
            usual is not None
            and number >= max(MIN_COPIES, MIN_COPY_SHARE * size)
            and number >= MIN_COPY_RATIO * usual
        )
        share = number / size if size else 0.0
        yield (
            name,
            {"segments": number, "share": share, "others_median": usual, "is_copy": is_copy},
        )


# ---- in words ----


def reference_notes(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a warning where the winner depends on the reference, or a system copies one."""
    for metric in content["metrics"]:
        if metric["name"] in content["by_reference"][0]["scores"]:
            yield from _of_winners(content, metric)
    for one in content["by_reference"]:
        for system, found in one["identical"].items():
            if found["is_copy"]:
                yield {
                    "kind": "copied reference",
                    "systems": [system],
                    "text": f"{system} equals {one['name']} in {found['segments']:,} of "
                    f"{format_count(one['segments'], 'segment')} ({100 * found['share']:.1f} "
                    "%; other "
                    f"systems, in the median: {found['others_median']:,.0f}). One of the two may "
                    f"have been made from the other, so scores with {one['name']} favour {system}.",
                }


def _winners(content: Content, metric: str, one: Content | None = None) -> list[str]:
    """Return the best systems by a metric, by all references together or by one of them."""
    names = [system["name"] for system in content["systems"]]
    if one is None:
        scores = {system["name"]: system["scores"][metric] for system in content["systems"]}
    else:
        scores = one["scores"][metric]
    return [name for name in names if scores[name]["rank"] == 1]


def _of_winners(content: Content, metric: Content) -> Iterator[dict[str, Any]]:
    name, references = metric["name"], content["by_reference"]
    best, *ties = _winners(content, name)
    differing = [one for one in references if best not in _winners(content, name, one)]
    if not differing or any(
        all(tie in _winners(content, name, one) for one in references) for tie in ties
    ):
        return
    rival = _winners(content, name, differing[0])[0]
    told = [f"with all references {_verdict(content, metric, content, best, rival)}"]
    for one in references:
        first = _winners(content, name, one)[0]
        other = best if first != best else rival
        told.append(f"with {one['name']} alone {_verdict(content, metric, one, first, other)}")
    yield {
        "kind": "winner depends on the reference",
        "metrics": [name],
        "systems": [best, rival],
        "text": f"{name}: which system is best depends on the reference: {join_words(told)}.",
    }


def _verdict(content: Content, metric: Content, one: Content, first: str, other: str) -> str:
    """Tell which system is best, by how much, and whether that is significant."""
    pair = next(
        pair
        for pair in one["pairs"]
        if pair["metric"] == metric["name"] and {pair["first"], pair["second"]} == {first, other}
    )
    value = pair["value"] if pair["first"] == first else -pair["value"]
    size = f"{signed(fixed(digits(content, metric, None)))(value)} to {other}"
    if pair["p"] is not None:
        size += f", {equation_of_p(pair)}"
        size += "" if pair["significant"] else ", not significant"
    return f"{first} is best ({size})"
