"""The page docs/json.md: the JSON that each command prints, field by field.

The fields and the examples are those of commands that are run when the page is built; the sentences
are in `MEANINGS`. A test holds that every field has a sentence and every sentence a field.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import MappingProxyType

from parts import BUILT, code, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REF, OTHER_REF, CEDAR, BIRCH = (
    f"examples/de-en/{name}.en" for name in ("reference.a", "reference.b", "cedar", "birch")
)
DOCUMENTS = "examples/de-en/documents.txt"
# A test set of one's own, in a folder that lasts as long as a command.
OWN = ("harbour", "-l", "en-de")
OWN_FILES = {
    "en-de.src": ["The harbour was quiet.", "Two gulls argued."],
    "en-de.ref.A": ["Der Hafen war still.", "Zwei Möwen stritten."],
    "en-de.docid": ["port", "port"],
    "en-de.origlang": ["en", "en"],
    "en-de.domain": ["news", "news"],
}
# Scores of people, and tests of how far two metrics agree with them.
HUMAN = "".join(
    f"{name}\t{None if i == 1 else (i * step) % 7}\n"
    for name, step in (("cedar", 3), ("birch", 5))
    for i in range(len((ROOT / REF).read_text(encoding="utf-8").splitlines()))
)
# Text that 13a does not split, as long as that.
CHINESE = "那天天气很好，我们去了公园。\n" * HUMAN.count("cedar")
TESTS = ("--significance", "100", "--correction", "holm", "--confidence", "20")
PAIR = ("a b c a", "a b d", "--reference", "a b d e f g")

# Objects whose keys are names of metrics, systems and the like.
NAMED = {
    "signatures": "METRIC",
    "metrics[].scores": "TASK",
    "systems[].scores": "METRIC",
    "systems[].scores.METRIC.details": "DETAIL",
    "by_reference[].scores": "METRIC",
    "by_reference[].scores.METRIC": "SYSTEM",
    "by_reference[].identical": "SYSTEM",
    "scores[].scripts": "SCRIPT",
    "test_set.sha256": "REFERENCE",
    "info[].preferred": "PAIR",
    "info[].segments": "PAIR",
    "list[].segments": "PAIR",
    "info[].pair.domains": "DOMAIN",
    "info[].pair.origlangs": "LANGUAGE",
    "documents[].scores": "METRIC",
    "documents[].scores.METRIC": "SYSTEM",
    "metric.parameters": "PARAMETER",
    "not_tried": "MEMBER",
    "systems[].reference_choice.segments": "REFERENCE",
    "comparison.differences": "COUNT",
}

# Of each kind of output: commands that show all of its fields, after `truebleu`.
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "score": [
        ("score", REF, "-i", CEDAR, "-m", name, "-ci", "100") for name in ("bleu", "chrf", "ter")
    ]
    + [
        ("score", REF, "-i", CEDAR, "-m", name)
        for name in ("nist", "gleu", "wer", "cer", "ngram-f")
    ]
    + [("score", REF, "-i", CEDAR, "-m", "bleu", "--weights", "1", "2")]
    + [("score", REF, "-i", CEDAR, "--docs", DOCUMENTS)]
    + [("score", "-t", *OWN, "-i", "SYSTEM", "--origlang", "en")]
    + [("score", "CHINESE", "-i", "CHINESE")],
    "segments": [("segments", REF, "-i", CEDAR, BIRCH), ("segments", "CHINESE", "-i", "CHINESE")],
    "matrix": [
        ("matrix", REF, "-i", CEDAR),
        ("matrix", CEDAR, "--triangle"),
        ("matrix", REF, "-i", CEDAR, "--top-k", "1", "--text"),
        ("matrix", CEDAR, "--mbr", "--nbest-size", "64"),
    ],
    "compare": [
        (
            *("compare", REF, "-i", CEDAR, BIRCH, "--correction", "holm", "--docs", DOCUMENTS),
            *("--scores", "ERRORS=SCORES", "--lower-is-better", "ERRORS"),
        ),
        (
            *("compare", REF, "-i", f"two={CEDAR},{BIRCH}", BIRCH),
            *("--correction", "holm", "--docs", DOCUMENTS),
        ),
        # A winner that depends on the reference, and copies it.
        (
            *("compare", REF, OTHER_REF, "-i", CEDAR, REF),
            *("--correction", "holm", "--docs", DOCUMENTS),
        ),
        (
            *("compare", "CHINESE", "-i", "CHINESE", "CHINESE", "--names", "a,b"),
            *("--correction", "holm", "--docs", DOCUMENTS),
        ),
    ],
    "explain": [
        ("explain", *PAIR, "-m", name) for name in ("bleu", "chrf", "ter", "nist", "gleu", "wer")
    ]
    + [("explain", *PAIR, "--recall"), ("explain", REF, "-i", CEDAR)]
    + [
        ("explain", REF, "-i", CEDAR, "-m", name) for name in ("chrf", "ter", "nist", "gleu", "wer")
    ],
    "history": [("history", "LOG")],
    "check": [
        ("check", REF, "-i", CEDAR, "--log", "LOG", "--log-name", "main", "--max-drop", "90"),
        (
            *("check", REF, "-i", BIRCH, "--min", "30", "--max-drop", "1", "--against", CEDAR),
            *("--significant", "--docs", DOCUMENTS),
        ),
        ("check", "CHINESE", "-i", CEDAR, "--min", "1"),
    ],
    "meta": [
        ("meta", "--human", "HUMAN", REF, "-i", CEDAR, BIRCH, "-m", "bleu", "chrf", *TESTS),
        ("meta", "--human", "HUMAN", "CHINESE", "-i", CEDAR, BIRCH, "-m", "bleu", "chrf", *TESTS),
    ],
    "family list, family show": [("family", "show", "mteval-v13a")],
    "family score": [("family", "score", REF, "-i", CEDAR, "-m", "mteval-v13a")],
    "family which": [
        ("family", "which", "47.64", REF, "-i", CEDAR),
        ("family", "which", "99.99", REF, "-i", CEDAR),
    ],
    "testset list": [("testset", "list", "wmt22")],
    "testset info": [("testset", "info", "wmt22"), ("testset", "info", *OWN)],
    "testset get, testset add, testset verify, testset path, testset remove": [
        ("testset", "add", "FOLDER", "--name", "harbour"),
        *(("testset", action, *OWN) for action in ("get", "verify", "path", "remove")),
    ],
}

EDITS = {
    ".hits": "tokens that are the same on both sides",
    ".substitutions": "tokens that stand as others in the hypotheses",
    ".deletions": "tokens that only the references have",
    ".insertions": "tokens that only the hypotheses have",
}

ORDERS = {
    "[].order": "the order n",
    "[].matches": "clipped matches",
    "[].total": "n-grams of the hypothesis",
}
INTERVAL = {
    ".low": "the lower end of the interval",
    ".high": "the upper end",
    ".mean": "the mean of the resamples",
    ".half_width": "half the width, as sacreBLEU prints it",
}
TESTED = {
    ".value": "the difference of the scores",
    **{f".interval{key}": f"of the difference: {text}" for key, text in INTERVAL.items()},
    ".p": "the p-value",
    ".corrected_p": "the p-value after the correction; null without one",
    ".significant": "whether that is below α; null without a test, or if the metric does not split "
    "the text (`warnings`)",
    ".wins": "segments in which the first system scores higher",
    ".ties": "segments with equal scores",
    ".losses": "segments in which it scores lower",
    ".segments_needed": "segments that would show this difference with a probability of 0.8",
    ".identical": "whether both outputs are the same",
    ".errors": "null, if both have one run",
    ".errors.runs": "the standard error of the difference that comes from runs",
    ".errors.test_set": "that which comes from the test set",
}
SCORED = {
    ".score": "the score",
    **{f".interval{key}": text for key, text in INTERVAL.items()},
    ".rank": "the place by this metric; equal scores share one; null if the metric does not split "
    "the text (`warnings`)",
    ".cluster": "the cluster: all pairs across its border differ significantly",
    ".better_than[]": "systems that it is significantly better than",
    ".difference": "null for the baseline",
    **{f".difference{key}": text for key, text in TESTED.items()},
}


WARNINGS = {
    "warnings[].kind": "if there are any: what the warning is about: `unsplit` (the tokenizer does "
    "not split the references, so nothing is called significant), `language`, `tokenized`, "
    "`identical`, `same output`, `byte-order mark`, `empty` (segments), `tabs`, `unicode form` (NFD "
    "against NFC), `zero` (why a score is 0), `parameters`, `winner depends on the reference` or `copied "
    "reference`",
    "warnings[].text": "the warning in a sentence or two, with what helps",
    "warnings[].systems[]": "the systems whose text it is about",
    "warnings[].metrics[]": "the metrics that it is about, if not all",
    "warnings[].option": "the option that helps, if there is one",
}


def _below(path: str, meanings: dict[str, str]) -> dict[str, str]:
    return {f"{path}{key}": text for key, text in meanings.items()}


def _without_runs(meanings: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in meanings.items() if ".errors." not in key}


def _counted(name: str, about: str) -> dict[str, str]:
    path = f"systems[].orders[].{name}[]"
    return {f"{path}.ngram[]": f"{about}: the tokens", f"{path}.count": "how often it occurs"}


def _score(path: str) -> dict[str, str]:
    """The keys of a score."""
    return {
        f"{path}.system": "the name of the system; of a table, its column of hypotheses or, with `-i`, its file",
        f"{path}.name": "the name of the score, as the metric prints it or as it was asked for",
        f"{path}.score": "the score",
        f"{path}.signature": "its signature, without the name",
        f"{path}.FIELD": "each field of the signature, by its long name, as text",
        f"{path}.fraction": "the score between 0 and 1; NIST has no upper bound",
        f"{path}.verbose_score": "BLEU's details as sacreBLEU prints them",
        f"{path}.precisions[]": "precisions in per cent, per order",
        f"{path}.matches[]": "matches per order",
        f"{path}.totals[]": "n-grams of the hypotheses per order",
        f"{path}.brevity_penalty": "the brevity penalty",
        f"{path}.hypothesis_length": "tokens of the hypotheses",
        f"{path}.reference_length": "the reference length, in tokens",
        f"{path}.ratio": "hypothesis length / reference length",
    }


MEANINGS: dict[str, dict[str, str]] = {
    "score": {
        "truebleu_score": "the version of this shape",
        **WARNINGS,
        **_score("scores[]"),
        "scores[].confidence_mean": "with `-ci`: the mean of the resamples",
        "scores[].confidence_var": "with `-ci`: half the width of the interval (sacreBLEU's key)",
        "scores[].confidence": "with `-ci`: both, as text",
        "scores[].low": "with `-ci`: the lower end of the interval",
        "scores[].high": "with `-ci`: the upper end",
        "scores[].level": "with `-ci`: the level of the interval",
        "scores[].char_order": "the longest character n-grams",
        "scores[].word_order": "the longest word n-grams",
        "scores[].beta": "β, the weight of recall relative to precision",
        "scores[].recalls[]": "recalls in per cent, per order",
        "scores[].hypothesis_totals[]": "n-grams of the hypotheses per order",
        "scores[].reference_totals[]": "n-grams of the references per order",
        "scores[].edits": "edits, shifts included",
        **_below("scores[]", EDITS),
        "scores[].wer": "the word error rate, as jiwer gives it",
        "scores[].mer": "the match error rate",
        "scores[].wil": "word information lost",
        "scores[].wip": "word information preserved",
        "scores[].cer": "the character error rate",
        "scores[].precision": "precision of all orders together, in per cent",
        "scores[].recall": "recall of all orders together, in per cent",
        "scores[].information[]": "the information of the matches per order",
        "scores[].penalty": "the length penalty",
        "scores[].matches": "GLEU: matches of all orders",
        "scores[].totals": "GLEU: the larger of the numbers of n-grams, of all orders",
        "scores[].warnings[]": "what is unusual about the score, a sentence each; only where there is "
        "something",
        "scores[].scripts.SCRIPT": "the share of a script in the characters at the beginning of the "
        "text, without white space; where the kernel read the text",
        "documents[].document": "with `--docs`: the name of the document; its other keys are those "
        "of `scores[]`",
        "documents[].segments": "its number of segments",
        "test_set.test": "with `-t`: the test set",
        "test_set.lang": "its language pair",
        "test_set.refs": "the references that were used",
        "test_set.origlang": "with `--origlang`, as `subset`, `domain` and `documents`: what was kept",
        "test_set.segments": "the number of segments",
        "test_set.sha256.REFERENCE": "the SHA-256 of a reference's lines, as they were scored",
    },
    "segments": {
        "truebleu_segments": "the version of this shape",
        **WARNINGS,
        "signatures.METRIC": "the signature of each metric, by the name of its score",
        "rows[].segment": "the number of the segment, from 1",
        "rows[].system": "the name of the system",
        "rows[].BLEU": "the score, under the name of the metric",
        "rows[].hypothesis_length": "the counts, a column of the table of statistics each; of "
        "several metrics with the name before them, as `BLEU_matches_1`",
        "rows[].reference_length": "likewise",
        "rows[].matches_N": "likewise, of order N",
        "rows[].totals_N": "likewise",
    },
    "matrix": {
        "truebleu_matrix": "the version of this shape",
        "signatures.METRIC": "the signature, by the name of the score",
        "hypotheses": "rows of the matrix",
        "references": "columns of the matrix",
        "rows[].hypothesis": "the line of the hypothesis, from 1",
        "rows[].scores[]": "the scores against each reference",
        "rows[].reference": "`--triangle`, `--top-k`: the line of the reference",
        "rows[].BLEU": "the score, under the name of the metric; with `--mbr` the expected score",
        "rows[].rank": "`--top-k`, `--mbr`: the place, from 1",
        "rows[].hypothesis_text": "`--text`: the hypothesis",
        "rows[].reference_text": "`--text`: the reference",
        "rows[].source": "`--mbr`: the number of the source",
        "rows[].candidate": "`--mbr`: which of its candidates, from 1",
        "rows[].text": "`--mbr`: the text of the candidate",
    },
    "compare": {
        "truebleu_comparison": "the version of this shape",
        **WARNINGS,
        "by": "the program and its version",
        "segments": "the number of segments",
        "buckets": "the number of buckets that are drawn (`--bucket`); null where segments are",
        "references": "references per segment",
        "baseline": "the system that the others are compared with",
        "level": "the level of the intervals",
        "seed": "the seed of the random numbers; null for another each time",
        "test.name": "the test; `test` is null without one",
        "test.title": "its name in words",
        "test.resampled": "what was exchanged and drawn: `segments`, or whole `documents`",
        "test.samples": "its number of randomizations or resamples",
        "test.alpha": "α, below which p is significant",
        "intervals.name": "the kind of interval",
        "intervals.title": "its name in words",
        "intervals.resampled": "what was drawn: `segments`, or whole `documents`",
        "intervals.samples": "its number of resamples",
        "correction.name": "the correction for multiple tests; `correction` is null without one",
        "correction.title": "its name in words",
        "reading": "how to read p",
        "metrics[].name": "the name of the metric; the key in `scores` below",
        "metrics[].label": "what it is called in tables",
        "metrics[].higher_is_better": "false for TER and its like",
        "metrics[].source": "`truebleu`, or where scores from elsewhere come from",
        "metrics[].digits": "digits after the point in tables",
        "metrics[].clusters[][]": "the systems in clusters, best first: those that the test cannot "
        "tell apart",
        "metrics[].clusters": "null without a test, or if the metric does not split the text",
        "metrics[].signature": "the signature; null for scores from elsewhere",
        "metrics[].short_signature": "the same, short",
        "systems[].name": "the name of the system",
        "systems[].letter": "its letter in tables and in the report",
        "systems[].runs": "its number of runs",
        **_below("systems[].scores.METRIC", SCORED),
        "systems[].scores.METRIC.runs": "null, if the system has one run",
        "systems[].scores.METRIC.runs.scores[]": "the score of each run",
        "systems[].scores.METRIC.runs.deviation": "the standard deviation between runs",
        "systems[].scores.METRIC.runs.test_set_error": "the standard error of their mean that "
        "comes from the test set",
        "systems[].scores.METRIC.details.DETAIL": "what the score is made of, by the keys of `score`",
        "systems[].scores.METRIC.details.DETAIL[]": "what the score is made of, of each order",
        "pairs[].metric": "every pair of systems by every metric",
        "pairs[].first": "the first system",
        "pairs[].second": "the second system",
        **_below("pairs[]", TESTED),
        "documents[].name": "with `--docs`: the name of the document; `documents` is null without",
        "documents[].segments": "its number of segments",
        "documents[].scores.METRIC.SYSTEM": "the score of each system",
        "by_reference[].name": "with several references: the short name of one",
        "by_reference[].segments": "the segments that have this reference",
        **_below("by_reference[].scores.METRIC.SYSTEM", _without_runs(SCORED)),
        "by_reference[].pairs[].metric": "with this reference alone, by every metric: the system that "
        "is best by all references, and each other system",
        "by_reference[].pairs[].first": "the first system",
        "by_reference[].pairs[].second": "the second system",
        **_below("by_reference[].pairs[]", _without_runs(TESTED)),
        "by_reference[].identical.SYSTEM.segments": "segments in which the system equals this "
        "reference",
        "by_reference[].identical.SYSTEM.share": "their share",
        "by_reference[].identical.SYSTEM.others_median": "the median number of the other systems; "
        "null without others",
        "by_reference[].identical.SYSTEM.is_copy": "whether that is at least 5 %, 10 segments and 2.5 "
        "times the median, so that one may have been made from the other",
        "notes[].metric": "the metric that the note is about, if it is about one",
        **_below(
            "notes[]",
            {
                ".kind": "what the note is about, such as `many tests`, `identical`, `disagreement`",
                ".text": "the note in a sentence",
                ".systems[]": "of some kinds: the systems that it is about",
                ".metrics[].metric": "`disagreement`: metrics that call opposite winners of two "
                "systems, each significantly",
                ".metrics[].better": "the system that the metric calls better",
                ".metrics[].difference": "the score of the first of `systems[]` less the second's",
                ".metrics[].p": "the p-value",
                ".metrics[].corrected_p": "the p-value after the correction; null without one",
            },
        ),
    },
    "explain": {
        "truebleu_explanation": "the version of this shape",
        "kind": "`pair`, `segment` or `corpus`",
        "metric.name": "the metric",
        "metric.label": "the name of its score",
        "metric.parameters.PARAMETER": "its parameters by name",
        "metric.signature": "its signature",
        "segment": "the number of the segment, of `kind` `segment`; else null",
        "segments": "the number of segments, of `kind` `corpus`",
        "caution": "which scores compare",
        "references[].number": "the number of the reference, from 1",
        "references[].text": "its text",
        "references[].tokens[]": "its tokens",
        "references[].length": "its length in tokens",
        "systems[].name": "the name of the system",
        "systems[].text": "the text of the hypothesis",
        "systems[].tokens[]": "its tokens",
        "systems[].segments": "the number of segments",
        "systems[].looked_into": "of how many segments the n-grams are listed",
        "systems[].score": "the score",
        "systems[].signature": "its signature",
        "systems[].fraction": "the score between 0 and 1; NIST has no upper bound",
        "systems[].published": "the score in the scale in which it is published",
        "systems[].formula[]": "the formula with the numbers in it, line by line",
        **_below("systems[]", EDITS),
        "systems[].measure": "which error rate it is",
        "systems[].hypothesis_length": "the length of the hypothesis in tokens",
        "systems[].reference_length": "the effective reference length",
        "systems[].brevity_penalty": "the brevity penalty",
        "systems[].penalty": "NIST's length penalty",
        "systems[].precision": "chrF's mean precision",
        "systems[].recall": "chrF's mean recall",
        "systems[].information": "the sum of the orders",
        "systems[].matches": "GLEU: matches of all orders",
        "systems[].totals": "GLEU: the larger of the numbers of n-grams, of all orders",
        "systems[].log_mean": "the mean of the logarithms of the precisions",
        "systems[].geometric_mean": "the geometric mean of the precisions",
        "systems[].averaged": "whether the score is the mean of scores of segments",
        "systems[].zero": "why the score is 0; null if it is not",
        "systems[].reading.band.from": "the customary reading of such scores: from",
        "systems[].reading.band.to": "to",
        "systems[].reading.band.words": "in words",
        "systems[].reading.convention": "what to think of it",
        "systems[].reference": "the reference that counts, from 1",
        "systems[].reference_choice.rule": "which reference gives the length",
        "systems[].reference_choice.tie": "which one of two equally close",
        "systems[].reference_choice.references[]": "those that were chosen",
        "systems[].reference_choice.lengths[]": "the lengths of all references",
        "systems[].reference_choice.segments.REFERENCE": "in how many segments each was chosen",
        **_below("systems[].orders", ORDERS),
        "systems[].orders[].unit": "`character` or `word`",
        "systems[].orders[].hypothesis": "n-grams of the hypothesis",
        "systems[].orders[].reference": "n-grams of the reference",
        "systems[].orders[].reference_total": "n-grams of the reference",
        "systems[].orders[].precision": "the precision; BLEU's in per cent",
        "systems[].orders[].f": "the F-score",
        "systems[].orders[].smoothed": "null, if smoothing changed nothing",
        "systems[].orders[].smoothed.numerator": "the smoothed matches",
        "systems[].orders[].smoothed.denominator": "the smoothed number of n-grams",
        "systems[].orders[].smoothed.how": "what smoothing did",
        "systems[].orders[].state": "`counts`, `left out`, `counts as 1` or `makes it 0`",
        "systems[].orders[].weight": "the weight of the order",
        "systems[].orders[].log": "the logarithm of the precision",
        "systems[].orders[].information": "the information of the matches",
        "systems[].orders[].part": "information per n-gram",
        **_counted("ngrams", "the n-grams of the hypothesis"),
        "systems[].orders[].ngrams[].reference_count": "how often it is in the reference that has "
        "most of it",
        "systems[].orders[].ngrams[].reference": "which reference that is",
        "systems[].orders[].ngrams[].clipped": "how often it counts",
        "systems[].orders[].ngrams[].information": "the information of the n-gram, in bits",
        **_counted("missing", "n-grams missing from the hypothesis"),
        **_counted("clipped", "of a corpus: n-grams that were clipped most often"),
        **_counted("unmatched", "of a corpus: n-grams that most often matched nothing"),
        **_counted("extra", "n-grams that no reference has, or not so often"),
        "systems[].orders[].recall": "the recall",
        "systems[].orders[].recall[].reference": "with `--recall`: the reference",
        "systems[].orders[].recall[].matches": "clipped matches with it",
        "systems[].orders[].recall[].total": "its n-grams",
        "systems[].orders[].recall[].recall": "the recall",
        "systems[].orders[].recall[].f": "the F-score",
        "systems[].cover[].longest": "per token: the order of the longest match that it is in",
        "systems[].cover[].start": "where that match begins, from 0; null without one",
        "systems[].cover[].clipped[]": "orders in which the token's n-gram was clipped",
        "systems[].edits": "edits, shifts included",
        "systems[].kinds.shift": "shifts",
        "systems[].kinds.substitution": "substitutions",
        "systems[].kinds.deletion": "deletions",
        "systems[].kinds.insertion": "insertions",
        "systems[].alignment.hypothesis[]": "the words of the hypothesis",
        "systems[].alignment.reference[]": "the words of the reference",
        "systems[].alignment.shifts[]": "the shifts, in order",
        "systems[].alignment.operations[].kind": "what aligns a word, after the shifts",
        "systems[].alignment.operations[].hypothesis": "the place in the hypothesis, from 0",
        "systems[].alignment.operations[].reference": "the place in the reference",
        "comparison": "null, if there is one system",
        "comparison.first": "the first system",
        "comparison.second": "the second system",
        "comparison.difference": "the score of the second less that of the first",
        "comparison.log_difference": "the difference of the logarithms",
        "comparison.brevity.log": "the part of the brevity penalty in it",
        "comparison.brevity.points": "the same, in points of the score",
        "comparison.orders[].order": "the order",
        "comparison.orders[].log": "its part in the difference of the logarithms",
        "comparison.orders[].points": "the same, in points of the score",
        "comparison.weights": "why the weights differ; null if they do not",
        "comparison.zero": "why the difference cannot be split; null if it can",
        "comparison.differences.COUNT": "what the score is made of: the second's less the first's",
    },
    "history": {
        "truebleu_history": "the version of this shape",
        "groups[].name": "what is followed: a system, or the name that it was logged as",
        "groups[].metric": "the name of the score",
        "groups[].lower_is_better": "true for TER and its like",
        "groups[].warning": "why there are several series; null if there is one",
        "groups[].series[].signature": "scores of one series share the signature",
        "groups[].series[].short_signature": "the same, short",
        "groups[].series[].segments": "the number of segments",
        "groups[].series[].references[].file": "the file of the reference",
        "groups[].series[].references[].sha256": "the hash of its text",
        "groups[].series[].differs[]": "what tells this series from the others",
        "groups[].series[].scores[].time": "when it was scored, in UTC",
        "groups[].series[].scores[].name": "the name that it was logged as, if there is one",
        "groups[].series[].scores[].note": "the note, if there is one",
        "groups[].series[].scores[].system": "the name of the system",
        "groups[].series[].scores[].metric": "the name of the score",
        "groups[].series[].scores[].score": "the score",
        "groups[].series[].scores[].signature": "its signature",
        "groups[].series[].scores[].segments": "the number of segments",
        "groups[].series[].scores[].hypothesis.file": "the file of the output",
        "groups[].series[].scores[].hypothesis.sha256": "the hash of its text",
        "groups[].series[].scores[].references[].file": "the file of the reference",
        "groups[].series[].scores[].references[].sha256": "the hash of its text",
        "groups[].series[].scores[].version": "the version of truebleu",
        "groups[].series[].scores[].since_previous": "the change since the score before",
        "groups[].series[].scores[].since_first": "the change since the first score",
        "groups[].series[].scores[].same_output": "whether the output is the one before, unchanged",
    },
    "family list, family show": {
        "truebleu_family": "the version of this shape",
        "members[].name": "the name of the member; `-m` and `tb.metric` take it",
        "members[].title": "what its users call it",
        "members[].used": "where it is used",
        "members[].quirks": "what surprises",
        "members[].defect": "a known defect; empty without one",
        "members[].citation": "what to cite",
        "members[].digits": "digits that it prints; null for all of them",
        "members[].scale": "the scale that it prints, 1 or 100; null for another",
        "members[].single_reference": "whether it is defined for one reference only",
        "members[].differences[]": "what differs from sacreBLEU's default",
        "members[].metric": "the metric, in Python",
        "members[].signature": "its signature",
    },
    "family score": {
        "truebleu_family": "the version of this shape",
        "scores[].system": "the name of the system",
        "scores[].member": "the name of the member",
        "scores[].title": "what its users call it",
        "scores[].score": "the score; between 0 and 100 for BLEU",
        "scores[].printed": "the score as the original prints it",
        "scores[].scale": "the scale that it prints",
        "scores[].bounded": "false, if there is no upper bound",
        "scores[].defect": "a known defect; empty without one",
        "scores[].differences[]": "what differs from sacreBLEU's default",
        "scores[].signature": "its signature",
    },
    "family which": {
        "truebleu_family": "the version of this shape",
        "given": "the number that was asked about",
        "answer": "the answer in words",
        "different_scores": "different scores among the answers",
        "tried": "the number of computations",
        "not_tried.MEMBER": "why a member was left out",
        **{
            f"{kind}[]{key}": text
            for kind, about in (
                ("members", "members that give the number as published"),
                ("settings", "members that give it with changed settings"),
                ("nearest", "the nearest scores, if none gives it"),
            )
            for key, text in {
                ".member": about,
                ".changes[]": "what is changed",
                ".score": "its score, with all digits",
                ".metric": "the metric, in Python",
            }.items()
        },
    },
    "meta": {
        "truebleu_meta_evaluation": "the version of this shape",
        **WARNINGS,
        "preset": "the year whose official tasks these are; null without",
        "by": "the program",
        "reading": "the first sentence",
        "sets[].name": "a language pair, or what was judged",
        "sets[].gold": "what people gave",
        "sets[].systems[]": "the systems that count",
        "sets[].items": "the number of segments; null if people judged whole systems only",
        "sets[].rated": "of those, the segments that people rated",
        "sets[].left_out[]": "systems that do not count, each with `system` and `why`",
        "tasks[].name": "set, level and statistic",
        "tasks[].sets[]": "the sets that enter",
        "tasks[].level": "sys, domain, doc or seg",
        "tasks[].statistic": "the statistic",
        "tasks[].average": "what one row of it is: none (all cells), item or sys",
        "tasks[].weight": "in the average of a preset; null without",
        "tasks[].recipe": "how it was computed, to be printed beside it",
        "metrics[].name": "the metric; the best first",
        "metrics[].reference_free": "whether it reads no reference",
        "metrics[].lower_is_better": "whether lower scores are better: they enter with a minus sign",
        "metrics[].signature": "the signature, if truebleu computed it",
        "metrics[].average": "the weighted average of a preset; null without",
        "metrics[].rank": "by the average, or by the first task",
        "metrics[].cluster": "with one task: its cluster; otherwise null",
        "metrics[].scores.TASK.value": "the value; null where one side is constant",
        "metrics[].scores.TASK.statistic": "the statistic",
        "metrics[].scores.TASK.average": "what one row of it is",
        "metrics[].scores.TASK.cells": "scores of people that entered",
        "metrics[].scores.TASK.rows": "rows that entered the mean",
        "metrics[].scores.TASK.left_out": "rows without a value",
        "metrics[].scores.TASK.pairs": "pairs that were compared; only where pairs are",
        "metrics[].scores.TASK.hits": "of those, the pairs that agree",
        "metrics[].scores.TASK.epsilon": "metric scores that differ by no more are tied",
        "metrics[].scores.TASK.tied": "the share of pairs that this ties",
        "metrics[].scores.TASK.at_zero": "what the value would be if it were 0",
        "metrics[].scores.TASK.cluster": "metrics of one cluster are not significantly different",
        "metrics[].scores.TASK.interval.low": "the lower end of the interval",
        "metrics[].scores.TASK.interval.high": "the upper end",
        "metrics[].scores.TASK.interval.level": "its level",
        "metrics[].scores.TASK.interval.resamples": "how many resamples it is made of",
        "metrics[].scores.TASK.interval.over": "what was resampled: items, documents or systems",
        "metrics[].scores.TASK.interval.seed": "of random numbers",
        "tests[].task": "the task; the list is null without tests",
        "tests[].first": "the metric that agrees better",
        "tests[].second": "the other",
        "tests[].difference": "of the values",
        "tests[].p": "the p-value, one-sided",
        "tests[].corrected_p": "the p-value after the correction; null without one",
        "tests[].significant": "whether that is at most 1 - level",
        "tests[].williams_p": "the p-value of Williams' test, of Pearson's r; null elsewhere",
        "tests[].test": "PERM-BOTH, or pair permutation",
        "tests[].exact": "whether all exchanges were counted",
        "tests[].samples": "exchanges that were counted or drawn",
        "tests[].seed": "of random numbers; null where all were counted",
        "notes[]": "what must be known of the numbers",
        "systems[].set": "the set of a system",
        "systems[].system": "its name",
        "systems[].human": "people's score of it",
        "systems[].scores.METRIC": "a metric's score of it",
        "agreement[].metric": "a metric",
        "agreement[].low": "the smallest of a range of differences between two systems",
        "agreement[].high": "the largest",
        "agreement[].pairs": "pairs of systems with such a difference",
        "agreement[].agree": "of those, the pairs that people order alike",
    },
    "check": {
        "truebleu_check": "the version of this shape",
        **WARNINGS,
        "system": "the output that was checked",
        "segments": "the number of segments",
        "passed": "whether everything that was asked holds",
        "earlier.log": "the log that scores were compared with; null without one",
        "earlier.output": "the earlier output; null without one",
        "metrics[].name": "the metric",
        "metrics[].signature": "how its score was made",
        "metrics[].higher_is_better": "whether a higher score is better",
        "metrics[].score": "the score",
        "metrics[].earlier.log": "null, if no score of a log was asked for",
        "metrics[].earlier.log.score": "the last score in the log that compares",
        "metrics[].earlier.log.time": "when that was scored",
        "metrics[].earlier.log.note": "the remark kept with it; null without one",
        "metrics[].earlier.log.same_output": "whether it is of the same text",
        "metrics[].earlier.output": "null without an earlier output",
        "metrics[].earlier.output.score": "the score of the earlier output",
        "metrics[].conditions[].kind": "what was asked: floor, drop, or chance",
        "metrics[].conditions[].passed": "whether it holds",
        "metrics[].conditions[].limit": "the least score, the drop that is allowed, or α",
        "metrics[].conditions[].measured": "the score, by how much it is worse, or the p-value",
        "metrics[].conditions[].told": "the same in a sentence",
        "metric": "the metric by which it is said where it fell; null if it did not",
        "documents[].name": "a document that fell; the worst first, at most five",
        "documents[].segments": "how many segments it has",
        "documents[].score": "its score",
        "documents[].earlier": "its score in the earlier output",
        "fallen[].number": "a segment that fell, from 1; the worst first, at most five",
        "fallen[].score": "its score",
        "fallen[].earlier": "its score in the earlier output",
        "fallen[].hypothesis": "its text; null if that cannot be read again",
        "fallen[].before": "the text in the earlier output",
        "fallen[].references[]": "the references",
    },
    "testset list": {
        "truebleu_testset": "the version of this shape",
        "list[].name": "the name of the test set",
        "list[].langpairs[]": "its language pairs",
        "list[].languages[]": "languages any two of which are a pair, where it has no other pairs",
        "list[].segments.PAIR": "the number of segments, where the catalogue knows it",
        "list[].size": "the size of its archives in bytes; null if it is not known",
        "list[].here": "whether it is read without a download",
        "list[].licence": "what may be done with its text; null if nothing is stated",
        "list[].description": "what it is",
    },
    "testset info": {
        "truebleu_testset": "the version of this shape",
        "info[].name": "the name of the test set",
        "info[].description": "what it is",
        "info[].kind": "how its files are read",
        "info[].archives[].address": "where an archive is",
        "info[].archives[].md5": "its MD5",
        "info[].archives[].sha256": "its SHA-256; null if it is not known",
        "info[].archives[].size": "its size in bytes; null if it is not known",
        "info[].archives[].mirrors[]": "other addresses of it",
        "info[].langpairs[]": "its language pairs",
        "info[].languages[]": "languages any two of which are a pair, where it has no other pairs",
        "info[].preferred.PAIR[]": "the references to use; pairs without an entry use all",
        "info[].segments.PAIR": "the number of segments, where the catalogue knows it",
        "info[].released": "when it was released; null if the catalogue does not say it",
        "info[].licence": "what may be done with its text; null if nothing is stated",
        "info[].citation": "what to cite, in BibTeX",
        "info[].how": "how one gets it, where there is no address",
        "info[].here": "whether it is read without a download",
        "info[].folder": "where it is, or would be",
        "info[].sources[]": "of each archive that was fetched: address, time, size, sums, and by what "
        "it was verified",
        "info[].pair": "what follows, of the pair that -l names; null if that is not here",
        "info[].pair.langpair": "the language pair",
        "info[].pair.segments": "the number of segments",
        "info[].pair.fields[]": "the fields that `truebleu testset show` takes",
        "info[].pair.references[]": "the references",
        "info[].pair.preferred[]": "those to use",
        "info[].pair.documents": "the number of documents; null if they are not known",
        "info[].pair.domains.DOMAIN": "the number of segments of a domain",
        "info[].pair.origlangs.LANGUAGE": "of documents that were written in a language",
        "info[].pair.systems[]": "the outputs that come with it, which -i takes as @NAME",
    },
    "testset get, testset add, testset verify, testset path, testset remove": {
        "truebleu_testset": "the version of this shape",
        "add[].name": "the test set that was added",
        "add[].path": "its archive in the cache, or the registry of a set of one's own",
        "add[].langpairs[]": "its language pairs",
        "get[].name": "the test set that is here now",
        "get[].folder": "where",
        "get[].langpairs[]": "the language pairs whose text is ready",
        "get[].size": "the size of its archives in bytes",
        "get[].verified[]": "by what each archive was verified: SHA-256, MD5, content, or nothing",
        "get[].licence": "what may be done with its text; null if nothing is stated",
        "verify[].name": "the test set",
        "verify[].path": "a file of it",
        "verify[].problem": "what is wrong with the file; nothing if it is as it should be",
        "path[].name": "the test set",
        "path[].path": "its folder",
        "remove[].name": "the test set that was removed",
        "remove[].folders[]": "what was removed",
        "remove[].size": "its size in bytes",
    },
}


def page() -> str:
    """The page."""
    sections = "\n\n".join(_section(kind) for kind in COMMANDS)
    return f"""{BUILT}
# The JSON of each command

`score` and `matrix` print JSON in a pipe, `segments` prints JSON lines, and every command prints JSON
with `-f json` or `-o FILE.json`. Each command has one shape, whatever the number of systems, metrics and groups.

* The first key names the shape and has its version, as in `"truebleu_score": 1`. The version
  changes if a program that reads the old form could not read the new one. New keys may be added
  without a new version.
* Numbers have all digits that a double has. A number that is not finite is a string (`"inf"`).
* `-f jsonl` of `segments` and `matrix` has one object per line: the version and one of the `rows`.
* In Python, `to_json()` of a comparison, an explanation or a history gives what the command prints, and `from_json` reads it
  back. `to_dict()` of a score gives an entry of `scores` without `system` and `scripts`, and `to_dict()` of what `tb.which`
  returns what `family which` prints, without the first key.

The keys of each command, with an example of each value: `[]` is any entry of a list, a name in
capitals any key of an object.

{sections}

## Tables and logs

With `--by`, `truebleu score` on a table puts `"group"`, an object of the columns and their values, and
`"segments"` beside `"system"`; `truebleu segments` adds the columns of `--by` and `--join` to the rows.
A log that `--log` writes has one object per line, with the keys of `scores` in `history` up to
`version`.
"""


def _section(kind: str) -> str:
    found = fields(kind)
    rows = [
        (code(path), MEANINGS[kind].get(path, ""), code(_short(path, example)), *metrics)
        for path, (example, *metrics) in found.items()
    ]
    header = ["key", "what it is", "example", *(["metrics"] if kind in OF_METRICS else [])]
    title = ", ".join(f"`truebleu {name}`" for name in kind.split(", "))
    return f"## {title}\n\n{table(header, rows, left=len(header))}"


OF_METRICS = ("score", "explain")


def _short(path: str, example: Any) -> str:
    # The same page whenever it is built.
    text = "2026-11-22T13:00:00Z" if path.endswith(".time") else example
    text = json.dumps(text, ensure_ascii=False).replace("|", "\\|")
    return text if len(text) <= 40 else f"{text[:38]}…"


def fields(kind: str) -> dict[str, tuple[Any, ...]]:
    """Each field of a kind of output, an example of it, and the metrics that have it."""
    found: dict[str, tuple[Any, set[str]]] = {}
    for command in COMMANDS[kind]:
        printed = output(command)
        for path, example in _fields(printed, ""):
            known, metrics = found.setdefault(path, (example, set()))
            metrics.add(_metric_of(command))
            if known in (None, ""):
                found[path] = (example, metrics)
    # An empty list says nothing where another has entries.
    for path in [path for path in found if path.endswith("[]")]:
        if any(other.startswith(f"{path}.") for other in found):
            del found[path]
    # The entries of documents have the keys of scores, too.
    for path in [path for path in found if path.startswith("documents[].")]:
        if path.replace("documents", "scores", 1) in found:
            del found[path]
    if kind not in OF_METRICS:
        return {path: (example,) for path, (example, _) in found.items()}
    every = {_metric_of(command) for command in COMMANDS[kind]}
    return {
        path: (example, "" if metrics == every else ", ".join(sorted(metrics)))
        for path, (example, metrics) in found.items()
    }


def _metric_of(command: Sequence[str]) -> str:
    return command[command.index("-m") + 1] if "-m" in command else "bleu"


def _fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves below a value, by their paths."""
    if isinstance(value, dict):
        # A score has the fields of its signature beside it.
        signature = value.get("signature", "").split("|") if "nrefs" in value else ()
        flat = {part.partition(":")[0] for part in signature}
        for key, item in value.items():
            name = NAMED.get(path, "FIELD" if key in flat else re.sub(r"_\d+$", "_N", key))
            yield from _fields(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        if not value:
            yield f"{path}[]", None
        for item in value:
            yield from _fields(item, f"{path}[]")
    else:
        yield path, value


@cache
def output(command: tuple[str, ...]) -> Any:
    """What a command prints as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "log")
        # By which the system that BLEU puts first is the worse one.
        scores = Path(folder) / "scores"
        scores.write_text("cedar\tbirch\n" + "3\t1\n2\t2\n" * 64, encoding="utf-8")
        if "LOG" in command:
            for system, reference in ((CEDAR, REF), (BIRCH, REF), (BIRCH, CEDAR)):
                words = [reference, "-i", system, "--log-name", "main", "--log-note", "a note"]
                _run(["score", *words, "--log", log])
        people = Path(folder) / "people.score"
        if "HUMAN" in command:
            people.write_text(HUMAN, encoding="utf-8")
        chinese = Path(folder) / "text.zh"
        chinese.write_text(CHINESE, encoding="utf-8")
        words = [
            {
                "LOG": log,
                "CHINESE": str(chinese),
                "HUMAN": str(people),
                "FOLDER": folder,
                "SYSTEM": f"{folder}/en-de.ref.A",
            }.get(word, word.replace("=SCORES", f"={scores}"))
            for word in command
        ]
        places = dict.fromkeys(("TRUEBLEU_CACHE", "XDG_CONFIG_HOME"), f"{folder}/cache")
        if OWN[0] in command:
            for name, lines in OWN_FILES.items():
                text = "".join(f"{line}\n" for line in lines)
                (Path(folder) / name).write_text(text, encoding="utf-8")
            if "add" not in command:
                _run(["testset", "add", folder, "--name", OWN[0]], places)
        made = _run([*words, "-f", "json", "--quiet"], places, known=(0, 3))
        return json.loads(made.replace(folder, "/home/me/ours"))


def _run(
    words: Sequence[str],
    places: Mapping[str, str] = MappingProxyType({}),
    known: Sequence[int] = (0,),
) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "truebleu", *words],
        env={**os.environ, **places},
        cwd=ROOT,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode not in known:
        raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stderr}")
    return done.stdout
