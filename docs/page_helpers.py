"""Helpers for all pages: templates, Markdown tables, explanations, the example corpus."""

from __future__ import annotations

from pathlib import Path

from truebleu import explain
from truebleu.explanation import explanation_layout
from truebleu.rendering.markdown import escape_markdown, render_code, render_markdown
from truebleu.rendering.number_format import format_compact, format_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu import BLEU

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "de-en"
HYPOTHESES = {name: EXAMPLES / f"{name}.en" for name in ("cedar", "birch", "aspen")}
REFERENCES = {"A": EXAMPLES / "reference.a.en", "B": EXAMPLES / "reference.b.en"}

BUILT = "<!-- Made by `make docs` from docs/*.py, which computed every number below. -->\n"

__all__ = [
    "BUILT",
    "EXAMPLES",
    "HYPOTHESES",
    "REFERENCES",
    "escape_markdown",
    "format_compact",
    "format_number",
    "render_code",
]


def fill_template(name: str, **values: object) -> str:
    """Return the template docs/templates/NAME.md.in with its placeholders replaced by the values."""
    template = Path(__file__).with_name("templates") / f"{name}.md.in"
    return template.read_text("utf-8").format(BUILT=BUILT, **values).removesuffix("\n")


def format_table(header: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str:
    """Return a Markdown table. left: the number of left-aligned columns; the others hold numbers."""
    lines = [header, ["---" if i < left else "--:" for i in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def explain_system(
    hypothesis: str, references: Any, metric: BLEU | None = None, **options: Any
) -> Any:
    """Return the explanation of one hypothesis or corpus as a dict."""
    return explain(hypothesis, references, metric, **options).to_dict()["systems"][0]


def format_fraction(order: Any) -> str:
    """Return the precision of an n-gram order as an unreduced fraction, such as "4/6"."""
    return f"{order['matches']}/{order['total']}"


def format_explanation(
    hypothesis: str, references: Any, metric: BLEU | None = None, level: int = 3
) -> str:
    """Return a complete explanation in Markdown. level: the level of its headings."""
    explained = explain(hypothesis, references, metric).to_dict()
    return render_markdown(explanation_layout.build_layout(explained, 2, short=False), level)


def format_formula(explained: Any) -> str:
    """Return the formula of an explanation, with its numbers, as a Markdown code block."""
    return "```text\n" + "\n".join(explained["formula"]) + "\n```"
