"""Comparison of systems by one or more metrics, with intervals and significance tests.

`Comparison.to_dict` returns the contents. Every output format is built from this dict.

comparison_builder.py   builds the dict from statistics
comparison_notes.py     builds the notes in the dict
comparison_columns.py   builds the columns of tables, which have the names of --columns
comparison_layout.py    builds tables and sentences from the dict
comparison_text.py      builds the text from the dict
paper_layout.py         builds one table for a paper from the dict
overview.py             builds the first screen of the HTML page from the dict
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Unpack

from truebleu.comparison.comparison_request import ComparisonOptions, Request, StatisticsByMetric
from truebleu.metrics.text_warnings import raise_text_warnings
from truebleu.rendering.view import Content, RecordView
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.system_names import find_system


class ComparisonView(RecordView):
    """View of one comparison, or of one comparison per group.

    As text, it shows the best system and one table; as Markdown or LaTeX, a table for a paper.
    Besides the options of all views, `text` and `rich` accept `columns` (names in
    `comparison_columns.COLUMNS`), `by` ("document", "reference": tables of scores for each) and
    `explain`; `markdown` and `latex` accept `columns`, `by`, `caption`, `label` and `signature`
    (the place of signatures: "footnote", "caption" or "none"); `html` accepts `by`.
    """

    __slots__ = ()

    WIDTH = 80

    def _list_groups(self) -> list[tuple[str, Content]]:
        """Return the title and contents of each comparison. A single comparison has no title."""
        raise NotImplementedError

    def _build_format(
        self, output_format: str, *, digits: int | None = None, short: bool = False, **options: Any
    ) -> Iterator[Any]:
        from truebleu.comparison import comparison_text, overview, paper_layout
        from truebleu.comparison.comparison_columns import format_segments

        groups = self._list_groups()
        if output_format == "text":
            return comparison_text.build_text_blocks(groups, digits, short=short, **options)
        if output_format == "html":
            return overview.build_html_blocks(groups, digits, short=short, **options)
        sections = []
        for title, content in groups:
            size = format_segments(content["segments"], content.get("resampled_documents"))
            sections.append((f"{title} ({size})" if title else "", content))
        return paper_layout.build_paper_blocks(sections, digits, short=short, **options)


class Comparison(ComparisonView):
    """Scores of several systems, with intervals and significance tests.

    `print` shows the best system and a table. Notebooks show HTML. Iterating yields the system
    names in table order: best first by the first metric, or the input order with order="given".
    Indexing by a name returns the entry of that system in `to_dict`. `truebleu.report` builds a
    report from a comparison.
    """

    __slots__ = ("_request",)

    KIND = "comparison"
    ATTRIBUTE_HINTS = {  # noqa: RUF012
        **dict.fromkeys(("p", "p_value", "pvalue", "p_values"), ".best_p or .to_dict()['pairs']"),
        **dict.fromkeys(("systems", "names"), "list(comparison)"),
        **dict.fromkeys(("scores", "score"), "comparison[SYSTEM]['scores']"),
        "significant": ".best_p or .to_dict()['pairs']",
    }
    COLUMNS = (
        *("metric", "system", "letter", "score", "low", "high", "mean", "half_width", "rank"),
        *("cluster", "better_than", "baseline", "difference", "difference_low"),
        *("difference_high", "p", "corrected_p", "significant", "wins", "ties", "losses"),
        *("segments_needed", "signature"),
    )

    def __init__(
        self, content: dict[str, Any], request: Request | None = None, scale: int = 100
    ) -> None:
        """Store the contents, the request with the texts, and the default display scale."""
        super().__init__(content, scale)
        self._request = request

    @classmethod
    def from_request(
        cls,
        request: Request,
        metric_statistics: StatisticsByMetric | None = None,
        *,
        by_reference: bool = True,
        scale: int = 100,
    ) -> Comparison:
        """Return the comparison for a request, computing the statistics unless they are passed.

        by_reference: whether to compute additional scores with each reference alone.
        """
        from truebleu.comparison import comparison_builder

        content = comparison_builder.build_comparison(
            request,
            request.compute_statistics() if metric_statistics is None else metric_statistics,
        )
        if by_reference and content["references"] not in (None, 1):
            from truebleu.comparison import references

            content = references.add_reference_scores(content, request)
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, **content}, request, scale)

    @property
    def request(self) -> Request:
        """The request that produced the comparison, with its texts.

        Raises ValueError if the texts are unavailable because the comparison was read from JSON
        or has only external scores, or because the texts were read from standard input.
        """
        if self._request is None:
            raise ValueError("a comparison that was read from JSON has no text")
        problem = self._request.explain_missing_text()
        if problem:
            raise ValueError(problem)
        return self._request

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values, with all numbers at full precision.

        segments, buckets (None without buckets), references, baseline, level, seed;
            `test`, `intervals` and `correction`: the methods used, or None;
            `reading`: the limitations of the test; `notes`: remarks on the data. Notes of kind
            "disagreement" list metrics that prefer different systems of a pair.
        metrics: name, higher_is_better, source (whether truebleu computed it), signature, and the
            `clusters` of systems without a significant difference, best first.
        order: "rank" or "given", the order of `systems`, which the letters follow. A system whose
            name is one of these letters keeps it.
        systems: best first by the first metric, or as given; name, letter, number of runs, and
            `scores` by metric: `score`, `interval` (low, high, mean, half_width), `runs` (scores,
            deviation, test_set_error), `rank`, `cluster`, `better_than` (significantly worse
            systems), `difference` from the baseline (value, interval, standard_error, p,
            corrected_p, significant, wins, ties, losses, segments_needed, identical), `details`.
        pairs: the same difference fields for every pair of systems and metric, higher rank first.
        human_agreement: how often human judges confirmed a difference as large as the lead of the
            best system: metric, systems, data, `above` and `up_to` (the range of differences),
            pairs, agree; None for metrics and settings without such data.
        documents: name, segments, and `scores` by metric and system; None without documents.
        by_reference, warnings: see these properties; both keys are absent if there are none.
        """
        return super().to_dict()

    @property
    def by_reference(self) -> list[dict[str, Any]]:
        """Separate scores for each reference; an empty list if there is only one reference.

        name; segments, the number of segments with this reference; `scores` by metric and system,
            as in `systems`; `pairs` of the overall best system with every other system;
            `identical` by system: the number of segments equal to the reference, their share, the
            median of the other systems (None without others), and is_copy, which is true if the
            number is suspiciously high.
        """
        return list(self.to_dict().get("by_reference", ()))

    @property
    def best(self) -> str | None:
        """The system that the first metric shows to be best, or None if it shows none.

        The lead of the best system over the next one must be significant. Unreliable scores, equal
        scores, a single system and `test=None` give None. Iterating yields all systems in order.

        >>> references = ["the cat is on the mat", "nobody was there", "it rains again"] * 10
        >>> poor = ["a cat is at the mat", "nobody were here", "it rains"] * 10
        >>> good = [*references[:29], "it rained again"]
        >>> comparison = compare({"poor": poor, "good": good}, references)
        >>> comparison.best, round(comparison.best_p, 4)
        ('good', 0.0001)
        """
        pair = self._find_first_pair()
        return pair["first"] if pair is not None and pair["significant"] else None

    @property
    def best_p(self) -> float | None:
        """The p-value of the lead of the best system by the first metric over the next system.

        It is corrected for all pairs if there is a correction. None without a test, for a single
        system, and for unreliable scores.
        """
        from truebleu.comparison.comparison_columns import get_decisive_p

        pair = self._find_first_pair()
        return None if pair is None or pair["significant"] is None else get_decisive_p(pair)

    def _find_first_pair(self) -> Content | None:
        """Return the pair of the two best systems by the first metric that ranks systems."""
        from truebleu.comparison.overview import find_main_metric

        metric = find_main_metric(self._content)
        # Pairs are ordered by metric, with the higher-ranked system first.
        pairs = self._content["pairs"]
        return next((one for one in pairs if metric and one["metric"] == metric["name"]), None)

    def _list_groups(self) -> list[tuple[str, Content]]:
        return [("", self._content)]

    @classmethod
    def _list_systems(cls, content: Content) -> Iterable[str]:
        return [system["name"] for system in content["systems"]]

    @classmethod
    def _rescale(cls, content: Content) -> Content:
        from truebleu.comparison import display_scale

        return display_scale.rescale_comparison(content)

    def _format_title(self) -> str:
        return ", ".join(self)

    def _build_records(self) -> Iterator[Mapping[str, Any]]:
        from truebleu.comparison import comparison_layout

        return comparison_layout.build_records(self._content)

    def __reduce__(self) -> tuple[Any, ...]:
        # The texts are not pickled, because they may be large.
        return (Comparison, (self._content, None, self._scale))

    def __iter__(self) -> Iterator[str]:
        return (system["name"] for system in self._content["systems"])

    def __len__(self) -> int:
        return len(self._content["systems"])

    def __getitem__(self, system: str) -> dict[str, Any]:
        from copy import deepcopy

        try:
            name = find_system(system, list(self), "systems")
        except ValueError as error:
            raise KeyError(str(error)) from None
        return deepcopy(next(one for one in self._content["systems"] if one["name"] == name))


class Comparisons(ComparisonView):
    """Comparisons of the same systems, one per group. `print` shows them in sequence.

    Iterating yields the comparisons, in the order of the groups.
    """

    __slots__ = ()

    KIND = "comparisons"

    @classmethod
    def from_groups(
        cls,
        group_columns: Iterable[str],
        comparisons: Iterable[tuple[Mapping[str, Any], Comparison]],
    ) -> Comparisons:
        """Build the object from pairs of a key (column names and values) and a comparison."""
        groups = [
            {"group": dict(key), "comparison": comparison.to_dict()}
            for key, comparison in comparisons
        ]
        return cls(
            {f"truebleu_{cls.KIND}": cls.VERSION, "within": [*group_columns], "groups": groups}
        )

    @property
    def COLUMNS(self) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N802
        """The group columns, followed by the columns of a comparison."""
        return (*self._content["within"], *Comparison.COLUMNS)

    def _list_groups(self) -> list[tuple[str, Content]]:
        name_note = {"name_note": self._content.get("name_note", "")}
        return [
            (_format_group_name(group["group"]), {**group["comparison"], **name_note})
            for group in self._content["groups"]
        ]

    @classmethod
    def _list_systems(cls, content: Content) -> Iterable[str]:
        comparisons = [group["comparison"] for group in content["groups"]]
        return [system["name"] for one in comparisons for system in one["systems"]]

    @classmethod
    def _rescale(cls, content: Content) -> Content:
        from truebleu.comparison import display_scale

        rescale = display_scale.rescale_comparison
        groups = [
            {**group, "comparison": rescale(group["comparison"])} for group in content["groups"]
        ]
        return {**content, "groups": groups}

    def _format_title(self) -> str:
        return ", ".join(_format_group_name(group["group"]) for group in self._content["groups"])

    def _build_records(self) -> Iterator[Mapping[str, Any]]:
        from truebleu.comparison import comparison_layout

        for group in self._content["groups"]:
            for record in comparison_layout.build_records(group["comparison"]):
                yield {**record, **group["group"]}

    def __iter__(self) -> Iterator[Comparison]:
        return (Comparison(group["comparison"]) for group in self._content["groups"])

    def __len__(self) -> int:
        return len(self._content["groups"])


def _format_group_name(key: Mapping[str, Any]) -> str:
    return ", ".join("null" if value is None else str(value) for value in key.values())


def compare(
    systems: Mapping[str, corpus_inputs.Hypotheses] | None,
    references: corpus_inputs.References | None,
    *,
    source: corpus_inputs.Hypotheses | None = None,
    documents: Any = None,
    workers: int = 1,
    scale: int = 100,
    check_text: bool = True,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare systems on the same segments, with confidence intervals and paired tests.

    systems: a mapping from system names to hypotheses, as for `BLEU.score`. For several runs of
        a system (training seeds), pass a list of hypotheses (files, columns, or lists) or a mapping
        from run names to hypotheses. The score is the mean over runs, and intervals and tests
        include their variance. (For metrics of tokenized text, a list of lists is a single run.)
    references: as for `BLEU.score`.
    metrics: names, variants, signatures or metrics, as for `truebleu.metric`. The first determines
        the order of the systems.
    baseline: the system that the others are compared with (default: the first of `systems`).
    order: the order of the systems in tables and of their letters: "rank" (the default) lists the
        best system by the first metric first; "given" keeps the order of `systems`.
    scores: segment scores of other metrics. Each metric name maps to one file for all systems, or
        to a mapping from system names to sequences or files of numbers, one per segment. A file for
        all systems has one tab-separated column per system, or lines with a system name and a
        score. System scores are means. With `metrics=()`, systems and references may be None.
    lower_is_better, higher_is_better: metrics in `scores` with this direction. By default, lower is
        better for TER, WER, CER, MER, WIL, CharacTER and MetricX, and higher for all others.
    source: the source texts, one per segment, for metrics that need them.
    documents: document names, one per segment, or a file of names; adds scores per document.
    workers: number of threads.
    scale: 100 or 1, the maximum of the scale for percentages. `to_dict` always uses 100.
    check_text: issue `TextWarning` for suspicious text, such as text that looks tokenized.

    Further options set the intervals and tests:

    test: "ar" (paired approximate randomization, the default), "bs" (paired bootstrap, centred),
        "koehn" (share of resamples lost), "bs-sacrebleu" (as in sacreBLEU, which finds too many
        differences), or None. All pairs of systems are tested, not only those with the baseline.
    samples: number of randomizations (default: 10,000) or resamples (default: 1,000) of the test.
    confidence: number of resamples for intervals (default: 1,000; None for no intervals). A
        bootstrap test uses the same resamples.
    level: confidence level above 0.5 (default: 0.95); differences are significant if p < 1 - level.
    seed: random seed, 0 or more (default: 12345); None for a new seed per call.
    correction: for multiple comparisons: "holm", "bh" (Benjamini-Hochberg) or None. It applies per
        metric, separately to the differences from the baseline and to all pairs.
    resample: the unit to resample and swap: "segments" (default), which treats segments as
        independent, or "documents", which keeps the segments of a document together. Use
        "documents" if segments of a document are similar.

    A metric that fails is left out, with a warning and a note. Raises InputError for systems and
    references of different lengths, for invalid numbers, and if all metrics fail. Raises ValueError
    for an unknown name.

    >>> references = ["the cat is on the mat", "nobody was there", "it rains once again"] * 10
    >>> good = ["the cat is on a mat", "nobody was there", "it rains again"] * 10
    >>> poor = ["a cat is at the mat", "nobody were here", "it rains again"] * 10
    >>> comparison = compare({"poor": poor, "good": good}, references)
    >>> list(comparison)
    ['good', 'poor']
    >>> difference = comparison["good"]["scores"]["BLEU"]["difference"]
    >>> difference["significant"], difference["wins"], difference["ties"], difference["losses"]
    (True, 20, 10, 0)
    """
    argument_checks.check_options(compare, options, ComparisonOptions)
    inputs = {"source": source, "documents": documents, "workers": workers}
    request = Request.from_options(systems, references, options, **inputs)
    comparison = Comparison.from_request(request, scale=scale)
    request.warn_about_failures()
    if check_text:
        raise_text_warnings(comparison.warnings)
    return comparison
