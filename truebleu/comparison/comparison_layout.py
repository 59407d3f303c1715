"""Tables and sentences that present the dict of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

from truebleu.rendering.elements import (
    Block,
    Cell,
    Column,
    Heading,
    Paragraph,
    Range,
    Table,
    build_warnings,
)
from truebleu.rendering.number_format import (
    NumberFormatter,
    fixed_formatter,
    format_p_value,
    format_percent,
    format_segments_needed,
    signed_formatter,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count, join_words

# A column and its cells, one per row.
ColumnCells = tuple[Column, Iterable[Any]]


def build_blocks(
    content: Content, digits: int | None = None, *, short: bool = False
) -> Iterator[Block]:
    """Yield the blocks of a comparison.

    digits: number of decimals on a 0-100 scale; None for the default of each metric.
    """
    yield Heading(1, format_title(content))
    yield from build_warnings(content)
    if len(content["metrics"]) > 1 and len(content["systems"]) > 1:
        yield build_summary_table(content, digits)
        yield from build_cluster_tables(content)
    for metric in content["metrics"]:
        yield build_metric_table(content, metric, get_score_digits(content, metric, digits))
    yield from build_reference_tables(content, digits)
    yield from build_document_tables(content, digits)
    yield from (Paragraph(sentence, "note") for sentence in collect_notes(content))
    yield from (Paragraph(line, "signature") for line in format_signatures(content, short=short))


def format_title(content: Content) -> str:
    """Return a line with the numbers of systems, segments and references."""
    parts = [
        format_count(len(content["systems"]), "system"),
        format_count(content["segments"], "segment"),
    ]
    if content["buckets"]:
        parts.append(f"{format_count(content['buckets'], 'bucket')}")
    references = content["references"]
    if references == "var":
        parts.append("a varying number of references per segment")
    elif references is not None:
        parts.append(f"{format_count(references, 'reference')} per segment")
    heading = ", ".join(parts)
    return heading if content["baseline"] is None else f"{heading}; Δ to {content['baseline']}"


def build_table(column_cells: Sequence[ColumnCells], caption: str = "", fold: str = "") -> Table:
    """Return a table built from columns and their cells."""
    columns, cells = zip(*column_cells, strict=True)
    return Table(columns, list(zip(*cells, strict=True)), caption=caption, fold=fold)


def build_system_columns(
    content: Content, scores: Sequence[Content | None] = ()
) -> Iterator[ColumnCells]:
    """Yield the columns that name the systems, with their letters if there are several."""
    systems = content["systems"]
    best_marks = [get_best_mark(content, score) for score in scores] or [""] * len(systems)
    if len(systems) > 1:
        yield Column(""), [Cell(system["letter"]) for system in systems]
    names = [Cell(one["name"], mark=mark) for one, mark in zip(systems, best_marks, strict=True)]
    yield Column("system", is_left_aligned=True), names


def get_best_mark(content: Content, score: Content | None) -> str:
    """Return the mark "best" for the best of several systems, otherwise an empty string."""
    return "best" if score and len(content["systems"]) > 1 and score["rank"] == 1 else ""


def _build_metric_cells(
    content: Content, metric: Content, format_score: NumberFormatter
) -> list[Cell]:
    """Return the score cells of all systems by one metric."""
    return _build_score_cells(
        content, (one["scores"][metric["name"]] for one in content["systems"]), format_score
    )


def _build_score_cells(
    content: Content, scores: Iterable[Content], format_score: NumberFormatter
) -> list[Cell]:
    """Return score cells with the letters of significantly worse systems."""
    return [
        Cell(
            format_score(one["score"]),
            format_letters(content, one["better_than"]),
            get_best_mark(content, one),
        )
        for one in scores
    ]


def build_summary_table(content: Content, digits: int | None = None) -> Table:
    """Return a table of scores by all metrics, with letters that mark significant differences."""
    table_columns = list(build_system_columns(content))
    for metric in content["metrics"]:
        format_score = fixed_formatter(get_score_digits(content, metric, digits))
        table_columns.append(
            (
                Column(format_metric_header(metric), "scores"),
                _build_metric_cells(content, metric, format_score),
            )
        )
    return build_table(table_columns, "All metrics")


def format_metric_header(metric: Content) -> str:
    """Return a metric's name with an arrow that shows which direction is better."""
    return f"{metric['name']} {'↑' if metric['higher_is_better'] else '↓'}"


def build_cluster_tables(content: Content) -> Iterator[Table]:
    """Yield a cluster table per metric if there are several metrics and at least three systems."""
    metrics = content["metrics"]
    metrics = [metric for metric in metrics if metric["clusters"] is not None]
    if len(content["metrics"]) < 2 or len(content["systems"]) < 3 or not metrics:
        return
    letters_by_system = {system["name"]: system["letter"] for system in content["systems"]}
    cluster_letters = [
        [" ".join(letters_by_system[name] for name in names) for names in metric["clusters"]]
        for metric in metrics
    ]
    table_columns: list[ColumnCells] = [
        (Column("cluster", is_left_aligned=True), map(Cell, map(format_metric_header, metrics)))
    ]
    for rank in range(max(map(len, cluster_letters))):
        cells = [Cell(one[rank] if rank < len(one) else "") for one in cluster_letters]
        tooltip = f"{'' if rank else 'best '}systems without a significant difference"
        table_columns.append(
            (Column(str(rank + 1), "clusters", is_left_aligned=True, tooltip=tooltip), cells)
        )
    yield build_table(table_columns, "Clusters by metric")


def build_metric_table(content: Content, metric: Content, digits: int) -> Table:
    """Return the table of one metric, with scores, intervals, differences and their tests."""
    format_score = fixed_formatter(digits)
    scores = [system["scores"][metric["name"]] for system in content["systems"]]
    interval_header = f"{format_percent(content['level'])} interval"
    has_several_systems = len(scores) > 1
    table_columns = list(build_system_columns(content, scores))
    table_columns.append(
        (
            Column(format_metric_header(metric), "score"),
            _build_metric_cells(content, metric, format_score),
        )
    )
    if content["intervals"]:
        cells = [Cell(format_interval(score["interval"], format_score)) for score in scores]
        table_columns.append((Column(interval_header, "score"), cells))
    if any(score["runs"] for score in scores):
        cells = [Cell(_format_run_deviation(score["runs"], format_score)) for score in scores]
        tooltip = "standard deviation between runs (number of runs)"
        table_columns.append((Column("± runs", "score", tooltip=tooltip), cells))
    if metric["clusters"] is not None and has_several_systems:
        tooltip = "significantly better than all systems in clusters with higher numbers"
        cells = [Cell("" if one["cluster"] is None else str(one["cluster"])) for one in scores]
        table_columns.append((Column("cluster", "score", tooltip=tooltip), cells))
    if has_several_systems:
        table_columns += _build_difference_columns(
            content, metric, [one["difference"] for one in scores], format_score
        )
    return build_table(table_columns, metric["name"])


def _build_difference_columns(
    content: Content,
    metric: Content,
    differences: Sequence[Content | None],
    format_score: NumberFormatter,
) -> Iterator[ColumnCells]:
    """Yield the columns that show differences; the baseline's cells are marked or empty."""
    marks = ["" if one is None else get_difference_mark(one, metric) for one in differences]
    marked_differences = list(zip(differences, marks, strict=True))
    test, correction = content["test"], content["correction"]

    def build_column(
        column: Column, build_cell: Callable[[Content, str], Cell], baseline: Cell | None = None
    ) -> ColumnCells:
        baseline_cell = baseline or Cell("")
        return column, [
            baseline_cell if one is None else build_cell(one, mark)
            for one, mark in marked_differences
        ]

    yield build_column(
        Column("Δ", "difference", tooltip=f"score minus the score of {content['baseline']}"),
        lambda one, mark: Cell(signed_formatter(format_score)(one["value"]), mark=mark),
        Cell("baseline", mark="baseline"),
    )
    if content["intervals"]:
        interval_header = f"{format_percent(content['level'])} interval"
        yield build_column(
            Column(interval_header, "difference", tooltip="interval of the difference"),
            lambda one, _: Cell(format_interval(one["interval"], signed_formatter(format_score))),
        )
    if test and correction:
        yield build_column(Column("p", "difference"), lambda one, _: Cell(format_p_value(one["p"])))
    if test:
        yield build_column(
            Column(_format_p_header(content), "difference", tooltip=test["title"]),
            lambda one, mark: Cell(
                format_p_value(get_decisive_p(one)), "*" if one["significant"] else "", mark
            ),
        )
    for name, key in (("won", "wins"), ("tied", "ties"), ("lost", "losses")):
        counts = [Cell("" if one is None else f"{one[key]:,}") for one in differences]
        tooltip = f"{_get_unit_name(content)} that the system {name} against the baseline"
        yield (
            Column(
                name,
                _get_unit_name(content),
                tooltip=tooltip,
                long_header=f"{_get_unit_name(content)} {name}",
            ),
            counts,
        )
    if test:
        tooltip = "similar segments required to detect a difference of this size with 80 % power"
        yield build_column(
            Column(
                "needed",
                _get_unit_name(content),
                tooltip=tooltip,
                long_header="segments needed for 80 % power",
            ),
            lambda one, _: Cell(format_segments_needed(one["segments_needed"])),
        )
    yield from _build_interval_drawings(marked_differences)


def _get_unit_name(content: Content) -> str:
    """Return the unit in which wins, ties and losses are counted."""
    return "buckets" if content["buckets"] else "segments"


def _format_p_header(content: Content) -> str:
    """Return the header of the p-value that determines significance."""
    correction = content["correction"]
    return f"p {correction['title']}" if correction else "p"


def _build_interval_drawings(
    marked_differences: Sequence[tuple[Content | None, str]],
) -> Iterator[ColumnCells]:
    """Yield a column that draws the intervals of the differences on a common axis with 0."""
    intervals = [
        None
        if one is None or one["interval"] is None
        else (one["interval"]["low"], one["value"], one["interval"]["high"])
        for one, _ in marked_differences
    ]
    interval_ends = [0.0, *(end for ends in intervals if ends is not None for end in ends)]
    minimum, maximum = min(interval_ends), max(interval_ends)
    if minimum < maximum:
        cells = [
            Range(minimum, maximum, ends, mark)
            for ends, (_, mark) in zip(intervals, marked_differences, strict=True)
        ]
        yield Column("Δ plot", "drawings", is_drawing=True), cells


def _format_run_deviation(runs: Content | None, format_score: NumberFormatter) -> str:
    """Return the standard deviation between runs, and the number of runs."""
    return "" if runs is None else f"{format_score(runs['deviation'])} ({len(runs['scores'])})"


def format_interval(
    interval: Mapping[str, float] | None,
    format_score: NumberFormatter,
    missing: str = "n too small",
) -> str:
    """Return the interval limits in brackets, or `missing` without an interval."""
    if interval is None:
        return missing
    return f"[{format_score(interval['low'])}, {format_score(interval['high'])}]"


def build_components_table(content: Content, metric: Content) -> Table | None:
    """Return a table of precisions, brevity penalties and lengths; None for other metrics."""
    details = [system["scores"][metric["name"]]["details"] for system in content["systems"]]
    if not all("brevity_penalty" in one and "precisions" in one for one in details):
        return None
    precisions_by_order = zip(*(one["precisions"] for one in details), strict=False)
    part_columns: list[tuple[str, str, list[str]]] = [
        (
            f"p{order}",
            f"precision of {order}-grams, in per cent",
            [f"{precision:.1f}" for precision in precisions],
        )
        for order, precisions in enumerate(precisions_by_order, 1)
    ]
    lengths = [f"{round(one['reference_length'], 1):,}" for one in details]
    part_columns += [
        ("BP", "brevity penalty", [f"{one['brevity_penalty']:.3f}" for one in details]),
        (
            "tokens",
            "number of tokens in all hypotheses",
            [f"{one['hypothesis_length']:,}" for one in details],
        ),
        ("reference tokens", "the effective reference length", lengths),
        (
            "ratio",
            "hypothesis length divided by reference length",
            [f"{one['ratio']:.3f}" for one in details],
        ),
    ]
    long_headers = {"BP": "brevity penalty", "tokens": "hypothesis tokens"}
    table_columns = [
        (
            Column(name, "parts", tooltip=tooltip, long_header=long_headers.get(name, "")),
            map(Cell, cell_texts),
        )
        for name, tooltip, cell_texts in part_columns
    ]
    return build_table(
        [*build_system_columns(content), *table_columns], f"Components of {metric['name']}"
    )


def build_reference_tables(content: Content, digits: int | None = None) -> Iterator[Table]:
    """Yield a table of scores by reference for each metric, and a table of identical segments."""
    references: list[Content] = content.get("by_reference", [])
    systems = content["systems"]
    for metric in content["metrics"]:
        name, format_score = (
            metric["name"],
            fixed_formatter(get_score_digits(content, metric, digits)),
        )
        if not any(name in one["scores"] for one in references):
            continue
        table_columns = list(build_system_columns(content))
        table_columns.append(
            (
                Column(f"{format_metric_header(metric)} all refs", "all"),
                _build_metric_cells(content, metric, format_score),
            )
        )
        for reference in references:
            size_note = (
                ""
                if reference["segments"] == content["segments"]
                else f" (n = {reference['segments']:,})"
            )
            scores = [reference["scores"][name][system["name"]] for system in systems]
            cells = _build_score_cells(content, scores, format_score)
            table_columns.append(
                (Column(f"{reference['name']} alone{size_note}", reference["name"]), cells)
            )
        yield build_table(table_columns, f"{name} by reference")
    if references:
        table_columns = list(build_system_columns(content))
        tooltip = "segments identical to this reference; *: suspiciously many"
        for reference in references:
            copy_counts = [reference["identical"][system["name"]] for system in systems]
            cells = [
                Cell(f"{n['segments']:,} ({100 * n['share']:.1f} %)", "*" if n["is_copy"] else "")
                for n in copy_counts
            ]
            table_columns.append(
                (Column(f"equal to {reference['name']}", reference["name"], tooltip=tooltip), cells)
            )
        yield build_table(table_columns, "equal segments")


def build_document_tables(content: Content, digits: int | None) -> Iterator[Block]:
    """Yield one table of document scores per metric."""
    documents = content["documents"]
    for metric in content["metrics"] if documents else ():
        format_score = fixed_formatter(get_score_digits(content, metric, digits))
        table_columns: list[ColumnCells] = [
            (Column("document", is_left_aligned=True), [Cell(one["name"]) for one in documents]),
            (Column("segments", "size"), [Cell(f"{one['segments']:,}") for one in documents]),
        ]
        for system in content["systems"]:
            cells = [
                Cell(format_score(one["scores"][metric["name"]][system["name"]]))
                for one in documents
            ]
            table_columns.append((Column(system["name"], "scores"), cells))
        fold = f"{format_metric_header(metric)} of {format_count(len(documents), 'document')}"
        yield build_table(table_columns, f"{metric['name']} of each document", fold)


def get_decisive_p(difference: Content) -> float | None:
    """Return the p-value that determines significance: the corrected p-value if there is one."""
    corrected: float | None = difference["corrected_p"]
    p: float | None = difference["p"]
    return p if corrected is None else corrected


def format_p_equation(difference: Content) -> str:
    """Return the p-value that determines significance, such as "p = 0.03" or "p < 0.001"."""
    p_text = format_p_value(get_decisive_p(difference))
    return f"p {p_text if p_text.startswith('<') else f'= {p_text}'}"


def get_difference_mark(difference: Content, metric: Content) -> str:
    """Return "better" or "worse" for a significant difference, otherwise an empty string."""
    if not difference["significant"]:
        return ""
    return "better" if (difference["value"] > 0) == metric["higher_is_better"] else "worse"


def format_letters(content: Content, names: Sequence[str]) -> str:
    """Return the letters of some systems; three or more consecutive letters become a range.

    >>> systems = [{"name": name, "letter": name.upper()} for name in "cabdef"]
    >>> format_letters({"systems": systems}, ["f", "b", "c", "d"])
    'B–D F'
    """
    selected_names = set(names)
    systems = sorted(content["systems"], key=lambda one: (len(one["letter"]), one["letter"]))
    sequences: list[list[str]] = []
    was_selected = False
    for system in systems:
        if system["name"] in selected_names:
            sequences = sequences if was_selected else [*sequences, []]
            sequences[-1].append(system["letter"])
        was_selected = system["name"] in selected_names
    letter_groups = [
        part for run in sequences for part in (run if len(run) < 3 else [f"{run[0]}–{run[-1]}"])
    ]
    # Single letters are unambiguous without spaces.
    return ("" if all(len(part) == 1 for part in letter_groups) else " ").join(letter_groups)


def get_score_digits(content: Content, metric: Content, digits: int | None) -> int:
    """Return the number of decimals to show for a metric's scores; small scores get more.

    digits: number of decimals on a 0-100 scale; None for the default, 1.
    """
    suitable: int | None = metric["digits"]
    if suitable is None:
        scores = [abs(system["scores"][metric["name"]]["score"]) for system in content["systems"]]
        largest = max(scores)
        suitable = max(0, min(3 - floor(log10(largest)), 17)) if largest else 3
    return suitable + (0 if digits is None else digits - 1)


# ---- sentences ----


def _describe_marks(content: Content) -> list[str]:
    """Return sentences that explain the marks in the tables."""
    if len(content["systems"]) < 2:
        return []
    lines = []
    test, correction = content["test"], content["correction"]
    if test:
        p_header = _format_p_header(content)
        lines.append(
            "Letters after a score: significantly better than these systems "
            f"({p_header} < {test['alpha']:g}, also marked *). Each system is "
            "significantly better than all systems in clusters with higher numbers."
        )
        if correction and len(content["systems"]) > 2:
            pairs = len(content["pairs"]) // len(content["metrics"])
            lines.append(
                f"{p_header} is corrected for the tests of its column; letters and clusters are "
                f"corrected for all {pairs} pairs, per metric."
            )
    win_sentence = (
        f"Won, tied, lost: {_get_unit_name(content)} with a higher, equal or lower score than "
        f"{content['baseline']}{_describe_lower_is_better(content)}."
    )
    power_sentence = (
        " Needed: similar segments required to detect a difference of this size with 80 % power."
    )
    return [*lines, win_sentence + (power_sentence if test else "")]


def _describe_lower_is_better(content: Content) -> str:
    """Return a remark that names the metrics for which lower is better."""
    names = [metric["name"] for metric in content["metrics"] if not metric["higher_is_better"]]
    return f" (for {join_words(names)}, lower wins)" if names else ""


def collect_notes(content: Content) -> list[str]:
    """Return the sentences below the tables, which explain the marks, the test, and the data."""
    limits = [content["reading"]] if content["reading"] else []
    notes = [f"Note: {note['text']}" for note in content["notes"]]
    return [*_describe_marks(content), *limits, *notes]


def split_disagreements(content: Content) -> tuple[list[Content], Content]:
    """Return the notes on metrics that disagree, and the contents without these notes."""
    notes = content["notes"]
    opposing_notes = [note for note in notes if note["kind"] == "disagreement"]
    return opposing_notes, {
        **content,
        "notes": [note for note in notes if note not in opposing_notes],
    }


def format_signatures(content: Content, *, short: bool = False) -> list[str]:
    """Return one line per metric that has a signature, with its name."""
    key = "short_signature" if short else "signature"
    return [
        f"{'' if metric['name'].startswith(metric['label']) else metric['name'] + ': '}"
        f"{metric['label']}|{metric[key]}"
        for metric in content["metrics"]
        if metric["signature"]
    ]


# ---- records ----


def build_records(content: Content) -> Iterator[dict[str, Any]]:
    """Yield one record per metric and system."""
    letters_by_system = {system["name"]: system["letter"] for system in content["systems"]}
    for metric in content["metrics"]:
        for system in content["systems"]:
            score = system["scores"][metric["name"]]
            difference = score["difference"] or {}
            interval = difference.get("interval") or {}
            yield {
                "metric": metric["name"],
                "system": system["name"],
                "letter": system["letter"],
                **score,
                **(score["interval"] or {}),
                "better_than": " ".join(letters_by_system[name] for name in score["better_than"]),
                **difference,
                "baseline": content["baseline"] if difference else None,
                "difference": difference.get("value"),
                "difference_low": interval.get("low"),
                "difference_high": interval.get("high"),
                "signature": metric["signature"],
            }
