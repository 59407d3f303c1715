"""SARI equals the programs that it is named after, and an independent count of n-grams."""

import json
import re
import shlex
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from paths import ROOT
from strategies import corpora

import truebleu as tb
from truebleu.metrics.sari import SARI

SOURCES = ["The Committee postponed the decision .", "birds migrate south in autumn ."]
HYPOTHESES = ["the committee delayed the decision .", "birds fly south ."]
REFERENCES = [
    ("The committee delayed its decision .", "They decided later ."),
    ("Birds fly south in autumn .", None),
]

# Key in sari.jsonl, metric, and parameters.
COLUMNS = [
    ("easse_legacy", "sari-legacy", {}),
    ("easse_paper_version", "sari-paper", {}),
    ("easse_del_precision", "sari", {"deletion": "precision"}),
    ("original", "sari-original", {}),
    ("hf_evaluate", "sari-hf", {}),
]


@pytest.fixture(scope="module")
def golden_rows(shared):
    path = shared / "reference" / "captions-sari" / "sari.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def get_texts(row):
    return row["hypothesis"], row["references"], row["source"]


def test_sentence_equals_easse(golden_rows):
    for row in golden_rows[:-1]:
        score = SARI().sentence(*get_texts(row))
        easse = row["easse"]
        assert score.value == easse["sari"], row["name"]
        assert list(score.details().values()) == [easse["add"], easse["keep"], easse["del"]]


@pytest.mark.parametrize(("key", "name", "parameters"), COLUMNS)
def test_sentence_equals_program(key, name, parameters, golden_rows):
    metric = tb.metric(name, **parameters)
    for row in golden_rows[:-1]:
        assert metric.sentence(*get_texts(row)).value == row[key], row["name"]


def test_sentence_equals_tensor2tensor(golden_rows):
    for row in golden_rows[:-1]:
        score = tb.metric("sari-t2t").sentence(*get_texts(row))
        values = [score.value, *(score.details()[name] for name in ("keep", "add", "delete"))]
        # tensor2tensor adds shares of references; truebleu adds integers and divides once.
        assert values == pytest.approx(row["t2t_lowercased_words"], rel=1e-15)


def test_corpus_equals_programs(golden_rows):
    rows = {row["name"]: row for row in golden_rows}
    corpus = golden_rows[-1]
    texts = list(zip(*(get_texts(rows[name]) for name in corpus["cases"]), strict=True))
    score = SARI().score(*texts, check_text=False)
    assert score.value == corpus["easse"]["sari"]
    columns = [[score.row[9 * n + k] for n in range(4)] for k in range(9)]
    assert columns == corpus["easse_statistics"]
    for key, name, parameters in COLUMNS[:3]:
        assert tb.metric(name, **parameters).score(*texts, check_text=False).value == corpus[key]
    for key, name in (("mean_original", "sari-original"), ("mean_hf_evaluate", "sari-hf")):
        value = tb.metric(name).score(*texts, check_text=False).value
        assert value == pytest.approx(corpus[key], rel=1e-15)
    values = SARI().segments(*texts)
    assert sum(values) / len(values) == corpus["mean_easse_sentence"]


def count_naively(hypothesis, references, source, n):
    """Return the nine counts of an order, from the definition in EASSE's documentation."""

    def count(text, times=1):
        tokens = tb.tokenize(text, "13a", lowercase=True)
        ngrams = zip(*(tokens[i:] for i in range(n)), strict=False)
        return Counter({ngram: times * k for ngram, k in Counter(ngrams).items()})

    c, s = (count(text, len(references)) for text in (hypothesis, source))
    r = sum(map(count, references), Counter())
    sides = ((set(c) - set(s), set(r) - set(s)), (s & c, s & r), (s - c, s - r))
    sizes = [
        (a & b, a, b) if isinstance(a, set) else ((a & b).elements(), a.elements(), b.elements())
        for a, b in sides
    ]
    return [len(list(side)) for three in sizes for side in three]


@given(corpora())
def test_statistics_equal_naive_counts(corpus):
    hypotheses, references = corpus[0], list(map(tuple, corpus[1]))
    sources = [*hypotheses[1:], next(text for text in references[0] if text is not None)]
    rows = SARI().statistics(hypotheses, references, sources).tolist()
    for row, text, refs, source in zip(rows, hypotheses, references, sources, strict=True):
        present = [text for text in refs if text is not None]
        expected = [count_naively(text, present, source, n) for n in range(1, 5)]
        assert row == [*chain.from_iterable(expected)]


@given(corpora())
@pytest.mark.parametrize("average", ["orders", "precisions"])
@pytest.mark.parametrize("deletion", ["f1", "precision"])
def test_kernel_formula_equals_python_formula(average, deletion, corpus):
    metric = SARI(average=average, deletion=deletion)
    texts = (corpus[0], list(map(tuple, corpus[1])), corpus[0][::-1])
    table = metric.statistics(*texts)
    values = [metric._apply_formula(row, segment=True)[0] for row in table.tolist()]
    assert metric.segment_scores(table).tolist() == values
    assert metric.segments(*texts).tolist() == values
    (total,) = metric.scores(table.total())
    assert metric.score(*texts, check_text=False).value == total


def test_missing_reference_does_not_count():
    first = SARI().sentence(HYPOTHESES[1], REFERENCES[1], SOURCES[1])
    assert first.row == SARI().sentence(HYPOTHESES[1], REFERENCES[1][:1], SOURCES[1]).row
    assert SARI().score(HYPOTHESES, REFERENCES, SOURCES).signature["nrefs"] == "var"


def test_custom_tokenizer_and_tokens_give_same_counts():
    texts = HYPOTHESES, REFERENCES, SOURCES
    expected = SARI("none").statistics(*texts).tolist()
    assert SARI(str.split).statistics(*texts).tolist() == expected
    lowered = [
        [text.lower().split() for text in HYPOTHESES],
        [[text.lower().split() for text in refs if text] for refs in REFERENCES],
        [text.lower().split() for text in SOURCES],
    ]
    assert SARI("none", lowercase=False).statistics(*lowered).tolist() == expected


@pytest.mark.parametrize("name", ["sari", "sari-hf", "gec-gleu", "ibleu"])
@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (None, "needs the source of each segment"),
        (SOURCES[:1], "different numbers of segments: .*sources 1"),
        ([SOURCES[0], None], r"sources: segment 2 is missing \(None\). Every segment needs a sou"),
    ],
)
def test_unsuitable_sources_raise_error(name, sources, message):
    with pytest.raises(tb.InputError, match=message):
        tb.metric(name).score(HYPOTHESES, REFERENCES, sources)


@pytest.mark.parametrize("name", ["sari", "sari-hf"])
def test_segment_without_references_raises_error(name):
    with pytest.raises(tb.InputError, match="segment 2 has no reference"):
        tb.metric(name).score(HYPOTHESES, [REFERENCES[0], [None]], SOURCES)


def test_page_about_simplification_runs_in_empty_folder(truebleu_command, tmp_path):
    page = (ROOT / "docs" / "how-to" / "simplification.md").read_text("utf-8")
    blocks = re.findall(r"```(sh|text)\n(.*?)```", page, re.DOTALL)
    outputs = []
    for kind, block in blocks:
        for line in block.splitlines() if kind == "sh" else ():
            command, *words = shlex.split(line)
            if command == "printf":
                *lines, _, name = words[1:]
                (tmp_path / name).write_text("\n".join(lines) + "\n")
            else:
                assert command == "truebleu"
                result = truebleu_command(*words, cwd=tmp_path)
                assert result.status == 0, result.error
                outputs.append(result.output)
        if kind == "text":
            assert any(block in output for output in outputs)
    assert (tmp_path / "report.html").exists()
