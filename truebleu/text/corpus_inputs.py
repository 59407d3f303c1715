"""Conversion of users' hypotheses and references to kernel sources.

If an input is ambiguous, the error message explains both interpretations. Token ids are arrays,
Arrow columns or lists of integers. Their score equals the score of the same ids as decimal numbers,
joined with spaces, with `tokenize="none"`.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, islice, product, zip_longest
from math import prod
from operator import index
from typing import Any, TypeAlias

from truebleu import _kernel
from truebleu._kernel import InputError, TokenIds
from truebleu.text import argument_checks, tokenizers
from truebleu.text.argument_checks import describe_type
from truebleu.text.segments import (
    File,
    as_file,
    check_segment_counts,
    is_column,
    is_file,
    is_rereadable,
    is_sequence,
    iterate_items,
    label_reference_columns,
)
from truebleu.text.terminal_layout import format_count

Hypotheses: TypeAlias = Any
References: TypeAlias = Any


# ---- functions for metrics ----


def scan_corpus(
    kernel: _kernel.Metric,
    hypotheses: Hypotheses,
    references: References,
    *,
    tokenize: tokenizers.Tokenize | None = None,
    lowercase: bool | str = False,
    workers: int,
    extra_kernels: Sequence[_kernel.Metric] = (),
    sources: Hypotheses | None = None,
    split_sources: bool = False,
    examines_text: bool = True,
) -> _kernel.Scan:
    """Scan hypotheses and references of any accepted kind with `kernel`, and return the result.

    `tokenize` and `lowercase` are for metrics that accept tokens or custom tokenizers.
    The statistics of `extra_kernels`, which accept only text, are appended. With `sources`, the
    kernel reads them before the hypotheses; `split_sources` splits them at white space.
    Without `examines_text`, the summary lacks the counts for warnings about the texts.
    """
    all_ids = isinstance(hypotheses, TokenIds) and isinstance(references, TokenIds)
    if all_ids and tokenize in ("ids", "none") and len(hypotheses):
        sources = [references.make_source("references")]
        source = hypotheses.make_source("hypotheses")
        return kernel.scan(source, sources, workers, list(extra_kernels), examines_text)
    hypotheses, references = _recognize_inputs(hypotheses, references)
    if isinstance(hypotheses, tuple) and not hypotheses:
        raise InputError("hypotheses: no segments (expected at least one)")
    splitter = _make_splitter(hypotheses, references, tokenize, lowercase)
    make_source: Callable[[str, Any], _kernel.Source] = _make_text_source
    if splitter is not None:
        make_source = splitter.make_source
        reference_sources = [
            _kernel.tokens(splitter.split_references(role, column), role, several=True)
            for role, column in label_reference_columns(references)
        ]
    elif isinstance(references, tuple):
        reference_sources = [_kernel.references(references)]
    else:
        columns = label_reference_columns(references)
        reference_sources = [
            _make_text_source(role, column, required=False) for role, column in columns
        ]
    streams = [make_source("hypotheses", hypotheses), *reference_sources]
    if sources is not None:
        if splitter is not None and split_sources and not splitter.takes_tokens:
            make_source = Splitter(str.split).make_source
        streams.insert(0, make_source("sources", recognize_sources(sources)))
    return kernel.scan(streams[0], streams[1:], workers, list(extra_kernels), examines_text)


def tokenize_segments(
    hypotheses: Hypotheses,
    references: References,
    *,
    tokenize: tokenizers.Tokenize,
    lowercase: bool | str,
) -> Iterator[tuple[list[Any], list[list[Any]]]]:
    """Yield the tokens of each hypothesis and its references, for metrics that count in Python.

    Accepts and rejects the same inputs as `scan_corpus`.
    """
    hypotheses, references = _recognize_inputs(hypotheses, references)
    splitter = _make_splitter(hypotheses, references, tokenize, lowercase)
    if splitter is None:
        splitter = Splitter(tokenizers.make_tokenizer(tokenize, lowercase))
    return splitter.split_segments(hypotheses, references)


def read_segments(
    hypotheses: Hypotheses, references: References
) -> Iterator[tuple[str, list[str]]]:
    """Yield each hypothesis and its references as unchanged text."""
    hypotheses, references = _recognize_inputs(hypotheses, references)
    rows = Splitter(lambda text: (text,)).split_segments(hypotheses, references)
    return ((text[0], [one[0] for one in references_of_text]) for text, references_of_text in rows)


def scan_pairs(
    kernel: _kernel.Metric,
    hypotheses: Hypotheses,
    references: Hypotheses | None,
    *,
    tokenize: tokenizers.Tokenize | None = None,
    lowercase: bool | str = False,
    workers: int,
) -> _kernel.Pairs:
    """Prepare texts for `kernel`, which scores each hypothesis against each reference.

    Without references, the hypotheses are also the references. `tokenize` and `lowercase` have the
    same meaning as for `scan_corpus`.
    """
    workers = argument_checks.check_workers(workers)
    roles = ("hypotheses", "references")
    inputs = zip(roles, (hypotheses, references), strict=True)
    columns = [recognize_single_column(role, one) for role, one in inputs if one is not None]
    splitter = _make_splitter(columns[0], columns[-1], tokenize, lowercase)
    takes_tokens = splitter is not None and splitter.takes_tokens
    for column in columns[1:]:
        if isinstance(column, tuple) and not takes_tokens and has_token_segments(column):
            number, item = next((i, one) for i, one in enumerate(column, 1) if is_sequence(one))
            raise TypeError(_describe_non_text("references", number, item))
    make_source = _make_text_source if splitter is None else splitter.make_source
    source, *others = map(make_source, roles, columns)
    kernel_pairs = kernel.pairs(source, others[0] if others else None, workers)
    for role, count in zip(roles, kernel_pairs.shape, strict=True):
        if not count:
            raise InputError(f"{role}: no texts (expected at least one)")
    return kernel_pairs


def prepare_source(
    texts: Hypotheses, *, tokenize: tokenizers.Tokenize, lowercase: bool | str
) -> tuple[_kernel.Source, str, str]:
    """Convert texts to a kernel source; also return the kernel's tokenizer and lower-casing mode.

    Texts that Python tokenizes, and lists of tokens, become token sources.
    """
    column = recognize_single_column("texts", texts)
    argument_checks.check_choice("lowercase", lowercase, tokenizers.LOWERCASE_MODES)
    tokenize = tokenizers.resolve_tokenizer(tokenize)
    splitter = _make_splitter(column, (), tokenize, lowercase, "texts")
    if splitter is not None:
        return splitter.make_source("texts", column), "none", "no"
    return _make_text_source("texts", column), str(tokenize), tokenizers.LOWERCASE_MODES[lowercase]


def read_single_texts(
    role: str, texts: Hypotheses, *, allow_tokens: bool = False
) -> tuple[Any, ...]:
    """Return one or more texts as Python objects; `allow_tokens` also accepts lists of tokens."""
    column = recognize_single_column(role, texts)
    segments = column if isinstance(column, tuple) else tuple(iterate_items(role, column))
    if not segments:
        raise InputError(f"{role}: no texts (expected at least one)")
    for number, item in enumerate(segments, 1):
        if item is None:
            raise InputError(
                f"{role}: segment {number} is missing (None). Every text is required. Use an "
                "empty string for an empty text"
            )
        is_token_list = allow_tokens and is_sequence(item) and not any(map(is_sequence, item))
        if not isinstance(item, str) and not is_token_list:
            raise TypeError(_describe_non_text(role, number, item))
    return segments


def _describe_non_text(role: str, number: int, item: object) -> str:
    hint = ". A pair has one reference; pass several references of a segment as separate entries."
    hint *= role == "references" and is_sequence(item)
    return f"{role}: segment {number} is {describe_type(item)}, not str{hint}"


def read_text_list(role: str, texts: Hypotheses) -> list[str]:
    """Return texts of any kind as a list of strings, which may be empty."""
    return _check_texts(role, iterate_items(role, _recognize_input(role, texts)))


def read_sources(sources: Hypotheses | None, segment_count: int) -> list[str]:
    """Return the source of each segment. Raises InputError for another number of sources."""
    texts = read_text_list("sources", recognize_sources(sources))
    check_segment_counts({"sources": len(texts), "hypotheses": segment_count})
    return texts


def check_source_count(sources: Any, hypotheses: Any, segment_count: int) -> None:
    """Raise InputError unless there is one source per segment. Use it if no metric reads them."""
    label, count = "sources", segment_count
    if is_file(sources):
        file = as_file(sources)
        label, count = file.format_label(label), file.count_lines()
    elif hasattr(sources, "__len__"):
        count = len(sources)
    check_segment_counts({label: count, label_hypotheses(hypotheses): segment_count})


def read_text_sets(role: str, texts: Any) -> tuple[list[list[str]], bool]:
    """Return the sets of texts, and whether there is one per source instead of a single set.

    A sequence of strings is one set; a sequence of such sequences has one set per source.
    """
    entries = list(iterate_items(role, recognize_single_column(role, texts)))
    if not entries:
        raise InputError(f"{role}: no texts")
    if not any(is_sequence(item) for item in entries if item is not None):
        return [_check_texts(role, entries)], False
    text_sets = []
    for number, item in enumerate(entries, 1):
        if not is_sequence(item) or isinstance(item, dict | set | frozenset):
            found = f"is {describe_type(item)}; expected a list of strings per source"
            raise TypeError(f"{role}: source {number} {found}")
        text_sets.append(_check_texts(f"{role}: source {number}", item))
    return text_sets, True


def _check_texts(role: str, items: Iterable[Any]) -> list[str]:
    texts = list(items)
    for number, item in enumerate(texts, 1):
        if item is None:
            raise InputError(f"{role}: text {number} is missing (None). Leave it out.")
        if not isinstance(item, str):
            raise TypeError(f"{role}: text {number} is {describe_type(item)}, not str")
    return texts


def label_hypotheses(value: object) -> str:
    """Return the name of the hypotheses for messages, with their path if they are a file."""
    return as_file(value).format_label("hypotheses") if is_file(value) else "hypotheses"


def has_token_segments(hypotheses: tuple[Any, ...]) -> bool:
    """Return whether segments are sequences of tokens, not strings."""
    first = next((item for item in hypotheses if item is not None), "")
    return not isinstance(first, str) and is_sequence(first)


# ---- recognition of input kinds ----


def _recognize_inputs(hypotheses: Hypotheses, references: References) -> tuple[Any, Any]:
    """Check and convert hypotheses and references; reject sacreBLEU's reference streams."""
    hypotheses = _recognize_input("hypotheses", hypotheses)
    references = _recognize_input("references", references)
    if isinstance(hypotheses, list):
        raise TypeError(
            "hypotheses: expected one file or column, found several. Score one system at a time."
        )
    has_tokens = isinstance(hypotheses, tuple) and has_token_segments(hypotheses)
    if isinstance(references, tuple) and not has_tokens:
        _refuse_reference_streams(hypotheses, references)
    return hypotheses, references


def recognize_single_column(role: str, texts: Any) -> Any:
    """Return texts in memory as a tuple, and a file or column unchanged."""
    column = _recognize_input(role, texts)
    if isinstance(column, list):
        raise TypeError(f"{role}: expected one file or column, found several")
    return column


def recognize_sources(sources: Any) -> Any:
    """Return sources in memory as a tuple, and a file or column unchanged."""
    column = recognize_single_column("sources", sources)
    for number, source in enumerate(column if isinstance(column, tuple) else (), 1):
        if source is None:
            raise InputError(
                f"sources: segment {number} is missing (None). Every segment needs a source. Use "
                "an empty string for an empty source"
            )
    return column


def _recognize_input(role: str, value: Any) -> Any:
    """Return segments in memory as a tuple, and several files or columns as a list.

    A single file or column is returned unchanged. The tuple keeps the segments alive while the
    kernel reads them. Raises TypeError for values that have no segments, are unordered or have no
    length.
    """
    if type(value) not in (list, tuple):  # fast path for most inputs
        if is_column(value):
            return value
        if isinstance(value, str):
            raise TypeError(
                f"{role}: expected one str per segment, found a single str. Pass a list of "
                "strings ([text] for a single text), or a pathlib.Path for a file."
            )
        if isinstance(value, bytes | bytearray):
            raise TypeError(f"{role}: expected a list of strings, found bytes. Decode them first.")
        if isinstance(value, dict | set | frozenset) or not (
            hasattr(value, "__len__") and hasattr(value, "__getitem__")
        ):
            advice = "compare(systems, references) accepts a dictionary of systems"
            if not isinstance(value, dict):
                advice = "for an iterator, use list(...)"
            raise TypeError(
                f"{role}: {type(value).__name__} is unordered or has no length. Pass a list with "
                f"one entry per segment ({advice})."
            )
    segments = tuple(value)
    if not segments or isinstance(segments[0], str) or not is_column(segments[0]):
        return segments
    if not all(map(is_column, segments)):
        raise TypeError(f"{role}: expected only files or columns in the list, found other values")
    return list(segments)


def _make_text_source(role: str, texts: Any, *, required: bool = True) -> _kernel.Source:
    if isinstance(texts, tuple):
        return _kernel.strings(texts, role)
    if is_file(texts):
        return as_file(texts).make_source(role)
    return _kernel.arrow(texts, role, required)


def _refuse_reference_streams(hypotheses: Any, references: tuple[Any, ...]) -> None:
    """Raise InputError for sacreBLEU's reference streams: one list per reference, not per segment.

    If there are as many lists as segments, they are treated as streams only if they match the
    hypotheses clearly better that way. Tuples, which zip() yields, are never treated as streams.
    """
    stream_count = len(references)
    # The number of lines in a file is not known yet.
    segment_count = len(hypotheses) if isinstance(hypotheses, tuple) else stream_count
    if stream_count == segment_count:
        if stream_count < 2 or not all(
            isinstance(item, list) and len(item) == segment_count for item in references
        ):
            return
        if is_file(hypotheses) and not is_rereadable(as_file(hypotheses).path):
            return
        if not _fits_better_as_streams(hypotheses, references):
            return
        problem = (
            f"{segment_count} streams of {segment_count} references, which match the hypotheses "
            "better as streams"
        )
    else:
        lengths = {len(item) if is_sequence(item) else 0 for item in references}
        length = max(lengths, default=0)
        # Streams of almost as many references as segments: a line is missing or superfluous.
        is_almost = 10 * max(stream_count, abs(length - segment_count)) <= segment_count
        if len(lengths) != 1 or not (length == segment_count or is_almost):
            return
        problem = (
            f"{format_count(stream_count, 'stream')} of {format_count(length, 'reference')} "
            f"(expected {format_count(segment_count, 'segment')})"
        )
    raise InputError(
        f"references: this looks like {problem}. truebleu expects one list of references "
        "per segment, [[a1, b1], [a2, b2], ...]; sacreBLEU expects one list of segments per "
        "reference, [[a1, a2, ...], [b1, b2, ...]]. Convert streams with list(zip(*streams)). "
        "Inner tuples are never treated as streams."
    )


def _fits_better_as_streams(hypotheses: Any, references: tuple[Any, ...]) -> bool:
    """Return whether a square matrix of references matches the hypotheses better when transposed.

    Compares the words, or the characters of text without spaces, of the first 40 segments and of
    their first 40 references.
    """

    def extract_features(text: Any) -> set[Any]:
        if not isinstance(text, str):
            return set()
        words = text.lower().split()
        return set(words) if len(words) > 1 else set(text.lower())

    def measure_similarity(words: set[Any], other_words: set[Any]) -> float:
        word_count = len(words) + len(other_words)
        return 2 * len(words & other_words) / word_count if words and other_words else 0.0

    first_hypotheses = islice(iterate_items("hypotheses", hypotheses), min(40, len(references)))
    hypothesis_features = list(map(extract_features, first_hypotheses))
    row_similarity = column_similarity = 0.0
    for i, j in product(range(len(hypothesis_features)), repeat=2):
        features = extract_features(references[i][j])
        row_similarity += measure_similarity(hypothesis_features[i], features)
        column_similarity += measure_similarity(hypothesis_features[j], features)
    return column_similarity > 1.2 * row_similarity + 0.1


# ---- segments that Python tokenizes, and pretokenized segments ----


def _make_splitter(
    hypotheses: Any,
    references: Any,
    tokenize: tokenizers.Tokenize | None,
    lowercase: bool | str,
    role: str = "hypotheses",
) -> Splitter | None:
    """Return the splitter for the segments, or None if the kernel tokenizes them.

    role: the name of the hypotheses in messages.
    """
    is_in_table = tokenize in tokenizers.KERNEL_TOKENIZERS and lowercase != "after"
    if not (
        tokenize is None or is_in_table or tokenizers.uses_kernel_tokenizer(tokenize, lowercase)
    ):
        return Splitter(tokenizers.make_tokenizer(tokenize, lowercase))
    if not isinstance(hypotheses, tuple) or not has_token_segments(hypotheses):
        return None
    if tokenize != "none":
        problem = f"tokens require tokenize='none', not {tokenize!r}"
        if tokenize is None:
            problem = "this metric accepts text, not tokens"
        elif has_ids(hypotheses):
            problem += ". Convert token ids with tb.token_ids(...)"
        number, tokens = next(
            (number, item) for number, item in enumerate(hypotheses, 1) if item is not None
        )
        first = next(iter(references), None) if isinstance(references, tuple) else None
        # NLTK expects several lists of tokens per segment, before the hypotheses.
        has_several = any(map(is_sequence, tokens))
        if has_several or isinstance(first, str):
            problem += ". Are hypotheses and references swapped? Hypotheses come first"
        kind = type(tokens).__name__
        raise InputError(f"{role}: segment {number} is a {kind}, not a str; {problem}")
    if not isinstance(references, tuple):
        raise TypeError("references: expected tokens, because the hypotheses are tokens")
    return Splitter(_make_token_checker(lowercase), takes_tokens=True)


def _make_token_checker(lowercase: bool | str) -> Callable[[Any], Sequence[Any]]:
    """Return a function that checks tokens and raises InputError for a mixture of str and int."""
    first_kind: type | None = None

    def check_tokens(segment: Any) -> Sequence[Any]:
        nonlocal first_kind
        for token in segment:
            kind = str if isinstance(token, str) else int
            first_kind = first_kind or kind
            if kind is not first_kind:
                raise InputError(
                    f"mixed token types: {token!r} is {type(token).__name__}, but earlier tokens "
                    f"are {first_kind.__name__}. They would never match"
                )
        if lowercase and first_kind is str:
            return [token.lower() for token in segment]
        return segment  # type: ignore[no-any-return]

    return check_tokens


class Splitter:
    """Converter of hypotheses and references to tokens, using the function `split`.

    A segment is a string or, with `takes_tokens`, a sequence of tokens.
    """

    def __init__(
        self, split: Callable[[Any], Sequence[Any]], *, takes_tokens: bool = False
    ) -> None:
        self.split, self.takes_tokens = split, takes_tokens

    def is_segment(self, item: object) -> bool:
        """Return whether `item` is a single segment, not several segments."""
        if not self.takes_tokens:
            return isinstance(item, str)
        if not is_sequence(item):
            return False
        first = next(iter(item), "")  # type: ignore[call-overload]
        return first is not None and not is_sequence(first)

    def make_source(self, role: str, texts: Any) -> _kernel.Source:
        """Convert a column of texts to a kernel source of tokens."""
        return _kernel.tokens(self._split_column(role, texts), role, several=False)

    def split_segments(
        self, hypotheses: Any, references: Any
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """Yield the tokens of each hypothesis and of its references that are not missing."""
        labelled_columns = label_reference_columns(references)
        column_labels = ["hypotheses", *(name for name, _ in labelled_columns)]
        columns: list[Iterator[Any]] = [self._split_column("hypotheses", hypotheses)]
        columns += [self.split_references(role, column) for role, column in labelled_columns]
        absent = object()
        rows = zip_longest(*columns, fillvalue=absent)
        number = 0
        for number, row in enumerate(rows, 1):
            if any(item is absent for item in row):
                remaining_columns = zip(column_labels, *(row, *rows), strict=True)
                check_segment_counts(
                    {
                        label: number - 1 + sum(item is not absent for item in column)
                        for label, *column in remaining_columns
                    }
                )
            tokens, *reference_items = row
            present_references = [list(one) for one in chain(*reference_items) if one is not None]
            if not present_references:
                raise InputError(
                    f"references: segment {number} has no reference (all are missing). Every "
                    "segment needs at least one reference. Add a reference or remove the segment"
                )
            yield list(tokens), present_references
        if not number:
            raise InputError("hypotheses: no segments (expected at least one)")

    def _split_column(self, role: str, texts: Any) -> Iterator[Sequence[Any]]:
        for number, segment in enumerate(iterate_items(role, texts), 1):
            if segment is None:
                raise InputError(
                    f"{role}: segment {number} is missing (None). Every segment needs a "
                    "hypothesis. Use an empty string if the system produced no output"
                )
            if not self.is_segment(segment):
                raise TypeError(f"{role}: segment {number} is {describe_type(segment)}, not str")
            yield self.split(segment)

    def split_references(self, role: str, column: Any) -> Iterator[list[Sequence[Any] | None]]:
        """Yield the tokens of each segment's references; None is a missing reference."""
        for number, item in enumerate(iterate_items(role, column), 1):
            has_several = item is not None and not self.is_segment(item)
            if has_several and not is_sequence(item):
                raise TypeError(f"references: segment {number} is {describe_type(item)}")
            row: list[Sequence[Any] | None] = []
            for reference in item if has_several else () if item is None else (item,):
                if reference is not None and not self.is_segment(reference):
                    place = f"segment {number}, reference {len(row) + 1}"
                    raise TypeError(f"references: {place} is {describe_type(reference)}")
                row.append(None if reference is None else self.split(reference))
            yield row


# ---- Unicode normalization: the parameter `unicode_form` of metrics ----


def normalize_text(form: str, text: str) -> str:
    """Convert text to a Unicode form that the parameter `unicode_form` accepts.

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
    """Lines of a file that are converted to a Unicode form while they are read."""

    is_plain_utf8 = False  # the bytes differ from the file on disk

    def __init__(self, file: File, form: str) -> None:
        super().__init__(file.path)
        self._file, self._form = file, form

    def _get_equality_key(self) -> tuple[object, ...]:
        return self._file, self._form

    def _make_reader(self) -> Callable[[int], bytes]:
        lines = (f"{normalize_text(self._form, line)}\n" for line in self._file.read_lines())
        pieces = iter(lambda: "".join(islice(lines, 1024)).encode("utf-8", "surrogatepass"), b"")
        return lambda _: next(pieces, b"")


def normalize_input(form: str | None, value: Any) -> Any:
    """Convert hypotheses, references or sources of any accepted kind to a Unicode form.

    Values that are not text stay unchanged. Metrics reject them later.
    """
    if form is None:
        return value
    if isinstance(value, str):
        return normalize_text(form, value)
    if is_file(value):
        return NormalizedFile(as_file(value), form)
    normalize = partial(normalize_input, form)
    if is_column(value):
        items = iterate_items("texts", value)
        return tuple(normalize(tuple(one) if isinstance(one, list) else one) for one in items)
    if isinstance(value, list | tuple) and any(map(is_column, value)):
        if any(map(is_file, value)):
            return list(map(normalize, value))
        # Several columns of references become the references of each segment.
        columns = list(map(normalize, value))
        check_segment_counts({f"reference {i}": len(one) for i, one in enumerate(columns, 1)})
        return tuple(zip_longest(*columns))
    has_items = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    if isinstance(value, bytes | bytearray | dict) or not has_items:
        return value
    return (tuple if isinstance(value, tuple) else list)(
        map(normalize, iterate_items("texts", value))
    )


# ---- token ids ----

# Formats of the module `array` for integers of each size in bytes.
_SIGNED, _UNSIGNED = ({array(form).itemsize: form for form in forms} for forms in ("bhiq", "BHIQ"))
_INTEGER_FORMATS = "bhilqnBHILQN"
# Names of other types, by their format in the buffer protocol.
_TYPE_NAMES = {"e": "float16", "f": "float32", "d": "float64", "g": "float128", "?": "bool"}
# Devices of DLPack whose memory the processor can read: CPU, and CPU memory pinned for a GPU.
_CPU_DEVICES = (1, 3, 11)

# Integers, the ends of rows and, for several rows per segment, the ends of segments in the rows.
_Rows: TypeAlias = tuple[memoryview, list[int], list[int] | None]


@argument_checks.explain_keywords
def token_ids(
    values: Any,
    *,
    pad: int | None = None,
    lengths: Collection[int] | None = None,
    eos: int | None = None,
    skip: Collection[int] = (),
) -> TokenIds:
    """Return token ids that every metric of tokens accepts as hypotheses or as references.

    values: an integer array [segments, length], or [segments, references, length] for several
        references; or a list of lists or of 1-D arrays, or of lists of these for several
        references; or an Arrow column of lists. Arrays implement the buffer protocol,
        `__array_interface__` or `__dlpack__`, in the memory of the CPU.
    pad: the id that fills up rows, at their start or end. Between other ids it is an error.
    lengths: the number of ids of each row, instead of `pad`; [segments, references] for 3-D arrays.
    eos: the id that ends a text. The first one and all later ids of the row are ignored.
    skip: ids that are removed before counting.

    Raises InputError for negative ids other than `pad`, and TypeError for values that are not
    integers, or that are in the memory of a GPU.

    >>> from truebleu import BLEU
    >>> hypotheses = token_ids([[5, 6, 7, 8, 0, 0], [5, 6, 7, 9, 8, 0]], pad=0)
    >>> print(BLEU().score(hypotheses, [[5, 6, 7, 8], [5, 6, 7, 8]]).signature)
    nrefs:1|case:mixed|eff:no|tok:ids|smooth:exp|version:2.6.0|by:truebleu-0.1.0
    """
    if isinstance(values, TokenIds):
        if pad is not None or lengths is not None or eos is not None or skip:
            raise TypeError("these are token ids already; pass the options only once")
        return values
    if pad is not None and lengths is not None:
        raise ValueError("pad and lengths are mutually exclusive: both tell where a row ends")
    rules = {
        "pad": None if pad is None else _check_id("pad", pad),
        "eos": None if eos is None else _check_id("eos", eos),
        "skip": [_check_id("skip", one) for one in _check_collection("skip", skip)],
    }
    if is_column(values) and not _is_array(values) and not is_file(values):
        values = iterate_items("token ids", values)
    read_rows = _read_array_rows if _is_array(values) else _read_list_rows
    try:
        integers, ends, segment_ends = read_rows(values)
        if lengths is not None:
            integers, ends = _cut_rows(integers, ends, _check_collection("lengths", lengths))
        if not len(integers):  # the address of an empty buffer may not be aligned
            integers = memoryview(array("q", (0,)))
        return TokenIds(integers, integers.format, ends, segment_ends, rules)
    except InputError as error:
        hint = " (expected 0 or more). Name the id of padding with token_ids(..., pad=...)"
        is_negative = pad is None and "negative" in str(error)
        raise InputError(f"{error}{hint * is_negative}") from None


def read_token_ids(role: str, values: Any) -> TokenIds:
    """Return token ids as `token_ids` does. `role` names the input in messages."""
    try:
        ids = token_ids(values)
    except (TypeError, InputError) as error:
        raise type(error)(f"{role}: {error}") from None
    if role == "hypotheses" and len(ids) and isinstance(ids[0], tuple):
        raise InputError(f"{role}: several texts per segment (expected one per segment)")
    return ids


def _check_id(name: str, value: Any) -> int:
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    raise TypeError(f"{name}: expected an id, found {describe_type(value, '')}")


def _check_collection(name: str, values: Any) -> Any:
    if not hasattr(values, "__iter__"):
        raise TypeError(f"{name}: expected integers, found {describe_type(values, '')}")
    return values.tolist() if hasattr(values, "tolist") else values


def has_ids(hypotheses: Any) -> bool:
    """Return whether hypotheses are numbers in place of text."""
    if isinstance(hypotheses, TokenIds):
        return True
    if isinstance(hypotheses, list | tuple):
        first = next((one for one in hypotheses if not hasattr(one, "__len__") or len(one)), None)
        if first is None and all(isinstance(one, list | tuple) for one in hypotheses):
            return len(hypotheses) > 0
        if not isinstance(first, list | tuple):
            return not isinstance(first, str) and _is_array(first)
        return isinstance(first[0], int | float) or hasattr(first[0], "__index__")
    if _is_array(hypotheses):
        return True
    # An Arrow column of lists of integers is recognized by the name of its type.
    name = str(getattr(hypotheses, "type", getattr(hypotheses, "dtype", ""))).lower()
    is_list = name.startswith(("list", "large_list", "fixed_size_list", "array"))
    return is_list and "int" in name and is_column(hypotheses)


def _is_array(value: Any) -> bool:
    if isinstance(value, array | memoryview):
        return value.typecode not in "uw" if isinstance(value, array) else True
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if isinstance(kind, str):
        return kind in "iufcb" and hasattr(value, "shape")
    names = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")
    return hasattr(value, "shape") and any(hasattr(value, name) for name in names)


# ---- rows of integers ----


def _read_array_rows(values: Any) -> _Rows:
    integers, shape = _read_integers(values)
    if len(shape) not in (2, 3):
        raise TypeError(
            f"the array has {format_count(len(shape), 'dimension')} (expected [segments, length], "
            "or [segments, references, length])"
        )
    rows, width = prod(shape[:-1]), shape[-1]
    ends = [width * (row + 1) for row in range(rows)]
    segment_ends = None if len(shape) == 2 else [shape[1] * (i + 1) for i in range(shape[0])]
    return integers, ends, segment_ends


def _read_list_rows(values: Any) -> _Rows:
    """Return the integers and the rows of lists, which may contain arrays."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise TypeError(
            "expected an integer array, an Arrow column of lists, or a list of lists of integers, "
            f"found {type(values).__name__}"
        )
    segments = list(values)
    for number, segment in enumerate(segments, 1):
        if segment is None:
            raise InputError(f"segment {number} is missing (None)")
        if not _is_array(segment) and not isinstance(segment, list | tuple):
            raise TypeError(f"segment {number} is {type(segment).__name__} (expected integers)")
    rows, segment_ends = segments, None
    if any(map(_has_several_rows, segments)):
        segments = [one if _has_several_rows(one) or not len(one) else [one] for one in segments]
        segments = [[row for row in segment if row is not None] for segment in segments]
        rows, segment_ends = list(chain(*segments)), list(accumulate(map(len, segments)))
    parts = []
    for number, row in enumerate(rows, 1):
        try:
            part, shape = _read_integers(row)
        except OverflowError:
            raise InputError(f"row {number}: an id has more than 64 bits") from None
        except TypeError as error:
            raise TypeError(f"row {number}: {error}") from None
        if len(shape) != 1:
            raise TypeError(f"row {number} has {len(shape)} dimensions (expected 1)")
        parts.append(part)
    forms = {part.format for part in parts}
    integers = array(forms.pop() if len(forms) == 1 else "Q" if "Q" in forms else "q")
    for number, part in enumerate(parts, 1):
        try:
            if part.format == integers.typecode:
                integers.frombytes(part.cast("B"))
            else:
                integers.extend(part.tolist())
        except OverflowError:
            raise InputError(f"row {number}: negative id {min(part)}") from None
    return memoryview(integers), list(accumulate(map(len, parts))), segment_ends


def _has_several_rows(segment: Any) -> bool:
    """Return whether a segment consists of rows of integers, not of integers."""
    if _is_array(segment):
        return len(segment.shape) > 1 if hasattr(segment, "shape") else False
    return any(
        one is None or (hasattr(one, "__len__") and not isinstance(one, str)) for one in segment[:1]
    )


def _cut_rows(integers: memoryview, ends: list[int], lengths: Any) -> tuple[memoryview, list[int]]:
    """Keep the given number of integers of each row."""
    flat = [one for row in lengths for one in (row if isinstance(row, list | tuple) else (row,))]
    if len(flat) != len(ends):
        raise InputError(
            f"lengths: expected {format_count(len(ends), 'number')}, one per row, "
            f"found {len(flat):,}"
        )
    kept, start = array(integers.format), 0
    for number, (end, length) in enumerate(zip(ends, flat, strict=True), 1):
        if not 0 <= _check_id("lengths", length) <= end - start:
            raise InputError(
                f"lengths: row {number} has length {length} (expected 0 to {end - start})"
            )
        kept.frombytes(integers[start : start + length].cast("B"))
        start = end
    return memoryview(kept), list(accumulate(flat))


# ---- integers in memory ----


def _read_integers(values: Any) -> tuple[memoryview, tuple[int, ...]]:
    """Return the integers of an array or a list in row order, in native formats, and the shape.

    Raises TypeError for other values.
    """
    if isinstance(values, list | tuple):
        if isinstance(next(iter(values), None), bool):
            raise TypeError(f"{values[0]} is not an integer")
        try:
            return memoryview(array("q", values)), (len(values),)
        except OverflowError:
            return memoryview(array("Q", values)), (len(values),)
        except TypeError:
            wrong = next(one for one in values if not hasattr(one, "__index__"))
            raise TypeError(f"{wrong!r:.40} is not an integer") from None
    if hasattr(values, "filled"):
        raise TypeError("the array is masked. Pass array.filled(PAD), with pad=PAD")
    is_on_gpu = hasattr(values, "__cuda_array_interface__")
    if not is_on_gpu and hasattr(values, "__dlpack_device__"):
        is_on_gpu = values.__dlpack_device__()[0] not in _CPU_DEVICES
    if is_on_gpu:
        raise TypeError("the array is in the memory of a GPU. Copy it with .cpu() first")
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        return _read_foreign_array(values)
    form, shape = _get_format(view), view.shape or ()
    if not prod(shape):
        return memoryview(array(form)), shape
    data = view if view.c_contiguous else memoryview(view.tobytes())
    return data.cast("B").cast(form), shape


def _get_format(view: memoryview) -> Any:
    """Return the format of the module `array` for the integers of a buffer."""
    letter, size = view.format.lstrip("@=<>!"), view.itemsize
    if letter not in _INTEGER_FORMATS:
        name = _TYPE_NAMES.get(letter, f"{letter}{8 * size}")
        raise TypeError(f"found values of type {name} (expected integers of 8 to 64 bits)")
    if size > 1 and view.format[0] in (">!" if sys.byteorder == "little" else "<"):
        raise TypeError("the integers have a foreign byte order (expected native order)")
    return (_SIGNED if letter.islower() else _UNSIGNED)[size]


def _read_foreign_array(values: Any) -> tuple[memoryview, tuple[int, ...]]:
    """Read an array without a buffer: with NumPy, or from lists if NumPy is not installed."""
    try:
        import numpy as np
    except ModuleNotFoundError:
        flat = values.tolist()
        for _ in values.shape[1:]:
            flat = list(chain.from_iterable(flat))
        return _read_integers(flat)[0], tuple(values.shape)
    convert = np.from_dlpack if hasattr(values, "__dlpack__") else np.asarray
    try:
        converted = None if isinstance(values, np.ndarray) else convert(values)
    except (BufferError, RuntimeError, TypeError):
        converted = None
    if converted is None:
        name = str(getattr(values, "dtype", "unknown")).removeprefix("torch.")
        raise TypeError(f"found values of type {name} (expected integers of 8 to 64 bits)")
    return _read_integers(converted)
