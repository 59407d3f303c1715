"""Catalogue of published BLEU implementations, and identification of the variant behind a score.

Importing this package adds the names of the members to the metric registry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from truebleu.metrics import registry
from truebleu.metrics.base import Metric


def list_member_names() -> Iterable[str]:
    """Return the names of all members."""
    from truebleu.bleu_family.family_catalogue import family

    return family


def get_member_metric(name: str) -> Metric[Any]:
    """Return the metric of a member. Raise KeyError for an unknown name."""
    from truebleu.bleu_family.family_catalogue import family

    return family[name].metric


registry.add_name_source(
    "the members of the BLEU family (truebleu family list)", list_member_names, get_member_metric
)
