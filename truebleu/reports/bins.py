"""Segment lengths for the length bins of a report, and word frequencies for its word bins.

Bins by score, document or label need only the tables. Lengths are numbers of reference tokens and
do not depend on the metric of a table. Word frequencies require the texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truebleu._kernel import Corpus, InputError, Table
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import Statistics
from truebleu.reports import payload
from truebleu.text import segments, tokenizers
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.segments import Texts

# Lowest frequency of each bin. With external counts, a word may have the frequency 0.
FREQUENCY_EDGES: tuple[int, ...] = (1, 2, 5, 10, 100, 1000)
EXTERNAL_FREQUENCY_EDGES: tuple[int, ...] = (0, *FREQUENCY_EDGES)

# Default source of the word frequencies.
REFERENCE_COUNTS = "references"


def encode_lengths(
    references: Sequence[Texts], metric: BLEU, reference_statistics: Statistics | None = None
) -> tuple[dict[str, Any], bytes]:
    """Return the manifest entry and the block of segment lengths.

    The length of a segment is the number of tokens in its first reference, as `metric` tokenizes
    it, so it depends neither on the systems nor on the metric that the viewer shows.

    reference_statistics: statistics of `metric` for these references, which already contain the
        lengths if there is a single reference.
    """
    if (
        reference_statistics is not None
        and len(references) == 1
        and "reference_length" in reference_statistics.columns
    ):
        token_counts = list(reference_statistics.column("reference_length"))
    else:
        first_references = [
            next((text for text in row if text is not None), b"").decode("utf-8", "surrogatepass")
            for row in zip(*references, strict=True)
        ]
        unigram_bleu = BLEU(tokenize=metric.tokenize, lowercase=metric.lowercase, max_order=1)
        token_counts = list(
            unigram_bleu.statistics(first_references, first_references).column("hypothesis_length")
        )
    manifest_entry = {
        "tokenizer": tokenizers.format_signature_label(metric.tokenize),
        "block": "lengths",
    }
    return manifest_entry, payload.encode_indices(map(int, token_counts))


def encode_frequencies(
    corpus: Corpus, segment_count: int, word_counts: tuple[Mapping[str, int], str] | None = None
) -> tuple[dict[str, Any], bytes]:
    """Return the manifest entry and the block of reference words, binned by frequency.

    word_counts: external word frequencies, such as counts in training data, and their name
        (default: frequencies in these references).

    A row contains the number of reference words per bin, then the matches per system and bin. The
    count of a word is its largest count in any reference. There is a row for each of the
    `segment_count` segments; it contains zeros if the segment was not counted.
    """
    counts, source = word_counts or (None, REFERENCE_COUNTS)
    edges = FREQUENCY_EDGES if counts is None else EXTERNAL_FREQUENCY_EDGES
    frequencies = None
    if counts is not None:
        frequencies = [min(counts.get(word, 0), edges[-1]) for word in corpus.vocabulary()]
    table = corpus.buckets(edges, frequencies)
    manifest_entry = describe_frequencies(len(corpus), edges, source, "frequency")
    if len(table) < segment_count:
        zero_rows = bytes(8 * table.width * (segment_count - len(table)))
        table = table.concatenated(Table.from_bytes(zero_rows, table.width))
    return manifest_entry, payload.encode_table(table)


def describe_frequencies(
    segment_count: int,
    edges: Sequence[int] = FREQUENCY_EDGES,
    source: str = REFERENCE_COUNTS,
    block: str | None = None,
) -> dict[str, Any]:
    """Return the manifest entry of word frequencies. If `block` is None, the page counts them."""
    return {"edges": list(edges), "source": source, "segments": segment_count, "block": block}


def parse_word_counts(value: Any) -> tuple[Mapping[str, int], str]:
    """Return the word counts from a mapping or a file, and the name of their source.

    Each line of a file has a word, a tab and a number.
    """
    if segments.is_file(value):
        file = segments.as_file(value)
        counts: dict[str, int] = {}
        for number, line in enumerate(file.read_lines(), 1):
            word, tab, count = line.rstrip("\r").rpartition("\t")
            if not tab or not is_whole_number(count):
                raise InputError(
                    f"{file.format_label('word counts')}, line {number}: expected a word, a tab "
                    f"and a number, found {line[:80]!r}"
                )
            counts[word] = counts.get(word, 0) + int(count)
        return counts, segments.get_file_name(value) or "a file"
    if not hasattr(value, "items"):
        raise TypeError(
            "word_counts: expected a mapping from words to counts, or a file, found "
            f"{type(value).__name__}"
        )
    for word, count in value.items():
        if type(count) is not int or count < 0:
            raise InputError(f"word_counts: {word!r}: expected a whole number, found {count!r}")
    return value, "given counts"
