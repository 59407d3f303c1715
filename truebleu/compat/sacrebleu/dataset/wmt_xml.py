"""Test sets in XML: WMT's since 2021, with systems' outputs beside the references."""

from __future__ import annotations

import os

from .._files import smart_open
from .._messages import TestSetError
from .base import Dataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any
    from xml.etree.ElementTree import Element


def _get_field_by_translator(translator: str | None) -> str:
    """The name of the field with a translator's references.

    >>> _get_field_by_translator("A"), _get_field_by_translator(None)
    ('ref:A', 'ref')
    """
    return f"ref:{translator}" if translator else "ref"


class WMTXMLDataset(Dataset):
    """A test set with everything of a language pair in one file."""

    # The last file that was read, and its fields.
    _read: tuple[object, dict[str, list[str]]] | None = None

    def fields(self, path: str) -> dict[str, list[str]]:
        """The fields of each segment in a file: src, the references, docid, origlang and more."""
        found = os.stat(path)
        key = (path, found.st_mtime_ns, found.st_size)
        if self._read is None or self._read[0] != key:
            with smart_open(path) as file:
                try:
                    self._read = (key, self._unwrap_wmt21_or_later(file))
                except KeyError as error:
                    raise TestSetError(f"{path}: an element has no attribute {error}") from error
        return self._read[1]

    @staticmethod
    def _unwrap_wmt21_or_later(raw_file: str | IO[Any]) -> dict[str, list[str]]:
        """`fields` of a file or of its path. The references are in the file's order."""
        root = _root(raw_file)
        sources = {each.get("lang") for each in root.iterfind(".//src")}
        references = list(root.iterfind(".//ref"))
        languages = {each.get("lang") for each in references}
        if len(sources) != 1:
            raise TestSetError(f"Multiple source languages found in the file: {_name(raw_file)}")
        if len(languages) != 1:
            raise TestSetError(
                f"Found {len(languages)} reference languages found in the file: {_name(raw_file)}"
            )
        translators = list(dict.fromkeys(each.get("translator") for each in references))
        names = [_get_field_by_translator(translator) for translator in translators]
        fields: dict[str, list[str]] = {field: [] for field in ("src", *names, "docid", "origlang")}
        domains: list[str] = []
        has_domain = False
        for document in root.iterfind(".//doc"):
            if "testsuite" in document.attrib:
                continue
            source = _segments(document.iterfind(".//src//seg"))
            by_translator = _by("translator", document.iterfind(".//ref"))
            by_system = _by("system", document.iterfind(".//hyp"))
            for number in sorted(source):
                # Segments without any translation are left out.
                if not any(texts.get(number) for texts in by_translator.values()):
                    continue
                fields["src"].append(source[number])
                for translator, name in zip(translators, names, strict=True):
                    fields[name].append(by_translator.get(translator, {}).get(number, ""))
                for system, texts in by_system.items():
                    fields.setdefault(str(system), []).append(texts.get(number, ""))
                fields["docid"].append(document.attrib["id"])
                fields["origlang"].append(document.attrib["origlang"])
                has_domain = "domain" in document.attrib
                domains.append(document.get("domain", ""))
        if has_domain:
            fields["domain"] = domains
        return fields

    def _texts(self, langpair: str) -> Iterator[tuple[str, Iterable[str]]]:
        for name, lines in self.fields(self.raw_files(langpair)[0]).items():
            yield name, map(self._clean, lines)

    def _get_langpair_allowed_refs(self, langpair: str) -> list[str]:
        """The names of the references to use: the pair's, or those of the test set."""
        allowed = self.kwargs.get("refs", [])
        files = self._get_langpair_metadata(langpair)[langpair]
        if isinstance(files, dict):
            allowed = files.get("refs", allowed)
        return [_get_field_by_translator(translator) for translator in allowed]

    def get_reference_files(self, langpair: str) -> list[str]:
        """The paths of the references to use; there may be others."""
        allowed = self._get_langpair_allowed_refs(langpair)
        fields = zip(self.fieldnames(langpair), self.get_files(langpair), strict=True)
        return [path for name, path in fields if name in allowed]

    def fieldnames(self, langpair: str) -> list[str]:
        """src, ref:A, ref:B ... (or ref), docid, origlang, each system, and perhaps domain.

        The test set is downloaded for that.
        """
        self.maybe_download()
        return list(self.fields(self.raw_files(langpair)[0]))


def _root(file: str | IO[Any]) -> Element:
    """The outermost element of a file, with comments as elements: text ends before one."""
    import xml.etree.ElementTree as ET

    builder = ET.TreeBuilder(insert_comments=True, insert_pis=True)
    try:
        return ET.parse(file, ET.XMLParser(target=builder)).getroot()
    except ET.ParseError as error:
        raise TestSetError(f"{_name(file)} is not XML: {error}") from error


def _name(file: str | IO[Any]) -> str:
    return str(getattr(file, "name", file))


def _segments(elements: Iterable[Element]) -> dict[int, str]:
    """The text of segments by their numbers."""
    return {int(each.attrib["id"]): each.text or "" for each in elements}


def _by(attribute: str, elements: Iterable[Element]) -> dict[str | None, dict[int, str]]:
    """The segments within elements, by an attribute of these."""
    return {each.get(attribute): _segments(each.iterfind(".//seg")) for each in elements}
