"""A metric's parameters, each declared once: its name, default and range, its field in signatures,
its option on the command line, and a sentence of help.

A metric declares its parameters as attributes of its class. The checks of its constructor, its
properties, its signature both ways, its options, its documentation and the labels of views are made
of these declarations.
"""  # noqa: D205

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, inf
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from truebleu.text import checks, tokenizers

T = TypeVar("T")

# The longest n-grams that a metric counts.
MAX_ORDER = 16
# The sum of weights: 100 ** MAX_WEIGHT is a finite number.
MAX_WEIGHT = 100
# Integers below this are exact as floating-point numbers, and have fewer than 16 digits.
EXACT = 10**15


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
        assert all(hasattr(self, name) for name in more), more
        self.default = default
        self.help = help
        vars(self).update(more)

    def __set_name__(self, metric: Any, name: str) -> None:
        metric.PARAMETERS = (*vars(metric).get("PARAMETERS", ()), self)
        self.name = name
        self.key = self.key or name
        self.short = self.short or self.key
        self.phrase = self.phrase or f"{name.replace('_', ' ')} {{}}"

    if TYPE_CHECKING:  # a metric makes it a property

        def __get__(self, metric: object, _: type | None = None) -> T: ...

    def getter(self) -> Callable[[Any], Any]:
        """A function that gives the value of this parameter of a metric."""
        name = self.name
        return lambda metric: metric._values[name]  # noqa: SLF001

    def refuse(self, _: object, value: object) -> None:
        """Refuses another value in a metric, which would no longer be the same metric."""
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
            raise ValueError(f"{self.name}={checks.shown(value)}: expected True or False")
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
        raise ValueError(f"unknown {self.name} {value!r}{checks.nearest(str(value), words)}")

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
            raise ValueError(f"unknown '{text}'{checks.nearest(text, meant)}")
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
        number = checks.number(self.name, value, self.least, self.most)
        # Signatures do not tell longer integers from floating-point numbers.
        return value if self.integers and type(value) is int and number < EXACT else number

    def written(self, value: Any) -> str:
        return repr(value)

    def read(self, text: str) -> float:
        number = checks.parse_number(text)
        return int(text) if self.integers and text.isdecimal() and number < EXACT else number


class WholeNumber(Number[int]):
    """A whole number between two limits."""

    metavar = "N"
    least = 1
    most = MAX_ORDER

    def checked(self, value: Any) -> int:
        return checks.whole(self.name, value, int(self.least), self.most)

    def read(self, text: str) -> int:
        try:
            return checks.parse_whole_number(text)
        except ValueError:
            span = checks.span(self.least, self.most)
            raise ValueError(f"expected a whole number {span}, not '{text:.40}'") from None

    @property
    def documented(self) -> str:
        return f"{self.help}, {self.least} to {self.most}"


class Numbers(Parameter[tuple[float, ...] | None]):
    """Up to `MAX_ORDER` weights, whose sum is at most `MAX_WEIGHT`, or None."""

    metavar = "X"
    several = True

    def checked(self, value: Any) -> tuple[float, ...] | None:
        return None if value is None else checked_weights(self.name, value)

    def written(self, value: Any) -> str:
        return ",".join(map(repr, value))

    def read(self, text: str) -> list[float]:
        try:
            return list(map(checks.parse_number, text.split(",")))
        except ValueError:
            raise ValueError(
                f"expected numbers with commas between them, not '{text:.40}'"
            ) from None

    def label(self, value: Any) -> str:
        return f"{self.name} {','.join(f'{one:g}' for one in value)}"


class Words(Parameter[tuple[str, ...] | None]):
    """Several words, or None, in no order."""

    several = True

    def checked(self, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        words = checks.items(self.name, value, "words")
        for word in words:
            if not isinstance(word, str) or not word:
                raise TypeError(f"{self.name}: {checks.shown(word)} is not a word (expected a str)")
        return tuple(sorted(set(words)))

    def written(self, value: Iterable[str]) -> str:
        return ",".join(quoted(word).replace(",", "%2C") for word in value)

    def read(self, text: str) -> list[str]:
        return [unquoted(word) for word in text.split(",")] if text else []


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
    given = checks.items(name, value, "numbers")
    weights = tuple(checks.number(name, one, most=MAX_WEIGHT) for one in given)
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

    def __init__(self, default: str = "13a", **more: Any) -> None:
        super().__init__(
            default,
            "the tokenizer: a name, or a callable from str to a list of str",
            key="tok",
            flags=("-tok",),
            shared=True,
            common=True,
            **more,
        )

    def checked(self, value: Any) -> Any:
        return tokenizers.checked(value)

    def written(self, value: Any) -> str:
        return tokenizers.label(value)

    def read(self, text: str) -> str:
        return tokenizers.named(text)

    def label(self, value: Any) -> str:
        return "tokens as given" if value == "none" else f"tokens {tokenizers.label(value)}"

    def plain(self, value: Any) -> str:
        return tokenizers.label(value)

    @property
    def choices(self) -> list[str]:
        return list(tokenizers.NAMES)

    @property
    def documented(self) -> str:
        return f"{self.help} ({', '.join(tokenizers.KERNEL)}, ...)"

    @property
    def typed_help(self) -> str:
        others = {
            name for name, (room, _) in tokenizers.PYTHON.items() if room == "program_tokenizers"
        }
        own = [name for name in tokenizers.NAMES if name not in others]
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
