"""Text of a comparison: the sentence on the best system, one table, a legend, and signatures."""

import json
import sys

import pytest
from paths import ROOT, read_example_lines

import truebleu as tb
from truebleu import compare
from truebleu.comparison import overview
from truebleu.comparison.comparison_columns import COLUMNS, format_p_equation
from truebleu.text.terminal_layout import measure_width

EXAMPLES = ROOT / "examples" / "de-en"
REFERENCE = EXAMPLES / "reference.a.en"
NAMES = ("aspen", "birch", "cedar")
SYSTEMS = {name: EXAMPLES / f"{name}.en" for name in NAMES}


def read_lines(name: str) -> list[str]:
    return read_example_lines(f"de-en/{name}.en")


def mix_systems(share: float) -> list[str]:
    """Return birch's output with the given share of cedar's segments."""
    birch, cedar = read_lines("birch"), read_lines("cedar")
    return [
        c if i % 100 < 100 * share else b for i, (b, c) in enumerate(zip(birch, cedar, strict=True))
    ]


@pytest.fixture(scope="module")
def four_systems():
    systems = {name: read_lines(name) for name in NAMES} | {"a-mixture-of-two": mix_systems(0.5)}
    return compare(systems, read_lines("reference.a"), metrics=["bleu", "chrf", "ter"])


# The best two systems differ with p = 0.02, which is significant as one of four differences from a
# baseline, but not as one of ten pairs: the three worst systems do not differ from each other.
CLOSE_SYSTEMS = {"cedar": 1.0, "late": 0.85, "birch": 0.0, "early": 0.02, "earlier": 0.04}


@pytest.mark.parametrize(("correction", "is_best"), [("holm", False), ("bh", True), (None, True)])
@pytest.mark.parametrize("baseline", CLOSE_SYSTEMS)
def test_baseline_does_not_change_verdict_on_best_system(baseline, correction, is_best):
    """The sentence on the best of several systems agrees with the clusters."""
    names = [baseline, *(name for name in CLOSE_SYSTEMS if name != baseline)]
    systems = {name: mix_systems(CLOSE_SYSTEMS[name]) for name in names}
    options = {"samples": 1999, "confidence": 99, "correction": correction}
    comparison = compare(systems, read_lines("reference.a"), **options)
    content = comparison.to_dict()
    headline, pair = overview.format_headline(content), content["pairs"][0]
    assert (pair["first"], pair["second"]) == ("cedar", "late")
    assert (pair["significant"], "is best of 5 systems" in headline) == (is_best, is_best)
    scores = {name: comparison[name]["scores"]["BLEU"] for name in ("cedar", "late")}
    assert [score["cluster"] for score in scores.values()] == [1, 1 + is_best]
    p = f"{format_p_equation(content, pair)}{', corrected for all 10 pairs' if correction else ''})"
    assert p in headline
    if baseline in scores:
        other = scores["cedar" if baseline == "late" else "late"]
        assert other["difference"]["significant"] == is_best


@pytest.mark.parametrize("names", [("A", "B"), ("a", "b"), ("B", "A"), ("x", "a")])
def test_letter_of_a_system_is_never_the_name_of_another(names):
    systems = dict(zip(names, map(read_lines, ("birch", "cedar")), strict=True))
    comparison = compare(systems, read_lines("reference.a"), samples=99)
    content = comparison.to_dict()
    for system in content["systems"]:
        others = {name.upper() for name in names if name != system["name"]}
        assert system["letter"] not in others
    best, other = names[::-1]
    second = "B x" if other == "x" else other
    assert overview.format_headline(content).startswith(f"{best} is best: 47.0 BLEU, ")
    assert f" above {second} (" in overview.format_headline(content)
    manifest = tb.report(systems, read_lines("reference.a"), samples=99).to_dict()
    letters = [(one["name"], one["letter"]) for one in content["systems"]]
    assert [(one["name"], one["letter"]) for one in manifest["systems"]] == letters


def test_legend_says_that_systems_of_one_cluster_differ():
    """The clusters are ranges of the ranking, so the first and the last system may differ."""
    notice = "Some in the same cluster do, too."
    for shares, is_expected in (((0.0, 0.04, 0.08), True), ((0.0, 1.0), False), ((0, 0.02), False)):
        systems = {f"share {share}": mix_systems(share) for share in shares}
        comparison = compare(systems, read_lines("reference.a"), samples=999, confidence=99)
        clusters = comparison.to_dict()["metrics"][0]["clusters"]
        within = [
            pair["significant"]
            for pair in comparison.to_dict()["pairs"]
            if any({pair["first"], pair["second"]} <= {*cluster} for cluster in clusters)
        ]
        assert any(within) == is_expected
        assert (notice in " ".join(comparison.text().split())) == is_expected
        assert (notice in comparison.markdown(columns=["system", "cluster"])) == is_expected


@pytest.mark.parametrize(
    ("second", "options", "best"),
    [
        ("birch", {}, "cedar"),
        ("late", {}, "cedar"),
        ("late", {"level": 0.99}, None),
        ("birch", {"test": None}, None),
        ("cedar", {}, None),
    ],
)
def test_best_system_needs_a_significant_lead(second, options, best):
    """The attributes agree with the sentence on the best system."""
    outputs = {name: mix_systems(share) for name, share in CLOSE_SYSTEMS.items()}
    systems = {"other": outputs[second], "cedar": outputs["cedar"]}
    samples = {} if "test" in options else {"samples": 999}
    comparison = compare(
        systems, read_lines("reference.a"), check_text=False, confidence=99, **samples, **options
    )
    assert comparison.best == best
    assert comparison.best_p == comparison.to_dict()["pairs"][0]["p"]
    assert (" is best: " in comparison.text()) == (best is not None)
    assert compare({"cedar": outputs["cedar"]}, read_lines("reference.a")).best is None


def test_unreliable_comparison_has_no_best_system():
    systems = {"birch": read_lines("birch"), "odd": ["猫坐在垫子上，今天天气很好。"] * 128}
    comparison = compare(systems, read_lines("reference.a"), check_text=False, samples=99)
    assert (comparison.best, comparison.best_p) == (None, None)


def test_note_on_disagreements_names_up_to_three_pairs():
    names = ["one", "two", "three", "four"]
    by_metric = {
        metric: {name: [float(sign * i)] * 40 for i, name in enumerate(names)}
        for metric, sign in (("M", 1), ("N", -1))
    }
    comparison = compare(None, None, metrics=(), scores=by_metric, samples=99)
    text = " ".join(comparison.text().split())
    pairs = "four and three; four and two; four and one; …"
    assert f"metrics disagree on 6 pairs of systems ({pairs}): each system" in text


@pytest.mark.parametrize(("test", "is_noted"), [("koehn", True), ("bs", True), ("ar", False)])
def test_explanation_says_that_signatures_do_not_name_the_test(test, is_noted):
    systems = {name: read_lines(name) for name in ("birch", "cedar")}
    comparison = compare(systems, read_lines("reference.a"), samples=99, test=test)
    sentence = "In signatures, bs is the number of resamples. It does not name the test: paired"
    assert (sentence in " ".join(comparison.text(explain=True).split())) == is_noted


@pytest.fixture(scope="module")
def documents():
    return (EXAMPLES / "documents.txt").read_text("utf-8").splitlines()


# ---- the screen ----


def test_four_systems_by_three_metrics_fit_on_one_screen(four_systems):
    lines = four_systems.text(80, hint="More: --explain").splitlines()
    assert len(lines) <= 25
    assert max(map(measure_width, lines)) <= 80


def test_text_starts_with_headline_of_report(four_systems):
    headline = overview.format_headline(four_systems.to_dict())
    assert " ".join(four_systems.text().partition("\n\n")[0].split()) == headline
    assert headline.startswith("A cedar is best of 4 systems: 47.0 BLEU, ")
    assert "chrF2 and TER rank the same system first." in headline


@pytest.mark.parametrize("metrics", [["bleu"], ["bleu", "ter"]])
def test_long_names_do_not_split_table(metrics):
    long_name = "a-system-with-a-very-long-name-that-exceeds-the-screen-with-seed-1"
    systems = {long_name: read_lines("birch"), "other": read_lines("cedar")}
    text = compare(systems, read_lines("reference.a"), metrics=metrics, samples=9).text(80)
    _, table, *_ = text.split("\n\n")
    assert table.count("other") == len(metrics)
    assert "a-system" in table
    assert "seed-1" in table
    assert max(map(measure_width, table.splitlines())) <= 80


def test_single_system_has_score_and_interval():
    text = compare({"cedar": SYSTEMS["cedar"]}, [REFERENCE]).text()
    assert text.startswith("cedar scores 47.0 BLEU (95% interval 43.2 to 50.8).\n\nsystem  BLEU ↑")


def test_legend_names_the_test_and_has_a_hint(four_systems):
    last = four_systems.text(hint="More: --explain").split("\n\n")[-1]
    *legend, first, second, third = last.splitlines()
    signatures = [first, second, third]
    assert " ".join(legend) == (
        "128 segments. *: p < 0.05, paired approximate randomization, uncorrected. Systems in "
        "different clusters differ significantly. More: --explain"
    )
    assert [line.partition("|")[0] for line in signatures] == ["BLEU", "chrF2", "TER"]
    assert all("|#:1|" in line for line in signatures)


def test_explain_adds_columns_tests_notes_and_signatures(four_systems):
    text = " ".join(four_systems.text(explain=True).split())
    assert f"interval: {COLUMNS['interval']}." in text
    assert four_systems.to_dict()["reading"] in text
    assert "6 pairs were tested per metric at 0.05" in text
    assert "BLEU|nrefs:1|bs:1000|" in text


def test_selected_columns_are_shown_in_given_order(four_systems):
    table = four_systems.text(columns=["system", "won", "lost", "cluster"]).split("\n\n")[1]
    assert table.splitlines()[0].split() == ["metric", "system", "won", "lost", "cluster"]


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_of_comparison_can_be_selected(name):
    runs = {"old": [read_lines("aspen"), read_lines("birch")], "new": read_lines("cedar")}
    comparison = compare(runs, read_lines("reference.a"), samples=9, correction="holm")
    assert "new" in comparison.text(columns=["system", *({name} - {"system"})])


def test_unknown_names_are_suggested(four_systems):
    with pytest.raises(ValueError, match=r"unknown column 'wins'.*won"):
        four_systems.text(columns=["wins"])
    with pytest.raises(ValueError, match="unknown by 'documents'; did you mean 'document'"):
        four_systems.text(by=["documents"])


def test_documents_have_rows_only_if_selected(documents):
    comparison = compare(SYSTEMS, [REFERENCE], documents=documents, samples=9)
    for show in (comparison.text, comparison.html):
        assert "hotel-review" not in show()
        assert "hotel-review" in show(by=["document"])
    assert len(comparison.to_dict()["documents"]) == 10


def test_domain_and_document_of_two_columns_are_readable(documents, write):
    path = write("docs.tsv", [f"web\t{name}" for name in documents])
    comparison = compare(SYSTEMS, [REFERENCE], documents=path, samples=9)
    assert comparison.to_dict()["documents"][1]["name"] == "web: hotel-review"
    assert "web: hotel-review" in comparison.text(by=["document"])


# ---- order ----


def test_given_order_determines_systems_and_letters():
    comparison = compare(SYSTEMS, [REFERENCE], order="given", samples=99)
    letters = [(name, comparison[name]["letter"]) for name in comparison]
    assert letters == list(zip(NAMES, "ABC", strict=True))
    assert comparison.to_dict()["order"] == "given"
    assert comparison.text().startswith("C cedar is best of 3 systems: 47.0 BLEU, 17.0 above B ")


def test_equal_systems_keep_given_order():
    lines = read_lines("birch")
    systems = {"y": lines, "x": lines, "cedar": read_lines("cedar")}
    assert list(compare(systems, read_lines("reference.a"), samples=9)) == ["cedar", "y", "x"]


def test_first_given_system_is_baseline_in_any_order():
    for order in ("rank", "given"):
        comparison = compare(SYSTEMS, [REFERENCE], order=order, samples=9)
        assert comparison.to_dict()["baseline"] == "aspen"


@pytest.mark.parametrize("order", ["rank", "given"])
def test_report_has_order_and_letters_of_comparison(order):
    manifest = tb.report(SYSTEMS, [REFERENCE], order=order, samples=9).to_dict()
    expected = compare(SYSTEMS, [REFERENCE], order=order, samples=9)
    letters = {one["name"]: one["letter"] for one in manifest["systems"]}
    assert [*letters.items()] == [(name, expected[name]["letter"]) for name in expected]
    assert manifest["comparison"] == expected.to_dict()


def test_unknown_order_is_refused():
    with pytest.raises(ValueError, match="unknown order 'score'"):
        compare(SYSTEMS, [REFERENCE], order="score")


# ---- human judgement ----


def load_documentation_script(name: str):
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(ROOT / "docs"))


def test_package_data_equal_documented_measurements():
    agreement = load_documentation_script("agreement")
    from truebleu.comparison.comparison_builder import HUMAN_AGREEMENT

    recorded = json.loads(HUMAN_AGREEMENT.read_text("utf-8"))
    assert recorded == agreement.build_package_data()
    measured = json.loads((ROOT / "docs" / "agreement.json").read_text("utf-8"))["agreement"]
    for name, label in (("bleu", "BLEU"), ("chrf", "chrF"), ("ter", "TER")):
        counts = [(one["pairs"], one["agree"]) for one in measured if one["metric"] == label]
        assert [(one["pairs"], one["agree"]) for one in recorded["metrics"][name]] == counts


@pytest.mark.parametrize(
    ("metric", "share", "finding"),
    [
        ("bleu", 0.08, "higher BLEU in 29 of 31 pairs with a difference of 2.2 to 3.3."),
        ("bleu", 1.0, "higher BLEU in 32 of 32 pairs with a difference above 12.1."),
        ("ter", 0.1, "lower TER in 28 of 31 pairs with a difference of 2.1 to 3.1."),
    ],
)
def test_headline_names_human_judgement_of_equally_large_differences(metric, share, finding):
    systems = {"birch": read_lines("birch"), "mixture": mix_systems(share)}
    comparison = compare(systems, read_lines("reference.a"), metrics=[metric], samples=99)
    sentence = f"On WMT23, human judges preferred the system with the {finding}"
    assert overview.format_headline(comparison.to_dict()).endswith(sentence)
    manifest = tb.report(systems, read_lines("reference.a"), metrics=[metric]).to_dict()
    assert manifest["headline"][-1].strip() == sentence


@pytest.mark.parametrize(
    ("other", "share", "segments", "is_shown"),
    [
        ("cedar", 1.0, 128, True),
        ("reform", 1.0, 128, True),
        # The lead is not significant.
        ("mixture", 0.02, 128, False),
        ("cedar", 1.0, 29, False),
        # Human translations differ from systems in style, and systems were compared in WMT23.
        ("ref.B", 1.0, 128, False),
        ("newstest.en-de.refA", 1.0, 128, False),
        ("Human-refB", 1.0, 128, False),
        ("human", 1.0, 128, False),
    ],
)
def test_human_judgement_needs_a_significant_lead_among_systems(other, share, segments, is_shown):
    systems = {"birch": read_lines("birch")[:segments], other: mix_systems(share)[:segments]}
    references = read_lines("reference.a")[:segments]
    content = compare(systems, references, samples=99).to_dict()
    assert (content["human_agreement"] is not None) == is_shown
    assert ("human judges" in overview.format_headline(content)) == is_shown


GIVEN_SCORES = {"birch": [1.0] * 128, "cedar": [2.0] * 128}


@pytest.mark.parametrize(
    ("references", "options"),
    [
        (["reference.a"], {"metrics": [tb.BLEU(lowercase=True)]}),
        (["reference.a"], {"metrics": ["chrf++"]}),
        (["reference.a", "reference.b"], {}),
        (["reference.a"], {"metrics": [], "scores": {"BLEU": GIVEN_SCORES}}),
    ],
)
def test_settings_without_measurements_have_no_human_judgement(references, options):
    systems = {name: SYSTEMS[name] for name in ("birch", "cedar")}
    paths = [EXAMPLES / f"{name}.en" for name in references]
    comparison = compare(systems, paths, samples=99, **options)
    assert comparison.to_dict()["human_agreement"] is None
    assert "human judges" not in comparison.text()
