"""From scores to conditions: floors, drops that are allowed, and differences that chance makes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from truebleu._kernel import InputError
from truebleu.comparison import Comparison
from truebleu.comparison import score_log as log
from truebleu.comparison.history import earlier_entries, last_like
from truebleu.comparison.request import Request, Significance
from truebleu.metrics import registry
from truebleu.metrics.base import MetricFailedError
from truebleu.text import checks, segments
from truebleu.text.layout import count
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu.comparison.request import Counted
    from truebleu.metrics.base import Metric, Score

# How many documents and segments are named that fell.
SHOWN = 5
LEVEL = 0.95


class Asked(Record):
    """What is asked of the scores; see `check`. Raises ValueError for what makes no sense."""

    minimum: Any = None
    max_drop: Any = None
    log: Any = None
    name: str | None = None
    keep: bool = False
    against: Any = None
    significant: bool = False

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
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
    told: str


class Scoring:
    """The scores of a system, those before, and what is asked of them.

    system: its name, if that is not that of the file.
    """

    def __init__(
        self,
        asked: Asked,
        hypotheses: Any,
        references: Any,
        metrics: Any,
        *,
        system: str | None = None,
        level: float = LEVEL,
        samples: int | None = None,
        seed: int | None = checks.DEFAULT_SEED,
        **beside: Any,
    ) -> None:
        self.asked = asked
        self.system = system or segments.file_name(hypotheses) or "this output"
        systems = {self.system: hypotheses}
        self.before: str | None = None
        if asked.against is not None:
            name = segments.file_name(asked.against) or "the earlier output"
            self.before = name if name != self.system else f"{name} (earlier)"
            systems = {self.before: asked.against, **systems}
        testing = Significance(
            test="ar" if asked.significant else None,
            samples=samples if asked.significant else None,
            confidence=None,
            level=level,
            seed=seed,
        )
        self.request = Request(systems, references, metrics, testing=testing, **beside)
        if not asked.significant and (samples is not None or level != LEVEL):
            given = "level" if samples is None else "samples"
            raise ValueError(f"{given}: no effect without a significance test")
        smallest = 1 / (testing.randomizations + 1)
        if asked.significant and smallest >= testing.alpha:
            raise ValueError(
                f"samples: {testing.randomizations:,} cannot give a p-value below "
                f"{testing.alpha:.4g} (the smallest is {smallest:.2g}). Use more samples, or a "
                "lower level."
            )
        names = {metric: name or metric.name for metric, name in self.request.metrics.items()}
        # What each metric is called in the results.
        self.names: dict[Metric[Any], str] = {}
        self.minimum = _by_metric("minimum", asked.minimum, names)
        self.max_drop = _by_metric("max_drop", asked.max_drop, names)
        for metric, least in self.minimum.items():
            worst = metric.WORST
            if worst is not None and (least >= worst if metric.lower_is_better else least <= worst):
                raise ValueError(
                    f"minimum: no output can fail {least:g} for {names[metric]} (the worst score "
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

    def content(self) -> dict[str, Any]:
        """What a `Check` is made of. Scores are kept if that was asked for and everything holds."""
        asked, request = self.asked, self.request
        self._check_inputs()
        # Before anything is read that may be long: without a log nothing can be said.
        known = [] if asked.log is None else earlier_entries(asked.log)
        if asked.log is not None:
            request.last()
        counted = request.count()
        if request.failed:
            raise MetricFailedError("; ".join(request.failed.values()))
        self._check_size(request.segments(counted))
        compared = Comparison.of_request(request, counted, by_reference=False).to_dict()
        self.names = {
            metric: one["name"]
            for metric, one in zip(request.metrics, compared["metrics"], strict=True)
        }
        for metric, name in self.names.items():
            for system, table in counted[metric].tables.items():
                found = self._score(metric, counted, system).value
                if not (isfinite(found) and any(*table.sum().tolist())):
                    told = "no text" if isfinite(found) else f"{found:g}"
                    raise InputError(f"{system}: no {name} (expected a finite score, found {told})")
        scores = {metric: self._score(metric, counted, self.system) for metric in self.names}
        entries = {} if asked.log is None else dict(self._entries(scores, compared["segments"]))
        (differences,) = (
            one["scores"] for one in compared["systems"] if one["name"] == self.system
        )
        metrics: list[dict[str, Any]] = []
        by: Metric[Any] | None = None
        for metric, name in self.names.items():
            earlier: dict[str, Any] = {"log": None, "output": None}
            if asked.log is not None and metric in self.max_drop:
                earlier["log"] = _from_log(asked.log, known, entries[metric])
            if self.before is not None:
                earlier["output"] = {"score": self._score(metric, counted, self.before).value}
            value, difference = scores[metric].value, differences[name].get("difference")
            conditions = list(self._conditions(metric, value, earlier, difference))
            fell = any(not one.passed and one.kind != "floor" for one in conditions)
            by = metric if by is None and fell and self.before is not None else by
            metrics.append(
                {
                    "name": name,
                    "signature": str(scores[metric].signature.on(request.test_set)),
                    "higher_is_better": not metric.lower_is_better,
                    "score": value,
                    "earlier": earlier,
                    "conditions": [condition._asdict() for condition in conditions],
                }
            )
        passed = all(one["passed"] for each in metrics for one in each["conditions"])
        if asked.keep and passed:
            log.append(os.fspath(asked.log), entries.values())
        warned = compared.get("warnings")
        return {
            "system": self.system,
            **({"warnings": warned} if warned else {}),
            "segments": compared["segments"],
            "passed": passed,
            "earlier": {
                "log": None if asked.log is None else os.fspath(asked.log),
                "output": self.before,
            },
            "metrics": metrics,
            "metric": by and self.names[by],
            "documents": [] if by is None else list(self._documents(compared, by)),
            "fallen": [] if by is None else list(self._fallen(counted, by)),
        }

    def _check_inputs(self) -> None:
        """Refuse an output that is compared with itself."""
        columns = [column for _, column in segments.named_columns(self.request.given_references)]
        given = self.request.given_systems[self.system]
        for role, others in (("against", [self.asked.against]), ("references", columns)):
            if any(_is_same_input(given, other) for other in others):
                raise ValueError(f"{role}: {self.system} is the output that is checked")

    def _check_size(self, size: int) -> None:
        """Refuse a test that so few segments cannot fail: swapping all or none changes nothing."""
        alpha = self.request.testing.alpha
        if self.asked.significant and 2.0 ** (1 - size) >= alpha:
            raise ValueError(
                f"significant: no difference of {count(size, 'segment')} is significant (the "
                f"smallest p-value is {2.0 ** (1 - size):.2g}, expected one below {alpha:.4g})"
            )

    def _score(self, metric: Metric[Any], counted: Counted, system: str) -> Score:
        score: Score = metric.from_statistics(counted[metric].tables[system])
        return score

    def _entries(
        self, scores: Mapping[Metric[Any], Score], size: int
    ) -> Iterator[tuple[Metric[Any], log.Entry]]:
        """The entries of a log that the scores are."""
        request = self.request
        named = [column for _, column in segments.named_columns(request.given_references)]
        references = tuple(
            log.Input(_path(named[i] if i < len(named) else None, f"reference {i + 1}"), digest)
            for i, digest in enumerate(map(segments.hashed, segments.streams(request.references)))
        )
        hypotheses = segments.texts("hypotheses", request.systems[self.system])
        given = request.given_systems[self.system]
        hypothesis = log.Input(_path(given, self.system), segments.hashed(hypotheses))
        time = log.now()
        for metric, score in scores.items():
            yield (
                metric,
                log.Entry(
                    time=time,
                    name=self.asked.name,
                    system=self.system,
                    metric=score.name,
                    score=score.value,
                    signature=str(score.signature.on(request.test_set)),
                    segments=size,
                    hypothesis=hypothesis,
                    references=references,
                ),
            )

    def _conditions(
        self,
        metric: Metric[Any],
        value: float,
        earlier: Mapping[str, Mapping[str, Any]],
        difference: Mapping[str, Any] | None,
    ) -> Iterator[Condition]:
        name, lower = self.names[metric], metric.lower_is_better
        down, up = ("rose", "fell") if lower else ("fell", "rose")
        if metric in self.minimum:
            least = self.minimum[metric]
            passed = value <= least if lower else value >= least
            where = "below" if value < least else "above" if value > least else "at"
            bound = "ceiling" if lower else "floor"
            told = f"{name} {_told(value, least)} is {where} the {bound} of {least:g}"
            yield Condition("floor", passed, least, value, told)
        if metric in self.max_drop:
            source = "output" if earlier["log"] is None else "log"
            before, allowed = earlier[source]["score"], self.max_drop[metric]
            drop = value - before if lower else before - value
            since = f"that of {self.before}"
            if source == "log":
                since = f"that of {earlier['log']['time']}"
            moved = f"{down} by {_told(drop, allowed)}" if drop > 0 else f"{up} by {-drop:.2f}"
            moved = "is the same" if drop == 0 else moved
            told = f"{name} {moved}: {value:.2f}, and {since} is {before:.2f}"
            told += f"; {allowed:g} {'are' if allowed != 1 else 'is'} allowed" if drop > 0 else ""
            yield Condition("drop", drop <= allowed, allowed, drop, told)
        if self.asked.significant:
            assert difference is not None
            test = self.request.testing
            worse = difference["value"] > 0 if lower else difference["value"] < 0
            p = difference["p"]
            told = f"{name} is that of {self.before}, or better"
            if worse:
                by = f"{name} {down} by {abs(difference['value']):.2f} against {self.before}"
                chance = (
                    "more than chance makes" if difference["significant"] else "as chance makes"
                )
                told = f"{by}, {chance} (p = {p:.4f})"
            passed = not (worse and difference["significant"])
            if difference["significant"] is None:
                # Its tokenizer does not split the text.
                told = f"{name} cannot tell whether it is worse than that of {self.before}"
                passed = False
            yield Condition("chance", passed, test.alpha, p, told)

    def _documents(self, compared: Mapping[str, Any], by: Metric[Any]) -> Iterator[dict[str, Any]]:
        """The documents that fell, the worst first."""
        sign, name = -1 if by.lower_is_better else 1, self.names[by]
        found = []
        for one in compared["documents"] or ():
            score, earlier = (one["scores"][name][s] for s in (self.system, self.before))
            if sign * (score - earlier) < 0:
                told = {"name": one["name"], "segments": one["segments"]}
                found.append({**told, "score": score, "earlier": earlier})
        found.sort(key=lambda one: sign * (one["score"] - one["earlier"]))
        yield from found[:SHOWN]

    def _fallen(self, counted: Counted, by: Metric[Any]) -> Iterator[dict[str, Any]]:
        """The segments that fell, by their own scores, the worst first."""
        both = (self.system, self.before or "")
        now, before = (counted[by].scores[system] for system in both)
        sign = -1 if by.lower_is_better else 1
        change = [sign * (x - y) for x, y in zip(now, before, strict=True)]
        worst = sorted((i for i, value in enumerate(change) if value < 0), key=change.__getitem__)
        texts: dict[int, list[Any]] = {i: [] for i in worst[:SHOWN]}
        systems, references = self.request.systems, self.request.references
        if not self.request.missing_text():
            for system in both:
                for i, pair in enumerate(segments.pairs(systems[system], references)):
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


def _from_log(path: Any, known: Sequence[log.Entry], entry: log.Entry) -> dict[str, Any]:
    """The score in a log that an entry is compared with."""
    found = last_like(path, known, entry)
    return {
        "score": found.score,
        "time": found.to_dict()["time"],
        "note": found.note,
        "same_output": found.hypothesis.sha256 == entry.hypothesis.sha256,
    }


def _path(value: Any, otherwise: str) -> str:
    return str(segments.file_of(value).path) if segments.is_file(value) else otherwise


def _by_metric(role: str, given: Any, names: Mapping[Metric[Any], str]) -> dict[Metric[Any], float]:
    """A number of each metric that has one."""
    if given is None:
        return {}
    if hasattr(given, "items") and not given:
        raise ValueError(f"{role}: it is empty; give a number for a metric")
    if not hasattr(given, "items"):
        if len(names) > 1:
            there = ", ".join(f"{name}=…" for name in names.values())
            raise ValueError(f"{role}: with several metrics a number for each, as {there}")
        return {metric: _number(role, given) for metric in names}
    found = {}
    for called, value in given.items():
        key = str(called).casefold()
        meant = [metric for metric, name in names.items() if key == name.casefold()]
        if not meant:
            try:
                known = registry.metrics([called])
            except ValueError:
                known = {}
            meant = [metric for metric in names if metric in known]
        if not meant:
            there = checks.nearest(called, list(names.values()))
            raise ValueError(f"{role}: no metric '{called}' was asked for{there}")
        if len(meant) > 1:
            raise ValueError(f"{role}: {len(meant)} metrics are called '{called}'; name them apart")
        if meant[0] in found:
            raise ValueError(f"{role}: two numbers for {names[meant[0]]}; give one")
        found[meant[0]] = _number(role, value)
    return found


def _number(role: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e100:
        raise ValueError(f"{role}: expected a number, not {value!r:.40}")
    return float(value)


def _is_same_input(value: Any, other: Any) -> bool:
    """Return whether two inputs are the same object, or the same column of the same file."""
    if not (segments.is_file(value) and segments.is_file(other)):
        return value is other
    one, another = map(segments.file_of, (value, other))
    if one.column != another.column or not (
        os.path.exists(one.path) and os.path.exists(another.path)
    ):
        return one is another
    return os.path.samefile(one.path, another.path)


def _told(value: float, limit: float) -> str:
    """A number for a person, with as many digits as tell it from a limit."""
    for digits in (2, 4, 8):
        if float(f"{value:.{digits}f}") != limit or value == limit:
            return f"{value:.{digits}f}"
    return repr(value)
