"""The interactive report: who wins, is it real, why, and where. One HTML file that needs nothing.

build.py       from a request to the manifest, which is the contract, and the blocks of data
ngrams.py  buckets.py  health.py  terms.py    what there is beside the metrics
payload.py     blocks as bytes
summary.py     what can be read without script
page.py        page.html, page.css and the modules of viewer/ as one file
serve.py       a report on this machine alone, with texts as they are asked for
lab.py         the page with nothing in it, for sentences and files that a reader brings
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from truebleu.comparison import Comparison
from truebleu.comparison.comparison_request import (
    ComparisonOptions,
    ExternalScores,
    Request,
    Significance,
    SignificanceOptions,
)
from truebleu.metrics.base import Metric
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.record import Picklable, Record

if TYPE_CHECKING:
    from truebleu.reports.report_builder import Contents

# How many segments' texts a notebook gets, which is saved with all that it shows.
NOTEBOOK_ROWS = 2000


class PageOptions(TypedDict, total=False):
    """What a page has beside a comparison; see `report` for the parameters."""

    title: str | None
    languages: tuple[str | None, str | None] | None
    word_counts: Any
    terms: Any
    embed_text: int | None
    redact_text: bool
    human: Any


class ReportOptions(ComparisonOptions, PageOptions, total=False):
    """The further arguments of `report`."""


class Page(Picklable):
    """A page that needs nothing else."""

    __slots__ = ()

    def to_bytes(self) -> bytes:
        """The page, in UTF-8."""
        raise NotImplementedError

    def html(self) -> str:
        """The page."""
        return self.to_bytes().decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, whole or not at all."""
        from truebleu.text.operating_system import write_atomically

        write_atomically(path, self.to_bytes())


class Report(Page):
    """A page about systems. `save` writes it; a notebook shows the summary, and all with `show`."""

    __slots__ = ("_contents", "_embed", "_workers")

    def __init__(
        self, contents: Contents, *, embed_text: int | None = None, workers: int = 1
    ) -> None:
        if embed_text is not None:
            argument_checks.check_integer("embed_text", embed_text, 0)
        self._contents = contents
        self._embed = embed_text
        self._workers = workers

    def to_dict(self) -> dict[str, Any]:
        """All data of the page beside texts and tables, in the types of JSON.

        truebleu/reports/report_builder.py says what there is.
        """
        from copy import deepcopy

        return deepcopy(self._contents.manifest(self._embed))

    def to_bytes(self) -> bytes:
        """The page, in UTF-8."""
        return self._page(self._embed)

    def show(self, rows: int = NOTEBOOK_ROWS, height: int = 800) -> Frame:
        """The page for a notebook, in a frame that nothing gets out of.

        rows: of how many segments it has the texts, so that the notebook stays small.
        height: in pixels.
        """
        argument_checks.check_integer("height", height, 1)
        argument_checks.check_integer("rows", rows, 0)
        most = rows if self._embed is None else min(rows, self._embed)
        return Frame(self._page(most).decode(), height)

    def _page(self, embed: int | None) -> bytes:
        from truebleu.reports import html_page

        contents = self._contents
        return html_page.written(contents.manifest(embed), contents.blocks(embed), self._workers)

    def _repr_html_(self) -> str:
        from truebleu.reports import static_summary

        return static_summary.fragment(self._contents.manifest(self._embed))

    def __repr__(self) -> str:
        contents = self._contents
        return f"<Report on {', '.join(contents.systems)}, {contents.segments:,} segments>"


class Frame(Record):
    """A page inside a notebook, so many pixels high."""

    page: str
    height: int

    def _repr_html_(self) -> str:
        # Not `payload.escaped`: this is markup, and must come out of the attribute as it is.
        from html import escape

        return (
            '<iframe sandbox="allow-scripts allow-downloads" title="truebleu report" width="100%" '
            f'height="{self.height}" srcdoc="{escape(self.page, quote=True)}">'
            # Shown where a notebook is not trusted, and in no browser.
            "A report of truebleu, which is shown where the notebook is trusted.</iframe>"
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
    **options: Unpack[ReportOptions],
) -> Report:
    r"""One page about one system or several, to browse and to send around.

    systems: a name for each system, and its hypotheses, as `BLEU.score` takes them; or a
        `Comparison`, whose systems, references, metrics and tests those of the page are then. Text
        is read again.
    references: as `BLEU.score` takes them.
    source: what was translated, a text or None for each segment, or a file.
    documents: the name of the document that each segment is of, or a file of them.
    labels: what segments are labelled with, for each kind of label a mapping of its name to a
        label for each segment, or to a file of them; or a tab-separated file of all with a header.
    metrics: as `compare` takes them, BLEU, chrF, TER or an error rate among them, by which
        segments are shown. The first of those is what segments are sorted by.
    also: further settings to look at in the page: metrics, or changes of those of `metrics`, such
        as "tokenize=intl,char" (two) and "lowercase".
    path: where to write it; `Report.save` does that, too.
    title: what to call it; the names of the systems if not given.
    baseline, test, samples, confidence, level, seed, correction, resample, scores,
        lower_is_better, higher_is_better: as `compare` has them.
    languages: codes of the languages of source and target; the endings of files' names if not
        given.
    word_counts: how often each word is in other text, such as in what a system was trained on: a
        mapping, or a file of lines of a word, a tab and a number. Words are put into buckets by
        it; by how often they are in the references if not given.
    terms: a glossary, of which the page shows how often each system used the wanted term where the
        source has its own: a mapping from source terms to target terms, pairs of them, or a file of
        lines of a source term, a tab and a target term. Terms are whole words; case does not count,
        but in terms all in capitals.
    embed_text: of how many segments the page has the texts, 100,000 if not given. Numbers are
        there of all. One half are those that the result depends on most, the others are random.
    human: what people said of the systems, as `meta_evaluate` takes it: the page then shows how far
        the metrics agree with them.
    redact_text: whether all text is left out; names of systems, documents and labels stay.
    workers: threads.

    All text is read once. The same input gives the same bytes. Raises InputError, which names the
    input and the segment or line, for lengths that differ and for text that cannot be read;
    ValueError for a comparison whose text is not there any more, and for terms without a source.

    >>> references = ["the cat is on the mat", "nobody was there"] * 10
    >>> good = ["the cat is on a mat", "nobody was there"] * 10
    >>> poor = ["a cat is at the mat", "nobody were here"] * 10
    >>> report({"good": good, "poor": poor}, references, title="Cats")
    <Report on good, poor, 20 segments>
    """
    from truebleu.reports import report_builder

    argument_checks.check_keywords("report", options, ReportOptions.__annotations__)
    given: dict[str, Any] = dict(options)
    page_options = _taken(given, PageOptions.__annotations__)
    external = _taken(given, ExternalScores._fields)
    testing = _taken(given, SignificanceOptions.__annotations__)
    if not isinstance(systems, Comparison):
        request = Request(
            systems,
            references,
            testing=Significance(**testing),
            external=ExternalScores(**external),
            source=source,
            documents=documents,
            workers=workers,
            **given,
        )
    elif references is None and not (given or external or testing):
        request = systems.request
    else:
        raise TypeError("a comparison says its references, metrics and tests itself")
    request = request.beside(source, documents, labels)
    embed_text = page_options.pop("embed_text", None)
    redacted = page_options.pop("redact_text", False)
    contents = report_builder.Contents(request, also, redacted=redacted, **page_options)
    request.warn()
    made = Report(contents, embed_text=embed_text, workers=workers)
    if path is not None:
        made.save(path)
    return made


def _taken(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Take the options of these names out of others."""
    return {name: options.pop(name) for name in names if name in options}
