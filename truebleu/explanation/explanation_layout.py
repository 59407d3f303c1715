"""Layout of explanations, except for metric-specific sections."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from truebleu.explanation import ngram_layout
from truebleu.explanation.explanation_builder import get_metric_module
from truebleu.metrics.base import Signature
from truebleu.rendering.elements import (
    Block,
    Cell,
    Equations,
    Heading,
    MarkedTokens,
    Paragraph,
    Table,
    build_warnings,
)
from truebleu.rendering.number_format import (
    MINUS,
    MORE_DIGITS,
    NumberFormatter,
    format_number,
    make_formatter,
    make_signed_formatter,
    name_ngrams,
)
from truebleu.rendering.number_format import rescale as rescale_percentages
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

# Default number of decimals of scores.
DIGITS = 2

# Names of the counted units, keyed by metric (default: token).
UNITS = {"chrF": "character", "TER": "word"}


def build_layout(
    content: Content, digits: int | None = None, *, short: bool = False
) -> Iterator[Block]:
    """Yield the elements of an explanation. `digits` is the number of decimals of scores."""
    format_score = _make_score_formatter(content, digits)
    metric, label, signature = (content["metric"][key] for key in ("name", "label", "signature"))
    metric_module, unit = get_metric_module(metric), UNITS.get(metric, "token")
    systems, references = content["systems"], content.get("references", ())
    has_two_systems = len(systems) > 1
    yield Heading(1, format_title(content, digits))
    if short:
        signature = Signature.shorten(label, signature)
    yield Paragraph(signature, "signature")
    yield from build_warnings(content)
    if has_two_systems:
        yield Heading(2, "Both systems")
        yield from getattr(metric_module, "build_comparison", _build_comparison)(
            content, format_score
        )
    for reference in references:
        length = format_count(reference["length"], unit)
        yield MarkedTokens(f"Reference {reference['number']}, {length}", reference["tokens"])
    level = 3 if has_two_systems else 2
    for system in systems:
        if has_two_systems:
            yield Heading(2, f"{system['name']}: {label} = {format_score(system['score'])}")
        if "location" in system:
            yield from build_boundary_layout(content["segment"], system["location"], level)
        if "reference" in system and len(references) > 1:
            reason = "needs the fewest edits" if metric == "TER" else "has the best score"
            yield Paragraph(f"Reference {system['reference']} is used because it {reason}.")
        if "cover" in system:
            yield ngram_layout.mark_tokens(system, unit)
        yield from metric_module.build_layout(content, system, level)
        yield Heading(level, "Formula")
        yield Equations(metric_module.build_formula(system, content["metric"]["parameters"]))
        if system.get("zero") is not None:
            sentences = [f"The score is 0: {system['zero']}."]
            # BLEU up to the highest order with a score above 0.
            if orders := [one for one in system.get("orders", ()) if one.get("cumulative")]:
                n, score = orders[-1]["order"], format_number(orders[-1]["cumulative"])
                sentences.append(f"BLEU-{n}, up to {name_ngrams(n)}, is {score}.")
            yield Paragraph(" ".join(sentences))
    yield Heading(2, "Interpretation")
    for system in systems:
        name = f"{system['name']}: " if has_two_systems else ""
        description = metric_module.describe_score(content, system)
        yield Paragraph(f"{name}{label} = {format_score(system['score'])}{description}")
    if "reading" in systems[0]:
        yield Paragraph(systems[0]["reading"]["convention"])
    yield Paragraph(content["caution"], "caution")


def _build_comparison(content: Content, format_score: NumberFormatter) -> Iterator[Block]:
    comparison, metric = content["comparison"], content["metric"]
    rows = []
    for system in content["systems"]:
        components = get_metric_module(metric["name"]).get_components(system).values()
        cells = map(_format_component_value, components)
        rows.append([system["name"], format_score(system["score"]), *cells])
    parts = comparison["differences"]
    difference = make_signed_formatter(format_score)(comparison["difference"])
    cells = map(make_signed_formatter(_format_component_value), parts.values())
    rows.append(["difference", difference, *cells])
    yield Table.from_text_rows(["system", metric["label"], *parts], rows, has_total_row=True)


def _format_component_value(value: float) -> str:
    return f"{value:,}".replace("-", MINUS) if isinstance(value, int) else format_number(value)


def _make_score_formatter(content: Content, digits: int | None) -> NumberFormatter:
    return make_formatter(content.get("digits", DIGITS) if digits is None else digits)


def format_title(content: Content, digits: int | None = None) -> str:
    """Return the heading, with the scores and the segment number or the number of segments."""
    format_score = _make_score_formatter(content, digits)
    scores = " and ".join(format_score(system["score"]) for system in content["systems"])
    subject = f", segment {content['segment']}" if content["kind"] == "segment" else ""
    if content["kind"] == "corpus":
        subject = f", {format_count(content['segments'], 'segment')}"
    if content.get("textbook"):
        values = [system["fraction"] for system in content["systems"]]
        fractions = " and ".join(map(format_number, values))
        percentages = " and ".join(format_number(100 * value, 2) for value in values)
        return f"BLEU = {fractions}, or {percentages} on a 0-100 scale{subject}"
    return f"{content['metric']['label']} = {scores}{subject}"


def rescale(content: Content) -> Content:
    """Convert the scores of an explanation and their differences to a 0-1 scale, for display."""
    if not content["metric"]["percentage"]:
        return content
    metric_module = get_metric_module(content["metric"]["name"])
    names = ("score", *getattr(metric_module, "PERCENTAGES", ()))
    rescaled_systems = [
        {**system, **{name: system[name] / 100 for name in names if name in system}, "scale": 1}
        for system in content["systems"]
    ]
    difference_names = ("difference", "points", *names)
    return {
        **content,
        "digits": DIGITS + MORE_DIGITS,
        "systems": rescaled_systems,
        "comparison": rescale_percentages(content["comparison"], difference_names),
    }


# ---- boundaries of a re-segmented segment ----

BAR = "│"
NO_UNIT = "–"
UNIT_LEGEND = (
    "Below each token: the unit of the reference, = if it is equal, and – if there is none."
)


def build_boundary_layout(number: int, facts: Content, level: int) -> Iterator[Block]:
    """Yield the text around the segment, the units at its boundaries, and the costs of moves."""
    yield Heading(level, f"Boundaries of segment {number}")
    document = f" of document {facts['document']}" if facts["document"] is not None else ""
    place = f"Characters {facts['start'] + 1:,} to {facts['end']:,} of the text{document}"
    if facts["start"] == facts["end"]:
        place = f"No text, at character {facts['start']:,} of the text{document}"
    flags = f" Flags: {', '.join(facts['flags'])}." if facts["flags"] else ""
    yield Paragraph(f"{place}, divided by {facts['method']}.{flags}")
    tokens: list[str] = []
    strengths: list[int] = []
    for segment, words in groupby(facts["stream"], lambda word: word["segment"]):
        texts = [word["text"] for word in words]
        tokens += [BAR, *texts] if tokens else texts
        strengths += [0] * (len(tokens) - len(strengths) - len(texts))
        strengths += [4 if segment == number else 0] * len(texts)
    yield MarkedTokens("Text around the segment", tokens, (), strengths)
    for boundary in facts["boundaries"]:
        before, after = boundary["segments"]
        edits = [*boundary["before"], None, *boundary["after"]]
        yield MarkedTokens(
            f"{boundary['side'].capitalize()}, between segments {before} and {after}",
            [BAR if edit is None else edit["hypothesis"] or NO_UNIT for edit in edits],
            [
                BAR
                if edit is None
                else "="
                if edit["kind"] == "match"
                else edit["reference"] or NO_UNIT
                for edit in edits
            ],
            [4 if edit is not None and edit["kind"] == "match" else 0 for edit in edits],
            legend=UNIT_LEGEND if boundary is facts["boundaries"][-1] else "",
        )
    yield from _build_moves(facts)


def _build_moves(facts: Content) -> Iterator[Block]:
    """Yield a table of the other places of the boundaries, by one word."""
    rows: list[list[str | Cell]] = []
    is_count = facts["cost"] == "errors"
    format_change = make_signed_formatter(make_formatter(0 if is_count else 2))
    for boundary in facts["boundaries"]:
        for move in boundary["moves"]:
            difference = move["difference"] if is_count else -move["difference"]
            rows.append(
                [
                    boundary["side"],
                    Cell(move["text"], code=True),
                    "{} → {}".format(*move["segments"]),
                    format_change(difference),
                    "close" if difference == 0 else "",
                ]
            )
    if not rows:
        return
    unit = "errors" if is_count else "similarity"
    yield Paragraph(
        "Cost of the next best boundaries, one word to the left or to the right. A close boundary "
        f"is a tie: it has the same {unit}."
    )
    yield Table.from_text_rows(["boundary", "word", "segments", unit, ""], rows, (0, 1, 2, 4))
