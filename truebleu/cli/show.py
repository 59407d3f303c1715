"""Views and blocks as they are shown: in a format, as wide as the terminal, in colour."""

from __future__ import annotations

import os

from truebleu.cli.parser import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from truebleu.cli.output import Output
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.view import View

# Formats in which numbers and signatures are in full.
EXACT = ("json", "csv", "tsv")


def show(
    view: View,
    output: Output,
    options: argparse.Namespace,
    form: str,
) -> None:
    """Writes a view in a format."""
    if form == "json":
        output.write(f"{view.to_json()}\n")
    elif form in EXACT:
        output.write(getattr(view, form)())
    else:
        style = {
            "digits": getattr(options, "width", None),
            "short": getattr(options, "short", False),
        }
        if form != "text":
            output.write(getattr(view, form)(**style))
        elif not _drawn(view.rich, output, options, **style):
            output.write(view.text(width(output, view.WIDTH), **style))


def check_exact(form: str, options: argparse.Namespace) -> None:
    """Refuses options for people in a format for programs."""
    if form in EXACT:
        for name, given in (
            ("-w/--width", getattr(options, "width", None) is not None),
            ("-sh/--short", getattr(options, "short", False)),
        ):
            if given:
                raise UsageError(f"{name}: {form} has every number and signature in full")


def show_blocks(
    made: Iterable[Block],
    output: Output,
    options: argparse.Namespace,
    form: str,
    *,
    title: str = "",
) -> None:
    """Writes blocks in a format."""
    from truebleu.views.rendering.view import rendered

    blocks = list(made)
    if form == "text":

        def drawn() -> object:
            from truebleu.views.rendering.terminal import Drawn

            return Drawn(lambda: blocks)

        if _drawn(drawn, output, options):
            return
    output.write(rendered(blocks, form, width=width(output, 100), title=title))


def _drawn(made: object, output: Output, options: argparse.Namespace, **style: object) -> bool:
    """Whether the library rich is there and drew it in colour."""
    color = getattr(options, "color", "auto")
    if color == "never" or (color == "auto" and not output.is_terminal):
        return False
    try:
        from rich.console import Console
    except ImportError:
        if color == "always":
            from truebleu.cli.output import UnavailableError

            raise UnavailableError("--color needs the library rich: pip install rich") from None
        return False
    import io

    file = io.StringIO()
    terminal = output.is_terminal
    console = Console(
        file=file,
        highlight=False,
        force_terminal=True,
        width=width(output, 100),
        color_system=None
        if os.environ.get("NO_COLOR") and color == "auto"
        else "auto"
        if terminal
        else "standard",
        legacy_windows=False,
    )
    assert callable(made)
    # The terminal breaks what is longer than its lines, so that it is copied whole.
    console.print(made(**style), soft_wrap=True)
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
