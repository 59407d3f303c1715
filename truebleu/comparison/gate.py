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
from truebleu.comparison.comparison_request import Counted, Request, Significance
from truebleu.comparison.history import earlier_entries, last_like
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, MetricFailedError, Score, Signature
from truebleu.rendering.elements import Block, Cell, Heading, Paragraph, Table, warnings_of
from truebleu.rendering.number_format import Write, fixed, signed
from truebleu.rendering.view import Content, View
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.terminal_layout import escape_invisible, format_count

# How many documents and segments are named that fell.
SHOWN = 5
LEVEL = 0.95
# How many characters of a text are shown.
WIDTH = 70
# What JUnit calls a condition, with its limit.
CASES = {
    "floor": "{metric} is no worse than {limit:g}",
    "drop": "{metric} is at most {limit:g} worse than before",
    "chance": "{metric} is not worse by more than chance makes",
}


class Check(View):
    """What was asked of a system's scores, and whether it holds. `bool(check)` says whether."""

    __slots__ = ()

    KIND = "check"

    @classmethod
    def of(cls, scoring: Scoring) -> Self:
        """The check that was asked for."""
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, **scoring.content()})

    @property
    def passed(self) -> bool:
        """True if all conditions hold, and there is one at least."""
        conditions = [one["passed"] for one in self._conditions()]
        return bool(conditions) and all(conditions)

    @property
    def failures(self) -> list[str]:
        """A sentence for each thing that does not hold."""
        return [one["told"] for one in self._conditions() if not one["passed"]]

    def _conditions(self) -> Iterator[Mapping[str, Any]]:
        return (one for metric in self._content["metrics"] for one in metric["conditions"])

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON, every number with all of its digits.

        system, segments; passed; `earlier`: the names of the log and of the output that scores
            were compared with, or None.
        metrics: name, signature, higher_is_better, score, `earlier` (the scores before, by where
            they are from: "log", "output") and `conditions`: kind ("floor", "drop", "chance"),
            passed, limit, measured, and `told`, the sentence.
        documents, fallen: where it fell, the worst first: `documents` (name, segments, score,
            earlier), and the segments that `fallen` (number, score, earlier, hypothesis, before,
            references), by `metric`. Empty unless something fell against an earlier output.
        """
        return super().to_dict()

    def junit(self) -> str:
        """JUnit's XML, as build servers read it: a test case for each condition."""
        return _junit(self._content)

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        return _blocks(self._content, 2 if digits is None else digits, short=short)

    def _title(self) -> str:
        return f"{self._content['system']}: {'passed' if self.passed else 'failed'}"

    def __repr__(self) -> str:
        told = "passed" if self.passed else f"failed: {'; '.join(self.failures)}"
        return f"<Check of {self._content['system']}: {told}>"


def check(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    *,
    metrics: Sequence[str | Metric] = ("bleu",),
    level: float = LEVEL,
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
    scoring = Scoring(
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
    return Check.of(scoring)


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
    told: str


class Scoring:
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
        level: float = LEVEL,
        samples: int | None = None,
        seed: int | None = argument_checks.DEFAULT_SEED,
        **beside: Any,
    ) -> None:
        self.conditions = conditions
        self.system = system or segments.get_file_name(hypotheses) or "this output"
        systems = {self.system: hypotheses}
        self.before: str | None = None
        if conditions.against is not None:
            name = segments.get_file_name(conditions.against) or "the earlier output"
            self.before = name if name != self.system else f"{name} (earlier)"
            systems = {self.before: conditions.against, **systems}
        testing = Significance(
            test="ar" if conditions.significant else None,
            samples=samples if conditions.significant else None,
            confidence=None,
            level=level,
            seed=seed,
        )
        self.request = Request(systems, references, metrics, testing=testing, **beside)
        if not conditions.significant and (samples is not None or level != LEVEL):
            given = "level" if samples is None else "samples"
            raise ValueError(f"{given}: no effect without a significance test")
        smallest = 1 / (testing.randomizations + 1)
        if conditions.significant and smallest >= testing.alpha:
            raise ValueError(
                f"samples: {testing.randomizations:,} cannot give a p-value below "
                f"{testing.alpha:.4g} (the smallest is {smallest:.2g}). Use more samples, or a "
                "lower level."
            )
        names = {metric: name or metric.name for metric, name in self.request.metrics.items()}
        # What each metric is called in the results.
        self.names: dict[Metric[Any], str] = {}
        self.minimum = _by_metric("minimum", conditions.minimum, names)
        self.max_drop = _by_metric("max_drop", conditions.max_drop, names)
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
        conditions, request = self.conditions, self.request
        self._check_inputs()
        # Before anything is read that may be long: without a log nothing can be said.
        known = [] if conditions.log is None else earlier_entries(conditions.log)
        if conditions.log is not None:
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
        size = compared["segments"]
        entries = {} if conditions.log is None else dict(self._entries(scores, size))
        (differences,) = (
            one["scores"] for one in compared["systems"] if one["name"] == self.system
        )
        metrics: list[dict[str, Any]] = []
        by: Metric[Any] | None = None
        for metric, name in self.names.items():
            earlier: dict[str, Any] = {"log": None, "output": None}
            if conditions.log is not None and metric in self.max_drop:
                earlier["log"] = _from_log(conditions.log, known, entries[metric])
            if self.before is not None:
                earlier["output"] = {"score": self._score(metric, counted, self.before).value}
            value, difference = scores[metric].value, differences[name].get("difference")
            results = list(self._results(metric, value, earlier, difference))
            fell = any(not one.passed and one.kind != "floor" for one in results)
            by = metric if by is None and fell and self.before is not None else by
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
            log.append(os.fspath(conditions.log), entries.values())
        warned = compared.get("warnings")
        return {
            "system": self.system,
            **({"warnings": warned} if warned else {}),
            "segments": size,
            "passed": passed,
            "earlier": {
                "log": None if conditions.log is None else os.fspath(conditions.log),
                "output": self.before,
            },
            "metrics": metrics,
            "metric": by and self.names[by],
            "documents": [] if by is None else list(self._documents(compared, by)),
            "fallen": [] if by is None else list(self._fallen(counted, by)),
        }

    def _check_inputs(self) -> None:
        """Refuse an output that is compared with itself."""
        columns = [
            column for _, column in segments.label_reference_columns(self.request.given_references)
        ]
        given = self.request.given_systems[self.system]
        for role, others in (("against", [self.conditions.against]), ("references", columns)):
            if any(_is_same_input(given, other) for other in others):
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

    def _score(self, metric: Metric[Any], counted: Counted, system: str) -> Score:
        score: Score = metric.from_statistics(counted[metric].tables[system])
        return score

    def _entries(
        self, scores: Mapping[Metric[Any], Score], size: int
    ) -> Iterator[tuple[Metric[Any], log.Entry]]:
        """The entries of a log that the scores are."""
        request = self.request
        named = [column for _, column in segments.label_reference_columns(request.given_references)]
        references = tuple(
            log.Input(_path(named[i] if i < len(named) else None, f"reference {i + 1}"), digest)
            for i, digest in enumerate(
                map(segments.hash_texts, segments.read_reference_streams(request.references))
            )
        )
        hypotheses = segments.read_texts("hypotheses", request.systems[self.system])
        given = request.given_systems[self.system]
        hypothesis = log.Input(_path(given, self.system), segments.hash_texts(hypotheses))
        time = log.now()
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
                    segments=size,
                    hypothesis=hypothesis,
                    references=references,
                ),
            )

    def _results(
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
        if self.conditions.significant:
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
    return str(segments.as_file(value).path) if segments.is_file(value) else otherwise


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
                known = registry.resolve_metrics([called])
            except ValueError:
                known = {}
            meant = [metric for metric in names if metric in known]
        if not meant:
            there = argument_checks.suggest_names(called, list(names.values()))
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
    one, another = map(segments.as_file, (value, other))
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


# ---- formats ----


def _blocks(content: Content, digits: int, *, short: bool) -> Iterator[Block]:
    """The blocks: the verdict, a sentence a condition, the numbers, where it fell, signatures."""
    conditions = [one for metric in content["metrics"] for one in metric["conditions"]]
    failed = [one for one in conditions if not one["passed"]]
    if failed:
        verb = "does not hold" if len(failed) == 1 else "do not hold"
        told = f"failed: {len(failed)} of {format_count(len(conditions), 'condition')} {verb}"
    else:
        told = f"passed: {format_count(len(conditions), 'condition')}"
    yield Paragraph(f"{told} for {content['system']}", "lead")
    yield from warnings_of(content)
    for one in failed:
        yield Paragraph(one["told"], "note")
    write = fixed(digits)
    yield _score_table(content, write)
    yield from _where(content, write)
    for metric in content["metrics"]:
        signature = metric["signature"]
        if short:
            signature = Signature.shorten(metric["name"], signature)
        yield Paragraph(f"{metric['name']}|{signature}", "signature")


def _score_table(content: Content, write: Write) -> Table:
    """A row a metric: its score, what it must be, and what it was."""
    rows = []
    for metric in content["metrics"]:
        by = {one["kind"]: one for one in metric["conditions"]}
        earlier = metric["earlier"]["log"] or metric["earlier"]["output"]
        row = {"metric": metric["name"], "score": write(metric["score"])}
        floor = by.get("floor")
        row["floor"] = "" if floor is None else f"{floor['limit']:g}"
        row["earlier"] = "" if earlier is None else write(earlier["score"])
        change = None if earlier is None else metric["score"] - earlier["score"]
        row["Δ"] = "" if change is None else signed(write)(change)
        row["drop allowed"] = f"{by['drop']['limit']:g}" if "drop" in by else ""
        chance = by.get("chance")
        row["p"] = "" if chance is None else f"{chance['measured']:.4f}"
        rows.append((row, [name for name, one in by.items() if not one["passed"]]))
    names = [name for name in rows[0][0] if any(row[name] for row, _ in rows)]
    places = {"floor": "score", "drop": "Δ", "chance": "p"}
    cells = [
        [
            Cell(row[name], mark="worse" if name in [places[kind] for kind in failed] else "")
            for name in names
        ]
        for row, failed in rows
    ]
    return Table.of(names, cells)


def _where(content: Content, write: Write) -> Iterator[Block]:
    """The documents and the segments that fell."""
    if content["documents"]:
        yield Heading(2, f"Documents that fell most, by {content['metric']}")
        rows = [
            [one["name"], str(one["segments"]), *_change(one, write)]
            for one in content["documents"]
        ]
        yield Table.of(["document", "segments", "earlier", "now", "Δ"], rows)
    if content["fallen"]:
        yield Heading(2, f"Segments that fell most, by {content['metric']}")
        rows = []
        for one in content["fallen"]:
            texts = {"now": one["hypothesis"], "earlier": one["before"]}
            texts["reference"] = next(iter(one["references"]), None)
            shown = [f"{name}: {_cut(text)}" for name, text in texts.items() if text is not None]
            rows.append([str(one["number"]), *_change(one, write), shown[0] if shown else ""])
            rows += [["", "", "", "", text] for text in shown[1:]]
        yield Table.of(["segment", "earlier", "now", "Δ", "text"], rows, (4,))
    elif content["earlier"]["log"] is not None and any(
        one["kind"] == "drop" and not one["passed"]
        for metric in content["metrics"]
        for one in metric["conditions"]
    ):
        yield Paragraph("A log has no texts: name an earlier output to see where it fell.", "note")


def _change(one: Mapping[str, Any], write: Write) -> list[str]:
    change = signed(write)(one["score"] - one["earlier"])
    return [write(one["earlier"]), write(one["score"]), change]


def _cut(text: Any) -> str:
    told = text if isinstance(text, str) else " ".join(map(str, text))
    return told if len(told) <= WIDTH else f"{told[: WIDTH - 1]}…"


def _junit(content: Content) -> str:
    """The XML of a check."""
    cases = [(metric, one) for metric in content["metrics"] for one in metric["conditions"]]
    failed = sum(not one["passed"] for _, one in cases)
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "truebleu check", **counts})
    for metric, one in cases:
        name = CASES[one["kind"]].format(metric=metric["name"], limit=one["limit"])
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": escape_invisible(content["system"]), "name": escape_invisible(name)},
        )
        if not one["passed"]:
            failure = ET.SubElement(case, "failure", {"message": escape_invisible(one["told"])})
            lines = [f"{metric['name']}|{metric['signature']}"]
            if one["kind"] != "floor" and content["metric"] == metric["name"]:
                lines += _junit_lines(content)
            failure.text = "\n".join(map(escape_invisible, lines))
        else:
            ET.SubElement(case, "system-out").text = escape_invisible(one["told"])
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _junit_lines(content: Content) -> Iterator[str]:
    """The documents and the segments that fell most, a line each."""
    for kind, name, fell in (
        ("document", "name", content["documents"]),
        ("segment", "number", content["fallen"]),
    ):
        for one in fell:
            yield f"{kind} {one[name]} fell from {one['earlier']:.2f} to {one['score']:.2f}"
