"""From the dict of an explanation to what a reader sees: what is the same for every metric."""

from __future__ import annotations

from truebleu.text.layout import count
from truebleu.views.explanation.build import EXPLAINED
from truebleu.views.rendering.blocks import Heading, Paragraph, Words
from truebleu.views.rendering.numbers import fixed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from truebleu.views.rendering.blocks import Block

    Content = Mapping[str, Any]


def of_content(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks of an explanation; scores have so many digits after the point."""
    write = fixed(digits)
    about = EXPLAINED[content["metric"]["name"]]
    several = len(content["systems"]) > 1
    yield Heading(1, title(content, digits))
    yield Paragraph(_signature(content, short=short), "signature")
    if several:
        yield Heading(2, "Both systems")
        yield from about.compared(content, write)
    for reference in content.get("references", ()):
        label = f"Reference {reference['number']}, {count(reference['length'], about.TOKEN)}"
        yield Words(label, reference["tokens"])
    for system in content["systems"]:
        if several:
            label = content["metric"]["label"]
            yield Heading(2, f"{system['name']}: {label} = {write(system['score'])}")
        yield from about.blocks(content, system, 3 if several else 2)
    yield Heading(2, "Reading the score")
    yield from about.reading(content, write)
    yield Paragraph(content["caution"], "caution")


def title(content: Content, digits: int = 2) -> str:
    """What heads the explanation: the score, or both, and of what."""
    scores = " and ".join(fixed(digits)(system["score"]) for system in content["systems"])
    what = f", segment {content['segment']}" if content["kind"] == "segment" else ""
    if content["kind"] == "corpus":
        what = f", {count(content['segments'], 'segment')}"
    return f"{content['metric']['label']} = {scores}{what}"


def _signature(content: Content, *, short: bool) -> str:
    signature = str(content["metric"]["signature"])
    if not short:
        return signature
    from truebleu.metrics.base import Signature

    try:
        return Signature.parse(f"{content['metric']['label']}|{signature}").short()
    except ValueError:  # a tokenizer of somebody's own
        return signature
