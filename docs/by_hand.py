"""Build the page "BLEU by hand" from the template docs/templates/by-hand.md.j2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2
from page_helpers import (
    BUILT,
    explain_system,
    format_compact,
    format_explanation,
    format_formula,
    format_fraction,
    format_number,
    format_table,
    render_code,
)

from truebleu import BLEU, bleu


def build_page() -> str:
    """Return the page docs/by-hand.md."""
    folder = Path(__file__).with_name("templates")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), undefined=jinja2.StrictUndefined, autoescape=False
    )
    environment.filters |= {"fraction": format_fraction, "bold": "**{}**".format}
    environment.globals |= {
        "BUILT": BUILT,
        "BLEU": BLEU,
        "bleu": bleu,
        "code": render_code,
        "formula": format_formula,
        "fraction": format_fraction,
        "number": format_number,
        "shortened": format_compact,
        "system": explain_system,
        "table": format_table,
        "words": make_word_bleu,
        "words_and_characters": compare_words_with_characters,
        "worked": format_explanation,
    }
    return environment.get_template("by-hand.md.j2").render()


def make_word_bleu(max_order: int = 4, smoothing: str = "none") -> BLEU:
    """Return Papineni's BLEU, which splits tokens at spaces and by default does not smooth."""
    return BLEU("none", max_order=max_order, smoothing=smoothing, effective_order=False)


def compare_words_with_characters(
    reference: str, texts: Sequence[str]
) -> list[tuple[str, float, float]]:
    """Return each text's word BLEU and character BLEU; check that they rank the texts differently."""
    settings = {"smoothing": "tiny", "missing_order": "at-least-one", "arithmetic": "nltk"}
    metrics = BLEU(str.split, **settings), BLEU(list, **settings)
    scores = [
        [explain_system(text, reference, metric)["fraction"] for text in texts]
        for metric in metrics
    ]
    orders = [sorted(range(len(texts)), key=lambda i, by=by: -by[i]) for by in scores]
    assert orders[0] != orders[1], scores
    return list(zip(texts, *scores, strict=True))
