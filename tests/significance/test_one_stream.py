"""Tests that the results of a metric do not depend on the other metrics in the call."""

from __future__ import annotations

import random

import pytest
from outputs import output, references

from truebleu import BLEU, CHRF, TER, WER, metric
from truebleu.significance import Measure, resampling, run_paired_tests

DRAWS = {"randomizations": 300, "resamples": 200}


REFERENCES = references(random.Random(0), 40)
SYSTEMS = {
    name: output(random.Random(name), REFERENCES, kept_share)
    for name, kept_share in (("elm", 0.85), ("oak", 0.75), ("fir", 0.7))
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


@pytest.mark.parametrize("test", ["ar", "bs", "koehn", "bs-sacrebleu"])
@pytest.mark.parametrize("seed", [12345, 0, 2**40])
def test_results_do_not_depend_on_other_metrics(test, seed):
    measures_by_name = measures()
    if test == "bs-sacrebleu":
        # This test supports only sacreBLEU's metrics.
        measures_by_name = {name: measures_by_name[name] for name in ("BLEU 0", "chrF2 2", "TER 3")}
    options = {"test": test, "seed": seed, "pairs": "all", "correction": "holm", **DRAWS}
    separate = {
        name: run_paired_tests([one], **options)[0].to_dict()
        for name, one in measures_by_name.items()
    }
    for names in (list(measures_by_name), list(measures_by_name)[::-1]):
        results = run_paired_tests([measures_by_name[name] for name in names], **options)
        joint = {name: one.to_dict() for name, one in zip(names, results, strict=True)}
        assert joint == separate


@pytest.mark.parametrize("block", [1, 7, 64])
def test_results_do_not_depend_on_block_size(monkeypatch, block):
    """More metrics make wider tables, and therefore smaller blocks of draws."""
    all_measures = list(measures().values())

    def run_tests(**options):
        return [
            result.to_dict()
            for test in ("ar", "bs")
            for result in run_paired_tests(all_measures, test=test, **DRAWS, **options)
        ]

    expected = run_tests()
    width = sum(table.width for one in all_measures for table in one.tables)
    monkeypatch.setattr(resampling, "MAX_SUMS", block * width)
    monkeypatch.setattr(resampling, "MAX_TRIALS", block)
    assert run_tests(workers=2) == expected
