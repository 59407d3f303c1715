"""The package for npm gives Python's numbers, to 12 digits, and signatures, under Node."""

from __future__ import annotations

import json
import sys

import pytest
from closeness import is_close
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import EXAMPLES
from strategies import corpora

import truebleu as tb
from truebleu.metrics import registry
from truebleu.text import tokenizers

pytestmark = pytest.mark.thorough

# The parameters of each kind of metric, one after the other and some together.
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

# Beside the value and the signature: what a score is made of.
MADE_OF = (
    *("precisions", "recalls", "matches", "totals", "hypothesis_totals", "reference_totals"),
    *("brevity_penalty", "hypothesis_length", "reference_length", "ratio"),
    *("edits", "hits", "substitutions", "deletions", "insertions"),
)


@pytest.fixture(scope="module")
def names(installed) -> list[str]:
    """The names that the package takes."""
    return installed.node("scores.mjs", {"texts": [], "cases": []})["names"]


def settings_of(names: list[str]) -> list[tuple[str, dict]]:
    """Every name as it is, and with other parameters."""
    return [(name, {}) for name in names] + [(n, o) for n, all_ in OPTIONS.items() for o in all_]


def of_score(score: tb.Score) -> dict:
    made = score.to_dict()
    told = {"name": made["name"], "value": made["score"], "signature": made["signature"]}
    return told | {name: made[name] for name in MADE_OF if name in made}


def expected(name: str, options: dict, hypotheses: list, references: list, segment: int) -> dict:
    metric = registry.metric(name, **options)
    try:
        return {
            "score": of_score(metric.score(hypotheses, references)),
            "segments": list(metric.segments(hypotheses, references)),
            "sentence": of_score(metric.sentence(hypotheses[segment], references[segment])),
            "higher": not metric.lower_is_better,
        }
    except tb.InputError as error:
        return {"error": str(error), "kind": "RangeError"}


def check(installed, chosen: list[tuple[str, dict]], texts: list[tuple[list, list]]) -> int:
    """Holds the package beside Python; how many scores of segments that were."""
    cases = [
        {"name": name, "options": options, "text": i, "segment": len(texts[i][0]) // 2}
        for name, options in chosen
        for i in range(len(texts))
    ]
    given = {"texts": [{"hypotheses": h, "references": r} for h, r in texts], "cases": cases}
    found = installed.node("scores.mjs", given)["results"]
    for case, own in zip(cases, found, strict=True):
        wanted = expected(case["name"], case["options"], *texts[case["text"]], case["segment"])
        assert is_close(own, json.loads(json.dumps(wanted))), (
            case["name"],
            case["options"],
            case["text"],
        )
    return sum(len(own.get("segments", ())) for own in found)


def lines(path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def test_the_names_are_what_a_page_counts(names):
    assert names[:4] == ["bleu", "chrf", "chrf+", "chrf++"]
    assert {"ter", "wer", "mer", "wil", "wip", "cer", "moses-mert", "jbleu"} < set(names)


def test_the_examples_give_pythons_numbers(installed, names):
    german = EXAMPLES / "de-en"
    references = list(
        map(
            list,
            zip(lines(german / "reference.a.en"), lines(german / "reference.b.en"), strict=True),
        )
    )
    varied = [[a] if i % 3 else [None, a, b] for i, (a, b) in enumerate(references)]
    chinese = EXAMPLES / "en-zh"
    texts = [
        (lines(german / "aspen.en"), references),
        (lines(german / "birch.en"), varied),
        (lines(german / "cedar.en"), [a for a, _ in references]),
        (lines(chinese / "birch.zh"), lines(chinese / "reference.zh")),
    ]
    check(installed, settings_of(names), texts)


@pytest.mark.thorough
def test_hard_text_gives_pythons_numbers(installed, names, corpus):
    hypotheses, references = corpus
    odd = [
        "",
        " ",
        "ΑΣ ΣΑΣ",
        "İstanbul IŞIK",
        "straße ǅ",
        "a \ud800 b \udfff",
        "&quot;1,000.5-x",
        "犬",
    ]
    others = [[text.lower(), f"{text} and more", "a \udfff b"] for text in odd]
    check(installed, settings_of(names), [(hypotheses, references), (odd, others)])


def test_long_references_give_pythons_numbers(installed):
    """A mean of lengths is counted in parts of a token, and so many of them pass 32 bits."""
    long = "a b " * 3_000
    chosen: list[tuple[str, dict]] = [("ter", {}), ("cdec-koehn", {}), ("bleu", {}), ("cer", {})]
    check(installed, chosen, [(["a b c d e", "c"], [[long, "a b c d"], [long, "c d"]])])


@pytest.mark.thorough
@settings(max_examples=5)
@given(st.data())
def test_any_text_gives_pythons_numbers(installed, names, data):
    texts = [tuple(data.draw(corpora(8))) for _ in range(5)]
    # Arrays are all that JavaScript has: what is as long as it is wide may be streams.
    texts = [(h, r) for h, r in texts if not all(len(one) == len(h) for one in r)]
    check(installed, settings_of(names), texts)


def test_the_tricky_inputs_give_pythons_numbers(installed, names, shared):
    with (shared / "reference" / "sacrebleu" / "tricky.jsonl").open(encoding="utf-8") as file:
        inputs = [entry for entry in map(json.loads, file) if "id" in entry]
    assert len(inputs) == 34
    alone = [([entry["hyp"]], [entry["refs"]]) for entry in inputs]
    together = ([entry["hyp"] for entry in inputs], [entry["refs"] for entry in inputs])
    check(installed, settings_of(names), [*alone, together])
    if sys.version_info < (3, 12):  # recorded with an earlier sum()
        recorded = inputs[0]["bleu_eff"]["13a"]
        assert tb.BLEU().sentence(*alone[0][0], *alone[0][1]).value == float.fromhex(recorded)


@pytest.mark.parametrize(
    ("pair", "system", "references"),
    [("de-en", "Online-A", "AB"), ("en-zh", "Online-B", "AB"), ("en-ja", "NT5", "A")],
)
def test_wmt22_gives_pythons_numbers(installed, names, wmt22, pair, system, references):
    target = pair[3:]
    files = [wmt22 / "references" / f"generaltest2022.{pair}.ref.{r}.{target}" for r in references]
    path = wmt22 / "system-outputs" / f"generaltest2022.{pair}.hyp.{system}.{target}"
    columns = list(map(list, zip(*map(lines, files), strict=True)))
    assert check(installed, settings_of(names), [(lines(path), columns)]) > 100_000
