"""The options of resampling, and scores that have an interval."""

from __future__ import annotations

from truebleu.cli import options as shared
from truebleu.metric import Score

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from truebleu.metric import Signature
    from truebleu.significance import Interval

RESAMPLES = 1000
SEED = 12345
LEVEL = 0.95
# More would be a slip of the finger.
MOST_SAMPLES = 10_000_000
samples = shared.whole_number(1, MOST_SAMPLES)


def add_confidence(group: argparse._ArgumentGroup, text: str) -> None:
    """Adds the number of resamples for intervals."""
    group.add_argument(
        *("-ci", "--confidence"), metavar="N", nargs="?", type=samples, const=RESAMPLES, help=text
    )
    group.add_argument(
        *("-cin", "--confidence-n"), metavar="N", type=samples, help="the same, with --confidence"
    )


def add_level_and_seed(group: argparse._ArgumentGroup, what: str) -> None:
    """Adds the level of intervals, and the seed."""
    group.add_argument(
        "--level", metavar="X", type=_level, default=LEVEL, help=f"of {what} ({LEVEL})"
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=_seed,
        default=SEED,
        help=f"of random numbers ({SEED}); none for another each time",
    )


def resamples(options: argparse.Namespace) -> int | None:
    """How many resamples there should be for intervals; None if it was not said."""
    number: int | None = options.confidence
    if options.confidence_n is None:
        return number
    if number not in (None, RESAMPLES, options.confidence_n):
        raise shared.UsageError("--confidence and --confidence-n name different numbers")
    return int(options.confidence_n)


def _level(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        level = float(text)
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise ArgumentTypeError(f"'{text}' is not a number between 0 and 1")
    return level


def _seed(text: str) -> int | None:
    if text.lower() == "none":
        return None
    return shared.whole_number(0, 2**128 - 1)(text)


class Estimated(Score):
    """A score that has an interval: how much it depends on which segments were scored."""

    __slots__ = ("_score", "interval")

    def __init__(self, score: Score, interval: Interval) -> None:
        self._score = score
        self.interval = interval

    @property
    def known(self) -> bool:
        """Whether there is an interval: one segment has none."""
        return not self.interval.note.startswith("one segment")

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self._score.name

    @property
    def value(self) -> float:
        """The score itself."""
        return self._score.value

    @property
    def verbose(self) -> str:
        """What sacreBLEU prints behind the number."""
        return self._score.verbose

    @property
    def fraction(self) -> float:
        """The score between 0 and 1."""
        return self._score.fraction

    @property
    def signature(self) -> Signature:
        """The score's, with resamples and seed."""
        interval = self.interval
        return self._score.signature.resampled(bs=interval.resamples, seed=interval.seed)

    def details(self) -> dict[str, Any]:
        """What the score was made of, and its interval."""
        interval = self.interval
        return {
            **self._score.details(),
            "low": interval.low if self.known else None,
            "high": interval.high if self.known else None,
            "level": interval.level,
        }

    def to_dict(self) -> dict[str, Any]:
        """The score's, with sacreBLEU's keys for its confidence behind the signature."""
        mean, half = self.interval.mean, self.interval.half_width
        plain = super().to_dict()
        first = {key: plain.pop(key) for key in ("name", "score", "signature")}
        if not self.known:
            return {**first, **plain}
        return {
            **first,
            "confidence_mean": mean,
            "confidence_var": half,
            "confidence": f"μ = {mean:.2f} ± {half:.2f}",
            **plain,
        }
