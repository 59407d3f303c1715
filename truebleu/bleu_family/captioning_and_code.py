"""Members for captions, dialogue and code."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member, group
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nltk_bleu import NLTKBLEU


def captions_and_code() -> Iterator[Member]:
    """COCO's, nlg-eval's, CodeXGLUE's, and the six of code summarization."""
    for order in range(1, 5):
        coco = BLEU(**p.COCO, max_order=order)
        split = (
            "The original first splits with Stanford's PTBTokenizer, lower-cased, without "
            "punctuation: give its output. Orders are cumulative."
        )
        title = f"COCO caption Bleu_{order}"
        items = coco.with_parameters(**p.SEGMENTS)
        yield from group(
            (f"coco-bleu-{order}", title, coco, split),
            (f"coco-bleu-{order}-item", f"{title}, mean of items", items, split),
            used="image captioning; nlg-eval and e2e-metrics with their own tokens",
            citation=p.CAPTIONS, digits=3,
        )  # fmt: skip
        yield Member(
            f"nlg-eval-bleu-{order}", f"nlg-eval Bleu_{order}", coco,
            "COCO's scorer on tokens that white space separates, case kept.",
            used="dialogue and data-to-text generation",
            citation="Sharma et al. (2017): Relevance of unsupervised metrics. arXiv:1706.09799",
            digits=6,
        )  # fmt: skip
    yield Member(
        "codenn", "CodeNN bleu.py (BLEU-CN)", BLEU("codenn", **p.CODENN),
        "A mean of segment scores with one added above order 1, and lengths with one added.",
        used="code summarization",
        citation=f"Iyer et al. (2016): Summarizing source code. ACL; {p.SHI}",
    )  # fmt: skip
    yield Member(
        "codexglue-summarization", "CodeXGLUE code-to-text (smoothed BLEU-4)",
        BLEU("codexglue", **p.CODENN),
        "CodeNN's after splitting at every mark and lower-casing: the highest of the family on "
        "running text.",
        used="CodeBERT, CodeT5 and successors on code summarization", citation=p.LU,
    )  # fmt: skip
    yield Member(
        "codexglue-bleu", "CodeXGLUE _bleu (refinement, translation, text-to-code)",
        BLEU(**p.GIVEN, **{**p.NMT, **p.ADD_ONE, "reference_length": "single", "scale": 100.0}),
        "tensorflow/nmt with smooth=True, although it is for a corpus.",
        used="CodeBERT, CodeT5 and successors on code generation", citation=p.LU, digits=2,
    )  # fmt: skip
    unsmoothed = BLEU(**p.NLTK, smoothing="tiny")
    yield from group(
        ("bleu-fc", "BLEU-FC (FunCom)", unsmoothed, "NLTK's corpus_bleu."),
        ("bleu-dc", "BLEU-DC (DeepCom)", NLTKBLEU(method=4, **p.SEGMENTS),
         "The mean of NLTK's sentence_bleu with method4, which NLTK 3.5 and 3.6 changed."),
        ("bleu-dm", "BLEU-DM", unsmoothed.with_parameters(**p.SEGMENTS),
         "The mean of NLTK's unsmoothed sentence_bleu."),
        ("bleu-ncs", "BLEU-NCS (Transformer for code)",
         BLEU(**p.GIVEN, **p.NMT, **p.ADD_ONE, **p.SEGMENTS),
         "The mean of tensorflow/nmt with smooth=True."),
        ("bleu-rc", "BLEU-RC (Rencos)", BLEU(**p.COCO, **p.SEGMENTS, lowercase=True),
         "The mean of COCO's Bleu_4 per item."),
        used="code summarization", citation=p.SHI,
    )  # fmt: skip
    yield Member(
        "codebleu-ngram", "CodeBLEU, n-gram match", BLEU(**p.NLTK, smoothing="floor"),
        "NLTK's corpus_bleu with method1.",
        used="code generation, beside matches of syntax and data flow", citation=p.REN,
    )  # fmt: skip
