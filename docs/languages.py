"""Build the page docs/languages.md, which lists the tokenizers in truebleu/text/languages.py."""

from __future__ import annotations

from page_helpers import fill_template

from truebleu.text import languages, tokenizers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.text.languages import LanguageKind

# Longer lists of languages are replaced by counts per script.
MAX_LISTED_NAMES = 40


NEEDS = {
    "ja-mecab": "`pip install 'truebleu[ja]'`",
    "ko-mecab": "`pip install 'truebleu[ko]'`",
    "icu:LOCALE": "`pip install 'truebleu[icu]'`",
    "mecab:FOLDER": "the folder",
    "spm:FILE": "the file",
}


def build_page() -> str:
    """Return the page docs/languages.md."""
    meanings = tokenizers.KERNEL_TOKENIZERS | {
        name: meaning for name, (_, meaning) in tokenizers.DATA_TOKENIZERS.items()
    }
    meanings["icu:LOCALE"] = tokenizers.PYTHON_TOKENIZERS["icu:LOCALE"][1]
    groups: dict[tuple[str, float, tuple[str, ...]], list[str]] = {}
    for rule in tokenizers.UNSPLIT_SCRIPTS.values():
        key = (rule.reason, rule.share, rule.recommended)
        groups.setdefault(key, []).append(rule.language.removeprefix("the "))
    *kinds, others = languages.LANGUAGE_KINDS
    return fill_template(
        "languages",
        kinds=kinds,
        others=others,
        list_names=_format_language_names,
        tokenizers=meanings,
        kernel_tokenizers=tokenizers.KERNEL_TOKENIZERS,
        NEEDS=NEEDS,
        groups=groups,
        one_sided=languages.MIN_VARIANT_SHARE,
    )


def _format_language_names(kind: LanguageKind) -> str:
    """Return the names of all languages of a kind, or counts per script if there are many."""
    by_script: dict[str, list[str]] = {}
    for scripts, language_codes in kind.languages.items():
        either = " or ".join(sorted(map(languages.format_script_name, scripts.split())))
        by_script.setdefault(either, []).extend(
            " ".join(x.split()[1:]) for x in language_codes.split(";")
        )
    if sum(map(len, by_script.values())) <= MAX_LISTED_NAMES:
        return ", ".join(name for names in by_script.values() for name in names)
    parts = [
        f"{len(names)} in {either}"
        for either, names in by_script.items()
        if either and len(names) > 1
    ]
    single_names = [name for names in by_script.values() if len(names) == 1 for name in names]
    return f"{', '.join(parts)}, and {', '.join(single_names)}"
