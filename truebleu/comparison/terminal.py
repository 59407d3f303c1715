"""A comparison in a terminal, coloured by the library rich."""

from __future__ import annotations

from rich.text import Text

from truebleu.comparison import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from rich.console import Console, ConsoleOptions

# Signs and stars say the same without colour.
STYLES = {
    "title": "bold",
    "head": "dim",
    "rule": "dim",
    "best": "bold",
    "baseline": "dim italic",
    "better": "bold green",
    "worse": "bold red",
    "raised": "cyan",
    "signature": "dim",
}


class Drawn:
    """A comparison that knows how wide its terminal is when it is drawn."""

    __slots__ = ("_content", "_digits", "_short")

    def __init__(
        self, content: Mapping[str, Any], *, digits: int | None = None, short: bool = False
    ) -> None:
        self._content = content
        self._digits = digits
        self._short = short

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width
        for line in text.lines(self._content, width, digits=self._digits, short=self._short):
            made = Text(no_wrap=True, overflow="ignore")
            for piece, kind in line:
                made.append(piece, style=STYLES.get(kind, ""))
            made.rstrip()
            # A signature is longer than most terminals are wide, and is copied whole.
            made.no_wrap = not any(kind == "signature" for _, kind in line)
            yield made
