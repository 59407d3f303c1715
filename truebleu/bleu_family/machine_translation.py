"""Members for machine translation: Perl and Java programs, Moses, sacreBLEU and others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member, group
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.cdec import CdecBLEU

# The tokenizers of mteval's versions, for lower case and for case kept (-c).
_V11B = ("mteval-v11b-lower", "mteval-v11b")
_V12 = ("mteval-v12-lower", "mteval-v12")
_V13A = ("mteval-v13a-lower", "mteval-v13a")
_V14 = ("mteval-v14-international-lower", "mteval-v14-international")

_OLD_MTEVAL: dict[str, Any] = {
    **p.UNSMOOTHED,
    "reference_length": "shortest",
    "scale": 1.0,
}
_SMOOTHS = "Smooths (1/2, 1/4, ... of a match) even for a corpus; no match at all is above 0."


def _mteval() -> Iterator[Member]:
    """Each version with its options, with and without -c."""
    since_2009 = "NIST evaluations since 2009, WMT until sacreBLEU"
    as_v13a = "as v13a, which it equals but for what it reads"
    of_bytes = "Works on bytes. Dies if there is no hypothesis token."
    symbols = "All Unicode punctuation and symbols are split."
    for name, tokenizers, parameters, used, quirks in (
        ("v11b", _V11B, _OLD_MTEVAL, "NIST evaluations of 2002 to 2006", of_bytes),
        ("v12", _V12, _OLD_MTEVAL, "NIST evaluation of 2008", symbols),
        ("v13a", _V13A, p.MTEVAL_13, since_2009, _SMOOTHS),
        ("v13a-shortest", _V13A, p.MTEVAL_13, since_2009, _SMOOTHS),
        ("v14", _V13A, p.MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-shortest", _V13A, p.MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-intl", _V14, p.MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-intl-shortest", _V14, p.MTEVAL_13, as_v13a, _SMOOTHS),
    ):
        shortest = {"reference_length": "shortest"} if "shortest" in name else {}
        lowers = f"{quirks} Lower-cases unless -c is given."
        for case, tokenizer, told in zip(("", "-c"), tokenizers, (lowers, quirks), strict=True):
            version, *options = f"{name}{case}".split("-")
            yield Member(
                f"mteval-{name}{case}",
                " ".join([f"mteval-{version}.pl", *map(p.SWITCHES.__getitem__, options)]),
                BLEU(tokenizer, **{**parameters, **shortest}), told, used=used,
                citation=p.MTEVAL.format(version), digits=4,
            )  # fmt: skip


def _moses() -> Iterator[Member]:
    """The Perl scripts and the programs for tuning."""
    given = "Scores tokens as they come, so differently tokenized outputs do not compare."
    cut = "Cuts the last character off a last line without newline."
    for name, case, quirks in (
        ("multi-bleu", False, given),
        ("multi-bleu-lc", "ascii", f"{given} Its -lc lower-cases A to Z only."),
        ("multi-bleu-detok", False, cut),
        ("multi-bleu-detok-lc", True, cut),
    ):
        script = name.removesuffix("-lc")
        yield Member(
            name, f"{script}.perl" + (" -lc" if case else ""),
            BLEU(script, lowercase=case, **p.UNSMOOTHED), quirks,
            used="papers on neural translation before 2019", citation=p.MOSES, digits=2,
        )  # fmt: skip
    program: dict[str, Any] = {**p.GIVEN, "scale": 1.0, "arithmetic": "float32"}
    yield Member(
        "moses-sentence-bleu", "Moses sentence-bleu, mean of segments",
        BLEU(**program, **p.ADD_ONE, **p.SEGMENTS),
        "Adds one at every order but not to the lengths of the brevity penalty.",
        used="tuning and n-best lists in Moses", citation=p.MOSES,
    )  # fmt: skip
    whole = "The mean reference length of a segment is cut to an integer."
    for name, rule, quirks in (
        ("closest", "closest", ""),
        ("shortest", "shortest", ""),
        ("average", "average-truncated", whole),
    ):
        yield Member(
            "moses-mert" + ("" if rule == "closest" else f"-{name}"),
            f"Moses mert, BLEU with reflen:{name}",
            BLEU(**program, **p.UNSMOOTHED, reference_length=rule, no_match="any-zero"), quirks,
            used="minimum error rate training in Moses", citation=p.MOSES,
        )  # fmt: skip


def machine_translation() -> Iterator[Member]:
    """Papineni's definition, mteval, Moses, sacreBLEU."""
    yield Member(
        "papineni-2002", "BLEU as the paper defines it",
        BLEU(**p.GIVEN, **p.UNSMOOTHED, scale=1.0, arithmetic="nmt"),
        "The paper leaves open which of two equally close reference lengths counts; the shorter "
        "is taken here.",
        used="the definition; IBM's own program followed it", citation=p.PAPINENI, digits=4,
    )  # fmt: skip
    yield from _mteval()
    yield from _moses()
    for name, parameters, used, quirks in _SACREBLEU:
        yield Member(
            f"sacrebleu{name}", f"sacreBLEU 2.6.0{name.replace('-', ' ', 1)}", BLEU(**parameters),
            quirks, used=used, citation=p.POST, digits=1,
        )  # fmt: skip


_SACREBLEU: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("", {}, "shared tasks of WMT since 2018, and most papers", ""),
    ("-lc", {"lowercase": True}, "uncased scores beside the default",
     "Lower-cases before tokenizing, so &QUOT; becomes a quotation mark."),
    ("-intl", {"tokenize": "intl"}, "many languages in papers of Google and Meta",
     "Does not decode entities, which mteval does."),
    ("-zh", {"tokenize": "zh"}, "translation into Chinese",
     "Ideographs outside the basic plane are not split."),
    ("-char", {"tokenize": "char"}, "translation into Japanese, Thai and others", ""),
    ("-sentence", p.SEGMENTS, "sentence_bleu and --sentence-level, averaged",
     "Orders without n-grams are left out; BLEU().sentence_score keeps them."),
    ("-raw", {**p.GIVEN, "smoothing": "floor", "effective_order": True},
     "raw_corpus_bleu, as in Sockeye", ""),
)  # fmt: skip


def tools() -> Iterator[Member]:
    """Other decoders, and programs that compare systems."""
    phrasal: dict[str, Any] = {"tokenize": "mteval-v11b", "lowercase": True, "tie": "first"}
    compare: dict[str, Any] = {**p.NLTK, "tokenize": "compare-mt", "scale": 100.0}
    compare["reference_length"] = "single"
    viewer: dict[str, Any] = {
        "tie": "first",
        "missing_order": "one",
        "no_match": "smoothed",
        "scale": 1.0,
    }
    split = "NIST's tokenizer and lower case by default"
    first = "of two equally close reference lengths the first."
    floor = "An order without a match counts 0.01 of one."
    forgets = "Its tokenizer forgets ! # % * < = > \\ ^ _ and |."
    yield from group(
        ("phrasal", "Phrasal BLEUMetric", BLEU(**phrasal, **p.UNSMOOTHED),
         f"{split}; {first} One segment alone is always smoothed."),
        ("phrasal-smooth", "Phrasal BLEUMetric -smooth, mean of segments",
         BLEU(**phrasal, smoothing="add-k", **p.SEGMENTS), f"{split}."),
        used="Stanford's statistical translation", citation=p.GREEN, digits=3,
    )  # fmt: skip
    yield from group(
        ("cdec-ibm", "cdec IBM_BLEU", BLEU(**p.CDEC, tie="first"), floor),
        ("cdec-nist", "cdec NIST_BLEU", BLEU(**p.CDEC, reference_length="shortest"), floor),
        ("cdec-koehn", "cdec KOEHN_BLEU", BLEU(**p.CDEC, reference_length="average"), floor),
        used="tuning and scoring with cdec", citation=p.DYER, digits=2,
    )  # fmt: skip
    yield Member(
        "cdec-qcri", "cdec QCRI_BLEU", CdecBLEU(),
        "One match where there is none, a brevity penalty of its own, less what a text without any "
        "match would get.",
        used="tuning with cdec", citation=p.DYER, digits=2,
    )  # fmt: skip
    yield Member(
        "jbleu", "jBLEU in MultEval", BLEU(**p.GIVEN, missing_order="one", no_match="smoothed"),
        "mteval-v13a's formula on tokens as given.", used="significance tests with MultEval",
        citation="Clark, Dyer, Lavie and Smith (2011): Better hypothesis testing. ACL", digits=1,
    )  # fmt: skip
    yield Member(
        "mt-compareval", "MT-ComparEval",
        BLEU("mteval-v11b", reference_length="single", missing_order="one"),
        used="comparing systems in a browser",
        citation="Klejch, Avramidis, Burchardt and Popel (2015): MT-ComparEval. PBML", digits=2,
    )  # fmt: skip
    yield from group(
        ("compare-mt", "compare-mt, bleu", BLEU(**compare, **p.UNSMOOTHED),
         "An order without a match is left out of the sum, which counts it as perfect."),
        ("compare-mt-sentbleu", "compare-mt, sentbleu",
         BLEU(**compare, smoothing="add-k", **p.SEGMENTS),
         "The mean of NLTK's sentence_bleu with method2."),
        used="comparing systems", citation=p.NEUBIG, digits=4,
    )  # fmt: skip
    yield from group(
        ("ibleu-viewer", "iBLEU, the viewer", BLEU("madnani-ibleu-lower", **viewer), forgets),
        ("ibleu-viewer-cased", "iBLEU, the viewer, case kept", BLEU("madnani-ibleu", **viewer),
         forgets),
        used="looking at scores in a browser", citation="Madnani (2011): iBLEU. ICSC", digits=4,
    )  # fmt: skip
