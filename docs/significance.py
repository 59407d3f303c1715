"""The page "Is the difference real?"."""

from __future__ import annotations

import json
from textwrap import fill

from calibration import RESULT
from parts import BUILT, HYPOTHESES, REFERENCES, table

from truebleu import BLEU, CHRF, TER
from truebleu.significance import TESTS, Measure, intervals, paired
from truebleu.significance.sacrebleu import confidence, paired_ar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

REFERENCE = REFERENCES["A"]
METRICS = (BLEU(effective_order=False), CHRF(), TER())


def page() -> str:
    """The page."""
    reference = _lines(REFERENCE)
    measures = [
        Measure(metric, {k: metric.statistics(v, reference) for k, v in _systems().items()})
        for metric in METRICS
    ]
    segments = measures[0].segments
    return f"""{BUILT}
# Is the difference real?

Two systems, one test set, 0.4 BLEU between them. Would the better one also win on other segments of
the same kind, or was it luck? That question has an answer, and it costs milliseconds.

```python
from truebleu import BLEU, significance

metric = BLEU()
tables = {{name: metric.statistics(path, reference) for name, path in systems.items()}}
[result] = significance.paired([significance.Measure(metric, tables)], baseline="birch")
result.differences["cedar"]  # the difference, its interval, p
```

The three systems of `examples/de-en`, {segments} segments, against reference A; and a fourth, *birch 2*, which is
*birch* with every fifth segment taken from *cedar*, which is better, and every tenth from *aspen*,
which is worse:

{_example(measures)}

Read a row from the left. First the size of the difference, and the interval that says how well
{segments} segments know it; then p, which says only whether it could be nothing at all. A small
difference may be certain, and a large one may be luck.

## What each test asks

**Approximate randomization** (`ar`, the default). If it made no difference which system wrote a
translation, then exchanging the two systems' translations of random segments would give differences
like the one observed. In each of 10,000 trials every segment's two translations change sides with
probability 1/2; p is the share of trials with a difference at least as large, the observed one
counted among them. Noreen (1989), Riezler and Maxwell (2005).

**Paired bootstrap** (`bs`). Test sets as large as this one are drawn from it with replacement, 1,000
times. How the difference varies among them is how it would vary among test sets; shifted so that
their mean is 0, they are what chance alone would give, and p is the share of them at least as far
from 0 as the observed difference. Riezler and Maxwell (2005), Efron and Tibshirani (1993).

**sacreBLEU's paired bootstrap** (`bs-sacrebleu`). The same draws, but the absolute value of each
difference is taken *before* the shift: the numbers compared are |d| − mean |d| instead of
|d − mean d|. Under the null hypothesis |d| varies less than d, so what is compared with the observed
difference is too small, p is too small, and it can never be much above 0.4. It is here to the last
bit, because published numbers rest on it.

**Koehn's win ratio** (`koehn`). In how many of the resampled test sets does the better system win? p is
the share that it does not win. Koehn (2004). It is one-sided: having looked which system is better,
one asks only in that direction, and so at 5 % finds a difference between equal systems in 10 % of
cases. It is a fair test of a direction that was fixed before the experiment.

## How often each is wrong

{_calibration()}

## Which one to use

Use `ar`. It asks the question that is meant, it needs no assumption about the metric, and it is right
whatever the size of the test set. `bs` says the same from a few hundred segments on, in a tenth of
the time. Report the difference with its interval, the test, its number of trials and the seed; the
signatures of the metrics say the rest.

p is not the probability that the systems are equal, and 1 − p is not the probability that one is
better. A test knows nothing of other domains, of the metric's blind spots, or of whether a reader
would notice. Segments of one document are alike, which no test here takes into account; where a
test set is a few long documents, certainty is smaller than it looks.

## Several systems

Of twenty comparisons of equal systems, one is significant at 5 %. `correction="holm"` makes p-values
that may be read together: the chance of *any* false discovery stays below them (Holm 1979).
`correction="bh"` controls the expected *share* of false ones among the discoveries (Benjamini and
Hochberg 1995). Both are over the tests of one metric: of all systems with the baseline, or of all
pairs.

`pairs="all"` tests every pair, and `clusters()` ranks: with the systems sorted by score, there is a
border wherever each system above is significantly better than each system below, as WMT's findings
draw it. Within a cluster the order is not settled. Here:

{_clusters(measures)}

## How many segments it takes

The standard error of a difference falls with the square root of the number of segments. A difference
Δ with standard error s on n segments would be found significant at 5 % with probability 0.8 on

> n′ = n · ((1.960 + 0.842) · s / Δ)²

segments like these, if Δ were the true difference. `segments_needed` gives n′ for the observed
difference, `detectable` the difference for which n′ is n. Computed from the observed Δ this says
nothing that p does not say; it is for planning the next test set.

{_power(measures)}

## Beside sacreBLEU

The draws are NumPy's, bit by bit, so with the same seed (12345 unless told otherwise) the same segments
are drawn. What differs:

{_precision(measures)}
{_ties()}
* **Identical systems** have p = 1 and a note that says so; sacreBLEU gives them 1 / (trials + 1).
* **The bootstrap test** is `bs`, not sacreBLEU's, unless `bs-sacrebleu` is asked for.
* **A seed of 0** is a seed. sacreBLEU's paired tests take it for none, and differ from run to run.

`truebleu.significance_sacrebleu` has sacreBLEU's own numbers, means, intervals and p-values, equal to
the last bit under NumPy 2 and without NumPy; `truebleu.compat.sacrebleu` uses them.

## Scores from elsewhere

Any metric that gives a number for each segment can be tested, if the score of a system is the mean:

```python
significance.Measure.of_scores("COMET", {{"aspen": [0.81, ...], "birch": [0.84, ...]}})
```

Numbers with up to nine decimal places are added as decimal numbers, so that equal sums are equal.
"""


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _systems() -> dict[str, list[str]]:
    """The systems of the examples, and one that is close to another, to have something to ask."""
    texts = {name: _lines(path) for name, path in HYPOTHESES.items()}
    texts["birch 2"] = [
        texts["cedar"][i] if i % 5 == 3 else texts["aspen"][i] if i % 10 == 2 else text
        for i, text in enumerate(texts["birch"])
    ]
    return texts


def _example(measures: list[Measure]) -> str:
    rows = []
    for result in paired(measures, baseline="birch"):
        base = result.intervals["birch"]
        rows.append((result.measure.name, "birch", _interval(base), "", "", "", ""))
        for name, found in result.differences.items():
            rows.append(
                (
                    "",
                    name,
                    _interval(result.intervals[name]),
                    f"{found.value:+.2f} [{found.interval.low:+.2f}, {found.interval.high:+.2f}]",
                    f"{found.p:.4f}",
                    f"{100 * found.won:.1f} %",
                    f"{found.segments_needed}",
                )
            )
    header = ["", "system", "score", "Δ to birch", "p (ar)", "resamples won", "segments needed"]
    return table(header, rows, left=2)


def _interval(interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _calibration() -> str:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    trials, levels = result["trials"], result["levels"]
    pairs = ", ".join(result["pairs"])
    rows = [
        (
            name if i == j == 0 else "",
            f"{int(segments):,}" if not j else "",
            f"{100 * level:.0f} %",
            *(f"{100 * counts[test][j] / trials:.1f} %" for test in TESTS),
        )
        for name, of_metric in result["metrics"].items()
        for i, (segments, counts) in enumerate(of_metric.items())
        for j, level in enumerate(levels)
    ]
    error = 100 * (levels[0] * (1 - levels[0]) / trials) ** 0.5
    return f"""A test at 5 % may call equal systems different in 5 % of cases. Whether it does can be measured
on real text: take segments at random from {result["pool"]:,} (WMT22, {pairs}), translated by two systems
({" and ".join(result["systems"])}), and in each let the two systems change places or not by the toss of
a coin. Then what wrote a translation makes no difference, and every difference that is found is a
false one. Shares of {trials:,} such test sets in which a test with its default settings found one (a
share near 5 % has a standard error of {error:.2f} %):

{table(["", "segments", "at", *(f"`{test}`" for test in TESTS)], rows, left=1)}

`ar` and `bs` are what they claim to be. For `ar` that is no surprise: the coin makes exactly the
world that it supposes, so its column checks the program more than the idea. `bs` supposes something
else, and is a little too eager on 200 segments. `bs-sacrebleu` is wrong twice as often as it says, and `koehn`
too, if the direction was chosen after looking. `docs/calibration.py` makes the table."""


def _clusters(measures: list[Measure]) -> str:
    told = []
    for result in paired(measures, pairs="all"):
        ranks = " > ".join(" = ".join(f"*{name}*" for name in one) for one in result.clusters())
        told.append(f"* {result.measure.name}: {ranks}")
    return "\n".join(told)


def _power(measures: list[Measure]) -> str:
    rows = []
    for result in paired(measures, test="bs", pairs="all"):
        for (system, other), found in result.pairs.items():
            rows.append(
                (
                    f"{result.measure.name}, {system} − {other}",
                    f"{found.value:+.2f}",
                    f"{found.deviation:.2f}",
                    f"{found.detectable:.2f}",
                    f"{found.segments_needed}",
                )
            )
    header = ["", "Δ", "s", f"detectable with {measures[0].segments}", "segments needed"]
    return table(header, rows)


def _precision(measures: list[Measure]) -> str:
    told = []
    for measure in measures:
        mean = intervals([measure])[0]["birch"].mean
        theirs = confidence(measure.metric, measure.tables[measure.systems.index("birch")]).mean
        told.append(f"{measure.name} {mean:.10f} and {theirs:.10f}")
    return _point(
        "**Precision.** sacreBLEU's bootstrap sums in single precision and, with NumPy 2, computes "
        "most of each score in it; with NumPy 1 the same command gives other digits. truebleu's "
        "sums are exact integers and its scores are in double precision. Means of 1,000 resamples "
        f"of *birch*, here and there: {'; '.join(told)}."
    )


def _ties() -> str:
    reference, birch, metric = _lines(REFERENCE), _lines(HYPOTHESES["birch"]), METRICS[0]
    tables = {
        "birch": metric.statistics(birch, reference),
        "with another last segment": metric.statistics([*birch[:-1], "Nothing."], reference),
    }
    [ours] = paired([Measure(metric, tables)])
    p = paired_ar(metric, list(tables.values()))[1].p_value
    return _point(
        "**Ties.** sacreBLEU's randomization counts trials with a *larger* difference, truebleu's "
        "those with one at least as large, as Noreen has it. It matters where few segments differ: "
        "if one does, every trial gives the same difference. For *birch* and *birch* with another "
        f"last segment, sacreBLEU's p is {p:.4f}, truebleu's "
        f"{ours.differences['with another last segment'].p:.4f}."
    )


def _point(text: str) -> str:
    return fill(text, 100, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
