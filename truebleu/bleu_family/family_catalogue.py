"""Mapping from names to the members of the BLEU family, the published BLEU implementations.

`truebleu.family["mteval-v13a"]` is a ready-to-use member. Iteration yields the names. Each entry is
based on the implementation's source code or on its output; the tests in tests/bleu_family compare
the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from truebleu.bleu_family.family_member import Member
from truebleu.bleu_family.published_members import RELATED_METRICS, list_members
from truebleu.metrics import registry
from truebleu.text import argument_checks, terminal_layout, tokenizers
from truebleu.text.corpus_inputs import Hypotheses, References

if TYPE_CHECKING:
    from truebleu.bleu_family.family_scores import FamilyScores


class UnknownMemberError(KeyError, ValueError):
    """Raised for an unknown member name."""

    def __str__(self) -> str:
        return str(self.args[0])


class Family(Mapping[str, Member]):
    """Read-only mapping of member names to members, as in `truebleu.family`."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Member:
        if name in MEMBERS:
            return MEMBERS[name]
        if str(name).lower() in registry.METRICS:
            namesake = registry.get_metric_class(str(name).lower()).NAMESAKE
            raise UnknownMemberError(
                f"'{name}' is a metric, not a member of the BLEU family. Use truebleu score "
                f"-m {name}. {namesake}".removesuffix(". ")
            )
        if advice := tokenizers.explain_tokenized_bleu(str(name)):
            raise UnknownMemberError(f"'{name}' is not a member of the BLEU family: {advice}")
        near = argument_checks.find_closest(str(name), MEMBERS)
        hint = f"; did you mean '{near}'?" if near else "."
        raise UnknownMemberError(
            f"unknown member '{name}'{hint} truebleu family list and list(truebleu.family) show "
            f"all {len(self)} members"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(MEMBERS)

    def __len__(self) -> int:
        return len(MEMBERS)

    def __contains__(self, name: object) -> bool:
        return name in MEMBERS

    def __repr__(self) -> str:
        text = f"{len(self)} members of the BLEU family: {', '.join(self)}."
        return "\n".join(terminal_layout.wrap_text(text, 80))

    @argument_checks.explain_keywords
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
        """Return the scores of all members, or of the named members, from highest to lowest.

        hypotheses, references, workers: see `BLEU.score`.
        members: member names, or None for all.
        relatives: whether to include NIST, GLEU and CodeBLEU's weighted match, which are slower.
        tokenize: tokenizer that replaces 13a in the members that use it.
        progress: called with the number of finished members and the total number of members.

        Segments are tokenized and counted once per tokenizer and case. A member that cannot score
        the input has `score=None` and the reason in `problem`.

        >>> import truebleu
        >>> table = truebleu.family.score(["a b c d e"], [["a b c d f"]])
        >>> round(table["sacrebleu"].score.value, 2)
        66.87
        """
        from truebleu.bleu_family.family_scores import score_members

        selected_members = [
            member
            for member in self.values()
            if relatives or not isinstance(member.metric, RELATED_METRICS)
        ]
        if members is not None:
            selected_members = [self[name] for name in members]
        if tokenize != "13a":
            selected_members = [
                member.replace(metric=member.metric.with_parameters(tokenize=tokenize))
                if member.metric.parameters.get("tokenize") == "13a"
                else member
                for member in selected_members
            ]
        return score_members(
            selected_members, hypotheses, references, workers=workers, progress=progress
        )


MEMBERS = {member.name: member for member in list_members()}

# Members that papers often report, each with the reason, starting with the most common one. Their
# order is estimated: machine translation moved from mteval and Moses to sacreBLEU (Post 2018;
# Marie, Fujita and Rubino 2021, a survey of 769 papers); the defaults of popular libraries follow.
COMMON_MEMBERS = {
    "sacrebleu": "sacreBLEU's default, which WMT and most papers have used since 2018",
    "multi-bleu": "the Moses script for tokenized text, which most papers used before sacreBLEU",
    "mteval-v13a-c": "NIST's script with -c (case-sensitive), which WMT used before sacreBLEU",
    "mteval-v13a": "NIST's script with its default lower-casing",
    "multi-bleu-lc": "the Moses script with lower-casing",
    "nltk-corpus-0": "the default of NLTK's corpus_bleu",
    "sacrebleu-lc": "sacreBLEU with lower-casing",
    "sacrebleu-zh": "sacreBLEU's tokenizer for Chinese",
    "sacrebleu-intl": "sacreBLEU's international tokenizer",
    "sacrebleu-char": "sacreBLEU's tokenizer for characters",
    "sacrebleu-raw": "sacreBLEU for tokenized text",
    "multi-bleu-detok": "the Moses script that tokenizes like mteval-v13a",
    "huggingface": "the bleu of Hugging Face evaluate",
    "coco-bleu-4": "the usual BLEU-4 of image captioning",
    "nltk-sentence-0": "NLTK's sentence_bleu with its defaults, averaged over segments",
    "nltk-sentence-1": "NLTK's sentence_bleu with method1, averaged over segments",
    "nltk-sentence-4": "NLTK's sentence_bleu with method4, averaged over segments",
    "fairseq": "the score that fairseq prints during training",
    "t2t-bleu": "tensor2tensor's score, which many Transformer papers report",
    "torchmetrics": "the default of torchmetrics",
    "torchtext": "the bleu_score of torchtext",
    "nmt": "the script of TensorFlow's NMT tutorial",
    "codexglue-summarization": "CodeXGLUE's smoothed BLEU-4 for code summarization",
    "codexglue-bleu": "CodeXGLUE's BLEU for code generation",
}

family = Family()
