"""Search for the BLEU implementations and settings that produce a given score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations, pairwise, product
from math import inf
from typing import Any

from truebleu._kernel import InputError
from truebleu.bleu_family.family_catalogue import COMMON_MEMBERS, MEMBERS
from truebleu.bleu_family.family_member import Member
from truebleu.bleu_family.family_scores import SharedCorpus
from truebleu.bleu_family.published_members import RELATED_METRICS
from truebleu.metrics.base import Metric
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nist import NIST
from truebleu.text import argument_checks, segments, terminal_layout, tokenizers
from truebleu.text.argument_checks import Record
from truebleu.text.corpus_inputs import Hypotheses, References
from truebleu.text.system_names import name_references


def _vary_parameter(
    name: str, *values: object, **linked_values: object
) -> tuple[dict[str, Any], ...]:
    """Return one change per value of a parameter. Each change also sets the linked values."""
    return tuple({name: value, **linked_values} for value in values)


_TOKENIZERS = _vary_parameter("tokenize", "13a", "none", "intl", "zh", "char")
_CASES = _vary_parameter("lowercase", False, True)
_ORDERS = _vary_parameter("max_order", *range(1, 7))
_LENGTHS = (
    *_vary_parameter("tie", "shorter", "first", "longer", reference_length="closest"),
    *_vary_parameter("reference_length", "shortest", "longest", "average", "average-truncated"),
)
_SMOOTHINGS = _vary_parameter(
    "smoothing", "none", "exp", "floor", "add-k", "add-k-all", smoothing_value=None
)
_EFFECTIVE = _vary_parameter("effective_order", True, False, missing_order=None)
_AGGREGATES = _vary_parameter("aggregate", "corpus", "segments")
_BREVITY = _vary_parameter("brevity_penalty", "none")

# For these members, any two settings are varied together. For other members, only tokenizer and
# case are varied together.
_FULLY_VARIED_MEMBERS = ("sacrebleu", "sacrebleu-sentence")

_MAX_ORDER = 6

# Upper limit of the NIST scores that real systems reach.
MAX_NIST = 25

# The number of computed scores within this distance of a score shows how many matches to expect by
# chance.
CHANCE_WINDOW = 1.0

# If fewer matches than this are expected by chance, a match is probably not a coincidence.
MAX_CHANCE_MATCHES = 0.05


class Candidate(Record):
    """Score of a member, either as published or with changed settings."""

    member: Member
    changes: tuple[str, ...]
    metric: Metric
    value: float
    """The score, 0-100."""
    is_usual: bool = False
    """True if this is a member that papers often report, with its published settings."""
    reference: str | None = None
    """The name of the reference if only one of several references was used, otherwise None."""

    @property
    def differences(self) -> str:
        """The changed settings and the selected reference, or an empty string if there are none."""
        references = () if self.reference is None else (f"reference {self.reference} alone",)
        return ", ".join((*self.changes, *references))

    @property
    def name(self) -> str:
        """The member's name, followed by the changed settings and the selected reference."""
        return ", ".join((self.member.name, *filter(None, [self.differences])))

    @property
    def description(self) -> str:
        """The member's name, the changed settings and the reference, for use in a sentence."""
        return self.member.name + (f" with {self.differences}" if self.differences else "")

    @property
    def reason(self) -> str:
        """The reason why papers often report the member, or its typical use."""
        return COMMON_MEMBERS.get(self.member.name, f"use: {self.member.used}")

    def __repr__(self) -> str:
        return f"<{self.name}: {self.value}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the member, changes, score and metric as JSON-compatible values."""
        return {
            "member": self.member.name,
            "changes": list(self.changes),
            "score": self.value,
            "metric": repr(self.metric),
            "usual": self.is_usual,
            "reference": self.reference,
        }


class Identification(Record):
    """Members and settings that produce a score on a text, or the closest candidates."""

    target_score: str
    """The score to identify, with as many digits as the user gave."""
    matches: list[Candidate]
    """The matching candidates: often reported members first, members with changed settings last."""
    nearest: list[Candidate]
    """The five candidates with the closest scores, or an empty list if there are matches."""
    tried: int
    """The number of distinct computations whose results were compared with the score."""
    problems: dict[str, str]
    """The members that could not score the text, with the reasons."""
    expected_matches: float
    """The number of matches expected by chance, from the density of the computed scores."""
    has_several_references: bool
    """True if any segment has more than one reference."""

    @property
    def members(self) -> list[Candidate]:
        """The matching members with their published settings."""
        return [match for match in self.matches if not match.changes]

    @property
    def settings(self) -> list[Candidate]:
        """The matching members with one or two changed settings."""
        return [match for match in self.matches if match.changes]

    def __bool__(self) -> bool:
        return bool(self.matches)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.matches)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [*terminal_layout.wrap_text(f"{self.headline} {self.ambiguity}", 80), ""]
        for score, changes, members in self.format_rows()[1:]:
            row_lines = terminal_layout.wrap_text(f"{changes}: {members}", 78 - len(score))
            lines += [f"{score}  {row_lines[0]}"]
            lines += [" " * (len(score) + 2) + line for line in row_lines[1:]]
        summary_lines = terminal_layout.wrap_text(self.search_summary, 80)
        return "\n".join([*lines, *([""] if summary_lines else []), *summary_lines])

    @property
    def distinct_score_count(self) -> int:
        """The number of different unrounded scores among the matches."""
        values = sorted(match.value for match in self.matches)
        # Differences smaller than this may be due to single precision.
        return sum(b - a > 1e-6 * max(1.0, a) for a, b in pairwise([*values, inf]))

    @property
    def likeliest(self) -> Candidate | None:
        """The most commonly reported match, or None if papers rarely report any of the matches."""
        return self.matches[0] if self.matches and self.matches[0].is_usual else None

    @property
    def headline(self) -> str:
        """A sentence that names the most likely member, or a possible one."""
        if self.likeliest is not None:
            return (
                f"{self.target_score} is most likely {self.likeliest.description} "
                f"({self.likeliest.reason})."
            )
        if not self.matches:
            nearest = self.nearest[0]
            return (
                f"No variant of BLEU gives {self.target_score} on this text (nearest: "
                f"{nearest.value:.2f}, from {nearest.description}). {self._advice}"
            )
        verb = "matches" if len(self.matches) == 1 else "match"
        # An expected number of matches such as "about 3", "about 0.02" or "less than 0.001".
        count = self.expected_matches
        expected = f"about {count:.0f}" if count >= 1 else f"about {count:.1g}"
        expected = expected if count >= 0.001 else "less than 0.001"
        certainty = "may be" if self.expected_matches >= MAX_CHANCE_MATCHES else "is unlikely to be"
        return (
            f"{self.target_score} may be {self.matches[0].description}, which papers rarely "
            f"report; {len(self.matches)} of {self.tried:,} computations {verb}, which {certainty} "
            f"chance (matches expected by chance: {expected}). "
            f"{self._advice}"
        )

    @property
    def _advice(self) -> str:
        """Sentences with advice for scores that no common variant produces."""
        several = "" if self.has_several_references else " (sometimes several)"
        return (
            f"Papers may use other references{several}, or score another version of the text "
            "(tokenized, detokenized, lower-cased or from another checkpoint). Look for a "
            "signature in the paper."
        )

    @property
    def ambiguity(self) -> str:
        """A sentence on the other matches and how to narrow them down."""
        if not self.matches:
            return f"{self.tried:,} computations were compared with this score."
        if self.likeliest is None:
            first = self.matches[0]
            if first.changes or first.member.name not in COMMON_MEMBERS:
                return "Every match is an unusual member or has changed settings."
            return (
                f"{first.description} ({first.reason}) matches with its published settings, but "
                "papers report it for few tasks or languages."
            )
        others = self.matches[1:]
        if not others:
            text = f"None of the {self.tried - 1:,} other computations gives this score."
            if self.matches[0].reference is not None:
                text += " Pass only this reference to try all computations with it."
            return text
        members = sum(not match.changes for match in others)
        settings = len(others) - members
        parts = [terminal_layout.format_count(members, "other member")] if members else []
        if settings:
            noun = "changed setting" if members else "other changed setting"
            parts.append(terminal_layout.format_count(settings, noun))
        verb = "gives" if len(others) == 1 else "give"
        counts = f"{' and '.join(parts)} also {verb} it"
        if self.distinct_score_count == 1:
            return f"{counts}, with the same score on this text, so more digits would not help."
        return (
            f"{counts}, with {self.distinct_score_count} different scores; give more digits to "
            "rule out some of them."
        )

    def format_rows(self) -> list[list[str]]:
        """Return a header, and rows with a score, changes, and the members that produce it.

        Without matches, the rows contain the closest candidates.
        """
        members: dict[tuple[str, str], list[str]] = {}
        for match in self.matches or self.nearest:
            row = f"{match.value:.6f}", match.differences or "as published"
            members.setdefault(row, []).append(match.member.name)
        rows = [[*row, ", ".join(names)] for row, names in members.items()]
        return [["0-100", "changes", "members"], *rows]

    @property
    def search_summary(self) -> str:
        """A description of the computations tried, or an empty string if there is a match."""
        if self:
            return ""
        return (
            "Tried: every member as published; each member with another tokenizer (13a, none, "
            "intl, zh, char), case, maximum order (1 to 6), reference length, or mean of segments; "
            "sacreBLEU with two changed settings, including smoothing and effective order. "
            "Not tried: other texts, other references, subword tokenizers of models, and metrics "
            "other than BLEU, such as chrF (truebleu score -m chrf)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the matches and the extent of the search as JSON-compatible values."""
        return {
            "target_score": self.target_score,
            "answer": f"{self.headline} {self.ambiguity}",
            "likeliest": None
            if self.likeliest is None
            else {**self.likeliest.to_dict(), "reason": self.likeliest.reason},
            "different_scores": self.distinct_score_count,
            "expected_by_chance": self.expected_matches,
            "tried": self.tried,
            "members": [match.to_dict() for match in self.members],
            "settings": [match.to_dict() for match in self.settings],
            "nearest": [match.to_dict() for match in self.nearest],
            "not_tried": self.problems,
        }


@argument_checks.explain_keywords
def which(
    score: float | str,
    hypotheses: Hypotheses,
    references: References,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Identification:
    """Find the BLEU implementations and settings that produce this score on a text.

    score: the score as printed, 0-100 or 0-1. A string keeps its digits: "27.30" is more precise
        than "27.3".
    hypotheses, references, workers: see `BLEU.score`. With several references, the members that
        papers often report are also tried with each reference alone.
    progress: called with the number of finished computations and the total number of computations.

    >>> print(which("66.87", ["a b c d e"], [["a b c d f"]]).members[0].name)
    sacrebleu
    """
    if not isinstance(score, str) and not hasattr(score, "__float__"):
        raise TypeError(
            f"score: expected a number such as 27.3, found {type(score).__name__}. The score comes "
            "first: which(score, hypotheses, references)"
        )
    target, target_score = parse_printed_score(score)
    corpus = SharedCorpus(hypotheses, references, workers)
    candidates, problems = _compute_candidates(corpus, target, progress)
    if corpus.has_several_references:
        candidates += _score_single_references(corpus, references)
    return identify_score(
        target_score, candidates, problems, has_several_references=corpus.has_several_references
    )


def identify_score(
    target_score: str,
    candidates: Sequence[Candidate],
    problems: dict[str, str],
    *,
    has_several_references: bool = False,
) -> Identification:
    """Return the candidates that produce a score, or the closest candidates if none produces it."""
    target, _ = parse_printed_score(target_score)
    digits = max(0, -int(target.as_tuple().exponent))
    # A target with decimals may be on a 0-100 or a 0-1 scale.
    is_fraction = digits > 0 and target <= 1
    scales = (1, 100) if digits > 0 and target <= 2 else (1,)
    value = float(target * 100 if is_fraction else target)
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys([*COMMON_MEMBERS, *MEMBERS]))}
    matches = sorted(
        (
            candidate
            for candidate in candidates
            if any(Decimal(f"{candidate.value / scale:.{digits}f}") == target for scale in scales)
        ),
        key=lambda candidate: (
            not candidate.is_usual,
            candidate.reference is not None,
            len(candidate.changes),
            ranks[candidate.member.name],
        ),
    )
    nearest: list[Candidate] = []
    if not matches:
        # The scores of related metrics, such as NIST, are close to a BLEU score only by chance.
        variants = [one for one in candidates if not isinstance(one.metric, RELATED_METRICS)]
        nearest = sorted(
            variants or candidates, key=lambda candidate: abs(candidate.value - value)
        )[:5]
    # The average number of candidates per rounded score, for scores near `value`.
    rounding_width = 10.0 ** int(target.as_tuple().exponent) * (100 if is_fraction else 1)
    window = max(CHANCE_WINDOW, rounding_width)
    near_count = sum(abs(candidate.value - value) <= window for candidate in candidates)
    expected_matches = near_count * rounding_width / (2 * window)
    return Identification(
        target_score,
        matches,
        nearest,
        len(candidates),
        problems,
        expected_matches,
        has_several_references,
    )


def parse_printed_score(score: float | str) -> tuple[Decimal, str]:
    """Return a printed score as a number and as text. Raise ValueError if it is invalid."""
    text = str(score).strip().removesuffix("%").strip()
    try:
        argument_checks.parse_number(text)
        value = Decimal(text)
    except ValueError:
        value = Decimal("nan")
    if not value.is_finite() or "e" in text.lower():
        raise ValueError(f"invalid score: '{score}' (expected a number such as 27.3 or 0.2731)")
    if not 0 <= value <= 100:
        raise ValueError(f"invalid score: '{score}' (BLEU is between 0 and 100, or 0 and 1)")
    return value, text


def _compute_candidates(
    corpus: SharedCorpus, target: Decimal, progress: Callable[[int, int], None] | None
) -> tuple[list[Candidate], dict[str, str]]:
    """Return all candidates, published members first, and the problems by member name.

    NIST is skipped if the target is outside its range.
    """
    matches: list[Candidate] = []
    problems: dict[str, str] = {}
    values: dict[object, float] = {}
    corpus.get_default_counts(_MAX_ORDER)
    usual_names = _list_usual_members(corpus)
    variants: list[tuple[Member, list[str], Metric]] = [
        (member, [], member.metric) for member in MEMBERS.values()
    ]
    variants += _vary_members(has_several_references=corpus.has_several_references)
    seen: set[object] = set()
    values_by_member: dict[str, list[float]] = {}
    for index, (member, changes, metric) in enumerate(variants):
        if progress is not None:
            progress(index, len(variants))
        if isinstance(metric, NIST) and not 1 <= target <= MAX_NIST:
            continue
        key = _make_computation_key(metric, corpus)
        if changes and key in seen:
            continue
        # Programs with the same formula may print different last digits.
        value_key = key if changes else (key, metric.parameters.get("arithmetic"))
        if value_key not in values:
            try:
                values[value_key] = corpus.score(metric).value
            except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError) as error:
                if not changes:
                    problems[member.name] = str(error).partition("\n")[0]
                continue
        seen.add(key)
        # Skip changes that do not affect this text's score.
        if changes and any(
            abs(values[value_key] - value) < 1e-9 for value in values_by_member.get(member.name, ())
        ):
            continue
        values_by_member.setdefault(member.name, []).append(values[value_key])
        is_usual = not changes and member.name in usual_names
        matches.append(Candidate(member, tuple(changes), metric, values[value_key], is_usual))
    if not matches:
        raise InputError(f"no family member can score this text: {next(iter(problems.values()))}")
    return matches, problems


def _list_usual_members(corpus: SharedCorpus) -> list[str]:
    """Return the members that papers often report for text in the language of the references.

    Means of segment scores are excluded, because many of their variants give similar scores.
    """
    text = corpus.get_default_counts().summary["reference_text"]
    unsplit_scripts = [
        script
        for script, properties in tokenizers.UNSPLIT_SCRIPTS.items()
        if text["scripts"].get(script, 0) > properties.share * text["characters"]
    ]
    is_usual_by_name = {
        "sacrebleu-zh": unsplit_scripts == ["han"],
        "sacrebleu-char": bool(unsplit_scripts),
    }
    return [
        name
        for name in COMMON_MEMBERS
        if is_usual_by_name.get(name, True)
        and MEMBERS[name].metric.parameters.get("aggregate") != "segments"
    ]


def _score_single_references(corpus: SharedCorpus, references: References) -> list[Candidate]:
    """Return the scores, with each reference alone, of the members that papers often report."""
    columns = segments.split_reference_columns(corpus.hypotheses, corpus.references)
    names = name_references(references, len(columns))
    candidates = []
    for name, column in zip(names, columns, strict=True):
        if not segments.is_file(column) and any(reference is None for reference in column):
            continue
        single_references = (
            column if segments.is_file(column) else [(reference,) for reference in column]
        )
        single_corpus = SharedCorpus(corpus.hypotheses, single_references, corpus.workers)
        for member_name in _list_usual_members(corpus):
            member = MEMBERS[member_name]
            try:
                value = single_corpus.score(member.metric).value
            except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError):
                continue  # The member cannot score this text.
            candidates.append(Candidate(member, (), member.metric, value, True, name))
    return candidates


def _make_computation_key(metric: Metric, corpus: SharedCorpus) -> object:
    """Return a key that is equal for metrics whose scores differ only in scale or rounding."""
    if not isinstance(metric, BLEU):
        return metric
    parameters = {
        **metric.parameters,
        "published_scale": None,
        "arithmetic": None,
        "effective_order": None,
        "missing_order": metric.resolve_missing_order(segment=metric.aggregate == "segments"),
        "smoothing_value": metric.smoothing_value,
    }
    parameters["tokenize"], parameters["lowercase"] = corpus.find_equivalent_tokenizer(
        metric.tokenize, metric.lowercase
    )
    if not corpus.has_several_references:
        parameters["reference_length"] = parameters["tie"] = None
    return tuple(parameters.values())


def _vary_members(*, has_several_references: bool) -> Iterator[tuple[Member, list[str], Metric]]:
    """Yield variants of the members: first with one changed setting, then with two."""
    single_changes = [
        *_TOKENIZERS,
        *_CASES,
        *_ORDERS,
        *_AGGREGATES,
        *(_LENGTHS if has_several_references else ()),
    ]
    all_changes = [*single_changes, *_SMOOTHINGS, *_EFFECTIVE, *_BREVITY]
    for member in MEMBERS.values():
        if not isinstance(member.metric, BLEU) and member.metric.parameters["tokenize"] == "none":
            for change in _TOKENIZERS[:3]:
                yield from _apply_change(member, change)
    # Users usually start from sacreBLEU and change its settings, so variants are described as
    # changes to sacreBLEU's settings where possible.
    members = [member for member in MEMBERS.values() if isinstance(member.metric, BLEU)]
    members.sort(key=lambda member: not member.name.startswith("sacrebleu"))
    # Segment means are computed in Python, which is slow, so fewer changes are tried.
    few_changes = [change for change in single_changes if "max_order" not in change]
    for member in members:
        is_segment_mean = member.metric.parameters["aggregate"] == "segments"
        changes = few_changes if is_segment_mean else single_changes
        for change in all_changes if member.name in _FULLY_VARIED_MEMBERS else changes:
            yield from _apply_change(member, change)
    for member in members:
        pairs: Iterable[tuple[dict[str, Any], ...]] = product(_TOKENIZERS, _CASES)
        if member.name in _FULLY_VARIED_MEMBERS:
            pairs = combinations(all_changes, 2)
        for first, second in pairs:
            if first.keys() != second.keys():
                yield from _apply_change(member, {**first, **second})


def _apply_change(
    member: Member, change: dict[str, Any]
) -> Iterator[tuple[Member, list[str], Metric]]:
    """Yield the member with changed parameters, unless the change has no effect or is invalid."""
    old = member.metric.parameters
    if all(old[name] == value for name, value in change.items()):
        return
    try:
        new = member.metric.with_parameters(**change)
    except ValueError:
        return
    descriptions = [
        parameter.format_label(change[parameter.name])
        for parameter in member.metric.PARAMETERS
        if parameter.name in change
        and old[parameter.name] != change[parameter.name]
        and parameter.name not in ("smoothing_value", "missing_order")
    ]
    yield member, descriptions, new
