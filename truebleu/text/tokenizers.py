"""Tokenizers by name, and your own: a callable from text to tokens.

One name means one tokenizer everywhere: in Python, on the command line, in signatures. A new one is
an entry of a table here: of `KERNEL`, if a file of kernel/src/lex/ splits the text; of `WITH_DATA`,
if that needs a dictionary or a model; or of `PYTHON`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from truebleu import _kernel
from truebleu.text import argument_checks

Tokenize = str | Callable[[str], list[str]] | Callable[[str], str]

# The kernel's; the names are sacreBLEU's.
KERNEL_TOKENIZERS = {
    "13a": "mteval-v13a's, the default: symbols and sentence punctuation stand alone",
    "intl": "mteval-v14's international one: all Unicode punctuation and symbols stand alone",
    "zh": "Chinese: its characters stand alone, the rest as 13a",
    "char": "each character is a token",
    "none": "split at white space, for text that is tokenized already",
    "jiwer": "split at spaces and at runs of white space, as jiwer does for WER",
}

# The kernel's, too, with data: the module of this room that finds them, and what they are. It has
# `loaded(name)`, which the kernel asks for when there is text to split, `label(name)` and
# `lacking(name)`.
_PIECES = "SentencePiece's pieces, by the model of"
_MECAB = "MeCab's words, by the dictionary that sacreBLEU uses"
DATA_TOKENIZERS = {
    "ja-mecab": ("mecab", f"Japanese: {_MECAB}"),
    "ko-mecab": ("mecab", f"Korean: {_MECAB}"),
    "mecab:FOLDER": ("mecab", "MeCab's words, by the dictionary in a folder"),
    "flores101": ("sentencepiece", f"{_PIECES} FLORES-101"),
    "flores200": ("sentencepiece", f"{_PIECES} FLORES-200"),
    "spBLEU-1K": ("sentencepiece", f"{_PIECES} spBLEU-1K"),
    "spm:FILE": ("sentencepiece", f"{_PIECES} a file"),
}

# Those that Python runs: the module of this room that has them, and what they are. It has
# `function(name)`. The names of other programs' tokenizers are those of functions in
# program_tokenizers.py.
PYTHON_TOKENIZERS = {
    **{
        name: ("program_tokenizers", f"as in {program}")
        for name, program in {
            "multi-bleu": "Moses' multi-bleu.perl",
            "multi-bleu-detok": "Moses' multi-bleu-detok.perl",
            "mteval-v11b": "mteval-v11b.pl -c",
            "mteval-v11b-lower": "mteval-v11b.pl",
            "mteval-v12": "mteval-v12.pl -c",
            "mteval-v12-lower": "mteval-v12.pl",
            "mteval-v13a": "mteval-v13a.pl -c",
            "mteval-v13a-lower": "mteval-v13a.pl",
            "mteval-v14-international": "mteval-v14.pl -c --international-tokenization",
            "mteval-v14-international-lower": "mteval-v14.pl --international-tokenization",
            "codenn": "CodeNN's bleu.py",
            "codexglue": "CodeXGLUE's code-to-text",
            "keras-hub": "KerasHub's metrics.Bleu",
            "tensor2tensor": "tensor2tensor's t2t-bleu",
            "madnani-ibleu": "the viewer iBLEU, case kept",
            "madnani-ibleu-lower": "the viewer iBLEU",
            "compare-mt": "compare-mt",
            "rouge": "rouge-score: runs of a-z and 0-9, in lower case",
        }.items()
    },
    "icu:LOCALE": ("icu", "ICU's words, by its dictionary of a language"),
}


# All names, and how a name that goes on with a place is listed.
TOKENIZER_NAMES = [*KERNEL_TOKENIZERS, *DATA_TOKENIZERS, *PYTHON_TOKENIZERS]
_PARAMETRIZED_NAMES = {name.partition(":")[0]: name for name in TOKENIZER_NAMES if ":" in name}


def _get_listed_name(name: str) -> str:
    kind, colon, _ = name.partition(":")
    return _PARAMETRIZED_NAMES.get(kind, name) if colon else name


def resolve_tokenizer(tokenize: Tokenize) -> Tokenize:
    """The tokenizer, by the one name that it has.

    Raises ValueError for a name that is no tokenizer's, TypeError for anything else.

    >>> resolve_tokenizer("ja-mecab-0.996-IPA"), resolve_tokenizer("spm")
    ('ja-mecab', 'flores101')
    """
    if callable(tokenize):
        is_program_tokenizer = (
            getattr(tokenize, "__module__", "") == "truebleu.text.program_tokenizers"
        )
        return tokenize.__name__.replace("_", "-") if is_program_tokenizer else tokenize
    if not isinstance(tokenize, str):
        raise TypeError(
            f"tokenize: expected a name or a callable from str to tokens, not {tokenize!r:.40}"
        )
    if _get_listed_name(tokenize) in TOKENIZER_NAMES:
        return tokenize
    # sacreBLEU's signatures add MeCab's version and dictionary; its older name is FLORES-101's.
    for name in ("ja-mecab", "ko-mecab"):
        if tokenize.startswith(f"{name}-"):
            return name
    if tokenize == "spm":
        return "flores101"
    raise ValueError(
        f"unknown tokenizer '{tokenize}'{argument_checks.suggest_names(tokenize, TOKENIZER_NAMES)}"
    )


def name_from_label(name: str) -> str:
    """The tokenizer of a signature. Raises ValueError for one that is the user's own."""
    for kind, listed_name in (("spm-", "spm:FILE"), ("icu-", "icu:LOCALE")):
        if name.startswith(kind):
            return str(_import_module(listed_name).name_from_label(name))
    try:
        return str(resolve_tokenizer(name))
    except ValueError:
        if name.startswith("mecab-"):
            raise ValueError(
                f"tok:{name} is a dictionary that has no name; pass the folder that it is in to "
                "the metric with tokenize='mecab:FOLDER'"
            ) from None
        if "." not in name:
            raise
        raise ValueError(
            f"tok:{name} is a custom tokenizer; pass the callable to the metric with tokenize="
        ) from None


def format_signature_label(tokenize: Tokenize) -> str:
    """The name of a tokenizer in signatures: its own, or for a callable its name in Python.

    A lambda has no name of its own, so its place in the code is added; a partial function is named
    after what it calls and with what. The version of an installed package is added, as its tokens
    may change with it: `pythainlp.tokenize.core.word_tokenize@5.4.0`.
    """
    if isinstance(tokenize, str):
        labelled = _needs_data(tokenize) or tokenize.startswith("icu:")
        return (
            str(_import_module(tokenize).format_signature_label(tokenize)) if labelled else tokenize
        )
    wrapped = getattr(tokenize, "func", None)
    if callable(wrapped):
        arguments = (*tokenize.args, *tokenize.keywords.items())  # type: ignore[union-attr]
        return _escape_label(f"{format_signature_label(wrapped)}({','.join(map(repr, arguments))})")
    code = getattr(tokenize, "__code__", None)
    module = getattr(tokenize, "__module__", None) or type(tokenize).__module__
    name = getattr(tokenize, "__qualname__", type(tokenize).__qualname__)
    if code is not None and name.endswith("<lambda>"):
        position = next(iter(code.co_positions()), (code.co_firstlineno, None, 0, None))
        name += f"@{position[0]}.{position[2]}"
    package = module.partition(".")[0]
    if package not in _versions:
        _versions[package] = _find_version(package)
    version = _versions[package]
    return _escape_label(f"{module}.{name}{version and f'@{version}'}")


# The versions of packages that are known.
_versions: dict[str, str] = {}


def _find_version(package: str) -> str:
    """The version of an installed package; nothing for Python's own, and for one's own files."""
    import os
    import sys

    path = getattr(sys.modules.get(package), "__file__", None)
    if path is None or package in (*sys.stdlib_module_names, "__main__", "truebleu"):
        return ""
    # To read what all distributions hold takes a tenth of a second: only where there are some.
    folder = os.path.dirname(path)
    if os.path.basename(path).startswith("__init__."):
        folder = os.path.dirname(folder)
    if not any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder)):
        return ""
    from importlib import metadata

    distributions = metadata.packages_distributions().get(package, [])
    return metadata.version(distributions[0]) if len(set(distributions)) == 1 else ""


def _escape_label(text: str) -> str:
    """The text without the characters that have a meaning in a signature."""
    return "".join("-" if c in "|:=+ " else c for c in text)


def is_in_kernel(tokenize: Tokenize, lowercase: bool | str) -> bool:
    """True if the kernel tokenizes."""
    return _has_kernel_tokenizer(tokenize) and lowercase != "after"


def _has_kernel_tokenizer(tokenize: Tokenize) -> bool:
    return tokenize in KERNEL_TOKENIZERS or _needs_data(tokenize)


def _needs_data(tokenize: Tokenize) -> bool:
    return isinstance(tokenize, str) and _get_listed_name(tokenize) in DATA_TOKENIZERS


def _import_module(name: str) -> Any:
    """The module of a tokenizer, which is loaded when it is first used."""
    from truebleu.text import icu, mecab, program_tokenizers, sentencepiece

    listed_name = _get_listed_name(name)
    modules = {
        "icu": icu,
        "mecab": mecab,
        "program_tokenizers": program_tokenizers,
        "sentencepiece": sentencepiece,
    }
    return modules[(DATA_TOKENIZERS.get(listed_name) or PYTHON_TOKENIZERS[listed_name])[0]]


def load_tokenizer(name: str) -> _kernel.LoadedTokenizer:
    """The tokenizer of that name with its data. The kernel calls this for a name it does not have.

    Raises ImportError or InputError for what is not installed, ValueError for an unknown name.
    """
    name = str(resolve_tokenizer(name))
    if not _needs_data(name):
        raise ValueError(f"the kernel has no tokenizer '{name}'")
    tokenizer: _kernel.LoadedTokenizer = _import_module(name).load_tokenizer(name)
    return tokenizer


_kernel.load_tokenizers_with(load_tokenizer)


def describe_missing_data(name: str) -> str:
    """How to get what a tokenizer needs and is not here; nothing if all is.

    >>> describe_missing_data("13a")
    ''
    """
    return str(_import_module(name).describe_missing_data(name)) if _needs_data(name) else ""


def get_function(tokenize: Tokenize) -> Callable[[str], list[str]] | Callable[[str], str]:
    """The callable of a tokenizer. Raises ImportError or InputError for what is not installed."""
    if callable(tokenize):
        return tokenize
    if _has_kernel_tokenizer(tokenize):
        return make_tokenizer(tokenize)
    python_function: Callable[[str], list[str]] = _import_module(tokenize).get_function(tokenize)
    return python_function


def tokenize(text: str, name: str = "13a", *, lowercase: bool = False) -> list[str]:
    """The tokens of one text, by the tokenizer of that name.

    >>> tokenize("It's 5,000.50 (USD) -- ok.")
    ["It's", '5,000.50', '(', 'USD', ')', '--', 'ok', '.']
    >>> tokenize("It's 5,000.50", "intl")
    ['It', "'", 's', '5,000.50']
    """
    return make_tokenizer(name, lowercase)(text)


def make_tokenizer(tokenize: Tokenize, lowercase: bool | str = False) -> Callable[[str], list[str]]:
    """A function that splits text as a metric with these two parameters does."""
    tokenize = resolve_tokenizer(tokenize)
    kernel_case = LOWERCASE_MODES[lowercase]
    python_function = None if _has_kernel_tokenizer(tokenize) else get_function(tokenize)
    # Found once: the kernel would ask for it again at each text.
    kernel_tokenizer = load_tokenizer(str(tokenize)) if _needs_data(tokenize) else str(tokenize)
    # Other programs have a rule of their own for white space at the end.
    keeps_final_space = PYTHON_TOKENIZERS.get(str(tokenize), ("",))[0] == "program_tokenizers"

    def split(text: str) -> list[str]:
        if python_function is None:
            tokens = _kernel.tokenize(text, kernel_tokenizer, kernel_case)
        else:
            if lowercase == "ascii":
                text = "".join(c.lower() if c.isascii() else c for c in text)
            elif lowercase is True:
                text = text.lower()
            tokens = apply_tokenizer(python_function, text if keeps_final_space else text.rstrip())
        return [token.lower() for token in tokens] if lowercase == "after" else tokens

    return split


# The kernel's names of the values of `lowercase`; "after" is Python's to do.
LOWERCASE_MODES: dict[object, str] = {False: "no", True: "python", "ascii": "ascii", "after": "no"}


def apply_tokenizer(
    tokenize: Callable[[str], list[str]] | Callable[[str], str], text: str
) -> list[str]:
    """The tokens that a callable gives; a string that it gives is split at white space."""
    tokens = tokenize(text)
    if isinstance(tokens, str):
        return tokens.split()
    if isinstance(tokens, list | tuple):
        return list(tokens)
    raise TypeError(
        f"the tokenizer {format_signature_label(tokenize)} gave {type(tokens).__name__}; "
        "it must give a list of str, or a str to be split at white space"
    )
