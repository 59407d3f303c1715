"""Problems in the texts that may explain their scores: flags, segment by segment.

kernel/src/text_flags.rs defines each flag exactly; this module says what it means. None of them
changes a score. A flag is useful if a person who sees it can act on it: repair a file, remove a
segment, choose a tokenizer, or look at the segment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from truebleu import _kernel
from truebleu.reports import payload
from truebleu.text import languages, tokenizers
from truebleu.text.segments import DiskLines, Texts, to_kernel_texts
from truebleu.text.tokenizers import Tokenize


class Flag(NamedTuple):
    """The meaning of a bit of the kernel's."""

    title: str
    severity: str
    explanation: str


def warning(title: str, explanation: str) -> Flag:
    """A flag of texts in most of which something is wrong."""
    return Flag(title, "warning", explanation)


def note(title: str, explanation: str) -> Flag:
    """A flag of texts that are worth a look."""
    return Flag(title, "note", explanation)


# How much text that stays in its files is taken into memory to be looked at.
MOST_BYTES = 1 << 27

# By id, in the order of the kernel's bits.
FLAGS = {
    "empty": warning(
        "Empty text",
        "There is nothing but white space. An empty hypothesis matches nothing, and still "
        "makes the output of the system shorter.",
    ),
    "missing-reference": note(
        "Missing reference",
        "The segment has fewer references than others have, so a match is less likely in it.",
    ),
    "copied-source": warning(
        "Hypothesis is the source",
        "The text was not translated, or there was nothing to translate.",
    ),
    "identical-reference": note(
        "Hypothesis is a reference",
        "The same text to the last character. Many of these may mean that the references were "
        "seen before, or that files were mixed up.",
    ),
    "duplicate-hypothesis": warning(
        "Same hypothesis elsewhere",
        "A text of 20 bytes or more that is the hypothesis of another segment, too, whose "
        "source (without sources: whose references) is different.",
    ),
    "repeated-segment": note(
        "Segment occurs again",
        "A segment before this one has the same source and references. What is repeated "
        "counts several times, and makes intervals narrower than they should be.",
    ),
    "much-shorter": warning(
        "Much shorter than the references",
        "Less than half of the characters of each reference, where these have 20 or more.",
    ),
    "much-longer": warning(
        "Much longer than the references",
        "More than twice the characters of each reference, and 20 or more.",
    ),
    "loop": warning(
        "Says the same again and again",
        "One to four words four times in a row, as in no reference: a decoder that does not stop.",
    ),
    "other-script": warning(
        "Another script than the references",
        "More than half of the letters are of a script that is not that of any reference: "
        "perhaps another language.",
    ),
    "unsplit-script": warning(
        "Script that the tokenizer does not split",
        "Chinese, Japanese, Thai, Lao, Burmese, Khmer, Tibetan and others have no spaces between "
        "words, and Korean words keep their particles. This tokenizer leaves them in long pieces, "
        "which hardly ever match; zh splits Chinese, ja-mecab Japanese, ko-mecab Korean, intl "
        "Tibetan, and char all.",
    ),
    "tokenized": warning(
        "Looks tokenized",
        "Commas or a full stop stand alone, or pieces of words are marked (@@, @-@, ▁). "
        "Metrics are for text as people write it: detokenize it first.",
    ),
    "mojibake": warning(
        "Wrong encoding",
        "UTF-8 that was read as Windows-1252 or Latin-1: Ã© for é, â€™ for ’.",
    ),
    "replacement-character": warning(
        "Replacement characters",
        "U+FFFD or lone surrogates stand for what could not be decoded, or was cut in two.",
    ),
    "control-character": warning(
        "Control characters",
        "Characters that are no text, such as NUL or a line end inside a segment. Tabs do not "
        "count.",
    ),
    "invisible-character": note(
        "Invisible characters",
        "Zero-width spaces, soft hyphens, byte-order marks, marks of direction: two texts "
        "that look alike do not match. Joiners do not count, as they are part of how words "
        "are spelt.",
    ),
    "outer-space": note(
        "White space at the ends",
        "Before or after the text. BLEU does not see it, other metrics may; at the end of all "
        "lines it may be a carriage return.",
    ),
    "html-entities": note(
        "HTML entities",
        "Characters by name or number, such as &quot; or &#39;. The tokenizer 13a undoes four "
        "of them, the others none.",
    ),
    "unbalanced-brackets": note(
        "Unbalanced brackets",
        "Some are opened and not closed, or closed and not opened, and all references have "
        "as many of both.",
    ),
    "numbers-differ": note(
        "Numbers differ",
        "The numbers are neither those of the source nor those of a reference. Up to 12 they do "
        "not count, because they may be words; how thousands and decimals are separated does "
        "not either.",
    ),
    "name-missing": note(
        "A name is missing",
        "A word with a capital that the source and all references have, inside a sentence.",
    ),
    "partly-untranslated": note(
        "Words of the source",
        "Four words in a row stand as in the source, and in no reference.",
    ),
    "negation-differs": note(
        "Negation differs",
        "It says not, no or never where no reference does, or does not where all of them do.",
    ),
}

# The words that negate, by language; a star stands for the rest of a word.
NEGATION = {
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


# Marks that are a habit of a system: what each is called, and its characters.
STYLE = {
    "straight quotes": ('"',),
    "curly quotes": ("“", "”"),
    "low quotes": ("„",),
    "angle quotes": ("«", "»"),
    "straight apostrophes": ("'",),
    "curly apostrophes": ("’",),
    "dashes": ("–", "—"),
    "dots as one character": ("…",),
    "full-width commas": ("，",),
}


class Written(NamedTuple):
    """What is counted in all texts of a role."""

    # Letters that are written from left to right, and from right to left.
    letters: tuple[int, int]
    # By name (`STYLE`).
    marks: dict[str, int]


def fitting(columns: Iterable[Sequence[bytes | None]], most: int) -> int:
    """The number of segments whose texts on disk have at most so many bytes together.

    Columns in memory take none that is not taken already.
    """
    columns = list(columns)
    on_disk = [column for column in columns if isinstance(column, DiskLines)]

    def taken(count: int) -> int:
        return sum(column.get_prefix_size(count) for column in on_disk)

    return bisect_right(range(1, len(columns[0]) + 1), most, key=taken)


def flags(
    systems: Sequence[Texts],
    references: Sequence[Texts],
    source: Texts | None,
    tokenize: Tokenize = "13a",
    language: str | None = None,
) -> tuple[dict[str, Any], dict[str, bytes], dict[str, Written]]:
    """The manifest's entry for flags, a block per role, and what is counted in all texts of each.

    A block has 32 bits for each segment, of which bit `bit` says whether its text has that flag.
    `segments` is how many were looked at: the first ones, if texts that stay in their files are too
    large for memory. All flags are told of that were looked for. `tokenize` is the tokenizer of the
    first BLEU: what looks tokenized is as it should be for "none", and which scripts others split
    is known of those that have names. `language` is that of the hypotheses (ISO 639-1), if known.
    """
    kernels = tokenize in tokenizers.KERNEL_TOKENIZERS and tokenize != "none"
    unsplit = [
        (script, known.share)
        for script, known in languages.UNSPLIT_SCRIPTS.items()
        if kernels and script != "diacritics" and not languages.can_split(tokenize, script)
    ]
    negation = NEGATION.get(language or "", "").split()
    sources = [] if source is None else [source]
    segments = len(systems[0])
    checked = fitting((*systems, *references, *sources), MOST_BYTES)
    columns = _kernel.health(
        [to_kernel_texts(column, checked) for column in systems],
        [to_kernel_texts(column, checked) for column in references],
        None if source is None else to_kernel_texts(source, checked),
        tokenized=tokenize == "none",
        unsplit=unsplit,
        negation=negation,
        marks=list(chain.from_iterable(STYLE.values())),
    )
    names = {role: f"h.{i}" for i, role in enumerate(payload.roles(systems, references, source))}
    blocks: dict[str, bytes] = {}
    counts: dict[str, dict[str, int]] = {}
    written: dict[str, Written] = {}
    for role, (block, times, letters, marks) in zip(names, columns, strict=True):
        found = {flag: count for flag, count in zip(FLAGS, times, strict=False) if count}
        counts |= {role: found} if found else {}
        each = iter(marks)
        by_name = {name: sum(islice(each, len(some))) for name, some in STYLE.items()}
        written[role] = Written((letters[0], letters[1]), by_name)
        blocks[names[role]] = block + bytes(4 * (segments - checked))
    pointless = {
        "missing-reference": len(references) == 1,
        "copied-source": source is None,
        "unsplit-script": not unsplit,
        "tokenized": tokenize == "none",
        "name-missing": source is None,
        "partly-untranslated": source is None,
        "negation-differs": not negation,
    }
    told = [
        {"bit": bit, "id": name, **flag._asdict()}
        for bit, (name, flag) in enumerate(FLAGS.items())
        if not pointless.get(name)
    ]
    told_of = {"flags": told, "blocks": names, "counts": counts, "segments": checked}
    return told_of, blocks, written
