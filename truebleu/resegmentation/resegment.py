"""Re-segmentation: divide the text of a system into the segments of the reference.

The result is a sequence of segments, which metrics accept in place of hypotheses. It also has the
position of each segment in the text, the number of units that agree with the reference, and a
signature field that marks scores of re-segmented text.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.resegmentation.logs import (
    Log,
    divide_times,
    match_segments,
    read_log_of_any_unit,
    read_segmentation,
)
from truebleu.resegmentation.methods import (
    SIGNATURE_NAMES,
    UNPAIRED,
    Alignment,
    Method,
    Timing,
    decode,
    format_method_label,
    get_method,
)
from truebleu.resegmentation.subtitles import (
    BLOCK_END,
    LINE_END,
    Block,
    is_subtitle_file,
    read_subtitles,
    write_breaks,
)
from truebleu.resegmentation.units import PatternSplitter, Units, split_text_units
from truebleu.text.argument_checks import explain_keywords, format_value
from truebleu.text.corpus_inputs import read_text_list
from truebleu.text.segments import is_file, is_sequence, iter_reference_rows, read_document_names
from truebleu.text.system_names import format_path
from truebleu.text.terminal_layout import format_count, join_words

# A run of this many units without a counterpart counts as missing or added text; shorter runs are
# differences in wording.
MIN_RUN = 5
# A warning reports a smaller covered share, or a larger share of missing or added text.
MIN_COVERED, MAX_DIFFERENT = 0.3, 0.1
# A segment with a smaller share of matching units is flagged as very different from its reference.
MIN_SIMILARITY = 0.2
# Limit for the product of the lengths of text and reference; larger texts would take hours.
MAX_CELLS = 10**11


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """Position of a segment in the text, and its agreement with the reference.

    document: the name of its document.
    start, end: its position in the text of the document, in characters.
    equal, substituted, added, missing: numbers of units that agree with the reference, that replace
        a reference unit, that only the text has, and that only the reference has.
    has_loop: whether its text is part of a loop: the same eight units, three times.
    is_moved: whether the reference matches another place of the text better.
    """

    document: str
    start: int
    end: int
    equal: int
    substituted: int
    added: int
    missing: int
    has_loop: bool = False
    is_moved: bool = False

    @property
    def hypothesis_units(self) -> int:
        """The number of units of the text."""
        return self.equal + self.substituted + self.added

    @property
    def reference_units(self) -> int:
        """The number of units of the reference."""
        return self.equal + self.substituted + self.missing

    @property
    def similarity(self) -> float:
        """The share of agreeing units in the longer of the segment and its reference."""
        return self.equal / max(self.hypothesis_units, self.reference_units, 1)

    @property
    def is_unpaired(self) -> bool:
        """Whether the reference is too long to match so little of the segment by chance."""
        return self.reference_units >= MIN_RUN and self.similarity < MIN_SIMILARITY

    @property
    def flags(self) -> list[str]:
        """Reasons to inspect the segment: empty, added, missing, far, loop, order."""
        hypothesis, reference = self.hypothesis_units, self.reference_units
        moved = ["order"] if self.is_moved else []
        if hypothesis == 0:
            return [*(["empty"] if reference >= 3 else []), *moved]
        flags = []
        if hypothesis > 2 * reference and hypothesis - reference >= MIN_RUN:
            flags.append("added")
        if reference > 2 * hypothesis and reference - hypothesis >= MIN_RUN:
            flags.append("missing")
        if reference and self.similarity < MIN_SIMILARITY:
            flags.append("far")
        if self.has_loop:
            flags.append("loop")
        return [*flags, *moved]


@dataclass(frozen=True, slots=True)
class AlignedTexts:
    """Inputs of a re-segmentation: texts by document, references by segment, and times."""

    texts: Mapping[str, str]
    references: list[tuple[str, ...]]
    timing: Timing | None


@dataclass(frozen=True, slots=True)
class Resegmentation(Sequence[str]):
    """The segments of a text, one per segment of the reference.

    segments: the texts.
    facts: the position and the agreement of each segment.
    method: the name of the method.
    has_documents: whether documents bounded the search.
    covered, missing: shares (0 to 1) of reference units that agree, or are absent in long runs.
    added: share of the text's units that have no counterpart, in long runs.
    lost: the number of units that the method drops; zero for truebleu's own methods.
    lines: the number of lines of the input.
    inputs: the texts that were aligned.
    delays, elapsed: for a log with `times`, the times of the units of each segment, in milliseconds
        from the start of its source; without and with computation. None without these times.
    """

    segments: list[str]
    facts: list[SegmentFacts]
    method: str
    has_documents: bool
    covered: float
    missing: float
    added: float
    errors: int | None
    lost: int
    lines: int
    inputs: AlignedTexts = field(repr=False, compare=False)
    delays: list[list[float]] | None = None
    elapsed: list[list[float]] | None = None

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, index: Any) -> Any:
        return self.segments[index]

    @property
    def empty_count(self) -> int:
        """The number of empty segments whose reference has three units or more."""
        return sum("empty" in facts.flags for facts in self.facts)

    @property
    def order(self) -> float:
        """The share of unpaired segments whose reference matches another place better."""
        return _share_moved(self.facts)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """For each document: its segments, and how well they agree with the reference."""
        facts_by_document: dict[str, list[SegmentFacts]] = {}
        for facts in self.facts if self.has_documents else ():
            facts_by_document.setdefault(facts.document, []).append(facts)
        return [
            {
                "document": name,
                "segments": len(facts),
                "empty": sum("empty" in one.flags for one in facts),
                "covered": sum(one.equal for one in facts)
                / max(1, sum(one.reference_units for one in facts)),
                "loops": sum(one.has_loop for one in facts),
                "order": _share_moved(facts),
            }
            for name, facts in facts_by_document.items()
        ]

    @property
    def signature(self) -> str:
        """The value of the signature field "reseg": the method, its version, and "+docs" if used.

        >>> resegment("one two three", ["one two", "three"], "mweralign-none").signature
        'mweralign-none-1.4.1'
        """
        return f"{format_method_label(self.method)}{'+docs' if self.has_documents else ''}"

    @property
    def signature_fields(self) -> dict[str, str]:
        """The signature fields that scores of this text contain."""
        return {"reseg": self.signature}

    def to_dict(self) -> dict[str, Any]:
        """Return the method and the summary as JSON-compatible values."""
        return {
            "method": self.signature,
            "lines": self.lines,
            "segments": len(self),
            "empty": self.empty_count,
            **{name: getattr(self, name) for name in ("covered", "missing", "added", "lost")},
            "errors": self.errors,
            "loops": sum(facts.has_loop for facts in self.facts),
            "order": self.order,
            "documents": self.documents,
        }

    @property
    def problems(self) -> list[str]:
        """Warnings about the text or its reference, as sentences."""
        problems = []
        if self.covered < MIN_COVERED:
            problems.append(
                f"only {100 * self.covered:.0f}% of the reference is covered (is it the reference "
                "of this text, in the same language?)"
            )
        if self.missing > MAX_DIFFERENT:
            problems.append(f"{100 * self.missing:.0f}% of the reference is missing")
        if self.added > MAX_DIFFERENT:
            problems.append(f"{100 * self.added:.0f}% of the text is not in the reference")
        if empty := self.empty_count:
            verb = "is" if empty == 1 else "are"
            problems.append(f"{format_count(empty, 'segment')} {verb} empty")
        if loops := self._list_numbers("loop"):
            verb = "repeats" if len(loops) == 1 else "repeat"
            problems.append(
                f"{_format_numbers(loops)} {verb} the same words three times or more (is the "
                "system in a loop?)"
            )
        if moved := self._list_numbers("order"):
            verb = "matches" if len(moved) == 1 else "match"
            problems.append(
                f"{_format_numbers(moved)} {verb} another place of the text better (was a "
                "paragraph moved? Re-segmentation keeps the order)"
            )
        return problems

    def _list_numbers(self, flag: str) -> list[int]:
        return [number for number, facts in enumerate(self.facts, 1) if flag in facts.flags]

    def __str__(self) -> str:
        documents = len({facts.document for facts in self.facts}) if self.has_documents else 0
        empty = self.empty_count
        parts = [
            f"{format_count(self.lines, 'line')} → {format_count(len(self), 'segment')}",
            SIGNATURE_NAMES.get(self.method, self.method),
            *([format_count(documents, "document")] if documents else []),
        ]
        findings = [
            f"{100 * self.covered:.1f}% of the reference covered",
            *([f"{format_count(empty, 'segment')} empty"] if empty else []),
            *([f"{100 * self.missing:.1f}% missing"] if self.missing else []),
            *([f"{100 * self.added:.1f}% added"] if self.added else []),
            *([f"{format_count(self.lost, 'unit')} lost"] if self.lost else []),
        ]
        return f"{', '.join(parts)}; {', '.join(findings)}"


@explain_keywords
def resegment(
    hypothesis: Any,
    references: Any,
    method: str = "soft",
    *,
    documents: Any = None,
    hypothesis_documents: Any = None,
    times: Any = None,
    workers: int = 1,
) -> Resegmentation:
    """Divide a text into the segments of the reference.

    Args:
        hypothesis: the text: a string, lines, a file, or texts by document name. Files that end
            in .srt or .vtt are read as subtitles.
        references: one or more references per segment, in any form that metrics accept. Each block
            of a subtitle file is a segment.
        method: "soft" or "as-wer", truebleu's own; "as-wer-" with the name of a tokenizer; or a
            published method (see `METHODS`).
        documents: the document of each reference segment; text never crosses documents. Required
            if `hypothesis` contains texts by document name.
        hypothesis_documents: the document of each line of the text. Without it, and with as many
            lines as documents, each line is a document.
        times: the segmentation of recordings, a file in YAML or JSON with the wav, offset and
            duration of each reference segment. `hypothesis` is then the log of a simultaneous
            system (a file, or the result of `read_log`); the result has `delays`.
        workers: the number of threads, which share the documents.

    Raises:
        InputError: the documents of text and references differ, or the text is too long.
        ValueError: the method is unknown.

    >>> resegment("The cat sat. It rained", ["The cat sat.", "It rained."]).segments
    ['The cat sat.', 'It rained']
    """
    resolved_method = get_method(method)
    if times is not None:
        if documents is not None or hypothesis_documents is not None:
            raise InputError("documents have no effect with times=: each recording is a document")
        return _resegment_log(hypothesis, references, method, times, workers)
    hypothesis, references, timing = _read_subtitles(
        resolved_method, method, hypothesis, references
    )
    if timing is not None and documents is not None:
        raise InputError(
            f"documents have no effect with method '{method}', because times bound the search"
        )
    reference_rows = read_reference_rows(references)
    names = [""] * len(reference_rows)
    if documents is not None:
        names = read_document_names("documents", documents, len(names))
    texts, line_count = _read_documents(
        hypothesis, hypothesis_documents, names, has_documents=documents is not None
    )
    numbers: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        numbers.setdefault(name, []).append(number)

    def divide(name: str) -> _Divided:
        rows = [reference_rows[number] for number in numbers[name]]
        if len(texts[name]) * sum(len(row[0]) for row in rows) > 25 * MAX_CELLS:  # it takes hours
            raise InputError(
                f"the text is too long to be re-segmented as a whole ({len(texts[name]):,} "
                "characters). Give the document of each segment (documents=, --docs)"
            )
        return _divide(resolved_method, name, texts[name], rows, timing)

    if workers == 1 or len(numbers) == 1:
        # In the main thread, Ctrl-C interrupts the alignment.
        parts = {name: divide(name) for name in numbers}
    else:
        with ThreadPoolExecutor(max(1, workers)) as pool:
            parts = dict(zip(numbers, pool.map(divide, numbers), strict=True))
    inputs = AlignedTexts(texts, reference_rows, timing)
    return _collect_parts(
        method, names, numbers, parts, inputs, lines=line_count, has_documents=documents is not None
    )


def _share_moved(facts: Sequence[SegmentFacts]) -> float:
    unpaired = sum(one.is_unpaired for one in facts)
    return sum(one.is_moved for one in facts) / max(1, unpaired)


def _format_numbers(numbers: Sequence[int]) -> str:
    """Return the numbers of segments as text, at most five.

    >>> _format_numbers([3, 4])
    'segments 3 and 4'
    """
    listed = [*map(str, numbers[:5]), *(["more"] if len(numbers) > 5 else [])]
    return f"segment{'' if len(numbers) == 1 else 's'} {join_words(listed)}"


def _resegment_log(
    source: Any, references: Any, method: str, times: Any, workers: int
) -> Resegmentation:
    """Divide the recordings of a log, and their times."""
    rows = read_reference_rows(references)
    source_segments = read_segmentation(times)
    log = source if isinstance(source, Log) else read_log_of_any_unit(source)
    entries = match_segments(log, source_segments, len(rows), format_path(times))
    recordings = [segment.recording for segment in source_segments]
    texts = {name: entry.text for name, entry in entries.items()}
    result = resegment(texts, rows, method, documents=recordings, workers=workers)
    places = [(facts.start, facts.end) for facts in result.facts]
    divided_times = divide_times(log, entries, source_segments, places, in_seconds=False)
    elapsed = [times for _, times in divided_times if times is not None]
    return replace(
        result,
        delays=[delays for delays, _ in divided_times],
        elapsed=elapsed if len(elapsed) == len(result) else None,
    )


def _collect_parts(
    method: str,
    names: Sequence[str],
    numbers: Mapping[str, list[int]],
    parts: Mapping[str, _Divided],
    inputs: AlignedTexts,
    *,
    lines: int,
    has_documents: bool,
) -> Resegmentation:
    """Return the segments of all documents in the order of the reference."""
    segments, facts = [""] * len(names), [SegmentFacts("", 0, 0, 0, 0, 0, 0)] * len(names)
    for name, part in parts.items():
        for number, text, fact in zip(numbers[name], part.segments, part.facts, strict=True):
            segments[number], facts[number] = text, fact
    reference_units = sum(fact.reference_units for fact in facts)
    units = sum(part.units for part in parts.values())
    errors = [part.errors for part in parts.values()]
    return Resegmentation(
        segments,
        facts,
        method,
        has_documents,
        covered=sum(fact.equal for fact in facts) / max(1, reference_units),
        missing=sum(part.missing for part in parts.values()) / max(1, reference_units),
        added=sum(part.added for part in parts.values()) / max(1, units),
        errors=None if None in errors else sum(error or 0 for error in errors),
        lost=sum(part.lost for part in parts.values()),
        lines=lines,
        inputs=inputs,
    )


def _read_subtitles(
    method: Method, name: str, hypothesis: Any, references: Any
) -> tuple[Any, Any, Timing | None]:
    """Return the hypothesis, the references, and the times if the method compares times.

    Subtitle files become texts, which contain line breaks for SubER's methods.
    """

    def get_texts(value: Any, blocks: list[Block] | None) -> Any:
        if blocks is None:
            return value
        return [block.text_with_breaks if method.reads_breaks else block.text for block in blocks]

    columns = references
    if not isinstance(references, list | tuple) or not any(map(is_file, references)):
        columns = [references]
    blocks, *reference_blocks = (
        read_subtitles(value).blocks if is_subtitle_file(value) else None
        for value in (hypothesis, *columns)
    )
    timing = None
    if method.compares == "times":
        if blocks is None or len(columns) != 1 or reference_blocks[0] is None:
            raise InputError(
                f"method '{name}' needs times: expected one subtitle file as hypothesis and "
                "one as reference (.srt or .vtt)"
            )
        times = [
            time
            for block in blocks
            for time in block.get_word_times(len(method.split(block.text_with_breaks)))
        ]
        timing = Timing(times, [(block.start, block.end) for block in reference_blocks[0]])
    hypothesis = get_texts(hypothesis, blocks)
    if any(item is not None for item in reference_blocks):
        texts = [
            read_text_list("references", get_texts(column, blocks))
            for column, blocks in zip(columns, reference_blocks, strict=True)
        ]
        if len(set(map(len, texts))) > 1:
            counts = ", ".join(f"{len(column):,}" for column in texts)
            raise InputError(f"references: the files have different numbers of segments: {counts}")
        references = list(zip(*texts, strict=True)) if len(columns) > 1 else texts[0]
    return hypothesis, references, timing


def get_resegmentation(texts: Any) -> Resegmentation | None:
    """Return the re-segmentation that made the texts of a system, or None."""
    if isinstance(texts, Resegmentation):
        return texts
    result: Resegmentation | None = getattr(texts, "resegmentation", None)
    return result


def texts_belong_together(text: str, reference: str) -> bool:
    """Return whether a text contains at least a fifth of the reference's distinct words.

    Words have four letters or more; in scripts without spaces, they are two characters.

    >>> texts_belong_together("yesterday it rained", "it rained all yesterday evening")
    True
    """
    words, reference_words = _collect_long_words(text), _collect_long_words(reference)
    return len(words & reference_words) >= 0.2 * len(reference_words) > 0


def _collect_long_words(text: str) -> set[str]:
    keys = split_text_units(text).keys
    pairs = (a + b for a, b in pairwise(keys) if len(a) == len(b) == 1 and a.isalpha())
    return {key for key in keys if len(key) >= 4}.union(pairs)


def read_reference_rows(references: Any, *, is_required: bool = False) -> list[tuple[str, ...]]:
    """Return the references of each segment, without missing references (None).

    is_required: raise InputError for a segment without references, instead of returning an empty
        reference.
    """
    if is_file(references):
        return [(text,) for text in read_text_list("references", references)]
    rows = []
    for number, row in enumerate(iter_reference_rows(references), 1):
        entries = [item for entry in row for item in (entry if is_sequence(entry) else (entry,))]
        texts = [
            item.decode("utf-8", "surrogatepass") if isinstance(item, bytes) else item
            for item in entries
            if item is not None
        ]
        if not all(isinstance(text, str) for text in texts) or (is_required and not texts):
            found = format_value(row[0] if len(row) == 1 else row)
            raise InputError(f"references, segment {number}: expected text, found {found}")
        rows.append(tuple(texts) or ("",))
    if not rows:
        raise InputError("references: no segments (expected at least one)")
    return rows


def _read_documents(
    hypothesis: Any, line_documents: Any, names: Sequence[str], *, has_documents: bool
) -> tuple[dict[str, str], int]:
    """Return the hypothesis text of each reference document, and the number of lines."""
    reference_documents = list(dict.fromkeys(names))
    if isinstance(hypothesis, Mapping):
        if not has_documents:
            raise InputError("hypothesis: texts by document require documents= for the references")
        lines, line_names = list(hypothesis.values()), [str(name) for name in hypothesis]
        lines = [" ".join(text) if is_sequence(text) else text for text in lines]
    else:
        is_text = isinstance(hypothesis, str)
        lines = [hypothesis] if is_text else read_text_list("hypothesis", hypothesis)
        if line_documents is not None:
            if not has_documents:
                raise InputError("hypothesis_documents requires documents= for the references")
            line_names = read_document_names("hypothesis documents", line_documents, len(lines))
        elif has_documents and len(lines) == len(reference_documents):
            line_names = reference_documents
            if all(re.fullmatch(r"docid=\d+", name) for name in reference_documents):
                # In OmniSTEval, line N is the document with the number N.
                line_names = sorted(line_names, key=lambda name: int(name.removeprefix("docid=")))
        elif has_documents and len(reference_documents) > 1:
            raise InputError(
                f"hypothesis: {format_count(len(lines), 'line')} for "
                f"{format_count(len(reference_documents), 'document')} (expected one line per "
                "document). Give the document of each line (hypothesis_documents=, --hyp-docs)"
            )
        else:
            line_names = [reference_documents[0]] * len(lines)
    unknown = [name for name in line_names if name not in set(reference_documents)]
    if unknown:
        raise InputError(f"hypothesis: no reference segment belongs to document '{unknown[0]}'")
    collected: dict[str, list[str]] = {name: [] for name in reference_documents}
    for name, line in zip(line_names, lines, strict=True):
        collected[name].append(line.replace("\n", " ").strip())
    return {name: " ".join(filter(None, texts)) for name, texts in collected.items()}, len(lines)


@dataclass(slots=True)
class _Divided:
    """The segments of one document, with the position and the unit counts of each."""

    segments: list[str]
    facts: list[SegmentFacts]
    units: int
    missing: int
    added: int
    lost: int
    errors: int | None


def align_document(
    method: Method, text: str, references: list[tuple[str, ...]], timing: Timing | None
) -> tuple[Units, Alignment, array[int]]:
    """Return the units of the text of one document, their alignment, and their segments."""
    stream = method.split(text)
    alignment = method.align(stream, references, timing)
    places = alignment.segments
    if method.is_own or (method.program == "OmniSTEval" and stream.begins):
        # A word belongs to the segment of its first unit. truebleu's own methods keep all text, and
        # leave segments without a reference empty.
        filled = (number for number, units in enumerate(alignment.references) if units)
        first = next(filled, 0) if method.is_own else None
        places = decode(_kernel.join_units(places.tobytes(), bytes(stream.begins), first))
    return stream, alignment, places


def _divide(
    method: Method, name: str, text: str, references: list[tuple[str, ...]], timing: Timing | None
) -> _Divided:
    """Divide the text of one document into segments."""
    stream, alignment, places = align_document(method, text, references, timing)
    encoded_members, counts, missing, added = _kernel.count_agreement(
        alignment.reference_numbers,
        alignment.numbers,
        places.tobytes(),
        alignment.segments.tobytes(),
        alignment.pairs.tobytes(),
        MIN_RUN,
    )
    members = decode(encoded_members)
    loops = find_loops(stream.keys, places, alignment.references)
    segments, facts = [], []
    first = end = 0
    for number, (equal, substituted, extra, absent) in enumerate(counts):
        last = first + equal + substituted + extra
        start = end
        if first < last:
            start, end = stream.spans[members[first]][0], stream.spans[members[last - 1]][1]
        segments.append(_join(method, stream, members[first:last], start, end))
        numbers = (start, end, equal, substituted, extra, absent)
        facts.append(SegmentFacts(name, *numbers, number in loops))
        first = last
    unpaired = [number for number, one in enumerate(facts) if one.is_unpaired]

    def is_equal(index: int) -> bool:
        place, pair = places[index], alignment.pairs[index]
        is_paired = pair != UNPAIRED and place == alignment.segments[index]
        return is_paired and alignment.references[place][pair] == stream.keys[index]

    for number in find_moved_segments(
        stream.keys, is_equal, places, alignment.references, unpaired
    ):
        facts[number] = replace(facts[number], is_moved=True)
    return _Divided(
        segments, facts, len(stream), missing, added, len(stream) - len(members), alignment.errors
    )


def _join(method: Method, stream: Units, members: array[int], start: int, end: int) -> str:
    """Return the text of a segment in the output format of the method."""
    if method.joiner is None:
        return stream.text[start:end]
    spans = list(map(stream.spans.__getitem__, members))
    if not isinstance(method.split, PatternSplitter):
        # Tokens of one word may have the position of the word.
        spans = list(dict.fromkeys(spans))
    if method.reads_breaks:
        return write_breaks(_join_subtitle_words(stream.text, spans), method.breaks)
    joined = method.joiner.join([stream.text[first:last] for first, last in spans])
    return joined.strip(" ") if method.program == "mweralign" else joined


def _join_subtitle_words(text: str, spans: list[tuple[int, int]]) -> str:
    """Join units by a space where a word begins; only breaks at the end of a word are kept."""
    joined = ""
    for first, last in spans:
        if text[first - 1 : first].strip():
            while joined.endswith((LINE_END, BLOCK_END)):
                joined = joined.rpartition(" ")[0]
        elif joined:
            joined += " "
        joined += text[first:last]
    return joined


# ---- text that the alignment, which keeps the order, cannot place ----


# A loop is a run of this many units that occurs this many times, without overlaps.
LOOP_LENGTH, LOOP_COUNT = 8, 3
# Phrases that recur after more units than this are normal.
MAX_LOOP_DISTANCE = 60
# A segment has moved if it shares at least this number, and this share, of its pairs of adjacent
# units with text in another place. None of 4,500 segments of WMT22's outputs meets these
# conditions; if documents are rotated, 6 of 10 displaced segments do.
MIN_PAIRS, MIN_PAIR_SHARE = 3, 0.3
# Frequent pairs do not locate a segment.
MAX_POSITIONS = 50


def find_loops(
    keys: Sequence[str], segments: Sequence[int], references: Sequence[Sequence[str]]
) -> set[int]:
    """Return the segments of runs of units that the text repeats and the references do not.

    >>> keys = "so it goes on and on and on".split() * 3
    >>> find_loops(keys, [0] * len(keys), [["so", "it", "goes", "on"]])
    {0}
    """
    repeated = _find_repeated_runs(keys)
    if not repeated:
        return set()
    expected = _find_repeated_runs([key for reference in references for key in reference])
    return {
        segments[index]
        for run, starts in repeated.items()
        if run not in expected
        for start in starts
        for index in range(start, start + LOOP_LENGTH)
    }


def _find_repeated_runs(keys: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Return the starts of each run that occurs often enough within short distances."""
    starts_by_run: dict[tuple[str, ...], list[int]] = {}
    repeated = {}
    # Every unit of a loop occurs at least as often as the loop.
    frequent = {key for key, count in Counter(keys).items() if count >= LOOP_COUNT}
    is_frequent = bytes(map(frequent.__contains__, keys))
    for match in re.finditer(b"(?=\1{%d})" % LOOP_LENGTH, is_frequent):
        start = match.start()
        run = tuple(keys[start : start + LOOP_LENGTH])
        starts = starts_by_run.setdefault(run, [])
        distance = start - starts[-1] if starts else LOOP_LENGTH
        if distance < LOOP_LENGTH:
            continue
        if distance > MAX_LOOP_DISTANCE and run not in repeated:
            starts.clear()
        starts.append(start)
        if len(starts) >= LOOP_COUNT:
            repeated[run] = starts
    return repeated


def find_moved_segments(
    keys: Sequence[str],
    is_equal: Callable[[int], bool],
    segments: Sequence[int],
    references: Sequence[Sequence[str]],
    unpaired: Sequence[int],
) -> list[int]:
    """Return the segments whose reference matches another place of the text better than its own.

    Args:
        keys: the units of the text.
        is_equal: returns whether the unit at an index is paired with an equal unit of the
            reference.
        segments: the segment of each unit.
        references: the units of the reference of each segment.
        unpaired: the segments to examine, which do not match their own place.
    """
    if not unpaired:
        return []
    pairs_by_segment = {number: set(pairwise(references[number])) for number in unpaired}
    positions: dict[tuple[str, str], list[int]] = {
        pair: [] for pairs in pairs_by_segment.values() for pair in pairs
    }
    for index, pair in enumerate(pairwise(keys)):
        # Text that matches its own place has not moved.
        if pair in positions and not (is_equal(index) and is_equal(index + 1)):
            positions[pair].append(index)
    moved = []
    for number, reference_pairs in pairs_by_segment.items():
        found = [
            (index, pair)
            for pair in reference_pairs
            if len(positions[pair]) <= MAX_POSITIONS
            for index in positions[pair]
        ]
        elsewhere = sorted(one for one in found if segments[one[0]] != number)
        own = {pair for index, pair in found if segments[index] == number}
        best = _count_in_window(elsewhere, len(references[number]))
        if best >= max(MIN_PAIRS, MIN_PAIR_SHARE * len(reference_pairs)) and best > len(own):
            moved.append(number)
    return moved


def _count_in_window(found: Sequence[tuple[int, tuple[str, str]]], length: int) -> int:
    """Return the largest number of different pairs in a window of a number of units."""
    best = first = 0
    counts: dict[tuple[str, str], int] = {}
    for index, pair in found:
        counts[pair] = counts.get(pair, 0) + 1
        while found[first][0] < index - length:
            left = found[first][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            first += 1
        best = max(best, len(counts))
    return best
