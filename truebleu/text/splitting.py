"""Segments that Python turns into tokens: by a callable, or because they are tokens already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text import checks, segments, tokenizers


class Splitter:
    """Hypotheses and references as tokens; a subclass says what a segment is, and splits it."""

    # True if the segments are tokens already.
    of_tokens = False

    def tokens(self, segment: Any) -> Sequence[Any]:
        """The tokens of one segment."""
        raise NotImplementedError

    def is_segment(self, item: object) -> bool:
        """True if `item` is one segment, not several."""
        raise NotImplementedError

    def source(self, role: str, texts: Any) -> _kernel.Source:
        """The tokens of texts, one each, for the kernel."""
        return _kernel.tokens(self._rows(role, segments.items(role, texts)), role, several=False)

    def references(self, references: Any) -> list[_kernel.Source]:
        """The tokens of the references, for the kernel."""
        return [
            _kernel.tokens(self._reference_rows(segments.items(role, column)), role, several=True)
            for role, column in segments.named_columns(references)
        ]

    def pairs(
        self, hypotheses: Any, references: Any
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """The tokens of each segment's hypothesis, and those of its references that there are."""
        named = segments.named_columns(references)
        columns: list[Iterator[Any]] = [
            self._rows("hypotheses", segments.items("hypotheses", hypotheses))
        ]
        columns += [self._reference_rows(segments.items(role, column)) for role, column in named]
        nothing = object()
        rows = zip_longest(*columns, fillvalue=nothing)
        number = 0
        for number, row in enumerate(rows, 1):
            if any(item is nothing for item in row):
                names = ["hypotheses", *(name for name, _ in named)]
                raise InputError(_lengths(names, [row, *rows], number - 1, nothing))
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

    def _rows(self, role: str, items: Iterable[Any]) -> Iterator[Sequence[Any]]:
        for number, segment in enumerate(items, 1):
            if segment is None:
                raise InputError(
                    f"{role}: segment {number} is missing (None); every one must be there, an "
                    "empty one if the system gave nothing"
                )
            if not self.is_segment(segment):
                raise TypeError(f"{role}: segment {number} is {checks.described(segment)}, not str")
            yield self.tokens(segment)

    def _reference_rows(self, items: Iterable[Any]) -> Iterator[list[Sequence[Any] | None]]:
        for number, item in enumerate(items, 1):
            if item is None:
                yield []
            elif self.is_segment(item):
                yield [self.tokens(item)]
            elif segments.is_group(item):
                yield [self._reference(number, *one) for one in enumerate(item, 1)]
            else:
                raise TypeError(f"references: segment {number} is {checks.described(item)}")

    def _reference(self, number: int, place: int, item: Any) -> Sequence[Any] | None:
        if item is None or self.is_segment(item):
            return None if item is None else self.tokens(item)
        raise TypeError(
            f"references: segment {number}, reference {place} is {checks.described(item)}"
        )


class Strings(Splitter):
    """Texts, each split by a function; messages begin with `what`."""

    def __init__(self, split: Callable[[str], Sequence[Any]], what: str) -> None:
        self.split = split
        self.what = what

    def tokens(self, segment: Any) -> Sequence[Any]:
        """The tokens of one text."""
        if not isinstance(segment, str):
            raise TypeError(f"{self.what}, and a segment is a {type(segment).__name__}")
        return self.split(segment)

    def is_segment(self, item: object) -> bool:
        """True for a text."""
        return isinstance(item, str)


def called(tokenize: tokenizers.Tokenize, lowercase: bool | str) -> Strings:
    """Texts that Python splits, after lower-casing and stripping as sacreBLEU does."""
    what = f"the tokenizer {tokenizers.label(tokenize)} takes str"
    return Strings(tokenizers.tokenizer(tokenize, lowercase), what)


def whole() -> Strings:
    """Texts that stay whole."""
    return Strings(lambda text: (text,), "expected strings")


class Given(Splitter):
    """Segments that are sequences of tokens, strings or integers, but not some of each."""

    of_tokens = True

    def __init__(self, lowercase: bool | str) -> None:
        self.lowercase = lowercase
        self.kind: type | None = None

    def tokens(self, segment: Any) -> Sequence[Any]:
        """The tokens themselves."""
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
        """True for a sequence of tokens."""
        if not segments.is_group(item):
            return False
        first = next(iter(item), "")  # type: ignore[call-overload]
        return first is not None and not segments.is_group(first)


def _lengths(names: list[str], rest: list[tuple[Any, ...]], before: int, nothing: object) -> str:
    """The message about inputs with different numbers of segments."""
    counts = [
        before + sum(item is not nothing for item in items) for items in zip(*rest, strict=True)
    ]
    told = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
    return (
        f"the inputs have different numbers of segments: {told}; "
        f"segment {min(counts) + 1} has no counterpart"
    )
