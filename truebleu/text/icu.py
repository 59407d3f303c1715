"""Word segmentation by ICU (through icu4py), for languages in which it requires a dictionary.

The words depend on the ICU release, so signatures include it.

Unicode Standard Annex 29: Unicode text segmentation. https://unicode.org/reports/tr29/
"""

from __future__ import annotations

import re
from collections.abc import Callable

from truebleu._kernel import InputError


def get_tokenizer_function(name: str) -> Callable[[str], list[str]]:
    """Return a locale's tokenizer, which omits white space.

    Raises ImportError, with the package to install, if icu4py is missing, and InputError for an
    invalid locale.
    """
    locale = _parse_locale(name)
    _find_icu_release(name)
    from icu4py.breakers import WordBreaker

    def split_words(text: str) -> list[str]:
        # ICU does not accept lone surrogates.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return [word for word in WordBreaker(text, locale) if not word.isspace()]

    return split_words


def _parse_locale(name: str) -> str:
    locale = name.removeprefix("icu:")
    if not re.fullmatch("[A-Za-z]{2,8}([-_][A-Za-z0-9]{2,8})*", locale):
        raise InputError(f"tokenizer '{name}': invalid locale (expected, for example, icu:my_MM)")
    return locale


def _find_icu_release(name: str) -> str:
    """Return the ICU release; raise ImportError if icu4py is missing."""
    try:
        import icu4py
    except ImportError:
        raise ImportError(
            f"the tokenizer {name} is not installed: pip install 'truebleu[icu]'"
        ) from None
    return str(icu4py.icu_version)


def format_signature_label(name: str) -> str:
    """Return the tokenizer's name in signatures, including the ICU release."""
    return f"icu-{_find_icu_release(name)}-{_parse_locale(name)}"


def parse_signature_label(label: str) -> str:
    """Return the tokenizer name for a signature label; raise ValueError for another ICU release."""
    _, release, locale = (*label.split("-", 2), "", "")[:3]
    name = f"icu:{locale}"
    try:
        installed_release = _find_icu_release(name)
    except ImportError as error:
        raise ValueError(f"tok:{label}: {error}") from None
    if release != installed_release:
        raise ValueError(
            f"tok:{label} requires ICU {release}, but ICU {installed_release} is installed. "
            f"Pass tokenize='{name}' to use the installed release."
        )
    return name
