"""Relatives of BLEU: the NIST score, GLEU, CodeBLEU's weighted match."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member
from truebleu.metrics.codebleu import CodeBLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.nist import NIST

# Metrics that are no BLEU, whatever their parameters.
RELATIVES = (NIST, GLEU, CodeBLEU)


def relatives() -> Iterator[Member]:
    """NIST as mteval and NLTK give it, Google's GLEU, CodeBLEU's second part."""
    for options, tokenizer in (
        ("", "mteval-v13a-lower"),
        ("-c", "mteval-v13a"),
        ("-intl", "mteval-v14-international-lower"),
        ("-intl-c", "mteval-v14-international"),
    ):
        switches = [p.SWITCHES[word] for word in options.split("-")[1:]]
        yield Member(
            f"nist{options}", " ".join(["NIST score of mteval-v13a and v14", *switches]),
            NIST(tokenizer),
            "No upper bound. The token 0 loses its history, because Perl takes it for false.",
            used="NIST evaluations, beside BLEU",
            citation="Doddington (2002): Automatic evaluation of machine translation quality. HLT",
            digits=4,
        )  # fmt: skip
    yield Member(
        "nist-nltk", "NLTK corpus_nist", NIST("none", variant="nltk"),
        "Takes the best of several references for each order instead of matching in all.",
        used="data-to-text generation", citation=p.BIRD,
    )  # fmt: skip
    for name, title, tokenize, used in (
        ("gleu-nltk", "NLTK corpus_gleu", "none", "reinforcement learning"),
        ("google-bleu", "Hugging Face evaluate google_bleu", "13a", "evaluate.load('google_bleu')"),
    ):
        yield Member(
            name, title, GLEU(tokenize),
            "Not BLEU: the smaller of precision and recall, without brevity penalty.", used=used,
            citation="Wu et al. (2016): Google's neural machine translation system. "
            "arXiv:1609.08144",
        )  # fmt: skip
    for language in ("java", "python"):
        yield Member(
            f"codebleu-weighted-{language}", f"CodeBLEU, weighted n-gram match, {language}",
            CodeBLEU(language=language),
            "Not a precision but a recall, in which reserved words of the language count 1 and "
            "other unigrams 0.2.",
            used="code generation, beside matches of syntax and data flow", citation=p.REN,
        )  # fmt: skip
