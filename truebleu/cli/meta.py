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
from collections.abc import Mapping, Sequence
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, Group
from truebleu.cli.compare import OPTIONS
from truebleu.cli.output import Results, UsageError, complain
from truebleu.meta_evaluation.agreement_statistics import AVERAGES, STATISTICS
from truebleu.meta_evaluation.human_scores import EvaluatedText, SystemSelection, Tree
from truebleu.meta_evaluation.meta_results import left_out
from truebleu.meta_evaluation.meta_view import meta_evaluate
from truebleu.meta_evaluation.score_files import mqm_weights
from truebleu.meta_evaluation.score_files import read as read_scores
from truebleu.meta_evaluation.tasks import (
    LEVELS,
    PRESETS,
    AgreementTests,
    StatisticOptions,
    TaskFolder,
)
from truebleu.significance import CORRECTIONS
from truebleu.text.argument_checks import DEFAULT_SEED
from truebleu.text.terminal_layout import join_words

FORMATS = (*shared.TABLE_FORMATS, "svg")
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


TEXTS = Group(
    "more",
    files.SOURCE,
    "--docs FILE  the name of each segment's document",
    "--domains FILE  the name of each segment's domain",
)


def run(options: argparse.Namespace) -> None:
    """Measures the agreement and writes the table."""
    output = Results(options)
    output.check_exact()
    with shared.as_usage("truebleu meta", OPTIONS):
        arguments = _arguments(options)
    with output:
        with shared.as_usage("truebleu meta", OPTIONS):
            table = meta_evaluate(**arguments)
        output.warn(table.warnings)
        if output.form == "svg":
            with shared.as_usage("--of"):
                drawn = table.svg(options.picture, options.of)
            output.write(f"{drawn}\n")
        else:
            output.show(table)
        if output.form in ("csv", "tsv", "svg"):
            for note in left_out(table.to_dict()["sets"]):
                complain("note", note)


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `meta_evaluate`."""
    if options.correction and not options.significance:
        raise UsageError("--correction: without --significance nothing is tested")
    if (options.tree is None) == (options.human is None):
        raise UsageError("name people's scores: --human FILE, or --tree DIR, one of both")
    arguments = _files(options) if options.tree is None else _tree(options)
    return arguments | {
        "gold": options.gold,
        "selection": SystemSelection(
            "mad" if options.outliers == ["mad"] else tuple(options.outliers or ()),
            True if options.include_humans else None,
            options.include_references,
        ),
        "statistics": StatisticOptions(
            options.statistic,
            options.level or ["sys", "seg"],
            options.average,
            options.epsilon,
            options.nan_as_zero,
            options.by,
        ),
        "tests": AgreementTests(
            options.significance,
            options.correction,
            options.confidence,
            options.resample,
            options.confidence_level,
            options.seed,
        ),
        "workers": max(1, options.threads),
    }


def _tree(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments for the folders of --tree."""
    flags = {"references": "REF", "input": "-i/--input"}
    flags |= {name: f"--{name}" for name in ("scores", "docs", "domains", "columns")}
    for name, flag in flags.items():
        if getattr(options, name):
            raise UsageError(f"{flag}: the folders of --tree have text and scores")
    pairs = None if options.language is None else filter(None, options.language.split(","))
    folder = TaskFolder(
        options.tree, options.test_set, None if pairs is None else list(pairs), options.preset
    )
    return {"tree": folder, "metrics": _metrics_of_tree(options)}


def _metrics_of_tree(options: argparse.Namespace) -> list[Any] | None:
    """Return metrics by name, or as their options make them; None for all that are stored."""
    names = metric_options.asked(options.metrics)
    if not any(name.startswith("--") for name in vars(options)):
        return names
    if names is None:
        raise UsageError("options of a metric: name it with -m/--metrics")
    tree = Tree(options.tree, options.test_set or options.preset)
    stored = {name for pair in tree.pairs() for name in tree.stored(pair)}
    computed = [name for name in names if name not in stored]
    changes = {"metrics": computed, "language": None, "source": ""}
    metrics = metric_options.metrics(argparse.Namespace(**{**vars(options), **changes}))
    return [*(name for name in names if name in stored), *metrics]


def _files(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments for people's scores, metrics' scores and text in files."""
    flags = {"test_set": "-t/--test-set", "preset": "--preset"}
    flags["include_humans"] = "--include-humans"
    for name, flag in flags.items():
        if getattr(options, name):
            raise UsageError(f"{flag}: it is for the folders that --tree names")
    columns = _columns(options.columns)
    weights = None
    if options.mqm_weights is not None:
        with shared.as_usage("--mqm-weights"):
            weights = mqm_weights(options.mqm_weights)
    scores = shared.named_values("--scores", options.scores, "NAME=FILE, as COMET=comet.score")
    metrics: dict[str, Any] = {name: read_scores(path) for name, path in scores.items()}
    texts: dict[str, Any] = {}
    if options.references or options.input:
        inputs = files.Inputs(options)
        texts = {
            "systems": dict(inputs.systems),
            "references": inputs.references(),
            "source": inputs.source,
        }
        for metric, label in metric_options.metrics(options).items():
            metrics[label or metric.name] = metric
    elif options.metrics:
        raise UsageError("-m/--metrics: they are computed of REF and -i HYP...; name both")
    if not metrics:
        raise UsageError("no metric: give scores (--scores NAME=FILE), or text and -m")
    for name, path in (("documents", options.docs), ("domains", options.domains)):
        if path is not None:
            texts[name] = list(files.file_of(path, options.encoding).read_lines())
    human = read_scores(options.human, columns, weights)
    return {"human": human, "metrics": metrics, "text": EvaluatedText(**texts)}


COLUMNS = ("system", "item", "document", "score")


def _columns(words: Sequence[str] | None) -> Mapping[str, str] | None:
    """Return the columns of a table by what they are."""
    expected = join_words([f"{one}=NAME" for one in COLUMNS])
    columns = shared.named_values("--columns", words, expected)
    for what, name in columns.items():
        if what not in COLUMNS:
            raise UsageError(f"--columns: expected {expected}, not '{what}={name}'")
    return columns or None


COMMAND = Command(
    "truebleu meta --human FILE REF... -i HYP... [options]",
    __doc__,
    lambda words: [
        PEOPLE,
        METRICS,
        files.INPUT,
        TEXTS,
        STATISTIC,
        TESTING,
        *metric_options.groups(words),
        shared.view_output(3, FORMATS),
        PICTURE,
        shared.RUNNING,
    ],
    run,
)
