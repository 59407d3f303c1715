"""The catalogue of test sets: what each is made of, where it comes from, whose work it is.

registry.json has the published ones. A user's own are in files of the same form, in
$XDG_CONFIG_HOME/truebleu/testsets or wherever the user says.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NoReturn

from truebleu._kernel import InputError
from truebleu.testsets import file_readers
from truebleu.text.argument_checks import find_closest, parse_json
from truebleu.text.operating_system import SAFE_NAME, is_safe_name

# As many names as a message has room for.
SHOWN = 12
# What ends the names of archives.
PACKED = (".tar.gz", ".tgz", ".zip", ".tar", ".tar.bz2", ".tar.xz")
# The kind of sets of one's own, in files of text.
OWN = "Text"


@cache
def builtin() -> dict[str, Any]:
    """What registry.json says."""
    import json

    with open(os.path.join(os.path.dirname(__file__), "registry.json"), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


@dataclasses.dataclass(frozen=True)
class Archive:
    """A file to download, packed or not."""

    address: str
    md5: str | None = None
    sha256: str | None = None
    size: int | None = None
    mirrors: tuple[str, ...] = ()

    @property
    def is_packed(self) -> bool:
        """Whether files are in it; else it is one of them."""
        return self.address.endswith(PACKED)

    @property
    def name(self) -> str:
        """The last part of the address."""
        return os.path.basename(self.address)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A test set, as the catalogue describes it."""

    name: str
    kind: str
    archives: tuple[Archive, ...] = ()
    langpairs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """For each language pair its files, or `path` and `refs`, or a field's name and its file."""

    languages: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """For each language its file, or several; any two of them are a language pair."""

    documents: str | None = None
    """With `languages`: the file that says each segment's document."""

    refs: tuple[str, ...] | None = None
    """The translators whose references are to be used; None for all."""

    description: str = ""
    citation: str | None = None
    licence: str | None = None
    released: str | None = None
    segments: Mapping[str, int] = dataclasses.field(default_factory=dict)
    sha256: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    """The sums of made text, by language pair and field."""

    signature: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What a score's signature says beside the name."""

    how: str | None = None
    """How the user gets the files, where nobody else may."""

    folder: str | None = None
    """Where the files are, if they are the user's and not downloaded."""

    @property
    def digest(self) -> str:
        """Eight digits that are others when the files, or what is read from them, are others."""
        import json
        from hashlib import sha256

        archives = [[each.address, each.md5, each.sha256] for each in self.archives]
        of = [self.kind, dict(self.langpairs), dict(self.languages), self.documents, archives]
        return sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def pairs(self) -> list[str]:
        """All language pairs; those of any two languages are not listed."""
        return list(self.langpairs)

    def local(self, archive: Archive) -> str:
        """The name of an archive on this machine, as sacreBLEU has it."""
        return f"{self.name.replace('/', '_')}.{archive.name}"

    def files(self, langpair: str) -> list[str]:
        """The files of a language pair; a table's perhaps with a column."""
        pair = self.pair(langpair)
        found = self.langpairs.get(pair)
        if found is None:
            source, target = self._two(pair) or ("", "")
            texts = [*_several(self.languages[source])[:1], *_several(self.languages[target])]
            return texts if self.documents is None else [*texts, self.documents]
        if self.kind == OWN:
            return list(found.values())
        return [found["path"]] if isinstance(found, dict) else list(found)

    def preferred(self, langpair: str) -> tuple[str, ...] | None:
        """The translators whose references are to be used; None for all."""
        found = self.langpairs.get(self.pair(langpair))
        named = found.get("refs", self.refs) if isinstance(found, dict) else self.refs
        return None if named is None else tuple(named)

    def has(self, langpair: str) -> bool:
        """Whether there is such a language pair."""
        return langpair in self.langpairs or self._two(langpair) is not None

    def pair(self, langpair: str) -> str:
        """The language pair, which there is. Raises InputError for an unknown one."""
        if self.has(langpair):
            return langpair
        if not self.langpairs and not self.languages:
            raise InputError(f"{self.name} is not here. {self.how}")
        if self.languages:
            known, kind = list(self.languages), "languages"
            unknown = next((each for each in langpair.split("-") if each not in known), langpair)
            found = find_closest(unknown, known, 0.5)
        else:
            known, kind = self.pairs, "language pairs"
            found = find_closest(langpair, known, 0.6)
        hint = f"; did you mean {found}?" if found else ";"
        raise InputError(
            f"{self.name} has no language pair {langpair}{hint} its {kind} are {some(known)}"
        )

    def _two(self, langpair: str) -> tuple[str, str] | None:
        """The two languages of a pair: both may have hyphens."""
        parts = langpair.split("-")
        for middle in range(1, len(parts)):
            source, target = "-".join(parts[:middle]), "-".join(parts[middle:])
            if source in self.languages and target in self.languages and source != target:
                return source, target
        return None


def _several(files: Any) -> list[str]:
    return [files] if isinstance(files, str) else list(files)


def is_name(name: str) -> bool:
    """Whether a test set can be called so: names are folders too, below one another.

    >>> is_name("wmt19/google/ar"), is_name("../wmt19"), is_name("")
    (True, False, False)
    """
    # Eight hexadecimal digits name the folder of an entry.
    plain = re.fullmatch(r"(?!.*\.\.)[\w.+-]+(/(?![0-9a-f]{8}(/|$))[\w.+-]+)*", name)
    return plain is not None and is_safe_name(name)


def some(names: Iterable[str]) -> str:
    """Names in a row, the first of many."""
    shown = list(names)
    more = f" … and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


@cache
def _published() -> dict[str, Entry]:
    both = {**builtin()["test_sets"], **builtin()["more"]}
    return {name: _entry(name, about) for name, about in both.items()}


def _entry(name: str, about: Mapping[str, Any], folder: str | None = None) -> Entry:
    plain = {key: about[key] for key in _SIMPLE if key in about}
    files = about.get("files")
    return Entry(
        name,
        OWN if files is not None else about["kind"],
        archives=tuple(map(_archive, about.get("data", ()))),
        langpairs=files if files is not None else about.get("langpairs", {}),
        refs=None if "refs" not in about else tuple(about["refs"]),
        folder=None if about.get("data") else folder,
        **plain,
    )


_SIMPLE = (
    *("description", "citation", "licence", "released", "segments", "sha256", "signature"),
    *("languages", "documents", "how"),
)


def _archive(about: Any) -> Archive:
    if isinstance(about, dict):
        return Archive(**{**about, "mirrors": tuple(about.get("mirrors", ()))})
    return Archive(*about)


def own_folder() -> str:
    """The folder of the user's own registries, which may not exist."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "truebleu", "testsets")


def own_registries() -> list[str]:
    """The user's own registries."""
    try:
        names = sorted(os.listdir(own_folder()))
    except OSError:
        return []
    return [os.path.join(own_folder(), name) for name in names if name.endswith(".json")]


def entries(registry: str | None = None) -> dict[str, Entry]:
    """All test sets by their names, the user's and those of another file included.

    Raises InputError for a registry that is not as it should be, with the place.
    """
    found = dict(_published())
    said: dict[str, str] = {}
    for path in [*own_registries(), *([registry] if registry is not None else [])]:
        for name, entry in read_registry(path).items():
            there = found.get(name)
            if name in said or (there is not None and there.archives):
                where = said.get(name, "truebleu's own catalogue")
                raise InputError(f"{path}: {name} is a test set of {where}; give it another name")
            found[name] = entry
            said[name] = path
    return found


def entry(name: str, registry: str | None = None) -> Entry:
    """A test set by its name. Raises InputError for an unknown one, with the nearest."""
    known = entries(registry)
    if name not in known:
        found = find_closest(name, known, 0.5)
        hint = f"; did you mean {found}?" if found else ";"
        raise InputError(f"there is no test set {name}{hint} `truebleu testset list` lists them")
    return known[name]


def read_registry(path: str) -> dict[str, Entry]:
    """The test sets of a user's registry. Raises InputError with the place of what is wrong."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    content = parse_json(text, path)
    check = _Check(path, text)
    folder = os.path.dirname(os.path.abspath(path))
    check.that(isinstance(content, dict), (), "an object")
    if "name" in content:
        name = content.pop("name")
        check.that(isinstance(name, str), ("name",), "a string")
        check.set(name, content, ())
        return {name: _entry(name, content, folder)}
    check.that(isinstance(content.get("test_sets"), dict), ("test_sets",), "an object of test sets")
    for name, about in content["test_sets"].items():
        check.set(name, about, ("test_sets", name))
    return {name: _entry(name, about, folder) for name, about in content["test_sets"].items()}


class _Check:
    """Checks what a registry says, and knows where it says it."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text

    def that(self, fine: bool, where: tuple[str, ...], expected: str) -> None:
        """Raises InputError with the place unless something is as it should be."""
        if not fine:
            self._fail(where, f"expected {expected}")

    def _fail(self, where: tuple[str, ...], problem: str) -> NoReturn:
        at = 0
        for key in where:
            found = re.compile(rf'"{re.escape(key)}"\s*:').search(self._text, at)
            at = found.start() if found else at
        line = self._text.count("\n", 0, at) + 1
        place = f" {' → '.join(where)}:" if where else ""
        raise InputError(f"{self._path}, line {line}:{place} {problem}")

    def set(self, name: str, about: Any, where: tuple[str, ...]) -> None:
        """A test set."""
        self.that(is_name(name), where, "a name of letters, digits, . + - _ and / between them")
        self.that(isinstance(about, dict), where, "an object")
        for key, value in about.items():
            self.that(key in _KNOWN, (*where, key), f"one of {', '.join(_KNOWN)}")
            kind, words = _KNOWN[key]
            self.that(isinstance(value, kind), (*where, key), words)
        if "files" in about:
            for other in ("kind", "data", "langpairs", "languages"):
                self.that(other not in about, (*where, other), "files alone: they need no more")
            self._files(about["files"], (*where, "files"))
            return
        kinds = ", ".join(file_readers.KINDS)
        self.that("kind" in about, where, f"files, or a kind: {kinds}")
        self.that(about["kind"] in file_readers.KINDS, (*where, "kind"), f"one of {kinds}")
        for place, archive in enumerate(about.get("data", ())):
            self._archive(archive, (*where, "data"), f"number {place + 1} of data to be")
        one = ("langpairs" in about) != ("languages" in about)
        self.that(one, where, "langpairs or languages, with their files")
        is_own = not about.get("data")
        for pair, files in about.get("langpairs", {}).items():
            here = (*where, "langpairs", pair)
            self._pair(pair, here)
            if isinstance(files, dict):
                self._paths([files.get("path")], here, "a path", is_own=is_own)
                self._texts(files.get("refs", []), here, "refs to be a list of names")
            else:
                self._paths(files, here, "a list of files", is_own=is_own)
        for language, files in about.get("languages", {}).items():
            here = (*where, "languages", language)
            self._pair(f"{language}-", here)
            self._paths(_several(files), here, "a file, or several", is_own=is_own)
        if "documents" in about:
            self._paths([about["documents"]], (*where, "documents"), "a file", is_own=is_own)
        self._texts(about.get("refs", []), (*where, "refs"), "a list of names")

    def _pair(self, pair: str, where: tuple[str, ...]) -> None:
        """Check a language pair, which names a folder of the cache."""
        fine = "-" in pair and "/" not in pair and is_safe_name(pair)
        self.that(fine, where, "a language pair, such as en-de")

    def _paths(
        self, files: Any, where: tuple[str, ...], expected: str, *, is_own: bool = True
    ) -> None:
        """Check the paths of a user's own files, or of files in archives, perhaps with a column."""
        self._texts(files, where, expected)
        for file in files:
            self.that(bool(file) and "\0" not in file, where, expected)
            names = file, file.rpartition(":")[2]
            fine = is_own or (all(map(is_safe_name, names)) and file.count(":") <= 1)
            self.that(fine, where, f"files in the archives: {SAFE_NAME}")

    def _files(self, pairs: Mapping[str, Any], where: tuple[str, ...]) -> None:
        for pair, fields in pairs.items():
            here = (*where, pair)
            self._pair(pair, here)
            self.that(isinstance(fields, dict), here, "an object of fields, each with its file")
            for field, path in fields.items():
                self._paths([path], (*here, field), "the path of a file")
            self.that(any(re.match("ref(:|$)", field) for field in fields), here, "a field ref")

    def _archive(self, archive: Any, where: tuple[str, ...], which: str) -> None:
        if isinstance(archive, list):
            archive = dict(zip(_ARCHIVE, archive, strict=False)) if len(archive) <= 2 else None
        fine = isinstance(archive, dict) and archive.keys() <= set(_ARCHIVE)
        self.that(fine, where, f"{which} [address, MD5], or an object with {', '.join(_ARCHIVE)}")
        self._texts(archive.get("mirrors", []), where, f"{which} with mirrors, a list")
        for address in (archive.get("address"), *archive.get("mirrors", [])):
            is_web = isinstance(address, str) and re.match("https?://.", address) is not None
            self.that(is_web, where, f"{which} with an address (https://…)")
        fine = is_safe_name(archive["address"].rpartition("/")[2])
        self.that(fine, where, f"{which} with an address that ends in the name of a file")
        for name, digits in (("md5", 32), ("sha256", 64)):
            found = archive.get(name)
            fine = found is None or bool(re.fullmatch(rf"[0-9a-f]{{{digits}}}", str(found)))
            self.that(fine, where, f"{which} with a {name} of {digits} digits 0-9a-f")
        size = archive.get("size")
        self.that(size is None or isinstance(size, int), where, f"{which} with a size in bytes")

    def _texts(self, values: Any, where: tuple[str, ...], expected: str) -> None:
        fine = isinstance(values, list) and all(isinstance(value, str) for value in values)
        self.that(fine, where, expected)


_ARCHIVE = tuple(each.name for each in dataclasses.fields(Archive))
# What may be said of a test set, and what kind of value it is.
_TEXT, _LIST, _OBJECT = (str, "a string"), (list, "a list"), (dict, "an object")
_KNOWN: dict[str, tuple[type, str]] = {
    "kind": _TEXT,
    **dict.fromkeys(
        ("files", "langpairs", "languages", "segments", "sha256", "signature"), _OBJECT
    ),
    **dict.fromkeys(("data", "refs"), _LIST),
    **dict.fromkeys(("documents", "description", "citation", "licence", "released", "how"), _TEXT),
}


def subsets(name: str) -> Mapping[str, str] | None:
    """What is known of the documents of a test set: country and domain; None if nothing is."""
    found: Mapping[str, str] | None = builtin()["subsets"].get(name)
    return found


def with_archive(
    md5: str, sha256: str, registry: str | None = None
) -> Iterator[tuple[Entry, Archive]]:
    """The test sets that an archive with these sums belongs to."""
    for each in entries(registry).values():
        for archive in each.archives:
            if archive.sha256 == sha256 or (archive.sha256 is None and archive.md5 == md5):
                yield each, archive
