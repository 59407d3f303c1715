"""Scores of systems or groups as text, JSON, tab- or comma-separated values, LaTeX, Markdown."""

from __future__ import annotations

from truebleu.cli.output import printable
from truebleu.cli.resampling import Estimated
from truebleu.cli.rows import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from truebleu.metric import Score

    # Each system, or each system or group, and its score by each metric.
    OfSystems = Sequence[tuple[str, list[Score]]]
    Results = Sequence[tuple[str, list[Score]] | tuple[str | "Group", list[Score]]]


class Group:
    """Rows of a table that were scored together: what they have in common, and how many."""

    __slots__ = ("keys", "segments")

    def __init__(self, keys: Mapping[str, object], segments: int) -> None:
        self.keys = keys
        self.segments = segments


class Style:
    """How scores are written.

    width: digits after the point; None for what suits the format.
    score_only: nothing but scores.
    short: with short signatures.
    """

    __slots__ = ("score_only", "short", "width")

    def __init__(
        self, width: int | None = None, *, score_only: bool = False, short: bool = False
    ) -> None:
        self.width = width
        self.score_only = score_only
        self.short = short

    def rounded(self, value: float) -> str:
        """A number for a person."""
        return f"{value:.{1 if self.width is None else self.width}f}"

    def estimate(self, score: Score) -> str:
        """A score for a person, with its interval if it has one."""
        if not isinstance(score, Estimated) or not score.known:
            return self.rounded(score.value)
        interval = score.interval
        low, high = self.rounded(interval.low), self.rounded(interval.high)
        return f"{self.rounded(score.value)} [{low}, {high}]"

    def exact(self, value: float) -> str:
        """A number for a program: all of its digits unless told otherwise."""
        return repr(value) if self.width is None else self.rounded(value)

    def signature(self, score: Score) -> str:
        """The signature of a score."""
        return score.signature.short() if self.short else str(score.signature)


def as_text(results: Results, style: Style) -> str:
    """For one system what sacreBLEU prints; otherwise a table, with the signatures below."""
    if style.score_only:
        return _lines("\t".join(style.rounded(score.value) for score in row) for _, row in results)
    if len(results) == 1 and isinstance(results[0][0], str):
        parts = [(_head(score, style), score) for score in results[0][1]]
        width = max(len(head) for head, _ in parts)
        return _lines(
            f"{head:>{width}} = {style.estimate(score)} {score.verbose}".rstrip()
            for head, score in parts
        )
    first = results[0][1]
    # What a score is made of is worth its room where there is one metric.
    details = DETAILS.get(first[0].name, {}) if len(first) == 1 else {}
    names = _label_names(results)
    table = [[*names, *(score.name for score in first), *details]]
    for labels, (_, scores) in zip(_labels(results), results, strict=True):
        numbers = [style.estimate(score) for score in scores]
        table.append([*labels, *numbers, *(show(scores[0]) for show in details.values())])
    return _lines([*_aligned(table, _texts(names)), "", *_heads(results, style)])


# What tables of one metric show beside its scores.
DETAILS: dict[str, dict[str, Callable[[Score], str]]] = {
    "BLEU": {
        "precisions": lambda score: score.verbose.partition(" ")[0],
        "BP": lambda score: f"{score.details()['brevity_penalty']:.3f}",
        "ratio": lambda score: f"{score.details()['ratio']:.3f}",
        "hyp_len": lambda score: str(score.details()["hypothesis_length"]),
        "ref_len": lambda score: str(score.details()["reference_length"]),
    }
}


def as_json(results: Results, style: Style) -> str:
    """An object for each score, sacreBLEU's keys first; a list of them if there are several.

    Groups are always in a list: how many there are is the data's business.
    """
    import json

    entries = []
    for system, scores in results:
        for score in scores:
            value = score.value if style.width is None else float(style.rounded(score.value))
            if style.score_only:
                entries.append(repr(value))
                continue
            if isinstance(system, Group):
                keys = {name: plain(key) for name, key in system.keys.items()}
                named: dict[str, object] = {"group": keys, "segments": system.segments}
            else:
                named = {"system": system} if len(results) > 1 else {}
            content = {**named, **score.to_dict(), "score": value}
            entries.append(json.dumps(content, indent=1, ensure_ascii=False, default=str))
    if len(entries) == 1 and isinstance(results[0][0], str):
        return f"{entries[0]}\n"
    return "[\n" + ",\n".join(entries) + "\n]\n"


def as_tsv(results: Results, style: Style) -> str:
    """A header, and a line for each system with everything its scores are made of."""
    return _lines("\t".join(row) for row in _values(results, style, _labels(results)))


def as_csv(results: Results, style: Style) -> str:
    """The same, with commas, and quotes where they are needed."""
    import csv
    import io

    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(_values(results, style, _texts_of(results)))
    return file.getvalue()


def _values(
    results: Results, style: Style, labels: Iterable[Sequence[str]]
) -> Iterable[Sequence[str]]:
    """A header, and for each system or group its labels and everything its scores are made of."""
    if style.score_only:
        yield from ([style.exact(score.value) for score in row] for _, row in results)
        return
    first = results[0][1]
    header = [*_label_names(results), *(score.name for score in first)]
    if len(first) == 1:
        header += [*_flat(first[0]), "signature"]
    else:
        header += [f"{score.name}_{end}" for score in first for end in _ends(score)]
        header += [f"{score.name}_signature" for score in first]
    yield header
    for label, (_, scores) in zip(labels, results, strict=True):
        row = [*label, *(style.exact(score.value) for score in scores)]
        if len(first) == 1:
            row += ["" if value is None else str(value) for value in _flat(scores[0]).values()]
        else:
            row += [end for score in scores for end in _ends(score).values()]
        yield row + [style.signature(score) for score in scores]


def as_latex(results: Results, style: Style) -> str:
    """A table for a paper that uses the package booktabs, with the signatures in a comment."""
    first = results[0][1]
    rows = [
        [*map(_for_latex, labels), *(style.estimate(score) for score in scores)]
        for labels, (_, scores) in zip(_labels(results), results, strict=True)
    ]
    names = _label_names(results)
    texts = _texts(names)
    heads = [name[:1].upper() + name[1:] for name in names]
    header, *body = _columns(
        [[_for_latex(name) for name in [*heads, *(s.name for s in first)]], *rows], texts
    )
    return _lines(
        [
            rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(header) - texts)}}}",
            r"\toprule",
            rf"{' & '.join(header)} \\",
            r"\midrule",
            *(rf"{' & '.join(row)} \\" for row in body),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {head}" for head in _heads(results, style)),
        ]
    )


def as_markdown(results: Results, style: Style) -> str:
    """A table in Markdown, with the signatures below."""
    first = results[0][1]
    rows = [
        [*(text.replace("|", r"\|") for text in labels), *map(style.estimate, scores)]
        for labels, (_, scores) in zip(_labels(results), results, strict=True)
    ]
    names = _label_names(results)
    texts = _texts(names)
    header = [*(name.replace("|", r"\|") for name in names), *(score.name for score in first)]
    header, *body = _columns([header, *rows], texts)
    widths = [_width(name) for name in header]
    rule = ["-" * width for width in widths[:texts]]
    rule += ["-" * (width - 1) + ":" for width in widths[texts:]]
    lines = [f"| {' | '.join(row)} |" for row in (header, rule, *body)]
    heads = [f"`{head}`" for head in _heads(results, style)]
    return _lines([*lines, *([""] if heads else []), *heads])


FORMATS = {
    "text": as_text,
    "json": as_json,
    "tsv": as_tsv,
    "csv": as_csv,
    "latex": as_latex,
    "markdown": as_markdown,
}


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _label_names(results: Results) -> list[str]:
    """What stands before the scores of a table."""
    first = results[0][0]
    return ["system"] if isinstance(first, str) else [*map(printable, first.keys), "segments"]


def _texts(names: Sequence[str]) -> int:
    """How many of these columns are text; the number of segments is none."""
    return len(names) - (len(names) > 1)


def _labels(results: Results) -> list[list[str]]:
    """What each row of a table says before its scores."""
    return [[*map(printable, row)] for row in _texts_of(results)]


def _texts_of(results: Results) -> list[list[str]]:
    return [
        [label]
        if isinstance(label, str)
        else ["" if key is None else str(key) for key in label.keys.values()]
        + [str(label.segments)]
        for label, _ in results
    ]


def _head(score: Score, style: Style) -> str:
    """What stands before the equals sign."""
    return f"{score.name}|{style.signature(score)}"


def _heads(results: Results, style: Style) -> list[str]:
    """Each signature that there is, once."""
    if style.score_only:
        return []
    return list(dict.fromkeys(_head(score, style) for _, row in results for score in row))


def _ends(score: Score) -> dict[str, str]:
    """The ends of a score's interval, if it has one."""
    details = score.details()
    ends = {end: details[end] for end in ("low", "high") if end in details}
    return {end: "" if value is None else str(value) for end, value in ends.items()}


def _flat(score: Score) -> dict[str, object]:
    """What a score is made of, a number each."""
    flat: dict[str, object] = {}
    for name, value in score.details().items():
        if isinstance(value, list):
            flat |= {f"{name}_{order}": part for order, part in enumerate(value, 1)}
        else:
            flat[name] = value
    return flat


def _aligned(table: Sequence[Sequence[str]], texts: int) -> list[str]:
    """The lines of a table for a terminal, with a rule under its header."""
    header, *rows = ["  ".join(row).rstrip() for row in _columns(table, texts)]
    return [header, "-" * max(map(_width, (header, *rows))), *rows]


def _columns(table: Sequence[Sequence[str]], texts: int) -> list[list[str]]:
    """Cells as wide as their column; text to the left, numbers and their headers to the right."""
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    return [
        [
            text + " " * (width - _width(text)) if i < texts else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in table
    ]


def _width(text: str) -> int:
    """How many places of a terminal a text takes."""
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(character) else 1 + (east_asian_width(character) in "WF")
        for character in text
    )


# What TeX reads as something else than itself.
LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
    }
)


def _for_latex(text: str) -> str:
    r"""Text for a cell of a LaTeX table.

    >>> print(_for_latex("big_run & 50%"))
    big\_run \& 50\%
    """
    return text.translate(LATEX)
