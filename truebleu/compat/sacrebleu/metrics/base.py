"""Score, Signature and Metric: what every metric shares, and what new metrics derive from."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from itertools import islice

from .._messages import warn_of_tokenized
from ..version import __version__
from .engine import KeptReferences, References
from .helpers import sum_of_lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Generic, TypeVar

    from .engine import Counts, Engine, Served

    S = TypeVar("S")
else:
    from truebleu.metrics.table_metric import Generic, S


class Score:
    """A metric's name and its value, 0-100."""

    def __init__(self, name: str, score: float) -> None:
        self.name = name
        self.score = score
        # The mean of bootstrap resamples and half the width of their 95% interval; the mean is
        # negative where there was no resampling.
        self._mean = -1.0
        self._ci = -1.0
        # Printed behind the number.
        self._verbose = ""

    def format(
        self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False
    ) -> str:
        """The score with `width` digits after the point: a line, or JSON.

        score_only: the number alone, whatever the other arguments.
        signature: the printed signature of the metric; JSON has each of its fields too.
        """
        number = f"{self.score:.{width}f}"
        fields: dict[str, Any] = {"name": self.name, "score": float(number), "signature": signature}
        if self._mean > 0:
            mean, half = f"{self._mean:.{width}f}", f"{self._ci:.{width}f}"
            confidence = f"μ = {mean} ± {half}"
            fields["confidence_mean"] = float(mean)
            fields["confidence_var"] = float(half)
            fields["confidence"] = confidence
            number += f" ({confidence})"
        if score_only:
            return number
        if is_json:
            import json

            if self._verbose:
                fields["verbose_score"] = self._verbose
            for field in signature.split("|"):
                key, value = field.split(":")
                fields[key] = value
            return json.dumps(fields, indent=1, ensure_ascii=False)
        name = f"{self.name}|{signature}" if signature else self.name
        return f"{name} = {number} {self._verbose}" if self._verbose else f"{name} = {number}"

    def estimate_ci(self, scores: Sequence[Score]) -> None:
        """Sets the mean and the 95% interval from resampled scores."""
        from truebleu.significance.sacrebleu import Resampled

        resampled = Resampled.of([score.score for score in scores])
        self._mean, self._ci = resampled.exact_estimate()

    def __repr__(self) -> str:
        return self.format()


class Signature:
    """The settings behind a score, so that it can be computed again.

    args: the attributes of the metric.
    """

    def __init__(self, args: Mapping[str, Any]) -> None:
        if "num_refs" not in args:
            raise ValueError("Number of references unknown, please evaluate the metric first.")
        references = args["num_refs"]
        self._abbr: dict[str, str] = {}
        self.info: dict[str, Any] = {}
        self._add(
            version=("v", __version__),
            nrefs=("#", "var" if references == -1 else references),
            bs=("bs", args.get("n_bootstrap")),
            ar=("ar", None),
            seed=("rs", args.get("seed")),
            test=("t", args.get("test_set")),
            lang=("l", args.get("langpair")),
            origlang=("o", args.get("origlang")),
            subset=("S", args.get("subset")),
        )

    def _add(self, **fields: tuple[str, Any]) -> None:
        """Adds fields of a metric's own, each with its short name and its value."""
        for name, (short, value) in fields.items():
            self._abbr[name] = short
            self.info[name] = value

    def format(self, short: bool = False) -> str:
        """The fields that have a value, the version last."""
        fields = []
        for name in [*(name for name in self.info if name != "version"), "version"]:
            value = self.info[name]
            if value is None:
                continue
            if isinstance(value, bool):
                value = "yes" if value else "no"
            fields.append(f"{self._abbr[name] if short else name}:{value}")
        return "|".join(fields)

    def update(self, key: str, value: Any) -> None:
        """Sets a field."""
        self.info[key] = value

    def __repr__(self) -> str:
        return self.format()


class Metric(Generic[S], metaclass=ABCMeta):
    """A metric: statistics of each segment, their sum, a score of the sum.

    A subclass defines how a line is prepared, which facts about references are kept, what is
    counted in a segment, and how a sum of counts becomes a score. Where it leaves all of these to
    BLEU, CHRF or TER, the kernel counts instead, with the same results.
    """

    _SIGNATURE_TYPE: type[Signature] = Signature

    # Set for classes that the kernel counts for.
    _SERVED: ClassVar[Served | None] = None

    # Set when references are read: the number per segment, -1 if it varies.
    num_refs: int

    def __init__(self) -> None:
        self._ref_cache: Any = None
        # True for no warning of text that looks tokenized.
        self._force = True
        # For the signature, once scores were resampled.
        self.n_bootstrap: int | None = None
        self.seed: str | None = None

    def _check_sentence_score_args(self, hyp: Any, refs: Any) -> None:
        """TypeError unless a string and a sequence of strings were given."""
        problem = None
        if not isinstance(hyp, str):
            problem = "The argument `hyp` should be a string."
        elif isinstance(refs, str) or not isinstance(refs, Sequence):
            problem = "The argument `refs` should be a sequence of strings."
        elif not isinstance(refs[0], str) and refs[0] is not None:
            problem = "Each element of `refs` should be a string."
        if problem:
            raise TypeError(f"{type(self).__name__}: {problem}")

    def _check_corpus_score_args(self, hyps: Any, refs: Any) -> None:
        """TypeError unless these look like hypotheses and reference streams."""
        problem = None
        if not isinstance(hyps, Sequence):
            problem = "`hyps` should be a sequence of strings."
        elif not isinstance(hyps[0], str):
            problem = "Each element of `hyps` should be a string."
        elif any(line is None for line in hyps):
            problem = "Undefined line in hypotheses stream!"
        if refs is not None:
            if not isinstance(refs, Sequence):
                problem = "`refs` should be a sequence of sequence of strings."
            elif not isinstance(refs[0], Sequence):
                problem = "Each element of `refs` should be a sequence of strings."
            elif not isinstance(refs[0][0], str) and refs[0][0] is not None:
                problem = "`refs` should be a sequence of sequence of strings."
        if problem:
            raise TypeError(f"{type(self).__name__}: {problem}")

    @abstractmethod
    def _aggregate_and_compute(self, stats: list[list[Any]]) -> S:
        """The score of a corpus from the statistics of its segments."""

    @abstractmethod
    def _compute_score_from_stats(self, stats: Any) -> S:
        """The score from statistics that are summed already, in a list or an array."""

    @abstractmethod
    def _preprocess_segment(self, sent: str) -> str:
        """A line prepared for comparison: tokenized or lower-cased, as the metric needs it."""

    @abstractmethod
    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        """The facts about a segment's prepared references that counting needs."""

    @abstractmethod
    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[Any]:
        """The statistics of a segment: numbers, which add up over segments.

        hypothesis: prepared; ref_kwargs: from `_extract_reference_info`.
        """

    def _engine(self, *, scores: bool = False) -> Engine | None:
        """The kernel's metric that counts the same, and scores too; None where only Python can."""
        return self._SERVED.engine(self, scores=scores) if self._SERVED else None

    def _cache_references(self, references: Sequence[Sequence[str | None]]) -> Sequence[Any]:
        """`_extract_reference_info` of each segment, of streams cut to the shortest."""
        read = References(_streams(references))
        engine = self._engine()
        if engine is not None and read.are_text():
            self.num_refs = read.number
            return KeptReferences(self, engine, read)
        return self._extract_references(read)

    def _extract_references(self, references: References) -> list[Any]:
        """`_cache_references` in Python."""
        kept = []
        for segment in references.each():
            present = [line for line in segment if line is not None]
            prepared = [self._preprocess_segment(line) for line in present]
            kept.append(self._extract_reference_info(prepared))
        self.num_refs = references.number
        return kept

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> list[list[Any]]:
        """The statistics of each segment: a list of numbers for each.

        Without references, those that were given when the metric was made.
        """
        hypotheses, references = _lines(hypotheses), _streams(references or ())
        counts = self._count(hypotheses, references)
        if counts is not None:
            return counts.rows()
        kept: Sequence[Any]
        if references:
            kept = self._extract_references(References(references))
        elif self._ref_cache:
            kept = self._ref_cache
        else:
            raise RuntimeError("No references provided and the cache is empty.")
        statistics, tokenized = [], 0
        for hypothesis, reference in zip(hypotheses, kept, strict=False):
            if not self._force and hypothesis.endswith(" ."):
                tokenized += 1
            prepared = self._preprocess_segment(hypothesis)
            statistics.append(self._compute_segment_statistics(prepared, reference))
        warn_of_tokenized(tokenized)
        return statistics

    def _count(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
    ) -> Counts | None:
        """The statistics of each segment from the kernel; None where Python must count."""
        engine = self._engine()
        if engine is None:
            return None
        kept = self._ref_cache
        if references:
            read = References(references)
        elif isinstance(kept, KeptReferences) and kept.engine.counting == engine.counting:
            read = kept.references
        else:
            return None
        counts = engine.count(hypotheses, read)
        if counts is not None:
            if references:
                self.num_refs = read.number
            if not self._force:
                lines = islice(hypotheses, len(counts))
                warn_of_tokenized(sum(line.endswith(" .") for line in lines))
        return counts

    def _counted(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
    ) -> tuple[Sequence[Any] | Counts, S]:
        """The statistics of a corpus, and its score."""
        counts = self._count(hypotheses, references) if self._engine(scores=True) else None
        if counts is not None:
            return counts, self._compute_score_from_stats(counts.total())
        rows = self._extract_corpus_statistics(hypotheses, references)
        return rows, self._aggregate_and_compute(rows)

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> S:
        """The score of one segment against its references."""
        self._check_sentence_score_args(hypothesis, references)
        engine = self._engine()
        row = None if engine is None else engine.count_one(hypothesis, references)
        if row is None:
            streams = [[reference] for reference in references]
            return self._aggregate_and_compute(
                self._extract_corpus_statistics([hypothesis], streams)
            )
        self.num_refs = sum(reference is not None for reference in references)
        return self._aggregate_and_compute([row])

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]] | None,
        n_bootstrap: int = 1,
    ) -> S:
        """The score of a corpus.

        hypotheses: n strings.
        references: a stream of n strings or None for each reference, cut to the shortest; None
            for those that were given when the metric was made.
        n_bootstrap: resamples for a 95% confidence interval; none if it is not above 1.
        """
        self._check_corpus_score_args(hypotheses, references)
        statistics, score = self._counted(hypotheses, references)
        if n_bootstrap > 1:
            from .. import _resampling

            self.n_bootstrap = n_bootstrap
            self.seed = _resampling.add_interval(score, statistics, self, n_bootstrap)
        return score

    def get_signature(self) -> Signature:
        """The signature of the last score; ValueError before there is one."""
        return self._SIGNATURE_TYPE(self.__dict__)


class SummedMetric(Metric[S]):
    """A metric that scores the sum of its statistics."""

    def _aggregate_and_compute(self, stats: list[list[Any]]) -> S:
        """The score of a corpus from the statistics of its segments."""
        return self._compute_score_from_stats(sum_of_lists(stats))


def _lines(values: Iterable[str]) -> Sequence[str]:
    """A stream that can be read more than once."""
    return values if isinstance(values, Sequence) else list(values)


def _streams(references: Iterable[Iterable[Any]]) -> Sequence[Sequence[Any]]:
    """Reference streams that can be read more than once."""
    return [_lines(stream) for stream in references]
