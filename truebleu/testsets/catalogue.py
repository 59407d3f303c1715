"""The catalogue of test sets: their files, origin, licence and citation.

registry.json describes the published test sets. Users can describe their own test sets in files of
the same format, in $XDG_CONFIG_HOME/truebleu/testsets or passed with --registry.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from truebleu._kernel import InputError
from truebleu.testsets import file_readers
from truebleu.text.argument_checks import Record, check_string, find_closest, parse_json
from truebleu.text.operating_system import SAFE_NAME, is_safe_name

# The maximum number of names in a message.
MAX_LISTED_NAMES = 12
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip", ".tar", ".tar.bz2", ".tar.xz")
# The kind of test sets that users store in text files.
USER_KIND = "Text"


@cache
def load_builtin_registry() -> dict[str, Any]:
    """Return the content of registry.json."""
    import json

    with open(os.path.join(os.path.dirname(__file__), "registry.json"), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


@dataclasses.dataclass(frozen=True)
class Archive:
    """A file to download: a packed archive or a single file."""

    address: str
    md5: str | None = None
    sha256: str | None = None
    size: int | None = None
    mirrors: tuple[str, ...] = ()

    @property
    def is_packed(self) -> bool:
        """True for an archive of several files, False for a single file."""
        return self.address.endswith(ARCHIVE_SUFFIXES)

    @property
    def name(self) -> str:
        """The last component of the URL."""
        return os.path.basename(self.address)


@dataclasses.dataclass(frozen=True)
class CatalogueEntry:
    """The description of a test set in the catalogue."""

    name: str
    kind: str
    archives: tuple[Archive, ...] = ()
    langpairs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """For each language pair: its files, or `path` and `refs`, or a file per field name."""

    languages: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """For each language, one or more files; any two languages form a language pair."""

    documents: str | None = None
    """With `languages`: the file that lists the document of each segment."""

    refs: tuple[str, ...] | None = None
    """The translators of the references to use, or None to use all references."""

    description: str = ""
    citation: str | None = None
    """The keys of works in `truebleu.text.citations`, or a user's text, which may be BibTeX."""

    licence: str | None = None
    released: str | None = None
    segments: Mapping[str, int] = dataclasses.field(default_factory=dict)
    sha256: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    """The checksums of the extracted text, by language pair and field."""

    signature: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Additional fields of a score's signature."""

    instructions: str | None = None
    """Instructions for obtaining files that truebleu may not download."""

    folder: str | None = None
    """The folder of a user's own files, which are not downloaded."""

    @property
    def bibtex(self) -> str | None:
        """The BibTeX entries of the works to cite, or the citation text in a user's registry."""
        from truebleu.text.citations import expand_keys

        return None if self.citation is None else expand_keys(self.citation)

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with the files and the way they are read."""
        import json
        from hashlib import sha256

        archives = [[archive.address, archive.md5, archive.sha256] for archive in self.archives]
        content = [self.kind, dict(self.langpairs), dict(self.languages), self.documents, archives]
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def pairs(self) -> list[str]:
        """The explicitly listed language pairs, without the combinations of `languages`."""
        return list(self.langpairs)

    def get_local_name(self, archive: Archive) -> str:
        """Return the local file name that sacreBLEU gives an archive."""
        return f"{self.name.replace('/', '_')}.{archive.name}"

    def list_files(self, langpair: str) -> list[str]:
        """Return the files of a language pair; names of tables may start with a column number."""
        pair = self.check_pair(langpair)
        pair_files = self.langpairs.get(pair)
        if pair_files is None:
            source, target = self._split_pair(pair) or ("", "")
            text_files = [*_as_list(self.languages[source])[:1], *_as_list(self.languages[target])]
            return text_files if self.documents is None else [*text_files, self.documents]
        if self.kind == USER_KIND:
            return list(pair_files.values())
        return [pair_files["path"]] if isinstance(pair_files, dict) else list(pair_files)

    def preferred_translators(self, langpair: str) -> tuple[str, ...] | None:
        """Return the translators whose references are used, or None if all references are used."""
        pair_files = self.langpairs.get(self.check_pair(langpair))
        own_files = pair_files if isinstance(pair_files, dict) else {}
        translators = own_files.get("refs", self.refs)
        return None if translators is None else tuple(translators)

    def has_pair(self, langpair: str) -> bool:
        """Return whether the test set has a language pair."""
        return langpair in self.langpairs or self._split_pair(langpair) is not None

    def check_pair(self, langpair: str) -> str:
        """Return the language pair; raise InputError if the test set does not have it."""
        if self.has_pair(langpair):
            return langpair
        if not self.langpairs and not self.languages:
            raise InputError(f"{self.name} is not on this machine. {self.instructions}")
        if self.languages:
            names, kind = list(self.languages), "languages"
            unknown = next(
                (language for language in langpair.split("-") if language not in names), langpair
            )
            suggestion = find_closest(unknown, names, 0.5)
        else:
            names, kind = self.pairs, "language pairs"
            suggestion = find_closest(langpair, names, 0.6)
        hint = f"; did you mean {suggestion}?" if suggestion else ";"
        further_count = len(names) - MAX_LISTED_NAMES
        raise InputError(
            f"{self.name} has no language pair {langpair}{hint} its {kind} are "
            + ", ".join(names[:MAX_LISTED_NAMES])
            + (f" … and {further_count} more" if further_count > 0 else "")
        )

    def _split_pair(self, langpair: str) -> tuple[str, str] | None:
        """Return the two languages of a pair, which may both contain hyphens."""
        parts = langpair.split("-")
        for middle in range(1, len(parts)):
            source, target = "-".join(parts[:middle]), "-".join(parts[middle:])
            if source in self.languages and target in self.languages and source != target:
                return source, target
        return None


def _as_list(files: Any) -> list[str]:
    return [files] if isinstance(files, str) else list(files)


def is_valid_name(name: str) -> bool:
    """Return whether a name is valid for a test set; names are also used as folder paths.

    >>> is_valid_name("wmt19/google/ar"), is_valid_name("../wmt19"), is_valid_name("")
    (True, False, False)
    """
    # Names of eight hexadecimal digits are reserved for the folders of digests.
    match = re.fullmatch(r"(?!.*\.\.)[\w.+-]+(/(?![0-9a-f]{8}(/|$))[\w.+-]+)*", name)
    return match is not None and is_safe_name(name)


@cache
def _load_published_entries() -> dict[str, CatalogueEntry]:
    test_sets = {**load_builtin_registry()["test_sets"], **load_builtin_registry()["more"]}
    return {name: _make_entry(name, description) for name, description in test_sets.items()}


def _make_entry(
    name: str, description: Mapping[str, Any], folder: str | None = None
) -> CatalogueEntry:
    simple_values = {key: description[key] for key in _SIMPLE_KEYS if key in description}
    archives = []
    for data in description.get("data", ()):
        if isinstance(data, dict):
            archives.append(Archive(**{**data, "mirrors": tuple(data.get("mirrors", ()))}))
        else:
            archives.append(Archive(*data))
    files = description.get("files")
    return CatalogueEntry(
        name,
        USER_KIND if files is not None else description["kind"],
        archives=tuple(archives),
        langpairs=files if files is not None else description.get("langpairs", {}),
        refs=None if "refs" not in description else tuple(description["refs"]),
        folder=None if description.get("data") else folder,
        **simple_values,
    )


_SIMPLE_KEYS = (
    *("description", "citation", "licence", "released", "segments", "sha256", "signature"),
    *("languages", "documents", "instructions"),
)


def get_user_folder() -> str:
    """Return the folder of the user's registries, which may not exist."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "truebleu", "testsets")


def load_entries(registry: str | None = None) -> dict[str, CatalogueEntry]:
    """Return all test sets by name, including the user's test sets and those in `registry`.

    Raises InputError, with the location, for an invalid registry.
    """
    by_name = dict(_load_published_entries())
    registry_paths: dict[str, str] = {}
    folder = get_user_folder()
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    paths = [os.path.join(folder, name) for name in names if name.endswith(".json")]
    for path in [*paths, *([registry] if registry is not None else [])]:
        for name, entry in read_registry(path).items():
            published_entry = by_name.get(name)
            if name in registry_paths or (published_entry is not None and published_entry.archives):
                origin = registry_paths.get(name, "truebleu's catalogue")
                raise InputError(f"{path}: test set {name} already exists in {origin}. Rename it.")
            by_name[name] = entry
            registry_paths[name] = path
    return by_name


def get_entry(name: str, registry: str | None = None) -> CatalogueEntry:
    """Return a test set by name; raise InputError, with the closest name, for an unknown name."""
    check_string("name", name, "the name of a test set, such as 'wmt24'")
    by_name = load_entries(registry)
    if name not in by_name:
        suggestion = find_closest(name, by_name, 0.5)
        hint = f"; did you mean {suggestion}?" if suggestion else ";"
        raise InputError(f"unknown test set '{name}'{hint} `truebleu testset list` lists all names")
    return by_name[name]


def read_registry(path: str) -> dict[str, CatalogueEntry]:
    """Return the test sets in a registry; raise InputError, with the location, if it is invalid."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    content = parse_json(text, path)
    checker = _RegistryCheck(path, text)
    folder = os.path.dirname(os.path.abspath(path))
    checker.require(isinstance(content, dict), (), "an object")
    if "name" in content:
        name = content.pop("name")
        checker.require(isinstance(name, str), ("name",), "a string")
        checker.check_entry(name, content, ())
        return {name: _make_entry(name, content, folder)}
    checker.require(
        isinstance(content.get("test_sets"), dict), ("test_sets",), "an object of test sets"
    )
    for name, description in content["test_sets"].items():
        checker.check_entry(name, description, ("test_sets", name))
    return {name: _make_entry(name, about, folder) for name, about in content["test_sets"].items()}


class _RegistryCheck(Record):
    """Registry checker that reports the line and key of each error."""

    path: str
    text: str

    def require(self, condition: bool, key_path: tuple[str, ...], expected: str) -> None:
        """Raise InputError with the location unless a condition holds."""
        if condition:
            return
        offset = 0
        for key in key_path:
            match = re.compile(rf'"{re.escape(key)}"\s*:').search(self.text, offset)
            offset = match.start() if match else offset
        line = self.text.count("\n", 0, offset) + 1
        location = f" {' → '.join(key_path)}:" if key_path else ""
        raise InputError(f"{self.path}, line {line}:{location} expected {expected}")

    def check_entry(self, name: str, description: Any, key_path: tuple[str, ...]) -> None:
        """Check the description of a test set."""
        self.require(
            is_valid_name(name), key_path, "a name with only letters, digits, . + - _ and inner /"
        )
        self.require(isinstance(description, dict), key_path, "an object")
        for key, value in description.items():
            self.require(key in _KEY_TYPES, (*key_path, key), f"one of {', '.join(_KEY_TYPES)}")
            kind, expectation = _KEY_TYPES[key]
            self.require(isinstance(value, kind), (*key_path, key), expectation)
        if "files" in description:
            for excluded_key in ("kind", "data", "langpairs", "languages"):
                self.require(
                    excluded_key not in description,
                    (*key_path, excluded_key),
                    "either this key or files, not both",
                )
            self._check_files(description["files"], (*key_path, "files"))
            return
        kinds = ", ".join(file_readers.FIELD_READERS)
        self.require("kind" in description, key_path, f"the key files, or the key kind: {kinds}")
        is_known = description["kind"] in file_readers.FIELD_READERS
        self.require(is_known, (*key_path, "kind"), f"one of {kinds}")
        for number, archive in enumerate(description.get("data", ())):
            self._check_archive(archive, (*key_path, "data"), f"item {number + 1}")
        has_pairs = ("langpairs" in description) != ("languages" in description)
        self.require(has_pairs, key_path, "either langpairs or languages, with their files")
        is_own = not description.get("data")
        for pair, files in description.get("langpairs", {}).items():
            inner_path = (*key_path, "langpairs", pair)
            self._check_pair(pair, inner_path)
            if isinstance(files, dict):
                self._check_paths([files.get("path")], inner_path, "a path", are_user_files=is_own)
                self._check_strings(files.get("refs", []), inner_path, "refs to be a list of names")
            else:
                self._check_paths(files, inner_path, "a list of files", are_user_files=is_own)
        for language, files in description.get("languages", {}).items():
            inner_path = (*key_path, "languages", language)
            self._check_pair(f"{language}-", inner_path)
            self._check_paths(
                _as_list(files), inner_path, "a file or a list of files", are_user_files=is_own
            )
        if "documents" in description:
            inner_path, files = (*key_path, "documents"), [description["documents"]]
            self._check_paths(files, inner_path, "a file", are_user_files=is_own)
        self._check_strings(description.get("refs", []), (*key_path, "refs"), "a list of names")

    def _check_pair(self, pair: str, key_path: tuple[str, ...]) -> None:
        """Check a language pair, which names a folder of the cache."""
        is_valid = "-" in pair and "/" not in pair and is_safe_name(pair)
        self.require(is_valid, key_path, "a language pair, such as en-de")

    def _check_paths(
        self, files: Any, key_path: tuple[str, ...], expected: str, *, are_user_files: bool = True
    ) -> None:
        """Check paths of a user's files, or of files in archives, possibly with a column number."""
        self._check_strings(files, key_path, expected)
        for file in files:
            self.require(bool(file) and "\0" not in file, key_path, expected)
            names = file, file.rpartition(":")[2]
            is_valid = are_user_files or (all(map(is_safe_name, names)) and file.count(":") <= 1)
            self.require(is_valid, key_path, f"files in the archives: {SAFE_NAME}")

    def _check_files(self, pairs: Mapping[str, Any], key_path: tuple[str, ...]) -> None:
        for pair, fields in pairs.items():
            inner_path = (*key_path, pair)
            self._check_pair(pair, inner_path)
            self.require(isinstance(fields, dict), inner_path, "an object with one file per field")
            for field, path in fields.items():
                self._check_paths([path], (*inner_path, field), "the path of a file")
            has_references = any(re.match("ref(:|$)", field) for field in fields)
            self.require(has_references, inner_path, "a field ref")

    def _check_archive(self, archive: Any, key_path: tuple[str, ...], label: str) -> None:
        if isinstance(archive, list):
            archive = dict(zip(_ARCHIVE_KEYS, archive, strict=False)) if len(archive) <= 2 else None
        is_valid = isinstance(archive, dict) and archive.keys() <= set(_ARCHIVE_KEYS)
        self.require(
            is_valid,
            key_path,
            f"{label} to be [URL, MD5], or an object with {', '.join(_ARCHIVE_KEYS)}",
        )
        self._check_strings(archive.get("mirrors", []), key_path, f"{label} to list its mirrors")
        for address in (archive.get("address"), *archive.get("mirrors", [])):
            is_web = isinstance(address, str) and re.match("https?://.", address) is not None
            self.require(is_web, key_path, f"{label} to contain only URLs (https://…)")
        is_valid = is_safe_name(archive["address"].rpartition("/")[2])
        self.require(is_valid, key_path, f"the URL of {label} to end in a file name")
        for name, digits in (("md5", 32), ("sha256", 64)):
            checksum = archive.get(name)
            is_valid = checksum is None or bool(
                re.fullmatch(rf"[0-9a-f]{{{digits}}}", str(checksum))
            )
            self.require(
                is_valid,
                key_path,
                f"the {name} of {label} to be {digits} lower-case hexadecimal digits",
            )
        size = archive.get("size")
        self.require(
            size is None or isinstance(size, int), key_path, f"{label} to have a size in bytes"
        )

    def _check_strings(self, values: Any, key_path: tuple[str, ...], expected: str) -> None:
        is_valid = isinstance(values, list) and all(isinstance(value, str) for value in values)
        self.require(is_valid, key_path, expected)


_ARCHIVE_KEYS = tuple(each.name for each in dataclasses.fields(Archive))
# The keys of a test set's description, and the types of their values.
_TEXT_TYPE, _LIST_TYPE, _OBJECT_TYPE = (str, "a string"), (list, "a list"), (dict, "an object")
_KEY_TYPES: dict[str, tuple[type, str]] = {
    "kind": _TEXT_TYPE,
    **dict.fromkeys(
        ("files", "langpairs", "languages", "segments", "sha256", "signature"), _OBJECT_TYPE
    ),
    **dict.fromkeys(("data", "refs"), _LIST_TYPE),
    **dict.fromkeys(
        ("documents", "description", "citation", "licence", "released", "instructions"), _TEXT_TYPE
    ),
}


def get_document_subsets(name: str) -> Mapping[str, str] | None:
    """Return the country and domain of each document in a test set, or None if unknown."""
    labels: Mapping[str, str] | None = load_builtin_registry()["subsets"].get(name)
    return labels
