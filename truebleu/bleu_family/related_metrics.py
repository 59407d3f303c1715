"""Metrics related to BLEU: the NIST score, GLEU, and CodeBLEU's weighted n-gram match."""

from __future__ import annotations

from collections.abc import Iterator

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member
from truebleu.metrics.codebleu import CodeBLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.nist import NIST

# Classes of metrics that are not BLEU, regardless of their parameters.
RELATED_METRICS = (NIST, GLEU, CodeBLEU)


def list_related_members() -> Iterator[Member]:
    """Yield the members for NIST, Google's GLEU, and CodeBLEU's weighted n-gram match."""
    for options, tokenizer in (
        ("", "mteval-v13a-lower"),
        ("-c", "mteval-v13a"),
        ("-intl", "mteval-v14-international-lower"),
        ("-intl-c", "mteval-v14-international"),
    ):
        switches = [p.MTEVAL_SWITCHES[word] for word in options.split("-")[1:]]
        yield Member(
            f"nist{options}", " ".join(["NIST score of mteval-v13a and v14", *switches]),
            NIST(tokenizer),
            "Has no upper bound. The token 0 loses its history, because Perl treats it as false.",
            used="NIST evaluations, together with BLEU",
            citations=("doddington-2002-automatic",),
            digits=4,
        )  # fmt: skip
    yield Member(
        "nist-nltk", "NLTK corpus_nist", NIST("none", variant="nltk"),
        "With several references, uses the best reference per order instead of all references.",
        used="data-to-text generation", citations=p.BIRD,
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
            used="code generation, together with syntax and data-flow matches", citations=p.REN,
        )  # fmt: skip
