"""Build the page "BLEU by hand" from the template docs/templates/by-hand.md.j2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from page_helpers import explain_system, fill_template, format_fraction

from truebleu import BLEU, bleu

# These six hypotheses have the same word and character BLEU as the hypotheses in a university's
# notebook.
CHARACTER_REFERENCE = "the city panel presented the safe draft plan for parks"
CHARACTER_HYPOTHESES = (
    "a city panel presented this safer draft plan on parks",
    "the city panel presenting the safer draft plan for parks",
    "the city presented the safe draft plan for parking",
    "the safe draft was presented formally today by the city panel",
    "voters liked the safe draft plan for parks",
    "the city presented the safe draft plan for parks",
)
AIRPORT_SECURITY = "Israeli officials are responsible for airport security"
CATS = ["the cat is on the mat", "there is a cat on the mat"]
# Examples from textbooks and web pages: the name of the source, a hypothesis and its references.
TEXTBOOK_EXAMPLES = (
    ("Papineni et al. (2002)", "the the the the the the the", CATS),
    ("an encyclopedia", "the cat", CATS),
    ("study notes, up to trigrams", "the cat the cat on the mat", CATS[:1]),
    ("Koehn (2010)", "Israeli officials responsibility of airport safety", [AIRPORT_SECURITY]),
    ("Koehn (2010)", "airport security Israeli officials are responsible", [AIRPORT_SECURITY]),
)


def build_page() -> str:
    """Return the page docs/by-hand.md."""
    return fill_template(
        "by-hand",
        CHARACTER_HYPOTHESES=CHARACTER_HYPOTHESES,
        CHARACTER_REFERENCE=CHARACTER_REFERENCE,
        TEXTBOOK_EXAMPLES=TEXTBOOK_EXAMPLES,
        bleu=bleu,
        fractions=format_fractions,
        words=make_word_bleu,
        words_and_characters=compare_words_with_characters,
    )


def format_fractions(explained: Any) -> tuple[str, ...]:
    """Return the precision of each order as a fraction, or an empty string for a skipped order."""
    return tuple(
        "" if order["state"] == "left out" else format_fraction(order)
        for order in explained["orders"]
    )


def make_word_bleu(max_order: int = 4, smoothing: str = "none") -> BLEU:
    """Return Papineni's BLEU, which splits text at white space and by default does not smooth."""
    return BLEU("none", max_order=max_order, smoothing=smoothing, effective_order=False)


def compare_words_with_characters(
    reference: str, texts: Sequence[str]
) -> list[tuple[str, float, float]]:
    """Return each text's word BLEU and character BLEU, and check that the two rankings differ."""
    settings = {"smoothing": "tiny", "missing_order": "at-least-one", "arithmetic": "nltk"}
    metrics = BLEU(str.split, **settings), BLEU(list, **settings)
    scores = [
        [explain_system(text, reference, metric)["fraction"] for text in texts]
        for metric in metrics
    ]
    orders = [sorted(range(len(texts)), key=lambda i, by=by: -by[i]) for by in scores]
    assert orders[0] != orders[1], scores
    return list(zip(texts, *scores, strict=True))
