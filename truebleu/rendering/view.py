"""Views of results: dicts of JSON-compatible values with fixed keys, and their output formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from truebleu._kernel import InputError
from truebleu.rendering.number_format import check_scale
from truebleu.text.argument_checks import Picklable, load_json
from truebleu.text.system_names import ShortNames

if TYPE_CHECKING:
    from truebleu.rendering.elements import Block

# The contents of a view, as JSON-compatible values.
Content = Mapping[str, Any]

# Formats for readers, as opposed to data formats.
FORMATS = ("text", "markdown", "latex", "html")


def render_blocks(
    blocks: Iterable[Block],
    output_format: str,
    *,
    width: int = 100,
    title: str = "",
    paper: bool = True,
) -> str:
    """Render blocks in one of `FORMATS`."""
    if output_format == "text":
        from truebleu.rendering.text_layout import render_text

        return render_text(blocks, width)
    if output_format == "markdown":
        from truebleu.rendering import markdown

        return markdown.render_markdown(blocks)
    if output_format == "latex":
        from truebleu.rendering import latex

        return latex.render_latex_tables(blocks) if paper else latex.render_latex(blocks)
    from truebleu.rendering import html

    return html.render_page(title, blocks)


class View(Picklable):
    """A view of results. Printing a view shows text, and a notebook shows HTML.

    A subclass defines the `KIND` of its dict, and converts the dict to blocks for rendering.
    """

    __slots__ = ("_content", "_scale")

    KIND: ClassVar[str]
    # Version of the JSON format, increased when the format becomes incompatible with earlier
    # versions.
    VERSION: ClassVar[int] = 1
    # Default width of text output, in characters.
    WIDTH: ClassVar[int] = 100
    # True to output LaTeX as tables for a paper, False to output the text of a document.
    PAPER: ClassVar[bool] = True

    # Python expressions to use instead of attributes that users may expect.
    ATTRIBUTE_HINTS: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            hint = self.ATTRIBUTE_HINTS.get(name, "")
            hint = f"; use {hint}" if hint else ""
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{hint}")

    def __init__(self, content: dict[str, Any], scale: int = 100) -> None:
        """Store the contents and the default scale (100 or 1) of displayed percentages."""
        if content.get(f"truebleu_{self.KIND}") != self.VERSION:
            raise InputError(
                f"not a truebleu {self.KIND} of version {self.VERSION}: 'truebleu_{self.KIND}' is "
                f"{content.get(f'truebleu_{self.KIND}')!r}"
            )
        self._content = content
        self._scale = check_scale(scale)

    def _build_blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        """Yield the blocks, with `digits` decimals per score and `short` or full signatures."""
        raise NotImplementedError

    @classmethod
    def _rescale(cls, content: Content) -> Content:
        """Return the contents with percentages converted to fractions (0-1)."""
        return content

    @classmethod
    def _list_systems(cls, content: Content) -> Iterable[str]:  # noqa: ARG003
        """Return the names of the systems, which are shortened for display."""
        return ()

    def _prepare_for_readers(self, scale: int | None = None) -> Self:
        """Return a copy for display, with short system names and percentages converted to `scale`.

        scale: 100 or 1; None for the scale that the view was created with.
        """
        from copy import copy

        is_rescaled = check_scale(self._scale if scale is None else scale) == 1
        content = self._rescale(self._content) if is_rescaled else self._content
        short_names = ShortNames(self._list_systems(content))
        content = dict(short_names.shorten_all(content))
        view = copy(self)
        view._content, view._scale = content, 100  # noqa: SLF001
        if short_names:
            content["name_note"] = short_names.note
        return view

    def _build_format(
        self,
        output_format: str,  # noqa: ARG002
        *,
        digits: int | None = None,
        short: bool = False,
        **options: Any,
    ) -> Iterator[Any]:
        """Yield the blocks for one of `FORMATS`; `options` contains further options of the view.

        HTML may have additional drawings.
        """
        yield from self._build_blocks(digits=digits, short=short, **options)
        if "name_note" in self._content:
            from truebleu.rendering.elements import Paragraph

            yield Paragraph(self._content["name_note"], "legend")

    def _render(
        self, output_format: str, scale: int | None, width: int = 100, **display: Any
    ) -> str:
        view = self._prepare_for_readers(scale)
        blocks = view._build_format(output_format, **display)  # noqa: SLF001
        title = view._format_title() if output_format == "html" else ""  # noqa: SLF001
        return render_blocks(blocks, output_format, width=width, title=title, paper=self.PAPER)

    def _format_title(self) -> str:
        """Return the title of an HTML page."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values, with all numbers at full precision."""
        from copy import deepcopy

        return deepcopy(self._content)

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """Warnings about the texts, each with kind, text, systems, metrics and option to change.

        The text of a warning shortens the system names; its list of systems has the full names.
        """
        shorten = ShortNames(self._list_systems(self._content)).shorten
        warnings = self.to_dict().get("warnings", ())
        return [{**one, "text": shorten(one["text"])} for one in warnings]

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        import json

        return json.dumps(self._content, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a view from the output of `to_json`. Raises InputError for other input."""
        try:
            content = load_json(text)
        except ValueError as error:
            raise InputError(f"not JSON: {error}") from None
        if not isinstance(content, dict):
            raise InputError(f"expected a JSON object, found {type(content).__name__}")
        return cls(content)

    def text(self, width: int | None = None, *, scale: int | None = None, **display: Any) -> str:
        """Return plain text in lines of about `width` characters.

        scale: 100 or 1, the maximum of the scale for percentages (default: the scale that the
        view was created with). display: `digits`, the number of decimals of scores; `short`, true
        for short signatures; and further options that the class describes.
        """
        return self._render("text", scale, width or self.WIDTH, **display)

    def markdown(self, *, scale: int | None = None, **display: Any) -> str:
        """Return Markdown, with tables in GitHub's syntax; see `text` for the options."""
        return self._render("markdown", scale, **display)

    def latex(self, *, scale: int | None = None, **display: Any) -> str:
        """Return LaTeX to include in a document with `input`; see `text` for the options.

        It requires the package booktabs. pdfLaTeX compiles it with its default font encoding.
        """
        return self._render("latex", scale, **display)

    def html(self, *, scale: int | None = None, **display: Any) -> str:
        """Return a complete HTML page without scripts, for light and dark mode.

        See `text` for the options.
        """
        return self._render("html", scale, **display)

    def _repr_html_(self) -> str:
        from truebleu.rendering.html import render_fragment

        return render_fragment(self._prepare_for_readers()._build_format("html"))  # noqa: SLF001

    def rich(self, *, scale: int | None = None, **display: Any) -> object:
        """Return an object that the `rich` library prints in colour; see `text` for the options."""
        from truebleu.rendering.terminal import RichBlocks

        view = self._prepare_for_readers(scale)
        return RichBlocks(lambda: view._build_format("text", **display))  # noqa: SLF001

    def __rich__(self) -> object:
        return self.rich()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        # At the prompt, a result is shown as text without colours, 80 columns wide.
        return self.text(80).rstrip("\n")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content == other._content

    __hash__ = None  # type: ignore[assignment]


class RecordView(View):
    """A view that is also a table of records."""

    __slots__ = ()

    COLUMNS: ClassVar[Sequence[str]]

    def _build_records(self) -> Iterable[Mapping[str, Any]]:
        raise NotImplementedError

    def csv(self) -> str:
        """Return comma-separated values, with all numbers at full precision."""
        from truebleu.rendering.table_writers import render_delimited

        return render_delimited(self.COLUMNS, self._build_records(), ",")

    def tsv(self) -> str:
        """Return tab-separated values, with all numbers at full precision."""
        from truebleu.rendering.table_writers import render_delimited

        return render_delimited(self.COLUMNS, self._build_records(), "\t")
