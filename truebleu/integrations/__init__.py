"""Integrations with training loops and evaluation frameworks: one thin module per framework.

Importing this package does not import any framework, and each integration requires only its own
framework. `docs/integrations.md` shows examples; use `truebleu.Accumulator` without a framework.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from truebleu.metrics import registry
from truebleu.metrics.accumulator import Accumulator
from truebleu.metrics.base import Metric, Score
from truebleu.text.segments import check_segment_counts


@contextmanager
def require_package(package: str, feature: str, pip_name: str | None = None) -> Iterator[None]:
    """Raise ImportError with installation advice if a framework is not installed.

    feature: the feature that requires the package. pip_name: the argument of pip, if it is not the
        package name.

    >>> with require_package("no-such-host", "this example"):
    ...     import no_such_host
    Traceback (most recent call last):
    ImportError: this example needs no-such-host, which is not installed: pip install no-such-host
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # If a dependency of the framework is missing, the framework's own error is more helpful.
        if (error.name or "").partition(".")[0] != package.replace("-", "_").lower():
            raise
        raise ImportError(
            f"{feature} needs {package}, which is not installed: pip install {pip_name or package}",
            name=error.name,
        ) from None


def resolve_metric(metric: Metric | str | None, parameters: Mapping[str, Any]) -> Metric[Any]:
    """Return the named metric with the parameters, or the metric that was passed (default: BLEU).

    >>> resolve_metric("chrf", {"word_order": 2})
    CHRF(word_order=2)
    """
    return registry.metric("bleu" if metric is None else metric, **parameters)


def get_metric_name(metric: Metric | str | None, resolved_metric: Metric[Any]) -> str:
    """Return the metric name to show in a framework: the name that was passed or registered.

    >>> get_metric_name("mteval-v13a", resolve_metric("mteval-v13a", {}))
    'mteval-v13a'
    >>> get_metric_name(None, resolve_metric("chrf", {"word_order": 2}))
    'chrf++'
    """
    if isinstance(metric, str) and not set(metric) & set(":| "):
        return metric.lower()
    for name, (location, parameters) in registry.METRICS.items():
        is_same_class = location.endswith(f":{type(resolved_metric).__name__}")
        if is_same_class and type(resolved_metric)(**parameters) == resolved_metric:
            return name
    return resolved_metric.name.lower()


def as_segment_references(segments: Sequence[Any]) -> list[Any]:
    """Convert lists of references to tuples, so that metrics do not read them as streams."""
    return [tuple(refs) if isinstance(refs, list) else refs for refs in segments]


def score_corpus(
    metric: Metric[Any],
    hypotheses: Sequence[str],
    references: Sequence[Any],
    sources: Sequence[str | None] | None = None,
) -> Score:
    """Return the corpus score of texts with one or more references per segment.

    sources: n strings, passed only to metrics that read sources. A list that contains only None
        is treated as missing.

    >>> float(score_corpus(resolve_metric("chrf", {}), ["a b", "b"], [["a b", "a"], ["b", "c"]]))
    100.0
    """
    present_sources = sources if sources and any(source is not None for source in sources) else None
    options: Any = {"sources": present_sources} if metric.NEEDS_SOURCE else {}
    options["check_text"] = False
    result: Score = metric.score(hypotheses, as_segment_references(references), **options)
    return result


class RunningScore:
    """Corpus score that is updated batch by batch.

    Statistics are accumulated if possible. `Accumulator` rejects metrics that read sources, and
    metrics whose scores cannot be computed from sums; for these, the text is stored instead.
    """

    def __init__(self, metric: Metric[Any]) -> None:
        self.metric = metric
        self.reset()

    def reset(self) -> None:
        """Discard all text and statistics."""
        is_additive = not (self.metric.NEEDS_SOURCE or self.metric.non_additive_reason)
        self._accumulator = Accumulator(self.metric) if is_additive else None
        self._texts: list[list[Any]] = []

    def update(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Any],
        sources: Sequence[str] | None = None,
    ) -> None:
        """Add a batch: n hypotheses, one or more references for each, and n sources if present.

        Raises InputError, and adds nothing, if the lengths differ.
        """
        if self._accumulator is not None:
            self._accumulator.update(hypotheses, references)
            return
        lengths = {"hypotheses": len(hypotheses), "references": len(references)}
        lengths |= {} if sources is None else {"sources": len(sources)}
        check_segment_counts(lengths)
        segment_sources = [None] * len(hypotheses) if sources is None else sources
        self._texts += map(list, zip(hypotheses, references, segment_sources, strict=True))

    def compute(self) -> Score:
        """Return the score of all text so far. Raises InputError if there is no text."""
        if self._accumulator is not None:
            return self._accumulator.compute()
        columns: Any = zip(*self._texts, strict=True) if self._texts else [()] * 3
        return score_corpus(self.metric, *columns)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, which includes the metric, as JSON-compatible values."""
        if self._accumulator is not None:
            return self._accumulator.state_dict()
        return {"metric": str(self.metric), "texts": self._texts}

    def load(self, state: Mapping[str, Any]) -> Self:
        """Add a state that the `state_dict` method of another object returned."""
        if self._accumulator is not None:
            self._accumulator.merge(Accumulator.from_state_dict(state))
        else:
            self._texts += state["texts"]
        return self
