"""Build the page "What BLEU cannot see"."""

from __future__ import annotations

import tomllib
from pathlib import Path

from page_helpers import EXAMPLES, HYPOTHESES, REFERENCES, fill_template

from truebleu import BLEU

CLAIMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["claims"]

METRICS = {
    "BLEU": BLEU(),
    "lower case": BLEU(lowercase=True),
    "no tokenizer": BLEU("none"),
}


def build_page() -> str:
    """Return the page docs/what-bleu-cannot-see.md."""
    metric, a, b = BLEU(), REFERENCES["A"], REFERENCES["B"]
    documents = (EXAMPLES / "documents.txt").read_text().split()
    groups = metric.statistics(HYPOTHESES["cedar"], [a, b]).groups(documents)
    scores = {name: metric.from_statistics(sums).value for name, sums in groups.items()}
    return fill_template(
        "what-bleu-cannot-see",
        CLAIMS=CLAIMS,
        METRICS=METRICS,
        scores={
            name: [metric.score(path, references).value for references in ([a], [b], [a, b])]
            for name, path in HYPOTHESES.items()
        },
        person=metric.score(b, a).value,
        documents=[
            (name, documents.count(name), scores[name])
            for name in sorted(scores, key=scores.get, reverse=True)
        ],
    )
