"""Works to cite, by key: papers on metrics, tests and test sets, and programs.

citations.bib contains the entries; metrics, BLEU family members and test sets refer to the keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from truebleu._kernel import __version__
from truebleu.text.record import Record
from truebleu.text.terminal_layout import join_words
from truebleu.text.tex_letters import decode_tex

# References in prose name at most this many authors.
MAX_NAMED_AUTHORS = 4


class Work(Record):
    """A work to cite: its key, BibTeX entry and fields.

    >>> get_work("popovic-2015-chrf").label
    'Popović, 2015'
    """

    key: str
    bibtex: str
    fields: Mapping[str, str]

    @property
    def family_names(self) -> list[str]:
        """The family names of the authors; "others" stands for further authors."""
        authors = self.fields.get("author") or self.fields.get("editor", "")
        names = re.split(r"\s+and\s+", authors.strip())
        return [
            decode_tex(name if name.startswith("{") else name.partition(",")[0])
            if "," in name or name.startswith("{")
            else decode_tex(name.split(" ")[-1])
            for name in names
        ]

    @property
    def label(self) -> str:
        """The authors and the year, such as "Papineni et al., 2002"."""
        names = self.family_names
        year = self.fields.get("year", "")
        author_text = join_words(names) if len(names) < 3 else f"{names[0]} et al."
        return ", ".join(filter(None, (author_text, year)))

    @property
    def reference(self) -> str:
        """The authors, the year and the title in one line."""
        names = self.family_names
        if len(names) > MAX_NAMED_AUTHORS or names[-1] == "others":
            authors = f"{names[0]} et al."
        else:
            authors = join_words(names)
        year = f" ({self.fields['year']})" if "year" in self.fields else ""
        return f"{authors}{year}: {decode_tex(self.fields.get('title', self.key))}"


def parse_bibtex(text: str) -> Iterator[Work]:
    """Yield the works in BibTeX text. Raise ValueError for an entry with unbalanced braces."""
    position = 0
    while match := re.compile(r"@(\w+)\s*\{\s*([^\s,{}]+)\s*,?").search(text, position):
        end = _find_closing_brace(text, text.index("{", match.start()), match[2])
        yield Work(
            match[2],
            text[match.start() : end + 1],
            dict(_parse_fields(text[match.end() : end], match[2])),
        )
        position = end + 1


def _find_closing_brace(text: str, start: int, key: str) -> int:
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    raise ValueError(f"BibTeX entry '{key}': missing closing brace")


def _parse_fields(text: str, key: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the fields of an entry, without delimiters."""
    position = 0
    while match := re.compile(r'(\w+)\s*=\s*(?:(\{)|"|(\w+))').search(text, position):
        if match[3]:
            value, position = match[3], match.end()
        elif match[2]:
            position = _find_closing_brace(text, match.end() - 1, key) + 1
            value = text[match.end() : position - 1]
        else:
            position = match.end()
            while text[position : position + 1] not in ('"', ""):
                is_group = text[position] == "{"
                position = (_find_closing_brace(text, position, key) if is_group else position) + 1
            value = text[match.end() : position]
            position += 1
        yield match[1].lower(), " ".join(value.split())


@lru_cache(maxsize=1)
def load_works() -> dict[str, Work]:
    """Return all works that truebleu can cite, by key."""
    text = Path(__file__).with_name("citations.bib").read_text(encoding="utf-8")
    return {work.key: work for work in parse_bibtex(text.replace("@VERSION@", __version__))}


def get_work(key: str) -> Work:
    """Return the work with a key."""
    return load_works()[key]


def format_bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of the works, separated by empty lines."""
    return "\n\n".join(get_work(key).bibtex for key in keys) + "\n"


def format_references(keys: Iterable[str]) -> str:
    """Return references to some works in prose, separated by semicolons.

    >>> format_references(["post-2018-call"])
    'Post (2018): A Call for Clarity in Reporting BLEU Scores'
    """
    return "; ".join(get_work(key).reference for key in keys)


def expand_keys(citation: str) -> str:
    """Return BibTeX entries for the keys in a text, or the text if it contains other words."""
    keys = citation.split()
    return format_bibtex(keys) if set(keys) <= load_works().keys() else citation
