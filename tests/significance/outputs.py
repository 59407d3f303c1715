"""Random references, and system outputs that differ from them by a given amount."""

from random import Random

WORDS = "the a cat dog house sat ran on to red big it not .".split()  # noqa: SIM905


def references(dice: Random, segments: int, words: list[str] = WORDS) -> list[str]:
    """Return segments of 4 to 15 words."""
    return [" ".join(dice.choices(words, k=dice.randint(4, 15))) for _ in range(segments)]


def output(dice: Random, refs: list[str], kept_share: float, words: list[str] = WORDS) -> list[str]:
    """Return the references with random words in place of all but a share of the words."""
    return [
        " ".join(word if dice.random() < kept_share else dice.choice(words) for word in ref.split())
        for ref in refs
    ]
