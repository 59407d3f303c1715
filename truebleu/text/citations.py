"""Works to cite, by key: programs, and papers on metrics, tests and test sets.

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

# Maximum number of authors that a reference in prose names.
MAX_NAMED_AUTHORS = 4
# Patterns of a group in braces (with up to three levels of braces inside), a BibTeX entry, and a
# field of an entry.
_GROUP = r"\{[^{}]*\}"
for _ in range(3):
    _GROUP = rf"\{{(?:[^{{}}]|{_GROUP})*\}}"
ENTRY = re.compile(rf"@\w+\s*\{{\s*([^\s,{{}}]+)((?:[^{{}}]|{_GROUP})*)(\}}?)")
FIELD = re.compile(rf'\b(\w+)\s*=\s*({_GROUP}|"(?:[^"{{}}]|{_GROUP})*"|\w+)')


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
        # Names are "{Group}", "Family, Given" or "Given Family", and a group may contain "and".
        return [
            decode_tex(re.sub(r"^(?!\{.*\}$)(?:([^,]*),.*|.* )", r"\1", name))
            for name in re.split(r"\s+and\s+(?![^{]*\})", authors)
        ]

    @property
    def label(self) -> str:
        """The authors and the year, such as "Papineni et al., 2002"."""
        names = self.family_names
        authors = join_words(names) if len(names) < 3 else f"{names[0]} et al."
        return ", ".join(filter(None, (authors, self.fields.get("year"))))

    @property
    def reference(self) -> str:
        """The authors, the year and the title on one line."""
        names = self.family_names
        is_short = len(names) <= MAX_NAMED_AUTHORS and names[-1] != "others"
        authors = join_words(names) if is_short else f"{names[0]} et al."
        year = f" ({self.fields['year']})" if "year" in self.fields else ""
        return f"{authors}{year}: {decode_tex(self.fields.get('title', self.key))}"


def parse_bibtex(text: str) -> Iterator[Work]:
    """Yield the works in BibTeX text. Raise ValueError for an entry with unbalanced braces."""
    for entry in ENTRY.finditer(text):
        if not entry[3]:
            raise ValueError(f"BibTeX entry '{entry[1]}': missing closing brace")
        fields = {
            name.lower(): " ".join((value[1:-1] if value[0] in '{"' else value).split())
            for name, value in FIELD.findall(entry[2])
        }
        yield Work(entry[1], entry[0], fields)


@lru_cache(maxsize=1)
def load_works() -> dict[str, Work]:
    """Return all works that truebleu can cite, by key."""
    text = Path(__file__).with_name("citations.bib").read_text(encoding="utf-8")
    return {work.key: work for work in parse_bibtex(text.replace("@VERSION@", __version__))}


def get_work(key: str) -> Work:
    """Return the work with the given key."""
    return load_works()[key]


def format_bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of the works, separated by empty lines."""
    return "\n\n".join(get_work(key).bibtex for key in keys) + "\n"


def format_references(keys: Iterable[str]) -> str:
    """Return references to works for use in prose, separated by semicolons.

    >>> format_references(["post-2018-call"])
    'Post (2018): A Call for Clarity in Reporting BLEU Scores'
    """
    return "; ".join(get_work(key).reference for key in keys)


def expand_keys(citation: str) -> str:
    """Return the BibTeX entries of the keys in a text, or the text if it contains other words."""
    keys = citation.split()
    return format_bibtex(keys) if set(keys) <= load_works().keys() else citation
