"""Scores and signatures of the npm package in Node equal Python's (scores to 12 digits)."""

from __future__ import annotations

import json

import pytest
from closeness import is_close
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import read_example_lines
from strategies import corpora

import truebleu as tb
from truebleu.metrics import registry
from truebleu.text import tokenizers

pytestmark = pytest.mark.thorough

# Parameters of each kind of metric, single and combined.
OPTIONS: dict[str, list[dict]] = {
    "bleu": [
        *(
            {"tokenize": t, "lowercase": lc}
            for t in tokenizers.KERNEL_TOKENIZERS
            for lc in (False, True)
        ),
        {"smoothing": "floor"},
        {"smoothing": "floor", "smoothing_value": 0.25},
        {"smoothing": "add-k", "smoothing_value": 0.125},
        {"smoothing": "add-k", "smoothing_value": 1},
        {"smoothing": "add-k-all", "smoothing_value": 3e-7},
        {"smoothing": "floor", "smoothing_value": 0.00012},
        *(
            {"smoothing": s}
            for s in ("none", "add-k", "add-k-all", "add-k-tiny", "epsilon", "tiny")
        ),
        {"effective_order": True},
        {"effective_order": False, "max_order": 2},
        {"max_order": 1},
        {"max_order": 7, "tokenize": "char"},
        {"weights": [0.5, 0.25, 0.25], "max_order": 3},
        {"weights": [1, 0], "max_order": 2, "lowercase": True},
    ],
    "chrf": [
        {"lowercase": True},
        {"whitespace": True},
        {"eps_smoothing": True},
        {"char_order": 4, "word_order": 1, "beta": 3},
        {"char_order": 0, "word_order": 2, "beta": 0.5},
        {"beta": 0.00002},
    ],
    "chrf++": [{"lowercase": True, "whitespace": True}, {"eps_smoothing": True, "beta": 1}],
    "ter": [
        {"case_sensitive": True},
        {"normalized": True},
        {"no_punct": True},
        {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True},
    ],
    **{
        name: [{"lowercase": True}, {"tokenize": "13a"}, {"tokenize": "intl", "lowercase": True}]
        for name in ("wer", "mer", "wil", "wip")
    },
    "cer": [{"lowercase": True}],
    "moses-mert": [{"tokenize": "13a"}, {"lowercase": True, "max_order": 3}],
    "cdec-koehn": [{"smoothing_value": 0.5}],
    "nltk-corpus-1": [{"smoothing_value": 0.5, "max_order": 2}],
    "sacrebleu-sentence": [{"effective_order": False}, {"tokenize": "zh"}],
}

# Components of a score, in addition to the value and the signature.
COMPONENTS = (
    *("precisions", "recalls", "matches", "totals", "hypothesis_totals", "reference_totals"),
    *("brevity_penalty", "hypothesis_length", "reference_length", "ratio"),
    *("edits", "hits", "substitutions", "deletions", "insertions"),
)


@pytest.fixture(scope="module")
def names(installed) -> list[str]:
    """Return the names that the package accepts."""
    return installed.node("scores.mjs", {"texts": [], "cases": []})["names"]


def list_settings(names: list[str]) -> list[tuple[str, dict]]:
    """Return all names with default parameters and with other parameters."""
    return [(name, {}) for name in names] + [(n, o) for n, all_ in OPTIONS.items() for o in all_]


def get_score_fields(score: tb.Score) -> dict:
    fields = score.to_dict()
    fields["value"] = fields.pop("score")
    names = ("name", "value", "signature", *COMPONENTS)
    return {name: fields[name] for name in names if name in fields}


def get_expected_scores(
    name: str, options: dict, hypotheses: list, references: list, segment: int
) -> dict:
    metric = registry.metric(name, **options)
    try:
        return {
            "score": get_score_fields(metric.score(hypotheses, references)),
            "segments": list(metric.segments(hypotheses, references)),
            "sentence": get_score_fields(metric.sentence(hypotheses[segment], references[segment])),
            "higher": not metric.lower_is_better,
        }
    except tb.InputError as error:
        return {"error": str(error), "kind": "RangeError"}


def check_npm_scores(
    installed, settings_list: list[tuple[str, dict]], texts: list[tuple[list, list]]
) -> None:
    cases = [
        {"name": name, "options": options, "text": i, "segment": len(texts[i][0]) // 2}
        for name, options in settings_list
        for i in range(len(texts))
    ]
    given = {"texts": [{"hypotheses": h, "references": r} for h, r in texts], "cases": cases}
    results = installed.node("scores.mjs", given)["results"]
    for case, result in zip(cases, results, strict=True):
        wanted = get_expected_scores(
            case["name"], case["options"], *texts[case["text"]], case["segment"]
        )
        assert is_close(result, json.loads(json.dumps(wanted))), case


def test_names_are_countable_metrics(names):
    assert names[:4] == ["bleu", "chrf", "chrf+", "chrf++"]
    assert {"ter", "wer", "mer", "wil", "wip", "cer", "moses-mert", "jbleu"} < set(names)


def test_example_scores_equal_python(installed, names):
    columns = (read_example_lines(f"de-en/reference.{name}.en") for name in "ab")
    references = list(map(list, zip(*columns, strict=True)))
    varied = [[a] if i % 3 else [None, a, b] for i, (a, b) in enumerate(references)]
    texts = [
        (read_example_lines("de-en/aspen.en"), references),
        (read_example_lines("de-en/birch.en"), varied),
        (read_example_lines("de-en/cedar.en"), [a for a, _ in references]),
        (read_example_lines("en-zh/birch.zh"), read_example_lines("en-zh/reference.zh")),
    ]
    check_npm_scores(installed, list_settings(names), texts)


def test_difficult_text_scores_equal_python(installed, names, corpus):
    hypotheses, references = corpus
    unusual_texts = [
        *("", " ", "ΑΣ ΣΑΣ", "İstanbul IŞIK", "straße ǅ"),
        *("a \ud800 b \udfff", "&quot;1,000.5-x", "犬"),
    ]
    reference_lists = [[text.lower(), f"{text} and more", "a \udfff b"] for text in unusual_texts]
    texts = [(hypotheses, references), (unusual_texts, reference_lists)]
    check_npm_scores(installed, list_settings(names), texts)


def test_long_reference_scores_equal_python(installed):
    """Mean lengths are stored in fractions of a token, which exceed 32 bits for long texts."""
    long = "a b " * 3_000
    settings_list: list[tuple[str, dict]] = [(n, {}) for n in ("ter", "cdec-koehn", "bleu", "cer")]
    texts = (["a b c d e", "c"], [[long, "a b c d"], [long, "c d"]])
    check_npm_scores(installed, settings_list, [texts])


@settings(max_examples=5)
@given(st.data())
def test_random_text_scores_equal_python(installed, names, data):
    texts = [tuple(data.draw(corpora(8))) for _ in range(5)]
    # Square arrays are ambiguous in JavaScript, because they may be streams.
    texts = [(h, r) for h, r in texts if not all(len(one) == len(h) for one in r)]
    check_npm_scores(installed, list_settings(names), texts)
