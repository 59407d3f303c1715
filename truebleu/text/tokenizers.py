"""Named tokenizers, and custom tokenizers, which are functions that return tokens.

A name means the same tokenizer in Python, on the command line and in signatures. To add a
tokenizer, add it to a table: `KERNEL_TOKENIZERS` if a file in kernel/src/lex/ splits the text,
`DATA_TOKENIZERS` if it also needs a dictionary or a model, or `PYTHON_TOKENIZERS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from truebleu import _kernel
from truebleu.text import argument_checks
from truebleu.text.argument_checks import Record

Tokenize = str | Callable[[str], list[str]] | Callable[[str], str]

# Tokenizers of the kernel, with sacreBLEU's names.
KERNEL_TOKENIZERS = {
    "13a": "mteval-v13a (the default): splits off symbols and sentence punctuation",
    "intl": "mteval-v14 --international-tokenization: splits off Unicode punctuation and symbols",
    "zh": "Chinese: splits off each Chinese character; treats other text like 13a",
    "char": "splits text into single characters",
    "none": "splits at white space, for pretokenized text",
    "ptb": "Penn Treebank: Stanford's PTBTokenizer 3.4.1, in lower case, as COCO's captions use it",
    "ptb-coco": "like ptb, then removes punctuation as COCO's caption evaluation does",
    "ids": "splits at white space; chosen automatically for token ids in place of text",
    "jiwer": "splits at spaces and at runs of white space, as jiwer does for WER",
}

# Kernel tokenizers that need data. Each value contains the module that finds the data, and a
# description. The module defines `load_tokenizer(name)`, which the kernel calls when there is text
# to split, `format_signature_label(name)` and `describe_missing_data(name)`.
_PIECES = "SentencePiece with the model of"
_MECAB = "MeCab with the dictionary that sacreBLEU uses"
DATA_TOKENIZERS = {
    "ja-mecab": ("mecab", f"Japanese: {_MECAB}"),
    "ko-mecab": ("mecab", f"Korean: {_MECAB}"),
    "mecab:FOLDER": ("mecab", "MeCab with the dictionary in a folder"),
    "flores101": ("sentencepiece", f"{_PIECES} FLORES-101"),
    "flores200": ("sentencepiece", f"{_PIECES} FLORES-200"),
    "spBLEU-1K": ("sentencepiece", f"{_PIECES} spBLEU-1K"),
    "spm:FILE": ("sentencepiece", "SentencePiece with the model in a file"),
}

# Tokenizers in Python. Each value contains the module with the code, and a description. The module
# defines `get_tokenizer_function(name)`. In program_tokenizers.py, functions are named
# tokenize_like_NAME.
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
            "madnani-ibleu": "the viewer iBLEU (Madnani 2011), case-sensitive",
            "madnani-ibleu-lower": "the viewer iBLEU (Madnani 2011)",
            "compare-mt": "compare-mt",
            "rouge": "rouge-score: runs of a-z and 0-9, in lower case",
        }.items()
    },
    "icu:LOCALE": ("icu", "ICU with its dictionary for a language"),
}

# Tokenizers of spBLEU, which is BLEU with a SentencePiece model, by its names in lower case
# without hyphens. spBLEU alone mostly means the model of FLORES-200.
_SPBLEU_TOKENIZERS = {
    **dict.fromkeys(("spbleu", "spbleu200", "f200spbleu", "flores200spbleu"), "flores200"),
    **dict.fromkeys(("spbleu101", "f101spbleu", "flores101spbleu"), "flores101"),
    "spbleu1k": "spBLEU-1K",
}

# All tokenizer names, with a placeholder such as FILE in place of a path or a locale.
TOKENIZER_NAMES = [*KERNEL_TOKENIZERS, *DATA_TOKENIZERS, *PYTHON_TOKENIZERS]
_PARAMETRIZED_NAMES = {name.partition(":")[0]: name for name in TOKENIZER_NAMES if ":" in name}


def _get_listed_name(name: str) -> str:
    kind, colon, _ = name.partition(":")
    return _PARAMETRIZED_NAMES.get(kind, name) if colon else name


def _simplify_name(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def explain_tokenized_bleu(name: str) -> str:
    """Explain how to compute BLEU with a tokenizer whose name was used for a metric, or return "".

    >>> explain_tokenized_bleu("f200spBLEU")
    "it is BLEU with the tokenizer flores200. Use -m bleu -tok flores200 (in Python, \
metric('bleu', tokenize='flores200'))"
    """
    spbleu_tokenizer = _SPBLEU_TOKENIZERS.get(_simplify_name(name))
    tokenizer = spbleu_tokenizer or name
    if _get_listed_name(tokenizer) not in TOKENIZER_NAMES:
        return ""
    is_ambiguous = _simplify_name(name) == "spbleu"
    problem = (
        f"it is BLEU with the tokenizer {tokenizer}" if spbleu_tokenizer else "it is a tokenizer"
    )
    other_model = ", or flores101 for the model of FLORES-101" if is_ambiguous else ""
    return (
        f"{problem}{other_model}. Use -m bleu -tok {tokenizer} "
        f"(in Python, metric('bleu', tokenize='{tokenizer}'))"
    )


def resolve_tokenizer(tokenize: Tokenize) -> Tokenize:
    """Return the canonical tokenizer name; return a custom tokenizer unchanged.

    Raises ValueError for an unknown name and TypeError for other values.

    >>> resolve_tokenizer("ja-mecab-0.996-IPA"), resolve_tokenizer("spm")
    ('ja-mecab', 'flores101')
    """
    if callable(tokenize):
        if getattr(tokenize, "__module__", "") != "truebleu.text.program_tokenizers":
            return tokenize
        return tokenize.__name__.removeprefix("tokenize_like_").replace("_", "-")
    if not isinstance(tokenize, str):
        raise TypeError(
            f"tokenize: expected a name or a callable from str to tokens, not {tokenize!r:.40}"
        )
    if _get_listed_name(tokenize) in TOKENIZER_NAMES:
        return tokenize
    # sacreBLEU's signatures add MeCab's version and dictionary; "spm" is its old name for
    # flores101.
    for name in ("ja-mecab", "ko-mecab"):
        if tokenize.startswith(f"{name}-"):
            return name
    if tokenize == "spm":
        return "flores101"
    spbleu_tokenizer = _SPBLEU_TOKENIZERS.get(_simplify_name(tokenize))
    hint = argument_checks.suggest_names(tokenize, TOKENIZER_NAMES)
    if spbleu_tokenizer:
        hint = f"; the tokenizer of {tokenize} is called '{spbleu_tokenizer}'"
    raise ValueError(f"unknown tokenizer '{tokenize}'{hint}")


def parse_signature_label(name: str) -> str:
    """Return the tokenizer name for a signature label; raise ValueError for a custom tokenizer."""
    for kind, listed_name in (("spm-", "spm:FILE"), ("icu-", "icu:LOCALE")):
        if name.startswith(kind):
            return str(_select_module(listed_name).parse_signature_label(name))
    try:
        return str(resolve_tokenizer(name))
    except ValueError:
        if name.startswith("mecab-"):
            raise ValueError(
                f"tok:{name} is a dictionary without a name. "
                "Pass its folder to the metric with tokenize='mecab:FOLDER'."
            ) from None
        if "." not in name:
            raise
        raise ValueError(
            f"tok:{name} is a custom tokenizer. Pass it to the metric as tokenize"
        ) from None


def format_signature_label(tokenize: Tokenize) -> str:
    """Return the name of a tokenizer in signatures, or the qualified name of a callable.

    The label of a lambda includes its position in the code. The label of a partial function
    includes its arguments. The version of an installed package is added, because tokens may change
    with it: `pythainlp.tokenize.core.word_tokenize@5.4.0`.
    """
    if isinstance(tokenize, str):
        if not (_needs_data(tokenize) or tokenize.startswith("icu:")):
            return tokenize
        return str(_select_module(tokenize).format_signature_label(tokenize))
    wrapped = getattr(tokenize, "func", None)
    if callable(wrapped):
        arguments = (*tokenize.args, *tokenize.keywords.items())  # type: ignore[union-attr]
        label = f"{format_signature_label(wrapped)}({','.join(map(repr, arguments))})"
    else:
        code = getattr(tokenize, "__code__", None)
        module = getattr(tokenize, "__module__", None) or type(tokenize).__module__
        name = getattr(tokenize, "__qualname__", type(tokenize).__qualname__)
        if code is not None and name.endswith("<lambda>"):
            position = next(iter(code.co_positions()), (code.co_firstlineno, None, 0, None))
            name += f"@{position[0]}.{position[2]}"
        version = _find_package_version(module.partition(".")[0])
        label = f"{module}.{name}{version and f'@{version}'}"
    # These characters have a special meaning in signatures.
    return "".join("-" if c in "|:=+ " else c for c in label)


@cache
def _find_package_version(package: str) -> str:
    """Return the version of an installed package, or "" for Python's modules and user files."""
    import os
    import sys

    path = getattr(sys.modules.get(package), "__file__", None)
    if path is None or package in (*sys.stdlib_module_names, "__main__", "truebleu"):
        return ""
    # Reading the metadata of all distributions takes 0.1 s, so skip packages without metadata.
    folder = os.path.dirname(path)
    if os.path.basename(path).startswith("__init__."):
        folder = os.path.dirname(folder)
    if not any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder)):
        return ""
    from importlib import metadata

    distributions = metadata.packages_distributions().get(package, [])
    return metadata.version(distributions[0]) if len(set(distributions)) == 1 else ""


def uses_kernel_tokenizer(tokenize: Tokenize, lowercase: bool | str) -> bool:
    """Return whether the kernel can tokenize text with these two settings."""
    return (tokenize in KERNEL_TOKENIZERS or _needs_data(tokenize)) and lowercase != "after"


def _needs_data(tokenize: Tokenize) -> bool:
    return isinstance(tokenize, str) and _get_listed_name(tokenize) in DATA_TOKENIZERS


def _select_module(name: str) -> Any:
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
    """Return a kernel tokenizer with its data; the kernel calls this for names that need data.

    Raises ImportError or InputError if the data is not installed, and ValueError for an unknown
    name.
    """
    name = str(resolve_tokenizer(name))
    if not _needs_data(name):
        raise ValueError(f"the kernel has no tokenizer '{name}'")
    tokenizer: _kernel.LoadedTokenizer = _select_module(name).load_tokenizer(name)
    return tokenizer


_kernel.load_tokenizers_with(load_tokenizer)


def describe_missing_data(name: str) -> str:
    """Return instructions for getting a tokenizer's missing data, or "" if nothing is missing.

    >>> describe_missing_data("13a")
    ''
    """
    return str(_select_module(name).describe_missing_data(name)) if _needs_data(name) else ""


def get_tokenizer_function(tokenize: Tokenize) -> Callable[[str], list[str]] | Callable[[str], str]:
    """Return a tokenizer's function. Raise ImportError or InputError if its data is missing."""
    if callable(tokenize):
        return tokenize
    if uses_kernel_tokenizer(tokenize, False):
        return make_tokenizer(tokenize)
    python_function: Callable[[str], list[str]] = _select_module(tokenize).get_tokenizer_function(
        tokenize
    )
    return python_function


@argument_checks.explain_keywords
def tokenize(text: str, name: str = "13a", *, lowercase: bool = False) -> list[str]:
    """Return the tokens of a text; `name` selects the tokenizer.

    >>> tokenize("It's 5,000.50 (USD) -- ok.")
    ["It's", '5,000.50', '(', 'USD', ')', '--', 'ok', '.']
    >>> tokenize("It's 5,000.50", "intl")
    ['It', "'", 's', '5,000.50']
    """
    if not isinstance(text, str):
        found = argument_checks.describe_type(text, "")  # type: ignore[unreachable]
        raise TypeError(f"text: expected a str, found {found}. Tokenize texts one at a time.")
    return make_tokenizer(name, lowercase)(text)


@argument_checks.explain_keywords
def ngrams(
    text: str | Sequence[str], n: int, *, tokenize: Tokenize = "13a", lowercase: bool | str = False
) -> Counter[tuple[str, ...]]:
    """Return the n-grams of a text and their counts, in order of first appearance.

    text: a string, or its tokens, which are counted unchanged.
    n: the n-gram order, 1 or more.
    tokenize, lowercase: as for `BLEU`.

    Keys are tuples of n tokens. The total of the intersection of two results is BLEU's number of
    matches; `explain` shows the same n-grams. For n-grams of characters, pass `list(text)`.

    >>> ngrams("the cat, the cat sat", 2)
    Counter({('the', 'cat'): 2, ('cat', ','): 1, (',', 'the'): 1, ('cat', 'sat'): 1})
    >>> matches = ngrams("the cat sat", 1) & ngrams(["the", "cat", "is"], 1)
    >>> matches.total(), list(matches)
    (2, [('the',), ('cat',)])
    """
    if isinstance(n, str):  # type: ignore[unreachable]
        raise TypeError(
            f"n={argument_checks.format_value(n)}: expected the n-gram order, such as 2, found a "
            "str. Compare two texts with ngrams(text, n) & ngrams(other_text, n)."
        )
    argument_checks.check_integer("n", n, 1)
    if isinstance(text, str):
        return count_ngrams(make_tokenizer(tokenize, lowercase)(text), n)
    is_list = isinstance(text, Sequence) and not isinstance(text, bytes | bytearray | memoryview)
    invalid = [one for one in text if not isinstance(one, str)][:1] if is_list else [text]
    if invalid:
        raise TypeError(
            "text: expected a str or a list of tokens, found "
            f"{argument_checks.describe_type(invalid[0], '')}"
        )
    if lowercase:
        raise ValueError(
            "lowercase has no effect on tokens. Pass a string, or lower-case the tokens."
        )
    return count_ngrams(text, n)


def count_ngrams(tokens: Sequence[Any], order: int) -> Counter[tuple[Any, ...]]:
    """Return the counts of the n-grams of one order, in order of first appearance."""
    return Counter(iterate_ngrams(tokens, order))


def iterate_ngrams(tokens: Sequence[Any], order: int) -> Iterator[tuple[Any, ...]]:
    """Return the n-grams of one order, in the order of the text."""
    # Fewer slices suffice if the text has fewer tokens than an n-gram.
    return zip(*(tokens[i:] for i in range(min(order, len(tokens) + 1))), strict=False)


def make_tokenizer(tokenize: Tokenize, lowercase: bool | str = False) -> Callable[[str], list[str]]:
    """Return a function that tokenizes text like a metric with these two settings."""
    tokenize = resolve_tokenizer(tokenize)
    argument_checks.check_choice("lowercase", lowercase, LOWERCASE_MODES)
    kernel_case = LOWERCASE_MODES[lowercase]
    has_kernel_tokenizer = uses_kernel_tokenizer(tokenize, False)
    python_function = None if has_kernel_tokenizer else get_tokenizer_function(tokenize)
    # Load the data once; the kernel would load it for each text.
    kernel_tokenizer = load_tokenizer(str(tokenize)) if _needs_data(tokenize) else str(tokenize)
    # Tokenizers of other programs have different rules for final white space.
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


# Sample for testing tokenizers, with spaces around punctuation as in tokenized text.
SPACED_SAMPLE = "It ' s 3 . 5 km to the town ( of course ) , isn ' t it ?"


def depends_on_spaces(tokenize: Tokenize) -> bool:
    """Return whether spaces around punctuation change a tokenizer's tokens.

    A function that raises an exception is assumed to depend on spaces.

    >>> [name for name in ("13a", "char", "rouge") if depends_on_spaces(name)]
    ['13a']
    """
    natural = SPACED_SAMPLE.replace(" ' ", "'").replace(" . ", ".").replace(" ,", ",")
    natural = natural.replace("( ", "(").replace(" )", ")").replace(" ?", "?")
    try:
        split = make_tokenizer(tokenize)
        return split(natural) != split(SPACED_SAMPLE)
    except Exception:
        if not callable(tokenize):
            raise
        return True


# The kernel's names for the values of `lowercase`; Python handles "after".
LOWERCASE_MODES: dict[object, str] = {False: "no", True: "python", "ascii": "ascii", "after": "no"}


def apply_tokenizer(
    tokenize: Callable[[str], list[str]] | Callable[[str], str], text: str
) -> list[str]:
    """Tokenize text with a callable. If the callable returns a string, split it at white space."""
    tokens = tokenize(text)
    if isinstance(tokens, str):
        return tokens.split()
    if isinstance(tokens, list | tuple):
        return list(tokens)
    raise TypeError(
        f"the tokenizer {format_signature_label(tokenize)} returned {type(tokens).__name__} "
        "(expected a list of str, or a str to split at white space)"
    )


# ---- scripts that some tokenizers do not split ----


class UnsplitScript(Record):
    """Script that some tokenizers do not split into words, with a sample for testing tokenizers."""

    language: str
    reason: str
    share: float
    """The share of characters in the script above which a text is considered written in it."""
    sample: str
    recommended: tuple[str, ...]
    """The recommended tokenizers, best first."""
    has_spaces: bool = False
    """True if spaces separate words, so that other tokenizers still give meaningful scores."""


_NO_SPACES = "has no spaces between words"

# Keys are the kernel's script names, and "diacritics" for letters that ASCII tokenizers drop.
UNSPLIT_SCRIPTS = {
    # The sample contains no Han characters, because the tokenizer zh splits them.
    "kana": UnsplitScript(
        "Japanese", _NO_SPACES, 0.1, "そのひはてんきがよかったのであるいた", ("ja-mecab", "char")
    ),
    "han": UnsplitScript("Chinese", _NO_SPACES, 0.3, "那天天气很好我们去了公园", ("zh",)),
    "hangul": UnsplitScript(
        "Korean",
        "has particles at the ends of words",
        0.3,
        "그날은 날씨가 아주 좋았습니다",
        ("ko-mecab", "char"),
        has_spaces=True,
    ),
    **{
        script: UnsplitScript(name, _NO_SPACES, 0.3, sample, ("flores200", "char"))
        for script, name, sample in (
            ("thai", "Thai", "เช้าวันนั้นฝนตกหนักเราจึงรออยู่ที่สถานี"),
            ("lao", "Lao", "ມື້ນັ້ນຝົນຕົກໜັກພວກເຮົາຈຶ່ງລໍຖ້າຢູ່ສະຖານີ"),
            ("khmer", "Khmer", "ថ្ងៃនោះភ្លៀងធ្លាក់ខ្លាំងយើងក៏រង់ចាំនៅស្ថានីយ៍"),
            ("burmese", "Burmese", "ထိုနေ့ကမိုးသည်းထန်စွာရွာသဖြင့်ဘူတာတွင်စောင့်ခဲ့ကြသည်"),
        )
    },
    "tibetan": UnsplitScript(
        "Tibetan or Dzongkha",
        "has a mark between syllables",
        0.3,
        "ཉིན་དེར་གནམ་གཤིས་ཡག་པོ་རེད",
        ("intl",),
    ),
    **{
        script: UnsplitScript(f"the {name} script", _NO_SPACES, 0.3, sample, ("char",))
        for script, name, sample in (
            ("javanese", "Javanese", "ꦢꦶꦤꦆꦏꦸꦲꦮꦤꦺꦧꦼꦕꦶꦏ"),
            ("balinese", "Balinese", "ᬭᬳᬶᬦᬾᬧᬸᬦᬶᬓᬲᬩᭂᬄᬩᬮᬾᬲ"),
            ("tai_tham", "Tai Tham", "ᨲᩫ᩠ᩅᨾᩮᩬᩥᨦ"),
            ("new_tai_lue", "New Tai Lue", "ᦷᦙᧂᦺᦑᦟᦹᧉᦀᧃ"),
            ("cham", "Cham", "ꨀꨇꨩꨣꨌꩌꨚꨯꨲ"),
        )
    },
    "diacritics": UnsplitScript(
        "Latin text with diacritics",
        "an a-z tokenizer splits at letters such as é or ữ",
        0.01,  # text_warnings.MAX_ACCENTED
        "hôm nay trời rất đẹp",
        ("intl",),
        has_spaces=True,
    ),
}

# If a text has at most this many characters per word, spaces separate its words.
MAX_WORD_CHARACTERS = 6


def can_split(tokenize: Tokenize, script: str) -> bool:
    """Return whether a tokenizer splits text in `script` and keeps its letters.

    A custom function may change letters. If it raises an exception, it is assumed to split text.

    >>> can_split("13a", "kana"), can_split("zh", "han"), can_split("rouge", "diacritics")
    (False, True, False)
    """
    return (_test_splitting if callable(tokenize) else _test_named_tokenizer)(tokenize, script)


def _test_splitting(tokenize: Tokenize, script: str) -> bool:
    """Return whether a tokenizer splits the sample of a script and keeps its letters."""
    from unicodedata import normalize

    sample = UNSPLIT_SCRIPTS[script].sample
    try:
        tokens = make_tokenizer(tokenize)(sample)
    except Exception:
        if not callable(tokenize):
            raise
        return True
    # Ignore case and normalization, because tokenizers may change them.
    sample_letters, token_letters = (
        normalize("NFKC", text).casefold() for text in (sample, "".join(tokens))
    )
    keeps_letters = callable(tokenize) or {*token_letters} >= {*sample_letters} - {" "}
    return keeps_letters and (script == "diacritics" or len(tokens) > 1 + len(sample.split()))


_test_named_tokenizer = cache(_test_splitting)


def find_unsplit_scripts(text: Mapping[str, Any]) -> Iterator[str]:
    """Yield the scripts from `UNSPLIT_SCRIPTS` that a text uses without spaces."""
    characters, words = text["characters"], text["words"]
    is_segmented = characters <= MAX_WORD_CHARACTERS * words and words >= 2 * text["segments"]
    counts = {**text["scripts"], "diacritics": text["accented"]}
    for script, unsplit in UNSPLIT_SCRIPTS.items():
        if counts.get(script, 0) > unsplit.share * characters and (
            unsplit.has_spaces or not is_segmented
        ):
            yield script
            if script == "kana":
                # Japanese also uses Han characters.
                return


def format_tokenizer_option(names: Sequence[str], option: str = "-tok") -> str:
    """Return the option that selects the first tokenizer, and how to install it if missing."""
    first, *alternatives = names
    missing = describe_missing_data(first)
    alternative = f" or {option} {alternatives[0]}" if alternatives else ""
    return f"{option} {first} ({missing}){alternative}" if missing else f"{option} {first}"
