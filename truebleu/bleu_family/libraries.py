"""BLEU in libraries for Python: NLTK, Hugging Face, and those for training networks."""

from __future__ import annotations

from truebleu.bleu_family.member import Member
from truebleu.bleu_family.parameters import (
    ADD_ONE,
    BIRD,
    CHEN,
    DETLEFSEN,
    LIN,
    NLTK,
    NMT,
    SEGMENTS,
    TORCH,
    UNSMOOTHED,
)
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nltk_bleu import NLTKBLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def libraries() -> Iterator[Member]:
    """NLTK, Hugging Face and tensorflow/nmt, and those that come with training."""
    smoothers: dict[int, dict[str, Any]] = {
        0: {"smoothing": "tiny"},
        1: {"smoothing": "floor"},
        2: {"smoothing": "add-k"},
        3: {"smoothing": "exp"},
    }
    for kind, parameters in {"corpus": {}, "sentence": SEGMENTS}.items():
        for method, smoothing in smoothers.items():
            yield Member(
                f"nltk-{kind}-{method}",
                f"NLTK {kind}_bleu, method{method}"
                + (" (the default)" if not method else "")
                + (", mean of segments" if parameters else ""),
                BLEU(**NLTK, **smoothing, **parameters),
                used="tutorials, text generation, code generation",
                citation=CHEN if method else BIRD,
                quirks="Takes lists of tokens; a string is silently scored as characters. Every "
                "segment counts at least one n-gram of each order, so corpora with short segments "
                "score lower than elsewhere."
                + (" Without a match the score is not 0 but about 1e-155." if not method else ""),
            )
    for method in (4, 5, 6, 7):
        yield from _nltk_interpolated(method)
    for name, title, tokenize, used, citation in (
        ("nmt", "tensorflow/nmt compute_bleu", "none", "tutorials of TensorFlow and many copies",
         "Luong, Brevdo and Zhao (2017): Neural machine translation tutorial"),
        ("huggingface", "Hugging Face evaluate bleu", "13a", "evaluate.load('bleu')",
         "Hugging Face evaluate, metrics/bleu, a copy of tensorflow/nmt"),
    ):  # fmt: skip
        for suffix, smoothing in {"": UNSMOOTHED, "-smooth": ADD_ONE}.items():
            yield Member(
                f"{name}{suffix}",
                title + (", smooth=True" if suffix else ""),
                BLEU(tokenize, **NMT, **smoothing),
                used=used,
                citation=(LIN if suffix else "") + citation,
                quirks="The shortest reference length: above sacreBLEU's with several references.",
            )
    yield Member(
        "bleuscore",
        "bleuscore (Rust)",
        BLEU("mteval-v13a", **NMT, **UNSMOOTHED),
        used="a faster stand-in for Hugging Face's bleu",
        citation="bleuscore 0.2.0",
        quirks="The shortest reference length, as Hugging Face's. The program takes U+001C to "
        "U+001F for letters; the member does not.",
    )
    yield Member(
        "keras-hub",
        "KerasHub metrics.Bleu",
        BLEU("keras-hub", **{**NMT, "arithmetic": "float32"}, **UNSMOOTHED),
        used="models of Keras",
        citation="keras-team/keras-hub, keras_hub/src/metrics/bleu.py",
        quirks="A rule of its tokenizer has no effect: the final full stop of 'in 2020.' stays.",
    )
    for suffix, case in {"": True, "-cased": False}.items():
        yield Member(
            f"t2t-bleu{suffix}",
            f"tensor2tensor t2t-bleu, {'uncased' if case else 'cased'}",
            BLEU(
                "tensor2tensor",
                lowercase=case,
                reference_length="single",
                missing_order="one",
                no_match="smoothed",
                arithmetic="nmt",
            ),
            used="papers on the Transformer by Google",
            citation="Vaswani et al. (2018): Tensor2Tensor for neural machine translation. AMTA",
            quirks="Its international tokenizer is not mteval's: it knows only \\d as digits. "
            "approx_bleu, shown while training, counts subwords instead.",
            digits=2,
        )
    yield Member(
        "fairseq",
        "fairseq-score, libbleu",
        BLEU("none", **UNSMOOTHED, reference_length="single"),
        used="papers with fairseq",
        citation="Ott et al. (2019): fairseq. NAACL demonstrations",
        quirks="Counts integers of its dictionary. N-grams are told apart by a 64-bit hash that "
        "was seen to collide; counts here are exact. Unknown words of the reference never match.",
        digits=2,
    )
    for suffix, smoothing in {"": UNSMOOTHED, "-smooth": {"smoothing": "add-k"}}.items():
        quirk = (
            "Of two equally close reference lengths the first listed, so the order of references "
        )
        quirk += "matters. One order without a match makes the score 0, smoothed or not."
        yield Member(
            f"torchmetrics{suffix}",
            "torchmetrics BLEUScore" + (", smooth=True" if suffix else ""),
            BLEU("none", **TORCH, **smoothing),
            used="training with PyTorch Lightning",
            citation=DETLEFSEN,
            quirks=quirk,
        )
        yield Member(
            f"torchmetrics-sacrebleu{suffix}",
            "torchmetrics SacreBLEUScore" + (", smooth=True" if suffix else ""),
            BLEU("13a", **TORCH, **smoothing),
            used="training with PyTorch Lightning",
            citation=DETLEFSEN,
            quirks=f"Not sacreBLEU: {quirk[0].lower()}{quirk[1:]} It lower-cases after tokenizing.",
        )
    yield Member(
        "torchtext",
        "torchtext bleu_score",
        BLEU("none", **TORCH, **UNSMOOTHED),
        used="training with torchtext",
        citation="pytorch/text, torchtext/data/metrics.py",
        quirks="Of two equally close reference lengths the first listed. A token with a space in "
        "it breaks its n-grams.",
    )
    for suffix, parameters in {
        "": {**SEGMENTS, "missing_order": "at-least-one"},
        "-micro": {"missing_order": "zero"},
    }.items():
        yield Member(
            f"ignite{suffix}",
            f"PyTorch-Ignite Bleu, average='{suffix[1:] or 'macro'}'",
            BLEU(**{**NLTK, **parameters}, **UNSMOOTHED, no_match="any-zero"),
            used="training with PyTorch-Ignite",
            citation="Fomin et al. (2020): PyTorch-Ignite; ignite/metrics/nlp/bleu.py",
            quirks=""
            if suffix
            else "By default the mean of segment scores, and unsmoothed: every "
            "segment without a matching 4-gram counts 0.",
        )
    yield Member(
        "allennlp",
        "AllenNLP BLEU",
        BLEU(
            "none",
            smoothing="add-k-all",
            smoothing_value=1e-13,
            no_match="smoothed",
            reference_length="single",
            scale=1.0,
            arithmetic="allennlp",
        ),
        used="training with AllenNLP",
        citation="Gardner et al. (2018): AllenNLP. NLP-OSS",
        quirks="Counts token numbers; without exclude_indices the lengths include padding. An "
        "order without any n-gram counts as perfect.",
    )


def _nltk_interpolated(method: int) -> Iterator[Member]:
    """NLTK's methods 4 to 7, which are no smoothing of single precisions."""
    common: dict[str, Any] = {"used": "text generation", "citation": CHEN}
    quirks = {
        4: "Changed in NLTK 3.5 and 3.6: a segment of another version scores differently.",
        5: "Can be above 1.",
        6: "Not defined without a matching trigram.",
        7: "Methods 4 and 5 together. Can be above 1.",
    }[method]
    yield Member(
        f"nltk-sentence-{method}",
        f"NLTK sentence_bleu, method{method}, mean of segments",
        NLTKBLEU(method=method, aggregate="segments"),
        quirks=quirks,
        **common,
    )
    if method == 4:
        yield Member("nltk-corpus-4", "NLTK corpus_bleu, method4", NLTKBLEU(method=4), **common)
        return
    yield Member(
        f"nltk-corpus-{method}",
        f"NLTK corpus_bleu, method{method}",
        NLTKBLEU(method=method, context="last-segment"),
        quirks=quirks,
        defect="A mistake in NLTK: it takes the last segment for the corpus, so the score changes "
        "with the order of segments.",
        **common,
    )
    yield Member(
        f"nltk-corpus-{method}-summed",
        f"NLTK corpus_bleu, method{method}, without its mistake",
        NLTKBLEU(method=method),
        quirks=f"As NLTK means it: of the sums of all segments. {quirks}",
        **common,
    )
