"""All metrics of a call share the draws: none depends on what else is asked for."""

from __future__ import annotations

import random

import pytest

from truebleu import BLEU, CHRF, TER, WER, metric
from truebleu.significance import Measure, resampling, run_paired_tests

WORDS = ["a", "bridge", "of", "stone", "crosses", "the", "quiet", "river", "near", "our", "house"]
DRAWS = {"randomizations": 300, "resamples": 200}


def texts(seed: int, segments: int = 40) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(3, 9))) for _ in range(segments)]


REFERENCES = texts(0)
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
    """By sums (BLEU, WER), by a mean of segments' scores (ROUGE), and scores that are given."""
    metrics = [BLEU(), BLEU(aggregate="segments"), CHRF(), TER(), WER(), metric("rouge-l")]
    made = {
        f"{one.name} {i}": Measure(
            one, {name: one.statistics(text, REFERENCES) for name, text in SYSTEMS.items()}
        )
        for i, one in enumerate(metrics)
    }
    dice = random.Random(7)
    decimals = {name: [round(dice.gauss(0.7, 0.1), 3) for _ in REFERENCES] for name in SYSTEMS}
    floats = {name: [dice.random() / 3 for _ in REFERENCES] for name in SYSTEMS}
    made["decimals"] = Measure.from_scores("decimals", decimals)
    made["floats"] = Measure.from_scores("floats", floats, lower_is_better=True)
    return made


def told(result) -> dict:
    return result.to_dict()


@pytest.mark.parametrize("test", ["ar", "bs", "koehn", "bs-sacrebleu"])
@pytest.mark.parametrize("seed", [12345, 0, 2**40])
def test_a_metric_is_the_same_alone_and_beside_others(test, seed):
    made = measures()
    if test == "bs-sacrebleu":
        # It is of the metrics that sacreBLEU has.
        made = {name: made[name] for name in ("BLEU 0", "chrF2 2", "TER 3")}
    options = {"test": test, "seed": seed, "pairs": "all", "correction": "holm", **DRAWS}
    alone = {name: told(run_paired_tests([one], **options)[0]) for name, one in made.items()}
    beside = dict(
        zip(made, map(told, run_paired_tests(list(made.values()), **options)), strict=True)
    )
    assert beside == alone
    turned = list(made)[::-1]
    results = run_paired_tests([made[name] for name in turned], **options)
    assert dict(zip(turned, map(told, results), strict=True)) == alone


@pytest.mark.parametrize("block", [1, 7, 64])
def test_how_many_draws_are_made_at_a_time_does_not_matter(monkeypatch, block):
    """More metrics make wider tables, and so fewer draws at a time."""
    made = list(measures().values())
    usual = {
        test: list(map(told, run_paired_tests(made, test=test, **DRAWS))) for test in ("ar", "bs")
    }
    width = sum(table.width for one in made for table in one.tables)
    monkeypatch.setattr(resampling, "MAX_SUMS", block * width)
    monkeypatch.setattr(resampling, "MAX_TRIALS", block)
    for test, expected in usual.items():
        assert list(map(told, run_paired_tests(made, test=test, workers=2, **DRAWS))) == expected
