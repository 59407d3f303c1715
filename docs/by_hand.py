"""The page "BLEU by hand"."""

from __future__ import annotations

from parts import BUILT, code, filled, formula, fraction, number, short, system, table, worked

from truebleu import BLEU, bleu, explain

CAT = "the cat is on the mat"
CATS = [CAT, "there is a cat on the mat"]


def words(max_order: int = 4, smoothing: str = "none") -> BLEU:
    """Papineni's BLEU: words, no smoothing."""
    return BLEU("none", max_order=max_order, smoothing=smoothing, effective_order=False)


def page() -> str:
    """The page."""
    parts = (
        _beginning,
        _clipping,
        _recall,
        _two_references,
        _brevity,
        _zero,
        _characters,
        _corpus,
        _case_and_order,
        _your_own,
    )
    return BUILT + "\n" + "\n\n".join(part() for part in parts) + "\n"


def _beginning() -> str:
    return filled(
        "by-hand-beginning",
        code=code("the cat the cat on the mat"),
        code_cat=code(CAT),
        worked=worked("the cat the cat on the mat", CAT, words(3)),
    )


def _clipping() -> str:
    seven = system("the the the the the the the", CATS, words())["orders"][0]
    row = seven["ngrams"][0]
    return filled(
        "by-hand-clipping",
        code=code(" ".join(["the"] * 7)),
        count=row["count"],
        total=seven["total"],
        code_2=code("the"),
        reference_count=row["reference_count"],
        reference=row["reference"],
        fraction_seven=fraction(seven),
        code_3=code("abab"),
        code_4=code("abcbab"),
        bigrams_of_characters=_bigrams_of_characters(),
    )


def _bigrams_of_characters() -> str:
    rows = system("abab", "abcbab", BLEU("char", max_order=2))["orders"][1]["ngrams"]
    return table(
        ["bigram", "in `abab`", "in `abcbab`", "counts"],
        [
            (code("".join(row["ngram"])), row["count"], row["reference_count"], row["clipped"])
            for row in rows
        ],
    )


def _recall() -> str:
    pair = system("the cat", CATS, words(2), recall=True)
    four = system("the cat", CATS, words())
    one, two = pair["orders"]
    recalls = " and ".join(
        f"{entry['matches']}/{entry['total']} of reference {entry['reference']}"
        for entry in one["recall"]
    )
    return filled(
        "by-hand-recall",
        code=code("the cat"),
        fraction_one=fraction(one),
        fraction_two=fraction(two),
        recalls=recalls,
        code_2=code("the"),
        matches=one["recall"][0]["matches"],
        total=one["recall"][0]["total"],
        hypothesis_length=pair["hypothesis_length"],
        reference_length=pair["reference_length"],
        formula_pair=formula(pair),
        number_four=number(four["fraction"]),
        zero=four["zero"],
    )


def _two_references() -> str:
    header = ["references", "unigrams", "bigrams"]
    rows = []
    for name, references in (("1", CATS[0]), ("2", CATS[1]), ("both", CATS)):
        orders = system("the the cat", references, words(2))["orders"]
        rows.append((name, *map(fraction, orders)))
    hypothesis = "there is a cat on a mat the cat is on"
    separate = [system(hypothesis, reference, words())["score"] for reference in CATS]
    pooled = system(hypothesis, CATS, words())["score"]
    assert pooled > max(separate)
    return filled(
        "by-hand-two-references",
        code=code("the the cat"),
        table=table(header, rows),
        code_hypothesis=code(hypothesis),
        table_of_methods=table(
            ["method", "BLEU"],
            [
                ("reference 1 alone", f"{separate[0]:.2f}"),
                ("reference 2 alone", f"{separate[1]:.2f}"),
                ("the mean of these", f"{sum(separate) / 2:.2f}"),
                ("the best of these", f"{max(separate):.2f}"),
                ("**pooled, which is BLEU**", f"**{pooled:.2f}**"),
            ],
        ),
    )


def _brevity() -> str:
    short = system("the cat on mat", CAT, words())
    longer = system("the cat on the mat", CAT, words())
    rows = []
    for count in range(1, 9):
        explained = system(" ".join(["the"] * count), CAT, words(1))
        order = explained["orders"][0]
        penalty = number(explained["brevity_penalty"], 5)
        rows.append((count, fraction(order), penalty, number(explained["fraction"], 5)))
    return filled(
        "by-hand-brevity",
        code=code("the cat on mat"),
        hypothesis_length=short["hypothesis_length"],
        reference_length=short["reference_length"],
        short=short["formula"][0].strip(),
        number_longer=number(longer["brevity_penalty"]),
        hypothesis_length_2=longer["hypothesis_length"],
        code_2=code("the cat on the mat"),
        code_3=code("the"),
        table_rows=table(["tokens", "precision", "BP", "BLEU-1"], rows, left=0),
    )


def _zero() -> str:
    pair = ("the cat on mat", CAT)
    plain = system(*pair, words())
    rows = []
    for name, value in (("none", None), ("exp", None), ("floor", None), ("add-k", None)):
        metric = BLEU("none", smoothing=name, smoothing_value=value)
        explained = system(*pair, metric)
        shown = []
        for order in explained["orders"]:
            smoothed = order["smoothed"]
            top, bottom = order["matches"], order["total"]
            if smoothed is not None:
                top, bottom = smoothed["numerator"], smoothed["denominator"]
            shown.append(f"{short(top)}/{short(bottom)}")
        rows.append((name, *shown, f"{explained['score']:.2f}"))
    tiny = BLEU(
        "none", smoothing="tiny", missing_order="at-least-one", arithmetic="nltk", scale=1.0
    )
    nltk = system(*pair, tiny)["published"]
    return filled(
        "by-hand-zero",
        fraction_plain=fraction(plain["orders"][2]),
        fraction_plain_2=fraction(plain["orders"][3]),
        number_plain=number(plain["fraction"]),
        zero=plain["zero"],
        table_rows=table(["smoothing", "p1", "p2", "p3", "p4", "BLEU"], rows),
        nltk=nltk,
    )


# Their order by words is not their order by characters; the page checks that.
BUDGET = "the committee approved the new budget on friday"
RIVALS = [
    "the committee approved the budget for monday",
    "the committees approve the newer budgets on fridays",
    "on friday the new budget was approved by them",
]


def _characters() -> str:
    shared = {"smoothing": "tiny", "missing_order": "at-least-one", "arithmetic": "nltk"}
    by_word = BLEU(str.split, **shared)
    by_character = BLEU(list, **shared)
    scores = [
        [system(rival, BUDGET, metric)["fraction"] for metric in (by_word, by_character)]
        for rival in RIVALS
    ]
    orders = [sorted(range(3), key=lambda i, k=k: -scores[i][k]) for k in (0, 1)]
    assert orders[0] != orders[1], scores
    rows = [
        (code(rival), *(number(score) for score in pair))
        for rival, pair in zip(RIVALS, scores, strict=True)
    ]
    best = [RIVALS[order[0]] for order in orders]
    return filled(
        "by-hand-characters",
        code_budget=code(BUDGET),
        table_rows=table(["hypothesis", "words", "characters"], rows),
        code_best=code(best[0]),
        code_best_2=code(best[1]),
    )


def _corpus() -> str:
    hypotheses = ["yes", "the committee approved the new budget on monday", "no , thank you"]
    references = ["yes", "the committee approved the new budget on friday", "no , thanks"]
    metric = BLEU("none")
    sentences = [metric.sentence(*pair).value for pair in zip(hypotheses, references, strict=True)]
    corpus = metric.score(hypotheses, references)
    explained = explain(hypotheses, references, metric).to_dict()["systems"][0]
    rows = []
    for hypothesis, reference, score in zip(hypotheses, references, sentences, strict=True):
        orders = system(hypothesis, reference, metric)["orders"]
        rows.append((code(hypothesis), code(reference), *map(fraction, orders), f"{score:.2f}"))
    sums = [f"**{fraction(order)}**" for order in explained["orders"]]
    rows.append(("**corpus: the sums**", "", *sums, f"**{corpus.value:.2f}**"))
    mean = sum(sentences) / len(sentences)
    rows.append(("mean of the sentences", "", "", "", "", "", f"{mean:.2f}"))
    return filled(
        "by-hand-corpus",
        table_rows=table(["hypothesis", "reference", "p1", "p2", "p3", "p4", "BLEU"], rows, left=2),
    )


def _case_and_order() -> str:
    one = words(1)
    upper, lower = (system(f"{the} cat", CAT, one) for the in ("The", "the"))
    shuffled = "mat the on is cat the"
    orders = system(shuffled, CAT, words())["orders"]
    return filled(
        "by-hand-case-and-order",
        code=code("The cat"),
        number_upper=number(upper["fraction"]),
        code_2=code("the cat"),
        number_lower=number(lower["fraction"]),
        code_shuffled=code(shuffled),
        code_cat=code(CAT),
        map_fraction_orders=", ".join(map(fraction, orders)),
    )


def _your_own() -> str:
    score = bleu(["a cat on the mat"], [CAT])
    return filled("by-hand-your-own", cat=CAT, value=score.value)
