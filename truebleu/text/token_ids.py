"""Token ids as hypotheses and references: arrays, Arrow columns and lists of integers.

The score of ids equals the score of the same ids as decimal numbers, joined with spaces, with
`tokenize="none"`.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Sequence
from itertools import accumulate, chain
from math import prod
from operator import index
from typing import Any, TypeAlias

from truebleu._kernel import InputError, TokenIds
from truebleu.text.argument_checks import describe_type
from truebleu.text.segments import is_column, is_file
from truebleu.text.terminal_layout import format_count

# Formats of the module `array` for integers of each size in bytes.
_SIGNED, _UNSIGNED = ({array(form).itemsize: form for form in forms} for forms in ("bhiq", "BHIQ"))
# Formats of the buffer protocol.
_KINDS = {"int": "bhilqn", "uint": "BHILQN", "float": "efdg", "bool": "?"}
# Devices of DLPack whose memory the processor can read: CPU, and CPU memory pinned for a GPU.
_CPU_DEVICES = (1, 3, 11)

# Native integers in row order: a buffer, the format of an integer, and the shape.
_Integers: TypeAlias = tuple[Any, Any, tuple[int, ...]]


def token_ids(
    values: Any,
    *,
    pad: int | None = None,
    lengths: Collection[int] | None = None,
    eos: int | None = None,
    skip: Collection[int] = (),
) -> TokenIds:
    """Return token ids that every metric of tokens accepts as hypotheses or as references.

    values: an integer array [segments, length], or [segments, references, length] for several
        references; or a list of lists or of 1-D arrays, or of lists of these for several
        references; or an Arrow column of lists. Arrays implement the buffer protocol,
        `__array_interface__` or `__dlpack__`, in the memory of the CPU.
    pad: the id that fills up rows, at their start or end. Between other ids it is an error.
    lengths: the number of ids of each row, instead of `pad`; [segments, references] for 3-D arrays.
    eos: the id that ends a text. The first one and all later ids of the row are ignored.
    skip: ids that are removed before counting.

    Raises InputError for negative ids other than `pad`, and TypeError for values that are not
    integers, or that are in the memory of a GPU.

    >>> from truebleu import BLEU
    >>> hypotheses = token_ids([[5, 6, 7, 8, 0, 0], [5, 6, 7, 9, 8, 0]], pad=0)
    >>> print(BLEU().score(hypotheses, [[5, 6, 7, 8], [5, 6, 7, 8]]).signature)
    nrefs:1|case:mixed|eff:no|tok:ids|smooth:exp|version:2.6.0|by:truebleu-0.1.0
    """
    return read_token_ids("", values, pad, lengths, eos, skip)


def read_token_ids(
    role: str,
    values: Any,
    pad: int | None = None,
    lengths: Any = None,
    eos: int | None = None,
    skip: Collection[int] = (),
) -> TokenIds:
    """Return token ids as `token_ids` does. `role` names the input in messages."""
    place = f"{role}: " if role else ""
    if isinstance(values, TokenIds):
        if pad is not None or lengths is not None or eos is not None or skip:
            raise TypeError(f"{place}these are token ids already; pass the options only once")
        if role.startswith("hypothes") and len(values) and isinstance(values[0], tuple):
            raise InputError(f"{place}several texts per segment (expected one per segment)")
        return values
    if pad is not None and lengths is not None:
        raise ValueError("pad and lengths are mutually exclusive: both tell where a row ends")
    rules = {
        "pad": None if pad is None else _check_id("pad", pad),
        "eos": None if eos is None else _check_id("eos", eos),
        "skip": [_check_id("skip", one) for one in _check_collection("skip", skip)],
    }
    if is_column(values) and not _is_array(values) and not is_file(values):
        names = (name for name in ("to_pylist", "to_list", "tolist") if hasattr(values, name))
        values = getattr(values, next(names, "__array__"))()
    try:
        if _is_array(values):
            data, form, ends, segment_ends = _read_array_rows(values)
        else:
            data, form, ends, segment_ends = _read_list_rows(values)
        if lengths is not None:
            lengths = _check_collection("lengths", lengths)
            data, form, ends = _cut_rows(data, form, ends, lengths)
        # An empty buffer may have an address that is not aligned.
        ids = TokenIds(data if len(data) else array(form, (0,)), form, ends, segment_ends, rules)
    except (TypeError, InputError) as error:
        hint = ""
        if pad is None and isinstance(error, InputError) and "negative" in str(error):
            hint = " (expected 0 or more). Name the id of padding with token_ids(..., pad=...)"
        raise type(error)(f"{place}{error}{hint}") from None
    return read_token_ids(role, ids)


def _check_id(name: str, value: Any) -> int:
    """Return an id as int. Raise TypeError for other values."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an id, found {describe_type(value, '')}") from None


def _check_collection(name: str, values: Any) -> Any:
    """Return values that can be iterated over. Raise TypeError for other values."""
    if not hasattr(values, "__iter__"):
        raise TypeError(f"{name}: expected integers, found {describe_type(values, '')}")
    return values.tolist() if hasattr(values, "tolist") else values


def has_ids(hypotheses: Any) -> bool:
    """Return whether hypotheses are numbers in place of text."""
    if isinstance(hypotheses, TokenIds):
        return True
    if isinstance(hypotheses, list | tuple):
        first = next((one for one in hypotheses if not hasattr(one, "__len__") or len(one)), None)
        if isinstance(first, str) or first is None:
            return False
        if not isinstance(first, list | tuple):
            return _is_array(first)
        return isinstance(first[0], int | float) or hasattr(first[0], "__index__")
    if is_file(hypotheses) or isinstance(hypotheses, str):
        return False
    return _is_array(hypotheses) or (is_column(hypotheses) and _has_lists_of_integers(hypotheses))


def _has_lists_of_integers(column: Any) -> bool:
    """Return whether the type of an Arrow column is a list of integers, by its name."""
    name = str(getattr(column, "type", getattr(column, "dtype", ""))).lower()
    return name.startswith(("list", "large_list", "fixed_size_list", "array")) and "int" in name


def _is_array(value: Any) -> bool:
    """Return whether a value is an array of numbers."""
    if isinstance(value, array | memoryview):
        return value.typecode not in "uw" if isinstance(value, array) else True
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if isinstance(kind, str):
        return kind in "iufcb" and hasattr(value, "shape")
    names = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")
    return hasattr(value, "shape") and any(hasattr(value, name) for name in names)


# ---- rows of integers ----


def _read_array_rows(values: Any) -> tuple[Any, str, list[int], list[int] | None]:
    """Return an array's integers, their format, the ends of rows, and the ends of segments."""
    data, form, shape = _read_integers(values)
    if len(shape) not in (2, 3):
        raise TypeError(
            f"the array has {format_count(len(shape), 'dimension')} (expected [segments, length], "
            "or [segments, references, length])"
        )
    rows, width = prod(shape[:-1]), shape[-1]
    ends = [width * (row + 1) for row in range(rows)]
    segment_ends = None if len(shape) == 2 else [shape[1] * (i + 1) for i in range(shape[0])]
    return data, form, ends, segment_ends


def _read_list_rows(values: Any) -> tuple[Any, str, list[int], list[int] | None]:
    """Return the integers of lists like `_read_array_rows`. The lists may contain arrays."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise TypeError(
            "expected an integer array, an Arrow column of lists, or a list of lists of integers, "
            f"found {type(values).__name__}"
        )
    segments = list(values)
    for number, segment in enumerate(segments, 1):
        if segment is None:
            raise InputError(f"segment {number} is missing (None)")
        if not _is_array(segment) and not isinstance(segment, list | tuple):
            raise TypeError(f"segment {number} is {type(segment).__name__} (expected integers)")
    has_several = any(map(_has_several_rows, segments))
    rows = list(segments)
    if has_several:
        segments = [one if _has_several_rows(one) or not len(one) else [one] for one in segments]
        rows = [row for row in chain.from_iterable(segments) if row is not None]
        counts = [sum(row is not None for row in segment) for segment in segments]
    forms, parts, sizes = set(), [], []
    for number, row in enumerate(rows, 1):
        try:
            part, form, shape = _read_integers(row)
        except OverflowError:
            raise InputError(f"row {number}: an id has more than 64 bits") from None
        except TypeError as error:
            raise TypeError(f"row {number}: {error}") from None
        if len(shape) != 1:
            raise TypeError(f"row {number} has {len(shape)} dimensions (expected 1)")
        forms.add(form)
        parts.append((part, form))
        sizes.append(shape[0])
    form = forms.pop() if len(forms) == 1 else "Q" if "Q" in forms else "q"
    data = array(form)
    for number, (part, part_form) in enumerate(parts, 1):
        if part_form == form:
            data.frombytes(memoryview(part).cast("B"))
            continue
        try:
            data.extend(memoryview(part).tolist())
        except OverflowError:
            raise InputError(f"row {number}: negative id {min(part)}") from None
    return data, form, list(accumulate(sizes)), list(accumulate(counts)) if has_several else None


def _has_several_rows(segment: Any) -> bool:
    """Return whether a segment consists of rows of integers, not of integers."""
    if _is_array(segment):
        return len(segment.shape) > 1 if hasattr(segment, "shape") else False
    return any(one is None or hasattr(one, "__len__") for one in segment[:1])


def _cut_rows(data: Any, form: str, ends: list[int], lengths: Any) -> tuple[Any, str, list[int]]:
    """Keep the given number of integers of each row."""
    flat = [one for row in lengths for one in (row if isinstance(row, list | tuple) else (row,))]
    if len(flat) != len(ends):
        raise InputError(
            f"lengths: expected {format_count(len(ends), 'number')}, one per row, "
            f"found {len(flat):,}"
        )
    kept, start = array(form), 0
    for number, (end, length) in enumerate(zip(ends, flat, strict=True), 1):
        if not 0 <= _check_id("lengths", length) <= end - start:
            raise InputError(
                f"lengths: row {number} has length {length} (expected 0 to {end - start})"
            )
        kept.frombytes(memoryview(data)[start : start + length].cast("B"))
        start = end
    return kept, form, list(accumulate(flat))


# ---- integers in memory ----


def _read_integers(values: Any) -> _Integers:
    """Return the integers of an array or a list. Raise TypeError for other values."""
    if isinstance(values, list | tuple):
        try:
            return array("q", values), "q", (len(values),)
        except OverflowError:
            return array("Q", values), "Q", (len(values),)
        except TypeError:
            wrong = next(one for one in values if not hasattr(one, "__index__"))
            raise TypeError(f"{wrong!r:.40} is not an integer") from None
    _check_device(values)
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        return _read_foreign_array(values)
    form = _get_format(view)
    shape = view.shape or ()
    if not prod(shape):
        return array(form), form, shape
    data = view if view.c_contiguous else memoryview(view.tobytes())
    return data.cast("B").cast(form), form, shape


def _check_device(values: Any) -> None:
    """Raise TypeError for an array that is not in the memory of the CPU."""
    is_on_gpu = hasattr(values, "__cuda_array_interface__")
    if not is_on_gpu and hasattr(values, "__dlpack_device__"):
        is_on_gpu = values.__dlpack_device__()[0] not in _CPU_DEVICES
    if is_on_gpu:
        raise TypeError("the array is in the memory of a GPU. Copy it with .cpu() first")


def _get_format(view: memoryview) -> Any:
    """Return the format of the module `array` for the integers of a buffer."""
    letter, size = view.format.lstrip("@=<>!"), view.itemsize
    kind = next((kind for kind, letters in _KINDS.items() if letter in letters), letter)
    form = {"int": _SIGNED, "uint": _UNSIGNED}.get(kind, {}).get(size)
    if form is None:
        name = kind if kind == "bool" else f"{kind}{8 * size}"
        raise TypeError(f"found values of type {name} (expected integers of 8 to 64 bits)")
    if size > 1 and view.format[0] in (">!" if sys.byteorder == "little" else "<"):
        raise TypeError("the integers have a foreign byte order (expected native order)")
    return form


def _read_foreign_array(values: Any) -> _Integers:
    """Read an array without a buffer: with NumPy, or from lists if NumPy is not installed."""
    try:
        import numpy as np
    except ModuleNotFoundError:
        flat = values.tolist()
        for _ in values.shape[1:]:
            flat = list(chain.from_iterable(flat))
        return (*_read_integers(flat)[:2], tuple(values.shape))
    convert = np.from_dlpack if hasattr(values, "__dlpack__") else np.asarray
    try:
        converted = None if isinstance(values, np.ndarray) else convert(values)
    except (BufferError, RuntimeError, TypeError):
        converted = None
    if converted is None:
        name = str(getattr(values, "dtype", "unknown")).removeprefix("torch.")
        raise TypeError(f"found values of type {name} (expected integers of 8 to 64 bits)")
    return _read_integers(converted)
