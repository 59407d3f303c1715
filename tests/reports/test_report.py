"""tb.report: inputs, settings and the contents of the page."""

import hashlib
import json
import pickle
import random
import re

import polars as pl
import pyarrow as pa
import pytest
from page_parser import Page, decode_rows
from strategies import HOSTILE_NAMES

import truebleu as tb
from truebleu import InputError
from truebleu.comparison.comparison_request import Request, Significance
from truebleu.reports import report_builder
from truebleu.reports.browser_kernel import KERNEL_BLOCKS, load_kernel_blocks
from truebleu.reports.findings import compute_influences

REFERENCES = ["the cat is on the mat", "nobody was there at all", "it rains again today"] * 4
GOOD = ["the cat is on a mat", "nobody was there at all", "it rains again today"] * 4
POOR = ["a cat is at the mat", "nobody were here at all", "it rains again today"] * 4
SOURCE = ["die Katze", "niemand", "Regen"] * 4
SYSTEMS = {"good": GOOD, "poor": POOR}


def make_page(*arguments, **options) -> Page:
    arguments = arguments or (SYSTEMS, REFERENCES)
    return Page(tb.report(*arguments, **options).to_bytes())


# ---- contents of the page ----


def test_page_contains_texts_and_names():
    report_page = make_page(
        source=[*SOURCE[:-1], None],
        documents=["d1"] * 5 + ["d2"] * 7,
        labels={"domain": ["a", "b", "a"] * 4, "level": [1, None] * 6},
    )
    manifest = report_page.manifest
    assert report_page.texts("system0") == GOOD
    assert report_page.texts("system1") == POOR
    assert report_page.texts("reference0") == REFERENCES
    assert report_page.texts("source") == [*SOURCE[:-1], None]
    assert manifest["segments"] == manifest["embedded"] == 12
    assert manifest["documents"] == {"names": ["d1", "d2"], "block": "documents"}
    assert report_page.indices("documents") == [0] * 5 + [1] * 7
    assert manifest["labels"] == [
        {"name": "domain", "values": ["a", "b"], "block": "label0"},
        {"name": "level", "values": ["1", ""], "block": "label1"},
    ]
    assert report_page.indices("label1") == [0, 1] * 6


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
def test_statistics_and_scores_equal_metric(name):
    report_page = make_page(metrics=[name], embed_text=11)
    (setting,) = report_page.manifest["settings"]
    metric = tb.metric(f"{setting['metric']}|{setting['signature']}")
    for system, hypotheses in SYSTEMS.items():
        table = metric.statistics(hypotheses, REFERENCES)
        assert report_page.rows(0, system) == table.tolist()
        assert setting["scores"][system] == metric.score(hypotheses, REFERENCES).value
    assert tuple(setting["columns"]) == metric.columns
    assert setting["higher_is_better"] == (name != "ter")


def test_external_scores_are_columns():
    dice = random.Random(2)
    external_scores = {name: [dice.random() for _ in GOOD] for name in SYSTEMS}
    options = {"lower_is_better": "COMET", "confidence": 99, "samples": 99}
    report_page = make_page(scores={"COMET": external_scores}, **options)
    [column] = report_page.manifest["columns"]
    assert column["name"] == column["label"] == column["column"] == "COMET"
    assert column["signature"] == "given|sha256:a7afd478"
    assert not column["higher_is_better"]
    assert column["digits"] == 5
    for system, numbers in external_scores.items():
        block = report_page.blocks[column["blocks"][system]]
        assert decode_rows(block, 12, 1) == [[number] for number in numbers]
        assert column["scores"][system] == pytest.approx(sum(numbers) / 12)


def test_metric_without_viewer_support_is_column():
    report_page = make_page(metrics=["bleu", "rouge-l"], confidence=99, samples=99)
    assert [setting["name"] for setting in report_page.manifest["settings"]] == ["BLEU"]
    [column] = report_page.manifest["columns"]
    assert column["name"] == "ROUGE-L"
    assert "|type:l|" in column["signature"]
    rouge = tb.metric("rouge-l")
    for system, hypotheses in SYSTEMS.items():
        expected = rouge.segments(hypotheses, REFERENCES).tolist()
        block = report_page.blocks[column["blocks"][system]]
        assert decode_rows(block, 12, 1) == [[number] for number in expected]
        assert column["scores"][system] == rouge.score(hypotheses, REFERENCES).value


def test_numeric_blocks_precede_texts():
    options = {"source": SOURCE, "documents": ["d"] * 12, "also": ["lowercase"]}
    names = list(make_page(**options).blocks)
    # A page without all texts cannot count them.
    partial_names = list(make_page(**options, embed_text=11).blocks)
    assert [name for name in partial_names if name in names] == names
    counts = {"s0.0", "s0.1", "s1.0", "s1.1", "frequency", "ngrams"}
    assert {*partial_names} - {*names} == counts
    assert max(map(partial_names.index, counts)) < partial_names.index("texts")
    flags = ["h.0", "h.1", "h.2", "h.3"]
    assert names == ["documents", *flags, "lengths", *load_kernel_blocks(), "texts"]


# ---- settings ----


def test_further_settings_are_not_compared():
    report_page = make_page(also=["tokenize=char"])
    metric = tb.BLEU("char")
    further_setting = report_page.manifest["settings"][1]
    assert not further_setting["headline"]
    assert further_setting["column"] is None
    assert further_setting["scores"]["poor"] == metric.score(POOR, REFERENCES).value
    assert further_setting["blocks"] is None
    counted_rows = make_page(also=["tokenize=char"], embed_text=11).rows(1, "poor")
    assert counted_rows == metric.statistics(POOR, REFERENCES).tolist()
    assert [metric["name"] for metric in report_page.manifest["comparison"]["metrics"]] == ["BLEU"]


@pytest.mark.parametrize(
    ("metrics", "also", "labels"),
    [
        (["bleu"], ["tokenize=intl,char"], ["BLEU", "BLEU tok:intl", "BLEU tok:char"]),
        (["bleu"], "tokenize=intl+lowercase", ["BLEU", "BLEU case:lc tok:intl"]),
        (["bleu", "chrf"], ["lowercase"], ["BLEU", "chrF2", "BLEU case:lc", "chrF2 case:lc"]),
        # The report has the setting already.
        (["bleu"], ["tokenize=13a,intl"], ["BLEU", "BLEU tok:intl"]),
    ],
)
def test_parameter_changes_give_further_settings(metrics, also, labels):
    settings = tb.report(SYSTEMS, REFERENCES, metrics=metrics, also=also).to_dict()["settings"]
    assert [setting["label"] for setting in settings] == labels


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ("tokenise=intl", "also: unknown parameter 'tokenise'; did you mean 'tokenize'?"),
        ("tokenize=itnl", "also: tokenize=itnl: unknown tokenizer 'itnl'"),
        ("max_order=0", "also: max_order=0: "),
        ("blue", "unknown metric 'blue'; did you mean 'bleu'?"),
    ],
)
def test_invalid_setting_is_refused(also, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tb.report(SYSTEMS, REFERENCES, also=[also])


def test_custom_tokenizer_has_no_name():
    manifest = tb.report(SYSTEMS, REFERENCES, metrics=[tb.BLEU(str.split)]).to_dict()
    assert manifest["settings"][0]["parameters"]["tokenize"] is None
    assert json.dumps(manifest)


def test_metric_without_viewer_support_is_in_tables():
    manifest = tb.report(SYSTEMS, REFERENCES, metrics=["nist", "chrf"]).to_dict()
    assert [metric["name"] for metric in manifest["comparison"]["metrics"]] == ["NIST", "chrF2"]
    assert [setting["metric"] for setting in manifest["settings"]] == ["chrF"]
    metrics = "BLEU, chrF, TER, WER, MER, WIL, WIP and CER"
    message = f"metrics: expected at least one of {metrics}, found NIST"
    with pytest.raises(ValueError, match=message):
        tb.report(SYSTEMS, REFERENCES, metrics=["nist"])
    with pytest.raises(ValueError, match=f"also: expected {metrics}, found NIST"):
        tb.report(SYSTEMS, REFERENCES, also=["nist"])


# ---- inputs ----


def write_files(write):
    return (
        {name: write(f"{name}.en", lines) for name, lines in SYSTEMS.items()},
        write("reference.en", REFERENCES),
        write("source.de", SOURCE),
    )


def test_files_and_lists_give_same_blocks(write):
    systems, references, source = write_files(write)
    file_page = make_page(systems, references, source=source)
    list_page = make_page(SYSTEMS, REFERENCES, source=SOURCE)
    assert file_page.blocks == list_page.blocks
    file_hashes, list_hashes = (page.manifest["data_hash"] for page in (file_page, list_page))
    assert list(file_hashes.values()) == list(list_hashes.values())
    assert list(file_hashes) == ["good.en", "poor.en", "reference.en", "source.de"]
    assert list(list_hashes) == ["good", "poor", "reference", "source"]
    assert file_page.manifest["languages"] == {"source": "de", "target": "en"}
    assert list_page.manifest["languages"] == {"source": None, "target": None}


def test_file_hash_equals_sha256sum(write):
    systems, references, _ = write_files(write)
    hashes = tb.report(systems, references).to_dict()["data_hash"]
    assert hashes["reference.en"] == hashlib.sha256(references.read_bytes()).hexdigest()[:16]


def test_different_texts_have_different_hashes():
    hashes = {
        tb.report({"a": ["x", "y"]}, references).to_dict()["data_hash"]["reference 1"]
        for references in (
            [("a", "b"), ("c", None)],
            [("a\nb", "b"), ("c", None)],
            [("a", "b"), ("b\nc", None)],
            [(None, "b"), ("c", "a")],
        )
    }
    assert len(hashes) == 4


@pytest.mark.parametrize(
    "column",
    [pa.array, lambda texts: pa.chunked_array([texts]), pl.Series, tuple],
    ids=["pyarrow", "chunked", "polars", "tuple"],
)
def test_column_types_give_same_page(column):
    systems = {name: column(texts) for name, texts in SYSTEMS.items()}
    page = make_page(systems, column(REFERENCES), source=column(SOURCE))
    assert page.blocks == make_page(SYSTEMS, REFERENCES, source=SOURCE).blocks


def test_references_may_vary_in_number():
    references = [["a b c d", "a b"], "a b c e", ["x", None, "y z"], [None, "only"]]
    report_page = make_page({"s": ["a b c d", "a b c d", "x y z", "only"]}, references)
    assert report_page.manifest["references"] == 3
    assert report_page.texts("reference0") == ["a b c d", "a b c e", "x", None]
    assert report_page.texts("reference1") == ["a b", None, None, "only"]
    assert report_page.texts("reference2") == [None, None, "y z", None]


def test_multiple_reference_files(write):
    reference_files = [write("a.en", REFERENCES), write("b.en", reversed(REFERENCES))]
    report_page = make_page(SYSTEMS, reference_files)
    assert report_page.texts("reference1") == REFERENCES[::-1]
    assert list(report_page.manifest["data_hash"])[2:] == ["a.en", "b.en"]
    assert report_page.manifest["settings"][0]["signature"].startswith("nrefs:2|")


def test_unusual_strings_survive():
    odd = ["\ud800 lone", "nul \x00", "two\nlines", "\u2028", "</script><!--", "e\u0301 👩\u200d🔬"]
    report_page = make_page({"a": odd, "b": odd[::-1]}, odd, source=odd)
    assert report_page.texts("system0") == report_page.texts("source") == odd
    assert report_page.texts("system1") == odd[::-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": SOURCE[1:]}, "segments: sources 11, hypotheses 12"),
        ({"documents": ["d"] * 13}, "documents has 13 segments, but the systems have 12"),
        ({"documents": "d"}, "documents: expected a list of strings or a pathlib.Path"),
        ({"documents": ["d"] * 11 + [None]}, "documents: segment 12 has no label"),
        ({"labels": {"x": [1]}}, "labels: x has 1 segment, but the systems have 12"),
        ({"source": [["a", "b"]] * 12}, "source: segment 1 is of type list, not str"),
    ],
)
def test_inconsistent_inputs_are_refused(options, message):
    with pytest.raises((InputError, TypeError), match=re.escape(message)):
        tb.report(SYSTEMS, REFERENCES, **options)


def test_documents_may_be_numbered():
    manifest = make_page(documents=[7] * 5 + [8] * 7).manifest
    assert manifest["documents"]["names"] == ["7", "8"]


def test_tokens_are_refused():
    tokens = [text.split() for text in GOOD]
    message = "segment 1 is of type list, not str. A report shows text"
    with pytest.raises(InputError, match=message):
        tb.report({"good": tokens}, tokens, metrics=[tb.BLEU("none")])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\ta"], "line 1: duplicate column 'a'"),
        (["a\t"], "line 1: a column has no name"),
        (["a\tb", "1"], "line 2: expected 2 columns, as in line 1, found 1"),
        (["a", *["x"] * 3], "labels: a has 3 segments, but the systems have 12"),
    ],
)
def test_invalid_label_table_is_refused(write, lines, message):
    with pytest.raises(InputError, match=re.escape(message)):
        tb.report(SYSTEMS, REFERENCES, labels=write("labels.tsv", lines))


# ---- amount of text ----


def test_redacted_report_contains_no_text(write):
    systems, references, source = write_files(write)
    options = {"source": source, "metrics": ["bleu", "ter"], "redact_text": True}
    redacted_report = tb.report(systems, references, **options)
    data = redacted_report.to_bytes() + redacted_report._repr_html_().encode()
    blocks_by_name = Page(data).blocks
    blocks = b"".join(blocks_by_name[name] for name in {*blocks_by_name} - {*KERNEL_BLOCKS})
    for word in ("mat", "nobody", "niemand", "Regen"):
        assert re.search(rf"\b{word}\b".encode(), data) is None
        assert word.encode() not in blocks
    manifest = redacted_report.to_dict()
    assert manifest["redacted"]
    assert manifest["embedded"] == 0


def test_embed_text_limits_texts_but_not_numbers():
    report_page = make_page(embed_text=5, source=SOURCE)
    assert report_page.manifest["embedded"] == 5
    embedded = [i for i, text in enumerate(report_page.texts("system0")) if text is not None]
    assert len(embedded) == 5
    for name in ("system1", "reference0", "source"):
        assert [i for i, text in enumerate(report_page.texts(name)) if text is not None] == embedded
    assert len(report_page.rows(0, "good")) == 12
    assert make_page(embed_text=5, source=SOURCE).texts("system0") == report_page.texts("system0")


def test_most_influential_segment_is_embedded():
    odd = list(GOOD)
    odd[7] = "something else entirely of many many words"
    report = tb.report({"good": GOOD, "odd": odd}, REFERENCES, embed_text=2)
    assert Page(report.to_bytes()).texts("system1")[7] == odd[7]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", tb.BLEU(aggregate="segments")])
@pytest.mark.parametrize("names", [["good"], ["good", "poor"], ["good", "poor", "mixed"]])
def test_influence_equals_leave_one_out_change(metric, names):
    systems = {**SYSTEMS, "mixed": GOOD[:6] + POOR[6:]}
    selected_systems = {name: systems[name] for name in names}
    testing = Significance(test=None, confidence=10, seed=1)
    request = Request(selected_systems, REFERENCES, [metric], testing=testing)
    data = report_builder.ReportData(request)
    setting = data.settings[0]
    influences = compute_influences(setting.metric, setting.tables, names)

    def score_rows(rows):
        return [setting.metric.from_statistics(setting.tables[name][rows]).value for name in names]

    full_scores = score_rows(list(range(12)))
    for i in range(12):
        rest = score_rows([row for row in range(12) if row != i])
        changes = [after - before for after, before in zip(rest, full_scores, strict=True)]
        expected = [abs(change - changes[0]) for change in changes[1:]] or [abs(changes[0])]
        assert influences[i] == pytest.approx(max(expected), abs=1e-9)


# ---- report object ----


def test_same_input_gives_same_bytes():
    options = {"source": SOURCE, "metrics": ["bleu", "chrf"], "also": ["lowercase"]}
    first = tb.report(SYSTEMS, REFERENCES, **options).to_bytes()
    assert tb.report(SYSTEMS, REFERENCES, **options).to_bytes() == first
    assert tb.report(SYSTEMS, REFERENCES, workers=3, **options).to_bytes() == first


def test_saved_file_equals_html(tmp_path):
    path = tmp_path / "report.html"
    report = tb.report(SYSTEMS, REFERENCES, path=path)
    assert path.read_bytes() == report.to_bytes() == report.html().encode()
    report.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_to_dict_equals_manifest():
    report = tb.report(SYSTEMS, REFERENCES)
    assert json.loads(json.dumps(report.to_dict())) == Page(report.to_bytes()).manifest


def test_notebook_frame_is_sandboxed():
    frame = Page(tb.report(SYSTEMS, REFERENCES).show(rows=3, height=500)._repr_html_())
    ((tag, attributes),) = frame.elements
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["height"] == "500"
    inner = Page(attributes["srcdoc"])
    assert inner.manifest["embedded"] == 3
    assert sum(text is not None for text in inner.texts("system0")) == 3
    assert "default-src" in inner.policy


def test_frame_respects_embed_text():
    report = tb.report(SYSTEMS, REFERENCES, embed_text=2)
    ((_, attributes),) = Page(report.show()._repr_html_()).elements
    assert Page(attributes["srcdoc"]).manifest["embedded"] == 2


@pytest.mark.parametrize("wrong", [-1, 2.5, True, "all"])
def test_invalid_text_limits_are_refused(wrong):
    with pytest.raises(ValueError, match="embed_text="):
        tb.report(SYSTEMS, REFERENCES, embed_text=wrong)
    with pytest.raises(ValueError, match="rows="):
        tb.report(SYSTEMS, REFERENCES).show(wrong)


def test_comparison_can_be_reported(tmp_path):
    options = {"metrics": ["bleu", "chrf"], "baseline": "poor", "seed": 3, "confidence": 200}
    compared = tb.compare(SYSTEMS, REFERENCES, **options)
    path = tmp_path / "page.html"
    content = tb.report(compared, source=SOURCE, title="Cats", path=path).to_bytes()
    expected = tb.report(SYSTEMS, REFERENCES, source=SOURCE, title="Cats", **options)
    assert content == expected.to_bytes() == path.read_bytes()


def test_report_can_be_pickled():
    report = tb.report(SYSTEMS, REFERENCES, source=SOURCE)
    assert pickle.loads(pickle.dumps(report)).to_bytes() == report.to_bytes()


def test_restored_comparison_has_no_text():
    compared = tb.compare(SYSTEMS, REFERENCES)
    saved = type(compared).from_json(compared.to_json())
    for restored in (saved, pickle.loads(pickle.dumps(compared))):
        assert restored == compared
        with pytest.raises(ValueError, match="has no text"):
            tb.report(restored)


def test_comparison_without_rereadable_text_is_refused():
    scores_only = tb.compare(None, None, metrics=(), scores={"S": {"a": [1, 2, 3], "b": [2, 2, 4]}})
    with pytest.raises(ValueError, match="comparison of external scores has no text"):
        tb.report(scores_only)
    content = tb.compare({"a": GOOD}, REFERENCES).to_dict()
    piped = tb.Comparison(content, Request({"a": tb.File("-")}, REFERENCES))
    with pytest.raises(ValueError, match="standard input cannot be read twice"):
        tb.report(piped)
    with pytest.raises(TypeError, match="a Comparison already has references"):
        tb.report(tb.compare(SYSTEMS, REFERENCES), REFERENCES)
    for settled in ({"test": "bs"}, {"samples": 10}, {"level": 0.9}, {"metrics": ["chrf"]}):
        with pytest.raises(TypeError, match="already has references, metrics and tests"):
            tb.report(tb.compare(SYSTEMS, REFERENCES), **settled)


@pytest.mark.parametrize("text", HOSTILE_NAMES)
def test_hostile_fields_add_no_elements(text):
    def build_page(text):
        texts = [text, "b", "c"]
        return make_page(
            {text: texts, "other": ["b", text, text]},
            [(text, None), ("b", text), ("c", "d")],
            source=texts,
            documents=texts,
            labels={text: texts},
            title=text,
            metrics=["bleu", "ter"],
            scores={text: {text: [1, 2, 3], "other": [3, 2, 2]}},
            languages=(text, text),
        )

    harmless, hostile = build_page("a word that is long enough"), build_page(text)
    assert hostile.tags <= harmless.tags
    assert hostile.attributes <= harmless.attributes
    assert hostile.policy == harmless.policy
    assert [a for a, _ in hostile.scripts] == [a for a, _ in harmless.scripts]
    assert hostile.texts("system0")[0] == text
    assert hostile.manifest["documents"]["names"][0] == text
    assert hostile.manifest["systems"][0]["name"] == hostile.manifest["title"] == text


def test_report_is_a_function_and_a_module():
    from truebleu.reports import Report, report

    assert isinstance(tb.report(SYSTEMS, REFERENCES), Report)
    assert isinstance(report(SYSTEMS, REFERENCES), Report)
    assert tb.Report is Report
