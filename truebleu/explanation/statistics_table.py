"""Generic explanation of a metric: its statistics, and the score computed from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.explanation.naive_bleu import ExplanationCase, make_splitter
from truebleu.rendering.elements import Block, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.equations import Equation
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count


def split_text(metric: Any, text: Any) -> list[str]:
    """Return the tokens of a text, or its words if the metric has no tokenizer."""
    if hasattr(metric, "tokenize"):
        return make_splitter(metric.tokenize, getattr(metric, "lowercase", False))(text)
    return text.split() if isinstance(text, str) else [str(token) for token in text]


def explain_corpus(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    """Return the sum of each statistics column and the components of the score."""
    score, metric = case.score, case.metric
    # Samples of references have no row.
    has_columns = score.row and not metric.is_mean
    columns = dict(zip(metric.columns, score.row, strict=True)) if has_columns else {}
    components = {
        name: value
        for name, value in score.details().items()
        if isinstance(value, int | float) and name not in columns
    }
    return {"columns": columns, "components": components, "fraction": score.fraction}


def explain_segment(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    """Return the components of the score, and the tokens of the hypothesis."""
    return {**explain_corpus(case), "tokens": split_text(case.metric, case.hypothesis)}


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {**system["columns"], **system["components"]}


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return only the result of the formula, because the formula is in the metric's source code."""
    function = "f(statistics)" if system["columns"] else "mean of segment scores"
    return [("score", function), ("", format_number(system["fraction"]))]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:  # noqa: ARG001
    """Yield the hypothesis, a table of statistics and a table of score components."""
    if "tokens" in system:
        length = format_count(len(system["tokens"]), "token")
        yield MarkedTokens(f"Hypothesis, {length}", system["tokens"])
    tables = (("Statistics", "column"), ("Components of the score", "component"))
    for title, header in tables:
        if values := system[f"{header}s"]:
            yield Heading(level, title)
            rows = [
                [name, f"{value:,}" if isinstance(value, int) else format_number(value)]
                for name, value in values.items()
            ]
            yield Table.from_text_rows([header, "value"], rows)
    if not system["columns"]:
        yield Paragraph("The corpus score is the mean of the segment scores.")


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return the text that follows the score: a pointer to the metric's documentation."""
    return ". The metric's documentation describes its scale."
