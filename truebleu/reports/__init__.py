"""The interactive report: one self-contained HTML file that compares systems.

report_builder.py   computes the manifest (the contract with the viewer) and the data blocks
report_settings.py  metrics and further settings of a page
distinctive_ngrams.py  bins.py  data_checks.py  term_glossary.py  findings.py   further analyses
payload.py          encodes blocks as bytes
static_summary.py   the part that is readable without JavaScript
html_page.py        joins page.html, page.css and the modules of viewer/ into one file
serve.py            serves a report on the local machine and sends texts on request
lab.py              the playground: an empty page for the reader's sentences and files
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from truebleu.comparison import Comparison
from truebleu.comparison.comparison_request import ComparisonOptions, Request
from truebleu.metrics.base import Metric
from truebleu.metrics.text_warnings import raise_text_warnings
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.argument_checks import Picklable, Record

if TYPE_CHECKING:
    from truebleu.reports.report_builder import ReportData

# Default maximum number of segments with text in a notebook, whose file stores all output.
NOTEBOOK_SEGMENTS = 2000


class PageOptions(TypedDict, total=False):
    """Page options that do not affect the comparison. `report` documents them."""

    title: str | None
    languages: tuple[str | None, str | None] | None
    word_counts: Any
    terms: Any
    embed_text: int | None
    redact_text: bool
    human: Any
    spans: Any
    scale: int


class ReportOptions(ComparisonOptions, PageOptions, total=False):
    """Keyword options that `report` accepts."""


class Page(Picklable):
    """Self-contained HTML page."""

    __slots__ = ()

    def to_bytes(self) -> bytes:
        """Return the page, encoded as UTF-8."""
        raise NotImplementedError

    def html(self) -> str:
        """Return the HTML of the page as a string."""
        return self.to_bytes().decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; an error leaves no partial file."""
        from truebleu.text.operating_system import write_atomically

        write_atomically(path, self.to_bytes())


class Report(Page):
    """Report on one or more systems.

    A notebook displays the summary; `show` displays the whole page, and `save` writes it to a file.
    """

    __slots__ = ("_data", "_max_embedded", "_workers")

    def __init__(
        self, data: ReportData, *, embed_text: int | None = None, workers: int = 1
    ) -> None:
        if embed_text is not None:
            argument_checks.check_integer("embed_text", embed_text, 0)
        self._data = data
        self._max_embedded = embed_text
        self._workers = workers

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest: the page's data except texts and tables, as JSON-compatible values.

        The docstring of truebleu/reports/report_builder.py lists its keys.
        """
        from copy import deepcopy

        return deepcopy(self._data.build_manifest(self._max_embedded))

    def to_bytes(self) -> bytes:
        """Return the page, encoded as UTF-8."""
        from truebleu.reports import html_page

        manifest = self._data.build_manifest(self._max_embedded)
        blocks = self._data.encode_blocks(self._max_embedded)
        return html_page.render_page(manifest, blocks, self._workers)

    def show(self, rows: int = NOTEBOOK_SEGMENTS, height: int = 800) -> Frame:
        """Return the page in a sandboxed frame for a notebook.

        rows: maximum number of segments with text, which limits the size of the notebook.
        height: height of the frame in pixels.
        """
        argument_checks.check_integer("height", height, 1)
        argument_checks.check_integer("rows", rows, 0)
        max_embedded = rows if self._max_embedded is None else min(rows, self._max_embedded)
        page = Report(self._data, embed_text=max_embedded, workers=self._workers)
        return Frame(page.html(), height)

    def _repr_html_(self) -> str:
        from truebleu.reports import static_summary

        return static_summary.render_fragment(self._data.build_manifest(self._max_embedded))

    def __repr__(self) -> str:
        hint = "Report: save(path) writes the page; show() displays it in a notebook."
        return f"{Comparison(self._data.comparison, scale=self._data.scale)!r}\n\n{hint}"


class Frame(Record):
    """Frame that displays a page in a notebook; `height` is in pixels."""

    page: str
    height: int

    def _repr_html_(self) -> str:
        # The browser must restore the markup unchanged, so only HTML's own escapes are allowed.
        from html import escape

        return (
            '<iframe sandbox="allow-scripts allow-downloads" title="truebleu report" width="100%" '
            f'height="{self.height}" srcdoc="{escape(self.page, quote=True)}">'
            # An untrusted notebook shows only this text.
            "Trust this notebook to show the truebleu report.</iframe>"
        )

    def __repr__(self) -> str:
        return f"<Frame of {len(self.page):,} characters>"


def report(
    systems: Mapping[str, corpus_inputs.Hypotheses] | Comparison,
    references: corpus_inputs.References | None = None,
    *,
    source: Any = None,
    documents: Any = None,
    labels: Any = None,
    also: Sequence[str | Metric] = (),
    path: str | os.PathLike[str] | None = None,
    workers: int = 1,
    check_text: bool = True,
    **options: Unpack[ReportOptions],
) -> Report:
    r"""Build an interactive report on one or more systems: one self-contained HTML page.

    systems: mapping from system names to hypotheses, in any form that `BLEU.score` accepts; or a
        `Comparison`, with its references, metrics and tests. Its texts are read again.
    references: references, in any form that `BLEU.score` accepts.
    source: source texts, one text or None per segment, or a file.
    documents: document name per segment, or a file of names.
    labels: mapping from kinds of labels to one label per segment or to a file of labels; or one
        tab-separated file with all labels and a header.
    metrics: metrics, in any form that `compare` accepts. They must include BLEU, chrF, TER or an
        error rate; the first of these sorts the segments.
    also: further settings to browse in the page: metrics, or changed parameters of `metrics`, such
        as "tokenize=intl,char" (two settings) or "lowercase".
    path: file to save the page to (optional).
    title: title of the page (default: the names of the systems).
    baseline, order, test, samples, confidence, level, seed, correction, resample, scores,
        lower_is_better, higher_is_better: see `compare`.
    languages: language codes of source and target (default: the extensions of the file names).
    word_counts: frequency of each word in other text, such as training data: a mapping, or a file
        with a word, a tab and a number per line. Words are binned by frequency (default: by
        frequency in the references).
    terms: glossary: a mapping from source terms to target terms, a list of such pairs, or a file
        with a source term, a tab and a target term per line. The page shows how often each system
        used the target term for a source term. Terms match whole words; matching ignores case,
        except for terms in capitals.
    embed_text: maximum number of segments with text in the page (default: 100,000). Scores cover
        all segments. Half of these segments are the most influential ones; the others are random.
    human: human scores of the systems, in any form that `meta_evaluate` accepts. The page then
        shows how well the metrics agree with them.
    spans: errors that annotators marked in the texts: the result of `read_spans`, or a file that it
        reads. Annotations of other systems are ignored. The page shows them under the texts, and
        counts them by category.
    redact_text: omit all text; keep the names of systems, documents and labels.
    scale: 100 or 1, the maximum of the scale for percentages. Saved data always use 100.
    workers: number of threads.
    check_text: issue `TextWarning` for suspicious text. The texts of a `Comparison` are not checked
        again.

    All text is read once. The same input gives the same bytes. Raises InputError, which names the
    input and the segment or line, if lengths differ or text cannot be read. Raises ValueError if
    the texts of a comparison are no longer available, or if `terms` is given without `source`.

    >>> references = ["the cat is on the mat", "nobody was there"] * 10
    >>> good = ["the cat is on a mat", "nobody was there"] * 10
    >>> poor = ["a cat is at the mat", "nobody were here"] * 10
    >>> page = report({"good": good, "poor": poor}, references, title="Cats").html()
    >>> "<title>Cats</title>" in page
    True
    """
    from truebleu.reports import report_builder

    argument_checks.check_options(report, options, ReportOptions)
    request_options: dict[str, Any] = dict(options)
    page_options: dict[str, Any] = {
        name: request_options.pop(name)
        for name in PageOptions.__annotations__
        if name in request_options
    }
    if not isinstance(systems, Comparison):
        inputs = {"source": source, "documents": documents, "workers": workers}
        request = Request.from_options(systems, references, request_options, **inputs)
    elif references is None and not request_options:
        request = systems.request
    else:
        raise TypeError(
            "systems: a Comparison already has references, metrics and tests. Omit these arguments."
        )
    request = request.with_inputs(source, documents, labels)
    embed_text = page_options.pop("embed_text", None)
    is_redacted = page_options.pop("redact_text", False)
    optional_inputs = report_builder.OptionalInputs(
        **{
            name: page_options.pop(name)
            for name in ("word_counts", "human", "terms", "spans")
            if name in page_options
        }
    )
    data = report_builder.ReportData(
        request, also, optional_inputs, is_redacted=is_redacted, **page_options
    )
    request.warn_about_failures()
    if check_text and not isinstance(systems, Comparison):
        raise_text_warnings(data.comparison.get("warnings", ()))
    report_page = Report(data, embed_text=embed_text, workers=workers)
    if path is not None:
        report_page.save(path)
    return report_page
