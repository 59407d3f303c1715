"""The static summary of a report: HTML from the manifest, readable without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.comparison import comparison_layout, display_scale, overview
from truebleu.meta_evaluation import charts, meta_layout
from truebleu.rendering import html
from truebleu.rendering.elements import Cell, Facts, Heading, HtmlBlock, Paragraph, Table
from truebleu.rendering.number_format import format_percent
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count, join_words


def render_summary(manifest: Content) -> str:
    """Render the summary as HTML without its style, which the page includes."""
    summary = html.render_body(build_summary(manifest), "article")
    if tables := _build_reference_tables(manifest):  # the viewer shows this element unchanged
        body = html.render_body(tables, "section")
        summary += f'<div id="references">\n{body}\n</div>\n'
    return summary + _render_spans(manifest) + _render_human_view(manifest)


def render_fragment(manifest: Content) -> str:
    """Render the summary as HTML with its style, for a notebook."""
    return html.render_fragment([*build_summary(manifest), *_build_reference_tables(manifest)])


def build_summary(manifest: Content) -> Iterator[HtmlBlock]:
    """Yield the blocks of the summary: the result and its significance, tables, and settings."""
    content = display_scale.convert_to_scale(manifest["comparison"], manifest["scale"])
    yield Heading(1, manifest["title"])
    # The tables already name the baseline.
    inputs = [comparison_layout.format_title(manifest["comparison"])]
    if manifest["documents"] is not None:
        inputs.append(format_count(len(manifest["documents"]["names"]), "document"))
    yield Paragraph(", ".join(inputs))
    entries = manifest["resegmentation"] or ()
    for system, entry in zip(manifest["systems"], entries, strict=bool(entries)):
        if entry is not None:
            yield Paragraph(f"Re-segmented: {system['name']}: {entry['text']}.")
            if entry["problems"]:
                problems = join_words(entry["problems"])
                yield Paragraph(f"Warning: {system['name']}: {problems}.", "caution")
    yield from overview.build_first_screen(content)
    for text in comparison_layout.list_disagreements(content):
        yield Paragraph(text, "caution")
    if manifest["findings"]:
        yield Heading(2, "Findings")
        yield from (Paragraph(f"{finding['text']}.", "note") for finding in manifest["findings"])
    yield from overview.build_metric_details(content)
    yield from (Paragraph(line, "note") for line in comparison_layout.collect_notes(content))
    yield from _build_term_table(manifest)
    yield Heading(2, "Settings and data")
    yield Facts(list(_list_facts(manifest)))


def _build_term_table(manifest: Content) -> Iterator[HtmlBlock]:
    glossary = manifest["terms"]
    if glossary is None:
        return
    yield Heading(2, f"Terms of {glossary['name']}")
    total = glossary["occurrences"]
    terms = format_count(len(glossary["terms"]), "term")
    if not total:
        yield Paragraph(f"The source contains no occurrences of the {terms}.")
        return
    segments = format_count(glossary["segments"], "segment")
    occurrences = format_count(total, "occurrence")
    yield Paragraph(f"The source contains {occurrences} of the {terms}, in {segments}.")
    rows = [
        (
            f"{system['letter']} {system['name']}",
            f"{used:,} of {total:,}",
            f"{100 * used / total:.1f}%",
        )
        for system in manifest["systems"]
        for used in [glossary["used"][system["name"]]]
    ]
    yield Table.from_text_rows(["System", "Target term used", "Share"], rows)


def _build_reference_tables(manifest: Content) -> list[HtmlBlock]:
    content = display_scale.convert_to_scale(manifest["comparison"], manifest["scale"])
    tables = list(comparison_layout.build_reference_tables(content))
    return [Heading(2, "Scores per reference"), *tables] if tables else []


def _render_spans(manifest: Content) -> str:
    """Render the counts of error spans as HTML, which the viewer shows unchanged."""
    spans, systems = manifest["spans"], manifest["systems"]
    if spans is None:
        return ""
    sums: dict[str, dict[str, list[float]]] = {}
    for one in spans["counts"]:
        for row in (one["category"] or "no category", "all errors"):
            cell = sums.setdefault(row, {}).setdefault(one["system"], [0, 0.0])
            cell[:] = cell[0] + one["errors"], cell[1] + one["errors"] * one["weight"]
    total = sums.pop("all errors", {})
    categories = sorted(
        sums.items(), key=lambda item: -sum(weight for _, weight in item[1].values())
    )
    count_rows = [
        (row, *("{:,} ({:,.1f})".format(*cells.get(system["name"], (0, 0))) for system in systems))
        for row, cells in [*categories, ("all errors", total)]
    ]
    system_rows = []
    for system, values in zip(systems, spans["systems"], strict=True):
        characters = values["error_characters"]
        share = f"{100 * values['outside'] / characters:.1f}%" if characters else "–"
        mqm = "–" if values["mqm"] is None else f"{values['mqm']:.2f}"
        name = f"{system['letter']} {system['name']}"
        system_rows.append((name, f"{values['segments']:,}", mqm, share))
    text = f"{format_count(spans['annotations'], 'annotation')} from {spans['name']}. "
    if spans["unmatched"]:
        text += f"{format_count(spans['unmatched'], 'annotation')} of other texts left out. "
    text += (
        "MQM is the mean weight of errors per segment and annotator: 5 for major, 1 for minor, 0.1 "
        "for minor punctuation, 25 for non-translation, 0 for other severities; lower is better. "
        "The last column is the share of characters in errors that are outside all 4-grams that "
        "match a reference."
    )
    header = ["System", "Segments", "MQM", "Errors outside matches"]
    count_header = ["Errors (weight) by category", *(system["letter"] for system in systems)]
    elements: list[HtmlBlock] = [
        Heading(2, "Error spans"),
        Table.from_text_rows(header, system_rows),
        Table.from_text_rows(count_header, count_rows, has_total_row=True),
        Paragraph(text, "note"),
    ]
    return f'<div id="spans">\n{html.render_body(elements, "section")}\n</div>\n'


def _render_human_view(manifest: Content) -> str:
    """Render the metrics' agreement with human scores as HTML, which the viewer shows unchanged."""
    content = manifest["people"]
    if content is None:
        return ""
    if manifest["scale"] == 1:
        content = meta_layout.rescale_thresholds(content)
    table_html = html.render_body(meta_layout.lay_out_report_section(content), "section")
    charts_html = charts.render_charts(content) if content["systems"] else ""
    return f'<div id="people" class="people">\n{table_html}{charts_html}\n</div>\n'


def _list_facts(manifest: Content) -> Iterator[tuple[str, Cell]]:
    """Yield the name and value of each setting and input on which the scores depend."""
    content = manifest["comparison"]
    for metric in content["metrics"]:
        if metric["signature"]:
            yield metric["name"], Cell(f"{metric['label']}|{metric['signature']}", code=True)
    if test := content["test"]:
        text = f"{test['title']}, {test['samples']:,} samples, α = {test['alpha']:g}"
        yield "Test", Cell(text)
    if intervals := content["intervals"]:
        text = f"{format_percent(content['level'])}, {intervals['title']}"
        yield "Intervals", Cell(f"{text}, {intervals['samples']:,} resamples")
    if test or intervals:
        seed = content["seed"]
        yield "Seed", Cell("new for each run" if seed is None else str(seed))
    for name, sha256 in manifest["data_hash"].items():
        yield f"SHA-256 of {name}", Cell(sha256, code=True)
    if manifest["redacted"]:
        yield "Text", Cell("not in this report")
    elif manifest["embedded"] < manifest["segments"]:
        text = (
            f"{manifest['embedded']:,} of {manifest['segments']:,} segments: the most "
            "influential ones and an equal number chosen at random"
        )
        yield "Text", Cell(text)
    yield "Created with", Cell(f"truebleu {manifest['version']}")
    if manifest["made"]:
        yield "Created on", Cell(manifest["made"])
