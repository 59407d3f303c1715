"""The BLEU family as data: a row for each published implementation.

The module is itself the mapping: `truebleu.family["mteval-v13a"]` is a member, ready to use, and
iteration gives the names. What a row says was read in the implementation's source or seen when it
was run; `tests/test_family.py` has the numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType

from truebleu.family.captions_and_code import captions_and_code
from truebleu.family.libraries import libraries
from truebleu.family.machine_translation import machine_translation, tools
from truebleu.family.member import Member
from truebleu.family.relatives import RELATIVES
from truebleu.family.relatives import relatives as relatives_of_bleu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from truebleu.family.together import Together
    from truebleu.inputs import Hypotheses, References


class UnknownMemberError(KeyError, ValueError):
    """A name that no member has."""

    def __str__(self) -> str:
        return str(self.args[0])


class Family(ModuleType, Mapping[str, Member]):
    """Members by name; the module `truebleu.family` is one."""

    __hash__ = ModuleType.__hash__
    __eq__ = object.__eq__

    MEMBERS: dict[str, Member]

    def __getitem__(self, name: str) -> Member:
        try:
            return self.MEMBERS[name]
        except KeyError:
            import difflib

            close = difflib.get_close_matches(str(name).lower(), self.MEMBERS, n=3, cutoff=0.4)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            message = f"unknown member '{name}'{hint} (there are {len(self)}; iterate for all)"
            raise UnknownMemberError(message) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.MEMBERS)

    def __len__(self) -> int:
        return len(self.MEMBERS)

    def __contains__(self, name: object) -> bool:
        return name in self.MEMBERS

    def score(
        self,
        hypotheses: Hypotheses,
        references: References,
        *,
        members: Iterable[str] | None = None,
        relatives: bool = False,
        workers: int = 1,
    ) -> Together:
        """The score of every member, or of some, highest first. Arguments as for `BLEU.score`.

        members: names; None for all.
        relatives: NIST, GLEU and CodeBLEU's weighted match as well: no BLEU, and slower.

        Segments are tokenized once for each tokenizer and case, and counted once. Members that
        cannot score the input say why in their row.

        >>> import truebleu
        >>> table = truebleu.family.score(["a b c d e"], [["a b c d f"]])
        >>> round(table["sacrebleu"].score.value, 2)
        66.87
        """
        from truebleu.family.together import score

        chosen = [
            member
            for member in self.values()
            if relatives or not isinstance(member.metric, RELATIVES)
        ]
        if members is not None:
            chosen = [self[name] for name in members]
        return score(chosen, hypotheses, references, workers=workers)


MEMBERS: dict[str, Member] = {
    member.name: member
    for row in (machine_translation, libraries, captions_and_code, tools, relatives_of_bleu)
    for member in row()
}

sys.modules[__name__].__class__ = Family
