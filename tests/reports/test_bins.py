"""Word frequencies: rows equal a naive implementation and sum to BLEU's counts."""

from bisect import bisect_right
from collections import Counter

import pytest
from encoded_texts import build_corpus
from hypothesis import given
from hypothesis import strategies as st
from page_parser import decode_rows
from strategies import TOKENIZERS, corpora

import truebleu as tb
from truebleu.reports import bins
from truebleu.text import tokenizers


def name_bin_columns(entry, systems):
    """Return the column names: reference words per bin, then matches per system and bin."""
    row_names = ["reference", *(f"matched_{system}" for system in range(systems))]
    return [f"{name}_{bin_index}" for name in row_names for bin_index in range(len(entry["edges"]))]


def decode_bin_rows(entry, block, segments, systems):
    columns = name_bin_columns(entry, systems)
    rows = decode_rows(block, segments, len(columns))
    return [dict(zip(columns, row, strict=True)) for row in rows]


@given(
    corpora(),
    st.sampled_from([*TOKENIZERS, str.split]),
    st.none()
    | st.dictionaries(st.sampled_from(["the", "cat", "The", "a", "."]), st.integers(0, 3000)),
)
def test_rows_equal_naive_counts(texts, tokenize, counts):
    hypotheses, references = texts
    systems = [hypotheses, hypotheses[::-1]]
    metric = tb.BLEU(tokenize)
    entry, block = bins.encode_frequencies(
        build_corpus(systems, references, metric),
        len(hypotheses),
        None if counts is None else (counts, "counts.tsv"),
    )
    split = tokenizers.make_tokenizer(tokenize)
    segments = [[Counter(split(text)) for text in row if text is not None] for row in references]
    frequencies = Counter(counts)
    if counts is None:
        frequencies = sum((count for row in segments for count in row), Counter())
    expected = []
    for i, reference_counts in enumerate(segments):
        largest_counts = Counter()
        for counts_of_reference in reference_counts:
            largest_counts |= counts_of_reference
        row = dict.fromkeys(name_bin_columns(entry, len(systems)), 0)
        for word, word_count in largest_counts.items():
            bin_index = bisect_right(entry["edges"], frequencies[word]) - 1
            row[f"reference_{bin_index}"] += word_count
            for number, system in enumerate(systems):
                system_count = split(system[i]).count(word)
                row[f"matched_{number}_{bin_index}"] += min(word_count, system_count)
        expected.append(row)
    assert decode_bin_rows(entry, block, len(hypotheses), len(systems)) == expected
    for number, system in enumerate(systems):
        matched = sum(v for row in expected for k, v in row.items() if f"matched_{number}_" in k)
        totals = metric.statistics(system, [*map(tuple, references)]).sum()
        assert matched == totals.column("matches_1")[0]


def test_default_entry_has_edges_and_source():
    corpus = build_corpus([["a b"]], [["a b"]], tb.BLEU())
    entry, _ = bins.encode_frequencies(corpus, 1)
    assert entry["edges"] == [1, 2, 5, 10, 100, 1000]
    assert (entry["source"], entry["segments"], entry["block"]) == ("references", 1, "frequency")


def test_external_counts_define_bins(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text("often\t1000\nsome\t3\nsome\t2\r\n", encoding="utf-8")
    counts, source = bins.parse_word_counts(tb.File(path))
    assert counts == {"often": 1000, "some": 5}
    assert source == "counts.tsv"
    corpus = build_corpus([["often some never"]], [["often some never"]], tb.BLEU())
    entry, block = bins.encode_frequencies(corpus, 1, (counts, source))
    assert entry["edges"] == [0, 1, 2, 5, 10, 100, 1000]
    assert entry["source"] == "counts.tsv"
    (row,) = decode_bin_rows(entry, block, 1, 1)
    assert {name for name, count in row.items() if count and "reference" in name} == {
        *("reference_0", "reference_3", "reference_6")
    }


@pytest.mark.parametrize("line", ["word", "word 3", "word\t-3", "word\t3.5", "word\t٣"])
def test_invalid_count_line_is_named(tmp_path, line):
    path = tmp_path / "counts.tsv"
    path.write_text(f"a\t1\n{line}\n", encoding="utf-8")
    message = r"counts\.tsv\), line 2: expected a word, a tab and a number"
    with pytest.raises(tb.InputError, match=message):
        bins.parse_word_counts(path)


def test_invalid_count_mapping_is_refused():
    with pytest.raises(tb.InputError, match=r"'a': expected a whole number, found 1\.5"):
        bins.parse_word_counts({"a": 1.5})
    with pytest.raises(TypeError, match="expected a mapping from words to counts"):
        bins.parse_word_counts(["a"])


def test_uncounted_segments_have_zeros():
    corpus = build_corpus([["a"]], [["a"]], tb.BLEU())
    entry, block = bins.encode_frequencies(corpus, 3)
    assert entry["segments"] == 1
    assert [row["reference_0"] for row in decode_bin_rows(entry, block, 3, 1)] == [1, 0, 0]
