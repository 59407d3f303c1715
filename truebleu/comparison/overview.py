"""The first screen of a comparison: who is best, one table of all metrics, and a forest plot.

What `compare -f html`, a notebook and a report without script show, and what the report's own
summary shows again with things to click.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from truebleu.comparison import comparison_layout
from truebleu.comparison.comparison_layout import (
    best_mark,
    decisive,
    digits,
    equation_of_p,
    filled_table,
    headed,
    interval_text,
    letters,
    system_columns,
    verdict,
)
from truebleu.rendering.elements import (
    Cell,
    Column,
    Drawn,
    Fold,
    Forest,
    Heading,
    Panel,
    Paragraph,
    Table,
    warnings_of,
)
from truebleu.rendering.number_format import Write, fixed, p_value, percent, signed
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count, join_words

# A sentence in pieces: text, and systems by their names.
Told = list[str | dict[str, str]]
# Documents from so many on are folded away.
SHOWN = 24


def of_content(
    content: Content, places: int | None = None, *, short: bool = False
) -> Iterator[Drawn]:
    """The whole page of a comparison."""
    yield Heading(1, comparison_layout.title({**content, "baseline": None}))
    yield from first(content, places)
    yield from comparison_layout.by_reference(content, places)
    opposed, others = comparison_layout.disagreements(content)
    yield from (Paragraph(note["text"], "caution") for note in opposed)
    yield from details(content, places)
    yield from comparison_layout.of_documents(content, places)
    yield from (Paragraph(sentence, "note") for sentence in comparison_layout.sentences(others))
    yield from (
        Paragraph(line, "signature") for line in comparison_layout.signatures(content, short=short)
    )


def first(content: Content, places: int | None = None) -> Iterator[Drawn]:
    """What is seen first: warnings, the sentence, the table, and the forest plot."""
    yield from warnings_of(content)
    yield Paragraph(sentence(content), "lead")
    yield table(content, places)
    yield Paragraph(" ".join(legend(content)), "note")
    drawn = forest(content)
    if drawn is not None:
        yield drawn


# ---- the sentence ----


def sentence(content: Content) -> str:
    """Who is best by the first metric, by how much, whether it is real, and what others say."""
    by_name = {one["name"]: one["letter"] for one in content["systems"]}
    alone = len(by_name) == 1

    def written(name: str) -> str:
        return name if alone else f"{by_name[name]} {name}"

    return "".join(
        part if isinstance(part, str) else written(part["system"]) for part in headline(content)
    )


def headline(content: Content) -> Told:
    """The same sentence in pieces."""
    systems = content["systems"]
    best = systems[0]
    # The first metric that can tell systems apart.
    metric = next(
        (one for one in content["metrics"] if best["scores"][one["name"]]["rank"] is not None), None
    )
    if metric is None:
        names = join_words([one["name"] for one in content["metrics"]])
        if len(systems) > 1:
            return [f"No system is called best: {names} cannot split this text into words."]
        metric = content["metrics"][0]
    name = metric["name"]
    write = fixed(digits(content, metric, None))
    score = best["scores"][name]
    level = f"{percent(content['level'])} interval "
    if len(systems) == 1:
        ends = score["interval"]
        within = f" ({level}{write(ends['low'])} to {write(ends['high'])})" if ends else ""
        return [_of(best["name"]), f" scores {write(score['score'])} {metric['label']}{within}."]
    second = systems[1]["name"]
    # Metric by metric, the better placed system first.
    pair = next(one for one in content["pairs"] if one["metric"] == name)
    if pair["value"] == 0:
        same = f" have the same {metric['label']}, {write(score['score'])}."
        return [
            _of(best["name"]),
            " and ",
            _of(second),
            same,
            *_others(content, best["name"], name),
        ]
    baseline = ", the baseline," if best["name"] == content["baseline"] else ""
    of_many = "" if len(systems) == 2 else f" of {len(systems)} systems"
    unsure = content["test"] is not None and not pair["significant"]
    is_best = f" has the best {metric['label']}" if unsure else " is best"
    unit = "" if unsure else f" {metric['label']}"
    size, around = _size(content, pair, write)
    told: Told = [
        _of(best["name"]),
        f"{baseline}{is_best}{of_many}: {write(score['score'])}{unit}, {size} ",
        _of(second),
        f"{around}.{_verdict(pair, content['test'])}",
    ]
    return [*told, *_others(content, best["name"], name)]


def _of(name: str) -> dict[str, str]:
    return {"system": name}


def _size(content: Content, pair: Content, write: Write) -> tuple[str, str]:
    """By how much the first system of a pair is better: in words, and how sure that is."""
    way = "above" if pair["value"] > 0 else "below"
    # The sign is in the word.
    turned = 1 if pair["value"] > 0 else -1
    around = []
    if pair["interval"] is not None:
        low, high = sorted(turned * pair["interval"][end] for end in ("low", "high"))
        level = percent(content["level"])
        around.append(f"{level} interval {write(low)} to {write(high)}")
    if decisive(pair) is not None:
        around.append(equation_of_p(pair))
    return f"{write(turned * pair['value'])} {way}", f" ({'; '.join(around)})" if around else ""


def _verdict(pair: Content, test: Content | None) -> str:
    if test is None:
        return ""
    if pair["significant"]:
        return f" The difference is significant at {test['alpha']:g}."
    return (
        f" The difference is not significant at {test['alpha']:g}: a difference of "
        "this size can arise by chance."
    )


def _others(content: Content, best: str, main: str) -> Told:
    """Whether the other metrics rank the same system first, and which they do if not."""
    agreeing: list[str] = []
    told: Told = []
    for metric in content["metrics"]:
        name = metric["name"]
        scores = {one["name"]: one["scores"][name] for one in content["systems"]}
        if name == main or scores[best]["rank"] is None:
            continue
        if scores[best]["rank"] == 1:
            agreeing.append(name)
            continue
        winner = next(one for one in scores if scores[one]["rank"] == 1)
        pair = next(
            one
            for one in content["pairs"]
            if one["metric"] == name and {one["first"], one["second"]} == {winner, best}
        )
        write = fixed(digits(content, metric, None))
        size, _ = _size(content, pair, write)
        sure = {True: " (significant)", False: " (not significant)", None: ""}[pair["significant"]]
        score = write(scores[winner]["score"])
        told += [f" But {name} ranks ", _of(winner), f" first: {score}, {size} ", _of(best)]
        told.append(f"{sure}.")
    if agreeing:
        verb = "ranks" if len(agreeing) == 1 else "rank"
        told.insert(0, f" {join_words(agreeing)} {verb} the same system first.")
    return told


# ---- the table ----


def table(content: Content, places: int | None = None) -> Table:
    """Systems × metrics: scores with their intervals, differences with theirs, and clusters."""
    systems = content["systems"]
    several = len(systems) > 1
    main = next((name for name, one in systems[0]["scores"].items() if one["rank"] is not None), "")
    filled = list(system_columns(content, [one["scores"].get(main) for one in systems]))
    for metric in content["metrics"]:
        write = fixed(digits(content, metric, places))
        scores = [system["scores"][metric["name"]] for system in systems]
        over = headed(metric)
        cells = [
            Cell(
                write(one["score"]),
                mark=best_mark(content, one),
                below=interval_text(one["interval"], write, ""),
            )
            for one in scores
        ]
        about = "higher is better" if metric["higher_is_better"] else "lower is better"
        filled.append((Column("score", over=over, about=about), cells))
        if not several:
            continue
        against = letters(content, [content["baseline"]])
        column = Column(
            f"Δ to {against}", over=over, about=f"difference to {content['baseline']}, and its p"
        )
        filled.append((column, [_difference(one["difference"], metric, write) for one in scores]))
        if metric["clusters"] is not None:
            about = "every system of a cluster is significantly better than all below it"
            cells = [Cell("" if one["cluster"] is None else str(one["cluster"])) for one in scores]
            filled.append((Column("cluster", over=over, about=about), cells))
    return filled_table(filled, "Systems by all metrics")


def _difference(one: Content | None, metric: Content, write: Write) -> Cell:
    if one is None:
        return Cell("baseline", mark="baseline")
    p = decisive(one)
    return Cell(
        signed(write)(one["value"]),
        "*" if one["significant"] else "",
        verdict(one, metric),
        beside="" if p is None else f"p {p_value(p)}",
        below=interval_text(one["interval"], signed(write), ""),
    )


def legend(content: Content, *, chosen: bool = False) -> list[str]:
    """What the table's terms and marks mean, where they stand; `chosen`: but the baseline."""
    level = percent(content["level"])
    told = []
    if content["intervals"]:
        told.append(f"In brackets: {level} intervals ({content['intervals']['title']}).")
    if len(content["systems"]) < 2:
        return told
    told.insert(0, "Bold: best by the metric.")
    if not chosen:
        told.append(f"Δ: difference to {content['baseline']}, the baseline.")
    test, correction = content["test"], content["correction"]
    if test:
        corrected = f", corrected by {correction['title']}" if correction else ""
        told.append(
            f"p: how often chance alone makes a difference so large ({test['title']}{corrected}); "
            f"*: p < {test['alpha']:g}, significant. "
            "Cluster: systems of one number are not told apart, and those of a lower number are "
            "significantly better."
        )
    return told


# ---- the forest plot ----


def forest(content: Content) -> Forest | None:
    """The differences to the baseline with their intervals, a panel a metric; of one, its score."""
    systems, baseline = content["systems"], content["baseline"]
    several = len(systems) > 1
    if not content["intervals"]:
        return None
    panels = []
    for metric in content["metrics"]:
        scores = [system["scores"][metric["name"]] for system in systems]
        found: list[tuple[float, float, float] | None] = []
        for score in scores:
            one = score["difference"] if several else {**score, "value": score["score"]}
            ends = None if one is None else one["interval"]
            found.append(ends and (ends["low"], one["value"], ends["high"]))
        if not any(found):
            continue
        marks = [
            verdict(score["difference"], metric) if several and score["difference"] else ""
            for score in scores
        ]
        against = f"Δ {metric['name']} to {letters(content, [baseline])}" if several else ""
        panels.append(
            Panel(
                against or metric["name"],
                found,
                marks,
                backwards=not metric["higher_is_better"],
                zero=several,
            )
        )
    if not panels:
        return None
    names = [
        f"{one['letter']} {one['name']}" if several else one["name"] for one in content["systems"]
    ]
    level = percent(content["level"])
    if not several:
        return Forest(f"Scores with {level} intervals", names, panels)
    backwards = [metric["name"] for metric in content["metrics"] if not metric["higher_is_better"]]
    turned = f" ({join_words(backwards)}: axis reversed)" if backwards else ""
    caption = f"Differences to {baseline} with {level} intervals: better is to the right{turned}"
    return Forest(caption, names, panels)


# ---- behind it ----


def details(content: Content, places: int | None = None) -> Iterator[Fold]:
    """Metric by metric, all that was counted and tested."""
    for metric in content["metrics"]:
        shown = digits(content, metric, places)
        inner: list[Drawn] = [comparison_layout.table(content, metric, shown)]
        parts = comparison_layout.parts(content, metric)
        if parts is not None:
            inner.append(parts)
        if len(content["systems"]) > 2:
            inner.append(pairs(content, metric, shown))
        what = ["intervals", "tests"] if len(content["systems"]) > 1 else ["intervals"]
        what += ["parts and lengths"] if parts is not None else []
        what += ["all pairs"] if len(content["systems"]) > 2 else []
        yield Fold(f"{headed(metric)} in detail: {join_words(what)}", inner)


def pairs(content: Content, metric: Content, places: int) -> Table:
    """The difference of every two systems, row less column."""
    systems: Sequence[Content] = content["systems"]
    write = signed(fixed(places))
    known: dict[tuple[str, str], Cell] = {}
    for pair in content["pairs"]:
        if pair["metric"] == metric["name"]:
            star = "*" if pair["significant"] else ""
            known[pair["first"], pair["second"]] = Cell(write(pair["value"]), star)
            known[pair["second"], pair["first"]] = Cell(write(-pair["value"]), star)
    columns = [Column(""), Column("row less column", left=True)]
    columns += [Column(one["letter"], about=one["name"]) for one in systems]
    rows = [
        [
            Cell(row["letter"]),
            Cell(row["name"]),
            *(known.get((row["name"], one["name"]), Cell("")) for one in systems),
        ]
        for row in systems
    ]
    return Table(
        columns, rows, caption=f"Δ {metric['name']} of {format_count(len(systems), 'system')}"
    )
