"""Every catalogue entry, through archives with the file names of the entry."""

import gzip
import os

import pytest
import sacrebleu.dataset as originals
from archive_fixtures import files_of, packed
from sacrebleu.dataset import wmt_xml  # noqa: F401
from sacrebleu.utils import extract_tarball

import truebleu as tb
from truebleu.testsets import catalogue, file_readers

KINDS = file_readers.FIELD_READERS
ENTRIES = catalogue.load_builtin_registry()["test_sets"]


def make_archives(name: str) -> dict[str, bytes]:
    """Return the archives of an entry, by URL."""
    description = ENTRIES[name]
    files = files_of(description)
    urls_by_name = {
        f"{name.replace('/', '_')}.{os.path.basename(a)}": a for a, _ in description["data"]
    }
    single_files = {
        urls_by_name[inner]: text for inner, text in files.items() if inner in urls_by_name
    }
    packed_files = {inner: text for inner, text in files.items() if inner not in urls_by_name}
    contents = {}
    archive_urls = [address for address, _ in description["data"] if address not in single_files]
    for address in archive_urls:
        # A test set in several archives has a folder in each, or all files in one.
        stem = os.path.basename(address).partition(".")[0]
        members = {
            inner: text
            for inner, text in packed_files.items()
            if len(archive_urls) == 1
            or inner.startswith(f"{stem}/")
            or (
                name == "wmt17/ms"
                and (inner.startswith("Translator") == ("HumanParity" in address))
            )
        }
        if address.endswith((".tar.gz", ".tgz", ".zip")):
            contents[address] = packed(address, members)
        else:
            # A single file of another language pair.
            contents[address] = b""
    for address, text in single_files.items():
        contents[address] = (
            gzip.compress(text.encode()) if address.endswith(".gz") else text.encode()
        )
    return contents


@pytest.fixture
def install_archives(tmp_path, monkeypatch):
    """Return a function that installs an entry's archives for sacreBLEU and truebleu."""
    import hashlib

    def install(name: str) -> None:
        contents = make_archives(name)
        description = ENTRIES[name]
        checksums = {
            address: hashlib.md5(content).hexdigest() for address, content in contents.items()
        }
        entry = catalogue._make_entry(
            name, {**description, "data": [[a, checksums[a]] for a, _ in description["data"]]}
        )
        monkeypatch.setitem(catalogue._load_published_entries(), name, entry)
        dataset = originals.DATASETS[name]
        raw = tmp_path / name / "raw"
        raw.mkdir(parents=True)
        monkeypatch.setattr(dataset, "_outdir", str(raw.parent))
        monkeypatch.setattr(dataset, "_rawdir", str(raw))
        for address, content in contents.items():
            path = raw / dataset._get_tarball_filename(address)
            path.write_bytes(content)
            extract_tarball(str(path), str(raw))
        monkeypatch.setenv("SACREBLEU", str(tmp_path))

    return install


def read_catalogue_lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.removesuffix("\n") for line in file]


def read_original_fields(dataset, langpair: str) -> dict[str, list[str]]:
    files = map(read_catalogue_lines, dataset.get_files(langpair))
    return dict(zip(dataset.fieldnames(langpair), files, strict=True))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ENTRIES)
def test_entry_has_same_lines_as_sacrebleu(install_archives, name):
    install_archives(name)
    for langpair in ENTRIES[name]["langpairs"]:
        original = originals.DATASETS[name]
        expected_fields = read_original_fields(original, langpair)
        test_set = tb.testset(name, langpair)
        fields = {field: read_catalogue_lines(test_set.path(field)) for field in test_set.fields}
        assert fields == expected_fields
        assert sorted(fields) == sorted(expected_fields)
        assert [line.strip() for line in test_set.source] == list(original.source(langpair))
        references = sorted(map(read_catalogue_lines, original.get_reference_files(langpair)))
        assert sorted(test_set.references[each] for each in test_set.preferred) == references
        by_name = {field.removeprefix("ref:"): text for field, text in expected_fields.items()}
        assert all(by_name[each] == text for each, text in test_set.references.items())
        assert {each: test_set.systems[each] for each in test_set.systems} == {
            field: text
            for field, text in expected_fields.items()
            if not field.startswith(("src", "ref")) and field not in file_readers.DOCUMENT_FIELDS
        }
