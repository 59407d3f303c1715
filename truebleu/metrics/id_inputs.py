"""Token ids as input of metrics: the metric's `tokenize` becomes "ids"."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

from truebleu._kernel import InputError
from truebleu.text.token_ids import has_ids, read_token_ids

Method = TypeVar("Method", bound=Callable[..., Any])


def accept_ids(method: Method) -> Method:
    """Decorate a metric's method so that its hypotheses and references may be token ids."""
    function: Any = method

    @wraps(function)
    def call_method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        hypotheses = arguments[0] if arguments else keywords.get("hypotheses")
        if not takes_ids(self, hypotheses):
            return function(self, *arguments, **keywords)
        inputs = dict(zip(("hypotheses", "references"), arguments, strict=False)) | keywords
        for role in inputs.keys() & {"hypotheses", "references"}:
            inputs[role] = read_token_ids(role, inputs[role])
        if function.__name__ == "score":
            inputs["check_text"] = False  # the checks are for text
        return function(adapt_to_ids(self), **inputs)

    return call_method  # type: ignore[return-value]


def takes_ids(metric: Any, hypotheses: Any) -> bool:
    """Return whether a metric has to read hypotheses as token ids.

    With tokenize="none", lists of lists are tokens, which may be strings and negative numbers.
    """
    if not has_ids(hypotheses):
        return False
    is_list = isinstance(hypotheses, list | tuple) and any(
        isinstance(one, list | tuple) for one in hypotheses
    )
    return not (is_list and metric._values.get("tokenize") == "none")  # noqa: SLF001


@cache
def adapt_to_ids(metric: Any) -> Any:
    """Return the metric for token ids. Raise InputError if it cannot score them."""
    if problem := metric.explain_id_conflict():
        raise InputError(
            f"{metric.name} cannot score token ids: {problem}. Decode the ids to text, or use a "
            "metric of tokens such as BLEU"
        )
    changes = {"tokenize": "ids", "unicode_form": None}
    return metric.with_parameters(
        **{name: value for name, value in changes.items() if name in metric._values}  # noqa: SLF001
    )
