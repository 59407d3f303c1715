"""Subtitles: texts with times and line breaks, from SRT and WebVTT files.

`read_subtitles` returns a file whose lines are the texts of the blocks. In texts with breaks, the
words `<eol>` and `<eob>` stand for the end of a line and of a block, as in MuST-Cinema.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from truebleu._kernel import InputError
from truebleu.text.argument_checks import check_choice, format_value
from truebleu.text.segments import COMPRESSED_SUFFIXES, BufferedLines, File, as_file, is_file
from truebleu.text.system_names import format_path

LINE_END, BLOCK_END = "<eol>", "<eob>"
MASK = "<mask>"
# The content that metrics receive: words, words and breaks, or breaks and a placeholder for each
# word.
BREAK_MODES = ("none", "words", "only")
ARROW = "-->"
TIME = re.compile(r"(?:(\d+):)?([0-5]?\d):([0-5]?\d)[,.](\d{1,6})")
# SubER ignores tags of one character, such as <i>.
SRT_TAG = re.compile("</?[^>]>")
VTT_TAG = re.compile("<[^>]*>")


@dataclass(frozen=True, slots=True)
class Block:
    """A subtitle: the words that are shown at one time.

    start, end: times in seconds.
    lines: the lines, without tags and with single spaces; lines without words are omitted.
    """

    start: float
    end: float
    lines: list[str]

    @property
    def text(self) -> str:
        """The words."""
        return " ".join(self.lines)

    @property
    def text_with_breaks(self) -> str:
        """The words, with a mark after each line and after the block."""
        return f"{f' {LINE_END} '.join(self.lines)} {BLOCK_END}" if self.lines else ""

    def get_word_times(self, count: int | None = None) -> list[float]:
        """Return a time for each word, evenly spaced from the start to the end.

        count: the number of words; None counts the words between spaces.
        As in SubER, the first word comes 10 nanoseconds after the start, and the last word 10
        nanoseconds before the end.
        """
        count = len(self.text.split()) if count is None else count
        start, end = self.start + 1e-8, self.end - 1e-8
        step = (end - start) / max(1, count - 1)
        times = [index * step + start for index in range(count)]
        return [*times[:-1], end] if count > 1 else times


class SubtitleFile(BufferedLines):
    """Subtitles of a file, whose lines are the texts of the blocks."""

    blocks: list[Block]

    @property
    def times(self) -> list[tuple[float, float]]:
        """The start and end of each block, in seconds."""
        return [(block.start, block.end) for block in self.blocks]

    @classmethod
    def from_blocks(cls, name: str, blocks: list[Block], breaks: str = "none") -> SubtitleFile:
        """Return a subtitle file with these blocks; messages identify it by `name`."""
        texts = (block.text if breaks == "none" else block.text_with_breaks for block in blocks)
        file = cls.from_strings(name, (write_breaks(text, breaks) for text in texts))
        assert isinstance(file, SubtitleFile)
        file.blocks = blocks
        return file


def write_breaks(text: str, breaks: str) -> str:
    """Return a text without breaks, with breaks as words, or with words masked and breaks kept.

    Metrics count the words `eol` and `eob`, because tokenizers would split `<eol>`.

    >>> text = "It rains <eol> here <eob>"
    >>> [write_breaks(text, breaks) for breaks in BREAK_MODES]
    ['It rains here', 'It rains eol here eob', '<mask> <mask> eol <mask> eob']
    """
    if LINE_END not in text and BLOCK_END not in text and breaks != "only":
        return text
    words = []
    for word in text.split():
        if word not in (LINE_END, BLOCK_END):
            words.append(MASK if breaks == "only" else word)
        elif breaks != "none":
            words.append(word.strip("<>"))
    return " ".join(words)


def rewrite_breaks(file: File, breaks: str) -> File:
    """Return the lines of a text file, or the blocks of a subtitle file, with rewritten breaks."""
    if isinstance(file, SubtitleFile):
        return read_subtitles(file, breaks)
    lines = (write_breaks(line, breaks) for line in file.read_lines())
    return BufferedLines.from_strings(format_path(file), lines)


def is_subtitle_file(value: Any) -> bool:
    """Return whether a value is a subtitle file, that is, ends in .srt or .vtt."""
    if isinstance(value, BufferedLines):
        return isinstance(value, SubtitleFile)
    return is_file(value) and _get_suffix(as_file(value).path) in (".srt", ".vtt")


def _get_suffix(path: str) -> str:
    name, suffix = os.path.splitext(path.lower())
    return os.path.splitext(name)[1] if suffix in COMPRESSED_SUFFIXES else suffix


def read_subtitles(file: Any, breaks: str = "none") -> SubtitleFile:
    """Read the subtitles of an SRT or WebVTT file.

    Args:
        file: a path that ends in .srt or .vtt, or also in .gz, .bz2, .xz or .zst.
        breaks: "none" omits the ends of lines and blocks, "words" converts them to the words `eol`
            and `eob`, and "only" also replaces every other word by `<mask>`.

    Raises:
        InputError: the file is invalid. The message names the line.
    """
    check_choice("breaks", breaks, BREAK_MODES)
    if isinstance(file, SubtitleFile):
        return SubtitleFile.from_blocks(file.path, file.blocks, breaks)
    file = File(file) if isinstance(file, str) else as_file(file)
    name = format_path(file)
    suffix = _get_suffix(file.path)
    if suffix not in (".srt", ".vtt"):
        raise InputError(f"{name}: unknown subtitle format (expected .srt or .vtt)")
    if file.column is not None:
        raise InputError(f"{name}: subtitle files have no columns")
    lines = (line.strip() for line in file.read_lines())
    numbered_lines = enumerate((line.removeprefix("\ufeff") for line in lines), 1)
    groups = _group_lines(numbered_lines)
    blocks = list(_read_blocks(name, groups, is_vtt=suffix == ".vtt"))
    return SubtitleFile.from_blocks(file.path, blocks, breaks)


def _group_lines(numbered_lines: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield groups of numbered lines that empty lines separate.

    An empty line between a subtitle's number and its times does not end a group.
    """
    group: list[tuple[int, str]] = []
    for number, line in numbered_lines:
        is_number_alone = len(group) == 1 and group[0][1].isdecimal()
        if line:
            group.append((number, line))
        elif group and not is_number_alone:
            yield group
            group = []
    if group:
        yield group


def _read_blocks(
    name: str, groups: Iterator[list[tuple[int, str]]], *, is_vtt: bool
) -> Iterator[Block]:
    """Yield the blocks of a file, whose start times must not decrease."""
    if is_vtt:
        header = next(groups, [(1, "")])
        if not re.match(r"WEBVTT(\s|$)", header[0][1]):
            raise InputError(
                f"{name}, line {header[0][0]}: expected 'WEBVTT', "
                f"found {format_value(header[0][1])}"
            )
    last_start = 0.0
    for group in groups:
        if is_vtt and re.match(r"(NOTE|STYLE|REGION)(\s|$)", group[0][1]):
            continue
        number, line = group[0]
        text_start = 1
        if ARROW not in line and (is_vtt or line.isdecimal()):
            # The name of a cue, or the number of a subtitle.
            number, line = group[1] if len(group) > 1 else group[0]
            text_start = 2
        elif not is_vtt:
            raise InputError(
                f"{name}, line {number}: expected the number of a subtitle, "
                f"found {format_value(line)}"
            )
        start, end = _parse_times(f"{name}, line {number}", line)
        if start < last_start:
            raise InputError(
                f"{name}, line {number}: the subtitle starts before the previous one. Sort the "
                "subtitles by their start"
            )
        last_start = start
        lines = [text for _, text in group[text_start:]]
        if is_vtt:
            lines = [html.unescape(VTT_TAG.sub("", text)) for text in lines]
        else:
            lines = [SRT_TAG.sub("", text) for text in lines]
        yield Block(start, end, [" ".join(text.split()) for text in lines if text.strip()])


def _parse_times(place: str, line: str) -> tuple[float, float]:
    """Return the start and the end of a subtitle in seconds. Settings may follow the times."""
    start, arrow, rest = line.partition(ARROW)
    words = [start.strip(), *rest.split()[:1]]
    matches = [TIME.fullmatch(word) for word in words]
    if not arrow or len(words) < 2 or None in matches:
        raise InputError(
            f"{place}: expected times such as '00:00:01,000 --> 00:00:02,500', "
            f"found {format_value(line)}"
        )
    times = []
    for match in matches:
        assert match is not None
        hours, minutes, seconds, fraction = match.groups(default="0")
        whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
        times.append((whole * 10**6 + int(fraction.ljust(6, "0"))) / 10**6)
    if times[1] < times[0]:
        raise InputError(f"{place}: the subtitle ends before it starts ({line})")
    return times[0], times[1]
