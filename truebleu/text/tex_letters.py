r"""Conversion of non-ASCII letters and symbols to TeX commands in pdfLaTeX's default encoding.

>>> encode_tex("Popović, Nießen 2 × 3"), decode_tex(r"Popovi{\'c}, Nie{\ss}en")
("Popovi\\'{c}, Nie\\ss{}en 2 $\\times$ 3", 'Popović, Nießen')
"""

from __future__ import annotations

import re
import unicodedata

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
