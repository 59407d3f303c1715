"""tb.report: what people pass, read once; what the page has of it."""

import hashlib
import json
import pickle
import random
import re

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_parser import Page, decoded_rows

import truebleu as tb
from truebleu import InputError
from truebleu.comparison.comparison_request import Request, Significance
from truebleu.reports import browser_kernel, report_builder
from truebleu.reports.influence import segment_influences

REFERENCES = ["the cat is on the mat", "nobody was there at all", "it rains again today"] * 4
GOOD = ["the cat is on a mat", "nobody was there at all", "it rains again today"] * 4
POOR = ["a cat is at the mat", "nobody were here at all", "it rains again today"] * 4
SOURCE = ["die Katze", "niemand", "Regen"] * 4
SYSTEMS = {"good": GOOD, "poor": POOR}


def page(*arguments, **options) -> Page:
    arguments = arguments or (SYSTEMS, REFERENCES)
    return Page(tb.report(*arguments, **options).to_bytes())


# ---- what is in the page ----


def test_texts_tables_and_names_come_back():
    made = page(
        source=[*SOURCE[:-1], None],
        documents=["d1"] * 5 + ["d2"] * 7,
        labels={"domain": ["a", "b", "a"] * 4, "level": [1, None] * 6},
    )
    told = made.manifest
    assert made.texts("system0") == GOOD
    assert made.texts("system1") == POOR
    assert made.texts("reference0") == REFERENCES
    assert made.texts("source") == [*SOURCE[:-1], None]
    assert told["segments"] == told["embedded"] == 12
    assert told["documents"] == {"names": ["d1", "d2"], "block": "documents"}
    assert made.indices("documents") == [0] * 5 + [1] * 7
    assert told["labels"] == [
        {"name": "domain", "values": ["a", "b"], "block": "label0"},
        {"name": "level", "values": ["1", ""], "block": "label1"},
    ]
    assert made.indices("label1") == [0, 1] * 6


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
def test_statistics_and_scores_are_those_of_the_metric(name):
    made = page(metrics=[name], embed_text=11)
    (setting,) = made.manifest["settings"]
    metric = tb.metric(f"{setting['metric']}|{setting['signature']}")
    for system, hypotheses in SYSTEMS.items():
        table = metric.statistics(hypotheses, REFERENCES)
        assert made.rows(0, system) == table.tolist()
        assert setting["scores"][system] == metric.score(hypotheses, REFERENCES).value
    assert tuple(setting["columns"]) == metric.columns
    assert setting["higher_is_better"] == (name != "ter")


def test_scores_from_elsewhere_and_other_metrics_are_columns():
    dice = random.Random(2)
    given = {name: [dice.random() for _ in GOOD] for name in SYSTEMS}
    made = page(scores={"COMET": given}, lower_is_better="COMET", confidence=99, samples=99)
    [column] = made.manifest["columns"]
    assert [column[key] for key in ("name", "label", "column", "signature")] == [
        *("COMET",) * 3,
        "given|sha256:a7afd478",
    ]
    assert not column["higher_is_better"]
    assert column["digits"] == 5
    for system, numbers in given.items():
        block = made.blocks[column["blocks"][system]]
        assert decoded_rows(block, 12, 1) == [[number] for number in numbers]
        assert column["scores"][system] == pytest.approx(sum(numbers) / 12)


def test_a_metric_whose_formula_the_page_has_not_is_a_column():
    made = page(metrics=["bleu", "rouge-l"], confidence=99, samples=99)
    assert [setting["name"] for setting in made.manifest["settings"]] == ["BLEU"]
    [column] = made.manifest["columns"]
    assert column["name"] == "ROUGE-L"
    assert "|type:l|" in column["signature"]
    rouge = tb.metric("rouge-l")
    for system, hypotheses in SYSTEMS.items():
        expected = rouge.segments(hypotheses, REFERENCES).tolist()
        block = made.blocks[column["blocks"][system]]
        assert decoded_rows(block, 12, 1) == [[number] for number in expected]
        assert column["scores"][system] == rouge.score(hypotheses, REFERENCES).value


def test_without_such_scores_a_page_has_no_columns():
    made = page(metrics=["bleu", "chrf", "ter"], confidence=9, samples=9)
    assert made.manifest["columns"] == []
    assert not [name for name in made.blocks if name.startswith("c")]


def test_numbers_stand_before_texts():
    given = {"source": SOURCE, "documents": ["d"] * 12, "also": ["lowercase"]}
    names = list(page(**given).blocks)
    # A page that has not all texts cannot count them.
    some = list(page(**given, embed_text=11).blocks)
    assert [name for name in some if name in names] == names
    counts = {"s0.0", "s0.1", "s1.0", "s1.1", "frequency", "ngrams"}
    assert {*some} - {*names} == counts
    assert max(map(some.index, counts)) < some.index("texts")
    assert names == [
        "documents",
        *("h.0", "h.1", "h.2", "h.3", "lengths"),
        *browser_kernel.load_kernel_blocks(),
        "texts",
    ]


def test_the_comparison_is_that_of_compare():
    compared = tb.compare(SYSTEMS, REFERENCES, metrics=["bleu", "chrf"], correction="holm")
    told = page(metrics=["bleu", "chrf"], correction="holm").manifest
    assert told["comparison"] == json.loads(compared.to_json())
    assert [setting["column"] for setting in told["settings"]] == ["BLEU", "chrF2"]


def test_of_one_system_there_are_intervals():
    told = page({"good": GOOD}, REFERENCES).manifest
    assert told["comparison"]["systems"][0]["scores"]["BLEU"]["interval"]["low"] > 0


# ---- settings ----


def labels_of(**options):
    return [s["label"] for s in tb.report(SYSTEMS, REFERENCES, **options).to_dict()["settings"]]


def test_further_settings_are_changes_of_those_that_there_are():
    assert labels_of(also=["tokenize=intl,char", "lowercase"]) == [
        *("BLEU", "BLEU tok:intl", "BLEU tok:char", "BLEU case:lc")
    ]
    assert labels_of(also="tokenize=intl+lowercase") == ["BLEU", "BLEU case:lc tok:intl"]
    assert labels_of(metrics=["bleu", "chrf"], also=["lowercase"]) == [
        *("BLEU", "chrF2", "BLEU case:lc", "chrF2 case:lc")
    ]
    assert labels_of(also=["max_order=2", "smoothing=add-k"])[1:] != []


def test_further_settings_may_be_other_metrics():
    assert labels_of(also=["chrf++", tb.BLEU("char")]) == ["BLEU", "chrF2++", "BLEU tok:char"]


def test_further_settings_are_counted_with_the_others_and_not_compared():
    made = page(also=["tokenize=char"])
    metric = tb.BLEU("char")
    further = made.manifest["settings"][1]
    assert not further["headline"]
    assert further["column"] is None
    assert further["scores"]["poor"] == metric.score(POOR, REFERENCES).value
    assert further["blocks"] is None
    counted = page(also=["tokenize=char"], embed_text=11).rows(1, "poor")
    assert counted == metric.statistics(POOR, REFERENCES).tolist()
    assert [metric["name"] for metric in made.manifest["comparison"]["metrics"]] == ["BLEU"]


def test_a_setting_that_is_there_already_is_not_there_twice():
    assert labels_of(also=["tokenize=13a,intl"]) == ["BLEU", "BLEU tok:intl"]


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ("tokenise=intl", "also: unknown parameter 'tokenise'; did you mean 'tokenize'?"),
        ("tokenize=itnl", "also: tokenize=itnl: unknown tokenizer 'itnl'"),
        ("max_order=0", "also: max_order=0: "),
        ("blue", "unknown metric 'blue'; did you mean 'bleu'?"),
    ],
)
def test_a_setting_that_there_is_not_is_refused(also, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tb.report(SYSTEMS, REFERENCES, also=[also])


def test_a_tokenizer_of_ones_own_has_no_name_in_the_page():
    told = tb.report(SYSTEMS, REFERENCES, metrics=[tb.BLEU(str.split)]).to_dict()
    assert told["settings"][0]["parameters"]["tokenize"] is None
    assert json.dumps(told)


def test_a_metric_that_the_page_cannot_browse_is_in_its_tables():
    told = tb.report(SYSTEMS, REFERENCES, metrics=["nist", "chrf"]).to_dict()
    assert [metric["name"] for metric in told["comparison"]["metrics"]] == ["NIST", "chrF2"]
    assert [setting["metric"] for setting in told["settings"]] == ["chrF"]
    metrics = "BLEU, chrF, TER, WER, MER, WIL, WIP and CER"
    with pytest.raises(
        ValueError, match=f"metrics: expected at least one of {metrics}, found NIST"
    ):
        tb.report(SYSTEMS, REFERENCES, metrics=["nist"])
    with pytest.raises(ValueError, match=f"also: expected {metrics}, found NIST"):
        tb.report(SYSTEMS, REFERENCES, also=["nist"])


# ---- inputs ----


def files(write):
    return (
        {name: write(f"{name}.en", lines) for name, lines in SYSTEMS.items()},
        write("reference.en", REFERENCES),
        write("source.de", SOURCE),
    )


def test_files_and_lists_give_the_same_page_but_for_names(write):
    systems, references, source = files(write)
    ours = page(systems, references, source=source)
    theirs = page(SYSTEMS, REFERENCES, source=SOURCE)
    assert ours.blocks == theirs.blocks
    assert list(ours.manifest["data_hash"].values()) == list(theirs.manifest["data_hash"].values())
    assert list(ours.manifest["data_hash"]) == ["good.en", "poor.en", "reference.en", "source.de"]
    assert list(theirs.manifest["data_hash"]) == ["good", "poor", "reference", "source"]
    assert ours.manifest["languages"] == {"source": "de", "target": "en"}
    assert theirs.manifest["languages"] == {"source": None, "target": None}


def test_the_hash_of_a_file_is_that_of_sha256sum(write):
    systems, references, _ = files(write)
    told = tb.report(systems, references).to_dict()["data_hash"]
    assert told["reference.en"] == hashlib.sha256(references.read_bytes()).hexdigest()[:16]


def test_different_texts_have_different_hashes():
    told = [
        tb.report({"a": ["x", "y"]}, references).to_dict()["data_hash"]["reference 1"]
        for references in (
            [("a", "b"), ("c", None)],
            [("a\nb", "b"), ("c", None)],
            [("a", "b"), ("b\nc", None)],
            [(None, "b"), ("c", "a")],
        )
    ]
    assert len(set(told)) == 4


@pytest.mark.parametrize(
    "made",
    [pa.array, pa.chunked_array, pl.Series, tuple],
    ids=["pyarrow", "chunked", "polars", "tuple"],
)
def test_columns_of_others_give_the_same_page(made):
    column = (lambda texts: pa.chunked_array([texts])) if made is pa.chunked_array else made
    systems = {name: column(texts) for name, texts in SYSTEMS.items()}
    ours = page(systems, column(REFERENCES), source=column(SOURCE))
    assert ours.blocks == page(SYSTEMS, REFERENCES, source=SOURCE).blocks


def test_references_may_vary_in_number():
    references = [["a b c d", "a b"], "a b c e", ["x", None, "y z"], [None, "only"]]
    made = page({"s": ["a b c d", "a b c d", "x y z", "only"]}, references)
    assert made.manifest["references"] == 3
    assert made.texts("reference0") == ["a b c d", "a b c e", "x", None]
    assert made.texts("reference1") == ["a b", None, None, "only"]
    assert made.texts("reference2") == [None, None, "y z", None]


def test_several_files_of_references(write):
    both = [write("a.en", REFERENCES), write("b.en", reversed(REFERENCES))]
    made = page(SYSTEMS, both)
    assert made.texts("reference1") == REFERENCES[::-1]
    assert list(made.manifest["data_hash"])[2:] == ["a.en", "b.en"]
    assert made.manifest["settings"][0]["signature"].startswith("nrefs:2|")


def test_any_string_is_text():
    odd = ["\ud800 lone", "nul \x00", "two\nlines", "\u2028", "</script><!--", "e\u0301 👩\u200d🔬"]
    made = page({"a": odd, "b": odd[::-1]}, odd, source=odd)
    assert made.texts("system0") == made.texts("source") == odd
    assert made.texts("system1") == odd[::-1]


@pytest.mark.thorough
@given(st.lists(st.text(st.characters(), max_size=9), min_size=1, max_size=4))
@settings(max_examples=25)
def test_any_strings_are_text(texts):
    made = page({"a": texts}, texts, source=texts, confidence=10)
    assert made.texts("system0") == made.texts("reference0") == made.texts("source") == texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": SOURCE[1:]}, "source has 11 segments, and the systems have 12"),
        ({"documents": ["d"] * 13}, "documents has 13 segments, and the systems have 12"),
        ({"documents": "d"}, "documents: expected a list of strings, or pathlib.Path"),
        ({"documents": ["d"] * 11 + [None]}, "documents: segment 12 has none"),
        ({"labels": {"x": [1]}}, "labels: x has 1 segments, and the systems have 12"),
        ({"source": [["a", "b"]] * 12}, "source: segment 1 is of type list, not str"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises((InputError, TypeError), match=re.escape(message)):
        tb.report(SYSTEMS, REFERENCES, **options)


def test_documents_may_be_numbered():
    told = page(documents=[7] * 5 + [8] * 7).manifest
    assert told["documents"]["names"] == ["7", "8"]


def test_systems_of_different_lengths_are_refused():
    with pytest.raises(InputError, match=r"poor: .*12 references|different numbers of segments"):
        tb.report({"good": GOOD, "poor": POOR[1:]}, REFERENCES)


def test_tokens_are_refused():
    tokens = [text.split() for text in GOOD]
    with pytest.raises(InputError, match="segment 1 is of type list, not str; a report shows text"):
        tb.report({"good": tokens}, tokens, metrics=[tb.BLEU("none")])


def test_a_source_that_is_not_utf_8_is_refused(tmp_path):
    path = tmp_path / "source.txt"
    path.write_bytes(b"one\n" * 4 + b"tw\xff\n" + b"x\n" * 7)
    with pytest.raises(InputError, match=r"source \(source.txt\), line 5: byte 0xff is not UTF-8"):
        tb.report(SYSTEMS, REFERENCES, source=path)


def test_a_table_of_labels(write):
    path = write("labels.tsv", ["domain\tlevel", *["news\t1", "chat\t"] * 6])
    told = page(labels=path).manifest["labels"]
    assert [(label["name"], label["values"]) for label in told] == [
        ("domain", ["news", "chat"]),
        ("level", ["1", ""]),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\ta"], "line 1: 'a' is there twice"),
        (["a\t"], "line 1: it names the columns, and one has no name"),
        (["a\tb", "1"], "line 2: 1 tab-separated column, and line 1 names 2"),
        (["a", *["x"] * 3], "labels: a has 3 segments, and the systems have 12"),
    ],
)
def test_a_table_of_labels_that_does_not_fit(write, lines, message):
    with pytest.raises(InputError, match=re.escape(message)):
        tb.report(SYSTEMS, REFERENCES, labels=write("labels.tsv", lines))


# ---- how much text ----


def test_without_text_there_is_none(write):
    systems, references, source = files(write)
    made = tb.report(systems, references, source=source, metrics=["bleu", "ter"], redact_text=True)
    data = made.to_bytes() + made._repr_html_().encode()
    named = Page(data).blocks.items()
    blocks = b"".join(block for name, block in named if name not in browser_kernel.KERNEL_BLOCKS)
    for word in ("mat", "nobody", "niemand", "Regen"):
        assert re.search(rf"\b{word}\b".encode(), data) is None
        assert word.encode() not in blocks
    told = made.to_dict()
    assert told["redacted"]
    assert told["embedded"] == 0


def test_of_many_segments_some_texts_are_there_and_all_numbers():
    made = page(embed_text=5, source=SOURCE)
    assert made.manifest["embedded"] == 5
    kept = [i for i, text in enumerate(made.texts("system0")) if text is not None]
    assert len(kept) == 5
    for name in ("system1", "reference0", "source"):
        assert [i for i, text in enumerate(made.texts(name)) if text is not None] == kept
    assert len(made.rows(0, "good")) == 12
    assert page(embed_text=5, source=SOURCE).texts("system0") == made.texts("system0")


def test_half_of_them_are_those_that_the_result_depends_on_most():
    odd = list(GOOD)
    odd[7] = "something else entirely of many many words"
    report = tb.report({"good": GOOD, "odd": odd}, REFERENCES, embed_text=2)
    assert Page(report.to_bytes()).texts("system1")[7] == odd[7]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", tb.BLEU(aggregate="segments")])
@pytest.mark.parametrize("names", [["good"], ["good", "poor"], ["good", "poor", "mixed"]])
def test_influence_is_what_leaving_a_segment_out_changes(metric, names):
    systems = {**SYSTEMS, "mixed": GOOD[:6] + POOR[6:]}
    chosen = {name: systems[name] for name in names}
    testing = Significance(test=None, confidence=10, seed=1)
    made = report_builder.ReportData(Request(chosen, REFERENCES, [metric], testing=testing))
    setting = made.settings[0]
    found = segment_influences(setting.metric, setting.tables, names)

    def scores(rows):
        return [setting.metric.from_statistics(setting.tables[name][rows]).value for name in names]

    whole = scores(list(range(12)))
    for i in range(12):
        rest = scores([row for row in range(12) if row != i])
        changes = [after - before for after, before in zip(rest, whole, strict=True)]
        expected = [abs(other - changes[0]) for other in changes[1:]] or [abs(changes[0])]
        assert found[i] == pytest.approx(max(expected), abs=1e-9)


# ---- the object ----


def test_the_same_input_gives_the_same_bytes():
    options = {"source": SOURCE, "metrics": ["bleu", "chrf"], "also": ["lowercase"]}
    first = tb.report(SYSTEMS, REFERENCES, **options).to_bytes()
    assert tb.report(SYSTEMS, REFERENCES, **options).to_bytes() == first
    assert tb.report(SYSTEMS, REFERENCES, workers=3, **options).to_bytes() == first


def test_a_file_has_what_html_gives(tmp_path):
    path = tmp_path / "report.html"
    report = tb.report(SYSTEMS, REFERENCES, path=path)
    assert path.read_bytes() == report.to_bytes() == report.html().encode()
    report.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_the_dict_is_the_manifest():
    report = tb.report(SYSTEMS, REFERENCES)
    assert json.loads(json.dumps(report.to_dict())) == Page(report.to_bytes()).manifest


def test_a_notebook_shows_the_page_in_a_frame_that_nothing_gets_out_of():
    frame = Page(tb.report(SYSTEMS, REFERENCES).show(rows=3, height=500)._repr_html_())
    ((tag, attributes),) = frame.elements
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["height"] == "500"
    inner = Page(attributes["srcdoc"])
    assert inner.manifest["embedded"] == 3
    assert sum(text is not None for text in inner.texts("system0")) == 3
    assert "default-src" in inner.policy


def test_a_frame_has_no_more_text_than_the_report():
    report = tb.report(SYSTEMS, REFERENCES, embed_text=2)
    ((_, attributes),) = Page(report.show()._repr_html_()).elements
    assert Page(attributes["srcdoc"]).manifest["embedded"] == 2


@pytest.mark.parametrize("wrong", [-1, 2.5, True, "all"])
def test_wrong_numbers_of_texts_are_refused(wrong):
    with pytest.raises(ValueError, match="embed_text="):
        tb.report(SYSTEMS, REFERENCES, embed_text=wrong)
    with pytest.raises(ValueError, match="rows="):
        tb.report(SYSTEMS, REFERENCES).show(wrong)


def test_a_comparison_gives_its_report(tmp_path):
    options = {"metrics": ["bleu", "chrf"], "baseline": "poor", "seed": 3, "confidence": 200}
    compared = tb.compare(SYSTEMS, REFERENCES, **options)
    made = tb.report(compared, source=SOURCE, title="Cats", path=tmp_path / "page.html")
    expected = tb.report(SYSTEMS, REFERENCES, source=SOURCE, title="Cats", **options)
    assert made.to_bytes() == expected.to_bytes() == (tmp_path / "page.html").read_bytes()


def test_a_comparison_from_elsewhere_has_no_text():
    compared = tb.compare(SYSTEMS, REFERENCES)
    for other in (
        type(compared).from_json(compared.to_json()),
        pickle.loads(pickle.dumps(compared)),
    ):
        assert other == compared
        with pytest.raises(ValueError, match="has no text"):
            tb.report(other)


def test_a_comparison_of_scores_alone_or_of_standard_input_has_no_text():
    alone = tb.compare(None, None, metrics=(), scores={"S": {"a": [1, 2, 3], "b": [2, 2, 4]}})
    with pytest.raises(ValueError, match="scores from elsewhere has no text"):
        tb.report(alone)
    content = tb.compare({"a": GOOD}, REFERENCES).to_dict()
    piped = tb.Comparison(content, Request({"a": tb.File("-")}, REFERENCES))
    with pytest.raises(ValueError, match="and cannot be read again"):
        tb.report(piped)
    with pytest.raises(TypeError, match="a Comparison already has references"):
        tb.report(tb.compare(SYSTEMS, REFERENCES), REFERENCES)
    for settled in ({"test": "bs"}, {"samples": 10}, {"level": 0.9}, {"metrics": ["chrf"]}):
        with pytest.raises(TypeError, match="already has references, metrics and tests"):
            tb.report(tb.compare(SYSTEMS, REFERENCES), **settled)


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "</title></style></textarea>",
    '" onload="alert(1)',
    "\u2028alert(1)\x00\ud800",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_stands_in_a_field_the_elements_are_the_same(text):
    def made(text):
        texts = [text, "b", "c"]
        return page(
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

    harmless, hostile = made("a word that is long enough"), made(text)
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
