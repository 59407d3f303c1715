"""Comparisons inside of groups: of each domain, language pair or year the systems side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from truebleu.rendering.blocks import Heading
from truebleu.rendering.view import Rows

if TYPE_CHECKING:
    from truebleu.comparison import Comparison
    from truebleu.rendering.blocks import Block, Drawn


class Comparisons(Rows):
    """A comparison of the same systems for each group. `print` shows them one after the other.

    Iterating gives the comparisons, in the order of the groups.
    """

    __slots__ = ()

    KIND = "comparisons"

    @classmethod
    def of(
        cls, within: Iterable[str], made: Iterable[tuple[Mapping[str, Any], Comparison]]
    ) -> Comparisons:
        """The comparisons of groups: the key of each, a value for each column of `within`."""
        groups = [{"group": dict(key), "comparison": one.to_dict()} for key, one in made]
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, "within": [*within], "groups": groups})

    @property
    def COLUMNS(self) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N802
        """The names of the columns: of `within`, then those of a comparison."""
        from truebleu.comparison import Comparison

        return (*self._content["within"], *Comparison.COLUMNS)

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        from truebleu.comparison import blocks

        for group in self._content["groups"]:
            for block in blocks.of_content(group["comparison"], digits, short=short):
                is_title = isinstance(block, Heading) and block.level == 1
                told = f"{_told(group['group'])}: {blocks.title(group['comparison'])}"
                yield Heading(1, told) if is_title else block

    def _screen(self, *, digits: int | None, short: bool) -> Iterator[Drawn]:
        from truebleu.comparison import screen

        for group in self._content["groups"]:
            for block in screen.of_content(group["comparison"], digits, short=short):
                if isinstance(block, Heading) and block.level == 1:
                    yield Heading(1, f"{_told(group['group'])}: {block.text}")
                else:
                    yield block

    def _title(self) -> str:
        return ", ".join(_told(group["group"]) for group in self._content["groups"])

    def _records(self) -> Iterator[Mapping[str, Any]]:
        from truebleu.comparison import blocks

        for group in self._content["groups"]:
            for record in blocks.records(group["comparison"]):
                yield {**record, **group["group"]}

    def __iter__(self) -> Iterator[Comparison]:
        from truebleu.comparison import Comparison

        return (Comparison(group["comparison"]) for group in self._content["groups"])

    def __len__(self) -> int:
        return len(self._content["groups"])

    def __repr__(self) -> str:
        return f"<Comparisons within {', '.join(self._content['within'])}: {self._title()}>"


def _told(key: Mapping[str, Any]) -> str:
    return ", ".join("null" if value is None else str(value) for value in key.values())
