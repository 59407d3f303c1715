"""Comparisons, checks and histories with percentages on a 0-1 scale, for display."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.comparison import comparison_notes, references
from truebleu.rendering.number_format import rescale
from truebleu.rendering.view import Content

# Keys of scores, differences, interval limits and standard errors in the entries of a comparison.
SCORE_NAMES = (
    *("score", "low", "high", "mean", "half_width", "value", "difference"),
    *("scores", "deviation", "test_set_error", "runs", "test_set", "standard_error"),
    *("above", "up_to"),
)


def convert_to_scale(content: Content, scale: int) -> Content:
    """Return the contents of a comparison with percentages on a 0-100 or 0-1 scale."""
    return content if scale == 100 else rescale_comparison(content)


def rescale_comparison(content: Content) -> Content:
    """Return the contents of a comparison with percentages converted to fractions (0-1)."""
    percentages = {metric["name"] for metric in content["metrics"] if metric.get("percentage")}

    def rescale_entry(name: str, entry: Any) -> Any:
        if name not in percentages:
            return entry
        if not isinstance(entry, dict):
            return entry / 100
        kept = {"details": entry["details"]} if "details" in entry else {}
        return {**rescale(entry, SCORE_NAMES), **kept}

    def rescale_systems(part: Content) -> dict[str, Any]:
        scores = {
            name: {system: rescale_entry(name, entry) for system, entry in by_system.items()}
            for name, by_system in part["scores"].items()
        }
        return {**part, "scores": scores}

    def rescale_pairs(pairs: Any) -> list[Any]:
        return [rescale_entry(pair["metric"], pair) for pair in pairs]

    agreement = content["human_agreement"]
    rescaled = {
        **content,
        "scale": 1,
        "systems": [
            {
                **system,
                "scores": {
                    name: rescale_entry(name, entry) for name, entry in system["scores"].items()
                },
            }
            for system in content["systems"]
        ],
        "pairs": rescale_pairs(content["pairs"]),
        "human_agreement": agreement and rescale_entry(agreement["metric"], agreement),
        "documents": content["documents"] and list(map(rescale_systems, content["documents"])),
    }
    if "by_reference" in content:
        rescaled["by_reference"] = [
            {**rescale_systems(reference), "pairs": rescale_pairs(reference["pairs"])}
            for reference in content["by_reference"]
        ]
    return rescaled | _rebuild_sentences(rescaled)


def _rebuild_sentences(content: Content) -> dict[str, Any]:
    """Return the notes and warnings, with scores in sentences converted to the display scale."""
    rebuilt: list[Any] = [
        *comparison_notes.build_run_variance_notes(content),
        *comparison_notes.build_disagreement_notes(content),
    ]
    if "by_reference" in content:
        rebuilt += references.build_reference_warnings(content)
    by_kind: dict[str, Iterator[Any]] = {
        kind: iter([one for one in rebuilt if one["kind"] == kind])
        for kind in {one["kind"] for one in rebuilt}
    }
    return {
        key: [next(by_kind.get(one["kind"], iter(())), one) for one in content[key]]
        for key in ("notes", "warnings")
        if key in content
    }
