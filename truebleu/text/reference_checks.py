"""Checks of every reference, and of the letter case, in the first segments of an input.

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
# Step between the lines that are examined first.
MAY_BE_SHIFTED_STEP = 4
# Minimum number of words for comparing a line with neighbouring references.
MIN_LINE_WORDS = 4
# Lines look shifted if at least this share of them fits a neighbouring reference better.
MIN_SHIFTED_SHARE = 0.2
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


def compare_samples(summary: Summary, hypotheses: Any, references: Any) -> None:
    """Add `copied_reference`, `wrong_reference` and `letter_case` to a summary.

    Shifted lines are added as `mixup`, unless another mix-up explains them.
    """
    output, *others = text_marks.sample_inputs(hypotheses, references)
    if not summary.get("mixup") and (evidence := _find_shifted_lines(output, others)):
        summary["mixup"] = SHIFTED_LINES, evidence
    summary["copied_reference"] = _find_copied_reference(output, others)
    summary["wrong_reference"] = _find_wrong_reference(output, others)
    summary["letter_case"] = _find_letter_case(output, others)


def _find_copied_reference(
    output: Sequence[Any], references: Sequence[Sequence[Any]]
) -> tuple[int, int, int] | None:
    """Return the index of a reference that is mostly identical to the output, or None.

    The numbers of identical and examined lines are also returned. The first reference is not
    examined, because the kernel compares it with the output.
    """
    counts = [count_identical_texts(output, one) for one in references[1:]]
    if not counts or 2 * max(counts) <= len(output):
        return None
    return counts.index(max(counts)) + 1, max(counts), len(output)


def count_identical_texts(texts: Sequence[Any], others: Sequence[Any]) -> int:
    """Return the number of lines in which both texts are equal."""
    pairs = zip(texts, others, strict=False)
    return sum(isinstance(text, str) and text.strip() == other for text, other in pairs)


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


def find_shift(output: Sequence[Any], references: Sequence[Sequence[Any]]) -> int | None:
    """Return the number of lines by which the references precede or follow an output, or None."""
    words, *columns = map(_split_lines, (output, *references))
    share = _measure_overlap(words, columns)
    if share >= MAX_FOREIGN_SHARE or sum(map(len, words)) < MIN_WORDS:
        return None
    offsets = [offset for offset in range(-MAX_SHIFT, MAX_SHIFT + 1) if offset]
    shares = {offset: _measure_overlap(words, columns, offset) for offset in offsets}
    best = max(offsets, key=lambda offset: shares[offset])
    is_shifted = shares[best] >= max(MIN_COMMON_SHARE, MIN_RATIO * share)
    return best if is_shifted else None


def _find_shifted_lines(output: Sequence[Any], references: Sequence[Sequence[Any]]) -> str:
    """Return evidence that many lines fit a neighbouring reference better than their own, or "".

    All of these lines are shifted by the same number of lines, as after a missing line.
    """
    if not _may_be_shifted(output, references):
        return ""
    lines, *columns = map(_split_lines, (output, *references))
    long_lines = [i for i, words in enumerate(lines) if len(words) >= MIN_LINE_WORDS]
    needed = max(MIN_SHIFTED_SHARE * len(long_lines), 2)

    def measure_line(i: int, offset: int) -> float:
        known = {word for one in columns if 0 <= i + offset < len(one) for word in one[i + offset]}
        return sum(map(known.__contains__, lines[i])) / len(lines[i])

    shares = {i: measure_line(i, 0) for i in long_lines}
    foreign = [i for i, share in shares.items() if share < MAX_FOREIGN_SHARE]
    if len(long_lines) < MIN_LINES or len(foreign) < needed:
        return ""
    for offset in sorted(range(-MAX_SHIFT, MAX_SHIFT + 1), key=abs)[1:]:
        shifted = [
            i
            for i in foreign
            if measure_line(i, offset) >= max(MIN_COMMON_SHARE, MIN_RATIO * shares[i])
        ]
        if len(shifted) >= needed:
            share = f"{len(shifted) / len(long_lines):.0%} of the first {len(lines)} lines"
            first = shifted[0] + 1
            return f"{share} fit another line: line {first} matches line {first + offset}"
    return ""


def _may_be_shifted(output: Sequence[Any], references: Sequence[Sequence[Any]]) -> bool:
    """Return whether many lines share few words, split at spaces, with their references.

    Only every fourth line is examined, to save time.
    """
    foreign = 0
    numbers = range(0, len(output), MAY_BE_SHIFTED_STEP)
    for i in numbers:
        text = output[i]
        words = text[:MAX_CHARACTERS].split() if isinstance(text, str) else []
        known: set[str] = set()
        for one in references:
            if i < len(one) and isinstance(one[i], str):
                known.update(one[i].split())
        foreign += sum(map(known.__contains__, words)) < MAX_FOREIGN_SHARE * len(words)
    return foreign >= MIN_SHIFTED_SHARE * len(numbers) > 0


def _split_lines(texts: Sequence[Any]) -> WordLines:
    """Return the words at the beginning of each text, in lower case."""
    return [
        _WORD.findall(text[:MAX_CHARACTERS].lower()) if isinstance(text, str) else []
        for text in texts
    ]


def _measure_overlap(lines: WordLines, columns: Sequence[WordLines], offset: int = 0) -> float:
    """Return the share of words that also occur in other texts, `offset` lines further down."""
    matches = total = 0
    for i, words in enumerate(lines, offset):
        known = {word for one in columns if 0 <= i < len(one) for word in one[i]}
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
