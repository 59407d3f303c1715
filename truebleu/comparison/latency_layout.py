"""The verdict and the tables that present latency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from truebleu.rendering.elements import Block, Cell, Column, Heading, Paragraph, Scatter, Table
from truebleu.rendering.number_format import (
    NumberFormatter,
    format_p_value,
    format_percent,
    make_formatter,
    make_signed_formatter,
)
from truebleu.rendering.view import Content
from truebleu.resegmentation.latency import COMPUTATION_AWARE
from truebleu.text.terminal_layout import join_words

# simulstream measures StreamLAAL in seconds; other programs measure in milliseconds.
UNITS_OF_METRICS = {"StreamLAAL": "s", "AP": "", "BLEU": "%", "SWF": "%", "EFSW": "%", "DSPTV": "%"}
# Default number of decimals in text; milliseconds have none.
DIGITS = {"StreamLAAL": 3, "AP": 2, "BLEU": 1, "SWF": 1, "EFSW": 1, "DSPTV": 1}
SIMULTANEITY = ("SWF", "EFSW", "DSPTV")


def write_verdict(content: Content) -> str:
    """Return a sentence on the smallest latency, followed by a sentence on BLEU."""
    systems = content["systems"]
    name = content["metrics"][0]["name"]
    format_score = make_formatter(0)
    valid = [one for one in systems if one["scores"][name]["score"] is not None]
    if not valid:
        return f"No segment of {join_words([one['name'] for one in systems])} has a latency."
    best = min(valid, key=lambda one: one["scores"][name]["score"])
    score = best["scores"][name]
    value = format_score(score["score"])
    if len(systems) == 1:
        interval = ""
        if score["low"] is not None:
            level = format_percent(content["interval"]["level"])
            ends = " to ".join(format_score(score[end]) for end in ("low", "high"))
            interval = f"; {level} interval {ends}"
        verdict = f"{best['name']} lags {value} ms behind the source ({name}{interval})"
    elif len({system["scores"][name]["score"] for system in valid}) < 2 and len(valid) > 1:
        verdict = (
            f"{join_words([one['name'] for one in valid])} have the same lag, {value} ms ({name})"
        )
    else:
        verdict = f"{best['name']} has the smallest lag behind the source, {value} ms ({name})"
        # The first log is compared with the second.
        compared, sign = (systems[0], 1) if best is not systems[0] else (systems[1], -1)
        difference = (best if sign == 1 else compared)["difference"]
        if difference is not None:
            delta = make_signed_formatter(format_score)(sign * difference["delta"])
            is_significant = difference["p"] < round(1 - content["interval"]["level"], 12)
            p_value = f"p = {format_p_value(difference['p'])}".replace("= <", "< ")
            verdict += "" if is_significant else ", but not significantly"
            verdict += f": {delta} ms against {compared['name']}, {p_value}"
    scores = [(system["name"], system["scores"]) for system in systems]
    bleu = [(name, one["BLEU"]["score"]) for name, one in scores if "BLEU" in one]
    format_bleu = make_formatter(DIGITS["BLEU"] + content.get("more_digits", 0))
    if len(bleu) == 1:
        verdict += f"; BLEU is {format_bleu(bleu[0][1])}"
    elif bleu:
        verdict += "; BLEU: " + ", ".join(f"{one} {format_bleu(value)}" for one, value in bleu)
    return f"{verdict}."


def lay_out_latency(content: Content, digits: int | None, *, short: bool) -> Iterator[Block]:
    """Yield the verdict, a table per kind of metric, and notes."""
    yield Paragraph(content["verdict"], "lead")
    names = [metric["name"] for metric in content["metrics"]]
    aware = [name for name in names if name.endswith(COMPUTATION_AWARE)]
    main = [name for name in names if name not in aware and name not in SIMULTANEITY]
    # Show quality next to the first metric, because fast systems tend to be worse.
    main = [main[0], *(name for name in main if name == "BLEU"), *main[1:]]
    yield _build_table(content, list(dict.fromkeys(main)), digits, is_main=True)
    if aware:
        yield Heading(2, "With computation time")
        yield _build_table(content, aware, digits)
    if "DSPTV" in names:
        yield Heading(2, "Words written before the end of the source")
        yield _build_table(content, SIMULTANEITY, digits)
    seconds = " (StreamLAAL: s; AP: a ratio)" if "StreamLAAL" in names else " (AP: a ratio)"
    legend = f"ms per {content['unit'].replace('char', 'character')}{seconds}"
    if content["interval"]:
        legend += f"; ± is half of the {format_percent(content['interval']['level'])} interval"
        if len(content["systems"]) > 1:
            legend += "; Δ and p: against the first log, on segments with output of both"
    yield Paragraph(f"{legend}.", "legend")
    yield from (Paragraph(note, "note") for note in content["notes"])
    if not short:
        for name, signature in content["signatures"].items():
            yield Paragraph(f"{name}|{signature}", "signature")


def build_scatter(content: Content) -> Scatter | None:
    """Return a plot of BLEU against the first latency metric, or None without both."""
    name = content["metrics"][0]["name"]
    points = [
        (system["name"], system["scores"][name]["score"], system["scores"]["BLEU"]["score"])
        for system in content["systems"]
        if "BLEU" in system["scores"] and system["scores"][name]["score"] is not None
    ]
    if len(points) < 2:
        return None
    # A system is on the Pareto line if every other system is slower, worse, or equal in both
    # respects.
    line = [
        index
        for index, (_, latency, bleu) in enumerate(points)
        if not any(
            other <= latency and quality >= bleu and (other, quality) != (latency, bleu)
            for _, other, quality in points
        )
    ]
    line.sort(key=lambda index: points[index][1])
    return Scatter(
        "Top left is best. The dashed line (Pareto line) joins the systems that no other system "
        f"surpasses in one metric without being worse in the other: "
        f"{join_words([points[index][0] for index in line])}.",
        f"{name} (ms, lower is better)",
        "BLEU (higher is better)",
        points,
        line,
    )


def _build_table(
    content: Content, names: Sequence[str], digits: int | None, *, is_main: bool = False
) -> Table:
    """Return a table with a row per log."""
    systems = content["systems"]
    columns = [Column("log", is_left_aligned=True)]
    rows = [[Cell(system["name"])] for system in systems]
    if is_main:
        columns.append(Column("skipped", "skipped", tooltip="segments without output"))
        for row, system in zip(rows, systems, strict=True):
            row.append(Cell(f"{system['empty']:,}/{system['segments']:,}"))
    for name in names:
        metric = name.removesuffix(COMPUTATION_AWARE)
        default = DIGITS.get(metric, 0)
        if UNITS_OF_METRICS.get(metric) == "%":
            default += content.get("more_digits", 0)
        format_score = make_formatter(default if digits is None else digits)
        columns.append(Column(metric, name))
        for row, system in zip(rows, systems, strict=True):
            row.append(_format_score(system["scores"].get(name), format_score))
        if is_main and name == names[0] and len(systems) > 1 and content["interval"]:
            columns += [Column(header, name) for header in ("Δ", "p")]
            for row, system in zip(rows, systems, strict=True):
                difference = system["difference"]
                if difference is None:
                    row.extend([Cell(""), Cell("")])
                    continue
                delta = make_signed_formatter(format_score)(difference["delta"])
                row.extend([Cell(delta), Cell(format_p_value(difference["p"]))])
    return Table(columns, rows)


def _format_score(score: Content | None, format_score: NumberFormatter) -> Cell:
    """Return a score with half the width of its interval."""
    if score is None or score["score"] is None:
        return Cell("–")
    text = format_score(score["score"])
    if score["low"] is not None:
        text += f" ± {format_score((score['high'] - score['low']) / 2)}"
    return Cell(text)
