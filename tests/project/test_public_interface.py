"""The Python interface: what the prompt shows for each result, and the order of arguments."""

import pytest

import truebleu as tb

HYPOTHESES = ["the cat is on a mat", "nobody were here"] * 10
REFERENCES = ["the cat is on the mat", "nobody was there"] * 10
SYSTEMS = {"good": REFERENCES[:1] + HYPOTHESES[1:], "poor": HYPOTHESES}


def make_accumulator():
    total = tb.Accumulator()
    total.update(HYPOTHESES, REFERENCES)
    return total


# Calls, each with a text that their results show at the prompt.
RESULTS = {
    "bleu": (lambda: tb.bleu(HYPOTHESES, REFERENCES), "BLEU = 44.18 "),
    "sentence": (lambda: tb.CHRF().sentence("a b", "a c"), "chrF2 = "),
    "segments": (lambda: tb.BLEU().segments(HYPOTHESES, REFERENCES), "53.73"),
    "matrix": (lambda: tb.BLEU().matrix(HYPOTHESES[:2], REFERENCES[:2]), "53.73"),
    "triangle": (lambda: tb.CHRF().triangle(REFERENCES[:2]), "Triangle(2 texts, 1 pairs"),
    "statistics": (lambda: tb.BLEU().statistics(["a"], ["a"]), "Statistics(1 segment x 10 columns"),
    "compare": (lambda: tb.compare(SYSTEMS, REFERENCES, samples=20), "\nB  poor "),
    "report": (lambda: tb.report(SYSTEMS, REFERENCES, samples=20), "\nB  poor "),
    "check": (lambda: tb.check(HYPOTHESES, REFERENCES, minimum=90), "below the minimum of 90"),
    "explain": (lambda: tb.explain("a cat", "a cat sat"), "Hypothesis, 2 tokens"),
    "meta_evaluate": (
        lambda: tb.meta_evaluate({"a": 1, "b": 2}, {"BLEU": {"a": 1, "b": 2}}),
        "BLEU ",
    ),
    "mbr": (lambda: tb.mbr(["a cat sat", "a cat", "a dog sat"]), "'a cat"),
    "which": (lambda: tb.which(53.73, HYPOTHESES[:1], REFERENCES[:1]), "sacrebleu"),
    "family": (lambda: tb.family, "mteval-v13a"),
    "family.score": (lambda: tb.family.score(HYPOTHESES, REFERENCES), "\nsacrebleu "),
    "distinct_n": (lambda: tb.distinct_n(HYPOTHESES), "distinct-2 = "),
    "Accumulator": (make_accumulator, "20 segments"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_prompt_shows_the_answer_in_80_columns(name):
    call, answer = RESULTS[name]
    text = repr(call())
    assert answer in text
    assert " object at 0x" not in text
    assert "\x1b" not in text
    # Signatures and the details of BLEU cannot be broken.
    lines = [line for line in text.splitlines() if "|" not in line and "hyp_len" not in line]
    assert [line for line in lines if len(line) > 80] == []
    assert text == text.strip("\n")


def test_history_shows_scores_at_the_prompt(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text("")
    assert repr(tb.history(path)) == tb.history(path).text(80).rstrip("\n")
