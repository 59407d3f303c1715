"""Family members from Python libraries: NLTK, Hugging Face, and training frameworks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member, make_members
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.neuralmonkey import NeuralMonkeyBLEU
from truebleu.metrics.nltk_bleu import NLTKBLEU


def _list_nltk_members() -> Iterator[Member]:
    """Yield the members for NLTK's corpus_bleu and sentence_bleu, by smoothing method."""
    count_quirks = (
        "Expects lists of tokens; a string is silently scored as characters. Every segment counts "
        "as having at least one n-gram per order, so corpora with short segments get lower scores."
    )
    zero_quirk = " Without any match, the score is about 1e-155 instead of 0."
    for kind, parameters, mean_quirk in (("corpus", {}, ""), ("sentence", p.SEGMENTS, _MEAN)):
        for method, smoothing in enumerate(("tiny", "floor", "add-k", "exp")):
            default = "" if method else " (the default)"
            yield Member(
                f"nltk-{kind}-{method}", f"NLTK {kind}_bleu, method{method}{default}{mean_quirk}",
                BLEU(**p.NLTK, smoothing=smoothing, **parameters),
                count_quirks if method else count_quirks + zero_quirk,
                used="tutorials, text generation, code generation",
                citations=p.CHEN if method else p.BIRD,
            )  # fmt: skip
    shared: dict[str, Any] = {"used": "text generation", "citations": p.CHEN}
    for method, quirks in (
        (4, "Changed in NLTK 3.5 and 3.6. Segment scores therefore depend on the NLTK version."),
        (5, "Scores can exceed 1."),
        (6, "Undefined without a matching trigram."),
        (7, "Combines methods 4 and 5. Scores can exceed 1."),
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
            defect="A bug in NLTK: smoothing uses the last segment instead of the corpus, so the "
            "score depends on the order of the segments.",
            **shared,
        )  # fmt: skip
        yield Member(
            f"{corpus}-summed", f"{title}, without NLTK's bug", summed,
            f"Applies the intended formula to the counts of all segments. {quirks}", **shared,
        )  # fmt: skip


_MEAN = ", mean of segments"


def list_library_members() -> Iterator[Member]:
    """Yield the members from NLTK, Hugging Face, tensorflow/nmt and training frameworks."""
    yield from _list_nltk_members()
    for name, title, tokenize, used, citations in (
        ("nmt", "tensorflow/nmt compute_bleu", "none", "TensorFlow tutorials and many copies",
         ("luong-etal-2017-neural",)),
        ("huggingface", "Hugging Face evaluate bleu", "13a", "evaluate.load('bleu')",
         ("hugging-face-evaluate",)),
    ):  # fmt: skip
        length_quirk = "Uses the shortest of several references, so scores exceed sacreBLEU's."
        metric = BLEU(tokenize, **p.NMT, **p.UNSMOOTHED)
        smooth = metric.with_parameters(**p.ADD_ONE)
        yield Member(name, title, metric, length_quirk, used=used, citations=citations)
        yield Member(
            f"{name}-smooth", f"{title}, smooth=True", smooth, length_quirk, used=used,
            citations=(*p.LIN, *citations),
        )  # fmt: skip
    yield Member(
        "bleuscore", "bleuscore (Rust)", BLEU("mteval-v13a", **p.NMT, **p.UNSMOOTHED),
        "Uses the shortest reference, like Hugging Face. bleuscore treats U+001C to U+001F as "
        "letters; truebleu does not.",
        used="a faster replacement for Hugging Face's bleu", citations=("bleuscore",),
    )  # fmt: skip
    yield Member(
        "keras-hub", "KerasHub metrics.Bleu",
        BLEU("keras-hub", **{**p.NMT, "arithmetic": "float32"}, **p.UNSMOOTHED),
        "One tokenizer rule has no effect: the full stop in 'in 2020.' is not split off.",
        used="Keras models", citations=("keras-hub",),
    )  # fmt: skip
    uncased = BLEU("tensor2tensor", lowercase=True, reference_length="single", **p.T2T)
    cased = uncased.with_parameters(lowercase=False)
    digit_quirk = (
        "Its international tokenizer differs from mteval's: only \\d counts as a digit. "
        "approx_bleu, which is shown during training, counts subwords instead."
    )
    yield from make_members(
        ("t2t-bleu", "tensor2tensor t2t-bleu, uncased", uncased, digit_quirk),
        ("t2t-bleu-cased", "tensor2tensor t2t-bleu, cased", cased, digit_quirk),
        used="Google's papers on the Transformer",
        citations=("vaswani-etal-2018-tensor2tensor",),
        digits=2,
    )  # fmt: skip
    yield Member(
        "fairseq", "fairseq-score, libbleu",
        BLEU(**p.PRETOKENIZED, **p.UNSMOOTHED, reference_length="single"),
        "Counts dictionary indices. fairseq identifies n-grams by a 64-bit hash with known "
        "collisions; truebleu's counts are exact. Unknown reference words never match.",
        used="papers that use fairseq", citations=("ott-etal-2019-fairseq",),
        digits=2,
    )  # fmt: skip
    yield from _list_toolkit_members()
    yield from _list_pytorch_members()


def _list_toolkit_members() -> Iterator[Member]:
    """Yield the members from Texar, xnmt and Neural Monkey."""
    texar = BLEU(**p.PRETOKENIZED, **{**p.NMT, "published_scale": 100.0}, **p.UNSMOOTHED)
    character_quirk = (
        "Uses the shortest reference. For strings, the original's brevity penalty counts "
        "characters; truebleu counts tokens, as the original does for lists of tokens."
    )
    transformer = BLEU(**p.PRETOKENIZED, reference_length="single", **p.T2T)
    yield from make_members(
        ("texar", "Texar corpus_bleu", texar, character_quirk),
        ("texar-smooth", "Texar corpus_bleu, smooth=True", texar.with_parameters(**p.ADD_ONE),
         character_quirk),
        ("texar-transformer", "Texar corpus_bleu_transformer", transformer,
         "tensor2tensor's formula for tokens."),
        ("texar-transformer-no-bp", "Texar corpus_bleu_transformer, use_bp=False",
         transformer.with_parameters(brevity_penalty="none"),
         "tensor2tensor's formula for tokens, without the brevity penalty."),
        used="text generation with Texar", citations=("hu-etal-2019-texar",),
    )  # fmt: skip
    one_reference: dict[str, Any] = {**p.PRETOKENIZED, "reference_length": "single"}
    reference_quirk = (
        "With several references, the original loses the matches of the first segment; truebleu "
        "accepts one reference."
    )
    yield from make_members(
        ("xnmt", "xnmt BLEUEvaluator",
         BLEU(**one_reference, **p.UNSMOOTHED, no_match="any-zero", published_scale=1.0,
              arithmetic="xnmt"),
         reference_quirk),
        ("xnmt-gleu", "xnmt GLEUEvaluator", GLEU("none"),
         "Computes the minimum of precision and recall, like NLTK's corpus_gleu."),
        used="papers that use xnmt", citations=("neubig-etal-2018-xnmt",),
    )  # fmt: skip
    clipping_quirk = (
        "Does not clip: each distinct n-gram of a hypothesis counts as often as the reference has "
        "it, so precisions can exceed 1."
    )
    yield from make_members(
        ("neuralmonkey", "Neural Monkey BLEUEvaluator", NeuralMonkeyBLEU(), clipping_quirk),
        ("neuralmonkey-dedup", "Neural Monkey BLEUEvaluator, deduplicate=True",
         NeuralMonkeyBLEU(deduplicate=True),
         f"{clipping_quirk} Adjacent repeated words of hypotheses are removed."),
        used="papers that use Neural Monkey", citations=("helcl-libovicky-2017-neural",),
    )  # fmt: skip


def _list_pytorch_members() -> Iterator[Member]:
    """Yield the members from torchmetrics, torchtext, PyTorch-Ignite and AllenNLP."""
    tie_quirk = "the first of two equally close reference lengths"
    zero_quirk = (
        f"{tie_quirk}, so the order of references matters. The score is 0 if any order has no "
        "match, even with smoothing."
    )
    for suffix, title, smoothing in (
        ("", "", p.UNSMOOTHED),
        ("-smooth", ", smooth=True", {"smoothing": "add-k"}),
    ):
        yield from make_members(
            (f"torchmetrics{suffix}", f"torchmetrics BLEUScore{title}",
             BLEU(**p.PRETOKENIZED, **p.TORCH, **smoothing), f"Uses {zero_quirk}"),
            (f"torchmetrics-sacrebleu{suffix}", f"torchmetrics SacreBLEUScore{title}",
             BLEU(**p.TORCH, **smoothing),
             f"Differs from sacreBLEU: uses {zero_quirk} Lower-cases after tokenizing."),
            used="training with PyTorch Lightning", citations=p.DETLEFSEN,
        )  # fmt: skip
    yield Member(
        "torchtext", "torchtext bleu_score", BLEU(**p.PRETOKENIZED, **p.TORCH, **p.UNSMOOTHED),
        f"Uses {tie_quirk}. A token that contains a space corrupts the n-gram counts.",
        used="training with torchtext", citations=("torchtext",),
    )  # fmt: skip
    single: dict[str, Any] = {**p.NLTK, "arithmetic": "ignite"}
    segment_mean = BLEU(**single, **p.UNSMOOTHED, **p.SEGMENTS, no_match="any-zero")
    corpus = segment_mean.with_parameters(aggregate="corpus", missing_order="zero")
    mean_quirk = "By default, averages unsmoothed segment scores: a segment without a matching "
    mean_quirk += "4-gram scores 0. Precisions have single precision."
    yield from make_members(
        ("ignite", "PyTorch-Ignite Bleu, average='macro'", segment_mean, mean_quirk),
        ("ignite-micro", "PyTorch-Ignite Bleu, average='micro'", corpus),
        used="training with PyTorch-Ignite",
        citations=("fomin-etal-2020-ignite",),
    )  # fmt: skip
    yield Member(
        "allennlp", "AllenNLP BLEU",
        BLEU(
            **p.PRETOKENIZED,
            smoothing="add-k-all",
            smoothing_value=1e-13,
            no_match="smoothed",
            reference_length="single",
            published_scale=1.0,
            arithmetic="allennlp",
        ),
        "Counts token indices; without exclude_indices, the lengths include padding. An order "
        "without n-grams has precision 1.",
        used="training with AllenNLP", citations=("gardner-etal-2018-allennlp",),
    )  # fmt: skip
