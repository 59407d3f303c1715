"""Tables for papers: one table with all metrics of a comparison, for Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from truebleu.comparison import comparison_layout
from truebleu.comparison.comparison_columns import (
    SYSTEM_COLUMNS,
    build_metric_columns,
    check_column_names,
    format_metric_header,
    format_segments,
    get_difference_mark,
    get_score_digits,
    get_unit_name,
    list_columns,
    require_columns,
)
from truebleu.comparison.comparison_request import TEST_SET_PARTS
from truebleu.comparison.legend import BETTER, WORSE, build_legend
from truebleu.metrics.text_warnings import list_unsplit_metrics
from truebleu.rendering.elements import (
    Cell,
    Column,
    PaperBlock,
    PaperTable,
    Paragraph,
    Section,
    build_warnings,
)
from truebleu.rendering.number_format import MINUS
from truebleu.rendering.view import Content
from truebleu.text.argument_checks import check_choice
from truebleu.text.terminal_layout import format_count, join_words

PAPER_COLUMNS = ("system", "score")
SIGNATURE_PLACES = ("footnote", "caption", "none")
# Maximum number of columns that fit on a page of a paper after the system names.
MAX_COLUMNS = 8
# Columns that require a significance test, and columns that require bootstrap resamples.
TEST_COLUMNS = {"cluster", "p-uncorrected", "p", "needed"}
BOOTSTRAP_COLUMNS = {"interval", "mean", "half-width", "delta-interval", "std-error", "needed"}
MARKS = {"better": BETTER, "worse": WORSE}


def build_paper_blocks(
    groups: Sequence[tuple[str, Content]],
    digits: int | None = None,
    *,
    short: bool = False,
    columns: Sequence[str] | None = None,
    caption: str | None = None,
    label: str = "tab:truebleu",
    signature: str = "footnote",
    by: Sequence[str] = (),
) -> Iterator[PaperBlock]:
    """Yield warnings, one table, and notes on disagreements between metrics.

    groups: titles and contents of comparisons by the same metrics; they become sections.
    columns, signature: see `ComparisonView` (default: system and score). label: LaTeX's label.
    caption: the first sentence of the caption (default: the metrics and the amount of data).
        Explanations of the marks in the table follow.
    by: "document" adds a section per document, with untested scores. "reference" adds a section
        per reference, with tests.
    """
    names = PAPER_COLUMNS if columns is None else columns
    check_column_names(names)
    check_choice("signature", signature, SIGNATURE_PLACES)
    for name in by:
        check_choice("by", name, TEST_SET_PARTS)
    by = list(dict.fromkeys(by))
    contents = [content for _, content in groups]
    for content in contents:
        yield from build_warnings(content)
    if columns is not None:
        require_columns(contents[0], names)
    table_columns, sections, part_sections = _build_all_sections(groups, names, digits, by)
    if part_sections:
        total_title = "all references" if by == ["reference"] else "all segments"
        sections = [(title or total_title, rows) for title, rows in sections]
        sections += part_sections
    shown_parts = by if part_sections else ()
    cells = (cell for _, rows in sections for row in rows for cell in row)
    marks = {mark for cell in cells for mark in (cell.raised, cell.mark)}
    explanations = list(build_legend(contents[0], names, marks))
    signatures = comparison_layout.format_signatures(contents[0], short=short)
    if "reference" in shown_parts:
        single_reference = _use_single_reference_signatures(contents[0])
        signatures += comparison_layout.format_signatures(single_reference, short=short)
    signatures = _omit_unshown_resampling(signatures, contents[0], names, explanations)
    explanations += explain_untested_metrics(contents[0])
    if "document" in shown_parts and any("p < " in one for one in explanations):
        explanations.append("Differences in document scores were not tested.")
    caption_text = format_caption(contents, shown_parts) if caption is None else end_text(caption)
    yield build_paper_table(
        table_columns,
        sections,
        caption=" ".join(filter(None, [caption_text, *explanations])),
        label=label,
        signatures=list(dict.fromkeys(signatures)),
        signature=signature,
    )
    for content in contents:
        for text in comparison_layout.list_disagreements(content):
            yield Paragraph(text, "note")
    if "name_note" in contents[0]:
        yield Paragraph(contents[0]["name_note"], "note")


def explain_untested_metrics(content: Content) -> Iterator[str]:
    """Yield a sentence per metric whose scores are unreliable, so that they carry no marks."""
    for metric in content["metrics"] if len(content["systems"]) > 1 else ():
        systems = [
            one["name"]
            for one in content["systems"]
            if one["scores"][metric["name"]]["rank"] is None
        ]
        if systems:
            warnings = content.get("warnings", [])
            is_unsplit = metric["name"] in list_unsplit_metrics(warnings)
            reason = f"{metric['name']} of {join_words(systems)} is unreliable and was not tested."
            if is_unsplit:
                reason = (
                    f"{metric['name']} cannot split this text into words, so it is unreliable and "
                    "was not tested."
                )
            yield reason


def _omit_unshown_resampling(
    signatures: Sequence[str], content: Content, names: Sequence[str], explanations: Sequence[str]
) -> list[str]:
    """Return signatures without the sample counts of omitted intervals and tests.

    explanations: the sentences in the caption, which name the test if marks depend on it.
    """
    test = content["test"] or {"name": None, "title": None}
    shows_test = not TEST_COLUMNS.isdisjoint(names) or f"{test['title']}" in " ".join(explanations)
    has_bootstrap_test = shows_test and test["name"] not in (None, "ar")
    omitted = [] if has_bootstrap_test or not BOOTSTRAP_COLUMNS.isdisjoint(names) else ["bs"]
    omitted += [] if shows_test else ["ar"]
    if len(omitted) == 2:
        omitted += ["seed", "rs", "resample"]
    pattern = rf"\|(?:{'|'.join(omitted)}):[^|]*"
    return [re.sub(pattern, "", one) if omitted else one for one in signatures]


def _build_all_sections(
    groups: Sequence[tuple[str, Content]],
    names: Sequence[str],
    digits: int | None,
    by: Sequence[str],
) -> tuple[list[Column], list[Section], list[Section]]:
    """Return the columns, a section per group, and the sections of documents and references.

    If several metrics need too many columns, each metric has its own sections.
    """
    metrics = groups[0][1]["metrics"]
    column_count = len(metrics) * len([name for name in names if name not in SYSTEM_COLUMNS])
    is_stacked = len(metrics) > 1 and column_count > MAX_COLUMNS
    if is_stacked:
        groups = [
            (f"{title + ': ' if title else ''}{format_metric_header(metric)}", one_metric)
            for title, content in groups
            for metric in content["metrics"]
            for one_metric in [{**content, "metrics": [metric]}]
        ]
    group_columns = [build_section(content, names, digits) for _, content in groups]
    columns = [column for column, _ in group_columns[0]]
    if is_stacked and "score" in names:
        score_header = format_metric_header(metrics[0])
        columns = [Column("score") if one.header == score_header else one for one in columns]
    sections: list[Section] = [
        (title, list(zip(*(cells for _, cells in section), strict=True)))
        for (title, _), section in zip(groups, group_columns, strict=True)
    ]
    part_sections: list[Section] = [
        (": ".join(filter(None, (title, name))), rows)
        for title, content in groups
        for name, rows in _build_part_sections(content, names, digits, by)
    ]
    return columns, sections, part_sections


def build_paper_table(
    columns: Sequence[Column],
    sections: Sequence[tuple[str, Sequence[Sequence[Cell]]]],
    *,
    caption: str,
    label: str,
    signatures: Sequence[str],
    signature: str,
) -> PaperTable:
    """Return a table with signatures in its footnote or its caption, or without signatures."""
    notes = [Paragraph(line, "signature") for line in signatures]
    return PaperTable(
        columns,
        sections,
        caption=[
            *([Paragraph(caption)] if caption else []),
            *(notes if signature == "caption" else []),
        ],
        footnotes=notes if signature == "footnote" else [],
        label=label,
    )


def build_section(
    content: Content, names: Sequence[str], digits: int | None
) -> list[tuple[Column, list[Cell]]]:
    """Return the columns and cells of all systems, with marks that agree with the printed digits.

    The marks show the best printed scores, and significant differences from the baseline that the
    printed digits show.
    """
    metrics = content["metrics"]
    table_columns: list[tuple[Column, list[Cell]]] = []
    # Put the columns that name the systems first, and do not repeat them for each metric.
    system_names = [name for name in names if name in SYSTEM_COLUMNS]
    metric_names = [name for name in names if name not in SYSTEM_COLUMNS]
    for column, cells in build_metric_columns(content, metrics[0], system_names, 0):
        texts = [cell.text for cell in cells]
        table_columns.append((Column(column.header, is_left_aligned=True), list(map(Cell, texts))))
    for metric in metrics:
        score_digits = get_score_digits(content, metric, digits)
        cells_by_name = _build_metric_cells(content, metric, metric_names, score_digits)
        for name, (header, metric_cells) in cells_by_name.items():
            # The headers name the metric if the table has several.
            metric_header = format_metric_header(metric)
            title = f"Δ {header}" if name == "delta-interval" else header
            full_header = metric_header if name == "score" else f"{metric['name']} {title}"
            if len(metrics) == 1:
                column = Column(metric_header if name == "score" else title, "score")
            elif len(metric_names) == 1:
                column = Column(full_header, "score")
            else:
                column = Column(
                    "score" if name == "score" else title,
                    "score",
                    group_header=metric_header,
                    long_header=full_header,
                )
            table_columns.append((column, metric_cells))
    return table_columns


def _build_metric_cells(
    content: Content, metric: Content, names: Sequence[str], score_digits: int
) -> dict[str, tuple[str, list[Cell]]]:
    """Return the header and the cells of the columns that a metric has, by column name."""
    scores = {one["name"]: one["scores"][metric["name"]] for one in content["systems"]}
    baseline = scores.get(content["baseline"])
    has_reliable_baseline = baseline is None or baseline["rank"] is not None
    columns: dict[str, tuple[str, list[Cell]]] = {}
    marked_name = next((name for name in ("score", "delta", "p") if name in names), None)
    for name in names:
        for column, built_cells in build_metric_columns(content, metric, [name], score_digits):
            # The best score is marked per metric, and the baseline has no difference.
            cells = [Cell(cell.text) for cell in built_cells]
            if column.group in ("difference", get_unit_name(content)):
                for cell, score in zip(cells, scores.values(), strict=True):
                    is_reliable = score["rank"] is not None and has_reliable_baseline
                    if score["difference"] is None or not is_reliable:
                        cell.text = "–"
            if name == "score":
                # Other scores are unreliable.
                ranked_cells = [
                    cell
                    for cell, score in zip(cells, scores.values(), strict=True)
                    if score["rank"] is not None
                ]
                mark_best(ranked_cells, higher_is_better=metric["higher_is_better"])
            if name == marked_name:
                _mark_significance(content, metric, name, cells)
            columns[name] = (column.header, cells)
    return columns


def mark_best(cells: Sequence[Cell], *, higher_is_better: bool) -> None:
    """Mark the cells with the best printed score of several systems."""
    values = [float(cell.text.replace(MINUS, "-")) for cell in cells if cell.text]
    if len(values) > 1:
        best = max(values) if higher_is_better else min(values)
        for cell, value in zip((cell for cell in cells if cell.text), values, strict=True):
            if value == best:
                cell.mark = "best"


def _mark_significance(content: Content, metric: Content, name: str, cells: Sequence[Cell]) -> None:
    """Mark significant differences from the baseline, except if the printed scores are equal."""
    scores = [system["scores"][metric["name"]] for system in content["systems"]]
    systems = [system["name"] for system in content["systems"]]
    if content["baseline"] not in systems:
        return
    baseline_text = cells[systems.index(content["baseline"])].text
    for cell, score in zip(cells, scores, strict=True):
        difference = score["difference"]
        if difference is None or not difference["significant"]:
            continue
        is_hidden = (
            cell.text == baseline_text
            if name == "score"
            else name == "delta" and not cell.text.strip("+-−0.")
        )
        if not is_hidden:
            cell.raised = MARKS[get_difference_mark(difference, metric)]


def _build_part_sections(
    content: Content, names: Sequence[str], digits: int | None, by: Sequence[str]
) -> Iterator[tuple[str, list[list[Cell]]]]:
    """Yield the title and the rows for each document or reference.

    Documents have only scores. References have all columns, with marks from their own tests.
    """
    metric_names = [name for name in names if name not in SYSTEM_COLUMNS]
    texts_by_column = {
        "letter": [system["letter"] for system in content["systems"]],
        "system": [system["name"] for system in content["systems"]],
    }
    for title, part, part_names in _list_parts(content, metric_names, by):
        columns = [
            list(map(Cell, texts_by_column[name])) for name in names if name in SYSTEM_COLUMNS
        ]
        for metric in content["metrics"]:
            cells_by_name = {}
            if metric["name"] in part["systems"][0]["scores"]:
                score_digits = get_score_digits(content, metric, digits)
                cells_by_name = _build_metric_cells(part, metric, part_names, score_digits)
            available = list_columns(content, metric)
            for name in (name for name in metric_names if name in available):
                _, cells = cells_by_name.get(name, ("", [Cell("") for _ in content["systems"]]))
                columns.append(cells)
        yield title, [list(row) for row in zip(*columns, strict=True)]


def _list_parts(
    content: Content, names: Sequence[str], by: Sequence[str]
) -> Iterator[tuple[str, Content, Sequence[str]]]:
    """Yield the title, the contents and the column names for each document and reference."""
    parts = {"document": content["documents"] or (), "reference": content.get("by_reference", ())}
    for kind in by:
        is_document = kind == "document"
        for part in parts[kind]:
            systems = []
            for system in content["systems"]:
                scores = {}
                for metric, score_by_system in part["scores"].items():
                    score = score_by_system[system["name"]]
                    scores[metric] = (
                        {**system["scores"][metric], "score": score, "difference": None}
                        if is_document
                        else {"runs": None, **score}
                    )
                systems.append({**system, "scores": scores})
            is_partial = is_document or part["segments"] != content["segments"]
            size = f" ({format_count(part['segments'], 'segment')})" if is_partial else ""
            title = f"{part['name']}{'' if is_document else ' alone'}{size}"
            part_names = [name for name in names if name == "score"] if is_document else names
            yield title, {**content, "systems": systems}, part_names


# ---- caption ----


def format_caption(contents: Sequence[Content], by: Sequence[str] = ()) -> str:
    """Return a sentence that states the metrics, the systems and the amount of data.

    by: the parts of the test set that have their own sections.
    """
    alone = ", and with each reference alone" if "reference" in by else ""
    metrics = join_words([metric["name"] for metric in contents[0]["metrics"]])
    content = contents[0]
    if len(contents) > 1:
        segment_count = sum(content["segments"] for content in contents)
        group_count = format_count(len(contents), "group")
        return f"{metrics} on {format_count(segment_count, 'segment')} in {group_count}{alone}."
    systems = format_systems([system["name"] for system in content["systems"]])
    references = content["references"]
    references_text = (
        ""
        if references is None
        else " with a varying number of references"
        if references == "var"
        else f" with {format_count(references, 'reference')}"
        f"{' together' if alone else ' each' if references > 1 else ''}"
    )
    documents = content.get("resampled_documents")
    data = format_data(content["segments"], content["metrics"][0]["signature"], documents)
    return f"{metrics} of {systems} {data}{references_text}{alone}."


def end_text(text: str) -> str:
    """Return the user's part of a caption with a final full stop, because sentences follow.

    >>> end_text("Results"), end_text("Results (see Section 2.)"), end_text("Results:")
    ('Results.', 'Results (see Section 2.)', 'Results:')
    """
    text = text.rstrip()
    is_ended = not text or re.search(r"[.!?:;…。！？：][)\]'\"’”»」』）]*$", text)
    return text if is_ended else f"{text}."


def _use_single_reference_signatures(content: Content) -> Content:
    references = content.get("by_reference", ())
    names = references[0]["scores"] if references else ()
    return {
        **content,
        "metrics": [
            {
                **metric,
                **{
                    key: re.sub(r"(^|\|)(nrefs|#):\w+", r"\1\2:1", metric[key])
                    for key in ("signature", "short_signature")
                },
            }
            for metric in content["metrics"]
            if metric["name"] in names
        ],
    }


def format_systems(names: Sequence[str]) -> str:
    """Return the number of systems, or the name of a single system."""
    return format_count(len(names), "system") if len(names) > 1 else names[0]


def format_data(segment_count: int, signature: str, document_count: int | None = None) -> str:
    """Return the number of segments, and the test set if the signature names one.

    document_count: the number of documents, if documents are resampled.

    >>> format_data(2037, "test:wmt22|lang:en-de|nrefs:1")
    'on 2,037 segments of wmt22 en-de'
    """
    fields = dict(field.partition(":")[::2] for field in signature.split("|"))
    names = [fields[name] for name in ("test", "lang") if name in fields]
    test_set = f" of {' '.join(names)}" if "test" in fields else ""
    return f"on {format_segments(segment_count, document_count)}{test_set}"
