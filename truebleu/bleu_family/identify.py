"""From a number to the BLEU behind it: members of the family, and settings near them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations, pairwise, product
from math import inf
from typing import Any

from truebleu._kernel import InputError
from truebleu.bleu_family.family_catalogue import MEMBERS
from truebleu.bleu_family.family_member import Member
from truebleu.bleu_family.shared_statistics import Text
from truebleu.metrics.base import Metric
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nist import NIST
from truebleu.text import argument_checks, terminal_layout
from truebleu.text.corpus_inputs import Hypotheses, References
from truebleu.text.record import Record


def _each(name: str, *values: object, **more: object) -> tuple[dict[str, Any], ...]:
    """A change of one parameter to each of some values, with others that go together with it."""
    return tuple({name: value, **more} for value in values)


_TOKENIZERS = _each("tokenize", "13a", "none", "intl", "zh", "char")
_CASES = _each("lowercase", False, True)
_ORDERS = _each("max_order", *range(1, 7))
_LENGTHS = (
    *_each("tie", "shorter", "first", "longer", reference_length="closest"),
    *_each("reference_length", "shortest", "longest", "average", "average-truncated"),
)
_SMOOTHINGS = _each("smoothing", "none", "exp", "floor", "add-k", "add-k-all", smoothing_value=None)
_EFFECTIVE = _each("effective_order", True, False, missing_order=None)
_AGGREGATES = _each("aggregate", "corpus", "segments")
_BREVITY = _each("brevity_penalty", "none")

# Members whose settings are changed two at a time; of the others only tokenizer and case together.
_CENTRES = ("sacrebleu", "sacrebleu-sentence")

_ORDERS_COUNTED = 6

# No system gets a NIST score above this.
MOST_NIST = 25


class Candidate(Record):
    """A member, perhaps with other settings than it is published with, and its score."""

    member: Member
    changes: tuple[str, ...]
    metric: Metric
    value: float
    """The score, 0-100."""

    @property
    def name(self) -> str:
        """The member's name, and what was changed."""
        return ", ".join((self.member.name, *self.changes))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.value}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything, in words and numbers."""
        return {
            "member": self.member.name,
            "changes": list(self.changes),
            "score": self.value,
            "metric": repr(self.metric),
        }


class Identification(Record):
    """The computations that give a number on a text, or the nearest."""

    given: str
    """The number that was asked for."""
    matches: list[Candidate]
    """Those that give it: members as they are published, then with one or two settings changed."""
    nearest: list[Candidate]
    """The five whose scores are nearest, if none gives it."""
    tried: int
    """The number of different computations that were tried."""
    problems: dict[str, str]
    """Members that could not be tried, and why."""

    @property
    def members(self) -> list[Candidate]:
        """Members, as they are published, that give it."""
        return [match for match in self.matches if not match.changes]

    @property
    def settings(self) -> list[Candidate]:
        """Members that give it with one or two settings changed."""
        return [match for match in self.matches if match.changes]

    def __bool__(self) -> bool:
        return bool(self.matches)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.matches)

    def __repr__(self) -> str:
        return f"<{self.given}: {self.ambiguity}>"

    def __str__(self) -> str:
        told = [f"{self.head}\n", terminal_layout.format_table(self.cells(), right=(2,))]
        tail = terminal_layout.wrap_text(self.tail, 100)
        return "\n".join([*told, *([""] if tail else []), *tail])

    @property
    def different(self) -> int:
        """The number of different scores that fit."""
        values = sorted(match.value for match in self.matches)
        # Smaller differences may come from single precision.
        return sum(b - a > 1e-6 * max(1.0, a) for a, b in pairwise([*values, inf]))

    @property
    def ambiguity(self) -> str:
        """How sure the answer is, in a sentence."""
        members, settings = len(self.members), len(self.settings)
        if not self:
            return f"none of {self.tried} computations gives it"
        told = []
        if members:
            told.append(f"{terminal_layout.format_count(members, 'member')} as published")
        if settings:
            told.append(terminal_layout.format_count(settings, "changed setting"))
        found = " and ".join(told)
        if members + settings == 1:
            return f"{found}; nothing else of {self.tried} computations gives it"
        if self.different == 1:
            return (
                f"{found}, which are the same on this text: more digits would not tell them apart"
            )
        return (
            f"{found}, with {self.different} different scores; give more digits to narrow it down"
        )

    def cells(self) -> list[list[str]]:
        """A header and a row per match, or per one of the nearest."""
        table = [["member", "changed", "0-100"]]
        for match in self.matches or self.nearest:
            changed = ", ".join(match.changes) or "as published"
            table.append([match.member.name, changed, f"{match.value:.6f}"])
        return table

    @property
    def head(self) -> str:
        """The answer in a sentence."""
        near = "" if self else "; these are the nearest"
        return f"{self.given}: {self.ambiguity}{near}."

    @property
    def tail(self) -> str:
        """A list of what was tried, if nothing gives the number."""
        if self:
            return ""
        return (
            "Tried: every member as published; each with another tokenizer (13a, none, intl, zh, "
            "char), case, order (1 to 6), reference length, or mean of segments; sacreBLEU with "
            "two of these changed, smoothing and effective order among them. Not tried: other "
            "text, other references, models' tokenizers."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, in words and numbers."""
        return {
            "given": self.given,
            "answer": self.ambiguity,
            "different_scores": self.different,
            "tried": self.tried,
            "members": [match.to_dict() for match in self.members],
            "settings": [match.to_dict() for match in self.settings],
            "nearest": [match.to_dict() for match in self.nearest],
            "not_tried": self.problems,
        }


def which(
    score: float | str,
    hypotheses: Hypotheses,
    references: References,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Identification:
    """Finds the members of the family, and settings near them, that give this score.

    score: as printed, 0-100 or 0-1; a string keeps its digits: "27.30" is not "27.3".
    hypotheses, references: as for `BLEU.score`.
    progress: called with the number of computations tried, and of all.

    >>> print(which("66.87", ["a b c d e"], [["a b c d f"]]).members[0].name)
    papineni-2002
    """
    wanted, given = number(score)
    return identified(given, *_tried(Text(hypotheses, references, workers), wanted, progress))


def identified(given: str, tried: Sequence[Candidate], problems: dict[str, str]) -> Identification:
    """The candidates that give a number; the nearest if none does."""
    wanted, _ = number(given)
    matches = [candidate for candidate in tried if _fits(candidate.value, wanted)]
    nearest: list[Candidate] = []
    if not matches:
        value = float(wanted if wanted > 1 else wanted * 100)
        nearest = sorted(tried, key=lambda candidate: abs(candidate.value - value))[:5]
    return Identification(given, matches, nearest, len(tried), problems)


def number(score: float | str) -> tuple[Decimal, str]:
    """A score as printed, with its digits. Raises ValueError if it is none."""
    given = str(score).strip().removesuffix("%").strip()
    try:
        argument_checks.parse_number(given)
        value = Decimal(given)
    except ValueError:
        value = Decimal("nan")
    if not value.is_finite() or value < 0 or "e" in given.lower():
        raise ValueError(f"'{score}' is not a score as it is printed, such as 27.3 or 0.2731")
    return value, given


def _fits(value: float, wanted: Decimal) -> bool:
    """True if a score, 0-100, rounds to the number, in either scale."""
    digits = max(0, -int(wanted.as_tuple().exponent))
    readings = (value, value / 100) if wanted <= 2 else (value,)
    return any(Decimal(f"{reading:.{digits}f}") == wanted for reading in readings)


def _tried(
    text: Text, wanted: Decimal | None, progress: Callable[[int, int], None] | None
) -> tuple[list[Candidate], dict[str, str]]:
    """Every computation, published ones first, and what could not be computed.

    The NIST score is left out if it cannot be the one that is wanted.
    """
    nist = wanted is None or 1 <= wanted <= MOST_NIST
    matches: list[Candidate] = []
    problems: dict[str, str] = {}
    values: dict[object, float] = {}
    text.counts("none" if text.is_tokens else "13a", False, _ORDERS_COUNTED)
    candidates: list[tuple[Member, list[str], Metric]] = [
        (member, [], member.metric) for member in MEMBERS.values()
    ]
    candidates += _neighbours(several=text.has_several_references)
    seen: set[object] = set()
    of_member: dict[str, list[float]] = {}
    for place, (member, changes, metric) in enumerate(candidates):
        if progress is not None:
            progress(place, len(candidates))
        if isinstance(metric, NIST) and not nist:
            continue
        key = _computation(metric, text)
        if changes and key in seen:
            continue
        if key not in values:
            try:
                values[key] = text.score(metric).value
            except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError) as error:
                if not changes:
                    problems[member.name] = str(error).partition("\n")[0]
                continue
        seen.add(key)
        # A change that does not matter on this text is none.
        if changes and any(
            abs(values[key] - value) < 1e-9 for value in of_member.get(member.name, ())
        ):
            continue
        of_member.setdefault(member.name, []).append(values[key])
        matches.append(Candidate(member, tuple(changes), metric, values[key]))
    if not matches:
        raise InputError(f"no member can score this text: {next(iter(problems.values()))}")
    return matches, problems


def _computation(metric: Metric, text: Text) -> object:
    """A key that is the same for metrics that differ in scale or the last bit only."""
    if not isinstance(metric, BLEU):
        return metric
    said = {**metric.parameters, "scale": None, "arithmetic": None, "effective_order": None}
    said["missing_order"] = metric.missing(segment=metric.aggregate == "segments")
    said["smoothing_value"] = metric.smoothing_value
    said["tokenize"], said["lowercase"] = text.tokens_as(metric.tokenize, metric.lowercase)
    if not text.has_several_references:
        said["reference_length"] = said["tie"] = None
    return tuple(said.values())


def _neighbours(*, several: bool) -> Iterator[tuple[Member, list[str], Metric]]:
    """Members with one setting changed, then with two."""
    single = [*_TOKENIZERS, *_CASES, *_ORDERS, *_AGGREGATES, *(_LENGTHS if several else ())]
    central = [*single, *_SMOOTHINGS, *_EFFECTIVE, *_BREVITY]
    for member in MEMBERS.values():
        if not isinstance(member.metric, BLEU) and member.metric.parameters["tokenize"] == "none":
            for change in _TOKENIZERS[:3]:
                yield from _changed(member, change)
    # sacreBLEU's own settings are what people change, so a setting is named after it if it can be.
    members = [member for member in MEMBERS.values() if isinstance(member.metric, BLEU)]
    members.sort(key=lambda member: not member.name.startswith("sacrebleu"))
    # Means that Python works out segment by segment are tried with less.
    small = [*_TOKENIZERS, *_CASES, *_AGGREGATES, *(_LENGTHS if several else ())]
    for member in members:
        means = isinstance(member.metric, BLEU) and member.metric.aggregate == "segments"
        for change in central if member.name in _CENTRES else small if means else single:
            yield from _changed(member, change)
    for member in members:
        pairs: Iterable[tuple[dict[str, Any], ...]] = product(_TOKENIZERS, _CASES)
        if member.name in _CENTRES:
            pairs = combinations(central, 2)
        for first, second in pairs:
            if first.keys() != second.keys():
                yield from _changed(member, {**first, **second})


def _changed(member: Member, change: dict[str, Any]) -> Iterator[tuple[Member, list[str], Metric]]:
    """A member with some parameters changed, unless that is no change or not possible."""
    old = member.metric.parameters
    if all(old[name] == value for name, value in change.items()):
        return
    try:
        new = member.metric.with_parameters(**change)
    except ValueError:
        return
    words = [
        parameter.label(change[parameter.name])
        for parameter in member.metric.PARAMETERS
        if parameter.name in change
        and old[parameter.name] != change[parameter.name]
        and parameter.name not in ("smoothing_value", "missing_order")
    ]
    yield member, words, new
