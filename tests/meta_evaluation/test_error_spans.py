"""Readers of error spans: every format, positions in code points, and messages for broken files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import defaultdict
from math import fsum

import pytest

import truebleu as tb
from truebleu.cli import main
from truebleu.meta_evaluation import score_files, tasks

MQM_HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
# The emoji has two UTF-16 units. Appraise counts <br> as one unit; Pearmut does not count \n.
SOURCE, TARGET = "Die Katze sitzt.", "A 😀 dog\nsits here."


def appraise_line(errors, *, segment="1", kind="TGT", document="news.1#B"):
    cells = ("ann1", "B", segment, kind, "deu", "eng", "70", document, "False")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([*cells, json.dumps(errors), "1.5", "2.5"])
    return text.getvalue()


def wmt25_line(errors, target=TARGET):
    scores = {"B": {"human1": 70.0, "errors1": errors, "annotator1": "ann1"}}
    texts = {"doc_id": "de-en_#_news_#_1_#_0", "src_text": SOURCE, "tgt_text": {"B": target}}
    return json.dumps({**texts, "scores": scores})


def wmt24_line(errors, target=TARGET):
    texts = {"src": SOURCE, "tgt": target, "system": "B", "annotator": "ann1"}
    return json.dumps({"langs": "de-en", "line_id": 1, **texts, "esa_spans": errors})


def pearmut_item(**fields):
    return {"item_id": "i1", "src": SOURCE, "tgt": {"B": TARGET}, **fields}


def pearmut_export(*records):
    return json.dumps({"de-en": list(records)}, indent=1)


def pearmut_record(errors, item_id="i1"):
    item = pearmut_item(item_id=item_id)
    return {"user_id": "ann1", "item": [item], "annotation": [{"B": {"error_spans": errors}}]}


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, **options):
        path = tmp_path / "spans.data"
        path.write_text(text, encoding="utf-8")
        return tb.read_spans(path, **options)

    return write_and_read


def list_spans(spans):
    return [(one.start, one.end, one.side, one.severity, one.category) for one in spans]


# "dog" is at 4-7 in code points, at 5-8 in UTF-16 units; "here" at 13-17, 14-18, and 13-17 without
# the line break.
DOG = {"start_i": 5, "end_i": 7, "severity": "Major", "error_type": ["Accuracy", "Mistranslation"]}
ABSENT = {"start_i": "missing", "end_i": "missing", "severity": "minor", "error_type": None}
APPRAISE_SPANS = [
    (4, 7, "target", "major", "Accuracy/Mistranslation"),
    (None, None, "target", "minor", "[missing]"),
]
MQM_ROWS = (
    f"B\t1\t1\t7\tann1\t{SOURCE}\tA <v>dog</v> sits.\tAccuracy/Mistranslation\tMajor\n"
    "B\t1\t1\t7\tann1\tDie <v>Katze</v> sitzt.\tA dog sits.\tAccuracy/Omission\tMinor\n"
    f"C\t1\t1\t7\tann1\t{SOURCE}\tA cat sits.\tNo-error\tNo-error\n"
)
RATING = (
    'B\t{"errors": [{"start": 2, "end": 5, "category": "a", "severity": "major"}, '
    '{"start": 0, "end": 3, "severity": "minor", "is_source_error": true}]}\tr1\nB\tNone\n'
)


def make_span(start, end, severity="minor", category=None):
    return {"start_i": start, "end_i": end, "severity": severity, "category": category}


SPANS = [make_span(13, 16, category="x"), make_span(18, 18, None), make_span(19, 19, "neutral")]
CAMPAIGN = {
    "campaign_id": "c",
    "info": {"protocol": "ESA", "special_tokens": ["[missing]", "[too long]"]},
    "data": [[[pearmut_item(error_spans={"B": SPANS})]]],
}
UNPLACED = [
    (None, None, "target", "", "[missing]"),
    (None, None, "target", "neutral", "[too long]"),
]
EXPORT = pearmut_export(
    pearmut_record([{"start_i": 0, "end_i": 0, "severity": "minor"}]),
    {"item": [], "annotation": "__RESET__"},
    pearmut_record([DOG], "attention_check_3"),
    pearmut_record([DOG], "de-en_#_tutorial_#_1"),
    pearmut_record(SPANS[:1]),
)
RATED = [(2, 5, "target", "major", "a"), (0, 3, "source", "minor", "")]
MARKED = [
    (2, 5, "target", "major", "Accuracy/Mistranslation"),
    (4, 9, "source", "minor", "Accuracy/Omission"),
]
HERE = [(13, 17, "target", "minor", "x")]


@pytest.mark.parametrize(
    ("text", "file_format", "expected"),
    [
        (wmt25_line([DOG, ABSENT]), "WMT25", APPRAISE_SPANS),
        (wmt24_line([DOG, ABSENT]), "WMT24", APPRAISE_SPANS),
        (json.dumps(CAMPAIGN, indent=2), "Pearmut", [*HERE, *UNPLACED]),
        (EXPORT, "Pearmut", HERE),
        (RATING, "mt-metrics-eval", RATED),
        (MQM_HEADER + MQM_ROWS, "MQM", MARKED),
    ],
)
def test_each_format_becomes_half_open_code_points(read, text, file_format, expected):
    spans = read(text)
    assert spans.format == file_format
    assert list_spans(spans) == expected
    assert {(one.system, one.annotator) for one in spans} <= {("B", "ann1"), ("B", "r1"), ("B", "")}


def test_appraise_positions_are_converted_with_the_text(read):
    lines = appraise_line([DOG, ABSENT]) + appraise_line([DOG], kind="BAD", segment="2")
    lines += appraise_line([DOG], document="de-tutorial1") + appraise_line([], document="d#dup")
    spans = read(lines, first=1)
    assert (spans.format, len(spans.annotations)) == ("Appraise", 1)
    annotation = spans.annotations[0]
    assert (annotation.number, annotation.document) == (1, "news.1")
    assert list_spans(annotation.locate_errors(TARGET, None).errors) == APPRAISE_SPANS
    # Appraise removes white space around the text, and shows <br> as one character.
    text = f" {TARGET}".replace("\n", "<br>")
    here = read(appraise_line([{"start_i": 14, "end_i": 17, "severity": "minor"}]), first=1)
    (error,) = here.annotations[0].locate_errors(text, None).errors
    assert text[error.start : error.end] == "here"


def test_appraise_file_needs_the_number_of_the_first_segment(read):
    with pytest.raises(tb.InputError, match="number of the first segment is unknown"):
        read(appraise_line([]))
    assert [read(appraise_line([]), first=k).annotations[0].number for k in (0, 1)] == [2, 1]


def test_annotations_without_errors_are_kept(read):
    spans = read(MQM_HEADER + MQM_ROWS)
    assert [(one.system, len(one.errors)) for one in spans.annotations] == [("B", 2), ("C", 0)]


def test_mark_without_an_end_extends_to_the_end_of_the_text(read):
    (span,) = read(MQM_HEADER + "B\t1\t1\t7\tr\tX\tSo <v>ein Satz.\tStyle/Awkward\tMinor\n")
    assert (span.start, span.end) == (3, 12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld\n", "spans.data, line 1: expected error spans of WMT25, WMT24, Appraise"),
        ("", "line 1: expected error spans"),
        ('{"a": 1}\n', "spans.data, line 1: expected WMT25 (scores, tgt_text)"),
        ('{"a": [\n1,,]}', "spans.data, line 2, column 3: not JSON"),
        (
            wmt25_line([]) + "\n" + wmt25_line([{"start_i": 0, "end_i": 19}]),
            "spans.data, line 2: the span from 0 to 19 is outside the text, which has 19 char",
        ),
        (wmt25_line([{"start_i": 0}]), "line 1: expected whole numbers as start and end"),
        (wmt25_line("none"), "line 1: expected a list of errors, found 'none'"),
        (wmt25_line([]).replace('"tgt_text"', '"tgt_text": {}, "x"'), "line 1: no text of 'B'"),
        (wmt24_line([{"start_i": 3, "end_i": 2}]), "line 1: the span from 3 to 2 is outside"),
        (
            json.dumps(CAMPAIGN, indent=2).replace('"start_i": 18', '"start_i": 17'),
            "spans.data, line 14: the span from 17 to 18 is outside the text",
        ),
        (
            pearmut_export(pearmut_record([]), pearmut_record([{"start_i": 99, "end_i": 99}])),
            "spans.data, line 26: the span from 99 to 99",
        ),
        (pearmut_export({"item": 3}), "line 1: expected Pearmut records with lists 'item' and"),
        ('B\tNone\nB\t{"errors": 1}\n', "line 2: expected a list of errors, found 1"),
        ("B\tNone\nB\n", "line 2: expected a system, a rating and optionally a rater"),
        ("B\t{}\nB\t{]\n", "spans.data, line 1: expected a list of errors, found None"),
        (appraise_line([], segment="x"), "line 1: expected 12 columns with the number"),
        (MQM_HEADER + MQM_ROWS.replace("</v> sits", "<v> sits"), "line 2: expected one <v>…</v>"),
        (MQM_HEADER + MQM_ROWS.replace("sits", "sat", 1), "line 3: expected the target of"),
        (MQM_HEADER + "B\t1\n", "line 2: expected 9 columns, as in the header, found 2"),
        (MQM_HEADER, "no annotations found in this file (MQM format)"),
    ],
)
def test_broken_file_names_file_and_line(read, text, message):
    with pytest.raises(tb.InputError) as error:
        read(text, first=1)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# ---- published values ----


def read_published(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            system, score, segment = line.split()
            if score != "None":
                # The annotation files call the human reference "ref".
                system = {"ref-A": "ref", "ref-B": "refB"}.get(system, system)
                yield system, int(segment), float(score)


@pytest.mark.parametrize("pair", ["ende", "zhen"])
def test_ted_scores_equal_the_published_averages(shared, pair):
    """Scores of both readers; the marked spans weigh what the rows weigh."""
    folder = shared / "data" / "wmt25-human"
    table = score_files.read_score_file(folder / f"mqm_ted_{pair}.tsv.gz")
    raters = defaultdict(dict)
    for one in tb.read_spans(folder / f"mqm_ted_{pair}.tsv.gz").annotations:
        weights = [score_files.get_error_weight(e.severity, e.category) for e in one.errors]
        raters[one.system, one.number][one.annotator] = fsum(weights)
    places = {item: i for i, item in enumerate(table.items)}
    published = list(read_published(folder / f"mqm_ted_{pair}.avg_seg_scores.tsv.gz"))
    outputs = [row for row in published if not row[0].startswith("ref")]
    assert len(outputs) == 13 * 529
    for system, segment, score in published:
        assert table.matrix.get_row(system)[places[segment]] == pytest.approx(score, abs=5e-7)
        sums = raters[system, segment].values()
        assert -fsum(sums) / len(sums) == pytest.approx(score, abs=5e-7)
    means = dict(zip(table.matrix.systems, table.matrix.compute_means().values, strict=True))
    with (folder / "mqm_ted_published.tsv").open(encoding="utf-8") as lines:
        rows = [
            row for row in csv.DictReader(lines, delimiter="\t") if row["language_pair"] == pair
        ]
    assert len(rows) == len(means)
    for row in rows:
        system = {"ref.A": "ref", "ref.B": "refB"}.get(row["system"], row["system"])
        assert -means[system] == pytest.approx(float(row["mqm"]), abs=0.01)


def test_autorank_equals_all_published_values(shared):
    folder = shared / "data" / "wmt25-human"
    with (folder / "autorank_published.tsv").open(encoding="utf-8") as lines:
        published = list(csv.DictReader(lines, delimiter="\t"))
    used = {(row["language_pair"], row["column"]) for row in published}
    means = defaultdict(lambda: defaultdict(dict))
    with (folder / "autorank_means.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if (row["language_pair"], row["metric"]) in used:
                scores = means[row["language_pair"]][row["system"]]
                scores[row["metric"]] = float(row["mean"])
    ranks = {pair: tb.autorank(systems) for pair, systems in means.items()}
    values = [row for row in published if row["column"] == "AutoRank"]
    assert len(values) == 1066
    for row in values:
        assert round(ranks[row["language_pair"]][row["system"]], 1) == float(row["published"])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "expected at least one system and one metric"),
        ({"A": {"x": 1.0}, "B": {"y": 1.0}}, "B: expected the metrics x, as for the other systems"),
        ({"A": {"x": float("nan")}}, "A: expected finite numbers"),
        ({"A": {"x": 1.0}, "B": {"x": "2"}}, "B: expected finite numbers"),
    ],
)
def test_autorank_rejects_incomplete_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        tb.autorank(scores)


def test_autorank_of_equal_systems_is_one():
    assert tb.autorank({"A": {"x": 1.0}, "B": {"x": 1.0}}) == {"A": 1.0, "B": 1.0}
    assert tb.autorank({"A": {"x": 1.0}}) == {"A": 1.0}


# ---- the preset ----


def test_wmt25_preset_runs_both_tasks_on_the_official_gold(tmp_path, capsys):
    """mt-metrics-eval 68a481a: tasks.WMT25 and meta_info.WMT25, WMT25_ESA."""
    preset = tasks.PRESETS["wmt25"]
    facts = tasks.FACTS["wmt25"]
    assert len(preset.pairs) == 16
    assert set(preset.pairs) == set(facts)
    assert {pair for pair in facts if facts[pair].gold == "mqm"} == {"ja-zh_CN", "en-ko_KR"}
    assert {one.gold for one in facts.values()} == {"mqm", "esa-human1"}
    assert {(one.reference, one.humans) for one in facts.values()} == {("refA", False)}
    for pair in ("en-cs_CZ", "ja-zh_CN"):
        scores = {"A": [1, 2, 3, 5], "B": [2, 1, 4, 4], "C": [5, 3, 4, 6], "refA": [7, 7, 7, 7]}
        for name in ("human-scores", f"metric-scores/{pair}", "documents", "references"):
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
        for gold in ("mqm", "esa-human1", "other"):
            for level, rows in (
                ("seg", [(s, v) for s, x in scores.items() for v in x]),
                ("sys", [(s, sum(x) / 4) for s, x in scores.items()]),
            ):
                text = "".join(f"{system}\t{value}\n" for system, value in rows)
                (tmp_path / "human-scores" / f"{pair}.{gold}.{level}.score").write_text(text)
                metric = "".join(f"{s}\t{v}\n" for s, v in rows if s != "refA")
                path = tmp_path / "metric-scores" / pair / f"chrF-refA.{level}.score"
                path.write_text(metric)
        (tmp_path / "documents" / f"{pair}.docs").write_text("news\td1\n" * 4)
        (tmp_path / "references" / f"{pair}.refA.txt").write_text("x\n" * 4)
    folder = tb.TaskFolder(tmp_path, language_pairs=["en-cs_CZ", "ja-zh_CN"], preset="wmt25")
    table = tb.meta_evaluate(tree=folder).to_dict()
    assert [(one["name"], one["gold"]) for one in table["sets"]] == [
        ("en-cs_CZ", "esa-human1"),
        ("ja-zh_CN", "mqm"),
    ]
    assert [(task["name"], task["weight"]) for task in table["tasks"]] == [
        ("en-cs_CZ:sys:spa", 1.0),
        ("en-cs_CZ:seg:acc-eq-opt", 1.0),
        ("ja-zh_CN:sys:spa", 1.0),
        ("ja-zh_CN:seg:acc-eq-opt", 1.0),
    ]
    assert {task["average"] for task in table["tasks"]} == {"none", "item"}
    assert main(["meta", "--tree", str(tmp_path), "--preset", "wmt25", "-l", "ja-zh_CN"]) == 0
    assert "chrF" in capsys.readouterr().out
