"""Functions and modules of other packages that are replaced for a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def restore_functions(patches: list[tuple[Any, str, Any, Any]]) -> None:
    """Restore replaced functions: (owner, name, original, replacement)."""
    for owner, name, original, replacement in patches:
        if vars(owner).get(name) is replacement:
            setattr(owner, name, original)
    patches.clear()


@contextmanager
def defer_import(name: str, *functions: str) -> Iterator[None]:
    """Let modules that are imported in this context import another module when they first use it.

    name: the other module. It is not deferred if it is already imported, or missing.
    functions: its functions that are imported by name.
    """
    if name in sys.modules or find_spec(name) is None:
        yield
        return

    def remove_substitute() -> None:
        if sys.modules.get(name) is substitute:
            del sys.modules[name]

    def load_attribute(attribute: str) -> Any:
        if attribute == "__path__":  # `from name import function` looks for a package's path
            raise AttributeError(attribute)
        remove_substitute()
        return getattr(import_module(name), attribute)

    def call_function(function: str, *arguments: Any, **keywords: Any) -> Any:
        return load_attribute(function)(*arguments, **keywords)

    substitute = sys.modules[name] = ModuleType(name)
    for function in functions:
        setattr(substitute, function, partial(call_function, function))
    # Python calls this function for missing attributes (PEP 562).
    vars(substitute)["__getattr__"] = load_attribute
    try:
        yield
    finally:
        remove_substitute()
