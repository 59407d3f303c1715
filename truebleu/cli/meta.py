"""`truebleu meta`: how far metrics agree with people.

examples:
  truebleu meta --human mqm.seg.score reference.de -i systems/*.de -m bleu chrf
      truebleu scores, then says how far its scores agree with people's

  truebleu meta --human people.score --scores COMET=comet.seg.score BLEU=bleu.seg.score
      both are given

  truebleu meta --tree DIR -t wmt23 -l en-de,he-en -m COMET bleu --statistic pearson spa
      people's and metrics' scores in the folders of mt-metrics-eval; a metric in lower case is
      computed from the text there

  truebleu meta --preset wmt23 --tree DIR -o table.html
      the official table of a year, with its average and pictures
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from truebleu.cli import inputs as files
from truebleu.cli import metric_options
from truebleu.cli import options as shared
from truebleu.cli.compare import as_usage
from truebleu.cli.declared import Command, Group
from truebleu.cli.output import Results, UsageError, complain
from truebleu.meta_evaluation.results import left_out
from truebleu.meta_evaluation.score_files import mqm_weights
from truebleu.meta_evaluation.score_files import read as read_scores
from truebleu.meta_evaluation.statistics import AVERAGES, STATISTICS
from truebleu.meta_evaluation.tasks import LEVELS, PRESETS
from truebleu.significance import CORRECTIONS
from truebleu.text.checks import DEFAULT_SEED
from truebleu.text.layout import listed

FORMATS = ("text", "json", "markdown", "latex", "csv", "tsv", "html", "svg")
RANDOMIZATIONS = 10_000

PEOPLE = Group(
    "what people said",
    """
    --human FILE         people's scores: lines of a system and a score (mt-metrics-eval), Google's
                         MQM, WMT's direct assessments, MQM errors, ESA as JSON lines, or a table
    --columns WHAT=NAME...  columns of such a table: system=, item=, document=, score=
    --mqm-weights TEXT   of errors ("major:5 minor:1 minor/Fluency/Punctuation:0.1
                         Non-translation:25")
    --tree DIR           folders of mt-metrics-eval: human-scores, metric-scores, and text
    -t --test-set NAME   the test set's folder in DIR, as wmt23; -l names its language pairs, with
                         commas between them (all that people judged)
    --gold NAME          whose scores, where there are several (mqm)
    --preset NAME        the official tasks of a year: wmt20, wmt22, wmt23 or wmt24
    """,
    preset={"choices": PRESETS},
)
METRICS = Group(
    "metrics",
    """
    --scores NAME=FILE...  a metric from elsewhere: a file of its scores, of any known kind
    """,
)
STATISTIC = Group(
    "statistics",
    f"""
    --level NAME...       sys, domain, doc, seg (sys seg)
    --statistic NAME...   {", ".join(STATISTICS)}
                          (what suits each level)
    --average NAME        rows of one correlation: none, item or sys (what is usual for each)
    --epsilon X           of acc-eq: scores that differ by no more are tied (0)
    --nan-as-zero         rows without a value count as 0; otherwise they are left out
    --outliers NAME...    systems to be left out; mad finds them (2.5 deviations from the median)
    --include-humans      translations by people, other than the reference, are systems
    --include-references  compare outputs that equal a reference, too (they are left out)
    --by NAME             domain or doc: each part is a set of its own
    """,
    level={"choices": LEVELS},
    statistic={"choices": STATISTICS},
    average={"choices": AVERAGES},
    epsilon={"type": float},
    by={"choices": ("domain", "doc")},
)
TESTING = Group(
    "tests and intervals",
    """
    --significance [N]    test every two metrics, with N randomizations (10000)
    --correction NAME     of p-values for the number of tests: holm, or bh (Benjamini and Hochberg)
    -ci --confidence [N]  intervals of N bootstrap resamples (1000)
    --resample NAME       items, documents or systems (items)
    --confidence-level X  level of intervals (0.95)
    --seed N              of random numbers (12345); none for a different one each time
    """,
    significance={"type": shared.samples, "const": RANDOMIZATIONS},
    correction={"choices": CORRECTIONS},
    confidence={"type": shared.samples, "const": shared.RESAMPLES},
    resample={"choices": ("items", "documents", "systems"), "default": "items"},
    confidence_level={"type": shared.level_of, "default": 0.95},
    seed={"type": shared.seed_of, "default": DEFAULT_SEED},
)
PICTURE = Group(
    "picture",
    """
    --picture NAME   what -f svg draws: scatter (systems by people and metric) or agreement
    --of NAME        the metric that it draws (the first)
    """,
    picture={"choices": ("scatter", "agreement"), "default": "scatter"},
)


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The options of `truebleu meta`."""
    yield PEOPLE
    yield METRICS
    yield files.INPUT
    yield Group(
        "more",
        files.SOURCE,
        "--docs FILE  the name of each segment's document",
        "--domains FILE  the name of each segment's domain",
    )
    yield STATISTIC
    yield TESTING
    yield from metric_options.groups(words)
    yield shared.output(FORMATS, "text", shared.COLOR, digits="3; all of them in json, csv and tsv")
    yield PICTURE
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Measures the agreement and writes the table."""
    from truebleu.meta_evaluation.view import meta_evaluate

    output = Results(options)
    output.check_exact()
    asked = _asked(options)
    with output:
        with as_usage("truebleu meta"):
            table = meta_evaluate(**asked)
        output.warn(table.warnings)
        if output.form == "svg":
            with as_usage("--of"):
                drawn = table.svg(options.picture, options.of)
            output.write(f"{drawn}\n")
        else:
            output.show(table)
        if output.form in ("csv", "tsv", "svg"):
            for note in left_out(table.to_dict()["sets"]):
                complain("note", note)


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `meta_evaluate`."""
    asked: dict[str, Any] = {
        "preset": options.preset,
        "levels": options.level or ["sys", "seg"],
        "statistics": options.statistic,
        "average": options.average,
        "epsilon": options.epsilon,
        "nan_as_zero": options.nan_as_zero,
        "include_references": options.include_references,
        "outliers": _outliers(options.outliers),
        "by": options.by,
        "significance": options.significance,
        "correction": options.correction,
        "confidence": options.confidence,
        "resampled": options.resample,
        "level": options.confidence_level,
        "seed": options.seed,
        "gold": options.gold,
        "workers": max(1, options.threads),
    }
    if options.correction and not options.significance:
        raise UsageError("--correction: without --significance nothing is tested")
    if (options.tree is None) == (options.human is None):
        raise UsageError("name people's scores: --human FILE, or --tree DIR, one of both")
    if options.tree is not None:
        return asked | _tree(options)
    return asked | _given(options)


def _outliers(names: Sequence[str] | None) -> Sequence[str] | str:
    return "mad" if names == ["mad"] else tuple(names or ())


def _tree(options: argparse.Namespace) -> dict[str, Any]:
    """What a tree is asked for."""
    for flag, given in (
        ("REF", options.references),
        ("-i/--input", options.input),
        ("--scores", options.scores),
        ("--docs", options.docs),
        ("--domains", options.domains),
        ("--columns", options.columns),
    ):
        if given:
            raise UsageError(f"{flag}: the folders of --tree have text and scores")
    sets = None
    if options.language is not None:
        sets = [name for name in options.language.split(",") if name]
    return {
        "tree": options.tree,
        "test_set": options.test_set,
        "sets": sets,
        "metrics": _of_tree(options),
        "include_humans": True if options.include_humans else None,
    }


def _of_tree(options: argparse.Namespace) -> list[Any] | None:
    """Metrics by name, or as their options make them; None for all that are stored."""
    from argparse import Namespace

    wanted = metric_options.asked(options.metrics)
    if not any(name.startswith("--") for name in vars(options)):
        return wanted
    if wanted is None:
        raise UsageError("options of a metric: name it with -m/--metrics")
    from truebleu.meta_evaluation.human_scores import Tree

    tree = Tree(options.tree, options.test_set or options.preset)
    stored = {name for pair in tree.pairs() for name in tree.stored(pair)}
    computed = [name for name in wanted if name not in stored]
    more = {"metrics": computed, "language": None, "source": ""}
    made = list(metric_options.metrics(Namespace(**{**vars(options), **more})))
    return [*(name for name in wanted if name in stored), *made]


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """People's scores, metrics' scores and text, as files."""
    for flag, given in (
        ("-t/--test-set", options.test_set),
        ("--include-humans", options.include_humans),
    ):
        if given:
            raise UsageError(f"{flag}: it is for the folders that --tree names")
    columns = _columns(options.columns)
    weights = None
    if options.mqm_weights is not None:
        try:
            weights = mqm_weights(options.mqm_weights)
        except ValueError as error:
            raise UsageError(f"--mqm-weights: {error}") from None
    metrics: dict[str, Any] = {}
    for word in options.scores or ():
        name, mark, path = word.partition("=")
        if not (mark and name and path):
            raise UsageError(f"--scores: expected NAME=FILE, as COMET=comet.score, not '{word}'")
        if name in metrics:
            raise UsageError(f"--scores: {name} is there twice")
        metrics[name] = read_scores(path)
    more: dict[str, Any] = {}
    if options.references or options.input:
        inputs = files.Inputs(options)
        more = {
            "systems": dict(inputs.systems),
            "references": inputs.references(),
            "source": inputs.source,
        }
        for metric, called in metric_options.metrics(options).items():
            metrics[called or metric.name] = metric
    elif options.metrics:
        raise UsageError("-m/--metrics: they are computed of REF and -i HYP...; name both")
    if not metrics:
        raise UsageError("no metric: give scores (--scores NAME=FILE), or text and -m")
    for name, option in (("documents", options.docs), ("domains", options.domains)):
        if option is not None:
            more[name] = list(files.file_of(option, options.encoding).lines())
    human = read_scores(options.human, columns, weights)
    return {"human": human, "metrics": metrics, **more}


COLUMNS = ("system", "item", "document", "score")


def _columns(words: Sequence[str] | None) -> Mapping[str, str] | None:
    """The columns of a table by what they are."""
    made = {}
    for word in words or ():
        what, mark, name = word.partition("=")
        if what not in COLUMNS or not mark or not name:
            raise UsageError(
                f"--columns: expected {listed([f'{one}=NAME' for one in COLUMNS])}, not '{word}'"
            )
        made[what] = name
    return made or None


COMMAND = Command("truebleu meta --human FILE REF... -i HYP... [options]", __doc__, groups, run)
