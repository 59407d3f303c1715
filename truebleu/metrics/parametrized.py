"""Base class of objects that are defined by declared parameters, such as metrics."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from truebleu.text import argument_checks
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    import inspect

    from truebleu.metrics.parameters import Parameter

# Parameters of other packages and their replacements, for messages.
_WORKERS = "the argument `workers` of tb.bleu and of methods"
_LANGUAGE = "tokenize=tb.language('zh').tokenizer, with the code of your language"
FOREIGN_PARAMETERS = {
    **dict.fromkeys(("n_jobs", "num_workers", "workers", "threads", "n_threads"), _WORKERS),
    **dict.fromkeys(("trg_lang", "lang", "language", "target_lang"), _LANGUAGE),
    **dict.fromkeys(("force", "check_text"), "check_text=False in tb.bleu to skip warnings"),
}


def insert_help(docstring: str, parameter_help: str) -> str:
    """Return a docstring with the help texts of parameters before its example."""
    if sys.version_info >= (3, 13):  # the compiler removes the indentation
        docstring = re.sub(r"\n(?!\n)", "\n    ", docstring)
    head, mark, example = docstring.partition("\n    >>> ")
    return f"{head.rstrip()}\n\n{parameter_help}\n{mark}{example}"


class _ConstructorSignature:
    """Descriptor with the arguments of a derived constructor, for `help` and `inspect`."""

    def __get__(self, _: object, cls: type[Parametrized]) -> inspect.Signature | None:
        if cls.__init__ is not Parametrized.__init__:
            return None  # the class defines its own constructor
        from inspect import Parameter as Argument
        from inspect import Signature

        types: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            types |= getattr(base, "__annotations__", {})
        arguments = []
        for p in cls.PARAMETERS:
            is_first = p.name in cls._POSITIONAL
            type_match = re.search(r"\[(.*)\]", types.get(p.name, ""))
            arguments.append(
                Argument(
                    p.name,
                    Argument.POSITIONAL_OR_KEYWORD if is_first else Argument.KEYWORD_ONLY,
                    default=p.default,
                    annotation=type_match[1] if type_match else Argument.empty,
                )
            )
        return Signature(arguments)


@dataclass_transform(eq_default=False)
class Parametrized:
    """Frozen, hashable object with parameters. Objects with equal parameters are equal.

    A subclass declares each parameter as an attribute annotated `Parameter[type]`. Parameters
    before `_: KW_ONLY` may be positional. As in a dataclass, the constructor is derived from the
    annotated attributes, also for type checkers; it calls `_prepare` at the end.
    """

    __slots__ = ("_values",)

    PARAMETERS: ClassVar[tuple[Parameter[Any], ...]] = ()
    # Parameters that only other metrics have, with the reason and the [[PARAMETER]] to use instead.
    ABSENT_PARAMETERS: ClassVar[Mapping[str, str]] = {}
    # Default and validator of each parameter, and the names of positional parameters.
    _CHECKS: ClassVar[dict[str, tuple[Any, Callable[[Any], Any]]]] = {}
    _POSITIONAL: ClassVar[tuple[str, ...]] = ()
    _values: dict[str, Any]

    __signature__ = _ConstructorSignature()

    def __init_subclass__(cls) -> None:
        """Collect the declarations, and add their help to the class docstring."""
        super().__init_subclass__()
        if "PARAMETERS" in vars(cls):  # otherwise inherited
            inherited_parameters = (
                p for base in cls.__bases__ for p in getattr(base, "PARAMETERS", ())
            )
            names = {p.name for p in cls.PARAMETERS}
            inherited = {
                p.name: p for p in inherited_parameters if p.inherited and p.name not in names
            }
            cls.PARAMETERS = (*cls.PARAMETERS, *inherited.values())
            cls._CHECKS = {p.name: (p.default, p.validate) for p in cls.PARAMETERS}
            annotated = list(cls.__annotations__)
            first = annotated.index("_") if "_" in annotated else 0
            cls._POSITIONAL = tuple(name for name in annotated[:first] if name in names)
        if cls.PARAMETERS and vars(cls).get("__doc__") is not None:
            parameter_help = "\n".join(f"    {p.name}: {p.python_help}." for p in cls.PARAMETERS)
            cls.__doc__ = insert_help(cls.__doc__ or "", parameter_help)

    def __new__(cls, *_: Any, **values: Any) -> Self:
        """Raise TypeError for unknown parameters, and suggest the name to use."""
        if not values.keys() <= cls._CHECKS.keys():
            name = min(values.keys() - cls._CHECKS.keys())
            raise TypeError(f"{cls.__name__} has no parameter '{name}'{cls._suggest_name(name)}")
        return object.__new__(cls)

    @classmethod
    def _suggest_name(cls, name: str) -> str:
        """Return the end of a message about an unknown parameter: what to use instead."""
        synonyms = [parameter for parameter in cls.PARAMETERS if name in parameter.hints]
        if len(synonyms) == 1:
            return f"; it is called '{synonyms[0].name}' here"
        if synonyms:
            meanings = (f"{one.name} ({one.help.partition(',')[0]})" for one in synonyms)
            return f"; use {' or '.join(meanings)}"
        name = argument_checks.OPTION_ARGUMENTS.get(name, name)
        if name in cls._CHECKS:
            return f"; it is called '{name}' here"
        if name in cls.ABSENT_PARAMETERS:
            return f": {argument_checks.ParameterError(cls.ABSENT_PARAMETERS[name])}"
        if name in FOREIGN_PARAMETERS:
            return f"; use {FOREIGN_PARAMETERS[name]}"
        if name in argument_checks.FOREIGN_ARGUMENTS or name in ("hypotheses", "references"):
            return "; use a method: .score(hypotheses, references)"
        return argument_checks.suggest_names(name, list(cls._CHECKS), 0.5)

    def __init__(self, *positional_values: Any, **keyword_values: Any) -> None:
        is_text = any(isinstance(value, list) for value in positional_values)
        if is_text or len(positional_values) > len(self._POSITIONAL):
            name, count = type(self).__name__, len(self._POSITIONAL)
            raise TypeError(
                f"{name} takes at most {format_count(count, 'positional argument')}, and no text. "
                f"Pass text to a method: {name}().score(hypotheses, references), "
                "and parameters by name."
            )
        for name, value in zip(self._POSITIONAL, positional_values, strict=False):
            if name in keyword_values:
                raise TypeError(f"{type(self).__name__} got multiple values for '{name}'")
            keyword_values[name] = value
        self._store_parameters(keyword_values)
        self._prepare()

    def _store_parameters(self, values: Mapping[str, Any]) -> None:
        """Check and store the parameters. Missing parameters get their defaults.

        values: the values, keyed by parameter name; unknown names are ignored.
        """
        # Defaults need no check, and most values are defaults.
        self._values = {
            name: value if (value := values.get(name, default)) is default else validate(value)
            for name, (default, validate) in self._CHECKS.items()
        }

    def _prepare(self) -> None:
        """Check parameters that depend on each other, and prepare for counting."""

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters and their values."""
        return dict(self._values)

    def with_parameters(self, **changes: Any) -> Self:
        """Return a copy of the metric with changed parameters."""
        return type(self)(**{**self._values, **changes})

    def __repr__(self) -> str:
        arguments = [
            f"{p.name}={self._values[p.name]!r}"
            for p in self.PARAMETERS
            if self._values[p.name] != p.default
        ]
        return f"{type(self).__name__}({', '.join(arguments)})"

    @property
    def _equality_key(self) -> Any:
        """The parameters as a tuple that is equal for metrics with equal signatures."""
        return tuple(self._values.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._equality_key == other._equality_key)

    def __hash__(self) -> int:
        return hash((type(self), self._equality_key))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._values), ()
