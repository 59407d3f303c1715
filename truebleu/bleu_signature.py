"""BLEU's parameters as a signature's fields, and back."""

from __future__ import annotations

from math import inf

from truebleu import tokenizers
from truebleu.formula import SMOOTHING
from truebleu.metric import Signature, own_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from truebleu.bleu import BLEU

# What a signature calls the cases.
CASE: dict[object, str] = {False: "mixed", True: "lc", "ascii": "ascii", "after": "after"}

# The fields of a signature that sacreBLEU has no words for, and their parameters.
_FIELDS = {
    "reflen": "reference_length",
    "tie": "tie",
    "bp": "brevity_penalty",
    "bp0": "empty_brevity",
    "miss": "missing_order",
    "zero": "no_match",
    "agg": "aggregate",
    "scale": "scale",
    "arith": "arithmetic",
}


def write(metric: BLEU, references: int | str | None, *, segment: bool) -> Signature:
    """The signature of a metric, with how many references there were."""
    values = metric.parameters
    effective = metric.missing(segment=segment or metric.aggregate == "segments") == "drop"
    smooth, value = metric.smoothing, metric.smoothing_value
    exact = None
    if value is not None:
        smooth = f"{smooth}[{value:.2f}]"
        exact = repr(value) if float(f"{value:.2f}") != value else None
    fields: dict[str, str | None] = {
        "nrefs": None if references is None else str(references),
        "case": CASE[metric.lowercase],
        "eff": "yes" if effective else "no",
        "tok": tokenizers.label(metric.tokenize),
        "smooth": smooth,
        "order": None if metric.max_order == 4 else str(metric.max_order),
        "weights": None if metric.weights is None else ",".join(map(repr, metric.weights)),
        "value": exact,
    }
    for field, name in _FIELDS.items():
        given = values[name]
        fields[field] = None if given == metric.PARAMETERS[name] else f"{given}"
    if values["missing_order"] in ("drop", "zero"):
        fields["miss"] = None  # Effective order says it.
    return own_signature(metric.NAME, fields, metric.SHORT_NAMES)


def read(fields: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that a signature's fields name."""
    case = _one_of(fields, "case", {word: value for value, word in CASE.items()}, False)
    effective = _one_of(fields, "eff", {"yes": True, "no": False}, None)
    smoothing, bracket, value = fields.get("smooth", "exp").partition("[")
    given = fields.get("value", value.rstrip("]") if bracket else None)
    weights = fields.get("weights")
    others: dict[str, Any] = {
        name: fields[field] for field, name in _FIELDS.items() if field in fields
    }
    return {
        "tokenize": tokenizers.named(fields.get("tok", "13a")),
        "lowercase": case,
        "smoothing": smoothing,
        "smoothing_value": _unless_default(smoothing, given),
        "effective_order": None if "miss" in fields else effective,
        "max_order": _whole(fields, "order", 4),
        "weights": None if weights is None else [float(w) for w in weights.split(",")],
        **others,
    }


def _one_of(
    fields: Mapping[str, str], field: str, meanings: Mapping[str, object], default: object
) -> object:
    if field not in fields:
        return default
    if fields[field] not in meanings:
        raise ValueError(f"{field}:{fields[field]} is none of {', '.join(meanings)}")
    return meanings[fields[field]]


def _whole(fields: Mapping[str, str], field: str, default: int) -> int:
    value = fields.get(field, str(default))
    if not value.isdecimal():
        raise ValueError(f"{field}:{value}: a whole number is meant")
    return int(value)


def _unless_default(smoothing: str, given: str | None) -> float | None:
    """A smoothing value from print; None if it is the default, which needs no saying."""
    if given is None:
        return None
    value = number(f"smooth:{smoothing}[{given}], value", given)
    return None if value == SMOOTHING.get(smoothing) else value


def number(name: str, value: object) -> float:
    """A parameter that must be a number, 0 or more."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < inf:
        raise ValueError(f"{name}={value!r}: a number is meant, 0 or more")
    return number
