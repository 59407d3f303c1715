"""Hypotheses and references as users pass them, turned into sources for the kernel.

Everything that can be mistaken for something else is refused here, with both readings named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Any, TypeAlias

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text import argument_checks, tokenizers
from truebleu.text.segments import (
    File,
    file_of,
    is_column,
    is_file,
    is_group,
    is_lasting,
    items,
    named_columns,
)

Hypotheses: TypeAlias = Any
References: TypeAlias = Any


# ---- what metrics ask for ----


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

    `tokenize` and `lowercase` are for metrics that take tokens or custom tokenizers.
    The rows of `others` stand beside those of `kernel`; they take text alone.
    """
    hypotheses, references = _both(hypotheses, references)
    if isinstance(hypotheses, tuple) and not hypotheses:
        raise InputError("hypotheses: no segments at all; there is nothing to score")
    splitter = _splitter(hypotheses, references, tokenize, lowercase)
    if splitter is not None:
        source = splitter.source("hypotheses", hypotheses)
        return kernel.scan(source, splitter.references(references), workers)
    if isinstance(references, tuple):
        sources = [_kernel.references(references)]
    else:
        columns = named_columns(references)
        sources = [_text_source(role, column, required=False) for role, column in columns]
    return kernel.scan(_text_source("hypotheses", hypotheses), sources, workers, list(others))


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
    hypotheses, references = _both(hypotheses, references)
    splitter = _splitter(hypotheses, references, tokenize, lowercase)
    if splitter is None:
        splitter = Splitter(tokenizers.tokenizer(tokenize, lowercase))
    return splitter.pairs(hypotheses, references)


def texts(hypotheses: Hypotheses, references: References) -> Iterator[tuple[str, list[str]]]:
    """Each segment's text and its references' texts, as they are."""
    hypotheses, references = _both(hypotheses, references)
    pairs = Splitter(lambda text: (text,)).pairs(hypotheses, references)
    return ((text[0], [other[0] for other in others]) for text, others in pairs)


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
    workers = argument_checks.threads(workers)
    first = _one_column("hypotheses", hypotheses)
    second = None if references is None else _one_column("references", references)
    splitter = _splitter(first, first if second is None else second, tokenize, lowercase)
    if isinstance(second, tuple) and not (splitter and splitter.of_tokens) and is_tokens(second):
        number = next(number for number, item in enumerate(second, 1) if is_group(item))
        raise TypeError(_not_one("references", number, second[number - 1]))
    sources = [
        _text_source(role, texts) if splitter is None else splitter.source(role, texts)
        for role, texts in (("hypotheses", first), ("references", second))
        if texts is not None
    ]
    read = kernel.pairs(sources[0], sources[1] if second is not None else None, workers)
    for role, count in zip(("hypotheses", "references"), read.shape, strict=True):
        if not count:
            raise InputError(f"{role}: no texts at all; there is nothing to score")
    return read


def source(
    role: str, texts: Hypotheses, *, tokenize: tokenizers.Tokenize, lowercase: bool | str
) -> tuple[_kernel.Source, str, str]:
    """Texts of any kind, one each, for the kernel: with the tokenizer and the lower-casing left.

    What Python splits, and texts that are lists of tokens, arrive as tokens.
    """
    found = _one_column(role, texts)
    argument_checks.one_of("lowercase", lowercase, tokenizers.LOWERCASE)
    tokenize = tokenizers.checked(tokenize)
    splitter = _splitter(found, (), tokenize, lowercase, role)
    if splitter is not None:
        return splitter.source(role, found), "none", "no"
    return _text_source(role, found), str(tokenize), tokenizers.LOWERCASE[lowercase]


def one_each(role: str, texts: Hypotheses, *, tokens: bool = False) -> tuple[Any, ...]:
    """Texts as Python objects, one each and at least one; with `tokens` they may be tokens."""
    found = _one_column(role, texts)
    given = found if isinstance(found, tuple) else tuple(items(role, found))
    if not given:
        raise InputError(f"{role}: no texts at all; there is nothing to score")
    for number, item in enumerate(given, 1):
        if item is None:
            raise InputError(
                f"{role}: segment {number} is missing (None); every text must be there, an empty "
                "string where there is nothing"
            )
        is_list = tokens and is_group(item) and not any(map(is_group, item))
        if not isinstance(item, str) and not is_list:
            raise TypeError(_not_one(role, number, item))
    return given


def _not_one(role: str, number: int, item: object) -> str:
    """The message about something that is not one text."""
    several = role == "references" and is_group(item)
    hint = "; a pair has one reference, so those of a segment go one after the other"
    return (
        f"{role}: segment {number} is {argument_checks.described(item)}, not str" + hint * several
    )


def listed(role: str, texts: Hypotheses) -> list[str]:
    """Texts of any kind, one each, as a list of strings, of which there may be none."""
    return _texts_of(role, items(role, _recognized(role, texts)))


def sets(role: str, texts: Any) -> tuple[list[list[str]], bool]:
    """One set of texts, or one for each source; and whether they are for sources.

    A sequence of strings is one set, one of sequences of strings are several.
    """
    outer = list(items(role, _one_column(role, texts)))
    if not outer:
        raise InputError(f"{role}: none at all")
    if not any(is_group(item) for item in outer if item is not None):
        return [_texts_of(role, outer)], False
    several = []
    for number, item in enumerate(outer, 1):
        if not is_group(item) or isinstance(item, dict | set | frozenset):
            raise TypeError(
                f"{role}: source {number} is {argument_checks.described(item)}; expected a list of "
                "strings for each source"
            )
        several.append(_texts_of(f"{role}: source {number}", item))
    return several, True


def _texts_of(role: str, items: Iterable[Any]) -> list[str]:
    texts = list(items)
    for number, item in enumerate(texts, 1):
        if item is None:
            raise InputError(f"{role}: text {number} is missing (None); leave it out")
        if not isinstance(item, str):
            raise TypeError(f"{role}: text {number} is {argument_checks.described(item)}, not str")
    return texts


def label(role: str, value: object) -> str:
    """The name of an input in messages: its role, and the file that it is read from."""
    return file_of(value).label(role) if is_file(value) else role


def is_tokens(hypotheses: tuple[Any, ...]) -> bool:
    """True if segments are sequences of tokens, not strings."""
    first = next((item for item in hypotheses if item is not None), "")
    return not isinstance(first, str) and is_group(first)


# ---- what was given ----


def _both(hypotheses: Hypotheses, references: References) -> tuple[Any, Any]:
    """Hypotheses and references, recognized; what was mistaken for something else is refused."""
    hypotheses = _recognized("hypotheses", hypotheses)
    references = _recognized("references", references)
    if isinstance(hypotheses, list):
        raise TypeError("hypotheses: several files or columns; score one system at a time")
    tokens = isinstance(hypotheses, tuple) and is_tokens(hypotheses)
    if isinstance(references, tuple) and not tokens:
        _refuse_streams(hypotheses, references)
    return hypotheses, references


def _one_column(role: str, texts: Any) -> Any:
    """Texts in memory as a tuple; a file or column as it is."""
    found = _recognized(role, texts)
    if isinstance(found, list):
        raise TypeError(f"{role}: several files or columns; give one")
    return found


def _recognized(role: str, value: Any) -> Any:
    """Segments in memory as a tuple; several files or columns as a list; a single one as it is.

    The tuple holds the segments while the kernel reads them. What has no segments, or has them in
    no order, is refused.
    """
    if type(value) not in (list, tuple):  # which most inputs are
        if is_column(value):
            return value
        if isinstance(value, str):
            raise TypeError(
                f"{role}: a single str; expected one str per segment: pass a list of strings, or "
                "pathlib.Path(...) for the name of a file"
            )
        if isinstance(value, bytes | bytearray):
            raise TypeError(f"{role}: bytes were given; decode them and pass a list of strings")
        if isinstance(value, dict | set | frozenset) or not (
            hasattr(value, "__len__") and hasattr(value, "__getitem__")
        ):
            raise TypeError(
                f"{role}: {type(value).__name__} has no order or no length; pass a list with one "
                "entry per segment (list(...) makes one of an iterator)"
            )
    given = tuple(value)
    if not given or isinstance(given[0], str) or not is_column(given[0]):
        return given
    if not all(map(is_column, given)):
        raise TypeError(f"{role}: files or columns and other things in one list")
    return list(given)


def _text_source(role: str, texts: Any, *, required: bool = True) -> _kernel.Source:
    """Texts, one each, for the kernel."""
    if isinstance(texts, tuple):
        return _kernel.strings(texts, role)
    if is_file(texts):
        return file_of(texts).source(role)
    return _kernel.arrow(texts, role, required)


def _refuse_streams(hypotheses: Any, references: tuple[Any, ...]) -> None:
    """Refuses sacreBLEU's reference streams, one list per reference instead of one per segment.

    Where there are as many segments as references, the text decides: they are streams if they fit
    the hypotheses distinctly better as such. Tuples, which zip() gives, are never streams.
    """
    outer = len(references)
    # The number of lines of a file is not known yet.
    count = len(hypotheses) if isinstance(hypotheses, tuple) else outer
    if not outer or count == outer == 1:
        return
    if not all(isinstance(item, list) and len(item) == count for item in references) and not (
        outer != count and all(is_group(item) and len(item) == count for item in references)
    ):
        return
    problem = f"{outer} streams of {count} references, where {count} segments are expected"
    if outer == count:
        if is_file(hypotheses) and not is_lasting(file_of(hypotheses).path):
            return
        if not _fit_as_streams(hypotheses, references):
            return
        problem = f"{count} streams of {count} references: they fit the hypotheses better that way"
    raise InputError(
        f"references: this looks like {problem}. truebleu takes the references of each segment "
        "together, [[a1, b1], [a2, b2], ...]; sacreBLEU takes each reference's segments "
        "together, [[a1, a2, ...], [b1, b2, ...]]. From the latter, list(zip(*streams)) makes "
        "the former; tuples inside are never mistaken."
    )


def _fit_as_streams(hypotheses: Any, references: tuple[Any, ...]) -> bool:
    """True if a square of references is more like the hypotheses when transposed.

    Of the first 40 segments, and references of each: words, or characters of text without spaces.
    """

    def features(text: Any) -> set[Any]:
        if not isinstance(text, str):
            return set()
        words = text.lower().split()
        return set(words) if len(words) > 1 else set(text.lower())

    def likeness(one: set[Any], other: set[Any]) -> float:
        return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0

    own = list(map(features, islice(items("hypotheses", hypotheses), min(40, len(references)))))
    some = range(len(own))
    others = [[features(references[i][j]) for j in some] for i in some]
    given = sum(likeness(own[i], others[i][j]) for i in some for j in some)
    turned = sum(likeness(own[i], others[j][i]) for i in some for j in some)
    return turned > 1.2 * given + 0.1


# ---- segments that Python splits, or that are tokens already ----


def _splitter(
    hypotheses: Any,
    references: Any,
    tokenize: tokenizers.Tokenize | None,
    lowercase: bool | str,
    role: str = "hypotheses",
) -> Splitter | None:
    """What splits the segments, if not the kernel; `role` names them in messages."""
    if tokenize is not None and not tokenizers.in_kernel(tokenize, lowercase):
        return Splitter(tokenizers.tokenizer(tokenize, lowercase))
    if not isinstance(hypotheses, tuple) or not is_tokens(hypotheses):
        return None
    if tokenize != "none":
        problem = (
            "this metric is for text, not for tokens"
            if tokenize is None
            else f"text that is split into tokens already needs tokenize='none', not {tokenize!r}"
        )
        kind = type(hypotheses[0]).__name__
        raise InputError(f"{role}: segment 1 is a {kind}, not a str; {problem}")
    if not isinstance(references, tuple):
        raise TypeError("references of hypotheses that are tokens must be tokens too")
    return Splitter(_checked_tokens(lowercase), of_tokens=True)


def _checked_tokens(lowercase: bool | str) -> Callable[[Any], Sequence[Any]]:
    """A function that returns tokens that are given: strings or integers, but not both."""
    first: type | None = None

    def tokens(segment: Any) -> Sequence[Any]:
        nonlocal first
        for token in segment:
            kind = str if isinstance(token, str) else int
            first = first or kind
            if kind is not first:
                raise InputError(
                    f"tokens of both kinds, str and int: {token!r} is a {type(token).__name__} "
                    f"and earlier ones were {first.__name__}; they would never match"
                )
        if lowercase and first is str:
            return [token.lower() for token in segment]
        return segment  # type: ignore[no-any-return]

    return tokens


class Splitter:
    """Hypotheses and references as tokens; `split` gives those of a segment.

    A segment is a string; with `of_tokens` it is a sequence of tokens.
    """

    def __init__(self, split: Callable[[Any], Sequence[Any]], *, of_tokens: bool = False) -> None:
        self.split, self.of_tokens = split, of_tokens

    def is_segment(self, item: object) -> bool:
        """True if `item` is one segment, not several."""
        if not self.of_tokens:
            return isinstance(item, str)
        if not is_group(item):
            return False
        first = next(iter(item), "")  # type: ignore[call-overload]
        return first is not None and not is_group(first)

    def source(self, role: str, texts: Any) -> _kernel.Source:
        """The tokens of texts, one each, for the kernel."""
        return _kernel.tokens(self._rows(role, texts), role, several=False)

    def references(self, references: Any) -> list[_kernel.Source]:
        """The tokens of the references, for the kernel."""
        return [
            _kernel.tokens(self._reference_rows(role, column), role, several=True)
            for role, column in named_columns(references)
        ]

    def pairs(
        self, hypotheses: Any, references: Any
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """The tokens of each segment's hypothesis, and those of its references that there are."""
        named = named_columns(references)
        names = ["hypotheses", *(name for name, _ in named)]
        columns: list[Iterator[Any]] = [self._rows("hypotheses", hypotheses)]
        columns += [self._reference_rows(role, column) for role, column in named]
        nothing = object()
        rows = zip_longest(*columns, fillvalue=nothing)
        number = 0
        for number, row in enumerate(rows, 1):
            if any(item is nothing for item in row):
                rest = zip(*(row, *rows), strict=True)
                counts = [number - 1 + sum(one is not nothing for one in each) for each in rest]
                told = ", ".join(map("{} {}".format, names, counts))
                raise InputError(
                    f"the inputs have different numbers of segments: {told}; "
                    f"segment {min(counts) + 1} has no counterpart"
                )
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

    def _rows(self, role: str, texts: Any) -> Iterator[Sequence[Any]]:
        for number, segment in enumerate(items(role, texts), 1):
            if segment is None:
                raise InputError(
                    f"{role}: segment {number} is missing (None); every one must be there, an "
                    "empty one if the system gave nothing"
                )
            if not self.is_segment(segment):
                raise TypeError(
                    f"{role}: segment {number} is {argument_checks.described(segment)}, not str"
                )
            yield self.split(segment)

    def _reference_rows(self, role: str, column: Any) -> Iterator[list[Sequence[Any] | None]]:
        for number, item in enumerate(items(role, column), 1):
            several = item is not None and not self.is_segment(item)
            if several and not is_group(item):
                raise TypeError(
                    f"references: segment {number} is {argument_checks.described(item)}"
                )
            row: list[Sequence[Any] | None] = []
            for place, one in enumerate(item if several else () if item is None else (item,), 1):
                if one is not None and not self.is_segment(one):
                    raise TypeError(
                        f"references: segment {number}, reference {place} is "
                        f"{argument_checks.described(one)}"
                    )
                row.append(None if one is None else self.split(one))
            yield row


# ---- Unicode forms: the parameter `normalize` of metrics ----


def normalize_text(form: str, text: str) -> str:
    """Return the text in a form of the parameter `normalize`.

    Diacritics are all characters of category Mn (nonspacing marks) of the decomposed text.

    >>> normalize_text("nfc", "e\u0301"), normalize_text("nfc-strip", "é"), len("e\u0301")
    ('é', 'e', 2)
    """
    if text.isascii():
        return text
    import unicodedata

    name, _, strip = form.upper().partition("-")
    if strip:
        decomposed = unicodedata.normalize(name.replace("C", "D"), text)  # type: ignore[arg-type]
        text = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    elif unicodedata.is_normalized(name, text):  # type: ignore[arg-type]
        return text
    return unicodedata.normalize(name, text)  # type: ignore[arg-type]


class NormalizedFile(File):
    """The lines of a file in a Unicode form, converted while they are read."""

    def __init__(self, file: File, form: str) -> None:
        super().__init__(file.path)
        self._file, self._form = file, form

    @property
    def is_plain(self) -> bool:
        """False: its bytes are not those on the disk."""
        return False

    def _key(self) -> tuple[object, ...]:
        return self._file, self._form

    def _reader(self) -> Callable[[int], bytes]:
        lines = (f"{normalize_text(self._form, line)}\n" for line in self._file.lines())
        pieces = iter(lambda: "".join(islice(lines, 1024)).encode("utf-8", "surrogatepass"), b"")
        return lambda _: next(pieces, b"")


def normalize_input(form: str | None, value: Any) -> Any:
    """Return hypotheses, references or sources of any accepted kind in a Unicode form.

    Values that are not text, which metrics refuse, stay as they are.
    """
    if form is None:
        return value
    if isinstance(value, str):
        return normalize_text(form, value)
    if is_file(value):
        return NormalizedFile(file_of(value), form)
    again = partial(normalize_input, form)
    if is_column(value):
        found = items("texts", value)
        return tuple(again(tuple(item) if isinstance(item, list) else item) for item in found)
    if isinstance(value, list | tuple) and any(map(is_column, value)):
        if any(map(is_file, value)):
            return list(map(again, value))
        # Several columns of references become the references of each segment.
        columns = list(map(again, value))
        if len(set(map(len, columns))) > 1:
            lengths = ", ".join(f"{len(column):,}" for column in columns)
            raise InputError(f"references: columns of different lengths ({lengths})")
        return tuple(zip_longest(*columns))
    has_items = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    if isinstance(value, bytes | bytearray | dict) or not has_items:
        return value
    return (tuple if isinstance(value, tuple) else list)(map(again, items("texts", value)))
