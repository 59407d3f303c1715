"""Notes of a comparison on disagreeing metrics, variance between runs and limited data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from math import comb, floor, sqrt
from typing import Any

from truebleu.comparison import system_runs
from truebleu.comparison.comparison_columns import format_p_equation, get_score_digits
from truebleu.comparison.comparison_request import Request, Significance
from truebleu.comparison.legend import describe_corrected_pairs
from truebleu.comparison.segment_labels import SegmentNames
from truebleu.rendering.number_format import make_formatter, make_signed_formatter
from truebleu.rendering.view import Content
from truebleu.significance import PairedTests, estimate_document_errors
from truebleu.text.terminal_layout import join_words

# Intervals and p-values are imprecise below these sample sizes.
FEW_SEGMENTS = 30
FEW_DOCUMENTS = 20
# Minimum number of documents, and minimum ratio of standard errors, for the note on standard
# errors.
MIN_DOCUMENTS_FOR_ERRORS, MIN_ERROR_RATIO = 6, 1.2


def describe_test_limits(
    testing: Significance, unit_count: int, results: Sequence[PairedTests] | None
) -> str:
    """Describe the limitations of the test, or of the intervals."""
    if results is not None:
        runs_sentence = " Only intervals of differences include the variance between runs."
        sentence = results[0].describe_caution(testing.resample.removesuffix("s"))
        return sentence + runs_sentence if results[0].runs and testing.confidence else sentence
    if testing.confidence is None or unit_count == 1:
        return ""
    unit_name = testing.resample
    return (
        f"Intervals come from {testing.confidence:,} bootstrap resamples of the {unit_name}. They "
        f"only show how much a score depends on the choice of {unit_name}."
    )


def build_run_variance_notes(content: Content) -> Iterator[dict[str, Any]]:
    """Yield notes that compare the variance between runs with the variance due to the test set."""
    systems = content["systems"]
    sizes: dict[tuple[str, str], dict[str, str]] = {}
    for system in systems:
        for metric in content["metrics"]:
            score = system["scores"][metric["name"]]
            runs, difference = score["runs"], score["difference"]
            if difference is not None and difference["errors"] is not None:
                subject = f"{system['name']} against {content['baseline']}"
                errors = difference["errors"]["runs"], difference["errors"]["test_set"]
            elif runs is not None and len(systems) == 1:
                subject, errors = system["name"], (runs["deviation"], runs["test_set_error"])
            else:
                continue
            format_score = make_formatter(get_score_digits(content, metric, None) + 1)
            comparative = "larger" if errors[0] > errors[1] else "smaller"
            size = f"{metric['name']} {' and '.join(map(format_score, errors))}"
            sizes.setdefault((subject, comparative), {})[metric["name"]] = size
    measures = "standard errors of the difference"
    if len(systems) == 1:
        measures = f"standard deviation of {systems[0]['runs']} runs, standard error of the mean"
    for (subject, comparative), by_metric in sizes.items():
        yield {
            "kind": "runs",
            "metric_names": [*by_metric],
            "text": f"{subject}: the variation between runs is {comparative} than the variation "
            f"due to the test set ({measures}: {'; '.join(by_metric.values())}).",
        }
    single_run_systems = [system["name"] for system in systems if system["runs"] == 1]
    if single_run_systems and len(single_run_systems) < len(systems):
        yield {
            "kind": "one run",
            "systems": single_run_systems,
            "text": f"{join_words(single_run_systems)} "
            f"{'have' if len(single_run_systems) > 1 else 'has'} only one run, so the "
            "variance between runs is estimated from the other system.",
        }


def build_data_limit_notes(
    request: Request,
    segment_count: int,
    unit_count: int,
    results: Sequence[PairedTests] | None,
    warnings: Sequence[Mapping[str, Any]] = (),
) -> Iterator[dict[str, Any]]:
    """Yield notes about limitations of the data that the warnings do not already state."""
    testing = request.testing
    # For each system with a duplicate output, the first system with the same output.
    same_outputs: dict[str, str] = {}
    for warning in warnings:
        if warning["kind"] == "same output":
            earlier, later = warning["systems"]
            same_outputs[later] = same_outputs.get(earlier, earlier)

    def build_note(kind: str, text: str, **fields: Any) -> dict[str, Any]:
        return {"kind": kind, **fields, "text": text}

    for error_text in dict.fromkeys(request.failure_messages.values()):
        names = [name for name, text in request.failure_messages.items() if text == error_text]
        verb = "is" if len(names) == 1 else "are"
        yield build_note(
            "failed", f"{join_words(names)} {verb} left out: {error_text}", metric_names=names
        )
    yield from starmap(build_note, _describe_small_samples(request, segment_count, unit_count))
    if results is not None and testing.test is not None and unit_count > 1:
        yield from starmap(build_note, _describe_few_samples(testing, len(request.runs)))
    # With several runs, the effects of documents and of runs cannot be separated.
    uses_single_segments = (
        request.get_document_indices() is None and not system_runs.has_several_runs(request.runs)
    )
    if results is not None and request.documents is not None and uses_single_segments:
        document_effect = _describe_document_effect(results, request.documents)
        if document_effect:
            yield build_note("similar segments", document_effect)
    variable = [one.name for one in request.metrics if not getattr(one, "DETERMINISTIC", True)]
    if variable:
        yield build_note(
            "not repeatable",
            f"{join_words(variable)} may score the same text differently each time. Intervals and "
            "p-values do not include this variation.",
            metric_names=variable,
        )
    for first, second in _find_identical_systems(results):
        # A warning about these outputs already names them.
        if same_outputs.get(first, first) == same_outputs.get(second, second):
            continue
        p = ", so p = 1" if testing.test else ""
        yield build_note(
            "identical",
            f"{first} and {second} have identical statistics in every segment{p}. They are "
            "probably the same output.",
            systems=[first, second],
        )
    system_count = len(request.runs)
    if results is not None and testing.test and not testing.correction and system_count > 2:
        test_count = system_count * (system_count - 1) // 2
        yield build_note(
            "many tests",
            f"{test_count} pairs were tested per metric at {testing.alpha:g}, without a correction "
            "for multiple comparisons. Use --correction holm or bh.",
        )


def _describe_small_samples(
    request: Request, segment_count: int, unit_count: int
) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of a note if there are too few segments or resamples."""
    testing = request.testing
    unit_name = "buckets" if request.buckets else "segments"
    if segment_count == 1:
        text = "one segment cannot be resampled, so there are no intervals, and no difference is "
        yield "one segment", f"{text}significant."
    elif testing.resample == "documents" and unit_count < FEW_DOCUMENTS:
        yield "few documents", _describe_few_documents(unit_count, testing)
    elif testing.resample == "documents" and unit_count == segment_count:
        yield "single segments", describe_single_segments(segment_count)
    elif segment_count < FEW_SEGMENTS:
        text = f"{segment_count} {unit_name} are too few for precise intervals and p-values."
        yield f"few {unit_name}", text
    elif testing.confidence is not None and testing.confidence * (1 - testing.level) < 2:
        text = f"{testing.confidence} resamples are too few for {testing.level:.4g} intervals"
        yield "few resamples", f"{text}: the intervals span all resamples."


def _describe_few_samples(testing: Significance, system_count: int) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of a note if there are too few samples for a significant result.

    Every test counts the observed difference as a sample, so p is at least 1 / (samples + 1).
    """
    is_randomization = testing.test == "ar"
    count = testing.randomizations if is_randomization else testing.resamples
    smallest_p = 1 / (count + 1)
    # Holm's method multiplies the smallest p-value by the number of tests.
    difference_count, pair_count = 1, 1
    if testing.correction == "holm":
        difference_count, pair_count = system_count - 1, comb(system_count, 2)
    for test_count, result in (
        (difference_count, f"no difference can be significant at {testing.alpha:g}"),
        (pair_count, "no systems can be in different clusters"),
    ):
        if test_count * smallest_p < testing.alpha:
            continue
        correction = ""
        if test_count > 1:
            lowest = min(1.0, test_count * smallest_p)
            correction = f", or below {lowest:.2g} if corrected for {test_count} tests"
        samples = "randomizations" if is_randomization else "resamples"
        option = "-parn" if is_randomization else "-pbsn"
        needed_count = floor(pair_count / testing.alpha + 1e-9)
        text = f"with {count:,} {samples}, p cannot be below {smallest_p:.2g}{correction}, so "
        remedy = f"Use {option} {needed_count} (samples={needed_count} in Python) or more."
        yield "few samples", f"{text}{result}. {remedy}"
        return


def build_disagreement_notes(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a note for each pair of systems if metrics disagree about which system is better.

    All differences in these notes are significant, by corrected p-values where available.
    """
    metrics = {metric["name"]: metric for metric in content["metrics"]}
    correction = describe_corrected_pairs(content)
    correction = f" (p {correction})" if correction else ""
    pairs_by_systems: dict[frozenset[str], list[Content]] = {}
    for pair in content["pairs"]:
        if pair["significant"] and pair["value"]:
            pairs_by_systems.setdefault(frozenset((pair["first"], pair["second"])), []).append(pair)
    for pairs in pairs_by_systems.values():
        # Each pair lists the higher-ranked system first.
        first, second = pairs[0]["first"], pairs[0]["second"]
        pairs_by_winner = {
            name: [one for one in pairs if one["first"] == name] for name in (first, second)
        }
        if not pairs_by_winner[second]:
            continue
        metric_verdicts = [
            {
                "metric": one["metric"],
                "better": one["first"],
                "difference": one["value"] if one["first"] == first else -one["value"],
                "p": one["p"],
                "corrected_p": one["corrected_p"],
            }
            for one in pairs
        ]
        verdict_texts = []
        for winner, side in pairs_by_winner.items():
            sizes = []
            for one in side:
                digits = get_score_digits(content, metrics[one["metric"]], None)
                difference = make_signed_formatter(make_formatter(digits))(one["value"])
                sizes.append(f"({difference}, {format_p_equation(content, one)})")
            suffix = f" to {second}" if winner == first else ""
            if len(side) == 1:
                verdict_texts.append(f"{side[0]['metric']} prefers {winner}{suffix} {sizes[0]}")
            else:
                names = [f"{one['metric']} {size}" for one, size in zip(side, sizes, strict=True)]
                verdict_texts.append(f"{join_words(names)} prefer {winner}{suffix}")
        yield {
            "kind": "disagreement",
            "systems": [first, second],
            "metrics": metric_verdicts,
            "text": f"{', '.join(verdict_texts)}{correction}.",
        }


def describe_single_segments(segment_count: int) -> str:
    """Describe the consequence of document names that are all different."""
    return (
        f"each of the {segment_count:,} segments has another document name, so resampling "
        "documents is the same as resampling segments. Give the segments of a document the same "
        "name."
    )


def _describe_few_documents(document_count: int, testing: Significance) -> str:
    if document_count == 1:
        return (
            "one document cannot be resampled, so there are no intervals, and no difference is "
            "significant."
        )
    sentence = f"{document_count} documents are too few for precise intervals and p-values"
    smallest_p = 2 / 2**document_count
    if testing.test == "ar" and smallest_p > testing.alpha:
        return (
            f"{sentence}, and p cannot be below {smallest_p:.2g}, so no difference is significant."
        )
    return f"{sentence}."


def _describe_document_effect(results: Sequence[PairedTests], documents: SegmentNames) -> str:
    """Return a remark if segments of a document are too similar to be resampled independently."""
    if len(documents.names) < MIN_DOCUMENTS_FOR_ERRORS:
        return ""
    largest_ratio, sentence = MIN_ERROR_RATIO, ""
    # Ratios up to about this value occur by chance with this number of documents.
    chance = sqrt(1 + 2 * sqrt(2 / (len(documents.names) - 1)))
    for result in results:
        errors = estimate_document_errors(result.measure, documents.indices)
        for (first, second), difference in result.pairs.items():
            if result.baseline not in (first, second) or not difference.deviation:
                continue
            ratio = errors[first, second] / difference.deviation
            if ratio >= largest_ratio and ratio > chance:
                largest_ratio = ratio
                sentence = (
                    "segments of one document are similar: across documents, the difference "
                    f"between {first} and {second} in {result.measure.name} varies "
                    f"{ratio:.1f} times as much as these intervals and p-values assume. Use "
                    "--resample documents."
                )
    return sentence


def _find_identical_systems(results: Sequence[PairedTests] | None) -> Iterator[tuple[str, str]]:
    """Yield the pairs of systems that have equal statistics in every segment, for every metric."""
    if not results:
        return
    for pair, difference in results[0].pairs.items():
        if difference.identical and all(r.get_difference(*pair).identical for r in results[1:]):
            yield pair
