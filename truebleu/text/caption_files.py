"""COCO's JSON files of image captions: annotations with references, and results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from truebleu._kernel import InputError
from truebleu.text.argument_checks import format_value, parse_json
from truebleu.text.segments import File
from truebleu.text.terminal_layout import format_count

# Characters at which COCO's tokenizer starts a new line, in addition to newlines.
HIDDEN_LINE_BREAK = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Number of image ids that messages list.
MAX_LISTED_IDS = 10


def describe_line_breaks(count: int) -> str:
    """Return the warning about segments with hidden line breaks."""
    verb = "contains" if count == 1 else "contain"
    return (
        f"{format_count(count, 'segment')} {verb} line breaks such as \\r or U+2028, which count "
        "as spaces. COCO's tokenizer would give all later captions a wrong text"
    )


@lru_cache(maxsize=8)
def is_annotation_file(path: str) -> bool:
    """Return whether a file is COCO's annotation file: a JSON object with "annotations"."""
    try:
        content = read_json(path) if path.lower().endswith(".json") else None
    except (InputError, OSError):
        return False
    return isinstance(content, dict) and "annotations" in content


def join_lines(texts: Sequence[str]) -> tuple[list[str], int]:
    """Replace line breaks by spaces. Return the texts, and the number with hidden line breaks."""
    found = sum(1 for text in texts if HIDDEN_LINE_BREAK.search(text))
    return [HIDDEN_LINE_BREAK.sub(" ", text).replace("\n", " ") for text in texts], found


def read_annotations(path: str) -> dict[Any, list[str]]:
    """Return the references of each image, in the order of the images' first annotation.

    Raises InputError if an image has no reference, or if a reference has no text.
    """
    content = read_json(path)
    rows = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise InputError(f'{path}: expected an object with the list "annotations"')
    references: dict[Any, list[str]] = {}
    for image, caption in _read_captions(f"{path}, annotation", rows):
        references.setdefault(image, []).append(caption)
    images = content.get("images", [])
    if not isinstance(images, list) or not all(
        isinstance(image, dict) and "id" in image for image in images
    ):
        raise InputError(f'{path}: "images": expected a list of objects with "id"')
    if not references:
        raise InputError(f"{path}: no annotations (expected at least one)")
    ids = Counter(image["id"] for image in images)
    _require_none(path, "images listed twice", [image for image in ids if ids[image] > 1])
    unlisted = [image for image in references if ids and image not in ids]
    _require_none(path, "annotated images that are not listed", unlisted)
    _require_none(path, "images without a reference", [i for i in ids if i not in references])
    return references


def read_results(path: str, images: Collection[Any]) -> list[str]:
    """Return one caption per image, in the order of `images`.

    Raises InputError if an image is missing, occurs twice, or is not one of `images`.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f'{path}: expected a list of objects with "image_id" and "caption"')
    rows = list(_read_captions(f"{path}, result", content, needs_text=False))
    captions, counts = dict(rows), Counter(image for image, _ in rows)
    _require_none(path, "images with several captions", [i for i in counts if counts[i] > 1])
    _require_none(path, "images without annotations", [i for i in captions if i not in images])
    _require_none(path, "images without a caption", [i for i in images if i not in captions])
    return [captions[image] for image in images]


def read_json(path: str) -> Any:
    """Return the value in a JSON file. Raises InputError with the line for other content."""
    text = "\n".join(File(path).read_lines()).removeprefix("\ufeff")
    return parse_json(text, path)


def _read_captions(
    place: str, rows: Iterable[Any], *, needs_text: bool = True
) -> Iterator[tuple[Any, str]]:
    """Yield the image and the caption of each row, or raise InputError."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not {"image_id", "caption"} <= row.keys():
            raise InputError(f'{place} {number}: expected an object with "image_id" and "caption"')
        image, caption = row["image_id"], row["caption"]
        if not isinstance(image, int | str) or isinstance(image, bool):
            problem = f"image_id: expected a number or a text, found {format_value(image)}"
            raise InputError(f"{place} {number}: {problem}")
        if not isinstance(caption, str) or (needs_text and not caption.strip()):
            problem = f"image {image}: expected a caption, found {format_value(caption)}"
            raise InputError(f"{place} {number}: {problem}")
        yield image, caption


def _require_none(path: str, problem: str, ids: Sequence[Any]) -> None:
    if ids:
        listed = ", ".join(map(repr, ids[:MAX_LISTED_IDS]))
        more = f" and {len(ids) - MAX_LISTED_IDS:,} more" if len(ids) > MAX_LISTED_IDS else ""
        raise InputError(f"{path}: {problem}: {listed}{more}")
