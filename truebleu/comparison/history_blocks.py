"""From the dict of a history to what a reader sees, and to records for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from truebleu.rendering.blocks import Cell, Chart, Heading, Paragraph, Point, Table
from truebleu.rendering.numbers import fixed, signed
from truebleu.text.layout import count

if TYPE_CHECKING:
    from truebleu.rendering.blocks import Block
    from truebleu.rendering.view import Content


def of_content(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks: for each series a chart, a table and what is to be said of it."""
    yield Heading(1, "Score history")
    if not content["groups"]:
        yield Paragraph("No scores yet.")
    for group in content["groups"]:
        lower = ", lower is better" if group["lower_is_better"] else ""
        yield Heading(2, f"{group['name']}, {group['metric']}{lower}")
        if group["warning"] is not None:
            yield Paragraph(f"{group['warning']}.", "caution")
        for number, series in enumerate(group["series"], 1):
            if series["differs"]:
                yield Heading(3, f"{number}. {', '.join(series['differs'])}")
            yield from _series(series, group["metric"], digits, short=short)


def _series(series: Content, metric: str, digits: int, *, short: bool) -> Iterator[Block]:
    scores = series["scores"]
    if len(scores) > 1:
        yield Chart([_point(score) for score in scores], digits, metric)
    yield _table(scores, digits)
    known = f"{count(len(scores), 'score')} of {count(series['segments'], 'segment')}"
    yield Paragraph(f"{known}; times are UTC.")
    yield Paragraph(series["short_signature" if short else "signature"], "signature")


def _point(score: Content) -> Point:
    about = ", ".join(filter(None, (_when(score), repr(score["score"]), score.get("note"))))
    when = _when(score)[:10]
    seconds = datetime.fromisoformat(score["time"]).timestamp()
    ends = score.get("low"), score.get("high")
    return Point(score["score"], when, about, *ends, seconds, score.get("report") or "")


def _table(scores: Sequence[Content], digits: int) -> Table:
    """A row per score."""
    write = fixed(digits)

    def change(value: float | None) -> str:
        return "" if value is None else signed(write)(value)

    def interval(score: Content) -> str:
        ends = [write(score[end]) for end in ("low", "high") if score.get(end) is not None]
        return f"[{ends[0]}, {ends[1]}]" if len(ends) == 2 else ""

    same = {None: "", True: "yes", False: "no"}
    columns = {
        "when": [_when(score) for score in scores],
        "score": [write(score["score"]) for score in scores],
        "interval": [interval(score) for score in scores],
        "Δ previous": [change(score["since_previous"]) for score in scores],
        "Δ first": [change(score["since_first"]) for score in scores],
        "same output": [same[score["same_output"]] for score in scores],
        "system": [_other_name(score) for score in scores],
        "note": [score.get("note") or "" for score in scores],
        "report": [score.get("report") or "" for score in scores],
    }
    # Columns that say nothing are left out, unless they belong to every history.
    for name in ("interval", "system", "note", "report"):
        if not any(columns[name]):
            del columns[name]
    words = ("when", "same output", "system", "note", "report")
    left = [i for i, name in enumerate(columns) if name in words]
    rows = [[*map(Cell, row)] for row in zip(*columns.values(), strict=True)]
    if "report" in columns:
        for row, score in zip(rows, scores, strict=True):
            row[-1].href = score.get("report") or ""
    return Table.of(list(columns), rows, left)


def _other_name(score: Content) -> str:
    """The name of the system, where something else is followed."""
    return score["system"] if score.get("name") not in (None, score["system"]) else ""


def _when(score: Content) -> str:
    """The time of a score, for a person. It is UTC."""
    return str(score["time"]).replace("T", " ").removesuffix("Z")


def records(content: Content) -> Iterator[dict[str, Any]]:
    """A record per score; series are numbered from 1."""
    numbered = enumerate((s for group in content["groups"] for s in group["series"]), 1)
    for number, series in numbered:
        for score in series["scores"]:
            yield {
                **score,
                "series": number,
                "name": score.get("name", score["system"]),
                "hypothesis_file": score["hypothesis"]["file"],
                "hypothesis_sha256": score["hypothesis"]["sha256"],
                "reference_files": " ".join(text["file"] for text in score["references"]),
                "reference_sha256": " ".join(text["sha256"] for text in score["references"]),
            }
