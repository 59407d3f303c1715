"""Published BLEU implementations: one family member per program and set of its options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.bleu_family.family_member import Member, make_members
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.cdec import CdecBLEU
from truebleu.metrics.codebleu import CodeBLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.neuralmonkey import NeuralMonkeyBLEU
from truebleu.metrics.nist import NIST
from truebleu.metrics.nltk_bleu import NLTKBLEU

# Keys in truebleu.text.citations.
MOSES = ("koehn-etal-2007-moses",)
BIRD = ("bird-etal-2009-natural",)
CHEN = ("chen-cherry-2014-systematic", *BIRD)
SHI = ("shi-etal-2022-evaluation",)
LU = ("lu-etal-2021-codexglue",)
REN = ("ren-etal-2020-codebleu",)
DYER = ("dyer-etal-2010-cdec",)

# The input is already tokenized; white space separates the tokens.
PRETOKENIZED: dict[str, Any] = {"tokenize": "none"}
UNSMOOTHED: dict[str, Any] = {"smoothing": "none"}
ADD_ONE: dict[str, Any] = {"smoothing": "add-k-all", "no_match": "smoothed"}
SEGMENTS: dict[str, Any] = {"aggregate": "segments"}

MTEVAL_13: dict[str, Any] = {"missing_order": "one", "no_match": "smoothed", "published_scale": 1.0}
NLTK: dict[str, Any] = {
    **PRETOKENIZED, "missing_order": "at-least-one", "published_scale": 1.0, "arithmetic": "nltk",
}  # fmt: skip
NMT: dict[str, Any] = {"reference_length": "shortest", "published_scale": 1.0, "arithmetic": "nmt"}
T2T: dict[str, Any] = {"missing_order": "one", "no_match": "smoothed", "arithmetic": "t2t"}
TORCH: dict[str, Any] = {
    "tie": "first", "no_match": "any-zero", "published_scale": 1.0, "arithmetic": "float32",
}  # fmt: skip
COCO: dict[str, Any] = {
    **PRETOKENIZED, "smoothing": "epsilon", "brevity_penalty": "coco", "no_match": "smoothed",
    "published_scale": 1.0, "arithmetic": "coco",
}  # fmt: skip
CODENN: dict[str, Any] = {
    **SEGMENTS, "smoothing": "add-k-tiny", "missing_order": "one", "no_match": "smoothed",
    "reference_length": "shortest", "brevity_penalty": "plus-one", "arithmetic": "codenn",
}  # fmt: skip
CDEC: dict[str, Any] = {
    **PRETOKENIZED, "smoothing": "floor", "smoothing_value": 0.01, "missing_order": "drop",
    "no_match": "smoothed", "arithmetic": "cdec",
}  # fmt: skip

# mteval's command-line options, keyed by their abbreviations in member names.
MTEVAL_SWITCHES = {
    "c": "-c",
    "intl": "--international-tokenization",
    "shortest": "--brevity-penalty shortest",
}


_OLD_MTEVAL: dict[str, Any] = {**UNSMOOTHED, "reference_length": "shortest", "published_scale": 1.0}
_SMOOTHS = "Also smooths corpus scores (1/2, 1/4, ... of a match), so they are never 0."


def list_members() -> Iterator[Member]:
    """Yield all members, grouped by the field of their programs."""
    yield from _list_machine_translation_members()
    yield from _list_library_members()
    yield from _list_captioning_and_code_members()
    yield from _list_tool_members()
    yield from _list_related_members()


def _list_mteval_members() -> Iterator[Member]:
    """Yield the members for each mteval version and its options, with and without -c."""
    since_2009 = "NIST evaluations since 2009, WMT before sacreBLEU"
    as_v13a = "like v13a; only the input format differs"
    byte_quirk = "Works on bytes. Fails if the hypothesis has no tokens."
    symbol_quirk = "Splits off all Unicode punctuation and symbols."
    for name, tokenizer, parameters, used, quirks in (
        ("v11b", "mteval-v11b", _OLD_MTEVAL, "NIST evaluations of 2002 to 2006", byte_quirk),
        ("v12", "mteval-v12", _OLD_MTEVAL, "NIST evaluation of 2008", symbol_quirk),
        ("v13a", "mteval-v13a", MTEVAL_13, since_2009, _SMOOTHS),
        ("v13a-shortest", "mteval-v13a", MTEVAL_13, since_2009, _SMOOTHS),
        ("v14", "mteval-v13a", MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-shortest", "mteval-v13a", MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-intl", "mteval-v14-international", MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-intl-shortest", "mteval-v14-international", MTEVAL_13, as_v13a, _SMOOTHS),
    ):
        shortest = {"reference_length": "shortest"} if "shortest" in name else {}
        for case, suffix, case_quirks in (
            ("", "-lower", f"{quirks} Lower-cases unless -c is used."),
            ("-c", "", quirks),
        ):
            version, *options = f"{name}{case}".split("-")
            yield Member(
                f"mteval-{name}{case}",
                " ".join([f"mteval-{version}.pl", *map(MTEVAL_SWITCHES.__getitem__, options)]),
                BLEU(f"{tokenizer}{suffix}", **{**parameters, **shortest}), case_quirks, used=used,
                citations=("nist-mteval",), digits=4,
            )  # fmt: skip


def _list_moses_members() -> Iterator[Member]:
    """Yield the members for the Perl scripts and the tuning programs of Moses."""
    token_quirk = (
        "Does not tokenize the text, so scores of differently tokenized outputs are not comparable."
    )
    newline_quirk = "Drops the last character of the file if there is no final newline."
    for name, case, quirks in (
        ("multi-bleu", False, token_quirk),
        ("multi-bleu-lc", "ascii", f"{token_quirk} Its option -lc lower-cases only A to Z."),
        ("multi-bleu-detok", False, newline_quirk),
        ("multi-bleu-detok-lc", True, newline_quirk),
    ):
        script = name.removesuffix("-lc")
        yield Member(
            name, f"{script}.perl" + (" -lc" if case else ""),
            BLEU(script, lowercase=case, **UNSMOOTHED), quirks,
            used="papers on neural translation before 2019", citations=MOSES, digits=2,
        )  # fmt: skip
    program: dict[str, Any] = {**PRETOKENIZED, "published_scale": 1.0, "arithmetic": "float32"}
    yield Member(
        "moses-sentence-bleu", "Moses sentence-bleu, mean of segments",
        BLEU(**program, **ADD_ONE, **SEGMENTS),
        "Adds one to the counts of every order, but not to the lengths in the brevity penalty.",
        used="tuning and n-best lists in Moses", citations=MOSES,
    )  # fmt: skip
    truncation_quirk = "Truncates the mean reference length of each segment to an integer."
    for name, rule, quirks in (
        ("closest", "closest", ""),
        ("shortest", "shortest", ""),
        ("average", "average-truncated", truncation_quirk),
    ):
        yield Member(
            "moses-mert" + ("" if rule == "closest" else f"-{name}"),
            f"Moses mert, BLEU with reflen:{name}",
            BLEU(**program, **UNSMOOTHED, reference_length=rule, no_match="any-zero"), quirks,
            used="minimum error rate training in Moses", citations=MOSES,
        )  # fmt: skip


def _list_machine_translation_members() -> Iterator[Member]:
    """Yield the members from Papineni et al., mteval, Moses and sacreBLEU."""
    yield Member(
        "papineni-2002", "BLEU as defined in the paper",
        BLEU(**PRETOKENIZED, **UNSMOOTHED, published_scale=1.0, arithmetic="nmt"),
        "The paper does not say which of two equally close reference lengths to use; truebleu "
        "uses the shorter one.",
        used="the original definition, as in IBM's program",
        citations=("papineni-etal-2002-bleu",), digits=4,
    )  # fmt: skip
    yield from _list_mteval_members()
    yield from _list_moses_members()
    for name, parameters, used, quirks in _SACREBLEU:
        yield Member(
            f"sacrebleu{name}", f"sacreBLEU 2.6.0{name.replace('-', ' ', 1)}", BLEU(**parameters),
            quirks, used=used, citations=("post-2018-call",), digits=1,
        )  # fmt: skip


_SACREBLEU: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("", {}, "WMT shared tasks since 2018, and most papers", ""),
    ("-lc", {"lowercase": True}, "uncased scores in addition to the default",
     "Lower-cases before tokenizing, so &QUOT; becomes a quotation mark."),
    ("-intl", {"tokenize": "intl"}, "papers by Google and Meta on many languages",
     "Does not decode entities; mteval does."),
    ("-zh", {"tokenize": "zh"}, "translation into Chinese",
     "Does not split ideographs outside the basic multilingual plane."),
    ("-char", {"tokenize": "char"}, "translation into Japanese, Thai and other languages", ""),
    ("-sentence", SEGMENTS, "sentence_bleu and --sentence-level, averaged",
     "Skips orders without n-grams; BLEU().sentence_score keeps them."),
    ("-raw", {**PRETOKENIZED, "smoothing": "floor", "effective_order": True},
     "raw_corpus_bleu, as in Sockeye", ""),
)  # fmt: skip


def _list_tool_members() -> Iterator[Member]:
    """Yield the members from other decoders and from programs that compare systems."""
    yield from _list_decoder_members()
    compare: dict[str, Any] = {**NLTK, "tokenize": "compare-mt", "published_scale": 100.0}
    compare["reference_length"] = "single"
    viewer: dict[str, Any] = {**MTEVAL_13, "tie": "first"}
    tokenizer_quirk = (
        "Its tokenizer does not split off ! # % * < = > \\ ^ _ and |. It is not the metric iBLEU "
        "with a source penalty (Sun and Zhou 2012), which is -m ibleu."
    )
    yield Member(
        "jbleu", "jBLEU in MultEval",
        BLEU(**PRETOKENIZED, missing_order="one", no_match="smoothed"),
        "Applies mteval-v13a's formula to pretokenized text.",
        used="significance tests with MultEval", citations=("clark-etal-2011-better",), digits=1,
    )  # fmt: skip
    yield Member(
        "mt-compareval", "MT-ComparEval",
        BLEU("mteval-v11b", reference_length="single", missing_order="one"),
        used="comparing systems in a browser", citations=("klejch-etal-2015-mt",), digits=2,
    )  # fmt: skip
    yield from make_members(
        ("compare-mt", "compare-mt, bleu", BLEU(**compare, **UNSMOOTHED),
         "An order without a match is left out of the sum, as if its precision were 1."),
        ("compare-mt-sentbleu", "compare-mt, sentbleu",
         BLEU(**compare, smoothing="add-k", **SEGMENTS),
         "Averages NLTK's sentence_bleu with method2."),
        used="comparing systems", citations=("neubig-etal-2019-compare",), digits=4,
    )  # fmt: skip
    yield from make_members(
        ("ibleu-viewer", "the viewer iBLEU (Madnani 2011)", BLEU("madnani-ibleu-lower", **viewer),
         tokenizer_quirk),
        ("ibleu-viewer-cased", "the viewer iBLEU (Madnani 2011), case-sensitive",
         BLEU("madnani-ibleu", **viewer), tokenizer_quirk),
        used="viewing scores in a browser", citations=("madnani-2011-ibleu",), digits=4,
    )  # fmt: skip


def _list_decoder_members() -> Iterator[Member]:
    """Yield the members from Phrasal and cdec."""
    phrasal: dict[str, Any] = {"tokenize": "mteval-v11b", "lowercase": True, "tie": "first"}
    default_quirk = "Uses NIST's tokenizer and lower-cases by default"
    tie_quirk = "uses the first of two equally close reference lengths."
    zero_quirk = "An order without a match counts as 0.01 matches."
    yield from make_members(
        ("phrasal", "Phrasal BLEUMetric", BLEU(**phrasal, **UNSMOOTHED),
         f"{default_quirk}; {tie_quirk} Single segments are always smoothed."),
        ("phrasal-smooth", "Phrasal BLEUMetric -smooth, mean of segments",
         BLEU(**phrasal, smoothing="add-k", **SEGMENTS), f"{default_quirk}."),
        used="Stanford's statistical machine translation",
        citations=("green-etal-2014-phrasal",), digits=3,
    )  # fmt: skip
    yield from make_members(
        ("cdec-ibm", "cdec IBM_BLEU", BLEU(**CDEC, tie="first"), zero_quirk),
        ("cdec-nist", "cdec NIST_BLEU", BLEU(**CDEC, reference_length="shortest"), zero_quirk),
        ("cdec-koehn", "cdec KOEHN_BLEU", BLEU(**CDEC, reference_length="average"), zero_quirk),
        used="tuning and scoring with cdec", citations=DYER, digits=2,
    )  # fmt: skip
    yield Member(
        "cdec-qcri", "cdec QCRI_BLEU", CdecBLEU(),
        "Counts one match for orders without matches, has a special brevity penalty, and subtracts "
        "the score of a text without any match.",
        used="tuning with cdec", citations=DYER, digits=2,
    )  # fmt: skip


def _list_nltk_members() -> Iterator[Member]:
    """Yield the members for NLTK's corpus_bleu and sentence_bleu, by smoothing method."""
    count_quirks = (
        "Expects lists of tokens; a string is silently scored as characters. Every segment counts "
        "as having at least one n-gram per order, so corpora with short segments get lower scores."
    )
    zero_quirk = " Without any match, the score is about 1e-155 instead of 0."
    for kind, parameters, mean_quirk in (("corpus", {}, ""), ("sentence", SEGMENTS, _MEAN)):
        for method, smoothing in enumerate(("tiny", "floor", "add-k", "exp")):
            default = "" if method else " (the default)"
            yield Member(
                f"nltk-{kind}-{method}", f"NLTK {kind}_bleu, method{method}{default}{mean_quirk}",
                BLEU(**NLTK, smoothing=smoothing, **parameters),
                count_quirks if method else count_quirks + zero_quirk,
                used="tutorials, text generation, code generation",
                citations=CHEN if method else BIRD,
            )  # fmt: skip
    shared: dict[str, Any] = {"used": "text generation", "citations": CHEN}
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


def _list_library_members() -> Iterator[Member]:
    """Yield the members from NLTK, Hugging Face, tensorflow/nmt and training frameworks."""
    yield from _list_nltk_members()
    for name, title, tokenize, used, citations in (
        ("nmt", "tensorflow/nmt compute_bleu", "none", "TensorFlow tutorials and many copies",
         ("luong-etal-2017-neural",)),
        ("huggingface", "Hugging Face evaluate bleu", "13a", "evaluate.load('bleu')",
         ("hugging-face-evaluate",)),
    ):  # fmt: skip
        length_quirk = "Uses the shortest of several references, so scores exceed sacreBLEU's."
        metric = BLEU(tokenize, **NMT, **UNSMOOTHED)
        smooth = metric.with_parameters(**ADD_ONE)
        yield Member(name, title, metric, length_quirk, used=used, citations=citations)
        yield Member(
            f"{name}-smooth", f"{title}, smooth=True", smooth, length_quirk, used=used,
            citations=("lin-och-2004-orange", *citations),
        )  # fmt: skip
    yield Member(
        "bleuscore", "bleuscore (Rust)", BLEU("mteval-v13a", **NMT, **UNSMOOTHED),
        "Uses the shortest reference, like Hugging Face. bleuscore treats U+001C to U+001F as "
        "letters; truebleu does not.",
        used="a faster replacement for Hugging Face's bleu", citations=("bleuscore",),
    )  # fmt: skip
    yield Member(
        "keras-hub", "KerasHub metrics.Bleu",
        BLEU("keras-hub", **{**NMT, "arithmetic": "float32"}, **UNSMOOTHED),
        "One tokenizer rule has no effect: the full stop in 'in 2020.' is not split off.",
        used="Keras models", citations=("keras-hub",),
    )  # fmt: skip
    uncased = BLEU("tensor2tensor", lowercase=True, reference_length="single", **T2T)
    cased = uncased.with_parameters(lowercase=False)
    digit_quirk = (
        "Its international tokenizer differs from mteval's: only \\d counts as a digit. "
        "approx_bleu, which is shown during training, counts subwords instead."
    )
    yield from make_members(
        ("t2t-bleu", "tensor2tensor t2t-bleu, uncased", uncased, digit_quirk),
        ("t2t-bleu-cased", "tensor2tensor t2t-bleu, cased", cased, digit_quirk),
        used="Google's papers on the Transformer",
        citations=("vaswani-etal-2018-tensor2tensor",), digits=2,
    )  # fmt: skip
    yield Member(
        "fairseq", "fairseq-score, libbleu",
        BLEU(**PRETOKENIZED, **UNSMOOTHED, reference_length="single"),
        "Counts dictionary indices. fairseq identifies n-grams by a 64-bit hash with known "
        "collisions; truebleu's counts are exact. Unknown reference words never match.",
        used="papers that use fairseq", citations=("ott-etal-2019-fairseq",), digits=2,
    )  # fmt: skip
    yield from _list_toolkit_members()
    yield from _list_pytorch_members()


def _list_toolkit_members() -> Iterator[Member]:
    """Yield the members from Texar, xnmt and Neural Monkey."""
    texar = BLEU(**PRETOKENIZED, **UNSMOOTHED, reference_length="shortest", arithmetic="nmt")
    character_quirk = (
        "Uses the shortest reference. For strings, the original's brevity penalty counts "
        "characters; truebleu counts tokens, as the original does for lists of tokens."
    )
    transformer = BLEU(**PRETOKENIZED, reference_length="single", **T2T)
    yield from make_members(
        ("texar", "Texar corpus_bleu", texar, character_quirk),
        ("texar-smooth", "Texar corpus_bleu, smooth=True", texar.with_parameters(**ADD_ONE),
         character_quirk),
        ("texar-transformer", "Texar corpus_bleu_transformer", transformer,
         "tensor2tensor's formula for tokens."),
        ("texar-transformer-no-bp", "Texar corpus_bleu_transformer, use_bp=False",
         transformer.with_parameters(brevity_penalty="none"),
         "tensor2tensor's formula for tokens, without the brevity penalty."),
        used="text generation with Texar", citations=("hu-etal-2019-texar",),
    )  # fmt: skip
    yield from make_members(
        ("xnmt", "xnmt BLEUEvaluator",
         BLEU(**PRETOKENIZED, **UNSMOOTHED, reference_length="single", no_match="any-zero",
              published_scale=1.0, arithmetic="xnmt"),
         ("With several references, the original loses the matches of the first segment; truebleu "
         "accepts one reference.")),
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
        ("", "", UNSMOOTHED),
        ("-smooth", ", smooth=True", {"smoothing": "add-k"}),
    ):
        yield from make_members(
            (f"torchmetrics{suffix}", f"torchmetrics BLEUScore{title}",
             BLEU(**PRETOKENIZED, **TORCH, **smoothing), f"Uses {zero_quirk}"),
            (f"torchmetrics-sacrebleu{suffix}", f"torchmetrics SacreBLEUScore{title}",
             BLEU(**TORCH, **smoothing),
             f"Differs from sacreBLEU: uses {zero_quirk} Lower-cases after tokenizing."),
            used="training with PyTorch Lightning", citations=("detlefsen-etal-2022-torchmetrics",),
        )  # fmt: skip
    yield Member(
        "torchtext", "torchtext bleu_score", BLEU(**PRETOKENIZED, **TORCH, **UNSMOOTHED),
        f"Uses {tie_quirk}. A token that contains a space corrupts the n-gram counts.",
        used="training with torchtext", citations=("torchtext",),
    )  # fmt: skip
    corpus = BLEU(**{**NLTK, "arithmetic": "ignite", "missing_order": "zero"}, **UNSMOOTHED,
                  no_match="any-zero")  # fmt: skip
    segment_mean = corpus.with_parameters(aggregate="segments", missing_order="at-least-one")
    yield from make_members(
        ("ignite", "PyTorch-Ignite Bleu, average='macro'", segment_mean,
         ("By default, averages unsmoothed segment scores: a segment without a matching 4-gram "
         "scores 0. Precisions have single precision.")),
        ("ignite-micro", "PyTorch-Ignite Bleu, average='micro'", corpus),
        used="training with PyTorch-Ignite", citations=("fomin-etal-2020-ignite",),
    )  # fmt: skip
    yield Member(
        "allennlp", "AllenNLP BLEU",
        BLEU(**PRETOKENIZED, **ADD_ONE, smoothing_value=1e-13, reference_length="single",
             published_scale=1.0, arithmetic="allennlp"),
        "Counts token indices; without exclude_indices, the lengths include padding. An order "
        "without n-grams has precision 1.",
        used="training with AllenNLP", citations=("gardner-etal-2018-allennlp",),
    )  # fmt: skip


def _list_captioning_and_code_members() -> Iterator[Member]:
    """Yield the members from COCO and nlg-eval, and the members for source code."""
    for order in range(1, 5):
        coco = BLEU(**{**COCO, "tokenize": "ptb-coco"}, max_order=order)
        tokenization_quirk = (
            "The tokenizer ptb-coco is Stanford's PTBTokenizer, which lower-cases text, without "
            "punctuation. BLEU-n uses all orders up to n."
        )
        title = f"COCO caption Bleu_{order}"
        yield from make_members(
            (f"coco-bleu-{order}", title, coco, tokenization_quirk),
            (f"coco-bleu-{order}-item", f"{title}, mean of segments",
             coco.with_parameters(**SEGMENTS), tokenization_quirk),
            used="image captioning; nlg-eval and e2e-metrics with their own tokenizers",
            citations=("chen-etal-2015-microsoft",), digits=3,
        )  # fmt: skip
        yield Member(
            f"nlg-eval-bleu-{order}", f"nlg-eval Bleu_{order}", BLEU(**COCO, max_order=order),
            "Applies COCO's scorer to tokens separated by white space. Case-sensitive.",
            used="dialogue and data-to-text generation",
            citations=("sharma-etal-2017-relevance",), digits=6,
        )  # fmt: skip
    yield Member(
        "multiwoz", "MultiWOZ evaluate.py",
        BLEU(**{**NLTK, "missing_order": "one"}, smoothing="offset", no_match="smoothed",
             tie="first"),
        "Never 0. The original uses a reference length of 1,000 if all lengths differ by 1,000 or "
        "more tokens; truebleu uses the closest. utils/nlp.py adds the tokens GO_ and EOS_.",
        used="task-oriented dialogue on MultiWOZ", citations=("budzianowski-etal-2018-multiwoz",),
    )  # fmt: skip
    yield from _list_source_code_members()


def _list_source_code_members() -> Iterator[Member]:
    """Yield the members from CodeXGLUE, CodeBLEU and code summarization."""
    yield Member(
        "codenn", "CodeNN bleu.py (BLEU-CN)", BLEU("codenn", **CODENN),
        "Averages segment scores. Adds one to the counts of orders above 1, and to the lengths.",
        used="code summarization", citations=("iyer-etal-2016-summarizing", *SHI),
    )  # fmt: skip
    yield Member(
        "codexglue-summarization", "CodeXGLUE code-to-text (smoothed BLEU-4)",
        BLEU("codexglue", **CODENN),
        "Splits at every punctuation mark, lower-cases, and computes CodeNN's score. Gives the "
        "highest scores of the family on ordinary prose.",
        used="CodeBERT, CodeT5 and successors on code summarization", citations=LU,
    )  # fmt: skip
    yield Member(
        "codexglue-bleu", "CodeXGLUE _bleu (refinement, translation, text-to-code)",
        BLEU(**PRETOKENIZED, **ADD_ONE, reference_length="single", arithmetic="nmt"),
        "Applies tensorflow/nmt's formula with smooth=True to a corpus.",
        used="CodeBERT, CodeT5 and successors on code generation", citations=LU, digits=2,
    )  # fmt: skip
    unsmoothed = BLEU(**NLTK, smoothing="tiny")
    yield from make_members(
        ("bleu-fc", "BLEU-FC (FunCom)", unsmoothed, "NLTK's corpus_bleu."),
        ("bleu-dc", "BLEU-DC (DeepCom)", NLTKBLEU(method=4, **SEGMENTS),
         "Averages NLTK's sentence_bleu with method4, which changed in NLTK 3.5 and 3.6."),
        ("bleu-dm", "BLEU-DM", unsmoothed.with_parameters(**SEGMENTS),
         "Averages NLTK's unsmoothed sentence_bleu."),
        ("bleu-ncs", "BLEU-NCS (Transformer for code)",
         BLEU(**PRETOKENIZED, **NMT, **ADD_ONE, **SEGMENTS),
         "Averages segment scores of tensorflow/nmt with smooth=True."),
        ("bleu-rc", "BLEU-RC (Rencos)", BLEU(**COCO, **SEGMENTS, lowercase=True),
         "Averages COCO's Bleu_4 of the segments."),
        used="code summarization", citations=SHI,
    )  # fmt: skip
    yield Member(
        "codebleu-ngram", "CodeBLEU, n-gram match", BLEU(**NLTK, smoothing="floor"),
        "NLTK's corpus_bleu with method1.",
        used="code generation, together with syntax and data-flow matches", citations=REN,
    )  # fmt: skip


# Classes of metrics that are not BLEU, regardless of their parameters.
RELATED_METRICS = (NIST, GLEU, CodeBLEU)


def _list_related_members() -> Iterator[Member]:
    """Yield the members for NIST, Google's GLEU, and CodeBLEU's weighted n-gram match."""
    for options, tokenizer in (
        ("", "mteval-v13a-lower"),
        ("-c", "mteval-v13a"),
        ("-intl", "mteval-v14-international-lower"),
        ("-intl-c", "mteval-v14-international"),
    ):
        switches = [MTEVAL_SWITCHES[word] for word in options.split("-")[1:]]
        yield Member(
            f"nist{options}", " ".join(["NIST score of mteval-v13a and v14", *switches]),
            NIST(tokenizer),
            "Has no upper bound. The token 0 loses its history, because Perl treats it as false.",
            used="NIST evaluations, together with BLEU",
            citations=("doddington-2002-automatic",), digits=4,
        )  # fmt: skip
    yield Member(
        "nist-nltk", "NLTK corpus_nist", NIST("none", variant="nltk"),
        "With several references, uses the best reference per order instead of all references.",
        used="data-to-text generation", citations=BIRD,
    )  # fmt: skip
    for name, title, tokenize, used in (
        ("gleu-nltk", "NLTK corpus_gleu", "none", "reinforcement learning"),
        ("google-bleu", "Hugging Face evaluate google_bleu", "13a", "evaluate.load('google_bleu')"),
    ):
        yield Member(
            name, title, GLEU(tokenize),
            "Computes the minimum of precision and recall, without a brevity penalty.", used=used,
            citations=("wu-etal-2016-google",),
        )  # fmt: skip
    for language in ("java", "python"):
        yield Member(
            f"codebleu-weighted-{language}", f"CodeBLEU, weighted n-gram match, {language}",
            CodeBLEU(language=language),
            "Computes recall instead of precision. Reserved words of the language have weight 1, "
            "other unigrams 0.2.",
            used="code generation, together with syntax and data-flow matches", citations=REN,
        )  # fmt: skip
