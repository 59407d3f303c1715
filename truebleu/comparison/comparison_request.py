"""The request for a comparison: systems, references, metrics, external scores, and test settings.

A `Request` holds the checked arguments for comparisons, reports and the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from truebleu._kernel import InputError, TokenIds
from truebleu.comparison import external_scores as given_scores
from truebleu.comparison import system_runs
from truebleu.metrics import registry
from truebleu.metrics.base import Corpus, Metric, MetricFailedError, Signature
from truebleu.metrics.joint_counting import compute_statistics_or_errors
from truebleu.metrics.scores import Statistics
from truebleu.significance import CORRECTIONS, RANDOMIZATIONS, RESAMPLES
from truebleu.text import argument_checks, segments
from truebleu.text.corpus_inputs import has_ids, recognize_single_column
from truebleu.text.segments import File
from truebleu.text.system_names import ShortNames, find_system
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.comparison.external_scores import ScoreColumn
    from truebleu.metrics.joint_counting import FailedMetrics

StatisticsByMetric = Mapping[Metric[Any], "MetricStatistics"]
# Progress callbacks receive the name of the step, the amount done, and the total, if known.
Progress = Callable[[str, int, int | None], None]

TESTS = {
    "ar": "paired approximate randomization",
    "bs": "paired bootstrap, centred",
    "bs-sacrebleu": "sacreBLEU's paired bootstrap",
    "koehn": "paired bootstrap, win ratio",
}
# Names of corrections for multiple comparisons, in table headers and in sentences.
CORRECTION_TITLES = {"holm": "Holm", "bh": "BH"}
CORRECTION_METHODS = {"holm": "Holm's method", "bh": "the method of Benjamini and Hochberg"}
# Parts of the test set for which text and tables can show separate scores.
TEST_SET_PARTS = ("document", "reference")
# Orders of systems in tables: by the score of the first metric, or as the user gave them.
SYSTEM_ORDERS = ("rank", "given")
# Units that are resampled and swapped as a whole. Buckets are groups of segments that have only
# aggregated statistics (`truebleu.engines`).
RESAMPLING_UNITS = ("segments", "documents", "buckets")


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
        argument_checks.check_choice("resample", self.resample, RESAMPLING_UNITS)
        if self.resample != "segments" and self.test == "bs-sacrebleu":
            raise ValueError("resample: test 'bs-sacrebleu' supports only 'segments'")
        test, samples, confidence = self.test, self.samples, self.confidence
        argument_checks.check_choice("test", test, (None, *TESTS))
        argument_checks.check_choice("correction", self.correction, (None, *CORRECTIONS))
        if test is None and samples is not None:
            raise argument_checks.ParameterError("[[samples]] has no effect without a test")
        if test is None and self.correction is not None:
            raise argument_checks.ParameterError("[[correction]] has no effect without a test")
        for name, number in (("samples", samples), ("confidence", confidence)):
            if number is not None:
                argument_checks.check_integer(name, number, 1)
        if test != "ar" and samples is not None and confidence not in (None, RESAMPLES, samples):
            raise ValueError(
                f"samples={samples} and confidence={confidence}: a bootstrap test and its "
                "intervals share resamples. Pass equal numbers, or only one."
            )
        argument_checks.check_confidence_level(self.level)
        object.__setattr__(self, "seed", argument_checks.check_seed(self.seed))
        if confidence is not None:
            object.__setattr__(self, "confidence", self.resamples)

    @property
    def randomizations(self) -> int:
        """The number of trials of approximate randomization."""
        return self.samples or RANDOMIZATIONS

    @property
    def resamples(self) -> int:
        """The number of bootstrap resamples, for a test or for intervals."""
        return (self.test != "ar" and self.samples) or self.confidence or RESAMPLES

    @property
    def alpha(self) -> float:
        """The significance level: differences with a smaller p-value are significant."""
        return round(1 - self.level, 12)

    def extend_signature(self, signature: Signature, *, is_tested: bool) -> Signature:
        """Return the signature with the numbers of resamples and randomizations, and the seed."""
        test = self.test if is_tested else None
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
    """The fields of `Significance`, as keyword arguments of `compare` and `report`."""

    test: str | None
    samples: int | None
    confidence: int | None
    level: float
    seed: int | None
    correction: str | None
    resample: str


class ComparisonOptions(SignificanceOptions, total=False):
    """Keyword arguments of `compare` that `report` also accepts."""

    metrics: Sequence[str | Metric[Any]]
    baseline: str | None
    order: str
    scores: Mapping[str, Any] | None
    lower_is_better: Sequence[str]
    higher_is_better: Sequence[str]


class ExternalScores(NamedTuple):
    """Scores of metrics that truebleu does not compute; see `compare` for the parameters."""

    scores: Mapping[str, Any] | None = None
    lower_is_better: str | Sequence[str] = ()
    higher_is_better: str | Sequence[str] = ()


class MetricStatistics(NamedTuple):
    """The statistics and segment scores of one metric, by system."""

    tables: dict[str, Statistics]
    scores: dict[str, Sequence[float]]


class Buckets(NamedTuple):
    """Statistics of corpora too large for one row per segment, aggregated in hash buckets."""

    statistics: StatisticsByMetric
    """Aggregated statistics and scores, one row per bucket."""
    segments: int


class Request:
    """Validated systems, metrics and settings. Texts are not read until they are scored.

    The arguments are the same as for `compare`.
    """

    test_set: Mapping[str, str] = MappingProxyType({})
    """Signature fields that identify the published test set."""
    progress: Progress | None = None
    """Callback for the progress of reading and resampling, or None."""
    language: str | None = None
    """The language tag of the texts, if the user gave one."""

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
        order: str = "rank",
    ) -> None:
        """Check the arguments, which are the same as for `compare`.

        references: `Buckets` instead of references for statistics that were already aggregated.
        """
        argument_checks.check_choice("order", order, SYSTEM_ORDERS)
        self.order = order
        self.testing = testing or Significance()
        self.buckets = references if isinstance(references, Buckets) else None
        # Metrics that truebleu computes, with the requested name if it is more specific.
        self.metrics = registry.distinguish_metrics(dict(_resolve_metrics(metrics)))
        in_tokens = all(getattr(metric, "tokenize", None) == "none" for metric in self.metrics)
        outputs = None if systems is None else _check_systems(systems, references, in_tokens)
        # The output names of each system: one name, or one name per run.
        self.runs: system_runs.Runs = {}
        if outputs is not None:
            outputs, self.runs = system_runs.split_systems_into_runs(
                "systems", outputs, accepts_tokens=in_tokens
            )
            texts = outputs.values()
            self.metrics = {one.adapt_to_inputs(*texts): self.metrics[one] for one in self.metrics}
        self._read_all_external_scores(external or ExternalScores(), outputs)
        # The hypotheses of each output; None for systems that only have external scores.
        self.systems = self._list_external_systems() if outputs is None else outputs
        if not self.runs:
            self.runs = {name: [name] for name in self.systems}
        names = list(self.runs)
        baseline = names[0] if baseline is None else find_system(baseline, names, "baseline")
        # The system that the others are compared with; None for a single system.
        self.baseline = None if len(names) == 1 else baseline
        # Error messages of metrics that could not score a system; the scores of these metrics are
        # left out.
        self.failure_messages: dict[str, str] = {}
        # The kernel's observations about the text of each output.
        self.text_summaries: dict[str, Summary] = {}
        self.references = None if self.buckets else references
        self.source = None if source is None else recognize_single_column("source", source)
        self.documents = documents
        # Segment labels for a report.
        self.labels: Any = None
        # Keep the original arguments, because messages quote their file names.
        self.original_systems = dict(self.systems)
        self.original_references = self.references
        self.original_source = source
        self.workers = argument_checks.check_workers(workers)
        self._check_settings()

    @classmethod
    def from_options(
        cls, systems: Any, references: Any, options: Mapping[str, Any], **inputs: Any
    ) -> Request:
        """Return a request from the keyword arguments of `compare` (`ComparisonOptions`)."""
        testing, external = (
            {name: options[name] for name in names if name in options}
            for names in (SignificanceOptions.__annotations__, ExternalScores._fields)
        )
        others = {name: options[name] for name in options if name not in {*testing, *external}}
        return cls(
            systems,
            references,
            testing=Significance(**testing),
            external=ExternalScores(**external),
            **others,
            **inputs,
        )

    def _check_settings(self) -> None:
        test, resample = self.testing.test, self.testing.resample
        if self.metrics and self.references is None and self.buckets is None:
            raise ValueError("references: the metrics need references")
        if system_runs.has_several_runs(self.runs) and test not in ("ar", "bs", None):
            raise ValueError(f"test: '{test}' does not support multiple runs; use 'ar' or 'bs'")
        if self.documents is None and resample == "documents":
            raise ValueError("resample: 'documents' needs the document of each segment")
        if (self.buckets is None) == (resample == "buckets"):
            raise ValueError(
                "resample: use 'buckets' only for statistics from truebleu.engines, not for texts"
            )

    def _read_all_external_scores(self, external: ExternalScores, outputs: Any) -> None:
        scores = {} if external.scores is None else external.scores
        if not hasattr(scores, "items"):
            raise TypeError(
                'scores: expected a mapping such as {"COMET": {"A": [0.8, 0.7], "B": [0.9, 0.8]}}, '
                f"found {scores!r:.40}"
            )
        computed_names = {name or metric.name for metric, name in self.metrics.items()}
        for name in scores:
            if name in computed_names:
                raise ValueError(f"scores: duplicate metric name '{name}'. Rename these scores.")
        self.external_scores = {
            name: self._read_external_scores(name, columns, are_systems_known=outputs is not None)
            for name, columns in scores.items()
        }
        # The options override the direction that a metric name implies.
        higher_names, lower_names = (
            [names]
            if isinstance(names, str)
            else argument_checks.check_sequence(role, names, "names of scores")
            for role, names in (
                ("higher_is_better", external.higher_is_better),
                ("lower_is_better", external.lower_is_better),
            )
        )
        for role, names in (("higher_is_better", higher_names), ("lower_is_better", lower_names)):
            for name in names:
                if name not in self.external_scores:
                    hint = "; none are available"
                    if self.external_scores:
                        hint = argument_checks.suggest_names(name, list(self.external_scores))
                    raise ValueError(f"{role}: no scores are named '{name}'{hint}")
        if conflicting_names := sorted({*higher_names} & {*lower_names}):
            raise ValueError(f"lower_is_better: {conflicting_names[0]} is also in higher_is_better")
        implied_lower_names = set(filter(registry.lower_is_better, self.external_scores))
        self.lower_is_better = frozenset(lower_names) | (implied_lower_names - {*higher_names})
        if not self.metrics and not self.external_scores:
            raise ValueError("metrics: expected at least one metric, or scores")

    def _read_external_scores(
        self, name: str, columns: Any, *, are_systems_known: bool
    ) -> dict[str, ScoreColumn]:
        """Return the scores of each output by a metric that truebleu does not compute.

        are_systems_known: False to use the systems that the scores name.
        """
        outputs = (
            [one for names in self.runs.values() for one in names] if are_systems_known else None
        )
        if hasattr(columns, "items") and not set(columns) <= set(outputs or ()):
            columns, runs = system_runs.split_systems_into_runs(f"scores: {name}", columns)
            for system, names in runs.items():
                expected_run_count = len(self.runs.get(system, names))
                if len(names) != expected_run_count:
                    raise ValueError(
                        f"scores: {name}: expected {format_count(expected_run_count, 'run')} of "
                        f"{system}, found {len(names)}"
                    )
            if not are_systems_known:
                self.runs = {**runs, **self.runs}
        return given_scores.read_metric_scores(name, columns, outputs)

    def _list_external_systems(self) -> dict[str, Any]:
        """Return a dict that maps the systems in external scores to None instead of hypotheses."""
        if self.metrics:
            raise ValueError(
                "systems: the metrics need hypotheses. To compare only scores, use metrics=()."
            )
        if not self.external_scores:
            raise ValueError("systems: expected at least one system")
        (first, columns), *rest = self.external_scores.items()
        for name, other_columns in rest:
            if set(other_columns) != set(columns):
                odd = min(set(other_columns) ^ set(columns), key=str)
                raise InputError(f"scores: system '{odd}' is in only one of {first} and {name}")
        return dict.fromkeys(columns)

    def with_inputs(self, source: Any, documents: Any, labels: Any) -> Request:
        """Return a copy with new sources, documents and labels. None keeps the current ones."""
        from copy import copy

        request = copy(self)
        request.systems = dict(self.systems)
        if source is not None:
            request.source = recognize_single_column("source", source)
            request.original_source = source
        request.documents = self.documents if documents is None else documents
        request.labels = self.labels if labels is None else labels
        return request

    def shorten_system_names(self) -> str:
        """Shorten the system names for display. Return a note with the full form of one name.

        The systems must not have several runs.
        """
        short_names = ShortNames(self.runs)
        self.runs = {one: [one] for one in map(short_names.shorten, self.runs)}
        self.systems, self.original_systems, self.text_summaries = (
            {short_names.shorten(name): value for name, value in by_name.items()}
            for by_name in (self.systems, self.original_systems, self.text_summaries)
        )
        self.external_scores = {
            metric: {short_names.shorten(name): column for name, column in columns.items()}
            for metric, columns in self.external_scores.items()
        }
        self.baseline = self.baseline and short_names.shorten(self.baseline)
        return short_names.note

    def make_rereadable(self, *, copy_all: bool = True, on_disk: bool = False) -> None:
        """Make the inputs rereadable; see `segments.make_rereadable`."""
        to_rereadable = partial(segments.make_rereadable, copy_all=copy_all, on_disk=on_disk)
        self.systems = {name: to_rereadable(text) for name, text in self.systems.items()}
        self.references, self.source = to_rereadable(self.references), to_rereadable(self.source)

    def normalize_texts(self, form: str | None, *, on_disk: bool = False) -> None:
        """Convert the texts to a Unicode normalization form, for use in a report."""
        if form is not None:
            from truebleu.text.corpus_inputs import normalize_input

            convert = partial(normalize_input, form)
            self.systems = {name: convert(text) for name, text in self.systems.items()}
            self.references, self.source = convert(self.references), convert(self.source)
            self.make_rereadable(on_disk=on_disk)

    def compute_statistics(self, extra_metrics: Sequence[Metric[Any]] = ()) -> StatisticsByMetric:
        """Return the statistics of `metrics` and `extra_metrics`, reading each text once."""
        metrics = [*self.metrics, *extra_metrics]
        if not metrics:
            return {}
        if self.buckets is not None:
            return self.buckets.statistics
        if len(self.systems) * len(metrics) > 1:
            self.make_rereadable(copy_all=False)
        statistics = {metric: MetricStatistics({}, {}) for metric in metrics}
        failed: FailedMetrics = {}
        for number, (system, hypotheses) in enumerate(self.systems.items()):
            if self.progress is not None:
                self.progress("reading systems", number, len(self.systems))
            try:
                corpus = Corpus(hypotheses, self.references, self.workers, self.source)
                tables, summary = compute_statistics_or_errors(
                    list(statistics), corpus, failed, system
                )
            except MetricFailedError:
                raise
            except (InputError, TypeError) as error:
                raise type(error)(f"{system}: {error}") from None
            for metric in failed.keys() & statistics.keys():
                # Scores of only some systems would be misleading.
                del statistics[metric]
                self.failure_messages[metric.name] = str(failed[metric])
            for metric, table in zip(statistics, tables, strict=True):
                statistics[metric].tables[system] = table
                statistics[metric].scores[system] = metric.segment_scores(table).tolist()
            self.text_summaries[system] = summary
        self.metrics = {one: name for one, name in self.metrics.items() if one in statistics}
        return statistics

    def get_document_indices(self) -> list[int] | None:
        """Return the document index of each segment if documents are resampled, otherwise None."""
        if self.testing.resample != "documents":
            return None
        indices: list[int] = self.documents.indices
        return indices

    def warn_about_failures(self) -> None:
        """Warn about each metric that is left out of the comparison, giving the reason."""
        import warnings

        for name, message in self.failure_messages.items():
            warnings.warn(f"{name} is left out: {message}", UserWarning, stacklevel=3)

    def count_segments(self, metric_statistics: StatisticsByMetric) -> int:
        """Return the number of segments, which is the same for all systems."""
        by_metric: list[tuple[str, Mapping[str, Sequence[float]]]] = [*self.external_scores.items()]
        by_metric += [(metric.name, counts.scores) for metric, counts in metric_statistics.items()]
        lengths = {
            f"{name}, {system}": len(column)
            for name, columns in by_metric
            for system, column in columns.items()
        }
        expected = list(lengths.values())[-1]
        for column_name, length in lengths.items():
            if length != expected:
                raise InputError(
                    f"scores: {column_name}: expected one number per segment "
                    f"({expected:,}), found {length:,}"
                )
        if not expected:
            raise InputError("there are no segments to compare")
        return expected

    def explain_missing_text(self) -> str:
        """Return the reason why the texts cannot be read again, or an empty string."""
        if self.buckets is not None:
            return "a comparison of buckets has no text"
        if any(hypotheses is None for hypotheses in self.systems.values()):
            return "a comparison of external scores has no text"
        for value in (*self.systems.values(), self.references):
            for item in value if isinstance(value, list | tuple) else [value]:
                if type(item) is File and item.path == "-":
                    return "standard input cannot be read twice"
        return ""


def _resolve_metrics(requested: Any) -> Iterator[tuple[Metric[Any], str | None]]:
    named_metrics = (
        requested if hasattr(requested, "items") else registry.resolve_metrics(requested)
    )
    for metric, name in named_metrics.items():
        if not isinstance(metric, Metric):
            raise TypeError(
                f"metrics: {type(metric).__name__} does not provide statistics for resampling. "
                "Pass its segment scores as scores."
            )
        if metric.order_dependence_reason:
            raise ValueError(
                f"metrics: {metric.order_dependence_reason}, so segments cannot be compared "
                "individually"
            )
        yield metric, name


def _check_systems(
    systems: Mapping[str, Any], references: Any, accepts_tokens: bool
) -> dict[str, Any]:
    if not hasattr(systems, "items"):
        hint = ". Are the systems and references swapped? The systems come first"
        raise TypeError(
            "systems: expected a mapping from names to hypotheses, "
            f'{{"A": hypotheses_of_a, "B": hypotheses_of_b}}, found {type(systems).__name__}'
            f"{hint if hasattr(references, 'items') else ''}"
        )
    checked_systems = dict(systems.items())
    for name, value in checked_systems.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"systems: expected non-empty strings as names, found {name!r}")
        if not (accepts_tokens or isinstance(value, TokenIds)) and has_ids(value):
            raise TypeError(
                f"systems: {name}: expected text, found integers. Convert token ids, also of the "
                "references, with tb.token_ids(...)"
            )
    if not checked_systems:
        raise ValueError("systems: expected at least one system")
    return checked_systems


def assign_system_letters(names: Sequence[str]) -> list[str]:
    """Return the letter of each system: A, B, …, Z, AA, AB, …, in the order of the systems.

    Q is left out, because it has no superscript form in Unicode. A system whose name is one of
    these letters keeps it, so that no letter is the name of another system.

    >>> assign_system_letters(["cedar", "birch"]), assign_system_letters(["B", "large", "a"])
    (['A', 'B'], ['B', 'C', 'A'])
    """
    from itertools import count, islice, product

    letters = (
        "".join(combination)
        for length in count(1)
        for combination in product("ABCDEFGHIJKLMNOPRSTUVWXYZ", repeat=length)
    )
    unused = list(islice(letters, len(names)))
    letters_by_name: dict[str, str] = {}
    for name in names:
        if name.upper() in unused:
            letters_by_name[name] = name.upper()
            unused.remove(name.upper())
    return [letters_by_name.get(name) or unused.pop(0) for name in names]
