"""What `typing` and `importlib` have, without the cost of importing them at run time."""

import sys

__all__ = ["Generic", "import_module", "overload"]

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


def import_module(name: str) -> object:
    """The module of this name. `importlib` imports warnings and more, which few need."""
    __import__(name)
    return sys.modules[name]
