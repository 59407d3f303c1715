"""A comparison as comma- or tab-separated values: a line for each metric and system."""

from __future__ import annotations

import csv
import io

from truebleu.explanation.document import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

COLUMNS = (
    *("metric", "system", "letter", "score", "low", "high", "mean", "half_width", "rank"),
    *("cluster", "better_than", "baseline", "difference", "difference_low", "difference_high"),
    *("p", "corrected_p", "significant", "wins", "ties", "losses", "segments_needed", "signature"),
)
# What a spreadsheet would take for the beginning of a formula.
FORMULA = ("=", "+", "-", "@")


def render(content: Mapping[str, Any], separator: str) -> str:
    """A header, and a line for each metric and system, every number with all of its digits.

    Text that a spreadsheet would take for a formula gets an apostrophe before it; characters that
    do not show are written out.
    """
    made = io.StringIO()
    lines = csv.writer(made, delimiter=separator, lineterminator="\n")
    lines.writerow(COLUMNS)
    letters = {system["name"]: system["letter"] for system in content["systems"]}
    for metric in content["metrics"]:
        for system in content["systems"]:
            known = _flat(content, metric, system, letters)
            lines.writerow([written(known.get(column)) for column in COLUMNS])
    return made.getvalue()


def _flat(
    content: Mapping[str, Any],
    metric: Mapping[str, Any],
    system: Mapping[str, Any],
    letters: Mapping[str, str],
) -> dict[str, Any]:
    score = system["scores"][metric["name"]]
    difference = score["difference"] or {}
    interval = difference.get("interval") or {}
    return {
        "metric": metric["name"],
        "system": system["name"],
        "letter": system["letter"],
        **score,
        **(score["interval"] or {}),
        "better_than": " ".join(letters[name] for name in score["better_than"]),
        **difference,
        "baseline": content["baseline"] if difference else None,
        "difference": difference.get("value"),
        "difference_low": interval.get("low"),
        "difference_high": interval.get("high"),
        "signature": metric["signature"],
    }


def written(value: Any) -> Any:
    """A value for a spreadsheet, which must not take it for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        text = visible(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    return repr(value) if isinstance(value, float) else value
