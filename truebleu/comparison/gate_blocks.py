"""From the dict of a check to what a reader sees: what failed, the numbers, and where it fell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from truebleu.rendering.blocks import Cell, Heading, Paragraph, Table, warnings_of
from truebleu.rendering.numbers import fixed, signed
from truebleu.text.layout import count

if TYPE_CHECKING:
    from truebleu.rendering.blocks import Block
    from truebleu.rendering.numbers import Write
    from truebleu.rendering.view import Content

# How much of a text is shown.
WIDTH = 70


def of_content(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks: the verdict, a sentence a condition, the numbers, where it fell, signatures."""
    conditions = [one for metric in content["metrics"] for one in metric["conditions"]]
    failed = [one for one in conditions if not one["passed"]]
    if failed:
        verb = "does not hold" if len(failed) == 1 else "do not hold"
        told = f"failed: {len(failed)} of {count(len(conditions), 'condition')} {verb}"
    else:
        told = f"passed: {count(len(conditions), 'condition')}"
    yield Paragraph(f"{told} for {content['system']}", "lead")
    yield from warnings_of(content)
    for one in failed:
        yield Paragraph(one["told"], "note")
    write = fixed(digits)
    yield _scores(content, write)
    yield from _where(content, write)
    for metric in content["metrics"]:
        signature = metric["signature"]
        if short:
            from truebleu.metrics.base import Signature

            signature = Signature.shortened(metric["name"], signature)
        yield Paragraph(f"{metric['name']}|{signature}", "signature")


def _scores(content: Content, write: Write) -> Table:
    """A row a metric: its score, what it must be, and what it was."""
    rows = []
    for metric in content["metrics"]:
        by = {one["kind"]: one for one in metric["conditions"]}
        earlier = metric["earlier"]["log"] or metric["earlier"]["output"]
        row = {"metric": metric["name"], "score": write(metric["score"])}
        floor = by.get("floor")
        row["floor"] = "" if floor is None else f"{floor['limit']:g}"
        row["earlier"] = "" if earlier is None else write(earlier["score"])
        change = None if earlier is None else metric["score"] - earlier["score"]
        row["Δ"] = "" if change is None else signed(write)(change)
        row["drop allowed"] = f"{by['drop']['limit']:g}" if "drop" in by else ""
        chance = by.get("chance")
        row["p"] = "" if chance is None else f"{chance['measured']:.4f}"
        rows.append((row, [name for name, one in by.items() if not one["passed"]]))
    names = [name for name in rows[0][0] if any(row[name] for row, _ in rows)]
    places = {"floor": "score", "drop": "Δ", "chance": "p"}
    cells = [
        [
            Cell(row[name], mark="worse" if name in [places[kind] for kind in failed] else "")
            for name in names
        ]
        for row, failed in rows
    ]
    return Table.of(names, cells)


def _where(content: Content, write: Write) -> Iterator[Block]:
    """The documents and the segments that fell."""
    if content["documents"]:
        yield Heading(2, f"Documents that fell most, by {content['metric']}")
        rows = [
            [one["name"], str(one["segments"]), *_change(one, write)]
            for one in content["documents"]
        ]
        yield Table.of(["document", "segments", "earlier", "now", "Δ"], rows)
    if content["fallen"]:
        yield Heading(2, f"Segments that fell most, by {content['metric']}")
        rows = []
        for one in content["fallen"]:
            texts = {"now": one["hypothesis"], "earlier": one["before"]}
            texts["reference"] = next(iter(one["references"]), None)
            shown = [f"{name}: {_cut(text)}" for name, text in texts.items() if text is not None]
            rows.append([str(one["number"]), *_change(one, write), shown[0] if shown else ""])
            rows += [["", "", "", "", text] for text in shown[1:]]
        yield Table.of(["segment", "earlier", "now", "Δ", "text"], rows, (4,))
    elif content["earlier"]["log"] is not None and any(
        one["kind"] == "drop" and not one["passed"]
        for metric in content["metrics"]
        for one in metric["conditions"]
    ):
        yield Paragraph("A log has no texts: name an earlier output to see where it fell.", "note")


def _change(one: Mapping[str, Any], write: Write) -> list[str]:
    change = signed(write)(one["score"] - one["earlier"])
    return [write(one["earlier"]), write(one["score"]), change]


def _cut(text: Any) -> str:
    told = text if isinstance(text, str) else " ".join(map(str, text))
    return told if len(told) <= WIDTH else f"{told[: WIDTH - 1]}…"
