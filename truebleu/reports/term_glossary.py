"""A glossary: in which segments the source has a term, and which systems used the wanted one.

A term is found as whole words: beside it stands no letter, digit or combining mark, unless its own
end is in a script that puts no space between words. Case does not count, but in a term of two or
more letters that is all capitals ("IT", "WHO"), whose small letters would be another word. White
space of any kind and length is one space. Of terms that lie in each other the longest counts:
"machine learning" is not "machine". Other inflections are other terms; each may have a line.
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

# Scripts that put no space between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Han.
# term_table.js has them, too.
UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
BLOCK = "terms"


class Term(NamedTuple):
    """A term of the source, and what it is to be called: each of the targets will do."""

    source: str
    targets: tuple[str, ...]


# ---- what somebody gives ----


def given(value: Any) -> tuple[list[Term], str]:
    """The terms of a file, a mapping or pairs, and what to call them.

    Several wanted terms of the same source term are choices. Raises InputError, which names the
    line, for one that is not a source term, a tab and a target term, or that is there twice.
    """
    found: dict[str, dict[str, int]] = {}
    lines, role, name = _lines(value)
    unit = "line" if segments.is_file(value) else "pair"
    for number, fields in lines:
        source, target = _pair(f"{role}, {unit} {number}", fields)
        targets = found.setdefault(source, {})
        if target in targets:
            raise InputError(
                f"{role}, {unit} {number}: {source!r} as {target!r} is in {unit} "
                f"{targets[target]} already"
            )
        targets[target] = number
    if not found:
        raise InputError(f"{role}: there are no terms in it")
    return [Term(source, tuple(targets)) for source, targets in found.items()], name


def _lines(value: Any) -> tuple[Iterable[tuple[int, Any]], str, str]:
    """The fields of each line, what messages call all of them, and what a page does."""
    if segments.is_file(value):
        file = segments.as_file(value)
        # An empty line parts the terms for whoever reads the file.
        kept = ((n, fields) for n, fields in segments.read_numbered_rows(file) if fields != [""])
        return kept, file.format_label("terms"), segments.get_file_name(value) or "a file"
    pairs = value.items() if hasattr(value, "items") else value
    if isinstance(pairs, str | bytes) or not hasattr(pairs, "__iter__"):
        raise TypeError(
            "terms: expected a mapping from source terms to target terms, pairs of them, or a "
            f"file, not {type(value).__name__}"
        )
    return enumerate(pairs, 1), "terms", "given terms"


def _pair(where: str, fields: Any) -> tuple[str, str]:
    words = list(fields) if isinstance(fields, list | tuple) else []
    if len(words) != 2 or not all(isinstance(word, str) for word in words):
        line = all(isinstance(word, str) for word in words) and isinstance(fields, list)
        seen = "\t".join(words) if line else fields
        raise InputError(
            f"{where}: expected a source term, a tab and a target term, not {str(seen)[:80]!r}"
        )
    source, target = (" ".join(word.split()) for word in words)
    if not source or not target:
        raise InputError(f"{where}: the {'target' if source else 'source'} term is empty")
    return source, target


# ---- finding ----


class Text:
    """A text as terms are looked for in it."""

    __slots__ = ("plain", "small")

    def __init__(self, text: bytes | None) -> None:
        plain = "" if text is None else text.decode("utf-8", "surrogatepass")
        # Nearly all text has single spaces already.
        self.plain = " ".join(plain.split())
        self.small = small(self.plain)


def small(text: str) -> str:
    """A text in small letters, as long as it is."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def finder(term: str) -> Callable[[Text], Iterator[tuple[int, int]]]:
    """A function that gives the places of a term in a text."""
    exact = term.isupper() and sum(map(str.isupper, term)) > 1
    wanted = term if exact else small(term)
    before, behind = joins(wanted[0]), joins(wanted[-1])
    size = len(wanted)

    def places(text: Text) -> Iterator[tuple[int, int]]:
        there = text.plain if exact else text.small
        at = there.find(wanted)
        while at >= 0:
            end = at + size
            left = before and at > 0 and joins(there[at - 1])
            right = behind and end < len(there) and joins(there[end])
            if not left and not right:
                yield at, end
            at = there.find(wanted, at + 1)

    return places


def joins(letter: str) -> bool:
    """True if a letter makes what stands beside it a part of its word."""
    return category(letter)[0] in "LNM" and not UNSPACED.match(letter)


_WORD = re.compile(r"\w+")


class Index:
    """The terms that a text may have, by their first word, where they begin with one."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._finders = [finder(term.source) for term in terms]
        self._by_word: dict[str, list[int]] = {}
        self._always: list[int] = []
        for k, term in enumerate(terms):
            first = small(term.source)
            word = _WORD.match(first)
            # Marks and letters without spaces between words are no words to look up.
            if word and word[0].isascii() and not first[word.end() :][:1].strip(" -'’.,/"):
                self._by_word.setdefault(word[0], []).append(k)
            else:
                self._always.append(k)

    def of(self, text: Text) -> list[int]:
        """The terms that a text has, but none that is there only within a longer one."""
        possible = [*self._always]
        words: set[str] = set(_WORD.findall(text.small))
        for word in self._by_word.keys() & words:
            possible += self._by_word[word]
        places = [(start, end, k) for k in possible for start, end in self._finders[k](text)]
        return sorted(
            {
                k
                for start, end, k in places
                if not any(a <= start and end <= b and b - a > end - start for a, b, _ in places)
            }
        )


# ---- counting ----


def counted(
    terms: Sequence[Term], name: str, source: Texts, systems: Mapping[str, Texts], *, redacted: bool
) -> tuple[dict[str, Any], bytes]:
    """The manifest's entry of a glossary, and the block of its segments.

    In a segment a term counts once, however often it is there. The block is JSON: for each term the
    segments whose source has it, and for each system those of them in which it did not use a wanted
    term. Terms are text: of a redacted page there are the numbers alone.
    """
    index = Index(terms)
    wanted = [[finder(target) for target in term.targets] for term in terms]
    there: list[list[int]] = [[] for _ in terms]
    missed: list[list[list[int]]] = [[[] for _ in systems] for _ in terms]
    for i, (text, *outputs) in enumerate(zip(source, *systems.values(), strict=True)):
        own = index.of(Text(text))
        if not own:
            continue
        texts = [Text(output) for output in outputs]
        for k in own:
            there[k].append(i)
            for s, output in enumerate(texts):
                if not any(next(places(output), None) for places in wanted[k]):
                    missed[k][s].append(i)

    def used(k: int) -> dict[str, int]:
        return {system: len(there[k]) - len(missed[k][s]) for s, system in enumerate(systems)}

    entries: list[dict[str, Any]] = [
        {
            "source": None if redacted else term.source,
            "targets": None if redacted else list(term.targets),
            "segments": len(there[k]),
            "used": used(k),
        }
        for k, term in enumerate(terms)
    ]
    told = {
        "name": name,
        "found": sum(map(len, there)),
        "used": {system: sum(one["used"][system] for one in entries) for system in systems},
        "segments": len(set().union(*there)),
        "terms": entries,
        "block": BLOCK,
    }
    block = [[there[k], missed[k]] for k in range(len(terms))]
    return told, payload.json_text(block).encode()
