"""Python warnings about scored text, and functions that score a corpus and issue them."""

from __future__ import annotations

import re
import sys
import warnings as python_warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from sys import maxsize
from typing import TYPE_CHECKING, Any, TypeVar

from truebleu._kernel import Metric as KernelMetric
from truebleu.metrics import text_warnings
from truebleu.metrics.parameters import insert_help
from truebleu.metrics.scores import PRINTED_AS_ZERO
from truebleu.text import corpus_inputs, sample_checks
from truebleu.text.argument_checks import check_keywords
from truebleu.text.segments import make_rereadable, name_references
from truebleu.text.system_names import guess_file_kind, name_system

if TYPE_CHECKING:
    from truebleu._kernel import Summary

Function = TypeVar("Function", bound=Callable[..., Any])


class TextWarning(UserWarning):
    """Warning about text whose scores may mislead, such as text that looks tokenized.

    `bleu`, `chrf`, `ter`, `document_bleu`, `mean_document_bleu`, `compare`, `report`, `check`,
    `meta_evaluate`, `explain` for corpora and the method `score` of metrics issue the warnings that
    the command line prints, each kind at most once per call. `sentence`, `segments`, `statistics`,
    `Accumulator`, engines and integrations do not, because they run in loops and other programs.

    `check_text=False` turns off the checks of a call. Python's filters apply to all calls:
    `warnings.filterwarnings("ignore", category=truebleu.TextWarning)`.
    """


# Options and their parameters in a message: "-tok char (tokenize='char' in Python)".
_OPTION_AND_PARAMETER = (
    r"(?:--?[a-z][^\s()]* (?:[^\s()-][^\s()]* )?)*(?:--?[a-z][^\s()]*|FILE#N)(?: [^\s()]+)?"
    r"(?: or --?[a-z][a-z-]* [^\s()]+)?"
    r" \(((?:[^()]|\([^()]*\))*) in Python\)"
)
# An option in brackets after the metric that it selects: "chrF (-m chrf)".
_OPTION_IN_BRACKETS = r" \(--?[a-z][^()]*\)"


def replace_options_with_parameters(text: str) -> str:
    """Return a message with Python's parameters in place of command-line options.

    >>> replace_options_with_parameters("-tok char (tokenize='char' in Python); chrF (-m chrf)")
    "tokenize='char'; chrF"
    """
    return re.sub(_OPTION_IN_BRACKETS, "", re.sub(_OPTION_AND_PARAMETER, r"\1", text))


def raise_text_warnings(warnings: Iterable[Mapping[str, Any]]) -> None:
    """Raise one `TextWarning` per kind of warning, at the line of the user's code."""
    texts_by_kind: dict[str, list[str]] = {}
    for warning in warnings:
        texts_by_kind.setdefault(warning["kind"], []).append(warning["text"])
    if not texts_by_kind:
        return
    level, frame = 1, sys._getframe()  # noqa: SLF001
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "truebleu":
        level, frame = level + 1, frame.f_back
    for texts in texts_by_kind.values():
        message = replace_options_with_parameters("\n".join(texts))
        python_warnings.warn(message, TextWarning, stacklevel=level)


def check_texts(
    summaries: Mapping[str, Summary], references: Any, metrics: Mapping[Any, str]
) -> None:
    """Issue `TextWarning` for suspicious text of systems that were scored in Python."""
    raise_text_warnings(
        text_warnings.warn_about_texts(summaries, name_references(references), metrics)
    )


# Column with the number of hypothesis tokens, for metrics that count them.
LENGTH_COLUMN = "hypothesis_length"
# Text in another language gets lower scores than these.
LOW_SCORES = {"BLEU": 10, "chrF": 30}
_TEXT_HELP = """\
    hypotheses: n strings (any sequence or an Arrow column), or a path or `File` with n lines.
    references: for each segment a string or a sequence of strings and None; or an Arrow column of
        strings or lists of strings; or a path or `File`; or a list of such columns or files, one
        per reference.
    workers: number of threads."""


def score_function(metric_class: type[Any]) -> Callable[[Function], Function]:
    """Return a decorator that replaces the body of a function with one that scores a corpus.

    The function passes other keyword arguments to the metric class. With `check_text`, it issues
    `TextWarning` for suspicious text.
    """
    get_default_metric = cache(metric_class)

    def decorate(declaration: Any) -> Any:
        @wraps(declaration)
        def score_corpus(
            hypotheses: Any = ...,
            references: Any = ...,
            *others: Any,
            workers: int = 1,
            check_text: bool = True,
            **parameters: Any,
        ) -> Any:
            if hypotheses is ... or references is ... or others:
                own_names = ("hypotheses", "references", "workers", "check_text")
                allowed = (*own_names, *metric_class._CHECKS)  # noqa: SLF001
                check_keywords(declaration.__name__, parameters, allowed)
                raise TypeError(
                    f"{declaration.__name__}() takes hypotheses and references. Pass other "
                    f"arguments by name: {declaration.__name__}(hypotheses, references, workers=2)"
                )
            metric = metric_class(**parameters) if parameters else get_default_metric()
            return metric.score(hypotheses, references, workers=workers, check_text=check_text)

        # Help must show the arguments, although the declaration refers to other docstrings.
        parameters = "\n".join(f"    {p.name}: {p.python_help}." for p in metric_class.PARAMETERS)
        score_corpus.__doc__ = insert_help(declaration.__doc__ or "", f"{_TEXT_HELP}\n{parameters}")
        return score_corpus

    return decorate


def summarize_text(corpus: Any) -> Summary:
    """Return the kernel's summary of a text that metrics read in Python."""
    unigrams = KernelMetric.ngram_f(tokenizer="none", lowercase="no", orders=(1,), factor=1.0)
    run = corpus_inputs.scan_corpus(
        unigrams, corpus.hypotheses, corpus.references, tokenize="none", workers=corpus.workers
    )
    return run.totals()[1]


def score_with_warnings(
    metric: Any, hypotheses: Any, references: Any, workers: int = 1, sources: Any = None
) -> Any:
    """Return the score of a corpus, and issue `TextWarning` for suspicious text."""
    hypotheses = sample_checks.keep_start(hypotheses)
    if not metric.reads_text:
        hypotheses, references = map(make_rereadable, (hypotheses, references))
    corpus = metric.make_corpus(hypotheses, references, workers, sources, totals=True)
    if metric.reads_text:
        score, summary = metric.score_and_summarize(corpus)
    else:
        score, summary = metric._score_corpus(corpus), summarize_text(corpus)  # noqa: SLF001
    sample = sample_checks.Sample(hypotheses, references, sources)
    summary["text_marks"], summary["mixup"] = sample_checks.find_marks(sample), None
    if score.value < LOW_SCORES.get(metric.NAME, 0):
        summary["mixup"] = sample_checks.find_mixup(sample, has_low_score=True)
    sample_checks.compare_samples(summary, sample)
    tokens = getattr(score, LENGTH_COLUMN, None)
    if tokens is not None and "tokenize" in metric._CHECKS:  # noqa: SLF001
        summary["tokens"] = tokens
    system = name_system(hypotheses) or "hypotheses"
    if not _needs_no_warning(summary, metric, name_references(references)):
        check_texts({system: summary}, references, {metric: metric.name})
    if abs(score.value) < PRINTED_AS_ZERO:
        raise_text_warnings(text_warnings.warn_about_zero_scores([(system, metric.name, score)]))
    raise_text_warnings(text_warnings.warn_about_line_breaks([score]))
    return score


def _needs_no_warning(summary: Summary, metric: Any, references: Sequence[str]) -> bool:
    """Return whether no warning can apply to a text, so that it needs no further checks."""
    segment_count, text = summary["segments"], summary["reference_text"]
    return not (
        summary["text_marks"]
        or summary["mixup"]
        or summary["copied_reference"]
        or summary["wrong_reference"]
        or summary["letter_case"]
        or 2 * summary["identical"] > segment_count
        or summary["tokenized"][0] >= text_warnings.MIN_TOKENIZED_WITH_SHARE
        or summary.get("tokens", maxsize) < text_warnings.MIN_TOKENS_PER_SEGMENT * segment_count
        or summary["marked"]
        or summary["han"]
        or sample_checks.find_differing_scripts(summary)
        or any(summary["decomposed"])
        or any(summary["tabs"])
        or [count for count, _ in summary["empty"] if count]
        or not (
            text["scripts"].get("latin", 0) > text_warnings.MIN_PLAIN_SHARE * text["characters"]
            or text_warnings.is_always_split(text["scripts"], text["characters"], 0)
        )
        or (
            text["accented"] > text_warnings.MAX_ACCENTED * text["characters"]
            and not metric.can_split("diacritics")
        )
        or metric.may_be_for_english
        or "output" in map(guess_file_kind, references)
        or metric.parameters.get("tokenize") in text_warnings.TOKENIZER_LANGUAGES
        or metric.warnings
    )
