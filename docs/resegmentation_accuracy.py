"""Measure how well re-segmentation finds the true segments of WMT22 outputs.

python docs/resegmentation_accuracy.py FOLDER      prints the table of docs/how-to/resegment.md

FOLDER contains `system-outputs` and `references` of WMT22, as in generaltest2022.en-de.ref.A.de.
Segments are joined into documents of 20, so the true segments are known. In damaged documents, a
twelfth of the segments is missing, a twelfth is followed by a remark, and every other document
begins with a preface, as outputs of language models do.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from page_helpers import format_table

import truebleu as tb

# The number of segments that are joined, per language pair.
SEGMENT_COUNTS = {"en-de": 400, "de-en": 400, "cs-en": 400, "en-zh": 200, "en-ja": 200}
SYSTEM = "Online-B"
# Methods, and whether they apply to languages with and without spaces between words.
METHODS = {
    "soft": (True, True),
    "as-wer": (True, True),
    "omnisteval": (True, False),
    "omnisteval-char": (True, True),
    "mweralign-none": (True, False),
    "mweralign-cj": (False, True),
}
UNSPACED = ("zh", "ja")
SEGMENTS_PER_DOCUMENT = 20
# The preface and the remark of a damaged document.
ADDITIONS = {
    "de": (
        "Hier ist die Übersetzung, um die Sie gebeten haben:",
        "(Anmerkung: Hier ist der Text unklar.)",
    ),
    "en": ("Here is the translation that you asked for:", "(Note: the text is unclear here.)"),
    "zh": ("以下是您要求的翻译：", "（注：此处原文不清楚。）"),
    "ja": ("ご依頼の翻訳は次のとおりです：", "（注：原文はここで不明です。）"),
}


def read_segments(folder: Path, pattern: str, count: int) -> list[str]:
    """Return the first segments of the only file that matches a pattern."""
    path = min(folder.glob(pattern))
    return [line.strip() for line in path.read_text("utf-8").split("\n")[:count]]


def join_document(
    segments: list[str], language: str, dice: random.Random | None
) -> tuple[str, list[int | None]]:
    """Return a document, and the segment number of each character.

    dice: random generator that damages the document, or None for no damage. Added characters have
        no segment number.
    """
    preface, remark = ADDITIONS[language]
    pieces: list[tuple[int | None, str]] = []
    if dice and dice.random() < 0.5:
        pieces.append((None, preface))
    for number, segment in enumerate(segments):
        if dice and dice.random() < 1 / 12:
            continue
        pieces.append((number, segment))
        if dice and dice.random() < 1 / 12:
            pieces.append((None, remark))
    separator = "" if language in UNSPACED else " "
    owners = [number for number, text in pieces for _ in text + separator]
    return separator.join(text for _, text in pieces), owners


def measure(folder: Path, pair: str, method: str, *, damaged: bool) -> float:
    """Return the percentage of characters that are in their true segment."""
    count, language = SEGMENT_COUNTS[pair], pair.partition("-")[2]
    outputs = read_segments(folder / "system-outputs", f"*.{pair}.hyp.{SYSTEM}.*", count)
    references = read_segments(folder / "references", f"*.{pair}.ref.[AB].{language}", count)
    dice = random.Random(2022) if damaged else None
    right = total = 0
    for start in range(0, count, SEGMENTS_PER_DOCUMENT):
        end = start + SEGMENTS_PER_DOCUMENT
        text, owners = join_document(outputs[start:end], language, dice)
        result = tb.resegment(text, references[start:end], method)
        found: list[int | None] = [None] * len(text)
        for number, place in enumerate(result.facts):
            found[place.start : place.end] = [number] * (place.end - place.start)
        for character, owner, segment in zip(text, owners, found, strict=False):
            if owner is not None and not character.isspace():
                right += owner == segment
                total += 1
    return 100 * right / total


def build_table(folder: Path) -> str:
    """Return the table of all methods and language pairs as Markdown."""
    rows = []
    for method, is_for in METHODS.items():
        row: list[object] = [f"`{method}`"]
        for pair in SEGMENT_COUNTS:
            if not is_for[pair.endswith(UNSPACED)]:
                row.append("–")
                continue
            shares = [measure(folder, pair, method, damaged=damaged) for damaged in (False, True)]
            row.append(" / ".join(f"{share:.1f}" for share in shares))
        rows.append(row)
    return format_table(["method", *SEGMENT_COUNTS], rows)


if __name__ == "__main__":
    print(build_table(Path(sys.argv[1])))
