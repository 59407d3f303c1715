"""Tokenizers by name, and your own: a callable from text to tokens."""

from __future__ import annotations

from truebleu import _kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Tokenize = str | Callable[[str], list[str]] | Callable[[str], str]
else:  # for programs that read annotations
    Tokenize = object

# The names are sacreBLEU's. Each tokenizer is one file in kernel/src/lex/.
NAMES = {
    "13a": "mteval-v13a's, the default everywhere: symbols and sentence punctuation stand alone",
    "intl": "mteval-v14's international one: all Unicode punctuation and symbols stand alone",
    "zh": "Chinese: its characters stand alone, the rest as 13a",
    "char": "every character is a token",
    "none": "white space separates tokens, for text that is tokenized already",
}

# sacreBLEU's tokenizers that need a model or a dictionary, which truebleu does not carry.
ELSEWHERE = ("ja-mecab", "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K")


def check(tokenize: Tokenize) -> None:
    """Raises ValueError for a name that is no tokenizer, TypeError for anything else."""
    if callable(tokenize) or tokenize in NAMES:
        return
    if not isinstance(tokenize, str):
        raise TypeError(
            f"tokenize is a name or a callable from str to tokens, not {type(tokenize).__name__}"
        )
    if tokenize.startswith(ELSEWHERE):
        raise ValueError(
            f"the tokenizer '{tokenize}' needs a model that truebleu does not carry; "
            "give a callable from str to a list of tokens instead"
        )
    raise ValueError(f"unknown tokenizer '{tokenize}'{nearest(tokenize, NAMES)}")


def nearest(name: str, known: object) -> str:
    """The end of an error message for an unknown name: the nearest one, and all of them."""
    import difflib

    names = list(known)  # type: ignore[call-overload]
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.4)
    hint = f"; did you mean '{close[0]}'? There are" if close else "; there are"
    return f"{hint} {', '.join(names)}"


def label(tokenize: Tokenize) -> str:
    """What a signature calls a tokenizer: its name, or for a callable the name it has in Python.

    A lambda has no name of its own, so its place in the code is added; a partial function is named
    after what it calls and with what.
    """
    if isinstance(tokenize, str):
        return tokenize
    called = getattr(tokenize, "func", None)
    if callable(called):
        given = (*tokenize.args, *tokenize.keywords.items())  # type: ignore[union-attr]
        return _word(f"{label(called)}({','.join(map(repr, given))})")
    code = getattr(tokenize, "__code__", None)
    module = getattr(tokenize, "__module__", None) or type(tokenize).__module__
    name = getattr(tokenize, "__qualname__", type(tokenize).__qualname__)
    if module == "truebleu.family_tokenizers":
        return str(name.replace("_", "-"))
    if code is not None and name.endswith("<lambda>"):
        place = next(iter(code.co_positions()), (code.co_firstlineno, None, 0, None))
        name += f"@{place[0]}.{place[2]}"
    return _word(f"{module}.{name}")


def _word(text: str) -> str:
    """The text without the characters that mean something in a signature."""
    return "".join("-" if c in "|:=+ " else c for c in text)


def named(name: str) -> Tokenize:
    """The tokenizer that a signature calls so: a name, or the callable of another program's."""
    if name in NAMES:
        return name
    from truebleu.family_tokenizers import TOKENIZERS

    return TOKENIZERS.get(name, name)


def tokenize(text: str, name: str = "13a", *, lowercase: bool = False) -> list[str]:
    """The tokens of one text, as sacreBLEU's tokenizer of that name gives them.

    >>> tokenize("It's 5,000.50 (USD) -- ok.")
    ["It's", '5,000.50', '(', 'USD', ')', '--', 'ok', '.']
    >>> tokenize("It's 5,000.50", "intl")
    ['It', "'", 's', '5,000.50']
    """
    check(name)
    return _kernel.tokenize(text, name, "python" if lowercase else "no")


def tokenizer(tokenize: Tokenize, lowercase: bool | str = False) -> Callable[[str], list[str]]:
    """A function that splits text as a metric with these two parameters does."""
    check(tokenize)
    before = {False: "no", True: "python", "ascii": "ascii", "after": "no"}[lowercase]

    def split(text: str) -> list[str]:
        if isinstance(tokenize, str):
            tokens = _kernel.tokenize(text, tokenize, before)
        else:
            if lowercase == "ascii":
                text = "".join(c.lower() if c.isascii() else c for c in text)
            elif lowercase is True:
                text = text.lower()
            tokens = apply(tokenize, text.rstrip())
        return [token.lower() for token in tokens] if lowercase == "after" else tokens

    return split


def apply(tokenize: Callable[[str], list[str]] | Callable[[str], str], text: str) -> list[str]:
    """The tokens a callable gives; a string it gives is split at white space."""
    tokens = tokenize(text)
    if isinstance(tokens, str):
        return tokens.split()
    if isinstance(tokens, list | tuple):
        return list(tokens)
    raise TypeError(
        f"the tokenizer {label(tokenize)} gave {type(tokens).__name__}; "
        "it must give a list of str, or a str to be split at white space"
    )
