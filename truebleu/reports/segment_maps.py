"""Re-segmented texts in a report: method, coverage, flags, and the lengths of the segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truebleu.comparison.segment_labels import SegmentNames
from truebleu.reports import payload
from truebleu.resegmentation.resegment import Resegmentation


def describe_resegmentations(
    results: Sequence[Resegmentation | None],
) -> tuple[list[dict[str, Any] | None] | None, dict[str, bytes]]:
    """Return the manifest entry of each system (null: not re-segmented), and the blocks.

    A block has four numbers per segment: the index of its document, the units of the reference and
    of the text, and the equal units.
    """
    if not any(results):
        return None, {}
    entries: list[dict[str, Any] | None] = []
    blocks = {}
    for index, result in enumerate(results):
        if result is None:
            entries.append(None)
            continue
        facts = result.facts
        documents = SegmentNames([one.document for one in facts])
        entries.append(
            {
                **result.to_dict(),
                "text": str(result),
                "problems": result.problems,
                "documents": documents.names if result.has_documents else None,
                "block": f"resegmentation{index}",
            }
        )
        blocks[f"resegmentation{index}"] = payload.encode_indices(
            number
            for numbers in (
                documents.indices,
                [one.reference_units for one in facts],
                [one.hypothesis_units for one in facts],
                [one.equal for one in facts],
            )
            for number in numbers
        )
    return entries, blocks


def list_flags(result: Resegmentation) -> SegmentNames:
    """Return the flags of each segment as a label, with which the report filters segments."""
    return SegmentNames(", ".join(facts.flags) or "no flag" for facts in result.facts)
