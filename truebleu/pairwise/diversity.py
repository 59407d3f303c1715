"""Diversity measures for a set of texts: self-BLEU, pairwise diversity and distinct-n."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import expm1, fsum, log1p
from sys import maxsize
from typing import Any, NamedTuple

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.composite_scores import CompositeScore
from truebleu.text import argument_checks, corpus_inputs, tokenizers
from truebleu.text.terminal_layout import format_count

# The settings of Texygen's metric: NLTK's sentence_bleu with method1, on white-space tokens.
TEXYGEN: dict[str, Any] = {
    "tokenize": "none",
    "smoothing": "floor",
    "missing_order": "at-least-one",
    "arithmetic": "nltk",
    "published_scale": 1.0,
}

# Maximum number of texts that one call scores with all other texts, and maximum number of pairs
# that one call scores.
ROWS, PAIRS = 32, 1 << 16


@argument_checks.explain_keywords
def self_bleu(
    texts: corpus_inputs.Hypotheses,
    *,
    metric: str | Metric | None = None,
    max_order: int = 4,
    sample: int | None = None,
    workers: int = 1,
) -> CompositeScore:
    """Return self-BLEU: the mean score of each text with all other texts as references.

    Yaoming Zhu et al. (2018): Texygen, a benchmarking platform for text generation models. SIGIR.

    texts: two or more strings (any sequence, an Arrow column, a file of lines); or lists of tokens
        for a metric with `tokenize="none"`, such as the default metric.
    metric: any metric (default: Texygen's metric: NLTK's sentence_bleu with method1 on
        white-space tokens). For Texygen's results, tokenize with NLTK's word_tokenize.
    max_order: maximum n-gram order of the default metric. Texygen's is 3; papers report 2 to 5.
    sample: use only the first `sample` texts, 2 or more; Texygen's fast mode takes 500.
    workers: number of threads.

    A low score means high diversity. A metric of the class `BLEU` needs one pass over the n-grams.
    Any other metric computes one score per text, with all other texts as references. Raises
    InputError for fewer than two texts.

    >>> print(self_bleu(["a b c d", "a b c d", "a b c e"]))
    self-BLEU = 79.92
    """
    sample = None if sample is None else argument_checks.check_integer("sample", sample, 2, maxsize)
    workers = argument_checks.check_workers(workers)
    if metric is None:
        metric = BLEU(max_order=max_order, **TEXYGEN)
    elif max_order != 4:
        raise ValueError("max_order applies only to the default metric. Set it in your metric.")
    else:
        metric = registry.metric(metric)
    metric = metric.adapt_to_inputs(texts)
    if type(metric) is BLEU:
        values = _score_leave_one_out(metric, texts, sample, workers)
    else:
        sampled_texts = corpus_inputs.read_text_list("texts", texts)[:sample]
        _check_text_count(len(sampled_texts))
        values = []
        for first in range(0, len(sampled_texts), ROWS):
            rows = range(first, min(first + ROWS, len(sampled_texts)))
            others = [(*sampled_texts[:i], *sampled_texts[i + 1 :]) for i in rows]
            row_texts = sampled_texts[first : rows.stop]
            values += metric.segments(row_texts, others, workers=workers)
    return CompositeScore(
        "self-BLEU",
        sum(values) / len(values),
        metric,
        {"texts": str(len(values))},
        {"segments": values},
        segment=True,
    )


def _check_text_count(count: int, location: str = "") -> None:
    if count < 2:
        raise InputError(f"texts{location}: expected at least 2 texts, found {count}")


def _score_leave_one_out(
    metric: BLEU, texts: corpus_inputs.Hypotheses, sample: int | None, workers: int
) -> list[float]:
    """Return the score of each text with all others as references, counting n-grams only once."""
    (texts,) = metric._normalize_texts(texts)  # noqa: SLF001
    source, tokenizer, lowercase = corpus_inputs.prepare_source(
        texts, tokenize=metric.tokenize, lowercase=metric.lowercase
    )
    table = _kernel.left_out(
        source,
        tokenizer=tokenizer,
        lowercase=lowercase,
        max_order=metric.max_order,
        reference_length=metric.length_rule,
        at_least_one=metric.counts_at_least_one_ngram,
        most=maxsize if sample is None else sample,
        workers=workers,
    )
    _check_text_count(len(table))
    if metric.parameters["reference_length"] == "single" and len(table) > 2:
        raise InputError("texts: all other texts are references, but this metric supports only one")
    factor = 100.0 / metric.natural_scale
    # For average lengths, the table contains the summed length of the other texts.
    unit = len(table) - 1 if metric.length_rule == "average" else None
    formula = metric.make_formula(segment=True, length_unit=unit)
    return [factor * value for value in formula.scores(table)]


class PairwiseDiversity(CompositeScore):
    """The diversity of a set of texts, from the scores of all pairs."""

    __slots__ = ()

    @property
    def pairwise(self) -> float:
        """The mean score or the corpus score of all pairs ("pairwise BLEU")."""
        return self._details["pairwise"]  # type: ignore[no-any-return]

    @property
    def sources(self) -> list[float] | None:
        """The mean score of the pairs of each source, or None for `aggregate="corpus"`."""
        return self._details["sources"]  # type: ignore[no-any-return]

    @property
    def verbose(self) -> str:
        """The pairwise score and the number of pairs."""
        count = self._details["pairs"]
        name = self._signature["metric"]
        return f"(pairwise {name} = {self.pairwise:.2f}, {format_count(count, 'pair')})"


@argument_checks.explain_keywords
def pairwise_diversity(
    texts: Sequence[str] | Sequence[Sequence[str]],
    *,
    metric: str | Metric | None = None,
    aggregate: str = "pairs",
    workers: int = 1,
) -> PairwiseDiversity:
    """Return 100 minus the mean score of all pairs of texts (100 minus "pairwise BLEU").

    Tianxiao Shen, Myle Ott, Michael Auli and Marc'Aurelio Ranzato (2019): Mixture models for
    diverse machine translation: tricks of the trade. ICML. Their pairwise BLEU is `pairwise`.

    texts: one set of two or more strings; or several sets, as one list of strings per source.
    metric: any metric with scores from 0 to 100 (default: `BLEU()`). If lower is better (TER),
        scores are distances, and the diversity is the mean score.
    aggregate: "pairs" averages the scores of single pairs, first per source and then over sources;
        "corpus" computes one score of all pairs of all sources, like the program of Shen et al.
    workers: number of threads.

    Pairs are ordered: n texts have n · (n - 1) pairs, with each text once as the hypothesis and
    once as the reference of every other text. The mean of a set is the mean of its texts' mean
    scores with the other texts. All sums use `math.fsum`, whose result does not depend on order.
    Raises InputError for a source with fewer than two texts.

    >>> print(pairwise_diversity(["a b c d e", "a b c d f", "a b x y z"]))
    pairwise diversity = 63.47 (pairwise BLEU = 36.53, 6 pairs)
    """
    metric = registry.metric("bleu" if metric is None else metric)
    workers = argument_checks.check_workers(workers)
    if metric.bound is None and not metric.lower_is_better:
        raise ValueError(
            f"metric: {metric.NAME} has no upper bound, so 100 minus the score is meaningless"
        )
    argument_checks.check_choice("aggregate", aggregate, ("pairs", "corpus"))
    metric = metric.adapt_to_inputs(texts)
    sets, has_several_sets = corpus_inputs.read_text_sets("texts", texts)
    for number, text_set in enumerate(sets, 1):
        _check_text_count(len(text_set), f", source {number}" if has_several_sets else "")
    sources: list[float] | None = None
    if aggregate == "pairs":
        sources = [_average_pair_scores(metric, one, workers) for one in sets]
        pairwise = fsum(sources) / len(sources)
    else:
        pairwise = float(_score_all_pairs(metric, sets, workers))
    fields = {"sources": str(len(sets))} if has_several_sets else {"texts": str(len(sets[0]))}
    count = sum(len(one) * (len(one) - 1) for one in sets)
    return PairwiseDiversity(
        "pairwise diversity",
        pairwise if metric.lower_is_better else 100 - pairwise,
        metric,
        {**fields, "pairs": aggregate},
        {"pairwise": pairwise, "pairs": count, "sources": sources},
        segment=aggregate == "pairs",
    )


def _average_pair_scores(metric: Metric[Any], texts: list[str], workers: int) -> float:
    """Return the mean score of all pairs, averaged first per text and then over texts."""
    count = len(texts)
    means: list[float] = []
    height = max(1, PAIRS // count)
    for first in range(0, count, height):
        matrix = metric.matrix(texts[first : first + height], texts, workers=workers)
        for i, scores in enumerate(matrix, first):
            row = scores.tolist()
            row[i] = 0.0  # the pair of a text with itself
            means.append(fsum(row) / (count - 1))
    return fsum(means) / count


def _score_all_pairs(metric: Metric[Any], sets: list[list[str]], workers: int) -> Score:
    """Return the corpus score of all pairs of all sets."""
    pairs = (
        (one[i], one[j]) for one in sets for i in range(len(one)) for j in range(len(one)) if i != j
    )
    if metric.non_additive_reason:
        hypotheses, references = zip(*pairs, strict=True)
        score: Score = metric.score(
            list(hypotheses), list(references), workers=workers, check_text=False
        )
        return score
    totals = [0] * len(metric.columns)
    while pair_batch := list(islice(pairs, PAIRS)):
        hypotheses, references = zip(*pair_batch, strict=True)
        table = metric.statistics(list(hypotheses), list(references), workers=workers)
        totals = [a + b for a, b in zip(totals, table.total().tolist()[0], strict=True)]
    score = metric.from_statistics(totals, references=1)
    return score  # noqa: RET504


# Fields of `Distinct.to_dict` after the name. Fields with value None are left out.
SERIALIZED_FIELDS = (
    *("value", "mean", "per_token", "expectation_adjusted"),
    *("distinct", "ngrams", "tokens", "texts", "shorter"),
)


class Distinct(NamedTuple):
    """Share of distinct n-grams among all n-grams of texts. `float()` returns `value`."""

    n: int
    distinct: int
    """The number of distinct n-grams in all texts."""
    ngrams: int
    """The total number of n-grams in all texts."""
    tokens: int
    texts: int
    shorter: int
    """The number of texts without any n-grams."""
    mean: float
    """Intra-distinct: the share of distinct n-grams in a text, averaged over texts (0 to 1)."""
    vocabulary: int | None

    @property
    def value(self) -> float:
        """Inter-distinct: the share of distinct n-grams among the n-grams of all texts (0 to 1)."""
        return self.distinct / self.ngrams

    @property
    def per_token(self) -> float:
        """The number of distinct n-grams per token (Li et al., 2016). Equals `value` for n = 1."""
        return self.distinct / self.tokens

    @property
    def expectation_adjusted(self) -> float | None:
        """EAD (Liu et al., 2022): distinct n-grams / expected number, or None without a vocabulary.

        N / (V · (1 - ((V - 1) / V)^C)), for N distinct n-grams out of C, and vocabulary size V.
        """
        if self.vocabulary is None:
            return None
        if self.vocabulary == 1:
            return float(self.distinct)
        # A literal computation would lose the difference from 1 in rounding for a vocabulary of
        # n-grams: 250,000 tokens form 10**16 trigrams. The limit of 10**300 prevents overflow.
        size = float(min(self.vocabulary, 10**300))
        return self.distinct / (size * -expm1(self.ngrams * log1p(-1 / size)))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-compatible values."""
        values = {name: getattr(self, name) for name in SERIALIZED_FIELDS}
        present_fields = {name: value for name, value in values.items() if value is not None}
        return {"name": f"distinct-{self.n}", **present_fields}

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return argument_checks.format_json(self.to_dict(), indent=1)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return (
            f"distinct-{self.n} = {self.value:.4f} ({self.distinct:,} of {self.ngrams:,}; "
            f"mean of texts {self.mean:.4f})"
        )

    def __repr__(self) -> str:
        return f"<{self}>"


@argument_checks.explain_keywords
def distinct_n(
    texts: corpus_inputs.Hypotheses,
    n: int = 2,
    *,
    tokenize: tokenizers.Tokenize = "none",
    lowercase: bool | str = False,
    vocabulary: int | None = None,
) -> Distinct:
    """Return distinct-n: the share of distinct n-grams among all n-grams of texts (0 to 1).

    Jiwei Li et al. (2016): A diversity-promoting objective function for neural conversation models.
    NAACL. They divide by the number of tokens (`per_token`); most programs divide by the number of
    n-grams (`value`). Both numbers are equal for n = 1. The mean of the texts' ratios (`mean`) is
    the intra-dist of Xiaodong Gu et al. (2019), DialogWAE, ICLR, and `value` is their inter-dist.

    texts: strings (any sequence, an Arrow column, a file of lines), or lists of tokens.
    n: the n-gram order, 1 or more.
    tokenize, lowercase: as for `BLEU`; by default, white space separates tokens.
    vocabulary: for `expectation_adjusted`, the number of possible n-grams. Siyang Liu
        et al. (2022): Rethinking and refining the distinct metric. ACL. They define it for tokens,
        with the size of the model's vocabulary.

    Texts with fewer than n tokens have no n-grams. Their share in `mean` is 0, and `shorter` is
    their number. Raises InputError if no text has an n-gram.

    >>> distinct_n(["i do not know", "i do not care", "no"], 2)
    <distinct-2 = 0.6667 (4 of 6; mean of texts 0.6667)>
    """
    n = argument_checks.check_integer("n", n, 1, maxsize)
    vocabulary = (
        None if vocabulary is None else argument_checks.check_integer("vocabulary", vocabulary, 1)
    )
    source, tokenizer, before = corpus_inputs.prepare_source(
        texts, tokenize=tokenize, lowercase=lowercase
    )
    distinct, table = _kernel.distinct(source, tokenizer=tokenizer, lowercase=before, order=n)
    if not len(table):
        raise InputError("texts: no texts (expected at least one)")
    rows = table.tolist()
    tokens, ngrams, _ = table.total().tolist()[0]
    if not ngrams:
        longest = max(length for length, _, _ in rows)
        raise InputError(
            f"texts: no text has a {n}-gram; the longest has {format_count(longest, 'token')}"
        )
    ratios = [different / count for _, count, different in rows if count]
    return Distinct(
        n,
        distinct=distinct,
        ngrams=ngrams,
        tokens=tokens,
        texts=len(rows),
        shorter=len(rows) - len(ratios),
        mean=fsum(ratios) / len(rows),
        vocabulary=vocabulary,
    )
