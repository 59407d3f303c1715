"""Counting for sacreBLEU's metrics: patched methods, which call the kernel or else the original.

Each call compares the methods and helpers that counting depends on with those at installation, so
an overridden method, a replaced helper or a tokenizer of one's own has the effect that it has in
sacreBLEU.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, wraps
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.metrics import registry
from truebleu.metrics.base import PARTS
from truebleu.metrics.scores import unpacked

if TYPE_CHECKING:
    Lines = Sequence[str | None]
    # The name and the parameters of a metric of truebleu.
    Settings = tuple[Any, ...]

# What the kernel raises for text and parameters that it refuses: the original is called then.
REFUSALS = (InputError, TypeError, ValueError, OverflowError, MemoryError)

TER_MAX_REFERENCES = 16  # PARTS is a multiple of all numbers up to it

# The tokenizers of BLEU that the kernel has, by module and class.
TOKENIZERS = {
    ("sacrebleu.tokenizers.tokenizer_13a", "Tokenizer13a"): "13a",
    ("sacrebleu.tokenizers.tokenizer_intl", "TokenizerV14International"): "intl",
    ("sacrebleu.tokenizers.tokenizer_zh", "TokenizerZh"): "zh",
    ("sacrebleu.tokenizers.tokenizer_char", "TokenizerChar"): "char",
    ("sacrebleu.tokenizers.tokenizer_none", "NoneTokenizer"): "none",
    ("sacrebleu.tokenizers.tokenizer_ter", "TercomTokenizer"): "tercom",
}
_METHODS = ("_cache_references", "_extract_reference_info", "_compute_segment_statistics")

# The replaced attributes: an object, a name, the original and the replacement.
_patches: list[tuple[Any, str, Any, Any]] = []
_kinds: list[Kind] = []
# The `__call__` of tokenizer classes that were found to be sacreBLEU's.
_tokenizer_calls: dict[type, Any] = {}


def installed_release() -> str:
    """Return the release of the installed sacreBLEU."""
    import sacrebleu

    return sacrebleu.__version__


def install() -> None:
    """Replace the functions of sacreBLEU that count and resample."""
    from sacrebleu.metrics import base, bleu, chrf, ter

    patch(base.Metric, "_extract_corpus_statistics", _extract_corpus_statistics)
    patch(base.Metric, "_cache_references", _cache_references)
    _kinds[:] = [
        Kind(bleu.BLEU, ("_get_closest_ref_len",), {"extract_all_word_ngrams": bleu}),
        Kind(
            chrf.CHRF,
            ("_get_match_statistics", "_remove_punctuation", "_compute_f_score", "_PUNCTS"),
            {"extract_all_char_ngrams": chrf, "extract_word_ngrams": chrf},
        ),
        Kind(ter.TER, (), {"translation_edit_rate": ter}),
    ]


def is_installed() -> bool:
    """Return whether the functions are replaced."""
    return bool(_patches)


def uninstall() -> None:
    """Restore sacreBLEU's functions, except where another program has replaced them since."""
    for owner, name, original, replacement in _patches:
        if vars(owner).get(name) is replacement:
            setattr(owner, name, original)
    _patches.clear()
    _kinds.clear()


def patch(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Replace a function by one that has the original as its first argument."""
    original = getattr(owner, name)

    # `-j` pickles the tests by module and name, so both stay.
    @wraps(original)
    def patched(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    setattr(owner, name, patched)
    _patches.append((owner, name, original, patched))


class Kind:
    """One of sacreBLEU's metrics, with the attributes that its counting depends on."""

    def __init__(self, cls: Any, methods: Sequence[str], helpers: dict[str, Any]) -> None:
        self.cls = cls
        self.preprocess = cls._preprocess_segment
        self.methods = [(name, getattr(cls, name)) for name in (*_METHODS, *methods)]
        self.helpers = [(vars(m), name, getattr(m, name)) for name, m in helpers.items()]
        scoring: tuple[str, ...] = ("_aggregate_and_compute", "_compute_score_from_stats")
        scoring += tuple(
            name for name in ("compute_bleu", "_compute_f_score") if hasattr(cls, name)
        )
        self.scoring = [(name, getattr(cls, name)) for name in scoring]


def find_kind(metric: Any) -> Kind | None:
    """Return the kind of a metric whose counting is sacreBLEU's own; None for all others."""
    for kind in _kinds:
        if isinstance(metric, kind.cls):
            if not has_own(metric, kind.methods):
                return None
            for names, name, helper in kind.helpers:
                if names.get(name) is not helper:
                    return None
            return kind
    return None


def has_own(metric: Any, attributes: list[tuple[str, Any]]) -> bool:
    """Return whether no subclass, program or object has replaced these attributes."""
    cls, on_object = type(metric), vars(metric)
    # A loop is faster than all(), which matters for single segments.
    for name, value in attributes:
        if getattr(cls, name) is not value or name in on_object:
            return False
    return True


def find_settings(metric: Any, kind: Kind) -> tuple[Settings, bool]:
    """Return the parameters that counting depends on, and whether Python must prepare the lines."""
    tokenizer = ""
    is_own = has_own(metric, [("_preprocess_segment", kind.preprocess)])
    name = kind.cls.__name__
    if name == "CHRF":
        if metric.order != metric.char_order + metric.word_order:
            raise ValueError("order")
        settings: Settings = (metric.char_order, metric.word_order, metric.beta)
        settings += (metric.whitespace, metric.eps_smoothing, is_own and metric.lowercase)
        return (name, *settings), not is_own
    if is_own:
        tokenizer = _tokenizer_name(metric.tokenizer)
    if name == "BLEU":
        in_python = tokenizer in ("", "tercom")
        split = ("none", False) if in_python else (tokenizer, bool(metric.lowercase))
        return (name, *split, metric.max_ngram_order), in_python
    if tokenizer != "tercom":
        return (name, False, False, False, True), True
    options = ("_normalized", "_no_punct", "_asian_support", "_case_sensitive")
    return (name, *(bool(getattr(metric.tokenizer, option)) for option in options)), False


def _tokenizer_name(tokenizer: Any) -> str:
    """Return the kernel's name of a tokenizer of sacreBLEU's; empty for others."""
    cls = type(tokenizer)
    name = TOKENIZERS.get((cls.__module__, cls.__name__), "")
    call: Any = getattr(cls, "__call__", None)  # noqa: B004
    if name and _tokenizer_calls.get(cls) is not call:
        # The tokenizer's module may be imported long after the installation.
        cached = type(call) is type(find_metric)
        code = getattr(call.__wrapped__ if cached else call, "__code__", None)
        if cls in _tokenizer_calls or code is None:
            return ""
        if code.co_filename != sys.modules[cls.__module__].__file__:
            return ""
        _tokenizer_calls[cls] = call
    return name


@lru_cache(64, typed=True)
def find_metric(name: str, *values: Any) -> Any:
    """Return truebleu's metric with the settings of `find_settings`."""
    names = {
        "BLEU": ("tokenize", "lowercase", "max_order"),
        "CHRF": ("char_order", "word_order", "beta", "whitespace", "eps_smoothing", "lowercase"),
        "TER": ("normalized", "no_punct", "asian_support", "case_sensitive"),
    }[name]
    return registry.metric(name.lower(), **dict(zip(names, values, strict=True)))


class References(Sequence):  # type: ignore[type-arg]
    """The references that a metric was made with; sacreBLEU prepares them if somebody looks.

    streams: as they were given; segments: as the kernel takes them, prepared if Python does that.
    """

    def __init__(self, metric: Any, settings: Settings, streams: Any, segments: Any) -> None:
        self.metric = copy.copy(metric)  # the metric as it is now
        self.settings = settings
        self.streams = streams
        self.segments = segments

    @cached_property
    def _prepared(self) -> Any:
        from sacrebleu.metrics.base import Metric

        method = Metric._cache_references
        return getattr(method, "__wrapped__", method)(self.metric, self.streams)

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, index: Any) -> Any:
        return self._prepared[index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, References | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _is_text(lines: Lines, *others: type) -> bool:
    return {*map(type, lines)} <= {str, *others}


def _segments(metric: Any, kind: Kind, streams: Any, *, in_python: bool) -> tuple[Any, int]:
    """Return the references of each segment, and their number (-1: it varies).

    A single stream stays a list of lines. Raises TypeError unless all lines are strings or None.
    """
    if not isinstance(streams, Sequence) or not all(isinstance(s, Sequence) for s in streams):
        raise TypeError
    segments: Any
    if len(streams) == 1:
        segments = tuple(streams[0])
        numbers = {line is not None for line in segments}
        is_text = _is_text(segments, type(None))
    else:
        segments = tuple(zip(*streams, strict=False))
        numbers = {len(segment) - segment.count(None) for segment in segments}
        is_text = all(_is_text(segment, type(None)) for segment in segments)
    if not is_text or not segments:
        raise TypeError
    if in_python:
        lines = segments if len(streams) > 1 else zip(segments, strict=True)
        times = 2 if kind.cls.__name__ == "TER" else 1  # sacreBLEU's TER does that
        segments = tuple(
            tuple(line if line is None else _prepare(metric, line, times) for line in segment)
            for segment in lines
        )
    return segments, int(numbers.pop()) if len(numbers) == 1 else -1


def _prepare(metric: Any, line: Any, times: int = 1) -> str:
    for _ in range(times):
        line = metric._preprocess_segment(line)
    if type(line) is not str:
        raise TypeError
    return line


def _cache_references(original: Any, metric: Any, references: Any) -> Any:
    kind = find_kind(metric)
    if kind is None:
        return original(metric, references)
    try:
        settings, in_python = find_settings(metric, kind)
        segments, number = _segments(metric, kind, references, in_python=in_python)
    except Exception:  # noqa: BLE001 - whatever a tokenizer raises, it raises again
        return original(metric, references)
    metric.num_refs = number
    return References(metric, (*settings, in_python), references, segments)


def _extract_corpus_statistics(original: Any, metric: Any, hypotheses: Any, references: Any) -> Any:
    kind = find_kind(metric)
    if kind is None:
        return original(metric, hypotheses, references)
    try:
        rows = _count(original, metric, kind, hypotheses, references)
    except Exception:  # noqa: BLE001 - as above, and for all refusals of the kernel
        rows = None
    return original(metric, hypotheses, references) if rows is None else rows


def _count(
    original: Any, metric: Any, kind: Kind, hypotheses: Any, references: Any
) -> list[list[Any]] | None:
    """Return the statistics of each segment in sacreBLEU's form; None where it must count."""
    settings, in_python = find_settings(metric, kind)
    counter = find_metric(*settings)
    if not isinstance(hypotheses, Sequence):
        return None
    kept = metric._ref_cache
    number = None
    if references:
        segments, number = _segments(metric, kind, references, in_python=in_python)
    elif isinstance(kept, References) and kept.settings == (*settings, in_python):
        segments = kept.segments
    else:
        return None
    size = min(len(hypotheses), len(segments))
    lines = hypotheses = tuple(hypotheses[:size])
    if not size or not _is_text(lines):
        return None
    if in_python:
        lines = tuple(_prepare(metric, line) for line in lines)
    rows = count_rows(counter, lines, segments[:size])
    if rows is None:
        return None
    if number is not None:
        metric.num_refs = number
    if not metric._force and sum(line.endswith(" .") for line in hypotheses) >= 100:
        original(_TokenizedText(), [" ."] * 100, None)
    return rows


def count_rows(counter: Any, lines: Sequence[str], segments: Any) -> list[list[Any]] | None:
    """Return the kernel's rows in sacreBLEU's form; None for more references than it counts."""
    is_ter = counter.NAME == "TER"
    if is_ter and type(segments[0]) is tuple and len(segments[0]) > TER_MAX_REFERENCES:
        return None
    if len(lines) == 1:
        [one] = segments
        rows = [
            unpacked(counter._kernel.sentence(lines[0], one if type(one) is tuple else (one,))[1])
        ]
    else:
        rows = counter.statistics(lines, segments).tolist()
    return [[edits, parts / PARTS] for edits, parts in rows] if is_ter else rows


class _TokenizedText:
    """A metric that counts nothing, with which sacreBLEU warns about tokenized text."""

    _force = False
    _ref_cache = (None,) * 100

    def _preprocess_segment(self, line: str) -> str:
        return line

    def _compute_segment_statistics(self, *_: object) -> None:
        return None
