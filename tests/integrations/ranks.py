"""Two processes that reduce over gloo on this machine: their work, and `run_processes`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from integration_programs import ExampleText

PROCESSES = 2


def run_processes(work: str, text: ExampleText, folder: Path) -> list[dict[str, Any]]:
    """Return the result of each process."""
    (folder / "text.json").write_text(json.dumps(text), encoding="utf-8")
    command = [sys.executable, __file__, work, str(folder)]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(
            [*command, str(rank)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for rank in range(PROCESSES)
    ]
    try:
        outputs = [child.communicate(timeout=120) for child in children]
    finally:
        for child in children:
            child.kill()
    for child, (_, errors) in zip(children, outputs, strict=True):
        assert child.returncode == 0, errors
    return [json.loads(output.splitlines()[-1]) for output, _ in outputs]


def run_metrics(hypotheses: list[str], references: list[list[str]], rank: int) -> dict[str, Any]:
    import truebleu.integrations.torchmetrics as ours

    results = {}
    for name in ("CorpusBLEU", "CorpusCHRF"):
        metric = getattr(ours, name)()
        # Unequal shares: one segment in one process, all others in batches.
        if rank == 0:
            metric.update(hypotheses[:1], references[:1])
        else:
            for start in range(1, len(hypotheses), 5):
                metric.update(hypotheses[start : start + 5], references[start : start + 5])
        results[name] = {
            "compute": metric.compute().item(),
            "score": metric.score().to_dict(),
            "again": metric.compute().item(),
        }
    return results


def run_totals(hypotheses: list[str], references: list[list[str]], rank: int) -> dict[str, Any]:
    import truebleu as tb
    from truebleu.integrations.torch import all_reduce_

    share = slice(0, 7) if rank == 0 else slice(7, None)
    total = tb.Accumulator(tb.CHRF())
    total.update(hypotheses[share], references[share])
    everything = tb.Accumulator(tb.CHRF())
    if rank == 1:
        everything.update(hypotheses, references)
    table = all_reduce_(tb.BLEU().statistics(hypotheses[share], references[share]))
    varied = tb.Accumulator()
    varied.update(["a"], [["a"] * (rank + 1)])
    large = tb.Accumulator(tb.BLEU(max_order=1))
    large.update(["a"], ["a"])
    state = large.state_dict()
    state["totals"] = [2**40] * 4 if rank else [1] * 4
    large.load_state_dict(state)
    return {
        "accumulator": all_reduce_(total).state_dict(),
        "statistics": table.tolist(),
        "references": table.references,
        "some without text": all_reduce_(everything).state_dict(),
        "numbers that vary": all_reduce_(varied).references,
        "large": all_reduce_(large).totals,
    }


def run_different_metrics(
    hypotheses: list[str], references: list[list[str]], rank: int
) -> dict[str, Any]:
    import truebleu as tb
    from truebleu.integrations.torch import all_reduce_

    total = tb.Accumulator(tb.BLEU("intl" if rank else "13a"))
    total.update(hypotheses, references)
    try:
        all_reduce_(total)
        error = "none"
    except tb.InputError as raised:
        error = str(raised)
    equal_metric = tb.Accumulator()
    equal_metric.update(["a"], ["a"])
    return {"error": error, "afterwards": all_reduce_(equal_metric).segments}


def main(work: str, folder: str, rank: str) -> None:
    import torch.distributed as distributed

    hypotheses, references = json.loads(Path(folder, "text.json").read_text(encoding="utf-8"))
    store = Path(folder, "store").as_uri()
    distributed.init_process_group("gloo", init_method=store, rank=int(rank), world_size=PROCESSES)
    result = {"metrics": run_metrics, "totals": run_totals, "different": run_different_metrics}[
        work
    ](hypotheses, references, int(rank))
    sys.stdout.write(json.dumps(result) + "\n")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
