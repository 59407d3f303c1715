"""`testset`: a published test set by name, with source, references and documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from truebleu._kernel import InputError
from truebleu.testsets import cache, catalogue, file_readers
from truebleu.testsets.catalogue import CatalogueEntry
from truebleu.text import download
from truebleu.text.argument_checks import check_string, suggest_names
from truebleu.text.terminal_layout import format_count

# The prefix of subsets that select a country, as in sacreBLEU.
COUNTRY_PREFIX = "country:"


def testset(
    name: str,
    langpair: str,
    *,
    references: Sequence[str] | None = None,
    offline: bool | None = None,
    mirror: str | None = None,
    registry: str | None = None,
) -> TestSet:
    """Return a published test set, downloading it unless it is cached.

    name: a name in `truebleu testset list`, such as "wmt22", or several names separated by commas,
    whose segments are concatenated.
    langpair: a language pair, such as "en-de".
    references: the references to use, such as ["A", "B"] (default: the preferred references).
    offline: disable downloads (default: TRUEBLEU_OFFLINE). mirror: the URL of a mirror to try first
    (default: TRUEBLEU_MIRROR).
    registry: a file of additional test sets, in addition to those in
    $XDG_CONFIG_HOME/truebleu/testsets.

    Raises InputError for unknown names, with the closest name. Raises DownloadError or
    OfflineError, which are InputErrors, if the test set cannot be downloaded.

    >>> testset("wmt222", "en-de")
    Traceback (most recent call last):
    truebleu.InputError: unknown test set 'wmt222'; did you mean wmt22? `truebleu testset ...
    """
    check_string("name", name, "the name of a test set, such as 'wmt24'")
    check_string("langpair", langpair, "a language pair, such as 'en-de'")
    entries = [catalogue.get_entry(entry, registry) for entry in name.split(",")]
    with download.override_settings(offline=offline, mirror=mirror):
        parts = [_TestSetPart(each, each.check_pair(langpair)) for each in entries]
    test_set = TestSet(parts, None, {})
    return test_set if references is None else test_set.with_references(references)


testset.__test__ = False  # type: ignore[attr-defined] # not a test, despite its name


class _TestSetPart:
    """One of several concatenated test sets, without filters."""

    def __init__(self, entry: CatalogueEntry, langpair: str) -> None:
        self.entry = entry
        self.langpair = langpair
        self.text = cache.open_text(entry, langpair)
        self.references = [name for name in self.text.field_names if re.match("ref(:|$)", name)]

    @property
    def preferred(self) -> list[str]:
        """The field names of the references to use."""
        translators = self.entry.preferred_translators(self.langpair)
        if translators is None:
            return self.references
        allowed = [file_readers.format_reference_field(translator) for translator in translators]
        return [name for name in self.references if name in allowed]

    @property
    def systems(self) -> list[str]:
        """The field names of system outputs."""
        other_fields = {"src", *self.references, *file_readers.DOCUMENT_FIELDS}
        return [name for name in self.text.field_names if name not in other_fields]

    def read_document_field(self, field: str) -> list[str] | None:
        """Return an attribute of each segment's document that filters use, or None if unknown."""
        for name in (f"_{field}", field):
            if name in self.text.fields:
                return self.text.read_lines(name)
        return None

    @cached_property
    def annotations(self) -> list[str] | None:
        """The annotations that --subset matches, or None if there are none."""
        labels = catalogue.get_document_subsets(self.entry.name)
        if labels is None:
            return self.read_document_field("domain")
        names = self.read_document_field("docid")
        return None if names is None else [labels.get(name, "") for name in names]

    @property
    def domains(self) -> list[str] | None:
        """The domain of each segment's document, or None if unknown."""
        if (
            catalogue.get_document_subsets(self.entry.name) is not None
            and self.annotations is not None
        ):
            return [
                annotation.partition("-")[2].partition("-")[0] for annotation in self.annotations
            ]
        return self.read_document_field("domain")


def _shorten_reference(field: str) -> str:
    """Return the name of a reference without the prefix "ref:"; "ref" is unchanged."""
    return field.removeprefix("ref:")


class TestSet:
    """Source, references, documents and systems of a language pair, one string per segment."""

    __test__ = False  # not a test, despite its name

    def __init__(
        self,
        parts: Sequence[_TestSetPart],
        segment_indices: Sequence[int] | None,
        filters: Mapping[str, str],
        preferred: tuple[str, ...] | None = None,
    ) -> None:
        self._parts = parts
        self._segment_indices = segment_indices
        self._filters = filters
        self._preferred = preferred
        first_part, *other_parts = parts
        for part in other_parts:
            if len(part.preferred) != len(first_part.preferred):
                raise InputError(
                    "cannot concatenate test sets with different numbers of references: "
                    f"{first_part.entry.name} has {len(first_part.preferred)}, "
                    f"{part.entry.name} has {len(part.preferred)}"
                )

    def __repr__(self) -> str:
        return f"<{self.name} {self.langpair}: {format_count(len(self), 'segment')}>"

    def __len__(self) -> int:
        if self._segment_indices is not None:
            return len(self._segment_indices)
        return sum(len(part.text) for part in self._parts)

    @property
    def name(self) -> str:
        """The name, or several names separated by commas."""
        return ",".join(part.entry.name for part in self._parts)

    @property
    def langpair(self) -> str:
        """The language pair, such as "en-de"."""
        return self._parts[0].langpair

    def _select_segments(self, lines: list[str]) -> list[str]:
        return lines if self._segment_indices is None else [lines[i] for i in self._segment_indices]

    def _collect_values(
        self, read_part: Callable[[_TestSetPart], list[str] | None]
    ) -> list[str] | None:
        """Return the values of all concatenated test sets, or None if a test set has none."""
        collected: list[str] = []
        for part in self._parts:
            lines = read_part(part)
            if lines is None:
                return None
            collected += lines
        return self._select_segments(collected)

    @cached_property
    def source(self) -> list[str] | None:
        """The source, or None if the test set has no source text."""
        return self._collect_values(
            lambda part: part.text.read_lines("src") if "src" in part.text.fields else None
        )

    @cached_property
    def references(self) -> dict[str, list[str]]:
        """All references by name, such as "A"; an unnamed reference is called "ref".

        Concatenated test sets provide only the references to use.
        """
        if len(self._parts) == 1:
            (part,) = self._parts
            return {
                _shorten_reference(name): self._select_segments(part.text.read_lines(name))
                for name in part.references
            }
        joined_names = zip(*(part.preferred for part in self._parts), strict=True)
        by_name = {}
        for names in joined_names:
            lines = [
                line
                for part, name in zip(self._parts, names, strict=True)
                for line in part.text.read_lines(name)
            ]
            by_name[_shorten_reference(names[0])] = self._select_segments(lines)
        return by_name

    @property
    def preferred(self) -> tuple[str, ...]:
        """The names of the references to use."""
        if self._preferred is not None:
            return self._preferred
        return tuple(map(_shorten_reference, self._parts[0].preferred))

    @cached_property
    def documents(self) -> list[str] | None:
        """The document name of each segment, or None if unknown."""
        return self._collect_values(lambda part: part.read_document_field("docid"))

    @cached_property
    def origlangs(self) -> list[str] | None:
        """The original language of each segment's document, or None if unknown."""
        return self._collect_values(lambda part: part.read_document_field("origlang"))

    @cached_property
    def domains(self) -> list[str] | None:
        """The domain of each segment's document, or None if unknown."""
        return self._collect_values(lambda part: part.domains)

    @cached_property
    def systems(self) -> Mapping[str, list[str]]:
        """The system outputs in the test set, by system name, read on access."""
        first_part, *other_parts = self._parts
        names = [
            name
            for name in first_part.systems
            if all(name in other_part.systems for other_part in other_parts)
        ]
        return _SystemOutputs(
            names, lambda name: self._collect_values(lambda part: part.text.read_lines(name)) or []
        )

    @property
    def licence(self) -> str | None:
        """The licence of the texts, or None if unknown."""
        return "; ".join(filter(None, (part.entry.licence for part in self._parts))) or None

    @property
    def citation(self) -> str | None:
        """The citation in BibTeX, or None if unknown."""
        citations = dict.fromkeys(part.entry.bibtex for part in self._parts)
        return "\n".join(filter(None, citations)) or None

    @property
    def signature(self) -> dict[str, str]:
        """The fields of a score's signature: test, lang, refs and filters."""
        fields = {"test": self.name, "lang": self.langpair}
        if self.preferred != ("ref",):
            fields["refs"] = ",".join(self.preferred)
        for part in self._parts:
            fields |= part.entry.signature
        return {**fields, **self._filters}

    @property
    def unfiltered(self) -> TestSet:
        """The test set without filters."""
        if self._segment_indices is None:
            return self
        return TestSet(self._parts, None, {}, self._preferred)

    @cached_property
    def sha256(self) -> dict[str, str]:
        """The SHA-256 of each reference to use, as UTF-8 lines with final newlines."""
        return {name: cache.hash_lines(self.references[name]) for name in self.preferred}

    def with_references(self, references: Sequence[str]) -> TestSet:
        """Return a copy that uses other references; raise InputError for unknown names."""
        selection = [references] if isinstance(references, str) else references
        names = [_shorten_reference(name) for name in selection]
        for name in names:
            if name not in self.references:
                raise InputError(
                    f"{self.name} {self.langpair} has no reference {name}"
                    f"{suggest_names(name, self.references)}"
                )
        return TestSet(self._parts, self._segment_indices, self._filters, tuple(names))

    def where(
        self,
        origlang: str | None = None,
        domain: str | None = None,
        documents: Sequence[str] | None = None,
        subset: str | None = None,
    ) -> TestSet:
        """Return the segments of selected documents.

        origlang: the original language; "non-en" selects all languages except English.
        domain: the domain. documents: the document names.
        subset: a regular expression to search for in the domain, or with the prefix "country:" in
        the country of the document, as with sacreBLEU's --subset.

        Raises InputError if the attribute is unknown for the test set, or if no segments match.
        """
        indices = (
            set(range(len(self))) if self._segment_indices is None else set(self._segment_indices)
        )
        if origlang is not None:
            values = self._require_values("origlangs", "origlang")
            language = origlang.removeprefix("non-")
            indices &= {
                i
                for i, annotation in enumerate(values)
                if (annotation == language) != (language != origlang)
            }
        if domain is not None:
            values = self._require_values("domains", "domain")
            indices &= {i for i, one in enumerate(values) if one == domain}
        if documents is not None:
            values = self._require_values("documents", "documents")
            names = {documents} if isinstance(documents, str) else set(documents)
            for name in sorted(names.difference(values)):
                raise InputError(f"{self.name} {self.langpair} has no document {name}")
            indices &= {i for i, one in enumerate(values) if one in names}
        if subset is not None:
            indices &= self._match_subset(subset)
        filters = {"origlang": origlang, "domain": domain, "subset": subset}
        active_filters = {key: value for key, value in filters.items() if value is not None}
        if documents is not None:
            active_filters["documents"] = ",".join(sorted(names))
        if not indices:
            description = " and ".join(f"{name} {value}" for name, value in active_filters.items())
            raise InputError(f"{self.name} {self.langpair}: no segments match {description}")
        return TestSet(
            self._parts, sorted(indices), {**self._filters, **active_filters}, self._preferred
        )

    def _require_values(self, attribute: str, option: str) -> list[str]:
        values: list[str] | None = getattr(self.unfiltered, attribute)
        if values is None:
            raise InputError(f"{option}: the documents of {self.name} do not have this attribute")
        return values

    def _match_subset(self, subset: str) -> set[int]:
        try:
            pattern = re.compile(subset.removeprefix(COUNTRY_PREFIX))
        except re.error as error:
            raise InputError(f"subset {subset!r} is not a regular expression: {error}") from None
        offset, indices = 0, set()
        for part in self._parts:
            annotations = part.annotations
            if annotations is None:
                raise InputError(f"subset: {part.entry.name} has no document annotations")
            is_xml = part.entry.kind not in ("FakeSGML", "WMTAddition")
            for number, annotation in enumerate(annotations, offset):
                # A document without a domain is never selected, even if the pattern matches "".
                if (annotation or not is_xml) and pattern.search(annotation):
                    indices.add(number)
            offset += len(annotations)
        return indices

    @property
    def segment_mask(self) -> list[bool] | None:
        """Mask of the selected segments of the unfiltered set, or None if there are no filters."""
        if self._segment_indices is None:
            return None
        indices = set(self._segment_indices)
        return [number in indices for number in range(sum(len(part.text) for part in self._parts))]

    @property
    def fields(self) -> list[str]:
        """The field names that `path` accepts. A concatenation has the first set's field names."""
        return self._parts[0].text.field_names

    def read_field(self, name: str) -> list[str]:
        """Return the lines of a field: "src", "ref:A" or "A", "docid", or a system name.

        "ref" is the first reference to use. Raises InputError for an unknown field.
        """
        field = self._resolve_field(name)
        if (
            field not in ("src", *file_readers.DOCUMENT_FIELDS)
            and _shorten_reference(field) in self.references
        ):
            return self.references[_shorten_reference(field)]
        lines = self._collect_values(
            lambda part: part.text.read_lines(field) if field in part.text.fields else None
        )
        if lines is None:
            raise InputError(f"field '{name}' is missing from at least one of {self.name}")
        return lines

    def path(self, field: str) -> str:
        """Return the path of a field's file, with one line per segment.

        field: "src", "ref:A", "docid", or a system name. Raises InputError for filtered or
        concatenated test sets, which have no files.
        """
        if len(self._parts) != 1 or self._segment_indices is not None:
            raise InputError(f"{self!r} has no files (expected one test set without filters)")
        return self._parts[0].text.get_path(self._resolve_field(field))

    def _resolve_field(self, field: str) -> str:
        """Return the full name of a field; raise InputError for an unknown one."""
        fields = self.fields
        if field == "ref" and "ref" not in fields and self.preferred:
            return file_readers.format_reference_field(self.preferred[0])
        for name in (field, f"ref:{field}"):
            if name in fields:
                return name
        raise InputError(
            f"{self.name} {self.langpair} has no field {field}{suggest_names(field, fields)}"
        )


class _SystemOutputs(Mapping[str, "list[str]"]):
    """Mapping from system names to outputs, which are read on access."""

    def __init__(self, names: Sequence[str], read_output: Callable[[str], list[str]]) -> None:
        self._names = names
        self._read_output = read_output

    def __getitem__(self, name: str) -> list[str]:
        if name not in self._names:
            raise KeyError(name)
        return self._read_output(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
