"""Replacements for NLTK's `corpus_bleu` and `corpus_chrf` that use the kernel's counts.

The kernel counts all segments first. Then NLTK's code runs with two helpers replaced by functions
that read these counts. Smoothing, weights, warnings and errors therefore do not change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial, wraps
from itertools import chain, count
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from truebleu.compat.patches import restore_functions
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.chrf import CHRF
from truebleu.metrics.scores import unpack_row

MAX_ORDER = 16

# Sequences that can be read repeatedly. NLTK reads a str as a sequence of characters.
SEQUENCES = frozenset({list, tuple, str})

# NLTK's F-score if precision or recall is undefined, or if nothing matches.
EPSILON = 1e-16

# The replaced functions: module, name, original and replacement.
_patches: list[tuple[ModuleType, str, Any, Any]] = []


def find_release() -> str:
    """Return the release of NLTK, which is imported."""
    import nltk

    return str(nltk.__version__)


def install() -> None:
    """Replace `corpus_bleu` and `corpus_chrf` in NLTK's modules."""
    if _patches:
        return
    import nltk.translate.bleu_score as bleu
    import nltk.translate.chrf_score as chrf

    _patch_function(
        bleu, "corpus_bleu", _make_bleu_helpers, ("modified_precision", "closest_ref_length")
    )
    counting = ("chrf_precision_recall_fscore_support", "_preprocess")
    _patch_function(chrf, "corpus_chrf", _make_chrf_helpers, counting)


def uninstall() -> None:
    """Restore NLTK's functions, unless other code has replaced them since."""
    restore_functions(_patches)


def _patch_function(
    module: ModuleType,
    name: str,
    count_segments: Callable[..., tuple[Any, Any]],
    helpers: tuple[str, str],
) -> None:
    """Replace an NLTK function with a copy that reads the kernel's counts."""
    original = getattr(module, name)
    code = original.__code__
    if not {*helpers} <= {*code.co_names}:
        return
    names = vars(module)
    dependencies = (*helpers, "Counter", "ngrams", "Fraction")
    depends_on = [(key, names[key]) for key in dependencies if key in names]

    @wraps(original)
    def call_accelerated(*args: Any, **kwargs: Any) -> Any:
        if any(names.get(key) is not value for key, value in depends_on):
            return original(*args, **kwargs)
        try:
            helper_functions = count_segments(module, *args, **kwargs)
        except Exception:  # noqa: BLE001 - NLTK's code reports the same problem
            return original(*args, **kwargs)
        # Separate globals per call make the function thread-safe.
        run = FunctionType(code, names | dict(zip(helpers, helper_functions, strict=True)), name)
        run.__defaults__ = original.__defaults__
        return run(*args, **kwargs)

    setattr(module, name, call_accelerated)
    _patches.append((module, name, original, call_accelerated))


class _Precision(NamedTuple):
    """Clipped count and n-gram count, as the attributes that NLTK reads."""

    numerator: int
    denominator: int


def _make_bleu_helpers(
    _module: ModuleType,
    list_of_references: Any,
    hypotheses: Any,
    weights: Any = (0.25,) * 4,
    smoothing_function: Any = None,  # noqa: ARG001 - used by NLTK's code
    auto_reweigh: Any = False,  # noqa: ARG001 - used by NLTK's code
) -> tuple[Any, Any]:
    """Return replacements for NLTK's BLEU helpers. Raises TypeError for unsupported input."""
    if len(list_of_references) != len(hypotheses):
        raise TypeError
    try:
        weights[0][0]
    except (TypeError, IndexError):
        weights = [weights]
    order = max(map(len, weights))
    pairs = list(zip(list_of_references, hypotheses, strict=True))
    for references, hypothesis in pairs:
        kinds = {type(references), type(hypothesis), *map(type, references)}
        if not references or not kinds <= SEQUENCES:
            raise TypeError
    texts = [_join_tokens((hypothesis, *references)) for references, hypothesis in pairs]
    metric = _make_bleu_metric(max_order=order)
    rows = _compute_statistics(metric, [t[0] for t in texts], [tuple(t[1:]) for t in texts])
    precisions = (
        _Precision(row[1 + n], row[1 + order + n]) for row in rows for n in range(1, order + 1)
    )
    lengths = (row[1] for row in rows)
    return lambda *_: next(precisions), lambda *_: next(lengths)


def _make_chrf_helpers(
    module: ModuleType,
    references: Any,
    hypotheses: Any,
    min_len: int = 1,
    max_len: int = 6,
    beta: float = 3.0,
    ignore_whitespace: bool = True,
) -> tuple[Any, Any]:
    """Return replacements for NLTK's chrF helpers. Raises TypeError for unsupported input."""
    if not (type(min_len) is type(max_len) is int and 1 <= min_len <= max_len <= MAX_ORDER):
        raise TypeError
    if len(references) != len(hypotheses):
        raise TypeError
    preprocess: Any = vars(module)["_preprocess"]
    reference_texts, hypothesis_texts = (
        [preprocess(text, ignore_whitespace) for text in texts]
        for texts in (references, hypotheses)
    )
    if not {type(text) for text in (*reference_texts, *hypothesis_texts)} <= {str}:
        raise TypeError
    rows = _compute_statistics(_make_chrf_metric(max_len), hypothesis_texts, reference_texts)
    factor = beta**2

    def iterate_scores() -> Iterator[tuple[float, float, float, int]]:
        for row in rows:
            for offset in range(3 * (min_len - 1), 3 * max_len, 3):
                tpfp, tpfn, tp = row[offset : offset + 3]
                try:
                    precision, recall = tp / tpfp, tp / tpfn
                    score = (1 + factor) * (precision * recall) / (factor * precision + recall)
                except ZeroDivisionError:
                    precision = recall = score = EPSILON
                yield precision, recall, score, tp

    results = iterate_scores()
    return lambda *_, **__: next(results), lambda *_: ""


def _compute_statistics(metric: Any, hypotheses: Sequence[str], references: Sequence[Any]) -> Any:
    """Return the statistics of each segment. A single segment bypasses the corpus code."""
    if len(hypotheses) > 1:
        return metric.statistics(hypotheses, references).tolist()
    [hypothesis], [reference] = hypotheses, references
    return [unpack_row(metric._kernel.sentence(hypothesis, reference)[1])]


_make_bleu_metric = cache(partial(BLEU, "none", missing_order="at-least-one"))
_make_chrf_metric = cache(partial(CHRF, whitespace=True))


def _join_tokens(sequences: Sequence[Sequence[Any]]) -> list[str]:
    """Convert sequences of hashable tokens to texts in which equal words stand for equal tokens.

    >>> _join_tokens([("a", "b"), ("b", "b")]), _join_tokens([(1, "a b"), ("a b", 2.0)])
    (['a b', 'b b'], ['0 1', '1 2'])
    """
    tokens = [*chain.from_iterable(sequences)]
    # A subclass of str may define equality differently.
    if {*map(type, tokens)} <= {str} and all(tokens):
        joined = "".join(tokens)
        # The space is the only printable white space.
        if joined.isprintable() and " " not in joined:
            return [" ".join(sequence) for sequence in sequences]
    words: defaultdict[Any, str] = defaultdict(map(str, count()).__next__)
    return [" ".join(map(words.__getitem__, sequence)) for sequence in sequences]
