"""The page "What BLEU cannot see"."""

from __future__ import annotations

from parts import EXAMPLES, HYPOTHESES, REFERENCES, code, filled, system, table

from truebleu import BLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Each claim: a heading, what is said of it, a reference, and hypotheses with what they are.
Claim = tuple[str, str, str, "Sequence[tuple[str, str]]"]
CLAIMS: list[Claim] = [
    (
        "A dropped “not”",
        (
            "The worst mistake in a translation can be a single token. A harmless change of one word "
            "costs more, and a good translation in other words loses nearly everything."
        ),
        "You must not take this medicine with alcohol .",
        [
            ("the opposite", "You must take this medicine with alcohol ."),
            ("harmless", "You must not take this medication with alcohol ."),
            ("right, in other words", "Never combine these tablets with alcoholic drinks ."),
        ],
    ),
    (
        "Who did what to whom",
        "Swapping the roles keeps every word and most n-grams.",
        "After the match the coach of the home team thanked the referee for his patience .",
        [
            (
                "roles swapped",
                "After the match the referee thanked the coach of the home team for his patience .",
            ),
            (
                "right, in other words",
                (
                    "When the game was over , the home side's manager thanked the referee for being "
                    "patient ."
                ),
            ),
        ],
    ),
    (
        "Active and passive",
        "The passive says the same fact, and loses more than a wrong statement in the active.",
        "The committee rejected the proposal yesterday .",
        [
            ("passive", "The proposal was rejected by the committee yesterday ."),
            ("wrong", "The committee rejected the minister yesterday ."),
        ],
    ),
    (
        "Paraphrase",
        "BLEU knows one way to say a thing: that of the reference.",
        "He gave up smoking ten years ago .",
        [
            ("the same", "A decade ago he quit cigarettes ."),
            ("nonsense", "He gave up smoking ten fish ago ."),
        ],
    ),
    (
        "A number, a name",
        "BLEU does not know which words matter.",
        "The flight to Vienna leaves from gate 14 at 9.30 .",
        [
            ("another gate", "The flight to Vienna leaves from gate 41 at 9.30 ."),
            ("another city", "The flight to Venice leaves from gate 14 at 9.30 ."),
            ("harmless", "The flight to Vienna departs from gate 14 at 9.30 ."),
        ],
    ),
    (
        "Case",
        "A capital letter makes a different word, unless both sides are lower-cased first.",
        "The Bank of England raised rates on Thursday .",
        [
            ("lower case", "the bank of england raised rates on thursday ."),
            ("another day", "The Bank of England raised rates on Friday ."),
        ],
    ),
    (
        "Contractions",
        "“Do not” and “don't” have no token in common. A curly apostrophe makes a third variant.",
        "I don't think we're going to make it .",
        [
            ("written out", "I do not think we are going to make it ."),
            ("curly", "I don’t think we’re going to make it ."),
        ],
    ),
    (
        "Diacritics and normalization",
        (
            "The second hypothesis below looks like the reference on every screen, but its accents are "
            "separate characters (Unicode's NFD). BLEU compares code points: normalize first."
        ),
        "Le café près de l'hôtel était fermé .",
        [
            ("no accents", "Le cafe pres de l'hotel etait ferme ."),
            (
                "other code points",
                "Le cafe\u0301 pre\u0300s de l'ho\u0302tel e\u0301tait ferme\u0301 .",
            ),
        ],
    ),
    (
        "Tokenization",
        (
            "Without a tokenizer, words keep their punctuation, and a missing full stop makes a wrong "
            "word."
        ),
        "Well, that is it.",
        [("no full stop", "Well, that is it"), ("no comma", "Well that is it.")],
    ),
]

METRICS = {
    "BLEU": BLEU(),
    "lower case": BLEU(lowercase=True),
    "no tokenizer": BLEU("none"),
}


def page() -> str:
    """The page."""
    claims = "\n\n".join(_claim(*claim) for claim in CLAIMS)
    return filled(
        "what-bleu-cannot-see",
        claims=claims,
        references=_references(),
        person=_person(),
        documents=_documents(),
    )


def _claim(title: str, text: str, reference: str, hypotheses: Sequence[tuple[str, str]]) -> str:
    rows = [("*reference*", code(reference), *("" for _ in METRICS))]
    for name, hypothesis in hypotheses:
        scores = [
            f"{system(hypothesis, reference, metric)['score']:.2f}" for metric in METRICS.values()
        ]
        rows.append((name, code(hypothesis), *scores))
    return f"## {title}\n\n{text}\n\n{table(['', 'text', *METRICS], rows, left=2)}"


def _references() -> str:
    sets = {"A": ["A"], "B": ["B"], "A and B": ["A", "B"]}
    rows = []
    for name, path in HYPOTHESES.items():
        scores = [
            BLEU().score(path, [REFERENCES[one] for one in chosen]).value
            for chosen in sets.values()
        ]
        rows.append((name, *(f"{score:.2f}" for score in scores)))
    return table(["system", *sets], rows)


def _person() -> float:
    return BLEU().score(REFERENCES["B"], REFERENCES["A"]).value


def _documents() -> str:
    metric = BLEU()
    documents = (EXAMPLES / "documents.txt").read_text().split()
    groups = metric.statistics(HYPOTHESES["cedar"], list(REFERENCES.values())).groups(documents)
    scores = [
        (name, len_, metric.from_statistics(sums).value)
        for name, len_, sums in (
            (name, documents.count(name), sums) for name, sums in groups.items()
        )
    ]
    rows = [
        (name, count, f"{value:.2f}") for name, count, value in sorted(scores, key=lambda r: -r[2])
    ]
    return table(["document", "segments", "BLEU"], rows)
