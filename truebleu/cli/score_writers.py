"""Writers for the scores of systems and groups, in all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu.cli.output import Results
from truebleu.metrics.base import Metric, Score, Signature
from truebleu.metrics.registry import lower_is_better
from truebleu.text.record import Record
from truebleu.text.system_names import ShortNames
from truebleu.text.terminal_layout import escape_unprintable, format_count, join_words

if TYPE_CHECKING:
    from truebleu.rendering.elements import Block, PaperBlock
    from truebleu.significance import Interval


# "sacrebleu" is the line that sacreBLEU prints for one system.
FORMATS = ("text", "sacrebleu", "json", "tsv", "csv", "markdown", "latex", "html")


class ScoreResult(Record):
    """One metric's score for a system or a group of segments."""

    system: str
    name: str
    """The name of the metric in -m, or the name of the score."""
    score: Score
    digits: int = 1
    segments: int | None = None
    group: Mapping[str, object] | None = None
    """The values that all segments of the group share, by column name."""
    interval: Interval | None = None
    test_set: Mapping[str, str] = MappingProxyType({})
    """The signature fields of the published test set."""
    metric: Metric[Any] | None = None
    scripts: Mapping[str, float] | None = None
    """The fraction of each script in the system output, or None if the kernel did not read it."""

    def format_value(self, value: float, output: Results) -> str:
        """Format a value with --width decimal places, or with the metric's default number."""
        return output.format_score(value, self.digits, is_percentage=self.score.is_percentage)

    @property
    def is_corpus_score(self) -> bool:
        """True if this is the score of all segments of a system."""
        return self.group is None

    @property
    def keys(self) -> dict[str, object]:
        """The values that identify the row in a table: the system or group columns."""
        if self.group is not None:
            return {**self.group, "segments": self.segments}
        return {"system": self.system}

    @property
    def valid_interval(self) -> Interval | None:
        """The interval, or None if it is missing or based on a single segment or document."""
        interval = self.interval
        if interval is None:
            return None
        units = self.segments if interval.documents is None else interval.documents
        return None if units == 1 else interval

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better."""
        if self.metric is not None:
            return self.metric.lower_is_better
        return lower_is_better(self.score.name)

    @property
    def signature(self) -> Signature:
        """The signature of the score, with the number of resamples and the seed."""
        signature = self.score.signature.with_test_set(self.test_set)
        interval = self.interval
        if interval is None:
            return signature
        unit = "segments" if interval.documents is None else "documents"
        return signature.with_resampling(bs=interval.resamples, seed=interval.seed, resample=unit)

    def format_signature(self, output: Results) -> str:
        """Return the name of the score and its signature (in short form with --short)."""
        return f"{self.score.name}|{output.format_signature(self.signature)}"

    @property
    def interval_ends(self) -> dict[str, float | None]:
        """The interval limits by column name, or an empty dict if no interval was requested."""
        if self.interval is None:
            return {}
        interval = self.valid_interval
        return {
            end: None if interval is None else getattr(interval, end) for end in ("low", "high")
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON fields, both sacreBLEU's and truebleu's."""
        key_fields = dict(self.keys)
        if self.group is not None:
            from truebleu.rendering.table_writers import to_finite_json

            group = {name: to_finite_json(value) for name, value in self.group.items()}
            key_fields = {"system": self.system, "group": group, "segments": self.segments}
        score = self.score.to_dict()
        fields = {**key_fields, "name": self.name, "score": score["score"]}
        fields["signature"] = str(self.signature)
        interval = self.valid_interval
        if interval is not None:
            mean, half_width = interval.mean, interval.half_width
            fields |= {"confidence_mean": mean, "confidence_var": half_width}
            fields["confidence"] = f"μ = {mean:.2f} ± {half_width:.2f}"
        if "verbose_score" in score:
            fields["verbose_score"] = score["verbose_score"]
        fields |= self.signature.fields
        fields |= {name: value for name, value in score.items() if name not in fields}
        if self.interval is not None:
            fields |= {**self.interval_ends, "level": self.interval.level}
        if self.scripts:
            fields["scripts"] = dict(self.scripts)
        return fields


def write_scores(
    results: Sequence[ScoreResult],
    metrics: Mapping[Metric[Any], str | None],
    output: Results,
    warnings: Sequence[Mapping[str, Any]] = (),
    *,
    data: Mapping[str, Any] = MappingProxyType({}),
    paper: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the scores, preceded by warnings about the texts.

    paper: options for paper tables, from `common_options.get_paper_options`.
    """
    from truebleu.metrics import text_warnings

    checked_results = [result for result in results if result.is_corpus_score] or results
    checked_scores = ((result.system, result.name, result.score) for result in checked_results)
    warnings = [*warnings, *text_warnings.warn_about_zero_scores(checked_scores)]
    output.short_names = ShortNames(result.system for result in results)
    rows = list(_group_results(results, len(metrics)))
    output.print_warnings(warnings, in_results=not output.score_only)
    if output.form == "json":
        content: dict[str, Any] = {"scores": [result.to_dict() for result in results]}
        for entry, result in zip(content["scores"], results, strict=True):
            if output.width is not None:
                entry["score"] = float(result.format_value(result.score.value, output))
        if warnings:
            content["warnings"] = list(warnings)
        content |= data
        output.write_object("score", content)
    elif output.form in ("tsv", "csv"):
        _write_rows(rows, output)
    elif output.score_only:
        lines = (
            "\t".join(result.format_value(result.score.value, output) for result in row)
            for row in rows
        )
        output.write("".join(f"{line}\n" for line in lines))
    elif output.form == "sacrebleu":
        named = len(rows) > 1
        lines = (line for row in rows for line in _format_lines(row, output, named=named))
        output.write("".join(f"{line}\n" for line in lines))
    else:
        shorten = output.short_names.shorten_all
        rows = [
            [one.replace(system=shorten(one.system), group=shorten(one.group)) for one in row]
            for row in rows
        ]
        warnings = shorten(list(warnings))
        blocks: Iterable[Any]
        if output.form in ("markdown", "latex"):
            blocks = _build_paper_blocks(rows, output, warnings, **paper)
        else:
            blocks = _build_elements(rows, output, warnings)
        output.write_elements(blocks, title=", ".join(dict.fromkeys(row[0].system for row in rows)))


def _group_results(
    results: Sequence[ScoreResult], metric_count: int
) -> Iterator[list[ScoreResult]]:
    """Yield the scores of each system or group for all metrics."""
    by_keys: dict[tuple[str, ...], list[ScoreResult]] = {}
    # Compare keys by their representation, because NaN does not equal itself.
    for result in results:
        by_keys.setdefault((result.system, *map(repr, result.keys.values())), []).append(result)
    for scores in by_keys.values():
        for start in range(0, len(scores), metric_count):
            yield scores[start : start + metric_count]


def _format_lines(row: Sequence[ScoreResult], output: Results, *, named: bool) -> Iterator[str]:
    """Yield one line per metric in sacreBLEU's format, with the interval if there is one.

    named: whether each line starts with the name of the system or group.
    """
    names = [escape_unprintable(str(key)) for key in row[0].keys.values()] if named else []
    heads = [result.format_signature(output) for result in row]
    width = max(map(len, heads))
    for head, result in zip(heads, row, strict=True):
        estimate = _format_estimate(result, output)
        line = f"{head:>{width}} = {estimate} {output.format_details(result.score)}".rstrip()
        yield "\t".join([*names, line])


def _format_estimate(result: ScoreResult, output: Results) -> str:
    """Return a rounded score, with its interval if there is one."""
    interval = result.valid_interval
    value = result.format_value(result.score.value, output)
    if interval is None:
        return value
    low, high = (result.format_value(end, output) for end in (interval.low, interval.high))
    return f"{value} [{low}, {high}]"


# Additional columns in tables of a single metric.
DETAILS: dict[str, dict[str, Callable[[Score], str]]] = {
    "BLEU": {
        "BP": lambda score: f"{score.details()['brevity_penalty']:.3f}",
        "ratio": lambda score: f"{score.details()['ratio']:.3f}",
        "hyp_len": lambda score: str(score.details()["hypothesis_length"]),
        "ref_len": lambda score: f"{score.details()['reference_length']:g}",
    }
}


def _build_elements(
    rows: Sequence[Sequence[ScoreResult]], output: Results, warnings: Sequence[Mapping[str, Any]]
) -> Iterator[Block]:
    """Yield warnings, tables with a row per system or group, and signatures."""
    from truebleu.rendering.elements import Paragraph, build_warnings
    from truebleu.rendering.elements import Table as TableElement

    corpus_rows = [row for row in rows if row[0].is_corpus_score]
    signed_rows = rows
    if output.form == "text" and len(corpus_rows) == 1:
        yield from _build_score_elements(corpus_rows[0], output, warnings)
        rows = [row for row in rows if not row[0].is_corpus_score]
    else:
        yield from build_warnings({"warnings": warnings})
    tables: dict[tuple[str, ...], list[Sequence[ScoreResult]]] = {}
    for row in rows:
        tables.setdefault(tuple(row[0].keys), []).append(row)
    for names, table_rows in tables.items():
        first = table_rows[0]
        # Tables of several metrics, and tables with several columns of names, have less space for
        # details.
        details = DETAILS.get(first[0].score.name, {}) if len(first) == 1 else {}
        if len(names) > 1:
            details = {name: details[name] for name in ("BP", "ratio") if name in details}
        cells = [
            [
                *(
                    "" if key is None else escape_unprintable(str(key))
                    for key in row[0].keys.values()
                ),
                *(_format_estimate(result, output) for result in row),
                *([output.format_details(row[0].score).partition(" ")[0]] if details else []),
                *(format_detail(row[0].score) for format_detail in details.values()),
            ]
            for row in table_rows
        ]
        detail_names = ["precisions", *details] if details else []
        header = [*names, *(result.name for result in first), *detail_names]
        text_columns = [i for i, name in enumerate(names) if name != "segments"]
        yield TableElement.from_text_rows(
            header, cells, text_columns, name_count=max(1, len(text_columns))
        )
    if output.short_names:
        yield Paragraph(output.short_names.note, "legend")
    heads = dict.fromkeys(one.format_signature(output) for row in signed_rows for one in row)
    yield from (Paragraph(head, "signature") for head in heads)


def _build_paper_blocks(
    rows: Sequence[Sequence[ScoreResult]],
    output: Results,
    warnings: Sequence[Mapping[str, Any]],
    *,
    caption: str | None = None,
    label: str = "tab:truebleu",
    signature: str = "footnote",
) -> Iterator[PaperBlock]:
    """Yield warnings, and a table of systems and metrics with a section per group."""
    from truebleu.comparison.paper_layout import (
        build_paper_table,
        end_text,
        format_data,
        format_systems,
        mark_best,
    )
    from truebleu.metrics.text_warnings import list_unranked_systems
    from truebleu.rendering.elements import Cell, Column, build_warnings
    from truebleu.rendering.number_format import format_percent

    yield from build_warnings({"warnings": warnings})
    first = rows[0]
    unranked = {one.name: list_unranked_systems(warnings, one.name) for one in first}
    names_systems = "system" in first[0].keys
    section_rows: dict[str, list[Sequence[ScoreResult]]] = {}
    for row in rows:
        keys = {name: value for name, value in row[0].keys.items() if name != "system"}
        segment_count = keys.pop("segments", None)
        title = ", ".join("null" if value is None else str(value) for value in keys.values())
        if title and segment_count is not None:
            title = f"{title} ({format_count(int(str(segment_count)), 'segment')})"
        section_rows.setdefault(title if names_systems else "", []).append(row)
    key_names = ["system"] if names_systems else list(first[0].keys)
    columns = [Column(name, is_left_aligned=name != "segments") for name in key_names]
    columns += [
        Column(f"{result.name} {'↓' if result.lower_is_better else '↑'}") for result in first
    ]
    sections = []
    for title, same_section_rows in section_rows.items():
        score_columns = []
        for results in zip(*same_section_rows, strict=True):
            cells = [Cell(result.format_value(result.score.value, output)) for result in results]
            if names_systems:
                names = unranked[results[0].name]
                ranked_cells = [
                    cell
                    for cell, result in zip(cells, results, strict=True)
                    if result.system not in names
                ]
                mark_best(ranked_cells, higher_is_better=not results[0].lower_is_better)
            for cell, result in zip(cells, results, strict=True):
                cell.text = _format_estimate(result, output).replace("-", "−")
            score_columns.append(cells)
        key_texts = [[str(row[0].keys[name]) for row in same_section_rows] for name in key_names]
        key_columns = [list(map(Cell, texts)) for texts in key_texts]
        sections.append(
            (
                title or ("all segments" if len(section_rows) > 1 else ""),
                list(zip(*key_columns, *score_columns, strict=True)),
            )
        )
    signatures = dict.fromkeys(one.format_signature(output) for row in rows for one in row)
    if caption is None:
        systems = list(dict.fromkeys(str(row[0].keys.get("system")) for row in rows))
        owner = f" of {format_systems(systems)}" if names_systems else ""
        segments = first[0].segments
        documents = None if first[0].interval is None else first[0].interval.documents
        data = (
            ""
            if segments is None
            else f" {format_data(segments, str(first[0].signature), documents)}"
        )
        caption = f"{join_words([result.name for result in first])}{owner}{data}"
    sentences = [end_text(caption)]
    if any(cell.mark == "best" for _, cell_rows in sections for row in cell_rows for cell in row):
        sentences.append("Bold: best score.")
    interval = first[0].valid_interval
    if interval is not None:
        sentences.append(
            f"Brackets: {format_percent(interval.level)} intervals (percentile bootstrap, "
            f"{interval.resamples:,} resamples)."
        )
    yield build_paper_table(
        columns,
        sections,
        caption=" ".join(filter(None, sentences)),
        label=label,
        signatures=list(signatures),
        signature=signature,
    )


def _build_score_elements(
    row: Sequence[ScoreResult], output: Results, warnings: Sequence[Mapping[str, Any]]
) -> Iterator[Block]:
    """Yield a sentence with a system's scores, warnings, and the components of each score."""
    from truebleu.comparison.comparison_columns import format_segments
    from truebleu.metrics.text_warnings import list_unranked_systems
    from truebleu.rendering.elements import Cell, Facts, Paragraph, build_warnings

    first = row[0]
    scores = join_words([_describe_estimate(result, output) for result in row])
    documents = None if first.interval is None else first.interval.documents
    size = "" if first.segments is None else f" on {format_segments(first.segments, documents)}"
    count = first.signature.fields.get("nrefs", "1")
    count = "a varying number of" if count == "var" else count
    references = "" if count == "1" else f" with {count} references"
    system = escape_unprintable(first.system)
    yield Paragraph(f"{system} has {scores}{size}{references}.", "lead")
    if warnings:
        scores_noun = "this score" if len(row) == 1 else "these scores"
        cause = "the warning" if len(warnings) == 1 else "the warnings"
        is_unreliable = any(one.system in list_unranked_systems(warnings, one.name) for one in row)
        advice = f"Do not report {scores_noun} yet. Resolve {cause} below first."
        if not is_unreliable:
            advice = f"Read {cause} below before you report {scores_noun}."
        yield Paragraph(advice)
        yield from build_warnings({"warnings": warnings})
    for result in row:
        facts = list(list_score_facts(result.score, output.scale))
        if len(row) > 1:
            facts.insert(0, (result.name, _format_estimate(result, output)))
        if facts:
            yield Facts([(name, Cell(value)) for name, value in facts])


def _describe_estimate(result: ScoreResult, output: Results) -> str:
    """Return a phrase with the name, value and interval of a score."""
    value = result.format_value(result.score.value, output)
    notes = ["lower is better"] if result.lower_is_better else []
    interval = result.valid_interval
    if interval is not None:
        low, high = (result.format_value(end, output) for end in (interval.low, interval.high))
        notes.append(f"{100 * interval.level:g}% interval {low} to {high}")
    return f"{result.name} {value}" + (f" ({'; '.join(notes)})" if notes else "")


def _write_rows(rows: Sequence[Sequence[ScoreResult]], output: Results) -> None:
    """Write one row per system or group, with scores, interval limits and signatures."""
    from truebleu.rendering.table_writers import TableSpec

    scores = [result.name for result in rows[0]]
    prefixes = [""] if len(scores) == 1 else [f"{name}_" for name in scores]
    records = [
        {
            **row[0].keys,
            **{result.name: result.score.value for result in row},
            **{
                f"{prefix}{end}": value
                for prefix, result in zip(prefixes, row, strict=True)
                for end, value in result.interval_ends.items()
            },
            **{
                f"{prefix}signature": output.format_signature(result.signature)
                for prefix, result in zip(prefixes, row, strict=True)
            },
        }
        for row in rows
    ]
    # Records of groups follow records of systems, and have additional keys.
    names = [*dict.fromkeys(name for record in reversed(records) for name in record)]
    table = TableSpec(
        "score",
        names,
        score_names=scores,
        percentage_names=[result.name for result in rows[0] if result.score.is_percentage],
        text_names=[name for name in names if name not in scores],
    )
    writer = output.make_row_writer(table)
    writer.write([[record.get(name) for record in records] for name in names])
    writer.finish()


# Labels of counts in display order, keyed by field of `Score.details`.
_COUNT_LABELS = {
    "edits": "edits",
    "hits": "correct",
    "substitutions": "substituted",
    "deletions": "missing",
    "insertions": "inserted",
    "chunks": "chunks",
}
_PENALTY_LABELS = {
    "brevity_penalty": "brevity penalty",
    "penalty": "length penalty",
    "fragmentation_penalty": "fragmentation penalty",
}


def list_score_facts(score: Score, scale: int = 100) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the components of a score, for display.

    scale: upper end of the scale of percentages, 100 or 1.
    """
    details = score.details()

    def format_percentage(value: float) -> str:
        return f"{value:.1f}" if scale == 100 else f"{value / 100:.3f}"

    yield from _list_precisions(details, format_percentage)
    if "information" in details:
        yield "information", _join_orders(map("{:.2f}".format, details["information"]), "n-grams")
    for field, label in _PENALTY_LABELS.items():
        if field in details:
            yield label, _describe_penalty(field, details)
    counts = [
        f"{details[name]:,} {label}" for name, label in _COUNT_LABELS.items() if name in details
    ]
    if counts:
        yield "counts", join_words(counts)
    lengths = _describe_lengths(details)
    if lengths:
        yield "length", lengths


def _list_precisions(
    details: Mapping[str, Any], format_percentage: Callable[[float], str]
) -> Iterator[tuple[str, str]]:
    """Yield the precision and the recall, per order or for all orders together."""
    matches, totals = details.get("matches"), details.get("totals")
    precisions = details.get("precisions")
    if precisions is None and isinstance(matches, list) and isinstance(totals, list):
        precisions = [
            100 * match / total if total else 0.0
            for match, total in zip(matches, totals, strict=True)
        ]
    character_order = details.get("char_order", 0)
    for label, values in (("precisions", precisions), ("recalls", details.get("recalls"))):
        if values is None:
            continue
        numbers = list(map(format_percentage, values))
        if character_order:
            yield f"character {label}", _join_orders(numbers[:character_order], "characters")
        if numbers[character_order:]:
            kind = "word" if character_order else "n-gram"
            yield f"{kind} {label}", _join_orders(numbers[character_order:], "n-grams")
    for label in ("precision", "recall"):
        if label in details:
            value = details[label]
            yield label, format_percentage(value) if value > 1 else f"{value:.3f}"
    if isinstance(matches, int) and isinstance(totals, int):
        yield "matches", f"{matches:,} of {totals:,} n-grams"


def _join_orders(numbers: Iterable[str], unit: str) -> str:
    """Join the formatted values of all n-gram orders, and add the range of orders."""
    orders = list(numbers)
    text, count = "/".join(orders), len(orders)
    if unit == "characters":
        return f"{text} (1 to {count} characters)"
    return f"{text} (1- to {count}-grams)" if count > 1 else f"{text} (1-grams)"


def _describe_penalty(field: str, details: Mapping[str, Any]) -> str:
    value = f"{details[field]:.3f}"
    if field != "brevity_penalty":
        return value
    if details[field] == 1:
        return f"{value} (none: the output is not shorter than the reference)"
    return f"{value} (the output is shorter than the reference)"


def _describe_lengths(details: Mapping[str, Any]) -> str:
    """Describe the lengths of the output and the reference. Return "" if they are unknown."""
    hypothesis, reference = (details.get(f"{side}_length") for side in ("hypothesis", "reference"))
    if reference is None:
        return ""
    expected = f"{reference:,.0f}" if float(reference).is_integer() else f"{reference:,.1f}"
    unit = "characters" if "cer" in details else "tokens"
    if hypothesis is None:
        return f"{expected} {unit} in the reference"
    ratio = f" (ratio {hypothesis / reference:.3f})" if reference else ""
    return f"{hypothesis:,} {unit}; reference {expected}{ratio}"
