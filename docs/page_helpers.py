"""Helpers that the pages share: Markdown tables, numbers, the example corpus."""

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

BUILT = (
    "<!-- Made by `make docs` from docs/*.py. Every number below was computed when it was. -->\n"
)

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


def filled(name: str, **values: object) -> str:
    """Return the text of docs/templates/NAME.md.in with its placeholders filled, as `str.format` does."""
    template = Path(__file__).with_name("templates") / f"{name}.md.in"
    return template.read_text("utf-8").format(BUILT=BUILT, **values).removesuffix("\n")


def format_table(header: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str:
    """Return a Markdown table, of which the first columns are text."""
    lines = [header, ["---" if i < left else "--:" for i in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def system(hypothesis: str, references: Any, metric: BLEU | None = None, **options: Any) -> Any:
    """Return the explanation of one system, as a dict."""
    return explain(hypothesis, references, metric, **options).to_dict()["systems"][0]


def fraction(order: Any) -> str:
    """Return an order's clipped matches over its n-grams."""
    return f"{order['matches']}/{order['total']}"


def worked(hypothesis: str, references: Any, metric: BLEU | None = None, level: int = 3) -> str:
    """Return a whole explanation in Markdown, below a heading of the page."""
    explained = explain(hypothesis, references, metric).to_dict()
    return render_markdown(explanation_layout.build_layout(explained, 2, short=False), level)


def formula(explained: Any) -> str:
    """Return the formula with its numbers."""
    return "```text\n" + "\n".join(explained["formula"]) + "\n```"
