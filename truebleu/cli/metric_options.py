"""The choice of metrics and their parameters, from the registry and its declarations.

Only the options of the metrics that are asked for are there; truebleu help metrics lists all.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from truebleu.cli.common_options import Group, Option, Parser, as_usage, option, options
from truebleu.cli.output import UsageError, complain
from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.metrics.parameters import Parameter

if TYPE_CHECKING:
    from truebleu.text.languages import Language

# The metric without -m, and the metrics whose options help then shows.
DEFAULT = "bleu"
COMMON = ("bleu", "chrf", "ter")
TOKENIZE = "--tokenize"
NORMALIZE = "--normalize"
DEFAULT_TOKENIZER = "13a"


def names_to_complete() -> list[str]:
    """Return the names that a shell completes."""
    return [*registry.METRIC_GROUPS, *registry.list_metric_names()]


def _tags() -> list[str]:
    from truebleu.text import languages

    return languages.list_codes()


METRICS, LANGUAGE, STRIP, NO_CACHE = options(
    f"""
    -m --metrics NAME...  {", ".join(registry.METRICS)};
                          rouge (1, 2 and l), rouge-3 to rouge-9;
                          {", ".join(registry.list_prefixed_names())};
                          members of the family (truebleu family list); signatures; all (bleu).
                          truebleu help metrics lists the options of each
    -l --language TAG  the language of the text, or a pair (ja, jpn_Jpan, zh-TW, en-ja), for the
                       tokenizer: zh, ja-mecab or ko-mecab as sacreBLEU picks them, otherwise 13a;
                       for TER, --ter-normalized and --ter-asian-support in Chinese and Japanese
    --strip-diacritics  leave out accents and other nonspacing marks of letters, in NFC or NFKC
    --no-cache  compute the numbers of programs and models anew, and keep none; otherwise those that
                took more than a millisecond a segment are known the next time
    """,
    metrics={"completes": names_to_complete},
    language={"completes": _tags},
)


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The choice of metrics, and the options of those that the words of a command line name."""
    # The metrics that a command line names, before anything else is known of it.
    parser = Parser("truebleu", groups=[Group("metric", METRICS)])
    named = asked(parser.parse_known_args(list(words))[0].metrics) or []
    # Only what the command line needs is imported.
    usual = COMMON if not words or {"-h", "--help"} & set(words) else [DEFAULT]
    known = [metric for name in named or usual for metric in _classes(name)]
    dear = any(getattr(metric, "IS_CACHED", False) for metric in known)
    yield Group("metric", METRICS, LANGUAGE, STRIP, *([NO_CACHE] if dear else []))
    for cls in dict.fromkeys(known):
        parameters = [one for one in cls.PARAMETERS if named or one.common]
        yield Group(cls.NAME, *(_option(one, cls.PREFIX) for one in parameters))


def owner(flag: str) -> str:
    """The metric that an option is of, in words; nothing for an option of none."""
    for name in registry.METRICS:
        cls = registry.get_metric_class(name)
        if any(flag in (*one.flags, one.option(cls.PREFIX)) for one in cls.PARAMETERS):
            return f"it is an option of {cls.NAME} (-m {name})"
    return ""


def names_of(word: str) -> list[str]:
    """The names in a word, which commas may separate; a signature is one name."""
    return [word] if ":" in word else [name for name in word.split(",") if name]


def _classes(name: str) -> Iterable[type[Metric]]:
    """The classes of a name; nothing for what is not a name, of which is told later."""
    if name in registry.METRICS:
        return [registry.get_metric_class(name)]
    try:
        return [type(metric) for metric in registry.resolve_metrics([name])]
    except (ValueError, TypeError):
        return []


def _option(parameter: Parameter[Any], prefix: str) -> Option:
    """The option of a parameter, by whose long name the parsed options call its value."""
    name = parameter.option(prefix)
    value = parameter.metavar or "yes|no"
    if parameter.metavar is None or True in getattr(parameter, "meanings", ()):
        value = f"[{value}]"
    elif parameter.is_sequence:
        value += "..."
    return option(
        (*parameter.flags, name),
        value,
        _help(parameter),
        completes=(lambda: parameter.choices) if parameter.choices else None,
        dest=name,
        default=argparse.SUPPRESS,
        type=parameter.from_option,
        const=True if value.startswith("[") else None,
    )


def _help(parameter: Parameter[Any]) -> str:
    default = "" if parameter.default is None or parameter.metavar is None else parameter.default
    told = parameter.option_help.replace("%", "%%")
    return f"{told} ({default})" if default not in ("", False) else told


def asked(words: Sequence[str] | None) -> list[str] | None:
    """The names in the words of an option; None without it."""
    return None if words is None else [name for word in words for name in names_of(word)]


def metrics(options: argparse.Namespace) -> dict[Metric[Any], str | None]:
    """Return the requested metrics with the requested parameters, each with its name in -m.

    Raises UsageError for an unknown name, and for an option that none of the metrics has.
    """
    values = {name: value for name, value in vars(options).items() if name.startswith("--")}
    if getattr(options, "strip_diacritics", False):
        form = values.get(NORMALIZE) or "nfc"
        values[NORMALIZE] = f"{form.removesuffix('-strip')}-strip"
    requested: dict[Metric[Any], str | None] = {}
    changed_parameters: dict[Metric[Any], Collection[str]] = {}
    used: set[str] = set()
    try:
        names = asked(options.metrics) or [DEFAULT]
        found: Any = registry.resolve_metrics(names)
        for metric, label in found.items():
            own = {one.option(metric.PREFIX): one for one in metric.PARAMETERS}
            used |= own.keys() & values.keys()
            changes = {
                one.name: list(chain(*values[name])) if one.is_sequence else values[name]
                for name, one in own.items()
                if name in values
            }
            changed = metric.with_parameters(**changes) if changes else metric
            requested[changed], changed_parameters[changed] = label, changes.keys()
    except (ValueError, TypeError) as error:
        raise UsageError(f"{'' if used else '-m/--metrics: '}{error}") from None
    if hasattr(options, "no_cache"):
        from truebleu.metrics import score_cache

        score_cache.cache_settings = score_cache.CacheSettings(is_enabled=not options.no_cache)
    has_sources = any(getattr(options, name, None) is not None for name in ("source", "test_set"))
    for metric in requested:
        if metric.NEEDS_SOURCE and not has_sources:
            what = "needs -src/--source FILE"
            if not hasattr(options, "source"):
                what = f"needs sources, and truebleu {options.command} takes none"
            raise UsageError(f"-m/--metrics: {metric.NAME} {what}")
    for name in values.keys() - used:
        known = ", ".join(metric.name for metric in found)
        raise UsageError(f"{name} is not an option of {known}, which -m/--metrics names")
    exact = [registry.metric(name) for name in names if ":" in name]
    return _in_language(options, requested, changed_parameters, exact)


def _in_language(
    options: argparse.Namespace,
    metrics: Mapping[Metric[Any], str | None],
    changed_parameters: Mapping[Metric[Any], Collection[str]],
    exact: Sequence[Metric],
) -> dict[Metric[Any], str | None]:
    """Return the metrics as -l/--language makes them, each as `Metric.adapt_to_language` does.

    Those of signatures, which are `exact`, and parameters that have an option stay as they are.
    """
    language = _language(options)
    if language is None:
        return dict(metrics)
    if any("tokenize" in metric.parameters for metric in metrics):
        picked_tokenizer(options, getattr(options, TOKENIZE, None))
    changed = {}
    for metric, label in metrics.items():
        own = changed_parameters[metric]
        with as_usage(f"-l/--language: {metric.name}"):
            changed[metric if metric in exact else metric.adapt_to_language(language, own)] = label
    return changed


def known_tag(options: argparse.Namespace) -> str | None:
    """Return the tag of -l/--language; None without one, or if only a test set knows it."""
    return None if _language(options) is None else str(options.language)


def _language(options: argparse.Namespace) -> Language | None:
    """Return the language of -l/--language; None without one, or if only a test set knows it."""
    if options.language is None:
        return None
    from truebleu.text import languages

    try:
        return languages.get_target_language(options.language)
    except ValueError as error:
        if getattr(options, "test_set", None) is not None:
            return None
        raise UsageError(f"-l/--language: {error}") from None


def picked_tokenizer(options: argparse.Namespace, requested: str | None = None) -> str:
    """Return the tokenizer of -l/--language, with a note where another tokenizer is recommended.

    requested: the tokenizer that the user named, if any.
    """
    language = _language(options)
    if language is None:
        return DEFAULT_TOKENIZER
    from truebleu.text import languages

    recommended = languages.advise_tokenizer(language, requested)
    if recommended and not options.quiet:
        complain("warning" if requested else "note", f"-l/--language: {recommended}")
    return language.tokenizer


def one(options: argparse.Namespace) -> Metric[Any]:
    """Return the only requested metric."""
    metric, *more = metrics(options)
    if more:
        raise UsageError("-m/--metrics: one metric at a time")
    return metric


def listing() -> str:
    """Every metric with its parameters and options, for truebleu help metrics."""
    from truebleu.text.terminal_layout import wrap_text

    lines: list[str] = []
    for cls in registry.iterate_metric_classes():
        every = {**registry.METRICS, **registry.PREFIXED_METRICS}
        names = [name for name in every if registry.get_metric_class(name) is cls]
        names = [
            f"{n}:{registry.PREFIXED_METRICS[n][1]}" if n in registry.PREFIXED_METRICS else n
            for n in names
        ]
        lines.append(f"{cls.NAME} (-m {', '.join(names)})")
        summary = (cls.__doc__ or "").partition("\n\n")[0]
        lines += [f"  {line}" for line in wrap_text(" ".join(summary.split()), 94)]
        for parameter in cls.PARAMETERS:
            flags = ", ".join((*parameter.flags, parameter.option(cls.PREFIX)))
            value = "" if parameter.metavar is None else f" {parameter.metavar}"
            lines.append(f"  {flags}{value}")
            lines += [f"      {line}" for line in wrap_text(parameter.option_help, 90)]
        lines.append("")
    lines.append("Members of the family: truebleu family list")
    return "\n".join(lines) + "\n"
