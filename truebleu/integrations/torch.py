"""torch.distributed: totals of all processes added up, as integers.

    from truebleu import Accumulator
    from truebleu.integrations.torch import all_reduce_

    total = Accumulator()
    for batch in this_process_share_of_the_data:
        total.update(generate(batch), batch["reference"])
    all_reduce_(total)
    print(total.compute())  # the same on every process, and as one process would print it

Run with torch 2.15 (gloo, two processes on one machine). With NCCL the integers travel on the
current CUDA device; that was not run.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TypeVar

from truebleu._kernel import InputError, Table
from truebleu.integrations import needed
from truebleu.metrics.accumulator import MAX_TOTAL, Accumulator
from truebleu.metrics.base import count_references
from truebleu.metrics.statistics import Statistics

Totals = TypeVar("Totals", Accumulator, Statistics)

# More references than any segment has, for processes without text and for numbers that vary.
MANY = 1 << 31

# What the upper half of a 64-bit integer counts.
HALF = 1 << 32


def all_reduce_(totals: Totals, group: Any = None, *, device: Any = None) -> Totals:
    """Adds up the totals of all processes of a group; each of them has the sum afterwards.

    totals: an Accumulator, which is changed and given back, or Statistics, of which the sum of all
        rows of all processes is given back, one row. A process may have counted nothing.
    group: a process group; None for all processes.
    device: where the integers travel; None for the current CUDA device with NCCL, else the CPU.

    Totals that have been added up once would be again; reduce a copy to go on counting.
    Two all-reduces of a few integers. Without torch.distributed initialized there is one process.
    Raises InputError, on every process, if not all of them count the same.
    """
    if not isinstance(totals, Accumulator | Statistics):
        raise TypeError(f"expected an Accumulator or Statistics, not {type(totals).__name__}")
    with needed("torch", "all_reduce_"):
        import torch
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return totals.sum() if isinstance(totals, Statistics) else totals
    if device is None:
        nccl = distributed.get_backend(group) == "nccl"
        device = torch.device("cuda", torch.cuda.current_device()) if nccl else "cpu"

    def reduced(numbers: list[int], operation: Any) -> list[int]:
        tensor = torch.tensor(numbers, dtype=torch.int64, device=device)
        distributed.all_reduce(tensor, operation, group=group)
        result: list[int] = tensor.tolist()
        return result

    fingerprint = (
        totals.fingerprint if isinstance(totals, Statistics) else totals.metric.fingerprint
    )
    name = int.from_bytes(sha256(fingerprint.encode()).digest()[:8], "big") >> 2  # 62 bits
    fewest, most = _references(totals)
    # The largest of a number and of its negative: the same number if all have the same. All
    # processes see whether they agree, so all go on together or stop together.
    high, low, fewest, most = reduced([name, -name, -fewest, most], distributed.ReduceOp.MAX)
    if high != -low:
        all_of_them: list[Any] = [None] * distributed.get_world_size(group)
        distributed.all_gather_object(all_of_them, fingerprint, group=group)
        raise InputError(
            "these processes count different things, which cannot be added up: "
            + ", ".join(f"process {i} {name}" for i, name in enumerate(all_of_them))
        )
    if isinstance(totals, Statistics):
        numbers = [len(totals), *totals.total().tolist()[0]]
    else:
        numbers = [totals.segments, *totals.totals]
    # In halves, whose sums have room: one of whole integers would wrap unseen.
    parts = [part for number in numbers for part in divmod(number, HALF)]
    parts = reduced(parts, distributed.ReduceOp.SUM)
    segments, *row = [high * HALF + low for high, low in zip(parts[::2], parts[1::2], strict=True)]
    return _with(totals, segments, row, (-fewest, most) if most else None)  # type: ignore[no-any-return]


def _with(totals: Any, segments: int, row: list[int], references: tuple[int, int] | None) -> Any:
    """An accumulator with these totals, or a table of this row."""
    if any(abs(total) > MAX_TOTAL for total in row):
        raise InputError(f"totals beyond {MAX_TOTAL}: these are no statistics of text")
    if isinstance(totals, Accumulator):
        state = totals.state_dict()
        state |= {"segments": segments, "totals": row, "references": references}
        totals.load_state_dict(state)
        return totals
    return Statistics(
        Table.from_rows([row], len(row)),
        columns=totals.columns,
        fingerprint=totals.fingerprint,
        references=count_references(references),
    )


def _references(totals: Accumulator | Statistics) -> tuple[int, int]:
    """The fewest and the most references of a segment; (MANY, 0) where there was no text."""
    if isinstance(totals, Accumulator):
        known: list[int] | None = totals.state_dict()["references"]
        return (MANY, 0) if known is None else (known[0], known[1])
    if not len(totals) or totals.references is None:
        return (MANY, 0)
    return (1, MANY) if isinstance(totals.references, str) else (totals.references,) * 2
