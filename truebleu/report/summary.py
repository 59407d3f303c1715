"""What a report says before any script has run, and where none may: plain HTML of the manifest."""

from __future__ import annotations

from truebleu.comparison import document
from truebleu.comparison.document import Forest
from truebleu.comparison.html import drawing
from truebleu.report.payload import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Content = Mapping[str, Any]

# Everything is under one class: in a notebook there are other styles around it. Whether something
# is better is said by stars, signs and letters, too.
STYLE = """
.tb-summary { --tb-ink: #1c2230; --tb-soft: #596175; --tb-line: #d5dae3; --tb-paper: #fff;
  --tb-better: #0059b3; --tb-worse: #a84300;
  color: var(--tb-ink); background: var(--tb-paper); font: 16px/1.5 system-ui, sans-serif;
  max-width: 76rem; margin: 0 auto; padding: 1rem 1.25rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { .tb-summary { --tb-ink: #e7eaf0; --tb-soft: #a3abbd;
  --tb-line: #39415a; --tb-paper: #12161f; --tb-better: #79b8ff; --tb-worse: #ffb27a; } }
.tb-summary h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
.tb-summary h2 { font-size: 1.15rem; margin: 1.75rem 0 .25rem; }
.tb-summary p { margin: .5rem 0; max-width: 48rem; }
.tb-summary .tb-lead { font-size: 1.15rem; }
.tb-summary .tb-soft { color: var(--tb-soft); font-size: .9rem; }
.tb-summary .tb-scroll { overflow-x: auto; }
.tb-summary td.tb-drawing { padding-block: 0; vertical-align: middle; }
.tb-summary table { border-collapse: collapse; margin: .5rem 0; font-size: .95rem;
  font-variant-numeric: tabular-nums; color: inherit; background: none; }
.tb-summary th, .tb-summary td { padding: .25rem .6rem; border: 0; text-align: right;
  border-bottom: 1px solid var(--tb-line); vertical-align: baseline; white-space: nowrap; }
.tb-summary thead th { color: var(--tb-soft); font-weight: 600; vertical-align: bottom; }
.tb-summary .tb-left { text-align: left; }
.tb-summary tbody th { font-weight: inherit; white-space: normal; min-width: 6rem; }
.tb-summary .tb-best { font-weight: 700; }
.tb-summary .tb-better { color: var(--tb-better); font-weight: 600; }
.tb-summary .tb-worse { color: var(--tb-worse); font-weight: 600; }
.tb-summary .tb-letter { display: inline-block; min-width: 1.5em; font-weight: 700; }
.tb-summary sup { font-size: .7em; line-height: 0; color: var(--tb-soft); }
.tb-summary dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem;
  font-size: .9rem; margin: .5rem 0; }
.tb-summary dt { color: var(--tb-soft); }
.tb-summary dd { margin: 0; }
.tb-summary code { font: .85em/1.5 ui-monospace, monospace; background: none; color: inherit; }
.tb-summary svg { display: block; color: var(--tb-soft); }
.tb-summary svg.better { color: var(--tb-better); }
.tb-summary svg.worse { color: var(--tb-worse); }
.tb-summary svg line { stroke: currentColor; stroke-width: 1.5; }
.tb-summary svg .zero { stroke: var(--tb-line); }
.tb-summary svg circle { fill: currentColor; }
@media print { .tb-summary { --tb-ink: #000; --tb-soft: #444; --tb-line: #999; --tb-paper: #fff;
  --tb-better: #003f7f; --tb-worse: #7a3000; font-size: 10pt; max-width: none; padding: 0; }
  .tb-summary .tb-scroll { overflow: visible; }
  .tb-summary table, .tb-summary dl { font-size: 9pt; break-inside: avoid; } }
"""


def render(manifest: Content) -> str:
    """The summary."""
    comparison = compared(manifest)
    parts = [f"<h1>{escaped(manifest['title'])}</h1>", f"<p>{escaped(_what(manifest))}</p>"]
    if comparison["metrics"]:
        parts.append(f'<p class="tb-lead">{escaped(sentence(manifest))}</p>')
    parts += [_section(manifest, metric) for metric in comparison["metrics"]]
    parts += [f'<p class="tb-soft">{escaped(line)}</p>' for line in document.sentences(comparison)]
    parts += ["<h2>What was computed</h2>", _facts(manifest)]
    body = "\n".join(parts)
    return f'<article class="tb-summary">\n{body}\n</article>\n'


def fragment(manifest: Content) -> str:
    """The summary with its style, for a notebook."""
    return f"<style>{STYLE}</style>\n{render(manifest)}"


def compared(manifest: Content) -> Content:
    """The comparison, or what stands for it where there is only one system."""
    content: Content = manifest["comparison"] or manifest["intervals"]
    return content


# ---- in words ----


def _what(manifest: Content) -> str:
    """What was scored."""
    comparison = compared(manifest)
    # What is a difference to whom stands at the tables.
    parts = [document.title({**comparison, "baseline": None})]
    documents = manifest["documents"]
    if documents is not None:
        count = len(documents["names"])
        parts.append(f"{count:,} document{'' if count == 1 else 's'}")
    return ", ".join(parts)


def sentence(manifest: Content) -> str:
    """Who wins by the first metric, by how much, and whether it is real."""
    content = compared(manifest)
    metric = content["metrics"][0]
    write = document.number(document.digits(content, metric, None))
    named = {
        system["name"]: f"{system['letter']} {system['name']}" for system in content["systems"]
    }
    best = content["systems"][0]
    score = best["scores"][metric["name"]]
    interval = _between(score["interval"], write)
    level = f"{document.percent(content['level'])} interval "
    if len(content["systems"]) == 1:
        within = f" ({level}{interval})" if interval else ""
        return f"{best['name']} scores {write(score['score'])} {metric['label']}{within}."
    second = content["systems"][1]["name"]
    pair = next(
        pair
        for pair in content["pairs"]
        if pair["metric"] == metric["name"]
        and {pair["first"], pair["second"]} == {best["name"], second}
    )
    way = "above" if metric["higher_is_better"] else "below"
    of_many = "" if len(named) == 2 else f"best of {len(named)} systems, "
    if pair["value"] == 0:
        same = f"{named[best['name']]} and {named[second]} have the same {metric['label']}, "
        return f"{same}{write(score['score'])}."
    # The sign is in the word: the pair's first is better.
    sign = 1 if metric["higher_is_better"] else -1
    turned = sign if pair["first"] == best["name"] else -sign
    size = write(turned * pair["value"])
    around = []
    if pair["interval"] is not None:
        low, high = sorted(turned * pair["interval"][end] for end in ("low", "high"))
        around.append(f"{level}{write(low)} to {write(high)}")
    p = document.decisive(pair)
    if p is not None:
        shown = document.p_value(p)
        around.append(f"p {shown if shown.startswith('<') else '= ' + shown}")
    test = content["test"]
    if test:
        around.append(f"{test['title']}, {test['samples']:,} samples")
    told = f" ({'; '.join(around)})" if around else ""
    return (
        f"{named[best['name']]} is {of_many}{size} {metric['label']} {way} {named[second]}{told}."
        f"{_verdict(pair, test)}"
    )


def _verdict(pair: Content, test: Content | None) -> str:
    if test is None:
        return ""
    if pair["significant"]:
        return f" The difference is significant at {test['alpha']:g}."
    return f" The difference is not significant at {test['alpha']:g}: chance alone makes such ones."


def _between(interval: Mapping[str, float] | None, write: document.Number) -> str:
    return "" if interval is None else f"{write(interval['low'])} to {write(interval['high'])}"


# ---- tables ----


class _Table:
    """Markup of a table, column by column: a header, and a cell for each row."""

    def __init__(self, caption: str, rows: int) -> None:
        self.caption = caption
        self.heads: list[str] = []
        self.rows: list[list[str]] = [[] for _ in range(rows)]

    def add(self, header: str, cells: Sequence[str], title: str = "") -> None:
        """A column whose cells are markup."""
        about = f' title="{escaped(title)}"' if title else ""
        left = "" if self.heads else ' class="tb-left"'
        self.heads.append(f'<th scope="col"{left}{about}>{escaped(header)}</th>')
        for row, cell in zip(self.rows, cells, strict=True):
            row.append(cell)

    def markup(self) -> str:
        """The table."""
        rows = "\n".join(f"<tr>{''.join(row)}</tr>" for row in self.rows)
        return (
            f'<div class="tb-scroll" role="region" aria-label="{escaped(self.caption)}" '
            f'tabindex="0"><table>\n<thead><tr>{"".join(self.heads)}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table></div>"
        )


def _cell(text: str, mark: str = "", raised: str = "") -> str:
    shown = f' class="tb-{mark}"' if mark else ""
    behind = f"<sup>{escaped(raised)}</sup>" if raised else ""
    return f"<td{shown}>{escaped(text)}{behind}</td>"


def _section(manifest: Content, metric: Content) -> str:
    """The systems by one metric."""
    content = compared(manifest)
    baseline = content["baseline"]
    systems = content["systems"]
    scores = [system["scores"][metric["name"]] for system in systems]
    table = _Table(metric["name"], len(systems))
    write = document.number(document.digits(content, metric, None))
    several = len(systems) > 1
    table.add(
        "System",
        [
            _name(system, score, several=several)
            for system, score in zip(systems, scores, strict=True)
        ],
    )
    level = f"{document.percent(content['level'])} interval"
    best = [("best" if several and score["rank"] == 1 else "") for score in scores]
    table.add(
        document.headed(metric),
        [
            _cell(write(score["score"]), mark, document.letters(content, score["better_than"]))
            for score, mark in zip(scores, best, strict=True)
        ],
    )
    if content["intervals"]:
        table.add(level, [_interval(score["interval"], write) for score in scores])
    if several:
        _add_differences(table, content, metric, scores, write)
    against = ""
    if several:
        letter = next(system["letter"] for system in systems if system["name"] == baseline)
        against = f"; Δ is to {letter} {baseline}"
    lower = "" if metric["higher_is_better"] else ", lower is better"
    parts = _parts(metric, systems, scores, several=several)
    return f"<h2>{escaped(metric['name'] + lower + against)}</h2>\n{table.markup()}{parts}"


def _name(system: Content, score: Content, *, several: bool) -> str:
    letter = f'<span class="tb-letter">{escaped(system["letter"])}</span> ' if several else ""
    best = " tb-best" if several and score["rank"] == 1 else ""
    # Names are of any script.
    name = f"<bdi>{escaped(system['name'])}</bdi>"
    return f'<th scope="row" class="tb-left{best}">{letter}{name}</th>'


def _interval(interval: Mapping[str, float] | None, write: document.Number) -> str:
    if interval is None:
        return _cell("n too small")
    return _cell(f"[{write(interval['low'])}, {write(interval['high'])}]")


def _add_differences(
    table: _Table,
    content: Content,
    metric: Content,
    scores: Sequence[Content],
    write: document.Number,
) -> None:
    differences = [score["difference"] for score in scores]
    marks = ["" if one is None else document.verdict(one, metric) for one in differences]
    signed = document.signing(write)
    table.add(
        "Δ",
        [
            _cell("baseline") if one is None else _cell(signed(one["value"]), mark)
            for one, mark in zip(differences, marks, strict=True)
        ],
        "difference of the scores",
    )
    empty = _cell("")
    if content["intervals"]:
        level = f"{document.percent(content['level'])} interval"
        table.add(
            f"{level} of Δ",
            [empty if one is None else _interval(one["interval"], signed) for one in differences],
        )
    if content["test"]:
        corrected = content["correction"]
        table.add(
            f"p ({corrected['title']})" if corrected else "p",
            [
                empty
                if one is None
                else _cell(
                    document.p_value(document.decisive(one)),
                    mark,
                    "*" if one["significant"] else "",
                )
                for one, mark in zip(differences, marks, strict=True)
            ],
            content["test"]["title"],
        )
        table.add(
            "Cluster",
            [_cell("" if score["cluster"] is None else str(score["cluster"])) for score in scores],
            "every system of a cluster is significantly better than all below it",
        )
    table.add(
        "Won / tied / lost",
        [
            empty
            if one is None
            else _cell(f"{one['wins']:,} / {one['ties']:,} / {one['losses']:,}")
            for one in differences
        ],
        "segments scored better than, as, and worse than the baseline's",
    )
    if content["test"]:
        table.add("Needed", [empty if one is None else _needed(one) for one in differences])
    _add_drawings(table, differences, marks)


def _needed(difference: Content) -> str:
    needed = difference["segments_needed"]
    return _cell("" if needed is None else f"{needed:,}" if needed < 10**9 else ">10⁹")


def _add_drawings(
    table: _Table, differences: Sequence[Content | None], marks: Sequence[str]
) -> None:
    """The intervals, drawn beside each other."""
    drawn = [
        None
        if one is None or one["interval"] is None
        else (one["interval"]["low"], one["value"], one["interval"]["high"])
        for one in differences
    ]
    reached = [0.0, *(value for ends in drawn if ends is not None for value in ends)]
    least, most = min(reached), max(reached)
    if least == most:
        return
    table.add(
        "Δ, drawn",
        [
            f'<td class="tb-drawing">{drawing(Forest(least, most, ends, mark))}</td>'
            for ends, mark in zip(drawn, marks, strict=True)
        ],
    )


def _parts(
    metric: Content, systems: Sequence[Content], scores: Sequence[Content], *, several: bool
) -> str:
    """What the scores were made of, if they were made of precisions and a brevity penalty."""
    details = [score["details"] for score in scores]
    if not all("brevity_penalty" in one for one in details):
        return ""
    table = _Table(f"What {metric['name']} was made of", len(systems))
    table.add(
        "System",
        [
            _name(system, score, several=several)
            for system, score in zip(systems, scores, strict=True)
        ],
    )
    for order in range(min(len(one["precisions"]) for one in details)):
        table.add(
            f"p{order + 1}",
            [_cell(f"{one['precisions'][order]:.1f}") for one in details],
            f"share of {order + 1}-grams that match, in per cent",
        )
    brevity = [_cell(f"{one['brevity_penalty']:.3f}") for one in details]
    table.add("BP", brevity, "brevity penalty")
    table.add("Tokens", [_cell(f"{one['hypothesis_length']:,}") for one in details])
    lengths = [_cell(_length(one["reference_length"])) for one in details]
    table.add("Reference tokens", lengths, "effective reference length")
    table.add("Ratio", [_cell(f"{one['ratio']:.3f}") for one in details], "of the two lengths")
    return f"\n{table.markup()}"


def _length(length: float) -> str:
    """A length, which may be a mean."""
    return f"{length:,.0f}" if float(length).is_integer() else f"{length:,.1f}"


# ---- facts ----


def _facts(manifest: Content) -> str:
    rows = "\n".join(
        f"<dt>{escaped(name)}</dt><dd>{value}</dd>" for name, value in _pairs(manifest)
    )
    return f"<dl>\n{rows}\n</dl>"


def _pairs(manifest: Content) -> Iterator[tuple[str, str]]:
    """What is to be known of the numbers, as markup."""
    content = compared(manifest)
    for metric in content["metrics"]:
        if metric["signature"]:
            line = escaped(f"{metric['label']}|{metric['signature']}").replace("|", "|<wbr>")
            yield metric["name"], f"<code>{line}</code>"
    if content["test"]:
        test = content["test"]
        yield (
            "Test",
            escaped(f"{test['title']}, {test['samples']:,} samples, α = {test['alpha']:g}"),
        )
    if content["intervals"]:
        made = content["intervals"]
        level = document.percent(content["level"])
        yield "Intervals", escaped(f"{level}, {made['title']}, {made['samples']:,} resamples")
    if content["test"] or content["intervals"]:
        seed = content["seed"]
        yield "Seed", escaped("another each time" if seed is None else seed)
    hashes = ", ".join(
        f"<bdi>{escaped(name)}</bdi> <code>{escaped(digits)}</code>"
        for name, digits in manifest["data_hash"].items()
    )
    yield "Data (SHA-256)", hashes
    if manifest["redacted"]:
        yield "Text", "left out of this page"
    elif manifest["embedded"] < manifest["segments"]:
        yield (
            "Text",
            escaped(
                f"of {manifest['embedded']:,} of {manifest['segments']:,} segments is in this "
                "page: those that the result depends on most, and as many drawn at random"
            ),
        )
    yield "By", escaped(f"truebleu {manifest['version']}")
    if manifest["made"]:
        yield "Made", escaped(manifest["made"])
