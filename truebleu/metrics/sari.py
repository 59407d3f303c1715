"""SARI for text simplification: n-grams that are added, kept and deleted as in the references.

Wei Xu, Courtney Napoles, Ellie Pavlick, Quanze Chen and Chris Callison-Burch (2016): Optimizing
statistical machine translation for text simplification. TACL 4. `SARI` equals EASSE (Fernando
Alva-Manchego, Louis Martin, Carolina Scarton and Lucia Specia, 2019: EASSE: easier automatic
sentence simplification evaluation. EMNLP demonstrations), which sums counts over a corpus.
`SentenceSARI` has the programs that average over segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from truebleu._kernel import Scores, Table
from truebleu.metrics import parameters as p
from truebleu.metrics import python_metric
from truebleu.metrics.base import Corpus
from truebleu.metrics.python_metric import SegmentMeanMetric, SegmentTexts, SourceMetric
from truebleu.text import corpus_inputs, tokenizers

if TYPE_CHECKING:
    from truebleu._kernel import Summary

ORDERS = (1, 2, 3, 4)
OPERATIONS = ("add", "keep", "delete")


class SARI(SourceMetric):
    """SARI as in EASSE, from counts that are summed over the corpus. It needs the sources.

    SARI = (add + keep + delete) / 3. Each part is the mean F-score of n-grams of orders 1 to 4.
    Added n-grams are not in the source. Kept and deleted n-grams are weighted by the number of
    references that keep or delete them. Each segment uses the references that it has.

    `sari-paper` averages precisions and recalls before the F-score. `sari-legacy` reproduces older
    papers: it keeps case and does not tokenize the sources. `deletion="precision"` is the paper's
    choice for deletions.

    >>> source, reference = "the cat perched upon the mat", "the cat sat on the mat"
    >>> score = SARI().sentence("the cat sat upon the mat", reference, source)
    >>> print(score)
    SARI = 53.04
    >>> {name: round(value, 2) for name, value in score.details().items()}
    {'add': 33.81, 'keep': 42.22, 'delete': 83.1}
    """

    __slots__ = ()

    NAME = "SARI"
    CITATIONS = ("xu-etal-2016-optimizing", "alva-manchego-etal-2019-easse")
    VARIANTS = {  # noqa: RUF012
        "sari-paper": {"avg": "precisions"},
        "sari-legacy": {"case": "mixed", "split": "yes"},
    }
    ZERO_REASON = "no n-gram is added, kept or deleted as in a reference"
    PREFIX = "sari-"
    SCALE = 1.0  # the formula already uses percentages
    is_percentage = True
    FIELDS = ("case", "tok", "del", "avg", "agg")
    CONSTANTS = {"agg": ("sums", "agg")}  # noqa: RUF012
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase(default=True)
    deletion: p.Parameter[str] = p.Choice(
        "f1",
        "the score of deletions",
        {"f1": "F-score", "precision": "precision, as in the paper"},
        key="del",
        short="de",
    )
    average: p.Parameter[str] = p.Choice(
        "orders",
        "how to combine the orders",
        {
            "orders": "the mean of the F-scores",
            "precisions": "the F-score of the mean precision and the mean recall",
        },
        key="avg",
        short="av",
    )
    split_sources: p.Parameter[bool] = p.Flag(
        "split the sources at white space, and keep their case", key="split", short="sp",
        optional=True,
    )  # fmt: skip

    def build_kernel_settings(self) -> dict[str, Any]:
        """Return the kernel's metric settings."""
        return {
            "metric": "sari",
            **self._build_lexer_settings(),
            "split_sources": self.split_sources,
            "averages_precisions": self.average == "precisions",
            "deletion_precision": self.deletion == "precision",
        }

    @property
    def name(self) -> str:
        """The name with the variant, such as "SARI-paper"."""
        if self.average == "precisions":
            return "SARI-paper"
        return "SARI-legacy" if self.split_sources and self.lowercase is False else "SARI"

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names: good n-grams, and n-grams of each side, by order and operation."""
        return tuple(
            f"{operation}_{kind}_{n}"
            for n in ORDERS
            for operation in OPERATIONS
            for kind in ("good", "hypothesis", "reference")
        )

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        columns = iter(self.columns)
        triples = zip(columns, columns, columns, strict=True)
        return tuple((good, 1, total) for good, *totals in triples for total in totals)

    def _count_text(self, corpus: Corpus) -> tuple[Table, Summary]:
        scan = corpus_inputs.scan_corpus(
            self._kernel,
            corpus.hypotheses,
            corpus.references,
            sources=corpus.sources,
            split_sources=self.split_sources,
            workers=corpus.workers,
            **self._tokenizer_settings,
        )
        table, summary = scan.totals(corpus.progress) if corpus.totals else scan.table()
        # The kernel reads the hypothesis as the first reference.
        minimum, maximum = summary["references"] or (2, 2)
        if minimum == 1:
            # This call raises the error that names the segment without references.
            list(corpus_inputs.read_segments(corpus.hypotheses, corpus.references))
        counts = {"segments": summary["segments"], "references": (minimum - 1, maximum - 1)}
        return table, python_metric.EMPTY_SUMMARY | counts

    def _compute_scores(self, table: Table, *, segment: bool) -> Scores:
        return self._kernel.scores(table, corpus=not segment)

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        # The order of floating-point operations is EASSE's.
        details = {}
        for k, operation in enumerate(OPERATIONS):
            takes_precision = operation == "delete" and self.deletion == "precision"
            value = precision_sum = recall_sum = 0.0
            for i in range(3 * k, len(row), 3 * len(OPERATIONS)):
                good, by_hypothesis, by_references = row[i : i + 3]
                precision, recall = _divide(good, by_hypothesis), _divide(good, by_references)
                value += (precision if takes_precision else _compute_f(precision, recall)) / 4
                precision_sum += precision
                recall_sum += recall
            if self.average == "precisions":
                precision, recall = precision_sum / 4, recall_sum / 4
                value = precision if takes_precision else _compute_f(precision, recall)
            details[operation] = 100.0 * value
        return sum(details.values()) / 3, details


def _divide(part: float, total: float, otherwise: float = 0.0) -> float:
    """Return the quotient, or another value if the total is 0."""
    return part / total if total else otherwise


def _compute_f(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall."""
    if not precision or not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


class SentenceSARI(SegmentMeanMetric):
    """SARI of programs that average over segments. It needs the sources.

    They differ where a segment leaves no choice: if there is nothing to add or to delete, that part
    is 0 in the original and 1 in the others. `SARI` is the metric of EASSE.

    >>> metric, text = SentenceSARI(), "birds fly south ."
    >>> print(metric.sentence(text, text, text))
    SARI-original = 33.33
    >>> print(metric.with_parameters(variant="hf").sentence(text, text, text))
    SARI-hf = 100.00
    """

    __slots__ = ()

    NAME = "SARI-original"
    CITATIONS = ("xu-etal-2016-optimizing",)
    NEEDS_SOURCE = True
    VARIANTS = {f"sari-{name}": {"variant": name} for name in ("original", "hf", "t2t")}  # noqa: RUF012
    PREFIX = "sari-sentence-"
    NUMBER_NAMES = ("score", *OPERATIONS)
    DIGITS = 2
    FIELDS = ("variant", "agg")
    variant: p.Parameter[str] = p.Choice(
        "original",
        "the program",
        {
            "original": "SARI.py by Xu et al., on lower-cased text that is split at each space",
            "hf": "Hugging Face evaluate, on lower-cased text with tokens of 13a",
            "t2t": "tensor2tensor, on lower-cased text that is split at white space",
        },
        short="va",
    )

    @property
    def name(self) -> str:
        """The name with the variant, such as "SARI-hf"."""
        return f"SARI-{self.variant}"

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[tuple[float, ...]]:
        sources = corpus_inputs.read_sources(corpus.sources, len(texts))
        split, compute = _PROGRAMS[self.variant]
        numbers: list[tuple[float, ...]] = []
        for source, (text, references) in zip(sources, texts, strict=True):
            words = list(map(split, (source, text, *references)))
            orders = [compute(*(tokenizers.count_ngrams(x, n) for x in words)) for n in ORDERS]
            keep, delete, add = (sum(values) / 4 for values in zip(*orders, strict=True))
            total = keep + add + delete if self.variant == "t2t" else keep + delete + add
            numbers.append((total / 3, add, keep, delete))
        return numbers


def _compute_parts(
    source: Counter[Any], hypothesis: Counter[Any], *references: Counter[Any], missing: float
) -> tuple[float, float, float]:
    """Return an order's values of keep, delete and add, as in SARI.py or Hugging Face evaluate.

    Kept and deleted n-grams have the mean over n-grams of the share of good occurrences.
    missing: the value of 0 / 0, which is 0 in SARI.py and 1 in Hugging Face evaluate.
    """
    source, hypothesis = (
        Counter({ngram: len(references) * n for ngram, n in counts.items()})
        for counts in (source, hypothesis)
    )
    reference_counts: Counter[Any] = Counter()
    for reference in references:
        reference_counts.update(reference)
    kept_ngrams, kept_by_references = source & hypothesis, source & reference_counts
    good = kept_ngrams & reference_counts
    precision = _average_shares(good, kept_ngrams, missing)
    if missing and kept_by_references:  # Hugging Face evaluate
        recall = good.total() / kept_by_references.total()
    else:
        recall = _average_shares(good, kept_by_references, missing)
    deleted, added = source - hypothesis, hypothesis.keys() - source.keys()
    added_by_references = reference_counts.keys() - source.keys()
    right = len(added & added_by_references)
    return (
        _compute_f(precision, recall),
        _average_shares(deleted - reference_counts, deleted, missing),
        _compute_f(
            _divide(right, len(added), missing), _divide(right, len(added_by_references), missing)
        ),
    )


def _average_shares(good: Mapping[Any, int], total: Mapping[Any, int], missing: float) -> float:
    """Return the mean over n-grams of the share of good occurrences, in the original's order."""
    share_sum = 0.0
    for ngram, n in good.items():
        share_sum += n / total[ngram]
    return _divide(share_sum, len(total), missing)


def _compute_t2t_parts(
    source: Collection[Any], hypothesis: Collection[Any], *references: Counter[Any]
) -> tuple[float, float, float]:
    """Return an order's values of keep, delete and add, as in tensor2tensor.

    Each n-gram counts once. Its weight is the share of the references with n-grams that have it.
    """
    counts = Counter(chain(*references))
    count = sum(map(bool, references)) or 1
    source, hypothesis = set(source), set(hypothesis)
    kept_ngrams, deleted, added = source & hypothesis, source - hypothesis, hypothesis - source
    divide = partial(_divide, otherwise=1.0)
    good, relevant = (sum(map(counts.__getitem__, one)) / count for one in (kept_ngrams, source))
    right, needed = len(added & counts.keys()), len(counts.keys() - source)
    return (
        _compute_f(divide(good, len(kept_ngrams)), divide(good, relevant)),
        divide(sum(count - counts[ngram] for ngram in deleted) / count, len(deleted)),
        _compute_f(divide(right, len(added)), divide(right, needed)),
    )


_split_like_13a = tokenizers.make_tokenizer("13a", True)
# Each variant's tokenizer and its function for the parts.
_PROGRAMS: dict[str, tuple[Callable[[str], list[str]], Callable[..., tuple[float, ...]]]] = {
    # An empty text has one empty token.
    "original": (lambda text: text.lower().split(" "), partial(_compute_parts, missing=0.0)),
    "hf": (lambda text: list(_split_like_13a(text)) or [""], partial(_compute_parts, missing=1.0)),
    "t2t": (lambda text: text.lower().split(), _compute_t2t_parts),
}
