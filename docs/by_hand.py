"""The page "BLEU by hand": docs/templates/by-hand.md.j2, which computes its numbers as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2
from page_helpers import (
    BUILT,
    format_compact,
    format_number,
    format_table,
    formula,
    fraction,
    render_code,
    system,
    worked,
)

from truebleu import BLEU, bleu


def page() -> str:
    """Return the page."""
    folder = Path(__file__).with_name("templates")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), undefined=jinja2.StrictUndefined, autoescape=False
    )
    environment.filters |= {"fraction": fraction, "bold": "**{}**".format}
    environment.globals |= {
        "BUILT": BUILT,
        "BLEU": BLEU,
        "bleu": bleu,
        "code": render_code,
        "formula": formula,
        "fraction": fraction,
        "number": format_number,
        "shortened": format_compact,
        "system": system,
        "table": format_table,
        "words": words,
        "words_and_characters": words_and_characters,
        "worked": worked,
    }
    return environment.get_template("by-hand.md.j2").render()


def words(max_order: int = 4, smoothing: str = "none") -> BLEU:
    """Papineni's BLEU: words, no smoothing."""
    return BLEU("none", max_order=max_order, smoothing=smoothing, effective_order=False)


def words_and_characters(reference: str, texts: Sequence[str]) -> list[tuple[str, float, float]]:
    """Texts and their BLEU of words and of characters, by which their order must differ."""
    settings = {"smoothing": "tiny", "missing_order": "at-least-one", "arithmetic": "nltk"}
    metrics = BLEU(str.split, **settings), BLEU(list, **settings)
    scores = [[system(text, reference, metric)["fraction"] for text in texts] for metric in metrics]
    orders = [sorted(range(len(texts)), key=lambda i, by=by: -by[i]) for by in scores]
    assert orders[0] != orders[1], scores
    return list(zip(texts, *scores, strict=True))
