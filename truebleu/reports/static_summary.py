"""The report without script: plain HTML of the manifest."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.comparison import comparison_layout as comparison_blocks
from truebleu.comparison import overview
from truebleu.meta_evaluation import charts as pictures
from truebleu.meta_evaluation import meta_layout as people_blocks
from truebleu.rendering import html
from truebleu.rendering.elements import Cell, Drawn, Facts, Heading, Paragraph, Table
from truebleu.rendering.number_format import percent
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count


def render(manifest: Content) -> str:
    """The summary, for a page that has the style."""
    return html.body(blocks(manifest), "article") + _references(manifest) + _people(manifest)


def fragment(manifest: Content) -> str:
    """The summary with its style, for a notebook."""
    return html.fragment([*blocks(manifest), *_by_reference(manifest)])


def blocks(manifest: Content) -> Iterator[Drawn]:
    """Who wins and whether it is real, the tables behind it, and how they were made."""
    content = manifest["comparison"]
    yield Heading(1, manifest["title"])
    yield Paragraph(_what(manifest))
    yield from overview.first(content)
    opposed, others = comparison_blocks.disagreements(content)
    yield from (Paragraph(note["text"], "caution") for note in opposed)
    if manifest["findings"]:
        yield Heading(2, "Findings")
        yield from (Paragraph(f"{one['told']}.", "note") for one in manifest["findings"])
    yield from overview.details(content)
    yield from (Paragraph(line, "note") for line in comparison_blocks.sentences(others))
    yield from _terms(manifest)
    yield Heading(2, "What was computed")
    yield Facts(list(_facts(manifest)))


def _terms(manifest: Content) -> Iterator[Drawn]:
    """How often each system used the wanted terms of a glossary."""
    glossary = manifest["terms"]
    if glossary is None:
        return
    yield Heading(2, f"Terms of {glossary['name']}")
    found = glossary["found"]
    terms = format_count(len(glossary["terms"]), "term")
    if not found:
        yield Paragraph(f"No segment of the source has one of the {terms}.")
        return
    segments = format_count(glossary["segments"], "segment")
    yield Paragraph(f"The source has one of the {terms} in {segments}, {found:,} times in all.")
    rows = [
        (f"{one['letter']} {one['name']}", f"{used:,} of {found:,}", f"{100 * used / found:.1f}%")
        for one in manifest["systems"]
        for used in [glossary["used"][one["name"]]]
    ]
    yield Table.of(["System", "Wanted term used", "Share"], rows)


def _by_reference(manifest: Content) -> list[Drawn]:
    """Return what is known of each reference alone, if there are several."""
    tables = list(comparison_blocks.by_reference(manifest["comparison"]))
    return [Heading(2, "Each reference alone"), *tables] if tables else []


def _references(manifest: Content) -> str:
    """Return the same as HTML, which the viewer shows unchanged."""
    drawn = _by_reference(manifest)
    return f'<div id="references">\n{html.body(drawn, "section")}\n</div>\n' if drawn else ""


def _people(manifest: Content) -> str:
    """How far the metrics agree with people, which the viewer shows as it stands here."""
    content = manifest["people"]
    if content is None:
        return ""
    said = html.body(people_blocks.section(content), "section")
    drawn = pictures.figures(content) if content["systems"] else ""
    return f'<div id="people" class="people">\n{said}{drawn}\n</div>\n'


# ---- in words ----


def _what(manifest: Content) -> str:
    """The title line: systems, segments, references and documents."""
    comparison = manifest["comparison"]
    # What is a difference to whom stands at the tables.
    parts = [comparison_blocks.title({**comparison, "baseline": None})]
    documents = manifest["documents"]
    if documents is not None:
        parts.append(format_count(len(documents["names"]), "document"))
    return ", ".join(parts)


# ---- facts ----


def _facts(manifest: Content) -> Iterator[tuple[str, Cell]]:
    """Names and values that the numbers depend on."""
    content = manifest["comparison"]
    for metric in content["metrics"]:
        if metric["signature"]:
            yield metric["name"], Cell(f"{metric['label']}|{metric['signature']}", code=True)
    if content["test"]:
        test = content["test"]
        told = f"{test['title']}, {test['samples']:,} samples, α = {test['alpha']:g}"
        yield "Test", Cell(told)
    if content["intervals"]:
        made = content["intervals"]
        told = f"{percent(content['level'])}, {made['title']}, {made['samples']:,} resamples"
        yield "Intervals", Cell(told)
    if content["test"] or content["intervals"]:
        seed = content["seed"]
        yield "Seed", Cell("another each time" if seed is None else str(seed))
    for name, digits in manifest["data_hash"].items():
        yield f"SHA-256 of {name}", Cell(digits, code=True)
    if manifest["redacted"]:
        yield "Text", Cell("left out of this page")
    elif manifest["embedded"] < manifest["segments"]:
        told = (
            f"of {manifest['embedded']:,} of {manifest['segments']:,} segments is in this page: "
            "those that the result depends on most, and as many drawn at random"
        )
        yield "Text", Cell(told)
    yield "By", Cell(f"truebleu {manifest['version']}")
    if manifest["made"]:
        yield "Made", Cell(manifest["made"])
