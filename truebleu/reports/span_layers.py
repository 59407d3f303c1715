"""Error spans in a report: their segments, their counts, and errors outside matched n-grams."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import fsum
from typing import Any

from truebleu._kernel import InputError
from truebleu.comparison.segment_labels import SegmentNames
from truebleu.explanation.naive_bleu import Tokens, split_text
from truebleu.meta_evaluation.error_spans import SOURCE, TARGET, ErrorSpan, ErrorSpans
from truebleu.meta_evaluation.score_files import format_names, get_error_weight
from truebleu.reports import payload
from truebleu.resegmentation.token_units import locate_tokens
from truebleu.text.segments import Texts

# Values of the label that filters segments, from the worst.
ERROR_LABELS = ("major errors", "only minor errors", "no errors", "not annotated")
# A label for each system would fill the panel of filters if there were more systems.
MAX_LABELLED_SYSTEMS = 6
MATCH_ORDER = 4

# The errors that each annotator found, by system and segment.
PlacedErrors = dict[tuple[int, int], list[tuple[ErrorSpan, ...]]]


def build_layers(
    spans: ErrorSpans,
    systems: Mapping[str, Texts],
    references: Sequence[Texts],
    source: Texts | None,
    metric: Any,
) -> tuple[dict[str, Any], bytes, list[tuple[str, SegmentNames]]]:
    """Return the manifest entry, the block and the labels of the error spans.

    The block is JSON: for each error, the segment, the system, 1 for the source or else 0, start,
    end, and the indices of severity, category and annotator in the lists of the entry.
    """
    texts = {name: _decode_texts(column) for name, column in systems.items()}
    reference_texts = list(map(_decode_texts, references))
    placed, unmatched = place_spans(spans, texts, None if source is None else _decode_texts(source))
    errors = [
        (segment, system, error)
        for (system, segment), error_lists in placed.items()
        for error in chain(*error_lists)
    ]
    fields = ("severity", "category", "annotator")
    values = [list(dict.fromkeys(getattr(error, key) for *_, error in errors)) for key in fields]
    rows = [
        [segment, system, int(error.side == SOURCE), error.start, error.end]
        + [known.index(getattr(error, key)) for key, known in zip(fields, values, strict=True)]
        for segment, system, error in errors
    ]
    names = list(texts)
    counts = Counter((names[system], one.category, one.severity) for _, system, one in errors)
    count_keys = ("system", "category", "severity", "errors", "weight")
    entry = {
        "name": os.path.basename(spans.name),
        "format": spans.format,
        "annotations": sum(map(len, placed.values())),
        "unmatched": unmatched,
        **dict(zip(("severities", "categories", "annotators"), values, strict=True)),
        "counts": [
            dict(zip(count_keys, (*key, n, get_error_weight(key[2], key[1])), strict=True))
            for key, n in counts.items()
        ],
        "systems": list(_describe_systems(placed, texts, reference_texts, metric)),
        "block": "spans",
    }
    labels = list_error_labels(placed, names, len(texts[names[0]]))
    return entry, payload.to_script_json(rows).encode(), list(labels)


def _decode_texts(column: Texts) -> list[Any]:
    """Return texts as strings; a missing text is None."""
    return [None if text is None else text.decode("utf-8", "surrogatepass") for text in column]


def place_spans(
    spans: ErrorSpans, systems: Mapping[str, Sequence[str]], sources: Any
) -> tuple[PlacedErrors, int]:
    """Return the errors by system and segment, and the number of annotations of other texts.

    Raises InputError if no annotation belongs to these texts, and for positions outside them.
    """
    annotations = [entry for entry in spans.annotations if entry.system in systems]
    if not annotations:
        available = format_names(dict.fromkeys(entry.system for entry in spans.annotations))
        raise InputError(
            f"{spans.name}: expected errors of {format_names(systems)}, found errors of "
            f"{available}. Name the systems like the file (-i NAME=FILE)."
        )
    places = defaultdict[tuple[str, str | None], list[int]](list)
    for system, texts in systems.items():
        for segment, text in enumerate(texts):
            places[system, _replace_line_breaks(text)].append(segment)
    # The numbers in the file are numbers of segments if all of them fit the texts.
    numbers_fit = all(
        (entry.number or 0) - 1 in segments
        for entry in annotations
        if (segments := places[entry.system, _replace_line_breaks(entry.target)])
    )
    placed: PlacedErrors = {}
    orders: dict[tuple[Any, ...], dict[str, int]] = {}
    for entry in annotations:
        system, texts, number = entry.system, systems[entry.system], entry.number or 0
        candidates = places[system, _replace_line_breaks(entry.target)]
        if entry.target is None:
            candidates = [number - 1]
            if not 1 <= number <= len(texts):
                raise InputError(
                    f"{entry.location}: expected one of {len(texts):,} segments of {system}, found "
                    f"segment {entry.segment}"
                )
        elif sources is not None:
            candidates = [i for i in candidates if sources[i] == entry.source] or candidates
        if candidates:
            # Equal texts are assigned by their number, or in order.
            order = orders.setdefault((system, *candidates), {})
            index = order.setdefault(f"{entry.document} {entry.segment}", len(order))
            candidate = candidates[index % len(candidates)]
            segment = number - 1 if numbers_fit and number - 1 in candidates else candidate
            source = entry.source if sources is None else sources[segment]
            key = list(systems).index(system), segment
            placed.setdefault(key, []).append(entry.locate_errors(texts[segment], source).errors)
    if not placed:
        raise InputError(f"{spans.name}: none of its texts is a text of {format_names(systems)}")
    return placed, len(annotations) - sum(map(len, placed.values()))


def _replace_line_breaks(text: str | None) -> str | None:
    """Return a text as a line of a file, which has spaces in place of line breaks."""
    return text and text.replace("\n", " ")


def _describe_systems(
    placed: PlacedErrors, systems: Mapping[str, Sequence[str]], references: Any, metric: Any
) -> Iterator[dict[str, Any]]:
    """Yield the values of each system.

    segments: the number with annotations. mqm: the mean weight of errors per segment and annotator.
    outside: the error characters outside matched 4-grams. unlocated: the number of segments whose
    tokens differ from their text.
    """
    for number, (name, texts) in enumerate(systems.items()):
        means, totals, unlocated = [], Counter({"error_characters": 0, "outside": 0}), 0
        for (system, segment), error_lists in placed.items():
            if system == number:
                errors = list(chain(*error_lists))
                weights = [get_error_weight(error.severity, error.category) for error in errors]
                means.append(fsum(weights) / len(error_lists))
                segment_texts = (column[segment] for column in (texts, *references))
                tokens, *reference_tokens = (
                    split_text(metric, text) for text in segment_texts if text is not None
                )
                characters = count_outside_matches(texts[segment], tokens, reference_tokens, errors)
                unlocated += characters is None
                totals.update(characters or {})
        mqm = fsum(means) / len(means) if means else None
        counts = {"segments": len(means), "mqm": mqm, **totals, "unlocated": unlocated}
        yield {"system": name, **counts}


def count_outside_matches(
    text: str, tokens: Tokens, references: Sequence[Tokens], errors: Sequence[ErrorSpan]
) -> dict[str, int] | None:
    """Count the characters in error spans, and those outside matched 4-grams.

    A 4-gram of the text matches if a reference contains it. White space does not count. Returns
    None if the tokenizer changed the characters.

    >>> tokens = "a b c d e".split()
    >>> error = ErrorSpan(6, 9, "target", "major", "", "", "A", "1")
    >>> count_outside_matches("a b c d e", tokens, [["a", "b", "c", "d"]], [error])
    {'error_characters': 2, 'outside': 1}
    """
    positions = locate_tokens("".join(text.split()), tokens)
    if positions is None:
        return None
    grams = {tuple(other[i : i + MATCH_ORDER]) for other in references for i in range(len(other))}
    matched = {
        character
        for i in range(len(tokens) - MATCH_ORDER + 1)
        if tuple(tokens[i : i + MATCH_ORDER]) in grams
        for start, end in positions[i : i + MATCH_ORDER]
        for character in range(start, end)
    }
    marked: set[int] = set()
    for error in errors:
        if error.side == TARGET and error.start is not None and error.end is not None:
            marked.update(range(error.start, error.end))
    places = [place for place, character in enumerate(text) if not character.isspace()]
    in_errors = [compact for compact, place in enumerate(places) if place in marked]
    outside = sum(place not in matched for place in in_errors)
    return {"error_characters": len(in_errors), "outside": outside}


def list_error_labels(
    placed: PlacedErrors, names: Sequence[str], segment_count: int
) -> Iterator[tuple[str, SegmentNames]]:
    """Yield labels that filter segments by their worst error: in any system, and in each."""
    worst = [[len(ERROR_LABELS) - 1] * segment_count for _ in names]
    for (system, segment), error_lists in placed.items():
        severities = {error.severity for error in chain(*error_lists)}
        worst[system][segment] = 0 if severities & {"major", "critical"} else 2 - bool(severities)
    columns = {"error spans": [min(levels) for levels in zip(*worst, strict=True)]}
    if 1 < len(names) <= MAX_LABELLED_SYSTEMS:
        labels = (f"error spans of {name}" for name in names)
        columns |= zip(labels, worst, strict=True)
    for label, levels in columns.items():
        yield label, SegmentNames(ERROR_LABELS[level] for level in levels)
