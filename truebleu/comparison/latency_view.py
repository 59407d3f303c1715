"""Latency of simultaneous systems, from their logs, with intervals, tests and BLEU."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from truebleu._kernel import InputError
from truebleu.metrics.registry import metric as make_metric
from truebleu.rendering.elements import (
    Block,
    Cell,
    Column,
    Heading,
    Paragraph,
    Scatter,
    Table,
)
from truebleu.rendering.number_format import (
    MORE_DIGITS,
    format_p_value,
    format_percent,
    make_formatter,
    make_signed_formatter,
    rescale,
)
from truebleu.rendering.view import Content, RecordView
from truebleu.resegmentation.latency import (
    COMPUTATION_AWARE,
    LONG_METRICS,
    MAX_DSPTV,
    SHORT_METRICS,
    TimedSegment,
    divide_log,
    list_segments,
    measure_simultaneity,
    score_latency,
)
from truebleu.resegmentation.logs import (
    TOKEN_KINDS,
    UNITS,
    Log,
    SourceSegment,
    read_log,
    read_segmentation,
)
from truebleu.resegmentation.methods import get_method
from truebleu.resegmentation.resegment import Resegmentation, read_reference_rows
from truebleu.significance import LEVEL, RESAMPLES
from truebleu.significance.resampled_metric import Measure
from truebleu.significance.resampling import bootstrap_intervals, run_paired_tests
from truebleu.text import argument_checks
from truebleu.text.argument_checks import Record
from truebleu.text.languages import get_target_language
from truebleu.text.segments import File, as_file
from truebleu.text.system_names import format_path, name_systems
from truebleu.text.terminal_layout import format_count, join_words

# OmniSTEval suspects accumulated computation time if computation adds more than this number of
# milliseconds to LongYAAL.
MAX_COMPUTATION = 2000
# Languages without spaces between words, whose latency is measured per character.
CHARACTER_LANGUAGES = ("zh", "yue", "ja", "th", "lo", "km", "my")


class LatencySettings(Record):
    """The inputs and options that all logs share; see `latency`."""

    references: list[tuple[str, ...]] | None
    source_segments: list[SourceSegment] | None
    segmentation_path: str
    method: str
    unit: str
    language: str | None
    fix_elapsed: bool
    confidence: int | None
    level: float
    seed: int | None
    workers: int

    @property
    def resampling(self) -> dict[str, Any]:
        """The keyword arguments for resampling functions."""
        names = ("level", "seed", "workers")
        return {"resamples": self.confidence, **{name: getattr(self, name) for name in names}}


class IntervalOptions(TypedDict, total=False):
    """Options of intervals and tests.

    confidence: number of bootstrap resamples (default: 1000); None to omit intervals and tests.
    level: the confidence level (default: 0.95).
    seed: the seed of the resamples (default: 12345); None for a new seed per run.
    """

    confidence: int | None
    level: float
    seed: int | None


def latency(
    logs: Any,
    references: Any = None,
    *,
    segments: Any = None,
    method: str = "soft",
    unit: str | None = None,
    language: str | None = None,
    tokens: str | None = None,
    fix_elapsed: bool = False,
    workers: int = 1,
    **intervals: Unpack[IntervalOptions],
) -> Latency:
    """Return the latency of simultaneous systems, from the logs of their runs.

    Args:
        logs: one or more paths, or a mapping from system names to paths, of logs that SimulEval
            (`instances.log`), OmniSTEval (`instances.resegmented.jsonl`) or simulstream wrote.
        references: the references, as for metrics. They replace the references of the log, and add
            BLEU. Latency uses the length of the first reference.
        segments: the segmentation of the recordings (YAML or JSON), if each line of the log is a
            recording. The output is divided into the segments of the references.
        method: the re-segmentation method, such as "soft" or "omnisteval". StreamLAAL always
            uses mweralign, as simulstream does.
        unit: "word" or "char", the unit that has a delay (default: by the language, else "word").
        language: the target language or language pair, which selects BLEU's tokenizer and, for
            languages without spaces, characters.
        tokens: how tokens of simulstream become text: "word", "char" or "spm" (default: by the
            log).
        fix_elapsed: count only the computation since the previous unit, not all computation since
            the start; as OmniSTEval with --fix_simuleval_emission_ca.
        workers: the number of threads.
        intervals: the keywords of `IntervalOptions`: confidence, level and seed.

    Raises:
        InputError: a log, a segmentation or a reference is invalid; the error names the line.
        ValueError: an option is invalid.
    """
    argument_checks.check_options(latency, intervals, IntervalOptions)
    if unit is None:
        code = None if language is None else get_target_language(language).code
        unit = "char" if code in CHARACTER_LANGUAGES else "word"
    argument_checks.check_choice("unit", unit, UNITS)
    argument_checks.check_choice("tokens", tokens, (None, *TOKEN_KINDS))
    get_method(method)
    confidence = intervals.get("confidence", RESAMPLES)
    rows = None if references is None else read_reference_rows(references, is_required=True)
    if segments is None and method != "soft":
        raise argument_checks.ParameterError("[[method]] has no effect without [[segments]]")
    if segments is not None and rows is None:
        raise InputError("segments: missing references, one per segment (REF)")
    settings = LatencySettings(
        references=rows,
        source_segments=None if segments is None else read_segmentation(segments),
        segmentation_path="" if segments is None else format_path(segments),
        method=method,
        unit=unit,
        language=language,
        fix_elapsed=fix_elapsed,
        confidence=confidence
        if confidence is None
        else argument_checks.check_integer("confidence", confidence, 1),
        level=argument_checks.check_confidence_level(intervals.get("level", LEVEL)),
        seed=argument_checks.check_seed(intervals.get("seed", argument_checks.DEFAULT_SEED)),
        workers=workers,
    )
    systems = [
        LogResult(name, read_log(path, unit, tokens=tokens, fix_elapsed=fix_elapsed), settings)
        for name, path in _name_logs(logs).items()
    ]
    return Latency(_build_content(systems, settings))


def _name_logs(logs: Any) -> Mapping[str, Any]:
    if isinstance(logs, Mapping):
        paths_by_name = {str(name): path for name, path in logs.items()}
    else:
        paths: Any = [logs] if isinstance(logs, str | os.PathLike | File) else logs
        if not isinstance(paths, list | tuple):
            raise TypeError(f"logs: expected one or more paths, found {type(logs).__name__}")
        names = name_systems(paths) if all(map(_is_path, paths)) else list(map(str, paths))
        paths_by_name = dict(zip(names, paths, strict=True))
    if not paths_by_name:
        raise InputError("logs: expected at least one log")
    for name, path in paths_by_name.items():
        if not _is_path(path):
            raise TypeError(f"logs: {name}: expected a path, found {type(path).__name__}")
    return {name: as_file(path) for name, path in paths_by_name.items()}


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike | File)


class LogResult:
    """The scores of one log."""

    def __init__(self, name: str, log: Log, settings: LatencySettings) -> None:
        self.name, self.log, self.settings = name, log, settings
        self.resegmentations: dict[str, Resegmentation] = {}
        self.is_long = log.is_long
        self.metrics: Sequence[str] = LONG_METRICS if self.is_long else SHORT_METRICS
        stream_segments: list[TimedSegment] = []
        if settings.source_segments is None:
            rows = settings.references
            self.segments = list_segments(log, rows if rows is None else [row[0] for row in rows])
            self.metrics = [one for one in self.metrics if one != "StreamLAAL"]
        else:
            self.is_long, self.metrics = True, LONG_METRICS
            stream_method = "mweralign-cj" if settings.unit == "char" else "mweralign-none"
            self.segments = self._divide("LongYAAL", settings.method)
            stream_segments = self._divide("StreamLAAL", stream_method)
        self.primary = self.metrics[0]
        self.segment_scores: dict[str, list[float | None]] = {}
        self.scores: dict[str, dict[str, Any]] = {}
        has_elapsed = any(segment.elapsed for segment in self.segments)
        for suffix in ("", COMPUTATION_AWARE) if has_elapsed else ("",):
            for metric in self.metrics:
                segments = stream_segments if metric == "StreamLAAL" else self.segments
                result = score_latency(metric, segments, computation_aware=bool(suffix))
                label = metric + suffix
                self.segment_scores[label] = result.segment_scores
                valid = [score for score in result.segment_scores if score is not None]
                measure = Measure.from_scores(label, {name: valid}) if valid else None
                self._store_score(label, result.value, measure, skipped=result.skipped)
        if settings.references is not None:
            self._add_bleu(settings.references)
        if not self.is_long:
            for metric, value in measure_simultaneity(self.segments).items():
                self._store_score(metric, value, None)

    def _divide(self, use: str, method: str) -> list[TimedSegment]:
        """Divide the log into segments, and store the re-segmentation under the name `use`."""
        settings = self.settings
        assert settings.source_segments is not None
        assert settings.references is not None
        segments, result = divide_log(
            self.log,
            settings.source_segments,
            settings.references,
            method,
            in_seconds=use == "StreamLAAL",
            segmentation_path=settings.segmentation_path,
            workers=settings.workers,
        )
        self.resegmentations[use] = result
        return segments

    def _add_bleu(self, references: list[tuple[str, ...]]) -> None:
        bleu = make_metric("bleu")
        if self.settings.language is not None:
            bleu = bleu.adapt_to_language(get_target_language(self.settings.language))
        texts = [segment.text for segment in self.segments]
        table = bleu.statistics(texts, references, workers=self.settings.workers)
        score = bleu.from_statistics(table)
        signature = score.signature
        if "LongYAAL" in self.resegmentations:
            field = {"reseg": self.resegmentations["LongYAAL"].signature}
            signature = signature.with_test_set(field)
        self._store_score("BLEU", score.value, Measure(bleu, {self.name: table}))
        self.signature = str(signature)

    def _store_score(
        self, name: str, value: float | None, measure: Measure | None, *, skipped: int = 0
    ) -> None:
        """Store a score, with an interval if there is something to resample."""
        low = high = None
        if measure is not None and self.settings.confidence is not None:
            (intervals,) = bootstrap_intervals([measure], **self.settings.resampling)
            low, high = intervals[self.name].low, intervals[self.name].high
        self.scores[name] = {"score": value, "low": low, "high": high, "skipped": skipped}

    @property
    def empty(self) -> int:
        """The number of segments without output."""
        return sum(not segment.delays for segment in self.segments)

    def compare(self, baseline: LogResult) -> dict[str, Any] | None:
        """Return the difference from another log in the first metric, on their common segments."""
        pairs = zip(
            baseline.segment_scores[self.primary], self.segment_scores[self.primary], strict=True
        )
        common = [(a, b) for a, b in pairs if a is not None and b is not None]
        if not common or self.settings.confidence is None:
            return None
        first, second = zip(*common, strict=True)
        measure = Measure.from_scores(
            self.primary, {baseline.name: first, self.name: second}, lower_is_better=True
        )
        (tests,) = run_paired_tests([measure], **self.settings.resampling)
        difference = tests.differences[self.name]
        return {
            "metric": self.primary,
            "delta": difference.value,
            "low": difference.interval.low,
            "high": difference.interval.high,
            "p": difference.p,
            "segments": len(common),
        }

    def to_dict(self, baseline: LogResult | None) -> dict[str, Any]:
        """Return the results as JSON-compatible values."""
        return {
            "name": self.name,
            "log": self.log.path,
            "program": self.log.program,
            "segments": len(self.segments),
            "empty": self.empty,
            "scores": self.scores,
            "difference": None if baseline is None else self.compare(baseline),
            "resegmentation": {use: one.to_dict() for use, one in self.resegmentations.items()},
        }

    def list_notes(self) -> Iterator[str]:
        """Yield remarks about skipped segments, and about suspicious values."""
        total = format_count(len(self.segments), "segment")
        if self.empty:
            verb = "has" if self.empty == 1 else "have"
            yield (
                f"{self.name}: {self.empty:,} of {total} {verb} no output; latency leaves "
                f"{'it' if self.empty == 1 else 'them'} out."
            )
        references = () if self.is_long or self.settings.references else self.log.entries
        if empty := sum(entry.reference == "" for entry in references):
            yield (
                f"{self.name}: the references of {empty:,} of {total} in the log are empty, but "
                "LAAL, AL, DAL and AP depend on their length. Specify a reference file."
            )
        name = "LongYAAL" if self.is_long else "YAAL"
        late = self.scores[name]["skipped"] - self.empty
        if late:
            end = "recording" if self.is_long else "source"
            yield (
                f"{self.name}: {name} also leaves out {format_count(late, 'segment')} without "
                f"output before the end of the {end}, or without a duration."
            )
        dsptv = self.scores.get("DSPTV", {}).get("score")
        if dsptv is not None and abs(dsptv) > MAX_DSPTV:
            yield (
                f"{self.name}: the policy is probably degenerate: DSPTV is {dsptv:+.1f}%, beyond "
                f"±{MAX_DSPTV}%. The share of words before the end of the source (SWF) is "
                "inconsistent with the mean delay (EFSW)."
            )
        aware = self.scores.get(name + COMPUTATION_AWARE, {}).get("score")
        value = self.scores[name]["score"]
        has_backlog = None not in (aware, value) and aware - value > MAX_COMPUTATION
        if has_backlog and not self.settings.fix_elapsed and self.log.program == "SimulEval":
            yield (
                f"{self.name}: computation adds {aware - value:.0f} ms to {name}. SimulEval "
                "accumulates computation time; --fix-elapsed counts it since the previous unit."
            )
        if "LongYAAL" in self.resegmentations:
            yield f"{self.name}: {self.resegmentations['LongYAAL']}."


def _build_content(systems: Sequence[LogResult], settings: LatencySettings) -> dict[str, Any]:
    first = systems[0]
    for later in systems[1:]:
        if later.is_long != first.is_long:
            raise InputError(
                f"{later.log.path}: its segments are {'' if later.is_long else 'not '}cut from "
                f"recordings, unlike the segments of {first.log.path}. Evaluate the logs "
                "separately."
            )
        if len(later.segments) != len(first.segments):
            raise InputError(
                f"{later.log.path}: {format_count(len(later.segments), 'segment')}, but "
                f"{first.log.path} has {len(first.segments):,} (expected logs of the same test set)"
            )
    contents = [one.to_dict(None if one is first else first) for one in systems]
    names = dict.fromkeys(name for one in contents for name in one["scores"])
    content = {
        "truebleu_latency": 1,
        "verdict": "",
        "form": "long" if first.is_long else "short",
        "unit": settings.unit,
        "fix_elapsed": settings.fix_elapsed,
        "metrics": [
            {
                "name": name,
                "unit": UNITS_OF_METRICS.get(name.removesuffix(COMPUTATION_AWARE), "ms"),
                "lower_is_better": None if name in SIMULTANEITY else name != "BLEU",
            }
            for name in names
        ],
        "systems": contents,
        "interval": settings.confidence
        and {"resamples": settings.confidence, "level": settings.level, "seed": settings.seed},
        "signatures": {} if settings.references is None else {"BLEU": first.signature},
        "notes": [note for one in systems for note in one.list_notes()],
    }
    content["verdict"] = write_verdict(content)
    return content


class Latency(RecordView):
    """Latency of one or more logs. Printing shows a verdict and a table with a row per log."""

    __slots__ = ()

    KIND = "latency"
    WIDTH = 80

    @property
    def COLUMNS(self) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N802
        """The columns of each log: scores, interval limits and numbers of skipped segments."""
        columns = ["system", "log", "program", "segments", "empty"]
        for metric in self._content["metrics"]:
            keys = ("",) if metric["name"] in SIMULTANEITY else ("", "_low", "_high", "_skipped")
            columns += [metric["name"] + key for key in keys]
        return tuple(columns)

    @property
    def scores(self) -> dict[str, dict[str, float | None]]:
        """The score of each system by each metric; None if no segment has a score."""
        return {
            system["name"]: {name: one["score"] for name, one in system["scores"].items()}
            for system in self._content["systems"]
        }

    def _build_blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        content = self._content
        yield Paragraph(content["verdict"], "lead")
        names = [metric["name"] for metric in content["metrics"]]
        aware = [name for name in names if name.endswith(COMPUTATION_AWARE)]
        main = [name for name in names if name not in aware and name not in SIMULTANEITY]
        # Show quality next to the first metric, because fast systems tend to be worse.
        main = [main[0], *(name for name in main if name == "BLEU"), *main[1:]]
        yield _build_table(content, list(dict.fromkeys(main)), digits, is_main=True)
        if aware:
            yield Heading(2, "With computation time")
            yield _build_table(content, aware, digits)
        if "DSPTV" in names:
            yield Heading(2, "Words written before the end of the source")
            yield _build_table(content, SIMULTANEITY, digits)
        seconds = " (StreamLAAL: s; AP: a ratio)" if "StreamLAAL" in names else " (AP: a ratio)"
        legend = f"ms per {content['unit'].replace('char', 'character')}{seconds}"
        if content["interval"]:
            legend += f"; ± is half of the {format_percent(content['interval']['level'])} interval"
            if len(content["systems"]) > 1:
                legend += "; Δ and p: against the first log, on segments with output of both"
        yield Paragraph(f"{legend}.", "legend")
        yield from (Paragraph(note, "note") for note in content["notes"])
        if not short:
            for name, signature in content["signatures"].items():
                yield Paragraph(f"{name}|{signature}", "signature")

    def _build_format(self, output_format: str, **options: Any) -> Iterator[Any]:
        """Yield the blocks. HTML has a plot of quality and latency after the first table."""
        scatter = build_scatter(self._content) if output_format == "html" else None
        for block in super()._build_format(output_format, **options):
            yield block
            if scatter is not None and isinstance(block, Table):
                yield scatter
                scatter = None

    @classmethod
    def _rescale(cls, content: Content) -> Content:
        percentages = {one["name"] for one in content["metrics"] if one["unit"] == "%"}
        systems = [
            {
                **system,
                "scores": {
                    name: rescale(score, ("score", "low", "high")) if name in percentages else score
                    for name, score in system["scores"].items()
                },
            }
            for system in content["systems"]
        ]
        rescaled = {**content, "systems": systems, "more_digits": MORE_DIGITS}
        return {**rescaled, "verdict": write_verdict(rescaled)}

    def _format_title(self) -> str:
        return f"Latency of {join_words([one['name'] for one in self._content['systems']])}"

    def _build_records(self) -> Iterator[Mapping[str, Any]]:
        for system in self._content["systems"]:
            record = {"system": system["name"], **system}
            for name, score in system["scores"].items():
                record[name] = score["score"]
                record |= {f"{name}_{key}": score[key] for key in ("low", "high", "skipped")}
            yield record


# ---- layout ----

# simulstream measures StreamLAAL in seconds; other programs measure in milliseconds.
UNITS_OF_METRICS = {"StreamLAAL": "s", "AP": "", "BLEU": "%", "SWF": "%", "EFSW": "%", "DSPTV": "%"}
# Default number of decimals in text; milliseconds have none.
DIGITS = {"StreamLAAL": 3, "AP": 2, "BLEU": 1, "SWF": 1, "EFSW": 1, "DSPTV": 1}
SIMULTANEITY = ("SWF", "EFSW", "DSPTV")


def write_verdict(content: Content) -> str:
    """Return a sentence on the smallest latency, followed by a sentence on BLEU."""
    systems = content["systems"]
    name = content["metrics"][0]["name"]
    format_score = make_formatter(0)
    valid = [one for one in systems if one["scores"][name]["score"] is not None]
    if not valid:
        return f"No segment of {join_words([one['name'] for one in systems])} has a latency."
    best = min(valid, key=lambda one: one["scores"][name]["score"])
    score = best["scores"][name]
    value = format_score(score["score"])
    if len(systems) == 1:
        interval = ""
        if score["low"] is not None:
            level = format_percent(content["interval"]["level"])
            ends = " to ".join(format_score(score[end]) for end in ("low", "high"))
            interval = f"; {level} interval {ends}"
        verdict = f"{best['name']} lags {value} ms behind the source ({name}{interval})"
    elif len({system["scores"][name]["score"] for system in valid}) < 2 and len(valid) > 1:
        verdict = (
            f"{join_words([one['name'] for one in valid])} have the same lag, {value} ms ({name})"
        )
    else:
        verdict = f"{best['name']} has the smallest lag behind the source, {value} ms ({name})"
        # The first log is compared with the second.
        compared, sign = (systems[0], 1) if best is not systems[0] else (systems[1], -1)
        difference = (best if sign == 1 else compared)["difference"]
        if difference is not None:
            delta = make_signed_formatter(format_score)(sign * difference["delta"])
            is_significant = difference["p"] < round(1 - content["interval"]["level"], 12)
            p_value = f"p = {format_p_value(difference['p'])}".replace("= <", "< ")
            verdict += "" if is_significant else ", but not significantly"
            verdict += f": {delta} ms against {compared['name']}, {p_value}"
    scores = [(system["name"], system["scores"]) for system in systems]
    bleu = [(name, one["BLEU"]["score"]) for name, one in scores if "BLEU" in one]
    format_bleu = make_formatter(DIGITS["BLEU"] + content.get("more_digits", 0))
    if len(bleu) == 1:
        verdict += f"; BLEU is {format_bleu(bleu[0][1])}"
    elif bleu:
        verdict += "; BLEU: " + ", ".join(f"{one} {format_bleu(value)}" for one, value in bleu)
    return f"{verdict}."


def build_scatter(content: Content) -> Scatter | None:
    """Return a plot of BLEU against the first latency metric, or None without both."""
    name = content["metrics"][0]["name"]
    points = [
        (system["name"], system["scores"][name]["score"], system["scores"]["BLEU"]["score"])
        for system in content["systems"]
        if "BLEU" in system["scores"] and system["scores"][name]["score"] is not None
    ]
    if len(points) < 2:
        return None
    # A system is on the Pareto line if every other system is slower, worse, or equal in both
    # respects.
    line = [
        index
        for index, (_, latency, bleu) in enumerate(points)
        if not any(
            other <= latency and quality >= bleu and (other, quality) != (latency, bleu)
            for _, other, quality in points
        )
    ]
    line.sort(key=lambda index: points[index][1])
    return Scatter(
        "Top left is best. The dashed line (Pareto line) joins the systems that no other system "
        f"surpasses in one metric without being worse in the other: "
        f"{join_words([points[index][0] for index in line])}.",
        f"{name} (ms, lower is better)",
        "BLEU (higher is better)",
        points,
        line,
    )


def _build_table(
    content: Content, names: Sequence[str], digits: int | None, *, is_main: bool = False
) -> Table:
    systems = content["systems"]
    columns = [Column("log", is_left_aligned=True)]
    rows = [[Cell(system["name"])] for system in systems]
    if is_main:
        columns.append(Column("skipped", "skipped", tooltip="segments without output"))
        for row, system in zip(rows, systems, strict=True):
            row.append(Cell(f"{system['empty']:,}/{system['segments']:,}"))
    for name in names:
        metric = name.removesuffix(COMPUTATION_AWARE)
        default = DIGITS.get(metric, 0)
        if UNITS_OF_METRICS.get(metric) == "%":
            default += content.get("more_digits", 0)
        format_score = make_formatter(default if digits is None else digits)
        columns.append(Column(metric, name))
        for row, system in zip(rows, systems, strict=True):
            score = system["scores"].get(name)
            text = "–"
            if score is not None and score["score"] is not None:
                text = format_score(score["score"])
                if score["low"] is not None:
                    text += f" ± {format_score((score['high'] - score['low']) / 2)}"
            row.append(Cell(text))
        if is_main and name == names[0] and len(systems) > 1 and content["interval"]:
            columns += [Column(header, name) for header in ("Δ", "p")]
            for row, system in zip(rows, systems, strict=True):
                difference = system["difference"]
                if difference is None:
                    row.extend([Cell(""), Cell("")])
                    continue
                delta = make_signed_formatter(format_score)(difference["delta"])
                row.extend([Cell(delta), Cell(format_p_value(difference["p"]))])
    return Table(columns, rows)
