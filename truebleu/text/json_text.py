"""JSON as the library `json` writes it, without its import where the values are plain.

That import brings regular expressions, and takes longer than a test set takes to score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def written(
    value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """A value as `json.dumps` has it, with all characters as they are.

    >>> written({"name": "BLEU", "matches": [1, 2.5, None, True]})
    '{"name": "BLEU", "matches": [1, 2.5, null, true]}'
    """
    try:
        return _plain(value, None if indent is None else " " * indent, "\n")
    except TypeError:
        import json

        return json.dumps(value, indent=indent, ensure_ascii=False, default=default)


def _string(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json

    return json.dumps(text, ensure_ascii=False)


def _plain(value: Any, step: str | None, line: str) -> str:
    """A value of strings, numbers, lists and dictionaries. Raises TypeError for any other."""
    kind = type(value)
    if kind is str:
        return _string(value)
    if kind is int or (kind is float and abs(value) < float("inf")):
        return repr(value)
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    inner = line + (step or "")
    if kind is dict and all(type(key) is str for key in value):
        ends = "{}"
        items = [f"{_string(key)}: {_plain(value[key], step, inner)}" for key in value]
    elif kind in (list, tuple):
        ends = "[]"
        items = [_plain(one, step, inner) for one in value]
    else:
        raise TypeError
    if step is None or not items:
        return f"{ends[0]}{', '.join(items)}{ends[1]}"
    return f"{ends[0]}{inner}{f',{inner}'.join(items)}{line}{ends[1]}"
