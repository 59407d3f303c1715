"""Glossaries: term matching, usage counts and invalid input."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parser import Page

import truebleu as tb
from truebleu import InputError
from truebleu.cli import main
from truebleu.reports import term_glossary
from truebleu.text.segments import File

SOURCE = [
    "Das maschinelle Lernen hilft der Maschine.",
    "Der Zug kam; kein Zug fuhr.",
    "Er kauft IT-Bücher, doch it ist kein Wort.",
    None,
]
REFERENCES = ["Machine learning helps.", "The train came.", "He buys IT books.", "Nothing."]
SYSTEMS = {
    "good": ["Machine  learning helps the machine.", "The TRAIN came.", "IT books.", "Zug"],
    "poor": ["Machines learn.", "The trains came, a train left.", "It books.", "train"],
}
GLOSSARY = {"Zug": "train", "maschinelle Lernen": "machine learning", "IT": "IT", "Lernen": "study"}


def make_report(glossary=GLOSSARY, **options):
    return tb.report(SYSTEMS, REFERENCES, source=SOURCE, terms=glossary, confidence=None, **options)


def count_matches(term, text):
    searchable_text = term_glossary.SearchableText(text.encode("utf-8", "surrogatepass"))
    return len(list(term_glossary.make_finder(term)(searchable_text)))


# ---- term matching ----


@pytest.mark.parametrize(
    ("term", "text", "times"),
    [
        ("train", "Train, train; trains train-set restrain _train", 4),
        ("train", "the train’s", 1),
        ("IT", "IT it It", 1),
        ("C++", "C++ and c++, not C", 2),
        ("machine learning", "machine\u00a0 learning\nmachine\tlearning", 2),
        ("東京", "東京都に東京", 2),
        ("Straße", "STRASSE straße", 1),
        ("i̇stanbul", "İstanbul", 0),
        ("İstanbul", "İstanbul istanbul", 1),
        ("e", "e\u0301", 0),
        ("3", "3 33 3.", 2),
    ],
)
def test_terms_match_whole_words_and_ignore_case(term, text, times):
    assert count_matches(term, text) == times


@given(st.text(max_size=20), st.text(max_size=5), st.text(max_size=20))
def test_term_between_spaces_matches(before, term, after):
    term = " ".join(term.split())
    if term:
        assert count_matches(term, f"{before} {term} {after}") >= 1


@given(st.text(max_size=30))
def test_lower_casing_keeps_length(text):
    assert len(term_glossary.lowercase_keeping_length(text)) == len(text)


# ---- usage counts ----


def test_longest_term_counts_once_per_segment():
    entry = make_report().to_dict()["terms"]
    assert [tuple(term.values()) for term in entry.pop("terms")] == [
        ("Zug", ["train"], 1, {"good": 1, "poor": 1}),
        ("maschinelle Lernen", ["machine learning"], 1, {"good": 1, "poor": 0}),
        ("IT", ["IT"], 1, {"good": 1, "poor": 0}),
        ("Lernen", ["study"], 0, {"good": 0, "poor": 0}),
    ]
    assert entry == {
        "name": "given terms",
        "occurrences": 3,
        "segments": 3,
        "block": "terms",
        "used": {"good": 3, "poor": 1},
    }


def test_block_lists_segments_and_missed_terms():
    page = Page(make_report().to_bytes())
    assert json.loads(page.blocks["terms"]) == [
        [[1], [[], []]],
        [[0], [[], [0]]],
        [[2], [[], [2]]],
        [[], [[], []]],
    ]


def test_alternative_target_term_counts():
    entry = make_report([("Zug", "railway"), ("Zug", "train")]).to_dict()["terms"]
    used = {"good": 1, "poor": 1}
    assert entry["terms"] == [
        {"source": "Zug", "targets": ["railway", "train"], "segments": 1, "used": used}
    ]


def test_redacted_page_omits_terms():
    redacted_report = make_report({"Zug": "Lokomotivführerschein"}, redact_text=True)
    assert b"Lokomotiv" not in redacted_report.to_bytes()
    assert redacted_report.to_dict()["terms"]["terms"] == [
        {"source": None, "targets": None, "segments": 1, "used": {"good": 0, "poor": 0}}
    ]


def test_static_summary_has_term_usage():
    text, without = (
        re.sub(r"(<[^>]+>|\s)+", " ", make_report(terms)._repr_html_())
        for terms in (GLOSSARY, {"Elefant": "elephant"})
    )
    assert "The source contains 3 occurrences of the 4 terms, in 3 segments." in text
    assert "A good 3 of 3 100.0%" in text
    assert "B poor 1 of 3 33.3%" in text
    assert "The source contains no occurrences of the 1 term." in without


# ---- input ----


def test_empty_lines_and_carriage_returns_are_ignored(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_bytes(b"Zug\ttrain\r\n\r\n Haus \t big  house \n")
    assert term_glossary.parse_glossary(File(str(path))) == (
        [term_glossary.Term("Zug", ("train",)), term_glossary.Term("Haus", ("big house",))],
        "terms.tsv",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Zug\ttrain\nHaus house\n", "line 2: expected a source term, a tab and a target term"),
        ("Zug\ttrain\tbus\n", "line 1: expected a source term, a tab and a target term"),
        ("\nZug\t \n", "line 2: the target term is empty"),
        ("\ttrain\n", "line 1: the source term is empty"),
        ("Zug\ttrain\n\nZug\ttrain\n", "3: duplicate term pair 'Zug', 'train' (first in line 1)"),
        ("\n\n", "no terms found"),
    ],
)  # fmt: skip
def test_invalid_glossary_line_is_named(tmp_path, text, message):
    path = tmp_path / "terms.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        term_glossary.parse_glossary(path)
    assert "terms.tsv" in str(error.value)


@pytest.mark.parametrize("value", ["Zug", 7, b"Zug"])
def test_invalid_glossary_type_is_refused(value):
    with pytest.raises(TypeError, match="terms: expected a mapping from source terms"):
        term_glossary.parse_glossary(value)


@pytest.mark.parametrize("pairs", [[("Zug",)], [("Zug", 1)], ["Zug"], [("Zug", None)]])
def test_invalid_pair_is_numbered(pairs):
    with pytest.raises(InputError, match="terms, pair 1: expected"):
        term_glossary.parse_glossary(pairs)


def test_terms_need_source():
    with pytest.raises(ValueError, match="terms: a glossary requires source texts"):
        tb.report(SYSTEMS, REFERENCES, terms=GLOSSARY)


# ---- command line ----


@pytest.fixture
def term_files(tmp_path):
    for name, lines in {"ref.en": REFERENCES, "src.de": [*SOURCE[:3], ""], **SYSTEMS}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "terms.tsv").write_text("Zug\ttrain\n", encoding="utf-8")
    return tmp_path


def test_command_reads_glossary(term_files, monkeypatch):
    monkeypatch.chdir(term_files)
    words = ["report", "ref.en", "-i", "good", "poor", "-src", "src.de", "--terms", "terms.tsv"]
    assert main([*words, "-o", "r.html", "-q"]) == 0
    manifest = Page((term_files / "r.html").read_bytes()).manifest
    assert manifest["terms"]["name"] == "terms.tsv"
    assert manifest["terms"]["used"] == {"good": 1, "poor": 1}
    assert "--terms terms.tsv" in manifest["commands"][0]


def test_command_reports_invalid_glossary(term_files, monkeypatch, capsys):
    monkeypatch.chdir(term_files)
    (term_files / "bad.tsv").write_text("Zug\ttrain\nZug train\n", encoding="utf-8")
    words = ["report", "ref.en", "-i", "good", "-o", "r.html"]
    assert main([*words, "-src", "src.de", "--terms", "bad.tsv"]) == 1
    assert "bad.tsv" in (error := capsys.readouterr().err)
    assert "line 2" in error
    assert main([*words, "--terms", "terms.tsv"]) == 2
    assert "--terms needs the source; name it with -src" in capsys.readouterr().err
    assert main([*words, "-src", "src.de", "--terms", "none.tsv"]) == 1
    assert "none.tsv" in capsys.readouterr().err
