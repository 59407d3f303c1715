"""Scores of a text by the members of the BLEU family, and tables that list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from truebleu.bleu_family.shared_statistics import SharedCorpus
from truebleu.metrics.base import Score
from truebleu.text.corpus_inputs import Hypotheses, References
from truebleu.text.record import Picklable, Record
from truebleu.text.terminal_layout import format_table

if TYPE_CHECKING:
    from truebleu.bleu_family.family_member import Member


class MemberScore(Record):
    """Score of one member, or the reason why it has no score."""

    member: Member
    score: Score | None
    problem: str | None = None

    def __repr__(self) -> str:
        return f"<{self.member.name}: {self.problem or self.printed_score}>"

    @property
    def value(self) -> float | None:
        """The score, 0-100."""
        return None if self.score is None else self.score.value

    @property
    def printed_score(self) -> str:
        """The score as the original program prints it, or an empty string if there is no score."""
        return "" if self.score is None else self.member.format_score(self.score)

    @property
    def label(self) -> str:
        """The member's name, followed by "!" if the member has a known defect."""
        return f"{self.member.name} !" if self.member.defect else self.member.name

    def format_value(self, scale: int = 100) -> str:
        """Return the score with four decimal places, or a dash if there is no score.

        scale: 1 to show percentages on a 0-1 scale, with six decimal places.
        """
        if self.value is None:
            return "-"
        return f"{self.value / 100:.6f}" if scale == 1 and self.is_bounded else f"{self.value:.4f}"

    @property
    def is_bounded(self) -> bool:
        """True if the metric, like BLEU, has an upper bound."""
        return self.member.metric.bound is not None

    @property
    def notes(self) -> str:
        """The reason for a missing score, or the differences from sacreBLEU's default."""
        return self.problem or ", ".join(self.member.differences) or "the default"

    def to_dict(self) -> dict[str, Any]:
        """Return the member, score and differences as JSON-compatible values."""
        member = self.member
        fields: dict[str, Any] = {"member": member.name, "title": member.title, "score": self.value}
        if self.score is None:
            return {**fields, "problem": self.problem}
        return {
            **fields,
            "printed": self.printed_score,
            "scale": member.scale,
            "bounded": self.is_bounded,
            "defect": member.defect,
            "differences": member.differences,
            "signature": str(self.score.signature),
        }


class FamilyScores(Picklable):
    """Member scores, sorted from the highest to the lowest.

    Bounded scores come first, then scores without an upper bound, then members without a score.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[MemberScore]) -> None:
        self.rows = sorted(
            rows, key=lambda row: (row.value is None, not row.is_bounded, -(row.value or 0.0))
        )

    def __iter__(self) -> Iterator[MemberScore]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> MemberScore:
        for row in self.rows:
            if row.member.name == name:
                return row
        raise KeyError(f"member '{name}' is not among the scores")

    def __repr__(self) -> str:
        # `print` shows the differences in full.
        return "\n".join(
            line if len(line) <= 80 else f"{line[:79]}…" for line in str(self).splitlines()
        )

    def __str__(self) -> str:
        paragraphs = [format_table(self.format_rows(bounded=True), right=(1, 2))]
        if not all(row.is_bounded for row in self.rows):
            paragraphs += [
                "\nWithout an upper bound:",
                format_table(self.format_rows(bounded=False), right=(1, 2)),
            ]
        return "\n".join([*paragraphs, *self.list_defects()])

    def format_rows(
        self, *, bounded: bool, systems: Mapping[str, FamilyScores] | None = None, scale: int = 100
    ) -> list[list[str]]:
        """Return a header and one row per member: name, score, printed score and differences.

        bounded: whether to list the members whose scores have an upper bound, or the others.
        Members with a known defect are marked.
        systems: the scores of several systems, shown instead of the score and the printed score.
        scale: 1 to show percentages on a 0-1 scale.
        """
        score_names = [f"0-{scale}" if bounded else "score", "printed score"]
        table = [["member", *(systems or score_names), "differences"]]
        for row in (one for one in self.rows if one.is_bounded == bounded):
            printed = row.printed_score
            printed = printed if len(printed) < 12 else f"{printed[:9]}..."
            values = [row.format_value(scale), printed]
            if systems is not None:
                values = [one[row.member.name].format_value(scale) for one in systems.values()]
            table.append([row.label, *values, row.notes])
        return table

    def list_defects(self) -> list[str]:
        """Return one line per member with a known defect."""
        return [f"! {row.member.name}: {row.member.defect}" for row in self if row.member.defect]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one dictionary per member."""
        return [row.to_dict() for row in self.rows]


def score_members(
    members: Iterable[Member],
    hypotheses: Hypotheses,
    references: References,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> FamilyScores:
    """Return the scores of the given members. Raise InputError if the input itself is invalid."""
    corpus = SharedCorpus(hypotheses, references, workers)
    # Count n-grams first, so that invalid input raises an error only once, not once per member.
    corpus.get_counts("none" if corpus.is_pretokenized else "13a", False)
    rows = []
    for member in (selected_members := list(members)):
        try:
            rows.append(MemberScore(member, corpus.score(member.metric)))
        except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError) as error:
            rows.append(MemberScore(member, None, str(error).partition("\n")[0]))
        if progress is not None:
            progress(len(rows), len(selected_members))
    return FamilyScores(rows)
