"""What `truebleu testset` does: list, describe, fetch, add, show, verify and remove test sets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from truebleu._kernel import InputError
from truebleu.testsets import cache, catalogue
from truebleu.testsets.catalogue import Archive, Entry
from truebleu.testsets.published_set import TestSet, testset
from truebleu.text import download
from truebleu.text.json_writer import format_json
from truebleu.text.operating_system import path_inside, write_atomically

# The folder of a test set below its name: the digits of its entry.
DIGITS = re.compile("[0-9a-f]{8}")


class _Result:
    """What an action gives: a dataclass, which can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """All values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return format_json(self.to_dict(), indent=1)


@dataclass(frozen=True)
class Listed(_Result):
    """A test set in one line."""

    name: str
    langpairs: tuple[str, ...]
    languages: tuple[str, ...]
    """Any two of these are a language pair."""

    segments: Mapping[str, int]
    """By language pair, where it is known."""

    size: int | None
    """Of its archives, in bytes, if it is known."""

    here: bool
    """Whether it can be read without a download."""

    licence: str | None
    description: str


@dataclass(frozen=True)
class Pair(_Result):
    """A language pair that is here."""

    langpair: str
    segments: int
    fields: tuple[str, ...]
    references: tuple[str, ...]
    preferred: tuple[str, ...]
    """The references to use."""

    documents: int | None
    domains: Mapping[str, int]
    """How many segments each has."""

    origlangs: Mapping[str, int]
    systems: tuple[str, ...]


@dataclass(frozen=True)
class Described(_Result):
    """Everything that is known of a test set."""

    name: str
    description: str
    kind: str
    archives: tuple[Any, ...]
    """Address, MD5, SHA-256, size and mirrors of each."""

    langpairs: tuple[str, ...]
    languages: tuple[str, ...]
    preferred: Mapping[str, tuple[str, ...]]
    """The references to use by language pair; pairs that are not named use all they have."""

    segments: Mapping[str, int]
    released: str | None
    licence: str | None
    citation: str | None
    how: str | None
    """How the user gets it, where there is no address."""

    here: bool
    folder: str
    """Where it is, or would be."""

    sources: tuple[Any, ...]
    """What was fetched: address, time, size, sums, and by what it was verified."""

    pair: Pair | None
    """The language pair that was asked for, if it is here."""


@dataclass(frozen=True)
class Fetched(_Result):
    """A test set that is here now."""

    name: str
    folder: str
    langpairs: tuple[str, ...]
    size: int
    verified: tuple[str, ...]
    """By what each archive was verified."""

    licence: str | None


@dataclass(frozen=True)
class Added(_Result):
    """What was added."""

    name: str
    path: str
    """The archive in the cache, or the registry of a set of the user's own."""

    langpairs: tuple[str, ...]


@dataclass(frozen=True)
class Verified(_Result):
    """A file of a test set, and whether it is as it should be."""

    name: str
    path: str
    problem: str
    """Empty if there is none."""


@dataclass(frozen=True)
class Removed(_Result):
    """What was removed."""

    name: str
    folders: tuple[str, ...]
    size: int


def list(  # noqa: A001 (as in `truebleu testset list`)
    pattern: str | None = None, langpair: str | None = None, registry: str | None = None
) -> tuple[Listed, ...]:
    """The test sets that a pattern ("wmt2*", "google") names, and that have a language pair."""
    from fnmatch import fnmatchcase

    found = []
    for each in catalogue.entries(registry).values():
        if pattern is not None and not fnmatchcase(each.name, pattern) and pattern not in each.name:
            continue
        if langpair is None or each.has(langpair):
            sizes = [archive.size for archive in each.archives]
            found.append(
                Listed(
                    name=each.name,
                    langpairs=tuple(each.pairs),
                    languages=tuple(each.languages),
                    segments={**each.segments},
                    size=sum(map(int, filter(None, sizes))) if all(sizes) and sizes else None,
                    here=_is_here(each),
                    licence=each.licence,
                    description=each.description,
                )
            )
    return tuple(found)


def info(name: str, langpair: str | None = None, registry: str | None = None) -> Described:
    """What is known of a test set; nothing is downloaded. Raises InputError for an unknown one."""
    each = catalogue.entry(name, registry)
    pair = None
    if langpair is not None:
        each.pair(langpair)
        if each.folder is not None or cache.found(each, langpair):
            pair = _pair(testset(name, langpair, registry=registry, offline=True))
    named = {one: each.preferred(one) for one in each.pairs}
    folders = _folders(each)
    same = ("name", "description", "kind", "released", "licence", "citation", "how")
    return Described(
        **{field: getattr(each, field) for field in same},
        archives=tuple(asdict(archive) for archive in each.archives),
        langpairs=tuple(each.pairs),
        languages=tuple(each.languages),
        preferred={one: refs for one, refs in named.items() if refs is not None},
        segments={**each.segments},
        here=_is_here(each),
        folder=next(filter(os.path.isdir, folders), folders[-1]),
        sources=tuple(
            said for folder in folders for said in cache.source_of(folder).get("archives", ())
        ),
        pair=pair,
    )


def _pair(found: TestSet) -> Pair:
    from collections import Counter

    return Pair(
        langpair=found.langpair,
        segments=len(found),
        fields=tuple(found.fields),
        references=tuple(found.references),
        preferred=found.preferred,
        documents=None if found.documents is None else len({*found.documents}),
        domains={**Counter(found.domains or ())},
        origlangs={**Counter(found.origlangs or ())},
        systems=tuple(found.systems),
    )


def _folders(entry: Entry) -> tuple[str, ...]:
    """Where a test set may be: the layers, then the cache; a user's own is in its folder."""
    if entry.folder is not None:
        return (entry.folder,)
    return tuple(cache.folder_of(entry, root) for root in (*cache.layers(), cache.own()))


def _is_here(entry: Entry) -> bool:
    """Whether all archives are here, by their names, or any text is."""
    if entry.folder is not None:
        return True
    if any(os.path.isdir(folder) and _pairs_in(folder) for folder in _folders(entry)):
        return True
    return bool(entry.archives) and all(
        any(map(os.path.exists, cache.places(entry, archive))) for archive in entry.archives
    )


def _pairs_in(folder: str) -> tuple[str, ...]:
    """The language pairs whose text is in the folder of a test set."""
    names = sorted(os.listdir(folder))
    return tuple(each for each in names if os.path.exists(os.path.join(folder, each, cache.FIELDS)))


def get(
    names: Sequence[str],
    langpair: str | None = None,
    *,
    offline: bool | None = None,
    mirror: str | None = None,
    registry: str | None = None,
) -> Iterator[Fetched]:
    """Fetches test sets one after the other, and makes the text of a language pair, or of all.

    Raises InputError for an unknown one before anything is fetched.
    """
    found = [catalogue.entry(name, registry) for name in names]
    for each in found:
        if langpair is not None:
            each.pair(langpair)
    return _got(found, langpair, offline, mirror)


def _got(
    found: Sequence[Entry], langpair: str | None, offline: bool | None, mirror: str | None
) -> Iterator[Fetched]:
    for each in found:
        with download.override_settings(offline=offline, mirror=mirror):
            if each.folder is not None:
                texts: Sequence[str] = each.pairs
                receipts: Sequence[download.Receipt] = ()
            else:
                wanted = [langpair] if langpair is not None else each.pairs
                made, receipts = cache.fetched(each, wanted)
                texts = [*made]
        yield Fetched(
            name=each.name,
            folder=each.folder or cache.folder_of(each, cache.own()),
            langpairs=tuple(texts),
            size=sum(receipt.size for receipt in receipts),
            verified=tuple(receipt.verified for receipt in receipts),
            licence=each.licence,
        )


def since(year: int) -> tuple[str, ...]:
    """The names of the published test sets of a year, such as 2020, or later ones."""
    found = []
    for name, each in catalogue.entries().items():
        said = re.search(r"(?:wmt|iwslt)(\d\d)", name) or re.search(r"20(\d\d)", name)
        said = said or re.match(r"20(\d\d)", each.released or "")
        if each.archives and said and 2000 + int(said[1]) >= year:
            found.append(name)
    return tuple(found)


def add(path: str, name: str | None = None) -> tuple[Added, ...]:
    """Adds an archive of a test set, which its sum names, or a folder of the user's own.

    A folder has files called en-de.src, en-de.ref or en-de.ref.A, en-de.docid … (or en-de/src.txt,
    en-de/ref.A.txt); or dev/deu_Latn.dev, devtest/deu_Latn.devtest, as FLORES has them. Its files
    stay where they are. `name` is a folder's own name otherwise.

    Raises InputError for what belongs to no test set.
    """
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        return (_add_folder(path, name or os.path.basename(path)),)
    try:
        md5, sha256 = download.compute_checksums(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    named = None if name is None else catalogue.entry(name)
    found: Sequence[tuple[Entry, Archive]] = [
        (each, archive)
        for each, archive in catalogue.with_archive(md5, sha256)
        if named is None or each.name == named.name
    ]
    verified = ""
    if not found and named is not None:
        found, verified = _by_name(named, path, md5)
    if not found:
        raise InputError(
            f"{path} has MD5 {md5}, which is no archive's of the catalogue; --name says which test "
            "set it is of; a set of your own is a folder: unpack it, and add that"
        )
    return tuple(_keep(each, archive, path, (md5, sha256, verified)) for each, archive in found)


def _by_name(named: Entry, path: str, md5: str) -> tuple[Sequence[tuple[Entry, Archive]], str]:
    """The archive that a file is when its sum says nothing."""
    for archive in named.archives:
        if archive.md5 is None and archive.sha256 is None:
            if archive.name == os.path.basename(path):
                return [(named, archive)], ""
        elif (is_right := cache.judge(named, archive)) and is_right(path):
            return [(named, archive)], cache.BY_CONTENT
    names = ", ".join(
        f"{archive.name}{f' (MD5 {archive.md5})' if archive.md5 else ''}"
        for archive in named.archives
    )
    raise InputError(
        f"{path} has MD5 {md5}, and is none of {named.name}'s archives: {names or 'it has none'}"
        f"{'. ' + named.how if named.how else ''}"
    )


def _keep(entry: Entry, archive: Archive, path: str, sums: tuple[str, str, str]) -> Added:
    """Puts a copy of an archive into the cache."""
    from shutil import copyfile

    folder, place = cache.writable(entry), cache.writable(entry, "raw", entry.local(archive))
    md5, sha256, verified = sums
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with download.hold_path_lock(place):
            copyfile(path, f"{place}.new")
            write_atomically(f"{place}.sha256", f"{sha256}  {os.path.basename(place)}\n".encode())
            os.replace(f"{place}.new", place)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}") from None
    by = verified or ("SHA-256" if archive.sha256 else "MD5" if archive.md5 else "")
    receipt = download.Receipt(path, os.path.getsize(place), md5, sha256, by)
    cache.record(entry, folder, [receipt])
    return Added(entry.name, place, tuple(entry.pairs))


def _add_folder(path: str, name: str) -> Added:
    """Writes a registry for a folder of the user's."""
    import json

    about = _flores(path, name) or _own_files(path)
    if about is None:
        raise InputError(
            f"{path} has no test set: expected files called en-de.src and en-de.ref, or "
            "en-de/src.txt and en-de/ref.txt, or FLORES's folders dev and devtest"
        )
    if not catalogue.is_name(name):
        raise InputError(
            f"{name}: a test set's name has letters, digits, . + - _ and / between them"
        )
    registry = _registry(name)
    known = catalogue.entries().get(name)
    if known is not None and (known.archives or known.folder):
        raise InputError(f"there is a test set {name} already; give another name with --name")
    if os.path.exists(registry):
        raise InputError(f"{registry} exists already; give another name with --name")
    text = f"{json.dumps({'name': name, **about}, indent=1, ensure_ascii=False)}\n"
    try:
        os.makedirs(catalogue.own_folder(), exist_ok=True)
        write_atomically(registry, text.encode())
        entry = catalogue.read_registry(registry)[name]
    except InputError:
        os.unlink(registry)
        raise
    except OSError as error:
        raise InputError(f"{registry} cannot be written: {error.strerror}") from None
    return Added(name, registry, tuple(entry.pairs))


def _registry(name: str) -> str:
    """Return the path of the registry that `add` writes for a test set."""
    return os.path.join(catalogue.own_folder(), f"{name.replace('/', '_')}.json")


def _own_files(path: str) -> dict[str, Any] | None:
    """Files of fields, by language pair."""
    pairs: dict[str, dict[str, str]] = {}
    for name in sorted(os.listdir(path)):
        inner = os.path.join(path, name)
        if os.path.isdir(inner) and "-" in name:
            files = {each: os.path.join(inner, each) for each in sorted(os.listdir(inner))}
            named = {each.removesuffix(".txt"): file for each, file in files.items()}
            pairs.setdefault(name, {}).update(_fields(named))
        elif match := re.fullmatch(r"([\w]+(?:-[\w]+)+)\.(.+)", name):
            fields = _fields({match[2].removesuffix(".txt"): inner})
            pairs.setdefault(match[1], {}).update(fields)
    found = {
        pair: named
        for pair, named in pairs.items()
        if any(re.match("ref(:|$)", each) for each in named)
    }
    return {"files": found} if found else None


def _fields(files: Mapping[str, str]) -> dict[str, str]:
    """Files by their fields' names; a name of a file has no colon."""
    known = re.compile(r"src|ref([.:-].+)?|docid|origlang|domain|genre")
    return {
        re.sub("^ref[.-]", "ref:", field): file
        for field, file in files.items()
        if known.fullmatch(field)
    }


def _flores(path: str, name: str) -> dict[str, Any] | None:
    """A file a language, in the folder of the part that the name says."""
    part = name.rpartition("/")[2]
    folder = os.path.join(path, part)
    if part not in ("dev", "devtest") or not os.path.isdir(folder):
        return None
    languages = {}
    for file in sorted(os.listdir(folder)):
        code = re.fullmatch(rf"(?:{part}\.)?(\w+?)(?:\.{part})?", file)
        if code and file != code[1]:
            languages[code[1]] = os.path.join(folder, file)
    table = os.path.join(path, f"metadata_{part}.tsv")
    about = {"kind": "Parallel", "licence": "CC-BY-SA-4.0", "languages": languages}
    if os.path.exists(table):
        about["documents"] = table
    return about if languages else None


def show(
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
    """The fields of each segment, as sacreBLEU's --echo; "all" is every field."""
    found = testset(name, langpair, registry=registry)
    if any(each is not None for each in (origlang, domain, documents, subset)):
        found = found.where(origlang, domain, documents, subset)
    names = found.fields if tuple(fields) == ("all",) else fields
    return zip(*map(found.field, names), strict=True)


def verify(name: str | None = None, registry: str | None = None) -> tuple[Verified, ...]:
    """Reads everything that is here of a test set, or of all, and compares it with its sums."""
    entries = catalogue.entries(registry)
    each = entries.values() if name is None else [catalogue.entry(name, registry)]
    return tuple(found for one in each for found in _verified(one))


def _verified(entry: Entry) -> Iterator[Verified]:
    if entry.folder is not None:
        for pair in entry.pairs:
            try:
                text = cache.opened(entry, pair)
            except InputError as error:
                yield Verified(entry.name, entry.folder, str(error))
            else:
                yield from (Verified(entry.name, text.path(field), "") for field in text.fields)
        return
    for archive in entry.archives:
        for path in cache.places(entry, archive):
            if os.path.exists(path):
                fine = cache.checked(path, archive) is not None
                yield Verified(entry.name, path, "" if fine else "its sum is another one")
    for folder in filter(os.path.isdir, _folders(entry)):
        for pair in _pairs_in(folder):
            yield from _verified_text(entry, pair, os.path.join(folder, pair))


def _verified_text(entry: Entry, langpair: str, folder: str) -> Iterator[Verified]:
    try:
        text = cache.read(folder)
    except (OSError, ValueError, KeyError, TypeError):
        yield Verified(entry.name, os.path.join(folder, cache.FIELDS), "it cannot be read")
        return
    known = entry.sha256.get(langpair, {})
    for field, about in text.fields.items():
        path, problem = text.path(field), ""
        try:
            sha256 = download.compute_checksums(path)[1]
            if sha256 != about["sha256"]:
                problem = "it is not as it was made"
            elif sha256 != known.get(field, sha256):
                problem = "it is not the catalogue's text"
        except OSError as error:
            problem = error.strerror or "it cannot be read"
        yield Verified(entry.name, path, problem)


def path(name: str, langpair: str | None = None, registry: str | None = None) -> str:
    """The folder of a test set that is here, or of a language pair's text.

    Raises InputError if it is not here.
    """
    each = catalogue.entry(name, registry)
    if langpair is not None and each.folder is None:
        each.pair(langpair)
        if text := cache.found(each, langpair):
            return text.folder
        raise InputError(f"{name} {langpair} is not here; truebleu testset get {name} fetches it")
    if found := next(filter(os.path.isdir, _folders(each)), None):
        return found
    raise InputError(f"{name} is not here; truebleu testset get {name} fetches it")


def remove(name: str) -> Removed:
    """Removes a test set from the cache, of older catalogues too; a registry that `add` wrote.

    What lies in layers and in sacreBLEU's folder stays. Raises InputError if there is nothing.
    """
    from shutil import rmtree

    if not catalogue.is_name(name):
        catalogue.entry(name)
    place = path_inside(cache.own(), *name.split("/"))
    names = os.listdir(place) if os.path.isdir(place) else ()
    folders = [path_inside(place, each) for each in sorted(names) if DIGITS.fullmatch(each)]
    size = sum(
        os.path.getsize(os.path.join(inner, file))
        for folder in folders
        for inner, _, files in os.walk(folder)
        for file in files
    )
    for folder in folders:
        # First out of sight: a half of it is never there.
        away = f"{folder}.removed"
        rmtree(away, ignore_errors=True)
        os.rename(folder, away)
        rmtree(away, ignore_errors=True)
    registry = _registry(name)
    # Another registry may have this file name: "a/b" and "a_b" have the same.
    if os.path.exists(registry) and [*catalogue.read_registry(registry)] == [name]:
        size += os.path.getsize(registry)
        os.unlink(registry)
        folders.append(registry)
    if not folders:
        catalogue.entry(name)
        raise InputError(f"{name} is not in the cache ({place})")
    return Removed(name, tuple(folders), size)


def fits(count: int, found: TestSet) -> str:
    """Another test set with so many segments of the language pair; "" if none is known.

    For an output that does not have as many lines as a test set.
    """
    names = found.name.split(",")
    if len(found.whole) == count != len(found):
        return f"{found.name} without filters"
    for each in catalogue.entries().values():
        if each.name not in names and each.has(found.langpair):
            text = cache.found(each, found.langpair) if each.folder is None else None
            known = each.segments.get(found.langpair, each.segments.get("*"))
            if count == (known if text is None else len(text)):
                return each.name
    return ""
