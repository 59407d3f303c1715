"""Catalogue of published BLEU implementations, with a search for the implementation behind a score.

Importing this package registers the members as metrics.
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
    """Return the metric of the member with the given name. Raise KeyError for other names."""
    from truebleu.bleu_family.family_catalogue import family

    return family[name].metric


registry.add_name_source(
    "the members of the BLEU family (truebleu family list)", list_member_names, get_member_metric
)
