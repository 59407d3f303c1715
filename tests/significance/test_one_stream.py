"""Tests that the results of a metric do not depend on the other metrics in the call."""

from __future__ import annotations

import random

import pytest

from truebleu import BLEU, CHRF, TER, WER, metric
from truebleu.significance import Measure, resampling, run_paired_tests

WORDS = ["a", "bridge", "of", "stone", "crosses", "the", "quiet", "river", "near", "our", "house"]
DRAWS = {"randomizations": 300, "resamples": 200}


def make_texts(seed: int, segments: int = 40) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(3, 9))) for _ in range(segments)]


REFERENCES = make_texts(0)
SYSTEMS = {
    name: [
        " ".join(
            word for word in text.split() if random.Random(f"{name}{i}{word}").random() > share
        )
        for i, text in enumerate(REFERENCES)
    ]
    for name, share in (("elm", 0.15), ("oak", 0.25), ("fir", 0.3))
}


def measures() -> dict[str, Measure]:
    """Return measures of summed statistics, of segment means (ROUGE) and of external scores."""
    metrics = [BLEU(), BLEU(aggregate="segments"), CHRF(), TER(), WER(), metric("rouge-l")]
    measures_by_name = {
        f"{one.name} {i}": Measure(
            one, {name: one.statistics(text, REFERENCES) for name, text in SYSTEMS.items()}
        )
        for i, one in enumerate(metrics)
    }
    dice = random.Random(7)
    decimals = {name: [round(dice.gauss(0.7, 0.1), 3) for _ in REFERENCES] for name in SYSTEMS}
    floats = {name: [dice.random() / 3 for _ in REFERENCES] for name in SYSTEMS}
    measures_by_name["decimals"] = Measure.from_scores("decimals", decimals)
    measures_by_name["floats"] = Measure.from_scores("floats", floats, lower_is_better=True)
    return measures_by_name


def to_content(result) -> dict:
    return result.to_dict()


@pytest.mark.parametrize("test", ["ar", "bs", "koehn", "bs-sacrebleu"])
@pytest.mark.parametrize("seed", [12345, 0, 2**40])
def test_results_do_not_depend_on_other_metrics(test, seed):
    measures_by_name = measures()
    if test == "bs-sacrebleu":
        # This test supports only sacreBLEU's metrics.
        measures_by_name = {name: measures_by_name[name] for name in ("BLEU 0", "chrF2 2", "TER 3")}
    options = {"test": test, "seed": seed, "pairs": "all", "correction": "holm", **DRAWS}
    separate = {
        name: to_content(run_paired_tests([one], **options)[0])
        for name, one in measures_by_name.items()
    }
    joint = dict(
        zip(
            measures_by_name,
            map(to_content, run_paired_tests(list(measures_by_name.values()), **options)),
            strict=True,
        )
    )
    assert joint == separate
    reversed_names = list(measures_by_name)[::-1]
    results = run_paired_tests([measures_by_name[name] for name in reversed_names], **options)
    assert dict(zip(reversed_names, map(to_content, results), strict=True)) == separate


@pytest.mark.parametrize("block", [1, 7, 64])
def test_results_do_not_depend_on_block_size(monkeypatch, block):
    """More metrics make wider tables, and therefore smaller blocks of draws."""
    all_measures = list(measures().values())
    expected_by_test = {
        test: list(map(to_content, run_paired_tests(all_measures, test=test, **DRAWS)))
        for test in ("ar", "bs")
    }
    width = sum(table.width for one in all_measures for table in one.tables)
    monkeypatch.setattr(resampling, "MAX_SUMS", block * width)
    monkeypatch.setattr(resampling, "MAX_TRIALS", block)
    for test, expected in expected_by_test.items():
        assert (
            list(map(to_content, run_paired_tests(all_measures, test=test, workers=2, **DRAWS)))
            == expected
        )
