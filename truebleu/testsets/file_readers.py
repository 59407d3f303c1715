"""Readers of the files of published test sets, by kind.

A reader returns fields, which have a name and one line of text per segment. Their names are src,
ref or ref:A, docid, origlang, domain, and system names. The lines are identical to sacreBLEU's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from truebleu._kernel import InputError
from truebleu.text.argument_checks import parse_json
from truebleu.text.segments import File

Fields = Iterator[tuple[str, Iterable[str]]]

# Increment this number to discard cached text that older readers extracted.
READER_VERSION = 1
# Attributes of documents, which are neither text nor systems.
DOCUMENT_FIELDS = ("docid", "genre", "origlang", "domain")

# WMT's files before 2021 are not well-formed SGML or XML. They have one segment per line.
SEGMENT_PATTERN = re.compile("<seg.*?>(.*)</seg>")


def get_file_paths(files: Iterable[str], raw_folder: str) -> list[str]:
    """Return the paths of a language pair's files, without the column numbers of tables."""
    return [os.path.join(raw_folder, file.rpartition(":")[2]) for file in files]


def clean_spaces(text: str) -> str:
    """Return text with white space normalized to single spaces and stripped."""
    return " ".join(text.split())


def read_lines(path: str) -> Iterator[str]:
    """Return the lines of a file, which may be compressed, without line endings."""
    return File(path).read_lines()


def _read_wmt_sgml(
    name: str, files: Sequence[str], raw_folder: str, *, may_be_plain: bool = False
) -> Fields:
    """Read a WMT test set. Additional references may be plain text."""
    files = get_file_paths(files, raw_folder)
    count = len(files) - 1
    if count < 1:
        raise InputError(f"{name}: expected at least 2 files per language pair")
    references = ["ref"] if count == 1 else [f"ref:{number}" for number in range(count)]
    documents = [] if name.startswith("wmt08") else ["docid", "genre", "origlang"]
    fields = ["src", *references, *documents]
    for path, field in zip(files, fields, strict=False):
        is_plain = may_be_plain and not path.endswith(".sgm")
        yield field, _read_stripped_lines(path) if is_plain else _read_sgml_segments(path)
    for field in fields[len(files) :]:
        yield field, _read_annotations(files[0], field)


def _read_sgml_segments(path: str) -> Iterator[str]:
    for line in read_lines(path):
        if line.startswith("<seg "):
            yield clean_spaces(SEGMENT_PATTERN.sub(r"\1", line))


def _read_annotations(path: str, name: str) -> Iterator[str]:
    """Yield each segment's document attribute, or the previous document's if it is missing."""
    attribute = re.compile(f'{name}="(.*?)"')
    value = ""
    for line in read_lines(path):
        if line.startswith("<doc ") and (match := attribute.search(line)):
            value = match[1]
        elif line.startswith("<seg "):
            yield value


def read_filter_attributes(path: str) -> Iterator[tuple[str | None, str | None]]:
    """Yield the original language and document name of each segment in an SGML file.

    As in sacreBLEU's filters, the value is the last such attribute in the line, the line
    itself if it has none, and None before the first document.
    """
    language = name = None
    for line in read_lines(path):
        if line.startswith("<doc "):
            values = (re.match(rf'.* {key}="([^"]+)"', line) for key in ("origlang", "docid"))
            language, name = (value[1] if value else line for value in values)
        if line.startswith("<seg "):
            yield language, name


def _read_stripped_lines(path: str) -> Iterator[str]:
    """Return the lines of a file without trailing white space."""
    return map(str.rstrip, read_lines(path))


def _read_plain_text(_name: str, files: Sequence[str], raw_folder: str) -> Fields:
    for field, path in zip(("src", "ref"), get_file_paths(files, raw_folder), strict=False):
        yield field, _read_stripped_lines(path)


def _read_tables(_name: str, files: Sequence[str], raw_folder: str) -> Fields:
    """Read tables, whose names may have the index of the column: "3:en-de.tsv"."""
    for default_column, (field, file) in enumerate(zip(("src", "ref"), files, strict=False)):
        column, name = str(default_column), file
        if file.count(":") == 1:
            column, name = file.split(":")
        if not column.strip().lstrip("+-").isdecimal():
            raise InputError(f"invalid table column: '{file}' (expected COLUMN:FILE)")
        yield field, _read_column(os.path.join(raw_folder, name), int(column))


def _read_column(path: str, column: int) -> Iterator[str]:
    """Yield the cells of a column, which may be empty."""
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split("\t")
        if column >= len(cells):
            raise InputError(f"{path}, line {number}: missing column {column + 1}")
        yield cells[column]


def _read_wmt_xml(_name: str, files: Sequence[str], raw_folder: str) -> Fields:
    for field, texts in read_xml(get_file_paths(files, raw_folder)[0]).items():
        yield field, map(clean_spaces, texts)


def format_reference_field(translator: str | None) -> str:
    """Return the field name for a translator's references.

    >>> format_reference_field("A"), format_reference_field(None)
    ('ref:A', 'ref')
    """
    return f"ref:{translator}" if translator else "ref"


def read_xml(path: str) -> dict[str, list[str]]:
    """Return the fields of an XML file (WMT's format since 2021), with unchanged white space.

    The fields are src, the references in file order, docid, origlang, systems, and, if present,
    domain.
    """
    root = _parse_xml(path)
    sources = {element.get("lang") for element in root.iterfind(".//src")}
    references = list(root.iterfind(".//ref"))
    languages = {each.get("lang") for each in references}
    if len(sources) != 1:
        raise InputError(f"{path}: expected one source language, found {len(sources)}")
    if len(languages) != 1:
        raise InputError(f"{path}: expected one reference language, found {len(languages)}")
    try:
        return _collect_xml_fields(
            root, list(dict.fromkeys(each.get("translator") for each in references))
        )
    except KeyError as error:
        raise InputError(f"{path}: an element has no attribute {error}") from error


def _collect_xml_fields(root: Element, translators: list[str | None]) -> dict[str, list[str]]:
    reference_fields = [format_reference_field(translator) for translator in translators]
    fields: dict[str, list[str]] = {
        field: [] for field in ("src", *reference_fields, "docid", "origlang")
    }
    domains: list[str] = []
    has_domain = False
    for document in root.iterfind(".//doc"):
        if "testsuite" in document.attrib:
            continue
        source = _index_segments(document.iterfind(".//src//seg"))
        by_translator, by_system = (
            {
                each.get(attribute): _index_segments(each.iterfind(".//seg"))
                for each in document.iterfind(f".//{element}")
            }
            for attribute, element in (("translator", "ref"), ("system", "hyp"))
        )
        for number in sorted(source):
            # Segments without any reference are skipped, as in sacreBLEU.
            if not any(texts.get(number) for texts in by_translator.values()):
                continue
            fields["src"].append(source[number])
            for translator, field in zip(translators, reference_fields, strict=True):
                fields[field].append(by_translator.get(translator, {}).get(number, ""))
            for system, texts in by_system.items():
                fields.setdefault(str(system), []).append(texts.get(number, ""))
            fields["docid"].append(document.attrib["id"])
            fields["origlang"].append(document.attrib["origlang"])
            has_domain = "domain" in document.attrib
            domains.append(document.get("domain", ""))
    if has_domain:
        fields["domain"] = domains
    return fields


def _parse_xml(path: str) -> Element:
    """Return a file's root element. Comments become elements, so they delimit text."""
    import xml.etree.ElementTree as ET

    builder = ET.TreeBuilder(insert_comments=True, insert_pis=True)
    try:
        return ET.parse(path, ET.XMLParser(target=builder)).getroot()
    except (ET.ParseError, LookupError) as error:
        raise InputError(f"{path} is not XML: {error}") from error


def _index_segments(elements: Iterable[Element]) -> dict[int, str]:
    """Return a mapping from segment numbers to texts."""
    return {int(each.attrib["id"]): each.text or "" for each in elements}


def _read_jsonl(_name: str, files: Sequence[str], raw_folder: str) -> Fields:
    """Read one JSON object per line: a segment, as in WMT24++, or a document, as in WMT25.

    A prefix of the file name selects the lines of a language pair ("en-ja_JP:wmt25.jsonl"). The
    prefix "all" includes sources that are marked as bad.
    """
    selection, _, file = files[0].rpartition(":")
    path = os.path.join(raw_folder, file)
    fields: dict[str, list[str]] = {}
    count = 0
    for number, row in _read_objects(path):
        if "-" in selection and f"{row.get('src_lang')}-{row.get('tgt_lang')}" != selection:
            continue
        if selection != "all" and row.get("is_bad_source"):
            continue
        if "src_text" in row:
            rows = _split_paragraphs(row)
        else:
            present = {name: row[name] for name in WMT24PP_FIELDS if row.get(name) is not None}
            rows = [{WMT24PP_FIELDS[name]: value for name, value in present.items()}]
        for segment in rows:
            for field, text in segment.items():
                if not isinstance(text, str):
                    raise InputError(f"{path}, line {number}: {field} is not a string")
                fields.setdefault(field, [""] * count).append(clean_spaces(text))
            count += 1
            for texts in fields.values():
                texts.extend([""] * (count - len(texts)))
    if not count:
        suffix = f" of {selection}" if "-" in selection else ""
        raise InputError(f"{path} contains no segment{suffix}")
    yield from _drop_untranslated_segments(fields).items()


def _read_objects(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    import json

    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        row = parse_json(line, path, number)
        try:
            # Lone surrogates cannot be encoded.
            json.dumps(row, ensure_ascii=False).encode("utf-8")
        except ValueError as error:
            raise InputError(f"{path}, line {number}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: expected a JSON object")
        yield number, row


# WMT24++'s field names, and the names in truebleu. `target` is the post-edited translation, which
# its authors recommend.
WMT24PP_FIELDS = {
    "source": "src",
    "target": "ref:target",
    "original_target": "ref:original_target",
    "document_id": "docid",
    "domain": "domain",
}


def _split_paragraphs(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a WMT25 document into paragraphs, unless its texts have different numbers of them."""
    texts = {"src": row["src_text"]}
    for name, reference in (row.get("refs") or {}).items():
        texts[f"ref:{name}"] = reference.get("ref") if isinstance(reference, dict) else reference
    paragraphs = {
        field: text.split("\n\n") if isinstance(text, str) else [text]
        for field, text in texts.items()
    }
    if len({len(parts) for parts in paragraphs.values()}) != 1:
        paragraphs = {field: [text] for field, text in texts.items()}
    reference = {"docid": row.get("doc_id"), "domain": row.get("domain")}
    document_values = {field: value for field, value in reference.items() if value is not None}
    return [
        dict(zip(paragraphs, parts, strict=True)) | document_values
        for parts in zip(*paragraphs.values(), strict=True)
    ]


def _drop_untranslated_segments(fields: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the fields without the segments that lack a reference, unless all segments do."""
    references = [texts for field, texts in fields.items() if field.startswith("ref")]
    is_translated = [any(texts) for texts in zip(*references, strict=True)]
    if not any(is_translated) or all(is_translated):
        return fields
    return {
        field: [text for text, keep_text in zip(texts, is_translated, strict=True) if keep_text]
        for field, texts in fields.items()
    }


def _read_parallel_files(_name: str, files: Sequence[str], raw_folder: str) -> Fields:
    """Read one file per language: the source, the references, and possibly a table of documents.

    The table has the suffix .tsv and one line per segment, with the document name in the first
    column. FLORES has a header line with the column names URL and domain.
    """
    *texts, last = files
    table = os.path.join(raw_folder, last) if last.endswith(".tsv") else None
    source, *references = get_file_paths(texts if table else files, raw_folder)
    yield "src", _read_stripped_lines(source)
    for letter, path in zip("ABCDEFGH", references, strict=False):
        yield "ref" if len(references) == 1 else f"ref:{letter}", _read_stripped_lines(path)
    if table:
        rows = [line.split("\t") for line in read_lines(table)]
        columns = {"docid": 0}
        if rows and "URL" in rows[0]:
            header = [name.strip() for name in rows.pop(0)]
            column_names = {"docid": "URL", "domain": "domain"}
            columns = {
                here: header.index(column_name)
                for here, column_name in column_names.items()
                if column_name in header
            }
        for field, column in columns.items():
            yield field, [row[column].strip() if column < len(row) else "" for row in rows]


# Readers of the fields of a language pair, by kind. Arguments: the name of the test set, the files
# of the pair as named in the catalogue, and their folder. They raise InputError for invalid files.
FIELD_READERS: dict[str, Callable[[str, Sequence[str], str], Fields]] = {
    "FakeSGML": _read_wmt_sgml,
    "IWSLTXML": _read_wmt_sgml,
    "JSONL": _read_jsonl,
    "Parallel": _read_parallel_files,
    "PlainText": _read_plain_text,
    "TSV": _read_tables,
    "WMTAddition": partial(_read_wmt_sgml, may_be_plain=True),
    "WMTXML": _read_wmt_xml,
}
