"""Warnings about the scored text, which are part of the results in every format.

A warning is a JSON object with its `kind`, its `text` for readers and, where applicable, the
affected `systems` and `metrics` and the `option` that would help. The Python functions also issue
warnings, as `TextWarning`.
"""

from __future__ import annotations

import os
import re
import sys
import warnings as python_warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from itertools import chain
from operator import eq
from sys import maxsize
from typing import TYPE_CHECKING, Any, TypeVar

from truebleu._kernel import Metric as KernelMetric
from truebleu._kernel import Scores, Table
from truebleu.metrics.parameters import insert_help
from truebleu.metrics.scores import PRINTED_AS_ZERO, Score
from truebleu.text import corpus_inputs, sample_checks, tokenizers
from truebleu.text.argument_checks import check_keywords
from truebleu.text.segments import is_stream, iterate_items, make_rereadable, name_references
from truebleu.text.system_names import derive_system_name, guess_file_kind, name_system
from truebleu.text.terminal_layout import join_words

if TYPE_CHECKING:
    from truebleu._kernel import Summary

    Warnings = list[dict[str, Any]]

    # Metrics, each with its name in messages.
    NamedMetrics = Mapping[Any, str]

# Minimum number of hypotheses ending in " ." for a warning: in any text (as in sacreBLEU), and in
# texts in which at least 1% of all segments end in " .".
MIN_TOKENIZED = 100
MIN_TOKENIZED_WITH_SHARE = 10

# Minimum number of segments for a warning that over half of them are copies of the reference, and
# for not ranking a system that only has copies.
MIN_SEGMENTS = 20
REFERENCE_AS_OUTPUT = " Is this the reference instead of a system output?"

# Number of segments at the start of a text that the kernel examines completely.
MAX_START_SEGMENTS = 100
# Two texts differ in their Unicode form if at least this share of one text's examined segments
# contains separate accents, and this share exceeds the other text's share by this factor.
MIN_DECOMPOSED_SHARE = 0.05
MIN_DECOMPOSED_RATIO = 5

# If a text has fewer tokens and more characters per segment, the tokenizer probably does not split
# it.
MIN_TOKENS_PER_SEGMENT = 2


# Minimum share of the examined segments with subword marks, special tokens or HTML entities.
MIN_MARKED_SHARE = 0.01


def merge_summaries(earlier: Summary | None, later: Summary) -> Summary:
    """Merge the summaries of two consecutive parts of a text."""
    if earlier is None:
        return later

    def merge_counts(counts: Any, more_counts: Any) -> tuple[int, list[int]]:
        (count, first), (more_count, more_first) = counts, more_counts
        return count + more_count, [*first, *more_first][: max(len(first), 3)]

    summary: Summary = {
        # The first part is examined for scripts, marks and tabs.
        **earlier,
        "segments": earlier["segments"] + later["segments"],
        "identical": earlier["identical"] + later["identical"],
        "tokenized": merge_counts(earlier["tokenized"], later["tokenized"]),
        "empty": list(map(merge_counts, earlier["empty"], later["empty"])),
    }
    if "tokens" in earlier and "tokens" in later:
        summary["tokens"] = earlier["tokens"] + later["tokens"]
    return summary


# Number of systems or groups that a warning about scores of 0 names.
MAX_NAMED_SYSTEMS = 5

# Kinds of warnings about texts. A metric named in an `UNSPLIT_KIND` warning does not split the text
# and cannot distinguish the systems.
UNSPLIT_KIND = "unsplit"
SCRIPT_KIND, TOKENIZED_KIND = "script", sample_checks.TOKENIZED
TOKENIZED_REFERENCES_KIND = "tokenized references"
SPACES_KINDS = (TOKENIZED_KIND, TOKENIZED_REFERENCES_KIND)
MIXUP_KIND, WRONG_REFERENCE_KIND = "wrong file", "wrong reference"
IDENTICAL_KIND, CASE_KIND, UNICODE_KIND = "identical", "letter case", "unicode form"
ENTITIES_KIND = "HTML entities"
OUTPUT_REFERENCE_KIND = "output as reference"
SPACED_KIND = sample_checks.SPACED
# Kinds that only matter if the hypotheses and the references differ in them.
COMPARED_KINDS = (UNICODE_KIND, ENTITIES_KIND, SPACED_KIND)
# Kinds of warnings that make scores by the listed metrics unreliable: `score` advises against
# reporting these scores, `compare` does not rank or test the systems, and `check` fails. The number
# is the minimum share of the examined lines that must be affected; 0 means every such warning.
UNRELIABLE_KINDS = {
    **dict.fromkeys((UNSPLIT_KIND, SCRIPT_KIND, TOKENIZED_KIND, CASE_KIND), 0.0),
    **dict.fromkeys((MIXUP_KIND, WRONG_REFERENCE_KIND), 0.0),
    **dict.fromkeys((TOKENIZED_REFERENCES_KIND, *COMPARED_KINDS), 0.5),
    **dict.fromkeys(("subword marks", "special tokens"), 0.5),
}
MISSING_LINE = (
    "Is a line missing or superfluous? --resegment=always (tb.resegment in Python) divides the "
    "text again."
)
MIXUPS = {
    sample_checks.SOURCE: "{evidence}. Is this the source instead of a system output?",
    sample_checks.SOURCE_LANGUAGE: "this looks like the language of the source ({evidence}). Is "
    "this the wrong file?",
    sample_checks.OTHER_LANGUAGE: "this does not look like the language of the references "
    "({evidence}). Is this the source, or another wrong file?",
    sample_checks.SHIFTED: "the lines look shifted by {evidence} of the references. "
    + MISSING_LINE,
    sample_checks.UNRELATED: "{evidence} share no more words with their references than with the "
    "references of other lines. Are the lines in another order, or is this the wrong file?",
    sample_checks.SHIFTED_LINES: "lines look shifted ({evidence} of the references). "
    + MISSING_LINE,
}


# The language and the scripts of tokenizers that are for one language.
TOKENIZER_LANGUAGES = {
    "zh": ("Chinese", ("han",)),
    "ja-mecab": ("Japanese", ("kana", "han")),
    "ko-mecab": ("Korean", ("hangul",)),
}


def warn_about_texts(
    summaries: Mapping[str, Summary],
    references: Sequence[str],
    metrics: NamedMetrics,
    language: str | None = None,
    *,
    tests_differences: bool = False,
) -> Warnings:
    """Return the warnings about the text of each system, based on its summary.

    metrics: the metrics and their names. language: the user's language tag, or None.
    tests_differences: whether the caller tests differences and leaves out unreliable ones.

    >>> summary = dict(segments=2, identical=2, tokenized=(0, []), marked=[], empty=[])
    >>> summary |= dict(characters=(2, 9), scripts={"latin": 8})
    >>> warnings = warn_about_texts({"out.txt": summary}, ["ref.txt"], {})
    >>> warnings[0]["kind"], warnings[0]["systems"]
    ('identical', ['out.txt'])
    """
    systems_by_warning: dict[tuple[str, str], list[str]] = {}
    tokenizing_metric = next((one for one in metrics if "tokenize" in one.parameters), None)
    tokenize = None if tokenizing_metric is None else str(tokenizing_metric.parameters["tokenize"])
    # All systems have the same references.
    warnings = [
        *warn_about_references(summaries, metrics),
        *_warn_about_wrong_reference(summaries, references, list(metrics.values())),
    ]
    for line in dict.fromkeys(line for metric in metrics for line in metric.warnings):
        names = [name for metric, name in metrics.items() if line in metric.warnings]
        text = f"{join_words(names)}: {line}"
        warnings.append({"kind": "parameters", "systems": [], "metrics": names, "text": text})
    warnings += _warn_about_file_names([*summaries], references, [*metrics.values()])
    warnings += _warn_about_metric_languages(summaries, metrics, language)
    warnings += _warn_about_tokenizer_languages(summaries, metrics, language)
    has_unsplit_metrics = bool(list_unsplit_metrics(warnings))
    for system, summary in summaries.items():
        for kind, index, text in _warn_about_system(summary, references, tokenize, language):
            if not (kind == UNSPLIT_KIND and has_unsplit_metrics):
                # References in lists share one name. Every system's summary lists their marks.
                name = references[min(index, len(references)) - 1] if index else system
                names = systems_by_warning.setdefault((kind, text), [])
                names += [] if name in names else [name]
    for (kind, text), names in systems_by_warning.items():
        systems = [name for name in names if name in summaries]
        separator = ":" if kind != SCRIPT_KIND else " is" if len(names) == 1 else " are"
        warnings.append(
            {"kind": kind, "systems": systems, "text": f"{join_words(names)}{separator} {text}"}
        )
        _add_affected_metrics(warnings[-1], summaries, metrics)
        if kind == UNSPLIT_KIND:
            unsplit_metrics = [
                one for one in metrics if str(one.parameters.get("tokenize")) == tokenize
            ]
            warnings[-1] |= _recommend_characters(warnings[-1]["text"], unsplit_metrics, metrics)
    warnings = [
        one for one in warnings if one["kind"] not in (CASE_KIND, *SPACES_KINDS) or one["metrics"]
    ]
    if tests_differences:
        for one in warnings:
            one["text"] = one["text"].replace(UNRELIABLE, UNTESTED)
    return warnings


def _get_reference_text(summaries: Mapping[str, Summary]) -> Any:
    """Return the summary of the longest text of the references, or None without a summary."""
    texts = [one["reference_text"] for one in summaries.values() if "reference_text" in one]
    return max(texts, key=lambda one: one["characters"], default=None)


def _warn_about_metric_languages(
    summaries: Mapping[str, Summary], metrics: NamedMetrics, tag: str | None
) -> Iterator[dict[str, Any]]:
    """Yield a warning for each metric whose parameters are for another language.

    Without a tag, only metrics for English are examined, if the references are not in English.
    """
    evidence = ""
    if tag is None:
        text = _get_reference_text(summaries)
        if text is None:
            return
        is_latin = text["scripts"].get("latin", 0) > MIN_PLAIN_SHARE * text["characters"]
        if is_latin and text["accented"] <= MAX_ACCENTED * text["characters"]:
            return
        evidence = "outside a-z" if is_latin else "not Latin"
    for metric, name in metrics.items():
        if tag is None and not metric.may_be_for_english:
            continue
        from truebleu.text import languages

        language = languages.get_target_language(tag or "de")
        if problem := metric.describe_language_mismatch(language):
            text = (
                f"{name}: {problem}, but many letters of the references are {evidence}. "
                "Select the language with -l (language=... in Python)."
            )
            if tag is not None:
                text = f"{name}: -l selects {language.name}, but {problem}"
            yield {"kind": "language", "systems": [], "metrics": [name], "text": text}


def _warn_about_file_names(
    systems: Sequence[str], references: Sequence[str], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield a warning if a reference is named like a system output.

    Scores are unreliable if the names show that references and outputs are swapped, or that an
    output is among the references.
    """
    # A folder may contain both outputs and references.
    kinds = [guess_file_kind(os.path.basename(one)) for one in references]
    if "output" not in kinds:
        return
    name = references[kinds.index("output")]
    swapped = [one for one in systems if guess_file_kind(os.path.basename(one)) == "reference"]
    if swapped:
        text = (
            f"{name} is named like a system output, and {swapped[0]} like a reference. Are "
            "references and outputs swapped?"
        )
    elif len(set(kinds)) > 1:
        text = (
            f"{name} is named like a system output, but is one of {len(references)} references. "
            "Is -i missing before it?"
        )
    elif any(
        guess_file_kind(one) == "output" and one != derive_system_name(name) for one in systems
    ):
        text = (
            f"{name} is named like a system output, but is the reference. The scores measure the "
            "similarity of outputs, not their quality."
        )
        yield {"kind": OUTPUT_REFERENCE_KIND, "systems": [], "text": text}
        return
    else:
        return
    yield {
        "kind": WRONG_REFERENCE_KIND,
        "systems": list(systems),
        "metrics": metrics,
        "text": text + _describe_unreliability(metrics),
    }


def _warn_about_tokenizer_languages(
    summaries: Mapping[str, Summary], metrics: NamedMetrics, tag: str | None
) -> Iterator[dict[str, Any]]:
    """Yield a warning for each tokenizer that is for another language than the references."""
    texts = [one["reference_text"] for one in summaries.values() if "reference_text" in one]
    is_long = any(one["characters"] >= sample_checks.MIN_CHARACTERS_PER_SEGMENT for one in texts)
    for tokenizer, (expected, scripts) in TOKENIZER_LANGUAGES.items():
        names = [
            name for one, name in metrics.items() if one.parameters.get("tokenize") == tokenizer
        ]
        if not names:
            continue
        text = f"{join_words(names)}: the tokenizer {tokenizer} is for {expected}, but "
        if tag is not None:
            from truebleu.text import languages

            language = languages.get_target_language(tag)
            if tokenizer in (language.tokenizer, *language.recommended):
                continue
            text += f"-l selects {language.name}"
        elif is_long and not any(script in one["scripts"] for one in texts for script in scripts):
            text += f"the references have no {expected} characters"
        else:
            continue
        yield {"kind": "language", "systems": [], "metrics": names, "text": text}


def _warn_about_system(
    summary: Summary, references: Sequence[str], tokenize: str | None, language: str | None
) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, input index (0: hypotheses) and text of each warning."""
    segment_count = summary["segments"]
    for index in summary["marked"]:
        text = (
            "starts with a byte-order mark, which is scored as part of its first word; "
            "-e utf-8-sig (File(path, encoding='utf-8-sig') in Python) removes it"
        )
        yield "byte-order mark", index, text
    has_own_name = len(references) > 1 or len(summary["empty"]) < 3
    for kind, index, text in chain(_warn_about_inputs(summary), _warn_about_marks(summary)):
        yield kind, index if has_own_name else min(index, 1), text
    count, first = summary["tokenized"]
    if count >= MIN_TOKENIZED or count >= max(MIN_TOKENIZED_WITH_SHARE, segment_count / 100):
        text = (
            f'{count} of {segment_count} lines look tokenized, ending in " ." (the first are '
            f"{join_words(list(map(str, first)))}); the score may be wrong. Detokenize the text "
            "first."
        )
        yield TOKENIZED_KIND, 0, text
    for kind, text in _warn_about_language(summary, language):
        yield kind, 0, text
    if copies := _describe_copies(summary, references):
        is_reference = copies.endswith(REFERENCE_AS_OUTPUT) and segment_count >= MIN_SEGMENTS
        yield MIXUP_KIND if is_reference else IDENTICAL_KIND, 0, copies
    if letter_case := summary.get("letter_case"):
        text = (
            f"the text is in {letter_case}, but the references are not, so many words do not "
            "match; "
        )
        yield CASE_KIND, 0, text
    if mixup := summary.get("mixup"):
        yield MIXUP_KIND, 0, MIXUPS[mixup[0]].format(evidence=mixup[1])
    examined, characters = summary["characters"]
    tokens = summary.get("tokens")
    if (
        tokens is not None
        and tokens < MIN_TOKENS_PER_SEGMENT * segment_count
        and characters > sample_checks.MIN_CHARACTERS_PER_SEGMENT * examined
        and not sample_checks.find_differing_scripts(summary)
    ):
        text = (
            f"the tokenizer {tokenize} finds {tokens / segment_count:.1f} tokens per segment "
            f"of {characters / examined:.0f} characters"
        )
        yield UNSPLIT_KIND, 0, text


def _add_affected_metrics(
    warning: dict[str, Any], summaries: Mapping[str, Summary], metrics: NamedMetrics
) -> None:
    """Add the metrics whose scores are unreliable, and the systems if references are the cause."""
    kind, systems = warning["kind"], warning["systems"]
    if kind not in UNRELIABLE_KINDS or kind == UNSPLIT_KIND:
        return
    texts = {name: summaries[name] for name in systems or summaries}
    if share := UNRELIABLE_KINDS[kind]:
        affected_systems = []
        for name, one in texts.items():
            examined, counts = _count_lines(one, kind)
            count = counts[0] if systems else min(counts[1:], default=0)
            if count >= share * examined and (
                kind not in COMPARED_KINDS or _differ_in_lines(one, kind)
            ):
                affected_systems.append(name)
        if not affected_systems and kind not in SPACES_KINDS:
            return
        warning["systems"] = affected_systems
    differ = any(_differ_in_lines(one, kind) for one in texts.values())
    names = [name for one, name in metrics.items() if _is_affected(one, kind, differ=differ)]
    warning["metrics"] = names
    if names and kind == CASE_KIND:
        warning["text"] += _recommend_lower_case(metrics)
    if names and (warning["systems"] or not UNRELIABLE_KINDS[kind]):
        warning["text"] += "" if warning["text"].endswith((".", "?")) else "."
        warning["text"] += _describe_unreliability(names, systems)


def _count_lines(summary: Summary, kind: str) -> tuple[int, list[int]]:
    """Return the number of examined lines, and the affected lines in the hypotheses and references.

    All counts are 0 for kinds that are not counted in references.
    """
    if kind == UNICODE_KIND:
        return summary["characters"][0], list(summary["decomposed"])
    _, examined, inputs = summary.get("text_marks") or ("", 0, [])
    mark = TOKENIZED_KIND if kind in SPACES_KINDS else kind
    return examined, [marks[mark].segments if mark in marks else 0 for marks in inputs]


def _differ_in_lines(summary: Summary, kind: str) -> bool:
    """Return whether only the hypotheses or only the references are affected."""
    _, counts = _count_lines(summary, kind)
    return max(counts, default=0) > MIN_DECOMPOSED_RATIO * min(counts, default=0)


def _is_affected(metric: Any, kind: str, *, differ: bool) -> bool:
    """Return whether a kind of text makes a metric's scores unreliable.

    differ: whether only the hypotheses or only the references are affected.
    """
    if kind == CASE_KIND:
        return _is_case_sensitive(metric)
    if kind == UNICODE_KIND:
        return metric.unicode_form is None
    if kind == SPACED_KIND:
        return bool(metric.expects_tokens or metric.depends_on_spaces)
    if kind in SPACES_KINDS:
        return differ if metric.expects_tokens else metric.depends_on_spaces
    return differ or not UNRELIABLE_KINDS[kind] or not metric.expects_tokens


def list_unsplit_metrics(warnings: Warnings) -> set[str]:
    """Return the names of the metrics whose tokenizers do not split the text."""
    return {name for one in warnings if one["kind"] == UNSPLIT_KIND for name in one["metrics"]}


def list_unreliable_systems(warnings: Sequence[Mapping[str, Any]], metric: str) -> set[str]:
    """Return the systems that a metric cannot score reliably because of their text."""
    return list_unranked_systems([one for one in warnings if one["kind"] != UNSPLIT_KIND], metric)


def list_unranked_systems(warnings: Sequence[Mapping[str, Any]], metric: str) -> set[str]:
    """Return the systems that the metric cannot rank: all systems, if it does not split text."""
    return {
        system
        for one in warnings
        if one["kind"] in UNRELIABLE_KINDS and metric in one.get("metrics", ())
        for system in one["systems"]
    }


def warn_about_references(
    summaries: Mapping[str, Summary], metrics: NamedMetrics
) -> Iterator[dict[str, Any]]:
    """Yield warnings about scripts in the references that metrics do not split, one per remedy."""
    text = _get_reference_text(summaries)
    if text is None or is_always_split(text["scripts"], text["characters"], text["accented"]):
        return
    for script in tokenizers.find_unsplit_scripts(text):
        properties = tokenizers.UNSPLIT_SCRIPTS[script]
        by_option: dict[str, list[Any]] = {}
        has_others = any(one.can_split(script) for one in metrics if "tokenize" in one.parameters)
        for metric in metrics:
            if not metric.can_split(script):
                values = metric.get_splitting_parameters(script)
                option = _format_options(metric, values, has_others=has_others)
                by_option.setdefault(option, []).append(metric)
        if properties.has_spaces:
            by_option.pop("", None)
        if not by_option:
            continue
        names = [metrics[one] for unsplit_metrics in by_option.values() for one in unsplit_metrics]
        advice = []
        for option, unsplit_metrics in by_option.items():
            subject = join_words([metrics[one] for one in unsplit_metrics])
            if not option:
                advice.append(
                    f"No option of {subject} helps. Use chrF or CER, which do not need words."
                )
                continue
            values = unsplit_metrics[0].get_splitting_parameters(script)
            parameters = ", ".join(f"{name}={value!r}" for name, value in values.items())
            flags = option
            if "tokenize" in values:
                flag = option.split()[-2]
                tokenizer_flags = tokenizers.format_tokenizer_option(properties.recommended, flag)
                flags = " ".join([*option.split()[:-2], tokenizer_flags])
            use = "Use" if len(by_option) == 1 else f"For {subject}, use"
            advice.append(f"{use} {flags} ({parameters} in Python).")
        message = (
            f"{join_words(names)} {'does' if len(names) == 1 else 'do'} not split the references "
            f"into words: they look like {properties.language}, which {properties.reason}. "
            f"{' '.join(advice)}"
        )
        is_decided = properties.has_spaces and script != "diacritics"
        if not is_decided:
            message += _describe_unreliability(names)
        options = " ".join(filter(None, by_option))
        yield {
            "kind": "language" if is_decided else UNSPLIT_KIND,
            "systems": [*summaries],
            "metrics": names,
            "text": message,
            **({"option": options} if options else {}),
        }


# The two possible ends of a warning: without tests of differences, and with tests.
UNRELIABLE = " are unreliable."
UNTESTED = " are unreliable and not reported as significant."


def _describe_unreliability(metrics: Sequence[str], systems: Sequence[str] = ()) -> str:
    """Return a sentence about metrics that are unreliable for some systems, or for all systems."""
    if not metrics:
        return ""
    to_systems = f" to {join_words(systems)}" if systems else ""
    return f" Differences in {join_words(metrics)}{to_systems}{UNRELIABLE}"


def _recommend_lower_case(metrics: NamedMetrics) -> str:
    """Return a sentence about the options with which the case-sensitive metrics ignore case."""
    names_by_option: dict[str, list[str]] = {}
    for metric, name in metrics.items():
        if _is_case_sensitive(metric):
            parameter = "lowercase" if "lowercase" in metric.parameters else "case_sensitive"
            value = parameter == "lowercase"
            declared = next(one for one in metric.PARAMETERS if one.name == parameter)
            option = declared.format_option(metric.PREFIX) + ("" if value else " no")
            option += f" ({parameter}={value} in Python)"
            names_by_option.setdefault(option, []).append(name)
    if len(names_by_option) == 1:
        return f"{next(iter(names_by_option))} ignores case."
    phrases = [f"{one} for {join_words(names)}" for one, names in names_by_option.items()]
    return f"{join_words(phrases)} ignore case."


def _is_case_sensitive(metric: Any) -> bool:
    """Return whether the metric has an option to ignore case but does not use it."""
    parameters = metric.parameters
    return parameters.get("lowercase") is False or parameters.get("case_sensitive") is True


def _format_options(metric: Any, values: Mapping[str, Any], *, has_others: bool) -> str:
    """Return the command-line options that set parameters of a metric, the tokenizer last.

    has_others: whether the shared option would change the tokenizers of other metrics.
    """
    words = []
    for parameter in metric.PARAMETERS:
        if parameter.name in values:
            value = values[parameter.name]
            shortest = next(iter(parameter.flags), parameter.format_option(metric.PREFIX))
            words.append((has_others and parameter.format_own_option(metric)) or shortest)
            words += [] if value is True else ["no" if value is False else str(value)]
    return " ".join(words)


def _recommend_characters(
    text: str, unsplit: Sequence[Any], metrics: NamedMetrics
) -> dict[str, Any]:
    """Return the fields of a warning about metrics that do not split a text: use characters."""
    others = [one for one in metrics if "tokenize" in one.parameters and one not in unsplit]
    options = dict.fromkeys(
        _format_options(one, {"tokenize": "char"}, has_others=bool(others)) for one in unsplit
    )
    names = [metrics[one] for one in unsplit]
    text += f"; {join_words(list(options))} (tokenize='char' in Python) "
    text += f"{'splits' if len(options) == 1 else 'split'} any text."
    text += _describe_unreliability(names)
    return {"metrics": names, "option": " ".join(options), "text": text}


def _warn_about_inputs(summary: Summary) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, input index (0: hypotheses) and text of each warning about one input."""
    segments, (examined, _) = summary["segments"], summary["characters"]
    for number, (count, first) in enumerate(summary.get("empty", ())):
        if count:
            input_kind = "reference" if number else "hypothesis"
            line_numbers = join_words([str(line) for line in first])
            if segments == 1:
                text = f"the {input_kind} is empty; it is scored as text without words"
                yield "empty", number, text
                continue
            plural = "references" if number else "hypotheses"
            verb, outcome = ("is", "it is") if count == 1 else ("are", "they are")
            message = f"{count:,} of {segments:,} {plural} {verb} empty "
            message += f"(line{'s' * (len(first) > 1)} {line_numbers}"
            rest = f" and {count - len(first):,} more" if count > len(first) else ""
            yield "empty", number, f"{message}{rest}); {outcome} scored as text without words"
    for number, count in enumerate(summary.get("tabs", ())):
        if examined and count == examined:
            columns = (
                "; if the columns are references, use -nr/--num-refs N (a list of strings per "
                "segment in Python)"
            )
            file_advice = "; if one column is the text, use FILE#N (File(path, N) in Python)"
            advice = f"{columns if number else ''}{file_advice}"
            yield "tabs", number, f"every line has a tab, which is scored as a space{advice}"
    decomposed = summary.get("decomposed", ())
    is_start = examined in (segments, min(segments, MAX_START_SEGMENTS))
    lines_examined = f"the first {examined} lines" if is_start else f"{examined} examined lines"
    for number, count in enumerate(decomposed):
        other_inputs = decomposed[1:] if number == 0 else decomposed[:1]
        smallest_count = min(other_inputs, default=count)
        if (
            count >= MIN_DECOMPOSED_SHARE * examined
            and count > MIN_DECOMPOSED_RATIO * smallest_count
        ):
            comparison = "the hypotheses have" if number else "the references have"
            text = (
                f"{count} of {lines_examined} have letters with separate accents (NFD); "
                f"{comparison} {smallest_count}, so identical words do not match; "
                "--unicode-form nfc (unicode_form='nfc' in Python) composes them"
            )
            yield UNICODE_KIND, number, text


def _warn_about_marks(summary: Summary) -> Iterator[tuple[str, int, str]]:
    """Yield warnings about marks of preprocessing, as `_warn_about_inputs` does."""
    lines_examined, examined, inputs = summary.get("text_marks") or ("", 0, [])
    for number, marks in enumerate(inputs):
        for kind, mark in marks.items():
            if kind == sample_checks.TOKENIZED:
                # The kernel counts tokenized hypotheses.
                if number and mark.segments >= MIN_TOKENIZED_WITH_SHARE:
                    text = (
                        f'the references look tokenized, ending in " ." in {mark.segments} of '
                        f"{lines_examined}; the score may be wrong. Detokenize them first."
                    )
                    yield TOKENIZED_REFERENCES_KIND, number, text
                continue
            if mark.segments < MIN_MARKED_SHARE * examined:
                continue
            lines = f"line{'s' * (len(mark.first) > 1)} {join_words(list(map(str, mark.first)))}"
            subject = f"{mark.segments} of {lines_examined} have"
            text = f"{'the line has' if examined == 1 else subject} {kind} such as {mark.example}"
            text += f" ({lines})" if examined > 1 else ""
            other_counts: list[int] = [
                one[kind].segments if kind in one else 0
                for one in (inputs[1:] if number == 0 else inputs[:1])
            ]
            if kind == "subword marks":
                text += ", which are scored as parts of words. Join the subwords first"
            elif kind == "special tokens":
                text += (
                    ", which are scored as words. Remove them first, unless they belong to the text"
                )
            elif mark.segments > MIN_DECOMPOSED_RATIO * min(other_counts):
                comparison = "the hypotheses have" if number else "the references have"
                text += f"; {comparison} {min(other_counts)}, so these words may not match. "
                text += (
                    "Remove the spaces first"
                    if kind == SPACED_KIND
                    else "Unescape them first, for example with Python's html.unescape"
                )
            else:  # The marks in hypotheses and references match each other.
                continue
            yield kind, number, text


def warn_about_zero_scores(scores: Iterable[tuple[str, str, Score]]) -> Warnings:
    """Return warnings that explain scores of 0, from tuples of system, metric name and score."""
    metrics_by_system: dict[tuple[str, str], list[str]] = {}
    for system, name, score in scores:
        if reason := getattr(score, "zero_reason", ""):
            metrics_by_system.setdefault((system, reason), []).append(name)
    systems_by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (system, reason), names in metrics_by_system.items():
        systems_by_reason.setdefault((reason, tuple(names)), []).append(system)

    def shorten(systems: list[str]) -> list[str]:
        count = len(systems) - MAX_NAMED_SYSTEMS
        return [*systems[:MAX_NAMED_SYSTEMS], f"{count:,} more"] if count > 1 else systems

    return [
        {
            "kind": "zero",
            "systems": systems,
            "metrics": list(names),
            "text": f"{join_words(shorten(systems))}: {join_words(names)} "
            f"{'is' if len(names) == 1 else 'are'} 0 because {reason}",
        }
        for (reason, names), systems in systems_by_reason.items()
    ]


class ZeroSegments:
    """Counter of zero segment scores by reason. It warns if over half of the scores are 0."""

    def __init__(self) -> None:
        self._segments: dict[tuple[str, str], int] = {}
        self._reasons: dict[tuple[str, str, str], int] = {}

    def add_segments(self, system: str, metric: Any, table: Table, scores: Scores) -> None:
        """Count the zero scores in a batch of a system's segments."""
        key = system, metric.name
        self._segments[key] = self._segments.get(key, 0) + len(scores)
        zeros = [i for i, score in enumerate(scores) if score == 0]
        for row in table.pick(zeros).tolist() if zeros else ():
            if reason := metric.explain_zero_score(row, segment=True):
                self._reasons[*key, reason] = self._reasons.get((*key, reason), 0) + 1

    def list_warnings(self) -> Warnings:
        """Return the warnings about all segments added so far."""
        return [
            {
                "kind": "zero",
                "systems": [system],
                "metrics": [name],
                "text": f"{system}: {name} is 0 in {count:,} of {segment_count:,} segments; "
                f"{reason}",
            }
            for (system, name, reason), count in self._reasons.items()
            if 2 * count > (segment_count := self._segments[system, name])
        ]


def _warn_about_language(summary: Summary, language: str | None) -> Iterator[tuple[str, str]]:
    """Yield warnings, with their kinds, if the script does not fit the language or the references.

    A text of `SCRIPT_KIND` continues a sentence that begins with the system's name and "is".
    """
    _, characters = summary["characters"]
    scripts = sample_checks.find_differing_scripts(summary)
    if scripts:
        comparison = f"mostly {scripts[0]}, but the references are mostly {scripts[1]}"
        yield SCRIPT_KIND, f"{comparison}. Is this the wrong file?"
        return
    if language is None and not summary.get("han"):
        return
    from truebleu.text import languages

    target = None if language is None else languages.get_target_language(language)
    if target is not None and characters >= sample_checks.MIN_CHARACTERS_PER_SEGMENT:
        text = languages.describe_script_mismatch(target, compute_script_shares(summary))
        if text:
            yield "language", text
    if summary.get("han"):
        script, *reference_scripts = map(languages.detect_chinese_variant, summary["han"])
        expected_script = target.chinese_variant if target else ""
        if (
            script
            and reference_scripts
            and all(reference_scripts)
            and script not in reference_scripts
        ):
            text = (
                f"this is {script} Chinese, but the references are {reference_scripts[0]}; few "
                "words match"
            )
            yield "language", text
        elif script and expected_script and script != expected_script:
            yield "language", f"this is {script} Chinese, but -l {language} means {expected_script}"


# Scripts that all tokenizers split. If their share exceeds the minimum, other scripts are ignored.
PLAIN_SCRIPTS = ("latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "bengali")
MIN_PLAIN_SHARE = 0.7
# If a larger share of the letters than this is outside a-z, ASCII tokenizers split words at these
# letters.
MAX_ACCENTED = 0.01


def is_always_split(scripts: Mapping[str, int], characters: int, accented: int) -> bool:
    """Return whether every tokenizer splits text with these letters into words."""
    plain = sum(scripts.get(name, 0) for name in PLAIN_SCRIPTS)
    return plain > MIN_PLAIN_SHARE * characters and accented <= MAX_ACCENTED * characters


def compute_script_shares(summary: Summary) -> dict[str, float]:
    """Return the share of each script in the examined characters.

    White space is not counted. Punctuation and digits are counted, but have no script.
    """
    _, characters = summary["characters"]
    return {name: count / characters for name, count in summary.get("scripts", {}).items()}


def _name_reference(references: Sequence[str], index: int) -> str:
    """Return the name of a reference. References in one list or file have only a number."""
    return references[index] if len(references) > 1 else f"reference {index + 1}"


def _warn_about_wrong_reference(
    summaries: Mapping[str, Summary], references: Sequence[str], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield at most one warning, about a reference in another language or of another text."""
    wrong_references = [
        one["wrong_reference"] for one in summaries.values() if one.get("wrong_reference")
    ]
    if not wrong_references or wrong_references[0] is None:
        return
    index, share, common = wrong_references[0]
    text = (
        f"{_name_reference(references, index)} does not fit the other references ({share:.0%} of "
        f"its examined words occur in the same lines of the other texts, where {common:.0%} of the "
        "output's words occur). Is this the source, or another wrong file?"
    )
    yield {
        "kind": WRONG_REFERENCE_KIND,
        "systems": [*summaries],
        "metrics": metrics,
        "text": text + _describe_unreliability(metrics),
    }


def _describe_copies(summary: Summary, references: Sequence[str]) -> str:
    count, segment_count = summary["identical"], summary["segments"]
    reference = references[0]
    copies, first = summary.get("copied_reference"), ""
    if copies and 2 * count <= segment_count:
        index, count, segment_count = copies
        reference = _name_reference(references, index)
        first = "examined " if segment_count < summary["segments"] else ""
    if count == segment_count > 1:
        subject = f"all {count} examined" if first else f"all {count}"
        return (
            f"{subject} hypotheses are identical to the reference in {reference}."
            f"{REFERENCE_AS_OUTPUT}"
        )
    if segment_count >= MIN_SEGMENTS and count > segment_count / 2:
        return (
            f"{count} of {segment_count} {first}hypotheses are identical to "
            f"the reference in {reference}"
        )
    return ""


def warn_about_identical_outputs(
    systems: Mapping[str, Any], have_equal_scores: Callable[[str, str], bool]
) -> Warnings:
    """Return a warning for each system whose output equals an earlier system's output.

    Only outputs with equal scores are compared.
    """
    warnings = []
    names = [name for name, output in systems.items() if not is_stream(output)]
    for i, name in enumerate(names):
        for earlier in names[:i]:
            if have_equal_scores(name, earlier) and all(
                map(eq, *(iterate_items("systems", systems[one]) for one in (name, earlier)))
            ):
                text = f"{earlier} and {name}: these outputs are identical"
                warnings.append({"kind": "same output", "systems": [earlier, name], "text": text})
                break
    return warnings


def warn_about_line_breaks(scores: Iterable[Any]) -> Warnings:
    """Return one warning if captions contain line breaks, which their scores count."""
    caption_scores = (score for score in scores if getattr(score, "line_breaks", 0))
    lines = dict.fromkeys(line for score in caption_scores for line in score.warnings)
    return [{"kind": "line breaks", "systems": [], "text": line} for line in lines]


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
    raise_text_warnings(warn_about_texts(summaries, name_references(references), metrics))


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
        raise_text_warnings(warn_about_zero_scores([(system, metric.name, score)]))
    raise_text_warnings(warn_about_line_breaks([score]))
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
        or summary["tokenized"][0] >= MIN_TOKENIZED_WITH_SHARE
        or summary.get("tokens", maxsize) < MIN_TOKENS_PER_SEGMENT * segment_count
        or summary["marked"]
        or summary["han"]
        or sample_checks.find_differing_scripts(summary)
        or any(summary["decomposed"])
        or any(summary["tabs"])
        or [count for count, _ in summary["empty"] if count]
        or not (
            text["scripts"].get("latin", 0) > MIN_PLAIN_SHARE * text["characters"]
            or is_always_split(text["scripts"], text["characters"], 0)
        )
        or (
            text["accented"] > MAX_ACCENTED * text["characters"]
            and not metric.can_split("diacritics")
        )
        or metric.may_be_for_english
        or "output" in map(guess_file_kind, references)
        or metric.parameters.get("tokenize") in TOKENIZER_LANGUAGES
        or metric.warnings
    )
