"""Every metric by name: one table, which Python, the command line, views, engines and logs read.

A new metric is one file in this folder and one line in `METRICS`. Nothing is imported before it is
asked for. Rooms above add what they know by name (`add_source`), as the BLEU family does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from truebleu.metrics.base import CIRCUMSTANCES, Metric, Signature
from truebleu.metrics.scores import split_signature
from truebleu.text import argument_checks

AnyMetric = Metric[Any]
# Each name: where the metric is, and the parameters that the name stands for.
METRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "bleu": ("bleu:BLEU", {}),
    "chrf": ("chrf:CHRF", {}),
    "chrf+": ("chrf:CHRF", {"word_order": 1}),
    "chrf++": ("chrf:CHRF", {"word_order": 2}),
    "ter": ("ter:TER", {}),
    "wer": ("wer:WER", {}),
    "mer": ("wer:MER", {}),
    "wil": ("wer:WIL", {}),
    "wip": ("wer:WIP", {}),
    "cer": ("wer:CER", {}),
    "nist": ("nist:NIST", {}),
    "gleu": ("gleu:GLEU", {}),
    "ngram-f": ("ngram_f_score:NGramF", {}),
    "rouge-1": ("rouge:ROUGE", {"type": "1"}),
    "rouge-2": ("rouge:ROUGE", {"type": "2"}),
    "rouge-l": ("rouge:ROUGE", {"type": "l"}),
    "rouge-lsum": ("rouge:ROUGE", {"type": "lsum"}),
    "meteor": ("meteor:METEOR", {}),
    "meteor-nltk": ("nltk_meteor:NLTKMETEOR", {}),
    "gec-gleu": ("gec_gleu:GECGLEU", {}),
    "ibleu": ("ibleu:IBLEU", {}),
    "nltk-bleu": ("nltk_bleu:NLTKBLEU", {}),
    "codebleu": ("codebleu:CodeBLEU", {"language": "java"}),
    "cdec-bleu": ("cdec:CdecBLEU", {}),
}

# Names that go on with what they need, behind a colon: where the metric is, and what that is. The
# class has `named(text)`.
WITH_TEXT: dict[str, tuple[str, str]] = {
    "bertscore": ("bertscore:BERTScore", "MODEL"),
    "bleurt": ("bleurt:BLEURT", "MODEL"),
    "comet": ("comet:COMET", "MODEL"),
    "command": ("command_metric:Command", "NAME=PROGRAM"),
}

# Names of several metrics.
GROUPS = {
    "all": ("bleu", "chrf", "chrf++", "ter", "nist", "gleu"),
    "rouge": ("rouge-1", "rouge-2", "rouge-l"),
}


# How names of error rates begin that other programs compute.
ERRORS = ("metricx", "character", "cder", "hter", "sacreter")

# Further names: a word for them, a function that lists them, and one that makes the metric of one.
SOURCES: list[tuple[str, Callable[[], Iterable[str]], Callable[[str], AnyMetric]]] = []


def add_source(
    about: str, names: Callable[[], Iterable[str]], metric: Callable[[str], AnyMetric]
) -> None:
    """Adds names of metrics. `metric` raises KeyError for a name that it does not know."""
    SOURCES.append((about, names, metric))


def names() -> list[str]:
    """Every name, those of further sources included."""
    return [*METRICS, *with_text(), *(name for _, more, _ in SOURCES for name in more())]


def with_text() -> list[str]:
    """The names that go on behind a colon, as they are listed: "comet:MODEL"."""
    return [f"{name}:{text}" for name, (_, text) in WITH_TEXT.items()]


def class_of(name: str) -> type[AnyMetric]:
    """The class of a name in `METRICS` or `WITH_TEXT`."""
    module, _, cls = (METRICS.get(name) or WITH_TEXT[name])[0].partition(":")
    found: type[AnyMetric] = getattr(import_module(f"truebleu.metrics.{module}"), cls)
    return found


def classes() -> Iterator[type[AnyMetric]]:
    """Each class once, in the order of the table."""
    places = {place: name for name, (place, _) in {**METRICS, **WITH_TEXT}.items()}
    yield from map(class_of, places.values())


def metric(name: str | Signature | Metric, **parameters: Any) -> Metric[Any]:
    """The metric of this name, ready to use.

    name: "bleu", "chrf++", "ter", "nist", ...; a member of the BLEU family ("mteval-v13a"); or a
        printed signature, whoever printed it. A metric is returned as it is.
    parameters: of the metric, for a name.

    Raises ValueError for an unknown name, and names the nearest.

    >>> metric("chrf++")
    CHRF(word_order=2)
    >>> metric("nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0")
    BLEU(tokenize='intl', lowercase=True, effective_order=False)
    >>> metric("BLEU+case.mixed+numrefs.1+smooth.exp+tok.zh+version.1.4.14 = 27.3")
    BLEU(tokenize='zh')
    """
    found = _found(name)
    return found.with_parameters(**parameters) if parameters else found


def _found(name: Any) -> AnyMetric:
    if isinstance(name, str):
        # If it is not registered, a score's name, as "chrF3", or a signature.
        return _by_name(name) or given(Signature.parse(name).metric())
    return given(name.metric() if isinstance(name, Signature) else name)


def _by_name(name: str) -> AnyMetric | None:
    """The metric of a name that is registered."""
    lower = name.strip().lower()
    if lower in METRICS:
        return class_of(lower)(**METRICS[lower][1])
    head, _, text = name.strip().partition(":")
    if head.lower() in WITH_TEXT:
        made: AnyMetric = class_of(head.lower()).named(text)  # type: ignore[attr-defined]
        return made
    if not lower or set(lower) & set(":| "):
        return None
    for _, _, make in SOURCES:
        try:
            return make(lower)
        except KeyError:
            continue
    return None


def given(metric: Any) -> AnyMetric:
    """The metric, or the metric of a member of the family. Raises TypeError for anything else."""
    for found in (metric, getattr(metric, "metric", None)):  # a member of the family has one
        if isinstance(found, Metric):
            return found
    if isinstance(metric, type) and issubclass(metric, Metric):
        raise TypeError(f"metric: {metric.__name__} is a class; give {metric.__name__}()")
    raise TypeError(
        f"metric: expected a metric such as truebleu.CHRF(), or a name, not {metric!r:.60}"
    )


def metrics(wanted: Any) -> dict[AnyMetric, str | None]:
    """Each metric once, in order, with what it was asked for as, if that says more than its name.

    wanted: a name or a metric, or several; "all" and "rouge" are several (`GROUPS`).

    >>> metrics(["bleu", "mteval-v13a"])
    {BLEU(): None, BLEU(tokenize='mteval-v13a-lower', ...): 'mteval-v13a'}
    """
    one = isinstance(wanted, str | Metric | Signature) or not hasattr(wanted, "__iter__")
    found: dict[AnyMetric, str | None] = {}
    for item in [wanted] if one else wanted:
        for name in GROUPS.get(item, (item,)) if isinstance(item, str) else (item,):
            member = getattr(name, "name", name) if not isinstance(name, Metric) else None
            known = isinstance(member, str) and member.lower() not in METRICS
            label = member if known and not set(str(member)) & set(":|") else None
            found.setdefault(metric(name), label)
    return found


def lower_is_better(name: str) -> bool:
    """True if lower scores of this name are known to be better, as of "TER" or "MetricX-24"."""
    if name.lower().startswith(ERRORS):
        return True
    known = (cls for cls in classes() if cls.implied(name) is not None)
    return any(cls.LOWER_IS_BETTER for cls in known)


# Signatures that were read before: logs and engines read the same ones again and again.
_READ: dict[str, Signature] = {}
MOST_READ = 256


def _read(text: str) -> Signature:
    """A printed signature; see `Signature.parse`."""
    if text not in _READ:
        if len(_READ) >= MOST_READ:
            _READ.clear()
        _READ[text] = _parsed(text)
    return _READ[text]


def _parsed(text: str) -> Signature:
    name, fields = split_signature(text)
    cls, implied = _class_of_signature(name, fields)
    names = cls.short_names()
    long = {short: long for long, short in names.items()} | {long: long for long in names}
    read: dict[str, str] = {}
    for key, value in {**implied, **fields}.items():
        if key not in long:
            known = ", ".join(names)
            raise ValueError(f"'{text}': {cls.NAME} has no field '{key}'; there are {known}")
        if read.setdefault(long[key], value) != value:
            raise ValueError(f"'{text}' says both {long[key]}:{read[long[key]]} and {key}:{value}")
    own = {key: value for key, value in read.items() if key not in CIRCUMSTANCES}
    try:
        made = cls.from_fields(own)
    except ValueError as error:
        raise ValueError(f"'{text}': {error}") from None
    told = cls.implied(made.name) or {}
    return Signature(
        made, {key: value for key, value in read.items() if key not in told or key in fields}
    )


def _class_of_signature(
    name: str, fields: Mapping[str, str]
) -> tuple[type[AnyMetric], dict[str, str]]:
    """The metric that a signature is of, by its name, or without one by the fields that it has.

    With it come the fields that the name implies.
    """
    if "called" in fields:  # users name commands, even as other metrics
        return class_of("command"), {}
    for cls in classes():
        if name:
            implied = cls.implied(name)
            if implied is not None:
                return cls, implied
        elif all(_is_field(cls, key) for key in fields) and _agrees(cls, fields):
            return cls, {}
    if not name:
        return class_of("bleu"), {}
    known = names()
    near = argument_checks.find_closest(name, known)
    hint = f"; did you mean '{near}'?" if near else ";"
    further = "".join(f", {about}" for about, _, _ in SOURCES)
    raise ValueError(
        f"unknown metric '{name}'{hint} There are {', '.join(METRICS)}{further}, and signatures"
    )


def _agrees(cls: type[Metric], fields: Mapping[str, str]) -> bool:
    """Whether fields say what is constant in a metric that others differ from by that alone."""
    constants = cls.CONSTANTS.get("measure")
    if constants is None:
        return True
    value, short = constants
    return value == fields.get("measure", fields.get(short))


def _is_field(cls: type[Metric], key: str) -> bool:
    names = cls.short_names()
    return key in names or key in names.values()


Signature.reader = staticmethod(_read)
