"""WMT23's metrics task: the official table and further numbers, from the published scores.

mt-metrics-eval's code returns these numbers for these files; scipy agrees.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from paths import SHARED

import truebleu as tb
from truebleu import meta_evaluation as meta
from truebleu.cli import main
from truebleu.meta_evaluation.human_scores import Tree, read_judged_systems

DATA = SHARED / "data" / "wmt23-metrics"
EN_DE = tb.TaskFolder(DATA, "wmt23", ["en-de"])
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no WMT23 scores at {DATA}")

STATISTICS = ["pearson", "spearman", "tau-b", "pairwise", "spa", "tau-c", "acc-eq", "acc-eq-opt"]


def official() -> dict[str, dict[str, float]]:
    with (DATA / "official_table.tsv").open(encoding="utf-8") as file:
        rows = {row.pop("metric"): row for row in csv.DictReader(file, delimiter="\t")}
    return {
        name: {key.replace("accuracy", "pairwise"): float(value) for key, value in row.items()}
        for name, row in rows.items()
    }


def find_largest_difference(content):
    expected = official()
    rows_by_name = {
        f"{row['name']}{'[noref]' if row['reference_free'] else ''}": row
        for row in content["metrics"]
    }
    # In the official order, too.
    assert list(rows_by_name) == list(expected)
    worst = 0.0
    for name, row in expected.items():
        for key, value in row.items():
            scores = rows_by_name[name]["scores"]
            own_value = rows_by_name[name]["average"] if key == "average" else scores[key]["value"]
            worst = max(worst, abs(own_value - value))
    assert worst < 1e-12


def test_the_official_table_from_stored_scores(tmp_path):
    path = tmp_path / "table.json"
    assert main(["meta", "--preset", "wmt23", "--tree", str(DATA), "-o", str(path)]) == 0
    find_largest_difference(json.loads(path.read_text(encoding="utf-8")))


def test_the_official_table_with_bleu_and_chrf_computed_from_text():
    wmt23_table = tb.meta_evaluate(
        tree=tb.TaskFolder(DATA, preset="wmt23"), metrics=["bleu", "chrf"], workers=2
    )
    content = wmt23_table.to_dict()
    find_largest_difference(content)
    signed = [row["name"] for row in content["metrics"] if row["signature"]]
    assert signed == ["BLEU", "chrF"]
    reading = "XCOMET-Ensemble orders 231 of 249 pairs of systems as mqm does (92.8%)"
    assert content["reading"] == f"{reading}; BLEU 203 (81.5%); chrF 198 (79.5%)."
    assert reading in " ".join(str(wmt23_table).split())


@pytest.mark.parametrize("pair", ["en-de", "he-en", "zh-en"])
def test_every_score_of_bleu_and_chrf_is_the_published_one(pair):
    tree = Tree(DATA, "wmt23")
    stored = read_judged_systems(
        tree, pair, metrics=["BLEU", "chrF"], computed={}, levels=["sys", "seg"]
    )
    metrics = {"BLEU": tb.BLEU(), "chrF": tb.CHRF()}
    judged = read_judged_systems(tree, pair, metrics=[], computed=metrics, levels=["sys", "seg"])
    for name in metrics:
        for level in ("sys", "seg"):
            assert list(judged.get_scores(level, name)[1].values) == list(
                stored.get_scores(level, name)[1].values
            )


def read_golden_statistics() -> dict[tuple[str, str], tuple[float, ...]]:
    """Return mt-metrics-eval's statistics, in the order of the file's columns."""
    lines = Path(__file__).with_name("wmt23_statistics.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {(pair, metric): tuple(map(float, values)) for pair, metric, *values in rows}


GOLDEN = read_golden_statistics()
# Rows that are constant, and left out of item τ-b.
CONSTANT = {"en-de": (9, 9), "he-en": (48, 49), "zh-en": (7, 16)}
SIZES = {"en-de": (12, 460, 557, 30360), "he-en": (13, 820, 1910, 63960)}
SIZES["zh-en"] = (15, 1177, 1976, 123585)


@pytest.fixture(scope="module")
def wmt23_table():
    return tb.meta_evaluate(
        tree=tb.TaskFolder(DATA, "wmt23"),
        metrics=["BLEU", "chrF", "f200spBLEU", "COMET"],
        statistics=tb.StatisticOptions(STATISTICS),
        workers=2,
    )


@pytest.mark.parametrize(("pair", "metric"), GOLDEN)
def test_further_statistics(wmt23_table, pair, metric):
    rho, tau, accuracy, spa, *segments, item, equal, epsilon = GOLDEN[pair, metric]
    systems, segment_values = wmt23_table[pair, metric, "sys"], wmt23_table[pair, metric, "seg"]
    six = {"abs": 6e-7}
    assert systems.spearman.value == pytest.approx(rho, **six)
    assert systems.tau_b.value == pytest.approx(tau, **six)
    assert systems.pairwise.value == pytest.approx(accuracy, **six)
    # Single precision breaks some ties of sums: up to two exchanges of a thousand, of a pair.
    pairs = systems.pairwise.pairs
    assert systems.spa.value == pytest.approx(spa, abs=2.1 / (1000 * pairs) + 6e-7)
    assert [
        segment_values.spearman.value,
        segment_values.tau_b.value,
        segment_values.tau_c.value,
    ] == [pytest.approx(value, **six) for value in segments]
    assert segment_values.acc_eq.value == pytest.approx(equal, **six)
    assert segment_values.acc_eq_opt.epsilon == pytest.approx(epsilon, abs=1e-9)
    set_ = next(one for one in wmt23_table.to_dict()["sets"] if one["name"] == pair)
    sizes = (len(set_["systems"]), set_["rated"], set_["items"], segment_values.acc_eq_opt.pairs)
    assert sizes == SIZES[pair]
    tree = Tree(DATA, "wmt23")
    judged = read_judged_systems(tree, pair, metrics=[metric], computed={}, levels=["seg"])
    by_item = meta.tau_b(*judged.get_scores("seg", metric), "item")
    assert by_item.value == pytest.approx(item, **six)
    min_left_out, max_left_out = CONSTANT[pair]
    assert min_left_out <= by_item.left_out <= max_left_out


def test_bleu_orders_203_of_249_pairs(wmt23_table):
    pairwise = wmt23_table["all", "BLEU"].pairwise
    assert (pairwise.hits, pairwise.pairs) == (203, 249)


def test_rounding_noise_is_shown_as_0_and_said(wmt23_table):
    text = wmt23_table.text()
    assert "ε of BLEU (zh-en:seg:acc-eq-opt, 3.55e-15) is a rounding error" in " ".join(
        text.split()
    )


@pytest.mark.parametrize(
    ("better", "worse", "difference", "williams", "exact"),
    [
        ("BLEU", "chrF", 0.050815, 0.013976788, 123),
        ("COMET", "BLEU", 0.073743, 0.000973890, 13),
        ("f200spBLEU", "BLEU", 0.002938, 0.375712958, 1476),
    ],
)
def test_differences_of_correlations_at_system_level(better, worse, difference, williams, exact):
    wmt23_table = tb.meta_evaluate(
        tree=EN_DE,
        metrics=[better, worse],
        statistics=tb.StatisticOptions(["pearson"], ["sys"]),
        tests=tb.AgreementTests(significance=100),
    )
    (test,) = wmt23_table.to_dict()["tests"]
    assert (test["first"], test["second"], test["exact"]) == (better, worse, True)
    assert test["difference"] == pytest.approx(difference, abs=6e-7)
    assert test["p"] == exact / 4096
    assert test["williams_p"] == pytest.approx(williams, abs=6e-10)


def test_domains_documents_and_another_years_tasks():

    def evaluated(*options, **keywords):
        statistics = tb.StatisticOptions(*options, **keywords)
        return tb.meta_evaluate(tree=EN_DE, metrics=["BLEU", "COMET"], statistics=statistics)

    table = evaluated(["pearson"], ["domain", "doc"])
    assert table["en-de", "COMET", "domain"].pearson.cells == 12 * 4
    assert table["en-de", "COMET", "doc"].pearson.value > 0.4324
    parts = evaluated(["pairwise"], ["sys"], by="domain")
    assert parts["all", "COMET"].pairwise.pairs == 4 * 66
    people = Tree(DATA, "wmt23").read_human_scores("en-de", "mqm", "seg")
    rated = evaluated(["pearson"], ["seg"], by="domain")
    sets = rated.to_dict()["sets"]
    assert sum(one["items"] for one in sets) == people.items
    folder = tb.TaskFolder(DATA, "wmt23", ["en-de"], preset="wmt24")
    later = tb.meta_evaluate(tree=folder, metrics=["BLEU", "COMET"]).to_dict()
    assert [task["name"] for task in later["tasks"]] == ["en-de:sys:spa", "en-de:seg:acc-eq-opt"]
    for row in later["metrics"]:
        values = [score["value"] for score in row["scores"].values()]
        assert row["average"] == pytest.approx(sum(values) / 2)


@pytest.mark.parametrize(
    ("extra_words", "message"),
    [
        (["-l", "en-fr"], "no human scores for en-fr; did you mean 'en-de'"),
        (["-l", "en-de", "-m", "BLUE"], "unknown metric 'BLUE'"),
        (
            ["--preset", "wmt20", "-l", "en-de"],
            "expected reference ref of wmt20 for en-de, found refA",
        ),
        (["-l", "en-de", "--gold", "esa"], "no human scores named 'esa'"),
    ],
)
def test_what_a_tree_does_not_have_is_told(extra_words, message, capsys):
    assert main(["meta", "--tree", str(DATA), *extra_words]) != 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize("by_tree", [False, True])
@pytest.mark.parametrize(
    ("copy_name", "include", "pearson", "reason"),
    [
        ("refA", False, 0.917, "identical to a reference"),
        ("copied", False, 0.917, "identical to a reference"),
        (None, False, 0.917, "a reference that some metrics did not score"),
        ("refA", True, 0.660, None),
        ("copied", True, 0.660, None),
    ],
)
def test_reference_among_outputs_is_left_out(
    copy_name, include, pearson, reason, by_tree, tmp_path
):
    """The reference may have any name, come from files or a tree, and have only human scores."""
    human = DATA / "human-scores" / "en-de.mqm.seg.score"
    reference = DATA / "references" / "en-de.refA.txt"
    outputs = sorted((DATA / "system-outputs" / "en-de").glob("[!r]*.txt"))
    for part in ("human-scores", "references", "system-outputs/en-de", "sources"):
        (tmp_path / part).mkdir(parents=True)
    shutil.copy(DATA / "sources" / "en-de.txt", tmp_path / "sources")
    people = tmp_path / "human-scores" / human.name
    people.write_text(human.read_text("utf-8").replace("refA", copy_name or "refA"), "utf-8")
    for path in outputs:
        shutil.copy(path, tmp_path / "system-outputs" / "en-de")
    if copy_name:
        shutil.copy(reference, tmp_path / "system-outputs" / "en-de" / f"{copy_name}.txt")
    shutil.copy(reference, tmp_path / "references")
    systems = sorted((tmp_path / "system-outputs" / "en-de").iterdir())
    if by_tree:
        input_words = ["--tree", tmp_path, "-l", "en-de"]
    else:
        input_words = ["--human", people, reference, "-i", *systems]
    out = tmp_path / "out.json"
    option_words = ["-m", "bleu", "--level", "sys", "--statistic", "pearson", "-o", out]
    if include:
        option_words.append("--include-references")
    assert main(["meta", *map(str, [*input_words, *option_words])]) == 0
    content = json.loads(out.read_text("utf-8"))
    (set_,) = content["sets"]
    scores = content["metrics"][0]["scores"][f"{set_['name']}:sys:pearson"]
    assert scores["value"] == pytest.approx(pearson, abs=5e-4)
    left_out = [one for one in set_["left_out"] if one["system"] in ("refA", copy_name)]
    if reason is None:
        assert left_out == []
        return
    reason = "the reference" if by_tree and copy_name != "copied" else reason
    assert left_out == [{"system": copy_name or "refA", "why": reason}]
    assert any(f"{copy_name or 'refA'} ({reason})" in note for note in content["notes"])
