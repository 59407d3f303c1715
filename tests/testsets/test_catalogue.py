"""Every entry of the catalogue, through archives with the entry's own names of files."""

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


def archives_of(name: str) -> dict[str, bytes]:
    """The archives of an entry, by their addresses."""
    about = ENTRIES[name]
    files = files_of(about)
    local = {f"{name.replace('/', '_')}.{os.path.basename(a)}": a for a, _ in about["data"]}
    loose = {local[inner]: text for inner, text in files.items() if inner in local}
    inside = {inner: text for inner, text in files.items() if inner not in local}
    made = {}
    tapes = [address for address, _ in about["data"] if address not in loose]
    for address in tapes:
        # A set in several archives has a folder in each, or one of them has all.
        stem = os.path.basename(address).partition(".")[0]
        own = {
            inner: text
            for inner, text in inside.items()
            if len(tapes) == 1
            or inner.startswith(f"{stem}/")
            or (
                name == "wmt17/ms"
                and (inner.startswith("Translator") == ("HumanParity" in address))
            )
        }
        if address.endswith((".tar.gz", ".tgz", ".zip")):
            made[address] = packed(address, own)
        else:
            # A file of a pair that is loose and not asked for here.
            made[address] = b""
    for address, text in loose.items():
        made[address] = gzip.compress(text.encode()) if address.endswith(".gz") else text.encode()
    return made


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Puts an entry's archives where sacreBLEU and truebleu have them."""
    import hashlib

    def put(name: str) -> None:
        made = archives_of(name)
        about = ENTRIES[name]
        sums = {address: hashlib.md5(content).hexdigest() for address, content in made.items()}
        entry = catalogue._make_entry(
            name, {**about, "data": [[a, sums[a]] for a, _ in about["data"]]}
        )
        monkeypatch.setitem(catalogue._load_published(), name, entry)
        each = originals.DATASETS[name]
        raw = tmp_path / name / "raw"
        raw.mkdir(parents=True)
        monkeypatch.setattr(each, "_outdir", str(raw.parent))
        monkeypatch.setattr(each, "_rawdir", str(raw))
        for address, content in made.items():
            path = raw / each._get_tarball_filename(address)
            path.write_bytes(content)
            extract_tarball(str(path), str(raw))
        monkeypatch.setenv("SACREBLEU", str(tmp_path))

    return put


def lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.removesuffix("\n") for line in file]


def fields_of(dataset, langpair: str) -> dict[str, list[str]]:
    files = map(lines, dataset.get_files(langpair))
    return dict(zip(dataset.fieldnames(langpair), files, strict=True))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_gives_the_lines_of_the_original(here, name):
    here(name)
    for langpair in ENTRIES[name]["langpairs"]:
        original = originals.DATASETS[name]
        wanted = fields_of(original, langpair)
        got = tb.testset(name, langpair)
        shown = {field: lines(got.path(field)) for field in got.fields}
        assert shown == wanted
        assert sorted(shown) == sorted(wanted)
        assert [line.strip() for line in got.source] == list(original.source(langpair))
        references = sorted(map(lines, original.get_reference_files(langpair)))
        assert sorted(got.references[each] for each in got.preferred) == references
        by_name = {field.removeprefix("ref:"): text for field, text in wanted.items()}
        assert all(by_name[each] == text for each, text in got.references.items())
        assert {each: got.systems[each] for each in got.systems} == {
            field: text
            for field, text in wanted.items()
            if not field.startswith(("src", "ref")) and field not in file_readers.DOCUMENT_FIELDS
        }
