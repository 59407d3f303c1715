"""Results on their way out: in which format, with how many digits, as wide as the terminal."""

from __future__ import annotations

import os

from truebleu.cli.output import Output, UnavailableError, columns, is_terminal
from truebleu.cli.parser import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable
    from typing import Any

    from truebleu.metrics.base import Signature
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.view import View

# What the end of a file's name says of its format.
SUFFIXES = {
    ".txt": "text",
    ".tex": "latex",
    ".md": "markdown",
    **{f".{name}": name for name in ("json", "jsonl", "tsv", "csv", "html", "parquet", "npy")},
}
# Formats in which a view has every number and signature in full.
EXACT = ("json", "csv", "tsv")


class Results(Output):
    """Where results go, and how they are written.

    form: the format.
    width: digits after the point; None for what suits the format.
    score_only: nothing but scores.
    short: with short signatures.
    color: auto, always or never.
    """

    __slots__ = ("color", "form", "score_only", "short", "width")

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options.output)
        self.form = _form(options)
        self.width: int | None = getattr(options, "width", None)
        self.score_only: bool = getattr(options, "score_only", False)
        self.short: bool = getattr(options, "short", False)
        self.color: str = getattr(options, "color", "never")

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

    def signature(self, signature: Signature) -> str:
        """A signature, short if that was asked for."""
        return signature.short() if self.short else str(signature)

    def check_exact(self) -> None:
        """Refuses options for people in a format for programs."""
        if self.form in EXACT:
            for name, given in (
                ("-w/--width", self.width is not None),
                ("-sh/--short", self.short),
            ):
                if given:
                    raise UsageError(f"{name}: {self.form} has every number and signature in full")

    def show(self, view: View) -> None:
        """Writes a view."""
        if self.form == "json":
            self.write(f"{view.to_json()}\n")
        elif self.form in EXACT:
            self.write(getattr(view, self.form)())
        else:
            told: dict[str, Any] = {"digits": self.width, "short": self.short}
            if self.form != "text":
                self.write(getattr(view, self.form)(**told))
            elif not self._draw(lambda: view.rich(**told)):
                self.write(view.text(self._columns(view.WIDTH), **told))

    def show_blocks(self, made: Iterable[Block], *, title: str = "") -> None:
        """Writes blocks."""
        from truebleu.views.rendering.view import rendered

        blocks = list(made)

        def drawn() -> object:
            from truebleu.views.rendering.terminal import Drawn

            return Drawn(lambda: blocks)

        if self.form != "text" or not self._draw(drawn):
            self.write(rendered(blocks, self.form, width=self._columns(100), title=title))

    def _draw(self, made: Callable[[], object]) -> bool:
        """Draws in colour; False where that was not asked for, or the library rich is missing."""
        if self.color == "never" or (self.color == "auto" and not self.is_terminal):
            return False
        try:
            from rich.console import Console
        except ImportError:
            if self.color == "always":
                raise UnavailableError("--color needs the library rich: pip install rich") from None
            return False
        import io

        file = io.StringIO()
        colors: Any = "auto" if self.is_terminal else "standard"
        if os.environ.get("NO_COLOR") and self.color == "auto":
            colors = None
        console = Console(
            file=file,
            highlight=False,
            force_terminal=True,
            width=self._columns(100),
            color_system=colors,
            legacy_windows=False,
        )
        # The terminal breaks what is longer than its lines, so that it is copied whole.
        console.print(made(), soft_wrap=True)
        self.write(file.getvalue())
        return True

    def _columns(self, usual: int) -> int:
        """How wide text should be: as the terminal, or as is usual."""
        return min(columns(usual), 160) if self.is_terminal else usual


def _form(options: argparse.Namespace) -> str:
    """The format of results: as asked for, as the name of the file says, or as the reader is."""
    if options.format is not None:
        return str(options.format)
    if options.output is None:
        return "text" if is_terminal() else str(options.piped)
    suffix = os.path.splitext(options.output)[1].lower()
    if not suffix or options.output.startswith("/dev/"):
        return str(options.piped)
    named = SUFFIXES.get(suffix, suffix)
    if named == "jsonl" and named not in options.formats:
        named = "json"
    if named not in options.formats:
        raise UsageError(
            f"-o/--output: {options.output}: no format {named}; there are "
            f"{', '.join(options.formats)}, and -f says which"
        )
    return str(named)
