"""Conversion of texts and a metric to an explanation, as a dict.

Each metric-specific module defines

explain_segment, explain_corpus    fields of the explanation of a segment or a corpus
split_text                         units counted in a text
get_components                     components that a comparison of two systems shows (not BLEU)
split_difference, build_comparison the comparison of two systems (only BLEU)
build_formula                      computation of the score, line by line
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from truebleu.explanation import bleu, chrf, edit_rates, f_score, gleu, nist, sari, statistics_table
from truebleu.explanation.naive_bleu import ExplanationCase, enumerate_references
from truebleu.metrics.base import Corpus, Metric
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.joint_counting import compute_joint_statistics
from truebleu.rendering.equations import as_text
from truebleu.text.corpus_inputs import normalize_input
from truebleu.text.segments import make_rereadable
from truebleu.text.tokenizers import format_signature_label

# Modules that explain specific metrics.
EXPLAINED: dict[str, ModuleType] = {
    "BLEU": bleu,
    "chrF": chrf,
    "NIST": nist,
    "GLEU": gleu,
    "SARI": sari,
    **dict.fromkeys(("NGram-F", "ROUGE"), f_score),
    **dict.fromkeys(("TER", "WER", "MER", "WIL", "WIP", "CER"), edit_rates),
}


def get_metric_module(name: str) -> ModuleType:
    """Return the module that explains a metric (default: statistics_table)."""
    return EXPLAINED.get(name, statistics_table)


CAUTION = (
    "Scores are comparable only on the same test set, with the same references, language and "
    "settings (listed in the signature)."
)


def check_metric(metric: Metric, *, recall: bool, textbook: bool = False) -> None:
    """Raise ValueError for BLEU's options with other metrics."""
    for option, is_set in (("recall", recall), ("textbook", textbook)):
        if is_set and metric.NAME != "BLEU":
            raise ValueError(f"{option}: only available for BLEU, not for {metric.NAME}")


def make_textbook_metric(metric: BLEU) -> BLEU:
    """Return BLEU as Papineni et al. (2002) define it and as textbooks compute it by hand.

    Tokens are separated by white space, precisions are not smoothed, and orders for which the text
    is too short are left out. Parameters that differ from their defaults are kept, but smoothing
    raises ValueError.
    """
    defaults = BLEU()
    if metric.smoothing not in (defaults.smoothing, "none"):
        raise ValueError(f"textbook BLEU has no smoothing (found '{metric.smoothing}')")
    changes: dict[str, Any] = {"smoothing": "none"}
    if metric.tokenize == defaults.tokenize:
        changes["tokenize"] = "none"
    if metric.effective_order is None and metric.missing_order is None:
        changes["effective_order"] = True
    return metric.with_parameters(**changes)


def explain_segment(
    metric: Metric[Any],
    systems: Sequence[tuple[str, Any]],
    references: Sequence[Any],
    *,
    source: Any = None,
    segment: int | None = None,
    recall: bool = False,
) -> dict[str, Any]:
    """Return the explanation of a segment with one or two hypotheses."""
    metric_module = get_metric_module(metric.NAME)
    systems, references, source = _normalize_texts(metric, systems, references, source)
    sources = (source,) if metric.NEEDS_SOURCE else ()
    present_references = enumerate_references(references)
    explained_systems = []
    for name, text in systems:
        score = metric.sentence(text, [one for _, one in present_references], *sources)
        case = ExplanationCase(metric, score, text, present_references, recall, source)
        explained_system = _describe_system(name, case, metric_module.explain_segment(case))
        # Tokenized input has no text.
        raw_text = text if isinstance(text, str) else None
        explained_systems.append({**explained_system, "text": raw_text})
    content = _build_content(metric, "pair" if segment is None else "segment", explained_systems)
    tokens = [metric_module.split_text(metric, text) for _, text in present_references]
    return content | {
        "segment": segment,
        "references": [
            {
                "number": number,
                "text": text if isinstance(text, str) else None,
                "tokens": words,
                "length": len(words),
            }
            for (number, text), words in zip(present_references, tokens, strict=True)
        ],
    }


def explain_corpus(
    metric: Metric[Any],
    systems: Sequence[tuple[str, Any]],
    references: Any,
    *,
    source: Any = None,
    workers: int = 1,
    recall: bool = False,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Explain the corpus scores of one or two systems, and summarize each system's text."""
    metric_module = get_metric_module(metric.NAME)
    systems, references, source = _normalize_texts(metric, systems, references, source)
    explained_systems, summaries = [], {}
    for name, hypotheses in systems:
        (statistics,), summary = compute_joint_statistics(
            [metric], Corpus(hypotheses, references, workers, source)
        )
        summaries[name] = summary
        case = ExplanationCase(
            metric, metric.from_statistics(statistics), hypotheses, references, recall, source
        )
        explained_system = _describe_system(name, case, metric_module.explain_corpus(case))
        explained_systems.append({**explained_system, "segments": summary["segments"]})
    content = _build_content(metric, "corpus", explained_systems)
    return content | {"segments": explained_systems[0]["segments"]}, summaries


def _normalize_texts(
    metric: Metric[Any], systems: Sequence[tuple[str, Any]], references: Any, source: Any
) -> tuple[list[tuple[str, Any]], Any, Any]:
    """Convert all texts to the metric's Unicode form, and make them rereadable."""

    def normalize(value: Any) -> Any:
        return make_rereadable(normalize_input(metric.unicode_form, value))

    normalized_systems = [(name, normalize(text)) for name, text in systems]
    return normalized_systems, normalize(references), normalize(source)


def _describe_system(
    name: str, case: ExplanationCase[Any, Any], details: dict[str, Any]
) -> dict[str, Any]:
    metric, score = case.metric, case.score
    system = {"name": name, "score": score.value, "signature": str(score.signature), **details}
    if reason := score.zero_reason:
        system.setdefault("zero", reason)
    formula = get_metric_module(metric.NAME).build_formula(system, metric.parameters)
    return {**system, "formula": as_text(formula)}


def _build_content(metric: Metric[Any], kind: str, systems: list[dict[str, Any]]) -> dict[str, Any]:
    comparison = None
    if len(systems) == 2:
        first, second = systems
        metric_module = get_metric_module(metric.NAME)
        if metric.NAME == "BLEU":
            differences = metric_module.split_difference(
                metric, first, second, corpus=kind == "corpus"
            )
        else:
            components, other_components = map(metric_module.get_components, systems)
            parts = {name: other_components[name] - value for name, value in components.items()}
            differences = {"differences": parts}
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
            "percentage": metric.is_percentage,
            "parameters": {n: _to_json_value(value) for n, value in metric.parameters.items()},
            "signature": systems[0]["signature"],
        },
        "systems": systems,
        "comparison": comparison,
        "caution": CAUTION,
    }


def _to_json_value(value: Any) -> Any:
    if callable(value):
        return format_signature_label(value)
    return list(value) if isinstance(value, tuple) else value
