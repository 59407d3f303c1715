"""Text that is hard on tokenizers, corpora made of it, and the metrics to score them with."""

import hypothesis.strategies as st
import sacrebleu

TOKENIZERS = ("none", "13a", "intl", "zh", "char")
SMOOTHINGS = ("none", "exp", "floor", "add-k")

# Everything `str.split()` splits at: Unicode's White_Space and the four separators U+001C-U+001F.
WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
# Looks like white space, is none.
INVISIBLE = "\x00\x08\x7f\xad\u180e\u200b\u200c\u200d\u200e\u2060\ufeff"
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
FOREIGN = "’“”…—–«»¿§‰€£₹×√∑→©°½²①٣४Ⅷ３．，。、！「」؟।\u20c1\U0001f600\U0001f1e9\U00010d40"
COMBINING = "\u0301\u0307\u0323\u0345\u093f\u094d\ufe0f\u20e3\U0001f3fd"
CASED = "ΣσςΑΩİıßẞǅﬁÅK\u0295\U00010400"
SURROGATES = "\ud800\udbff\udc00\udfff"

# The ends of the ranges that sacreBLEU's zh tokenizer isolates. The first is its `\u20000` bug:
# U+2001 "0" to U+2A6D "6", while the ideographs of U+20000 and U+2F800 stay glued.
CHINESE = [
    *[(0x2001, 0x2A6D), (0x2E80, 0x2FDF), (0x2FF0, 0x303F), (0x3100, 0x312F), (0x31A0, 0x31EF)],
    *[(0x3200, 0x4DB5), (0x4E00, 0x9FBB), (0xF900, 0xFA2D), (0xFA30, 0xFA6A), (0xFA70, 0xFAD9)],
    *[(0xFE10, 0xFE1F), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF)],
]
IDEOGRAPHS = [chr(code) for ends in CHINESE for end in ends for code in (end - 1, end, end + 1)]
IDEOGRAPHS += ["\U00020000", "\U0002a6d6", "\U0002f800", "你", "好", "カ", "ｶ", "가"]

# Text that 13a rewrites, and text that it only seems to rewrite.
REWRITTEN = [
    *["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;quot;", "&apos;", "&#39;", "&AMP;", "&"],
    *["<skipped>", "<SKIPPED>", "<skip<skipped>ped>", "co-<skipped>\noperate"],
    *["\n", "-\n", "-\r\n", "\n-", "--\n", "&am-\np;"],
]
NUMBERS = [
    "1",
    "1,000.50",
    ".5",
    ",.1",
    "..1",
    "1.",
    "1..",
    "1-2",
    "1--2",
    "-1",
    "٣.٤",
    "½.5",
    "1.a",
]
WORDS = [
    "the",
    "The",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "naïve",
    "Straße",
    "ΟΔΟΣ",
    "İstanbul",
    "don't",
]
# Longer than a machine word, equal in length, in the first eight bytes and in the last eight.
LONG_WORDS = [
    f"international{middle}standardization" for middle in ("re", "er", "RE", "\u0301", "ß")
]
LONG_WORDS += ["w" * length for length in (7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300)]

SNIPPETS = WORDS + LONG_WORDS + NUMBERS + REWRITTEN + IDEOGRAPHS
CHARACTERS = WHITE_SPACE + INVISIBLE + PUNCTUATION + FOREIGN + COMBINING + CASED + SURROGATES


def fragments() -> st.SearchStrategy[str]:
    """Return a word, a character, or something that a tokenizer treats in a special way."""
    return st.one_of(
        st.just(" "),
        st.sampled_from(WORDS),
        st.sampled_from(SNIPPETS),
        st.sampled_from(CHARACTERS),
        st.sampled_from(PUNCTUATION + "0123456789"),
        st.characters(),
    )


def texts(max_size: int = 24) -> st.SearchStrategy[str]:
    """Fragments run together, so that what one tokenizer rule makes is another rule's context."""
    return st.lists(fragments(), max_size=max_size).map("".join)


@st.composite
def corpora(draw: st.DrawFn, max_segments: int = 4) -> tuple[list[str], list[list[str | None]]]:
    """Hypotheses, and for each one to four references of which some may be `None` or empty.

    Hypotheses and references are built from the same few phrases, so that long n-grams match, are
    repeated and are clipped.
    """
    phrases = draw(st.lists(texts(8), min_size=1, max_size=5))
    segments = st.lists(st.sampled_from(phrases), max_size=12).map(" ".join)
    hypotheses, references = draw(st.lists(segments, min_size=1, max_size=max_segments)), []
    for _ in hypotheses:
        optional_references = draw(st.lists(st.none() | segments, max_size=3))
        references.append(list(draw(st.permutations([draw(segments), *optional_references]))))
    return hypotheses, references


@st.composite
def parameters(draw: st.DrawFn) -> dict:
    """Parameters of `truebleu.BLEU`: every tokenizer, case, smoothing, value and order."""
    smoothing = draw(st.sampled_from(SMOOTHINGS))
    values = st.none() | st.sampled_from([0, 1, 2, 0.01, 0.5]) | st.floats(0, 10)
    return {
        "tokenize": draw(st.sampled_from(TOKENIZERS)),
        "lowercase": draw(st.booleans()),
        "smoothing": smoothing,
        "smoothing_value": draw(values) if smoothing in ("floor", "add-k") else None,
        "effective_order": draw(st.none() | st.booleans()),
        "max_order": draw(st.just(4) | st.integers(1, 16)),
    }


def oracle(*, segment: bool = False, **parameters) -> sacrebleu.BLEU:
    """Return the metric of sacreBLEU with the same parameters, for a corpus or for one segment."""
    effective = parameters.get("effective_order")
    return sacrebleu.BLEU(
        tokenize=parameters.get("tokenize", "13a"),
        lowercase=parameters.get("lowercase", False),
        smooth_method=parameters.get("smoothing", "exp"),
        smooth_value=parameters.get("smoothing_value"),
        effective_order=segment if effective is None else effective,
        max_ngram_order=parameters.get("max_order", 4),
        force=True,
    )


def streams(references: list) -> list[list]:
    """Convert references per segment to sacreBLEU's reference streams; `None` if missing."""
    width = max(len(refs) for refs in references)
    return [[refs[i] if i < len(refs) else None for refs in references] for i in range(width)]


# Text that ends a script or an element, is not valid Unicode, or reverses the text next to it.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\u2028\u2029",
    "\x00",
    "\ud800",
    "\udcff\ud83d",
    "&lt;",
    "{{script}}",
    "'\"`=",
    "\ufeff",
    "\u202egnp.exe",
]

# Names that would become elements, attributes or script if they were not escaped.
HOSTILE_NAMES = [
    "<img src=x onerror=alert(1)>",
    "</article></main><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;b&gt;",
    "\u202eevil\u2028\x00\ud800",
    "{{script}}",
]
