"""Scores of a text by the members of the BLEU family, and tables that list them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from truebleu._kernel import Table
from truebleu.metrics.base import Metric, Score, summarize_reference_count
from truebleu.metrics.bleu import BLEU, BLEUScore
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.argument_checks import Record
from truebleu.text.corpus_inputs import Hypotheses, References
from truebleu.text.program_tokenizers import KERNEL_EQUIVALENTS
from truebleu.text.terminal_layout import format_table
from truebleu.text.tokenizers import Tokenize

if TYPE_CHECKING:
    from truebleu.bleu_family.family_member import Member

# All reference length rules of the kernel; the statistics have one column per rule.
LENGTH_RULES = (
    *("closest", "closest-first", "closest-longer", "shortest"),
    *("longest", "average", "average-truncated"),
)


class SharedCorpus:
    """Hypotheses and references with cached n-gram counts and scores."""

    def __init__(
        self,
        hypotheses: corpus_inputs.Hypotheses,
        references: corpus_inputs.References,
        workers: int = 1,
    ) -> None:
        # Read the fields now, because copies of the texts do not have them.
        self._data_fields = getattr(hypotheses, "signature_fields", None)
        self.hypotheses = segments.make_rereadable(hypotheses, copy_all=True)
        self.references = segments.make_rereadable(references, copy_all=True)
        self.workers = argument_checks.check_workers(workers)
        self._counts: dict[Any, SharedCounts] = {}
        self._max_order = 4
        self._absent_patterns: dict[str, bool] = {}
        self._scores: dict[Metric, Score] = {}

    def get_counts(
        self, tokenize: Tokenize, lowercase: bool | str, max_order: int = 4
    ) -> SharedCounts:
        """Return the n-gram counts for a tokenizer and case, up to at least order `max_order`."""
        max_order = self._max_order = max(max_order, self._max_order)
        tokenize, lowercase = self.find_equivalent_tokenizer(tokenize, lowercase)
        shared_counts = self._counts.get((tokenize, lowercase))
        if shared_counts is None or shared_counts.max_order < max_order:
            shared_counts = self._counts[tokenize, lowercase] = SharedCounts(
                self, tokenize, lowercase, max_order
            )
        return shared_counts

    def get_default_counts(self, max_order: int = 4) -> SharedCounts:
        """Return the n-gram counts for 13a, or for segments that are lists of tokens."""
        return self.get_counts("none" if self.is_pretokenized else "13a", False, max_order)

    def find_equivalent_tokenizer(
        self, tokenize: Tokenize, lowercase: bool | str
    ) -> tuple[Tokenize, bool | str]:
        """Return an equivalent kernel tokenizer and case, or the arguments if there is none."""
        if tokenize in KERNEL_EQUIVALENTS:
            name, case, excluded_pattern = KERNEL_EQUIVALENTS[tokenize]
            # The kernel can lower-case a text only once, before tokenizing it.
            is_lowercased_once = not lowercase or (not case and lowercase != "after")
            if is_lowercased_once and excluded_pattern not in self._absent_patterns:
                search, texts = re.compile(excluded_pattern).search, self._texts
                is_absent = texts is not None and not any(map(search, texts))
                self._absent_patterns[excluded_pattern] = is_absent
            if is_lowercased_once and self._absent_patterns[excluded_pattern]:
                return name, case or lowercase
        return tokenize, lowercase

    @property
    def has_several_references(self) -> bool:
        """True if any segment has more than one reference."""
        return self.get_default_counts().references != 1

    def score(self, metric: Metric) -> Score:
        """Return the same score as `metric.score`, computed from shared counts."""
        if metric not in self._scores:
            score = self._compute_score(metric)
            if self._data_fields:
                score = score.with_data_fields(self._data_fields)
            self._scores[metric] = score
        return self._scores[metric]

    def _compute_score(self, metric: Metric) -> Score:
        if isinstance(metric, BLEU):
            counts = self.get_counts(metric.tokenize, metric.lowercase, metric.max_order)
            return counts.score(metric)
        with warnings.catch_warnings():
            # The member's quirks already describe the problems that the metric would warn about.
            warnings.simplefilter("ignore")
            return metric.score(self.hypotheses, self.references, check_text=False)

    @property
    def is_pretokenized(self) -> bool:
        """True if the segments are lists of tokens instead of strings."""
        hypotheses = self.hypotheses
        return isinstance(hypotheses, list | tuple) and corpus_inputs.has_token_segments(
            tuple(hypotheses)
        )

    @cached_property
    def _texts(self) -> list[str] | None:
        """All hypotheses and references, or None if they are not strings."""
        pairs = segments.iter_segments(self.hypotheses, self.references)
        texts = [text for hypothesis, references in pairs for text in (hypothesis, *references)]
        if not all(text is None or isinstance(text, str) for text in texts):
            return None
        return [text for text in texts if isinstance(text, str)]


class SharedCounts:
    """N-gram counts of segments for one tokenizer and case, with a reference length per rule."""

    def __init__(
        self, corpus: SharedCorpus, tokenize: Tokenize, lowercase: bool | str, max_order: int
    ) -> None:
        self.max_order = max_order
        metric = BLEU(tokenize, lowercase=lowercase, max_order=max_order)
        scan = corpus_inputs.scan_corpus(
            metric.build_kernel_metric(reference_lengths=list(LENGTH_RULES)),
            corpus.hypotheses,
            corpus.references,
            tokenize=tokenize,
            lowercase=lowercase,
            workers=corpus.workers,
        )
        self.table, self.summary = scan.table()
        self.total_counts: list[int] = self.table.total().tolist()[0]
        self.references = summarize_reference_count(self.summary["references"])

    @cached_property
    def segments_without_ngrams(self) -> list[int]:
        """The number of segments without n-grams of each order."""
        first = 1 + len(LENGTH_RULES) + self.max_order
        return [self.table.values_of(first + i).count(0) for i in range(self.max_order)]

    def _get_column_indices(self, metric: BLEU) -> list[int]:
        first, orders = 1 + len(LENGTH_RULES), range(metric.max_order)
        rule = LENGTH_RULES.index(metric.length_rule)
        matches = [first + order for order in orders]
        return [0, 1 + rule, *matches, *(column + self.max_order for column in matches)]

    def score(self, metric: BLEU) -> BLEUScore:
        """Return the same score as `metric.score` for this text."""
        metric.check_summary(self.summary, ())
        row = [self.total_counts[column] for column in self._get_column_indices(metric)]
        if metric.counts_at_least_one_ngram:
            for order in range(metric.max_order):
                row[2 + metric.max_order + order] += self.segments_without_ngrams[order]
        if metric.aggregate == "corpus":
            return BLEUScore(metric, row, self.references)
        values = self.compute_segment_values(metric)
        mean = sum(values) / len(values)
        return BLEUScore(metric, row, self.references, segment=True, value=mean)

    def compute_segment_values(self, metric: BLEU) -> Sequence[float]:
        """Return the score of each segment on the metric's internal scale."""
        table = self.table.columns_of(self._get_column_indices(metric))
        if metric.counts_at_least_one_ngram:
            first = 2 + metric.max_order
            rows = [[*row[:first], *(n or 1 for n in row[first:])] for row in table.tolist()]
            table = Table.from_rows(rows, table.width)
        return metric.compute_values(table, segment=True)


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


class FamilyScores:
    """Member scores, sorted from the highest to the lowest.

    Bounded scores come first, then scores without an upper bound, then members without a score.
    """

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
    corpus.get_default_counts()
    rows = []
    for member in (selected_members := list(members)):
        try:
            rows.append(MemberScore(member, corpus.score(member.metric)))
        except (ValueError, TypeError, ArithmeticError, AssertionError, ImportError) as error:
            rows.append(MemberScore(member, None, str(error).partition("\n")[0]))
        if progress is not None:
            progress(len(rows), len(selected_members))
    return FamilyScores(rows)
