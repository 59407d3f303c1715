"""Tercom's tokenizer, which TER is defined with."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# The substitutions of each option, each applied to the whole line before the next.
_WESTERN = (
    (r"""([ !"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])""", r" \1 "),
    # Possessives: the first cannot see the last word's, whose space the second does not need.
    (r"'s ", " 's "),
    (r"'s$", " 's"),
    # A period or comma, unless a digit stands before it; then unless one stands behind it.
    (r"([^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9])", r" \1 \2"),
    # A hyphen behind a digit.
    (r"([0-9])(-)", r"\1 \2 "),
)
_ASIAN_PUNCTUATION = (
    r"([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])",
    r"([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])",
)
# The definition has rules for kana too. They match lines of nothing but kana alone, and find none,
# because the line stands between spaces by then.
_ASIAN = (
    r"([\u4e00-\u9fff\u3400-\u4dbf])",
    r"([\u31c0-\u31ef\u2e80-\u2eff])",
    r"([\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f])",
    # Up to U+3F22 where U+32FF was meant: characters that already stand alone stay so.
    r"([\u3200-\u3f22])",
    *_ASIAN_PUNCTUATION,
)
_PUNCTUATION = r"""[.,?:;!"()]"""


class TercomTokenizer(BaseTokenizer):
    """White space separates tokens; the rest is optional.

    normalized: join hyphenated line ends, decode four entities, separate punctuation.
    no_punct: delete . , ? : ; ! " ( and ).
    asian_support: with `normalized`, Chinese characters and Asian punctuation stand alone; with
        `no_punct`, Asian punctuation is deleted too.
    case_sensitive: do not lower-case.
    """

    ASIAN_PUNCT, FULL_WIDTH_PUNCT = _ASIAN_PUNCTUATION

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        self._normalized = normalized
        self._no_punct = no_punct
        self._asian_support = asian_support
        self._case_sensitive = case_sensitive

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return "tercom"

    def __call__(self, sent: str) -> str:
        """The tokens of a line, with spaces between them."""
        if not sent:
            return ""
        if not self._case_sensitive:
            sent = sent.lower()
        if self._normalized:
            sent = _separate_western(sent)
            if self._asian_support:
                sent = _substitute(sent, [(pattern, r" \1 ") for pattern in _ASIAN])
        if self._no_punct:
            deleted = [_PUNCTUATION, *(_ASIAN_PUNCTUATION if self._asian_support else ())]
            sent = _substitute(sent, [(pattern, "") for pattern in deleted])
        return " ".join(sent.split())


def _separate_western(sent: str) -> str:
    # A hyphen that begins a line is what ends one in mteval: the definition's own slip.
    sent = sent.replace("\n-", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        sent = sent.replace(entity, character)
    return _substitute(f" {sent} ", _WESTERN)


def _substitute(sent: str, substitutions: Iterable[tuple[str, str]]) -> str:
    from re import sub

    for pattern, replacement in substitutions:
        sent = sub(pattern, replacement, sent)
    return sent
