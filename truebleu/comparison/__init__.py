"""Several systems, several metrics, one table: which differences are real, and how large they are.

The dict that `Comparison.to_dict` gives is the contract; every format is made of it alone.

build.py    from tables of statistics to the dict
blocks.py   from the dict to tables and sentences
screen.py   from the dict to what HTML shows first
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

from truebleu.comparison.comparison_request import (
    ExternalScores,
    Request,
    Significance,
    SignificanceOptions,
    StatisticsByMetric,
)
from truebleu.metrics.base import Metric
from truebleu.rendering.elements import Block, Heading, HtmlBlock
from truebleu.rendering.view import RecordView
from truebleu.text import argument_checks, corpus_inputs


class Comparison(RecordView):
    """Systems side by side. `print` shows a table; a notebook shows it as HTML.

    Iterating gives the names of the systems, best first by the first metric; indexing by a name
    gives what is known of that system. `truebleu.report` makes a page of it.
    """

    __slots__ = ("_request",)

    KIND = "comparison"
    # As wide as one metric's table with the letters of a few systems.
    WIDTH = 104
    COLUMNS = (
        *("metric", "system", "letter", "score", "low", "high", "mean", "half_width", "rank"),
        *("cluster", "better_than", "baseline", "difference", "difference_low"),
        *("difference_high", "p", "corrected_p", "significant", "wins", "ties", "losses"),
        *("segments_needed", "signature"),
    )

    def __init__(self, content: dict[str, Any], request: Request | None = None) -> None:
        super().__init__(content)
        self._request = request

    @classmethod
    def from_request(
        cls,
        request: Request,
        metric_statistics: StatisticsByMetric | None = None,
        *,
        by_reference: bool = True,
    ) -> Comparison:
        """The comparison that was asked for, of what was counted for it if that is known.

        by_reference: whether each of several references is scored alone as well.
        """
        from truebleu.comparison import comparison_builder

        content = comparison_builder.build_comparison(
            request, request.count_statistics() if metric_statistics is None else metric_statistics
        )
        if by_reference and content["references"] not in (None, 1):
            from truebleu.comparison import references

            content = references.add_reference_scores(content, request)
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, **content}, request)

    @property
    def request(self) -> Request:
        """The request behind the comparison, with its text. Raises ValueError if that is gone.

        So it is for a comparison that was read from JSON, of scores from elsewhere alone, or of
        standard input.
        """
        if self._request is None:
            raise ValueError("a comparison that was read from JSON has no text")
        problem = self._request.explain_missing_text()
        if problem:
            raise ValueError(problem)
        return self._request

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON, every number with all of its digits.

        segments, buckets (None where there are none), references, baseline, level, seed; `test`,
            `intervals` and `correction`: how they were made, or None; `reading`: what the test can
            and cannot say; `notes`, of which those of kind "disagreement" name metrics that call
            opposite winners of two systems.
        metrics: name, whether higher is better, whether truebleu computed it, signature, and the
            `clusters` of systems that its test cannot tell apart, best first.
        systems: best first by the first metric; name, letter (in the order in which they were
            given), number of runs, and `scores` by metric: `score`, `interval` (low, high, mean,
            half_width), `runs` (scores, deviation, test_set_error), `rank`, `cluster`,
            `better_than` (systems that it is significantly better than),
            `difference` to the baseline (value, interval, p, corrected_p, significant, wins, ties,
            losses, segments_needed, identical), `details`.
        pairs: the same of every two systems by every metric, the better-placed system first.
        documents: name, segments, and `scores` by metric and system; None without documents.
        by_reference, warnings: see these properties; they are there where they are not empty.
        """
        return super().to_dict()

    @property
    def by_reference(self) -> list[dict[str, Any]]:
        """Each of several references alone; empty with one reference.

        name; segments, those that have this reference; `scores` by metric and system, as those of
            `systems`; `pairs` of the best system by all references with each other system;
            `identical` by system: segments that equal the reference, their share, the median of
            the other systems (None without others), and is_copy, whether that is suspicious.
        """
        return list(self.to_dict().get("by_reference", ()))

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        from truebleu.comparison import comparison_layout

        return comparison_layout.build_blocks(self._content, digits, short=short)

    def _html_blocks(self, *, digits: int | None, short: bool) -> Iterator[HtmlBlock]:
        from truebleu.comparison import overview

        return overview.build_html_blocks(self._content, digits, short=short)

    def _title(self) -> str:
        return ", ".join(self)

    def _records(self) -> Iterator[Mapping[str, Any]]:
        from truebleu.comparison import comparison_layout

        return comparison_layout.build_records(self._content)

    def __reduce__(self) -> tuple[Any, ...]:
        # Not with all of the text.
        return (Comparison, (self._content,))

    def __iter__(self) -> Iterator[str]:
        return (system["name"] for system in self._content["systems"])

    def __len__(self) -> int:
        return len(self._content["systems"])

    def __getitem__(self, system: str) -> dict[str, Any]:
        from copy import deepcopy

        for system_entry in self._content["systems"]:
            if system_entry["name"] == system:
                return deepcopy(system_entry)
        raise KeyError(f"no system '{system}'; there are {', '.join(self)}")

    def __repr__(self) -> str:
        metrics = ", ".join(metric["name"] for metric in self._content["metrics"])
        return f"<Comparison of {', '.join(self)} by {metrics}>"


class Comparisons(RecordView):
    """A comparison of the same systems for each group. `print` shows them one after the other.

    Iterating gives the comparisons, in the order of the groups.
    """

    __slots__ = ()

    KIND = "comparisons"

    @classmethod
    def from_groups(
        cls,
        group_columns: Iterable[str],
        comparisons: Iterable[tuple[Mapping[str, Any], Comparison]],
    ) -> Comparisons:
        """The comparisons of groups: the key of each, a value for each column of `within`."""
        groups = [
            {"group": dict(key), "comparison": comparison.to_dict()}
            for key, comparison in comparisons
        ]
        return cls(
            {f"truebleu_{cls.KIND}": cls.VERSION, "within": [*group_columns], "groups": groups}
        )

    @property
    def COLUMNS(self) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N802
        """The names of the columns: of `within`, then those of a comparison."""
        return (*self._content["within"], *Comparison.COLUMNS)

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        from truebleu.comparison import comparison_layout

        return self._with_groups(comparison_layout.build_blocks, digits, short=short)

    def _html_blocks(self, *, digits: int | None, short: bool) -> Iterator[HtmlBlock]:
        from truebleu.comparison import overview

        return self._with_groups(overview.build_html_blocks, digits, short=short)

    def _with_groups(
        self, build_blocks: Callable[..., Iterator[Any]], digits: int | None, *, short: bool
    ) -> Iterator[Any]:
        """The blocks of each comparison, with the group in the title."""
        for group in self._content["groups"]:
            for block in build_blocks(group["comparison"], digits, short=short):
                if isinstance(block, Heading) and block.level == 1:
                    yield Heading(1, f"{_group_name(group['group'])}: {block.text}")
                else:
                    yield block

    def _title(self) -> str:
        return ", ".join(_group_name(group["group"]) for group in self._content["groups"])

    def _records(self) -> Iterator[Mapping[str, Any]]:
        from truebleu.comparison import comparison_layout

        for group in self._content["groups"]:
            for record in comparison_layout.build_records(group["comparison"]):
                yield {**record, **group["group"]}

    def __iter__(self) -> Iterator[Comparison]:
        return (Comparison(group["comparison"]) for group in self._content["groups"])

    def __len__(self) -> int:
        return len(self._content["groups"])

    def __repr__(self) -> str:
        return f"<Comparisons within {', '.join(self._content['within'])}: {self._title()}>"


def _group_name(key: Mapping[str, Any]) -> str:
    return ", ".join("null" if value is None else str(value) for value in key.values())


def compare(
    systems: Mapping[str, corpus_inputs.Hypotheses] | None,
    references: corpus_inputs.References | None,
    *,
    metrics: Sequence[str | Metric] = ("bleu",),
    baseline: str | None = None,
    scores: Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    source: corpus_inputs.Hypotheses | None = None,
    documents: Any = None,
    workers: int = 1,
    **significance: Unpack[SignificanceOptions],
) -> Comparison:
    r"""Systems side by side, with intervals and paired tests.

    systems: a name for each system, and its hypotheses, as `BLEU.score` takes them. A system with
        several runs, as other seeds make them, has a list of their hypotheses (files, columns, or
        lists), or a mapping from names to them: its score is their mean, and intervals and tests
        know how runs differ. (For metrics of text in tokens a list of lists is one run.)
    references: as `BLEU.score` takes them.
    metrics: names, members of the family, signatures or metrics, as `truebleu.metric` takes them.
        The first decides the order of systems.
    baseline: the system that the others are compared with; the first if not given.
    scores: by further metrics, that truebleu does not compute: for each name a file, or a mapping
        of each system to its numbers, one per segment, in a sequence or a file. The mean is the
        score. A file for all systems has a tab-separated column for each, or lines of a system's
        name and a score. With `metrics=()` there need be no systems and no references.
    lower_is_better, higher_is_better: names of such metrics, where the name itself does not say
        it: of TER, WER, CER, MER, WIL, CharacTER and MetricX lower is better, of others higher.
    source: what was translated or corrected, a text per segment, for metrics that need it.
    documents: the name of each segment's document, or a file of them: adds the scores of each.
    workers: threads.

    Further arguments say how differences are tested:

    test: "ar" (paired approximate randomization, the default), "bs" (paired bootstrap, centred),
        "koehn" (the share of resamples lost), "bs-sacrebleu" (sacreBLEU's, which finds too many
        differences), or None. Every two systems are tested, not only those with the baseline.
    samples: randomizations (10,000) or resamples (1,000) of the test.
    confidence: resamples for intervals (1,000), or None for none. A bootstrap test's are the same.
    level: of intervals (0.95); differences are significant if p < 1 - level.
    seed: 0 or more (12345); None for another each time.
    correction: for many tests: "holm", "bh" (Benjamini and Hochberg) or None; metric by metric,
        for those with the baseline and for those of all pairs.
    resample: what intervals and tests draw and exchange: "segments" (the default), as if each
        stood alone, or whole "documents", whose segments are alike. The second is right where
        documents matter.

    A metric that fails, as a program may, is left out with a warning and a note. Raises InputError
    for systems and references of different lengths and for what is not a number, and if every
    metric fails; ValueError for an unknown name.

    >>> references = ["the cat is on the mat", "nobody was there", "it rains again"] * 10
    >>> good = ["the cat is on a mat", "nobody was there", "it rains again"] * 10
    >>> poor = ["a cat is at the mat", "nobody were here", "it rains again"] * 10
    >>> comparison = compare({"poor": poor, "good": good}, references)
    >>> list(comparison)
    ['good', 'poor']
    >>> difference = comparison["good"]["scores"]["BLEU"]["difference"]
    >>> difference["significant"], difference["wins"], difference["ties"], difference["losses"]
    (True, 20, 10, 0)
    """
    argument_checks.check_keywords("compare", significance, SignificanceOptions.__annotations__)
    request = Request(
        systems,
        references,
        metrics,
        testing=Significance(**significance),
        baseline=baseline,
        external=ExternalScores(scores, lower_is_better, higher_is_better),
        source=source,
        documents=documents,
        workers=workers,
    )
    comparison = Comparison.from_request(request)
    request.warn_about_failures()
    return comparison
