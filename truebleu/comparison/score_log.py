"""The score log: an append-only file of JSON lines, one per score and system.

time        time of scoring in UTC, to the second
name        name that is tracked over time, if given
system      name of the system, which is its file name
metric, score, signature    the score at full precision
low, high   limits of the score's interval, if requested
segments    number of segments
hypothesis  the file, and the SHA-256 of its text
references  the file and SHA-256 of each reference
version     version of truebleu
report      location of the report: a URL, or a path relative to the log's pages
note        the user's note

The hash covers the text as scored: decompressed, decoded, limited to the selected column, in UTF-8
with a newline after each line. For a plain file, `sha256sum` prints the same hash.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from math import isfinite
from typing import Any, NamedTuple

from truebleu._kernel import InputError, __version__
from truebleu.text.argument_checks import is_whole_number, load_json
from truebleu.text.operating_system import lock_file


class Input(NamedTuple):
    """An input file, and the SHA-256 of its text."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A score in a log."""

    time: datetime
    name: str | None = None
    system: str
    metric: str
    score: float
    low: float | None = None
    high: float | None = None
    signature: str
    segments: int
    hypothesis: Input
    references: tuple[Input, ...]
    version: str = __version__
    note: str | None = None
    report: str | None = None

    @classmethod
    def from_dict(cls, content: object) -> Entry:
        """Return the entry from the output of `to_dict`.

        Unknown keys may belong to a later version and are ignored. Raises ValueError, with the key,
        for a missing or invalid value.
        """
        if not isinstance(content, dict):
            raise ValueError("expected a JSON object")
        field_values: dict[str, Any] = {}
        for key, kind in ((field.name, str(field.type)) for field in fields(cls)):
            value = content.get(key)
            if value is None and kind.endswith("| None"):
                continue
            expected_type, parse_value = _FIELD_PARSERS[kind.removesuffix(" | None")]
            if key not in content:
                raise ValueError(f"missing key '{key}'")
            try:
                field_values[key] = parse_value(value)
            except (TypeError, ValueError, KeyError, OverflowError):
                raise ValueError(
                    f"'{key}': expected {expected_type}, found {value!r:.60}"
                ) from None
        return cls(**field_values)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as JSON-compatible values."""
        content = {
            **asdict(self),
            "time": self.time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "hypothesis": self.hypothesis._asdict(),
            "references": [text._asdict() for text in self.references],
        }
        return {key: value for key, value in content.items() if value is not None}

    @property
    def tracked_name(self) -> str:
        """The name that is tracked over time: `name` or, if it is None, the name of the system."""
        return self.system if self.name is None else self.name

    def to_line(self) -> bytes:
        """Convert the entry to a line of a log."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        # Invalid UTF-8 bytes in file names become JSON escapes.
        return text.encode("utf-8", "backslashreplace") + b"\n"


def _parse_string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _parse_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise TypeError
    return float(value)


def _parse_count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise TypeError
    return value


def _parse_time(value: Any) -> datetime:
    time = datetime.fromisoformat(value)
    if time.tzinfo is None:
        raise ValueError
    return time.astimezone(UTC)


def _parse_input_file(value: Any) -> Input:
    if not re.fullmatch("[0-9a-f]{64}", value["sha256"]):
        raise ValueError
    return Input(_parse_string(value["file"]), value["sha256"])


def _parse_input_files(value: Any) -> tuple[Input, ...]:
    if not isinstance(value, list) or not value:
        raise TypeError
    return tuple(map(_parse_input_file, value))


# Description and parser of a value, keyed by its declared type.
_FIELD_PARSERS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "datetime": ("a time with a zone, such as 2026-11-20T09:30:00Z", _parse_time),
    "str": ("a string", _parse_string),
    "float": ("a finite number", _parse_number),
    "int": ("an integer of 1 or more", _parse_count),
    "Input": ("a file with its sha256", _parse_input_file),
    "tuple[Input, ...]": ("a list of files with their sha256", _parse_input_files),
}


def get_log_time() -> datetime:
    """Return the current time to the second, or SOURCE_DATE_EPOCH if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if is_whole_number(epoch):
        return datetime.fromtimestamp(int(epoch), UTC)
    return datetime.now(UTC).replace(microsecond=0)


def read_log_entries(path: str | os.PathLike[str]) -> list[Entry]:
    """Return the scores in a log. Raises InputError, with the line number, for an invalid log."""
    name = os.fspath(path)
    with open(name, "rb") as file:
        return [_parse_entry(name, i, line) for i, line in enumerate(file, 1) if line.strip()]


def check_log_is_appendable(path: str) -> None:
    """Raise InputError if an existing file is not a log that scores can be appended to."""
    if path == "-":
        raise InputError("-: a log must be a regular file")
    if os.path.exists(path):
        with open(path, "r+b", buffering=0) as file:
            _check_log_end(file.fileno(), path)


def append_log_entries(path: str, entries: Iterable[Entry]) -> None:
    """Append scores to a log, either all of them or none.

    Other processes may append at the same time. Raises InputError if the file is not a log, or if
    its last line is incomplete.
    """
    data = b"".join(entry.to_line() for entry in entries)
    with open(path, "a+b", buffering=0) as file:
        descriptor = file.fileno()
        # Without the lock, another process could append between the check and the write.
        lock_file(descriptor, wait=True)
        size = _check_log_end(descriptor, path)
        try:
            # A single call, so that lines of other processes do not mix with the data.
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301
            os.fsync(descriptor)
        except OSError as error:
            os.ftruncate(descriptor, size)
            error.filename = path
            raise


def _parse_entry(path: str, number: int, line: bytes) -> Entry:
    """Parse a line of a log. Raises InputError if the line is invalid or incomplete."""
    location = f"{path}, line {number}"
    try:
        content = load_json(line.decode("utf-8", "surrogatepass"))
    except ValueError:
        if not line.endswith(b"\n"):
            raise InputError(
                f"{location}: incomplete line, so no scores can be appended. Delete the line, and "
                "score the system again."
            ) from None
        raise InputError(
            f"{location}: invalid JSON. Was this file written by truebleu score --log?"
        ) from None
    try:
        entry = Entry.from_dict(content)
    except ValueError as error:
        raise InputError(
            f"{location}: {error}. Was this file written by truebleu score --log?"
        ) from None
    if not line.endswith(b"\n"):
        raise InputError(
            f"{location}: missing newline at the end. Add one if the line is complete."
        )
    return entry


# Entries are shorter than this; a file with a longer last line is not a log.
_MAX_ENTRY_BYTES = 1 << 20


def _check_log_end(descriptor: int, path: str) -> int:
    """Return the size of a log, after checking that scores can be appended to it."""
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{path}: a log must be a regular file")
    size = state.st_size
    os.lseek(descriptor, max(0, size - _MAX_ENTRY_BYTES), os.SEEK_SET)
    end = os.read(descriptor, min(size, _MAX_ENTRY_BYTES))
    if not end:
        return size
    last = end[end.rfind(b"\n", 0, -1) + 1 :]
    if last.strip():
        os.lseek(descriptor, 0, os.SEEK_SET)
        with open(descriptor, "rb", closefd=False) as file:
            line_count = sum(1 for _ in file)  # with an incomplete last line
        _parse_entry(path, line_count, last)
    return size
