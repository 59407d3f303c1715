"""The page "Is the difference real?"."""

from __future__ import annotations

import json
from statistics import fmean as mean_of
from textwrap import fill

from calibration import RESULT
from calibration_documents import RESULT as BY_DOCUMENTS
from calibration_runs import RESULT as OF_RUNS
from parts import BUILT, HYPOTHESES, REFERENCES, table

from truebleu import BLEU, CHRF, TER
from truebleu._kernel import Stream, count_apart
from truebleu.rendering.numbers import needed
from truebleu.significance import TESTS, Measure, intervals, paired
from truebleu.significance.sacrebleu import bootstrap_scores, randomized_scores

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

Two systems differ by 0.4 BLEU on a test set. Would the better one also win on other segments of the
same kind, or is the difference due to chance? A significance test answers that in milliseconds:
`truebleu compare` on the
command line, `tb.compare` in Python, and underneath, `truebleu.significance`:

```python
from truebleu import BLEU, significance

metric = BLEU()
tables = {{name: metric.statistics(path, reference) for name, path in systems.items()}}
[result] = significance.paired([significance.Measure(metric, tables)], baseline="birch")
result.differences["cedar"]  # the difference, its interval, p
```

The example has the three systems of `examples/de-en`, {segments} segments, against reference A, and a
fourth, *birch 2*: *birch* with every fifth segment from *cedar*, which is better, and every tenth from
*aspen*, which is worse.

{_example(measures)}

Read a row from the left: first the size of the difference and its confidence interval, which says how
precisely {segments} segments determine it; then p, which says only whether the difference could be due
to chance. A small difference can be significant, and a large one can be chance.

## What each test asks

**Approximate randomization** (`ar`, the default). Null hypothesis: it makes no difference which system
wrote a translation. Then exchanging the two systems' translations of random segments gives differences
like the observed one. In each of 10,000 trials, the two translations of each segment change sides with
probability 1/2; p is the share of trials with a difference at least as large, the observed one included.
Noreen (1989), Riezler and Maxwell (2005).

**Paired bootstrap** (`bs`). Test sets of the same size are drawn with replacement, 1,000 times. The
difference varies among them as it would vary among test sets. Shifted to mean 0, these differences are
the distribution under the null hypothesis, and p is the share of them at least as far from 0 as the
observed difference. Riezler and Maxwell (2005), Efron and Tibshirani (1993).

**sacreBLEU's paired bootstrap** (`bs-sacrebleu`). The draws are the same, but the absolute value of
each difference is taken *before* the shift. It compares |d| − mean |d| instead of |d − mean d|.
Under the
null hypothesis |d| varies less than d, so p is too small, and it can never be much above 0.4.
truebleu computes it to the last bit, because many published p-values come from it.

**Koehn's win ratio** (`koehn`). p is the share of resampled test sets in which the better system does
not win. Koehn (2004). It is one-sided: the direction is chosen after seeing which system is better, so
at 5 % it finds a difference between equal systems in 10 % of cases. It is a correct test of a direction
that was fixed before the experiment.

## How often each is wrong

{_calibration()}

## Documents

{_documents()}

## Runs

{_runs()}

## Which one to use

Use `ar`. It tests the right hypothesis, it makes no assumption about the metric, and it is correct for
test sets of any size. From a few hundred segments on, `bs` gives the same answer in a tenth of the time.
Report the difference with its interval, the test, its number of trials and the seed; the signatures of
the metrics say the rest.

With documents, add `--resample documents` if there are twenty or more: the test is then correct
whether segments of a document are alike or not, and loses a little precision if they are not. With
fewer documents, resample segments, and read the result as one about these documents only. For
systems that are trained or sampled with a seed, use several runs. With one run of each, a test says
which output is better, but not which system.

p is not the probability that the systems are equal, and 1 − p is not the probability that one is
better. A test says nothing about other domains, the metric's blind spots, or whether a reader would
notice the difference.

## Several systems

Out of twenty comparisons of equal systems, one is significant at 5 % on average. `correction="holm"`
controls the family-wise error rate, the probability of *any* false discovery (Holm 1979).
`correction="bh"` controls the false discovery rate, the expected *share* of false discoveries (Benjamini
and Hochberg 1995). Both correct over the tests of one metric: all systems against the baseline, or all
pairs.

`pairs="all"` tests every pair, and `clusters()` ranks, as WMT's findings do: with the systems sorted by
score, a cluster ends where each system above is significantly better than each system below. Within a
cluster the order is not settled. Here:

{_clusters(measures)}

## How many segments are needed

The standard error of a difference falls with the square root of the number of segments. A difference
Δ with standard error s on n segments would be found significant at 5 % with probability 0.8 on

> n′ = n · ((1.960 + 0.842) · s / Δ)²

segments like these, if Δ were the true difference. `segments_needed` gives n′ for the observed
difference, `detectable` the difference for which n′ is n. Computed from the observed Δ, n′ adds nothing
to p; it is for planning the next test set.

{_power(measures)}

## Compared with sacreBLEU

The random numbers are NumPy's, bit by bit, so the same seed (12345 by default) draws the same segments.
The differences:

{_precision(measures)}
{_ties()}
* **Identical systems** have p = 1 and a note that says so; sacreBLEU gives them 1 / (trials + 1).
* **The bootstrap test** is `bs`; sacreBLEU's is `bs-sacrebleu`.
* **A seed of 0** is a seed. sacreBLEU's paired tests ignore it, and differ from run to run.

For sacreBLEU's own means, intervals and p-values, run sacreBLEU with
[truebleu's kernel](sacrebleu.md).

## Scores from elsewhere

Any metric with a score per segment can be tested, if the score of a system is their mean. On the command
line that is `--scores COMET=comet.tsv`; in Python:

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
                    needed(found.segments_needed),
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
    return f"""A test at 5 % may call equal systems different in 5 % of cases. Whether it does can be measured on
real text: draw segments at random from {result["pool"]:,} (WMT22, {pairs}), translated by two systems
({" and ".join(result["systems"])}), and let the two systems change places in each by the toss of a coin. Then
the null hypothesis holds, and every difference that a test finds is a false positive. The table has the
share of {trials:,} such test sets in which a test with its default settings found one (a share near 5 %
has a standard error of {error:.2f} %):

{table(["", "segments", "at", *(f"`{test}`" for test in TESTS)], rows, left=1)}

`ar` and `bs` are calibrated. For `ar` that is no surprise: the coin makes exactly the null hypothesis
that it assumes, so its column checks the program rather than the idea. `bs` assumes something else, and
finds slightly too many differences on 200 segments. `bs-sacrebleu` is wrong twice as often as it claims,
and so is `koehn`, if the direction was chosen after seeing the scores. `docs/calibration.py` makes the
table."""


def _documents() -> str:
    result = json.loads(BY_DOCUMENTS.read_text(encoding="utf-8"))
    trials, found = result["trials"], result["found"]
    counts = list(found[0]["intervals"])

    def share(one, what, count):
        of = one[what][count]
        return [f"{100 * of[unit] / trials:.1f} %" for unit in ("segments", "documents")]

    rows = [
        (
            one["metric"] if not i % (len(found) // 2) else "",
            one["pair"],
            f"{one['segments'] / one['documents']:.1f}",
            f"{one['errors'][1]:.2f}",
            count,
            *share(one, "intervals", count),
            *share(one, "tests", count),
        )
        for i, one in enumerate(found)
        for count in counts
    ]
    header = ["", "", "segments a document", "error", "documents"]
    header += ["missed, segments", "missed, documents", "found, segments", "found, documents"]
    error = 100 * (0.05 * 0.95 / trials) ** 0.5
    rows = [
        row if not i % len(counts) else ("", "", "", "", *row[4:]) for i, row in enumerate(rows)
    ]
    return f"""Segments of one document are alike: a system that handles a name or a style better in
one segment does so in the next. Tests that draw segments treat them as independent, so their
p-values are too small and their intervals too narrow. `--resample documents` (in Python
`resample="documents"` of `compare`, `documents=` of `paired` and
`intervals`) draws whole documents, as many as there are, and exchanges whole documents: this is
called block bootstrap and block randomization. The statistics of a document are the sums over its
segments, so this works for any metric; a mean of scores is taken over the segments of the documents
drawn.

How wrong the usual tests are was measured on WMT23's outputs and documents. *Error*: the standard error
of the difference of two systems with documents drawn, as a multiple of that with segments drawn, the
median over all pairs of systems. *Missed*: test sets of so many documents are drawn with replacement;
how often does the 95 % interval of the difference of two systems miss the difference on all documents?
*Found*: two systems that differ by less than {result["near"]} points change places in each document by the
toss of a coin; how often does `ar` find a difference at 5 %? Both should be 5 % ({trials:,} test sets a
cell; a share near 5 % has a standard error of {error:.1f} %):

{table(header, rows, left=2)}

Where documents are long (he-en and zh-en), intervals from segments miss the truth in 12 to 21 % of cases
rather than in 5 %, and `ar` is wrong about twice as often as it claims; with two or three segments
per document (en-de) it makes little difference. Drawing documents corrects the tests. Intervals
from documents
still miss too often, in 8 to 11 % of cases with 20 and in 7 to 9 % with 60: documents differ much
in length, and a bootstrap of few documents gives intervals that are too narrow. `compare` with
`--docs` says so in a note if
documents make the error of a difference 1.2 times as large or more. `docs/calibration_documents.py` makes
the table."""


def _runs() -> str:
    result = json.loads(OF_RUNS.read_text(encoding="utf-8"))
    trials = result["trials"]
    rows = []
    for i, one in enumerate(result["made"]):
        first = not i or result["made"][i - 1]["cause"] != one["cause"]
        told = [
            f"{100 * one['found'][name] / trials:.1f} %" if name in one["found"] else ""
            for name in ("one", "stacked", "runs")
        ]
        runs = " and ".join(map(str, one["runs"]))
        rows.append((one["cause"] if first else "", runs, *told))
    header = ["what is by chance", "runs", "one run each", "runs stacked", "with runs"]
    return f"""A system that is trained or sampled with another seed gives another output, so the
difference between two outputs may be luck. The usual tests ignore that: they say which output is
better, not which system. Clark, Dyer, Lavie and Smith (2011) recommend several runs of each system:
`-i old=a1,a2,a3 new=b1,b2,b3` on the
command line, `{{"old": [a1, a2, a3], …}}` in Python. The score is then the mean over runs, with the
standard deviation between runs beside it. A note says which part of the error is larger: the one
from runs, or the one from the test set.

The test takes both into account. For segments, each trial exchanges random segments of all runs at
once, every run of one
system beside every run of the other. For runs, it adds the standard error from the standard deviation
between runs times a draw of Student's t, as whole runs could be exchanged in too few ways. The
effect of runs on single segments is in both parts, and is removed from the first. The interval of a
system's score reflects the test set alone; the interval of a difference reflects both.

In this simulation two systems are equal. Their scores vary by chance: in turn by the luck of whole
runs, by what each system is good at in the test set, by the effect of each run on single segments,
or by all of these. The share of
{trials:,} trials in which a test at 5 % finds a difference:

{table(header, rows, left=2)}

A test of one run each finds a difference between equal systems in four of ten cases if whole runs
are lucky or unlucky. Concatenating the runs, as if each segment of each run were independent, does
not help: a lucky run is lucky on many segments at once, and a segment that suits a system suits all
of its runs. With several runs the share is about 5 % or less: less where two kinds of chance are
about equal, or where one system has
a single run. `docs/calibration_runs.py` makes the table."""


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
                    needed(found.segments_needed),
                )
            )
    header = ["", "Δ", "s", f"detectable with {measures[0].segments}", "segments needed"]
    return table(header, rows)


def _precision(measures: list[Measure]) -> str:
    told = []
    for measure in measures:
        mean = intervals([measure])[0]["birch"].mean
        birch = measure.tables[measure.systems.index("birch")]
        [[scores]] = bootstrap_scores([(measure.metric, [birch])], Stream(12345), 1000)
        theirs = scores._round(mean_of(scores.values))  # noqa: SLF001
        told.append(f"{measure.name} {mean:.10f} and {theirs:.10f}")
    return _point(
        "**Precision.** sacreBLEU's bootstrap adds in single precision and, with NumPy 2, also "
        "computes most of each score in it; with NumPy 1 the same command gives other digits. "
        "truebleu's sums are exact integers, and its scores have double precision. Means of 1,000 "
        f"resamples of *birch*, by truebleu and by sacreBLEU: {'; '.join(told)}."
    )


def _ties() -> str:
    reference, birch, metric = _lines(REFERENCE), _lines(HYPOTHESES["birch"]), METRICS[0]
    tables = {
        "birch": metric.statistics(birch, reference),
        "with another last segment": metric.statistics([*birch[:-1], "Nothing."], reference),
    }
    [ours] = paired([Measure(metric, tables)])
    a, b = tables.values()
    apart = abs(metric.scores(a.total())[0] - metric.scores(b.total())[0])
    blocks = randomized_scores(metric, (a, b), 10_000, Stream(12345))
    p = (sum(count_apart(*each, apart, strictly=True) for each in blocks) + 1) / 10_001
    return _point(
        "**Ties.** sacreBLEU's randomization counts trials with a *larger* difference, truebleu's "
        "those with one at least as large, as Noreen does. It matters where few segments differ: if "
        "one does, every trial gives the same difference. For *birch* and *birch* with another "
        f"last segment, sacreBLEU's p is {p:.4f}, truebleu's "
        f"{ours.differences['with another last segment'].p:.4f}."
    )


def _point(text: str) -> str:
    return fill(text, 100, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
