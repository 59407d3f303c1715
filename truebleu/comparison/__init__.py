"""Several systems, several metrics, one table: which differences are real, and how large they are.

The dict that `Comparison.to_dict` gives is the contract; every rendering is made of it alone.

reading.py     what people pass as systems, metrics and given scores
contents.py    from tables of statistics to the dict
document.py    from the dict to grids and sentences
text.py, markdown.py, latex.py, html.py, separated.py, terminal.py    one rendering of these each
"""

from __future__ import annotations

from truebleu._kernel import InputError
from truebleu.files import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu import inputs
    from truebleu.metric import Metric

# Changes when a reader of the old form could no longer read the new one.
VERSION = 1


class Comparison:
    """Systems side by side. `print` shows a table; a notebook shows it as HTML.

    Iterating gives the names of the systems, best first by the first metric; indexing by a name
    gives what is known of that system.
    """

    __slots__ = ("_content", "_made_of")

    def __init__(self, content: dict[str, Any], made_of: dict[str, Any] | None = None) -> None:
        if content.get("truebleu_comparison") != VERSION:
            raise InputError(
                f"this is no comparison of version {VERSION}: 'truebleu_comparison' is "
                f"{content.get('truebleu_comparison')!r}"
            )
        self._content = content
        # The arguments of `compare`: what `report` needs beside the dict.
        self._made_of = made_of

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON, every number with all of its digits.

        segments, references, baseline, level, seed; `test`, `intervals` and `correction`: how
            they were made, or None; `reading`: what the test can and cannot say; `notes`.
        metrics: name, whether higher is better, whether truebleu computed it, signature.
        systems: best first by the first metric; name, letter, and `scores` by metric: `score`,
            `interval` (low, high, mean, half_width), `rank`, `cluster`, `better_than` (systems
            that it is significantly better than), `difference` to the baseline (value, interval,
            p, corrected_p, significant, wins, ties, losses, segments_needed, identical), `details`.
        pairs: the same of every two systems by every metric, the better-placed system first.
        """
        from copy import deepcopy

        return deepcopy(self._content)

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        import json

        return json.dumps(self._content, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """The comparison that `to_json` wrote."""
        import json

        content = json.loads(text)
        if not isinstance(content, dict):
            raise InputError(f"a comparison is a JSON object, not {type(content).__name__}")
        return cls(content)

    def text(self, width: int = 100, *, digits: int | None = None, short: bool = False) -> str:
        """Plain text in lines of about so many characters.

        digits: after the point, for scores from 0 to 100; short: with short signatures.
        """
        from truebleu.comparison.text import render

        return render(self._content, width, digits=digits, short=short)

    def markdown(self, *, digits: int | None = None, short: bool = False) -> str:
        """Markdown as GitHub reads it."""
        from truebleu.comparison.markdown import render

        return render(self._content, digits=digits, short=short)

    def latex(self, *, digits: int | None = None, short: bool = False) -> str:
        """Tables for a paper that uses booktabs, with what is to be said of them as comments."""
        from truebleu.comparison.latex import render

        return render(self._content, digits=digits, short=short)

    def csv(self) -> str:
        """A line for each system and metric, with full precision."""
        from truebleu.comparison.separated import render

        return render(self._content, ",")

    def tsv(self) -> str:
        """The same, separated by tabs."""
        from truebleu.comparison.separated import render

        return render(self._content, "\t")

    def html(self, *, digits: int | None = None, short: bool = False) -> str:
        """A page of its own, without script, for light and dark screens."""
        from truebleu.comparison.html import page

        return page(self._content, digits=digits, short=short)

    def report(
        self,
        *,
        source: Any = None,
        documents: Any = None,
        labels: Any = None,
        also: Sequence[str | Metric] = (),
        path: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """The same systems as a page to browse, a `truebleu.Report`.

        Arguments are those of `truebleu.report`; hypotheses and references are read again. Raises
        ValueError where there is no text: for a comparison that was read from JSON, of given scores
        alone, or of standard input.
        """
        missing = _missing(self._made_of)
        if missing or self._made_of is None:
            raise ValueError(f"{missing}; truebleu.report(systems, references) makes a page")
        # The page is made of comparisons, so this module knows of it only when it is asked for.
        from importlib import import_module

        return import_module("truebleu.report").report(
            **{**self._made_of, **options},
            source=source,
            documents=documents,
            labels=labels,
            also=also,
            path=path,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Not with all of the text.
        return (Comparison, (self._content,))

    def _repr_html_(self) -> str:
        from truebleu.comparison.html import fragment

        return fragment(self._content)

    def __rich__(self) -> object:
        from truebleu.comparison.terminal import Drawn

        return Drawn(self._content)

    def __iter__(self) -> Iterator[str]:
        return (system["name"] for system in self._content["systems"])

    def __len__(self) -> int:
        return len(self._content["systems"])

    def __getitem__(self, system: str) -> dict[str, Any]:
        from copy import deepcopy

        for one in self._content["systems"]:
            if one["name"] == system:
                return deepcopy(one)
        raise KeyError(f"no system '{system}'; there are {', '.join(self)}")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        metrics = ", ".join(metric["name"] for metric in self._content["metrics"])
        return f"<Comparison of {', '.join(self)} by {metrics}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self._content == other._content

    __hash__ = None  # type: ignore[assignment]


def _missing(made_of: Mapping[str, Any] | None) -> str:
    """Why there is no text to make a page of; nothing if there is."""
    if made_of is None:
        return "a comparison that was read from JSON has no text"
    if made_of["systems"] is None:
        return "a comparison of given scores alone has no text"
    for value in (*made_of["systems"].values(), made_of["references"]):
        items = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(item, File) and item.path == "-" for item in items):
            return "standard input was read for this comparison, and cannot be read again"
    return ""


def compare(
    systems: Mapping[str, inputs.Hypotheses] | None,
    references: inputs.References | None,
    *,
    metrics: Sequence[str | Metric] = ("bleu",),
    baseline: str | None = None,
    test: str | None = "ar",
    samples: int | None = None,
    confidence: int | None = 1000,
    level: float = 0.95,
    seed: int | None = 12345,
    correction: str | None = None,
    workers: int = 1,
    scores: Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
) -> Comparison:
    r"""Systems side by side, with intervals and paired tests.

    systems: a name for each system, and its hypotheses, as `BLEU.score` takes them.
    references: as `BLEU.score` takes them.
    metrics: "bleu", "chrf", "chrf++", "ter", members of the family, signatures or metrics. The
        first decides the order of systems.
    baseline: the system that the others are compared with; the first if not given.
    test: "ar" (paired approximate randomization), "bs" (paired bootstrap, centred), "koehn" (the
        share of resamples lost), "bs-sacrebleu" (sacreBLEU's, which finds too many differences),
        or None. Every two systems are tested, not only those with the baseline.
    samples: randomizations (10,000) or resamples (1,000) of the test.
    confidence: resamples for intervals, or None for none. A bootstrap test's are the same as its.
    level: of intervals; differences are significant if p < 1 - level.
    seed: 0 or more; None for another each time.
    correction: for many tests: "holm", "bh" (Benjamini and Hochberg) or None; metric by metric,
        for those with the baseline and for those of all pairs.
    workers: threads.
    scores: by further metrics, that truebleu does not compute: for each name a file, or a mapping
        of each system to its numbers, one a segment, in a sequence or a file. The mean is the
        score. A file for all systems has a tab-separated column for each, or lines of a system's
        name and a score. With `metrics=()` there need be no systems and no references.
    lower_is_better: names of such metrics for which lower is better.

    Raises InputError for systems and references of different lengths and for what is no number;
    ValueError for an unknown name.

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
    from truebleu.comparison import contents, reading

    settings = contents.Settings(
        test=test,
        samples=samples,
        confidence=confidence,
        level=level,
        seed=seed,
        correction=correction,
    )
    task = reading.Task(
        systems, references, metrics, scores, lower_is_better, baseline, workers=workers
    )
    made_of = {
        "systems": systems,
        "references": references,
        "metrics": metrics,
        "baseline": baseline,
        "test": test,
        "samples": samples,
        "confidence": confidence,
        "level": level,
        "seed": seed,
        "correction": correction,
        "scores": scores,
        "lower_is_better": lower_is_better,
        "workers": workers,
    }
    return Comparison(contents.of_task(task, settings, workers=workers), made_of)
