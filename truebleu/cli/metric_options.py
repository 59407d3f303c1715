"""Options that select metrics and their parameters, built from the metric registry.

A command line accepts only the options of its metrics; `truebleu help metrics` lists the options of
all metrics.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from truebleu.cli.common_options import (
    Option,
    OptionGroup,
    Parser,
    make_option,
    parse_options,
    reraise_as_usage_error,
)
from truebleu.cli.output import UsageError, print_message
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Signature
from truebleu.metrics.parameters import Parameter
from truebleu.text.argument_checks import ParameterError
from truebleu.text.terminal_layout import format_count, get_terminal_width, wrap_text

if TYPE_CHECKING:
    from truebleu.text.languages import Language

# Default of -m, and the metrics whose options appear in the help.
DEFAULT_METRIC = "bleu"
COMMON_METRICS = ("bleu", "chrf", "ter")
TOKENIZE = "--tokenize"
UNICODE_FORM = "--unicode-form"
DEFAULT_TOKENIZER = "13a"


def list_metric_completions() -> list[str]:
    """Return the metric names for shell completion."""
    return [*registry.METRIC_GROUPS, *registry.list_metric_names()]


def _list_language_codes() -> list[str]:
    from truebleu.text import languages

    return languages.list_codes()


METRICS, LANGUAGE, STRIP, NO_CACHE = parse_options(
    f"""
    -m --metrics NAME...  compute {", ".join(registry.METRICS)};
                          rouge (1, 2 and l), rouge-3 to rouge-9;
                          {", ".join(registry.list_prefixed_names())};
                          members of the BLEU family (see truebleu family list); signatures; or
                          all. See truebleu help metrics for the options of each (default: bleu)
    -l --language TAG  choose settings for this language or language pair (ja, jpn_Jpan, zh-TW,
                       en-ja): the tokenizer zh, ja-mecab or ko-mecab, as in sacreBLEU, otherwise
                       13a; for TER in Chinese and Japanese, --ter-normalized and
                       --ter-asian-support; for METEOR, --meteor-language
    --strip-diacritics  remove accents and other nonspacing marks, after NFC or NFKC normalization
    --no-cache  do not read or write cached scores of external programs and models (default: cache
                scores that take more than a millisecond per segment)
    """,
    metrics={"completes": list_metric_completions},
    language={"completes": _list_language_codes},
)


def list_metric_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups that select metrics and set the parameters of these metrics."""
    requested_names = find_requested_names(words)
    # Import only the metrics that the command line needs.
    default_names = (
        COMMON_METRICS if not words or {"-h", "--help"} & set(words) else [DEFAULT_METRIC]
    )
    classes = [
        metric for name in requested_names or default_names for metric in _find_metric_classes(name)
    ]
    has_cache = any(getattr(metric, "IS_CACHED", False) for metric in classes)
    yield OptionGroup("metric", METRICS, LANGUAGE, STRIP, *([NO_CACHE] if has_cache else []))
    for cls in dict.fromkeys(classes):
        parameters = [
            parameter for parameter in cls.PARAMETERS if requested_names or parameter.common
        ]
        yield OptionGroup(
            cls.NAME, *(one for parameter in parameters for one in _make_options(parameter, cls))
        )


def find_requested_names(words: Sequence[str]) -> list[str]:
    """Return the names of metrics in -m, before the options that depend on them are parsed."""
    parser = Parser("truebleu", groups=[OptionGroup("metric", METRICS)])
    return parse_names(parser.parse_known_args(list(words))[0].metrics) or []


def describe_metric_option(words: Sequence[str], flag: str) -> str:
    """Return a message about an option of another metric, or "" for unknown options."""
    names = find_requested_names(words) or [DEFAULT_METRIC]
    classes = list(dict.fromkeys(cls for name in names for cls in _find_metric_classes(name)))
    for name in [*registry.METRICS, *registry.PREFIXED_METRICS]:
        owner = registry.get_metric_class(name)
        for parameter in owner.PARAMETERS:
            option = parameter.format_option(owner.PREFIX)
            if flag in (*parameter.flags, option, parameter.format_own_option(owner)):
                reasons = [_explain_missing_parameter(cls, parameter.name) for cls in classes]
                reason = "; ".join(filter(None, reasons))
                reason = reason or f"it is an option of {owner.NAME} (-m {name})"
                return f"{flag} has no effect with -m {', '.join(names)}: {reason}"
    for owner in dict.fromkeys([*classes, *registry.iterate_metric_classes()]):
        for parameter in owner.PARAMETERS:
            if flag == f"--{parameter.name.replace('_', '-')}":
                option = parameter.format_option(owner.PREFIX)
                place = "" if owner in classes else f" of {owner.NAME}"
                return f"unknown option {flag}; did you mean '{option}'{place}?"
    return ""


def _explain_missing_parameter(cls: type[Metric], parameter_name: str) -> str:
    """Return a hint: the metric's option for a parameter, or the reason why it has none."""
    for parameter in cls.PARAMETERS:
        if parameter.name == parameter_name:
            return f"for {cls.NAME}, use {parameter.format_option(cls.PREFIX)}"
    options = {one.name: one.format_option(cls.PREFIX) for one in cls.PARAMETERS}
    return ParameterError(cls.ABSENT_PARAMETERS.get(parameter_name, "")).format_with_options(
        options
    )


def _find_metric_classes(name: str) -> Iterable[type[Metric]]:
    """Return the metric classes for a name. An unknown name has none, and is reported later."""
    if name in registry.METRICS:
        return [registry.get_metric_class(name)]
    try:
        return [type(metric) for metric in registry.resolve_metrics([name])]
    except (ValueError, TypeError):
        return []


def _make_options(parameter: Parameter[Any], cls: type[Metric]) -> Iterator[Option]:
    """Yield the options for a metric's parameter. Their values are stored under the long flags."""
    name = parameter.format_option(cls.PREFIX)
    help_text = parameter.option_help.replace("%", "%%")
    if parameter.metavar is not None and parameter.default not in (None, "", False):
        help_text += f" (default: {parameter.default})"
    yield _make_option(parameter, (*parameter.flags, name), help_text)
    if own_name := parameter.format_own_option(cls):
        help_text = f"{parameter.own_help.format(metric=cls.NAME)}; overrides {name}"
        yield _make_option(parameter, (own_name,), help_text)


def _make_option(parameter: Parameter[Any], flags: Sequence[str], help_text: str) -> Option:
    value = parameter.metavar or "yes|no"
    if parameter.metavar is None or True in getattr(parameter, "meanings", ()):
        value = f"[{value}]"
    elif parameter.is_sequence:
        value += "..."
    return make_option(
        flags,
        value,
        help_text,
        completes=(lambda: parameter.choices) if parameter.choices else None,
        dest=flags[-1],
        default=argparse.SUPPRESS,
        type=parameter.from_option,
        const=True if value.startswith("[") else None,
    )


def parse_names(words: Sequence[str] | None) -> list[str] | None:
    """Return the names in the words of an option, or None if it is not used."""
    if words is None:
        return None
    return [name for word in words for name in registry.split_metric_names(word)]


def select_metrics(options: argparse.Namespace) -> dict[Metric[Any], str | None]:
    """Return the requested metrics, with parameters from the options, and the name of each in -m.

    Raise UsageError for an unknown name, or for an option that none of the metrics has.
    """
    values = {name: value for name, value in vars(options).items() if name.startswith("--")}
    if getattr(options, "strip_diacritics", False):
        form = values.get(UNICODE_FORM) or "nfc"
        values[UNICODE_FORM] = f"{form.removesuffix('-strip')}-strip"
    requested: dict[Metric[Any], str | None] = {}
    changed_parameters: dict[Metric[Any], Collection[str]] = {}
    used: set[str] = set()
    try:
        names = parse_names(options.metrics) or [DEFAULT_METRIC]
        named_metrics: Any = registry.resolve_metrics(names)
        for metric, label in named_metrics.items():
            parameters_by_option = {
                parameter.format_option(metric.PREFIX): parameter for parameter in metric.PARAMETERS
            }
            # Add a metric's own options last, because they override the shared options.
            parameters_by_option |= {
                option: parameter
                for parameter in metric.PARAMETERS
                if (option := parameter.format_own_option(metric))
            }
            changes: dict[str, Any] = {}
            flags: dict[str, str] = {}
            for name, parameter in parameters_by_option.items():
                if name in values:
                    used.add(name)
                    value = values[name]
                    changes[parameter.name] = (
                        list(chain(*value)) if parameter.is_sequence else value
                    )
                    flags[parameter.name] = "/".join((*parameter.flags, name))
            with reraise_as_usage_error(options_by_prefix=flags):
                changed = metric.with_parameters(**changes) if changes else metric
            requested[changed], changed_parameters[changed] = label, changes.keys()
    except (ValueError, TypeError) as error:
        raise UsageError(f"{'' if used else '-m/--metrics: '}{error}") from None
    if hasattr(options, "no_cache"):
        from truebleu.metrics import score_cache

        score_cache.is_enabled = not options.no_cache
    has_sources = any(getattr(options, name, None) is not None for name in ("source", "test_set"))
    for metric in requested:
        if metric.NEEDS_SOURCE and not has_sources:
            problem = "needs -src/--source FILE"
            if not hasattr(options, "source"):
                problem = f"needs sources, which truebleu {options.command} does not read"
            problem = f"-m/--metrics: {metric.NAME} {problem}. {metric.NAMESAKE}"
            raise UsageError(problem.removesuffix(". "))
    for name in values.keys() - used:
        metric_names = ", ".join(metric.name for metric in named_metrics)
        raise UsageError(f"{name} has no effect with -m {metric_names}")
    exact = [registry.metric(name) for name in names if ":" in name]
    adapted = _adapt_to_language(options, requested, changed_parameters, exact)
    return registry.distinguish_metrics(adapted, segment=options.command == "segments")


def _adapt_to_language(
    options: argparse.Namespace,
    metrics: Mapping[Metric[Any], str | None],
    changed_parameters: Mapping[Metric[Any], Collection[str]],
    signature_metrics: Sequence[Metric],
) -> dict[Metric[Any], str | None]:
    """Return the metrics adapted to -l/--language by `Metric.adapt_to_language`.

    The `signature_metrics` and parameters set by options stay unchanged.
    """
    language = parse_language(options)
    if language is None:
        return dict(metrics)
    if any("tokenize" in metric.parameters for metric in metrics):
        pick_tokenizer(options, getattr(options, TOKENIZE, None))
    changed = {}
    for metric, label in metrics.items():
        adapted = metric
        if metric not in signature_metrics:
            with reraise_as_usage_error(f"-l/--language: {metric.name}"):
                try:
                    adapted = metric.adapt_to_language(language, changed_parameters[metric])
                except ParameterError as error:
                    flags = {
                        one.name: one.format_option(metric.PREFIX) for one in metric.PARAMETERS
                    }
                    problem = error.format_with_options(flags)
                    raise UsageError(f"-l/--language: {problem}") from None
        changed[adapted] = label
    return changed


def get_language_tag(options: argparse.Namespace) -> str | None:
    """Return the tag of -l/--language, or None if it is missing or only valid for a test set."""
    return None if parse_language(options) is None else str(options.language)


def parse_language(options: argparse.Namespace) -> Language | None:
    """Return the parsed -l/--language, or None if it is missing or only valid for a test set."""
    if options.language is None:
        return None
    from truebleu.text import languages

    try:
        return languages.get_target_language(options.language)
    except ValueError as error:
        if getattr(options, "test_set", None) is not None:
            return None
        raise UsageError(f"-l/--language: {error}") from None


def pick_tokenizer(options: argparse.Namespace, requested_tokenizer: str | None = None) -> str:
    """Return the tokenizer for -l/--language, and print advice on better tokenizers."""
    language = parse_language(options)
    if language is None:
        return DEFAULT_TOKENIZER
    from truebleu.text import languages

    recommended = languages.recommend_tokenizer(language, requested_tokenizer)
    if recommended and not options.quiet:
        print_message("warning" if requested_tokenizer else "note", f"-l/--language: {recommended}")
    return language.tokenizer


def warn_about_signatures(
    options: argparse.Namespace, reference_count: int, test_set: Mapping[str, str]
) -> None:
    """Print a warning for each signature in -m with another reference count or test set."""
    names = parse_names(getattr(options, "metrics", None)) or []
    for text in names if not options.quiet else ():
        is_signature = ":" in text or "+numrefs." in text
        if not is_signature or text.partition(":")[0].lower() in registry.PREFIXED_METRICS:
            continue
        fields = Signature.parse(text).fields
        expected_count = fields.get("nrefs", "")
        differences = [
            f"{name}:{fields[name]}, but -t selects {name}:{value}"
            for name, value in test_set.items()
            if fields.get(name, value) != value
        ]
        if expected_count.isdecimal() and int(expected_count) != reference_count:
            given_count = format_count(reference_count, "reference")
            verb = "is" if reference_count == 1 else "are"
            differences.insert(0, f"nrefs:{expected_count}, but there {verb} {given_count}")
        for difference in differences:
            print_message(
                "warning",
                f"-m/--metrics: the signature has {difference}. The score is not comparable with "
                "the score of the signature",
            )


def select_single_metric(options: argparse.Namespace) -> Metric[Any]:
    """Return the requested metric. Raise UsageError if there are several."""
    metric, *further_metrics = select_metrics(options)
    if further_metrics:
        raise UsageError(f"-m/--metrics: expected one metric, found {1 + len(further_metrics)}")
    return metric


def format_metric_list() -> str:
    """Return the text of `truebleu help metrics`, with all metrics and their options."""
    width = max(40, min(get_terminal_width(80), 100))
    lines: list[str] = []
    for cls in registry.iterate_metric_classes():
        arguments = {name: f":{form}" for name, (_, form) in registry.PREFIXED_METRICS.items()}
        names = [
            name + arguments.get(name, "")
            for name in (*registry.METRICS, *arguments)
            if registry.get_metric_class(name) is cls
        ]
        lines += wrap_text(f"{cls.NAME} (-m {', '.join(names)})", width)
        summary = (cls.__doc__ or "").partition("\n\n")[0] + f" {cls.NAMESAKE}"
        lines += [f"  {line}" for line in wrap_text(" ".join(summary.split()), width - 2)]
        for parameter in cls.PARAMETERS:
            own_option = parameter.format_own_option(cls)
            all_flags = (*parameter.flags, parameter.format_option(cls.PREFIX), own_option)
            flags = ", ".join(filter(None, all_flags))
            value = "" if parameter.metavar is None else f" {parameter.metavar}"
            lines.append(f"  {flags}{value}")
            lines += [f"      {line}" for line in wrap_text(parameter.option_help, width - 6)]
        lines.append("")
    lines.append("Members of the BLEU family: see truebleu family list")
    return "\n".join(lines) + "\n"
