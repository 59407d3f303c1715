"""The BLEU family as data: a row for each published implementation.

`truebleu.family` is the mapping: `truebleu.family["mteval-v13a"]` is a member, ready to use, and
iteration gives the names. What a row says was read in the implementation's source or seen when it
was run; tests/bleu_family has the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from truebleu.bleu_family.captioning_and_code import captions_and_code
from truebleu.bleu_family.family_member import Member
from truebleu.bleu_family.libraries import libraries
from truebleu.bleu_family.machine_translation import machine_translation, tools
from truebleu.bleu_family.related_metrics import RELATIVES
from truebleu.bleu_family.related_metrics import relatives as relatives_of_bleu
from truebleu.metrics import registry
from truebleu.text import argument_checks
from truebleu.text.corpus_inputs import Hypotheses, References

if TYPE_CHECKING:
    from truebleu.bleu_family.family_scores import FamilyScores


class UnknownMemberError(KeyError, ValueError):
    """A name that no member has."""

    def __str__(self) -> str:
        return str(self.args[0])


class Family(Mapping[str, Member]):
    """Members by name; `truebleu.family` is one."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Member:
        if name in MEMBERS:
            return MEMBERS[name]
        if str(name).lower() in registry.METRICS:
            raise UnknownMemberError(
                f"{name} is a metric and no member of the BLEU family; truebleu score -m {name} "
                "scores with it"
            )
        near = argument_checks.find_closest(str(name), MEMBERS)
        hint = f"; did you mean '{near}'?" if near else ";"
        raise UnknownMemberError(
            f"unknown member '{name}'{hint} The family has {len(self)} members, which truebleu "
            "family list and list(truebleu.family) name"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(MEMBERS)

    def __len__(self) -> int:
        return len(MEMBERS)

    def __contains__(self, name: object) -> bool:
        return name in MEMBERS

    def score(
        self,
        hypotheses: Hypotheses,
        references: References,
        *,
        members: Iterable[str] | None = None,
        relatives: bool = False,
        tokenize: str = "13a",
        workers: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> FamilyScores:
        """The score of every member, or of some, highest first. Arguments as for `BLEU.score`.

        members: names; None for all.
        relatives: NIST, GLEU and CodeBLEU's weighted match as well: no BLEU, and slower.
        tokenize: stands in for 13a, for members that leave the tokenizer to their users.
        progress: is called with how many members of how many are done.

        Segments are tokenized once for each tokenizer and case, and counted once. Members that
        cannot score the input say why in their row.

        >>> import truebleu
        >>> table = truebleu.family.score(["a b c d e"], [["a b c d f"]])
        >>> round(table["sacrebleu"].score.value, 2)
        66.87
        """
        from truebleu.bleu_family.family_scores import score

        chosen = [
            member
            for member in self.values()
            if relatives or not isinstance(member.metric, RELATIVES)
        ]
        if members is not None:
            chosen = [self[name] for name in members]
        if tokenize != "13a":
            chosen = [member.split_by(tokenize) for member in chosen]
        return score(chosen, hypotheses, references, workers=workers, progress=progress)


MEMBERS: dict[str, Member] = {
    member.name: member
    for row in (machine_translation, libraries, captions_and_code, tools, relatives_of_bleu)
    for member in row()
}

family = Family()
