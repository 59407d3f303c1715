"""Records: classes that are their annotated names and nothing else, frozen and comparable."""

from __future__ import annotations

from typing import Any, ClassVar, Self


class Picklable:
    """A class with `__slots__` that every pickle protocol can write."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return what protocol 2 pickles: Python has slots in protocols 0 and 1 refused."""
        return super().__reduce_ex__(max(2, protocol))


class Record:
    """Named values that do not change: those that a subclass annotates, in its order.

    A value in the class is the default. (`dataclasses` does more, and takes 20 ms to import.)
    """

    _field_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Reads the names from the annotations."""
        cls._field_names = tuple(cls.__annotations__)

    def __init__(self, *values: Any, **keywords: Any) -> None:
        field_names = self._field_names
        attributes = vars(self)
        attributes.update(zip(field_names, values, strict=False))
        attributes.update(keywords)
        # All names and no others, as nearly always; otherwise what is missing has a default.
        if len(values) + len(keywords) != len(field_names) or tuple(attributes) != field_names:
            missing = [
                name for name in field_names if name not in attributes and not hasattr(self, name)
            ]
            if missing or len(values) > len(field_names) or attributes.keys() - field_names:
                raise TypeError(f"{type(self).__name__} has the values {', '.join(field_names)}")

    def _get_values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._field_names}

    def replace(self, **values: Any) -> Self:
        """The same with other values of those names."""
        return type(self)(**{**self._get_values(), **values})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__} is frozen: its values do not change, {name} too"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._get_values() == other._get_values()

    def __hash__(self) -> int:
        return hash(tuple(self._get_values().values()))

    def to_dict(self) -> dict[str, Any]:
        """All values, in full precision."""
        return {name: _to_plain(value) for name, value in self._get_values().items()}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        from truebleu.text.json_writer import format_json

        return format_json(self.to_dict(), indent=1)


def _to_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _to_plain(one) for name, one in value.items()}
    return value.to_dict() if isinstance(value, Record) else value
