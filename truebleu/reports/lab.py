"""The laboratory: the viewer with nothing in it, for sentences and files that a reader brings."""

from __future__ import annotations

import os
from typing import Any

from truebleu._kernel import __version__
from truebleu.metrics import registry
from truebleu.rendering.citation import bibtex
from truebleu.reports import (
    Page,
    bins,
    browser_kernel,
    distinctive_ngrams,
    html_page,
    payload,
    report_builder,
)

TITLE = "truebleu laboratory"

# One setting of each kind; their parameters are chosen in the page.
METRICS = ("bleu", "chrf", "ter", "wer", "mer", "wil", "wip", "cer")

SUMMARY = (
    f"<article><h1>{TITLE}</h1>"
    "<p>Two sentences scored while typing, and whole files made into a report, in this page alone. "
    "It needs JavaScript and WebAssembly, which this browser has not, or does not allow.</p>"
    "</article>\n"
)


class Laboratory(Page):
    """A page that scores what is typed into it or dropped onto it. `save` writes it."""

    __slots__ = ("_page",)

    def __init__(self) -> None:
        if not browser_kernel.blocks():
            raise ImportError(browser_kernel.MISSING_KERNEL)
        packed = payload.encoded(browser_kernel.blocks())
        viewer = html_page.laboratory()
        self._page = html_page.assembled(TITLE, SUMMARY, manifest(), packed, viewer=viewer)

    def to_bytes(self) -> bytes:
        """The page, in UTF-8."""
        return self._page

    def __repr__(self) -> str:
        return f"<Laboratory of {len(self._page):,} bytes>"


def manifest() -> dict[str, Any]:
    """What the page must know beside the kernel: the metrics, as a report describes them."""
    described = []
    for name in METRICS:
        metric: Any = registry.metric(name)
        own = {
            "id": name,
            "name": metric.name,
            # What it and its parameters are called elsewhere.
            "python": type(metric).__name__,
            "options": {one.name: one.option(metric.PREFIX) for one in metric.PARAMETERS},
        }
        described.append(own | report_builder.described(metric, metric.signature(1)))
    return {
        "truebleu_report": report_builder.VERSION,
        "title": TITLE,
        "version": __version__,
        "bibtex": bibtex(),
        "languages": report_builder.codes(),
        "live": browser_kernel.BLOCKS,
        # Of how many orders n-grams are listed, and how many.
        "ngrams": {"orders": distinctive_ngrams.ORDERS, "limit": distinctive_ngrams.IN_PAGE},
        "buckets": {"edges": list(bins.EDGES)},
        "metrics": described,
    }


def lab(path: str | os.PathLike[str] | None = None) -> Laboratory:
    """A page that scores sentences while they are typed, and makes files into reports.

    One HTML file that needs nothing else: dropped files stay on the machine, and every number is
    counted in the page, by the same kernel, and agrees with Python to 12 digits.

    path: where to write it; `Laboratory.save` does that, too.

    Raises ImportError if truebleu was built without the kernel for pages.

    >>> lab().html().partition(chr(10))[0]
    '<!doctype html>'
    """
    made = Laboratory()
    if path is not None:
        made.save(path)
    return made
