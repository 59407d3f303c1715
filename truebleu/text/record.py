"""Immutable, comparable records, whose annotations are their fields, and their JSON text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

# Version of the JSON output of commands, which increases with each incompatible change.
JSON_VERSION = 1


class Picklable:
    """Base class that makes classes with `__slots__` work with all pickle protocols."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle with protocol 2 or later, because protocols 0 and 1 do not support slots."""
        return super().__reduce_ex__(max(2, protocol))


class Record:
    """Base class of immutable records. The annotations of a subclass are its fields, in order.

    A value assigned in the subclass is the field's default. (Importing `dataclasses` would take 20
    ms.)
    """

    _field_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Store the field names, which are the annotated names."""
        cls._field_names = tuple(cls.__annotations__)

    def __init__(self, *values: Any, **keywords: Any) -> None:
        field_names = self._field_names
        attributes = vars(self)
        attributes.update(zip(field_names, values, strict=False))
        attributes.update(keywords)
        # Fast path if every field has a value. Otherwise, missing fields need a default.
        if len(values) + len(keywords) != len(field_names) or tuple(attributes) != field_names:
            missing = [
                name for name in field_names if name not in attributes and not hasattr(self, name)
            ]
            if missing or len(values) > len(field_names) or attributes.keys() - field_names:
                raise TypeError(
                    f"{type(self).__name__}: expected the fields {', '.join(field_names)}"
                )

    def _get_field_values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._field_names}

    def replace(self, **values: Any) -> Self:
        """Return a copy with new values for some fields."""
        return type(self)(**{**self._get_field_values(), **values})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot set '{name}'")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._get_field_values() == other._get_field_values()

    def __hash__(self) -> int:
        return hash(tuple(self._get_field_values().values()))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary, with full precision."""
        return {name: _to_json_value(value) for name, value in self._get_field_values().items()}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return format_json(self.to_dict(), indent=1)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _to_json_value(item) for name, item in value.items()}
    return value.to_dict() if isinstance(value, Record) else value


def format_json(
    value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """Convert a value to JSON text without escaping non-ASCII characters.

    >>> format_json({"name": "BLEU", "matches": [1, 2.5, None, True]})
    '{"name": "BLEU", "matches": [1, 2.5, null, true]}'
    """
    import json

    return json.dumps(value, indent=indent, ensure_ascii=False, default=default)
