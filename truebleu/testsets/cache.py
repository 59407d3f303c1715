"""Storage of test sets in read-only layers, in the cache and in sacreBLEU's folder.

`<cache>/testsets/<name>/<digest>/` contains `raw/` with the archives, SOURCE.json with their
origin, and a folder for each extracted language pair. That folder has a text file per field, one
line per segment, and FIELDS.json. The digest identifies the catalogue entry. A text folder is
renamed to its final name when it is complete.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from shutil import copyfile, rmtree
from typing import Any

from truebleu._kernel import InputError
from truebleu.testsets import file_readers
from truebleu.testsets.catalogue import USER_KIND, Archive, CatalogueEntry
from truebleu.text import download
from truebleu.text.archives import unpack_archive
from truebleu.text.argument_checks import load_json
from truebleu.text.operating_system import (
    WINDOWS_DEVICE,
    join_contained_path,
    make_temporary_folder,
    write_atomically,
)
from truebleu.text.segments import File
from truebleu.text.terminal_layout import print_wrapped

FIELDS_FILE, SOURCE_FILE = "FIELDS.json", "SOURCE.json"
# Kinds of test sets that store the document attributes for filters in the source file.
SGML_KINDS = ("FakeSGML", "WMTAddition")
# Fields that only filters use.
FILTER_FIELDS = ("_origlang", "_docid")
# Verification method for archives whose text matches although their checksum does not.
VERIFIED_BY_CONTENT = "content"


@dataclasses.dataclass(frozen=True)
class PairText:
    """Stored text of one language pair of a test set."""

    folder: str
    fields: Mapping[str, Mapping[str, Any]]
    """The file, line count, size, mtime and sha256 of each field, in sacreBLEU's order."""

    texts: Mapping[str, list[str]] | None = None
    """The lines of each field, for a user's test set, which is not copied to the cache."""

    paths: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """For a user's test set: the paths of fields that are stored as plain text files."""

    @property
    def field_names(self) -> list[str]:
        """The names of the fields, except fields that only filters use."""
        return [name for name in self.fields if name not in FILTER_FIELDS]

    def get_path(self, field: str) -> str:
        """Return the path of a field's file; raise InputError if it has no separate file."""
        if self.texts is not None:
            if field not in self.paths:
                raise InputError(f"{field} has no separate file in {self.folder}")
            return self.paths[field]
        return os.path.join(self.folder, self.fields[field]["file"])

    def read_lines(self, field: str) -> list[str]:
        """Return the lines of a field."""
        if self.texts is not None:
            return list(self.texts[field])
        return list(File(self.get_path(field)).read_lines())

    def __len__(self) -> int:
        return next((each["lines"] for each in self.fields.values()), 0)


def list_layer_folders() -> list[str]:
    """Return the read-only folders that are searched for test sets before the cache."""
    paths = os.environ.get("TRUEBLEU_TESTSETS", "").split(os.pathsep)
    folders = [os.path.abspath(os.path.expanduser(each)) for each in paths if each]
    return [each for folder in folders for each in (folder, os.path.join(folder, "testsets"))]


def get_cache_root() -> str:
    """Return the folder of test sets in the cache, which may not exist."""
    return os.path.join(download.get_cache_folder(), "testsets")


def get_writable_path(entry: CatalogueEntry, *names: str) -> str:
    """Return the path of a test set's file or folder in the cache, for writing or deleting.

    Raises InputError for a path outside the cache.
    """
    root = os.path.join(download.get_writable_folder(), "testsets")
    return join_contained_path(root, *entry.name.split("/"), entry.digest, *names)


def get_entry_folder(entry: CatalogueEntry, root: str) -> str:
    """Return a test set's folder within a root folder."""
    return os.path.join(root, *entry.name.split("/"), entry.digest)


def find_text(entry: CatalogueEntry, langpair: str) -> PairText | None:
    """Return the text of a language pair if it is on this machine, otherwise None."""
    roots = [*list_layer_folders(), get_cache_root()]
    folders = (os.path.join(get_entry_folder(entry, root), langpair) for root in roots)
    return next(filter(None, map(_read_intact_text, folders)), None)


def open_text(entry: CatalogueEntry, langpair: str) -> PairText:
    """Return the text of a language pair, downloading and extracting it unless it is cached.

    Raises OfflineError and DownloadError, and InputError for invalid files.
    """
    folder = entry.folder
    if folder is None:
        return find_text(entry, langpair) or fetch_texts(entry, [langpair])[0][langpair]
    # A user's test set is read without copying its files.
    files = entry.list_files(langpair)
    field_lines: Iterator[tuple[str, Iterable[str]]]
    if entry.kind == USER_KIND:
        file_names = entry.langpairs[langpair].items()
        field_lines = (
            (name, File(os.path.join(folder, file)).read_lines()) for name, file in file_names
        )
    else:
        field_lines = file_readers.FIELD_READERS[entry.kind](entry.name, files, folder)
    try:
        texts = {name: list(lines) for name, lines in field_lines}
        if entry.kind in SGML_KINDS:
            texts |= _read_filter_fields(files, folder, texts)
    except OSError as error:
        raise InputError(f"{entry.name}: {error.filename}: {error.strerror}") from None
    _check_line_counts(entry, langpair, {name: len(lines) for name, lines in texts.items()})
    paths = {}
    # These kinds of test sets store each field in a separate file.
    if entry.kind in (USER_KIND, "PlainText", "Parallel"):
        paths = {
            name: path
            for name, path in zip(texts, file_readers.get_file_paths(files, folder), strict=False)
            if entry.kind == USER_KIND or name not in file_readers.DOCUMENT_FIELDS
        }
    fields = {name: {"lines": len(lines)} for name, lines in texts.items()}
    return PairText(folder, fields, texts, paths)


def _check_line_counts(entry: CatalogueEntry, langpair: str, counts: Mapping[str, int]) -> None:
    if len(set(counts.values())) > 1:
        listed_counts = ", ".join(f"{name} has {count:,}" for name, count in counts.items())
        raise InputError(
            f"{entry.name} {langpair}: the fields have different numbers of lines: {listed_counts}"
        )
    if not any(counts.values()):
        raise InputError(f"{entry.name} {langpair} has no segments")


def _read_intact_text(folder: str) -> PairText | None:
    """Return the text in a folder, or None if it is incomplete or from another reader version."""
    try:
        text = read_folder(folder)
        return text if all(_is_field_intact(text, field) for field in text.fields) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_folder(folder: str) -> PairText:
    """Return the text described by FIELDS.json, without checking its files.

    Raises OSError, ValueError, KeyError or TypeError if the description is unusable.
    """
    with open(os.path.join(folder, FIELDS_FILE), encoding="utf-8") as file:
        description = load_json(file.read())
    if description["reader"] != file_readers.READER_VERSION:
        raise ValueError(f"created by another reader version: {description['reader']}")
    for field in description["fields"].values():
        join_contained_path(folder, field["file"])
    return PairText(folder, description["fields"])


def _is_field_intact(text: PairText, field: str) -> bool:
    """Return whether a file matches its recorded size, and its recorded time or content."""
    description, path = text.fields[field], text.get_path(field)
    status = os.stat(path)
    if status.st_size != description["size"]:
        return False
    return bool(
        status.st_mtime_ns == description["mtime"]
        or download.compute_checksums(path)[1] == description["sha256"]
    )


def fetch_texts(
    entry: CatalogueEntry, langpairs: Iterable[str]
) -> tuple[dict[str, PairText], list[download.Receipt]]:
    """Return the text of language pairs and the receipts of their archives.

    Archives that are not cached are downloaded. If `langpairs` is empty, all archives are fetched.
    """
    langpairs = list(langpairs)
    if not entry.archives:
        instructions = entry.instructions or "The catalogue contains no URL for it."
        raise InputError(f"{entry.name} is not on this machine. {instructions}")
    try:
        archives = [
            (each, *find_archive(entry, each)) for each in _select_archives(entry, langpairs)
        ]
        receipts = [receipt for _, _, receipt in archives]
        read_fields = _read_fields
        if any(receipt.verified == VERIFIED_BY_CONTENT for receipt in receipts):
            read_fields = _read_verified_fields
        folder = get_writable_path(entry)
        os.makedirs(folder, exist_ok=True)
        with download.hold_path_lock(os.path.join(folder, "text")):
            texts = {pair: _read_intact_text(os.path.join(folder, pair)) for pair in langpairs}
            missing = [pair for pair, text in texts.items() if text is None]
            # Write SOURCE.json before the text: it records how the archives were verified.
            record_receipts(entry, folder, receipts)
            if missing:
                with _make_work_folder(get_writable_path(entry, ".making")) as work:
                    raw_folder = os.path.join(work, "raw")
                    _unpack_files(
                        entry, missing, [(each, path) for each, path, _ in archives], raw_folder
                    )
                    for pair in missing:
                        fields = read_fields(entry, pair, raw_folder)
                        texts[pair] = _extract_text(entry, pair, fields, os.path.join(work, "text"))
        return {pair: text for pair, text in texts.items() if text is not None}, receipts
    except OSError as error:
        failed_path = error.filename or get_cache_root()
        raise InputError(
            f"{entry.name}: {failed_path} cannot be written: {error.strerror}"
        ) from error


def _select_archives(entry: CatalogueEntry, langpairs: Sequence[str]) -> list[Archive]:
    """Return the archives that language pairs need: packed archives, and files of these pairs."""
    if not langpairs:
        return list(entry.archives)
    files = {
        file
        for pair in langpairs
        for file in file_readers.get_file_paths(entry.list_files(pair), "")
    }
    return [
        each for each in entry.archives if each.is_packed or entry.get_local_name(each) in files
    ]


@contextmanager
def _make_work_folder(folder: str) -> Iterator[str]:
    """Yield a new folder and remove it afterwards; the caller must hold the lock."""
    rmtree(folder, ignore_errors=True)
    try:
        os.makedirs(folder)
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def _unpack_files(
    entry: CatalogueEntry,
    langpairs: Sequence[str],
    archives: Sequence[tuple[Archive, str]],
    raw_folder: str,
) -> None:
    """Unpack or copy the files of language pairs to a folder."""
    files = [file_readers.get_file_paths(entry.list_files(pair), "") for pair in langpairs]
    members = list(dict.fromkeys(file for each in files for file in each))
    local = {entry.get_local_name(archive) for archive, _ in archives if not archive.is_packed}
    packed = [member for member in members if member not in local]
    os.makedirs(raw_folder, exist_ok=True)
    for archive, path in archives:
        if archive.is_packed:
            unpack_archive(path, raw_folder, packed, label=f"{entry.name}: {archive.name}")
        else:
            copyfile(path, os.path.join(raw_folder, entry.get_local_name(archive)))
    for member in members:
        if not os.path.exists(join_contained_path(raw_folder, *member.split("/"))):
            names = ", ".join(archive.name for archive, _ in archives)
            raise InputError(f"{entry.name}: {member} is missing from {names}")


def _extract_text(
    entry: CatalogueEntry,
    langpair: str,
    texts: Iterable[tuple[str, Iterable[str]]],
    work_folder: str,
) -> PairText:
    """Write the text of a language pair to a folder, then move the folder into the cache."""
    target = get_writable_path(entry, langpair)
    os.makedirs(work_folder)
    fields: dict[str, dict[str, Any]] = {}
    for name, lines in texts:
        description = _write_lines(os.path.join(work_folder, format_file_name(name)), lines)
        other_fields = ("src", *file_readers.DOCUMENT_FIELDS, *FILTER_FIELDS)
        is_system = name not in other_fields and not re.match("ref(:|$)", name)
        if is_system and any(description["lines"] != other["lines"] for other in fields.values()):
            # The system lacks some documents, so its lines cannot be aligned.
            os.unlink(os.path.join(work_folder, description["file"]))
            continue
        fields[name] = description
    _check_line_counts(entry, langpair, {name: about["lines"] for name, about in fields.items()})
    contents = {
        "name": entry.name,
        "langpair": langpair,
        "reader": file_readers.READER_VERSION,
        "fields": fields,
    }
    _write_json(os.path.join(work_folder, FIELDS_FILE), contents)
    if os.path.lexists(target):
        # The existing folder is corrupt, or an older reader version wrote it.
        os.rename(target, f"{work_folder}.old")
    os.rename(work_folder, target)
    return PairText(target, fields)


def _read_fields(
    entry: CatalogueEntry, langpair: str, raw_folder: str
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the fields of a language pair, then the fields that only filters use."""
    files = entry.list_files(langpair)
    document_fields: dict[str, list[str]] = {}
    for name, lines in file_readers.FIELD_READERS[entry.kind](entry.name, files, raw_folder):
        field_lines = list(lines)
        if name in file_readers.DOCUMENT_FIELDS:
            document_fields[name] = field_lines
        yield name, field_lines
    if entry.kind in SGML_KINDS:
        yield from _read_filter_fields(files, raw_folder, document_fields).items()


def _read_filter_fields(
    files: list[str], raw_folder: str, document_fields: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Return the document attributes for sacreBLEU's filters, if they differ from the fields."""
    path = file_readers.get_file_paths(files, raw_folder)[0]
    if not path.endswith(".sgm"):
        return {}
    fields: dict[str, list[str]] = {"origlang": [], "docid": []}
    for attributes in file_readers.read_filter_attributes(path):
        for values, attribute in zip(fields.values(), attributes, strict=True):
            # The line itself shows that it does not have the attribute.
            is_missing = attribute is None or attribute.startswith("<doc ")
            values.append("" if is_missing else str(attribute))
    return {
        f"_{name}": values for name, values in fields.items() if values != document_fields.get(name)
    }


def _read_verified_fields(
    entry: CatalogueEntry, langpair: str, raw_folder: str
) -> Iterator[tuple[str, Iterable[str]]]:
    """Check fields against the catalogue's checksums and yield them; skip fields without one."""
    checksums = entry.sha256.get(langpair, {})
    if "src" not in checksums:
        raise InputError(
            f"{entry.name} {langpair}: the MD5 of the archive differs from the catalogue, and the "
            "catalogue contains no checksum to verify the text of this language pair"
        )
    for name, lines in _read_fields(entry, langpair, raw_folder):
        if name in checksums:
            field_lines = list(lines)
            if hash_lines(field_lines) != checksums[name]:
                raise InputError(
                    f"{entry.name} {langpair}: {name} differs from the catalogue's text"
                )
            yield name, field_lines


def hash_lines(lines: Iterable[str]) -> str:
    """Return the SHA-256 of lines, encoded as UTF-8 and each followed by a newline."""
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def make_content_check(entry: CatalogueEntry, archive: Archive) -> Callable[[str], bool] | None:
    """Return a function that checks the content of an archive with unexpected or unknown checksums.

    It compares the text with the catalogue's checksums. If the catalogue has no checksums at all,
    it checks that all files are present. Returns None if the content cannot be checked.
    """
    checksums = entry.sha256
    if not checksums and (archive.md5 or archive.sha256):
        return None

    def has_expected_content(path: str) -> bool:
        with make_temporary_folder() as folder:
            raw_folder = os.path.join(folder, "raw")
            pairs = list(checksums) or _list_archive_pairs(entry, archive)
            _unpack_files(entry, pairs, [(archive, path)], raw_folder)
            if not checksums:
                for pair in pairs:
                    for _ in _read_fields(entry, pair, raw_folder):
                        pass
            return all(
                {name for name, _ in _read_verified_fields(entry, pair, raw_folder)}
                == checksums[pair].keys()
                for pair in checksums
            )

    return has_expected_content


def _list_archive_pairs(entry: CatalogueEntry, archive: Archive) -> list[str]:
    """Return the language pairs with text in an archive: at most one if it is a single file."""
    languages = list(entry.languages)
    pairs = entry.pairs or [f"{languages[0]}-{each}" for each in languages[1:]]
    if archive.is_packed:
        return pairs
    return [
        pair
        for pair in pairs
        if entry.get_local_name(archive) in file_readers.get_file_paths(entry.list_files(pair), "")
    ][:1]


def format_file_name(field: str) -> str:
    """Return the file name of a field, with unsafe characters in system names escaped.

    >>> list(map(format_file_name, ("ref:A", "M2M100_1.2B-B4", "a/b:c", "ref.A")))
    ['ref.A.txt', 'M2M100_1.2B-B4.txt', 'a%2fb%3ac.txt', 'ref%2eA.txt']
    """
    prefix, name = ("ref.", field[4:]) if field.startswith("ref:") else ("", field)
    safe_name = re.sub(
        rf"[^\w.+ -]|^\.|(?<=^ref)\.|^(?={WINDOWS_DEVICE}).",
        lambda match: "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8")),
        name,
    )
    return f"{prefix}{safe_name or '%'}.txt"


def _write_lines(path: str, lines: Iterable[str]) -> dict[str, Any]:
    rows = [f"{line}\n" for line in lines]
    content = "".join(rows).encode("utf-8")
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return {
        "file": os.path.basename(path),
        "lines": len(rows),
        "size": len(content),
        "mtime": os.stat(path).st_mtime_ns,
        "sha256": sha256(content).hexdigest(),
    }


def _write_json(path: str, content: object) -> None:
    write_atomically(path, f"{json.dumps(content, indent=1, ensure_ascii=False)}\n".encode())


def find_archive(entry: CatalogueEntry, archive: Archive) -> tuple[str, download.Receipt]:
    """Return the path and receipt of an archive, downloading it unless it is cached."""
    for local_path in list_archive_paths(entry, archive):
        if local_receipt := verify_archive(local_path, archive):
            return local_path, local_receipt
    path = get_writable_path(entry, "raw", entry.get_local_name(archive))
    source = download.DownloadSource(
        (archive.address, *archive.mirrors), archive.sha256, archive.md5, archive.size
    )
    try:
        receipt = download.download_file(
            source, path, name=entry.name, accept=make_content_check(entry, archive)
        )
    except download.OfflineError:
        target = os.path.join(get_cache_root(), *entry.name.split("/"))
        md5 = f" (MD5 {archive.md5})" if archive.md5 else ""
        name_option = "" if archive.md5 or archive.sha256 else f" --name {entry.name}"
        raise download.OfflineError(
            f"{entry.name} is not on this machine, and {download.describe_offline_reason()}. With "
            f"internet access, run `truebleu testset get {entry.name}` and copy {target}; or "
            f"download {archive.address}{md5} and run: truebleu testset add {archive.name}"
            f"{name_option}"
        ) from None
    except download.DownloadError as error:
        advice = (
            "--mirror URL (mirror=URL in Python) also sets a mirror, and --offline (offline=True "
            "in Python) explains how to add the file without a network."
        )
        error.args = (f"{error} {advice}",)
        raise
    if archive.md5 is None and archive.sha256 is None:
        # The file is complete, but its content could not be verified.
        receipt = dataclasses.replace(receipt, verified="")
    if entry.licence and not download.settings.quiet:
        # Printed only once, because the archive is cached.
        print_wrapped(f"truebleu: {entry.name}: licence: {entry.licence}")
    return path, receipt


def list_archive_paths(entry: CatalogueEntry, archive: Archive) -> Iterator[str]:
    """Yield the possible paths of an archive: in the layers, the cache and sacreBLEU's folder."""
    for root in (*list_layer_folders(), get_cache_root()):
        yield os.path.join(get_entry_folder(entry, root), "raw", entry.get_local_name(archive))
    home = os.environ.get("SACREBLEU") or os.path.join(os.path.expanduser("~"), ".sacrebleu")
    yield os.path.join(home, *entry.name.split("/"), "raw", entry.get_local_name(archive))


def verify_archive(path: str, archive: Archive) -> download.Receipt | None:
    """Return the receipt of an existing archive, or None if it is missing or invalid."""
    expected_sha256 = archive.sha256 or download.read_recorded_checksum(path)
    if not os.path.exists(path) or (archive.md5 is None and expected_sha256 is None):
        return None
    try:
        md5, sha256 = download.compute_checksums(path)
        size = os.path.getsize(path)
    except OSError:
        return None
    for record in read_source_file(os.path.dirname(os.path.dirname(path))).get("archives", ()):
        if record["sha256"] == sha256 and record["verified"] == VERIFIED_BY_CONTENT:
            return download.Receipt(path, size, md5, sha256, VERIFIED_BY_CONTENT)
    if archive.md5 not in (None, md5) or expected_sha256 not in (None, sha256):
        return None
    method = "SHA-256" if archive.sha256 else "MD5" if archive.md5 else ""
    return download.Receipt(path, size, md5, sha256, method)


def record_receipts(
    entry: CatalogueEntry, folder: str, receipts: Iterable[download.Receipt]
) -> None:
    """Write the origin, time and verification of archives to SOURCE.json."""
    path = os.path.join(folder, SOURCE_FILE)
    recorded = read_source_file(folder).get("archives", [])
    by_checksum = {each["sha256"]: each for each in recorded}
    for receipt in receipts:
        if receipt.sha256 not in by_checksum:
            time_stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            by_checksum[receipt.sha256] = {**dataclasses.asdict(receipt), "time": time_stamp}
    contents = {
        "name": entry.name,
        "reader": file_readers.READER_VERSION,
        "archives": [*by_checksum.values()],
    }
    if list(by_checksum.values()) != recorded:
        _write_json(path, contents)


def read_source_file(folder: str) -> dict[str, Any]:
    """Return the content of SOURCE.json in the folder of a test set, or {} if it is missing."""
    try:
        with open(os.path.join(folder, SOURCE_FILE), encoding="utf-8") as file:
            return dict(load_json(file.read()))
    except (OSError, ValueError):
        return {}
