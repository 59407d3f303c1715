"""Render blocks for terminals. The `rich` library colours them and fits them to the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from truebleu.rendering.elements import Block
from truebleu.rendering.text_layout import lay_out_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

# Colours only repeat what signs, stars and numbers show.
STYLES = {
    **dict.fromkeys(("title", "heading", "best"), "bold"),
    **dict.fromkeys(("head", "rule", "note", "legend", "signature", "match 0"), "dim"),
    **dict.fromkeys(("code", "raised", "match 1"), "cyan"),
    "caution": "yellow",
    "baseline": "dim italic",
    "better": "bold green",
    "worse": "bold red",
    "match 2": "green",
    "match 3": "bold green",
    "match 4": "bold green reverse",
}


class RichBlocks(NamedTuple):
    """Blocks that adapt to the terminal width when `rich` prints them."""

    blocks: Callable[[], Iterable[Block]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in lay_out_lines(self.blocks(), options.max_width):
            line_text = Text(no_wrap=True, overflow="ignore")
            for piece, kind in line:
                style = STYLES.get(kind.removesuffix(" cut"), "")
                line_text.append(
                    piece, style=f"{style} underline" if kind.endswith(" cut") else style
                )
            line_text.rstrip()
            if not options.no_wrap and any(kind == "signature" for _, kind in line):
                # Signatures exceed the width of most terminals; rich would truncate them.
                line_text.no_wrap, line_text.overflow = False, "fold"
            yield line_text
