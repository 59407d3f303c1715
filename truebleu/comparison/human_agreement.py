"""Share of differences of similar size that human judges confirmed, from WMT23's human scores.

docs/agreement.py computes human_agreement.json; docs/agreement-with-people.md describes the data.
"""

from __future__ import annotations

import os
import re
from typing import Any

from truebleu.metrics import registry
from truebleu.metrics.base import Metric

DATA = os.path.join(os.path.dirname(__file__), "human_agreement.json")

# Names of human translations, such as "ref.A", "refB", "human" and "reference.en".
_REFERENCE_NAME = re.compile(
    r"(?:^|[\W\d_])(?:ref|reference|human)s?[-_.]?(?:[A-Za-z]|\d+)?(?:[\W_]|$)", re.IGNORECASE
)


def is_reference_name(name: str) -> bool:
    """Return whether a system's name shows that its text is a human translation.

    >>> [is_reference_name(one) for one in ("wmt22.en-de.ref.A", "refB", "human", "refined")]
    [True, True, True, False]
    """
    return _REFERENCE_NAME.search(name) is not None


def find_human_agreement(
    metric: Metric[Any] | None, references: int | str | None, difference: float
) -> dict[str, Any] | None:
    """Return the data on differences of about the same size as a corpus-level difference.

    Its fields are `data` ("WMT23"), `above` and `up_to` (None for the lowest and the highest
    range), the number of `pairs` of systems, and the number of pairs that `agree` with human
    scores. Return None for metrics and settings that the data do not include.
    """
    from truebleu.text.argument_checks import load_json

    if metric is None or references != 1 or difference == 0:
        return None
    with open(DATA, encoding="utf-8") as file:
        content = load_json(file.read())
    for name, ranges in content["metrics"].items():
        if registry.metric(name) == metric:
            fields = next(
                one for one in ranges if one["up_to"] is None or abs(difference) <= one["up_to"]
            )
            return {"data": content["data"], **fields}
    return None
