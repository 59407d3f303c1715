"""Family members for image captioning, dialogue and source code."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member, make_members
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.nltk_bleu import NLTKBLEU


def list_captioning_and_code_members() -> Iterator[Member]:
    """Yield the members from COCO and nlg-eval, and the members for source code."""
    for order in range(1, 5):
        coco = BLEU(**{**p.COCO, "tokenize": "ptb-coco"}, max_order=order)
        tokenization_quirk = (
            "The tokenizer ptb-coco is Stanford's PTBTokenizer, which lower-cases text, without "
            "punctuation. BLEU-n uses all orders up to n."
        )
        title = f"COCO caption Bleu_{order}"
        item_mean = coco.with_parameters(**p.SEGMENTS)
        yield from make_members(
            (f"coco-bleu-{order}", title, coco, tokenization_quirk),
            (
                f"coco-bleu-{order}-item",
                f"{title}, mean of segments",
                item_mean,
                tokenization_quirk,
            ),
            used="image captioning; nlg-eval and e2e-metrics with their own tokenizers",
            citations=p.CAPTIONS, digits=3,
        )  # fmt: skip
        yield Member(
            f"nlg-eval-bleu-{order}", f"nlg-eval Bleu_{order}", BLEU(**p.COCO, max_order=order),
            "Applies COCO's scorer to tokens separated by white space. Case-sensitive.",
            used="dialogue and data-to-text generation",
            citations=("sharma-etal-2017-relevance",),
            digits=6,
        )  # fmt: skip
    yield Member(
        "multiwoz", "MultiWOZ evaluate.py",
        BLEU(**{**p.NLTK, "missing_order": "one"}, smoothing="offset", no_match="smoothed",
             tie="first"),
        "Never 0. The original uses a reference length of 1,000 if all lengths differ by 1,000 or "
        "more tokens; truebleu uses the closest. utils/nlp.py adds the tokens GO_ and EOS_.",
        used="task-oriented dialogue on MultiWOZ",
        citations=("budzianowski-etal-2018-multiwoz",),
    )  # fmt: skip
    yield from _list_source_code_members()


def _list_source_code_members() -> Iterator[Member]:
    """Yield the members from CodeXGLUE, CodeBLEU and code summarization."""
    yield Member(
        "codenn", "CodeNN bleu.py (BLEU-CN)", BLEU("codenn", **p.CODENN),
        "Averages segment scores. Adds one to the counts of orders above 1, and to the lengths.",
        used="code summarization",
        citations=("iyer-etal-2016-summarizing", *p.SHI),
    )  # fmt: skip
    yield Member(
        "codexglue-summarization", "CodeXGLUE code-to-text (smoothed BLEU-4)",
        BLEU("codexglue", **p.CODENN),
        "Splits at every punctuation mark, lower-cases, and computes CodeNN's score. Gives the "
        "highest scores of the family on ordinary prose.",
        used="CodeBERT, CodeT5 and successors on code summarization", citations=p.LU,
    )  # fmt: skip
    yield Member(
        "codexglue-bleu", "CodeXGLUE _bleu (refinement, translation, text-to-code)",
        BLEU(
            **p.PRETOKENIZED,
            **{**p.NMT, **p.ADD_ONE, "reference_length": "single", "published_scale": 100.0},
        ),
        "Applies tensorflow/nmt's formula with smooth=True to a corpus.",
        used="CodeBERT, CodeT5 and successors on code generation", citations=p.LU, digits=2,
    )  # fmt: skip
    unsmoothed = BLEU(**p.NLTK, smoothing="tiny")
    yield from make_members(
        ("bleu-fc", "BLEU-FC (FunCom)", unsmoothed, "NLTK's corpus_bleu."),
        ("bleu-dc", "BLEU-DC (DeepCom)", NLTKBLEU(method=4, **p.SEGMENTS),
         "Averages NLTK's sentence_bleu with method4, which changed in NLTK 3.5 and 3.6."),
        ("bleu-dm", "BLEU-DM", unsmoothed.with_parameters(**p.SEGMENTS),
         "Averages NLTK's unsmoothed sentence_bleu."),
        ("bleu-ncs", "BLEU-NCS (Transformer for code)",
         BLEU(**p.PRETOKENIZED, **p.NMT, **p.ADD_ONE, **p.SEGMENTS),
         "Averages segment scores of tensorflow/nmt with smooth=True."),
        ("bleu-rc", "BLEU-RC (Rencos)", BLEU(**p.COCO, **p.SEGMENTS, lowercase=True),
         "Averages COCO's Bleu_4 of the segments."),
        used="code summarization", citations=p.SHI,
    )  # fmt: skip
    yield Member(
        "codebleu-ngram", "CodeBLEU, n-gram match", BLEU(**p.NLTK, smoothing="floor"),
        "NLTK's corpus_bleu with method1.",
        used="code generation, together with syntax and data-flow matches", citations=p.REN,
    )  # fmt: skip
