"""Build the page docs/languages.md, which lists the tokenizers in truebleu/text/languages.py."""

from __future__ import annotations

from page_helpers import fill_template, format_table, render_code

from truebleu.text import languages, tokenizers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.text.languages import LanguageKind

# Longer lists of languages are replaced by counts per script.
MAX_LISTED_NAMES = 40


def build_page() -> str:
    """Return the page docs/languages.md."""
    return fill_template(
        "languages",
        kinds=_format_kind_table(),
        names=_format_language_names(languages.LANGUAGE_KINDS[-1]),
        tokenizers=_format_tokenizer_table(),
        signs=_format_script_table(),
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


def _format_kind_table() -> str:
    rows = [
        [
            _format_language_names(kind),
            render_code(kind.tokenizer),
            ", else ".join(map(render_code, kind.recommended)) or "no BLEU",
            ", ".join(map(render_code, kind.also_report)),
            kind.reason.replace("|", "\\|"),
        ]
        for kind in languages.LANGUAGE_KINDS[:-1]
    ]
    return format_table(
        ["language", "`-l` selects", "recommended", "also report", "reason"], rows, left_aligned=5
    )


def _format_tokenizer_table() -> str:
    tokenizer_meanings = tokenizers.KERNEL_TOKENIZERS | {
        name: what for name, (_, what) in tokenizers.DATA_TOKENIZERS.items()
    }
    tokenizer_meanings["icu:LOCALE"] = tokenizers.PYTHON_TOKENIZERS["icu:LOCALE"][1]
    needs = {
        "ja-mecab": "`pip install 'truebleu[ja]'`",
        "ko-mecab": "`pip install 'truebleu[ko]'`",
        "icu:LOCALE": "`pip install 'truebleu[icu]'`",
        "mecab:FOLDER": "the folder",
        "spm:FILE": "the file",
    }
    default_names = dict.fromkeys(tokenizers.KERNEL_TOKENIZERS, "")
    rows = [
        [
            render_code(name),
            what,
            needs.get(name, default_names.get(name, "a model, downloaded automatically")),
        ]
        for name, what in tokenizer_meanings.items()
    ]
    return format_table(["tokenizer", "tokens", "needs"], rows, left_aligned=3)


def _format_script_table() -> str:
    groups: dict[tuple[str, float, tuple[str, ...]], list[str]] = {}
    for script_rule in languages.UNSPLIT_SCRIPTS.values():
        key = (script_rule.reason, script_rule.share, script_rule.recommended)
        groups.setdefault(key, []).append(script_rule.language.removeprefix("the "))
    rows = [
        [", ".join(names), because, f"{share:.0%}", " or ".join(f"`-tok {one}`" for one in ways)]
        for (because, share, ways), names in groups.items()
    ]
    return format_table(
        ["text in", "problem", "minimum share of characters", "suitable tokenizers"],
        rows,
        left_aligned=4,
    )
