"""Every metric by name: one table, which Python, the command line, views, engines and logs read.

A new metric is one file in this folder and one line in `METRICS`. Nothing is imported before it is
asked for. Rooms above add what they know by name (`add_source`), as the BLEU family does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from truebleu.metrics.base import CONTEXT_FIELDS, Metric, Signature
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
PREFIXED_METRICS: dict[str, tuple[str, str]] = {
    "bertscore": ("bertscore:BERTScore", "MODEL"),
    "bleurt": ("bleurt:BLEURT", "MODEL"),
    "comet": ("comet:COMET", "MODEL"),
    "command": ("command_metric:Command", "NAME=PROGRAM"),
}

# Names of several metrics.
METRIC_GROUPS = {
    "all": ("bleu", "chrf", "chrf++", "ter", "nist", "gleu"),
    "rouge": ("rouge-1", "rouge-2", "rouge-l"),
}


# How names of error rates begin that other programs compute.
ERROR_RATE_PREFIXES = ("metricx", "character", "cder", "hter", "sacreter")

# Further names: a word for them, a function that lists them, and one that makes the metric of one.
NAME_SOURCES: list[tuple[str, Callable[[], Iterable[str]], Callable[[str], AnyMetric]]] = []


def add_name_source(
    description: str,
    list_names: Callable[[], Iterable[str]],
    make_metric: Callable[[str], AnyMetric],
) -> None:
    """Adds names of metrics. `metric` raises KeyError for a name that it does not know."""
    NAME_SOURCES.append((description, list_names, make_metric))


def list_metric_names() -> list[str]:
    """Every name, those of further sources included."""
    return [
        *METRICS,
        *list_prefixed_names(),
        *(name for _, list_names, _ in NAME_SOURCES for name in list_names()),
    ]


def list_prefixed_names() -> list[str]:
    """The names that go on behind a colon, as they are listed: "comet:MODEL"."""
    return [f"{name}:{text}" for name, (_, text) in PREFIXED_METRICS.items()]


def get_metric_class(name: str) -> type[AnyMetric]:
    """The class of a name in `METRICS` or `WITH_TEXT`."""
    module, _, cls = (METRICS.get(name) or PREFIXED_METRICS[name])[0].partition(":")
    metric_class: type[AnyMetric] = getattr(import_module(f"truebleu.metrics.{module}"), cls)
    return metric_class


def iterate_metric_classes() -> Iterator[type[AnyMetric]]:
    """Each class once, in the order of the table."""
    names_by_location = {
        place: name for name, (place, _) in {**METRICS, **PREFIXED_METRICS}.items()
    }
    yield from map(get_metric_class, names_by_location.values())


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
    resolved = _resolve_metric(name)
    return resolved.with_parameters(**parameters) if parameters else resolved


def _resolve_metric(name: Any) -> AnyMetric:
    if isinstance(name, str):
        # If it is not registered, a score's name, as "chrF3", or a signature.
        return _find_registered(name) or require_metric(Signature.parse(name).metric())
    return require_metric(name.metric() if isinstance(name, Signature) else name)


def _find_registered(name: str) -> AnyMetric | None:
    """The metric of a name that is registered."""
    lower = name.strip().lower()
    if lower in METRICS:
        return get_metric_class(lower)(**METRICS[lower][1])
    head, _, text = name.strip().partition(":")
    if head.lower() in PREFIXED_METRICS:
        metric: AnyMetric = get_metric_class(head.lower()).from_text(text)  # type: ignore[attr-defined]
        return metric
    if not lower or set(lower) & set(":| "):
        return None
    for _, _, make_metric in NAME_SOURCES:
        try:
            return make_metric(lower)
        except KeyError:
            continue
    return None


def require_metric(metric: Any) -> AnyMetric:
    """The metric, or the metric of a member of the family. Raises TypeError for anything else."""
    for candidate in (metric, getattr(metric, "metric", None)):  # a member of the family has one
        if isinstance(candidate, Metric):
            return candidate
    if isinstance(metric, type) and issubclass(metric, Metric):
        raise TypeError(f"metric: {metric.__name__} is a class; give {metric.__name__}()")
    raise TypeError(
        f"metric: expected a metric such as truebleu.CHRF(), or a name, not {metric!r:.60}"
    )


def resolve_metrics(requested: Any) -> dict[AnyMetric, str | None]:
    """Each metric once, in order, with what it was asked for as, if that says more than its name.

    wanted: a name or a metric, or several; "all" and "rouge" are several (`GROUPS`).

    >>> metrics(["bleu", "mteval-v13a"])
    {BLEU(): None, BLEU(tokenize='mteval-v13a-lower', ...): 'mteval-v13a'}
    """
    is_single = isinstance(requested, str | Metric | Signature) or not hasattr(
        requested, "__iter__"
    )
    labels: dict[AnyMetric, str | None] = {}
    for item in [requested] if is_single else requested:
        for name in METRIC_GROUPS.get(item, (item,)) if isinstance(item, str) else (item,):
            requested_name = getattr(name, "name", name) if not isinstance(name, Metric) else None
            has_other_name = (
                isinstance(requested_name, str) and requested_name.lower() not in METRICS
            )
            label = (
                requested_name
                if has_other_name and not set(str(requested_name)) & set(":|")
                else None
            )
            labels.setdefault(metric(name), label)
    return labels


def lower_is_better(name: str) -> bool:
    """True if lower scores of this name are known to be better, as of "TER" or "MetricX-24"."""
    if name.lower().startswith(ERROR_RATE_PREFIXES):
        return True
    matching_classes = (
        cls for cls in iterate_metric_classes() if cls.fields_from_name(name) is not None
    )
    return any(cls.LOWER_IS_BETTER for cls in matching_classes)


# Signatures that were read before: logs and engines read the same ones again and again.
_PARSED_SIGNATURES: dict[str, Signature] = {}
MAX_PARSED_SIGNATURES = 256


def _parse_cached(text: str) -> Signature:
    """A printed signature; see `Signature.parse`."""
    if text not in _PARSED_SIGNATURES:
        if len(_PARSED_SIGNATURES) >= MAX_PARSED_SIGNATURES:
            _PARSED_SIGNATURES.clear()
        _PARSED_SIGNATURES[text] = _parse_signature(text)
    return _PARSED_SIGNATURES[text]


def _parse_signature(text: str) -> Signature:
    name, fields = split_signature(text)
    cls, implied = _find_class_of_signature(name, fields)
    short_names = cls.map_short_names()
    long_names = {short: long for long, short in short_names.items()} | {
        long: long for long in short_names
    }
    long_fields: dict[str, str] = {}
    for key, value in {**implied, **fields}.items():
        if key not in long_names:
            field_names = ", ".join(short_names)
            raise ValueError(f"'{text}': {cls.NAME} has no field '{key}'; there are {field_names}")
        if long_fields.setdefault(long_names[key], value) != value:
            raise ValueError(
                f"'{text}' says both {long_names[key]}:{long_fields[long_names[key]]} and "
                f"{key}:{value}"
            )
    metric_fields = {key: value for key, value in long_fields.items() if key not in CONTEXT_FIELDS}
    try:
        metric = cls.from_fields(metric_fields)
    except ValueError as error:
        raise ValueError(f"'{text}': {error}") from None
    implied_fields = cls.fields_from_name(metric.name) or {}
    return Signature(
        metric,
        {
            key: value
            for key, value in long_fields.items()
            if key not in implied_fields or key in fields
        },
    )


def _find_class_of_signature(
    name: str, fields: Mapping[str, str]
) -> tuple[type[AnyMetric], dict[str, str]]:
    """The metric that a signature is of, by its name, or without one by the fields that it has.

    With it come the fields that the name implies.
    """
    if "called" in fields:  # users name commands, even as other metrics
        return get_metric_class("command"), {}
    for cls in iterate_metric_classes():
        if name:
            implied_fields = cls.fields_from_name(name)
            if implied_fields is not None:
                return cls, implied_fields
        elif all(_is_field(cls, key) for key in fields) and _has_same_measure(cls, fields):
            return cls, {}
    if not name:
        return get_metric_class("bleu"), {}
    known_names = list_metric_names()
    closest = argument_checks.find_closest(name, known_names)
    hint = f"; did you mean '{closest}'?" if closest else ";"
    source_descriptions = "".join(f", {about}" for about, _, _ in NAME_SOURCES)
    raise ValueError(
        f"unknown metric '{name}'{hint} There are {', '.join(METRICS)}{source_descriptions}, and "
        "signatures"
    )


def _has_same_measure(cls: type[Metric], fields: Mapping[str, str]) -> bool:
    """Whether fields say what is constant in a metric that others differ from by that alone."""
    constants = cls.CONSTANTS.get("measure")
    if constants is None:
        return True
    value, short = constants
    return value == fields.get("measure", fields.get(short))


def _is_field(cls: type[Metric], key: str) -> bool:
    names = cls.map_short_names()
    return key in names or key in names.values()


Signature.parser = staticmethod(_parse_cached)
