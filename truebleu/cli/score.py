"""`truebleu score`: corpus-level scores of systems with one or more metrics.

examples:
  truebleu score reference.en -i system.en
      score one system; print the score and its parts on a terminal, or exact JSON if output is
      piped; -f sacrebleu prints the line that sacreBLEU prints

  truebleu score ref.a.zh ref.b.zh -i cedar.zh birch.zh -tok zh -f latex -o scores.tex
      score two systems against two references, and write a table for a paper

  truebleu score reference.en -i system.en -m bleu,chrf,ter,nist
      compute four metrics and read the text only once

  zcat system.txt.gz | truebleu score table.tsv#3 -lc -b
      score standard input against the third column of a table, in lower case; print only the score

  truebleu score reference.en -i system.en --docs documents.txt --by document
      also score each document

  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
      append the score to a log; show its trend with truebleu history scores.jsonl

  truebleu score outputs.parquet --hyp-column hyp --ref-column ref --by system domain
      read a table of any size with hypotheses and references; score each system and domain

  truebleu score refs.parquet -i 'outputs/*.parquet' --join id --by system
      join tables of hypotheses and references by an id

  truebleu score table.csv --hyp-column cedar birch --ref-column ref.a ref.b
      read two systems and two references from the columns of a table
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Progress, Results, UsageError, print_message, raise_if_failed
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Corpus, Metric, Score, Signature
from truebleu.metrics.joint_counting import compute_statistics_or_errors
from truebleu.metrics.registry import lower_is_better
from truebleu.metrics.scores import Statistics
from truebleu.text.argument_checks import Record
from truebleu.text.segments import (
    File,
    hash_file,
    hash_texts,
    make_rereadable,
    read_reference_streams,
)
from truebleu.text.system_names import ShortNames, format_path
from truebleu.text.terminal_layout import escape_unprintable, format_count, join_words

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.metrics.joint_counting import FailedMetrics
    from truebleu.rendering.elements import Block, PaperBlock
    from truebleu.significance import Interval


# "sacrebleu" is the line that sacreBLEU prints for one system.
FORMATS = ("text", "sacrebleu", "json", "tsv", "csv", "markdown", "latex", "html")
# Options that only change intervals or entries of the log.
INTERVAL_OPTIONS = ("resample", "level", "seed")
LOG_OPTIONS = ("log_name", "log_note", "log_report")


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


def _label_group(result: ScoreResult) -> str:
    """Return the system of a score, and its group in parentheses."""
    columns = [
        f"{column} {value}"
        for column, value in (result.group or {}).items()
        if value is not None and str(value) != result.system
    ]
    return f"{result.system} ({', '.join(columns)})" if columns else result.system


def write_scores(
    results: Sequence[ScoreResult],
    metrics: Mapping[Metric[Any], str | None],
    output: Results,
    warnings: Sequence[Mapping[str, Any]] = (),
    *,
    data: Mapping[str, Any] = MappingProxyType({}),
    paper: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the scores, preceded by warnings about the texts."""
    checked_results = [result for result in results if result.is_corpus_score] or results
    checked_scores = ((_label_group(one), one.name, one.score) for one in checked_results)
    warnings = [*warnings, *text_warnings.warn_about_zero_scores(checked_scores)]
    output.short_names = ShortNames(result.system for result in results)
    # The scores of each system or group for all metrics. Keys are compared by their
    # representation, because NaN does not equal itself.
    by_keys: dict[tuple[str, ...], list[ScoreResult]] = {}
    for result in results:
        by_keys.setdefault((result.system, *map(repr, result.keys.values())), []).append(result)
    rows = [
        scores[start : start + len(metrics)]
        for scores in by_keys.values()
        for start in range(0, len(scores), len(metrics))
    ]
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
    value = result.format_value(result.score.value, output)
    notes = ["lower is better"] if result.lower_is_better else []
    interval = result.valid_interval
    if interval is not None:
        low, high = (result.format_value(end, output) for end in (interval.low, interval.high))
        notes.append(f"{100 * interval.level:g}% interval {low} to {high}")
    return f"{result.name} {value}" + (f" ({'; '.join(notes)})" if notes else "")


def _write_rows(rows: Sequence[Sequence[ScoreResult]], output: Results) -> None:
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
    """Yield the names and values of the components of a score, for display."""
    details = score.details()

    def format_percentage(value: float) -> str:
        return f"{value:.1f}" if scale == 100 else f"{value / 100:.3f}"

    yield from _list_precisions(details, format_percentage)
    if "information" in details:
        yield "information", _join_orders(map("{:.2f}".format, details["information"]), "n-grams")
    for field, label in _PENALTY_LABELS.items():
        if field in details:
            value = f"{details[field]:.3f}"
            if field == "brevity_penalty":
                is_shorter = details[field] != 1
                comparison = "is shorter" if is_shorter else "is not shorter"
                value += (
                    f" ({'' if is_shorter else 'none: '}the output {comparison} than the reference)"
                )
            yield label, value
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
    orders = list(numbers)
    text, count = "/".join(orders), len(orders)
    if unit == "characters":
        return f"{text} (1 to {count} characters)"
    return f"{text} (1- to {count}-grams)" if count > 1 else f"{text} (1-grams)"


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


def list_score_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu score`."""
    yield from files.list_input_groups(words)
    yield from metric_options.list_metric_groups(words)
    yield OptionGroup("more", files.SOURCE, f"{files.DOCUMENTS}, for --by document or --resample")
    yield OptionGroup("intervals", *shared.INTERVALS, *shared.RESAMPLE)
    yield files.make_table_group(
        "score each group of rows that have equal values in these columns; for text files, "
        "--by document scores each document of --docs"
    )
    yield shared.LOG
    yield shared.PAPER
    display_options = (shared.COLOR, shared.SCORE_ONLY)
    yield shared.make_output_group(FORMATS, "json", *display_options, digits=1)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Score each system and write the scores."""
    metrics = metric_options.select_metrics(options)
    output = Results(options)
    output.select_line_format(options, ("sacrebleu", "json", "markdown", "latex", "html"))
    output.check_scale()
    output.check_short(("json",))
    paper = shared.get_paper_options(options, output.form)
    is_tabular = files.uses_tables(options)
    if shared.get_resample_count(options) is None:
        shared.refuse_options(options, INTERVAL_OPTIONS, "has no effect without --confidence")
    if options.log is None:
        shared.refuse_options(options, LOG_OPTIONS, "has no effect without --log")
    if is_tabular:
        with output:
            with Progress(quiet=options.quiet) as progress:
                scores = _score_tables(options, metrics, progress)
            write_scores(scores, metrics, output, paper=paper)
        if not options.quiet:
            for line in dict.fromkeys(line for result in scores for line in result.score.warnings):
                print_message("warning", line)
        return
    inputs = files.Inputs(options)
    files.get_documents(options, inputs)  # refuses options that need documents
    if options.docs is not None and not files.uses_documents(options):
        raise UsageError(files.UNUSED_DOCUMENTS)
    scorer = SystemScorer(options, metrics, inputs, shared.get_resample_count(options), {}, {})
    logger = None if options.log is None else ScoreLogger(options, inputs)
    results: list[ScoreResult] = []
    with output:
        with Progress(quiet=options.quiet) as progress:
            for system in inputs.systems:
                results += scorer.score_system(system, logger, progress)
            results = [result for result in results if result.metric not in scorer.failed]
            metrics = scorer.remaining_metrics
            if logger is not None:
                # Log before printing, because a closed pipe ends the command.
                logger.append_scores(results, scorer.seen)
        by_system = {
            name: [
                result.score
                for result in results
                if result.system == name and result.is_corpus_score
            ]
            for name in inputs.systems
        }
        references = list(map(format_path, inputs.reference_columns))
        warnings = text_warnings.warn_about_texts(
            scorer.seen,
            references,
            {metric: name or metric.name for metric, name in metrics.items()},
            metric_options.get_language_tag(options),
        )
        warnings += text_warnings.warn_about_identical_outputs(
            inputs.systems, lambda name, earlier: by_system[name] == by_system[earlier]
        )
        warnings += text_warnings.warn_about_line_breaks(result.score for result in results)
        write_scores(results, metrics, output, warnings, data=inputs.describe(), paper=paper)
    if scorer.resamples is not None and len(inputs.systems) > 1 and not options.quiet:
        print_message(
            "note",
            "overlapping intervals say little about a difference; test it with truebleu compare",
        )
    raise_if_failed(scorer.failed.values())


def _score_tables(
    options: argparse.Namespace, metrics: Mapping[Metric[Any], str | None], progress: Progress
) -> list[ScoreResult]:
    from truebleu.cli.tabular_inputs import Tables, format_system_name

    tables = Tables(options)
    metric_names = [name or metric.name for metric, name in metrics.items()]
    results: list[ScoreResult] = []
    for system in tables.systems:
        sums = tables.aggregate_system(system, tables.by, list(metrics), progress)
        label = {tables.system_name: system.name} if tables.get_system_label(system) else {}
        # Groups with only nulls have no score. NaN does not equal itself, so do not look up keys.
        sizes = [segments for segments in sums.group_segments() if segments]
        for (key, scores), segments in zip(sums.scores().items(), sizes, strict=True):
            keys: dict[str, Any] = {**label, **dict(zip(sums.by, key, strict=True))}
            # A column named "system" names the systems; tables may contain the same system names.
            name = system.name
            if "system" in sums.by:
                key_text = format_system_name("", (keys["system"],))
                name = f"{name}: {key_text}" if label else key_text
            group = {"group": keys, "segments": segments} if keys else {}
            metric_scores = scores.values() if isinstance(scores, dict) else [scores]
            results += [
                ScoreResult(name, metric_name, score, **group)
                for metric_name, score in zip(metric_names, metric_scores, strict=True)
            ]
    return results


class ScoreLogger:
    """Logger that appends scores to a log, with hashes of the input texts.

    It rejects invalid logs before scoring.
    """

    def __init__(self, options: argparse.Namespace, inputs: files.Inputs) -> None:
        from truebleu.comparison.score_log import check_log_is_appendable

        systems = len(inputs.systems)
        names: list[str | None] = options.log_name or [None] * systems
        if len(names) != systems:
            raise UsageError(
                f"--log-name: {len(names)} names for {systems} systems (expected one per system)"
            )
        check_log_is_appendable(options.log)
        self._options = options
        self._names = dict(zip(inputs.systems, names, strict=True))
        # Path and hash of the output of each system and of the references.
        self._inputs: dict[str, list[tuple[str, str]]] = {}

    def add_inputs(
        self, system: str, hypotheses: File, columns: Sequence[File], references: Any
    ) -> None:
        """Store the hashes of a system's inputs, which must be rereadable.

        columns: the reference files or columns. With --num-refs, `references` contains a row
            per segment.
        """
        if isinstance(references[0], File):
            hashes = list(map(hash_file, references))
        else:
            hashes = list(map(hash_texts, read_reference_streams(references)))
        self._inputs[system] = [
            ("standard input" if file.path == "-" else file.path, digest)
            for file, digest in zip(
                [hypotheses, *columns], [hash_file(hypotheses), *hashes], strict=False
            )
        ]

    def append_scores(
        self, results: Sequence[ScoreResult], summaries: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Append the corpus scores of all systems to the log, or leave it unchanged on failure."""
        from truebleu.comparison.score_log import Entry, Input, append_log_entries, get_log_time

        time = get_log_time()
        inputs = {
            system: [Input(*file) for file in files] for system, files in self._inputs.items()
        }
        entries = (
            Entry(
                time=time,
                system=result.system,
                metric=result.score.name,
                score=result.score.value,
                signature=str(result.signature),
                segments=summaries[result.system]["segments"],
                hypothesis=inputs[result.system][0],
                references=tuple(inputs[result.system][1:]),
                name=self._names[result.system],
                note=self._options.log_note,
                report=self._options.log_report,
                low=result.interval_ends.get("low"),
                high=result.interval_ends.get("high"),
            )
            for result in results
            if result.is_corpus_score
        )
        append_log_entries(self._options.log, entries)


class SystemScorer(Record):
    """Scorer that computes corpus and group scores of each system."""

    options: argparse.Namespace
    metrics: Mapping[Metric[Any], str | None]
    inputs: files.Inputs
    resamples: int | None
    seen: dict[str, Summary]
    failed: FailedMetrics
    """The metrics that failed for a system, with their errors."""

    @property
    def remaining_metrics(self) -> dict[Metric[Any], str | None]:
        """The metrics that have not failed, with the names that -m uses for them."""
        return {metric: name for metric, name in self.metrics.items() if metric not in self.failed}

    def score_system(
        self, system: str, logger: ScoreLogger | None, progress: Progress
    ) -> list[ScoreResult]:
        """Return the corpus scores and group scores of a system."""
        hypotheses: Any = self.inputs.systems[system]
        references = self.inputs.read_references()
        if logger is not None:
            hypotheses = make_rereadable(hypotheses, on_disk=True)
            references = make_rereadable(references, on_disk=True)
            logger.add_inputs(system, hypotheses, self.inputs.reference_columns, references)
        expected = (
            None if progress.is_silent else files.estimate_line_count(self.inputs.systems[system])
        )
        has_several_systems = len(self.inputs.systems) > 1
        activity = f"reading {system}" if has_several_systems else "reading segments"
        keeps_totals_only = self.resamples is None and not self.options.by
        corpus = Corpus(
            hypotheses,
            references,
            self.options.threads,
            self.inputs.source,
            progress=lambda count: progress(activity, count, expected),
            totals=keeps_totals_only,
        )
        label = system if has_several_systems else ""
        tables, self.seen[system] = compute_statistics_or_errors(
            list(self.remaining_metrics), corpus, self.failed, label
        )
        scripts = text_warnings.compute_script_shares(self.seen[system])
        groups = self._get_groups(len(tables[0])) if self.options.by else []

        def make_result(
            metric: Metric[Any], name: str | None, table: Statistics, **fields: Any
        ) -> ScoreResult:
            return ScoreResult(
                system,
                name or metric.name,
                metric.from_statistics(table),
                metric.DIGITS,
                metric=metric,
                test_set=self.inputs.signature,
                **fields,
            )

        # A table of totals has one row, so its length is not the number of segments.
        segments = self.seen[system]["segments"]
        intervals = self._compute_intervals(tables, progress)
        table_metrics = list(self.remaining_metrics.items())
        return [
            make_result(*one, table, interval=interval, scripts=scripts, segments=segments)
            for one, table, interval in zip(table_metrics, tables, intervals, strict=True)
        ] + [
            make_result(*one, part, group={"system": system, **dict(labels)}, segments=len(part))
            for one, table in zip(table_metrics, tables, strict=True)
            for labels, part in (table.parts(groups).items() if groups else ())
        ]

    def _get_groups(self, segment_count: int) -> list[tuple[tuple[str, str], ...]]:
        labels = self.inputs.get_labels(segment_count)
        names = list(dict.fromkeys(self.options.by))
        for name in names:
            if name not in labels:
                test_set = self.inputs.test_set
                owner = "the text files have" if test_set is None else f"{test_set.name} has"
                raise UsageError(f"--by: {owner} no label '{name}' (expected {', '.join(labels)})")
        label_rows = zip(*(labels[name] for name in names), strict=True)
        return [tuple(zip(names, values, strict=True)) for values in label_rows]

    def _get_document_indices(self, segments: int) -> list[int] | None:
        """Return the document index of each segment, or None if documents are not resampled."""
        if self.options.resample == "segments":
            return None
        from truebleu.comparison import segment_labels

        documents = segment_labels.read_document_names(
            files.get_documents(self.options, self.inputs), segments
        )
        is_first_system = len(self.seen) == 1
        if len(documents.names) == segments > 1 and is_first_system and not self.options.quiet:
            from truebleu.comparison.comparison_notes import describe_single_segments

            print_message("note", describe_single_segments(segments))
        return documents.indices

    def _compute_intervals(
        self, tables: Sequence[Statistics], progress: Progress
    ) -> Sequence[Interval | None]:
        if self.resamples is None:
            return [None] * len(tables)
        from truebleu.significance import Measure, bootstrap_intervals

        measures = [
            Measure(metric, {"": table})
            for metric, table in zip(self.remaining_metrics, tables, strict=True)
        ]
        ranges = bootstrap_intervals(
            measures,
            documents=self._get_document_indices(len(tables[0])),
            resamples=self.resamples,
            seed=self.options.seed,
            level=self.options.level,
            workers=self.options.threads,
            progress=None if progress.is_silent else lambda *done: progress("resampling", *done),
        )
        return [metric_intervals[""] for metric_intervals in ranges]


COMMAND = Command("truebleu score REF... -i HYP... [options]", __doc__, list_score_groups, run)
