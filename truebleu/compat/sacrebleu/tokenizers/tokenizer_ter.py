"""Tercom's tokenizer, which TER is defined with."""

from __future__ import annotations

from truebleu._kernel import ter_alignment

from .tokenizer_base import GUARD, BaseTokenizer


class TercomTokenizer(BaseTokenizer):
    """White space separates tokens; the rest is optional.

    normalized: join hyphenated line ends, decode four entities, separate punctuation.
    no_punct: delete . , ? : ; ! " ( and ).
    asian_support: with `normalized`, Chinese characters and Asian punctuation stand alone; with
        `no_punct`, Asian punctuation is deleted too.
    case_sensitive: do not lower-case.
    """

    ASIAN_PUNCT = r"([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])"
    FULL_WIDTH_PUNCT = r"([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])"

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        self.options = {
            "normalized": normalized,
            "no_punct": no_punct,
            "asian_support": asian_support,
            "case_sensitive": case_sensitive,
        }

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return "tercom"

    def __call__(self, sent: str) -> str:
        """The tokens of a line, with spaces between them."""
        options = self.options
        if not (options["normalized"] or options["no_punct"]):
            return " ".join((sent if options["case_sensitive"] else sent.lower()).split())
        guard = GUARD if sent[-1:].isspace() else ""
        words = ter_alignment(sent + guard, "", **options)[0]
        return " ".join(words[:-1] if guard else words)
