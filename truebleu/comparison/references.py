"""Separate scores for each reference, for comparisons with several references.

Warnings report a winner that depends on the reference, and an output that copies a reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from statistics import median
from typing import Any

from truebleu._kernel import InputError
from truebleu.comparison import segment_labels
from truebleu.comparison.comparison_builder import resample_metrics
from truebleu.comparison.comparison_columns import format_p_equation, get_score_digits
from truebleu.comparison.comparison_request import Request
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.text_warnings import IDENTICAL_KIND, MIXUP_KIND
from truebleu.rendering.number_format import make_formatter, make_signed_formatter
from truebleu.rendering.view import Content
from truebleu.text import segments
from truebleu.text.system_names import name_references
from truebleu.text.terminal_layout import format_count, join_words

# Separate scores need one pass over all systems per reference, so the number of references is
# limited.
MAX_REFERENCES = 20
# A system is suspected of copying a reference if at least this share, and at least this number, of
# its segments are identical to the reference, and if their number is at least this many times the
# median number for the other systems (most outputs contain short segments that are identical).
# Among the 125 WMT22 outputs with two references, these limits flag Online-B (en-zh and en-cs), for
# reference B.
MIN_COPY_SHARE, MIN_COPIES, MIN_COPY_RATIO = 0.05, 10, 2.5


def add_reference_scores(content: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the comparison with scores for each reference, and with warnings about them."""
    if request.buckets is not None:
        return content
    columns = segments.split_reference_columns(
        next(iter(request.systems.values())), request.references
    )
    if len(columns) < 2:
        return content
    if len(columns) > MAX_REFERENCES:
        text = (
            f"{len(columns)} references per segment: per-reference scores support at most "
            f"{MAX_REFERENCES} references."
        )
        return {**content, "notes": [*content["notes"], {"kind": "many references", "text": text}]}
    identical_counts = {
        name: segments.count_identical_hypotheses(output, columns)
        for name, output in request.systems.items()
    }
    names = [
        name if "ref" in name.lower() else f"ref {name}"
        for name in name_references(request.original_references, len(columns))
    ]
    reference_entries = []
    for i, (reference, column) in enumerate(zip(names, columns, strict=True)):
        # The number of identical segments by system (maximum over runs).
        identical = {
            name: max(identical_counts[run][i] for run in runs)
            for name, runs in request.runs.items()
        }
        # The segments that have this reference, or None for all.
        indices = None
        if not segments.is_file(column) and None in column:
            indices = [k for k, text in enumerate(column) if text is not None]
        single_request = _build_single_request(request, column, indices)
        size = content["segments"] if indices is None else len(indices)
        try:
            scores = _score_single_reference(content, request, single_request)
        except InputError:  # for example, if no segment has this reference
            return content
        reference_entries.append({"name": reference, "segments": size, **scores})
        reference_entries[-1]["identical"] = dict(_describe_copies(identical, size))
    # A metric may fail with some references.
    common = set.intersection(*(set(one["scores"]) for one in reference_entries))
    for entry in reference_entries:
        entry["scores"] = {name: found for name, found in entry["scores"].items() if name in common}
    content = {**content, "by_reference": reference_entries}
    return {
        **content,
        "warnings": [*content.get("warnings", ()), *build_reference_warnings(content)],
    }


# ---- scores ----


def _build_single_request(request: Request, column: Any, indices: list[int] | None) -> Request:
    single_request = copy(request)
    single_request.failure_messages, single_request.external_scores = {}, {}
    single_request.text_summaries = {}
    single_request.references = column
    single_request.metrics = {
        metric: name
        for metric, name in request.metrics.items()
        if getattr(metric, "REFERENCES", None) != "none"
    }
    if indices is not None:

        def select_texts(values: Any) -> list[Any]:
            items = list(segments.iterate_items("segments", values))
            return [items[i] for i in indices]

        single_request.references = select_texts(column)
        single_request.systems = {name: select_texts(one) for name, one in request.systems.items()}
        single_request.source = None if request.source is None else select_texts(request.source)
        if request.documents is not None:
            documents = request.documents
            single_request.documents = segment_labels.SegmentNames(
                documents.names[documents.indices[i]] for i in indices
            )
    return single_request


def _score_single_reference(
    content: Content, request: Request, single_request: Request
) -> dict[str, Any]:
    """Return the scores by metric and system, and the pairs of the overall best system.

    Resamples and randomizations are the same as in the comparison if the segments are the same.
    """
    computed_names = [one["name"] for one in content["metrics"] if one["source"] == "truebleu"]
    names = dict(zip(request.metrics, computed_names, strict=True))
    order = [system["name"] for system in content["systems"]]
    # A metric that cannot split the texts has no winner with any reference.
    single_request.metrics = {
        metric: name
        for metric, name in single_request.metrics.items()
        if _find_winners(content, names[metric])
    }
    if not single_request.metrics:
        return {"scores": {}, "pairs": []}
    unreliable_systems = {
        metric: {
            one["name"]
            for one in content["systems"]
            if one["scores"][names[metric]]["rank"] is None
        }
        for metric in single_request.metrics
    }
    scores: dict[str, dict[str, Any]] = {}
    pairs = []
    try:
        columns = list(resample_metrics(single_request, order, unreliable_systems))
    except MetricFailedError:
        # Every metric failed with this reference, so the caller drops these metrics for all
        # references.
        columns = []
    for metric, column in columns:
        column.name = names[metric]
        system_scores = scores[column.name] = {
            system: column.describe_system(system) for system in order
        }
        for score in system_scores.values():
            del score["details"], score["runs"]
        (best, *_) = _find_winners(content, column.name)
        pairs += [
            pair for pair in column.describe_pairs() if best in (pair["first"], pair["second"])
        ]
    return {"scores": scores, "pairs": pairs}


# ---- copies ----


def _describe_copies(counts: dict[str, int], size: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield how often each system's output equals a reference, and whether that is suspicious."""
    for name, copy_count in counts.items():
        other_counts = [counts[other] for other in counts if other != name]
        others_median = median(other_counts) if other_counts else None
        is_copy = (
            others_median is not None
            and copy_count >= max(MIN_COPIES, MIN_COPY_SHARE * size)
            and copy_count >= MIN_COPY_RATIO * others_median
        )
        share = copy_count / size if size else 0.0
        facts = {"segments": copy_count, "share": share, "others_median": others_median}
        yield name, {**facts, "is_copy": is_copy}


# ---- warnings ----


def build_reference_warnings(content: Content) -> Iterator[dict[str, Any]]:
    """Yield warnings if the winner depends on the reference, or if a system copies a reference."""
    yield from _build_winner_warnings(content)
    reported = {
        system
        for one in content.get("warnings", ())
        if one["kind"] in (IDENTICAL_KIND, MIXUP_KIND)
        for system in one["systems"]
    }
    for i, reference in enumerate(content["by_reference"]):
        for system, copies in reference["identical"].items():
            is_reported = system in reported and (i == 0 or copies["share"] > 0.5)
            if not copies["is_copy"] or is_reported:
                continue
            name = reference["name"]
            explanation = "Is this the reference instead of a system output?"
            if copies["share"] <= 0.5:
                explanation = (
                    "One of the two may be derived from the other, so scores with "
                    f"{name} favour {system}."
                )
            yield {
                "kind": "copied reference",
                "systems": [system],
                "text": f"{system} is identical to {name} in {copies['segments']:,} of "
                f"{format_count(reference['segments'], 'segment')} ({100 * copies['share']:.1f}%; "
                f"median of the other systems: {copies['others_median']:,.0f}). {explanation}",
            }


def _find_winners(content: Content, metric: str, reference: Content | None = None) -> list[str]:
    """Return the systems that a metric ranks first, with all references or with one of them."""
    names = [system["name"] for system in content["systems"]]
    if reference is None:
        scores = {system["name"]: system["scores"][metric] for system in content["systems"]}
    else:
        scores = reference["scores"][metric]
    return [name for name in names if scores[name]["rank"] == 1]


def _build_winner_warnings(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a warning if references disagree about which system is best, by one or more metrics.

    The warning gives the differences by the first of these metrics.
    """
    references, metrics = content["by_reference"], []
    for metric in content["metrics"]:
        if (name := metric["name"]) in references[0]["scores"]:
            winners = [_find_winners(content, name, one) for one in (None, *references)]
            # Every best system loses its first place with at least one reference.
            if not set(winners[0]).intersection(*winners[1:]):
                metrics.append(metric)
    if not metrics:
        return
    names = [metric["name"] for metric in metrics]
    # The overall best system and its rival, and a clause on the winner with each reference.
    best = _find_winners(content, names[0])[0]
    winners = [_find_winners(content, names[0], one) for one in references]
    rival = next(one[0] for one in winners if best not in one)
    overall = _describe_winner(content, metrics[0], content, best, rival)
    verdicts = [f"with all references {overall}"]
    for reference, (winner, *_) in zip(references, winners, strict=True):
        runner_up = best if winner != best else rival
        verdict = _describe_winner(content, metrics[0], reference, winner, runner_up)
        verdicts.append(f"with {reference['name']} alone {verdict}")
    separator = f". By {names[0]}, " if len(names) > 1 else ": "
    text = (
        f"{join_words(names)}: the best system depends on the reference{separator}"
        f"{join_words(verdicts)}."
    )
    yield {
        "kind": "winner depends on the reference",
        "metrics": names,
        "systems": [best, rival],
        "text": text,
    }


def _describe_winner(
    content: Content, metric: Content, result: Content, winner: str, rival: str
) -> str:
    """Return a clause with the winner, its lead over the rival, and the lead's significance."""
    pair = next(
        pair
        for pair in result["pairs"]
        if pair["metric"] == metric["name"] and {pair["first"], pair["second"]} == {winner, rival}
    )
    value = pair["value"] if pair["first"] == winner else -pair["value"]
    format_delta = make_signed_formatter(make_formatter(get_score_digits(content, metric, None)))
    size = f"{format_delta(value)} vs. {rival}"
    if pair["p"] is not None:
        size += f", {format_p_equation(content, pair)}"
        size += "" if pair["significant"] else ", not significant"
    verb = "is best" if pair["significant"] else "has the best score"
    return f"{winner} {verb} ({size})"
