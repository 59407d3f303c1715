"""Readers of segment scores that other programs computed.

The first lines of a file determine its format: one column of numbers; one tab-separated column per
system; lines with a system name and a score, as in mt-metrics-eval; the output of COMET's
`comet-score` and `comet-compare`, printed or as JSON; or MetricX's JSON lines with a "prediction".
The log of a simultaneous system provides scores of latency metrics, such as LAAL.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.text import argument_checks, segments
from truebleu.text.argument_checks import load_json, to_score
from truebleu.text.segments import File
from truebleu.text.system_names import derive_system_name, find_system, format_path, shorten_names
from truebleu.text.terminal_layout import format_count, join_words

if TYPE_CHECKING:
    # One 8-byte number per segment.
    ScoreColumn = array[float]
    # The lines of a file, each with its line number.
    NumberedLines = Sequence[tuple[int, str]]

# Output lines of `comet-score`: one per segment, and summary lines after each file.
COMET_SEGMENT = re.compile(r"(.*)\tSegment (\d+)\tscore: (\S+)")
COMET_SYSTEM = re.compile(r"(.*)\tscore: \S+|Predictions saved in: .*")
# JSON keys that hold scores in the output of MetricX and of other programs.
PREDICTIONS = ("prediction", "score")
# Keys in COMET's JSON that do not hold scores.
TEXTS = ("src", "mt", "ref", "errors")


def read_metric_scores(
    name: str, columns: Any, systems: Sequence[str] | None
) -> dict[str, ScoreColumn]:
    """Return each system's scores by a metric that truebleu does not compute.

    columns: a file, or a mapping from system names to files or numbers.
    systems: the expected system names; None for all systems in the data.

    Raises InputError, with the file and line or segment, for an invalid score, and ValueError for a
    missing or unknown system.
    """
    if isinstance(columns, os.PathLike | File):
        columns = _read_all_systems(name, segments.as_file(columns), systems)
    if not hasattr(columns, "items"):
        raise TypeError(
            f"scores: {name}: expected a mapping from systems to numbers, or pathlib.Path(...) for "
            f"a file, found {type(columns).__name__}"
        )
    system_names = list(columns) if systems is None else list(systems)
    columns = {
        find_system(system, system_names, f"scores: {name}"): column
        for system, column in columns.items()
    }
    scores_by_system = {}
    for system in system_names:
        if system not in columns:
            raise ValueError(f"scores: {name} has no scores for system '{system}'")
        scores_by_system[system] = _read_system_scores(name, system, columns[system])
    return scores_by_system


def _read_system_scores(name: str, system: str, column: Any) -> ScoreColumn:
    description = f"scores of {name}, {system}"
    if not segments.is_file(column):
        values = enumerate(segments.iterate_items(description, column, "numbers"), 1)
        return array(
            "d", (_parse_finite_score(value, f"{description}, segment {i}") for i, value in values)
        )
    file = segments.as_file(column)
    file_label = file.format_label(description)
    lines = list(enumerate(file.read_lines(), 1))
    if _is_latency_log(lines):
        return _read_latency_scores(name, file, lines)
    program_scores = _parse_program_output(name, file_label, lines)
    if program_scores is None:
        return array(
            "d",
            (_parse_finite_score(text, f"{file_label}, line {number}") for number, text in lines),
        )
    if len(program_scores) > 1:
        return _match_system_names(file_label, program_scores, [system])[system]
    (scores,) = program_scores.values()
    return scores


def _read_all_systems(
    name: str, file: File, systems: Sequence[str] | None
) -> dict[str, ScoreColumn]:
    file_label = file.format_label("scores")
    lines = list(enumerate(file.read_lines(), 1))
    if not lines:
        raise InputError(f"{file_label}: the file is empty")
    if _is_latency_log(lines):
        raise InputError(
            f"{file_label}: a log contains only one system (expected one log per system)"
        )
    program_scores = _parse_program_output(name, file_label, lines)
    if program_scores is not None:
        return _match_system_names(file_label, program_scores, systems)
    rows = [(number, line.split("\t")) for number, line in lines]
    first = rows[0][1]
    if all(_split_named_score(fields) for _, fields in rows[:2]):
        return _parse_system_rows(file_label, rows, systems)
    if not any(map(_is_number, first)):
        header: Sequence[str] = [field.strip() for field in first]
        rows = rows[1:]
    elif systems is None:
        raise InputError(f"{file_label}, line 1: expected system names, found {first[0]!r:.60}")
    else:
        header = systems
    columns = {system: array("d") for system in header}
    if len(columns) != len(header):
        raise InputError(f"{file_label}, line 1: duplicate system name")
    for number, fields in rows:
        if len(fields) != len(header):
            raise InputError(
                f"{file_label}, line {number}: expected "
                f"{format_count(len(header), 'tab-separated column')}, found {len(fields)}"
            )
        for system, field in zip(header, fields, strict=True):
            columns[system].append(_parse_finite_score(field, f"{file_label}, line {number}"))
    return columns


def _parse_system_rows(
    file_label: str, rows: Sequence[tuple[int, list[str]]], systems: Sequence[str] | None
) -> dict[str, ScoreColumn]:
    """Parse lines with a system name and a score, keeping only the given systems."""
    columns: dict[str, ScoreColumn] = {}
    complete_names = dict(zip(shorten_names(systems or ()), systems or (), strict=True))
    for number, fields in rows:
        pair = _split_named_score(fields) or "\t".join(fields).rsplit(None, 1)
        if len(pair) != 2:
            raise InputError(f"{file_label}, line {number}: expected a system and a score")
        score = pair[1]
        system = complete_names.get(pair[0], pair[0])
        if systems is None or system in systems:
            columns.setdefault(system, array("d")).append(
                _parse_finite_score(score, f"{file_label}, line {number}")
            )
    return columns


# ---- logs of simultaneous systems ----


def _is_latency_log(lines: NumberedLines) -> bool:
    """Return whether the first line is a JSON object from the log of a simultaneous system."""
    start = next((text for _, text in lines if text.strip()), "")
    try:
        record = load_json(start) if start.lstrip().startswith("{") else None
    except ValueError:
        return False
    return isinstance(record, dict) and bool({"delays", "emission_cu", "docid"} & record.keys())


def _read_latency_scores(name: str, file: File, lines: NumberedLines) -> ScoreColumn:
    """Return the segment scores of a latency metric, such as LAAL or LAAL_CA, from a log."""
    # Importing these modules takes 20 ms, which a comparison without logs does not need.
    from truebleu.resegmentation.latency import (
        COMPUTATION_AWARE,
        METRICS,
        list_segments,
        score_latency,
    )
    from truebleu.resegmentation.logs import read_log_of_any_unit

    names = {metric.casefold(): metric for metric in METRICS if metric != "StreamLAAL"}
    is_aware = name.upper().endswith(COMPUTATION_AWARE)
    metric = names.get(name.casefold().removesuffix(COMPUTATION_AWARE.casefold()))
    if metric is None:
        raise InputError(
            f"{format_path(file)}: a log of a simultaneous system has no {name} (expected "
            f"{', '.join(names.values())}, or these with {COMPUTATION_AWARE})"
        )
    log_file = segments.BufferedLines.from_strings(format_path(file), [text for _, text in lines])
    log = read_log_of_any_unit(log_file)
    scores = score_latency(metric, list_segments(log), computation_aware=is_aware).segment_scores
    for entry, score in zip(log.entries, scores, strict=True):
        if score is None:
            problem = "no output" if not entry.delays else "no output before its end"
            if is_aware and entry.elapsed is None:
                problem = "no times that include computation"
            raise InputError(
                f"{entry.place}: cannot compute {name}, because the segment has {problem}. Use "
                "truebleu latency, which leaves such segments out."
            )
    return array("d", [score for score in scores if score is not None])


# ---- formats of other programs ----


def _parse_program_output(
    name: str, file_label: str, lines: NumberedLines
) -> dict[str, ScoreColumn] | None:
    """Return the scores in a program's output by system name, or None for plain columns."""
    start = next((text.lstrip() for _, text in lines if text.strip()), "")
    if COMET_SEGMENT.fullmatch(start.rstrip()):
        return _parse_comet_output(file_label, lines)
    if not start.startswith(("{", "[")):
        return None
    return _parse_json_scores(name, file_label, lines)


def _parse_comet_output(file_label: str, lines: NumberedLines) -> dict[str, ScoreColumn]:
    """Parse the output of `comet-score`: one line per segment and file, then one line per file."""
    columns: dict[str, ScoreColumn] = {}
    for number, text in lines:
        match = COMET_SEGMENT.fullmatch(text.rstrip())
        if match is None:
            if not text.strip() or COMET_SYSTEM.fullmatch(text.rstrip()):
                continue
            raise InputError(
                f"{file_label}, line {number}: expected output of comet-score, found "
                f"{text.strip()!r:.60}"
            )
        column = columns.setdefault(match[1], array("d"))
        if match[2] != str(len(column)):
            raise InputError(
                f"{file_label}, line {number}: expected segment {len(column)} of {match[1]}, "
                f"found {match[2]:.20}"
            )
        column.append(_parse_finite_score(match[3], f"{file_label}, line {number}"))
    return columns


def _parse_json_scores(name: str, file_label: str, lines: NumberedLines) -> dict[str, ScoreColumn]:
    nonblank_lines = [(number, text) for number, text in lines if text.strip()]
    values: list[Any] = []
    try:
        for _, text in nonblank_lines:
            values.append(load_json(text))
    except ValueError as line_error:
        try:
            document = load_json("\n".join(text for _, text in lines))
        except ValueError as document_error:
            line = getattr(document_error, "lineno", 1)
            if values:  # the file starts with valid JSON lines
                line, document_error = nonblank_lines[len(values)][0], line_error
            raise InputError(
                f"{file_label}, line {line}: incomplete or invalid JSON "
                f"({getattr(document_error, 'msg', document_error)})"
            ) from None
        return _parse_json_document(name, file_label, document)
    is_document = len(values) == 1 and (
        not isinstance(values[0], dict) or values[0].keys().isdisjoint(PREDICTIONS)
    )
    if is_document:
        return _parse_json_document(name, file_label, values[0])
    numbered_values = zip(nonblank_lines, values, strict=True)
    scores = (
        _extract_score(name, one, f"{file_label}, line {number}")
        for (number, _), one in numbered_values
    )
    return {file_label: array("d", scores)}


def _parse_json_document(name: str, file_label: str, content: Any) -> dict[str, ScoreColumn]:
    """Parse COMET's JSON: segments by file, or the list of translations of `comet-compare`."""
    if isinstance(content, list):
        content = {file_label: content}
    if isinstance(content, dict) and isinstance(content.get("translations"), list):
        scores_by_name = {}
        for translation in content["translations"]:
            if not isinstance(translation, dict) or not {"name", "scores"} <= translation.keys():
                raise InputError(f"{file_label}: expected a name and scores for each translation")
            scores_by_name[str(translation["name"])] = translation["scores"]
        content = scores_by_name
    if not isinstance(content, dict) or not content:
        raise InputError(f"{file_label}: expected the JSON output of COMET or MetricX")
    columns = {}
    for system, segment_values in content.items():
        if not isinstance(segment_values, list):
            raise InputError(f"{file_label}: expected a list of segments for {system!r:.60}")
        location = f"{file_label}, {system}, segment"
        columns[system] = array(
            "d",
            (
                _extract_score(name, one, f"{location} {number}")
                for number, one in enumerate(segment_values, 1)
            ),
        )
    return columns


def _extract_score(name: str, value: Any, location: str) -> float:
    if not isinstance(value, dict):
        return _parse_finite_score(value, location)
    keys = [key for key in (name, "COMET", *PREDICTIONS) if key in value]
    keys = keys or [
        key
        for key, one in value.items()
        if key not in TEXTS and isinstance(one, int | float) and not isinstance(one, bool)
    ]
    if not keys:
        raise InputError(f"{location}: missing score (found {join_words(list(map(str, value)))})")
    return _parse_finite_score(value[keys[0]], location)


def _match_system_names(
    file_label: str, columns: Mapping[str, ScoreColumn], systems: Sequence[str] | None
) -> dict[str, ScoreColumn]:
    """Return the columns by system name. Other programs' output names files instead of systems."""
    if systems is None:
        short_names = {_get_name_variants(key)[-1] for key in columns}
        if len(short_names) < len(columns):
            return dict(columns)
        return {_get_name_variants(key)[-1]: column for key, column in columns.items()}
    if len(columns) == len(systems) == 1:
        return {systems[0]: next(iter(columns.values()))}
    matched_columns = {}
    for system in systems:
        matching_keys = [
            key for key in columns if {*_get_name_variants(key)} & {*_get_name_variants(system)}
        ]
        # Systems are often named by their files, without the parts that all file names share.
        matching_keys = matching_keys or [
            key for key in columns if system in _get_name_variants(key)[1]
        ]
        if list(columns) == [file_label]:
            raise InputError(
                f"{file_label}: found one list of {len(columns[file_label]):,} scores without a "
                f"system name, expected the scores of {join_words(list(systems))}. Pass one file "
                "per system, in the order of -i (--scores NAME=FILE FILE; in Python, a mapping "
                "from systems to files), or name the lists in the file by system."
            )
        if len(matching_keys) != 1:
            match_count = "none" if not matching_keys else "several"
            raise InputError(
                f"{file_label}: {match_count} of {join_words(list(columns))} match system "
                f"'{system}' (expected the scores of {join_words(list(systems))}). Use the names "
                "in the file as system names (-i NAME=FILE)."
            )
        matched_columns[system] = columns[matching_keys[0]]
    if len({id(column) for column in matched_columns.values()}) < len(matched_columns):
        raise InputError(
            f"{file_label}: {join_words(list(columns))} do not clearly match "
            f"{join_words(list(systems))}. Use the names in the file as system names "
            "(-i NAME=FILE)."
        )
    return matched_columns


def _get_name_variants(name: str) -> tuple[str, str, str]:
    """Return a file name in three forms: in full, without the folder, and as a system name."""
    base = os.path.basename(name.replace("\\", "/"))
    return name, base, derive_system_name(base)


# ---- numbers ----


def _parse_finite_score(value: Any, location: str) -> float:
    """Convert a score to a float. Raises InputError, with the location, if it is not finite."""
    try:
        number = to_score(value)
    except ValueError:
        number = nan
    if not isfinite(number):
        shown_value = (
            f"'{value.strip()}'" if isinstance(value, str) else argument_checks.format_value(value)
        )
        raise InputError(f"{location}: expected a number, found {shown_value:.60}")
    return number


def _split_named_score(fields: list[str]) -> tuple[str, str] | None:
    """Return the system name and score of a line, or None for other lines."""
    parts = "\t".join(fields).rsplit(None, 1)
    if len(parts) != 2 or _is_number(parts[0]) or not _is_number(parts[1]) or "\t" in parts[0]:
        return None
    return parts[0].strip(), parts[1]


def _is_number(text: str) -> bool:
    try:
        argument_checks.parse_number(text)
    except ValueError:
        # Programs print these words for missing numbers; they are not system names.
        return text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity")
    return True
