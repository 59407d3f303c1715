"""torch.distributed: exact sums of the statistics of all processes.

Tested with torch 2.15 (gloo, two processes on one machine). With NCCL the integers are transferred
from the current CUDA device; this is untested.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TypeVar

from truebleu._kernel import InputError, Table
from truebleu.integrations import require_package
from truebleu.metrics.accumulator import MAX_TOTAL, Accumulator
from truebleu.metrics.base import summarize_reference_count
from truebleu.metrics.scores import Statistics

Totals = TypeVar("Totals", Accumulator, Statistics)

# Larger than any number of references; used for processes without text and for varying numbers.
MAX_REFERENCES = 1 << 31

# Value of the lowest bit in the upper half of a 64-bit integer.
HALF = 1 << 32


def all_reduce_(totals: Totals, group: Any = None, *, device: Any = None) -> Totals:
    """Sum the statistics of all processes of a group. Each process receives the sum.

    totals: an Accumulator, which is modified and returned; or Statistics, which are summed over all
        rows and processes and returned as a new object with one row. A process may have no data.
    group: a process group; None for all processes.
    device: the device of the transferred integers (default: the current CUDA device with NCCL,
        otherwise the CPU).

    Reducing the same accumulator twice would count its data twice; to continue counting, reduce a
    copy. The function makes two all-reduce calls with a few integers. If torch.distributed is not
    initialized, there is one process. Raises InputError, on every process, if the metrics differ.
    """
    if not isinstance(totals, Accumulator | Statistics):
        raise TypeError(f"expected an Accumulator or Statistics, found {type(totals).__name__}")
    with require_package("torch", "all_reduce_"):
        import torch
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return totals.sum() if isinstance(totals, Statistics) else totals
    if device is None:
        is_nccl = distributed.get_backend(group) == "nccl"
        device = torch.device("cuda", torch.cuda.current_device()) if is_nccl else "cpu"

    def reduce_integers(numbers: list[int], operation: Any) -> list[int]:
        tensor = torch.tensor(numbers, dtype=torch.int64, device=device)
        distributed.all_reduce(tensor, operation, group=group)
        result: list[int] = tensor.tolist()
        return result

    described = totals if isinstance(totals, Statistics) else totals.metric
    fingerprint = described.fingerprint
    min_references, max_references = _get_reference_range(totals)
    # An accumulator without data is equally suitable for text and for token ids.
    identified = totals if isinstance(totals, Statistics) else totals._metric  # noqa: SLF001
    digest = sha256(identified.fingerprint.encode()).digest()
    identifier = int.from_bytes(digest[:8], "big") >> 2  # 62 bits
    has_ids = int(fingerprint != identified.fingerprint)
    has_text = int(max_references > 0 and not has_ids)
    # If all processes have the same identifier, the maxima of the identifier and of its negative
    # cancel. Every process sees the same maxima, so either all processes continue or all stop.
    high, low, min_references, max_references, has_ids, has_text = reduce_integers(
        [identifier, -identifier, -min_references, max_references, has_ids, has_text],
        distributed.ReduceOp.MAX,
    )
    if high != -low or (has_ids and has_text):
        fingerprints: list[Any] = [None] * distributed.get_world_size(group)
        distributed.all_gather_object(fingerprints, fingerprint, group=group)
        raise InputError(
            "the processes have different metrics, which cannot be summed: "
            + ", ".join(f"process {i} {name}" for i, name in enumerate(fingerprints))
        )
    if isinstance(totals, Statistics):
        numbers = [len(totals), *totals.total().tolist()[0]]
    else:
        numbers = [totals.segments, *totals.totals]
    # Sums of 32-bit halves cannot overflow; sums of complete integers could wrap silently.
    halves = [part for number in numbers for part in divmod(number, HALF)]
    halves = reduce_integers(halves, distributed.ReduceOp.SUM)
    pairs = zip(halves[::2], halves[1::2], strict=True)
    segments, *row = [high * HALF + low for high, low in pairs]
    references = (-min_references, max_references) if max_references else None
    if has_ids and isinstance(totals, Accumulator):
        totals._has_ids = True  # noqa: SLF001
    return _replace_totals(totals, segments, row, references)  # type: ignore[no-any-return]


def _replace_totals(
    totals: Any, segments: int, row: list[int], references: tuple[int, int] | None
) -> Any:
    """Return the accumulator with its totals replaced by `row`, or new statistics of one row."""
    if any(abs(total) > MAX_TOTAL for total in row):
        raise InputError(f"totals exceed {MAX_TOTAL}, so they are invalid")
    if isinstance(totals, Accumulator):
        state = totals.state_dict()
        state |= {"segments": segments, "totals": row, "references": references}
        totals.load_state_dict(state)
        return totals
    return Statistics(
        Table.from_rows([row], len(row)),
        columns=totals.columns,
        fingerprint=totals.fingerprint,
        references=summarize_reference_count(references),
    )


def _get_reference_range(totals: Accumulator | Statistics) -> tuple[int, int]:
    """Return the smallest and largest reference counts, or (MAX_REFERENCES, 0) without text."""
    if isinstance(totals, Accumulator):
        counts: list[int] | None = totals.state_dict()["references"]
        return (MAX_REFERENCES, 0) if counts is None else (counts[0], counts[1])
    if not len(totals) or totals.references is None:
        return (MAX_REFERENCES, 0)
    return (1, MAX_REFERENCES) if isinstance(totals.references, str) else (totals.references,) * 2
