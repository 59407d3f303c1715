"""`tb.testset`: contents of test sets, filters and error messages."""

import os
import random
from pathlib import Path

import pytest
import sacrebleu.dataset as originals
from archive_fixtures import sentences, sgml
from local_registry import REF, SECOND_REF, SRC, join_lines, make_xml_entry, write_registry
from sacrebleu.utils import filter_subset

import truebleu as tb
from truebleu.testsets import catalogue
from truebleu.testsets import testset_operations as operations
from truebleu.text import download


@pytest.fixture
def small_set(archives, tmp_path):
    return tb.testset(
        "made", "de-en", registry=write_registry(tmp_path, made=make_xml_entry(archives))
    )


def test_set_has_source_references_documents_and_systems(small_set):
    assert (small_set.name, small_set.langpair, len(small_set)) == ("made", "de-en", 4)
    assert small_set.source == SRC
    assert small_set.references == {"A": REF, "B": SECOND_REF}
    assert small_set.preferred == ("A",)
    assert small_set.documents == ["animals", "animals", "weather", "weather"]
    assert small_set.origlangs == ["de", "de", "en", "en"]
    assert small_set.domains == ["news", "news", "social", "social"]
    assert list(small_set.systems) == ["Online-W"]
    assert small_set.systems["Online-W"] == [SECOND_REF[0], REF[1], SECOND_REF[2], REF[3]]
    assert small_set.citation == "@misc{made}"
    assert small_set.signature == {"test": "made", "lang": "de-en", "refs": "A"}
    assert tb.BLEU().score(
        small_set.references["A"], small_set.references["A"]
    ).value == pytest.approx(100)


def test_field_files_have_one_line_per_segment(small_set):
    for name, lines in (("src", SRC), ("ref:A", REF), ("A", REF), ("ref", REF), ("B", SECOND_REF)):
        assert Path(small_set.path(name)).read_text(encoding="utf-8") == join_lines(lines)
        assert small_set.read_field(name) == lines
    with pytest.raises(tb.InputError, match=r"has no field Online-V; did you mean 'Online-W'\?"):
        small_set.path("Online-V")
    with pytest.raises(tb.InputError, match="has no files"):
        small_set.where(domain="news").path("src")


def test_other_references_can_be_selected(small_set):
    selection = small_set.with_references(["A", "B"])
    assert selection.preferred == ("A", "B")
    assert selection.signature["refs"] == "A,B"
    assert selection.where(origlang="de").preferred == ("A", "B")
    for names in (["ref:B"], "B"):
        assert small_set.with_references(names).preferred == ("B",)
    with pytest.raises(tb.InputError, match="has no reference C; available: A, B"):
        small_set.with_references(["C"])


def test_filters_select_segments(small_set):
    news = small_set.where(domain="news")
    assert (news.source, news.references["B"]) == (SRC[:2], SECOND_REF[:2])
    assert news.systems["Online-W"] == [SECOND_REF[0], REF[1]]
    assert small_set.where(origlang="non-de").source == SRC[2:]
    assert small_set.where(documents=["weather"]).source == SRC[2:]
    assert small_set.where(subset="soc").signature["subset"] == "soc"
    assert small_set.where(origlang="de").signature["origlang"] == "de"
    assert small_set.where(origlang="de").where(domain="news").documents == ["animals"] * 2
    for filters, message in (
        ({"domain": "sport"}, "no segments match domain sport"),
        ({"documents": ["sport"]}, "has no document sport"),
        ({"subset": "("}, r"subset '\(' is not a regular expression"),
    ):
        with pytest.raises(tb.InputError, match=message):
            small_set.where(**filters)
    with pytest.raises(tb.InputError, match="no segments match"):
        small_set.where(domain="news").where(domain="social")


def test_several_sets_are_concatenated(archives, tmp_path):
    path = write_registry(tmp_path, made=make_xml_entry(archives), again=make_xml_entry(archives))
    joined = tb.testset("made,again", "de-en", registry=path)
    assert (joined.name, len(joined)) == ("made,again", 8)
    assert joined.source == SRC + SRC
    assert joined.references == {"A": REF + REF}
    assert joined.where(domain="news").references["A"] == REF[:2] + REF[:2]
    assert joined.systems["Online-W"][4:] == joined.systems["Online-W"][:4]
    with pytest.raises(tb.InputError, match="has no files"):
        joined.path("src")
    second_entry = make_xml_entry(archives, refs=["A", "B"])
    path = write_registry(tmp_path, made=make_xml_entry(archives), two=second_entry)
    with pytest.raises(tb.InputError, match="made has 1, two has 2"):
        tb.testset("made,two", "de-en", registry=path)


@pytest.mark.parametrize(
    ("name", "langpair", "message"),
    [
        ("wmt222", "en-de", r"unknown test set 'wmt222'; did you mean wmt22\?"),
        ("wmt22", "en-dd", r"wmt22 has no language pair en-dd; did you mean en-de\?"),
        ("ntrex", "eng-deuu", r"ntrex has no language pair eng-deuu; did you mean deu\?"),
        ("flores200/dev", "eng_Latn-deu_Latn", "is not on this machine.* Download FLORES-200"),
    ],
)
def test_unknown_name_suggests_closest(name, langpair, message):
    with pytest.raises(tb.InputError, match=message):
        tb.testset(name, langpair)


def test_set_with_same_line_count_is_found(archives, tmp_path, small_set):
    news = small_set.where(domain="news")
    assert operations.find_test_set_by_length(4, news) == "made without filters"
    assert operations.find_test_set_by_length(8, small_set) == ""
    os.makedirs(catalogue.get_user_folder())
    entry = make_xml_entry(archives, segments={"de-en": 8})
    os.rename(write_registry(tmp_path, many=entry), f"{catalogue.get_user_folder()}/mine.json")
    assert operations.find_test_set_by_length(8, small_set) == "many"
    assert operations.find_test_set_by_length(3003, small_set) == "wmt14"
    assert operations.find_test_set_by_length(5, small_set) == ""


# Filters of documents, and the test set to apply them to.
FILTERS = [
    ({"origlang": "de"}, "wmt19"),
    ({"origlang": "non-en"}, "wmt19"),
    ({"subset": "politics"}, "wmt19"),
    ({"subset": "country:GB"}, "wmt19"),
    ({"subset": "country:OTHER", "origlang": "en"}, "wmt18"),
    ({"subset": "US-.*|world"}, "wmt18"),
    ({"origlang": "en"}, "wmt08"),
]


@pytest.mark.parametrize(("filters", "name"), FILTERS)
def test_filters_select_same_segments_as_sacrebleu(filters, name, tmp_path, monkeypatch):
    rng = random.Random(str(filters))
    document_names = list(catalogue.get_document_subsets(name) or {"bbc.1": ""})
    languages = ["en", "de", "fi"]
    documents = ['docid="unknown.7" genre="news" origlang="en"', 'origlang="de"', 'docid="none"']
    for _ in range(12):
        docid, origlang = rng.choice(document_names), rng.choice(languages)
        documents.append(f'sysid="ref" docid="{docid}" genre="news" origlang="{origlang}"')
    raw = tmp_path / "S" / name / "raw"
    files = originals.DATASETS[name].langpairs["de-en"]
    contents = {file: sgml(rng, sentences(rng, 40), documents) for file in files}
    for file, content in contents.items():
        path = raw / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path / "S"))
    count = contents[files[0]].count("<seg ")
    (expected,) = filter_subset(
        [list(range(count))], name, "de-en", filters.get("origlang"), filters.get("subset")
    )
    entry = catalogue.CatalogueEntry(name, "FakeSGML", langpairs={"de-en": files}, folder=str(raw))
    monkeypatch.setitem(catalogue._load_published_entries(), name, entry)
    small_set = tb.testset(name, "de-en")
    filtered_set = small_set.where(**filters)
    assert filtered_set._segment_indices == list(expected)
    assert filtered_set.source == [small_set.source[number] for number in expected]


def test_filter_without_document_attributes_is_refused(tmp_path):
    (tmp_path / "s").write_text("a\n")
    (tmp_path / "r").write_text("b\n")
    path = write_registry(tmp_path, mine={"files": {"de-en": {"src": "s", "ref": "r"}}})
    user_set = tb.testset("mine", "de-en", registry=path)
    assert user_set.references == {"ref": ["b"]}
    assert user_set.signature == {"test": "mine", "lang": "de-en"}
    for filters in ({"origlang": "de"}, {"domain": "x"}, {"subset": "x"}, {"documents": ["x"]}):
        with pytest.raises(tb.InputError, match=r"mine (do not have|has no document annotation)"):
            user_set.where(**filters)


def test_offline_error_explains_manual_download(monkeypatch):
    with pytest.raises(download.OfflineError) as refused:
        tb.testset("wmt22", "en-de", offline=True)
    assert refused.value.exit_status == 4
    for part in ("wmt22 is not on this machine", "testset get wmt22", "(MD5 0840978b", "v1.1.tar."):
        assert part in str(refused.value)
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "1")
    with pytest.raises(download.OfflineError, match="TRUEBLEU_OFFLINE is set"):
        tb.testset("wmt22", "en-de")
    with pytest.raises(download.OfflineError, match=r"wmt25-genmt\.jsonl --name wmt25$"):
        tb.testset("wmt25", "en-ja_JP")
