"""The playground: the viewer without data, for the user's sentences and files."""

from __future__ import annotations

import os
from typing import Any

from truebleu._kernel import __version__
from truebleu.comparison.setup_description import cite
from truebleu.metrics import registry
from truebleu.reports import (
    Page,
    bins,
    browser_kernel,
    distinctive_ngrams,
    html_page,
    payload,
    report_builder,
    report_settings,
)
from truebleu.text import languages, tokenizers

PLAYGROUND_TITLE = "truebleu playground"

# The page offers one setting per metric; the reader changes its parameters there.
PLAYGROUND_METRICS = ("bleu", "chrf", "ter", "wer", "mer", "wil", "wip", "cer")

FALLBACK_SUMMARY = (
    f"<article><h1>{PLAYGROUND_TITLE}</h1>"
    "<p>This page scores two sentences while you type and turns files into a report, without a "
    "server. It needs JavaScript and WebAssembly, which this browser lacks or blocks.</p>"
    "</article>\n"
)


class Playground(Page):
    """Page that scores typed sentences and dropped files; `save` writes it."""

    __slots__ = ("_page",)

    def __init__(self) -> None:
        if not browser_kernel.load_kernel_blocks():
            raise ImportError(browser_kernel.MISSING_KERNEL)
        encoded_blocks = payload.encode_blocks(browser_kernel.load_kernel_blocks())
        viewer = html_page.load_playground_viewer()
        self._page = html_page.assemble_page(
            PLAYGROUND_TITLE, FALLBACK_SUMMARY, build_manifest(), encoded_blocks, viewer=viewer
        )

    def to_bytes(self) -> bytes:
        """Return the page, encoded as UTF-8."""
        return self._page

    def __repr__(self) -> str:
        return f"<Playground of {len(self._page):,} bytes; save(path) writes the page>"


def build_manifest() -> dict[str, Any]:
    """Return the manifest of the page: its settings, and descriptions of the metrics."""
    entries = []
    for name in PLAYGROUND_METRICS:
        metric: Any = registry.metric(name)
        names = {
            "id": name,
            "name": metric.name,
            # Names of the metric in Python and of its options on the command line.
            "python": type(metric).__name__,
            "options": {one.name: one.format_option(metric.PREFIX) for one in metric.PARAMETERS},
        }
        entries.append(names | report_settings.describe_metric(metric, metric.signature(1)))
    return {
        "truebleu_report": report_builder.MANIFEST_VERSION,
        "title": PLAYGROUND_TITLE,
        "version": __version__,
        "bibtex": cite(PLAYGROUND_METRICS).bibtex(),
        "languages": report_builder.list_language_codes(),
        "live": browser_kernel.KERNEL_BLOCKS,
        "ngrams": {
            "orders": distinctive_ngrams.MAX_LISTED_ORDER,
            "limit": distinctive_ngrams.BROWSER_CANDIDATES,
        },
        "buckets": {"edges": list(bins.FREQUENCY_EDGES)},
        "metrics": entries,
        "unsplit": _describe_unsplit_scripts(),
    }


def _describe_unsplit_scripts() -> list[dict[str, Any]]:
    """Return the scripts that some tokenizers do not split, as the page detects and explains them.

    `pattern` is a regular expression of JavaScript for a letter of the script, and `split_by` lists
    the kernel's tokenizers that split it, the recommended ones first; `elsewhere` lists recommended
    tokenizers that the page lacks.
    """
    ter = registry.metric("ter")
    described_scripts = []
    for script, properties in tokenizers.UNSPLIT_SCRIPTS.items():
        # JavaScript knows the codes of single scripts only.
        codes = [
            code
            for code, name in languages.SCRIPT_NAMES.items()
            if name == script and code not in ("Hans", "Hant", "Jpan", "Kore")
        ]
        if not codes:
            continue
        is_in_page = tokenizers.KERNEL_TOKENIZERS.__contains__
        names = [*filter(is_in_page, properties.recommended), *tokenizers.KERNEL_TOKENIZERS]
        entry = {
            "pattern": "".join(f"\\p{{Script={code}}}" for code in codes),
            "looks_like": f"{properties.language}, which {properties.reason}",
            "share": properties.share,
            "has_spaces": properties.has_spaces,
            "split_by": [one for one in dict.fromkeys(names) if tokenizers.can_split(one, script)],
            "elsewhere": [one for one in properties.recommended if not is_in_page(one)],
            "ter": ter.get_splitting_parameters(script),
        }
        described_scripts.append(entry)
    return described_scripts


def create_playground(path: str | os.PathLike[str] | None = None) -> Playground:
    """Return a self-contained page that scores typed sentences and turns files into reports.

    Dropped files stay on the machine: the page contains the scoring kernel, and its scores agree
    with Python to 12 digits.

    path: file to save the page to (optional).

    Raises ImportError if truebleu was built without the browser kernel.

    >>> create_playground().html().partition(chr(10))[0]
    '<!doctype html>'
    """
    playground = Playground()
    if path is not None:
        playground.save(path)
    return playground
