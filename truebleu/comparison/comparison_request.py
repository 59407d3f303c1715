"""The request for a comparison: systems, references, metrics, given scores, and the test.

A `Request` is made once of what people pass, and handed to comparison, report and command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from truebleu._kernel import InputError
from truebleu.comparison import external_scores as given_scores
from truebleu.comparison import system_runs
from truebleu.metrics import registry
from truebleu.metrics.base import Corpus, Metric, MetricFailedError, Signature
from truebleu.metrics.joint_counting import count_scorable
from truebleu.metrics.statistics import Statistics
from truebleu.significance import CORRECTIONS, RANDOMIZATIONS, RESAMPLES
from truebleu.text import argument_checks, segments
from truebleu.text.segments import File
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.comparison.external_scores import Numbers
    from truebleu.metrics.joint_counting import FailedMetrics

Counted = Mapping[Metric[Any], "Counts"]
# Called with what is being done, how much of it is done, and how much there is, if that is known.
Progress = Callable[[str, int, int | None], None]

# What the tests are called in print.
TESTS = {
    "ar": "paired approximate randomization",
    "bs": "paired bootstrap, centred",
    "bs-sacrebleu": "sacreBLEU's paired bootstrap",
    "koehn": "paired bootstrap, win ratio",
}
# What is drawn, and exchanged, as a whole. Buckets are groups of segments of which nothing else is
# known (`truebleu.engines`).
RESAMPLED = ("segments", "documents", "buckets")


@dataclass(frozen=True)
class Significance:
    """Settings of tests and intervals; see `compare` for the parameters."""

    test: str | None = "ar"
    samples: int | None = None
    confidence: int | None = RESAMPLES
    level: float = 0.95
    seed: int | None = argument_checks.DEFAULT_SEED
    correction: str | None = None
    resample: str = "segments"

    def __post_init__(self) -> None:
        argument_checks.check_choice("resample", self.resample, RESAMPLED)
        if self.resample != "segments" and self.test == "bs-sacrebleu":
            raise ValueError("resample: bs-sacrebleu is sacreBLEU's test, which draws segments")
        test, samples, confidence = self.test, self.samples, self.confidence
        argument_checks.check_choice("test", test, (None, *TESTS))
        argument_checks.check_choice("correction", self.correction, (None, *CORRECTIONS))
        if test is None and samples is not None:
            raise ValueError("samples are those of a test, and there is none")
        if test is None and self.correction is not None:
            raise ValueError("a correction is of p-values, and there is no test")
        for name, number in (("samples", samples), ("confidence", confidence)):
            if number is not None:
                argument_checks.check_integer(name, number, 1)
        if test != "ar" and samples is not None and confidence not in (None, RESAMPLES, samples):
            raise ValueError(
                f"samples={samples} and confidence={confidence}: a bootstrap test's resamples "
                "are those of the intervals, too; give one number"
            )
        argument_checks.check_fraction("level", self.level)
        object.__setattr__(self, "seed", argument_checks.check_seed(self.seed))
        if confidence is not None:
            object.__setattr__(self, "confidence", self.resamples)

    @property
    def randomizations(self) -> int:
        """The samples of approximate randomization."""
        return self.samples or RANDOMIZATIONS

    @property
    def resamples(self) -> int:
        """The samples of the bootstrap, for a test or for intervals."""
        return (self.test != "ar" and self.samples) or self.confidence or RESAMPLES

    @property
    def alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - self.level, 12)

    def signed(self, signature: Signature, *, tested: bool) -> Signature:
        """A signature that also says how often and from which seed was resampled."""
        test = self.test if tested else None
        bootstrap = self.confidence is not None or test not in (None, "ar")
        if not bootstrap and test is None:
            return signature
        return signature.with_resampling(
            bs=self.resamples if bootstrap else None,
            ar=self.randomizations if test == "ar" else None,
            seed=self.seed,
            resample=self.resample,
        )


class SignificanceOptions(TypedDict, total=False):
    """The fields of `Significance`, as `compare` and `report` take them."""

    test: str | None
    samples: int | None
    confidence: int | None
    level: float
    seed: int | None
    correction: str | None
    resample: str


class ComparisonOptions(SignificanceOptions, total=False):
    """What `compare` takes beside texts, as `report` takes it."""

    metrics: Sequence[str | Metric[Any]]
    baseline: str | None
    scores: Mapping[str, Any] | None
    lower_is_better: Sequence[str]
    higher_is_better: Sequence[str]


class ExternalScores(NamedTuple):
    """Scores of metrics that truebleu does not compute; see `compare` for the parameters."""

    scores: Mapping[str, Any] | None = None
    lower_is_better: str | Sequence[str] = ()
    higher_is_better: str | Sequence[str] = ()


class Counts(NamedTuple):
    """What a metric counts: by system the table, and the score of each segment."""

    tables: dict[str, Statistics]
    scores: dict[str, Sequence[float]]


class Buckets(NamedTuple):
    """What was counted already, of corpora too large to keep a row for each segment."""

    counted: Counted
    """The totals of each bucket in the place of segments, and their scores."""
    segments: int


class Request:
    """Systems, metrics and settings, checked. Text is read when it is counted, not before.

    Arguments are those of `compare`.
    """

    test_set: Mapping[str, str] = MappingProxyType({})
    """What signatures say of the published test set that is scored."""
    progress: Progress | None = None
    """Told how far reading and resampling are; None for nobody."""
    language: str | None = None
    """The tag of the text's language, if the user named one."""

    def __init__(
        self,
        systems: Mapping[str, Any] | None,
        references: Any,
        metrics: Any = ("bleu",),
        *,
        testing: Significance | None = None,
        baseline: str | None = None,
        external: ExternalScores | None = None,
        source: Any = None,
        documents: Any = None,
        workers: int = 1,
        buckets: Buckets | None = None,
    ) -> None:
        # The metrics that truebleu computes, and what each was asked for as, if that says more.
        self.metrics = dict(_metrics(metrics))
        named = None if systems is None else _systems(systems)
        # For each system the names of its outputs, of which it has one or, with runs, several.
        self.runs: system_runs.Runs = {}
        if named is not None:
            in_tokens = system_runs.take_tokens(self.metrics)
            named, self.runs = system_runs.expanded("systems", named, tokens=in_tokens)
        external = external or ExternalScores()
        # Scores from elsewhere: by metric and output a number per segment.
        self.given = {
            name: self._of_elsewhere(name, columns, known=named is not None)
            for name, columns in (external.scores or {}).items()
        }
        # Those of which lower is better, by their names if nothing else is said.
        higher = set(_known("higher_is_better", external.higher_is_better, list(self.given)))
        lower = set(_known("lower_is_better", external.lower_is_better, list(self.given)))
        if both := sorted(higher & lower):
            raise ValueError(f"lower_is_better: {both[0]} is in higher_is_better, too")
        by_name = set(filter(registry.lower_is_better, self.given))
        self.lower = frozenset(lower | (by_name - higher))
        if not self.metrics and not self.given:
            raise ValueError("metrics: none at all; name at least one, or give scores")
        # The hypotheses of each output; None where only scores from elsewhere are known.
        self.systems = _only_given(self.given, self.metrics) if named is None else named
        self.buckets = buckets
        if self.metrics and references is None and buckets is None:
            raise ValueError("references: none, and metrics need them")
        if not self.runs:
            self.runs = {name: [name] for name in self.systems}
        # The system that the others are compared with; None if there is only one.
        self.baseline = _baseline(baseline, list(self.runs))
        test = None if testing is None else testing.test
        if system_runs.several(self.runs) and test not in ("ar", "bs", None):
            raise ValueError(f"test: {test} knows nothing of runs; ar and bs do")
        # What metrics said that could not score some system; their scores are left out.
        self.failed: dict[str, str] = {}
        # What the kernel noticed in the text of each output.
        self.seen: dict[str, Summary] = {}
        self.references = references
        self.source = source
        self.documents = documents
        # What segments are labelled with on a page.
        self.labels: Any = None
        if documents is None and testing is not None and testing.resample == "documents":
            raise ValueError("resample: documents, and there are none; name each segment's")
        if (buckets is None) == (testing is not None and testing.resample == "buckets"):
            raise ValueError("resample: buckets are those of truebleu.engines, or of tables")
        # As they were given: their names are those of files.
        self.given_systems = dict(self.systems)
        self.given_references = references
        self.given_source = source
        self.testing = Significance() if testing is None else testing
        self.workers = argument_checks.check_workers(workers)

    def _of_elsewhere(self, name: str, columns: Any, *, known: bool) -> dict[str, Numbers]:
        """The scores of each output by a metric that truebleu does not compute.

        known: whether it is known which systems there are; else the scores tell it.
        """
        outputs = [one for names in self.runs.values() for one in names] if known else None
        if hasattr(columns, "items") and not set(columns) <= set(outputs or ()):
            columns, found = system_runs.expanded(f"scores: {name}", columns)
            for system, names in found.items():
                there = len(self.runs.get(system, names))
                if len(names) != there:
                    raise ValueError(
                        f"scores: {name} has {format_count(len(names), 'run')} of {system}, and "
                        f"there {'are' if there > 1 else 'is'} {there}"
                    )
            if not known:
                self.runs = {**found, **self.runs}
        return given_scores.of_metric(name, columns, outputs)

    def beside(self, source: Any, documents: Any, labels: Any) -> Request:
        """The same with what stands beside the systems, in place of what there was."""
        from copy import copy

        made = copy(self)
        made.systems = dict(self.systems)
        if source is not None:
            made.source = made.given_source = source
        made.documents = self.documents if documents is None else documents
        made.labels = self.labels if labels is None else labels
        return made

    def last(self, *, every: bool = True, on_disk: bool = False) -> None:
        """Makes everything last that is read more than once; see `segments.make_rereadable`."""
        lasting = partial(segments.make_rereadable, copy_all=every, on_disk=on_disk)
        self.systems = {name: lasting(hypotheses) for name, hypotheses in self.systems.items()}
        self.references, self.source = lasting(self.references), lasting(self.source)

    def normalize(self, form: str | None, *, on_disk: bool = False) -> None:
        """Convert the text to a Unicode form, in which a page shows and embeds it."""
        if form is not None:
            from truebleu.text.corpus_inputs import normalize_input

            convert = partial(normalize_input, form)
            self.systems = {name: convert(text) for name, text in self.systems.items()}
            self.references, self.source = convert(self.references), convert(self.source)
            self.last(on_disk=on_disk)

    def count(self, further: Sequence[Metric[Any]] = ()) -> Counted:
        """The counts of `metrics`, and of `further` ones, in one reading."""
        metrics = [*self.metrics, *further]
        if not metrics:
            return {}
        if self.buckets is not None:
            return self.buckets.counted
        if len(self.systems) * len(metrics) > 1:
            self.last(every=False)
        counted = {metric: Counts({}, {}) for metric in metrics}
        failed: FailedMetrics = {}
        for number, (system, hypotheses) in enumerate(self.systems.items()):
            if self.progress is not None:
                self.progress("reading systems", number, len(self.systems))
            try:
                corpus = Corpus(hypotheses, self.references, self.workers, self.source)
                tables, seen = count_scorable(list(counted), corpus, failed, system)
            except MetricFailedError:
                raise
            except (InputError, TypeError) as error:
                raise type(error)(f"{system}: {error}") from None
            for metric in failed.keys() & counted.keys():
                # Not half of its scores.
                del counted[metric]
                self.failed[metric.name] = str(failed[metric])
            for metric, table in zip(counted, tables, strict=True):
                counted[metric].tables[system] = table
                counted[metric].scores[system] = metric.segment_scores(table).tolist()
            self.seen[system] = seen
        self.metrics = {metric: name for metric, name in self.metrics.items() if metric in counted}
        return counted

    @property
    def reference_names(self) -> list[str]:
        """The name of each column of references in messages: that of its file, if it has one."""
        references = self.given_references
        several = isinstance(references, list | tuple) and any(map(segments.is_column, references))
        columns = enumerate(references if several else [references], 1)
        return [
            segments.get_file_name(column) or (f"reference {i}" if several else "references")
            for i, column in columns
        ]

    def drawn(self) -> list[int] | None:
        """The document of each segment, if documents are drawn; None if segments are."""
        if self.testing.resample != "documents":
            return None
        indices: list[int] = self.documents.indices
        return indices

    def warn(self, level: int = 3) -> None:
        """Warns of the metrics that are left out, for those who do not read the notes."""
        import warnings

        for name, said in self.failed.items():
            warnings.warn(f"{name} is left out: {said}", UserWarning, stacklevel=level)

    def segments(self, counted: Counted) -> int:
        """The number of segments, which all systems share."""
        by_metric: list[tuple[str, Mapping[str, Sequence[float]]]] = [*self.given.items()]
        by_metric += [(metric.name, counts.scores) for metric, counts in counted.items()]
        lengths = {
            f"{name}, {system}": len(column)
            for name, columns in by_metric
            for system, column in columns.items()
        }
        expected = list(lengths.values())[-1]
        for what, length in lengths.items():
            if length != expected:
                raise InputError(
                    f"scores: {what} has {format_count(length, 'number')} for "
                    f"{format_count(expected, 'segment')}; give one number per segment"
                )
        if not expected:
            raise InputError("no segments at all; there is nothing to compare")
        return expected

    def missing_text(self) -> str:
        """The reason why text cannot be read again; nothing if it can."""
        if self.buckets is not None:
            return "a comparison of buckets has no text"
        if any(hypotheses is None for hypotheses in self.systems.values()):
            return "a comparison of scores from elsewhere has no text"
        for value in (*self.systems.values(), self.references):
            for item in value if isinstance(value, list | tuple) else [value]:
                if type(item) is File and item.path == "-":
                    return "standard input was read for this comparison, and cannot be read again"
        return ""


def _metrics(wanted: Any) -> Iterator[tuple[Metric[Any], str | None]]:
    known = wanted if hasattr(wanted, "items") else registry.resolve_metrics(wanted)
    for metric, name in known.items():
        if not isinstance(metric, Metric):
            raise TypeError(
                f"metrics: {type(metric).__name__} has no table of statistics to be resampled; "
                "give what it says of each segment as scores"
            )
        if metric.order_matters:
            raise ValueError(
                f"metrics: {metric.order_matters}, so segments cannot be compared one by one"
            )
        yield metric, name


def _systems(systems: Mapping[str, Any]) -> dict[str, Any]:
    if not hasattr(systems, "items"):
        raise TypeError(
            f"systems: expected a mapping from names to hypotheses, "
            f'{{"A": hypotheses_of_a, "B": hypotheses_of_b}}, not {type(systems).__name__}'
        )
    named = dict(systems.items())
    for name in named:
        if not isinstance(name, str) or not name:
            raise TypeError(f"systems: a system's name is a str, not {name!r}")
    if not named:
        raise ValueError("systems: none at all; there is nothing to compare")
    return named


def _only_given(
    given: Mapping[str, Mapping[str, Sequence[float]]], metrics: Mapping[Metric[Any], object]
) -> dict[str, Any]:
    """The systems that are known by scores from elsewhere alone."""
    if metrics:
        raise ValueError("systems: none, and metrics need hypotheses; with metrics=() none need be")
    if not given:
        raise ValueError("systems: none at all; there is nothing to compare")
    (first, columns), *rest = given.items()
    for name, others in rest:
        if set(others) != set(columns):
            odd = min(set(others) ^ set(columns), key=str)
            raise InputError(f"scores: {odd} is in {name} or {first}, but not in both")
    return dict.fromkeys(columns)


def _baseline(baseline: str | None, systems: Sequence[str]) -> str | None:
    if baseline is not None and baseline not in systems:
        raise ValueError(
            f"baseline: no system '{baseline}'{argument_checks.suggest_names(baseline, systems)}"
        )
    if len(systems) == 1:
        return None
    return systems[0] if baseline is None else baseline


def _known(role: str, names: str | Sequence[str], known: Sequence[str]) -> Iterator[str]:
    for name in [names] if isinstance(names, str) else names:
        if name not in known:
            there = argument_checks.suggest_names(name, known) if known else "; there are none"
            raise ValueError(f"{role}: no given scores are called '{name}'{there}")
        yield name


def letters() -> Iterator[str]:
    """A, B, …, Z, AA, AB, …, without Q, which has no raised form in text."""
    from itertools import count, product

    for length in count(1):
        for some in product("ABCDEFGHIJKLMNOPRSTUVWXYZ", repeat=length):
            yield "".join(some)
