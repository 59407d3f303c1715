"""Scores of all pairs of hypotheses and references, or of all pairs of texts.

`truebleu.pairwise` averages them, for minimum Bayes risk decoding and diversity.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from math import inf, isqrt
from operator import index as integer
from typing import Any, overload

from truebleu._kernel import InputError, Pairs, PairScores, Scores
from truebleu.metrics.scores import resolve_index
from truebleu.text import argument_checks, corpus_inputs, tokenizers
from truebleu.text.terminal_layout import format_count

# sacreBLEU's sum of logarithms and mean of scores use sum(), which compensates for rounding errors
# since Python 3.12. The last bit therefore depends on the Python version, even in the kernel.
COMPENSATED = sys.version_info >= (3, 12)


def round_to_single(number: float) -> float:
    """Return a number rounded to single precision."""
    from struct import pack, unpack  # imported late, because most scores do not need it

    return float(unpack("f", pack("f", number))[0])


def sum_like_numpy(
    values: Sequence[float], round_number: Callable[[float], float] = float
) -> float:
    """Return the sum of numbers with NumPy's rounding: pairs of halves, and eight partial sums.

    round_number: rounds each sum, for numbers in single precision.
    """

    def add(a: float, b: float) -> float:
        return round_number(a + b)

    if len(values) > 128:
        half = len(values) // 2
        half -= half % 8
        halves = values[:half], values[half:]
        return add(*(sum_like_numpy(one, round_number) for one in halves))
    end = len(values) - len(values) % 8
    sums = [reduce(add, values[i:end:8], 0.0) for i in range(8)]
    while len(sums) > 1:
        sums = list(map(add, sums[::2], sums[1::2]))
    return reduce(add, values[end:], sums[0])


class StoredPairs(PairScores):
    """Scores of pairs in double or single precision."""

    __slots__ = ()

    @property
    def dtype(self) -> str:
        """The number type: "float64" or "float32"."""
        return "float32" if self.single else "float64"

    def __reduce__(self) -> tuple[Any, ...]:
        width = self.shape[1] if isinstance(self, Matrix) else None
        return _restore_pairs, (type(self), self.to_bytes(), width, self.single)


class Matrix(StoredPairs):
    """Matrix of the scores of all hypotheses against all references: n × m numbers.

    A metric's `matrix` method returns it. It is read-only; `numpy.asarray(matrix)` shares its
    memory, and Arrow libraries read it as n lists of m numbers.

    >>> from truebleu import BLEU
    >>> matrix = BLEU("none").matrix(["a b", "c"], ["a b", "a c", "c"])
    >>> matrix.shape
    (2, 3)
    >>> matrix[0], matrix[1, 2]
    (Scores(3 segments: [100.00, 50.00, 0.00]), 100.00...)
    >>> matrix[:, 1], matrix[:, 1:].shape
    (Scores(2 segments: [50.00, 36.79]), (2, 2))
    >>> [round(max(row)) for row in matrix]
    [100, 100]
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: int | tuple[int, slice] | tuple[slice, int]) -> Scores: ...

    @overload
    def __getitem__(self, index: tuple[int, int]) -> float: ...

    @overload
    def __getitem__(self, index: slice | tuple[slice, slice]) -> Matrix: ...

    def __getitem__(
        self, index: int | slice | tuple[int | slice, int | slice]
    ) -> Scores | float | Matrix:
        """Return the scores of hypothesis i for `[i]`, or of hypothesis i against j for `[i, j]`.

        Slices select several hypotheses or references: `[i:k]`, `[:, j]`, `[i:k, j:l]`; the result
        is a `Matrix` if both dimensions remain. Scores are copied. Slices of
        `numpy.asarray(matrix)` share memory.
        """
        height, width = self.shape
        if not isinstance(index, tuple):
            index = (index, slice(None))
        if len(index) != 2:
            raise IndexError(f"expected [i] (row) or [i, j] (score), found {len(index)} indices")
        row, column = index
        if not isinstance(row, slice):
            i = resolve_index("hypothesis", integer(row), height)
            if isinstance(column, slice):
                return self.row(i)[column]
            return self.at(i * width + resolve_index("reference", integer(column), width))
        selected_rows = range(height)[row]
        if not isinstance(column, slice):
            j = resolve_index("reference", integer(column), width)
            return Scores([self.at(i * width + j) for i in selected_rows])
        rows = [self.row(i)[column] for i in selected_rows]
        return Matrix(PairScores.from_rows(rows, len(range(width)[column]), self.single))

    def __iter__(self) -> Iterator[Scores]:
        """Iterate over the rows."""
        return map(self.row, range(len(self)))

    def tolist(self) -> list[list[float]]:
        """Return the rows as lists."""
        return [row.tolist() for row in self]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Matrix):
            return self.same(other)
        return isinstance(other, list | tuple) and self.tolist() == [list(row) for row in other]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the shape and the scores of the first texts."""
        height, width = self.shape
        head = f"Matrix({height} x {width}, {self.dtype})"
        rows, columns = (range(min(count, 10)) for count in self.shape)
        numbers = [[f"{self[i, j]:6.2f}" for j in columns] for i in rows]
        row_ending = " …" if self.shape[1] > len(columns) else ""
        lines = [f"[{' '.join(row)}{row_ending}]" for row in numbers]
        return "\n".join([head, *lines, *(["…"] if len(self) > len(rows) else [])])


class Triangle(StoredPairs):
    """Triangle of the scores of all pairs of texts: n(n-1)/2 numbers in one row.

    A metric's `triangle` method returns it. The order is `itertools.combinations(texts, 2)`: (0,1),
    (0,2), ..., (1,2), ... `numpy.asarray` shares its memory.

    >>> from truebleu import BLEU
    >>> triangle = BLEU("none").triangle(["a b", "a c", "d"])
    >>> round(triangle[0, 1]), triangle.tolist()
    (50, [49.99..., 0.0, 0.0])
    """

    __slots__ = ()

    @property
    def texts(self) -> int:
        """The number of texts."""
        return (1 + isqrt(1 + 8 * len(self))) // 2

    @overload
    def __getitem__(self, index: int | tuple[int, int]) -> float: ...

    @overload
    def __getitem__(self, index: slice) -> Scores: ...

    def __getitem__(self, index: int | slice | tuple[int, int]) -> float | Scores:
        """Return the score of texts i and j (i < j) for `[i, j]`, or the k-th score for `[k]`."""
        if isinstance(index, slice):
            return Scores([self.at(k) for k in range(len(self))[index]])
        if not isinstance(index, tuple):
            return self.at(resolve_index("pair", integer(index), len(self)))
        if len(index) != 2:
            raise IndexError(f"expected [i, j] for the score of a pair, found {len(index)} indices")
        count = self.texts
        i, j = (resolve_index("text", integer(one), count) for one in index)
        if i >= j:
            raise IndexError(
                f"pair {i}, {j}: expected an earlier and a later text. Use matrix() for all pairs."
            )
        return self.at(i * (2 * count - i - 1) // 2 + j - i - 1)

    def __iter__(self) -> Iterator[float]:
        return map(self.at, range(len(self)))

    def tolist(self) -> list[float]:
        """Return all scores in one list."""
        return self.all()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Triangle):
            return self.same(other)
        return isinstance(other, list | tuple) and self.tolist() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        numbers = [f"{self.at(k):.2f}" for k in range(min(len(self), 4))]
        scores = ", ".join([*numbers, *(["…"] if len(self) > len(numbers) else [])])
        counts = f"{format_count(self.texts, 'text')}, {format_count(len(self), 'pair')}"
        return f"Triangle({counts}, {self.dtype}: [{scores}])"


class PairsInPython:
    """Pairs that are scored in Python, with the same methods as `_kernel.Pairs` but slower.

    segments: function that scores hypotheses, each against the reference at the same position.
    """

    def __init__(
        self,
        segments: Callable[[Sequence[Any], Sequence[Any]], Scores],
        hypotheses: Sequence[Any],
        references: Sequence[Any],
    ) -> None:
        self._segments = segments
        self._hypotheses = hypotheses
        self._references = references

    @property
    def shape(self) -> tuple[int, int]:
        """The number of hypotheses and the number of references."""
        return len(self._hypotheses), len(self._references)

    def _score_row(self, hypothesis_index: int, first_reference: int = 0) -> Scores:
        """Return the scores of a hypothesis against the references from `first_reference` on."""
        references = self._references[first_reference:]
        if not references:
            return Scores([])
        return self._segments([self._hypotheses[hypothesis_index]] * len(references), references)

    def matrix(self, is_float32: bool, triangle: bool) -> PairScores:
        """Return the scores of all pairs, or only of the pairs above the diagonal."""
        height, width = self.shape
        rows = [self._score_row(i, i + 1 if triangle else 0) for i in range(height)]
        return PairScores.from_rows(rows, None if triangle else width, is_float32)

    def top_k(self, k: int, lowest: bool) -> list[list[tuple[int, float]]]:
        """Return the k best references of each hypothesis and their scores."""
        sign = 1 if lowest else -1
        rows = (enumerate(self._score_row(i)) for i in range(self.shape[0]))
        return [sorted(row, key=lambda pair: (sign * pair[1], pair[0]))[:k] for row in rows]

    def expected(self, weights: Sequence[float] | None, divisor: float, _: bool) -> Scores:
        """Return the mean score of each hypothesis, or its weighted mean."""
        rows = map(self._score_row, range(self.shape[0]))
        if weights is None:
            return Scores([sum(row) / divisor for row in rows])
        return Scores(
            [sum(w * s for w, s in zip(weights, row, strict=True)) / divisor for row in rows]
        )


def is_single_precision(dtype: object) -> bool:
    """Return True for "float32", False for "float64"."""
    name = getattr(dtype, "__name__", None) or str(dtype)
    if name not in ("float64", "float32"):
        raise ValueError(f"dtype={dtype!r}: expected 'float64' or 'float32'")
    return name == "float32"


def validate_reference_weights(
    weights: Sequence[float], count: int, location: str = ""
) -> list[float]:
    """Return the weights of references as floats, none negative and at least one positive."""
    try:
        numbers = list(map(float, weights))
    except (TypeError, ValueError):
        raise TypeError(
            f"weights{location}: expected a list of numbers, one per reference, not {weights!r:.80}"
        ) from None
    if len(numbers) != count:
        raise InputError(
            f"weights{location}: expected one per reference ({count}), found {len(numbers)}"
        )
    for position, number in enumerate(numbers, 1):
        if not 0 <= number < inf:
            raise InputError(
                f"weights{location}: weight {position} is {number} (expected a finite number, "
                "0 or more)"
            )
    if not 0 < sum(numbers) < inf:
        raise InputError(f"weights{location}: the sum must be positive and finite")
    return numbers


def _restore_pairs(
    cls: type[PairScores], data: bytes, width: int | None, single_precision: bool
) -> PairScores:
    return cls(PairScores.from_bytes(data, width, single_precision))


class PairwiseScoring:
    """Methods of metrics that score all pairs of texts, based on the metric's `_make_pairs`."""

    __slots__ = ()

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better, as for error rates."""
        raise NotImplementedError

    @property
    def tokenizes_in_python(self: Any) -> bool:
        """True if Python tokenizes the text. Tokenizing each text only once then saves time."""
        plain = self.unicode_form is None and not self.reads_text
        return plain and "tokenize" in self._values and self.TAKES_TOKENS

    def _make_pairs(
        self: Any,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.Hypotheses | None,
        workers: int,
    ) -> Pairs | PairsInPython:
        """Return an object that scores all pairs, in the kernel or in Python."""
        metric = self.adapt_to_inputs(hypotheses, references)
        if metric != self:
            return metric._make_pairs(hypotheses, references, workers)  # type: ignore[no-any-return]  # noqa: SLF001
        hypotheses, references = self._normalize_texts(hypotheses, references)
        if self._has_kernel_formula:
            return corpus_inputs.scan_pairs(
                self._kernel, hypotheses, references, workers=workers, **self._tokenizer_settings
            )
        workers = argument_checks.check_workers(workers)
        hypothesis_texts = corpus_inputs.read_single_texts(
            "hypotheses", hypotheses, allow_tokens=True
        )
        reference_texts = hypothesis_texts
        if references is not None:
            tokens = corpus_inputs.has_token_segments(hypothesis_texts)
            reference_texts = corpus_inputs.read_single_texts(
                "references", references, allow_tokens=tokens
            )
        if self.tokenizes_in_python and not corpus_inputs.has_token_segments(hypothesis_texts):
            # Split each text once, not once per pair.
            split = tokenizers.make_tokenizer(**self._tokenizer_settings)
            hypothesis_texts, reference_texts = (
                tuple(map(split, texts)) for texts in (hypothesis_texts, reference_texts)
            )
            metric = self.with_parameters(tokenize="none", lowercase=False)
        return PairsInPython(metric._make_pair_scorer(workers), hypothesis_texts, reference_texts)  # noqa: SLF001

    @argument_checks.explain_keywords
    def matrix(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
        dtype: object = "float64",
    ) -> Matrix:
        """Return the scores of all hypotheses against all references, as computed by `sentence`.

        hypotheses, references: n and m strings (any sequence, an Arrow column, a file). Without
            references, the hypotheses also serve as references.
        workers: number of threads, which does not affect scores.
        dtype: "float64", or "float32" for half the memory.

        The result is a `Matrix` of n × m scores, 0-100. Additional memory use depends only on the
        texts. Raises InputError for no texts or a missing text, and MemoryError, before scoring, if
        the scores do not fit into memory.

        >>> from truebleu import BLEU
        >>> BLEU().matrix(["a b c d", "a b"], ["a b c d", "a b c e", "f"])
        Matrix(2 x 3, float64)
        [100.00  59.46   0.00]
        [ 36.79  36.79   0.00]
        """
        single = is_single_precision(dtype)
        return Matrix(self._make_pairs(hypotheses, references, workers).matrix(single, False))

    @argument_checks.explain_keywords
    def triangle(
        self, texts: corpus_inputs.Hypotheses, *, workers: int = 1, dtype: object = "float64"
    ) -> Triangle:
        """Return the scores of all pairs of texts: the upper half of `matrix(texts)`.

        Takes the same arguments and raises the same errors as `matrix`.

        >>> from truebleu import BLEU
        >>> BLEU().triangle(["a b c d", "a b c e", "f"])[0, 1]
        59.46...
        """
        single = is_single_precision(dtype)
        return Triangle(self._make_pairs(texts, None, workers).matrix(single, True))

    @argument_checks.explain_keywords
    def top_k(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.Hypotheses,
        k: int,
        *,
        workers: int = 1,
    ) -> list[list[tuple[int, float]]]:
        """Return the k best references of each hypothesis, as pairs of index and score.

        The best reference is first; equal scores keep the order of references. With fewer than k
        references, all are returned. Memory use grows with n · k and the texts, not with n · m.
        Takes the same arguments and raises the same errors as `matrix`.

        >>> from truebleu import CHRF
        >>> CHRF().top_k(["the cat"], ["a dog", "the cat sat", "the cats"], 2)
        [[(2, 77.57...), (1, 55.77...)]]
        """
        max_count = argument_checks.check_integer("k", k, 1)
        pairs = self._make_pairs(hypotheses, references, workers)
        return pairs.top_k(min(max_count, pairs.shape[1]), self.lower_is_better)

    @argument_checks.explain_keywords
    def expected(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.Hypotheses | None = None,
        *,
        weights: Sequence[float] | None = None,
        workers: int = 1,
    ) -> Scores:
        """Return the mean score of each hypothesis against all references: n numbers.

        Without references, all hypotheses, including the scored one, serve as references. The
        result is then the expected utility in minimum Bayes risk decoding.

        weights: one non-negative number per reference; weights are divided by their sum.
        workers: number of threads, which does not affect results: scores are added from left to
            right, as sum(w * s) / sum(w), or sum(s) / m.

        Memory use grows with the texts, not with n · m. `matrix` describes other arguments.

        >>> from truebleu import BLEU
        >>> BLEU().expected(["a b c d", "a b c e", "f"])
        Scores(3 segments: [53.15, 53.15, 33.33])
        """
        pairs = self._make_pairs(hypotheses, references, workers)
        count = pairs.shape[1]
        numbers = None if weights is None else validate_reference_weights(weights, count)
        divisor = float(count) if numbers is None else sum(numbers)
        return pairs.expected(numbers, divisor, COMPENSATED)
