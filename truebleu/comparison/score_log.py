"""The log of scores: a file of JSON lines, one for each score of each system, that only grows.

time        when it was scored: UTC, in seconds
name        what is followed over time, if it was given a name
system      what the system was called: its file's name
metric, score, signature    the score with all of its digits
low, high   the ends of its interval, if it was asked for
segments    how many there were
hypothesis  the file, and the SHA-256 of its text
references  the same of each reference
version     truebleu's
report      where the report of it is: an address of the web, or a file beside the log's pages
note        whatever one wants to be reminded of

The hash is of the text as it was scored: decompressed, decoded, of the column that was read, in
UTF-8, a newline behind each line. `sha256sum` prints the same of a plain file.
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

_HASH = re.compile("[0-9a-f]{64}")


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
        """The entry that `to_dict` was made of. Raises ValueError, which says what is wrong.

        Keys that are not known may be of a later version, and are left alone.
        """
        if not isinstance(content, dict):
            raise ValueError("not an object")
        field_values: dict[str, Any] = {}
        for key, kind in ((field.name, str(field.type)) for field in fields(cls)):
            value = content.get(key)
            if value is None and kind.endswith("| None"):
                continue
            expected_type, parse_value = _FIELD_PARSERS[kind.removesuffix(" | None")]
            if key not in content:
                raise ValueError(f"it has no '{key}'")
            try:
                field_values[key] = parse_value(value)
            except (TypeError, ValueError, KeyError, OverflowError):
                raise ValueError(
                    f"'{key}' is {value!r:.60}, and should be {expected_type}"
                ) from None
        return cls(**field_values)

    def to_dict(self) -> dict[str, Any]:
        """The entry in the types of JSON."""
        content = {
            **asdict(self),
            "time": self.time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "hypothesis": self.hypothesis._asdict(),
            "references": [text._asdict() for text in self.references],
        }
        return {key: value for key, value in content.items() if value is not None}

    @property
    def tracked_name(self) -> str:
        """The name that is followed over time, or else the system."""
        return self.system if self.name is None else self.name

    def to_line(self) -> bytes:
        """The entry as it stands in a log."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        # A byte of a file's name that is no character becomes an escape of JSON's own.
        return text.encode("utf-8", "backslashreplace") + b"\n"


def _parse_text(value: Any) -> str:
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


def _parse_input(value: Any) -> Input:
    if not _HASH.fullmatch(value["sha256"]):
        raise ValueError
    return Input(_parse_text(value["file"]), value["sha256"])


def _parse_inputs(value: Any) -> tuple[Input, ...]:
    if not isinstance(value, list) or not value:
        raise TypeError
    return tuple(map(_parse_input, value))


# What a value should be, and what makes it that or fails, by how it is declared.
_FIELD_PARSERS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "datetime": ("a time with its zone, as 2026-11-20T09:30:00Z", _parse_time),
    "str": ("text", _parse_text),
    "float": ("a number", _parse_number),
    "int": ("a number, 1 or more", _parse_count),
    "Input": ("a file and its sha256", _parse_input),
    "tuple[Input, ...]": ("a list of files and their sha256", _parse_inputs),
}


def get_log_time() -> datetime:
    """The time, in seconds; the one that SOURCE_DATE_EPOCH says, if it says one."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if is_whole_number(epoch):
        return datetime.fromtimestamp(int(epoch), UTC)
    return datetime.now(UTC).replace(microsecond=0)


def read_log_entries(path: str | os.PathLike[str]) -> list[Entry]:
    """The scores in a log. Raises InputError, which names the line that is not one of a log."""
    with open(path, "rb") as file:
        numbered = enumerate(file, 1)
        return [_parse_entry(os.fspath(path), i, line) for i, line in numbered if line.strip()]


def check_log_is_appendable(path: str) -> None:
    """Raises InputError if the file is there and cannot be added to, as `append` would."""
    if os.path.exists(path):
        with open(path, "r+b", buffering=0) as file:
            _check_log_end(file.fileno(), path)


def append_log_entries(path: str, entries: Iterable[Entry]) -> None:
    """Adds scores to a log, all of them or none.

    Others may add to it at the same time. Raises InputError if the file is not a log, or
    if its last line is not whole: what is added would be glued to it.
    """
    data = b"".join(entry.to_line() for entry in entries)
    with open(path, "a+b", buffering=0) as file:
        descriptor = file.fileno()
        # Nobody may add between the check of the end and the write.
        lock_file(descriptor, wait=True)
        size = _check_log_end(descriptor, path)
        try:
            _write_at_once(descriptor, data)
        except OSError as error:
            os.ftruncate(descriptor, size)
            error.filename = path
            raise


def _write_at_once(descriptor: int, data: bytes) -> None:
    """One write, so that nothing of others comes between."""
    if os.write(descriptor, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(descriptor)


def _parse_entry(path: str, number: int, line: bytes) -> Entry:
    """The entry in a line, which must be whole."""
    location = f"{path}, line {number}"
    try:
        content = load_json(line.decode("utf-8", "surrogatepass"))
    except ValueError:
        if not line.endswith(b"\n"):
            raise InputError(
                f"{location}: it breaks off, and nothing may be added to it; remove it, and score "
                "again if you need it"
            ) from None
        raise InputError(f"{location}: not JSON; is this a log of truebleu score --log?") from None
    try:
        entry = Entry.from_dict(content)
    except ValueError as error:
        raise InputError(f"{location}: {error}; is this a log of truebleu score --log?") from None
    if not line.endswith(b"\n"):
        raise InputError(f"{location}: it has no line end, so something broke off; add one")
    return entry


# No entry is this long: a file with a longer last line is not a log.
_MAX_ENTRY_BYTES = 1 << 20


def _check_log_end(descriptor: int, path: str) -> int:
    """The size of a log that may be added to."""
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{path} is no regular file; a log is one that can be added to")
    size = state.st_size
    os.lseek(descriptor, max(0, size - _MAX_ENTRY_BYTES), os.SEEK_SET)
    end = os.read(descriptor, min(size, _MAX_ENTRY_BYTES))
    if not end:
        return size
    last = end[end.rfind(b"\n", 0, -1) + 1 :]
    if last.strip():
        _parse_entry(path, _count_file_lines(descriptor), last)
    return size


def _count_file_lines(descriptor: int) -> int:
    """The number of lines of a file, one that breaks off included."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as file:
        return sum(1 for _ in file)
