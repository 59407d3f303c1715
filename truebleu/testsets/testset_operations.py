"""Operations of `truebleu testset`: list, describe, fetch, add, show, verify and remove sets.

They return the dicts that the command prints as JSON. docs/json.md describes the keys.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from truebleu._kernel import InputError
from truebleu.testsets import cache, catalogue
from truebleu.testsets.catalogue import Archive, CatalogueEntry
from truebleu.testsets.published_set import TestSet, testset
from truebleu.text import download
from truebleu.text.operating_system import join_contained_path, write_atomically

Facts = dict[str, Any]
# Folders of a test set are named by the digest of its catalogue entry.
DIGEST_PATTERN = re.compile("[0-9a-f]{8}")


def list_test_sets(
    pattern: str | None = None, langpair: str | None = None, registry: str | None = None
) -> list[Facts]:
    """Return the test sets that match a pattern ("wmt2*", "google") and contain a language pair."""
    from fnmatch import fnmatchcase

    summaries = []
    for name, entry in catalogue.load_entries(registry).items():
        if pattern is not None and not fnmatchcase(name, pattern) and pattern not in name:
            continue
        if langpair is not None and not entry.has_pair(langpair):
            continue
        sizes = [archive.size for archive in entry.archives]
        summaries.append(
            {
                "name": name,
                "langpairs": entry.pairs,
                "languages": list(entry.languages),
                "segments": {**entry.segments},
                "size": sum(map(int, filter(None, sizes))) if all(sizes) and sizes else None,
                "here": _is_downloaded(entry),
                "licence": entry.licence,
                "description": entry.description,
            }
        )
    return summaries


def describe_test_set(name: str, langpair: str | None = None, registry: str | None = None) -> Facts:
    """Describe a test set and, if its text is on this machine, a language pair.

    Raise InputError for unknown names.
    """
    from collections import Counter

    entry = catalogue.get_entry(name, registry)
    pair = None
    if langpair is not None:
        entry.check_pair(langpair)
        if entry.folder is not None or cache.find_text(entry, langpair):
            test_set = testset(name, langpair, registry=registry, offline=True)
            documents = test_set.documents
            pair = {
                "langpair": test_set.langpair,
                "segments": len(test_set),
                "fields": list(test_set.fields),
                "references": list(test_set.references),
                "preferred": list(test_set.preferred),
                "documents": None if documents is None else len({*documents}),
                "domains": {**Counter(test_set.domains or ())},
                "origlangs": {**Counter(test_set.origlangs or ())},
                "systems": list(test_set.systems),
            }
    translators = {pair_name: entry.preferred_translators(pair_name) for pair_name in entry.pairs}
    folders = _list_folders(entry)
    return {
        "name": entry.name,
        "description": entry.description,
        "kind": entry.kind,
        "archives": list(map(asdict, entry.archives)),
        "langpairs": entry.pairs,
        "languages": list(entry.languages),
        "preferred": {name: list(refs) for name, refs in translators.items() if refs is not None},
        "segments": {**entry.segments},
        "released": entry.released,
        "licence": entry.licence,
        "citation": entry.bibtex,
        "instructions": entry.instructions,
        "here": _is_downloaded(entry),
        "folder": next(filter(os.path.isdir, folders), folders[-1]),
        "sources": [
            record
            for folder in folders
            for record in cache.read_source_file(folder).get("archives", ())
        ],
        "pair": pair,
    }


def _list_folders(entry: CatalogueEntry) -> tuple[str, ...]:
    """Return the possible folders of a test set: the layers and the cache, or the user's folder."""
    if entry.folder is not None:
        return (entry.folder,)
    return tuple(
        cache.get_entry_folder(entry, root)
        for root in (*cache.list_layer_folders(), cache.get_cache_root())
    )


def _is_downloaded(entry: CatalogueEntry) -> bool:
    """Return whether all archives, or the text of a language pair, are on this machine."""
    if entry.folder is not None:
        return True
    if any(
        os.path.isdir(folder) and _list_language_pairs(folder) for folder in _list_folders(entry)
    ):
        return True
    return bool(entry.archives) and all(
        any(map(os.path.exists, cache.list_archive_paths(entry, archive)))
        for archive in entry.archives
    )


def _list_language_pairs(folder: str) -> tuple[str, ...]:
    """Return the language pairs with text in the folder of a test set."""
    names = sorted(os.listdir(folder))
    return tuple(
        name for name in names if os.path.exists(os.path.join(folder, name, cache.FIELDS_FILE))
    )


def fetch_test_sets(
    names: Sequence[str],
    langpair: str | None = None,
    *,
    offline: bool | None = None,
    mirror: str | None = None,
    registry: str | None = None,
) -> Iterator[Facts]:
    """Fetch test sets, extract the text of one or all language pairs, and yield the results.

    Raises InputError for an unknown name before anything is downloaded.
    """
    entries = [catalogue.get_entry(name, registry) for name in names]
    for entry in entries:
        if langpair is not None:
            entry.check_pair(langpair)
    return _fetch_entries(entries, langpair, offline, mirror)


def _fetch_entries(
    entries: Sequence[CatalogueEntry],
    langpair: str | None,
    offline: bool | None,
    mirror: str | None,
) -> Iterator[Facts]:
    for entry in entries:
        with download.override_settings(offline=offline, mirror=mirror):
            if entry.folder is not None:
                texts: Sequence[str] = entry.pairs
                receipts: Sequence[download.Receipt] = ()
            else:
                langpairs = [langpair] if langpair is not None else entry.pairs
                texts_by_pair, receipts = cache.fetch_texts(entry, langpairs)
                texts = [*texts_by_pair]
        yield {
            "name": entry.name,
            "folder": entry.folder or cache.get_entry_folder(entry, cache.get_cache_root()),
            "langpairs": list(texts),
            "size": sum(receipt.size for receipt in receipts),
            "verified": [receipt.verified for receipt in receipts],
            "licence": entry.licence,
        }


def list_test_sets_since(year: int) -> tuple[str, ...]:
    """Return the names of test sets that were published in a year or later."""
    names = []
    for name, entry in catalogue.load_entries().items():
        match = re.search(r"(?:wmt|iwslt)(\d\d)", name) or re.search(r"20(\d\d)", name)
        match = match or re.match(r"20(\d\d)", entry.released or "")
        if entry.archives and match and 2000 + int(match[1]) >= year:
            names.append(name)
    return tuple(names)


def add_test_set(path: str, name: str | None = None) -> list[Facts]:
    """Add an archive of a test set, identified by its checksum, or a user's folder.

    A folder contains files named en-de.src, en-de.ref or en-de.ref.A, en-de.docid … (or
    en-de/src.txt, en-de/ref.A.txt), or FLORES's files dev/deu_Latn.dev, devtest/deu_Latn.devtest.
    The files are not copied. The default of `name` is the name of the folder.

    Raises InputError if the path is not part of a test set.
    """
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        return [_register_folder(path, name or os.path.basename(path))]
    try:
        md5, sha256 = download.compute_checksums(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    named_entry = None if name is None else catalogue.get_entry(name)
    matches: Sequence[tuple[CatalogueEntry, Archive]] = [
        (entry, archive)
        for entry in catalogue.load_entries().values()
        if named_entry is None or entry.name == named_entry.name
        for archive in entry.archives
        if archive.sha256 == sha256 or (archive.sha256 is None and archive.md5 == md5)
    ]
    verified = ""
    if not matches and named_entry is not None:
        matches, verified = _match_archive_by_name(named_entry, path, md5)
    if not matches:
        raise InputError(
            f"{path}: no archive in the catalogue has its MD5 {md5}. Use --name to select its test "
            "set. To add your own test set, unpack the archive and add the folder."
        )
    checksums = (md5, sha256, verified)
    return [_store_archive(each, archive, path, checksums) for each, archive in matches]


def _match_archive_by_name(
    entry: CatalogueEntry, path: str, md5: str
) -> tuple[Sequence[tuple[CatalogueEntry, Archive]], str]:
    """Return the catalogue entry and the verification method of a file with an unknown checksum."""
    for archive in entry.archives:
        if archive.md5 is None and archive.sha256 is None:
            if archive.name == os.path.basename(path):
                return [(entry, archive)], ""
        elif (
            has_expected_content := cache.make_content_check(entry, archive)
        ) and has_expected_content(path):
            return [(entry, archive)], cache.VERIFIED_BY_CONTENT
    names = ", ".join(
        f"{archive.name}{f' (MD5 {archive.md5})' if archive.md5 else ''}"
        for archive in entry.archives
    )
    raise InputError(
        f"{path} has MD5 {md5} and is not an archive of {entry.name} (expected {names or 'none'})"
        f"{'. ' + entry.instructions if entry.instructions else ''}"
    )


def _store_archive(
    entry: CatalogueEntry, archive: Archive, path: str, checksums: tuple[str, str, str]
) -> Facts:
    """Copy an archive to the cache."""
    from shutil import copyfile

    target = cache.get_writable_path(entry, "raw", entry.get_local_name(archive))
    md5, sha256, verified = checksums
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with download.hold_path_lock(target):
            copyfile(path, f"{target}.new")
            write_atomically(f"{target}.sha256", f"{sha256}  {os.path.basename(target)}\n".encode())
            os.replace(f"{target}.new", target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    method = verified or ("SHA-256" if archive.sha256 else "MD5" if archive.md5 else "")
    receipt = download.Receipt(path, os.path.getsize(target), md5, sha256, method)
    cache.record_receipts(entry, cache.get_writable_path(entry), [receipt])
    return {"name": entry.name, "path": target, "langpairs": entry.pairs}


def _register_folder(path: str, name: str) -> Facts:
    """Write a registry for a user's folder."""
    import json

    description = _find_flores_files(path, name) or _find_field_files(path)
    if description is None:
        raise InputError(
            f"{path} does not contain a test set (expected files en-de.src and en-de.ref, or "
            "en-de/src.txt and en-de/ref.txt, or FLORES's folders dev and devtest)"
        )
    if not catalogue.is_valid_name(name):
        raise InputError(
            f"invalid test set name: '{name}' (expected letters, digits, . + - _ and inner /)"
        )
    registry = _get_registry_path(name)
    existing = catalogue.load_entries().get(name)
    if existing is not None and (existing.archives or existing.folder):
        raise InputError(f"test set {name} already exists. Use --name to choose another name.")
    if os.path.exists(registry):
        raise InputError(f"{registry} already exists. Use --name to choose another name.")
    text = f"{json.dumps({'name': name, **description}, indent=1, ensure_ascii=False)}\n"
    try:
        os.makedirs(catalogue.get_user_folder(), exist_ok=True)
        write_atomically(registry, text.encode())
        entry = catalogue.read_registry(registry)[name]
    except InputError:
        os.unlink(registry)
        raise
    except OSError as error:
        raise InputError(f"{registry} cannot be written: {error.strerror}") from None
    return {"name": name, "path": registry, "langpairs": entry.pairs}


def _get_registry_path(name: str) -> str:
    """Return the path of the registry that `add` writes for a test set."""
    return os.path.join(catalogue.get_user_folder(), f"{name.replace('/', '_')}.json")


def _find_field_files(path: str) -> dict[str, Any] | None:
    """Return the files by language pair and field, or None if the folder contains none."""
    pairs: dict[str, dict[str, str]] = {}
    for name in sorted(os.listdir(path)):
        entry_path = os.path.join(path, name)
        if os.path.isdir(entry_path) and "-" in name:
            named_files = {
                file_name.removesuffix(".txt"): os.path.join(entry_path, file_name)
                for file_name in sorted(os.listdir(entry_path))
            }
            pairs.setdefault(name, {}).update(_select_field_files(named_files))
        elif match := re.fullmatch(r"([\w]+(?:-[\w]+)+)\.(.+)", name):
            fields = _select_field_files({match[2].removesuffix(".txt"): entry_path})
            pairs.setdefault(match[1], {}).update(fields)
    complete_pairs = {
        pair: named
        for pair, named in pairs.items()
        if any(re.match("ref(:|$)", each) for each in named)
    }
    return {"files": complete_pairs} if complete_pairs else None


def _select_field_files(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files of known fields, with "ref.A" renamed to "ref:A"."""
    field_pattern = re.compile(r"src|ref([.:-].+)?|docid|origlang|domain|genre")
    return {
        re.sub("^ref[.-]", "ref:", field): file
        for field, file in files.items()
        if field_pattern.fullmatch(field)
    }


def _find_flores_files(path: str, name: str) -> dict[str, Any] | None:
    """Return one FLORES file per language for the split in the test set's name, or None."""
    split = name.rpartition("/")[2]
    folder = os.path.join(path, split)
    if split not in ("dev", "devtest") or not os.path.isdir(folder):
        return None
    languages = {}
    for file in sorted(os.listdir(folder)):
        code = re.fullmatch(rf"(?:{split}\.)?(\w+?)(?:\.{split})?", file)
        if code and file != code[1]:
            languages[code[1]] = os.path.join(folder, file)
    table = os.path.join(path, f"metadata_{split}.tsv")
    description = {"kind": "Parallel", "licence": "CC-BY-SA-4.0", "languages": languages}
    if os.path.exists(table):
        description["documents"] = table
    return description if languages else None


def show_fields(
    name: str,
    langpair: str,
    fields: Sequence[str] = ("src", "ref"),
    *,
    origlang: str | None = None,
    domain: str | None = None,
    documents: Sequence[str] | None = None,
    subset: str | None = None,
    registry: str | None = None,
) -> Iterator[tuple[str, ...]]:
    """Yield the fields of each segment, as sacreBLEU's --echo does; "all" selects all fields."""
    test_set = testset(name, langpair, registry=registry)
    if any(each is not None for each in (origlang, domain, documents, subset)):
        test_set = test_set.where(origlang, domain, documents, subset)
    names = test_set.fields if tuple(fields) == ("all",) else fields
    return zip(*map(test_set.read_field, names), strict=True)


def verify_test_sets(name: str | None = None, registry: str | None = None) -> list[Facts]:
    """Compare all local files of one or all test sets with their checksums."""
    entries = catalogue.load_entries(registry)
    selected = entries.values() if name is None else [catalogue.get_entry(name, registry)]
    return [
        {"name": entry.name, "path": path, "problem": problem}
        for entry in selected
        for path, problem in _verify_entry(entry)
    ]


def _verify_entry(entry: CatalogueEntry) -> Iterator[tuple[str, str]]:
    """Yield the path of each file and its problem, or ""."""
    if entry.folder is not None:
        for pair in entry.pairs:
            try:
                text = cache.open_text(entry, pair)
            except InputError as error:
                yield entry.folder, str(error)
            else:
                yield from ((text.get_path(field), "") for field in text.fields)
        return
    for archive in entry.archives:
        for path in cache.list_archive_paths(entry, archive):
            if os.path.exists(path):
                is_intact = cache.verify_archive(path, archive) is not None
                yield path, "" if is_intact else "wrong checksum"
    for folder in filter(os.path.isdir, _list_folders(entry)):
        for pair in _list_language_pairs(folder):
            yield from _verify_text(entry, pair, os.path.join(folder, pair))


def _verify_text(entry: CatalogueEntry, langpair: str, folder: str) -> Iterator[tuple[str, str]]:
    try:
        text = cache.read_folder(folder)
    except (OSError, ValueError, KeyError, TypeError):
        yield os.path.join(folder, cache.FIELDS_FILE), "not readable"
        return
    checksums = entry.sha256.get(langpair, {})
    for field, properties in text.fields.items():
        path, problem = text.get_path(field), ""
        try:
            sha256 = download.compute_checksums(path)[1]
            if sha256 != properties["sha256"]:
                problem = "changed since it was extracted"
            elif sha256 != checksums.get(field, sha256):
                problem = "differs from the catalogue's text"
        except OSError as error:
            problem = error.strerror or "not readable"
        yield path, problem


def find_folder(name: str, langpair: str | None = None, registry: str | None = None) -> str:
    """Return the folder of a test set, or of a language pair's text.

    Raises InputError if it is not on this machine.
    """
    entry = catalogue.get_entry(name, registry)
    if langpair is not None and entry.folder is None:
        entry.check_pair(langpair)
        if text := cache.find_text(entry, langpair):
            return text.folder
        raise InputError(
            f"{name} {langpair} is not on this machine. Run: truebleu testset get {name}"
        )
    if folder := next(filter(os.path.isdir, _list_folders(entry)), None):
        return folder
    raise InputError(f"{name} is not on this machine. Run: truebleu testset get {name}")


def remove_test_set(name: str) -> Facts:
    """Remove all cached versions of a test set. For a user's folder, also remove its registry.

    Files in layers and in sacreBLEU's folder are kept. Raises InputError if nothing is cached.
    """
    from shutil import rmtree

    if not catalogue.is_valid_name(name):
        catalogue.get_entry(name)
    root = join_contained_path(cache.get_cache_root(), *name.split("/"))
    names = os.listdir(root) if os.path.isdir(root) else ()
    folders = [
        join_contained_path(root, digest)
        for digest in sorted(names)
        if DIGEST_PATTERN.fullmatch(digest)
    ]
    size = sum(
        os.path.getsize(os.path.join(subfolder, file))
        for folder in folders
        for subfolder, _, files in os.walk(folder)
        for file in files
    )
    for folder in folders:
        # Rename the folder first, so that no partially removed folder is ever visible.
        trash = f"{folder}.removed"
        rmtree(trash, ignore_errors=True)
        os.rename(folder, trash)
        rmtree(trash, ignore_errors=True)
    registry = _get_registry_path(name)
    # The file may belong to another test set: "a/b" and "a_b" share a file name.
    if os.path.exists(registry) and [*catalogue.read_registry(registry)] == [name]:
        size += os.path.getsize(registry)
        os.unlink(registry)
        folders.append(registry)
    if not folders:
        catalogue.get_entry(name)
        raise InputError(f"{name} is not in the cache ({root})")
    return {"name": name, "folders": folders, "size": size}


def find_test_set_by_length(segment_count: int, test_set: TestSet) -> str:
    """Return the name of another test set with this number of segments, or "" if none is known.

    Error messages suggest this test set for an output of unexpected length.
    """
    names = test_set.name.split(",")
    if len(test_set.unfiltered) == segment_count != len(test_set):
        return f"{test_set.name} without filters"
    for entry in catalogue.load_entries().values():
        if entry.name not in names and entry.has_pair(test_set.langpair):
            text = cache.find_text(entry, test_set.langpair) if entry.folder is None else None
            expected_count = entry.segments.get(test_set.langpair, entry.segments.get("*"))
            if segment_count == (expected_count if text is None else len(text)):
                return entry.name
    return ""
