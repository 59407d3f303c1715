"""Scores of systems, documents or groups, as they are written in each format."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu.cli.output import Results, UsageError, printable
from truebleu.metrics.base import Metric, Score, Signature
from truebleu.text import json_writer
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu.cli.input_files import Chosen
    from truebleu.rendering.elements import Block
    from truebleu.significance import Interval

FORMATS = ("text", "json", "tsv", "csv", "markdown", "latex", "html")


class Scored(Record):
    """A score by one metric: of a system, of one of its documents, or of a group of rows."""

    system: str
    name: str
    """The name that the metric was asked for by, or that of the score."""
    score: Score
    digits: int = 1
    segments: int | None = None
    document: str | None = None
    group: Mapping[str, object] | None = None
    """What the rows of a group have in common, by the names of columns."""
    interval: Interval | None = None
    test_set: Mapping[str, str] = MappingProxyType({})
    """What signatures say of the published test set that was scored."""
    metric: Metric[Any] | None = None
    scripts: Mapping[str, float] | None = None
    """The share of each script in the text of a system, where the kernel read it."""

    def rounded(self, value: float, output: Results) -> str:
        """A number of the score's metric, for a person."""
        return output.rounded(value, self.digits)

    @property
    def is_whole(self) -> bool:
        """True for the score of all segments of a system."""
        return self.document is None and self.group is None

    @property
    def keys(self) -> dict[str, object]:
        """The cells before the score in a table: the system, or the columns of a group."""
        if self.group is not None:
            return {**self.group, "segments": self.segments}
        if self.document is not None:
            return {"system": self.system, "document": self.document, "segments": self.segments}
        return {"system": self.system}

    @property
    def known(self) -> Interval | None:
        """The interval; None without one, as one segment is."""
        interval = self.interval
        alone = ("one segment", "one document")
        return None if interval is None or interval.note.startswith(alone) else interval

    @property
    def signature(self) -> Signature:
        """The score's, with resamples and seed."""
        signature = self.score.signature.with_test_set(self.test_set)
        interval = self.interval
        if interval is None:
            return signature
        what = "segments" if interval.documents is None else "documents"
        return signature.with_resampling(bs=interval.resamples, seed=interval.seed, resample=what)

    @property
    def ends(self) -> dict[str, float | None]:
        """The ends of the interval, if one was asked for."""
        if self.interval is None:
            return {}
        known = self.known
        return {end: None if known is None else getattr(known, end) for end in ("low", "high")}

    def to_dict(self) -> dict[str, Any]:
        """Everything: sacreBLEU's keys, and truebleu's."""
        named = dict(self.keys)
        if self.group is not None:
            from truebleu.cli.row_writers import plain

            group = {name: plain(value) for name, value in self.group.items()}
            named = {"system": self.system, "group": group, "segments": self.segments}
        score = self.score.to_dict()
        made = {**named, "name": self.name, "score": score["score"]}
        made["signature"] = str(self.signature)
        known = self.known
        if known is not None:
            mean, half = known.mean, known.half_width
            made |= {"confidence_mean": mean, "confidence_var": half}
            made["confidence"] = f"μ = {mean:.2f} ± {half:.2f}"
        if "verbose_score" in score:
            made["verbose_score"] = score["verbose_score"]
        made |= self.signature.fields
        made |= {name: value for name, value in score.items() if name not in made}
        if self.interval is not None:
            made |= {**self.ends, "level": self.interval.level}
        if self.scripts:
            made["scripts"] = dict(self.scripts)
        return made


def adjust(output: Results, options: argparse.Namespace) -> None:
    """Makes scores alone lines of numbers, unless something else is asked for."""
    if not output.score_only:
        return
    if options.format is None and options.output is None and output.form != "text":
        output.form = "tsv"
    if output.form in ("json", "markdown", "latex", "html"):
        raise UsageError(
            f"-b/--score-only: {output.form} has more than scores; -f text or tsv has not"
        )


def write(
    results: Sequence[Scored],
    metrics: Mapping[Metric[Any], str | None],
    output: Results,
    warnings: Sequence[Mapping[str, Any]] = (),
    *,
    test_set: Chosen | None = None,
) -> None:
    """Write the scores, with the warnings about their text before them."""
    from truebleu.metrics import text_warnings

    whole = ((one.system, one.name, one.score) for one in results if one.document is None)
    warnings = [*warnings, *text_warnings.warn_about_zero_scores(whole)]
    rows = list(_rows(results, len(metrics)))
    is_line = output.score_only or (len(rows) == 1 and rows[0][0].group is None)
    output.warn(warnings, shown=not is_line)
    if output.form == "json":
        content = _content(results, output)
        if warnings:
            content["warnings"] = list(warnings)
        if test_set is not None:
            content["test_set"] = test_set.to_dict()
        output.write_object("score", content)
    elif output.form in ("tsv", "csv"):
        _write_rows(rows, output)
    elif output.score_only:
        lines = ("\t".join(one.rounded(one.score.value, output) for one in row) for row in rows)
        output.write("".join(f"{line}\n" for line in lines))
    elif output.form == "text" and is_line:
        output.write("".join(f"{line}\n" for line in _lines(rows[0], output)))
    else:
        title = ", ".join(dict.fromkeys(one.system for one in results))
        blocks = _blocks(rows, output, warnings)
        output.show_blocks(blocks, title=title)


def _rows(results: Sequence[Scored], metrics: int) -> Iterator[list[Scored]]:
    """The scores of each system, document or group by all metrics."""
    by_keys: dict[tuple[str, ...], list[Scored]] = {}
    # Keys are compared as they are written: one that is not a number equals nothing.
    for one in results:
        by_keys.setdefault((one.system, *map(repr, one.keys.values())), []).append(one)
    for scores in by_keys.values():
        for start in range(0, len(scores), metrics):
            yield scores[start : start + metrics]


def _content(results: Sequence[Scored], output: Results) -> dict[str, Any]:
    """All scores, and those of documents beside them."""

    def told(one: Scored) -> dict[str, Any]:
        made = one.to_dict()
        if output.width is not None:
            made["score"] = float(one.rounded(one.score.value, output))
        return made

    made = {"scores": [told(one) for one in results if one.document is None]}
    documents = [told(one) for one in results if one.document is not None]
    return made | ({"documents": documents} if documents else {})


def _lines(row: Sequence[Scored], output: Results) -> Iterator[str]:
    """The lines of sacreBLEU for one system, with the interval where there is one."""
    heads = [f"{one.score.name}|{output.signature(one.signature)}" for one in row]
    width = max(map(len, heads))
    for head, one in zip(heads, row, strict=True):
        yield f"{head:>{width}} = {_estimate(one, output)} {one.score.verbose}".rstrip()


def _estimate(one: Scored, output: Results) -> str:
    """A score for a person, with its interval if it has one."""
    known = one.known
    value = one.rounded(one.score.value, output)
    if known is None:
        return value
    return f"{value} [{one.rounded(known.low, output)}, {one.rounded(known.high, output)}]"


# What tables of one metric show beside its scores.
DETAILS: dict[str, dict[str, Callable[[Score], str]]] = {
    "BLEU": {
        "precisions": lambda score: score.verbose.partition(" ")[0],
        "BP": lambda score: f"{score.details()['brevity_penalty']:.3f}",
        "ratio": lambda score: f"{score.details()['ratio']:.3f}",
        "hyp_len": lambda score: str(score.details()["hypothesis_length"]),
        "ref_len": lambda score: f"{score.details()['reference_length']:g}",
    }
}


def _blocks(
    rows: Sequence[Sequence[Scored]], output: Results, warnings: Sequence[Mapping[str, Any]]
) -> Iterator[Block]:
    """Warnings, tables with a row per system, document or group, and the signatures."""
    from truebleu.rendering.elements import Paragraph, build_warnings
    from truebleu.rendering.elements import Table as Drawn

    yield from build_warnings({"warnings": warnings})
    tables: dict[tuple[str, ...], list[Sequence[Scored]]] = {}
    for row in rows:
        tables.setdefault(tuple(row[0].keys), []).append(row)
    for names, some in tables.items():
        first = some[0]
        # What a score is made of is worth its room where there is one metric.
        details = DETAILS.get(first[0].score.name, {}) if len(first) == 1 else {}
        cells = [
            [
                *("" if key is None else printable(str(key)) for key in row[0].keys.values()),
                *(_estimate(one, output) for one in row),
                *(told(row[0].score) for told in details.values()),
            ]
            for row in some
        ]
        header = [*names, *(one.name for one in first), *details]
        yield Drawn.from_text_rows(
            header, cells, [i for i, name in enumerate(names) if name != "segments"]
        )
    heads = [f"{one.score.name}|{output.signature(one.signature)}" for row in rows for one in row]
    yield from (Paragraph(head, "signature") for head in dict.fromkeys(heads))


def _write_rows(rows: Sequence[Sequence[Scored]], output: Results) -> None:
    """A row per system, document or group, with everything that its scores were made of."""
    first = rows[0]
    names = [*dict.fromkeys(name for row in rows for name in row[0].keys)]
    scores = [one.name for one in first]
    beside = [dict(_beside(row)) for row in rows]
    further = list(dict.fromkeys(name for one in beside for name in one))
    signatures = ["signature"] if len(first) == 1 else [f"{name}_signature" for name in scores]
    columns: list[list[Any]] = [[row[0].keys.get(name) for row in rows] for name in names]
    columns += [[row[i].score.value for row in rows] for i in range(len(first))]
    columns += [[one.get(name) for one in beside] for name in further]
    columns += [[output.signature(row[i].signature) for row in rows] for i in range(len(first))]
    from truebleu.cli.row_formats import FORMATS as ROWS
    from truebleu.cli.row_writers import Table

    table = Table(
        "score",
        [*names, *scores, *further, *signatures],
        scores=scores,
        texts=[*names, *further, *signatures],
    )
    writer = ROWS[output.form](output, table)
    writer.write(columns)
    writer.finish()


def _beside(row: Sequence[Scored]) -> Iterator[tuple[str, Any]]:
    """The numbers that scores were made of; of several metrics their intervals alone."""
    for one in row:
        if len(row) > 1:
            yield from ((f"{one.name}_{end}", value) for end, value in one.ends.items())
            continue
        details = {**one.score.details(), **one.ends}
        if one.interval is not None:
            details["level"] = one.interval.level
        for name, value in details.items():
            if isinstance(value, list):
                yield from ((f"{name}_{place}", part) for place, part in enumerate(value, 1))
            elif isinstance(value, dict):
                yield name, json_writer.format_json(value, default=str)
            else:
                yield name, value
