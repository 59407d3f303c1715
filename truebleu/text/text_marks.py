"""Marks that preprocessing or decoding left in texts, such as subword marks and HTML entities.

Only the first segments are examined, because warnings need only proportions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from truebleu.text import segments
from truebleu.text.segments import File

# The kernel examines the characters of the same number of segments.
MAX_EXAMINED_SEGMENTS = 200
# Maximum number of segment numbers in a message.
MAX_EXAMPLES = 3
# Letters of scripts that do not separate words by spaces: Han, kana, Bopomofo, Thai, Lao, Myanmar
# and Khmer, with their iteration marks.
UNSPACED_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3038-\u303b\u3041-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f"
    "\U00020000-\U0003fffd"
)
# Number of bytes kept from the start of a stream that cannot be read again.
MAX_START_BYTES = 1 << 16


class MarkCount(NamedTuple):
    """Segments at the beginning of an input that contain marks of one kind."""

    segments: int
    """The number of segments."""
    first: list[int]
    """The numbers of the first few of these segments, counted from 1."""
    example: str
    """The first mark that was found."""


# The kind of mark that indicates tokenized text.
TOKENIZED = "tokenized"
# Marks by kind: BPE (subword-nmt, Moses, SentencePiece, WordPiece), tokens of models, entities, and
# spaces before the final full stop. A text that contains none of a kind's strings has no marks of
# that kind.
PATTERNS = {
    TOKENIZED: ((" .",), re.compile(r" \.\s*$")),
    "subword marks": (
        ("@@", "@-@", "▁", "##"),
        re.compile(r"(?<=\S)@@(?=\s|$)|(?<=\s)@-@(?=\s)|▁|(?<=\s)##(?=\w)"),
    ),
    "special tokens": (
        ("<", "["),
        re.compile(r"</?s>|<(?:unk|pad|bos|eos)>|\[(?:UNK|PAD|CLS|SEP)\]|<\|\w+\|>"),
    ),
    "HTML entities": (
        ("&",),
        re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{2,5}|#x[\da-fA-F]{2,5});"),
    ),
}


def find_marks(hypotheses: Any, references: Any) -> tuple[int, list[dict[str, MarkCount]]] | None:
    """Return the number of examined segments, and each input's marks by kind.

    The first input contains the hypotheses, and the others contain the references. The result is
    None if there are no marks. Pretokenized texts, and texts that cannot be read again, have no
    marks.
    """
    if type(hypotheses) is type(references) is list:  # fast path for most inputs
        first_texts = hypotheses[:MAX_EXAMINED_SEGMENTS] + references[:MAX_EXAMINED_SEGMENTS]
        with suppress(TypeError):  # not strings
            if not _may_have_marks("\n".join(first_texts)):
                return None
    samples = sample_inputs(hypotheses, references)
    inputs = [_count_marks(one) for one in samples]
    return (len(samples[0]), inputs) if any(inputs) else None


def sample_inputs(hypotheses: Any, references: Any) -> list[Sequence[Any]]:
    """Return the first segments of the hypotheses and of each reference, or none for tokens."""
    sample = _sample_texts(hypotheses)
    if not sample or not (sample[0] is None or isinstance(sample[0], str)):  # tokens
        return [[]]
    samples = [sample]
    for column in references if segments.has_several_columns(references) else [references]:
        samples += _transpose_rows(_sample_texts(column))
    return samples


def _sample_texts(value: Any) -> Sequence[Any]:
    """Return the first segments of an input; for references, a segment may be a list."""
    if isinstance(value, list | tuple):
        return value[:MAX_EXAMINED_SEGMENTS]
    items: Iterable[Any]
    if segments.is_file(value):
        file = segments.as_file(value)
        # A pipe was already read, so only its start is available.
        has_start = isinstance(file, StreamStart) or not segments.is_stream(file)
        items = file.read_lines() if has_start else ()
    else:
        items = value if hasattr(value, "__iter__") else ()
    first_items = islice(items, MAX_EXAMINED_SEGMENTS)
    # Iterating an Arrow array returns scalars.
    return [item.as_py() if hasattr(item, "as_py") else item for item in first_items]


def _may_have_marks(text: str) -> bool:
    """Return whether a text may contain marks, without searching for the slow patterns."""
    return any(string in text for strings, _ in PATTERNS.values() for string in strings)


def _transpose_rows(rows: Sequence[Any]) -> list[Sequence[Any]]:
    """Return the segments of each reference. Each row is one text or several texts."""
    if rows and isinstance(rows[0], str):
        return [rows]
    rows = [row if isinstance(row, list | tuple) else [row] for row in rows]
    count = max(map(len, rows), default=0)
    return [[row[i] if i < len(row) else None for row in rows] for i in range(count)]


def _count_marks(sample: Sequence[Any]) -> dict[str, MarkCount]:
    """Return the marks in the texts of a sample, by kind."""
    marks: dict[str, MarkCount] = {}
    texts = [text if isinstance(text, str) else "" for text in sample]
    all_texts = "\n".join(texts)
    for kind, (strings, pattern) in PATTERNS.items():
        known_strings = [string for string in strings if string in all_texts]
        found = {
            number: match[0]
            for string in known_strings
            for number, text in enumerate(texts, 1)
            if string in text and (match := pattern.search(text))
        }
        if found:
            numbers = sorted(found)
            marks[kind] = MarkCount(len(found), numbers[:MAX_EXAMPLES], found[numbers[0]])
    return marks


class StreamStart(File):
    """Stream, such as standard input, whose start is kept because it cannot be read again."""

    def __init__(self, file: File) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._start = b""

    def _make_reader(self) -> Any:
        read_chunk = super()._make_reader()

        def read_and_keep(size: int) -> bytes:
            data: bytes = read_chunk(size)
            if len(self._start) < MAX_START_BYTES:
                self._start += data[:MAX_START_BYTES]
            return data

        return read_and_keep

    def read_lines(self) -> Iterator[str]:
        """Yield the lines at the start of the stream; the last one may be incomplete."""
        for line in self._start.decode("utf-8", "replace").split("\n"):
            fields = line.split("\t")
            yield line if self.column is None else "".join(fields[self.column - 1 : self.column])


def keep_start(value: Any) -> Any:
    """Return a stream as a file whose start is kept; return other inputs unchanged."""
    return StreamStart(value) if type(value) is File and segments.is_stream(value) else value


# The main script of a text has more than this share of its letters. At most the second share of the
# other text's letters may be in this script, for example in names.
MIN_MAIN_SHARE, MAX_FOREIGN_SHARE = 0.5, 0.1
# Minimum number of letters of a text with a main script.
MIN_CHARACTERS_PER_SEGMENT = 20


def find_differing_scripts(summary: Any) -> tuple[str, str] | None:
    """Return the main scripts of the hypotheses and the references, or None if they do not differ.

    The scripts are counted in the first segments.
    """
    counts, reference_counts = summary.get("scripts", {}), summary.get("reference_text")
    total = sum(counts.values())
    reference_total = sum(reference_counts["scripts"].values()) if reference_counts else 0
    if reference_counts is None or min(total, reference_total) < MIN_CHARACTERS_PER_SEGMENT:
        return None
    script = max(counts, key=lambda name: counts[name])
    reference_script = max(
        reference_counts["scripts"], key=lambda name: reference_counts["scripts"][name]
    )
    if (
        counts[script] <= MIN_MAIN_SHARE * total
        or reference_counts["scripts"].get(script, 0) > MAX_FOREIGN_SHARE * reference_total
    ):
        return None
    return script.capitalize(), reference_script.capitalize()
