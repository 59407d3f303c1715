"""What captions, dialogue and code are scored with."""

from __future__ import annotations

from truebleu.bleu_family.member import Member
from truebleu.bleu_family.parameters import (
    ADD_ONE,
    CAPTIONS,
    COCO,
    CODENN,
    GIVEN,
    LU,
    NLTK,
    NMT,
    REN,
    SEGMENTS,
    SHI,
)
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nltk_bleu import NLTKBLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from truebleu.metrics.base import Metric


def captions_and_code() -> Iterator[Member]:
    """COCO's, nlg-eval's, CodeXGLUE's, and the six of code summarization."""
    for order in range(1, 5):
        for name, parameters in {"": {}, "-item": SEGMENTS}.items():
            yield Member(
                f"coco-bleu-{order}{name}",
                f"COCO caption Bleu_{order}" + (", mean of items" if name else ""),
                BLEU(**COCO, **parameters, max_order=order),
                used="image captioning; nlg-eval and e2e-metrics with their own tokens",
                citation=CAPTIONS,
                quirks="The original first splits with Stanford's PTBTokenizer, lower-cased, "
                "without punctuation: give its output. Orders are cumulative.",
                digits=3,
            )
        yield Member(
            f"nlg-eval-bleu-{order}",
            f"nlg-eval Bleu_{order}",
            BLEU(**COCO, max_order=order),
            used="dialogue and data-to-text generation",
            citation="Sharma et al. (2017): Relevance of unsupervised metrics. arXiv:1706.09799",
            quirks="COCO's scorer on tokens that white space separates, case kept.",
            digits=6,
        )
    yield Member(
        "codenn",
        "CodeNN bleu.py (BLEU-CN)",
        BLEU("codenn", **CODENN),
        used="code summarization",
        citation=f"Iyer et al. (2016): Summarizing source code. ACL; {SHI}",
        quirks="A mean of segment scores with one added above order 1, and lengths with one added.",
    )
    yield Member(
        "codexglue-summarization",
        "CodeXGLUE code-to-text (smoothed BLEU-4)",
        BLEU("codexglue", **CODENN),
        used="CodeBERT, CodeT5 and successors on code summarization",
        citation=LU,
        quirks="CodeNN's after splitting at every mark and lower-casing: the highest of the family "
        "on running text.",
    )
    yield Member(
        "codexglue-bleu",
        "CodeXGLUE _bleu (refinement, translation, text-to-code)",
        BLEU("none", **{**NMT, **ADD_ONE, "reference_length": "single", "scale": 100.0}),
        used="CodeBERT, CodeT5 and successors on code generation",
        citation=LU,
        quirks="tensorflow/nmt with smooth=True, although it is for a corpus.",
        digits=2,
    )
    rows: tuple[tuple[str, str, Metric, str], ...] = (
        (
            "bleu-fc",
            "BLEU-FC (FunCom)",
            BLEU(**NLTK, smoothing="tiny"),
            "NLTK's corpus_bleu.",
        ),
        (
            "bleu-dc",
            "BLEU-DC (DeepCom)",
            NLTKBLEU(method=4, aggregate="segments"),
            "The mean of NLTK's sentence_bleu with method4, which NLTK 3.5 and 3.6 changed.",
        ),
        (
            "bleu-dm",
            "BLEU-DM",
            BLEU(**NLTK, **SEGMENTS, smoothing="tiny"),
            "The mean of NLTK's unsmoothed sentence_bleu.",
        ),
        (
            "bleu-ncs",
            "BLEU-NCS (Transformer for code)",
            BLEU(**GIVEN, **NMT, **ADD_ONE, **SEGMENTS),
            "The mean of tensorflow/nmt with smooth=True.",
        ),
        (
            "bleu-rc",
            "BLEU-RC (Rencos)",
            BLEU(**COCO, **SEGMENTS, lowercase=True),
            "The mean of COCO's Bleu_4 per item.",
        ),
    )
    for name, title, metric, quirks in rows:
        yield Member(name, title, metric, used="code summarization", citation=SHI, quirks=quirks)
    yield Member(
        "codebleu-ngram",
        "CodeBLEU, n-gram match",
        BLEU(**NLTK, smoothing="floor"),
        used="code generation, beside matches of syntax and data flow",
        citation=REN,
        quirks="NLTK's corpus_bleu with method1.",
    )
