"""Views and blocks as they are shown: in a format, as wide as the terminal, in colour."""

from __future__ import annotations

import os

from truebleu.cli.output import UnavailableError
from truebleu.cli.style import EXACT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from truebleu.cli.output import Output
    from truebleu.cli.style import Style
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.view import View


def show(view: View, output: Output, style: Style) -> None:
    """Writes a view."""
    if style.form == "json":
        output.write(f"{view.to_json()}\n")
    elif style.form in EXACT:
        output.write(getattr(view, style.form)())
    else:
        told: dict[str, Any] = {"digits": style.width, "short": style.short}
        if style.form != "text":
            output.write(getattr(view, style.form)(**told))
        elif not _drawn(lambda: view.rich(**told), output, style):
            output.write(view.text(width(output, view.WIDTH), **told))


def show_blocks(made: Iterable[Block], output: Output, style: Style, *, title: str = "") -> None:
    """Writes blocks."""
    from truebleu.views.rendering.view import rendered

    blocks = list(made)

    def drawn() -> object:
        from truebleu.views.rendering.terminal import Drawn

        return Drawn(lambda: blocks)

    if style.form != "text" or not _drawn(drawn, output, style):
        output.write(rendered(blocks, style.form, width=width(output, 100), title=title))


def _drawn(made: Callable[[], object], output: Output, style: Style) -> bool:
    """Draws in colour; False where that was not asked for, or the library rich is missing."""
    terminal = output.is_terminal
    if style.color == "never" or (style.color == "auto" and not terminal):
        return False
    try:
        from rich.console import Console
    except ImportError:
        if style.color == "always":
            raise UnavailableError("--color needs the library rich: pip install rich") from None
        return False
    import io

    file = io.StringIO()
    colors: Any = "auto" if terminal else "standard"
    if os.environ.get("NO_COLOR") and style.color == "auto":
        colors = None
    console = Console(
        file=file,
        highlight=False,
        force_terminal=True,
        width=width(output, 100),
        color_system=colors,
        legacy_windows=False,
    )
    # The terminal breaks what is longer than its lines, so that it is copied whole.
    console.print(made(), soft_wrap=True)
    output.write(file.getvalue())
    return True


def width(output: Output, usual: int) -> int:
    """How wide text should be: as the terminal, or as is usual."""
    if not output.is_terminal:
        return usual
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        return usual
    return min(columns, 160)
