"""One score, opened up: what matched, what was clipped, and how counts become the number.

The dict that `Explanation.to_dict` gives is the contract; every format is made of it alone.

build.py       from texts and a metric to the dict
blocks.py      from the dict to headings, tables and paragraphs
bleu.py  chrf.py  ter.py  nist.py  gleu.py  wer.py    what is special about each
edit_blocks.py    edits word by word, of TER and of the error rates
counting.py    n-grams, clipping and lengths, over tokens, and what is collected of them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.rendering.view import View
from truebleu.text import corpus_inputs, segments

if TYPE_CHECKING:
    from truebleu.rendering.elements import Block


class Explanation(View):
    """A score and all that it is made of. `print` shows it; a notebook shows it as HTML."""

    __slots__ = ()

    KIND = "explanation"
    WIDTH = 80
    PAPER = False

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        from truebleu.explanation import explanation_layout

        return explanation_layout.of_content(
            self._content, 2 if digits is None else digits, short=short
        )

    def _title(self) -> str:
        from truebleu.explanation import explanation_layout

        return explanation_layout.title(self._content)

    def __repr__(self) -> str:
        scores = ", ".join(f"{system['score']:.2f}" for system in self._content["systems"])
        label = self._content["metric"]["label"]
        return f"<Explanation of {label} = {scores}, a {self._content['kind']}>"


def explain(
    hypothesis: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    metric: str | Metric | None = None,
    *,
    second: corpus_inputs.Hypotheses | None = None,
    segment: int | None = None,
    recall: bool = False,
    names: Sequence[str] | None = None,
    workers: int = 1,
) -> Explanation:
    r"""A score of BLEU, chrF, TER, NIST, GLEU, WER or a relative of it, worked through.

    hypothesis: a string is one segment; a sequence, column or file of strings is a corpus.
    references: of one segment a string or a sequence of strings and None; of a corpus as
        `BLEU.score` takes them.
    metric: a metric, its name or signature; `BLEU()` if not given.
    second: another system's output, to be compared; the same kind of thing as `hypothesis`.
    segment: only this segment of the corpus, counted from 1.
    recall: add clipped recall and F-measure to BLEU's precisions. BLEU does not use them.
    names: what to call the system, or both.

    Raises InputError as `BLEU.score` does, and for a segment that is not there; ValueError for a
    metric that is not explained.

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
    from truebleu.explanation import explanation_builder

    known: Any = registry.metric("bleu" if metric is None else metric)
    explanation_builder.check(known, recall=recall)
    given: list[Any] = [hypothesis] if second is None else [hypothesis, second]
    called = _names(names, given)
    pair = isinstance(hypothesis, str)
    if second is not None and isinstance(second, str) != pair:
        kind = "a single str" if pair else "a corpus"
        raise TypeError(f"second: expected {kind}, as the first is, not {type(second).__name__}")
    if pair:
        if segment is not None:
            raise TypeError("segment: one hypothesis was given, which has no further segments")
        several: Any = [references] if isinstance(references, str) else references
        for text in given:
            # Says what is wrong with the input, if anything is.
            known.sentence(text, several)
    else:
        references, *given = map(segments.make_rereadable, (references, *given))
        if segment is not None:
            for hypotheses in given:
                known.score(hypotheses, references, workers=workers)
            chosen = [segments.get_segment(texts, references, segment) for texts in given]
            given, several = [text for text, _ in chosen], chosen[0][1]
    systems = list(zip(called, given, strict=True))
    if pair or segment is not None:
        content = explanation_builder.of_pair(
            known, systems, list(several), segment=segment, recall=recall
        )
    else:
        content = explanation_builder.of_corpus(
            known, systems, references, workers=workers, recall=recall
        )
    return Explanation({f"truebleu_{Explanation.KIND}": Explanation.VERSION, **content})


def _names(names: Sequence[str] | None, given: Sequence[Any]) -> list[str]:
    """Names of the systems: as asked for, as their files are called, or by number."""
    if names is not None:
        if isinstance(names, str) or len(names) != len(given):
            raise ValueError(f"names={names!r}: expected {len(given)}, one per system")
        return list(names)
    files = [name for name in map(segments.get_file_name, given) if name is not None]
    if len(set(files)) == len(given):
        return files
    return ["hypothesis"] if len(given) == 1 else ["first", "second"]
