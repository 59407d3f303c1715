"""BLEU in libraries for Python: NLTK, Hugging Face, and those for training networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member, group
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nltk_bleu import NLTKBLEU


def _nltk() -> Iterator[Member]:
    """corpus_bleu and sentence_bleu with each smoothing method."""
    counts = (
        "Takes lists of tokens; a string is silently scored as characters. Every segment counts at "
        "least one n-gram of each order, so corpora with short segments score lower than elsewhere."
    )
    tiny = " Without a match the score is not 0 but about 1e-155."
    for kind, parameters, mean in (("corpus", {}, ""), ("sentence", p.SEGMENTS, _MEAN)):
        for method, smoothing in enumerate(("tiny", "floor", "add-k", "exp")):
            default = "" if method else " (the default)"
            yield Member(
                f"nltk-{kind}-{method}", f"NLTK {kind}_bleu, method{method}{default}{mean}",
                BLEU(**p.NLTK, smoothing=smoothing, **parameters),
                counts if method else counts + tiny,
                used="tutorials, text generation, code generation",
                citation=p.CHEN if method else p.BIRD,
            )  # fmt: skip
    shared: dict[str, Any] = {"used": "text generation", "citation": p.CHEN}
    for method, quirks in (
        (4, "Changed in NLTK 3.5 and 3.6: a segment of another version scores differently."),
        (5, "Can be above 1."),
        (6, "Not defined without a matching trigram."),
        (7, "Methods 4 and 5 together. Can be above 1."),
    ):
        corpus, title = f"nltk-corpus-{method}", f"NLTK corpus_bleu, method{method}"
        summed = NLTKBLEU(method=method)
        yield Member(
            f"nltk-sentence-{method}", f"NLTK sentence_bleu, method{method}{_MEAN}",
            summed.with_parameters(aggregate="segments"), quirks, **shared,
        )  # fmt: skip
        if method == 4:
            yield Member(corpus, title, summed, **shared)
            continue
        yield Member(
            corpus, title, summed.with_parameters(context="last-segment"), quirks,
            defect="A mistake in NLTK: it takes the last segment for the corpus, so the score "
            "changes with the order of segments.",
            **shared,
        )  # fmt: skip
        yield Member(
            f"{corpus}-summed", f"{title}, without its mistake", summed,
            f"As NLTK means it: of the sums of all segments. {quirks}", **shared,
        )  # fmt: skip


_MEAN = ", mean of segments"


def libraries() -> Iterator[Member]:
    """NLTK, Hugging Face and tensorflow/nmt, and those that come with training."""
    yield from _nltk()
    for name, title, tokenize, used, citation in (
        ("nmt", "tensorflow/nmt compute_bleu", "none", "tutorials of TensorFlow and many copies",
         "Luong, Brevdo and Zhao (2017): Neural machine translation tutorial"),
        ("huggingface", "Hugging Face evaluate bleu", "13a", "evaluate.load('bleu')",
         "Hugging Face evaluate, metrics/bleu, a copy of tensorflow/nmt"),
    ):  # fmt: skip
        longer = "The shortest reference length: above sacreBLEU's with several references."
        metric = BLEU(tokenize, **p.NMT, **p.UNSMOOTHED)
        smooth = metric.with_parameters(**p.ADD_ONE)
        yield Member(name, title, metric, longer, used=used, citation=citation)
        yield Member(
            f"{name}-smooth", f"{title}, smooth=True", smooth, longer, used=used,
            citation=p.LIN + citation,
        )  # fmt: skip
    yield Member(
        "bleuscore", "bleuscore (Rust)", BLEU("mteval-v13a", **p.NMT, **p.UNSMOOTHED),
        "The shortest reference length, as Hugging Face's. The program takes U+001C to U+001F for "
        "letters; the member does not.",
        used="a faster stand-in for Hugging Face's bleu", citation="bleuscore 0.2.0",
    )  # fmt: skip
    yield Member(
        "keras-hub", "KerasHub metrics.Bleu",
        BLEU("keras-hub", **{**p.NMT, "arithmetic": "float32"}, **p.UNSMOOTHED),
        "A rule of its tokenizer has no effect: the final full stop of 'in 2020.' stays.",
        used="models of Keras", citation="keras-team/keras-hub, keras_hub/src/metrics/bleu.py",
    )  # fmt: skip
    t2t: dict[str, Any] = {"missing_order": "one", "no_match": "smoothed", "arithmetic": "nmt"}
    uncased = BLEU("tensor2tensor", lowercase=True, reference_length="single", **t2t)
    cased = uncased.with_parameters(lowercase=False)
    digits = (
        "Its international tokenizer is not mteval's: it knows only \\d as digits. approx_bleu, "
        "shown while training, counts subwords instead."
    )
    yield from group(
        ("t2t-bleu", "tensor2tensor t2t-bleu, uncased", uncased, digits),
        ("t2t-bleu-cased", "tensor2tensor t2t-bleu, cased", cased, digits),
        used="papers on the Transformer by Google",
        citation="Vaswani et al. (2018): Tensor2Tensor for neural machine translation. AMTA",
        digits=2,
    )  # fmt: skip
    yield Member(
        "fairseq", "fairseq-score, libbleu",
        BLEU(**p.GIVEN, **p.UNSMOOTHED, reference_length="single"),
        "Counts integers of its dictionary. N-grams are told apart by a 64-bit hash that was seen "
        "to collide; counts here are exact. Unknown words of the reference never match.",
        used="papers with fairseq", citation="Ott et al. (2019): fairseq. NAACL demonstrations",
        digits=2,
    )  # fmt: skip
    yield from _pytorch()
    yield Member(
        "allennlp", "AllenNLP BLEU",
        BLEU(
            **p.GIVEN,
            smoothing="add-k-all",
            smoothing_value=1e-13,
            no_match="smoothed",
            reference_length="single",
            scale=1.0,
            arithmetic="allennlp",
        ),
        "Counts token numbers; without exclude_indices the lengths include padding. An order "
        "without any n-gram counts as perfect.",
        used="training with AllenNLP", citation="Gardner et al. (2018): AllenNLP. NLP-OSS",
    )  # fmt: skip


def _pytorch() -> Iterator[Member]:
    """torchmetrics, torchtext and PyTorch-Ignite."""
    first = "f two equally close reference lengths the first listed"
    zero = (
        f"{first}, so the order of references matters. One order without a match makes the score "
        "0, smoothed or not."
    )
    for suffix, title, smoothing in (
        ("", "", p.UNSMOOTHED),
        ("-smooth", ", smooth=True", {"smoothing": "add-k"}),
    ):
        yield from group(
            (f"torchmetrics{suffix}", f"torchmetrics BLEUScore{title}",
             BLEU(**p.GIVEN, **p.TORCH, **smoothing), f"O{zero}"),
            (f"torchmetrics-sacrebleu{suffix}", f"torchmetrics SacreBLEUScore{title}",
             BLEU(**p.TORCH, **smoothing),
             f"Not sacreBLEU: o{zero} It lower-cases after tokenizing."),
            used="training with PyTorch Lightning", citation=p.DETLEFSEN,
        )  # fmt: skip
    yield Member(
        "torchtext", "torchtext bleu_score", BLEU(**p.GIVEN, **p.TORCH, **p.UNSMOOTHED),
        f"O{first}. A token with a space in it breaks its n-grams.", used="training with torchtext",
        citation="pytorch/text, torchtext/data/metrics.py",
    )  # fmt: skip
    segments = BLEU(**p.NLTK, **p.UNSMOOTHED, **p.SEGMENTS, no_match="any-zero")
    corpus = segments.with_parameters(aggregate="corpus", missing_order="zero")
    mean = "By default the mean of segment scores, and unsmoothed: every segment without a "
    mean += "matching 4-gram counts 0."
    yield from group(
        ("ignite", "PyTorch-Ignite Bleu, average='macro'", segments, mean),
        ("ignite-micro", "PyTorch-Ignite Bleu, average='micro'", corpus),
        used="training with PyTorch-Ignite",
        citation="Fomin et al. (2020): PyTorch-Ignite; ignite/metrics/nlp/bleu.py",
    )  # fmt: skip
