"""The operations of `truebleu testset`, as functions."""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from local_registry import REF, SECOND_REF, SRC, join_lines, make_xml_entry, write_registry

import truebleu as tb
from truebleu.testsets import __main__, catalogue
from truebleu.testsets import testset_operations as operations
from truebleu.text import download


@pytest.fixture
def path(archives, tmp_path) -> str:
    """Return a user's registry in the folder of registries."""
    folder = Path(catalogue.get_user_folder())
    folder.mkdir(parents=True)
    entry = make_xml_entry(archives, licence="research", description="Made up.", released="2024")
    os.rename(write_registry(tmp_path, made=entry), folder / "some.json")
    return str(folder / "some.json")


def test_pattern_and_pair_select_test_sets():
    assert len(operations.list_test_sets()) == 67 + len(catalogue.load_builtin_registry()["more"])

    def list_names(*arguments, **options):
        return [each["name"] for each in operations.list_test_sets(*arguments, **options)]

    assert list_names("wmt2*", "liv-en") == ["wmt22"]
    google_names = [f"wmt19/google/{each}" for each in ("ar", "arp", "wmtp", "hqr", "hqp", "hqall")]
    assert sorted(list_names("google")) == sorted(google_names)
    assert list_names(langpair="eng-deu") == ["ntrex"]
    (summary,) = operations.list_test_sets("wmt22")
    assert (summary["here"], summary["size"], summary["segments"]["en-de"]) == (False, None, 2037)
    assert not operations.list_test_sets("nothing")


def test_description_downloads_nothing(archives, path):
    before = operations.describe_test_set("made", "de-en")
    assert (before["here"], before["pair"], before["sources"]) == (False, None, [])
    assert archives.requests == 0
    assert (before["licence"], before["released"]) == ("research", "2024")
    assert before["preferred"] == {"de-en": ["A"]}
    assert before["archives"][0]["address"].endswith("made.tar.gz")
    tb.testset("made", "de-en")
    after = operations.describe_test_set("made", "de-en")
    assert after["here"]
    assert os.path.isdir(after["folder"])
    assert after["pair"]["segments"] == 4
    assert after["pair"]["references"] == ["A", "B"]
    assert (after["pair"]["documents"], after["pair"]["systems"]) == (2, ["Online-W"])
    assert after["pair"]["domains"] == {"news": 2, "social": 2}
    assert after["sources"][0]["verified"] == "MD5"
    with pytest.raises(tb.InputError, match="has no language pair xx-yy"):
        operations.describe_test_set("made", "xx-yy")


def test_fetching_returns_verified_sets(archives, path):
    with pytest.raises(tb.InputError, match="unknown test set 'mad'; did you mean made"):
        operations.fetch_test_sets(["made", "mad"])
    (fetched,) = operations.fetch_test_sets(["made"])
    assert (fetched["name"], fetched["langpairs"], fetched["licence"]) == (
        "made",
        ["de-en"],
        "research",
    )
    assert fetched["verified"] == ["MD5"]
    assert fetched["size"] == (archives.folder / "made.tar.gz").stat().st_size
    assert tb.testset("made", "de-en", offline=True).source == SRC
    with pytest.raises(download.OfflineError):
        list(operations.fetch_test_sets(["wmt22"], offline=True))


def test_fetching_pair_skips_files_of_other_pairs(archives, tmp_path):
    addresses = {
        pair: archives.make(f"{pair}.jsonl", {f"{pair}.jsonl": '{"source": "a", "target": "b"}\n'})
        for pair in ("a-b", "a-c")
    }
    entry = {
        "kind": "JSONL",
        "data": [[*each] for each in addresses.values()],
        "langpairs": {pair: [f"made.{pair}.jsonl"] for pair in addresses},
    }
    path = write_registry(tmp_path, made=entry)
    (fetched,) = operations.fetch_test_sets(["made"], "a-c", registry=path)
    assert (fetched["langpairs"], archives.requests) == (["a-c"], 1)
    (fetched,) = operations.fetch_test_sets(["made"], registry=path)
    assert (fetched["langpairs"], archives.requests) == (["a-b", "a-c"], 2)


def test_year_selects_newer_sets():
    names = operations.list_test_sets_since(2023)
    assert {"wmt23", "wmt24", "wmt25", "wmt24pp"} <= set(names)
    assert not {"wmt22", "ntrex", "flores200/dev"} & set(names)
    assert {"wmt19", "mtnt2019", "ntrex"} <= set(operations.list_test_sets_since(2019))


def test_added_archive_is_recognized_by_checksum(archives, path, tmp_path):
    shutil.copy(archives.folder / "made.tar.gz", tmp_path / "download (1).gz")
    (added,) = operations.add_test_set(str(tmp_path / "download (1).gz"))
    assert (added["name"], added["langpairs"]) == ("made", ["de-en"])
    assert tb.testset("made", "de-en", offline=True).source == SRC
    assert archives.requests == 0
    assert operations.describe_test_set("made")["sources"][0]["verified"] == "MD5"
    (tmp_path / "other").write_text("other")
    md5 = hashlib.md5(b"other").hexdigest()
    with pytest.raises(tb.InputError, match=f"no archive in the catalogue has its MD5 {md5}"):
        operations.add_test_set(str(tmp_path / "other"))
    message = r"is not an archive of made \(expected made\.tar\.gz \(MD5"
    with pytest.raises(tb.InputError, match=message):
        operations.add_test_set(str(tmp_path / "other"), "made")
    with pytest.raises(tb.InputError, match="cannot be read: No such file"):
        operations.add_test_set(str(tmp_path / "none"))


def test_user_folder_can_be_added(tmp_path):
    folder = tmp_path / "mine"
    (folder / "en-de").mkdir(parents=True)
    for name, lines in (("de-en.src", SRC), ("de-en.ref.A", REF), ("de-en.ref.B", SECOND_REF)):
        (folder / name).write_text(join_lines(lines))
    (folder / "en-de/src.txt").write_text(join_lines(REF))
    (folder / "en-de/ref.txt").write_text(join_lines(SRC))
    (folder / "README.md").write_text("about")
    (added,) = operations.add_test_set(str(folder))
    assert (added["name"], set(added["langpairs"])) == ("mine", {"de-en", "en-de"})
    user_set = tb.testset("mine", "de-en")
    assert (user_set.source, user_set.references) == (SRC, {"A": REF, "B": SECOND_REF})
    assert tb.testset("mine", "en-de").references == {"ref": SRC}
    assert operations.describe_test_set("mine")["here"]
    verified = operations.verify_test_sets("mine")
    assert not [each for each in verified if each["problem"]]
    names = ("de-en.src", "de-en.ref.A", "de-en.ref.B", "en-de/src.txt", "en-de/ref.txt")
    assert {each["path"] for each in verified} == {str(folder / name) for name in names}
    with pytest.raises(tb.InputError, match="test set mine already exists"):
        operations.add_test_set(str(folder))
    with pytest.raises(tb.InputError, match="test set wmt22 already exists"):
        operations.add_test_set(str(folder), "wmt22")
    with pytest.raises(tb.InputError, match="does not contain a test set"):
        operations.add_test_set(str(tmp_path / "mine" / "en-de"))
    operations.remove_test_set("mine")
    with pytest.raises(tb.InputError, match="unknown test set 'mine'"):
        tb.testset("mine", "de-en")
    assert (folder / "de-en.src").exists()


def test_folder_copied_from_cache_can_be_added(path, tmp_path):
    test_set = tb.testset("made", "de-en")
    shutil.copytree(Path(test_set.path("src")).parent, tmp_path / "copy/de-en")
    operations.add_test_set(str(tmp_path / "copy"), "copy")
    copied_set = tb.testset("copy", "de-en")
    assert (copied_set.source, copied_set.references, copied_set.domains) == (
        SRC,
        test_set.references,
        test_set.domains,
    )


def test_fields_are_shown_per_segment(path):
    assert list(operations.show_fields("made", "de-en")) == list(zip(SRC, REF, strict=True))
    rows = operations.show_fields("made", "de-en", ["docid", "B", "Online-W"], domain="social")
    assert list(rows) == [
        ("weather", SECOND_REF[2], SECOND_REF[2]),
        ("weather", SECOND_REF[3], REF[3]),
    ]
    assert len(next(operations.show_fields("made", "de-en", ["all"]))) == 7
    with pytest.raises(tb.InputError, match="has no field nothing"):
        operations.show_fields("made", "de-en", ["nothing"])


def test_verification_finds_changed_files(path):
    assert operations.verify_test_sets("made") == []
    test_set = tb.testset("made", "de-en")
    verified_files = operations.verify_test_sets("made")
    assert len(verified_files) == 8
    assert not [each for each in verified_files if each["problem"]]
    source_path = Path(test_set.path("src"))
    status = source_path.stat()
    source_path.write_bytes(source_path.read_bytes().replace(b"Hund", b"Huhn"))
    # Opening the set would not detect the change.
    os.utime(source_path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def list_problems():
        files = operations.verify_test_sets()
        return {each["path"]: each["problem"] for each in files if each["problem"]}

    assert list_problems() == {str(source_path): "changed since it was extracted"}
    archive = next(source_path.parents[1].glob("raw/*.gz"))
    archive.write_bytes(b"half")
    assert list_problems().keys() == {str(source_path), str(archive)}


def test_path_and_removal_follow_cache(path):
    message = "made is not on this machine. Run: truebleu testset get made"
    with pytest.raises(tb.InputError, match=message):
        operations.find_folder("made")
    test_set = tb.testset("made", "de-en")
    pair_folder = Path(operations.find_folder("made", "de-en"))
    assert test_set.path("src") == str(pair_folder / "src.txt")
    assert operations.find_folder("made") == str(pair_folder.parent)
    removed = operations.remove_test_set("made")
    assert removed["folders"] == [operations.describe_test_set("made")["folder"]]
    assert removed["size"] > 1000
    assert not operations.describe_test_set("made")["here"]
    with pytest.raises(tb.InputError, match="made is not in the cache"):
        operations.remove_test_set("made")
    assert os.path.exists(path)


def test_removing_set_keeps_sets_below_its_name(archives, tmp_path):
    registry_path = write_registry(
        tmp_path, **{"made": make_xml_entry(archives), "made/more": make_xml_entry(archives)}
    )
    for name in ("made", "made/more"):
        tb.testset(name, "de-en", registry=registry_path)
    operations.remove_test_set("made")
    assert tb.testset("made/more", "de-en", registry=registry_path, offline=True).source == SRC


def test_check_requests_each_url_once(archives, path, monkeypatch, capsys):
    entry = catalogue.get_entry("made")
    monkeypatch.setattr(catalogue, "load_entries", lambda: {"made": entry, "again": entry})
    assert __main__.check_archives() == 0
    line = capsys.readouterr().out
    assert line.startswith("ok ")
    assert entry.archives[0].md5 in line
    assert archives.requests == 1
    assert __main__.check_archives(size_only=True) == 0
    mirrors = ("http://127.0.0.1:9/",)
    wrong_archive = catalogue.Archive(entry.archives[0].address, "0" * 32, mirrors=mirrors)
    wrong_entry = replace(entry, archives=(wrong_archive,))
    monkeypatch.setattr(catalogue, "load_entries", lambda: {"made": wrong_entry})
    assert __main__.check_archives() == 1
    output = capsys.readouterr().out
    assert f"not {'0' * 32}" in output
    assert output.count("WRONG") == 2


def test_unknown_command_prints_usage():
    command = [sys.executable, "-m", "truebleu.testsets", "x"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr[:12]) == (2, "usage: pytho")
