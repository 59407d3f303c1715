"""Functions of other packages that are replaced for a time."""

from __future__ import annotations

from typing import Any


def restore_functions(patches: list[tuple[Any, str, Any, Any]]) -> None:
    """Restore replaced functions: (owner, name, original, replacement)."""
    for owner, name, original, replacement in patches:
        if vars(owner).get(name) is replacement:
            setattr(owner, name, original)
    patches.clear()
