"""Error spans: readers of the files in which annotators mark errors in translations.

WMT's files are written by 04-collect_humeval.py (2025) and merge_to_jsonl.py (2024).
Appraise and Pearmut count UTF-16 units, and the last position belongs to the span (Appraise:
direct-assessment-document-mqm-esa.js; Pearmut: annotate.ts, utils.ts). The files of WMT24 and WMT25
contain the positions of Appraise. The other formats count code points, and the end is exclusive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from truebleu._kernel import InputError
from truebleu.meta_evaluation.score_files import read_json_lines, read_table_rows
from truebleu.text.argument_checks import (
    check_integer,
    format_value,
    is_whole_number,
    load_json,
    parse_json,
    read_csv,
)
from truebleu.text.segments import File
from truebleu.text.terminal_layout import format_count

TARGET, SOURCE = "target", "source"
MISSING = "[missing]"
# Special tokens of a Pearmut export, which does not name them. WMT26 used two.
EXPORT_TOKENS = (MISSING, "[special token 2]")
APPRAISE_COLUMNS = 12
# Endings of Appraise's document names for attention checks and repeated or incomplete documents.
SKIPPED_DOCUMENTS = ("#bad", "#dup", "#incomplete")
_MARK = re.compile("</?v>")
_ITEM_ID = re.compile(r'"item_id"\s*:\s*("(?:[^"\\]|\\.)*")')
# The units of the annotation tools. Appraise shows a line break as one character; Pearmut does not
# count line breaks.
_APPRAISE_UNIT, _PEARMUT_UNIT = re.compile("</?br/?>|.", re.DOTALL), re.compile("[^\n]")


@dataclass(frozen=True)
class ErrorSpan:
    """An error that an annotator found in a translation.

    start, end: position in the text in code points, half-open; None for an error without a position
        in the text, such as a missing word.
    side: the text that the position refers to, "target" or "source".
    severity, category: in the words of the file (severity in lower case), or "" if it has none.
    segment: the name of the segment in the file.
    """

    start: int | None
    end: int | None
    side: str
    severity: str
    category: str
    annotator: str
    system: str
    segment: str


@dataclass(frozen=True)
class Annotation:
    """The errors that one annotator found in one segment of a system; possibly none.

    location: file and line, for messages. target, source: the texts, if the file contains them.
    number: the number of the segment, from 1. unit, tokens: the units of positions and the special
    tokens after the text, until the positions are code points.
    """

    system: str
    segment: str
    annotator: str
    location: str
    target: str | None = None
    source: str | None = None
    number: int | None = None
    document: str = ""
    errors: tuple[ErrorSpan, ...] = ()
    unit: re.Pattern[str] | None = None
    tokens: Sequence[str] = ()

    def locate_errors(self, target: str, source: str | None) -> Annotation:
        """Return the annotation with positions in code points of these texts.

        Raises InputError for a position that does not exist.
        """
        errors = []
        for error in self.errors:
            is_target = error.side == TARGET
            text, unit = (target, self.unit) if is_target else (source, None)
            if text is None or error.start is None or error.end is None:
                errors.append(error)
                continue
            start, end = error.start, error.end
            units = None if unit is None else _list_units(text, unit)
            length = len(text) if units is None else len(units)
            if is_target and start == end and 0 <= start - length < len(self.tokens):
                category = error.category or self.tokens[start - length]
                errors.append(replace(error, start=None, end=None, category=category))
                continue
            if not 0 <= start <= end < length + (units is None):
                raise InputError(
                    f"{self.location}: the span from {start} to {end} is outside the text, which "
                    f"has {format_count(length, 'character')}: {format_value(text)}"
                )
            if units is not None:
                start, end = units[start][0], units[end][1]
            errors.append(replace(error, start=start, end=end))
        return replace(self, errors=tuple(errors), unit=None, tokens=())


@dataclass(frozen=True, repr=False)
class ErrorSpans:
    """Error spans from a file. Iterating yields each `ErrorSpan`.

    format: "WMT25", "WMT24", "Appraise", "Pearmut", "mt-metrics-eval" or "MQM".
    annotations: one per segment, system and annotator, including annotations without errors.
    """

    name: str
    format: str
    annotations: tuple[Annotation, ...]

    def __iter__(self) -> Iterator[ErrorSpan]:
        return (error for annotation in self.annotations for error in annotation.errors)

    def __repr__(self) -> str:
        count = format_count(len(list(self)), "error")
        return f"<ErrorSpans: {count} in {format_count(len(self.annotations), 'annotation')}>"


def read_spans(path: str | os.PathLike[str] | File, *, first: int | None = None) -> ErrorSpans:
    r"""Read the error spans in a file of any known format.

    The formats are the human evaluation of WMT25 (JSON lines), ESA annotations of Appraise (CSV)
    and WMT24 (JSON lines), campaigns and exports of Pearmut, `.seg.rating` files of mt-metrics-eval
    and Google's MQM tables. Positions become half-open ranges of code points.

    first: number of the first segment, 0 or 1, which Appraise files need, because they contain
        neither texts nor an order (WMT24: 0 before 2024-11-29, then 1).

    Raises InputError, with the file and line, for other content, and for a position that does not
    exist in the text.

    >>> header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    >>> row = "A\tnews\t1\t1\tr1\tDie Katze.\tThe <v>dog</v>.\tAccuracy/Mistranslation\tMajor\n"
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+") as file:
    ...     _ = file.write(header + row), file.flush()
    ...     for span in read_spans(file.name):
    ...         print(span.start, span.end, span.severity, span.category)
    4 7 major Accuracy/Mistranslation
    """
    if first is not None:
        check_integer("first", first, 0, 1)
    file = path if isinstance(path, File) else File(path)
    name = file.path
    lines = [line.rstrip("\r") for line in file.read_lines()]
    start = next((line for line in lines if line.strip()), "")
    cells = start.split("\t")
    annotations: Iterable[Annotation]
    if start.lstrip()[:1] in ("{", "["):
        file_format, annotations = _read_json(name, lines)
    elif {"system", "category", "severity", "target"} <= {cell.strip().lower() for cell in cells}:
        file_format, annotations = "MQM", _read_mqm(name, read_table_rows(name, lines, "\t"))
    elif len(cells) in (2, 3) and cells[1].strip()[:1] in ("N", "{"):
        file_format, annotations = "mt-metrics-eval", _read_ratings(name, lines)
    elif start.count(",") >= APPRAISE_COLUMNS - 1:
        file_format, annotations = "Appraise", _read_appraise(name, lines, first)
    else:
        number = lines.index(start) + 1 if start else 1
        formats = "WMT25, WMT24, Appraise, Pearmut, mt-metrics-eval or MQM"
        raise _input_error(f"{name}, line {number}", f"error spans of {formats}", start)
    located = (
        entry if entry.target is None else entry.locate_errors(entry.target, entry.source)
        for entry in annotations
    )
    spans = ErrorSpans(name, file_format, tuple(located))
    if not spans.annotations:
        raise InputError(f"{name}: no annotations found in this file ({file_format} format)")
    return spans


def _input_error(location: str, expected: str, value: Any) -> InputError:
    return InputError(f"{location}: expected {expected}, found {format_value(value)}")


# ---- positions and errors ----


@lru_cache(maxsize=16)
def _list_units(text: str, unit: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the start and end of each unit of positions, which belong to spans on both ends."""
    # Appraise removes the white space around the text.
    strips = unit is _APPRAISE_UNIT
    indent = len(text) - len(text.lstrip()) if strips else 0
    units: list[tuple[int, int]] = []
    for match in unit.finditer(text, indent, len(text.rstrip()) if strips else len(text)):
        # A character beyond U+FFFF has two UTF-16 units.
        units += [match.span()] * (1 + (len(match[0]) == 1 and match[0] > "\uffff"))
    return units


def _parse_errors(annotation: Annotation, raw_errors: Any) -> Annotation:
    if not isinstance(raw_errors, list) or not all(isinstance(one, dict) for one in raw_errors):
        raise _input_error(annotation.location, "a list of errors", raw_errors)
    errors = []
    for raw in raw_errors:
        start, end = raw.get("start_i", raw.get("start")), raw.get("end_i", raw.get("end"))
        if "missing" in (start, end) or (start, end) == (-1, -1):
            start = end = None
        elif type(start) is not int or type(end) is not int:
            expected = "whole numbers as start and end of a span"
            raise _input_error(annotation.location, expected, [start, end])
        category = raw.get("category") or raw.get("error_type")
        category = category or (MISSING if start is None else "")
        category = "/".join(map(str, category)) if isinstance(category, list) else str(category)
        side = SOURCE if raw.get("is_source_error") else TARGET
        severity = str(raw.get("severity") or "").lower()
        names = (annotation.annotator, annotation.system, annotation.segment)
        errors.append(ErrorSpan(start, end, side, severity, category, *names))
    return replace(annotation, errors=tuple(errors))


def _get_text(location: str, texts: Any, key: str) -> str:
    text = texts.get(key) if isinstance(texts, dict) else None
    if not isinstance(text, str):
        raise InputError(f"{location}: no text of '{key}'")
    return text


# ---- JSON ----


def _read_json(path: str, lines: Sequence[str]) -> tuple[str, Iterable[Annotation]]:
    try:
        first_value = load_json(next(line for line in lines if line.strip()))
    except ValueError:  # JSON on several lines
        first_value = None
    keys = first_value.keys() if isinstance(first_value, dict) else set()
    if {"scores", "tgt_text"} <= keys:
        return "WMT25", _read_wmt25(path, read_json_lines(path, lines))
    if "esa_spans" in keys:
        return "WMT24", _read_wmt24(path, read_json_lines(path, lines))
    content = parse_json("\n".join(lines), path)
    values = list(content.values()) if isinstance(content, dict) else [None]
    if isinstance(content, dict) and "data" in content and {"info", "campaign_id"} & content.keys():
        return "Pearmut", _read_campaign(path, _make_item_locator(path, lines), content)
    if all(isinstance(one, list) for one in values):
        return "Pearmut", _read_export(path, _make_item_locator(path, lines), values)
    expected = "WMT25 (scores, tgt_text), WMT24 (esa_spans) or a Pearmut file"
    raise _input_error(f"{path}, line 1", expected, content)


def _read_wmt25(path: str, rows: Iterable[tuple[int, Any]]) -> Iterator[Annotation]:
    numbers: dict[str, int] = {}
    for line, row in rows:
        location, segment = f"{path}, line {line}", str(row.get("doc_id"))
        source, scores = _get_text(location, row, "src_text"), row.get("scores")
        if not isinstance(scores, dict):
            raise _input_error(location, "an object 'scores' with the systems", scores)
        language_pair = segment.partition("_#_")[0]
        number = numbers[language_pair] = numbers.get(language_pair, 0) + 1
        for system, judged in scores.items():
            target = _get_text(location, row.get("tgt_text"), system)
            if not isinstance(judged, dict | list):
                raise _input_error(location, f"the scores of '{system}' as an object", judged)
            entries = judged
            if isinstance(judged, dict):
                waves = [key.removeprefix("errors") for key in judged if key.startswith("errors")]
                entries = [
                    {"errors": judged[f"errors{n}"], "annotator": judged.get(f"annotator{n}", n)}
                    for n in waves
                ]
            for entry in entries:
                fields = entry if isinstance(entry, dict) else {}
                names = (system, segment, str(fields.get("annotator", "")), location)
                annotation = Annotation(*names, target, source, number, unit=_APPRAISE_UNIT)
                yield _parse_errors(annotation, fields.get("errors"))


def _read_wmt24(path: str, rows: Iterable[tuple[int, Any]]) -> Iterator[Annotation]:
    for line, row in rows:
        location, number = f"{path}, line {line}", row.get("line_id")
        system, target, source = (_get_text(location, row, key) for key in ("system", "tgt", "src"))
        names = (system, f"{row.get('langs')} {number}", str(row.get("annotator", "")), location)
        document = str(row.get("doc_id", ""))
        annotation = Annotation(*names, target, source, document=document, unit=_APPRAISE_UNIT)
        yield _parse_errors(annotation, row.get("esa_spans"))


# ---- Pearmut ----


def _make_item_locator(path: str, lines: Sequence[str]) -> Callable[[str], str]:
    """Return a function that locates the next item with a name, if visited in the file's order."""
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(lines, 1):
        for name in _ITEM_ID.findall(line):
            numbers.setdefault(load_json(name), []).append(number)

    def locate(item_id: str) -> str:
        left = numbers.get(item_id, [1])
        return f"{path}, line {left.pop(0) if len(left) > 1 else left[0]}"

    return locate


def _parse_item(
    item: Any, errors_by_model: Any, annotator: str, location: str, tokens: Sequence[str]
) -> Iterator[Annotation]:
    if not isinstance(errors_by_model, dict):
        raise _input_error(location, "errors by model", errors_by_model)
    source = item.get("src") if isinstance(item.get("src"), str) else None
    for model, raw_errors in errors_by_model.items():
        target = _get_text(location, item.get("tgt"), model)
        names = (model, str(item.get("item_id", "")), annotator, location)
        annotation = Annotation(*names, target, source, unit=_PEARMUT_UNIT, tokens=tokens)
        yield _parse_errors(annotation, raw_errors)


def _read_campaign(path: str, locate: Callable[[str], str], content: Any) -> Iterator[Annotation]:
    """Yield the annotations in the items of a campaign, which annotators will review."""
    info = content.get("info")
    tokens = info.get("special_tokens", [MISSING]) if isinstance(info, dict) else [MISSING]
    if not isinstance(tokens, list):
        raise _input_error(f"{path}, line 1", "a list of special_tokens", tokens)
    # Lists of tasks or users contain lists of documents, which contain items.
    queue = [content["data"]]
    while queue:
        item = queue.pop()
        if isinstance(item, list):
            queue += reversed(item)
        elif isinstance(item, dict):
            location = locate(str(item.get("item_id", "")))
            if "error_spans" in item:
                yield from _parse_item(item, item["error_spans"], "", location, tokens)


def _read_export(
    path: str, locate: Callable[[str], str], campaigns: Iterable[Any]
) -> Iterator[Annotation]:
    """Yield the annotations in an export, except for tutorials, attention checks and forms."""
    for records in campaigns:
        annotations: list[Annotation] = []
        for record in records:
            fields = record if isinstance(record, dict) else {}
            items, judged = fields.get("item"), fields.get("annotation")
            if judged == "__RESET__":
                annotations = []
                continue
            if not isinstance(items, list) or not isinstance(judged, list):
                expected = "Pearmut records with lists 'item' and 'annotation'"
                raise _input_error(f"{path}, line 1", expected, record)
            for item, models in zip(items, judged, strict=False):
                item_id = str(item.get("item_id", "")) if isinstance(item, dict) else ""
                location = locate(item_id)
                is_check = item_id.startswith("attention_check_") or "_#_tutorial_#_" in item_id
                if item_id and not is_check:
                    if not isinstance(models, dict):
                        raise _input_error(location, "annotations by model", models)
                    errors = {
                        model: one["error_spans"]
                        for model, one in models.items()
                        if isinstance(one, dict) and "error_spans" in one
                    }
                    annotator = str(record.get("user_id", ""))
                    annotations += _parse_item(item, errors, annotator, location, EXPORT_TOKENS)
        yield from annotations


# ---- tables ----


def _read_appraise(path: str, lines: Sequence[str], first: int | None) -> Iterator[Annotation]:
    """Yield the annotations of Appraise, except for tutorials and attention checks."""
    if first is None:
        raise InputError(
            f"{path}: the number of the first segment is unknown (expected 0 or 1). State it with "
            "--first-segment N, or with read_spans(FILE, first=N)."
        )
    for line, cells in read_csv(path, lines):
        location = f"{path}, line {line}"
        if not any(cells):
            continue
        if len(cells) != APPRAISE_COLUMNS or not is_whole_number(cells[2]):
            expected = f"{APPRAISE_COLUMNS} columns with the number of the segment in the third"
            raise _input_error(location, expected, ",".join(cells))
        annotator, system, segment, kind, document = (cells[i] for i in (0, 1, 2, 3, 7))
        if kind == "BAD" or "tutorial" in document or document.endswith(SKIPPED_DOCUMENTS):
            continue
        names = (system, segment, annotator, location)
        place = (None, None, int(segment) + 1 - first)
        annotation = Annotation(*names, *place, document.partition("#")[0], unit=_APPRAISE_UNIT)
        yield _parse_errors(annotation, parse_json(cells[9], path, line))


def _read_ratings(path: str, lines: Sequence[str]) -> Iterator[Annotation]:
    """Yield the ratings in an mt-metrics-eval file; None is a segment without a rating."""
    counts: dict[str, int] = {}
    for line, text in enumerate(lines, 1):
        location, cells = f"{path}, line {line}", text.split("\t")
        if not text.strip():
            continue
        if len(cells) not in (2, 3):
            raise _input_error(location, "a system, a rating and optionally a rater", text)
        number = counts[cells[0]] = counts.get(cells[0], 0) + 1
        if cells[1].strip() == "None":
            continue
        rating = parse_json(cells[1], path, line)
        names = (cells[0], str(number), cells[2] if len(cells) == 3 else "", location)
        errors = rating.get("errors") if isinstance(rating, dict) else rating
        yield _parse_errors(Annotation(*names, number=number), errors)


def _read_mqm(path: str, rows: Iterable[tuple[int, dict[str, str]]]) -> Iterable[Annotation]:
    """Return the annotations of an MQM table, which has one row per error.

    A mark without an end, as in published tables, extends to the end of the text.
    """
    annotations: dict[tuple[str, ...], Annotation] = {}
    for line, row in rows:
        location = f"{path}, line {line}"
        cells = {name.lower(): value for name, value in row.items()}
        position: tuple[int | None, int | None] = (None, None)
        side, texts = TARGET, {}
        for name in (SOURCE, TARGET):
            text = cells.get(name) or ""
            pieces = _MARK.split(text)
            if "".join(_MARK.findall(text)) not in ("", "<v>", "<v></v>"):
                raise _input_error(location, f"one <v>…</v> in the {name}", text)
            texts[name] = "".join(pieces)
            if len(pieces) > 1:
                side, position = name, (len(pieces[0]), len(pieces[0]) + len(pieces[1]))
        item, document = cells.get("globalsegid") or cells.get("seg_id") or "", cells.get("doc", "")
        names = (cells["system"], item, cells.get("rater", ""))
        number = int(item) if is_whole_number(item) else None
        new = Annotation(*names, location, texts[TARGET], texts[SOURCE] or None, number, document)
        key = (*names, document, cells.get("doc_id", ""))
        annotation = annotations.setdefault(key, new)
        if annotation.target != new.target:
            expected = f"the target of {annotation.location}"
            raise _input_error(location, expected, new.target)
        severity, category = cells["severity"].strip().lower(), cells["category"].strip()
        if "no-error" not in (severity, category.lower()):
            error = ErrorSpan(*position, side, severity, category, names[2], names[0], item)
            annotations[key] = replace(annotation, errors=(*annotation.errors, error))
    return annotations.values()
