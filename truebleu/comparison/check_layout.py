"""Sentences, tables and JUnit XML that present the contents of a check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from truebleu.metrics.base import Signature
from truebleu.rendering.elements import Block, Cell, Heading, Paragraph, Table, build_warnings
from truebleu.rendering.number_format import (
    MORE_DIGITS,
    NumberFormatter,
    make_formatter,
    make_signed_formatter,
    rescale,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import cut_text, escape_invisible, format_count

# Default number of decimals of scores.
DIGITS = 2
# Ends of messages about conditions that fail because a metric's scores of the text are unreliable.
UNSUITABLE = "because the text is unsuitable; see the warning."
NO_VALID_SCORE = f"does not count, {UNSUITABLE}"
NOT_COMPARABLE = f"cannot compare the outputs, {UNSUITABLE}"
# Maximum width of a text in a table, in terminal columns.
MAX_TEXT_LENGTH = 70
# Names of JUnit test cases, keyed by the kind of condition.
JUNIT_NAMES = {
    "minimum": "{metric} is at least as good as {limit:g}",
    "max_drop": "{metric} is at most {limit:g} worse than before",
    "significant": "{metric} is not significantly worse than before",
}


def add_messages(metric: Content, earlier_name: str | None, digits: int = 2) -> dict[str, Any]:
    """Return a metric's entry with a message for each condition."""
    name, value, earlier = metric["name"], metric["score"], metric["earlier"]
    sign = 1 if metric["higher_is_better"] else -1
    down, up = ("fell", "rose") if sign > 0 else ("rose", "fell")

    def describe_minimum(condition: Content) -> str:
        minimum = condition["limit"]
        position = "below" if value < minimum else "above" if value > minimum else "at"
        bound = "minimum" if sign > 0 else "maximum"
        measured = _format_measured_value(value, minimum, digits)
        return f"{name} {measured} is {position} the {bound} of {minimum:g}."

    def describe_drop(condition: Content) -> str:
        source = "output" if earlier["log"] is None else "log"
        before, allowed = earlier[source]["score"], condition["limit"]
        drop = condition["measured"]
        # The log has the time in UTC to the second; readers need only the day.
        earlier_text = earlier["log"]["time"][:10] if source == "log" else earlier_name
        if drop == 0:
            return f"{name} is unchanged: {value:.{digits}f} ({earlier_text})."
        change = f"{up} {-drop:.{digits}f}"
        if drop > 0:
            change = f"{down} {_format_measured_value(drop, allowed, digits)}"
        limit = f"; the allowed {'drop' if sign > 0 else 'rise'} is {allowed:g}" if drop > 0 else ""
        return (
            f"{name} {change}, from {before:.{digits}f} ({earlier_text}) to {value:.{digits}f}"
            f"{limit}."
        )

    def describe_significance(condition: Content) -> str:
        change = sign * (value - earlier["output"]["score"])
        if change >= 0:
            return f"{name} is not worse than for {earlier_name}."
        p, negation = condition["measured"], "not " if condition["passed"] else ""
        return (
            f"{name} {down} {-change:.{digits}f} from {earlier_name}, which is "
            f"{negation}significant (p = {p:.4f})."
        )

    describe = {
        "minimum": describe_minimum,
        "max_drop": describe_drop,
        "significant": describe_significance,
    }
    conditions = [
        one
        if one["message"].endswith(UNSUITABLE)
        else {**one, "message": describe[one["kind"]](one)}
        for one in metric["conditions"]
    ]
    return {**metric, "conditions": conditions}


def _format_measured_value(value: float, limit: float, digits: int) -> str:
    """Return a number with enough decimals to distinguish it from the limit."""
    for decimals in (digits, digits + 2, digits + 6):
        if float(f"{value:.{decimals}f}") != limit or value == limit:
            return f"{value:.{decimals}f}"
    return repr(value)


def convert_check_to_fractions(content: Content) -> Content:
    """Return the contents of a check with percentages converted to fractions (0-1)."""
    digits = DIGITS + MORE_DIGITS
    percentages = [metric["name"] for metric in content["metrics"] if metric["percentage"]]
    metrics = []
    for metric in content["metrics"]:
        if metric["name"] in percentages:
            conditions = [
                one if one["kind"] == "significant" else rescale(one, ("limit", "measured"))
                for one in metric["conditions"]
            ]
            entry = {**rescale(metric, ("score",)), "conditions": conditions}
            metrics.append(add_messages(entry, content["earlier"]["output"], digits))
        else:
            metrics.append(metric)
    rescaled = {**content, "scale": 1, "metrics": metrics}
    if content["metric"] in percentages:
        lists = {name: content[name] for name in ("worse_documents", "worse_segments")}
        rescaled |= rescale(lists, ("score", "earlier"))
    return rescaled


def build_check_blocks(content: Content, digits: int | None, *, short: bool) -> Iterator[Block]:
    """Yield the verdict, a sentence per failed condition, the tables, and the signatures."""
    conditions = [one for metric in content["metrics"] for one in metric["conditions"]]
    failed = [one for one in conditions if not one["passed"]]
    system = content["system"]
    if len(failed) == 1:
        yield Paragraph(f"{system} failed: {failed[0]['message']}", "lead")
    elif failed:
        count = f"{len(failed)} of {format_count(len(conditions), 'condition')}"
        yield Paragraph(f"{system} failed {count}.", "lead")
        yield from (Paragraph(condition["message"], "note") for condition in failed)
    else:
        yield Paragraph(f"{system} passed {format_count(len(conditions), 'condition')}.", "lead")
    yield from build_warnings(content)
    yield _build_score_table(content, digits)
    yield from _build_worse_tables(content, digits)
    for metric in content["metrics"]:
        signature = metric["signature"]
        if short:
            signature = Signature.shorten(metric["label"], signature)
        yield Paragraph(f"{metric['label']}|{signature}", "signature")


def _make_score_formatter(
    content: Content, metric_name: str, digits: int | None
) -> NumberFormatter:
    (metric,) = (one for one in content["metrics"] if one["name"] == metric_name)
    more = MORE_DIGITS if content.get("scale") == 1 and metric["percentage"] else 0
    return make_formatter(DIGITS + more if digits is None else digits)


def _build_score_table(content: Content, digits: int | None) -> Table:
    rows = []
    for metric in content["metrics"]:
        format_score = _make_score_formatter(content, metric["name"], digits)
        conditions_by_kind = {one["kind"]: one for one in metric["conditions"]}
        earlier = metric["earlier"]["log"] or metric["earlier"]["output"]
        row = {"metric": metric["name"], "score": format_score(metric["score"])}
        limits = {kind: f"{one['limit']:g}" for kind, one in conditions_by_kind.items()}
        limit_name = "minimum" if metric["higher_is_better"] else "maximum"
        row |= {"minimum": "", "maximum": "", limit_name: limits.get("minimum", "")}
        row["earlier"] = "" if earlier is None else format_score(earlier["score"])
        change = None if earlier is None else metric["score"] - earlier["score"]
        row["Δ"] = "" if change is None else make_signed_formatter(format_score)(change)
        row["allowed drop"] = limits.get("max_drop", "")
        significance = conditions_by_kind.get("significant")
        row["p"] = "" if significance is None else f"{significance['measured']:.4f}"
        rows.append((row, [name for name, one in conditions_by_kind.items() if not one["passed"]]))
    names = [name for name in rows[0][0] if any(row[name] for row, _ in rows)]
    marked_columns = {"minimum": "score", "max_drop": "Δ", "significant": "p"}
    cells = [
        [
            Cell(
                row[name], mark="worse" if name in [marked_columns[kind] for kind in failed] else ""
            )
            for name in names
        ]
        for row, failed in rows
    ]
    return Table.from_text_rows(names, cells)


def _build_worse_tables(content: Content, digits: int | None) -> Iterator[Block]:
    metric_name = content["metric"] or content["metrics"][0]["name"]
    format_score = _make_score_formatter(content, metric_name, digits)
    if content["worse_documents"]:
        yield Heading(2, f"Documents that got worse, by {content['metric']}")
        rows = [
            [one["name"], str(one["segments"]), *_format_score_change(one, format_score)]
            for one in content["worse_documents"]
        ]
        yield Table.from_text_rows(["document", "segments", "earlier", "now", "Δ"], rows)
    if content["worse_segments"]:
        yield Heading(2, f"Segments that got worse, by {content['metric']}")
        rows = []
        for segment in content["worse_segments"]:
            texts = {"now": segment["hypothesis"], "earlier": segment["earlier_hypothesis"]}
            references = segment["references"]
            for i, reference in enumerate(references, 1):
                texts["reference" if len(references) == 1 else f"reference {i}"] = reference
            text_lines = []
            for name, text in texts.items():
                if text is not None:
                    joined_text = text if isinstance(text, str) else " ".join(map(str, text))
                    text_lines.append(f"{name}: {cut_text(joined_text, MAX_TEXT_LENGTH)}")
            rows.append(
                [
                    str(segment["number"]),
                    *_format_score_change(segment, format_score),
                    text_lines[0] if text_lines else "",
                ]
            )
            rows += [["", "", "", "", text] for text in text_lines[1:]]
        yield Table.from_text_rows(["segment", "earlier", "now", "Δ", "text"], rows, (4,))
    elif content["earlier"]["log"] is not None and any(
        one["kind"] == "max_drop" and not one["passed"]
        for metric in content["metrics"]
        for one in metric["conditions"]
    ):
        yield Paragraph(
            "The log has no texts. To list the segments that got worse, compare with an earlier "
            "output (--against FILE; against=... in Python).",
            "note",
        )


def _format_score_change(entry: Mapping[str, Any], format_score: NumberFormatter) -> list[str]:
    change = make_signed_formatter(format_score)(entry["score"] - entry["earlier"])
    return [format_score(entry["earlier"]), format_score(entry["score"]), change]


def build_junit(content: Content) -> str:
    """Render a check as JUnit XML."""
    cases = [(metric, one) for metric in content["metrics"] for one in metric["conditions"]]
    failed = sum(not one["passed"] for _, one in cases)
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "truebleu check", **counts})
    for metric, condition in cases:
        name = JUNIT_NAMES[condition["kind"]].format(
            metric=metric["name"], limit=condition["limit"]
        )
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": escape_invisible(content["system"]), "name": escape_invisible(name)},
        )
        if not condition["passed"]:
            failure = ET.SubElement(
                case, "failure", {"message": escape_invisible(condition["message"])}
            )
            lines = [f"{metric['label']}|{metric['signature']}"]
            if condition["message"].endswith(UNSUITABLE):
                lines += [one["text"] for one in content["warnings"]]
            elif condition["kind"] != "minimum" and content["metric"] == metric["name"]:
                lines += _describe_worse_items(content)
            failure.text = "\n".join(map(escape_invisible, lines))
        else:
            ET.SubElement(case, "system-out").text = escape_invisible(condition["message"])
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _describe_worse_items(content: Content) -> Iterator[str]:
    format_score = _make_score_formatter(content, content["metric"], None)
    for kind, name, items in (
        ("document", "name", content["worse_documents"]),
        ("segment", "number", content["worse_segments"]),
    ):
        for item in items:
            change = f"from {format_score(item['earlier'])} to {format_score(item['score'])}"
            yield f"{kind} {item[name]} got worse, {change}"
