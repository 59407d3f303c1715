"""What one should know of the texts before believing their scores: flags, segment by segment.

What each flag is exactly is in kernel/src/health.rs; what it means is here. None of them changes a
score. A flag is worth having if a person who sees it can do something: mend a file, leave out a
segment, choose a tokenizer, or go and look.
"""

from __future__ import annotations

from truebleu import _kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.report.payload import Texts
    from truebleu.tokenizers import Tokenize

# Identifier, title, explanation, severity, in the order of the kernel's bits. A warning says that
# something is wrong with most segments that have it; a note, that it is worth a look.
FLAGS = (
    (
        "empty",
        "Empty text",
        "There is nothing but white space. An empty hypothesis matches nothing, and still makes "
        "the output of the system shorter.",
        "warning",
    ),
    (
        "missing-reference",
        "Missing reference",
        "The segment has fewer references than others have, so a match is less likely in it.",
        "note",
    ),
    (
        "copied-source",
        "Hypothesis is the source",
        "The text was not translated, or there was nothing to translate.",
        "warning",
    ),
    (
        "identical-reference",
        "Hypothesis is a reference",
        "The same text to the last character. Many of these may mean that the references were "
        "seen before, or that files were mixed up.",
        "note",
    ),
    (
        "duplicate-hypothesis",
        "Same hypothesis elsewhere",
        "A text of 20 bytes or more that is the hypothesis of another segment, too, whose source "
        "(without sources: whose references) is different.",
        "warning",
    ),
    (
        "repeated-segment",
        "Segment occurs again",
        "A segment before this one has the same source and references. Segments that are repeated "
        "count as often, and make intervals narrower than they should be.",
        "note",
    ),
    (
        "much-shorter",
        "Much shorter than the references",
        "Less than half of the characters of each reference, where these have 20 or more.",
        "warning",
    ),
    (
        "much-longer",
        "Much longer than the references",
        "More than twice the characters of each reference, and 20 or more.",
        "warning",
    ),
    (
        "loop",
        "Says the same again and again",
        "One to four words four times in a row, as in no reference: a decoder that does not stop.",
        "warning",
    ),
    (
        "other-script",
        "Another script than the references",
        "More than half of the letters are of a script that is not that of any reference: perhaps "
        "another language.",
        "warning",
    ),
    (
        "unsplit-script",
        "Script that the tokenizer does not split",
        "Chinese, Japanese, Thai, Lao, Burmese and Khmer have no spaces between words. This "
        "tokenizer leaves them in long pieces, which hardly ever match; zh splits Chinese, and "
        "char splits all.",
        "warning",
    ),
    (
        "tokenized",
        "Looks tokenized",
        "Commas or a full stop stand alone, or pieces of words are marked (@@, @-@, ▁). Metrics are "
        "for text as people write it: detokenize it first.",
        "warning",
    ),
    (
        "mojibake",
        "Wrong encoding",
        "UTF-8 that was read as Windows-1252 or Latin-1: Ã© for é, â€™ for ’.",
        "warning",
    ),
    (
        "replacement-character",
        "Replacement characters",
        "U+FFFD or lone surrogates stand for what could not be decoded, or was cut in two.",
        "warning",
    ),
    (
        "control-character",
        "Control characters",
        "Characters that are no text, such as NUL or a line end inside a segment. Tabs do not "
        "count.",
        "warning",
    ),
    (
        "invisible-character",
        "Invisible characters",
        "Zero-width spaces, soft hyphens, byte-order marks, marks of direction: two texts that "
        "look alike do not match. Joiners do not count, as they are part of how words are spelt.",
        "note",
    ),
    (
        "outer-space",
        "White space at the ends",
        "Before or after the text. BLEU does not see it, other metrics may; at the end of all "
        "lines it may be a carriage return.",
        "note",
    ),
    (
        "html-entities",
        "HTML entities",
        "Characters by name or number, such as &amp;quot; or &amp;#39;. The tokenizer 13a undoes "
        "four of them, the others none.",
        "note",
    ),
    (
        "unbalanced-brackets",
        "Unbalanced brackets",
        "As many brackets are not opened as closed, while all references have as many.",
        "note",
    ),
)


def flags(
    systems: Sequence[Texts],
    references: Sequence[Texts],
    source: Texts | None,
    tokenize: Tokenize = "13a",
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the manifest says of flags, and a block for each role in which there are any.

    A block has 32 bits for each segment, of which bit `bit` says whether its text has that flag.
    Only flags that some text has are told of. `tokenize` is the tokenizer of the first BLEU.
    """
    others = tokenize in ("13a", "intl", "zh")
    columns = _kernel.health(
        [tuple(column) for column in systems],
        [tuple(column) for column in references],
        None if source is None else tuple(source),
        tokenized=tokenize == "none",
        unsplit=(others, tokenize in ("13a", "intl"), others),
    )
    roles = [f"system{i}" for i in range(len(systems))]
    roles += [f"reference{i}" for i in range(len(references))]
    roles += [] if source is None else ["source"]
    names: dict[str, str] = {}
    blocks: dict[str, bytes] = {}
    counts: dict[str, dict[str, int]] = {}
    for number, (role, (block, times)) in enumerate(zip(roles, columns, strict=True)):
        found = {flag[0]: count for flag, count in zip(FLAGS, times, strict=False) if count}
        if found:
            counts[role] = found
            names[role] = f"h.{number}"
            blocks[f"h.{number}"] = block
    told = [
        {"bit": bit, "id": name, "title": title, "explanation": explanation, "severity": severity}
        for bit, (name, title, explanation, severity) in enumerate(FLAGS)
        if any(name in found for found in counts.values())
    ]
    return {"flags": told, "blocks": names, "counts": counts}, blocks
