"""Flags for problems in the texts of a segment that may explain its scores.

kernel/src/text_flags.rs defines the flags exactly, except those in `MARK_KINDS`; this module
explains them. No flag changes a score. A flag is useful if the reader can act on it: repair a file,
remove a segment, choose another tokenizer, or inspect the segment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from truebleu import _kernel
from truebleu.reports import payload
from truebleu.text import sample_checks, tokenizers
from truebleu.text.segments import DiskLines, Texts, to_kernel_texts
from truebleu.text.tokenizers import Tokenize


class Flag(NamedTuple):
    """Flag of a segment: the meaning of one bit in the kernel's result."""

    title: str
    severity: str
    explanation: str


def make_warning(title: str, explanation: str) -> Flag:
    """Return a flag that usually indicates an error."""
    return Flag(title, "warning", explanation)


def make_note(title: str, explanation: str) -> Flag:
    """Return a flag for texts that should be inspected but may be correct."""
    return Flag(title, "note", explanation)


# Maximum number of bytes that are read from files on disk for the checks.
MAX_CHECKED_BYTES = 1 << 27

# Flags keyed by id, in the order of their bits: those of the kernel, then those of this module.
FLAGS = {
    "empty": make_warning(
        "Empty text",
        "The text contains only white space. An empty hypothesis matches nothing and shortens the "
        "system's output.",
    ),
    "missing-reference": make_note(
        "Missing reference",
        "The segment has fewer references than other segments, so matches are less likely.",
    ),
    "copied-source": make_warning(
        "Hypothesis equals the source",
        "The text was not translated, or there was nothing to translate.",
    ),
    "identical-reference": make_note(
        "Hypothesis equals a reference",
        "The hypothesis equals a reference exactly. If this is frequent, the references may have "
        "been in the training data, or files may have been swapped.",
    ),
    "duplicate-hypothesis": make_warning(
        "Same hypothesis in another segment",
        "Another segment has the same hypothesis of 20 bytes or more, but a different source "
        "or, without sources, different references.",
    ),
    "repeated-segment": make_note(
        "Repeated segment",
        "An earlier segment has the same source and references. Repeated segments are counted "
        "several times and make confidence intervals too narrow.",
    ),
    "much-shorter": make_warning(
        "Much shorter than the references",
        "The text has fewer than half as many characters as each reference, and each reference "
        "has at least 20 characters.",
    ),
    "much-longer": make_warning(
        "Much longer than the references",
        "The text has at least 20 characters, and more than twice as many as each reference.",
    ),
    "loop": make_warning(
        "Repeats itself",
        "The text repeats one to four words four times in a row, and no reference does. The "
        "decoder may be in a loop.",
    ),
    "other-script": make_warning(
        "Script differs from the references",
        "More than half of the letters are in a script that no reference uses. The text may be "
        "in another language.",
    ),
    "unsplit-script": make_warning(
        "Script that the tokenizer does not split",
        "Scripts such as Chinese, Japanese, Thai, Lao, Burmese, Khmer and Tibetan have no spaces "
        "between words, and Korean particles are attached to words. This tokenizer leaves them "
        "in long pieces, which rarely match. Use zh for Chinese, ja-mecab for Japanese, ko-mecab "
        "for Korean, intl for Tibetan, or char for any script.",
    ),
    "tokenized": make_warning(
        "Looks tokenized",
        "The text has spaces around commas or full stops, or subword marks (@@, @-@, ▁, ##). "
        "Metrics expect natural text: detokenize it first.",
    ),
    "mojibake": make_warning(
        "Wrong encoding",
        "UTF-8 was decoded as Windows-1252 or Latin-1, which turns é into Ã© and ’ into â€™.",
    ),
    "replacement-character": make_warning(
        "Replacement characters",
        "The text contains U+FFFD or lone surrogates, which replace characters that could not "
        "be decoded or were cut in two.",
    ),
    "control-character": make_warning(
        "Control characters",
        "The text contains control characters, such as NUL or a line break inside the segment. "
        "Tabs are allowed.",
    ),
    "invisible-character": make_note(
        "Invisible characters",
        "The text contains zero-width spaces, soft hyphens, byte-order marks or direction marks, "
        "so texts that look alike do not match. Joiners are allowed because some spellings "
        "need them.",
    ),
    "outer-space": make_note(
        "White space at the start or end",
        "The text starts or ends with white space. BLEU ignores it; other metrics may not. If it "
        "is at the end of every line, it may be a carriage return.",
    ),
    "html-entities": make_note(
        "HTML entities",
        "The text contains entities such as &quot; or &#39;. Tokenizer 13a decodes four of them; "
        "other tokenizers decode none.",
    ),
    "unbalanced-brackets": make_note(
        "Unbalanced brackets",
        "Some brackets are unmatched, although the brackets in all references are balanced.",
    ),
    "numbers-differ": make_note(
        "Numbers differ",
        "The numbers in the text differ from the numbers in the source and in every reference. "
        "Numbers up to 12 are ignored because they may be written as words. Thousands and decimal "
        "separators are ignored, too.",
    ),
    "name-missing": make_note(
        "A name is missing",
        "A capitalized word that occurs inside a sentence of the source and of all references is "
        "missing from the hypothesis.",
    ),
    "partly-untranslated": make_note(
        "Untranslated words",
        "Four consecutive words are copied from the source and occur in no reference.",
    ),
    "negation-differs": make_note(
        "Negation differs",
        "The text contains a negation (such as not, no or never) but no reference does, or all "
        "references contain one but the text does not.",
    ),
    "special-tokens": make_warning(
        "Special tokens",
        "The text contains tokens of a model, such as <unk>, </s> or [PAD], which are scored as "
        "words. Remove them first, unless they belong to the text.",
    ),
}

# Flags that this module sets in all checked texts, with the kind of their marks in
# `sample_checks.PATTERNS`. The kernel also sets "tokenized".
MARK_KINDS = {"special-tokens": "special tokens", "tokenized": "subword marks"}
SENTENCEPIECE_MARK = "▁".encode()

# Negation words, keyed by language. A star matches the rest of a word.
NEGATION_WORDS = {
    "cs": "ne nikdy nic nikdo žádn* ani není nejsou nemá bez",
    "da": "ikke ingen aldrig intet ej uden hverken",
    "de": "nicht kein* nie niemals nichts niemand* ohne weder nirgend*",
    "en": "not no never nothing nobody none neither nor without cannot *n't",
    "es": "no nunca nada nadie ningún ninguna ninguno ni sin jamás tampoco",
    "fr": "ne n'* pas jamais rien personne aucun* ni sans",
    "it": "non mai niente nulla nessun* né senza",
    "nb": "ikke ingen aldri ingenting ei uten verken",
    "nl": "niet geen nooit niets niemand zonder noch nergens",
    "pl": "nie nigdy nic nikt żad* ani bez",
    "pt": "não nunca nada ninguém nenhum* nem sem jamais",
    "ru": "не нет ни никогда ничего ничто никто никого без нельзя",
    "sv": "inte ingen inga inget aldrig ej utan varken",
    "uk": "не ні немає ніколи нічого ніхто без",
}


# Punctuation marks that systems use differently, keyed by title.
STYLE_MARKS = {
    "straight quotes": ('"',),
    "curly quotes": ("“", "”"),
    "low quotes": ("„",),
    "angle quotes": ("«", "»"),
    "straight apostrophes": ("'",),
    "curly apostrophes": ("’",),
    "dashes": ("–", "—"),
    "ellipsis characters": ("…",),
    "full-width commas": ("，",),
}


class RoleTotals(NamedTuple):
    """Counts of letters and punctuation marks in all texts of a role."""

    # Number of left-to-right letters, and number of right-to-left letters.
    letters: tuple[int, int]
    # Number of punctuation marks, keyed by title (`STYLE_MARKS`).
    marks: dict[str, int]


def find_flags(
    systems: Sequence[Texts],
    references: Sequence[Texts],
    source: Texts | None,
    tokenize: Tokenize = "13a",
    language: str | None = None,
) -> tuple[dict[str, Any], dict[str, bytes], dict[str, RoleTotals]]:
    """Return the manifest entry of the flags, one block per role, and the totals of each role.

    A block contains 32 bits per segment. Bit number `bit` is set if the segment has the flag. The
    manifest entry lists all checked flags. Its `segments` is the number of checked segments: if
    texts on disk are too large for memory, only the first segments are checked.

    tokenize: tokenizer of the first BLEU metric. With "none", tokenized text is not flagged. With
        other named tokenizers, text in scripts that they do not split is flagged.
    language: ISO 639-1 code of the hypotheses, if known.
    """
    unsplit_scripts = _list_unsplit_scripts(tokenize)
    negation_words = NEGATION_WORDS.get(language or "", "").split()
    sources = [] if source is None else [source]
    segments = len(systems[0])
    all_texts = (*systems, *references, *sources)
    # Texts that are already in memory do not count towards the limit.
    disk_columns = [column for column in all_texts if isinstance(column, DiskLines)]
    checked = bisect_right(
        range(1, segments + 1),
        MAX_CHECKED_BYTES,
        key=lambda count: sum(column.get_prefix_size(count) for column in disk_columns),
    )
    columns = [to_kernel_texts(column, checked) for column in all_texts]
    references_start, references_end = len(systems), len(systems) + len(references)
    flagged_columns = _kernel.health(
        columns[:references_start],
        columns[references_start:references_end],
        None if source is None else columns[-1],
        tokenized=tokenize == "none",
        unsplit=unsplit_scripts,
        negation=negation_words,
        marks=list(chain.from_iterable(STYLE_MARKS.values())),
    )
    block_names = {
        role: f"h.{i}"
        for i, role in enumerate(payload.get_texts_by_role(systems, references, source))
    }
    blocks: dict[str, bytes] = {}
    counts: dict[str, dict[str, int]] = {}
    totals_by_role: dict[str, RoleTotals] = {}
    for role, texts, (kernel_bits, flag_counts, letters, marks) in zip(
        block_names, columns, flagged_columns, strict=True
    ):
        flag_bits = _flag_marks(
            texts, kernel_bits, flag_counts, finds_subwords=tokenize != "none" and role != "source"
        )
        nonzero = {flag: count for flag, count in zip(FLAGS, flag_counts, strict=False) if count}
        counts |= {role: nonzero} if nonzero else {}
        mark_counts = iter(marks)  # one count per character of `STYLE_MARKS`
        by_style = {k: sum(islice(mark_counts, len(v))) for k, v in STYLE_MARKS.items()}
        totals_by_role[role] = RoleTotals((letters[0], letters[1]), by_style)
        blocks[block_names[role]] = flag_bits + bytes(4 * (segments - checked))
    is_inapplicable = {
        "missing-reference": len(references) == 1,
        "copied-source": source is None,
        "unsplit-script": not unsplit_scripts,
        "tokenized": tokenize == "none",
        "name-missing": source is None,
        "partly-untranslated": source is None,
        "negation-differs": not negation_words,
    }
    listed_flags = [
        {"bit": bit, "id": name, **flag._asdict()}
        for bit, (name, flag) in enumerate(FLAGS.items())
        if not is_inapplicable.get(name)
    ]
    entry = {"flags": listed_flags, "blocks": block_names, "counts": counts, "segments": checked}
    return entry, blocks, totals_by_role


def _flag_marks(
    texts: bytes | Sequence[bytes | None],
    kernel_bits: bytes,
    flag_counts: list[int],
    *,
    finds_subwords: bool,
) -> bytes:
    """Return the block of a role with the flags of `MARK_KINDS`, and add them to its counts."""
    block = bytearray(kernel_bits)
    for flag, kind in MARK_KINDS.items():
        if kind == "subword marks" and not finds_subwords:
            continue
        bit = list(FLAGS).index(flag)
        offset, mask = bit // 8, 1 << bit % 8
        strings, pattern = sample_checks.PATTERNS[kind]
        for string in map(str.encode, strings):
            if string == SENTENCEPIECE_MARK:  # the kernel flags it
                continue
            for i in _find_segments(texts, string, pattern):
                if not block[4 * i + offset] & mask:
                    block[4 * i + offset] |= mask
                    flag_counts[bit] += 1
    return bytes(block)


def _find_segments(
    texts: bytes | Sequence[bytes | None], string: bytes, pattern: str
) -> Iterator[int]:
    """Yield the indices of the segments that contain a string and match a pattern."""

    def matches(text: bytes) -> bool:
        return re.search(pattern, text.decode("utf-8", "replace")) is not None

    if not isinstance(texts, bytes):
        yield from (i for i, text in enumerate(texts) if text and string in text and matches(text))
        return
    # Searching for one byte is much faster, and most texts contain no first byte of a mark.
    position = texts.find(string) if string[:1] in texts else -1
    i = counted = 0
    while position >= 0:
        # Every line ends with a newline.
        start, end = texts.rfind(b"\n", 0, position) + 1, texts.find(b"\n", position)
        if matches(texts[start:end]):
            i, counted = i + texts.count(b"\n", counted, start), start
            yield i
        position = texts.find(string, end)


def _list_unsplit_scripts(tokenize: Tokenize) -> list[tuple[str, float]]:
    """Return the scripts that a tokenizer does not split, each with its threshold for flagging."""
    if tokenize not in tokenizers.KERNEL_TOKENIZERS or tokenize == "none":
        return []
    return [
        (script, script_info.share)
        for script, script_info in tokenizers.UNSPLIT_SCRIPTS.items()
        if script != "diacritics" and not tokenizers.can_split(tokenize, script)
    ]
