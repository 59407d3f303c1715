"""What `truebleu testset` does, as functions."""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from local_registry import OTHER, REF, SRC, about_xml, registry, text

import truebleu as tb
from truebleu.testsets import __main__, catalogue, testset_operations
from truebleu.text import download


@pytest.fixture
def path(archives, tmp_path) -> str:
    """A registry of the user's, in the folder for them."""
    folder = Path(catalogue.get_user_folder())
    folder.mkdir(parents=True)
    about = about_xml(archives, licence="research", description="Made up.", released="2024")
    os.rename(registry(tmp_path, made=about), folder / "some.json")
    return str(folder / "some.json")


def test_list():
    assert len(testset_operations.list_test_sets()) == 67 + len(
        catalogue.load_builtin_registry()["more"]
    )
    names = [each.name for each in testset_operations.list_test_sets("wmt2*", "liv-en")]
    assert names == ["wmt22"]
    assert {each.name for each in testset_operations.list_test_sets("google")} == {
        f"wmt19/google/{each}" for each in ("ar", "arp", "wmtp", "hqr", "hqp", "hqall")
    }
    assert [each.name for each in testset_operations.list_test_sets(langpair="eng-deu")] == [
        "ntrex"
    ]
    (one,) = testset_operations.list_test_sets("wmt22")
    assert (one.here, one.size, one.segments["en-de"]) == (False, None, 2037)
    assert not testset_operations.list_test_sets("nothing")


def test_info_downloads_nothing(archives, path):
    before = testset_operations.describe_test_set("made", "de-en")
    assert (before.here, before.pair, before.sources, archives.requests) == (False, None, (), 0)
    assert (before.licence, before.released) == ("research", "2024")
    assert before.preferred == {"de-en": ("A",)}
    assert before.archives[0]["address"].endswith("made.tar.gz")
    tb.testset("made", "de-en")
    after = testset_operations.describe_test_set("made", "de-en")
    assert after.here
    assert os.path.isdir(after.folder)
    assert after.pair.segments == 4
    assert after.pair.references == ("A", "B")
    assert (after.pair.documents, after.pair.systems) == (2, ("Online-W",))
    assert after.pair.domains == {"news": 2, "social": 2}
    assert after.sources[0]["verified"] == "MD5"
    with pytest.raises(tb.InputError, match="has no language pair xx-yy"):
        testset_operations.describe_test_set("made", "xx-yy")


def test_get(archives, path):
    with pytest.raises(tb.InputError, match="no test set mad; did you mean made"):
        testset_operations.fetch_test_sets(["made", "mad"])
    (got,) = testset_operations.fetch_test_sets(["made"])
    assert (got.name, got.langpairs, got.licence) == ("made", ("de-en",), "research")
    assert got.verified == ("MD5",)
    assert got.size == (archives.folder / "made.tar.gz").stat().st_size
    assert tb.testset("made", "de-en", offline=True).source == SRC
    with pytest.raises(download.OfflineError):
        list(testset_operations.fetch_test_sets(["wmt22"], offline=True))


def test_get_leaves_files_of_other_pairs_alone(archives, tmp_path):
    addresses = {
        pair: archives.make(f"{pair}.jsonl", {f"{pair}.jsonl": '{"source": "a", "target": "b"}\n'})
        for pair in ("a-b", "a-c")
    }
    about = {
        "kind": "JSONL",
        "data": [[*each] for each in addresses.values()],
        "langpairs": {pair: [f"made.{pair}.jsonl"] for pair in addresses},
    }
    path = registry(tmp_path, made=about)
    (got,) = testset_operations.fetch_test_sets(["made"], "a-c", registry=path)
    assert (got.langpairs, archives.requests) == (("a-c",), 1)
    (got,) = testset_operations.fetch_test_sets(["made"], registry=path)
    assert (got.langpairs, archives.requests) == (("a-b", "a-c"), 2)


def test_since():
    found = testset_operations.list_since(2023)
    assert {"wmt23", "wmt24", "wmt25", "wmt24pp"} <= set(found)
    assert not {"wmt22", "ntrex", "flores200/dev"} & set(found)
    assert {"wmt19", "mtnt2019", "ntrex"} <= set(testset_operations.list_since(2019))


def test_add_knows_an_archive_by_its_sum(archives, path, tmp_path):
    shutil.copy(archives.folder / "made.tar.gz", tmp_path / "download (1).gz")
    (added,) = testset_operations.add_test_set(str(tmp_path / "download (1).gz"))
    assert (added.name, added.langpairs) == ("made", ("de-en",))
    assert tb.testset("made", "de-en", offline=True).source == SRC
    assert archives.requests == 0
    assert testset_operations.describe_test_set("made").sources[0]["verified"] == "MD5"
    (tmp_path / "other").write_text("other")
    md5 = hashlib.md5(b"other").hexdigest()
    with pytest.raises(tb.InputError, match=f"has MD5 {md5}, which is no archive's"):
        testset_operations.add_test_set(str(tmp_path / "other"))
    with pytest.raises(tb.InputError, match=r"is none of made's archives: made\.tar\.gz \(MD5"):
        testset_operations.add_test_set(str(tmp_path / "other"), "made")
    with pytest.raises(tb.InputError, match="cannot be read: No such file"):
        testset_operations.add_test_set(str(tmp_path / "none"))


def test_add_takes_a_folder_of_one_s_own(tmp_path):
    folder = tmp_path / "mine"
    (folder / "en-de").mkdir(parents=True)
    for name, lines in (("de-en.src", SRC), ("de-en.ref.A", REF), ("de-en.ref.B", OTHER)):
        (folder / name).write_text(text(lines))
    (folder / "en-de/src.txt").write_text(text(REF))
    (folder / "en-de/ref.txt").write_text(text(SRC))
    (folder / "README.md").write_text("about")
    (added,) = testset_operations.add_test_set(str(folder))
    assert (added.name, set(added.langpairs)) == ("mine", {"de-en", "en-de"})
    mine = tb.testset("mine", "de-en")
    assert (mine.source, mine.references) == (SRC, {"A": REF, "B": OTHER})
    assert tb.testset("mine", "en-de").references == {"ref": SRC}
    assert testset_operations.describe_test_set("mine").here
    verified = testset_operations.verify_test_sets("mine")
    assert not [each for each in verified if each.problem]
    names = ("de-en.src", "de-en.ref.A", "de-en.ref.B", "en-de/src.txt", "en-de/ref.txt")
    assert {each.path for each in verified} == {str(folder / name) for name in names}
    with pytest.raises(tb.InputError, match="there is a test set mine already"):
        testset_operations.add_test_set(str(folder))
    with pytest.raises(tb.InputError, match="there is a test set wmt22 already"):
        testset_operations.add_test_set(str(folder), "wmt22")
    with pytest.raises(tb.InputError, match="has no test set: expected files called"):
        testset_operations.add_test_set(str(tmp_path / "mine" / "en-de"))
    testset_operations.remove_test_set("mine")
    with pytest.raises(tb.InputError, match="there is no test set mine"):
        tb.testset("mine", "de-en")
    assert (folder / "de-en.src").exists()


def test_what_the_cache_has_can_be_added_as_a_folder(path, tmp_path):
    made = tb.testset("made", "de-en")
    shutil.copytree(Path(made.path("src")).parent, tmp_path / "copy/de-en")
    testset_operations.add_test_set(str(tmp_path / "copy"), "copy")
    copy = tb.testset("copy", "de-en")
    assert (copy.source, copy.references, copy.domains) == (SRC, made.references, made.domains)


def test_show(path):
    assert list(testset_operations.show_fields("made", "de-en")) == list(zip(SRC, REF, strict=True))
    rows = testset_operations.show_fields(
        "made", "de-en", ["docid", "B", "Online-W"], domain="social"
    )
    assert list(rows) == [("weather", OTHER[2], OTHER[2]), ("weather", OTHER[3], REF[3])]
    assert len(next(testset_operations.show_fields("made", "de-en", ["all"]))) == 7
    with pytest.raises(tb.InputError, match="has no field nothing"):
        testset_operations.show_fields("made", "de-en", ["nothing"])


def test_verify(path):
    assert testset_operations.verify_test_sets("made") == ()
    made = tb.testset("made", "de-en")
    found = testset_operations.verify_test_sets("made")
    assert len(found) == 8
    assert not [each for each in found if each.problem]
    place = Path(made.path("src"))
    before = place.stat()
    place.write_bytes(place.read_bytes().replace(b"Hund", b"Huhn"))
    # Opening would not see it.
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    (wrong,) = [each for each in testset_operations.verify_test_sets() if each.problem]
    assert (wrong.path, wrong.problem) == (str(place), "it is not as it was made")
    archive = next(place.parents[1].glob("raw/*.gz"))
    archive.write_bytes(b"half")
    assert {each.path for each in testset_operations.verify_test_sets() if each.problem} == {
        str(place),
        str(archive),
    }


def test_path_and_remove(path):
    with pytest.raises(tb.InputError, match=r"made is not here; truebleu testset get made"):
        testset_operations.find_folder("made")
    made = tb.testset("made", "de-en")
    assert made.path("src") == os.path.join(
        testset_operations.find_folder("made", "de-en"), "src.txt"
    )
    assert testset_operations.find_folder("made") == str(
        Path(testset_operations.find_folder("made", "de-en")).parent
    )
    removed = testset_operations.remove_test_set("made")
    assert removed.folders == (testset_operations.describe_test_set("made").folder,)
    assert removed.size > 1000
    assert not testset_operations.describe_test_set("made").here
    with pytest.raises(tb.InputError, match="made is not in the cache"):
        testset_operations.remove_test_set("made")
    assert os.path.exists(path)


def test_removing_a_set_leaves_those_below_its_name(archives, tmp_path):
    both = registry(tmp_path, **{"made": about_xml(archives), "made/more": about_xml(archives)})
    for name in ("made", "made/more"):
        tb.testset(name, "de-en", registry=both)
    testset_operations.remove_test_set("made")
    assert tb.testset("made/more", "de-en", registry=both, offline=True).source == SRC


def test_check_asks_each_address_once(archives, path, monkeypatch, capsys):
    entry = catalogue.get_entry("made")
    monkeypatch.setattr(catalogue, "load_entries", lambda: {"made": entry, "again": entry})
    assert __main__.check_archives() == 0
    line = capsys.readouterr().out
    assert line.startswith("ok ")
    assert entry.archives[0].md5 in line
    assert archives.requests == 1
    assert __main__.check_archives(is_head=True) == 0
    wrong = catalogue.Archive(entry.archives[0].address, "0" * 32, mirrors=("http://127.0.0.1:9/",))
    monkeypatch.setattr(
        catalogue, "load_entries", lambda: {"made": replace(entry, archives=(wrong,))}
    )
    assert __main__.check_archives() == 1
    said = capsys.readouterr().out
    assert f"not {'0' * 32}" in said
    assert said.count("WRONG") == 2


def test_check_is_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "truebleu.testsets", "x"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr[:12]) == (2, "usage: pytho")
