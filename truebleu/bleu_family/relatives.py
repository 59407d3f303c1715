"""What is read beside BLEU and is none: the NIST score, GLEU, CodeBLEU's weighted match."""

from __future__ import annotations

from truebleu.bleu_family.member import Member
from truebleu.bleu_family.parameters import BIRD, REN, SWITCHES
from truebleu.metrics.codebleu import CodeBLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.nist import NIST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What is no BLEU, whatever its parameters.
RELATIVES = (NIST, GLEU, CodeBLEU)


def relatives() -> Iterator[Member]:
    """NIST as mteval and NLTK give it, Google's GLEU, CodeBLEU's second part."""
    doddington = "Doddington (2002): Automatic evaluation of machine translation quality. HLT"
    international = ("mteval-v14-international-lower", "mteval-v14-international")
    for option, (uncased, cased) in {
        "": ("mteval-v13a-lower", "mteval-v13a"),
        "-intl": international,
    }.items():
        for case, tokenizer in {"": uncased, "-c": cased}.items():
            yield Member(
                f"nist{option}{case}",
                "NIST score of mteval-v13a and v14"
                + "".join(f" {SWITCHES[word]}" for word in f"{option}{case}".split("-")[1:]),
                NIST(tokenizer),
                used="NIST evaluations, beside BLEU",
                citation=doddington,
                quirks="No upper bound. The token 0 loses its history, because Perl takes it for "
                "false.",
                digits=4,
            )
    yield Member(
        "nist-nltk",
        "NLTK corpus_nist",
        NIST("none", variant="nltk"),
        used="data-to-text generation",
        citation=BIRD,
        quirks="Takes the best of several references for each order instead of matching in all.",
    )
    wu = "Wu et al. (2016): Google's neural machine translation system. arXiv:1609.08144"
    for name, title, tokenize, used in (
        ("gleu-nltk", "NLTK corpus_gleu", "none", "reinforcement learning"),
        ("google-bleu", "Hugging Face evaluate google_bleu", "13a", "evaluate.load('google_bleu')"),
    ):
        yield Member(
            name,
            title,
            GLEU(tokenize),
            used=used,
            citation=wu,
            quirks="Not BLEU: the smaller of precision and recall, without brevity penalty.",
        )
    for language in ("java", "python"):
        yield Member(
            f"codebleu-weighted-{language}",
            f"CodeBLEU, weighted n-gram match, {language}",
            CodeBLEU(language=language),
            used="code generation, beside matches of syntax and data flow",
            citation=REN,
            quirks="Not a precision but a recall, in which reserved words of the language count 1 "
            "and other unigrams 0.2.",
        )
