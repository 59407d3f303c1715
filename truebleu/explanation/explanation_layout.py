"""Layout of explanations, except for the metric-specific parts."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.explanation import ngram_layout
from truebleu.explanation.explanation_builder import get_metric_module
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

# This sentence says which of several references is used.
BEST_REFERENCE_SENTENCE = "Reference {} is used because it gives the best score."


def build_layout(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """Yield the elements of an explanation; `digits` is the number of decimals of scores."""
    format_score = fixed_formatter(digits)
    metric_module = get_metric_module(content["metric"]["name"])
    systems = content["systems"]
    references = content.get("references", ())
    has_two_systems = len(systems) > 1
    label = content["metric"]["label"]
    yield Heading(1, format_title(content, digits))
    signature = content["metric"]["signature"]
    if short:
        signature = Signature.shorten(label, signature)
    yield Paragraph(signature, "signature")
    if has_two_systems:
        yield Heading(2, "Both systems")
        yield from getattr(metric_module, "build_comparison", _build_comparison)(
            content, format_score
        )
    for reference in references:
        length = format_count(reference["length"], metric_module.TOKEN)
        yield MarkedTokens(f"Reference {reference['number']}, {length}", reference["tokens"])
    level = 3 if has_two_systems else 2
    for system in systems:
        if has_two_systems:
            yield Heading(2, f"{system['name']}: {label} = {format_score(system['score'])}")
        if "reference" in system and len(references) > 1:
            yield Paragraph(
                getattr(metric_module, "BEST_REFERENCE_SENTENCE", BEST_REFERENCE_SENTENCE).format(
                    system["reference"]
                )
            )
        if "cover" in system:
            yield ngram_layout.mark_tokens(system, metric_module.TOKEN)
        yield from metric_module.build_layout(content, system, level)
        yield Heading(level, "Formula")
        yield Equations(metric_module.build_formula(system, content["metric"]["parameters"]))
        if system.get("zero") is not None:
            yield Paragraph(f"The score is 0: {system['zero']}.")
    yield Heading(2, "Interpretation")
    for system in systems:
        name = f"{system['name']}: " if has_two_systems else ""
        description = metric_module.describe_score(content, system)
        yield Paragraph(f"{name}{label} = {format_score(system['score'])}{description}")
    if "reading" in systems[0]:
        yield Paragraph(systems[0]["reading"]["convention"])
    yield Paragraph(content["caution"], "caution")


def _build_comparison(content: Content, format_score: NumberFormatter) -> Iterator[Block]:
    """Yield the table that compares two systems."""
    comparison, get_components = (
        content["comparison"],
        get_metric_module(content["metric"]["name"]).get_components,
    )
    rows = [
        [
            system["name"],
            format_score(system["score"]),
            *map(_format_component_value, get_components(system).values()),
        ]
        for system in content["systems"]
    ]
    parts = comparison["differences"]
    differences = [
        signed_formatter(format_score)(comparison["difference"]),
        *map(signed_formatter(_format_component_value), parts.values()),
    ]
    header = ["system", content["metric"]["label"], *parts]
    yield Table.from_text_rows(header, [*rows, ["difference", *differences]], has_total_row=True)


def _format_component_value(value: float) -> str:
    return f"{value:,}".replace("-", MINUS) if isinstance(value, int) else format_number(value)


def format_title(content: Content, digits: int = 2) -> str:
    """Return the heading, with the scores and the segment number or the number of segments."""
    scores = " and ".join(fixed_formatter(digits)(system["score"]) for system in content["systems"])
    subject = f", segment {content['segment']}" if content["kind"] == "segment" else ""
    if content["kind"] == "corpus":
        subject = f", {format_count(content['segments'], 'segment')}"
    return f"{content['metric']['label']} = {scores}{subject}"
