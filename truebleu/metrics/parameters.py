"""Parameters of metrics: name, default, range, signature field, command-line option and help.

A metric declares its parameters as annotated attributes of its class. `Parametrized` derives the
constructor with its checks and the attributes from these declarations. Signatures and their parser,
options, the documentation and the labels in views read them, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import fsum, inf
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from truebleu.text import argument_checks, tokenizers
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    import inspect


T = TypeVar("T")

# Largest n-gram order that metrics accept.
MAX_ORDER = 16
# Largest allowed sum of weights, chosen so that 100 ** MAX_WEIGHT_SUM is finite.
MAX_WEIGHT_SUM = 100
# Integers below this limit are exact as floating-point numbers, and have at most 15 digits.
MAX_EXACT_INTEGER = 10**15


class Parameter(Generic[T]):
    """Parameter of a metric. Subclasses define its values and how to write them as text.

    name, default: the constructor argument and its default. `validate` returns the stored value.
    """

    # Signature field and its short name. Optional fields are left out if the parameter has its
    # default value.
    key = ""
    short = ""
    optional = False
    # True if signatures omit the parameter, because it does not affect scores (such as a device).
    is_hidden = False
    # Short options in addition to `--PREFIX-name`. Shared options have no prefix and set the
    # parameter of every metric that has it.
    flags: Sequence[str] = ()
    shared = False
    # Help of the option that each metric also has, which overrides the shared option; "" if none.
    own_help = ""
    # Name used in the long option, if it differs from the parameter's name.
    long = ""
    # True if commands accept the parameter's option even if the user names no metric.
    common = False
    # True if all subclasses inherit the parameter.
    inherited = False
    # Names of the parameter in other programs, for messages.
    hints: Sequence[str] = ()
    # Format of values in comparisons of settings, and labels of some values.
    phrase = ""
    labels: Mapping[Any, str] = {}

    metavar: str | None = "NAME"
    # True if the value is a sequence.
    is_sequence = False

    name: str

    def __init__(self, default: T, help: str, **attributes: Any) -> None:  # noqa: A002
        """Store the default and the help text. `attributes` override class attributes."""
        self.default = default
        self.help = self.__doc__ = help
        for name, value in attributes.items():
            assert hasattr(self, name), name
            setattr(self, name, value)

    def __set_name__(self, metric: Any, name: str) -> None:
        metric.PARAMETERS = (*vars(metric).get("PARAMETERS", ()), self)
        self.name = name
        self.key = self.key or name
        self.short = self.short or self.key
        self.phrase = self.phrase or f"{name.replace('_', ' ')} {{}}"

    def __get__(self, metric: Any, _: type | None = None) -> T:
        """Return the parameter's value in a metric, or the declaration itself in a class."""
        return self if metric is None else metric._values[self.name]  # type: ignore[return-value]  # noqa: SLF001

    def __set__(self, metric: Any, value: T) -> None:
        """Raise AttributeError, because metrics are frozen."""
        raise AttributeError(f"metrics are frozen. Use with_parameters({self.name}={value!r})")

    def validate(self, value: Any) -> Any:
        """Return the value to store. Raises ValueError or TypeError for invalid values."""
        raise NotImplementedError

    def to_field(self, value: Any) -> str:
        """Return the text of a value in a signature."""
        return str(value)

    def from_field(self, text: str) -> Any:
        """Return the value that a signature field contains."""
        raise NotImplementedError

    def from_option(self, text: str) -> Any:
        """Return the value that the text of a command-line option stands for."""
        return self.validate(self.from_field(text))

    @property
    def choices(self) -> list[str]:
        """The possible values, or an empty list for parameters without a fixed set of values."""
        return []

    def format_option(self, prefix: str) -> str:
        """Return the name of the long option."""
        return f"--{'' if self.shared else prefix}{(self.long or self.name).replace('_', '-')}"

    def format_own_option(self, metric_class: Any) -> str:
        """Return the long option for one metric, in addition to the shared option, or ""."""
        prefix = metric_class.PREFIX or f"{metric_class.NAME.lower()}-"
        return f"--{prefix}{self.name}" if self.own_help else ""

    def format_label(self, value: Any) -> str:
        """Return a short label (possibly empty) of a value, for comparisons of settings.

        >>> from truebleu import BLEU
        >>> BLEU.PARAMETERS[5].format_label(2)
        'order 2'
        """
        return self.labels.get(value) or self.phrase.format(self.to_field(value))

    @property
    def python_help(self) -> str:
        """The help text, with the possible values in Python notation."""
        return self.help

    @property
    def option_help(self) -> str:
        """The help text, with the possible values as written on the command line."""
        return self.python_help


class Flag(Parameter[bool]):
    """Boolean parameter. Signatures contain the first of `words` for False, the second for True."""

    metavar = None
    words = ("no", "yes")

    def __init__(self, help: str, *, default: bool = False, **attributes: Any) -> None:  # noqa: A002
        super().__init__(default, help, **attributes)

    def validate(self, value: Any) -> bool:
        # NumPy has its own boolean types.
        is_boolean = isinstance(value, bool | int) or type(value).__name__ in ("bool", "bool_")
        if not is_boolean or value not in (0, 1):
            raise ValueError(
                f"{self.name}={argument_checks.format_value(value)}: expected True or False"
            )
        return bool(value)

    def to_field(self, value: Any) -> str:
        return self.words[bool(value)]

    def from_option(self, text: str) -> bool:
        if text.lower() not in ("yes", "no", "true", "false"):
            raise ValueError(f"expected yes or no, not '{text}'")
        return text.lower() in ("yes", "true")

    def from_field(self, text: str) -> bool:
        if text not in self.words:
            raise ValueError(f"expected {' or '.join(self.words)}, not '{text}'")
        return text == self.words[1]

    def format_label(self, value: Any) -> str:
        return self.labels.get(value, self.name.replace("_", " ") if value else "")


class Choice(Parameter[T]):
    """Parameter with a fixed set of values and their meanings.

    words: names in signatures for values that are not strings.
    remedy: sentence at the end of messages about unknown values.
    """

    words: Mapping[Any, str] = {}
    remedy = ""

    def __init__(
        self,
        default: T,
        help: str,  # noqa: A002
        meanings: Mapping[Any, str],
        **attributes: Any,
    ) -> None:
        super().__init__(default, help, **attributes)
        self.meanings = meanings

    def validate(self, value: Any) -> Any:
        values = list(self.meanings)
        if value in values:
            return values[values.index(value)]  # 1 is True
        hint = argument_checks.suggest_names(str(value), map(str, values))
        raise ValueError(f"unknown {self.name} {value!r:.60}{hint}{self.remedy}")

    def to_field(self, value: Any) -> str:
        return str(self.words.get(value, value))

    def from_field(self, text: str) -> Any:
        values_by_text = {self.to_field(value): value for value in self.meanings}
        if text not in values_by_text:
            raise ValueError(f"expected one of {', '.join(values_by_text)}, not '{text}'")
        return values_by_text[text]

    def from_option(self, text: str) -> Any:
        values_by_text = {str(value).lower(): value for value in self.meanings}
        words = {"yes": True, "no": False}
        values_by_text |= {word: words[word] for word in words if words[word] in self.meanings}
        if text.lower() not in values_by_text:
            hint = argument_checks.suggest_names(text, values_by_text)
            raise ValueError(f"unknown '{text}'{hint}")
        return values_by_text[text.lower()]

    @property
    def choices(self) -> list[str]:
        return [value for value in self.meanings if isinstance(value, str)]

    @property
    def python_help(self) -> str:
        return self._format_help({value: repr(value) for value in self.meanings})

    @property
    def option_help(self) -> str:
        words: dict[Any, str] = {True: "yes", False: "no"}
        return self._format_help({v: words.get(v, str(v)) for v in self.meanings if v is not None})

    def _format_help(self, words: Mapping[Any, str]) -> str:
        """Return the help text with the names and meanings of values."""
        descriptions = (
            f"{word} ({self.meanings[value]})" if self.meanings[value] else word
            for value, word in words.items()
        )
        return f"{self.help}: {', '.join(descriptions)}"


class Number(Parameter[T]):
    """Number between two limits. With `integers`, integers are not converted to floats."""

    metavar = "X"
    minimum: float = 0
    maximum: float = inf
    integers = False

    def validate(self, value: Any) -> float | None:
        if value is None and self.default is None:
            return None
        number = argument_checks.check_number(self.name, value, self.minimum, self.maximum)
        # In signatures, longer integers would look like floating-point numbers.
        is_integer = self.integers and type(value) is int and number < MAX_EXACT_INTEGER
        return value if is_integer else number

    def to_field(self, value: Any) -> str:
        return repr(value)

    def from_field(self, text: str) -> float:
        number = argument_checks.parse_number(text)
        is_integer = self.integers and text.isdecimal() and number < MAX_EXACT_INTEGER
        return int(text) if is_integer else number


class WholeNumber(Number[int]):
    """Integer between two limits."""

    metavar = "N"
    minimum = 1
    maximum = MAX_ORDER

    def validate(self, value: Any) -> int:
        return argument_checks.check_integer(self.name, value, int(self.minimum), self.maximum)

    def from_field(self, text: str) -> int:
        try:
            return argument_checks.parse_whole_number(text)
        except ValueError:
            range_text = argument_checks.format_range(self.minimum, self.maximum)
            raise ValueError(f"expected a whole number {range_text}, not '{text:.40}'") from None

    @property
    def python_help(self) -> str:
        return f"{self.help}, {self.minimum} to {self.maximum}"


class Orders(Parameter[tuple[int, ...]]):
    """One or more n-gram orders, sorted. Signatures separate them with commas."""

    metavar = "N"
    is_sequence = True
    phrase = "order {}"

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: int | Iterable[int]) -> None: ...

    def validate(self, value: Any) -> tuple[int, ...]:
        items = [value]
        if not isinstance(value, int):
            items = argument_checks.check_sequence(self.name, value, "whole numbers")
        orders = tuple(
            sorted({argument_checks.check_integer(self.name, one, 1, MAX_ORDER) for one in items})
        )
        if not orders:
            raise ValueError(f"{self.name}={value!r}: expected at least one order")
        return orders

    def to_field(self, value: Iterable[int]) -> str:
        return ",".join(map(str, value))

    def from_field(self, text: str) -> list[int]:
        try:
            return list(map(argument_checks.parse_whole_number, text.split(",")))
        except ValueError:
            raise ValueError(
                f"expected whole numbers separated by commas, not '{text:.40}'"
            ) from None


class Numbers(Parameter[tuple[float, ...] | None]):
    """Up to `MAX_ORDER` weights with a sum of at most `MAX_WEIGHT_SUM`, or None."""

    metavar = "X"
    is_sequence = True

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: Sequence[float] | None) -> None: ...

    def validate(self, value: Any) -> tuple[float, ...] | None:
        return None if value is None else validate_weights(self.name, value)

    def to_field(self, value: Any) -> str:
        return ",".join(map(repr, value))

    def from_field(self, text: str) -> list[float]:
        try:
            return list(map(argument_checks.parse_number, text.split(",")))
        except ValueError:
            raise ValueError(f"expected numbers separated by commas, not '{text:.40}'") from None

    def format_label(self, value: Any) -> str:
        return f"{self.name} {','.join(f'{weight:g}' for weight in value)}"


class Words(Parameter[tuple[str, ...] | None]):
    """Set of words, or None."""

    is_sequence = True

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: Iterable[str] | None) -> None: ...

    def validate(self, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        words = argument_checks.check_sequence(self.name, value, "words")
        for word in words:
            if not isinstance(word, str) or not word:
                raise TypeError(
                    f"{self.name}: {argument_checks.format_value(word)} is not a word "
                    "(expected a str)"
                )
        return tuple(sorted(set(words)))

    def to_field(self, value: Iterable[str]) -> str:
        return ",".join(quote_field(word).replace(",", "%2C") for word in value)

    def from_field(self, text: str) -> list[str]:
        return [unquote_field(word) for word in text.split(",")] if text else []


class Text(Parameter[str]):
    """Non-empty text, such as the name of a model."""

    def validate(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{self.name}: expected text, not {value!r:.40}")
        return value.strip()

    def to_field(self, value: str) -> str:
        return quote_field(value)

    def from_field(self, text: str) -> str:
        return unquote_field(text)

    def from_option(self, text: str) -> str:
        return self.validate(text)

    def format_label(self, value: Any) -> str:
        return str(value)


class Tokenizer(Parameter[tokenizers.Tokenize]):
    """Tokenizer: a name or a callable."""

    key = "tok"
    flags = ("-tok",)
    shared = common = True
    own_help = "the tokenizer of {metric} only"

    def __init__(self, default: str = "13a", **attributes: Any) -> None:
        help_text = "the tokenizer: a name, or a callable from str to a list of str"
        super().__init__(default, help_text, **attributes)

    def validate(self, value: Any) -> Any:
        return tokenizers.resolve_tokenizer(value)

    def to_field(self, value: Any) -> str:
        return tokenizers.format_signature_label(value)

    def from_field(self, text: str) -> str:
        return tokenizers.parse_signature_label(text)

    def format_label(self, value: Any) -> str:
        return "pretokenized" if value == "none" else f"tokens {self.to_field(value)}"

    @property
    def choices(self) -> list[str]:
        return list(tokenizers.TOKENIZER_NAMES)

    @property
    def python_help(self) -> str:
        return f"{self.help} ({', '.join(tokenizers.KERNEL_TOKENIZERS)}, ...)"

    @property
    def option_help(self) -> str:
        modules = {name: module for name, (module, _) in tokenizers.PYTHON_TOKENIZERS.items()}
        names = [one for one in self.choices if modules.get(one) != "program_tokenizers"]
        return f"the tokenizer: {', '.join(names)}, or the tokenizer of another program"


def declare_lowercase(
    *, default: bool = False, has_variants: bool = True, shared: bool = True
) -> Choice[bool | str]:
    """Declare `lowercase`, a parameter of most metrics. `has_variants` adds its two variants."""
    meanings: dict[Any, str] = {False: "", True: "before tokenizing, like str.lower()"}
    if has_variants:
        meanings |= {"ascii": "A to Z only", "after": "each token, after tokenizing"}
    return Choice(
        default,
        "lower-case the text",
        meanings,
        words={False: "mixed", True: "lc"},
        key="case",
        short="c",
        flags=("-lc",) if shared else (),
        shared=shared,
        common=True,
        hints=("case_insensitive", "case_sensitive", "lc", "lower", "do_lower_case"),
        labels={
            False: "case kept",
            True: "lower case",
            "ascii": "lower case a-z",
            "after": "lower-cased tokens",
        },
    )


def declare_unicode_form() -> Choice[str | None]:
    """Declare `unicode_form`, the Unicode form of text, which is a parameter of all metrics."""
    return Choice(
        None,
        "convert all text to a Unicode form first",
        {
            None: "unchanged",
            "nfc": "a letter and its accents as one character",
            "nfkc": "also replaces compatibility characters, such as full-width letters",
            "nfc-strip": "nfc without diacritics, which are characters of category Mn",
            "nfkc-strip": "",
        },
        key="unicode",
        short="u",
        shared=True,
        common=True,
        optional=True,
        inherited=True,
        hints=("normalize", "normalization", "unicode_normalization", "strip_diacritics"),
        labels={None: "unchanged text"},
    )


# ---- encoding of texts, checks of weights ----

# Characters that signatures do not encode. Field separators, "%", and an equals sign between
# spaces, which precedes a score, are percent-encoded.
_SAFE_CHARACTERS = " !\"#$&'()*,/;<=>?@[\\]^`{}~"
_SPACED_EQUALS = "(?<= )=(?= )"


def quote_field(text: str) -> str:
    """Return text encoded as the value of a signature field."""
    from urllib.parse import quote

    quoted_text = quote(text, safe=_SAFE_CHARACTERS, errors="surrogatepass")
    return re.sub(_SPACED_EQUALS, "%3D", quoted_text)


def unquote_field(text: str) -> str:
    """Decode a text that `quote_field` encoded."""
    from urllib.parse import unquote

    return unquote(text, errors="surrogatepass")


def validate_weights(name: str, value: Any) -> tuple[float, ...]:
    """Return weights as a tuple of 1 to `MAX_ORDER` finite, non-negative numbers.

    Their sum must not exceed `MAX_WEIGHT_SUM`, because larger exponents may give infinite scores.
    """
    items = argument_checks.check_sequence(name, value, "numbers")
    weights = tuple(
        argument_checks.check_number(name, one, maximum=MAX_WEIGHT_SUM) for one in items
    )
    if not 1 <= len(weights) <= MAX_ORDER:
        raise ValueError(f"{name}={weights!r:.60}: expected 1 to {MAX_ORDER} numbers")
    if fsum(weights) > MAX_WEIGHT_SUM:
        raise ValueError(
            f"{name}={weights!r:.60}: the sum is {fsum(weights):g} (expected at most "
            f"{MAX_WEIGHT_SUM}). Divide all weights by their sum."
        )
    return weights


def check_weight_sum(weights: Sequence[float] | None) -> tuple[str, ...]:
    """Return a warning if the sum of weights is not 1."""
    total = 1.0 if weights is None else fsum(weights)
    if abs(total - 1.0) < 1e-9:
        return ()
    return (
        f"the sum of weights is {total:g}, not 1; the score is not comparable with a weighted mean",
    )


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
