"""From texts and a metric to the dict that an explanation is: what is the same for every metric.

What is special about a metric is in a module of its own, which has

of_pair, of_corpus    what there is to say of one segment, or of a corpus
tokens, TOKEN         what is counted of a text, and the name of it
parts                 what two systems are compared by; BLEU has `difference` and `compared` instead
CHOSEN                which reference counts, if something else is to be said of it
formula               the score worked out, line by line
blocks, reading       what is shown above the formula, and what is said of the score
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from truebleu.explanation import bleu, chrf, f_score, gleu, nist, statistics_table, ter, wer
from truebleu.explanation.naive_bleu import Case, present
from truebleu.metrics.base import Metric
from truebleu.rendering.equations import as_text
from truebleu.text.segments import make_rereadable
from truebleu.text.tokenizers import format_signature_label

# The metrics that are explained by a specific module.
EXPLAINED: dict[str, ModuleType] = {
    "BLEU": bleu,
    "chrF": chrf,
    "TER": ter,
    "NIST": nist,
    "GLEU": gleu,
    **dict.fromkeys(("NGram-F", "ROUGE"), f_score),
    **dict.fromkeys(("WER", "MER", "WIL", "WIP", "CER"), wer),
}


def module_for(name: str) -> ModuleType:
    """Return the module that explains a metric; most metrics have the generic one."""
    return EXPLAINED.get(name, statistics_table)


CAUTION = (
    "Scores compare only on the same test set, with the same references, language and settings "
    "(those in the signature)."
)


def check(metric: Metric, *, recall: bool) -> None:
    """Raise ValueError for metrics that read sources, and for recall of other metrics than BLEU."""
    if metric.NEEDS_SOURCE:
        raise ValueError(f"metric: {metric.name} reads sources, which `explain` does not take")
    if recall and metric.NAME != "BLEU":
        raise ValueError(f"recall is added for BLEU alone, not for {metric.NAME}")


def of_pair(
    metric: Metric[Any],
    systems: Sequence[tuple[str, Any]],
    references: Sequence[Any],
    *,
    segment: int | None = None,
    recall: bool = False,
) -> dict[str, Any]:
    """The explanation of one hypothesis, or of two, and its references."""
    special = module_for(metric.NAME)
    systems, references = _normalized(metric, systems, references)
    given = present(references)
    made = []
    for name, text in systems:
        score = metric.sentence(text, [one for _, one in given])
        case = Case(metric, score, text, given, recall)
        made.append({**_system(name, case, special.of_pair(case)), "text": _text(text)})
    content = _frame(metric, "pair" if segment is None else "segment", made)
    tokens = [special.tokens(metric, text) for _, text in given]
    return content | {
        "segment": segment,
        "references": [
            {"number": number, "text": _text(text), "tokens": words, "length": len(words)}
            for (number, text), words in zip(given, tokens, strict=True)
        ],
    }


def of_corpus(
    metric: Metric[Any],
    systems: Sequence[tuple[str, Any]],
    references: Any,
    *,
    workers: int = 1,
    recall: bool = False,
) -> dict[str, Any]:
    """The explanation of the score of a corpus, or of two systems' scores."""
    special = module_for(metric.NAME)
    systems, references = _normalized(metric, systems, references)
    made = []
    for name, hypotheses in systems:
        statistics, seen = metric.count(hypotheses, references, workers=workers)
        case = Case(metric, metric.from_statistics(statistics), hypotheses, references, recall)
        known = _system(name, case, special.of_corpus(case))
        made.append({**known, "segments": seen["segments"]})
    return _frame(metric, "corpus", made) | {"segments": made[0]["segments"]}


def _normalized(
    metric: Metric[Any], systems: Sequence[tuple[str, Any]], references: Any
) -> tuple[list[tuple[str, Any]], Any]:
    """Return systems and references in the metric's Unicode form, which is what is shown."""
    form = metric.unicode_form
    if form is None:
        return list(systems), references
    from truebleu.text.corpus_inputs import normalize_input

    made = [(name, make_rereadable(normalize_input(form, text))) for name, text in systems]
    return made, make_rereadable(normalize_input(form, references))


def _system(name: str, case: Case[Any, Any], known: dict[str, Any]) -> dict[str, Any]:
    metric, score = case.metric, case.score
    system = {"name": name, "score": score.value, "signature": str(score.signature), **known}
    if reason := score.zero_reason:
        system.setdefault("zero", reason)
    formula = module_for(metric.NAME).formula(system, metric.parameters)
    return {**system, "formula": as_text(formula)}


def _text(text: Any) -> str | None:
    """The text as it was given; None if tokens were."""
    return text if isinstance(text, str) else None


def _frame(metric: Metric[Any], kind: str, systems: list[dict[str, Any]]) -> dict[str, Any]:
    comparison = None
    if len(systems) == 2:
        first, second = systems
        special = module_for(metric.NAME)
        if metric.NAME == "BLEU":
            differences = special.difference(metric, first, second, corpus=kind == "corpus")
        else:
            one, other = special.parts(first), special.parts(second)
            differences = {"differences": {name: other[name] - one[name] for name in one}}
        comparison = {
            "first": first["name"],
            "second": second["name"],
            "difference": second["score"] - first["score"],
            **differences,
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
        return format_signature_label(value)
    return list(value) if isinstance(value, tuple) else value
