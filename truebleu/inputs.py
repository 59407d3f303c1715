"""What people pass as hypotheses and references, turned into sources for the kernel.

Everything that can be mistaken for something else is refused here, with both readings named.
"""

from __future__ import annotations

import os
from itertools import zip_longest

from truebleu import _kernel, tokenizers
from truebleu._kernel import InputError
from truebleu.files import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    Hypotheses = Any
    References = Any
else:  # for programs that read annotations
    Hypotheses = References = object


# More threads than this help nobody.
MOST_WORKERS = 1024


def scan(
    kernel: _kernel.Metric,
    hypotheses: Hypotheses,
    references: References,
    *,
    tokenize: tokenizers.Tokenize | None = None,
    lowercase: bool | str = False,
    workers: int,
    others: Sequence[_kernel.Metric] = (),
) -> _kernel.Scan:
    """A run of `kernel` over hypotheses and references of any of the kinds that there are.

    `tokenize` and `lowercase` are for metrics that take tokens, or a tokenizer of one's own.
    The rows of `others` stand beside those of `kernel`; they take text alone.
    """
    workers = threads(workers)
    hypotheses = _recognized("hypotheses", hypotheses)
    references = _recognized("references", references)
    if isinstance(hypotheses, list):
        raise TypeError("hypotheses: several files or columns; score one system at a time")
    if isinstance(hypotheses, tuple) and not hypotheses:
        raise InputError("hypotheses: no segments at all; there is nothing to score")
    given = isinstance(hypotheses, tuple) and is_tokens(hypotheses)
    if isinstance(references, tuple) and not given:
        # How many lines a file has is not known yet; then only the square shape is ambiguous.
        known = isinstance(hypotheses, tuple)
        _refuse_transposed(references, len(hypotheses) if known else len(references))
    splitter = _splitter(hypotheses, references, tokenize, lowercase)
    if splitter is not None:
        return kernel.scan(
            splitter.hypotheses(hypotheses), splitter.references(references), workers
        )
    if isinstance(hypotheses, tuple):
        source = _kernel.strings(hypotheses, "hypotheses")
    else:
        source = _column_source(hypotheses, "hypotheses", required=True)
    if isinstance(references, tuple):
        sources = [_kernel.references(references)]
    else:
        columns = _named_columns(references)
        sources = [_column_source(column, role, required=False) for role, column in columns]
    return kernel.scan(source, sources, workers, list(others))


def threads(workers: int) -> int:
    """How many threads are meant."""
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers={workers!r}: a number of threads is meant, 1 or more")
    return min(workers, MOST_WORKERS)


def tokenized(
    hypotheses: Hypotheses,
    references: References,
    *,
    tokenize: tokenizers.Tokenize,
    lowercase: bool | str,
) -> Iterator[tuple[list[Any], list[list[Any]]]]:
    """Each segment's tokens and its references' tokens, for metrics that count in Python.

    Takes what `scan` takes, and refuses what it refuses.
    """
    hypotheses = _recognized("hypotheses", hypotheses)
    references = _recognized("references", references)
    if isinstance(hypotheses, list):
        raise TypeError("hypotheses: several files or columns; score one system at a time")
    given = isinstance(hypotheses, tuple) and is_tokens(hypotheses)
    if isinstance(references, tuple) and not given:
        known = isinstance(hypotheses, tuple)
        _refuse_transposed(references, len(hypotheses) if known else len(references))
    splitter = _splitter(hypotheses, references, tokenize, lowercase)
    return (splitter or _Callable(tokenize, lowercase)).pairs(hypotheses, references)


def pairs(
    kernel: _kernel.Metric,
    hypotheses: Hypotheses,
    references: Hypotheses | None,
    *,
    tokenize: tokenizers.Tokenize | None = None,
    lowercase: bool | str = False,
    workers: int,
) -> _kernel.Pairs:
    """All texts, read for `kernel` to score each hypothesis against each reference.

    Without references, against each other. `tokenize` and `lowercase` are as for `scan`.
    """
    workers = threads(workers)
    first = _one_side("hypotheses", hypotheses)
    second = None if references is None else _one_side("references", references)
    splitter = _splitter(first, first if second is None else second, tokenize, lowercase)
    if isinstance(second, tuple) and not isinstance(splitter, _Given) and is_tokens(second):
        number = next(number for number, item in enumerate(second, 1) if _is_group(item))
        raise TypeError(_not_one("references", number, second[number - 1]))
    sources = [
        splitter.source(role, texts)
        if splitter is not None
        else _kernel.strings(texts, role)
        if isinstance(texts, tuple)
        else _column_source(texts, role, required=True)
        for role, texts in (("hypotheses", first), ("references", second))
        if texts is not None
    ]
    read = kernel.pairs(sources[0], sources[1] if second is not None else None, workers)
    for role, count in zip(("hypotheses", "references"), read.shape, strict=True):
        if not count:
            raise InputError(_NO_TEXTS.format(role))
    return read


_NO_TEXTS = "{}: no texts at all; there is nothing to score"


def _not_one(role: str, number: int, item: object) -> str:
    """What to say of something that is not one text."""
    several = role == "references" and _is_group(item)
    hint = "; a pair has one reference, so those of a segment go one after the other"
    return f"{role}: segment {number} is of type {type(item).__name__}, not str" + hint * several


def one_each(role: str, texts: Hypotheses, *, tokens: bool = False) -> tuple[Any, ...]:
    """Texts as Python objects, one each and at least one; with `tokens` they may be tokens."""
    found = _one_side(role, texts)
    items = found if isinstance(found, tuple) else tuple(_segments(role, found))
    if not items:
        raise InputError(_NO_TEXTS.format(role))
    for number, item in enumerate(items, 1):
        if item is None:
            raise InputError(
                f"{role}: segment {number} is missing (None); every text must be there, an empty "
                "string where there is nothing"
            )
        is_text = isinstance(item, str) or (
            tokens and _is_group(item) and not any(map(_is_group, item))
        )
        if not is_text:
            raise TypeError(_not_one(role, number, item))
    return items


def listed(role: str, texts: Hypotheses) -> list[str]:
    """Texts of any kind, one each, as a list of strings, of which there may be none."""
    return _texts_of(role, _segments(role, _recognized(role, texts)))


def sets(role: str, texts: Any) -> tuple[list[list[str]], bool]:
    """One set of texts, or one for each source; and whether they are for sources.

    A sequence of strings is one set, one of sequences of strings are several.
    """
    items = _recognized(role, texts)
    if isinstance(items, list):
        raise TypeError(f"{role}: several files or columns; give one")
    outer = list(_segments(role, items))
    if not outer:
        raise InputError(f"{role}: none at all")
    kinds = [_is_group(item) for item in outer if item is not None]
    if not any(kinds):
        return [_texts_of(role, outer)], False
    several = []
    for number, item in enumerate(outer, 1):
        if not _is_group(item) or isinstance(item, dict | set | frozenset):
            raise TypeError(
                f"{role}: source {number} is of type {type(item).__name__}, where a list of "
                "strings for each source is meant"
            )
        several.append(_texts_of(f"{role}: source {number}", item))
    return several, True


def _texts_of(role: str, items: Iterable[Any]) -> list[str]:
    texts = list(items)
    for number, item in enumerate(texts, 1):
        if item is None:
            raise InputError(f"{role}: text {number} is missing (None); leave it out")
        if not isinstance(item, str):
            raise TypeError(f"{role}: text {number} is of type {type(item).__name__}, not str")
    return texts


def source(
    role: str, texts: Hypotheses, *, tokenize: tokenizers.Tokenize, lowercase: bool | str
) -> tuple[_kernel.Source, str, str]:
    """Texts of any kind, one each, for the kernel: with the tokenizer and the lower-casing left.

    What Python splits, and texts that are lists of tokens, arrive as tokens.
    """
    items = _recognized(role, texts)
    if isinstance(items, list):
        raise TypeError(f"{role}: several files or columns; give one")
    splitter = _splitter(items, (), tokenize, lowercase, role)
    if splitter is not None:
        return splitter.source(role, items), "none", "no"
    before = {False: "no", True: "python", "ascii": "ascii"}.get(lowercase)
    if before is None:
        raise ValueError(f"unknown lowercase {lowercase!r}; there are False, True, ascii, after")
    if isinstance(items, tuple):
        return _kernel.strings(items, role), str(tokenize), before
    return _column_source(items, role, required=True), str(tokenize), before


def split(
    texts: Iterable[Any], tokenize: tokenizers.Tokenize, lowercase: bool | str
) -> tuple[Sequence[Any], ...]:
    """The tokens of each text, by a tokenizer that is Python's."""
    return tuple(map(_Callable(tokenize, lowercase).tokens, texts))


def _one_side(role: str, texts: Any) -> Any:
    """Texts in memory as a tuple; a file or column as it is."""
    found = _recognized(role, texts)
    if isinstance(found, list):
        raise TypeError(f"{role}: several files or columns; pairs are of two lists of texts")
    if isinstance(found, tuple) and not found:
        raise InputError(_NO_TEXTS.format(role))
    return found


def texts(hypotheses: Hypotheses, references: References) -> Iterator[tuple[str, list[str]]]:
    """Each segment's text and its references' texts, as they are."""
    hypotheses = _recognized("hypotheses", hypotheses)
    references = _recognized("references", references)
    if isinstance(hypotheses, list):
        raise TypeError("hypotheses: several files or columns; score one system at a time")
    if isinstance(references, tuple):
        known = isinstance(hypotheses, tuple)
        _refuse_transposed(references, len(hypotheses) if known else len(references))
    pairs = _Texts().pairs(hypotheses, references)
    return ((text[0], [other[0] for other in others]) for text, others in pairs)


def _recognized(role: str, value: Any) -> Any:
    """Segments in memory as a tuple; several files or columns as a list; a single one as it is.

    The tuple holds the segments while the kernel reads them.
    """
    if isinstance(value, str):
        raise TypeError(
            f"{role}: a single str was given where one str a segment is meant; pass a list of "
            "strings, or pathlib.Path(...) for the name of a file"
        )
    if isinstance(value, bytes | bytearray):
        raise TypeError(f"{role}: bytes were given; decode them and pass a list of strings")
    if _is_column(value):
        return value
    if isinstance(value, dict | set | frozenset) or not (
        hasattr(value, "__len__") and hasattr(value, "__getitem__")
    ):
        raise TypeError(
            f"{role}: {type(value).__name__} has no order or no length; pass a list of one "
            "entry a segment (list(...) makes one of an iterator)"
        )
    items = tuple(value)
    if not any(map(_is_column, items[:1])):
        return items
    if not all(map(_is_column, items)):
        raise TypeError(f"{role}: files or columns and other things in one list")
    return list(items)


def _lengths(names: list[str], rest: list[tuple[Any, ...]], before: int, nothing: object) -> str:
    """What to say of inputs that end after different numbers of segments."""
    counts = [
        before + sum(item is not nothing for item in items) for items in zip(*rest, strict=True)
    ]
    told = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
    return (
        f"the inputs have different numbers of segments: {told}; "
        f"segment {min(counts) + 1} has no counterpart"
    )


def _names(columns: list[tuple[str, Any]]) -> list[str]:
    return ["hypotheses", *(name for name, _ in columns)]


def _named_columns(references: Any) -> list[tuple[str, Any]]:
    if isinstance(references, list):
        return [(f"reference {i}", column) for i, column in enumerate(references, 1)]
    return [("references", references)]


def _splitter(
    hypotheses: Any,
    references: Any,
    tokenize: tokenizers.Tokenize | None,
    lowercase: bool | str,
    role: str = "hypotheses",
) -> _Splitter | None:
    """Who makes tokens of the segments, if not the kernel; `role` is what errors call them."""
    if tokenize is None:
        if isinstance(hypotheses, tuple) and is_tokens(hypotheses):
            raise InputError(
                f"{role}: segment 1 is a {type(hypotheses[0]).__name__}, not a str; this "
                "metric is for text, not for tokens"
            )
        return None
    if not isinstance(tokenize, str) or lowercase == "after":
        return _Callable(tokenize, lowercase)
    if not isinstance(hypotheses, tuple) or not is_tokens(hypotheses):
        return None
    if tokenize != "none":
        raise InputError(
            f"{role}: segment 1 is a {type(hypotheses[0]).__name__}, not a str; text that is "
            f"split into tokens already needs tokenize='none', not {tokenize!r}"
        )
    if not isinstance(references, tuple):
        raise TypeError("references of hypotheses that are tokens must be tokens too")
    return _Given(lowercase)


def _is_column(value: object) -> bool:
    """Whether `value` is a file, or a column in the Arrow interface."""
    if isinstance(value, File | os.PathLike):
        return True
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def label(role: str, value: object) -> str:
    """What messages call an input: its role, and the file that it is read from."""
    if isinstance(value, os.PathLike):
        value = File(value)
    return value.label(role) if isinstance(value, File) else role


def _column_source(column: Any, role: str, *, required: bool) -> _kernel.Source:
    if isinstance(column, os.PathLike):
        column = File(column)
    if isinstance(column, File):
        return column.source(role)
    return _kernel.arrow(column, role, required)


def _is_group(value: object) -> bool:
    """Whether `value` is a sequence, and not text or nothing."""
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def is_tokens(hypotheses: tuple[Any, ...]) -> bool:
    """Whether segments are sequences of tokens, and not strings."""
    return next((_is_group(item) for item in hypotheses if item is not None), False)


def _refuse_transposed(references: tuple[Any, ...], count: int) -> None:
    """Refuses sacreBLEU's reference streams, one list a reference instead of one a segment."""
    outer = len(references)
    if not outer or count == outer == 1:
        return
    if not all(_is_group(item) and len(item) == count for item in references):
        return
    if outer == count:
        # Tuples are what zip() gives and nobody's stream; lists could be either.
        if all(isinstance(item, tuple) for item in references):
            return
        problem = f"{count} segments with {count} references each, or {count} streams of {count}"
    else:
        problem = f"{outer} streams of {count} references, where {count} segments are meant"
    raise InputError(
        f"references: this looks like {problem}. truebleu takes the references of each segment "
        "together, [[a1, b1], [a2, b2], ...]; sacreBLEU takes each reference's segments "
        "together, [[a1, a2, ...], [b1, b2, ...]]. From the latter, list(zip(*streams)) makes "
        "the former; tuples inside are never mistaken."
    )


class _Splitter:
    """Hypotheses and references that Python turns into tokens."""

    def tokens(self, segment: Any) -> Sequence[Any]:
        """The tokens of one segment."""
        raise NotImplementedError

    def is_segment(self, item: object) -> bool:
        """Whether `item` is one segment, and not several."""
        raise NotImplementedError

    def source(self, role: str, texts: Any) -> _kernel.Source:
        """The tokens of texts, one each, for the kernel."""
        return _kernel.tokens(self._rows(role, _segments(role, texts)), role, several=False)

    def hypotheses(self, hypotheses: Any) -> _kernel.Source:
        """The tokens of the hypotheses, for the kernel."""
        return self.source("hypotheses", hypotheses)

    def references(self, references: Any) -> list[_kernel.Source]:
        """The tokens of the references, for the kernel."""
        named = [("references", references)]
        if isinstance(references, list):
            named = _named_columns(references)
        return [
            _kernel.tokens(self._reference_rows(_segments(role, segments)), role, several=True)
            for role, segments in named
        ]

    def pairs(
        self, hypotheses: Any, references: Any
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """The tokens of each segment's hypothesis, and those of its references that there are."""
        named = [("references", references)]
        if isinstance(references, list):
            named = _named_columns(references)
        columns: list[Iterator[Any]] = [
            self._rows("hypotheses", _segments("hypotheses", hypotheses))
        ]
        columns += [self._reference_rows(_segments(role, segments)) for role, segments in named]
        nothing = object()
        rows = zip_longest(*columns, fillvalue=nothing)
        number = 0
        for number, row in enumerate(rows, 1):
            if any(item is nothing for item in row):
                raise InputError(_lengths(_names(named), [row, *rows], number - 1, nothing))
            tokens, *others = row
            found = [list(one) for several in others for one in several if one is not None]
            if not found:
                raise InputError(
                    f"references: segment {number} has none (all are missing); every segment needs "
                    "at least one reference, so leave the segment out or give it one"
                )
            yield list(tokens), found
        if not number:
            raise InputError("hypotheses: no segments at all; there is nothing to score")

    def _rows(self, role: str, segments: Iterable[Any]) -> Iterator[Sequence[Any]]:
        for number, segment in enumerate(segments, 1):
            if segment is None:
                raise InputError(
                    f"{role}: segment {number} is missing (None); every one must be there, an "
                    "empty one if the system gave nothing"
                )
            if not self.is_segment(segment):
                raise TypeError(f"{role}: segment {number} is a {type(segment).__name__}")
            yield self.tokens(segment)

    def _reference_rows(self, segments: Iterable[Any]) -> Iterator[list[Sequence[Any] | None]]:
        for number, item in enumerate(segments, 1):
            if item is None:
                yield []
            elif self.is_segment(item):
                yield [self.tokens(item)]
            elif _is_group(item):
                yield [None if one is None else self.tokens(one) for one in item]
            else:
                raise TypeError(f"references: segment {number} is a {type(item).__name__}")


class _Callable(_Splitter):
    """Strings that Python splits, after lower-casing and stripping as sacreBLEU does."""

    def __init__(self, tokenize: tokenizers.Tokenize, lowercase: bool | str) -> None:
        self.name = tokenizers.label(tokenize)
        self.split = tokenizers.tokenizer(tokenize, lowercase)

    def tokens(self, segment: Any) -> Sequence[Any]:
        if not isinstance(segment, str):
            raise TypeError(
                f"the tokenizer {self.name} takes str, and a segment is a {type(segment).__name__}"
            )
        return self.split(segment)

    def is_segment(self, item: object) -> bool:
        return isinstance(item, str)


class _Texts(_Splitter):
    """Strings that stay whole."""

    def tokens(self, segment: Any) -> Sequence[Any]:
        if not isinstance(segment, str):
            raise TypeError(f"strings are meant, and a segment is a {type(segment).__name__}")
        return (segment,)

    def is_segment(self, item: object) -> bool:
        return isinstance(item, str)


class _Given(_Splitter):
    """Segments that are sequences of tokens, strings or integers, but not some of each."""

    def __init__(self, lowercase: bool | str) -> None:
        self.lowercase = lowercase
        self.kind: type | None = None

    def tokens(self, segment: Any) -> Sequence[Any]:
        for token in segment:
            kind = str if isinstance(token, str) else int
            if self.kind is None:
                self.kind = kind
            elif kind is not self.kind:
                raise InputError(
                    f"tokens of both kinds, str and int: {token!r} is a {type(token).__name__} "
                    f"and earlier ones were {self.kind.__name__}; they would never match"
                )
        if self.lowercase and self.kind is str:
            return [token.lower() for token in segment]
        return segment  # type: ignore[no-any-return]

    def is_segment(self, item: object) -> bool:
        if not _is_group(item):
            return False
        first = next(iter(item), "")  # type: ignore[call-overload]
        return first is not None and not _is_group(first)


def _segments(role: str, value: Any) -> Iterable[Any]:
    """The segments of anything, as Python objects."""
    if isinstance(value, os.PathLike):
        value = File(value)
    if isinstance(value, File):
        return value.lines()
    if isinstance(value, tuple):
        return value
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    raise TypeError(
        f"{role}: with a tokenizer of your own, {type(value).__name__} cannot be read segment by "
        "segment; pass a list of strings"
    )
