"""Words by frequency: the rows are those of the definition, and add up to BLEU's own counts."""

from bisect import bisect_right
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parser import decoded_rows
from strategies import TOKENIZERS, corpora

import truebleu as tb
from truebleu.reports import bins, distinctive_ngrams
from truebleu.text import tokenizers


def read(systems, references, metric):
    def encoded(texts):
        return [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]

    width = max(map(len, references))
    streams = [[row[i] if i < len(row) else None for row in references] for i in range(width)]
    return distinctive_ngrams.build_corpus(
        list(map(encoded, systems)), list(map(encoded, streams)), metric
    )


def columns(told, systems):
    """The references' words of each bucket, then those of them that each system has."""
    of = ["reference", *(f"matched_{system}" for system in range(systems))]
    return [f"{name}_{bucket}" for name in of for bucket in range(len(told["edges"]))]


def rows_of(told, block, segments, systems):
    names = columns(told, systems)
    rows = decoded_rows(block, segments, len(names))
    return [dict(zip(names, row, strict=True)) for row in rows]


@given(
    corpora(),
    st.sampled_from([*TOKENIZERS, str.split]),
    st.none()
    | st.dictionaries(st.sampled_from(["the", "cat", "The", "a", "."]), st.integers(0, 3000)),
)
def test_rows_are_those_of_the_definition(texts, tokenize, counts):
    hypotheses, references = texts
    systems = [hypotheses, hypotheses[::-1]]
    metric = tb.BLEU(tokenize)
    told, block = bins.encode_frequencies(
        read(systems, references, metric),
        len(hypotheses),
        None if counts is None else (counts, "counts.tsv"),
    )
    split = tokenizers.make_tokenizer(tokenize)
    segments = [[Counter(split(text)) for text in row if text is not None] for row in references]
    if counts is None:
        frequencies = sum((count for row in segments for count in row), Counter())
    else:
        frequencies = Counter(counts)
    expected = []
    for i, several in enumerate(segments):
        most = Counter()
        for one in several:
            most |= one
        row = dict.fromkeys(columns(told, len(systems)), 0)
        for word, times in most.items():
            bucket = bisect_right(told["edges"], frequencies[word]) - 1
            row[f"reference_{bucket}"] += times
            for number, system in enumerate(systems):
                row[f"matched_{number}_{bucket}"] += min(times, Counter(split(system[i]))[word])
        expected.append(row)
    assert rows_of(told, block, len(hypotheses), len(systems)) == expected
    for number, system in enumerate(systems):
        matched = sum(v for row in expected for k, v in row.items() if f"matched_{number}_" in k)
        assert (
            matched
            == metric.statistics(system, [*map(tuple, references)]).sum().column("matches_1")[0]
        )


def test_edges():
    corpus = read([["a b"]], [["a b"]], tb.BLEU())
    told, _ = bins.encode_frequencies(corpus, 1)
    assert told["edges"] == [1, 2, 5, 10, 100, 1000]
    assert (told["source"], told["segments"], told["block"]) == ("references", 1, "frequency")


def test_a_word_is_in_the_bucket_that_its_frequency_begins():
    hypotheses = ["rare often"]
    references = [["rare often"], *[["often"]] * 9]
    corpus = read([hypotheses + ["none"] * 9], references, tb.BLEU())
    told, block = bins.encode_frequencies(corpus, 10)
    first, *_, last = rows_of(told, block, 10, 1)
    assert {name for name, count in first.items() if count} == {
        *("reference_0", "reference_3", "matched_0_0", "matched_0_3")
    }
    assert {name for name, count in last.items() if count} == {"reference_3"}


def test_counts_from_elsewhere(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text("often\t1000\nsome\t3\nsome\t2\r\n", encoding="utf-8")
    counts, source = bins.parse_word_counts(tb.File(path))
    assert counts == {"often": 1000, "some": 5}
    assert source == "counts.tsv"
    corpus = read([["often some never"]], [["often some never"]], tb.BLEU())
    told, block = bins.encode_frequencies(corpus, 1, (counts, source))
    assert told["edges"] == [0, 1, 2, 5, 10, 100, 1000]
    assert told["source"] == "counts.tsv"
    (row,) = rows_of(told, block, 1, 1)
    assert {name for name, count in row.items() if count and "reference" in name} == {
        *("reference_0", "reference_3", "reference_6")
    }


@pytest.mark.parametrize("line", ["word", "word 3", "word\t-3", "word\t3.5", "word\t٣"])
def test_lines_that_are_no_counts_are_named(tmp_path, line):
    path = tmp_path / "counts.tsv"
    path.write_text(f"a\t1\n{line}\n", encoding="utf-8")
    with pytest.raises(
        tb.InputError, match=r"counts\.tsv\), line 2: expected a word, a tab and a number"
    ):
        bins.parse_word_counts(path)


def test_mappings_that_are_no_counts_are_refused():
    with pytest.raises(tb.InputError, match=r"'a': expected a whole number, found 1\.5"):
        bins.parse_word_counts({"a": 1.5})
    with pytest.raises(TypeError, match="expected a mapping from words to counts"):
        bins.parse_word_counts(["a"])


def test_segments_that_were_not_counted_have_zeros():
    corpus = read([["a"]], [["a"]], tb.BLEU())
    told, block = bins.encode_frequencies(corpus, 3)
    assert told["segments"] == 1
    assert [row["reference_0"] for row in rows_of(told, block, 3, 1)] == [1, 0, 0]
