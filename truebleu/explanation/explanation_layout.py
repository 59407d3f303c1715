"""From the dict of an explanation to what a reader sees: what is the same for every metric."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.explanation import ngram_layout
from truebleu.explanation.explanation_builder import module_for
from truebleu.metrics.base import Signature
from truebleu.rendering.elements import Block, Equations, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.number_format import (
    MINUS,
    NumberFormatter,
    fixed_formatter,
    format_number,
    signed_formatter,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

# Which reference counts, where one of several does.
CHOSEN = "It is scored against reference {}, which gives the best score."


def of_content(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks of an explanation; scores have so many digits after the point."""
    write = fixed_formatter(digits)
    special = module_for(content["metric"]["name"])
    systems = content["systems"]
    references = content.get("references", ())
    several = len(systems) > 1
    label = content["metric"]["label"]
    yield Heading(1, title(content, digits))
    signature = content["metric"]["signature"]
    if short:
        signature = Signature.shorten(label, signature)
    yield Paragraph(signature, "signature")
    if several:
        yield Heading(2, "Both systems")
        yield from getattr(special, "compared", _compared)(content, write)
    for reference in references:
        told = (
            f"Reference {reference['number']}, {format_count(reference['length'], special.TOKEN)}"
        )
        yield MarkedTokens(told, reference["tokens"])
    level = 3 if several else 2
    for system in systems:
        if several:
            yield Heading(2, f"{system['name']}: {label} = {write(system['score'])}")
        if "reference" in system and len(references) > 1:
            yield Paragraph(getattr(special, "CHOSEN", CHOSEN).format(system["reference"]))
        if "cover" in system:
            yield ngram_layout.words(system, special.TOKEN)
        yield from special.blocks(content, system, level)
        yield Heading(level, "The formula")
        yield Equations(special.formula(system, content["metric"]["parameters"]))
        if system.get("zero") is not None:
            yield Paragraph(f"The score is 0: {system['zero']}.")
    yield Heading(2, "Reading the score")
    for system in systems:
        name = f"{system['name']}: " if several else ""
        said = special.reading(content, system)
        yield Paragraph(f"{name}{label} = {write(system['score'])}{said}")
    if "reading" in systems[0]:
        yield Paragraph(systems[0]["reading"]["convention"])
    yield Paragraph(content["caution"], "caution")


def _compared(content: Content, write: NumberFormatter) -> Iterator[Block]:
    """Two systems beside each other, and their differences."""
    one, parts_of = content["comparison"], module_for(content["metric"]["name"]).parts
    rows = [
        [system["name"], write(system["score"]), *map(_part, parts_of(system).values())]
        for system in content["systems"]
    ]
    parts = one["differences"]
    differences = [
        signed_formatter(write)(one["difference"]),
        *map(signed_formatter(_part), parts.values()),
    ]
    header = ["system", content["metric"]["label"], *parts]
    yield Table.from_text_rows(header, [*rows, ["difference", *differences]], has_total_row=True)


def _part(value: float) -> str:
    return f"{value:,}".replace("-", MINUS) if isinstance(value, int) else format_number(value)


def title(content: Content, digits: int = 2) -> str:
    """The heading: the score, or both, and what was scored."""
    scores = " and ".join(fixed_formatter(digits)(system["score"]) for system in content["systems"])
    what = f", segment {content['segment']}" if content["kind"] == "segment" else ""
    if content["kind"] == "corpus":
        what = f", {format_count(content['segments'], 'segment')}"
    return f"{content['metric']['label']} = {scores}{what}"
