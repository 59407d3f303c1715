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

from typing import Any

from truebleu.integrations import log_records, needed


def _log(made: log_records.Logged, step: int | None, run: Any) -> None:
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


log_result, log_segments = log_records.log_functions(_log)
