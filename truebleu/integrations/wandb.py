"""Weights & Biases: logging of scores, comparisons and reports, with their signatures.

Signatures are in the run's config: W&B raises an error for a second signature of the same name,
because the scores are not comparable. Tested with wandb 0.31.0, offline.
"""

from __future__ import annotations

from typing import Any

from truebleu.integrations import log_records, require_package


def _log_to_wandb(record: log_records.LogRecord, step: int | None, run: Any) -> None:
    with require_package("wandb", "truebleu.integrations.wandb", "'truebleu[wandb]'"):
        import wandb
    run = run or wandb.run
    if run is None:
        raise ValueError("no active run. Call wandb.init first, or pass a run: run=…")
    run.config.update(record.params)
    # W&B counts each call as a step, so call it once.
    run.log(
        {
            **record.metrics,
            **{key: wandb.Html(html, inject=False) for key, html in record.pages.items()},
            **{
                f"{key}_table" if key in record.pages else key: wandb.Table(list(columns), rows)
                for key, (columns, rows) in record.tables.items()
            },
        },
        step=step,
    )


log_result, log_segments = log_records.make_log_functions(_log_to_wandb)
