"""From the dict of a comparison to what a reader sees: a table per metric, and sentences."""

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
    warnings_of,
)
from truebleu.rendering.number_format import Write, fixed, needed, p_value, percent, signed
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count, join_words

# A column, and its cell of each row.
Filled = tuple[Column, Iterable[Any]]


def of_content(
    content: Content, places: int | None = None, *, short: bool = False
) -> Iterator[Block]:
    """The blocks; `places` digits after the point, or what suits each metric."""
    yield Heading(1, title(content))
    yield from warnings_of(content)
    if len(content["metrics"]) > 1 and len(content["systems"]) > 1:
        yield summary(content, places)
        yield from clusters(content)
    for metric in content["metrics"]:
        yield table(content, metric, digits(content, metric, places))
    yield from by_reference(content, places)
    yield from of_documents(content, places)
    yield from (Paragraph(sentence, "note") for sentence in sentences(content))
    yield from (Paragraph(line, "signature") for line in signatures(content, short=short))


def title(content: Content) -> str:
    """A line on systems, segments and references."""
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
    title = ", ".join(parts)
    return title if content["baseline"] is None else f"{title}; Δ to {content['baseline']}"


def filled_table(filled: Sequence[Filled], caption: str = "", fold: str = "") -> Table:
    """A table of columns with their cells."""
    columns, cells = zip(*filled, strict=True)
    return Table(columns, list(zip(*cells, strict=True)), caption=caption, fold=fold)


def system_columns(content: Content, scores: Sequence[Content | None] = ()) -> Iterator[Filled]:
    """The columns that name the systems: with a letter each, if there are several."""
    systems = content["systems"]
    best = [best_mark(content, score) for score in scores] or [""] * len(systems)
    if len(systems) > 1:
        yield Column(""), [Cell(system["letter"]) for system in systems]
    names = [Cell(one["name"], mark=mark) for one, mark in zip(systems, best, strict=True)]
    yield Column("system", left=True), names


def best_mark(content: Content, score: Content | None) -> str:
    """The mark of the best of several systems."""
    return "best" if score and len(content["systems"]) > 1 and score["rank"] == 1 else ""


def _scores(content: Content, metric: Content, write: Write) -> list[Cell]:
    """The scores, with the letters of the systems that are significantly worse."""
    return _lettered(content, (one["scores"][metric["name"]] for one in content["systems"]), write)


def _lettered(content: Content, scores: Iterable[Content], write: Write) -> list[Cell]:
    return [
        Cell(write(one["score"]), letters(content, one["better_than"]), best_mark(content, one))
        for one in scores
    ]


def summary(content: Content, places: int | None = None) -> Table:
    """The scores of all metrics, with what is significantly better raised: for a paper."""
    filled = list(system_columns(content))
    for metric in content["metrics"]:
        write = fixed(digits(content, metric, places))
        filled.append((Column(headed(metric), "scores"), _scores(content, metric, write)))
    return filled_table(filled, "All metrics")


def headed(metric: Content) -> str:
    """A metric's name at the head of a column, and an arrow: which way is better."""
    return f"{metric['name']} {'↑' if metric['higher_is_better'] else '↓'}"


def clusters(content: Content) -> Iterator[Table]:
    """By each of several metrics, the systems that its test cannot tell apart, by their letters."""
    metrics = content["metrics"]
    metrics = [metric for metric in metrics if metric["clusters"] is not None]
    if len(content["metrics"]) < 2 or len(content["systems"]) < 3 or not metrics:
        return
    by_name = {system["name"]: system["letter"] for system in content["systems"]}
    told = [
        [" ".join(by_name[name] for name in names) for names in metric["clusters"]]
        for metric in metrics
    ]
    filled: list[Filled] = [(Column("cluster", left=True), map(Cell, map(headed, metrics)))]
    for place in range(max(map(len, told))):
        cells = [Cell(one[place] if place < len(one) else "") for one in told]
        about = "not told apart by the test" if place else "the best; not told apart by the test"
        filled.append((Column(str(place + 1), "clusters", left=True, about=about), cells))
    yield filled_table(filled, "Clusters by metric")


def table(content: Content, metric: Content, places: int) -> Table:
    """The systems by one metric: scores, intervals, differences and their tests."""
    write = fixed(places)
    scores = [system["scores"][metric["name"]] for system in content["systems"]]
    level = f"{percent(content['level'])} interval"
    several = len(scores) > 1
    filled = list(system_columns(content, scores))
    filled.append((Column(headed(metric), "score"), _scores(content, metric, write)))
    if content["intervals"]:
        cells = [Cell(interval_text(score["interval"], write)) for score in scores]
        filled.append((Column(level, "score"), cells))
    if any(score["runs"] for score in scores):
        cells = [Cell(_spread(score["runs"], write)) for score in scores]
        about = "standard deviation between runs, and their number"
        filled.append((Column("± runs", "score", about=about), cells))
    if metric["clusters"] is not None and several:
        about = "every system of a cluster is significantly better than all below it"
        cells = [Cell("" if one["cluster"] is None else str(one["cluster"])) for one in scores]
        filled.append((Column("cluster", "score", about=about), cells))
    if several:
        filled += _differences(content, metric, [one["difference"] for one in scores], write)
    return filled_table(filled, metric["name"])


def _differences(
    content: Content, metric: Content, differences: Sequence[Content | None], write: Write
) -> Iterator[Filled]:
    """The columns about differences; the baseline, which has none, is said to be that."""
    marks = ["" if one is None else verdict(one, metric) for one in differences]
    both = list(zip(differences, marks, strict=True))
    test, correction = content["test"], content["correction"]

    def filled(
        column: Column, made: Callable[[Content, str], Cell], baseline: Cell | None = None
    ) -> Filled:
        empty = baseline or Cell("")
        return column, [empty if one is None else made(one, mark) for one, mark in both]

    yield filled(
        Column("Δ", "difference", about=f"difference of the scores to {content['baseline']}"),
        lambda one, mark: Cell(signed(write)(one["value"]), mark=mark),
        Cell("baseline", mark="baseline"),
    )
    if content["intervals"]:
        level = f"{percent(content['level'])} interval"
        yield filled(
            Column(level, "difference", about="interval of the difference"),
            lambda one, _: Cell(interval_text(one["interval"], signed(write))),
        )
    if test and correction:
        yield filled(Column("p", "difference"), lambda one, _: Cell(p_value(one["p"])))
    if test:
        yield filled(
            Column(_p(content), "difference", about=test["title"]),
            lambda one, mark: Cell(p_value(decisive(one)), "*" if one["significant"] else "", mark),
        )
    for name, key in (("won", "wins"), ("tied", "ties"), ("lost", "losses")):
        counts = [Cell("" if one is None else f"{one[key]:,}") for one in differences]
        about = f"{_units(content)} that the system {name} against the baseline"
        yield Column(name, _units(content), about=about, full=f"{_units(content)} {name}"), counts
    if test:
        about = "how many segments like these would show a difference of this size 4 times in 5"
        yield filled(
            Column("needed", _units(content), about=about, full="segments needed for 80 % power"),
            lambda one, _: Cell(needed(one["segments_needed"])),
        )
    yield from _drawn(both)


def _units(content: Content) -> str:
    """What is won, tied and lost."""
    return "buckets" if content["buckets"] else "segments"


def _p(content: Content) -> str:
    """What the p-value that decides is called."""
    correction = content["correction"]
    return f"p {correction['title']}" if correction else "p"


def _drawn(both: Sequence[tuple[Content | None, str]]) -> Iterator[Filled]:
    """The intervals of differences, drawn beside each other, with 0 among them."""
    intervals = [
        None
        if one is None or one["interval"] is None
        else (one["interval"]["low"], one["value"], one["interval"]["high"])
        for one, _ in both
    ]
    reached = [0.0, *(end for ends in intervals if ends is not None for end in ends)]
    least, most = min(reached), max(reached)
    if least < most:
        cells = [
            Range(least, most, ends, mark) for ends, (_, mark) in zip(intervals, both, strict=True)
        ]
        yield Column("Δ, drawn", "drawn", drawn=True), cells


def _spread(runs: Content | None, write: Write) -> str:
    return "" if runs is None else f"{write(runs['deviation'])} ({len(runs['scores'])})"


def interval_text(
    interval: Mapping[str, float] | None, write: Write, missing: str = "n too small"
) -> str:
    """The ends of an interval in brackets, or `missing` without one."""
    if interval is None:
        return missing
    return f"[{write(interval['low'])}, {write(interval['high'])}]"


def parts(content: Content, metric: Content) -> Table | None:
    """The parts of scores that are made of precisions and a brevity penalty."""
    details = [system["scores"][metric["name"]]["details"] for system in content["systems"]]
    if not all("brevity_penalty" in one and "precisions" in one for one in details):
        return None
    shares = zip(*(one["precisions"] for one in details), strict=False)
    known: list[tuple[str, str, list[str]]] = [
        (
            f"p{order}",
            f"share of {order}-grams that match, in per cent",
            [f"{precision:.1f}" for precision in precisions],
        )
        for order, precisions in enumerate(shares, 1)
    ]
    lengths = [f"{round(one['reference_length'], 1):,}" for one in details]
    known += [
        ("BP", "brevity penalty", [f"{one['brevity_penalty']:.3f}" for one in details]),
        ("tokens", "of all hypotheses", [f"{one['hypothesis_length']:,}" for one in details]),
        ("reference tokens", "the effective reference length", lengths),
        ("ratio", "of the two lengths", [f"{one['ratio']:.3f}" for one in details]),
    ]
    full = {"BP": "brevity penalty", "tokens": "tokens of the system"}
    filled = [
        (Column(name, "parts", about=about, full=full.get(name, "")), map(Cell, told))
        for name, about, told in known
    ]
    return filled_table([*system_columns(content), *filled], f"What {metric['name']} is made of")


def by_reference(content: Content, places: int | None = None) -> Iterator[Table]:
    """Yield the scores by each reference alone, a table per metric, and the identical segments."""
    references: list[Content] = content.get("by_reference", [])
    systems = content["systems"]
    for metric in content["metrics"]:
        name, write = metric["name"], fixed(digits(content, metric, places))
        if not any(name in one["scores"] for one in references):
            continue
        filled = list(system_columns(content))
        filled.append(
            (Column(f"{headed(metric)} all refs", "all"), _scores(content, metric, write))
        )
        for one in references:
            some = "" if one["segments"] == content["segments"] else f" (n = {one['segments']:,})"
            scores = [one["scores"][name][system["name"]] for system in systems]
            cells = _lettered(content, scores, write)
            filled.append((Column(f"{one['name']} alone{some}", one["name"]), cells))
        yield filled_table(filled, f"{name} by reference")
    if references:
        filled = list(system_columns(content))
        about = "segments whose text equals this reference's; *: suspiciously many"
        for one in references:
            known = [one["identical"][system["name"]] for system in systems]
            cells = [
                Cell(f"{n['segments']:,} ({100 * n['share']:.1f} %)", "*" if n["is_copy"] else "")
                for n in known
            ]
            filled.append((Column(f"equal to {one['name']}", one["name"], about=about), cells))
        yield filled_table(filled, "equal segments")


def of_documents(content: Content, places: int | None) -> Iterator[Block]:
    """The scores of each document, a table per metric."""
    documents = content["documents"]
    for metric in content["metrics"] if documents else ():
        write = fixed(digits(content, metric, places))
        filled: list[Filled] = [
            (Column("document", left=True), [Cell(one["name"]) for one in documents]),
            (Column("segments", "size"), [Cell(f"{one['segments']:,}") for one in documents]),
        ]
        for system in content["systems"]:
            cells = [
                Cell(write(one["scores"][metric["name"]][system["name"]])) for one in documents
            ]
            filled.append((Column(system["name"], "scores"), cells))
        fold = f"{headed(metric)} of {format_count(len(documents), 'document')}"
        yield filled_table(filled, f"{metric['name']} of each document", fold)


def decisive(difference: Content) -> float | None:
    """The p that decides: the corrected one, if there is a correction."""
    corrected: float | None = difference["corrected_p"]
    p: float | None = difference["p"]
    return p if corrected is None else corrected


def equation_of_p(difference: Content) -> str:
    """The p that decides, as in "p = 0.03" or "p < 0.001"."""
    shown = p_value(decisive(difference))
    return f"p {shown if shown.startswith('<') else f'= {shown}'}"


def verdict(difference: Content, metric: Content) -> str:
    """The mark of a significant difference, better or worse; else nothing."""
    if not difference["significant"]:
        return ""
    return "better" if (difference["value"] > 0) == metric["higher_is_better"] else "worse"


def letters(content: Content, names: Sequence[str]) -> str:
    """The letters of some systems; three or more in a row are written as the first and last.

    >>> systems = [{"name": name, "letter": name.upper()} for name in "cabdef"]
    >>> letters({"systems": systems}, ["f", "b", "c", "d"])
    'B–D F'
    """
    chosen = set(names)
    systems = sorted(content["systems"], key=lambda one: (len(one["letter"]), one["letter"]))
    runs: list[list[str]] = []
    before = False
    for system in systems:
        if system["name"] in chosen:
            runs = runs if before else [*runs, []]
            runs[-1].append(system["letter"])
        before = system["name"] in chosen
    told = [part for run in runs for part in (run if len(run) < 3 else [f"{run[0]}–{run[-1]}"])]
    # Single letters need no space between them.
    return ("" if all(len(part) == 1 for part in told) else " ").join(told)


def digits(content: Content, metric: Content, places: int | None) -> int:
    """The digits after the point that suit a metric: 1 from 0 to 100, more where scores are small.

    `places` is what scores from 0 to 100 have.
    """
    suitable: int | None = metric["digits"]
    if suitable is None:
        scores = [abs(system["scores"][metric["name"]]["score"]) for system in content["systems"]]
        largest = max(scores)
        suitable = max(0, min(3 - floor(log10(largest)), 17)) if largest else 3
    return suitable + (0 if places is None else places - 1)


# ---- sentences ----


def _legend(content: Content) -> list[str]:
    """The meaning of the marks in the tables."""
    if len(content["systems"]) < 2:
        return []
    lines = []
    test, correction = content["test"], content["correction"]
    if test:
        p = _p(content)
        lines.append(
            "Letters behind a score: significantly better than those systems "
            f"({p} < {test['alpha']:g}, as *). Every system of a cluster is "
            "significantly better than all of the clusters below."
        )
        if correction and len(content["systems"]) > 2:
            pairs = len(content["pairs"]) // len(content["metrics"])
            lines.append(
                f"{p} is corrected for the tests of its column, letters and clusters for those of "
                f"all {pairs} pairs, metric by metric."
            )
    won = (
        f"Won, tied, lost: {_units(content)} scored higher, equal or lower than "
        f"{content['baseline']}'s{_lower(content)}."
    )
    needed = (
        " Needed: about how many segments like these show a difference of this size 4 times in 5."
    )
    return [*lines, won + (needed if test else "")]


def _lower(content: Content) -> str:
    """A remark on metrics for which lower is better."""
    names = [metric["name"] for metric in content["metrics"] if not metric["higher_is_better"]]
    return f" (for {join_words(names)}, lower wins)" if names else ""


def sentences(content: Content) -> list[str]:
    """Sentences to read with the tables: on marks, the test, and these data."""
    told = [content["reading"]] if content["reading"] else []
    notes = [f"Note: {note['text']}" for note in content["notes"]]
    return [*_legend(content), *told, *notes]


def disagreements(content: Content) -> tuple[list[Content], Content]:
    """The notes on metrics that call opposite winners, and the content without them."""
    notes = content["notes"]
    told = [note for note in notes if note["kind"] == "disagreement"]
    return told, {**content, "notes": [note for note in notes if note not in told]}


def signatures(content: Content, *, short: bool = False) -> list[str]:
    """Each metric with its signature, for those that have one."""
    key = "short_signature" if short else "signature"
    return [
        f"{'' if metric['name'].startswith(metric['label']) else metric['name'] + ': '}"
        f"{metric['label']}|{metric[key]}"
        for metric in content["metrics"]
        if metric["signature"]
    ]


# ---- records ----


def records(content: Content) -> Iterator[dict[str, Any]]:
    """A record per metric and system."""
    by_name = {system["name"]: system["letter"] for system in content["systems"]}
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
                "better_than": " ".join(by_name[name] for name in score["better_than"]),
                **difference,
                "baseline": content["baseline"] if difference else None,
                "difference": difference.get("value"),
                "difference_low": interval.get("low"),
                "difference_high": interval.get("high"),
                "signature": metric["signature"],
            }
