"""Tables and sentences that present the content of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from truebleu.comparison.comparison_columns import (
    ColumnCells,
    build_score_cells,
    build_system_columns,
    build_table,
    format_metric_header,
    format_segments,
    get_score_digits,
)
from truebleu.comparison.legend import build_legend
from truebleu.rendering.elements import Block, Cell, Column, Table
from truebleu.rendering.number_format import make_formatter
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count


def format_title(content: Content) -> str:
    """Return a line with the numbers of systems, segments and references."""
    parts = [format_count(len(content["systems"]), "system")]
    parts.append(format_segments(content["segments"], content.get("resampled_documents")))
    if content["buckets"]:
        parts.append(format_count(content["buckets"], "bucket"))
    references = content["references"]
    if references == "var":
        parts.append("a varying number of references per segment")
    elif references is not None:
        parts.append(f"{format_count(references, 'reference')} per segment")
    return ", ".join(parts)


def build_components_table(content: Content, metric: Content) -> Table | None:
    """Return a table of BLEU's precisions, penalties and lengths, or None for other metrics."""
    details = [system["scores"][metric["name"]]["details"] for system in content["systems"]]
    if not all("brevity_penalty" in one and "precisions" in one for one in details):
        return None
    table_columns = list(build_system_columns(content))

    def add_column(header: str, tooltip: str, texts: Iterable[str], long_header: str = "") -> None:
        column = Column(header, "parts", tooltip=tooltip, long_header=long_header)
        table_columns.append((column, map(Cell, texts)))

    is_fraction = content.get("scale") == 1
    unit = "" if is_fraction else ", as a percentage"
    precisions_by_order = zip(*(one["precisions"] for one in details), strict=False)
    for order, precisions in enumerate(precisions_by_order, 1):
        texts = [f"{one / 100:.3f}" if is_fraction else f"{one:.1f}" for one in precisions]
        add_column(f"p{order}", f"precision of {order}-grams{unit}", texts)
    penalties = [f"{one['brevity_penalty']:.3f}" for one in details]
    add_column("BP", "brevity penalty", penalties, "brevity penalty")
    lengths = [f"{one['hypothesis_length']:,}" for one in details]
    add_column("tokens", "number of tokens in all hypotheses", lengths, "hypothesis tokens")
    lengths = [f"{round(one['reference_length'], 1):,}" for one in details]
    add_column("reference tokens", "the effective reference length", lengths)
    ratios = [f"{one['ratio']:.3f}" for one in details]
    add_column("ratio", "hypothesis length divided by reference length", ratios)
    return build_table(table_columns, f"Components of {metric['name']}")


def build_reference_tables(content: Content, digits: int | None = None) -> Iterator[Table]:
    """Yield a table of scores by reference for each metric, and a table of identical segments."""
    references: list[Content] = content.get("by_reference", [])
    systems = content["systems"]
    for metric in content["metrics"]:
        name = metric["name"]
        if not any(name in one["scores"] for one in references):
            continue
        format_score = make_formatter(get_score_digits(content, metric, digits))
        table_columns = list(build_system_columns(content))
        scores = [system["scores"][name] for system in systems]
        cells = build_score_cells(content, scores, format_score)
        table_columns.append((Column(f"{format_metric_header(metric)} all refs", "all"), cells))
        for reference in references:
            size_note = f" (n = {reference['segments']:,})"
            if reference["segments"] == content["segments"]:
                size_note = ""
            scores = [reference["scores"][name][system["name"]] for system in systems]
            cells = build_score_cells(content, scores, format_score)
            column = Column(f"{reference['name']} alone{size_note}", reference["name"])
            table_columns.append((column, cells))
        yield build_table(table_columns, f"{name} by reference")
    if references:
        table_columns = list(build_system_columns(content))
        tooltip = "segments identical to this reference; *: suspiciously many"
        for reference in references:
            copy_counts = [reference["identical"][system["name"]] for system in systems]
            cells = [
                Cell(f"{n['segments']:,} ({100 * n['share']:.1f}%)", "*" if n["is_copy"] else "")
                for n in copy_counts
            ]
            header = f"equal to {reference['name']}"
            table_columns.append((Column(header, reference["name"], tooltip=tooltip), cells))
        yield build_table(table_columns, "equal segments")


def build_document_tables(content: Content, digits: int | None) -> Iterator[Block]:
    """Yield a table of documents per metric. Letters replace the names of five systems or more."""
    documents, systems = content["documents"], content["systems"]
    uses_letters = len(systems) > 4
    for metric in content["metrics"] if documents else ():
        format_score = make_formatter(get_score_digits(content, metric, digits))
        names = Column(f"document, {format_metric_header(metric)}", is_left_aligned=True)
        table_columns: list[ColumnCells] = [
            (names, [Cell(one["name"]) for one in documents]),
            (Column("segments", "size"), [Cell(f"{one['segments']:,}") for one in documents]),
        ]
        for system in systems:
            cells = [
                Cell(format_score(one["scores"][metric["name"]][system["name"]]))
                for one in documents
            ]
            header = system["letter"] if uses_letters else system["name"]
            table_columns.append((Column(header, "scores", tooltip=system["name"]), cells))
        fold = f"{format_metric_header(metric)} of {format_count(len(documents), 'document')}"
        yield build_table(table_columns, f"{metric['name']} of each document", fold)


# ---- sentences ----


def collect_notes(content: Content) -> list[str]:
    """Return the sentences that follow tables with all columns: legend, test limitations, notes.

    Notes on disagreements between metrics are left out. See `list_disagreements`.
    """
    legend = build_legend(content, ("won", "tied", "lost", "needed"), ())
    limits = [content["reading"]] if content["reading"] else []
    kept = [note for note in content["notes"] if note["kind"] != "disagreement"]
    notes = [f"Note: {note['text']}" for note in kept]
    return [*legend, *limits, *notes]


def list_disagreements(content: Content) -> list[str]:
    """Return the notes on metrics that disagree about a pair of systems."""
    return [note["text"] for note in content["notes"] if note["kind"] == "disagreement"]


def format_signatures(content: Content, *, short: bool = False) -> list[str]:
    """Return one line per metric that has a signature, with its name and signature."""
    key = "short_signature" if short else "signature"
    return [
        f"{'' if metric['name'].startswith(metric['label']) else metric['name'] + ': '}"
        f"{metric['label']}|{metric[key]}"
        for metric in content["metrics"]
        if metric["signature"]
    ]


# ---- records ----


def build_records(content: Content) -> Iterator[dict[str, Any]]:
    """Yield one record per metric and system."""
    letters_by_system = {system["name"]: system["letter"] for system in content["systems"]}
    for metric in content["metrics"]:
        for system in content["systems"]:
            score = system["scores"][metric["name"]]
            difference = score["difference"] or {}
            interval = difference.get("interval") or {}
            yield {
                "metric": metric["name"],
                "system": system["name"],
                "letter": system["letter"],
                **score,
                **(score["interval"] or {}),
                "better_than": " ".join(letters_by_system[name] for name in score["better_than"]),
                **difference,
                "baseline": content["baseline"] if difference else None,
                "difference": difference.get("value"),
                "difference_low": interval.get("low"),
                "difference_high": interval.get("high"),
                "signature": metric["signature"],
            }
