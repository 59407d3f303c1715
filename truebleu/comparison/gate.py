"""A gate for builds: is a score below its floor, or worse than an earlier one by too much?

`Scoring` makes the dict that `Check.to_dict` gives, which is the contract. Every format, and the
XML that build servers read, is made of that dict alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, Self, TypedDict, Unpack
from xml.etree import ElementTree as ET

from truebleu._kernel import InputError
from truebleu.comparison import Comparison
from truebleu.comparison import score_log as log
from truebleu.comparison.comparison_request import Request, Significance, StatisticsByMetric
from truebleu.comparison.history import find_last_comparable, read_earlier_entries
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, MetricFailedError, Score, Signature
from truebleu.rendering.elements import Block, Cell, Heading, Paragraph, Table, build_warnings
from truebleu.rendering.number_format import NumberFormatter, fixed_formatter, signed_formatter
from truebleu.rendering.view import Content, View
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.terminal_layout import escape_invisible, format_count

# How many documents and segments are named that fell.
MAX_LISTED_CHANGES = 5
DEFAULT_LEVEL = 0.95
# How many characters of a text are shown.
MAX_TEXT_LENGTH = 70
# What JUnit calls a condition, with its limit.
JUNIT_NAMES = {
    "floor": "{metric} is no worse than {limit:g}",
    "drop": "{metric} is at most {limit:g} worse than before",
    "chance": "{metric} is not worse by more than chance makes",
}


class Check(View):
    """What was asked of a system's scores, and whether it holds. `bool(check)` says whether."""

    __slots__ = ()

    KIND = "check"

    @classmethod
    def from_job(cls, job: CheckJob) -> Self:
        """The check that was asked for."""
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, **job.build_content()})

    @property
    def passed(self) -> bool:
        """True if all conditions hold, and there is one at least."""
        conditions = [one["passed"] for one in self._iterate_conditions()]
        return bool(conditions) and all(conditions)

    @property
    def failures(self) -> list[str]:
        """A sentence for each thing that does not hold."""
        return [one["message"] for one in self._iterate_conditions() if not one["passed"]]

    def _iterate_conditions(self) -> Iterator[Mapping[str, Any]]:
        return (one for metric in self._content["metrics"] for one in metric["conditions"])

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON, every number with all of its digits.

        system, segments; passed; `earlier`: the names of the log and of the output that scores
            were compared with, or None.
        metrics: name, signature, higher_is_better, score, `earlier` (the scores before, by where
            they are from: "log", "output") and `conditions`: kind ("floor", "drop", "chance"),
            passed, limit, measured, and `message`, the sentence.
        documents, fallen: where it fell, the worst first: `documents` (name, segments, score,
            earlier), and the segments that `fallen` (number, score, earlier, hypothesis, before,
            references), by `metric`. Empty unless something fell against an earlier output.
        """
        return super().to_dict()

    def junit(self) -> str:
        """JUnit's XML, as build servers read it: a test case for each condition."""
        return _build_junit(self._content)

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        return _build_gate_blocks(self._content, 2 if digits is None else digits, short=short)

    def _title(self) -> str:
        return f"{self._content['system']}: {'passed' if self.passed else 'failed'}"

    def __repr__(self) -> str:
        outcome = "passed" if self.passed else f"failed: {'; '.join(self.failures)}"
        return f"<Check of {self._content['system']}: {outcome}>"


def check(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    *,
    metrics: Sequence[str | Metric] = ("bleu",),
    level: float = DEFAULT_LEVEL,
    samples: int | None = None,
    seed: int | None = argument_checks.DEFAULT_SEED,
    source: corpus_inputs.Hypotheses | None = None,
    documents: Any = None,
    workers: int = 1,
    **conditions: Unpack[ConditionOptions],
) -> Check:
    """Whether scores are as good as they must be. Nothing is raised for scores that are not.

    hypotheses, references: as `BLEU.score` takes them.
    metrics: names, members of the family, signatures or metrics, as `truebleu.metric` takes them.
    minimum: the least score; for metrics of which lower is better (TER, WER), the most. With
        several metrics a number by the name of each.
    max_drop: by how much a score may be worse than the earlier one: the last in the `log` that is
        of the same name, signature and references, or else that of `against`.
    log: a log of scores, as `truebleu score --log` writes it.
    name: what is followed in it; the name of the file of hypotheses if not given.
    keep: adds the scores to the log if everything holds.
    against: an earlier output for the same references. What fell is then named, by document and
        by segment.
    significant: a score must not be worse than that of `against` by more than chance makes:
        by approximate randomization, p < 1 - `level`. samples, seed: see `compare`.
    source, documents, workers: see `compare`.

    Raises ValueError for what cannot be asked, such as a condition that no output could fail;
    `IncomparableError` (a ValueError) for a log that is missing, or has no score of this name,
    signature and references; InputError as `compare` does, and if there is no finite score.

    >>> references = ["the cat is on the mat", "nobody was there"] * 5
    >>> made = check(["the cat is on a mat", "nobody was there"] * 5, references, minimum=70)
    >>> made.passed, made.failures
    (False, ['BLEU 59.69 is below the floor of 70'])
    """
    argument_checks.check_keywords("check", conditions, ConditionOptions.__annotations__)
    job = CheckJob(
        Conditions(**conditions),
        hypotheses,
        references,
        metrics,
        level=level,
        samples=samples,
        seed=seed,
        source=source,
        documents=documents,
        workers=workers,
    )
    return Check.from_job(job)


# ---- from scores to conditions ----


class ConditionOptions(TypedDict, total=False):
    """The fields of `Conditions`, as `check` takes them."""

    minimum: float | Mapping[str, float] | None
    max_drop: float | Mapping[str, float] | None
    log: str | os.PathLike[str] | None
    name: str | None
    keep: bool
    against: corpus_inputs.Hypotheses | None
    significant: bool


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What is asked of the scores; see `check`. Raises ValueError for what makes no sense."""

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
            raise ValueError(
                "minimum: nothing is asked of the scores; give the least score (minimum), the drop "
                "that is allowed (max_drop), or ask for a fall that chance does not make "
                "(significant)"
            )
        if self.max_drop is not None and not earlier:
            raise ValueError("max_drop: from which score? Name a log, or an earlier output")
        if self.significant and self.against is None:
            raise ValueError("significant: against which output? Name an earlier one (against)")
        if self.log is not None and self.max_drop is None and not self.keep:
            raise ValueError("log: nothing is asked of it; give max_drop, or keep the scores in it")
        if self.against is not None and self.max_drop is None and not self.significant:
            raise ValueError("against: nothing is asked of it; give max_drop, or significant")
        if self.log is None and (self.name is not None or self.keep):
            raise ValueError(f"{'keep' if self.keep else 'name'}: there is no log; name one")


class Condition(NamedTuple):
    """Something that was asked of a score."""

    kind: str
    passed: bool
    limit: float
    measured: float
    message: str


class CheckJob:
    """The scores of a system, those before, and what is asked of them.

    system: its name, if that is not that of the file.
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
        **inputs: Any,
    ) -> None:
        self.conditions = conditions
        self.system = system or segments.get_file_name(hypotheses) or "this output"
        systems = {self.system: hypotheses}
        self.earlier_name: str | None = None
        if conditions.against is not None:
            name = segments.get_file_name(conditions.against) or "the earlier output"
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
        if not conditions.significant and (samples is not None or level != DEFAULT_LEVEL):
            option = "level" if samples is None else "samples"
            raise ValueError(f"{option}: no effect without a significance test")
        smallest_p = 1 / (testing.randomizations + 1)
        if conditions.significant and smallest_p >= testing.alpha:
            raise ValueError(
                f"samples: {testing.randomizations:,} cannot give a p-value below "
                f"{testing.alpha:.4g} (the smallest is {smallest_p:.2g}). Use more samples, or a "
                "lower level."
            )
        names = {metric: name or metric.name for metric, name in self.request.metrics.items()}
        # What each metric is called in the results.
        self.metric_names: dict[Metric[Any], str] = {}
        self.minimum = _resolve_limits("minimum", conditions.minimum, names)
        self.max_drop = _resolve_limits("max_drop", conditions.max_drop, names)
        for metric, minimum in self.minimum.items():
            worst = metric.WORST
            if worst is not None and (
                minimum >= worst if metric.lower_is_better else minimum <= worst
            ):
                raise ValueError(
                    f"minimum: no output can fail {minimum:g} for {names[metric]} (the worst score "
                    f"is {worst:g}). Give a better score."
                )
        for metric, drop in self.max_drop.items():
            if drop < 0:
                raise ValueError(f"max_drop: {drop:g} for {names[metric]}; expected 0 or more")
            best, worst = 0.0 if metric.lower_is_better else metric.bound, metric.WORST
            if best is not None and worst is not None and drop >= abs(best - worst):
                raise ValueError(
                    f"max_drop: no output can fail {drop:g} for {names[metric]} (scores are from "
                    f"{worst:g} to {best:g}). Give a smaller drop."
                )

    def build_content(self) -> dict[str, Any]:
        """What a `Check` is made of. Scores are kept if that was asked for and everything holds."""
        conditions, request = self.conditions, self.request
        self._check_inputs()
        # Before anything is read that may be long: without a log nothing can be said.
        log_entries = [] if conditions.log is None else read_earlier_entries(conditions.log)
        if conditions.log is not None:
            request.make_rereadable()
        metric_statistics = request.count_statistics()
        if request.failure_messages:
            raise MetricFailedError("; ".join(request.failure_messages.values()))
        self._check_size(request.count_segments(metric_statistics))
        comparison = Comparison.from_request(
            request, metric_statistics, by_reference=False
        ).to_dict()
        self.metric_names = {
            metric: one["name"]
            for metric, one in zip(request.metrics, comparison["metrics"], strict=True)
        }
        for metric, name in self.metric_names.items():
            for system, table in metric_statistics[metric].tables.items():
                score = self._compute_score(metric, metric_statistics, system).value
                if not (isfinite(score) and any(*table.sum().tolist())):
                    shown_value = "no text" if isfinite(score) else f"{score:g}"
                    raise InputError(
                        f"{system}: no {name} (expected a finite score, found {shown_value})"
                    )
        scores = {
            metric: self._compute_score(metric, metric_statistics, self.system)
            for metric in self.metric_names
        }
        segment_count = comparison["segments"]
        entries = (
            {} if conditions.log is None else dict(self._build_log_entries(scores, segment_count))
        )
        (differences,) = (
            one["scores"] for one in comparison["systems"] if one["name"] == self.system
        )
        metrics: list[dict[str, Any]] = []
        listing_metric: Metric[Any] | None = None
        for metric, name in self.metric_names.items():
            earlier: dict[str, Any] = {"log": None, "output": None}
            if conditions.log is not None and metric in self.max_drop:
                earlier["log"] = _find_logged_score(conditions.log, log_entries, entries[metric])
            if self.earlier_name is not None:
                earlier["output"] = {
                    "score": self._compute_score(metric, metric_statistics, self.earlier_name).value
                }
            value, difference = scores[metric].value, differences[name].get("difference")
            results = list(self._evaluate_conditions(metric, value, earlier, difference))
            has_fallen = any(not one.passed and one.kind != "floor" for one in results)
            listing_metric = (
                metric
                if listing_metric is None and has_fallen and self.earlier_name is not None
                else listing_metric
            )
            metrics.append(
                {
                    "name": name,
                    "signature": str(scores[metric].signature.with_test_set(request.test_set)),
                    "higher_is_better": not metric.lower_is_better,
                    "score": value,
                    "earlier": earlier,
                    "conditions": [result._asdict() for result in results],
                }
            )
        passed = all(one["passed"] for each in metrics for one in each["conditions"])
        if conditions.keep and passed:
            log.append_log_entries(os.fspath(conditions.log), entries.values())
        warnings = comparison.get("warnings")
        return {
            "system": self.system,
            **({"warnings": warnings} if warnings else {}),
            "segments": segment_count,
            "passed": passed,
            "earlier": {
                "log": None if conditions.log is None else os.fspath(conditions.log),
                "output": self.earlier_name,
            },
            "metrics": metrics,
            "metric": listing_metric and self.metric_names[listing_metric],
            "documents": []
            if listing_metric is None
            else list(self._find_worse_documents(comparison, listing_metric)),
            "fallen": []
            if listing_metric is None
            else list(self._find_worse_segments(metric_statistics, listing_metric)),
        }

    def _check_inputs(self) -> None:
        """Refuse an output that is compared with itself."""
        columns = [
            column
            for _, column in segments.label_reference_columns(self.request.original_references)
        ]
        hypotheses = self.request.original_systems[self.system]
        for role, other_inputs in (("against", [self.conditions.against]), ("references", columns)):
            if any(_is_same_input(hypotheses, other) for other in other_inputs):
                raise ValueError(f"{role}: {self.system} is the output that is checked")

    def _check_size(self, size: int) -> None:
        """Refuse a test that so few segments cannot fail: swapping all or none changes nothing."""
        alpha = self.request.testing.alpha
        if self.conditions.significant and 2.0 ** (1 - size) >= alpha:
            raise ValueError(
                f"significant: no difference of {format_count(size, 'segment')} is "
                "significant (the "
                f"smallest p-value is {2.0 ** (1 - size):.2g}, expected one below {alpha:.4g})"
            )

    def _compute_score(
        self, metric: Metric[Any], metric_statistics: StatisticsByMetric, system: str
    ) -> Score:
        score: Score = metric.from_statistics(metric_statistics[metric].tables[system])
        return score

    def _build_log_entries(
        self, scores: Mapping[Metric[Any], Score], segment_count: int
    ) -> Iterator[tuple[Metric[Any], log.Entry]]:
        """The entries of a log that the scores are."""
        request = self.request
        reference_columns = [
            column for _, column in segments.label_reference_columns(request.original_references)
        ]
        references = tuple(
            log.Input(
                _get_input_path(
                    reference_columns[i] if i < len(reference_columns) else None,
                    f"reference {i + 1}",
                ),
                digest,
            )
            for i, digest in enumerate(
                map(segments.hash_texts, segments.read_reference_streams(request.references))
            )
        )
        hypotheses = segments.read_texts("hypotheses", request.systems[self.system])
        original_hypotheses = request.original_systems[self.system]
        hypothesis = log.Input(
            _get_input_path(original_hypotheses, self.system), segments.hash_texts(hypotheses)
        )
        time = log.get_log_time()
        for metric, score in scores.items():
            yield (
                metric,
                log.Entry(
                    time=time,
                    name=self.conditions.name,
                    system=self.system,
                    metric=score.name,
                    score=score.value,
                    signature=str(score.signature.with_test_set(request.test_set)),
                    segments=segment_count,
                    hypothesis=hypothesis,
                    references=references,
                ),
            )

    def _evaluate_conditions(
        self,
        metric: Metric[Any],
        value: float,
        earlier: Mapping[str, Mapping[str, Any]],
        difference: Mapping[str, Any] | None,
    ) -> Iterator[Condition]:
        name, lower = self.metric_names[metric], metric.lower_is_better
        down, up = ("rose", "fell") if lower else ("fell", "rose")
        if metric in self.minimum:
            minimum = self.minimum[metric]
            passed = value <= minimum if lower else value >= minimum
            position = "below" if value < minimum else "above" if value > minimum else "at"
            bound = "ceiling" if lower else "floor"
            measured = _format_measured(value, minimum)
            message = f"{name} {measured} is {position} the {bound} of {minimum:g}"
            yield Condition("floor", passed, minimum, value, message)
        if metric in self.max_drop:
            source = "output" if earlier["log"] is None else "log"
            before, allowed = earlier[source]["score"], self.max_drop[metric]
            drop = value - before if lower else before - value
            earlier_text = f"that of {self.earlier_name}"
            if source == "log":
                earlier_text = f"that of {earlier['log']['time']}"
            change = (
                f"{down} by {_format_measured(drop, allowed)}"
                if drop > 0
                else f"{up} by {-drop:.2f}"
            )
            change = "is the same" if drop == 0 else change
            message = f"{name} {change}: {value:.2f}, and {earlier_text} is {before:.2f}"
            message += (
                f"; {allowed:g} {'are' if allowed != 1 else 'is'} allowed" if drop > 0 else ""
            )
            yield Condition("drop", drop <= allowed, allowed, drop, message)
        if self.conditions.significant:
            assert difference is not None
            test = self.request.testing
            is_worse = difference["value"] > 0 if lower else difference["value"] < 0
            p = difference["p"]
            message = f"{name} is that of {self.earlier_name}, or better"
            if is_worse:
                change_text = (
                    f"{name} {down} by {abs(difference['value']):.2f} against {self.earlier_name}"
                )
                significance_text = (
                    "more than chance makes" if difference["significant"] else "as chance makes"
                )
                message = f"{change_text}, {significance_text} (p = {p:.4f})"
            passed = not (is_worse and difference["significant"])
            if difference["significant"] is None:
                # Its tokenizer does not split the text.
                message = f"{name} cannot tell whether it is worse than that of {self.earlier_name}"
                passed = False
            yield Condition("chance", passed, test.alpha, p, message)

    def _find_worse_documents(
        self, comparison: Mapping[str, Any], metric: Metric[Any]
    ) -> Iterator[dict[str, Any]]:
        """The documents that fell, the worst first."""
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
        """The segments that fell, by their own scores, the worst first."""
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
            # Standard input cannot be read again.
            (hypothesis, refs), (earlier, _) = pairs or ((None, []), (None, []))
            yield {
                "number": i + 1,
                "score": now[i],
                "earlier": before[i],
                "hypothesis": hypothesis,
                "before": earlier,
                "references": [one for one in refs if one is not None],
            }


def _find_logged_score(path: Any, entries: Sequence[log.Entry], entry: log.Entry) -> dict[str, Any]:
    """The score in a log that an entry is compared with."""
    earlier_entry = find_last_comparable(path, entries, entry)
    return {
        "score": earlier_entry.score,
        "time": earlier_entry.to_dict()["time"],
        "note": earlier_entry.note,
        "same_output": earlier_entry.hypothesis.sha256 == entry.hypothesis.sha256,
    }


def _get_input_path(value: Any, default: str) -> str:
    return str(segments.as_file(value).path) if segments.is_file(value) else default


def _resolve_limits(
    role: str, limits: Any, names: Mapping[Metric[Any], str]
) -> dict[Metric[Any], float]:
    """A number of each metric that has one."""
    if limits is None:
        return {}
    if hasattr(limits, "items") and not limits:
        raise ValueError(f"{role}: it is empty; give a number for a metric")
    if not hasattr(limits, "items"):
        if len(names) > 1:
            hint = ", ".join(f"{name}=…" for name in names.values())
            raise ValueError(f"{role}: with several metrics a number for each, as {hint}")
        return {metric: _check_limit(role, limits) for metric in names}
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
            raise ValueError(f"{role}: no metric '{metric_name}' was asked for{hint}")
        if len(matching_metrics) > 1:
            raise ValueError(
                f"{role}: {len(matching_metrics)} metrics are called '{metric_name}'; "
                "name them apart"
            )
        if matching_metrics[0] in resolved_limits:
            raise ValueError(f"{role}: two numbers for {names[matching_metrics[0]]}; give one")
        resolved_limits[matching_metrics[0]] = _check_limit(role, value)
    return resolved_limits


def _check_limit(role: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e100:
        raise ValueError(f"{role}: expected a number, not {value!r:.40}")
    return float(value)


def _is_same_input(value: Any, other: Any) -> bool:
    """Return whether two inputs are the same object, or the same column of the same file."""
    if not (segments.is_file(value) and segments.is_file(other)):
        return value is other
    first_file, second_file = map(segments.as_file, (value, other))
    if first_file.column != second_file.column or not (
        os.path.exists(first_file.path) and os.path.exists(second_file.path)
    ):
        return first_file is second_file
    return os.path.samefile(first_file.path, second_file.path)


def _format_measured(value: float, limit: float) -> str:
    """A number for a person, with as many digits as tell it from a limit."""
    for digits in (2, 4, 8):
        if float(f"{value:.{digits}f}") != limit or value == limit:
            return f"{value:.{digits}f}"
    return repr(value)


# ---- formats ----


def _build_gate_blocks(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks: the verdict, a sentence a condition, the numbers, where it fell, signatures."""
    conditions = [one for metric in content["metrics"] for one in metric["conditions"]]
    failed = [one for one in conditions if not one["passed"]]
    if failed:
        verb = "does not hold" if len(failed) == 1 else "do not hold"
        outcome = f"failed: {len(failed)} of {format_count(len(conditions), 'condition')} {verb}"
    else:
        outcome = f"passed: {format_count(len(conditions), 'condition')}"
    yield Paragraph(f"{outcome} for {content['system']}", "lead")
    yield from build_warnings(content)
    for condition in failed:
        yield Paragraph(condition["message"], "note")
    format_score = fixed_formatter(digits)
    yield _build_score_table(content, format_score)
    yield from _build_worse_tables(content, format_score)
    for metric in content["metrics"]:
        signature = metric["signature"]
        if short:
            signature = Signature.shorten(metric["name"], signature)
        yield Paragraph(f"{metric['name']}|{signature}", "signature")


def _build_score_table(content: Content, format_score: NumberFormatter) -> Table:
    """A row a metric: its score, what it must be, and what it was."""
    rows = []
    for metric in content["metrics"]:
        conditions_by_kind = {one["kind"]: one for one in metric["conditions"]}
        earlier = metric["earlier"]["log"] or metric["earlier"]["output"]
        row = {"metric": metric["name"], "score": format_score(metric["score"])}
        floor = conditions_by_kind.get("floor")
        row["floor"] = "" if floor is None else f"{floor['limit']:g}"
        row["earlier"] = "" if earlier is None else format_score(earlier["score"])
        change = None if earlier is None else metric["score"] - earlier["score"]
        row["Δ"] = "" if change is None else signed_formatter(format_score)(change)
        row["drop allowed"] = (
            f"{conditions_by_kind['drop']['limit']:g}" if "drop" in conditions_by_kind else ""
        )
        chance = conditions_by_kind.get("chance")
        row["p"] = "" if chance is None else f"{chance['measured']:.4f}"
        rows.append((row, [name for name, one in conditions_by_kind.items() if not one["passed"]]))
    names = [name for name in rows[0][0] if any(row[name] for row, _ in rows)]
    places = {"floor": "score", "drop": "Δ", "chance": "p"}
    cells = [
        [
            Cell(row[name], mark="worse" if name in [places[kind] for kind in failed] else "")
            for name in names
        ]
        for row, failed in rows
    ]
    return Table.from_text_rows(names, cells)


def _build_worse_tables(content: Content, format_score: NumberFormatter) -> Iterator[Block]:
    """The documents and the segments that fell."""
    if content["documents"]:
        yield Heading(2, f"Documents that fell most, by {content['metric']}")
        rows = [
            [one["name"], str(one["segments"]), *_format_change(one, format_score)]
            for one in content["documents"]
        ]
        yield Table.from_text_rows(["document", "segments", "earlier", "now", "Δ"], rows)
    if content["fallen"]:
        yield Heading(2, f"Segments that fell most, by {content['metric']}")
        rows = []
        for segment in content["fallen"]:
            texts = {"now": segment["hypothesis"], "earlier": segment["before"]}
            texts["reference"] = next(iter(segment["references"]), None)
            text_lines = [
                f"{name}: {_shorten_text(text)}" for name, text in texts.items() if text is not None
            ]
            rows.append(
                [
                    str(segment["number"]),
                    *_format_change(segment, format_score),
                    text_lines[0] if text_lines else "",
                ]
            )
            rows += [["", "", "", "", text] for text in text_lines[1:]]
        yield Table.from_text_rows(["segment", "earlier", "now", "Δ", "text"], rows, (4,))
    elif content["earlier"]["log"] is not None and any(
        one["kind"] == "drop" and not one["passed"]
        for metric in content["metrics"]
        for one in metric["conditions"]
    ):
        yield Paragraph("A log has no texts: name an earlier output to see where it fell.", "note")


def _format_change(item: Mapping[str, Any], format_score: NumberFormatter) -> list[str]:
    change = signed_formatter(format_score)(item["score"] - item["earlier"])
    return [format_score(item["earlier"]), format_score(item["score"]), change]


def _shorten_text(text: Any) -> str:
    full_text = text if isinstance(text, str) else " ".join(map(str, text))
    return (
        full_text if len(full_text) <= MAX_TEXT_LENGTH else f"{full_text[: MAX_TEXT_LENGTH - 1]}…"
    )


def _build_junit(content: Content) -> str:
    """The XML of a check."""
    cases = [(metric, one) for metric in content["metrics"] for one in metric["conditions"]]
    failed = sum(not one["passed"] for _, one in cases)
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "truebleu check", **counts})
    for metric, condition in cases:
        name = JUNIT_NAMES[condition["kind"]].format(
            metric=metric["name"], limit=condition["limit"]
        )
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": escape_invisible(content["system"]), "name": escape_invisible(name)},
        )
        if not condition["passed"]:
            failure = ET.SubElement(
                case, "failure", {"message": escape_invisible(condition["message"])}
            )
            lines = [f"{metric['name']}|{metric['signature']}"]
            if condition["kind"] != "floor" and content["metric"] == metric["name"]:
                lines += _describe_worse_items(content)
            failure.text = "\n".join(map(escape_invisible, lines))
        else:
            ET.SubElement(case, "system-out").text = escape_invisible(condition["message"])
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _describe_worse_items(content: Content) -> Iterator[str]:
    """The documents and the segments that fell most, a line each."""
    for kind, name, items in (
        ("document", "name", content["documents"]),
        ("segment", "number", content["fallen"]),
    ):
        for item in items:
            yield f"{kind} {item[name]} fell from {item['earlier']:.2f} to {item['score']:.2f}"
