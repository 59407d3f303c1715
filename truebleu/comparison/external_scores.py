"""Scores from elsewhere, a number per segment and system, in the forms that programs write.

What a file is, its first lines say: a column of numbers; a tab-separated column per system; lines
of a system's name and a score, as mt-metrics-eval has them; what COMET's `comet-score` and
`comet-compare` print or write as JSON; JSON lines with a "prediction", as MetricX writes them.
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
from truebleu.text.terminal_layout import format_count, join_words

if TYPE_CHECKING:
    # A number for each segment, eight bytes each.
    Numbers = array[float]
    # The lines of a file with their numbers.
    Lines = Sequence[tuple[int, str]]

# What `comet-score` prints of a segment, and in the end of a file.
COMET_SEGMENT = re.compile(r"(.*)\tSegment (\d+)\tscore: (\S+)")
COMET_SYSTEM = re.compile(r"(.*)\tscore: \S+|Predictions saved in: .*")
# What MetricX calls a score, and what others do.
PREDICTIONS = ("prediction", "score")
# The texts that COMET's JSON has beside scores.
TEXTS = ("src", "mt", "ref", "errors")


def of_metric(name: str, columns: Any, systems: Sequence[str] | None) -> dict[str, Numbers]:
    """Each system's scores of a metric that truebleu does not compute.

    columns: a file, or a mapping of systems to numbers or files.
    systems: the names that there should be; None for those that there are.

    Raises InputError, with file and line or segment, for what is no score, ValueError for systems
    that are missing.
    """
    if isinstance(columns, os.PathLike | File):
        columns = _of_all(name, segments.as_file(columns), systems)
    if not hasattr(columns, "items"):
        raise TypeError(
            f"scores: {name}: expected a mapping from systems to numbers, or pathlib.Path(...) for "
            f"the name of a file, not {type(columns).__name__}"
        )
    known = list(columns) if systems is None else list(systems)
    for system in columns:
        if system not in known:
            near = argument_checks.suggest_names(system, known)
            raise ValueError(f"scores: {name} has no system '{system}'{near}")
    found = {}
    for system in known:
        if system not in columns:
            raise ValueError(f"scores: {name} has nothing for {system}")
        found[system] = _numbers(name, system, columns[system])
    return found


def _numbers(name: str, system: str, column: Any) -> Numbers:
    """The scores of one system."""
    what = f"{name}, {system}"
    if not segments.is_file(column):
        values = enumerate(segments.iterate_items(f"scores: {what}", column, "numbers"), 1)
        return array("d", (_number(value, f"{what}, segment {i}") for i, value in values))
    file = segments.as_file(column)
    called = file.format_label(what)
    lines = list(enumerate(file.read_lines(), 1))
    several = _of_systems(name, called, lines)
    if several is None:
        return array("d", (_number(text, f"{called}, line {number}") for number, text in lines))
    if len(several) > 1:
        return _matched(called, several, [system])[system]
    (found,) = several.values()
    return found


def _of_all(name: str, file: File, systems: Sequence[str] | None) -> dict[str, Numbers]:
    """The scores of all systems in one file."""
    called = file.format_label("scores")
    lines = list(enumerate(file.read_lines(), 1))
    if not lines:
        raise InputError(f"{called}: the file is empty")
    several = _of_systems(name, called, lines)
    if several is not None:
        return _matched(called, several, systems)
    rows = [(number, line.split("\t")) for number, line in lines]
    first = rows[0][1]
    if all(_named_score(fields) for _, fields in rows[:2]):
        return _long(called, rows, systems)
    if not any(map(_is_number, first)):
        header: Sequence[str] = [field.strip() for field in first]
        rows = rows[1:]
    elif systems is None:
        raise InputError(f"{called}: the first line should name the systems, and is {first!r:.60}")
    else:
        header = systems
    columns = {system: array("d") for system in header}
    if len(columns) != len(header):
        raise InputError(f"{called}, line 1: a system is named twice")
    for number, fields in rows:
        if len(fields) != len(header):
            raise InputError(
                f"{called}, line {number}: {format_count(len(fields), 'tab-separated column')} for "
                f"{format_count(len(header), 'system')}"
            )
        for system, field in zip(header, fields, strict=True):
            columns[system].append(_number(field, f"{called}, line {number}"))
    return columns


def _long(
    name: str, rows: Sequence[tuple[int, list[str]]], systems: Sequence[str] | None
) -> dict[str, Numbers]:
    """From lines of a system's name and a score; only of the systems that are asked for."""
    columns: dict[str, Numbers] = {}
    for number, fields in rows:
        pair = _named_score(fields) or "\t".join(fields).rsplit(None, 1)
        if len(pair) != 2:
            raise InputError(f"{name}, line {number}: expected a system and a score")
        system, score = pair
        if systems is None or system in systems:
            columns.setdefault(system, array("d")).append(_number(score, f"{name}, line {number}"))
    return columns


# ---- what programs write ----


def _of_systems(name: str, called: str, lines: Lines) -> dict[str, Numbers] | None:
    """The scores by whatever a program calls the systems; None for a file of plain columns."""
    start = next((text.lstrip() for _, text in lines if text.strip()), "")
    if COMET_SEGMENT.fullmatch(start.rstrip()):
        return _printed(called, lines)
    if not start.startswith(("{", "[")):
        return None
    return _json(name, called, lines)


def _printed(called: str, lines: Lines) -> dict[str, Numbers]:
    """What `comet-score` prints: a line for each segment and file, then one for each file."""
    columns: dict[str, Numbers] = {}
    for number, text in lines:
        found = COMET_SEGMENT.fullmatch(text.rstrip())
        if found is None:
            if not text.strip() or COMET_SYSTEM.fullmatch(text.rstrip()):
                continue
            raise InputError(
                f"{called}, line {number}: {text.strip()!r:.60} is no line of comet-score"
            )
        column = columns.setdefault(found[1], array("d"))
        if found[2] != str(len(column)):
            raise InputError(
                f"{called}, line {number}: segment {found[2]:.20} of {found[1]}, and "
                f"{len(column)} was expected"
            )
        column.append(_number(found[3], f"{called}, line {number}"))
    return columns


def _json(name: str, called: str, lines: Lines) -> dict[str, Numbers]:
    """JSON of COMET, or JSON lines."""
    kept = [(number, text) for number, text in lines if text.strip()]
    each: list[Any] = []
    try:
        for _, text in kept:
            each.append(load_json(text))
    except ValueError as error:
        try:
            whole = load_json("\n".join(text for _, text in lines))
        except ValueError as other:
            line = getattr(other, "lineno", 1)
            if each:  # they were lines so far
                line, other = kept[len(each)][0], error
            raise InputError(
                f"{called}, line {line}: no whole JSON ({getattr(other, 'msg', other)}); "
                "was the file cut off?"
            ) from None
        return _whole(name, called, whole)
    if len(each) == 1 and not _is_prediction(each[0]):
        return _whole(name, called, each[0])
    both = zip(kept, each, strict=True)
    numbers = (_said(name, one, f"{called}, line {number}") for (number, _), one in both)
    return {called: array("d", numbers)}


def _is_prediction(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in PREDICTIONS)


def _whole(name: str, called: str, content: Any) -> dict[str, Numbers]:
    """COMET's JSON: segments by file; or of `comet-compare`, a list of translations."""
    if isinstance(content, list):
        content = {called: content}
    if isinstance(content, dict) and isinstance(content.get("translations"), list):
        made = {}
        for one in content["translations"]:
            if not isinstance(one, dict) or not {"name", "scores"} <= one.keys():
                raise InputError(f"{called}: translations without a name and scores")
            made[str(one["name"])] = one["scores"]
        content = made
    if not isinstance(content, dict) or not content:
        raise InputError(f"{called}: expected JSON as COMET or MetricX write it")
    columns = {}
    for system, found in content.items():
        if not isinstance(found, list):
            raise InputError(f"{called}: {system!r:.60} has no list of segments")
        where = f"{called}, {system}, segment"
        columns[system] = array(
            "d", (_said(name, one, f"{where} {number}") for number, one in enumerate(found, 1))
        )
    return columns


def _said(name: str, value: Any, where: str) -> float:
    """The score in what JSON says of a segment."""
    if not isinstance(value, dict):
        return _number(value, where)
    keys = [key for key in (name, "COMET", *PREDICTIONS) if key in value]
    keys = keys or [key for key, one in value.items() if key not in TEXTS and _is_real(one)]
    if not keys:
        raise InputError(f"scores: {where}: no score among {join_words(list(map(str, value)))}")
    return _number(value[keys[0]], where)


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _matched(
    called: str, columns: Mapping[str, Numbers], systems: Sequence[str] | None
) -> dict[str, Numbers]:
    """The columns by the names of systems: programs call them by their files."""
    if systems is None:
        short = {_forms(key)[-1] for key in columns}
        if len(short) < len(columns):
            return dict(columns)
        return {_forms(key)[-1]: column for key, column in columns.items()}
    if len(columns) == len(systems) == 1:
        return {systems[0]: next(iter(columns.values()))}
    found = {}
    for system in systems:
        same = [key for key in columns if {*_forms(key)} & {*_forms(system)}]
        # Names of systems are those of files without what all of these have in common.
        same = same or [key for key in columns if system in _forms(key)[1]]
        if len(same) != 1:
            told = "none" if not same else "several"
            raise InputError(
                f"{called}: {told} of {join_words(list(columns))} is clearly {system}; name the "
                "systems (--names) as the file does"
            )
        found[system] = columns[same[0]]
    if len({id(column) for column in found.values()}) < len(found):
        raise InputError(
            f"{called}: {join_words(list(columns))} are not clearly "
            f"{join_words(list(systems))}; name the "
            "systems (--names) as the file does"
        )
    return found


def _forms(name: str) -> tuple[str, str, str]:
    """A file's name as it is, without its folder, and without its ending."""
    base = os.path.basename(name.replace("\\", "/"))
    return name, base, os.path.splitext(base)[0] or base


# ---- numbers ----


def _number(value: Any, where: str) -> float:
    try:
        number = to_score(value)
    except ValueError:
        number = nan
    if not isfinite(number):
        found = (
            f"'{value.strip()}'" if isinstance(value, str) else argument_checks.format_value(value)
        )
        raise InputError(f"scores: {where}: {found:.60} is not a number")
    return number


def _named_score(fields: list[str]) -> tuple[str, str] | None:
    """A system's name and a score, if that is what a line has."""
    parts = "\t".join(fields).rsplit(None, 1)
    if len(parts) != 2 or _is_number(parts[0]) or not _is_number(parts[1]) or "\t" in parts[0]:
        return None
    return parts[0].strip(), parts[1]


def _is_number(text: str) -> bool:
    try:
        argument_checks.parse_number(text)
    except ValueError:
        # What programs print for a number that they lack is not a name.
        return text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity")
    return True
