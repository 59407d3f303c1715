"""Family members for machine translation: mteval, Moses, sacreBLEU, decoders and viewers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.bleu_family import shared_parameters as p
from truebleu.bleu_family.family_member import Member, make_members
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.cdec import CdecBLEU

# The lower-casing tokenizer and the case-sensitive (-c) tokenizer of each mteval version.
_V11B = ("mteval-v11b-lower", "mteval-v11b")
_V12 = ("mteval-v12-lower", "mteval-v12")
_V13A = ("mteval-v13a-lower", "mteval-v13a")
_V14 = ("mteval-v14-international-lower", "mteval-v14-international")

_OLD_MTEVAL: dict[str, Any] = {
    **p.UNSMOOTHED,
    "reference_length": "shortest",
    "published_scale": 1.0,
}
_SMOOTHS = "Also smooths corpus scores (1/2, 1/4, ... of a match), so they are never 0."


def _list_mteval_members() -> Iterator[Member]:
    """Yield the members for each mteval version and its options, with and without -c."""
    since_2009 = "NIST evaluations since 2009, WMT before sacreBLEU"
    as_v13a = "like v13a; only the input format differs"
    byte_quirk = "Works on bytes. Fails if the hypothesis has no tokens."
    symbol_quirk = "Splits off all Unicode punctuation and symbols."
    for name, tokenizers, parameters, used, quirks in (
        ("v11b", _V11B, _OLD_MTEVAL, "NIST evaluations of 2002 to 2006", byte_quirk),
        ("v12", _V12, _OLD_MTEVAL, "NIST evaluation of 2008", symbol_quirk),
        ("v13a", _V13A, p.MTEVAL_13, since_2009, _SMOOTHS),
        ("v13a-shortest", _V13A, p.MTEVAL_13, since_2009, _SMOOTHS),
        ("v14", _V13A, p.MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-shortest", _V13A, p.MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-intl", _V14, p.MTEVAL_13, as_v13a, _SMOOTHS),
        ("v14-intl-shortest", _V14, p.MTEVAL_13, as_v13a, _SMOOTHS),
    ):
        shortest = {"reference_length": "shortest"} if "shortest" in name else {}
        case_quirk = f"{quirks} Lower-cases unless -c is used."
        for case, tokenizer, case_quirks in zip(
            ("", "-c"), tokenizers, (case_quirk, quirks), strict=True
        ):
            version, *options = f"{name}{case}".split("-")
            yield Member(
                f"mteval-{name}{case}",
                " ".join([f"mteval-{version}.pl", *map(p.MTEVAL_SWITCHES.__getitem__, options)]),
                BLEU(tokenizer, **{**parameters, **shortest}), case_quirks, used=used,
                citations=p.MTEVAL, digits=4,
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
            BLEU(script, lowercase=case, **p.UNSMOOTHED), quirks,
            used="papers on neural translation before 2019", citations=p.MOSES, digits=2,
        )  # fmt: skip
    program: dict[str, Any] = {**p.PRETOKENIZED, "published_scale": 1.0, "arithmetic": "float32"}
    yield Member(
        "moses-sentence-bleu", "Moses sentence-bleu, mean of segments",
        BLEU(**program, **p.ADD_ONE, **p.SEGMENTS),
        "Adds one to the counts of every order, but not to the lengths in the brevity penalty.",
        used="tuning and n-best lists in Moses", citations=p.MOSES,
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
            BLEU(**program, **p.UNSMOOTHED, reference_length=rule, no_match="any-zero"), quirks,
            used="minimum error rate training in Moses", citations=p.MOSES,
        )  # fmt: skip


def list_machine_translation_members() -> Iterator[Member]:
    """Yield the members from Papineni et al., mteval, Moses and sacreBLEU."""
    yield Member(
        "papineni-2002", "BLEU as defined in the paper",
        BLEU(**p.PRETOKENIZED, **p.UNSMOOTHED, published_scale=1.0, arithmetic="nmt"),
        "The paper does not say which of two equally close reference lengths to use; truebleu "
        "uses the shorter one.",
        used="the original definition, as in IBM's program", citations=p.PAPINENI, digits=4,
    )  # fmt: skip
    yield from _list_mteval_members()
    yield from _list_moses_members()
    for name, parameters, used, quirks in _SACREBLEU:
        yield Member(
            f"sacrebleu{name}", f"sacreBLEU 2.6.0{name.replace('-', ' ', 1)}", BLEU(**parameters),
            quirks, used=used, citations=p.POST, digits=1,
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
    ("-sentence", p.SEGMENTS, "sentence_bleu and --sentence-level, averaged",
     "Skips orders without n-grams; BLEU().sentence_score keeps them."),
    ("-raw", {**p.PRETOKENIZED, "smoothing": "floor", "effective_order": True},
     "raw_corpus_bleu, as in Sockeye", ""),
)  # fmt: skip


def list_tool_members() -> Iterator[Member]:
    """Yield the members from other decoders and from programs that compare systems."""
    yield from _list_decoder_members()
    compare: dict[str, Any] = {**p.NLTK, "tokenize": "compare-mt", "published_scale": 100.0}
    compare["reference_length"] = "single"
    viewer: dict[str, Any] = {
        "tie": "first",
        "missing_order": "one",
        "no_match": "smoothed",
        "published_scale": 1.0,
    }
    tokenizer_quirk = (
        "Its tokenizer does not split off ! # % * < = > \\ ^ _ and |. It is not the metric iBLEU "
        "with a source penalty (Sun and Zhou 2012), which is -m ibleu."
    )
    yield Member(
        "jbleu", "jBLEU in MultEval",
        BLEU(**p.PRETOKENIZED, missing_order="one", no_match="smoothed"),
        "Applies mteval-v13a's formula to pretokenized text.",
        used="significance tests with MultEval",
        citations=("clark-etal-2011-better",), digits=1,
    )  # fmt: skip
    yield Member(
        "mt-compareval", "MT-ComparEval",
        BLEU("mteval-v11b", reference_length="single", missing_order="one"),
        used="comparing systems in a browser",
        citations=("klejch-etal-2015-mt",), digits=2,
    )  # fmt: skip
    yield from make_members(
        ("compare-mt", "compare-mt, bleu", BLEU(**compare, **p.UNSMOOTHED),
         "An order without a match is left out of the sum, as if its precision were 1."),
        ("compare-mt-sentbleu", "compare-mt, sentbleu",
         BLEU(**compare, smoothing="add-k", **p.SEGMENTS),
         "Averages NLTK's sentence_bleu with method2."),
        used="comparing systems", citations=p.NEUBIG, digits=4,
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
        ("phrasal", "Phrasal BLEUMetric", BLEU(**phrasal, **p.UNSMOOTHED),
         f"{default_quirk}; {tie_quirk} Single segments are always smoothed."),
        ("phrasal-smooth", "Phrasal BLEUMetric -smooth, mean of segments",
         BLEU(**phrasal, smoothing="add-k", **p.SEGMENTS), f"{default_quirk}."),
        used="Stanford's statistical machine translation", citations=p.GREEN, digits=3,
    )  # fmt: skip
    yield from make_members(
        ("cdec-ibm", "cdec IBM_BLEU", BLEU(**p.CDEC, tie="first"), zero_quirk),
        ("cdec-nist", "cdec NIST_BLEU", BLEU(**p.CDEC, reference_length="shortest"), zero_quirk),
        ("cdec-koehn", "cdec KOEHN_BLEU", BLEU(**p.CDEC, reference_length="average"), zero_quirk),
        used="tuning and scoring with cdec", citations=p.DYER, digits=2,
    )  # fmt: skip
    yield Member(
        "cdec-qcri", "cdec QCRI_BLEU", CdecBLEU(),
        "Counts one match for orders without matches, has a special brevity penalty, and subtracts "
        "the score of a text without any match.",
        used="tuning with cdec", citations=p.DYER, digits=2,
    )  # fmt: skip
