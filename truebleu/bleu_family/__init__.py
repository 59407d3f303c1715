"""The BLEU family as data, and which member of it gives a number.

The registry of metrics learns here that the members of the family are names of metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from truebleu.metrics import registry
from truebleu.metrics.base import Metric


def names() -> Iterable[str]:
    """The names of all members."""
    from truebleu.bleu_family.family_catalogue import family

    return family


def metric(name: str) -> Metric[Any]:
    """The metric of a member. Raises KeyError for a name that no member has."""
    from truebleu.bleu_family.family_catalogue import family

    return family[name].metric


registry.add_name_source("the members of the BLEU family (truebleu family list)", names, metric)
