"""Replacements for sacreBLEU's counting and resampling functions, which call the kernel.

Each call checks that the methods and helpers that counting depends on are unchanged, and otherwise
calls the original function. Overridden methods, replaced helpers and user-defined tokenizers
therefore work as in sacreBLEU.

For intervals and paired tests, the kernel resamples and sums the statistics with sacreBLEU's random
numbers. sacreBLEU's formula scores the bootstrap sums, so NumPy's release affects the last
digits. Sums of approximate randomization are exact integers, and truebleu's formula scores them.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, wraps
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from truebleu._kernel import InputError, SingleStack, Stream, Table
from truebleu.compat.patches import restore_functions
from truebleu.metrics import registry
from truebleu.metrics.base import PARTS_PER_TOKEN
from truebleu.metrics.scores import unpack_row
from truebleu.significance.resampled_metric import check_memory
from truebleu.significance.sacrebleu_compat import randomize_scores
from truebleu.text import argument_checks

Lines = Sequence[str | None]
Rows = Sequence[Sequence[float]]
# Name and parameters of a truebleu metric.
Settings = tuple[Any, ...]

# sacreBLEU's module of significance tests, which imports NumPy.
SIGNIFICANCE = "sacrebleu.significance"
# Maximum number of resamples in memory at a time.
BLOCK_SIZE = 2000

# Parameters of sacreBLEU's paired tests, in positional order.
TEST_PARAMETERS = (
    *("baseline_info", "sys_name", "hypotheses", "references", "metrics"),
    *("n_samples", "n_ar_confidence", "seed"),
)

# Kernel errors for unsupported text and parameters. The original function is called instead.
REFUSALS = (InputError, TypeError, ValueError, OverflowError, MemoryError)

TER_MAX_REFERENCES = 16  # PARTS_PER_TOKEN is divisible by all numbers up to this maximum

# Names of the kernel's tokenizers, keyed by module and class in sacreBLEU.
TOKENIZERS = {
    ("sacrebleu.tokenizers.tokenizer_13a", "Tokenizer13a"): "13a",
    ("sacrebleu.tokenizers.tokenizer_intl", "TokenizerV14International"): "intl",
    ("sacrebleu.tokenizers.tokenizer_zh", "TokenizerZh"): "zh",
    ("sacrebleu.tokenizers.tokenizer_char", "TokenizerChar"): "char",
    ("sacrebleu.tokenizers.tokenizer_none", "NoneTokenizer"): "none",
    ("sacrebleu.tokenizers.tokenizer_ter", "TercomTokenizer"): "tercom",
}
_METHODS = ("_cache_references", "_extract_reference_info", "_compute_segment_statistics")

# The replaced attributes: owner, name, original and replacement.
_patches: list[tuple[Any, str, Any, Any]] = []
_kinds: list[MetricKind] = []
# Verified `__call__` methods of sacreBLEU's tokenizer classes.
_tokenizer_calls: dict[type, Any] = {}


def find_release() -> str:
    """Return the release of sacreBLEU, which is imported."""
    import sacrebleu

    return str(sacrebleu.__version__)


def install() -> None:
    """Replace sacreBLEU's counting functions, and its significance tests once imported."""
    if _patches:
        return
    from sacrebleu.metrics import base, bleu, chrf, ter

    patch_function(base.Metric, "_extract_corpus_statistics", _extract_corpus_statistics)
    patch_function(base.Metric, "_cache_references", _cache_references)
    _kinds[:] = [
        MetricKind(bleu.BLEU, ("_get_closest_ref_len",), {"extract_all_word_ngrams": bleu}),
        MetricKind(
            chrf.CHRF,
            ("_get_match_statistics", "_remove_punctuation", "_compute_f_score", "_PUNCTS"),
            {"extract_all_char_ngrams": chrf, "extract_word_ngrams": chrf},
        ),
        MetricKind(ter.TER, (), {"translation_edit_rate": ter}),
    ]
    if SIGNIFICANCE in sys.modules:
        _patch_significance_tests(sys.modules[SIGNIFICANCE])
    else:
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Restore sacreBLEU's functions, unless other code has replaced them since."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    restore_functions(_patches)
    _kinds.clear()


def patch_function(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Replace a function with a function that receives the original as its first argument."""
    original = getattr(owner, name)

    # `-j` pickles the tests by module and name, which must not change.
    @wraps(original)
    def call_patched(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    setattr(owner, name, call_patched)
    _patches.append((owner, name, original, call_patched))


class MetricKind:
    """A sacreBLEU metric class, with the attributes that its counting depends on."""

    def __init__(self, cls: Any, methods: Sequence[str], helpers: dict[str, Any]) -> None:
        self.cls = cls
        self.preprocess = cls._preprocess_segment
        self.methods = [(name, getattr(cls, name)) for name in (*_METHODS, *methods)]
        self.helpers = [(vars(m), name, getattr(m, name)) for name, m in helpers.items()]
        scoring = (
            *("_aggregate_and_compute", "_compute_score_from_stats"),
            *("compute_bleu", "_compute_f_score"),
        )
        self.scoring = [(name, getattr(cls, name)) for name in scoring if hasattr(cls, name)]


def find_metric_kind(metric: Any) -> MetricKind | None:
    """Return the kind of a metric, or None if its class or its counting was modified."""
    for kind in _kinds:
        if isinstance(metric, kind.cls):
            if not has_original_attributes(metric, kind.methods):
                return None
            for names, name, helper in kind.helpers:
                if names.get(name) is not helper:
                    return None
            return kind
    return None


def has_original_attributes(metric: Any, attributes: list[tuple[str, Any]]) -> bool:
    """Return whether these attributes are unchanged in both the class and the object."""
    cls, on_object = type(metric), vars(metric)
    # A loop is faster than all(), which matters for single segments.
    for name, value in attributes:
        if getattr(cls, name) is not value or name in on_object:
            return False
    return True


def find_metric_settings(metric: Any, kind: MetricKind) -> tuple[Settings, bool]:
    """Return the parameters that affect counting, and whether Python must prepare the lines."""
    tokenizer = ""
    is_original = has_original_attributes(metric, [("_preprocess_segment", kind.preprocess)])
    name = kind.cls.__name__
    if name == "CHRF":
        if metric.order != metric.char_order + metric.word_order:
            raise ValueError("order")
        settings: Settings = (metric.char_order, metric.word_order, metric.beta)
        settings += (metric.whitespace, metric.eps_smoothing, is_original and metric.lowercase)
        return (name, *settings), not is_original
    if is_original:
        tokenizer = _find_tokenizer_name(metric.tokenizer)
    if name == "BLEU":
        in_python = tokenizer in ("", "tercom")
        split = ("none", False) if in_python else (tokenizer, bool(metric.lowercase))
        return (name, *split, metric.max_ngram_order), in_python
    if tokenizer != "tercom":
        return (name, False, False, False, True), True
    options = ("_normalized", "_no_punct", "_asian_support", "_case_sensitive")
    return (name, *(bool(getattr(metric.tokenizer, option)) for option in options)), False


def _find_tokenizer_name(tokenizer: Any) -> str:
    """Return the kernel's name for a sacreBLEU tokenizer, or an empty string if it has none."""
    cls = type(tokenizer)
    name = TOKENIZERS.get((cls.__module__, cls.__name__), "")
    call: Any = getattr(cls, "__call__", None)  # noqa: B004
    if name and _tokenizer_calls.get(cls) is not call:
        # The tokenizer's module may be imported after the installation.
        cached = type(call) is type(make_metric)
        code = getattr(call.__wrapped__ if cached else call, "__code__", None)
        if cls in _tokenizer_calls or code is None:
            return ""
        if code.co_filename != sys.modules[cls.__module__].__file__:
            return ""
        _tokenizer_calls[cls] = call
    return name


@lru_cache(64, typed=True)
def make_metric(name: str, *values: Any) -> Any:
    """Return the truebleu metric with the settings that `find_metric_settings` returned."""
    names = {
        "BLEU": ("tokenize", "lowercase", "max_order"),
        "CHRF": ("char_order", "word_order", "beta", "whitespace", "eps_smoothing", "lowercase"),
        "TER": ("normalized", "no_punct", "asian_support", "case_sensitive"),
    }[name]
    return registry.metric(name.lower(), **dict(zip(names, values, strict=True)))


class References(Sequence):  # type: ignore[type-arg]
    """Cached references of a metric, which sacreBLEU prepares only when they are accessed.

    streams: the reference streams as passed. segments: the references in the kernel's format,
        already prepared if Python prepares lines.
    """

    def __init__(self, metric: Any, settings: Settings, streams: Any, segments: Any) -> None:
        self.metric = copy.copy(metric)  # later changes have no effect
        self.settings = settings
        self.streams = streams
        self.segments = segments

    @cached_property
    def _prepare_references(self) -> Any:
        from sacrebleu.metrics.base import Metric

        method = Metric._cache_references
        return getattr(method, "__wrapped__", method)(self.metric, self.streams)

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, index: Any) -> Any:
        return self._prepare_references[index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, References | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _contains_only_text(lines: Lines, *other_types: type) -> bool:
    return {*map(type, lines)} <= {str, *other_types}


def _group_references(
    metric: Any, kind: MetricKind, streams: Any, *, in_python: bool
) -> tuple[Any, int]:
    """Return the references of each segment, and their number (-1 if it varies).

    A single stream stays a list of lines. Raises TypeError unless all lines are strings or None.
    """
    if not isinstance(streams, Sequence) or not all(isinstance(s, Sequence) for s in streams):
        raise TypeError
    segments: Any
    if len(streams) == 1:
        segments = tuple(streams[0])
        numbers = {line is not None for line in segments}
        is_text = _contains_only_text(segments, type(None))
    else:
        segments = tuple(zip(*streams, strict=False))
        numbers = {len(segment) - segment.count(None) for segment in segments}
        is_text = all(_contains_only_text(segment, type(None)) for segment in segments)
    if not is_text or not segments:
        raise TypeError
    if in_python:
        lines = segments if len(streams) > 1 else zip(segments, strict=True)
        times = 2 if kind.cls.__name__ == "TER" else 1  # as in sacreBLEU's TER
        segments = tuple(
            tuple(line if line is None else _prepare_line(metric, line, times) for line in segment)
            for segment in lines
        )
    return segments, int(numbers.pop()) if len(numbers) == 1 else -1


def _prepare_line(metric: Any, line: Any, pass_count: int = 1) -> str:
    for _ in range(pass_count):
        line = metric._preprocess_segment(line)
    if type(line) is not str:
        raise TypeError
    return line


def _cache_references(original: Any, metric: Any, references: Any) -> Any:
    kind = find_metric_kind(metric)
    if kind is None:
        return original(metric, references)
    try:
        settings, in_python = find_metric_settings(metric, kind)
        segments, number = _group_references(metric, kind, references, in_python=in_python)
    except Exception:  # noqa: BLE001 - a failing tokenizer fails in the original, too
        return original(metric, references)
    metric.num_refs = number
    return References(metric, (*settings, in_python), references, segments)


def _extract_corpus_statistics(original: Any, metric: Any, hypotheses: Any, references: Any) -> Any:
    kind = find_metric_kind(metric)
    if kind is None:
        return original(metric, hypotheses, references)
    try:
        rows = _compute_kernel_statistics(original, metric, kind, hypotheses, references)
    except Exception:  # noqa: BLE001 - as above, and the kernel may raise errors
        rows = None
    return original(metric, hypotheses, references) if rows is None else rows


def _compute_kernel_statistics(
    original: Any, metric: Any, kind: MetricKind, hypotheses: Any, references: Any
) -> list[list[Any]] | None:
    """Return segment statistics in sacreBLEU's format, or None if sacreBLEU must compute them."""
    settings, in_python = find_metric_settings(metric, kind)
    counter = make_metric(*settings)
    if not isinstance(hypotheses, Sequence):
        return None
    cached = metric._ref_cache
    number = None
    if references:
        segments, number = _group_references(metric, kind, references, in_python=in_python)
    elif isinstance(cached, References) and cached.settings == (*settings, in_python):
        segments = cached.segments
    else:
        return None
    size = min(len(hypotheses), len(segments))
    lines = hypotheses = tuple(hypotheses[:size])
    if not size or not _contains_only_text(lines):
        return None
    if in_python:
        lines = tuple(_prepare_line(metric, line) for line in lines)
    rows = compute_statistics(counter, lines, segments[:size])
    if rows is None:
        return None
    if number is not None:
        metric.num_refs = number
    if not metric._force and sum(line.endswith(" .") for line in hypotheses) >= 100:
        original(_TokenizedText(), [" ."] * 100, None)
    return rows


def compute_statistics(counter: Any, lines: Sequence[str], segments: Any) -> list[list[Any]] | None:
    """Return statistics in sacreBLEU's format, or None if there are too many references."""
    is_ter = counter.NAME == "TER"
    if is_ter and type(segments[0]) is tuple and len(segments[0]) > TER_MAX_REFERENCES:
        return None
    if len(lines) == 1:
        [segment] = segments
        references = segment if type(segment) is tuple else (segment,)
        rows = [unpack_row(counter._kernel.sentence(lines[0], references)[1])]
    else:
        rows = counter.statistics(lines, segments).tolist()
    return [[edits, parts / PARTS_PER_TOKEN] for edits, parts in rows] if is_ter else rows


class _TokenizedText:
    """A metric that counts nothing, used to trigger sacreBLEU's warning about tokenized text."""

    _force = False
    _ref_cache = (None,) * 100

    def _preprocess_segment(self, line: str) -> str:
        return line

    def _compute_segment_statistics(self, *_: object) -> None:
        return None


# ---- intervals and tests ----


def _patch_significance_tests(module: ModuleType) -> None:
    for function in (_bootstrap_resample, _paired_bs_test, _paired_ar_test):
        patch_function(module, function.__name__, function)


class _Finder:
    """Import hook that patches `sacrebleu.significance` after its first import."""

    @staticmethod
    def find_spec(name: str, path: Any = None, _target: object = None) -> ModuleSpec | None:
        """Return the module's specification, with a loader that patches the module."""
        spec = PathFinder.find_spec(name, path) if name == SIGNIFICANCE else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if _finder in sys.meta_path:
                sys.meta_path.remove(_finder)
                _patch_significance_tests(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_finder: Any = _Finder()


def _resample_sums(rows: Rows, samples: int, stream: Stream) -> list[Any]:
    """Return the sums of resampled rows as single-precision arrays."""
    import numpy as np

    check_memory(len(rows), len(rows[0]), kind="single")
    numbers = [list(map(float, row)) for row in rows]
    sums: list[Any] = []
    for start in range(0, samples, BLOCK_SIZE):
        block = SingleStack.sums(numbers, stream, min(BLOCK_SIZE, samples - start))
        sums.extend(np.array(block, dtype="float32"))
    return sums


def _bootstrap_resample(original: Any, stats: Rows, metric: Any, n_samples: int = 1000) -> Any:
    if find_metric_kind(metric) is None:
        return original(stats, metric, n_samples)
    seed = os.environ.get("SACREBLEU_SEED", str(argument_checks.DEFAULT_SEED))
    try:
        sums = _resample_sums(stats, n_samples, Stream(int(seed)))  # the seed may be "none"
    except REFUSALS:
        return original(stats, metric, n_samples)
    return seed.lower(), [metric._compute_score_from_stats(values) for values in sums]


def _paired_bs_test(original: Any, *args: Any, **kwargs: Any) -> Any:
    return _test_with_each_metric(original, _resample_pair, args, {"n_samples": 1000} | kwargs)


def _paired_ar_test(original: Any, *args: Any, **kwargs: Any) -> Any:
    return _test_with_each_metric(original, _randomize_pair, args, {"n_samples": 10000} | kwargs)


def _test_with_each_metric(
    original: Any, test: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Test one system with each metric, in the kernel if possible, otherwise in sacreBLEU."""
    arguments = {"n_ar_confidence": -1, "seed": None, **kwargs}
    arguments |= dict(zip(TEST_PARAMETERS, args, strict=False))
    *system, metrics, samples, resamples, seed = (arguments[name] for name in TEST_PARAMETERS)
    if not seed:  # sacreBLEU then uses new random numbers, shared by all metrics
        return original(*system, metrics, samples, resamples, seed)
    baseline_info, sys_name, hypotheses, _ = system
    results = {}
    for name, metric in metrics.items():
        result = None
        if find_metric_kind(metric) is not None and len(baseline_info[name][0]) == len(hypotheses):
            result = test(metric, name, system, samples, resamples, seed)
        if result is None:
            single_metric = {name: metric}
            result = original(*system, single_metric, samples, resamples, seed)[1][name]
        results[name] = result
    return sys_name, results


def _extract_statistics(metric: Any, name: str, system: Sequence[Any]) -> tuple[Any, Any, float]:
    """Return a system's statistics, its score, and its absolute difference from the baseline."""
    significance: Any = sys.modules[SIGNIFICANCE]
    baseline_info, sys_name, hypotheses, references = system
    significance.sacrelogger.info(
        f"Computing {name} for {sys_name!r} and extracting sufficient statistics"
    )
    stats = metric._extract_corpus_statistics(hypotheses, references)
    score = metric._aggregate_and_compute(stats)
    return stats, score.score, abs(baseline_info[name][1].score - score.score)


def _resample_pair(
    metric: Any, name: str, system: Sequence[Any], samples: int, _: int, seed: int
) -> Any:
    """Return the result of a paired bootstrap, or None if the kernel does not support it."""
    import numpy as np

    significance: Any = sys.modules[SIGNIFICANCE]
    try:
        baseline_sums = _resample_sums(system[0][name][0], samples, Stream(seed))
    except REFUSALS:
        return None
    stats, score, difference = _extract_statistics(metric, name, system)
    significance.sacrelogger.info(
        f" > Performing paired bootstrap resampling test (# resamples: {samples})"
    )
    paired_sums = (baseline_sums, _resample_sums(stats, samples, Stream(seed)))
    baseline, scores = (
        np.array([metric._compute_score_from_stats(values).score for values in sums])
        for sums in paired_sums
    )
    mean, ci = significance.estimate_ci(scores)
    differences = np.abs(scores - baseline)
    p = significance._compute_p_value(differences - differences.mean(), difference)
    return significance.Result(score, p, mean, ci)


def _randomize_pair(
    metric: Any, name: str, system: Sequence[Any], trials: int, resamples: int, seed: int
) -> Any:
    """Return the result of approximate randomization, or None if the kernel cannot compute it."""
    import numpy as np

    significance: Any = sys.modules[SIGNIFICANCE]
    try:
        scorer = _find_scorer(metric)
        baseline = _to_exact_table(metric, system[0][name][0])
        stream = Stream(seed)
    except REFUSALS:
        return None
    stats, score, difference = _extract_statistics(metric, name, system)
    significance.sacrelogger.info(
        f" > Performing approximate randomization test (# trials: {trials})"
    )
    blocks = randomize_scores(scorer, (baseline, _to_exact_table(metric, stats)), trials, stream)
    a, b = (np.concatenate([np.asarray(part) for part in s]) for s in zip(*blocks, strict=True))
    result = significance.Result(score, significance._compute_p_value(np.abs(a - b), difference))
    if resamples > 0:
        significance.sacrelogger.info(
            f" > Performing bootstrap resampling for confidence interval (# resamples: {resamples})"
        )
        sums = _resample_sums(stats, resamples, stream)
        scores = [metric._compute_score_from_stats(values).score for values in sums]
        result.mean, result.ci = significance.estimate_ci(np.array(scores))
    return result


def _find_scorer(metric: Any) -> Any:
    """Return truebleu's equivalent of a metric. Raise ValueError if its formula was replaced."""
    import sacrebleu

    kind: Any = find_metric_kind(metric)
    release: str = sacrebleu.__version__
    is_old = tuple(map(int, release.split("."))) < (2, 4, 3)
    if is_old or not has_original_attributes(metric, kind.scoring):
        raise ValueError
    settings, _ = find_metric_settings(metric, kind)
    scorer = make_metric(*settings)
    if scorer.NAME != "BLEU":
        return scorer
    value = metric.smooth_value
    takes_value = metric.SMOOTH_DEFAULTS[metric.smooth_method] is not None
    return type(scorer)(
        max_order=metric.max_ngram_order,
        smoothing=metric.smooth_method,
        smoothing_value=value if takes_value else None,
        effective_order=bool(metric.effective_order),
    )


def _to_exact_table(metric: Any, rows: Rows) -> Table:
    """Return the statistics as integers. Raise ValueError if the row order affects their sums."""
    if find_metric_kind(metric).cls.__name__ == "TER":  # type: ignore[union-attr]
        if any(16 * length % 1 for _, length in rows):
            raise ValueError
        rows = [(edits, round(PARTS_PER_TOKEN * length)) for edits, length in rows]
    return Table.from_rows(rows, len(rows[0]))  # type: ignore[arg-type]
