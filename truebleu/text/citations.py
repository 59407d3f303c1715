"""Works to cite, by key: programs, and papers on metrics, tests and test sets.

citations.bib contains the entries; metrics, BLEU family members and test sets refer to the keys.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from truebleu._kernel import __version__
from truebleu.text.argument_checks import Record
from truebleu.text.terminal_layout import join_words

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


def expand_keys(citation: str) -> str:
    """Return the BibTeX entries of the keys in a text, or the text if it contains other words."""
    keys = citation.split()
    return format_bibtex(keys) if set(keys) <= load_works().keys() else citation


# ---- letters in TeX ----


# TeX accents, keyed by combining character. The default encoding (OT1) has no ogonek.
ACCENTS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0331",
        "`'^~=u.\"rHvdcb",
        strict=True,
    )
)
# The beginning of the LaTeX code that shows the code point of a character without a TeX command.
CODE_POINT = r"\texttt{U+"


def _parse_letter_pairs(text: str) -> dict[str, str]:
    """Parse pairs such as "ß=ss" into a mapping from characters to names."""
    return dict(pair.split("=") for pair in text.split())


# Letters that do not consist of a base letter and an accent.
LETTERS = _parse_letter_pairs("ß=ss æ=ae Æ=AE œ=oe Œ=OE ø=o Ø=O ł=l Ł=L ı=i")
_MATH = _parse_letter_pairs(
    """
    α=alpha β=beta γ=gamma δ=delta ε=varepsilon ζ=zeta η=eta θ=theta κ=kappa λ=lambda μ=mu µ=mu
    ν=nu ξ=xi π=pi ρ=rho σ=sigma τ=tau φ=varphi χ=chi ψ=psi ω=omega Γ=Gamma Δ=Delta Θ=Theta
    Λ=Lambda Ξ=Xi Π=Pi Σ=Sigma Φ=Phi Ψ=Psi Ω=Omega ±=pm ×=times ÷=div ·=cdot ∞=infty √=surd ≥=ge
    ≤=le ≠=ne ≈=approx →=rightarrow ←=leftarrow ↑=uparrow ↓=downarrow †=dagger ‡=ddagger •=bullet
    """
)
SYMBOLS = {
    **{letter: f"\\{name}{{}}" for letter, name in LETTERS.items()},
    **{sign: f"$\\{name}$" for sign, name in _MATH.items()},
    **_parse_letter_pairs(
        r"−=$-$ –=-- —=--- ‘=` ’=' “=`` ”='' „=,, …=\dots{} §=\S{} ¶=\P{} ©=\copyright{}"
    ),
    **_parse_letter_pairs(r"£=\pounds{} °=$^\circ$ ¡=!` ¿=?` ¹=$^1$ ²=$^2$ ³=$^3$"),
    "\u00a0": "~",
}


def encode_tex(text: str, *, ascii_only: bool = True) -> str:
    r"""Convert the non-ASCII letters and symbols of a text to TeX commands.

    ascii_only: a letter without a TeX command loses its accent, and any other character, such as a
        Chinese character, becomes its code point in typewriter type: `\texttt{U+4E2D}`. Otherwise,
        such letters and characters are kept.

    >>> encode_tex("Popović, Nießen 2 × 3"), decode_tex(r"Popovi{\'c}, Nie{\ss}en")
    ("Popovi\\'{c}, Nie\\ss{}en 2 $\\times$ 3", 'Popović, Nießen')
    """
    if text.isascii():
        return text
    encoded = re.sub(
        r"[^\x00-\x7f]", lambda match: _encode_character(match[0], ascii_only=ascii_only), text
    )
    return encoded.replace(f"}}{CODE_POINT}", " U+")


def _encode_character(character: str, *, ascii_only: bool) -> str:
    if character in SYMBOLS:
        return SYMBOLS[character]
    base, *marks = list(unicodedata.normalize("NFKD", character))
    accent = ACCENTS.get(marks[0]) if marks and base.isascii() else None
    # TeX puts only one accent on a letter.
    if accent is not None and (len(marks) == 1 or ascii_only):
        return f"\\{accent}{{{base}}}"
    if not ascii_only:
        return character
    if base.isascii() and base.isalnum() and not any(map(str.isascii, marks)):
        return base
    return f"{CODE_POINT}{ord(character):04X}}}"


_BY_TEX_ACCENT = {accent: mark for mark, accent in ACCENTS.items()}
_BY_TEX_NAME = {name: letter for letter, name in LETTERS.items()}
_TEX_LETTER = re.compile(
    r"""\\(?:([`'^~=."]|[uvHrdcb](?=[\s{]))\s*\{?\\?([A-Za-z])\}?|"""
    rf"({'|'.join(_BY_TEX_NAME)})\b\s*(?:\{{\}})?)"
)


def decode_tex(text: str) -> str:
    r"""Convert the text of a BibTeX field to Unicode, without braces.

    >>> decode_tex(r"{\'E}. S{\o}gaard, \v{R}ezn{\'{\i}}{\v c}ek and Rojas {--} {BLEU} \& more")
    'É. Søgaard, Řezníček and Rojas – BLEU & more'
    """

    def decode_letter(match: re.Match[str]) -> str:
        if match[3]:
            return _BY_TEX_NAME[match[3]]
        return unicodedata.normalize("NFC", match[2] + _BY_TEX_ACCENT[match[1]])

    text = re.sub(r"[{}]|\\(?=[&%$#_])", "", _TEX_LETTER.sub(decode_letter, text))
    return " ".join(text.replace("---", "—").replace("--", "–").replace("~", " ").split())
