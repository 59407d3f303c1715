"""Where test sets lie: read-only layers, the cache, sacreBLEU's folder; and how they come there.

`<cache>/testsets/<name>/<digits>/` has `raw/`, the archives; for each language pair that was asked
for a folder of text, a file a field and a line a segment, with FIELDS.json; and SOURCE.json, which
says where everything came from. The digits are those of the entry in the catalogue. A folder of
text is renamed to its place when everything is in it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from shutil import copyfile, rmtree
from typing import Any

from truebleu._kernel import InputError
from truebleu.testsets import file_readers
from truebleu.testsets.catalogue import OWN, Archive, Entry
from truebleu.text import download
from truebleu.text.archives import unpack_archive
from truebleu.text.argument_checks import load_json
from truebleu.text.operating_system import (
    WINDOWS_DEVICE,
    path_inside,
    temporary_folder,
    write_atomically,
)
from truebleu.text.segments import File

FIELDS, SOURCE = "FIELDS.json", "SOURCE.json"
# The kinds whose documents filters know from the source's file.
SGML = ("FakeSGML", "WMTAddition")
# Fields that only filters read.
FOR_FILTERS = ("_origlang", "_docid")
# How an archive was verified whose sums are not the catalogue's, and its text is.
BY_CONTENT = "content"


@dataclasses.dataclass(frozen=True)
class Text:
    """A language pair of a test set, as text on the disk."""

    folder: str
    fields: Mapping[str, Mapping[str, Any]]
    """For each field, in sacreBLEU's order, its file, and the file's lines, size, mtime, sha256."""

    texts: Mapping[str, list[str]] | None = None
    """The lines of each field, where there are no such files."""

    paths: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """With `texts`: the files of fields that are in one."""

    @property
    def names(self) -> list[str]:
        """The fields, without those that only filters read."""
        return [name for name in self.fields if name not in FOR_FILTERS]

    def path(self, field: str) -> str:
        """The file of a field. Raises InputError if it is in no file of its own."""
        if self.texts is not None:
            if field not in self.paths:
                raise InputError(f"{field} is in no file of its own in {self.folder}")
            return self.paths[field]
        return os.path.join(self.folder, self.fields[field]["file"])

    def lines(self, field: str) -> list[str]:
        """The lines of a field."""
        if self.texts is not None:
            return list(self.texts[field])
        return list(File(self.path(field)).read_lines())

    def __len__(self) -> int:
        return next((each["lines"] for each in self.fields.values()), 0)


def layers() -> list[str]:
    """The folders that test sets are looked for in, before the cache; nothing is written there."""
    named = os.environ.get("TRUEBLEU_TESTSETS", "").split(os.pathsep)
    folders = [os.path.abspath(os.path.expanduser(each)) for each in named if each]
    return [each for folder in folders for each in (folder, os.path.join(folder, "testsets"))]


def own() -> str:
    """The cache's folder of test sets, which may not exist."""
    return os.path.join(download.get_cache_folder(), "testsets")


def writable(entry: Entry, *names: str) -> str:
    """Return the path of a file or folder of a test set in the cache, to be written or deleted.

    Raises InputError for a path that is not inside of the cache.
    """
    root = os.path.join(download.get_writable_folder(), "testsets")
    return path_inside(root, *entry.name.split("/"), entry.digest, *names)


def folder_of(entry: Entry, root: str) -> str:
    """The folder of a test set below one of all test sets."""
    return os.path.join(root, *entry.name.split("/"), entry.digest)


def found(entry: Entry, langpair: str) -> Text | None:
    """The text of a language pair, if it is here."""
    roots = [*layers(), own()]
    folders = (os.path.join(folder_of(entry, root), langpair) for root in roots)
    return next(filter(None, map(_opened, folders)), None)


def opened(entry: Entry, langpair: str) -> Text:
    """The text of a language pair, which is made, and downloaded, if it is not here.

    Raises OfflineError and DownloadError; InputError for files that are not what they should be.
    """
    if entry.folder is not None:
        return _own(entry, langpair, entry.folder)
    return found(entry, langpair) or fetched(entry, [langpair])[0][langpair]


def _own(entry: Entry, langpair: str, folder: str) -> Text:
    """A language pair of a user's own test set: read where it is."""
    files = entry.files(langpair)
    read: Iterator[tuple[str, Iterable[str]]]
    if entry.kind == OWN:
        named = entry.langpairs[langpair].items()
        read = ((name, File(os.path.join(folder, file)).read_lines()) for name, file in named)
    else:
        read = file_readers.read(entry.kind, entry.name, files, folder)
    try:
        texts = {name: list(lines) for name, lines in read}
        if entry.kind in SGML:
            texts |= _for_filters(files, folder, texts)
    except OSError as error:
        raise InputError(f"{entry.name}: {error.filename}: {error.strerror}") from None
    _check_counts(entry, langpair, {name: len(lines) for name, lines in texts.items()})
    # Where a field is a file.
    is_whole = entry.kind in (OWN, "PlainText", "Parallel")
    places = zip(texts, file_readers.paths(files, folder), strict=False) if is_whole else ()
    paths = {
        name: path
        for name, path in places
        if entry.kind == OWN or name not in file_readers.OF_DOCUMENTS
    }
    fields = {name: {"lines": len(lines)} for name, lines in texts.items()}
    return Text(folder, fields, texts, paths)


def _check_counts(entry: Entry, langpair: str, counts: Mapping[str, int]) -> None:
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} has {count:,}" for name, count in counts.items())
        raise InputError(
            f"{entry.name} {langpair}: the fields have different numbers of lines: {said}"
        )
    if not any(counts.values()):
        raise InputError(f"{entry.name} {langpair} has no segments")


def _opened(folder: str) -> Text | None:
    """The text in a folder, if all of it is there and of today's reader."""
    try:
        text = read(folder)
        return text if all(_is_right(text, field) for field in text.fields) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read(folder: str) -> Text:
    """What FIELDS.json says, not checked. Raises OSError, ValueError, KeyError and TypeError."""
    with open(os.path.join(folder, FIELDS), encoding="utf-8") as file:
        about = load_json(file.read())
    if about["reader"] != file_readers.VERSION:
        raise ValueError(f"made by another reader: {about['reader']}")
    for field in about["fields"].values():
        path_inside(folder, field["file"])
    return Text(folder, about["fields"])


def _is_right(text: Text, field: str) -> bool:
    """Whether a file is as it was made: by its size and time, or a copy by its content."""
    about, path = text.fields[field], text.path(field)
    there = os.stat(path)
    if there.st_size != about["size"]:
        return False
    return bool(
        there.st_mtime_ns == about["mtime"]
        or download.compute_checksums(path)[1] == about["sha256"]
    )


def fetched(
    entry: Entry, langpairs: Iterable[str]
) -> tuple[dict[str, Text], list[download.Receipt]]:
    """The text of language pairs, and what is known of the archives that it is made of.

    The archives are downloaded if they must be. Without language pairs: of the archives alone.
    """
    langpairs = list(langpairs)
    if not entry.archives:
        raise InputError(f"{entry.name} is not here. {entry.how or 'It has no address'}")
    try:
        archives = [(each, *archive_of(entry, each)) for each in _needed(entry, langpairs)]
        receipts = [receipt for _, _, receipt in archives]
        read_fields = _fields
        if any(receipt.verified == BY_CONTENT for receipt in receipts):
            read_fields = _verified
        folder = writable(entry)
        os.makedirs(folder, exist_ok=True)
        with download.hold_path_lock(os.path.join(folder, "text")):
            done = {pair: _opened(os.path.join(folder, pair)) for pair in langpairs}
            missing = [pair for pair, text in done.items() if text is None]
            # SOURCE.json before the text: it says how the archives were verified.
            record(entry, folder, receipts)
            if missing:
                with _workplace(writable(entry, ".making")) as work:
                    raw = os.path.join(work, "raw")
                    _unpack(entry, missing, [(each, path) for each, path, _ in archives], raw)
                    for pair in missing:
                        fields = read_fields(entry, pair, raw)
                        done[pair] = _make(entry, pair, fields, os.path.join(work, "text"))
        return {pair: text for pair, text in done.items() if text is not None}, receipts
    except OSError as error:
        where = error.filename or own()
        raise InputError(f"{entry.name}: {where} cannot be written: {error.strerror}") from error


def _needed(entry: Entry, langpairs: Sequence[str]) -> list[Archive]:
    """The archives that language pairs need: those that are packed, and their own files."""
    if not langpairs:
        return list(entry.archives)
    files = {file for pair in langpairs for file in file_readers.paths(entry.files(pair), "")}
    return [each for each in entry.archives if each.is_packed or entry.local(each) in files]


@contextmanager
def _workplace(folder: str) -> Iterator[str]:
    """A new folder for the time of the work; the lock of whoever works there is held."""
    rmtree(folder, ignore_errors=True)
    try:
        os.makedirs(folder)
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def _unpack(
    entry: Entry,
    langpairs: Sequence[str],
    archives: Sequence[tuple[Archive, str]],
    raw: str,
) -> None:
    """Puts the files of language pairs into a folder."""
    files = [file_readers.paths(entry.files(pair), "") for pair in langpairs]
    members = list(dict.fromkeys(file for each in files for file in each))
    local = {entry.local(archive) for archive, _ in archives if not archive.is_packed}
    packed = [member for member in members if member not in local]
    os.makedirs(raw, exist_ok=True)
    for archive, path in archives:
        name = os.path.basename(archive.address)
        if archive.is_packed:
            unpack_archive(path, raw, packed, label=f"{entry.name}: {name}", allow_missing=True)
        else:
            copyfile(path, os.path.join(raw, entry.local(archive)))
    for member in members:
        if not os.path.exists(path_inside(raw, *member.split("/"))):
            names = ", ".join(os.path.basename(archive.address) for archive, _ in archives)
            raise InputError(f"{entry.name}: {names} has no {member}")


def _make(
    entry: Entry, langpair: str, texts: Iterable[tuple[str, Iterable[str]]], work: str
) -> Text:
    """Make the text of a language pair in a folder, then move the folder into the cache."""
    place = writable(entry, langpair)
    os.makedirs(work)
    fields: dict[str, dict[str, Any]] = {}
    for name, lines in texts:
        about = _write(os.path.join(work, file_of(name)), lines)
        known = ("src", *file_readers.OF_DOCUMENTS, *FOR_FILTERS)
        is_system = name not in known and not re.match("ref(:|$)", name)
        if is_system and any(about["lines"] != other["lines"] for other in fields.values()):
            # Not of all documents: nobody knows which lines belong together.
            os.unlink(os.path.join(work, about["file"]))
            continue
        fields[name] = about
    _check_counts(entry, langpair, {name: about["lines"] for name, about in fields.items()})
    said = {
        "name": entry.name,
        "langpair": langpair,
        "reader": file_readers.VERSION,
        "fields": fields,
    }
    _write_json(os.path.join(work, FIELDS), said)
    if os.path.lexists(place):
        # Of an older reader, or damaged.
        os.rename(place, f"{work}.old")
    os.rename(work, place)
    return Text(place, fields)


def _fields(entry: Entry, langpair: str, raw: str) -> Iterator[tuple[str, Iterable[str]]]:
    """The fields, and those that only filters read: what is known of documents otherwise."""
    files = entry.files(langpair)
    shown: dict[str, list[str]] = {}
    for name, lines in file_readers.read(entry.kind, entry.name, files, raw):
        kept = list(lines)
        if name in file_readers.OF_DOCUMENTS:
            shown[name] = kept
        yield name, kept
    if entry.kind in SGML:
        yield from _for_filters(files, raw, shown).items()


def _for_filters(
    files: list[str], raw: str, shown: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """What sacreBLEU's filters know of documents, where it is not what the fields say."""
    path = file_readers.paths(files, raw)[0]
    if not path.endswith(".sgm"):
        return {}
    said = list(file_readers.documents(path))
    found = {
        "origlang": [_value(each[0]) for each in said],
        "docid": [_value(each[1]) for each in said],
    }
    return {f"_{name}": values for name, values in found.items() if values != shown.get(name)}


def _verified(entry: Entry, langpair: str, raw: str) -> Iterator[tuple[str, Iterable[str]]]:
    """The fields that are those of the catalogue, by their sums; the others are left out."""
    sums = entry.sha256.get(langpair, {})
    if "src" not in sums:
        raise InputError(
            f"{entry.name} {langpair}: the archive has another MD5 than the catalogue's, and the "
            "catalogue has no sum of this language pair's text to verify it by"
        )
    for name, lines in _fields(entry, langpair, raw):
        if name in sums:
            kept = list(lines)
            if sum_of(kept) != sums[name]:
                raise InputError(f"{entry.name} {langpair}: {name} is not the catalogue's text")
            yield name, kept


def sum_of(lines: Iterable[str]) -> str:
    """The SHA-256 of lines in UTF-8, with a newline behind each."""
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def judge(entry: Entry, archive: Archive) -> Callable[[str], bool] | None:
    """Whether a file, by its path, is an archive whose sums differ, or are not known.

    It has the text of the catalogue; or where no sums are known, all files of the test set. None
    if nothing can tell.
    """
    known = entry.sha256
    if not known and (archive.md5 or archive.sha256):
        return None

    def judged(path: str) -> bool:
        with temporary_folder() as folder:
            raw = os.path.join(folder, "raw")
            pairs = list(known) or _pairs_of(entry, archive)
            _unpack(entry, pairs, [(archive, path)], raw)
            if not known:
                for pair in pairs:
                    for _ in _fields(entry, pair, raw):
                        pass
            return all(
                {name for name, _ in _verified(entry, pair, raw)} == known[pair].keys()
                for pair in known
            )

    return judged


def _pairs_of(entry: Entry, archive: Archive) -> list[str]:
    """Language pairs whose files are in an archive, or are it."""
    languages = list(entry.languages)
    pairs = entry.pairs or [f"{languages[0]}-{each}" for each in languages[1:]]
    if archive.is_packed:
        return pairs
    return [
        pair for pair in pairs if entry.local(archive) in file_readers.paths(entry.files(pair), "")
    ][:1]


def _value(found: str | None) -> str:
    """An attribute; nothing for a line without one."""
    return "" if found is None or found.startswith("<doc ") else found


def file_of(field: str) -> str:
    """The name of a field's file: systems may be called anything.

    >>> file_of("ref:A"), file_of("M2M100_1.2B-B4"), file_of("a/b:c"), file_of("ref.A")
    ('ref.A.txt', 'M2M100_1.2B-B4.txt', 'a%2fb%3ac.txt', 'ref%2eA.txt')
    """
    start, name = ("ref.", field[4:]) if field.startswith("ref:") else ("", field)

    def quoted(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02x}" for byte in found[0].encode("utf-8"))

    plain = re.sub(rf"[^\w.+ -]|^\.|(?<=^ref)\.|^(?={WINDOWS_DEVICE}).", quoted, name)
    return f"{start}{plain or '%'}.txt"


def _write(path: str, lines: Iterable[str]) -> dict[str, Any]:
    text = [f"{line}\n" for line in lines]
    content = "".join(text).encode("utf-8")
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return {
        "file": os.path.basename(path),
        "lines": len(text),
        "size": len(content),
        "mtime": os.stat(path).st_mtime_ns,
        "sha256": sha256(content).hexdigest(),
    }


def _write_json(path: str, about: object) -> None:
    write_atomically(path, f"{json.dumps(about, indent=1, ensure_ascii=False)}\n".encode())


def archive_of(entry: Entry, archive: Archive) -> tuple[str, download.Receipt]:
    """The path of an archive, which is downloaded if it is not here, and what is known of it."""
    for here in places(entry, archive):
        if found := checked(here, archive):
            return here, found
    path = writable(entry, "raw", entry.local(archive))
    source = download.DownloadSource(
        (archive.address, *archive.mirrors), archive.sha256, archive.md5, archive.size
    )
    try:
        receipt = download.download_file(
            source, path, name=entry.name, accept=judge(entry, archive)
        )
    except download.OfflineError:
        raise download.OfflineError(_instructions(entry, archive)) from None
    if archive.md5 is None and archive.sha256 is None:
        # Whole, but whose it is nobody knows.
        receipt = dataclasses.replace(receipt, verified="")
    if entry.licence and not download.settings.quiet:
        # Once: later the archive is here.
        print(f"truebleu: {entry.name}: licence: {entry.licence}", file=sys.stderr)  # noqa: T201
    return path, receipt


def places(entry: Entry, archive: Archive) -> Iterator[str]:
    """Where an archive may lie: in the layers, in the cache, in sacreBLEU's folder."""
    for root in (*layers(), own()):
        yield os.path.join(folder_of(entry, root), "raw", entry.local(archive))
    home = os.environ.get("SACREBLEU") or os.path.join(os.path.expanduser("~"), ".sacrebleu")
    yield os.path.join(home, *entry.name.split("/"), "raw", entry.local(archive))


def checked(path: str, archive: Archive) -> download.Receipt | None:
    """What is known of an archive that is here, if it is the right one."""
    known = archive.sha256 or download.read_recorded_checksum(path)
    if not os.path.exists(path) or (archive.md5 is None and known is None):
        return None
    try:
        md5, sha256 = download.compute_checksums(path)
        size = os.path.getsize(path)
    except OSError:
        return None
    for said in source_of(os.path.dirname(os.path.dirname(path))).get("archives", ()):
        if said["sha256"] == sha256 and said["verified"] == BY_CONTENT:
            return download.Receipt(path, size, md5, sha256, BY_CONTENT)
    if archive.md5 not in (None, md5) or known not in (None, sha256):
        return None
    by = "SHA-256" if archive.sha256 else "MD5" if archive.md5 else ""
    return download.Receipt(path, size, md5, sha256, by)


def _instructions(entry: Entry, archive: Archive) -> str:
    name = os.path.basename(archive.address)
    place = os.path.join(own(), *entry.name.split("/"))
    md5 = f" (MD5 {archive.md5})" if archive.md5 else ""
    which = "" if archive.md5 or archive.sha256 else f" --name {entry.name}"
    return (
        f"{entry.name} is not here, and {download.describe_offline_reason()}. On a machine "
        "with internet: "
        f"truebleu testset get {entry.name}, then copy {place}; or fetch {archive.address}{md5} "
        f"and run: truebleu testset add {name}{which}"
    )


def record(entry: Entry, folder: str, receipts: Iterable[download.Receipt]) -> None:
    """Writes SOURCE.json: what was fetched, when, from where, and how it was verified."""
    path = os.path.join(folder, SOURCE)
    known = source_of(folder).get("archives", [])
    kept = {each["sha256"]: each for each in known}
    for receipt in receipts:
        if receipt.sha256 not in kept:
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            kept[receipt.sha256] = {**dataclasses.asdict(receipt), "time": when}
    about = {"name": entry.name, "reader": file_readers.VERSION, "archives": [*kept.values()]}
    if list(kept.values()) != known:
        _write_json(path, about)


def source_of(folder: str) -> dict[str, Any]:
    """What SOURCE.json says in the folder of a test set; nothing if it is not there."""
    try:
        with open(os.path.join(folder, SOURCE), encoding="utf-8") as file:
            return dict(load_json(file.read()))
    except (OSError, ValueError):
        return {}
