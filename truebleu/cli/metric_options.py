"""The choice of metrics and their parameters, from the registry and its declarations.

Only the options of the metrics that are asked for are there; truebleu help metrics lists all.
"""

from __future__ import annotations

import argparse

from truebleu.cli.parser import Parser, UsageError
from truebleu.metrics import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from truebleu.metrics.base import Metric
    from truebleu.metrics.parameters import Parameter
    from truebleu.metrics.table_metric import TableMetric

# The metrics whose options are shown where none is asked for.
USUAL = ("bleu", "chrf", "ter")

FLAGS = ("-m", "--metrics")


def add(parser: Parser, words: Sequence[str], usual: str = "bleu") -> None:
    """Adds the choice of metrics, and the options of those that the command line names."""
    group = parser.add_argument_group("metric")
    action = group.add_argument(
        *FLAGS,
        metavar="NAME",
        nargs="+",
        action="extend",
        help=f"{', '.join(registry.METRICS)}; members of the family (truebleu family list); "
        f"signatures; all ({usual}). truebleu help metrics lists the options of each",
    )
    action.choices_to_complete = names_to_complete  # type: ignore[attr-defined]
    parser.set_defaults(usual_metrics=usual)
    asked = list(_asked(words))
    known = [metric for name in asked or USUAL for metric in _classes(name)]
    for cls in dict.fromkeys(known):
        _add_group(parser, cls, every=bool(asked))


def names_to_complete() -> list[str]:
    """What a shell completes behind -m."""
    return ["all", *registry.names()]


def _asked(words: Sequence[str]) -> Iterator[str]:
    """The metrics that a command line names, before anything else is known of it."""
    inside = False
    for word in words:
        flag, mark, value = word.partition("=")
        if flag in FLAGS:
            inside = not mark
            yield from names_of(value) if mark else ()
        elif inside and not word.startswith("-"):
            yield from names_of(word)
        else:
            inside = False


def names_of(word: str) -> list[str]:
    """The names in a word, which commas may separate; a signature is one name."""
    return [word] if ":" in word else [name for name in word.split(",") if name]


def _classes(name: str) -> Iterable[type[Metric]]:
    """The classes of a name; nothing for what is not a name, of which is told later."""
    try:
        return [type(metric) for metric in registry.metrics([name])]
    except (ValueError, TypeError):
        return []


def _add_group(parser: Parser, cls: type[Metric], *, every: bool) -> None:
    group = parser.add_argument_group(cls.NAME)
    for parameter in cls.PARAMETERS:
        if every or parameter.common:
            _add_option(parser, group, parameter, cls.PREFIX)


def _add_option(
    parser: Parser, group: argparse._ArgumentGroup, parameter: Parameter, prefix: str
) -> None:
    """Adds the option of a parameter, unless another metric shares it and has added it."""
    long = parameter.option(prefix)
    if long in parser._option_string_actions:  # noqa: SLF001
        return
    flag = parameter.metavar is None or True in getattr(parameter, "meanings", ())
    given: dict[str, Any] = {
        "dest": _place(parameter, prefix),
        "metavar": parameter.metavar or "yes|no",
        "type": _reader(parameter),
        "default": argparse.SUPPRESS,
        "help": _help(parameter),
    }
    if flag:
        given |= {"nargs": "?", "const": True}
    elif parameter.several:
        given |= {"nargs": "+"}
    action = group.add_argument(*parameter.flags, parameter.option(prefix), **given)
    if parameter.choices:
        action.choices_to_complete = lambda: parameter.choices  # type: ignore[attr-defined]


def _place(parameter: Parameter, prefix: str) -> str:
    """What the parsed options call the value of a parameter."""
    return parameter.option(prefix).removeprefix("--").replace("-", "_")


def _reader(parameter: Parameter) -> Any:
    def read(text: str) -> Any:
        try:
            return parameter.typed(text)
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _help(parameter: Parameter) -> str:
    default = "" if parameter.default is None or parameter.metavar is None else parameter.default
    told = parameter.typed_help.replace("%", "%%")
    return f"{told} ({default})" if default not in ("", False) else told


def metrics(options: argparse.Namespace) -> dict[TableMetric[Any], str | None]:
    """The metrics that were asked for, with the parameters that were given.

    Raises UsageError for a name that nobody has, and for an option that none of them has.
    """
    asked = [name for word in options.metrics or [options.usual_metrics] for name in names_of(word)]
    try:
        found: Any = registry.metrics(asked)
    except (ValueError, TypeError) as error:
        raise UsageError(f"-m/--metrics: {error}") from None
    used: set[str] = set()
    made: dict[TableMetric[Any], str | None] = {}
    for metric, name in found.items():
        changes = {
            parameter.name: _value(parameter, getattr(options, place))
            for parameter in metric.PARAMETERS
            for place in [_place(parameter, metric.PREFIX)]
            if hasattr(options, place)
        }
        used |= {
            _place(parameter, metric.PREFIX)
            for parameter in metric.PARAMETERS
            if parameter.name in changes
        }
        try:
            made[metric.with_parameters(**changes) if changes else metric] = name
        except (ValueError, TypeError) as error:
            raise UsageError(str(error)) from None
    _check_used(options, used, list(found))
    return made


def _value(parameter: Parameter, given: Any) -> Any:
    """The value of an option; of one that takes several words, all of them together."""
    return [one for part in given for one in part] if parameter.several else given


def _check_used(options: argparse.Namespace, used: set[str], metrics: Sequence[Metric]) -> None:
    """Refuses an option of a metric that was not asked for."""
    for cls in registry.classes():
        for parameter in cls.PARAMETERS:
            place = _place(parameter, cls.PREFIX)
            if hasattr(options, place) and place not in used:
                names = ", ".join(metric.name for metric in metrics)
                raise UsageError(
                    f"{parameter.option(cls.PREFIX)} is of {cls.NAME}, and -m/--metrics has {names}"
                )


def one(options: argparse.Namespace) -> TableMetric[Any]:
    """The only metric that was asked for."""
    metric, *more = metrics(options)
    if more:
        raise UsageError("-m/--metrics: one metric at a time")
    return metric


def tokenizer(metrics: Iterable[Metric]) -> str | None:
    """The tokenizer, if a metric splits text into words by it."""
    for metric in metrics:
        if "tokenize" in metric.parameters:
            return str(metric.parameters["tokenize"])
    return None


def listing() -> str:
    """Every metric with its parameters and options, for truebleu help metrics."""
    from truebleu.text.layout import wrapped

    lines: list[str] = []
    for cls in registry.classes():
        names = [name for name in registry.METRICS if registry.class_of(name) is cls]
        lines.append(f"{cls.NAME} (-m {', '.join(names)})")
        summary = (cls.__doc__ or "").partition("\n\n")[0]
        lines += [f"  {line}" for line in wrapped(" ".join(summary.split()), 94)]
        for parameter in cls.PARAMETERS:
            flags = ", ".join((*parameter.flags, parameter.option(cls.PREFIX)))
            value = "" if parameter.metavar is None else f" {parameter.metavar}"
            lines.append(f"  {flags}{value}")
            lines += [f"      {line}" for line in wrapped(parameter.typed_help, 90)]
        lines.append("")
    lines.append("Members of the family: truebleu family list")
    return "\n".join(lines) + "\n"


def check_source(metrics: Iterable[TableMetric[Any]], source: object) -> None:
    """Refuses a metric that needs sources where there are none."""
    for metric in metrics:
        if metric.NEEDS_SOURCE and source is None:
            raise UsageError(f"-m/--metrics: {metric.NAME} needs -src/--source FILE")
