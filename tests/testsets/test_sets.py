"""`tb.testset`: what it gives, what filters leave, what it says when it cannot."""

import os
import random
from pathlib import Path

import pytest
import sacrebleu.dataset as originals
from archive_fixtures import sentences, sgml
from local_registry import OTHER, REF, SRC, about_xml, registry, text
from sacrebleu.utils import filter_subset

import truebleu as tb
from truebleu.testsets import catalogue, testset_operations
from truebleu.text import download


@pytest.fixture
def made(archives, tmp_path):
    return tb.testset("made", "de-en", registry=registry(tmp_path, made=about_xml(archives)))


def test_a_set_has_its_source_references_documents_and_systems(made):
    assert (made.name, made.langpair, len(made)) == ("made", "de-en", 4)
    assert made.source == SRC
    assert made.references == {"A": REF, "B": OTHER}
    assert made.preferred == ("A",)
    assert made.documents == ["animals", "animals", "weather", "weather"]
    assert made.origlangs == ["de", "de", "en", "en"]
    assert made.domains == ["news", "news", "social", "social"]
    assert list(made.systems) == ["Online-W"]
    assert made.systems["Online-W"] == [OTHER[0], REF[1], OTHER[2], REF[3]]
    assert made.citation == "@misc{made}"
    assert made.signature == {"test": "made", "lang": "de-en", "refs": "A"}
    assert tb.BLEU().score(made.references["A"], made.references["A"]).value == pytest.approx(100)


def test_its_files_are_text_of_a_line_a_segment(made):
    for name, lines in (("src", SRC), ("ref:A", REF), ("A", REF), ("ref", REF), ("B", OTHER)):
        assert Path(made.path(name)).read_text(encoding="utf-8") == text(lines)
        assert made.read_field(name) == lines
    with pytest.raises(tb.InputError, match=r"has no field Online-V; did you mean 'Online-W'\?"):
        made.path("Online-V")
    with pytest.raises(tb.InputError, match="is in no file of its own"):
        made.where(domain="news").path("src")


def test_other_references_can_be_preferred(made):
    both = made.with_references(["A", "B"])
    assert both.preferred == ("A", "B")
    assert both.signature["refs"] == "A,B"
    assert both.where(origlang="de").preferred == ("A", "B")
    assert (
        made.with_references(["ref:B"]).preferred == made.with_references("B").preferred == ("B",)
    )
    with pytest.raises(tb.InputError, match="has no reference C; there are A, B"):
        made.with_references(["C"])


def test_filters(made):
    news = made.where(domain="news")
    assert (news.source, news.references["B"]) == (SRC[:2], OTHER[:2])
    assert news.systems["Online-W"] == [OTHER[0], REF[1]]
    assert made.where(origlang="non-de").source == SRC[2:]
    assert made.where(documents=["weather"]).source == SRC[2:]
    assert made.where(subset="soc").signature["subset"] == "soc"
    assert made.where(origlang="de").signature["origlang"] == "de"
    assert made.where(origlang="de").where(domain="news").documents == ["animals"] * 2
    for wrong, message in (
        ({"domain": "sport"}, "no segment is left with domain sport"),
        ({"documents": ["sport"]}, "has no document sport"),
        ({"subset": "("}, r"subset '\(' is not a regular expression"),
    ):
        with pytest.raises(tb.InputError, match=message):
            made.where(**wrong)
    with pytest.raises(tb.InputError, match="no segment is left"):
        made.where(domain="news").where(domain="social")


def test_several_sets_are_one_after_the_other(archives, tmp_path):
    path = registry(tmp_path, made=about_xml(archives), again=about_xml(archives))
    both = tb.testset("made,again", "de-en", registry=path)
    assert (both.name, len(both)) == ("made,again", 8)
    assert both.source == SRC + SRC
    assert both.references == {"A": REF + REF}
    assert both.where(domain="news").references["A"] == REF[:2] + REF[:2]
    assert both.systems["Online-W"][4:] == both.systems["Online-W"][:4]
    with pytest.raises(tb.InputError, match="is in no file of its own"):
        both.path("src")
    two = about_xml(archives, refs=["A", "B"])
    path = registry(tmp_path, made=about_xml(archives), two=two)
    with pytest.raises(tb.InputError, match="two has 2 references and made 1"):
        tb.testset("made,two", "de-en", registry=path)


def test_what_there_is_not_is_said_with_the_nearest(made, archives, tmp_path):
    with pytest.raises(tb.InputError, match=r"no test set wmt222; did you mean wmt22\?"):
        tb.testset("wmt222", "en-de")
    with pytest.raises(
        tb.InputError, match=r"wmt22 has no language pair en-dd; did you mean en-de\?"
    ):
        tb.testset("wmt22", "en-dd")
    with pytest.raises(
        tb.InputError, match=r"ntrex has no language pair eng-deuu; did you mean deu\?"
    ):
        tb.testset("ntrex", "eng-deuu")
    with pytest.raises(tb.InputError, match=r"flores200/dev is not here\. FLORES-200 is https"):
        tb.testset("flores200/dev", "eng_Latn-deu_Latn")


def test_another_set_with_as_many_lines_is_named(archives, tmp_path, made):
    assert (
        testset_operations.find_fitting_set(4, made.where(domain="news")) == "made without filters"
    )
    assert testset_operations.find_fitting_set(8, made) == ""
    os.makedirs(catalogue.get_user_folder())
    many = about_xml(archives, segments={"de-en": 8})
    os.rename(registry(tmp_path, many=many), f"{catalogue.get_user_folder()}/mine.json")
    assert testset_operations.find_fitting_set(8, made) == "many"
    assert testset_operations.find_fitting_set(3003, made) == "wmt14"
    assert testset_operations.find_fitting_set(5, made) == ""


# Filters, on documents as WMT has them: the set, the pair, and whether annotations exist.
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
def test_filters_leave_what_those_of_the_original_leave(filters, name, tmp_path, monkeypatch):
    dice = random.Random(str(filters))
    known = list(catalogue.get_document_subsets(name) or {"bbc.1": ""})
    languages = ["en", "de", "fi"]
    documents = [
        f'sysid="ref" docid="{dice.choice(known)}" genre="news" origlang="{dice.choice(languages)}"'
        for _ in range(12)
    ] + ['docid="unknown.7" genre="news" origlang="en"', 'origlang="de"', 'docid="none"']
    raw = tmp_path / "S" / name / "raw"
    files = originals.DATASETS[name].langpairs["de-en"]
    contents = {file: sgml(dice, sentences(dice, 40), documents) for file in files}
    for file, content in contents.items():
        path = raw / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path / "S"))
    count = contents[files[0]].count("<seg ")
    (wanted,) = filter_subset(
        [list(range(count))], name, "de-en", filters.get("origlang"), filters.get("subset")
    )
    entry = catalogue.CatalogueEntry(name, "FakeSGML", langpairs={"de-en": files}, folder=str(raw))
    monkeypatch.setitem(catalogue._load_published(), name, entry)
    whole = tb.testset(name, "de-en")
    got = whole.where(**filters)
    assert got._segment_indices == list(wanted)
    assert got.source == [whole.source[number] for number in wanted]


def test_subsets_need_annotation(tmp_path):
    (tmp_path / "s").write_text("a\n")
    (tmp_path / "r").write_text("b\n")
    path = registry(tmp_path, mine={"files": {"de-en": {"src": "s", "ref": "r"}}})
    mine = tb.testset("mine", "de-en", registry=path)
    assert mine.references == {"ref": ["b"]}
    assert mine.signature == {"test": "mine", "lang": "de-en"}
    for wrong in ({"origlang": "de"}, {"domain": "x"}, {"subset": "x"}, {"documents": ["x"]}):
        with pytest.raises(tb.InputError, match=r"mine (does not say|has no annotation)"):
            mine.where(**wrong)


def test_offline_is_said_with_what_to_do(monkeypatch):
    with pytest.raises(download.OfflineError) as refused:
        tb.testset("wmt22", "en-de", offline=True)
    assert refused.value.exit_status == 4
    message = str(refused.value)
    for part in ("wmt22 is not here", "truebleu testset get wmt22", "(MD5 0840978b", "v1.1.tar.gz"):
        assert part in message
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "1")
    with pytest.raises(download.OfflineError, match="TRUEBLEU_OFFLINE is set"):
        tb.testset("wmt22", "en-de")
    with pytest.raises(download.OfflineError, match=r"wmt25-genmt\.jsonl --name wmt25$"):
        tb.testset("wmt25", "en-ja_JP")
