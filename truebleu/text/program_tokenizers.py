"""Tokenizers of other programs, as functions that return the tokens of a segment.

They are for `BLEU(tokenize=...)` and the metrics of the BLEU family; the kernel has the tokenizers
`13a`, `intl`, `zh` and `char`. Each docstring names the program and its peculiarities. Programs
that lower-case in the middle of tokenizing have a second callable, `..._lower`, because
lower-casing first would also decode `&QUOT;`. torchmetrics needs no entry, because it uses
sacreBLEU's tokenizers and lower-cases like `BLEU(lowercase="after")`. The Penn Treebank tokenizer
of the COCO caption evaluation, a Java program, is not included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, wraps

from truebleu import _kernel

Split = Callable[[str], list[str]]

# White space as other programs define it. Python's str.split() also splits at U+001C to U+001F.
_SEPARATORS = (
    " \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_SCRIPT_SPACES = f"\t\n\v\f\r{_SEPARATORS}\ufeff"
_ASCII_SPACE = re.compile(r"[\t\n\v\f\r ]+")
_UNICODE_SPACE = re.compile(f"[\t\n\v\f\r\x85{_SEPARATORS}]+")
_SCRIPT_SPACE = re.compile(f"[{_SCRIPT_SPACES}]+")

# The rules of mteval-v11b, which other programs adopted, in order: split off ASCII symbols,
# full stops and commas that are not between digits, and hyphens after a digit.
_SYMBOL = (re.compile(r"""([ !"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])"""), r" \1 ")
_AFTER_OTHER = (re.compile(r"([^0-9])([.,])"), r"\1 \2 ")
_BEFORE_OTHER = (re.compile(r"([.,])([^0-9])"), r" \1 \2")
_HYPHEN = (re.compile(r"([0-9])(-)"), r"\1 \2 ")
_WESTERN_RULES = (_SYMBOL, _AFTER_OTHER, _BEFORE_OTHER, _HYPHEN)

# The list of symbols in the iBLEU viewer omits ! # % * < = > \ ^ _ |.
_IBLEU_SYMBOL = (re.compile(r"""([{~\[\]"`?&()+:;$@/}])"""), r" \1 ")
_IBLEU_RULES = (_IBLEU_SYMBOL, *_WESTERN_RULES[1:])

# The kernel's 13a applies all these rules and is many times faster, but it decodes entities and
# splits at white space as Python does. Results may differ for segments with line endings, or with
# characters that Python and the kernel, but not all programs, treat as white space.
_LINE_BREAKS = "\n\r\x1c-\x1f"
_SPECIAL_SPACES = f"{_LINE_BREAKS}\x85{_SEPARATORS.lstrip(' ')}\ufeff"
# Results may also differ for entities (which lower-casing may create) and at leading or trailing
# white space.
_CAPITAL_ENTITIES = "(?!quot;|amp;|lt;|gt;)(?i:quot|amp|lt|gt);|(?!<skipped>)(?i:<skipped>)"
_ENTITIES = "(?i:<skipped>|&(?:quot|amp|lt|gt|apos);)|\\A\\s|\\s\\Z"
_INTERNATIONAL_EXCEPTIONS = f"[{_LINE_BREAKS}\u2028]|{_ENTITIES}"
_IBLEU_EXCEPTIONS = f"[!#%*<=>\\\\^_|{_SPECIAL_SPACES}]|(?i:quot|amp|lt|gt);|\\A\\s*\\Z"
# Characters whose Unicode categories have been stable for many versions, except numbers other than
# 0-9.
_STABLE_CHARACTERS = (
    "\x00-\\[\\]-\xb1\xb4-\xb8\xba\xbb\xbf-\u024f\u200b-\u205e\u20a0-\u20b5\u2190-\u22ff\u2600-\u269b"
    "\U0001f300-\U0001f5ff"
)

# mteval's entities, in the order in which it decodes them: &amp;lt; becomes <.
_ENTITY_CHARACTERS = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

_UPPER_TO_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def get_tokenizer_function(name: str) -> Callable[[str], list[str]]:
    """Return the function that reproduces a program's tokenization."""
    tokenizer: Callable[[str], list[str]] = globals()[f"tokenize_like_{name.replace('-', '_')}"]
    return tokenizer


# Tokenizers that equal a kernel tokenizer with a lower-casing mode, except for segments that match
# a pattern.
KERNEL_EQUIVALENTS: dict[object, tuple[str, bool | str, str]] = {}

# The kernel's names for the lower-casing modes.
_KERNEL_CASES: dict[object, str] = {False: "no", True: "python", "ascii": "ascii"}


def _use_kernel_unless(
    name: str, exceptions: str, lowercase: bool | str = False
) -> Callable[[Split], Split]:
    """Decorate a tokenizer so that it splits only the segments that match `exceptions`.

    The kernel splits all other segments.
    """

    def decorate(tokenizer: Split) -> Split:
        tokenizer_name = tokenizer.__name__.removeprefix("tokenize_like_").replace("_", "-")
        KERNEL_EQUIVALENTS[tokenizer_name] = name, lowercase, exceptions
        find_exception, case = re.compile(exceptions).search, _KERNEL_CASES[lowercase]

        @wraps(tokenizer)
        def split(text: str) -> list[str]:
            return tokenizer(text) if find_exception(text) else _kernel.tokenize(text, name, case)

        return split

    return decorate


def _apply_rules(text: str, rules: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _split_text(text: str, space: re.Pattern[str]) -> list[str]:
    return [token for token in space.split(text) if token]


def _decode_entities(text: str) -> str:
    """Join lines, remove "<skipped>" and decode mteval's entities."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, character in _ENTITY_CHARACTERS:
            text = text.replace(entity, character)
    return text


def _tokenize_western(text: str, space: re.Pattern[str], *, lowercase: bool = False) -> list[str]:
    """Return the tokens of 13a, but split only at the white space that `space` matches."""
    text = _decode_entities(text)
    if lowercase:
        text = text.translate(_UPPER_TO_LOWER)
    return _split_text(_apply_rules(f" {text} ", _WESTERN_RULES), space)


@_use_kernel_unless("none", f"[{_SPECIAL_SPACES}]")
def tokenize_like_multi_bleu(text: str) -> list[str]:
    r"""Split at ASCII white space, like multi-bleu.perl.

    The script reads bytes, so only tab, line feed, vertical tab, form feed, carriage return and
    space separate tokens. A no-break space stays in its token. `-lc` lower-cases only A to Z.
    Source: mosesdecoder, scripts/generic/multi-bleu.perl.

    >>> tokenize_like_multi_bleu("a\xa0b  c")
    ['a\xa0b', 'c']
    """
    return _split_text(text, _ASCII_SPACE)


@_use_kernel_unless("13a", f"[{_LINE_BREAKS}]")
def tokenize_like_multi_bleu_detok(text: str) -> list[str]:
    """Tokenize like multi-bleu-detok.perl: mteval-v13a, split at Unicode white space.

    The script removes the last character of every line, even if it is not a newline. With `-lc` it
    lower-cases hypotheses before tokenizing and references after it, so `&QUOT;` is decoded only in
    hypotheses. Source: mosesdecoder, scripts/generic/multi-bleu-detok.perl.
    """
    return _tokenize_western(text, _UNICODE_SPACE)


@_use_kernel_unless("13a", f"[{_SPECIAL_SPACES}]")
def tokenize_like_mteval_v11b(text: str) -> list[str]:
    """Tokenize like mteval-v11b.pl with `-c`: 13a on bytes, split at ASCII white space.

    Phrasal's NISTTokenizer is equivalent after `str.lower`. Source: mosesdecoder,
    scripts/generic/mteval-v11b.pl.
    """
    return _tokenize_western(text, _ASCII_SPACE)


@_use_kernel_unless("13a", f"[{_SPECIAL_SPACES}]|{_CAPITAL_ENTITIES}", "ascii")
def tokenize_like_mteval_v11b_lower(text: str) -> list[str]:
    """Tokenize like mteval-v11b.pl without `-c`: lower-case A to Z after decoding entities."""
    return _tokenize_western(text, _ASCII_SPACE, lowercase=True)


@_use_kernel_unless("13a", f"[{_LINE_BREAKS}]")
def tokenize_like_mteval_v13a(text: str) -> list[str]:
    """Tokenize like mteval-v13a.pl and v14 with `-c`: 13a, but without splits at U+001C to U+001F.

    Source: mosesdecoder, scripts/generic/mteval-v13a.pl.

    >>> tokenize_like_mteval_v13a("It's 5,000.50&quot; in 2020.")
    ["It's", '5,000.50', '"', 'in', '2020', '.']
    """
    return _tokenize_western(text, _UNICODE_SPACE)


@_use_kernel_unless("13a", f"[{_LINE_BREAKS}]|{_CAPITAL_ENTITIES}", "ascii")
def tokenize_like_mteval_v13a_lower(text: str) -> list[str]:
    """Tokenize like mteval-v13a.pl and v14 without `-c`: lower-case only A to Z after decoding.

    >>> tokenize_like_mteval_v13a_lower("ÉCOLE &QUOT;")
    ['École', '&', 'quot', ';']
    """
    return _tokenize_western(text, _UNICODE_SPACE, lowercase=True)


# A character with the Unicode property Hyphen before a line separator.
_HYPHEN_AT_LINE_END = re.compile(
    r"[-\xad\u058a\u1806\u2010\u2011\u2e17\u30fb\ufe63\uff0d\uff65]\u2028"
)


def _tokenize_mteval_international(text: str, *, lowercase: bool) -> list[str]:
    text = text.replace("<skipped>", "").replace("\u2028", " ")
    if "&" in text:
        for entity, character in (*_ENTITY_CHARACTERS, ("&apos;", "'")):
            text = text.replace(entity, character)
    if lowercase:  # like Perl's `lc`, which has no rule for word-final sigma
        text = "".join(map(str.lower, text)) if "Σ" in text else text.lower()
    # The kernel treats U+001C to U+001F as white space, but these rules do not, so unassigned
    # characters replace them.
    present = sorted({"\x1c", "\x1d", "\x1e", "\x1f"} & set(text))
    free = (chr(code) for code in range(0xFDD0, 0xFDF0) if chr(code) not in text)
    stand_ins = dict(zip(present, free, strict=False))
    kernel_text = text
    for mark, stand_in in stand_ins.items():
        kernel_text = kernel_text.replace(mark, stand_in)
    # A final full stop is split from a digit only before white space, which the kernel strips, like
    # sacreBLEU. Append a letter to keep it.
    ends_with_space = kernel_text[-1:].isspace()
    tokens = _kernel.tokenize(f"{kernel_text}x" if ends_with_space else kernel_text, "intl", "no")
    if ends_with_space:
        del tokens[-1]
    if present:
        restored = str.maketrans({stand: mark for mark, stand in stand_ins.items()})
        tokens = [token.translate(restored) for token in tokens]
    # mteval strips Unicode separators and then splits at white space. Initial white space that is
    # not a separator therefore yields an empty token.
    front = text.lstrip(_SEPARATORS)[:1]
    return ["", *tokens] if tokens and front and front in "\t\n\v\f\r\x85" else tokens


@_use_kernel_unless("intl", _INTERNATIONAL_EXCEPTIONS)
def tokenize_like_mteval_v12(text: str) -> list[str]:
    """Tokenize like mteval-v12.pl with `-c`: intl after decoding entities, including `&apos;`.

    A hyphen before a line separator (U+2028) is removed with it. A segment that starts with a tab
    or another white space control character starts with an empty token. Symbols and punctuation
    follow the kernel's Unicode version, not Perl's. Source: mosesdecoder,
    scripts/generic/mteval-v12.pl.
    """
    return _tokenize_mteval_international(_HYPHEN_AT_LINE_END.sub("", text), lowercase=False)


@_use_kernel_unless("intl", f"Σ|{_INTERNATIONAL_EXCEPTIONS}", lowercase=True)
def tokenize_like_mteval_v12_lower(text: str) -> list[str]:
    """Tokenize like mteval-v12.pl without `-c`: lower-case Unicode after decoding entities."""
    return _tokenize_mteval_international(_HYPHEN_AT_LINE_END.sub("", text), lowercase=True)


@_use_kernel_unless("intl", _INTERNATIONAL_EXCEPTIONS)
def tokenize_like_mteval_v14_international(text: str) -> list[str]:
    """Tokenize like mteval-v14.pl with `--international-tokenization -c`.

    Unlike v12, it keeps hyphens at line endings. mteval-v13a.pl differs
    only in removing U+002D before U+2028. Source: mosesdecoder, scripts/generic/mteval-v14.pl.
    """
    return _tokenize_mteval_international(text, lowercase=False)


@_use_kernel_unless("intl", f"Σ|{_INTERNATIONAL_EXCEPTIONS}", lowercase=True)
def tokenize_like_mteval_v14_international_lower(text: str) -> list[str]:
    """Tokenize like mteval-v14.pl with `--international-tokenization`, in lower case."""
    return _tokenize_mteval_international(text, lowercase=True)


@_use_kernel_unless("13a", "[\n\r&]|(?i:<skipped>)", lowercase=True)
def tokenize_like_codenn(text: str) -> list[str]:
    """Tokenize like CodeNN's bleu.py: an early mteval in Python, always in lower case.

    `&gt;`, `&lt;`, `&quot;` and then `&amp;` are decoded first, so `&amp;lt;` becomes `&lt;`, which
    is split. In the script, Python 2 lower-cases only A to Z in bytes; this function follows its
    Python 3 copy in CodeXGLUE. Source: sriniiyer/codenn, src/utils/bleu.py.

    >>> tokenize_like_codenn("Returns a_b &amp;lt; 1-2.")
    ['returns', 'a', '_', 'b', '&', 'lt', ';', '1', '-', '2', '.']
    """
    from xml.sax.saxutils import unescape

    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    text = unescape(text, {"&quot;": '"'})
    return _apply_rules(f" {text} ".lower(), _WESTERN_RULES).split()


_LETTERS_OR_MARK = re.compile(r"[^\W_]+|_|[^\s\w]")


def tokenize_like_codexglue(text: str) -> list[str]:
    """Tokenize like CodeXGLUE's code-to-text evaluator: words and single marks.

    It then applies CodeNN's rules. The first step also splits entities and decimal numbers: 3.14 is
    three tokens. Source: microsoft/CodeXGLUE, Code-Text/code-to-text/evaluator/evaluator.py.

    >>> tokenize_like_codexglue("Pi is 3.14")
    ['pi', 'is', '3', '.', '14']
    """
    # One step suffices, because CodeNN's rules would only split the underscore.
    return _LETTERS_OR_MARK.findall(text.strip().lower())


# Without spaces around the segment, its first and last characters might not be split off.
@_use_kernel_unless("13a", f"[{_SPECIAL_SPACES}]|\\A\\s*[.,]|[0-9.,][.,]\\s*\\Z")
def tokenize_like_keras_hub(text: str) -> list[str]:
    r"""Tokenize like KerasHub's Bleu metric: 13a without spaces around the text.

    Its extra rule for a final full stop or comma refers to a group that does not exist, so
    TensorFlow leaves the text unchanged: the full stop of "in 2020." and the comma of ",5" stay
    with the digits. Source: keras-team/keras-hub, keras_hub/src/metrics/bleu.py.

    >>> tokenize_like_keras_hub("It ended. in 2020.")
    ['It', 'ended', '.', 'in', '2020.']
    """
    return _split_text(_apply_rules(_decode_entities(text), _WESTERN_RULES), _ASCII_SPACE)


@cache
def _make_unicode_rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return tensor2tensor's rules, based on this Python version's character categories."""
    import sys
    import unicodedata

    kinds: dict[str, list[str]] = {"P": [], "S": []}
    for code in range(sys.maxunicode):
        kind = unicodedata.category(chr(code))[0]
        if kind in kinds:
            kinds[kind].append(chr(code))
    # In the original character class, the backslash escapes the next bracket and is therefore not
    # punctuation.
    kinds["P"].remove("\\")
    punctuation, symbols = (re.escape("".join(kinds[kind])) for kind in "PS")
    return (
        (re.compile(rf"([^\d])([{punctuation}])"), r"\1 \2 "),
        (re.compile(rf"([{punctuation}])([^\d])"), r" \1 \2"),
        (re.compile(f"([{symbols}])"), r" \1 "),
    )


@cache
def _make_ambiguous_pattern() -> re.Pattern[str]:
    """Return the pattern of characters that tensor2tensor and mteval may treat differently."""
    import unicodedata

    non_decimals = (chr(code) for code in range(0x10000) if not chr(code).isdecimal())
    numbers = "".join(
        character for character in non_decimals if unicodedata.category(character)[0] == "N"
    )
    return re.compile(rf"[\\\U00010000-\U0010ffff{numbers}]")


# A character that is not punctuation, a symbol or a number in any Unicode version.
_STAND_IN = "\ufdd0"


@_use_kernel_unless("intl", f"[^{_STABLE_CHARACTERS}]|\\s\\Z")
def tokenize_like_tensor2tensor(text: str) -> list[str]:
    r"""Tokenize like tensor2tensor's bleu_tokenize (t2t-bleu), similar to mteval's intl rules.

    Digits are `\d`, so punctuation next to ² or Ⅷ is split, unlike in mteval. A backslash is not
    punctuation. Entities are not decoded. t2t-bleu lower-cases first by default.
    Source: tensorflow/tensor2tensor, tensor2tensor/utils/bleu_hook.py.

    >>> tokenize_like_tensor2tensor("m². In 2020.")
    ['m²', '.', 'In', '2020.']
    """
    if "\\" in text and _STAND_IN not in text:
        # tensor2tensor does not treat a backslash as punctuation.
        tokens = tokenize_like_tensor2tensor(text.replace("\\", _STAND_IN))
        return [token.replace(_STAND_IN, "\\") for token in tokens]
    if not (text[-1:].isspace() or _make_ambiguous_pattern().search(text)):
        return _kernel.tokenize(text, "intl", "no")
    return _apply_rules(text, _make_unicode_rules()).split()


@_use_kernel_unless("13a", _IBLEU_EXCEPTIONS)
def tokenize_like_madnani_ibleu(text: str) -> list[str]:
    r"""Tokenize like the iBLEU viewer (Madnani 2011), case-sensitive: mteval-v13a in JavaScript.

    ``! # % * < = > \ ^ _ |`` are not split off, U+FEFF is white space, and an empty segment has one
    empty token. Source: desilinguist/ibleu, js/bleu.js.

    >>> tokenize_like_madnani_ibleu("100% (really)!"), tokenize_like_madnani_ibleu("")
    (['100%', '(', 'really', ')', '!'], [''])
    """
    return _tokenize_ibleu(text, lowercase=False)


@_use_kernel_unless("13a", _IBLEU_EXCEPTIONS, lowercase=True)
def tokenize_like_madnani_ibleu_lower(text: str) -> list[str]:
    """Tokenize like the iBLEU viewer (Madnani 2011) by default: lower-case after decoding."""
    return _tokenize_ibleu(text, lowercase=True)


def _tokenize_ibleu(text: str, *, lowercase: bool) -> list[str]:
    # The viewer trims each segment first, which removes the line feed of a final "-\n".
    text = f" {_decode_entities(text.strip(_SCRIPT_SPACES))} "
    text = _apply_rules(text.lower() if lowercase else text, _IBLEU_RULES)
    return _split_text(text, _SCRIPT_SPACE) or [""]


@_use_kernel_unless("none", "[^\\S ]|  |\\A *\\Z")
def tokenize_like_compare_mt(text: str) -> list[str]:
    """Split at single spaces, like compare-mt. Two adjacent spaces produce an empty token.

    Source: neulab/compare-mt, compare_mt/corpus_utils.py.

    >>> tokenize_like_compare_mt("a  b ")
    ['a', '', 'b']
    """
    return text.strip().split(" ")


_ROUGE = re.compile("[a-z0-9]+")


def tokenize_like_rouge(text: str) -> list[str]:
    """Tokenize like rouge-score 0.1.2 without stemming; only a-z and 0-9 form words."""
    return _ROUGE.findall(text.lower())
