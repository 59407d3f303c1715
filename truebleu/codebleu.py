"""CodeBLEU's two parts that are counted in n-grams; the other two need a parser of each language.

Shuo Ren et al. (2020): CodeBLEU, a method for automatic evaluation of code synthesis.
arXiv:2009.10297. As CodeXGLUE's evaluator and its package `codebleu` 0.7.0 compute it.
"""

from __future__ import annotations

from collections import Counter
from math import exp, fsum, log

from truebleu.bleu import BLEU
from truebleu.hook import Hook, count_references
from truebleu.tokenizers import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from truebleu import inputs, tokenizers
    from truebleu.metric import Signature

PARTS = ("ngram", "weighted")

# The original measures the length of a pair, tokens and weights, in the place of the reference's.
PAIR = 2
ORDERS = 4

# The reserved words of languages, as CodeBLEU counts them. For another language, or another idea
# of what is reserved, give the words.
KEYWORDS = {
    "c": """auto break case char const continue default do double else enum extern float for goto
        if int long register return short signed sizeof static struct switch typedef union unsigned
        void volatile while _Packed""",
    "c_sharp": """abstract add alias as ascending async await base bool break by byte case catch
        char checked class const continue decimal default delegate descending do double dynamic
        else enum equals event explicit extern false finally fixed float for foreach from get global
        goto group if implicit in int interface internal into is join let lock long nameof namespace
        new notnull null object on operator orderby out override params partial private protected
        public readonly ref remove return sbyte sealed select set short sizeof stackalloc static
        string struct switch this throw true try typeof uint ulong unchecked unmanaged unsafe ushort
        using value var virtual void volatile when where while yield""",
    "go": """break case chan const continue default defer else fallthrough false for func go goto
        if import interface map package range return select struct switch true type var""",
    "java": """abstract assert boolean break byte case catch char class const continue default do
        double else enum extends final finally float for goto if implements import instanceof int
        interface long native new package private protected public return short static strictfp
        super switch synchronized this throw throws transient try void volatile while""",
    "python": """False None True and as assert async await break case class continue def del elif
        else except finally for from global if import in is lambda match nonlocal not or pass raise
        return try type while with yield""",
}


class CodeBLEU(Hook):
    """One of CodeBLEU's parts: "ngram" or "weighted".

    "ngram" is NLTK's corpus_bleu with method1. "weighted" is not what its name says: numerators and
    denominators are counted in the references, so it is a recall, and several references add up;
    among unigrams a reserved word counts 1 and any other token 0.2. Both have 0.1 match where there
    is none, and BLEU's brevity penalty; by mistake "weighted" takes every reference for 2 tokens
    long in it.

    `combined` makes CodeBLEU of all four parts, if you have the other two.

    tokenize, lowercase: as for `BLEU`. CodeBLEU strips the code and splits it at white space.
    part: "ngram" or "weighted".
    language: whose reserved words count: "c", "c_sharp", "go", "java", "python".
    keywords: the reserved words themselves, instead of a language.

    >>> hypothesis, reference = "return a + b ;", "return x + b ;"
    >>> print(CodeBLEU(language="java").sentence(hypothesis, reference))
    CodeBLEU = 29.34
    >>> print(CodeBLEU(part="ngram").sentence(hypothesis, reference))
    CodeBLEU = 28.57
    """

    __slots__ = ("_reserved",)

    _reserved: frozenset[str]

    NAME = "CodeBLEU"
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "none",
        "lowercase": False,
        "part": "weighted",
        "language": None,
        "keywords": None,
    }
    FIELDS = {"part": "part"}  # noqa: RUF012
    SHORT_NAMES = {  # noqa: RUF012
        "case": "c",
        "tok": "tok",
        "part": "pt",
        "language": "lg",
        "keywords": "kw",
    }

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "none",
        *,
        lowercase: bool | str = False,
        part: str = "weighted",
        language: str | None = None,
        keywords: Iterable[str] | None = None,
    ) -> None:
        if part not in PARTS:
            raise ValueError(f"unknown part {part!r}{nearest(str(part), PARTS)}")
        if language is not None and keywords is not None:
            raise ValueError("give either a language or its keywords")
        if language is not None and language not in KEYWORDS:
            raise ValueError(
                f"no keywords of {language!r}{nearest(str(language), KEYWORDS)}; "
                "give keywords= for another language"
            )
        if isinstance(keywords, str):
            raise TypeError("keywords: a str was given where several words are meant")
        if part == "weighted" and language is None and keywords is None:
            raise ValueError("the weighted part needs a language or keywords")
        super().__init__(
            tokenize=tokenize,
            lowercase=lowercase,
            part=part,
            language=language,
            keywords=None if keywords is None else tuple(sorted(set(keywords))),
        )
        words = KEYWORDS[language].split() if language else self._values["keywords"] or ()
        self._reserved = frozenset(words)

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:
        """What is computed, so that anyone can compute it again."""
        signature = super().signature(references, segment=segment)
        fields = signature.fields
        if self._values["language"]:
            fields["language"] = self._values["language"]
        elif self._values["keywords"]:
            fields["keywords"] = ",".join(self._values["keywords"])
        return type(signature)(self.NAME, fields, self.SHORT_NAMES)

    @classmethod
    def from_fields(cls, fields: Any) -> CodeBLEU:
        """The metric that a signature's fields name."""
        more = dict(fields)
        words = more.pop("keywords", None)
        return cls(
            more.get("tok", "none"),
            lowercase=super().from_fields({**more, "part": "ngram"}).parameters["lowercase"],
            part=more.get("part", "weighted"),
            language=more.get("language"),
            keywords=words.split(",") if words else None,
        )

    def _rows(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> tuple[list[Any], int | str | None]:
        if self._values["part"] == "ngram":
            metric = BLEU(
                self._values["tokenize"],
                lowercase=self._values["lowercase"],
                missing_order="at-least-one",
            )
            table = metric.statistics(hypotheses, references, workers=workers)
            return [(row[:2], row[2:6], row[6:]) for row in table.tolist()], table.references
        rows = []
        numbers = set()
        for hypothesis, others in self._tokens(hypotheses, references):
            numbers.add(len(others))
            rows.append(self._recall(hypothesis, others))
        return rows, count_references(numbers)

    def _recall(self, hypothesis: list[Any], references: list[list[Any]]) -> tuple[Any, ...]:
        """Lengths, matches and totals of a segment, n-grams weighed and counted in references."""
        numerators: list[float] = [0] * ORDERS
        denominators: list[float] = [0] * ORDERS
        for order in range(ORDERS):
            found = _ngrams(hypothesis, order + 1)
            for reference in references:
                # In the order of first appearance, which decides the last bit of the sums.
                matched: float = 0
                whole: float = 0
                for ngram, count in _ngrams(reference, order + 1).items():
                    weight = 1.0
                    if not order and ngram[0] not in self._reserved:
                        weight = 0.2
                    matched += min(count, found[ngram]) * weight
                    whole += count * weight
                numerators[order] += matched
                denominators[order] += max(1, whole)
        return (len(hypothesis), PAIR), numerators, denominators

    def _value(self, rows: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        length, reference_length = (sum(row[0][i] for row in rows) for i in (0, 1))
        matches = [sum(column) for column in zip(*(row[1] for row in rows), strict=True)]
        totals = [sum(column) for column in zip(*(row[2] for row in rows), strict=True)]
        details = {
            "matches": matches,
            "totals": totals,
            "hypothesis_length": length,
            "reference_length": reference_length,
        }
        if not matches[0]:
            return 0.0, details
        precisions = [(m or 0.1) / t for m, t in zip(matches, totals, strict=True)]
        brevity = 1 if length > reference_length else exp(1 - reference_length / length)
        return brevity * exp(fsum(log(p) / ORDERS for p in precisions)), details


def combined(
    ngram: float,
    weighted: float,
    syntax: float,
    dataflow: float,
    weights: Sequence[float] = (0.25, 0.25, 0.25, 0.25),
) -> float:
    """CodeBLEU of its four parts, each between 0 and 1.

    A data flow of 0 counts as 1, because the original takes it for code without any data flow.
    """
    parts = (ngram, weighted, syntax, dataflow or 1)
    alpha, beta, gamma, theta = weights
    return alpha * parts[0] + beta * parts[1] + gamma * parts[2] + theta * parts[3]


def _ngrams(tokens: list[Any], order: int) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(order)), strict=False))
