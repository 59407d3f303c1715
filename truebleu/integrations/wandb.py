"""Weights & Biases: scores, comparisons and reports of a run, with their signatures.

    import truebleu as tb
    import wandb
    from truebleu.integrations.wandb import log_result, log_segments

    with wandb.init(project="translation") as run:
        log_result(tb.bleu(hypotheses, references), prefix="dev", step=1000)   # dev/BLEU
        log_result(tb.compare(systems, references))     # aspen/BLEU, aspen/BLEU/low …, a page
        log_result(tb.report(systems, references))      # a page
        log_segments(["bleu", "chrf"], hypotheses, references)    # a table

Signatures are in the run's config: another one under the same name is W&B's error, as those scores
do not compare. Run with wandb 0.31.0, offline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from truebleu.comparison import Comparison
from truebleu.integrations import logged, needed
from truebleu.metrics.base import Metric, Score
from truebleu.reports import Report


def log_result(
    result: Score | Iterable[Score] | Comparison | Report,
    *,
    prefix: str = "",
    step: int | None = None,
    run: Any = None,
) -> None:
    """Logs a result; `truebleu.integrations.logged` says under which names.

    result: a score or several; a comparison, with a table and a page; or a report, a page.
    prefix: what all names begin with, as "dev".
    step: of the training; if it is not given, W&B counts.
    run: a run; the one that `wandb.init` made last if not given. ValueError without any.
    """
    _log(logged.of_result(result, prefix), step, run)


def log_segments(
    metrics: str | Metric | Sequence[str | Metric],
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str | None]],
    sources: Sequence[str] | None = None,
    *,
    prefix: str = "",
    step: int | None = None,
    run: Any = None,
) -> None:
    """Logs a table: a row per segment, its texts and its score by each metric.

    hypotheses: n strings; references: for each a string or several; sources: n strings, for metrics
        that read them. Other arguments as for `log_result`.
    """
    _log(logged.of_texts(metrics, hypotheses, references, sources, prefix), step, run)


def _log(made: logged.Logged, step: int | None, run: Any) -> None:
    with needed("wandb", "truebleu.integrations.wandb", "'truebleu[wandb]'"):
        import wandb
    run = run or wandb.run
    if run is None:
        raise ValueError("there is no run to log to; call wandb.init first, or give one: run=…")
    run.config.update(made.params)
    # In one call: each is a step.
    run.log(
        {
            **made.metrics,
            **{key: wandb.Html(html, inject=False) for key, html in made.pages.items()},
            **{
                f"{key}_table" if key in made.pages else key: wandb.Table(list(columns), rows)
                for key, (columns, rows) in made.tables.items()
            },
        },
        step=step,
    )
