"""Score, Signature and Metric: what every metric shares, and what new metrics derive from."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from itertools import islice

from .._messages import logger
from ..version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .engine import Counts, Engine

# Below 100 lines that end in " .", a text may be what it seems.
_TOKENIZED_LINES = 100


class Score:
    """A metric's name and its value, 0-100."""

    def __init__(self, name: str, score: float) -> None:
        self.name = name
        self.score = score
        # The mean of bootstrap resamples and half the width of their 95% interval; the mean is
        # negative where there was no resampling.
        self._mean = -1.0
        self._ci = -1.0
        # What is printed behind the number.
        self._verbose = ""

    def format(
        self,
        width: int = 2,
        score_only: bool = False,
        signature: str = "",
        is_json: bool = False,
    ) -> str:
        """The score with `width` digits after the point: a line, or JSON.

        score_only: the number alone, whatever else is asked for.
        signature: the metric's signature in print; JSON has each of its fields too.
        """
        number = f"{self.score:.{width}f}"
        fields: dict[str, Any] = {
            "name": self.name,
            "score": float(number),
            "signature": signature,
        }
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
        """Takes the mean and the 95% interval of resampled scores for this score's own."""
        import statistics

        values = sorted(score.score for score in scores)
        if len(set(map(type, values))) > 1:
            # Metrics return 0.0 where nothing can be divided, a Python number among NumPy's.
            values = list(map(float, values))
        # One in forty is cut at each end.
        cut = len(values) // 40
        self._ci = 0.5 * (values[-1 - cut] - values[cut])
        self._mean = statistics.mean(values)

    def __repr__(self) -> str:
        return self.format()


class Signature:
    """What a score was computed with, so that it can be computed again.

    args: the attributes of the metric.
    """

    def __init__(self, args: Mapping[str, Any]) -> None:
        if "num_refs" not in args:
            raise ValueError("Number of references unknown, please evaluate the metric first.")
        self._abbr = {
            "version": "v",
            "nrefs": "#",
            "test": "t",
            "lang": "l",
            "subset": "S",
            "origlang": "o",
            "bs": "bs",
            "ar": "ar",
            "seed": "rs",
        }
        references = args["num_refs"]
        self.info: dict[str, Any] = {
            "version": __version__,
            "nrefs": "var" if references == -1 else references,
            "bs": args.get("n_bootstrap"),
            "ar": None,
            "seed": args.get("seed"),
            "test": args.get("test_set"),
            "lang": args.get("langpair"),
            "origlang": args.get("origlang"),
            "subset": args.get("subset"),
        }

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

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return self.format()


class Metric(metaclass=ABCMeta):
    """A metric: statistics of each segment, their sum, a score of the sum.

    A subclass says how a line is prepared, what is kept of references, what is counted in a
    segment, and how a sum of counts becomes a score. Where it leaves all of these to BLEU, CHRF or
    TER as they are, the kernel counts in their stead, and the same.
    """

    _SIGNATURE_TYPE: type[Signature] = Signature

    # Set when references are read: how many each segment has, -1 if not all have the same number.
    num_refs: int

    def __init__(self) -> None:
        self._ref_cache: Any = None
        # Whether text that looks tokenized goes without a warning.
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
        """TypeError unless hypotheses and reference streams look like such."""
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
    def _aggregate_and_compute(self, stats: list[list[Any]]) -> Any:
        """The score of a corpus from the statistics of its segments."""

    @abstractmethod
    def _compute_score_from_stats(self, stats: Any) -> Any:
        """The score from statistics that are summed already, in a list or an array."""

    @abstractmethod
    def _preprocess_segment(self, sent: str) -> str:
        """A line as it is compared: tokenized, lower-cased, as the metric has it."""

    @abstractmethod
    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        """What is needed of a segment's references, which are prepared already."""

    @abstractmethod
    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[Any]:
        """The statistics of a segment from its prepared hypothesis and what was kept of references.

        They are numbers, which add up over segments.
        """

    def _engine(self) -> Engine | None:
        """The kernel's metric that counts what this one does; None where only Python can."""
        return None

    def _scorer(self) -> Engine | None:
        """The kernel's metric that also scores what this one does; None where only Python can."""
        return None

    def _aggregates_itself(self) -> bool:
        """Whether more is done to aggregate statistics than to add them."""
        return True

    def _cache_references(self, references: Sequence[Sequence[str | None]]) -> Sequence[Any]:
        """What `_extract_reference_info` keeps of each segment, of streams cut to the shortest."""
        references = _streams(references)
        engine = self._engine()
        if engine is not None:
            from .engine import KeptReferences, References

            read = References(references)
            if read.are_text():
                self.num_refs = read.number
                return KeptReferences(self, engine, read)
        return self._extract_references(references)

    def _extract_references(self, references: Sequence[Sequence[str | None]]) -> list[Any]:
        """`_cache_references` in Python."""
        kept, numbers = [], set()
        for segment in zip(*references, strict=False):
            present = [line for line in segment if line is not None]
            numbers.add(len(present))
            prepared = [self._preprocess_segment(line) for line in present]
            kept.append(self._extract_reference_info(prepared))
        self.num_refs = numbers.pop() if len(numbers) == 1 else -1
        return kept

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> list[list[Any]]:
        """The statistics of each segment: a list of numbers a segment.

        Without references, those that were given when the metric was made.
        """
        hypotheses, references = _lines(hypotheses), _streams(references or ())
        counts = self._count(hypotheses, references)
        if counts is not None:
            return counts.rows()
        kept: Sequence[Any]
        if references:
            kept = self._extract_references(references)
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
        _warn_of_tokenized(tokenized)
        return statistics

    def _count(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
    ) -> Counts | None:
        """The statistics of each segment from the kernel; None where Python must count."""
        engine = self._engine()
        if engine is None:
            return None
        from .engine import KeptReferences, References

        if references:
            read = References(references)
        elif isinstance(self._ref_cache, KeptReferences) and self._ref_cache.engine == engine:
            read = self._ref_cache.references
        else:
            return None
        counts = engine.count(hypotheses, read)
        if counts is not None:
            if references:
                self.num_refs = read.number
            if not self._force:
                lines = islice(hypotheses, len(counts))
                _warn_of_tokenized(sum(line.endswith(" .") for line in lines))
        return counts

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> Any:
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
    ) -> Any:
        """The score of a corpus.

        hypotheses: n strings.
        references: a stream of n strings or None for each reference, cut to the shortest; None
            for those that were given when the metric was made.
        n_bootstrap: resamples for a 95% confidence interval; none if it is not above 1.
        """
        self._check_corpus_score_args(hypotheses, references)
        statistics: Any = self._count(hypotheses, references)
        if statistics is None:
            statistics = self._extract_corpus_statistics(hypotheses, references)
            score = self._aggregate_and_compute(statistics)
        elif self._aggregates_itself():
            statistics = statistics.rows()
            score = self._aggregate_and_compute(statistics)
        else:
            score = self._compute_score_from_stats(statistics.total())
        if n_bootstrap > 1:
            from .. import significance

            self.n_bootstrap = n_bootstrap
            found = significance.confidence(statistics, self, n_bootstrap)
            if found is None:
                self.seed, scores = significance._bootstrap_resample(statistics, self, n_bootstrap)
                score.estimate_ci(scores)
            else:
                self.seed, score._mean, score._ci = found
        return score

    def get_signature(self) -> Signature:
        """What the last score was computed with; ValueError before there is one."""
        return self._SIGNATURE_TYPE(self.__dict__)


def _lines(values: Iterable[str]) -> Sequence[str]:
    """A stream that can be read twice."""
    return values if isinstance(values, Sequence) else list(values)


def _streams(references: Iterable[Iterable[Any]]) -> Sequence[Sequence[Any]]:
    """Reference streams that can be read twice."""
    return [_lines(stream) for stream in references]


def _warn_of_tokenized(lines: int) -> None:
    if lines < _TOKENIZED_LINES:
        return
    # The words are sacreBLEU's: people look for them.
    logger().warning("That's 100 lines that end in a tokenized period ('.')")
    logger().warning(
        "It looks like you forgot to detokenize your test data, which may hurt your score."
    )
    logger().warning(
        "If you insist your data is detokenized, or don't care, "
        "you can suppress this message with the `force` parameter."
    )
