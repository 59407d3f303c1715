"""Intervals and paired tests are sacreBLEU's to the bit, on NumPy 2's arithmetic."""

import bz2
import importlib.util
import itertools
import logging
import os
import pickle
import random
import sys
import tarfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import sacrebleu
from amounts import daily
from hypothesis import HealthCheck, given, settings
from sides import SIDES, logged, module, seen

import truebleu.compat.sacrebleu as ours
from truebleu.compat.sacrebleu import significance

pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="with NumPy 1 sacreBLEU's intervals are other numbers",
)

METRICS = ("BLEU", "CHRF", "TER")
PARAMETERS = [
    ("BLEU", {}),
    ("BLEU", {"smooth_method": "floor", "smooth_value": 0.3, "effective_order": True}),
    ("BLEU", {"smooth_method": "add-k", "smooth_value": 0.5, "tokenize": "intl"}),
    ("BLEU", {"smooth_method": "add-k", "lowercase": True}),
    ("BLEU", {"smooth_method": "none", "max_ngram_order": 2}),
    ("CHRF", {}),
    ("CHRF", {"word_order": 2}),
    ("CHRF", {"eps_smoothing": True, "beta": 3, "word_order": 1, "char_order": 4}),
    ("CHRF", {"beta": 1.5, "whitespace": True}),
    ("TER", {}),
    ("TER", {"normalized": True, "no_punct": True}),
]


def corpus(segments, seed, systems=1, references=2):
    """Systems and reference streams of one vocabulary; some references are missing."""
    dice = random.Random(seed)
    words = ["the", "a", "cat", "dog", "sat", "barked", "on", "at", "mat", "moon", "3.5", ",", "."]
    base = [[dice.choice(words) for _ in range(dice.randint(2, 14))] for _ in range(segments)]

    def noisy(share):
        return [
            " ".join(word if dice.random() > share else dice.choice(words) for word in line)
            for line in base
        ]

    streams = [noisy(0.1) for _ in range(references)]
    if references > 1:
        streams[-1] = [line if dice.random() > 0.2 else None for line in streams[-1]]
    return [noisy(0.2 + 0.05 * i) for i in range(systems)], streams


def confidence(side, name, parameters, hypotheses, streams, number):
    metric = getattr(side, name)(**parameters)
    score = metric.corpus_score(hypotheses, streams, n_bootstrap=number)
    return [
        float(score._mean),
        float(score._ci),
        score.format(6, signature=str(metric.get_signature())),
        score.format(2, signature=str(metric.get_signature()), is_json=True),
        metric.n_bootstrap,
        metric.seed,
    ]


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS)
@pytest.mark.parametrize("seed", daily(["12345", "0", "99999999999"], 1))
def test_intervals(name, parameters, seed, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    for segments, number in ((57, 200), (8, 2), (300, 41)):
        [hypotheses], streams = corpus(segments, segments)
        theirs, mine = (
            confidence(side, name, parameters, hypotheses, streams, number) for side in SIDES
        )
        assert mine == theirs


@pytest.mark.parametrize("seed", ["none", "None"])
def test_intervals_that_nobody_can_repeat(seed, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    [hypotheses], streams = corpus(57, 1)
    runs = [confidence(ours, "BLEU", {}, hypotheses, streams, 200) for _ in range(2)]
    assert runs[0][0] != runs[1][0]
    assert runs[0][-1] == "none"
    assert "|seed:none|" in runs[0][2]


@pytest.mark.parametrize("seed", ["x", "-1", ""])
def test_seeds_that_are_none(seed, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", seed)
    for side in SIDES:
        with pytest.raises(ValueError):  # noqa: PT011 (the words are NumPy's or Python's)
            side.BLEU().corpus_score(["a b c d"], [["a b c d"]], n_bootstrap=10)


@pytest.mark.parametrize("number", [1, 0, -3])
def test_no_interval(number):
    for side in SIDES:
        metric = side.CHRF()
        score = metric.corpus_score(["a b"], [["a b"]], n_bootstrap=number)
        assert (score._mean, score._ci) == (-1.0, -1.0)
        assert "bs:" not in str(metric.get_signature())


def test_an_interval_where_some_resamples_have_nothing_in_common():
    """The original's mean refuses Python's numbers among NumPy's."""
    for name, hypotheses, streams in (
        ("CHRF", ["the", "x"], [["the", "y"]]),
        ("TER", ["a", "b"], [["", "b"]]),
    ):
        with pytest.raises(TypeError, match="coerce"):
            getattr(sacrebleu, name)().corpus_score(hypotheses, streams, n_bootstrap=100)
        score = getattr(ours, name)().corpus_score(hypotheses, streams, n_bootstrap=100)
        assert 0 < score._mean < 100
        # The same by the resampled scores.
        metric = getattr(ours, name)()
        _, scores = significance._bootstrap_resample(
            metric._extract_corpus_statistics(hypotheses, streams), metric, 100
        )
        again = metric.corpus_score(hypotheses, streams)
        again.estimate_ci(scores)
        assert (float(again._mean), float(again._ci)) == (score._mean, score._ci)


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS)
def test_resampled_scores(name, parameters):
    [hypotheses], streams = corpus(40, 5)
    found = []
    for side in SIDES:
        metric = getattr(side, name)(**parameters)
        stats = metric._extract_corpus_statistics(hypotheses, streams)
        seed, scores = module(side, "significance")._bootstrap_resample(stats, metric, 50)
        found.append([seed, [seen(vars(score)) for score in scores]])
    assert found[0] == found[1]


def paired(side, systems, streams, metrics, *, kept=False, **options):
    """Everything a paired test gives, as plain data, and what it logs."""
    with logged() as records:
        made = {
            f"any {i}": getattr(side, name)(
                **parameters, **({"references": streams} if kept else {})
            )
            for i, (name, parameters) in enumerate(metrics)
        }
        test = module(side, "significance").PairedTest(
            systems, made, None if kept else streams, **options
        )
        signatures, scores = test()
    rows = {
        name: [
            [None if v is None else float(v) for v in vars(r).values()] if name != "System" else r
            for r in results
        ]
        for name, results in scores.items()
    }
    return {name: str(s) for name, s in signatures.items()}, rows, records


def assert_same_test(systems, streams, metrics, **options):
    theirs, mine = (paired(side, systems, streams, metrics, **options) for side in SIDES)
    assert mine == theirs
    return mine


OPTIONS = [
    {"test_type": "bs", "n_samples": 150},
    {"test_type": "ar", "n_samples": 300},
    {"test_type": "ar", "n_samples": 300, "n_ar_confidence": 120},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("references", daily([2, 1], 1))
def test_paired_tests(options, references):
    logging.getLogger("sacrebleu").setLevel(logging.INFO)
    systems, streams = corpus(45, 11, systems=4, references=references)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    named.append(("a copy", systems[0]))
    metrics = [("BLEU", {}), ("CHRF", {"word_order": 2}), ("TER", {})]
    assert_same_test(named, streams, metrics, **options)
    assert_same_test(named, streams, metrics[:2], kept=True, **options)


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS)
@pytest.mark.parametrize("options", OPTIONS)
def test_paired_tests_with_every_parameter(name, parameters, options):
    systems, streams = corpus(31, 3, systems=3, references=1)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    assert_same_test(named, streams, [(name, parameters)], **options)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    segments=st.integers(1, 70),
    options=st.sampled_from(OPTIONS),
    metric=st.sampled_from(PARAMETERS),
)
def test_paired_tests_of_any_corpus(seed, segments, options, metric):
    systems, streams = corpus(segments, seed, systems=2, references=1)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    options = options | {"n_samples": 40}
    try:
        theirs = paired(sacrebleu, named, streams, [metric], **options)
    except (TypeError, ValueError):
        return  # NumPy's numbers among Python's: see above
    assert paired(ours, named, streams, [metric], **options) == theirs


def test_the_seed_0_is_a_seed(monkeypatch):
    """In sacreBLEU it is printed, and any other is used."""
    monkeypatch.setenv("SACREBLEU_SEED", "0")
    systems, streams = corpus(45, 11, systems=2)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    for options in OPTIONS:
        runs = [paired(ours, named, streams, [("BLEU", {})], **options) for _ in range(2)]
        assert runs[0] == runs[1]
        assert "seed:0" in runs[0][0]["BLEU"]
    metrics = {"BLEU": ours.BLEU()}
    baseline = significance.PairedTest(named, metrics, streams, "bs", 150)._baseline_info
    expected = sacrebleu.significance._paired_bs_test
    theirs = sacrebleu.significance.PairedTest(
        named, {"BLEU": sacrebleu.BLEU()}, streams, "bs", 150
    )
    arguments = (named[1][0], named[1][1], streams)
    name, result = expected(
        theirs._baseline_info, *arguments, {"BLEU": sacrebleu.BLEU()}, 150, seed=0
    )
    mine = significance._paired_bs_test(baseline, *arguments, metrics, 150, seed=0)
    assert (name, {k: vars(v) for k, v in result.items()}) == (
        mine[0],
        {k: vars(v) for k, v in mine[1].items()},
    )


@pytest.mark.parametrize("function", ["_paired_ar_test", "_paired_bs_test"])
@pytest.mark.parametrize("name", METRICS)
def test_one_system_by_itself(function, name):
    """With the baseline's statistics as lists, which is how programs call these functions."""
    systems, streams = corpus(45, 11, systems=2, references=1)
    found = []
    for side in SIDES:
        metric = getattr(side, name)()
        stats = metric._extract_corpus_statistics(systems[0], streams)
        score = metric._aggregate_and_compute(stats)
        tests = module(side, "significance")
        info = {score.name: (stats, tests.Result(score.score))}
        extra = {"n_ar_confidence": 60} if "ar" in function else {}
        system, results = getattr(tests, function)(
            info, "other", systems[1], streams, {score.name: metric}, 100, seed=7, **extra
        )
        found.append([system, {k: list(map(float, vars(r).values())) for k, r in results.items()}])
    assert found[0] == found[1]


class Halves:
    """A metric of somebody's own, which counts and scores in Python: half of each length."""

    @staticmethod
    def of(side):
        base = module(side, "metrics.base")

        class Half(base.Metric):
            def _preprocess_segment(self, sent):
                return sent.strip()

            def _extract_reference_info(self, refs):
                return {"lengths": [len(ref) for ref in refs]}

            def _compute_segment_statistics(self, hypothesis, ref_kwargs):
                lengths = ref_kwargs["lengths"]
                return [len(hypothesis) / 2, sum(lengths) / len(lengths)]

            def _compute_score_from_stats(self, stats):
                return base.Score("half", 100 * stats[0] / stats[1])

            def _aggregate_and_compute(self, stats):
                total = module(side, "utils").sum_of_lists(stats)
                return self._compute_score_from_stats(total)

        return Half


class Doubled:
    """BLEU with twice the matches, by a method that is overridden."""

    @staticmethod
    def of(side):
        class Double(side.BLEU):
            def _compute_segment_statistics(self, hypothesis, ref_kwargs):
                found = super()._compute_segment_statistics(hypothesis, ref_kwargs)
                return [*found[:2], *(2 * value for value in found[2:])]

        return Double


class Root:
    """chrF with another formula over the kernel's counts."""

    @staticmethod
    def of(side):
        class Rooted(side.CHRF):
            def _compute_score_from_stats(self, stats):
                score = super()._compute_score_from_stats(stats)
                score.score = 10 * score.score**0.5
                return score

        return Rooted


@pytest.mark.parametrize("kind", [Halves, Doubled, Root])
@pytest.mark.parametrize("options", OPTIONS)
def test_metrics_that_python_resamples(kind, options):
    systems, streams = corpus(45, 11, systems=3, references=2)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    found = []
    for side in SIDES:
        signatures, scores = module(side, "significance").PairedTest(
            named, {"own": kind.of(side)()}, streams, **options
        )()
        [name] = set(scores) - {"System"}
        results = [[v if v is None else float(v) for v in vars(r).values()] for r in scores[name]]
        found.append([str(signatures[name]), results])
        metric = kind.of(side)()
        score = metric.corpus_score(systems[0], streams, n_bootstrap=70)
        found[-1] += [float(score._mean), float(score._ci), str(score)]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [Halves, Doubled, Root])
def test_without_numpy(kind, monkeypatch):
    """Metrics get lists then; the kernel's get nothing else."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    systems, streams = corpus(45, 11, systems=2, references=2)
    own = kind.of(ours)()
    own_metric, others = {"own": own}, {name: getattr(ours, name)() for name in METRICS}
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    for options, metrics in itertools.product(OPTIONS, (own_metric, others)):
        _, scores = significance.PairedTest(named, metrics, streams, **options)()
        assert len(scores) == len(metrics) + 1
        for name, (_, result) in scores.items():
            if name != "System":
                assert 0 < result.p_value <= 1


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda x: np.array(x, dtype="float32")])
@pytest.mark.parametrize("size", [1, 2, 7, 8, 39, 40, 129, 1000])
def test_estimate_ci(kind, size):
    dice = random.Random(size)
    scores = kind([dice.uniform(0, 100) for _ in range(size)])
    theirs = sacrebleu.significance.estimate_ci(scores)
    mine = significance.estimate_ci(scores)
    assert tuple(map(float, mine)) == tuple(map(float, theirs))


def test_compute_p_value():
    for dtype in ("float64", "float32"):
        differences = np.array([0.1, -0.2, 0.3, 0.1, 0.7], dtype=dtype)
        for real in (0.1, 0.2, 0.3, 1.0, -1.0):
            theirs = sacrebleu.significance._compute_p_value(differences, real)
            assert significance._compute_p_value(differences, real) == theirs
    assert significance._compute_p_value([0.1, 0.3], 0.2) == 2 / 3


def test_results_print_alike():
    for values in ((1.5,), (1.5, 0.25), (1.5, None, 2.0, 3.0)):
        mine, theirs = (module(side, "significance").Result(*values) for side in SIDES)
        assert repr(mine) == repr(theirs)
        assert vars(mine) == vars(theirs)


@pytest.mark.parametrize("jobs", [1, 0, 3])
def test_jobs_change_nothing(jobs):
    systems, streams = corpus(45, 11, systems=3)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    options = OPTIONS[0]
    assert (
        paired(ours, named, streams, [("BLEU", {})], n_jobs=jobs, **options)[:2]
        == paired(ours, named, streams, [("BLEU", {})], **options)[:2]
    )


def test_defaults():
    systems, streams = corpus(4, 11, systems=2)
    named = [(f"system {i}", lines) for i, lines in enumerate(systems)]
    for arguments in ({}, {"n_ar_confidence": 0}, {"test_type": "bs"}, {"n_samples": -4}):
        mine, theirs = (
            module(side, "significance").PairedTest(
                named, {"BLEU": side.BLEU()}, streams, **arguments
            )
            for side in SIDES
        )
        for name in ("n_samples", "n_ar_confidence", "n_systems", "test_type", "_seed", "n_jobs"):
            assert getattr(mine, name) == getattr(theirs, name), name
    for side in SIDES:
        with pytest.raises(AssertionError, match="Unknown test type 'x'"):
            module(side, "significance").PairedTest(named, {}, streams, "x")


@pytest.fixture(scope="module")
def wmt17():
    """The original's own data: 16 English-German systems of WMT17, and a reference."""
    spec = importlib.util.spec_from_file_location(
        "upstream", Path(__file__).with_name("upstream.py")
    )
    upstream = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(upstream)
    try:
        archive = upstream.distribution()
    except upstream.UnavailableError as reason:
        pytest.skip(str(reason))
    with tarfile.open(archive) as files:
        file = files.extractfile(f"sacrebleu-{upstream.VERSION}/test/wmt17_en_de_systems.pkl.bz2")
        *systems, (_, references) = pickle.loads(bz2.decompress(file.read()))
    return systems, references


@pytest.mark.parametrize("name", daily(["BLEU", "CHRF"], 0))
def test_wmt17(wmt17, name):
    systems, references = wmt17
    parameters = {"tokenize": "none"} if name == "BLEU" else {}
    # The originals need minutes for all of them.
    systems = systems if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else systems[:3]
    for options in ({"test_type": "bs", "n_samples": 200}, {"test_type": "ar", "n_samples": 500}):
        assert_same_test(systems, references, [(name, parameters)], **options)
    lines = [line for _, line in systems]
    for hypotheses in lines[:2]:
        theirs, mine = (
            confidence(side, name, parameters, hypotheses, references, 100) for side in SIDES
        )
        assert mine == theirs


@pytest.mark.parametrize("pair", daily(["de-en", "en-zh"], 0))
def test_wmt22(wmt22, pair):
    target = pair.split("-")[1]
    read = lambda path: path.read_text(encoding="utf-8").rstrip("\n").split("\n")  # noqa: E731
    paths = sorted((wmt22 / "system-outputs").glob(f"*.{pair}.hyp.*"))[:3]
    systems = [(path.name, read(path)[:400]) for path in paths]
    streams = [
        read(path)[:400] for path in sorted((wmt22 / "references").glob(f"*.{pair}.ref.*.{target}"))
    ]
    tokenize = "zh" if target == "zh" else "13a"
    metrics = [("BLEU", {"tokenize": tokenize}), ("CHRF", {})]
    for options in ({"test_type": "bs", "n_samples": 100}, {"test_type": "ar", "n_samples": 200}):
        assert_same_test(systems, streams, metrics, **options)
