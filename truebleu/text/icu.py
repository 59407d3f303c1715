"""ICU's words, by the package icu4py: for languages whose words only a dictionary finds.

The words depend on the release of ICU, which is in signatures.

Unicode Standard Annex 29: Unicode text segmentation. https://unicode.org/reports/tr29/
"""

from __future__ import annotations

import re
from collections.abc import Callable

from truebleu._kernel import InputError


def get_function(name: str) -> Callable[[str], list[str]]:
    """The tokenizer of a locale, which leaves out what is white space.

    Raises ImportError, with what to install, without icu4py; InputError for no name of a locale.
    """
    locale = _parse_locale(name)
    _find_release(name)
    from icu4py.breakers import WordBreaker

    def words(text: str) -> list[str]:
        # ICU takes no half of a character.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return [word for word in WordBreaker(text, locale) if not word.isspace()]

    return words


def _parse_locale(name: str) -> str:
    locale = name.removeprefix("icu:")
    if not re.fullmatch("[A-Za-z]{2,8}([-_][A-Za-z0-9]{2,8})*", locale):
        raise InputError(f"the tokenizer {name}: expected a locale, as icu:th or icu:my_MM")
    return locale


def _find_release(name: str) -> str:
    """The release of ICU."""
    try:
        import icu4py
    except ImportError:
        raise ImportError(
            f"the tokenizer {name} is not installed: pip install 'truebleu[icu]'"
        ) from None
    return str(icu4py.icu_version)


def format_signature_label(name: str) -> str:
    """The tokenizer in signatures: with the release of ICU."""
    return f"icu-{_find_release(name)}-{_parse_locale(name)}"


def name_from_label(label: str) -> str:
    """The tokenizer of a label in a signature. Raises ValueError if another ICU made it."""
    _, release, locale = (*label.split("-", 2), "", "")[:3]
    name = f"icu:{locale}"
    try:
        installed_release = _find_release(name)
    except ImportError as error:
        raise ValueError(f"tok:{label}: {error}") from None
    if release != installed_release:
        raise ValueError(
            f"tok:{label} has the words of ICU {release}, and ICU {installed_release} is "
            "installed; for its "
            f"words give tokenize='{name}'"
        )
    return name
