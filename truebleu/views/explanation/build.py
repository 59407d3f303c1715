"""From texts and a metric to the dict that an explanation is: what is the same for every metric.

What is special about a metric is in a module of its own, which has

of_pair, of_corpus    what there is to say of one segment, or of a corpus
tokens                what is counted of a text
difference            what there is to say of the difference of two systems
blocks, compared      both, as blocks
"""

from __future__ import annotations

from truebleu.text.layout import listed
from truebleu.text.tokenizers import label
from truebleu.views.explanation import bleu, chrf, gleu, nist, ter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from truebleu.metrics.base import Metric
    from truebleu.metrics.table_metric import TableMetric

# The metrics that are explained, by the name of the metric.
EXPLAINED: dict[str, ModuleType] = {
    "BLEU": bleu,
    "chrF": chrf,
    "TER": ter,
    "NIST": nist,
    "GLEU": gleu,
}

CAUTION = (
    "Scores compare only on the same test set, with the same references, language and settings "
    "(those in the signature)."
)


def check(metric: Metric, *, recall: bool) -> None:
    """Raises ValueError for a metric that is not explained."""
    if metric.NAME not in EXPLAINED:
        raise ValueError(f"metric: explain knows {listed([*EXPLAINED])}, and not {metric.NAME}")
    if recall and metric.NAME != "BLEU":
        raise ValueError(f"recall is added for BLEU alone, not for {metric.NAME}")


def of_pair(
    metric: TableMetric[Any],
    systems: Sequence[tuple[str, Any]],
    references: Sequence[Any],
    *,
    segment: int | None = None,
    recall: bool = False,
) -> dict[str, Any]:
    """The explanation of one hypothesis, or of two, and its references."""
    about = EXPLAINED[metric.NAME]
    made = []
    for name, text in systems:
        several = references if isinstance(text, str) else [x for x in references if x is not None]
        score = metric.sentence(text, list(several))
        known = about.of_pair(metric, score, text, references, recall=recall)
        made.append({**_system(name, score), **known, "text": _text(text)})
    content = _frame(metric, "pair" if segment is None else "segment", made)
    given = [(number, text) for number, text in enumerate(references, 1) if text is not None]
    tokens = [about.tokens(metric, text) for _, text in given]
    return content | {
        "segment": segment,
        "references": [
            {"number": number, "text": _text(text), "tokens": words, "length": len(words)}
            for (number, text), words in zip(given, tokens, strict=True)
        ],
    }


def of_corpus(
    metric: TableMetric[Any],
    systems: Sequence[tuple[str, Any]],
    references: Any,
    *,
    recall: bool = False,
    workers: int = 1,
) -> dict[str, Any]:
    """The explanation of the score of a corpus, or of two systems' scores."""
    about = EXPLAINED[metric.NAME]
    made = []
    for name, hypotheses in systems:
        statistics, seen = metric.count(hypotheses, references, workers=workers)
        score = metric.from_statistics(statistics)
        known = about.of_corpus(metric, score, hypotheses, references, recall=recall)
        made.append({**_system(name, score), **known, "segments": seen["segments"]})
    return _frame(metric, "corpus", made) | {"segments": made[0]["segments"]}


def _system(name: str, score: Any) -> dict[str, Any]:
    return {"name": name, "score": score.value, "signature": str(score.signature)}


def _text(text: Any) -> str | None:
    """The text as it was given; None if tokens were."""
    return text if isinstance(text, str) else None


def _frame(metric: TableMetric[Any], kind: str, systems: list[dict[str, Any]]) -> dict[str, Any]:
    comparison = None
    if len(systems) == 2:
        first, second = systems
        about = EXPLAINED[metric.NAME]
        comparison = {
            "first": first["name"],
            "second": second["name"],
            "difference": second["score"] - first["score"],
            **about.difference(metric, first, second, corpus=kind == "corpus"),
        }
    return {
        "kind": kind,
        "metric": {
            "name": metric.NAME,
            "label": metric.name,
            "parameters": {name: _plain(value) for name, value in metric.parameters.items()},
            "signature": systems[0]["signature"],
        },
        "systems": systems,
        "comparison": comparison,
        "caution": CAUTION,
    }


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if callable(value):
        return label(value)
    return list(value) if isinstance(value, tuple) else value
