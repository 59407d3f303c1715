"""Where test sets lie: whole or not at all, in layers, and verified."""

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
from local_registry import OTHER, REF, SRC, XML, about_xml, registry, text

import truebleu as tb
from truebleu.testsets import cache, catalogue, testset_operations
from truebleu.text import download


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def path(archives, tmp_path) -> str:
    return registry(tmp_path, made=about_xml(archives))


def folder_of(path: str) -> Path:
    return Path(cache.get_entry_folder(catalogue.get_entry("made", path), cache.get_cache_root()))


def test_what_lies_in_the_cache(archives, path, tmp_path, home):
    tb.testset("made", "de-en", registry=path)
    names = files(folder_of(path))
    assert {name for name in names if not name.endswith((".sha256", ".lock"))} == {
        "SOURCE.json",
        "raw/made.made.tar.gz",
        *(
            f"de-en/{name}"
            for name in ("FIELDS.json", "src.txt", "ref.A.txt", "ref.B.txt", "docid.txt")
        ),
        *(f"de-en/{name}" for name in ("origlang.txt", "domain.txt", "Online-W.txt")),
    }
    said = json.loads((folder_of(path) / "SOURCE.json").read_text())
    (archive,) = said["archives"]
    packed = folder_of(path) / "raw/made.made.tar.gz"
    assert archive["sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert archive["size"] == packed.stat().st_size
    assert archive["verified"] == "MD5"
    assert archive["address"].startswith("http://127.0.0.1")
    assert not files(home)


def test_a_damaged_text_is_made_again(archives, path):
    made = tb.testset("made", "de-en", registry=path)
    before = archives.requests
    place = Path(made.path("src"))
    place.write_text("half")
    assert tb.testset("made", "de-en", registry=path).source == SRC
    place.unlink()
    assert tb.testset("made", "de-en", registry=path).source == SRC
    # As long as it was, at another time.
    place.write_bytes(place.read_bytes().replace(b"Hund", b"Huhn"))
    assert tb.testset("made", "de-en", registry=path).source == SRC
    (place.parent / "FIELDS.json").write_text("{")
    assert tb.testset("made", "de-en", registry=path).source == SRC
    assert archives.requests == before


def test_text_of_another_reader_is_made_again(path, monkeypatch):
    made = tb.testset("made", "de-en", registry=path)
    monkeypatch.setattr("truebleu.testsets.file_readers.READER_VERSION", 77)
    assert not cache.find_text(catalogue.get_entry("made", path), "de-en")
    assert tb.testset("made", "de-en", registry=path).source == made.source
    assert json.loads((Path(made.path("src")).parent / "FIELDS.json").read_text())["reader"] == 77


def test_an_entry_that_changed_has_another_folder(archives, path, tmp_path):
    tb.testset("made", "de-en", registry=path)
    before = folder_of(path)
    changed = registry(tmp_path, made=about_xml(archives, langpairs={"x-y": ["made/all.xml"]}))
    tb.testset("made", "x-y", registry=changed)
    assert folder_of(changed) != before


def test_a_copy_is_a_layer(path, tmp_path, monkeypatch):
    tb.testset("made", "de-en", registry=path)
    layer = tmp_path / "layer"
    shutil.copytree(tmp_path / "cache", layer, copy_function=shutil.copyfile)
    for folder, _, names in os.walk(layer):
        for name in names:
            os.chmod(os.path.join(folder, name), 0o444)
    before = files(layer)
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "other"))
    for named in (layer, layer / "testsets"):
        monkeypatch.setenv("TRUEBLEU_TESTSETS", f"{tmp_path / 'none'}{os.pathsep}{named}")
        made = tb.testset("made", "de-en", registry=path, offline=True)
        assert made.references["B"] == OTHER
        assert made.path("src").startswith(str(layer))
    assert not (tmp_path / "other").exists()
    # An archive alone will do; the text is made in the cache.
    shutil.rmtree(next(layer.rglob("de-en")))
    made = tb.testset("made", "de-en", registry=path, offline=True)
    assert made.source == SRC
    assert made.path("src").startswith(str(tmp_path / "other"))
    assert files(layer) < before


def test_archives_of_sacrebleu_are_used_and_its_text_is_not(
    archives, path, tmp_path, home, monkeypatch
):
    raw = home / ".sacrebleu/made/raw"
    raw.mkdir(parents=True)
    shutil.copy(archives.folder / "made.tar.gz", raw / "made.made.tar.gz")
    (raw.parent / "made.de-en.src").write_text("of an old version\n")
    before = files(home)
    assert tb.testset("made", "de-en", registry=path, offline=True).source == SRC
    assert (files(home), archives.requests) == (before, 0)
    said = json.loads((folder_of(path) / "SOURCE.json").read_text())
    assert said["archives"][0]["address"] == str(raw / "made.made.tar.gz")
    # Another one is not trusted.
    testset_operations.remove_test_set("made")
    (raw / "made.made.tar.gz").write_bytes(b"half")
    with pytest.raises(download.OfflineError):
        tb.testset("made", "de-en", registry=path, offline=True)
    assert tb.testset("made", "de-en", registry=path).source == SRC
    assert (files(home), archives.requests) == (before, 1)


def wrong_archive(archives, inner: str = XML) -> None:
    """The served archive has other bytes now."""
    with tarfile.open(archives.folder / "made.tar.gz", "w:gz", compresslevel=1) as tape:
        file = archives.folder / "other.xml"
        file.write_text(inner)
        tape.add(file, "made/all.xml")


def sums(**texts: list[str]) -> dict[str, str]:
    return {
        name.replace("_", ":"): hashlib.sha256(text(lines).encode()).hexdigest()
        for name, lines in texts.items()
    }


@pytest.mark.parametrize("known", [{}, {"de-en": sums(src=SRC, ref_A=OTHER)}])
def test_an_archive_with_a_wrong_sum_and_text_is_refused(archives, tmp_path, known):
    path = registry(tmp_path, made=about_xml(archives, sha256=known))
    wrong_archive(archives)
    with pytest.raises(download.DownloadError, match=r"has MD5 \w+, expected"):
        tb.testset("made", "de-en", registry=path)
    assert not [name for name in files(tmp_path / "cache") if not name.endswith(".lock")]


def test_an_archive_whose_text_is_right_is_verified_by_content(archives, tmp_path):
    known = {"de-en": sums(src=SRC, ref_A=REF)}
    path = registry(tmp_path, made=about_xml(archives, sha256=known))
    wrong_archive(archives)
    made = tb.testset("made", "de-en", registry=path)
    # What has no sum is not verified, and left out.
    assert made.fields == ["src", "ref:A"]
    assert (
        testset_operations.describe_test_set("made", "de-en", registry=path).sources[0]["verified"]
        == "content"
    )
    testset_operations.verify_test_sets("made", registry=path)
    shutil.rmtree(folder_of(path) / "de-en")
    before = archives.requests
    assert tb.testset("made", "de-en", registry=path).references == {"A": REF}
    assert archives.requests == before


def test_language_pairs_without_sums_are_not_verified_by_others(archives, tmp_path):
    known = {"de-en": sums(src=SRC, ref_A=REF)}
    pairs = {"de-en": ["made/all.xml"], "x-y": ["made/all.xml"]}
    path = registry(tmp_path, made=about_xml(archives, sha256=known, langpairs=pairs))
    wrong_archive(archives)
    assert tb.testset("made", "de-en", registry=path).source == SRC
    with pytest.raises(tb.InputError, match="made x-y: the archive has another MD5"):
        tb.testset("made", "x-y", registry=path)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ({"other.xml": XML}, "has no made/all.xml"),
        ({"made/all.xml": "<dataset"}, "is not XML"),
        ({"made/all.xml": "<d><src lang='a'/><ref lang='b'/></d>"}, "made de-en has no segments"),
    ],
)
def test_an_archive_that_is_not_as_it_should_be(archives, tmp_path, inner, message):
    about = about_xml(archives)
    address, md5 = archives.make("made.tar.gz", inner)
    path = registry(tmp_path, made={**about, "data": [[address, md5]]})
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


def start(path: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
def test_a_process_that_is_killed_leaves_nothing_half_made(archives, tmp_path):
    words = random.Random(5)
    documents = (
        f'<doc id="{number}" origlang="de" domain="news"><src lang="de"><seg id="1">{number}</seg>'
        f'</src><ref lang="en" translator="A"><seg id="1">{words.randbytes(40).hex()}</seg></ref>'
        '<hyp system="Online-W"><seg id="1">x</seg></hyp></doc>\n'
        for number in range(10_000)
    )
    many = XML.replace("</collection>", f"{''.join(documents)}</collection>")
    about = about_xml(archives)
    address, md5 = archives.make("made.tar.gz", {"made/all.xml": many})
    path = registry(tmp_path, made={**about, "data": [[address, md5]]})
    process = start(path)
    wanted, error = process.communicate()
    assert process.returncode == 0, error
    dice = random.Random(9)
    for _ in range(10):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        process = start(path)
        time.sleep(dice.uniform(0.05, 0.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        places = list((tmp_path / "cache").rglob("FIELDS.json"))
        done = [place.parent for place in places if ".making" not in str(place)]
        for place in done:
            assert all(cache._is_intact(cache.read_folder(str(place)), f) for f in ("src", "ref:A"))
        again = start(path)
        output, error = again.communicate()
        assert (again.returncode, output) == (0, wanted), error
        # Whoever dies behind the last step leaves a folder to whoever makes something there next.
        assert done or not list((tmp_path / "cache").rglob(".making*"))


def test_a_cache_that_cannot_be_written_to_is_no_hindrance(path, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "file" / "cache"))
    assert tb.testset("made", "de-en", registry=path).source == SRC


def test_the_licence_is_said_once(archives, tmp_path, capfd):
    path = registry(tmp_path, made=about_xml(archives, licence="for research only"))
    for wanted in ("truebleu: made: licence: for research only\n", ""):
        tb.testset("made", "de-en", registry=path)
        assert capfd.readouterr().err == wanted


def test_a_system_that_left_documents_out_is_left_out(archives, tmp_path):
    half = XML.replace('<hyp system="Online-W"', '<hyp system="Online-V"', 1)
    about = about_xml(archives)
    path = registry(
        tmp_path, made={**about, "data": [[*archives.make("half.tar.gz", {"made/all.xml": half})]]}
    )
    made = tb.testset("made", "de-en", registry=path)
    assert (list(made.systems), made.source) == ([], SRC)
    assert not list(Path(made.path("src")).parent.glob("Online*"))


@given(st.sets(st.text(max_size=12), max_size=8))
def test_each_field_has_a_file_of_its_own(fields):
    fields |= {"src", "ref:A", "ref.A", "docid"}
    names = {cache.format_file_name(field) for field in fields}
    assert len(names) == len(fields)
    assert not any(re.search(r"[/\\:\0]|^\.", name) for name in names)


def test_systems_may_be_called_anything(archives, tmp_path):
    about = about_xml(archives)
    names = ["_docid2", "a/b", "../../x", "ref.A", "..", "Ж&amp;-" * 9]
    for name in names:
        inner = XML.replace("Online-W", name)
        data = [[*archives.make(f"{names.index(name)}.tar.gz", {"made/all.xml": inner})]]
        path = registry(tmp_path, made={**about, "data": data})
        made = tb.testset("made", "de-en", registry=path)
        assert list(made.systems) == [name.replace("&amp;", "&")]
        assert made.read_field(next(iter(made.systems)))[0] == OTHER[0]
        assert made.references == {"A": REF, "B": OTHER}
    assert not list(tmp_path.parent.rglob("x.txt"))


def test_a_name_that_no_file_can_have_is_an_error_of_one_line(archives, tmp_path):
    about = about_xml(archives)
    inner = XML.replace("Online-W", "W" * 300)
    data = [[*archives.make("long.tar.gz", {"made/all.xml": inner})]]
    path = registry(tmp_path, made={**about, "data": data})
    with pytest.raises(tb.InputError, match="cannot be written: File name too long"):
        tb.testset("made", "de-en", registry=path)
