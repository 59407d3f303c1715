"""Build the page "Which BLEU is that?"."""

from __future__ import annotations

import warnings

from page_helpers import (
    HYPOTHESES,
    REFERENCES,
    escape_markdown,
    fill_template,
    format_table,
    render_code,
)

from truebleu import BLEU, InputError, family

SYSTEM = HYPOTHESES["birch"]
A = [REFERENCES["A"]]
BOTH_REFERENCES = [REFERENCES["A"], REFERENCES["B"]]

# Each entry changes one of sacreBLEU's default settings.
SETTINGS = {
    "sacreBLEU's defaults": {},
    "lower case": {"lowercase": True},
    "tokenizer `intl`": {"tokenize": "intl"},
    "tokenizer `none`: punctuation stays attached to words": {"tokenize": "none"},
    "tokenizer `char`": {"tokenize": "char"},
    "n-grams up to order 2": {"max_order": 2},
    "length of the shortest reference": {"reference_length": "shortest"},
    "length of the longest reference": {"reference_length": "longest"},
    "mean length of the references": {"reference_length": "average"},
    "first of equally close reference lengths": {"tie": "first"},
    "no brevity penalty": {"brevity_penalty": "none"},
    "smoothing `add-k`": {"smoothing": "add-k"},
    "mean of segment scores": {"aggregate": "segments"},
    "mean of segment scores, unsmoothed": {"aggregate": "segments", "smoothing": "none"},
}


def build_page() -> str:
    """Return the page docs/which-bleu.md."""
    return fill_template(
        "which-bleu",
        lines=_count_example_segments(),
        settings=_format_setting_table(),
        members=_format_member_tables(),
    )


def _count_example_segments() -> int:
    return len(SYSTEM.read_text(encoding="utf-8").splitlines())


def _format_setting_table() -> str:
    default = [BLEU().score(SYSTEM, references).value for references in (A, BOTH_REFERENCES)]
    rows = []
    for name, parameters in SETTINGS.items():
        metric = BLEU(**parameters)
        values = [metric.score(SYSTEM, references).value for references in (A, BOTH_REFERENCES)]
        cells = []
        for value, default_value in zip(values, default, strict=True):
            cells += [f"{value:.2f}", f"{value - default_value:+.2f}" if parameters else ""]
        rows.append((name, *cells))
    return format_table(["setting", "A", "change", "A and B", "change"], rows)


def _format_member_tables() -> str:
    rows = []
    notes: dict[str, list[str]] = {}
    for name in family:
        member = family[name]
        cells = []
        for references in (A, BOTH_REFERENCES):
            try:
                # The section "Peculiarities" describes the members' warnings.
                with warnings.catch_warnings(action="ignore"):
                    score = member.score(SYSTEM, references)
            except (InputError, TypeError, ValueError, ImportError):
                cells.append("–")
            else:
                cells.append(
                    member.format_score(score)
                    if member.digits is not None
                    else _format_with_six_digits(score)
                )
        different = ", ".join(member.differences) or "the default"
        rows.append(
            (render_code(name), escape_markdown(member.title), escape_markdown(different), *cells)
        )
        if member.quirks:
            notes.setdefault(member.quirks, []).append(render_code(name))
    header = ["name", "title", "differences from sacreBLEU", "A", "A and B"]
    return (
        f"The table lists {len(rows)} published implementations. Each score is on the implementation's own scale, with "
        "as many digits as the implementation prints (six if it prints full precision). `truebleu family score REF -i HYP` "
        "prints this list for your text. A dash means that an implementation accepts only one reference, or is not "
        "defined for this text (see below).\n\n"
        f"{format_table(header, rows, left_aligned=3)}\n\n### Peculiarities\n\n"
        + "\n".join(
            f"* {', '.join(names)}: {escape_markdown(quirk)}" for quirk, names in notes.items()
        )
    )


def _format_with_six_digits(score: object) -> str:
    """Format a score with six significant digits, for members that print all digits."""
    return f"{getattr(score, 'published', float(score)):.6g}"  # type: ignore[arg-type]
