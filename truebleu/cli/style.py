"""How scores are written: how many digits they have, and how long signatures are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from truebleu.metrics.base import Signature


class Style:
    """How scores are written.

    width: digits after the point; None for what suits the format.
    score_only: nothing but scores.
    short: with short signatures.
    """

    __slots__ = ("score_only", "short", "width")

    def __init__(self, options: argparse.Namespace) -> None:
        self.width: int | None = options.width
        self.score_only: bool = getattr(options, "score_only", False)
        self.short: bool = options.short

    @property
    def digits(self) -> int:
        """Digits after the point for a person."""
        return 1 if self.width is None else self.width

    def rounded(self, value: float, usual: int = 1) -> str:
        """A number for a person, with so many digits unless another number was asked for."""
        return f"{value:.{usual if self.width is None else self.width}f}"

    def exact(self, value: float) -> str:
        """A number for a program: all of its digits unless told otherwise."""
        return repr(value) if self.width is None else self.rounded(value)

    def signed(self, name: str, signature: Signature) -> str:
        """A signature behind the name of the score."""
        return f"{name}|{signature.short() if self.short else signature}"
