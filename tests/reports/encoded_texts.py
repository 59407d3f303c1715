"""Texts and settings in the forms that the analyses of a report and the viewer take."""

from truebleu.reports import browser_kernel, distinctive_ngrams


def encode_texts(texts):
    return [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]


def build_corpus(systems, references, metric, **options):
    """Return the token corpus of systems and references, whose number may vary per segment."""
    width = max(map(len, references))
    streams = [[row[i] if i < len(row) else None for row in references] for i in range(width)]
    columns = (list(map(encode_texts, texts)) for texts in (systems, streams))
    return distinctive_ngrams.build_corpus(*columns, metric, **options)


def encode_utf16(text):
    """Return the UTF-16 code units of a text, as in JavaScript strings."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[i] + 256 * raw[i + 1] for i in range(0, len(raw), 2)]


def describe_setting(metric, reference_count):
    """Return a metric as the viewer reads it from a report."""
    return {
        "id": "0",
        "metric": metric.NAME,
        "name": metric.name,
        "signature": str(metric.signature(reference_count)),
        "higher_is_better": not metric.LOWER_IS_BETTER,
        "parameters": metric.parameters,
        "recipe": browser_kernel.get_kernel_settings(metric),
        "columns": list(metric.columns),
    }
