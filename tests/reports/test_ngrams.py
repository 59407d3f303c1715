"""The lists of n-grams are those of the definition, however they were found."""

from collections import Counter
from math import isclose, log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_bleu import ngrams as plain_ngrams
from strategies import TOKENIZERS, corpora

import truebleu as tb
from truebleu.reports import distinctive_ngrams
from truebleu.text import tokenizers


def encoded(texts):
    return [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]


def columns(references):
    width = max(map(len, references))
    return [encoded(row[i] if i < len(row) else None for row in references) for i in range(width)]


def read(systems, references, metric, **options):
    return distinctive_ngrams.build_corpus(
        [encoded(one) for one in systems], columns(references), metric, **options
    )


class Plain:
    """N-grams of one order, counted segment by segment with Python's own counters."""

    def __init__(self, systems, references, metric, order):
        split = tokenizers.make_tokenizer(metric.tokenize, metric.lowercase)
        self.produced = [Counter() for _ in systems]
        self.matched = [Counter() for _ in systems]
        self.reference, self.occurrences = Counter(), Counter()
        self.rows = []
        self.seen = {}
        for i, several in enumerate(references):
            counts = [
                plain_ngrams(split(text), order)
                for text in [*(one[i] for one in systems), *(r for r in several if r is not None)]
            ]
            for gram in (gram for count in counts for gram in count):
                self.seen.setdefault(gram, len(self.seen))
            hypotheses, others = counts[: len(systems)], counts[len(systems) :]
            most = Counter()
            for other in others:
                most |= other
                self.occurrences += other
            self.reference += most
            self.rows.append((hypotheses, most))
            for s, hypothesis in enumerate(hypotheses):
                self.produced[s] += hypothesis
                self.matched[s] += hypothesis & most

    def value(self, kind, systems, gram, row=None):
        """By how much an n-gram is in a list, because of one segment or of all."""
        if row is None:
            produced = [self.produced[s][gram] for s in systems]
            matched = [self.matched[s][gram] for s in systems]
            reference = self.reference[gram]
        else:
            hypotheses, most = row
            produced = [hypotheses[s][gram] for s in systems]
            matched = [min(hypotheses[s][gram], most[gram]) for s in systems]
            reference = most[gram]
        if kind == "difference":
            return abs(matched[0] - matched[1])
        if kind == "over":
            return max(h - m for h, m in zip(produced, matched, strict=True))
        return reference - max(matched)

    def surprise(self, kind, systems, gram):
        """The log-odds of Monroe and others, with all that the lists are of as the prior; and z."""

        def there(counter):
            return counter[gram], counter.total()

        ours = [sum(one) for one in zip(*(there(self.produced[s]) for s in systems), strict=True)]
        theirs = there(self.occurrences)
        alpha, alpha_all = ((x + y) / (1 + len(systems)) for x, y in zip(ours, theirs, strict=True))
        one, other = {
            "difference": [there(self.matched[s]) for s in systems],
            "over": (ours, theirs),
            "missed": (theirs, ours),
        }[kind]

        def odds(count, total):
            return log((count + alpha) / max(0.5, total + alpha_all - count - alpha))

        difference = odds(*one) - odds(*other)
        return difference, difference / sqrt(1 / (one[0] + alpha) + 1 / (other[0] + alpha))

    def listed(self, kind, systems, limit):
        """The n-grams of a list with their segments, the first in the corpus first among equals."""
        values = {gram: self.value(kind, systems, gram) for gram in self.seen}
        chosen = sorted(
            (gram for gram, value in values.items() if value),
            key=lambda gram: (-values[gram], self.seen[gram]),
        )[:limit]
        for gram in chosen:
            where = [
                i for i, row in enumerate(self.rows) if self.value(kind, systems, gram, row) > 0
            ]
            yield gram, where[: distinctive_ngrams.MAX_EXAMPLE_SEGMENTS]


@st.composite
def several_systems(draw):
    hypotheses, references = draw(corpora(6))
    others = [draw(st.permutations(hypotheses)) for _ in range(draw(st.integers(0, 2)))]
    return [hypotheses, *others], references


METRICS = st.builds(
    tb.BLEU,
    st.sampled_from([*TOKENIZERS, str.split]),
    lowercase=st.sampled_from([False, True, "ascii", "after"]),
    max_order=st.integers(1, 5),
)


@given(several_systems(), METRICS, st.integers(1, 5), st.integers(1, 5))
def test_lists_are_those_of_the_definition(texts, metric, limit, least):
    systems, references = texts
    corpus = read(systems, references, metric)
    pairs = [(0, i) for i in range(1, len(systems))] or [(0, None)]
    found = corpus.contrasts(
        pairs=pairs, limit=limit, examples=distinctive_ngrams.MAX_EXAMPLE_SEGMENTS, least=least
    )
    assert len(found) == min(4, metric.max_order)
    for order, by_pair in enumerate(found, 1):
        plain = Plain(systems, references, metric, order)
        for (a, b), lists in zip(pairs, by_pair, strict=True):
            who = [a] if b is None else [a, b]
            for kind, grams in zip(distinctive_ngrams.LIST_KINDS, lists, strict=True):
                if kind == "difference" and b is None:
                    assert grams == []
                    continue
                expected = list(plain.listed(kind, who, limit))
                assert [(tuple(gram[0]), gram[-1]) for gram in grams] == expected
                for tokens, matched, produced, reference, log_odds, z, _ in grams:
                    gram = tuple(tokens)
                    assert matched == [plain.matched[s][gram] for s in who]
                    assert produced == [plain.produced[s][gram] for s in who]
                    assert reference == plain.reference[gram]
                    surprise = plain.surprise(kind, who, gram)
                    assert (log_odds, z) == pytest.approx(surprise, rel=1e-12, abs=1e-12)


@given(several_systems(), METRICS)
def test_what_is_counted_is_what_bleu_counts(texts, metric):
    systems, references = texts
    for order in range(1, min(4, metric.max_order) + 1):
        plain = Plain(systems, references, metric, order)
        for system, hypotheses in enumerate(systems):
            table = metric.statistics(hypotheses, [*map(tuple, references)]).sum()
            assert plain.matched[system].total() == table.column(f"matches_{order}")[0]
            assert plain.produced[system].total() == table.column(f"totals_{order}")[0]


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=0, max_size=12).map(" ".join)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=30, max_size=60), st.integers(2, 400))
def test_what_is_left_out_on_the_way_is_missing_from_no_list(rows, least):
    one, other, references = zip(*rows, strict=True)
    for systems in ([one, other], [one, [*one[:-1], other[-1]]], [one, one]):
        corpus = read(systems, [[text] for text in references], tb.BLEU("none"))
        for limit in (1, 3, 50, 1000):
            options = {"pairs": [(0, 1)], "limit": limit, "examples": 3}
            assert corpus.contrasts(**options, least=least) == corpus.contrasts(**options, least=1)


def test_words_that_share_a_hash_are_told_apart():
    words = [f"international{middle}standardization" for middle in ("re", "er", "RE", "xx", "yy")]
    corpus = read([words[:1] * 5], [[word] for word in words], tb.BLEU("none"))
    (((_, _, missed),), *_) = corpus.contrasts(pairs=[(0, None)], limit=9, examples=9, least=1)
    assert [gram[0] for gram in missed] == [[word] for word in words[1:]]


# ---- what a page gets ----

A = ["the cat sat on the mat", "the the the the", "nobody was there"]
B = ["a cat sat on a mat", "the end", "nobody was there"]
REFERENCES = [["the cat sat on a mat"], ["the end", "the the end"], ["no one was there"]]


def lists(systems=(A, B), references=REFERENCES, metric=None, pairs=((0, 1),)):
    metric = metric or tb.BLEU()
    return distinctive_ngrams.list_distinctive_ngrams(
        read(systems, references, metric), metric, pairs
    )


def named(entries):
    return {" ".join(entry["tokens"]): entry for entry in entries}


def test_an_example():
    told = lists()
    assert told["orders"] == 4
    assert (told["label"], told["lowercase"]) == ("13a", False)
    assert told["segments"] == 3
    (pair,) = told["pairs"]
    assert (pair["a"], pair["b"]) == (0, 1)
    assert list(pair["lists"]) == ["difference", "over", "missed"]
    difference = named(pair["lists"]["difference"])
    # A matches it once in the first segment and, clipped, twice in the second; B once there.
    assert difference["the"]["matched"] == [3, 1]
    assert difference["the"]["produced"] == [6, 1]
    assert difference["the"]["reference"] == 3
    assert difference["the"]["segments"] == [0, 1]
    assert difference["on a mat"]["matched"] == [0, 1]
    over = named(pair["lists"]["over"])
    assert over["the the the"]["produced"] == [2, 0]
    assert over["the the the"]["segments"] == [1]
    missed = named(pair["lists"]["missed"])
    assert missed["no one"]["reference"] == 1
    assert missed["no one"]["segments"] == [2]
    assert "there" not in missed


def test_one_system_has_no_differences():
    (pair,) = lists([A], pairs=[(0, None)])["pairs"]
    assert pair["b"] is None
    assert list(pair["lists"]) == ["over", "missed"]
    assert named(pair["lists"]["over"])["the"]["matched"] == [3]


def test_log_odds_are_those_of_monroe_and_others():
    (pair,) = lists()["pairs"]
    entry = named(pair["lists"]["difference"])["the"]
    # Of 13 words of A 9 match, and of 11 of B 9; the references have 15, of which 4 are "the".
    produced, matched, references = (13, 11), (9, 9), 15
    alpha = (6 + 1 + 4) / 3
    alpha_all = (sum(produced) + references) / 3
    one = log((3 + alpha) / (matched[0] + alpha_all - 3 - alpha))
    other = log((1 + alpha) / (matched[1] + alpha_all - 1 - alpha))
    assert isclose(entry["log_odds"], one - other)
    assert isclose(entry["z"], (one - other) / sqrt(1 / (3 + alpha) + 1 / (1 + alpha)))


def test_signs_of_log_odds():
    (pair,) = lists()["pairs"]
    assert named(pair["lists"]["difference"])["on a mat"]["log_odds"] < 0
    assert named(pair["lists"]["over"])["the the the"]["log_odds"] > 0
    assert named(pair["lists"]["missed"])["no one"]["log_odds"] > 0


def test_log_odds_of_a_text_that_is_one_word():
    told = lists([["a", "a"], ["b", "a"]], [["a"], ["a"]])
    for entry in told["pairs"][0]["lists"]["difference"]:
        assert abs(entry["log_odds"]) < 100


def test_many_pairs_have_shorter_lists():
    assert lists([A] * 9, pairs=[(0, i) for i in range(1, 9)])["limit"] == 100


def test_tokens_of_a_tokenizer_of_ones_own():
    def letters(text):
        return list(text)

    told = lists([["ab"]], [["abc"]], tb.BLEU(letters), [(0, None)])
    assert "letters" in told["label"]
    missed = told["pairs"][0]["lists"]["missed"]
    assert [entry["tokens"] for entry in missed] == [["c"], ["b", "c"], ["a", "b", "c"]]


def test_of_too_large_a_corpus_the_first_segments_are_counted():
    corpus = read([["a b"] * 50_000], [["a c"]] * 50_000, tb.BLEU(), max_tokens=1000)
    assert corpus.truncated
    assert 250 <= len(corpus) < 50_000
    assert not read([A], REFERENCES, tb.BLEU()).truncated


def test_texts_with_line_ends_and_surrogates():
    told = lists([["a\nb \ud800"]], [["b \ud800"]], tb.BLEU("none"), [(0, None)])
    over = told["pairs"][0]["lists"]["over"]
    assert [entry["tokens"] for entry in over][:2] == [["a"], ["a", "b"]]


def test_a_system_without_a_text_is_refused():
    with pytest.raises(tb.InputError, match="segment 2 is missing"):
        distinctive_ngrams.build_corpus([[b"a", None]], [[b"a", b"b"]], tb.BLEU())
