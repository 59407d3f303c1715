"""Explanations of scores: matches, clipping, and the computation of scores from counts.

All output formats are rendered from the dict that `Explanation.to_dict` returns.

explanation_builder.py    builds the dict from texts and a metric
explanation_layout.py     turns the dict into headings, tables and paragraphs
bleu.py  chrf.py  edit_rates.py  nist.py  gleu.py  f_score.py  sari.py    metric-specific parts
naive_bleu.py             n-grams, clipping and lengths over tokens
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from truebleu.explanation import bleu, explanation_builder, explanation_layout
from truebleu.metrics import registry, text_warnings
from truebleu.metrics.base import Corpus, Metric, Signature
from truebleu.metrics.text_warnings import raise_text_warnings, summarize_text
from truebleu.rendering.elements import Block
from truebleu.rendering.view import Content, View
from truebleu.text import argument_checks, corpus_inputs, segments
from truebleu.text.system_names import name_systems


class Explanation(View):
    """Explanation of a score with all its components. `print` shows text. Notebooks show HTML."""

    __slots__ = ()

    KIND = "explanation"
    WIDTH = 80
    PAPER = False

    def _build_blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        return explanation_layout.build_layout(self._content, digits, short=short)

    _rescale = staticmethod(explanation_layout.rescale)

    @classmethod
    def _list_systems(cls, content: Content) -> Iterable[str]:
        return [system["name"] for system in content["systems"]]

    def _format_title(self) -> str:
        return explanation_layout.format_title(self._content)


@argument_checks.explain_keywords
def explain(
    hypothesis: corpus_inputs.Hypotheses | Mapping[str, corpus_inputs.Hypotheses],
    references: corpus_inputs.References,
    metric: str | Metric | None = None,
    *,
    source: corpus_inputs.Hypotheses | None = None,
    segment: int | None = None,
    recall: bool = False,
    textbook: bool = False,
    workers: int = 1,
    scale: int = 100,
    check_text: bool = True,
) -> Explanation:
    r"""Explain a score: return the counts and the steps of its computation.

    hypothesis: a string is one segment; a sequence, column or file of strings is a corpus. A
        result of `resegment` is a corpus; `segment` also explains the boundaries of the segment.
        A mapping of names to two strings or two corpora compares two systems.
    references: for one segment, a string or a sequence of strings and None; for a corpus, as
        accepted by `BLEU.score`.
    metric: a metric, its name or signature (default: `BLEU()`).
    source: for metrics that read sources: a string for one segment; sources for a corpus.
    segment: explain only this segment of the corpus, counted from 1.
    recall: add clipped recall and F-measure to BLEU's precisions. BLEU does not use them.
    textbook: compute BLEU as textbooks do: split text at white space, do not smooth, leave out
        orders for which the text is too short, and also show BLEU-1, BLEU-2 and so on. Other
        parameters of `metric` still apply, and so does its tokenizer if it is not the default.
    scale: 100 or 1, the maximum of the scale on which scores are shown. Does not affect `to_dict`.
    check_text: issue `TextWarning` for suspicious text in a corpus.

    Raises InputError like `BLEU.score`, and for a missing segment; ValueError for a metric that
    cannot be explained, and for `textbook` with smoothing or a metric other than BLEU.

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
    resolved_metric: Any = registry.metric("bleu" if metric is None else metric)
    explanation_builder.check_metric(resolved_metric, recall=recall, textbook=textbook)
    if resolved_metric.NEEDS_SOURCE and source is None:
        raise ValueError(f"metric: {resolved_metric.name} reads sources. Pass source")
    if textbook:
        resolved_metric = explanation_builder.make_textbook_metric(resolved_metric)
    named_inputs = _name_inputs(hypothesis)
    inputs = list(named_inputs.values())
    resolved_metric = resolved_metric.adapt_to_inputs(*inputs)
    names_by_metric = {resolved_metric: resolved_metric.name}
    if source is not None and not isinstance(inputs[0], str):
        source = corpus_inputs.recognize_single_column("source", source)
    if isinstance(inputs[0], str) or segment is not None:
        hypotheses, references, source = _select_segment(
            resolved_metric, inputs, references, source, segment, workers
        )
        systems = list(zip(named_inputs, hypotheses, strict=True))
        content = explanation_builder.explain_segment(
            resolved_metric, systems, references, source=source, segment=segment, recall=recall
        )
        summaries = {
            name: summarize_text(Corpus([text], [tuple(references)]))
            for name, text in systems
            if isinstance(text, str)
        }
        warnings = [*text_warnings.warn_about_references(summaries, names_by_metric)]
        if segment is not None and resolved_metric.NON_ADDITIVE_REASON:
            name = resolved_metric.name
            text = (
                f"{name}: in a corpus, the references of all segments affect the score of each "
                f"segment. This explanation reads only those of segment {segment}, so its score "
                "differs from the score that truebleu segments prints"
            )
            warnings.append({"kind": "parameters", "systems": [], "metrics": [name], "text": text})
    else:
        content, summaries = explanation_builder.explain_corpus(
            resolved_metric,
            list(named_inputs.items()),
            references,
            source=source,
            workers=workers,
            recall=recall,
        )
        warnings = text_warnings.warn_about_texts(
            summaries, segments.name_references(references), names_by_metric
        )
        if check_text:
            raise_text_warnings(warnings)
    if warnings:
        content["warnings"] = warnings
    for system, texts in zip(content["systems"], inputs, strict=True):
        if fields := getattr(texts, "signature_fields", None):
            if segment is not None and "reseg" in fields:
                _add_boundaries(system, texts, segment)
            signature = Signature.parse(f"{resolved_metric.name}|{system['signature']}")
            system["signature"] = str(signature.with_test_set(fields))
    content["metric"]["signature"] = content["systems"][0]["signature"]
    if textbook:
        bleu.add_cumulative_scores(content, resolved_metric)
    return Explanation({f"truebleu_{Explanation.KIND}": Explanation.VERSION, **content}, scale)


def _select_segment(
    metric: Metric[Any],
    inputs: Sequence[Any],
    references: Any,
    source: Any,
    segment: Any,
    workers: int,
) -> tuple[list[str], list[Any], Any]:
    """Return each system's text, the references and the source of a segment, all checked."""
    if isinstance(inputs[0], str):
        if segment is not None:
            raise TypeError("segment: hypothesis is a single segment (expected a corpus)")
        segment_references = [references] if isinstance(references, str) else references
        for text in inputs:
            # This call validates the input.
            metric.sentence(text, segment_references, *([source] if metric.NEEDS_SOURCE else ()))
        return list(inputs), list(segment_references), source
    references, source, *corpora = map(segments.make_rereadable, (references, source, *inputs))
    for corpus in corpora:
        # This call validates the input.
        sources = [source] if metric.NEEDS_SOURCE else ()
        table = metric.statistics(corpus, references, *sources, workers=workers)
        if source is not None:
            corpus_inputs.check_source_count(source, corpus, len(table))
    selected = [segments.get_segment(corpus, references, segment) for corpus in corpora]
    if source is not None:
        source, _ = segments.get_segment(source, references, segment)
    return [text for text, _ in selected], list(selected[0][1]), source


def _add_boundaries(system: dict[str, Any], texts: Any, segment: int) -> None:
    """Add the boundaries of the segment to a system whose text was re-segmented."""
    from truebleu.resegmentation.boundaries import describe_boundaries
    from truebleu.resegmentation.resegment import get_resegmentation

    if resegmentation := get_resegmentation(texts):
        system["location"] = describe_boundaries(resegmentation, segment)


def _name_inputs(hypothesis: Any) -> dict[str, Any]:
    """Return the inputs of one or two systems by name, and check that they are of one kind."""
    if not isinstance(hypothesis, Mapping):
        name = name_systems([hypothesis])[0] if segments.is_file(hypothesis) else "hypothesis"
        return {name: hypothesis}
    if len(hypothesis) not in (1, 2):
        raise ValueError(f"hypothesis: expected one or two systems, found {len(hypothesis)}")
    first, *others = hypothesis.values()
    for other in others:
        if isinstance(other, str) != isinstance(first, str):
            kind = "a single str" if isinstance(first, str) else "a corpus"
            raise TypeError(
                f"hypothesis: expected {kind} for each system, found {type(other).__name__}"
            )
    return dict(hypothesis)
