"""A metric's parameters, each declared once: its name, default and range, its field in signatures,
its option on the command line, and a sentence of help.

A metric declares its parameters as annotated attributes of its class. Its constructor with all
checks, its attributes, its signature both ways, its options, its documentation and the labels of
views are made of these declarations.
"""  # noqa: D205

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, inf
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from truebleu.text import argument_checks, tokenizers

if TYPE_CHECKING:
    import inspect

T = TypeVar("T")

# The longest n-grams that a metric counts.
MAX_ORDER = 16
# The sum of weights: 100 ** MAX_WEIGHT is a finite number.
MAX_WEIGHT = 100
# Integers below this are exact as floating-point numbers, and have fewer than 16 digits.
EXACT = 10**15


# ---- an object that is its parameters ----


class _ConstructorSignature:
    """The arguments of a constructor that is made of declarations, for `help` and `inspect`."""

    def __get__(self, _: object, cls: type[Parametrized]) -> inspect.Signature | None:
        if cls.__init__ is not Parametrized.__init__:
            return None  # it has its own
        from inspect import Parameter as Argument
        from inspect import Signature

        types: dict[str, str] = {}
        for one in reversed(cls.__mro__):
            types |= getattr(one, "__annotations__", {})
        arguments = []
        for p in cls.PARAMETERS:
            is_first = p.name in cls._POSITIONAL
            told = re.search(r"\[(.*)\]", types.get(p.name, ""))
            arguments.append(
                Argument(
                    p.name,
                    Argument.POSITIONAL_OR_KEYWORD if is_first else Argument.KEYWORD_ONLY,
                    default=p.default,
                    annotation=told[1] if told else Argument.empty,
                )
            )
        return Signature(arguments)


@dataclass_transform(eq_default=False)
class Parametrized:
    """An object with parameters: frozen, hashable, equal if its parameters are.

    A subclass declares each parameter as an attribute that is annotated `Parameter[type]`. Those
    before `_: KW_ONLY` may be given by position. As in a dataclass, the constructor is made of the
    annotated attributes, for type checkers too; `_prepare` is called in the end.
    """

    __slots__ = ("_values",)

    PARAMETERS: ClassVar[tuple[Parameter[Any], ...]] = ()
    # The default and the check of each parameter, and the names that may be given by position.
    _CHECKS: ClassVar[dict[str, tuple[Any, Callable[[Any], Any]]]] = {}
    _POSITIONAL: ClassVar[tuple[str, ...]] = ()
    _values: dict[str, Any]

    __signature__ = _ConstructorSignature()

    def __init_subclass__(cls) -> None:
        """Collect the declarations, and add their help to the documentation."""
        super().__init_subclass__()
        if "PARAMETERS" in vars(cls):  # else they are those of the class above
            above = (p for base in cls.__bases__ for p in getattr(base, "PARAMETERS", ()))
            names = {p.name for p in cls.PARAMETERS}
            inherited = {p.name: p for p in above if p.inherited and p.name not in names}
            cls.PARAMETERS = (*cls.PARAMETERS, *inherited.values())
            cls._CHECKS = {p.name: (p.default, p.checked) for p in cls.PARAMETERS}
            annotated = list(cls.__annotations__)
            first = annotated.index("_") if "_" in annotated else 0
            cls._POSITIONAL = tuple(name for name in annotated[:first] if name in names)
        if cls.PARAMETERS and vars(cls).get("__doc__") is not None:
            # The sentences of help stand behind the first paragraphs, before the example.
            head, mark, example = (cls.__doc__ or "").partition("\n    >>> ")
            told = "\n".join(f"    {p.name}: {p.documented}." for p in cls.PARAMETERS)
            cls.__doc__ = f"{head.rstrip()}\n\n{told}\n{mark}{example}"

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse unknown parameters, and name the nearest known one."""
        if not given.keys() <= cls._CHECKS.keys():
            name = min(given.keys() - cls._CHECKS.keys())
            for parameter in cls.PARAMETERS:
                if name in parameter.hints:
                    raise TypeError(
                        f"{cls.__name__} has no parameter '{name}'; it is called "
                        f"'{parameter.name}' here"
                    )
            near = argument_checks.suggest_names(name, list(cls._CHECKS))
            raise TypeError(f"{cls.__name__} has no parameter '{name}'{near}")
        return object.__new__(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        if len(values) > len(self._POSITIONAL):
            raise TypeError(
                f"{type(self).__name__} takes {len(self._POSITIONAL)} arguments by position at "
                f"most, not {len(values)}; give others by name"
            )
        for name, value in zip(self._POSITIONAL, values, strict=False):
            if name in named:
                raise TypeError(f"{type(self).__name__} got '{name}' by position and by name")
            named[name] = value
        self._keep(named)
        self._prepare()

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Check and keep the parameters; those that are not given have their defaults.

        given: values by name. Names of no parameter are ignored.
        """
        # Defaults need no check, and most values are.
        self._values = {
            name: value if (value := given.get(name, default)) is default else checked(value)
            for name, (default, checked) in self._CHECKS.items()
        }

    def _prepare(self) -> None:
        """Check what depends on several parameters, and make what is needed to count."""

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters and their values."""
        return dict(self._values)

    def with_parameters(self, **changed: Any) -> Self:
        """The same metric with some parameters changed."""
        return type(self)(**{**self._values, **changed})

    def __repr__(self) -> str:
        given = [
            f"{p.name}={self._values[p.name]!r}"
            for p in self.PARAMETERS
            if self._values[p.name] != p.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def _key(self) -> Any:
        """The parameters in a form that is equal for metrics of the same signature."""
        return tuple(self._values.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._key == other._key)

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_construct, (type(self), self._values))


def _construct(cls: type[Parametrized], values: dict[str, Any]) -> Parametrized:
    return cls(**values)


# ---- the kinds of parameters ----


class Parameter(Generic[T]):
    """One parameter. Subclasses say which values it takes, and how these are written.

    name, default: as in the constructor. `checked` gives the value that is kept.
    """

    # The field in signatures, and its short form; an optional field is left out for the default.
    key = ""
    short = ""
    optional = False
    # True if it changes no number (as a device does), so that no signature has it.
    silent = False
    # Short options beside `--name`, which has the metric's prefix; shared options have no prefix
    # and set the parameter of each metric that has it.
    flags: Sequence[str] = ()
    shared = False
    # The name in the long option, if it is not that of the parameter.
    long = ""
    # True if commands have its option where no metric is named, too.
    common = False
    # True if every class below the one that declares it has it, too.
    inherited = False
    # The names of the parameter in other programs, for messages.
    hints: Sequence[str] = ()
    # Words for values, and for some of them, where settings are compared.
    phrase = ""
    labels: Mapping[Any, str] = {}

    metavar: str | None = "NAME"
    # True if the value is a sequence.
    several = False

    name: str

    def __init__(self, default: T, help: str, **more: Any) -> None:  # noqa: A002
        """more: of the attributes above, and of those of the subclass, what is not the default."""
        self.default = default
        self.help = self.__doc__ = help
        for name, value in more.items():
            assert hasattr(self, name), name
            setattr(self, name, value)

    def __set_name__(self, metric: Any, name: str) -> None:
        metric.PARAMETERS = (*vars(metric).get("PARAMETERS", ()), self)
        self.name = name
        self.key = self.key or name
        self.short = self.short or self.key
        self.phrase = self.phrase or f"{name.replace('_', ' ')} {{}}"

    def __get__(self, metric: Any, _: type | None = None) -> T:
        """The value in a metric; of a class the declaration itself."""
        return self if metric is None else metric._values[self.name]  # type: ignore[return-value]  # noqa: SLF001

    def __set__(self, metric: Any, value: T) -> None:
        """Refuse another value in a metric, which would no longer be the same metric."""
        raise AttributeError(f"metrics are frozen; make another with {self.name}={value!r}")

    def checked(self, value: Any) -> Any:
        """The value as it is kept. Raises ValueError or TypeError for an invalid one."""
        raise NotImplementedError

    def written(self, value: Any) -> str:
        """The value as written in a signature."""
        return str(value)

    def read(self, text: str) -> Any:
        """The value of a field of a signature."""
        raise NotImplementedError

    def typed(self, text: str) -> Any:
        """The value of an option on the command line."""
        return self.checked(self.read(text))

    @property
    def choices(self) -> list[str]:
        """The words to choose from; empty for other kinds."""
        return []

    def option(self, prefix: str) -> str:
        """The long option."""
        return f"--{'' if self.shared else prefix}{(self.long or self.name).replace('_', '-')}"

    def label(self, value: Any) -> str:
        """A value in a word or two, where settings are compared; may be empty.

        >>> from truebleu import BLEU
        >>> BLEU.PARAMETERS[5].label(2)
        'order 2'
        """
        return self.labels.get(value) or self.phrase.format(self.written(value))

    def plain(self, value: Any) -> Any:
        """The value in the types of JSON."""
        return list(value) if isinstance(value, tuple) else value

    @property
    def documented(self) -> str:
        """The sentence of help, with the choices in Python."""
        return self.help

    @property
    def typed_help(self) -> str:
        """The sentence of help, with the choices on the command line."""
        return self.documented


class Flag(Parameter[bool]):
    """Yes or no. `words` stand for no and yes in signatures."""

    metavar = None
    words = ("no", "yes")

    def __init__(self, help: str, **more: Any) -> None:  # noqa: A002
        super().__init__(False, help, **more)

    def checked(self, value: Any) -> bool:
        # NumPy's truth values have a type of their own.
        known = isinstance(value, bool | int) or type(value).__name__ in ("bool", "bool_")
        if not known or value not in (0, 1):
            raise ValueError(
                f"{self.name}={argument_checks.format_value(value)}: expected True or False"
            )
        return bool(value)

    def written(self, value: Any) -> str:
        return self.words[bool(value)]

    def typed(self, text: str) -> bool:
        if text.lower() not in ("yes", "no", "true", "false"):
            raise ValueError(f"'{text}' is neither yes nor no")
        return text.lower() in ("yes", "true")

    def read(self, text: str) -> bool:
        if text not in self.words:
            raise ValueError(f"'{text}' is neither {' nor '.join(self.words)}")
        return text == self.words[1]

    def label(self, value: Any) -> str:
        return self.labels.get(value, self.name.replace("_", " ") if value else "")


class Choice(Parameter[T]):
    """One of a few values, each with its meaning.

    words: the names in signatures of values that are not words.
    """

    words: Mapping[Any, str] = {}

    def __init__(self, default: T, help: str, meanings: Mapping[Any, str], **more: Any) -> None:  # noqa: A002
        super().__init__(default, help, **more)
        self.meanings = meanings

    def checked(self, value: Any) -> Any:
        known = list(self.meanings)
        if value in known:
            return known[known.index(value)]  # 1 is True
        words = [word for word in known if isinstance(word, str)]
        raise ValueError(
            f"unknown {self.name} {value!r}{argument_checks.suggest_names(str(value), words)}"
        )

    def written(self, value: Any) -> str:
        return str(self.words.get(value, value))

    def read(self, text: str) -> Any:
        meant = {self.written(value): value for value in self.meanings}
        if text not in meant:
            raise ValueError(f"'{text}' is none of {', '.join(meant)}")
        return meant[text]

    def typed(self, text: str) -> Any:
        meant = {str(value).lower(): value for value in self.meanings}
        meant |= {
            word: value for word, value in (("yes", True), ("no", False)) if value in self.meanings
        }
        if text.lower() not in meant:
            raise ValueError(f"unknown '{text}'{argument_checks.suggest_names(text, meant)}")
        return meant[text.lower()]

    @property
    def choices(self) -> list[str]:
        return [value for value in self.meanings if isinstance(value, str)]

    @property
    def documented(self) -> str:
        return self._told({value: repr(value) for value in self.meanings})

    @property
    def typed_help(self) -> str:
        words: dict[Any, str] = {True: "yes", False: "no"}
        return self._told({v: words.get(v, str(v)) for v in self.meanings if v is not None})

    def _told(self, words: Mapping[Any, str]) -> str:
        """The sentence of help, with values in these words and what they mean."""
        told = (
            f"{word} ({self.meanings[value]})" if self.meanings[value] else word
            for value, word in words.items()
        )
        return f"{self.help}: {', '.join(told)}"


class Number(Parameter[T]):
    """A number between two limits; with `integers`, one that was written without a point stays."""

    metavar = "X"
    least: float = 0
    most: float = inf
    integers = False

    def checked(self, value: Any) -> float | None:
        if value is None and self.default is None:
            return None
        number = argument_checks.check_number(self.name, value, self.least, self.most)
        # Signatures do not tell longer integers from floating-point numbers.
        return value if self.integers and type(value) is int and number < EXACT else number

    def written(self, value: Any) -> str:
        return repr(value)

    def read(self, text: str) -> float:
        number = argument_checks.parse_number(text)
        return int(text) if self.integers and text.isdecimal() and number < EXACT else number


class WholeNumber(Number[int]):
    """A whole number between two limits."""

    metavar = "N"
    least = 1
    most = MAX_ORDER

    def checked(self, value: Any) -> int:
        return argument_checks.check_integer(self.name, value, int(self.least), self.most)

    def read(self, text: str) -> int:
        try:
            return argument_checks.parse_whole_number(text)
        except ValueError:
            span = argument_checks.format_range(self.least, self.most)
            raise ValueError(f"expected a whole number {span}, not '{text:.40}'") from None

    @property
    def documented(self) -> str:
        return f"{self.help}, {self.least} to {self.most}"


class Orders(Parameter[tuple[int, ...]]):
    """One length of n-grams or several, kept in order. Signatures separate them by commas."""

    metavar = "N"
    several = True
    phrase = "order {}"

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: int | Iterable[int]) -> None: ...

    def checked(self, value: Any) -> tuple[int, ...]:
        one = isinstance(value, int)
        given = (
            [value] if one else argument_checks.check_sequence(self.name, value, "whole numbers")
        )
        found = tuple(
            sorted({argument_checks.check_integer(self.name, one, 1, MAX_ORDER) for one in given})
        )
        if not found:
            raise ValueError(f"{self.name}={value!r}: expected at least one")
        return found

    def written(self, value: Iterable[int]) -> str:
        return ",".join(map(str, value))

    def read(self, text: str) -> list[int]:
        try:
            return list(map(argument_checks.parse_whole_number, text.split(",")))
        except ValueError:
            raise ValueError(
                f"expected whole numbers with commas between them, not '{text:.40}'"
            ) from None


class Numbers(Parameter[tuple[float, ...] | None]):
    """Up to `MAX_ORDER` weights, whose sum is at most `MAX_WEIGHT`, or None."""

    metavar = "X"
    several = True

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: Sequence[float] | None) -> None: ...

    def checked(self, value: Any) -> tuple[float, ...] | None:
        return None if value is None else checked_weights(self.name, value)

    def written(self, value: Any) -> str:
        return ",".join(map(repr, value))

    def read(self, text: str) -> list[float]:
        try:
            return list(map(argument_checks.parse_number, text.split(",")))
        except ValueError:
            raise ValueError(
                f"expected numbers with commas between them, not '{text:.40}'"
            ) from None

    def label(self, value: Any) -> str:
        return f"{self.name} {','.join(f'{one:g}' for one in value)}"


class Words(Parameter[tuple[str, ...] | None]):
    """Several words, or None, in no order."""

    several = True

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: Iterable[str] | None) -> None: ...

    def checked(self, value: Any) -> tuple[str, ...] | None:
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

    def written(self, value: Iterable[str]) -> str:
        return ",".join(quoted(word).replace(",", "%2C") for word in value)

    def read(self, text: str) -> list[str]:
        return [unquoted(word) for word in text.split(",")] if text else []


class Text(Parameter[str]):
    """A text that is not empty, as the name of a model."""

    def checked(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{self.name}: expected text, not {value!r:.40}")
        return value.strip()

    def written(self, value: str) -> str:
        return quoted(value)

    def read(self, text: str) -> str:
        return unquoted(text)

    def typed(self, text: str) -> str:
        return self.checked(text)

    def label(self, value: Any) -> str:
        return str(value)


class Tokenizer(Parameter[tokenizers.Tokenize]):
    """A tokenizer by name, or a callable."""

    key = "tok"
    flags = ("-tok",)
    shared = common = True

    def __init__(self, default: str = "13a", **more: Any) -> None:
        told = "the tokenizer: a name, or a callable from str to a list of str"
        super().__init__(default, told, **more)

    def checked(self, value: Any) -> Any:
        return tokenizers.resolve_tokenizer(value)

    def written(self, value: Any) -> str:
        return tokenizers.format_signature_label(value)

    def read(self, text: str) -> str:
        return tokenizers.name_from_label(text)

    def label(self, value: Any) -> str:
        return (
            "tokens as given"
            if value == "none"
            else f"tokens {tokenizers.format_signature_label(value)}"
        )

    def plain(self, value: Any) -> str:
        return tokenizers.format_signature_label(value)

    @property
    def choices(self) -> list[str]:
        return list(tokenizers.TOKENIZER_NAMES)

    @property
    def documented(self) -> str:
        return f"{self.help} ({', '.join(tokenizers.KERNEL_TOKENIZERS)}, ...)"

    @property
    def typed_help(self) -> str:
        others = {
            name
            for name, (room, _) in tokenizers.PYTHON_TOKENIZERS.items()
            if room == "program_tokenizers"
        }
        own = [name for name in tokenizers.TOKENIZER_NAMES if name not in others]
        return f"the tokenizer: {', '.join(own)}, or another program's"


def lowercase(*, more: bool = True, shared: bool = True) -> Choice[bool | str]:
    """Lower-casing, a parameter of most metrics; with `more`, of several kinds."""
    meanings: dict[Any, str] = {False: "", True: "first, as str.lower()"}
    if more:
        meanings |= {"ascii": "A to Z only", "after": "each token, after tokenizing"}
    return Choice(
        False,
        "lower-case the text",
        meanings,
        words={False: "mixed", True: "lc"},
        key="case",
        short="c",
        flags=("-lc",) if shared else (),
        shared=shared,
        common=True,
        hints=("case_insensitive", "case_sensitive"),
        labels={
            False: "case kept",
            True: "lower case",
            "ascii": "lower case a-z",
            "after": "lower case after",
        },
    )


def normalization() -> Choice[str | None]:
    """The Unicode form of text, a parameter of all metrics."""
    return Choice(
        None,
        "convert all text to a Unicode form first",
        {
            None: "as it is",
            "nfc": "a letter and its accents as one character",
            "nfkc": "also compatible characters, such as full-width letters, as the usual ones",
            "nfc-strip": "nfc without diacritics, which are the characters of category Mn",
            "nfkc-strip": "",
        },
        key="unicode",
        short="u",
        shared=True,
        common=True,
        optional=True,
        inherited=True,
        hints=("normalization", "unicode_normalization", "strip_diacritics"),
        long="normalize",
        labels={None: "text as it is"},
    )


# ---- texts and weights as values ----

# Characters that stand in a signature as they are. Those that separate its fields, "%", and an
# equals sign between spaces, behind which a score stands, are percent-encoded.
_AS_IT_IS = " !\"#$&'()*,/;<=>?@[\\]^`{}~"
_EQUALS = re.compile("(?<= )=(?= )")


def quoted(text: str) -> str:
    """Return text as the value of a field of a signature."""
    from urllib.parse import quote

    return _EQUALS.sub("%3D", quote(text, safe=_AS_IT_IS, errors="surrogatepass"))


def unquoted(text: str) -> str:
    """Return the text of which `quoted` made the value of a field."""
    from urllib.parse import unquote

    return unquote(text, errors="surrogatepass")


def checked_weights(name: str, value: Any) -> tuple[float, ...]:
    """Return weights as a tuple of 1 to `MAX_ORDER` finite numbers of 0 or more.

    Their sum is at most `MAX_WEIGHT`: larger exponents of a precision give no finite score.
    """
    given = argument_checks.check_sequence(name, value, "numbers")
    weights = tuple(argument_checks.check_number(name, one, maximum=MAX_WEIGHT) for one in given)
    if not 1 <= len(weights) <= MAX_ORDER:
        raise ValueError(f"{name}={weights!r:.60}: expected 1 to {MAX_ORDER} numbers")
    if fsum(weights) > MAX_WEIGHT:
        raise ValueError(
            f"{name}={weights!r:.60}: their sum is {fsum(weights):g}, above {MAX_WEIGHT}; "
            "divide all by their sum"
        )
    return weights


def warn_of_sum(name: str, weights: Sequence[float] | None) -> tuple[str, ...]:
    """Return a warning if the sum of weights is not 1."""
    total = 1.0 if weights is None else fsum(weights)
    if abs(total - 1.0) < 1e-9:
        return ()
    return (
        f"the sum of {name} is {total:g}, not 1; the score is not comparable with a weighted mean",
    )
