"""Re-segmentation methods, which split texts into units and align the units.

`soft` and `as-wer` are truebleu's own: they lose no text, split no word, and leave segments without
reference text empty. The other methods reproduce the segments of the programs after which they are
named.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, takewhile
from math import isqrt

from truebleu import _kernel
from truebleu.resegmentation import units as u
from truebleu.resegmentation.token_units import (
    split_east_asian_subtitles,
    split_moses_tokens,
    split_tokens,
)
from truebleu.resegmentation.units import PatternSplitter, Units
from truebleu.text import tokenizers
from truebleu.text.argument_checks import check_string, suggest_names

UNPAIRED = 0xFFFFFFFF
# Encoding of 32-bit integers in the byte order of the machine.
CODE_POINTS = f"utf-32-{sys.byteorder[0]}e"
# The punctuation marks that OmniSTEval pairs only with punctuation marks.
PUNCTUATION = frozenset(".!?,;:-()。！？，；：—（）ー")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Alignment of the units of a text with the reference segments.

    segments: the segment of each unit, or UNPAIRED for text that the method loses.
    pairs: the unit of the segment's reference with which each unit is paired, or UNPAIRED.
    references: the units of the reference that was selected for each segment.
    numbers: the number of each unit of the text; equal units have the same number.
    reference_numbers: the numbers of the units of the selected references.
    errors: the edit distance, or None if the method compares similarities.
    """

    segments: array[int]
    pairs: array[int]
    references: list[list[str]]
    numbers: list[int]
    reference_numbers: list[list[int]]
    errors: int | None


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in seconds of each unit of a text, and the start and end of each segment."""

    units: Sequence[float]
    segments: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Method:
    """A re-segmentation method.

    split: returns the units of a text.
    compares: "edits", "similarities", "words" (edits, as in SubER) or "times".
    program, version: the program whose segments the method reproduces, and its release; empty for
        truebleu's own methods.
    joiner: the text between units in the program's output; None keeps the text unchanged.
    only_equal: true if the similarity of two different units is always 0.
    prepare_reference: converts references before they are split, as the program does.
    breaks: how the segments represent the ends of lines and blocks: "none", "words" or "only".
    """

    split: Callable[[str], Units]
    compares: str
    program: str = ""
    version: str = ""
    joiner: str | None = None
    only_equal: bool = False
    prepare_reference: Callable[[str], str] = field(default=lambda text: text)
    breaks: str = "none"

    @property
    def is_own(self) -> bool:
        """True for methods of truebleu, false for methods that reproduce a program."""
        return not self.version

    @property
    def reads_breaks(self) -> bool:
        """True for SubER's methods, which read `<eol>` and `<eob>` as line and block breaks."""
        return self.program == "SubER"

    def align(
        self, stream: Units, references: Sequence[Sequence[str]], timing: Timing | None = None
    ) -> Alignment:
        """Align the units of a text with the references of each segment."""
        split_references = [
            [self.list_reference_units(text) for text in alternatives]
            for alternatives in references
        ]
        if self.compares == "edits":
            return self._align_by_edits(stream, split_references)
        # The other methods align with one reference set at a time; short rows repeat their last
        # reference.
        sets = [
            [units[min(number, len(units) - 1)] for units in split_references]
            for number in range(max(map(len, references)))
        ]
        if self.compares == "similarities":
            alignments = [self._align_by_similarity(stream.keys, keys) for keys in sets]
            if len(alignments) == 1:
                return alignments[0]

            def compute_mean_similarity(alignment: Alignment) -> float:
                length = max(1, len(stream), sum(map(len, alignment.references)))
                return _sum_similarities(stream.keys, alignment) / length

            return max(alignments, key=compute_mean_similarity)
        if timing is not None:
            return _align_by_times(stream.keys, sets[0], timing)
        alignments = [_align_by_words(stream.keys, keys) for keys in sets]
        return min(alignments, key=lambda alignment: alignment.errors or 0)

    def list_reference_units(self, text: str) -> list[str]:
        """Return the units of a reference."""
        text = self.prepare_reference(text)
        if isinstance(self.split, PatternSplitter):
            return self.split.list_keys(text)
        return self.split(text).keys

    def measure_cost(self, keys: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        """Return the lowest cost of aligning one segment's units with one of its references.

        The cost is the edit distance, or the negative sum of similarities.
        """
        if self.compares != "similarities":
            return min(align_words(reference, keys)[2] for reference in references)
        alignments = [self._align_by_similarity(keys, [list(units)]) for units in references]
        return -max(_sum_similarities(keys, alignment) for alignment in alignments)

    def _align_by_edits(self, stream: Units, references: list[list[list[str]]]) -> Alignment:
        """Align with all references of each segment, and select one reference per segment."""
        number = _make_numbers().__getitem__
        numbers = list(map(number, stream.keys))
        segments = [[list(map(number, keys)) for keys in row] for row in references]
        forbidden = b"" if self.is_own else bytes(not begins for begins in stream.begins)
        places, pairs, encoded, errors = _kernel.align_by_edits(
            segments, numbers, forbidden, not self.is_own
        )
        chosen = decode(encoded)
        keys = [row[index] for row, index in zip(references, chosen, strict=True)]
        reference_numbers = [row[index] for row, index in zip(segments, chosen, strict=True)]
        return Alignment(decode(places), decode(pairs), keys, numbers, reference_numbers, errors)

    def _align_by_similarity(self, keys: Sequence[str], references: list[list[str]]) -> Alignment:
        types = _make_numbers()
        number = types.__getitem__
        numbers = list(map(number, keys))
        segments = [list(map(number, segment)) for segment in references]
        places, pairs, _, _ = _kernel.align_by_similarity(
            segments,
            numbers,
            "".join(types).encode(CODE_POINTS, "surrogatepass"),
            list(map(len, types)),
            bytes(key in PUNCTUATION for key in types),
            self.only_equal,
        )
        return Alignment(decode(places), decode(pairs), references, numbers, segments, None)


def _make_numbers() -> defaultdict[str, int]:
    """Return a mapping that assigns the next number to each new key."""
    return defaultdict(count().__next__)


def _align_by_words(keys: Sequence[str], references: list[list[str]]) -> Alignment:
    """Align words by minimum edit distance. Inserted words stay in the preceding segment."""
    reference = [
        (key, number, index)
        for number, segment in enumerate(references)
        for index, key in enumerate(segment)
    ]
    number = _make_numbers().__getitem__
    pairs, counts_before, errors = align_words([key for key, _, _ in reference], keys)
    return Alignment(
        array("I", (reference[count - 1][1] if count else 0 for count in counts_before)),
        array("I", (UNPAIRED if pair is None else reference[pair][2] for pair in pairs)),
        references,
        list(map(number, keys)),
        [list(map(number, segment)) for segment in references],
        errors,
    )


def _align_by_times(keys: Sequence[str], references: list[list[str]], timing: Timing) -> Alignment:
    """Assign each word to the last segment that starts before it, unless that segment has ended."""
    starts = [start for start, _ in timing.segments]
    places = array("I")
    for time in timing.units:
        place = bisect_left(starts, time) - 1
        is_inside = place >= 0 and time < timing.segments[place][1]
        places.append(place if is_inside else UNPAIRED)
    members: list[list[int]] = [[] for _ in references]
    for index, place in enumerate(places):
        if place != UNPAIRED:
            members[place].append(index)
    pairs = array("I", [UNPAIRED]) * len(keys)
    for indices, reference in zip(members, references, strict=True):
        segment_pairs, _, _ = align_words(reference, [keys[index] for index in indices])
        for index, pair in zip(indices, segment_pairs, strict=True):
            pairs[index] = UNPAIRED if pair is None else pair
    number = _make_numbers().__getitem__
    numbers = list(map(number, keys))
    reference_numbers = [list(map(number, segment)) for segment in references]
    return Alignment(places, pairs, references, numbers, reference_numbers, None)


def decode(data: bytes) -> array[int]:
    """Return 32-bit integers from the kernel."""
    values = array("I")
    values.frombytes(data)
    return values


def _sum_similarities(keys: Sequence[str], alignment: Alignment) -> float:
    total = 0.0
    for key, segment, pair in zip(keys, alignment.segments, alignment.pairs, strict=True):
        if pair != UNPAIRED:
            characters, reference = set(key), set(alignment.references[segment][pair])
            total += len(characters & reference) / len(characters | reference)
    return total


def _make_mweralign(model: str = "mweralign-spm32k", *, cuts_words: bool) -> Method:
    split = partial(u.split_pieces, model, cuts_words=cuts_words)
    return Method(split, "edits", "mweralign", "1.4.1", joiner="")


def _make_omnisteval(split: Callable[[str], Units]) -> Method:
    return Method(
        split, "similarities", "OmniSTEval", "0.1.10", joiner=" ", prepare_reference=str.lower
    )


def _make_suber(compares: str, breaks: str = "none", language: str = "") -> Method:
    split: Callable[[str], Units] = u.split_subtitle_words
    if language:
        split = partial(
            split_east_asian_subtitles, language, attaches_punctuation=compares == "words"
        )
    return Method(split, compares, "SubER", "0.4.0", joiner=" ", breaks=breaks)


METHODS = {
    "soft": Method(u.split_text_units, "similarities"),
    "as-wer": Method(u.split_text_units, "edits"),
    "mweralign-spm32k": _make_mweralign(cuts_words=False),
    "mweralign-spm32k-w": _make_mweralign(cuts_words=True),
    "mweralign-none": Method(u.split_ascii_words, "edits", "mweralign", "1.4.1", joiner=" "),
    "mweralign-cj": Method(u.split_latin_runs, "edits", "mweralign", "1.4.1", joiner=""),
    "omnisteval": _make_omnisteval(u.split_white_space),
    "omnisteval-char": Method(
        u.split_characters,
        "similarities",
        "OmniSTEval",
        "0.1.10",
        joiner="",
        only_equal=True,
        prepare_reference=lambda text: text.lower().replace(" ", ""),
    ),
    "suber": _make_suber("words"),
    "suber-seg": _make_suber("words", "words"),
    "suber-br": _make_suber("words", "only"),
    "time": _make_suber("times"),
    "time-seg": _make_suber("times", "words"),
    "time-br": _make_suber("times", "only"),
}
# Names in signatures include the kind of unit.
SIGNATURE_NAMES = {"soft": "soft-words", "as-wer": "as-wer-words", "omnisteval": "omnisteval-none"}
OTHER_NAMES = {
    "mweralign": "mweralign-spm32k",
    **{full: short for short, full in SIGNATURE_NAMES.items()},
}
# Methods with a parameter: mweralign with the SentencePiece model in a file (mweralign-spm:FILE),
# OmniSTEval with the Moses tokenizer of a language (omnisteval-moses-de), SubER with --language
# (suber-zh), and the smallest edit distance of the tokens of a tokenizer (as-wer-13a).
MODEL_PREFIX = "mweralign-spm:"
MOSES_PREFIX = "omnisteval-moses-"
TOKENS_PREFIX = "as-wer-"
# The methods that have variants for Chinese, Japanese and Korean.
METHODS_BY_LANGUAGE = ("suber", "suber-seg", "time", "time-seg")
EAST_ASIAN_SUBER = re.compile("(suber|time)(-seg)?-(zh|ja|ko)")


def get_method(name: str) -> Method:
    """Return a method by its name.

    Raises:
        ValueError: there is no such method.
    """
    check_string("method", name, "the name of a method, such as 'soft'")
    method = METHODS.get(OTHER_NAMES.get(name, name))
    if method is not None:
        return method
    if name.startswith(MODEL_PREFIX):
        return _make_mweralign(name.removeprefix("mweralign-"), cuts_words=False)
    problem = f"unknown re-segmentation method '{name}'"
    if match := EAST_ASIAN_SUBER.fullmatch(name):
        kind, breaks, language = match.groups()
        compares = "words" if kind == "suber" else "times"
        return _make_suber(compares, "words" if breaks else "none", language)
    if name.startswith(MOSES_PREFIX):
        language = name.removeprefix(MOSES_PREFIX)
        if not re.fullmatch("[a-z]{2,3}", language):
            raise ValueError(f"{problem}: expected a language code of two or three letters")
        return _make_omnisteval(partial(split_moses_tokens, language))
    if not name.startswith(TOKENS_PREFIX):
        raise ValueError(f"{problem}{suggest_names(name, METHODS)}")
    tokenizer = name.removeprefix(TOKENS_PREFIX)
    try:
        tokenizers.resolve_tokenizer(tokenizer)
    except ValueError as error:
        raise ValueError(f"{problem}: {error}") from None
    return Method(partial(split_tokens, tokenizer), "edits")


def format_method_label(name: str) -> str:
    """Return a method's name in signatures, with its kind of unit and its program's release.

    >>> format_method_label("soft"), format_method_label("mweralign-none")
    ('soft-words', 'mweralign-none-1.4.1')
    """
    version = get_method(name).version
    name = OTHER_NAMES.get(name, name)
    label = SIGNATURE_NAMES.get(name, name)
    for prefix, kind in ((MODEL_PREFIX, "spm:"), (TOKENS_PREFIX, "")):
        if label.startswith(prefix) and label not in SIGNATURE_NAMES.values():
            tokenizer = tokenizers.resolve_tokenizer(kind + label.removeprefix(prefix))
            label = prefix.removesuffix(kind) + tokenizers.format_signature_label(tokenizer)
    return f"{label}-{version}" if version else label


# ---- alignment of words ----


INSERTION, SHARED, DELETION = -1, 0, 1


def align_words(
    reference: Sequence[Hashable], hypothesis: Sequence[Hashable]
) -> tuple[list[int | None], list[int], int]:
    """Align two lists of words.

    Returns, for each hypothesis word, the paired reference word or None, and the number of
    reference words up to its pair, or before the word if it has no pair; and the edit distance.

    The common beginning and end are paired. Between them, the path is followed from its end: a
    run of insertions or deletions continues while that is optimal. Otherwise, equal words are
    paired, then different words; then a word is inserted, then deleted. The order of
    python-Levenshtein 0.12.0 is the same.

    The columns of the table are bit vectors (Myers, 1999). Of n columns, about the square root of n
    are kept, and the others are recomputed when the path reaches them.

    >>> align_words("a b c d".split(), "a x c c d".split())
    ([0, None, 1, 2, 3], [1, 1, 2, 3, 4], 2)
    """
    pairs_of_words = zip(reference, hypothesis, strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs_of_words))
    shorter = min(len(reference), len(hypothesis)) - start
    reversed_pairs = zip(
        reversed(reference[len(reference) - shorter :]),
        reversed(hypothesis[len(hypothesis) - shorter :]),
        strict=True,
    )
    shared_end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], reversed_pairs))
    row, column = len(reference) - shared_end, len(hypothesis) - shared_end
    pairs: list[int | None] = [None] * len(hypothesis)
    pairs[:start] = range(start)
    pairs[column:] = range(row, len(reference))
    before = [1 + (index or 0) for index in pairs]
    table = _Table(reference[start:row], hypothesis[start:column])
    errors, direction = 0, SHARED
    while row > start and column > start:
        deletes, inserts, is_diagonal_equal = table.get_column(column - start - 1)
        bit = row - start - 1
        can_delete, can_insert = deletes >> bit & 1, inserts >> bit & 1
        is_equal = reference[row - 1] == hypothesis[column - 1]
        is_pair = False
        if (direction == INSERTION and can_insert) or (direction == DELETION and can_delete):
            pass
        elif is_equal or not is_diagonal_equal >> bit & 1:
            direction, is_pair = SHARED, True
        else:
            direction = INSERTION if can_insert else DELETION
        errors += not (is_pair and is_equal)
        if direction != DELETION:
            column -= 1
            pairs[column] = row - 1 if is_pair else None
            before[column] = row
        if direction != INSERTION:
            row -= 1
    before[start:column] = [row] * (column - start)
    return pairs, before, errors + row + column - 2 * start


class _Table:
    """The table of edit distances between two lists of words, as bit vectors.

    In each column, the bits of a reference word say whether deleting that word is optimal, whether
    inserting the column's word is optimal, and whether the distance equals the distance without
    both words.
    """

    def __init__(self, reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> None:
        self._hypothesis = hypothesis
        self._all_bits = (1 << len(reference)) - 1
        positions: dict[Hashable, bytearray] = {}
        for index, word in enumerate(reference):
            if word not in positions:
                positions[word] = bytearray(len(reference) // 8 + 1)
            positions[word][index // 8] |= 1 << index % 8
        self._matches = {word: int.from_bytes(bits, "little") for word, bits in positions.items()}
        self._block_length = isqrt(len(hypothesis)) + 1
        # The vertical differences +1 and -1 before each block of columns.
        self._block_starts = [(self._all_bits, 0)]
        self._block, self._columns = -1, list[tuple[int, int, int]]()
        for block in range(len(hypothesis) // self._block_length):
            self._block_starts.append(self._compute_block(block))

    def get_column(self, index: int) -> tuple[int, int, int]:
        """Return the bit vectors of the column for a hypothesis word."""
        block = index // self._block_length
        if block != self._block:
            self._compute_block(block)
        return self._columns[index % self._block_length]

    def _compute_block(self, block: int) -> tuple[int, int]:
        """Compute the columns of a block, and return the vertical differences after it."""
        self._block, self._columns = block, []
        all_bits = self._all_bits
        up, down = self._block_starts[block]
        first = block * self._block_length
        for word in self._hypothesis[first : first + self._block_length]:
            match = self._matches.get(word, 0)
            equal = (((match & up) + up ^ up) | match | down) & all_bits
            right = down | all_bits & ~(equal | up)
            shifted = right << 1 | 1
            up, down = ((equal & up) << 1 | ~(equal | shifted)) & all_bits, shifted & equal
            self._columns.append((up, right, equal))
        return up, down
