"""Texts that are slow for naive programs: each a function from a size to a segment of that size."""

import random
from functools import cache

MASK = (1 << 64) - 1
PHI = 0x9E37_79B9_7F4A_7C15
PRINTABLE = bytes(range(0x21, 0x7F))


def words(n: int) -> str:
    """Different tokens of at most 8 bytes."""
    return " ".join(f"w{i}" for i in range(n))


def addresses(n: int) -> str:
    """Different tokens of one length that start alike and end alike."""
    return " ".join(f"https://a{i:07}/index.html" for i in range(n))


def one_key(n: int) -> str:
    """Different tokens of one length whose 64-bit keys, in the kernel, are all the same one.

    A key is made of words of 8 bytes in turn. Some pairs of words leave the same hash; choosing
    among them for each of four pairs gives (number of choices)⁴ tokens.
    """
    tokens = [b""]
    for choices in _equal_pairs():
        tokens = [token + pair for token in tokens for pair in choices]
    return " ".join(f"{token.decode()}lastword" for token in tokens[:n])


@cache
def _equal_pairs(length: int = 4, choices: int = 12) -> list[list[bytes]]:
    dice = random.Random(8)
    hash_before, colliding_blocks = 0, []
    for _ in range(length):
        pairs: list[bytes] = []
        target_hash = 0
        while len(pairs) < choices:
            first = bytes(dice.choices(PRINTABLE, k=8))
            middle = _step(hash_before, int.from_bytes(first, "little"))
            if not pairs:
                second = bytes(dice.choices(PRINTABLE, k=8))
                target_hash = _rotated(middle) ^ int.from_bytes(second, "little")
            else:
                second = (_rotated(middle) ^ target_hash).to_bytes(8, "little")
            if all(0x21 <= byte < 0x7F for byte in second):
                pairs.append(first + second)
        hash_before = target_hash * PHI & MASK
        colliding_blocks.append(pairs)
    return colliding_blocks


def _rotated(value: int) -> int:
    return (value << 29 | value >> 35) & MASK


def _step(value: int, word: int) -> int:
    return (_rotated(value) ^ word) * PHI & MASK


def one_slot(n: int) -> str:
    """Different tokens that a fixed multiplication spreads to one place of a table.

    The multiples of a Fibonacci number are nearly whole when they are divided by the golden ratio.
    """
    step = 2_971_215_073
    colliding_words: list[str] = []
    for i in range(1, 1 << 40):
        token = (i * step & 0xFFFF_FFFF).to_bytes(4, "little")
        if all(byte in PRINTABLE for byte in token):
            colliding_words.append(token.decode())
            if len(colliding_words) == n:
                break
    return " ".join(colliding_words)


def one_word(n: int) -> str:
    """Return one token, repeated."""
    return "word " * n


def period(n: int) -> str:
    """Seven tokens, again and again."""
    return " ".join("abcdefg"[i % 7] for i in range(n))


def nearly(n: int) -> str:
    """Return one repeated token with rare others: long n-grams repeat within the text."""
    return " ".join("b" if i % 97 == 96 else "a" for i in range(n))


def prose(n: int) -> str:
    """Tokens drawn as they come in texts, a few of them often."""
    dice = random.Random(n)
    return " ".join(f"t{int(dice.paretovariate(0.6)) % 50_000}" for _ in range(n))


def shuffled(text: str) -> str:
    """Return the tokens in another order."""
    tokens = text.split()
    random.Random(0).shuffle(tokens)
    return " ".join(tokens)


# Texts of many tokens.
TOKENS = {
    make.__name__: make
    for make in (words, addresses, one_key, one_slot, one_word, period, nearly, prose)
}

# Patterns for which tokenizers have rules, to be repeated.
RUNS = {
    "letters": "a",
    "points": ".",
    "commas": ".,",
    "numbers": "1.1,",
    "digits": "7",
    "hyphens": "1-",
    "dashes and spaces": "- ",
    "quotes": "'\"",
    "spaces": " ",
    "wide spaces": "\u3000\u00a0",
    "marks": "\u0301",
    "letters with marks": "e\u0301\u0327",
    "entities": "&amp;",
    "nested entities": "&amp;lt;",
    "ampersands": "&",
    "skipped": "<skipped>",
    "skipped in skipped": "<skip<skipped>ped>",
    "brackets": "<",
    "ideographs": "\u4e2d",
    "ideographs and points": "\u4e2d.1",
    "emoji": "\U0001f469\u200d\U0001f680",
    "sigmas": "Σ",
    "dotted capitals": "İ",
    "NULs": "\0",
    "separators": "\x1c",
    "symbols": "$+<=",
}


def run(name: str, n: int) -> str:
    """About `n` bytes of what `RUNS` has by this name, between two letters."""
    unit = RUNS[name]
    return f"x{unit * (n // len(unit.encode()))}y"
