"""Made-up references, and outputs of systems that differ from them more or less."""

from random import Random

WORDS = "the a cat dog house sat ran on to red big it not .".split()  # noqa: SIM905


def references(dice: Random, segments: int, words: list[str] = WORDS) -> list[str]:
    """Segments of 4 to 15 words."""
    return [" ".join(dice.choices(words, k=dice.randint(4, 15))) for _ in range(segments)]


def output(dice: Random, refs: list[str], kept: float, words: list[str] = WORDS) -> list[str]:
    """The references with a share of the words kept, and any others in place of the rest."""
    return [
        " ".join(word if dice.random() < kept else dice.choice(words) for word in ref.split())
        for ref in refs
    ]
