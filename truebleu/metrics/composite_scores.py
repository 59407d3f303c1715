"""Scores of documents and of sets of texts, which are computed from other scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from truebleu._kernel import InputError
from truebleu.metrics import registry
from truebleu.metrics.base import Corpus, Metric, Score, Signature
from truebleu.metrics.joint_counting import compute_joint_statistics
from truebleu.metrics.scores import DetailedScore
from truebleu.metrics.text_warnings import check_texts
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.system_names import name_system


class CompositeScore(DetailedScore):
    """Score computed from other scores."""

    __slots__ = ("_details", "_name", "_signature", "_value", "_warnings")

    def __init__(
        self,
        name: str,
        value: float,
        metric: Metric,
        fields: Mapping[str, str],
        details: Mapping[str, Any],
        *,
        segment: bool = False,
    ) -> None:
        """Store a score. `fields` precede the metric's fields in the signature."""
        self._name = name
        self._value = value
        metric_signature = metric.signature(segment=segment)
        signature_fields = {**fields, "metric": metric_signature.name, **metric_signature.fields}
        self._signature = Signature(metric, signature_fields, name)
        self._details = dict(details)
        self._warnings = metric.warnings

    @property
    def name(self) -> str:
        """The name of the score, such as "self-BLEU"."""
        return self._name

    @property
    def value(self) -> float:
        """The score, on the scale of the metric."""
        return self._value

    @property
    def signature(self) -> Signature:
        """The fields of the composition, followed by the fields of the metric."""
        return self._signature

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual settings of the metric."""
        return self._warnings


def document_bleu(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    documents: Iterable[Hashable],
    *,
    metric: str | Metric | None = None,
    workers: int = 1,
    check_text: bool = True,
) -> Score:
    """Return BLEU after joining the segments of each document, with spaces, into one segment.

    N-grams may cross sentence boundaries, and the brevity penalty compares document lengths. It is
    neither mteval's document score nor a mean of such scores: see `mean_document_bleu`.

    documents: the document of each segment. The segments of a document keep their order but need
        not be adjacent. They all need the same number of references.
    metric: any metric (default: `BLEU()`).
    check_text: issue `TextWarning` for suspicious text, such as text that looks tokenized.

    >>> hypotheses, references = ["a b c", "d e f", "a b"], ["a b c", "d e f", "a c"]
    >>> score = document_bleu(hypotheses, references, ["one", "one", "two"])
    >>> score.matches, score.totals
    ((7, 5, 4, 3), (8, 6, 4, 3))
    """
    metric = registry.metric("bleu" if metric is None else metric)
    joined: dict[Hashable, tuple[list[str], list[list[str]]]] = {}
    rows = list(corpus_inputs.read_segments(hypotheses, references))
    keys = argument_checks.check_segment_keys("documents", documents, len(rows))
    for number, ((text, references_of_segment), document) in enumerate(
        zip(rows, keys, strict=True), 1
    ):
        lines, columns = joined.setdefault(document, ([], [[] for _ in references_of_segment]))
        if len(columns) != len(references_of_segment):
            raise InputError(
                f"references: segment {number} has {len(references_of_segment)}, but earlier "
                f"segments of document {document!r} have {len(columns)}. All segments of a "
                "document need the same number of references."
            )
        lines.append(text)
        for column, reference in zip(columns, references_of_segment, strict=True):
            column.append(reference)
    return metric.score(
        [" ".join(lines) for lines, _ in joined.values()],
        [tuple(map(" ".join, columns)) for _, columns in joined.values()],
        workers=workers,
        check_text=check_text,
    )


def mean_document_bleu(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    documents: Iterable[Hashable],
    *,
    metric: str | Metric | None = None,
    workers: int = 1,
    check_text: bool = True,
) -> CompositeScore:
    """Return the mean of document scores, which are computed from sums as in mteval's `-d 1`.

    mteval's system score differs from this mean, because it uses sums over all documents. N-grams
    do not cross sentence boundaries; see `document_bleu` for documents as single texts.

    documents: the document of each segment.
    metric: any metric (default: `BLEU()`).
    check_text: issue `TextWarning` for suspicious text, such as text that looks tokenized.

    >>> hypotheses, references = ["a b c d", "a b d c", "a b c d"], ["a b c d"] * 3
    >>> score = mean_document_bleu(hypotheses, references, ["one", "two", "two"])
    >>> print(score, score.details()["documents"])
    mean document BLEU = 81.95 {'one': 100.0..., 'two': 63.89...}
    """
    metric = registry.metric("bleu" if metric is None else metric)
    (table,), summary = compute_joint_statistics([metric], Corpus(hypotheses, references, workers))
    if check_text:
        system = name_system(hypotheses) or "hypotheses"
        check_texts({system: summary}, references, {metric: metric.name})
    keys = argument_checks.check_segment_keys("documents", documents, len(table))
    values = {
        key: float(metric.from_statistics(totals)) for key, totals in table.parts(keys).items()
    }
    return CompositeScore(
        "mean document BLEU",
        sum(values.values()) / len(values),
        metric,
        {"documents": str(len(values))},
        {"documents": values},
    )
