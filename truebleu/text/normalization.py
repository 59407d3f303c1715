"""Unicode forms of text: what the parameter `normalize` of metrics does before anything else."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial
from itertools import islice, zip_longest
from typing import Any

from truebleu._kernel import InputError
from truebleu.text.files import File
from truebleu.text.segments import file_of, is_column, is_file, items


def normalize_text(form: str, text: str) -> str:
    """Return the text in a form of the parameter `normalize`.

    Diacritics are all characters of category Mn (nonspacing marks) of the decomposed text.

    >>> normalize_text("nfc", "e\u0301"), normalize_text("nfc-strip", "é"), len("e\u0301")
    ('é', 'e', 2)
    """
    name, _, strip = form.upper().partition("-")
    if text.isascii():
        return text
    if strip:
        decomposed = unicodedata.normalize(name.replace("C", "D"), text)  # type: ignore[arg-type]
        text = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    elif unicodedata.is_normalized(name, text):  # type: ignore[arg-type]
        return text
    return unicodedata.normalize(name, text)  # type: ignore[arg-type]


class NormalizedFile(File):
    """The lines of a file in a Unicode form, converted while they are read."""

    __slots__ = ("_file", "_normalize")

    def __init__(self, file: File, normalize: Callable[[str], str]) -> None:
        super().__init__(file.path)
        self._file = file
        self._normalize = normalize

    @property
    def is_plain(self) -> bool:
        """False: its bytes are not those on the disk."""
        return False

    def _key(self) -> tuple[object, ...]:
        return self._file, *self._normalize.args  # type: ignore[attr-defined]

    def _reader(self) -> Callable[[int], bytes]:
        lines = (f"{self._normalize(line)}\n" for line in self._file.lines())
        pieces = iter(lambda: "".join(islice(lines, 1024)).encode("utf-8", "surrogatepass"), b"")
        return lambda _: next(pieces, b"")


def normalize_input(form: str | None, value: Any) -> Any:
    """Return hypotheses, references or sources of any accepted kind in a Unicode form.

    Values that are not text, which metrics refuse, stay as they are.
    """
    return value if form is None else _normalized(partial(normalize_text, form), value)


def _normalized(normalize: Callable[[str], str], value: Any) -> Any:
    if isinstance(value, str):
        return normalize(value)
    if is_file(value):
        return NormalizedFile(file_of(value), normalize)
    if is_column(value):
        return tuple(_normalized(normalize, _as_tuple(item)) for item in items("texts", value))
    if isinstance(value, list | tuple) and any(map(is_column, value)):
        if any(map(is_file, value)):
            return [_normalized(normalize, item) for item in value]
        # Several columns of references become the references of each segment.
        columns = [_normalized(normalize, item) for item in value]
        if len(set(map(len, columns))) > 1:
            lengths = ", ".join(f"{len(column):,}" for column in columns)
            raise InputError(f"references: columns of different lengths ({lengths})")
        return tuple(zip_longest(*columns))
    has_items = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    if isinstance(value, bytes | bytearray | dict) or not has_items:
        return value
    found = (_normalized(normalize, item) for item in items("texts", value))
    return tuple(found) if isinstance(value, tuple) else list(found)


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
