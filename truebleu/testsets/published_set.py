"""`testset`: a published test set by its name, with its source, references and documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from truebleu._kernel import InputError
from truebleu.testsets import cache, catalogue, file_readers
from truebleu.testsets.catalogue import Entry
from truebleu.text import download
from truebleu.text.argument_checks import suggest_names

# What a subset begins with that names a country, as sacreBLEU has it.
COUNTRY = "country:"


def testset(
    name: str,
    langpair: str,
    *,
    references: Sequence[str] | None = None,
    offline: bool | None = None,
    mirror: str | None = None,
    registry: str | None = None,
) -> TestSet:
    """A published test set, which is downloaded if it is not here.

    name: as in `truebleu testset list`: "wmt22"; several with commas between them are one after
    the other.
    langpair: "en-de".
    references: which to use, such as ["A", "B"]; without it those that the set prefers.
    offline: whether downloads are forbidden; mirror: an address that is asked first. Without them
    TRUEBLEU_OFFLINE and TRUEBLEU_MIRROR decide.
    registry: a file of test sets of one's own, beside those in
    $XDG_CONFIG_HOME/truebleu/testsets.

    Raises InputError for what there is not, with the nearest; DownloadError and OfflineError, which
    are InputErrors, for what cannot be fetched.

    >>> testset("wmt222", "en-de")
    Traceback (most recent call last):
    truebleu.InputError: there is no test set wmt222; did you mean wmt22? `truebleu ...
    """
    found = [catalogue.entry(each, registry) for each in name.split(",")]
    with download.override_settings(offline=offline, mirror=mirror):
        parts = [_Part(each, each.pair(langpair)) for each in found]
    whole = TestSet(parts, None, {})
    return whole if references is None else whole.preferring(references)


testset.__test__ = False  # type: ignore[attr-defined] # no test, though its name begins like one


class _Part:
    """One test set of those that are one after the other, unfiltered."""

    def __init__(self, entry: Entry, langpair: str) -> None:
        self.entry = entry
        self.langpair = langpair
        self.text = cache.opened(entry, langpair)
        self.references = [name for name in self.text.names if re.match("ref(:|$)", name)]

    @property
    def preferred(self) -> list[str]:
        """The references to use, as fields."""
        named = self.entry.preferred(self.langpair)
        if named is None:
            return self.references
        allowed = [file_readers.reference(each) for each in named]
        return [name for name in self.references if name in allowed]

    @property
    def systems(self) -> list[str]:
        """The fields that are systems' outputs."""
        known = {"src", *self.references, *file_readers.OF_DOCUMENTS}
        return [name for name in self.text.names if name not in known]

    def lines(self, field: str) -> list[str]:
        """The lines of a field, which is there."""
        return self.text.lines(field)

    def of_documents(self, field: str) -> list[str] | None:
        """Something of each segment's document, as filters see it; None if it is not known."""
        for name in (f"_{field}", field):
            if name in self.text.fields:
                return self.lines(name)
        return None

    @cached_property
    def annotations(self) -> list[str] | None:
        """What --subset is matched with; None if nothing is known of documents."""
        known = catalogue.subsets(self.entry.name)
        if known is None:
            return self.of_documents("domain")
        named = self.of_documents("docid")
        return None if named is None else [known.get(each, "") for each in named]

    @property
    def domains(self) -> list[str] | None:
        """The domain of each segment's document."""
        if catalogue.subsets(self.entry.name) is not None and self.annotations is not None:
            return [each.partition("-")[2].partition("-")[0] for each in self.annotations]
        return self.of_documents("domain")


def _short(field: str) -> str:
    """A reference's name without the field's: "A" for "ref:A"; "ref" is its own."""
    return field.removeprefix("ref:")


class TestSet:
    """Source, references, documents and systems of a language pair, a string for each segment."""

    __test__ = False  # not a test, though its name begins like one

    def __init__(
        self,
        parts: Sequence[_Part],
        kept: Sequence[int] | None,
        filters: Mapping[str, str],
        preferred: tuple[str, ...] | None = None,
    ) -> None:
        self._parts = parts
        self._kept = kept
        self._filters = filters
        self._preferred = preferred
        first, *others = parts
        for other in others:
            if len(other.preferred) != len(first.preferred):
                raise InputError(
                    f"{other.entry.name} has {len(other.preferred)} references and "
                    f"{first.entry.name} {len(first.preferred)}: they cannot be one after the other"
                )

    def __repr__(self) -> str:
        return f"<{self.name} {self.langpair}: {len(self):,} segments>"

    def __len__(self) -> int:
        return (
            sum(len(part.text) for part in self._parts) if self._kept is None else len(self._kept)
        )

    @property
    def name(self) -> str:
        """The name, or the names with commas between them."""
        return ",".join(part.entry.name for part in self._parts)

    @property
    def langpair(self) -> str:
        """The language pair, as in "en-de"."""
        return self._parts[0].langpair

    def _selected(self, lines: list[str]) -> list[str]:
        return lines if self._kept is None else [lines[number] for number in self._kept]

    def _all(self, of: Callable[[_Part], list[str] | None]) -> list[str] | None:
        """Something of each segment, in all parts; None if one part does not have it."""
        found: list[str] = []
        for part in self._parts:
            lines = of(part)
            if lines is None:
                return None
            found += lines
        return self._selected(found)

    @cached_property
    def source(self) -> list[str] | None:
        """The source; None if the set has none as text."""
        return self._all(lambda part: part.lines("src") if "src" in part.text.fields else None)

    @cached_property
    def references(self) -> dict[str, list[str]]:
        """All references by their names: "A"; "ref" where there is one without a name.

        Where several sets are one after the other: those to use, one after the other.
        """
        if len(self._parts) == 1:
            (part,) = self._parts
            return {_short(name): self._selected(part.lines(name)) for name in part.references}
        joined = zip(*(part.preferred for part in self._parts), strict=True)
        found = {}
        for names in joined:
            lines = [
                line
                for part, name in zip(self._parts, names, strict=True)
                for line in part.lines(name)
            ]
            found[_short(names[0])] = self._selected(lines)
        return found

    @property
    def preferred(self) -> tuple[str, ...]:
        """The names of the references to use."""
        if self._preferred is not None:
            return self._preferred
        return tuple(map(_short, self._parts[0].preferred))

    @cached_property
    def documents(self) -> list[str] | None:
        """The name of each segment's document; None if the set does not say it."""
        return self._all(lambda part: part.of_documents("docid"))

    @cached_property
    def origlangs(self) -> list[str] | None:
        """The language that each segment's document was written in."""
        return self._all(lambda part: part.of_documents("origlang"))

    @cached_property
    def domains(self) -> list[str] | None:
        """The domain of each segment's document."""
        return self._all(lambda part: part.domains)

    @cached_property
    def systems(self) -> Mapping[str, list[str]]:
        """The outputs that come with the set, by systems' names; read when they are asked for."""
        first, *others = self._parts
        names = [name for name in first.systems if all(name in each.systems for each in others)]
        return _Systems(names, lambda name: self._all(lambda part: part.lines(name)) or [])

    @property
    def licence(self) -> str | None:
        """What may be done with the texts, if it is known."""
        return "; ".join(filter(None, (part.entry.licence for part in self._parts))) or None

    @property
    def citation(self) -> str | None:
        """What to cite, in BibTeX."""
        return "\n".join(filter(None, (part.entry.citation for part in self._parts))) or None

    @property
    def signature(self) -> dict[str, str]:
        """What a score's signature says of the set: test, lang, refs, and filters."""
        about = {"test": self.name, "lang": self.langpair}
        if self.preferred != ("ref",):
            about["refs"] = ",".join(self.preferred)
        for part in self._parts:
            about |= part.entry.signature
        return {**about, **self._filters}

    @property
    def whole(self) -> TestSet:
        """The same without filters."""
        return self if self._kept is None else TestSet(self._parts, None, {}, self._preferred)

    @cached_property
    def sha256(self) -> dict[str, str]:
        """The SHA-256 of each reference to use, its lines in UTF-8 with a newline behind each."""
        return {name: cache.sum_of(self.references[name]) for name in self.preferred}

    def preferring(self, references: Sequence[str]) -> TestSet:
        """The same with other references to use."""
        given = [references] if isinstance(references, str) else references
        names = [_short(name) for name in given]
        for name in names:
            if name not in self.references:
                raise InputError(
                    f"{self.name} {self.langpair} has no reference {name}"
                    f"{suggest_names(name, self.references)}"
                )
        return TestSet(self._parts, self._kept, self._filters, tuple(names))

    def where(
        self,
        origlang: str | None = None,
        domain: str | None = None,
        documents: Sequence[str] | None = None,
        subset: str | None = None,
    ) -> TestSet:
        """The segments of some documents.

        origlang: the language that they were written in; "non-en" is all others.
        domain: their domain. documents: their names.
        subset: a regular expression that is searched for in their domain, or after "country:" in
        the country that they are about, as with sacreBLEU's --subset.

        Raises InputError if the set does not say that of its documents, or if nothing is left.
        """
        keep = set(range(len(self))) if self._kept is None else set(self._kept)
        if origlang is not None:
            found = self._known("origlangs", "origlang")
            wanted = origlang.removeprefix("non-")
            keep &= {i for i, one in enumerate(found) if (one == wanted) != (wanted != origlang)}
        if domain is not None:
            found = self._known("domains", "domain")
            keep &= {i for i, one in enumerate(found) if one == domain}
        if documents is not None:
            found = self._known("documents", "documents")
            named = {documents} if isinstance(documents, str) else set(documents)
            for name in sorted(named.difference(found)):
                raise InputError(f"{self.name} {self.langpair} has no document {name}")
            keep &= {i for i, one in enumerate(found) if one in named}
        if subset is not None:
            keep &= self._matching(subset)
        filters = {"origlang": origlang, "domain": domain, "subset": subset}
        said = {key: value for key, value in filters.items() if value is not None}
        if documents is not None:
            said["documents"] = ",".join(sorted(named))
        if not keep:
            told = " and ".join(f"{name} {value}" for name, value in said.items())
            raise InputError(f"{self.name} {self.langpair}: no segment is left with {told}")
        return TestSet(self._parts, sorted(keep), {**self._filters, **said}, self._preferred)

    def _known(self, what: str, option: str) -> list[str]:
        found: list[str] | None = getattr(self.whole, what)
        if found is None:
            raise InputError(f"{option}: {self.name} does not say it of its documents")
        return found

    def _matching(self, subset: str) -> set[int]:
        try:
            pattern = re.compile(subset.removeprefix(COUNTRY))
        except re.error as error:
            raise InputError(f"subset {subset!r} is not a regular expression: {error}") from None
        numbers, kept = 0, set()
        for part in self._parts:
            found = part.annotations
            if found is None:
                raise InputError(f"subset: {part.entry.name} has no annotation of its documents")
            is_xml = part.entry.kind not in ("FakeSGML", "WMTAddition")
            for number, about in enumerate(found, numbers):
                # A document without a domain is in none, whatever matches nothing.
                if (about or not is_xml) and pattern.search(about):
                    kept.add(number)
            numbers += len(found)
        return kept

    @property
    def kept(self) -> list[bool] | None:
        """For each segment of the whole, whether it is in this part; None for the whole."""
        if self._kept is None:
            return None
        kept = set(self._kept)
        return [number in kept for number in range(sum(len(part.text) for part in self._parts))]

    @property
    def fields(self) -> list[str]:
        """The names of all fields, as `path` takes them; those of the first of several sets."""
        return self._parts[0].text.names

    def field(self, name: str) -> list[str]:
        """The lines of a field: "src", "ref:A" or "A", "docid", a system's name.

        "ref" is the first reference to use. Raises InputError for an unknown one.
        """
        named = self._named(name)
        if named not in ("src", *file_readers.OF_DOCUMENTS) and _short(named) in self.references:
            return self.references[_short(named)]
        lines = self._all(lambda part: part.lines(named) if named in part.text.fields else None)
        if lines is None:
            raise InputError(f"not all of {self.name} have a field {name}")
        return lines

    def path(self, field: str) -> str:
        """The file of a field, a line for each segment: "src", "ref:A", "docid", a system's name.

        Raises InputError for a part of a set, or several, which no file has.
        """
        if len(self._parts) != 1 or self._kept is not None:
            raise InputError(f"{self!r} is in no file of its own: a whole set is")
        return self._parts[0].text.path(self._named(field))

    def _named(self, field: str) -> str:
        """A field by its name or a reference's."""
        known = self.fields
        if field == "ref" and "ref" not in known and self.preferred:
            return file_readers.reference(self.preferred[0])
        for name in (field, f"ref:{field}"):
            if name in known:
                return name
        raise InputError(
            f"{self.name} {self.langpair} has no field {field}{suggest_names(field, known)}"
        )


class _Systems(Mapping[str, "list[str]"]):
    """Systems by their names; their outputs are read when they are asked for."""

    def __init__(self, names: Sequence[str], read: Callable[[str], list[str]]) -> None:
        self._names = names
        self._read = read

    def __getitem__(self, name: str) -> list[str]:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
