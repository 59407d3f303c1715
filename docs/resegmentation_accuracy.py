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

OUTPUTS = {
    "en-de": ("Online-B", 400),
    "de-en": ("Online-B", 400),
    "cs-en": ("Online-B", 400),
    "en-zh": ("Online-B", 200),
    "en-ja": ("Online-B", 200),
}
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
REMARKS = {
    "de": "(Anmerkung: Hier ist der Text unklar.)",
    "en": "(Note: the text is unclear here.)",
    "zh": "（注：此处原文不清楚。）",
    "ja": "（注：原文はここで不明です。）",
}
PREFACES = {
    "de": "Hier ist die Übersetzung, um die Sie gebeten haben:",
    "en": "Here is the translation that you asked for:",
    "zh": "以下是您要求的翻译：",
    "ja": "ご依頼の翻訳は次のとおりです：",
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
    pieces: list[tuple[int | None, str]] = []
    if dice and dice.random() < 0.5:
        pieces.append((None, PREFACES[language]))
    for number, segment in enumerate(segments):
        if dice and dice.random() < 1 / 12:
            continue
        pieces.append((number, segment))
        if dice and dice.random() < 1 / 12:
            pieces.append((None, REMARKS[language]))
    separator = "" if language in UNSPACED else " "
    owners = [number for number, text in pieces for _ in text + separator]
    return separator.join(text for _, text in pieces), owners


def measure(folder: Path, pair: str, method: str, *, damaged: bool) -> float:
    """Return the percentage of characters that are in their true segment."""
    system, count = OUTPUTS[pair]
    language = pair.partition("-")[2]
    outputs = read_segments(folder / "system-outputs", f"*.{pair}.hyp.{system}.*", count)
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
        for pair in OUTPUTS:
            if not is_for[pair.endswith(UNSPACED)]:
                row.append("–")
                continue
            shares = [measure(folder, pair, method, damaged=damaged) for damaged in (False, True)]
            row.append(" / ".join(f"{share:.1f}" for share in shares))
        rows.append(row)
    return format_table(["method", *OUTPUTS], rows)


if __name__ == "__main__":
    print(build_table(Path(sys.argv[1])))
