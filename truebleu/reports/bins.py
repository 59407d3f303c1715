"""What segments are put into buckets by, where the tables do not say it: lengths, frequent words.

Score, documents and labels need nothing but the tables. A length is the reference's, in one unit
whatever the metric; frequency needs the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truebleu._kernel import Corpus, InputError, Table
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.statistics import Statistics
from truebleu.reports import payload
from truebleu.text import segments, tokenizers
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.segments import File, Texts

# The least frequency of each bucket. What is counted elsewhere may not be there at all.
EDGES: tuple[int, ...] = (1, 2, 5, 10, 100, 1000)
EDGES_ELSEWHERE: tuple[int, ...] = (0, *EDGES)

# Where words are counted if nobody gives counts.
REFERENCES = "references"

BLOCK = "frequency"
LENGTHS = "lengths"


def lengths(
    references: Sequence[Texts], metric: BLEU, counted: Statistics | None = None
) -> tuple[dict[str, Any], bytes]:
    """The length of each segment: the tokens of its first reference, as `metric` splits text.

    So it is the same whatever the systems are, and by whatever metric segments are looked at.

    counted: a table of `metric` of these references, which need not be read again if they are one.
    """
    if counted is not None and len(references) == 1 and "reference_length" in counted.columns:
        numbers = list(counted.column("reference_length"))
    else:
        first = [
            next((text for text in row if text is not None), b"").decode("utf-8", "surrogatepass")
            for row in zip(*references, strict=True)
        ]
        alone = BLEU(tokenize=metric.tokenize, lowercase=metric.lowercase, max_order=1)
        numbers = list(alone.statistics(first, first).column("hypothesis_length"))
    told = {"tokenizer": tokenizers.format_signature_label(metric.tokenize), "block": LENGTHS}
    return told, payload.of_indices(map(int, numbers))


def frequency(
    corpus: Corpus, count: int, given: tuple[Mapping[str, int], str] | None = None
) -> tuple[dict[str, Any], bytes]:
    """The words of the references by their frequency: what the manifest says, and the block.

    given: how often each word is somewhere else, such as in what a system was trained on, and what
        to call that; it is how often in the references of this very text if not given.

    A row has for each bucket how many words the references have (each word as often as the
    reference that has it most often), then for each system and bucket how many of them it has.
    All segments, `count` of them, have a row; those that were not counted have zeros.
    """
    counts, source = given or (None, REFERENCES)
    edges = EDGES if counts is None else EDGES_ELSEWHERE
    frequencies = None
    if counts is not None:
        frequencies = [min(counts.get(word, 0), edges[-1]) for word in corpus.vocabulary()]
    table = corpus.buckets(edges, frequencies)
    told = described(len(corpus), edges, source, BLOCK)
    if len(table) < count:
        rest = bytes(8 * table.width * (count - len(table)))
        table = table.concatenated(Table.from_bytes(rest, table.width))
    return told, payload.of_table(table)


def described(
    segments: int,
    edges: Sequence[int] = EDGES,
    source: str = REFERENCES,
    block: str | None = None,
) -> dict[str, Any]:
    """What the manifest says of frequencies; without a block, the page counts the words itself."""
    return {"edges": list(edges), "source": source, "segments": segments, "block": block}


def given(value: Any) -> tuple[Mapping[str, int], str]:
    """The counts that somebody gives, as a mapping or in a file, and what to call them."""
    if segments.is_file(value):
        return read_counts(segments.as_file(value)), segments.get_file_name(value) or "a file"
    if not hasattr(value, "items"):
        raise TypeError(
            "word_counts: expected a mapping from words to numbers, or a file of them, "
            f"not {type(value).__name__}"
        )
    for word, count in value.items():
        if type(count) is not int or count < 0:
            raise InputError(f"word_counts: {word!r} is there {count!r} times; give a whole number")
    return value, "given counts"


def read_counts(file: File) -> dict[str, int]:
    """The counts of a file: a word, a tab and a number on each line."""
    counts: dict[str, int] = {}
    for number, line in enumerate(file.read_lines(), 1):
        word, tab, count = line.rstrip("\r").rpartition("\t")
        if not tab or not is_whole_number(count):
            raise InputError(
                f"{file.format_label('word counts')}, line {number}: expected a word, a tab and a "
                f"number, not {line[:80]!r}"
            )
        counts[word] = counts.get(word, 0) + int(count)
    return counts
