"""One score, opened up: what matched, what was clipped, and how counts become the number.

The dict that `Explanation.to_dict` gives is the contract; every rendering is made of it alone.

contents.py    from texts and a metric to the dict
counting.py    n-grams, clipping, lengths, over tokens
equations.py   the formula with the numbers put in
document.py    from the dict to headings, tables and paragraphs
text.py, markdown.py, latex.py, html.py, terminal.py    one rendering of these each
"""

from __future__ import annotations

from truebleu._kernel import InputError
from truebleu.bleu import BLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu import inputs

# Changes when a reader of the old form could no longer read the new one.
VERSION = 1


class Explanation:
    """A score and all that it is made of. `print` shows it; a notebook shows it as HTML."""

    __slots__ = ("_content",)

    def __init__(self, content: dict[str, Any]) -> None:
        if content.get("truebleu_explanation") != VERSION:
            raise InputError(
                f"this is no explanation of version {VERSION}: 'truebleu_explanation' is "
                f"{content.get('truebleu_explanation')!r}"
            )
        self._content = content

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON."""
        from copy import deepcopy

        return deepcopy(self._content)

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        import json

        return json.dumps(self._content, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """The explanation that `to_json` wrote."""
        import json

        content = json.loads(text)
        if not isinstance(content, dict):
            raise InputError(f"an explanation is a JSON object, not {type(content).__name__}")
        return cls(content)

    def text(self, width: int = 80) -> str:
        """Plain text in lines of about so many characters."""
        from truebleu.explanation.text import render

        return render(self._content, width)

    def markdown(self) -> str:
        """Markdown as GitHub reads it."""
        from truebleu.explanation.markdown import render

        return render(self._content)

    def latex(self) -> str:
        """LaTeX for a document that uses amsmath and booktabs."""
        from truebleu.explanation.latex import render

        return render(self._content)

    def html(self) -> str:
        """A page of its own, without script, for light and dark screens."""
        from truebleu.explanation.html import page

        return page(self._content)

    def _repr_html_(self) -> str:
        from truebleu.explanation.html import fragment

        return fragment(self._content)

    def __rich__(self) -> object:
        from truebleu.explanation.terminal import render

        return render(self._content)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        scores = ", ".join(f"{system['score']:.2f}" for system in self._content["systems"])
        return f"<Explanation of BLEU = {scores}, a {self._content['kind']}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        return self._content == other._content

    __hash__ = None  # type: ignore[assignment]


def explain(
    hypothesis: inputs.Hypotheses,
    references: inputs.References,
    metric: BLEU | None = None,
    *,
    second: inputs.Hypotheses | None = None,
    segment: int | None = None,
    recall: bool = False,
    names: Sequence[str] | None = None,
    workers: int = 1,
) -> Explanation:
    r"""A BLEU score, worked through.

    hypothesis: a string is one segment; a sequence, column or file of strings is a corpus.
    references: of one segment a string or a sequence of strings and None; of a corpus as
        `BLEU.score` takes them.
    metric: the BLEU that is meant; `BLEU()` if not given.
    second: another system's output, to be compared; the same kind of thing as `hypothesis`.
    segment: only this segment of the corpus, counted from 1.
    recall: add clipped recall and F-measure to the precisions. BLEU does not use them.
    names: what to call the system, or both.

    Raises InputError as `BLEU.score` does, and for a segment that is not there.

    >>> explanation = explain("the cat the cat on the mat", ["the cat is on the mat"])
    >>> [order["matches"] for order in explanation.to_dict()["systems"][0]["orders"]]
    [5, 3, 1, 0]
    >>> print("\n".join(explanation.to_dict()["systems"][0]["formula"]))
      BP = 1, because 7 ≥ 6
    BLEU = BP · exp(Σ wₙ ln pₙ)
         = 1 · exp(1/4 (ln 5/7 + ln 3/6 + ln 1/5 + ln 1/8))
         = 1 · exp(−1.1796)
         = 1 · 0.3074
         = 0.3074
    """
    from truebleu.explanation import contents, reading

    metric = BLEU() if metric is None else metric
    if not isinstance(metric, BLEU):
        raise TypeError(f"metric: a BLEU is explained, and this is {metric!r:.80}")
    given = [hypothesis] if second is None else [hypothesis, second]
    systems = list(zip(_names(names, given), given, strict=True))
    split = reading.splitter(metric)
    if reading.is_pair(hypothesis):
        if segment is not None:
            raise TypeError("segment: one hypothesis was given, which has no further segments")
        if second is not None and not isinstance(second, str):
            raise TypeError(f"second: a str is meant as for the first, not {type(second).__name__}")
        several = [references] if isinstance(references, str) else references
        for _, text in systems:
            # Says what is wrong with the input, if anything is.
            metric.sentence(text, several)
        return Explanation(contents.of_pair(metric, split, systems, list(several), recall=recall))
    if isinstance(second, str):
        raise TypeError("second: a single str was given beside a corpus")
    references = reading.lasting(references)
    systems = [(name, reading.lasting(hypotheses)) for name, hypotheses in systems]
    if segment is None:
        return Explanation(
            contents.of_corpus(metric, split, systems, references, recall=recall, workers=workers)
        )
    for _, hypotheses in systems:
        metric.score(hypotheses, references, workers=workers)
    chosen = [(name, *reading.segment(texts, references, segment)) for name, texts in systems]
    return Explanation(
        contents.of_pair(
            metric,
            split,
            [(name, text) for name, text, _ in chosen],
            chosen[0][2],
            segment=segment,
            recall=recall,
        )
    )


def _names(names: Sequence[str] | None, given: Sequence[Any]) -> list[str]:
    """What to call the systems: as asked for, as their files are called, or by number."""
    if names is not None:
        if isinstance(names, str) or len(names) != len(given):
            raise ValueError(f"names={names!r}: {len(given)} are meant, one a system")
        return list(names)
    from truebleu.explanation import reading

    files = [name for name in map(reading.file_name, given) if name is not None]
    if len(set(files)) == len(given):
        return files
    return ["hypothesis"] if len(given) == 1 else ["first", "second"]
