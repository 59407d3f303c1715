"""The cache of test sets: complete, verified, and in layers."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_registry import REF, SECOND_REF, SRC, XML, join_lines, make_xml_entry, write_registry

import truebleu as tb
from truebleu.testsets import cache, catalogue
from truebleu.testsets import testset_operations as operations
from truebleu.text import download


def list_files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def path(archives, tmp_path) -> str:
    return write_registry(tmp_path, made=make_xml_entry(archives))


def get_entry_folder(path: str) -> Path:
    return Path(cache.get_entry_folder(catalogue.get_entry("made", path), cache.get_cache_root()))


def test_cache_contains_archives_text_and_records(archives, path, tmp_path, home):
    tb.testset("made", "de-en", registry=path)
    names = list_files(get_entry_folder(path))
    fields = "src ref.A ref.B docid origlang domain Online-W"
    pair_files = {"de-en/FIELDS.json", *(f"de-en/{field}.txt" for field in fields.split())}
    visible_names = {name for name in names if not name.endswith((".sha256", ".lock"))}
    assert visible_names == {"SOURCE.json", "raw/made.made.tar.gz", *pair_files}
    record = json.loads((get_entry_folder(path) / "SOURCE.json").read_text())
    (archive,) = record["archives"]
    archive_path = get_entry_folder(path) / "raw/made.made.tar.gz"
    assert archive["sha256"] == hashlib.sha256(archive_path.read_bytes()).hexdigest()
    assert archive["size"] == archive_path.stat().st_size
    assert archive["verified"] == "MD5"
    assert archive["address"].startswith("http://127.0.0.1")
    assert not list_files(home)


def test_damaged_text_is_extracted_again(archives, path):
    test_set = tb.testset("made", "de-en", registry=path)
    request_count = archives.requests
    path_of_source = Path(test_set.path("src"))
    path_of_source.write_text("half")
    assert tb.testset("made", "de-en", registry=path).source == SRC
    path_of_source.unlink()
    assert tb.testset("made", "de-en", registry=path).source == SRC
    # Same size, another modification time.
    path_of_source.write_bytes(path_of_source.read_bytes().replace(b"Hund", b"Huhn"))
    assert tb.testset("made", "de-en", registry=path).source == SRC
    (path_of_source.parent / "FIELDS.json").write_text("{")
    assert tb.testset("made", "de-en", registry=path).source == SRC
    assert archives.requests == request_count


def test_text_of_other_reader_version_is_extracted_again(path, monkeypatch):
    test_set = tb.testset("made", "de-en", registry=path)
    monkeypatch.setattr("truebleu.testsets.file_readers.READER_VERSION", 77)
    assert not cache.find_text(catalogue.get_entry("made", path), "de-en")
    assert tb.testset("made", "de-en", registry=path).source == test_set.source
    fields = json.loads((Path(test_set.path("src")).parent / "FIELDS.json").read_text())
    assert fields["reader"] == 77


def test_changed_entry_gets_new_folder(archives, path, tmp_path):
    tb.testset("made", "de-en", registry=path)
    old_folder = get_entry_folder(path)
    entry = make_xml_entry(archives, langpairs={"x-y": ["made/all.xml"]})
    changed_registry = write_registry(tmp_path, made=entry)
    tb.testset("made", "x-y", registry=changed_registry)
    assert get_entry_folder(changed_registry) != old_folder


def test_copied_cache_serves_as_layer(path, tmp_path, monkeypatch):
    tb.testset("made", "de-en", registry=path)
    layer = tmp_path / "layer"
    shutil.copytree(tmp_path / "cache", layer, copy_function=shutil.copyfile)
    for folder, _, names in os.walk(layer):
        for name in names:
            os.chmod(os.path.join(folder, name), 0o444)
    layer_files = list_files(layer)
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "other"))
    for layer_path in (layer, layer / "testsets"):
        monkeypatch.setenv("TRUEBLEU_TESTSETS", f"{tmp_path / 'none'}{os.pathsep}{layer_path}")
        test_set = tb.testset("made", "de-en", registry=path, offline=True)
        assert test_set.references["B"] == SECOND_REF
        assert test_set.path("src").startswith(str(layer))
    assert not (tmp_path / "other").exists()
    # An archive alone will do; the text is test_set in the cache.
    shutil.rmtree(next(layer.rglob("de-en")))
    test_set = tb.testset("made", "de-en", registry=path, offline=True)
    assert test_set.source == SRC
    assert test_set.path("src").startswith(str(tmp_path / "other"))
    assert list_files(layer) < layer_files


def test_sacrebleu_archives_are_used_but_not_its_text(archives, path, tmp_path, home, monkeypatch):
    raw = home / ".sacrebleu/made/raw"
    raw.mkdir(parents=True)
    shutil.copy(archives.folder / "made.tar.gz", raw / "made.made.tar.gz")
    (raw.parent / "made.de-en.src").write_text("of an old version\n")
    home_files = list_files(home)
    assert tb.testset("made", "de-en", registry=path, offline=True).source == SRC
    assert (list_files(home), archives.requests) == (home_files, 0)
    record = json.loads((get_entry_folder(path) / "SOURCE.json").read_text())
    assert record["archives"][0]["address"] == str(raw / "made.made.tar.gz")
    # An archive with another checksum is not trusted.
    operations.remove_test_set("made")
    (raw / "made.made.tar.gz").write_bytes(b"half")
    with pytest.raises(download.OfflineError):
        tb.testset("made", "de-en", registry=path, offline=True)
    assert tb.testset("made", "de-en", registry=path).source == SRC
    assert (list_files(home), archives.requests) == (home_files, 1)


def replace_archive(archives, inner: str = XML) -> None:
    """Replace the served archive by one with other bytes."""
    with tarfile.open(archives.folder / "made.tar.gz", "w:gz", compresslevel=1) as archive:
        file = archives.folder / "other.xml"
        file.write_text(inner)
        archive.add(file, "made/all.xml")


def compute_checksums(**texts: list[str]) -> dict[str, str]:
    return {
        name.replace("_", ":"): hashlib.sha256(join_lines(lines).encode()).hexdigest()
        for name, lines in texts.items()
    }


@pytest.mark.parametrize("checksums", [{}, {"de-en": compute_checksums(src=SRC, ref_A=SECOND_REF)}])
def test_archive_with_wrong_checksum_and_text_is_refused(archives, tmp_path, checksums):
    path = write_registry(tmp_path, made=make_xml_entry(archives, sha256=checksums))
    replace_archive(archives)
    with pytest.raises(download.DownloadError, match=r"has MD5 \w+, expected") as error:
        tb.testset("made", "de-en", registry=path)
    assert "--mirror URL (mirror=URL in Python)" in str(error.value)
    assert "--offline (offline=True in Python) explains how to add the file" in str(error.value)
    assert not [name for name in list_files(tmp_path / "cache") if not name.endswith(".lock")]


def test_archive_with_expected_text_is_verified_by_content(archives, tmp_path):
    checksums = {"de-en": compute_checksums(src=SRC, ref_A=REF)}
    path = write_registry(tmp_path, made=make_xml_entry(archives, sha256=checksums))
    replace_archive(archives)
    test_set = tb.testset("made", "de-en", registry=path)
    # Fields without a checksum are not verified and are skipped.
    assert test_set.fields == ["src", "ref:A"]
    (source,) = operations.describe_test_set("made", "de-en", registry=path)["sources"]
    assert source["verified"] == "content"
    operations.verify_test_sets("made", registry=path)
    shutil.rmtree(get_entry_folder(path) / "de-en")
    request_count = archives.requests
    assert tb.testset("made", "de-en", registry=path).references == {"A": REF}
    assert archives.requests == request_count


def test_language_pair_without_checksum_is_not_verified_by_other_pairs(archives, tmp_path):
    checksums = {"de-en": compute_checksums(src=SRC, ref_A=REF)}
    pairs = {"de-en": ["made/all.xml"], "x-y": ["made/all.xml"]}
    entry = make_xml_entry(archives, sha256=checksums, langpairs=pairs)
    path = write_registry(tmp_path, made=entry)
    replace_archive(archives)
    assert tb.testset("made", "de-en", registry=path).source == SRC
    with pytest.raises(tb.InputError, match="made x-y: the MD5 of the archive differs"):
        tb.testset("made", "x-y", registry=path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"other.xml": XML}, "made/all.xml is missing from"),
        ({"made/all.xml": "<dataset"}, "is not XML"),
        ({"made/all.xml": "<d><src lang='a'/><ref lang='b'/></d>"}, "made de-en has no segments"),
    ],
)
def test_invalid_archive_is_refused(archives, tmp_path, members, message):
    entry = make_xml_entry(archives)
    address, md5 = archives.make("made.tar.gz", members)
    path = write_registry(tmp_path, made={**entry, "data": [[address, md5]]})
    with pytest.raises(tb.InputError, match=message):
        tb.testset("made", "de-en", registry=path)
    assert not list((tmp_path / "cache").rglob("*.txt"))


SCRIPT = """
import sys, hashlib
import truebleu as tb
made = tb.testset("made", "de-en", registry=sys.argv[1])
lines = made.source + made.references["A"] + made.systems["Online-W"]
print(len(made), hashlib.sha256("\\n".join(lines).encode()).hexdigest())
"""


def start_process(path: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
def test_killed_process_leaves_no_partial_text(archives, tmp_path):
    rng = random.Random(5)
    documents = (
        f'<doc id="{number}" origlang="de" domain="news"><src lang="de"><seg id="1">{number}</seg>'
        f'</src><ref lang="en" translator="A"><seg id="1">{rng.randbytes(40).hex()}</seg></ref>'
        '<hyp system="Online-W"><seg id="1">x</seg></hyp></doc>\n'
        for number in range(10_000)
    )
    large_xml = XML.replace("</collection>", f"{''.join(documents)}</collection>")
    path = write_xml_registry(archives, tmp_path, large_xml)
    process = start_process(path)
    expected, error = process.communicate()
    assert process.returncode == 0, error
    delays = random.Random(9)
    for _ in range(10):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        process = start_process(path)
        time.sleep(delays.uniform(0.05, 0.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        records = list((tmp_path / "cache").rglob("FIELDS.json"))
        complete_folders = [place.parent for place in records if ".making" not in str(place)]
        for place in complete_folders:
            assert all(
                cache._is_field_intact(cache.read_folder(str(place)), f) for f in ("src", "ref:A")
            )
        second_process = start_process(path)
        output, error = second_process.communicate()
        assert (second_process.returncode, output) == (0, expected), error
        # A process killed after the last step leaves a work folder, which the next process removes.
        assert complete_folders or not list((tmp_path / "cache").rglob(".making*"))


def test_unwritable_cache_falls_back_to_temporary_folder(path, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "file" / "cache"))
    assert tb.testset("made", "de-en", registry=path).source == SRC


def test_licence_is_printed_once(archives, tmp_path, capfd):
    path = write_registry(tmp_path, made=make_xml_entry(archives, licence="for research only"))
    for expected in ("truebleu: made: licence: for research only\n", ""):
        tb.testset("made", "de-en", registry=path)
        assert capfd.readouterr().err == expected


def write_xml_registry(archives, folder, xml: str, name: str = "other") -> str:
    """Write a registry with a test set of this XML, and return its path."""
    data = [[*archives.make(f"{name}.tar.gz", {"made/all.xml": xml})]]
    return write_registry(folder, made={**make_xml_entry(archives), "data": data})


def test_system_without_all_documents_is_skipped(archives, tmp_path):
    incomplete_xml = XML.replace('<hyp system="Online-W"', '<hyp system="Online-V"', 1)
    path = write_xml_registry(archives, tmp_path, incomplete_xml)
    test_set = tb.testset("made", "de-en", registry=path)
    assert (list(test_set.systems), test_set.source) == ([], SRC)
    assert not list(Path(test_set.path("src")).parent.glob("Online*"))


@given(st.sets(st.text(max_size=12), max_size=8))
def test_fields_have_distinct_safe_file_names(fields):
    fields |= {"src", "ref:A", "ref.A", "docid"}
    names = {cache.format_file_name(field) for field in fields}
    assert len(names) == len(fields)
    assert not any(re.search(r"[/\\:\0]|^\.", name) for name in names)


def test_any_system_name_is_supported(archives, tmp_path):
    names = ["_docid2", "a/b", "../../x", "ref.A", "..", "Ж&amp;-" * 9]
    for name in names:
        xml = XML.replace("Online-W", name)
        path = write_xml_registry(archives, tmp_path, xml, str(names.index(name)))
        test_set = tb.testset("made", "de-en", registry=path)
        assert list(test_set.systems) == [name.replace("&amp;", "&")]
        assert test_set.read_field(next(iter(test_set.systems)))[0] == SECOND_REF[0]
        assert test_set.references == {"A": REF, "B": SECOND_REF}
    assert not list(tmp_path.parent.rglob("x.txt"))


def test_too_long_system_name_gives_one_line_error(archives, tmp_path):
    path = write_xml_registry(archives, tmp_path, XML.replace("Online-W", "W" * 300))
    with pytest.raises(tb.InputError, match="cannot be written: File name too long"):
        tb.testset("made", "de-en", registry=path)
