"""N-gram lists equal a naive implementation."""

from collections import Counter
from math import log, sqrt

import pytest
from encoded_texts import build_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_bleu import ngrams as plain_ngrams
from strategies import TOKENIZERS, corpora

import truebleu as tb
from truebleu.reports import distinctive_ngrams
from truebleu.text import tokenizers


class NaiveLists:
    """Naive n-gram lists of one order, counted per segment with Python's counters."""

    def __init__(self, systems, references, metric, order):
        split = tokenizers.make_tokenizer(metric.tokenize, metric.lowercase)
        self.produced = [Counter() for _ in systems]
        self.matched = [Counter() for _ in systems]
        self.reference, self.occurrences = Counter(), Counter()
        self.rows = []
        self.seen = {}
        for i, segment_references in enumerate(references):
            texts = [*(column[i] for column in systems), *segment_references]
            counts = [plain_ngrams(split(text), order) for text in texts if text is not None]
            for gram in (gram for count in counts for gram in count):
                self.seen.setdefault(gram, len(self.seen))
            hypotheses, reference_counts = counts[: len(systems)], counts[len(systems) :]
            largest_counts = Counter()
            for counts_of_reference in reference_counts:
                largest_counts |= counts_of_reference
                self.occurrences += counts_of_reference
            self.reference += largest_counts
            self.rows.append((hypotheses, largest_counts))
            for s, hypothesis in enumerate(hypotheses):
                self.produced[s] += hypothesis
                self.matched[s] += hypothesis & largest_counts

    def compute_value(self, kind, systems, gram, row=None):
        """Return the count that ranks an n-gram in a list, for one segment or all."""
        if row is None:
            produced = [self.produced[s][gram] for s in systems]
            matched = [self.matched[s][gram] for s in systems]
            reference = self.reference[gram]
        else:
            hypotheses, largest_counts = row
            produced = [hypotheses[s][gram] for s in systems]
            matched = [min(hypotheses[s][gram], largest_counts[gram]) for s in systems]
            reference = largest_counts[gram]
        if kind == "difference":
            return abs(matched[0] - matched[1])
        if kind == "over":
            return max(h - m for h, m in zip(produced, matched, strict=True))
        return reference - max(matched)

    def compute_surprise(self, kind, systems, gram):
        """Return log-odds and z by Monroe et al. (2008), with all texts as the prior."""

        def count_and_total(counter):
            return counter[gram], counter.total()

        counts = (count_and_total(self.produced[s]) for s in systems)
        system_counts = [sum(column) for column in zip(*counts, strict=True)]
        reference_counts = count_and_total(self.occurrences)
        alpha, alpha_all = (
            (x + y) / (1 + len(systems))
            for x, y in zip(system_counts, reference_counts, strict=True)
        )
        first, second = {
            "difference": [count_and_total(self.matched[s]) for s in systems],
            "over": (system_counts, reference_counts),
            "missed": (reference_counts, system_counts),
        }[kind]

        def odds(count, total):
            return log((count + alpha) / max(0.5, total + alpha_all - count - alpha))

        difference = odds(*first) - odds(*second)
        return difference, difference / sqrt(1 / (first[0] + alpha) + 1 / (second[0] + alpha))

    def rank_ngrams(self, kind, systems, limit):
        """Yield the n-grams of a list with their segments; ties are in corpus order."""
        values = {gram: self.compute_value(kind, systems, gram) for gram in self.seen}
        listed = [gram for gram in self.seen if values[gram]]
        listed.sort(key=lambda gram: (-values[gram], self.seen[gram]))
        for gram in listed[:limit]:
            row_values = [self.compute_value(kind, systems, gram, row) for row in self.rows]
            segment_numbers = [i for i, value in enumerate(row_values) if value > 0]
            yield gram, segment_numbers[: distinctive_ngrams.MAX_EXAMPLE_SEGMENTS]


@st.composite
def draw_systems(draw):
    hypotheses, references = draw(corpora(6))
    further_systems = [draw(st.permutations(hypotheses)) for _ in range(draw(st.integers(0, 2)))]
    return [hypotheses, *further_systems], references


METRIC_STRATEGY = st.builds(
    tb.BLEU,
    st.sampled_from([*TOKENIZERS, str.split]),
    lowercase=st.sampled_from([False, True, "ascii", "after"]),
    max_order=st.integers(1, 5),
)


@given(draw_systems(), METRIC_STRATEGY, st.integers(1, 5), st.integers(1, 5))
def test_lists_equal_naive_implementation(texts, metric, limit, minimum_count):
    systems, references = texts
    corpus = build_corpus(systems, references, metric)
    pairs = [(0, i) for i in range(1, len(systems))] or [(0, None)]
    kernel_lists = corpus.contrasts(
        pairs=pairs,
        limit=limit,
        examples=distinctive_ngrams.MAX_EXAMPLE_SEGMENTS,
        least=minimum_count,
    )
    assert len(kernel_lists) == min(4, metric.max_order)
    for order, by_pair in enumerate(kernel_lists, 1):
        naive = NaiveLists(systems, references, metric, order)
        for (a, b), lists in zip(pairs, by_pair, strict=True):
            systems_in_pair = [a] if b is None else [a, b]
            for kind, grams in zip(distinctive_ngrams.LIST_KINDS, lists, strict=True):
                if kind == "difference" and b is None:
                    assert grams == []
                    continue
                expected = list(naive.rank_ngrams(kind, systems_in_pair, limit))
                assert [(tuple(gram[0]), gram[-1]) for gram in grams] == expected
                for tokens, matched, produced, reference, log_odds, z, _ in grams:
                    gram = tuple(tokens)
                    assert matched == [naive.matched[s][gram] for s in systems_in_pair]
                    assert produced == [naive.produced[s][gram] for s in systems_in_pair]
                    assert reference == naive.reference[gram]
                    surprise = naive.compute_surprise(kind, systems_in_pair, gram)
                    assert (log_odds, z) == pytest.approx(surprise, rel=1e-12, abs=1e-12)


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=0, max_size=12).map(" ".join)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=30, max_size=60), st.integers(2, 400))
def test_pruning_does_not_change_lists(rows, minimum_count):
    first, second, references = zip(*rows, strict=True)
    for systems in ([first, second], [first, [*first[:-1], second[-1]]], [first, first]):
        corpus = build_corpus(systems, [[text] for text in references], tb.BLEU("none"))
        for limit in (1, 3, 50, 1000):
            options = {"pairs": [(0, 1)], "limit": limit, "examples": 3}
            pruned, complete = (corpus.contrasts(**options, least=n) for n in (minimum_count, 1))
            assert pruned == complete


def test_hash_collision_keeps_words_distinct():
    words = [f"international{middle}standardization" for middle in ("re", "er", "RE", "xx", "yy")]
    corpus = build_corpus([words[:1] * 5], [[word] for word in words], tb.BLEU("none"))
    (((_, _, missed),), *_) = corpus.contrasts(pairs=[(0, None)], limit=9, examples=9, least=1)
    assert [gram[0] for gram in missed] == [[word] for word in words[1:]]


# ---- lists of a page ----

A = ["the cat sat on the mat", "the the the the", "nobody was there"]
B = ["a cat sat on a mat", "the end", "nobody was there"]
REFERENCES = [["the cat sat on a mat"], ["the end", "the the end"], ["no one was there"]]


def list_ngrams(systems=(A, B), references=REFERENCES, metric=None, pairs=((0, 1),)):
    metric = metric or tb.BLEU()
    return distinctive_ngrams.list_distinctive_ngrams(
        build_corpus(systems, references, metric), metric, pairs
    )


def index_by_ngram(entries):
    return {" ".join(entry["tokens"]): entry for entry in entries}


def test_example_lists():
    entry = list_ngrams()
    assert entry["orders"] == 4
    assert (entry["label"], entry["lowercase"]) == ("13a", False)
    assert entry["segments"] == 3
    (pair,) = entry["pairs"]
    assert (pair["a"], pair["b"]) == (0, 1)
    lists = {kind: index_by_ngram(entries) for kind, entries in pair["lists"].items()}
    assert list(lists) == ["difference", "over", "missed"]
    # A matches "the" once in the first segment and, clipped, twice in the second; B once.
    the = lists["difference"]["the"]
    assert (the["matched"], the["produced"], the["reference"]) == ([3, 1], [6, 1], 3)
    assert the["segments"] == [0, 1]
    assert lists["over"]["the the the"]["segments"] == [1]
    assert lists["missed"]["no one"]["segments"] == [2]
    assert "there" not in lists["missed"]


def test_single_system_has_no_differences():
    (pair,) = list_ngrams([A], pairs=[(0, None)])["pairs"]
    assert pair["b"] is None
    assert list(pair["lists"]) == ["over", "missed"]
    assert index_by_ngram(pair["lists"]["over"])["the"]["matched"] == [3]


def test_log_odds_of_one_word_text_are_finite():
    listed_entry = list_ngrams([["a", "a"], ["b", "a"]], [["a"], ["a"]])
    for entry in listed_entry["pairs"][0]["lists"]["difference"]:
        assert abs(entry["log_odds"]) < 100


def test_many_pairs_shorten_lists():
    assert list_ngrams([A] * 9, pairs=[(0, i) for i in range(1, 9)])["limit"] == 100


def test_custom_tokenizer_tokens_are_listed():
    def split_letters(text):
        return list(text)

    listed_entry = list_ngrams([["ab"]], [["abc"]], tb.BLEU(split_letters), [(0, None)])
    assert "split_letters" in listed_entry["label"]
    missed = listed_entry["pairs"][0]["lists"]["missed"]
    assert [entry["tokens"] for entry in missed] == [["c"], ["b", "c"], ["a", "b", "c"]]


def test_large_corpus_is_truncated():
    corpus = build_corpus([["a b"] * 50_000], [["a c"]] * 50_000, tb.BLEU(), max_tokens=1000)
    assert corpus.truncated
    assert 250 <= len(corpus) < 50_000
    assert not build_corpus([A], REFERENCES, tb.BLEU()).truncated


def test_line_ends_and_surrogates_are_tokenized():
    listed_entry = list_ngrams([["a\nb \ud800"]], [["b \ud800"]], tb.BLEU("none"), [(0, None)])
    over = listed_entry["pairs"][0]["lists"]["over"]
    assert [entry["tokens"] for entry in over][:2] == [["a"], ["a", "b"]]


def test_missing_hypothesis_is_refused():
    with pytest.raises(tb.InputError, match="segment 2 is missing"):
        distinctive_ngrams.build_corpus([[b"a", None]], [[b"a", b"b"]], tb.BLEU())
