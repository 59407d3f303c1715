"""Scores made of other scores: iBLEU, documents, and BLEU on SentencePiece's pieces."""

from __future__ import annotations

import os

from truebleu import inputs
from truebleu._kernel import InputError, __version__
from truebleu.bleu import BLEU, BLEUScore
from truebleu.metric import Score, Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from typing import Any

    from truebleu.metric import Metric


class Composed(Score):
    """A score made of other scores."""

    __slots__ = ("_details", "_fields", "_name", "_value")

    def __init__(
        self, name: str, value: float, fields: Mapping[str, str], details: Mapping[str, Any]
    ) -> None:
        self._name = name
        self._value = value
        self._fields = dict(fields)
        self._details = dict(details)

    @property
    def name(self) -> str:
        """What it is: "iBLEU", "self-BLEU", ..."""
        return self._name

    @property
    def value(self) -> float:
        """The score, in the scale of the metric it is made with."""
        return self._value

    @property
    def signature(self) -> Signature:
        """How it is made, and the fields of the metric that it is made with."""
        fields = {**self._fields, "by": f"truebleu-{__version__}"}
        return Signature(self._name, fields, {name: name for name in fields})

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return dict(self._details)


def base_fields(signature: Signature) -> dict[str, str]:
    """The fields of the metric that a score is made with."""
    hidden = ("nrefs", "by")
    return {"metric": signature.name} | {
        name: value for name, value in signature.fields.items() if name not in hidden
    }


def ibleu(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    sources: inputs.Hypotheses,
    *,
    alpha: float = 0.8,
    metric: Metric | None = None,
    workers: int = 1,
) -> Composed:
    """The iBLEU of paraphrases: alpha · BLEU(h, references) - (1 - alpha) · BLEU(h, source).

    Hong Sun and Ming Zhou (2012): Joint learning of a dual SMT system for paraphrase generation.
    ACL. The paper does not say which BLEU; the signature here does. Not to be confused with Nitin
    Madnani's (2011) viewer of that name.

    sources: a text for each segment, which a good paraphrase should not repeat.
    alpha: 0.7 to 0.9 in the literature.
    metric: any metric; by default `BLEU()`.

    >>> print(ibleu(["the cat sat here"], ["the cat sat here"], ["the cat sat down"]))
    iBLEU = 68.11
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha!r}: a number from 0 to 1 is meant")
    metric = BLEU() if metric is None else metric
    good: Score = metric.score(hypotheses, references, workers=workers)
    copied: Score = metric.score(hypotheses, sources, workers=workers)
    return Composed(
        "iBLEU",
        alpha * float(good) - (1 - alpha) * float(copied),
        {"alpha": repr(float(alpha)), **base_fields(good.signature)},
        {"references": float(good), "sources": float(copied)},
    )


def document_bleu(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    documents: Iterable[Hashable],
    *,
    metric: Metric | None = None,
    workers: int = 1,
) -> Score:
    """BLEU with each document as one segment: its segments, joined by spaces.

    N-grams may then cross from one sentence to the next, and brevity is that of documents. It is
    neither mteval's score of a document nor the mean of those: see `mean_document_bleu`.

    documents: for each segment the document it belongs to. The segments of a document need not be
        neighbours; their order is kept. They all need the same number of references.
    metric: any metric; by default `BLEU()`.

    >>> hypotheses, references = ["a b c", "d e f", "a b"], ["a b c", "d e f", "a c"]
    >>> score = document_bleu(hypotheses, references, ["one", "one", "two"])
    >>> score.matches, score.totals
    ((7, 5, 4, 3), (8, 6, 4, 3))
    """
    metric = BLEU() if metric is None else metric
    joined: dict[Hashable, tuple[list[str], list[list[str]]]] = {}
    rows = list(inputs.texts(hypotheses, references))
    for number, ((text, others), document) in enumerate(
        zip(rows, _keys(documents, len(rows)), strict=True), 1
    ):
        lines, columns = joined.setdefault(document, ([], [[] for _ in others]))
        if len(columns) != len(others):
            raise InputError(
                f"references: segment {number} has {len(others)}, earlier ones of its document "
                f"{document!r} have {len(columns)}; all need as many to be joined"
            )
        lines.append(text)
        for column, other in zip(columns, others, strict=True):
            column.append(other)
    score: Score = metric.score(
        [" ".join(lines) for lines, _ in joined.values()],
        [tuple(map(" ".join, columns)) for _, columns in joined.values()],
        workers=workers,
    )
    return score


def mean_document_bleu(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    documents: Iterable[Hashable],
    *,
    metric: BLEU | None = None,
    workers: int = 1,
) -> Composed:
    """The mean of the documents' scores, each from its segments' sums, as mteval's `-d 1` has them.

    mteval's own score of a system is of all sums, not this mean. N-grams stay inside sentences; for
    documents as one text see `document_bleu`.

    documents: for each segment the document it belongs to.
    metric: a `BLEU`; by default `BLEU()`.

    >>> hypotheses, references = ["a b c d", "a b d c", "a b c d"], ["a b c d"] * 3
    >>> score = mean_document_bleu(hypotheses, references, ["one", "two", "two"])
    >>> print(score, score.details()["documents"])
    mean document BLEU = 81.95 {'one': 100.0..., 'two': 63.89...}
    """
    metric = BLEU() if metric is None else metric
    table = metric.statistics(hypotheses, references, workers=workers)
    keys = _keys(documents, len(table))
    scores: dict[Any, BLEUScore] = {
        key: metric.from_statistics(totals) for key, totals in table.groups(keys).items()
    }
    values = {key: float(score) for key, score in scores.items()}
    return Composed(
        "mean document BLEU",
        sum(values.values()) / len(values),
        {"documents": str(len(values)), **base_fields(metric.signature(table.references))},
        {"documents": values},
    )


def _keys(documents: Iterable[Hashable], segments: int) -> list[Hashable]:
    if isinstance(documents, str):
        raise TypeError("documents: a single str was given where one key a segment is meant")
    keys = list(documents)
    if len(keys) != segments:
        raise InputError(
            f"documents: {len(keys)} keys for {segments} segments; give one key a segment"
        )
    return keys


class SentencePiece:
    """A tokenizer that a SentencePiece model makes: a callable for `BLEU(tokenize=...)`.

    model: the path of a model file. Scores of different models do not compare.

    Raises ImportError without the package sentencepiece, InputError for a file that is no model.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        self.model = os.fspath(model)
        self._pieces = _load(self.model)
        # What a signature calls it.
        self.__qualname__ = f"spm-{os.path.splitext(os.path.basename(self.model))[0]}"

    def __call__(self, text: str) -> list[str]:
        """The pieces of one text."""
        # Pieces never hold white space that sacreBLEU's joining and splitting would notice, except
        # rare control characters.
        return " ".join(self._pieces.EncodeAsPieces(text)).split()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SentencePiece) and other.model == self.model

    def __hash__(self) -> int:
        return hash((SentencePiece, self.model))

    def __repr__(self) -> str:
        return f"SentencePiece({self.model!r})"

    def __reduce__(self) -> tuple[type[SentencePiece], tuple[str]]:
        return (SentencePiece, (self.model,))


def _load(model: str) -> Any:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ImportError(
            "BLEU on SentencePiece's pieces needs: pip install sentencepiece"
        ) from error
    if not os.path.isfile(model):
        raise InputError(
            f"{model}: there is no such file; spBLEU needs the SentencePiece model of FLORES-101 "
            "or FLORES-200, which truebleu does not carry"
        )
    try:
        return SentencePieceProcessor(model_file=model)
    except (RuntimeError, OSError) as error:
        raise InputError(f"{model}: not a SentencePiece model ({error})") from None


def spbleu(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    *,
    model: str | os.PathLike[str],
    workers: int = 1,
    **parameters: Any,
) -> BLEUScore:
    """spBLEU: sacreBLEU's BLEU on the pieces of a SentencePiece model.

    Naman Goyal et al. (2022): The FLORES-101 evaluation benchmark for low-resource and multilingual
    machine translation. TACL. sacreBLEU's `-tok flores101`, `-tok flores200` and `-tok spBLEU-1K`
    are this with three models, whose scores do not compare with each other.

    model: the path of the model file, which truebleu does not carry.
    parameters: of `BLEU`, all but `tokenize`.
    """
    metric = BLEU(SentencePiece(model), **parameters)
    return metric.score(hypotheses, references, workers=workers)
