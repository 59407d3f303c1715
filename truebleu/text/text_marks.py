"""Marks that preprocessing or decoding left in texts, such as subword marks and HTML entities.

Only a sample of the segments is examined, because warnings need only proportions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

from truebleu._kernel import InputError
from truebleu.text import segments
from truebleu.text.segments import File

# The examined segments of a longer text are evenly spaced blocks of consecutive segments, so that
# segments can be compared with their neighbours.
MAX_EXAMINED_SEGMENTS, BLOCK_SEGMENTS = 200, 10
# Maximum number of bytes that are read again from a file.
MAX_READ_BYTES = 1 << 20
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
    """Examined segments of an input that contain marks of one kind."""

    segments: int
    """The number of segments."""
    first: list[int]
    """The numbers of the first few of these segments, counted from 1."""
    example: str
    """The first mark that was found."""


# The kinds of marks that indicate tokenized text, and spaces between all characters.
TOKENIZED = "tokenized"
SPACED = "spaces between characters"
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
# The first four of seven consecutive words of one character. A space between words, too, may be
# between two spaces.
_SPACED_CHARACTERS = re.compile(r"(?<!\S)\S(?: {1,3}\S){3}(?=(?: {1,3}\S){3,}(?!\S))")


class Sample:
    """Examined segments of the hypotheses, of each reference and of the source.

    Pretokenized texts, and texts that cannot be read again, have no samples. Each run of white
    space with a newline becomes one space, as tokenizers treat it.
    """

    def __init__(self, hypotheses: Any, references: Any, source: Any = None) -> None:
        several = segments.has_several_columns(references)
        self._inputs = [_open_texts(one) for one in (hypotheses, *(references if several else ()))]
        self._inputs += [] if several else [_open_texts(references)]
        self._source: Sequence[Any] = ()
        with suppress(InputError, OSError):  # functions that need the source report its errors
            self._source = _open_texts(source)
        lengths = [len(one) for one in (*self._inputs, self._source) if len(one)]
        count = min(lengths) if len(self._inputs[0]) else 0
        if count and not isinstance(_take(self._inputs[0], range(1))[0], str | None):
            count = 0  # tokens
        self._blocks = [range(count)]
        if count > MAX_EXAMINED_SEGMENTS:
            gaps = MAX_EXAMINED_SEGMENTS // BLOCK_SEGMENTS - 1
            starts = [(count - BLOCK_SEGMENTS) * i // gaps for i in range(gaps + 1)]
            self._blocks = [range(start, start + BLOCK_SEGMENTS) for start in starts]
        self.indices = [*chain.from_iterable(self._blocks)]
        """The index of each examined segment, counted from 0."""

    @cached_property
    def columns(self) -> list[list[Any]]:
        """The segments of the hypotheses, then of each reference."""
        return self.read_columns(self._blocks)

    @cached_property
    def source(self) -> list[Any]:
        """The segments of the source."""
        return [text for block in self._blocks for text in _take(self._source, block)]

    @property
    def description(self) -> str:
        """The examined lines, in words."""
        count = len(self.indices)
        is_start = not count or self.indices[-1] == count - 1
        return f"the first {count} lines" if is_start else f"{count} examined lines"

    def read_columns(self, blocks: Sequence[range]) -> list[list[Any]]:
        """Return the segments in these ranges of the hypotheses, then of each reference."""
        output, *references = (
            [text for block in blocks for text in _take(one, block)] for one in self._inputs
        )
        return [output, *chain.from_iterable(map(_transpose_rows, references))]

    def find_neighbour(self, i: int, offset: int) -> int | None:
        """Return the place in the sample of the segment `offset` after that of place `i`."""
        indices, j = self.indices, i + offset
        is_known = 0 <= j < len(indices) and indices[j] == indices[i] + offset
        return j if is_known else None


def _open_texts(value: Any) -> Sequence[Any]:
    """Return an input as a sequence that has a length and can be sliced."""
    if isinstance(value, list | tuple):
        return value
    if segments.is_file(value):
        file = segments.as_file(value)
        if isinstance(file, StreamStart):  # a pipe was already read, so only its start is available
            return [*islice(file.read_lines(), MAX_EXAMINED_SEGMENTS)]
        if isinstance(file, segments.BufferedLines):
            return file.texts
        return () if segments.is_stream(file) else file.read_first_lines(MAX_READ_BYTES)
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):  # arrays and series
        return value  # type: ignore[no-any-return]
    return [*islice(value, MAX_EXAMINED_SEGMENTS)] if hasattr(value, "__iter__") else ()


def _take(texts: Sequence[Any], block: range) -> list[Any]:
    """Return the segments in a range, with newlines replaced; a segment may be a list."""
    selected = getattr(texts, "iloc", texts)[block.start : block.stop]  # pandas has iloc
    with suppress(TypeError):  # not strings
        if type(selected) is list and "\n" not in "".join(selected):  # fast path for most inputs
            return selected
    items = []
    for item in selected:
        text = item.as_py() if hasattr(item, "as_py") else item  # Arrow arrays contain scalars
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        if isinstance(text, list | tuple):
            items.append([_join_lines(one) for one in text])
        else:
            items.append(_join_lines(text))
    return items


def _join_lines(text: Any) -> Any:
    """Return a text with spaces in place of newlines; return other values unchanged."""
    return " ".join(text.split()) if isinstance(text, str) and "\n" in text else text


def find_marks(sample: Sample) -> tuple[str, int, list[dict[str, MarkCount]]] | None:
    """Return the examined lines in words, their number, and each input's marks by kind.

    The first input contains the hypotheses, and the others contain the references. The result is
    None if there are no marks.
    """
    inputs = [_count_marks(one, sample.indices) for one in sample.columns]
    return (sample.description, len(sample.indices), inputs) if any(inputs) else None


def _transpose_rows(rows: Sequence[Any]) -> list[list[Any]]:
    """Return the segments of each reference. Each row is one text or several texts."""
    if rows and isinstance(rows[0], str):
        return [[*rows]]
    rows = [row if isinstance(row, list | tuple) else [row] for row in rows]
    count = max(map(len, rows), default=0)
    return [[row[i] if i < len(row) else None for row in rows] for i in range(count)]


def _count_marks(column: Sequence[Any], indices: Sequence[int]) -> dict[str, MarkCount]:
    """Return the marks in the examined texts of an input, by kind."""
    marks: dict[str, MarkCount] = {}
    texts = [text if isinstance(text, str) else "" for text in column]
    all_texts = "\n".join(texts)
    patterns = dict(PATTERNS)
    # Searching takes long, and in other texts, less than a third of the characters are spaces.
    if 3 * all_texts.count(" ") > len(all_texts):
        patterns[SPACED] = ((" ",), _SPACED_CHARACTERS)
    for kind, (strings, pattern) in patterns.items():
        known_strings = [string for string in strings if string in all_texts]
        found = {
            indices[i] + 1: match[0]
            for string in known_strings
            for i, text in enumerate(texts)
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

    The scripts are counted in the examined segments.
    """
    counts = summary.get("scripts", {})
    reference_counts = (summary.get("reference_text") or {}).get("scripts", {})
    total, reference_total = sum(counts.values()), sum(reference_counts.values())
    if min(total, reference_total) < MIN_CHARACTERS_PER_SEGMENT:
        return None
    script, reference_script = (max(one, key=one.get) for one in (counts, reference_counts))
    foreign = reference_counts.get(script, 0)
    if counts[script] <= MIN_MAIN_SHARE * total or foreign > MAX_FOREIGN_SHARE * reference_total:
        return None
    return script.capitalize(), reference_script.capitalize()
