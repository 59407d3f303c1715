"""Quality gate for builds, which compares scores with minimum scores and earlier scores.

`CheckJob` builds the dict that `Check.to_dict` returns. Every output format, including JUnit XML
for build servers, is built from that dict.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self, TypedDict, Unpack

from truebleu._kernel import InputError
from truebleu.comparison import Comparison, system_runs
from truebleu.comparison import score_log as log
from truebleu.comparison.check_layout import (
    NO_VALID_SCORE,
    NOT_COMPARABLE,
    add_messages,
    build_check_blocks,
    build_junit,
    convert_check_to_fractions,
)
from truebleu.comparison.comparison_request import Request, Significance, StatisticsByMetric
from truebleu.comparison.history import find_last_comparable_entry, read_earlier_entries
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, MetricFailedError, Score
from truebleu.metrics.text_warnings import list_unranked_systems, raise_text_warnings
from truebleu.rendering.elements import Block
from truebleu.rendering.view import Content, View
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.argument_checks import ParameterError
from truebleu.text.system_names import name_system
from truebleu.text.terminal_layout import format_count

# Maximum number of documents, and of segments, that are listed because their scores got worse.
MAX_LISTED_CHANGES = 5
DEFAULT_LEVEL = 0.95


class Check(View):
    """The result of checking a system's scores. It is true if all conditions hold."""

    __slots__ = ()

    KIND = "check"

    @classmethod
    def from_job(cls, job: CheckJob) -> Self:
        """Run the job and return its result."""
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, **job.build_content()}, job.scale)

    @property
    def passed(self) -> bool:
        """True if there is at least one condition and all conditions hold."""
        conditions = [one["passed"] for one in self._iterate_conditions()]
        return bool(conditions) and all(conditions)

    @property
    def failures(self) -> list[str]:
        """One sentence per condition that does not hold."""
        conditions = self._prepare_for_readers()._iterate_conditions()  # noqa: SLF001
        return [one["message"] for one in conditions if not one["passed"]]

    def _iterate_conditions(self) -> Iterator[Mapping[str, Any]]:
        return (one for metric in self._content["metrics"] for one in metric["conditions"])

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values, with all numbers at full precision.

        system, segments; passed; `earlier`: the names of the log and of the output to compare with,
            or None.
        metrics: name, label, signature, higher_is_better, score, `earlier` (earlier scores by
            source: "log", "output") and `conditions`: kind ("minimum", "max_drop", "significant"),
            passed, limit, measured, and `message`, a sentence.
        worse_documents, worse_segments: the documents (name, segments, score, earlier) and segments
            (number, score, earlier, hypothesis, earlier_hypothesis, references) that got worse by
            `metric`, worst first. Empty if no score is worse than the earlier output's.
        """
        return super().to_dict()

    def junit(self) -> str:
        """Return JUnit XML for build servers, with one test case per condition."""
        return build_junit(self._prepare_for_readers()._content)  # noqa: SLF001

    def _build_blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        return build_check_blocks(self._content, digits, short=short)

    _rescale = staticmethod(convert_check_to_fractions)

    @classmethod
    def _list_systems(cls, content: Content) -> Iterable[str]:
        return filter(None, (content["system"], content["earlier"]["output"]))

    def _format_title(self) -> str:
        return f"{self._content['system']}: {'passed' if self.passed else 'failed'}"


def check(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    *,
    metrics: Sequence[str | Metric] = ("bleu",),
    source: corpus_inputs.Hypotheses | None = None,
    documents: Any = None,
    workers: int = 1,
    scale: int = 100,
    check_text: bool = True,
    **options: Unpack[CheckOptions],
) -> Check:
    """Check whether scores meet conditions. A failed condition does not raise an exception.

    Conditions on metrics for which the text is unsuitable, such as BLEU of tokenized text, fail.

    hypotheses, references: as for `BLEU.score`.
    metrics: names, variants, signatures or metrics, as for `truebleu.metric`.
    minimum: the lowest score that passes; for metrics where lower is better (TER, WER), the
        highest. With several metrics, a mapping from metric name to number.
    max_drop: the largest drop allowed from the earlier score, which is the last score in `log` with
        the same name, signature and references, or otherwise the score of `against`.
    log: a log of scores, as written by `truebleu score --log`.
    name: the name in the log (default: the file name of the hypotheses).
    keep: append the scores to the log if all conditions hold.
    against: an earlier output for the same references. The result lists the documents and segments
        that got worse.
    significant: fail if a score is significantly worse than the score of `against`, by approximate
        randomization with p < 1 - `level`. samples, seed: see `compare`.
    source, documents, workers, check_text: see `compare`.
    scale: scale of the minimum and the drop of percentages such as BLEU, and of displayed scores:
        100 or 1.

    Raises ValueError for invalid conditions, such as one that no output could fail;
    `IncomparableError` (a ValueError) if the log is missing or has no score of this name, signature
    and references; InputError as in `compare`, and for scores that are not finite.

    >>> references = ["the cat is on the mat", "nobody was there"] * 5
    >>> result = check(["the cat is on a mat", "nobody was there"] * 5, references, minimum=70)
    >>> result.passed, result.failures
    (False, ['BLEU 59.69 is below the minimum of 70.'])
    """
    argument_checks.check_options(check, options, CheckOptions)
    conditions: dict[str, Any] = dict(options)
    testing = {name: conditions.pop(name) for name in TESTING_OPTIONS if name in options}
    job = CheckJob(
        Conditions(**conditions),
        hypotheses,
        references,
        metrics,
        source=source,
        documents=documents,
        workers=workers,
        scale=scale,
        **testing,
    )
    result = Check.from_job(job)
    if check_text:
        raise_text_warnings(result.warnings)
    return result


# ---- conditions ----


class ConditionOptions(TypedDict, total=False):
    """The fields of `Conditions`, as keyword arguments of `check`."""

    minimum: float | Mapping[str, float] | None
    max_drop: float | Mapping[str, float] | None
    log: str | os.PathLike[str] | None
    name: str | None
    keep: bool
    against: corpus_inputs.Hypotheses | None
    significant: bool


# The options of `check` that set the significance test.
TESTING_OPTIONS = ("level", "samples", "seed")


class CheckOptions(ConditionOptions, total=False):
    """Keyword arguments of `check`: conditions, and settings of the significance test."""

    level: float
    samples: int | None
    seed: int | None


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions on the scores; see `check`. Raises ValueError for contradictory conditions."""

    minimum: Any = None
    max_drop: Any = None
    log: Any = None
    name: str | None = None
    keep: bool = False
    against: Any = None
    significant: bool = False

    def __post_init__(self) -> None:
        earlier = self.log is not None or self.against is not None
        if self.minimum is None and self.max_drop is None and not self.significant:
            raise ParameterError(
                "no condition given; use [[minimum]], [[max_drop]] or [[significant]]"
            )
        if self.max_drop is not None and not earlier:
            raise ParameterError("[[max_drop]]: no earlier score given; use [[log]] or [[against]]")
        if self.significant and self.against is None:
            raise ParameterError("[[significant]]: no earlier output given; use [[against]]")
        if self.log is not None and self.max_drop is None and not self.keep:
            raise ParameterError("[[log]] has no effect without [[max_drop]] or [[keep]]")
        if self.against is not None and self.max_drop is None and not self.significant:
            raise ParameterError(
                "[[against]] has no effect without [[max_drop]] or [[significant]]"
            )
        if self.log is None and (self.name is not None or self.keep):
            raise ParameterError(
                f"[[{'keep' if self.keep else 'name'}]] has no effect without [[log]]"
            )


class CheckJob:
    """Scores of a system, earlier scores, and the conditions to check.

    system: the system name, if it differs from the file name.
    scale: the scale of limits for percentages, and of the displayed scores, 100 or 1.
    """

    def __init__(
        self,
        conditions: Conditions,
        hypotheses: Any,
        references: Any,
        metrics: Any,
        *,
        system: str | None = None,
        level: float = DEFAULT_LEVEL,
        samples: int | None = None,
        seed: int | None = argument_checks.DEFAULT_SEED,
        scale: int = 100,
        **inputs: Any,
    ) -> None:
        self.scale = scale
        self.conditions = conditions
        if inputs.get("documents") is not None and conditions.against is None:
            raise ParameterError("[[documents]] has no effect without [[against]]")
        self.system = system or name_system(hypotheses) or "this output"
        systems = {self.system: hypotheses}
        self.earlier_name: str | None = None
        if conditions.against is not None:
            name = name_system(conditions.against) or "the earlier output"
            self.earlier_name = name if name != self.system else f"{name} (earlier)"
            systems = {self.earlier_name: conditions.against, **systems}
        testing = Significance(
            test="ar" if conditions.significant else None,
            samples=samples if conditions.significant else None,
            confidence=None,
            level=level,
            seed=seed,
        )
        self.request = Request(systems, references, metrics, testing=testing, **inputs)
        if system_runs.has_several_runs(self.request.runs):
            raise ParameterError("[[hypotheses]]: expected one output, found several runs")
        defaults = {"samples": None, "level": DEFAULT_LEVEL, "seed": argument_checks.DEFAULT_SEED}
        changed = [
            name
            for name, value in {"samples": samples, "level": level, "seed": seed}.items()
            if value != defaults[name]
        ]
        if changed and not conditions.significant:
            raise ParameterError(f"[[{changed[0]}]] has no effect without [[significant]]")
        smallest_p = 1 / (testing.randomizations + 1)
        if conditions.significant and smallest_p >= testing.alpha:
            raise ParameterError(
                f"[[samples]]: {testing.randomizations:,} cannot give a p-value below "
                f"{testing.alpha:.4g} (the smallest is {smallest_p:.2g}). Use more [[samples]], or "
                "a lower [[level]]."
            )
        names = {metric: name or metric.name for metric, name in self.request.metrics.items()}
        # The name of each metric in the results.
        self.metric_names: dict[Metric[Any], str] = {}
        self.minimum = resolve_limits("minimum", conditions.minimum, names, scale)
        self.max_drop = resolve_limits("max_drop", conditions.max_drop, names, scale)

    def build_content(self) -> dict[str, Any]:
        """Return the contents of a `Check`, and append the scores to the log if requested."""
        conditions, request = self.conditions, self.request
        self._reject_identical_inputs()
        # Fail early if the log is missing, before long texts are read.
        log_entries = [] if conditions.log is None else read_earlier_entries(conditions.log)
        if conditions.log is not None:
            request.make_rereadable()
        metric_statistics = request.compute_statistics()
        if request.failure_messages:
            raise MetricFailedError("; ".join(request.failure_messages.values()))
        self._check_segment_count(request.count_segments(metric_statistics))
        comparison = Comparison.from_request(
            request, metric_statistics, by_reference=False
        ).to_dict()
        self.metric_names = {
            metric: one["name"]
            for metric, one in zip(request.metrics, comparison["metrics"], strict=True)
        }
        self._reject_invalid_scores(metric_statistics)
        scores: dict[str, dict[Metric[Any], Score]] = {
            system: {
                metric: metric.from_statistics(counts.tables[system])
                for metric, counts in metric_statistics.items()
            }
            for system in request.systems
        }
        entries: dict[Metric[Any], log.Entry] = {}
        if conditions.log is not None:
            entries = self._build_log_entries(scores[self.system], comparison["segments"])
        metrics: list[dict[str, Any]] = []
        listing_metric: Metric[Any] | None = None
        for metric in self.metric_names:
            earlier: dict[str, Any] = {"log": None, "output": None}
            if metric in entries and metric in self.max_drop:
                earlier["log"] = _find_logged_score(conditions.log, log_entries, entries[metric])
            if self.earlier_name is not None:
                earlier["output"] = {"score": scores[self.earlier_name][metric].value}
            score = scores[self.system][metric]
            entry = self._describe_metric(metric, score, earlier, comparison)
            has_fallen = any(
                not one["passed"] and one["kind"] != "minimum" for one in entry["conditions"]
            )
            if listing_metric is None and has_fallen and self.earlier_name is not None:
                listing_metric = metric
            metrics.append(entry)
        passed = all(one["passed"] for each in metrics for one in each["conditions"])
        if conditions.keep and passed:
            log.append_log_entries(os.fspath(conditions.log), entries.values())
        worse: dict[str, list[Any]] = {"worse_documents": [], "worse_segments": []}
        if listing_metric is not None:
            documents = self._find_worse_documents(comparison, listing_metric)
            texts = self._find_worse_segments(metric_statistics, listing_metric)
            worse = {"worse_documents": list(documents), "worse_segments": list(texts)}
        warnings = comparison.get("warnings")
        return {
            "system": self.system,
            **({"warnings": warnings} if warnings else {}),
            "segments": comparison["segments"],
            "passed": passed,
            "earlier": {
                "log": None if conditions.log is None else os.fspath(conditions.log),
                "output": self.earlier_name,
            },
            "metrics": metrics,
            "metric": listing_metric and self.metric_names[listing_metric],
            **worse,
        }

    def _reject_invalid_scores(self, metric_statistics: StatisticsByMetric) -> None:
        """Raise InputError for a score that is not finite, or that is based on empty texts."""
        for metric, name in self.metric_names.items():
            for system, table in metric_statistics[metric].tables.items():
                score = metric.from_statistics(table).value
                if not (isfinite(score) and any(*table.sum().tolist())):
                    shown_value = "no text" if isfinite(score) else f"{score:g}"
                    raise InputError(
                        f"{system}: invalid {name} (expected a finite score, found {shown_value})"
                    )

    def _describe_metric(
        self, metric: Metric[Any], score: Score, earlier: Mapping[str, Any], comparison: Any
    ) -> dict[str, Any]:
        """Return the entry of a metric, with a message for each condition.

        Conditions on unreliable scores fail.
        """
        name, value, lower = self.metric_names[metric], score.value, metric.lower_is_better
        unreliable_systems = list_unranked_systems(comparison.get("warnings", ()), name)
        is_reliable = self.system not in unreliable_systems
        is_comparable = unreliable_systems.isdisjoint((self.system, self.earlier_name))
        # The kind, result, limit and measured value of each condition, and the message if the
        # scores are unreliable.
        results: list[tuple[str, bool, float, float, str]] = []
        if metric in self.minimum:
            minimum = self.minimum[metric]
            passed = is_reliable and (value <= minimum if lower else value >= minimum)
            message = "" if is_reliable else f"{name} {NO_VALID_SCORE}"
            results.append(("minimum", passed, minimum, value, message))
        if metric in self.max_drop:
            before = earlier["output" if earlier["log"] is None else "log"]["score"]
            drop = value - before if lower else before - value
            has_valid_drop = is_comparable if earlier["log"] is None else is_reliable
            passed = has_valid_drop and drop <= self.max_drop[metric]
            message = "" if has_valid_drop else f"{name} {NOT_COMPARABLE}"
            results.append(("max_drop", passed, self.max_drop[metric], drop, message))
        if self.conditions.significant:
            (own,) = (one["scores"] for one in comparison["systems"] if one["name"] == self.system)
            difference = own[name]["difference"]
            is_worse = difference["value"] > 0 if lower else difference["value"] < 0
            passed = is_comparable and not (is_worse and difference["significant"])
            message = "" if is_comparable else f"{name} {NOT_COMPARABLE}"
            alpha = self.request.testing.alpha
            results.append(("significant", passed, alpha, difference["p"], message))
        keys = ("kind", "passed", "limit", "measured", "message")
        entry = {
            "name": name,
            "label": score.name,
            "signature": str(score.signature.with_test_set(self.request.test_set)),
            "higher_is_better": not lower,
            "percentage": metric.is_percentage,
            "score": value,
            "earlier": earlier,
            "conditions": [dict(zip(keys, result, strict=True)) for result in results],
        }
        return add_messages(entry, self.earlier_name)

    def _reject_identical_inputs(self) -> None:
        columns = [
            column
            for _, column in segments.label_reference_columns(self.request.original_references)
        ]
        hypotheses = self.request.original_systems[self.system]
        for role, other_inputs in (("against", [self.conditions.against]), ("references", columns)):
            if any(_is_same_input(hypotheses, other) for other in other_inputs):
                raise ParameterError(f"[[{role}]]: {self.system} is also the output to check")

    def _check_segment_count(self, count: int) -> None:
        """Raise ValueError if the number of segments is too small for any significant difference.

        Swapping all segments, or none, always gives a difference as large as the observed one.
        """
        alpha = self.request.testing.alpha
        if self.conditions.significant and 2.0 ** (1 - count) >= alpha:
            raise ParameterError(
                f"[[significant]]: {format_count(count, 'segment')} cannot show a significant "
                f"difference (the smallest p-value is {2.0 ** (1 - count):.2g}, not < {alpha:.4g})"
            )

    def _build_log_entries(
        self, scores: Mapping[Metric[Any], Score], segment_count: int
    ) -> dict[Metric[Any], log.Entry]:
        request = self.request
        columns = [
            column for _, column in segments.label_reference_columns(request.original_references)
        ]
        hashes = map(segments.hash_texts, segments.read_reference_streams(request.references))
        references = []
        for i, digest in enumerate(hashes):
            column = columns[i] if i < len(columns) else None
            references.append(log.Input(_get_input_path(column, f"reference {i + 1}"), digest))
        hypotheses = segments.read_texts("hypotheses", request.systems[self.system])
        hypothesis = log.Input(
            _get_input_path(request.original_systems[self.system], self.system),
            segments.hash_texts(hypotheses),
        )
        time = log.get_log_time()
        return {
            metric: log.Entry(
                time=time,
                name=self.conditions.name,
                system=self.system,
                metric=score.name,
                score=score.value,
                signature=str(score.signature.with_test_set(request.test_set)),
                segments=segment_count,
                hypothesis=hypothesis,
                references=tuple(references),
            )
            for metric, score in scores.items()
        }

    def _find_worse_documents(
        self, comparison: Mapping[str, Any], metric: Metric[Any]
    ) -> Iterator[dict[str, Any]]:
        sign, name = -1 if metric.lower_is_better else 1, self.metric_names[metric]
        worse_documents = []
        for document in comparison["documents"] or ():
            score, earlier = (document["scores"][name][s] for s in (self.system, self.earlier_name))
            if sign * (score - earlier) < 0:
                entry = {"name": document["name"], "segments": document["segments"]}
                worse_documents.append({**entry, "score": score, "earlier": earlier})
        worse_documents.sort(key=lambda one: sign * (one["score"] - one["earlier"]))
        yield from worse_documents[:MAX_LISTED_CHANGES]

    def _find_worse_segments(
        self, metric_statistics: StatisticsByMetric, metric: Metric[Any]
    ) -> Iterator[dict[str, Any]]:
        """Yield the segments whose scores got worse, largest change first."""
        system_names = (self.system, self.earlier_name or "")
        now, before = (metric_statistics[metric].scores[system] for system in system_names)
        sign = -1 if metric.lower_is_better else 1
        change = [sign * (x - y) for x, y in zip(now, before, strict=True)]
        worst = sorted((i for i, value in enumerate(change) if value < 0), key=change.__getitem__)
        texts: dict[int, list[Any]] = {i: [] for i in worst[:MAX_LISTED_CHANGES]}
        systems, references = self.request.systems, self.request.references
        if not self.request.explain_missing_text():
            for system in system_names:
                for i, pair in enumerate(segments.iter_segments(systems[system], references)):
                    if i in texts:
                        texts[i].append(pair)
        for i, pairs in texts.items():
            # Texts from standard input cannot be read again, so they are missing here.
            (hypothesis, refs), (earlier, _) = pairs or ((None, []), (None, []))
            yield {
                "number": i + 1,
                "score": now[i],
                "earlier": before[i],
                "hypothesis": hypothesis,
                "earlier_hypothesis": earlier,
                "references": [one for one in refs if one is not None],
            }


def _find_logged_score(path: Any, entries: Sequence[log.Entry], entry: log.Entry) -> dict[str, Any]:
    earlier_entry = find_last_comparable_entry(path, entries, entry)
    return {
        "score": earlier_entry.score,
        "time": earlier_entry.to_dict()["time"],
        "note": earlier_entry.note,
        "same_output": earlier_entry.hypothesis.sha256 == entry.hypothesis.sha256,
    }


def _get_input_path(texts: Any, default_path: str) -> str:
    return str(segments.as_file(texts).path) if segments.is_file(texts) else default_path


def _is_same_input(first_input: Any, second_input: Any) -> bool:
    """Return whether two inputs are the same object, or the same column of the same file."""
    if not (segments.is_file(first_input) and segments.is_file(second_input)):
        return first_input is second_input
    first_file, second_file = map(segments.as_file, (first_input, second_input))
    if first_file.column != second_file.column or not (
        os.path.exists(first_file.path) and os.path.exists(second_file.path)
    ):
        return first_file is second_file
    return os.path.samefile(first_file.path, second_file.path)


# ---- limits ----

# Drops larger than this on the 0-1 scale are probably meant for the 0-100 scale.
MAX_FRACTIONAL_DROP = 0.1


def resolve_limits(
    role: str, limits: Any, names: Mapping[Metric[Any], str], scale: int
) -> dict[Metric[Any], float]:
    """Return the limit of each metric that has one, on the scale of the metric.

    role: "minimum" or "max_drop". names: the names of the checked metrics, by metric.
    scale: the scale of limits for percentages, 100 or 1.

    Raises ParameterError for a limit that is on the wrong scale or that no output can fail.
    """
    resolved_limits = {}
    for metric, limit in _match_limits_to_metrics(role, limits, names).items():
        if metric.is_percentage:
            _check_scale_of_limit(role, limit, metric, names[metric], scale)
            # Rounding prevents limits such as 28.999999999999996.
            limit = round(100 * limit, 10) if scale == 1 else limit  # noqa: PLW2901
        best, worst = 0.0 if metric.lower_is_better else metric.bound, metric.WORST
        has_no_effect = worst is not None and (
            best is not None and limit >= abs(best - worst)
            if role == "max_drop"
            else (limit >= worst if metric.lower_is_better else limit <= worst)
        )
        if role == "max_drop" and limit < 0:
            raise ParameterError(
                f"[[max_drop]]: invalid drop for {names[metric]} (expected 0 or more, found "
                f"{limit:g})"
            )
        if has_no_effect:
            facts, remedy = (
                (f"the worst score is {worst:g}", "Use a stricter limit.")
                if role == "minimum"
                else (f"scores are from {worst:g} to {best:g}", "Allow a smaller drop.")
            )
            raise ParameterError(
                f"[[{role}]]: no output can fail a limit of {limit:g} for {names[metric]} "
                f"({facts}). {remedy}"
            )
        resolved_limits[metric] = limit
    return resolved_limits


def _check_scale_of_limit(
    role: str, limit: float, metric: Metric[Any], name: str, scale: int
) -> None:
    """Raise ParameterError if the limit for a percentage is probably on the other scale."""
    if scale == 100 and role == "minimum" and 0 < limit < 1 and not metric.lower_is_better:
        raise ParameterError(
            f"[[minimum]]: {limit:g} is too low for {name} on the 0-100 scale. Use "
            f"{100 * limit:g}, or add [[scale]] 1 to use the 0-1 scale"
        )
    max_minimum = 10 if metric.lower_is_better else 1  # error rates may exceed 1
    if scale == 1 and (limit >= MAX_FRACTIONAL_DROP if role == "max_drop" else limit > max_minimum):
        raise ParameterError(
            f"[[{role}]]: {limit:g} is too large for {name} on the 0-1 scale of [[scale]] 1 (it is "
            f"{100 * limit:g} on the 0-100 scale). Use {limit / 100:g}, or omit [[scale]] 1"
        )


def _match_limits_to_metrics(
    role: str, limits: Any, names: Mapping[Metric[Any], str]
) -> dict[Metric[Any], float]:
    if limits is None:
        return {}
    if hasattr(limits, "items") and not limits:
        raise ParameterError(f"[[{role}]]: expected a number for at least one metric")
    if not hasattr(limits, "items"):
        if len(names) > 1:
            hint = ", ".join(f"{name}=…" for name in names.values())
            raise ParameterError(f"[[{role}]]: expected one number per metric, such as {hint}")
        return {metric: _parse_limit(role, limits) for metric in names}
    resolved_limits = {}
    for metric_name, value in limits.items():
        key = str(metric_name).casefold()
        matching_metrics = [metric for metric, name in names.items() if key == name.casefold()]
        if not matching_metrics:
            try:
                named_metrics = registry.resolve_metrics([metric_name])
            except ValueError:
                named_metrics = {}
            matching_metrics = [metric for metric in names if metric in named_metrics]
        if not matching_metrics:
            hint = argument_checks.suggest_names(metric_name, list(names.values()))
            raise ParameterError(
                f"[[{role}]]: metric '{metric_name}' is not among the metrics{hint}"
            )
        if len(matching_metrics) > 1:
            raise ParameterError(
                f"[[{role}]]: '{metric_name}' is ambiguous ({len(matching_metrics)} metrics). "
                "Use longer names."
            )
        if matching_metrics[0] in resolved_limits:
            raise ParameterError(
                f"[[{role}]]: two numbers for {names[matching_metrics[0]]}. Pass only one"
            )
        resolved_limits[matching_metrics[0]] = _parse_limit(role, value)
    return resolved_limits


def _parse_limit(role: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e100:
        raise ParameterError(f"[[{role}]]: expected a number, found {value!r:.40}")
    return float(value)
