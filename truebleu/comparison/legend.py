"""Sentences that explain the columns and marks of a comparison's tables, in every format."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import comb

from truebleu.comparison.comparison_columns import format_p_header, get_unit_name
from truebleu.comparison.comparison_request import CORRECTION_METHODS
from truebleu.rendering.number_format import format_percent
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import join_words

# Marks of significant differences in tables for papers.
BETTER, WORSE = "†", "‡"
# Marks that a legend explains: an asterisk after a p-value, and bold scores.
SIGNIFICANT, BEST = "*", "best"
_DELTA_COLUMNS = {"delta", "delta-interval"}
COMPARATIVES = {"won": "better", "tied": "equal", "lost": "worse"}


def build_legend(
    content: Content,
    names: Collection[str],
    marks: Collection[str] = (SIGNIFICANT,),
    *,
    omit_baseline: bool = False,
) -> Iterator[str]:
    """Yield the sentences that explain the columns `names` and the marks of a table.

    marks: the marks of significant differences, and "best" for bold scores.
    omit_baseline: leave out the baseline, which users of a report can change.
    """
    if any(system["runs"] > 1 for system in content["systems"]):
        yield "Scores are means over training runs."
    has_several_systems = len(content["systems"]) > 1
    if BEST in marks and has_several_systems:
        yield "Bold: best score."
    if has_several_systems:
        yield from _explain_significance(content, names, marks)
        if not omit_baseline and not _DELTA_COLUMNS.isdisjoint(names):
            yield f"Δ: difference from {content['baseline']}."
        if counts := [name for name in COMPARATIVES if name in names]:
            words = join_words([COMPARATIVES[name] for name in counts]).replace(" and ", " or ")
            yield (
                f"{join_words(counts).capitalize()}: {get_unit_name(content)} with a {words} score "
                f"compared with {content['baseline']}."
            )
    yield from _explain_intervals(content, names)
    if content["test"] and has_several_systems:
        if "cluster" in names and any(metric["clusters"] for metric in content["metrics"]):
            yield "Systems in different clusters differ significantly."
            # Clusters are ranges of the ranking: each system of a cluster only fails to differ from
            # some other system of the cluster, not from all.
            clusters = {
                (metric["name"], system): cluster
                for metric in content["metrics"]
                for cluster, systems in enumerate(metric["clusters"] or ())
                for system in systems
            }
            if any(
                pair["significant"]
                and clusters.get((pair["metric"], pair["first"]), -1)
                == clusters.get((pair["metric"], pair["second"]), -2)
                for pair in content["pairs"]
            ):
                yield "Some in the same cluster do, too."
        if "needed" in names:
            yield "Needed: similar segments required to detect the difference with 80% power."


def describe_corrected_pairs(content: Content) -> str:
    """State for how many pairs p-values are corrected, or return ""."""
    if not content["correction"] or len(content["systems"]) <= 2:
        return ""
    per_metric = " per metric" if len(content["metrics"]) > 1 else ""
    return f"corrected for all {comb(len(content['systems']), 2)} pairs{per_metric}"


def _explain_intervals(content: Content, names: Collection[str]) -> Iterator[str]:
    intervals = content["intervals"]
    for label, columns in (
        ("Brackets:", {"interval", "delta-interval"}),
        ("±: half the width of", {"half-width"}),
    ):
        if intervals and not columns.isdisjoint(names):
            yield (
                f"{label} {format_percent(content['level'])} intervals "
                f"({intervals['title']}, {intervals['samples']:,} resamples)."
            )


def _explain_significance(
    content: Content, names: Collection[str], marks: Collection[str]
) -> Iterator[str]:
    test, correction = content["test"], content["correction"]
    if not test:
        return
    corrected_tests = describe_corrected_pairs(content)
    samples = "randomizations" if test["name"] == "ar" else "resamples"
    test_text = f"{test['title']} with {test['samples']:,} {samples}"
    uncorrected = ", uncorrected" if not correction and len(content["systems"]) > 2 else ""
    test_text += uncorrected
    if correction:
        test_text += f", p-values corrected by {CORRECTION_METHODS[correction['name']]}"
        test_text += corrected_tests.removeprefix("corrected")
    threshold = f"p < {test['alpha']:g}"
    # Unreliable scores are not tested.
    scores = [one for system in content["systems"] for one in system["scores"].values()]
    differences = [one["difference"] for one in scores if one["difference"] is not None]
    are_all_tested = differences and all(one["significant"] is not None for one in differences)
    explained_marks = [
        f"{mark}: significantly {word} than {content['baseline']}"
        for mark, word in ((BETTER, "better"), (WORSE, "worse"))
        if mark in marks
    ]
    if explained_marks:
        yield f"{'; '.join(explained_marks)} ({threshold}, {test_text})."
    elif SIGNIFICANT in marks:
        # Signatures state the number of samples, and the header of p-values names the correction.
        threshold = f"{format_p_header(content)} < {test['alpha']:g}"
        parts = [threshold, corrected_tests, test["title"]]
        yield f"*: {', '.join(filter(None, parts))}{uncorrected}."
    elif "p" in names:
        baseline = "" if _DELTA_COLUMNS & {*names} else f"difference from {content['baseline']}, "
        yield f"p: {baseline}{test_text}; significant: {threshold}."
    elif not {"score", "delta"}.isdisjoint(names) and are_all_tested:
        yield (
            "No printed score differs significantly from the score of "
            f"{content['baseline']} ({threshold}, {test_text})."
        )
