"""MLflow: logging of scores, comparisons and reports, with signatures that reproduce the scores.

Without a run, MLflow starts one. Signatures are parameters of the run: MLflow raises an error for a
second signature of the same name, because the scores are not comparable. Tested with
mlflow-skinny 3.17.2 and an SQLite store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from truebleu.integrations import log_records, require_package

# Tag of the artifacts that MLflow's UI displays as tables.
TABLE_TAG = "mlflow.loggedArtifacts"

# Limits of an MLflow server per request.
MAX_PARAMS = 100
MAX_METRICS = 1000


def _log_to_mlflow(record: log_records.LogRecord, step: int | None, run: str | None) -> None:
    with require_package("MLflow", "truebleu.integrations.mlflow", "'truebleu[mlflow]'"):
        import mlflow
    run_id = run or (mlflow.active_run() or mlflow.start_run()).info.run_id
    step_suffix = "" if step is None else f"-{step}"
    for params in _split_dict(record.params, MAX_PARAMS):
        mlflow.log_params(params, run_id=run_id)
    for metrics in _split_dict(record.metrics, MAX_METRICS):
        mlflow.log_metrics(metrics, step=step, run_id=run_id)
    for name, html in record.pages.items():
        mlflow.log_text(html, f"{name}{step_suffix}.html", run_id=run_id)
    if not record.tables:
        return
    # MLflow's log_table requires pandas, and would append to an existing table.
    client = mlflow.MlflowClient()
    listed_tables = json.loads(client.get_run(run_id).data.tags.get(TABLE_TAG, "[]"))
    for name, (columns, rows) in record.tables.items():
        path = f"{name}{step_suffix}.json"
        mlflow.log_dict({"columns": columns, "data": rows}, path, run_id=run_id)
        table_entry = {"path": path, "type": "table"}
        if table_entry not in listed_tables:
            listed_tables.append(table_entry)
    client.set_tag(run_id, TABLE_TAG, json.dumps(listed_tables))


log_result, log_segments = log_records.make_log_functions(_log_to_mlflow)


def _split_dict(values: dict[str, Any], max_size: int) -> Iterator[dict[str, Any]]:
    pairs = list(values.items())
    for start in range(0, len(pairs), max_size):
        yield dict(pairs[start : start + max_size])
