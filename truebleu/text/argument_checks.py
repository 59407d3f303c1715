"""Immutable records, and checks of arguments and files: names, numbers, keys, JSON and scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import wraps
from math import inf, isfinite, isnan
from operator import index
from typing import Any, ClassVar, Self, TypeVar

from truebleu._kernel import InputError

Method = TypeVar("Method", bound=Callable[..., Any])

# More threads than this would not make scoring faster.
MAX_WORKERS = 1024
MAX_SEED_BITS = 128
# sacreBLEU's default seed.
DEFAULT_SEED = 12345
# Sums of squares of scores larger than this may overflow.
MAX_SCORE = 1e100
# Version of the JSON output of commands, which increases with each incompatible change.
JSON_VERSION = 1


class Picklable:
    """Base class that makes classes with `__slots__` work with all pickle protocols."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle with protocol 2 or later, because protocols 0 and 1 do not support slots."""
        return super().__reduce_ex__(max(2, protocol))


class Record:
    """Base class of immutable records. The annotations of a subclass are its fields, in order.

    A value assigned in the subclass is the field's default. (Importing `dataclasses` would take 20
    ms.)
    """

    _field_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Store the field names, which are the annotated names."""
        cls._field_names = tuple(cls.__annotations__)

    def __init__(self, *values: Any, **keywords: Any) -> None:
        field_names = self._field_names
        attributes = vars(self)
        attributes.update(zip(field_names, values, strict=False))
        attributes.update(keywords)
        # Fast path if every field has a value. Otherwise, missing fields need a default.
        if len(values) + len(keywords) != len(field_names) or tuple(attributes) != field_names:
            missing = [
                name for name in field_names if name not in attributes and not hasattr(self, name)
            ]
            if missing or len(values) > len(field_names) or attributes.keys() - field_names:
                raise TypeError(
                    f"{type(self).__name__}: expected the fields {', '.join(field_names)}"
                )

    def _get_field_values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._field_names}

    def replace(self, **values: Any) -> Self:
        """Return a copy with new values for some fields."""
        return type(self)(**{**self._get_field_values(), **values})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot set '{name}'")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._get_field_values() == other._get_field_values()

    def __hash__(self) -> int:
        return hash(tuple(self._get_field_values().values()))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary, with full precision."""
        return {name: _to_json_value(value) for name, value in self._get_field_values().items()}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return format_json(self.to_dict(), indent=1)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _to_json_value(item) for name, item in value.items()}
    return value.to_dict() if isinstance(value, Record) else value


def format_json(
    value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """Convert a value to JSON text without escaping non-ASCII characters.

    >>> format_json({"name": "BLEU", "matches": [1, 2.5, None, True]})
    '{"name": "BLEU", "matches": [1, 2.5, null, true]}'
    """
    import json

    return json.dumps(value, indent=indent, ensure_ascii=False, default=default)


class ParameterError(ValueError):
    """Error about invalid arguments, with a message that names several parameters.

    In the message, parameters are in double square brackets: "use [[log]] or [[against]]". The
    command line replaces them with its options.

    >>> error = ParameterError("[[max_drop]]: expected 0 or more")
    >>> str(error), error.format_with_options({"max_drop": "--max-drop"})
    ('max_drop: expected 0 or more', '--max-drop: expected 0 or more')
    """

    def __init__(self, message: str) -> None:
        self._message = message
        super().__init__(self.format_with_options({}))

    def format_with_options(self, options: Mapping[str, str]) -> str:
        """Return the message with command-line options in place of parameters."""
        import re

        return re.sub(
            r"\[\[(\w+)\]\]", lambda match: options.get(match[1], match[1]), self._message
        )


def find_closest(name: str, candidates: Iterable[str], cutoff: float = 0.4) -> str:
    """Return the candidate most similar to an unknown name, or "" if none is similar.

    >>> find_closest("smooth", ["smoothing", "tie"]), find_closest("x", ["smoothing"])
    ('smoothing', '')
    """
    import difflib

    names = list(candidates)
    matches = difflib.get_close_matches(name.lower(), names, n=1, cutoff=cutoff)
    return matches[0] if matches else ""


# Arguments of functions in other packages, and their names in truebleu, for messages.
FOREIGN_ARGUMENTS = {
    **dict.fromkeys(
        ("predictions", "preds", "hypothesis", "hyp", "hyps", "sys", "candidates", "translations"),
        "hypotheses",
    ),
    **dict.fromkeys(
        ("reference", "ref", "refs", "target", "targets", "list_of_references", "labels"),
        "references",
    ),
    **dict.fromkeys(("n_samples", "num_samples", "n_resamples", "n_bootstrap"), "samples"),
    **dict.fromkeys(("paired", "paired_bs", "paired_ar", "method"), "test"),
    **dict.fromkeys(("metric", "metric_name"), "metrics"),
    "threshold": "minimum",
}
# Options of the command line and similar guesses, and the names of these parameters in Python.
OPTION_ARGUMENTS = {
    **dict.fromkeys(("docs", "doc", "doc_ids", "docids", "doc_id", "document_ids"), "documents"),
    **dict.fromkeys(("src", "srcs", "inputs"), "source"),
    **dict.fromkeys(("tok", "tokenizer"), "tokenize"),
    **dict.fromkeys(("threads", "n_jobs", "num_workers", "n_threads", "jobs"), "workers"),
    **dict.fromkeys(("output", "out", "output_path", "file", "filename", "save"), "path"),
    **dict.fromkeys(("min", "min_score"), "minimum"),
    **dict.fromkeys(("ci", "confidence_n", "intervals"), "confidence"),
    **dict.fromkeys(("confidence_level", "conf_level"), "level"),
    **dict.fromkeys(("random_state", "rng", "random_seed"), "seed"),
    **dict.fromkeys(("lc", "lower_case"), "lowercase"),
    **dict.fromkeys(("smooth", "smooth_method"), "smoothing"),
    "input": "hypotheses",
}
# Names of one kind of argument in different functions.
_EQUIVALENT_ARGUMENTS = {"hypotheses": ("systems", "hypothesis"), "references": ("reference",)}
# Frequent parameters of metrics, which functions with `metrics` do not have.
_METRIC_PARAMETERS = (
    *("tokenize", "lowercase", "smoothing", "smoothing_value", "max_order", "effective_order"),
    *("word_order", "char_order", "beta", "unicode_form"),
)
# Similarity of parameter names from which a suggestion is useful.
_MIN_NAME_SIMILARITY = 0.65


def explain_keywords(decorated: Method) -> Method:
    """Decorate a function so that unknown keywords raise a TypeError which suggests its names."""
    function: Any = decorated
    parameters = _list_parameters(function)
    is_method = parameters[0] == "self"
    names = dict.fromkeys(parameters[is_method:])

    @wraps(function)
    def call_function(*arguments: Any, **keywords: Any) -> Any:
        if not keywords.keys() <= names.keys():
            owner = f"{type(arguments[0]).__name__}." if is_method and arguments else ""
            check_keywords(owner + function.__name__, keywords, names)
        return function(*arguments, **keywords)

    return call_function  # type: ignore[return-value]


def _list_parameters(function: Any) -> tuple[str, ...]:
    """Return the parameters of a function, except `*` and `**` parameters."""
    code = function.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names


def check_options(function: Callable[..., Any], options: Iterable[str], declared: type) -> None:
    """Raise TypeError for unknown options of a function; the message lists all parameters.

    options: the names in the function's ** parameter. declared: its TypedDict.
    """
    check_keywords(
        function.__name__, options, (*_list_parameters(function), *declared.__annotations__)
    )


def check_keywords(function: str, keywords: Iterable[str], allowed: Collection[str]) -> None:
    """Raise TypeError for unknown keywords of a function; the message suggests a name."""
    for name in keywords:
        if name not in allowed:
            hint = _suggest_argument(name, allowed)
            raise TypeError(f"{function}() has no parameter '{name}'{hint}")


def _suggest_argument(name: str, allowed: Collection[str]) -> str:
    """Return the end of a message about an unknown argument of a function: what to use instead."""
    meaning = FOREIGN_ARGUMENTS.get(name) or OPTION_ARGUMENTS.get(name) or name
    for candidate in (meaning, *_EQUIVALENT_ARGUMENTS.get(meaning, ())):
        if candidate in allowed:
            return f"; it is called '{candidate}' here"
    hint = ""
    if name == "alpha" and "level" in allowed:
        hint = "; use level=0.95 for alpha=0.05"
    elif meaning in _METRIC_PARAMETERS and "metrics" in allowed:
        hint = f"; it is a parameter of metrics: metrics=[truebleu.BLEU({meaning}=...)]"
    elif meaning == "path":
        hint = "; write the text of a method of the result, such as html() or to_json(), to a file"
    if hint:
        return f"{hint}. Available: {', '.join(allowed)}"
    return suggest_names(name, allowed, _MIN_NAME_SIMILARITY)


def suggest_names(name: str, candidates: Iterable[str], cutoff: float = 0.4) -> str:
    """Return the end of a message about an unknown name: the most similar name, and all names.

    cutoff: the similarity, from 0 to 1, from which a name is suggested.

    >>> suggest_names("intl13", ["13a", "intl"])
    "; did you mean 'intl'? Available: 13a, intl"
    """
    names = list(candidates)
    if not names:
        return ""
    closest = find_closest(name, names, cutoff)
    hint = f"; did you mean '{closest}'? Available:" if closest else "; available:"
    return f"{hint} {', '.join(names)}"


def describe_type(item: object, type_prefix: str = "of type ") -> str:
    """Describe the type of a value that is not text, or say that the value is missing.

    >>> describe_type(1), describe_type(float("nan"))
    ('of type int', 'NaN, a missing value (replace it with "" or remove the segment)')
    """
    name = type(item).__name__
    # Only NaN differs from itself. Comparisons with pandas.NA have no truth value.
    if isinstance(item, float) and item != item:  # noqa: PLR0124
        name = "NaN"
    elif item is not None and name not in ("NAType", "NaTType"):
        return f"{type_prefix}{name}"
    name = {"NAType": "pandas.NA", "NaTType": "pandas.NaT", "NoneType": "None"}.get(name, name)
    return f'{name}, a missing value (replace it with "" or remove the segment)'


def check_string(parameter: str, value: object, expected: str) -> None:
    """Raise a TypeError that names the `expected` string if a value is not a string."""
    if not isinstance(value, str):
        raise TypeError(f"{parameter}={format_value(value)}: expected {expected}")


def check_choice(parameter: str, value: object, choices: Iterable[object]) -> None:
    """Raise ValueError if a value is not one of the choices."""
    if value not in list(choices):
        known_names = [word for word in choices if isinstance(word, str)]
        raise ValueError(f"unknown {parameter} {value!r}{suggest_names(str(value), known_names)}")


def format_range(minimum: float, maximum: float = inf) -> str:
    """Return a phrase that describes the range between two limits.

    >>> format_range(1, 10_000_000), format_range(0), format_range(-inf)
    ('from 1 to 10,000,000', 'of 0 or more', 'that is finite')
    """
    if (minimum, maximum) == (-inf, inf):
        return "that is finite"
    low, high = (
        f"{limit:,.15g}" if abs(limit) < 1e15 else f"{limit:g}" for limit in (minimum, maximum)
    )
    is_unbounded = maximum == inf or (isinstance(maximum, int) and maximum > 1e15)
    return f"of {low} or more" if is_unbounded else f"from {low} to {high}"


def check_integer(parameter: str, value: object, minimum: int, maximum: float = inf) -> int:
    """Return a value if it is a whole number within the limits; otherwise, raise ValueError."""
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None or not minimum <= number <= maximum:
        raise ValueError(
            f"{parameter}={format_value(value)}: expected a whole number "
            f"{format_range(minimum, maximum)}"
        )
    return number


def check_number(parameter: str, value: object, minimum: float = 0, maximum: float = inf) -> float:
    """Return a finite number within the limits (0.0 for -0.0), or raise ValueError."""
    try:
        # float() would also accept text: see `parse_number`.
        is_text = isinstance(value, bool | str | bytes | bytearray)
        number = inf if is_text else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = inf
    if not minimum <= number <= maximum or not isfinite(number):
        raise ValueError(
            f"{parameter}={format_value(value)}: expected a number {format_range(minimum, maximum)}"
        )
    return number + 0.0


def format_value(value: object) -> str:
    """Return a short repr of a value for a message."""
    try:
        return f"{value!r:.40}"
    except ValueError:  # Python does not print integers of more than 4,300 digits
        return f"{type(value).__name__}(...)"


def check_sequence(parameter: str, value: Any, expected: str) -> list[Any]:
    """Return the items of a sequence, or raise a TypeError that names the `expected` items."""
    try:
        if not isinstance(value, str | bytes | bytearray | dict):
            return list(value)
    except TypeError:
        pass
    raise TypeError(f"{parameter}={format_value(value)}: expected a sequence of {expected}")


_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def parse_number(text: str) -> float:
    """Return the finite number that a string contains in ASCII digits.

    Spaces and tabs may surround it. Raises ValueError for other strings, including some that
    `float()` accepts: `1_0`, `nan`, `inf`, digits of other scripts.

    >>> parse_number(" -1.5e3"), parse_number(".5")
    (-1500.0, 0.5)
    """
    import re

    stripped = text.strip(" \t\r\n")
    number = float(stripped) if re.fullmatch(_NUMBER, stripped) else inf
    if not isfinite(number):
        raise ValueError(f"expected a number, not {format_value(text.strip())}")
    return number


def is_whole_number(text: str) -> bool:
    """Return whether a string consists of 1 to 40 ASCII digits, so that `int()` can convert it."""
    return text.isascii() and text.isdecimal() and len(text) <= 40


def parse_whole_number(text: str) -> int:
    """Convert a string of at most 40 ASCII digits to a whole number.

    Raises ValueError for other strings, including some that `int()` accepts: `1_0`, `+1`, ` 1`.
    """
    if not is_whole_number(text):
        raise ValueError(f"expected a whole number, not {format_value(text.strip())}")
    return int(text)


def check_fraction(parameter: str, value: object) -> float:
    """Return a value if it is a number between 0 and 1, exclusive; otherwise, raise ValueError."""
    if not isinstance(value, float) or not 0 < value < 1:
        raise ValueError(
            f"{parameter}={value!r:.40}: expected a number between 0 and 1, such as 0.95"
        )
    return value


def check_confidence_level(value: object) -> float:
    """Return a confidence level above 0.5 and below 1; otherwise, raise ValueError."""
    level = check_fraction("level", value)
    problem = explain_low_level(level)
    if problem:
        raise ValueError(f"level: {problem}")
    return level


def explain_low_level(level: float) -> str:
    """Explain why a confidence level is too low, or return "".

    A value such as 0.05 is probably a significance level. As a confidence level, it would make
    p-values up to 0.95 significant.

    >>> explain_low_level(0.05)
    '0.05 is below 0.5 (expected a confidence level such as 0.95). For p < 0.05, use 0.95'
    """
    if level > 0.5:
        return ""
    expected = "(expected a confidence level such as 0.95)"
    if level == 0.5:
        return f"0.5 is too low {expected}"
    return f"{level:g} is below 0.5 {expected}. For p < {level:g}, use {1 - level:g}"


def check_workers(workers: object) -> int:
    """Return a valid number of threads, limited to `MAX_WORKERS`."""
    return min(check_integer("workers", workers, 1), MAX_WORKERS)


def check_segment_keys(parameter: str, keys: Iterable[Hashable], segment_count: int) -> list[Any]:
    """Return keys, such as documents, as a list. Raise InputError if their number is wrong."""
    if isinstance(keys, str) or not hasattr(keys, "__iter__"):
        found = describe_type(keys, "a single ")
        raise TypeError(f"{parameter}: expected a sequence of keys, found {found}")
    key_list = list(keys)
    try:
        set(key_list)
    except TypeError as error:
        raise TypeError(f"{parameter}: expected keys such as strings, found an {error}") from None
    if len(key_list) != segment_count:
        raise InputError(
            f"{parameter}: expected one key per segment ({segment_count}), found {len(key_list)}"
        )
    return key_list


def check_seed(value: object) -> int | None:
    """Return a valid random seed, or None for a new seed per run; otherwise, raise ValueError."""
    if value is None:
        return None
    try:
        return check_integer("seed", value, 0, (1 << MAX_SEED_BITS) - 1)
    except ValueError:
        raise ValueError(
            f"seed={value!r:.60}: expected None or a non-negative whole number "
            f"of at most {MAX_SEED_BITS} bits"
        ) from None


# ---- JSON, CSV and scores from files; one-line errors contain the file and line number ----


def load_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; raise ValueError if it is invalid or too deeply nested."""
    import json

    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_json(text: str, path: str, line: int = 1) -> Any:
    """Parse JSON text that starts at the given line of a file, and return its value.

    Raises InputError with the position in the file.
    """
    try:
        return load_json(text)
    except ValueError as error:
        number = line + getattr(error, "lineno", 1) - 1
        column = f", column {error.colno}" if hasattr(error, "colno") else ""
        problem = str(getattr(error, "msg", error))
        raise InputError(f"{path}, line {number}{column}: not JSON: {problem}") from None


def read_csv(path: str, lines: Iterable[str], **options: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each CSV row. A row must not span several lines.

    options: keywords for `csv.reader`. Raises InputError for a quoted field that continues on the
    next line and for a field of more than 131,072 characters.
    """
    import csv

    reader = csv.reader(lines, strict=True, **options)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = str(error)
        else:
            problem = "" if reader.line_num == number else "a quoted field spans several lines"
        if problem:
            raise InputError(
                f"{path}, line {number}: invalid CSV: {problem} (expected one row per line). "
                "Look for an unclosed quote."
            )
        yield number, cells


def to_score(value: Any) -> float:
    """Return a score as a float. NaN is accepted only as a float, not as text.

    Raises ValueError for other values.

    >>> to_score("1.5"), to_score("1e101")
    Traceback (most recent call last):
    ValueError: expected a number from -1e+100 to 1e+100
    """
    is_nan = isinstance(value, float) and isnan(value)
    if isinstance(value, str):
        score = parse_number(value)
    else:
        score = value if is_nan else check_number("value", value, -inf)
    if abs(score) > MAX_SCORE:
        raise ValueError(f"expected a number from {-MAX_SCORE:g} to {MAX_SCORE:g}")
    return score
