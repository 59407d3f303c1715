"""Names that become paths: one check of names, and one that confines paths to a folder."""

from __future__ import annotations

import os
import re

from truebleu._kernel import InputError

# Names of devices on Windows, with any ending.
DEVICE = r"(?i:con|prn|aux|nul|com\d|lpt\d)\s*(?:[.:]|$)"
# No device, no drive, not only dots and spaces; no control characters, backslashes or characters
# that file names cannot have (halves of surrogate pairs, except for bytes that are not UTF-8).
_PART = re.compile(
    rf"(?!{DEVICE}|[A-Za-z]:)(?=.*[^. ])[^\x00-\x1f\x7f\\\ud800-\udc7f\udd00-\udfff]+"
)
# What `is_safe_name` expects, for messages.
SAFE_NAME = "a relative path without .., backslashes, drive letters and device names"


def is_safe_name(name: str) -> bool:
    r"""Return whether a relative path stays below its folder, on every operating system.

    >>> is_safe_name("xml/en-de.xml"), is_safe_name("../x"), is_safe_name("C:x"), is_safe_name("/x")
    (True, False, False, False)
    """
    return all(map(_PART.fullmatch, name.split("/")))


def join_safe(folder: str, *names: str) -> str:
    """Return the path of names below a folder. Raises InputError if a name is not safe."""
    for name in names:
        if not is_safe_name(name):
            raise InputError(f"{folder}: unsafe file name {name!r} (expected {SAFE_NAME})")
    return os.path.join(folder, *names)


def path_inside(folder: str, *names: str) -> str:
    """Return a path below a folder to be written or deleted.

    Raises InputError if a name is not safe, or if a symbolic link leads out of the folder.
    """
    path = join_safe(folder, *names)
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):
        raise InputError(
            f"{path}: a symbolic link leads out of {folder} to {os.path.realpath(path)}. Remove it."
        )
    return path
