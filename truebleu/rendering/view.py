"""View: a dict of JSON's types, which is a contract, and every format that it can be written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from truebleu._kernel import InputError
from truebleu.text.argument_checks import load_json
from truebleu.text.record import Picklable

if TYPE_CHECKING:
    from truebleu.rendering.elements import Block, HtmlBlock

# What a view is made of: the types of JSON.
Content = Mapping[str, Any]

# The formats of everything that is read.
FORMATS = ("text", "markdown", "latex", "html")


def render_blocks(
    blocks: Iterable[Block],
    output_format: str,
    *,
    width: int = 100,
    title: str = "",
    paper: bool = True,
) -> str:
    """Blocks in one of `FORMATS`."""
    if output_format == "text":
        from truebleu.rendering.text_layout import render_text

        return render_text(blocks, width)
    if output_format == "markdown":
        from truebleu.rendering import markdown

        return markdown.render_markdown(blocks)
    if output_format == "latex":
        from truebleu.rendering import latex

        return latex.render_latex(blocks, paper=paper)
    from truebleu.rendering import html

    return html.render_page(title, blocks)


class View(Picklable):
    """A view of results. Printing it shows text, a notebook shows HTML; both are of `to_dict`.

    A subclass names the `KIND` of its dict, and makes blocks of it.
    """

    __slots__ = ("_content",)

    KIND: ClassVar[str]
    # Changes when a reader of the old form could no longer read the new one.
    VERSION: ClassVar[int] = 1
    # How wide text is that nobody asked to be of another width.
    WIDTH: ClassVar[int] = 100
    # Whether its LaTeX is tables for a paper, or a document's text.
    PAPER: ClassVar[bool] = True

    def __init__(self, content: dict[str, Any]) -> None:
        if content.get(f"truebleu_{self.KIND}") != self.VERSION:
            raise InputError(
                f"not a truebleu {self.KIND} of version {self.VERSION}: 'truebleu_{self.KIND}' is "
                f"{content.get(f'truebleu_{self.KIND}')!r}"
            )
        self._content = content

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        """The blocks; `digits` after the point of scores, `short` signatures."""
        raise NotImplementedError

    def _html_blocks(self, *, digits: int | None, short: bool) -> Iterator[HtmlBlock]:
        """The same for HTML, which can draw more."""
        yield from self._blocks(digits=digits, short=short)

    def _title(self) -> str:
        """The title of a page."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON, every number with all of its digits."""
        from copy import deepcopy

        return deepcopy(self._content)

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The warnings about the text: kind, text, systems and metrics, and what option helps."""
        return list(self.to_dict().get("warnings", ()))

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        import json

        return json.dumps(self._content, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A view that `to_json` wrote. Raises InputError for anything else."""
        try:
            content = load_json(text)
        except ValueError as error:
            raise InputError(f"not JSON: {error}") from None
        if not isinstance(content, dict):
            raise InputError(f"expected a JSON object, not {type(content).__name__}")
        return cls(content)

    def text(
        self, width: int | None = None, *, digits: int | None = None, short: bool = False
    ) -> str:
        """Plain text in lines of about so many characters.

        digits: after the point, for scores from 0 to 100; short: with short signatures.
        """
        blocks = self._blocks(digits=digits, short=short)
        return render_blocks(blocks, "text", width=width or self.WIDTH)

    def markdown(self, *, digits: int | None = None, short: bool = False) -> str:
        """Markdown as GitHub reads it."""
        return render_blocks(self._blocks(digits=digits, short=short), "markdown")

    def latex(self, *, digits: int | None = None, short: bool = False) -> str:
        """LaTeX that uses booktabs, to be put into a document with `input`."""
        blocks = self._blocks(digits=digits, short=short)
        return render_blocks(blocks, "latex", paper=self.PAPER)

    def html(self, *, digits: int | None = None, short: bool = False) -> str:
        """A page of its own, without script, for light and dark screens."""
        from truebleu.rendering import html

        return html.render_page(self._title(), self._html_blocks(digits=digits, short=short))

    def _repr_html_(self) -> str:
        from truebleu.rendering.html import render_fragment

        return render_fragment(self._html_blocks(digits=None, short=False))

    def rich(self, *, digits: int | None = None, short: bool = False) -> object:
        """An object that the library rich prints in colour."""
        from truebleu.rendering.terminal import RichBlocks

        return RichBlocks(lambda: self._blocks(digits=digits, short=short))

    def __rich__(self) -> object:
        return self.rich()

    def __str__(self) -> str:
        return self.text()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content == other._content

    __hash__ = None  # type: ignore[assignment]


class RecordView(View):
    """A view that is a table of records, too."""

    __slots__ = ()

    # The names of the columns.
    COLUMNS: ClassVar[Sequence[str]]

    def _records(self) -> Iterable[Mapping[str, Any]]:
        raise NotImplementedError

    def csv(self) -> str:
        """Comma-separated values, every number with all of its digits."""
        from truebleu.rendering.delimited import render_delimited

        return render_delimited(self.COLUMNS, self._records(), ",")

    def tsv(self) -> str:
        """The same, separated by tabs."""
        from truebleu.rendering.delimited import render_delimited

        return render_delimited(self.COLUMNS, self._records(), "\t")
