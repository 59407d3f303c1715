"""Glossary checks: which segments have a source term, and which systems used its target term.

A term matches whole words: no letter, digit or combining mark may precede or follow it, except in
scripts without spaces between words. Matching ignores case, except for terms of two or more letters
in capitals ("IT", "WHO"), whose lower case is a different word. White space is normalized.
Among nested terms, only the longest counts: "machine learning" is not a use of "machine". Inflected
forms need separate entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from unicodedata import category

from truebleu._kernel import InputError
from truebleu.reports import payload
from truebleu.text import segments
from truebleu.text.segments import Texts

# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Han. Keep this
# list identical to `UNSPACED` in term_table.js.
UNSPACED_SCRIPTS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


class Term(NamedTuple):
    """Source term and its acceptable target terms."""

    source: str
    targets: tuple[str, ...]


# ---- input ----


def parse_glossary(value: Any) -> tuple[list[Term], str]:
    """Return the terms from a file, a mapping or pairs, and the name of the glossary.

    A source term may have several target terms, which are alternatives. Raises InputError, with the
    line number, for duplicate pairs, and for lines that are not a source term, a tab and a target
    term.
    """
    targets_by_source: dict[str, dict[str, int]] = {}
    entries: Iterable[tuple[int, Any]]
    if segments.is_file(value):
        file = segments.as_file(value)
        # Files may contain empty lines to separate groups of terms.
        entries = ((n, row) for n, row in segments.read_numbered_rows(file) if row != [""])
        role, unit = file.format_label("terms"), "line"
        name = segments.get_file_name(value) or "a file"
    else:
        pairs = value.items() if hasattr(value, "items") else value
        if isinstance(pairs, str | bytes) or not hasattr(pairs, "__iter__"):
            raise TypeError(
                "terms: expected a mapping from source terms to target terms, pairs of terms, or "
                f"a file, found {type(value).__name__}"
            )
        entries, role, unit, name = enumerate(pairs, 1), "terms", "pair", "given terms"
    for line_number, fields in entries:
        location = f"{role}, {unit} {line_number}"
        source, target = _parse_term_pair(location, fields)
        targets = targets_by_source.setdefault(source, {})
        if target in targets:
            raise InputError(
                f"{location}: duplicate term pair {source!r}, {target!r} (first in {unit} "
                f"{targets[target]})"
            )
        targets[target] = line_number
    if not targets_by_source:
        raise InputError(f"{role}: no terms found")
    return [Term(source, tuple(targets)) for source, targets in targets_by_source.items()], name


def _parse_term_pair(location: str, fields: Any) -> tuple[str, str]:
    words = list(fields) if isinstance(fields, list | tuple) else []
    if len(words) != 2 or not all(isinstance(word, str) for word in words):
        is_table_row = all(isinstance(word, str) for word in words) and isinstance(fields, list)
        quoted_entry = "\t".join(words) if is_table_row else fields
        raise InputError(
            f"{location}: expected a source term, a tab and a target term, found "
            f"{str(quoted_entry)[:80]!r}"
        )
    source, target = (" ".join(word.split()) for word in words)
    if not source or not target:
        raise InputError(f"{location}: the {'target' if source else 'source'} term is empty")
    return source, target


# ---- search ----


class SearchableText:
    """Text prepared for term searches."""

    __slots__ = ("lower_case", "original")

    def __init__(self, text: bytes | None) -> None:
        decoded = "" if text is None else text.decode("utf-8", "surrogatepass")
        self.original = " ".join(decoded.split())
        self.lower_case = lowercase_keeping_length(self.original)


def lowercase_keeping_length(text: str) -> str:
    """Return a text in lower case with unchanged length, so that positions stay valid."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def make_finder(term: str) -> Callable[[SearchableText], Iterator[tuple[int, int]]]:
    """Return a function that yields the start and end of each match of a term in a text."""
    is_case_sensitive = term.isupper() and sum(map(str.isupper, term)) > 1
    pattern = term if is_case_sensitive else lowercase_keeping_length(term)
    needs_boundary_before = continues_word(pattern[0])
    needs_boundary_after = continues_word(pattern[-1])
    size = len(pattern)

    def find_matches(text: SearchableText) -> Iterator[tuple[int, int]]:
        content = text.original if is_case_sensitive else text.lower_case
        start = content.find(pattern)
        while start >= 0:
            end = start + size
            joins_left = needs_boundary_before and start > 0 and continues_word(content[start - 1])
            joins_right = (
                needs_boundary_after and end < len(content) and continues_word(content[end])
            )
            if not joins_left and not joins_right:
                yield start, end
            start = content.find(pattern, start + 1)

    return find_matches


def continues_word(letter: str) -> bool:
    """Return whether a character forms a single word with an adjacent letter or digit."""
    return category(letter)[0] in "LNM" and not UNSPACED_SCRIPTS.match(letter)


_WORD = re.compile(r"\w+")


class TermIndex:
    """Index that finds terms by their first word."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._term_finders = [make_finder(term.source) for term in terms]
        self._terms_by_first_word: dict[str, list[int]] = {}
        self._terms_without_first_word: list[int] = []
        for k, term in enumerate(terms):
            lowered = lowercase_keeping_length(term.source)
            word = _WORD.match(lowered)
            # Terms that begin with punctuation or an unspaced script have no word to look up.
            if word and word[0].isascii() and not lowered[word.end() :][:1].strip(" -'’.,/"):
                self._terms_by_first_word.setdefault(word[0], []).append(k)
            else:
                self._terms_without_first_word.append(k)

    def find_terms(self, text: SearchableText) -> list[int]:
        """Return the indices of the terms in a text, except terms nested in longer matches."""
        candidates = [*self._terms_without_first_word]
        words: set[str] = set(_WORD.findall(text.lower_case))
        for word in self._terms_by_first_word.keys() & words:
            candidates += self._terms_by_first_word[word]
        spans = [(start, end, k) for k in candidates for start, end in self._term_finders[k](text)]
        return sorted(
            {
                k
                for start, end, k in spans
                if not any(a <= start and end <= b and b - a > end - start for a, b, _ in spans)
            }
        )


# ---- counting ----


def count_term_uses(
    terms: Sequence[Term],
    name: str,
    source: Texts,
    systems: Mapping[str, Texts],
    *,
    is_redacted: bool,
) -> tuple[dict[str, Any], bytes]:
    """Return the manifest entry of a glossary, and the block that lists the segments of its terms.

    A term counts at most once per segment. The block is JSON. For each term, it lists the segments
    whose source has the term, and per system the segments in which no target term was used. A
    redacted page omits the terms, which are text, but not the numbers.
    """
    index = TermIndex(terms)
    target_finders = [[make_finder(target) for target in term.targets] for term in terms]
    source_segments: list[list[int]] = [[] for _ in terms]
    missed_segments: list[list[list[int]]] = [[[] for _ in systems] for _ in terms]
    for i, (text, *outputs) in enumerate(zip(source, *systems.values(), strict=True)):
        segment_terms = index.find_terms(SearchableText(text))
        if not segment_terms:
            continue
        searchable_outputs = [SearchableText(output) for output in outputs]
        for k in segment_terms:
            source_segments[k].append(i)
            for s, output in enumerate(searchable_outputs):
                if not any(next(find_matches(output), None) for find_matches in target_finders[k]):
                    missed_segments[k][s].append(i)
    entries: list[dict[str, Any]] = [
        {
            "source": None if is_redacted else term.source,
            "targets": None if is_redacted else list(term.targets),
            "segments": len(source_segments[k]),
            "used": {
                system: len(source_segments[k]) - len(missed_segments[k][s])
                for s, system in enumerate(systems)
            },
        }
        for k, term in enumerate(terms)
    ]
    manifest_entry = {
        "name": name,
        "occurrences": sum(map(len, source_segments)),
        "used": {system: sum(one["used"][system] for one in entries) for system in systems},
        "segments": len(set().union(*source_segments)),
        "terms": entries,
        "block": "terms",
    }
    block = [[source_segments[k], missed_segments[k]] for k in range(len(terms))]
    return manifest_entry, payload.to_script_json(block).encode()
