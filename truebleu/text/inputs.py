"""Hypotheses and references as users pass them, turned into sources for the kernel.

Everything that can be mistaken for something else is refused here, with both readings named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text import checks, tokenizers
from truebleu.text.segments import (
    file_of,
    is_column,
    is_file,
    is_group,
    is_lasting,
    items,
    named_columns,
)

if TYPE_CHECKING:
    from truebleu.text.splitting import Splitter

Hypotheses: TypeAlias = Any
References: TypeAlias = Any


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
        sources = [_column_source(column, role, required=False) for role, column in columns]
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
    from truebleu.text.splitting import called

    hypotheses, references = _both(hypotheses, references)
    splitter = _splitter(hypotheses, references, tokenize, lowercase)
    return (splitter or called(tokenize, lowercase)).pairs(hypotheses, references)


def texts(hypotheses: Hypotheses, references: References) -> Iterator[tuple[str, list[str]]]:
    """Each segment's text and its references' texts, as they are."""
    from truebleu.text.splitting import whole

    hypotheses, references = _both(hypotheses, references)
    pairs = whole().pairs(hypotheses, references)
    return ((text[0], [other[0] for other in others]) for text, others in pairs)


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
    workers = checks.threads(workers)
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
            raise InputError(_NO_TEXTS.format(role))
    return read


_NO_TEXTS = "{}: no texts at all; there is nothing to score"


def _not_one(role: str, number: int, item: object) -> str:
    """The message about something that is not one text."""
    several = role == "references" and is_group(item)
    hint = "; a pair has one reference, so those of a segment go one after the other"
    return f"{role}: segment {number} is {checks.described(item)}, not str" + hint * several


def one_each(role: str, texts: Hypotheses, *, tokens: bool = False) -> tuple[Any, ...]:
    """Texts as Python objects, one each and at least one; with `tokens` they may be tokens."""
    found = _one_column(role, texts)
    given = found if isinstance(found, tuple) else tuple(items(role, found))
    if not given:
        raise InputError(_NO_TEXTS.format(role))
    for number, item in enumerate(given, 1):
        if item is None:
            raise InputError(
                f"{role}: segment {number} is missing (None); every text must be there, an empty "
                "string where there is nothing"
            )
        is_text = isinstance(item, str) or (
            tokens and is_group(item) and not any(map(is_group, item))
        )
        if not is_text:
            raise TypeError(_not_one(role, number, item))
    return given


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
    kinds = [is_group(item) for item in outer if item is not None]
    if not any(kinds):
        return [_texts_of(role, outer)], False
    several = []
    for number, item in enumerate(outer, 1):
        if not is_group(item) or isinstance(item, dict | set | frozenset):
            raise TypeError(
                f"{role}: source {number} is {checks.described(item)}; expected a list of "
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
            raise TypeError(f"{role}: text {number} is {checks.described(item)}, not str")
    return texts


def source(
    role: str, texts: Hypotheses, *, tokenize: tokenizers.Tokenize, lowercase: bool | str
) -> tuple[_kernel.Source, str, str]:
    """Texts of any kind, one each, for the kernel: with the tokenizer and the lower-casing left.

    What Python splits, and texts that are lists of tokens, arrive as tokens.
    """
    found = _one_column(role, texts)
    checks.one_of("lowercase", lowercase, tokenizers.LOWERCASE)
    tokenize = tokenizers.checked(tokenize)
    splitter = _splitter(found, (), tokenize, lowercase, role)
    if splitter is not None:
        return splitter.source(role, found), "none", "no"
    return _text_source(role, found), str(tokenize), tokenizers.LOWERCASE[lowercase]


def _one_column(role: str, texts: Any) -> Any:
    """Texts in memory as a tuple; a file or column as it is."""
    found = _recognized(role, texts)
    if isinstance(found, list):
        raise TypeError(f"{role}: several files or columns; give one")
    return found


def _recognized(role: str, value: Any) -> Any:
    """Segments in memory as a tuple; several files or columns as a list; a single one as it is.

    The tuple holds the segments while the kernel reads them.
    """
    if type(value) not in (list, tuple):  # which most inputs are
        if is_column(value):
            return value
        _refuse(role, value)
    given = tuple(value)
    if not any(map(is_column, given[:1])):
        return given
    if not all(map(is_column, given)):
        raise TypeError(f"{role}: files or columns and other things in one list")
    return list(given)


def _refuse(role: str, value: Any) -> None:
    """Refuses what has no segments, or has them in no order."""
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


def _splitter(
    hypotheses: Any,
    references: Any,
    tokenize: tokenizers.Tokenize | None,
    lowercase: bool | str,
    role: str = "hypotheses",
) -> Splitter | None:
    """The tokenizer of the segments, if not the kernel; `role` names them in messages."""
    if tokenize is None:
        if isinstance(hypotheses, tuple) and is_tokens(hypotheses):
            raise InputError(
                f"{role}: segment 1 is a {type(hypotheses[0]).__name__}, not a str; this "
                "metric is for text, not for tokens"
            )
        return None
    if not tokenizers.in_kernel(tokenize, lowercase):
        from truebleu.text.splitting import called

        return called(tokenize, lowercase)
    if not isinstance(hypotheses, tuple) or not is_tokens(hypotheses):
        return None
    if tokenize != "none":
        raise InputError(
            f"{role}: segment 1 is a {type(hypotheses[0]).__name__}, not a str; text that is "
            f"split into tokens already needs tokenize='none', not {tokenize!r}"
        )
    if not isinstance(references, tuple):
        raise TypeError("references of hypotheses that are tokens must be tokens too")
    from truebleu.text.splitting import Given

    return Given(lowercase)


def label(role: str, value: object) -> str:
    """The name of an input in messages: its role, and the file that it is read from."""
    return file_of(value).label(role) if is_file(value) else role


def _column_source(column: Any, role: str, *, required: bool) -> _kernel.Source:
    if is_file(column):
        return file_of(column).source(role)
    return _kernel.arrow(column, role, required)


def _text_source(role: str, texts: Any) -> _kernel.Source:
    """Texts, one each, for the kernel."""
    if isinstance(texts, tuple):
        return _kernel.strings(texts, role)
    return _column_source(texts, role, required=True)


def is_tokens(hypotheses: tuple[Any, ...]) -> bool:
    """True if segments are sequences of tokens, not strings."""
    return next((is_group(item) for item in hypotheses if item is not None), False)


# ---- reference streams ----


# As many segments, and references of each, are looked at where the shape alone cannot tell.
_LOOKED_AT = 40


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
        some = list(islice(items("hypotheses", hypotheses), _LOOKED_AT))
        if not _fit_as_streams(some, references):
            return
        problem = f"{count} streams of {count} references: they fit the hypotheses better that way"
    raise InputError(
        f"references: this looks like {problem}. truebleu takes the references of each segment "
        "together, [[a1, b1], [a2, b2], ...]; sacreBLEU takes each reference's segments "
        "together, [[a1, a2, ...], [b1, b2, ...]]. From the latter, list(zip(*streams)) makes "
        "the former; tuples inside are never mistaken."
    )


def _fit_as_streams(hypotheses: Sequence[Any], references: tuple[Any, ...]) -> bool:
    """True if a square of references is more like the hypotheses when transposed."""
    some = range(min(len(hypotheses), len(references)))
    own = [_features(hypotheses[i]) for i in some]
    features = [[_features(references[i][j]) for j in some] for i in some]
    given = sum(_likeness(own[i], features[i][j]) for i in some for j in some)
    turned = sum(_likeness(own[i], features[j][i]) for i in some for j in some)
    return turned > 1.2 * given + 0.1


def _features(text: Any) -> set[Any]:
    """The words of a text; its characters where it has no spaces."""
    if not isinstance(text, str):
        return set()
    words = text.lower().split()
    return set(words) if len(words) > 1 else set(text.lower())


def _likeness(one: set[Any], other: set[Any]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
