"""Registry of all metrics by name, for Python, the command line, views, engines and logs.

To add a metric, add a file to this folder and a line to `METRICS`. Modules are imported on first
use. Higher layers add names to `NAME_SOURCES`, such as the members of the BLEU family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from truebleu.metrics.base import CONTEXT_FIELDS, Metric, Signature
from truebleu.metrics.scores import list_distinctions, split_signature
from truebleu.text import argument_checks, tokenizers

AnyMetric = Metric[Any]
# Metric names, each with its module, its class and the parameters that it implies.
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
    "rouge-l-coco": ("captions:ROUGELCoco", {}),
    "cider-d": ("captions:CIDEr", {}),
    "cider": ("captions:CIDEr", {"clip": False, "length_penalty": False}),
    "meteor": ("meteor:METEOR", {}),
    "meteor-nltk": ("nltk_meteor:NLTKMETEOR", {}),
    "gec-gleu": ("gec_gleu:GECGLEU", {}),
    "ibleu": ("ibleu:IBLEU", {}),
    "sari": ("sari:SARI", {}),
    "sari-paper": ("sari:SARI", {"average": "precisions"}),
    "sari-legacy": ("sari:SARI", {"lowercase": False, "split_sources": True}),
    "sari-original": ("sari:SentenceSARI", {"variant": "original"}),
    "sari-hf": ("sari:SentenceSARI", {"variant": "hf"}),
    "sari-t2t": ("sari:SentenceSARI", {"variant": "t2t"}),
    "nltk-bleu": ("nltk_bleu:NLTKBLEU", {}),
    "codebleu": ("codebleu:CodeBLEU", {"language": "java"}),
    "cdec-bleu": ("cdec:CdecBLEU", {}),
    "neuralmonkey-bleu": ("neuralmonkey:NeuralMonkeyBLEU", {}),
}

# Names that require an argument after a colon, with the metric's module and class, and a
# placeholder for the argument. The class method `from_text(text)` parses the argument.
PREFIXED_METRICS: dict[str, tuple[str, str]] = {
    "bertscore": ("bertscore:BERTScore", "MODEL"),
    "bleurt": ("bleurt:BLEURT", "MODEL"),
    "comet": ("comet:COMET", "MODEL"),
    "command": ("command_metric:Command", "NAME=PROGRAM"),
}

# Names of groups of metrics.
METRIC_GROUPS = {
    "all": ("bleu", "chrf", "chrf++", "ter", "nist", "gleu"),
    "rouge": ("rouge-1", "rouge-2", "rouge-l"),
    "coco": (*(f"coco-bleu-{order}" for order in range(1, 5)), "rouge-l-coco", "cider-d"),
}


# Name prefixes of error rates from other programs.
ERROR_RATE_PREFIXES = ("metricx", "character", "cder", "hter", "sacreter")
# Latency of simultaneous systems, which truebleu computes from logs with delays. The suffix _CA
# adds computation time.
LATENCY_METRICS = ("al", "laal", "ap", "dal", "yaal", "longyaal", "streamlaal")

# Additional names: a description, a function that lists them, and a function that looks one up and
# raises KeyError for unknown names.
NAME_SOURCES: list[tuple[str, Callable[[], Iterable[str]], Callable[[str], AnyMetric]]] = []


def list_metric_names() -> list[str]:
    """Return all names, including the names from additional sources."""
    return [
        *METRICS,
        *list_prefixed_names(),
        *(name for _, list_names, _ in NAME_SOURCES for name in list_names()),
    ]


def list_prefixed_names() -> list[str]:
    """Return the names that require an argument, in the form "comet:MODEL"."""
    return [f"{name}:{text}" for name, (_, text) in PREFIXED_METRICS.items()]


def get_metric_class(name: str) -> type[AnyMetric]:
    """Return the class for a name in `METRICS` or `PREFIXED_METRICS`."""
    module, _, cls = (METRICS.get(name) or PREFIXED_METRICS[name])[0].partition(":")
    metric_class: type[AnyMetric] = getattr(import_module(f"truebleu.metrics.{module}"), cls)
    return metric_class


def iterate_metric_classes() -> Iterator[type[AnyMetric]]:
    """Yield each metric class once, in the order of the tables."""
    names_by_location = {
        place: name for name, (place, _) in {**METRICS, **PREFIXED_METRICS}.items()
    }
    yield from map(get_metric_class, names_by_location.values())


def metric(name: str | Signature | Metric, **parameters: Any) -> Metric[Any]:
    """Return the metric for a name or a signature.

    name: "bleu", "chrf++", "ter", "nist", ...; a member of the BLEU family ("mteval-v13a"); or a
        signature printed by truebleu or sacreBLEU. Metrics are returned unchanged.
    parameters: parameters of the metric to change.

    Raises ValueError for an unknown name, and suggests the most similar name.

    >>> metric("chrf++")
    CHRF(word_order=2)
    >>> metric("nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0")
    BLEU(tokenize='intl', lowercase=True, effective_order=False)
    >>> metric("BLEU+case.mixed+numrefs.1+smooth.exp+tok.zh+version.1.4.14 = 27.3")
    BLEU(tokenize='zh')
    """
    resolved = _find_registered_metric(name) if isinstance(name, str) else None
    if resolved is None:
        # Unregistered names are names of scores, such as "chrF3", or signatures.
        signature: Any = Signature.parse(name) if isinstance(name, str) else name
        is_signature = isinstance(signature, Signature)
        resolved = require_metric(signature.metric() if is_signature else signature)
    return resolved.with_parameters(**parameters) if parameters else resolved


def _find_registered_metric(name: str) -> AnyMetric | None:
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
    """Return a metric, or the metric of a family member. Raises TypeError for other objects."""
    for candidate in (metric, getattr(metric, "metric", None)):  # family members have this field
        if isinstance(candidate, Metric):
            return candidate
    if isinstance(metric, type) and issubclass(metric, Metric):
        raise TypeError(f"metric: {metric.__name__} is a class. Use {metric.__name__}()")
    raise TypeError(
        f"metric: expected a metric such as truebleu.CHRF(), or a name, not {metric!r:.60}"
    )


def split_metric_names(text: str) -> list[str]:
    """Split text at commas into metric names, unless it is a signature."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return [text] if ":" in text or not names else names


def resolve_metrics(requested: Any) -> dict[AnyMetric, str | None]:
    """Return the requested metrics, mapped to the requested names (None for their own names).

    requested: a name or a metric, or several; `METRIC_GROUPS` lists groups, such as "all",
        and commas separate names.

    >>> resolve_metrics(["bleu", "mteval-v13a"])
    {BLEU(): None, BLEU(tokenize='mteval-v13a-lower', ...): 'mteval-v13a'}
    """
    is_single = isinstance(requested, str | Metric | Signature) or not hasattr(
        requested, "__iter__"
    )
    labels: dict[AnyMetric, str | None] = {}
    items: list[Any] = []
    for item in [requested] if is_single else requested:
        items += split_metric_names(item) if isinstance(item, str) else [item]
    for item in items:
        for name in METRIC_GROUPS.get(item, (item,)) if isinstance(item, str) else (item,):
            label = None if isinstance(name, Metric) else getattr(name, "name", name)
            if not isinstance(label, str) or label.lower() in METRICS or set(label) & set(":|"):
                label = None
            labels.setdefault(metric(name), label)
    return labels


def distinguish_metrics(
    metrics: Mapping[AnyMetric, str | None], *, segment: bool = False
) -> dict[AnyMetric, str | None]:
    """Add the differing signature fields to equal names, and drop metrics with equal signatures.

    metrics: names, or None for the metrics' own names, as returned by `resolve_metrics`.
    segment: whether the signatures of segments matter.

    >>> distinguish_metrics(resolve_metrics(["bleu", "BLEU|tok:intl", "chrf"])).values()
    dict_values(['BLEU tok:13a', 'BLEU tok:intl', None])
    """
    metrics_by_name: dict[str, list[AnyMetric]] = {}
    for metric, name in metrics.items():
        metrics_by_name.setdefault(name or metric.name, []).append(metric)
    names: dict[AnyMetric, str | None] = dict(metrics)
    for name, duplicates in metrics_by_name.items():
        if len(duplicates) > 1:
            signatures = [metric.signature(segment=segment) for metric in duplicates]
            seen: set[str] = set()
            for metric, distinction in zip(duplicates, list_distinctions(signatures), strict=True):
                names[metric] = f"{name} {distinction}".rstrip()
                if distinction in seen:
                    del names[metric]
                seen.add(distinction)
    return names


def lower_is_better(name: str) -> bool:
    """Return whether lower scores are better for a metric name, such as "TER" or "MetricX-24"."""
    if name.lower().startswith(ERROR_RATE_PREFIXES):
        return True
    if name.lower().removesuffix("_ca") in LATENCY_METRICS:
        return True
    matching_classes = (
        cls for cls in iterate_metric_classes() if cls.fields_from_name(name) is not None
    )
    return any(cls.LOWER_IS_BETTER for cls in matching_classes)


def is_percentage(name: str) -> bool:
    """Return whether the scores of a metric name, such as "chrF2", are percentages.

    >>> [is_percentage(name) for name in ("BLEU", "NIST", "unknown")]
    [True, False, False]
    """
    fields_by_class = ((cls, cls.fields_from_name(name)) for cls in iterate_metric_classes())
    return any(
        cls.from_fields(fields).is_percentage
        for cls, fields in fields_by_class
        if fields is not None
    )


@lru_cache(maxsize=256)  # logs and engines repeat the same signatures
def _parse_signature(text: str) -> Signature:
    name, fields = split_signature(text)
    cls, implied = _find_class_of_signature(name, fields)
    short_names = cls.get_short_names()
    long_names = {short: long for long, short in short_names.items()} | {
        long: long for long in short_names
    }
    long_fields: dict[str, str] = {}
    for key, value in {**implied, **fields}.items():
        if key not in long_names:
            field_names = ", ".join(short_names)
            raise ValueError(
                f"'{text}': {cls.NAME} has no field '{key}' (expected one of {field_names})"
            )
        if long_fields.setdefault(long_names[key], value) != value:
            raise ValueError(
                f"'{text}' contains both {long_names[key]}:{long_fields[long_names[key]]} and "
                f"{key}:{value}"
            )
    metric_fields = {key: value for key, value in long_fields.items() if key not in CONTEXT_FIELDS}
    try:
        metric = cls.from_fields(metric_fields)
    except ValueError as error:
        raise ValueError(f"'{text}': {error}") from None
    implied_fields = cls.fields_from_name(metric.name) or {}
    for key in implied_fields.keys() - fields.keys():
        long_fields.pop(key, None)
    return Signature(metric, long_fields)


def _find_class_of_signature(
    name: str, fields: Mapping[str, str]
) -> tuple[type[AnyMetric], dict[str, str]]:
    """Return the metric class that the name or the fields of a signature identify.

    The second value contains the fields that the name implies.
    """
    if "called" in fields:  # users may give commands the names of other metrics
        return get_metric_class("command"), {}
    for cls in iterate_metric_classes():
        if name:
            implied_fields = cls.fields_from_name(name)
            # "chrF2+++" is valid only in a signature, which states the word order.
            if implied_fields is not None and (fields or not name.endswith("+++")):
                return cls, implied_fields
            continue
        short_names = cls.get_short_names()
        value, short = cls.CONSTANTS.get("measure", ("", ""))
        has_same_measure = not value or value == fields.get("measure", fields.get(short))
        if has_same_measure and fields.keys() <= {*short_names, *short_names.values()}:
            return cls, {}
    if not name:
        return get_metric_class("bleu"), {}
    if name.lower().removesuffix("_ca") in LATENCY_METRICS:
        raise ValueError(
            f"metric '{name}' needs delays, which text does not have. Use truebleu latency LOG, "
            f"or truebleu compare --scores {name.upper()}=LOG"
        )
    if name not in METRIC_GROUPS and (advice := tokenizers.explain_tokenized_bleu(name)):
        raise ValueError(f"unknown metric '{name}': {advice}")
    if "," in name:
        raise ValueError(f"expected the name of one metric, found '{name}'")
    known_names = [*list_metric_names(), *PREFIXED_METRICS]
    closest = argument_checks.find_closest(name.replace("_", "-"), known_names)
    hint = f"; did you mean '{closest}'? Available:" if closest else "; available:"
    source_descriptions = "".join(f", {about}" for about, _, _ in NAME_SOURCES)
    raise ValueError(
        f"unknown metric '{name}'{hint} {', '.join(METRICS)}{source_descriptions}, and signatures"
    )


Signature.parser = staticmethod(_parse_signature)
