"""Detection of sources, references and other texts passed as a system output by mistake.

Only a sample of the segments is examined. In the outputs of WMT22, at least 50% of the words occur
in the references, and at most 38% in the source; 21% of the words of a source occur in the
references.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from truebleu.text import reference_checks, text_marks

# Ways in which users mix up input files.
SOURCE, SOURCE_LANGUAGE, OTHER_LANGUAGE = "source", "source language", "other language"
SHIFTED, UNRELATED = "shifted", "unrelated"
MIN_WORDS = 100
MAX_FOREIGN_SHARE = 0.25
# Minimum share of an output's words in the source if both are in the same language.
MIN_SOURCE_SHARE = 0.4
# If the mean word length is larger than this, spaces do not separate the words.
MAX_WORD_LENGTH = 12
_WORD = re.compile(r"[^\W\d_]+")


def find_mixup(sample: text_marks.Sample, *, has_low_score: bool) -> tuple[str, str] | None:
    """Return the kind and the evidence of a mix-up, or None if there is no mix-up.

    has_low_score: whether the score is low. If the source is unknown, only outputs with low scores
        are examined.
    """
    source_texts = sample.source
    if not source_texts and not has_low_score:
        return None
    output, *others = sample.columns
    copy_count = reference_checks.count_identical_texts(output, source_texts)
    # If a reference is in the language of the source, as in simplification, copies are normal.
    if len(output) > 2 and 2 * copy_count > len(output):
        is_usual = any(
            2 * reference_checks.count_identical_texts(source_texts, one) > len(output)
            for one in others
        )
        evidence = f"{copy_count} of {sample.description} are identical to the source"
        return None if is_usual else (SOURCE, evidence)
    if has_low_score and (shift := reference_checks.find_shift(sample)):
        return SHIFTED, f"{abs(shift)}: line 5 matches line {5 + shift}"
    is_unrelated = has_low_score and reference_checks.has_unrelated_lines(sample)
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
    limit = reference_checks.MAX_CHARACTERS
    lines = (text[:limit].lower() for text in texts if isinstance(text, str))
    return [word for line in lines for word in _WORD.findall(line)]
