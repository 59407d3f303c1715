"""The report without script: plain HTML of the manifest."""

from __future__ import annotations

from truebleu.text.layout import count
from truebleu.views.comparison import blocks as comparison_blocks
from truebleu.views.meta_evaluation import blocks as people_blocks
from truebleu.views.meta_evaluation import pictures
from truebleu.views.rendering import html
from truebleu.views.rendering.blocks import Cell, Facts, Heading, Paragraph
from truebleu.views.rendering.numbers import fixed, p_value, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.view import Content


def render(manifest: Content) -> str:
    """The summary, for a page that has the style."""
    return html.body(blocks(manifest), "article") + _people(manifest)


def fragment(manifest: Content) -> str:
    """The summary with its style, for a notebook."""
    return html.fragment(blocks(manifest))


def blocks(manifest: Content) -> Iterator[Block]:
    """Who wins and whether it is real, the tables behind it, and how they were made."""
    content = compared(manifest)
    yield Heading(1, manifest["title"])
    yield Paragraph(_what(manifest))
    yield Paragraph(sentence(manifest), "lead")
    opposed, others = comparison_blocks.disagreements(content)
    yield from (Paragraph(note["text"], "caution") for note in opposed)
    yield from comparison_blocks.clusters(content)
    for metric in content["metrics"]:
        yield Heading(2, _headed(content, metric))
        digits = comparison_blocks.digits(content, metric, None)
        yield comparison_blocks.table(content, metric, digits)
        parts = comparison_blocks.parts(content, metric)
        if parts is not None:
            yield parts
    yield from (Paragraph(line, "note") for line in comparison_blocks.sentences(others))
    yield Heading(2, "What was computed")
    yield Facts(list(_facts(manifest)))


def _people(manifest: Content) -> str:
    """How far the metrics agree with people, which the viewer shows as it stands here."""
    content = manifest["people"]
    if content is None:
        return ""
    said = html.body(people_blocks.section(content), "section")
    drawn = pictures.figures(content) if content["systems"] else ""
    return f'<div id="people" class="people">\n{said}{drawn}\n</div>\n'


def compared(manifest: Content) -> Content:
    """The comparison, or what stands for it where there is only one system."""
    content: Content = manifest["comparison"] or manifest["intervals"]
    return content


def _headed(content: Content, metric: Content) -> str:
    lower = "" if metric["higher_is_better"] else ", lower is better"
    baseline = content["baseline"]
    against = ""
    if baseline is not None:
        letter = next(one["letter"] for one in content["systems"] if one["name"] == baseline)
        against = f"; Δ is to {letter} {baseline}"
    return f"{metric['name']}{lower}{against}"


# ---- in words ----


def _what(manifest: Content) -> str:
    """The title line: systems, segments, references and documents."""
    comparison = compared(manifest)
    # What is a difference to whom stands at the tables.
    parts = [comparison_blocks.title({**comparison, "baseline": None})]
    documents = manifest["documents"]
    if documents is not None:
        parts.append(count(len(documents["names"]), "document"))
    return ", ".join(parts)


def sentence(manifest: Content) -> str:
    """Who wins by the first metric, by how much, and whether it is real."""
    content = compared(manifest)
    metric = content["metrics"][0]
    write = fixed(comparison_blocks.digits(content, metric, None))
    named = {
        system["name"]: f"{system['letter']} {system['name']}" for system in content["systems"]
    }
    best = content["systems"][0]
    score = best["scores"][metric["name"]]
    level = f"{percent(content['level'])} interval "
    if len(content["systems"]) == 1:
        ends = score["interval"]
        within = f" ({level}{write(ends['low'])} to {write(ends['high'])})" if ends else ""
        return f"{best['name']} scores {write(score['score'])} {metric['label']}{within}."
    second = content["systems"][1]["name"]
    # Metric by metric, the better placed system first.
    pair = content["pairs"][0]
    way = "above" if metric["higher_is_better"] else "below"
    of_many = "" if len(named) == 2 else f"best of {len(named)} systems, "
    if pair["value"] == 0:
        same = f"{named[best['name']]} and {named[second]} have the same {metric['label']}, "
        return f"{same}{write(score['score'])}."
    # The sign is in the word: the pair's first is better.
    turned = 1 if metric["higher_is_better"] else -1
    size = write(turned * pair["value"])
    around = []
    if pair["interval"] is not None:
        low, high = sorted(turned * pair["interval"][end] for end in ("low", "high"))
        around.append(f"{level}{write(low)} to {write(high)}")
    p = comparison_blocks.decisive(pair)
    if p is not None:
        shown = p_value(p)
        around.append(f"p {shown if shown.startswith('<') else '= ' + shown}")
    test = content["test"]
    if test:
        around.append(f"{test['title']}, {test['samples']:,} samples")
    told = f" ({'; '.join(around)})" if around else ""
    return (
        f"{named[best['name']]} is {of_many}{size} {metric['label']} {way} {named[second]}{told}."
        f"{_verdict(pair, test)}"
    )


def _verdict(pair: Content, test: Content | None) -> str:
    if test is None:
        return ""
    if pair["significant"]:
        return f" The difference is significant at {test['alpha']:g}."
    return (
        f" The difference is not significant at {test['alpha']:g}: a difference of "
        "this size can arise by chance."
    )


# ---- facts ----


def _facts(manifest: Content) -> Iterator[tuple[str, Cell]]:
    """Names and values that the numbers depend on."""
    content = compared(manifest)
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
