"""Names of `typing` for type checkers, without the cost of importing it at run time."""

__all__ = ["Generic", "overload"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, overload
else:

    class Generic:  # noqa: D101
        __slots__ = ()

        def __class_getitem__(cls, _: object) -> type:
            return cls

    def overload(function: object) -> object:  # noqa: D103
        return function
