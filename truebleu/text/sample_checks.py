"""Checks of a sample of the segments: marks of preprocessing, wrong references and mixed-up inputs.

Only a sample is examined, because warnings need only proportions. In WMT22, over 50% of a
reference's words occur in the same line of another reference or an output. For a source, this
share is at most 10%; for a shuffled reference, at most 17% (33% in Japanese). In the outputs, at
least 50% of the words occur in the references, and at most 38% in the source; 21% of the words of
a source occur in the references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.text import segments
from truebleu.text.argument_checks import Record
from truebleu.text.segments import File

if TYPE_CHECKING:
    from truebleu._kernel import Summary

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


class MarkCount(Record):
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
    TOKENIZED: ((" .",), r" \.\s*$"),
    "subword marks": (
        ("@@", "@-@", "▁", "##"),
        r"(?<=\S)@@(?=\s|$)|(?<=\s)@-@(?=\s)|▁|(?<=\s)##(?=\w)",
    ),
    "special tokens": (
        ("<", "["),
        r"</?s>|<(?:unk|pad|bos|eos)>|\[(?:UNK|PAD|CLS|SEP)\]|<\|\w+\|>",
    ),
    "HTML entities": (("&",), r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{2,5}|#x[\da-fA-F]{2,5});"),
}
# The first four of seven consecutive words of one character. A space between words, too, may be
# between two spaces.
_SPACED_CHARACTERS = r"(?<!\S)\S(?: {1,3}\S){3}(?=(?: {1,3}\S){3,}(?!\S))"


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
        return () if segments.is_stream(file) else _FileStart(file)
    if hasattr(value, "__getitem__") and hasattr(value, "__len__"):  # arrays and series
        return value  # type: ignore[no-any-return]
    return [*islice(value, MAX_EXAMINED_SEGMENTS)] if hasattr(value, "__iter__") else ()


class _FileStart(Sequence[Any]):
    """The lines at the start of a file, which are decoded when they are selected."""

    def __init__(self, file: File) -> None:
        self._lines = file.read_first_lines(MAX_READ_BYTES)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, block: Any) -> list[str]:
        return [line.decode("utf-8", "replace") for line in self._lines[block]]


def _take(texts: Sequence[Any], block: range) -> list[Any]:
    """Return the segments in a range, with newlines replaced; a segment may be a list."""
    try:
        selected = getattr(texts, "iloc", texts)[block.start : block.stop]  # pandas has iloc
    except TypeError:  # a deque has no slices
        selected = [texts[i] for i in block]
    with suppress(TypeError):  # not strings
        if type(selected) is list and "\n" not in "".join(selected):  # fast path for most inputs
            return selected
    items = []
    for item in selected:
        text = item.as_py() if hasattr(item, "as_py") else item  # Arrow arrays contain scalars
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        is_list = isinstance(text, list | tuple)
        # Spaces replace newlines in texts. Other values stay unchanged.
        joined = [
            " ".join(one.split()) if isinstance(one, str) and "\n" in one else one
            for one in (text if is_list else [text])
        ]
        items.append(joined if is_list else joined[0])
    return items


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
    return [*map(list, zip_longest(*rows))]


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
            if string in text and (match := re.search(pattern, text))
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
MIN_MAIN_SHARE, MAX_FOREIGN_LETTERS = 0.5, 0.1
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
    if counts[script] <= MIN_MAIN_SHARE * total or foreign > MAX_FOREIGN_LETTERS * reference_total:
        return None
    return script.capitalize(), reference_script.capitalize()


# Minimum number of words for comparing an input, and of lines for comparing its case.
MIN_WORDS, MIN_LINES = 100, 20
# A wrong file shares a smaller proportion of its words with the other texts on the same line.
MAX_FOREIGN_SHARE = 0.25
# Correct files share at least this proportion, and exceed the wrong file's proportion by this
# factor.
MIN_COMMON_SHARE, MIN_RATIO = 0.35, 2
MAX_SHIFT = 3
# Shuffled lines share at most this factor as many words with their references as with others.
MIN_UNRELATED_LINES, MAX_UNRELATED_RATIO = 50, 1.1
# Step between the lines that are examined first.
MAY_BE_SHIFTED_STEP = 2
# Minimum number of words for comparing a line with neighbouring references.
MIN_LINE_WORDS = 4
# Lines look shifted if at least this share of them fits a neighbouring reference better.
MIN_SHIFTED_SHARE = 0.2
# In a shifted part of a text, at least this share of consecutive lines is shifted.
MIN_RUN_LINES, MIN_RUN_SHARE = 10, 0.6
SHIFTED_LINES = "shifted lines"
# Maximum number of characters examined per line, so that long lines need little memory.
MAX_CHARACTERS = 1000
# Text counts as upper or lower case if at least the first share of its lines, and at most the
# second share of each reference's lines, are in that case.
MIN_CASE_SHARE, MAX_REFERENCE_CASE_SHARE = 0.9, 0.5
LOWER, UPPER = "lower case", "upper case"
# Characters of scripts without spaces are separate words.
_WORD = rf"[{UNSPACED_LETTERS}]|[^\W\d_{UNSPACED_LETTERS}]+"

WordLines = list[list[str]]


def compare_samples(summary: Summary, sample: Sample) -> None:
    """Add `copied_reference`, `wrong_reference` and `letter_case` to a summary.

    A copied reference is the index of a reference that is mostly identical to the output, and the
    numbers of identical and examined lines. Shifted lines are added as `mixup`, unless another
    mix-up explains them.
    """
    output, *others = sample.columns
    if not summary.get("mixup") and (evidence := find_shifted_lines(sample)):
        summary["mixup"] = SHIFTED_LINES, evidence
    # The first reference is not examined, because the kernel compares it with the output.
    counts = [count_identical_texts(output, one) for one in others[1:]]
    largest = max(counts, default=0)
    is_copied = 2 * largest > len(output)
    copied = (counts.index(largest) + 1, largest, len(output)) if is_copied else None
    summary["copied_reference"] = copied
    summary["wrong_reference"] = _find_wrong_reference(output, others)
    summary["letter_case"] = _find_letter_case(output, others)


def count_identical_texts(texts: Sequence[Any], others: Sequence[Any]) -> int:
    """Return the number of lines in which both texts are equal."""
    pairs = zip(texts, others, strict=False)
    return sum(
        isinstance(text, str) and isinstance(other, str) and text.strip() == other.strip()
        for text, other in pairs
    )


def _find_wrong_reference(
    output: Sequence[Any], references: Sequence[Sequence[Any]]
) -> tuple[int, float, float] | None:
    """Return the index of a reference that does not fit the other texts, or None.

    Two shares are also returned: the share of its words that occur in the other texts, and the
    share of the output's words that occur in the other references.
    """
    if len(references) < 2:
        return None
    output_words, *columns = map(_split_lines, (output, *references))
    for i, column in enumerate(columns):
        others = [one for j, one in enumerate(columns) if j != i]
        if sum(map(len, column)) < MIN_WORDS:
            continue
        share = _measure_overlap(column, [output_words, *others])
        common = _measure_overlap(output_words, others)
        if share < MAX_FOREIGN_SHARE and common >= max(MIN_COMMON_SHARE, MIN_RATIO * share):
            return i, share, common
    return None


def find_shift(sample: Sample) -> int | None:
    """Return the number of lines by which the references precede or follow an output, or None."""
    words, *columns = map(_split_lines, sample.columns)
    share = _measure_overlap(words, columns)
    if share >= MAX_FOREIGN_SHARE or sum(map(len, words)) < MIN_WORDS:
        return None
    offsets = [offset for offset in range(-MAX_SHIFT, MAX_SHIFT + 1) if offset]
    shares = {
        offset: _measure_overlap(
            words, columns, [sample.find_neighbour(i, offset) for i in range(len(words))]
        )
        for offset in offsets
    }
    best = max(offsets, key=lambda offset: shares[offset])
    is_shifted = shares[best] >= max(MIN_COMMON_SHARE, MIN_RATIO * share)
    return best if is_shifted else None


def has_unrelated_lines(sample: Sample) -> bool:
    """Return whether lines fit their references no better than other references.

    This is the case for shuffled lines. Outputs that repeat lines are not examined.
    """
    words, *columns = map(_split_lines, sample.columns)
    count = len(words)
    share = _measure_overlap(words, columns)
    if count < MIN_UNRELATED_LINES or sum(map(len, words)) < MIN_WORDS:
        return False
    if share >= MAX_FOREIGN_SHARE:
        return False
    others = [
        _measure_overlap(words, columns, [(i + distance) % count for i in range(count)])
        for distance in (count // 3, count // 2)
    ]
    is_varied = 2 * len(set(map(tuple, words))) > count
    return is_varied and share <= MAX_UNRELATED_RATIO * max(others)


def find_shifted_lines(sample: Sample) -> str:
    """Return evidence that many lines fit a neighbouring reference better than their own, or "".

    These lines are shifted by the same number of lines, as after a missing line. They are a large
    share of the text, or of a part of it.
    """
    if not _may_be_shifted(*sample.columns):
        return ""
    lines, *columns = map(_split_lines, sample.columns)
    long_lines = [i for i, words in enumerate(lines) if len(words) >= MIN_LINE_WORDS]
    needed = max(MIN_SHIFTED_SHARE * len(long_lines), 2)
    shares = {i: _measure_line(lines[i], columns, i) for i in long_lines}
    foreign = [i for i, share in shares.items() if share < MAX_FOREIGN_SHARE]
    if len(long_lines) < MIN_LINES or len(foreign) < min(needed, MIN_RUN_SHARE * MIN_RUN_LINES):
        return ""
    for offset in sorted(range(-MAX_SHIFT, MAX_SHIFT + 1), key=abs)[1:]:
        shifted = [
            i
            for i in foreign
            if (j := sample.find_neighbour(i, offset)) is not None
            and _measure_line(lines[i], columns, j) >= max(MIN_COMMON_SHARE, MIN_RATIO * shares[i])
        ]
        run_start = _find_run(long_lines, shifted)
        if len(shifted) >= needed or run_start is not None:
            place = shifted[0] if run_start is None else run_start
            first = _find_first_shifted(sample, place, offset)
            share = f"{len(shifted) / len(long_lines):.0%} of {sample.description}"
            return f"{share} fit another line: line {first + 1} matches line {first + 1 + offset}"
    return ""


def _find_run(long_lines: Sequence[int], shifted: Sequence[int]) -> int | None:
    """Return the first line of consecutive long lines that are mostly shifted, or None."""
    is_shifted = [*map(set(shifted).__contains__, long_lines)]
    for i in range(len(long_lines) - MIN_RUN_LINES + 1):
        count = sum(is_shifted[i : i + MIN_RUN_LINES])
        if is_shifted[i] and count >= MIN_RUN_SHARE * MIN_RUN_LINES:
            return long_lines[i]
    return None


def _find_first_shifted(sample: Sample, place: int, offset: int) -> int:
    """Return the index of the first shifted segment, which may be between two examined blocks.

    place: an examined segment near the beginning of the shifted segments.
    """
    before, after = 2 * BLOCK_SEGMENTS, place + MIN_RUN_LINES
    start = sample.indices[max(place - before, 0)]
    stop = sample.indices[min(after, len(sample.indices) - 1)] + 1
    block = range(max(start - MAX_SHIFT, 0), stop + MAX_SHIFT)
    lines, *columns = map(_split_lines, sample.read_columns([block]))
    first, gain, largest_gain = sample.indices[place], 0.0, 0.0
    for index in range(stop - 1, start - 1, -1):
        i = index - block.start
        if len(lines[i]) >= MIN_LINE_WORDS:
            shifted_share = _measure_line(lines[i], columns, i + offset)
            gain += shifted_share - _measure_line(lines[i], columns, i)
            if gain > largest_gain:
                first, largest_gain = index, gain
    return first


def _may_be_shifted(output: Sequence[Any], *references: Sequence[Any]) -> bool:
    """Return whether many lines share few words, split at spaces, with their references.

    Only every second line is examined, to save time. The lines are a large share of the text, or of
    a part of it.
    """
    foreign = []
    for i in range(0, len(output), MAY_BE_SHIFTED_STEP):
        text = output[i]
        words = text[:MAX_CHARACTERS].split() if isinstance(text, str) else []
        known: set[str] = set()
        for one in references:
            if i < len(one) and isinstance(one[i], str):
                known.update(one[i].split())
        foreign.append(sum(map(known.__contains__, words)) < MAX_FOREIGN_SHARE * len(words))
    run = MIN_RUN_LINES // MAY_BE_SHIFTED_STEP
    needed = MIN_RUN_SHARE * run
    return sum(foreign) >= MIN_SHIFTED_SHARE * len(foreign) > 0 or any(
        sum(foreign[i : i + run]) >= needed for i in range(len(foreign) - run + 1)
    )


def _measure_line(words: Sequence[str], columns: Sequence[WordLines], index: int) -> float:
    """Return the share of a line's words that occur in the line `index` of other texts."""
    known = {word for one in columns if 0 <= index < len(one) for word in one[index]}
    return sum(map(known.__contains__, words)) / len(words)


def _split_lines(texts: Sequence[Any]) -> WordLines:
    """Return the words at the beginning of each text, in lower case."""
    find_words = re.compile(_WORD).findall  # compiled late, because most samples do not need it
    return [
        find_words(text[:MAX_CHARACTERS].lower()) if isinstance(text, str) else [] for text in texts
    ]


def _measure_overlap(
    lines: WordLines, columns: Sequence[WordLines], places: Sequence[int | None] | None = None
) -> float:
    """Return the share of words that also occur in other texts.

    places: the place of the line to compare with each line, or None for no line. By default, lines
        at the same place are compared.
    """
    matches = total = 0
    for words, i in zip(lines, range(len(lines)) if places is None else places, strict=True):
        known = {word for one in columns if i is not None and i < len(one) for word in one[i]}
        if known:
            matches += sum(map(known.__contains__, words))
            total += len(words)
    return matches / total if total else 0.0


def _find_letter_case(output: Sequence[Any], references: Sequence[Sequence[Any]]) -> str | None:
    """Return the case of an output if it uses only one case but its references do not, or None."""
    if len(output) < MIN_LINES or not references:
        return None
    for case, is_in_case in ((LOWER, str.islower), (UPPER, str.isupper)):
        if _measure_share(output, is_in_case) >= MIN_CASE_SHARE and all(
            _measure_share(one, is_in_case) <= MAX_REFERENCE_CASE_SHARE for one in references
        ):
            return case
    return None


def _measure_share(texts: Sequence[Any], is_in_case: Any) -> float:
    """Return the share of texts whose letters are all in the given case."""
    count = sum(1 for text in texts if isinstance(text, str) and is_in_case(text))
    return count / max(1, len(texts))


# Ways in which users mix up input files.
SOURCE, SOURCE_LANGUAGE, OTHER_LANGUAGE = "source", "source language", "other language"
SHIFTED, UNRELATED = "shifted", "unrelated"
# Minimum share of an output's words in the source if both are in the same language.
MIN_SOURCE_SHARE = 0.4
# If the mean word length is larger than this, spaces do not separate the words.
MAX_WORD_LENGTH = 12


def find_mixup(sample: Sample, *, has_low_score: bool) -> tuple[str, str] | None:
    """Return the kind and the evidence of a mix-up, or None if there is no mix-up.

    has_low_score: whether the score is low. If the source is unknown, only outputs with low scores
        are examined.
    """
    source_texts = sample.source
    if not source_texts and not has_low_score:
        return None
    output, *others = sample.columns
    copy_count = count_identical_texts(output, source_texts)
    # If a reference is in the language of the source, as in simplification, copies are normal.
    if len(output) > 2 and 2 * copy_count > len(output):
        is_usual = any(2 * count_identical_texts(source_texts, one) > len(output) for one in others)
        evidence = f"{copy_count} of {sample.description} are identical to the source"
        return None if is_usual else (SOURCE, evidence)
    if has_low_score and (shift := find_shift(sample)):
        return SHIFTED, f"{abs(shift)}: line 5 matches line {5 + shift}"
    is_unrelated = has_low_score and has_unrelated_lines(sample)
    unrelated = (UNRELATED, sample.description) if is_unrelated else None
    words, source_words = _list_words(output), _list_words(source_texts)
    reference_words = [word for one in others for word in _list_words(one)]
    if len(words) < MIN_WORDS or not reference_words:
        return unrelated
    if sum(map(len, reference_words)) > MAX_WORD_LENGTH * len(reference_words):
        return unrelated
    share, source_share = (
        sum(map(set(known).__contains__, words)) / len(words)
        for known in (reference_words, source_words)
    )
    if share >= MAX_FOREIGN_SHARE:
        return unrelated
    evidence = f"{share:.0%} of its examined words occur in the references"
    if source_share >= MIN_SOURCE_SHARE:
        return SOURCE_LANGUAGE, f"{evidence}, {source_share:.0%} in the source"
    return (OTHER_LANGUAGE, evidence) if has_low_score else None


def _list_words(texts: Sequence[Any]) -> list[str]:
    limit = MAX_CHARACTERS
    lines = (text[:limit].lower() for text in texts if isinstance(text, str))
    return [word for line in lines for word in re.findall(r"[^\W\d_]+", line)]
