"""MLflow: scores, comparisons and reports of a run, with the signatures that make them again.

    import mlflow
    import truebleu as tb
    from truebleu.integrations.mlflow import log_result, log_segments

    with mlflow.start_run():
        log_result(tb.bleu(hypotheses, references), prefix="dev", step=1000)   # dev/BLEU
        log_result(tb.compare(systems, references))     # aspen/BLEU, aspen/BLEU/low …, a page
        log_result(tb.report(systems, references))      # report.html
        log_segments(["bleu", "chrf"], hypotheses, references)    # a table

Without a run, MLflow starts one. Signatures are parameters of the run: another one under the same
name is MLflow's error, as those scores do not compare. Run with
mlflow-skinny 3.17.2 and its store in a file of SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from truebleu.integrations import log_records, needed

# The tag by which MLflow's pages know that an artifact is a table.
TABLES = "mlflow.loggedArtifacts"

# What a server takes at once.
MOST_PARAMS = 100
MOST_METRICS = 1000


def _log(made: log_records.Logged, step: int | None, run: str | None) -> None:
    with needed("MLflow", "truebleu.integrations.mlflow", "'truebleu[mlflow]'"):
        import mlflow
    run_id = run or (mlflow.active_run() or mlflow.start_run()).info.run_id
    at = "" if step is None else f"-{step}"
    for params in _parts(made.params, MOST_PARAMS):
        mlflow.log_params(params, run_id=run_id)
    for metrics in _parts(made.metrics, MOST_METRICS):
        mlflow.log_metrics(metrics, step=step, run_id=run_id)
    for name, html in made.pages.items():
        mlflow.log_text(html, f"{name}{at}.html", run_id=run_id)
    if not made.tables:
        return
    # As MLflow's own log_table, which needs pandas and would add rows to those of before.
    client = mlflow.MlflowClient()
    known = json.loads(client.get_run(run_id).data.tags.get(TABLES, "[]"))
    for name, (columns, rows) in made.tables.items():
        path = f"{name}{at}.json"
        mlflow.log_dict({"columns": columns, "data": rows}, path, run_id=run_id)
        known += [one for one in [{"path": path, "type": "table"}] if one not in known]
    client.set_tag(run_id, TABLES, json.dumps(known))


log_result, log_segments = log_records.log_functions(_log)


def _parts(named: dict[str, Any], most: int) -> Iterator[dict[str, Any]]:
    pairs = list(named.items())
    for start in range(0, len(pairs), most):
        yield dict(pairs[start : start + most])
