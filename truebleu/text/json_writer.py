"""Formatting of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

# Version of the JSON output of commands, which increases with each incompatible change.
VERSION = 1


def format_json(
    value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """Convert a value to JSON text without escaping non-ASCII characters.

    >>> format_json({"name": "BLEU", "matches": [1, 2.5, None, True]})
    '{"name": "BLEU", "matches": [1, 2.5, null, true]}'
    """
    return json.dumps(value, indent=indent, ensure_ascii=False, default=default)
