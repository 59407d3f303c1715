"""The page "BLEU by hand"."""

from __future__ import annotations

from parts import BUILT, code, formula, fraction, number, short, system, table, worked

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
    return f"""# BLEU by hand

BLEU compares a text with reference texts by counting: how many of its words, word pairs, triples and
quadruples are also in a reference, and is the text long enough? Everything on this page can be checked
with a pencil, and all numbers were computed by `truebleu explain`. The examples are those that most
introductions to BLEU use. Where an introduction has a different number, the page says so: the slips
are small, they are copied from one text to the next, and each of them teaches something.

The definition is by Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (ACL 2002).

## One sentence from beginning to end

The hypothesis {code("the cat the cat on the mat")} against the reference {code(CAT)}, up to
trigrams:

{worked("the cat the cat on the mat", CAT, words(3))}"""


def _clipping() -> str:
    seven = system("the the the the the the the", CATS, words())["orders"][0]
    row = seven["ngrams"][0]
    return f"""## Why counts are clipped

All words of the hypothesis {code(" ".join(["the"] * 7))} are in the reference, {row["count"]}
of {seven["total"]}. Therefore an n-gram counts at most as often as it occurs in a single reference.
{code("the")} occurs {row["reference_count"]} times in reference {row["reference"]}, so the
clipped precision is {fraction(seven)}.

A second example has characters instead of words: the bigrams of {code("abab")}, and how often each
occurs in {code("abcbab")}.

{_bigrams_of_characters()}"""


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
    return f"""## Why there is a brevity penalty

{code("the cat")} has perfect precision: {fraction(one)} unigrams and {fraction(two)} bigrams match. Recall
would show what is missing: {recalls}. (A well-known encyclopedia has 3/6 for the first. That counts
{code("the")} twice, as the reference has it, although the hypothesis has it once; clipped, it is
{one["recall"][0]["matches"]}/{one["recall"][0]["total"]}.) But recall makes no sense with several
references, because a good translation does not repeat all of them. Instead, BLEU penalizes texts that
are shorter than their reference: here {pair["hypothesis_length"]} tokens against
{pair["reference_length"]}.

{formula(pair)}

This is BLEU-2. BLEU-4 of the same pair is {number(four["fraction"])}, because {four["zero"]}."""


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
    return f"""## References are pooled

With several references, an n-gram may match in any of them. For {code("the the cat")}:

{table(header, rows)}

A table in the same encyclopedia gives 2/3 and 1/2. The first is right for reference 2 alone, the
second is not, so no set of references gives both.

Some guides say that the scores against the references are averaged, or that the best one counts.
Neither is BLEU: the clipped counts are pooled before anything is divided. For example,
{code(hypothesis)}:

{
        table(
            ["method", "BLEU"],
            [
                ("reference 1 alone", f"{separate[0]:.2f}"),
                ("reference 2 alone", f"{separate[1]:.2f}"),
                ("the mean of these", f"{sum(separate) / 2:.2f}"),
                ("the best of these", f"{max(separate):.2f}"),
                ("**pooled, which is BLEU**", f"**{pooled:.2f}**"),
            ],
        )
    }"""


def _brevity() -> str:
    short = system("the cat on mat", CAT, words())
    longer = system("the cat on the mat", CAT, words())
    rows = []
    for count in range(1, 9):
        explained = system(" ".join(["the"] * count), CAT, words(1))
        order = explained["orders"][0]
        penalty = number(explained["brevity_penalty"], 5)
        rows.append((count, fraction(order), penalty, number(explained["fraction"], 5)))
    return f"""## How long is it?

{code("the cat on mat")} has {short["hypothesis_length"]} tokens and its reference
{short["reference_length"]}, so

```text
{short["formula"][0].strip()}
```

An often copied study note has exp(1 − 6/5) = {number(longer["brevity_penalty"])} for it. That is the
penalty of a text of {longer["hypothesis_length"]} tokens, such as {code("the cat on the mat")}: a word was
lost between the calculation and the example. Count the tokens that the tokenizer made.

Precision and penalty work against each other. The clearest case is {code("the")}, repeated 1 to 8
times, with unigrams only:

{table(["tokens", "precision", "BP", "BLEU-1"], rows, left=0)}

A text that is too long has no penalty of its own: what does not match lowers the precisions."""


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
    return f"""## When an order has no match

The same pair has {fraction(plain["orders"][2])} trigrams and {fraction(plain["orders"][3])} 4-grams, so its BLEU-4 is
{number(plain["fraction"])}: {plain["zero"]}. That hardly ever happens for a test set. For single sentences it is
common, so every implementation *smooths*, each in its own way:

{table(["smoothing", "p1", "p2", "p3", "p4", "BLEU"], rows)}

So a sentence-level BLEU means nothing without the name of its smoothing. NLTK is a special case: it is
sometimes said to give 0 here, and it gives {nltk:.3g}. Without smoothing it replaces a precision of 0
by the smallest positive number, and warns. It gives 0 only if no word matches."""


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
    return f"""## Words, please

NLTK's `sentence_bleu` expects lists of tokens. It accepts two strings without complaint, because a
string is a sequence of characters, and returns the BLEU of *characters*. A university's notebook ranks
six hypotheses that way. The numbers are far too high, and the ranking can change. Three hypotheses for
{code(BUDGET)}:

{table(["hypothesis", "words", "characters"], rows)}

By words the best is {code(best[0])}, by characters {code(best[1])}. Call
`.split()`, or better, use a tool that names its tokenizer in the signature.
"""


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
    return f"""## A corpus is not the mean of its sentences

"The scores are averaged over the corpus", several introductions say. They are not: matches, n-grams
and lengths are summed over all segments, and the formula is applied once. A short sentence has little
weight, and a sentence without a matching 4-gram does no harm.

{table(["hypothesis", "reference", "p1", "p2", "p3", "p4", "BLEU"], rows, left=2)}

The denominator is the number of n-grams in the hypotheses. A formula in the encyclopedia sums over
those of the reference, which would be recall."""


def _case_and_order() -> str:
    one = words(1)
    upper, lower = (system(f"{the} cat", CAT, one) for the in ("The", "the"))
    shuffled = "mat the on is cat the"
    orders = system(shuffled, CAT, words())["orders"]
    return f"""## Two smaller things

*Case counts.* BLEU-1 of {code("The cat")} is {number(upper["fraction"])}, and of {code("the cat")}
{
        number(lower["fraction"])
    }. Lower-casing both is a setting, and the signature says whether it was used.

*Word order counts.* BLEU is said not to "consider word order". It does, in windows of
four: {code(shuffled)} has all the words of {code(CAT)}, and matches {
        ", ".join(map(fraction, orders))
    } of its
1-, 2-, 3- and 4-grams. It does not see the order over longer distances."""


def _your_own() -> str:
    score = bleu(["a cat on the mat"], [CAT])
    return f"""## Your own

```console
$ truebleu explain "a cat on the mat" --reference "{CAT}"
$ truebleu explain examples/de-en/reference.a.en -i examples/de-en/cedar.en --segment 17 -o segment17.html
```

In Python it is `print(tb.explain("a cat on the mat", "{CAT}"))`, and a notebook shows the same in
colour. The answer is {score.value:.2f}; try it by hand first.

`truebleu lab --open` is this page for any sentence: a page that counts while you type, with the
formula and every n-gram beside the text, and with each of the choices above to be tried out."""
