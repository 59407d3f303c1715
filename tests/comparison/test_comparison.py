"""Tests of comparisons: equality with sacreBLEU, external scores, errors, and output formats."""

from __future__ import annotations

import csv
import inspect
import io
import json
import random
import re
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from page_parser import Page
from paths import ROOT
from sacrebleu.significance import PairedTest

import truebleu
from truebleu import BLEU, CHRF, Comparison, File, InputError, check, compare, report
from truebleu.comparison import comparison_layout
from truebleu.comparison.comparison_request import TESTS
from truebleu.significance import Measure, holm, run_paired_tests
from truebleu.text.terminal_layout import escape_invisible, measure_width

EXAMPLES = ROOT / "examples" / "de-en"
GOLDEN = Path(__file__).parent / "golden"
REFERENCES = [EXAMPLES / "reference.a.en", EXAMPLES / "reference.b.en"]
SYSTEMS = {name: EXAMPLES / f"{name}.en" for name in ("birch", "cedar", "aspen")}

COUNT = 300


@pytest.fixture(scope="module")
def examples() -> Comparison:
    """Return the three example systems by two metrics, as in the golden files."""
    return compare(SYSTEMS, REFERENCES, metrics=["bleu", "chrf"], correction="holm")


def noisy(lines: list[str], share: float, seed: int) -> list[str]:
    """Return lines with some words missing or doubled, as the output of a slightly worse system."""
    dice = random.Random(seed)
    noisy_lines = []
    for line in lines:
        words = [word for word in line.split() if dice.random() > share]
        noisy_lines.append(" ".join(words + words[:1] * (dice.random() < share)))
    return noisy_lines


@pytest.fixture(scope="module")
def systems(corpus) -> tuple[dict[str, list[str]], list[str]]:
    """Three similar systems and their references."""
    hypotheses, references = corpus
    hypotheses, references = hypotheses[-COUNT:], references[-COUNT:]
    return {
        "base": hypotheses,
        "near": noisy(hypotheses, 0.02, 1),
        "far": noisy(hypotheses, 0.2, 2),
    }, references


# ---- the numbers ----


def test_randomization_equals_sacrebleu(systems):
    texts, references = systems
    metrics = {
        "BLEU": sacrebleu.BLEU(),
        "chrF2": sacrebleu.CHRF(),
        "chrF2++": sacrebleu.CHRF(word_order=2),
    }
    signatures, sacrebleu_results = PairedTest(
        list(texts.items()), metrics, [references], test_type="ar", n_samples=500
    )()
    options = {"metrics": ["bleu", "chrf", "chrf++"], "samples": 500, "confidence": None}
    comparison = compare(texts, references, **options)
    systems = sacrebleu_results.pop("System")
    for name in metrics:
        for system, result in zip(systems, sacrebleu_results[name], strict=True):
            score = comparison[system.removeprefix("Baseline: ")]["scores"][name]
            assert score["score"] == result.score
            if result.p_value is not None:
                assert score["difference"]["p"] == result.p_value
    for metric in comparison.to_dict()["metrics"]:
        printed = str(signatures[metric["name"]])
        assert metric["signature"] == f"{printed}|by:truebleu-{truebleu.__version__}"


def test_sacrebleu_bootstrap_equals_sacrebleu(systems):
    texts, references = systems
    _, sacrebleu_results = PairedTest(
        list(texts.items()), {"BLEU": sacrebleu.BLEU()}, [references], test_type="bs", n_samples=200
    )()
    comparison = compare(texts, references, test="bs-sacrebleu", samples=200)
    rows = zip(sacrebleu_results["System"], sacrebleu_results["BLEU"], strict=True)
    for system, result in list(rows)[1:]:
        score = comparison[system]["scores"]["BLEU"]
        assert score["difference"]["p"] == result.p_value
        assert score["interval"]["mean"] == pytest.approx(result.mean, abs=1e-4)
        assert score["interval"]["half_width"] == pytest.approx(result.ci, abs=1e-4)


def test_lower_ter_is_better():
    comparison = compare(SYSTEMS, REFERENCES, metrics=["ter"], samples=200)
    assert list(comparison) == ["cedar", "birch", "aspen"]
    assert not comparison.to_dict()["metrics"][0]["higher_is_better"]
    difference = comparison["cedar"]["scores"]["TER"]["difference"]
    assert difference["value"] < 0
    assert difference["wins"] > difference["losses"]


def test_comparison_equals_paired_tests(systems):
    """Differences, intervals, p-values, letters and clusters equal those from run_paired_tests."""
    texts, references = systems
    metric = BLEU()
    tables = {name: metric.statistics(lines, references) for name, lines in texts.items()}
    (result,) = run_paired_tests(
        [Measure(metric, tables)], pairs="all", test="bs", resamples=300, correction="holm"
    )
    content = compare(texts, references, test="bs", samples=300, correction="holm").to_dict()
    corrected = holm([difference.p for difference in result.pairs.values()])
    by_pair = dict(zip(result.pairs, corrected, strict=True))
    for pair in content["pairs"]:
        names = pair["first"], pair["second"]
        expected = result.get_difference(*names)
        assert (pair["value"], pair["p"]) == (expected.value, expected.p)
        assert pair["corrected_p"] == by_pair.get(names, by_pair.get(names[::-1]))
        assert pair["interval"]["low"] == expected.interval.low
        assert pair["segments_needed"] == expected.segments_needed
    better = result.better_than(0.05)
    for system in content["systems"]:
        assert sorted(system["scores"]["BLEU"]["better_than"]) == sorted(better[system["name"]])
    clusters = result.clusters(0.05)
    for number, names in enumerate(clusters, 1):
        for name in names:
            scores = next(s for s in content["systems"] if s["name"] == name)["scores"]
            assert scores["BLEU"]["cluster"] == number


def test_wins_ties_and_losses_count_segments(systems):
    texts, references = systems
    metric = BLEU()
    base, far = (list(metric.segments(texts[name], references)) for name in ("base", "far"))
    difference = compare(texts, references, samples=10)["far"]["scores"]["BLEU"]["difference"]
    assert difference["wins"] == sum(o > b for b, o in zip(base, far, strict=True))
    assert difference["losses"] == sum(o < b for b, o in zip(base, far, strict=True))
    assert difference["wins"] + difference["ties"] + difference["losses"] == COUNT


def test_signatures_contain_resampling_settings(examples):
    bleu, chrf = examples.to_dict()["metrics"]
    assert bleu["signature"].startswith("nrefs:2|bs:1000|ar:10000|seed:12345|case:mixed|eff:no|")
    assert truebleu.metric(bleu["signature"]) == BLEU(effective_order=False)
    assert truebleu.metric(f"chrF2|{chrf['signature']}") == CHRF()
    single_system = compare({"a": ["x y"]}, ["x z"], confidence=None).to_dict()
    assert single_system["metrics"][0]["signature"].startswith("nrefs:1|case:mixed")


def test_results_depend_on_seed_but_not_threads(systems):
    texts, references = systems
    single_thread, two_threads, other_seed = (
        compare(texts, references, samples=200, confidence=50, seed=seed, workers=workers)
        for seed, workers in ((0, 1), (0, 2), (1, 1))
    )
    assert single_thread == two_threads
    assert single_thread != other_seed
    assert compare(texts, references, samples=20, confidence=5, seed=None).to_dict()["seed"] is None


# ---- metrics ----


def test_duplicate_metric_names_are_distinguished():
    metrics = ["bleu", BLEU("intl"), "sacrebleu"]
    comparison = compare(SYSTEMS, REFERENCES, metrics=metrics, samples=9)
    names = [metric["name"] for metric in comparison.to_dict()["metrics"]]
    assert names[:2] == ["BLEU tok:13a", "BLEU tok:intl"]
    expected = BLEU("intl").score(SYSTEMS["cedar"], REFERENCES).value
    assert comparison["cedar"]["scores"]["BLEU tok:intl"]["score"] == expected


def test_family_members_keep_their_names():
    comparison = compare(SYSTEMS, REFERENCES, metrics=["mteval-v13a"], samples=9)
    member = truebleu.family["mteval-v13a"]
    expected = member.score(SYSTEMS["cedar"], REFERENCES).value
    assert comparison["cedar"]["scores"]["mteval-v13a"]["score"] == expected
    assert "mteval-v13a: BLEU|#:2|bs:1000|ar:9|" in comparison.text()
    assert "mteval-v13a: BLEU|nrefs:2|bs:1000|ar:9|" in comparison.text(explain=True)
    assert "cedar has the best mteval-v13a of 3 systems" in comparison.text()


def test_tokens_and_custom_tokenizers_are_supported():
    tokens = {"a": [["x", "y"], ["z"]], "b": [["x"], ["z"]]}
    references = [[["x", "y"]], [["z"]]]
    metrics = [BLEU("none"), BLEU("none", max_order=2)]
    token_comparison = compare(tokens, references, metrics=metrics, samples=9)
    assert token_comparison["a"]["scores"]["BLEU order:2"]["difference"] is None
    systems, metrics = {"a": ["x y", "z"], "b": ["x", "z"]}, [BLEU(str.split), "bleu", "chrf"]
    assert len(compare(systems, ["x y", "z"], metrics=metrics).to_dict()["metrics"]) == 3


# ---- external scores ----


def test_external_scores_are_compared():
    by_hand = {"COMET": {"a": [0.8, 0.9, 0.7], "b": [0.8, 0.8, 0.6]}}
    comparison = compare(None, None, metrics=(), scores=by_hand, samples=99)
    assert comparison["a"]["scores"]["COMET"]["score"] == pytest.approx(0.8)
    difference = comparison["b"]["scores"]["COMET"]["difference"]
    assert (difference["wins"], difference["ties"], difference["losses"]) == (0, 1, 2)
    (metric,) = comparison.to_dict()["metrics"]
    assert metric["source"] == "given"
    assert metric["signature"] == metric["short_signature"] == "given|sha256:85a7a05f"
    assert comparison.to_dict()["references"] is None


def test_lower_is_better_option_reverses_order():
    by_hand = {"errors": {"good": [1.0] * 40 + [0.0] * 10, "bad": [3.0] * 50}}
    options = {"metrics": (), "lower_is_better": ["errors"], "baseline": "bad"}
    comparison = compare(None, None, scores=by_hand, **options)
    assert list(comparison) == ["good", "bad"]
    score = comparison["good"]["scores"]["errors"]
    assert score["better_than"] == ["bad"]
    assert score["difference"]["value"] < 0
    assert score["difference"]["wins"] == 50
    assert "errors ↓" in comparison.text()
    assert "2.200 below B bad" in comparison.text(300)


@pytest.mark.parametrize(
    "lines",
    [
        ["a\tb", "0.5\t0.25", "1\t2e-1"],
        ["a 0.5", "a 1", "b 0.25", "b 2e-1"],
        ["b\t0.25", "b\t2e-1", "a\t0.5", "a\t1"],
    ],
)
def test_score_file_of_all_systems_is_read(write, lines):
    path = write("scores", lines)
    comparison = compare(None, None, metrics=(), scores={"M": path}, samples=9)
    assert comparison["a"]["scores"]["M"]["score"] == 0.75
    assert comparison["b"]["scores"]["M"]["score"] == pytest.approx(0.225)


def test_score_file_per_system_is_read(write):
    files = {"a": write("a", ["1", " 2 "]), "b": File(write("b.tsv", ["x\t3", "y\t4"]), 2)}
    comparison = compare(None, None, metrics=(), scores={"M": files}, samples=9)
    assert comparison["b"]["scores"]["M"]["score"] == 3.5


# ---- special cases ----


def test_identical_systems_have_p_of_one():
    texts = {"one": SYSTEMS["cedar"], "two": SYSTEMS["cedar"]}
    comparison = compare(texts, REFERENCES, metrics=["bleu", "chrf"], samples=99)
    for metric in ("BLEU", "chrF2"):
        difference = comparison["two"]["scores"][metric]["difference"]
        assert (difference["value"], difference["p"]) == (0, 1)
        assert not difference["significant"]
        assert difference["segments_needed"] is None
        assert comparison["one"]["scores"][metric]["rank"] == 1
        assert comparison["two"]["scores"][metric]["rank"] == 1
    # The warning about the same outputs makes a note unnecessary.
    assert "one and two: these outputs are identical" in comparison.text(300)
    assert not [note for note in comparison.to_dict()["notes"] if note["kind"] == "identical"]


def test_identical_outputs_are_reported_once():
    """Three systems have the same output, and two more have equal statistics."""
    cedar, birch = SYSTEMS["cedar"], SYSTEMS["birch"]
    respaced = [text.replace(" ", "  ") for text in birch.read_text("utf-8").splitlines()]
    systems = {"a": cedar, "b": cedar, "c": cedar, "d": birch, "e": respaced}
    comparison = compare(systems, REFERENCES, samples=99)
    content = comparison.to_dict()
    pairs = [one["systems"] for one in content["warnings"] if one["kind"] == "same output"]
    assert pairs == [["a", "b"], ["a", "c"]]
    [note] = [one for one in content["notes"] if one["kind"] == "identical"]
    assert note["systems"] == ["d", "e"]
    assert "have identical statistics in every segment, so p = 1" in comparison.text(300)


@pytest.mark.parametrize(
    ("test", "samples", "correction", "level", "text"),
    [
        ("ar", 10, None, 0.95, "with 10 randomizations, p cannot be below 0.091, so no difference"),
        ("ar", 19, None, 0.95, "Use -parn 20 (samples=20 in Python) or more."),
        ("ar", 20, None, 0.95, None),
        ("bs", 19, None, 0.95, "with 19 resamples, p cannot be below 0.05, so no difference can"),
        ("bs", 20, None, 0.95, None),
        ("koehn", 19, None, 0.95, "Use -pbsn 20 (samples=20 in Python) or more."),
        ("bs-sacrebleu", 19, None, 0.95, "Use -pbsn 20 (samples=20 in Python) or more."),
        ("ar", 60, None, 0.99, "significant at 0.01. Use -parn 100 (samples=100 in Python)"),
        ("ar", 30, "holm", 0.95, "or below 0.065 if corrected for 2 tests, so no difference can"),
        ("ar", 50, "holm", 0.95, "corrected for 3 tests, so no systems can be in different clust"),
        ("ar", 60, "holm", 0.95, None),
        ("ar", 20, "bh", 0.95, None),
    ],
)
def test_too_few_samples_are_reported(test, samples, correction, level, text):
    systems = {name: SYSTEMS[name] for name in ("cedar", "birch", "aspen")}
    options = {"test": test, "samples": samples, "correction": correction, "level": level}
    content = compare(systems, REFERENCES, **options).to_dict()
    notes = [note["text"] for note in content["notes"] if note["kind"] == "few samples"]
    assert len(notes) == (text is not None)
    assert text is None or text in notes[0]
    significant = any(pair["significant"] for pair in content["pairs"])
    in_clusters = len({one["scores"]["BLEU"]["cluster"] for one in content["systems"]}) > 1
    # The systems differ much, so that the number of samples decides.
    assert in_clusters == significant == (text is None)


@pytest.mark.parametrize("test", ["ar", "bs", "koehn", "bs-sacrebleu"])
def test_single_segment_gives_no_intervals(test):
    comparison = compare({"a": ["x y z"], "b": ["x y"]}, ["x y z"], test=test, samples=99)
    for name in comparison:
        assert comparison[name]["scores"]["BLEU"]["interval"] is None
    difference = comparison["b"]["scores"]["BLEU"]["difference"]
    assert difference["p"] == 1
    assert not difference["significant"]
    assert "one segment cannot be resampled" in comparison.text()


def test_single_system_has_intervals_without_test():
    comparison = compare({"cedar": SYSTEMS["cedar"]}, REFERENCES)
    content = comparison.to_dict()
    assert (content["test"], content["baseline"], content["pairs"]) == (None, None, [])
    interval = content["systems"][0]["scores"]["BLEU"]["interval"]
    assert interval["low"] < 54.01 < interval["high"]
    assert "ar:" not in content["metrics"][0]["signature"]
    for rendering in (comparison.text(), comparison.markdown(), comparison.latex()):
        assert "Δ" not in rendering
        assert "54.0" in rendering


def test_differences_are_reported_without_test():
    content = compare(SYSTEMS, REFERENCES, test=None).to_dict()
    difference = content["systems"][0]["scores"]["BLEU"]["difference"]
    assert difference["interval"]["low"] > 0
    assert difference["p"] is None
    assert difference["significant"] is None
    assert content["test"] is None
    assert content["metrics"][0]["clusters"] is None


def test_confidence_none_omits_intervals():
    comparison = compare(SYSTEMS, REFERENCES, confidence=None, samples=99)
    assert "interval" not in comparison.text()
    assert comparison.to_dict()["metrics"][0]["signature"].startswith("nrefs:2|ar:99|seed:12345|")


def test_each_test_has_own_reading():
    readings = {
        compare(SYSTEMS, REFERENCES, test=test, samples=9).to_dict()["reading"] for test in TESTS
    }
    assert len(readings) == len(TESTS)


def test_many_systems_have_unique_letters():
    texts = {f"system {i:02}": ["a b c d e f"[: 2 * (i % 6) + 1], "x"] for i in range(60)}
    comparison = compare(texts, ["a b c d e f", "x"], samples=9, confidence=9)
    letters = [comparison[name]["letter"] for name in comparison]
    assert sorted(letters, key=lambda one: (len(one), one))[24:27] == ["Z", "AA", "AB"]
    assert letters[:2] == ["A", "B"]
    assert len(set(letters)) == 60
    assert "Q" not in "".join(letters), "Q has no superscript form"


# ---- bad input ----


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"systems": {"A": ["x"], "B": ["x", "y"]}}, InputError, "B: .*hypotheses 2, references 1"),
        ({"systems": {"A": ["x", None]}}, InputError, "A: hypotheses: segment 2"),
        ({"systems": {"A": "x"}}, TypeError, "A: hypotheses: .* found a single str"),
        ({"systems": {}}, ValueError, "systems: expected at least one system"),
        ({"systems": ["x"]}, TypeError, "expected a mapping from names to hypotheses"),
        ({"systems": {"": ["x"]}}, TypeError, "expected non-empty strings as names"),
        ({"systems": None, "references": None}, ValueError, "metrics need hypotheses"),
        ({"references": None}, ValueError, "references: the metrics need references"),
        ({"metrics": []}, ValueError, "metrics: expected at least one metric"),
        ({"metrics": ["blue"]}, ValueError, "did you mean 'bleu'"),
        ({"metrics": [1]}, TypeError, "or a name, not 1"),
        ({"metrics": ["nltk-corpus-5"]}, ValueError, "counts of the last"),
        ({"metrics": ["ibleu"]}, InputError, "iBLEU needs the source"),
        ({"systems": {"A": ["x"], "B": ["y"]}, "baseline": "c"}, ValueError, "no system 'c'.*A, B"),
        ({"test": "as"}, ValueError, "unknown test 'as'.*did you mean"),
        ({"samples": 0}, ValueError, "samples=0: .* of 1 or more"),
        ({"confidence": 0}, ValueError, "confidence=0: .* 1 or more"),
        ({"test": None, "samples": 9}, ValueError, "samples has no effect without a test"),
        ({"test": None, "correction": "bh"}, ValueError, "correction has no effect without a test"),
        ({"test": "bs", "samples": 9, "confidence": 8}, ValueError, "Pass equal numbers, or only"),
        ({"level": 95}, ValueError, "level=95: .* between 0 and 1"),
        ({"seed": -1}, ValueError, "seed=-1: .* non-negative"),
        ({"correction": "by"}, ValueError, "unknown correction 'by'"),
        ({"scores": {"M": {"B": [1]}}}, ValueError, "M: no system 'B'"),
        ({"scores": {"M": {}}}, ValueError, "M has no scores for system 'A'"),
        ({"scores": {"M": "m.txt"}}, TypeError, "M: expected a mapping .*pathlib.Path"),
        ({"scores": {"M": {"A": 3}}}, TypeError, "a list of numbers"),
        ({"scores": {"M": {"A": ["1,5"]}}}, InputError, "segment 1: .* a number, found '1,5'"),
        ({"scores": {"M": {"A": [float("nan")]}}}, InputError, "M, A, segment 1: .*, found nan"),
        ({"scores": {"M": {"A": [1, 2]}}}, InputError, r"M, A: .* per segment \(1\), found 2"),
        ({"scores": {"BLEU": {"A": [1]}}}, ValueError, "duplicate metric name 'BLEU'"),
        ({"lower_is_better": ["M"]}, ValueError, "named 'M'; none are"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        compare(**{"systems": {"A": ["x"]}, "references": ["x"], **arguments})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1\t2", "3\tx"], r"line 2: expected a number, found 'x'"),
        (["1\t2", "3"], r"line 2: expected 2 tab-separated columns, found 1"),
        (["1\t2\t3"], r"line 1: expected 2 tab-separated columns, found 3"),
        (["a\ta", "1\t2"], r"line 1: duplicate system name"),
        (["a\tc", "1\t2"], r"M: no system 'c'"),
        (["a 1", "a 2", "b"], r"line 3: expected a system and a score"),
        (["a 1", "a 2", "b z"], r"line 3: expected a number, found 'z'"),
        (["a 1", "a 2", "b 1"], r"M, b: expected one number per segment \(2\), found 1"),
        (["a 1", "a 2"], r"M has no scores for system 'b'"),
        ([], r"the file is empty"),
    ],
)
def test_invalid_score_files_are_refused(write, lines, message):
    path = write("scores.tsv", lines)
    with pytest.raises(ValueError, match=message):
        compare({"a": ["x", "y"], "b": ["x", "z"]}, ["x", "y"], scores={"M": path})


def test_external_scores_must_cover_same_systems():
    by_hand = {"M": {"a": [1], "b": [2]}, "N": {"a": [1], "c": [2]}}
    with pytest.raises(InputError, match="is in only one of M and N"):
        compare(None, None, metrics=(), scores=by_hand)


# ---- renderings ----


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("comparison.txt", lambda comparison: comparison.text()),
        ("comparison.narrow.txt", lambda comparison: comparison.text(60)),
        ("comparison.wide.txt", lambda comparison: comparison.text(140)),
        ("comparison.md", Comparison.markdown),
        ("comparison.tex", Comparison.latex),
    ],
)
def test_rendering_equals_golden_file(examples, name, render):
    """The files in golden/ contain reviewed output."""
    expected = (GOLDEN / name).read_text("utf-8").replace("{version}", truebleu.__version__)
    assert render(examples) == expected


def test_renderings_are_equal_after_json_round_trip(examples):
    restored = Comparison.from_json(examples.to_json())
    assert restored == examples
    for render in (Comparison.text, Comparison.markdown, Comparison.latex, Comparison.csv):
        assert render(restored) == render(examples)
    assert restored.html() == examples.html()
    with pytest.raises(InputError, match="not a truebleu comparison of version 1"):
        Comparison.from_json('{"truebleu_comparison": 2}')
    with pytest.raises(InputError, match="a JSON object, found list"):
        Comparison.from_json("[]")


def test_returned_dicts_are_copies(examples):
    examples.to_dict()["systems"].clear()
    examples["cedar"]["scores"].clear()
    assert examples["cedar"]["scores"]
    with pytest.raises(KeyError, match="no system 'oak'; available: cedar, birch, aspen"):
        examples["oak"]


@pytest.mark.parametrize("width", [40, 60, 79, 100, 140, 200])
def test_all_numbers_are_shown_at_any_width(examples, width):
    """Lines fit the width, and every table contains the numbers of the widest one."""
    lines = examples.text(width).split("BLEU|")[0].splitlines()
    assert all(measure_width(line) <= width for line in lines)

    def find_numbers(text: str) -> list[str]:
        return re.findall(r"[−+]?\d[\d.,]*\*?", text)

    wide, narrow = (set(find_numbers(examples.text(w).split("Raised")[0])) for w in (300, width))
    assert wide == narrow


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=7, unique=True),
    st.integers(1, 5),
    st.integers(1, 160),
    st.data(),
)
@settings(max_examples=60)
def test_any_names_and_numbers_are_rendered(names, segments, width, data):
    """Every format contains all systems, and text of any width contains all numbers."""
    number = st.floats(-1e6, 1e6, allow_subnormal=False)
    columns = {
        name: data.draw(st.lists(number, min_size=segments, max_size=segments)) for name in names
    }
    comparison = compare(None, None, metrics=(), scores={"M": columns}, samples=5, confidence=5)
    assert Comparison.from_json(comparison.to_json()) == comparison
    escaped_names = [escape_invisible(name) for name in names]
    page = Page(comparison.html())
    for name in escaped_names:
        assert name.strip() in comparison.text(10_000)
        assert name.strip() in page.text
    rows = list(csv.DictReader(io.StringIO(comparison.csv(), newline="")))
    shown_names = {row["system"].removeprefix("'") for row in rows}
    assert shown_names == {name.removeprefix("'") for name in escaped_names}
    scores = {comparison[name]["scores"]["M"]["score"] for name in names}
    assert {float(row["score"]) for row in rows} == scores
    wide, narrow = (comparison.text(w).partition("\n\n")[2] for w in (10_000, width))
    for cell in re.findall(r"\[[^]\s]+, [^]\s]+\]", wide.partition("Won")[0]):
        assert cell in narrow


def test_columns_are_aligned_for_any_script():
    names = ["abc", "漢字かな", "e\u0301te\u0301", "a\tb", "x" * 30]
    by_hand = {"M": {name: [float(i), i + 1.0] for i, name in enumerate(names)}}
    text = compare(None, None, metrics=(), scores=by_hand, samples=9).text(200)
    rows = [line for line in text.splitlines() if "[" in line]
    assert len({measure_width(line.partition("]")[0]) for line in rows}) == 1
    assert "\t" not in text


def test_csv_contains_all_numbers(examples):
    rows = list(csv.DictReader(io.StringIO(examples.csv())))
    assert [row["system"] for row in rows] == ["cedar", "birch", "aspen"] * 2
    for row in rows:
        score = examples[row["system"]]["scores"][row["metric"]]
        assert float(row["score"]) == score["score"]
        assert float(row["low"]) == score["interval"]["low"]
        difference = score["difference"]
        if difference is None:
            assert row["difference"] == row["p"] == row["wins"] == ""
            continue
        assert float(row["difference"]) == difference["value"]
        assert float(row["corrected_p"]) == difference["corrected_p"]
        assert row["significant"] == ("yes" if difference["significant"] else "no")
        assert int(row["wins"]) == difference["wins"]
    tabs = list(csv.DictReader(io.StringIO(examples.tsv()), delimiter="\t"))
    assert tabs == rows


def test_csv_escapes_formulas():
    names = ['=cmd("x")', 'a,"b"', "+1", "-1", "@x"]
    by_hand = {"M": {name: [1.0, 2.0] for name in names}}
    csv_text = compare(None, None, metrics=(), scores=by_hand, samples=9).csv()
    system_names = [row["system"] for row in csv.DictReader(io.StringIO(csv_text))]
    assert system_names == [name if name[0] == "a" else f"'{name}" for name in names]


HOSTILE = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "&lt;b&gt;",
    "a|b`c*d_e",
    r"\input{x} $x^2$ 50% #1 ~ & {}",
]


def test_html_escapes_names():
    by_hand = {
        f"{name} metric": {n: [1.0, i] for i, n in enumerate(HOSTILE)} for name in HOSTILE[:2]
    }
    comparison = compare(None, None, metrics=(), scores=by_hand, samples=9)
    for markup in (comparison.html(), comparison._repr_html_()):
        page = Page(markup)
        assert not page.tags & {"script", "img", "b"}
        assert not any(name.startswith("on") for name in page.attributes)
        for name in HOSTILE:
            assert name in page.text


def test_markdown_escapes_names():
    by_hand = {"M": {name: [1.0, i] for i, name in enumerate(HOSTILE)}}
    markup = compare(None, None, metrics=(), scores=by_hand, samples=9).markdown()
    table = [line for line in markup.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert "<script" not in markup.replace(r"\<script", "")


def test_rich_output_equals_text(examples):
    console = pytest.importorskip("rich.console")
    wide = console.Console(record=True, width=140, file=io.StringIO(), force_terminal=True)
    wide.print(examples)
    printed_lines = [line.rstrip() for line in wide.export_text(clear=False).splitlines()]
    assert printed_lines == examples.text(140).splitlines()
    assert "color" in wide.export_html()


def test_digits_option_sets_decimals():
    comparison = compare(SYSTEMS, REFERENCES, samples=9, confidence=9)
    for render in (comparison.text, comparison.latex, comparison.markdown, comparison.html):
        assert "54.0144" in render(digits=4)
    assert re.search(r"cedar +54", comparison.text(digits=0))


def test_small_scores_have_more_digits():
    by_hand = {"COMET": {"a": [0.8512, 0.8513], "b": [0.8, 0.8]}}
    comparison = compare(None, None, metrics=(), scores=by_hand, samples=9)
    assert "0.8513" in comparison.text(), "0.85125 to four digits"


def test_repr_length_and_title(examples):
    assert repr(examples) == examples.text(80).rstrip()
    assert len(examples) == 3
    assert str(examples) == examples.text()
    assert json.loads(examples.to_json()) == examples.to_dict()
    title = "3 systems, 128 segments, 2 references per segment"
    assert comparison_layout.format_title(examples.to_dict()) == title


# ---- agreement of metrics and clusters ----


def compare_disagreeing_metrics(**overrides):
    """Return a comparison in which an error rate reverses the order of three other metrics."""
    dice = random.Random(4)
    means = {"cedar": 0.8, "birch": 0.7, "aspen": 0.6}
    scores = {
        metric: {
            name: [round(scale * dice.gauss(mean, 0.05), 3) for _ in range(128)]
            for name, mean in means.items()
        }
        for metric, scale in (("quality", 1), ("errors", 10))
    }
    options = {"samples": 500, "confidence": 200, "lower_is_better": ["errors"]} | overrides
    return compare(SYSTEMS, REFERENCES, metrics=["bleu", "chrf"], scores=scores, **options)


def select_disagreements(content):
    return [note for note in content["notes"] if note["kind"] == "disagreement"]


def test_disagreeing_metrics_are_named():
    content = compare_disagreeing_metrics().to_dict()
    notes = select_disagreements(content)
    pairs = [["cedar", "birch"], ["cedar", "aspen"], ["birch", "aspen"]]
    assert [note["systems"] for note in notes] == pairs, "one note per pair of systems"
    assert content["notes"][: len(notes)] == notes, "disagreements come first"
    values = {(pair["metric"], pair["first"], pair["second"]): pair for pair in content["pairs"]}
    first = notes[0]
    assert [one["metric"] for one in first["metrics"]] == ["BLEU", "chrF2", "quality", "errors"]
    assert [one["better"] for one in first["metrics"]] == ["cedar", "cedar", "cedar", "birch"]
    bleu, *_, errors = first["metrics"]
    assert bleu["difference"] == values["BLEU", "cedar", "birch"]["value"] > 0
    # The difference is always cedar minus birch; birch makes fewer errors.
    assert errors["difference"] == -values["errors", "birch", "cedar"]["value"] > 0
    assert errors["p"] == values["errors", "birch", "cedar"]["p"]
    assert errors["corrected_p"] is None
    start = "BLEU (+20.1, p = 0.0020), chrF2 (+10.3, p = 0.0020) and quality (+"
    assert first["text"].startswith(start)
    assert " prefer cedar to birch, errors prefers birch (−" in first["text"]


@pytest.mark.parametrize("rendering", ["text", "markdown", "latex", "html"])
def test_all_formats_show_disagreements(rendering):
    options = {"explain": True} if rendering == "text" else {}
    rendered_text = getattr(compare_disagreeing_metrics(), rendering)(**options)
    assert "prefer cedar to birch" in " ".join(rendered_text.split())


def test_insignificant_differences_are_not_disagreements():
    # No difference is significant after the correction.
    corrected = compare_disagreeing_metrics(samples=99, correction="holm", level=0.99).to_dict()
    assert not any(pair["significant"] for pair in corrected["pairs"])
    untested = compare_disagreeing_metrics(test=None, samples=None).to_dict()
    assert not select_disagreements(corrected) + select_disagreements(untested)
    significant = compare_disagreeing_metrics(samples=1000, correction="holm").to_dict()
    assert select_disagreements(significant)


def test_nondeterministic_metric_has_note(monkeypatch):
    rouge = truebleu.metric("rouge-l")
    options = {"metrics": [rouge, "bleu"], "samples": 9, "confidence": 9}
    kinds = [note["kind"] for note in compare(SYSTEMS, REFERENCES, **options).to_dict()["notes"]]
    assert "not repeatable" not in kinds
    monkeypatch.setattr(type(rouge), "DETERMINISTIC", False)
    notes = compare(SYSTEMS, REFERENCES, **options).to_dict()["notes"]
    [note] = [note for note in notes if note["kind"] == "not repeatable"]
    assert note["metric_names"] == ["ROUGE-L"]
    assert note["text"].startswith("ROUGE-L may score the same text differently")


@pytest.mark.parametrize("function", [compare, check, report, truebleu.latency])
def test_unknown_parameter_is_named_with_all_parameters(function):
    message = rf"{function.__name__}\(\) has no parameter 'zzz'"
    with pytest.raises(TypeError, match=message) as error:
        function({"a": ["x"]}, ["x"], zzz=1)
    listed = str(error.value).partition("available: ")[2].split(", ")
    *explicit, options = inspect.signature(function).parameters
    declared = function.__annotations__[options].removeprefix("Unpack[").removesuffix("]")
    assert listed == [*explicit, *function.__globals__[declared].__annotations__]


@pytest.mark.parametrize(
    ("function", "name", "hint"),
    [
        (compare, "docs", "it is called 'documents' here"),
        (compare, "document", "did you mean 'documents'?"),
        (compare, "sources", "did you mean 'source'?"),
        (compare, "src", "it is called 'source' here"),
        (compare, "threads", "it is called 'workers' here"),
        (compare, "predictions", "it is called 'systems' here"),
        (compare, "alpha", "use level=0.95 for alpha=0.05"),
        (compare, "tok", r"it is a parameter of metrics: metrics=\[truebleu.BLEU\(tokenize=...\)"),
        (compare, "output", r"write the text of a method of the result, such as html\(\)"),
        (compare, "nboot", "'nboot'; available: systems"),
        (report, "docs", "it is called 'documents' here"),
        (report, "output", "it is called 'path' here"),
        (check, "min", "it is called 'minimum' here"),
        (check, "candidates", "it is called 'hypotheses' here"),
        (truebleu.latency, "confidence_n", "it is called 'confidence' here"),
    ],
)
def test_parameter_name_of_command_line_or_guess_gets_useful_hint(function, name, hint):
    with pytest.raises(TypeError, match=rf"has no parameter '{name}'; {hint}|{hint}"):
        function({"a": ["x"]}, ["x"], **{name: 1})


def test_metric_names_may_be_separated_by_commas():
    by_name, listed = (
        compare(SYSTEMS, REFERENCES, metrics=metrics, samples=9, confidence=None)
        for metrics in ("bleu, chrf", ["bleu", "chrf"])
    )
    assert by_name == listed
    with pytest.raises(ValueError, match="expected the name of one metric, found 'bleu,chrf'"):
        truebleu.metric("bleu,chrf")


@pytest.mark.parametrize(
    "function",
    [
        lambda *texts, source: compare({"A": texts[0]}, texts[1], source=source),
        lambda *texts, source: check(*texts, minimum=1, source=source),
        lambda *texts, source: report({"A": texts[0]}, texts[1], source=source),
        lambda *texts, source: truebleu.explain(*texts, source=source),
        lambda *texts, source: truebleu.explain(*texts, source=source, segment=1),
    ],
)
@pytest.mark.parametrize("source", [["x"], ("x", "y", "z"), Path("source.txt")], ids=repr)
def test_number_of_sources_is_checked_if_no_metric_reads_them(
    function, source, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("source.txt").write_text("x\ny\nz", "utf-8")
    count = 1 if source == ["x"] else 3
    with pytest.raises(InputError, match=rf"sources (\(source.txt\) )?{count}, hypotheses 2"):
        function(["a b", "c d"], ["a b", "c e"], source=source)
    function(["a b", "c d"], ["a b", "c e"], source=["x", "y"])
    with pytest.raises(TypeError, match=r"sources?: dict is unordered"):
        function(["a b", "c d"], ["a b", "c e"], source={"x": "y"})
