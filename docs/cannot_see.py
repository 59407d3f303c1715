"""Build the page "What BLEU cannot see"."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from page_helpers import (
    EXAMPLES,
    HYPOTHESES,
    REFERENCES,
    explain_system,
    fill_template,
    format_table,
    render_code,
)

from truebleu import BLEU

CLAIMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["claims"]

METRICS = {
    "BLEU": BLEU(),
    "lower case": BLEU(lowercase=True),
    "no tokenizer": BLEU("none"),
}


def build_page() -> str:
    """Return the page docs/what-bleu-cannot-see.md."""
    claims = "\n\n".join(_format_claim_section(**claim) for claim in CLAIMS)
    return fill_template(
        "what-bleu-cannot-see",
        claims=claims,
        references=_format_reference_table(),
        person=_score_human_translation(),
        documents=_format_document_table(),
    )


def _format_claim_section(
    title: str, text: str, reference: str, hypotheses: Sequence[tuple[str, str]]
) -> str:
    rows = [("*reference*", render_code(reference), *("" for _ in METRICS))]
    for name, hypothesis in hypotheses:
        scores = [
            f"{explain_system(hypothesis, reference, metric)['score']:.2f}"
            for metric in METRICS.values()
        ]
        rows.append((name, render_code(hypothesis), *scores))
    return f"## {title}\n\n{text}\n\n{format_table(['', 'text', *METRICS], rows, left_aligned=2)}"


def _format_reference_table() -> str:
    sets = {"A": ["A"], "B": ["B"], "A and B": ["A", "B"]}
    rows = []
    for name, path in HYPOTHESES.items():
        scores = [
            BLEU().score(path, [REFERENCES[one] for one in chosen]).value
            for chosen in sets.values()
        ]
        rows.append((name, *(f"{score:.2f}" for score in scores)))
    return format_table(["system", *sets], rows)


def _score_human_translation() -> float:
    return BLEU().score(REFERENCES["B"], REFERENCES["A"]).value


def _format_document_table() -> str:
    metric = BLEU()
    documents = (EXAMPLES / "documents.txt").read_text().split()
    groups = metric.statistics(HYPOTHESES["cedar"], list(REFERENCES.values())).groups(documents)
    scores = [
        (name, len_, metric.from_statistics(sums).value)
        for name, len_, sums in (
            (name, documents.count(name), sums) for name, sums in groups.items()
        )
    ]
    rows = [
        (name, count, f"{value:.2f}") for name, count, value in sorted(scores, key=lambda r: -r[2])
    ]
    return format_table(["document", "segments", "BLEU"], rows)
