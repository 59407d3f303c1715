"""The boundaries of a re-segmented segment: the units at each, and the cost of moving them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from truebleu.resegmentation.methods import UNPAIRED, Alignment, Method, get_method
from truebleu.resegmentation.resegment import Resegmentation, align_document
from truebleu.resegmentation.units import Units

# The number of aligned units that are shown on each side of a boundary, and the number of words of
# the text before and after the segment.
SHOWN_UNITS, SHOWN_WORDS = 5, 8


def describe_boundaries(result: Resegmentation, number: int) -> dict[str, Any]:
    """Return where a segment, counted from 1, begins and ends in its text, and why.

    Each boundary has the aligned units before and after it, and the cost of moving it by one word
    to the left or to the right: the increase of the errors, or the decrease of the similarities.
    """
    facts = result.facts[number - 1]
    numbers = [i for i, one in enumerate(result.facts, 1) if one.document == facts.document]
    rows = [result.inputs.references[i - 1] for i in numbers]
    method = get_method(result.method)
    text = result.inputs.texts[facts.document]
    stream, alignment, places = align_document(method, text, rows, result.inputs.timing)
    # Units without a segment are not next to a boundary.
    kept = [index for index, place in enumerate(places) if place != UNPAIRED]
    document = _DividedDocument(
        method,
        numbers,
        Units(
            [stream.keys[index] for index in kept],
            [stream.spans[index] for index in kept],
            # Without this information, a segment may begin at any unit.
            [stream.begins[index] for index in kept] if stream.begins else [True] * len(kept),
            stream.text,
        ),
        [places[index] for index in kept],
        [
            list(map(method.list_reference_units, row)) if method.compares == "edits" else [units]
            for row, units in zip(rows, alignment.references, strict=True)
        ],
    )
    place = numbers.index(number)
    edits = _list_edits(stream, alignment, places)
    boundaries = [
        document.describe_boundary(before, after, side, edits)
        for side, before, after in (
            ("start", document.find_neighbour(place, -1), place),
            ("end", place, document.find_neighbour(place, 1)),
        )
        if before is not None and after is not None
    ]
    return {
        "method": result.signature,
        "document": facts.document if result.has_documents else None,
        "start": facts.start,
        "end": facts.end,
        "flags": facts.flags,
        "cost": {"similarities": "similarity", "times": None}.get(method.compares, "errors"),
        "stream": document.list_words(place),
        "boundaries": boundaries,
    }


@dataclass(frozen=True, slots=True)
class _DividedDocument:
    """The units of a document, and the segment of each.

    numbers: the number of each segment of the document, counted from 1.
    references: the units of the references of each segment.
    """

    method: Method
    numbers: list[int]
    units: Units
    places: list[int]
    references: list[list[list[str]]]

    def find_neighbour(self, place: int, step: int) -> int | None:
        """Return the next segment before (-1) or after (1) a segment that can have text."""
        place += step
        while 0 <= place < len(self.references):
            if any(self.references[place]) or place in self.places:
                return place
            place += step
        return None

    def describe_boundary(
        self, before: int, after: int, side: str, edits: list[list[dict[str, Any]]]
    ) -> dict[str, Any]:
        """Return the facts of the boundary between two segments."""
        index = bisect_left(self.places, after)
        moves = []
        if self.method.compares != "times":
            # Moving the boundary to the left moves the last word before it to the segment after it.
            if index and self._can_receive(after):
                start = index - 1
                while start and self._continues_word(start, self.places[start - 1]):
                    start -= 1
                moves.append(self._describe_move("left", slice(start, index), after))
            if index < len(self.places) and self._can_receive(before):
                end = index + 1
                while end < len(self.places) and self._continues_word(end, self.places[index]):
                    end += 1
                moves.append(self._describe_move("right", slice(index, end), before))
        next_best = min((move["difference"] for move in moves), default=None)
        return {
            "side": side,
            "segments": [self.numbers[before], self.numbers[after]],
            "before": edits[before][-SHOWN_UNITS:],
            "after": edits[after][:SHOWN_UNITS],
            "moves": moves,
            "next_best": next_best,
            "close": next_best == 0,
        }

    def _can_receive(self, place: int) -> bool:
        """Return whether the method may put text into the segment."""
        return not self.method.is_own or any(self.references[place])

    def _continues_word(self, index: int, place: int) -> bool:
        """Return whether a unit of the segment belongs to the same word as the unit before it."""
        return self.places[index] == place and not self.units.begins[index]

    def _describe_move(self, direction: str, words: slice, receiver: int) -> dict[str, Any]:
        """Return how the cost changes if a segment receives the words at its boundary."""
        giver = self.places[words.start]
        keys, own_keys = self.units.keys, self._get_keys(receiver)
        given_keys = self._get_keys(giver)
        moved = keys[words]
        if direction == "left":
            rest, extended = given_keys[: -len(moved)], [*moved, *own_keys]
        else:
            rest, extended = given_keys[len(moved) :], [*own_keys, *moved]
        difference = (
            self._measure(giver, rest)
            + self._measure(receiver, extended)
            - self._measure(giver, given_keys)
            - self._measure(receiver, own_keys)
        )
        return {
            "direction": direction,
            "text": self._get_text(words.start, words.stop),
            "segments": [self.numbers[giver], self.numbers[receiver]],
            # Adding the similarities in another order would change the last digits of their sum.
            "difference": round(difference, 9),
        }

    def _get_keys(self, place: int) -> list[str]:
        return self.units.keys[bisect_left(self.places, place) : bisect_right(self.places, place)]

    def _get_text(self, start: int, end: int) -> str:
        spans = self.units.spans
        return self.units.text[spans[start][0] : spans[end - 1][1]].strip() or " "

    def _measure(self, place: int, keys: Sequence[str]) -> float:
        return self.method.measure_cost(keys, self.references[place])

    def list_words(self, place: int) -> list[dict[str, Any]]:
        """Return the words of a segment and around it, with the segment of each."""
        starts = [
            index
            for index, begins in enumerate(self.units.begins)
            if begins or index == 0 or self.places[index] != self.places[index - 1]
        ]
        first = max(0, bisect_left(starts, bisect_left(self.places, place)) - SHOWN_WORDS)
        last = bisect_left(starts, bisect_right(self.places, place)) + SHOWN_WORDS
        words = list(pairwise([*starts, len(self.places)]))
        return [
            {"text": self._get_text(start, end), "segment": self.numbers[self.places[start]]}
            for start, end in words[first:last]
        ]


def _list_edits(
    stream: Units, alignment: Alignment, places: Sequence[int]
) -> list[list[dict[str, Any]]]:
    """Return the aligned units of each segment, in order, with the kind of edit.

    Reference units are as the method compares them, for example in lower case.
    """
    edits: list[list[dict[str, Any]]] = [[] for _ in alignment.references]
    next_units = [0] * len(edits)

    def add_deletions(place: int, end: int) -> None:
        units = alignment.references[place][next_units[place] : end]
        edits[place] += [{"kind": "deletion", "hypothesis": None, "reference": u} for u in units]

    units = zip(places, alignment.segments, alignment.pairs, stream.keys, stream.spans, strict=True)
    for place, aligned, pair, key, (start, end) in units:
        if place == UNPAIRED:
            continue
        kind, reference = "insertion", None
        if pair != UNPAIRED and place == aligned:
            reference = alignment.references[place][pair]
            kind = "match" if reference == key else "substitution"
            add_deletions(place, pair)
            next_units[place] = pair + 1
        unit = stream.text[start:end].strip()
        edits[place].append({"kind": kind, "hypothesis": unit, "reference": reference})
    for place in range(len(edits)):
        add_deletions(place, len(alignment.references[place]))
    return edits
