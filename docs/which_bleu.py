"""Build the page "Which BLEU is that?"."""

from __future__ import annotations

import warnings
from typing import Any

from page_helpers import HYPOTHESES, REFERENCES, fill_template

from truebleu import BLEU, InputError, family

SYSTEM = HYPOTHESES["birch"]
REFERENCE_SETS = ([REFERENCES["A"]], [REFERENCES["A"], REFERENCES["B"]])

# Each entry changes one of sacreBLEU's default settings.
SETTINGS = {
    "sacreBLEU's defaults": {},
    "lower case": {"lowercase": True},
    "tokenizer `intl`": {"tokenize": "intl"},
    "tokenizer `none`: punctuation stays attached to words": {"tokenize": "none"},
    "tokenizer `char`": {"tokenize": "char"},
    "n-grams up to order 2": {"max_order": 2},
    "length of the shortest reference": {"reference_length": "shortest"},
    "length of the longest reference": {"reference_length": "longest"},
    "mean length of the references": {"reference_length": "average"},
    "first of equally close reference lengths": {"tie": "first"},
    "no brevity penalty": {"brevity_penalty": "none"},
    "smoothing `add-k`": {"smoothing": "add-k"},
    "mean of segment scores": {"aggregate": "segments"},
    "mean of segment scores, unsmoothed": {"aggregate": "segments", "smoothing": "none"},
}


def build_page() -> str:
    """Return the page docs/which-bleu.md."""
    notes: dict[str, list[str]] = {}
    for name in family:
        if quirks := family[name].quirks:
            notes.setdefault(quirks, []).append(name)
    settings = {
        name: [BLEU(**parameters).score(SYSTEM, references).value for references in REFERENCE_SETS]
        for name, parameters in SETTINGS.items()
    }
    return fill_template(
        "which-bleu",
        lines=len(SYSTEM.read_text(encoding="utf-8").splitlines()),
        settings=settings,
        default=settings["sacreBLEU's defaults"],
        members=[
            (name, family[name], *(_score_with_member(name, each) for each in REFERENCE_SETS))
            for name in family
        ],
        notes=notes,
    )


def _score_with_member(name: str, references: list[Any]) -> str:
    """Return a member's score on its own scale, or a dash if it is not defined for this text."""
    member = family[name]
    try:
        # The section "Peculiarities" describes the members' warnings.
        with warnings.catch_warnings(action="ignore"):
            score = member.score(SYSTEM, references)
    except (InputError, TypeError, ValueError, ImportError):
        return "–"
    if member.digits is not None:
        return member.format_score(score)
    return f"{getattr(score, 'published', float(score)):.6g}"
