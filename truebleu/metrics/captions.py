"""CIDEr, CIDEr-D and ROUGE-L as in COCO's evaluation of image captions.

Ramakrishna Vedantam, C. Lawrence Zitnick and Devi Parikh (2015): CIDEr: consensus-based image
description evaluation. CVPR. Xinlei Chen et al. (2015): Microsoft COCO captions: data collection
and evaluation server. Scores match pycocoevalcap 1.2.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from math import e, log, sqrt
from types import MappingProxyType
from typing import Any

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus
from truebleu.metrics.pairwise_scores import sum_like_numpy
from truebleu.metrics.python_metric import SegmentMeanMetric, SegmentMeanScore, SegmentTexts
from truebleu.text import argument_checks, caption_files, corpus_inputs, segments, tokenizers
from truebleu.text.languages import Language
from truebleu.text.terminal_layout import format_count

TOKENIZER = "ptb-coco"
# Tokens that ptb-coco removes from the tokens of ptb.
REMOVED_TOKENS = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"])
# The weight of recall in ROUGE-L.
BETA = 1.2
MAX_IMAGES = 10**9


class DocumentFrequencies(Mapping[str, Any]):
    """Number of images, and for each n-gram the number of images whose references contain it.

    It is the read-only mapping `{"images": N, "counts": {"a dog": 12}}`, which is also the content
    of a file of frequencies. Tokens of an n-gram are separated by spaces.
    """

    def __init__(self, content: Any, place: str = "df") -> None:
        """Copy and check frequencies. Raises InputError, with the place, for invalid ones."""
        has_keys = isinstance(content, Mapping) and set(content) == {"images", "counts"}
        counts = content["counts"] if has_keys else None
        if not isinstance(counts, Mapping) or not all(isinstance(key, str) for key in counts):
            raise InputError(
                f'{place}: expected {{"images": N, "counts": {{"a dog": 12, ...}}}}, found '
                f"{argument_checks.format_value(content)}"
            )
        self._images, self._counts = content["images"], dict(counts)
        for name, value in (("images", self._images), *self._counts.items()):
            if type(value) is not int or not 1 <= value <= MAX_IMAGES:
                raise InputError(
                    f"{place}: {name!r:.60}: expected a count of 1 or more, found {value!r:.40}"
                )

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> DocumentFrequencies:
        """Read a JSON file of frequencies. Raises InputError for missing or invalid files."""
        name, place = os.fspath(path), f"document frequencies (df): {os.fspath(path)}"
        if name.endswith((".p", ".pkl", ".pickle")):
            raise InputError(f"{place}: truebleu does not read pickle files. Convert it to JSON.")
        try:
            return cls(caption_files.read_json(name), place)
        except OSError as error:
            raise InputError(f"{place}: {error.strerror}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file of frequencies."""
        with open(path, "w", encoding="utf-8") as stream:
            json.dump({"images": self._images, "counts": self._counts}, stream, ensure_ascii=False)

    @property
    def checksum(self) -> str:
        """The first 8 hexadecimal digits of the SHA-256 checksum of the sorted content."""
        content = json.dumps([self._images, self._counts], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:8]

    def __getitem__(self, key: str) -> Any:
        return {"images": self._images, "counts": MappingProxyType(self._counts)}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("images", "counts"))

    def __len__(self) -> int:
        return 2

    def __hash__(self) -> int:
        return hash((self._images, len(self._counts)))

    def __repr__(self) -> str:
        counts = format_count(self._images, "image"), format_count(len(self._counts), "n-gram")
        return f"DocumentFrequencies({', '.join(counts)})"


def document_frequencies(
    references: Sequence[str | Sequence[str]] | str | os.PathLike[str],
    *,
    tokenize: tokenizers.Tokenize = TOKENIZER,
    max_order: int = 4,
) -> DocumentFrequencies:
    """Return the document frequencies of all n-grams in the references of a set of images.

    references: for each image, one reference or several; or the path of COCO's annotation file.
    tokenize, max_order: as for `CIDEr`, which must use the same values.

    >>> frequencies = document_frequencies([["a dog", "the dog"], ["a cat"]])
    >>> frequencies["images"], frequencies["counts"]["a"], frequencies["counts"]["dog"]
    (2, 2, 1)
    """
    argument_checks.check_integer("max_order", max_order, 1, p.MAX_ORDER)
    split = tokenizers.make_tokenizer(tokenize)
    if isinstance(references, str | os.PathLike):
        references = list(caption_files.read_annotations(os.fspath(references)).values())
    images = []
    column = corpus_inputs.recognize_single_column("references", references)
    for number, row in enumerate(segments.iterate_items("references", column), 1):
        others = tuple(row) if segments.is_sequence(row) else (row,)
        if not others or not all(isinstance(text, str) for text in others):
            raise InputError(f"references: image {number}: expected at least one str")
        images.append([_count_orders(split(text), max_order) for text in others])
    if not images:
        raise InputError("references: no images (expected at least one)")
    return _count_frequencies(images)


NgramCounts = list[Counter[str]]


def _count_orders(tokens: Sequence[str], max_order: int) -> NgramCounts:
    """Return the counts of each order, by first occurrence, with n-grams joined by spaces."""
    orders = range(1, max_order + 1)
    return [Counter(map(" ".join, tokenizers.iterate_ngrams(tokens, n))) for n in orders]


def _count_frequencies(images: Sequence[Iterable[NgramCounts]]) -> DocumentFrequencies:
    counts: Counter[str] = Counter()
    for references in images:
        counts.update({ngram for orders in references for order in orders for ngram in order})
    return DocumentFrequencies({"images": len(images), "counts": counts})


class _DocumentFrequencyParameter(p.Parameter[Any]):
    """Document frequencies: "corpus", a mapping, or the path of a JSON file."""

    metavar = "FILE"

    def validate(self, value: Any) -> Any:
        if value == "corpus" or isinstance(value, DocumentFrequencies):
            return value
        is_path = isinstance(value, str | os.PathLike)
        return DocumentFrequencies.from_file(value) if is_path else DocumentFrequencies(value)

    def to_field(self, value: Any) -> str:
        return value if isinstance(value, str) else f"{value['images']}-images-{value.checksum}"

    def from_field(self, text: str) -> Any:
        if re.fullmatch(r"\d+-images-[0-9a-f]{8}", text):
            raise ValueError(f"'{text}' identifies frequencies. Pass them as df (--cider-df FILE)")
        return text


class CaptionScore(SegmentMeanScore):
    """Score of captions, which warns about line breaks inside captions."""

    __slots__ = ()

    @property
    def line_breaks(self) -> int:
        """The number of segments with line breaks inside a caption."""
        return self._row[-1] if self._row else 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual properties of the text."""
        count = self.line_breaks
        return (caption_files.describe_line_breaks(count),) if count else ()


class CaptionMetric(SegmentMeanMetric):
    """Metric of COCO's caption evaluation, with COCO's tokenizer by default."""

    __slots__ = ()

    SCORE = CaptionScore
    EXTRA_COLUMNS = ("segments_with_line_breaks",)
    ABSENT_PARAMETERS = {"lowercase": "the tokenizer ptb-coco lower-cases the text"}  # noqa: RUF012

    def _count_extra_columns(self, texts: SegmentTexts) -> Iterator[Sequence[int]]:
        search = caption_files.HIDDEN_LINE_BREAK.search
        for hypothesis, references in texts:
            yield (int(any(map(search, (hypothesis, *references)))),)

    @property
    def _is_sum_based(self) -> bool:
        return False

    @property
    def non_additive_reason(self) -> str | None:
        """The reason why statistics of parts of a corpus cannot be added, or None if they can."""
        return self.NON_ADDITIVE_REASON

    def _average_rows(self, table: Table, references: int | str | None) -> Any:
        """Return the corpus score: the mean of segment scores with NumPy's rounding."""
        values = [value for value, _ in self._apply_formula_to_rows(table, segment=True)]
        row = table.total().tolist()[0]
        _, details = self._apply_formula(row, segment=False)
        mean = sum_like_numpy(values) / len(values)
        return self.SCORE(self, row, references, False, mean, details)

    def describe_language_mismatch(self, language: Language) -> str:
        """Return why the tokenizer does not suit a language, or "" if it does."""
        is_english = language.code == "en" or self._values["tokenize"] != TOKENIZER
        return "" if is_english else "its tokenizer ptb-coco is for English"


class CIDEr(CaptionMetric):
    """CIDEr-D, 0-10; and CIDEr with `clip=False` and `length_penalty=False`.

    The similarity of two captions is the cosine of their n-gram counts, each weighted by
    ln(N / df), where df of N images have references with the n-gram. Similarities are averaged over
    orders and references, and multiplied by 10. CIDEr-D clips the counts of the hypothesis, and
    multiplies by exp(-d²/2σ²), with d the difference of lengths. Papers often print 100 times the
    score.

    With `df="corpus"`, the references of the scored images determine the weights. Scores then
    depend on all images, one image alone scores 0, and resamples use the weights of all images.

    >>> metric = CIDEr(df={"images": 10, "counts": {"a": 9, "dog": 2, "a dog": 2}})
    >>> print(metric.sentence("A dog runs.", ["A dog is running."]))
    CIDEr-D = 1.2537
    """

    __slots__ = ()

    NAME = "CIDEr-D"
    CITATIONS = ("vedantam-etal-2015-cider", "chen-etal-2015-microsoft")
    VARIANTS = {"cider": {"clip": "no", "len": "no"}}  # noqa: RUF012
    PREFIX = "cider-"
    SCALE = 1.0
    BOUND = 10.0
    DIGITS = 4
    FIELDS = ("df", "n", "sigma", "tok", "agg")
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer(TOKENIZER)
    _: KW_ONLY
    df: p.Parameter[Any] = _DocumentFrequencyParameter(
        "corpus",
        "the document frequencies: those of the scored references (corpus), or of a JSON file",
    )
    sigma: p.Parameter[float] = p.Number(
        6, "σ, the standard deviation of the length factor", integers=True, minimum=1e-3, short="s"
    )
    max_order: p.Parameter[int] = p.WholeNumber(
        4, "the largest n-gram order", key="n", hints=("order", "n")
    )
    clip: p.Parameter[bool] = p.Flag(
        "clip hypothesis counts, as CIDEr-D does", default=True, short="cl", optional=True
    )
    length_penalty: p.Parameter[bool] = p.Flag(
        "multiply by the length factor, as CIDEr-D does",
        default=True, key="len", short="le", optional=True,
    )  # fmt: skip

    @property
    def NON_ADDITIVE_REASON(self) -> str | None:  # type: ignore[override]  # noqa: N802
        """The reason why partial statistics cannot be added; None with fitted frequencies."""
        if self.df != "corpus":
            return None
        return (
            "CIDEr with df='corpus' weights n-grams by all references, so it cannot combine "
            "partial results or score pairs. Pass df=document_frequencies(references) "
            "(--cider-df FILE)"
        )

    @property
    def name(self) -> str:
        """The name of the score: CIDEr-D, or CIDEr without clipping and length factor."""
        return "CIDEr-D" if self.clip or self.length_penalty else "CIDEr"

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:
        """Return the reason why the score is 0, and what to use instead."""
        if self.df == "corpus" and (segment or row[0] == 1):
            return (
                "no n-gram matches, or every n-gram occurs in the references of all images, as it "
                "does with one image; pass document frequencies as df (--cider-df FILE)"
            )
        return "no n-gram with a weight matches"

    def _make_pair_scorer(self, workers: int) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        if self.df == "corpus":
            raise ValueError(self.NON_ADDITIVE_REASON)
        return super()._make_pair_scorer(workers)

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[float]:  # noqa: ARG002
        split, order = tokenizers.make_tokenizer(self.tokenize), self.max_order
        counts = [[_count_orders(split(text), order) for text in others] for _, others in texts]
        frequencies = _count_frequencies(counts) if self.df == "corpus" else self.df
        log_images = log(frequencies["images"])
        logs = {ngram: log(count) for ngram, count in frequencies["counts"].items()}
        numbers = []
        for (hypothesis, _), references in zip(texts, counts, strict=True):
            vector = _weight(_count_orders(split(hypothesis), order), logs, log_images)
            similarities = [0.0] * order
            for reference in references:
                others = self._compare(vector, _weight(reference, logs, log_images))
                similarities = [a + b for a, b in zip(similarities, others, strict=True)]
            numbers.append(sum_like_numpy(similarities) / order / len(references) * 10.0)
        return numbers

    def _compare(self, hypothesis: _Vector, reference: _Vector) -> list[float]:
        """Return the similarity of two captions for each order."""
        (orders, length), (reference_orders, reference_length) = hypothesis, reference
        delta = float(length - reference_length)
        # The expression of the original; exp() may differ in the last bit.
        factor = e ** (-(delta**2) / (2 * self.sigma**2)) if self.length_penalty else 1.0
        values = []
        for (own, norm), (other, other_norm) in zip(orders, reference_orders, strict=True):
            value = 0.0
            for ngram, weight in own.items():
                if ngram in other:
                    shared = other[ngram]
                    value += (min(weight, shared) if self.clip else weight) * shared
            if norm and other_norm:
                value /= norm * other_norm
            values.append(value * factor)
        return values


# The weights of each order's n-grams and their norm, and the number of bigrams, which the original
# uses as the length.
_Vector = tuple[list[tuple[dict[str, float], float]], int]


def _weight(counts: NgramCounts, logs: Mapping[str, float], log_images: float) -> _Vector:
    orders = []
    for order in counts:
        weights = {g: float(count) * (log_images - logs.get(g, 0.0)) for g, count in order.items()}
        norm = 0.0
        for weight in weights.values():  # sum() would not round like the original
            norm += pow(weight, 2)
        orders.append((weights, sqrt(norm)))
    return orders, sum(counts[1].values()) if len(counts) > 1 else 0


class ROUGELCoco(CaptionMetric):
    """ROUGE-L as in COCO's caption evaluation, 0-100, averaged over images.

    Precision and recall are the best over all references, each on its own. F weights recall with
    β = 1.2. Google's ROUGE-L (`ROUGE`) has other words, β = 1, and the best F of one reference.

    >>> print(ROUGELCoco().sentence("A dog runs.", ["A dog is running.", "The dog runs"]))
    ROUGE-L-coco = 66.67
    """

    __slots__ = ()

    NAME = "ROUGE-L-coco"
    CITATIONS = ("lin-2004-rouge", "chen-etal-2015-microsoft")
    ZERO_REASON = "no hypothesis shares a token with its references"
    PREFIX = "rouge-l-coco-"
    NUMBER_NAMES = ("fmeasure", "precision", "recall")
    DIGITS = 2
    CONSTANTS = {**SegmentMeanMetric.CONSTANTS, "measure": ("rouge-l-coco", "m")}  # noqa: RUF012
    FIELDS = ("measure", "tok", "agg")
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer(TOKENIZER)

    def tokenize_text(self, text: str) -> list[str]:
        """Return the tokens of a caption; an empty caption is one empty token, as in COCO."""
        if self.tokenize != TOKENIZER:
            return tokenizers.make_tokenizer(self.tokenize)(text) or [""]
        # Tokens with U+00A0, which ptb-coco splits, remain whole.
        tokens = tokenizers.tokenize(text, "ptb")
        return [token for token in tokens if token not in REMOVED_TOKENS] or [""]

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[Any]:  # noqa: ARG002
        numbers = []
        for hypothesis, references in texts:
            tokens = self.tokenize_text(hypothesis)
            precision = recall = score = 0.0
            for reference in references:
                others = self.tokenize_text(reference)
                length = _find_common_length(tokens, others)
                precision = max(precision, length / len(tokens))
                recall = max(recall, length / len(others))
            if precision and recall:
                score = (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)
            numbers.append((score, precision, recall))
        return numbers


def _find_common_length(tokens: Sequence[str], others: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, with the bits of an integer as a row."""
    masks: Counter[str] = Counter()
    for i, token in enumerate(tokens):
        masks[token] |= 1 << i
    full = row = (1 << len(tokens)) - 1
    for token in others:
        matches = row & masks[token] if token in masks else 0
        row = ((row + matches) | (row - matches)) & full
    return len(tokens) - row.bit_count()
