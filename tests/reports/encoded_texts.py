"""Texts in the form that the analyses of a report take."""

from truebleu.reports import distinctive_ngrams


def encode_texts(texts):
    return [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]


def build_corpus(systems, references, metric, **options):
    """Return the token corpus of systems and references, whose number may vary per segment."""
    width = max(map(len, references))
    streams = [[row[i] if i < len(row) else None for row in references] for i in range(width)]
    columns = (list(map(encode_texts, texts)) for texts in (systems, streams))
    return distinctive_ngrams.build_corpus(*columns, metric, **options)
