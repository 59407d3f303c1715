"""First screen of a comparison: the best system, a table of all metrics, and a forest plot.

`compare -f html`, notebooks and reports without a script show it. The interactive summary of a
report shows the same contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from truebleu.comparison import comparison_layout
from truebleu.comparison.comparison_columns import (
    COLUMNS,
    DEFAULT_COLUMNS,
    build_metric_columns,
    build_system_columns,
    build_table,
    can_rank,
    format_interval,
    format_metric_header,
    format_p_equation,
    get_baseline_letter,
    get_best_mark,
    get_decisive_p,
    get_difference_mark,
    get_score_digits,
    list_ranges,
)
from truebleu.comparison.legend import BEST, SIGNIFICANT, build_legend, describe_corrected_pairs
from truebleu.metrics.text_warnings import list_unreliable_systems
from truebleu.rendering.elements import (
    Cell,
    Column,
    Fold,
    Forest,
    Heading,
    HtmlBlock,
    Panel,
    Paragraph,
    Table,
    build_warnings,
)
from truebleu.rendering.number_format import (
    NumberFormatter,
    format_p_value,
    format_percent,
    make_formatter,
    make_signed_formatter,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count, join_words

# Parts of a sentence: text, or names of systems.
SentenceParts = list[str | dict[str, str]]
# Columns that are combined in the cells of the overview table.
OVERVIEW_COLUMNS = ("score", "interval", "delta", "p", "cluster")


def build_html_blocks(
    groups: Sequence[tuple[str, Content]],
    digits: int | None = None,
    *,
    short: bool = False,
    by: Sequence[str] = (),
) -> Iterator[HtmlBlock]:
    """Yield the blocks of the HTML page of one comparison, or of one per group of rows.

    groups: titles of groups and their comparisons; a single comparison has an empty title.
    by: "document" adds tables of scores per document.
    """
    for title, content in groups:
        heading = comparison_layout.format_title(content)
        yield Heading(1, f"{title}: {heading}" if title else heading)
        yield from build_first_screen(content, digits)
        yield from comparison_layout.build_reference_tables(content, digits)
        for text in comparison_layout.list_disagreements(content):
            yield Paragraph(text, "caution")
        yield from build_metric_details(content, digits)
        if "document" in by:
            yield from comparison_layout.build_document_tables(content, digits)
        yield from (
            Paragraph(sentence, "note") for sentence in comparison_layout.collect_notes(content)
        )
        yield from (
            Paragraph(line, "signature")
            for line in comparison_layout.format_signatures(content, short=short)
        )


def build_first_screen(content: Content, digits: int | None = None) -> Iterator[HtmlBlock]:
    """Yield the warnings, the headline, the table and the forest plot."""
    yield from build_warnings(content)
    yield Paragraph(format_headline(content), "lead")
    yield build_overview_table(content, digits)
    yield Paragraph(" ".join(explain_overview(content)), "note")
    forest_plot = build_forest_plot(content)
    if forest_plot is not None:
        yield forest_plot


# ---- headline ----


def format_headline(content: Content) -> str:
    """Format the headline as text."""
    letters_by_system = {one["name"]: one["letter"] for one in content["systems"]}
    texts = []
    for part in build_headline(content):
        text = part if isinstance(part, str) else part["system"]
        if not isinstance(part, str) and len(letters_by_system) > 1:
            letter = letters_by_system[text]
            text = text if letter == text.upper() else f"{letter} {text}"
        texts.append(text)
    return "".join(texts)


def build_headline(content: Content) -> SentenceParts:
    """Return the parts of the headline.

    It states the best system by the first metric, the size and significance of its lead, what the
    other metrics show, and how often human judges confirmed a difference of this size.
    """
    systems = content["systems"]
    metric = find_main_metric(content)
    if len(systems) == 1:
        return _describe_single_system(content, metric or content["metrics"][0])
    if metric is None:
        metrics = content["metrics"]
        unreliable = list_unreliable_systems(content.get("warnings", []), metrics[0]["name"])
        if unreliable:
            reason = f"scores of {join_words(sorted(unreliable))} are unreliable."
        else:
            names = join_words([one["name"] for one in metrics])
            reason = f"{names} cannot split this text into words."
        return [f"No system is ranked best: {reason}"]
    name = metric["name"]
    format_score = make_formatter(get_score_digits(content, metric, None))
    best = next(one for one in systems if one["scores"][name]["rank"] == 1)
    score = best["scores"][name]
    # Pairs are ordered by metric, with the higher-ranked system first.
    pair = next(one for one in content["pairs"] if one["metric"] == name)
    second = pair["second"]
    if pair["value"] == 0:
        equal_text = f" have the same {metric['name']}, {format_score(score['score'])}."
        return [
            {"system": best["name"]},
            " and ",
            {"system": second},
            equal_text,
            *_describe_other_metrics(content, best["name"], name),
        ]
    baseline = ", the baseline," if best["name"] == content["baseline"] else ""
    system_count_text = "" if len(systems) == 2 else f" of {len(systems)} systems"
    is_uncertain = not pair["significant"]
    best_phrase = f" has the best {metric['name']}" if is_uncertain else " is best"
    unit = "" if is_uncertain else f" {metric['name']}"
    size, uncertainty = _describe_lead(content, pair, format_score)
    best_score = format_score(score["score"])
    significance, test = "", content["test"]
    if test is not None:
        significance = f" The difference is significant at {test['alpha']:g}."
    if test is not None and is_uncertain:
        significance = (
            f" The difference is not significant at {test['alpha']:g}: a difference of this size "
            "can arise by chance."
        )
    parts: SentenceParts = [
        {"system": best["name"]},
        f"{baseline}{best_phrase}{system_count_text}: {best_score}{unit}, {size} ",
        {"system": second},
        f"{uncertainty}.{significance}",
    ]
    unranked = [one["name"] for one in systems if one["scores"][name]["rank"] is None]
    return [
        *parts,
        *_describe_other_metrics(content, best["name"], name),
        f" Scores of {join_words(unranked)} are unreliable and not ranked." if unranked else "",
        _describe_human_agreement(content),
    ]


def _describe_single_system(content: Content, metric: Content) -> SentenceParts:
    format_score = make_formatter(get_score_digits(content, metric, None))
    (system,) = content["systems"]
    score = system["scores"][metric["name"]]
    interval_note = ""
    if score["interval"]:
        low, high = (format_score(score["interval"][end]) for end in ("low", "high"))
        interval_note = f" ({format_percent(content['level'])} interval {low} to {high})"
    text = f" scores {format_score(score['score'])} {metric['name']}{interval_note}."
    return [{"system": system["name"]}, text]


def find_main_metric(content: Content) -> Content | None:
    """Return the first metric that can rank the systems, or None."""
    return next((one for one in content["metrics"] if can_rank(content, one["name"])), None)


def _describe_lead(
    content: Content, pair: Content, format_score: NumberFormatter
) -> tuple[str, str]:
    """Return two phrases: the lead of the first system of a pair, and the lead's uncertainty."""
    way = "above" if pair["value"] > 0 else "below"
    # The words "above" and "below" express the sign.
    sign = 1 if pair["value"] > 0 else -1
    uncertainty_parts = []
    if pair["interval"] is not None:
        low, high = sorted(sign * pair["interval"][end] for end in ("low", "high"))
        level = format_percent(content["level"])
        uncertainty_parts.append(f"{level} interval {format_score(low)} to {format_score(high)}")
    if get_decisive_p(pair) is not None:
        p_parts = [format_p_equation(content, pair), describe_corrected_pairs(content)]
        uncertainty_parts.append(", ".join(filter(None, p_parts)))
    return (
        f"{format_score(sign * pair['value'])} {way}",
        f" ({'; '.join(uncertainty_parts)})" if uncertainty_parts else "",
    )


def _describe_other_metrics(content: Content, best: str, main_metric: str) -> SentenceParts:
    """Return the parts of sentences that say which system the other metrics rank first.

    A metric "ranks" a system first if the system's lead over the next one, or over the best system
    by the main metric, is significant or was not tested. Otherwise, it "puts" the system first.
    """
    agreeing: list[str] = []
    uncertain: list[str] = []
    parts: SentenceParts = []
    for metric in content["metrics"]:
        name = metric["name"]
        scores = {one["name"]: one["scores"][name] for one in content["systems"]}
        if name == main_metric or scores[best]["rank"] is None:
            continue
        is_first = scores[best]["rank"] == 1
        winner = best if is_first else next(one for one in scores if scores[one]["rank"] == 1)
        # The pair of `best` with the next system or, if another system is first, with that system.
        # Pairs are ordered by metric, with the higher-ranked system first.
        pair = next(
            one
            for one in content["pairs"]
            if one["metric"] == name and {winner, best} <= {one["first"], one["second"]}
        )
        winner = best if is_first else pair["first"]
        is_uncertain = pair["significant"] is False
        p_text = f" ({format_p_equation(content, pair)})" if is_uncertain else ""
        if is_first:
            (uncertain if is_uncertain else agreeing).append(name + p_text)
            continue
        format_score = make_formatter(get_score_digits(content, metric, None))
        size, _ = _describe_lead(content, pair, format_score)
        verb, remark = ("puts", ", but not significantly") if is_uncertain else ("ranks", "")
        score = format_score(scores[winner]["score"])
        parts += [
            f" But {name} {verb} ",
            {"system": winner},
            f" first{remark}: {score}, {size} ",
            {"system": best},
            f"{p_text}{' (significant)' if pair['significant'] else ''}.",
        ]
    sentences = []
    if agreeing:
        verb = "ranks" if len(agreeing) == 1 else "rank"
        sentences.append(f" {join_words(agreeing)} {verb} the same system first.")
    if uncertain:
        verb = "puts" if len(uncertain) == 1 else "put"
        sentences.append(
            f" {join_words(uncertain)} {verb} the same system first, but not significantly."
        )
    return [*sentences, *parts]


def _describe_human_agreement(content: Content) -> str:
    """Return a sentence on the human judgement of differences as large as the lead, if known."""
    agreement = content["human_agreement"]
    if agreement is None:
        return ""
    metric = next(one for one in content["metrics"] if one["name"] == agreement["metric"])
    format_score = make_formatter(get_score_digits(content, metric, None))
    above, up_to = agreement["above"], agreement["up_to"]
    if above is None:
        size = f"below {format_score(up_to)}"
    elif up_to is None:
        size = f"above {format_score(above)}"
    else:
        size = f"of {format_score(above)} to {format_score(up_to)}"
    return (
        f" On {agreement['data']}, human judges preferred the system with the "
        f"{'higher' if metric['higher_is_better'] else 'lower'} {metric['name']} in "
        f"{agreement['agree']} of {agreement['pairs']} pairs with a difference {size}."
    )


# ---- overview table ----


def build_overview_table(content: Content, digits: int | None = None) -> Table:
    """Return a table of all systems and metrics: scores, differences, intervals and clusters."""
    systems = content["systems"]
    has_several_systems = len(systems) > 1
    main_metric = find_main_metric(content)
    main_name = "" if main_metric is None else main_metric["name"]
    table_columns = list(
        build_system_columns(content, [one["scores"].get(main_name) for one in systems])
    )
    for metric in content["metrics"]:
        format_score = make_formatter(get_score_digits(content, metric, digits))
        scores = [system["scores"][metric["name"]] for system in systems]
        group_header = format_metric_header(metric)
        cells = [
            Cell(
                format_score(one["score"]),
                mark=get_best_mark(content, one),
                second_line=format_interval(one["interval"], format_score, ""),
            )
            for one in scores
        ]
        tooltip = "higher is better" if metric["higher_is_better"] else "lower is better"
        table_columns.append((Column("score", group_header=group_header, tooltip=tooltip), cells))
        if not has_several_systems:
            continue
        column = Column(
            f"Δ from {get_baseline_letter(content)}",
            group_header=group_header,
            tooltip=f"difference from {content['baseline']}, with its p-value",
        )
        table_columns.append(
            (
                column,
                [_build_difference_cell(one["difference"], metric, format_score) for one in scores],
            )
        )
        if metric["clusters"] is not None:
            tooltip = COLUMNS["cluster"]
            cells = [Cell("" if one["cluster"] is None else str(one["cluster"])) for one in scores]
            table_columns.append(
                (Column("cluster", group_header=group_header, tooltip=tooltip), cells)
            )
    return build_table(table_columns, "Systems by all metrics")


def _build_difference_cell(
    difference: Content | None, metric: Content, format_score: NumberFormatter
) -> Cell:
    if difference is None:
        return Cell("baseline", mark="baseline")
    p = get_decisive_p(difference)
    return Cell(
        make_signed_formatter(format_score)(difference["value"]),
        "*" if difference["significant"] else "",
        get_difference_mark(difference, metric),
        suffix="" if p is None else f"p {format_p_value(p)}",
        second_line=format_interval(
            difference["interval"], make_signed_formatter(format_score), ""
        ),
    )


def explain_overview(content: Content, *, omit_baseline: bool = False) -> list[str]:
    """Return sentences that explain the table's terms and marks.

    omit_baseline: leave out the baseline, which users of a report can change.
    """
    legend = build_legend(
        content, OVERVIEW_COLUMNS, (SIGNIFICANT, BEST), omit_baseline=omit_baseline
    )
    return [*legend, *filter(None, [content.get("name_note")])]


# ---- forest plot ----


def build_forest_plot(content: Content) -> Forest | None:
    """Return a plot of the differences from the baseline, or of a single system's score."""
    systems, baseline = content["systems"], content["baseline"]
    has_several_systems = len(systems) > 1
    if not content["intervals"]:
        return None
    panels = []
    letter = get_baseline_letter(content)
    for metric in content["metrics"]:
        ranges, marks = list_ranges(content, metric)
        if any(ranges):
            title = f"Δ {metric['name']} from {letter}" if has_several_systems else metric["name"]
            is_reversed = not metric["higher_is_better"]
            panel = Panel(
                title, ranges, marks, is_reversed=is_reversed, includes_zero=has_several_systems
            )
            panels.append(panel)
    if not panels:
        return None
    names = [
        f"{one['letter']} {one['name']}" if has_several_systems else one["name"]
        for one in content["systems"]
    ]
    level = format_percent(content["level"])
    if not has_several_systems:
        return Forest(f"Scores with {level} intervals", names, panels)
    backwards = [metric["name"] for metric in content["metrics"] if not metric["higher_is_better"]]
    reversal_note = f" ({join_words(backwards)}: axis reversed)" if backwards else ""
    caption = (
        f"Differences from {baseline} with {level} intervals: better is to the right{reversal_note}"
    )
    return Forest(caption, names, panels)


# ---- details ----


def build_metric_details(content: Content, digits: int | None = None) -> Iterator[Fold]:
    """Yield the full results of each metric in collapsed sections."""
    for metric in content["metrics"]:
        metric_digits = get_score_digits(content, metric, digits)
        inner: list[HtmlBlock] = [
            build_table(
                build_metric_columns(content, metric, DEFAULT_COLUMNS, metric_digits),
                metric["name"],
            )
        ]
        parts_table = comparison_layout.build_components_table(content, metric)
        if parts_table is not None:
            inner.append(parts_table)
        if len(content["systems"]) > 2:
            inner.append(build_pair_table(content, metric, metric_digits))
        section_names = ["intervals", "tests"] if len(content["systems"]) > 1 else ["intervals"]
        section_names += ["components", "lengths"] if parts_table is not None else []
        section_names += ["all pairs"] if len(content["systems"]) > 2 else []
        yield Fold(f"{format_metric_header(metric)} in detail: {join_words(section_names)}", inner)


def build_pair_table(content: Content, metric: Content, digits: int) -> Table:
    """Return a table of the differences between all pairs of systems, row minus column."""
    systems: Sequence[Content] = content["systems"]
    format_score = make_signed_formatter(make_formatter(digits))
    cells: dict[tuple[str, str], Cell] = {}
    for pair in content["pairs"]:
        if pair["metric"] == metric["name"]:
            star = "*" if pair["significant"] else ""
            cells[pair["first"], pair["second"]] = Cell(format_score(pair["value"]), star)
            cells[pair["second"], pair["first"]] = Cell(format_score(-pair["value"]), star)
    columns = [Column(""), Column("row minus column", is_left_aligned=True)]
    columns += [Column(one["letter"], tooltip=one["name"]) for one in systems]
    correction = describe_corrected_pairs({**content, "metrics": [metric]})
    correction = f" (*: {correction})" if correction else ""
    rows = [
        [
            Cell(row["letter"]),
            Cell(row["name"]),
            *(cells.get((row["name"], one["name"]), Cell("")) for one in systems),
        ]
        for row in systems
    ]
    return Table(
        columns,
        rows,
        caption=f"Δ {metric['name']} of {format_count(len(systems), 'system')}{correction}",
    )
