"""Checks of every reference, and of the letter case, in a sample of the segments.

In WMT22, over 50% of a reference's words occur in the same line of another reference or an output.
For a source, this share is at most 10%; for a shuffled reference, at most 17% (33% in Japanese).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from truebleu.text import text_marks

if TYPE_CHECKING:
    from truebleu._kernel import Summary

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
_WORD = re.compile(rf"[{text_marks.UNSPACED_LETTERS}]|[^\W\d_{text_marks.UNSPACED_LETTERS}]+")

WordLines = list[list[str]]


def compare_samples(summary: Summary, sample: text_marks.Sample) -> None:
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


def find_shift(sample: text_marks.Sample) -> int | None:
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


def has_unrelated_lines(sample: text_marks.Sample) -> bool:
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


def find_shifted_lines(sample: text_marks.Sample) -> str:
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


def _find_first_shifted(sample: text_marks.Sample, place: int, offset: int) -> int:
    """Return the index of the first shifted segment, which may be between two examined blocks.

    place: an examined segment near the beginning of the shifted segments.
    """
    before, after = 2 * text_marks.BLOCK_SEGMENTS, place + MIN_RUN_LINES
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
    return [
        _WORD.findall(text[:MAX_CHARACTERS].lower()) if isinstance(text, str) else []
        for text in texts
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
