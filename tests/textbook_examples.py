"""Examples that everyone who writes about BLEU uses."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

# Papineni et al. (2002), section 2.1: two candidates, three references.
GUIDE = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
TROOPS = "It is to insure the troops forever hearing the activity guidebook that party direct"
GUIDE_REFERENCES = (
    "It is a guide to action that ensures that the military will forever heed Party commands",
    (
        "It is the guiding principle which guarantees the military forces always "
        "being under the command of the Party"
    ),
    "It is the practical guide for the army always to heed the directions of the party",
)

WIKIPEDIA = ("the cat is on the mat", "there is a cat on the mat")
AIRPORT = "Israeli officials are responsible for airport security"


class TextbookExample(NamedTuple):
    """A worked example, with the numbers that the text prints.

    precisions: matches and n-grams of the printed orders, from unigrams. scores: BLEU up to order
    n, by n, rounded or cut off as printed. settings: parameters of BLEU that the text changes.
    """

    source: str
    hypothesis: str | list[str]
    references: Sequence[str | list[str]]
    precisions: Sequence[tuple[int, int]] = ()
    brevity_penalty: float | None = None
    scores: Mapping[int, float] = MappingProxyType({})
    settings: Mapping[str, Any] = MappingProxyType({})


TEXTBOOK_EXAMPLES = [
    # The paper prints "The cat"; 2/7 ignores its case.
    TextbookExample(
        "Papineni et al. (2002), example 2",
        "the the the the the the the",
        ["The cat is on the mat.", "There is a cat on the mat."],
        [(2, 7)],
        settings={"lowercase": True},
    ),
    TextbookExample(
        "Papineni et al. (2002), example 1", GUIDE, GUIDE_REFERENCES, [(17, 18), (10, 17)]
    ),
    TextbookExample(
        "Papineni et al. (2002), example 1", TROOPS, GUIDE_REFERENCES, [(8, 14), (1, 13)]
    ),
    TextbookExample(
        "Papineni et al. (2002), sentence length", "of the", GUIDE_REFERENCES, [(2, 2), (1, 1)]
    ),
    # Koehn prints a brevity penalty of 6/7, without exp, and therefore 52% for the second system.
    TextbookExample(
        "Koehn (2010): Statistical Machine Translation, figure 8.5",
        "Israeli officials responsibility of airport safety",
        [AIRPORT],
        [(3, 6), (1, 5), (0, 4), (0, 3)],
        scores={4: 0.0},
    ),
    TextbookExample(
        "Koehn (2010): Statistical Machine Translation, figure 8.5",
        "airport security Israeli officials are responsible",
        [AIRPORT],
        [(6, 6), (4, 5), (2, 4), (1, 3)],
        brevity_penalty=0.8465,
        scores={4: 0.5115},
    ),
    TextbookExample(
        "Wikipedia and Jurafsky and Martin (2009), 25.9",
        "the the the the the the the",
        WIKIPEDIA,
        [(2, 7)],
    ),
    TextbookExample("Wikipedia", "the cat", WIKIPEDIA, [(2, 2), (1, 1)], brevity_penalty=0.1353),
    TextbookExample(
        "a course on sequence models", "the cat the cat on the mat", WIKIPEDIA, [(5, 7), (4, 6)]
    ),
    TextbookExample(
        "a study note",
        "the cat the cat on the mat",
        WIKIPEDIA[:1],
        [(5, 7), (3, 6), (1, 5)],
        brevity_penalty=1.0,
        scores={3: 0.415},
    ),
    *(
        TextbookExample(
            "a university's notebook", " ".join(["the"] * count), WIKIPEDIA[:1], scores={1: score}
        )
        for count, score in enumerate(
            (0.00674, 0.13534, 0.24525, 0.30327, 0.32749, 0.33333, 0.28571, 0.25), 1
        )
    ),
    TextbookExample(
        "NLTK, sentence_bleu", GUIDE, GUIDE_REFERENCES, scores={2: 0.7453, 3: 0.6240, 4: 0.5045}
    ),
    TextbookExample(
        "NLTK, sentence_bleu",
        GUIDE,
        GUIDE_REFERENCES,
        scores={5: 0.3920},
        settings={"max_order": 5},
    ),
    TextbookExample("NLTK, sentence_bleu", TROOPS, GUIDE_REFERENCES, scores={4: 0.0}),
    TextbookExample(
        "NLTK, corpus_bleu",
        [GUIDE, "he read the book because he was interested in world history"],
        [
            list(GUIDE_REFERENCES),
            ["he was interested in world history because he read the book"],
        ],
        scores={2: 0.8242, 4: 0.5920},
    ),
    TextbookExample(
        "NLTK, brevity_penalty",
        "a a a a a a a",
        ["a a a a a a a a a a a a"],
        brevity_penalty=0.4895,
    ),
    TextbookExample(
        "NLTK, brevity_penalty",
        "a a a a a a a a a a a a a",
        ["a a a a a a a a a a a a a", "a a"],
        brevity_penalty=1.0,
    ),
]
