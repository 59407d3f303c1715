"""Text of a comparison: a sentence on the best system, one compact table, and a legend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from truebleu.comparison import comparison_layout, overview
from truebleu.comparison.comparison_columns import (
    COLUMNS,
    ColumnCells,
    build_interval_drawings,
    build_metric_columns,
    build_table,
    check_column_names,
    format_metric_header,
    format_segments,
    get_score_digits,
    list_columns,
    require_columns,
)
from truebleu.comparison.comparison_request import TEST_SET_PARTS
from truebleu.comparison.legend import SIGNIFICANT, build_legend
from truebleu.rendering.elements import (
    Block,
    Cell,
    Column,
    Heading,
    Paragraph,
    Table,
    build_warnings,
)
from truebleu.rendering.view import Content
from truebleu.text.argument_checks import check_choice
from truebleu.text.terminal_layout import format_count

# The columns of a table that fits into 80 characters.
COMPACT_COLUMNS = ("letter", "system", "score", "interval", "runs", "delta", "p", "cluster")
# Kinds of notes that the headline and the legend replace.
SUMMARIZED_NOTES = ("disagreement", "many tests")
# Maximum number of pairs of systems that the note on disagreements lists.
MAX_LISTED_PAIRS = 3


def build_text_blocks(
    groups: Sequence[tuple[str, Content]],
    digits: int | None = None,
    *,
    short: bool = False,
    columns: Sequence[str] | None = None,
    by: Sequence[str] = (),
    explain: bool = False,
    hint: str = "",
) -> Iterator[Block]:
    """Yield the text of one comparison, or of one per group of rows.

    groups: titles of groups and their comparisons; a single comparison has an empty title.
    columns, by: see `ComparisonView` (default: columns that fit into 80 characters).
    explain: explain the columns and the test, list all notes, and give complete signatures.
    hint: end of the legend, such as "More: --explain".
    """
    names = COMPACT_COLUMNS if columns is None else columns
    check_column_names(names)
    for name in by:
        check_choice("by", name, TEST_SET_PARTS)
    for _, content in groups if columns is not None else ():
        require_columns(content, names)
    for title, content in groups:
        if title:
            heading = comparison_layout.format_title(content)
            yield Heading(1, f"{title}: {heading}")
        yield from build_warnings(content)
        yield Paragraph(overview.format_headline(content), "lead")
        yield build_compact_table(content, names, digits, has_drawings=columns is None)
        if "reference" in by:
            yield from comparison_layout.build_reference_tables(content, digits)
        if "document" in by:
            yield from comparison_layout.build_document_tables(content, digits)
        if title:
            yield from _build_notes(_collect_notes(content, explain=explain))
    contents = [content for _, content in groups]
    explained = [name for name in names if name not in ("interval", "delta", "p")]
    if explain:
        available = {
            name for metric in contents[0]["metrics"] for name in list_columns(contents[0], metric)
        }
        yield from _build_notes(f"{name}: {COLUMNS[name]}." for name in names if name in available)
        # The description of the column does not state the correction.
        explained = ["cluster"] if "cluster" in names and contents[0]["correction"] else []
    if len(contents) == 1:
        yield from _build_notes(_collect_notes(contents[0], explain=explain))
    sizes = []
    if not groups[0][0]:
        first = contents[0]
        parts = [format_segments(first["segments"], first.get("resampled_documents"))]
        if first["buckets"]:
            parts.append(format_count(first["buckets"], "bucket"))
        if first["references"] not in (None, 1, "var"):
            parts.append(format_count(first["references"], "reference"))
        sizes = [f"{', '.join(parts)}."]
    legend = build_legend(contents[0], explained, (SIGNIFICANT,))
    ends = [contents[0].get("name_note", ""), "" if explain else hint]
    yield Paragraph(" ".join(filter(None, [*sizes, *legend, *ends])), "legend")
    is_short = short or not explain
    signatures = [
        # Short signatures omit the version of truebleu.
        re.sub(r"\|by:[^|]*", "", line) if is_short else line
        for content in contents
        for line in comparison_layout.format_signatures(content, short=is_short)
    ]
    yield from (Paragraph(line, "signature") for line in dict.fromkeys(signatures))


def _build_notes(lines: Iterable[str]) -> Iterator[Paragraph]:
    return (Paragraph(line, "note") for line in lines if line)


def build_compact_table(
    content: Content, names: Sequence[str], digits: int | None, *, has_drawings: bool
) -> Table:
    """Return one table with a row per system, or per metric and system."""
    metrics = content["metrics"]
    columns_by_metric = [
        build_metric_columns(content, one, names, get_score_digits(content, one, digits))
        for one in metrics
    ]
    if len(metrics) == 1:
        (columns,) = columns_by_metric
        if has_drawings and len(content["systems"]) > 1:
            columns += build_interval_drawings(content, metrics[0])
        return build_table(columns, metrics[0]["name"])
    # Metrics may lack columns, for example the rank if a metric cannot split the text into words.
    available = [list_columns(content, one) for one in metrics]
    shown = [name for name in names if any(name in one for one in available)]
    empty_cells = [Cell("")] * len(content["systems"])
    headers: dict[str, Column] = {"score": Column("score", "score")}
    cells_by_name: dict[str, list[Any]] = {name: [] for name in shown}
    metric_cells: list[Cell] = []
    for metric, columns, present in zip(metrics, columns_by_metric, available, strict=True):
        metric_cells += [Cell(format_metric_header(metric)), *empty_cells[1:]]
        columns_by_name = dict(
            zip([name for name in names if name in present], columns, strict=True)
        )
        for name in shown:
            column, cells = columns_by_name.get(name, (None, empty_cells))
            cells_by_name[name] += cells
            if column is not None:
                headers.setdefault(name, column)
    stacked: list[ColumnCells] = [(Column("metric", is_left_aligned=True), metric_cells)]
    stacked += [(headers[name], cells_by_name[name]) for name in shown]
    return build_table(stacked)


def _collect_notes(content: Content, *, explain: bool) -> list[str]:
    """Return notes on the data or, with `explain`, all notes and the limitations of the test."""
    if explain:
        limits = [content["reading"]] if content["reading"] else []
        if content["test"] and content["test"]["name"] != "ar":
            limits.append(
                "In signatures, bs is the number of resamples. It does not name the test: "
                f"{content['test']['title']}."
            )
        return [*limits, *(f"Note: {note['text']}" for note in content["notes"])]
    disagreements = [one for one in content["notes"] if one["kind"] == "disagreement"]
    lines = [
        f"Note: {note['text']}" for note in content["notes"] if note["kind"] not in SUMMARIZED_NOTES
    ]
    if disagreements and len(content["systems"]) > 2:
        pairs = [" and ".join(note["systems"]) for note in disagreements[:MAX_LISTED_PAIRS]]
        others = ["…"] if len(disagreements) > MAX_LISTED_PAIRS else []
        lines.append(
            f"Note: metrics disagree on {format_count(len(disagreements), 'pair')} of systems "
            f"({'; '.join(pairs + others)}): each system of a pair is significantly better by some "
            "metric."
        )
    return lines
