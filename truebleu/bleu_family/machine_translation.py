"""What machine translation is scored with: Perl and Java programs, Moses, sacreBLEU, their kin."""

from __future__ import annotations

from truebleu.bleu_family.member import Member
from truebleu.bleu_family.parameters import (
    ADD_ONE,
    CDEC,
    DYER,
    GIVEN,
    GREEN,
    MOSES,
    MTEVAL,
    MTEVAL_13,
    NEUBIG,
    NLTK,
    PAPINENI,
    POST,
    SEGMENTS,
    SWITCHES,
    UNSMOOTHED,
)
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.cdec import CdecBLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def _mteval(
    version: str, used: str, quirks: str, tokenizers: dict[str, Any], **parameters: Any
) -> Iterator[Member]:
    """A version of mteval, with and without -c; `tokenizers` are (preserving, lower-casing)."""
    for option, (cased, uncased) in tokenizers.items():
        for case, tokenizer in {"": uncased, "-c": cased}.items():
            options = f"{option}{case}"
            given = {**parameters}
            if "shortest" in option:
                given["reference_length"] = "shortest"
            yield Member(
                f"mteval-{version}{options}",
                f"mteval-{version}.pl" + "".join(f" {SWITCHES[o]}" for o in options.split("-")[1:]),
                BLEU(tokenizer, **given),
                used=used,
                citation=MTEVAL.format(version),
                quirks=quirks if case else f"{quirks} Lower-cases unless -c is given.".strip(),
                digits=4,
            )


def machine_translation() -> Iterator[Member]:
    """Papineni's definition, mteval, Moses, sacreBLEU."""
    yield Member(
        "papineni-2002",
        "BLEU as the paper defines it",
        BLEU("none", smoothing="none", scale=1.0, arithmetic="nmt"),
        used="the definition; IBM's own program followed it",
        citation=PAPINENI,
        quirks="The paper leaves open which of two equally close reference lengths counts; the "
        "shorter is taken here.",
        digits=4,
    )
    western = ("mteval-v11b", "mteval-v11b-lower")
    modern = ("mteval-v13a", "mteval-v13a-lower")
    yield from _mteval(
        "v11b",
        "NIST evaluations of 2002 to 2006",
        "Works on bytes. Dies if there is no hypothesis token.",
        {"": western},
        smoothing="none",
        reference_length="shortest",
        scale=1.0,
    )
    yield from _mteval(
        "v12",
        "NIST evaluation of 2008",
        "All Unicode punctuation and symbols are split.",
        {"": ("mteval-v12", "mteval-v12-lower")},
        smoothing="none",
        reference_length="shortest",
        scale=1.0,
    )
    yield from _mteval(
        "v13a",
        "NIST evaluations since 2009, WMT until sacreBLEU",
        "Smooths (1/2, 1/4, ... of a match) even for a corpus; no match at all is above 0.",
        {"": modern, "-shortest": modern},
        **MTEVAL_13,
    )
    international = ("mteval-v14-international", "mteval-v14-international-lower")
    yield from _mteval(
        "v14",
        "as v13a, which it equals but for what it reads",
        "Smooths (1/2, 1/4, ... of a match) even for a corpus; no match at all is above 0.",
        {
            "": modern,
            "-shortest": modern,
            "-intl": international,
            "-intl-shortest": international,
        },
        **MTEVAL_13,
    )
    given = "Scores tokens as they come, so differently tokenized outputs do not compare."
    cut = "Cuts the last character off a last line without newline."
    for name, tokenize, case, quirks in (
        ("multi-bleu", "multi-bleu", False, given),
        ("multi-bleu-lc", "multi-bleu", "ascii", f"{given} Its -lc lower-cases A to Z only."),
        ("multi-bleu-detok", "multi-bleu-detok", False, cut),
        ("multi-bleu-detok-lc", "multi-bleu-detok", True, cut),
    ):
        yield Member(
            name,
            f"{name.removesuffix('-lc')}.perl" + (" -lc" if case else ""),
            BLEU(tokenize, lowercase=case, smoothing="none"),
            used="papers on neural translation before 2019",
            citation=MOSES,
            quirks=quirks,
            digits=2,
        )
    yield Member(
        "moses-sentence-bleu",
        "Moses sentence-bleu, mean of segments",
        BLEU("none", **ADD_ONE, **SEGMENTS, scale=1.0, arithmetic="float32"),
        used="tuning and n-best lists in Moses",
        citation=MOSES,
        quirks="Adds one at every order but not to the lengths of the brevity penalty.",
    )
    for name, rule in (
        ("", "closest"),
        ("-shortest", "shortest"),
        ("-average", "average-truncated"),
    ):
        yield Member(
            f"moses-mert{name}",
            f"Moses mert, BLEU with reflen:{rule.removesuffix('-truncated')}",
            BLEU(
                "none",
                **UNSMOOTHED,
                reference_length=rule,
                no_match="any-zero",
                scale=1.0,
                arithmetic="float32",
            ),
            used="minimum error rate training in Moses",
            citation=MOSES,
            quirks="The mean reference length of a segment is cut to an integer."
            if "av" in name
            else "",
        )
    yield from _sacrebleu()


def _sacrebleu() -> Iterator[Member]:
    rows: tuple[tuple[str, dict[str, Any], str, str], ...] = (
        ("", {}, "shared tasks of WMT since 2018, and most papers", ""),
        (
            "-lc",
            {"lowercase": True},
            "uncased scores beside the default",
            "Lower-cases before tokenizing, so &QUOT; becomes a quotation mark.",
        ),
        (
            "-intl",
            {"tokenize": "intl"},
            "many languages in papers of Google and Meta",
            "Does not decode entities, which mteval does.",
        ),
        (
            "-zh",
            {"tokenize": "zh"},
            "translation into Chinese",
            "Ideographs outside the basic plane are not split.",
        ),
        ("-char", {"tokenize": "char"}, "translation into Japanese, Thai and others", ""),
        (
            "-sentence",
            SEGMENTS,
            "sentence_bleu and --sentence-level, averaged",
            "Orders without n-grams are left out; BLEU().sentence_score keeps them.",
        ),
        (
            "-raw",
            {**GIVEN, "smoothing": "floor", "effective_order": True},
            "raw_corpus_bleu, as in Sockeye",
            "",
        ),
    )
    for name, parameters, used, quirks in rows:
        yield Member(
            f"sacrebleu{name}",
            f"sacreBLEU 2.6.0{name.replace('-', ' ', 1)}",
            BLEU(**parameters),
            used=used,
            citation=POST,
            quirks=quirks,
            digits=1,
        )


def tools() -> Iterator[Member]:
    """Other decoders, and programs that compare systems."""
    phrasal: dict[str, Any] = {
        "tokenize": "mteval-v11b",
        "lowercase": True,
        "tie": "first",
    }
    yield Member(
        "phrasal",
        "Phrasal BLEUMetric",
        BLEU(**phrasal, **UNSMOOTHED),
        used="Stanford's statistical translation",
        citation=GREEN,
        quirks="NIST's tokenizer and lower case by default; of two equally close reference lengths "
        "the first. One segment alone is always smoothed.",
        digits=3,
    )
    yield Member(
        "phrasal-smooth",
        "Phrasal BLEUMetric -smooth, mean of segments",
        BLEU(**phrasal, smoothing="add-k", **SEGMENTS),
        used="Stanford's statistical translation",
        citation=GREEN,
        quirks="NIST's tokenizer and lower case by default.",
        digits=3,
    )
    lengths: dict[str, dict[str, Any]] = {
        "ibm": {"tie": "first"},
        "nist": {"reference_length": "shortest"},
        "koehn": {"reference_length": "average"},
    }
    for name, parameters in lengths.items():
        yield Member(
            f"cdec-{name}",
            f"cdec {name.upper()}_BLEU",
            BLEU(**CDEC, **parameters),
            used="tuning and scoring with cdec",
            citation=DYER,
            quirks="An order without a match counts 0.01 of one.",
            digits=2,
        )
    yield Member(
        "cdec-qcri",
        "cdec QCRI_BLEU",
        CdecBLEU(),
        used="tuning with cdec",
        citation=DYER,
        quirks="One match where there is none, a brevity penalty of its own, less what a text "
        "without any match would get.",
        digits=2,
    )
    yield Member(
        "jbleu",
        "jBLEU in MultEval",
        BLEU("none", missing_order="one", no_match="smoothed"),
        used="significance tests with MultEval",
        citation="Clark, Dyer, Lavie and Smith (2011): Better hypothesis testing. ACL",
        quirks="mteval-v13a's formula on tokens as given.",
        digits=1,
    )
    yield Member(
        "mt-compareval",
        "MT-ComparEval",
        BLEU("mteval-v11b", reference_length="single", missing_order="one"),
        used="comparing systems in a browser",
        citation="Klejch, Avramidis, Burchardt and Popel (2015): MT-ComparEval. PBML",
        digits=2,
    )
    compare: dict[str, Any] = {**NLTK, "tokenize": "compare-mt", "scale": 100.0}
    yield Member(
        "compare-mt",
        "compare-mt, bleu",
        BLEU(**compare, **UNSMOOTHED, reference_length="single"),
        used="comparing systems",
        citation=NEUBIG,
        quirks="An order without a match is left out of the sum, which counts it as perfect.",
        digits=4,
    )
    yield Member(
        "compare-mt-sentbleu",
        "compare-mt, sentbleu",
        BLEU(**compare, smoothing="add-k", reference_length="single", **SEGMENTS),
        used="comparing systems",
        citation=NEUBIG,
        quirks="The mean of NLTK's sentence_bleu with method2.",
        digits=4,
    )
    for suffix, tokenizer in {
        "": "madnani-ibleu-lower",
        "-cased": "madnani-ibleu",
    }.items():
        yield Member(
            f"ibleu-viewer{suffix}",
            "iBLEU, the viewer" + (", case kept" if suffix else ""),
            BLEU(tokenizer, tie="first", missing_order="one", no_match="smoothed", scale=1.0),
            used="looking at scores in a browser",
            citation="Madnani (2011): iBLEU. ICSC",
            quirks="Its tokenizer forgets ! # % * < = > \\ ^ _ and |.",
            digits=4,
        )
